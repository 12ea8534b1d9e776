//! Judges the evidence of a task. All code that shows evidence uses this module.

use serde::Serialize;

use super::{EntryType, EvidenceEntry, EvidenceOrigin, EvidenceVerdict};
use crate::render::{inline_for_model, one_line};
use crate::run::{self, ProjectCheck};
use crate::swarm::SwarmRole;

/// Whether the files that an entry is bound to are unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Freshness {
    Fresh,
    /// A file has changed. The string describes the change, as in `src/a.rs changed`.
    Stale(String),
    /// It is unknown whether a file has changed. The string describes why. A failure still counts as a failure, but a
    /// success proves nothing.
    Unknown(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProofState {
    /// A run passed, and its files have not changed.
    Passed,
    /// A run passed, but its files have changed, or it is unknown whether they have.
    Stale,
    Failed,
    /// `thru` itself saw no run.
    None,
}

#[derive(Clone, Debug, PartialEq)]
pub struct EvidenceStanding<'e> {
    pub proof: ProofState,
    /// The entry that decided the result.
    pub entry: Option<&'e EvidenceEntry>,
    pub freshness: Freshness,
}

/// Judges `entries`, which are ordered oldest first. `fresh` returns whether an entry's files are unchanged.
///
/// A failed run counts as failed until the same command or a wider one passes, or the files change. A rejection
/// by a person or an agent counts until a later review or approval is good. A claim of test failures counts until
/// a later claim or run reports that the tests pass. A mere claim that something passed proves nothing.
pub fn judge_evidence<'e>(
    entries: &'e [EvidenceEntry],
    mut fresh: impl FnMut(&EvidenceEntry) -> Freshness,
) -> EvidenceStanding<'e> {
    let (mut passed, mut out_of_date): (Option<EvidenceStanding>, Option<EvidenceStanding>) = (None, None);
    for entry in entries_in_effect(entries).into_iter().map(|at| &entries[at]) {
        let of = |proof, freshness| EvidenceStanding { proof, entry: Some(entry), freshness };
        if !entry.is_seen_by_thru() {
            if entry.verdict().is_negative_verdict() {
                return of(ProofState::Failed, Freshness::Fresh);
            }
            continue;
        }
        match (entry.verdict() == EvidenceVerdict::Fail, fresh(entry)) {
            (true, freshness @ (Freshness::Fresh | Freshness::Unknown(_))) => {
                return of(ProofState::Failed, freshness);
            }
            (false, Freshness::Fresh) => {
                passed.get_or_insert(of(ProofState::Passed, Freshness::Fresh));
            }
            (is_failed, freshness) => {
                let proof = if is_failed { ProofState::Failed } else { ProofState::Stale };
                out_of_date.get_or_insert(of(proof, freshness));
            }
        }
    }
    let nothing = EvidenceStanding { proof: ProofState::None, entry: None, freshness: Freshness::Fresh };
    passed.or(out_of_date).unwrap_or(nothing)
}

/// Returns the newest entry that rejects the work or says that tests fail. An entry that a later entry has settled does
/// not count. Runs that `thru` itself saw do not count either.
pub fn rejecting_entry(entries: &[EvidenceEntry]) -> Option<&EvidenceEntry> {
    let in_effect = entries_in_effect(entries).into_iter().map(|at| &entries[at]);
    in_effect.into_iter().find(|entry| !entry.is_seen_by_thru() && entry.verdict().is_negative_verdict())
}

/// Returns the positions of the entries that no later entry has settled, newest first. These are the last run of each
/// command and the last verdict of each kind of judge. Only these entries are judged.
pub(super) fn entries_in_effect(entries: &[EvidenceEntry]) -> Vec<usize> {
    let mut later: Vec<ComparedRun> = Vec::new();
    let mut settled: Vec<(EntryType, bool, bool)> = Vec::new();
    let mut found = Vec::new();
    for (at, entry) in entries.iter().enumerate().rev() {
        let verdict = entry.verdict();
        if !entry.is_seen_by_thru() {
            let judge = EntryType::parse(&entry.entry_type)
                .filter(|kind| matches!(kind, EntryType::Review | EntryType::Approval | EntryType::Test))
                .filter(|_| verdict.is_good() || verdict.is_negative_verdict());
            // An import cannot settle a rejection that was made here, and imported test runs are ignored.
            let is_imported = entry.kind() == EvidenceOrigin::Imported;
            // A critic judges the plan, so its approval does not settle a reviewer's rejection.
            let is_critic = SwarmRole::from_agent_type(&entry.agent) == Some(SwarmRole::Critic);
            let judge = judge.filter(|kind| !(is_imported && *kind == EntryType::Test));
            let judge = judge.filter(|_| !entry.is_imported_gate());
            if let Some(judge) = judge
                && !settled.iter().any(|(kind, by_import, by_critic)| {
                    *kind == judge && (is_imported || !by_import) && (is_critic || !by_critic)
                })
            {
                settled.push((judge, is_imported, is_critic));
                // If a later run passed, a claim of test failures no longer counts.
                let is_outrun = judge == EntryType::Test
                    && verdict.is_negative_verdict()
                    && later.iter().any(|run| run.passed);
                if !is_outrun {
                    found.push(at);
                }
            }
            continue;
        }
        let seen = ComparedRun::from_entry(entry);
        let is_settled = later.iter().any(|later| later.is_same_check(&seen))
            || verdict == EvidenceVerdict::Fail && later.iter().any(|later| later.shows_passed(&seen));
        if matches!(verdict, EvidenceVerdict::Pass | EvidenceVerdict::Fail) {
            if !is_settled {
                found.push(at);
            }
            later.push(seen);
        }
    }
    found
}

/// Returns at most `most` tree hashes of the entries that no later entry has settled, newest first. The file listings
/// of these trees must be kept. Without them, a change to the files could not settle a failure, and a success would
/// prove nothing.
pub fn tree_hashes_in_effect(entries: &[EvidenceEntry], most: usize) -> Vec<&str> {
    let mut trees: Vec<&str> = Vec::new();
    for entry in entries_in_effect(entries).into_iter().map(|at| &entries[at]) {
        if !entry.tree.is_empty() && !trees.contains(&entry.tree.as_str()) && trees.len() < most {
            trees.push(&entry.tree);
        }
    }
    trees
}

struct ComparedRun<'e> {
    command: &'e str,
    folder: &'e str,
    checks: Vec<ProjectCheck>,
    passed: bool,
}

impl<'e> ComparedRun<'e> {
    fn from_entry(entry: &'e EvidenceEntry) -> ComparedRun<'e> {
        let command = entry.command.as_deref().unwrap_or_default();
        let checks = run::checks_of_command(command, &entry.folder);
        ComparedRun {
            command,
            folder: &entry.folder,
            checks,
            passed: entry.verdict() == EvidenceVerdict::Pass,
        }
    }

    fn is_same_check(&self, other: &ComparedRun) -> bool {
        let keys =
            |seen: &ComparedRun| seen.checks.iter().map(ProjectCheck::identity_key).collect::<Vec<_>>();
        match self.checks.is_empty() {
            true => (self.command, self.folder) == (other.command, other.folder),
            false => keys(self) == keys(other),
        }
    }

    fn shows_passed(&self, failed: &ComparedRun) -> bool {
        let shown = |check: &ProjectCheck| self.checks.iter().any(|passed| run::proves_fixed(passed, check));
        self.passed && !failed.checks.is_empty() && failed.checks.iter().all(shown)
    }
}

impl EvidenceStanding<'_> {
    /// Returns what has changed since the entry, or why that is unknown. Returns an empty string if nothing has
    /// changed.
    pub fn what_has_changed(&self) -> &str {
        match &self.freshness {
            Freshness::Fresh => "",
            Freshness::Stale(changed) | Freshness::Unknown(changed) => changed,
        }
    }

    /// Returns a word for a list, such as `passed`, `stale`, `failed` or `none`.
    pub fn state_word(&self) -> &'static str {
        match (self.proof, &self.freshness) {
            (ProofState::Passed, _) => "passed",
            (ProofState::Stale, _) => "stale",
            (ProofState::Failed, Freshness::Stale(_)) => "failed, and stale",
            (ProofState::Failed, _) => "failed",
            (ProofState::None, _) => "none",
        }
    }

    /// Describes a run for a person in one line: the command, its result, and whether the result still counts.
    pub fn describe(&self) -> String {
        let Some(entry) = self.entry else { return "no evidence".to_owned() };
        let what = describe_entry(entry, one_line);
        match (self.proof, &self.freshness) {
            (ProofState::Stale, _) => format!("stale ({}): {what}", one_line(self.what_has_changed(), 160)),
            (ProofState::Failed, Freshness::Stale(changed)) => {
                format!("failed, and stale ({}): {what}", one_line(changed, 160))
            }
            (ProofState::Failed, _) => format!("failed: {what}"),
            (ProofState::Passed, _) => format!("passed: {what}"),
            (ProofState::None, _) => "no evidence".to_owned(),
        }
    }

    /// Like [`Self::describe`], but for a model.
    pub fn describe_for_model(&self) -> Option<String> {
        let entry = self.entry?;
        let what = describe_entry(entry, inline_for_model);
        let changed = inline_for_model(self.what_has_changed(), 160);
        Some(match (self.proof, &self.freshness) {
            (ProofState::None, _) => return None,
            (ProofState::Passed, _) => format!("passed, and no file has changed since: {what}"),
            (ProofState::Stale, Freshness::Unknown(_)) => format!("passed, but stale: {changed}: {what}"),
            (ProofState::Stale, _) => format!("stale, {changed} since it passed: {what}"),
            (ProofState::Failed, Freshness::Stale(_)) => format!("failed, and {changed} since: {what}"),
            (ProofState::Failed, _) => format!("failed: {what}"),
        })
    }
}

/// Describes an entry, as in `cargo test (12 passed, 1 failed), 2026-11-15T19:22:00Z`.
pub(super) fn describe_entry(entry: &EvidenceEntry, cut: fn(&str, usize) -> String) -> String {
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
    let counts = match (entry.test_counts(), entry.exit_code.filter(|code| *code != 0)) {
        (Some(counts), _) => format!(" ({counts})"),
        (None, Some(code)) => format!(" (exit {code})"),
        (None, None) => String::new(),
    };
    format!("{what}{folder}{counts}, {}", cut(&entry.timestamp, 40))
}
