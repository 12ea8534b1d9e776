//! Reads Factory Droid's transcript, `~/.factory/sessions/<folder>/<session>.jsonl`, line by line.

use std::borrow::Cow;

use model::transcript::{
    CallResult, MAX_DECODED_TEXT_BYTES, MAX_NAME_BYTES, PromptOrigin, TranscriptItem, TranscriptLine,
    TranscriptLineAuthor, TranscriptLineKind,
};

use crate::fields::JsonFields;
use crate::tools::{exit_code_at_end, todo_change};
use crate::transcript::call::push_call;
use crate::transcript::message::{ApiMessage, UndecodedToolResult};
use crate::transcript::walk::{JsonWalk, RawJson};
use crate::transcript::{find_object, next_object};

type Text<'a> = Cow<'a, str>;

const LINE_TYPES: [&str; 5] = [SESSION_START, MESSAGE, COMPACTION_STATE, TODO_STATE, "agent_turn_outcome"];
const SESSION_START: &str = "session_start";
const MESSAGE: &str = "message";
const COMPACTION_STATE: &str = "compaction_state";
const TODO_STATE: &str = "todo_state";

const LINE_BEGINNINGS: [&str; 1] = ["{\"type\""];

/// Parses one line. Never fails: a torn line is parsed up to the tear.
pub fn read_line(bytes: &[u8]) -> TranscriptLine<'_> {
    let bytes = match find_object(bytes, &LINE_BEGINNINGS) {
        Ok(bytes) => bytes,
        Err(line) => return *line,
    };
    let mut walk = JsonWalk::new(bytes);
    let draft = LineDraft::read_fields(&mut walk);
    let unread = if walk.is_torn() { &bytes[1..] } else { walk.unread_bytes() };
    TranscriptLine {
        text_after_object: next_object(unread, &LINE_BEGINNINGS),
        ..draft.into_line(bytes, walk.is_torn())
    }
}

#[derive(Default)]
struct LineDraft<'a> {
    kind: Option<Text<'a>>,
    id: Option<Text<'a>>,
    at: Option<Text<'a>>,
    /// The session that started this session, if this is a sub-agent's session.
    caller: Option<Text<'a>>,
    summary: Option<Text<'a>>,
    message: ApiMessage<'a>,
    hook: HookRun<'a>,
}

/// A run of a hook, which Droid records as a message that the agent does not see.
#[derive(Default)]
struct HookRun<'a> {
    visibility: Option<Text<'a>>,
    event: Option<Text<'a>>,
    results: RawJson<'a>,
}

impl<'a> LineDraft<'a> {
    fn read_fields(walk: &mut JsonWalk<'a>) -> LineDraft<'a> {
        let mut draft = LineDraft::default();
        if !walk.enter_object() {
            return draft;
        }
        while let Some(key) = walk.next_key() {
            match key {
                b"type" => draft.kind = walk.take_text(MAX_NAME_BYTES),
                b"id" => draft.id = walk.take_text(MAX_NAME_BYTES),
                b"timestamp" => draft.at = walk.take_text(MAX_NAME_BYTES),
                b"callingSessionId" => draft.caller = walk.take_text(MAX_NAME_BYTES),
                b"summaryText" => draft.summary = walk.take_text(MAX_DECODED_TEXT_BYTES),
                b"message" => {
                    let hook = &mut draft.hook;
                    draft.message.read_object(walk, &mut |key, walk| match key {
                        b"visibility" => hook.visibility = walk.take_text(MAX_NAME_BYTES),
                        b"hookEventName" => hook.event = walk.take_text(MAX_NAME_BYTES),
                        b"hookResults" => hook.results = walk.take_raw(),
                        _ => walk.skip_value(),
                    });
                }
                _ => walk.skip_value(),
            }
        }
        draft
    }

    fn into_line(self, bytes: &'a [u8], torn: bool) -> TranscriptLine<'a> {
        let kind = match &self.kind {
            Some(name) => LINE_TYPES.iter().find(|known| *known == name).map_or_else(
                || TranscriptLineKind::Unknown(name.clone()),
                |known| TranscriptLineKind::Known(known),
            ),
            None if torn => TranscriptLineKind::Torn,
            None => TranscriptLineKind::Unknown(Text::default()),
        };
        let at = self.at.clone();
        let author = self.caller.clone().map_or(TranscriptLineAuthor::Main, |caller| {
            TranscriptLineAuthor::SubAgent { agent: Some(caller) }
        });
        let items = match kind {
            TranscriptLineKind::Known(MESSAGE) => self.message_items(),
            TranscriptLineKind::Known(COMPACTION_STATE) => {
                let compaction =
                    TranscriptItem::Compaction { trigger: None, tokens_before: None, tokens_after: None };
                std::iter::once(compaction)
                    .chain(self.summary.map(|text| TranscriptItem::Summary { text }))
                    .collect()
            }
            TranscriptLineKind::Known(TODO_STATE) => read_todo_state(bytes).into_iter().collect(),
            _ => Vec::new(),
        };
        TranscriptLine { time_text: at, author, branch: None, kind, items, text_after_object: &[] }
    }

    fn message_items(self) -> Vec<TranscriptItem<'a>> {
        let mut items = Vec::new();
        // The line records a hook run. If the hook answered a stop, a second line repeats the answer as if the user had
        // written it.
        if let Some(event) = self.hook.event {
            if matches!(event.as_ref(), "Stop" | "SubagentStop") {
                items.extend(
                    hook_answers(self.hook.results)
                        .into_iter()
                        .map(|text| TranscriptItem::StopHookFeedback { text: text.into() }),
                );
            }
            return items;
        }
        if self.hook.visibility.as_deref() == Some("user_only") {
            return items;
        }
        let ApiMessage { role, texts, calls, results, .. } = self.message;
        let is_context = self.id.as_deref().is_some_and(|id| id.starts_with("context-"));
        for text in texts {
            match role.as_deref() {
                Some("assistant") if !text.trim().is_empty() => {
                    items.push(TranscriptItem::AgentMessage { message_id: self.id.clone(), text });
                }
                Some("user") if !is_context => items.extend(extract_prompt(text)),
                _ => {}
            }
        }
        calls.into_iter().for_each(|raw| push_call(raw, &mut items));
        items.extend(results.iter().map(|raw| TranscriptItem::Result(to_call_result(raw))));
        items
    }
}

/// Returns the user's text, or `None` for a reminder. Droid writes reminders in separate blocks.
fn extract_prompt(text: Text<'_>) -> Option<TranscriptItem<'_>> {
    let words = text.trim();
    if words.is_empty()
        || words.starts_with("<system-reminder>")
        || words.starts_with("<system-notification>")
    {
        return None;
    }
    let name = words.strip_prefix('/').and_then(|rest| rest.split_whitespace().next());
    let typed = if name.is_some_and(|name| !name.contains('/')) {
        PromptOrigin::Slash
    } else {
        PromptOrigin::PlainText
    };
    Some(TranscriptItem::Prompt { text, origin: typed })
}

/// Reads a line that records the todo list. The line contains either the input of TodoWrite or only the list.
fn read_todo_state(line: &[u8]) -> Option<TranscriptItem<'_>> {
    let line = JsonWalk::new(line).take_raw().fields();
    let given = line.object("todos");
    todo_change("TodoWrite", if given.is_empty() { &line } else { &given }, JsonFields::default)
        .map(TranscriptItem::Todos)
}

fn to_call_result<'a>(raw: &UndecodedToolResult<'a>) -> CallResult<'a> {
    let exit = raw.content.end_of_string().and_then(exit_code_at_end);
    // Droid does not report a failed command as an error, so the exit code is checked too.
    let failed = raw.failed || exit.is_some_and(|code| code != 0);
    let mut result =
        UndecodedToolResult { call_id: raw.call_id.clone(), failed, content: raw.content }.to_call_result();
    result.exit_code = exit;
    result
}

/// Returns what hooks answered. If a hook exited with code 2, its answer is its error output. Otherwise, the answer
/// is the refusal reason in its JSON output.
fn hook_answers(results: RawJson<'_>) -> Vec<String> {
    let mut found = Vec::new();
    let mut walk = results.walk();
    if !walk.enter_array() {
        return found;
    }
    while walk.next_element() {
        let (mut code, mut stdout, mut stderr) = (None, None, None);
        if walk.enter_object() {
            while let Some(key) = walk.next_key() {
                match key {
                    b"exitCode" => code = walk.take_raw().number(),
                    b"stdout" => stdout = walk.take_text(MAX_DECODED_TEXT_BYTES),
                    b"stderr" => stderr = walk.take_text(MAX_DECODED_TEXT_BYTES),
                    _ => walk.skip_value(),
                }
            }
        }
        let reason = match code {
            Some(2) => stderr.map(|text| text.trim().to_owned()),
            _ => stdout.as_deref().and_then(refusal_reason),
        };
        found.extend(reason.filter(|text| !text.is_empty()));
    }
    found
}

fn refusal_reason(stdout: &str) -> Option<String> {
    let mut walk = JsonWalk::new(stdout.as_bytes());
    let (mut blocks, mut reason) = (false, None);
    if walk.enter_object() {
        while let Some(key) = walk.next_key() {
            match key {
                b"decision" => blocks = walk.take_text(MAX_NAME_BYTES).as_deref() == Some("block"),
                b"reason" => reason = walk.take_text(MAX_DECODED_TEXT_BYTES).map(Cow::into_owned),
                _ => walk.skip_value(),
            }
        }
    }
    reason.filter(|_| blocks)
}

#[cfg(test)]
#[path = "transcript_tests.rs"]
mod tests;
