//! Folders, files and environments that are not what they should be. To add a place, add a line to `PLACES`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};

use super::{TRIED, judge_files, judge_output, stdin_of, through_shell, told};
use crate::sandbox::{self, Lab, Sandbox};
use crate::torture::judge;
use crate::torture::rows::{self, trust_record};
use crate::torture::snapshot::Snapshot;
use crate::torture::{Depth, Tally, on_all_cores};

struct Place {
    name: &'static str,
    /// Changes a project that already has records.
    arrange: fn(&Sandbox) -> Result<()>,
    /// How the command is started in this place.
    start: Start,
}

enum Start {
    Plainly,
    /// With these variables. A variable without a value is removed.
    With(&'static [(&'static str, Option<&'static str>)]),
    /// Through a shell line that ends in `"$@"`.
    Shell(&'static str),
}
use Start::{Plainly, Shell, With};

const fn place(name: &'static str, arrange: fn(&Sandbox) -> Result<()>) -> Place {
    Place { name, arrange, start: Plainly }
}

const fn start(name: &'static str, start: Start) -> Place {
    Place { name, arrange: |_| Ok(()), start }
}

const PLACES: &[Place] = &[
    place(".agent is a symlink", |s| elsewhere(s, &s.project().join(".agent"))),
    place(".agent is a file", |s| file(&s.project().join(".agent"))),
    place(".agent is a dangling symlink", |s| dangling(&s.project().join(".agent"))),
    place(".agent/context is a symlink", |s| elsewhere(s, &s.store())),
    place(".agent/context is a file", |s| file(&s.store())),
    place("sessions/ is a symlink", |s| elsewhere(s, &s.store().join("sessions"))),
    place("sessions/ is a file", |s| file(&s.store().join("sessions"))),
    place("indexes/ is a symlink", |s| elsewhere(s, &s.store().join("indexes"))),
    place("indexes/ is a file", |s| file(&s.store().join("indexes"))),
    place("root.json is a symlink", |s| elsewhere(s, &s.store().join("root.json"))),
    place("root.json is a dangling symlink", |s| dangling(&s.store().join("root.json"))),
    place("root.json is a folder", |s| folder(&s.store().join("root.json"))),
    place("root.json is a FIFO", |s| fifo(&s.store().join("root.json"))),
    place("the journal is a symlink", |s| elsewhere(s, &s.journal())),
    place("the journal is a folder", |s| folder(&s.journal())),
    place("the journal is a FIFO", |s| fifo(&s.journal())),
    place("receipts.jsonl is a symlink", |s| elsewhere(s, &s.store().join("indexes/receipts.jsonl"))),
    place("receipts.jsonl is a FIFO", |s| fifo(&s.store().join("indexes/receipts.jsonl"))),
    place("sessions.jsonl is a folder", |s| folder(&s.store().join("indexes/sessions.jsonl"))),
    place("config.toml is a FIFO", |s| fifo(&s.store().join("config.toml"))),
    place("config.toml is a folder", |s| folder(&s.store().join("config.toml"))),
    place("config.toml is no TOML", |s| Ok(fs::write(s.store().join("config.toml"), "= = [[\n\0\u{fffd}")?)),
    place("the trust record is a symlink", |s| elsewhere(s, &trust_record(s)?)),
    place("the trust record is a FIFO", |s| fifo(&trust_record(s)?)),
    place("the trust record is a folder", |s| folder(&trust_record(s)?)),
    place("the state folder is a file", |s| file(&s.state())),
    place(".gitignore is a symlink", |s| elsewhere(s, &s.store().join(".gitignore"))),
    place(".git is a FIFO", |s| fifo(&s.project().join(".git"))),
    start("no HOME, no XDG", With(&[("HOME", None), ("XDG_STATE_HOME", None), ("XDG_CONFIG_HOME", None)])),
    start(
        "HOME is empty",
        With(&[("HOME", Some("")), ("XDG_STATE_HOME", Some("")), ("XDG_CONFIG_HOME", Some(""))]),
    ),
    start(
        "HOME is relative",
        With(&[("HOME", Some("here")), ("XDG_STATE_HOME", None), ("XDG_CONFIG_HOME", None)]),
    ),
    start(
        "HOME cannot be written",
        With(&[("HOME", Some("/proc")), ("XDG_STATE_HOME", None), ("XDG_CONFIG_HOME", None)]),
    ),
    start("XDG_STATE_HOME is no folder", With(&[("XDG_STATE_HOME", Some("/dev/null"))])),
    start(
        "no environment at all",
        With(&[
            ("PATH", None),
            ("HOME", None),
            ("XDG_STATE_HOME", None),
            ("XDG_CONFIG_HOME", None),
            ("CLAUDE_PROJECT_DIR", None),
        ]),
    ),
    start("the clock a year back", With(&[("THROUGHLINE_NOW", Some("2025-01-01T00:00:00Z"))])),
    start("the clock at 1970", With(&[("THROUGHLINE_NOW", Some("1970-01-01T00:00:00Z"))])),
    start("the clock far ahead", With(&[("THROUGHLINE_NOW", Some("9999-12-31T23:59:59Z"))])),
    start("the clock is nonsense", With(&[("THROUGHLINE_NOW", Some("yesterday"))])),
    start("the project folder is gone", With(&[("CLAUDE_PROJECT_DIR", Some("/nonexistent/project"))])),
    start("the project folder is relative", With(&[("CLAUDE_PROJECT_DIR", Some("../project"))])),
    start("THROUGHLINE_ROOT is gone", With(&[("THROUGHLINE_ROOT", Some("/nonexistent/project"))])),
    start("switched off", With(&[("THROUGHLINE_DISABLE", Some("1"))])),
    start("the working folder is gone", Shell("mkdir gone && cd gone && rmdir ../gone && exec \"$@\"")),
    start("stdin closed", Shell("exec \"$@\" <&-")),
    start("stdin is a folder", Shell("exec \"$@\" < /")),
    start("stdin cannot be read", Shell("exec \"$@\" 0>/dev/null")),
    start("stdout closed", Shell("exec \"$@\" >&-")),
    start("stdout full", Shell("exec \"$@\" >/dev/full")),
    start("stderr closed", Shell("exec \"$@\" 2>&-")),
    start("everything closed", Shell("exec \"$@\" <&- >&- 2>&-")),
    start("hardly any open files", Shell("ulimit -n 4; exec \"$@\"")),
    start("no file may grow", Shell("trap '' XFSZ; ulimit -f 0; exec \"$@\"")),
];

pub fn places(lab: &Lab, _: Depth) -> Result<Tally> {
    on_all_cores(PLACES, |at, place| {
        let sandbox = lab.sandbox(&format!("place-{at}"))?;
        rows::lived_in(&sandbox)?;
        let lived_in = Snapshot::take(&sandbox.dir)?;
        let mut tally = Tally::default();
        for argv in TRIED {
            lived_in.restore(&sandbox.dir)?;
            (place.arrange)(&sandbox)?;
            let before = Snapshot::take(&sandbox.dir)?;
            let output = sandbox::finish(&mut command(place, &sandbox, argv), &stdin_of(argv, &sandbox.dir))?;
            let mut wrong = Vec::new();
            judge_output(argv, &output, &mut wrong);
            let speechless = matches!(place.start, Shell(line) if line.contains("2>&-"));
            if argv[0] != "hook" && !speechless {
                judge::says_why(argv, &output, &mut wrong);
            }
            judge_files(argv, &before, &Snapshot::take(&sandbox.dir)?, &mut wrong);
            tally.point(wrong, || told(place.name, argv));
        }
        fs::remove_dir_all(&sandbox.dir)?;
        Ok(tally)
    })
}

fn command(place: &Place, sandbox: &Sandbox, argv: &[&str]) -> Command {
    match place.start {
        Plainly => sandbox.thru(argv),
        Shell(line) => through_shell(line, sandbox, argv),
        With(variables) => {
            let mut command = sandbox.thru(argv);
            for (name, value) in variables {
                match value {
                    Some(value) => command.env(name, value),
                    None => command.env_remove(name),
                };
            }
            command
        }
    }
}

/// Moves the file to a folder outside the project, in which nothing may change, and puts a symbolic link in its place.
fn elsewhere(sandbox: &Sandbox, path: &Path) -> Result<()> {
    let outside = sandbox.dir.join("outside");
    fs::create_dir_all(&outside)?;
    let target = outside.join(path.file_name().unwrap_or_default());
    fs::rename(path, &target)?;
    Ok(symlink(target, path)?)
}

fn dangling(path: &Path) -> Result<()> {
    remove(path)?;
    Ok(symlink("/nonexistent/thing", path)?)
}

fn file(path: &Path) -> Result<()> {
    remove(path)?;
    Ok(fs::write(path, "a file of somebody's\n")?)
}

fn folder(path: &Path) -> Result<()> {
    remove(path)?;
    Ok(fs::create_dir(path)?)
}

/// Creates a FIFO that nobody writes into, so that opening it for reading waits forever.
fn fifo(path: &Path) -> Result<()> {
    remove(path)?;
    ensure!(Command::new("mkfifo").arg(path).status()?.success(), "mkfifo {}", path.display());
    Ok(())
}

fn remove(path: &Path) -> Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => Ok(fs::remove_dir_all(path)?),
        Ok(_) => Ok(fs::remove_file(path)?),
        Err(_) => Ok(()),
    }
}
