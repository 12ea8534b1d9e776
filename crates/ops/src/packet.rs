//! `thru packet`: finding packets, and changing one without touching a byte that was not meant.

use std::path::{Path, PathBuf};
use std::time::Duration;

use model::document::{Document, EditError, Head};
use model::finding::{Finding, Level};
use model::id::Id;
use model::packet::{self, CONFIRMED, FILES, HEADINGS, NONE, Packet, Status, import};
use model::place;
use model::render::code;
use model::text::{did_you_mean, fingerprint};
use model::time;
use serde::Serialize;
use store::Listed;

use crate::given::Given;
use crate::project::Project;
use crate::{Error, Mode, Result, World};

/// How long a command waits for another that changes a packet.
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
    pub purpose: String,
}

/// A packet, and where it lies.
#[derive(Debug)]
pub struct Shown {
    pub id: Id,
    pub path: PathBuf,
    pub document: Document,
    pub packet: Packet,
}

/// Packets, the one that was changed last first: at most `most` of them, and how many there are.
pub fn list(world: &World, status: Option<Status>, most: usize) -> Result<(Vec<Row>, usize)> {
    let listing = Project::find(world)?.store.packets()?;
    let Some(status) = status else {
        return Ok((listing.iter().take(most).map(Row::from).collect(), listing.len()));
    };
    let mut rows: Vec<Row> = Vec::new();
    let mut all = 0;
    for packet in listing.iter().filter(|packet| packet.status == Some(status)) {
        all += 1;
        if rows.len() < most {
            rows.push(packet.into());
        }
    }
    Ok((rows, all))
}

pub fn show(world: &World, word: &str) -> Result<Shown> {
    let project = Project::find(world)?;
    open(&project, &find(&project, word)?)
}

pub(crate) fn open(project: &Project, id: &Id) -> Result<Shown> {
    let document = project.store.packet(id)?;
    let packet = Packet::read(&document, id.as_str());
    Ok(Shown { id: id.clone(), path: path_of(project, id), document, packet })
}

pub(crate) fn path_of(project: &Project, id: &Id) -> PathBuf {
    project.store.dir().path().join(store::layout::packet(id))
}

/// A whole id, the beginning of exactly one, or a part of exactly one's name.
pub(crate) fn find(project: &Project, word: &str) -> Result<Id> {
    let word = word.trim().trim_end_matches(".md");
    let word = word.rsplit('/').next().unwrap_or(word);
    if let Ok(id) = Id::new(word)
        && project.store.packet(&id).is_ok()
    {
        return Ok(id);
    }
    let names = project.store.packet_names()?;
    let by = |fits: &dyn Fn(&str) -> bool| names.iter().filter(|name| fits(name)).collect::<Vec<_>>();
    let mut matching = by(&|name| name.split_once('-').is_some_and(|(_, slug)| slug == word));
    if matching.is_empty() {
        matching = by(&|name| name.starts_with(word));
    }
    if matching.is_empty() {
        matching = by(&|name| name.contains(&word.to_lowercase()));
    }
    match matching.as_slice() {
        _ if word.is_empty() => Err(absent(word, &names)),
        [] => Err(absent(word, &names)),
        [one] => Ok(Id::new(one).map_err(|bad| Error::Usage { what: bad.to_string(), hint: String::new() })?),
        many => {
            let mut shown: Vec<&str> = many.iter().rev().take(SHOWN).map(|name| name.as_str()).collect();
            if many.len() > SHOWN {
                shown.push("…");
            }
            Err(Error::Refused {
                what: format!("`{word}` fits {} packets", many.len()),
                hint: format!("say more of one: {}", shown.join(", ")),
            })
        }
    }
}

fn absent(word: &str, names: &[String]) -> Error {
    let hint = match did_you_mean(word, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean {near}? `thru packet list` shows all"),
        None => "`thru packet list` shows the packets there are, `thru handoff` makes one".to_owned(),
    };
    Error::Absent { what: format!("there is no packet `{word}` in this project"), hint }
}

/// What is done to a packet.
#[derive(Clone, Copy, Debug)]
pub enum Edit<'a> {
    Status(Status),
    Block { reason: &'a str },
    Confirm(&'a [String]),
    Unconfirm(&'a [String]),
    Section { heading: &'a str, text: &'a str },
}

/// A packet that was changed.
#[derive(Debug)]
pub struct Edited {
    pub shown: Shown,
    /// Whether a secret in what was given was covered.
    pub covered: bool,
}

/// Changes a packet under its lock; what was not meant keeps its bytes.
pub fn edit(world: &World, word: &str, edit: Edit) -> Result<Edited> {
    let project = Project::find(world)?;
    let id = find(&project, word)?;
    let given = Given::to(world);
    // Named here, so that they live as long as what borrows from them.
    let (reason_given, text_given);
    let edit = match edit {
        Edit::Block { reason } => {
            reason_given = given.clean(reason);
            Edit::Block { reason: &reason_given }
        }
        Edit::Section { heading, text } => {
            text_given = given.clean(text);
            Edit::Section { heading, text: &text_given }
        }
        Edit::Status(_) | Edit::Confirm(_) | Edit::Unconfirm(_) => edit,
    };
    let shown = change(&project, &id, |document| {
        let before = document.bytes().to_vec();
        apply(document, edit, &project)?;
        // A section is set to the byte: not even the time of it is written elsewhere.
        let is_section = matches!(edit, Edit::Section { .. });
        if is_section || document.bytes() == before { Ok(()) } else { touch(document, world) }
    })?;
    Ok(Edited { shown, covered: given.was_covered() })
}

pub(crate) fn touch(document: &mut Document, world: &World) -> Result<()> {
    set(document, "updated_at", time::rfc3339(world.now))
}

/// Reads, changes and writes one packet, with nobody in between.
pub(crate) fn change(
    project: &Project,
    id: &Id,
    edit: impl FnOnce(&mut Document) -> Result<()>,
) -> Result<Shown> {
    let _lock = project.store.lock_packets(WAIT)?;
    let mut document = project.store.packet(id)?;
    let before = document.bytes().to_vec();
    edit(&mut document)?;
    if document.bytes() != before {
        project.store.write_packet(id, &document)?;
    }
    let packet = Packet::read(&document, id.as_str());
    Ok(Shown { id: id.clone(), path: path_of(project, id), document, packet })
}

pub(crate) fn set(document: &mut Document, key: &str, value: impl Into<serde_json::Value>) -> Result<()> {
    document.set(key, value).map_err(|why| refused(&why))
}

fn refused(why: &EditError) -> Error {
    Error::Refused {
        what: format!("the packet was not changed: {why}"),
        hint: "`thru packet open` names the file; mend that place by hand, or change the text".into(),
    }
}

fn apply(document: &mut Document, edit: Edit, project: &Project) -> Result<()> {
    match edit {
        Edit::Status(status) => {
            set(document, "status", status.name())?;
            if matches!(status, Status::Draft | Status::Done) {
                document.remove("claimed_by");
                document.remove("claimed_at");
            }
            document.remove("blocked_reason");
            Ok(())
        }
        Edit::Block { reason } => {
            set(document, "status", Status::Blocked.name())?;
            set(document, "blocked_reason", reason)
        }
        Edit::Confirm(files) => confirm(document, &inside(project, files)?),
        Edit::Unconfirm(files) => unconfirm(document, &below(project, files)),
        Edit::Section { heading, text } => set_section(document, heading, text),
    }
}

/// As records have them: seen from the root.
fn below(project: &Project, files: &[String]) -> Vec<String> {
    let checkout = project.root.checkout.to_string_lossy();
    files.iter().map(|file| place::within(&checkout, file).path.into_owned()).collect()
}

/// Files that can be confirmed: below the root, and there.
fn inside(project: &Project, files: &[String]) -> Result<Vec<String>> {
    let checkout = project.root.checkout.to_string_lossy();
    for file in files {
        let place = place::within(&checkout, file);
        if place.outside {
            return Err(Error::Refused {
                what: format!("{} is outside of the project, so nobody would be let open it", place.path),
                hint: "confirm files below the project's folder".into(),
            });
        }
        if project.root.checkout.join(place.path.as_ref()).symlink_metadata().is_err() {
            return Err(Error::Absent {
                what: format!("there is no file {} in the project", place.path),
                hint: "name it from here, or from the project's folder".into(),
            });
        }
    }
    Ok(below(project, files))
}

fn confirm(document: &mut Document, files: &[String]) -> Result<()> {
    let mut confirmed = document.list("relevant_files_confirmed").unwrap_or_default();
    confirmed.extend(files.iter().filter(|file| !confirmed.contains(file)).cloned().collect::<Vec<_>>());
    write_confirmed(document, &confirmed)
}

fn unconfirm(document: &mut Document, files: &[String]) -> Result<()> {
    let mut confirmed = document.list("relevant_files_confirmed").unwrap_or_default();
    if let Some(missing) = files.iter().find(|file| !confirmed.contains(file)) {
        return Err(Error::Absent {
            what: format!("`{missing}` is not among the confirmed files"),
            hint: if confirmed.is_empty() { "there is none".into() } else { confirmed.join(", ") },
        });
    }
    confirmed.retain(|known| !files.contains(known));
    write_confirmed(document, &confirmed)
}

/// The list in the frontmatter, and the one that people read.
fn write_confirmed(document: &mut Document, confirmed: &[String]) -> Result<()> {
    if document.list("relevant_files_confirmed").unwrap_or_default() == confirmed {
        return Ok(());
    }
    set(document, "relevant_files_confirmed", serde_json::json!(confirmed))?;
    let lines: Vec<String> =
        confirmed.iter().map(|path| format!("- {} — chosen by the user", code(path, 300))).collect();
    let text = if lines.is_empty() { NONE.to_owned() } else { lines.join(document.line_end()) };
    let path = [Head::exact(2, FILES), Head::exact(3, CONFIRMED)];
    document.set_section(&path, text).map_err(|why| refused(&why))
}

/// Our headings by any part of their name; somebody's own heading by its whole name.
fn set_section(document: &mut Document, heading: &str, text: &str) -> Result<()> {
    let wanted = heading.trim().trim_start_matches('#').trim();
    let own = document
        .headings()
        .iter()
        .find(|known| known.text == wanted)
        .map(|known| (known.level, known.text.clone()));
    let ours = HEADINGS.iter().find(|known| known.to_lowercase().starts_with(&wanted.to_lowercase()));
    let (level, name) = match (own, ours) {
        (Some(own), _) => own,
        (None, Some(ours)) if !wanted.is_empty() => (2, (*ours).to_owned()),
        _ => {
            let near = did_you_mean(wanted, HEADINGS.iter().copied()).unwrap_or("Intent");
            return Err(Error::Usage {
                what: format!("the packet has no section `{wanted}`"),
                hint: format!("did you mean `{near}`? The sections are: {}", HEADINGS.join(", ")),
            });
        }
    };
    let text = text.trim_end_matches(['\n', '\r']);
    document.set_section(&[Head::exact(level, &name)], text).map_err(|why| refused(&why))
}

#[derive(Clone, Debug, Serialize)]
pub struct Checked {
    pub id: String,
    pub valid: bool,
    pub findings: Vec<Finding>,
}

/// One packet, or all of them.
pub fn validate(world: &World, word: Option<&str>) -> Result<Vec<Checked>> {
    let project = Project::find(world)?;
    let ids = match word {
        Some(word) => vec![find(&project, word)?],
        None => project.store.packet_names()?.iter().filter_map(|name| Id::new(name).ok()).collect(),
    };
    let check = |id: &Id| {
        let findings = match project.store.packet(id) {
            Ok(document) => packet::validate(&document, &format!("packets/{id}.md")),
            Err(error) => vec![Finding::new(Level::Error, error.to_string())],
        };
        let valid = findings.iter().all(|finding| finding.level != Level::Error);
        Checked { id: id.to_string(), valid, findings }
    };
    Ok(ids.iter().map(check).collect())
}

/// What became of a file that was to be imported.
#[derive(Clone, Debug, Serialize)]
pub struct Imported {
    pub from: PathBuf,
    pub id: String,
    /// False when it had been imported before, or this was a dry run.
    pub created: bool,
    /// Whether a secret in it was covered.
    pub covered: bool,
}

/// Makes a packet of a handoff that somebody else wrote. The same bytes are imported once.
pub fn import(world: &World, file: &Path, mode: Mode) -> Result<Imported> {
    let bytes = store::read_own(file, 4 * 1024 * 1024)?;
    let mark = format!("{:016x}", fingerprint([&bytes]));
    let project = Project::find_or_make(world)?;
    let from = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let given = Given::to(world);
    let imported =
        |id: String, created| Imported { from: from.clone(), id, created, covered: given.was_covered() };
    if let Some(known) = imported_before(&project, &mark)? {
        return Ok(imported(known, false));
    }
    let document = Document::parse(given.clean_bytes(&bytes).into_owned());
    let name = file.file_stem().map_or("handoff".to_owned(), |stem| stem.to_string_lossy().into_owned());
    let purpose = import::title(&document, &name);
    if mode == Mode::DryRun {
        return Ok(imported(packet::id(world.now, &purpose, 1), false));
    }
    let id = project.store.create_packet(|n| {
        let id = packet::id(world.now, &purpose, n);
        let bytes = import::render(&import::Foreign {
            id: &id,
            name: &name,
            from: &from.to_string_lossy(),
            fingerprint: &mark,
            document: &document,
            project_id: project.marker.project_id.as_str(),
            now: world.now,
        });
        (id, bytes)
    })?;
    Ok(imported(id, true))
}

fn imported_before(project: &Project, mark: &str) -> Result<Option<String>> {
    for name in project.store.packet_names()? {
        let Ok(id) = Id::new(&name) else { continue };
        if project.store.packet(&id).is_ok_and(|document| document.text("imported_digest") == Some(mark)) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

impl From<Listed<'_>> for Row {
    fn from(listed: Listed) -> Row {
        let Listed { name, status, updated_at, created_at, claimed_by, purpose, .. } = listed;
        let [id, updated_at, created_at, claimed_by, purpose] =
            [name, updated_at, created_at, claimed_by, purpose].map(str::to_owned);
        Row { id, status, updated_at, created_at, claimed_by, purpose }
    }
}
