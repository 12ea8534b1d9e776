//! What a text should contain at a cut. This is derived from what happened before and after the cut.

use std::collections::BTreeSet;

use super::cut::{CALLS_AFTER, Cut, Session, beginning, collapsed};
use super::effects::{self, Effect};
use super::errors::{self, Again};
use super::events::{Call, Event, What};
use super::labels::{self, Labels};

/// A prompt with at least this many characters says what is wanted. A shorter prompt is usually an answer.
const TELLING: usize = 40;

#[derive(Debug, Default)]
pub struct Wanted {
    /// Files used before the cut that the next calls use again.
    pub files_again: BTreeSet<String>,
    pub commands_again: BTreeSet<String>,
    /// The newest prompt, whatever its length.
    pub newest: Option<String>,
    /// The newest prompt that is long enough to say what is wanted.
    pub telling: Option<String>,
    pub prompts: BTreeSet<String>,
    /// `None` if nobody has labelled the failures.
    pub open: Option<Vec<String>>,
    pub edited: BTreeSet<String>,
    pub read: BTreeSet<String>,
    pub effects: Vec<Effect>,
    pub errors_again: Vec<Again>,
    /// Every command since the last compaction.
    pub commands: BTreeSet<String>,
    /// The files that were used before the cut, without duplicates. The file that was used last comes last.
    pub recent: Vec<String>,
    /// The same files. The file that was used most comes last.
    pub touched: Vec<String>,
}

impl Wanted {
    pub fn at(session: &Session, cut: &Cut, labels: &Labels) -> Wanted {
        let (recent, touched) = by_use(session.seen(cut));
        let files = |edits: bool| -> BTreeSet<String> {
            let all = session.since(cut).iter().flat_map(|event| event.files());
            all.filter(|file| file.edited == edits).map(|file| file.path.clone()).collect()
        };
        let after: Vec<&Call> = session.after(cut, CALLS_AFTER).collect();
        let touched_after: BTreeSet<&str> =
            after.iter().flat_map(|call| &call.files).map(|file| file.path.as_str()).collect();
        let commands_after: BTreeSet<String> =
            after.iter().filter_map(|call| call.command.as_deref()).map(beginning).collect();
        let prompts: Vec<&str> = prompts(session.since(cut)).collect();
        let mut telling =
            prompts.iter().rev().copied().chain(prompts_before(session, cut)).filter(|text| is_telling(text));
        let commands_ever = commands(session.ever(cut));
        Wanted {
            files_again: recent
                .iter()
                .filter(|path| touched_after.contains(path.as_str()))
                .cloned()
                .collect(),
            commands_again: commands_after.intersection(&commands_ever).cloned().collect(),
            newest: prompts.last().map(|text| beginning(text)),
            telling: telling.next().map(beginning),
            prompts: prompts.iter().map(|text| beginning(text)).collect(),
            open: labels::open_at(labels, session, cut),
            edited: files(true),
            read: files(false),
            effects: effects::of(session.since(cut)),
            errors_again: errors::met_again(session, cut),
            commands: commands(session.since(cut)),
            recent,
            touched,
        }
    }
}

fn prompts(events: &[Event]) -> impl DoubleEndedIterator<Item = &str> {
    events.iter().filter_map(|event| match &event.what {
        What::Prompt(text) => Some(text.as_str()),
        _ => None,
    })
}

/// Returns the prompts before the previous compaction, newest first.
fn prompts_before<'a>(session: &'a Session, cut: &Cut) -> impl Iterator<Item = &'a str> {
    prompts(&session.events[..cut.epoch]).rev()
}

fn is_telling(text: &str) -> bool {
    collapsed(text).chars().count() >= TELLING
}

fn commands(events: &[Event]) -> BTreeSet<String> {
    let all = events.iter().filter_map(|event| event.command()).map(beginning);
    all.filter(|command| !command.is_empty()).collect()
}

/// Returns each path once, in two orders: with the path that was used last at the end, and with the path that was
/// used most at the end. Among paths that were used equally often, the one that was used later comes later.
fn by_use<'a>(paths: impl Iterator<Item = &'a str>) -> (Vec<String>, Vec<String>) {
    let mut recent: Vec<String> = Vec::new();
    let mut uses: Vec<(usize, String)> = Vec::new();
    for path in paths {
        recent.retain(|known| known != path);
        recent.push(path.to_owned());
        match uses.iter_mut().find(|(_, known)| known == path) {
            Some((times, _)) => *times += 1,
            None => uses.push((1, path.to_owned())),
        }
    }
    uses.sort_by_key(|(times, path)| (*times, recent.iter().position(|known| known == path)));
    (recent, uses.into_iter().map(|(_, path)| path).collect())
}
