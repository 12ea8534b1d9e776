use super::*;

#[test]
fn texts_that_share_names_are_about_the_same() {
    let old = "`skipComment` lost its `keep_all` flag in src/reader.py";
    for (newer, expected) in [
        ("The flag `keep_all` of `skipComment()` is kept now.", true),
        ("The flag of `skipComment()` is kept now.", false),
        ("Nothing else was changed.", false),
    ] {
        assert_eq!(is_same_subject(old, newer), expected, "{newer}");
    }
}

#[test]
fn what_the_user_gave_up_or_quoted_no_longer_holds() {
    let mut digest = Digest::new("s");
    let said = AgentStatement {
        record: 2,
        text: "Writes the result to the old branch".into(),
        ..Default::default()
    };
    let prompt =
        |record: u64, text: &str| crate::digest::Prompt { record, text: text.into(), ..Default::default() };
    digest.prompts = vec![prompt(1, "write it"), prompt(5, "let's abandon this branch")];
    assert!(is_work_abandoned_by_user(&digest, &said));
    digest.prompts[1].text = "Writes the result to the old branch <- it must be the new one".to_owned();
    assert!(!is_work_abandoned_by_user(&digest, &said) && does_newest_prompt_object_to(&digest, &said));
    digest.prompts[1].text = "Writes the result to the old branch".to_owned();
    assert!(!does_newest_prompt_object_to(&digest, &said));
    assert!(describes_old_code("Current behavior: it walks the whole list."));
    assert!(!describes_old_code("It walks the whole list now."));
}

/// A session with two turns. In the first, the agent edits `reader.py`. In the second, it edits `file`.
fn session_with_later_question(question: &str, file: &str) -> Digest {
    let mut digest = Digest::new("s");
    let prompt =
        |record: u64, text: &str| crate::digest::Prompt { record, text: text.into(), ..Default::default() };
    let edit = |record: u64, path: &str| {
        let mut edit = FileEdit::default();
        (edit.record, edit.path) = (record, path.to_owned());
        edit
    };
    let said = |record: u64, text: &str| AgentStatement {
        record,
        text: text.into(),
        ended_turn: true,
        ..Default::default()
    };
    digest.prompts = vec![prompt(1, "keep the comments"), prompt(4, question), prompt(9, "now the writer")];
    digest.changes = vec![edit(2, "reader.py"), edit(5, file), edit(10, "writer.py")];
    digest.files = digest
        .changes
        .iter()
        .map(|change| crate::digest::FileUse {
            path: change.path.clone(),
            edits: 1,
            edited_at: change.record,
            ..Default::default()
        })
        .collect();
    digest.statements = vec![said(3, "Fixed: `skip` looks for a zero byte"), said(6, "`skip` asks git now")];
    digest
}

#[test]
fn a_result_that_the_user_questioned_and_the_agent_changed_is_out_of_date() {
    for (question, file, expected) in [
        ("doesn't git know if it is a binary file?", "reader.py", true),
        ("doesn't git know if it is a binary file?", "notes.md", false),
        ("please write that down", "reader.py", false),
    ] {
        let digest = session_with_later_question(question, file);
        let turns = digest.requests_with_outcomes();
        assert_eq!(
            was_result_revised_at_once(&digest, &turns[0], turns[0].outcome.unwrap()),
            expected,
            "{question} {file}"
        );
    }
}

#[test]
fn a_question_for_which_files_were_changed_was_a_request() {
    let mut digest = session_with_later_question("doesn't git know if it is a binary file?", "reader.py");
    let is_over = |digest: &Digest| {
        let turn = digest.requests_with_outcomes()[1];
        is_overtaken_by_work(digest, &turn, turn.outcome.unwrap(), 1)
    };
    assert!(!is_over(&digest));
    digest.changes.retain(|change| change.record != 5);
    assert!(is_over(&digest));
}

#[test]
fn a_message_of_which_little_is_left_is_spent() {
    let digest = session_with_later_question("doesn't git know if it is a binary file?", "reader.py");
    for (text, expected) in [
        ("I see: there are two types. I need to add a field to both.", true),
        ("I see: `skip` has two types. I need to add a field to both.", false),
        ("There are two types, and both of them stay as they are.", false),
    ] {
        let said = AgentStatement { record: 3, text: text.into(), ..Default::default() };
        assert_eq!(is_mostly_settled_message(&digest, &said), expected, "{text}");
    }
}

#[test]
fn a_problem_that_was_solved_is_not_told_as_if_it_were_there() {
    use crate::journal::{JournalRecord, RecordedFile};
    let said = |text: &str| AgentStatement { record: 0, text: text.into(), ..Default::default() };
    let problem = said("The issue is in `parse`: it drops the comment.");
    let lack = said("I added `parse` but didn't write tests for it.");
    let call = || JournalRecord { event: "tool-done".into(), ok: Some(true), ..JournalRecord::default() };
    let mut edit = call();
    edit.files = vec![RecordedFile::new("a.py".into(), crate::event::FileAction::Edit)];
    let mut test = call();
    (test.command, test.ended) = ("make test".into(), "passed".into());

    let mut digest = Digest::new("s");
    assert_eq!(note_if_fixed(&digest, &problem), "");
    assert!(!is_lack_made_good(&digest, &lack));
    digest.fold_record(&edit);
    assert_eq!(note_if_fixed(&digest, &problem), "");
    assert!(is_lack_made_good(&digest, &lack) && !is_lack_made_good(&digest, &problem));
    digest.fold_record(&test);
    assert_eq!(note_if_fixed(&digest, &problem), " (since then, files were edited and the checks passed)");
    assert_eq!(note_if_fixed(&digest, &said("`parse` keeps comments.")), "");
    // The check ran before the last edit, so it does not show that the problem is solved.
    digest.fold_record(&edit);
    assert_eq!(note_if_fixed(&digest, &problem), "");
}

#[test]
fn only_the_agent_can_make_good_what_it_forgot() {
    let digest = session_with_later_question("doesn't git know if it is a binary file?", "reader.py");
    let long = format!("I forgot to add the test. {}", "The reader keeps one buffer per file. ".repeat(8));
    for (text, expected) in [
        ("I added `parse` but didn't write tests for it.", true),
        ("I forgot to add the test.", true),
        ("The edit is done. I’ve renamed it but haven’t updated the docs.", true),
        ("I missed one of the callers.", true),
        ("You're right - I added `parse` to `reader.py` but didn't write tests for it.", true),
        ("You're right - the reader was rewritten but didn't reset the buffer.", false),
        ("Root cause: the parser forgot to reset the buffer, so every second line is lost", false),
        ("The reader was rewritten but didn't reset the buffer.", false),
        ("I found that the parser reads the line but didn't reset the buffer.", false),
        ("I see the parser reads the line but didn't reset the buffer.", false),
        ("The API missed the header.", false),
        (&long, false),
    ] {
        let said = AgentStatement { record: 3, text: text.into(), ..Default::default() };
        assert_eq!(is_lack_made_good(&digest, &said), expected, "{text}");
    }
}

#[test]
fn only_an_edit_of_a_named_file_can_be_its_fix() {
    use crate::journal::{JournalRecord, RecordedFile};
    let call = || JournalRecord { event: "tool-done".into(), ok: Some(true), ..JournalRecord::default() };
    let edited = |path: &str| {
        let mut edit = call();
        edit.files = vec![RecordedFile::new(path.to_owned(), crate::event::FileAction::Edit)];
        edit
    };
    let ran = |command: &str, output: &str| {
        use crate::effect::{CompletedCall, effects_of_call};
        let mut run = call();
        (run.command, run.ended) = (command.to_owned().into(), "passed".into());
        run.effect = effects_of_call(&CompletedCall {
            tool: "Bash",
            command,
            tool_input: "",
            output,
            succeeded: true,
        });
        run
    };
    let note = |text: &str, records: &[JournalRecord]| {
        let mut digest = Digest::new("s");
        records.iter().for_each(|record| {
            digest.fold_record(record);
        });
        let said = AgentStatement { record: 0, text: text.into(), ..Default::default() };
        note_if_fixed(&digest, &said)
    };
    let commit = |files: &str| {
        ran(&format!("git add {files} && git commit -m x"), "[main 1a2b3c4] x\n 1 file changed")
    };
    let in_parser = "The bug is in src/parse.rs: it drops the comment.";
    let committed = " (since then committed: 1a2b3c4)";
    let checked = " (since then, files were edited and the checks passed)";
    let (readme, parser) = (edited("README.md"), edited("src/parse.rs"));
    let test = ran("make test", "");
    for (text, records, expected) in [
        (in_parser, vec![readme.clone(), commit("README.md")], ""),
        (in_parser, vec![readme.clone(), test.clone()], ""),
        (in_parser, vec![readme.clone(), parser.clone(), commit("README.md")], ""),
        (in_parser, vec![parser.clone(), commit("src/parse.rs")], committed),
        (in_parser, vec![parser.clone(), test], checked),
        // Another file of the same name.
        (in_parser, vec![edited("lib/parse.rs"), commit("lib")], ""),
        // The edit was discarded before the later commit.
        (
            in_parser,
            vec![
                parser.clone(),
                ran("git checkout -- src/parse.rs", ""),
                readme.clone(),
                commit("README.md"),
            ],
            "",
        ),
        // It is not known which of the two commits contains the edit.
        (
            in_parser,
            vec![readme.clone(), parser, commit("README.md"), commit("src")],
            " (since then committed)",
        ),
        (
            "The bug is in `os.Exit`, e.g. it drops the comment.",
            vec![readme.clone(), commit("README.md")],
            committed,
        ),
        ("The bug is that it drops the comment.", vec![readme, commit("README.md")], committed),
    ] {
        assert_eq!(note(text, &records), expected, "{text} {}", records.len());
    }
}
