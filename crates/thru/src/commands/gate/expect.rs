use std::path::Path;

use model::consent::quote_command;
use model::render::one_line;
use model::text::count_with_noun;
use ops::features::outputs::{self, ExpectedOutputsReport, ExpectedOutputsRequest, UnfinishedRun};
use ops::{Result, World};

use crate::output::{self, DIM, OutputFormat, WARN};

/// Record which files a stage must produce; this creates a run, which becomes the live run
///
/// If no file is given, uses [stages.STAGE] from the settings. Example: thru gate expect review --critical
/// review-security.md --input plan.md --prompt "Review plan.md as {role}" -- claude -p
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The stage, such as `review`
    stage: String,
    /// Files whose names determine their tier: plan-*, review-* and retro-cdm* are critical, and other retro-* are
    /// advisory
    #[arg(value_name = "FILE")]
    files: Vec<String>,
    /// Require these files: without them, the stage fails
    #[arg(long, value_name = "FILE", num_args = 1..)]
    critical: Vec<String>,
    /// Expect these files: without them, the stage continues with a note
    #[arg(long, value_name = "FILE", num_args = 1..)]
    advisory: Vec<String>,
    /// Set the files that the outputs are based on; if one changes, the outputs become stale
    #[arg(long, value_name = "FILE", num_args = 1..)]
    input: Vec<String>,
    /// Set the prompt for launched commands; {role} stands for the role in the file's name
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,
    /// The command that writes an output, run without a shell; it gets the prompt on stdin and the path of the output
    /// in $THROUGHLINE_OUTPUT
    #[arg(last = true, value_name = "COMMAND")]
    launch: Vec<String>,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let made = outputs::expect_outputs(
        world,
        &ExpectedOutputsRequest {
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
        OutputFormat::Json => output::print_json(&made),
        OutputFormat::Text => print_expectation(&made, world),
    }
    Ok(0)
}

fn print_expectation(made: &ExpectedOutputsReport, world: &World) {
    let outputs = count_with_noun(made.outputs.len(), "output");
    output::print_line(format_args!("Stage {} expects {outputs} in {}", made.stage, made.run.display()));
    for wish in &made.outputs {
        let name = wish.path.file_name().unwrap_or_default().to_string_lossy();
        output::print_line(format_args!("  {:<8}  {name}", wish.tier.name()));
    }
    // If there is no session, the user is working at a terminal and does not expect a hook to tell a session anything.
    if let Some(session) = &made.session
        && !output::print_note_if_hooks_do_nothing(world, "The session is not told which outputs are missing")
    {
        output::print_message(format_args!(
            "{DIM}session {} is told which outputs are missing{DIM:#}",
            model::activity::short_session_id(session)
        ));
    }
    for state in &made.still_open {
        let stage = one_line(&state.stage, 128);
        let open = count_with_noun(state.invalid_outputs.len(), "open output");
        // If an orchestrator keeps all stages in one folder, that folder is live already.
        let back = match state.run != made.run {
            true => format!(", and {} makes it the live stage again", command_to_make_live(&state.run)),
            false => String::new(),
        };
        output::print_message(format_args!(
            "{WARN}warning:{WARN:#} stage {stage} still has {open}; `thru gate check --stage {stage}` shows them{back}"
        ));
    }
    if let Some(UnfinishedRun { run, valid_outputs }) = &made.unfinished_run {
        let valid = count_with_noun(*valid_outputs, "valid output");
        let back = command_to_make_live(run);
        output::print_message(format_args!(
            "{WARN}warning:{WARN:#} the previous run of this stage has {valid}, which this new run does not use; \
             {back} returns to it"
        ));
    }
    if let Some(kept) = &made.set_aside {
        output::print_message(format_args!(
            "{DIM}the previous list of expected outputs is kept as {kept}{DIM:#}"
        ));
    }
}

/// Returns the command that makes a run live, in backticks. Only a run in `outputs/` can be named without its path.
fn command_to_make_live(run: &Path) -> String {
    let is_in_outputs = run.parent().is_some_and(|folder| folder.ends_with(".agent/context/outputs"));
    let name = run.file_name().filter(|_| is_in_outputs).unwrap_or(run.as_os_str());
    let words = ["thru", "gate", "live", "--set", &name.to_string_lossy()].map(str::to_owned);
    format!("`{}`", quote_command(&words))
}
