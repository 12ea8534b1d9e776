//! One cut measured: what is found in a text, and how that compares with lists of the same length.

use std::collections::BTreeSet;

use model::redact::{Options, Redacted};

use super::cut::{CALLS_AFTER, Cut, Session, Sort, beginning, collapsed};
use super::events::{Call, End, Event, What};
use super::texts::Past;

/// Found, of how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    pub found: usize,
    pub of: usize,
}

/// What can be asked of a text.
pub const QUESTIONS: [&str; 9] = [
    "files needed again",
    "commands needed again",
    "last prompt",
    "prompts",
    "open failures",
    "errors, failing commands",
    "edited",
    "read",
    "commands",
];

/// What one text gave.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    pub chars: usize,
    /// By [`QUESTIONS`].
    pub shares: [Share; 9],
    pub missed: Vec<(usize, String)>,
    /// Files named that were needed, of those named.
    pub precision: Share,
    /// The same for lists of as many files: the last used, and the most used.
    pub recent: Share,
    pub touched: Share,
}

#[derive(Debug)]
pub struct Measured {
    pub session: String,
    /// The line of the transcript.
    pub line: usize,
    pub real: bool,
    pub by_size: Vec<(usize, Answers)>,
    pub summary: Option<Answers>,
}

/// What is looked for.
struct Wanted {
    items: [BTreeSet<String>; 9],
    /// Seen files, last used last, each once; and by use, most used last.
    recent: Vec<String>,
    touched: Vec<String>,
}

impl Measured {
    pub fn take(session: &Session, cut: &Cut, past: &Past, sizes: &[usize]) -> Measured {
        let wanted = wanted(session, cut);
        let by_size = sizes.iter().map(|size| (*size, answers(session, &wanted, &past.alone(*size))));
        Measured {
            session: session.name.clone(),
            line: cut.line + 1,
            by_size: by_size.collect(),
            real: cut.sort != Sort::MadeUp,
            summary: (!cut.summary.is_empty()).then(|| answers(session, &wanted, &cut.summary)),
        }
    }
}

fn wanted(session: &Session, cut: &Cut) -> Wanted {
    let mut recent: Vec<String> = Vec::new();
    let mut uses: Vec<(usize, String)> = Vec::new();
    for path in session.seen(cut) {
        recent.retain(|known| known != path);
        recent.push(path.to_owned());
        match uses.iter_mut().find(|(_, known)| known == path) {
            Some((times, _)) => *times += 1,
            None => uses.push((1, path.to_owned())),
        }
    }
    // Of those used as often, the later one.
    uses.sort_by_key(|(times, path)| (*times, recent.iter().position(|known| known == path)));
    let commands = |events: &[Event]| -> BTreeSet<String> {
        let all = events.iter().filter_map(|event| event.command()).map(beginning);
        all.filter(|command| !command.is_empty()).collect()
    };
    let files = |edits: bool| -> BTreeSet<String> {
        let all = session.since(cut).iter().flat_map(|event| event.files());
        all.filter(|file| file.edited == edits).map(|file| file.path.clone()).collect()
    };
    let after: Vec<&Call> = session.after(cut, CALLS_AFTER).collect();
    let touched_after: BTreeSet<&str> =
        after.iter().flat_map(|call| &call.files).map(|file| file.path.as_str()).collect();
    let commands_after: BTreeSet<String> =
        after.iter().filter_map(|call| call.command.as_deref()).map(beginning).collect();
    let commands_ever = commands(session.ever(cut));
    let prompts: Vec<String> = session
        .since(cut)
        .iter()
        .filter_map(|event| match &event.what {
            What::Prompt(text) => Some(beginning(text)),
            _ => None,
        })
        .collect();
    let (open, errors) = failures(session, cut);
    let items = [
        recent.iter().filter(|path| touched_after.contains(path.as_str())).cloned().collect(),
        commands_after.intersection(&commands_ever).cloned().collect(),
        prompts.last().into_iter().cloned().collect(),
        prompts.into_iter().collect(),
        open,
        errors,
        files(true),
        files(false),
        commands(session.since(cut)),
    ];
    Wanted { items, recent, touched: uses.into_iter().map(|(_, path)| path).collect() }
}

/// Commands that failed and did not pass since, with the first line of why; and all of both.
fn failures(session: &Session, cut: &Cut) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut open, mut all) = (Vec::<(String, Option<String>)>::new(), BTreeSet::new());
    for event in session.since(cut) {
        let What::Result { call, end, text } = &event.what else { continue };
        let command =
            session.since(cut).iter().find(|event| event.call().is_some_and(|known| known.id == *call));
        let Some(command) = command.and_then(|event| event.command()).map(beginning) else { continue };
        match end {
            End::NotRun => {}
            End::Done => open.retain(|(known, _)| *known != command),
            End::Failed => {
                let errors: Vec<String> =
                    errors_of(text).lines().map(beginning).filter(|line| !line.is_empty()).collect();
                all.extend(errors.iter().cloned());
                all.insert(command.clone());
                open.retain(|(known, _)| *known != command);
                open.push((command, errors.first().cloned()));
            }
        }
    }
    let open = open.into_iter().flat_map(|(command, error)| [Some(command), error]).flatten().collect();
    (open, all)
}

/// The lines of a failed call that say why, as the journal picks them.
fn errors_of(text: &str) -> String {
    model::failure::error_lines(&Redacted::whole(text, Options::default()))
}

fn answers(session: &Session, wanted: &Wanted, text: &str) -> Answers {
    let flat = collapsed(text);
    let mut answers = Answers { chars: model::render::width(text), ..Answers::default() };
    for (question, items) in wanted.items.iter().enumerate() {
        for item in items {
            let found = match QUESTIONS[question] {
                "files needed again" | "edited" | "read" => is_named(session, &flat, item),
                _ => flat.contains(item.as_str()),
            };
            answers.shares[question].of += 1;
            answers.shares[question].found += usize::from(found);
            if !found {
                answers.missed.push((question, item.clone()));
            }
        }
    }
    let needed = &wanted.items[0];
    let named = wanted.recent.iter().filter(|path| is_named(session, &flat, path)).count();
    let hits = |list: &mut dyn Iterator<Item = &String>| list.filter(|path| needed.contains(*path)).count();
    let of = named;
    answers.precision = Share { found: answers.shares[0].found, of };
    answers.recent = Share { found: hits(&mut wanted.recent.iter().rev().take(named)), of };
    answers.touched = Share { found: hits(&mut wanted.touched.iter().rev().take(named)), of };
    answers
}

/// The text holds the path, or an ending of it that no other file of the session has, and nothing glued to it.
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
        // A full stop may end a sentence; with a letter behind it, it is part of a longer name.
        let goes_on =
            next.is_some_and(|c| glued(c) || c == '/') || next == Some('.') && then.is_some_and(glued);
        !goes_on && !before.is_some_and(|c| glued(c) || c == '.')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_alone() {
        for (text, expected) in [
            ("see src/a.rs, then", true),
            ("src: a.rs", true),
            ("/x/y/src/a.rs", true),
            ("a.rs.", true),
            ("a.rs.bak", false),
            ("ba.rs", false),
            ("a.rs/b", false),
            ("x-a.rs", false),
        ] {
            assert_eq!(stands_in(text, "a.rs"), expected, "{text}");
        }
    }
}
