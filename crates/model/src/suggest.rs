//! Lines of `indexes/relevant-files.jsonl`: the files that tools used, and those that the user confirmed.

use serde::Serialize;

use crate::event::Action;
use crate::journal::Record;

#[derive(Debug, Serialize)]
struct Line<'a> {
    timestamp: &'a str,
    file_path: &'a str,
    source: &'static str,
    confidence: f64,
    action: Action,
    #[serde(skip_serializing_if = "str::is_empty")]
    session: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    packet_id: Option<&'a str>,
}

/// Returns one line per file of a record.
pub fn lines(record: &Record) -> Vec<Vec<u8>> {
    let line = |file: &crate::journal::FileField| {
        serde_json::to_vec(&Line {
            timestamp: &record.ts,
            file_path: &file.path,
            source: "tool",
            confidence: confidence(file.action, file.guess),
            action: file.action,
            session: &record.session,
            packet_id: None,
        })
        .unwrap_or_default()
    };
    record.files.iter().map(line).collect()
}

/// Returns one line per file that the user confirmed in a packet.
pub fn confirmed(files: &[String], packet: &str, at: &str) -> Vec<Vec<u8>> {
    let line = |file: &String| {
        serde_json::to_vec(&Line {
            timestamp: at,
            file_path: file,
            source: "user",
            confidence: 1.0,
            action: Action::Mention,
            session: "",
            packet_id: Some(packet),
        })
        .unwrap_or_default()
    };
    files.iter().map(line).collect()
}

/// Returns how likely it is that the file matters: a tool's input is certain, a name in a command's text is a guess.
pub fn confidence(action: Action, guess: bool) -> f64 {
    match (action, guess) {
        (Action::Create | Action::Edit | Action::Delete, false) => 1.0,
        (Action::Read, false) => 0.8,
        (Action::Mention, false) => 0.6,
        (Action::Create | Action::Edit | Action::Delete, true) => 0.6,
        (Action::Read, true) => 0.5,
        (Action::Mention, true) => 0.3,
    }
}
