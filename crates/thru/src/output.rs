//! How things are printed: data to stdout, talk to stderr, colour only where somebody sees it.

use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::sync::OnceLock;

use anstyle::{AnsiColor, Style};
use model::config::Color;
use model::finding::{Finding, Level};
use ops::ErrorKind;
use serde::Serialize;

pub const BOLD: Style = Style::new().bold();
pub const DIM: Style = Style::new().dimmed();
pub const GOOD: Style = AnsiColor::Green.on_default();
pub const WARN: Style = AnsiColor::Yellow.on_default();
pub const BAD: Style = AnsiColor::Red.on_default().bold();

/// Text for a person, or JSON for a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    Json,
}

pub fn choose_color(color: Color) {
    match color {
        Color::Auto => {}
        Color::Always => anstream::ColorChoice::Always.write_global(),
        Color::Never => anstream::ColorChoice::Never.write_global(),
    }
}

/// Why data was lost on its way out. A reader that went away (`| head`) has what it wanted: that is no loss.
static LOST: OnceLock<String> = OnceLock::new();

/// A line of data.
pub fn line(text: impl Display) {
    note_loss(writeln!(anstream::stdout(), "{text}"));
}

fn note_loss(written: std::io::Result<()>) {
    if let Err(error) = written
        && error.kind() != std::io::ErrorKind::BrokenPipe
    {
        let _ = LOST.set(error.to_string());
    }
}

/// The exit code after all was said: data that did not get out is an error, whatever else went well.
pub fn settle(code: u8) -> u8 {
    let Some(why) = LOST.get().filter(|_| code == 0) else { return code };
    talk(format_args!("{BAD}error:{BAD:#} stdout: cannot write: {why}"));
    exit_code(ErrorKind::Io)
}

/// A line of data, and whether anybody still reads: for what would go on without end.
pub fn is_heard(text: impl Display) -> bool {
    writeln!(anstream::stdout(), "{text}").is_ok()
}

/// Bytes as they are. A reader that went away is no error.
pub fn bytes(bytes: &[u8]) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// A line for the person next to the data.
pub fn talk(text: impl Display) {
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// Whether a person watches what is said next to the data.
pub fn is_watched() -> bool {
    std::io::stderr().is_terminal()
}

/// A line that the next one takes the place of: for a person who watches.
pub fn passing(text: &str) {
    let mut err = anstream::stderr();
    let _ = write!(err, "\r\x1b[2K{text}").and_then(|()| err.flush());
}

pub fn json(value: &impl Serialize) {
    match serde_json::to_string_pretty(value) {
        Ok(text) => line(text),
        Err(error) => talk(format_args!("error: {error}")),
    }
}

/// Two columns, the first as wide as its widest word.
pub fn pairs(rows: &[(&str, String)]) {
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, value) in rows {
        line(format_args!("{DIM}{name:<width$}{DIM:#}  {value}"));
    }
}

pub fn finding(finding: &Finding) -> String {
    let (style, word) = match finding.level {
        Level::Note => (DIM, "note"),
        Level::Warning => (WARN, "warning"),
        Level::Error => (BAD, "error"),
    };
    let line = finding.line.map_or(String::new(), |line| format!(":{line}"));
    let place = finding.file.as_ref().map_or(String::new(), |file| format!("{file}{line}: "));
    let hint = finding.hint.as_ref().map_or(String::new(), |hint| format!("\n  {DIM}hint:{DIM:#} {hint}"));
    format!("{style}{word}:{style:#} {place}{}{hint}", finding.text)
}

#[derive(Serialize)]
struct Failure {
    error: FailureFields,
}

#[derive(Serialize)]
struct FailureFields {
    kind: &'static str,
    exit_code: u8,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

/// Says what went wrong and returns the code that scripts tell it by.
pub fn fail(error: &ops::Error, format: Format) -> u8 {
    let code = exit_code(error.kind());
    match format {
        Format::Json => json(&Failure {
            error: FailureFields {
                kind: error.kind().name(),
                exit_code: code,
                message: error.to_string(),
                file: error.path().map(|path| path.display().to_string()),
                line: error.line(),
                hint: error.hint(),
            },
        }),
        Format::Text => {
            talk(format_args!("{BAD}error:{BAD:#} {error}"));
            if let Some(hint) = error.hint() {
                talk(format_args!("{DIM}hint:{DIM:#}  {hint}"));
            }
        }
    }
    code
}

/// Our own mistake: the code that BSD gave it.
pub const BUG: u8 = 70;

/// Documented in `thru --help` and in docs/commands.md.
pub fn exit_code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::Usage => 2,
        ErrorKind::Absent => 10,
        ErrorKind::Denied => 11,
        ErrorKind::Damaged => 12,
        ErrorKind::Foreign => 13,
        ErrorKind::Busy => 14,
        ErrorKind::Refused => 15,
        ErrorKind::Io => 16,
    }
}
