use ops::Result;

/// Print one line about a session for a harness's status line: context, task, loop, gate, role, packet
///
/// The harness calls it with a description of its session on stdin; `thru install HARNESS --statusline` sets that up.
/// It reads, writes nothing, and prints nothing if it understands nothing.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A command whose output comes first: the status line that was there before
    #[arg(long, value_name = "COMMAND")]
    after: Option<String>,
}

/// Only for its help text: the call itself is handled before any argument is parsed.
pub fn run(args: &Args) -> Result<u8> {
    let _ = &args.after;
    Ok(0)
}
