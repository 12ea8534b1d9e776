use std::path::PathBuf;
use std::time::Duration;

use model::consent::shown_command;
use model::gate::{Gate, Verdict};
use model::render::{one_line, visible};
use model::text::count;
use ops::Result;
use ops::World;
use ops::features::outputs::{Again, Expectation, GateReport, Live, Options, Row, Wanted, Where};

use crate::ask::{self, Question};
use crate::output::{self, BAD, BOLD, DIM, Format, GOOD, WARN};
use crate::progress::Board;

/// Check that what sub-agents had to write is there, whole and fresh
///
/// A stage says which files it expects (`expect`); each counts when its last line is `<!-- AGENT_COMPLETE -->`, outside
/// of any code block, and it is not of an earlier run. `check` judges them, `run` has the missing ones made.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Expect(ExpectArgs),
    Check(CheckArgs),
    Run(RunArgs),
    Prompt(PromptArgs),
    Seal(SealArgs),
    Live(LiveArgs),
}

/// Say what a stage must leave; makes the run it is left in, and makes that the live one
///
/// Without any file, [stages.STAGE] of the settings says it. Example:
/// thru gate expect review --critical review-security.md --input plan.md --prompt "Review plan.md as {role}" -- claude -p
#[derive(Debug, clap::Args)]
struct ExpectArgs {
    /// Such as `review`
    stage: String,
    /// Files whose names tell their tier: plan-*, review-*, retro-cdm* are critical, other retro-* advisory
    #[arg(value_name = "FILE")]
    files: Vec<String>,
    /// Files without which the stage fails
    #[arg(long, value_name = "FILE", num_args = 1..)]
    critical: Vec<String>,
    /// Files without which the stage goes on, with a note
    #[arg(long, value_name = "FILE", num_args = 1..)]
    advisory: Vec<String>,
    /// What the outputs are made from: when it changes, they are stale
    #[arg(long, value_name = "FILE", num_args = 1..)]
    input: Vec<String>,
    /// What a launched command is asked to do; {role} stands for the role in the file's name
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,
    /// The command that makes an output: no shell; the prompt on stdin, the path in $THROUGHLINE_OUTPUT
    #[arg(last = true, value_name = "COMMAND")]
    launch: Vec<String>,
}

/// Judge every output of the live run; changes nothing
///
/// Prints PERSISTENCE_GATE=PASS, SOFT_CONTINUE or HARD_FAIL. Exit code 0, 3 or 4.
#[derive(Debug, clap::Args)]
struct CheckArgs {
    /// The newest run of this stage, instead of the live one
    #[arg(long, value_name = "STAGE")]
    stage: Option<String>,
}

/// Have every output made that is not valid: launch, judge, launch once more, judge
///
/// What is valid is not made again, also after a crash. What was launched twice is left alone until --again is said.
/// What a command says is kept beside its output. Commands that came with a clone or a pull, or were changed since, are
/// not launched without --adopt. Exit code 0 (PASS), 3 (SOFT_CONTINUE) or 4 (HARD_FAIL).
#[derive(Debug, clap::Args)]
struct RunArgs {
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

/// Print the instruction to put into a sub-agent's prompt
#[derive(Debug, clap::Args)]
struct PromptArgs {
    /// The output it has to write, such as review-security.md
    file: String,
}

/// Add the last line to an output that is complete
#[derive(Debug, clap::Args)]
struct SealArgs {
    /// An output of the live run, or the path of one in any run
    file: PathBuf,
}

/// Show which run is live, or say which is
#[derive(Debug, clap::Args)]
struct LiveArgs {
    /// A folder of the project, or the name of a run in .agent/context/outputs
    #[arg(long, value_name = "DIR", conflicts_with = "clear")]
    set: Option<PathBuf>,
    /// No run is live any more; what is in it stays
    #[arg(long)]
    clear: bool,
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    match &args.command {
        Command::Expect(args) => expect(world, args, format),
        Command::Check(args) => told(&ops::features::outputs::check(world, args.stage.as_deref())?, format),
        Command::Run(args) => {
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
            let report = board.watch(|tell| ops::features::outputs::run(world, &options, tell))?;
            told(&report, format)
        }
        Command::Prompt(args) => prompt(world, &args.file, format),
        Command::Seal(args) => {
            let sealed = ops::features::outputs::seal(world, &args.file)?;
            let path = sealed.path.display();
            match format {
                Format::Json => output::json(&sealed),
                Format::Text if sealed.changed => output::line(format_args!("Sealed {path}")),
                Format::Text => output::line(format_args!("{path} was sealed already")),
            }
            Ok(0)
        }
        Command::Live(args) => live(world, args, format),
    }
}

/// Whatever the list of a run says came with the tree: it is launched only after somebody said yes to it.
fn adopt(world: &World, stage_named: Option<&str>, format: Format) -> Result<()> {
    let question = Question { refusal: "nothing is adopted and launched", command: "thru gate run --adopt" };
    question.need_person(format)?;
    let adoption = ops::features::outputs::to_adopt(world, stage_named)?;
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
    ops::features::outputs::adopt(world, stage_named, &adoption)
}

fn expect(world: &World, args: &ExpectArgs, format: Format) -> Result<u8> {
    let made = ops::features::outputs::expect(
        world,
        &Wanted {
            stage: args.stage.clone(),
            critical: args.critical.clone(),
            advisory: args.advisory.clone(),
            files: args.files.clone(),
            inputs: args.input.clone(),
            prompt: args.prompt.clone(),
            launch: args.launch.clone(),
        },
    )?;
    match format {
        Format::Json => output::json(&made),
        Format::Text => print_expectation(&made),
    }
    Ok(0)
}

fn print_expectation(made: &Expectation) {
    let outputs = count(made.outputs.len(), "output");
    output::line(format_args!("Stage {} expects {outputs} in {}", made.stage, made.run.display()));
    for wish in &made.outputs {
        let name = wish.path.file_name().unwrap_or_default().to_string_lossy();
        output::line(format_args!("  {:<8}  {name}", wish.tier.name()));
    }
    if let Some(kept) = &made.set_aside {
        output::talk(format_args!("{DIM}what was expected there before is kept as {kept}{DIM:#}"));
    }
}

/// The verdicts, and last the line that an orchestrator looks for.
fn told(report: &GateReport, format: Format) -> Result<u8> {
    match format {
        Format::Json => output::json(report),
        Format::Text => print(report),
    }
    Ok(match report.gate {
        Gate::Pass => 0,
        Gate::SoftContinue => 3,
        Gate::HardFail => 4,
    })
}

fn print(report: &GateReport) {
    let GateReport { stage, attempt, run, .. } = report;
    let stage = one_line(stage, 128);
    output::line(format_args!("Stage {BOLD}{stage}{BOLD:#}, attempt {attempt}, in {}", run.display()));
    let width = report.outputs.iter().map(|row| row.file.chars().count()).max().unwrap_or(0).min(60);
    for row in &report.outputs {
        print_row(row, width);
    }
    if let Some(omissions) = &report.omissions {
        output::line(format_args!("Omitted outputs are noted in {}", omissions.display()));
    }
    let (style, words) = match report.gate {
        Gate::Pass => (GOOD, None),
        Gate::SoftContinue => {
            (WARN, Some("the stage goes on without an advisory output; say so in its result"))
        }
        Gate::HardFail => (BAD, Some("a critical output is not valid; the stage cannot go on")),
    };
    if let Some(words) = words {
        let word = if report.gate == Gate::HardFail { "error" } else { "warning" };
        output::talk(format_args!("{style}{word}:{style:#} {words}"));
    }
    output::line(format_args!("PERSISTENCE_GATE={}", report.gate.name()));
}

fn print_row(row: &Row, width: usize) {
    let style = match (row.verdict, row.tier) {
        (Verdict::Valid, _) => GOOD,
        (_, model::gate::Tier::Critical) => BAD,
        _ => WARN,
    };
    let (verdict, tier, file) = (row.verdict.name(), row.tier.name(), one_line(&row.file, 200));
    let why = one_line(&row.why, 300);
    let line = format!("  {style}{verdict:<10}{style:#}  {tier:<8}  {file:<width$}  {DIM}{why}{DIM:#}");
    output::line(if why.is_empty() {
        format!("  {style}{verdict:<10}{style:#}  {tier:<8}  {file}")
    } else {
        line
    });
    if !row.remedy.is_empty() {
        output::line(format_args!("      {DIM}hint:{DIM:#} {}", one_line(&row.remedy, 600)));
    }
    if let Some(message) = &row.last_message {
        output::line(format_args!("      {DIM}last message:{DIM:#} {}", message.display()));
    }
}

fn prompt(world: &World, file: &str, format: Format) -> Result<u8> {
    let prompt = ops::features::outputs::prompt(world, file)?;
    match format {
        Format::Json => output::json(&prompt),
        Format::Text => {
            output::line(prompt.text.trim_end());
            if !prompt.expected {
                let word =
                    format!("expected.json of the live run does not list {file}, so no gate waits for it");
                output::talk(format_args!("{WARN}warning:{WARN:#} {word}"));
            }
        }
    }
    Ok(0)
}

fn live(world: &World, args: &LiveArgs, format: Format) -> Result<u8> {
    if args.clear {
        match (ops::features::outputs::clear_live(world)?, format) {
            (None, Format::Json) => output::json(&serde_json::json!({ "run": null })),
            (None, Format::Text) => output::line("No run is live"),
            (Some(live), Format::Json) => output::json(&live),
            (Some(live), Format::Text) => {
                let (from, run) = (live.from.words(), live.run.display());
                output::line(format_args!(
                    "{} is cleared; {from} still names {run}",
                    Where::LiveJson.words()
                ));
            }
        }
        return Ok(0);
    }
    let live = match &args.set {
        Some(dir) => ops::features::outputs::set_live(world, dir)?,
        None => ops::features::outputs::live(world)?,
    };
    match format {
        Format::Json => output::json(&live),
        Format::Text => print_live(&live),
    }
    Ok(0)
}

fn print_live(live: &Live) {
    let stage = match &live.stage {
        Some(stage) => format!("stage {}", one_line(stage, 128)),
        None => "nothing is expected in it yet".to_owned(),
    };
    output::line(format_args!("{}", live.run.display()));
    output::talk(format_args!("{DIM}{stage}; named by {}{DIM:#}", live.from.words()));
}
