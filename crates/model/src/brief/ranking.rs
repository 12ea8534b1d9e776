//! Ranks candidates in the fixed order or by score. `budget.rs` then chooses from the ranked candidates.

use super::candidate::{Candidate, FactClass, SignalValue};
use super::order::FixedOrder;
use crate::score::{
    self, CandidateOrderingKey, CandidateScore, MeasuredSignals, ScoreSignal, ScoringSettings,
};

/// The candidates in order, with their scores if scoring is on.
#[derive(Debug)]
pub(super) struct RankedCandidates {
    pub candidates: Vec<Candidate>,
    /// The score of each candidate. Empty if the fixed order is used.
    pub scores: Vec<CandidateScore>,
    /// Pairs of candidate index and form index, in the order in which they are tried.
    pub queue: Vec<(usize, usize)>,
}

pub(super) fn rank_candidates(
    mut candidates: Vec<Candidate>,
    order: FixedOrder,
    scoring: Option<&ScoringSettings>,
) -> RankedCandidates {
    let Some(scoring) = scoring else {
        order.sort_by_rank(&mut candidates);
        let queue = forms_in_fixed_order(&candidates, order);
        return RankedCandidates { candidates, scores: Vec::new(), queue };
    };
    let scores =
        candidates.iter().map(|candidate| score::score_candidate(&score_input(candidate, order), scoring));
    let mut scored: Vec<(CandidateScore, Candidate)> =
        scores.collect::<Vec<_>>().into_iter().zip(candidates).collect();
    scored.sort_by(|(a, first), (b, second)| {
        score::compare_candidates(&ordering_key_of_candidate(a, first), &ordering_key_of_candidate(b, second))
    });
    let (scores, candidates): (Vec<CandidateScore>, Vec<Candidate>) = scored.into_iter().unzip();
    let queue = scored_queue(&candidates, &scores, order, scoring.max_candidates);
    RankedCandidates { candidates, scores, queue }
}

/// Orders all forms by their ranks in [`FixedOrder`].
fn forms_in_fixed_order(candidates: &[Candidate], order: FixedOrder) -> Vec<(usize, usize)> {
    let mut queue: Vec<(f64, usize, usize)> = Vec::new();
    for (i, candidate) in candidates.iter().enumerate() {
        queue.extend((0..candidate.forms.len()).map(|form| (order.exact_rank(candidate, form), i, form)));
    }
    // Forms with the same rank stay in the order of their candidates.
    queue.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    queue.into_iter().map(|(_, i, form)| (i, form)).collect()
}

/// Orders the forms by score. The score of a longer form is capped at the value that corresponds to the form's rank in
/// the fixed order. A large weight therefore moves a fact forward, but not its longer forms.
fn scored_queue(
    candidates: &[Candidate],
    scores: &[CandidateScore],
    order: FixedOrder,
    most: usize,
) -> Vec<(usize, usize)> {
    let mut queue: Vec<(f64, usize, usize)> = Vec::new();
    for (i, (candidate, score)) in candidates.iter().zip(scores).take(most).enumerate() {
        let value = |form: usize| match form {
            0 => score.value,
            _ => score.value.min(standing_of_rank(order.exact_rank(candidate, form))),
        };
        queue.extend((0..candidate.forms.len()).map(|form| (value(form), i, form)));
    }
    queue.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    queue.into_iter().map(|(_, i, form)| (i, form)).collect()
}

fn ordering_key_of_candidate<'a>(
    score: &CandidateScore,
    candidate: &'a Candidate,
) -> CandidateOrderingKey<'a> {
    CandidateOrderingKey { score: score.value, priority: candidate.class.priority(), id: &candidate.id }
}

fn score_input(candidate: &Candidate, order: FixedOrder) -> MeasuredSignals {
    let standing = standing_of_rank(order.exact_rank(candidate, 0));
    let value = |measure: SignalValue| match measure {
        SignalValue::Exactly(value) => value,
        SignalValue::OfStanding(share) => share * standing,
    };
    let signals = match (candidate.signals.signal_values.as_slice(), candidate.class) {
        ([], FactClass::Failing) => {
            vec![(ScoreSignal::RecentFailure, 1.0 / (1.0 + candidate.position_in_class as f64))]
        }
        ([], class) => vec![(class.default_signal(), standing)],
        (given, _) => given.iter().map(|(signal, measure)| (*signal, value(*measure))).collect(),
    };
    MeasuredSignals {
        signals,
        dependency_distance: candidate.signals.depth,
        age_hours: candidate.signals.age_hours,
    }
}

/// Maps a rank in the fixed order to the interval (0, 1]. Rank 0 gives 1 and rank 100 gives 0.5.
fn standing_of_rank(rank: f64) -> f64 {
    100.0 / (100.0 + rank)
}

#[cfg(test)]
#[path = "ranking_tests.rs"]
mod tests;
