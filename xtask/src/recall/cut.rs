//! A transcript taken apart: what was done, in order, and where it was compacted.

use std::collections::BTreeSet;

use harness::transcript::each_line;
use harness::{HARNESSES, Harness};
use model::event::Action;
use model::transcript::{Dedup, Item, Kind};

/// How many calls after a compaction are looked at.
const CALLS_AFTER: usize = 40;

/// What is compared of a command, a prompt and a line, white space collapsed.
const BEGINNING: usize = 60;

#[derive(Debug)]
pub struct Session<'a> {
    pub name: String,
    pub lines: Vec<&'a [u8]>,
    /// What was done, with the number of its line.
    pub deeds: Vec<(usize, Deed)>,
    /// Every file that a tool was given.
    pub files: BTreeSet<String>,
}

#[derive(Clone, Debug)]
pub enum Deed {
    Call { files: Vec<(String, bool)>, command: Option<String>, id: String },
    Failed { call: String, errors: Vec<String> },
    Passed { call: String },
    Prompt(String),
    Compaction,
    Summary(String),
}

/// A place to cut, and what lies around it.
#[derive(Debug)]
pub struct Cut {
    /// The first line that the brief does not know.
    pub line: usize,
    /// Deeds before it, and the first of them since the last compaction.
    pub before: usize,
    pub epoch: usize,
    /// The harness's own summary. Empty where the cut is ours.
    pub summary: String,
}

impl<'a> Session<'a> {
    pub fn read(name: &str, bytes: &'a [u8]) -> Session<'a> {
        let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        let known = |harness: &&Harness| {
            let read_line = harness.transcript.read_line();
            let read = |line: &&[u8]| matches!(read_line(line).kind, Kind::Known(_));
            lines.iter().take(50).filter(|line| read(line)).count()
        };
        let harness = HARNESSES.iter().rev().max_by_key(known).expect("there are harnesses");
        let read_line = harness.transcript.read_line();
        let (mut deeds, mut dedup) = (Vec::new(), Dedup::default());
        for (number, line) in lines.iter().enumerate() {
            each_line(read_line, line, |line| {
                if line.is_main() {
                    let items = line.items.into_iter().filter_map(|item| dedup.keep(item));
                    deeds.extend(items.filter_map(|item| Some((number, deed(item)?))));
                }
            });
        }
        let files = deeds.iter().flat_map(|(_, deed)| files_of(deed)).map(|(path, _)| path.clone()).collect();
        Session { name: name.to_owned(), lines, deeds, files }
    }

    /// Before every compaction; with `every`, also after so many calls each.
    pub fn cuts(&self, every: Option<usize>) -> Vec<Cut> {
        let (mut cuts, mut epoch, mut calls) = (Vec::new(), 0, 0);
        let mut after_boundary = false;
        for (at, (line, deed)) in self.deeds.iter().enumerate() {
            let summary = || {
                let next = self.deeds[at..].iter().take(8).find_map(|(_, deed)| match deed {
                    Deed::Summary(text) => Some(text.clone()),
                    _ => None,
                });
                next.unwrap_or_default()
            };
            match deed {
                Deed::Compaction => {
                    cuts.push(Cut { line: *line, before: at, epoch, summary: summary() });
                    (epoch, after_boundary) = (at, true);
                }
                Deed::Summary(_) if !after_boundary => {
                    cuts.push(Cut { line: *line, before: at, epoch, summary: summary() });
                    epoch = at;
                }
                Deed::Call { .. } => {
                    after_boundary = false;
                    calls += 1;
                    // Right after a compaction the summary is still all the agent has.
                    if every.is_some_and(|every| calls % every == 0) && at > epoch + 20 {
                        cuts.push(Cut { line: *line, before: at, epoch, summary: String::new() });
                    }
                }
                _ => {}
            }
        }
        // Where nothing was done before or after, nothing can be learned.
        cuts.retain(|cut| self.seen(cut).next().is_some());
        cuts
    }

    /// Files seen before the cut, in the order of their last use, oldest first; each as often as it was used.
    pub fn seen(&self, cut: &Cut) -> impl Iterator<Item = &str> {
        self.deeds[..cut.before].iter().flat_map(|(_, deed)| files_of(deed)).map(|(path, _)| path.as_str())
    }

    pub fn after(&self, cut: &Cut) -> impl Iterator<Item = &Deed> {
        let calls = self.deeds[cut.before..].iter().map(|(_, deed)| deed);
        calls.filter(|deed| matches!(deed, Deed::Call { .. })).take(CALLS_AFTER)
    }

    pub fn since(&self, cut: &Cut) -> impl Iterator<Item = &Deed> {
        self.deeds[cut.epoch..cut.before].iter().map(|(_, deed)| deed)
    }

    pub fn ever(&self, cut: &Cut) -> impl Iterator<Item = &Deed> {
        self.deeds[..cut.before].iter().map(|(_, deed)| deed)
    }
}

fn deed(item: Item) -> Option<Deed> {
    Some(match item {
        Item::Call(call) => Deed::Call {
            files: call
                .files
                .iter()
                .map(|file| (file.path.to_string(), matches!(file.action, Action::Edit | Action::Create)))
                .collect(),
            command: call.command.as_deref().map(beginning).filter(|command| !command.is_empty()),
            id: call.id.unwrap_or_default().into_owned(),
        },
        Item::Result(result) if result.refused => return None,
        Item::Result(result) => {
            let call = result.call.unwrap_or_default().into_owned();
            let errors =
                errors_of(&result.text).lines().map(beginning).filter(|line| !line.is_empty()).collect();
            if result.failed { Deed::Failed { call, errors } } else { Deed::Passed { call } }
        }
        Item::Prompt { text, .. } => Deed::Prompt(beginning(&text)),
        Item::Compaction { .. } => Deed::Compaction,
        Item::Summary { text } => Deed::Summary(text.into_owned()),
        _ => return None,
    })
}

pub fn files_of(deed: &Deed) -> impl Iterator<Item = &(String, bool)> {
    let files = match deed {
        Deed::Call { files, .. } => files.as_slice(),
        _ => &[],
    };
    files.iter()
}

pub fn command_of(deed: &Deed) -> Option<&str> {
    match deed {
        Deed::Call { command, .. } => command.as_deref(),
        _ => None,
    }
}

/// White space collapsed, then cut.
pub fn beginning(text: &str) -> String {
    collapsed(text).chars().take(BEGINNING).collect::<String>().trim_end().to_owned()
}

pub fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The lines of a failed call that say why, as the journal picks them.
fn errors_of(text: &str) -> String {
    let options = model::redact::Options::default();
    model::failure::error_lines(&model::redact::Redacted::whole(text, options))
}
