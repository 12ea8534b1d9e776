use model::role;

use crate::output::{self, Format};

/// Print the schema of context files; with --json, print a JSON Schema of their content
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(format: Format) -> u8 {
    let text = if format == Format::Json { role::JSON_SCHEMA } else { role::CONTEXT_FILE_SCHEMA };
    output::print_line(text.trim_end());
    0
}
