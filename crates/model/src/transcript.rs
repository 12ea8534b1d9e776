//! A harness's transcript in neutral form. Each line of bytes gives a list of items.
//!
//! Readers are stateless: each line is read by itself, so that reading can start anywhere. [`ItemDedup`] and
//! [`TokenTotal`] handle repeated items and sums, which need several lines.

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

/// The maximum lengths of texts that a reader decodes, in bytes. Each limit is larger than the limit of the
/// journal, so that a secret that crosses the journal's cut is still seen completely.
pub const MAX_TEXT_BYTES: usize = 64 * 1024 + REDACTION_MARGIN;
pub const MAX_COMMAND_BYTES: usize = 8 * 1024 + REDACTION_MARGIN;
pub const MAX_NOTE_BYTES: usize = 4 * 1024 + REDACTION_MARGIN;
pub const MAX_RESULT_BYTES: usize = 8 * 1024 + REDACTION_MARGIN;
pub const MAX_NAME_BYTES: usize = 256 + REDACTION_MARGIN;

/// One line of a transcript.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TranscriptLine<'a> {
    /// The time as written by the harness; see [`TranscriptLine::parsed_time`]. Skipped lines have none.
    pub at: Option<Text<'a>>,
    pub chain: LineAuthor<'a>,
    /// The current branch, if the harness records it.
    pub branch: Option<Text<'a>>,
    pub kind: LineKind<'a>,
    pub items: Vec<TranscriptItem<'a>>,
    /// The text after the line's first object, if a line end was lost. It must be read as a separate line.
    pub rest: &'a [u8],
}

/// The author of a line.
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
    /// A well-formed line of a type that this version does not support. Such lines are counted, so that a new
    /// harness version is noticed.
    Unknown(Text<'a>),
    /// The line is not an object, or was truncated before its type.
    Torn,
    #[default]
    Blank,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TranscriptItem<'a> {
    /// The user's message to the main agent. Texts that the harness or a hook sent in the user's name are excluded.
    Prompt {
        text: Text<'a>,
        typed: PromptOrigin,
    },
    /// A message that the user typed while the agent was working. Some versions write it again as a prompt when the
    /// agent gets it. [`ItemDedup`] turns both into one prompt.
    Queued {
        text: Text<'a>,
        typed: PromptOrigin,
    },
    /// A message of the agent. Errors that a harness presents as an answer are excluded.
    Said {
        message: Option<Text<'a>>,
        text: Text<'a>,
    },
    Call(ToolCall<'a>),
    Result(CallResult<'a>),
    /// The user's answer to a question, or the user's text with a refusal.
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
    /// The harness's own summary of the context that a compaction removed.
    Summary {
        text: Text<'a>,
    },
    Usage(TokenUsage<'a>),
    /// A stop hook's message to the agent. Some harnesses write it again as the user's message; see [`ItemDedup`].
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

/// The way in which a prompt was entered.
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
    /// The input of a tool with an effect on the outside world: a title, or the first words of a text.
    pub asked: Option<Text<'a>>,
    pub about: CallSubject<'a>,
}

/// The subject of a call, besides files and a command.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum CallSubject<'a> {
    #[default]
    Work,
    Questions(Vec<UserQuestion<'a>>),
    /// Work that was delegated to a sub-agent: its type and its purpose.
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
    /// Whether the user refused the call, so it did not run.
    pub refused: bool,
    /// The declaration that contains the beginning of an edit, if the result shows it.
    pub enclosing: Option<String>,
    pub exit: Option<i64>,
    /// The output, not redacted. For a failed call it is complete (redact it before picking lines, see
    /// [`crate::failure::error_lines`]). Otherwise it is the start of the output, at least [`MAX_RESULT_BYTES`] if
    /// the output is that long.
    /// Empty for a file that was read, found or changed.
    pub text: Text<'a>,
    /// The last lines of the output.
    pub tail: Text<'a>,
    /// The files, if the result contains more information about them than the call, for example whether a file was
    /// created.
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
