use std::time::Instant;

use ops::hook::HookCall;
use ops::hook::explain::{self, FeatureDecision, HookExplanation};
use ops::{Result, World, WriteMode, input};

use crate::output::{self, BOLD, DIM, OutputFormat, WARN};

/// The largest payload that is read, in bytes. Hooks have the same limit.
const MAX_PAYLOAD_BYTES: usize = 16 * 1024 * 1024;

/// Handle one event as a hook would, and explain each step: root, trust, decisions, reply or reason for silence
///
/// Reads the payload from stdin, as a harness would send it. Nothing is written unless --apply is given. An example of a
/// payload: `{"session_id":"s1","cwd":"/home/me/project","hook_event_name":"SessionStart","source":"startup"}`
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The harness that sends the event (see `thru harness list`)
    harness: String,
    /// The event: the harness's own name for it (PostToolUse) or thru's (tool-done)
    event: String,
    /// Write what the hook would write, and run the validators of a loop
    #[arg(long)]
    apply: bool,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let started_at = Instant::now();
    let payload = input::read_stdin(MAX_PAYLOAD_BYTES)?;
    let call = HookCall { harness: &args.harness, event: &args.event, payload: &payload, started_at };
    let mode = if args.apply { WriteMode::Write } else { WriteMode::DryRun };
    // A hook uses neither the working directory nor `--root`. It finds the project from the payload.
    let hook_world = World {
        cwd: None,
        root: None,
        program_path: world.program_path.clone(),
        time_for_reader: str::to_owned,
        ..*world
    };
    let explanation = explain::explain_event(&hook_world, &call, mode);
    match format {
        OutputFormat::Json => output::print_json(&explanation),
        OutputFormat::Text => print_explanation(&explanation),
    }
    Ok(0)
}

fn print_explanation(explanation: &HookExplanation) {
    let unknown = || "unknown".to_owned();
    let yes_no = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    output::print_pairs(&[
        ("event", explanation.event.map_or_else(unknown, str::to_owned)),
        ("session", explanation.session.clone().unwrap_or_else(unknown)),
        ("root", explanation.root.clone().unwrap_or_else(|| "none".to_owned())),
        ("checkout", explanation.checkout.clone().unwrap_or_else(|| "none".to_owned())),
        ("trusted", explanation.trusted.map_or_else(unknown, yes_no)),
        ("compaction", explanation.pending_brief.clone().unwrap_or_else(|| "none pending".to_owned())),
        ("repeated", yes_no(explanation.repeated)),
    ]);
    print_section("Recorded", &explanation.effects);
    output::print_line(format_args!("\n{BOLD}Features{BOLD:#}"));
    if explanation.decisions.is_empty() {
        output::print_line("  no feature handles this event");
    }
    explanation.decisions.iter().for_each(print_decision);
    print_section("In the brief", explanation.brief_candidates.as_deref().unwrap_or_default());
    output::print_line(format_args!("\n{BOLD}Reply{BOLD:#}"));
    match &explanation.silent_because {
        Some(why) => output::print_line(format_args!("  nothing: {why}")),
        None => output::print_line(format_args!("  {}", explanation.reply.trim_end())),
    }
    if !explanation.applied {
        output::print_message(format_args!(
            "{DIM}Nothing was written; --apply writes what the hook would write.{DIM:#}"
        ));
    }
}

fn print_section(title: &str, lines: &[String]) {
    if !lines.is_empty() {
        output::print_line(format_args!("\n{BOLD}{title}{BOLD:#}"));
        lines.iter().for_each(|line| output::print_line(format_args!("  {line}")));
    }
}

fn print_decision(row: &FeatureDecision) {
    let FeatureDecision { feature, why, change, answer, error } = row;
    match error {
        Some(error) => output::print_line(format_args!("  {feature:<16} {WARN}failed{WARN:#}: {error}")),
        None => output::print_line(format_args!("  {feature:<16} {why}")),
    }
    if let Some(change) = change.as_deref().filter(|change| !change.is_empty()) {
        output::print_line(format_args!("  {:<16} {DIM}writes:{DIM:#} {change}", ""));
    }
    if let Some(answer) = answer {
        output::print_line(format_args!("  {:<16} {DIM}wants to{DIM:#} {}", "", answer.trim_end()));
    }
}
