//! What a brief says about evidence: the last of each task in progress, failed or stale first.

use std::time::Duration;

use model::brief::{Candidate, Section};
use model::evidence::Bundle;
use model::id::Id;
use model::render::inline;
use model::score::Signal;
use store::layout;

use super::{Judge, show};
use crate::Result;
use crate::features::{BriefContext, plan, swarm};

const SECTION: Section =
    Section { order: 2, longer: 1, name: "evidence", title: "Evidence", signal: Signal::EvidencePresence };

/// The most tasks that are mentioned.
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
    Ok(told(store, &judge, &loaded.plan)
        .into_iter()
        .map(|(task, text)| Candidate::new(&SECTION, format!("evidence:{task}"), text))
        .collect())
}

/// Returns a sentence for each task in progress with evidence: for a brief and for a pickup.
pub(crate) fn told(store: &store::Store, judge: &Judge, plan: &model::plan::Plan) -> Vec<(String, String)> {
    let current = show::current(store, judge, plan);
    let sentence = |(id, bundle): &(Id, std::result::Result<Bundle, store::Error>)| {
        let text = match bundle {
            Ok(bundle) => judge.standing(id, bundle).told()?,
            Err(_) => format!("{} cannot be read; `thru doctor` says why", layout::evidence_bundle(id)),
        };
        Some((id.to_string(), format!("{}: {text}", inline(id.as_str(), 64))))
    };
    current.iter().filter_map(sentence).take(MOST).collect()
}
