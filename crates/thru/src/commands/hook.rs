use ops::Result;

/// Handle one event from a harness: payload on stdin, reply on stdout, exit 0
///
/// Harnesses call this command, not people; `thru install` sets that up. The command is fast, blocks only a stop that a
/// loop of yours continues, and prints nothing if anything goes wrong; `thru doctor` then shows what went wrong. Events
/// have the harness's own names (PostToolUse) or ours (tool-done).
#[derive(Debug, clap::Args)]
pub struct Args {
    #[arg(help = format!("The harness: {}", ops::setup::harnesses::installable_harnesses().collect::<Vec<_>>().join(", ")))]
    harness: String,
    /// The event's name
    event: String,
}

/// Does nothing. The command exists only for its help text, because `main` handles the call before arguments are
/// parsed.
pub fn run(_: &Args) -> Result<u8> {
    Ok(0)
}
