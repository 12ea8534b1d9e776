//! A separate home and repository for one test, and what `thru` left there.

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
    /// A fresh git repository with one commit, and no root yet.
    pub fn new() -> Scratch {
        let mut dir = tempfile::Builder::new().prefix("thru-e2e-").tempdir().expect("a temporary folder");
        // To inspect what a failing test left.
        dir.disable_cleanup(std::env::var_os("THRU_E2E_KEEP").is_some());
        let top = dir.path().canonicalize().expect("it was just made");
        let scratch = Scratch { home: top.join("home"), project: top.join("project"), dir };
        for folder in ["home", "project", "tmp", "bin"] {
            std::fs::create_dir(top.join(folder)).expect("a folder");
        }
        // By its bare name on PATH, as users have it.
        std::os::unix::fs::symlink(thru(), top.join("bin/thru")).expect("a link");
        scratch.write("README.md", "# Scratch\n");
        scratch.git(&["init", "--quiet", "--initial-branch", "main"]);
        scratch.git(&["add", "."]);
        scratch.git(&["commit", "--quiet", "--message", "Begin"]);
        scratch
    }

    /// From here on the project is a clone: the same records, in a folder nobody vouched for.
    pub fn move_to_clone(&mut self) {
        self.git(&["clone", "--quiet", ".", "../clone"]);
        self.project.set_file_name("clone");
    }

    /// The first folder of PATH, with only `thru` in it.
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

    /// `./test.sh` of the project: a check that fails with these words and this exit code.
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

    /// Like [`Scratch::thru`], but anything other than success fails the test.
    pub fn thru_ok(&self, arguments: &[&str]) -> String {
        let output = self.thru(arguments);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "thru {arguments:?}: {}\n{text}{stderr}", output.status);
        text
    }

    /// In the project, with none of the environment of the person or agent that runs the tests.
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

    /// The journal as `thru journal` shows it: repeated calls once.
    pub fn shown(&self, session: &str) -> Lines {
        Lines::parse("thru journal", &self.thru_ok(&["journal", "--json", "--session", session]))
    }

    /// What a command prints with `--json`.
    pub fn thru_json(&self, arguments: &[&str]) -> Value {
        // At the front: after `--` it would belong to the launched command.
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

/// The binary under test: the one `cargo xtask e2e` names, or else the build next to this test.
fn thru() -> PathBuf {
    std::env::var_os("THRU_BIN").map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_thru")), PathBuf::from)
}

/// Every file below, as bytes: two of these are equal if nothing was written between them.
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
