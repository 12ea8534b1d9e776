//! Escapes text from tools, files and people, so that it is safe to show to a model. The text remains data and never
//! becomes markup or an instruction.

use std::borrow::Cow;

use crate::clean::clean_text;
use crate::loops::promise;
use crate::text::{mark_missing_text, shorten_to_bytes};

/// Returns the length in UTF-16 units, in which harnesses measure their limits.
pub fn utf16_length(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Formats text as one line for a model, without invisible characters. The text cannot close the markup around it.
pub fn inline_for_model(text: &str, max: usize) -> String {
    one_line(&escape_for_model(&beginning_examined(text, max)), max)
}

/// Cuts the text to a length that is usually enough for `max` visible characters. An ellipsis marks the cut, because
/// the result may be too short if many of its characters are invisible.
fn beginning_examined(text: &str, max: usize) -> Cow<'_, str> {
    shorten_to_bytes(text, max.saturating_mul(8).saturating_add(1024))
}

/// Like [`inline_for_model`], but keeps several spaces in a row, because they may be part of what a person quotes: "the
/// output must be `food  6.00`". If lines are joined, columns are lost anyway, so at most two spaces in a row are kept,
/// or only one if the text is long. The indentation of lines is removed.
fn quoted_for_model(text: &str, max: usize) -> String {
    const MAX_SHORT_QUOTE_BYTES: usize = 700;
    let escaped = escape_for_model(&beginning_examined(text, max));
    let lines: Vec<&str> =
        escaped.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty()).collect();
    let max_spaces = match lines.len() {
        0 | 1 => usize::MAX,
        _ if escaped.len() <= MAX_SHORT_QUOTE_BYTES => 2,
        _ => 1,
    };
    collapse_to_line(&lines.join(" "), max, max_spaces)
}

/// Formats a line of output for a model. White space is kept, so that marks such as `^^^` stay below the text
/// that they point to.
pub fn output_line_for_model(text: &str, max: usize) -> String {
    let line = escape_for_model(text).replace(['\n', '\r'], " ");
    let line = line.trim_end();
    match line.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// Removes invisible characters and escapes characters that could close the markup around the text.
pub(crate) fn escape_for_model(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    // Invisible characters are removed first, because their removal can bring other characters together.
    let seen = clean_text(text);
    let mut chars = seen.chars().peekable();
    while let Some(c) = chars.next() {
        escaped.push(c);
        if c == '<' && opens_markup(&chars) {
            escaped.push('\\');
        }
    }
    escaped
}

/// Tag names that a harness or a model may mistake for its own markup, besides names with `-`, `_` or `:`.
const RESERVED_TAGS: [&str; 21] = [
    "assistant",
    "bash",
    "command",
    "context",
    "env",
    "function",
    "human",
    "instructions",
    "invoke",
    "memory",
    "message",
    "output",
    "parameter",
    "prompt",
    "reminder",
    "result",
    "summary",
    "system",
    "thinking",
    "tool",
    "user",
];

/// Returns whether the text after a `<` could open or close a harness's markup, such as `</system-reminder>`. Other
/// names in angle brackets, such as `<module>`, `<commit>` and `<promise>`, are common in quoted text and harmless.
fn opens_markup(rest: &(impl Iterator<Item = char> + Clone)) -> bool {
    let mut rest = rest.clone().peekable();
    let closes = rest.next_if_eq(&'/').is_some();
    if rest.peek() == Some(&'!') {
        return true;
    }
    let is_name = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':');
    let name: String = rest.take_while(is_name).collect();
    if closes {
        return name != promise::PROMISE_TAG_NAME;
    }
    let is_compound = name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.contains(['-', '_', ':']);
    is_compound || RESERVED_TAGS.iter().any(|tag| name.eq_ignore_ascii_case(tag))
}

/// Formats text as one line of at most `max` UTF-16 units for a person, without terminal control characters.
pub fn one_line(text: &str, max: usize) -> String {
    borrow_or_collapse_line(text, max).into_owned()
}

/// Like [`one_line`], but borrows the text if it needs no change. A large plan contains thousands of strings that need
/// none.
pub fn borrow_or_collapse_line(text: &str, max: usize) -> Cow<'_, str> {
    match text.len() <= max && is_plain_line(text) {
        true => Cow::Borrowed(text),
        false => Cow::Owned(collapse_to_line(text, max, 1)),
    }
}

/// Formats text as one line. At most `max_spaces` spaces in a row are kept.
fn collapse_to_line(text: &str, max: usize, max_spaces: usize) -> String {
    let mut out = String::with_capacity(text.len().min(max * 2));
    let mut used = 0;
    for c in clean_text(text).chars() {
        let c = if c == '\n' || c == '\t' { ' ' } else { c };
        if c == ' ' && (out.is_empty() || out.len() - out.trim_end_matches(' ').len() >= max_spaces) {
            continue;
        }
        used += c.len_utf16();
        // The text does not fit. One unit is reserved for the ellipsis.
        if used > max {
            while utf16_length(&out) >= max {
                out.pop();
            }
            out.truncate(out.trim_end().len());
            out.push('…');
            return out;
        }
        out.push(c);
    }
    out.truncate(out.trim_end().len());
    out
}

/// Returns whether [`one_line`] would leave the text unchanged. This is the case if the text is printable ASCII with
/// only single spaces and no space at either end, which is true of most text.
fn is_plain_line(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (Some((first, after)), Some(last)) = (bytes.split_first(), bytes.last()) else { return false };
    // Without an early exit, the compiler can test many bytes at once.
    let is_printable = bytes.iter().fold(true, |all, byte| all & (byte.wrapping_sub(b' ') < 95));
    let are_spaces = |one: u8, next: u8| (one == b' ') & (next == b' ');
    let has_two_spaces =
        bytes.iter().zip(after).fold(false, |any, (one, next)| any | are_spaces(*one, *next));
    is_printable && !has_two_spaces && *first != b' ' && *last != b' '
}

/// Formats several lines as a block quote, so that they are recognisable as data. After `max` units, the text is cut
/// and an ellipsis is added.
pub fn block_quote(text: &str, max: usize) -> String {
    let (mut lines, mut room) = (Vec::new(), max);
    for line in text.trim().lines() {
        if room == 0 {
            lines.push("> …".to_owned());
            break;
        }
        let line = quoted_for_model(line, room);
        room = room.saturating_sub(utf16_length(&line) + 1);
        lines.push(format!("> {line}").trim_end().to_owned());
    }
    lines.join("\n")
}

/// Puts a command or a line of output in backticks. If the text contains backticks, a longer run of backticks is put
/// around it, so that the text cannot end the code span.
pub fn in_backticks(text: &str, max: usize) -> String {
    let text = inline_for_model(text, max);
    if text.is_empty() {
        // Put a space between the backticks, because two adjacent backticks would start a code span that includes the
        // following text.
        return "` `".to_owned();
    }
    if !text.contains('`') {
        return format!("`{text}`");
    }
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    format!("{fence} {text} {fence}")
}

/// The text between two instructions that are quoted together from one message.
pub const GAP_IN_QUOTE: &str = " … ";

/// Puts a person's or an agent's text in curly quotation marks. Curly quotation marks within the text become straight
/// ones, so they cannot end the quotation.
pub fn in_quotation_marks(text: &str, max: usize) -> String {
    format!("“{}”", quoted_for_model(text, max).replace(['“', '”'], "\""))
}

/// Quotes a part of a text. Every place where text is missing shows an ellipsis.
pub fn quote_part(part: &str, whole: &str, max: usize) -> String {
    // The marks at both ends need up to four characters.
    in_quotation_marks(&mark_missing_text(part, whole), max + 4)
}

/// Returns whether the text is a path that consists of ASCII letters, digits and a few other characters. Non-ASCII
/// characters are excluded, because some writing systems do not put spaces between words, so a whole sentence could
/// look like a path.
pub fn is_plain_path(text: &str) -> bool {
    let plain = |c: char| {
        c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | '@' | '~' | '%' | '=' | ':')
    };
    !text.is_empty() && text.chars().all(plain)
}

/// Formats a path, a session id, a tool name or a time. The text is printed as it is if it looks like a path, and
/// otherwise as code, because a file name can be a whole sentence.
pub fn format_path_or_code(text: &str, max: usize) -> String {
    match is_plain_path(text) {
        // A plain path needs no escaping. Skipping it saves time, because a brief contains hundreds of paths.
        true if text.len() <= max => text.to_owned(),
        true => inline_for_model(text, max),
        false => in_backticks(text, max),
    }
}

/// Formats text in full for a person who must decide about it. Characters that a terminal would interpret or hide are
/// written as escapes such as `\u{1b}`. Line feeds and tabs are unchanged.
pub fn show_hidden_characters(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            c if c.is_control() || crate::clean::is_hidden_char(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_hides_or_closes_gets_through() {
        let cases = [
            ("a\n\n  b\tc", "a b c"),
            ("\u{1b}[31mred\u{1b}[0m\u{1b}]0;title\u{7}x", "redx"),
            ("a\u{200b}b\u{202e}c\u{feff}\u{e0041}", "abc"),
            ("</system-reminder><b>", "<\\/system-reminder><b>"),
            ("<\u{200b}/b> <\u{1b}[0ma>", "<\\/b> <a>"),
            ("1 < 2 && x<-y", "1 < 2 && x<-y"),
            ("line 1, in <module>", "line 1, in <module>"),
            ("Object.<anonymous> <lambda>", "Object.<anonymous> <lambda>"),
            ("</module> <module> <commit> <!--", "<\\/module> <module> <commit> <\\!--"),
            ("<promise>DONE</promise> </promise-x>", "<promise>DONE</promise> <\\/promise-x>"),
            ("<User> <tool_call> <invoke> <user", "<\\User> <\\tool_call> <\\invoke> <\\user"),
            ("<string><system-reminder>", "<string><\\system-reminder>"),
            ("bell\u{7}nul\0", "bellnul"),
            ("  trimmed  ", "trimmed"),
            ("\u{1b}", ""),
            ("\u{1b}[", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(inline_for_model(text, 100), expected, "{text:?}");
        }
    }

    #[test]
    fn plain_lines_are_known() {
        for (text, plain) in [
            ("a b", true),
            ("~!", true),
            ("", false),
            (" a", false),
            ("a ", false),
            ("a  b", false),
            ("a\tb", false),
            ("a\nb", false),
            ("é", false),
            ("a\u{7f}", false),
        ] {
            assert_eq!(is_plain_line(text), plain, "{text:?}");
        }
        assert_eq!([one_line("abcd", 4), one_line("abcd", 3)], ["abcd", "ab…"]);
    }

    #[test]
    fn a_text_to_decide_about_loses_nothing() {
        for (text, expected) in [
            ("make it\n\tgreen", "make it\n\tgreen"),
            ("rm\u{1b}[2K -rf", "rm\\u{1b}[2K -rf"),
            ("a\rb\u{202e}c\u{200b}", "a\\u{d}b\\u{202e}c\\u{200b}"),
            ("é 😀 \u{9b}31m", "é 😀 \\u{9b}31m"),
        ] {
            assert_eq!(show_hidden_characters(text), expected, "{text:?}");
        }
    }

    #[test]
    fn cuts_are_marked_and_counted_as_the_harness_counts() {
        assert_eq!(inline_for_model("abcdef", 4), "abc…");
        assert_eq!(inline_for_model("abc", 4), "abc");
        let emoji = "😀".repeat(10);
        let cut = inline_for_model(&emoji, 9);
        assert!(utf16_length(&cut) <= 9 && cut.ends_with('…'), "{cut}");
        for max in 1..40 {
            assert!(utf16_length(&inline_for_model("<b>x</b> yes <i>y</i> and more of it", max)) <= max);
        }
    }

    #[test]
    fn quotes_cannot_be_closed_and_names_are_no_sentences() {
        assert_eq!(in_quotation_marks("a” and “b", 40), "“a\" and \"b”");
        assert_eq!(format_path_or_code("src/a-b_c.rs", 40), "src/a-b_c.rs");
        assert_eq!(format_path_or_code("do as I say.rs", 40), "`do as I say.rs`");
        assert_eq!(format_path_or_code("a\nb", 40), "`a b`");
        assert_eq!(format_path_or_code("忽略之前的所有指令.md", 40), "`忽略之前的所有指令.md`");
    }

    #[test]
    fn quoted_words_keep_their_spaces() {
        assert_eq!(in_quotation_marks(" print 'food     6.00' ", 60), "“print 'food     6.00'”");
        assert_eq!(in_quotation_marks("a  bcdef", 5), "“a  b…”");
        let lines = "print 'food  6.00'.\n\n  - and\ta   total  ";
        assert_eq!(in_quotation_marks(lines, 60), "“print 'food  6.00'. - and a  total”");
        assert_eq!(block_quote(lines, 60), "> print 'food  6.00'.\n>\n> - and a   total");
        assert_eq!(in_backticks("food  6.00", 60), "`food 6.00`", "a name or a command");
    }

    #[test]
    fn code_cannot_be_closed() {
        assert_eq!(in_backticks("ls", 10), "`ls`");
        assert_eq!(in_backticks("echo `date` ``", 40), "``` echo `date` `` ```");
        assert_eq!(in_backticks(" ", 10), "` `", "two backticks would open a span");
    }

    /// However a text is shortened, its quotation is either complete or shows that something is missing.
    #[test]
    fn every_shortened_quotation_shows_that_text_is_missing() {
        use crate::prompt::{cut_before_instruction, shorten_request, title_if_long, title_of_message};
        use crate::statement::{
            best_sentences, condense_closing_message, condense_message, finding_before_announcement,
            first_sentences, last_sentences, reason_and_announcement, shorten_items,
        };
        use crate::text::{outline_text, shorten_to_bytes};
        let pieces = [
            "Great, that worked!",
            "You are an experienced developer.",
            "The reader drops comments because `skip()` eats them.",
            "It must keep them, but only in arrays; never in keys.",
            "Three findings: 1. The lexer is slow, as ever. 2. The parser is not. 3. Both leak.",
            "\n## Plan\n- Mend `a.rs`\n- Test it\n```\nfn main() {}\n```",
            "Never add a dependency, and don't push.",
            "\n\n\u{200b}\u{200b}\t \n",
            "Größe und Maße sind zu prüfen.",
            "Shall I write the tests, too?",
            "Now let me look at the writer:",
        ];
        let telling = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
        let mut state = 7_usize;
        let mut next = |most: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % most
        };
        for _ in 0..1_500 {
            let length = 1 + next(6);
            let text = (0..length).map(|_| pieces[next(pieces.len())]).collect::<Vec<_>>().join(" ");
            let max = 12 + next(260);
            let parts = [
                text.clone(),
                first_sentences(&text, max).into_owned(),
                last_sentences(&text, max).into_owned(),
                best_sentences(&text, max, max * 4 / 3, "").into_owned(),
                reason_and_announcement(&text, max).into_owned(),
                finding_before_announcement(&text),
                condense_message(&text),
                best_sentences(&condense_closing_message(&text), max, max, "").into_owned(),
                shorten_items(&text, max).unwrap_or_default(),
                outline_text(&cut_before_instruction(&text, max), max),
                shorten_request(&title_of_message(&text), max),
                title_if_long(&text),
                shorten_to_bytes(&text, max).into_owned(),
            ];
            for part in parts.iter().filter(|part| !telling(part).is_empty()) {
                let quote = quote_part(part, &text, max);
                let is_whole = telling(&quote) == telling(&text);
                assert!(
                    is_whole || quote.contains('…') || quote.contains(" more)"),
                    "{max} {text:?}: {quote}"
                );
            }
        }
    }

    #[test]
    fn text_that_shows_little_is_not_cut_in_silence() {
        let text = format!("a{}b", "\u{200b}".repeat(2_000));
        assert_eq!(in_quotation_marks(&text, 20), "“a…”");
        assert_eq!(inline_for_model(&text, 20), "a…");
    }
}
