//! Determines which decisions are in force.

use std::collections::HashMap;

use jiff::Timestamp;
use serde::Serialize;

use super::Decision;
use crate::time;

/// A decision and whether it is still in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DecisionStanding {
    #[serde(flatten)]
    pub decision: Decision,
    pub state: DecisionState,
    /// The id of the line that superseded or withdrew the decision.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub superseded_by: String,
    /// Why the decision was withdrawn.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub withdrawn_because: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DecisionState {
    Current,
    Superseded,
    /// The decision was withdrawn without being replaced.
    Withdrawn,
    Expired,
}

impl DecisionState {
    pub fn name(self) -> &'static str {
        match self {
            DecisionState::Current => "current",
            DecisionState::Superseded => "superseded",
            DecisionState::Withdrawn => "withdrawn",
            DecisionState::Expired => "expired",
        }
    }
}

/// Returns every decision once, in the order in which the decisions were made. A line supersedes the decision that its
/// field `supersedes` names, and an answer supersedes earlier answers to the same question. A line with a known id
/// repeats a decision and has an effect only if the decision was no longer in force. Normally a line comes after the
/// line it supersedes, so the end of a log is enough to judge the decisions in that part. If a merge reversed two
/// lines, their times decide.
pub fn fold_decisions(lines: impl IntoIterator<Item = Decision>, now: Timestamp) -> Vec<DecisionStanding> {
    let mut fold = DecisionFold::default();
    lines.into_iter().filter(Decision::is_complete_and_of_known_version).for_each(|line| fold.add_line(line));
    for (id, by) in std::mem::take(&mut fold.early_lines) {
        let made = fold.index_by_id.get(&id).and_then(|place| fold.standings[*place].as_ref());
        // A decision that was made again after its withdrawal is in force.
        let is_later = |made: &DecisionStanding| {
            time::parse_time(&by.ts)
                .zip(time::parse_time(&made.decision.ts))
                .is_none_or(|(by, made)| by > made)
        };
        if made.is_some_and(is_later) {
            fold.mark_superseded(&id, &by);
        }
    }
    let is_over = |decision: &Decision| time::parse_time(&decision.expires_at).is_some_and(|at| at <= now);
    for standing in fold.standings.iter_mut().flatten() {
        if standing.state == DecisionState::Current && is_over(&standing.decision) {
            standing.state = DecisionState::Expired;
        }
    }
    fold.standings.into_iter().flatten().collect()
}

#[derive(Default)]
struct DecisionFold {
    standings: Vec<Option<DecisionStanding>>,
    index_by_id: HashMap<String, usize>,
    /// The id of the newest answer to each question.
    newest_answers: HashMap<String, String>,
    /// Lines that come before the line that they supersede, because a merge moved them. Each comes with the id
    /// of the superseded line.
    early_lines: Vec<(String, Decision)>,
}

impl DecisionFold {
    fn add_line(&mut self, line: Decision) {
        if !line.supersedes.is_empty() && line.supersedes != line.id {
            match self.index_by_id.contains_key(&line.supersedes) {
                true => self.mark_superseded(&line.supersedes.clone(), &line),
                false => self.early_lines.push((line.supersedes.clone(), line.clone())),
            }
        }
        if line.is_withdrawal() {
            return;
        }
        if !line.question.is_empty() {
            let earlier = self.newest_answers.insert(line.question.trim().to_owned(), line.id.clone());
            if let Some(earlier) = earlier.filter(|earlier| *earlier != line.id) {
                self.mark_superseded(&earlier, &line);
            }
        }
        if let Some(place) = self.index_by_id.get(&line.id).copied() {
            let still_holds = self.standings[place]
                .as_ref()
                .is_some_and(|standing| standing.state == DecisionState::Current);
            if still_holds {
                return;
            }
            self.standings[place] = None;
        }
        self.index_by_id.insert(line.id.clone(), self.standings.len());
        self.standings.push(Some(DecisionStanding {
            decision: line,
            state: DecisionState::Current,
            superseded_by: String::new(),
            withdrawn_because: String::new(),
        }));
    }

    fn mark_superseded(&mut self, id: &str, by: &Decision) {
        let place = self.index_by_id.get(id).copied();
        let Some(standing) = place.and_then(|place| self.standings[place].as_mut()) else { return };
        standing.superseded_by.clone_from(&by.id);
        (standing.state, standing.withdrawn_because) = match by.is_withdrawal() {
            true => (DecisionState::Withdrawn, by.why.clone()),
            false => (DecisionState::Superseded, String::new()),
        };
    }
}
