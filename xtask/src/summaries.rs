//! `cargo xtask summaries DIR`: sends real tool outputs that are longer than the threshold to the hook of the real
//! binary. Each summary must be short and contain every error line, and retrieving the output must return every byte.
//! `oracle` defines error lines independently of the code under test. Outputs with known errors (`labelled`) are tried
//! first.

mod labelled;
mod oracle;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use model::redact::{RedactOptions, Redacted};
use model::summary::{self, OutputKind};
use serde_json::{Value, json};

use crate::recall;
use crate::sandbox::{Sandbox, SandboxLocation, SandboxRoot, payload};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// A folder of Claude Code transcripts (*.jsonl, *.jsonl.gz)
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Test this binary [default: target/debug/thru]
    #[arg(long, value_name = "PATH")]
    bin: Option<PathBuf>,
    /// The setting summaries.threshold_bytes; only outputs that are at least a quarter larger are tried
    #[arg(long, value_name = "N", default_value_t = 4_096)]
    threshold: u64,
}

#[derive(Default)]
struct SummaryTally {
    summarised: usize,
    not_summarised: usize,
    bytes: usize,
    summary_bytes: usize,
    errors: usize,
}

pub fn run_summaries(args: &Args) -> Result<bool> {
    let bin = args.bin.clone().unwrap_or_else(|| crate::target_dir().join("debug/thru"));
    let lab = SandboxRoot::new(
        bin.canonicalize().with_context(|| bin.display().to_string())?,
        SandboxLocation::Memory,
    )?;
    let sandbox = lab.sandbox("summaries")?;
    sandbox.init_root()?;
    let config = format!("[summaries]\nenabled = true\nthreshold_bytes = {}\n", args.threshold);
    fs::write(sandbox.store_folder().join("config.toml"), config)?;
    let (mut tallies, mut problems) = (BTreeMap::<OutputKind, SummaryTally>::new(), Vec::new());
    let labelled = labelled::labelled_outputs();
    for one in &labelled {
        let known: Vec<String> = one.errors.iter().map(|line| (*line).to_owned()).collect();
        let before: usize = tallies.values().map(|tally| tally.summarised).sum();
        problems.extend(summarise_output(&sandbox, &one.output, &known, &mut tallies)?);
        if tallies.values().map(|tally| tally.summarised).sum::<usize>() == before {
            problems.push(format!("no summary of the output with {}", known.join(", ")));
        }
    }
    println!("{} outputs with known errors, {} problems", labelled.len(), problems.len());
    tallies.clear();
    for path in recall::find_transcripts(&args.folder)? {
        for output in tool_outputs(&recall::read_transcript(&path)?) {
            if summary::is_large_enough_for_summary(output.len(), args.threshold) {
                let redacted = Redacted::redact_whole(&output, RedactOptions::default());
                problems.extend(summarise_output(
                    &sandbox,
                    &output,
                    &oracle::error_lines(&redacted),
                    &mut tallies,
                )?);
            }
        }
    }
    println!(
        "{:<16} {:>10} {:>8} {:>10} {:>8} {:>6}",
        "kind", "summarised", "left", "bytes", "part", "errors"
    );
    for (kind, tally) in &tallies {
        let part = tally.summary_bytes as f64 * 100.0 / tally.bytes.max(1) as f64;
        println!(
            "{:<16} {:>10} {:>8} {:>10} {part:>7.1}% {:>6}",
            kind.title(),
            tally.summarised,
            tally.not_summarised,
            tally.bytes,
            tally.errors
        );
    }
    let all: usize = tallies.values().map(|tally| tally.summarised + tally.not_summarised).sum();
    println!("{all} outputs, {} problems", problems.len());
    problems.iter().take(40).for_each(|problem| println!("  {problem}"));
    if all == 0 {
        bail!("{} has no tool output over the threshold", args.folder.display());
    }
    Ok(problems.is_empty())
}

fn summarise_output(
    sandbox: &Sandbox,
    output: &str,
    errors: &[String],
    tallies: &mut BTreeMap<OutputKind, SummaryTally>,
) -> Result<Vec<String>> {
    let redacted = Redacted::redact_whole(output, RedactOptions::default());
    let lines: Vec<&str> = redacted.lines().collect();
    let kind = OutputKind::detect(&redacted, &lines);
    let tally = tallies.entry(kind).or_default();
    let response = json!({"stdout": output, "stderr": "", "interrupted": false, "isImage": false});
    let more = json!({"tool_name": "Bash", "tool_input": {"command": "x"}, "tool_response": response});
    let answer = sandbox.run_successfully(
        &["hook", "claude-code", "PostToolUse"],
        &payload::hook_payload(&sandbox.dir, "PostToolUse", more),
    )?;
    if answer.stdout.is_empty() {
        tally.not_summarised += 1;
        return Ok(Vec::new());
    }
    let answer: Value = serde_json::from_slice(&answer.stdout)?;
    let text = answer["hookSpecificOutput"]["updatedToolOutput"]["stdout"].as_str().context("a summary")?;
    tally.summarised += 1;
    tally.bytes += output.len();
    tally.summary_bytes += text.len();
    tally.errors += errors.len();
    let id = summary::output_id(&summary::output_digest(redacted.as_bytes()));
    let mut problems = Vec::new();
    let mut problem = |what: String| problems.push(format!("{id} ({}): {what}", kind.title()));
    if text.len() * 100 > output.len() * summary::MAX_SUMMARY_PERCENT_OF_OUTPUT {
        problem(format!("{} of {} bytes", text.len(), output.len()));
    }
    for error in errors.iter().filter(|error| !oracle::does_summary_contain_text(text, error)) {
        problem(format!("an error is missing: {}", model::render::one_line(error, 160)));
    }
    let retrieved = sandbox.run_thru(&["swarm", "retrieve", &id], b"")?;
    if retrieved.stdout != redacted.as_bytes() {
        problem(format!("{} of {} bytes retrieved", retrieved.stdout.len(), redacted.len()));
    }
    Ok(problems)
}

/// Returns the text of every tool result in a transcript.
fn tool_outputs(transcript: &[u8]) -> Vec<String> {
    let lines =
        transcript.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let mut found = Vec::new();
    for line in lines {
        let blocks = line["message"]["content"].as_array().cloned().unwrap_or_default();
        for block in blocks.iter().filter(|block| block["type"] == "tool_result") {
            match &block["content"] {
                Value::String(text) => found.push(text.clone()),
                Value::Array(parts) => {
                    found.extend(parts.iter().filter_map(|part| part["text"].as_str()).map(str::to_owned));
                }
                _ => {}
            }
        }
    }
    found
}
