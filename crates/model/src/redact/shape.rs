//! Matches one rule of the provider table, and finds the rules worth trying at a position.
//!
//! Three bytes decide whether a word can start a token at all: a bitmap of 8 KB, computed by the compiler, so that
//! nothing is built when the process starts. For the few words that pass, the rules with their first byte are tried.

use super::Hit;
use super::chance::profile;
use super::classes::{self, ALNUM, BASE64_URL, DOT, PLUS, SLASH, WORD, byte, is};
use super::rules::{Demand, Part, RULES, Rule};

/// How many bytes of a body are enough to see whether it consists of words. A long body is not read completely.
const ENOUGH: usize = 96;

/// Returns the token that starts at `at`, if a rule matches there. `at` must be the start of a word; nothing before
/// `edge` is examined.
#[inline]
pub fn find(text: &[u8], at: usize, edge: usize) -> Option<Hit> {
    let [first, second, third] = [text[at], byte(text, at + 1), byte(text, at + 2)];
    let slot = slot(first, second, third);
    if GATE[slot >> 6] & (1 << (slot & 63)) == 0 {
        return None;
    }
    walk(text, at, edge)
}

/// Tries the rules that begin with the byte at `at`.
#[cold]
fn walk(text: &[u8], at: usize, edge: usize) -> Option<Hit> {
    let (first, second) = (text[at], byte(text, at + 1));
    let mut index = FIRST[usize::from(first)];
    while index != END {
        let rule = usize::from(index);
        if (SECOND[rule] == second || SECOND[rule] == ANY)
            && let Some(hit) = match_rule(&RULES[rule], text, at, edge)
        {
            return Some(hit);
        }
        index = NEXT[rule];
    }
    None
}

fn match_rule(rule: &'static Rule, text: &[u8], at: usize, edge: usize) -> Option<Hit> {
    let rest = &text[at..];
    let misplaced = rule.demand == Demand::Alone && !stands_alone(text, at, edge);
    if misplaced || !rest.starts_with(rule.prefix.as_bytes()) {
        return None;
    }
    let body = rule.prefix.len();
    let mut end = body;
    let mut joined = false;
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
                joined = class & !WORD != 0;
                length
            }
        };
    }
    // The match is inside a longer word, or is the name of a function. This is tested only for words. If separators
    // belong to the class, a run longer than any token contains many starts, and refusing each of them would take one
    // pass per start.
    if (is(byte(rest, end), ALNUM) && !joined) || byte(rest, end) == b'(' {
        return None;
    }
    // If a dot belongs to the class, the full stop of the sentence is part of the run.
    while end > body && rest[end - 1] == b'.' {
        end -= 1;
    }
    let looks = profile(&rest[body..end.min(body + ENOUGH)]);
    let plausible = match rule.demand {
        Demand::Sure => !looks.is_filler(),
        Demand::Random | Demand::After => !looks.is_wordy(),
        Demand::Alone => looks.digits > 0 && !looks.is_wordy(),
    };
    let start = if rule.demand == Demand::After { at + body } else { at };
    plausible.then_some(Hit { start, end: at + end, kind: rule.kind })
}

/// Returns whether the byte before `at` cannot belong to the same word, path or base64 text.
pub fn stands_alone(text: &[u8], at: usize, edge: usize) -> bool {
    at == edge || !is(text[at - 1], BASE64_URL | DOT | PLUS | SLASH)
}

const END: u16 = u16::MAX;
/// The second byte of a prefix that has only one byte.
const ANY: u8 = 0;
static GATE: [u64; 1024] = gate();
static FIRST: [u16; 256] = chain().0;
static NEXT: [u16; RULES.len()] = chain().1;
static SECOND: [u8; RULES.len()] = seconds();

/// Returns the slot of three bytes: six bits of the first byte and five of each other, so that letters stay distinct
/// and the first keeps its case.
const fn slot(first: u8, second: u8, third: u8) -> usize {
    (first as usize & 63) << 10 | (second as usize & 31) << 5 | third as usize & 31
}

/// Returns one bit for each beginning of a rule. A prefix shorter than three bytes sets the bits of all its
/// continuations.
const fn gate() -> [u64; 1024] {
    let mut gate = [0; 1024];
    let mut index = 0;
    while index < RULES.len() {
        let prefix = RULES[index].prefix.as_bytes();
        let mut rest = 0;
        while rest < 1024 {
            let (second, third) = ((rest >> 5) as u8, (rest & 31) as u8);
            if (prefix.len() < 2 || prefix[1] & 31 == second) && (prefix.len() < 3 || prefix[2] & 31 == third)
            {
                let slot = slot(prefix[0], second, third);
                gate[slot >> 6] |= 1 << (slot & 63);
            }
            rest += 1;
        }
        index += 1;
    }
    gate
}

const fn seconds() -> [u8; RULES.len()] {
    let mut seconds = [ANY; RULES.len()];
    let mut index = 0;
    while index < RULES.len() {
        if RULES[index].prefix.len() > 1 {
            seconds[index] = RULES[index].prefix.as_bytes()[1];
        }
        index += 1;
    }
    seconds
}

/// Returns for each byte the first rule that begins with it, and for each rule the next one with the same first byte.
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
