pub mod checks;
pub mod commands;
pub mod done;
mod earlier;
pub mod failures;
pub mod files;
pub mod goal;
mod overtaken;
pub mod state;
pub mod words;

use crate::render::in_quotation_marks;
use crate::statement::sentences_about;

/// Quotes the agent's text. If it is longer than `max`, quotes only its most informative sentences.
fn quote_agent_words(text: &str, max: usize) -> String {
    in_quotation_marks(&sentences_about(text, max, ""), max + 2)
}
