//! Reads the end of a transcript backwards, to find the main agent's last message and the tokens of the turn.

use super::log::TurnTokens;
use crate::transcript::{TokenTotal, TranscriptItem, TranscriptLine};

#[derive(Clone, Debug, Default)]
pub struct LastTurn {
    last_message: MessageBlocks,
    /// The last message that a stop hook answered.
    answered_message: MessageBlocks,
    /// Whether all further messages are too old to be the last message. The transcript is read backwards, so this is
    /// true once a call, a result or another message has been read.
    is_past_message: bool,
    /// The time of the last stop-hook message.
    pub feedback_time: Option<String>,
    token_total: TokenTotal,
    /// Whether the start of the turn was reached.
    reached_turn_start: bool,
}

/// The blocks of one message, last block first, and the id of the message.
#[derive(Clone, Debug, Default)]
struct MessageBlocks {
    blocks: Vec<String>,
    id: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastAgentMessage {
    pub id: Option<String>,
    pub text: String,
    /// Whether a stop hook has already answered the message.
    pub is_answered: bool,
}

impl LastTurn {
    /// Reads one line. The caller starts with the last line. Returns false if no earlier lines are needed.
    pub fn read_line_backwards(&mut self, line: &TranscriptLine) -> bool {
        !line.is_of_main_agent()
            || line.items.iter().rev().all(|item| self.read_item(item, line.time_text.as_deref()))
    }

    fn read_item(&mut self, item: &TranscriptItem, at: Option<&str>) -> bool {
        if self.feedback_time.is_some() {
            // Lines are read from the end, so the message before the stop hook's feedback is the one that the hook
            // answered.
            return match item {
                TranscriptItem::AgentMessage { message_id, text } => {
                    self.answered_message.add_block(message_id.as_deref(), text)
                }
                TranscriptItem::StopHookFeedback { .. } | TranscriptItem::Usage(_) => true,
                _ => false,
            };
        }
        match item {
            TranscriptItem::Usage(usage) => self.token_total.add_usage(usage),
            TranscriptItem::AgentMessage { message_id, text } if !self.is_past_message => {
                self.is_past_message = !self.last_message.add_block(message_id.as_deref(), text);
            }
            TranscriptItem::AgentMessage { .. } => {}
            TranscriptItem::Prompt { .. } | TranscriptItem::QueuedPrompt { .. } => {
                self.reached_turn_start = true;
                return false;
            }
            TranscriptItem::StopHookFeedback { .. } => {
                self.reached_turn_start = true;
                self.feedback_time = Some(at.unwrap_or_default().to_owned());
                // Read on only if the agent has neither written anything nor made a call since the hook's message.
                // Otherwise, the message that the hook answered is not the last one.
                return self.last_message.blocks.is_empty() && !self.is_past_message;
            }
            _ => self.is_past_message = true,
        }
        true
    }

    /// Returns the last message. Returns `None` if there is none since the last call or prompt, or if it is not in the
    /// transcript yet.
    pub fn last_message(&self) -> Option<LastAgentMessage> {
        let of = |words: &MessageBlocks, answered| {
            let text = words.joined_text()?;
            Some(LastAgentMessage { id: words.id.clone(), text, is_answered: answered })
        };
        of(&self.last_message, false).or_else(|| of(&self.answered_message, true))
    }

    /// Returns the last message if it has the text that the harness reported. The harness may report only the last of
    /// several blocks.
    pub fn last_message_with_text(&self, text: &str) -> Option<LastAgentMessage> {
        let is_it = |said: &str| {
            let (said, text) = (said.trim(), text.trim());
            // Transcript readers truncate very long messages.
            said == text
                || said.len() >= crate::transcript::MAX_DECODED_TEXT_BYTES / 2 && text.starts_with(said)
        };
        let message = self.last_message()?;
        let words = if message.is_answered { &self.answered_message } else { &self.last_message };
        let fits = is_it(&message.text) || words.blocks.first().is_some_and(|block| is_it(block));
        fits.then(|| LastAgentMessage { text: text.to_owned(), ..message })
    }

    /// Returns the tokens of the turn, if the whole turn was read.
    pub fn turn_tokens(&self) -> Option<TurnTokens> {
        self.reached_turn_start.then(|| TurnTokens::from_usage(&self.token_total.total_usage())).flatten()
    }
}

impl MessageBlocks {
    /// Adds another block. Returns false if the block belongs to another message.
    fn add_block(&mut self, id: Option<&str>, text: &str) -> bool {
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
    use crate::transcript::{
        CallResult, DeferredText, PromptOrigin, TokenUsage, ToolCall, TranscriptLineAuthor,
    };

    fn said_item(id: &'static str, text: &'static str) -> TranscriptItem<'static> {
        TranscriptItem::AgentMessage { message_id: Some(id.into()), text: text.into() }
    }

    fn prompt_item() -> TranscriptItem<'static> {
        TranscriptItem::Prompt { text: "go".into(), origin: PromptOrigin::PlainText }
    }

    fn read_lines(lines: &[TranscriptLine]) -> LastTurn {
        let mut turn = LastTurn::default();
        let _ = lines.iter().rev().all(|line| turn.read_line_backwards(line));
        turn
    }

    fn transcript_line(items: Vec<TranscriptItem<'static>>) -> TranscriptLine<'static> {
        TranscriptLine { items, ..TranscriptLine::default() }
    }

    #[test]
    fn the_last_message_of_the_main_agent() {
        let call = || TranscriptItem::Call(ToolCall::default());
        let result = || {
            TranscriptItem::Result(CallResult {
                text: DeferredText::Decoded("<promise>ALL DONE</promise>".into()),
                ..CallResult::default()
            })
        };
        let side = TranscriptLine {
            author: TranscriptLineAuthor::SubAgent { agent: None },
            ..transcript_line(vec![said_item("x", "<promise>ALL DONE</promise>")])
        };
        let rows: Vec<(&str, Vec<TranscriptLine>, Option<&str>)> = vec![
            (
                "plain",
                vec![transcript_line(vec![prompt_item()]), transcript_line(vec![said_item("a", "one")])],
                Some("one"),
            ),
            (
                "the newest",
                vec![
                    transcript_line(vec![said_item("a", "one")]),
                    transcript_line(vec![said_item("b", "two")]),
                ],
                Some("two"),
            ),
            (
                "blocks of one message",
                vec![
                    transcript_line(vec![said_item("a", "one")]),
                    transcript_line(vec![said_item("a", "two")]),
                ],
                Some("one\ntwo"),
            ),
            (
                "the last block is a tool call",
                vec![transcript_line(vec![said_item("a", "one"), call()])],
                None,
            ),
            (
                "a tool result",
                vec![transcript_line(vec![said_item("a", "one"), call()]), transcript_line(vec![result()])],
                None,
            ),
            ("a sub-agent", vec![transcript_line(vec![said_item("a", "one")]), side], Some("one")),
            (
                "the answer to a prompt is not written yet",
                vec![transcript_line(vec![said_item("a", "one")]), transcript_line(vec![prompt_item()])],
                None,
            ),
            (
                "the answer to a stop hook's message is not written yet",
                vec![
                    transcript_line(vec![said_item("a", "one")]),
                    transcript_line(vec![TranscriptItem::StopHookFeedback { text: "go on".into() }]),
                ],
                None,
            ),
            ("nothing at all", vec![], None),
        ];
        for (about, lines, expected) in &rows {
            assert_eq!(
                read_lines(lines)
                    .last_message()
                    .filter(|said| !said.is_answered)
                    .map(|said| said.text)
                    .as_deref(),
                *expected,
                "{about}"
            );
        }
    }

    #[test]
    fn its_id_only_if_it_is_the_same() {
        let id = |turn: &LastTurn, text: &str| turn.last_message_with_text(text).and_then(|said| said.id);
        let turn = read_lines(&[
            transcript_line(vec![said_item("a", "one")]),
            transcript_line(vec![said_item("b", "all\n\ndone ")]),
        ]);
        assert_eq!(id(&turn, "all\n\ndone").as_deref(), Some("b"));
        assert_eq!((id(&turn, "done"), id(&turn, "one")), (None, None));
        let blocks = read_lines(&[transcript_line(vec![said_item("a", "one"), said_item("a", "two")])]);
        assert_eq!(id(&blocks, "two").as_deref(), Some("a"));
        assert_eq!((id(&blocks, "one\ntwo").as_deref(), id(&blocks, "one")), (Some("a"), None));
    }

    /// The slower of two hooks finds the answer that the faster hook gave to the same message.
    #[test]
    fn a_message_that_was_answered_already() {
        let answer = || transcript_line(vec![TranscriptItem::StopHookFeedback { text: "go on".into() }]);
        let call = || transcript_line(vec![TranscriptItem::Call(ToolCall::default())]);
        let first = || transcript_line(vec![said_item("a", "one")]);
        let answered = |lines: &[TranscriptLine]| {
            read_lines(lines).last_message_with_text("one").map(|said| (said.id, said.is_answered))
        };
        let of = |id: &str, answered| Some((Some(id.to_owned()), answered));
        assert_eq!(answered(&[first(), answer()]), of("a", true));
        assert_eq!(answered(&[first(), answer(), answer()]), of("a", true));
        assert_eq!(
            answered(&[first(), answer(), transcript_line(vec![said_item("b", "one")])]),
            of("b", false)
        );
        assert_eq!(answered(&[transcript_line(vec![said_item("a", "other")]), answer()]), None);
        assert_eq!(answered(&[first(), answer(), call()]), None, "the agent went on");
        assert_eq!(answered(&[first(), call(), answer()]), None);
    }

    #[test]
    fn the_cost_of_the_turn() {
        let used = |id: &'static str| {
            TranscriptItem::Usage(TokenUsage {
                message_id: Some(id.into()),
                input: 10,
                output: 2,
                ..TokenUsage::default()
            })
        };
        let turn = [
            transcript_line(vec![said_item("0", "before"), used("0")]),
            transcript_line(vec![prompt_item()]),
            transcript_line(vec![said_item("a", "one"), used("a")]),
            transcript_line(vec![used("a")]),
            transcript_line(vec![said_item("b", "two"), used("b")]),
        ];
        assert_eq!(read_lines(&turn).turn_tokens(), Some(TurnTokens { input: 20, output: 4 }));
        assert_eq!(read_lines(&turn[2..]).turn_tokens(), None, "the beginning was not seen");
    }
}
