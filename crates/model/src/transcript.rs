//! A harness's transcript in neutral form: a line of bytes in, its items out.
//!
//! Readers are stateless: each line is read by itself, so that reading can begin anywhere. [`ItemDedup`] and [`Spent`]
//! handle what needs several lines: repeated items, and sums.

mod dedup;
mod spent;

use std::borrow::Cow;

use jiff::Timestamp;

pub use dedup::ItemDedup;
pub use spent::{TokenTotal, TokenUsage};

use crate::event::{TodoChange, TouchedFile};
use crate::redact::REDACTION_MARGIN;
use crate::time;

type Text<'a> = Cow<'a, str>;

/// The longest texts that a reader decodes, in bytes. Each limit is larger than what a journal keeps, so that a secret
/// that crosses the journal's cut is still seen completely.
pub const MAX_TEXT_BYTES: usize = 64 * 1024 + REDACTION_MARGIN;
pub const MAX_COMMAND_BYTES: usize = 8 * 1024 + REDACTION_MARGIN;
pub const MAX_NOTE_BYTES: usize = 4 * 1024 + REDACTION_MARGIN;
pub const MAX_RESULT_BYTES: usize = 8 * 1024 + REDACTION_MARGIN;
pub const MAX_NAME_BYTES: usize = 256 + REDACTION_MARGIN;

/// One line of a transcript.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TranscriptLine<'a> {
    /// The time as the harness wrote it; see [`Line::parsed_time`]. Skipped lines have none.
    pub at: Option<Text<'a>>,
    pub chain: LineAuthor<'a>,
    /// The branch that was checked out, if the harness records it.
    pub branch: Option<Text<'a>>,
    pub kind: LineKind<'a>,
    pub items: Vec<TranscriptItem<'a>>,
    /// The text after the line's first object, if a line end was lost. It must be read as a separate line.
    pub rest: &'a [u8],
}

/// Who wrote the line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LineAuthor<'a> {
    #[default]
    Main,
    /// A sub-agent.
    Side { agent: Option<Text<'a>> },
}

/// The kind of line, by its name in the reader's table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LineKind<'a> {
    Known(&'static str),
    /// A well-formed line of a type that this version does not know. These are counted, so that a new harness version
    /// is noticed.
    Unknown(Text<'a>),
    /// The line is not an object, or was truncated before its type.
    Torn,
    #[default]
    Blank,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TranscriptItem<'a> {
    /// What the user said to the main agent, without texts that the harness or a hook sent in the user's name.
    Prompt {
        text: Text<'a>,
        typed: PromptOrigin,
    },
    /// What the user typed while the agent was working. Some versions repeat it as a prompt when the agent gets it;
    /// [`ItemDedup`] makes one prompt of it in any case.
    Queued {
        text: Text<'a>,
        typed: PromptOrigin,
    },
    /// What the agent said. Errors that a harness presents as an answer are left out.
    Said {
        message: Option<Text<'a>>,
        text: Text<'a>,
    },
    Call(ToolCall<'a>),
    Result(CallResult<'a>),
    /// What the user chose or said when asked, or when refusing a call.
    Answer {
        call: Option<Text<'a>>,
        question: Option<Text<'a>>,
        text: Text<'a>,
    },
    /// A change of the agent's todo list.
    Todos(TodoChange<'a>),
    Compaction {
        trigger: Option<Text<'a>>,
        tokens_before: Option<u64>,
        tokens_after: Option<u64>,
    },
    /// The harness's own summary of what a compaction removed.
    Summary {
        text: Text<'a>,
    },
    Usage(TokenUsage<'a>),
    /// What a stop hook told the agent. Some harnesses repeat it as the user's words; see [`ItemDedup`].
    Feedback {
        text: Text<'a>,
    },
    /// The user stopped the agent.
    Interrupted,
    /// A file that the harness showed the agent because the user named it.
    Shown {
        path: Text<'a>,
    },
}

/// How a prompt was entered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PromptOrigin {
    #[default]
    Words,
    /// The user typed `/name arguments`.
    Slash,
    /// The user typed a shell command, with `!` in some harnesses.
    Shell,
}

/// A tool call as requested. Its result is the [`CallResult`] with the same id.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolCall<'a> {
    pub id: Option<Text<'a>>,
    pub tool: Text<'a>,
    pub files: Vec<TouchedFile<'a>>,
    pub command: Option<Text<'a>>,
    /// The input of a tool that acts on the outside world: a title, or the first words of a text.
    pub asked: Option<Text<'a>>,
    pub about: CallSubject<'a>,
}

/// What a call is about, besides files and a command.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum CallSubject<'a> {
    #[default]
    Work,
    Questions(Vec<UserQuestion<'a>>),
    /// Work that was delegated to a sub-agent: its type, and the purpose.
    Delegated {
        kind: Option<Text<'a>>,
        what: Text<'a>,
    },
    /// A plan shown to the user.
    Plan(Text<'a>),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct UserQuestion<'a> {
    pub text: Text<'a>,
    pub options: Vec<Text<'a>>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallResult<'a> {
    pub call: Option<Text<'a>>,
    pub failed: bool,
    /// Whether the user refused the call, so that it never ran.
    pub refused: bool,
    pub exit: Option<i64>,
    /// The output, not redacted. If the call failed, this is all of it (redact it before picking lines, see
    /// [`crate::failure::error_lines`]); otherwise the beginning, at least [`MAX_RESULT_BYTES`] if there are that many.
    /// Empty for a file that was read, found or changed.
    pub text: Text<'a>,
    /// The last lines of the output.
    pub tail: Text<'a>,
    /// The files, if the result says more about them than the call, such as whether one was created.
    pub files: Vec<TouchedFile<'a>>,
}

impl TranscriptLine<'_> {
    pub fn parsed_time(&self) -> Option<Timestamp> {
        self.at.as_deref().and_then(time::parse_time)
    }

    pub fn is_of_main_agent(&self) -> bool {
        self.chain == LineAuthor::Main
    }
}
