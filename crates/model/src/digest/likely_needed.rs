//! Estimates how likely files and commands are to be needed again.

use std::collections::BTreeMap;

use memchr::memmem::Finder;

use crate::prompt::MIN_SUBSTANTIAL_PROMPT_CHARS;
use crate::run::RunResult;

use super::{CommandUse, Digest, FileUse, NewestRunOfCheck, Prompt};

/// Files whose worth is at least this value are likely to be needed. In real sessions, one in fifty files below this
/// value was needed again, compared with one in eight slightly above it.
const MIN_WORTH_OF_LIKELY_NEEDED_FILE: f64 = 0.75;

impl Digest {
    /// Returns the files, starting with the one that is most likely to be needed.
    pub fn ranked_files(&self) -> Vec<&FileUse> {
        let related = RelatedFiles::group_by_name(self);
        rank_by_worth(&self.files, |file| self.file_worth(file, &related), |file| &file.path)
    }

    /// Returns the files that are likely to be needed, in descending order of worth. Files that were only mentioned in
    /// commands are left out.
    pub fn files_likely_needed_again(&self) -> Vec<&FileUse> {
        let related = RelatedFiles::group_by_name(self);
        let mut ranked = self.ranked_files();
        ranked.retain(|file| {
            file.edits + file.reads > 0 && self.file_worth(file, &related) >= MIN_WORTH_OF_LIKELY_NEEDED_FILE
        });
        ranked
    }

    /// Returns the commands that did not fail, starting with the one that is most likely to be run again.
    pub fn ranked_commands(&self) -> Vec<&CommandUse> {
        let passed = self.commands.iter().filter(|command| command.last_result != RunResult::Failed);
        rank_by_worth(passed, |command| self.likelihood_of_running_again(command), |command| &command.command)
    }

    /// Returns the project's checks, whether they failed or not. Those that ran often or recently come first.
    pub fn ranked_checks(&self) -> Vec<&NewestRunOfCheck> {
        let worth = |check: &NewestRunOfCheck| self.worth_of_runs(check.runs, check.last_run_record);
        rank_by_worth(&self.checks, worth, |check| &check.run)
    }

    /// Estimates how likely a file is to be needed. The weights are based on real sessions. Recent use counts most.
    /// Next come three signs: the agent or the user has just mentioned the file, the error of an open failure
    /// mentions it, or its counterpart (the test of a source file, or the source file of a test) was just used. The
    /// number of uses and whether the file was edited count least.
    fn file_worth(&self, file: &FileUse, related: &RelatedFiles) -> f64 {
        let name = file.path.rsplit('/').next().unwrap_or(&file.path);
        let uses = f64::from(file.edits + file.reads) + 0.3 * f64::from(file.mentions_in_commands);
        let mut worth = 2.2 * self.recency(file.last_use_record, 30.0) + 0.5 * uses.ln_1p();
        worth += 1.0 * self.recency(related.last_use_of_related(file), 30.0);
        let finder = Finder::new(name);
        let names = |text: &str| finder.find(text.as_bytes()).is_some();
        worth += if names(&self.last_message) { 1.0 } else { 0.0 };
        let is_asked = |prompt: &&Prompt| {
            names(&prompt.text) || prompt.file_names_in_removed_part.iter().any(|known| known == name)
        };
        worth += if related.goals.iter().any(is_asked) { 0.4 } else { 0.0 };
        worth += if related.errors.iter().any(|error| names(error)) { 1.5 } else { 0.0 };
        worth += if file.edits > 0 { 0.6 } else { 0.0 };
        worth
            - if is_generated_or_vendored_file(&file.path) {
                1.5
            } else if file.is_outside_checkout {
                0.5
            } else {
                0.0
            }
    }

    /// Returns the prompts that are likely to be about the current work: the last two, the last long one, and the first
    /// one.
    fn prompts_about_current_work(&self) -> Vec<&Prompt> {
        let says = |prompt: &&Prompt| prompt.text.trim().chars().count() >= MIN_SUBSTANTIAL_PROMPT_CHARS;
        let newest = self.prompts.iter().rev().take(2);
        let all = newest.chain(self.prompts.iter().rev().find(says)).chain(self.prompts.first());
        all.fold(Vec::new(), |mut goals: Vec<&Prompt>, prompt| {
            if !goals.iter().any(|known| std::ptr::eq(*known, prompt)) {
                goals.push(prompt);
            }
            goals
        })
    }

    /// Estimates how likely a command is to be run again. Frequent commands, recent commands and checks are more
    /// likely. Long commands are less likely.
    fn likelihood_of_running_again(&self, command: &CommandUse) -> f64 {
        let checks = if is_check_or_status(&command.command) { 0.6 } else { 0.0 };
        let long = if command.command.len() > 60 { 0.3 } else { 0.0 };
        self.worth_of_runs(command.runs, command.last_run_record) + checks - long
    }

    fn worth_of_runs(&self, runs: u32, last_run_record: u64) -> f64 {
        f64::from(runs).ln_1p() + 2.0 * self.recency(last_run_record, 25.0)
    }

    /// Returns 1 for the current record. The value halves with every `half_life` records before the current one.
    /// Returns 0 if `record` is 0.
    fn recency(&self, record: u64, half_life: f64) -> f64 {
        match record {
            0 => 0.0,
            record => (-(self.record_count.saturating_sub(record) as f64) / half_life).exp2(),
        }
    }
}

/// Shared data for computing the worth of every file. Related files have similar names, such as `parse.rs`,
/// `parse_tests.rs` and `test_parse.py`.
struct RelatedFiles<'a> {
    /// For each group of related files, the last use and the path of each of the two most recently used files.
    last_used_by_group: BTreeMap<&'a str, [(u64, &'a str); 2]>,
    goals: Vec<&'a Prompt>,
    /// The errors of the newest open failures.
    errors: Vec<&'a str>,
}

/// The maximum number of open failures that are searched for file names.
const MAX_FAILURES_SEARCHED: usize = 5;

impl<'a> RelatedFiles<'a> {
    fn group_by_name(digest: &'a Digest) -> RelatedFiles<'a> {
        let mut last: BTreeMap<&str, [(u64, &str); 2]> = BTreeMap::new();
        for file in &digest.files {
            let [first, second] = last.entry(name_without_test_marks(&file.path)).or_default();
            let this = (file.last_use_record, file.path.as_str());
            if this > *first {
                (*first, *second) = (this, *first);
            } else if this > *second {
                *second = this;
            }
        }
        let errors = digest
            .open_failures()
            .take(MAX_FAILURES_SEARCHED)
            .map(|failure| failure.error.as_str())
            .collect();
        RelatedFiles { last_used_by_group: last, goals: digest.prompts_about_current_work(), errors }
    }

    fn last_use_of_related(&self, file: &FileUse) -> u64 {
        let Some([first, second]) = self.last_used_by_group.get(name_without_test_marks(&file.path)) else {
            return 0;
        };
        if first.1 == file.path { second.0 } else { first.0 }
    }
}

/// Returns a file's name without its extension and without a prefix or suffix that marks a test.
fn name_without_test_marks(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or(name);
    let stem = stem.strip_prefix("test_").unwrap_or(stem);
    ["_tests", "_test", "-test", "Tests", "Test"]
        .iter()
        .find_map(|end| stem.strip_suffix(end))
        .unwrap_or(stem)
}

/// Returns whether a command runs a test, a build or a linter, or shows the state of the checkout.
fn is_check_or_status(command: &str) -> bool {
    const CHECK_WORDS: &[&str] = &[
        "test", "tests", "pytest", "jest", "vitest", "build", "check", "lint", "clippy", "vet", "tsc", "fmt",
        "format", "make", "run", "status", "diff", "log",
    ];
    let head = crate::text::cut_to_bytes(command, 120);
    head.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| CHECK_WORDS.contains(&word))
}

/// Sorts by descending worth, then by name.
fn rank_by_worth<'d, T>(
    all: impl IntoIterator<Item = &'d T>,
    worth: impl Fn(&T) -> f64,
    name: impl Fn(&T) -> &str,
) -> Vec<&'d T> {
    let mut ranked: Vec<(f64, &T)> = all.into_iter().map(|one| (worth(one), one)).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| name(a.1).cmp(name(b.1))));
    ranked.into_iter().map(|(_, one)| one).collect()
}

/// Returns whether a file is generated, vendored or a lock file. People rarely edit such files.
pub fn is_generated_or_vendored_file(path: &str) -> bool {
    const GENERATED_FOLDERS: &[&str] =
        &["target", "node_modules", "dist", "build", "vendor", ".git", "__pycache__", ".next", "coverage"];
    let name = path.rsplit('/').next().unwrap_or(path);
    path.split('/').any(|part| GENERATED_FOLDERS.contains(&part))
        || name.ends_with(".lock")
        || name.contains(".min.")
}
