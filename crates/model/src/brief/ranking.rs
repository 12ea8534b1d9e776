//! Ranks candidates in the fixed order or by score. Both ways rank the same candidates, and one function chooses from
//! them (`budget.rs`).

use super::candidate::{Candidate, Class, Measure};
use super::order::Order;
use crate::score::{self, Measured, Place, Score, Scoring, Signal};

/// Candidates in order. Each has a score if scoring is on.
#[derive(Debug)]
pub(super) struct Ranked {
    pub candidates: Vec<Candidate>,
    /// One score for each candidate; empty in the fixed order.
    pub scores: Vec<Score>,
    /// Pairs of a candidate and a form, in the order in which they are tried.
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

/// Orders all forms by their ranks in [`Order`]; longer forms have higher ranks than shorter ones.
fn fixed_queue(candidates: &[Candidate], order: Order) -> Vec<(usize, usize)> {
    let mut queue: Vec<(f64, usize, usize)> = Vec::new();
    for (i, candidate) in candidates.iter().enumerate() {
        queue.extend((0..candidate.forms.len()).map(|form| (order.exact_rank(candidate, form), i, form)));
    }
    // The candidates are sorted, so of two forms with the same rank the one of the earlier candidate comes first.
    queue.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    queue.into_iter().map(|(_, i, form)| (i, form)).collect()
}

/// Orders the shortest forms by score. A longer form never scores above its standing, so a large weight moves a fact
/// forward, but not its longer forms.
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
            _ => score.value.min(standing(order.exact_rank(candidate, form))),
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
    let standing = standing(order.exact_rank(candidate, 0));
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

/// Maps a rank of the fixed order to (0, 1]: rank 0 is 1, rank 100 is a half.
fn standing(rank: f64) -> f64 {
    100.0 / (100.0 + rank)
}

#[cfg(test)]
#[path = "ranking_tests.rs"]
mod tests;
