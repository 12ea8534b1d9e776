//! Reads messages in the format of the Anthropic API: text, tool_use and tool_result blocks.

use std::borrow::Cow;

use model::redact::MARGIN;
use model::transcript::{CallResult, GIVEN_BYTES, NAME_BYTES, TEXT_BYTES, Usage};

use super::walk::{Raw, Walk};

type Text<'a> = Cow<'a, str>;

/// How much is kept of the end of a result, where a test runner prints its summary.
const TAIL_BYTES: usize = 2048 + MARGIN;

#[derive(Debug, Default)]
pub struct Message<'a> {
    pub id: Option<Text<'a>>,
    pub role: Option<Text<'a>>,
    pub model: Option<Text<'a>>,
    pub texts: Vec<Text<'a>>,
    pub calls: Vec<RawCall<'a>>,
    pub results: Vec<RawResult<'a>>,
    pub usage: Option<Usage<'a>>,
}

/// A call whose input has not been parsed yet, because its meaning depends on the tool.
#[derive(Debug, Default)]
pub struct RawCall<'a> {
    pub id: Option<Text<'a>>,
    pub tool: Text<'a>,
    pub input: Raw<'a>,
}

#[derive(Debug, Default)]
pub struct RawResult<'a> {
    pub call: Option<Text<'a>>,
    pub failed: bool,
    pub content: Raw<'a>,
}

#[derive(Default)]
struct Block<'a> {
    kind: Text<'a>,
    id: Option<Text<'a>>,
    name: Text<'a>,
    text: Raw<'a>,
    input: Raw<'a>,
    content: Raw<'a>,
    failed: bool,
}

impl<'a> Message<'a> {
    /// Reads the next object. Keys that are not part of the API are passed to `other`, which must take their value.
    pub fn read(&mut self, walk: &mut Walk<'a>, other: &mut dyn FnMut(&'a [u8], &mut Walk<'a>)) {
        if !walk.object() {
            return;
        }
        while let Some(key) = walk.key() {
            match key {
                b"id" => self.id = walk.text(NAME_BYTES),
                b"role" => self.role = walk.text(NAME_BYTES),
                b"model" => self.model = walk.text(NAME_BYTES),
                b"usage" => self.usage = usage(walk),
                b"content" => self.content(walk),
                key => other(key, walk),
            }
        }
    }

    fn content(&mut self, walk: &mut Walk<'a>) {
        let mut probe = walk.clone();
        if !probe.array() {
            self.texts.extend(walk.text(TEXT_BYTES));
            return;
        }
        *walk = probe;
        while walk.element() {
            self.block(walk);
        }
    }

    fn block(&mut self, walk: &mut Walk<'a>) {
        let mut block = Block::default();
        if !walk.object() {
            return;
        }
        while let Some(key) = walk.key() {
            match key {
                b"type" => block.kind = walk.text(NAME_BYTES).unwrap_or_default(),
                b"id" | b"tool_use_id" => block.id = walk.text(NAME_BYTES),
                b"name" => block.name = walk.text(NAME_BYTES).unwrap_or_default(),
                b"text" => block.text = walk.raw(),
                b"input" => block.input = walk.raw(),
                b"content" => block.content = walk.raw(),
                b"is_error" => block.failed = walk.raw().is_true(),
                _ => walk.skip(),
            }
        }
        match block.kind.as_ref() {
            "text" => self.texts.extend(block.text.text(TEXT_BYTES)),
            "tool_use" => self.calls.push(RawCall { id: block.id, tool: block.name, input: block.input }),
            "tool_result" => {
                self.results.push(RawResult { call: block.id, failed: block.failed, content: block.content });
            }
            // Blocks of thinking, images and documents contain nothing to report.
            _ => {}
        }
    }
}

impl<'a> RawResult<'a> {
    /// Returns the result in the neutral form, with what all harnesses have in common.
    pub fn read(&self) -> CallResult<'a> {
        let max = if self.failed { TEXT_BYTES } else { GIVEN_BYTES };
        let text = self.content.text(max).unwrap_or_else(|| first_text(self.content, max));
        // If the text is complete, its end is not needed separately.
        let is_cut = !self.failed && text.len() >= GIVEN_BYTES;
        let tail = is_cut.then(|| self.content.tail(TAIL_BYTES)).flatten().unwrap_or_default();
        CallResult { call: self.call.clone(), failed: self.failed, text, tail, ..CallResult::default() }
    }
}

/// Returns the first text in a list of blocks.
pub fn first_text(content: Raw<'_>, max: usize) -> Text<'_> {
    let mut walk = content.walk();
    if !walk.array() {
        return Text::default();
    }
    while walk.element() {
        if !walk.object() {
            continue;
        }
        while let Some(key) = walk.key() {
            match key {
                b"text" => return walk.text(max).unwrap_or_default(),
                _ => walk.skip(),
            }
        }
    }
    Text::default()
}

fn usage<'a>(walk: &mut Walk<'a>) -> Option<Usage<'a>> {
    if !walk.object() {
        return None;
    }
    let mut usage = Usage::default();
    while let Some(key) = walk.key() {
        let figure = match key {
            b"input_tokens" => &mut usage.input,
            b"cache_read_input_tokens" => &mut usage.cache_read,
            b"cache_creation_input_tokens" => &mut usage.cache_write,
            b"output_tokens" => &mut usage.output,
            _ => {
                walk.skip();
                continue;
            }
        };
        *figure = walk.raw().number().unwrap_or_default();
    }
    Some(usage)
}
