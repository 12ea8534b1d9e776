//! Decides what fits, by rank: a fact in its shortest form first, and longer forms later. Facts that do not fit are
//! skipped and counted.

use std::collections::BTreeSet;

use super::candidate::{Candidate, Class, Style};
use super::order::Order;
use crate::render::width;

/// Which form of each candidate is used, if any.
#[derive(Debug, Default)]
pub(super) struct Choice {
    pub forms: Vec<Option<usize>>,
}

impl Choice {
    pub fn is_anything(&self) -> bool {
        self.forms.iter().any(Option::is_some)
    }

    pub fn is_everything(&self) -> bool {
        self.forms.iter().all(Option::is_some)
    }
}

pub(super) fn choose(candidates: &[Candidate], order: Order, room: usize) -> Choice {
    let mut queue: Vec<(u32, usize, usize)> = Vec::new();
    for (i, candidate) in candidates.iter().enumerate() {
        queue.extend((0..candidate.forms.len()).map(|form| (order.rank(candidate, form), i, form)));
    }
    // The candidates are in order; a longer form of an earlier one goes before others of the same rank.
    queue.sort_unstable();
    let mut left = room;
    let mut opened = Opened::default();
    let mut forms: Vec<Option<usize>> = vec![None; candidates.len()];
    for (_, i, form) in queue {
        let candidate = &candidates[i];
        let cost = match forms[i] {
            None if form > 0 => continue,
            None => own_cost(candidate, 0) + opened.cost(candidate),
            Some(shorter) => own_cost(candidate, form).saturating_sub(own_cost(candidate, shorter)),
        };
        if cost <= left {
            left -= cost;
            opened.add(candidate);
            forms[i] = Some(form);
        }
    }
    Choice { forms }
}

/// Headers that the first fact of a kind pays for: a section's title, a folder's name, and in a folder the words
/// "edited" and "read".
#[derive(Default)]
struct Opened<'c> {
    titles: BTreeSet<&'static str>,
    folders: BTreeSet<(&'static str, &'c str)>,
    verbs: BTreeSet<(Class, &'c str)>,
}

impl<'c> Opened<'c> {
    fn cost(&self, candidate: &'c Candidate) -> usize {
        let (class, title) = (candidate.class, candidate.class.title());
        // A line of its own for all that stand on one.
        let line = if class.style() == Style::Inline { 1 } else { 0 };
        let mut cost = if self.titles.contains(title) { 0 } else { width(title) + 2 + line };
        if let Some(folder) = candidate.folder.as_deref() {
            cost += if self.folders.contains(&(title, folder)) { 0 } else { width(folder) + 5 };
            cost += if self.verbs.contains(&(class, folder)) { 0 } else { width(class.verb()) };
        }
        cost
    }

    fn add(&mut self, candidate: &'c Candidate) {
        let (class, title) = (candidate.class, candidate.class.title());
        self.titles.insert(title);
        if let Some(folder) = candidate.folder.as_deref() {
            self.folders.insert((title, folder));
            self.verbs.insert((class, folder));
        }
    }
}

/// Returns the size of a candidate, without the headers of its section and folder.
fn own_cost(candidate: &Candidate, form: usize) -> usize {
    let around = match candidate.class.style() {
        Style::Lines => 3,
        Style::Folders | Style::Inline => 2,
    };
    width(&candidate.forms[form]) + around
}
