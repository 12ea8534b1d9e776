use super::*;

fn call<'a>(id: &'a str, tool: &'a str) -> Record<'a> {
    Record {
        event: "tool-done".into(),
        id: id.into(),
        tool: tool.into(),
        ok: Some(true),
        ..Record::default()
    }
}

fn touch(action: Action, path: &str) -> Vec<FileField> {
    vec![FileField { path: path.to_owned(), action, outside: false, guess: false }]
}

fn prompt(text: &str) -> Record<'_> {
    Record { event: "prompt".into(), text: text.into(), ..Record::default() }
}

fn fold(records: &[Record]) -> Digest {
    let mut digest = Digest::new("s");
    for record in records {
        digest.fold(record);
    }
    digest
}

#[test]
fn a_call_counts_once_however_often_it_is_told() {
    let edit = Record { files: touch(Action::Edit, "a.rs"), ..call("t1", "Edit") };
    let told = Record { from: "transcript".into(), ..edit.clone() };
    let digest = fold(&[edit.clone(), edit.clone(), told, Record { id: "t2".into(), ..edit }]);
    assert_eq!(digest.files[0].edits, 2);
}

#[test]
fn a_call_without_id_is_named_by_the_transcript() {
    let hook = Record { command: "ls".into(), ..call("", "Execute") };
    let told = |id| Record { from: "transcript".into(), id, ..hook.clone() };
    let digest = fold(&[hook.clone(), hook.clone(), told("c1".into()), told("c2".into()), told("c3".into())]);
    assert_eq!(digest.commands[0].runs, 3, "two hooks, and one call that no hook told of");
    let digest = fold(&[hook.clone(), told("c1".into()), told("c1".into())]);
    assert_eq!(digest.commands[0].runs, 1);
}

#[test]
fn an_event_without_id_counts_once_when_two_hooks_tell_it() {
    let at = |event: &'static str, second: u32| Record {
        ts: format!("2026-11-15T19:22:{second:02}Z").into(),
        event: event.into(),
        text: "done".into(),
        ..Record::default()
    };
    let events = [
        "session-start",
        "subagent-stop",
        "before-compact",
        "after-compact",
        "summary",
        "stop",
        "session-end",
        "prompt",
    ];
    for event in events {
        let twice = fold(&[at(event, 0), at(event, 1)]);
        assert_eq!(twice.records, 1, "{event}");
        assert_eq!(fold(&[at(event, 0), at(event, 3)]).records, 2, "{event}: later it is another one");
        let other = Record { text: "more".into(), ..at(event, 0) };
        assert_eq!(fold(&[at(event, 0), other]).records, 2, "{event}: other words");
    }
    let between = fold(&[at("stop", 0), Record { id: "t1".into(), ..at("tool-done", 0) }, at("stop", 1)]);
    assert_eq!(between.records, 3, "work came in between");
    let crossed = [at("stop", 0), at("session-end", 0), at("stop", 0), at("session-end", 1)];
    assert_eq!(fold(&crossed).records, 2);
}

#[test]
fn it_goes_on_where_it_was_after_being_written() {
    let edit = Record { files: touch(Action::Edit, "a.rs"), ..call("t1", "Edit") };
    let digest = fold(&[prompt("p"), edit.clone()]);
    let mut again: Digest = serde_json::from_str(&serde_json::to_string(&digest).unwrap()).unwrap();
    assert_eq!(again.fold(&edit), Folded::Repeated);
    assert_eq!((again.files[0].edits, again.prompts.len()), (1, 1));
}

#[test]
fn todos_are_the_last_state() {
    let whole = |todos: &[(&str, TodoStatus)]| Record {
        todos: Some(
            todos
                .iter()
                .map(|(text, status)| TodoField {
                    id: String::new(),
                    text: (*text).into(),
                    status: Some(*status),
                })
                .collect(),
        ),
        ..call("", "TodoWrite")
    };
    let one = |id: &str, text: &str, status| Record {
        todos: Some(vec![TodoField { id: id.into(), text: text.into(), status }]),
        ..call("", "TaskUpdate")
    };
    let open = |digest: &Digest| digest.open_todos().map(|todo| todo.text.clone()).collect::<Vec<_>>();
    let (done, next) = (TodoStatus::Completed, TodoStatus::Pending);
    assert_eq!(open(&fold(&[whole(&[("a", next), ("b", next)]), whole(&[("a", done), ("b", next)])])), ["b"]);
    let changes = [one("1", "a", Some(next)), one("2", "b", None), one("1", "", Some(done))];
    assert_eq!(open(&fold(&changes)), ["b"]);
    assert_eq!(open(&fold(&[one("1", "a", None), one("1", "", Some(TodoStatus::Deleted))])), [""; 0]);
}

#[test]
fn files_are_ranked_by_use() {
    let records = [
        Record { files: touch(Action::Read, "read-once.rs"), ..call("1", "Read") },
        Record { files: touch(Action::Edit, "edited.rs"), ..call("2", "Edit") },
        Record { files: touch(Action::Edit, "edited-twice.rs"), ..call("3", "Edit") },
        Record { files: touch(Action::Edit, "edited-twice.rs"), ..call("4", "Edit") },
        Record { files: touch(Action::Edit, "target/debug/x.rs"), ..call("5", "Edit") },
        Record { files: touch(Action::Read, "blamed.rs"), ..call("6", "Read") },
        Record {
            command: "cargo test".into(),
            ok: Some(false),
            error: "error: src/blamed.rs:3".into(),
            ..call("7", "Bash")
        },
    ];
    let digest = fold(&records);
    let ranked: Vec<_> = digest.ranked_files().iter().map(|file| file.path.as_str()).collect();
    assert_eq!(ranked, ["blamed.rs", "edited-twice.rs", "edited.rs", "read-once.rs", "target/debug/x.rs"]);
}

#[test]
fn prompts_of_sub_agents_are_not_the_users() {
    let agent = journal::AgentField { id: "a".into(), kind: "x".into() };
    let digest = fold(&[prompt("mine"), Record { agent: Some(agent), ..prompt("theirs") }, prompt("  ")]);
    assert_eq!(digest.prompts.iter().map(|p| p.text.as_str()).collect::<Vec<_>>(), ["mine"]);
}

#[test]
fn it_stays_small() {
    let mut digest = Digest::new("s");
    for n in 0..5_000 {
        digest.fold(&prompt(&"long ".repeat(2_000)));
        let path = format!("src/file{n}.rs");
        let record = Record {
            files: touch(if n == 0 { Action::Edit } else { Action::Read }, &path),
            command: format!("cargo test {n}").into(),
            ..Record::default()
        };
        digest.fold(&Record { id: format!("t{n}").into(), event: "tool-done".into(), ..record });
    }
    assert_eq!(
        (digest.files.len(), digest.commands.len(), digest.prompts.len()),
        (MOST_FILES, failures::MOST_COMMANDS, prompts::MOST_PROMPTS)
    );
    assert!(digest.files.iter().any(|file| file.path == "src/file0.rs"), "what was edited is kept");
    assert_eq!(digest.prompts[0].record, 1, "and so is the first prompt");
    assert!(serde_json::to_string(&digest).unwrap().len() < 256 * 1024);
}

/// The transcript is read at a stop. What it adds happened before the stop, even within the same second.
#[test]
fn what_only_the_transcript_has_happened_before_the_stop() {
    let ts = "2026-11-15T19:22:10Z";
    let edit = |id, ok| Record {
        ts: ts.into(),
        ok: Some(ok),
        files: touch(Action::Edit, "a.rs"),
        ..call(id, "Edit")
    };
    let stop =
        Record { ts: ts.into(), event: "stop".into(), text: "Commas work.".into(), ..Record::default() };
    let said = Record { event: journal::SAID.into(), from: "transcript".into(), ..stop.clone() };
    let failed = Record { from: "transcript".into(), ..edit("t1", false) };
    let asked = Record { ts: ts.into(), ..prompt("Accept commas") };
    let interim = Record { text: "Fixing the parser first.".into(), ..said.clone() };
    let digest = fold(&[asked, edit("t2", true), stop, interim, said, failed]);
    assert_eq!(digest.said, "Commas work.");
    assert!(digest.has_finished() && !digest.is_at_work());
    let steps: Vec<bool> = digest.steps.iter().map(|step| step.failed).collect();
    assert_eq!(steps, [true, false], "the attempt that failed came first");
    assert_eq!((digest.files[0].edits, digest.statements.len()), (1, 1));
}
