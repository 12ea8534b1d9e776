//! An isolated environment for running `thru`, with its own home and project, no inherited environment variables and a
//! fixed clock. It is removed after the test.

use std::cell::Cell;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::call::{ThruCall, ThruOutput};
use crate::tree::FileTree;

pub const TEST_TIME: &str = "2026-11-15T19:22:00Z";

/// The project folder in the captured payloads. Tests replace it with their own folder.
const CAPTURED_PROJECT: &str = "/home/dev/project";
/// The home folder in the captured payloads.
const CAPTURED_HOME: &str = "/home/dev";

/// A user who owns no files on this machine. Permissions do not apply to root, so tests of permissions run as this
/// user.
const NOBODY_UID: u32 = 65534;

pub struct TestEnv {
    base: PathBuf,
    locked: Cell<bool>,
    _temp: TempDir,
}

impl TestEnv {
    /// Creates an empty project without git and without an `.agent` folder.
    pub fn new() -> TestEnv {
        let temp = tempfile::Builder::new().prefix("thru-it-").tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        let env = TestEnv { base, locked: Cell::new(false), _temp: temp };
        fs::create_dir(env.home_folder()).unwrap();
        fs::create_dir(env.project_folder()).unwrap();
        env
    }

    /// Creates a project and runs `thru init`, so that the project has a root and is trusted.
    pub fn with_root() -> TestEnv {
        let env = TestEnv::new();
        env.run_thru(&["init"]).assert_ok();
        env
    }

    /// Creates a git repository with one commit and without an `.agent` folder.
    pub fn with_repository() -> TestEnv {
        let env = TestEnv::new();
        env.run_git(&["init", "--quiet"]);
        env.write_file("project/README.md", "hello\n");
        env.run_git(&["add", "."]);
        env.run_git(&["commit", "--quiet", "--message", "first"]);
        env
    }

    /// Returns the folder that contains the home folder and the project.
    pub fn base_folder(&self) -> &Path {
        &self.base
    }

    pub fn home_folder(&self) -> PathBuf {
        self.base.join("home")
    }

    pub fn project_folder(&self) -> PathBuf {
        self.base.join("project")
    }

    pub fn store_folder(&self) -> PathBuf {
        self.project_folder().join(".agent/context")
    }

    pub fn user_config_path(&self) -> PathBuf {
        self.home_folder().join(".config/throughline/config.toml")
    }

    pub fn trust_record_path(&self) -> PathBuf {
        let id = self.read_marker()["project_id"].as_str().unwrap().to_owned();
        self.home_folder().join(format!(".local/state/throughline/trust/{id}.json"))
    }

    pub fn read_marker(&self) -> Value {
        serde_json::from_slice(&fs::read(self.store_folder().join("root.json")).unwrap()).unwrap()
    }

    /// Writes a file below the base folder, and creates missing folders.
    pub fn write_file(&self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.base.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Turns a folder of the project into the live run with these expected outputs, and records the user's consent to
    /// the commands of this run. To record the consent, the stage is first defined in the user's own settings. Then the
    /// list of outputs is written.
    pub fn make_allowed_live_run(&self, folder: &str, expected: &Value) {
        let defined = |output: &Value| {
            let pairs = ["file", "tier", "prompt", "launch"].map(|key| format!("{key} = {}", output[key]));
            format!("{{ {} }}", pairs.join(", "))
        };
        let outputs: Vec<String> = expected["outputs"].as_array().unwrap().iter().map(defined).collect();
        let stage = expected["stage"].as_str().unwrap();
        let config = self.user_config_path();
        self.write_file(&config, format!("[stages.{stage}]\noutputs = [{}]\n", outputs.join(", ")));
        fs::create_dir_all(self.project_folder().join(folder)).unwrap();
        self.run_thru(&["gate", "live", "--set", folder]).assert_ok();
        self.run_thru(&["gate", "expect", stage]).assert_ok();
        fs::remove_file(config).unwrap();
        self.write_file(format!("project/{folder}/expected.json"), expected.to_string());
    }

    pub fn file_tree(&self) -> FileTree {
        FileTree::read_folder(&self.base)
    }

    /// Asserts that nothing was written since `before`, except receipts in the state folder of this machine.
    #[track_caller]
    pub fn assert_state_receipts_only(&self, before: &FileTree, about: &str) {
        let state = "/home/.local/state/throughline";
        let expected = [format!("~{state}"), format!("+{state}/receipts.jsonl")];
        assert_eq!(before.changes_to(&self.file_tree()), expected, "{about}");
    }

    pub fn thru_call<S: AsRef<OsStr>>(&self, words: &[S]) -> ThruCall {
        let call = self.thru_call_as_tester(words);
        // If the files belong to another user, all later calls run as that user.
        if self.belongs_to_nobody() {
            call.with_program(&self.base.join("thru")).with_user(NOBODY_UID)
        } else {
            call
        }
    }

    fn belongs_to_nobody(&self) -> bool {
        fs::metadata(&self.base).unwrap().uid() == NOBODY_UID
    }

    fn thru_call_as_tester<S: AsRef<OsStr>>(&self, words: &[S]) -> ThruCall {
        let mut command = Command::new(thru_binary());
        command.args(words).env_clear().current_dir(self.project_folder());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.home_folder()).env("THROUGHLINE_NOW", TEST_TIME).env("TZ", "UTC");
        ThruCall::new(command)
    }

    pub fn run_thru(&self, words: &[&str]) -> ThruOutput {
        self.thru_call(words).run()
    }

    pub fn run_thru_json(&self, words: &[&str]) -> Value {
        self.thru_call(words).with_argument("--json").run().assert_ok().json()
    }

    pub fn fire_hook(&self, event: &str, payload: &Value) -> ThruOutput {
        self.hook_call(event, payload.to_string()).run()
    }

    pub fn fire_event(&self, session: &str, event: &str, more: Value) -> ThruOutput {
        let output = self.fire_hook(event, &self.event_payload(session, event, more));
        output.assert_accepted_by_harness(event);
        output
    }

    pub fn event_payload(&self, session: &str, event: &str, more: Value) -> Value {
        let common = json!({"session_id": session, "cwd": self.project_folder(), "hook_event_name": event});
        merge_fields(&common, more)
    }

    pub fn hook_call(&self, event: &str, payload: impl Into<Vec<u8>>) -> ThruCall {
        let call = self.thru_call(&["hook", "claude-code", event]).with_stdin(payload);
        call.with_variable("CLAUDE_PROJECT_DIR", self.project_folder())
    }

    /// Returns a captured payload with its folders replaced by those of this environment.
    pub fn captured_payload(&self, name: &str) -> Value {
        self.captured_payload_in(name, &self.project_folder())
    }

    /// Returns a captured payload with `folder` as its project.
    pub fn captured_payload_in(&self, name: &str, folder: &Path) -> Value {
        let text = fs::read_to_string(fixtures_folder().join(format!("{name}.json"))).unwrap();
        let text = text.replace(CAPTURED_PROJECT, folder.to_str().unwrap());
        let text = text.replace(CAPTURED_HOME, self.home_folder().to_str().unwrap());
        serde_json::from_str(&text).unwrap()
    }

    /// Returns the lines of a session's journal, rotated parts first.
    pub fn read_journal(&self, session: &str) -> Vec<Value> {
        self.read_log(&format!("sessions/{session}.jsonl"))
    }

    pub fn read_receipts(&self) -> Vec<Value> {
        self.read_log("indexes/receipts.jsonl")
    }

    /// Returns every line of a log in the store, and asserts that each line is complete.
    pub fn read_log(&self, rel: &str) -> Vec<Value> {
        let path = self.store_folder().join(rel);
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut parts = names_in(path.parent().unwrap());
        parts.retain(|name| name.starts_with(&format!("{stem}~")));
        let parts = parts.iter().map(|name| path.with_file_name(name)).chain([path.clone()]);
        let text: String = parts.filter_map(|part| fs::read_to_string(part).ok()).collect();
        let read = |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{rel}: {e}: {line}"));
        text.lines().map(read).collect()
    }

    pub fn count_journal_lines(&self) -> usize {
        let folder = self.store_folder().join("sessions");
        names_in(&folder).iter().map(|n| fs::read_to_string(folder.join(n)).unwrap().lines().count()).sum()
    }

    pub fn run_git(&self, words: &[&str]) -> String {
        self.run_git_in(&self.project_folder(), words)
    }

    /// Runs git with the settings of this environment. The test fails if git fails.
    pub fn run_git_in(&self, folder: &Path, words: &[&str]) -> String {
        let settings = self.base.join("gitconfig");
        if !settings.exists() {
            let text = "[user]\nname = Test\nemail = test@localhost\n[commit]\ngpgsign = false\n\
                        [init]\ndefaultBranch = main\n[advice]\ndetachedHead = false\n";
            fs::write(&settings, text).unwrap();
        }
        let mut command = Command::new("git");
        command.args(words).env_clear().current_dir(folder);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", &self.base);
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", &settings);
        // `git status` must not write the index, because tests compare whole trees.
        command.env("GIT_OPTIONAL_LOCKS", "0");
        let done = command.output().unwrap();
        assert!(done.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    }

    /// Returns a call that cannot bypass file modes. Root can bypass them. So if the test runs as root, this function
    /// first gives all files to another user, and the call runs as that user.
    pub fn call_bound_by_modes(&self, words: &[&str]) -> ThruCall {
        self.locked.set(true);
        let owner = fs::metadata(&self.base).unwrap().uid();
        if owner == 0 || owner == NOBODY_UID {
            // The binary may be in a folder that only root can access, so copy it.
            let copy = self.base.join("thru");
            if !copy.exists() {
                copy_binary(&copy);
            }
            let given = Command::new("chown")
                .args(["-R", &format!("{NOBODY_UID}:{NOBODY_UID}")])
                .arg(&self.base)
                .status();
            assert!(given.unwrap().success());
        }
        self.thru_call(words)
    }

    /// Returns the text with placeholders for the parts that differ from run to run: folders, ids and the version.
    pub fn mask_variable_parts(&self, text: &str) -> String {
        let text = text.replace(self.project_folder().to_str().unwrap(), "$PROJECT");
        let text = text.replace(self.home_folder().to_str().unwrap(), "$HOME");
        let text = text.replace(self.base.to_str().unwrap(), "$BASE");
        hide_uuids(&text).replace(env!("CARGO_PKG_VERSION"), "<version>")
    }
}

impl Drop for TestEnv {
    /// Restores write permission to the files that a test locked, so that the folder can be removed.
    fn drop(&mut self) {
        if self.locked.get() {
            let _ = Command::new("chmod").args(["-R", "u+rwX"]).arg(&self.base).status();
        }
    }
}

pub fn merge_fields(common: &Value, more: Value) -> Value {
    let mut whole = common.clone();
    if let (Value::Object(fields), Value::Object(more)) = (&mut whole, more) {
        fields.extend(more);
    }
    whole
}

/// Returns the binary under test: the binary in `THRU_BIN` (the release build in CI), or else the binary that cargo
/// built.
pub fn thru_binary() -> PathBuf {
    let named = std::env::var_os("THRU_BIN").filter(|path| !path.is_empty());
    let path = named.map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_thru")), PathBuf::from);
    path.canonicalize().unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Copies the binary in another process. If this process wrote the copy, a child process that is just starting could
/// inherit the open file, and the copy could not be run.
pub fn copy_binary(to: &Path) {
    let copied = Command::new("cp").arg(thru_binary()).arg(to).status().unwrap();
    assert!(copied.success());
}

pub fn fixtures_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/claude-code/2.1.325")
}

/// Returns the names of all captured payloads, such as `PostToolUse.Bash.subagent`.
pub fn fixture_names() -> Vec<String> {
    let names = names_in(&fixtures_folder());
    assert!(names.len() > 80, "the fixtures are gone: {names:?}");
    names.iter().map(|name| name.strip_suffix(".json").unwrap().to_owned()).collect()
}

/// Returns the event of a captured payload, such as `PostToolUse` for `PostToolUse.Bash.subagent`.
pub fn event_of_fixture(fixture: &str) -> &str {
    fixture.split('.').next().unwrap()
}

/// Returns the names in a folder, sorted. The list is empty if the folder does not exist.
pub fn names_in(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn hide_uuids(text: &str) -> String {
    let is_uuid = |window: &str| {
        window.len() == 36
            && window.bytes().enumerate().all(|(i, b)| match i {
                8 | 13 | 18 | 23 => b == b'-',
                _ => b.is_ascii_hexdigit(),
            })
    };
    let (mut shown, mut rest) = (String::new(), text);
    while let Some(first) = rest.chars().next() {
        match rest.get(..36).filter(|window| is_uuid(window)) {
            Some(window) => {
                shown.push_str("<uuid>");
                rest = &rest[window.len()..];
            }
            None => {
                shown.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    shown
}
