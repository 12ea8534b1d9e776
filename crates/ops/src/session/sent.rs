//! Keeps the briefs that hooks sent to a session, so that a person can read later what the agent was told. A brief
//! cannot be composed again, because it depends on the records at that moment and on the summary.

use model::brief::BriefOccasion;
use model::id::Id;
use model::time;
use serde::{Deserialize, Serialize};
use store::{SessionState, Store, layout};

use crate::hook::context::HookContext;
use crate::project::Project;
use crate::session::brief::ComposedBrief;
use crate::session::list;
use crate::{Error, Result, World};

/// The last brief that a session got on each occasion. The briefs are in the order in which they were sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct SentBriefs {
    briefs: Vec<SentBrief>,
}

/// A brief as the harness received it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentBrief {
    pub at: String,
    pub occasion: SentOccasion,
    pub harness: String,
    /// The session that the brief describes. At a session start, this is the previous session.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// The text of the brief, which may be empty.
    pub text: String,
}

/// The occasion of a brief, under the name that `thru brief --event` uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SentOccasion {
    Startup,
    Resume,
    Compact,
}

impl SentOccasion {
    pub fn from_brief_occasion(occasion: BriefOccasion) -> Option<SentOccasion> {
        match occasion {
            BriefOccasion::Started => Some(SentOccasion::Startup),
            BriefOccasion::Resumed | BriefOccasion::Replayed => Some(SentOccasion::Resume),
            BriefOccasion::Compacted => Some(SentOccasion::Compact),
            BriefOccasion::Asked => None,
        }
    }

    pub fn describe(self) -> &'static str {
        match self {
            SentOccasion::Startup => "at its start",
            SentOccasion::Resume => "when it was resumed",
            SentOccasion::Compact => "after its compaction",
        }
    }
}

/// Keeps a brief that a hook has sent. It replaces the session's last brief for the same occasion. An empty brief is
/// kept only after a compaction. Otherwise, the brief of an earlier compaction would be mistaken for the newest one.
pub fn keep_sent_brief(context: &HookContext, composed: &ComposedBrief, text: &str) -> Result<()> {
    let Some(occasion) = SentOccasion::from_brief_occasion(composed.occasion) else { return Ok(()) };
    if text.is_empty() && occasion != SentOccasion::Compact {
        return Ok(());
    }
    let session = context.project.store.session_state(context.session);
    // Replace a damaged file, because its content is lost anyway.
    let mut sent = session.read_state::<SentBriefs>().ok().flatten().unwrap_or_default();
    sent.briefs.retain(|brief| brief.occasion != occasion);
    sent.briefs.push(SentBrief {
        at: time::to_rfc3339(context.project.world.now),
        occasion,
        harness: context.harness.name.to_owned(),
        about: composed.described_session.clone(),
        text: text.to_owned(),
    });
    Ok(session.write_state(&sent)?)
}

/// Returns the session that this session's first brief described.
pub fn session_described_at_start(store: &Store, session: &Id) -> Option<Id> {
    let sent = store.session_state(session).read_state::<SentBriefs>().ok()??;
    let start = sent.briefs.iter().find(|brief| brief.occasion == SentOccasion::Startup)?;
    Id::new(&start.about).ok().filter(|about| about != session)
}

/// A brief that was sent, and the session that got it.
#[derive(Clone, Debug, Serialize)]
pub struct SentBriefReport {
    pub session: String,
    #[serde(flatten)]
    pub brief: SentBrief,
    pub chars: usize,
}

/// Returns the last brief that a hook sent to a session. If `occasion` is given, briefs for other occasions are
/// ignored.
pub fn show_sent_brief(
    world: &World,
    session: Option<&str>,
    occasion: Option<SentOccasion>,
) -> Result<SentBriefReport> {
    let Project { store, .. } = Project::find_for_reading(world)?;
    let (session, _) = list::choose_session(world, &store, session)?;
    let sent = store.session_state(&session).read_state::<SentBriefs>()?.unwrap_or_default();
    let brief = sent.briefs.into_iter().rfind(|brief| occasion.is_none_or(|wanted| brief.occasion == wanted));
    let brief = brief.ok_or_else(|| nothing_sent_error(&session, occasion))?;
    let chars = model::render::utf16_length(&brief.text);
    Ok(SentBriefReport { session: session.to_string(), brief, chars })
}

fn nothing_sent_error(session: &Id, occasion: Option<SentOccasion>) -> Error {
    let when = occasion.map_or(String::new(), |occasion| format!(" {}", occasion.describe()));
    Error::Absent {
        what: format!("no hook sent session {session} a brief{when}"),
        hint: format!("`thru brief --session {session}` shows what it would be told now"),
    }
}

impl SessionState for SentBriefs {
    const STATE_FOLDER: &'static str = layout::SENT_BRIEFS_FOLDER;
    const STATE_FILE_SUFFIX: &'static str = ".json";
    /// The size limit of the file. It is enough for three briefs and the text that features add to them, each with at
    /// most ten thousand characters.
    const MAX_STATE_FILE_BYTES: usize = 512 * 1024;

    fn parse(bytes: &[u8]) -> std::result::Result<SentBriefs, String> {
        let briefs = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        Ok(SentBriefs { briefs })
    }

    fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(&self.briefs).unwrap_or_default()
    }
}
