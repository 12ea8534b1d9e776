//! An environment for running `thru`, with its own home, state, configuration and project. The developer's environment
//! variables are not passed on.

use std::fs;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use tempfile::TempDir;

pub const SANDBOX_SESSION_ID: &str = "0197a000-1111-7222-8333-444455556666";

/// The folder of all sandboxes of one run. It is removed at the end.
#[derive(Debug)]
pub struct SandboxRoot {
    folder: TempDir,
    pub bin: PathBuf,
    /// Only rows whose name contains this text are tested.
    pub row_filter: String,
}

impl SandboxRoot {
    pub fn new(bin: PathBuf, ground: SandboxLocation) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("thru-lab-").tempdir_in(ground.folder()?)?;
        Ok(Self { folder, bin, row_filter: String::new() })
    }

    pub fn with_row_filter(self, rows: &str) -> Self {
        Self { row_filter: rows.to_owned(), ..self }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Creates an empty sandbox: a home, and a project folder with one source file.
    pub fn sandbox(&self, name: &str) -> Result<Sandbox> {
        let dir = self.path().join(name);
        for folder in ["home", "state", "config", "project/src"] {
            fs::create_dir_all(dir.join(folder))?;
        }
        fs::write(dir.join("project/src/lib.rs"), "// nothing of ours\n")?;
        Ok(Sandbox { dir, bin: self.bin.clone() })
    }
}

/// Where the folder of all sandboxes is created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxLocation {
    /// A real disk, as on a user's machine.
    Disk,
    /// A disk in memory, if there is one, because it is faster for thousands of sandboxes. The torture tests need no
    /// real disk, because they inject faults into system calls.
    Memory,
}

impl SandboxLocation {
    /// Returns a folder that is not inside a project. `thru` searches upwards for a root, so in a folder below this
    /// checkout it would use the checkout as the root.
    fn folder(self) -> Result<PathBuf> {
        let free = |path: &PathBuf| {
            !path.ancestors().any(|up| up.join(".git").exists() || up.join(".agent").exists())
        };
        let memory = (self == Self::Memory).then(|| PathBuf::from("/dev/shm"));
        memory
            .into_iter()
            .chain([PathBuf::from("/var/tmp"), std::env::temp_dir()])
            .filter_map(|path| path.canonicalize().ok())
            .find(free)
            .context("/var/tmp and the temporary folder are both inside a project")
    }
}

#[derive(Debug, Clone)]
pub struct Sandbox {
    pub dir: PathBuf,
    pub bin: PathBuf,
}

impl Sandbox {
    pub fn project_folder(&self) -> PathBuf {
        self.dir.join("project")
    }

    pub fn store_folder(&self) -> PathBuf {
        self.dir.join("project/.agent/context")
    }

    pub fn state_folder(&self) -> PathBuf {
        self.dir.join("state/throughline")
    }

    pub fn journal_path(&self) -> PathBuf {
        self.store_folder().join("sessions").join(format!("{SANDBOX_SESSION_ID}.jsonl"))
    }

    /// Returns the complete environment of a user's shell or a harness.
    pub fn environment(&self) -> Vec<(&'static str, PathBuf)> {
        vec![
            ("PATH", PathBuf::from("/usr/local/bin:/usr/bin:/bin")),
            ("HOME", self.dir.join("home")),
            ("XDG_STATE_HOME", self.dir.join("state")),
            ("XDG_CONFIG_HOME", self.dir.join("config")),
        ]
    }

    pub fn command(&self, program: &Path, argv: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(argv).env_clear().envs(self.environment()).current_dir(self.project_folder());
        if argv.first() == Some(&"hook") {
            command.env("CLAUDE_PROJECT_DIR", self.project_folder());
        }
        command
    }

    pub fn thru_command(&self, argv: &[&str]) -> Command {
        self.command(&self.bin, argv)
    }

    pub fn run_thru(&self, argv: &[&str], stdin: &[u8]) -> Result<Output> {
        run_with_timeout(&mut self.thru_command(argv), stdin)
    }

    /// Runs a command. Returns an error if the command fails.
    pub fn run_successfully(&self, argv: &[&str], stdin: &[u8]) -> Result<Output> {
        let output = self.run_thru(argv, stdin)?;
        ensure!(
            output.status.success(),
            "setting up the sandbox: thru {} ended with {}: {}",
            argv.join(" "),
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        );
        Ok(output)
    }

    /// Makes the project a root, and trusts it.
    pub fn init_root(&self) -> Result<()> {
        let output = self.run_successfully(&["init"], b"")?;
        // If `thru` found a root further up, it would create no root in the sandbox.
        ensure!(
            self.store_folder().join("root.json").exists(),
            "setting up the sandbox: init created no root here: {}",
            String::from_utf8_lossy(&output.stdout).trim()
        );
        Ok(())
    }
}

/// Returns a command that starts `outer` with `inner` as its last arguments.
pub fn wrap_command(mut outer: Command, inner: &Command) -> Command {
    outer.arg(inner.get_program()).args(inner.get_args()).env_clear();
    outer.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(folder) = inner.get_current_dir() {
        outer.current_dir(folder);
    }
    outer
}

/// The longest time that any command may take, even with broken disks and 64 parallel processes.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(40);

/// The stderr that is reported for a command that had to be killed.
pub const HUNG_MESSAGE: &str = "hung, and was killed after 40 seconds";

/// Starts the command, writes its input and waits for it to end. Input that the command does not read is dropped.
pub fn run_with_timeout(command: &mut Command, stdin: &[u8]) -> Result<Output> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .with_context(|| format!("starting {:?}", command.get_program()))?;
    let pid = child.id();
    let (over, end) = mpsc::channel::<()>();
    let watchdog = std::thread::spawn(move || {
        let hung = end.recv_timeout(COMMAND_TIMEOUT) == Err(mpsc::RecvTimeoutError::Timeout);
        if hung {
            // Also kill all processes that the command started. A process that strace left running would keep our pipes
            // open.
            let _ = Command::new("kill").args(["-9", "--", &format!("-{pid}")]).status();
        }
        hung
    });
    if let Some(mut pipe) = child.stdin.take() {
        let _ = pipe.write_all(stdin);
    }
    let mut output = child.wait_with_output()?;
    drop(over);
    if watchdog.join().unwrap_or(false) {
        output.stderr = HUNG_MESSAGE.as_bytes().to_vec();
    }
    Ok(output)
}

/// Payloads of Claude Code, with the fields that hooks read.
pub mod payload {
    use super::{Path, SANDBOX_SESSION_ID, json};

    pub fn hook_payload(sandbox: &Path, name: &str, more: serde_json::Value) -> Vec<u8> {
        let mut value = json!({
            "session_id": SANDBOX_SESSION_ID,
            "transcript_path": sandbox.join("home/.claude/projects/p/s.jsonl"),
            "cwd": sandbox.join("project"),
            "permission_mode": "default",
            "hook_event_name": name,
        });
        if let (Some(base), serde_json::Value::Object(more)) = (value.as_object_mut(), more) {
            base.extend(more);
        }
        value.to_string().into_bytes()
    }

    /// Returns the payload of a finished Bash call. `id` is the id of the call, by which its journal line can be
    /// found.
    pub fn bash_payload(sandbox: &Path, id: &str, command: &str) -> Vec<u8> {
        let input = json!({"command": command, "description": "Run the tests"});
        let response = json!({"stdout": "ok\n", "stderr": "", "interrupted": false, "isImage": false});
        let more =
            json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": input, "tool_response": response});
        hook_payload(sandbox, "PostToolUse", more)
    }

    /// Returns the payload of an edit whose old and new text together have `size` bytes. The text mentions secrets and
    /// contains one.
    pub fn edit_payload(sandbox: &Path, id: &str, size: usize, secret: &str) -> Vec<u8> {
        let file = sandbox.join("project/src/session.rs");
        let code = sample_code_with_secret(size / 2, secret);
        let input = json!({"file_path": file, "old_string": code, "new_string": code.replace("key", "keys")});
        let response = json!({"filePath": file, "userModified": false, "replaceAll": false});
        let more =
            json!({"tool_name": "Edit", "tool_use_id": id, "tool_input": input, "tool_response": response});
        hook_payload(sandbox, "PostToolUse", more)
    }

    /// Returns code that mentions secrets and contains one, so that redaction must examine it closely.
    pub fn sample_code_with_secret(size: usize, secret: &str) -> String {
        let mut text = format!("const FALLBACK: &str = \"{secret}\";\n");
        let lines = [
            "    let token = tokens.next().ok_or(Error::Eof)?; // the next token of the stream\n",
            "    for (key, value) in map.iter() { keys.push(key.clone()); }\n",
            "    if password.len() < 12 { return Err(Error::WeakPassword); }\n",
            "    // api keys and secrets are read from the environment, never from here\n",
            "    let count = tokens.iter().filter(|token| token.kind == Kind::Word).count();\n",
        ];
        for line in lines.iter().cycle() {
            if text.len() + line.len() > size {
                break;
            }
            text.push_str(line);
        }
        text
    }

    /// Returns an invented token in GitHub's format. It is made at run time, so that no scanner finds it in this
    /// repository.
    pub fn github_token() -> String {
        let mut random = crate::stats::RandomNumbers::seeded(0x5eed);
        let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        let tail: String = (0..36).map(|_| char::from(letters[random.next_below(letters.len())])).collect();
        format!("gh{}_{tail}", 'p')
    }
}
