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
mod ranking;
mod sections;

use serde::Serialize;

use crate::digest::Digest;
use crate::profile::Profile;
use crate::render::width;
use crate::score::{Part, Scoring};
use crate::tokens::{Ratios, TextKind, rounded_up};

use budget::{Budget, Choice, Refused, choose};
pub use candidate::{Candidate, Class, Measure, Section, Signals};
pub use effects::contradictions;
use order::Order;
pub use print::{file_text, has_compaction_brief};
use ranking::{Ranked, rank};
pub(crate) use sections::done::says_more;

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
    /// How they are ranked; `None` for the fixed order.
    pub scoring: Option<&'a Scoring>,
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
    /// Of the text, estimated.
    pub tokens: usize,
    /// Every candidate, in the order in which they were considered.
    pub rows: Vec<Row>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// A stable id: `file:src/a.rs`, `command:cargo test`, `prompt:12`.
    pub id: String,
    pub class: &'static str,
    /// Its place in the order that is used, from 1.
    pub position: usize,
    /// Its rank in the fixed order, lower first.
    pub rank: u32,
    /// UTF-16 units of the form that was used, or of the shortest.
    pub chars: usize,
    pub kind: TextKind,
    pub tokens: usize,
    /// Only where scoring is on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    pub priority: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_hours: Option<f64>,
    pub signals: Vec<Part>,
    pub taken: bool,
    pub why: String,
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

/// Composes what a sub-agent is given: what its profile contains, at most `cap` UTF-16 units long.
pub fn compose_for(profile: &Profile, material: &Material, cap: usize) -> Option<Brief> {
    let mut candidates = gather::candidates(material);
    profile.choose(&mut candidates);
    let draft = Draft::with(print::head_for(profile.name), candidates, material, cap);
    Some(Brief { text: draft.text()?, told: draft.told() })
}

/// Composes the same brief and returns every candidate that was considered.
pub fn explain(material: &Material, cap: usize) -> Explained {
    let draft = Draft::of(material, cap);
    let rows = (0..draft.ranked.candidates.len()).map(|i| draft.row(i, material.scoring)).collect();
    let text = draft.text();
    let tokens = match material.scoring {
        // Every text counts the same, headers and all.
        None => Ratios::UNIFORM.tokens(TextKind::Prose, text.as_deref().map_or(0, width)),
        Some(_) if text.is_none() => 0,
        Some(_) => rounded_up(draft.choice.tokens + draft.frame),
    };
    Explained { rows, text, tokens }
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
    let ranked = rank(candidates, order, None);
    let choice = choose(&ranked, Budget { chars: cap, tokens: None, ratios: Ratios::UNIFORM });
    let taken = ranked.candidates.iter().zip(&choice.forms).filter_map(|(candidate, form)| {
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
    ranked: Ranked,
    order: Order,
    choice: Choice,
    /// The tokens of the head and of the line about omissions.
    frame: f64,
}

impl Draft {
    fn of(material: &Material, cap: usize) -> Draft {
        Draft::with(print::head(material), gather::candidates(material), material, cap)
    }

    fn with(head: String, candidates: Vec<Candidate>, material: &Material, cap: usize) -> Draft {
        let room = cap.saturating_sub(width(&head));
        let order = Order::within(room, material.digest.likely_files());
        let ranked = rank(candidates, order, material.scoring);
        let ratios = material.scoring.map_or(Ratios::UNIFORM, |scoring| scoring.ratios);
        let frame = |tail: usize| (width(&head) + tail) as f64 * ratios.prose;
        let budget = |tail: usize| Budget {
            chars: room.saturating_sub(tail),
            tokens: material.scoring.map(|scoring| scoring.max_tokens as f64 - frame(tail)),
            ratios,
        };
        let mut choice = choose(&ranked, budget(0));
        let mut tail = 0;
        // Reserve room for the line about omissions only if something is left out.
        if !choice.is_everything() {
            tail = TAIL;
            choice = choose(&ranked, budget(tail));
        }
        let frame = frame(tail);
        Draft { head, ranked, order, choice, frame }
    }

    fn told(&self) -> Vec<String> {
        let taken = self.ranked.candidates.iter().zip(&self.choice.forms).filter(|(_, form)| form.is_some());
        taken.map(|(candidate, _)| candidate.id.clone()).collect()
    }

    fn text(&self) -> Option<String> {
        self.choice.is_anything().then(|| print::print(&self.head, &self.ranked.candidates, &self.choice))
    }

    fn row(&self, i: usize, scoring: Option<&Scoring>) -> Row {
        let (candidate, form) = (&self.ranked.candidates[i], self.choice.forms[i]);
        let text = candidate.forms[form.unwrap_or(0)].clone();
        let chars = width(&text);
        let score = self.ranked.scores.get(i);
        let ratios = scoring.map_or(Ratios::UNIFORM, |scoring| scoring.ratios);
        Row {
            text,
            id: candidate.id.clone(),
            class: candidate.class.name(),
            position: i + 1,
            rank: self.order.rank(candidate, 0),
            chars,
            kind: candidate.text_kind,
            tokens: ratios.tokens(candidate.text_kind, chars),
            score: score.map(|score| score.value),
            priority: candidate.class.priority(),
            depth: candidate.signals.depth,
            age_hours: candidate.signals.age_hours,
            signals: score.map_or(Vec::new(), |score| score.parts.clone()),
            taken: form.is_some(),
            why: self.why(i, scoring),
        }
    }

    /// Why a candidate is in or out.
    fn why(&self, i: usize, scoring: Option<&Scoring>) -> String {
        let forms = self.ranked.candidates[i].forms.len();
        match (self.choice.forms[i], self.choice.refused[i]) {
            (Some(form), _) if form + 1 == forms => "in full".to_owned(),
            (Some(form), _) => format!("short: form {} of {forms}", form + 1),
            (None, Some(Refused::Chars { needed, left })) => {
                format!("no room: it takes {needed} characters, {left} were left")
            }
            (None, Some(Refused::Tokens { needed, left })) => {
                format!("no tokens: it takes {}, {} were left", rounded_up(needed), left.max(0.0) as usize)
            }
            (None, Some(Refused::TooMany) | None) => {
                let most = scoring.map_or(0, |scoring| scoring.max_candidates);
                format!("not among the first {most} candidates")
            }
        }
    }
}

#[cfg(test)]
#[path = "brief_tests.rs"]
mod tests;
