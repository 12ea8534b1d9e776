//! The user's instructions, corrections, reasons for refusals, and answers.

use crate::activity::short_session_id;
use crate::brief::candidate::FactClass;
use crate::brief::gather::GatheredCandidates;
use crate::brief::{BriefMaterial, BriefOccasion};
use crate::digest::{Goal, InstructionOfEarlierSession, Prompt};
use crate::prompt::{self, PromptKind};
use crate::render::{GAP_IN_QUOTE, in_backticks, in_quotation_marks, utf16_length};
use crate::text::{cut_at_clause, fnv_fingerprint};

/// The ids of instructions from earlier sessions begin with this.
pub const EARLIER_WORDS_ID_PREFIX: &str = "words-before:";

/// A prompt of at most this many characters is quoted in full if part of it is an instruction.
const MAX_CHARS_QUOTED_WHOLE: usize = 100;

const MAX_USER_PROMPTS_LISTED: usize = 14;

/// The maximum length of a quoted answer, and of the question that it answers.
const MAX_ANSWER_CHARS: usize = 450;
const MAX_ANSWERED_QUESTION_CHARS: usize = 240;

/// These lengths are used in a short brief.
const MAX_SHORT_ANSWER_CHARS: usize = 130;
const MAX_SHORT_QUESTION_CHARS: usize = 90;

/// Quotes the user's answer with the agent's question.
pub fn quote_answer(answer: &str, question: &str) -> String {
    quote_answer_within(answer, MAX_ANSWER_CHARS, question, MAX_ANSWERED_QUESTION_CHARS)
}

/// An answer is never quoted without its question, because it would then read as an order about the present work.
fn quote_answer_within(answer: &str, most: usize, question: &str, most_of_question: usize) -> String {
    format!(
        "{}, in answer to {}",
        in_quotation_marks(answer, most),
        in_quotation_marks(question, most_of_question)
    )
}

pub fn gather_user_words(material: &BriefMaterial, all: &mut GatheredCandidates) {
    let digest = material.digest;
    let Goal { newest_prompt: newest, task_prompt: task, is_answered, .. } = digest.current_goal();
    // The goal does not always quote both of these prompts. Keep only those that it quotes.
    let in_goal: Vec<u64> = [newest, task]
        .into_iter()
        .flatten()
        .map(|prompt| prompt.record)
        .filter(|record| all.has_fact(&format!("prompt:{record}")))
        .collect();
    // A message that only says “go on” ends no task, so the instructions for the work that it continues still apply.
    let begins_work = |prompt: &&Prompt| !prompt::only_says_continue(&prompt.text);
    let newest_request = digest.prompts.iter().rev().find(begins_work).or(newest);
    let since = task.filter(|_| !is_answered).or(newest_request).map_or(0, |prompt| prompt.record);
    if material.occasion == BriefOccasion::Compacted && !digest.words_after_compact_command.is_empty() {
        let form = |most| {
            format!("with /compact: {}", in_quotation_marks(&digest.words_after_compact_command, most))
        };
        let mut forms = vec![form(130), form(300)];
        forms.dedup();
        let id = format!("compact-words:{:016x}", fnv_fingerprint([&digest.words_after_compact_command]));
        all.add_fact(FactClass::Words, id, forms);
    }
    let mut told = 0;
    for prompt in digest.prompts.iter().rev().filter(|prompt| !in_goal.contains(&prompt.record)) {
        if told == MAX_USER_PROMPTS_LISTED {
            break;
        }
        let mut wishes = prompt::instruction_sentences(&prompt.text);
        // If the user accepted a proposal and added something, the addition is a condition or a reason. The
        // whole message then counts as an instruction.
        if wishes.is_empty()
            && digest.kind_in_conversation(prompt) == PromptKind::Approval
            && prompt::begins_with_agreement(&prompt.text)
            && prompt::adds_to_agreement(&prompt.text)
        {
            wishes.push(&prompt.text);
        }
        let is_revoked = |wish: &&str| {
            let mut later = digest.prompts.iter().filter(|later| later.record > prompt.record);
            later.any(|later| prompt::is_instruction_revoked_by(wish, &later.text))
        };
        let stated = wishes.len();
        wishes.retain(|wish| !is_revoked(wish));
        let is_partly_revoked = wishes.len() < stated;
        if is_partly_revoked && wishes.is_empty() {
            continue;
        }
        // An answer to the agent's question about the work applies as a whole, until that work is finished.
        let is_of_current_task = prompt.record >= since;
        let question = digest.question_answered_by(prompt);
        let is_settled =
            question.is_some_and(|asked| digest.is_answer_settled(prompt, asked, is_of_current_task));
        if let Some(question) = question.filter(|_| !is_settled) {
            told += 1;
            let mut forms = vec![
                quote_answer_within(&prompt.text, MAX_SHORT_ANSWER_CHARS, question, MAX_SHORT_QUESTION_CHARS),
                quote_answer(&prompt.text, question),
            ];
            forms.dedup();
            all.add_fact(FactClass::Words, format!("prompt:{}", prompt.record), forms).strings_stating_fact =
                vec![prompt.text.clone()];
            continue;
        }
        // An instruction for finished work no longer applies, unless it is a lasting instruction.
        let is_of_open_work =
            is_of_current_task && !is_settled && !digest.are_edits_for_prompt_committed(prompt);
        if !is_of_open_work {
            let ended = digest.end_of_instructions(prompt);
            wishes = wishes.into_iter().flat_map(prompt::lasting_parts).collect();
            wishes.retain(|wish| !ended.ends(wish));
            if wishes.is_empty() {
                continue;
            }
        }
        let words = match (prompt.refused_call.is_empty(), wishes.is_empty()) {
            (true, true) => continue,
            // A refusal that only asks a question or says "hang on" has been dealt with by now.
            (false, true) if !prompt::is_refusal_with_reason(&prompt.text) => continue,
            _ if is_of_open_work
                && !is_partly_revoked
                && prompt.text.chars().count() <= MAX_CHARS_QUOTED_WHOLE =>
            {
                vec![prompt.text.as_str()]
            }
            (false, true) => vec![prompt.text.as_str()],
            _ => wishes,
        };
        let before = match prompt.refused_call.is_empty() {
            true => String::new(),
            false => format!("refusing {}: ", in_backticks(&prompt.refused_call, 50)),
        };
        let form = |most| format!("{before}{}", quote_whole_instructions(&words, most));
        let mut forms = vec![form(130), form(300)];
        let words = words.join(GAP_IN_QUOTE);
        // If only part of the prompt is quoted, the whole prompt may also be listed among the earlier requests.
        let id = if words == prompt.text { "prompt" } else { "words" };
        forms.dedup();
        all.add_fact(FactClass::Words, format!("{id}:{}", prompt.record), forms).strings_stating_fact =
            vec![words];
        told += 1;
    }
    add_instructions_of_earlier_sessions(&digest.instructions_of_earlier_sessions, all);
    for answer in digest.answers.iter().rev() {
        let id = format!("answer:{:016x}", fnv_fingerprint([&answer.question, &answer.answer]));
        if all.has_fact(&id) {
            continue;
        }
        let form = |most| {
            format!(
                "asked {}, the user chose {}",
                in_quotation_marks(&answer.question, most),
                in_quotation_marks(&answer.answer, most)
            )
        };
        all.add_fact(FactClass::Words, id, vec![form(90), form(240)]).strings_stating_fact =
            vec![answer.answer.clone()];
    }
}

fn add_instructions_of_earlier_sessions(
    instructions: &[InstructionOfEarlierSession],
    all: &mut GatheredCandidates,
) {
    // If its task may be over, the instruction is only quoted as what the user once said. Instructions with the same
    // label are quoted after one label.
    let label = |instruction: &InstructionOfEarlierSession| match instruction.may_be_over {
        false => (FactClass::Words, "in an earlier session".to_owned()),
        true => {
            let session = short_session_id(&instruction.session);
            let day = instruction.said_at.split('T').next().unwrap_or_default();
            (FactClass::Earlier, format!("in session {session} on {day}, about the task at that time"))
        }
    };
    let mut groups: Vec<((FactClass, String), Vec<&str>)> = Vec::new();
    // A packet that the session works on may contain the instruction. It is then quoted already.
    for instruction in instructions.iter().filter(|known| !all.has_text_of_packet(&known.text)) {
        let label = label(instruction);
        let group = groups.iter_mut().find(|(known, _)| instruction.may_be_over && *known == label);
        match group {
            Some((_, texts)) => texts.push(&instruction.text),
            None => groups.push((label, vec![&instruction.text])),
        }
    }
    for ((class, before), texts) in groups {
        let form = |most| format!("{before}: {}", quote_whole_instructions(&texts, most));
        let mut forms = vec![form(130), form(300)];
        forms.dedup();
        let id = format!("{EARLIER_WORDS_ID_PREFIX}{:016x}", fnv_fingerprint(texts.iter().copied()));
        all.add_fact(class, id, forms).strings_stating_fact =
            texts.iter().map(|text| (*text).to_owned()).collect();
    }
}

/// A longer text is a whole message, such as the reason for a refusal, and is cut like other messages.
const MAX_WHOLE_INSTRUCTION_CHARS: usize = 320;

/// Quotes as many of the user's instructions as fit into `most` characters. An instruction is never cut within a
/// clause, because half of a rule may mean something different from the whole rule.
pub fn quote_whole_instructions(wishes: &[&str], most: usize) -> String {
    let mut quoted = String::new();
    for wish in wishes {
        let gap = if quoted.is_empty() { "" } else { GAP_IN_QUOTE };
        let room = most.saturating_sub(quoted.chars().count() + gap.chars().count());
        if wish.chars().count() <= room {
            quoted.push_str(gap);
            quoted.push_str(wish);
            continue;
        }
        match (cut_at_clause(wish, room), quoted.is_empty()) {
            (Some(beginning), true) => quoted = beginning,
            (None, true) => quoted = (*wish).to_owned(),
            (_, false) => quoted.push_str(" …"),
        }
        break;
    }
    let is_short = quoted.chars().count() <= MAX_WHOLE_INSTRUCTION_CHARS;
    let length = if is_short { utf16_length(&quoted).max(most) } else { most };
    in_quotation_marks(&quoted, length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instruction_is_quoted_whole_or_cut_between_clauses() {
        let rule =
            "Never add a bin script to package.json, because we ship a library only and nobody needs one";
        for (wishes, most, expected) in [
            (vec![rule], 200, format!("“{rule}”")),
            (vec![rule], 60, "“Never add a bin script to package.json …”".to_owned()),
            (vec!["Never use floats.", rule], 60, "“Never use floats. …”".to_owned()),
            (vec!["Never use floats.", rule], 200, format!("“Never use floats. … {rule}”")),
            // No clause ends within the first 20 characters, so the rule is quoted whole.
            (
                vec!["Do not touch the public signature of parse"],
                20,
                "“Do not touch the public signature of parse”".to_owned(),
            ),
        ] {
            assert_eq!(quote_whole_instructions(&wishes, most), expected, "{wishes:?} {most}");
        }
    }
}
