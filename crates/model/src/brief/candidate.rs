//! Facts that a brief could contain, before the choice is made.

/// One fact that a brief can contain.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The same fact has the same id in every brief: `file:src/a.rs`, `loop:nightly`. The id records what was told.
    pub id: String,
    pub class: Class,
    /// Its position within its class, best first.
    pub place: usize,
    /// A file's folder; files of one folder are listed together.
    pub folder: Option<String>,
    /// The same fact in several lengths, shortest first. Never empty. Rendered, so that nothing in it can be taken
    /// for markup.
    pub forms: Vec<String>,
    /// Texts that show that a summary already contains this fact. If empty, the fact is added to any summary.
    pub known_by: Vec<String>,
}

impl Candidate {
    /// A fact from a feature's records, which comes before facts from the session itself.
    pub fn new(section: &'static Section, id: impl Into<String>, text: impl Into<String>) -> Candidate {
        Candidate::of(Class::First(section), id.into(), vec![text.into()])
    }

    /// Longer text, included if room is left; shortest form first.
    pub fn appended(section: &'static Section, id: impl Into<String>, forms: Vec<String>) -> Candidate {
        Candidate::of(Class::Last(section), id.into(), forms)
    }

    pub(super) fn of(class: Class, id: String, forms: Vec<String>) -> Candidate {
        Candidate { id, class, place: 0, folder: None, forms, known_by: Vec::new() }
    }
}

/// A part of the brief that features fill. Several features may fill one section; it is printed once.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Section {
    /// Among the sections of features, lower numbers are printed and chosen first.
    pub order: u32,
    /// How much later the longer forms are chosen.
    pub longer: u32,
    /// Its name in `thru brief --explain` and in JSON.
    pub name: &'static str,
    pub title: &'static str,
}

/// The class of a fact. The order is the order in a brief.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Work that would be lost, and errors in a summary.
    Risk,
    First(&'static Section),
    /// What is wanted now.
    Goal,
    /// The user's words that would be lost.
    Words,
    /// Effects on the outside world.
    Outside,
    /// The current state.
    State,
    /// Found, decided, done.
    Done,
    /// The project's checks, with their results.
    Checks,
    Failing,
    /// Failures that will happen again, with what worked instead.
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
    /// Files, by folder.
    Folders,
    /// All on one line.
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

    pub(super) fn name(self) -> &'static str {
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
