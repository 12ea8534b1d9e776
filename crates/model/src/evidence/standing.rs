//! The result of a task's evidence: the only judgement, which all code that shows evidence uses.

use serde::Serialize;

use super::{Entry, EntryType, Verdict};
use crate::render::{inline, one_line};
use crate::run::{self, Check};

/// Whether the files that an entry is about are unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Freshness {
    Fresh,
    /// What changed, in a few words: `src/a.rs changed`.
    Stale(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// Fresh, and passed.
    Passed,
    /// It passed, but the files have changed since.
    Stale,
    Failed,
    /// Nothing that thru saw itself.
    None,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Standing<'e> {
    pub proof: Proof,
    /// The entry that decides.
    pub entry: Option<&'e Entry>,
    /// What changed since; empty if nothing has.
    pub changed: String,
}

/// Judges `entries`, oldest first. `fresh` says whether an entry's files are unchanged.
///
/// A failed run stays failed until the same command passes, or one that covers it, or the files change. A rejection
/// by a person or an agent stays until a later review or approval is good, and a claim that tests fail until a later
/// claim or a run says that they pass. A mere claim that something passed proves nothing.
pub fn standing<'e>(entries: &'e [Entry], mut fresh: impl FnMut(&Entry) -> Freshness) -> Standing<'e> {
    let mut later: Vec<Seen> = Vec::new();
    let (mut passed, mut out_of_date): (Option<Standing>, Option<Standing>) = (None, None);
    let mut settled: Vec<&str> = Vec::new();
    for entry in entries.iter().rev() {
        if !entry.is_seen() {
            // The newest verdict of each kind of judge counts.
            let is_judgement = matches!(
                EntryType::parse(&entry.entry_type),
                Some(EntryType::Review | EntryType::Approval | EntryType::Test)
            ) && (entry.verdict().is_good() || entry.verdict().is_bad());
            if is_judgement && !settled.contains(&entry.entry_type.as_str()) {
                settled.push(&entry.entry_type);
                let is_outrun = EntryType::parse(&entry.entry_type) == Some(EntryType::Test)
                    && later.iter().any(|run| run.passed);
                if entry.verdict().is_bad() && !is_outrun {
                    return Standing { proof: Proof::Failed, entry: Some(entry), changed: String::new() };
                }
            }
            continue;
        }
        let seen = Seen::of(entry);
        let verdict = entry.verdict();
        if !matches!(verdict, Verdict::Pass | Verdict::Fail) || later.iter().any(|later| later.is_same(&seen))
        {
            continue;
        }
        let is_covered = verdict == Verdict::Fail && later.iter().any(|later| later.shows_passed(&seen));
        later.push(seen);
        if is_covered {
            continue;
        }
        let proof = if verdict == Verdict::Fail { Proof::Failed } else { Proof::Passed };
        match fresh(entry) {
            Freshness::Fresh if proof == Proof::Failed => {
                return Standing { proof, entry: Some(entry), changed: String::new() };
            }
            Freshness::Fresh => {
                passed.get_or_insert(Standing { proof, entry: Some(entry), changed: String::new() });
            }
            Freshness::Stale(changed) => {
                let proof = if proof == Proof::Passed { Proof::Stale } else { proof };
                out_of_date.get_or_insert(Standing { proof, entry: Some(entry), changed });
            }
        }
    }
    passed.or(out_of_date).unwrap_or(Standing { proof: Proof::None, entry: None, changed: String::new() })
}

/// A run that thru saw.
struct Seen<'e> {
    command: &'e str,
    checks: Vec<Check>,
    passed: bool,
}

impl<'e> Seen<'e> {
    fn of(entry: &'e Entry) -> Seen<'e> {
        let command = entry.command.as_deref().unwrap_or_default();
        let checks = run::checks(command, &entry.folder);
        Seen { command, checks, passed: entry.verdict() == Verdict::Pass }
    }

    fn is_same(&self, other: &Seen) -> bool {
        let keys = |seen: &Seen| seen.checks.iter().map(Check::key).collect::<Vec<_>>();
        match self.checks.is_empty() {
            true => self.command == other.command,
            false => keys(self) == keys(other),
        }
    }

    fn shows_passed(&self, failed: &Seen) -> bool {
        let shown = |check: &Check| self.checks.iter().any(|passed| run::shows_passed(passed, check));
        self.passed && !failed.checks.is_empty() && failed.checks.iter().all(shown)
    }
}

impl Standing<'_> {
    /// For a list: `passed`, `stale`, `failed`, `none`.
    pub fn word(&self) -> &'static str {
        match (self.proof, self.changed.is_empty()) {
            (Proof::Passed, _) => "passed",
            (Proof::Stale, _) => "stale",
            (Proof::Failed, true) => "failed",
            (Proof::Failed, false) => "failed, and stale",
            (Proof::None, _) => "none",
        }
    }

    /// For a person, in one line: what ran, how it ended, and whether that is still valid.
    pub fn words(&self) -> String {
        let Some(entry) = self.entry else { return "no evidence".to_owned() };
        let what = what_words(entry, one_line);
        match (self.proof, self.changed.is_empty()) {
            (Proof::Stale, _) => format!("stale ({}): {what}", one_line(&self.changed, 160)),
            (Proof::Failed, false) => format!("failed, and stale ({}): {what}", one_line(&self.changed, 160)),
            (Proof::Failed, true) => format!("failed: {what}"),
            (Proof::Passed, _) => format!("passed: {what}"),
            (Proof::None, _) => "no evidence".to_owned(),
        }
    }

    /// The same for a model.
    pub fn told(&self) -> Option<String> {
        let entry = self.entry?;
        let what = what_words(entry, inline);
        let changed = inline(&self.changed, 160);
        Some(match (self.proof, self.changed.is_empty()) {
            (Proof::None, _) => return None,
            (Proof::Passed, _) => format!("passed, and no file has changed since: {what}"),
            (Proof::Stale, _) => format!("stale, {changed} since it passed: {what}"),
            (Proof::Failed, true) => format!("failed: {what}"),
            (Proof::Failed, false) => format!("failed, and {changed} since: {what}"),
        })
    }
}

/// `cargo test (12 passed, 1 failed), 2026-11-15T19:22:00Z`.
pub(super) fn what_words(entry: &Entry, cut: fn(&str, usize) -> String) -> String {
    let what = match entry.command.as_deref() {
        Some(command) if !command.trim().is_empty() => cut(command, 160),
        _ => {
            let by =
                if entry.agent.is_empty() { String::new() } else { format!(" by {}", cut(&entry.agent, 40)) };
            format!("{}{by}: {}", cut(&entry.entry_type, 40), cut(&entry.summary, 200))
        }
    };
    let folder =
        if entry.folder.is_empty() { String::new() } else { format!(" in {}", cut(&entry.folder, 80)) };
    let counts = match (entry.counts(), entry.exit_code.filter(|code| *code != 0)) {
        (Some(counts), _) => format!(" ({counts})"),
        (None, Some(code)) => format!(" (exit {code})"),
        (None, None) => String::new(),
    };
    format!("{what}{folder}{counts}, {}", cut(&entry.timestamp, 40))
}
