use model::role;

use crate::output::{self, OutputFormat};

/// Print the schema of context files; with --json, print a JSON Schema of their content
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(format: OutputFormat) -> u8 {
    let text = if format == OutputFormat::Json {
        role::RECOVER_REPORT_JSON_SCHEMA
    } else {
        role::CONTEXT_FILE_FORMAT_TEXT
    };
    output::print_line(text.trim_end());
    0
}
