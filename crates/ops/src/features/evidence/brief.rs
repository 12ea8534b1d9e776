//! What a brief says about evidence: the last of each task in progress, failed or stale first.

use model::brief::{Candidate, Section};
use model::render::inline;
use model::score::Signal;

use super::{Judge, show};
use crate::Result;
use crate::features::{BriefContext, plan};

const SECTION: Section =
    Section { order: 2, longer: 1, name: "evidence", title: "Evidence", signal: Signal::EvidencePresence };

/// The most tasks that are mentioned.
const MOST: usize = 3;

pub fn candidates(context: &BriefContext) -> Result<Vec<Candidate>> {
    let store = context.project.store;
    if store.dir().sub(store::layout::EVIDENCE).is_err() {
        return Ok(Vec::new());
    }
    let Some(loaded) = plan::load(store)? else { return Ok(Vec::new()) };
    let judge = Judge::new(store, &context.project.root.checkout);
    Ok(told(store, &judge, &loaded.plan)
        .into_iter()
        .map(|(task, text)| Candidate::new(&SECTION, format!("evidence:{task}"), text))
        .collect())
}

/// Returns a sentence for each task in progress with evidence: for a brief and for a pickup.
pub(crate) fn told(store: &store::Store, judge: &Judge, plan: &model::plan::Plan) -> Vec<(String, String)> {
    let current = show::current(store, judge, plan);
    let sentence = |(id, bundle): &(model::id::Id, model::evidence::Bundle)| {
        let text = judge.standing(id, bundle).told()?;
        Some((id.to_string(), format!("{}: {text}", inline(id.as_str(), 64))))
    };
    current.iter().filter_map(sentence).take(MOST).collect()
}
