use super::*;
use crate::brief::{BriefOccasion, compose_brief};
use crate::event::FileAction;
use crate::journal::{self, JournalRecord, RecordedFile, RecordedTodo};

/// Builds a digest from lines of the form `who: text`. `todo: text` is a list with one entry that is in progress.
fn state_text(lines: &[&str]) -> String {
    brief_of_digest(&digest_of_lines(lines), BriefOccasion::Compacted)
}

fn digest_of_lines(lines: &[&str]) -> Digest {
    let mut digest = Digest::new("s");
    for line in lines {
        let (who, text) = line.split_once(": ").unwrap();
        let mut record = JournalRecord {
            ts: "2026-11-15T19:22:00Z".into(),
            from: "transcript".into(),
            ..JournalRecord::default()
        };
        let file = |action| vec![RecordedFile::new(text.into(), action)];
        (record.event, record.ok) = ("tool-done".into(), Some(true));
        match who {
            "user" => (record.event, record.text) = ("prompt".into(), text.into()),
            "said" => (record.event, record.text) = (journal::AGENT_MESSAGE_EVENT.into(), text.into()),
            "edit" => record.files = file(FileAction::Edit),
            "read" => record.files = file(FileAction::Read),
            // `part: a.py 475 494` reads these lines, and `change: a.py parse` changes this function.
            "part" => {
                let words: Vec<&str> = text.split(' ').collect();
                let number = |i: usize| words[i].parse().unwrap();
                let lines = Some(LineRange { first: number(1), last: number(2) });
                record.files =
                    vec![RecordedFile { lines, ..RecordedFile::new(words[0].into(), FileAction::Read) }];
            }
            "change" => {
                let (path, name) = text.split_once(' ').unwrap();
                let names = ChangedNames { changed: vec![name.to_owned()], ..ChangedNames::default() };
                record.files =
                    vec![RecordedFile { names, ..RecordedFile::new(path.into(), FileAction::Edit) }];
            }
            "call" => record.tool = text.into(),
            "begun" => (record.tool, record.ok) = (text.into(), None),
            "passed" | "failed" => (record.command, record.ended) = (text.into(), who.into()),
            "todo" => {
                let status = Some(TodoStatus::InProgress);
                record.todos = Some(vec![RecordedTodo { id: String::new(), text: text.into(), status }]);
            }
            _ => panic!("{who}"),
        }
        if who == "begun" {
            digest.unfinished_call_texts.push(text.to_owned());
        }
        digest.fold_record(&record);
    }
    digest
}

fn brief_of_digest(digest: &Digest, occasion: BriefOccasion) -> String {
    let material = BriefMaterial {
        occasion,
        digest,
        hook_problems: &[],
        missing_files: &[],
        feature_candidates: &[],
        scoring: None,
    };
    compose_brief(&material, 9_500).unwrap().text
}

const TASK_PROMPT: &str = "user: Make the reader keep comments in nested arrays and objects";

#[test]
fn what_was_done_after_the_last_message() {
    let cases: [(&[&str], &str); 9] = [
        // The bare name of a tool is not listed.
        (
            &[TASK_PROMPT, "said: Let me look for it:", "call: Grep"],
            "- In progress. Last said: “Let me look for it:”\n",
        ),
        (&[TASK_PROMPT], "- The newest message has not been acted on yet\n"),
        // Even a call that touches no file shows that the agent is working on the newest message.
        (
            &[TASK_PROMPT, "call: mcp__tracker__create_issue"],
            "- Working on the newest message: called `mcp__tracker__create_issue`\n",
        ),
        (
            &[TASK_PROMPT, "begun: make test", "begun: Grep"],
            "- Working on the newest message\n- Started, result not seen: `make test`\n",
        ),
        // Calls that only read something are left out if other work follows. Repeated calls are counted.
        (
            &[
                TASK_PROMPT,
                "said: Let me look for it:",
                "read: a.py",
                "call: Grep",
                "edit: a.py",
                "edit: b.py",
                "edit: a.py",
                "passed: make test",
            ],
            "; then edited b.py, a.py (2×), ran `make test` → passed\n",
        ),
        // Only the runs that ended like the last one are counted.
        (
            &[TASK_PROMPT, "passed: make test", "edit: a.py", "failed: make test"],
            "edited a.py, ran `make test` → failed\n",
        ),
        (
            &[TASK_PROMPT, "passed: make test", "failed: make test", "edit: a.py", "failed: make test"],
            "edited a.py, ran `make test` → failed (2×)\n",
        ),
        (
            &[TASK_PROMPT, "said: Let me look for it:", "edit: a.py", "read: b.py"],
            "; then edited a.py, read b.py\n",
        ),
        (&[TASK_PROMPT, "said: Let me look for it:"], "- Last said: “Let me look for it:”\n"),
    ];
    for (lines, expected) in cases {
        let text = state_text(lines);
        assert!(text.contains(expected), "{expected}{text}");
    }
}

#[test]
fn the_next_step_stays_in_the_last_message() {
    let words =
        "THIRD is not in yet. I will add it next. I chose integer cents. Do you want me to rename TEN?";
    let text = state_text(&[TASK_PROMPT, &format!("said: {words}")]);
    assert!(text.contains(&format!("Its last message: “{words}”")), "{text}");
    // An accepted proposal is quoted with its explanation.
    let text = state_text(&[
        TASK_PROMPT,
        "said: THIRD is not in yet. I will add it to `cart.py` next. I chose cents.",
        "user: go on",
    ]);
    assert!(text.contains("I will add it to `cart.py` next."), "{text}");
}

#[test]
fn an_entry_that_asks_for_checks_is_done_once_they_passed() {
    let open = "To do: “Run lint and tests” (in progress)";
    let cases: [(&[&str], bool); 5] = [
        (&[TASK_PROMPT, "todo: Run lint and tests"], true),
        (&[TASK_PROMPT, "todo: Run lint and tests", "passed: make test"], true),
        (&[TASK_PROMPT, "passed: make test", "passed: make lint", "todo: Run lint and tests"], true),
        (&[TASK_PROMPT, "todo: Run lint and tests", "passed: make test", "passed: make lint"], false),
        (
            &[
                TASK_PROMPT,
                "todo: Run lint and tests",
                "passed: make test",
                "passed: make lint",
                "edit: a.py",
            ],
            true,
        ),
    ];
    for (lines, expected) in cases {
        let text = state_text(lines);
        assert_eq!(text.contains(open), expected, "{lines:?}\n{text}");
    }
}

#[test]
fn edits_are_never_among_the_other_calls() {
    let steps = ["ran `a`", "edited x.rs", "edited y.rs (2×)", "read z.rs", "ran `b` → failed"];
    let steps: Vec<String> = steps.iter().map(|step| (*step).to_owned()).collect();
    let with_edits = |most| list_steps(&steps, ListedSteps::EditsAndOthers(most));
    assert_eq!(with_edits(1), "2 other calls, edited x.rs, y.rs (2×), ran `b` → failed");
    assert_eq!(with_edits(9), "ran `a`, edited x.rs, y.rs (2×), read z.rs, ran `b` → failed");
    // If there is little room, edits may be left out here, because the brief also lists the edited files.
    let newest = |most| list_steps(&steps, ListedSteps::Newest(most));
    assert_eq!(newest(2), "3 calls, read z.rs, ran `b` → failed");
    assert_eq!(newest(4), "1 call, edited x.rs, y.rs (2×), read z.rs, ran `b` → failed");
}

#[test]
fn where_the_agent_was_in_a_file() {
    for (calls, expected) in [
        (&["part: a.py 475 494"][..], "; then read a.py lines 475–494\n"),
        (
            &["part: a.py 525 574", "part: a.py 475 520", "part: a.py 900 949"],
            "; then read a.py lines 475–574, 900–949 (3×)\n",
        ),
        (&["part: a.py 475 494", "read: a.py"], "; then read a.py (2×)\n"),
        (&["change: a.py parse", "change: a.py skip"], "; then edited a.py (2×, last in `skip`)\n"),
        (&["change: a.py parse"], "; then edited a.py\n"),
    ] {
        let lines: Vec<&str> =
            [TASK_PROMPT, "said: Let me look at the loop:"].iter().chain(calls).copied().collect();
        let text = state_text(&lines);
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

/// Without backticks, `main` would look like a branch.
#[test]
fn the_list_of_files_quotes_the_names_of_declarations() {
    let digest = digest_of_lines(&[TASK_PROMPT, "change: a.py main", "said: It is done."]);
    let forms = super::super::files::file_forms(&digest, &digest.files[0], "a.py");
    assert_eq!(forms, ["a.py", "a.py (`main`)"]);
}

#[test]
fn a_finding_is_quoted_rather_than_the_look_that_has_begun() {
    let found =
        "The reader uses `HookType` for parsing, but the names in `hooks.py` are used for the settings file.";
    let said = format!("said: {found} {} Let me check the names in the settings:", "It is long. ".repeat(90));
    let text = state_text(&[TASK_PROMPT, &said, "begun: grep -n name hooks.py"]);
    assert!(text.contains(found) && !text.contains("Let me check the names"), "{text}");
}

#[test]
fn the_outcome_of_a_call_that_was_running_when_the_session_ended_is_unknown() {
    let digest =
        digest_of_lines(&[TASK_PROMPT, "begun: Read a.py", "begun: ./migrate.sh", "begun: thru handoff x"]);
    let text = brief_of_digest(&digest, BriefOccasion::Started);
    let expected = "- `./migrate.sh` was running when the session ended; its outcome is unknown, so check its \
         effects before running it again. The agent was reading `a.py` when the session ended\n";
    assert!(text.contains(expected) && !text.contains("thru handoff"), "{text}");
}

#[test]
fn nothing_is_said_about_a_message_if_work_on_it_may_be_unseen() {
    let untouched = "has not been acted on yet";
    for (lines, unseen, expected) in [
        (&[TASK_PROMPT][..], false, untouched),
        (&[TASK_PROMPT], true, ""),
        (&["user: Make it", "said: Made.", TASK_PROMPT], false, untouched),
        (
            &["user: Make it", "said: Made.", TASK_PROMPT],
            true,
            "- Before the newest message, the agent said “Made.”",
        ),
        (&[TASK_PROMPT, "edit: a.py"], true, "- Working on the newest message: edited a.py"),
    ] {
        let mut digest = digest_of_lines(lines);
        digest.may_have_unseen_work = unseen;
        let text = brief_of_digest(&digest, BriefOccasion::Started);
        assert!(text.contains(expected), "{expected}: {text}");
        assert_eq!(text.contains(untouched), expected == untouched, "{text}");
    }
}

#[test]
fn an_agent_that_a_loop_continued_has_not_ended_its_turn() {
    let mut digest = digest_of_lines(&["user: go", "said: First part."]);
    let ended = "had ended its turn";
    assert!(brief_of_digest(&digest, BriefOccasion::Started).contains(ended));
    digest.has_loop_continued_turn = true;
    let text = brief_of_digest(&digest, BriefOccasion::Started);
    assert!(text.contains("- In progress. Last said: “First part.”") && !text.contains(ended), "{text}");
}

/// A short brief names the first open entries of the todo list, each in a few words.
#[test]
fn open_todos_are_named_in_a_short_brief() {
    let mut digest = digest_of_lines(&[TASK_PROMPT]);
    let todo =
        |text: &str, status| RecordedTodo { id: String::new(), text: text.into(), status: Some(status) };
    digest.todos = vec![
        todo("Rename the reader", TodoStatus::Completed),
        todo(
            "Extract the helper that the reader and the writer share with the lexer",
            TodoStatus::InProgress,
        ),
        todo("Use the helper in the reader", TodoStatus::Pending),
        todo("Use the helper in the writer", TodoStatus::Pending),
        todo("Document the helper", TodoStatus::Pending),
    ];
    digest.todos_changed_at = digest.record_count;
    let mut all = GatheredCandidates::default();
    add_todo_list(&digest, &mut all);
    let known = [
        "To do: “Extract the helper that the reader and the writer s…” (in progress); “Use the helper in the reader”; “Use the helper in the writer”; +1 more",
        "“Document the helper”",
    ];
    let forms = all.forms_of("todos");
    assert!(forms.iter().any(|form| form == known[0]), "{forms:?}");
    assert!(forms.last().is_some_and(|form| form.ends_with(known[1])), "{forms:?}");
}

#[test]
fn an_announced_change_without_a_recorded_call_may_be_done() {
    for (lines, expected) in [
        (&["said: Need to add `os.path` and `paths`."][..], "”; whether that was done is not recorded\n"),
        (&["said: Let me look at the imports:"], "“Let me look at the imports:”\n"),
        (&["said: Need to add `os.path` and `paths`.", "edit: a.py"], "; then edited a.py\n"),
    ] {
        let lines: Vec<&str> = [TASK_PROMPT].iter().chain(lines).copied().collect();
        let told = state_text(&lines);
        assert!(told.contains(expected), "{told}");
    }
}

/// The newest message names nothing. The message before it says what both of them are about.
#[test]
fn the_message_before_the_newest_says_what_the_newest_is_about() {
    let said = format!(
        "said: The views are sorted. {} The number was summed over all drafts. {}",
        "The title of the view stays as bright as it was before. ".repeat(12),
        "The text below it names a key for the help and the menu. ".repeat(12)
    );
    let text = state_text(&[
        "user: Sort the views by name",
        "edit: a.py",
        "said: Sorted.",
        "user: why is it showing such a high number?",
        &said,
        "user: hmm but couldn't we avoid that?",
    ]);
    assert!(text.contains("The newest message has not been acted on yet"), "{text}");
    assert!(text.contains("The number was summed over all drafts."), "{text}");
}

#[test]
fn a_brief_says_which_check_the_edits_call_for() {
    let announced = "said: Now let me fix the reader:";
    for (lines, expected) in [
        (
            &["passed: cargo test", announced, "edit: src/reader.rs"][..],
            "- Begin with: the change in src/reader.rs, which may not be complete; then `cargo test`, which last ran before that change\n",
        ),
        (
            &[announced, "edit: scripts/build.sh"],
            "- Begin with: running `scripts/build.sh`, which was edited and has not been run since\n",
        ),
        (&["passed: cargo test", announced, "edit: src/reader.rs", "passed: cargo test"], ""),
        (&["passed: cargo test", announced, "part: src/reader.rs 1 20"], ""),
        (&["passed: cargo test", announced, "edit: README.md"], ""),
    ] {
        let lines: Vec<&str> = [TASK_PROMPT].iter().chain(lines).copied().collect();
        let digest = digest_of_lines(&lines);
        let begins = |text: &str| -> String {
            let lines = text.split_inclusive('\n').filter(|line| line.contains("Begin with"));
            lines.collect::<String>().replace("`src/reader.rs`", "src/reader.rs")
        };
        assert_eq!(begins(&brief_of_digest(&digest, BriefOccasion::Compacted)), expected, "{lines:?}");
        assert_eq!(begins(&brief_of_digest(&digest, BriefOccasion::Replayed)), "", "{lines:?}");
    }
}

/// An edit that was running when the records ended may have been made, so no check counts as run after it.
#[test]
fn a_check_is_not_current_while_an_edit_was_running() {
    for (call, is_current) in [("Edit src/reader.py", false), ("Read src/reader.py", true)] {
        let begun = format!("begun: {call}");
        let digest = digest_of_lines(&[TASK_PROMPT, "edit: src/reader.py", "passed: pytest", &begun]);
        let passed = digest.checks[0].last_run_record;
        assert_eq!(digest.is_check_current(passed), is_current, "{call}");
        let told = brief_of_digest(&digest, BriefOccasion::Compacted);
        assert_eq!(told.contains("passed, and files may have changed since"), !is_current, "{told}");
    }
}

/// A file that a tool did not find is not listed. Reading or writing it later shows that it exists.
#[test]
fn a_file_that_was_not_found_is_not_told_as_read() {
    let read = |ok: bool, error: &str| JournalRecord {
        event: "tool-done".into(),
        ok: Some(ok),
        error: error.to_owned().into(),
        files: vec![RecordedFile::new("src/session.py".into(), FileAction::Read)],
        ..JournalRecord::default()
    };
    for (calls, expected) in [
        (vec![read(false, "File does not exist.")], ""),
        (vec![read(false, "ENOENT: no such file or directory")], ""),
        (vec![read(false, "The file is too large")], "read src/session.py\n"),
        (vec![read(false, "File does not exist."), read(true, "")], "read src/session.py\n"),
    ] {
        let mut digest = digest_of_lines(&[TASK_PROMPT]);
        for call in &calls {
            digest.fold_record(call);
        }
        let told = brief_of_digest(&digest, BriefOccasion::Compacted);
        match expected {
            "" => assert!(!told.contains("\nFiles:"), "{told}"),
            expected => assert!(told.contains(expected), "{told}"),
        }
    }
}
