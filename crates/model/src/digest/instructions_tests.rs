use super::*;

fn session(id: &str, prompts: &[(&str, &str)]) -> Digest {
    let mut digest = Digest::new(id);
    let numbered = prompts.iter().zip(1..);
    digest.prompts = numbered
        .map(|((at, text), record)| Prompt {
            at: (*at).to_owned(),
            text: (*text).to_owned(),
            record,
            ..Prompt::default()
        })
        .collect();
    digest
}

fn launched(mut digest: Digest) -> Digest {
    digest.is_launched_by_gate_run = true;
    digest
}

/// The rules of the log that are told with a session, after the instructions of the session itself.
fn rules_told_with(mut described: Digest, ended: &[Digest], rule: &str) -> usize {
    let line = format!(r#"{{"ts":"1","session":"a","text":"{rule}"}}"#);
    described.add_project_rules(&ProjectRules::parse_log(line.as_bytes()), ended);
    described.instructions_of_earlier_sessions.len()
}

#[test]
fn a_rule_of_the_log_is_told_until_the_user_takes_it_back() {
    const PUSH: &str = "Never push.";
    const FILE: &str = "Never touch src/level.rs.";
    const TAKES_BACK: &str = "You may push from now on.";
    let b = |text: &str| session("b", &[("2", text)]);
    let c = |text: &str| session("c", &[("3", text)]);
    for (rule, described, ended, expected) in [
        (PUSH, c("Set x."), vec![], 1),
        (PUSH, c("Set x."), vec![b(TAKES_BACK)], 0),
        (PUSH, c(TAKES_BACK), vec![], 0),
        (PUSH, c("push this"), vec![b("Explain commit 1a2b3c4")], 1),
        // The user's own session orders one push, and the rule holds again.
        (PUSH, session("a", &[("1", PUSH), ("2", "push this")]), vec![], 1),
        // The session's own instruction is told as such.
        (PUSH, session("a", &[("1", PUSH)]), vec![], 0),
        (PUSH, session("a", &[("1", PUSH), ("2", TAKES_BACK)]), vec![], 0),
        // Prompts of `thru gate run` neither lift a rule nor hide it.
        (PUSH, c("Set x."), vec![launched(b(TAKES_BACK))], 1),
        (PUSH, launched(c(TAKES_BACK)), vec![], 1),
        (PUSH, launched(c(PUSH)), vec![], 1),
        // An order to change a protected file counts for the session in which it was given.
        (FILE, c("Change src/level.rs so that it accepts TRACE."), vec![], 0),
        (FILE, c("Set x."), vec![b("Change src/level.rs so that it accepts TRACE.")], 1),
    ] {
        assert_eq!(
            rules_told_with(described.clone(), &ended, rule),
            expected,
            "{rule} {described:?} {ended:?}"
        );
    }
}

#[test]
fn a_launched_session_leaves_no_instructions() {
    let mut earlier = session("a", &[("1", "Set x. Always use tabs in x.")]);
    earlier.files = vec![crate::digest::FileUse { path: "x".into(), edits: 1, ..Default::default() }];
    let mut described = session("b", &[("2", "Set x to 2.")]);
    described.files = earlier.files.clone();
    for (ended, expected) in [(earlier.clone(), 1), (launched(earlier), 0)] {
        assert_eq!(described.instructions_left_by(&[ended]).len(), expected);
    }
}
