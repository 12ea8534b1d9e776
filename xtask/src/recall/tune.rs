//! `--tune`: looks for a better weight on one half of the sessions, and reports how much better it is on the other
//! half.
//!
//! One weight is changed at a time. Transcripts have no plan and no decisions, so only the weights of signals that
//! a session has are tried.

use anyhow::{Context as _, Result};
use model::score::{Scoring, Signal, Weights};

use super::cut::{Half, Session};
use super::labels::Labels;
use super::measure::{Measured, Share};
use super::report::{mean, targets_of};
use super::targets::VERDICT;
use super::texts::Past;

const SIGNALS: [Signal; 6] = [
    Signal::Files,
    Signal::Prompts,
    Signal::Commands,
    Signal::Statements,
    Signal::Effects,
    Signal::RecentFailure,
];

/// The factors by which a default weight is changed.
const FACTORS: [f64; 2] = [0.7, 1.4];

/// A set of weights, and what was measured with it.
#[derive(Debug)]
pub struct Trial {
    name: String,
    scoring: Scoring,
    measured: Vec<Measured>,
}

/// Returns the default weights, and every changed set of weights that is tried.
pub fn trials(default: &Scoring) -> Vec<Trial> {
    let trial = |name: String, weights: Weights| Trial {
        name,
        scoring: Scoring { weights, ..default.clone() },
        measured: Vec::new(),
    };
    let mut all = vec![trial("default".to_owned(), default.weights.clone())];
    for signal in SIGNALS {
        for factor in FACTORS {
            let mut weights = default.weights.clone();
            weights.0[signal as usize] *= factor;
            all.push(trial(format!("{} {:.2}", signal.name(), weights.of(signal)), weights));
        }
    }
    all
}

/// Measures the compactions and artificial cuts of one session with every set of weights.
pub fn add(trials: &mut [Trial], session: &Session, made_up: usize, labels: &Labels) -> Result<()> {
    for cut in session.compactions().into_iter().chain(session.made_up(made_up)) {
        let past = Past::at(session, &cut)?;
        for trial in &mut *trials {
            let scoring = Some(&trial.scoring);
            trial.measured.push(Measured::take(session, &cut, &past, labels, scoring)?);
        }
    }
    Ok(())
}

/// Prints each set's mean over all targets. The set that is best on one half of the sessions is compared with the
/// default on the other half.
pub fn print(trials: &[Trial]) -> Result<()> {
    let default = trials.first().context("no weights")?;
    println!("mean over all targets with {VERDICT} items, in percent\n\n  tuned on  reported  weights");
    let score = |trial: &Trial, half: Half| mean(&targets_of(&trial.measured, half));
    for trial in trials {
        let (tune, report) = (score(trial, Half::Tune), score(trial, Half::Report));
        println!("{tune:>10.2}{report:>10.2}  {}", trial.name);
    }
    let better = |a: &&Trial, b: &&Trial| score(a, Half::Tune).total_cmp(&score(b, Half::Tune));
    // If several sets are equally good, the default wins, because it is the first.
    let best = trials.iter().rev().max_by(better).unwrap_or(default);
    println!("\nbest on the tuning half: {}", best.name);
    let outside = |(a, b): (&Share, &Share)| {
        let (low, high) = a.interval();
        if b.percent() > high {
            1
        } else if b.percent() < low {
            -1
        } else {
            0
        }
    };
    let (before, after) =
        (targets_of(&default.measured, Half::Report), targets_of(&best.measured, Half::Report));
    let changes: Vec<i32> = before.iter().zip(&after).map(outside).collect();
    let count = |of: i32| changes.iter().filter(|change| **change == of).count();
    println!(
        "on the other half it is better by more than the interval on {} targets, worse on {}, and within it on {}",
        count(1),
        count(-1),
        count(0)
    );
    Ok(())
}
