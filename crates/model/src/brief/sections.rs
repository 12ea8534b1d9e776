pub mod checks;
pub mod commands;
pub mod done;
mod earlier;
pub mod failures;
pub mod files;
pub mod goal;
mod overtaken;
mod short_answers;
pub mod state;
pub mod words;

use crate::render::quote_part;
use crate::statement::best_sentences;

/// Quotes the agent's text, which is a part of a message. If it is longer than `max`, quotes only its most informative sentences. A sentence that is
/// a little too long is quoted in full, because its end is often its point.
fn quote_agent_words(text: &str, message: &str, max: usize) -> String {
    let most = max * 4 / 3;
    let told = best_sentences(text, max, most, "");
    quote_part(&told, message, most + 2)
}

/// Returns whether the end of a sentence was cut off. If whole sentences were left out, a space precedes the ellipsis.
fn is_cut_in_sentence(told: &str) -> bool {
    told.strip_suffix('…').is_some_and(|kept| !kept.ends_with(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_that_is_a_little_too_long_is_not_cut() {
        let whole = "The reader keeps its place because `skip` counts the lines itself.";
        let text = format!("{whole} {}", "The rest is as it was before the change. ".repeat(4));
        assert_eq!(quote_agent_words(&text, &text, 60), format!("“{whole} …”"));
        assert_eq!(quote_agent_words(&text, &text, 40), "“The reader keeps its place because…”");
        assert_eq!(quote_agent_words(whole, whole, 80), format!("“{whole}”"));
    }
}
