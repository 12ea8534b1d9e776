use ops::Result;

/// Take one event from a harness: payload on stdin, answer on stdout, exit 0
///
/// Harnesses call this, not people; `thru install` tells them to. It is never slow, never in the way and silent when
/// anything is wrong; what went wrong is in `thru doctor`. Events are the harness's own names (PostToolUse) or ours
/// (tool-done).
#[derive(Debug, clap::Args)]
pub struct Args {
    #[arg(help = ops::setup::harnesses::wirable().collect::<Vec<_>>().join(", "))]
    harness: String,
    /// The event's name
    event: String,
}

/// Here for its help only: the call itself is taken before any argument is parsed.
pub fn run(_: &Args) -> Result<u8> {
    Ok(0)
}
