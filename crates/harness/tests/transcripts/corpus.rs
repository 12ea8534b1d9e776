//! Runs the readers on whole transcripts (captured transcripts and real sessions) in a folder next to the repository,
//! if that folder exists. The results are compared with the results of a full JSON parser.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use harness::transcript::{ReadLine, each_object_in_line};
use model::transcript::{ItemDedup, TranscriptItem, TranscriptLineKind};
use serde_json::Value;

use super::READERS;

/// The id of each call, and the files in the call's input.
type Calls = Vec<(String, Vec<String>)>;
/// The id of each result's call, and whether the call failed.
type Results = Vec<(String, bool)>;

#[derive(Debug, Default)]
struct TranscriptTally {
    kinds: BTreeMap<String, usize>,
    unknown: Vec<String>,
    prompts: Vec<String>,
    calls: Calls,
    results: Results,
    unexplained: usize,
}

fn tally_transcript(read: ReadLine, transcript: &[u8]) -> TranscriptTally {
    let mut tally = TranscriptTally::default();
    let mut dedup = ItemDedup::default();
    for line in transcript.split(|byte| *byte == b'\n') {
        each_object_in_line(read, line, |line| {
            match &line.kind {
                TranscriptLineKind::Known(name) => *tally.kinds.entry((*name).to_owned()).or_default() += 1,
                other => tally.unknown.push(format!("{other:?}")),
            }
            let is_main = line.is_of_main_agent();
            for item in line.items.into_iter().filter_map(|item| dedup.keep_if_new(item)) {
                match item {
                    TranscriptItem::Prompt { text, .. } => tally.prompts.push(text.into_owned()),
                    TranscriptItem::Call(call) if is_main => {
                        let files = call.files.into_iter().map(|file| file.path.into_owned()).collect();
                        tally.calls.push((call.id.unwrap_or_default().into_owned(), files));
                    }
                    TranscriptItem::Result(result) if is_main => {
                        let says_why = result.exit_code.is_some()
                            || result.is_refused_by_user
                            || !result.text.read().is_empty();
                        tally.unexplained += usize::from(result.failed && !says_why);
                        tally.results.push((result.call_id.unwrap_or_default().into_owned(), result.failed));
                    }
                    _ => {}
                }
            }
        });
    }
    tally
}

/// Returns the calls and results that a full JSON parser finds.
fn parse_with_serde(transcript: &[u8]) -> (Calls, Results) {
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    for line in transcript.split(|byte| *byte == b'\n') {
        let Ok(line) = serde_json::from_slice::<Value>(line) else { continue };
        let is_main = line["isSidechain"] != true
            && matches!(line["type"].as_str(), Some("user" | "assistant" | "message"));
        for block in line["message"]["content"].as_array().into_iter().flatten().filter(|_| is_main) {
            match block["type"].as_str() {
                Some("tool_use") => {
                    let files =
                        ["file_path", "notebook_path"].iter().filter_map(|key| block["input"][key].as_str());
                    calls.push((text(&block["id"]), files.map(str::to_owned).collect()));
                }
                Some("tool_result") => results.push((text(&block["tool_use_id"]), block["is_error"] == true)),
                _ => {}
            }
        }
    }
    (calls, results)
}

fn check_against_oracle(read: ReadLine, transcript: &[u8]) -> TranscriptTally {
    let tally = tally_transcript(read, transcript);
    let (calls, results) = parse_with_serde(transcript);
    assert_eq!(tally.calls, calls);
    assert_eq!(tally.results, results);
    assert_eq!(tally.unexplained, 0);
    for prompt in &tally.prompts {
        assert!(!prompt.trim().is_empty());
        for foreign in [
            "<system-reminder>",
            "<local-command",
            "<task-notification>",
            "<command-",
            "Stop hook feedback",
            "[Request int",
            "This session is being cont",
        ] {
            assert!(!prompt.starts_with(foreign), "{prompt}");
        }
    }
    tally
}

fn files_next_to_repository(folder: &str, ending: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(folder);
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!("skipped: {} is not there", folder.display());
        return Vec::new();
    };
    let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.to_string_lossy().ends_with(ending));
    files.sort();
    files
}

#[test]
fn captured_transcripts_hold_nothing_unknown() {
    let [claude_code, droid] = READERS;
    let cases = [
        (claude_code, files_next_to_repository("harnesses/payloads/claude-code/transcripts", ".jsonl")),
        (droid, files_next_to_repository("harnesses/payloads/transcripts", "droid-session-d2.jsonl")),
    ];
    for ((harness, read), files) in cases {
        for path in files {
            let tally = check_against_oracle(read, &std::fs::read(&path).unwrap());
            println!("{harness} {}: {:?}, {:?}", path.display(), tally.kinds, tally.prompts);
            assert_eq!(tally.unknown, [] as [&str; 0], "{}", path.display());
        }
    }
}

#[test]
fn real_sessions_give_what_a_full_parser_sees() {
    for path in files_next_to_repository("corpus/claude-code", ".jsonl.gz") {
        let Ok(output) = Command::new("gzip").arg("-dc").arg(&path).output() else {
            println!("skipped: no gzip");
            return;
        };
        assert!(output.status.success());
        let tally = check_against_oracle(READERS[0].1, &output.stdout);
        println!(
            "{}: {} calls, {} prompts, {:?}",
            path.display(),
            tally.calls.len(),
            tally.prompts.len(),
            tally.kinds
        );
        assert_eq!(tally.unknown, [] as [&str; 0], "{}", path.display());
        assert!(!tally.prompts.is_empty() && !tally.calls.is_empty());
    }
}
