//! Tests how the settings of other programs are written. Links in a project are not followed, no edit is overwritten,
//! and the owner and the mode stay the same.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::env::{TestEnv, names_in};
use crate::syscalls::{can_run_test, strace_works};

const LOCAL_SETTINGS_PATH: &str = "project/.claude/settings.local.json";

/// Creates a link, and the folder that contains it.
fn create_link(target: &Path, link: &Path) {
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink(target, link).unwrap();
}

/// strace makes all system calls on one particular path fail. Permissions cannot do this, because tests may run as
/// root.
#[test]
fn what_may_not_be_looked_at_is_not_taken_for_absent() {
    if !can_run_test(&[strace_works()]) {
        return;
    }
    for rel in [".claude", ".claude/settings.local.json", ".git"] {
        let env = TestEnv::with_repository();
        let exclude = fs::read(env.project_folder().join(".git/info/exclude")).ok();
        env.run_thru(&["install", "claude-code", "--local"]).assert_ok();
        let wired = env.file_tree();
        let at = env.project_folder().join(rel);
        let calls = "?lstat,?newfstatat,?statx";
        let (trace, inject) = (format!("trace={calls}"), format!("inject={calls}:error=EACCES"));
        let words = ["-qq", "-o", "/dev/null", "-P", at.to_str().unwrap(), "-e", &trace, "-e", &inject];
        let words = words.map(std::ffi::OsStr::new);
        let refused = env
            .thru_call(&["uninstall", "claude-code", "--local"])
            .through_program("strace", &words)
            .run()
            .assert_exit_code(11);
        assert!(refused.stderr.contains(at.to_str().unwrap()), "{rel}: {refused}");
        // thru changes the settings first and git's exclude list afterwards. So a failure at `.git` occurs after the
        // settings were changed. The other failures occur before anything is changed.
        if rel != ".git" {
            wired.assert_unchanged(&env.file_tree(), rel);
        }
        env.run_thru(&["uninstall", "claude-code", "--local"]).assert_ok();
        assert_eq!(fs::read(env.project_folder().join(".git/info/exclude")).ok(), exclude, "{rel}");
        assert!(!env.project_folder().join(".claude/settings.local.json").exists(), "{rel}");
    }
}

#[test]
fn no_link_in_a_project_is_followed() {
    let cases = [
        (".claude/settings.local.json", "settings.json", &["claude-code"][..]),
        (".claude", "", &["claude-code"]),
        (".claude/commands", "", &["claude-code"]),
        (".claude/commands/handoff.md", "settings.json", &["claude-code"]),
        (".claude/settings.json", "settings.json", &["claude-code", "--project"]),
        (".factory", "", &["droid", "--project"]),
        (".factory/hooks.json", "settings.json", &["droid", "--project"]),
        (".git/info/exclude", "settings.json", &["claude-code"]),
        (".git/info", "", &["claude-code"]),
    ];
    for (rel, target, words) in cases {
        for exists in [true, false] {
            let env = TestEnv::with_repository();
            env.write_file("home/.claude/x", "");
            let elsewhere = env.write_file("elsewhere/settings.json", "{}");
            let target =
                if target.is_empty() { "elsewhere".to_owned() } else { format!("elsewhere/{target}") };
            if !exists {
                fs::remove_dir_all(elsewhere.parent().unwrap()).unwrap();
            }
            let at = env.project_folder().join(rel);
            let _ = fs::remove_dir_all(&at).or_else(|_| fs::remove_file(&at));
            create_link(&env.base_folder().join(target), &at);
            env.run_thru(&["context", "init"]).assert_ok();
            let before = env.file_tree();
            let refused = env.run_thru(&[&["install"], words].concat()).assert_exit_code(15);
            let named =
                refused.stderr.contains(at.to_str().unwrap()) && refused.stderr.contains("symbolic link");
            assert!(named, "{rel}: {refused}");
            before.assert_unchanged(&env.file_tree(), rel);
            if words == ["claude-code"] {
                let init = env.run_thru(&["init"]).assert_ok();
                assert!(init.stderr.contains("symbolic link"), "{rel}: {init}");
                before.assert_unchanged(&env.file_tree(), rel);
            }
        }
    }
}

#[test]
fn a_link_does_not_lead_past_the_refusal_for_files_in_git() {
    let env = TestEnv::with_repository();
    let outside = env.write_file("outside.json", "{}");
    create_link(&outside, &env.base_folder().join(LOCAL_SETTINGS_PATH));
    env.run_git(&["add", "-f", "."]);
    env.run_git(&["commit", "-qm", "x"]);
    env.run_thru(&["install", "claude-code"]).assert_exit_code(15);
    assert_eq!(fs::read_to_string(&outside).unwrap(), "{}");
}

#[test]
fn the_store_is_not_made_through_a_link_either() {
    for rel in [".agent", ".agent/context"] {
        let env = TestEnv::with_repository();
        fs::create_dir(env.base_folder().join("elsewhere")).unwrap();
        create_link(&env.base_folder().join("elsewhere"), &env.project_folder().join(rel));
        let before = env.file_tree();
        env.run_thru(&["init"]).assert_exit_code(15);
        before.assert_unchanged(&env.file_tree(), rel);
    }
}

#[test]
fn owner_and_mode_of_settings_are_kept() {
    let env = TestEnv::with_repository();
    let path = env.write_file(LOCAL_SETTINGS_PATH, "{}");
    let root = fs::metadata(&path).unwrap().uid() == 0;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    if root {
        chown(&path, Some(4242), Some(4343)).unwrap();
    }
    for task in ["install", "uninstall"] {
        env.run_thru(&[task, "claude-code"]).assert_ok();
        let meta = fs::metadata(&path).unwrap();
        assert_eq!(meta.mode() & 0o7777, 0o640, "{task}");
        assert!(!root || (meta.uid(), meta.gid()) == (4242, 4343), "{task}");
    }
}

/// Runs an installation in which every sync is slow. Calls `edit` each time a new file is ready to replace the old one.
fn install_while(env: &TestEnv, edit: impl Fn(usize)) -> crate::call::ThruOutput {
    let folder = env.base_folder().join(LOCAL_SETTINGS_PATH).parent().unwrap().to_owned();
    let words =
        ["-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync", "-e", "inject=fsync:delay_enter=400000"];
    let call =
        env.thru_call(&["install", "claude-code"]).through_program("strace", &words.map(AsRef::as_ref));
    let running = std::thread::spawn(move || call.run());
    let mut seen: Vec<String> = Vec::new();
    while !running.is_finished() {
        let is_ready = |name: &String| name.starts_with(".settings.local.json.") && name.ends_with(".tmp");
        for name in names_in(&folder).into_iter().filter(is_ready) {
            if !seen.contains(&name) {
                seen.push(name);
                edit(seen.len());
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(!seen.is_empty(), "no new file was seen");
    running.join().unwrap()
}

fn strace_can_delay() -> bool {
    let words = ["-o", "/dev/null", "-e", "inject=fsync:delay_enter=1", "true"];
    let works = Command::new("strace").args(words).output().is_ok_and(|output| output.status.success());
    if !works {
        assert!(std::env::var_os("CI").is_none(), "on CI this test must run, and strace is missing");
        println!("skipped: strace is missing");
    }
    works
}

#[test]
fn an_edit_made_in_the_meantime_is_kept() {
    if !strace_can_delay() {
        return;
    }
    let env = TestEnv::with_repository();
    let path = env.write_file(LOCAL_SETTINGS_PATH, "{}");
    let edit = |count| {
        if count == 1 {
            fs::write(&path, "{\"model\": \"mine\"}").unwrap();
        }
    };
    install_while(&env, edit).assert_ok();
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("\"mine\"") && text.contains("PostToolUse"), "{text}");
    env.run_thru(&["uninstall", "claude-code"]).assert_ok();
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"model\": \"mine\"}");
}

#[test]
fn a_file_that_never_rests_is_left_to_its_editor() {
    if !strace_can_delay() {
        return;
    }
    let env = TestEnv::with_repository();
    let path = env.write_file(LOCAL_SETTINGS_PATH, "{}");
    let refused = install_while(&env, |count| fs::write(&path, format!("{{\"count\": {count}}}")).unwrap());
    assert_eq!(refused.code, 14, "{refused}");
    assert!(refused.stderr.contains(path.to_str().unwrap()), "{refused}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"count\": 5}");
    assert_eq!(names_in(path.parent().unwrap()), ["settings.local.json"], "nothing is left behind");
}

fn write_old_file(path: PathBuf, minutes: u64) -> PathBuf {
    let file = fs::File::create(&path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(minutes * 60)).unwrap();
    path
}

#[test]
fn what_killed_writers_left_is_removed_by_the_next() {
    let env = TestEnv::with_root();
    env.write_file(LOCAL_SETTINGS_PATH, "{}");
    let packets = env.store_folder().join("packets");
    for folder in [env.base_folder().join(LOCAL_SETTINGS_PATH).parent().unwrap().to_owned(), packets] {
        let old = write_old_file(folder.join(".x.json.123-0.tmp"), 61);
        let young = write_old_file(folder.join(".x.json.124-0.tmp"), 50);
        let other = write_old_file(folder.join(".editor.tmp"), 10_000);
        env.run_thru(&["install", "claude-code"]).assert_ok();
        env.run_thru(&["handoff", "go on"]).assert_ok();
        assert!(!old.exists() && young.exists() && other.exists(), "{}", folder.display());
        fs::remove_file(young).unwrap();
        env.run_thru(&["uninstall", "claude-code"]).assert_ok();
    }
}

#[test]
fn a_live_state_file_outside_the_project_is_refused() {
    let env = TestEnv::with_root();
    let outside = env.write_file("outside.yaml", "live:\n  dir: run\n");
    fs::create_dir(env.project_folder().join("run")).unwrap();
    create_link(&outside, &env.project_folder().join("link.yaml"));
    for named in [outside.to_str().unwrap(), "../outside.yaml", "link.yaml"] {
        env.write_file(
            "project/.agent/context/config.toml",
            format!("[gates]\nlive_state_file = \"{named}\"\n"),
        );
        let refused = env.run_thru(&["gate", "live"]).assert_exit_code(15);
        assert!(refused.stderr.contains("outside.yaml") || refused.stderr.contains("link.yaml"), "{refused}");
        env.fire_event("s1", "SubagentStop", serde_json::json!({"agent_type": "x", "agent_id": "a"}));
    }
    env.write_file("project/inside.yaml", "live:\n  dir: run\n");
    env.write_file("project/.agent/context/config.toml", "[gates]\nlive_state_file = \"inside.yaml\"\n");
    env.run_thru(&["gate", "live"]).assert_ok();
}

fn file_mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for name in names_in(folder) {
        let path = folder.join(name);
        if path.is_dir() {
            all.extend(files_below(&path));
        }
        all.push(path);
    }
    all
}

#[test]
fn records_are_for_their_owner_alone() {
    for words in [&["init"][..], &["init", "--shared"]] {
        let env = TestEnv::with_repository();
        env.run_thru(words).assert_ok();
        env.fire_event("s1", "SessionStart", serde_json::json!({"source": "startup"}));
        env.fire_event("s1", "PostToolUse", env.captured_payload("PostToolUse.Edit"));
        env.fire_event("s1", "Stop", env.captured_payload("Stop.first"));
        env.run_thru(&["handoff", "go on"]).assert_ok();
        env.run_thru(&["context", "new", "reviewer"]).assert_ok();
        env.run_thru(&["gate", "expect", "review", "a.md"]).assert_ok();
        let store = env.store_folder();
        assert_eq!(file_mode(&store), 0o700);
        let all = files_below(&store);
        assert!(all.len() > 15, "{all:?}");
        for path in all {
            let expected = if path.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(file_mode(&path), expected, "{words:?}: {}", path.display());
        }
        let packet = store.join("packets").join(&names_in(&store.join("packets"))[0]);
        fs::set_permissions(&packet, fs::Permissions::from_mode(0o640)).unwrap();
        let id = packet.file_stem().unwrap().to_str().unwrap().to_owned();
        env.thru_call(&["packet", "set", &id, "--section", "Intent"])
            .with_stdin(*b"more\n")
            .run()
            .assert_ok();
        assert_eq!(file_mode(&packet), 0o640, "a mode that somebody chose stays");
    }
}

#[test]
fn a_shared_store_says_what_it_opens() {
    let env = TestEnv::with_repository();
    let told = env.run_thru(&["init", "--shared"]).assert_ok();
    for name in ["git", "packets/", "agents/", "decisions.jsonl", "evidence/"] {
        assert!(told.stdout.contains(name), "{name}: {told}");
    }
    let report = env.run_thru_json(&["init"]);
    assert!(report["in_git"].as_array().unwrap().contains(&"packets/".into()), "{report}");
    assert!(TestEnv::with_root().run_thru_json(&["init"]).get("in_git").is_none());
}
