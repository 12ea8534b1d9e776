//! `--tune`: searches for better weights on one half of the sessions, and reports the improvement on the other half.
//!
//! One weight is changed at a time. Transcripts have no plan and no decisions, so only the weights of signals that
//! occur in sessions are tried.

use anyhow::{Context as _, Result};
use model::score::{ScoreSignal, ScoringSettings, SignalWeights};

use super::cut::{CorpusHalf, RecallSession};
use super::labels::Labels;
use super::measure::{FoundShare, MeasuredCut};
use super::report::{mean_percent, shares_per_target};
use super::targets::MIN_ITEMS_FOR_VERDICT;
use super::texts::SessionUpToCut;

const TUNED_SIGNALS: [ScoreSignal; 6] = [
    ScoreSignal::Files,
    ScoreSignal::Prompts,
    ScoreSignal::Commands,
    ScoreSignal::Statements,
    ScoreSignal::Effects,
    ScoreSignal::RecentFailure,
];

/// The factors by which a default weight is multiplied.
const WEIGHT_FACTORS: [f64; 2] = [0.7, 1.4];

/// A set of weights, and its measurements.
#[derive(Debug)]
pub struct WeightTrial {
    name: String,
    scoring: ScoringSettings,
    measured: Vec<MeasuredCut>,
}

/// Returns a trial with the default weights, and one trial for each changed weight.
pub fn weight_trials(default: &ScoringSettings) -> Vec<WeightTrial> {
    let trial = |name: String, weights: SignalWeights| WeightTrial {
        name,
        scoring: ScoringSettings { weights, ..default.clone() },
        measured: Vec::new(),
    };
    let mut all = vec![trial("default".to_owned(), default.weights.clone())];
    for signal in TUNED_SIGNALS {
        for factor in WEIGHT_FACTORS {
            let mut weights = default.weights.clone();
            weights.0[signal as usize] *= factor;
            all.push(trial(format!("{} {:.2}", signal.name(), weights.weight_of(signal)), weights));
        }
    }
    all
}

/// Measures the compactions and artificial cuts of one session with every set of weights.
pub fn measure_session(
    trials: &mut [WeightTrial],
    session: &RecallSession,
    made_up: usize,
    labels: &Labels,
) -> Result<()> {
    for cut in session.cuts_at_compactions().into_iter().chain(session.artificial_cuts(made_up)) {
        let past = SessionUpToCut::before_cut(session, &cut)?;
        for trial in &mut *trials {
            let scoring = Some(&trial.scoring);
            trial.measured.push(MeasuredCut::measure_cut(session, &cut, &past, labels, scoring)?);
        }
    }
    Ok(())
}

/// Prints the mean over all targets for each set of weights. The set that is best on one half of the sessions is
/// compared with the default set on the other half.
pub fn print_trials(trials: &[WeightTrial]) -> Result<()> {
    let default = trials.first().context("no weights")?;
    println!(
        "mean over all targets with {MIN_ITEMS_FOR_VERDICT} items, in percent\n\n  tuned on  reported  weights"
    );
    let score =
        |trial: &WeightTrial, half: CorpusHalf| mean_percent(&shares_per_target(&trial.measured, half));
    for trial in trials {
        let (tune, report) = (score(trial, CorpusHalf::TuningHalf), score(trial, CorpusHalf::ReportingHalf));
        println!("{tune:>10.2}{report:>10.2}  {}", trial.name);
    }
    let better = |a: &&WeightTrial, b: &&WeightTrial| {
        score(a, CorpusHalf::TuningHalf).total_cmp(&score(b, CorpusHalf::TuningHalf))
    };
    // If several sets of weights are equally good, the default set wins, because it is the first.
    let best = trials.iter().rev().max_by(better).unwrap_or(default);
    println!("\nbest on the tuning half: {}", best.name);
    let outside = |(a, b): (&FoundShare, &FoundShare)| {
        let (low, high) = a.wilson_interval();
        if b.percent() > high {
            1
        } else if b.percent() < low {
            -1
        } else {
            0
        }
    };
    let (before, after) = (
        shares_per_target(&default.measured, CorpusHalf::ReportingHalf),
        shares_per_target(&best.measured, CorpusHalf::ReportingHalf),
    );
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
