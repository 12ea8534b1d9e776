use std::time::Duration;

use model::consent::shown_command;
use model::render::{one_line, visible};
use ops::features::outputs::{self, Again, Options};
use ops::{Result, World};

use super::report;
use crate::ask::{self, Question};
use crate::output::{self, BOLD, Format};
use crate::progress::Board;

/// Have every output made that is not valid: launch, judge, launch once more, judge
///
/// What is valid is not made again, also after a crash. What was launched twice is left alone until --again is said.
/// What a command says is kept beside its output. Commands that came with a clone or a pull, or were changed since, are
/// not launched without --adopt. Exit code 0 (PASS), 3 (SOFT_CONTINUE) or 4 (HARD_FAIL).
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The newest run of this stage, instead of the live one; made by [stages.STAGE] where there is none
    #[arg(long, value_name = "STAGE")]
    stage: Option<String>,
    /// How many commands run side by side [default: gates.jobs]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    jobs: Option<u16>,
    /// Seconds after which a command is ended [default: gates.timeout_s]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: Option<u64>,
    /// Launch again what was launched as often as it may be
    #[arg(long)]
    again: bool,
    /// Show commands and prompts that were not given on this machine, ask about them, then run; needs a terminal
    #[arg(long)]
    adopt: bool,
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    let options = Options {
        stage: args.stage.clone(),
        jobs: args.jobs.map(usize::from),
        timeout: args.timeout.map(Duration::from_secs),
        again: if args.again { Again::Yes } else { Again::No },
    };
    if args.adopt {
        adopt(world, args.stage.as_deref(), format)?;
    }
    let board = Board::new(format);
    let judged = board.watch(|tell| outputs::run(world, &options, tell))?;
    Ok(report::print(&judged, format))
}

/// Whatever the list of a run says came with the tree: it is launched only after somebody said yes to it.
fn adopt(world: &World, stage_named: Option<&str>, format: Format) -> Result<()> {
    let question = Question { refusal: "nothing is adopted and launched", command: "thru gate run --adopt" };
    question.need_person(format)?;
    let adoption = outputs::to_adopt(world, stage_named)?;
    if adoption.launches.is_empty() {
        return Ok(());
    }
    let (stage, run) = (one_line(&adoption.stage, 128), adoption.run.display());
    output::line(format_args!("Stage {BOLD}{stage}{BOLD:#} in {run} would launch:"));
    for launch in &adoption.launches {
        output::line(format_args!("{BOLD}{}{BOLD:#} is made by", visible(&launch.file)));
        ask::show_text(&shown_command(&launch.launch));
        if !launch.prompt.is_empty() {
            output::line("which is given this:");
            ask::show_text(&launch.prompt);
        }
    }
    if let Some(definition) = &adoption.definition {
        output::line(format_args!("[stages.{stage}] in {definition} says the same and is adopted with it."));
    }
    question.ask("Launch these commands on this machine?")?;
    outputs::adopt(world, stage_named, &adoption)
}
