//! A separate home and repository for one test, and access to what `thru` left there.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::journal::Lines;

#[derive(Debug)]
pub struct Scratch {
    dir: TempDir,
    pub home: PathBuf,
    pub project: PathBuf,
}

impl Scratch {
    /// Creates a git repository that has one commit and no root.
    pub fn new() -> Scratch {
        let mut dir = tempfile::Builder::new().prefix("thru-e2e-").tempdir().expect("a temporary folder");
        // With this variable the files of a failing test can be inspected.
        dir.disable_cleanup(std::env::var_os("THRU_E2E_KEEP").is_some());
        let top = dir.path().canonicalize().expect("it was just made");
        let scratch = Scratch { home: top.join("home"), project: top.join("project"), dir };
        for folder in ["home", "project", "tmp", "bin"] {
            std::fs::create_dir(top.join(folder)).expect("a folder");
        }
        // Harnesses find `thru` by its bare name on PATH, as they do for users.
        std::os::unix::fs::symlink(thru(), top.join("bin/thru")).expect("a link");
        scratch.write("README.md", "# Scratch\n");
        scratch.git(&["init", "--quiet", "--initial-branch", "main"]);
        scratch.git(&["add", "."]);
        scratch.git(&["commit", "--quiet", "--message", "Begin"]);
        scratch
    }

    /// Replaces the project with a clone: the clone has the same records, but nobody has trusted its folder.
    pub fn move_to_clone(&mut self) {
        self.git(&["clone", "--quiet", ".", "../clone"]);
        self.project.set_file_name("clone");
    }

    /// Returns the first folder of PATH, which contains only `thru`.
    pub fn bin(&self) -> PathBuf {
        self.dir.path().join("bin")
    }

    pub fn tmp(&self) -> PathBuf {
        self.dir.path().join("tmp")
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.project.join(path);
        std::fs::create_dir_all(path.parent().expect("it has a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    /// Writes `./test.sh` into the project: a check that fails with these words and this exit code.
    pub fn failing_check(&self, words: &str, code: u8) {
        self.write("test.sh", &format!("#!/bin/sh\necho '{words}' >&2\nexit {code}\n"));
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(self.project.join("test.sh"), mode).expect("a mode");
    }

    pub fn git(&self, arguments: &[&str]) {
        let mut git = self.command("git");
        git.args(["-c", "user.name=Test", "-c", "user.email=test@example.invalid"]).args(arguments);
        let output = git.output().expect("git is installed");
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    pub fn thru(&self, arguments: &[&str]) -> Output {
        self.command("thru").args(arguments).output().expect("thru is built")
    }

    /// Runs `thru` like [`Scratch::thru`], but the test fails if the command fails.
    pub fn thru_ok(&self, arguments: &[&str]) -> String {
        let output = self.thru(arguments);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "thru {arguments:?}: {}\n{text}{stderr}", output.status);
        text
    }

    /// Returns a command in the project, without the environment of the person or agent that runs the tests.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var("PATH").unwrap_or_default();
        command
            .env_clear()
            .env("PATH", format!("{}:{path}", self.bin().display()))
            .env("HOME", &self.home)
            .env("TMPDIR", self.tmp())
            .env("TERM", "xterm")
            .env("LANG", "C.UTF-8")
            .env("SHELL", "/bin/sh")
            .current_dir(&self.project);
        command
    }

    pub fn store(&self) -> PathBuf {
        self.project.join(".agent/context")
    }

    pub fn journal(&self, session: &str) -> Lines {
        Lines::read(&self.store().join(format!("sessions/{session}.jsonl")))
    }

    /// Returns the journal as `thru journal` shows it, without repeated calls.
    pub fn shown(&self, session: &str) -> Lines {
        Lines::parse("thru journal", &self.thru_ok(&["journal", "--json", "--session", session]))
    }

    /// Returns what a command prints with `--json`.
    pub fn thru_json(&self, arguments: &[&str]) -> Value {
        // `--json` comes first, because after `--` it would belong to the launched command.
        let text = self.thru_ok(&[&["--json"], arguments].concat());
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("not JSON: {text}"))
    }

    pub fn receipts(&self) -> Lines {
        Lines::read(&self.store().join("indexes/receipts.jsonl"))
    }

    /// Asserts that `thru doctor` reports nothing that needs action.
    pub fn assert_healthy(&self) {
        self.thru_ok(&["doctor"]);
    }
}

/// Returns the binary under test: the binary that `cargo xtask e2e` names, or else the one that was built with this
/// test.
fn thru() -> PathBuf {
    std::env::var_os("THRU_BIN").map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_thru")), PathBuf::from)
}

/// Returns every file below a folder with its bytes. Two snapshots are equal if nothing was written between them.
pub fn snapshot(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push((path.clone(), std::fs::read(path).unwrap_or_default()));
            }
        }
    }
    files.sort();
    files
}
