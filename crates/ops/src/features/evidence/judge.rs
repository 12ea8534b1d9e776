//! Checks whether evidence is still valid by comparing its entries with the files in the checkout.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use model::evidence::{EvidenceBundle, EvidenceEntry, EvidenceStanding, Freshness, judge_evidence};
use model::id::Id;
use store::{Checkout, ExaminationLimit, ListingComparison, ListingTime, Store};

/// A checkout with more files than this is not listed.
pub(super) const MAX_CHECKOUT_FILES: usize = 20_000;

/// How many files and bytes are examined for a brief. The limits are low because the session is waiting.
const EXAMINATION_LIMIT_FOR_BRIEF: ExaminationLimit =
    ExaminationLimit { files: 5_000, bytes: 4 * 1024 * 1024, deadline: None };

/// Checks whether evidence is fresh. Each result is cached, so that no file is examined twice.
pub(crate) struct FreshnessJudge<'a> {
    store: &'a Store,
    checkout: Option<Checkout>,
    /// Earlier results, by task, tree and scope.
    cached_results: RefCell<HashMap<(Id, String, String), Freshness>>,
    /// All current files, or `None` if they cannot be listed without running git.
    all_files: OnceCell<Option<Vec<String>>>,
}

impl<'a> FreshnessJudge<'a> {
    pub fn new(store: &'a Store, checkout: &Path) -> FreshnessJudge<'a> {
        FreshnessJudge::with_effort(store, checkout, ExaminationLimit::UNLIMITED)
    }

    /// Returns a judge for a brief. It answers `Unknown` if a comparison takes longer than `time` or exceeds
    /// [`EXAMINATION_LIMIT_FOR_BRIEF`].
    pub fn for_brief(store: &'a Store, checkout: &Path, time: Duration) -> FreshnessJudge<'a> {
        FreshnessJudge::with_effort(
            store,
            checkout,
            ExaminationLimit { deadline: Some(Instant::now() + time), ..EXAMINATION_LIMIT_FOR_BRIEF },
        )
    }

    /// Returns a judge for a hook that must finish by `end`.
    pub fn for_hook_until(store: &'a Store, checkout: &Path, end: Instant) -> FreshnessJudge<'a> {
        FreshnessJudge::with_effort(
            store,
            checkout,
            ExaminationLimit { deadline: Some(end), ..ExaminationLimit::UNLIMITED },
        )
    }

    fn with_effort(store: &'a Store, checkout: &Path, effort: ExaminationLimit) -> FreshnessJudge<'a> {
        let checkout = Checkout::open_with_examination_limit(checkout, effort).ok();
        FreshnessJudge { store, checkout, cached_results: RefCell::default(), all_files: OnceCell::new() }
    }

    pub fn evidence_standing<'e>(&self, task: &Id, bundle: &'e EvidenceBundle) -> EvidenceStanding<'e> {
        judge_evidence(&bundle.entries, |entry| self.cached_freshness(task, entry))
    }

    pub fn cached_freshness(&self, task: &Id, entry: &EvidenceEntry) -> Freshness {
        if !entry.changed.is_empty() {
            return Freshness::Stale(format!("{} changed", entry.changed));
        }
        if entry.tree.is_empty() {
            return Freshness::Unknown("the evidence does not say which files it is about".to_owned());
        }
        let key = (task.clone(), entry.tree.clone(), entry.scope.clone());
        if let Some(known) = self.cached_results.borrow().get(&key) {
            return known.clone();
        }
        let freshness = self.compare_files(task, entry);
        self.cached_results.borrow_mut().insert(key, freshness.clone());
        freshness
    }

    fn compare_files(&self, task: &Id, entry: &EvidenceEntry) -> Freshness {
        let unknown = |why: &str| Freshness::Unknown(why.to_owned());
        let Some(checkout) = &self.checkout else { return unknown("the checkout cannot be read") };
        let Some((listing, written)) = self.store.read_file_listing(task, &entry.tree) else {
            return unknown("the evidence's list of files is no longer stored");
        };
        match checkout.compare_with_listing(&listing, ListingTime::ExaminedBefore(written)) {
            ListingComparison::Same => {}
            ListingComparison::Changed(path) => return Freshness::Stale(format!("{path} changed")),
            ListingComparison::Gone(path) => return Freshness::Stale(format!("{path} is gone")),
            ListingComparison::Unfinished => {
                return Freshness::Unknown(format!(
                    "the evidence covers too many files to compare here; `thru evidence show {task}` compares them"
                ));
            }
        }
        if !entry.covers_whole_project() {
            return Freshness::Fresh;
        }
        let Some(all) = self.all_files.get_or_init(|| list_checkout_files(checkout)) else {
            return unknown("the files of the checkout cannot be listed");
        };
        match all.iter().find(|path| !listing.files.contains_key(*path) && checkout.has_file(path)) {
            Some(new) => Freshness::Stale(format!("{new} is new")),
            None => Freshness::Fresh,
        }
    }
}

/// Returns the files that git tracks, or all files if the checkout is not in git.
pub(super) fn list_checkout_files(checkout: &Checkout) -> Option<Vec<String>> {
    match checkout.tracked_files(MAX_CHECKOUT_FILES) {
        Some(files) => Some(files),
        None if checkout.is_in_git() => None,
        None => checkout.files_below("", MAX_CHECKOUT_FILES),
    }
}
