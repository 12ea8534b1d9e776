//! Finds the effects of a session on the outside world, with their ids, in the output of commands. The rules are
//! independent of those in `model`, which are under test.

use serde_json::Value;

use super::events::{CallOutcome, EventKind, ToolCall, TranscriptEvent};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecallEffect {
    /// The kind of effect: `commit`, `push`, `pull request`, …
    pub kind: &'static str,
    /// The ids of the effect. A brief or a summary mentions the effect if it contains one of them.
    pub ids: Vec<String>,
}

/// Words in the name of an MCP tool that indicate that the tool writes.
const WRITING_TOOL_WORDS: [&str; 8] =
    ["create", "update", "delete", "send", "save", "add", "post", "comment"];

/// What a `gh` command creates, by the first words of the command.
const CREATING_GH_COMMANDS: [(&str, &str); 9] = [
    ("gh pr create", "pull request"),
    ("gh pr merge", "merge"),
    ("gh pr comment", "comment"),
    ("gh pr review", "review"),
    ("gh issue create", "issue"),
    ("gh issue comment", "comment"),
    ("gh issue close", "issue"),
    ("gh release create", "release"),
    ("gh pr close", "pull request"),
];

/// Beginnings of folders in which a repository is thrown away.
const SCRATCH_FOLDERS: [&str; 3] = ["/tmp/", "/private/tmp/", "/var/folders/"];

/// Returns the effects of calls that succeeded and printed an id, oldest first. Commits that no longer exist are left
/// out: those that were later amended or reset, and those in a throwaway repository.
pub fn effects_of_events(events: &[TranscriptEvent]) -> Vec<RecallEffect> {
    let calls: Vec<&ToolCall> = events.iter().filter_map(|event| event.as_call()).collect();
    let mut found: Vec<RecallEffect> = Vec::new();
    for event in events {
        let EventKind::Result { call_id, end: CallOutcome::Done, text } = &event.kind else { continue };
        let Some(call_id) = calls.iter().find(|known| known.id == *call_id) else { continue };
        let new = match &call_id.command {
            Some(command) => effects_of_command(command, text),
            None => effect_of_tool(call_id, text).into_iter().collect(),
        };
        let amends = call_id.command.as_deref().is_some_and(|command| command.contains("--amend"));
        if amends && new.iter().any(|effect| effect.kind == "commit") {
            let place = found.iter().rposition(|effect| effect.kind == "commit");
            place.map(|place| found.remove(place));
        }
        let command = call_id.command.as_deref().unwrap_or_default();
        for _ in 0..commits_removed_by_reset(command) {
            let place = found.iter().rposition(|effect| effect.kind == "commit");
            place.map(|place| found.remove(place));
        }
        let is_scratch = enters_scratch_folder(command);
        for effect in new {
            let is_left_out = is_scratch && effect.kind == "commit";
            if !is_left_out && !found.contains(&effect) {
                found.push(effect);
            }
        }
    }
    found
}

/// Returns how many commits `git reset HEAD~2` or `git reset HEAD^` in a command removes from the branch.
fn commits_removed_by_reset(command: &str) -> usize {
    let Some((_, after)) = command.split_once("git reset") else { return 0 };
    let words = after.split(['\n', ';', '&', '|']).next().unwrap_or_default().split_whitespace();
    words
        .filter_map(|word| word.strip_prefix("HEAD"))
        .map(|rest| match rest.strip_prefix('~') {
            Some("") => 1,
            Some(count) => count.parse().unwrap_or(0),
            None => rest.bytes().take_while(|byte| *byte == b'^').count(),
        })
        .sum()
}

fn enters_scratch_folder(command: &str) -> bool {
    let enters =
        |word: &str| SCRATCH_FOLDERS.iter().any(|folder| command.contains(&format!("{word} {folder}")));
    enters("cd") || enters("git -C")
}

fn effects_of_command(command: &str, printed: &str) -> Vec<RecallEffect> {
    let effect = |kind, ids: Vec<String>| (!ids.is_empty()).then_some(RecallEffect { kind, ids });
    let runs = |words: &str| {
        // A command begins at the start of a line or after `&&`, `;` or `|`. Words inside a commit message are not
        // commands.
        let parts = command.split(['\n', ';', '|']).flat_map(|part| part.split("&&"));
        let mut parts = parts.map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
        parts.any(|part| part == words || part.starts_with(&format!("{words} ")))
    };
    let git = |verb: &str| {
        let has_verb = |line: &str| line.contains(&format!("git {verb}")) || line.contains("git -C");
        command.lines().any(|line| has_verb(line) && line.contains(verb))
    };
    let mut found = Vec::new();
    if git("commit") || git("cherry-pick") || git("merge") || git("revert") {
        found.extend(
            printed
                .lines()
                .filter_map(commit_id_in_line)
                .map(|id| RecallEffect { kind: "commit", ids: vec![id] }),
        );
    }
    if git("push") {
        found.extend(
            printed.lines().filter_map(pushed_ids_in_line).map(|ids| RecallEffect { kind: "push", ids }),
        );
    }
    for (words, kind) in CREATING_GH_COMMANDS {
        if runs(words) {
            found.extend(effect(kind, ids_in_links(printed)));
        }
    }
    let writes = [" -f ", " -F ", " --field ", " --raw-field ", "-X POST", "-X PATCH", "-X PUT", "-X DELETE"]
        .iter()
        .any(|flag| command.contains(flag));
    if runs("gh api") && writes && !command.contains("graphql") {
        let mut ids: Vec<String> = serde_json::from_str::<Value>(printed)
            .ok()
            .and_then(|value| value["id"].as_u64())
            .map(|id| id.to_string())
            .into_iter()
            .collect();
        if ids.is_empty() {
            ids.extend(long_numbers_in(printed).into_iter().take(1));
        }
        // If a comment was answered, the number of its thread also identifies the effect.
        ids.extend(command.lines().filter(|line| line.contains("gh api")).flat_map(long_numbers_in));
        found.extend(effect("request", ids));
    }
    found
}

/// Returns the commit in `[branch 1a2b3c4] subject` or `[branch (root-commit) 1a2b3c4] subject`.
fn commit_id_in_line(line: &str) -> Option<String> {
    let (inside, _) = line.trim().strip_prefix('[')?.split_once(']')?;
    let id = inside.split_whitespace().last()?;
    (inside.contains(' ') && is_commit_hash(id)).then(|| id.to_owned())
}

/// Returns the commit in `1a2b3c4..5d6e7f8  main -> main`, or the branch in ` * [new branch] x -> x`.
fn pushed_ids_in_line(line: &str) -> Option<Vec<String>> {
    let (left, right) = line.split_once(" -> ")?;
    let left = left.trim().trim_start_matches(['+', '*', '=', ' ']);
    if left.starts_with("[new branch]") || left.starts_with("[new tag]") {
        return Some(vec![right.split_whitespace().next()?.to_owned()]);
    }
    let range = left.split_whitespace().next()?;
    let (_, id) = range.rsplit_once("..")?;
    let id = id.trim_start_matches('.');
    is_commit_hash(id).then(|| vec![id.chars().take(7).collect()])
}

fn is_commit_hash(id: &str) -> bool {
    (7..=40).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the ids at the ends of links: `#136` and `pull/136`, or the id of a comment.
fn ids_in_links(printed: &str) -> Vec<String> {
    let mut ids = Vec::new();
    for word in printed.split_whitespace().filter(|word| word.starts_with("https://")) {
        if let Some((_, comment)) = word.rsplit_once('#') {
            ids.extend(long_numbers_in(comment));
        } else if let Some((before, last)) = word.trim_end_matches('/').rsplit_once('/') {
            let folder = before.rsplit('/').next().unwrap_or_default();
            ids.push(format!("{folder}/{last}"));
            if last.bytes().all(|byte| byte.is_ascii_digit()) {
                ids.push(format!("#{last}"));
            }
        }
    }
    ids
}

fn long_numbers_in(text: &str) -> Vec<String> {
    let numbers = text.split(|c: char| !c.is_ascii_digit());
    numbers.filter(|number| number.len() >= 6).map(str::to_owned).collect()
}

/// Returns the effect of an MCP tool that writes. Its id is a field of the tool's JSON answer.
fn effect_of_tool(call: &ToolCall, printed: &str) -> Option<RecallEffect> {
    let name = call.tool.rsplit("__").next().filter(|_| call.tool.starts_with("mcp__"))?.to_lowercase();
    let writes = name.split(['_', '-']).any(|word| WRITING_TOOL_WORDS.contains(&word));
    let answer: Value = serde_json::from_str(printed).ok().filter(|_| writes)?;
    let ids = ["identifier", "id", "number", "url"].iter().filter_map(|key| match &answer[*key] {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    });
    let ids: Vec<String> = ids.collect();
    (!ids.is_empty()).then_some(RecallEffect { kind: "tool", ids })
}

pub fn is_effect_mentioned(effect: &RecallEffect, text: &str) -> bool {
    effect.ids.iter().any(|id| {
        // A shortened commit hash usually has at least seven digits, so only the first seven are compared.
        let id = if is_commit_hash(id) { &id[..7] } else { id };
        text.match_indices(id).any(|(at, _)| {
            let glued = |c: char| c.is_ascii_digit();
            let next = text[at + id.len()..].chars().next();
            !id.ends_with(glued) || is_commit_hash(id) || !next.is_some_and(glued)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_that_no_longer_exist_are_recognised() {
        for (command, removed) in [
            ("git reset --soft HEAD~2", 2),
            ("git reset HEAD^ && git status", 1),
            ("git reset --hard HEAD~ 2>&1", 1),
            ("git reset HEAD -- src/a.rs", 0),
            ("git reset src/a.rs; git log HEAD~3", 0),
            ("git log HEAD~2", 0),
        ] {
            assert_eq!(commits_removed_by_reset(command), removed, "{command}");
        }
        for (command, scratch) in [
            ("cd /tmp/try && git init && git commit -m x", true),
            ("git -C /private/tmp/try commit -m x", true),
            ("cd /home/me/tmp/try && git commit -m x", false),
            ("git commit -F /tmp/message", false),
        ] {
            assert_eq!(enters_scratch_folder(command), scratch, "{command}");
        }
    }

    #[test]
    fn ids_are_taken_from_what_was_printed() {
        let one = |kind, id: &str| vec![(kind, id.to_owned())];
        for (command, printed, expected) in [
            ("git commit -m x", "[main 1a2b3c4] x\n 1 file changed", one("commit", "1a2b3c4")),
            ("git add a && git commit -m x", "[main (root-commit) 1a2b3c4] x", one("commit", "1a2b3c4")),
            ("git -C /p commit -m x", "[a/b 1a2b3c4d] x", one("commit", "1a2b3c4d")),
            ("git log", "[main 1a2b3c4] x", Vec::new()),
            ("git push", "To h:r.git\n   1a2b3c4..5d6e7f8  main -> main", one("push", "5d6e7f8")),
            ("git push -f", " + 1a2b3c4...5d6e7f8 m -> m (forced update)", one("push", "5d6e7f8")),
            ("git push -u origin x", " * [new branch]      x -> x", one("push", "x")),
            ("git push", "Everything up-to-date", Vec::new()),
            ("gh pr create --title x", "https://example.com/o/r/pull/136", one("pull request", "pull/136")),
            ("gh pr view 136", "https://example.com/o/r/pull/136", Vec::new()),
            ("gh pr comment 1 -b x", "https://example.com/o/r/pull/1#issuecomment-2785", Vec::new()),
            (
                "gh api repos/o/r/pulls/1/comments/27571209/replies -f body=x",
                r#"{"url":"u","id":27571300}"#,
                one("request", "27571300"),
            ),
            ("gh api repos/o/r/pulls/1/comments", r#"[{"id":27571300}]"#, Vec::new()),
        ] {
            let found: Vec<(&str, String)> = effects_of_command(command, printed)
                .into_iter()
                .map(|e| (e.kind, e.ids[0].clone()))
                .collect();
            assert_eq!(found, expected, "{command}");
        }
    }

    #[test]
    fn an_id_is_not_the_beginning_of_another() {
        let effect = |id: &str| RecallEffect { kind: "", ids: vec![id.to_owned()] };
        for (id, text, expected) in [
            ("#13", "see #136", false),
            ("#13", "see #13.", true),
            ("1a2b3c4d", "commit 1a2b3c4", true),
            ("1a2b3c4", "commit 1a2b3c4d", true),
            ("27571300", "reply 27571300", true),
        ] {
            assert_eq!(is_effect_mentioned(&effect(id), text), expected, "{id} in {text}");
        }
    }
}
