//! Percentiles, and random numbers that are the same in every run.

/// Returns the smallest sample such that at least `percent` percent of all samples are no larger, or 0 if there are
/// no samples.
pub fn percentile(samples: &[u64], percent: f64) -> u64 {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    let rank = (percent / 100.0 * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied().unwrap_or(0)
}

pub fn ratio(ours: u64, theirs: u64) -> f64 {
    if theirs == 0 { 0.0 } else { ours as f64 / theirs as f64 }
}

/// The xorshift64 generator. It is not suitable for secrets.
#[derive(Debug)]
pub struct RandomNumbers(u64);

impl RandomNumbers {
    pub fn seeded(seed: u64) -> Self {
        Self(seed.max(1))
    }

    pub fn next_number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn next_below(&mut self, limit: usize) -> usize {
        (self.next_number() % limit.max(1) as u64) as usize
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.next_below(at + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_samples() {
        let samples: Vec<u64> = (1..=100).rev().collect();
        assert_eq!(percentile(&samples, 50.0), 50);
        assert_eq!(percentile(&samples, 99.0), 99);
        assert_eq!(percentile(&samples, 100.0), 100);
        assert_eq!(percentile(&samples, 0.0), 1);
        assert_eq!(percentile(&[7], 99.0), 7);
        assert_eq!(percentile(&[], 50.0), 0);
    }

    #[test]
    fn a_shuffle_loses_nothing_and_repeats_with_its_seed() {
        let shuffled = |seed| {
            let mut items: Vec<u32> = (0..20).collect();
            RandomNumbers::seeded(seed).shuffle(&mut items);
            items
        };
        assert_eq!(shuffled(3), shuffled(3));
        assert_ne!(shuffled(3), shuffled(4));
        let mut back = shuffled(3);
        back.sort_unstable();
        assert_eq!(back, (0..20).collect::<Vec<_>>());
    }
}
