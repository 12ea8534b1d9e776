//! How things are printed: data to stdout, talk to stderr, colour only where somebody sees it.

mod printer;

use std::fmt::Display;
use std::sync::OnceLock;

use model::config::Color;
use model::finding::{Finding, Level};
use ops::ErrorKind;
use serde::Serialize;

pub use printer::{BAD, BOLD, DIM, GOOD, Stream, Style, WARN, print_help, print_reply};

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
    note_loss(printer::print(Stream::Out, &format!("{text}\n")));
}

/// A text of several lines that has its line end.
pub fn text(text: &str) {
    note_loss(printer::print(Stream::Out, text));
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
    printer::print(Stream::Out, &format!("{text}\n")).is_ok()
}

/// The same for a line that is JSON.
pub fn is_json_heard(line: &str) -> bool {
    printer::print_json(&marked_untrusted(line.to_owned())).is_ok()
}

/// Data for a program, byte for byte unless a person reads it. A reader that went away is no error.
pub fn data(bytes: &[u8]) {
    note_loss(printer::print_data(bytes));
}

/// A line for the person next to the data.
pub fn talk(text: impl Display) {
    let _ = printer::print(Stream::Err, &format!("{text}\n"));
}

/// Whether a person reads the data itself.
pub fn is_read_by_person() -> bool {
    Stream::Out.is_terminal()
}

/// Whether a person watches what is said next to the data.
pub fn is_watched() -> bool {
    Stream::Err.is_terminal()
}

/// A line that the next one takes the place of: for a person who watches.
pub fn passing(text: &str) {
    let _ = printer::print_over(text);
}

pub fn json(value: &impl Serialize) {
    match serde_json::to_string_pretty(value) {
        Ok(text) => note_loss(printer::print_json(&marked_untrusted(text))),
        // A path that is no UTF-8 has no form in JSON.
        Err(error) => {
            let message = format!("the answer cannot be written as JSON: {error}");
            let (kind, exit_code) = (ErrorKind::Io.name(), exit_code(ErrorKind::Io));
            let error = FailureFields {
                kind,
                exit_code,
                message: message.clone(),
                file: None,
                line: None,
                hint: None,
            };
            let _ = LOST.set(message);
            json(&Failure { error });
        }
    }
}

/// Set when the records of a store are printed that is not trusted on this machine.
static UNTRUSTED: OnceLock<()> = OnceLock::new();

/// Says that what follows comes from a store that is not trusted: to a person now, to a program as a field.
pub fn announce_untrusted(format: Format) {
    let _ = UNTRUSTED.set(());
    if format == Format::Text {
        talk(format_args!(
            "{WARN}warning:{WARN:#} the records here came with this folder and are not trusted on this machine: what \
             follows is somebody else's text. `thru trust` vouches for it."
        ));
    }
}

/// `"trusted": false` in the object, or in each one of a list.
fn marked_untrusted(json: String) -> String {
    use serde_json::Value;
    let is_one_line = !json.contains('\n');
    let mark = |value: &mut Value| {
        if let Value::Object(fields) = value {
            fields.entry("trusted").or_insert(Value::Bool(false));
        }
    };
    if UNTRUSTED.get().is_none() {
        return json;
    }
    let Ok(mut value) = serde_json::from_str::<Value>(&json) else { return json };
    match &mut value {
        Value::Array(rows) => rows.iter_mut().for_each(mark),
        value => mark(value),
    }
    let printed =
        if is_one_line { serde_json::to_string(&value) } else { serde_json::to_string_pretty(&value) };
    printed.unwrap_or(json)
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
    let hint = finding
        .hint
        .as_ref()
        .map_or(String::new(), |hint| format!("\n  {DIM}hint:{DIM:#} {}", indented(hint)));
    format!("{style}{word}:{style:#} {}{}{hint}", indented(&place), indented(&finding.text))
}

/// With every further line set in: a line end in a file's name must not begin a line that looks like one of ours.
fn indented(text: &str) -> String {
    model::clean::clean(text).replace('\n', "\n    ")
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
            talk(format_args!("{BAD}error:{BAD:#} {}", indented(&error.to_string())));
            if let Some(hint) = error.hint() {
                talk(format_args!("{DIM}hint:{DIM:#}  {}", indented(&hint)));
            }
        }
    }
    code
}

/// What a panic said, cleaned as everything is: its message can quote a text that it fell over.
pub fn report_panic(info: &std::panic::PanicHookInfo) {
    let what = info.payload_as_str().unwrap_or("a panic");
    let place = info.location().map_or(String::new(), |place| format!(" ({place})"));
    talk(format_args!("{BAD}error:{BAD:#} a bug in thru: {}{place}", indented(what)));
    if crate::world::var("RUST_BACKTRACE").is_some_and(|wanted| wanted != "0") {
        talk(std::backtrace::Backtrace::force_capture());
    }
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

/// Who gave a secret should know that it does not stand there.
pub fn tell_covered() {
    talk(format_args!(
        "{WARN}note:{WARN:#} a secret was redacted before the text was written; `thru redact` shows how a text is redacted"
    ));
}
