//! `thru resume migrate`: converts `_resume.md` files to manifests, and can undo this.
//!
//! A migration writes the manifest and then renames the original. A rollback removes the manifest and then renames
//! the original back. If either is interrupted between its two steps, running the same command again completes it.

use jiff::Timestamp;
use model::document::Document;
use model::finding::FindingLevel;
use model::manifest::{self, are_manifests_equal_except_time};
use serde::Serialize;

use super::{LOCK_WAIT, ResumeContext, sort_default_files_first};
use crate::features::workstreams::{self, PLANNING_FOLDER, WorkstreamFinder};
use crate::{Result, World};

/// The result of the migration for one old file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum MigrationOutcome {
    Success,
    Skip,
    Error,
}

#[derive(Clone, Debug, Serialize)]
pub struct MigratedFile {
    pub path: String,
    pub outcome: MigrationOutcome,
    pub why: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MigrationDirection {
    DryRun,
    Forward,
    Back,
}

/// Converts all `_resume.md` files, or restores them.
pub fn migrate_all(world: &World, direction: MigrationDirection) -> Result<Vec<MigratedFile>> {
    let context = ResumeContext::open(world)?;
    let place = context.workstreams();
    let _lock =
        if direction == MigrationDirection::DryRun { None } else { Some(place.lock_manifests(LOCK_WAIT)?) };
    // Examine all files before changing any, so that an unreadable folder is reported before anything is changed.
    let mut all = Vec::new();
    for (id, folder) in place.ids_and_folders()? {
        all.extend(old_resume_files(&place, &id, &folder, world.now)?);
    }
    let mut done = files_in_misnamed_folders(&place)?;
    for old in all {
        let became = match direction {
            MigrationDirection::Back => old.restore_original()?,
            MigrationDirection::Forward | MigrationDirection::DryRun => old.convert_to_manifest(direction)?,
        };
        done.extend(became.map(|(outcome, why)| MigratedFile { path: old.legacy_path, outcome, why }));
    }
    Ok(done)
}

/// Returns the old files in folders whose names are not workstream ids. They are not converted, because no command
/// would find their manifests.
fn files_in_misnamed_folders(place: &WorkstreamFinder) -> Result<Vec<MigratedFile>> {
    let mut found = Vec::new();
    for home in workstreams::workstream_parent_folders() {
        for name in place.subfolder_names(&home)?.iter().filter(|name| !manifest::is_workstream_id(name)) {
            let folder = format!("{home}/{name}");
            for base in [folder.clone(), format!("{folder}/{PLANNING_FOLDER}")] {
                if place.file_names(&base)?.iter().any(|file| file == manifest::LEGACY_MANIFEST_FILE_NAME) {
                    found.push(MigratedFile {
                        path: format!("{base}/{}", manifest::LEGACY_MANIFEST_FILE_NAME),
                        outcome: MigrationOutcome::Error,
                        why: format!(
                            "the folder name `{name}` is not NN-kebab-case; rename the folder, for example to \
                             24-new-parser"
                        ),
                    });
                }
            }
        }
    }
    Ok(found)
}

/// A folder that contains a `_resume.md`, or contained one before a migration.
struct OldResumeFile<'a> {
    workstreams: &'a WorkstreamFinder<'a>,
    id: String,
    folder: String,
    legacy_path: String,
    has_legacy: bool,
    backup_path: String,
    has_backup: bool,
    /// The path of the manifest that the old file is converted to.
    manifest_path: String,
    now: Timestamp,
}

/// Returns the old files of one workstream. They can be in the workstream's folder and in its planning folder.
fn old_resume_files<'a>(
    place: &'a WorkstreamFinder,
    id: &str,
    folder: &str,
    now: Timestamp,
) -> Result<Vec<OldResumeFile<'a>>> {
    let has_planning = place.subfolder_names(folder)?.iter().any(|name| name == PLANNING_FOLDER);
    let planning = has_planning.then(|| format!("{folder}/{PLANNING_FOLDER}"));
    let home = planning.as_deref().unwrap_or(folder);
    let old = |base: &str| -> Result<OldResumeFile<'a>> {
        let names = place.file_names(base)?;
        let backup = format!("{}.backup", manifest::LEGACY_MANIFEST_FILE_NAME);
        let has = |wanted: &str| names.iter().any(|name| name == wanted);
        Ok(OldResumeFile {
            workstreams: place,
            id: id.to_owned(),
            folder: folder.to_owned(),
            legacy_path: format!("{base}/{}", manifest::LEGACY_MANIFEST_FILE_NAME),
            has_legacy: has(manifest::LEGACY_MANIFEST_FILE_NAME),
            has_backup: has(&backup),
            backup_path: format!("{base}/{backup}"),
            manifest_path: format!("{home}/{}", manifest::MANIFEST_FILE_NAME),
            now,
        })
    };
    [Some(folder), planning.as_deref()].into_iter().flatten().map(old).collect()
}

type MigrationResult = Option<(MigrationOutcome, String)>;

impl OldResumeFile<'_> {
    fn convert_to_manifest(&self, direction: MigrationDirection) -> Result<MigrationResult> {
        let OldResumeFile { legacy_path, backup_path, manifest_path, .. } = self;
        let there = self.read_target()?;
        match (self.has_legacy, self.has_backup, &there) {
            (false, false, _) => return Ok(None),
            (false, true, Some(_)) => return migration_result(MigrationOutcome::Skip, "already migrated"),
            (false, true, None) => {
                let why = "already migrated, but the manifest has been removed since then; --rollback restores \
                           the original";
                return migration_result(MigrationOutcome::Skip, why);
            }
            (true, true, _) => {
                let why = "there is already a backup of an earlier manifest; move it elsewhere first";
                return migration_result(MigrationOutcome::Error, why);
            }
            (true, false, _) => {}
        }
        let original = match self.workstreams.read_file(legacy_path) {
            Ok(original) => original,
            Err(error) => return migration_result(MigrationOutcome::Error, &error.to_string()),
        };
        if let Some(why) = why_unusable(&original) {
            return migration_result(MigrationOutcome::Error, why);
        }
        let made = self.converted_manifest(legacy_path)?;
        let note = manifest::unknown_phase_in_legacy_file(&original).map_or(String::new(), |phase| {
            format!("; its phase `{phase}` is unknown, so it becomes {}", manifest::DEFAULT_MANIFEST_PHASE)
        });
        // If the existing manifest equals the converted file, an earlier migration was interrupted.
        let is_begun =
            there.as_ref().is_some_and(|there| are_manifests_equal_except_time(there, made.bytes()));
        if there.is_some() && !is_begun {
            return migration_result(MigrationOutcome::Skip, "there is already a resume-context.md");
        }
        let errors: Vec<String> = manifest::check_manifest(&made)
            .into_iter()
            .filter(|finding| finding.level == FindingLevel::Error)
            .map(|finding| finding.text)
            .collect();
        if manifest::read_manifest(&made).files_to_load.is_empty() {
            let why = "there is no other .md file here that it could load; write one, such as plan.md, and \
                       migrate again";
            return migration_result(MigrationOutcome::Error, why);
        }
        if !errors.is_empty() {
            return migration_result(MigrationOutcome::Error, &errors.join("; "));
        }
        if direction == MigrationDirection::DryRun {
            return migration_result(
                MigrationOutcome::Success,
                &format!("would become {manifest_path}{note}"),
            );
        }
        if !is_begun {
            self.workstreams.write_file(manifest_path, made.bytes())?;
        }
        self.rename(legacy_path, backup_path)?;
        migration_result(MigrationOutcome::Success, &format!("is now {manifest_path}{note}"))
    }

    /// Restores the old file, and removes the manifest that was made from it unless somebody has edited that
    /// manifest.
    fn restore_original(&self) -> Result<MigrationResult> {
        let OldResumeFile { legacy_path, backup_path, manifest_path, .. } = self;
        let original = match (self.has_legacy, self.has_backup) {
            (true, true) => {
                return migration_result(
                    MigrationOutcome::Error,
                    "the original exists again; nothing was changed",
                );
            }
            (false, true) => backup_path,
            (true, false) => legacy_path,
            (false, false) => return Ok(None),
        };
        let is_untouched = match self.read_target()? {
            Some(there) => {
                Some(are_manifests_equal_except_time(&there, self.converted_manifest(original)?.bytes()))
            }
            None => None,
        };
        if is_untouched == Some(true) {
            let (folder, name) = manifest_path.rsplit_once('/').unwrap_or(("", manifest_path));
            self.workstreams.open_folder(folder)?.remove_file(name)?;
        }
        if self.has_legacy {
            // The old file still has its original name, because the migration was interrupted or never ran.
            return match is_untouched {
                Some(true) => migration_result(
                    MigrationOutcome::Success,
                    "it was still there; the manifest made from it was removed",
                ),
                _ => Ok(None),
            };
        }
        self.rename(backup_path, legacy_path)?;
        migration_result(
            MigrationOutcome::Success,
            match is_untouched {
                Some(true) => "restored; the manifest made from it was removed",
                Some(false) => "restored; the manifest has been changed since then, so it is kept",
                None => "restored",
            },
        )
    }

    fn read_target(&self) -> Result<Option<Vec<u8>>> {
        match self.workstreams.read_file(&self.manifest_path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(store::Error::Absent { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the manifest that `original` is converted to.
    fn converted_manifest(&self, original: &str) -> Result<Document> {
        let bytes = self.workstreams.read_file(original)?;
        Ok(manifest::migrate_legacy(
            &bytes,
            &self.id,
            &markdown_files(self.workstreams, &self.folder)?,
            self.now,
        ))
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        let (folder, old) = from.rsplit_once('/').unwrap_or(("", from));
        Ok(self.workstreams.open_folder(folder)?.rename_synced(old, to.rsplit('/').next().unwrap_or(to))?)
    }
}

/// Returns why an old file cannot be converted, or `None` if it can.
fn why_unusable(original: &[u8]) -> Option<&'static str> {
    match std::str::from_utf8(original) {
        Ok(text) if text.contains('\0') => Some("it is not text"),
        Ok(text) if text.trim_start_matches('\u{feff}').trim().is_empty() => Some("it is empty"),
        Ok(_) => None,
        Err(_) => Some("it is not UTF-8 text"),
    }
}

fn migration_result(outcome: MigrationOutcome, why: &str) -> Result<MigrationResult> {
    Ok(Some((outcome, why.to_owned())))
}

/// Returns a workstream's markdown files, as paths relative to its folder.
fn markdown_files(place: &WorkstreamFinder, folder: &str) -> Result<Vec<String>> {
    let mut files = Vec::new();
    for (below, prefix) in [
        (format!("{folder}/{PLANNING_FOLDER}"), format!("{PLANNING_FOLDER}/")),
        (folder.to_owned(), String::new()),
    ] {
        let mut names = place.file_names(&below)?;
        names.retain(|name| {
            name.ends_with(".md")
                && name != manifest::MANIFEST_FILE_NAME
                && name != manifest::LEGACY_MANIFEST_FILE_NAME
        });
        sort_default_files_first(&mut names);
        files.extend(names.into_iter().map(|name| format!("{prefix}{name}")));
    }
    Ok(files)
}
