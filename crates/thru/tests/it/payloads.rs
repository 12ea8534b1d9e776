//! Tests with payloads that no harness should send. The hook exits with 0, prints nothing that a harness would reject,
//! and keeps the journal intact.

use serde_json::{Value, json};

use crate::env::{TestEnv, event_of_fixture, fixture_names};

const SESSION_ID: &str = "9487a9f7-611a-47e9-8202-df72ea246773";

/// Returns one value of every JSON type except the type of `value`.
fn values_of_other_types(value: &Value) -> Vec<Value> {
    let all =
        [json!(null), json!(true), json!(-7.5e300), json!("text"), json!([[1], {}]), json!({"a": {"b": 1}})];
    all.into_iter().filter(|other| std::mem::discriminant(other) != std::mem::discriminant(value)).collect()
}

/// Fires `payload` and asserts that a harness would accept the output.
fn fire_payload(env: &TestEnv, event: &str, payload: impl Into<Vec<u8>>, about: &str) {
    env.hook_call(event, payload).run().assert_accepted_by_harness(about);
}

fn count_failure_receipts(env: &TestEnv) -> usize {
    env.read_receipts().iter().filter(|receipt| receipt["outcome"] == "failed").count()
}

/// Fires every captured payload with `change` applied to each of its fields. Each payload leads to one journal line or,
/// if the session is missing, to a receipt of a failure.
fn fire_with_each_field_changed(change: impl Fn(&Value, &str) -> Vec<Value>) {
    let env = TestEnv::with_root();
    let (mut lines, mut failed) = (0, 0);
    for name in fixture_names() {
        let payload = env.captured_payload(&name);
        for field in payload.as_object().unwrap().keys() {
            for changed in change(&payload, field) {
                fire_payload(
                    &env,
                    event_of_fixture(&name),
                    changed.to_string(),
                    &format!("{name}, {field}: {changed}"),
                );
                match field.as_str() {
                    "session_id" => failed += 1,
                    _ => lines += 1,
                }
            }
        }
    }
    assert_eq!((env.count_journal_lines(), count_failure_receipts(&env)), (lines, failed));
}

#[test]
fn any_field_may_be_missing() {
    fire_with_each_field_changed(|payload, field| {
        let mut changed = payload.clone();
        changed.as_object_mut().unwrap().remove(field);
        vec![changed]
    });
}

#[test]
fn any_field_may_be_of_any_other_type() {
    fire_with_each_field_changed(|payload, field| {
        let with = |value| {
            let mut changed = payload.clone();
            changed[field] = value;
            changed
        };
        values_of_other_types(&payload[field]).into_iter().map(with).collect()
    });
}

#[test]
fn unknown_fields_are_ignored() {
    let env = TestEnv::with_root();
    for name in fixture_names() {
        let mut payload = env.captured_payload(&name);
        let before = env.count_journal_lines();
        payload["from_the_future"] = json!({"deep": [1, 2, {"x": null}]});
        payload[""] = json!("");
        fire_payload(&env, event_of_fixture(&name), payload.to_string(), &name);
        assert_eq!(env.count_journal_lines(), before + 1, "{name}");
    }
}

#[test]
fn a_payload_may_be_cut_off_anywhere() {
    let env = TestEnv::with_root();
    for name in fixture_names() {
        let text = env.captured_payload(&name).to_string();
        for tenth in 0..10 {
            let cut = text.floor_char_boundary(text.len() * tenth / 10);
            fire_payload(&env, event_of_fixture(&name), &text[..cut], &format!("{name} cut at {cut}"));
        }
    }
    assert!(env.count_journal_lines() > 500, "what stands before the tear is kept");
}

#[test]
fn one_payload_cut_off_at_every_byte() {
    let env = TestEnv::with_root();
    let text = env.captured_payload("PostToolUse.Edit").to_string();
    let session_ends = text.find(SESSION_ID).unwrap() + SESSION_ID.len() + 1;
    for cut in 0..text.len() {
        fire_payload(&env, "PostToolUse", &text.as_bytes()[..cut], &format!("cut at {cut}"));
    }
    assert_eq!(
        env.count_journal_lines(),
        text.len() - session_ends,
        "a line as soon as the session is known"
    );
    assert_eq!(count_failure_receipts(&env), text.len(), "and every tear is on a receipt");
}

#[test]
fn bytes_that_are_no_payload() {
    let env = TestEnv::with_root();
    let junk: [&[u8]; 13] = [
        b"",
        b" \r\n\t",
        b"[]",
        b"{}",
        b"null",
        b"7",
        b"\"text\"",
        b"{\"session_id\"",
        b"\xff\xfe{\x00}\x00",
        b"\xef\xbb\xbf",
        b"\x00\x00\x00",
        b"<html>",
        b"[{\"session_id\":\"s\"}]",
    ];
    for (at, bytes) in junk.into_iter().enumerate() {
        fire_payload(&env, "Stop", bytes, &String::from_utf8_lossy(bytes));
        assert_eq!(
            (env.count_journal_lines(), count_failure_receipts(&env)),
            (0, at + 1),
            "{:?}",
            String::from_utf8_lossy(bytes)
        );
    }
}

#[test]
fn odd_but_readable_payloads_are_read() {
    let env = TestEnv::with_root();
    let cwd = env.project_folder().display().to_string();
    let plain = format!("{{\"session_id\":\"s\",\"cwd\":\"{cwd}\",\"prompt\":\"hi\"}}");
    let with_prompt = |prompt: &[u8]| {
        let mut bytes = format!("{{\"session_id\":\"s\",\"cwd\":\"{cwd}\",\"prompt\":\"").into_bytes();
        bytes.extend_from_slice(prompt);
        bytes.extend_from_slice(b"\"}");
        bytes
    };
    let cases: [(&str, Vec<u8>, &str); 8] = [
        ("a byte order mark", format!("\u{feff}{plain}").into_bytes(), "hi"),
        ("CRLF", plain.replace(',', ",\r\n").into_bytes(), "hi"),
        ("something behind it", format!("{plain}\n{plain}").into_bytes(), "hi"),
        (
            "a key twice",
            plain.replace("\"prompt\":\"hi\"", "\"prompt\":\"no\",\"prompt\":\"hi\"").into_bytes(),
            "hi",
        ),
        ("invalid UTF-8", with_prompt(b"h\xffi"), "h\u{fffd}i"),
        ("half a surrogate pair", with_prompt(b"h\\ud83di"), "h\u{fffd}i"),
        ("escapes", with_prompt(b"\\u0068\\u0069"), "hi"),
        ("control characters", with_prompt(b"h\\u0000\\u001bi"), "h\u{0}\u{1b}i"),
    ];
    for (at, (about, bytes, text)) in cases.into_iter().enumerate() {
        fire_payload(&env, "UserPromptSubmit", bytes, about);
        let journal = env.read_journal("s");
        assert_eq!(journal.len(), at + 1, "{about}");
        let written = journal[at]["text"].as_str().unwrap();
        // The number of consecutive replacement characters does not matter.
        let squeezed: String =
            written.split('\u{fffd}').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\u{fffd}");
        assert_eq!(squeezed, text, "{about}");
    }
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    let env = TestEnv::with_root();
    let head = format!("\"session_id\":\"s\",\"cwd\":\"{}\"", env.project_folder().display());
    let arrays = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let objects = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    let mut lines = 0;
    for deep in [&arrays, &objects] {
        for field in ["unknown", "tool_input", "tool_response", "prompt", "agent_id"] {
            let payload = format!("{{{head},\"tool_name\":\"Write\",\"{field}\":{deep}}}");
            fire_payload(&env, "PostToolUse", payload, field);
            lines += 1;
            assert_eq!(env.read_journal("s").len(), lines, "{field}");
        }
        fire_payload(&env, "PostToolUse", deep.as_bytes(), "nothing but depth");
        fire_payload(&env, "PostToolUse", &deep.as_bytes()[..deep.len() / 2], "depth that never ends");
    }
}

#[test]
fn a_text_of_megabytes_is_cut_and_the_line_stays_small() {
    let env = TestEnv::with_root();
    let large = "x y ".repeat(3 * 1024 * 1024 / 4);
    let mut lines = 0;
    for (event, field) in
        [("UserPromptSubmit", "prompt"), ("PostToolUseFailure", "error"), ("Stop", "unknown")]
    {
        let payload = json!({"session_id": "s", "cwd": env.project_folder(), "tool_name": "Bash", field: large,
                             "tool_input": {"command": large}, "tool_response": {"stdout": large}});
        fire_payload(&env, event, payload.to_string(), field);
        lines += 1;
        let line = env.read_journal("s").pop().unwrap().to_string();
        assert_eq!(env.read_journal("s").len(), lines, "{field}");
        assert!(line.len() < 100 * 1024, "{field}: {} bytes", line.len());
    }
}

#[test]
fn a_payload_that_is_one_huge_text_leaves_a_small_receipt() {
    let env = TestEnv::with_root();
    fire_payload(&env, "Stop", format!("\"{}\"", "x".repeat(1024 * 1024)), "a string");
    let receipt = env.read_receipts().pop().unwrap().to_string();
    assert!(receipt.len() < 4096, "{} bytes", receipt.len());
}

#[test]
fn a_payload_beyond_every_limit_is_swallowed_whole() {
    let env = TestEnv::with_root();
    let payload = json!({"session_id": "s", "cwd": env.project_folder(), "z": "x".repeat(20 * 1024 * 1024)});
    fire_payload(&env, "Stop", payload.to_string(), "20 MB");
}

#[test]
fn whoever_leaves_the_pipe_open_is_not_waited_for() {
    let env = TestEnv::with_root();
    let whole = env.captured_payload("PostToolUse.Edit").to_string();
    let half = &whole[..whole.len() / 2];
    for (text, about) in [(whole.as_str(), "whole"), (half, "half"), ("", "nothing")] {
        env.hook_call("PostToolUse", text).with_stdin_left_open().run().assert_silent(about);
    }
    assert_eq!(
        (env.count_journal_lines(), count_failure_receipts(&env)),
        (2, 2),
        "{:?}",
        env.read_receipts()
    );
}

#[test]
fn input_without_end_is_left() {
    let env = TestEnv::with_root();
    let words = ["-c", "exec \"$0\" \"$@\" </dev/zero"].map(std::ffi::OsStr::new);
    let output = env.hook_call("PostToolUse", "").through_program("sh", &words).run();
    output.assert_silent("/dev/zero");
    assert_eq!((env.count_journal_lines(), count_failure_receipts(&env)), (0, 1));
}
