//! In which order candidates are taken. One table; a ranking by score takes the place of [`Order::rank`], and
//! of nothing else.

use super::candidate::{Candidate, Class};

/// Where a class begins, how far its members lie apart, and how much later a fact is told at greater length. Classes
/// interleave: the tenth file comes before the third command that passed, and after the second failure.
fn steps(class: Class) -> (u32, u32, u32) {
    match class {
        Class::First(section) => (section.order, 1, 1),
        Class::Last(_) => (60, 6, 20),
        Class::Asked => (6, 14, 16),
        Class::Said => (8, 1, 40),
        Class::Todo => (9, 6, 1),
        Class::Failing => (10, 6, 11),
        Class::Overcome => (11, 6, 11),
        Class::Edited | Class::Read => (12, 1, 90),
        Class::Answers => (24, 6, 60),
        Class::Problems => (40, 4, 1),
        Class::Commands => (40, 4, 90),
        Class::Done => (44, 1, 50),
        Class::Mended => (32, 2, 5),
        Class::Earlier => (44, 4, 90),
        Class::Named => (120, 2, 90),
    }
}

/// What the summary kept comes after what it lost.
const KEPT: u32 = 120;

/// Files that will probably not be needed come after almost everything else.
const UNLIKELY: u32 = 60;

/// With more room than this, files that are hardly likely come early too.
const ROOMY: usize = 1_400;

/// The order for a brief of a certain size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order {
    /// So many files come early; the next would more often than not be noise.
    likely_files: usize,
}

impl Order {
    /// Behind goal, state and what fails, every 70 characters of room are worth a file. Where many are `likely`, a few
    /// more are: it is a session that goes far afield.
    pub fn within(room: usize, likely: usize) -> Order {
        let fitting = room.saturating_sub(400) / 70;
        let many = likely.saturating_sub(9) / 3;
        let hardly = room.saturating_sub(ROOMY) / 70;
        Order { likely_files: (fitting + many).min(likely + hardly) }
    }

    /// Lower goes first. `form` counts from the shortest.
    pub fn rank(self, candidate: &Candidate, form: usize) -> u32 {
        let (base, step, longer) = steps(candidate.class);
        let times = |step: u32, n: usize| step.saturating_mul(u32::try_from(n).unwrap_or(u32::MAX));
        let kept = if candidate.kept { KEPT } else { 0 };
        let is_file = matches!(candidate.class, Class::Edited | Class::Read);
        let unlikely = if is_file && candidate.place >= self.likely_files { UNLIKELY } else { 0 };
        let place = times(step, candidate.place).saturating_add(times(longer, form));
        base.saturating_add(place).saturating_add(kept + unlikely)
    }

    /// Ties: by class, as a brief has them, then as they were gathered.
    pub fn sort(self, candidates: &mut [Candidate]) {
        candidates.sort_by_key(|candidate| (self.rank(candidate, 0), candidate.class));
    }
}
