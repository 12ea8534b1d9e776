//! `thru packet`: finding packets, and changing one without touching a byte that was not meant.

use std::path::{Path, PathBuf};
use std::time::Duration;

use model::document::{Document, EditError, Head};
use model::finding::{Finding, Level};
use model::id::Id;
use model::packet::{
    self, CONFIRMED, FILES, HEADINGS, Packet, SUGGESTED, Status, VALIDATORS, confirm, import,
};
use model::place;
use model::render::inline;
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

/// As it is, whatever it is.
pub fn show(world: &World, word: &str) -> Result<Shown> {
    let project = Project::find(world)?;
    let id = find(&project, word)?;
    let document = project.store.packet(&id)?;
    Ok(shown(&project, &id, document))
}

/// To work with.
pub(crate) fn open(project: &Project, id: &Id) -> Result<Shown> {
    let document = read(project, id)?;
    Ok(shown(project, id, document))
}

fn shown(project: &Project, id: &Id, document: Document) -> Shown {
    let packet = Packet::whole(&document, id.as_str());
    Shown { id: id.clone(), path: path_of(project, id), document, packet }
}

/// One that says something, in words that this build knows.
fn read(project: &Project, id: &Id) -> Result<Document> {
    let document = project.store.packet(id)?;
    let path = path_of(project, id);
    if document.bytes().trim_ascii().is_empty() {
        return Err(Error::Damaged {
            path,
            line: None,
            why: "the packet is empty".into(),
            hint: "take the file away, or back from a backup; `thru packet list` shows the others".into(),
        });
    }
    if let Some(version) = packet::newer(&document) {
        let why = format!("schema_version is {version}, this thru knows up to {}", packet::SCHEMA_VERSION);
        return Err(store::Error::Foreign { path, why }.into());
    }
    Ok(document)
}

pub(crate) fn path_of(project: &Project, id: &Id) -> PathBuf {
    project.store.dir().path().join(store::layout::packet(id))
}

/// A whole id, the beginning of exactly one, or a part of exactly one's name.
pub(crate) fn find(project: &Project, word: &str) -> Result<Id> {
    let word = named(project, word.trim().trim_end_matches(".md"));
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

/// A packet's name, also where its path was given. Any other path stays one, and names nothing.
fn named<'a>(project: &Project, word: &'a str) -> &'a str {
    let folder = project.store.dir().path().join(store::layout::PACKETS);
    let here = Path::new(word).strip_prefix(&folder).ok().and_then(Path::to_str);
    let ends = ["packets/", ".agent/context/packets/"];
    here.or_else(|| ends.iter().find_map(|start| word.strip_prefix(start))).unwrap_or(word)
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
    /// What whoever did it should know.
    pub note: Option<&'static str>,
    /// Whether a secret in what was given was covered.
    pub covered: bool,
}

/// Changes a packet under its lock; what was not meant keeps its bytes.
pub fn edit(world: &World, word: &str, edit: Edit) -> Result<Edited> {
    let project = Project::find(world)?;
    let id = find(&project, word)?;
    if let Edit::Block { reason } = edit
        && reason.trim().is_empty()
    {
        return Err(Error::Usage {
            what: "the reason is empty".into(),
            hint: "say why the work cannot go on: --reason \"no access to the server\"".into(),
        });
    }
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
    let mut note = None;
    let shown = change(&project, &id, |document| {
        let before = document.bytes().to_vec();
        note = apply(document, edit, &project)?;
        // A section is set to the byte: not even the time of it is written elsewhere.
        let is_section = matches!(edit, Edit::Section { .. });
        if is_section || document.bytes() == before { Ok(()) } else { touch(document, world) }
    })?;
    Ok(Edited { shown, note, covered: given.was_covered() })
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
    let mut document = read(project, id)?;
    let before = document.bytes().to_vec();
    edit(&mut document)?;
    if document.bytes() != before {
        project.store.write_packet(id, &document)?;
    }
    Ok(shown(project, id, document))
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

/// Gives what is to be said about it.
fn apply(document: &mut Document, edit: Edit, project: &Project) -> Result<Option<&'static str>> {
    match edit {
        Edit::Status(status) => {
            set(document, "status", status.name())?;
            if matches!(status, Status::Draft | Status::Done) {
                document.remove("claimed_by");
                document.remove("claimed_at");
            }
            document.remove("blocked_reason");
            Ok(None)
        }
        Edit::Block { reason } => {
            set(document, "status", Status::Blocked.name())?;
            set(document, "blocked_reason", reason).map(|()| None)
        }
        Edit::Confirm(files) => {
            let files = inside(project, files)?;
            confirm::confirm(document, &files).map(|()| None).map_err(|why| refused(&why))
        }
        Edit::Unconfirm(files) => unconfirm(document, &below(project, files)).map(|()| None),
        Edit::Section { heading, text } => set_section(document, heading, text),
    }
}

/// As records have them: seen from the root.
fn below(project: &Project, files: &[String]) -> Vec<String> {
    let checkout = project.root.checkout.to_string_lossy();
    files.iter().map(|file| place::within(&checkout, file).path.into_owned()).collect()
}

/// Files that can be confirmed: below the root, and there.
pub(crate) fn inside(project: &Project, files: &[String]) -> Result<Vec<String>> {
    let checkout = project.root.checkout.to_string_lossy();
    for file in files {
        let place = place::within(&checkout, file);
        if place.outside {
            return Err(Error::Refused {
                what: format!("{} is outside of the project, so nobody would be let open it", place.path),
                hint: "confirm files below the project's folder".into(),
            });
        }
        match project.root.checkout.join(place.path.as_ref()).symlink_metadata() {
            Ok(there) if there.is_dir() => {
                return Err(Error::Refused {
                    what: format!("{file} is a folder"),
                    hint: "confirm the files in it that matter".into(),
                });
            }
            Ok(_) => {}
            Err(_) => {
                return Err(Error::Absent {
                    what: format!("there is no file {} in the project", place.path),
                    hint: "name it from here, or from the project's folder".into(),
                });
            }
        }
    }
    Ok(below(project, files))
}

fn unconfirm(document: &mut Document, files: &[String]) -> Result<()> {
    let confirmed = Packet::whole(document, "").confirmed;
    if let Some(missing) = files.iter().find(|file| !confirmed.contains(file)) {
        return Err(Error::Absent {
            what: format!("`{missing}` is not among the confirmed files"),
            hint: if confirmed.is_empty() { "there is none".into() } else { confirmed.join(", ") },
        });
    }
    confirm::unconfirm(document, files).map_err(|why| refused(&why))
}

/// Our headings by any part of their name; somebody's own heading by its whole name.
fn set_section(document: &mut Document, heading: &str, text: &str) -> Result<Option<&'static str>> {
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
            let near = did_you_mean(wanted, HEADINGS.iter().copied());
            let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
            return Err(Error::Usage {
                what: format!("the packet has no section `{wanted}`"),
                hint: format!("{near}The sections are: {}", HEADINGS.join(", ")),
            });
        }
    };
    // What is typed or piped ends its lines as the system does; the file has its own way.
    let text = text.replace("\r\n", "\n");
    let text = text.trim_end_matches(['\n', '\r']).replace('\n', document.line_end());
    document.set_section(&[Head::exact(level, &name)], text).map_err(|why| refused(&why))?;
    Ok(what_counts(&name))
}

/// Of what stands in the frontmatter too.
fn what_counts(section: &str) -> Option<&'static str> {
    match section {
        FILES | CONFIRMED | SUGGESTED => Some(
            "files listed below Confirmed count as confirmed, and so do those in the frontmatter: \
             `thru packet confirm` and `unconfirm` change both",
        ),
        VALIDATORS => Some(
            "a pickup and a loop take the frontmatter's `validators`, not this text: \
             change both (`thru packet open`)",
        ),
        _ => None,
    }
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
            Ok(document) => findings(&project, id, &document),
            Err(error) => vec![Finding::new(Level::Error, error.to_string())],
        };
        let valid = findings.iter().all(|finding| finding.level != Level::Error);
        Checked { id: id.to_string(), valid, findings }
    };
    Ok(ids.iter().map(check).collect())
}

fn findings(project: &Project, id: &Id, document: &Document) -> Vec<Finding> {
    let file = format!("packets/{id}.md");
    let mut findings = packet::validate(document, &file);
    let ours = project.marker.project_id.as_str();
    let theirs = document.text("project_id").map(str::trim);
    if let Some(theirs) = theirs.filter(|theirs| !theirs.is_empty() && *theirs != ours) {
        let text = format!("`project_id` is {}; this project is {ours}", inline(theirs, 60));
        let line = document.entry("project_id").map(|entry| entry.line);
        let hint = "it was written in another project; `thru packet import` makes one of this project of it";
        findings.push(Finding::new(Level::Warning, text).at(&file, line).hint(hint));
    }
    findings
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
    check_text(file, &bytes)?;
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

/// Its text is to be kept, so there has to be one.
fn check_text(file: &Path, bytes: &[u8]) -> Result<()> {
    let flaw = |line, why: &str, hint: &str| {
        Err(Error::Damaged { path: file.to_owned(), line, why: why.into(), hint: hint.into() })
    };
    if bytes.trim_ascii().is_empty() {
        return flaw(None, "the file is empty", "name a file that says what is to be done");
    }
    match std::str::from_utf8(bytes) {
        Ok(_) => Ok(()),
        Err(bad) => {
            let line = bytes[..bad.valid_up_to()].iter().filter(|b| **b == b'\n').count() + 1;
            flaw(Some(line), "not UTF-8", "save it as UTF-8 first: iconv -f latin1 -t utf-8")
        }
    }
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
