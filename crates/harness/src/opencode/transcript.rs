//! A session in OpenCode's database: one message part per row. [`QUERY`] turns each row into one object.

use model::transcript::{About, Call, CallResult, Chain, Item, Kind, Line, Question, Typed, Usage};

use super::wire::{answers, touched};
use crate::fields::Fields;
use crate::tools::{self, todos};
use crate::transcript::object;
use crate::transcript::walk::Walk;

/// Reads only the session tables, never those with accounts. A message's own data can contain whole diffs, so only the
/// few fields that we need are selected; attached files and reasoning are left out. A row with damaged JSON is returned
/// as a torn line, so that it is counted and the other rows can still be read.
pub const QUERY: &str = "\
select case when json_valid(m.data) and json_valid(p.data) then \
json_object('type', 'opencode', 'at', strftime('%Y-%m-%dT%H:%M:%fZ', m.time_created / 1000.0, 'unixepoch'), 'cwd', s.directory, 'caller', s.parent_id, \
'message', m.id, 'role', json_extract(m.data, '$.role'), 'summary', json_type(m.data, '$.summary') = 'true', \
'error', json_extract(m.data, '$.error.name'), 'part', json(p.data)) else '{' end as line \
from session s join message m on m.session_id = s.id join part p on p.message_id = m.id \
where s.id = '{session}' and (not json_valid(p.data) or json_extract(p.data, '$.type') not in ('file', 'reasoning')) \
order by m.time_created, m.id, p.id";

const ROW: &str = "opencode";

/// Kinds of parts that contain nothing for us, or nothing new.
const BESIDE: [&str; 9] =
    ["reasoning", "step-start", "patch", "snapshot", "agent", "retry", "subtask", "file", "image"];

const BEGINNINGS: [&str; 1] = ["{\"type\":\"opencode\""];

/// Returns the meaning of one row. Never fails: a torn row gives nothing.
pub fn read_line(bytes: &[u8]) -> Line<'_> {
    let bytes = match object(bytes, &BEGINNINGS) {
        Ok(bytes) => bytes,
        Err(line) => return *line,
    };
    let mut walk = Walk::new(bytes);
    let row = walk.raw().fields();
    if walk.is_torn() {
        return Line { kind: Kind::Torn, ..Line::default() };
    }
    let kind = row.text("type").unwrap_or_default();
    if kind != ROW {
        return Line { kind: Kind::Unknown(kind), ..Line::default() };
    }
    let part = row.object("part");
    let kind = part.text("type").unwrap_or_default();
    let (kind, items) = match kind.as_ref() {
        "text" => (Kind::Known(ROW), text(&row, &part)),
        "tool" => (Kind::Known(ROW), tool(&part)),
        "compaction" => {
            let trigger = if part.flag("auto") == Some(true) { "auto" } else { "manual" };
            let compaction =
                Item::Compaction { trigger: Some(trigger.into()), tokens_before: None, tokens_after: None };
            (Kind::Known(ROW), vec![compaction])
        }
        "step-finish" => (Kind::Known(ROW), usage(&row, &part)),
        beside if BESIDE.contains(&beside) => (Kind::Known(ROW), Vec::new()),
        _ => (Kind::Unknown(kind), Vec::new()),
    };
    let chain = row.text("caller").map_or(Chain::Main, |_| Chain::Side { agent: None });
    Line { at: row.text("at"), chain, branch: None, kind, items, rest: &[] }
}

fn text<'a>(row: &Fields<'a>, part: &Fields<'a>) -> Vec<Item<'a>> {
    let ours = part.object("metadata").text("throughline");
    let is_context = ours.is_none() && part.flag("synthetic") == Some(true);
    let Some(text) = part.text("text").filter(|text| !text.trim().is_empty() && !is_context) else {
        return Vec::new();
    };
    let item = match (row.text("role").as_deref(), ours.as_deref()) {
        (Some("user"), None) => Item::Prompt { typed: typed(&text), text },
        (Some("user"), Some("loop")) => Item::Feedback { text },
        (Some("assistant"), _) if row.number("summary") == Some(1) => Item::Summary { text },
        (Some("assistant"), _) => Item::Said { message: row.text("message"), text },
        _ => return Vec::new(),
    };
    vec![item]
}

fn typed(text: &str) -> Typed {
    let name = text.trim().strip_prefix('/').and_then(|rest| rest.split_whitespace().next());
    if name.is_some_and(|name| !name.contains('/')) { Typed::Slash } else { Typed::Words }
}

/// Returns a call, and its result if the same part contains one.
fn tool<'a>(part: &Fields<'a>) -> Vec<Item<'a>> {
    let (tool, id) = (part.text("tool").unwrap_or_default(), part.text("callID"));
    let state = part.object("state");
    let (input, result) = (state.object("input"), state.object("metadata"));
    let about = match tool.as_ref() {
        "question" => About::Questions(questions(&input)),
        "task" => About::Delegated {
            kind: input.text("subagent_type"),
            what: input.text("description").unwrap_or_default(),
        },
        _ => About::Work,
    };
    let files = touched(&tool, &input, &result);
    let asked = tools::asked(&tool, &input);
    let call =
        Call { id: id.clone(), files, command: input.text("command"), asked, about, tool: tool.clone() };
    let mut items = vec![Item::Call(call)];
    if tool == "todowrite" {
        items.extend(todos("TodoWrite", &input, Fields::default).map(Item::Todos));
    }
    let ended = match state.text("status").as_deref() {
        Some("completed") => None,
        Some("error") => Some(state.text("error").unwrap_or_default()),
        // The call is pending or running: the session ended before the call did.
        _ => return items,
    };
    let exit = result.number("exit").map(u64::cast_signed);
    let failed = ended.is_some() || exit.is_some_and(|exit| exit != 0);
    let text = ended.or_else(|| state.text("output")).unwrap_or_default();
    let tail = text.clone();
    let refused = text.starts_with("The user rejected permission");
    items.push(Item::Result(CallResult {
        call: id.clone(),
        failed,
        refused,
        exit,
        text,
        tail,
        ..CallResult::default()
    }));
    items.extend(answers(&input, &result).into_iter().map(|answer| Item::Answer {
        call: id.clone(),
        question: Some(answer.question),
        text: answer.answer,
    }));
    items
}

fn questions<'a>(input: &Fields<'a>) -> Vec<Question<'a>> {
    let question = |fields: &Fields<'a>| Question {
        text: fields.text("question").unwrap_or_default(),
        options: fields.objects("options").iter().filter_map(|option| option.text("label")).collect(),
    };
    input.objects("questions").iter().map(question).collect()
}

fn usage<'a>(row: &Fields<'a>, part: &Fields<'a>) -> Vec<Item<'a>> {
    let tokens = part.object("tokens");
    let cache = tokens.object("cache");
    let number = |fields: &Fields<'a>, name: &str| fields.number(name).unwrap_or_default();
    let usage = Usage {
        message: row.text("message"),
        model: None,
        input: number(&tokens, "input"),
        cache_read: number(&cache, "read"),
        cache_write: number(&cache, "write"),
        output: number(&tokens, "output"),
    };
    vec![Item::Usage(usage)]
}

#[cfg(test)]
#[path = "transcript_tests.rs"]
mod tests;
