//! Drops items that a transcript contains twice.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::Item;

/// Passes on what is new in a stream of items. Items are repeated by a resumed session that copies its beginning, by a
/// queue whose prompts are written again when the agent gets them, and by a hook's message that is recorded as the
/// user's.
#[derive(Clone, Debug, Default)]
pub struct Dedup {
    calls: BTreeSet<u64>,
    results: BTreeSet<u64>,
    /// Words that may come again as a prompt. They must not count as a second prompt.
    awaited: BTreeSet<u64>,
}

impl Dedup {
    /// Returns the item if it is new. A queued prompt becomes a prompt here.
    pub fn keep<'a>(&mut self, item: Item<'a>) -> Option<Item<'a>> {
        match item {
            Item::Queued { text, typed } => {
                self.awaited.insert(words_digest(&text));
                Some(Item::Prompt { text, typed })
            }
            Item::Feedback { ref text } => {
                self.awaited.insert(words_digest(text));
                Some(item)
            }
            Item::Prompt { ref text, .. } => {
                if self.awaited.remove(&words_digest(text)) {
                    return None;
                }
                // The repetition can no longer come, so the next "yes" is the user's own again.
                self.awaited.clear();
                Some(item)
            }
            Item::Call(ref call) => is_new(&mut self.calls, call.id.as_deref()).then_some(item),
            Item::Result(ref result) => is_new(&mut self.results, result.call.as_deref()).then_some(item),
            other => Some(other),
        }
    }
}

fn is_new(seen: &mut BTreeSet<u64>, id: Option<&str>) -> bool {
    id.is_none_or(|id| seen.insert(digest(id)))
}

/// Hashes the words only, because white space differs between a queue and a prompt.
fn words_digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.split_whitespace().for_each(|word| word.hash(&mut hasher));
    hasher.finish()
}

/// Hashes an id to eight bytes, because a long session has tens of thousands of ids.
pub(super) fn digest(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::super::{Call, Typed};
    use super::*;

    fn prompt(text: &str) -> Item<'_> {
        Item::Prompt { text: text.into(), typed: Typed::Words }
    }

    fn queued(text: &str) -> Item<'_> {
        Item::Queued { text: text.into(), typed: Typed::Words }
    }

    #[test]
    fn prompts() {
        let feedback = |text: &'static str| Item::Feedback { text: text.into() };
        let cases: [(Vec<Item>, Vec<Item>); 5] = [
            (vec![queued("a"), prompt("a")], vec![prompt("a")]),
            (vec![queued("a"), queued("b"), prompt("a"), prompt(" b\n")], vec![prompt("a"), prompt("b")]),
            (
                vec![queued("yes"), prompt("go"), prompt("yes")],
                vec![prompt("yes"), prompt("go"), prompt("yes")],
            ),
            (vec![feedback("go on"), prompt("go on")], vec![feedback("go on")]),
            (vec![prompt("a"), prompt("a")], vec![prompt("a"), prompt("a")]),
        ];
        for (given, expected) in cases {
            let mut dedup = Dedup::default();
            let kept: Vec<_> = given.into_iter().filter_map(|item| dedup.keep(item)).collect();
            assert_eq!(kept, expected);
        }
    }

    #[test]
    fn calls_by_their_id() {
        let call = |id: Option<&'static str>| Item::Call(Call { id: id.map(Into::into), ..Call::default() });
        let mut dedup = Dedup::default();
        assert!(dedup.keep(call(Some("x"))).is_some());
        assert!(dedup.keep(call(Some("x"))).is_none());
        assert!(dedup.keep(call(None)).is_some() && dedup.keep(call(None)).is_some());
    }
}
