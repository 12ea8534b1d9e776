//! A separate home and repository for each test, and access to the records in them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::journal::JournalLines;

#[derive(Debug)]
pub struct ScratchProject {
    dir: TempDir,
    pub home: PathBuf,
    pub project: PathBuf,
}

impl ScratchProject {
    /// Creates a git repository with one commit and without an `.agent` folder.
    pub fn new() -> ScratchProject {
        let mut dir = tempfile::Builder::new().prefix("thru-e2e-").tempdir().expect("a temporary folder");
        // If this variable is set, the files of a test are kept for inspection.
        dir.disable_cleanup(std::env::var_os("THRU_E2E_KEEP").is_some());
        let top = dir.path().canonicalize().expect("it was just made");
        let scratch = ScratchProject { home: top.join("home"), project: top.join("project"), dir };
        for folder in ["home", "project", "tmp", "bin"] {
            std::fs::create_dir(top.join(folder)).expect("a folder");
        }
        // Harnesses find `thru` by its name on PATH, as on a user's machine.
        std::os::unix::fs::symlink(thru_binary(), top.join("bin/thru")).expect("a link");
        scratch.write_file("README.md", "# Scratch\n");
        scratch.run_git(&["init", "--quiet", "--initial-branch", "main"]);
        scratch.run_git(&["add", "."]);
        scratch.run_git(&["commit", "--quiet", "--message", "Begin"]);
        scratch
    }

    /// Replaces the project with a clone. The clone has the same records, but nobody has trusted its folder.
    pub fn move_to_clone(&mut self) {
        self.run_git(&["clone", "--quiet", ".", "../clone"]);
        self.project.set_file_name("clone");
    }

    /// Returns the first folder of PATH, which contains only `thru`.
    pub fn bin_folder(&self) -> PathBuf {
        self.dir.path().join("bin")
    }

    pub fn tmp_folder(&self) -> PathBuf {
        self.dir.path().join("tmp")
    }

    pub fn write_file(&self, path: &str, text: &str) {
        let path = self.project.join(path);
        std::fs::create_dir_all(path.parent().expect("it has a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    /// Writes a check to `./test.sh` that fails with this output and exit code.
    pub fn write_failing_check(&self, words: &str, code: u8) {
        self.write_file("test.sh", &format!("#!/bin/sh\necho '{words}' >&2\nexit {code}\n"));
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(self.project.join("test.sh"), mode).expect("a mode");
    }

    pub fn run_git(&self, arguments: &[&str]) {
        let mut git = self.command_in_project("git");
        git.args(["-c", "user.name=Test", "-c", "user.email=test@example.invalid"]).args(arguments);
        let output = git.output().expect("git is installed");
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    pub fn run_thru(&self, arguments: &[&str]) -> Output {
        self.command_in_project("thru").args(arguments).output().expect("thru is built")
    }

    pub fn run_thru_successfully(&self, arguments: &[&str]) -> String {
        let output = self.run_thru(arguments);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "thru {arguments:?}: {}\n{text}{stderr}", output.status);
        text
    }

    /// Returns a command in the project, without the environment of the person or agent that runs the tests.
    pub fn command_in_project(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var("PATH").unwrap_or_default();
        command
            .env_clear()
            .env("PATH", format!("{}:{path}", self.bin_folder().display()))
            .env("HOME", &self.home)
            .env("TMPDIR", self.tmp_folder())
            .env("TERM", "xterm")
            .env("LANG", "C.UTF-8")
            .env("SHELL", "/bin/sh")
            .current_dir(&self.project);
        command
    }

    pub fn store_folder(&self) -> PathBuf {
        self.project.join(".agent/context")
    }

    pub fn read_journal(&self, session: &str) -> JournalLines {
        JournalLines::read(&self.store_folder().join(format!("sessions/{session}.jsonl")))
    }

    /// Returns the journal as `thru journal` shows it, without duplicates.
    pub fn shown_journal(&self, session: &str) -> JournalLines {
        JournalLines::parse(
            "thru journal",
            &self.run_thru_successfully(&["journal", "--json", "--session", session]),
        )
    }

    pub fn run_thru_json(&self, arguments: &[&str]) -> Value {
        // `--json` comes first, because after `--` it would belong to the launched command.
        let text = self.run_thru_successfully(&[&["--json"], arguments].concat());
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("not JSON: {text}"))
    }

    pub fn read_receipts(&self) -> JournalLines {
        JournalLines::read(&self.store_folder().join("indexes/receipts.jsonl"))
    }

    /// Asserts that `thru doctor` reports nothing that needs action.
    pub fn assert_healthy(&self) {
        self.run_thru_successfully(&["doctor"]);
    }
}

/// Returns the binary under test: the binary in `THRU_BIN`, or else the binary that was built with this test.
fn thru_binary() -> PathBuf {
    std::env::var_os("THRU_BIN").map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_thru")), PathBuf::from)
}

/// Returns the path and the bytes of every file below a folder.
pub fn files_below(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
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
