use super::*;
use crate::evidence::{Freshness, Proof, standing};

fn answer<'a>(part: Part, text: &'a str, at: &'a str) -> Answer<'a> {
    Answer {
        part,
        agent: part.name(),
        agent_id: "a1",
        session: "s",
        harness: "claude-code",
        at,
        text,
        unread: None,
    }
}

fn entry(part: Part, text: &str, at: &str) -> Entry {
    judged(&answer(part, text, at), "1.1").expect("it judges")
}

#[test]
fn a_verdict_is_a_claim_with_what_was_said() {
    let text = "VERDICT: REJECTED\nRISK: HIGH\nISSUES:\n- a.rs:3 leaks";
    let entry = entry(Part::Reviewer, text, "t");
    assert_eq!((entry.entry_type.as_str(), entry.verdict()), ("review", Verdict::Rejected));
    assert_eq!((entry.agent.as_str(), entry.risk.as_deref()), ("reviewer", Some("HIGH")));
    assert_eq!(entry.issues, ["a.rs:3 leaks"]);
    assert_eq!((entry.summary.as_str(), entry.is_seen()), ("REJECTED: a.rs:3 leaks", false));
    assert!(
        judged(&answer(Part::Coder, "VERDICT: APPROVED", "t"), "1.1").is_none(),
        "a coder does not judge"
    );
}

#[test]
fn one_that_cannot_be_read_is_a_note() {
    for part in [Part::Reviewer, Part::Critic, Part::TestEngineer] {
        let entry = entry(part, "VERDICT: APPROVED | REJECTED", "t");
        assert_eq!((entry.entry_type.as_str(), entry.verdict()), ("note", Verdict::Info));
        assert!(entry.summary.contains("unreadable"), "{}", entry.summary);
    }
}

#[test]
fn an_answer_that_was_not_read_says_why() {
    let answer = Answer { unread: Some(Problem::TooLong), ..answer(Part::Reviewer, "", "t") };
    let entry = judged(&answer, "1.1").expect("it judges");
    assert_eq!(entry.verdict(), Verdict::Info);
    assert!(entry.summary.contains("longer than 256 KB"), "{}", entry.summary);
}

#[test]
fn the_same_answer_is_one_entry_and_another_agent_is_another() {
    let id = |agent_id, at| {
        let answer = Answer { agent_id, ..answer(Part::Critic, "VERDICT: APPROVED", at) };
        judged(&answer, "1.1").expect("it judges").id
    };
    assert_eq!(id("a1", "t1"), id("a1", "t2"), "two hooks of one stop");
    assert_ne!(id("a1", "t1"), id("a2", "t1"));
    assert_ne!(id("", "t1"), id("", "t2"), "without an id the time tells them apart");
}

#[test]
fn a_bad_verdict_stays_until_a_good_one_of_its_kind() {
    let texts = |rows: &[(Part, &str)]| {
        let entries: Vec<Entry> = rows.iter().map(|(part, text)| entry(*part, text, "t")).collect();
        standing(&entries, |_| Freshness::Fresh).proof
    };
    let rejected = (Part::Reviewer, "VERDICT: REJECTED");
    let approved = (Part::Reviewer, "VERDICT: APPROVED");
    let (failed, passed) = ((Part::TestEngineer, "VERDICT: FAIL"), (Part::TestEngineer, "VERDICT: PASS"));
    let unclear = (Part::Reviewer, "VERDICT: LGTM");
    assert_eq!(texts(&[rejected]), Proof::Failed);
    assert_eq!(texts(&[rejected, approved]), Proof::None, "a claim proves nothing");
    assert_eq!(texts(&[rejected, unclear]), Proof::Failed, "an unreadable one takes nothing back");
    let plan_approved = (Part::Critic, "VERDICT: APPROVED");
    assert_eq!(texts(&[rejected, plan_approved]), Proof::Failed, "a critic judges the plan");
    assert_eq!(texts(&[approved, failed]), Proof::Failed);
    assert_eq!(texts(&[failed, approved]), Proof::Failed, "a review runs no tests");
    assert_eq!(texts(&[failed, passed]), Proof::None);
    assert_eq!(texts(&[(Part::Critic, "VERDICT: NEEDS_REVISION")]), Proof::None, "the plan is revised first");
    let run = Entry {
        kind: "run".into(),
        verdict: "pass".into(),
        entry_type: "test".into(),
        command: Some("cargo test".into()),
        ..Entry::default()
    };
    let entries = [entry(Part::TestEngineer, "VERDICT: FAIL", "t"), run];
    assert_eq!(
        standing(&entries, |_| Freshness::Fresh).proof,
        Proof::Passed,
        "what thru saw outweighs a claim"
    );
}
