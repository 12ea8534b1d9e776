use super::*;
use crate::brief::{BriefOccasion, compose_brief};
use crate::effect::{Effect, EffectKind};
use crate::event::FileAction;
use crate::journal::{self, JournalRecord, RecordedFile};

/// Builds a digest from lines of the form `who: text`. `ran: command` is a call and `edit: path` is an edit.
fn fold_session(lines: &[&str]) -> Digest {
    let mut digest = Digest::new("s");
    for line in lines {
        let (who, text) = line.split_once(": ").unwrap();
        let mut record = JournalRecord {
            ts: "2026-11-15T19:22:00Z".into(),
            from: "transcript".into(),
            ..JournalRecord::default()
        };
        match who {
            "user" => (record.event, record.text) = ("prompt".into(), text.into()),
            "said" => (record.event, record.text) = (journal::AGENT_MESSAGE_EVENT.into(), text.into()),
            "edit" => {
                record.event = "tool-done".into();
                record.files = vec![RecordedFile::new(text.into(), FileAction::Edit)];
            }
            "delete" => {
                record.event = "tool-done".into();
                record.files = vec![RecordedFile::new(text.into(), FileAction::Delete)];
            }
            "commit" => {
                record.event = "tool-done".into();
                record.effect = vec![Effect {
                    kind: EffectKind::Commit,
                    what: text.into(),
                    place: "main".into(),
                    id: "1111111".into(),
                    link: String::new(),
                    folder: String::new(),
                }];
            }
            "agent" => {
                (record.event, record.asked, record.text) =
                    ("tool-done".into(), "explore".into(), text.into());
            }
            _ => (record.event, record.command, record.ok) = ("tool-done".into(), text.into(), Some(true)),
        }
        record.ok = record.ok.or(Some(true));
        digest.fold_record(&record);
    }
    digest
}

fn done_text(lines: &[&str]) -> String {
    brief_text(BriefOccasion::Compacted, lines)
}

fn brief_text(occasion: BriefOccasion, lines: &[&str]) -> String {
    let digest = fold_session(lines);
    let material = BriefMaterial {
        occasion,
        digest: &digest,
        hook_problems: &[],
        missing_files: &[],
        feature_candidates: &[],
        scoring: None,
    };
    compose_brief(&material, 9_500).unwrap().text
}

const TASK_PROMPT: &str = "user: Make the reader keep comments in nested arrays and objects";
const DONE_STATEMENT: &str = "said: The reader keeps comments now: `skip()` no longer eats them, and four tests in `reader_test.py` show it.";

#[test]
fn what_was_taken_back_is_not_told() {
    let wrong = "said: Yes! The writer keeps them too, because it goes through the same `skip()` and through nothing else.";
    let right = "said: No, the writer has a path of its own: `emit()` in `writer.py` drops every comment before it writes.";
    let text = done_text(&[
        TASK_PROMPT,
        DONE_STATEMENT,
        "user: does the writer keep them too?",
        wrong,
        "user: and with arrays?",
        right,
        "user: fix the writer",
    ]);
    assert!(text.contains("path of its own") && !text.contains("through nothing else"), "{text}");
    let text = done_text(&[
        TASK_PROMPT,
        wrong,
        "user: that's not true, look at the writer",
        right,
        "user: fix the writer",
    ]);
    assert!(!text.contains("through nothing else"), "{text}");
}

#[test]
fn closing_words_stand_for_what_was_found_before_them() {
    let lines = [
        TASK_PROMPT,
        "agent: The reader lives in `reader.py`; comments are dropped by `skip()`, called from three places.",
        "said: The test is failing because `skip()` eats the comment of a nested array.",
        "ran: make test",
        DONE_STATEMENT,
    ];
    // The agent has finished, so only its last message is included.
    let text = done_text(&lines);
    assert!(
        text.contains("had ended its turn") && !text.contains("is failing") && !text.contains("sub-agent"),
        "{text}"
    );
    // The agent is still working, so there is no closing message yet.
    let text = done_text(&lines[..4]);
    assert!(
        text.contains("is failing") && text.contains("sub-agent “explore” → “The reader lives"),
        "{text}"
    );
}

#[test]
fn words_that_announce_are_not_the_last_word() {
    let text = done_text(&[TASK_PROMPT, "ran: make test", "said: Need to add the import of `paths`."]);
    assert!(
        text.contains("- Last said: “Need to add the import") && !text.contains("had ended its turn"),
        "{text}"
    );
}

#[test]
fn of_earlier_requests_only_those_without_an_answer_are_told() {
    let text = done_text(&[
        TASK_PROMPT,
        "said: Done.",
        "user: commit it",
        "said: Committed.",
        "user: is the page of the manual right?",
        "ran: cat manual.md",
        "user: also say there that comments in arrays are kept",
        "ran: cat manual.md",
        "user: and how long is the page?",
    ]);
    assert!(!text.contains("commit it"), "{text}");
    assert!(text.contains("also say there that comments"), "{text}");
}

#[test]
fn a_question_that_the_user_answered_is_cut() {
    let text = done_text(&[
        TASK_PROMPT,
        "edit: src/reader.py",
        "said: The cause is `skip()` in src/reader.py: it eats comments within arrays. The lexer hands all of them over, so nothing has to change there or in the writer. Two options: A. Change `skip()`. B. Change the lexer. Which do you prefer?",
        "user: is there a page about it in the manual already?",
        "ran: cat manual.md",
    ]);
    assert!(text.contains("it eats comments") && !text.contains("Two options"), "{text}");
}

#[test]
fn an_answer_is_told_with_its_question() {
    let text = done_text(&[
        TASK_PROMPT,
        "said: Two ways:\n1. one commit for all steps\n2. a default value for the new parameter\n\nWhich do you prefer?",
        "user: yeah it makes no sense to commit in a broken state, take the first",
    ]);
    assert!(
        text.contains("- The agent had asked “Which do you prefer?” after saying “Two ways: 1. one commit for all steps; 2. a default value for the new parameter.”\n- Newest message: “yeah it makes"),
        "{text}"
    );
}

/// An answer to the agent's question is a requirement until the work that depends on the answer is finished. The
/// answer is always quoted together with the question.
#[test]
fn an_answer_to_a_question_is_told_while_its_work_is_open() {
    let next_task = "user: Write the chapter about the lexer into docs/lexer.md, with two examples";
    let choice = "said: The reader can drop or keep a blank line. Should blank lines stay or go?";
    let check = "said: Comments stay with the value that follows them. Does this look complete now?";
    let permission = "said: The design is there. Want me to write the tests, or is this good for now?";
    for (lines, answer, is_told) in [
        (
            &[choice, "user: blank lines stay, except at the end", "edit: src/reader.py"][..],
            "blank lines stay",
            true,
        ),
        // The work that depended on the answer is committed.
        (
            &[
                choice,
                "user: blank lines stay, except at the end",
                "edit: src/reader.py",
                "commit: Keep blank lines",
            ],
            "blank lines stay",
            false,
        ),
        // Nothing in code depends on the answer.
        (
            &[choice, "user: blank lines stay, except at the end", "edit: docs/design.md"],
            "blank lines stay",
            false,
        ),
        (
            &[check, "user: yes, write up the design of the comments", "edit: src/reader.py"],
            "design of",
            false,
        ),
        (&[permission, "user: Lets do the tests of the design too", "edit: src/reader.py"], "Lets do", false),
        (
            &[choice, "user: that is wrong, blank lines are gone already", "edit: src/reader.py"],
            "is wrong",
            false,
        ),
        (
            &[choice, "user: they stay, and the writer keeps them yes?", "edit: src/reader.py"],
            "they stay",
            false,
        ),
    ] {
        let closing = "said: Done: the reader has it now.";
        let session: Vec<&str> =
            [TASK_PROMPT].iter().chain(lines).chain(&[closing, next_task, "ran: ls docs"]).copied().collect();
        let text = done_text(&session);
        let words = text.split("The user's words:\n").nth(1).unwrap_or_default();
        let words = words.split(":\n").next().unwrap_or_default();
        assert_eq!(words.contains(answer), is_told, "{lines:?}: {text}");
        assert_eq!(words.contains("”, in answer to “"), is_told, "{lines:?}: {text}");
    }
}

#[test]
fn what_was_changed_is_told_with_the_file() {
    let edits = [
        TASK_PROMPT,
        "said: Now make `skip()` return the comment:",
        "edit: src/reader.py",
        "edit: src/lexer.py",
        "said: Update the writer.py file:",
        "edit: src/writer.py",
        "said: Now I'll add a test for comments within arrays.",
        "edit: src/reader_test.py",
    ];
    let text = done_text(&edits);
    // The last message is quoted once, in "Where it stands".
    assert_eq!(text.matches("add a test for comments within arrays").count(), 1, "{text}");
    let text = done_text(&[&edits[..], &["said: Let me run all of them.", "ran: make"]].concat());
    let expected = "- edited src/reader_test.py: “add a test for comments within arrays”\n- edited src/{lexer.py,reader.py}: “make `skip()` return the comment”\n";
    assert!(text.contains(expected) && !text.contains("Update the writer.py"), "{text}");
    let text = done_text(&[&edits[..], &[DONE_STATEMENT, "user: is it fast?"]].concat());
    assert!(!text.contains("make `skip()` return the comment"), "{text}");
}

#[test]
fn of_two_accounts_of_the_same_work_the_newer_one_is_told() {
    let first = "said: The reader keeps comments now: `skip()` returns them, four tests in `reader_test.py` show it, arrays were kept.";
    let text = done_text(&[TASK_PROMPT, first, "user: and in objects?", DONE_STATEMENT, "user: is it fast?"]);
    assert!(text.contains("no longer eats them") && !text.contains("arrays were kept"), "{text}");
}

#[test]
fn only_the_newest_conclusions_are_told_at_length() {
    let long = |about: &str| {
        let more: Vec<String> = (1..9)
            .map(|n| format!("Step {n} of the {about} moves `{about}_{n}` to `lib/{about}_{n}.py`."))
            .collect();
        format!("said: The {about} is split now. {}", more.join(" "))
    };
    let (reader, writer, lexer) = (long("reader"), long("writer"), long("lexer"));
    let lines = [
        TASK_PROMPT,
        "edit: a.py",
        &reader,
        "user: split the writer as well",
        "edit: b.py",
        &writer,
        "user: and now the lexer please",
        "edit: c.py",
        &lexer,
        "user: document all of it",
    ];
    let text = done_text(&lines);
    assert!(
        text.contains("`lexer_8`") && text.contains("`writer_5`") && !text.contains("`reader_5`"),
        "{text}"
    );
    assert!(text.contains("The reader is split now") && text.contains("The writer is split now"), "{text}");
}

#[test]
fn talk_before_the_last_work_is_settled() {
    let talk = "said: Two ways to keep them: `skip()` returns a comment, or the lexer keeps a list of its own beside it. Which do you prefer?";
    let lines = [
        TASK_PROMPT,
        "user: think about how to keep them first",
        talk,
        "user: take the first way",
        "edit: a.py",
        DONE_STATEMENT,
        "user: is it fast?",
    ];
    let text = done_text(&lines);
    assert!(text.contains("no longer eats them") && !text.contains("Two ways to keep them"), "{text}");
    // No file was edited after the answer, so it is still valid.
    let text =
        done_text(&[TASK_PROMPT, "user: think about how to keep them first", talk, "user: which is faster?"]);
    assert!(text.contains("Two ways to keep them"), "{text}");
}

#[test]
fn an_answer_about_a_file_that_was_edited_since_is_not_told() {
    let told_after = |answer: &str, edited: &str| {
        done_text(&[
            TASK_PROMPT,
            "user: which lines of the reader handle comments?",
            answer,
            "user: move that into a function of its own, and call it from both places",
            "said: Now add `comments()`:",
            edited,
        ])
    };
    let lines = "said: Lines 69 to 88 of `reader.py` handle them, and the lexer calls that once for every token that it reads.";
    assert!(!told_after(lines, "edit: src/reader.py").contains("Lines 69 to 88"));
    assert!(told_after(lines, "edit: src/writer.py").contains("Lines 69 to 88"));
    // The answer mentions no file, so any later change may make it obsolete.
    let vague =
        "said: Yes, lines 69 to 88 handle them, and the lexer calls that once for every token that it reads.";
    assert!(!told_after(vague, "edit: src/writer.py").contains("lines 69 to 88"));
    let cause = "said: The bug is in `reader.py`: `skip()` eats comments because the lexer calls it twice for every token that it reads.";
    assert!(told_after(cause, "edit: src/reader.py").contains("eats comments because"));
}

#[test]
fn a_finding_says_which_of_its_files_were_edited_since() {
    let found = "said: The length is hard-coded in two places: `src/reader.py:12` and `src/writer.py:40`, because each has its own copy.";
    let lines = [
        TASK_PROMPT,
        "edit: src/reader.py",
        "edit: src/writer.py",
        found,
        "ran: make",
        "said: Let me begin.",
        "edit: src/reader.py",
    ];
    let text = done_text(&lines);
    assert!(text.contains("(edited since: reader.py; not yet: writer.py)"), "{text}");
    let text = done_text(&[&lines[..], &["edit: src/writer.py"]].concat());
    assert!(text.contains("(all of these files have been edited since)"), "{text}");
    let text = done_text(&lines[..6]);
    assert!(!text.contains("since)") && !text.contains("not yet"), "{text}");
    // After the last message, the brief also lists the files that have not been edited yet.
    let text = done_text(&[&lines[..4], &lines[6..]].concat());
    assert!(text.contains("then edited src/reader.py; not yet edited: writer.py"), "{text}");
}

#[test]
fn what_is_left_of_the_files_that_a_request_names() {
    let task = "user: Rename `skip` to `pass_over` in src/reader.py, src/writer.py and src/lexer.py";
    let lines = [
        "edit: src/reader.py",
        "edit: src/writer.py",
        "edit: src/lexer.py",
        task,
        "said: Let me begin with the reader.",
        "edit: src/reader.py",
    ];
    let text = done_text(&lines);
    assert!(text.contains("named in the request and not edited yet: writer.py, lexer.py"), "{text}");
    assert!(!done_text(&lines[..5]).contains("not edited yet"));
}

#[test]
fn only_the_newest_word_on_failing_tests_is_told() {
    let first =
        "said: The remaining test failures come from the `skip()` of the reader, not from the lexer itself.";
    let second =
        "said: The tests are failing because they expect the old format of `emit()`, without the suffix.";
    let text = done_text(&[
        TASK_PROMPT,
        first,
        "ran: cat src/reader.py",
        second,
        "ran: cat src/writer.py",
        "said: Let me look at the lexer.",
        "ran: cat src/lexer.py",
    ]);
    assert!(text.contains("the old format") && !text.contains("remaining test failures"), "{text}");
}

#[test]
fn bare_commands_and_talk_are_not_earlier_requests() {
    let text = done_text(&[
        "user: /superpowers:brainstorm",
        "said: What about?",
        "user: wait, let's discuss first",
        "said: All right.",
        "user: yes, write up the design of the reader",
        "said: It is in docs/reader.md.",
        "user: is the page of the manual right?",
        "ran: cat manual.md",
    ]);
    let asked = text.split_once("Also asked").map_or("", |(_, asked)| asked);
    assert!(!asked.contains("brainstorm") && !asked.contains("discuss"), "{text}");
    assert!(text.contains("write up the design"), "{text}");
}

#[test]
fn the_opening_request_is_not_told_after_many_others() {
    let opening = "user: Write a reader for nested tables in the config file";
    let mut lines =
        vec![opening, "said: Written.", "user: Rename the module config to settings", "said: Done."];
    let is_told = |lines: &[&str]| {
        let text = done_text(&[lines, &["user: and that?"]].concat());
        text.split_once("Also asked").is_some_and(|(_, asked)| asked.contains("nested tables"))
    };
    assert!(is_told(&lines));
    for request in [
        "user: Print the tables as columns",
        "user: Add a page to the manual",
        "user: Sort the tables by name",
    ] {
        lines.extend([request, "said: Done."]);
    }
    assert!(!is_told(&lines));
}

#[test]
fn what_was_called_open_before_later_edits_is_not_told() {
    let outcome = "said: `skip()` in src/reader.py keeps comments now. The main remaining issue is that the writer drops them again.";
    let lines = [
        TASK_PROMPT,
        "edit: src/reader.py",
        outcome,
        "user: then do the writer as well",
        "edit: src/writer.py",
    ];
    let text = done_text(&lines);
    assert!(text.contains("keeps comments now") && !text.contains("remaining issue"), "{text}");
    let text = done_text(&lines[..4]);
    assert!(text.contains("remaining issue"), "{text}");
}

#[test]
fn an_edited_file_is_listed_with_the_names_that_changed() {
    let mut digest = Digest::new("s");
    let prompt =
        JournalRecord { event: "prompt".into(), text: "Add a parser".into(), ..JournalRecord::default() };
    digest.fold_record(&prompt);
    for (n, (added, changed)) in
        [(vec!["Parse"], vec![]), (vec!["Print"], vec!["Parse", "main"])].iter().enumerate()
    {
        let owned = |names: &Vec<&str>| names.iter().map(|name| (*name).to_owned()).collect();
        let mut file = RecordedFile::new("src/parse.go".to_owned(), FileAction::Edit);
        (file.names.added, file.names.changed) = (owned(added), owned(changed));
        digest.fold_record(&JournalRecord {
            event: "tool-done".into(),
            id: n.to_string().into(),
            tool: "Edit".into(),
            ok: Some(true),
            files: vec![file],
            ..JournalRecord::default()
        });
    }
    let material = BriefMaterial {
        occasion: BriefOccasion::Compacted,
        digest: &digest,
        hook_problems: &[],
        missing_files: &[],
        feature_candidates: &[],
        scoring: None,
    };
    let text = compose_brief(&material, 9_500).unwrap().text;
    assert!(text.contains("- edited src/parse.go: added `Parse`, `Print`; changed `main`\n"), "{text}");
}

#[test]
fn a_fix_that_was_committed_is_not_told_as_one_to_come() {
    let found = "said: I see the issue: `skip()` eats the comments of nested arrays. The fix is to filter them out in `extractEntries()`.";
    let lines = [
        TASK_PROMPT,
        found,
        "edit: reader.py",
        "said: Let me commit it:",
        "commit: Keep comments",
        "user: now add a flag for tables",
    ];
    let text = done_text(&lines);
    assert!(text.contains("Keep comments") && !text.contains("The fix is"), "{text}");
    // Without a commit, the finding explains the uncommitted change.
    let uncommitted = lines.iter().copied().filter(|line| !line.starts_with("commit")).collect::<Vec<_>>();
    assert!(done_text(&uncommitted).contains("eats the comments"), "{}", done_text(&uncommitted));
    // The newest message is about the finding, so the finding is kept.
    let about = [&lines[..5], &["user: are the comments of tables kept as well?"]].concat();
    assert!(done_text(&about).contains("eats the comments"), "{}", done_text(&about));
}

#[test]
fn a_sub_agents_finding_is_told_unless_the_agent_summed_it_up() {
    let agent = "agent: The limit is set twice: `config.py` reads LIMIT from the environment, and `server.py` overwrites it with 512 before the first request.";
    let other = "said: I have restructured the documentation. The chapters about installation and deployment are now in separate files, the table of contents names every chapter, and all links between the chapters were checked by hand. The introduction was shortened.";
    let same = "said: The limit is set twice. First `config.py` reads LIMIT from the environment, then `server.py` overwrites it with 512 before the first request arrives. I therefore removed the second place, and the setting from the environment now applies to every request that the server answers.";
    let told = "sub-agent “explore” → “The limit is set twice";
    for (closing, expected) in [(other, true), (same, false)] {
        let text = done_text(&["user: Make the upload limit configurable", agent, closing]);
        assert_eq!(text.contains(told), expected, "{text}");
    }
}

#[test]
fn of_older_requests_only_those_that_opened_work_are_listed_as_answered() {
    let mut lines = vec![
        "user: Implement a parser for the config file that reports each error with its line",
        "said: Added.",
        "user: Rename the module config to settings in all files of the project",
        "said: Renamed.",
    ];
    lines.extend(["user: Write a reader for nested tables in the config file", "said: Written."]);
    lines.extend([
        "user: why is the lexer slow?",
        "said: It copies.",
        "user: commit this",
        "said: Committed.",
    ]);
    let asked =
        ["user: what about tabs?", "user: and spaces?", "user: is it fast now?", "user: does it compile?"];
    asked.iter().for_each(|line| lines.extend([*line, "said: Yes."]));
    lines.push("user: Print the tables as columns");
    let text = brief_text(BriefOccasion::Started, &lines);
    let answered = text.lines().skip_while(|line| !line.starts_with("Answered before")).nth(1).unwrap_or("");
    assert!(answered.contains("Rename the module"), "{text}");
    assert!(!answered.contains("commit this") && !answered.contains("lexer slow"), "{text}");
    assert!(!done_text(&lines).contains("Answered before"));
}

#[test]
fn an_answer_about_something_else_is_not_told_beside_the_work() {
    let answer = "said: The warning is printed because `findSessions()` compares the path of the worktree with that of the state file, and both are absolute.";
    let told = |newest: &'static str| {
        done_text(&[
            "user: Print a warning for a second session",
            "said: Printed.",
            "user: why is the warning printed?",
            answer,
            newest,
            "ran: git rebase main",
            "said: I am halfway through.",
        ])
        .contains("compares the path")
    };
    assert!(!told("user: Rebase onto main and resolve the conflicts"));
    assert!(told("user: Shorten the warnings that a second session gets"));
}

#[test]
fn deleted_files_are_told_until_they_are_committed() {
    let lines =
        [TASK_PROMPT, "edit: src/old.py", "delete: src/old.py", "said: Let me go on with the reader:"];
    let text = done_text(&lines);
    assert!(text.contains("- deleted src/old.py\n"), "{text}");
    let text = done_text(&[&lines[..3], &["commit: Remove the old reader"]].concat());
    assert!(!text.contains("- deleted"), "{text}");
}

#[test]
fn work_is_committed_if_all_its_edits_are_and_its_message_gives_no_reason() {
    let closing = "said: The reader keeps comments in nested arrays now.";
    let reason = "said: The reader kept none of them because `skip()` ate the mark instead of the line.";
    let next = "user: document the options of the command line";
    for (said, commit, next, expected) in [
        (closing, "commit: Keep comments", next, true),
        (closing, "ran: make check", next, false),
        (reason, "commit: Keep comments", next, false),
        // The turn explains the newest prompt.
        (closing, "commit: Keep comments", "user: yes", false),
    ] {
        let digest = fold_session(&[TASK_PROMPT, "edit: a.py", commit, said, next, "edit: doc.md"]);
        let turns = digest.requests_with_outcomes();
        let outcome = turns[0].outcome.unwrap();
        assert_eq!(is_committed_work(&digest, &turns[0], outcome, 0), expected, "{said} {commit} {next}");
    }
}

/// Each point of a finding may still be open, so none of them is hidden, even in the shortest form.
#[test]
fn a_finding_is_not_cut_after_its_first_points() {
    let digest = fold_session(&[
        TASK_PROMPT,
        "said: Three threads: 1. `skip()` in `reader.py` drops the last comment, and nobody noticed it until now. 2. The text above `load()` is stale, because it still names the old table. 3. The level of `log()` is not set, but that is not urgent at all for this work.",
        "edit: src/reader.py",
        "said: Now the first thread.",
        "edit: src/reader.py",
    ]);
    let material = BriefMaterial {
        occasion: BriefOccasion::Compacted,
        digest: &digest,
        hook_problems: &[],
        missing_files: &[],
        feature_candidates: &[],
        scoring: None,
    };
    let mut all = GatheredCandidates::default();
    gather_done_work(&material, &mut all);
    let forms = all.forms_of("said:2");
    assert!(forms[0].chars().count() < 260, "{forms:?}");
    assert!(
        ["1. `skip()`", "2. The text", "3. The level"].iter().all(|point| forms[0].contains(point)),
        "{forms:?}"
    );
}
