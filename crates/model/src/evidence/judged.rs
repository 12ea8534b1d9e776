//! Turns the answer of a reviewer, critic or test engineer into evidence for the task.

use super::{EntryType, EvidenceEntry, EvidenceOrigin, EvidenceVerdict};
use crate::render::one_line;
use crate::swarm::SwarmRole;
use crate::text::fnv_fingerprint;
use crate::verdict::{ReadVerdict, VerdictProblem, read_answer_fields, read_verdict};

/// The answer of an agent, already redacted.
#[derive(Clone, Copy, Debug)]
pub struct AgentAnswer<'a> {
    pub swarm_role: SwarmRole,
    /// The agent's type, as the harness names it.
    pub agent: &'a str,
    /// The harness's id for this agent. It is empty if the harness gives none.
    pub agent_id: &'a str,
    pub session: &'a str,
    pub harness: &'a str,
    pub at: &'a str,
    pub text: &'a str,
    /// Why the answer was not read. If this is set, `text` is empty.
    pub unread_reason: Option<VerdictProblem>,
}

const MAX_ANSWER_FIELD_CHARS: usize = 300;

/// Returns the entry for a task, or `None` if this kind of agent gives no verdict. An unreadable answer becomes a note,
/// which neither proves nor rejects anything.
pub fn entry_of_answer(answer: &AgentAnswer, task: &str) -> Option<EvidenceEntry> {
    let AgentAnswer { swarm_role, agent, agent_id, session, harness, at, text, unread_reason } = *answer;
    let entry_type = swarm_role.evidence_type_judged()?;
    let reading = unread_reason.map_or_else(|| read_verdict(text), ReadVerdict::Unreadable);
    let fields = read_answer_fields(text);
    let cut =
        |texts: &[String]| texts.iter().map(|text| one_line(text, MAX_ANSWER_FIELD_CHARS).into()).collect();
    // Two processes may report the same stop, so the id must be the same in both. Without an agent id, the time
    // distinguishes stops.
    let mark = fnv_fingerprint([session, if agent_id.is_empty() { at } else { agent_id }, agent, text]);
    let mut entry = EvidenceEntry {
        id: format!("v-{mark:016x}"),
        task_id: task.to_owned(),
        kind: EvidenceOrigin::Claimed.name().to_owned(),
        timestamp: at.to_owned(),
        agent: one_line(agent, 64),
        risk: fields.risk.as_deref().map(|risk| one_line(risk, 64)),
        issues: cut(&fields.issues),
        ..EvidenceEntry::default()
    };
    match reading {
        ReadVerdict::Clear(ruling) => {
            entry_type.name().clone_into(&mut entry.entry_type);
            swarm_role.to_evidence_verdict(ruling).name().clone_into(&mut entry.verdict);
            let about = fields.summary.as_ref().or(fields.issues.first()).or(fields.failures.first());
            let about =
                about.map_or(String::new(), |text| format!(": {}", one_line(text, MAX_ANSWER_FIELD_CHARS)));
            entry.summary = format!("{}{about}", ruling.name());
            entry.metadata.insert("ruling".to_owned(), ruling.name().into());
        }
        ReadVerdict::Unreadable(problem) => {
            EntryType::Note.name().clone_into(&mut entry.entry_type);
            EvidenceVerdict::Info.name().clone_into(&mut entry.verdict);
            entry.summary = format!("the answer has no readable verdict: {problem}");
            let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            entry.metadata.insert("unreadable".to_owned(), problem.to_string().into());
            entry.metadata.insert("begins".to_owned(), one_line(first, MAX_ANSWER_FIELD_CHARS).into());
        }
    }
    if entry_type == EntryType::Test {
        (entry.tests_passed, entry.tests_failed) = (fields.tests_passed, fields.tests_failed);
        entry.failures = cut(&fields.failures);
    }
    for (key, value) in [("session", session), ("harness", harness), ("part", swarm_role.name())] {
        entry.metadata.insert(key.to_owned(), value.into());
    }
    if let Some(confidence) = fields.confidence {
        entry.metadata.insert("confidence".to_owned(), one_line(&confidence, 64).into());
    }
    Some(entry)
}

#[cfg(test)]
#[path = "judged_tests.rs"]
mod tests;
