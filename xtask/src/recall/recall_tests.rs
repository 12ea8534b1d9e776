//! Tests the whole measurement on a small invented corpus. It skips nothing and needs no other files.

use serde_json::{Value, json};

use super::cut::Half;
use super::measure::{Answers, QUESTIONS, Share};
use super::*;

/// Builds a transcript line by line.
#[derive(Default)]
struct Script {
    lines: Vec<String>,
    calls: usize,
}

impl Script {
    fn line(&mut self, kind: &str, content: &Value, extra: &Value) {
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

    fn user(&mut self, text: &str) {
        self.line("user", &json!(text), &json!({}));
    }

    fn agent(&mut self, text: &str) {
        self.line("assistant", &json!([{ "type": "text", "text": text }]), &json!({}));
    }

    fn call(&mut self, tool: &str, input: &Value, failed: bool, printed: &str) {
        self.calls += 1;
        let id = format!("toolu_{}", self.calls);
        self.line(
            "assistant",
            &json!([{ "type": "tool_use", "id": id, "name": tool, "input": input }]),
            &json!({}),
        );
        let result =
            json!({ "type": "tool_result", "tool_use_id": id, "content": printed, "is_error": failed });
        self.line("user", &json!([result]), &json!({}));
    }

    fn bash(&mut self, command: &str, failed: bool, printed: &str) {
        self.call("Bash", &json!({ "command": command }), failed, printed);
    }

    fn read(&mut self, path: &str) {
        self.call("Read", &json!({ "file_path": path }), false, "text");
    }

    fn edit(&mut self, path: &str) {
        let input = json!({ "file_path": path, "old_string": "a", "new_string": "b" });
        self.call("Edit", &input, false, "The file was updated.");
    }

    fn compact(&mut self, summary: &str) {
        let n = self.lines.len();
        let boundary = json!({ "type": "system", "subtype": "compact_boundary", "uuid": format!("u{n}"), "isMeta": false });
        self.lines.push(boundary.to_string());
        self.line("user", &json!(summary), &json!({ "isCompactSummary": true }));
    }
}

/// A session about a parser: a commit, a failing test, a compaction, and the same files again.
fn session() -> Script {
    let mut script = Script::default();
    script.user("Make the parser accept trailing commas, and keep its error messages as they are");
    script.agent("I will look at the parser first.");
    for n in 0..30 {
        script.read(&format!("/home/dev/app/src/part{n}.rs"));
    }
    script.read("/home/dev/app/src/parser.rs");
    script.edit("/home/dev/app/src/parser.rs");
    script.bash(
        "git commit -am 'Accept trailing commas'",
        false,
        "[fix-parser 1a2b3c4] Accept trailing commas\n 1 file changed",
    );
    script.user("also never touch the lexer, please");
    script.bash("cargo test -p parser", true, "Exit code 101\n---- commas stdout ----\nthread 'commas' panicked at src/parser.rs:12:5:\ntest result: FAILED. 3 passed; 1 failed");
    script.agent("One test fails: the comma is eaten twice.");
    for n in 0..40 {
        script.edit(&format!("/home/dev/app/src/part{}.rs", n % 7));
    }
    script.compact("The parser is being changed. Files: src/parser.rs.");
    script.read("/home/dev/app/src/parser.rs");
    script.bash("cargo test -p parser", true, "Exit code 101\nthread 'commas' panicked at src/parser.rs:14:9:\ntest result: FAILED. 3 passed; 1 failed");
    for _ in 0..60 {
        script.edit("/home/dev/app/src/part3.rs");
    }
    script
}

fn share(answers: &Answers, name: &str) -> Share {
    answers.shares[QUESTIONS.iter().position(|known| *known == name).unwrap()]
}

#[test]
fn a_small_corpus_is_measured_whole() {
    let folder = tempfile::tempdir().unwrap();
    let text = session().lines.join("\n");
    for name in ["0a000000-0000-4000-8000-000000000000", "f0000000-0000-4000-8000-000000000000"] {
        std::fs::write(folder.path().join(format!("{name}.jsonl")), &text).unwrap();
    }
    let labelled = "0a000000-0000-4000-8000-000000000000\t1\ttoolu_34\topen";
    let (measured, _) = measure(folder.path(), "", 2, &labels::read(labelled).unwrap(), None).unwrap();
    assert_eq!(measured.len(), 6, "one compaction and two made-up cuts of each");
    assert_eq!(measured.iter().filter(|one| one.half == Half::Report).count(), 3);
    let one = &measured[0];
    let largest = one.alone.last().unwrap();
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
        assert_eq!(share(largest, name).of, of, "{name}");
    }
    // Any brief must contain these items.
    for name in ["files needed again", "commands needed again", "prompts", "edited", "open failures"] {
        let share = share(largest, name);
        assert_eq!(share.found, share.of, "{name}: {:?}", largest.missed);
    }
    let beside = one.beside.as_ref().unwrap();
    assert_eq!(share(&beside.summary, "files needed again"), Share { found: 1, of: 2 });
    assert_eq!(share(&beside.either, "files needed again").found, 2);
    assert!(one.packet.is_some());
    assert!(
        measured[3].alone[0].shares[QUESTIONS.iter().position(|q| *q == "open failures").unwrap()].of == 0
    );

    let report = report::json(&measured);
    let targets = report["totals"]["compactions"]["targets"].as_array().unwrap();
    let mut needed = targets.iter().filter(|cell| cell["question"] == "files needed again");
    assert!(needed.all(|cell| cell["verdict"] == "no verdict"), "two compactions prove nothing");
    assert!(targets.iter().any(|cell| cell["question"] == "read" && cell["verdict"] == "met"), "{targets:?}");
    assert_eq!(report["cuts"].as_array().unwrap().len(), 6);
}

#[test]
fn a_judge_gets_a_folder_for_each_compaction() {
    let folder = tempfile::tempdir().unwrap();
    let text = session().lines.join("\n");
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
    assert!(run(&args).unwrap());
    let read = |name: &str| std::fs::read_to_string(folder.path().join("judge/0a-c1").join(name)).unwrap();
    for name in ["brief-2000.txt", "brief-9500.txt", "beside.txt", "packet.txt", "summary.txt"] {
        assert!(!read(name).is_empty(), "{name}");
    }
    let after = read("after.txt");
    assert!(after.starts_with("CALL 1: Read file_path: /home/dev/app/src/parser.rs"), "{after}");
    assert!(after.contains("CALL 40:") && !after.contains("CALL 41:"), "{after}");
    assert!(!read("packet.txt").contains(&*folder.path().to_string_lossy()));
}
