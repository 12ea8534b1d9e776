//! Adds up the tokens used in a session, counting each message once.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::dedup::id_digest;

/// The tokens used for a message. A harness may repeat them with every part of the message, with lower numbers in
/// earlier parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenUsage<'a> {
    pub message_id: Option<Cow<'a, str>>,
    /// The model that answered.
    pub model: Option<Cow<'a, str>>,
    pub input: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    pub output: u64,
}

/// The token usage of a session. If a message occurs several times, its highest numbers are used.
#[derive(Clone, Debug, Default)]
pub struct TokenTotal {
    usage_by_message: BTreeMap<u64, [u64; 4]>,
    total: [u64; 4],
}

impl TokenTotal {
    pub fn add_usage(&mut self, usage: &TokenUsage) {
        let now = [usage.input, usage.cache_read, usage.cache_write, usage.output];
        // A message without an id always counts as new, because a repetition cannot be recognised.
        let mut nameless = [0; 4];
        let before = match usage.message_id.as_deref() {
            Some(id) => self.usage_by_message.entry(id_digest(id)).or_default(),
            None => &mut nameless,
        };
        for ((total, before), now) in self.total.iter_mut().zip(before).zip(now) {
            *total = total.saturating_add(now.saturating_sub(*before));
            *before = now.max(*before);
        }
    }

    pub fn total_usage(&self) -> TokenUsage<'static> {
        let [input, cache_read, cache_write, output] = self.total;
        TokenUsage { message_id: None, model: None, input, cache_read, cache_write, output }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_counts_once_with_its_last_figures() {
        let usage = |id: &'static str, output| TokenUsage {
            message_id: Some(id.into()),
            input: 10,
            output,
            ..TokenUsage::default()
        };
        let mut spent = TokenTotal::default();
        for usage in [usage("a", 1), usage("a", 7), usage("b", 2), usage("a", 7)] {
            spent.add_usage(&usage);
        }
        assert_eq!((spent.total_usage().input, spent.total_usage().output), (20, 9));
        spent.add_usage(&TokenUsage { output: u64::MAX, ..TokenUsage::default() });
        assert_eq!(spent.total_usage().output, u64::MAX);
    }
}
