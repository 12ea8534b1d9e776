use model::redact::{self, redact_bytes};
use ops::Result;
use ops::World;
use ops::project::settings;

use crate::output::{self, Format};

/// The largest input, in bytes. The whole input is kept in memory.
const LARGEST: usize = 1024 * 1024 * 1024;

/// Replace secrets in stdin with typed placeholders, to stdout
///
/// Uses the rules that run before anything captured is written: `thru redact < log > clean`. Everything else comes
/// out byte for byte. E-mail addresses are replaced with --emails or `redact.emails = true`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Replace e-mail addresses too
    #[arg(long)]
    emails: bool,
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    let emails = args.emails || settings::here(world).settings().redact_emails;
    let input = ops::input::stdin(LARGEST)?;
    let clean = redact_bytes(&input, redact::Options { emails });
    match format {
        Format::Json => {
            let text = String::from_utf8_lossy(&clean);
            output::json(&serde_json::json!({ "text": text, "changed": clean != input.as_slice() }));
        }
        Format::Text => output::data(&clean),
    }
    Ok(0)
}
