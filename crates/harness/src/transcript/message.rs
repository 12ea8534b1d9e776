//! Reads messages in the format of the Anthropic API: text, tool_use and tool_result blocks.

use std::borrow::Cow;

use model::redact::REDACTION_MARGIN_BYTES;
use model::transcript::{
    CallResult, DeferredText, MAX_CALL_RESULT_BYTES, MAX_DECODED_TEXT_BYTES, MAX_NAME_BYTES, TokenUsage,
};

use super::walk::{JsonWalk, RawJson};

type Text<'a> = Cow<'a, str>;

/// How many bytes at the end of a result are kept. A test runner prints its summary at the end.
const RESULT_TAIL_BYTES: usize = 2048 + REDACTION_MARGIN_BYTES;

#[derive(Debug, Default)]
pub struct ApiMessage<'a> {
    pub id: Option<Text<'a>>,
    pub role: Option<Text<'a>>,
    pub model: Option<Text<'a>>,
    pub texts: Vec<Text<'a>>,
    pub calls: Vec<RawCall<'a>>,
    pub results: Vec<UndecodedToolResult<'a>>,
    pub usage: Option<TokenUsage<'a>>,
}

/// A call whose input is not parsed yet, because the meaning of the input depends on the tool.
#[derive(Debug, Default)]
pub struct RawCall<'a> {
    pub id: Option<Text<'a>>,
    pub tool: Text<'a>,
    pub input: RawJson<'a>,
}

#[derive(Debug, Default)]
pub struct UndecodedToolResult<'a> {
    pub call_id: Option<Text<'a>>,
    pub failed: bool,
    pub content: RawJson<'a>,
}

#[derive(Default)]
struct ContentBlock<'a> {
    kind: Text<'a>,
    id: Option<Text<'a>>,
    name: Text<'a>,
    text: RawJson<'a>,
    input: RawJson<'a>,
    content: RawJson<'a>,
    failed: bool,
}

impl<'a> ApiMessage<'a> {
    /// Reads the next object. `other` is called for keys that are not part of the API, and must read their values.
    pub fn read_object(
        &mut self,
        walk: &mut JsonWalk<'a>,
        other: &mut dyn FnMut(&'a [u8], &mut JsonWalk<'a>),
    ) {
        if !walk.enter_object() {
            return;
        }
        while let Some(key) = walk.next_key() {
            match key {
                b"id" => self.id = walk.take_text(MAX_NAME_BYTES),
                b"role" => self.role = walk.take_text(MAX_NAME_BYTES),
                b"model" => self.model = walk.take_text(MAX_NAME_BYTES),
                b"usage" => self.usage = read_usage(walk),
                b"content" => self.read_content(walk),
                key => other(key, walk),
            }
        }
    }

    fn read_content(&mut self, walk: &mut JsonWalk<'a>) {
        let mut probe = walk.clone();
        if !probe.enter_array() {
            self.texts.extend(walk.take_text(MAX_DECODED_TEXT_BYTES));
            return;
        }
        *walk = probe;
        while walk.next_element() {
            self.read_block(walk);
        }
    }

    fn read_block(&mut self, walk: &mut JsonWalk<'a>) {
        let mut block = ContentBlock::default();
        if !walk.enter_object() {
            return;
        }
        while let Some(key) = walk.next_key() {
            match key {
                b"type" => block.kind = walk.take_text(MAX_NAME_BYTES).unwrap_or_default(),
                b"id" | b"tool_use_id" => block.id = walk.take_text(MAX_NAME_BYTES),
                b"name" => block.name = walk.take_text(MAX_NAME_BYTES).unwrap_or_default(),
                b"text" => block.text = walk.take_raw(),
                b"input" => block.input = walk.take_raw(),
                b"content" => block.content = walk.take_raw(),
                b"is_error" => block.failed = walk.take_raw().is_true(),
                _ => walk.skip_value(),
            }
        }
        match block.kind.as_ref() {
            "text" => self.texts.extend(block.text.text(MAX_DECODED_TEXT_BYTES)),
            "tool_use" => self.calls.push(RawCall { id: block.id, tool: block.name, input: block.input }),
            "tool_result" => {
                self.results.push(UndecodedToolResult {
                    call_id: block.id,
                    failed: block.failed,
                    content: block.content,
                });
            }
            // Thinking blocks, images and documents are not needed.
            _ => {}
        }
    }
}

impl<'a> UndecodedToolResult<'a> {
    /// Returns the result of a call whose output is not needed. Decoding the output would take longer than reading
    /// everything else.
    pub fn to_result_without_text(&self) -> CallResult<'a> {
        CallResult { call_id: self.call_id.clone(), failed: self.failed, ..CallResult::default() }
    }

    /// Returns the result in the form that all harnesses share.
    pub fn to_call_result(&self) -> CallResult<'a> {
        let (text, last_lines) = match self.failed {
            true => {
                let text = text_of_content(self.content, MAX_DECODED_TEXT_BYTES);
                (DeferredText::Decoded(text), DeferredText::default())
            }
            false => {
                let json = self.content.as_json_bytes();
                (DeferredText::Encoded(json, start_of_output), DeferredText::Encoded(json, end_of_cut_output))
            }
        };
        let (call_id, failed) = (self.call_id.clone(), self.failed);
        CallResult { call_id, failed, text, last_lines, ..CallResult::default() }
    }
}

fn start_of_output(json: &[u8]) -> Text<'_> {
    text_of_content(RawJson::new(json), MAX_CALL_RESULT_BYTES)
}

/// Returns the last lines of an output that is too long to be kept in full. Returns an empty text for a shorter
/// output.
fn end_of_cut_output(json: &[u8]) -> Text<'_> {
    let is_cut = json.len() > MAX_CALL_RESULT_BYTES;
    is_cut.then(|| RawJson::new(json).last_lines(RESULT_TAIL_BYTES)).flatten().unwrap_or_default()
}

fn text_of_content(content: RawJson<'_>, max: usize) -> Text<'_> {
    content.text(max).unwrap_or_else(|| first_text_block(content, max))
}

/// Returns the first text in a list of blocks.
pub fn first_text_block(content: RawJson<'_>, max: usize) -> Text<'_> {
    let mut walk = content.walk();
    if !walk.enter_array() {
        return Text::default();
    }
    while walk.next_element() {
        if !walk.enter_object() {
            continue;
        }
        while let Some(key) = walk.next_key() {
            match key {
                b"text" => return walk.take_text(max).unwrap_or_default(),
                _ => walk.skip_value(),
            }
        }
    }
    Text::default()
}

fn read_usage<'a>(walk: &mut JsonWalk<'a>) -> Option<TokenUsage<'a>> {
    if !walk.enter_object() {
        return None;
    }
    let mut usage = TokenUsage::default();
    while let Some(key) = walk.next_key() {
        let figure = match key {
            b"input_tokens" => &mut usage.input,
            b"cache_read_input_tokens" => &mut usage.cache_read,
            b"cache_creation_input_tokens" => &mut usage.cache_write,
            b"output_tokens" => &mut usage.output,
            _ => {
                walk.skip_value();
                continue;
            }
        };
        *figure = walk.take_raw().number().unwrap_or_default();
    }
    Some(usage)
}
