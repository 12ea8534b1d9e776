//! Finds the requirements of the current task that the summary lacks. Also decides which other quotations from the
//! user's messages still hold.

use super::SummaryClaims;
use crate::brief::candidate::{Candidate, FactClass};
use crate::brief::sections::words::quote_whole_instructions;
use crate::digest::{Digest, Prompt};
use crate::prompt::{self, PromptKind};

/// A sentence that is not clearly an instruction counts as known if the summary contains at least this
/// percentage of its meaningful words.
const MIN_PERCENT_OF_KNOWN_WORDS: usize = 75;

/// From each message of the current task, quotes all sentences that the summary lacks. These quotations replace the
/// existing quotations of the same messages. If only one missing sentence were quoted, the reader would believe that the
/// summary contains all the others.
pub(super) fn with_requirements(
    candidates: Vec<Candidate>,
    digest: &Digest,
    claims: &SummaryClaims,
    is_goal_told: bool,
) -> Vec<Candidate> {
    let is_told = |prompt: &Prompt| {
        let id = format!("prompt:{}", prompt.record);
        let mut goals = candidates.iter().filter(|known| known.class == FactClass::Goal);
        is_goal_told && goals.any(|goal| goal.id == id && !claims.content.contains_text(&prompt.text))
    };
    // Leave out a message with which the user refused a call. It is quoted together with that call.
    let prompts = digest.prompts_of_current_task().into_iter();
    let mut missing: Vec<(&Prompt, Vec<String>)> = prompts
        .filter(|prompt| prompt.refused_call.is_empty() && !is_told(prompt))
        .map(|prompt| (prompt, missing_sentences(prompt, digest, claims)))
        .collect();
    // A message must not be quoted without the later one that corrects it, even if the summary has the later one.
    let oldest = missing.iter().rposition(|(_, sentences)| !sentences.is_empty()).unwrap_or(0);
    for (prompt, sentences) in &mut missing[..oldest] {
        if sentences.is_empty() && prompt::revises_request(&prompt.text) {
            sentences.push(prompt.text.clone());
        }
    }
    let told: Vec<Candidate> =
        missing.iter().filter(|(_, sentences)| !sentences.is_empty()).map(requirement_candidate).collect();
    // The same message is quoted under one of two ids, depending on whether all of it is quoted.
    let is_same = |known: &str, new: &str| known == new || known.replacen("prompt:", "words:", 1) == *new;
    let is_replaced = |known: &Candidate| {
        known.class == FactClass::Words && told.iter().any(|new| is_same(&known.id, &new.id))
    };
    let others: Vec<Candidate> = candidates.into_iter().filter(|known| !is_replaced(known)).collect();
    told.into_iter().chain(others).collect()
}

/// Returns whether a quotation from one of the user's messages still holds beyond doubt. A rule for all work in
/// the project always holds. Any other quotation holds only if it belongs to the current task and no later work
/// answers it. An answer is left out, because it is settled as soon as the agent acts on it, and a design that was
/// discussed may have been rejected later. Facts that are not quoted from a message of this session are not judged
/// here.
pub(super) fn still_holds(words: &Candidate, digest: &Digest) -> bool {
    let record = words.id.split_once(':').filter(|(kind, _)| matches!(*kind, "prompt" | "words"));
    let Some(record) = record.and_then(|(_, record)| record.parse::<u64>().ok()) else { return true };
    let Some(place) = digest.prompts.iter().position(|prompt| prompt.record == record) else { return true };
    let prompt = &digest.prompts[place];
    let instructions = prompt::instruction_sentences(&prompt.text);
    if instructions.iter().any(|sentence| prompt::outlives_task(sentence)) {
        return true;
    }
    // A limit, such as "Don't touch the lexer", holds until the task is done.
    let is_limit = instructions.iter().any(|sentence| !prompt::lasting_parts(sentence).is_empty());
    let is_answered = match prompt.refused_call.is_empty() {
        true => !is_limit && digest.has_edits_in_turn(place),
        false => digest.changes.iter().any(|change| change.record > record),
    };
    digest.prompts_of_current_task().iter().any(|known| known.record == record)
        && !is_answered
        && digest.question_answered_by(prompt).is_none()
        && digest.kind_in_conversation(prompt) != PromptKind::Question
        && !prompt::only_starts_work(&prompt.text)
        && !prompt::checks_understanding(&prompt.text)
}

fn requirement_candidate((prompt, sentences): &(&Prompt, Vec<String>)) -> Candidate {
    let sentences: Vec<&str> = sentences.iter().map(String::as_str).collect();
    let mut forms = [300, 600].map(|most| quote_whole_instructions(&sentences, most)).to_vec();
    forms.dedup();
    Candidate::of_class(FactClass::Words, format!("words:{}", prompt.record), forms)
}

/// Returns the sentences of a prompt that say something about the work and that the summary lacks. Sentences that follow
/// each other are joined.
fn missing_sentences(prompt: &Prompt, digest: &Digest, claims: &SummaryClaims) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut is_last_kept = false;
    for sentence in prompt::requirement_sentences(&prompt.text) {
        let is_missing = is_missing(sentence, claims) && !is_done_git_step(sentence, prompt, digest);
        match found.last_mut().filter(|_| is_last_kept && is_missing) {
            Some(last) => *last = format!("{last} {sentence}"),
            None if is_missing => found.push(sentence.to_owned()),
            None => {}
        }
        is_last_kept = is_missing;
    }
    found
}

fn is_missing(sentence: &str, claims: &SummaryClaims) -> bool {
    if claims.content.contains_text(sentence) || claims.has_line_with_most_words_of(sentence) {
        return false;
    }
    let is_instruction = !prompt::instruction_sentences(sentence).is_empty();
    is_instruction || claims.content.percent_of_words_found(sentence) < MIN_PERCENT_OF_KNOWN_WORDS
}

/// Returns true if a sentence of a prompt asks for a commit or a push, provided that a commit was made after the
/// prompt.
fn is_done_git_step(sentence: &str, prompt: &Prompt, digest: &Digest) -> bool {
    let small = sentence.to_lowercase();
    let is_order = ["commit", "push"].iter().any(|step| small.contains(step));
    is_order && digest.standing_commits().iter().any(|commit| commit.record > prompt.record)
}
