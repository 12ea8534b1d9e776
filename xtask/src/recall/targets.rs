//! The targets, and whether they were reached.

use super::measure::{COMMANDS_AGAIN, FILES_AGAIN, Share};

/// With fewer items than this there is no verdict.
pub const VERDICT: usize = 30;

/// The largest allowed difference between the two halves, in percentage points.
const GAP: f64 = 3.0;

/// The share of the items that must be found, in percent: for each question, at each of `SIZES`.
const ALONE: [(&str, [Option<u32>; 4]); 10] = [
    (FILES_AGAIN, [Some(95), Some(99), Some(99), Some(99)]),
    (COMMANDS_AGAIN, [None, Some(60), Some(90), Some(95)]),
    ("newest prompt", [Some(99), Some(99), Some(99), Some(99)]),
    ("prompts", [None, Some(50), Some(90), Some(99)]),
    ("open failures", [Some(95), Some(95), Some(99), Some(99)]),
    ("failures told are open", [Some(95), Some(95), Some(95), Some(95)]),
    ("edited", [Some(95), Some(99), Some(99), Some(99)]),
    ("read", [None, Some(90), Some(99), Some(99)]),
    ("outside effects, with id", [None, None, None, Some(98)]),
    ("errors met again", [None, None, None, Some(90)]),
];

/// The share of the items that must be found in the summary and the brief together, in percent.
const BESIDE: [(&str, u32); 4] =
    [(FILES_AGAIN, 99), (COMMANDS_AGAIN, 90), ("outside effects, with id", 98), ("errors met again", 90)];

/// Returns the target of a question at the size with this index in `SIZES`.
pub fn alone(question: &str, size: usize) -> Option<u32> {
    ALONE.iter().find(|(known, _)| *known == question).and_then(|(_, targets)| targets[size])
}

pub fn beside(question: &str) -> Option<u32> {
    BESIDE.iter().find(|(known, _)| *known == question).map(|(_, target)| *target)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Met,
    Missed,
    /// Both halves reach the target, but they are too far apart.
    Apart,
    /// There are too few items for a verdict.
    None,
}

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Met => "met",
            Verdict::Missed => "missed",
            Verdict::Apart => "missed: halves apart",
            Verdict::None => "no verdict",
        }
    }

    /// Compares each half, and both together, with the target. A half that is too small counts only in the sum.
    pub fn of(target: u32, tune: Share, report: Share) -> Verdict {
        let reaches = |share: Share| share.percent() >= f64::from(target);
        let both = Share { found: tune.found + report.found, of: tune.of + report.of };
        if both.of < VERDICT {
            return Verdict::None;
        }
        let large: Vec<Share> = [tune, report].into_iter().filter(|half| half.of >= VERDICT).collect();
        match large.as_slice() {
            all if all.iter().any(|half| !reaches(*half)) || !reaches(both) => Verdict::Missed,
            [_, _] if (tune.percent() - report.percent()).abs() > GAP => Verdict::Apart,
            _ => Verdict::Met,
        }
    }
}

impl Share {
    pub fn add(&mut self, other: Share) {
        self.found += other.found;
        self.of += other.of;
    }

    pub fn percent(self) -> f64 {
        if self.of == 0 { 100.0 } else { 100.0 * self.found as f64 / self.of as f64 }
    }

    /// Returns Wilson's 95 % interval of the share, in percent.
    pub fn interval(self) -> (f64, f64) {
        let (n, z) = (self.of as f64, 1.96_f64);
        if self.of == 0 {
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
        let (low, high) = Share { found: 50, of: 100 }.interval();
        assert!((40.0..41.0).contains(&low) && (59.0..60.0).contains(&high), "{low} {high}");
        let share = |found, of| Share { found, of };
        for (target, tune, report, expected) in [
            (90, share(95, 100), share(94, 100), Verdict::Met),
            (90, share(95, 100), share(89, 100), Verdict::Missed),
            (90, share(99, 100), share(91, 100), Verdict::Apart),
            (90, share(10, 10), share(10, 10), Verdict::None),
            (90, share(20, 20), share(20, 20), Verdict::Met),
            (90, share(10, 20), share(40, 40), Verdict::Missed),
            (90, share(29, 29), share(100, 100), Verdict::Met),
        ] {
            assert_eq!(Verdict::of(target, tune, report), expected, "{tune:?} {report:?}");
        }
    }
}
