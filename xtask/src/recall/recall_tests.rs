//! Tests the whole measurement on a small invented corpus, which needs no other files.

use serde_json::{Value, json};

use super::cut::CorpusHalf;
use super::measure::{FoundShare, QUESTION_NAMES, RecallAnswers};
use super::*;

#[derive(Default)]
struct TranscriptScript {
    lines: Vec<String>,
    calls: usize,
}

impl TranscriptScript {
    fn push_line(&mut self, kind: &str, content: &Value, extra: &Value) {
        let n = self.lines.len();
        let mut line = json!({
            "type": kind, "uuid": format!("u{n}"), "isSidechain": false, "cwd": "/home/dev/app",
            "gitBranch": "fix-parser", "sessionId": "made-up",
            "timestamp": format!("2026-03-01T10:{:02}:{:02}.000Z", n / 60 % 60, n % 60),
            "message": { "role": if kind == "user" { "user" } else { "assistant" }, "content": content },
        });
        if let (Some(line), Value::Object(extra)) = (line.as_object_mut(), extra) {
            line.extend(extra.clone());
        }
        self.lines.push(line.to_string());
    }

    fn push_user(&mut self, text: &str) {
        self.push_line("user", &json!(text), &json!({}));
    }

    fn push_agent(&mut self, text: &str) {
        self.push_line("assistant", &json!([{ "type": "text", "text": text }]), &json!({}));
    }

    fn push_call(&mut self, tool: &str, input: &Value, failed: bool, printed: &str) {
        self.calls += 1;
        let id = format!("toolu_{}", self.calls);
        self.push_line(
            "assistant",
            &json!([{ "type": "tool_use", "id": id, "name": tool, "input": input }]),
            &json!({}),
        );
        let result =
            json!({ "type": "tool_result", "tool_use_id": id, "content": printed, "is_error": failed });
        self.push_line("user", &json!([result]), &json!({}));
    }

    fn push_bash(&mut self, command: &str, failed: bool, printed: &str) {
        self.push_call("Bash", &json!({ "command": command }), failed, printed);
    }

    fn push_read(&mut self, path: &str) {
        self.push_call("Read", &json!({ "file_path": path }), false, "text");
    }

    fn push_edit(&mut self, path: &str) {
        let input = json!({ "file_path": path, "old_string": "a", "new_string": "b" });
        self.push_call("Edit", &input, false, "The file was updated.");
    }

    fn push_compaction(&mut self, summary: &str) {
        let n = self.lines.len();
        let boundary = json!({ "type": "system", "subtype": "compact_boundary", "uuid": format!("u{n}"), "isMeta": false });
        self.lines.push(boundary.to_string());
        self.push_line("user", &json!(summary), &json!({ "isCompactSummary": true }));
    }
}

/// Returns a session about a parser: a commit, a failing test, a compaction, and then the same files again.
fn parser_session() -> TranscriptScript {
    let mut script = TranscriptScript::default();
    script.push_user("Make the parser accept trailing commas, and keep its error messages as they are");
    script.push_agent("I will look at the parser first.");
    for n in 0..30 {
        script.push_read(&format!("/home/dev/app/src/part{n}.rs"));
    }
    script.push_read("/home/dev/app/src/parser.rs");
    script.push_edit("/home/dev/app/src/parser.rs");
    script.push_bash(
        "git commit -am 'Accept trailing commas'",
        false,
        "[fix-parser 1a2b3c4] Accept trailing commas\n 1 file changed",
    );
    script.push_user("also never touch the lexer, please");
    script.push_bash("cargo test -p parser", true, "Exit code 101\n---- commas stdout ----\nthread 'commas' panicked at src/parser.rs:12:5:\ntest result: FAILED. 3 passed; 1 failed");
    script.push_agent("One test fails: the comma is eaten twice.");
    for n in 0..40 {
        script.push_edit(&format!("/home/dev/app/src/part{}.rs", n % 7));
    }
    script.push_compaction("The parser is being changed. Files: src/parser.rs.");
    script.push_read("/home/dev/app/src/parser.rs");
    script.push_bash("cargo test -p parser", true, "Exit code 101\nthread 'commas' panicked at src/parser.rs:14:9:\ntest result: FAILED. 3 passed; 1 failed");
    for _ in 0..60 {
        script.push_edit("/home/dev/app/src/part3.rs");
    }
    script
}

fn share_of_question(answers: &RecallAnswers, name: &str) -> FoundShare {
    answers.shares[QUESTION_NAMES.iter().position(|known| *known == name).unwrap()]
}

#[test]
fn a_small_corpus_is_measured_whole() {
    let folder = tempfile::tempdir().unwrap();
    let text = parser_session().lines.join("\n");
    for name in ["0a000000-0000-4000-8000-000000000000", "f0000000-0000-4000-8000-000000000000"] {
        std::fs::write(folder.path().join(format!("{name}.jsonl")), &text).unwrap();
    }
    let labelled = "0a000000-0000-4000-8000-000000000000\t1\ttoolu_34\topen";
    let (measured, _) =
        measure_transcripts(folder.path(), "", 2, &labels::parse_labels(labelled).unwrap(), None).unwrap();
    assert_eq!(measured.len(), 6, "one compaction and two made-up cuts of each");
    assert_eq!(measured.iter().filter(|one| one.half == CorpusHalf::ReportingHalf).count(), 3);
    let one = &measured[0];
    let largest = one.brief_alone.last().unwrap();
    // The number of wanted items does not depend on the brief.
    for (name, of) in [
        ("files needed again", 2),
        ("commands needed again", 1),
        ("newest prompt", 1),
        ("prompts", 2),
        ("open failures", 1),
        ("edited", 8),
        ("outside effects, with id", 1),
        ("errors met again", 1),
    ] {
        assert_eq!(share_of_question(largest, name).total, of, "{name}");
    }
    // Every brief must contain these items.
    for name in ["files needed again", "commands needed again", "prompts", "edited", "open failures"] {
        let share = share_of_question(largest, name);
        assert_eq!(share.found, share.total, "{name}: {:?}", largest.missed);
    }
    let beside = one.with_summary.as_ref().unwrap();
    assert_eq!(share_of_question(&beside.summary, "files needed again"), FoundShare { found: 1, total: 2 });
    assert_eq!(share_of_question(&beside.summary_or_brief, "files needed again").found, 2);
    assert!(one.packet.is_some());
    assert!(
        measured[3].brief_alone[0].shares[QUESTION_NAMES.iter().position(|q| *q == "open failures").unwrap()]
            .total
            == 0
    );

    let report = report::report_json(&measured);
    let targets = report["totals"]["compactions"]["targets"].as_array().unwrap();
    let mut needed = targets.iter().filter(|cell| cell["question"] == "files needed again");
    assert!(needed.all(|cell| cell["verdict"] == "no verdict"), "two compactions prove nothing");
    assert!(targets.iter().any(|cell| cell["question"] == "read" && cell["verdict"] == "met"), "{targets:?}");
    assert_eq!(report["cuts"].as_array().unwrap().len(), 6);
}

#[test]
fn a_judge_gets_a_folder_for_each_compaction() {
    let folder = tempfile::tempdir().unwrap();
    let text = parser_session().lines.join("\n");
    std::fs::write(folder.path().join("0a.jsonl"), text).unwrap();
    let args = Args {
        folder: folder.path().to_owned(),
        json: false,
        misses: false,
        cuts: 0,
        dump: Some(folder.path().join("judge")),
        only: None,
        scoring: None,
        weights: Vec::new(),
        tune: false,
        fixed_order: false,
    };
    assert!(run_recall(&args).unwrap());
    let read = |name: &str| std::fs::read_to_string(folder.path().join("judge/0a-c1").join(name)).unwrap();
    for name in ["brief-2000.txt", "brief-9500.txt", "beside.txt", "packet.txt", "summary.txt"] {
        assert!(!read(name).is_empty(), "{name}");
    }
    let after = read("after.txt");
    assert!(after.starts_with("CALL 1: Read file_path: /home/dev/app/src/parser.rs"), "{after}");
    assert!(after.contains("CALL 40:") && !after.contains("CALL 41:"), "{after}");
    assert!(!read("packet.txt").contains(&*folder.path().to_string_lossy()));
}
