//! Judges the evidence of a task. No other code judges it, and all code that shows evidence uses this module.

use serde::Serialize;

use super::{Entry, EntryType, Kind, Verdict};
use crate::render::{inline, one_line};
use crate::run::{self, Check};
use crate::swarm::Part;

/// Whether the files that an entry is about are unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Freshness {
    Fresh,
    /// What has changed, in a few words: `src/a.rs changed`.
    Stale(String),
    /// This is unknown, for the reason in the text. A failure still counts then, but a success proves nothing.
    Unknown(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// A run passed, and the files have not changed since.
    Passed,
    /// A run passed, but the files have changed since, or it is not known whether they have.
    Stale,
    Failed,
    /// `thru` itself saw no run.
    None,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Standing<'e> {
    pub proof: Proof,
    /// The entry that decided the result.
    pub entry: Option<&'e Entry>,
    pub freshness: Freshness,
}

/// Judges `entries`, oldest first. `fresh` says whether an entry's files are unchanged.
///
/// A failed run stays failed until the same command passes, or one that covers it, or the files change. A rejection by
/// a person or an agent stays until a later review or approval is good. A claim that tests fail stays until a later
/// claim or run says that they pass. A mere claim that something passed proves nothing.
pub fn standing<'e>(entries: &'e [Entry], mut fresh: impl FnMut(&Entry) -> Freshness) -> Standing<'e> {
    let (mut passed, mut out_of_date): (Option<Standing>, Option<Standing>) = (None, None);
    for entry in in_effect(entries).into_iter().map(|at| &entries[at]) {
        let of = |proof, freshness| Standing { proof, entry: Some(entry), freshness };
        if !entry.is_seen() {
            if entry.verdict().is_bad() {
                return of(Proof::Failed, Freshness::Fresh);
            }
            continue;
        }
        match (entry.verdict() == Verdict::Fail, fresh(entry)) {
            (true, freshness @ (Freshness::Fresh | Freshness::Unknown(_))) => {
                return of(Proof::Failed, freshness);
            }
            (false, Freshness::Fresh) => {
                passed.get_or_insert(of(Proof::Passed, Freshness::Fresh));
            }
            (is_failed, freshness) => {
                let proof = if is_failed { Proof::Failed } else { Proof::Stale };
                out_of_date.get_or_insert(of(proof, freshness));
            }
        }
    }
    let nothing = Standing { proof: Proof::None, entry: None, freshness: Freshness::Fresh };
    passed.or(out_of_date).unwrap_or(nothing)
}

/// Returns the rejection, or the claim that tests fail, that nothing later has settled. What `thru` saw itself is not
/// among these.
pub fn rejection(entries: &[Entry]) -> Option<&Entry> {
    let in_effect = in_effect(entries).into_iter().map(|at| &entries[at]);
    in_effect.into_iter().find(|entry| !entry.is_seen() && entry.verdict().is_bad())
}

/// Returns the positions of the entries that no later one has settled, newest first: the last run of each command, and
/// the last verdict of each kind of judge. Only these are judged.
pub(super) fn in_effect(entries: &[Entry]) -> Vec<usize> {
    let mut later: Vec<Seen> = Vec::new();
    let mut settled: Vec<(EntryType, bool, bool)> = Vec::new();
    let mut found = Vec::new();
    for (at, entry) in entries.iter().enumerate().rev() {
        let verdict = entry.verdict();
        if !entry.is_seen() {
            let judge = EntryType::parse(&entry.entry_type)
                .filter(|kind| matches!(kind, EntryType::Review | EntryType::Approval | EntryType::Test))
                .filter(|_| verdict.is_good() || verdict.is_bad());
            // An import cannot settle a rejection that was made here, and imported test runs say nothing about ours.
            let is_imported = entry.kind() == Kind::Imported;
            // A critic judges the plan, so its approval says nothing about work that a reviewer rejected.
            let is_critic = Part::of(&entry.agent) == Some(Part::Critic);
            let judge = judge.filter(|kind| !(is_imported && *kind == EntryType::Test));
            let judge = judge.filter(|_| !entry.is_imported_gate());
            if let Some(judge) = judge
                && !settled.iter().any(|(kind, by_import, by_critic)| {
                    *kind == judge && (is_imported || !by_import) && (is_critic || !by_critic)
                })
            {
                settled.push((judge, is_imported, is_critic));
                // A later run that passed outweighs a claim that tests fail.
                let is_outrun =
                    judge == EntryType::Test && verdict.is_bad() && later.iter().any(|run| run.passed);
                if !is_outrun {
                    found.push(at);
                }
            }
            continue;
        }
        let seen = Seen::of(entry);
        let is_settled = later.iter().any(|later| later.is_same(&seen))
            || verdict == Verdict::Fail && later.iter().any(|later| later.shows_passed(&seen));
        if matches!(verdict, Verdict::Pass | Verdict::Fail) {
            if !is_settled {
                found.push(at);
            }
            later.push(seen);
        }
    }
    found
}

/// Returns the trees of the entries that are judged, at most `most`, newest first. Their files must stay known:
/// otherwise a failure could not be settled by a change, and a success would prove nothing.
pub fn trees_in_effect(entries: &[Entry], most: usize) -> Vec<&str> {
    let mut trees: Vec<&str> = Vec::new();
    for entry in in_effect(entries).into_iter().map(|at| &entries[at]) {
        if !entry.tree.is_empty() && !trees.contains(&entry.tree.as_str()) && trees.len() < most {
            trees.push(&entry.tree);
        }
    }
    trees
}

/// A run that `thru` saw.
struct Seen<'e> {
    command: &'e str,
    folder: &'e str,
    checks: Vec<Check>,
    passed: bool,
}

impl<'e> Seen<'e> {
    fn of(entry: &'e Entry) -> Seen<'e> {
        let command = entry.command.as_deref().unwrap_or_default();
        let checks = run::checks(command, &entry.folder);
        Seen { command, folder: &entry.folder, checks, passed: entry.verdict() == Verdict::Pass }
    }

    fn is_same(&self, other: &Seen) -> bool {
        let keys = |seen: &Seen| seen.checks.iter().map(Check::key).collect::<Vec<_>>();
        match self.checks.is_empty() {
            true => (self.command, self.folder) == (other.command, other.folder),
            false => keys(self) == keys(other),
        }
    }

    fn shows_passed(&self, failed: &Seen) -> bool {
        let shown = |check: &Check| self.checks.iter().any(|passed| run::shows_passed(passed, check));
        self.passed && !failed.checks.is_empty() && failed.checks.iter().all(shown)
    }
}

impl Standing<'_> {
    /// Returns what has changed since, or why that is not known; empty if nothing has changed.
    pub fn changed(&self) -> &str {
        match &self.freshness {
            Freshness::Fresh => "",
            Freshness::Stale(changed) | Freshness::Unknown(changed) => changed,
        }
    }

    /// Returns a word for a list: `passed`, `stale`, `failed`, `none`.
    pub fn word(&self) -> &'static str {
        match (self.proof, &self.freshness) {
            (Proof::Passed, _) => "passed",
            (Proof::Stale, _) => "stale",
            (Proof::Failed, Freshness::Stale(_)) => "failed, and stale",
            (Proof::Failed, _) => "failed",
            (Proof::None, _) => "none",
        }
    }

    /// Returns one line for a person: what ran, how it ended, and whether that is still valid.
    pub fn words(&self) -> String {
        let Some(entry) = self.entry else { return "no evidence".to_owned() };
        let what = what_words(entry, one_line);
        match (self.proof, &self.freshness) {
            (Proof::Stale, _) => format!("stale ({}): {what}", one_line(self.changed(), 160)),
            (Proof::Failed, Freshness::Stale(changed)) => {
                format!("failed, and stale ({}): {what}", one_line(changed, 160))
            }
            (Proof::Failed, _) => format!("failed: {what}"),
            (Proof::Passed, _) => format!("passed: {what}"),
            (Proof::None, _) => "no evidence".to_owned(),
        }
    }

    /// Returns the same line for a model.
    pub fn told(&self) -> Option<String> {
        let entry = self.entry?;
        let what = what_words(entry, inline);
        let changed = inline(self.changed(), 160);
        Some(match (self.proof, &self.freshness) {
            (Proof::None, _) => return None,
            (Proof::Passed, _) => format!("passed, and no file has changed since: {what}"),
            (Proof::Stale, Freshness::Unknown(_)) => format!("passed, but stale: {changed}: {what}"),
            (Proof::Stale, _) => format!("stale, {changed} since it passed: {what}"),
            (Proof::Failed, Freshness::Stale(_)) => format!("failed, and {changed} since: {what}"),
            (Proof::Failed, _) => format!("failed: {what}"),
        })
    }
}

/// Describes an entry: `cargo test (12 passed, 1 failed), 2026-11-15T19:22:00Z`.
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
