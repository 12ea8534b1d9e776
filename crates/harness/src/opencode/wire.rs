//! The payloads of our own plugin, and the replies that it accepts: one object with named fields.

use std::borrow::Cow;

use model::brief;
use model::effect;
use model::event::{
    DelegatedWork, Event, EventKind, EventSubagent, FileAction, QuestionAnswer, StartSource, StopEvent,
    ToolDone, TouchedFile,
};
use model::reply::Reply;
use model::transcript::TokenUsage;
use model::window::ContextWindowUse;

use crate::fields::JsonFields;
use crate::{UndecodablePayload, tools};

pub fn decode<'a>(payload: &'a [u8], word: &'a str) -> Result<Event<'a>, UndecodablePayload> {
    let (fields, problem) = JsonFields::parse(payload);
    if fields.is_empty() {
        return Err(UndecodablePayload::NotAnObject(problem.unwrap_or("it has no fields").to_owned()));
    }
    let session =
        fields.text("session_id").filter(|id| !id.is_empty()).ok_or(UndecodablePayload::NoSession)?;
    let kind = event_kind(&fields, fields.text("event").unwrap_or(Cow::Borrowed(word)));
    let id = match kind {
        // A stop is reported twice if its validators take a long time. The message id shows that both reports are about
        // the same stop.
        EventKind::Prompt { .. } | EventKind::Stop(_) => fields.text("message_id"),
        EventKind::Summary { .. } => fields.text("part_id"),
        // Each report has its own id. If the plugin gets no answer, it asks again, and the second request must be
        // answered too.
        EventKind::SessionStart { .. } => fields.text("report_id"),
        _ => None,
    };
    Ok(Event {
        session,
        harness_event_id: id.filter(|id| !id.is_empty()),
        is_payload_truncated: problem.is_some(),
        previous_session: None,
        cwd: fields.text("cwd"),
        transcript: None,
        subagent: fields
            .text("agent_id")
            .map(|id| EventSubagent { id, agent_type: fields.text("agent_type").unwrap_or_default() }),
        kind,
    })
}

pub fn encode(reply: &Reply, kind: &EventKind) -> Vec<u8> {
    let takes_context =
        matches!(kind, EventKind::SessionStart { .. } | EventKind::Prompt { .. } | EventKind::SubagentStart);
    let (name, text) = match (reply, kind) {
        // The field `brief` tells the plugin not to ask for the brief again.
        (Reply::ContextForAgent(text), EventKind::Prompt { .. }) if brief::has_compaction_brief(text) => {
            return serde_json::json!({ "brief": true, "context": text }).to_string().into_bytes();
        }
        (Reply::MessageForUser(text), _) => ("tell", text),
        (Reply::ContextForAgent(text), _) if takes_context => ("context", text),
        (Reply::ContextAndUser { context, user }, _) if takes_context => {
            return serde_json::json!({ "context": context, "tell": user }).to_string().into_bytes();
        }
        (Reply::GuideSummariser(text) | Reply::ContextForAgent(text), EventKind::BeforeCompact { .. }) => {
            ("guidance", text)
        }
        (Reply::ReplaceToolOutput(text), EventKind::ToolDone(_)) => ("output", text),
        (Reply::BlockStop(text), EventKind::Stop(_)) => ("feed", text),
        (Reply::AskToCallAgain, EventKind::Stop(_)) => return br#"{"wait":true}"#.to_vec(),
        _ => return Vec::new(),
    };
    serde_json::json!({ name: text }).to_string().into_bytes()
}

/// Returns the output of a tool if a summary may replace it. Our plugin sends only the output of `bash`, `task`, `grep`
/// and `webfetch`. The output of `task` is an agent's answer and is never replaced.
pub fn replaceable_output<'a>(done: &ToolDone<'a>) -> Option<Cow<'a, str>> {
    let is_replaced = match done.tool.as_ref() {
        // A command without an exit code was aborted or took too long. Such a command counts as failed, and the output
        // of a failed command is shown in full.
        "bash" => done.exit_code.is_some(),
        "grep" | "webfetch" => true,
        _ => false,
    };
    is_replaced.then(|| JsonFields::parse(done.raw_result).0.text("output"))?
}

/// Returns the kind of an event. Accepts both the plugin's event names and ours, so that a hook can be tried by hand.
fn event_kind<'a>(fields: &JsonFields<'a>, name: Cow<'a, str>) -> EventKind<'a> {
    match name.as_ref() {
        "session.created" | "experimental.chat.messages.transform" | "session-start" => {
            EventKind::SessionStart { source: StartSource::parse(&fields.text("source").unwrap_or_default()) }
        }
        "chat.message" | "prompt" => EventKind::Prompt { text: fields.text("prompt").unwrap_or_default() },
        "tool.execute.after" | "tool-done" => EventKind::ToolDone(Box::new(read_tool_done(fields))),
        "experimental.session.compacting" | "before-compact" => {
            EventKind::BeforeCompact { trigger: fields.text("trigger"), instructions: None }
        }
        "experimental.text.complete" | "summary" => {
            EventKind::Summary { text: fields.text("text").unwrap_or_default() }
        }
        "session.compacted" | "after-compact" => EventKind::AfterCompact { trigger: fields.text("trigger") },
        "subagent.created" | "subagent-start" => EventKind::SubagentStart,
        "subagent.idle" | "subagent-stop" => {
            EventKind::SubagentStop { message: fields.text("message"), task: None }
        }
        "session.idle" | "stop" => EventKind::Stop(StopEvent {
            message: fields.text("message"),
            message_id: fields.text("message_id"),
            turn_usage: sum_usage(&fields.objects("steps")),
            context_use: context_use(fields),
            cannot_wait: fields.boolean("patient") == Some(false),
            ..StopEvent::default()
        }),
        "session.deleted" | "dispose" | "session-end" => {
            EventKind::SessionEnd { reason: fields.text("reason") }
        }
        _ => EventKind::Other { name },
    }
}

/// Adds up the tokens of a turn's steps.
fn sum_usage<'a>(steps: &[JsonFields<'a>]) -> Option<TokenUsage<'a>> {
    let sum = |number: &dyn Fn(&JsonFields<'a>) -> Option<u64>| steps.iter().filter_map(number).sum();
    let usage = TokenUsage {
        message_id: None,
        model: None,
        input: sum(&|step| step.number("input")),
        cache_read: sum(&|step| step.object("cache").number("read")),
        cache_write: sum(&|step| step.object("cache").number("write")),
        output: sum(&|step| step.number("output")),
    };
    (!steps.is_empty()).then_some(usage)
}

/// Returns how much of the context window the last request of the turn used.
fn context_use(fields: &JsonFields) -> Option<ContextWindowUse> {
    let usage = sum_usage(fields.objects("steps").last().map(std::slice::from_ref)?)?;
    let model = fields.text("model").unwrap_or_default().into_owned();
    Some(ContextWindowUse::from_usage_report(&usage, model, fields.number("window")))
}

fn read_tool_done<'a>(fields: &JsonFields<'a>) -> ToolDone<'a> {
    let tool = fields.text("tool").unwrap_or_default();
    let (input, result) = (fields.object("input"), fields.object("result"));
    let error = fields.text("error");
    let exit = result.number("exit").map(u64::cast_signed);
    let failed = error.is_some() || exit.is_some_and(|exit| exit != 0);
    let command = input.text("command");
    let is_told = match &command {
        Some(command) => tools::is_command_output_needed(command),
        None => effect::tool_acts(&tool),
    };
    let output = result.text("output");
    ToolDone {
        files: touched_files(&tool, &input, &result),
        todo_change: if tool == "todowrite" {
            tools::todo_change("TodoWrite", &input, JsonFields::default)
        } else {
            None
        },
        answers: question_answers(&input, &result),
        input_text: tools::subject_of_external_call(&tool, &input),
        delegated_work: input.text("description").filter(|_| tool == "task").map(|asked| DelegatedWork {
            task: asked,
            answer: output.clone().filter(|_| !failed).unwrap_or_default(),
        }),
        proposed_plan: None,
        raw_result: fields.raw_bytes("result"),
        error: error.or_else(|| output.clone().filter(|_| failed)),
        output: output.filter(|_| is_told),
        command,
        call_id: fields.text("call_id"),
        duration_ms: fields.number("ms"),
        tool,
        exit_code: exit,
        failed,
    }
}

pub(super) fn touched_files<'a>(
    tool: &str,
    input: &JsonFields<'a>,
    result: &JsonFields<'a>,
) -> Vec<TouchedFile<'a>> {
    let action = match tool {
        "read" => FileAction::Read,
        "edit" | "multiedit" => FileAction::Edit,
        "write" if result.boolean("exists") == Some(false) => FileAction::Create,
        "write" => FileAction::Edit,
        "apply_patch" | "patch" => return files_in_patch(input, result),
        _ => return Vec::new(),
    };
    let Some(path) = input.text("filePath") else { return Vec::new() };
    let mut file = TouchedFile::new(path, action);
    if action != FileAction::Read {
        file.changed_names = tools::names_changed_by_edit(&file.path, input, action == FileAction::Create);
    }
    vec![file]
}

/// Returns the files that a patch changed. They are read from the tool's result or, if the result lists no files, from
/// the patch itself.
fn files_in_patch<'a>(input: &JsonFields<'a>, result: &JsonFields<'a>) -> Vec<TouchedFile<'a>> {
    let changed = |file: JsonFields<'a>| {
        let action = match file.text("type").as_deref() {
            Some("add") => FileAction::Create,
            Some("delete") => FileAction::Delete,
            _ => FileAction::Edit,
        };
        let to = file.text("to").or_else(|| file.text("movePath"));
        let path = file.text("path").or_else(|| file.text("filePath"));
        let from = if to.is_some() { FileAction::Delete } else { action };
        let from = path.map(|path| TouchedFile::new(path, from));
        from.into_iter().chain(to.map(|path| TouchedFile::new(path, FileAction::Create))).collect::<Vec<_>>()
    };
    let known: Vec<TouchedFile> = result.objects("files").into_iter().flat_map(changed).collect();
    match known.is_empty() {
        true => tools::files_in_patch(&input.text("patchText").unwrap_or_default()),
        false => known,
    }
}

/// Returns each question of a call with its answer. The result lists the answers in the order of the questions, and
/// each answer is a list of labels.
pub(super) fn question_answers<'a>(
    input: &JsonFields<'a>,
    result: &JsonFields<'a>,
) -> Vec<QuestionAnswer<'a>> {
    let answers = result.text_lists("answers");
    let questions = input.objects("questions");
    let pairs = questions.iter().zip(answers).filter(|(_, chosen)| !chosen.is_empty());
    pairs
        .filter_map(|(question, chosen)| {
            Some(QuestionAnswer { question: question.text("question")?, answer: chosen.join(", ").into() })
        })
        .collect()
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
