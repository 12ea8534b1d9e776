use std::path::PathBuf;

use model::activity;
use model::text::count_with_noun;
use ops::Result;
use ops::World;
use ops::features::packets::handoff::{FilesToFingerprint, HandoffReport, HandoffRequest};
use ops::session::list::SessionChoiceReason;

use super::packet::to_absolute_paths_if_existing;
use crate::output::{self, DIM, GOOD, OutputFormat};

/// Write a packet: what the work is about, its state, and what to do next
///
/// Fills the packet from the captured session, git and the records, by fixed rules and without a model. Without
/// --session, uses the session of the harness that this shell runs in, or else the last active session in this project.
/// If that session has not done any work, uses the last session that did. `thru pickup` turns the packet into a
/// prompt for any harness.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What remains to be finished, in a few words
    #[arg(required = true, num_args = 1.., value_name = "PURPOSE")]
    purpose: Vec<String>,
    /// Use this session; the beginning of its id is enough
    #[arg(long, value_name = "ID", conflicts_with = "transcript")]
    session: Option<String>,
    /// Use the session in this transcript, even if hooks captured nothing from it
    #[arg(long, value_name = "FILE")]
    transcript: Option<PathBuf>,
    /// Confirm a file as relevant, however low its rank; can be given several times
    #[arg(long, value_name = "FILE")]
    confirm: Vec<String>,
    /// Add a command that must pass before the work is done; can be given several times
    #[arg(long, value_name = "CMD")]
    validator: Vec<String>,
    /// Set what the agent says when everything is done, for a loop that starts from the packet
    #[arg(long, value_name = "TEXT")]
    promise: Option<String>,
    /// Limit the iterations of that loop; 0 means the default limit for loops
    #[arg(long, value_name = "N", default_value_t = 0)]
    max_iterations: u32,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let report = ops::features::packets::handoff::write_handoff(
        world,
        &HandoffRequest {
            purpose: &args.purpose.join(" "),
            is_purpose_from_session: false,
            session: args.session.as_deref(),
            transcript: args.transcript.as_deref(),
            confirmed: &to_absolute_paths_if_existing(world, &args.confirm),
            validators: &args.validator,
            promise: args.promise.as_deref(),
            max_iterations: args.max_iterations.into(),
            hashes: FilesToFingerprint::Take,
        },
    )?;
    match format {
        OutputFormat::Json => output::print_json(&report),
        OutputFormat::Text => print_report(&report, world),
    }
    if report.is_secret_redacted {
        output::print_redaction_note();
    }
    Ok(0)
}

fn print_report(report: &HandoffReport, world: &World) {
    let HandoffReport { id, session, edited, failing, unseen, open_todos, .. } = report;
    output::print_line(format_args!("{GOOD}packet{GOOD:#} {id}"));
    output::print_line(report.path.display());
    if session.is_empty() {
        output::print_message(format_args!(
            "{DIM}nothing has been captured here, so the packet contains only the purpose and the state of git{DIM:#}"
        ));
    } else {
        let guess = match (&report.instead_of, report.chosen) {
            (Some(newer), _) => {
                format!(
                    ", the last session that did any work here (session {} has done nothing)",
                    activity::short_session_id(newer)
                )
            }
            (None, Some(SessionChoiceReason::Guess)) => ", the last active session here (a guess)".to_owned(),
            _ => String::new(),
        };
        let todos = if *open_todos == 0 {
            String::new()
        } else {
            format!(", {} to do", count_with_noun(*open_todos, "thing"))
        };
        let failing = if *failing == 0 {
            String::new()
        } else {
            format!(", {} failing", count_with_noun(*failing, "command"))
        };
        let unseen = match *unseen {
            0 => String::new(),
            count => format!(", {} with a result that was not visible", count_with_noun(count, "command")),
        };
        output::print_message(format_args!(
            "{DIM}from session {session}{guess}: {} edited{failing}{unseen}{todos}{DIM:#}",
            count_with_noun(*edited, "file")
        ));
    }
    for old in &report.continues {
        output::print_message(format_args!(
            "{DIM}packet {old} is done, because this packet continues it{DIM:#}"
        ));
    }
    if output::print_note_if_hooks_do_nothing(
        world,
        "No session is told about this packet, and none can claim it,",
    ) {
        output::print_message(format_args!("{DIM}to read it:{DIM:#} thru pickup {id}"));
        return;
    }
    let argument = if report.is_picked_up_without_id { String::new() } else { format!(" {id}") };
    output::print_message(format_args!(
        "{DIM}the next session here is told about it, and claims it with `/pickup{argument}`; to read it:{DIM:#} thru pickup {id}"
    ));
}
