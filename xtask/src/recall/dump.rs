//! `--dump`: writes the texts that a judge reads, in one folder for each compaction.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use model::text::cut as cut_text;
use serde_json::Value;

use super::cut::{CALLS_AFTER, Cut, Session, Sort, collapsed};
use super::events::{Call, What};
use super::texts::Past;

/// The longest text that a hook may add to a summary, in characters.
const BESIDE: usize = 9_500;

/// How many bytes of an input are shown.
const INPUT: usize = 400;
/// How many bytes of a result are shown.
const RESULT: usize = 500;
/// How many bytes of a message are shown.
const MESSAGE: usize = 3_000;

pub fn write(folder: &Path, session: &Session, cut: &Cut, past: &Past) -> Result<()> {
    let Sort::Compaction(number) = cut.sort else { return Ok(()) };
    let folder = folder.join(format!("{}-c{}", session.name, number + 1));
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let prompt = past.pickup()?;
    let texts = [
        ("brief-2000.txt", past.alone(2_000, None)),
        ("brief-9500.txt", past.alone(9_500, None)),
        ("beside.txt", past.beside(&cut.summary, BESIDE, None)),
        ("packet.txt", prompt),
        ("summary.txt", cut.summary.clone()),
        ("after.txt", after(session, cut)),
    ];
    for (name, text) in texts {
        let path = folder.join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Returns what the agent did next, in the form that a judge reads.
fn after(session: &Session, cut: &Cut) -> String {
    let mut text = String::new();
    let mut calls = 0;
    let later = session.events[cut.before..].iter().map(|event| &event.what);
    for what in later.skip_while(|what| matches!(what, What::Compaction | What::Summary(_))) {
        let line = match what {
            // After the next compaction the agent knows another summary.
            What::Compaction | What::Summary(_) => break,
            What::Call(_) if calls == CALLS_AFTER => break,
            What::Prompt(words) => format!("USER: {}", shown(words, MESSAGE)),
            What::Said(words) => format!("AGENT: {}", shown(words, MESSAGE)),
            What::Call(call) => {
                calls += 1;
                format!("CALL {calls}: {} {}", call.tool, shown(&input(call), INPUT))
            }
            What::Result { end, text, .. } => format!("  {end:?}: {}", shown(text, RESULT)),
        };
        let _ = writeln!(text, "{line}");
    }
    text
}

/// Returns the fields of the call's input, each as `name: value`.
fn input(call: &Call) -> String {
    let Some(fields) = call.input.as_object() else { return call.input.to_string() };
    let words = |(name, value): (&String, &Value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("{name}: {}", shown(&value, INPUT / 2))
    };
    fields.iter().map(words).collect::<Vec<_>>().join(" | ")
}

fn shown(text: &str, most: usize) -> String {
    let text = if most < MESSAGE { collapsed(text) } else { text.trim().to_owned() };
    let kept = cut_text(&text, most);
    if kept.len() < text.len() {
        format!("{kept} …(+{} characters)", text.len() - kept.len())
    } else {
        text
    }
}
