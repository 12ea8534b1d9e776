//! The current state: the agent's last words, what came after them, and what is still to do.

use crate::brief::Material;
use crate::brief::candidate::Class;
use crate::brief::gather::Gathered;
use crate::digest::{Did, Digest, Step};
use crate::event::TodoStatus;
use crate::render::{code, path, quoted};
use crate::statement;
use crate::text::count;

use super::said;

/// How many calls after the last words are listed.
const STEPS: usize = 6;

/// Longer than that, the agent summed something up.
const ANNOUNCEMENT: usize = 400;

pub fn gather(material: &Material, all: &mut Gathered) {
    last_words(material.digest, all);
    todos(material.digest, all);
    running(material.digest, all);
}

/// Adds sub-agents that have not answered.
fn running(digest: &Digest, all: &mut Gathered) {
    // A sub-agent that was started for an earlier message has answered in another way.
    let since = digest.prompts.last().map_or(0, |prompt| prompt.record).max(digest.epoch);
    let running = digest.agents.iter().rev().filter(|agent| agent.answer.is_empty() && agent.record > since);
    for agent in running.filter(|_| digest.is_at_work()) {
        let id = format!("agent:{}", agent.record);
        all.add(Class::State, id, vec![format!("A sub-agent was at work: {}", quoted(&agent.asked, 120))]);
    }
}

fn last_words(digest: &Digest, all: &mut Gathered) {
    if digest.records == 0 {
        return;
    }
    let condensed = statement::condense(&digest.said);
    let since = digest.steps_since_said();
    // An announced step that is not done yet is the next step, so short words are quoted unchanged while the agent is
    // working.
    let announced = digest.is_at_work() && digest.said.len() <= ANNOUNCEMENT;
    let words = if condensed.is_empty() || announced { digest.said.as_str() } else { &condensed };
    if digest.has_finished() {
        if !digest.said.is_empty() {
            let asks = statement::asks(&digest.said);
            let form = |most| {
                let told = said(words, most);
                let asks = match told.contains(&asks) {
                    true => String::new(),
                    false => format!(" It asked: {}", quoted(&asks, 240)),
                };
                format!("The agent had finished and waited for the user. Its last words: {told}{asks}")
            };
            all.add(Class::State, "said".to_owned(), [160, 400, 1_000, 2_000].map(form).to_vec()).known_by =
                vec![words.to_owned()];
        }
        return;
    }
    let steps = steps(since);
    let is_accepted = digest.goal().accepted.is_some_and(|accepted| accepted.record == digest.said_last);
    let answered = digest.prompts.last().is_none_or(|prompt| prompt.record < digest.said_last);
    let then = |most: usize| {
        let left = steps.len().saturating_sub(most);
        let before = if left > 0 { format!("{}, ", count(left, "other call")) } else { String::new() };
        (!steps.is_empty()).then(|| format!("{before}{}", steps[left..].join(", ")))
    };
    // The end says what it is about to do.
    let last = |most: usize| quoted(&statement::last_sentences(words, most), most + 2);
    let form = |most: usize, calls: usize| match (answered && !words.is_empty(), then(calls)) {
        (true, Some(then)) => format!("At work. Last said: {}; then {then}", last(most)),
        (true, None) => format!("At work. Last said: {}", last(most)),
        (false, Some(then)) => format!("At work on the newest message: {then}"),
        (false, None) if words.is_empty() || is_accepted => {
            "The newest message has not been taken up yet".to_owned()
        }
        (false, None) => {
            format!(
                "The newest message has not been taken up yet; before it the agent said {}",
                said(words, most)
            )
        }
    };
    let forms = vec![form(120, 2), form(240, 3), form(400, STEPS), form(1_000, STEPS)];
    all.add(Class::State, "said".to_owned(), forms).known_by = vec![words.to_owned()];
}

/// One after the other; the same again is counted.
fn steps(since: &[Step]) -> Vec<String> {
    let same = |a: &Step, b: &Step| (a.did, &a.what, a.failed) == (b.did, &b.what, b.failed);
    let times = |n: usize| if n > 1 { format!(" ({n}×)") } else { String::new() };
    since.chunk_by(same).map(|steps| format!("{}{}", step(&steps[0]), times(steps.len()))).collect()
}

/// `edited src/a.rs`, `ran `cargo test` → failed`.
fn step(step: &Step) -> String {
    let failed = if step.failed { " → failed" } else { "" };
    match step.did {
        Did::Edited => format!("edited {}{failed}", path(&step.what, 100)),
        Did::Read => format!("read {}{failed}", path(&step.what, 100)),
        Did::Ran => format!("ran {}{failed}", code(&step.what.replace(" 2>&1", ""), 120)),
    }
}

/// The list on one line, and how far it can be believed: agents do the work first, and tick it off later.
fn todos(digest: &Digest, all: &mut Gathered) {
    if !digest.are_todos_current() {
        return;
    }
    let (mut open, mut done) = (Vec::new(), Vec::new());
    for todo in digest.todos.iter().filter(|todo| !todo.text.trim().is_empty()) {
        match todo.status {
            Some(TodoStatus::InProgress) => {
                open.insert(0, format!("{} (in progress)", quoted(&todo.text, 120)));
            }
            Some(TodoStatus::Completed) => done.push(quoted(&todo.text, 80)),
            _ => open.push(quoted(&todo.text, 120)),
        }
    }
    // A list on which nothing is open is history.
    if open.is_empty() {
        return;
    }
    let since = match digest.edits_since_todos() {
        0 => String::new(),
        n => format!(" ({} since, so the first may be done)", count(n, "edit")),
    };
    let first = |list: &[String], most: usize| {
        let more = list.len().saturating_sub(most);
        let more = if more > 0 { format!("; +{more} more") } else { String::new() };
        format!("{}{more}", list[..list.len().min(most)].join("; "))
    };
    let forms = [2, 5, usize::MAX].map(|most| format!("To do{since}: {}", first(&open, most)));
    let mut forms = forms.to_vec();
    forms.dedup();
    all.add(Class::State, "todos".to_owned(), forms);
    if !done.is_empty() {
        let form = |most: usize| {
            let left = done.len().saturating_sub(most);
            let more = if left > 0 { format!(" +{left} before") } else { String::new() };
            format!("Done of the list: {}{more}", done[left..].join("; "))
        };
        let mut forms = vec![form(2), form(5)];
        forms.dedup();
        all.add(Class::State, "todos-done".to_owned(), forms);
    }
}
