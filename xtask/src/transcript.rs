//! Generates transcripts of any size in the formats of the harnesses.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use crate::sandbox::{SANDBOX_SESSION_ID, payload};

/// The size of a block, in bytes. A large file consists of equal blocks. A block is larger than what a hook reads at
/// once, so a hook reads the same text at the end of every large file.
const TRANSCRIPT_BLOCK_BYTES: usize = 10 * MEGABYTE;
pub const MEGABYTE: usize = 1024 * 1024;

/// Writes a Claude Code transcript of about `size` bytes and syncs it to disk.
pub fn write_transcript(path: &Path, project: &Path, size: usize) -> Result<()> {
    let mut block = String::new();
    // Each large block contains two screenshots. The part that a hook reads includes the second one.
    let mut screenshots =
        [2 * MEGABYTE, 6 * MEGABYTE].into_iter().filter(|_| size >= TRANSCRIPT_BLOCK_BYTES).peekable();
    for number in 0.. {
        if block.len() >= size.min(TRANSCRIPT_BLOCK_BYTES) {
            break;
        }
        block.push_str(&turn_lines(project, &format!("{number:06}"), number));
        if screenshots.next_if(|&at| block.len() > at).is_some() {
            block.push_str(&screenshot_line(project, number));
        }
    }
    let mut file = fs::File::create(path)?;
    for _ in 0..(size / TRANSCRIPT_BLOCK_BYTES).max(1) {
        file.write_all(block.as_bytes())?;
    }
    Ok(file.sync_all()?)
}

pub fn append_turn(path: &Path, project: &Path, number: usize) -> Result<()> {
    let mut file = fs::OpenOptions::new().append(true).open(path)?;
    Ok(file.write_all(turn_lines(project, &format!("new{number:06}"), number).as_bytes())?)
}

/// Returns the lines of a tool call and its result. In every tenth turn, a prompt comes first.
pub fn turn_lines(project: &Path, id: &str, number: usize) -> String {
    let mut text = String::new();
    if number.is_multiple_of(10) {
        let prompt = format!("Please look at module {number} again: the token is read twice.");
        text.push_str(&transcript_line(project, "user", &json!({"role": "user", "content": prompt}), ""));
    }
    let file = project.join(format!("src/module{}.rs", number % 40));
    let tool = format!("toolu_{id}");
    let (name, input, result) = match number % 4 {
        0 => ("Read", json!({"file_path": file}), payload::sample_code_with_secret(9000, "none")),
        1 => (
            "Edit",
            json!({"file_path": file, "old_string": payload::sample_code_with_secret(900, "a"), "new_string": payload::sample_code_with_secret(1100, "b")}),
            format!("The file {} has been updated.", file.display()),
        ),
        2 => (
            "Bash",
            json!({"command": format!("cargo test module{number}"), "description": "Run the tests"}),
            "test result: ok. 12 passed; 0 failed\n".repeat(60),
        ),
        _ => (
            "Grep",
            json!({"pattern": "token", "path": project}),
            payload::sample_code_with_secret(2500, "none"),
        ),
    };
    let thought = payload::sample_code_with_secret(1200, "none");
    for block in [
        json!({"type": "thinking", "thinking": thought, "signature": "EqQBCkYIBRgCKkA".repeat(20)}),
        json!({"type": "tool_use", "id": tool, "name": name, "input": input}),
    ] {
        let message = json!({"model": "claude-opus-4-5", "id": format!("msg_{id}"), "type": "message",
            "role": "assistant", "content": [block], "stop_reason": null,
            "usage": {"input_tokens": 9, "output_tokens": 120, "cache_read_input_tokens": 90_000}});
        text.push_str(&transcript_line(project, "assistant", &message, ""));
    }
    let message = json!({"role": "user", "content":
        [{"tool_use_id": tool, "type": "tool_result", "content": result, "is_error": false}]});
    let more = json!({"stdout": result, "stderr": "", "interrupted": false});
    text.push_str(&transcript_line(project, "user", &message, &format!(",\"toolUseResult\":{more}")));
    text
}

/// Returns the transcript line for a message of the agent.
pub fn agent_message_line(project: &Path, id: &str, text: &str) -> String {
    let message = json!({"model": "claude-opus-4-5", "id": id, "type": "message", "role": "assistant",
        "content": [{"type": "text", "text": text}], "usage": {"input_tokens": 9, "output_tokens": 120}});
    transcript_line(project, "assistant", &message, "")
}

fn screenshot_line(project: &Path, number: usize) -> String {
    let data = "iVBORw0KGgoAAAANSUhEUgAAB4AAAAQ4".repeat(2 * MEGABYTE / 32);
    let image =
        json!({"type": "image", "source": {"type": "base64", "data": data, "media_type": "image/png"}});
    let message = json!({"role": "user", "content":
        [{"tool_use_id": format!("toolu_{number:06}"), "type": "tool_result", "content": [image]}]});
    transcript_line(project, "user", &message, "")
}

/// Returns a line with its keys in the order in which Claude Code writes them.
fn transcript_line(project: &Path, kind: &str, message: &Value, more: &str) -> String {
    let cwd = json!(project);
    format!(
        "{{\"parentUuid\":\"db2cd996-b8c6-4ea6-9b49-87c8869cb3b0\",\"isSidechain\":false,\"userType\":\"external\",\
         \"cwd\":{cwd},\"sessionId\":\"{SANDBOX_SESSION_ID}\",\"version\":\"2.1.7\",\"gitBranch\":\"main\",\
         \"message\":{message},\"type\":\"{kind}\",\"uuid\":\"0a68a458-cc29-4a70-866c-83c9dc788f41\",\
         \"timestamp\":\"2026-01-15T20:27:55.560Z\"{more}}}\n"
    )
}

/// Returns one call as Droid writes it: a message with the call, and a message with the result.
pub fn droid_call_lines(project: &Path, id: &str) -> String {
    let input = json!({"file_path": project.join("src/droid.rs"), "content": "// by droid\n"});
    let blocks = [
        ("assistant", json!({"type": "tool_use", "id": id, "name": "Create", "input": input})),
        (
            "user",
            json!({"type": "tool_result", "tool_use_id": id, "is_error": false, "content": "File created"}),
        ),
    ];
    let line = |(role, block): (&str, Value)| {
        let message = json!({"role": role, "content": [block]});
        format!(
            "{}\n",
            json!({"type": "message", "id": format!("{role}-{id}"), "timestamp": "2026-11-15T19:52:56.143Z",
                "message": message})
        )
    };
    blocks.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_json_and_sizes_are_about_right() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        write_transcript(&path, Path::new("/p \"q\""), MEGABYTE).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.len() >= MEGABYTE && text.len() < MEGABYTE + MEGABYTE / 20);
        assert!(text.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
        append_turn(&path, Path::new("/p"), 1).unwrap();
        assert!(fs::read_to_string(&path).unwrap().len() > text.len());
        assert!(
            droid_call_lines(Path::new("/p"), "t")
                .lines()
                .all(|line| serde_json::from_str::<Value>(line).is_ok())
        );
    }
}
