//! The targets, and whether they were reached.

use super::measure::{COMMANDS_AGAIN_QUESTION, FILES_AGAIN_QUESTION, FoundShare};

/// The minimum number of items for a verdict.
pub const MIN_ITEMS_FOR_VERDICT: usize = 30;

/// The largest allowed difference between the two halves of the sessions, in percentage points.
const MAX_HALVES_GAP: f64 = 3.0;

/// The share of items that must be found, in percent, for each question and each of `BRIEF_SIZES`.
const BRIEF_TARGETS: [(&str, [Option<u32>; 4]); 10] = [
    (FILES_AGAIN_QUESTION, [Some(95), Some(99), Some(99), Some(99)]),
    (COMMANDS_AGAIN_QUESTION, [None, Some(60), Some(90), Some(95)]),
    ("newest prompt", [Some(99), Some(99), Some(99), Some(99)]),
    ("prompts", [None, Some(50), Some(90), Some(99)]),
    ("open failures", [Some(95), Some(95), Some(99), Some(99)]),
    ("failures told are open", [Some(95), Some(95), Some(95), Some(95)]),
    ("edited", [Some(95), Some(99), Some(99), Some(99)]),
    ("read", [None, Some(90), Some(99), Some(99)]),
    ("outside effects, with id", [None, None, None, Some(98)]),
    ("errors met again", [None, None, None, Some(90)]),
];

/// The share of items that must be found in the summary and the brief together, in percent.
const WITH_SUMMARY_TARGETS: [(&str, u32); 4] = [
    (FILES_AGAIN_QUESTION, 99),
    (COMMANDS_AGAIN_QUESTION, 90),
    ("outside effects, with id", 98),
    ("errors met again", 90),
];

/// Returns the target of a question. `size` is an index into `BRIEF_SIZES`.
pub fn brief_target(question: &str, size: usize) -> Option<u32> {
    BRIEF_TARGETS.iter().find(|(known, _)| *known == question).and_then(|(_, targets)| targets[size])
}

pub fn with_summary_target(question: &str) -> Option<u32> {
    WITH_SUMMARY_TARGETS.iter().find(|(known, _)| *known == question).map(|(_, target)| *target)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetVerdict {
    Met,
    Missed,
    /// Both halves of the sessions reach the target, but the difference between them is too large.
    HalvesDiffer,
    /// There are too few items for a verdict.
    TooFewItems,
}

impl TargetVerdict {
    pub fn name(self) -> &'static str {
        match self {
            TargetVerdict::Met => "met",
            TargetVerdict::Missed => "missed",
            TargetVerdict::HalvesDiffer => "missed: halves apart",
            TargetVerdict::TooFewItems => "no verdict",
        }
    }

    /// Compares each half, and both halves together, with the target. A half with too few items is not compared
    /// separately.
    pub fn compare_with_target(target: u32, tune: FoundShare, report: FoundShare) -> TargetVerdict {
        let reaches = |share: FoundShare| share.percent() >= f64::from(target);
        let both = FoundShare { found: tune.found + report.found, total: tune.total + report.total };
        if both.total < MIN_ITEMS_FOR_VERDICT {
            return TargetVerdict::TooFewItems;
        }
        let large: Vec<FoundShare> =
            [tune, report].into_iter().filter(|half| half.total >= MIN_ITEMS_FOR_VERDICT).collect();
        match large.as_slice() {
            all if all.iter().any(|half| !reaches(*half)) || !reaches(both) => TargetVerdict::Missed,
            [_, _] if (tune.percent() - report.percent()).abs() > MAX_HALVES_GAP => {
                TargetVerdict::HalvesDiffer
            }
            _ => TargetVerdict::Met,
        }
    }
}

impl FoundShare {
    pub fn add_share(&mut self, other: FoundShare) {
        self.found += other.found;
        self.total += other.total;
    }

    pub fn percent(self) -> f64 {
        if self.total == 0 { 100.0 } else { 100.0 * self.found as f64 / self.total as f64 }
    }

    /// Returns the 95 % Wilson score interval for the share, in percent.
    pub fn wilson_interval(self) -> (f64, f64) {
        let (n, z) = (self.total as f64, 1.96_f64);
        if self.total == 0 {
            return (0.0, 100.0);
        }
        let p = self.found as f64 / n;
        let (middle, scale) = (p + z * z / (2.0 * n), 1.0 + z * z / n);
        let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
        (100.0 * ((middle - half) / scale).max(0.0), 100.0 * ((middle + half) / scale).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_and_verdicts() {
        let (low, high) = FoundShare { found: 50, total: 100 }.wilson_interval();
        assert!((40.0..41.0).contains(&low) && (59.0..60.0).contains(&high), "{low} {high}");
        let share = |found, of| FoundShare { found, total: of };
        for (target, tune, report, expected) in [
            (90, share(95, 100), share(94, 100), TargetVerdict::Met),
            (90, share(95, 100), share(89, 100), TargetVerdict::Missed),
            (90, share(99, 100), share(91, 100), TargetVerdict::HalvesDiffer),
            (90, share(10, 10), share(10, 10), TargetVerdict::TooFewItems),
            (90, share(20, 20), share(20, 20), TargetVerdict::Met),
            (90, share(10, 20), share(40, 40), TargetVerdict::Missed),
            (90, share(29, 29), share(100, 100), TargetVerdict::Met),
        ] {
            assert_eq!(
                TargetVerdict::compare_with_target(target, tune, report),
                expected,
                "{tune:?} {report:?}"
            );
        }
    }
}
