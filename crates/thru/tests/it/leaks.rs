//! Captured text is redacted as a whole before any part of it is cut out or selected. This applies to all files and
//! replies.

use serde_json::{Value, json};

use crate::env::{TestEnv, merge_fields};
use crate::secrets::random_text;

fn invented_private_key() -> Vec<String> {
    let mut lines = vec!["-----BEGIN RSA PRIVATE KEY-----".to_owned()];
    lines.extend((0..20).map(|line| random_text(700 + line, 64)));
    lines.push(format!("{}==", random_text(790, 22)));
    lines.push("-----END RSA PRIVATE KEY-----".to_owned());
    lines
}

fn key_body_lines(lines: &[String]) -> Vec<String> {
    lines[1..lines.len() - 1].iter().map(|line| line[..20].to_owned()).collect()
}

fn assert_not_leaked(env: &TestEnv, parts: &[String], shown: &str, what: &str) {
    for part in parts {
        assert_eq!(env.file_tree().files_containing(part), [""; 0], "{what}");
        assert!(!shown.contains(part), "{what}: {shown}");
    }
}

fn transcript_with_failed_call(output: &str) -> String {
    let call = json!({"type": "assistant", "uuid": "a", "timestamp": "2026-11-15T19:00:00Z", "sessionId": "s", "message": {
        "id": "m1", "role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "cat id_rsa"}}]}});
    let result = json!({"type": "user", "uuid": "b", "timestamp": "2026-11-15T19:00:01Z", "sessionId": "s", "message": {
        "role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": output}]}});
    format!("{call}\n{result}\n")
}

/// Runs a checkpoint, a brief and a packet on a transcript whose calls no hook reported. Returns the output of the
/// commands.
fn shown_after_transcript(env: &TestEnv, output: &str) -> String {
    let path = env.write_file("transcript.jsonl", transcript_with_failed_call(output));
    let common: Value = json!({"session_id": "s", "cwd": env.project_folder(), "transcript_path": path});
    env.fire_hook("Stop", &common).assert_accepted_by_harness("Stop");
    env.fire_hook("PreCompact", &merge_fields(&common, json!({"trigger": "auto"})))
        .assert_accepted_by_harness("PreCompact");
    let brief = env.fire_hook("SessionStart", &merge_fields(&common, json!({"source": "compact"})));
    env.run_thru(&["handoff", "go on"]).assert_ok();
    // Remove the transcript, which is the harness's own file, because only our files are searched.
    std::fs::remove_file(&path).unwrap();
    format!("{}{}", brief.stdout, env.run_thru(&["journal", "--session", "s", "--json"]).assert_ok().stdout)
}

#[test]
fn a_private_key_in_a_failed_call_reaches_neither_journal_nor_brief() {
    let lines = invented_private_key();
    for (name, part) in [("whole", &lines[..]), ("without BEGIN", &lines[3..]), ("without END", &lines[..12])]
    {
        // A line of the key looks like a compiler error if a file name and a line number come before it.
        for prefix in ["", "keys/a.pem:7:", "  12\u{2192}"] {
            let output: Vec<String> = part.iter().map(|line| format!("{prefix}{line}")).collect();
            let env = TestEnv::with_root();
            let shown = shown_after_transcript(&env, &format!("Exit code 1\n{}", output.join("\n")));
            assert_not_leaked(&env, &key_body_lines(&lines), &shown, &format!("{name}, {prefix:?}"));
            assert!(!env.read_journal("s").is_empty(), "the call is in the journal");
        }
    }
}

#[test]
fn a_failed_call_told_by_a_hook_leaks_no_key_either() {
    let lines = invented_private_key();
    let env = TestEnv::with_root();
    let payload = json!({"session_id": "s", "cwd": env.project_folder(), "tool_name": "Bash", "tool_input": {"command": "make test"},
        "error": format!("Exit code 2\n{}", lines[2..].join("\n"))});
    env.fire_hook("PostToolUseFailure", &payload).assert_accepted_by_harness("failure");
    assert_not_leaked(&env, &key_body_lines(&lines), "", "failed tool");
}

#[test]
fn what_a_terminal_hides_is_not_put_together_again() {
    let token = format!("{}_{}", "ghp", random_text(1, 36));
    for hidden in ["\u{1b}[1m", "\u{1b}[m\u{1b}[K", "\u{200b}", "\u{2060}"] {
        let text = format!("fatal: bad token {}{hidden}{} given", &token[..9], &token[9..]);
        let env = TestEnv::with_root();
        let common = json!({"session_id": "s", "cwd": env.project_folder(), "tool_name": "Bash"});
        env.fire_hook("UserPromptSubmit", &merge_fields(&common, json!({"prompt": text})))
            .assert_accepted_by_harness("prompt");
        env.fire_hook(
            "PostToolUseFailure",
            &merge_fields(&common, json!({"error": text, "tool_input": {"command": text}})),
        )
        .assert_accepted_by_harness("tool");
        let shown = shown_after_transcript(&env, &format!("Exit code 1\n{text}"));
        let human = env.run_thru(&["journal", "--session", "s"]).assert_ok().stdout;
        assert_not_leaked(
            &env,
            &[token.clone(), token[9..].to_owned()],
            &format!("{shown}{human}"),
            &format!("{hidden:?}"),
        );
    }
}

#[test]
fn a_mysql_password_is_covered_and_the_database_is_not() {
    let env = TestEnv::new();
    let output =
        env.thru_call(&["redact"]).with_stdin(*b"mysql -u root -ppassword1 blog_dev\n").run().assert_ok();
    assert_eq!(output.stdout, "mysql -u root -p[REDACTED:password] blog_dev\n");
}

/// Reads the rows of a labelled set, such as `{"tier": 1, "kind": "…", "text": "…", "secret": "…", "also": ["…"]}`.
fn read_labelled_rows(folder: &std::path::Path, file: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join(file)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn row_text(row: &Value) -> &str {
    row["text"].as_str().unwrap()
}

/// Returns the values that must not appear in any file.
fn secret_values(row: &Value) -> Vec<String> {
    let also = row["also"].as_array().into_iter().flatten();
    [&row["secret"]].into_iter().chain(also).map(|value| value.as_str().unwrap().to_owned()).collect()
}

fn redact_text(text: &str) -> String {
    model::redact::redact_text(text, model::redact::RedactOptions::default()).into_owned()
}

fn is_secret_found(row: &Value, text: &str) -> bool {
    let shown = model::clean::clean_text(text);
    !secret_values(row).iter().any(|value| text.contains(value) || shown.contains(value))
}

/// Measures the redaction of `secrets.jsonl` and `benign.jsonl` in the folder `$THRU_REDACT_SET`. Then passes the text
/// of each row to hooks, writes it to a transcript, and searches all our files for every raw secret.
#[test]
fn a_labelled_set_is_found_and_reaches_no_file() {
    let Some(folder) = std::env::var_os("THRU_REDACT_SET").map(std::path::PathBuf::from) else {
        eprintln!("skipped: THRU_REDACT_SET names no folder with secrets.jsonl and benign.jsonl");
        return;
    };
    let (secrets, benign) =
        (read_labelled_rows(&folder, "secrets.jsonl"), read_labelled_rows(&folder, "benign.jsonl"));
    let mut found = Vec::new();
    for (tier, least) in [(1, 0.99), (2, 0.95)] {
        let all: Vec<&Value> = secrets.iter().filter(|row| row["tier"] == tier).collect();
        let hit: Vec<&Value> =
            all.iter().copied().filter(|row| is_secret_found(row, &redact_text(row_text(row)))).collect();
        let share = hit.len() as f64 / all.len() as f64;
        eprintln!("tier {tier}: {} of {} ({share:.4})", hit.len(), all.len());
        for row in all.iter().filter(|row| !hit.contains(row)) {
            eprintln!("  missed {}: {}", row["kind"], row["text"]);
        }
        assert!(share >= least, "tier {tier}");
        if tier == 1 {
            found = hit;
        }
    }
    let changed: Vec<&Value> =
        benign.iter().filter(|row| redact_text(row_text(row)) != row_text(row)).collect();
    eprintln!("benign: {} of {} changed", changed.len(), benign.len());
    assert!(changed.len() as f64 <= 0.003 * benign.len() as f64, "{changed:#?}");

    let env = TestEnv::with_root();
    let common = json!({"session_id": "s", "cwd": env.project_folder(), "tool_name": "Bash"});
    let mut lines = String::new();
    for (n, row) in found.iter().enumerate() {
        let text = row_text(row);
        env.fire_hook("UserPromptSubmit", &merge_fields(&common, json!({"prompt": text})))
            .assert_accepted_by_harness("prompt");
        let done = json!({"tool_use_id": format!("h{n}"), "tool_input": {"command": text}, "tool_response": {"stdout": text}});
        env.fire_hook("PostToolUse", &merge_fields(&common, done)).assert_accepted_by_harness("tool");
        let failed = json!({"tool_use_id": format!("f{n}"), "error": format!("Exit code 1\n{text}"), "tool_input": {"command": "x"}});
        env.fire_hook("PostToolUseFailure", &merge_fields(&common, failed))
            .assert_accepted_by_harness("failure");
        lines.push_str(&transcript_with_failed_call(text).replace("\"t1\"", &format!("\"t{n}\"")));
    }
    let path = env.write_file("transcript.jsonl", lines);
    let told = json!({"session_id": "s2", "cwd": env.project_folder(), "transcript_path": path});
    env.fire_hook("Stop", &told).assert_accepted_by_harness("Stop");
    env.fire_hook("PreCompact", &merge_fields(&told, json!({"trigger": "auto"})))
        .assert_accepted_by_harness("PreCompact");
    let mut shown = String::new();
    for session in ["s", "s2"] {
        let start = env.fire_hook(
            "SessionStart",
            &json!({"session_id": session, "cwd": env.project_folder(), "source": "compact"}),
        );
        shown.push_str(&start.stdout);
        shown.push_str(&env.run_thru(&["handoff", "go on", "--session", session]).assert_ok().stdout);
        shown.push_str(&env.run_thru(&["journal", "--session", session]).assert_ok().stdout);
    }
    std::fs::remove_file(path).unwrap();
    for row in &found {
        for value in secret_values(row) {
            assert_eq!(env.file_tree().files_containing(&value), [""; 0], "{row}");
            assert!(!shown.contains(&value), "{row}");
        }
    }
}
