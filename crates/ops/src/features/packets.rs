//! `thru packet`: finds packets, and changes one packet without touching other bytes.

mod edit;
pub mod handoff;
mod import;
mod offer;
pub mod pickup;
mod report;

use std::path::{Path, PathBuf};
use std::time::Duration;

use model::brief::Section;
use model::document::{Document, EditError};
use model::finding::{Finding, Level};
use model::id::{self, Id};
use model::marker::Marker;
use model::packet::{self, Packet, Status};
use model::render::inline;
use model::score::Signal;
use model::text::did_you_mean;
use model::time;
use serde::Serialize;
use store::{Listed, Store};

use crate::features::Feature;
use crate::project::Project;
use crate::{Error, Result, World};

pub use edit::{Edit, Edited, edit};
pub(crate) use edit::{index_confirmed, inside};
pub use import::{Imported, import, import_after};
pub(crate) use offer::ID as OFFER;
use pickup::Claimants;

pub const ROW: Feature = Feature {
    name: "packets",
    candidates: pickup::candidates,
    sections: &[SECTION.name],
    continue_as: pickup::continue_as,
    checks: report::checks,
    status: report::status,
    ..Feature::NONE
};

/// The section of a brief about packets: the packet that the session works on, and the packets of crashed sessions.
pub(crate) const SECTION: Section =
    Section { order: 3, longer: 1, name: "packet", title: "Packet", signal: Signal::Packet };

/// How long a command waits for another command that is changing a packet.
const WAIT: Duration = Duration::from_secs(5);

/// How many matches of an ambiguous name are shown.
const SHOWN: usize = 8;

#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub id: String,
    pub status: Option<Status>,
    pub updated_at: String,
    pub created_at: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub claimed_by: String,
    /// Whether the session that claimed the packet has ended, so that another session can claim it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub claim_is_over: bool,
    pub purpose: String,
}

/// A packet and its path.
#[derive(Debug)]
pub struct Shown {
    pub id: Id,
    pub path: PathBuf,
    pub document: Document,
    pub packet: Packet,
}

/// Returns at most `most` packets, last changed first, and how many there are in all.
pub fn list(world: &World, status: Option<Status>, most: usize) -> Result<(Vec<Row>, usize)> {
    let Some(project) = Project::look(world)? else { return Ok((Vec::new(), 0)) };
    let listing = project.store.packets()?;
    let mut rows: Vec<Row> = Vec::new();
    let mut all = 0;
    for packet in listing.iter().filter(|packet| status.is_none() || packet.status == status) {
        all += 1;
        if rows.len() < most {
            rows.push(packet.into());
        }
    }
    if rows.iter().any(|row| !row.claimed_by.is_empty()) {
        let claimants = Claimants::read(&project.store, u64::MAX)?;
        for row in rows.iter_mut().filter(|row| !row.claimed_by.is_empty()) {
            row.claim_is_over = claimants.is_over(&project.store, &row.claimed_by, world.now);
        }
    }
    Ok((rows, all))
}

/// Shows a packet in any state. Without a name, shows the one that a pickup would take.
pub fn show(world: &World, word: Option<&str>) -> Result<Shown> {
    let project = Project::find(world)?;
    let id = match word {
        Some(word) => find(&project, word)?,
        None => pickup::newest(&project)?,
    };
    let document = project.store.packet(&id)?;
    Ok(shown(&project, &id, document))
}

/// Opens a packet to work with it.
pub(crate) fn open(project: &Project, id: &Id) -> Result<Shown> {
    let document = read(project, id)?;
    Ok(shown(project, id, document))
}

fn shown(project: &Project, id: &Id, document: Document) -> Shown {
    let packet = Packet::whole(&document, id.as_str());
    Shown { id: id.clone(), path: path_of(project, id), document, packet }
}

/// Reads a packet. It must not be empty, and this build must know its version.
fn read(project: &Project, id: &Id) -> Result<Document> {
    let document = project.store.packet(id)?;
    let path = path_of(project, id);
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
                "mend the file (`thru packet validate {id}` says what is missing), or `thru packet import` its text from \
                 another place"
            ),
        });
    }
    if let Some(version) = packet::newer(&document) {
        let why = format!("schema_version is {version}; this thru supports up to {}", packet::SCHEMA_VERSION);
        return Err(store::Error::Foreign { path, why }.into());
    }
    Ok(document)
}

pub(crate) fn path_of(project: &Project, id: &Id) -> PathBuf {
    project.store.dir().path().join(store::layout::packet(id))
}

/// Finds a packet by its whole id, by the beginning of exactly one id, or by a part of exactly one name.
pub(crate) fn find(project: &Project, word: &str) -> Result<Id> {
    let typed = word;
    let word = named(project, word.trim().trim_end_matches(".md"));
    if let Ok(id) = Id::new(word)
        && project.store.packet(&id).is_ok()
    {
        return Ok(id);
    }
    let names = project.store.packet_names()?;
    let all: Vec<&str> = names.iter().map(String::as_str).collect();
    match id::meant(&all, word).as_slice() {
        [] => Err(absent(typed, &names)),
        [one] => Ok(Id::new(one).map_err(|bad| Error::Usage { what: bad.to_string(), hint: String::new() })?),
        many => {
            let mut shown: Vec<&str> = many.iter().rev().take(SHOWN).copied().collect();
            if many.len() > SHOWN {
                shown.push("…");
            }
            Err(Error::Refused {
                what: format!("`{typed}` fits {} packets", many.len()),
                hint: format!("be more specific: {}", shown.join(", ")),
            })
        }
    }
}

/// Returns the name of a packet that was given by its path. Any other path is returned unchanged, and matches no
/// packet.
fn named<'a>(project: &Project, word: &'a str) -> &'a str {
    let folder = project.store.dir().path().join(store::layout::PACKETS);
    let here = Path::new(word).strip_prefix(&folder).ok().and_then(Path::to_str);
    let ends = ["packets/", ".agent/context/packets/"];
    here.or_else(|| ends.iter().find_map(|start| word.strip_prefix(start))).unwrap_or(word)
}

fn absent(word: &str, names: &[String]) -> Error {
    let hint = match did_you_mean(word, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean {near}? `thru packet list` shows all"),
        None => "`thru packet list` shows the packets, `thru handoff` makes one".to_owned(),
    };
    Error::Absent { what: format!("there is no packet `{word}` in this project"), hint }
}

pub(crate) fn touch(document: &mut Document, world: &World) -> Result<()> {
    set(document, "updated_at", time::rfc3339(world.now))
}

/// Reads, changes and writes one packet under its lock.
pub(crate) fn change(
    project: &Project,
    id: &Id,
    edit: impl FnOnce(&mut Document) -> Result<()>,
) -> Result<Shown> {
    let _lock = project.store.lock_packets(WAIT)?;
    let mut document = read(project, id)?;
    let before = document.bytes().to_vec();
    edit(&mut document)?;
    if document.bytes() != before {
        project.store.replace_packet(id, &document)?;
    }
    Ok(shown(project, id, document))
}

pub(crate) fn set(document: &mut Document, key: &str, value: impl Into<serde_json::Value>) -> Result<()> {
    document.set(key, value).map_err(|why| refused(&why))
}

fn refused(why: &EditError) -> Error {
    Error::Refused {
        what: format!("the packet was not changed: {why}"),
        hint: "`thru packet open` shows the path; fix that place by hand, or change the text".into(),
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct Checked {
    pub id: String,
    pub valid: bool,
    pub findings: Vec<Finding>,
}

/// Checks one packet, or all packets.
pub fn validate(world: &World, word: Option<&str>) -> Result<Vec<Checked>> {
    let project = Project::find(world)?;
    let ids = match word {
        Some(word) => vec![find(&project, word)?],
        None => project.store.packet_names()?.iter().filter_map(|name| Id::new(name).ok()).collect(),
    };
    Ok(ids.iter().map(|id| check(&project.store, &project.marker, id)).collect())
}

fn check(store: &Store, marker: &Marker, id: &Id) -> Checked {
    let findings = match store.packet(id) {
        Ok(document) => findings(marker, id, &document),
        Err(error) => vec![Finding::new(Level::Error, error.to_string())],
    };
    let valid = findings.iter().all(|finding| finding.level != Level::Error);
    Checked { id: id.to_string(), valid, findings }
}

fn findings(marker: &Marker, id: &Id, document: &Document) -> Vec<Finding> {
    let file = format!("packets/{id}.md");
    let mut findings = packet::validate(document, &file);
    let theirs = document.text("project_id").map(str::trim).filter(|theirs| !theirs.is_empty());
    if let (Some(theirs), Some(ours)) = (theirs, marker.known_id())
        && theirs != ours
    {
        let text = format!("`project_id` is {}; this project is {ours}", inline(theirs, 60));
        let line = document.entry("project_id").map(|entry| entry.line);
        let hint = "it was written in another project; `thru packet import` copies it into this one";
        findings.push(Finding::new(Level::Warning, text).at(&file, line).hint(hint));
    }
    findings
}

impl From<Listed<'_>> for Row {
    fn from(listed: Listed) -> Row {
        let Listed { name, status, updated_at, created_at, claimed_by, purpose, .. } = listed;
        let [id, updated_at, created_at, claimed_by, purpose] =
            [name, updated_at, created_at, claimed_by, purpose].map(str::to_owned);
        Row { id, status, updated_at, created_at, claimed_by, claim_is_over: false, purpose }
    }
}
