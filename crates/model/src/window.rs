//! Determines how full a session's context window is, and when to warn the agent.

use serde::{Deserialize, Serialize};

use crate::text::count_with_noun;
use crate::time::parse_time;
use crate::transcript::TokenUsage;

/// How full the window must be for a warning, in percent.
const WARNING_LEVELS: [u64; 2] = [90, 70];

/// The window size assumed for a model that is neither in the settings nor in the table, in tokens.
const DEFAULT_WINDOW_TOKENS: u64 = 200_000;

/// The window size of models with a large window, in tokens.
const LARGE_WINDOW_TOKENS: u64 = 1_000_000;

/// Window sizes by model name. The first matching pattern is used. `*` stands for any text.
const WINDOW_SIZES_BY_MODEL: &[(&str, u64)] = &[
    ("*-1m", LARGE_WINDOW_TOKENS),
    ("*[1m]", LARGE_WINDOW_TOKENS),
    ("claude-opus-5*", LARGE_WINDOW_TOKENS),
    ("claude-sonnet-5*", LARGE_WINDOW_TOKENS),
    ("claude-*", DEFAULT_WINDOW_TOKENS),
    ("gpt-4.1*", LARGE_WINDOW_TOKENS),
    ("gpt-5*", 400_000),
    ("o3*", DEFAULT_WINDOW_TOKENS),
    ("o4*", DEFAULT_WINDOW_TOKENS),
    ("gemini-*", LARGE_WINDOW_TOKENS),
    ("grok-4-fast*", 2_000_000),
    ("grok-*", 256_000),
    ("kimi-*", 256_000),
    ("qwen3-coder*", 256_000),
    ("glm-*", DEFAULT_WINDOW_TOKENS),
    ("deepseek-*", 128_000),
];

/// The assumed number of transcript bytes per token, used if the harness does not report tokens.
const BYTES_PER_TOKEN: u64 = 4;

/// How much of a session's context window is in use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContextWindowUse {
    /// The number of tokens that the harness reported for its last request, or an estimate. 0 means unknown.
    pub tokens: u64,
    pub model: String,
    pub estimated: bool,
    /// The size of the window, if the harness reports it.
    #[serde(skip)]
    pub window_size: Option<u64>,
    /// The number of transcript bytes since the last compaction.
    bytes: u64,
    /// The transcript position up to which `bytes` has been counted.
    #[serde(rename = "read_to")]
    counted_to: u64,
}

/// What a newly read part of the transcript reveals about the window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WindowFacts {
    /// The number of tokens in the last request.
    pub tokens: u64,
    pub model: String,
    /// The transcript position of the last compaction.
    pub compacted_at: Option<u64>,
    /// The time of the last compaction, as an RFC 3339 time, or empty.
    compaction_time: String,
}

impl WindowFacts {
    /// Records the usage of a request. `at` is the time of the request, if it is known. After a compaction, a harness
    /// may repeat earlier messages. Their usage is no longer valid, so it is ignored.
    pub fn add_usage(&mut self, usage: &TokenUsage, at: Option<&str>) {
        let tokens = tokens_of_request(usage);
        let compacted = parse_time(&self.compaction_time);
        let is_outdated =
            at.and_then(parse_time).zip(compacted).is_some_and(|(at, compacted)| at <= compacted);
        if tokens > 0 && !is_outdated {
            self.tokens = tokens;
            self.model = usage.model.as_deref().unwrap_or_default().to_owned();
        }
    }

    /// Records a compaction. Earlier facts are dropped, because the window is nearly empty again.
    pub fn add_compaction(&mut self, position: u64, at: Option<&str>) {
        let compaction_time = at.unwrap_or_default().to_owned();
        *self = WindowFacts { compacted_at: Some(position), compaction_time, ..WindowFacts::default() };
    }
}

/// Returns the number of tokens in a request, cached or not.
fn tokens_of_request(usage: &TokenUsage) -> u64 {
    usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write)
}

impl ContextWindowUse {
    /// Returns how much of the window is in use, as the harness reported it for one request.
    pub fn from_usage_report(usage: &TokenUsage, model: String, size: Option<u64>) -> ContextWindowUse {
        ContextWindowUse {
            tokens: tokens_of_request(usage),
            model,
            window_size: size,
            ..ContextWindowUse::default()
        }
    }

    /// Clears the usage figures, because a compaction has replaced the window. The usage is unknown until the harness
    /// reports it again.
    pub fn forget_use(&mut self) {
        (self.tokens, self.bytes) = (0, 0);
    }

    /// Updates the figures with the facts from the part of the transcript between `from` and `to`.
    pub fn update_from_window_facts(&mut self, seen: &WindowFacts, from: u64, to: u64) {
        let from = from.max(self.counted_to);
        self.counted_to = to.max(self.counted_to);
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

/// Returns the size of a model's window according to the user's settings (`pattern=tokens`, separated by commas), or
/// else according to the harness.
fn window_size_in_settings(model: &str, size: Option<u64>, settings: &str) -> Option<u64> {
    let mut own = settings.split(',').filter_map(|pair| {
        let (pattern, tokens) = pair.rsplit_once('=')?;
        Some((pattern.trim(), tokens.trim().parse().ok()?))
    });
    let own = own.find(|(pattern, _)| matches_model_pattern(pattern, model)).map(|(_, tokens)| tokens);
    own.or(size.filter(|size| *size > 0))
}

fn window_size_in_table(model: &str) -> u64 {
    let row = WINDOW_SIZES_BY_MODEL.iter().find(|(pattern, _)| matches_model_pattern(pattern, model));
    row.map_or(DEFAULT_WINDOW_TOKENS, |(_, tokens)| *tokens)
}

/// Returns the size of the window. A size from the settings or the harness is always used. Otherwise the size in the
/// table is used. If the harness reports more tokens than that, a large window is assumed. If the number of tokens is
/// only estimated, the size in the table is kept. Returns `None` if more tokens are in use than fit into a large
/// window.
fn window_size(used: &ContextWindowUse, settings: &str) -> Option<u64> {
    if let Some(stated) = window_size_in_settings(&used.model, used.window_size, settings) {
        return Some(stated);
    }
    let limit = window_size_in_table(&used.model);
    if used.estimated || used.tokens <= limit {
        return Some(limit);
    }
    (used.tokens <= LARGE_WINDOW_TOKENS).then_some(LARGE_WINDOW_TOKENS)
}

/// Returns whether `pattern` matches the whole `name`. `*` stands for any text.
fn matches_model_pattern(pattern: &str, name: &str) -> bool {
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
    /// The warning level that was reached, 70 or 90 percent.
    pub level: u64,
    pub tokens: u64,
    pub limit: u64,
    pub estimated: bool,
    pub prompts: u64,
    pub calls: u64,
    #[serde(rename = "edited")]
    pub edited_files: usize,
}

/// Returns the warning level that was reached (0 if none) and the size of the window. Returns `None` if the use of
/// the window or its size is unknown.
pub fn reached_level(used: &ContextWindowUse, settings: &str) -> Option<(u64, u64)> {
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
    /// Describes the warning in one line for the agent. `handoff` is the name of the handoff command in the harness.
    pub fn describe_for_agent(&self, handoff: &str) -> String {
        let WindowWarning { tokens, limit, estimated, prompts, calls, edited_files, .. } = self;
        let how_full = match (tokens > limit, estimated) {
            (true, true) => "may be full".to_owned(),
            (true, false) => "is over its limit".to_owned(),
            (false, true) => format!("is about {} % full", percent(*tokens, *limit)),
            (false, false) => format!("is {} % full", percent(*tokens, *limit)),
        };
        let how = if *estimated { ", estimated" } else { "" };
        format!(
            "Throughline: the context window {how_full} ({} of {} tokens{how}). Recorded so far: {}, {}, {}; after \
             a compaction, you will get a brief. `/{handoff}` writes a packet from which a new session can continue.\n",
            with_thousands(*tokens),
            with_thousands(*limit),
            count_with_noun(usize::try_from(*prompts).unwrap_or(usize::MAX), "prompt"),
            count_with_noun(usize::try_from(*calls).unwrap_or(usize::MAX), "call"),
            count_with_noun(*edited_files, "edited file"),
        )
    }
}

/// Formats a number with thousands separators, such as `144,200`.
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
