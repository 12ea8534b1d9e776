use model::text::count;
use ops::features::outputs::{self, Expectation, Wanted};
use ops::{Result, World};

use crate::output::{self, DIM, Format};

/// Say what a stage must leave; makes the run it is left in, and makes that the live one
///
/// Without any file, [stages.STAGE] of the settings says it. Example:
/// thru gate expect review --critical review-security.md --input plan.md --prompt "Review plan.md as {role}" -- claude -p
#[derive(Debug, clap::Args)]
pub struct Args {
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

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    let made = outputs::expect(
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
