//! Asks the user a yes-or-no question. Only a person at a terminal can answer yes. No command-line option can give
//! the answer in advance.

use std::io::IsTerminal;

use model::render::show_hidden_characters;
use ops::Error;
use ops::Result;

use crate::output::{self, DIM, OutputFormat};

#[derive(Clone, Copy, Debug)]
pub struct UserQuestion<'a> {
    /// The first part of the error message that is shown if the user does not say yes, such as `the loop is not
    /// adopted`.
    pub refusal: &'a str,
    pub command: &'a str,
}

impl UserQuestion<'_> {
    /// Returns an error unless the output format is text and both stdin and stdout are terminals.
    pub fn require_person(&self, format: OutputFormat) -> Result<()> {
        let refuse = |why: &str| Error::Refused {
            what: format!("{} {why}", self.refusal),
            hint: format!("run `{}` yourself, in a terminal", self.command),
        };
        match format {
            OutputFormat::Json => Err(refuse("with --json: a person has to be asked")),
            OutputFormat::Text if !is_terminal() => Err(refuse("without a terminal to ask on")),
            OutputFormat::Text => Ok(()),
        }
    }

    /// Asks the question. Returns an error unless the answer is `y` or `yes`.
    pub fn ask(&self, question: &str) -> Result<()> {
        output::print_text(&format!("{question} [y/N] "));
        let mut answer = String::new();
        let read = std::io::stdin().read_line(&mut answer);
        read.map_err(|error| Error::stream_error("stdin", "read", &error))?;
        match answer.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => Ok(()),
            _ => Err(Error::Refused {
                what: format!("{}: you did not answer yes", self.refusal),
                hint: format!("`{}` asks again", self.command),
            }),
        }
    }
}

fn is_terminal() -> bool {
    std::io::stdin().is_terminal() && output::is_stdout_terminal()
}

/// Prints the complete text that the user is asked to approve, with a `|` before every line. Control characters and
/// hidden characters are made visible.
pub fn print_marked_text(text: &str) {
    for line in show_hidden_characters(text).lines() {
        output::print_line(format_args!("  {DIM}|{DIM:#} {line}"));
    }
}
