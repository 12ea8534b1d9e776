//! Imports handoffs that other tools wrote, and packets that thru wrote in another project.

use std::path::{Path, PathBuf};

use model::document::Document;
use model::id::Id;
use model::packet::{self, import};
use model::text::fnv_fingerprint;
use serde::Serialize;

use crate::input_redactor::InputRedactor;
use crate::project::Project;
use crate::{Error, Result, World, WriteMode};

/// Serializes a path as text. JSON requires UTF-8, but a file name may contain invalid UTF-8.
fn serialize_path<S: serde::Serializer>(path: &Path, to: S) -> std::result::Result<S::Ok, S::Error> {
    to.collect_str(&path.display())
}

#[derive(Clone, Debug, Serialize)]
pub struct ImportedPacket {
    #[serde(serialize_with = "serialize_path")]
    pub from: PathBuf,
    pub id: String,
    /// Whether the packet was created. False if the file was already imported, or if this was a dry run.
    pub created: bool,
    /// Whether a file with the same bytes was imported before. If so, `id` is the packet from that import.
    pub already_imported: bool,
    /// Whether a secret in the file was redacted.
    #[serde(rename = "redacted")]
    pub is_secret_redacted: bool,
    /// A fingerprint of the file's bytes.
    #[serde(skip)]
    content_fingerprint: String,
}

/// Makes a packet from a handoff that another tool wrote. The same bytes are imported only once.
pub fn import_handoff(world: &World, file: &Path, mode: WriteMode) -> Result<ImportedPacket> {
    import_handoff_skipping_duplicates(world, file, mode, &[])
}

/// Imports one of several files. `earlier` lists the files that were imported before this one, so that a dry run
/// recognises duplicates even though it writes nothing.
pub fn import_handoff_skipping_duplicates(
    world: &World,
    file: &Path,
    mode: WriteMode,
    earlier: &[ImportedPacket],
) -> Result<ImportedPacket> {
    let bytes = store::read_file_named_by_user(file, 4 * 1024 * 1024)?;
    require_text_file(file, &bytes)?;
    let mark = format!("{:016x}", fnv_fingerprint([&bytes]));
    let project = match mode {
        WriteMode::Write => Some(Project::find_or_create(world)?),
        // In a dry run, a missing project is not an error. It only means that nothing has been imported before.
        WriteMode::DryRun => Project::find_for_reading(world).map(Some).or_else(|error| match error {
            Error::NoRoot { .. } => Ok(None),
            error => Err(error),
        })?,
    };
    let from = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let given = InputRedactor::with_settings_of(world);
    let imported = |id: String, created, already_imported| {
        let (from, covered) = (from.clone(), given.has_redacted());
        ImportedPacket {
            from,
            id,
            created,
            already_imported,
            is_secret_redacted: covered,
            content_fingerprint: mark.clone(),
        }
    };
    if let Some(project) = &project
        && let Some(known) = find_earlier_import(project, &mark)?
    {
        return Ok(imported(known, false, true));
    }
    if let Some(same) = earlier.iter().find(|one| one.content_fingerprint == mark) {
        return Ok(imported(same.id.clone(), false, true));
    }
    let document = Document::parse(given.redact_bytes(&bytes).into_owned());
    let name = file.file_stem().map_or("handoff".to_owned(), |stem| stem.to_string_lossy().into_owned());
    let purpose = import::handoff_title(&document, &name);
    let (WriteMode::Write, Some(project)) = (mode, &project) else {
        let names = project.as_ref().map_or(Ok(Vec::new()), |project| project.store.packet_names())?;
        let is_free = |id: &String| {
            !names.contains(id) && !earlier.iter().any(|one| !one.already_imported && one.id == *id)
        };
        let free = (1..).map(|n| packet::packet_id(world.now, &purpose, n)).find(is_free);
        return Ok(imported(free.unwrap_or_default(), false, false));
    };
    let id = project.store.create_packet(|n| {
        let id = packet::packet_id(world.now, &purpose, n);
        let bytes = import::render_packet(&import::ForeignHandoff {
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
    Ok(imported(id, true, false))
}

/// Returns an error if the file is not text, because its text becomes part of the packet.
fn require_text_file(file: &Path, bytes: &[u8]) -> Result<()> {
    let flaw = |line, why: &str, hint: &str| {
        Err(Error::Damaged { path: file.to_owned(), line, why: why.into(), hint: hint.into() })
    };
    if bytes.trim_ascii().is_empty() {
        return flaw(None, "the file is empty", "name a file that says what to do");
    }
    match std::str::from_utf8(bytes) {
        Ok(_) => Ok(()),
        Err(bad) => {
            let line = bytes[..bad.valid_up_to()].iter().filter(|b| **b == b'\n').count() + 1;
            flaw(Some(line), "not UTF-8", "save it as UTF-8 first: iconv -f latin1 -t utf-8")
        }
    }
}

fn find_earlier_import(project: &Project, mark: &str) -> Result<Option<String>> {
    for name in project.store.packet_names()? {
        let Ok(id) = Id::new(&name) else { continue };
        if project
            .store
            .read_packet(&id)
            .is_ok_and(|document| document.frontmatter_text("imported_digest") == Some(mark))
        {
            return Ok(Some(name));
        }
    }
    Ok(None)
}
