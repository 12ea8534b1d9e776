//! Chooses the forms that fit into a brief, in order of rank. A fact first gets its shortest form, which a longer
//! form may replace later. Facts that do not fit are skipped.

use std::collections::BTreeSet;

use super::candidate::{Candidate, FactClass, FactListLayout};
use super::ranking::RankedCandidates;
use crate::render::utf16_length;
use crate::tokens::TokenRatios;

/// The size limits of a brief.
#[derive(Clone, Copy, Debug)]
pub(super) struct BriefBudget {
    /// The maximum number of UTF-16 units.
    pub max_units: usize,
    /// The maximum number of tokens, or `None` if only the number of characters is limited.
    pub max_tokens: Option<f64>,
    pub ratios: TokenRatios,
}

/// The chosen form of each candidate, if any.
#[derive(Debug, Default)]
pub(super) struct FormChoice {
    pub forms: Vec<Option<usize>>,
    /// For each candidate, the reason it was left out, or `None` if it was used.
    pub omission_reasons: Vec<Option<OmissionReason>>,
    /// The estimated number of tokens in the chosen forms and their headers.
    pub tokens: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum OmissionReason {
    /// The maximum number of candidates was already reached.
    TooMany,
    Chars {
        needed: usize,
        left: usize,
    },
    Tokens {
        needed: f64,
        left: f64,
    },
}

impl FormChoice {
    pub fn has_any(&self) -> bool {
        self.forms.iter().any(Option::is_some)
    }

    pub fn has_all_candidates(&self) -> bool {
        self.forms.iter().all(Option::is_some)
    }
}

pub(super) fn choose_forms(ranked: &RankedCandidates, budget: BriefBudget) -> FormChoice {
    let candidates = &ranked.candidates;
    let mut left = budget.max_units;
    let mut opened = CountedHeaders::default();
    let mut forms: Vec<Option<usize>> = vec![None; candidates.len()];
    let mut refused = vec![Some(OmissionReason::TooMany); candidates.len()];
    let mut tokens = 0.0;
    for &(i, form) in &ranked.queue {
        let candidate = &candidates[i];
        let cost = match forms[i] {
            None if form > 0 => continue,
            None => size_of_candidate_form(candidate, 0) + opened.header_cost(candidate),
            Some(shorter) => size_of_candidate_form(candidate, form)
                .saturating_sub(size_of_candidate_form(candidate, shorter)),
        };
        let cost_tokens = cost as f64 * budget.ratios.ratio_of(candidate.text_kind);
        let tokens_left = budget.max_tokens.map_or(f64::INFINITY, |most| most - tokens);
        let no = match () {
            () if cost > left => Some(OmissionReason::Chars { needed: cost, left }),
            () if cost_tokens > tokens_left => {
                Some(OmissionReason::Tokens { needed: cost_tokens, left: tokens_left })
            }
            () => None,
        };
        if no.is_none() {
            left -= cost;
            tokens += cost_tokens;
            opened.count_headers(candidate);
            forms[i] = Some(form);
        }
        if form == 0 {
            refused[i] = no;
        }
    }
    FormChoice { forms, omission_reasons: refused, tokens }
}

/// The headers whose cost has been counted. A header is a section title, a folder name, or the word "edited" or
/// "read" in a folder. Its cost is added to the first fact below it.
#[derive(Default)]
pub(super) struct CountedHeaders<'c> {
    titles: BTreeSet<&'static str>,
    folders: BTreeSet<(&'static str, &'c str)>,
    verbs: BTreeSet<(FactClass, &'c str)>,
}

impl<'c> CountedHeaders<'c> {
    pub fn header_cost(&self, candidate: &'c Candidate) -> usize {
        let (class, title) = (candidate.class, candidate.class.title());
        // An inline section is one line. Its dash and line ending cost 3 units, of which 2 are counted with the title
        // and 1 here. `size_of_candidate_form` adds 2 for each fact.
        let line = if class.layout() == FactListLayout::OnOneLine { 1 } else { 0 };
        let mut cost = if self.titles.contains(title) { 0 } else { utf16_length(title) + 2 + line };
        if let Some(folder) = candidate.folder.as_deref() {
            cost += if self.folders.contains(&(title, folder)) { 0 } else { utf16_length(folder) + 5 };
            cost += if self.verbs.contains(&(class, folder)) {
                0
            } else {
                utf16_length(class.verb_before_file_name())
            };
        }
        cost
    }

    pub fn count_headers(&mut self, candidate: &'c Candidate) {
        let (class, title) = (candidate.class, candidate.class.title());
        self.titles.insert(title);
        if let Some(folder) = candidate.folder.as_deref() {
            self.folders.insert((title, folder));
            self.verbs.insert((class, folder));
        }
    }
}

/// Returns the size of a candidate's form in UTF-16 units, without section and folder headers.
pub(super) fn size_of_candidate_form(candidate: &Candidate, form: usize) -> usize {
    let around = match candidate.class.layout() {
        FactListLayout::OnePerLine => 3,
        FactListLayout::ByFolder | FactListLayout::OnOneLine => 2,
    };
    utf16_length(&candidate.forms[form]) + around
}
