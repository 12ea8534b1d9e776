//! What a brief says about evidence: the last result for each task in progress. Tasks with failed or stale evidence
//! come first.

use std::time::Duration;

use model::brief::{Candidate, Section};
use model::evidence::{Bundle, Proof};
use model::id::Id;
use model::render::inline;
use model::score::Signal;
use store::layout;

use super::{Judge, show};
use crate::Result;
use crate::features::{BriefContext, plan, swarm};

const SECTION: Section =
    Section { order: 2, longer: 1, name: "evidence", title: "Evidence", signal: Signal::EvidencePresence };
pub const SECTIONS: &[&str] = &[SECTION.name];

/// How many tasks are mentioned at most.
const MOST: usize = 3;

pub fn candidates(context: &BriefContext) -> Result<Vec<Candidate>> {
    let store = context.project.store;
    if store.dir().sub(layout::EVIDENCE).is_err() {
        return Ok(Vec::new());
    }
    let Some(loaded) = plan::load(store)? else { return Ok(Vec::new()) };
    if swarm::foreign(&context.project, &loaded.plan).is_some() {
        return Ok(Vec::new());
    }
    let time = Duration::from_millis(context.project.settings.hooks_deadline_ms / 4);
    let judge = Judge::for_brief(store, &context.project.root.checkout, time);
    let candidate = |told: Told| {
        let candidate = Candidate::new(&SECTION, format!("evidence:{}", told.task), told.text)
            .with(Signal::EvidencePresence, 1.0);
        match told.proof {
            Proof::Failed => candidate.with(Signal::RecentFailure, 1.0),
            Proof::Passed => candidate.with(Signal::RecentSuccess, 1.0),
            Proof::Stale | Proof::None => candidate,
        }
    };
    Ok(told(store, &judge, &loaded.plan).into_iter().map(candidate).collect())
}

/// What a brief says about a task's evidence.
pub(crate) struct Told {
    pub task: String,
    pub text: String,
    proof: Proof,
}

/// Returns a sentence for each task in progress that has evidence, for a brief or a pickup.
pub(crate) fn told(store: &store::Store, judge: &Judge, plan: &model::plan::Plan) -> Vec<Told> {
    let current = show::current(store, judge, plan);
    let sentence = |(id, bundle): &(Id, std::result::Result<Bundle, store::Error>)| {
        let (text, proof) = match bundle {
            Ok(bundle) => {
                let standing = judge.standing(id, bundle);
                (standing.told()?, standing.proof)
            }
            Err(_) => {
                let file = layout::evidence_bundle(id);
                (format!("{file} cannot be read; `thru doctor` says why"), Proof::None)
            }
        };
        let text = format!("{}: {text}", inline(id.as_str(), 64));
        Some(Told { task: id.to_string(), text, proof })
    };
    current.iter().filter_map(sentence).take(MOST).collect()
}
