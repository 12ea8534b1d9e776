//! Estimates the number of tokens in text from its length and kind. A real tokenizer would be larger than the whole
//! binary. `cargo xtask tokens` compares the estimate with real usage.

use serde::Serialize;

/// The kind of text. Code has more tokens per character than prose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TextKind {
    #[default]
    Prose,
    Code,
    Markdown,
    Json,
}

impl TextKind {
    pub const ALL: [TextKind; 4] = [TextKind::Prose, TextKind::Code, TextKind::Markdown, TextKind::Json];

    pub fn name(self) -> &'static str {
        match self {
            TextKind::Prose => "prose",
            TextKind::Code => "code",
            TextKind::Markdown => "markdown",
            TextKind::Json => "json",
        }
    }

    /// Returns the kind of a file by its extension.
    pub fn of_path(path: &str) -> TextKind {
        let name = path.rsplit('/').next().unwrap_or(path);
        match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
            "md" | "markdown" | "mdx" => TextKind::Markdown,
            "json" | "jsonl" | "jsonc" | "geojson" => TextKind::Json,
            "txt" | "rst" | "adoc" | "" => TextKind::Prose,
            _ => TextKind::Code,
        }
    }
}

/// The number of tokens per character (UTF-16 unit) for each kind of text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenRatios {
    pub prose: f64,
    pub code: f64,
    pub markdown: f64,
    pub json: f64,
}

impl TokenRatios {
    /// One ratio for every kind of text, used if scoring is off.
    pub const UNIFORM_RATIOS: TokenRatios =
        TokenRatios { prose: 0.33, code: 0.33, markdown: 0.33, json: 0.33 };

    pub fn ratio_of(&self, kind: TextKind) -> f64 {
        match kind {
            TextKind::Prose => self.prose,
            TextKind::Code => self.code,
            TextKind::Markdown => self.markdown,
            TextKind::Json => self.json,
        }
    }

    /// Returns the estimated number of tokens in text with this many characters, rounded up.
    pub fn estimate_tokens(&self, kind: TextKind, chars: usize) -> usize {
        round_up(chars as f64 * self.ratio_of(kind))
    }
}

/// Rounds up to whole tokens. In floating point, 700 × 0.33 is slightly more than 231 but must still give 231 tokens.
pub fn round_up(tokens: f64) -> usize {
    (tokens - 1e-6).ceil().max(0.0) as usize
}

/// Returns how many characters fit into `tokens` if scoring is off.
pub fn chars_for_tokens(tokens: usize) -> usize {
    tokens.saturating_mul(100) / 33
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_ratios_of_their_own() {
        let ratios = TokenRatios { prose: 0.25, code: 0.40, markdown: 0.30, json: 0.35 };
        let tokens = TextKind::ALL.map(|kind| ratios.estimate_tokens(kind, 1_000));
        assert_eq!(tokens, [250, 400, 300, 350]);
        assert_eq!(TextKind::ALL.map(|kind| ratios.estimate_tokens(kind, 1)), [1; 4], "rounded up");
        assert_eq!(ratios.estimate_tokens(TextKind::Code, 0), 0);
    }

    /// Earlier versions computed the estimate with integers. The result must stay the same.
    #[test]
    fn where_scoring_is_off_every_text_counts_a_third() {
        for chars in 0..5_000_usize {
            assert_eq!(
                TokenRatios::UNIFORM_RATIOS.estimate_tokens(TextKind::Json, chars),
                (chars * 33).div_ceil(100),
                "{chars}"
            );
        }
    }

    #[test]
    fn a_file_is_of_the_kind_of_its_ending() {
        for (path, kind) in [
            ("src/a.rs", TextKind::Code),
            ("docs/plan.md", TextKind::Markdown),
            ("a.b/LICENSE", TextKind::Prose),
            ("package.json", TextKind::Json),
            ("notes.txt", TextKind::Prose),
        ] {
            assert_eq!(TextKind::of_path(path), kind, "{path}");
        }
    }
}
