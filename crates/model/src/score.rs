//! The score of a candidate for the brief. Computing it needs neither a clock nor files.
//!
//!     signals in [0,1];  base = Σ weight·signal;  with a dependency depth d: score = base / (1 + d)
//!     decision: weight · 2^(−age/half-life), or linear: zero at twice the half-life
//!     order: score, then priority, both highest first; then id, in the order of its bytes

use std::cmp::Ordering;

use serde::Serialize;

use crate::tokens::TokenRatios;

/// A signal that contributes to a score. Each signal has its own weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScoreSignal {
    Phase,
    CurrentTask,
    BlockedTask,
    RecentFailure,
    RecentSuccess,
    DecisionRecency,
    EvidencePresence,
    DependencyProximity,
    Loop,
    Role,
    Manifest,
    Packet,
    Outputs,
    Activity,
    Risk,
    Effects,
    State,
    Statements,
    Prompts,
    Files,
    Commands,
    Problems,
}

/// A signal, with its meaning and its source.
#[derive(Clone, Copy, Debug)]
pub struct ScoreSignalRow {
    pub signal: ScoreSignal,
    /// The name used in settings (`brief.scoring.weights.<name>`) and by `thru brief --explain`.
    pub name: &'static str,
    pub value_description: &'static str,
    pub value_source: &'static str,
}

/// All signals. A value "by rank" is 100 / (100 + r), where r is the candidate's rank in the fixed order
/// (`brief/order.rs`). For rank 0, the value is 1.
pub const SIGNALS: [ScoreSignalRow; 22] = [
    signal_row(
        ScoreSignal::Phase,
        "phase",
        "1 for the current phase, 0.5 for ready tasks while another task is in progress",
        "plan.json",
    ),
    signal_row(
        ScoreSignal::CurrentTask,
        "current_task",
        "1 for a task in progress, or for the ready tasks if none is in progress",
        "plan.json",
    ),
    signal_row(ScoreSignal::BlockedTask, "blocked_task", "1 for a blocked task", "plan.json"),
    signal_row(
        ScoreSignal::RecentFailure,
        "recent_failure",
        "1 / (1 + n) for the n-th open failure, newest first; 1 for failed evidence and for a review that rejected the work",
        "journal, evidence/",
    ),
    signal_row(
        ScoreSignal::RecentSuccess,
        "recent_success",
        "for a check that passed, half the value by rank; for passing evidence, 1",
        "journal, evidence/",
    ),
    signal_row(
        ScoreSignal::DecisionRecency,
        "decision_recency",
        "2^(-age / half-life), or linear decay",
        "decisions.jsonl",
    ),
    signal_row(
        ScoreSignal::EvidencePresence,
        "evidence_presence",
        "1 for evidence and for a task with evidence",
        "evidence/",
    ),
    signal_row(
        ScoreSignal::DependencyProximity,
        "dependency_proximity",
        "1 for a task that the current one depends on; the score is divided by 1 + distance",
        "plan.json",
    ),
    signal_row(ScoreSignal::Loop, "loop", "by rank: the session's loop", "loops/"),
    signal_row(ScoreSignal::Role, "role", "by rank: a role's essentials", "agents/*.context.md"),
    signal_row(
        ScoreSignal::Manifest,
        "manifest",
        "by rank: the manifest, its files to load and its questions",
        "workstreams/",
    ),
    signal_row(
        ScoreSignal::Packet,
        "packet",
        "by rank: the session's packet and packets on offer",
        "packets/",
    ),
    signal_row(ScoreSignal::Outputs, "outputs", "by rank: outputs that a gate waits for", "outputs/"),
    signal_row(
        ScoreSignal::Activity,
        "activity",
        "by rank: the activity of other sessions",
        "indexes/sessions.jsonl, journals",
    ),
    signal_row(ScoreSignal::Risk, "risk", "by rank: work that could be lost", "journal, .git"),
    signal_row(
        ScoreSignal::Effects,
        "effects",
        "by rank: effects on the outside world, newest first",
        "journal",
    ),
    signal_row(
        ScoreSignal::State,
        "state",
        "by rank: the last message, the steps, the todo list and running sub-agents",
        "journal",
    ),
    signal_row(
        ScoreSignal::Statements,
        "statements",
        "by rank: what was found and done, newest first",
        "journal",
    ),
    signal_row(
        ScoreSignal::Prompts,
        "prompts",
        "by rank: the goal, the user's words and earlier requests",
        "journal",
    ),
    signal_row(ScoreSignal::Files, "files", "by rank: files, sorted by use and recency", "journal"),
    signal_row(
        ScoreSignal::Commands,
        "commands",
        "by rank: checks, traps and other commands; for a check that passed, three quarters of the value",
        "journal",
    ),
    signal_row(ScoreSignal::Problems, "problems", "by rank: problems with hooks", "indexes/receipts.jsonl"),
];

const fn signal_row(
    signal: ScoreSignal,
    name: &'static str,
    value: &'static str,
    source: &'static str,
) -> ScoreSignalRow {
    ScoreSignalRow { signal, name, value_description: value, value_source: source }
}

impl ScoreSignal {
    pub fn name(self) -> &'static str {
        SIGNALS[self as usize].name
    }
}

/// How the value of a decision declines with age.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecayShape {
    Exponential,
    /// The value reaches zero at twice the half-life.
    Linear,
}

impl DecayShape {
    pub const DECAY_SHAPE_WORDS: &'static [&'static str] = &["exponential", "linear"];

    /// Returns the value that remains after `age` hours, from 1 down to 0. A negative age counts as 0.
    pub fn remaining_value(self, age: f64, half_life: f64) -> f64 {
        let age = age.max(0.0);
        match self {
            DecayShape::Exponential => (-age / half_life).exp2(),
            DecayShape::Linear => (1.0 - age / (2.0 * half_life)).max(0.0),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct ScoringSettings {
    pub weights: SignalWeights,
    pub decay: DecayShape,
    pub half_life_hours: f64,
    pub max_candidates: usize,
    pub max_tokens: usize,
    pub ratios: TokenRatios,
}

/// One weight for each signal, in the order of [`SIGNALS`].
#[derive(Clone, Debug, PartialEq)]
pub struct SignalWeights(pub [f64; SIGNALS.len()]);

impl SignalWeights {
    pub fn weight_of(&self, signal: ScoreSignal) -> f64 {
        self.0[signal as usize]
    }
}

/// The measured values from which a score is computed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuredSignals {
    /// The signals, each with a value in [0,1].
    pub signals: Vec<(ScoreSignal, f64)>,
    /// The distance from the current task in the dependency graph.
    pub dependency_distance: Option<u32>,
    /// The age of a decision. Without an age, its recency counts as 0.
    pub age_hours: Option<f64>,
}

/// A score, with the contribution of each signal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CandidateScore {
    pub value: f64,
    pub parts: Vec<ScorePart>,
}

/// The contribution of one signal. The score is the sum of all contributions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ScorePart {
    pub signal: &'static str,
    pub value: f64,
    pub weight: f64,
    pub contribution: f64,
}

pub fn score_candidate(measured: &MeasuredSignals, scoring: &ScoringSettings) -> CandidateScore {
    let nearness = 1.0 / (1.0 + f64::from(measured.dependency_distance.unwrap_or(0)));
    let part = |(signal, value): &(ScoreSignal, f64)| {
        let value = match (signal, measured.age_hours) {
            (ScoreSignal::DecisionRecency, Some(age)) => {
                value * scoring.decay.remaining_value(age, scoring.half_life_hours)
            }
            (ScoreSignal::DecisionRecency, None) => 0.0,
            _ => *value,
        };
        let (value, weight) = (value.clamp(0.0, 1.0), scoring.weights.weight_of(*signal));
        ScorePart { signal: signal.name(), value, weight, contribution: weight * value * nearness }
    };
    let parts: Vec<ScorePart> = measured.signals.iter().map(part).collect();
    CandidateScore { value: parts.iter().map(|part| part.contribution).sum(), parts }
}

/// The values by which candidates are ordered.
#[derive(Clone, Copy, Debug)]
pub struct CandidateOrderingKey<'a> {
    pub score: f64,
    pub priority: u32,
    pub id: &'a str,
}

/// Compares two candidates. `Less` means that the first one comes earlier.
pub fn compare_candidates(a: &CandidateOrderingKey, b: &CandidateOrderingKey) -> Ordering {
    b.score.total_cmp(&a.score).then(b.priority.cmp(&a.priority)).then(a.id.as_bytes().cmp(b.id.as_bytes()))
}

#[cfg(test)]
#[path = "score_tests.rs"]
mod tests;
