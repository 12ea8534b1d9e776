//! Passwords on the lines after a label, a question or a command, and recovery codes and phrases.

use super::FoundSecret;
use super::classes::{LETTER_OR_DIGIT, byte_or_newline, ends_with_ignore_case, is_byte_in_class};
use super::context;
use super::grades::{PasswordGrade, grade_word};
use super::made_up;
use super::mentions::WORDS_BEFORE_VALUE;
use super::nouns::SecretNoun;
use super::words::{LineWord, MAX_BYTES_READ_AROUND_SECRET_NOUN, end_of_line_within_reach, words_between};

/// Finds a wallet's recovery phrase or a recovery code after the noun `text[start..end]`.
pub fn recovery_phrase_or_code(text: &[u8], start: usize, end: usize, floor: usize) -> Option<FoundSecret> {
    let told = |words: &[&str]| words.iter().any(|word| ends_with_ignore_case(&text[floor..start], word));
    match &text[start..end] {
        b"phrase" | b"Phrase" | b"words" | b"seed"
            if told(&["seed ", "recovery ", "wallet ", "backup ", "secret "]) =>
        {
            context::recovery_phrase(text, end)
        }
        b"mnemonic" | b"Mnemonic" | b"MNEMONIC" => context::recovery_phrase(text, end),
        b"codes" | b"code" | b"Codes" if told(&["recovery ", "backup ", "scratch ", "emergency "]) => {
            next_recovery_code(text, end)
        }
        _ => None,
    }
}

/// Finds the next recovery code, such as `7mh6m-oi7oc`, on this line or the following lines. `end` is where the noun
/// ends.
fn next_recovery_code(text: &[u8], end: usize) -> Option<FoundSecret> {
    let window_end = text.len().min(end + MAX_BYTES_READ_AROUND_SECRET_NOUN);
    words_between(text, end, window_end)
        .take(6)
        .find(|word| {
            let bare = word.bytes(text);
            let halves = bare.iter().filter(|byte| **byte == b'-').count();
            let drawn = bare.len() >= 8
                && bare.iter().all(|byte| is_byte_in_class(*byte, LETTER_OR_DIGIT) || *byte == b'-')
                && bare.iter().any(u8::is_ascii_digit)
                && (1..=3).contains(&halves)
                && bare.split(|byte| *byte == b'-').all(|half| (4..=6).contains(&half.len()));
            drawn && (word.end < window_end || window_end == text.len())
        })
        .map(|word| word.to_found_secret())
}

/// Finds a password on the line after a command that prints it, such as `$ cat password.txt`.
pub fn secret_printed_by_command(text: &[u8], start: usize, end: usize, floor: usize) -> Option<FoundSecret> {
    let word = &text[start..end];
    let shows = word == b"pass" && text[end..].starts_with(b" show ");
    if !(shows || word.len() >= 4 && ends_with_secret_noun(word)) {
        return None;
    }
    let line = context::text_after_last_break(
        &text[floor.max(start.saturating_sub(MAX_BYTES_READ_AROUND_SECRET_NOUN))..start],
    );
    let typed = line.starts_with(b"$ ") || line.starts_with(b"# ") || line.starts_with(b"% ");
    if shows || typed {
        only_word_on_line(text, end_of_line_within_reach(text, end), PasswordGrade::Likely)
    } else {
        None
    }
}

fn ends_with_secret_noun(word: &[u8]) -> bool {
    ["password", "passwd", "secret", "token", "passphrase"]
        .iter()
        .any(|noun| ends_with_ignore_case(word, noun))
}

/// Finds the value on the line below a label, a question or a request, as in `Password` followed by `x`, or
/// `what's the pass?` followed by `Rita: x`.
pub fn secret_on_line_below(
    text: &[u8],
    line_start: usize,
    end: usize,
    line_end: usize,
    noun: SecretNoun,
) -> Option<FoundSecret> {
    const MAX_PASSWORD_LABEL_WORDS: usize = 8;
    if noun != SecretNoun::Password
        || byte_or_newline(text, line_end) != b'\n' && byte_or_newline(text, line_end) != b'\\'
    {
        return None;
    }
    let rest = text[end..line_end].trim_ascii();
    let asks = text[..line_end].trim_ascii_end().ends_with(b"?");
    let last = rest.iter().all(|byte| b":?!.*`'\")=".contains(byte))
        || matches!(rest, b"is" | b"is:" | b"again" | b"pls" | b"please");
    let label = words_between(text, line_start, end).take(MAX_PASSWORD_LABEL_WORDS + 1).count()
        <= MAX_PASSWORD_LABEL_WORDS;
    // A line of code is not a label.
    let code = text[line_start..line_end].iter().any(|byte| b"(){}=;%$[]+|&".contains(byte));
    // A request may announce the value, as in `use the following password to proceed:`.
    let announces = rest.ends_with(b":") && !code;
    let told = asks || announces || last && label && !code;
    if !told {
        return None;
    }
    only_word_on_line(text, line_end, PasswordGrade::Likely)
}

/// Returns the word on the line after the break at `at`. Nothing else may be on that line except a speaker's name.
fn only_word_on_line(text: &[u8], at: usize, least: PasswordGrade) -> Option<FoundSecret> {
    let mut at = at;
    let mut breaks = 0;
    while breaks < 3
        && let length @ 1.. =
            super::keys::line_break_length_at_start(text[at..].strip_prefix(b"\r").unwrap_or(&text[at..]))
    {
        at += length + usize::from(byte_or_newline(text, at) == b'\r');
        breaks += 1;
        // The value may be in a fenced code block.
        let fence = text[at..].trim_ascii_start();
        if fence.starts_with(b"```") {
            at = end_of_line_within_reach(text, text.len() - fence.len());
        }
    }
    if breaks == 0 {
        return None;
    }
    let line_end = end_of_line_within_reach(text, at);
    let mut said = None;
    for (count, word) in words_between(text, at, line_end).enumerate() {
        if let Some((previous, _)) = said.replace((word, count)) {
            let previous: LineWord = previous;
            let bare = previous.bytes(text);
            let speaker = previous.has_colon
                || bare.ends_with(b"]")
                || WORDS_BEFORE_VALUE.contains_word(bare)
                || matches!(bare, b">" | b"sure" | b"ok");
            let time = bare.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b']' | b'.'));
            if !(speaker || time || count == 1 && word.has_colon) || count > 3 {
                return None;
            }
        }
    }
    let (word, _) = said?;
    let whole = matches!(byte_or_newline(text, line_end), b'\n' | b'\r' | b'\\')
        && !word.has_colon
        && !word.is_part_of_code(text);
    let bare = word.bytes(text);
    (whole && (grade_word(bare) >= Some(least) || made_up::is_noun_not_used_as_modifier(bare)))
        .then(|| word.to_found_secret())
}
