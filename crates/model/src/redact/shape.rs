//! Matching one rule of the provider table, and finding the rules worth trying at a place in the text.
//!
//! Two bytes decide whether a word can start a token at all: a bitmap of 8 KB, computed by the compiler, so that
//! nothing is built when the process starts. The few words that pass walk the chain of rules with their first byte.

use super::Hit;
use super::chance::profile;
use super::classes::{self, ALNUM, BASE64_URL, DOT, PLUS, SLASH, byte, is};
use super::rules::{Part, RULES, Rule, Trait};

/// The token that starts at `at`, if a rule matches there. `at` must be the start of a word; `floor` is where
/// looking back ends.
pub fn find(text: &[u8], at: usize, floor: usize) -> Option<Hit> {
    let (first, second) = (text[at], byte(text, at + 1));
    let pair = usize::from(first) << 8 | usize::from(second);
    if GATE[pair >> 6] & (1 << (pair & 63)) == 0 {
        return None;
    }
    let mut index = FIRST[usize::from(first)];
    while index != END {
        if let Some(hit) = match_rule(&RULES[usize::from(index)], text, at, floor) {
            return Some(hit);
        }
        index = NEXT[usize::from(index)];
    }
    None
}

fn match_rule(rule: &'static Rule, text: &[u8], at: usize, floor: usize) -> Option<Hit> {
    let rest = &text[at..];
    if !rest.starts_with(rule.prefix.as_bytes()) {
        return None;
    }
    let body = rule.prefix.len();
    let mut end = body;
    for part in rule.body {
        end += match *part {
            Part::Literal(literal) => {
                if !rest[end..].starts_with(literal.as_bytes()) {
                    return None;
                }
                literal.len()
            }
            Part::Run(class, min, max) => {
                let length = classes::run(&rest[end..], class, usize::from(max));
                if length < usize::from(min) {
                    return None;
                }
                length
            }
        };
    }
    if is(byte(rest, end), ALNUM) {
        return None;
    }
    // A class with a dot swallows the full stop of the sentence.
    while end > body && rest[end - 1] == b'.' {
        end -= 1;
    }
    let looks = profile(&rest[body..end]);
    let plausible = match rule.trait_ {
        Trait::Sure | Trait::After => !looks.is_filler(),
        Trait::Random => looks.is_random(),
        Trait::Alone => looks.is_random() && stands_alone(text, at, floor),
    };
    let start = if rule.trait_ == Trait::After { at + body } else { at };
    plausible.then_some(Hit { start, end: at + end, kind: rule.kind })
}

/// Nothing before `at` that could belong to the same word, path or base64 text.
pub fn stands_alone(text: &[u8], at: usize, floor: usize) -> bool {
    at == floor || !is(text[at - 1], BASE64_URL | DOT | PLUS | SLASH)
}

const END: u16 = u16::MAX;
const GATE: [u64; 1024] = gate();
const FIRST: [u16; 256] = chain().0;
const NEXT: [u16; RULES.len()] = chain().1;

/// One bit for each pair of bytes that begins a rule; a prefix of one byte sets all pairs it begins.
const fn gate() -> [u64; 1024] {
    let mut gate = [0; 1024];
    let mut index = 0;
    while index < RULES.len() {
        let prefix = RULES[index].prefix.as_bytes();
        let mut second = 0;
        while second < 256 {
            if prefix.len() == 1 || prefix[1] as usize == second {
                let pair = (prefix[0] as usize) << 8 | second;
                gate[pair >> 6] |= 1 << (pair & 63);
            }
            second += 1;
        }
        index += 1;
    }
    gate
}

/// For each byte the first rule that begins with it, and for each rule the next one with the same first byte.
const fn chain() -> ([u16; 256], [u16; RULES.len()]) {
    let mut first = [END; 256];
    let mut next = [END; RULES.len()];
    let mut index = RULES.len();
    while index > 0 {
        index -= 1;
        let byte = RULES[index].prefix.as_bytes()[0] as usize;
        next[index] = first[byte];
        first[byte] = index as u16;
    }
    (first, next)
}
