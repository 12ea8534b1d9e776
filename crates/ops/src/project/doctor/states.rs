//! What sessions were at work on when they were compacted: files that others write too, and that a brief relies on.

use model::finding::{Finding, Level};
use store::{Store, layout};

use crate::features::workstreams::{own_state, state_of};

/// State files that cannot be used, and why.
pub fn findings(store: &Store) -> Vec<Finding> {
    let newest = state_of(store, layout::PRECOMPACT_STATE).and_then(Result::err);
    let newest = newest.map(|why| of(layout::PRECOMPACT_STATE, &why));
    let entries = store.dir().sub(layout::PRECOMPACT).and_then(|dir| dir.entries()).unwrap_or_default();
    let own = entries.iter().filter_map(|entry| {
        let why = own_state(store, entry.name.strip_suffix(".json")?)?.err()?;
        Some(of(&format!("{}/{}", layout::PRECOMPACT, entry.name), &why))
    });
    newest.into_iter().chain(own).collect()
}

fn of(path: &str, why: &str) -> Finding {
    let why = model::render::one_line(why, 200);
    Finding::new(Level::Warning, format!("not used: {why}"))
        .at(path, None)
        .hint("remove it; the next compaction writes it anew")
}
