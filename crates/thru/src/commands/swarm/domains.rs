use ops::project::settings;
use ops::{Error, Result, World};

use crate::output::{self, BOLD, DIM, OutputFormat};

/// Name the fields of expertise that a text touches on (off unless `swarm.domains` is true)
///
/// Searches the text for words that are typical of a field. This is only a rule of thumb: an architect agent that
/// reads the task is a better judge.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The text; `-` reads it from stdin
    text: String,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    if !settings::settings_here(world).settings().swarm_domains {
        return Err(Error::Refused {
            what: "`swarm domains` is off".into(),
            hint: "set `swarm.domains = true` in the settings (`thru config` shows where they are)".into(),
        });
    }
    let text = match args.text.as_str() {
        "-" => crate::commands::decide::read_stdin()?,
        text => text.to_owned(),
    };
    let found = model::domains::find_domains(&text);
    match format {
        OutputFormat::Json => output::print_json(&found),
        OutputFormat::Text if found.is_empty() => output::print_message("No field of expertise was found."),
        OutputFormat::Text => {
            for domain in &found {
                output::print_line(format_args!(
                    "{BOLD}{}{BOLD:#}  {DIM}{}{DIM:#}",
                    domain.name,
                    domain.words.join(", ")
                ));
            }
        }
    }
    Ok(0)
}
