//! Imports the evidence that opencode-swarm left in `.swarm/evidence`, and sorts it by task.

use std::collections::BTreeMap;

use model::evidence::{EvidenceEntry, ForeignEvidence, MAX_BUNDLE_BYTES, read_foreign_evidence_file};
use model::id::Id;
use serde::Serialize;
use store::{Dir, FolderEntryKind, Store};

use super::{MAX_EVIDENCE_LOCK_WAIT, write_entries};
use crate::input_redactor::InputRedactor;
use crate::project::Project;
use crate::{Error, Result, World, WriteMode};

/// The folders in `.swarm` where opencode-swarm keeps current and archived evidence.
const SWARM_EVIDENCE_FOLDERS: [&str; 3] = ["evidence", "evidence-archive", "archive/evidence"];

/// The size limit of an evidence file. It is high because scanners write large files.
const MAX_IMPORTED_EVIDENCE_FILE_BYTES: usize = 64 * 1024 * 1024;

/// How many levels of folders are searched. opencode-swarm does not use deeper folders.
const MAX_FOLDER_DEPTH: usize = 4;

const MAX_IMPORTED_EVIDENCE_FILES: usize = 20_000;

#[derive(Clone, Debug, Default, Serialize)]
pub struct EvidenceImportReport {
    /// How many files were read as evidence.
    pub files: usize,
    pub tasks: usize,
    pub entries: usize,
    /// How many entries were new. A dry run does not write them.
    #[serde(rename = "new")]
    pub new_entries: usize,
    #[serde(rename = "left_out")]
    pub skipped_files: Vec<SkippedFile>,
    pub redacted: bool,
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct SkippedFile {
    pub file: String,
    pub why: String,
}

/// Imports the evidence. Returns `None` if opencode-swarm left no evidence folder.
pub(crate) fn import_evidence(
    world: &World,
    swarm: &Dir,
    mode: WriteMode,
) -> Result<Option<EvidenceImportReport>> {
    let mut dirs = Vec::new();
    for folder in SWARM_EVIDENCE_FOLDERS {
        match swarm.open_subfolder(folder) {
            Err(store::Error::Absent { .. }) => {}
            dir => dirs.push(dir?),
        }
    }
    if dirs.is_empty() {
        return Ok(None);
    }
    let redactor = InputRedactor::with_settings_of(world);
    let mut report = EvidenceImportReport::default();
    let mut found: BTreeMap<Id, Vec<EvidenceEntry>> = BTreeMap::new();
    let mut paths = Vec::new();
    for dir in &dirs {
        paths.extend(find_json_files(dir, &mut report)?.into_iter().map(|path| (dir, path)));
    }
    for (dir, path) in paths {
        let foreign = match dir.read_file(&path, MAX_IMPORTED_EVIDENCE_FILE_BYTES) {
            Ok(bytes) => read_foreign_evidence_file(&path, &redactor.redact_bytes(&bytes)),
            // The file is too large or is not a regular file.
            Err(store::Error::Refused { why, .. } | store::Error::Damaged { why, .. }) => Err(why),
            // The file may become readable later, so the import stops instead of skipping it.
            Err(error) => return Err(error.into()),
        };
        match foreign {
            Ok(ForeignEvidence::Evidence { task, entries }) => {
                let Ok(task) = Id::new(&task) else { continue };
                report.files += 1;
                report.entries += entries.len();
                found.entry(task).or_default().extend(entries);
            }
            Ok(ForeignEvidence::NotEvidence(why)) => {
                report.skipped_files.push(SkippedFile { file: path, why: why.to_owned() });
            }
            Err(why) => report.skipped_files.push(SkippedFile { file: path, why }),
        }
    }
    report.tasks = found.len();
    let store = match mode {
        WriteMode::Write => Some(Project::find_or_create(world)?.store),
        WriteMode::DryRun => Project::find_for_reading(world).ok().map(|project| project.store),
    };
    for (task, mut entries) in found {
        entries.sort_by(|a, b| a.timestamp.cmp(&b.timestamp));
        let mut seen: Vec<String> = known_entry_ids(store.as_ref(), &task)?;
        entries.retain(|entry| {
            let is_new = !seen.contains(&entry.id);
            seen.push(entry.id.clone());
            is_new
        });
        report.new_entries += entries.len();
        let (WriteMode::Write, Some(store)) = (mode, &store) else { continue };
        if entries.is_empty() {
            continue;
        }
        let written =
            write_entries(store, &task, (entries.clone(), None), (world.now, MAX_EVIDENCE_LOCK_WAIT));
        let (written, entries) = match written {
            // The entries do not all fit. Leave out each entry that is larger than a bundle may be, and write the
            // others.
            Err(Error::Refused { what, .. }) => {
                let is_large = |entry: &EvidenceEntry| {
                    serde_json::to_vec(entry).map_or(0, |line| line.len()) > MAX_BUNDLE_BYTES
                };
                let (large, rest): (Vec<EvidenceEntry>, Vec<EvidenceEntry>) =
                    entries.into_iter().partition(is_large);
                report.new_entries -= large.len();
                for entry in large {
                    let file = format!("{task}: {}", model::render::one_line(&entry.summary, 80));
                    report.skipped_files.push(SkippedFile { file, why: what.clone() });
                }
                (write_entries(store, &task, (rest.clone(), None), (world.now, MAX_EVIDENCE_LOCK_WAIT)), rest)
            }
            written => (written, entries),
        };
        match written {
            Ok(written) => report.notes.extend(written.notes),
            Err(Error::Refused { what, .. }) => {
                report.new_entries -= entries.len();
                report.skipped_files.push(SkippedFile { file: task.to_string(), why: what });
            }
            Err(error) => return Err(error),
        }
    }
    report.redacted = redactor.has_redacted();
    Ok(Some(report))
}

/// Returns the ids of the entries that a task already has.
fn known_entry_ids(store: Option<&Store>, task: &Id) -> Result<Vec<String>> {
    let Some(store) = store else { return Ok(Vec::new()) };
    let bundle = match store.read_evidence(task) {
        // The import will move the damaged bundle aside and write a new one.
        Err(store::Error::Damaged { .. }) => None,
        bundle => bundle?,
    };
    let entries = bundle.map(|bundle| bundle.entries).unwrap_or_default();
    let archived = store.read_archived_evidence(task)?;
    Ok(entries.into_iter().chain(archived).map(|entry| entry.id).collect())
}

/// Returns every JSON file below a folder, without following links.
fn find_json_files(dir: &Dir, report: &mut EvidenceImportReport) -> Result<Vec<String>> {
    let (mut files, mut folders) = (Vec::new(), vec![String::new()]);
    while let Some(folder) = folders.pop() {
        let entries = match folder.is_empty() {
            true => dir.entries()?,
            false => dir.open_subfolder(&folder)?.entries()?,
        };
        for entry in entries {
            let path =
                if folder.is_empty() { entry.name.clone() } else { format!("{folder}/{}", entry.name) };
            let mut leave_out = |why: &str| {
                report.skipped_files.push(SkippedFile { file: path.clone(), why: why.to_owned() });
            };
            match entry.kind {
                FolderEntryKind::Folder if path.split('/').count() < MAX_FOLDER_DEPTH => folders.push(path),
                FolderEntryKind::Folder => {
                    leave_out("a folder that is nested too deeply to contain evidence");
                }
                FolderEntryKind::Other => leave_out("a link, and links are not followed"),
                FolderEntryKind::File if entry.name.ends_with(".json") => files.push(path),
                FolderEntryKind::File => leave_out("not JSON"),
            }
        }
        if files.len() > MAX_IMPORTED_EVIDENCE_FILES {
            return Err(Error::Refused {
                what: format!("{}: over {MAX_IMPORTED_EVIDENCE_FILES} files", dir.path().display()),
                hint: "name the folder that contains the evidence".into(),
            });
        }
    }
    files.sort_unstable();
    Ok(files)
}
