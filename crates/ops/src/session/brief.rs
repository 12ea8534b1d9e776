//! `thru brief`: what would be told, of a session here or of a transcript alone.

use std::path::Path;

use harness::{HARNESSES, Harness};
use jiff::Timestamp;
use model::brief::{Explained, Material, Note, Occasion};
use model::digest::Digest;
use model::redact;
use serde::Serialize;
use store::Found;

use crate::features::workstreams::Place;
use crate::project::settings;
use crate::session::transcript::{self, Skipped, Source};
use crate::session::{list, past};
use crate::{Error, Result, World};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Wish<'a> {
    /// None for what fits the session.
    pub occasion: Option<Occasion>,
    /// A transcript to compose from, as if it ended where it ends.
    pub transcript: Option<&'a Path>,
    /// Whose limits hold, and whose transcript it is.
    pub harness: Option<&'a str>,
    pub session: Option<&'a str>,
    pub room: Room,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// As much as the harness takes at such an event.
    Harness,
    Chars(usize),
    Tokens(usize),
    /// All there is.
    All,
}

#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub session: String,
    pub harness: &'static str,
    pub max_chars: Option<usize>,
    pub chars: usize,
    pub tokens: usize,
    /// Of a transcript: lines that could not be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<Skipped>,
    #[serde(flatten)]
    pub explained: Explained,
}

pub fn run(world: &World, wish: &Wish) -> Result<Report> {
    let named = wish.harness.map(by_name).transpose()?;
    let mut skipped = None;
    let (digest, problems, gone, notes) = match wish.transcript {
        Some(path) => {
            // Its project need not be here; then its paths are told from where it was.
            let here = match world.find() {
                Ok(Found::Marked { root, .. }) => root.checkout,
                _ => path.to_owned(),
            };
            let redact = settings::here(world).settings().redact();
            let read = transcript::read(&Source { path, checkout: &here, redact, now: world.now })?;
            skipped = Some(read.skipped);
            (read.digest, Vec::new(), Vec::new(), Vec::new())
        }
        None => from_store(world, wish)?,
    };
    let harness = named.or_else(|| harness::by_name(&digest.harness)).unwrap_or(&HARNESSES[0]);
    // That it was compacted is only said where it was.
    let fitting = if digest.last_compaction() > 0 { Occasion::Compacted } else { Occasion::Asked };
    let occasion = wish.occasion.unwrap_or(fitting);
    let cap = match wish.room {
        Room::Harness => model::decide::cap(occasion, harness.context_cap),
        Room::Chars(most) => most,
        Room::Tokens(most) => model::brief::chars(most),
        Room::All => usize::MAX,
    };
    let material = Material { occasion, digest: &digest, problems: &problems, gone: &gone, notes: &notes };
    let explained = model::brief::explain(&material, cap);
    let chars = explained.text.as_deref().map_or(0, model::render::width);
    Ok(Report {
        session: digest.session,
        harness: harness.name,
        max_chars: (cap != usize::MAX).then_some(cap),
        chars,
        tokens: model::brief::tokens(chars),
        skipped,
        explained,
    })
}

type Parts = (Digest, Vec<String>, Vec<String>, Vec<Note>);

fn from_store(world: &World, wish: &Wish) -> Result<Parts> {
    let (root, store) = match world.find()? {
        Found::Marked { root, store, .. } => (root, store),
        Found::Unmarked(root) => return Err(Error::NoRoot { path: root.path }),
    };
    let (session, _) = list::choose(world, &store, wish.session)?;
    let settings = settings::here(world).settings();
    let place = Place { root: &root, store: &store, settings: &settings };
    let restored = wish.occasion != Some(Occasion::Started);
    let notes = if restored { past::recorded(&place, &[session.as_str()], world.now) } else { Vec::new() };
    let gathered = past::of_session(&store, &root, &session)?;
    Ok((gathered.digest, gathered.problems, gathered.gone, notes))
}

/// A transcript folded the way hooks would have folded it, from its first line to its last.
pub fn from_transcript(
    path: &Path,
    checkout: &Path,
    redact: redact::Options,
    now: Timestamp,
) -> Result<Digest> {
    let source = Source { path, checkout, redact, now };
    Ok(transcript::read(&source)?.digest)
}

fn by_name(name: &str) -> Result<&'static Harness> {
    harness::by_name(name).ok_or_else(|| Error::Usage {
        what: format!("there is no harness `{name}`"),
        hint: format!(
            "one of {}",
            HARNESSES.iter().map(|harness| harness.name).collect::<Vec<_>>().join(", ")
        ),
    })
}
