//! `cargo xtask tokens DIR`: compares the token estimate with the usage that transcripts record.
//!
//! The input of a request is the whole conversation before it. So the input grows from one request to the next by the
//! text that was added in between. This growth is called a step. A step is used only if nearly all of its text is of
//! one kind. Its growth is then the number of tokens of that text.

use std::path::PathBuf;

use anyhow::{Result, bail};
use model::config::Settings;
use model::render::utf16_length;
use model::tokens::{TokenRatios, TokenTextKind};
use serde_json::{Value, json};

use crate::recall::each_transcript;
use crate::table::{ColumnAlignment, plain_table};

/// The minimum number of characters in a step. The harness also sends text that the transcript does not contain. In a
/// smaller step, this text would distort the result.
const MIN_STEP_CHARS: usize = 600;

/// The minimum share of a step's characters that must be of one kind.
const MIN_KIND_SHARE: f64 = 0.85;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// A folder of Claude Code transcripts (*.jsonl, *.jsonl.gz)
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    #[arg(long)]
    json: bool,
}

pub fn run_tokens(args: &Args) -> Result<bool> {
    let mut steps = Vec::new();
    each_transcript(&args.folder, "", |_, bytes| {
        steps.extend(read_steps(bytes));
        Ok(())
    })?;
    if steps.is_empty() {
        bail!("{} contains no transcript with usage", args.folder.display());
    }
    let ratios = Settings::DEFAULT.scoring_settings().ratios;
    let figures: Vec<ErrorFigures> = TokenTextKind::ALL
        .iter()
        .filter_map(|kind| ErrorFigures::from_steps(&steps, *kind, &ratios))
        .collect();
    match args.json {
        true => println!(
            "{}",
            serde_json::to_string_pretty(&figures.iter().map(ErrorFigures::to_json).collect::<Vec<_>>())?
        ),
        false => print_token_estimate_errors(&figures),
    }
    Ok(true)
}

/// The text that was added between two requests, and the growth of the input in tokens.
#[derive(Clone, Debug, PartialEq)]
struct TokenStep {
    kind: TokenTextKind,
    /// The number of characters of each kind, in the order of [`TokenTextKind::ALL`].
    chars: [usize; 4],
    token_growth: u64,
}

impl TokenStep {
    /// Returns the error of an estimate, as a percentage of the true number; positive if the estimate is too high.
    fn estimate_error(&self, ratios: &TokenRatios) -> f64 {
        let estimate: f64 = TokenTextKind::ALL
            .iter()
            .zip(self.chars)
            .map(|(kind, chars)| ratios.ratio_of(*kind) * chars as f64)
            .sum();
        100.0 * (estimate - self.token_growth as f64) / self.token_growth as f64
    }
}

/// The text that the transcript contains between two requests.
#[derive(Default)]
struct TextBetweenRequests {
    chars: [usize; 4],
    /// Whether the transcript may lack part of the text. Thinking may be shortened, and pictures have no text.
    is_unclear: bool,
}

impl TextBetweenRequests {
    fn add_text(&mut self, kind: TokenTextKind, text: &str) {
        self.chars[kind as usize] += utf16_length(text);
    }

    /// Returns the step if nearly all of its text is of one kind.
    fn to_step(&self, token_growth: u64) -> Option<TokenStep> {
        let sum: usize = self.chars.iter().sum();
        let (kind, most) = TokenTextKind::ALL.iter().zip(self.chars).max_by_key(|(_, chars)| *chars)?;
        let counts = !self.is_unclear
            && most >= MIN_STEP_CHARS
            && most as f64 >= MIN_KIND_SHARE * sum as f64
            && token_growth > 0;
        counts.then_some(TokenStep { kind: *kind, chars: self.chars, token_growth })
    }
}

fn read_steps(bytes: &[u8]) -> Vec<TokenStep> {
    let mut steps = Vec::new();
    let (mut request, mut input) = (String::new(), 0_u64);
    let mut between = TextBetweenRequests::default();
    let mut calls: Vec<(String, TokenTextKind)> = Vec::new();
    let mut has_thought = false;
    let lines =
        bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    for line in lines.filter(|line| line["isSidechain"] != true) {
        let content = &line["message"]["content"];
        match line["type"].as_str() {
            Some("assistant") => {
                let id = line["message"]["id"].as_str().unwrap_or_default();
                if id != request {
                    let now = input_tokens(&line["message"]["usage"]);
                    steps.extend(between.to_step(now.saturating_sub(input)).filter(|_| input > 0));
                    (request, input, between) = (id.to_owned(), now, TextBetweenRequests::default());
                }
                for block in content.as_array().into_iter().flatten() {
                    add_agent_block(block, &mut between, &mut calls);
                    has_thought |= block["type"].as_str().is_some_and(|kind| kind.ends_with("thinking"));
                }
            }
            Some("user") if content.is_string() => {
                let text = content.as_str().unwrap_or_default();
                between.add_text(kind_of_written_text(text), text);
                // When a prompt arrives, the thinking of the previous turn is removed from the input, so the growth
                // is unclear.
                between.is_unclear |= has_thought || line["isMeta"] == true;
                has_thought = false;
            }
            Some("user") => {
                for block in content.as_array().into_iter().flatten() {
                    add_result_block(block, &mut between, &calls);
                }
            }
            Some("system") => between.is_unclear = true,
            _ => {}
        }
    }
    steps
}

/// Returns the number of input tokens of a request, whether cached or not.
fn input_tokens(usage: &Value) -> u64 {
    let fields = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
    fields.iter().filter_map(|field| usage[field].as_u64()).sum()
}

fn add_agent_block(
    block: &Value,
    between: &mut TextBetweenRequests,
    calls: &mut Vec<(String, TokenTextKind)>,
) {
    match block["type"].as_str() {
        Some("text") => {
            let text = block["text"].as_str().unwrap_or_default();
            between.add_text(kind_of_written_text(text), text);
        }
        Some("tool_use") => {
            let input = &block["input"];
            let kind = match (block["name"].as_str(), input["file_path"].as_str()) {
                (Some("Read"), Some(path)) => TokenTextKind::kind_of_file_content(path),
                (Some("Task" | "Agent" | "WebFetch" | "WebSearch"), _) => TokenTextKind::Markdown,
                _ => TokenTextKind::Code,
            };
            calls.push((block["id"].as_str().unwrap_or_default().to_owned(), kind));
            // Only the strings in an input are counted. In an edit, they contain code. Other inputs are short.
            for value in input.as_object().into_iter().flat_map(|fields| fields.values()) {
                match value.as_str() {
                    Some(text) if input["prompt"].as_str() == Some(text) => {
                        between.add_text(kind_of_written_text(text), text);
                    }
                    Some(text) => between.add_text(
                        input["file_path"]
                            .as_str()
                            .map_or(TokenTextKind::Code, TokenTextKind::kind_of_file_content),
                        text,
                    ),
                    None => between.add_text(TokenTextKind::Json, &value.to_string()),
                }
            }
        }
        Some("thinking" | "redacted_thinking") => between.is_unclear = true,
        _ => {}
    }
}

fn add_result_block(block: &Value, between: &mut TextBetweenRequests, calls: &[(String, TokenTextKind)]) {
    let Some("tool_result") = block["type"].as_str() else {
        between.is_unclear = true;
        return;
    };
    let kind = calls.iter().rev().find(|(id, _)| block["tool_use_id"] == id.as_str()).map(|(_, kind)| *kind);
    let kind_of = |text: &str| {
        let is_json =
            serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object() || value.is_array());
        match kind.unwrap_or_default() {
            _ if is_json => TokenTextKind::Json,
            TokenTextKind::Markdown => kind_of_written_text(text),
            kind => kind,
        }
    };
    match &block["content"] {
        Value::String(text) => between.add_text(kind_of(text), text),
        Value::Array(parts) => parts.iter().for_each(|part| match part["text"].as_str() {
            Some(text) => between.add_text(kind_of(text), text),
            None => between.is_unclear = true,
        }),
        _ => {}
    }
}

/// Returns the kind of text that a person or an agent wrote. Text with headings, lists or emphasis is markdown.
fn kind_of_written_text(text: &str) -> TokenTextKind {
    let marks = text.lines().filter(|line| {
        let line = line.trim_start();
        line.starts_with(['#', '|', '`'])
            || line.starts_with("- ")
            || line.contains("**")
            || line.contains('`')
    });
    match marks.count() * 5 >= text.lines().count().max(1) {
        true => TokenTextKind::Markdown,
        false => TokenTextKind::Prose,
    }
}

/// The errors of the estimates for one kind of text.
struct ErrorFigures {
    kind: TokenTextKind,
    texts: usize,
    /// The median of the measured ratios of tokens to characters. Each text has the ratio that makes its estimate
    /// exact.
    median_exact_ratio: f64,
    ratio: f64,
    /// The median of the errors in percent, with its sign.
    median: f64,
    /// The error in percent that nine out of ten estimates do not exceed.
    p90: f64,
    /// The values that `median` and `p90` would have with the ratio 0.33, which is used if scoring is off.
    uniform_ratio_errors: (f64, f64),
}

impl ErrorFigures {
    fn from_steps(steps: &[TokenStep], kind: TokenTextKind, ratios: &TokenRatios) -> Option<ErrorFigures> {
        let of_kind: Vec<&TokenStep> = steps.iter().filter(|step| step.kind == kind).collect();
        let errors = |ratios: &TokenRatios| -> (f64, f64) {
            let errors: Vec<f64> = of_kind.iter().map(|step| step.estimate_error(ratios)).collect();
            (
                percentile(&errors, 50.0),
                percentile(&errors.iter().map(|error| error.abs()).collect::<Vec<_>>(), 90.0),
            )
        };
        let measured: Vec<f64> = of_kind
            .iter()
            .map(|step| step.token_growth as f64 / step.chars.iter().sum::<usize>() as f64)
            .collect();
        let (median, p90) = errors(ratios);
        (!of_kind.is_empty()).then(|| ErrorFigures {
            kind,
            texts: of_kind.len(),
            median_exact_ratio: percentile(&measured, 50.0),
            ratio: ratios.ratio_of(kind),
            median,
            p90,
            uniform_ratio_errors: errors(&TokenRatios::UNIFORM_RATIOS),
        })
    }

    fn to_json(&self) -> Value {
        json!({
            "kind": self.kind.name(), "texts": self.texts, "measured_ratio": self.median_exact_ratio, "ratio": self.ratio,
            "median_error_percent": self.median, "p90_error_percent": self.p90,
            "uniform": { "median_error_percent": self.uniform_ratio_errors.0, "p90_error_percent": self.uniform_ratio_errors.1 },
        })
    }
}

fn print_token_estimate_errors(figures: &[ErrorFigures]) {
    let head =
        ["kind", "texts", "tokens per character", "ratio", "error, median", "p90", "0.33: median", "p90"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for one in figures {
        rows.push(vec![
            one.kind.name().to_owned(),
            one.texts.to_string(),
            format!("{:.3}", one.median_exact_ratio),
            format!("{:.2}", one.ratio),
            format!("{:+.0} %", one.median),
            format!("{:.0} %", one.p90),
            format!("{:+.0} %", one.uniform_ratio_errors.0),
            format!("{:.0} %", one.uniform_ratio_errors.1),
        ]);
    }
    let mut align = [ColumnAlignment::Right; 8];
    align[0] = ColumnAlignment::Left;
    print!("{}", plain_table(&align, &rows));
}

/// Returns the smallest value such that at least `percent` percent of all values are no larger.
fn percentile(values: &[f64], percent: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (percent / 100.0 * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assistant_line(id: &str, input: u64, content: &Value) -> Value {
        let usage = json!({"input_tokens": 10, "cache_read_input_tokens": input - 10, "output_tokens": 1});
        json!({"type": "assistant", "message": {"id": id, "usage": usage, "content": content}})
    }

    fn result_line(text: &str) -> Value {
        let block = json!({"type": "tool_result", "tool_use_id": "t", "content": text});
        json!({"type": "user", "message": {"content": [block]}})
    }

    fn steps_of_lines(lines: &[Value]) -> Vec<TokenStep> {
        read_steps(lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n").as_bytes())
    }

    #[test]
    fn the_input_grows_by_what_was_returned() {
        let call = |path: &str| json!([{"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": path}}]);
        let text = "let a = 1;\n".repeat(100);
        let found = steps_of_lines(&[
            assistant_line("m1", 1_000, &call("a.rs")),
            assistant_line("m1", 1_000, &json!([])),
            result_line(&text),
            assistant_line("m2", 1_441, &call("b.md")),
            result_line("short"),
            assistant_line("m3", 1_450, &json!([])),
        ]);
        assert_eq!(
            found,
            [TokenStep { kind: TokenTextKind::Code, chars: [0, 1_104, 0, 0], token_growth: 441 }]
        );
        assert!(
            (found[0].estimate_error(&TokenRatios { code: 0.4, ..TokenRatios::UNIFORM_RATIOS }) - 0.136_054)
                .abs()
                < 1e-4
        );
    }

    #[test]
    fn steps_whose_text_is_not_all_written_down_do_not_count() {
        let text = "some words about the parser\n".repeat(60);
        let said = json!([{"type": "text", "text": text}]);
        let thought = json!([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": text}]);
        let prompt = json!({"type": "user", "message": {"content": "go on"}});
        let call = json!([{"type": "thinking", "thinking": "hm"}, {"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]);
        let next = assistant_line("m2", 2_000, &json!([]));
        assert_eq!(steps_of_lines(&[assistant_line("m1", 1_000, &thought), next.clone()]), []);
        let turn = [
            assistant_line("m0", 900, &call),
            result_line("x"),
            assistant_line("m1", 1_000, &said),
            prompt,
            next.clone(),
        ];
        assert_eq!(steps_of_lines(&turn), [], "its thinking is dropped");
        assert_eq!(steps_of_lines(&[assistant_line("m1", 3_000, &said), next.clone()]), [], "a compaction");
        let found = steps_of_lines(&[assistant_line("m1", 1_000, &said), next]);
        assert_eq!(
            found,
            [TokenStep { kind: TokenTextKind::Prose, chars: [1_680, 0, 0, 0], token_growth: 1_000 }]
        );
    }
}
