//! `thru packet`: finds packets, and edits single fields and sections of a packet without changing any other bytes.

pub(crate) mod claimed;
mod content;
mod edit;
pub mod handoff;
mod import;
mod offer;
pub mod pickup;
mod report;
mod unmerged;

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use model::brief::BriefSection;
use model::document::{Document, EditError};
use model::finding::{Finding, FindingLevel};
use model::id::{self, Id};
use model::marker::RootMarker;
use model::packet::{self, CONTINUED_BY_FIELD, Packet, PacketStatus};
use model::render::inline_for_model;
use model::score::ScoreSignal;
use model::text::nearest_allowed_word;
use model::time;
use serde::Serialize;
use store::{ListedPacket, Store};

use crate::features::{Feature, crashed};
use crate::project::Project;
use crate::{Error, Result, World};

pub(crate) use claimed::packet_claimed_by;
pub use edit::{EditedPacket, PacketEdit, edit_packet};
pub(crate) use edit::{add_confirmed_to_file_index, require_existing_files};
pub use import::{ImportedPacket, import_handoff, import_handoff_skipping_duplicates};
pub(crate) use offer::{OFFERED_PACKET_CANDIDATE_ID_PREFIX as OFFER, how_to_continue_packet};
use pickup::ClaimingSessions;

pub const FEATURE_ROW: Feature = Feature {
    name: "packets",
    brief_candidates: claimed::brief_candidates,
    brief_sections: &[PACKETS_BRIEF_SECTION.name],
    continue_under_new_id: claimed::continue_packet_under_new_id,
    doctor_checks: report::doctor_checks,
    status: report::status_lines,
    ..Feature::EMPTY_FEATURE
};

/// The brief section about packets: the packet that the session works on, and the packets of crashed sessions.
pub(crate) const PACKETS_BRIEF_SECTION: BriefSection = BriefSection {
    section_position: 3,
    rank_step_per_form: 1,
    name: "packet",
    title: "Packet",
    signal: ScoreSignal::Packet,
};

/// How long a command waits for another command that is changing a packet.
const MAX_PACKETS_LOCK_WAIT: Duration = Duration::from_secs(5);

/// Shorter parts of packet names are not suggested when the user mistypes a name, because too many words are similar to
/// them.
const MIN_SIMILAR_CHARS: usize = 4;

/// How many matches are shown if a name is ambiguous.
const MAX_MATCHES_SHOWN: usize = 8;

#[derive(Clone, Debug, Serialize)]
pub struct PacketRow {
    pub id: String,
    pub status: Option<PacketStatus>,
    pub updated_at: String,
    pub created_at: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub claimed_by: String,
    /// Whether the session that claimed the packet has ended. If so, another session may claim it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub claim_is_over: bool,
    /// The packet that continues this one, or empty if there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub continued_by: String,
    pub purpose: String,
}

#[derive(Debug)]
pub struct PacketShown {
    pub id: Id,
    pub path: PathBuf,
    pub document: Document,
    pub packet: Packet,
}

/// Returns up to `most` packets, starting with the one that was changed last, and the number of all matching packets.
pub fn list_packets(
    world: &World,
    status: Option<PacketStatus>,
    most: usize,
) -> Result<(Vec<PacketRow>, usize)> {
    let Some(project) = Project::find_if_present(world)? else { return Ok((Vec::new(), 0)) };
    let listing = project.store.list_packets()?;
    let mut rows: Vec<PacketRow> = Vec::new();
    let mut all = 0;
    for packet in listing.iter().filter(|packet| status.is_none() || packet.status == status) {
        all += 1;
        if rows.len() < most {
            rows.push(packet.into());
        }
    }
    if rows.iter().any(|row| !row.claimed_by.is_empty()) {
        let claimants = ClaimingSessions::read(&project.store, u64::MAX)?;
        for row in rows.iter_mut().filter(|row| !row.claimed_by.is_empty()) {
            row.claim_is_over = claimants.is_claim_over(&project.store, &row.claimed_by, world.now);
        }
    }
    Ok((rows, all))
}

/// Shows a packet, whatever its status. If no name is given, shows the packet that a pickup would choose.
pub fn show_packet(world: &World, word: Option<&str>) -> Result<PacketShown> {
    let project = Project::find_for_reading(world)?;
    let id = choose_packet(world, &project, word)?;
    let document = project.store.read_packet(&id)?;
    Ok(packet_shown(&project.store, &id, document))
}

/// Returns the packet that the user named, or else the packet to pick up. If there is none and a session crashed,
/// the hint says how to get a packet for that session.
fn choose_packet(world: &World, project: &Project, word: Option<&str>) -> Result<Id> {
    let found = match word {
        Some(word) => find_packet(project, word),
        None => pickup::packet_to_pick_up(world, project),
    };
    found.map_err(|error| match (error, crashed::count_unswept_sessions(world, &project.store)) {
        (Error::Absent { what, .. }, Ok(crashed @ 1..)) => Error::Absent {
            what,
            hint: match crashed {
                1 => "a session crashed here: `thru sweep` writes a packet for it".to_owned(),
                n => format!("{n} sessions crashed here: `thru sweep` writes a packet for each"),
            },
        },
        (error, _) => error,
    })
}

pub(crate) fn open_packet(project: &Project, id: &Id) -> Result<PacketShown> {
    let document = read_packet(&project.store, id)?;
    Ok(packet_shown(&project.store, id, document))
}

fn packet_shown(store: &Store, id: &Id, document: Document) -> PacketShown {
    let packet = Packet::read_with_listed_files(&document, id.as_str());
    PacketShown { id: id.clone(), path: packet_path(store, id), document, packet }
}

/// Reads a packet. Returns an error if the packet is empty or has a version that this build does not support.
fn read_packet(store: &Store, id: &Id) -> Result<Document> {
    let document = store.read_packet(id)?;
    let path = packet_path(store, id);
    if document.bytes().trim_ascii().is_empty() {
        return Err(Error::Damaged {
            path,
            line: None,
            why: "the packet is empty".into(),
            hint: "remove the file, or restore it from a backup; `thru packet list` shows the others".into(),
        });
    }
    if !document.has_frontmatter() {
        return Err(Error::Damaged {
            path,
            line: Some(1),
            why: "this file is not a packet: it does not begin with frontmatter between two `---` lines"
                .into(),
            hint: format!(
                "fix the file (`thru packet validate {id}` says what is missing), or import its text from another file with `thru packet import`"
            ),
        });
    }
    if let Some(version) = packet::schema_version_if_too_new(&document) {
        let why = format!(
            "schema_version is {version}; this version of thru supports up to {}",
            packet::SCHEMA_VERSION
        );
        return Err(store::Error::Foreign { path, why }.into());
    }
    Ok(document)
}

pub(crate) fn packet_path(store: &Store, id: &Id) -> PathBuf {
    store.dir().path().join(store::layout::packet_path(id))
}

/// Finds a packet by its whole id, by the beginning of its id, or by a part of its name. If several packets match,
/// those that are done are ignored, unless all of them are done. Returns an error if more than one packet remains.
pub(crate) fn find_packet(project: &Project, word: &str) -> Result<Id> {
    let typed = word;
    let word = packet_name_from_path(project, word.trim().trim_end_matches(".md"));
    if let Ok(id) = Id::new(word)
        && project.store.read_packet(&id).is_ok()
    {
        return Ok(id);
    }
    let names = project.store.packet_names()?;
    let all: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut matching = id::names_matching_word(&all, word);
    if matching.len() > 1 {
        let listing = project.store.list_packets()?;
        let is_done = |name: &str| {
            listing.iter().any(|packet| packet.name == name && packet.status == Some(PacketStatus::Done))
        };
        let open: Vec<&str> = matching.iter().copied().filter(|name| !is_done(name)).collect();
        matching = if open.is_empty() { matching } else { open };
    }
    match matching.as_slice() {
        [] => Err(packet_not_found_error(typed, &names)),
        [one] => Ok(Id::new(one).map_err(|bad| Error::Usage { what: bad.to_string(), hint: String::new() })?),
        many => {
            let mut shown: Vec<&str> = many.iter().rev().take(MAX_MATCHES_SHOWN).copied().collect();
            if many.len() > MAX_MATCHES_SHOWN {
                shown.push("…");
            }
            Err(Error::Refused {
                what: format!("`{typed}` matches {} packets", many.len()),
                hint: format!("be more specific: {}", shown.join(", ")),
            })
        }
    }
}

/// Returns the name of a packet that was given by its path. Any other word is returned unchanged.
fn packet_name_from_path<'a>(project: &Project, word: &'a str) -> &'a str {
    let folder = project.store.dir().path().join(store::layout::PACKETS_FOLDER);
    let here = Path::new(word).strip_prefix(&folder).ok().and_then(Path::to_str);
    let ends = ["packets/", ".agent/context/packets/"];
    here.or_else(|| ends.iter().find_map(|start| word.strip_prefix(start))).unwrap_or(word)
}

fn packet_not_found_error(word: &str, names: &[String]) -> Error {
    let hint = match nearest_packet_name(word, names) {
        Some(near) => format!("did you mean {near}? `thru packet list` shows all"),
        None => {
            "`thru packet list` shows the packets; `thru handoff \"what remains to be done\"` creates one"
                .to_owned()
        }
    };
    Error::Absent { what: format!("there is no packet `{word}` in this project"), hint }
}

/// Returns the packet most similar to the given word. Whole ids, slugs and single words of slugs are compared.
fn nearest_packet_name<'n>(word: &str, names: &'n [String]) -> Option<&'n str> {
    let word = word.to_lowercase();
    let slug = |name: &'n str| name.split_once('-').map_or(name, |(_, slug)| slug);
    let contains =
        |name: &&'n str, part: &str| *name == part || slug(name) == part || is_word_of_slug(slug(name), part);
    let all = || names.iter().map(String::as_str);
    // An id begins with a time, so all ids of one day are similar. Compare whole ids only if the word begins with a
    // time too.
    let has_time = word.starts_with(|c: char| c.is_ascii_digit());
    let ids = all().filter(|_| has_time);
    let parts = ids.chain(all().map(slug)).chain(all().flat_map(|name| slug(name).split('-')));
    let near = nearest_allowed_word(&word, parts.filter(|part| part.len() >= MIN_SIMILAR_CHARS))?;
    // Take the last match, because the newest packet comes last.
    all().rfind(|name| contains(name, near))
}

fn is_word_of_slug(slug: &str, word: &str) -> bool {
    slug.split('-').any(|part| part == word)
}

pub(crate) fn set_updated_time(document: &mut Document, world: &World) -> Result<()> {
    set_frontmatter(document, "updated_at", time::to_rfc3339(world.now))
}

pub(crate) fn change_packet(
    project: &Project,
    id: &Id,
    edit: impl FnOnce(&mut Document) -> Result<()>,
) -> Result<PacketShown> {
    let document = change_packet_in_store(&project.store, id, MAX_PACKETS_LOCK_WAIT, edit)?;
    Ok(packet_shown(&project.store, id, document))
}

/// Changes a packet under the lock. A hook waits for the lock only until its own deadline.
fn change_packet_in_store(
    store: &Store,
    id: &Id,
    wait: Duration,
    edit: impl FnOnce(&mut Document) -> Result<()>,
) -> Result<Document> {
    let _lock = store.lock_packets(wait)?;
    let mut document = read_packet(store, id)?;
    let before = document.bytes().to_vec();
    edit(&mut document)?;
    if document.bytes() != before {
        store.replace_packet(id, &document)?;
    }
    Ok(document)
}

/// Sets the status of a packet. A packet that is reopened or finished loses its claim, so that another session can
/// claim it.
fn set_status(document: &mut Document, status: PacketStatus) -> Result<()> {
    set_frontmatter(document, "status", status.name())?;
    for key in
        ["claimed_by", "claimed_at", "blocked_reason", CONTINUED_BY_FIELD, CONTINUED_AFTER, FINISHED_BY_LOOP]
    {
        document.remove_frontmatter_entry(key);
    }
    Ok(())
}

/// The field that says how a session's work on a continued packet ended. Its value is `crash` or `handoff`.
const CONTINUED_AFTER: &str = "continued_after";
/// The field in which a finished packet records the loop that finished it.
const FINISHED_BY_LOOP: &str = "finished_by_loop";

/// Returns whether the work of a packet is finished. Returns false if another packet continues that work.
pub(crate) fn is_finished_work(packet: &Packet, document: &Document) -> bool {
    packet.status == Some(PacketStatus::Done) && document.frontmatter_text(CONTINUED_BY_FIELD).is_none()
}

/// If the packet from which a loop was made is still open, marks it as done.
pub(crate) fn finish_packet_of_loop(
    store: &Store,
    id: &Id,
    finished_by: &str,
    now: Timestamp,
    wait: Duration,
) -> Result<()> {
    change_packet_in_store(store, id, wait, |document| {
        match PacketStatus::parse(document.frontmatter_text("status").unwrap_or_default()) {
            Some(PacketStatus::Draft | PacketStatus::Active) => {}
            _ => return Ok(()),
        }
        set_status(document, PacketStatus::Done)?;
        set_frontmatter(document, FINISHED_BY_LOOP, finished_by)?;
        set_frontmatter(document, "updated_at", time::to_rfc3339(now))
    })
    .map(drop)
}

pub(crate) fn set_frontmatter(
    document: &mut Document,
    key: &str,
    value: impl Into<serde_json::Value>,
) -> Result<()> {
    document.set_frontmatter_entry(key, value).map_err(|why| edit_refused_error(&why))
}

fn edit_refused_error(why: &EditError) -> Error {
    Error::Refused {
        what: format!("the packet was not changed: {why}"),
        hint: "`thru packet open` shows the path; fix the packet by hand, or change the text".into(),
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct CheckedPacket {
    pub id: String,
    pub valid: bool,
    pub findings: Vec<Finding>,
}

pub fn validate_packets(world: &World, word: Option<&str>) -> Result<Vec<CheckedPacket>> {
    let project = Project::find_for_reading(world)?;
    let ids = match word {
        Some(word) => vec![find_packet(&project, word)?],
        None => project.store.packet_names()?.iter().filter_map(|name| Id::new(name).ok()).collect(),
    };
    Ok(ids.iter().map(|id| check_packet(&project.store, &project.marker, id)).collect())
}

fn check_packet(store: &Store, marker: &RootMarker, id: &Id) -> CheckedPacket {
    let findings = match store.read_packet(id) {
        Ok(document) => packet_findings(marker, id, &document),
        Err(error) => vec![Finding::new(FindingLevel::Error, error.to_string())],
    };
    let valid = findings.iter().all(|finding| finding.level != FindingLevel::Error);
    CheckedPacket { id: id.to_string(), valid, findings }
}

fn packet_findings(marker: &RootMarker, id: &Id, document: &Document) -> Vec<Finding> {
    let file = format!("packets/{id}.md");
    let mut findings = packet::validate_packet(document, &file);
    let theirs = document.frontmatter_text("project_id").map(str::trim).filter(|theirs| !theirs.is_empty());
    if let (Some(theirs), Some(ours)) = (theirs, marker.project_id())
        && theirs != ours
    {
        let text = format!("`project_id` is {}; this project is {ours}", inline_for_model(theirs, 60));
        let line = document.frontmatter_entry("project_id").map(|entry| entry.line);
        let hint = "it was written in another project; `thru packet import` copies it into this one";
        findings.push(Finding::new(FindingLevel::Warning, text).at_line(&file, line).with_hint(hint));
    }
    findings
}

impl From<ListedPacket<'_>> for PacketRow {
    fn from(listed: ListedPacket) -> PacketRow {
        let ListedPacket { name, status, updated_at, created_at, claimed_by, continued_by, purpose, .. } =
            listed;
        let [id, updated_at, created_at, claimed_by, continued_by, purpose] =
            [name, updated_at, created_at, claimed_by, continued_by, purpose].map(str::to_owned);
        let claim_is_over = false;
        PacketRow { id, status, updated_at, created_at, claimed_by, claim_is_over, continued_by, purpose }
    }
}
