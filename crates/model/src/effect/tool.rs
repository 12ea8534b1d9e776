//! Rules for MCP tools. The effect is derived from the tool's name. For example, `mcp__linear__create_issue` creates
//! an issue.

use super::command_output::{self, CommandOutput};
use super::{CompletedCall, Effect, EffectKind};

/// Verbs that occur in the names of tools that change something, each with its past tense.
const CHANGING_TOOL_VERBS: &[(&str, &str)] = &[
    ("create", "created"),
    ("save", "saved"),
    ("send", "sent"),
    ("update", "updated"),
    ("delete", "deleted"),
    ("post", "posted"),
    ("add", "added"),
    ("merge", "merged"),
    ("comment", "commented"),
    ("remove", "removed"),
    ("publish", "published"),
    ("close", "closed"),
    ("reopen", "reopened"),
    ("reply", "replied"),
    ("upload", "uploaded"),
    ("submit", "submitted"),
    ("approve", "approved"),
    ("deploy", "deployed"),
    ("push", "pushed"),
    ("edit", "edited"),
    ("invite", "invited"),
    ("schedule", "scheduled"),
    ("cancel", "cancelled"),
    ("archive", "archived"),
    ("transition", "moved"),
    ("move", "moved"),
    ("assign", "assigned"),
    ("set", "set"),
    ("fork", "forked"),
    ("apply", "applied"),
];

/// A tool whose name starts with one of these words only reads something.
const READING_TOOL_WORDS: &[&str] = &[
    "get", "list", "search", "read", "fetch", "find", "query", "describe", "view", "show", "count", "check",
    "resolve", "browser",
];

/// Servers whose tools act only on this machine.
const LOCAL_MCP_SERVERS: &[&str] = &[
    "filesystem",
    "fs",
    "memory",
    "playwright",
    "puppeteer",
    "browser",
    "chrome",
    "devtools",
    "ide",
    "serena",
    "thinking",
    "sequentialthinking",
    "context7",
    "time",
    "fetch",
    "desktop",
    "throughline",
    "thru",
    "repl",
    "sandbox",
    "todo",
    "notebook",
    "jupyter",
];

/// Returns whether a tool's name suggests a change outside this machine.
pub fn tool_acts_externally(tool: &str) -> bool {
    server_words_and_verb(tool).is_some()
}

/// Splits a tool's name into the server, the words other than the verb, and the verb's past tense.
fn server_words_and_verb(tool: &str) -> Option<(&str, Vec<String>, &'static str)> {
    let rest = tool.strip_prefix("mcp__")?;
    let (server, name) = rest.split_once("__")?;
    let of_server = split_tool_name(server);
    if of_server.iter().any(|word| LOCAL_MCP_SERVERS.contains(&word.as_str())) {
        return None;
    }
    let mut words = split_tool_name(name);
    // Skips the server's name if the tool's name repeats it, as in `slack_post_message`.
    while words.len() > 1
        && of_server.contains(&words[0])
        && !CHANGING_TOOL_VERBS.iter().any(|(verb, _)| *verb == words[0])
    {
        words.remove(0);
    }
    if words.first().is_some_and(|word| READING_TOOL_WORDS.contains(&word.as_str())) {
        return None;
    }
    let (place, done) = words.iter().enumerate().find_map(|(place, word)| {
        CHANGING_TOOL_VERBS.iter().find(|(verb, _)| verb == word).map(|(_, done)| (place, *done))
    })?;
    words.remove(place);
    Some((server, words, done))
}

/// Splits a name such as `create_issue`, `notion-create-pages` or `createJiraIssue` into lower-case words.
fn split_tool_name(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() {
            words.push(String::new());
        } else {
            if words.is_empty() || c.is_uppercase() && before_lower {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(c.to_lowercase());
            }
        }
        before_lower = c.is_lowercase() || c.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words
}

pub(super) fn effects_of_tool(made: &CompletedCall, said: &CommandOutput) -> Vec<Effect> {
    let Some((server, words, done)) = server_words_and_verb(made.tool) else { return Vec::new() };
    let is_error =
        said.lines().next().is_some_and(|line| line.starts_with("Error") || line.starts_with("MCP error"));
    if !made.succeeded || is_error {
        return Vec::new();
    }
    let object = words.join(" ");
    let kind = match (words.last().map(String::as_str), done) {
        (Some("comment" | "comments" | "reply" | "note"), _) | (_, "commented" | "replied") => {
            EffectKind::Comment
        }
        (Some("issue" | "issues" | "ticket"), _) => EffectKind::Issue,
        (Some("request"), _) if object.contains("pull") || object.contains("merge") => {
            EffectKind::PullRequest
        }
        (Some("review"), _) => EffectKind::Review,
        (Some("release"), _) => EffectKind::Release,
        (Some("branch"), _) => EffectKind::Branch,
        (Some("message" | "messages" | "email" | "mail"), _) => EffectKind::Message,
        (_, "deployed") => EffectKind::Deployment,
        (Some("migration"), "applied") => EffectKind::Migration,
        _ => EffectKind::Request,
    };
    let noun = if kind == EffectKind::Request { format!("{object} ") } else { String::new() };
    let asked = made.tool_input.trim();
    let what = match asked.is_empty() {
        true => format!("{noun}{done}"),
        false => format!("{noun}{done}: {}", crate::render::one_line(asked, 120)),
    };
    let (mut id, mut link) = (String::new(), String::new());
    if let Some(start) = made.output.find(['{', '[']) {
        let (found, _) = command_output::ids_in_json(&made.output[start..]);
        if found.failed {
            return Vec::new();
        }
        id = if found.number.is_empty() { found.id } else { found.number };
        link = found.link;
    }
    if link.is_empty() {
        link = command_output::find_link(made.output, |_| true).unwrap_or("").to_owned();
    }
    if link.contains("://api.") {
        link.clear();
    }
    vec![Effect { link, ..Effect::new(kind, &what, server, &id) }]
}
