//! Reads a session in OpenCode's database, which has one row per message part. [`SESSION_QUERY`] turns each row into
//! one object.

use model::transcript::{
    CallResult, CallSubject, DeferredText, PromptOrigin, TokenUsage, ToolCall, TranscriptItem,
    TranscriptLine, TranscriptLineAuthor, TranscriptLineKind, UserQuestion,
};

use super::wire::{question_answers, touched_files};
use crate::fields::JsonFields;
use crate::tools::{self, todo_change};
use crate::transcript::find_object;
use crate::transcript::walk::JsonWalk;

/// Selects one session. The query reads only the tables of sessions, never the tables of accounts. A message can
/// contain whole diffs, so only the few fields that we need are selected. Attached files and reasoning are left out. A
/// row with damaged JSON becomes a torn line, so that it is counted and the other rows can still be read.
pub const SESSION_QUERY: &str = "\
select case when json_valid(m.data) and json_valid(p.data) then \
json_object('type', 'opencode', 'at', strftime('%Y-%m-%dT%H:%M:%fZ', m.time_created / 1000.0, 'unixepoch'), 'cwd', s.directory, 'caller', s.parent_id, \
'message', m.id, 'role', json_extract(m.data, '$.role'), 'summary', json_type(m.data, '$.summary') = 'true', \
'error', json_extract(m.data, '$.error.name'), 'part', json(p.data)) else '{' end as line \
from session s join message m on m.session_id = s.id join part p on p.message_id = m.id \
where s.id = '{session}' and (not json_valid(p.data) or json_extract(p.data, '$.type') not in ('file', 'reasoning')) \
order by m.time_created, m.id, p.id";

const ROW_TYPE: &str = "opencode";

/// Types of parts that are not needed.
const IGNORED_PART_TYPES: [&str; 9] =
    ["reasoning", "step-start", "patch", "snapshot", "agent", "retry", "subtask", "file", "image"];

const LINE_BEGINNINGS: [&str; 1] = ["{\"type\":\"opencode\""];

/// Parses one row. Never fails: an incomplete row gives a line without items.
pub fn read_line(bytes: &[u8]) -> TranscriptLine<'_> {
    let bytes = match find_object(bytes, &LINE_BEGINNINGS) {
        Ok(bytes) => bytes,
        Err(line) => return *line,
    };
    let mut walk = JsonWalk::new(bytes);
    let row = walk.take_raw().fields();
    if walk.is_torn() {
        return TranscriptLine { kind: TranscriptLineKind::Torn, ..TranscriptLine::default() };
    }
    let kind = row.text("type").unwrap_or_default();
    if kind != ROW_TYPE {
        return TranscriptLine { kind: TranscriptLineKind::Unknown(kind), ..TranscriptLine::default() };
    }
    let part = row.object("part");
    let kind = part.text("type").unwrap_or_default();
    let (kind, items) = match kind.as_ref() {
        "text" => (TranscriptLineKind::Known(ROW_TYPE), text_items(&row, &part)),
        "tool" => (TranscriptLineKind::Known(ROW_TYPE), tool_items(&part)),
        "compaction" => {
            let trigger = if part.boolean("auto") == Some(true) { "auto" } else { "manual" };
            let compaction = TranscriptItem::Compaction {
                trigger: Some(trigger.into()),
                tokens_before: None,
                tokens_after: None,
            };
            (TranscriptLineKind::Known(ROW_TYPE), vec![compaction])
        }
        "step-finish" => (TranscriptLineKind::Known(ROW_TYPE), usage_items(&row, &part)),
        beside if IGNORED_PART_TYPES.contains(&beside) => (TranscriptLineKind::Known(ROW_TYPE), Vec::new()),
        _ => (TranscriptLineKind::Unknown(kind), Vec::new()),
    };
    let author = row
        .text("caller")
        .map_or(TranscriptLineAuthor::Main, |_| TranscriptLineAuthor::SubAgent { agent: None });
    TranscriptLine { time_text: row.text("at"), author, branch: None, kind, items, text_after_object: &[] }
}

fn text_items<'a>(row: &JsonFields<'a>, part: &JsonFields<'a>) -> Vec<TranscriptItem<'a>> {
    let ours = part.object("metadata").text("throughline");
    let is_context = ours.is_none() && part.boolean("synthetic") == Some(true);
    let Some(text) = part.text("text").filter(|text| !text.trim().is_empty() && !is_context) else {
        return Vec::new();
    };
    let item = match (row.text("role").as_deref(), ours.as_deref()) {
        (Some("user"), None) => TranscriptItem::Prompt { origin: prompt_origin(&text), text },
        (Some("user"), Some("loop")) => TranscriptItem::StopHookFeedback { text },
        (Some("assistant"), _) if row.number("summary") == Some(1) => TranscriptItem::Summary { text },
        (Some("assistant"), _) => TranscriptItem::AgentMessage { message_id: row.text("message"), text },
        _ => return Vec::new(),
    };
    vec![item]
}

fn prompt_origin(text: &str) -> PromptOrigin {
    let name = text.trim().strip_prefix('/').and_then(|rest| rest.split_whitespace().next());
    if name.is_some_and(|name| !name.contains('/')) { PromptOrigin::Slash } else { PromptOrigin::PlainText }
}

/// Returns a call, and its result if the same part contains it.
fn tool_items<'a>(part: &JsonFields<'a>) -> Vec<TranscriptItem<'a>> {
    let (tool, id) = (part.text("tool").unwrap_or_default(), part.text("callID"));
    let state = part.object("state");
    let (input, result) = (state.object("input"), state.object("metadata"));
    let subject = match tool.as_ref() {
        "question" => CallSubject::Questions(read_questions(&input)),
        "task" => CallSubject::Delegated {
            kind: input.text("subagent_type"),
            task: input.text("description").unwrap_or_default(),
        },
        _ => CallSubject::OrdinaryWork,
    };
    let files = touched_files(&tool, &input, &result);
    let input_text = tools::subject_of_external_call(&tool, &input);
    let replacement = match files.as_slice() {
        [file] if tool == "edit" => tools::replacement_of_edit(&file.path, &input),
        _ => None,
    };
    let call = ToolCall {
        id: id.clone(),
        files,
        command: input.text("command"),
        input_text,
        subject,
        tool: tool.clone(),
        replacement,
    };
    let mut items = vec![TranscriptItem::Call(call)];
    if tool == "todowrite" {
        items.extend(todo_change("TodoWrite", &input, JsonFields::default).map(TranscriptItem::Todos));
    }
    let ended = match state.text("status").as_deref() {
        Some("completed") => None,
        Some("error") => Some(state.text("error").unwrap_or_default()),
        // The call is pending or running: the session ended before the call finished.
        _ => return items,
    };
    let exit = result.number("exit").map(u64::cast_signed);
    let failed = ended.is_some() || exit.is_some_and(|exit| exit != 0);
    let text = ended.or_else(|| state.text("output")).unwrap_or_default();
    let last_lines = text.clone();
    let refused = text.starts_with("The user rejected permission");
    items.push(TranscriptItem::Result(CallResult {
        call_id: id.clone(),
        failed,
        is_refused_by_user: refused,
        exit_code: exit,
        text: DeferredText::Decoded(text),
        last_lines: DeferredText::Decoded(last_lines),
        ..CallResult::default()
    }));
    items.extend(question_answers(&input, &result).into_iter().map(|answer| {
        TranscriptItem::AnswerToQuestion {
            call_id: id.clone(),
            question: Some(answer.question),
            text: answer.answer,
        }
    }));
    items
}

fn read_questions<'a>(input: &JsonFields<'a>) -> Vec<UserQuestion<'a>> {
    let question = |fields: &JsonFields<'a>| UserQuestion {
        text: fields.text("question").unwrap_or_default(),
        options: fields.objects("options").iter().filter_map(|option| option.text("label")).collect(),
    };
    input.objects("questions").iter().map(question).collect()
}

fn usage_items<'a>(row: &JsonFields<'a>, part: &JsonFields<'a>) -> Vec<TranscriptItem<'a>> {
    let tokens = part.object("tokens");
    let cache = tokens.object("cache");
    let number = |fields: &JsonFields<'a>, name: &str| fields.number(name).unwrap_or_default();
    let usage = TokenUsage {
        message_id: row.text("message"),
        model: None,
        input: number(&tokens, "input"),
        cache_read: number(&cache, "read"),
        cache_write: number(&cache, "write"),
        output: number(&tokens, "output"),
    };
    vec![TranscriptItem::Usage(usage)]
}

#[cfg(test)]
#[path = "transcript_tests.rs"]
mod tests;
