//! The fixed order in which candidates are chosen, defined by one table. If scoring is on, facts without signals of
//! their own are scored by their position in this order (`ranking.rs`).

use super::candidate::{Candidate, FactClass};

/// Returns the rank of the first fact in a class, the rank step to the next fact, and the rank step to the next
/// longer form. Classes interleave: the tenth file comes before the third check.
fn rank_steps_of_class(class: FactClass) -> (u32, u32, u32) {
    match class {
        FactClass::First(section) => (section.section_position, 1, section.rank_step_per_form),
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
        FactClass::Answered => (400, 1, 1),
    }
}

const ADDED_RANK_OF_UNLIKELY_FILE: u32 = 60;

/// In a short brief, this is added to the rank of every longer form of a fact, because one more file is more useful
/// there than a longer form.
const ADDED_RANK_OF_LONGER_FORM_IF_SHORT: u32 = 60;

/// This is added to the rank of facts that come after everything else, including the answered requests.
const ADDED_RANK_OF_LATE_FACT: u32 = 500;

/// In the ranking, this many edited files come before the longer forms of other facts.
const EARLY_EDITED_FILES: usize = 20;

/// Among the first [`EARLY_EDITED_FILES`] edited files, those at or after this position all share one rank.
const EDITED_FILES_WITH_OWN_RANK: usize = 8;

/// Replaces [`EDITED_FILES_WITH_OWN_RANK`] in a short brief. The number is larger, so that a few files that were only read
/// also come early.
const RANKED_FIRST_FILES_IF_SHORT: usize = 11;

/// A brief with more UTF-16 units than this is roomy: it has space for files that are less likely to be needed.
const MIN_ROOMY_BRIEF_UNITS: usize = 1_400;

/// In a short brief, this is added to the rank of facts that must come after the goal, the state, the failures and the
/// files.
const ADDED_RANK_IF_NOT_ROOMY: u32 = 40;

/// In a short brief, the difference in rank between one fact about the state and the next. With this value, the git
/// state and the last message come before most files, and the todo list comes after the edited files.
const STATE_STEP_IF_SHORT: u32 = 7;

/// In a long brief, the difference in rank between one form of the goal and the next longer form.
const ADDED_RANK_OF_LONGER_GOAL: u32 = 10;

#[derive(Clone, Copy, Debug)]
pub(super) struct FixedOrder {
    /// The number of files that are ranked as likely to be needed.
    likely_files: usize,
    is_roomy: bool,
}

impl FixedOrder {
    /// Determines how many files are ranked as likely to be needed: one for every 60 UTF-16 units of room, after
    /// reserving 300 units for the goal, the state and the failures. `likely` is the number of files that the session
    /// probably needs. If it is large, the session covers a wide area, so a few more files are ranked as likely.
    pub fn fixed_order_for_brief_room(room: usize, likely: usize) -> FixedOrder {
        let fitting = room.saturating_sub(300) / 60;
        let many = likely.saturating_sub(9) / 3;
        let hardly = room.saturating_sub(MIN_ROOMY_BRIEF_UNITS) / 70;
        FixedOrder {
            likely_files: (fitting + many).min(likely + hardly),
            is_roomy: room > MIN_ROOMY_BRIEF_UNITS,
        }
    }

    /// Returns the rank of a form. Lower ranks come first. `form` is 0 for the shortest form.
    pub fn rank_of_form(self, candidate: &Candidate, form: usize) -> u32 {
        let (mut base, mut step, mut longer) = rank_steps_of_class(candidate.class);
        // In a long brief, the longer forms of the goal come before the facts that explain the goal.
        if candidate.class == FactClass::Goal && self.is_roomy {
            longer = ADDED_RANK_OF_LONGER_GOAL;
        }
        if candidate.class == FactClass::State && !self.is_roomy {
            step = STATE_STEP_IF_SHORT;
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
            base += ADDED_RANK_IF_NOT_ROOMY;
        }
        if candidate.is_late {
            base += ADDED_RANK_OF_LATE_FACT;
        }
        if form > 0 && !self.is_roomy {
            base += ADDED_RANK_OF_LONGER_FORM_IF_SHORT;
        }
        let times = |step: u32, n: usize| step.saturating_mul(u32::try_from(n).unwrap_or(u32::MAX));
        let (place, unlikely) = match candidate.class {
            // The warning about work at risk refers to these files, so they come early.
            FactClass::Edited if candidate.position_in_class < EARLY_EDITED_FILES => {
                (candidate.position_in_class.min(self.first_files()), 0)
            }
            FactClass::Edited | FactClass::Read if candidate.position_in_class >= self.likely_files => {
                (candidate.position_in_class, ADDED_RANK_OF_UNLIKELY_FILE)
            }
            _ => (candidate.position_in_class, 0),
        };
        // A long brief does not use the terse first form, so the second form takes its rank.
        let form = form - usize::from(candidate.has_terse_form && self.is_roomy && form > 0);
        let place = times(step, place).saturating_add(times(longer, form));
        base.saturating_add(place).saturating_add(unlikely)
    }

    /// Returns the rank with a small fraction that separates edited files of equal rank.
    pub fn exact_rank(self, candidate: &Candidate, form: usize) -> f64 {
        let shares_rank = candidate.class == FactClass::Edited
            && (self.first_files()..EARLY_EDITED_FILES).contains(&candidate.position_in_class);
        let within = if shares_rank { candidate.position_in_class as f64 } else { 0.0 };
        f64::from(self.rank_of_form(candidate, form)) + within / 10_000.0
    }

    fn first_files(self) -> usize {
        if self.is_roomy { EDITED_FILES_WITH_OWN_RANK } else { RANKED_FIRST_FILES_IF_SHORT }
    }

    /// Sorts by rank. Ties are broken by class, in section order, then by the order in which the candidates were
    /// gathered.
    pub fn sort_by_rank(self, candidates: &mut [Candidate]) {
        candidates.sort_by(|a, b| {
            let ranks = self.exact_rank(a, 0).total_cmp(&self.exact_rank(b, 0));
            ranks.then(a.class.cmp(&b.class))
        });
    }
}
