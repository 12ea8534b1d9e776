//! The sections of a brief, each with the function that gathers its facts.

pub mod checks;
pub mod done;
pub mod failures;
pub mod files;
pub mod goal;
pub mod state;
pub mod words;

use crate::render::quoted;
use crate::statement::first_sentences;

/// Quotes the agent's words, cut between sentences.
fn said(text: &str, max: usize) -> String {
    quoted(&first_sentences(text, max), max + 2)
}
