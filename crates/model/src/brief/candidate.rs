//! What could be told, before it is decided what is.

/// One fact that a brief can hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The same fact has the same id in every brief: `file:src/a.rs`, `loop:nightly`. What was told is known by it.
    pub id: String,
    pub class: Class,
    /// Which of its class it is, best first.
    pub place: usize,
    /// A file's folder; files of one folder are told together.
    pub folder: Option<String>,
    /// The same fact told shortly, and longer. Never empty. Rendered: nothing in it can be taken for markup.
    pub forms: Vec<String>,
    /// What a summary must hold for this fact to be before the agent anyway. Empty: it is told beside any summary.
    pub known_by: Vec<String>,
}

impl Candidate {
    /// A fact from a feature's records: told before what comes from the session itself.
    pub fn new(section: &'static Section, id: impl Into<String>, text: impl Into<String>) -> Candidate {
        Candidate::of(Class::First(section), id.into(), vec![text.into()])
    }

    /// Longer text, told where room is left; shortest form first.
    pub fn appended(section: &'static Section, id: impl Into<String>, forms: Vec<String>) -> Candidate {
        Candidate::of(Class::Last(section), id.into(), forms)
    }

    pub(super) fn of(class: Class, id: String, forms: Vec<String>) -> Candidate {
        Candidate { id, class, place: 0, folder: None, forms, known_by: Vec::new() }
    }
}

/// A part of the brief that a feature fills. Several features may fill one: it is printed once.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Section {
    /// Among the sections of features, lower numbers are printed first and taken first.
    pub order: u32,
    /// How much later a fact of it is told at greater length.
    pub longer: u32,
    /// In `thru brief --explain` and in JSON.
    pub name: &'static str,
    pub title: &'static str,
}

/// What a fact is. The order is the order in a brief.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Work that would be lost, and what a summary has wrong.
    Risk,
    First(&'static Section),
    /// What is wanted now.
    Goal,
    /// The user's words that would be lost.
    Words,
    /// Done to the outside world.
    Outside,
    /// Where it stands.
    State,
    /// Found, decided, done.
    Done,
    /// The project's checks, with how they ended.
    Checks,
    Failing,
    /// What went wrong and will again, with what worked.
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
    /// A fact a line.
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

    /// What is said of a file in front of its name.
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
