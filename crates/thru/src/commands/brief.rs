use std::path::PathBuf;

use clap::ValueEnum;
use model::brief::{Occasion, Row};
use model::render::one_line;
use ops::Result;
use ops::World;
use ops::session::brief::{BriefOptions, Room};

use crate::output::{self, DIM, Format, GOOD};

/// Show what an agent would be told
///
/// Uses what hooks recorded of a session here, or a transcript alone, as if the session ended with it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Use this transcript, not what was recorded here
    #[arg(long, value_name = "FILE", conflicts_with = "session")]
    transcript: Option<PathBuf>,
    /// The session; the beginning of its id is enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The event to compose it for [default: a compaction if there was one]
    #[arg(long, value_enum)]
    event: Option<At>,
    /// The harness whose limits apply, and whose transcript it is
    #[arg(long = "for", value_name = "HARNESS")]
    harness: Option<String>,
    /// At most this many characters, counted as the harness counts (UTF-16 units)
    #[arg(long, value_name = "N", conflicts_with_all = ["budget", "all"])]
    max_chars: Option<usize>,
    /// At most this many tokens, estimated
    #[arg(long, value_name = "N", conflicts_with = "all")]
    budget: Option<usize>,
    /// Include everything, whatever its size
    #[arg(long)]
    all: bool,
    /// Print only what corrects or adds to the summary in FILE, which the agent already gets from the harness
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,
    /// Show every candidate, its size, and whether it is included
    #[arg(long)]
    explain: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum At {
    Startup,
    Resume,
    Compact,
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    let room = match (args.all, args.max_chars, args.budget) {
        (true, ..) => Room::All,
        (_, Some(most), _) => Room::Chars(most),
        (_, _, Some(most)) => Room::Tokens(most),
        _ => Room::Harness,
    };
    let occasion = args.event.map(|event| match event {
        At::Startup => Occasion::Started,
        At::Resume => Occasion::Resumed,
        At::Compact => Occasion::Compacted,
    });
    let report = ops::session::brief::run(
        world,
        &BriefOptions {
            occasion,
            transcript: args.transcript.as_deref(),
            harness: args.harness.as_deref(),
            session: args.session.as_deref(),
            summary: args.summary.as_deref(),
            room,
            ranking: None,
        },
    )?;
    if let (Format::Text, Some(skipped)) = (format, report.skipped) {
        let torn = (skipped.torn > 0).then(|| format!("{} torn", skipped.torn));
        let unknown = (skipped.unknown > 0).then(|| format!("{} of unknown types", skipped.unknown));
        let words: Vec<String> = torn.into_iter().chain(unknown).collect();
        if !words.is_empty() {
            output::talk(format_args!(
                "{DIM}lines of the transcript that were skipped: {}{DIM:#}",
                words.join(", ")
            ));
        }
    }
    match (format, args.explain, &report.explained.text) {
        (Format::Json, ..) => output::json(&report),
        (Format::Text, true, _) => {
            table(&report.explained.rows);
            let most = report.max_chars.map_or(String::new(), |most| format!(" of {most}"));
            output::talk(format_args!(
                "{DIM}{}{most} characters, about {} tokens{DIM:#}",
                report.chars, report.explained.tokens
            ));
        }
        (Format::Text, false, Some(text)) => output::line(text.trim_end()),
        (Format::Text, false, None) => match (report.max_chars, args.budget) {
            _ if report.explained.rows.is_empty() => output::talk("There is nothing to tell."),
            (_, Some(most)) => output::talk(format_args!("Nothing fits into {most} tokens.")),
            (Some(most), None) => output::talk(format_args!("Nothing fits into {most} characters.")),
            (None, None) => output::talk("There is nothing to tell."),
        },
    }
    Ok(0)
}

fn table(rows: &[Row]) {
    output::line(format_args!("{DIM}rank   chars  tokens  in   what{DIM:#}"));
    for Row { id, class, rank, chars, tokens, taken, text, .. } in rows {
        let mark = if *taken { format!("{GOOD}yes{GOOD:#}") } else { "no ".to_owned() };
        let (id, text) = (one_line(id, 60), one_line(text, 100));
        output::line(format_args!(
            "{rank:>4}  {chars:>6}  {tokens:>6}  {mark}  {class:<8} {text} {DIM}{id}{DIM:#}"
        ));
    }
}
