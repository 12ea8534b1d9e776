//! The fixed order in which candidates are chosen, from one table. If scoring is on, facts without signals of their own
//! are scored by their standing in this order (`ranking.rs`).

use super::candidate::{Candidate, FactClass};

/// Returns the rank of the first member of a class, the step from one member to the next, and how much is added for
/// each longer form. Classes interleave: the tenth file comes before the third check, and after the second failure.
fn rank_steps_of_class(class: FactClass) -> (u32, u32, u32) {
    match class {
        FactClass::First(section) => (section.order, 1, section.longer),
        FactClass::Last(_) => (60, 6, 20),
        FactClass::Risk => (0, 1, 30),
        FactClass::Goal => (6, 1, 22),
        FactClass::State => (7, 3, 30),
        FactClass::Failing => (8, 6, 14),
        FactClass::Edited | FactClass::Read => (9, 1, 90),
        FactClass::Outside => (16, 4, 60),
        FactClass::Checks => (17, 10, 90),
        FactClass::Done => (18, 6, 40),
        FactClass::Words => (20, 7, 50),
        FactClass::Traps => (36, 8, 60),
        FactClass::Problems => (40, 4, 1),
        FactClass::Commands => (46, 6, 90),
        FactClass::Earlier => (23, 4, 90),
        FactClass::Named => (120, 2, 90),
    }
}

/// Added to the rank of files that will probably not be needed, and of longer forms in a brief that is not roomy: they
/// come after almost everything else.
const UNLIKELY_RANK: u32 = 60;

/// This many files come before longer forms of anything, if they were edited.
const EARLY_EDITED: usize = 20;

/// None of them ranks lower than this file.
const FIRST_FILES: usize = 8;

/// The same in a brief that is not roomy: a few files that were only read are needed there too.
const FIRST_FILES_IF_SHORT: usize = 11;

/// A brief with more room than this is roomy: less likely files come early too.
const ROOMY_ABOVE: usize = 1_400;

/// Added to the rank of classes that must wait for goal, state, failures and files if the brief is not roomy.
const WAITING_RANK: u32 = 40;

/// Added to the rank of each longer form of the goal in a roomy brief.
const LONGER_GOAL_RANK: u32 = 10;

/// The order of candidates for a brief of a certain size.
#[derive(Clone, Copy, Debug)]
pub(super) struct FixedOrder {
    /// How many files come early; more would usually be noise.
    likely_files: usize,
    is_roomy: bool,
}

impl FixedOrder {
    /// Every 60 characters of room allow one early file, after 300 for goal, state and failures. If many files are
    /// `likely`, a few more come early, because the session covers a wide area.
    pub fn for_room(room: usize, likely: usize) -> FixedOrder {
        let fitting = room.saturating_sub(300) / 60;
        let many = likely.saturating_sub(9) / 3;
        let hardly = room.saturating_sub(ROOMY_ABOVE) / 70;
        FixedOrder { likely_files: (fitting + many).min(likely + hardly), is_roomy: room > ROOMY_ABOVE }
    }

    /// Returns the rank of a form; the lowest comes first. `form` counts from the shortest.
    pub fn rank_of_form(self, candidate: &Candidate, form: usize) -> u32 {
        let (mut base, step, mut longer) = rank_steps_of_class(candidate.class);
        // In a roomy brief the long form of the goal comes before anything that explains it.
        if candidate.class == FactClass::Goal && self.is_roomy {
            longer = LONGER_GOAL_RANK;
        }
        let gives_way = matches!(
            candidate.class,
            FactClass::Outside
                | FactClass::Checks
                | FactClass::Done
                | FactClass::Words
                | FactClass::Earlier
                | FactClass::Traps
        );
        if gives_way && !self.is_roomy {
            base += WAITING_RANK;
        }
        // One more file is worth more than a longer form.
        if form > 0 && !self.is_roomy {
            base += UNLIKELY_RANK;
        }
        let times = |step: u32, n: usize| step.saturating_mul(u32::try_from(n).unwrap_or(u32::MAX));
        let (place, unlikely) = match candidate.class {
            // What is at risk refers to them.
            FactClass::Edited if candidate.place < EARLY_EDITED => {
                (candidate.place.min(self.first_files()), 0)
            }
            FactClass::Edited | FactClass::Read if candidate.place >= self.likely_files => {
                (candidate.place, UNLIKELY_RANK)
            }
            _ => (candidate.place, 0),
        };
        let place = times(step, place).saturating_add(times(longer, form));
        base.saturating_add(place).saturating_add(unlikely)
    }

    /// Returns the rank as a number that also tells edited files with the same rank apart.
    pub fn exact_rank(self, candidate: &Candidate, form: usize) -> f64 {
        let shares_rank = candidate.class == FactClass::Edited
            && (self.first_files()..EARLY_EDITED).contains(&candidate.place);
        let within = if shares_rank { candidate.place as f64 } else { 0.0 };
        f64::from(self.rank_of_form(candidate, form)) + within / 10_000.0
    }

    /// Returns the lowest rank of an edited file among the early ones, counted in files.
    fn first_files(self) -> usize {
        if self.is_roomy { FIRST_FILES } else { FIRST_FILES_IF_SHORT }
    }

    /// Sorts by rank. Ties are broken by class, in the order of a brief, then by the order of gathering.
    pub fn sort_by_rank(self, candidates: &mut [Candidate]) {
        candidates.sort_by(|a, b| {
            let ranks = self.exact_rank(a, 0).total_cmp(&self.exact_rank(b, 0));
            ranks.then(a.class.cmp(&b.class))
        });
    }
}
