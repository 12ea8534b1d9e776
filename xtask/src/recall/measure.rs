//! Measures one cut: which wanted items a text contains, and what a bare list of the same length would contain.

use anyhow::Result;
use model::score::Scoring;

use super::cut::{Cut, Half, Session, Sort, collapsed};
use super::labels::{self, Labels};
use super::texts::Past;
use super::wanted::Wanted;
use super::{SIZES, effects, errors};

/// How many items were found, and how many there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    pub found: usize,
    pub of: usize,
}

/// The questions about a text, in the order of the report.
pub const QUESTIONS: [&str; 13] = [
    FILES_AGAIN,
    COMMANDS_AGAIN,
    COMMANDS_BARE,
    "newest prompt",
    "newest telling prompt",
    "prompts",
    "open failures",
    "failures told are open",
    "edited",
    "read",
    "outside effects, with id",
    "errors met again",
    "commands, all",
];
pub const FILES_AGAIN: &str = "files needed again";
pub const COMMANDS_AGAIN: &str = "commands needed again";
/// The question about commands without their pipes, redirections and leading `cd`, for texts that leave these out.
const COMMANDS_BARE: &str = "the same, without pipes";

pub fn question(name: &str) -> usize {
    QUESTIONS.iter().position(|known| *known == name).expect("a question that is asked")
}

/// The results for one text.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    pub chars: usize,
    /// The shares, in the order of [`QUESTIONS`].
    pub shares: [Share; 13],
    pub missed: Vec<(usize, String)>,
    /// How many of the files that the text names were needed again.
    pub precision: Share,
    /// The same share for a list of the same number of files: those that were used last.
    pub recent: Share,
    /// The same share for a list of the same number of files: those that were used most.
    pub touched: Share,
    /// How many of the needed files are in a bare list of recent paths that is as long as the text.
    pub bare: Share,
}

#[derive(Debug)]
pub struct Measured {
    pub session: String,
    pub half: Half,
    /// The line of the transcript at which the session was cut, counted from 1.
    pub line: usize,
    pub sort: Sort,
    /// The results for briefs without a summary, in the order of [`SIZES`].
    pub alone: Vec<Answers>,
    /// Measured only at compactions.
    pub packet: Option<Answers>,
    pub beside: Option<Beside>,
}

/// The results for the summary, for the brief next to it, and for both together.
#[derive(Debug)]
pub struct Beside {
    pub summary: Answers,
    pub brief: Answers,
    pub either: Answers,
    /// How many lines of the brief say something that the summary does not.
    pub new_lines: Share,
}

impl Measured {
    /// Measures the briefs of one ranking. A packet has its own order, so it is measured only once, together with
    /// the fixed order.
    pub fn take(
        session: &Session,
        cut: &Cut,
        past: &Past,
        labels: &Labels,
        scoring: Option<&Scoring>,
    ) -> Result<Measured> {
        let wanted = Wanted::at(session, cut, labels);
        let ask = |text: &str, size: usize| answers(session, &wanted, text, size);
        let has_packet = cut.sort != Sort::MadeUp && scoring.is_none();
        let packet = if has_packet { Some(past.pickup()?) } else { None };
        let largest = SIZES[SIZES.len() - 1];
        let beside = (!cut.summary.is_empty()).then(|| {
            let brief = past.beside(&cut.summary, largest, scoring);
            Beside {
                summary: ask(&cut.summary, cut.summary.len()),
                either: ask(&format!("{}\n{brief}", cut.summary), cut.summary.len() + brief.len()),
                new_lines: new_lines(&brief, &cut.summary),
                brief: ask(&brief, brief.len()),
            }
        });
        Ok(Measured {
            session: session.name.clone(),
            half: Half::of(&session.name),
            line: cut.line + 1,
            sort: cut.sort,
            alone: SIZES.iter().map(|size| ask(&past.alone(*size, scoring), *size)).collect(),
            packet: packet.map(|prompt| ask(&prompt, prompt.len())),
            beside,
        })
    }
}

fn answers(session: &Session, wanted: &Wanted, text: &str, size: usize) -> Answers {
    let flat = collapsed(text);
    let mut answers = Answers { chars: model::render::width(text), ..Answers::default() };
    let mut ask = |name: &str, item: &str, found: bool| answers.count(question(name), item, found);
    let is_named = |path: &str| is_named(session, &flat, path);
    let holds = |words: &str| flat.contains(words);
    for (name, paths) in
        [(FILES_AGAIN, &wanted.files_again), ("edited", &wanted.edited), ("read", &wanted.read)]
    {
        paths.iter().for_each(|path| ask(name, path, is_named(path)));
    }
    for (name, texts) in [
        (COMMANDS_AGAIN, &wanted.commands_again),
        ("prompts", &wanted.prompts),
        ("commands, all", &wanted.commands),
    ] {
        texts.iter().for_each(|words| ask(name, words, holds(words)));
    }
    for command in &wanted.commands_again {
        ask(COMMANDS_BARE, command, holds(&labels::core(command)));
    }
    for (name, words) in [("newest prompt", &wanted.newest), ("newest telling prompt", &wanted.telling)] {
        words.iter().for_each(|words| ask(name, words, holds(words)));
    }
    if let Some(open) = &wanted.open {
        let lines: Vec<String> = labels::failing_lines(text).into_iter().map(collapsed).collect();
        for command in open {
            ask("open failures", command, lines.iter().any(|line| line.contains(command.as_str())));
        }
        for line in &lines {
            let is_open = open.iter().any(|command| line.contains(command.as_str()));
            ask("failures told are open", line, is_open);
        }
    }
    for effect in &wanted.effects {
        let words = format!("{} {}", effect.kind, effect.ids.join(" or "));
        ask("outside effects, with id", &words, effects::is_named(effect, &flat));
    }
    for error in &wanted.errors_again {
        let words = error.first().map_or("", String::as_str);
        ask("errors met again", words, errors::is_warned_of(error, text));
    }
    let needed = &wanted.files_again;
    let named = wanted.recent.iter().filter(|path| is_named(path)).count();
    let hits = |list: &mut dyn Iterator<Item = &String>| list.filter(|path| needed.contains(*path)).count();
    answers.precision = Share { found: answers.shares[question(FILES_AGAIN)].found, of: named };
    answers.recent = Share { found: hits(&mut wanted.recent.iter().rev().take(named)), of: named };
    answers.touched = Share { found: hits(&mut wanted.touched.iter().rev().take(named)), of: named };
    let mut room = size;
    let mut fits = |path: &&String| {
        let length = session.short(path).chars().count() + 1;
        let fits = length <= room;
        room = if fits { room - length } else { 0 };
        fits
    };
    answers.bare =
        Share { found: hits(&mut wanted.recent.iter().rev().take_while(&mut fits)), of: needed.len() };
    answers
}

impl Answers {
    fn count(&mut self, question: usize, item: &str, found: bool) {
        self.shares[question].of += 1;
        self.shares[question].found += usize::from(found);
        if !found {
            self.missed.push((question, item.to_owned()));
        }
    }
}

/// Returns whether the text contains, as a separate word, the path or an end of the path that no other file of the
/// session has.
fn is_named(session: &Session, text: &str, path: &str) -> bool {
    let starts = path.bytes().enumerate().filter(|(_, byte)| *byte == b'/').map(|(at, _)| at + 1);
    let endings = starts.map(|at| &path[at..]).chain([path]).filter(|ending| !ending.is_empty());
    endings.filter(|ending| stands_in(text, ending)).any(|ending| {
        let whole = format!("/{ending}");
        !session.files.iter().any(|other| other != path && (other == ending || other.ends_with(&whole)))
    })
}

fn stands_in(text: &str, name: &str) -> bool {
    let glued = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let mut after = text[at + name.len()..].chars();
        let (next, then) = (after.next(), after.next());
        // A full stop may end a sentence. If a letter follows it, it is part of a longer name.
        let goes_on =
            next.is_some_and(|c| glued(c) || c == '/') || next == Some('.') && then.is_some_and(glued);
        !goes_on && !before.is_some_and(|c| glued(c) || c == '.')
    })
}

/// A line repeats the summary if the summary contains at least this share of its words, in percent.
const REPEATED: usize = 80;

/// Counts the new lines. A line is new if the summary lacks one of its paths, numbers or ids, or most of its words.
fn new_lines(brief: &str, summary: &str) -> Share {
    let known = summary.to_lowercase();
    let is_new = |line: &&str| {
        let lower = line.to_lowercase();
        let words: Vec<&str> = lower
            .split(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '.' | '_' | '-' | '#'))
            .map(|word| word.trim_matches(['.', '-', '/']))
            .filter(|word| word.len() > 2)
            .collect();
        let is_hard =
            |word: &str| word.contains('/') || word.contains('_') || word.chars().any(|c| c.is_ascii_digit());
        let held = |word: &str| known.contains(word.rsplit('/').next().unwrap_or(word));
        words.iter().any(|word| is_hard(word) && !held(word))
            || words.iter().filter(|word| held(word)).count() * 100 < words.len() * REPEATED
    };
    // The first line introduces the brief, and headings contain no facts.
    let lines = brief.lines().skip(1).filter(|line| line.starts_with("- "));
    let of = lines.clone().count();
    Share { found: lines.filter(is_new).count(), of }
}

#[cfg(test)]
#[path = "measure_tests.rs"]
mod tests;
