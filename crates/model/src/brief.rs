//! The brief: the facts an agent needs to continue, within a budget.
//!
//! Gathers candidates, orders them, takes the first that fit and prints them section by section. The same records
//! give the same bytes.

mod beside;
mod budget;
mod candidate;
mod effects;
mod gather;
mod order;
mod paths;
mod print;
mod sections;

use serde::Serialize;

use crate::digest::Digest;
use crate::render::width;

use budget::{Choice, choose};
pub use candidate::{Candidate, Class, Section};
pub use effects::contradictions;
use order::Order;
pub use print::file_text;

/// Why a brief is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// The context window was compacted, and the session continues.
    Compacted,
    /// The session was resumed, and the agent knows nothing about it.
    Resumed,
    /// The session was resumed with its whole conversation, so only changes since then are news.
    Replayed,
    /// A new session, in a project that had one before.
    Started,
    /// A person asked for the brief; nothing has happened to the session.
    Asked,
}

/// Everything a brief can draw on.
#[derive(Clone, Copy, Debug)]
pub struct Material<'a> {
    pub occasion: Occasion,
    /// The earlier session: this one's own past, or at a start the last session.
    pub digest: &'a Digest,
    /// Problems with hooks since the last report.
    pub problems: &'a [String],
    /// Files that no longer exist.
    pub gone: &'a [String],
    /// Candidates from features.
    pub records: &'a [Candidate],
}

impl<'a> Material<'a> {
    /// Returns the harness's summary if the agent can see it, otherwise an empty text.
    fn summary(&self) -> &'a str {
        match self.occasion {
            Occasion::Compacted => self.digest.fresh_summary(),
            Occasion::Resumed | Occasion::Replayed | Occasion::Started | Occasion::Asked => "",
        }
    }
}

/// A brief, and which candidates it contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brief {
    pub text: String,
    pub told: Vec<String>,
}

/// A brief, and why it contains what it contains.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explained {
    /// `None` if there is nothing to say.
    pub text: Option<String>,
    /// Every candidate, in the order in which they were considered.
    pub rows: Vec<Row>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// A stable id: `file:src/a.rs`, `command:cargo test`, `prompt:12`.
    pub id: String,
    pub class: &'static str,
    pub rank: u32,
    /// UTF-16 units of the form that was used, or of the shortest.
    pub chars: usize,
    pub tokens: usize,
    pub taken: bool,
    /// That form.
    pub text: String,
}

/// Room reserved for the line that says what was left out.
const TAIL: usize = 84;

/// Composes the brief, at most `cap` UTF-16 units long; `None` if there is nothing to say.
pub fn compose(material: &Material, cap: usize) -> Option<Brief> {
    let draft = Draft::of(material, cap);
    Some(Brief { text: draft.text()?, told: draft.told() })
}

/// Composes the same brief and returns every candidate that was considered.
pub fn explain(material: &Material, cap: usize) -> Explained {
    let draft = Draft::of(material, cap);
    let row = |(candidate, form): (&Candidate, &Option<usize>)| {
        let text = candidate.forms[form.unwrap_or(0)].clone();
        let chars = width(&text);
        Row {
            text,
            id: candidate.id.clone(),
            class: candidate.class.name(),
            rank: draft.order.rank(candidate, 0),
            chars,
            tokens: tokens(chars),
            taken: form.is_some(),
        }
    };
    Explained {
        rows: draft.candidates.iter().zip(&draft.choice.forms).map(row).collect(),
        text: draft.text(),
    }
}

/// One fact as a brief states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    pub class: Class,
    pub id: String,
    pub text: String,
}

/// Returns the facts of a brief for a stranger within `cap`, in order but without files. For a packet, which has the
/// same facts under its own headings and lists files with the reasons they matter.
pub fn facts(material: &Material, cap: usize) -> Vec<Fact> {
    let mut candidates = gather::candidates(material);
    candidates.retain(|candidate| !candidate.class.is_file());
    let order = Order::within(cap, material.digest.likely_files());
    order.sort(&mut candidates);
    let choice = choose(&candidates, order, cap);
    let taken = candidates.iter().zip(&choice.forms).filter_map(|(candidate, form)| {
        let Candidate { class, id, forms, .. } = candidate;
        Some(Fact { class: *class, id: id.clone(), text: forms[(*form)?].clone() })
    });
    let mut facts: Vec<Fact> = taken.collect();
    facts.sort_by_key(|fact| fact.class);
    facts
}

/// Returns the last calls after the agent's last words, in a few words each, oldest first.
pub fn last_steps(digest: &Digest, most: usize) -> Vec<String> {
    let mut steps = sections::state::steps(digest.steps_since_said());
    steps.split_off(steps.len().saturating_sub(most))
}

/// The candidates that were gathered, ordered and chosen.
struct Draft {
    head: String,
    candidates: Vec<Candidate>,
    order: Order,
    choice: Choice,
}

impl Draft {
    fn of(material: &Material, cap: usize) -> Draft {
        let head = print::head(material);
        let room = cap.saturating_sub(width(&head));
        let mut candidates = gather::candidates(material);
        let order = Order::within(room, material.digest.likely_files());
        order.sort(&mut candidates);
        let mut choice = choose(&candidates, order, room);
        // Reserve room for the line about omissions only if something is left out.
        if !choice.is_everything() {
            choice = choose(&candidates, order, room.saturating_sub(TAIL));
        }
        Draft { head, candidates, order, choice }
    }

    fn told(&self) -> Vec<String> {
        let taken = self.candidates.iter().zip(&self.choice.forms).filter(|(_, form)| form.is_some());
        taken.map(|(candidate, _)| candidate.id.clone()).collect()
    }

    fn text(&self) -> Option<String> {
        self.choice.is_anything().then(|| print::print(&self.head, &self.candidates, &self.choice))
    }
}

/// Converts characters to tokens. With scoring off all text counts the same.
pub fn tokens(chars: usize) -> usize {
    (chars * 33).div_ceil(100)
}

pub fn chars(tokens: usize) -> usize {
    tokens.saturating_mul(100) / 33
}

#[cfg(test)]
#[path = "brief_tests.rs"]
mod tests;
