//! Reads Claude Code's transcript, `~/.claude/projects/<folder>/<session>.jsonl`, line by line.
//!
//! Most of such a file is bookkeeping and duplicates. Fields are read in file order, and reading stops as soon as the
//! rest of the line is known to be useless: after the first field of a snapshot, for example, or before the second copy
//! of a result.

mod tools;
mod words;

use std::borrow::Cow;

use model::transcript::{Chain, Item, Kind, Line, NAME_BYTES, NOTE_BYTES, TEXT_BYTES};

use crate::transcript::message::Message;
use crate::transcript::walk::{Raw, Walk};
use crate::transcript::{call, next_line, next_line_like, object};

type Text<'a> = Cow<'a, str>;

/// Types of lines that are read.
const READ: [&str; 5] = ["user", "assistant", "system", "attachment", "queue-operation"];

/// Types of lines that contain nothing for us. Some repeat prompts word for word, so they must be listed here.
const SKIPPED: [&str; 16] = [
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
    // This type contains titles of other sessions, not the summary of a compaction.
    "summary",
    "tools-used",
    "worktree-state",
];

const SYSTEM: [&str; 7] = [
    "system/api_error",
    COMPACT_BOUNDARY,
    "system/informational",
    "system/microcompact_boundary",
    LOCAL_COMMAND,
    "system/stop_hook_summary",
    "system/turn_duration",
];
const COMPACT_BOUNDARY: &str = "system/compact_boundary";
const LOCAL_COMMAND: &str = "system/local_command";

const PROGRESS: [&str; 6] = [
    AGENT_PROGRESS,
    "progress/bash_progress",
    "progress/hook_progress",
    "progress/mcp_progress",
    "progress/query_update",
    "progress/search_results_received",
];
const AGENT_PROGRESS: &str = "progress/agent_progress";

const ATTACHMENTS: [&str; 31] = [
    "attachment/agent_listing_delta",
    "attachment/async_hook_response",
    "attachment/auto_mode",
    "attachment/command_permissions",
    "attachment/date",
    "attachment/deferred_tools_delta",
    "attachment/deferred_tools_record",
    "attachment/environment",
    FILE,
    "attachment/hook_additional_context",
    "attachment/hook_blocking_error",
    "attachment/hook_cancelled",
    "attachment/hook_non_blocking_error",
    "attachment/hook_permission_decision",
    "attachment/hook_stopped_continuation",
    "attachment/hook_success",
    "attachment/hook_system_message",
    "attachment/instructions",
    "attachment/max_turns_reached",
    "attachment/mcp_instructions_delta",
    "attachment/model",
    "attachment/nested_memory",
    "attachment/prompt_snapshot",
    QUEUED_COMMAND,
    "attachment/remote_session_change",
    "attachment/session_context",
    "attachment/skill_listing",
    "attachment/task_reminder",
    "attachment/todo_reminder",
    "attachment/total_tokens_reminder",
    "attachment/unknown_command_fallback",
];
const FILE: &str = "attachment/file";
const QUEUED_COMMAND: &str = "attachment/queued_command";

/// How the lines of a transcript begin.
const BEGINNINGS: [&str; 2] = ["{\"parentUuid\"", "{\"type\""];

/// Returns the meaning of one line. Never fails: if the line is torn, returns what comes before the tear.
pub fn read_line(bytes: &[u8]) -> Line<'_> {
    let bytes = match object(bytes, &BEGINNINGS) {
        Ok(bytes) => bytes,
        Err(line) => return *line,
    };
    let mut walk = Walk::new(bytes);
    let mut draft = Draft::default();
    let end = draft.read(&mut walk);
    let is_torn = walk.is_torn();
    let line = draft.line(is_torn);
    let rest = match (end, &line.kind) {
        _ if is_torn => next_line(&bytes[1..], &BEGINNINGS),
        // The text after `type` may really be the beginning of another line.
        (_, Kind::Unknown(_)) => next_line(&bytes[1..], &BEGINNINGS),
        (End::Reached, _) => next_line(walk.rest(), &BEGINNINGS),
        // Reading stopped early, so the end of the line is unknown. Search only for lines that matter.
        (End::Left, _) => next_line_like(walk.rest(), BEGINNINGS[0]),
    };
    Line { rest, ..line }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Reached,
    Left,
}

/// The fields of a line, in any order.
#[derive(Default)]
struct Draft<'a> {
    kind: Option<Text<'a>>,
    /// `subtype` of a system line, `type` of an attachment or of progress.
    sub: Option<Text<'a>>,
    at: Option<Text<'a>>,
    side: bool,
    agent: Option<Text<'a>>,
    branch: Option<Text<'a>>,
    /// True if the harness wrote the text: a caveat, a skill, a hook's output.
    meta: bool,
    summary: bool,
    error: bool,
    operation: Option<Text<'a>>,
    content: Raw<'a>,
    message: Message<'a>,
    report: tools::ToolReport<'a>,
    compaction: Option<Item<'a>>,
    path: Option<Text<'a>>,
}

impl<'a> Draft<'a> {
    fn read(&mut self, walk: &mut Walk<'a>) -> End {
        if !walk.object() {
            return End::Reached;
        }
        while let Some(key) = walk.key() {
            match key {
                b"type" => self.kind = walk.text(NAME_BYTES),
                b"subtype" => self.sub = walk.text(NAME_BYTES),
                b"timestamp" => self.at = walk.text(NAME_BYTES),
                b"isSidechain" => self.side = walk.raw().is_true(),
                b"agentId" => self.agent = walk.text(NAME_BYTES),
                b"gitBranch" => self.branch = walk.text(NAME_BYTES),
                b"isMeta" | b"isVisibleInTranscriptOnly" => self.meta |= walk.raw().is_true(),
                b"promptSource" => self.meta |= walk.text(NAME_BYTES).as_deref() == Some("system"),
                b"origin" => self.meta |= is_foreign(walk),
                b"isCompactSummary" => self.summary = walk.raw().is_true(),
                b"isApiErrorMessage" => self.error = walk.raw().is_true(),
                b"operation" => self.operation = walk.text(NAME_BYTES),
                b"content" => self.content = walk.raw(),
                b"message" => self.message.read(walk, &mut |_, walk| walk.skip()),
                b"compactMetadata" => self.compaction = compaction(walk),
                b"attachment" => self.attachment(walk),
                b"data" => self.progress(walk),
                b"toolUseResult" if !self.message.results.is_empty() => {
                    self.report = tools::ToolReport::read(walk);
                    return End::Left;
                }
                _ => walk.skip(),
            }
            if matches!(key, b"type" | b"subtype" | b"attachment" | b"data") && self.says_nothing() {
                return End::Left;
            }
        }
        End::Reached
    }

    /// Returns whether the line contains nothing for us. The type decides that, together with the subtype if there is
    /// one.
    fn says_nothing(&self) -> bool {
        match (self.kind.as_deref(), self.sub.as_deref()) {
            (Some("system"), Some(sub)) => !matches!(sub, "compact_boundary" | "local_command"),
            (Some("progress"), Some(sub)) => sub != "agent_progress",
            (Some("attachment"), Some(sub)) => !matches!(sub, "file" | "queued_command"),
            (Some(kind), None) => kind != "progress" && !READ.contains(&kind),
            _ => false,
        }
    }

    fn attachment(&mut self, walk: &mut Walk<'a>) {
        // The line's own `type` comes later and has the same value.
        self.kind = Some("attachment".into());
        if !walk.object() {
            return;
        }
        while let Some(key) = walk.key() {
            match key {
                b"type" => {
                    self.sub = walk.text(NAME_BYTES);
                    if self.says_nothing() {
                        return;
                    }
                }
                b"filename" => self.path = walk.text(NOTE_BYTES),
                b"prompt" => self.content = walk.raw(),
                b"commandMode" => self.meta |= walk.text(NAME_BYTES).is_some_and(|mode| mode != "prompt"),
                b"origin" => self.meta |= is_foreign(walk),
                _ => walk.skip(),
            }
        }
    }

    /// Reads what a sub-agent did. Older versions of Claude Code recorded this in the main transcript.
    fn progress(&mut self, walk: &mut Walk<'a>) {
        if !walk.object() {
            return;
        }
        while let Some(key) = walk.key() {
            match key {
                b"type" => {
                    self.sub = walk.text(NAME_BYTES);
                    if self.sub.as_deref().is_some_and(|sub| sub.ends_with("_progress")) {
                        self.kind = Some("progress".into());
                    }
                    if self.says_nothing() {
                        return;
                    }
                }
                b"agentId" => self.agent = walk.text(NAME_BYTES),
                b"message" if walk.object() => {
                    while let Some(key) = walk.key() {
                        match key {
                            b"message" => self.message.read(walk, &mut |_, walk| walk.skip()),
                            _ => walk.skip(),
                        }
                    }
                }
                b"message" => {}
                _ => walk.skip(),
            }
        }
    }

    fn line(self, torn: bool) -> Line<'a> {
        let kind = self.known(torn);
        let is_side = self.side || kind == Kind::Known(AGENT_PROGRESS);
        let at = self.at.clone();
        let chain = if is_side { Chain::Side { agent: self.agent.clone() } } else { Chain::Main };
        let branch = self.branch.clone().filter(|branch| !branch.is_empty() && branch != "HEAD");
        let items = match kind {
            Kind::Known("assistant") => self.said(),
            Kind::Known("user") => self.heard(is_side),
            Kind::Known(AGENT_PROGRESS) if self.message.role.as_deref() == Some("assistant") => self.said(),
            Kind::Known(AGENT_PROGRESS) => self.heard(is_side),
            Kind::Known("queue-operation") if self.operation.as_deref() == Some("enqueue") => self.queued(),
            Kind::Known(QUEUED_COMMAND) if !self.meta => self.queued(),
            Kind::Known(COMPACT_BOUNDARY) => {
                let nameless = Item::Compaction { trigger: None, tokens_before: None, tokens_after: None };
                vec![self.compaction.unwrap_or(nameless)]
            }
            Kind::Known(LOCAL_COMMAND) => self.typed(),
            Kind::Known(FILE) => self.path.map(|path| Item::Shown { path }).into_iter().collect(),
            _ => Vec::new(),
        };
        Line { at, chain, branch, kind, items, rest: &[] }
    }

    fn known(&self, torn: bool) -> Kind<'a> {
        let kind = match (&self.kind, &self.message.role) {
            (Some(kind), _) => kind,
            // The line is torn before its type, because older versions write the type last.
            (None, Some(role)) if matches!(role.as_ref(), "user" | "assistant") => role,
            (None, _) if torn => return Kind::Torn,
            (None, _) => return Kind::Unknown(Text::default()),
        };
        let table: &[&'static str] = match kind.as_ref() {
            "system" => &SYSTEM,
            "attachment" => &ATTACHMENTS,
            "progress" => &PROGRESS,
            name => {
                let known = READ.iter().chain(&SKIPPED).find(|known| **known == name);
                return known.map_or_else(|| Kind::Unknown(kind.clone()), |known| Kind::Known(known));
            }
        };
        let sub = self.sub.as_deref().unwrap_or_default();
        let known = table.iter().find(|known| known.split_once('/').is_some_and(|(_, name)| name == sub));
        match known {
            Some(known) => Kind::Known(known),
            None if torn && self.sub.is_none() => Kind::Torn,
            None => Kind::Unknown(format!("{kind}/{sub}").into()),
        }
    }

    /// Returns what the agent said and did.
    fn said(self) -> Vec<Item<'a>> {
        let Message { id, model, texts, calls, usage, .. } = self.message;
        if self.error || model.as_deref() == Some("<synthetic>") {
            return Vec::new();
        }
        let mut items = Vec::new();
        let texts = texts.into_iter().filter(|text| !text.trim().is_empty());
        items.extend(texts.map(|text| Item::Said { message: id.clone(), text }));
        calls.into_iter().for_each(|call| call::call(call, &mut items));
        items.extend(usage.map(|mut usage| {
            usage.message = id;
            usage.model = model;
            Item::Usage(usage)
        }));
        items
    }

    /// Returns what the agent received: results, and the user's words. A sub-agent receives no words from the user.
    fn heard(self, is_side: bool) -> Vec<Item<'a>> {
        let mut items = Vec::new();
        let mut report = self.report;
        for result in &self.message.results {
            tools::result(result, std::mem::take(&mut report), &mut items);
        }
        for text in self.message.texts {
            if self.summary {
                items.push(Item::Summary { text });
            } else if self.meta || is_side {
                items.extend(words::feedback(&text).map(|text| Item::Feedback { text: text.into() }));
            } else {
                items.extend(words::item(text));
            }
        }
        items
    }

    fn queued(self) -> Vec<Item<'a>> {
        let words = self.content.text(TEXT_BYTES).and_then(words::prompt);
        words.map(|(text, typed)| Item::Queued { text, typed }).into_iter().collect()
    }

    /// Returns a slash command that was typed but never reached the agent.
    fn typed(self) -> Vec<Item<'a>> {
        let words = self.content.text(TEXT_BYTES).and_then(words::prompt);
        words.map(|(text, typed)| Item::Prompt { text, typed }).into_iter().collect()
    }
}

/// Returns whether the object comes from something other than a person.
fn is_foreign(walk: &mut Walk<'_>) -> bool {
    let mut foreign = false;
    if walk.object() {
        while let Some(key) = walk.key() {
            match key {
                b"kind" => foreign = walk.text(NAME_BYTES).is_some_and(|kind| kind != "human"),
                _ => walk.skip(),
            }
        }
    }
    foreign
}

fn compaction<'a>(walk: &mut Walk<'a>) -> Option<Item<'a>> {
    if !walk.object() {
        return None;
    }
    let (mut trigger, mut tokens_before, mut tokens_after) = (None, None, None);
    while let Some(key) = walk.key() {
        match key {
            b"trigger" => trigger = walk.text(NAME_BYTES),
            b"preTokens" => tokens_before = walk.raw().number(),
            b"postTokens" => tokens_after = walk.raw().number(),
            _ => walk.skip(),
        }
    }
    Some(Item::Compaction { trigger, tokens_before, tokens_after })
}

#[cfg(test)]
#[path = "transcript_tests.rs"]
mod tests;
