use std::time::Instant;

use ops::hook::Call;
use ops::hook::explain::{self, Explanation, FeatureDecision};
use ops::{Mode, Result, World, input};

use crate::output::{self, BOLD, DIM, Format, WARN};

/// The largest payload that is read, in bytes. Hooks have the same limit.
const LARGEST: usize = 16 * 1024 * 1024;

/// Run one hook event and explain it: root, trust, what each feature decides, the reply, and why it is silent
///
/// The payload comes on stdin, as a harness would send it. Nothing is written unless --apply is given.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The harness that sends it; `thru harness list` names them
    harness: String,
    /// The event, by the harness's own name (PostToolUse) or ours (tool-done)
    event: String,
    /// Write what the hook would write, and run a loop's validators
    #[arg(long)]
    apply: bool,
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    let started = Instant::now();
    let payload = input::stdin(LARGEST)?;
    let call = Call { harness: &args.harness, event: &args.event, payload: &payload, started };
    let mode = if args.apply { Mode::Write } else { Mode::DryRun };
    // A hook has no working directory and no `--root`; it finds the project from the payload.
    let hook_world = World { cwd: None, root: None, program: world.program.clone(), ..*world };
    let explanation = explain::run(&hook_world, &call, mode);
    match format {
        Format::Json => output::json(&explanation),
        Format::Text => print(&explanation),
    }
    Ok(0)
}

fn print(explanation: &Explanation) {
    let unknown = || "unknown".to_owned();
    let yes_no = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    output::pairs(&[
        ("event", explanation.event.map_or_else(unknown, str::to_owned)),
        ("session", explanation.session.clone().unwrap_or_else(unknown)),
        ("root", explanation.root.clone().unwrap_or_else(|| "none".to_owned())),
        ("checkout", explanation.checkout.clone().unwrap_or_else(|| "none".to_owned())),
        ("trusted", explanation.trusted.map_or_else(unknown, yes_no)),
        ("compaction", explanation.pending.clone().unwrap_or_else(|| "none pending".to_owned())),
        ("repeated", yes_no(explanation.repeated)),
    ]);
    section("Recorded", &explanation.effects);
    output::line(format_args!("\n{BOLD}Features{BOLD:#}"));
    if explanation.decisions.is_empty() {
        output::line("  none wants this event");
    }
    explanation.decisions.iter().for_each(decision);
    section("In the brief", explanation.brief.as_deref().unwrap_or_default());
    output::line(format_args!("\n{BOLD}Reply{BOLD:#}"));
    match &explanation.silent_because {
        Some(why) => output::line(format_args!("  nothing: {why}")),
        None => output::line(format_args!("  {}", explanation.reply.trim_end())),
    }
    if !explanation.applied {
        output::talk(format_args!("{DIM}Nothing was written; --apply writes what the hook would.{DIM:#}"));
    }
}

fn section(title: &str, lines: &[String]) {
    if !lines.is_empty() {
        output::line(format_args!("\n{BOLD}{title}{BOLD:#}"));
        lines.iter().for_each(|line| output::line(format_args!("  {line}")));
    }
}

fn decision(row: &FeatureDecision) {
    let FeatureDecision { feature, why, change, answer, error } = row;
    match error {
        Some(error) => output::line(format_args!("  {feature:<16} {WARN}failed{WARN:#}: {error}")),
        None => output::line(format_args!("  {feature:<16} {why}")),
    }
    if let Some(change) = change.as_deref().filter(|change| !change.is_empty()) {
        output::line(format_args!("  {:<16} {DIM}writes:{DIM:#} {change}", ""));
    }
    if let Some(answer) = answer {
        output::line(format_args!("  {:<16} {DIM}wants to{DIM:#} {}", "", answer.trim_end()));
    }
}
