use super::*;
use crate::evidence::{Freshness, ProofState, judge_evidence};

fn agent_answer<'a>(swarm_role: SwarmRole, text: &'a str, at: &'a str) -> AgentAnswer<'a> {
    AgentAnswer {
        swarm_role,
        agent: swarm_role.name(),
        agent_id: "a1",
        session: "s",
        harness: "claude-code",
        at,
        text,
        unread_reason: None,
    }
}

fn entry_of_text(part: SwarmRole, text: &str, at: &str) -> EvidenceEntry {
    entry_of_answer(&agent_answer(part, text, at), "1.1").expect("it judges")
}

#[test]
fn a_verdict_is_a_claim_with_what_was_said() {
    let text = "VERDICT: REJECTED\nRISK: HIGH\nISSUES:\n- a.rs:3 leaks";
    let entry = entry_of_text(SwarmRole::Reviewer, text, "t");
    assert_eq!((entry.entry_type.as_str(), entry.verdict()), ("review", EvidenceVerdict::Rejected));
    assert_eq!((entry.agent.as_str(), entry.risk.as_deref()), ("reviewer", Some("HIGH")));
    assert_eq!(entry.issues, ["a.rs:3 leaks"]);
    assert_eq!((entry.summary.as_str(), entry.is_seen_by_thru()), ("REJECTED: a.rs:3 leaks", false));
    assert!(
        entry_of_answer(&agent_answer(SwarmRole::Coder, "VERDICT: APPROVED", "t"), "1.1").is_none(),
        "a coder does not judge"
    );
}

#[test]
fn one_that_cannot_be_read_is_a_note() {
    for part in [SwarmRole::Reviewer, SwarmRole::Critic, SwarmRole::TestEngineer] {
        let entry = entry_of_text(part, "VERDICT: APPROVED | REJECTED", "t");
        assert_eq!((entry.entry_type.as_str(), entry.verdict()), ("note", EvidenceVerdict::Info));
        assert!(entry.summary.contains("has no readable verdict"), "{}", entry.summary);
    }
}

#[test]
fn an_answer_that_was_not_read_says_why() {
    let answer = AgentAnswer {
        unread_reason: Some(VerdictProblem::TooLong),
        ..agent_answer(SwarmRole::Reviewer, "", "t")
    };
    let entry = entry_of_answer(&answer, "1.1").expect("it judges");
    assert_eq!(entry.verdict(), EvidenceVerdict::Info);
    assert!(entry.summary.contains("longer than 256 KB"), "{}", entry.summary);
}

#[test]
fn the_same_answer_is_one_entry_and_another_agent_is_another() {
    let id = |agent_id, at| {
        let answer = AgentAnswer { agent_id, ..agent_answer(SwarmRole::Critic, "VERDICT: APPROVED", at) };
        entry_of_answer(&answer, "1.1").expect("it judges").id
    };
    assert_eq!(id("a1", "t1"), id("a1", "t2"), "two hooks of one stop");
    assert_ne!(id("a1", "t1"), id("a2", "t1"));
    assert_ne!(id("", "t1"), id("", "t2"), "without an id the time tells them apart");
}

#[test]
fn a_bad_verdict_stays_until_a_good_one_of_its_kind() {
    let texts = |rows: &[(SwarmRole, &str)]| {
        let entries: Vec<EvidenceEntry> =
            rows.iter().map(|(part, text)| entry_of_text(*part, text, "t")).collect();
        judge_evidence(&entries, |_| Freshness::Fresh).proof
    };
    let rejected = (SwarmRole::Reviewer, "VERDICT: REJECTED");
    let approved = (SwarmRole::Reviewer, "VERDICT: APPROVED");
    let (failed, passed) =
        ((SwarmRole::TestEngineer, "VERDICT: FAIL"), (SwarmRole::TestEngineer, "VERDICT: PASS"));
    let unclear = (SwarmRole::Reviewer, "VERDICT: LGTM");
    assert_eq!(texts(&[rejected]), ProofState::Failed);
    assert_eq!(texts(&[rejected, approved]), ProofState::None, "a claim proves nothing");
    assert_eq!(texts(&[rejected, unclear]), ProofState::Failed, "an unreadable one takes nothing back");
    let plan_approved = (SwarmRole::Critic, "VERDICT: APPROVED");
    assert_eq!(texts(&[rejected, plan_approved]), ProofState::Failed, "a critic judges the plan");
    assert_eq!(texts(&[approved, failed]), ProofState::Failed);
    assert_eq!(texts(&[failed, approved]), ProofState::Failed, "a review runs no tests");
    assert_eq!(texts(&[failed, passed]), ProofState::None);
    assert_eq!(
        texts(&[(SwarmRole::Critic, "VERDICT: NEEDS_REVISION")]),
        ProofState::None,
        "the plan is revised first"
    );
    let run = EvidenceEntry {
        kind: "run".into(),
        verdict: "pass".into(),
        entry_type: "test".into(),
        command: Some("cargo test".into()),
        ..EvidenceEntry::default()
    };
    let entries = [entry_of_text(SwarmRole::TestEngineer, "VERDICT: FAIL", "t"), run];
    assert_eq!(
        judge_evidence(&entries, |_| Freshness::Fresh).proof,
        ProofState::Passed,
        "what thru saw outweighs a claim"
    );
}
