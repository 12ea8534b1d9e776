//! The sections of a brief, each with the function that gathers its facts.

pub mod checks;
pub mod done;
pub mod failures;
pub mod files;
pub mod goal;
pub mod state;
pub mod words;

use crate::render::quoted;
use crate::statement::sentences_about;

/// Quotes the agent's words: if they do not fit, the sentences that say most.
fn said(text: &str, max: usize) -> String {
    quoted(&sentences_about(text, max, ""), max + 2)
}
