//! OpenCode with a `thru` that is broken in every way: its turn continues.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::model::Model;
use crate::opencode::{OpenCode, PLUGIN};
use crate::opencode_tests::bash;
use crate::scratch::Scratch;
use crate::script::{Script, say};

/// What `thru` does instead of its work.
const BROKEN: &[(&str, &str)] = &[
    ("missing", ""),
    ("hanging", "exec sleep 10"),
    ("crashing", "kill -SEGV $$"),
    ("failing", "echo '{\"context\":\"NEVER-SHOWN\"}'; exit 1"),
    ("garbage", "printf '{\"context\": 7, \"feed\": [1]} \\000\\377 NEVER-SHOWN'"),
    ("a number for context", "echo '{\"context\": 7, \"feed\": {\"a\": 1}, \"guidance\": []}'"),
    (
        "a megabyte",
        "printf '{\"context\":\"NEVER-SHOWN'; head -c 1000000 /dev/zero | tr '\\000' x; echo '\"}'",
    ),
];

/// The plugin waits two seconds once, and then does not call `thru` for ten.
const MOST_LOST: Duration = Duration::from_secs(9);

#[test]
fn whatever_thru_does_the_turn_goes_on() {
    let Some(opencode) = OpenCode::find() else { return };
    let scratch = Scratch::new();
    OpenCode::init(&scratch);
    let program = scratch.bin().join("thru-broken");
    replace_program(&scratch.project.join(PLUGIN), &program);
    let model = Model::start(Script::default());
    let server = opencode.serve(&scratch, &model, &scratch.project);

    // The time of a turn if `thru` answers nothing at once.
    write(&program, "cat >/dev/null");
    let usual = turn(&model, &server.session(&scratch.project), "usual");
    for (how, script) in BROKEN {
        let _ = std::fs::remove_file(&program);
        if !script.is_empty() {
            write(&program, script);
        }
        let took = turn(&model, &server.session(&scratch.project), how);
        assert!(took < usual * 3 + MOST_LOST, "{how}: {took:?}, usually {usual:?}");
        assert!(!model.sent_to_model("NEVER-SHOWN"), "{how}");
        // The pause after a timeout must not hide the next case.
        if *how == "hanging" {
            std::thread::sleep(Duration::from_secs(10));
        }
    }
}

/// A prompt, a call, a compaction and another prompt.
fn turn(model: &Model, session: &crate::opencode::Session, how: &str) -> Duration {
    let started = Instant::now();
    model.then(Script {
        main: vec![bash("echo working"), say("First."), say("Second.")],
        compact: vec![say("## Objective\nSUMMARY")],
        ..Script::default()
    });
    for prompt in ["DO-IT", "DO-MORE"] {
        let answer = session.say(prompt);
        assert_eq!(answer["info"]["error"], Value::Null, "{how}: {answer}");
        if prompt == "DO-IT" {
            session.summarize();
        }
    }
    model.assert_played();
    started.elapsed()
}

fn replace_program(plugin: &Path, program: &Path) {
    let text = std::fs::read_to_string(plugin).expect("it was installed");
    let (before, rest) = text.split_once("{\"thru\":\"").expect("what it was installed with");
    let (_, after) = rest.split_once('"').expect("a path");
    std::fs::write(plugin, format!("{before}{{\"thru\":\"{}\"{after}", program.display())).expect("a file");
}

fn write(program: &Path, script: &str) {
    std::fs::write(program, format!("#!/bin/sh\n{script}\n")).expect("a file");
    std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
}
