use clap::CommandFactory;
use clap_complete::Shell;
use ops::Result;

use crate::cli::Cli;
use crate::output::{self, OutputFormat};

/// Print completions for your shell
///
/// For example `thru completions bash > ~/.local/share/bash-completion/completions/thru`, or, in ~/.zshrc,
/// `source <(thru completions zsh)`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Your shell
    shell: Shell,
}

pub fn run(args: &Args, format: OutputFormat) -> Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "thru", &mut script);
    match format {
        OutputFormat::Json => output::print_json(&serde_json::json!({
            "shell": args.shell.to_string(),
            "script": String::from_utf8_lossy(&script),
        })),
        OutputFormat::Text => output::print_data(&script),
    }
    Ok(0)
}
