//! Decides which of the agent's short answers are included in the brief.

use crate::digest::{AgentStatement, Digest, RequestWithOutcome};
use crate::prompt::PromptKind;
use crate::statement;

/// A closing message with fewer bytes than this says little, unless it mentions a file or contains code.
pub(super) const MIN_INFORMATIVE_BYTES: usize = 90;

/// Returns whether a closing message contains the id or the link of an earlier effect, such as a commit or a
/// pull request.
pub(super) fn names_effect(digest: &Digest, outcome: &AgentStatement) -> bool {
    digest.effects.iter().filter(|used| used.record <= outcome.record).any(|used| {
        [&used.effect.id, &used.effect.link, &used.disk.replaced_id]
            .iter()
            .any(|name| !name.is_empty() && outcome.text.contains(name.as_str()))
    })
}

/// Returns whether an answer is too short to say much. A message such as "Pushed." adds nothing, because the push is
/// listed among the effects with its commit id.
pub(super) fn is_short_answer(turn: &RequestWithOutcome, text: &str) -> bool {
    text.len() < MIN_INFORMATIVE_BYTES
        && (begins_like_receipt(text)
            || turn.prompt.prompt_kind() != PromptKind::Question && !text.contains(['`', '/']))
}

fn begins_like_receipt(text: &str) -> bool {
    let small = text.to_lowercase();
    ["committed", "pushed", "done"].iter().any(|start| small.starts_with(start))
}

/// Returns whether a short answer still says what became of the request. "Step two is done" says this, but
/// "Done" does not.
pub(super) fn short_answer_tells_outcome(turn: &RequestWithOutcome, outcome: &AgentStatement) -> bool {
    const MIN_WORDS: usize = 3;
    let text = outcome.text.as_str();
    let is_answer = is_short_answer(turn, text) && !begins_like_receipt(text);
    is_answer && outcome.closing_question.is_empty() && text.split_whitespace().count() >= MIN_WORDS
}

/// Returns whether `update`, the closing message of the next turn, was left out only because it is short. The
/// result is false if that turn edited no files, or if its prompt shares no word with `answer`.
pub(super) fn is_short_update(
    digest: &Digest,
    answer: &AgentStatement,
    next: &RequestWithOutcome,
    update: &AgentStatement,
) -> bool {
    let during = next.prompt.record..update.record;
    is_short_answer(next, &update.text)
        && !names_effect(digest, update)
        && !update.text.is_empty()
        && update.closing_question.is_empty()
        && next.prompt.begins_turn()
        && digest.changes.iter().any(|change| during.contains(&change.record))
        && !statement::announces_next_step(&update.text)
        && !digest.is_statement_retracted(update)
        && statement::shares_a_word(&next.prompt.text, &answer.text)
}

/// Returns whether a statement is short and gives no reason.
pub(super) fn is_short_remark_without_reason(said: &AgentStatement) -> bool {
    said.text.len() < MIN_INFORMATIVE_BYTES * 2 && !statement::gives_reason(&said.text)
}
