use super::*;
use crate::time;
use jiff::Timestamp;

fn test_time() -> Timestamp {
    time::parse_time("2026-11-17T12:00:00Z").unwrap()
}

fn decision_line(id: &str, text: &str) -> Decision {
    Decision { v: 1, id: id.into(), text: text.into(), ..Decision::default() }
}

fn answer_decision(question: &str, answer: &str) -> Decision {
    decision_from_answer(&RecordedAnswer { question: question.into(), answer: answer.into() }).unwrap()
}

/// Compares the state of each decision with `expected`, which has the form `id state`.
fn check_states(lines: Vec<Decision>, expected: &[&str]) {
    let folded: Vec<String> = fold_decisions(lines, test_time())
        .iter()
        .map(|one| format!("{} {}", one.decision.id, one.state.name()))
        .collect();
    assert_eq!(folded, expected);
}

#[test]
fn a_line_takes_the_place_of_what_it_names() {
    let supersedes = |id: &str, old: &str| Decision { supersedes: old.into(), ..decision_line(id, "new") };
    check_states(vec![decision_line("a", "x"), decision_line("b", "y")], &["a current", "b current"]);
    check_states(vec![decision_line("a", "x"), supersedes("b", "a")], &["a superseded", "b current"]);
    check_states(
        vec![decision_line("a", "x"), supersedes("b", "a"), supersedes("c", "b")],
        &["a superseded", "b superseded", "c current"],
    );
    // A merge of two branches can put the lines in this order.
    check_states(vec![supersedes("b", "a"), decision_line("a", "x")], &["b current", "a superseded"]);
    // A decision cannot supersede itself. A decision that supersedes an unknown id is still in force.
    check_states(vec![supersedes("a", "a"), supersedes("b", "gone")], &["a current", "b current"]);
}

#[test]
fn one_that_is_taken_back_is_not_in_force() {
    let withdrawal =
        Decision { supersedes: "a".into(), why: "no longer needed".into(), ..decision_line("w", "") };
    let folded = fold_decisions(vec![decision_line("a", "x"), withdrawal], test_time());
    assert_eq!(folded.len(), 1);
    assert_eq!(
        (folded[0].state, folded[0].withdrawn_because.as_str()),
        (DecisionState::Withdrawn, "no longer needed")
    );
}

/// A decision that is withdrawn and then made again is in force. This also applies if the first line of `a` is
/// missing, because a hook reads only the end of the log.
#[test]
fn one_that_is_made_again_after_it_was_taken_back_is_in_force() {
    let at = |ts: &str, line: Decision| Decision { ts: ts.into(), ..line };
    let withdrawal = |ts: &str| at(ts, Decision { supersedes: "a".into(), ..decision_line("w", "") });
    let made = |ts: &str| at(ts, decision_line("a", "x"));
    let (first, then, last) = ("2026-11-15T19:00:00Z", "2026-11-15T19:00:01Z", "2026-11-15T19:00:02Z");
    check_states(vec![made(first), withdrawal(then), made(last)], &["a current"]);
    check_states(vec![withdrawal(then), made(last)], &["a current"]);
    check_states(vec![withdrawal(then), made(first)], &["a withdrawn"]);
}

#[test]
fn one_whose_time_is_over_has_expired() {
    let until = |at: &str| Decision { expires_at: at.into(), ..decision_line("a", "x") };
    check_states(vec![until("2026-11-17T11:59:59Z")], &["a expired"]);
    check_states(vec![until("2026-11-17T12:00:00Z")], &["a expired"]);
    check_states(vec![until("2026-11-17T12:00:01Z")], &["a current"]);
    check_states(vec![until("whenever")], &["a current"]);
}

#[test]
fn the_newest_answer_to_a_question_holds() {
    let (a, b) = (answer_decision("Which?", "red"), answer_decision("Which?", "blue"));
    let ids = |one: &Decision, state: &str| format!("{} {state}", one.id);
    check_states(vec![a.clone(), b.clone()], &[&ids(&a, "superseded"), &ids(&b, "current")]);
    // Two hooks report the same answer.
    check_states(vec![a.clone(), a.clone()], &[&ids(&a, "current")]);
    // The user changes the answer and then changes it back.
    check_states(vec![a.clone(), b.clone(), a.clone()], &[&ids(&b, "superseded"), &ids(&a, "current")]);
    let other = answer_decision("Which one?", "red");
    check_states(vec![a.clone(), other.clone()], &[&ids(&a, "current"), &ids(&other, "current")]);
}

#[test]
fn lines_that_say_nothing_are_no_decisions() {
    check_states(
        vec![decision_line("", "x"), decision_line("a", ""), Decision { v: 9, ..decision_line("b", "x") }],
        &[],
    );
    for torn in ["", "{", "[]", r#"{"id":"a"}"#, r#"{"id":"a","text":7}"#] {
        assert_eq!(Decision::parse_line(torn.as_bytes()), None, "{torn}");
    }
    let read =
        Decision::parse_line(br#"{"id":"a","text":"x","why":null,"kind":"odd","source":"else","more":1}"#);
    assert_eq!(read, Some(Decision { v: 0, ..decision_line("a", "x") }));
}

#[test]
fn what_is_written_is_read_back() {
    let whole = Decision {
        v: 1,
        id: "d-1".into(),
        ts: "2026-11-17T12:00:00Z".into(),
        kind: DecisionKind::Pattern,
        text: "a \"b\"\n\u{2028}".into(),
        why: "w".into(),
        author: "user".into(),
        phase: Some(2),
        task: "2.1".into(),
        supersedes: "d-0".into(),
        expires_at: "2027-01-01T00:00:00Z".into(),
        source: DecisionSource::Answer,
        session: "s".into(),
        question: "q".into(),
        topic: "t".into(),
    };
    let line = whole.to_json_line();
    assert!(!line.contains(&b'\n'));
    assert_eq!(Decision::parse_line(&line), Some(whole));
}

#[test]
fn an_answer_is_a_decision_unless_it_asks_back() {
    let decided = answer_decision("Which database?", " SQLite ");
    assert_eq!(decided.text, "Which database? → SQLite");
    assert_eq!((decided.author.as_str(), decided.source), ("user", DecisionSource::Answer));
    assert_eq!(decided.describe_for_model(80), "asked “Which database?”, the user chose “SQLite”");
    assert_eq!(
        Decision { why: "small".into(), ..decision_line("a", "x") }.describe_for_model(80),
        "x, because small"
    );
    let field = RecordedAnswer { question: "Which database?".into(), answer: "SQLite".into() };
    assert_eq!(decision_id_of_answer(&field), decided.id);
    for back in ["", "  ", "What is the difference?", "why not both?"] {
        let field = RecordedAnswer { question: "Which?".into(), answer: back.into() };
        assert_eq!(decision_from_answer(&field), None, "{back}");
    }
}

#[test]
fn ids_are_short_and_stable() {
    assert_eq!(id_from_content(DecisionSource::Import, "x"), id_from_content(DecisionSource::Import, " x "));
    assert_ne!(id_from_content(DecisionSource::Import, "x"), id_from_content(DecisionSource::Statement, "x"));
    assert_eq!(id_of_typed_decision("t", "user", "x", "").len(), 14);
    assert!(crate::id::Id::new(&id_of_typed_decision("t", "user", "x", "")).is_ok());
}

#[test]
fn statements_of_a_decision_are_told_from_talk() {
    let of = |text: &str| -> Vec<String> {
        find_stated_decisions(text)
            .into_iter()
            .map(|one| if one.why.is_empty() { one.text } else { format!("{} | {}", one.text, one.why) })
            .collect()
    };
    for (said, expected) in [
        (
            "I read it. I decided to keep the old parser, because the new one drops comments. Next come tests.",
            vec!["I decided to keep the old parser | the new one drops comments."],
        ),
        ("- **Decision:** we use SQLite for the index", vec!["Decision: we use SQLite for the index"]),
        ("We settled on TOML for the settings.", vec!["We settled on TOML for the settings."]),
        ("I went with two passes over the file.", vec!["I went with two passes over the file."]),
        (
            "I used a lock file instead of a database row.",
            vec!["I used a lock file instead of a database row."],
        ),
        (
            "**Key design decisions:**\n\n- **Lanes** are kept for each session\n- One file for each checkpoint?\n\nThe rest follows.\n- not this item of another list",
            vec!["Lanes are kept for each session"],
        ),
        ("Open decisions:\n- whether lanes are kept at all", vec![]),
        // None of these texts states a decision of the agent.
        ("The reader returns a slice instead of a copy.", vec![]),
        ("It is not decided yet which parser we take.", vec![]),
        ("You need to decide on the parser.", vec![]),
        ("Have we decided to keep the old parser?", vec![]),
        ("```\nI decided to keep the old parser\n```", vec![]),
        ("> I decided to keep the old parser", vec![]),
        ("I decided to.", vec![]),
        ("All tests pass.", vec![]),
    ] {
        assert_eq!(of(said), expected, "{said}");
    }
}

#[test]
fn the_view_says_what_holds_and_what_does_not() {
    let mut old = decision_line("d-1", "Use XML");
    old.ts = "2026-11-16T09:00:00Z".into();
    let new = Decision {
        ts: "2026-11-17T09:00:00Z".into(),
        why: "people edit it".into(),
        author: "user".into(),
        task: "1.2".into(),
        supersedes: "d-1".into(),
        ..decision_line("d-2", "Use TOML\n# Not a heading")
    };
    let pattern = Decision {
        kind: DecisionKind::Pattern,
        author: "s1".into(),
        ..decision_line("d-3", "Errors name the file")
    };
    let decisions = fold_decisions(vec![old, new, pattern], test_time());
    let activity = [SessionActivity {
        session: "s1".into(),
        calls: 3,
        about: "a | b".into(),
        ..SessionActivity::default()
    }];
    let view = render_context_view(&ContextViewContents {
        title: "demo",
        decisions: &decisions,
        is_complete: true,
        activity: &activity,
        at: "now",
    });
    let expected = "\
# Context: demo

As of now.

## Decisions

- Use TOML # Not a heading, because people edit it (d-2, 2026-11-17, user, task 1.2)

## Patterns

- Errors name the file (d-3, , s1)

## No longer in force

- Use XML (d-1, superseded by d-2)

## Activity

| Session | Harness | Last active | Calls | Edited | Failing | About |
|---|---|---|---|---|---|---|
| s1 |  |  | 3 | 0 | 0 | a \\| b |
";
    assert_eq!(view.split_once('\n').unwrap().1, expected);
    assert!(is_context_view_unedited(&view));
    assert!(!is_context_view_unedited(&view.replace("TOML", "YAML")));
    assert!(!is_context_view_unedited("# Context\n"));
}
