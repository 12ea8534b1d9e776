//! A fact that a brief could contain, and its class.

use crate::score::Signal;
use crate::tokens::TextKind;

/// One fact that a brief can contain.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The same fact has the same id in every brief: `file:src/a.rs`, `loop:nightly`. Records of what an agent was told
    /// use it.
    pub id: String,
    pub class: Class,
    /// The position within its class; 0 is the best.
    pub place: usize,
    /// The folder of a file; files of one folder are listed together.
    pub folder: Option<String>,
    /// The same fact in several lengths, shortest first. Never empty. Rendered, so that nothing in it can be taken
    /// for markup.
    pub forms: Vec<String>,
    /// Texts that show that a summary already contains this fact. If empty, the fact is added to any summary.
    pub known_by: Vec<String>,
    pub text_kind: TextKind,
    pub signals: Signals,
}

/// How important a feature says a fact is. Used only if briefs are ranked by score.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Signals {
    /// If empty, the fact has the signal of its class, with its standing as the value.
    pub given: Vec<(Signal, Measure)>,
    /// How many dependencies a task is away from the current one; `None` for other facts.
    pub depth: Option<u32>,
    /// The age of a decision; `None` for other facts.
    pub age_hours: Option<f64>,
}

/// The value of a signal, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measure {
    Exactly(f64),
    /// This share of the candidate's standing in the fixed order.
    OfStanding(f64),
}

impl Candidate {
    /// Makes a candidate from a feature's records. It comes before the facts from the session itself.
    pub fn new(section: &'static Section, id: impl Into<String>, text: impl Into<String>) -> Candidate {
        Candidate::of(Class::First(section), id.into(), vec![text.into()])
    }

    /// Makes a candidate that is printed after the session's own facts. `forms` are its texts, shortest first. It is
    /// included if room is left.
    pub fn appended(section: &'static Section, id: impl Into<String>, forms: Vec<String>) -> Candidate {
        Candidate::of(Class::Last(section), id.into(), forms)
    }

    pub(super) fn of(class: Class, id: String, forms: Vec<String>) -> Candidate {
        Candidate {
            id,
            class,
            place: 0,
            folder: None,
            forms,
            known_by: Vec::new(),
            text_kind: class.text_kind(),
            signals: Signals::default(),
        }
    }

    /// Adds a signal with this value.
    pub fn with(mut self, signal: Signal, value: f64) -> Candidate {
        self.signals.given.push((signal, Measure::Exactly(value)));
        self
    }
}

/// A part of the brief that features fill. Several features may fill one section; it is printed once.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Section {
    /// The position among the sections of features; the lowest is printed and chosen first.
    pub order: u32,
    /// How much the rank of a longer form grows.
    pub longer: u32,
    /// The name in `thru brief --explain` and in JSON.
    pub name: &'static str,
    pub title: &'static str,
    /// The signal of facts that have none of their own.
    pub signal: Signal,
}

/// The class of a fact. The variants are in the order of a brief.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Work that would be lost, and errors in the summary.
    Risk,
    First(&'static Section),
    /// What the user wants now.
    Goal,
    /// Words of the user that would be lost.
    Words,
    /// Effects on the outside world.
    Outside,
    /// The current state.
    State,
    /// What was found, decided and done.
    Done,
    /// The project's checks, with their results.
    Checks,
    Failing,
    /// Failures that will happen again, each with what worked instead.
    Traps,
    Edited,
    Read,
    Commands,
    Earlier,
    Named,
    Last(&'static Section),
    Problems,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// One fact per line.
    Lines,
    /// Files, grouped by folder.
    Folders,
    /// All facts on one line.
    Inline,
}

impl Class {
    pub(crate) fn title(self) -> &'static str {
        match self {
            Class::First(section) | Class::Last(section) => section.title,
            Class::Risk => "At risk",
            Class::Outside => "Done to the outside world, not to be done again",
            Class::Goal => "Goal",
            Class::Words => "The user's words",
            Class::State => "Where it stands",
            Class::Done => "Found, decided, done (newest first)",
            Class::Checks => "Checks",
            Class::Failing => "Failing",
            Class::Traps => "Traps",
            Class::Edited | Class::Read => "Files",
            Class::Commands => "Other commands",
            Class::Earlier => "Also asked before, newest first",
            Class::Named => "Files named in commands",
            Class::Problems => "Throughline itself",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Class::First(section) | Class::Last(section) => section.name,
            Class::Risk => "at-risk",
            Class::Outside => "outside",
            Class::Goal => "goal",
            Class::Words => "words",
            Class::State => "state",
            Class::Done => "done",
            Class::Checks => "check",
            Class::Failing => "failing",
            Class::Traps => "trap",
            Class::Edited => "edited",
            Class::Read => "read",
            Class::Commands => "command",
            Class::Earlier => "earlier",
            Class::Named => "named",
            Class::Problems => "problem",
        }
    }

    /// Returns the signal of facts that have none of their own.
    pub(super) fn signal(self) -> Signal {
        match self {
            Class::First(section) | Class::Last(section) => section.signal,
            Class::Risk => Signal::Risk,
            Class::Outside => Signal::Effects,
            Class::Goal | Class::Words | Class::Earlier => Signal::Prompts,
            Class::State => Signal::State,
            Class::Done => Signal::Statements,
            Class::Failing => Signal::RecentFailure,
            Class::Checks | Class::Traps | Class::Commands => Signal::Commands,
            Class::Edited | Class::Read | Class::Named => Signal::Files,
            Class::Problems => Signal::Problems,
        }
    }

    /// Returns the priority, which orders facts with the same score: the highest comes first, in the order of a brief.
    pub(super) fn priority(self) -> u32 {
        match self {
            Class::Risk => 16,
            Class::First(_) => 15,
            Class::Goal => 14,
            Class::Words => 13,
            Class::Outside => 12,
            Class::State => 11,
            Class::Done => 10,
            Class::Checks => 9,
            Class::Failing => 8,
            Class::Traps => 7,
            Class::Edited => 6,
            Class::Read => 5,
            Class::Commands => 4,
            Class::Earlier => 3,
            Class::Named => 2,
            Class::Last(_) => 1,
            Class::Problems => 0,
        }
    }

    fn text_kind(self) -> TextKind {
        match self {
            Class::Failing | Class::Checks | Class::Traps | Class::Commands => TextKind::Code,
            Class::Edited | Class::Read | Class::Named => TextKind::Code,
            Class::Risk
            | Class::First(_)
            | Class::Last(_)
            | Class::Goal
            | Class::Words
            | Class::Outside
            | Class::State
            | Class::Done
            | Class::Earlier
            | Class::Problems => TextKind::Prose,
        }
    }

    pub(crate) fn is_file(self) -> bool {
        matches!(self, Class::Edited | Class::Read | Class::Named)
    }

    /// The word before a file's name.
    pub(super) fn verb(self) -> &'static str {
        match self {
            Class::Edited => "edited ",
            Class::Read => "read ",
            _ => "",
        }
    }

    pub(super) fn style(self) -> Style {
        match self {
            Class::Edited | Class::Read | Class::Named => Style::Folders,
            Class::Earlier => Style::Inline,
            _ => Style::Lines,
        }
    }
}
