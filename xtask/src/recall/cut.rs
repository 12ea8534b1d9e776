//! A session, and the points at which it is cut. The measurement assumes that the agent forgets everything before a
//! cut.

use std::collections::BTreeSet;

use super::events::{self, EventKind, ToolCall, TranscriptEvent};

/// How many calls after a cut are examined.
pub const MAX_CALLS_AFTER: usize = 40;

/// The minimum number of calls before an artificial cut, which is a cut where the session was not compacted.
const MIN_CALLS_BEFORE_ARTIFICIAL_CUT: usize = 60;
/// The minimum number of calls between a compaction and an artificial cut. Right after a compaction, the agent
/// remembers only the summary.
const MIN_CALLS_SINCE_COMPACTION: usize = 20;

/// How many characters of a command or a prompt are compared, with white space collapsed.
const COMPARED_CHARS: usize = 60;

#[derive(Debug)]
pub struct RecallSession<'a> {
    pub name: String,
    pub lines: Vec<&'a [u8]>,
    pub events: Vec<TranscriptEvent>,
    /// Every file that was the input of a tool call.
    pub files: BTreeSet<String>,
    /// The folder in which the session started.
    cwd: String,
}

/// A point at which the session is cut.
#[derive(Debug)]
pub struct SessionCut {
    pub kind: SessionCutKind,
    /// The line of the transcript at the cut. The brief is composed from the lines before it.
    pub line: usize,
    /// The number of events before the cut.
    pub event_count_before: usize,
    /// The index of the first event since the previous compaction.
    pub first_event_since_compaction: usize,
    /// The harness's own summary. It is empty for an artificial cut, because no compaction happened there.
    pub summary: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionCutKind {
    /// The session's n-th compaction, counted from 0.
    Compaction(usize),
    Artificial,
}

/// The half that a session belongs to. Changes are tuned on one half, and the other half shows whether the
/// improvement is real.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CorpusHalf {
    TuningHalf,
    ReportingHalf,
}

impl CorpusHalf {
    /// Returns the half of the corpus that a session belongs to. The first digit of the session's id decides: 0 to 7,
    /// or 8 to f.
    pub fn of_session(session: &str) -> CorpusHalf {
        match session.chars().next().and_then(|first| first.to_digit(16)) {
            Some(8..) => CorpusHalf::ReportingHalf,
            _ => CorpusHalf::TuningHalf,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            CorpusHalf::TuningHalf => "tune",
            CorpusHalf::ReportingHalf => "report",
        }
    }
}

impl<'a> RecallSession<'a> {
    pub fn read(name: &str, bytes: &'a [u8]) -> RecallSession<'a> {
        let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        let events = events::read_events(&lines);
        let files =
            events.iter().flat_map(|event| event.called_files()).map(|file| file.path.clone()).collect();
        let cwd = lines.iter().take(20).find_map(|line| {
            let line: serde_json::Value = serde_json::from_slice(line).ok()?;
            Some(line["cwd"].as_str()?.to_owned())
        });
        RecallSession { name: name.to_owned(), lines, events, files, cwd: cwd.unwrap_or_default() }
    }

    /// Returns the path relative to the session's folder.
    pub fn path_in_session<'p>(&self, path: &'p str) -> &'p str {
        path.strip_prefix(self.cwd.as_str()).and_then(|rest| rest.strip_prefix('/')).unwrap_or(path)
    }

    /// Returns the folder relative to the session's folder. It is empty for the session's folder itself.
    pub fn folder_in_session(&self, folder: &str) -> String {
        let folder = folder.trim_end_matches('/');
        if folder == self.cwd { String::new() } else { self.path_in_session(folder).to_owned() }
    }

    pub fn find_call(&self, id: &str) -> Option<&ToolCall> {
        self.events.iter().filter_map(|event| event.as_call()).find(|call| call.id == id)
    }

    pub fn cuts_at_compactions(&self) -> Vec<SessionCut> {
        let (mut cuts, mut first_event_since_compaction, mut is_told) = (Vec::new(), 0, false);
        for (at, event) in self.events.iter().enumerate() {
            let is_cut = match event.kind {
                EventKind::Compaction => true,
                // Some versions of the harness write no compaction line before a summary. In that case, the summary
                // marks the compaction.
                EventKind::Summary(_) => !is_told,
                _ => false,
            };
            is_told = match event.kind {
                EventKind::Compaction => true,
                EventKind::Call(_) => false,
                _ => is_told,
            };
            if is_cut {
                let summary = self.events[at..].iter().take(8).find_map(|event| match &event.kind {
                    EventKind::Summary(text) => Some(text.clone()),
                    _ => None,
                });
                let summary = summary.unwrap_or_default();
                let kind = SessionCutKind::Compaction(cuts.len());
                cuts.push(SessionCut {
                    kind,
                    line: event.line,
                    event_count_before: at,
                    first_event_since_compaction,
                    summary,
                });
                first_event_since_compaction = at;
            }
        }
        // If no file was used before a cut, a brief has no files to name, so the cut is not measured.
        cuts.retain(|cut| self.files_seen_before(cut).next().is_some());
        cuts
    }

    /// Returns up to `most` cuts, spread evenly over the session, with enough calls before and after each cut.
    pub fn artificial_cuts(&self, most: usize) -> Vec<SessionCut> {
        let is_break =
            |event: &TranscriptEvent| matches!(event.kind, EventKind::Compaction | EventKind::Summary(_));
        let mut fit = Vec::new();
        let (mut epoch, mut calls, mut since) = (0, 0, 0);
        let mut to_come = self.events.iter().filter(|event| event.as_call().is_some()).count();
        let mut running: BTreeSet<&str> = BTreeSet::new();
        for (at, event) in self.events.iter().enumerate() {
            match &event.kind {
                _ if is_break(event) => {
                    (epoch, since) = (at, 0);
                    running.clear();
                }
                EventKind::Result { call_id, .. } => {
                    running.remove(call_id.as_str());
                }
                EventKind::Call(call_id) => {
                    let is_between = calls >= MIN_CALLS_BEFORE_ARTIFICIAL_CUT
                        && since >= MIN_CALLS_SINCE_COMPACTION
                        && to_come >= MAX_CALLS_AFTER;
                    // A compaction never comes between a call and its result, so an artificial cut must not either.
                    if is_between && running.is_empty() {
                        fit.push((at, epoch));
                    }
                    calls += 1;
                    since += 1;
                    to_come -= 1;
                    running.insert(&call_id.id);
                }
                _ => {}
            }
        }
        let most = most.min(fit.len());
        let chosen = (0..most).map(|n| fit[(2 * n + 1) * fit.len() / (2 * most)]);
        chosen
            .map(|(at, epoch)| SessionCut {
                kind: SessionCutKind::Artificial,
                line: self.events[at].line,
                event_count_before: at,
                first_event_since_compaction: epoch,
                summary: String::new(),
            })
            .collect()
    }

    /// Returns the files that were used before the cut, oldest use first. A file is returned once for each use.
    pub fn files_seen_before(&self, cut: &SessionCut) -> impl Iterator<Item = &str> {
        self.events_before(cut).iter().flat_map(|event| event.called_files()).map(|file| file.path.as_str())
    }

    pub fn calls_after(&self, cut: &SessionCut, calls: usize) -> impl Iterator<Item = &ToolCall> {
        self.events[cut.event_count_before..].iter().filter_map(|event| event.as_call()).take(calls)
    }

    pub fn events_since_compaction(&self, cut: &SessionCut) -> &[TranscriptEvent] {
        &self.events[cut.first_event_since_compaction..cut.event_count_before]
    }

    pub fn events_before(&self, cut: &SessionCut) -> &[TranscriptEvent] {
        &self.events[..cut.event_count_before]
    }
}

/// Collapses white space and returns the first `COMPARED_CHARS` characters.
pub fn collapsed_beginning(text: &str) -> String {
    collapse_white_space(text).chars().take(COMPARED_CHARS).collect::<String>().trim_end().to_owned()
}

pub fn collapse_white_space(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
