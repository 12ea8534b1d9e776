//! No harness tries to connect to anything except the scripted model. The tests check system calls, so that failed
//! attempts are found too.

use std::process::Command;

use crate::available::report_skipped;
use crate::claude::ClaudeCode;
use crate::droid::{Droid, ONE_SHOT_ARGUMENTS};
use crate::model::ScriptedModel;
use crate::opencode::OpenCode;
use crate::process::TestProcess;
use crate::scratch::ScratchProject;
use crate::script::{ModelScript, text_step};

#[test]
fn claude_code_stays_on_this_machine() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let (scratch, model) =
        (ScratchProject::new(), ScriptedModel::start(ModelScript::main([text_step("Hello.")])));
    let mut command = claude.claude_command(&scratch, &model);
    command.arg("Say hello");
    assert_stays_offline(&scratch, &model, &command);
}

#[test]
fn droid_stays_on_this_machine() {
    let Some(droid) = Droid::find_installed() else { return };
    let (scratch, model) =
        (ScratchProject::new(), ScriptedModel::start(ModelScript::main([text_step("Hello.")])));
    let mut command = droid.droid_command(&scratch, &model);
    command.args(ONE_SHOT_ARGUMENTS).arg("Say hello");
    assert_stays_offline(&scratch, &model, &command);
}

#[test]
fn opencode_stays_on_this_machine() {
    let Some(opencode) = OpenCode::find_installed() else { return };
    let (scratch, model) =
        (ScratchProject::new(), ScriptedModel::start(ModelScript::main([text_step("Hello.")])));
    let mut command = opencode.opencode_command(&scratch, &model);
    command.args(["run", "Say hello"]);
    assert_stays_offline(&scratch, &model, &command);
}

fn assert_stays_offline(scratch: &ScratchProject, model: &ScriptedModel, command: &Command) {
    let mut strace = scratch.command_in_project("strace");
    if strace.arg("--version").output().is_err() {
        return report_skipped("strace is not installed");
    }
    let log = scratch.tmp_folder().join("connections");
    let mut strace = scratch.command_in_project("strace");
    strace.args(["-f", "-qq", "--seccomp-bpf", "-e", "trace=connect,sendto", "-o"]).arg(&log);
    strace.arg(command.get_program()).args(command.get_args());
    strace.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    TestProcess::start(strace).close_and_wait().assert_success();

    model.assert_script_used_up();
    let log = std::fs::read_to_string(log).expect("strace wrote it");
    assert!(log.contains("127.0.0.1"), "the model is on loopback:\n{log}");
    let outside: Vec<&str> = log.lines().filter(|line| leaves_machine(line)).collect();
    assert!(outside.is_empty(), "{}", outside.join("\n"));
}

/// Returns whether a call uses an address outside this machine, or a name server.
fn leaves_machine(call: &str) -> bool {
    let here = call.contains("inet_addr(\"127.") || call.contains("\"::1\"");
    call.contains("AF_INET") && (!here || call.contains("htons(53)"))
}
