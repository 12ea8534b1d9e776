//! The only module that writes to stdout and stderr. It cleans text for people, and then adds colour.
//!
//! A file, a branch, an argument or a record can contain escape sequences that write to the clipboard, move the cursor
//! or hide text. Therefore, all text is cleaned. It does not matter where the text comes from, or whether it goes to a
//! terminal or a pipe.

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};
use std::hash::{BuildHasher, RandomState};
use std::io::{IsTerminal, Write};
use std::sync::OnceLock;

use anstyle::AnsiColor;
use model::clean::{clean_text, is_hidden_char};

pub const BOLD: TextStyle = TextStyle::Bold;
pub const DIM: TextStyle = TextStyle::Dim;
pub const GOOD: TextStyle = TextStyle::Good;
pub const WARN: TextStyle = TextStyle::Warn;
pub const BAD: TextStyle = TextStyle::Bad;

/// The style of a part of a line. `{BOLD}` begins the part, and `{BOLD:#}` ends it. Both write a mark, which the
/// printer replaces with the terminal's codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextStyle {
    Bold,
    Dim,
    Good,
    Warn,
    Bad,
}

const STYLES: [TextStyle; 5] =
    [TextStyle::Bold, TextStyle::Dim, TextStyle::Good, TextStyle::Warn, TextStyle::Bad];

/// The first character of a style mark, which tells the printer to change the style. It is one of Unicode's
/// noncharacters, which are reserved for internal use. The printer removes noncharacters from text that it prints.
const MARK_START: char = '\u{fdd0}';
const MARK_END: char = '\u{fdd1}';

/// Returns the random part that all marks share. It is chosen once per process, so that untrusted text cannot contain a
/// mark.
fn random_part_of_marks() -> &'static str {
    static RANDOM_PART: OnceLock<String> = OnceLock::new();
    RANDOM_PART.get_or_init(|| format!("{:016x}", RandomState::new().hash_one(0)))
}

impl Display for TextStyle {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let number = if f.alternate() { STYLES.len() } else { *self as usize };
        f.write_str(&style_marks()[number])
    }
}

/// Returns the marks of all styles. The last mark ends any style. The marks are built only once, because printing a
/// plan uses thousands of them.
fn style_marks() -> &'static [String; STYLES.len() + 1] {
    static STYLE_MARKS: OnceLock<[String; STYLES.len() + 1]> = OnceLock::new();
    STYLE_MARKS.get_or_init(|| {
        std::array::from_fn(|number| format!("{MARK_START}{}{number}{MARK_END}", random_part_of_marks()))
    })
}

impl TextStyle {
    fn color_codes(self) -> String {
        let style = match self {
            TextStyle::Bold => anstyle::Style::new().bold(),
            TextStyle::Dim => anstyle::Style::new().dimmed(),
            TextStyle::Good => AnsiColor::Green.on_default(),
            TextStyle::Warn => AnsiColor::Yellow.on_default(),
            TextStyle::Bad => AnsiColor::Red.on_default().bold(),
        };
        style.render().to_string()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputStream {
    Out,
    Err,
}

impl OutputStream {
    pub fn is_terminal(self) -> bool {
        match self {
            OutputStream::Out => std::io::stdout().is_terminal(),
            OutputStream::Err => std::io::stderr().is_terminal(),
        }
    }

    pub fn has_color(self) -> bool {
        let choice = match self {
            OutputStream::Out => anstream::AutoStream::choice(&std::io::stdout()),
            OutputStream::Err => anstream::AutoStream::choice(&std::io::stderr()),
        };
        choice != anstream::ColorChoice::Never
    }

    /// Writes bytes unchanged. Callers must have cleaned the bytes, unless the bytes are data for a program.
    fn write(self, bytes: &[u8]) -> std::io::Result<()> {
        match self {
            OutputStream::Out => {
                let mut out = std::io::stdout().lock();
                out.write_all(bytes).and_then(|()| out.flush())
            }
            OutputStream::Err => std::io::stderr().lock().write_all(bytes),
        }
    }
}

/// Prints text for people. No newline is added.
pub fn print(stream: OutputStream, text: &str) -> std::io::Result<()> {
    stream.write(clean_and_color(text, stream.has_color()).as_bytes())
}

/// Prints a line on stderr that the next call overwrites. Use it only on a terminal.
pub fn print_transient_line(text: &str) -> std::io::Result<()> {
    let color = OutputStream::Err.has_color();
    let text = clean_and_color(text, color);
    let line = match color {
        true => format!("\r\x1b[2K{text}"),
        // Without escape sequences, the line is cleared with spaces.
        false => format!("\r{:MAX_TRANSIENT_WIDTH$}\r{text}", ""),
    };
    OutputStream::Err.write(line.as_bytes())
}

/// The longest line that can be overwritten, in characters.
const MAX_TRANSIENT_WIDTH: usize = 79;

/// Prints one JSON document and a newline. Invisible characters are written as `\u` escapes. They occur only in
/// strings, where an escape does not change the value.
pub fn print_json(json: &str) -> std::io::Result<()> {
    let mut out = String::with_capacity(json.len() + 1);
    for c in json.chars() {
        if is_hidden_char(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    out.push('\n');
    OutputStream::Out.write(out.as_bytes())
}

/// Prints data for a program, byte for byte. On a terminal, the data is cleaned.
pub fn print_data(bytes: &[u8]) -> std::io::Result<()> {
    if OutputStream::Out.is_terminal() {
        return print(OutputStream::Out, &String::from_utf8_lossy(bytes));
    }
    OutputStream::Out.write(bytes)
}

/// Prints a hook's reply: JSON or text that `model` composed and cleaned.
pub fn print_reply(reply: &[u8]) -> std::io::Result<()> {
    OutputStream::Out.write(reply)
}

/// Prints the help or the version. Both contain only our own text, so clap's colours are kept.
pub fn print_help(stream: OutputStream, help: &clap::builder::StyledStr) -> std::io::Result<()> {
    match stream.has_color() {
        true => stream.write(help.ansi().to_string().as_bytes()),
        false => print(stream, &help.to_string()),
    }
}

/// Cleans the text. Replaces thru's own style marks with the terminal's colour codes, or removes them if `color` is
/// false.
fn clean_and_color(text: &str, color: bool) -> Cow<'_, str> {
    if next_mark(text).is_none() {
        return clean_text(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, number, after)) = next_mark(rest) {
        out.push_str(&clean_text(before));
        if color {
            let style = number.parse().ok().and_then(|number: usize| STYLES.get(number));
            out.push_str(
                &style.map_or_else(|| anstyle::Reset.render().to_string(), |style| style.color_codes()),
            );
        }
        rest = after;
    }
    out.push_str(&clean_text(rest));
    Cow::Owned(out)
}

/// Returns the text before the first style mark, the number of the style, and the text after the mark.
fn next_mark(text: &str) -> Option<(&str, &str, &str)> {
    // Search only for the first character of the mark. Searching for the whole mark would take longer than everything
    // else that printing does.
    text.match_indices(MARK_START).find_map(|(at, open)| {
        let mark = text[at + open.len()..].strip_prefix(random_part_of_marks())?;
        let (number, after) = mark.split_once(MARK_END)?;
        Some((&text[..at], number, after))
    })
}
