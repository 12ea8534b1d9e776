//! Finds the lines that show what an edit changed: a line before the edit and the line that took its place.

use serde::{Deserialize, Serialize};

use crate::redact::Redacted;
use crate::text::cut_to_bytes;

/// How many bytes of each side of an edit are examined.
pub const MAX_EDIT_TEXT_BYTES: usize = 4 * 1024;

const MAX_LINE_BYTES: usize = 240;

/// A line with an unbroken word longer than this contains data, and not code that a reader would recognise.
const MAX_WORD_BYTES: usize = 60;

/// A line with fewer words than this says too little by itself. It could also be a value that is secret only because of
/// the name before it, and that name may be outside the edit.
const MIN_WORDS: usize = 2;

/// How many changed lines of each side are examined.
const MAX_LINES_COMPARED: usize = 60;

/// Two lines are versions of the same line if they share at least this percentage of the shorter line's bytes.
const MIN_SHARED_PERCENT: usize = 40;

/// One changed line of an edit. `old` is empty if lines were only added, and `new` is empty if lines were only removed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChangedLine {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub old: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub new: String,
    /// How many more lines the edit changed.
    #[serde(skip_serializing_if = "is_zero")]
    pub more: usize,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl ChangedLine {
    pub fn is_empty(&self) -> bool {
        self.old.is_empty() && self.new.is_empty()
    }
}

/// Returns whether a file's name suggests that it holds secrets. None of the file's text is kept.
pub fn may_hold_secrets(path: &str) -> bool {
    const ENDINGS: [&str; 6] = ["pem", "key", "p12", "pfx", "keystore", "tfvars"];
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path).to_lowercase();
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let begins = [".env", ".netrc", ".npmrc", ".pypirc", ".pgpass", "id_rsa", "id_ed25519"];
    begins.iter().any(|start| name.starts_with(start))
        || ENDINGS.contains(&ending)
        || ["secret", "credential", "password"].iter().any(|word| name.contains(word))
}

/// Compares both sides of an edit line by line. Lines that are on both sides were not changed. Comments are left out if
/// code was changed. Returns `None` if no changed line is worth showing.
pub fn first_changed_line(old: &Redacted, new: &Redacted) -> Option<ChangedLine> {
    let (gone, added) = (lines_only_in(old, new), lines_only_in(new, old));
    let more = gone.len().max(added.len()).saturating_sub(1);
    let (told_gone, told_added) = (informative_lines(&gone), informative_lines(&added));
    let keep = |line: &str| cut_to_bytes(line, MAX_LINE_BYTES).to_owned();
    let line = |old: &str, new: &str| Some(ChangedLine { old: keep(old), new: keep(new), more });
    // If an old line has a new version, both are shown, because together they say the most. If no old line has a new
    // version, the new text is shown, because it says more than the text that it replaced.
    let versions =
        told_gone.iter().find_map(|old| Some((*old, *told_added.iter().find(|new| are_versions(old, new))?)));
    match (versions, told_gone.first(), told_added.first()) {
        (Some((old, new)), ..) => line(old, new),
        (None, _, Some(new)) => line("", new),
        // If lines were also added, it would be wrong to say that these lines were only removed.
        (None, Some(old), None) if added.is_empty() => line(old, ""),
        _ => None,
    }
}

/// Returns the lines of `text` that `other` does not contain, without indentation and without blank lines.
fn lines_only_in<'t>(text: &'t str, other: &str) -> Vec<&'t str> {
    let others: Vec<&str> = other.lines().collect();
    // A line in which only the white space changed, for example because columns were aligned, counts as unchanged.
    let is_same = |one: &str, other: &str| one.split_whitespace().eq(other.split_whitespace());
    let is_new = |line: &&str| !line.is_empty() && !others.iter().any(|other| is_same(line, other));
    text.lines().map(str::trim).filter(is_new).take(MAX_LINES_COMPARED).collect()
}

/// Returns the lines that say something by themselves. Comments are returned only if there is nothing else.
fn informative_lines<'t>(lines: &[&'t str]) -> Vec<&'t str> {
    let told: Vec<&str> = lines.iter().copied().filter(|line| is_informative(line)).collect();
    let code: Vec<&str> = told.iter().copied().filter(|line| !is_comment(line)).collect();
    if code.is_empty() { told } else { code }
}

fn is_informative(line: &str) -> bool {
    let words = line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| word.len() > 1);
    words.count() >= MIN_WORDS
        && !line.contains("REDACTED")
        && line.split_whitespace().all(|word| word.len() <= MAX_WORD_BYTES || word.contains(['(', '/', '.']))
        && !["import ", "use ", "from ", "#include"].iter().any(|start| line.starts_with(start))
}

fn is_comment(line: &str) -> bool {
    ["//", "/*", "* ", "# ", "--", "<!--", "\"\"\""].iter().any(|start| line.starts_with(start))
}

/// Returns whether two lines are so similar that one is probably the new version of the other.
fn are_versions(old: &str, new: &str) -> bool {
    let shorter = old.len().min(new.len());
    let start = old.bytes().zip(new.bytes()).take_while(|(one, other)| one == other).count();
    let end = old.bytes().rev().zip(new.bytes().rev()).take_while(|(one, other)| one == other).count();
    (start + end.min(shorter - start)) * 100 >= shorter * MIN_SHARED_PERCENT
}

#[cfg(test)]
#[path = "edit_text_tests.rs"]
mod tests;
