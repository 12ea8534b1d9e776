//! What happened, in words that belong to no harness. Adapters decode into this; the engine sees nothing else.

mod name;

use std::borrow::Cow;

pub use name::{EventName, EventSet};

type Text<'a> = Cow<'a, str>;

#[derive(Clone, Debug, PartialEq)]
pub struct Event<'a> {
    pub session: Text<'a>,
    /// The harness's id of this prompt or summary, where it gives one.
    pub id: Option<Text<'a>>,
    /// The payload broke off: there is more that we do not know.
    pub torn: bool,
    /// The session this one goes on from, where a harness gives it a new id (Droid, after a compaction).
    pub previous: Option<Text<'a>>,
    pub cwd: Option<Text<'a>>,
    pub transcript: Option<Text<'a>>,
    /// Set when a sub-agent did it, not the main agent.
    pub agent: Option<Agent<'a>>,
    pub kind: Kind<'a>,
}

impl Event<'_> {
    /// A fork has all it goes on from in its own transcript: its parent may go on too, with its records, role and loop.
    pub fn on_its_own_if_forked(self) -> Self {
        match self.kind {
            Kind::SessionStart { source: Source::Fork } => Event { previous: None, ..self },
            _ => self,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Agent<'a> {
    pub id: Text<'a>,
    pub kind: Text<'a>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Kind<'a> {
    SessionStart {
        source: Source,
    },
    Prompt {
        text: Text<'a>,
    },
    ToolDone(Box<ToolDone<'a>>),
    BeforeCompact {
        trigger: Option<Text<'a>>,
        /// What the user wants the summary to keep.
        instructions: Option<Text<'a>>,
    },
    /// The harness's own summary of what it is about to forget.
    Summary {
        text: Text<'a>,
    },
    AfterCompact {
        trigger: Option<Text<'a>>,
    },
    SubagentStart,
    SubagentStop {
        message: Option<Text<'a>>,
    },
    Stop(Stop<'a>),
    SessionEnd {
        reason: Option<Text<'a>>,
    },
    /// Well-formed, and nothing we act on. Journalled by its own name.
    Other {
        name: Text<'a>,
    },
}

/// The main agent has nothing more to do, for now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stop<'a> {
    /// The last thing the agent said, where the payload has it.
    pub message: Option<Text<'a>>,
    /// The harness's id of that message, and of the prompt it answers.
    pub id: Option<Text<'a>>,
    pub prompt: Option<Text<'a>>,
    /// Whether no stop hook has sent it on since the user spoke.
    pub first: Option<bool>,
    /// Sub-agents that go on in the background.
    pub agents: usize,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolDone<'a> {
    pub tool: Text<'a>,
    /// The harness's id of this one call: what makes a repeated hook count once.
    pub id: Option<Text<'a>>,
    pub files: Vec<Touched<'a>>,
    pub command: Option<Text<'a>>,
    /// What a command printed, if it may be a test run or reach outside; what a tool that reaches outside gave back.
    pub output: Option<Text<'a>>,
    /// What a tool that reaches outside was given: a title, or the first words of a text.
    pub asked: Option<Text<'a>>,
    /// What a failed call said, whole.
    pub error: Option<Text<'a>>,
    pub todos: Option<TodoChange<'a>>,
    /// Questions put to the user, and what they answered.
    pub answers: Vec<Answer<'a>>,
    pub exit: Option<i64>,
    pub failed: bool,
    pub ms: Option<u64>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Touched<'a> {
    pub path: Text<'a>,
    pub action: Action,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    Create,
    Edit,
    Read,
    Delete,
    /// Named, nothing more is known.
    Mention,
}

/// What a call did to the harness's own list of things to do.
#[derive(Clone, Debug, PartialEq)]
pub enum TodoChange<'a> {
    /// The whole list, as it is now.
    All(Vec<Todo<'a>>),
    /// One entry, by its id: new, or changed in what is not None.
    One { id: Text<'a>, text: Option<Text<'a>>, status: Option<TodoStatus> },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Todo<'a> {
    pub text: Text<'a>,
    pub status: TodoStatus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    Pending,
    InProgress,
    Completed,
    Deleted,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Answer<'a> {
    pub question: Text<'a>,
    pub answer: Text<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    Startup,
    Resume,
    Clear,
    Compact,
    Fork,
    /// A source this build does not know. Treated as the most careful one: nothing is restored.
    Unknown,
}

impl Kind<'_> {
    pub fn event_name(&self) -> EventName {
        match self {
            Kind::SessionStart { .. } => EventName::SessionStart,
            Kind::Prompt { .. } => EventName::Prompt,
            Kind::ToolDone(_) => EventName::ToolDone,
            Kind::BeforeCompact { .. } => EventName::BeforeCompact,
            Kind::Summary { .. } => EventName::Summary,
            Kind::AfterCompact { .. } => EventName::AfterCompact,
            Kind::SubagentStart => EventName::SubagentStart,
            Kind::SubagentStop { .. } => EventName::SubagentStop,
            Kind::Stop(_) => EventName::Stop,
            Kind::SessionEnd { .. } => EventName::SessionEnd,
            Kind::Other { .. } => EventName::Other,
        }
    }

    /// The neutral name, as journals, receipts and `thru hook` have it.
    pub fn name(&self) -> &'static str {
        self.event_name().name()
    }
}

impl TodoStatus {
    /// Unknown words mean open: better named once too often than forgotten.
    pub fn parse(text: &str) -> TodoStatus {
        match text {
            "completed" | "done" | "x" => TodoStatus::Completed,
            "in_progress" | "in-progress" | "active" => TodoStatus::InProgress,
            "deleted" | "cancelled" => TodoStatus::Deleted,
            _ => TodoStatus::Pending,
        }
    }

    pub fn is_open(self) -> bool {
        matches!(self, TodoStatus::Pending | TodoStatus::InProgress)
    }
}

impl Source {
    pub fn parse(text: &str) -> Source {
        match text {
            "startup" => Source::Startup,
            "resume" => Source::Resume,
            "clear" => Source::Clear,
            "compact" => Source::Compact,
            "fork" => Source::Fork,
            _ => Source::Unknown,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Source::Startup => "startup",
            Source::Resume => "resume",
            Source::Clear => "clear",
            Source::Compact => "compact",
            Source::Fork => "fork",
            Source::Unknown => "unknown",
        }
    }
}
