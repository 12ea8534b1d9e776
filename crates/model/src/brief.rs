//! The brief: the facts an agent needs to continue, within a budget.
//!
//! Candidates are gathered and ranked. Those that fit are chosen in order of rank and printed section by section. The
//! output is deterministic: the same records always give the same bytes.

mod budget;
mod candidate;
mod effects;
mod file_text;
mod gather;
mod missing_in_summary;
mod order;
mod paths;
mod print;
mod ranking;
mod sections;

use serde::Serialize;

use crate::digest::{Digest, Prompt};
use crate::profile::SubagentProfile;
use crate::prompt::PromptKind;
use crate::render::utf16_length;
use crate::score::{ScorePart, ScoringSettings};
use crate::tokens::{TokenRatios, TokenTextKind, round_up_to_tokens};

use budget::{BriefBudget, FormChoice, OmissionReason, choose_forms};
pub use candidate::{BriefSection, Candidate, FactClass, FeatureSignals, SignalValue};
pub use effects::{find_contradictions, is_uncommitted_work};
pub use file_text::{QuotedFile, quote_file_text};
use order::FixedOrder;
pub(crate) use paths::list_by_folder;
pub use print::has_compaction_brief;
use ranking::{RankedCandidates, rank_candidates};
pub(crate) use sections::done::says_more_than_file_name;
use sections::state::FIRST_STEP_ID;
pub(crate) use sections::words::quote_answer;

/// The reason for composing a brief.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BriefOccasion {
    /// The context window was compacted, and the session continues.
    Compacted,
    /// The session was resumed, and the agent has no memory of it.
    Resumed,
    /// The session was resumed with its whole conversation, so the brief contains only what has changed since the
    /// session was last active.
    Replayed,
    /// A new session started in a project with earlier sessions.
    Started,
    /// A person asked for the brief.
    Asked,
}

/// The input from which a brief is composed.
#[derive(Clone, Copy, Debug)]
pub struct BriefMaterial<'a> {
    pub occasion: BriefOccasion,
    /// The digest of this session or, if the session has just started, of the previous session.
    pub digest: &'a Digest,
    /// Problems with hooks that no brief has reported yet.
    pub hook_problems: &'a [String],
    /// Files in the digest that have since been deleted.
    pub missing_files: &'a [String],
    /// Candidates that features contribute.
    pub feature_candidates: &'a [Candidate],
    /// The weights for ranking by score. `None` selects the fixed order.
    pub scoring: Option<&'a ScoringSettings>,
}

impl<'a> BriefMaterial<'a> {
    /// Returns the harness's summary if the agent can see it, otherwise an empty string.
    fn visible_summary(&self) -> &'a str {
        match self.occasion {
            BriefOccasion::Compacted => self.digest.summary_if_no_work_followed(),
            BriefOccasion::Resumed
            | BriefOccasion::Replayed
            | BriefOccasion::Started
            | BriefOccasion::Asked => "",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brief {
    pub text: String,
    pub sent_candidate_ids: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedBrief {
    /// The printed brief, or `None` if no fact was included.
    pub text: Option<String>,
    /// The estimated number of tokens in the text.
    pub tokens: usize,
    /// Every candidate, in the order in which it was considered.
    pub rows: Vec<ExplainedCandidate>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedCandidate {
    /// The candidate's stable id, such as `file:src/a.rs`, `command:cargo test` or `prompt:12`.
    pub id: String,
    pub class: &'static str,
    /// The candidate's position in the order in which candidates were considered, counted from 1.
    pub position: usize,
    /// The rank in the fixed order. Lower ranks come first.
    pub rank: u32,
    /// The length in UTF-16 units of the chosen form, or of the shortest form if none was chosen.
    pub chars: usize,
    pub kind: TokenTextKind,
    pub tokens: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    pub priority: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_hours: Option<f64>,
    pub signals: Vec<ScorePart>,
    pub taken: bool,
    pub why: String,
    /// The chosen form, or the shortest form if none was chosen.
    pub text: String,
}

/// The space reserved for the line that reports omitted facts, in UTF-16 units.
const OMISSIONS_LINE_UNITS: usize = 84;

/// Composes a brief of at most `cap` UTF-16 units. Returns `None` if no fact is included.
pub fn compose_brief(material: &BriefMaterial, cap: usize) -> Option<Brief> {
    let draft = BriefDraft::from_material(material, cap);
    Some(Brief { text: draft.to_text()?, sent_candidate_ids: draft.taken_ids() })
}

/// Composes a sub-agent's brief of at most `cap` UTF-16 units, with only the sections of its profile.
pub fn compose_for_profile(profile: &SubagentProfile, material: &BriefMaterial, cap: usize) -> Option<Brief> {
    let mut candidates = gather::gather_candidates(material);
    profile.keep_candidates_of_profile(&mut candidates);
    let draft = BriefDraft::from_candidates(print::head_for_profile(profile.name), candidates, material, cap);
    Some(Brief { text: draft.to_text()?, sent_candidate_ids: draft.taken_ids() })
}

/// Composes the same brief as [`compose_brief`], and also reports on every candidate.
pub fn explain_brief(material: &BriefMaterial, cap: usize) -> ExplainedBrief {
    let draft = BriefDraft::from_material(material, cap);
    let rows = (0..draft.ranked.candidates.len()).map(|i| draft.explained_row(i, material.scoring)).collect();
    let text = draft.to_text();
    let tokens = match material.scoring {
        // Without scoring, one token ratio applies to all text, including headers.
        None => TokenRatios::UNIFORM_RATIOS
            .estimate_tokens(TokenTextKind::Prose, text.as_deref().map_or(0, utf16_length)),
        Some(_) if text.is_none() => 0,
        Some(_) => round_up_to_tokens(draft.form_choice.tokens + draft.frame_tokens),
    };
    ExplainedBrief { rows, text, tokens }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BriefFact {
    pub class: FactClass,
    pub id: String,
    pub text: String,
}

/// Returns the session's facts for a packet, at most `cap` UTF-16 units in total, in section order. Files are left
/// out because the packet lists them separately.
pub fn facts_for_packet(material: &BriefMaterial, cap: usize) -> Vec<BriefFact> {
    let mut candidates = gather::gather_candidates(material);
    // Leave out the first step, because the packet's prompt already says what to begin with.
    candidates.retain(|candidate| {
        !candidate.class.is_file_class()
            && candidate.class != FactClass::Answered
            && candidate.id != FIRST_STEP_ID
    });
    let order =
        FixedOrder::fixed_order_for_brief_room(cap, material.digest.files_likely_needed_again().len());
    let ranked = rank_candidates(candidates, order, None);
    let choice = choose_forms(
        &ranked,
        BriefBudget { max_units: cap, max_tokens: None, ratios: TokenRatios::UNIFORM_RATIOS },
    );
    let taken = ranked.candidates.iter().zip(&choice.forms).filter_map(|(candidate, form)| {
        let Candidate { class, id, forms, .. } = candidate;
        Some(BriefFact { class: *class, id: id.clone(), text: forms[(*form)?].clone() })
    });
    let mut facts: Vec<BriefFact> = taken.collect();
    facts.sort_by_key(|fact| fact.class);
    facts
}

/// Describes the calls after the agent's last message, each in a few words, oldest first. If there are more
/// than `most` calls, only the newest ones are described.
pub fn describe_last_steps(digest: &Digest, most: usize) -> Vec<String> {
    let mut steps = sections::state::describe_steps(
        digest,
        digest.steps_since_last_message(),
        sections::state::StepDetail::WithPlaces,
    );
    steps.split_off(steps.len().saturating_sub(most))
}

/// Returns the note that marks an outdated todo list, or an empty string.
pub fn note_on_old_todos(digest: &Digest) -> String {
    sections::state::note_on_old_todos(digest.edits_since_todos())
}

/// Returns whether a candidate quotes a prompt that is more than a question.
fn asks_for_work(digest: &Digest, candidate: &Candidate) -> bool {
    let is_quoted = |prompt: &&Prompt| candidate.id == format!("prompt:{}", prompt.record);
    let quoted = digest.prompts.iter().find(is_quoted);
    quoted.is_some_and(|prompt| prompt.prompt_kind() != PromptKind::Question)
}

/// Removes the answered requests that do not fit in `room`. If any other fact does not fit, all answered
/// requests are removed. Returns the remaining candidates.
fn without_answered_beyond_room(ranked: RankedCandidates, room: usize) -> Vec<Candidate> {
    let budget = BriefBudget { max_units: room, max_tokens: None, ratios: TokenRatios::UNIFORM_RATIOS };
    let choice = choose_forms(&ranked, budget);
    let is_answered = |candidate: &Candidate| candidate.class == FactClass::Answered;
    let all = || ranked.candidates.iter().zip(&choice.forms);
    let is_full = all().any(|(candidate, form)| form.is_none() && !is_answered(candidate));
    let fits: Vec<bool> =
        all().map(|(candidate, form)| !is_answered(candidate) || !is_full && form.is_some()).collect();
    ranked
        .candidates
        .into_iter()
        .zip(fits)
        .filter(|(_, fits)| *fits)
        .map(|(candidate, _)| candidate)
        .collect()
}

struct BriefDraft {
    head: String,
    ranked: RankedCandidates,
    order: FixedOrder,
    form_choice: FormChoice,
    /// The estimated number of tokens in the head and in the line that reports omitted facts.
    frame_tokens: f64,
}

impl BriefDraft {
    fn from_material(material: &BriefMaterial, cap: usize) -> BriefDraft {
        BriefDraft::from_candidates(
            print::brief_head(material),
            gather::gather_candidates(material),
            material,
            cap,
        )
    }

    fn from_candidates(
        head: String,
        mut candidates: Vec<Candidate>,
        material: &BriefMaterial,
        cap: usize,
    ) -> BriefDraft {
        let room = cap.saturating_sub(utf16_length(&head));
        let order =
            FixedOrder::fixed_order_for_brief_room(room, material.digest.files_likely_needed_again().len());
        let rank = |candidates| rank_candidates(candidates, order, material.scoring);
        // Only a new session is told which requests were answered, and only if everything else fits too. A session
        // that continues its own work does not need to know.
        let is_started = material.occasion == BriefOccasion::Started;
        candidates.retain(|candidate| {
            candidate.class != FactClass::Answered || is_started && asks_for_work(material.digest, candidate)
        });
        candidates = without_answered_beyond_room(rank(candidates), room);
        let ranked = rank(candidates);
        let ratios = material.scoring.map_or(TokenRatios::UNIFORM_RATIOS, |scoring| scoring.ratios);
        let frame = |tail: usize| (utf16_length(&head) + tail) as f64 * ratios.prose;
        let budget = |tail: usize| BriefBudget {
            max_units: room.saturating_sub(tail),
            max_tokens: material.scoring.map(|scoring| scoring.max_tokens as f64 - frame(tail)),
            ratios,
        };
        let mut choice = choose_forms(&ranked, budget(0));
        let mut tail = 0;
        // Reserve space for the line about omitted facts only if some facts are omitted.
        if !choice.has_all_candidates() {
            tail = OMISSIONS_LINE_UNITS;
            choice = choose_forms(&ranked, budget(tail));
            // The line about omitted facts is usually shorter than the space reserved for it, so a few more facts may
            // fit.
            let needed = |choice: &FormChoice| {
                print::omitted_line(&ranked.candidates, choice).map_or(0, |line| utf16_length(&line))
            };
            let exact = needed(&choice);
            let fuller = choose_forms(&ranked, budget(exact));
            if exact < tail && needed(&fuller) <= exact {
                (tail, choice) = (exact, fuller);
            }
        }
        let frame = frame(tail);
        BriefDraft { head, ranked, order, form_choice: choice, frame_tokens: frame }
    }

    fn taken_ids(&self) -> Vec<String> {
        let taken =
            self.ranked.candidates.iter().zip(&self.form_choice.forms).filter(|(_, form)| form.is_some());
        taken.map(|(candidate, _)| candidate.id.clone()).collect()
    }

    fn to_text(&self) -> Option<String> {
        self.form_choice
            .has_any()
            .then(|| print::print_brief(&self.head, &self.ranked.candidates, &self.form_choice))
    }

    fn explained_row(&self, i: usize, scoring: Option<&ScoringSettings>) -> ExplainedCandidate {
        let (candidate, form) = (&self.ranked.candidates[i], self.form_choice.forms[i]);
        let text = candidate.forms[form.unwrap_or(0)].clone();
        let chars = utf16_length(&text);
        let score = self.ranked.scores.get(i);
        let ratios = scoring.map_or(TokenRatios::UNIFORM_RATIOS, |scoring| scoring.ratios);
        ExplainedCandidate {
            text,
            id: candidate.id.clone(),
            class: candidate.class.name(),
            position: i + 1,
            rank: self.order.rank_of_form(candidate, 0),
            chars,
            kind: candidate.text_kind,
            tokens: ratios.estimate_tokens(candidate.text_kind, chars),
            score: score.map(|score| score.value),
            priority: candidate.class.priority(),
            depth: candidate.signals.depth,
            age_hours: candidate.signals.age_hours,
            signals: score.map_or(Vec::new(), |score| score.parts.clone()),
            taken: form.is_some(),
            why: self.why_included_or_not(i, scoring),
        }
    }

    fn why_included_or_not(&self, i: usize, scoring: Option<&ScoringSettings>) -> String {
        let forms = self.ranked.candidates[i].forms.len();
        match (self.form_choice.forms[i], self.form_choice.omission_reasons[i]) {
            (Some(form), _) if form + 1 == forms => "in full".to_owned(),
            (Some(form), _) => format!("shortened: form {} of {forms}", form + 1),
            (None, Some(OmissionReason::Chars { needed, left })) => {
                format!("no room: it needs {needed} characters, but only {left} were left")
            }
            (None, Some(OmissionReason::Tokens { needed, left })) => {
                format!(
                    "no room: it needs {} tokens, but only {} were left",
                    round_up_to_tokens(needed),
                    left.max(0.0) as usize
                )
            }
            (None, Some(OmissionReason::TooMany) | None) => {
                let most = scoring.map_or(0, |scoring| scoring.max_candidates);
                format!("not among the first {most} candidates")
            }
        }
    }
}

#[cfg(test)]
#[path = "brief_tests.rs"]
mod tests;
