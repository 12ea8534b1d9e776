//! Payloads that no harness should send. To add a payload, add a line to `PAYLOADS`.

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use super::{SESSION_START_HOOK, judge_files, judge_output};
use crate::sandbox::{Sandbox, SandboxRoot, payload};
use crate::torture::judge::{self, Failures};
use crate::torture::prepare::{self, TOOL_DONE_HOOK_ARGV};
use crate::torture::rows;
use crate::torture::snapshot::Snapshot;
use crate::torture::{LossKind, TortureDepth, TortureTally, on_all_cores};

type MakePayloadFn = fn(&Path) -> Vec<u8>;

const HOSTILE_PAYLOADS: &[(&str, MakePayloadFn)] = &[
    ("nothing", |_| Vec::new()),
    ("blanks", |_| b" \n\t \r\n".to_vec()),
    ("null", |_| b"null".to_vec()),
    ("a list", |_| b"[1, 2, 3]".to_vec()),
    ("an empty object", |_| b"{}".to_vec()),
    ("half an object", |s| first_half_of_payload(prepare::tool_payload(s))),
    ("text", |_| b"hello".to_vec()),
    ("all byte values", |_| (0..=255).cycle().take(70_000).collect()),
    ("NULs", |_| vec![0; 100_000]),
    ("a BOM", |s| [b"\xef\xbb\xbf".as_slice(), &prepare::tool_payload(s)].concat()),
    ("UTF-16", |s| {
        String::from_utf8_lossy(&prepare::tool_payload(s)).encode_utf16().flat_map(u16::to_le_bytes).collect()
    }),
    ("invalid UTF-8 in a string", |s| replace_bytes(prepare::tool_payload(s), b"cargo", b"c\xff\xfeo")),
    ("a lone surrogate", |s| replace_bytes(prepare::tool_payload(s), b"cargo", b"\\ud800o")),
    ("two payloads", |s| [prepare::tool_payload(s), prepare::tool_payload(s)].concat()),
    ("the same key twice", |s| {
        replace_bytes(prepare::tool_payload(s), b"{\"session_id\"", b"{\"session_id\":\"x\",\"session_id\"")
    }),
    ("numbers for strings", |s| {
        payload_with_fields(s, &[("session_id", json!(7)), ("cwd", json!(1.5)), ("tool_name", json!(null))])
    }),
    ("objects for strings", |s| payload_with_fields(s, &[("session_id", json!({})), ("cwd", json!([]))])),
    ("huge numbers", |s| replace_bytes(prepare::tool_payload(s), b"false", b"1e999999999999999999999999")),
    ("100 MB of text", |s| {
        payload_with_fields(s, &[("tool_response", json!({"stdout": "x".repeat(100_000_000)}))])
    }),
    ("100 MB of brackets", |_| vec![b'['; 100_000_000]),
    ("100 MB of nothing", |_| vec![b' '; 100_000_000]),
    ("lists 100,000 deep", |s| deeply_nested_payload(s, "[", "]")),
    ("objects 100,000 deep", |s| deeply_nested_payload(s, "{\"a\":", "}")),
    ("a million keys", payload_with_many_keys),
    ("a command of 5 MB", |s| payload::bash_payload(s, "toolu_long", &"x".repeat(5_000_000))),
    ("a command of control characters", |s| {
        payload::bash_payload(s, "toolu_ctl", "\u{1b}[2J\u{0}\u{7}\r\n\u{202e}\u{feff}")
    }),
    ("session ../../x", |s| payload_with_session(s, "../../x")),
    ("session ../x", |s| payload_with_session(s, "../x")),
    ("session /tmp/x", |s| payload_with_session(s, "/tmp/thru-torture-x")),
    ("session a/b", |s| payload_with_session(s, "a/b")),
    ("session ..", |s| payload_with_session(s, "..")),
    ("session .", |s| payload_with_session(s, ".")),
    ("session of nothing", |s| payload_with_session(s, "")),
    ("session with NUL", |s| payload_with_session(s, "a\0b")),
    ("session with a line end", |s| payload_with_session(s, "a\nb")),
    ("session of 4 KB", |s| payload_with_session(s, &"a".repeat(4096))),
    ("session con", |s| payload_with_session(s, "con")),
    ("session ~", |s| payload_with_session(s, "~")),
    ("session with blanks", |s| payload_with_session(s, " a b ")),
    ("session of signs", |s| payload_with_session(s, "日本語 💥")),
    ("tool id of 1 MB", |s| payload_with_fields(s, &[("tool_use_id", json!("i".repeat(1_000_000)))])),
    ("no cwd", |s| payload_with_fields(s, &[("cwd", Value::Null)])),
    ("cwd is gone", |s| payload_with_fields(s, &[("cwd", json!("/nonexistent/place"))])),
    ("cwd is relative", |s| payload_with_fields(s, &[("cwd", json!("../project"))])),
    ("cwd with NUL", |s| payload_with_fields(s, &[("cwd", json!("/a\0b"))])),
    ("cwd of 100 KB", |s| payload_with_fields(s, &[("cwd", json!("/a".repeat(50_000)))])),
    ("another event inside", |s| payload_with_fields(s, &[("hook_event_name", json!("SessionStart"))])),
    ("transcript is a device", |s| payload_with_fields(s, &[("transcript_path", json!("/dev/zero"))])),
];

/// Wrong arguments for `thru hook`. They can occur because people also write hooks into settings by hand.
const MEANINGLESS_ARGUMENTS: &[&[&str]] = &[
    &["hook"],
    &["hook", "claude-code"],
    &["hook", "nobody", "PostToolUse"],
    &["hook", "claude-code", "NoSuchEvent"],
    &["hook", "claude-code", "../../x"],
    &["hook", "claude-code", ""],
    &["hook", "claude-code", "PostToolUse", "more", "words"],
    &["hook", "--nonsense"],
];

pub fn hostile_input(lab: &SandboxRoot, _: TortureDepth) -> Result<TortureTally> {
    let mut tally = on_all_cores(HOSTILE_PAYLOADS, |at, (name, make)| {
        let sandbox = lab.sandbox(&format!("input-{at}"))?;
        prepare::prepare_records(&sandbox)?;
        let before = Snapshot::take(&sandbox.dir)?;
        let payload = make(&sandbox.dir);
        let mut tally = TortureTally::default();
        for argv in [
            TOOL_DONE_HOOK_ARGV,
            SESSION_START_HOOK,
            &["hook", "claude-code", "Stop"],
            &["hook", "claude-code", "PreCompact"],
        ] {
            before.restore(&sandbox.dir)?;
            let wrong = try_payload(&sandbox, &before, argv, &payload)?;
            tally.count_tested_point(wrong, || format!("payload {name}: thru {}", argv.join(" ")));
        }
        std::fs::remove_dir_all(&sandbox.dir)?;
        Ok(tally)
    })?;
    let sandbox = lab.sandbox("words")?;
    prepare::prepare_records(&sandbox)?;
    let before = Snapshot::take(&sandbox.dir)?;
    for argv in MEANINGLESS_ARGUMENTS {
        before.restore(&sandbox.dir)?;
        let wrong = try_payload(&sandbox, &before, argv, &prepare::tool_payload(&sandbox.dir))?;
        tally.count_tested_point(wrong, || format!("thru {argv:?}"));
    }
    Ok(tally)
}

fn try_payload(sandbox: &Sandbox, before: &Snapshot, argv: &[&str], payload: &[u8]) -> Result<Failures> {
    let mut wrong = Vec::new();
    let output = sandbox.run_thru(argv, payload)?;
    judge_output(argv, &output, &mut wrong);
    let after = Snapshot::take(&sandbox.dir)?;
    judge_files(argv, before, &after, &mut wrong);
    // The id of a session must not become the name of a file next to root.json.
    let store = Path::new("project/.agent/context");
    let new =
        after.files().filter(|(path, _)| path.parent() == Some(store) && before.file_bytes(path).is_none());
    wrong.extend(new.map(|(path, _)| (LossKind::NoLoss, format!("{} was made", path.display()))));

    let next =
        sandbox.run_thru(TOOL_DONE_HOOK_ARGV, &payload::bash_payload(&sandbox.dir, "toolu_after", "true"))?;
    judge::judge_hook_output(&next, &mut wrong);
    if !rows::tool_call_ids(sandbox).iter().any(|id| id == "toolu_after") {
        wrong.push((LossKind::NoLoss, "the next hook wrote no line to the journal".into()));
    }
    Ok(wrong)
}

fn payload_with_fields(sandbox: &Path, fields: &[(&str, Value)]) -> Vec<u8> {
    let mut value: Value = serde_json::from_slice(&prepare::tool_payload(sandbox)).unwrap_or_default();
    for (name, field) in fields {
        value[*name] = field.clone();
    }
    value.to_string().into_bytes()
}

fn payload_with_session(sandbox: &Path, id: &str) -> Vec<u8> {
    payload_with_fields(sandbox, &[("session_id", json!(id))])
}

fn first_half_of_payload(mut payload: Vec<u8>) -> Vec<u8> {
    payload.truncate(payload.len() / 2);
    payload
}

fn replace_bytes(payload: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
    match payload.windows(from.len()).position(|window| window == from) {
        Some(at) => [&payload[..at], to, &payload[at + from.len()..]].concat(),
        None => payload,
    }
}

/// Returns a payload whose tool input is nested so deeply that a recursive reader runs out of stack.
fn deeply_nested_payload(sandbox: &Path, open: &str, close: &str) -> Vec<u8> {
    let nested = [open.repeat(100_000), "1".to_owned(), close.repeat(100_000)].concat();
    let with_mark = payload_with_fields(sandbox, &[("tool_input", json!("MARK"))]);
    replace_bytes(with_mark, b"\"MARK\"", nested.as_bytes())
}

fn payload_with_many_keys(sandbox: &Path) -> Vec<u8> {
    let keys: String = (0..1_000_000).map(|number| format!("\"k{number}\":{number},")).collect();
    let mut payload = prepare::tool_payload(sandbox);
    payload.splice(1..1, keys.into_bytes());
    payload
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_are_what_they_say() {
        let sandbox = Path::new("/s");
        assert!(
            serde_json::from_slice::<Value>(&payload_with_session(sandbox, "../x"))
                .is_ok_and(|v| v["session_id"] == "../x")
        );
        assert!(deeply_nested_payload(sandbox, "[", "]").windows(5).any(|w| w == b"[[[[["));
        assert!(
            serde_json::from_slice::<Value>(&payload_with_many_keys(sandbox))
                .is_ok_and(|v| v["k999999"] == 999_999)
        );
        assert_ne!(
            replace_bytes(prepare::tool_payload(sandbox), b"cargo", b"c\xff\xfeo"),
            prepare::tool_payload(sandbox)
        );
    }
}
