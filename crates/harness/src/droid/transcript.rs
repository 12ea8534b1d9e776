//! Reads Factory Droid's transcript, `~/.factory/sessions/<folder>/<session>.jsonl`, line by line.

use std::borrow::Cow;

use model::transcript::{CallResult, Chain, Item, Kind, Line, NAME_BYTES, TEXT_BYTES, Typed};

use crate::fields::Fields;
use crate::tools::{exit_code_behind, todos};
use crate::transcript::call::call;
use crate::transcript::message::{Message, RawResult};
use crate::transcript::walk::{Raw, Walk};
use crate::transcript::{next_line, object};

type Text<'a> = Cow<'a, str>;

const TYPES: [&str; 5] = [SESSION_START, MESSAGE, COMPACTION_STATE, TODO_STATE, "agent_turn_outcome"];
const SESSION_START: &str = "session_start";
const MESSAGE: &str = "message";
const COMPACTION_STATE: &str = "compaction_state";
const TODO_STATE: &str = "todo_state";

const BEGINNINGS: [&str; 1] = ["{\"type\""];

/// Returns the meaning of one line. Never fails: if the line is torn, returns what comes before the tear.
pub fn read_line(bytes: &[u8]) -> Line<'_> {
    let bytes = match object(bytes, &BEGINNINGS) {
        Ok(bytes) => bytes,
        Err(line) => return *line,
    };
    let mut walk = Walk::new(bytes);
    let draft = Draft::read(&mut walk);
    let unread = if walk.is_torn() { &bytes[1..] } else { walk.rest() };
    Line { rest: next_line(unread, &BEGINNINGS), ..draft.line(bytes, walk.is_torn()) }
}

#[derive(Default)]
struct Draft<'a> {
    kind: Option<Text<'a>>,
    id: Option<Text<'a>>,
    at: Option<Text<'a>>,
    /// The session that started this one, if this is a sub-agent's session.
    caller: Option<Text<'a>>,
    summary: Option<Text<'a>>,
    message: Message<'a>,
    hook: Hook<'a>,
}

/// A hook's run, which Droid records as a message that the agent does not see.
#[derive(Default)]
struct Hook<'a> {
    visibility: Option<Text<'a>>,
    event: Option<Text<'a>>,
    results: Raw<'a>,
}

impl<'a> Draft<'a> {
    fn read(walk: &mut Walk<'a>) -> Draft<'a> {
        let mut draft = Draft::default();
        if !walk.object() {
            return draft;
        }
        while let Some(key) = walk.key() {
            match key {
                b"type" => draft.kind = walk.text(NAME_BYTES),
                b"id" => draft.id = walk.text(NAME_BYTES),
                b"timestamp" => draft.at = walk.text(NAME_BYTES),
                b"callingSessionId" => draft.caller = walk.text(NAME_BYTES),
                b"summaryText" => draft.summary = walk.text(TEXT_BYTES),
                b"message" => {
                    let hook = &mut draft.hook;
                    draft.message.read(walk, &mut |key, walk| match key {
                        b"visibility" => hook.visibility = walk.text(NAME_BYTES),
                        b"hookEventName" => hook.event = walk.text(NAME_BYTES),
                        b"hookResults" => hook.results = walk.raw(),
                        _ => walk.skip(),
                    });
                }
                _ => walk.skip(),
            }
        }
        draft
    }

    fn line(self, bytes: &'a [u8], torn: bool) -> Line<'a> {
        let kind = match &self.kind {
            Some(name) => TYPES
                .iter()
                .find(|known| *known == name)
                .map_or_else(|| Kind::Unknown(name.clone()), |known| Kind::Known(known)),
            None if torn => Kind::Torn,
            None => Kind::Unknown(Text::default()),
        };
        let at = self.at.clone();
        let chain = self.caller.clone().map_or(Chain::Main, |caller| Chain::Side { agent: Some(caller) });
        let items = match kind {
            Kind::Known(MESSAGE) => self.said_or_heard(),
            Kind::Known(COMPACTION_STATE) => {
                let compaction = Item::Compaction { trigger: None, tokens_before: None, tokens_after: None };
                std::iter::once(compaction).chain(self.summary.map(|text| Item::Summary { text })).collect()
            }
            Kind::Known(TODO_STATE) => state(bytes).into_iter().collect(),
            _ => Vec::new(),
        };
        Line { at, chain, branch: None, kind, items, rest: &[] }
    }

    fn said_or_heard(self) -> Vec<Item<'a>> {
        let mut items = Vec::new();
        // This is a hook's run. Its answer to a stop appears a second time, as if the user had said it.
        if let Some(event) = self.hook.event {
            if matches!(event.as_ref(), "Stop" | "SubagentStop") {
                items.extend(
                    answers(self.hook.results).into_iter().map(|text| Item::Feedback { text: text.into() }),
                );
            }
            return items;
        }
        if self.hook.visibility.as_deref() == Some("user_only") {
            return items;
        }
        let Message { role, texts, calls, results, .. } = self.message;
        let is_context = self.id.as_deref().is_some_and(|id| id.starts_with("context-"));
        for text in texts {
            match role.as_deref() {
                Some("assistant") if !text.trim().is_empty() => {
                    items.push(Item::Said { message: self.id.clone(), text });
                }
                Some("user") if !is_context => items.extend(prompt(text)),
                _ => {}
            }
        }
        calls.into_iter().for_each(|raw| call(raw, &mut items));
        items.extend(results.iter().map(|raw| Item::Result(result(raw))));
        items
    }
}

/// Returns the user's words. Reminders are in blocks of their own.
fn prompt(text: Text<'_>) -> Option<Item<'_>> {
    let words = text.trim();
    if words.is_empty()
        || words.starts_with("<system-reminder>")
        || words.starts_with("<system-notification>")
    {
        return None;
    }
    let name = words.strip_prefix('/').and_then(|rest| rest.split_whitespace().next());
    let typed = if name.is_some_and(|name| !name.contains('/')) { Typed::Slash } else { Typed::Words };
    Some(Item::Prompt { text, typed })
}

/// Reads a todo list that has its own line: the input of TodoWrite, or only the list in it.
fn state(line: &[u8]) -> Option<Item<'_>> {
    let line = Walk::new(line).raw().fields();
    let given = line.object("todos");
    todos("TodoWrite", if given.is_empty() { &line } else { &given }, Fields::default).map(Item::Todos)
}

fn result<'a>(raw: &RawResult<'a>) -> CallResult<'a> {
    let exit = raw.content.ending().and_then(exit_code_behind);
    // Droid does not report a failing command as an error.
    let failed = raw.failed || exit.is_some_and(|code| code != 0);
    let mut result = RawResult { call: raw.call.clone(), failed, content: raw.content }.read();
    result.exit = exit;
    result
}

/// Returns what hooks answered: the reason for a refusal in JSON, or the output of a hook that exited with code 2.
fn answers(results: Raw<'_>) -> Vec<String> {
    let mut found = Vec::new();
    let mut walk = results.walk();
    if !walk.array() {
        return found;
    }
    while walk.element() {
        let (mut code, mut stdout, mut stderr) = (None, None, None);
        if walk.object() {
            while let Some(key) = walk.key() {
                match key {
                    b"exitCode" => code = walk.raw().number(),
                    b"stdout" => stdout = walk.text(TEXT_BYTES),
                    b"stderr" => stderr = walk.text(TEXT_BYTES),
                    _ => walk.skip(),
                }
            }
        }
        let reason = match code {
            Some(2) => stderr.map(|text| text.trim().to_owned()),
            _ => stdout.as_deref().and_then(reason),
        };
        found.extend(reason.filter(|text| !text.is_empty()));
    }
    found
}

fn reason(stdout: &str) -> Option<String> {
    let mut walk = Walk::new(stdout.as_bytes());
    let (mut blocks, mut reason) = (false, None);
    if walk.object() {
        while let Some(key) = walk.key() {
            match key {
                b"decision" => blocks = walk.text(NAME_BYTES).as_deref() == Some("block"),
                b"reason" => reason = walk.text(TEXT_BYTES).map(Cow::into_owned),
                _ => walk.skip(),
            }
        }
    }
    reason.filter(|_| blocks)
}

#[cfg(test)]
#[path = "transcript_tests.rs"]
mod tests;
