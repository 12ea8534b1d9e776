//! No harness tries to reach anything but the scripted model. The tests check system calls, so that failed attempts
//! are found as well.

use std::process::Command;

use crate::available::skip;
use crate::claude::ClaudeCode;
use crate::droid::{Droid, ONE_SHOT};
use crate::model::Model;
use crate::opencode::OpenCode;
use crate::process::Process;
use crate::scratch::Scratch;
use crate::script::{Script, say};

#[test]
fn claude_code_stays_on_this_machine() {
    let Some(claude) = ClaudeCode::find() else { return };
    let (scratch, model) = (Scratch::new(), Model::start(Script::main([say("Hello.")])));
    let mut command = claude.command(&scratch, &model);
    command.arg("Say hello");
    assert_stays_here(&scratch, &model, &command);
}

#[test]
fn droid_stays_on_this_machine() {
    let Some(droid) = Droid::find() else { return };
    let (scratch, model) = (Scratch::new(), Model::start(Script::main([say("Hello.")])));
    let mut command = droid.command(&scratch, &model);
    command.args(ONE_SHOT).arg("Say hello");
    assert_stays_here(&scratch, &model, &command);
}

#[test]
fn opencode_stays_on_this_machine() {
    let Some(opencode) = OpenCode::find() else { return };
    let (scratch, model) = (Scratch::new(), Model::start(Script::main([say("Hello.")])));
    let mut command = opencode.command(&scratch, &model);
    command.args(["run", "Say hello"]);
    assert_stays_here(&scratch, &model, &command);
}

fn assert_stays_here(scratch: &Scratch, model: &Model, command: &Command) {
    let mut strace = scratch.command("strace");
    if strace.arg("--version").output().is_err() {
        return skip("strace is not installed");
    }
    let log = scratch.tmp().join("connections");
    let mut strace = scratch.command("strace");
    strace.args(["-f", "-qq", "--seccomp-bpf", "-e", "trace=connect,sendto", "-o"]).arg(&log);
    strace.arg(command.get_program()).args(command.get_args());
    strace.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Process::start(strace).finish().assert_success();

    model.assert_played();
    let log = std::fs::read_to_string(log).expect("strace wrote it");
    assert!(log.contains("127.0.0.1"), "the model is on loopback:\n{log}");
    let outside: Vec<&str> = log.lines().filter(|line| leaves(line)).collect();
    assert!(outside.is_empty(), "{}", outside.join("\n"));
}

/// Returns whether a call uses an address outside this machine, or any name server.
fn leaves(call: &str) -> bool {
    let here = call.contains("inet_addr(\"127.") || call.contains("\"::1\"");
    call.contains("AF_INET") && (!here || call.contains("htons(53)"))
}
