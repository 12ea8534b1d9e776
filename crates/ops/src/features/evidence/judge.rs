//! Whether evidence still holds: its entries held against the files of the checkout.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::path::Path;

use model::evidence::{Bundle, Entry, Freshness, Standing, standing};
use model::id::Id;
use store::{Checkout, Difference, Store};

/// More files than that are not taken for one project.
pub(super) const MOST_FILES: usize = 20_000;

/// Looks at each file once, however many entries speak of it.
pub(crate) struct Judge<'a> {
    store: &'a Store,
    checkout: Option<Checkout>,
    known: RefCell<HashMap<String, Freshness>>,
    /// Every file there is now, where that can be told without asking git.
    all: OnceCell<Option<Vec<String>>>,
}

impl<'a> Judge<'a> {
    pub fn new(store: &'a Store, checkout: &Path) -> Judge<'a> {
        let checkout = Checkout::open(checkout).ok();
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
            return Freshness::Stale("it is bound to no files".to_owned());
        }
        let key = format!("{} {}", entry.tree, entry.scope);
        if let Some(known) = self.known.borrow().get(&key) {
            return known.clone();
        }
        let freshness = self.look(task, entry).map_or(Freshness::Fresh, Freshness::Stale);
        self.known.borrow_mut().insert(key, freshness.clone());
        freshness
    }

    /// What is not as it was, in words.
    fn look(&self, task: &Id, entry: &Entry) -> Option<String> {
        let Some(checkout) = &self.checkout else { return Some("the checkout cannot be read".to_owned()) };
        let Some((listing, written)) = self.store.listing(task, &entry.tree) else {
            return Some("the files it spoke of are not on record any more".to_owned());
        };
        match checkout.difference(&listing, written) {
            Some(Difference::Changed(path)) => return Some(format!("{path} changed")),
            Some(Difference::Gone(path)) => return Some(format!("{path} is gone")),
            None => {}
        }
        if !entry.speaks_of_all() {
            return None;
        }
        let all = self.all.get_or_init(|| files_now(checkout)).as_deref()?;
        let new = all.iter().find(|path| !listing.files.contains_key(*path) && checkout.has(path))?;
        Some(format!("{new} is new"))
    }
}

/// What git tracks, or what lies there where there is no git.
pub(super) fn files_now(checkout: &Checkout) -> Option<Vec<String>> {
    match checkout.tracked(MOST_FILES) {
        Some(files) => Some(files),
        None if checkout.is_in_git() => None,
        None => checkout.walk("", MOST_FILES),
    }
}
