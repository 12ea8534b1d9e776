use std::time::Duration;

use model::consent::quote_command;
use model::render::{one_line, show_hidden_characters};
use ops::features::outputs::{self, GateRunOptions, RelaunchPolicy};
use ops::{Result, World};

use super::report;
use crate::ask::{self, UserQuestion};
use crate::output::{self, BOLD, OutputFormat};
use crate::progress::ProgressBoard;

/// Launch the commands for outputs that are not valid, judge the outputs, and retry failed commands once
///
/// Valid outputs are kept, even after a crash. A command that was launched twice is not launched again without --again.
/// What a command prints is stored next to its output file. A command that came with a clone or a pull, or that has
/// changed since you allowed it, is not launched without --adopt. The exit code is 0 (PASS), 3 (SOFT_CONTINUE) or 4
/// (HARD_FAIL).
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Use the newest run of this stage instead of the live run; if there is none, create one from [stages.STAGE] in
    /// the settings
    #[arg(long, value_name = "STAGE")]
    stage: Option<String>,
    /// Run this many commands at the same time [default: gates.jobs]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    jobs: Option<u16>,
    /// Stop a command after this many seconds [default: gates.timeout_s]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: Option<u64>,
    /// Also launch commands that were already launched twice
    #[arg(long)]
    again: bool,
    /// Show the commands and prompts that you have not allowed on this machine, and ask before running them; needs a
    /// terminal
    #[arg(long)]
    adopt: bool,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let options = GateRunOptions {
        stage: args.stage.clone(),
        jobs: args.jobs.map(usize::from),
        timeout: args.timeout.map(Duration::from_secs),
        relaunch: if args.again { RelaunchPolicy::Yes } else { RelaunchPolicy::No },
    };
    if args.adopt {
        ask_to_adopt(world, args.stage.as_deref(), format)?;
    }
    let board = ProgressBoard::new(format);
    let judged = board.run_with_progress(|tell| outputs::run_gate(world, &options, tell))?;
    Ok(report::print_report(world, &judged, format))
}

/// Asks the user to allow the commands of a run, because the run's list of outputs may have come with the project.
fn ask_to_adopt(world: &World, stage_named: Option<&str>, format: OutputFormat) -> Result<()> {
    let question =
        UserQuestion { refusal: "nothing is adopted or launched", command: "thru gate run --adopt" };
    question.require_person(format)?;
    let adoption = outputs::find_launches_to_adopt(world, stage_named)?;
    if adoption.launches.is_empty() {
        return Ok(());
    }
    let (stage, run) = (one_line(&adoption.stage, 128), adoption.run.display());
    output::print_line(format_args!("Stage {BOLD}{stage}{BOLD:#} in {run} would launch:"));
    for launch in &adoption.launches {
        output::print_line(format_args!(
            "{BOLD}{}{BOLD:#} would be written by",
            show_hidden_characters(&launch.file)
        ));
        ask::print_marked_text(&quote_command(&launch.launch));
        if let Some(checkout) = &launch.checkout {
            output::print_line(format_args!("in {}", show_hidden_characters(checkout)));
        }
        if !launch.prompt.is_empty() {
            output::print_line("with this prompt:");
            ask::print_marked_text(&launch.prompt);
        }
    }
    if let Some(definition) = &adoption.settings_file {
        output::print_line(format_args!(
            "[stages.{stage}] in {definition} defines the same commands and is adopted too."
        ));
    }
    question.ask("Launch these commands on this machine?")?;
    outputs::adopt_launches(world, stage_named, &adoption)
}
