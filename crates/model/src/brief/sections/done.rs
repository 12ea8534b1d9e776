//! Found, decided, done: requests with their outcome, and informative text that the agent wrote between calls.

use crate::brief::Material;
use crate::brief::candidate::Class;
use crate::brief::gather::Gathered;
use crate::digest::{AgentUse, Turn};
use crate::prompt::{self, Sort};
use crate::render::quoted;

use super::said;

pub fn gather(material: &Material, all: &mut Gathered) {
    let digest = material.digest;
    let goal = digest.goal();
    let turns = digest.turns();
    // The last words are under "Where it stands".
    let last = (!digest.is_at_work()).then_some(digest.said_last);
    let accepted = goal.accepted.map(|accepted| accepted.record);
    let is_told = |record: u64| Some(record) == last || Some(record) == accepted;
    let mut facts: Vec<(u64, Fact)> = Vec::new();
    for turn in &turns {
        match turn.outcome.filter(|said| !is_told(said.record)) {
            Some(said) => facts.push((said.record, Fact::Turn(*turn, &said.text))),
            None => {
                let quoted = [goal.newest, goal.task].into_iter().flatten();
                // These are listed under the user's words.
                if !turn.prompt.refused.is_empty() || !prompt::wishes(&turn.prompt.text).is_empty() {
                    continue;
                }
                if turn.prompt.sort() != Sort::Approval
                    && quoted.into_iter().all(|prompt| prompt.record != turn.prompt.record)
                {
                    facts.push((turn.prompt.record, Fact::Asked(*turn)));
                }
            }
        }
    }
    let closing: Vec<u64> = turns.iter().filter_map(|turn| turn.outcome).map(|said| said.record).collect();
    let found =
        digest.statements.iter().filter(|said| !closing.contains(&said.record) && !is_told(said.record));
    // These are listed as the last words.
    let found = found.filter(|found| found.record != digest.said_last);
    // The closing words of a turn sum up what was found and what of it is still true.
    let last_closed = closing.iter().copied().max().unwrap_or(0);
    let found = found.filter(|found| found.record > last_closed);
    facts.extend(found.map(|said| (said.record, Fact::Found(&said.text))));
    let answered = digest.agents.iter().filter(|agent| !agent.answer.is_empty());
    facts.extend(answered.map(|agent| (agent.record, Fact::Agent(agent))));
    facts.sort_by_key(|(record, _)| (*record <= digest.epoch, std::cmp::Reverse(*record)));
    for (record, fact) in facts {
        add(all, record, fact);
    }
}

#[derive(Clone, Copy)]
enum Fact<'d> {
    Turn(Turn<'d>, &'d str),
    Found(&'d str),
    Asked(Turn<'d>),
    Agent(&'d AgentUse),
}

fn add(all: &mut Gathered, record: u64, fact: Fact) {
    let (class, forms, known) = match fact {
        Fact::Turn(turn, outcome) => {
            let form = |request: usize, most: usize| match turn.prompt.sort() {
                // A yes says nothing by itself.
                Sort::Approval => said(outcome, most),
                _ => format!("{} → {}", quoted(&turn.prompt.text, request), said(outcome, most)),
            };
            (Class::Done, vec![form(64, 100), form(80, 240), form(120, 500), form(200, 1_200)], outcome)
        }
        Fact::Found(text) => (Class::Done, vec![said(text, 160), said(text, 400)], text),
        Fact::Agent(agent) => {
            let form =
                |most| format!("sub-agent {} → {}", quoted(&agent.asked, 80), said(&agent.answer, most));
            (Class::Done, vec![form(120), form(300), form(800)], agent.answer.as_str())
        }
        Fact::Asked(turn) => {
            let text = turn.prompt.text.as_str();
            (Class::Earlier, vec![quoted(text, 64), quoted(text, 160), quoted(text, 300)], text)
        }
    };
    all.add(class, format!("said:{record}"), forms).known_by = vec![known.to_owned()];
}
