use super::*;
use crate::digest::Prompt;

fn session(id: &str, prompts: &[(&str, &str)]) -> Digest {
    let mut digest = Digest::new(id);
    digest.prompts = prompts
        .iter()
        .map(|(at, text)| Prompt { at: (*at).to_owned(), text: (*text).to_owned(), ..Prompt::default() })
        .collect();
    digest
}

/// The rules in force after these sessions wrote their lines, each with the session that stated it.
fn rules_after(sessions: &[Digest]) -> Vec<(String, String)> {
    let mut log = Vec::new();
    for digest in sessions {
        for line in ProjectRules::parse_log(&log).lines_for_session(digest, "") {
            log.extend([line.as_slice(), b"\n"].concat());
        }
    }
    let rules = ProjectRules::parse_log(&log);
    rules.in_force().map(|rule| (rule.session.clone(), rule.text.clone())).collect()
}

#[test]
fn a_rule_is_in_force_until_a_later_message_lifts_it() {
    let states = || session("a", &[("1", "Set x. Never push."), ("2", "Use tabs in a.py for this.")]);
    let lifts = || session("b", &[("3", "Thanks. You may push from now on.")]);
    let orders_once =
        || session("b", &[("3", "Thanks. Now push it."), ("4", "The push button is too small.")]);
    let says_for_now = || session("e", &[("1", "Set x. Don't push yet.")]);
    let states_again = || session("c", &[("4", "Never push.")]);
    let asked_before = || session("d", &[("0", "You may push from now on.")]);
    for (sessions, expected) in [
        (vec![states()], vec!["a"]),
        // The same session may write its lines several times.
        (vec![states(), states()], vec!["a"]),
        (vec![states(), lifts()], vec![]),
        (vec![states(), orders_once()], vec!["a"]),
        (vec![says_for_now()], vec![]),
        (vec![states(), lifts(), states()], vec![]),
        (vec![states(), lifts(), states_again()], vec!["c"]),
        (vec![states(), states_again()], vec!["a"]),
        // A message from before the rule does not lift it, even if its session writes its lines later.
        (vec![states(), asked_before()], vec!["a"]),
    ] {
        let found = rules_after(&sessions);
        let expected: Vec<(String, String)> =
            expected.into_iter().map(|id: &str| (id.to_owned(), "Never push.".to_owned())).collect();
        assert_eq!(found, expected, "{sessions:?}");
    }
}

#[test]
fn lines_that_cannot_be_read_are_skipped() {
    let log = b"{\"ts\":\"1\",\"session\":\"a\",\"text\":\"No new dependencies.\"}\n{\"ts\":\"2\",\nnull\n";
    assert_eq!(ProjectRules::parse_log(log).in_force().count(), 1);
}

/// A closed packet ends a rule of its work, but not what the user said after it.
#[test]
fn a_rule_stated_again_belongs_to_the_newest_statement() {
    const RULE: &str = "Please do not add any dependencies.";
    const PUSH: &str = "Never push.";
    let states = |id: &str, at: &str, rule: &str| session(id, &[(at, rule)]);
    for (sessions, expected) in [
        (vec![states("a", "1", RULE), states("b", "2", RULE)], vec![("b", RULE)]),
        (vec![states("a", "1", RULE), states("b", "2", RULE), states("a", "1", RULE)], vec![("b", RULE)]),
        (vec![session("a", &[("1", RULE), ("3", RULE)])], vec![("a", RULE)]),
        // A rule about git does not end with a packet.
        (vec![states("a", "1", PUSH), states("b", "2", PUSH)], vec![("a", PUSH)]),
        // Newest first, also if a rule was lifted in between, or its session writes its lines later.
        (vec![states("a", "1", PUSH), states("b", "2", RULE)], vec![("b", RULE), ("a", PUSH)]),
        (vec![states("b", "2", RULE), states("a", "1", PUSH)], vec![("b", RULE), ("a", PUSH)]),
        (
            vec![
                session("a", &[("1", PUSH), ("2", RULE), ("3", "You may push from now on.")]),
                states("b", "4", PUSH),
            ],
            vec![("b", PUSH), ("a", RULE)],
        ),
    ] {
        let expected: Vec<(String, String)> =
            expected.into_iter().map(|(id, text)| (id.to_owned(), text.to_owned())).collect();
        assert_eq!(rules_after(&sessions), expected, "{sessions:?}");
    }
    let again = ProjectRules::default().lines_for_session(&session("a", &[("1", RULE), ("3", RULE)]), "");
    assert!(String::from_utf8_lossy(&again[1]).contains(r#""ts":"3""#), "{again:?}");
}

#[test]
fn only_prompts_since_the_last_checkpoint_are_compared() {
    let said = session("a", &[("1", "Never push."), ("2", "No new dependencies.")]);
    for (since, expected) in [("", 2), ("1", 2), ("2", 1), ("3", 0)] {
        assert_eq!(ProjectRules::default().lines_for_session(&said, since).len(), expected, "{since}");
    }
}

#[test]
fn the_oldest_of_too_many_rules_are_dropped() {
    for (count, oldest) in [(MAX_RULES_IN_FORCE, 0), (MAX_RULES_IN_FORCE + 3, 3)] {
        let line = |n: usize| format!(r#"{{"ts":"{n:04}","session":"a","text":"Never use f{n}."}}"#);
        let log: Vec<String> = (0..count).map(line).collect();
        let rules = ProjectRules::parse_log(log.join("\n").as_bytes());
        assert_eq!(rules.in_force().count(), MAX_RULES_IN_FORCE, "{count}");
        assert_eq!(rules.in_force().last().unwrap().text, format!("Never use f{oldest}."), "{count}");
    }
}
