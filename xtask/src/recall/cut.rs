//! A session, and the points at which it is cut: what comes before is what the agent forgets.

use std::collections::BTreeSet;

use super::events::{self, Call, Event, What};

/// How many calls after a cut are examined.
pub const CALLS_AFTER: usize = 40;

/// The minimum number of calls before an artificial cut.
const CALLS_BEFORE: usize = 60;
/// The minimum number of calls between a compaction and an artificial cut. Right after a compaction the agent knows
/// only the summary.
const CALLS_SINCE: usize = 20;

/// How many characters of a command or a prompt are compared, with white space collapsed.
const BEGINNING: usize = 60;

#[derive(Debug)]
pub struct Session<'a> {
    pub name: String,
    pub lines: Vec<&'a [u8]>,
    pub events: Vec<Event>,
    /// Every file that was the input of a tool call.
    pub files: BTreeSet<String>,
    /// The folder in which the session began.
    cwd: String,
}

/// A point at which the session is cut.
#[derive(Debug)]
pub struct Cut {
    pub sort: Sort,
    /// The first line of the transcript that the brief is not composed from.
    pub line: usize,
    /// The number of events before the cut.
    pub before: usize,
    /// The index of the first event since the previous compaction.
    pub epoch: usize,
    /// The harness's own summary; empty for an artificial cut.
    pub summary: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// The session's n-th compaction, counted from 0.
    Compaction(usize),
    MadeUp,
}

/// The half that a session belongs to, by its name. The second half shows whether an improvement on the first half
/// is real.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    Tune,
    Report,
}

impl Half {
    /// Returns the half that a session belongs to, by the first digit of its id: 0 to 7, or 8 to f.
    pub fn of(session: &str) -> Half {
        match session.chars().next().and_then(|first| first.to_digit(16)) {
            Some(8..) => Half::Report,
            _ => Half::Tune,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Half::Tune => "tune",
            Half::Report => "report",
        }
    }
}

impl<'a> Session<'a> {
    pub fn read(name: &str, bytes: &'a [u8]) -> Session<'a> {
        let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        let events = events::read(&lines);
        let files = events.iter().flat_map(|event| event.files()).map(|file| file.path.clone()).collect();
        let cwd = lines.iter().take(20).find_map(|line| {
            let line: serde_json::Value = serde_json::from_slice(line).ok()?;
            Some(line["cwd"].as_str()?.to_owned())
        });
        Session { name: name.to_owned(), lines, events, files, cwd: cwd.unwrap_or_default() }
    }

    /// Returns the path that a user in the session's folder would write.
    pub fn short<'p>(&self, path: &'p str) -> &'p str {
        path.strip_prefix(self.cwd.as_str()).and_then(|rest| rest.strip_prefix('/')).unwrap_or(path)
    }

    pub fn call(&self, id: &str) -> Option<&Call> {
        self.events.iter().filter_map(|event| event.call()).find(|call| call.id == id)
    }

    /// Returns a cut before every compaction.
    pub fn compactions(&self) -> Vec<Cut> {
        let (mut cuts, mut epoch, mut is_told) = (Vec::new(), 0, false);
        for (at, event) in self.events.iter().enumerate() {
            let is_cut = match event.what {
                What::Compaction => true,
                // Some versions write a summary without a compaction line before it.
                What::Summary(_) => !is_told,
                _ => false,
            };
            is_told = match event.what {
                What::Compaction => true,
                What::Call(_) => false,
                _ => is_told,
            };
            if is_cut {
                let summary = self.events[at..].iter().take(8).find_map(|event| match &event.what {
                    What::Summary(text) => Some(text.clone()),
                    _ => None,
                });
                let summary = summary.unwrap_or_default();
                let sort = Sort::Compaction(cuts.len());
                cuts.push(Cut { sort, line: event.line, before: at, epoch, summary });
                epoch = at;
            }
        }
        // If no file was used before a cut, a brief has no files to name.
        cuts.retain(|cut| self.seen(cut).next().is_some());
        cuts
    }

    /// Returns up to `most` cuts, spread evenly over the session, with enough calls before and after each cut.
    pub fn made_up(&self, most: usize) -> Vec<Cut> {
        let is_break = |event: &Event| matches!(event.what, What::Compaction | What::Summary(_));
        let mut fit = Vec::new();
        let (mut epoch, mut calls, mut since) = (0, 0, 0);
        let mut to_come = self.events.iter().filter(|event| event.call().is_some()).count();
        let mut running: BTreeSet<&str> = BTreeSet::new();
        for (at, event) in self.events.iter().enumerate() {
            match &event.what {
                _ if is_break(event) => {
                    (epoch, since) = (at, 0);
                    running.clear();
                }
                What::Result { call, .. } => {
                    running.remove(call.as_str());
                }
                What::Call(call) => {
                    let is_between = calls >= CALLS_BEFORE && since >= CALLS_SINCE && to_come >= CALLS_AFTER;
                    // A compaction never comes between a call and its result.
                    if is_between && running.is_empty() {
                        fit.push((at, epoch));
                    }
                    calls += 1;
                    since += 1;
                    to_come -= 1;
                    running.insert(&call.id);
                }
                _ => {}
            }
        }
        let most = most.min(fit.len());
        let chosen = (0..most).map(|n| fit[(2 * n + 1) * fit.len() / (2 * most)]);
        chosen
            .map(|(at, epoch)| Cut {
                sort: Sort::MadeUp,
                line: self.events[at].line,
                before: at,
                epoch,
                summary: String::new(),
            })
            .collect()
    }

    /// Returns the files that were used before the cut, oldest use first. A file is returned once for each use.
    pub fn seen(&self, cut: &Cut) -> impl Iterator<Item = &str> {
        self.ever(cut).iter().flat_map(|event| event.files()).map(|file| file.path.as_str())
    }

    /// Returns the next calls after the cut.
    pub fn after(&self, cut: &Cut, calls: usize) -> impl Iterator<Item = &Call> {
        self.events[cut.before..].iter().filter_map(|event| event.call()).take(calls)
    }

    pub fn since(&self, cut: &Cut) -> &[Event] {
        &self.events[cut.epoch..cut.before]
    }

    pub fn ever(&self, cut: &Cut) -> &[Event] {
        &self.events[..cut.before]
    }
}

/// Collapses white space and returns the first `BEGINNING` characters.
pub fn beginning(text: &str) -> String {
    collapsed(text).chars().take(BEGINNING).collect::<String>().trim_end().to_owned()
}

pub fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
