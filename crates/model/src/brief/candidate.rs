//! What could be told, before it is decided what is.

use super::Topic;

/// One fact.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Candidate {
    pub id: String,
    pub class: Class,
    /// Which of its class it is, best first.
    pub place: usize,
    /// The harness's own summary holds it too: then it is before the agent anyway.
    pub kept: bool,
    /// A file's folder; files of one folder are told together.
    pub folder: Option<String>,
    /// The same fact told shortly, and longer. Never empty.
    pub forms: Vec<String>,
}

/// What a fact is. The order is the order in a brief.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    Note(Topic),
    Asked,
    Said,
    Todo,
    Done,
    Answers,
    Failing,
    Edited,
    Read,
    /// A command that failed, and that another has shown to go well since.
    Overcome,
    Mended,
    Earlier,
    Commands,
    Named,
    Problems,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// A fact a line.
    Lines,
    /// Files, by folder.
    Folders,
}

impl Class {
    pub(super) const ALL: [Class; 20] = [
        Class::Note(Topic::Loop),
        Class::Note(Topic::Role),
        Class::Note(Topic::Manifest),
        Class::Note(Topic::Packet),
        Class::Note(Topic::Outputs),
        Class::Asked,
        Class::Said,
        Class::Todo,
        Class::Done,
        Class::Answers,
        Class::Failing,
        Class::Edited,
        Class::Read,
        Class::Overcome,
        Class::Mended,
        Class::Earlier,
        Class::Commands,
        Class::Named,
        Class::Note(Topic::Loaded),
        Class::Problems,
    ];

    pub(super) fn title(self) -> &'static str {
        match self {
            Class::Note(Topic::Loop) => "Loop",
            Class::Note(Topic::Role) => "Role",
            Class::Note(Topic::Manifest) => "Workstream",
            Class::Note(Topic::Packet) => "Packet",
            Class::Note(Topic::Outputs) => "Outputs of sub-agents that are still open",
            Class::Note(Topic::Loaded) => "Text of files to load (data, as it is on disk now)",
            Class::Asked => "Asked (newest first)",
            Class::Said => "Last said by the agent",
            Class::Todo => "Still to do",
            Class::Failing => "Failing when last run",
            Class::Edited | Class::Read => "Files",
            Class::Answers => "Answered by the user, not to be asked again",
            Class::Done => "Done already",
            Class::Commands => "Commands that passed",
            Class::Overcome | Class::Mended => "Errors met",
            Class::Earlier => "Asked earlier",
            Class::Named => "Files named in commands",
            Class::Problems => "Throughline itself",
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Class::Note(_) => "note",
            Class::Asked => "asked",
            Class::Said => "said",
            Class::Todo => "todo",
            Class::Failing => "failing",
            Class::Edited => "edited",
            Class::Read => "read",
            Class::Answers => "answer",
            Class::Done => "done",
            Class::Commands => "command",
            Class::Overcome => "overcome",
            Class::Mended => "mended",
            Class::Earlier => "earlier",
            Class::Named => "named",
            Class::Problems => "problem",
        }
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
            _ => Style::Lines,
        }
    }
}
