//! Reads the end of a transcript backwards: the main agent's last message, and what the turn cost.

use super::log::Tokens;
use crate::transcript::{Item, Line, Spent};

#[derive(Clone, Debug, Default)]
pub struct LastTurn {
    last: Words,
    /// The words that a stop hook last answered.
    answered: Words,
    /// True if a call or a result was read, so that the words that are read next came before it.
    past: bool,
    /// When the last stop hook's message was written.
    pub feedback: Option<String>,
    spent: Spent,
    /// Whether the beginning of the turn was reached.
    whole: bool,
}

/// The blocks of one message, last first, and the id of the message.
#[derive(Clone, Debug, Default)]
struct Words {
    blocks: Vec<String>,
    id: Option<String>,
}

/// The last message of the main agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastMessage {
    pub id: Option<String>,
    pub text: String,
    /// Whether a stop hook has already answered it.
    pub answered: bool,
}

impl LastTurn {
    /// Reads a line, the last one first. Returns false if earlier lines do not matter.
    pub fn hear(&mut self, line: &Line) -> bool {
        !line.is_main() || line.items.iter().rev().all(|item| self.take(item, line.at.as_deref()))
    }

    fn take(&mut self, item: &Item, at: Option<&str>) -> bool {
        if self.feedback.is_some() {
            // These are lines before the stop hook's message: find the words that it answered.
            return match item {
                Item::Said { message, text } => self.answered.take(message.as_deref(), text),
                Item::Feedback { .. } | Item::Usage(_) => true,
                _ => false,
            };
        }
        match item {
            Item::Usage(usage) => self.spent.add(usage),
            Item::Said { message, text } if !self.past => {
                self.past = !self.last.take(message.as_deref(), text);
            }
            Item::Said { .. } => {}
            Item::Prompt { .. } | Item::Queued { .. } => {
                self.whole = true;
                return false;
            }
            Item::Feedback { .. } => {
                self.whole = true;
                self.feedback = Some(at.unwrap_or_default().to_owned());
                // If nothing was said after the hook's message but something was done, the words before that message
                // are not the last ones.
                return self.last.blocks.is_empty() && !self.past;
            }
            _ => self.past = true,
        }
        true
    }

    /// Returns the last message; `None` if nothing was said since the last call or prompt, or if the message is not in
    /// the transcript yet.
    pub fn message(&self) -> Option<LastMessage> {
        let of = |words: &Words, answered| {
            let text = words.joined_text()?;
            Some(LastMessage { id: words.id.clone(), text, answered })
        };
        of(&self.last, false).or_else(|| of(&self.answered, true))
    }

    /// Returns the message that says `text`, which the harness reported. The harness may report only the last of
    /// several blocks.
    pub fn saying(&self, text: &str) -> Option<LastMessage> {
        let is_it = |said: &str| {
            let (said, text) = (said.trim(), text.trim());
            // Readers cut very long texts.
            said == text || said.len() >= crate::transcript::TEXT_BYTES / 2 && text.starts_with(said)
        };
        let message = self.message()?;
        let words = if message.answered { &self.answered } else { &self.last };
        let fits = is_it(&message.text) || words.blocks.first().is_some_and(|block| is_it(block));
        fits.then(|| LastMessage { text: text.to_owned(), ..message })
    }

    /// Returns what the turn cost, if all of it was read.
    pub fn tokens(&self) -> Option<Tokens> {
        self.whole.then(|| Tokens::of(&self.spent.total())).flatten()
    }
}

impl Words {
    /// Adds another block; returns false if it belongs to another message.
    fn take(&mut self, id: Option<&str>, text: &str) -> bool {
        if !self.blocks.is_empty() && (id.is_none() || self.id.as_deref() != id) {
            return false;
        }
        self.id = id.map(str::to_owned);
        self.blocks.push(text.to_owned());
        true
    }

    fn joined_text(&self) -> Option<String> {
        let blocks: Vec<&str> = self.blocks.iter().rev().map(String::as_str).collect();
        (!blocks.is_empty()).then(|| blocks.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::{Call, CallResult, Chain, Typed, Usage};

    fn said(id: &'static str, text: &'static str) -> Item<'static> {
        Item::Said { message: Some(id.into()), text: text.into() }
    }

    fn prompt() -> Item<'static> {
        Item::Prompt { text: "go".into(), typed: Typed::Words }
    }

    fn hear(lines: &[Line]) -> LastTurn {
        let mut turn = LastTurn::default();
        let _ = lines.iter().rev().all(|line| turn.hear(line));
        turn
    }

    fn line(items: Vec<Item<'static>>) -> Line<'static> {
        Line { items, ..Line::default() }
    }

    #[test]
    fn the_last_message_of_the_main_agent() {
        let call = || Item::Call(Call::default());
        let result = || {
            Item::Result(CallResult { text: "<promise>ALL DONE</promise>".into(), ..CallResult::default() })
        };
        let side = Line {
            chain: Chain::Side { agent: None },
            ..line(vec![said("x", "<promise>ALL DONE</promise>")])
        };
        let rows: Vec<(&str, Vec<Line>, Option<&str>)> = vec![
            ("plain", vec![line(vec![prompt()]), line(vec![said("a", "one")])], Some("one")),
            ("the newest", vec![line(vec![said("a", "one")]), line(vec![said("b", "two")])], Some("two")),
            (
                "blocks of one message",
                vec![line(vec![said("a", "one")]), line(vec![said("a", "two")])],
                Some("one\ntwo"),
            ),
            ("the last block is a tool call", vec![line(vec![said("a", "one"), call()])], None),
            ("a tool result", vec![line(vec![said("a", "one"), call()]), line(vec![result()])], None),
            ("a sub-agent", vec![line(vec![said("a", "one")]), side], Some("one")),
            (
                "not written yet, after a prompt",
                vec![line(vec![said("a", "one")]), line(vec![prompt()])],
                None,
            ),
            (
                "not written yet, after our own words",
                vec![line(vec![said("a", "one")]), line(vec![Item::Feedback { text: "go on".into() }])],
                None,
            ),
            ("nothing at all", vec![], None),
        ];
        for (about, lines, expected) in &rows {
            assert_eq!(
                hear(lines).message().filter(|said| !said.answered).map(|said| said.text).as_deref(),
                *expected,
                "{about}"
            );
        }
    }

    #[test]
    fn its_id_only_if_it_is_the_same() {
        let id = |turn: &LastTurn, text: &str| turn.saying(text).and_then(|said| said.id);
        let turn = hear(&[line(vec![said("a", "one")]), line(vec![said("b", "all\n\ndone ")])]);
        assert_eq!(id(&turn, "all\n\ndone").as_deref(), Some("b"));
        assert_eq!((id(&turn, "done"), id(&turn, "one")), (None, None));
        let blocks = hear(&[line(vec![said("a", "one"), said("a", "two")])]);
        assert_eq!(id(&blocks, "two").as_deref(), Some("a"));
        assert_eq!((id(&blocks, "one\ntwo").as_deref(), id(&blocks, "one")), (Some("a"), None));
    }

    /// The slower of two hooks sees the answer that the faster one gave to the same message.
    #[test]
    fn a_message_that_was_answered_already() {
        let answer = || line(vec![Item::Feedback { text: "go on".into() }]);
        let call = || line(vec![Item::Call(Call::default())]);
        let first = || line(vec![said("a", "one")]);
        let answered = |lines: &[Line]| hear(lines).saying("one").map(|said| (said.id, said.answered));
        let of = |id: &str, answered| Some((Some(id.to_owned()), answered));
        assert_eq!(answered(&[first(), answer()]), of("a", true));
        assert_eq!(answered(&[first(), answer(), answer()]), of("a", true));
        assert_eq!(answered(&[first(), answer(), line(vec![said("b", "one")])]), of("b", false));
        assert_eq!(answered(&[line(vec![said("a", "other")]), answer()]), None);
        assert_eq!(answered(&[first(), answer(), call()]), None, "the agent went on");
        assert_eq!(answered(&[first(), call(), answer()]), None);
    }

    #[test]
    fn the_cost_of_the_turn() {
        let used = |id: &'static str| {
            Item::Usage(Usage { message: Some(id.into()), input: 10, output: 2, ..Usage::default() })
        };
        let turn = [
            line(vec![said("0", "before"), used("0")]),
            line(vec![prompt()]),
            line(vec![said("a", "one"), used("a")]),
            line(vec![used("a")]),
            line(vec![said("b", "two"), used("b")]),
        ];
        assert_eq!(hear(&turn).tokens(), Some(Tokens { input: 20, output: 4 }));
        assert_eq!(hear(&turn[2..]).tokens(), None, "the beginning was not seen");
    }
}
