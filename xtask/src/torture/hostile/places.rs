//! Unusual folders, files and environments. To add one, add a line to `PLACES`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};

use super::{
    COMMANDS_TRIED, command_for_display, judge_files, judge_output, stdin_for_command, wrap_in_shell,
};
use crate::sandbox::{self, Sandbox, SandboxRoot};
use crate::torture::judge;
use crate::torture::prepare::{self, trust_record_path};
use crate::torture::snapshot::Snapshot;
use crate::torture::{TortureDepth, TortureTally, on_all_cores};

struct HostilePlace {
    name: &'static str,
    /// Changes a project that already has records.
    arrange: fn(&Sandbox) -> Result<()>,
    /// How the command is started.
    start: StartMethod,
}

enum StartMethod {
    Plainly,
    /// The command gets these environment variables. A variable without a value is removed.
    With(&'static [(&'static str, Option<&'static str>)]),
    /// The command is run by a shell line that ends with `"$@"`.
    Shell(&'static str),
}
use StartMethod::{Plainly, Shell, With};

const fn arranged_place(name: &'static str, arrange: fn(&Sandbox) -> Result<()>) -> HostilePlace {
    HostilePlace { name, arrange, start: Plainly }
}

const fn place_with_start(name: &'static str, start: StartMethod) -> HostilePlace {
    HostilePlace { name, arrange: |_| Ok(()), start }
}

const HOSTILE_PLACES: &[HostilePlace] = &[
    arranged_place(".agent is a symlink", |s| move_outside_and_link(s, &s.project_folder().join(".agent"))),
    arranged_place(".agent is a file", |s| make_file(&s.project_folder().join(".agent"))),
    arranged_place(".agent is a dangling symlink", |s| {
        make_dangling_link(&s.project_folder().join(".agent"))
    }),
    arranged_place(".agent/context is a symlink", |s| move_outside_and_link(s, &s.store_folder())),
    arranged_place(".agent/context is a file", |s| make_file(&s.store_folder())),
    arranged_place("sessions/ is a symlink", |s| {
        move_outside_and_link(s, &s.store_folder().join("sessions"))
    }),
    arranged_place("sessions/ is a file", |s| make_file(&s.store_folder().join("sessions"))),
    arranged_place("indexes/ is a symlink", |s| move_outside_and_link(s, &s.store_folder().join("indexes"))),
    arranged_place("indexes/ is a file", |s| make_file(&s.store_folder().join("indexes"))),
    arranged_place("root.json is a symlink", |s| {
        move_outside_and_link(s, &s.store_folder().join("root.json"))
    }),
    arranged_place("root.json is a dangling symlink", |s| {
        make_dangling_link(&s.store_folder().join("root.json"))
    }),
    arranged_place("root.json is a folder", |s| make_folder(&s.store_folder().join("root.json"))),
    arranged_place("root.json is a FIFO", |s| make_fifo(&s.store_folder().join("root.json"))),
    arranged_place("the journal is a symlink", |s| move_outside_and_link(s, &s.journal_path())),
    arranged_place("the journal is a folder", |s| make_folder(&s.journal_path())),
    arranged_place("the journal is a FIFO", |s| make_fifo(&s.journal_path())),
    arranged_place("receipts.jsonl is a symlink", |s| {
        move_outside_and_link(s, &s.store_folder().join("indexes/receipts.jsonl"))
    }),
    arranged_place("receipts.jsonl is a FIFO", |s| {
        make_fifo(&s.store_folder().join("indexes/receipts.jsonl"))
    }),
    arranged_place("sessions.jsonl is a folder", |s| {
        make_folder(&s.store_folder().join("indexes/sessions.jsonl"))
    }),
    arranged_place("config.toml is a FIFO", |s| make_fifo(&s.store_folder().join("config.toml"))),
    arranged_place("config.toml is a folder", |s| make_folder(&s.store_folder().join("config.toml"))),
    arranged_place("config.toml is not TOML", |s| {
        Ok(fs::write(s.store_folder().join("config.toml"), "= = [[\n\0\u{fffd}")?)
    }),
    arranged_place("the trust record is a symlink", |s| move_outside_and_link(s, &trust_record_path(s)?)),
    arranged_place("the trust record is a FIFO", |s| make_fifo(&trust_record_path(s)?)),
    arranged_place("the trust record is a folder", |s| make_folder(&trust_record_path(s)?)),
    arranged_place("the state folder is a file", |s| make_file(&s.state_folder())),
    arranged_place(".gitignore is a symlink", |s| {
        move_outside_and_link(s, &s.store_folder().join(".gitignore"))
    }),
    arranged_place(".git is a FIFO", |s| make_fifo(&s.project_folder().join(".git"))),
    place_with_start(
        "no HOME, no XDG",
        With(&[("HOME", None), ("XDG_STATE_HOME", None), ("XDG_CONFIG_HOME", None)]),
    ),
    place_with_start(
        "HOME is empty",
        With(&[("HOME", Some("")), ("XDG_STATE_HOME", Some("")), ("XDG_CONFIG_HOME", Some(""))]),
    ),
    place_with_start(
        "HOME is relative",
        With(&[("HOME", Some("here")), ("XDG_STATE_HOME", None), ("XDG_CONFIG_HOME", None)]),
    ),
    place_with_start(
        "HOME cannot be written",
        With(&[("HOME", Some("/proc")), ("XDG_STATE_HOME", None), ("XDG_CONFIG_HOME", None)]),
    ),
    place_with_start("XDG_STATE_HOME is not a folder", With(&[("XDG_STATE_HOME", Some("/dev/null"))])),
    place_with_start(
        "no environment at all",
        With(&[
            ("PATH", None),
            ("HOME", None),
            ("XDG_STATE_HOME", None),
            ("XDG_CONFIG_HOME", None),
            ("CLAUDE_PROJECT_DIR", None),
        ]),
    ),
    place_with_start("the clock a year back", With(&[("THROUGHLINE_NOW", Some("2025-01-01T00:00:00Z"))])),
    place_with_start("the clock at 1970", With(&[("THROUGHLINE_NOW", Some("1970-01-01T00:00:00Z"))])),
    place_with_start("the clock far ahead", With(&[("THROUGHLINE_NOW", Some("9999-12-31T23:59:59Z"))])),
    place_with_start("the clock is nonsense", With(&[("THROUGHLINE_NOW", Some("yesterday"))])),
    place_with_start(
        "the project folder is gone",
        With(&[("CLAUDE_PROJECT_DIR", Some("/nonexistent/project"))]),
    ),
    place_with_start("the project folder is relative", With(&[("CLAUDE_PROJECT_DIR", Some("../project"))])),
    place_with_start("THROUGHLINE_ROOT is gone", With(&[("THROUGHLINE_ROOT", Some("/nonexistent/project"))])),
    place_with_start("switched off", With(&[("THROUGHLINE_DISABLE", Some("1"))])),
    place_with_start(
        "the working folder is gone",
        Shell("mkdir gone && cd gone && rmdir ../gone && exec \"$@\""),
    ),
    place_with_start("stdin closed", Shell("exec \"$@\" <&-")),
    place_with_start("stdin is a folder", Shell("exec \"$@\" < /")),
    place_with_start("stdin cannot be read", Shell("exec \"$@\" 0>/dev/null")),
    place_with_start("stdout closed", Shell("exec \"$@\" >&-")),
    place_with_start("stdout full", Shell("exec \"$@\" >/dev/full")),
    place_with_start("stderr closed", Shell("exec \"$@\" 2>&-")),
    place_with_start("everything closed", Shell("exec \"$@\" <&- >&- 2>&-")),
    place_with_start("hardly any open files", Shell("ulimit -n 4; exec \"$@\"")),
    place_with_start("no file may grow", Shell("trap '' XFSZ; ulimit -f 0; exec \"$@\"")),
];

pub fn hostile_places(lab: &SandboxRoot, _: TortureDepth) -> Result<TortureTally> {
    on_all_cores(HOSTILE_PLACES, |at, place| {
        let sandbox = lab.sandbox(&format!("place-{at}"))?;
        prepare::prepare_records(&sandbox)?;
        let lived_in = Snapshot::take(&sandbox.dir)?;
        let mut tally = TortureTally::default();
        for argv in COMMANDS_TRIED {
            lived_in.restore(&sandbox.dir)?;
            (place.arrange)(&sandbox)?;
            let before = Snapshot::take(&sandbox.dir)?;
            let output = sandbox::run_with_timeout(
                &mut command_in_place(place, &sandbox, argv),
                &stdin_for_command(argv, &sandbox.dir),
            )?;
            let mut wrong = Vec::new();
            judge_output(argv, &output, &mut wrong);
            let speechless = matches!(place.start, Shell(line) if line.contains("2>&-"));
            if argv[0] != "hook" && !speechless {
                judge::judge_error_message(argv, &output, &mut wrong);
            }
            judge_files(argv, &before, &Snapshot::take(&sandbox.dir)?, &mut wrong);
            tally.count_tested_point(wrong, || command_for_display(place.name, argv));
        }
        fs::remove_dir_all(&sandbox.dir)?;
        Ok(tally)
    })
}

fn command_in_place(place: &HostilePlace, sandbox: &Sandbox, argv: &[&str]) -> Command {
    match place.start {
        Plainly => sandbox.thru_command(argv),
        Shell(line) => wrap_in_shell(line, sandbox, argv),
        With(variables) => {
            let mut command = sandbox.thru_command(argv);
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

/// Moves the file out of the project, and replaces it with a symbolic link. The moved file must not change.
fn move_outside_and_link(sandbox: &Sandbox, path: &Path) -> Result<()> {
    let outside = sandbox.dir.join("outside");
    fs::create_dir_all(&outside)?;
    let target = outside.join(path.file_name().unwrap_or_default());
    fs::rename(path, &target)?;
    Ok(symlink(target, path)?)
}

fn make_dangling_link(path: &Path) -> Result<()> {
    remove_file_or_folder(path)?;
    Ok(symlink("/nonexistent/thing", path)?)
}

fn make_file(path: &Path) -> Result<()> {
    remove_file_or_folder(path)?;
    Ok(fs::write(path, "a file of somebody's\n")?)
}

fn make_folder(path: &Path) -> Result<()> {
    remove_file_or_folder(path)?;
    Ok(fs::create_dir(path)?)
}

/// Creates a FIFO without a writer, so that opening it for reading would block forever.
fn make_fifo(path: &Path) -> Result<()> {
    remove_file_or_folder(path)?;
    ensure!(Command::new("mkfifo").arg(path).status()?.success(), "mkfifo {}", path.display());
    Ok(())
}

fn remove_file_or_folder(path: &Path) -> Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => Ok(fs::remove_dir_all(path)?),
        Ok(_) => Ok(fs::remove_file(path)?),
        Err(_) => Ok(()),
    }
}
