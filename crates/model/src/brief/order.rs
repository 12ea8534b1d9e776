//! The fixed order in which candidates are chosen, from one table. Where scoring is on, a class without records of its
//! own importance is scored by its standing in this order (`ranking.rs`).

use super::candidate::{Candidate, Class};

/// Where a class begins, how far its members are apart, and how much later longer forms come. Classes interleave: the
/// tenth file comes before the third command that passed, and after the second failure.
fn steps(class: Class) -> (u32, u32, u32) {
    match class {
        Class::First(section) => (section.order, 1, section.longer),
        Class::Last(_) => (60, 6, 20),
        Class::Risk => (0, 1, 30),
        Class::Goal => (6, 1, 22),
        Class::State => (7, 3, 30),
        Class::Failing => (8, 6, 14),
        Class::Edited | Class::Read => (9, 1, 90),
        Class::Outside => (16, 4, 60),
        Class::Checks => (17, 10, 90),
        Class::Done => (18, 6, 40),
        Class::Words => (20, 7, 50),
        Class::Traps => (36, 8, 60),
        Class::Problems => (40, 4, 1),
        Class::Commands => (46, 6, 90),
        Class::Earlier => (24, 4, 90),
        Class::Named => (120, 2, 90),
    }
}

/// Files that will probably not be needed come after almost everything else.
const UNLIKELY: u32 = 60;

/// With more room than this, less likely files come early too.
const ROOMY: usize = 1_400;

/// With less room than that, goal, state, failures and files leave no room for the rest: it comes this much later.
const TIGHT: u32 = 40;

/// How much later the goal is told at greater length, where there is room.
const GOAL_LONGER: u32 = 12;

/// The order for a brief of a certain size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order {
    /// How many files come early; further ones would usually be noise.
    likely_files: usize,
    is_roomy: bool,
}

impl Order {
    /// After goal, state and failures, every 60 characters of room are worth a file. If many files are `likely`, a
    /// few more are added, because the session covers a wide area.
    pub fn within(room: usize, likely: usize) -> Order {
        let fitting = room.saturating_sub(300) / 60;
        let many = likely.saturating_sub(9) / 3;
        let hardly = room.saturating_sub(ROOMY) / 70;
        Order { likely_files: (fitting + many).min(likely + hardly), is_roomy: room > ROOMY }
    }

    /// Lower goes first. `form` counts from the shortest.
    pub fn rank(self, candidate: &Candidate, form: usize) -> u32 {
        let (mut base, step, mut longer) = steps(candidate.class);
        // Where there is room, the goal is told at length before anything that explains it.
        if candidate.class == Class::Goal && self.is_roomy {
            longer = GOAL_LONGER;
        }
        let gives_way = matches!(
            candidate.class,
            Class::Outside | Class::Checks | Class::Done | Class::Words | Class::Earlier | Class::Traps
        );
        if gives_way && !self.is_roomy {
            base += TIGHT;
        }
        // One more file is worth more than longer words.
        if form > 0 && !self.is_roomy {
            base += UNLIKELY;
        }
        let times = |step: u32, n: usize| step.saturating_mul(u32::try_from(n).unwrap_or(u32::MAX));
        let is_file = matches!(candidate.class, Class::Edited | Class::Read);
        let unlikely = if is_file && candidate.place >= self.likely_files { UNLIKELY } else { 0 };
        let place = times(step, candidate.place).saturating_add(times(longer, form));
        base.saturating_add(place).saturating_add(unlikely)
    }

    /// Breaks ties by class, in the order of a brief, then by the order of gathering.
    pub fn sort(self, candidates: &mut [Candidate]) {
        candidates.sort_by_key(|candidate| (self.rank(candidate, 0), candidate.class));
    }
}
