//! Found, decided, done: requests with their outcome, and informative text that the agent wrote between calls.

use std::borrow::Cow;

use crate::brief::Material;
use crate::brief::candidate::Class;
use crate::brief::gather::Gathered;
use crate::brief::paths::Endings;
use crate::content::Content;
use crate::digest::{AgentUse, Digest, Goal, Prompt, Statement, Turn};
use crate::prompt::Sort;
use crate::render::{path, quoted};
use crate::statement;
use crate::text::cut;

use super::said;

/// Most turns, changed files, findings and sub-agents' answers that are told.
const TURNS: usize = 4;
const CHANGED: usize = 8;
const FINDINGS: usize = 3;
const AGENTS: usize = 4;

/// The most reasons that are told for a file, and the most files for the same reasons.
const REASONS: usize = 4;
const GROUP: usize = 4;

/// A turn is told by later words that share so many percent of its words.
const SAME: usize = 60;

/// So many of the newest conclusions are told, even if the turn changed nothing.
const FRESH: usize = 2;

/// Closing words that are shorter say little, unless they name something.
const SHORT: usize = 90;

/// How many characters of an earlier request are told, and how long the last word may be.
const EARLIER: usize = 62;
const WORD: usize = 20;

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

    // Of two accounts of the same work, the newer one is right.
    let mut told = Content::of(if last { &digest.said } else { "" });
    let mut facts: Vec<(u64, Fact)> = Vec::new();
    let mut turns_told: Vec<&Prompt> = Vec::new();
    // Where the agent's last words sum up its work, they are the newest conclusion.
    let is_closing = last && closing.iter().any(|said| said.record == digest.said_last);
    let newer = usize::from(digest.has_finished() || is_closing);
    for turn in turns.iter().rev() {
        let Some(outcome) = turn.outcome.filter(|said| !is_told(said)) else { continue };
        let is_settled = is_settled(digest, turn, outcome, newer + turns_told.len());
        let is_known = told.share(&outcome.text) >= SAME;
        if turns_told.len() < TURNS && !is_settled && !is_known && tells(digest, turn, outcome) {
            told.add(&outcome.text);
            facts.push((outcome.record, Fact::Turn(*turn, outcome, newer + turns_told.len())));
            turns_told.push(turn.prompt);
        }
    }
    // The closing words of a turn sum up what was found on the way, and what of it still holds.
    let found = digest.statements.iter().rev().filter(|said| said.record > last_closed && !is_told(said));
    let found =
        found.filter(|said| !digest.is_retracted(said) && !is_solved(digest, said) && !is_guess(said));
    let changes = digest.changes_since(last_closed);
    let is_reason =
        |said: &Statement| changes.iter().flat_map(|(_, why)| why).any(|why| said.text.contains(*why));
    let found = found.filter(|said| !is_reason(said));
    facts.extend(found.take(FINDINGS).map(|said| (said.record, Fact::Found(&said.text))));
    let summed_up = |agent: &&AgentUse| {
        closing.iter().any(|said| said.record > agent.record && said.text.len() >= SUMMED_UP)
            || finished.is_some_and(|record| record > agent.record)
    };
    let answered = digest.agents.iter().rev().filter(|agent| !agent.answer.is_empty() && !summed_up(agent));
    facts.extend(answered.take(AGENTS).map(|agent| (agent.record, Fact::Agent(agent))));
    facts.sort_by_key(|(record, _)| (*record <= digest.epoch, std::cmp::Reverse(*record)));
    let topic = goal.newest.map_or("", |newest| newest.text.as_str());
    changed(digest, &changes, all);
    for (record, fact) in facts {
        add(all, record, fact, topic);
    }
    earlier(&turns, &turns_told, &goal, all);
}

/// Adds what was changed in each file since the agent last summed up, in its own words. Files that were changed for the
/// same reasons stand together.
fn changed(digest: &Digest, changes: &[(&str, Vec<&str>)], all: &mut Gathered) {
    let endings = Endings::of(digest.files.iter().map(|file| file.path.as_str()));
    let mut groups: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for (file, why) in changes {
        let why: Vec<&str> = why.iter().copied().filter(|why| says_more(why, file)).collect();
        match groups.iter_mut().find(|(_, known)| *known == why) {
            _ if why.is_empty() => {}
            Some((files, _)) => files.push(file),
            None => groups.push((vec![file], why)),
        }
    }
    for (files, why) in groups.iter().take(CHANGED) {
        let named: Vec<String> =
            files.iter().take(GROUP).map(|file| path(endings.split(file).1, 120)).collect();
        let more = files.len().saturating_sub(GROUP);
        let more = if more > 0 { format!(" +{more}") } else { String::new() };
        let form = |reasons: usize, most: usize| {
            // "Do the same for b" needs what came before it.
            let alone = why.iter().rev().take_while(|why| why.starts_with("Do the same")).count();
            let from = why.len().saturating_sub(reasons + alone);
            let why: Vec<Cow<str>> =
                why[from..].iter().map(|why| statement::first_sentences(why, most)).collect();
            format!("{}{more}: {}", named.join(", "), quoted(&why.join("; "), (most + 3) * why.len()))
        };
        let mut forms = vec![form(1, 90), form(2, 110), form(REASONS, 200)];
        forms.dedup();
        all.add(Class::Done, format!("change:{}", cut(files[0], 300)), forms).known_by =
            why.iter().map(|why| (*why).to_owned()).collect();
    }
}

/// "Update the a.go file" says nothing about a.go, "update the integration tests" says nothing about any file.
pub(crate) fn says_more(why: &str, file: &str) -> bool {
    const LEAST: usize = 3;
    const EMPTY: &[&str] = &[
        "update",
        "add",
        "fix",
        "change",
        "changes",
        "the",
        "to",
        "of",
        "in",
        "for",
        "and",
        "file",
        "files",
        "test",
        "tests",
        "code",
        "new",
        "now",
        "implement",
        "implementation",
        "functionality",
        "integration",
        "make",
        "use",
        "this",
        "that",
        "these",
        "all",
        "also",
        "with",
        "remaining",
        "function",
        "layer",
        "start",
    ];
    let name = file.rsplit('/').next().unwrap_or(file);
    let rest = why.replace(file, "").replace(name, "").to_lowercase();
    let telling = rest.split_whitespace().filter(|word| word.len() > 1 && !EMPTY.contains(word));
    telling.clone().any(|word| word.len() > 3 && word.contains('`')) || telling.count() >= LEAST
}

/// Words about what to do, before the last work began: what came of them is in the work. So are guesses, if `newer`
/// conclusions are told.
fn is_settled(digest: &Digest, turn: &Turn, outcome: &Statement, newer: usize) -> bool {
    if newer == 0 {
        return false;
    }
    let during = turn.prompt.record..outcome.record;
    let worked = digest.changes.iter().any(|change| during.contains(&change.record))
        || digest.effects.iter().any(|used| during.contains(&used.record));
    let is_talk = turn.prompt.sort() == Sort::Question || !outcome.asks.is_empty();
    let is_over = is_talk || !worked && newer >= FRESH;
    is_over && digest.edited_after(outcome.record).is_some() || is_guess(outcome)
}

fn is_guess(said: &Statement) -> bool {
    ["likely ", "probably"].iter().any(|word| said.text.contains(word))
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
    // Words given with a refusal are told as such, and changed the course of a turn that went on.
    let is_whole = turn.prompt.refused.is_empty();
    is_whole
        && !is_question
        && !is_short
        && !is_unfinished
        && !text.is_empty()
        && !digest.is_retracted(outcome)
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
        if is_yes
            || is_told
            || goals.contains(&text)
            || known.iter().any(|known| beginning(known) == beginning(text))
        {
            continue;
        }
        known.push(text);
        let forms = vec![quoted(&beginning(text), EARLIER + WORD + 4)];
        all.add(Class::Earlier, format!("prompt:{}", turn.prompt.record), forms).known_by =
            vec![text.to_owned()];
    }
}

/// The first words of a text: enough to know it by, and no word in two.
fn beginning(text: &str) -> Cow<'_, str> {
    let mut ends = text.char_indices().skip(EARLIER).map(|(at, c)| (at, c.is_whitespace()));
    match ends.clone().nth(WORD).and(ends.find_map(|(at, is_end)| is_end.then_some(at))) {
        Some(at) => Cow::Owned(format!("{}…", text[..at].trim_end_matches([',', ';', ':']))),
        None => Cow::Borrowed(text),
    }
}

#[derive(Clone, Copy)]
enum Fact<'d> {
    /// With how many newer ones are told.
    Turn(Turn<'d>, &'d Statement, usize),
    Found(&'d str),
    Agent(&'d AgentUse),
}

/// Adds a fact. Of the newest turn, what is about `topic` is told first.
fn add(all: &mut Gathered, record: u64, fact: Fact, topic: &str) {
    let (forms, known) = match fact {
        Fact::Turn(turn, outcome, newer) => {
            let about = if newer == 0 { topic } else { "" };
            let form = |(request, most): &(usize, usize)| {
                let told = quoted(&statement::sentences_about(&outcome.text, *most, about), *most + 2);
                match turn.prompt.sort() {
                    // A yes says nothing by itself.
                    Sort::Approval => told,
                    _ => format!("{} → {told}", quoted(&turn.prompt.text, *request)),
                }
            };
            // Later conclusions replace earlier ones: only the newest is told at length.
            let lengths: &[(usize, usize)] = match newer {
                0 => &[(64, 160), (80, 300), (120, 600), (200, 1_200)],
                1 => &[(64, 160), (80, 300)],
                _ => &[(64, 160)],
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
