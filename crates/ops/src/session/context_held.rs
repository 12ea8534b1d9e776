//! Records which facts a session has received from thru's features since its last compaction. If the session is
//! resumed with its whole conversation, these facts are not sent again.

use model::brief::{BriefOccasion, Candidate};
use model::id::Id;
use model::text::fnv_fingerprint;
use store::{Durability, SessionState, Store, layout};

use crate::Result;
use crate::hook::context::HookContext;

/// How many fingerprints are kept. The oldest are dropped first.
const MAX_SENT_FACT_FINGERPRINTS: usize = 256;

/// The fingerprints of the facts that were sent, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FactsHeldInContext {
    fact_fingerprints: Vec<u64>,
}

/// Returns the fingerprint of a fact with this exact wording.
pub fn fact_fingerprint(candidate: &Candidate) -> u64 {
    fnv_fingerprint(std::iter::once(&candidate.id).chain(&candidate.forms))
}

/// Returns the fingerprint that is recorded when a fact is sent in its longest form. Returns `None` if even the longest
/// form is shortened. Ticked checkboxes are ignored, because an agent that ticks off a step still has the text of the
/// step.
pub fn full_text_fingerprint(candidate: &Candidate) -> Option<u64> {
    let longest = candidate.forms.last()?;
    let is_cut = longest.ends_with('…') || longest.ends_with("…”");
    let longest = longest.replace("[x]", "[ ]").replace("[X]", "[ ]");
    (!is_cut).then(|| fnv_fingerprint(["whole", candidate.id.as_str(), longest.as_str()]))
}

/// Returns whether the session's context contains this fact's whole current text.
pub fn holds_full_text(store: &Store, session: &Id, candidate: &Candidate) -> bool {
    let held =
        store.session_state(session).read_state::<FactsHeldInContext>().ok().flatten().unwrap_or_default();
    full_text_fingerprint(candidate).is_some_and(|mark| held.fact_fingerprints.contains(&mark))
}

/// Removes the candidates that are already in the session's context.
pub fn remove_held_candidates(store: &Store, session: &Id, candidates: &mut Vec<Candidate>) -> Result<()> {
    if let Some(held) = store.session_state(session).read_state::<FactsHeldInContext>()? {
        candidates.retain(|candidate| !held.fact_fingerprints.contains(&fact_fingerprint(candidate)));
    }
    Ok(())
}

/// Records the fingerprints of the facts that were sent to the session. A session that was started, compacted or
/// resumed has a new context, so its earlier fingerprints are removed.
pub fn remember_sent_facts(context: &HookContext, occasion: BriefOccasion, told: Vec<u64>) -> Result<()> {
    let session = context.project.store.session_state(context.session);
    let before = match occasion {
        BriefOccasion::Started | BriefOccasion::Compacted | BriefOccasion::Resumed => {
            FactsHeldInContext::default()
        }
        BriefOccasion::Replayed | BriefOccasion::Asked => {
            session.read_state::<FactsHeldInContext>()?.unwrap_or_default()
        }
    };
    let mut marks = before.fact_fingerprints.clone();
    marks.extend(told);
    marks.drain(..marks.len().saturating_sub(MAX_SENT_FACT_FINGERPRINTS));
    let held = FactsHeldInContext { fact_fingerprints: marks };
    if held == before && matches!(occasion, BriefOccasion::Replayed | BriefOccasion::Asked) {
        return Ok(());
    }
    match held.fact_fingerprints.is_empty() {
        true => Ok(session.remove_state::<FactsHeldInContext>()?),
        false => Ok(session.write_state(&held)?),
    }
}

impl SessionState for FactsHeldInContext {
    const STATE_FOLDER: &'static str = layout::CONTEXT_HELD_FOLDER;
    const MAX_STATE_FILE_BYTES: usize = 64 * 1024;
    const WRITE_DURABILITY: Durability = Durability::Rebuildable;

    fn parse(bytes: &[u8]) -> std::result::Result<FactsHeldInContext, String> {
        let text = String::from_utf8_lossy(bytes);
        let marks =
            text.lines().map(|line| u64::from_str_radix(line, 16)).collect::<std::result::Result<_, _>>();
        Ok(FactsHeldInContext { fact_fingerprints: marks.map_err(|error| error.to_string())? })
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.fact_fingerprints.iter().map(|mark| format!("{mark:016x}\n")).collect::<String>().into_bytes()
    }
}
