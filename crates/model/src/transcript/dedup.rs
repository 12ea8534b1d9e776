//! Drops repeated transcript items.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::TranscriptItem;

/// Keeps only the new items in a stream. Items are repeated if a resumed session copies its beginning, if a queued
/// prompt is written again when the agent receives it, or if a hook's message is also recorded as a message from the
/// user.
#[derive(Clone, Debug, Default)]
pub struct ItemDedup {
    seen_call_ids: BTreeSet<u64>,
    seen_result_ids: BTreeSet<u64>,
    /// Hashes of messages that may be repeated as a prompt. The repetition does not count as a new prompt.
    expected_repeats: BTreeSet<u64>,
}

impl ItemDedup {
    /// Returns the item if it is new. A queued prompt is returned as a normal prompt.
    pub fn keep_if_new<'a>(&mut self, item: TranscriptItem<'a>) -> Option<TranscriptItem<'a>> {
        match item {
            TranscriptItem::QueuedPrompt { text, origin } => {
                self.expected_repeats.insert(words_digest(&text));
                Some(TranscriptItem::Prompt { text, origin })
            }
            TranscriptItem::StopHookFeedback { ref text } => {
                self.expected_repeats.insert(words_digest(text));
                Some(item)
            }
            TranscriptItem::Prompt { ref text, .. } => {
                if self.expected_repeats.remove(&words_digest(text)) {
                    return None;
                }
                // Any other prompt ends the wait for repetitions. After it, a prompt counts as new even if it
                // has the same text as an earlier message.
                self.expected_repeats.clear();
                Some(item)
            }
            TranscriptItem::Call(ref call) => {
                is_new_id(&mut self.seen_call_ids, call.id.as_deref()).then_some(item)
            }
            TranscriptItem::Result(ref result) => {
                is_new_id(&mut self.seen_result_ids, result.call_id.as_deref()).then_some(item)
            }
            other => Some(other),
        }
    }
}

fn is_new_id(seen: &mut BTreeSet<u64>, id: Option<&str>) -> bool {
    id.is_none_or(|id| seen.insert(id_digest(id)))
}

/// Hashes only the words, because white space differs between a queued prompt and its repetition.
fn words_digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.split_whitespace().for_each(|word| word.hash(&mut hasher));
    hasher.finish()
}

/// Hashes an id to eight bytes to save memory, because a long session has tens of thousands of ids.
pub(super) fn id_digest(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::super::{PromptOrigin, ToolCall};
    use super::*;

    fn prompt_item(text: &str) -> TranscriptItem<'_> {
        TranscriptItem::Prompt { text: text.into(), origin: PromptOrigin::PlainText }
    }

    fn queued_item(text: &str) -> TranscriptItem<'_> {
        TranscriptItem::QueuedPrompt { text: text.into(), origin: PromptOrigin::PlainText }
    }

    #[test]
    fn repeated_prompts_are_dropped() {
        let feedback = |text: &'static str| TranscriptItem::StopHookFeedback { text: text.into() };
        let cases: [(Vec<TranscriptItem>, Vec<TranscriptItem>); 5] = [
            (vec![queued_item("a"), prompt_item("a")], vec![prompt_item("a")]),
            (
                vec![queued_item("a"), queued_item("b"), prompt_item("a"), prompt_item(" b\n")],
                vec![prompt_item("a"), prompt_item("b")],
            ),
            (
                vec![queued_item("yes"), prompt_item("go"), prompt_item("yes")],
                vec![prompt_item("yes"), prompt_item("go"), prompt_item("yes")],
            ),
            (vec![feedback("go on"), prompt_item("go on")], vec![feedback("go on")]),
            (vec![prompt_item("a"), prompt_item("a")], vec![prompt_item("a"), prompt_item("a")]),
        ];
        for (given, expected) in cases {
            let mut dedup = ItemDedup::default();
            let kept: Vec<_> = given.into_iter().filter_map(|item| dedup.keep_if_new(item)).collect();
            assert_eq!(kept, expected);
        }
    }

    #[test]
    fn repeated_calls_are_dropped_by_id() {
        let call = |id: Option<&'static str>| {
            TranscriptItem::Call(ToolCall { id: id.map(Into::into), ..ToolCall::default() })
        };
        let mut dedup = ItemDedup::default();
        assert!(dedup.keep_if_new(call(Some("x"))).is_some());
        assert!(dedup.keep_if_new(call(Some("x"))).is_none());
        assert!(dedup.keep_if_new(call(None)).is_some() && dedup.keep_if_new(call(None)).is_some());
    }
}
