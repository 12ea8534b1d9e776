use ops::features::summaries::retrieve::{self, LinePage, RetrievedOriginal};
use ops::{Error, Result, World};
use regex_lite::Regex;

use crate::output::{self, DIM, OutputFormat, OutputStream};

/// Print the original of a tool output that was summarised for the model
///
/// Secrets were redacted before the original was stored; everything else is kept byte for byte. On a terminal, control
/// characters are left out.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The id in the summary
    id: String,
    /// Skip this many lines
    #[arg(long, default_value_t = 0, value_name = "N")]
    offset: usize,
    /// Print at most this many lines
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
    /// Print only lines that match this regular expression, with their numbers
    #[arg(long, value_name = "RE")]
    grep: Option<String>,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let pattern = args.grep.as_deref().map(compile_pattern).transpose()?;
    let is_match = |line: &str| pattern.as_ref().is_some_and(|pattern| pattern.is_match(line));
    let page = LinePage { offset: args.offset, limit: args.limit };
    let picks = pattern.is_some().then_some(&is_match as &dyn Fn(&str) -> bool);
    let retrieved = retrieve::retrieve_original(world, &args.id, page, picks)?;
    match format {
        OutputFormat::Json => output::print_json(&retrieved),
        OutputFormat::Text => print_original(&retrieved, args),
    }
    Ok(0)
}

fn print_original(retrieved: &RetrievedOriginal, args: &Args) {
    match OutputStream::Out.is_terminal() {
        true => output::print_text(&retrieved.text),
        false => output::print_data(retrieved.text.as_bytes()),
    }
    if retrieved.shown_lines == 0 {
        let why = if args.grep.is_some() { "no line matches" } else { "there is no such line" };
        output::print_message(format_args!("{DIM}{why}; the output has {} lines{DIM:#}", retrieved.lines));
    }
}

fn compile_pattern(text: &str) -> Result<Regex> {
    Regex::new(text).map_err(|error| Error::Usage {
        what: format!("--grep is not a regular expression: {error}"),
        hint: "escape `( ) [ ] { } . * + ? | ^ $` with `\\` where you mean the character itself".into(),
    })
}
