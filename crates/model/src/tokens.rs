//! Estimates the number of tokens in text from its length and kind. A real tokenizer would be larger than the whole
//! binary. `cargo xtask tokens` compares the estimate with real usage.

use serde::Serialize;

/// The kind of text. Code has more tokens per character than prose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TokenTextKind {
    #[default]
    Prose,
    Code,
    Markdown,
    Json,
}

impl TokenTextKind {
    pub const ALL: [TokenTextKind; 4] =
        [TokenTextKind::Prose, TokenTextKind::Code, TokenTextKind::Markdown, TokenTextKind::Json];

    pub fn name(self) -> &'static str {
        match self {
            TokenTextKind::Prose => "prose",
            TokenTextKind::Code => "code",
            TokenTextKind::Markdown => "markdown",
            TokenTextKind::Json => "json",
        }
    }

    /// Returns the kind of a file by its extension.
    pub fn kind_of_file_content(path: &str) -> TokenTextKind {
        let name = path.rsplit('/').next().unwrap_or(path);
        match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
            "md" | "markdown" | "mdx" => TokenTextKind::Markdown,
            "json" | "jsonl" | "jsonc" | "geojson" => TokenTextKind::Json,
            "txt" | "rst" | "adoc" | "" => TokenTextKind::Prose,
            _ => TokenTextKind::Code,
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

    pub fn ratio_of(&self, kind: TokenTextKind) -> f64 {
        match kind {
            TokenTextKind::Prose => self.prose,
            TokenTextKind::Code => self.code,
            TokenTextKind::Markdown => self.markdown,
            TokenTextKind::Json => self.json,
        }
    }

    /// Returns the estimated number of tokens in text with this many characters, rounded up.
    pub fn estimate_tokens(&self, kind: TokenTextKind, chars: usize) -> usize {
        round_up_to_tokens(chars as f64 * self.ratio_of(kind))
    }
}

/// Rounds up to whole tokens. In floating point, 700 × 0.33 is slightly more than 231 but must still give 231 tokens.
pub fn round_up_to_tokens(tokens: f64) -> usize {
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
        let tokens = TokenTextKind::ALL.map(|kind| ratios.estimate_tokens(kind, 1_000));
        assert_eq!(tokens, [250, 400, 300, 350]);
        assert_eq!(TokenTextKind::ALL.map(|kind| ratios.estimate_tokens(kind, 1)), [1; 4], "rounded up");
        assert_eq!(ratios.estimate_tokens(TokenTextKind::Code, 0), 0);
    }

    /// Earlier versions computed the estimate with integers. The result must stay the same.
    #[test]
    fn where_scoring_is_off_every_text_counts_a_third() {
        for chars in 0..5_000_usize {
            assert_eq!(
                TokenRatios::UNIFORM_RATIOS.estimate_tokens(TokenTextKind::Json, chars),
                (chars * 33).div_ceil(100),
                "{chars}"
            );
        }
    }

    #[test]
    fn a_file_is_of_the_kind_of_its_ending() {
        for (path, kind) in [
            ("src/a.rs", TokenTextKind::Code),
            ("docs/plan.md", TokenTextKind::Markdown),
            ("a.b/LICENSE", TokenTextKind::Prose),
            ("package.json", TokenTextKind::Json),
            ("notes.txt", TokenTextKind::Prose),
        ] {
            assert_eq!(TokenTextKind::kind_of_file_content(path), kind, "{path}");
        }
    }
}
