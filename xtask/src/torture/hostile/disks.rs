//! Full and read-only disks, and files that the user has no permission to read or write.
//!
//! A full or read-only disk is mounted in a separate mount namespace, which disappears when the command ends. Mounting
//! needs root and a kernel that allows it. If mounting is not possible, the tests are skipped with a note.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::{Context as _, Result};

use super::{COMMANDS_TRIED, command_for_display, judge_files, judge_output, stdin_for_command};
use crate::sandbox::{self, Sandbox, SandboxRoot};
use crate::torture::judge::{self, Failures};
use crate::torture::prepare::{self, TOOL_DONE_HOOK_ARGV};
use crate::torture::rows;
use crate::torture::snapshot::Snapshot;
use crate::torture::{LossKind, TortureDepth, TortureTally};

pub fn broken_disks(lab: &SandboxRoot, _: TortureDepth) -> Result<TortureTally> {
    let mut tally = TortureTally::default();
    if can_mount() {
        tally.add_tally(torture_on_full_disk(lab)?);
        tally.add_tally(disk_full_for_long(lab)?);
        tally.add_tally(torture_on_read_only_disk(lab)?);
    } else {
        tally.skipped.push("full disk, read-only disk: mounting needs root and `unshare -m`".into());
    }
    tally.add_tally(forbidden_files(lab)?);
    Ok(tally)
}

fn can_mount() -> bool {
    let script = "d=$(mktemp -d) && mount -t tmpfs -o size=64k none \"$d\" && umount \"$d\" && rmdir \"$d\"";
    let tried = Command::new("unshare").args(["-m", "sh", "-c", script]).stderr(Stdio::null()).status();
    tried.is_ok_and(|status| status.success())
}

/// Mounts a small disk in memory over the sandbox's folder and fills it completely. $0 is the sandbox, $1 is a copy
/// of it, and $2 is the folder for the result. The remaining arguments are the command.
const FULL_DISK_SCRIPT: &str = r#"
    sandbox=$0 was=$1 became=$2; shift 2
    mount -t tmpfs -o size=512k none "$sandbox"
    cp -a "$was/." "$sandbox/"
    cat /dev/zero > "$sandbox/filler" 2>/dev/null
    cd "$sandbox/project"
    "$@"
    code=$?
    rm "$sandbox/filler"
    cp -a "$sandbox/." "$became/"
    exit $code
"#;

/// Makes all files of the sandbox read-only. $0 and $1 are the sandbox. The remaining arguments are the command.
const READ_ONLY_SCRIPT: &str = r#"
    sandbox=$0; shift
    mount --bind "$sandbox" "$sandbox"
    mount -o remount,ro,bind "$sandbox"
    cd "$sandbox/project"
    exec "$@"
"#;

fn torture_on_full_disk(lab: &SandboxRoot) -> Result<TortureTally> {
    let mut tally = TortureTally::default();
    for (at, argv) in COMMANDS_TRIED.iter().enumerate() {
        for past in [prepare::prepare_records as fn(&Sandbox) -> Result<()>, |_| Ok(())] {
            let sandbox = lab.sandbox(&format!("full-{at}"))?;
            past(&sandbox)?;
            let before = Snapshot::take(&sandbox.dir)?;
            let was = lab.path().join(format!("full-{at}-was"));
            let became = lab.path().join(format!("full-{at}-became"));
            before.restore(&was)?;
            fs::create_dir_all(&became)?;
            let output = run_mounted(FULL_DISK_SCRIPT, &sandbox, &[&was, &became], argv)?;
            let mut wrong = judge_run(argv, &output);
            // Copy the sandbox back to a disk that is not full. Every record must exist, and the next hook must work.
            Snapshot::take(&became)?.restore(&sandbox.dir)?;
            let after = Snapshot::take(&sandbox.dir)?;
            judge_files(argv, &before, &after, &mut wrong);
            check_next_hooks(&sandbox, argv, &before, &mut wrong)?;
            tally.count_tested_point(wrong, || command_for_display("full disk", argv));
            for folder in [&sandbox.dir, &was, &became] {
                fs::remove_dir_all(folder)?;
            }
        }
    }
    Ok(tally)
}

/// Checks that hooks work once the disk is no longer full.
fn check_next_hooks(sandbox: &Sandbox, argv: &[&str], before: &Snapshot, wrong: &mut Failures) -> Result<()> {
    let had_store = before.file_bytes(Path::new("project/.agent/context/root.json")).is_some();
    if !had_store {
        let output = sandbox.run_thru(&["init"], b"")?;
        if !output.status.success() {
            wrong.push((
                LossKind::NoLoss,
                format!("init afterwards: {}: {}", output.status, judge::first_line(&output.stderr)),
            ));
        }
    } else if argv == ["trust", "--revoke"] {
        return Ok(());
    }
    let output = sandbox.run_thru(TOOL_DONE_HOOK_ARGV, &prepare::tool_payload(&sandbox.dir))?;
    judge::judge_hook_output(&output, wrong);
    if !rows::tool_call_ids(sandbox).iter().any(|id| id == prepare::TOOL_CALL_ID) {
        wrong.push((
            LossKind::NoLoss,
            "after space was freed, the next hook wrote no line to the journal".into(),
        ));
    }
    Ok(())
}

/// Fills the disk, runs 600 hooks, and then frees space. $0 is the sandbox, $1 is a copy of it, $2 is the folder for
/// the result and the output of the commands, $3 is the payload of a tool call, and $4 is the payload of a session
/// start. The remaining argument is the binary.
const FULL_FOR_LONG_SCRIPT: &str = r#"
    sandbox=$0 was=$1 became=$2 tool=$3 start=$4; shift 4
    mount -t tmpfs -o size=1m none "$sandbox"
    cp -a "$was/." "$sandbox/"
    cat /dev/zero > "$sandbox/filler" 2>/dev/null
    cd "$sandbox/project"
    export CLAUDE_PROJECT_DIR="$sandbox/project"
    failed=0 at=0
    while [ $at -lt 600 ]; do
        now=$(date -u -d "2026-11-15T19:00:00Z + $at seconds" +%Y-%m-%dT%H:%M:%SZ)
        THROUGHLINE_NOW=$now "$@" hook claude-code PostToolUse < "$tool" || failed=1
        at=$((at + 1))
    done
    export THROUGHLINE_NOW=2026-11-15T20:00:00Z
    "$@" doctor > "$became/doctor-full"
    rm "$sandbox/filler"
    "$@" hook claude-code SessionStart < "$start" > "$became/start" || failed=1
    "$@" hook claude-code SessionStart < "$start" > "$became/start-again" || failed=1
    "$@" doctor > "$became/doctor-free"
    "$@" status > "$became/status-free"
    cp -a "$sandbox/." "$became/"
    exit $failed
"#;

/// Reports 600 tool calls on a full disk. Each call must be in the journal, in a receipt, or in the count of lost
/// records. The report of the loss must give the right times. `thru doctor` must report that the disk is full. The
/// first session start that can write must report the loss, and only once.
fn disk_full_for_long(lab: &SandboxRoot) -> Result<TortureTally> {
    let mut tally = TortureTally::default();
    let sandbox = lab.sandbox("full-for-long")?;
    prepare::prepare_records(&sandbox)?;
    let (was, became) = (lab.path().join("full-for-long-was"), lab.path().join("full-for-long-became"));
    let before = Snapshot::take(&sandbox.dir)?;
    before.restore(&was)?;
    fs::create_dir_all(&became)?;
    let (tool, start) = (lab.path().join("tool.json"), lab.path().join("start.json"));
    fs::write(&tool, prepare::tool_payload(&sandbox.dir))?;
    let another = String::from_utf8_lossy(&prepare::session_start_payload(&sandbox.dir))
        .replace(sandbox::SANDBOX_SESSION_ID, "another-session");
    fs::write(&start, another)?;
    let captured = rows::tool_call_ids(&sandbox).iter().filter(|id| *id == prepare::TOOL_CALL_ID).count();
    let output = run_mounted(FULL_FOR_LONG_SCRIPT, &sandbox, &[&was, &became, &tool, &start], &[])?;
    let mut wrong: Failures = Vec::new();
    if !output.status.success() {
        wrong.push((LossKind::NoLoss, format!("a hook failed: {}", judge::first_line(&output.stderr))));
    }
    let read = |name: &str| fs::read_to_string(became.join(name)).unwrap_or_default();
    let mut expect = |name: &str, text: &str, there: bool| {
        if read(name).contains(text) != there {
            let not = if there { "does not say" } else { "says" };
            wrong.push((
                LossKind::NoLoss,
                format!("{name} {not} `{text}`: {}", read(name).replace('\n', " / ")),
            ));
        }
    };
    expect("doctor-full", "records cannot be written", true);
    expect("doctor-full", "No space left on device", true);
    expect("doctor-full", "records were lost between", true);
    expect("start", "records were lost between", true);
    expect("start-again", "records were lost between", false);
    expect("doctor-free", "records can be written", true);
    expect("doctor-free", "records were lost between", true);
    expect("status-free", "records were lost between", true);
    // Count the 600 calls: each is a journal line, a receipt, or a lost record.
    let journal = Snapshot::take(&became)
        .and_then(|after| after.restore(&sandbox.dir))
        .map(|()| rows::tool_call_ids(&sandbox))?;
    let kept = journal.iter().filter(|id| *id == prepare::TOOL_CALL_ID).count() - captured;
    let receipts: Vec<serde_json::Value> =
        fs::read_to_string(sandbox.store_folder().join("indexes/receipts.jsonl"))?
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
    let told = receipts.iter().filter(|receipt| receipt["event"] == "tool-done").count();
    let lost: Vec<&str> = receipts
        .iter()
        .filter(|receipt| receipt["event"] == "records-lost")
        .filter_map(|receipt| receipt["error"].as_str())
        .collect();
    let counted =
        lost.first().and_then(|text| text.split_once('(')?.1.split(' ').next()?.parse::<usize>().ok());
    let counted = counted.unwrap_or(0);
    if lost.len() != 1 || kept + told + counted != 600 {
        let text =
            format!("600 tool calls: {kept} kept, {told} receipts, {counted} counted as lost: {lost:?}");
        wrong.push((LossKind::RecordLost, text));
    }
    if !lost.first().is_some_and(|text| text.contains("and 2026-11-15T19:09:59Z")) {
        wrong
            .push((LossKind::NoLoss, format!("the last of 600 seconds is not the end of the gap: {lost:?}")));
    }
    tally.count_tested_point(wrong, || "full disk, 600 tool calls".into());
    for folder in [&sandbox.dir, &was, &became] {
        fs::remove_dir_all(folder)?;
    }
    Ok(tally)
}

fn torture_on_read_only_disk(lab: &SandboxRoot) -> Result<TortureTally> {
    let mut tally = TortureTally::default();
    let sandbox = lab.sandbox("read-only")?;
    prepare::prepare_records(&sandbox)?;
    let before = Snapshot::take(&sandbox.dir)?;
    for argv in COMMANDS_TRIED {
        let output = run_mounted(READ_ONLY_SCRIPT, &sandbox, &[&sandbox.dir], argv)?;
        let wrong = judge_run(argv, &output);
        tally.count_tested_point(wrong, || command_for_display("read-only disk", argv));
    }
    let after = Snapshot::take(&sandbox.dir)?;
    let changed = if before == after {
        vec![]
    } else {
        vec![(LossKind::RecordLost, "a read-only disk changed".into())]
    };
    tally.count_tested_point(changed, || "read-only disk".into());
    Ok(tally)
}

fn run_mounted(script: &str, sandbox: &Sandbox, folders: &[&Path], argv: &[&str]) -> Result<Output> {
    let mut unshare = Command::new("unshare");
    unshare.args(["-m", "sh", "-c", script]).arg(&sandbox.dir).args(folders);
    let mut command = sandbox::wrap_command(unshare, &sandbox.thru_command(argv));
    command.env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    sandbox::run_with_timeout(&mut command, &stdin_for_command(argv, &sandbox.dir))
}

fn judge_run(argv: &[&str], output: &Output) -> Failures {
    let mut wrong = Vec::new();
    judge_output(argv, output, &mut wrong);
    if argv[0] != "hook" {
        judge::judge_error_message(argv, output, &mut wrong);
    }
    wrong
}

/// Files that the user has no permission to read or write. Each case has a name, and a list of paths with their modes.
const FORBIDDEN_FILES: &[(&str, &[(&str, u32)])] = &[
    ("root.json may not be read", &[("project/.agent/context/root.json", 0o000)]),
    ("the store may not be entered", &[("project/.agent/context", 0o000)]),
    (
        "the store may not be written",
        &[("project/.agent/context", 0o555), ("project/.agent/context/sessions", 0o555)],
    ),
    ("the project may not be entered", &[("project/.agent", 0o000)]),
    ("the journals may not be entered", &[("project/.agent/context/sessions", 0o000)]),
    ("the trust may not be entered", &[("state/throughline", 0o000)]),
    ("the state may not be entered", &[("state", 0o000)]),
    ("the settings may not be read", &[("project/.agent/context/config.toml", 0o000)]),
];

/// Tries every command on the files in [`FORBIDDEN_FILES`]. Root may read and write all files, so if root runs the
/// torture tests, the commands run as another user.
fn forbidden_files(lab: &SandboxRoot) -> Result<TortureTally> {
    let mut tally = TortureTally::default();
    let root = is_root();
    if root
        && !Command::new("setpriv").arg("--version").stdout(Stdio::null()).status().is_ok_and(|s| s.success())
    {
        tally.skipped.push("forbidden files: root needs `setpriv` to run commands as another user".into());
        return Ok(tally);
    }
    // If root runs the tests, the commands run as another user, who must be able to reach the sandboxes.
    fs::set_permissions(lab.path(), fs::Permissions::from_mode(0o755))?;
    let bin = lab.path().join("thru");
    fs::copy(&lab.bin, &bin)?;
    for (at, (name, modes)) in FORBIDDEN_FILES.iter().enumerate() {
        let sandbox = lab.sandbox(&format!("forbidden-{at}"))?;
        prepare::prepare_records(&sandbox)?;
        let before = Snapshot::take(&sandbox.dir)?;
        for argv in COMMANDS_TRIED {
            before.restore(&sandbox.dir)?;
            if root {
                chown_to_nobody(&sandbox.dir)?;
            }
            set_modes(&sandbox.dir, modes)?;
            let mut command = sandbox.command(&bin, argv);
            if root {
                command = command_as_nobody(&command);
            }
            let output = sandbox::run_with_timeout(&mut command, &stdin_for_command(argv, &sandbox.dir))?;
            restore_modes(&sandbox.dir, modes)?;
            let mut wrong = judge_run(argv, &output);
            judge_files(argv, &before, &Snapshot::take(&sandbox.dir)?, &mut wrong);
            let wrong = wrong.into_iter().map(|(loss, text)| match loss {
                LossKind::RecordLost => (LossKind::TreatedAsEmpty, text),
                other => (other, text),
            });
            tally.count_tested_point(wrong.collect(), || command_for_display(name, argv));
        }
        fs::remove_dir_all(&sandbox.dir)?;
    }
    // The control: if no file is forbidden, every command must work for the user who ran the commands above.
    // Otherwise the tests above would prove nothing.
    tally.add_tally(try_forbidden_files(lab, &bin, root)?);
    Ok(tally)
}

fn try_forbidden_files(lab: &SandboxRoot, bin: &Path, root: bool) -> Result<TortureTally> {
    let sandbox = lab.sandbox("allowed")?;
    prepare::prepare_records(&sandbox)?;
    if root {
        chown_to_nobody(&sandbox.dir)?;
    }
    let mut command = sandbox.command(bin, TOOL_DONE_HOOK_ARGV);
    if root {
        command = command_as_nobody(&command);
    }
    let output = sandbox::run_with_timeout(&mut command, &prepare::tool_payload(&sandbox.dir))?;
    let mut wrong = judge_run(TOOL_DONE_HOOK_ARGV, &output);
    if !rows::tool_call_ids(&sandbox).iter().any(|id| id == prepare::TOOL_CALL_ID) {
        wrong.push((
            LossKind::NoLoss,
            "another user's hook left no line in the journal of his own project".into(),
        ));
    }
    let mut tally = TortureTally::default();
    tally.count_tested_point(wrong, || "another user, nothing forbidden".into());
    Ok(tally)
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

const NOBODY_UID: &str = "65534";

fn chown_to_nobody(folder: &Path) -> Result<()> {
    let status =
        Command::new("chown").args(["-R", &format!("{NOBODY_UID}:{NOBODY_UID}")]).arg(folder).status();
    status.context("starting chown").map(drop)
}

fn command_as_nobody(command: &Command) -> Command {
    let mut setpriv = Command::new("setpriv");
    setpriv.args(["--reuid", NOBODY_UID, "--regid", NOBODY_UID, "--clear-groups"]);
    sandbox::wrap_command(setpriv, command)
}

fn set_modes(sandbox: &Path, modes: &[(&str, u32)]) -> Result<()> {
    // Inner paths come first, because nothing in a folder can be changed once the folder itself is inaccessible.
    for (path, mode) in modes.iter().rev() {
        fs::set_permissions(sandbox.join(path), fs::Permissions::from_mode(*mode))?;
    }
    Ok(())
}

fn restore_modes(sandbox: &Path, modes: &[(&str, u32)]) -> Result<()> {
    for (path, _) in modes {
        let path = sandbox.join(path);
        let mode = if path.is_dir() { 0o755 } else { 0o644 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}
