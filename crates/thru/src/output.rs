//! Prints data to stdout and messages to stderr, with colour only on a terminal.

mod printer;

use std::fmt::Display;
use std::sync::OnceLock;

use model::config::ColorSetting;
use model::finding::{Finding, FindingLevel};
use model::render::one_line;
use ops::ErrorKind;
use ops::World;
use ops::project::UntrustedReason;
use ops::project::hook_obstacle;
use serde::Serialize;

pub use printer::{BAD, BOLD, DIM, GOOD, OutputStream, TextStyle, WARN, print_help, print_reply};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputFormat {
    Text,
    Json,
}

pub fn apply_color_setting(color: ColorSetting) {
    match color {
        ColorSetting::Auto => {}
        ColorSetting::Always => anstream::ColorChoice::Always.write_global(),
        ColorSetting::Never => anstream::ColorChoice::Never.write_global(),
    }
}

/// Why data could not be written. A closed pipe is not an error, because its reader (such as `head`) has read enough.
static FIRST_WRITE_ERROR: OnceLock<String> = OnceLock::new();

pub fn print_line(text: impl Display) {
    record_write_error(printer::print(OutputStream::Out, &format!("{text}\n")));
}

/// Prints text to stdout. No newline is added.
pub fn print_text(text: &str) {
    record_write_error(printer::print(OutputStream::Out, text));
}

fn record_write_error(written: std::io::Result<()>) {
    if let Err(error) = written
        && error.kind() != std::io::ErrorKind::BrokenPipe
    {
        let _ = FIRST_WRITE_ERROR.set(error.to_string());
    }
}

/// Returns the exit code of the process. If the command succeeded but data could not be written, returns an error code.
pub fn final_exit_code(code: u8) -> u8 {
    let Some(why) = FIRST_WRITE_ERROR.get().filter(|_| code == 0) else { return code };
    print_message(format_args!("{BAD}error:{BAD:#} stdout: cannot write: {why}"));
    exit_code(ErrorKind::Io)
}

/// Prints a line of data. Returns false if the output was closed, so that endless output can stop.
pub fn print_line_unless_closed(text: impl Display) -> bool {
    printer::print(OutputStream::Out, &format!("{text}\n")).is_ok()
}

/// Prints a line of JSON. Returns false if the output was closed.
pub fn print_json_line_unless_closed(line: &str) -> bool {
    printer::print_json(&mark_untrusted(line.to_owned())).is_ok()
}

/// Prints data for a program, byte for byte. On a terminal, the data is cleaned. A closed pipe is not an error.
pub fn print_data(bytes: &[u8]) {
    record_write_error(printer::print_data(bytes));
}

/// Prints a message for the user to stderr.
pub fn print_message(text: impl Display) {
    let _ = printer::print(OutputStream::Err, &format!("{text}\n"));
}

pub fn is_stdout_terminal() -> bool {
    OutputStream::Out.is_terminal()
}

pub fn is_stderr_terminal() -> bool {
    OutputStream::Err.is_terminal()
}

/// Prints a line that the next call overwrites. Use it only for a person at a terminal.
pub fn print_transient_line(text: &str) {
    let _ = printer::print_transient_line(text);
}

pub fn print_json(value: &impl Serialize) {
    match serde_json::to_string_pretty(value) {
        Ok(text) => record_write_error(printer::print_json(&mark_untrusted(text))),
        // JSON cannot represent a path that is not UTF-8.
        Err(error) => {
            let message = format!("the output cannot be written as JSON: {error}");
            let (kind, exit_code) = (ErrorKind::Io.name(), exit_code(ErrorKind::Io));
            let error = ErrorFieldsJson {
                kind,
                exit_code,
                message: message.clone(),
                file: None,
                line: None,
                hint: None,
            };
            let _ = FIRST_WRITE_ERROR.set(message);
            print_json(&ErrorJson { error });
        }
    }
}

/// Is set if the printed data comes from an untrusted store.
static IS_STORE_UNTRUSTED: OnceLock<()> = OnceLock::new();

/// Announces that the following data comes from an untrusted store. Text output begins with a warning; JSON output gets
/// a field.
pub fn announce_untrusted(why: &UntrustedReason, format: OutputFormat) {
    let _ = IS_STORE_UNTRUSTED.set(());
    if format == OutputFormat::Json {
        return;
    }
    match why {
        UntrustedReason::NotTrusted => print_message(format_args!(
            "{WARN}warning:{WARN:#} the records here came with this folder and are not trusted on this machine: what \
             follows is somebody else's text. Run `thru trust` if you trust it."
        )),
        UntrustedReason::Moved { from } => print_message(format_args!(
            "{WARN}warning:{WARN:#} this project was moved from {}, and nothing is captured here until you run \
             `thru trust --moved`.",
            one_line(from, 300)
        )),
    }
}

/// Prints a note and returns true if hooks do nothing in this project. The note says what does not happen until hooks
/// work (`consequence`). If hooks work, prints nothing and returns false. A command must call this before it says that
/// a hook will do something.
pub fn print_note_if_hooks_do_nothing(world: &World, consequence: &str) -> bool {
    let obstacle = hook_obstacle::hook_obstacle_here(world);
    if let Some(obstacle) = &obstacle {
        // The warning about an untrusted store has already said why hooks do nothing.
        let text = match IS_STORE_UNTRUSTED.get() {
            Some(()) => obstacle.explain_consequence(consequence),
            None => obstacle.explain(consequence),
        };
        print_message(format_args!("{WARN}note:{WARN:#} {text}"));
    }
    obstacle.is_some()
}

/// Adds `"trusted": false` to the object, or to each object of a list.
fn mark_untrusted(json: String) -> String {
    use serde_json::Value;
    let is_one_line = !json.contains('\n');
    let mark = |value: &mut Value| {
        if let Value::Object(fields) = value {
            fields.entry("trusted").or_insert(Value::Bool(false));
        }
    };
    if IS_STORE_UNTRUSTED.get().is_none() {
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

/// Prints two columns. The first column is as wide as the longest name.
pub fn print_pairs(rows: &[(&str, String)]) {
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, value) in rows {
        print_line(format_args!("{DIM}{name:<width$}{DIM:#}  {value}"));
    }
}

pub fn format_finding(finding: &Finding) -> String {
    let (style, word) = match finding.level {
        FindingLevel::Note => (DIM, "note"),
        FindingLevel::Warning => (WARN, "warning"),
        FindingLevel::Error => (BAD, "error"),
    };
    let hint = finding
        .hint
        .as_ref()
        .map_or(String::new(), |hint| format!("\n  {DIM}hint:{DIM:#} {}", indent_continuation_lines(hint)));
    format!("{style}{word}:{style:#} {}{hint}", indent_continuation_lines(&finding.to_string()))
}

/// Indents every line after the first, so that a newline in a file name cannot fake a line of our output.
fn indent_continuation_lines(text: &str) -> String {
    model::clean::clean_text(text).replace('\n', "\n    ")
}

#[derive(Serialize)]
struct ErrorJson {
    error: ErrorFieldsJson,
}

#[derive(Serialize)]
struct ErrorFieldsJson {
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

pub fn report_error(error: &ops::Error, format: OutputFormat) -> u8 {
    let code = exit_code(error.kind());
    match format {
        OutputFormat::Json => print_json(&ErrorJson {
            error: ErrorFieldsJson {
                kind: error.kind().name(),
                exit_code: code,
                message: error.to_string(),
                file: error.path().map(|path| path.display().to_string()),
                line: error.line_number(),
                hint: error.hint(),
            },
        }),
        OutputFormat::Text => {
            print_message(format_args!(
                "{BAD}error:{BAD:#} {}",
                indent_continuation_lines(&error.to_string())
            ));
            if let Some(hint) = error.hint() {
                print_message(format_args!("{DIM}hint:{DIM:#}  {}", indent_continuation_lines(&hint)));
            }
        }
    }
    code
}

/// Prints the message of a panic. The message may quote untrusted text, so it is cleaned.
pub fn report_panic(info: &std::panic::PanicHookInfo) {
    let what = info.payload_as_str().unwrap_or("a panic");
    let place = info.location().map_or(String::new(), |place| format!(" ({place})"));
    print_message(format_args!(
        "{BAD}error:{BAD:#} a bug in thru: {}{place}",
        indent_continuation_lines(what)
    ));
    if crate::world::read_variable("RUST_BACKTRACE").is_some_and(|wanted| wanted != "0") {
        print_message(std::backtrace::Backtrace::force_capture());
    }
}

/// The exit code for a bug in thru: `EX_SOFTWARE` of BSD.
pub const BUG_EXIT_CODE: u8 = 70;

/// Returns the exit code of an error. The codes are documented in `thru --help` and docs/commands.md.
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

/// Tells the user that a secret in the input was redacted.
pub fn print_redaction_note() {
    print_message(format_args!(
        "{WARN}note:{WARN:#} a secret was redacted before the text was written; `thru redact` shows how it redacts text"
    ));
}
