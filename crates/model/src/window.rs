//! Determines how full a session's context window is, and when the agent is warned.

use serde::{Deserialize, Serialize};

use crate::text::count_with_noun;
use crate::transcript::TokenUsage;

/// The levels at which the agent is warned, in percent of the window.
const WARNING_LEVELS: [u64; 2] = [90, 70];

/// The window of a model that is neither in the settings nor in the table, in tokens.
const DEFAULT_WINDOW_TOKENS: u64 = 200_000;

/// The window of models with a large window, in tokens.
const LARGE_WINDOW: u64 = 1_000_000;

/// Windows by model name. The first matching pattern is used; `*` stands for any text.
const MODEL_WINDOWS: &[(&str, u64)] = &[
    ("*-1m", LARGE_WINDOW),
    ("*[1m]", LARGE_WINDOW),
    ("claude-opus-5*", LARGE_WINDOW),
    ("claude-sonnet-5*", LARGE_WINDOW),
    ("claude-*", DEFAULT_WINDOW_TOKENS),
    ("gpt-4.1*", LARGE_WINDOW),
    ("gpt-5*", 400_000),
    ("o3*", DEFAULT_WINDOW_TOKENS),
    ("o4*", DEFAULT_WINDOW_TOKENS),
    ("gemini-*", LARGE_WINDOW),
    ("grok-4-fast*", 2_000_000),
    ("grok-*", 256_000),
    ("kimi-*", 256_000),
    ("qwen3-coder*", 256_000),
    ("glm-*", DEFAULT_WINDOW_TOKENS),
    ("deepseek-*", 128_000),
];

/// Bytes of a transcript per token. Used if the harness does not report tokens.
const BYTES_PER_TOKEN: u64 = 4;

/// The use of a session's context window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContextUse {
    /// The tokens that the harness reported for its last request, or an estimate; 0 if unknown.
    pub tokens: u64,
    pub model: String,
    pub estimated: bool,
    /// The size of the window, if the harness reports it.
    #[serde(skip)]
    pub size: Option<u64>,
    /// The bytes of the transcript since the last compaction.
    bytes: u64,
    /// The position in the transcript up to which `bytes` was counted.
    read_to: u64,
}

/// The facts about the window in a new part of a transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WindowFacts {
    /// The tokens of the last request.
    pub tokens: u64,
    pub model: String,
    /// The position of the last compaction.
    pub compacted_at: Option<u64>,
}

impl WindowFacts {
    pub fn add_usage(&mut self, usage: &TokenUsage) {
        let tokens = tokens_of_request(usage);
        if tokens > 0 {
            self.tokens = tokens;
            self.model = usage.model.as_deref().unwrap_or_default().to_owned();
        }
    }

    /// Records a compaction. Earlier facts are dropped, because the window is empty again.
    pub fn add_compaction(&mut self, at: u64) {
        *self = WindowFacts { compacted_at: Some(at), ..WindowFacts::default() };
    }
}

/// Returns all tokens of a request, cached or not.
fn tokens_of_request(usage: &TokenUsage) -> u64 {
    usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write)
}

impl ContextUse {
    /// Creates the use of the window from the harness's report of one request.
    pub fn from_report(usage: &TokenUsage, model: String, size: Option<u64>) -> ContextUse {
        ContextUse { tokens: tokens_of_request(usage), model, size, ..ContextUse::default() }
    }

    /// Updates the use from the part of the transcript between two positions.
    pub fn update_from(&mut self, seen: &WindowFacts, from: u64, to: u64) {
        let from = from.max(self.read_to);
        self.read_to = to.max(self.read_to);
        match seen.compacted_at {
            Some(at) => (self.tokens, self.bytes) = (0, to.saturating_sub(at)),
            None => self.bytes += to.saturating_sub(from),
        }
        if seen.tokens > 0 {
            (self.tokens, self.estimated) = (seen.tokens, false);
            self.model.clone_from(&seen.model);
        } else if self.model.is_empty() {
            (self.tokens, self.estimated) = (self.bytes / BYTES_PER_TOKEN, true);
        }
    }
}

/// Returns the size of a model's window from the user's settings (`pattern=tokens`, separated by commas). Without a
/// matching setting, returns the size that the harness reports.
fn stated_limit(model: &str, size: Option<u64>, settings: &str) -> Option<u64> {
    let mut own = settings.split(',').filter_map(|pair| {
        let (pattern, tokens) = pair.rsplit_once('=')?;
        Some((pattern.trim(), tokens.trim().parse().ok()?))
    });
    let own = own.find(|(pattern, _)| matches_pattern(pattern, model)).map(|(_, tokens)| tokens);
    own.or(size.filter(|size| *size > 0))
}

fn table_limit(model: &str) -> u64 {
    let row = MODEL_WINDOWS.iter().find(|(pattern, _)| matches_pattern(pattern, model));
    row.map_or(DEFAULT_WINDOW_TOKENS, |(_, tokens)| *tokens)
}

/// Returns the size of the window. A size from the settings or the harness is always used. Otherwise the size in
/// the table is used, unless the harness reports more tokens in use; an estimate is not reliable enough for this.
/// Returns `None` if more tokens are in use than any window has.
fn window_size(used: &ContextUse, settings: &str) -> Option<u64> {
    if let Some(stated) = stated_limit(&used.model, used.size, settings) {
        return Some(stated);
    }
    let limit = table_limit(&used.model);
    if used.estimated || used.tokens <= limit {
        return Some(limit);
    }
    (used.tokens <= LARGE_WINDOW).then_some(LARGE_WINDOW)
}

/// Returns whether `pattern` matches the whole `name`; `*` stands for any text.
fn matches_pattern(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(head) else { return false };
    let parts: Vec<&str> = rest.split('*').collect();
    let Some((last, middle)) = parts.split_last() else { return true };
    for part in middle {
        let Some(at) = name.find(part) else { return false };
        name = &name[at + part.len()..];
    }
    name.ends_with(last)
}

/// A warning for the agent, with figures about the session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WindowWarning {
    /// The level that was reached: 70 or 90 percent.
    pub level: u64,
    pub tokens: u64,
    pub limit: u64,
    pub estimated: bool,
    pub prompts: u64,
    pub calls: u64,
    pub edited: usize,
}

/// Returns the level that the window has reached, or 0, and the size of the window; `None` if the use is unknown.
pub fn reached_level(used: &ContextUse, settings: &str) -> Option<(u64, u64)> {
    if used.tokens == 0 {
        return None;
    }
    let limit = window_size(used, settings)?;
    let percent = percent(used.tokens, limit);
    Some((WARNING_LEVELS.into_iter().find(|level| percent >= *level).unwrap_or(0), limit))
}

fn percent(tokens: u64, limit: u64) -> u64 {
    tokens.saturating_mul(100) / limit.max(1)
}

impl WindowWarning {
    /// Describes the warning in one line for the agent. `handoff` is the name of the handoff command in its
    /// harness.
    pub fn describe_for_agent(&self, handoff: &str) -> String {
        let WindowWarning { tokens, limit, estimated, prompts, calls, edited, .. } = self;
        let how_full = match (tokens > limit, estimated) {
            (true, true) => "may be full".to_owned(),
            (true, false) => "holds more than its limit".to_owned(),
            (false, true) => format!("is about {} % full", percent(*tokens, *limit)),
            (false, false) => format!("is {} % full", percent(*tokens, *limit)),
        };
        let how = if *estimated { ", estimated" } else { "" };
        format!(
            "Throughline: the context window {how_full} ({} of {} tokens{how}). Recorded so far: {}, {}, {}; a \
             brief follows a compaction. `/{handoff}` writes a packet with which a new session continues.\n",
            with_thousands(*tokens),
            with_thousands(*limit),
            count_with_noun(usize::try_from(*prompts).unwrap_or(usize::MAX), "prompt"),
            count_with_noun(usize::try_from(*calls).unwrap_or(usize::MAX), "call"),
            count_with_noun(*edited, "edited file"),
        )
    }
}

/// Formats a number as `144,200`.
fn with_thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
#[path = "window_tests.rs"]
mod tests;
