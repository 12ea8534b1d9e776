//! The lines of `indexes/relevant-files.jsonl`: files that tools used, and files that the user confirmed.

use serde::Serialize;

use crate::event::FileAction;
use crate::journal::JournalRecord;

#[derive(Debug, Serialize)]
struct RelevantFileLine<'a> {
    timestamp: &'a str,
    file_path: &'a str,
    source: &'static str,
    confidence: f64,
    action: FileAction,
    #[serde(skip_serializing_if = "str::is_empty")]
    session: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    packet_id: Option<&'a str>,
}

/// Returns one line for each file in a record.
pub fn relevant_file_lines(record: &JournalRecord) -> Vec<Vec<u8>> {
    let line = |file: &crate::journal::RecordedFile| {
        serde_json::to_vec(&RelevantFileLine {
            timestamp: &record.ts,
            file_path: &file.path,
            source: "tool",
            confidence: file_confidence(file.action, file.guess),
            action: file.action,
            session: &record.session,
            packet_id: None,
        })
        .unwrap_or_default()
    };
    record.files.iter().map(line).collect()
}

/// Returns one line for each file that the user confirmed in a packet.
pub fn index_lines_of_confirmed_files(files: &[String], packet: &str, at: &str) -> Vec<Vec<u8>> {
    let line = |file: &String| {
        serde_json::to_vec(&RelevantFileLine {
            timestamp: at,
            file_path: file,
            source: "user",
            confidence: 1.0,
            action: FileAction::Mention,
            session: "",
            packet_id: Some(packet),
        })
        .unwrap_or_default()
    };
    files.iter().map(line).collect()
}

/// Returns how likely a file is to be relevant. A file in a tool's input is certain to have been used, whereas a name
/// in the text of a command is only a guess.
pub fn file_confidence(action: FileAction, guess: bool) -> f64 {
    match (action, guess) {
        (FileAction::Create | FileAction::Edit | FileAction::Delete, false) => 1.0,
        (FileAction::Read, false) => 0.8,
        (FileAction::Mention, false) => 0.6,
        (FileAction::Create | FileAction::Edit | FileAction::Delete, true) => 0.6,
        (FileAction::Read, true) => 0.5,
        (FileAction::Mention, true) => 0.3,
    }
}
