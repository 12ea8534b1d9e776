//! Payloads that no harness should send. To add a payload, add a line to `PAYLOADS`.

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use super::{START, judge_files, judge_output};
use crate::sandbox::{Lab, Sandbox, payload};
use crate::torture::judge::{self, Wrongs};
use crate::torture::rows::{self, TOOL_DONE};
use crate::torture::snapshot::Snapshot;
use crate::torture::{Depth, Loss, Tally, on_all_cores};

type Make = fn(&Path) -> Vec<u8>;

const PAYLOADS: &[(&str, Make)] = &[
    ("nothing", |_| Vec::new()),
    ("blanks", |_| b" \n\t \r\n".to_vec()),
    ("null", |_| b"null".to_vec()),
    ("a list", |_| b"[1, 2, 3]".to_vec()),
    ("an empty object", |_| b"{}".to_vec()),
    ("half an object", |s| half(rows::tool(s))),
    ("text", |_| b"hello".to_vec()),
    ("all byte values", |_| (0..=255).cycle().take(70_000).collect()),
    ("NULs", |_| vec![0; 100_000]),
    ("a BOM", |s| [b"\xef\xbb\xbf".as_slice(), &rows::tool(s)].concat()),
    ("UTF-16", |s| {
        String::from_utf8_lossy(&rows::tool(s)).encode_utf16().flat_map(u16::to_le_bytes).collect()
    }),
    ("invalid UTF-8 in a string", |s| replace(rows::tool(s), b"cargo", b"c\xff\xfeo")),
    ("a lone surrogate", |s| replace(rows::tool(s), b"cargo", b"\\ud800o")),
    ("two payloads", |s| [rows::tool(s), rows::tool(s)].concat()),
    ("the same key twice", |s| {
        replace(rows::tool(s), b"{\"session_id\"", b"{\"session_id\":\"x\",\"session_id\"")
    }),
    ("numbers for strings", |s| {
        with(s, &[("session_id", json!(7)), ("cwd", json!(1.5)), ("tool_name", json!(null))])
    }),
    ("objects for strings", |s| with(s, &[("session_id", json!({})), ("cwd", json!([]))])),
    ("huge numbers", |s| replace(rows::tool(s), b"false", b"1e999999999999999999999999")),
    ("100 MB of text", |s| with(s, &[("tool_response", json!({"stdout": "x".repeat(100_000_000)}))])),
    ("100 MB of brackets", |_| vec![b'['; 100_000_000]),
    ("100 MB of nothing", |_| vec![b' '; 100_000_000]),
    ("lists 100,000 deep", |s| deep(s, "[", "]")),
    ("objects 100,000 deep", |s| deep(s, "{\"a\":", "}")),
    ("a million keys", many_keys),
    ("a command of 5 MB", |s| payload::bash(s, "toolu_long", &"x".repeat(5_000_000))),
    ("a command of control characters", |s| {
        payload::bash(s, "toolu_ctl", "\u{1b}[2J\u{0}\u{7}\r\n\u{202e}\u{feff}")
    }),
    ("session ../../x", |s| session(s, "../../x")),
    ("session ../x", |s| session(s, "../x")),
    ("session /tmp/x", |s| session(s, "/tmp/thru-torture-x")),
    ("session a/b", |s| session(s, "a/b")),
    ("session ..", |s| session(s, "..")),
    ("session .", |s| session(s, ".")),
    ("session of nothing", |s| session(s, "")),
    ("session with NUL", |s| session(s, "a\0b")),
    ("session with a line end", |s| session(s, "a\nb")),
    ("session of 4 KB", |s| session(s, &"a".repeat(4096))),
    ("session con", |s| session(s, "con")),
    ("session ~", |s| session(s, "~")),
    ("session with blanks", |s| session(s, " a b ")),
    ("session of signs", |s| session(s, "日本語 💥")),
    ("tool id of 1 MB", |s| with(s, &[("tool_use_id", json!("i".repeat(1_000_000)))])),
    ("no cwd", |s| with(s, &[("cwd", Value::Null)])),
    ("cwd is gone", |s| with(s, &[("cwd", json!("/nonexistent/place"))])),
    ("cwd is relative", |s| with(s, &[("cwd", json!("../project"))])),
    ("cwd with NUL", |s| with(s, &[("cwd", json!("/a\0b"))])),
    ("cwd of 100 KB", |s| with(s, &[("cwd", json!("/a".repeat(50_000)))])),
    ("another event inside", |s| with(s, &[("hook_event_name", json!("SessionStart"))])),
    ("transcript is a device", |s| with(s, &[("transcript_path", json!("/dev/zero"))])),
];

/// Wrong arguments of `thru hook`, because people also write hooks into settings by hand.
const WORDS: &[&[&str]] = &[
    &["hook"],
    &["hook", "claude-code"],
    &["hook", "nobody", "PostToolUse"],
    &["hook", "claude-code", "NoSuchEvent"],
    &["hook", "claude-code", "../../x"],
    &["hook", "claude-code", ""],
    &["hook", "claude-code", "PostToolUse", "more", "words"],
    &["hook", "--nonsense"],
];

pub fn input(lab: &Lab, _: Depth) -> Result<Tally> {
    let mut tally = on_all_cores(PAYLOADS, |at, (name, make)| {
        let sandbox = lab.sandbox(&format!("input-{at}"))?;
        rows::lived_in(&sandbox)?;
        let before = Snapshot::take(&sandbox.dir)?;
        let payload = make(&sandbox.dir);
        let mut tally = Tally::default();
        for argv in
            [TOOL_DONE, START, &["hook", "claude-code", "Stop"], &["hook", "claude-code", "PreCompact"]]
        {
            before.restore(&sandbox.dir)?;
            let wrong = one(&sandbox, &before, argv, &payload)?;
            tally.point(wrong, || format!("payload {name}: thru {}", argv.join(" ")));
        }
        std::fs::remove_dir_all(&sandbox.dir)?;
        Ok(tally)
    })?;
    let sandbox = lab.sandbox("words")?;
    rows::lived_in(&sandbox)?;
    let before = Snapshot::take(&sandbox.dir)?;
    for argv in WORDS {
        before.restore(&sandbox.dir)?;
        let wrong = one(&sandbox, &before, argv, &rows::tool(&sandbox.dir))?;
        tally.point(wrong, || format!("thru {argv:?}"));
    }
    Ok(tally)
}

fn one(sandbox: &Sandbox, before: &Snapshot, argv: &[&str], payload: &[u8]) -> Result<Wrongs> {
    let mut wrong = Vec::new();
    let output = sandbox.run(argv, payload)?;
    judge_output(argv, &output, &mut wrong);
    let after = Snapshot::take(&sandbox.dir)?;
    judge_files(argv, before, &after, &mut wrong);
    // The name of a session must not become the name of a file next to root.json.
    let store = Path::new("project/.agent/context");
    let new = after.files().filter(|(path, _)| path.parent() == Some(store) && before.file(path).is_none());
    wrong.extend(new.map(|(path, _)| (Loss::None, format!("{} was made", path.display()))));

    let next = sandbox.run(TOOL_DONE, &payload::bash(&sandbox.dir, "toolu_after", "true"))?;
    judge::hook_output(&next, &mut wrong);
    if !rows::journal_ids(sandbox).iter().any(|id| id == "toolu_after") {
        wrong.push((Loss::None, "the next hook left no line in the journal".into()));
    }
    Ok(wrong)
}

fn with(sandbox: &Path, fields: &[(&str, Value)]) -> Vec<u8> {
    let mut value: Value = serde_json::from_slice(&rows::tool(sandbox)).unwrap_or_default();
    for (name, field) in fields {
        value[*name] = field.clone();
    }
    value.to_string().into_bytes()
}

fn session(sandbox: &Path, id: &str) -> Vec<u8> {
    with(sandbox, &[("session_id", json!(id))])
}

fn half(mut payload: Vec<u8>) -> Vec<u8> {
    payload.truncate(payload.len() / 2);
    payload
}

fn replace(payload: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
    match payload.windows(from.len()).position(|window| window == from) {
        Some(at) => [&payload[..at], to, &payload[at + from.len()..]].concat(),
        None => payload,
    }
}

/// Returns a payload whose tool input is nested so deeply that a recursive reader runs out of stack.
fn deep(sandbox: &Path, open: &str, close: &str) -> Vec<u8> {
    let nested = [open.repeat(100_000), "1".to_owned(), close.repeat(100_000)].concat();
    let with_mark = with(sandbox, &[("tool_input", json!("MARK"))]);
    replace(with_mark, b"\"MARK\"", nested.as_bytes())
}

fn many_keys(sandbox: &Path) -> Vec<u8> {
    let keys: String = (0..1_000_000).map(|number| format!("\"k{number}\":{number},")).collect();
    let mut payload = rows::tool(sandbox);
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
            serde_json::from_slice::<Value>(&session(sandbox, "../x"))
                .is_ok_and(|v| v["session_id"] == "../x")
        );
        assert!(deep(sandbox, "[", "]").windows(5).any(|w| w == b"[[[[["));
        assert!(serde_json::from_slice::<Value>(&many_keys(sandbox)).is_ok_and(|v| v["k999999"] == 999_999));
        assert_ne!(replace(rows::tool(sandbox), b"cargo", b"c\xff\xfeo"), rows::tool(sandbox));
    }
}
