//! Events in neutral form. Adapters decode into these types, and the engine sees nothing else.

mod name;

use std::borrow::Cow;

pub use name::{EventName, EventSet};

use crate::transcript::TokenUsage;
use crate::window::ContextUse;

type Text<'a> = Cow<'a, str>;

#[derive(Clone, Debug, PartialEq)]
pub struct Event<'a> {
    pub session: Text<'a>,
    /// The harness's id of this prompt or summary, if it gives one.
    pub id: Option<Text<'a>>,
    /// True if the payload was truncated, so that some of it is unknown.
    pub torn: bool,
    /// The session that this one continues, if the harness gives it a new id (Droid, after a compaction).
    pub previous: Option<Text<'a>>,
    pub cwd: Option<Text<'a>>,
    pub transcript: Option<Text<'a>>,
    /// The sub-agent that the event comes from; `None` for the main agent.
    pub agent: Option<Agent<'a>>,
    pub kind: EventKind<'a>,
}

impl Event<'_> {
    /// Makes a forked session independent of its parent. A fork has its whole past in its own transcript, and the
    /// parent, which may continue too, keeps its records, role and loop.
    pub fn detach_if_forked(self) -> Self {
        match self.kind {
            EventKind::SessionStart { source: StartSource::Fork } => Event { previous: None, ..self },
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
pub enum EventKind<'a> {
    SessionStart {
        source: StartSource,
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
        /// What the sub-agent was called for, in a few words, if the payload says so.
        asked: Option<Text<'a>>,
    },
    Stop(StopEvent<'a>),
    SessionEnd {
        reason: Option<Text<'a>>,
    },
    /// A well-formed event that needs no action. It is recorded in the journal under its own name.
    Other {
        name: Text<'a>,
    },
}

/// The main agent stopped, and has nothing more to do for now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StopEvent<'a> {
    /// The agent's last words, if the payload has them.
    pub message: Option<Text<'a>>,
    /// The harness's id of that message.
    pub id: Option<Text<'a>>,
    pub prompt: Option<Text<'a>>,
    /// True if no stop hook has made the agent continue since the user's last prompt.
    pub first: Option<bool>,
    /// The number of sub-agents that continue in the background.
    pub agents: usize,
    /// What the turn cost, if the payload says so.
    pub usage: Option<TokenUsage<'a>>,
    /// How much of the context window the last request of the turn used, if the payload says so.
    pub window: Option<ContextUse>,
    /// True if the caller cannot wait for validators. If they must run, the caller is told to ask again.
    pub is_hasty: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolDone<'a> {
    pub tool: Text<'a>,
    /// The harness's id of this call, so that a repeated hook counts once.
    pub id: Option<Text<'a>>,
    pub files: Vec<TouchedFile<'a>>,
    pub command: Option<Text<'a>>,
    /// The output of a command that may be a test run or act on the outside world, or the result of a tool that acts on
    /// the outside world.
    pub output: Option<Text<'a>>,
    /// The input of a tool that acts on the outside world: a title, or the first words of a text.
    pub asked: Option<Text<'a>>,
    /// The whole error message of a failed call.
    pub error: Option<Text<'a>>,
    pub todos: Option<TodoChange<'a>>,
    /// Questions to the user, and the answers.
    pub answers: Vec<QuestionAnswer<'a>>,
    /// Work that was delegated to a sub-agent.
    pub delegated: Option<DelegatedWork<'a>>,
    /// A plan that was shown to the user. If the call succeeded, they approved it.
    pub plan: Option<Text<'a>>,
    /// The result as the harness wrote it, not parsed. Only the harness's adapter knows its form.
    pub result: &'a [u8],
    pub exit: Option<i64>,
    pub failed: bool,
    pub ms: Option<u64>,
}

/// What a sub-agent was asked, and its answer. The answer is empty while the sub-agent is working.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DelegatedWork<'a> {
    pub asked: Text<'a>,
    pub answer: Text<'a>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TouchedFile<'a> {
    pub path: Text<'a>,
    pub action: FileAction,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileAction {
    Create,
    Edit,
    Read,
    Delete,
    /// The file was only named.
    Mention,
}

/// What a call did to the harness's own todo list.
#[derive(Clone, Debug, PartialEq)]
pub enum TodoChange<'a> {
    /// The whole current list.
    All(Vec<Todo<'a>>),
    /// A change of one entry, which may be new. A field that is `None` did not change.
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
pub struct QuestionAnswer<'a> {
    pub question: Text<'a>,
    pub answer: Text<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StartSource {
    Startup,
    Resume,
    Clear,
    Compact,
    Fork,
    /// A source that this version does not know. In doubt nothing is restored.
    Unknown,
}

impl EventKind<'_> {
    pub fn event_name(&self) -> EventName {
        match self {
            EventKind::SessionStart { .. } => EventName::SessionStart,
            EventKind::Prompt { .. } => EventName::Prompt,
            EventKind::ToolDone(_) => EventName::ToolDone,
            EventKind::BeforeCompact { .. } => EventName::BeforeCompact,
            EventKind::Summary { .. } => EventName::Summary,
            EventKind::AfterCompact { .. } => EventName::AfterCompact,
            EventKind::SubagentStart => EventName::SubagentStart,
            EventKind::SubagentStop { .. } => EventName::SubagentStop,
            EventKind::Stop(_) => EventName::Stop,
            EventKind::SessionEnd { .. } => EventName::SessionEnd,
            EventKind::Other { .. } => EventName::Other,
        }
    }

    /// Returns the neutral name that journals, receipts and `thru hook` use.
    pub fn name(&self) -> &'static str {
        self.event_name().name()
    }
}

impl TodoStatus {
    /// Parses a status. An unknown word means that the entry is open, because it is better to show an entry too often
    /// than to forget it.
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

impl StartSource {
    pub fn parse(text: &str) -> StartSource {
        match text {
            "startup" => StartSource::Startup,
            "resume" => StartSource::Resume,
            "clear" => StartSource::Clear,
            "compact" => StartSource::Compact,
            "fork" => StartSource::Fork,
            _ => StartSource::Unknown,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            StartSource::Startup => "startup",
            StartSource::Resume => "resume",
            StartSource::Clear => "clear",
            StartSource::Compact => "compact",
            StartSource::Fork => "fork",
            StartSource::Unknown => "unknown",
        }
    }
}
