//! The sections of a brief, each with the function that gathers its facts.

pub mod checks;
pub mod done;
pub mod failures;
pub mod files;
pub mod goal;
pub mod state;
pub mod words;

use crate::render::in_quotation_marks;
use crate::statement::sentences_about;

/// Quotes the agent's words: if they do not fit, the sentences that say most.
fn quote_agent_words(text: &str, max: usize) -> String {
    in_quotation_marks(&sentences_about(text, max, ""), max + 2)
}
