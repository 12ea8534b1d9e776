//! The order of candidates: fixed, or by score. Both rank the same candidates, and one function chooses from them
//! (`budget.rs`).

use super::candidate::{Candidate, Class, Measure};
use super::order::Order;
use crate::score::{self, Measured, Place, Score, Scoring, Signal};

/// Candidates in order, each with its score if there is one.
#[derive(Debug)]
pub(super) struct Ranked {
    pub candidates: Vec<Candidate>,
    /// By candidate; empty in the fixed order.
    pub scores: Vec<Score>,
    /// Which form of which candidate is tried first, second, …
    pub queue: Vec<(usize, usize)>,
}

pub(super) fn rank(mut candidates: Vec<Candidate>, order: Order, scoring: Option<&Scoring>) -> Ranked {
    let Some(scoring) = scoring else {
        order.sort(&mut candidates);
        let queue = fixed_queue(&candidates, order);
        return Ranked { candidates, scores: Vec::new(), queue };
    };
    let scores = candidates.iter().map(|candidate| score::score(&measured(candidate, order), scoring));
    let mut scored: Vec<(Score, Candidate)> =
        scores.collect::<Vec<_>>().into_iter().zip(candidates).collect();
    scored.sort_by(|(a, first), (b, second)| score::compare(&place(a, first), &place(b, second)));
    let (scores, candidates): (Vec<Score>, Vec<Candidate>) = scored.into_iter().unzip();
    let queue = scored_queue(&candidates, &scores, order, scoring.max_candidates);
    Ranked { candidates, scores, queue }
}

/// Shortest forms come before longer ones, by the ranks of [`Order`].
fn fixed_queue(candidates: &[Candidate], order: Order) -> Vec<(usize, usize)> {
    let mut queue: Vec<(u32, usize, usize)> = Vec::new();
    for (i, candidate) in candidates.iter().enumerate() {
        queue.extend((0..candidate.forms.len()).map(|form| (order.rank(candidate, form), i, form)));
    }
    // The candidates are in order; a longer form of an earlier one goes before others of the same rank.
    queue.sort_unstable();
    queue.into_iter().map(|(_, i, form)| (i, form)).collect()
}

/// The shortest forms go by score. A longer form counts for no more than its standing, so that nothing is told at
/// length before other facts are told at all.
fn scored_queue(
    candidates: &[Candidate],
    scores: &[Score],
    order: Order,
    most: usize,
) -> Vec<(usize, usize)> {
    let mut queue: Vec<(f64, usize, usize)> = Vec::new();
    for (i, (candidate, score)) in candidates.iter().zip(scores).take(most).enumerate() {
        let value = |form: usize| match form {
            0 => score.value,
            _ => score.value.min(standing(order.rank(candidate, form))),
        };
        queue.extend((0..candidate.forms.len()).map(|form| (value(form), i, form)));
    }
    queue.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    queue.into_iter().map(|(_, i, form)| (i, form)).collect()
}

fn place<'a>(score: &Score, candidate: &'a Candidate) -> Place<'a> {
    Place { score: score.value, priority: candidate.class.priority(), id: &candidate.id }
}

/// Returns what a candidate's score is computed from.
fn measured(candidate: &Candidate, order: Order) -> Measured {
    let standing = standing(order.rank(candidate, 0));
    let value = |measure: Measure| match measure {
        Measure::Exactly(value) => value,
        Measure::OfStanding(share) => share * standing,
    };
    let signals = match (candidate.signals.given.as_slice(), candidate.class) {
        ([], Class::Failing) => vec![(Signal::RecentFailure, 1.0 / (1.0 + candidate.place as f64))],
        ([], class) => vec![(class.signal(), standing)],
        (given, _) => given.iter().map(|(signal, measure)| (*signal, value(*measure))).collect(),
    };
    Measured { signals, depth: candidate.signals.depth, age_hours: candidate.signals.age_hours }
}

/// Maps a rank of the fixed order to (0,1]: 1 for what is told first, a half for rank 100.
fn standing(rank: u32) -> f64 {
    100.0 / (100.0 + f64::from(rank))
}

#[cfg(test)]
#[path = "ranking_tests.rs"]
mod tests;
