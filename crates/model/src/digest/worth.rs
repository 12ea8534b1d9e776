//! Estimates which files and commands will be needed again.

use std::collections::BTreeMap;

use crate::prompt::SUBSTANTIAL_CHARS;
use crate::run::Ended;

use super::{CommandUse, Digest, FileUse, Prompt};

/// Files of at least this worth are likely to be needed. Of files worth less, one in fifty was needed again; of those
/// slightly above, one in eight.
const LIKELY_WORTH: f64 = 0.75;

impl Digest {
    /// Returns the files, the most likely to be needed again first.
    pub fn ranked_files(&self) -> Vec<&FileUse> {
        let related = RelatedFiles::of(self);
        ranked(&self.files, |file| self.file_worth(file, &related), |file| &file.path)
    }

    /// Returns how many files are likely to be needed. Files that are only named in commands are not counted.
    pub fn likely_files(&self) -> usize {
        let related = RelatedFiles::of(self);
        let used = self.files.iter().filter(|file| file.edits + file.reads > 0);
        used.filter(|file| self.file_worth(file, &related) >= LIKELY_WORTH).count()
    }

    /// Returns commands that did not fail, the most likely to be run again first.
    pub fn ranked_commands(&self) -> Vec<&CommandUse> {
        let passed = self.commands.iter().filter(|command| command.ended != Ended::Failed);
        ranked(passed, |command| self.command_worth(command), |command| &command.command)
    }

    /// Estimates how likely a file is to be needed, based on what agents used again in real sessions. Recent use counts
    /// most. Next come: the agent or the user just mentioned it, an open failure names it, or its counterpart (the test
    /// of a source, the source of a test) was just in use. Then how often it was used, and whether it was changed.
    fn file_worth(&self, file: &FileUse, related: &RelatedFiles) -> f64 {
        let name = file.path.rsplit('/').next().unwrap_or(&file.path);
        let uses = f64::from(file.edits + file.reads) + 0.3 * f64::from(file.guesses);
        let mut worth = 2.2 * self.freshness(file.last, 30.0) + 0.5 * uses.ln_1p();
        worth += 1.0 * self.freshness(related.last_of_kin(file), 30.0);
        let names = |text: &str| text.contains(name);
        worth += if names(&self.said) { 1.0 } else { 0.0 };
        let asked =
            self.goals().any(|prompt| names(&prompt.text) || prompt.names.iter().any(|known| known == name));
        worth += if asked { 0.4 } else { 0.0 };
        worth += if related.errors.iter().any(|error| names(error)) { 1.5 } else { 0.0 };
        worth += if file.edits > 0 { 0.6 } else { 0.0 };
        worth
            - if is_generated(&file.path) {
                1.5
            } else if file.outside {
                0.5
            } else {
                0.0
            }
    }

    /// Returns the prompts about the current work: the last ones, the last substantial one, and the first one.
    fn goals(&self) -> impl Iterator<Item = &Prompt> {
        let says = |prompt: &&Prompt| prompt.text.trim().chars().count() >= SUBSTANTIAL_CHARS;
        let newest = self.prompts.iter().rev().take(2);
        newest.chain(self.prompts.iter().rev().find(says)).chain(self.prompts.first())
    }

    /// Estimates how likely a command is to be run again. Frequent and recent commands are, and checks above all.
    fn command_worth(&self, command: &CommandUse) -> f64 {
        let often = f64::from(command.runs).ln_1p();
        let checks = if is_check(&command.command) { 0.6 } else { 0.0 };
        let long = if command.command.len() > 60 { 0.3 } else { 0.0 };
        often + 2.0 * self.freshness(command.last, 25.0) + checks - long
    }

    /// Returns 1 for the current record, and half as much for every `half_life` records before it; 0 if `record` is 0.
    fn freshness(&self, record: u64, half_life: f64) -> f64 {
        match record {
            0 => 0.0,
            record => (-(self.records.saturating_sub(record) as f64) / half_life).exp2(),
        }
    }
}

/// Files that belong together by name, such as `parse.rs`, `parse_tests.rs` and `test_parse.py`.
struct RelatedFiles<'a> {
    /// The last use and the path of the two files of a family that were used last.
    last: BTreeMap<&'a str, [(u64, &'a str); 2]>,
    /// What the newest open failures say, because failing tests name files.
    errors: Vec<&'a str>,
}

impl<'a> RelatedFiles<'a> {
    fn of(digest: &'a Digest) -> RelatedFiles<'a> {
        let mut last: BTreeMap<&str, [(u64, &str); 2]> = BTreeMap::new();
        for file in &digest.files {
            let [first, second] = last.entry(family(&file.path)).or_default();
            let this = (file.last, file.path.as_str());
            if this > *first {
                (*first, *second) = (this, *first);
            } else if this > *second {
                *second = this;
            }
        }
        let errors = digest.open_failures().take(5).map(|failure| failure.error.as_str()).collect();
        RelatedFiles { last, errors }
    }

    fn last_of_kin(&self, file: &FileUse) -> u64 {
        let Some([first, second]) = self.last.get(family(&file.path)) else { return 0 };
        if first.1 == file.path { second.0 } else { first.0 }
    }
}

/// Returns the name of a file without its extension and without what marks it as a test.
fn family(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or(name);
    let stem = stem.strip_prefix("test_").unwrap_or(stem);
    ["_tests", "_test", "-test", "Tests", "Test"]
        .iter()
        .find_map(|end| stem.strip_suffix(end))
        .unwrap_or(stem)
}

/// Whether a command is a test, a build or a linter, or shows the state.
fn is_check(command: &str) -> bool {
    const CHECK_WORDS: &[&str] = &[
        "test", "tests", "pytest", "jest", "vitest", "build", "check", "lint", "clippy", "vet", "tsc", "fmt",
        "format", "make", "run", "status", "diff", "log",
    ];
    let head = crate::text::cut(command, 120);
    head.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| CHECK_WORDS.contains(&word))
}

/// Sorts by worth, the best first, and by name if the worth is equal.
fn ranked<'d, T>(
    all: impl IntoIterator<Item = &'d T>,
    worth: impl Fn(&T) -> f64,
    name: impl Fn(&T) -> &str,
) -> Vec<&'d T> {
    let mut ranked: Vec<(f64, &T)> = all.into_iter().map(|one| (worth(one), one)).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| name(a.1).cmp(name(b.1))));
    ranked.into_iter().map(|(_, one)| one).collect()
}

/// Whether a file is generated, vendored or a lock file. People rarely work on those.
pub fn is_generated(path: &str) -> bool {
    const GENERATED_FOLDERS: &[&str] =
        &["target", "node_modules", "dist", "build", "vendor", ".git", "__pycache__", ".next", "coverage"];
    let name = path.rsplit('/').next().unwrap_or(path);
    path.split('/').any(|part| GENERATED_FOLDERS.contains(&part))
        || name.ends_with(".lock")
        || name.contains(".min.")
}
