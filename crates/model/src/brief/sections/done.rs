//! Found, decided, done: requests with what became of them, and what the agent said between calls that tells something.

use crate::brief::Material;
use crate::brief::candidate::Class;
use crate::brief::gather::Gathered;
use crate::digest::Turn;
use crate::prompt::Sort;
use crate::render::quoted;

use super::said;

pub fn gather(material: &Material, all: &mut Gathered) {
    let digest = material.digest;
    let goal = digest.goal();
    let turns = digest.turns();
    // The last words stand under "Where it stands".
    let last = (!digest.is_at_work()).then_some(digest.said_last);
    let accepted = goal.accepted.map(|accepted| accepted.record);
    let is_told = |record: u64| Some(record) == last || Some(record) == accepted;
    let mut facts: Vec<(u64, Fact)> = Vec::new();
    for turn in &turns {
        match turn.outcome.filter(|said| !is_told(said.record)) {
            Some(said) => facts.push((said.record, Fact::Turn(*turn, &said.text))),
            None => {
                let quoted = [goal.newest, goal.task].into_iter().flatten();
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
    // The words that are told as the last ones.
    let found = found.filter(|found| found.record != digest.said_last);
    facts.extend(found.map(|said| (said.record, Fact::Found(&said.text))));
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
}

fn add(all: &mut Gathered, record: u64, fact: Fact) {
    let (class, forms, known) = match fact {
        Fact::Turn(turn, outcome) => {
            let form = |request: usize, most: usize| {
                format!("{} → {}", quoted(&turn.prompt.text, request), said(outcome, most))
            };
            (Class::Done, vec![form(60, 120), form(80, 240), form(120, 500), form(200, 1_200)], outcome)
        }
        Fact::Found(text) => (Class::Done, vec![said(text, 160), said(text, 400)], text),
        Fact::Asked(turn) => {
            let text = turn.prompt.text.as_str();
            (Class::Earlier, vec![quoted(text, 70), quoted(text, 160), quoted(text, 300)], text)
        }
    };
    all.add(class, format!("said:{record}"), forms).known_by = vec![known.to_owned()];
}
