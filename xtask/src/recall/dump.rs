//! `--dump`: writes files for a person or a model that judges the briefs, in one folder for each compaction.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use model::text::cut_to_bytes as cut_text;
use serde_json::Value;

use super::cut::{MAX_CALLS_AFTER, RecallSession, SessionCut, SessionCutKind, collapse_white_space};
use super::events::{EventKind, ToolCall};
use super::texts::SessionUpToCut;

/// The longest brief that a hook may send in addition to a summary, in characters.
const BRIEF_SIZE_WITH_SUMMARY: usize = 9_500;

/// How many bytes of an input are shown.
const MAX_INPUT_BYTES: usize = 400;
/// How many bytes of a result are shown.
const MAX_DUMPED_RESULT_BYTES: usize = 500;
/// How many bytes of a message are shown.
const MAX_MESSAGE_BYTES: usize = 3_000;

pub fn write_dump_of_cut(
    folder: &Path,
    session: &RecallSession,
    cut: &SessionCut,
    past: &SessionUpToCut,
) -> Result<()> {
    let name = match cut.kind {
        SessionCutKind::Compaction(number) => format!("{}-c{}", session.name, number + 1),
        SessionCutKind::Artificial => format!("{}-line{}", session.name, cut.line),
    };
    let folder = folder.join(name);
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let prompt = past.pickup_text()?;
    let texts = [
        ("brief-2000.txt", past.brief_alone(2_000, None)),
        ("brief-9500.txt", past.brief_alone(9_500, None)),
        ("beside.txt", past.brief_beside_summary(&cut.summary, BRIEF_SIZE_WITH_SUMMARY, None)),
        ("packet.txt", prompt),
        ("summary.txt", cut.summary.clone()),
        ("after.txt", describe_what_followed(session, cut)),
    ];
    for (name, text) in texts {
        let path = folder.join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Describes to a judge what the agent did next.
fn describe_what_followed(session: &RecallSession, cut: &SessionCut) -> String {
    let mut text = String::new();
    let mut calls = 0;
    let later = session.events[cut.event_count_before..].iter().map(|event| &event.kind);
    for what in later.skip_while(|what| matches!(what, EventKind::Compaction | EventKind::Summary(_))) {
        let line = match what {
            // Stop at the next compaction, because the agent then works from another summary.
            EventKind::Compaction | EventKind::Summary(_) => break,
            EventKind::Call(_) if calls == MAX_CALLS_AFTER => break,
            EventKind::Prompt(words) => format!("USER: {}", cut_for_judge(words, MAX_MESSAGE_BYTES)),
            EventKind::AgentMessage(words) => format!("AGENT: {}", cut_for_judge(words, MAX_MESSAGE_BYTES)),
            EventKind::Call(call) => {
                calls += 1;
                format!(
                    "CALL {calls}: {} {}",
                    call.tool,
                    cut_for_judge(&format_call_input(call), MAX_INPUT_BYTES)
                )
            }
            EventKind::Result { end, text, .. } => {
                format!("  {end:?}: {}", cut_for_judge(text, MAX_DUMPED_RESULT_BYTES))
            }
        };
        let _ = writeln!(text, "{line}");
    }
    text
}

/// Returns the fields of a call's input, each as `name: value`.
fn format_call_input(call: &ToolCall) -> String {
    let Some(fields) = call.input.as_object() else { return call.input.to_string() };
    let words = |(name, value): (&String, &Value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("{name}: {}", cut_for_judge(&value, MAX_INPUT_BYTES / 2))
    };
    fields.iter().map(words).collect::<Vec<_>>().join(" | ")
}

fn cut_for_judge(text: &str, most: usize) -> String {
    let text = if most < MAX_MESSAGE_BYTES { collapse_white_space(text) } else { text.trim().to_owned() };
    let kept = cut_text(&text, most);
    if kept.len() < text.len() {
        format!("{kept} …(+{} characters)", text.len() - kept.len())
    } else {
        text
    }
}
