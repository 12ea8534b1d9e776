use ops::Result;

/// Handle one event from a harness: payload on stdin, reply on stdout, exit 0
///
/// Harnesses call this command; `thru install` sets that up. It blocks a stop only to continue one of your loops. If
/// anything goes wrong, it prints nothing, and `thru doctor` shows what went wrong. The event can be given by the
/// harness's own name for it (PostToolUse) or by thru's (tool-done).
#[derive(Debug, clap::Args)]
pub struct Args {
    #[arg(help = format!("The harness: {}", ops::setup::harnesses::installable_harnesses().collect::<Vec<_>>().join(", ")))]
    harness: String,
    /// The event's name
    event: String,
}

/// Does nothing. The command exists only for its help text, because `main` handles hooks before it parses arguments.
pub fn run(_: &Args) -> Result<u8> {
    Ok(0)
}
