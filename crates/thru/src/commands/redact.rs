use model::redact::{self, redact_bytes};
use ops::Result;
use ops::World;
use ops::project::settings;

use crate::output::{self, OutputFormat};

/// The maximum size of the input, in bytes. The whole input is kept in memory.
const MAX_REDACTED_INPUT_BYTES: usize = 1024 * 1024 * 1024;

/// Copy stdin to stdout, with each secret replaced by a placeholder for its kind
///
/// Uses the same rules that hooks apply before they write anything: `thru redact < log > clean`. All other bytes stay
/// the same. E-mail addresses are replaced only with --emails or `redact.emails = true`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Also replace e-mail addresses
    #[arg(long)]
    emails: bool,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let emails = args.emails || settings::settings_here(world).settings().redact_emails;
    let input = ops::input::read_stdin(MAX_REDACTED_INPUT_BYTES)?;
    let clean = redact_bytes(&input, redact::RedactOptions { emails });
    match format {
        OutputFormat::Json => {
            let text = String::from_utf8_lossy(&clean);
            output::print_json(&serde_json::json!({ "text": text, "changed": clean != input.as_slice() }));
        }
        OutputFormat::Text => output::print_data(&clean),
    }
    Ok(0)
}
