//! The fields besides the verdict in the answer of a reviewer, critic or test engineer: RISK, ISSUES, SUMMARY, TESTS
//! and FAILURES.

use super::ruling::split_words;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerFields {
    pub risk: Option<String>,
    pub confidence: Option<String>,
    pub summary: Option<String>,
    pub issues: Vec<String>,
    pub failures: Vec<String>,
    pub tests_passed: Option<u64>,
    pub tests_failed: Option<u64>,
}

const FIELD_NAMES: &[&str] = &[
    "VERDICT",
    "RISK",
    "CONFIDENCE",
    "ISSUES",
    "SUMMARY",
    "TESTS",
    "FAILURES",
    "ROOT CAUSE",
    "FILES",
    "COVERAGE",
];

const MAX_ANSWER_LIST_ENTRIES: usize = 20;

/// Reads the fields of a whole answer. `text` must already be redacted.
pub fn read_answer_fields(text: &str) -> AnswerFields {
    let mut all = AnswerFields::default();
    let mut open: Option<&str> = None;
    for line in text.lines() {
        let plain = without_line_marks(line);
        if let Some((name, value)) = field_label(plain) {
            open = Some(name);
            set_field(&mut all, name, value);
        } else if let Some(name) = open {
            if plain.is_empty() && !matches!(name, "ISSUES" | "FAILURES") {
                open = None;
            }
            set_field(&mut all, name, plain);
        }
    }
    all
}

fn set_field(all: &mut AnswerFields, name: &str, value: &str) {
    if value.is_empty() {
        return;
    }
    let keep = |slot: &mut Option<String>| {
        slot.get_or_insert_with(|| value.to_owned());
    };
    let push = |list: &mut Vec<String>| {
        let is_none = ["none", "n/a", "no issues", "none."].contains(&value.to_ascii_lowercase().as_str());
        if list.len() < MAX_ANSWER_LIST_ENTRIES && !is_none {
            list.push(value.to_owned());
        }
    };
    match name {
        "RISK" => keep(&mut all.risk),
        "CONFIDENCE" => keep(&mut all.confidence),
        "SUMMARY" => keep(&mut all.summary),
        "ISSUES" => push(&mut all.issues),
        "FAILURES" => push(&mut all.failures),
        "TESTS" => set_test_counts(all, value),
        _ => {}
    }
}

/// Reads `12 passed, 1 failed` or `passed: 12`.
fn set_test_counts(all: &mut AnswerFields, value: &str) {
    let words = split_words(value);
    for (i, word) in words.iter().enumerate() {
        let near = [i.checked_sub(1), Some(i + 1)].into_iter().flatten();
        let number = near.filter_map(|i| words.get(i)?.parse::<u64>().ok()).next();
        match word.to_ascii_lowercase().as_str() {
            "passed" | "pass" | "passing" => all.tests_passed = all.tests_passed.or(number),
            "failed" | "fail" | "failing" => all.tests_failed = all.tests_failed.or(number),
            _ => {}
        }
    }
}

/// Returns a line without list marks, heading marks and emphasis.
fn without_line_marks(line: &str) -> &str {
    let is_mark =
        |c: char| c.is_whitespace() || matches!(c, '*' | '_' | '#' | '`' | '-' | '+' | '•' | '|' | '>');
    line.trim_start_matches(is_mark)
        .trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '`' | '|'))
}

fn field_label(line: &str) -> Option<(&'static str, &str)> {
    FIELD_NAMES.iter().find_map(|name| {
        let start = line.get(..name.len()).filter(|start| start.eq_ignore_ascii_case(name))?;
        let rest = line[start.len()..].trim_start_matches(['*', '_', ' ']);
        let value = rest.strip_prefix([':', '|', '='])?;
        Some((*name, value.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`'))))
    })
}
