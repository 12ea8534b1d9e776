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
        for line in ProjectRules::parse_log(&log).lines_for_session(digest) {
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
