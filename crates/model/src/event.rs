//! Events in a harness-neutral form. Adapters decode payloads into these types, and the engine sees nothing else.

mod name;

use std::borrow::Cow;

pub use name::{EventName, EventSet};

use crate::declared::ChangedNames;
use crate::transcript::TokenUsage;
use crate::window::ContextWindowUse;

type Text<'a> = Cow<'a, str>;

#[derive(Clone, Debug, PartialEq)]
pub struct Event<'a> {
    pub session: Text<'a>,
    /// The harness's id for this prompt or summary.
    pub harness_event_id: Option<Text<'a>>,
    /// Whether the payload was truncated, so that some fields may be missing or incomplete.
    pub is_payload_truncated: bool,
    /// The id of the session that this one continues, if the harness has changed the session's id. Droid changes it
    /// after a compaction.
    pub previous_session: Option<Text<'a>>,
    pub cwd: Option<Text<'a>>,
    pub transcript: Option<Text<'a>>,
    /// The sub-agent to which the event belongs, or `None` for the main agent.
    pub subagent: Option<EventSubagent<'a>>,
    pub kind: EventKind<'a>,
}

impl Event<'_> {
    /// Makes a forked session independent of its parent. The fork's transcript contains its whole past. The parent
    /// may also continue, and it keeps its records, role and loop.
    pub fn detach_if_forked(self) -> Self {
        match self.kind {
            EventKind::SessionStart { source: StartSource::Fork } => Event { previous_session: None, ..self },
            _ => self,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct EventSubagent<'a> {
    pub id: Text<'a>,
    pub agent_type: Text<'a>,
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
        /// The user's instructions for the summary.
        instructions: Option<Text<'a>>,
    },
    /// The harness's own summary of the context that it is about to drop.
    Summary {
        text: Text<'a>,
    },
    AfterCompact {
        trigger: Option<Text<'a>>,
    },
    SubagentStart,
    SubagentStop {
        message: Option<Text<'a>>,
        /// The sub-agent's task in a few words, if the payload contains it.
        task: Option<Text<'a>>,
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

/// The main agent has stopped and is waiting for the user.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StopEvent<'a> {
    /// The agent's last message, if the payload contains it.
    pub message: Option<Text<'a>>,
    /// The harness's id for the agent's last message.
    pub message_id: Option<Text<'a>>,
    pub prompt: Option<Text<'a>>,
    /// Whether this is the first stop since the user's last prompt. It is false if a stop hook has made the agent
    /// continue since then.
    pub is_first_since_prompt: Option<bool>,
    /// The number of sub-agents still running in the background.
    pub running_subagents: usize,
    /// The turn's token usage, if the payload contains it.
    pub turn_usage: Option<TokenUsage<'a>>,
    /// How full the context window was at the turn's last request, if the payload contains it.
    pub context_use: Option<ContextWindowUse>,
    /// Whether the caller cannot wait for validators. If validators must run, the reply asks the caller to call again.
    pub cannot_wait: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolDone<'a> {
    pub tool: Text<'a>,
    /// The harness's id for this call, by which repeated reports are recognised.
    pub call_id: Option<Text<'a>>,
    pub files: Vec<TouchedFile<'a>>,
    pub command: Option<Text<'a>>,
    /// The output of a command that may be a test run or may affect the outside world, or the result of a tool that
    /// affects the outside world.
    pub output: Option<Text<'a>>,
    /// The title or the first part of the text in a tool's input, if the tool affects the outside world.
    pub input_text: Option<Text<'a>>,
    /// The complete error message of a failed call.
    pub error: Option<Text<'a>>,
    pub todo_change: Option<TodoChange<'a>>,
    /// Questions to the user, with the answers.
    pub answers: Vec<QuestionAnswer<'a>>,
    /// Work delegated to a sub-agent.
    pub delegated_work: Option<DelegatedWork<'a>>,
    /// A plan shown to the user. If the call succeeded, the user approved the plan.
    pub proposed_plan: Option<Text<'a>>,
    /// The unparsed result, which only the harness's adapter can interpret.
    pub raw_result: &'a [u8],
    pub exit_code: Option<i64>,
    pub failed: bool,
    pub duration_ms: Option<u64>,
}

/// A sub-agent's task and its answer. The answer is empty while the sub-agent is working.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DelegatedWork<'a> {
    pub task: Text<'a>,
    pub answer: Text<'a>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TouchedFile<'a> {
    pub path: Text<'a>,
    pub action: FileAction,
    /// The declarations that the call changed, if its input contains the changed text.
    pub changed_names: ChangedNames,
    /// The lines that the call read, if it read only a part of the file.
    pub lines: Option<LineRange>,
}

/// Lines of a file, counted from 1. Both ends are included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LineRange {
    pub first: u64,
    pub last: u64,
}

impl<'a> TouchedFile<'a> {
    pub fn new(path: Text<'a>, action: FileAction) -> TouchedFile<'a> {
        TouchedFile { path, action, changed_names: ChangedNames::default(), lines: None }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileAction {
    Create,
    Edit,
    Read,
    Delete,
    /// The file was only mentioned.
    Mention,
}

impl FileAction {
    pub fn changes_file(self) -> bool {
        matches!(self, FileAction::Create | FileAction::Edit | FileAction::Delete)
    }
}

/// A change to the harness's own todo list.
#[derive(Clone, Debug, PartialEq)]
pub enum TodoChange<'a> {
    /// The complete new list.
    WholeList(Vec<Todo<'a>>),
    /// A change to one entry, which may be new. Fields that are `None` did not change.
    OneEntry { id: Text<'a>, text: Option<Text<'a>>, status: Option<TodoStatus> },
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
    /// A source that this version does not know. Nothing is restored.
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
    /// Parses a status. An unknown status counts as pending, because showing an entry too often is better than losing
    /// it.
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
