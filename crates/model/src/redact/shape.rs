//! Matches the rules of the provider table, and finds the rules that may match at a position.
//!
//! Three bytes decide whether a word can start a token. They are looked up in a bitmap of 8 KB that is computed at
//! compile time, so nothing is built at start-up. For the few words that pass, the rules with the same first byte are
//! tried.

use super::FoundSecret;
use super::chance::profile_value;
use super::classes::{
    self, BASE64_URL, DOT, IDENTIFIER_BYTE, LETTER_OR_DIGIT, PLUS, SLASH, byte_or_newline, is_byte_in_class,
};
use super::rules::{RuleRequirement, TOKEN_RULES, TokenPart, TokenRule};

/// How many bytes of a body are examined for words. A long body is not read completely.
const BODY_BYTES_EXAMINED: usize = 96;

/// Returns the token that starts at `at` if a rule matches. `at` must be the start of a word. Bytes before `edge` are
/// not examined.
#[inline]
pub fn token_starting_at(text: &[u8], at: usize, edge: usize) -> Option<FoundSecret> {
    let [first, second, third] = [text[at], byte_or_newline(text, at + 1), byte_or_newline(text, at + 2)];
    let slot = prefix_slot(first, second, third);
    if PREFIX_BITS[slot >> 6] & (1 << (slot & 63)) == 0 {
        return None;
    }
    match_rules_at(text, at, edge)
}

/// Tries the rules with the same first byte as the word at `at`.
#[cold]
fn match_rules_at(text: &[u8], at: usize, edge: usize) -> Option<FoundSecret> {
    let (first, second) = (text[at], byte_or_newline(text, at + 1));
    let mut index = FIRST_RULE_BY_BYTE[usize::from(first)];
    while index != NO_RULE {
        let rule = usize::from(index);
        if (SECOND_PREFIX_BYTES[rule] == second || SECOND_PREFIX_BYTES[rule] == ANY_BYTE)
            && let Some(hit) = match_rule(&TOKEN_RULES[rule], text, at, edge)
        {
            return Some(hit);
        }
        index = NEXT_RULE_WITH_SAME_BYTE[rule];
    }
    None
}

fn match_rule(rule: &'static TokenRule, text: &[u8], at: usize, edge: usize) -> Option<FoundSecret> {
    let rest = &text[at..];
    let misplaced = rule.requirement == RuleRequirement::RandomAndSeparate && !is_word_start(text, at, edge);
    if misplaced || !rest.starts_with(rule.prefix.as_bytes()) {
        return None;
    }
    let body = rule.prefix.len();
    let mut end = body;
    let mut joined = false;
    for part in rule.body {
        end += match *part {
            TokenPart::Literal(literal) => {
                if !rest[end..].starts_with(literal.as_bytes()) {
                    return None;
                }
                literal.len()
            }
            TokenPart::Run(class, min, max) => {
                let mut length = classes::class_run_length(&rest[end..], class, usize::from(max));
                if length < usize::from(min) {
                    length +=
                        length_of_next_literal(&rest[end + length..], class, usize::from(min) - length)?;
                }
                joined = class & !IDENTIFIER_BYTE != 0;
                length
            }
        };
    }
    // A match inside a longer word is rejected, and so is the name of a function. The test applies only to classes
    // without separators. A very long run with separators contains many possible starts, and rejecting each one would
    // take a separate pass.
    if (is_byte_in_class(byte_or_newline(rest, end), LETTER_OR_DIGIT) && !joined)
        || byte_or_newline(rest, end) == b'('
    {
        return None;
    }
    // If the class contains dots, the run may include the full stop of a sentence.
    while end > body && rest[end - 1] == b'.' {
        end -= 1;
    }
    let looks = profile_value(&rest[body..end.min(body + BODY_BYTES_EXAMINED)]);
    let plausible = match rule.requirement {
        RuleRequirement::PrefixOnly => !looks.is_filler(),
        RuleRequirement::Random | RuleRequirement::RandomBody | RuleRequirement::RandomInUrl => {
            !looks.looks_like_words()
        }
        RuleRequirement::RandomAndSeparate => looks.digits > 0 && !looks.looks_like_words(),
    };
    let start = match rule.requirement {
        RuleRequirement::RandomBody => at + body,
        RuleRequirement::RandomInUrl => start_of_address(text, at, edge),
        _ => at,
    };
    plausible.then_some(FoundSecret { start, end: at + end, kind: rule.kind })
}

/// Returns the length up to the end of the second part of a token that is split into two literals, as in `" + "x`. The
/// second part must have at least `min` bytes.
fn length_of_next_literal(rest: &[u8], class: classes::ByteClass, min: usize) -> Option<usize> {
    const MAX_STRING_JOINT_BYTES: usize = 40;
    let mark = *rest.first().filter(|mark| matches!(mark, b'"' | b'\''))?;
    let joint = rest[1..]
        .iter()
        .take(MAX_STRING_JOINT_BYTES)
        .take_while(|byte| b" \t\r\n+.&\\".contains(byte))
        .count();
    let begins = joint > 0 && rest.get(1 + joint) == Some(&mark);
    let length = classes::class_run_length(rest.get(joint + 2..)?, class, 255);
    let ends = rest.get(joint + 2 + length) == Some(&mark);
    (begins && ends && length >= min && length >= 6).then_some(joint + 2 + length)
}

/// Returns the start of the URL that contains the byte at `at`. The URL starts with its scheme or, if it has none, with
/// its host.
fn start_of_address(text: &[u8], at: usize, edge: usize) -> usize {
    const MAX_HOST_BYTES: usize = 120;
    let before = &text[edge.min(at).max(at.saturating_sub(MAX_HOST_BYTES))..at];
    let length = classes::class_run_length_at_end(before, BASE64_URL | DOT | SLASH, MAX_HOST_BYTES);
    let host = &before[before.len() - length..];
    match before[..before.len() - length].strip_suffix(b":") {
        Some(scheme) if host.starts_with(b"//") => {
            at - length - 1 - classes::class_run_length_at_end(scheme, classes::LETTER, 8)
        }
        _ => at - classes::class_run_length_at_end(host, BASE64_URL | DOT, MAX_HOST_BYTES),
    }
}

/// Returns whether the byte before `at` cannot belong to the same word, path or base64 text.
pub fn is_word_start(text: &[u8], at: usize, edge: usize) -> bool {
    at == edge || !is_byte_in_class(text[at - 1], BASE64_URL | DOT | PLUS | SLASH)
}

const NO_RULE: u16 = u16::MAX;
/// Used as the second byte of a prefix if the prefix consists of a single byte. Any byte may follow such a prefix.
const ANY_BYTE: u8 = 0;
static PREFIX_BITS: [u64; 1024] = build_prefix_bits();
static FIRST_RULE_BY_BYTE: [u16; 256] = build_rule_chains().0;
static NEXT_RULE_WITH_SAME_BYTE: [u16; TOKEN_RULES.len()] = build_rule_chains().1;
static SECOND_PREFIX_BYTES: [u8; TOKEN_RULES.len()] = build_second_bytes();

/// Returns the slot of three bytes. The slot consists of six bits of the first byte and five bits of each of the other
/// two. Letters have distinct slots, and only the first byte keeps its case.
const fn prefix_slot(first: u8, second: u8, third: u8) -> usize {
    (first as usize & 63) << 10 | (second as usize & 31) << 5 | third as usize & 31
}

/// Returns a bitmap with a bit for each slot (see [`prefix_slot`]). A bit is set if the prefix of a rule falls into the
/// slot. A prefix shorter than three bytes sets the bits of all its continuations.
const fn build_prefix_bits() -> [u64; 1024] {
    let mut gate = [0; 1024];
    let mut index = 0;
    while index < TOKEN_RULES.len() {
        let prefix = TOKEN_RULES[index].prefix.as_bytes();
        let mut rest = 0;
        while rest < 1024 {
            let (second, third) = ((rest >> 5) as u8, (rest & 31) as u8);
            if (prefix.len() < 2 || prefix[1] & 31 == second) && (prefix.len() < 3 || prefix[2] & 31 == third)
            {
                let slot = prefix_slot(prefix[0], second, third);
                gate[slot >> 6] |= 1 << (slot & 63);
            }
            rest += 1;
        }
        index += 1;
    }
    gate
}

const fn build_second_bytes() -> [u8; TOKEN_RULES.len()] {
    let mut seconds = [ANY_BYTE; TOKEN_RULES.len()];
    let mut index = 0;
    while index < TOKEN_RULES.len() {
        if TOKEN_RULES[index].prefix.len() > 1 {
            seconds[index] = TOKEN_RULES[index].prefix.as_bytes()[1];
        }
        index += 1;
    }
    seconds
}

/// Returns two tables. The first maps each byte to the first rule whose prefix starts with that byte. The second maps
/// each rule to the next rule whose prefix starts with the same byte.
const fn build_rule_chains() -> ([u16; 256], [u16; TOKEN_RULES.len()]) {
    let mut first = [NO_RULE; 256];
    let mut next = [NO_RULE; TOKEN_RULES.len()];
    let mut index = TOKEN_RULES.len();
    while index > 0 {
        index -= 1;
        let byte = TOKEN_RULES[index].prefix.as_bytes()[0] as usize;
        next[index] = first[byte];
        first[byte] = index as u16;
    }
    (first, next)
}
