//! What the user wants now: the current task, the agent's proposal that the user accepted, and the newest message.

use std::borrow::Cow;

use crate::brief::BriefMaterial;
use crate::brief::candidate::FactClass;
use crate::brief::gather::GatheredCandidates;
use crate::digest::{Digest, Goal, Prompt};
use crate::prompt::{self, PromptKind};
use crate::render::{in_backticks, in_quotation_marks, quote_part};
use crate::statement;
use crate::text::outline_text;

use super::quote_agent_words;

/// A message of at most this many characters is not cut in the longer forms.
const MAX_UNCUT_MESSAGE_CHARS: usize = 450;

/// With at least this much room, a slash command is explained.
const MIN_CHARS_TO_EXPLAIN: usize = 300;

/// A message may refuse a tool call. The brief names that call only if at least this many characters are
/// available for the message.
const MIN_CHARS_TO_NAME_REFUSAL: usize = 140;

/// The labels of the newest message and of two other facts. In "Before it", "it" is the newest message.
pub const NEWEST_MESSAGE_LABEL: &str = "Newest message";
pub const ANSWERED_REQUEST_LABEL: &str = "Before it, answered";
pub const TASK_OF_MESSAGE_LABEL: &str = "The task during which the newest message was sent";

pub fn gather_goal(material: &BriefMaterial, all: &mut GatheredCandidates) {
    let digest = material.digest;
    let goal = digest.current_goal();
    let Some(newest) = goal.newest_prompt else { return };
    // Once the newest message is answered, the remaining work is the request that opened the session.
    add_opening_request(digest, all);
    if goal.is_answered || digest.is_quoted_before_task(newest) {
        add_newest_message(digest, newest, &goal, all);
        add_rest_of_plan(digest, &goal, all);
        add_accepted_proposal(digest, &goal, all);
        add_message_before_newest(digest, all);
        add_task(digest, &goal, all);
    } else {
        add_task(digest, &goal, all);
        add_rest_of_plan(digest, &goal, all);
        add_accepted_proposal(digest, &goal, all);
        add_message_before_newest(digest, all);
        add_newest_message(digest, newest, &goal, all);
    }
}

/// Adds the request with which the session began, if the agent has finished.
fn add_opening_request(digest: &Digest, all: &mut GatheredCandidates) {
    let Some(first) = digest.opening_request_of_finished_work() else { return };
    let title = prompt::title_of_message(&first.text);
    let form = |most: usize| {
        let title = prompt::shorten_request(&title, most);
        format!(
            "{}{}: {}",
            digest.label_of_opening_request(),
            first.note_on_command(),
            quote_part(&title, &first.text, title.len().max(most))
        )
    };
    // The end of a request often says how to do the work, so a request of moderate length is not cut.
    let length = title.chars().count();
    let mut forms =
        vec![form(90), form(if length <= MAX_UNCUT_MESSAGE_CHARS { length.max(180) } else { 180 })];
    forms.dedup();
    all.add_fact(FactClass::Goal, format!("prompt:{}", first.record), forms).strings_stating_fact =
        vec![first.text.clone()];
}

/// If the newest message is unclear by itself, also adds the previous message.
fn add_message_before_newest(digest: &Digest, all: &mut GatheredCandidates) {
    let Some(before) = digest.message_explaining_newest_prompt() else { return };
    let id = format!("prompt:{}", before.record);
    if all.has_fact(&id) {
        return;
    }
    let words = prompt::words_before_paste(&before.text);
    let form = |most: usize| {
        let refused = match before.refused_command() {
            "" => String::new(),
            _ if most < MIN_CHARS_TO_NAME_REFUSAL => String::new(),
            call => format!(", refusing {}", in_backticks(call, 40)),
        };
        let typed = before.note_on_command();
        format!("The message before the newest{refused}{typed}: {}", quote_prompt(&words, most))
    };
    let mut forms = vec![form(62), form(140), form(300)];
    forms.dedup();
    all.add_fact(FactClass::Goal, id, forms).strings_stating_fact = vec![before.text.clone()];
}

/// Adds the rest of the approved plan, unless all of it is done.
fn add_rest_of_plan(digest: &Digest, goal: &Goal, all: &mut GatheredCandidates) {
    // A plan that was approved before the current task does not concern this task.
    let since = goal.task_prompt.or(goal.newest_prompt).map_or(0, |prompt| prompt.record);
    let since = goal.newest_prompt.map_or(since, |newest| since.min(newest.record));
    let plan = digest.plan.as_ref().filter(|plan| plan.record > since && !goal.is_answered);
    let Some(plan) = plan else { return };
    let left = digest.remaining_sections(&plan.text, plan.record);
    let form =
        |most: usize| format!("Approved plan: {}", in_quotation_marks(&outline_text(&left, most), most + 2));
    let forms = [160, 400, 900, 2_000, 4_000, 8_000].map(form);
    all.add_fact(FactClass::Goal, format!("plan:{}", plan.record), forms.to_vec()).strings_stating_fact =
        vec![plan.text.clone()];
}

fn add_task(digest: &Digest, goal: &Goal, all: &mut GatheredCandidates) {
    // If the task is the request that opened the session, it may already be listed.
    let is_told = |task: &&Prompt| all.has_fact(&format!("prompt:{}", task.record));
    let Some(task) = digest.task_explaining_newest_prompt().filter(|task| !is_told(task)) else { return };
    let leads = goal
        .newest_prompt
        .is_some_and(|newest| digest.is_quoted_before_task(newest) && !newest.begins_turn());
    let (label, most): (&str, &[usize]) = match (goal.is_answered, leads) {
        (true, _) => (ANSWERED_REQUEST_LABEL, &[62, 300]),
        (false, true) => (TASK_OF_MESSAGE_LABEL, &[120, 300, 700]),
        (false, false) => ("Task", &[120, 300, 700, 1_600, 4_000, 8_000]),
    };
    let asked = digest.message_answered_by_prompt(task).filter(|_| digest.is_reply_to_agent(task));
    let left = digest.remaining_sections(&task.text, task.record);
    // If the task is only context for the newest message, the text above its pasted output is enough.
    let left = match label {
        "Task" => left,
        _ if goal.is_answered => prompt::title_if_long(&left).into(),
        _ => prompt::words_before_paste(&left).into(),
    };
    let form = |most: usize| {
        let asked = asked.map_or(String::new(), |said| {
            format!(", in answer to {}", in_quotation_marks(&said.closing_question, most.min(300)))
        });
        format!("{label}{}{asked}: {}", task.note_on_command(), quote_prompt(&left, most))
    };
    let forms: Vec<String> = most.iter().map(|most| form(*most)).collect();
    all.add_fact(FactClass::Goal, format!("prompt:{}", task.record), forms).strings_stating_fact =
        vec![task.text.clone()];
}

/// Adds the proposal that the newest message accepts or answers: the agent's question with the text before it, or only
/// the option that the user chose.
fn add_accepted_proposal(digest: &Digest, goal: &Goal, all: &mut GatheredCandidates) {
    let Some(accepted) = goal.accepted_proposal else { return };
    let body =
        accepted.text.strip_suffix(accepted.closing_question.as_str()).unwrap_or(&accepted.text).trim_end();
    let chosen = goal.newest_prompt.and_then(|newest| statement::option_named_by_answer(body, &newest.text));
    let form = |most: usize| {
        if let Some(chosen) = chosen {
            let asks = match accepted.closing_question.as_str() {
                asks if most >= 320 && !asks.is_empty() => {
                    format!(" when asked {}", in_quotation_marks(asks, 120))
                }
                _ => String::new(),
            };
            return format!(
                "The agent's proposal, chosen by the user{asks}: {}",
                quote_agent_words(chosen, chosen, most)
            );
        }
        let about = match statement::shorten_items(body, most) {
            Some(items) => quote_part(&items, body, most + 2),
            None => quote_part(&beginning_and_end(body, most), body, most + 2),
        };
        match (accepted.closing_question.as_str(), body) {
            // "Go on" may also follow a message that only says where the work stands.
            ("", _) if accepted.proposes() || statement::announces_next_step(body) => {
                format!("The agent's accepted proposal: {about}")
            }
            ("", _) => format!("The agent had said: {about}"),
            (asks, "") => format!("The agent had asked: {}", in_quotation_marks(asks, most + 2)),
            (asks, _) => {
                format!("The agent had asked {} after saying {about}", in_quotation_marks(asks, 240))
            }
        }
    };
    let mut forms = [110, 320, 600, 1_000, 1_600].map(form).to_vec();
    // If there is little room, only the question is quoted, unless it is as short as "OK?".
    if accepted.has_clear_question() && chosen.is_none() {
        forms[0] = format!("The agent had asked: {}", in_quotation_marks(&accepted.closing_question, 160));
    }
    // The agent's last message says what became of a proposal that was carried out. It does not repeat everything that
    // was agreed, so the shorter forms of the proposal are kept.
    if digest.has_finished() {
        forms.truncate(2);
    }
    forms.dedup();
    all.add_fact(FactClass::Goal, format!("accepted:{}", accepted.record), forms).strings_stating_fact =
        vec![accepted.text.clone()];
}

/// Returns the beginning of a proposal, which says what is proposed, and as much of its end as fits into `most` characters.
/// With little room, only the end is returned, because the agent's question follows from it.
fn beginning_and_end(body: &str, most: usize) -> Cow<'_, str> {
    const MIN_CHARS_FOR_BOTH: usize = 500;
    if most < MIN_CHARS_FOR_BOTH || body.chars().count() <= most {
        return statement::last_sentences(body, most);
    }
    let beginning = statement::first_sentences(body, most / 3);
    let Some(beginning) = beginning.strip_suffix(" …") else {
        return statement::last_sentences(body, most);
    };
    let rest = body.strip_prefix(beginning).unwrap_or(body);
    let left = most.saturating_sub(beginning.chars().count() + 1);
    Cow::Owned(format!("{beginning} {}", statement::last_sentences(rest, left)))
}

fn add_newest_message(digest: &Digest, newest: &Prompt, goal: &Goal, all: &mut GatheredCandidates) {
    let alone = goal.task_prompt.is_none() && goal.accepted_proposal.is_none() && digest.plan.is_none();
    let has_ended_turn = digest.has_finished() || digest.has_stopped_with_announcement();
    let is_over = has_ended_turn && digest.last_message_record > newest.record;
    let typed = newest.note_on_command();
    let label = match (alone && typed.is_empty(), newest.refused_call.is_empty()) {
        (_, true) if is_over && newest.prompt_kind() == PromptKind::Question => {
            format!("{NEWEST_MESSAGE_LABEL}, answered{typed}: ")
        }
        // The reply to a request does not show that all of it was done.
        (_, true) if is_over => format!("{NEWEST_MESSAGE_LABEL} (the agent has replied){typed}: "),
        (true, true) => String::new(),
        (false, true) => format!("{NEWEST_MESSAGE_LABEL}{typed}: "),
        (_, false) => {
            format!("{NEWEST_MESSAGE_LABEL}{typed}, refusing {}: ", in_backticks(&newest.refused_call, 60))
        }
    };
    // A task that can be understood on its own gets more room than an answer.
    let most = match newest.prompt_kind() {
        PromptKind::Task if goal.task_prompt.is_none() || goal.is_answered => {
            [200, 500, 1_000, 2_000, 4_000, 8_000]
        }
        _ => [130, 300, 600, 1_200, 2_400, 4_000],
    };
    let left = digest.remaining_sections(&newest.text, newest.record);
    // The end of a message often states its conclusion, so a message of moderate length is not cut.
    let length = left.chars().count();
    let most = most.map(|most| {
        if (most..=MAX_UNCUT_MESSAGE_CHARS).contains(&length) && most >= 300 { length } else { most }
    });
    let means = digest.agent_words_after_bare_slash_command(newest).map_or(String::new(), |said| {
        let beginning = statement::first_sentences(said.split(": ").next().unwrap_or(said), 160);
        format!("; the agent began with {}", quote_part(&beginning, said, 164))
    });
    let forms = most.map(|most| {
        let means = if most >= MIN_CHARS_TO_EXPLAIN { means.as_str() } else { "" };
        format!("{label}{}{means}", quote_prompt(&left, most))
    });
    all.add_fact(FactClass::Goal, format!("prompt:{}", newest.record), forms.to_vec()).strings_stating_fact =
        vec![newest.text.clone()];
}

/// Quotes a prompt of at most `most` characters verbatim. A longer prompt is reduced to its headings and steps.
fn quote_prompt(text: &str, most: usize) -> String {
    quote_part(&outline_text(&prompt::cut_before_instruction(text, most), most), text, most + 2)
}
