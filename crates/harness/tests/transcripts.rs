//! Tests the transcript readers. Captured lines must give the expected items, and every kind of damage is tried.
//!
//! `THRU_BLESS=1` rewrites the expectations.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are tests")]

#[path = "transcripts/corpus.rs"]
mod corpus;
#[path = "transcripts/damage.rs"]
mod damage;

use std::path::{Path, PathBuf};

use harness::transcript::{ReadLine, each_object_in_line};
use model::transcript::{TranscriptLine, TranscriptLineAuthor, TranscriptLineKind};

const READERS: [(&str, ReadLine); 2] = [
    ("claude-code", harness::claude_code::transcript::read_line),
    ("droid", harness::droid::transcript::read_line),
];

fn fixture_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transcripts").join(name)
}

fn captured_lines(harness: &str) -> String {
    std::fs::read_to_string(fixture_path(&format!("{harness}.jsonl"))).unwrap()
}

fn describe_line(line: &TranscriptLine) -> String {
    let kind = match &line.kind {
        TranscriptLineKind::Known(name) => (*name).to_owned(),
        other => format!("{other:?}"),
    };
    let chain = match &line.author {
        TranscriptLineAuthor::Main => String::new(),
        TranscriptLineAuthor::SubAgent { agent } => format!(" (side: {})", agent.as_deref().unwrap_or("?")),
    };
    let items: String = line.items.iter().map(|item| format!("    {item:?}\n")).collect();
    format!("{kind}{chain}\n{items}")
}

#[test]
fn captured_lines_give_what_they_say() {
    for (harness, read) in READERS {
        let mut found = String::new();
        for line in captured_lines(harness).lines() {
            each_object_in_line(read, line.as_bytes(), |line| found.push_str(&describe_line(&line)));
        }
        let expected = fixture_path(&format!("{harness}.expected"));
        if std::env::var_os("THRU_BLESS").is_some() {
            std::fs::write(&expected, &found).unwrap();
        }
        let expected = std::fs::read_to_string(expected).unwrap();
        for (found, expected) in found.lines().zip(expected.lines()) {
            assert_eq!(found, expected, "{harness}");
        }
        assert_eq!(found.lines().count(), expected.lines().count(), "{harness}");
        assert!(!expected.contains("Unknown") && !expected.contains("Torn"), "{harness}");
    }
}
