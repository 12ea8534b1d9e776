mod explain;

use std::path::PathBuf;

use clap::ValueEnum;
use model::activity::short_session_id;
use model::brief::BriefOccasion;
use model::render::one_line;
use model::text::count_with_noun;
use ops::Result;
use ops::World;
use ops::session::brief::{BriefOptions, BriefReport, BriefRoom, RankingChoice};
use ops::session::sent::{self, SentBrief, SentOccasion};

use crate::clock;
use crate::output::{self, DIM, OutputFormat, WARN};

/// Show the brief that an agent would get
///
/// Composes the brief from what hooks recorded about a session in this project, and says on stderr which event it
/// previews. The session is the current one. Outside a harness, it is the last session that did any work, which
/// `thru status` names. Without --event, the brief shows the session as it stands; no hook sends exactly this text.
/// --as-sent shows what a hook sent. With --transcript, uses only the transcript, as if the session had ended where the
/// transcript ends.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Use this transcript instead of what hooks recorded
    #[arg(long, value_name = "FILE", conflicts_with = "session")]
    transcript: Option<PathBuf>,
    /// Use this session; the beginning of its id is enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Preview what a hook sends at this event [default: the session as it stands, or a compaction with --summary]
    #[arg(long, value_enum)]
    event: Option<OccasionArg>,
    /// Use the limits of this harness [default: the harness of the session]
    #[arg(long = "for", value_name = "HARNESS")]
    harness: Option<String>,
    /// Limit the brief to this many characters, counted as the harness counts them (UTF-16 code units)
    #[arg(long, value_name = "N", conflicts_with_all = ["budget", "all"])]
    max_chars: Option<usize>,
    /// Limit the brief to this many tokens; the number of tokens is estimated
    #[arg(long, value_name = "N", conflicts_with = "all")]
    budget: Option<usize>,
    /// Include every fact, however long the brief becomes
    #[arg(long)]
    all: bool,
    /// Print only what corrects or completes the summary in FILE, which the harness already gives to the agent
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,
    /// Print the brief that a hook last sent to the session, unchanged, and say when it was sent; with --event, print
    /// the last one for that event
    #[arg(long, conflicts_with_all = [
        "transcript", "harness", "max_chars", "budget", "all", "summary", "explain", "scoring",
    ])]
    as_sent: bool,
    /// Show every candidate, or only the one with this ID: its score, its tokens, and why it is or is not in the brief
    #[arg(long, value_name = "ID", num_args = 0..=1)]
    explain: Option<Option<String>>,
    /// Rank candidates by score (on) or in the fixed order (off), regardless of brief.scoring.enabled
    #[arg(long, value_enum)]
    scoring: Option<ScoringArg>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ScoringArg {
    On,
    Off,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OccasionArg {
    Startup,
    Resume,
    Compact,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    if args.as_sent {
        return show_as_sent(world, args, format);
    }
    let room = match (args.all, args.max_chars, args.budget) {
        (true, ..) => BriefRoom::All,
        (_, Some(most), _) => BriefRoom::Chars(most),
        (_, _, Some(most)) => BriefRoom::Tokens(most),
        _ => BriefRoom::Harness,
    };
    let occasion = args.event.map(|event| match event {
        OccasionArg::Startup => BriefOccasion::Started,
        OccasionArg::Resume => BriefOccasion::Resumed,
        OccasionArg::Compact => BriefOccasion::Compacted,
    });
    let ranking = args.scoring.map(|scoring| match scoring {
        ScoringArg::On => RankingChoice::Scored,
        ScoringArg::Off => RankingChoice::Fixed,
    });
    let mut report = ops::session::brief::show_brief(
        world,
        &BriefOptions {
            occasion,
            transcript: args.transcript.as_deref(),
            harness: args.harness.as_deref(),
            session: args.session.as_deref(),
            summary: args.summary.as_deref(),
            room,
            ranking,
        },
    )?;
    if format == OutputFormat::Text {
        report.findings.iter().for_each(|finding| output::print_message(output::format_finding(finding)));
    }
    if let (OutputFormat::Text, Some(packet)) = (format, &report.unwritten_packet) {
        output::print_message(format_args!(
            "{WARN}note:{WARN:#} packet {} has not been written yet; the next session start or `thru sweep` will \
             write it, and its id will contain the time at which it is written",
            one_line(packet, 128)
        ));
    }
    if let (OutputFormat::Text, Some(skipped)) = (format, report.skipped) {
        let torn = (skipped.torn > 0).then(|| format!("{} torn", skipped.torn));
        let unknown = (skipped.unknown > 0).then(|| format!("{} of unknown types", skipped.unknown));
        let words: Vec<String> = torn.into_iter().chain(unknown).collect();
        if !words.is_empty() {
            output::print_message(format_args!(
                "{DIM}skipped lines of the transcript: {}{DIM:#}",
                words.join(", ")
            ));
        }
    }
    let candidates = report.explained.rows.len();
    if let Some(Some(id)) = &args.explain {
        report.explained.rows = vec![explain::find_candidate(&report.explained.rows, id)?];
    }
    match (format, &args.explain, &report.explained.text) {
        (OutputFormat::Json, ..) => output::print_json(&report),
        (OutputFormat::Text, Some(None), _) => explain::print_explained_candidates(&report),
        (OutputFormat::Text, Some(Some(_)), _) => {
            explain::print_candidate(&report.explained.rows[0], candidates);
        }
        (OutputFormat::Text, None, Some(text)) => {
            output::print_message(format_args!("{DIM}{}{DIM:#}", describe_preview(&report)));
            if report.occasion != BriefOccasion::Asked {
                output::print_note_if_hooks_do_nothing(world, "No session is told any of this");
            }
            output::print_line(text.trim_end());
        }
        (OutputFormat::Text, None, None) => match (report.max_chars, args.budget) {
            _ if report.explained.rows.is_empty() => {
                output::print_message(describe_empty_brief(&report));
            }
            (_, Some(most)) => {
                let tokens = count_with_noun(most, "token");
                output::print_message(format_args!("Nothing fits in {tokens}."));
            }
            (Some(most), None) => {
                let characters = count_with_noun(most, "character");
                output::print_message(format_args!("Nothing fits in {characters}."));
            }
            (None, None) => output::print_message(describe_empty_brief(&report)),
        },
    }
    Ok(0)
}

/// Says why there is no brief.
fn describe_empty_brief(report: &BriefReport) -> &'static str {
    match report.occasion {
        BriefOccasion::Replayed => {
            "Nothing is told: a resumed session still has its conversation, so it is told only what changed since then, and \
             nothing has changed."
        }
        _ => "There is nothing to put into a brief.",
    }
}

/// Says which event a brief previews.
fn describe_preview(report: &BriefReport) -> String {
    let session = short_session_id(&report.session);
    match report.occasion {
        BriefOccasion::Started => "Preview: what a new session here is told when it starts".to_owned(),
        BriefOccasion::Compacted => format!("Preview: what session {session} is told after a compaction"),
        BriefOccasion::Resumed | BriefOccasion::Replayed => {
            format!("Preview: what session {session} is told when it is resumed")
        }
        BriefOccasion::Asked => format!(
            "Session {session} as it stands. To preview what a hook would send: --event compact, resume or startup; to \
             see what was sent: --as-sent"
        ),
    }
}

/// Prints the brief that a hook sent. Only its text goes to stdout, so that it can be compared byte for byte.
fn show_as_sent(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let occasion = args.event.map(|event| match event {
        OccasionArg::Startup => SentOccasion::Startup,
        OccasionArg::Resume => SentOccasion::Resume,
        OccasionArg::Compact => SentOccasion::Compact,
    });
    let report = sent::show_sent_brief(world, args.session.as_deref(), occasion)?;
    let SentBrief { at, occasion, text, .. } = &report.brief;
    match format {
        OutputFormat::Json => output::print_json(&report),
        OutputFormat::Text => {
            let what = if text.is_empty() { "Nothing was sent" } else { "Sent" };
            let (session, occasion) = (&report.session, occasion.describe());
            let at = clock::local_date_and_time(at);
            output::print_message(format_args!(
                "{DIM}{what} to session {session} {occasion}, at {at}{DIM:#}"
            ));
            if !text.is_empty() {
                output::print_line(text.strip_suffix('\n').unwrap_or(text));
            }
        }
    }
    Ok(0)
}
