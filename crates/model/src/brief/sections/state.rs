//! The current state: the agent's last words, what came after them, and what is still to do.

use crate::brief::Material;
use crate::brief::candidate::Class;
use crate::brief::gather::Gathered;
use crate::digest::{Did, Digest, Step};
use crate::event::TodoStatus;
use crate::render::{code, path, quoted};
use crate::statement;
use crate::text::fingerprint;

use super::said;

/// How many calls after the last words are listed.
const STEPS: usize = 6;

/// This many prompts after the last change make a todo list stale.
const STALE: usize = 3;

/// A longer text is a summary, not an announcement.
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
    if !digest.is_at_work() {
        if !digest.said.is_empty() {
            let form = |most| {
                format!(
                    "The agent had finished and waited for the user. Its last words: {}",
                    said(words, most)
                )
            };
            all.add(Class::State, "said".to_owned(), [160, 400, 1_000, 2_000].map(form).to_vec()).known_by =
                vec![words.to_owned()];
        }
        return;
    }
    let answered = digest.prompts.last().is_none_or(|prompt| prompt.record < digest.said_last);
    let then = |most: usize| {
        let steps: Vec<String> = since[since.len().saturating_sub(most)..].iter().map(step).collect();
        let left = since.len() - steps.len();
        let before = if left > 0 { format!("{left} calls, ") } else { String::new() };
        (!steps.is_empty()).then(|| format!("{before}{}", steps.join(", ")))
    };
    // The end says what it is about to do.
    let last = |most: usize| quoted(&statement::last_sentences(words, most), most + 2);
    let form = |most: usize, calls: usize| match (answered && !words.is_empty(), then(calls)) {
        (true, Some(then)) => format!("At work. Last said: {}; then {then}", last(most)),
        (true, None) => format!("At work. Last said: {}", last(most)),
        (false, Some(then)) => format!("At work on the newest message: {then}"),
        (false, None) => "The newest message has not been taken up yet".to_owned(),
    };
    let forms = vec![form(120, 2), form(240, 3), form(400, STEPS), form(1_000, STEPS)];
    all.add(Class::State, "said".to_owned(), forms).known_by = vec![words.to_owned()];
}

/// `edited src/a.rs`, `ran `cargo test` → failed`.
fn step(step: &Step) -> String {
    let failed = if step.failed { " → failed" } else { "" };
    match step.did {
        Did::Edited => format!("edited {}{failed}", path(&step.what, 100)),
        Did::Read => format!("read {}{failed}", path(&step.what, 100)),
        Did::Ran => format!("ran {}{failed}", code(&step.what, 80)),
    }
}

fn todos(digest: &Digest, all: &mut Gathered) {
    // A list that did not change while several other things were asked is about finished work.
    if digest.prompts.iter().filter(|prompt| prompt.record > digest.todos_at).count() >= STALE {
        return;
    }
    let (mut open, mut done) = (Vec::new(), Vec::new());
    for todo in digest.todos.iter().filter(|todo| !todo.text.trim().is_empty()) {
        let id = format!("todo:{:016x}", fingerprint([&todo.id, &todo.text]));
        match todo.status {
            Some(TodoStatus::InProgress) => {
                open.insert(0, (id, format!("To do, in progress: {}", quoted(&todo.text, 120))));
            }
            Some(TodoStatus::Completed) => done.push(quoted(&todo.text, 80)),
            _ => open.push((id, format!("To do: {}", quoted(&todo.text, 120)))),
        }
    }
    let is_open = !open.is_empty();
    for (id, words) in open {
        all.add(Class::State, id, vec![words]);
    }
    // A list without open entries is history.
    if is_open && !done.is_empty() {
        let form = |most: usize| {
            let left = done.len().saturating_sub(most);
            let more = if left > 0 { format!(" +{left} before") } else { String::new() };
            format!("Done of the list: {}{more}", done[left..].join("; "))
        };
        all.add(Class::State, "todos-done".to_owned(), vec![form(2), form(5), form(done.len())]);
    }
}
