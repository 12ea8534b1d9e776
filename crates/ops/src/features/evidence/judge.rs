//! Judges whether evidence is still valid: compares its entries with the files of the checkout.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use model::evidence::{Bundle, Entry, Freshness, Standing, standing};
use model::id::Id;
use store::{Checkout, Comparison, Effort, ListedAt, Store};

/// A checkout with more files than this is not treated as one project.
pub(super) const MOST_FILES: usize = 20_000;

/// How much is examined for a brief, which a session waits for.
const BRIEF: Effort = Effort { files: 5_000, bytes: 4 * 1024 * 1024, until: None };

/// Judges evidence. Each file is examined once, however many entries are about it.
pub(crate) struct Judge<'a> {
    store: &'a Store,
    checkout: Option<Checkout>,
    /// Results that are already known, by task, tree and scope.
    known: RefCell<HashMap<(Id, String, String), Freshness>>,
    /// All current files, if they can be listed without running git.
    all: OnceCell<Option<Vec<String>>>,
}

impl<'a> Judge<'a> {
    pub fn new(store: &'a Store, checkout: &Path) -> Judge<'a> {
        Judge::within(store, checkout, Effort::ANY)
    }

    /// Returns a judge for a brief. Its answer is `Unknown` if the comparison would take longer than `time`.
    pub fn for_brief(store: &'a Store, checkout: &Path, time: Duration) -> Judge<'a> {
        Judge::within(store, checkout, Effort { until: Some(Instant::now() + time), ..BRIEF })
    }

    /// Returns a judge for a hook that must finish by `end`.
    pub fn until(store: &'a Store, checkout: &Path, end: Instant) -> Judge<'a> {
        Judge::within(store, checkout, Effort { until: Some(end), ..Effort::ANY })
    }

    fn within(store: &'a Store, checkout: &Path, effort: Effort) -> Judge<'a> {
        let checkout = Checkout::open_for(checkout, effort).ok();
        Judge { store, checkout, known: RefCell::default(), all: OnceCell::new() }
    }

    pub fn standing<'e>(&self, task: &Id, bundle: &'e Bundle) -> Standing<'e> {
        standing(&bundle.entries, |entry| self.freshness(task, entry))
    }

    pub fn freshness(&self, task: &Id, entry: &Entry) -> Freshness {
        if !entry.changed.is_empty() {
            return Freshness::Stale(format!("{} changed", entry.changed));
        }
        if entry.tree.is_empty() {
            return Freshness::Unknown("it is not bound to files".to_owned());
        }
        let key = (task.clone(), entry.tree.clone(), entry.scope.clone());
        if let Some(known) = self.known.borrow().get(&key) {
            return known.clone();
        }
        let freshness = self.look(task, entry);
        self.known.borrow_mut().insert(key, freshness.clone());
        freshness
    }

    fn look(&self, task: &Id, entry: &Entry) -> Freshness {
        let unknown = |why: &str| Freshness::Unknown(why.to_owned());
        let Some(checkout) = &self.checkout else { return unknown("the checkout cannot be read") };
        let Some((listing, written)) = self.store.listing(task, &entry.tree) else {
            return unknown("the list of its files is no longer stored");
        };
        match checkout.compare(&listing, ListedAt::Before(written)) {
            Comparison::Same => {}
            Comparison::Changed(path) => return Freshness::Stale(format!("{path} changed")),
            Comparison::Gone(path) => return Freshness::Stale(format!("{path} is gone")),
            Comparison::Unfinished => {
                return Freshness::Unknown(format!(
                    "it has too many files to compare here, `thru evidence show {task}` compares them"
                ));
            }
        }
        if !entry.speaks_of_all() {
            return Freshness::Fresh;
        }
        let Some(all) = self.all.get_or_init(|| files_now(checkout)) else {
            return unknown("the files of the checkout cannot be listed");
        };
        match all.iter().find(|path| !listing.files.contains_key(*path) && checkout.has(path)) {
            Some(new) => Freshness::Stale(format!("{new} is new")),
            None => Freshness::Fresh,
        }
    }
}

/// Returns the files that git tracks, or all files if there is no git.
pub(super) fn files_now(checkout: &Checkout) -> Option<Vec<String>> {
    match checkout.tracked(MOST_FILES) {
        Some(files) => Some(files),
        None if checkout.is_in_git() => None,
        None => checkout.walk("", MOST_FILES),
    }
}
