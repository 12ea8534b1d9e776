use super::*;

fn call_record<'a>(id: &'a str, tool: &'a str) -> JournalRecord<'a> {
    JournalRecord {
        event: "tool-done".into(),
        id: id.into(),
        tool: tool.into(),
        ok: Some(true),
        ..JournalRecord::default()
    }
}

fn file_fields(action: FileAction, path: &str) -> Vec<RecordedFile> {
    vec![RecordedFile::new(path.to_owned(), action)]
}

fn prompt_record(text: &str) -> JournalRecord<'_> {
    JournalRecord { event: "prompt".into(), text: text.into(), ..JournalRecord::default() }
}

fn fold_records(records: &[JournalRecord]) -> Digest {
    let mut digest = Digest::new("s");
    for record in records {
        digest.fold_record(record);
    }
    digest
}

#[test]
fn a_call_counts_once_however_often_it_is_told() {
    let edit = JournalRecord { files: file_fields(FileAction::Edit, "a.rs"), ..call_record("t1", "Edit") };
    let told = JournalRecord { from: "transcript".into(), ..edit.clone() };
    let digest = fold_records(&[edit.clone(), edit.clone(), told, JournalRecord { id: "t2".into(), ..edit }]);
    assert_eq!(digest.files[0].edits, 2);
}

#[test]
fn a_call_without_id_is_named_by_the_transcript() {
    let hook = JournalRecord { command: "ls".into(), ..call_record("", "Execute") };
    let told = |id| JournalRecord { from: "transcript".into(), id, ..hook.clone() };
    let digest =
        fold_records(&[hook.clone(), hook.clone(), told("c1".into()), told("c2".into()), told("c3".into())]);
    assert_eq!(digest.commands[0].runs, 3, "two hooks, and one call that no hook reported");
    let digest = fold_records(&[hook.clone(), told("c1".into()), told("c1".into())]);
    assert_eq!(digest.commands[0].runs, 1);
}

#[test]
fn an_event_without_id_counts_once_when_two_hooks_tell_it() {
    let at = |event: &'static str, second: u32| JournalRecord {
        ts: format!("2026-11-15T19:22:{second:02}Z").into(),
        event: event.into(),
        text: "done".into(),
        ..JournalRecord::default()
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
        let twice = fold_records(&[at(event, 0), at(event, 1)]);
        assert_eq!(twice.record_count, 1, "{event}");
        assert_eq!(
            fold_records(&[at(event, 0), at(event, 3)]).record_count,
            2,
            "{event}: later it is another one"
        );
        let other = JournalRecord { text: "more".into(), ..at(event, 0) };
        assert_eq!(fold_records(&[at(event, 0), other]).record_count, 2, "{event}: other words");
    }
    let between = fold_records(&[
        at("stop", 0),
        JournalRecord { id: "t1".into(), ..at("tool-done", 0) },
        at("stop", 1),
    ]);
    assert_eq!(between.record_count, 3, "work came in between");
    let crossed = [at("stop", 0), at("session-end", 0), at("stop", 0), at("session-end", 1)];
    assert_eq!(fold_records(&crossed).record_count, 2);
}

#[test]
fn it_goes_on_where_it_was_after_being_written() {
    let edit = JournalRecord { files: file_fields(FileAction::Edit, "a.rs"), ..call_record("t1", "Edit") };
    let digest = fold_records(&[prompt_record("p"), edit.clone()]);
    let mut again: Digest = serde_json::from_str(&serde_json::to_string(&digest).unwrap()).unwrap();
    assert_eq!(again.fold_record(&edit), FoldOutcome::Repeated);
    assert_eq!((again.files[0].edits, again.prompts.len()), (1, 1));
}

#[test]
fn todos_are_the_last_state() {
    let whole = |todos: &[(&str, TodoStatus)]| JournalRecord {
        todos: Some(
            todos
                .iter()
                .map(|(text, status)| RecordedTodo {
                    id: String::new(),
                    text: (*text).into(),
                    status: Some(*status),
                })
                .collect(),
        ),
        ..call_record("", "TodoWrite")
    };
    let one = |id: &str, text: &str, status| JournalRecord {
        todos: Some(vec![RecordedTodo { id: id.into(), text: text.into(), status }]),
        ..call_record("", "TaskUpdate")
    };
    let open = |digest: &Digest| digest.open_todos().map(|todo| todo.text.clone()).collect::<Vec<_>>();
    let (done, next) = (TodoStatus::Completed, TodoStatus::Pending);
    assert_eq!(
        open(&fold_records(&[whole(&[("a", next), ("b", next)]), whole(&[("a", done), ("b", next)])])),
        ["b"]
    );
    let changes = [one("1", "a", Some(next)), one("2", "b", None), one("1", "", Some(done))];
    assert_eq!(open(&fold_records(&changes)), ["b"]);
    assert_eq!(open(&fold_records(&[one("1", "a", None), one("1", "", Some(TodoStatus::Deleted))])), [""; 0]);
}

#[test]
fn files_are_ranked_by_use() {
    let records = [
        JournalRecord { files: file_fields(FileAction::Read, "read-once.rs"), ..call_record("1", "Read") },
        JournalRecord { files: file_fields(FileAction::Edit, "edited.rs"), ..call_record("2", "Edit") },
        JournalRecord { files: file_fields(FileAction::Edit, "edited-twice.rs"), ..call_record("3", "Edit") },
        JournalRecord { files: file_fields(FileAction::Edit, "edited-twice.rs"), ..call_record("4", "Edit") },
        JournalRecord {
            files: file_fields(FileAction::Edit, "target/debug/x.rs"),
            ..call_record("5", "Edit")
        },
        JournalRecord { files: file_fields(FileAction::Read, "blamed.rs"), ..call_record("6", "Read") },
        JournalRecord {
            command: "cargo test".into(),
            ok: Some(false),
            error: "error: src/blamed.rs:3".into(),
            ..call_record("7", "Bash")
        },
    ];
    let digest = fold_records(&records);
    let ranked: Vec<_> = digest.ranked_files().iter().map(|file| file.path.as_str()).collect();
    assert_eq!(ranked, ["blamed.rs", "edited-twice.rs", "edited.rs", "read-once.rs", "target/debug/x.rs"]);
}

#[test]
fn prompts_of_sub_agents_are_not_the_users() {
    let agent = journal::RecordedAgent { id: "a".into(), kind: "x".into() };
    let digest = fold_records(&[
        prompt_record("mine"),
        JournalRecord { agent: Some(agent), ..prompt_record("theirs") },
        prompt_record("  "),
    ]);
    assert_eq!(digest.prompts.iter().map(|p| p.text.as_str()).collect::<Vec<_>>(), ["mine"]);
}

#[test]
fn a_digest_stays_small() {
    let mut digest = Digest::new("s");
    for n in 0..1_000 {
        digest.fold_record(&prompt_record(&"long ".repeat(2_000)));
        let path = format!("src/file{n}.rs");
        let record = JournalRecord {
            files: file_fields(if n == 0 { FileAction::Edit } else { FileAction::Read }, &path),
            command: format!("cargo test {n}").into(),
            ..JournalRecord::default()
        };
        digest.fold_record(&JournalRecord {
            id: format!("t{n}").into(),
            event: "tool-done".into(),
            ..record
        });
    }
    assert_eq!(
        (digest.files.len(), digest.commands.len(), digest.prompts.len()),
        (MAX_FILES, failures::MAX_COMMANDS_IN_DIGEST, prompts::MAX_PROMPTS_KEPT)
    );
    assert!(digest.files.iter().any(|file| file.path == "src/file0.rs"), "what was edited is kept");
    assert_eq!(digest.prompts[0].record, 1, "and so is the first prompt");
    assert!(serde_json::to_string(&digest).unwrap().len() < 256 * 1024);
}

/// The transcript is read at a stop. Calls in it happened before the stop, even if they have the same time.
#[test]
fn what_only_the_transcript_has_happened_before_the_stop() {
    let ts = "2026-11-15T19:22:10Z";
    let edit = |id, ok| JournalRecord {
        ts: ts.into(),
        ok: Some(ok),
        files: file_fields(FileAction::Edit, "a.rs"),
        ..call_record(id, "Edit")
    };
    let stop = JournalRecord {
        ts: ts.into(),
        event: "stop".into(),
        text: "Commas work.".into(),
        ..JournalRecord::default()
    };
    let said = JournalRecord {
        event: journal::AGENT_MESSAGE_EVENT.into(),
        from: "transcript".into(),
        ..stop.clone()
    };
    let failed = JournalRecord { from: "transcript".into(), ..edit("t1", false) };
    let asked = JournalRecord { ts: ts.into(), ..prompt_record("Accept commas") };
    let interim = JournalRecord { text: "Fixing the parser first.".into(), ..said.clone() };
    let digest = fold_records(&[asked, edit("t2", true), stop, interim, said, failed]);
    assert_eq!(digest.last_message, "Commas work.");
    assert!(digest.has_finished() && !digest.has_work_after_last_message());
    let steps: Vec<bool> = digest.steps.iter().map(|step| step.failed).collect();
    assert_eq!(steps, [true, false], "the attempt that failed came first");
    assert_eq!((digest.files[0].edits, digest.statements.len()), (1, 1));
}

/// A session that is killed during a call leaves no record of the call, but the message before it names the call.
#[test]
fn an_agent_that_was_killed_during_a_call_had_not_finished() {
    let said = |call: &str| JournalRecord {
        ts: "2026-11-15T19:22:20Z".into(),
        event: journal::AGENT_MESSAGE_EVENT.into(),
        from: "transcript".into(),
        text: "The exit code is right, but the message names the wrong file.".into(),
        next_call: call.to_owned().into(),
        ..JournalRecord::default()
    };
    let ended = JournalRecord { ok: Some(true), ..call_record("t1", "Read") };
    let running = JournalRecord { from: "transcript".into(), ok: None, ..call_record("t1", "Read") };
    let asked = || prompt_record("Print the name of the missing file");
    let cases = [
        (vec![asked(), said("")], true, false),
        (vec![asked(), said("t1")], false, true),
        (vec![asked(), said("t1"), running], false, true),
        // A hook reported the call, and the message was read from the transcript later.
        (vec![asked(), ended.clone(), said("t1")], true, false),
        (vec![asked(), said("t1"), ended.clone()], false, false),
        (vec![asked(), said("t1"), ended, said("")], true, false),
    ];
    for (i, (records, has_finished, has_open_call)) in cases.iter().enumerate() {
        let digest = fold_records(records);
        assert_eq!((digest.has_finished(), digest.has_open_call()), (*has_finished, *has_open_call), "{i}");
    }
}

/// Messages are read from the transcript after hooks have reported calls. If the message and the calls happened within
/// one second, the call that follows the message shows where the message belongs.
#[test]
fn a_message_is_placed_before_the_call_that_follows_it() {
    let at = "2026-11-15T19:22:20Z";
    let call = |id: &'static str| JournalRecord {
        ts: at.into(),
        ok: Some(true),
        files: vec![RecordedFile::new(format!("{id}.rs"), FileAction::Edit)],
        ..call_record(id, "Edit")
    };
    let said = |next: &'static str| JournalRecord {
        ts: at.into(),
        event: journal::AGENT_MESSAGE_EVENT.into(),
        from: "transcript".into(),
        text: format!("Now the step {next}, then I'll commit.").into(),
        next_call: next.into(),
        ..JournalRecord::default()
    };
    let asked = || JournalRecord { ts: at.into(), ..prompt_record("Print the name of the missing file") };
    let late = JournalRecord { ts: "2026-11-15T19:22:21Z".into(), ..call("t4") };
    let cases = [
        // The call after the last message was still running when the session was killed.
        (vec![asked(), call("t1"), call("t2"), said("t2"), said("t3")], vec![]),
        (vec![asked(), call("t1"), call("t2"), said("t1"), said("t2")], vec!["t2.rs"]),
        (vec![asked(), call("t1"), late, said("t3")], vec!["t4.rs"]),
        // If the message does not name the next call, a call in the same second counts as later than the message.
        (vec![asked(), call("t1"), said("")], vec!["t1.rs"]),
    ];
    for (i, (records, expected)) in cases.iter().enumerate() {
        let digest = fold_records(records);
        let steps: Vec<&str> =
            digest.steps_since_last_message().iter().map(|step| step.path_or_command.as_str()).collect();
        assert_eq!(steps, *expected, "{i}");
    }
}
