//! Computes, for `thru swarm status`, how much output the summaries kept out of the model's context.

use model::summary::SummarisedOutput;
use model::tokens::{TokenRatios, TokenTextKind};
use serde::Serialize;
use store::Store;

use crate::Result;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SavedTokens {
    /// How many outputs were summarised.
    pub outputs: usize,
    pub bytes: usize,
    pub summary_bytes: usize,
    pub saved_bytes: usize,
    pub saved_tokens: usize,
}

pub fn count_saved_tokens(store: &Store) -> Result<SavedTokens> {
    let (mut summarised, _) = store.list_summarised_outputs()?;
    // Another tool summarised the imported outputs, so thru did not save anything by summarising them.
    summarised.retain(|one| !one.is_imported());
    let sum = |of: fn(&SummarisedOutput) -> usize| summarised.iter().map(of).sum::<usize>();
    let (bytes, summary_bytes) = (sum(|one| one.bytes), sum(|one| one.summary_bytes));
    let saved_bytes = bytes.saturating_sub(summary_bytes);
    let saved_tokens = TokenRatios::UNIFORM_RATIOS.estimate_tokens(TokenTextKind::Prose, saved_bytes);
    Ok(SavedTokens { outputs: summarised.len(), bytes, summary_bytes, saved_bytes, saved_tokens })
}
