//! A harness's transcript in a form that is the same for all harnesses. Each line is read into a list of items.
//!
//! Readers are stateless. Each line is read on its own, so reading can start anywhere. Across lines, [`ItemDedup`]
//! removes repeated items and [`TokenTotal`] adds up tokens.

mod dedup;
mod deferred;
mod token_usage;

use std::borrow::Cow;

use jiff::Timestamp;

pub use dedup::ItemDedup;
pub use deferred::DeferredText;
pub use token_usage::{TokenTotal, TokenUsage};

use crate::event::{TodoChange, TouchedFile};
use crate::redact::REDACTION_MARGIN_BYTES;
use crate::time;

type Text<'a> = Cow<'a, str>;

/// The maximum lengths, in bytes, of the strings that a reader decodes. Each is larger than the corresponding journal
/// limit, so that a secret at the point where the journal cuts the text is still recognised as a whole.
pub const MAX_DECODED_TEXT_BYTES: usize = 64 * 1024 + REDACTION_MARGIN_BYTES;
pub const MAX_DECODED_COMMAND_BYTES: usize = 8 * 1024 + REDACTION_MARGIN_BYTES;
pub const MAX_DECODED_NOTE_BYTES: usize = 4 * 1024 + REDACTION_MARGIN_BYTES;
pub const MAX_CALL_RESULT_BYTES: usize = 8 * 1024 + REDACTION_MARGIN_BYTES;
pub const MAX_NAME_BYTES: usize = 256 + REDACTION_MARGIN_BYTES;

/// One line of a transcript.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TranscriptLine<'a> {
    /// The time as the harness wrote it (see [`TranscriptLine::parsed_time`]). Skipped lines have none.
    pub time_text: Option<Text<'a>>,
    pub author: TranscriptLineAuthor<'a>,
    /// The current branch, if the harness records it.
    pub branch: Option<Text<'a>>,
    pub kind: TranscriptLineKind<'a>,
    pub items: Vec<TranscriptItem<'a>>,
    /// The text after the first object in the line, if a line break was lost. It must be read as a separate line.
    pub text_after_object: &'a [u8],
}

/// The author of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TranscriptLineAuthor<'a> {
    #[default]
    Main,
    /// A sub-agent.
    SubAgent { agent: Option<Text<'a>> },
}

/// The kind of a line, as named in the reader's table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TranscriptLineKind<'a> {
    Known(&'static str),
    /// A well-formed line of a type that this version does not know. Such lines are counted, so that changes in new
    /// harness versions are noticed.
    Unknown(Text<'a>),
    /// A line that is not an object, or that was truncated before its type.
    Torn,
    #[default]
    Blank,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TranscriptItem<'a> {
    /// The user's prompt to the main agent, but not text that the harness or a hook sent in the user's name.
    Prompt {
        text: Text<'a>,
        origin: PromptOrigin,
    },
    /// A prompt that the user typed while the agent was working. Some harness versions write it again when the agent
    /// receives it. [`ItemDedup`] turns both into one prompt.
    QueuedPrompt {
        text: Text<'a>,
        origin: PromptOrigin,
    },
    /// A message from the agent, but not an error that the harness presents as an answer.
    AgentMessage {
        message_id: Option<Text<'a>>,
        text: Text<'a>,
    },
    Call(ToolCall<'a>),
    Result(CallResult<'a>),
    /// The user's answer to a question, or the user's reason for refusing a call.
    AnswerToQuestion {
        call_id: Option<Text<'a>>,
        question: Option<Text<'a>>,
        text: Text<'a>,
    },
    /// A change to the agent's todo list.
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
    /// A stop hook's message to the agent. Some harnesses repeat it as the user's message (see [`ItemDedup`]).
    StopHookFeedback {
        text: Text<'a>,
    },
    /// The user stopped the agent.
    Interrupted,
    /// A file that the harness showed to the agent because the user mentioned it.
    ShownFile {
        path: Text<'a>,
    },
}

/// How a prompt was entered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PromptOrigin {
    #[default]
    PlainText,
    /// The user typed `/name arguments`.
    Slash,
    /// The user typed a shell command, with a leading `!` in some harnesses.
    Shell,
}

/// A requested tool call. Its result is the [`CallResult`] with the same id.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolCall<'a> {
    pub id: Option<Text<'a>>,
    pub tool: Text<'a>,
    pub files: Vec<TouchedFile<'a>>,
    pub command: Option<Text<'a>>,
    /// The title in the call's input, or the first part of the text. `None` unless the tool acts on the outside world.
    pub input_text: Option<Text<'a>>,
    pub subject: CallSubject<'a>,
    /// What an edit replaced. `None` for other calls, and for files whose names say that they hold secrets.
    pub replacement: Option<TextReplacement<'a>>,
}

/// The text that an edit replaced and the text that took its place, not redacted. If a call makes several edits, these
/// are the texts of the last one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextReplacement<'a> {
    pub old: DeferredText<'a>,
    pub new: DeferredText<'a>,
}

/// What a call is about, apart from files and a command.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum CallSubject<'a> {
    #[default]
    OrdinaryWork,
    Questions(Vec<UserQuestion<'a>>),
    /// Work delegated to a sub-agent, with the sub-agent's type and its task.
    Delegated {
        kind: Option<Text<'a>>,
        task: Text<'a>,
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
    pub call_id: Option<Text<'a>>,
    pub failed: bool,
    /// Whether the user refused the call. If so, it did not run.
    pub is_refused_by_user: bool,
    /// The declaration that contains the beginning of an edit, if the result shows it.
    pub enclosing_declaration: Option<String>,
    pub exit_code: Option<i64>,
    /// The output, not redacted. For a failed call it is complete. Redact it before picking lines from it (see
    /// [`crate::failure::error_lines`]). For other calls it is the start of the output, at least [`MAX_CALL_RESULT_BYTES`]
    /// if the output is that long. It is empty for calls that read, found or changed files.
    pub text: DeferredText<'a>,
    /// The last lines of the output.
    pub last_lines: DeferredText<'a>,
    /// The files, if the result says more about them than the call does, for example that a file was created.
    pub files: Vec<TouchedFile<'a>>,
}

impl TranscriptLine<'_> {
    pub fn parsed_time(&self) -> Option<Timestamp> {
        self.time_text.as_deref().and_then(time::parse_time)
    }

    pub fn is_of_main_agent(&self) -> bool {
        self.author == TranscriptLineAuthor::Main
    }
}
