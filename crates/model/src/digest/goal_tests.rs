use super::*;
use crate::event::FileAction;
use crate::journal::{self, JournalRecord, RecordedFile};

/// Builds a digest from lines of the form `who: text`. `ran: command` is a call, `edit: path` an edit and `no: text`
/// a refusal.
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
            "edit" => {
                record.event = "tool-done".into();
                record.ok = Some(true);
                record.files = vec![RecordedFile::new(text.into(), FileAction::Edit)];
            }
            "user" | "no" => (record.event, record.text) = ("prompt".into(), text.into()),
            "said" => (record.event, record.text) = (journal::AGENT_MESSAGE_EVENT.into(), text.into()),
            _ => (record.event, record.command, record.ok) = ("tool-done".into(), text.into(), Some(true)),
        }
        if who == "no" {
            record.command = "git commit".into();
        }
        digest.fold_record(&record);
    }
    digest
}

fn goal_texts(lines: &[&str]) -> (String, String, String, bool) {
    let digest = fold_session(lines);
    let Goal { newest_prompt: newest, accepted_proposal: accepted, task_prompt: task, is_answered } =
        digest.current_goal();
    let text = |prompt: Option<&Prompt>| prompt.map_or(String::new(), |prompt| prompt.text.clone());
    (text(newest), text(task), accepted.map_or(String::new(), |said| said.text.clone()), is_answered)
}

#[test]
fn the_current_goal_is_found() {
    let task = "user: Split the importer into one file for each of its steps";
    let second = "user: Now write the documentation of the importer, please";
    let bare = |line: &str| line.split_once(": ").unwrap().1.to_owned();
    let none = String::new;
    type GoalCase<'a> = (&'a [&'a str], (String, String, String, bool));
    let cases: [GoalCase; 10] = [
        (&[task], (bare(task), none(), none(), false)),
        (&[task, "said: It is split.", second], (bare(second), none(), none(), false)),
        // A question after a finished task refers to that task.
        (
            &[task, "ran: make", "said: It is split.", "user: why so many?"],
            ("why so many?".into(), bare(task), none(), true),
        ),
        // An approval refers to the proposal before it until the proposal has been carried out.
        (
            &[task, "said: I propose two files: a.py and b.py.", "user: yes"],
            ("yes".into(), bare(task), "I propose two files: a.py and b.py.".into(), false),
        ),
        (
            &[
                task,
                "said: I propose two files.",
                "user: yes",
                "ran: make",
                "said: Both are there.",
                "user: is it fast?",
            ],
            ("is it fast?".into(), bare(task), none(), true),
        ),
        // A remark or a refusal does not change the task.
        (
            &[task, "ran: make", "user: please do not rename any of the public functions"],
            ("please do not rename any of the public functions".into(), bare(task), none(), false),
        ),
        // A prompt sent while the agent is working does not end the turn, so the closing message answers the task.
        (
            &[
                task,
                "ran: make",
                "user: and keep the names of the public functions as they are",
                "ran: make test",
                "said: It is split, with the old names.",
                "user: why so many?",
            ],
            ("why so many?".into(), bare(task), none(), true),
        ),
        // A prompt sent while the agent carries out an accepted proposal does not end the turn. The closing
        // message therefore counts as the answer to the original request.
        (
            &[
                task,
                "said: I propose two files.",
                "user: yes",
                "ran: make",
                "user: smaller ones",
                "ran: make test",
                "said: Both are there.",
                "user: is it fast?",
            ],
            ("is it fast?".into(), bare(task), none(), true),
        ),
        // A short unanswered request is the task, rather than the long request before it.
        (
            &[
                task,
                "said: It is split.",
                "user: log a bug and go on",
                "ran: gh issue create",
                "no: in the other project, please",
            ],
            ("in the other project, please".into(), "log a bug and go on".into(), none(), false),
        ),
        (
            &[
                task,
                "said: `a.py` is split. I will commit it.",
                "no: not yet, I want to commit all of the steps at once",
            ],
            ("not yet, I want to commit all of the steps at once".into(), bare(task), none(), false),
        ),
    ];
    for (lines, expected) in cases {
        assert_eq!(goal_texts(lines), expected, "{lines:?}");
    }
}

/// An answer that begins with agreement accepts the proposal before it. The request before the proposal remains
/// the task.
#[test]
fn agreement_with_a_remark_keeps_the_task_and_the_proposal() {
    let task = "user: Split the importer into one file for each of its steps. Tell me your plan first.";
    let plan = "said: Plan: `a.py` reads and `b.py` writes. OK?";
    let yes = "user: Yes, do it that way, but keep the name `load` because the exporter needs it.";
    let done = "said: `a.py` is there. `b.py` is still to be written.";
    let bare = |line: &str| line.split_once(": ").unwrap().1.to_owned();
    let accepted = |newest: &str| (bare(newest), bare(task), bare(plan), false);
    for newest in [yes, "user: Yes, two files.", "user: ok, but use tabs", "user: sure, go with that"] {
        assert_eq!(goal_texts(&[task, plan, newest]), accepted(newest), "{newest}");
        assert_eq!(goal_texts(&[task, plan, newest, "edit: a.py"]), accepted(newest), "{newest}");
        assert_eq!(goal_texts(&[task, plan, newest, "edit: a.py", done]), accepted(newest), "{newest}");
    }
    // A later question is about the same task.
    let later = goal_texts(&[task, plan, yes, "edit: a.py", done, "user: is it fast?"]);
    assert_eq!(later, ("is it fast?".into(), bare(task), String::new(), true));
    // A second proposal that the user accepts belongs to the same task.
    let second = "said: `a.py` is there. Shall I write `b.py` now?";
    let again = goal_texts(&[task, plan, yes, "edit: a.py", second, "user: Yes, but without a class for it"]);
    assert_eq!(
        again,
        ("Yes, but without a class for it".into(), bare(task), "`a.py` is there. …".into(), false)
    );
    // A message after finished work is a request of its own, however it begins.
    let next = "user: Ok, write the documentation of the importer as well, in docs/import.md";
    let finished = goal_texts(&[task, "edit: a.py", "said: It is split.", next]);
    assert_eq!(finished, (bare(next), String::new(), String::new(), false));
}

#[test]
fn the_task_before_a_question_is_what_the_last_changes_were_for() {
    let task = "user: Split the importer into one file for each of its steps";
    let after = |lines: &[&str]| goal_texts(&[&[task, "edit: a.py", "said: It is split."], lines].concat()).1;
    let question = "user: is it used everywhere now?";
    // The task is a short request that led to edits.
    let fix = ["user: implement a fix for both then", "edit: a.py", "said: Both are fixed.", question];
    assert_eq!(after(&fix), "implement a fix for both then");
    // The task is the proposal that the user agreed to.
    let asked = "user: so could the reader of the old format go, now that nobody writes it?";
    let agreed =
        [asked, "said: Yes, it could.", "user: ok, do it", "edit: b.py", "said: It is gone.", question];
    assert_eq!(after(&agreed), asked.strip_prefix("user: ").unwrap());
    // A passing remark or a bare slash command is not the task.
    let remark =
        ["user: the strategy is a trailer on the commit of the checkpoint", "said: I see.", question];
    assert_eq!(after(&remark), task.strip_prefix("user: ").unwrap());
    let command = ["user: /review", "edit: a.py", "said: Reviewed.", question];
    assert_eq!(after(&command), task.strip_prefix("user: ").unwrap());
    // A harness command is not the task, whatever text follows it.
    let plan = ["user: /write-plan first, and check that the tests cover all of it"];
    assert_eq!(after(&plan), task.strip_prefix("user: ").unwrap());
}

#[test]
fn what_closed_a_turn_and_what_came_after_the_last_words() {
    let digest = fold_session(&[
        "user: Make the reader keep comments in arrays",
        "said: Let me look at it.",
        "ran: cat reader.py",
        "said: The reader drops comments because `skip()` eats them. Let me fix that.",
        "ran: make test",
        "said: Fixed: `skip()` keeps them now.",
        "user: and in objects?",
        "said: I will look at objects too.",
        "ran: make test-objects",
    ]);
    let closing: Vec<(&str, bool)> =
        digest.statements.iter().map(|said| (said.text.as_str(), said.ended_turn)).collect();
    assert_eq!(
        closing,
        [
            ("The reader drops comments because `skip()` eats them. …", false),
            ("Fixed: `skip()` keeps them now.", true),
        ]
    );
    assert!(digest.has_work_after_last_message());
    let after: Vec<&str> =
        digest.steps_since_last_message().iter().map(|step| step.path_or_command.as_str()).collect();
    assert_eq!(after, ["make test-objects"]);
    assert_eq!(
        digest.requests_with_outcomes()[0].outcome.map(|said| said.text.as_str()),
        Some("Fixed: `skip()` keeps them now.")
    );
}

#[test]
fn the_last_command_of_a_refused_list_is_named() {
    for (call, expected) in [
        ("", ""),
        ("cargo publish", "cargo publish"),
        ("git add a.rs && git commit -m \"read && write\"", "git commit -m \"read && write\""),
        ("cd shop && git add . && git push", "git push"),
    ] {
        let prompt = Prompt { refused_call: call.into(), ..Prompt::default() };
        assert_eq!(prompt.refused_command(), expected, "{call}");
    }
}

#[test]
fn after_an_earlier_compaction_the_first_known_request_is_not_called_the_beginning() {
    let mut digest = Digest::new("s");
    assert_eq!(digest.label_of_opening_request(), "The session began with");
    digest.last_compaction_before_work = 7;
    assert_eq!(digest.label_of_opening_request(), "Asked earlier in the session");
    digest.last_compaction_before_work = 0;
    digest.prompt_count = 3;
    assert_eq!(digest.label_of_opening_request(), "Asked earlier in the session");
}

/// A reply to one of thru's own slash commands belongs to that command, not to the request before it.
#[test]
fn a_reply_to_a_command_of_thru_answers_no_request() {
    let task = "user: Split the importer into one file for each of its steps";
    let outcome_of_task = |lines: &[&str]| {
        let digest = fold_session(lines);
        digest.requests_with_outcomes()[0].outcome.map(|said| said.text.clone())
    };
    let next = "user: Now write the documentation of the importer, please";
    for command in [
        "/handoff the rest",
        "/thru-context",
        "/thru:packet list",
        "/decide use SQLite",
        "/pickup",
        "/recover",
        "/thru-loop list",
    ] {
        let command = format!("user: {command}");
        let reply = "said: The packet names the importer and two open tasks.";
        let answered = [task, "ran: make", "said: It is split.", &command, reply, next];
        assert_eq!(outcome_of_task(&answered).as_deref(), Some("It is split."), "{command}");
        assert_eq!(outcome_of_task(&answered[..5]).as_deref(), Some("It is split."), "{command}");
        let open = [task, "ran: make", &command, reply, next];
        assert_eq!(outcome_of_task(&open), None, "{command}");
    }
}

/// What the agent says about thru's records is not its last message about the work.
#[test]
fn a_reply_about_the_records_is_not_the_last_message() {
    let about_work = ["user: Split the importer", "ran: make", "said: It is split."];
    let last_message = |lines: &[&str]| fold_session(&[&about_work[..], lines].concat()).last_message;
    let reply = "said: Throughline has recorded two sessions.";
    assert_eq!(last_message(&["user: /thru-context", reply]), "It is split.");
    assert_eq!(last_message(&["user: /packet list", "ran: thru packet list", reply]), "It is split.");
    assert_eq!(last_message(&["user: /decide use SQLite", "ran: thru decide -", reply]), "It is split.");
    let work = ["user: /thru-context", reply, "edit: src/a.py", "said: The importer reads CSV too."];
    assert_eq!(last_message(&work), "The importer reads CSV too.");
    assert_eq!(
        last_message(&["user: /pickup", "ran: thru pickup --claim", "said: It is half done."]),
        "It is half done."
    );
}
