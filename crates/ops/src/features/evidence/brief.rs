//! The part of a brief about evidence: the last result for each task in progress. Tasks with failed or stale evidence
//! come first.

use std::time::Duration;

use model::brief::{BriefSection, Candidate};
use model::evidence::{EvidenceBundle, ProofState};
use model::id::Id;
use model::render::inline_for_model;
use model::score::ScoreSignal;
use store::layout;

use super::{FreshnessJudge, show};
use crate::Result;
use crate::features::{BriefContext, plan, swarm};

const EVIDENCE_BRIEF_SECTION: BriefSection = BriefSection {
    order: 2,
    longer: 1,
    name: "evidence",
    title: "Evidence",
    signal: ScoreSignal::EvidencePresence,
};
pub const BRIEF_SECTION_NAMES: &[&str] = &[EVIDENCE_BRIEF_SECTION.name];

const MAX_TASKS_MENTIONED: usize = 3;

pub fn brief_candidates(context: &BriefContext) -> Result<Vec<Candidate>> {
    let store = context.project.store;
    if store.dir().open_subfolder(layout::EVIDENCE_FOLDER).is_err() {
        return Ok(Vec::new());
    }
    let Some(loaded) = plan::load_plan(store)? else { return Ok(Vec::new()) };
    if swarm::foreign_swarm_of_plan(&context.project, &loaded.plan).is_some() {
        return Ok(Vec::new());
    }
    let time = Duration::from_millis(context.project.settings.hooks_deadline_ms / 4);
    let judge = FreshnessJudge::for_brief(store, &context.project.root.checkout, time);
    let candidate = |told: EvidenceSentence| {
        let candidate = Candidate::new(&EVIDENCE_BRIEF_SECTION, format!("evidence:{}", told.task), told.text)
            .with_signal(ScoreSignal::EvidencePresence, 1.0);
        match told.proof {
            ProofState::Failed => candidate.with_signal(ScoreSignal::RecentFailure, 1.0),
            ProofState::Passed => candidate.with_signal(ScoreSignal::RecentSuccess, 1.0),
            ProofState::Stale | ProofState::None => candidate,
        }
    };
    Ok(evidence_sentences(store, &judge, &loaded.plan).into_iter().map(candidate).collect())
}

pub(crate) struct EvidenceSentence {
    pub task: String,
    pub text: String,
    proof: ProofState,
}

/// Returns a sentence for each task in progress that has evidence, for a brief or a pickup.
pub(crate) fn evidence_sentences(
    store: &store::Store,
    judge: &FreshnessJudge,
    plan: &model::plan::Plan,
) -> Vec<EvidenceSentence> {
    let current = show::evidence_in_progress(store, judge, plan);
    let sentence = |(id, bundle): &(Id, std::result::Result<EvidenceBundle, store::Error>)| {
        let (text, proof) = match bundle {
            Ok(bundle) => {
                let standing = judge.evidence_standing(id, bundle);
                (standing.describe_for_model()?, standing.proof)
            }
            Err(_) => {
                let file = layout::evidence_bundle_path(id);
                (format!("{file} cannot be read; `thru doctor` says why"), ProofState::None)
            }
        };
        let text = format!("{}: {text}", inline_for_model(id.as_str(), 64));
        Some(EvidenceSentence { task: id.to_string(), text, proof })
    };
    current.iter().filter_map(sentence).take(MAX_TASKS_MENTIONED).collect()
}
