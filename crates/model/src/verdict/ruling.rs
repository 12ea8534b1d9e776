//! The words for a ruling, and the parser that decides whether text contains a ruling.

use super::VerdictProblem;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    Approved,
    Rejected,
    NeedsRevision,
    Pass,
    Fail,
}

impl Ruling {
    pub fn name(self) -> &'static str {
        match self {
            Ruling::Approved => "APPROVED",
            Ruling::Rejected => "REJECTED",
            Ruling::NeedsRevision => "NEEDS_REVISION",
            Ruling::Pass => "PASS",
            Ruling::Fail => "FAIL",
        }
    }

    pub fn is_good(self) -> bool {
        matches!(self, Ruling::Approved | Ruling::Pass)
    }

    /// Parses one or two words into a ruling. Also returns the number of words used.
    fn from_words(words: &[String]) -> Option<(Ruling, usize)> {
        let first = words.first()?.as_str();
        let two = |next: &[&str]| words.get(1).is_some_and(|word| next.contains(&word.as_str()));
        Some(match first {
            "APPROVED" | "APPROVE" | "APPROVES" => (Ruling::Approved, 1),
            "REJECTED" | "REJECT" | "REJECTS" | "REJECTION" => (Ruling::Rejected, 1),
            "NEEDS_REVISION" | "NEEDS_REVISIONS" | "NEEDS_WORK" | "NEEDS_CHANGES" | "REQUEST_CHANGES" => {
                (Ruling::NeedsRevision, 1)
            }
            "NEEDS" if two(&["REVISION", "REVISIONS", "WORK", "CHANGES"]) => (Ruling::NeedsRevision, 2),
            "REVISION" | "CHANGES" if two(&["NEEDED", "REQUIRED", "REQUESTED"]) => (Ruling::NeedsRevision, 2),
            "REQUEST" | "REQUESTS" if two(&["CHANGES", "REVISION"]) => (Ruling::NeedsRevision, 2),
            "PASS" | "PASSED" | "PASSES" => (Ruling::Pass, 1),
            "FAIL" | "FAILED" | "FAILS" | "FAILURE" => (Ruling::Fail, 1),
            _ => return None,
        })
    }
}

/// Fields that may follow a verdict on its line.
const FIELD_NAMES: &[&str] = &[
    "RISK",
    "CONFIDENCE",
    "ISSUE",
    "ISSUES",
    "SUMMARY",
    "TESTS",
    "FAILURES",
    "REASON",
    "RATIONALE",
    "COVERAGE",
];

/// Words that cast doubt on an approval or a pass.
const DOUBT_WORDS: &[&str] = &[
    "AFTER",
    "ALMOST",
    "ALTHOUGH",
    "ASSUMING",
    "BLOCKED",
    "BUT",
    "CAN",
    "CANNOT",
    "CAVEAT",
    "CAVEATS",
    "CONDITION",
    "CONDITIONAL",
    "CONDITIONALLY",
    "CONDITIONS",
    "CONTINGENT",
    "COULD",
    "EARLIER",
    "EXCEPT",
    "EXPECTED",
    "FIRST",
    "FIX",
    "FIXES",
    "FIXING",
    "FOLLOWING",
    "HALF",
    "HARDLY",
    "HOWEVER",
    "IF",
    "INSTEAD",
    "LACKS",
    "LATER",
    "LIKELY",
    "LONG",
    "MAYBE",
    "MIGHT",
    "MISSING",
    "MOSTLY",
    "MUST",
    "NEARLY",
    "NEEDED",
    "NOBODY",
    "ONCE",
    "ONLY",
    "PARTIAL",
    "PARTIALLY",
    "PENDING",
    "PERHAPS",
    "PREVIOUSLY",
    "PRINCIPLE",
    "PROBABLY",
    "PROVIDED",
    "PROVIDING",
    "PROVISIONAL",
    "PROVISIONALLY",
    "RATE",
    "REQUIRED",
    "RESERVATIONS",
    "SHOULD",
    "SOME",
    "SOON",
    "SUBJECT",
    "TBD",
    "TENTATIVE",
    "TENTATIVELY",
    "THOUGH",
    "TODO",
    "UNABLE",
    "UNCLEAR",
    "UNLESS",
    "UNSURE",
    "UNTIL",
    "UPON",
    "WAS",
    "WHEN",
    "WITHHELD",
    "WOULD",
    "YET",
];

const NEGATION_WORDS: &[&str] = &["NOT", "NEVER", "NON", "UN", "DIS", "NEITHER", "NOR", "WITHOUT", "CANNOT"];

/// Words after `no` that do not contradict a ruling, as in `no issues`.
const HARMLESS_WORDS_AFTER_NO: &[&str] = &[
    "BLOCKERS",
    "BLOCKING",
    "CHANGES",
    "COMMENTS",
    "CONCERNS",
    "CRITICAL",
    "ERRORS",
    "FINDINGS",
    "FURTHER",
    "ISSUE",
    "ISSUES",
    "NEW",
    "OBJECTIONS",
    "PROBLEMS",
    "REGRESSIONS",
    "REMARKS",
    "SECURITY",
    "VULNERABILITIES",
    "WARNINGS",
];

/// Words that may come before a ruling in capitals at the end of a line, as in `all 12 tests PASS`.
const LEADING_WORDS: &[&str] = &[
    "A",
    "ALL",
    "ARE",
    "CHANGE",
    "CHANGES",
    "CODE",
    "EVERYTHING",
    "I",
    "IS",
    "IT",
    "PLAN",
    "SUITE",
    "TEST",
    "TESTS",
    "THE",
    "THIS",
    "WE",
    "WORK",
];

/// Reads the text after `VERDICT:`.
pub(super) fn read_ruling(value: &str) -> Result<Ruling, VerdictProblem> {
    let value = without_numbering(value);
    if ["[ ]", "[]", "☐", "⬜"].iter().any(|open| value.contains(open)) {
        return Err(VerdictProblem::Template);
    }
    if value.contains("~~") {
        return Err(VerdictProblem::Quoted);
    }
    let value = before_next_field(value);
    let words = split_words(value);
    let upper: Vec<String> = words.iter().map(|word| word.to_ascii_uppercase()).collect();
    let mut found: Vec<(usize, Ruling)> = Vec::new();
    for i in 0..upper.len() {
        // In `12 passed, 0 failed` the words after the numbers are counts and not rulings.
        let is_count = i > 0 && upper[i - 1].bytes().all(|b| b.is_ascii_digit());
        let is_tail = i > 0 && Ruling::from_words(&upper[i - 1..]).is_some_and(|(_, took)| took == 2);
        if let Some((ruling, _)) = Ruling::from_words(&upper[i..]).filter(|_| !is_count && !is_tail) {
            found.push((i, ruling));
        }
    }
    let Some(&(at, ruling)) = found.first() else { return Err(VerdictProblem::UnknownWord) };
    if found.iter().any(|(_, other)| *other != ruling) {
        let is_choice =
            value.contains(['|', '/']) || upper.iter().any(|word| word == "OR" || word == "EITHER");
        return Err(if is_choice { VerdictProblem::Template } else { VerdictProblem::SeveralVerdicts });
    }
    if let Some(problem) = why_ruling_is_doubtful(value, &upper).filter(|_| ruling.is_good()) {
        return Err(problem);
    }
    let before = &upper[at.saturating_sub(2)..at];
    if before.iter().any(|word| is_negation(word) || word == "NO") {
        return Err(VerdictProblem::Negated);
    }
    let is_capital = words[at].chars().all(|c| !c.is_ascii_lowercase());
    let is_leading =
        |word: &String| LEADING_WORDS.contains(&word.as_str()) || word.bytes().all(|b| b.is_ascii_digit());
    if at > 0 && !(is_capital && at + 1 == words.len() && upper[..at].iter().all(is_leading)) {
        return Err(VerdictProblem::UnknownWord);
    }
    if ruling == Ruling::Pass && is_fraction(value) {
        return Err(VerdictProblem::Conditional);
    }
    Ok(ruling)
}

/// Returns the value up to the next field, as in `APPROVED RISK: LOW`.
fn before_next_field(value: &str) -> &str {
    let upper = value.to_ascii_uppercase();
    let is_label = |(at, name): (usize, &str)| {
        let is_word = at > 0 && !upper[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let rest = upper[at + name.len()..].trim_start_matches(['*', '_', ' ', '"']);
        (is_word && rest.starts_with([':', '='])).then_some(at)
    };
    let ends = FIELD_NAMES.iter().flat_map(|name| upper.match_indices(name)).filter_map(is_label);
    &value[..ends.min().unwrap_or(value.len())]
}

/// Returns the ruling at the start of a line.
pub(super) fn ruling_at_start(line: &str) -> Option<Ruling> {
    let upper: Vec<String> =
        split_words(without_numbering(line)).iter().take(2).map(|word| word.to_ascii_uppercase()).collect();
    Ruling::from_words(&upper).map(|(ruling, _)| ruling)
}

/// Returns the ruling of a line that contains nothing but a ruling in capitals.
pub(super) fn ruling_alone_on_line(line: &str) -> Option<Ruling> {
    let words = split_words(without_numbering(line));
    let is_capital = words.iter().all(|word| !word.bytes().any(|b| b.is_ascii_lowercase()));
    let (ruling, took) = Ruling::from_words(&words)?;
    (is_capital && took == words.len() && read_ruling(line).is_ok()).then_some(ruling)
}

/// Returns whether a line contains a ruling in capitals.
pub(super) fn mentions_ruling(line: &str) -> bool {
    let words = split_words(line);
    (0..words.len()).any(|i| Ruling::from_words(&words[i..]).is_some())
}

fn why_ruling_is_doubtful(value: &str, upper: &[String]) -> Option<VerdictProblem> {
    let has_no = upper.iter().enumerate().any(|(i, word)| {
        let next = upper.get(i + 1).map_or("", String::as_str);
        word == "NO" && !HARMLESS_WORDS_AFTER_NO.contains(&next)
    });
    let lower = value.to_ascii_lowercase();
    if has_no || upper.iter().any(|word| is_negation(word)) || lower.contains("n't") || lower.contains("n’t")
    {
        return Some(VerdictProblem::Negated);
    }
    let with_changes = upper.iter().skip_while(|word| *word != "WITH").any(|word| word.starts_with("CHANGE"));
    let is_open = value.contains('?') || upper.iter().any(|word| DOUBT_WORDS.contains(&word.as_str()));
    (is_open || with_changes).then_some(VerdictProblem::Conditional)
}

pub(super) fn is_negation(upper: &str) -> bool {
    NEGATION_WORDS.contains(&upper)
}

/// Returns whether `value` contains a fraction such as `3/5`, `3 of 5` or `80%`, which means that not everything
/// passed.
fn is_fraction(value: &str) -> bool {
    if value.contains('%') && !value.contains("100%") {
        return true;
    }
    let words = split_words(value);
    let number = |i: usize| words.get(i).and_then(|word| word.parse::<u64>().ok());
    (0..words.len()).any(|i| match (number(i), number(i + 1), number(i + 2)) {
        (Some(part), Some(whole), _) if value.contains(&format!("{part}/{whole}")) => part != whole,
        (Some(part), Some(whole), _) if value.contains('/') => part != whole,
        (Some(part), None, Some(whole)) => words[i + 1].eq_ignore_ascii_case("of") && part != whole,
        (Some(part), None, None) if words.get(i + 1).is_some_and(|word| word.eq_ignore_ascii_case("out")) => {
            number(i + 3).is_some_and(|whole| part != whole)
        }
        _ => false,
    })
}

/// Splits `text` at all characters except letters, digits and `_`. Underscores used for emphasis are removed.
pub(super) fn split_words(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    parts.map(|word| word.trim_matches('_')).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Removes `- `, `2. ` and similar marks from the start of a line.
fn without_numbering(line: &str) -> &str {
    let line =
        line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '*' | '+' | '#' | '•'));
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let rest = &line[digits..];
    match digits > 0 && rest.starts_with(['.', ')']) {
        true => rest[1..].trim_start(),
        false => line,
    }
}
