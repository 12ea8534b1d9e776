//! Found, decided, done: requests with their outcome, and informative text that the agent wrote between calls.

use crate::brief::Material;
use crate::brief::candidate::Class;
use crate::brief::gather::Gathered;
use crate::digest::{AgentUse, Digest, Goal, Prompt, Statement, Turn};
use crate::prompt::Sort;
use crate::render::quoted;
use crate::statement;

use super::said;

/// Most turns, findings and sub-agents' answers that are told.
const TURNS: usize = 7;
const FINDINGS: usize = 3;
const AGENTS: usize = 4;

/// So many of the newest turns are told whatever they were.
const FRESH: usize = 2;

/// Closing words that are shorter say little, unless they name something.
const SHORT: usize = 90;

/// A closing message of at least this many bytes is assumed to sum up what sub-agents answered before it.
const SUMMED_UP: usize = 240;

pub fn gather(material: &Material, all: &mut Gathered) {
    let digest = material.digest;
    let goal = digest.goal();
    let turns = digest.turns();
    // The last words stand under "Where it stands", what was accepted with the goal.
    let accepted = goal.accepted.map(|accepted| accepted.record);
    // Those before a message that was taken up are not.
    let last = digest.prompts.last().is_none_or(|prompt| prompt.record < digest.said_last)
        || digest.steps_since_said().is_empty();
    let is_told = |said: &Statement| last && said.record == digest.said_last || Some(said.record) == accepted;
    let closing: Vec<&Statement> = turns.iter().filter_map(|turn| turn.outcome).collect();
    // Who had finished closed a turn, though no prompt has followed yet.
    let finished = digest.has_finished().then_some(digest.said_last);
    let last_closed = closing.iter().map(|said| said.record).max().max(finished).unwrap_or(0);

    let mut facts: Vec<(u64, Fact)> = Vec::new();
    let mut turns_told: Vec<&Prompt> = Vec::new();
    for turn in turns.iter().rev() {
        let Some(outcome) = turn.outcome.filter(|said| !is_told(said)) else { continue };
        let is_settled = turns_told.len() >= FRESH && is_settled(digest, turn, outcome);
        if turns_told.len() < TURNS && !is_settled && tells(digest, turn, outcome) {
            facts.push((outcome.record, Fact::Turn(*turn, outcome, turns_told.len())));
            turns_told.push(turn.prompt);
        }
    }
    // The closing words of a turn sum up what was found on the way, and what of it still holds.
    let found = digest.statements.iter().rev().filter(|said| said.record > last_closed && !is_told(said));
    let is_guess = |said: &Statement| ["likely ", "probably"].iter().any(|word| said.text.contains(word));
    let found =
        found.filter(|said| !digest.is_retracted(said) && !is_solved(digest, said) && !is_guess(said));
    facts.extend(found.take(FINDINGS).map(|said| (said.record, Fact::Found(&said.text))));
    let summed_up = |agent: &&AgentUse| {
        closing.iter().any(|said| said.record > agent.record && said.text.len() >= SUMMED_UP)
            || finished.is_some_and(|record| record > agent.record)
    };
    let answered = digest.agents.iter().rev().filter(|agent| !agent.answer.is_empty() && !summed_up(agent));
    facts.extend(answered.take(AGENTS).map(|agent| (agent.record, Fact::Agent(agent))));
    facts.sort_by_key(|(record, _)| (*record <= digest.epoch, std::cmp::Reverse(*record)));
    for (record, fact) in facts {
        add(all, record, fact);
    }
    earlier(&turns, &turns_told, &goal, all);
}

/// A question that was answered before the last work began: what came of it is in the work.
fn is_settled(digest: &Digest, turn: &Turn, outcome: &Statement) -> bool {
    turn.prompt.sort() == Sort::Question && digest.edited_after(outcome.record).is_some()
}

/// Whether the closing words of a turn are worth knowing now.
fn tells(digest: &Digest, turn: &Turn, outcome: &Statement) -> bool {
    let text = outcome.text.as_str();
    // A question in return was answered by what came next.
    let is_question = text.len() < SHORT * 2 && text.ends_with('?');
    // "Pushed." is told with the effects, and with the right id.
    let small = text.to_lowercase();
    let is_receipt = ["committed", "pushed", "done"].iter().any(|start| small.starts_with(start));
    let is_short = text.len() < SHORT
        && (is_receipt || turn.prompt.sort() != Sort::Question && !text.contains(['`', '/']));
    let is_unfinished = text.len() < SHORT * 2 && statement::announces(text);
    !is_question && !is_short && !is_unfinished && !text.is_empty() && !digest.is_retracted(outcome)
}

/// It speaks of something that fails, and nothing fails any more.
fn is_solved(digest: &Digest, said: &Statement) -> bool {
    const FAILING: [&str; 6] = ["failing", " fails", "failed", "error", "broken", "doesn't compile"];
    let small = said.text.to_lowercase();
    let since = digest
        .checks
        .iter()
        .any(|check| check.last > said.record && check.ended == crate::run::Ended::Passed);
    FAILING.iter().any(|word| small.contains(word)) && since && digest.open_failures().next().is_none()
}

/// What was asked besides, on one line: answered, or overtaken.
fn earlier(turns: &[Turn], told: &[&Prompt], goal: &Goal, all: &mut Gathered) {
    let goals: Vec<&str> =
        [goal.newest, goal.task].into_iter().flatten().map(|prompt| prompt.text.as_str()).collect();
    // A session that was resumed can hold a prompt twice.
    let mut known: Vec<&str> = told.iter().map(|prompt| prompt.text.as_str()).collect();
    for turn in turns.iter().rev() {
        let text = turn.prompt.text.as_str();
        let is_yes = turn.prompt.sort() == Sort::Approval && text.len() < 40;
        // Told with the goal, or under the user's words.
        let is_told = all.has(&format!("prompt:{}", turn.prompt.record));
        if is_yes || is_told || goals.contains(&text) || known.contains(&text) {
            continue;
        }
        known.push(text);
        let forms = vec![quoted(text, 64)];
        all.add(Class::Earlier, format!("prompt:{}", turn.prompt.record), forms).known_by =
            vec![text.to_owned()];
    }
}

#[derive(Clone, Copy)]
enum Fact<'d> {
    /// With how many newer ones are told.
    Turn(Turn<'d>, &'d Statement, usize),
    Found(&'d str),
    Agent(&'d AgentUse),
}

fn add(all: &mut Gathered, record: u64, fact: Fact) {
    let (forms, known) = match fact {
        Fact::Turn(turn, outcome, newer) => {
            let form = |(request, most): &(usize, usize)| match turn.prompt.sort() {
                // A yes says nothing by itself.
                Sort::Approval => said(&outcome.text, *most),
                _ => format!("{} → {}", quoted(&turn.prompt.text, *request), said(&outcome.text, *most)),
            };
            // The older the turn, the less of it matters.
            let lengths: &[(usize, usize)] = match newer {
                0 | 1 => &[(64, 160), (80, 300), (120, 600), (200, 1_200)],
                2 | 3 => &[(64, 160), (80, 300), (100, 500)],
                _ => &[(64, 160), (80, 260)],
            };
            (lengths.iter().map(form).collect(), outcome.text.as_str())
        }
        Fact::Found(text) => (vec![said(text, 160), said(text, 400)], text),
        Fact::Agent(agent) => {
            let form =
                |most| format!("sub-agent {} → {}", quoted(&agent.asked, 80), said(&agent.answer, most));
            (vec![form(200), form(400), form(800)], agent.answer.as_str())
        }
    };
    all.add(Class::Done, format!("said:{record}"), forms).known_by = vec![known.to_owned()];
}

#[cfg(test)]
#[path = "done_tests.rs"]
mod tests;
