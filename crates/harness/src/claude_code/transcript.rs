//! Reads Claude Code's transcript, `~/.claude/projects/<folder>/<session>.jsonl`, line by line.
//!
//! Most of a transcript consists of metadata and duplicates. Fields are read in file order. Reading stops as soon as
//! the rest of the line is known to be irrelevant, for example after the first field of a snapshot, or before the
//! second copy of a result.

mod subtypes;
mod tools;

pub(super) use self::tools::declaration_around_edit;
mod words;

use std::borrow::Cow;

use model::transcript::{
    MAX_DECODED_NOTE_BYTES, MAX_DECODED_TEXT_BYTES, MAX_NAME_BYTES, TranscriptItem, TranscriptLine,
    TranscriptLineAuthor, TranscriptLineKind,
};

use self::subtypes::{
    AGENT_PROGRESS_SUBTYPE, ATTACHMENT_SUBTYPES, COMPACT_BOUNDARY, FILE_ATTACHMENT_SUBTYPE,
    LOCAL_COMMAND_SUBTYPE, PROGRESS_SUBTYPES, QUEUED_COMMAND_SUBTYPE, SYSTEM_SUBTYPES,
};
use crate::transcript::message::ApiMessage;
use crate::transcript::walk::{JsonWalk, RawJson};
use crate::transcript::{call, find_object, next_object, next_object_beginning_with};

type Text<'a> = Cow<'a, str>;

const READ_TYPES: [&str; 5] = ["user", "assistant", "system", "attachment", "queue-operation"];

/// The types of lines that are skipped. Some of these lines repeat prompts word for word.
const SKIPPED_TYPES: [&str; 16] = [
    "agent-name",
    "api-request",
    "api-request-blob",
    "api-request-shape",
    "atis-latch",
    "cost-state",
    "custom-title",
    "file-history-snapshot",
    "last-prompt",
    "mode",
    "permission-mode",
    "pr-link",
    "relocated",
    // Lines of this type contain titles of other sessions, not the summary of a compaction.
    "summary",
    "tools-used",
    "worktree-state",
];

/// The beginnings of the lines that we read.
const LINE_BEGINNINGS: [&str; 2] = ["{\"parentUuid\"", "{\"type\""];

/// Parses one line. Never fails: a torn line is parsed up to the tear.
pub fn read_line(bytes: &[u8]) -> TranscriptLine<'_> {
    let bytes = match find_object(bytes, &LINE_BEGINNINGS) {
        Ok(bytes) => bytes,
        Err(line) => return *line,
    };
    let mut walk = JsonWalk::new(bytes);
    let mut draft = LineDraft::default();
    let extent = draft.read_fields(&mut walk);
    let is_torn = walk.is_torn();
    let line = draft.into_line(is_torn);
    let text_after_object = match (extent, &line.kind) {
        _ if is_torn => next_object(&bytes[1..], &LINE_BEGINNINGS),
        // The bytes after the first brace may contain the beginning of another line, so search them.
        (_, TranscriptLineKind::Unknown(_)) => next_object(&bytes[1..], &LINE_BEGINNINGS),
        (ReadExtent::WholeLine, _) => next_object(walk.unread_bytes(), &LINE_BEGINNINGS),
        // Reading stopped early, so the position of the line's end is unknown. Search only for lines that are needed.
        (ReadExtent::Partial, _) => next_object_beginning_with(walk.unread_bytes(), LINE_BEGINNINGS[0]),
    };
    TranscriptLine { text_after_object, ..line }
}

/// How much of a line [`LineDraft::read_fields`] has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadExtent {
    WholeLine,
    /// Reading stopped before the end of the line, because the rest is not needed.
    Partial,
}

/// The fields of a line that have been read so far.
#[derive(Default)]
struct LineDraft<'a> {
    kind: Option<Text<'a>>,
    /// The `subtype` of a system line, or the `type` of an attachment or of a progress record.
    subtype: Option<Text<'a>>,
    at: Option<Text<'a>>,
    is_of_subagent: bool,
    agent: Option<Text<'a>>,
    branch: Option<Text<'a>>,
    /// True if the text comes from the harness rather than the user, such as a caveat, a skill or a hook's output.
    is_harness_text: bool,
    summary: bool,
    error: bool,
    operation: Option<Text<'a>>,
    content: RawJson<'a>,
    message: ApiMessage<'a>,
    tool_report: tools::ToolReport<'a>,
    compaction: Option<TranscriptItem<'a>>,
    path: Option<Text<'a>>,
}

impl<'a> LineDraft<'a> {
    fn read_fields(&mut self, walk: &mut JsonWalk<'a>) -> ReadExtent {
        if !walk.enter_object() {
            return ReadExtent::WholeLine;
        }
        while let Some(key) = walk.next_key() {
            match key {
                b"type" => self.kind = walk.take_text(MAX_NAME_BYTES),
                b"subtype" => self.subtype = walk.take_text(MAX_NAME_BYTES),
                b"timestamp" => self.at = walk.take_text(MAX_NAME_BYTES),
                b"isSidechain" => self.is_of_subagent = walk.take_raw().is_true(),
                b"agentId" => self.agent = walk.take_text(MAX_NAME_BYTES),
                b"gitBranch" => self.branch = walk.take_text(MAX_NAME_BYTES),
                b"isMeta" | b"isVisibleInTranscriptOnly" => self.is_harness_text |= walk.take_raw().is_true(),
                b"promptSource" => {
                    self.is_harness_text |= walk.take_text(MAX_NAME_BYTES).as_deref() == Some("system");
                }
                b"origin" => self.is_harness_text |= is_message_not_from_person(walk),
                b"isCompactSummary" => self.summary = walk.take_raw().is_true(),
                b"isApiErrorMessage" => self.error = walk.take_raw().is_true(),
                b"operation" => self.operation = walk.take_text(MAX_NAME_BYTES),
                b"content" => self.content = walk.take_raw(),
                b"message" => self.message.read_object(walk, &mut |_, walk| walk.skip_value()),
                b"compactMetadata" => self.compaction = read_compaction(walk),
                b"attachment" => self.read_attachment(walk),
                b"data" => self.read_progress(walk),
                b"toolUseResult" if !self.message.results.is_empty() => {
                    self.tool_report = tools::ToolReport::read_first_fields(walk);
                    return ReadExtent::Partial;
                }
                _ => walk.skip_value(),
            }
            if matches!(key, b"type" | b"subtype" | b"attachment" | b"data") && self.is_irrelevant() {
                return ReadExtent::Partial;
            }
        }
        ReadExtent::WholeLine
    }

    /// Returns whether the type and the subtype show that the line is not needed.
    fn is_irrelevant(&self) -> bool {
        match (self.kind.as_deref(), self.subtype.as_deref()) {
            (Some("system"), Some(sub)) => !matches!(sub, "compact_boundary" | "local_command"),
            (Some("progress"), Some(sub)) => sub != "agent_progress",
            (Some("attachment"), Some(sub)) => !matches!(sub, "file" | "queued_command"),
            (Some(kind), None) => kind != "progress" && !READ_TYPES.contains(&kind),
            _ => false,
        }
    }

    fn read_attachment(&mut self, walk: &mut JsonWalk<'a>) {
        // The line's own `type` comes after this field. It is always `attachment` in a line that has this field.
        self.kind = Some("attachment".into());
        if !walk.enter_object() {
            return;
        }
        while let Some(key) = walk.next_key() {
            match key {
                b"type" => {
                    self.subtype = walk.take_text(MAX_NAME_BYTES);
                    if self.is_irrelevant() {
                        return;
                    }
                }
                b"filename" => self.path = walk.take_text(MAX_DECODED_NOTE_BYTES),
                b"prompt" => self.content = walk.take_raw(),
                b"commandMode" => {
                    self.is_harness_text |=
                        walk.take_text(MAX_NAME_BYTES).is_some_and(|mode| mode != "prompt");
                }
                b"origin" => self.is_harness_text |= is_message_not_from_person(walk),
                _ => walk.skip_value(),
            }
        }
    }

    /// Reads a record of a sub-agent. Older versions of Claude Code wrote these records to the main transcript.
    fn read_progress(&mut self, walk: &mut JsonWalk<'a>) {
        if !walk.enter_object() {
            return;
        }
        while let Some(key) = walk.next_key() {
            match key {
                b"type" => {
                    self.subtype = walk.take_text(MAX_NAME_BYTES);
                    if self.subtype.as_deref().is_some_and(|sub| sub.ends_with("_progress")) {
                        self.kind = Some("progress".into());
                    }
                    if self.is_irrelevant() {
                        return;
                    }
                }
                b"agentId" => self.agent = walk.take_text(MAX_NAME_BYTES),
                b"message" if walk.enter_object() => {
                    while let Some(key) = walk.next_key() {
                        match key {
                            b"message" => self.message.read_object(walk, &mut |_, walk| walk.skip_value()),
                            _ => walk.skip_value(),
                        }
                    }
                }
                b"message" => {}
                _ => walk.skip_value(),
            }
        }
    }

    fn into_line(self, torn: bool) -> TranscriptLine<'a> {
        let kind = self.to_kind(torn);
        let is_side = self.is_of_subagent || kind == TranscriptLineKind::Known(AGENT_PROGRESS_SUBTYPE);
        let at = self.at.clone();
        let author = if is_side {
            TranscriptLineAuthor::SubAgent { agent: self.agent.clone() }
        } else {
            TranscriptLineAuthor::Main
        };
        let branch = self.branch.clone().filter(|branch| !branch.is_empty() && branch != "HEAD");
        let items = match kind {
            TranscriptLineKind::Known("assistant") => self.assistant_items(),
            TranscriptLineKind::Known("user") => self.user_items(is_side),
            TranscriptLineKind::Known(AGENT_PROGRESS_SUBTYPE)
                if self.message.role.as_deref() == Some("assistant") =>
            {
                self.assistant_items()
            }
            TranscriptLineKind::Known(AGENT_PROGRESS_SUBTYPE) => self.user_items(is_side),
            TranscriptLineKind::Known("queue-operation") if self.operation.as_deref() == Some("enqueue") => {
                self.queued_items()
            }
            TranscriptLineKind::Known(QUEUED_COMMAND_SUBTYPE) if !self.is_harness_text => self.queued_items(),
            TranscriptLineKind::Known(COMPACT_BOUNDARY) => {
                let nameless =
                    TranscriptItem::Compaction { trigger: None, tokens_before: None, tokens_after: None };
                vec![self.compaction.unwrap_or(nameless)]
            }
            TranscriptLineKind::Known(LOCAL_COMMAND_SUBTYPE) => self.local_command_items(),
            TranscriptLineKind::Known(FILE_ATTACHMENT_SUBTYPE) => {
                self.path.map(|path| TranscriptItem::ShownFile { path }).into_iter().collect()
            }
            _ => Vec::new(),
        };
        TranscriptLine { time_text: at, author, branch, kind, items, text_after_object: &[] }
    }

    fn to_kind(&self, torn: bool) -> TranscriptLineKind<'a> {
        let kind = match (&self.kind, &self.message.role) {
            (Some(kind), _) => kind,
            // The line is cut off before its `type`, which older versions write last, so the role is used.
            (None, Some(role)) if matches!(role.as_ref(), "user" | "assistant") => role,
            (None, _) if torn => return TranscriptLineKind::Torn,
            (None, _) => return TranscriptLineKind::Unknown(Text::default()),
        };
        let table: &[&'static str] = match kind.as_ref() {
            "system" => &SYSTEM_SUBTYPES,
            "attachment" => &ATTACHMENT_SUBTYPES,
            "progress" => &PROGRESS_SUBTYPES,
            name => {
                let known = READ_TYPES.iter().chain(&SKIPPED_TYPES).find(|known| **known == name);
                return known.map_or_else(
                    || TranscriptLineKind::Unknown(kind.clone()),
                    |known| TranscriptLineKind::Known(known),
                );
            }
        };
        let sub = self.subtype.as_deref().unwrap_or_default();
        // Every name in `table` begins with `kind` and a slash. The comparison skips both.
        match table.binary_search_by(|known| known[kind.len() + 1..].cmp(sub)) {
            Ok(place) => TranscriptLineKind::Known(table[place]),
            Err(_) if torn && self.subtype.is_none() => TranscriptLineKind::Torn,
            Err(_) => TranscriptLineKind::Unknown(format!("{kind}/{sub}").into()),
        }
    }

    /// Returns the messages and calls of the agent.
    fn assistant_items(self) -> Vec<TranscriptItem<'a>> {
        let ApiMessage { id, model, texts, calls, usage, .. } = self.message;
        if self.error || model.as_deref() == Some("<synthetic>") {
            return Vec::new();
        }
        let mut items = Vec::new();
        let texts = texts.into_iter().filter(|text| !text.trim().is_empty());
        items.extend(texts.map(|text| TranscriptItem::AgentMessage { message_id: id.clone(), text }));
        calls.into_iter().for_each(|call| call::push_call(call, &mut items));
        items.extend(usage.map(|mut usage| {
            usage.message_id = id;
            usage.model = model;
            TranscriptItem::Usage(usage)
        }));
        items
    }

    /// Returns what the agent received: the results of calls, and the user's messages. A sub-agent receives no messages
    /// from the user.
    fn user_items(self, is_side: bool) -> Vec<TranscriptItem<'a>> {
        let mut items = Vec::new();
        let mut report = self.tool_report;
        for result in &self.message.results {
            tools::push_converted_tool_result(result, std::mem::take(&mut report), &mut items);
        }
        for text in self.message.texts {
            if self.summary {
                items.push(TranscriptItem::Summary { text });
            } else if self.is_harness_text || is_side {
                items.extend(
                    words::stop_hook_feedback(&text)
                        .map(|text| TranscriptItem::StopHookFeedback { text: text.into() }),
                );
            } else {
                items.extend(words::classify_user_text(text));
            }
        }
        items
    }

    fn queued_items(self) -> Vec<TranscriptItem<'a>> {
        let words = self.content.text(MAX_DECODED_TEXT_BYTES).and_then(words::extract_prompt);
        words.map(|(text, typed)| TranscriptItem::QueuedPrompt { text, origin: typed }).into_iter().collect()
    }

    /// Returns a slash command that was typed but never reached the agent.
    fn local_command_items(self) -> Vec<TranscriptItem<'a>> {
        let words = self.content.text(MAX_DECODED_TEXT_BYTES).and_then(words::extract_prompt);
        words.map(|(text, typed)| TranscriptItem::Prompt { text, origin: typed }).into_iter().collect()
    }
}

fn is_message_not_from_person(walk: &mut JsonWalk<'_>) -> bool {
    let mut foreign = false;
    if walk.enter_object() {
        while let Some(key) = walk.next_key() {
            match key {
                b"kind" => foreign = walk.take_text(MAX_NAME_BYTES).is_some_and(|kind| kind != "human"),
                _ => walk.skip_value(),
            }
        }
    }
    foreign
}

fn read_compaction<'a>(walk: &mut JsonWalk<'a>) -> Option<TranscriptItem<'a>> {
    if !walk.enter_object() {
        return None;
    }
    let (mut trigger, mut tokens_before, mut tokens_after) = (None, None, None);
    while let Some(key) = walk.next_key() {
        match key {
            b"trigger" => trigger = walk.take_text(MAX_NAME_BYTES),
            b"preTokens" => tokens_before = walk.take_raw().number(),
            b"postTokens" => tokens_after = walk.take_raw().number(),
            _ => walk.skip_value(),
        }
    }
    Some(TranscriptItem::Compaction { trigger, tokens_before, tokens_after })
}

#[cfg(test)]
#[path = "transcript_tests.rs"]
mod tests;
