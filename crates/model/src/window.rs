//! How full a session's context window is, and when the agent is told.

use serde::{Deserialize, Serialize};

use crate::text::count;
use crate::transcript::Usage;

/// The shares of the window, in percent, at which the agent is told.
const LEVELS: [u64; 2] = [90, 70];

/// The window of a model that nothing else says more about.
const DEFAULT: u64 = 200_000;

/// The largest window in the table.
const LARGE: u64 = 1_000_000;

/// Windows by the model's name, the first pattern that fits. `*` stands for any text.
const MODELS: &[(&str, u64)] = &[
    ("*-1m", LARGE),
    ("*[1m]", LARGE),
    ("claude-opus-5*", LARGE),
    ("claude-sonnet-5*", LARGE),
    ("claude-*", DEFAULT),
    ("gpt-4.1*", LARGE),
    ("gpt-5*", 400_000),
    ("o3*", DEFAULT),
    ("o4*", DEFAULT),
    ("gemini-*", LARGE),
    ("grok-4-fast*", 2_000_000),
    ("grok-*", 256_000),
    ("kimi-*", 256_000),
    ("qwen3-coder*", 256_000),
    ("glm-*", DEFAULT),
    ("deepseek-*", 128_000),
];

/// Bytes of a transcript per token, where the harness does not count.
const BYTES_PER_TOKEN: u64 = 4;

/// What fills the window of a session now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContextUse {
    /// As the harness counted them for its last request, or else estimated. 0 if unknown.
    pub tokens: u64,
    pub model: String,
    pub estimated: bool,
    /// The size of the window, if the harness says so.
    #[serde(skip)]
    pub size: Option<u64>,
    /// Bytes of the transcript since the last compaction, and up to which byte they were counted.
    bytes: u64,
    read_to: u64,
}

/// What a new part of a transcript says about the window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The tokens of the last request, and its model.
    pub tokens: u64,
    pub model: String,
    /// Where the last compaction stands.
    pub compacted_at: Option<u64>,
}

impl Seen {
    pub fn add_usage(&mut self, usage: &Usage) {
        let tokens = tokens_of(usage);
        if tokens > 0 {
            self.tokens = tokens;
            self.model = usage.model.as_deref().unwrap_or_default().to_owned();
        }
    }

    /// Earlier figures are about a window that is gone.
    pub fn add_compaction(&mut self, at: u64) {
        *self = Seen { compacted_at: Some(at), ..Seen::default() };
    }
}

/// Everything that a request sent, cached or not.
fn tokens_of(usage: &Usage) -> u64 {
    usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write)
}

impl ContextUse {
    /// What the harness reports of one request.
    pub fn reported(usage: &Usage, model: String, size: Option<u64>) -> ContextUse {
        ContextUse { tokens: tokens_of(usage), model, size, ..ContextUse::default() }
    }

    /// Takes in what was read of the transcript from one byte to another.
    pub fn follow(&mut self, seen: &Seen, from: u64, to: u64) {
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

/// Returns the size of a model's window: by the patterns in `settings`, as `pattern=tokens` with commas, else what the
/// harness says, else by the table.
pub fn limit(model: &str, size: Option<u64>, settings: &str) -> u64 {
    let own = settings.split(',').filter_map(|pair| {
        let (pattern, tokens) = pair.rsplit_once('=')?;
        Some((pattern.trim(), tokens.trim().parse().ok()?))
    });
    let size = size.filter(|size| *size > 0).map(|size| ("*", size));
    let mut rows = own.chain(size).chain(MODELS.iter().copied());
    rows.find(|(pattern, _)| fits(pattern, model)).map_or(DEFAULT, |(_, tokens)| tokens)
}

/// Returns whether `pattern` describes the whole of `name`; `*` stands for any text.
fn fits(pattern: &str, name: &str) -> bool {
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

/// What the agent is told, and what of the session is recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Warning {
    /// 70 or 90.
    pub level: u64,
    pub tokens: u64,
    pub limit: u64,
    pub estimated: bool,
    pub prompts: usize,
    pub calls: u64,
    pub edited: usize,
}

/// Returns the level that the window has reached, and its size. A window that holds more than its limit is larger than
/// the table knows.
pub fn level(used: &ContextUse, settings: &str) -> Option<(u64, u64)> {
    let mut limit = limit(&used.model, used.size, settings);
    if used.tokens > limit {
        limit = LARGE;
    }
    let percent = used.tokens.saturating_mul(100) / limit.max(1);
    let level = LEVELS.into_iter().find(|level| percent >= *level)?;
    (percent <= 100).then_some((level, limit))
}

impl Warning {
    /// One line, for the agent. `handoff` is the name of that command in its harness.
    pub fn words(&self, handoff: &str) -> String {
        let Warning { tokens, limit, estimated, prompts, calls, edited, .. } = self;
        let percent = tokens.saturating_mul(100) / (*limit).max(1);
        let about = if *estimated { "about " } else { "" };
        let how = if *estimated { ", estimated" } else { "" };
        format!(
            "Throughline: the context window is {about}{percent} % full ({} of {} tokens{how}). Recorded so far: {}, {}, {}; a \
             brief follows a compaction. `/{handoff}` writes a packet with which a new session continues.\n",
            grouped(*tokens),
            grouped(*limit),
            count(*prompts, "prompt"),
            count(usize::try_from(*calls).unwrap_or(usize::MAX), "call"),
            count(*edited, "edited file"),
        )
    }
}

/// `144,200`.
fn grouped(number: u64) -> String {
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
