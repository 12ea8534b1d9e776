//! `thru resume migrate`: converts `_resume.md` files to manifests, and back.
//!
//! Forward, the manifest is written and then the original is renamed. Back, the manifest is removed and then the
//! original is renamed. An interruption between the two is recognised, and running the same command again completes
//! the work.

use jiff::Timestamp;
use model::document::Document;
use model::finding::Level;
use model::manifest::{self, same_but_time};
use serde::Serialize;

use super::{ResumeContext, WAIT, usual_first};
use crate::features::workstreams::{self, PLANNING, Workstreams};
use crate::{Result, World};

/// What happened to an old file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Outcome {
    Success,
    Skip,
    Error,
}

#[derive(Clone, Debug, Serialize)]
pub struct Migrated {
    pub path: String,
    pub outcome: Outcome,
    pub why: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    DryRun,
    Forward,
    Back,
}

/// Converts `_resume.md` files, or restores them.
pub fn migrate(world: &World, direction: Direction) -> Result<Vec<Migrated>> {
    let desk = ResumeContext::open(world)?;
    let place = desk.place();
    let _lock = if direction == Direction::DryRun { None } else { Some(place.lock(WAIT)?) };
    // Examine all files before changing any: an unreadable folder is then reported while nothing has changed.
    let mut all = Vec::new();
    for (id, folder) in place.homes()? {
        all.extend(olds(&place, &id, &folder, world.now)?);
    }
    let mut done = misnamed(&place)?;
    for old in all {
        let became = match direction {
            Direction::Back => old.give_back()?,
            Direction::Forward | Direction::DryRun => old.take_over(direction)?,
        };
        done.extend(became.map(|(outcome, why)| Migrated { path: old.legacy, outcome, why }));
    }
    Ok(done)
}

/// Returns old files in folders whose names are not ids. They are not converted, because nobody would find the
/// manifests.
fn misnamed(place: &Workstreams) -> Result<Vec<Migrated>> {
    let mut found = Vec::new();
    for home in workstreams::home_folders() {
        for name in place.folders(&home)?.iter().filter(|name| !manifest::is_workstream(name)) {
            let folder = format!("{home}/{name}");
            for base in [folder.clone(), format!("{folder}/{PLANNING}")] {
                if place.files(&base)?.iter().any(|file| file == manifest::LEGACY_NAME) {
                    found.push(Migrated {
                        path: format!("{base}/{}", manifest::LEGACY_NAME),
                        outcome: Outcome::Error,
                        why: format!(
                            "the folder `{name}` is not NN-kebab-case; rename it, like 24-new-parser"
                        ),
                    });
                }
            }
        }
    }
    Ok(found)
}

/// A folder that has, or had, a `_resume.md`.
struct Old<'a> {
    place: &'a Workstreams<'a>,
    id: String,
    folder: String,
    legacy: String,
    has_legacy: bool,
    backup: String,
    has_backup: bool,
    /// The manifest that the old file becomes.
    target: String,
    now: Timestamp,
}

/// Returns the old files of one workstream: in its folder, and in the folder of its plans.
fn olds<'a>(place: &'a Workstreams, id: &str, folder: &str, now: Timestamp) -> Result<Vec<Old<'a>>> {
    let has_planning = place.folders(folder)?.iter().any(|name| name == PLANNING);
    let planning = has_planning.then(|| format!("{folder}/{PLANNING}"));
    let home = planning.as_deref().unwrap_or(folder);
    let old = |base: &str| -> Result<Old<'a>> {
        let names = place.files(base)?;
        let backup = format!("{}.backup", manifest::LEGACY_NAME);
        let has = |wanted: &str| names.iter().any(|name| name == wanted);
        Ok(Old {
            place,
            id: id.to_owned(),
            folder: folder.to_owned(),
            legacy: format!("{base}/{}", manifest::LEGACY_NAME),
            has_legacy: has(manifest::LEGACY_NAME),
            has_backup: has(&backup),
            backup: format!("{base}/{backup}"),
            target: format!("{home}/{}", manifest::NAME),
            now,
        })
    };
    [Some(folder), planning.as_deref()].into_iter().flatten().map(old).collect()
}

/// What became of an old file; `None` if there is nothing to report.
type Became = Option<(Outcome, String)>;

impl Old<'_> {
    fn take_over(&self, direction: Direction) -> Result<Became> {
        let Old { legacy, backup, target, .. } = self;
        let there = self.target()?;
        match (self.has_legacy, self.has_backup, &there) {
            (false, false, _) => return Ok(None),
            (false, true, Some(_)) => return said(Outcome::Skip, "migrated already"),
            (false, true, None) => {
                let why =
                    "already migrated, but the manifest was removed since; --rollback restores the original";
                return said(Outcome::Skip, why);
            }
            (true, true, _) => {
                let why = "there is already a backup of an earlier one; move it away first";
                return said(Outcome::Error, why);
            }
            (true, false, _) => {}
        }
        let original = match self.place.read(legacy) {
            Ok(original) => original,
            Err(error) => return said(Outcome::Error, &error.to_string()),
        };
        if let Some(why) = unusable(&original) {
            return said(Outcome::Error, why);
        }
        let made = self.made(legacy)?;
        let note = manifest::unknown_phase(&original).map_or(String::new(), |phase| {
            format!("; its phase `{phase}` is unknown, and is {} now", manifest::USUAL_PHASE)
        });
        // If the manifest is the same as a new one would be, an earlier migration was interrupted.
        let is_begun = there.as_ref().is_some_and(|there| same_but_time(there, made.bytes()));
        if there.is_some() && !is_begun {
            return said(Outcome::Skip, "there is already a resume-context.md");
        }
        let errors: Vec<String> = manifest::check(&made)
            .into_iter()
            .filter(|finding| finding.level == Level::Error)
            .map(|finding| finding.text)
            .collect();
        if manifest::read(&made).files_to_load.is_empty() {
            let why = "there is no other .md here for it to load; write one, like plan.md, and migrate again";
            return said(Outcome::Error, why);
        }
        if !errors.is_empty() {
            return said(Outcome::Error, &errors.join("; "));
        }
        if direction == Direction::DryRun {
            return said(Outcome::Success, &format!("would become {target}{note}"));
        }
        if !is_begun {
            self.place.write(target, made.bytes())?;
        }
        self.rename(legacy, backup)?;
        said(Outcome::Success, &format!("is now {target}{note}"))
    }

    /// Restores the old file. The manifest that was made from it is removed, unless somebody has edited it since.
    fn give_back(&self) -> Result<Became> {
        let Old { legacy, backup, target, .. } = self;
        let original = match (self.has_legacy, self.has_backup) {
            (true, true) => return said(Outcome::Error, "it is there again; nothing was changed"),
            (false, true) => backup,
            (true, false) => legacy,
            (false, false) => return Ok(None),
        };
        let is_untouched = match self.target()? {
            Some(there) => Some(same_but_time(&there, self.made(original)?.bytes())),
            None => None,
        };
        if is_untouched == Some(true) {
            let (folder, name) = target.rsplit_once('/').unwrap_or(("", target));
            self.place.dir(folder)?.remove(name)?;
        }
        if self.has_legacy {
            // The old file was never renamed: the migration was interrupted, or there was none.
            return match is_untouched {
                Some(true) => {
                    said(Outcome::Success, "it was still there; the manifest made from it was removed")
                }
                _ => Ok(None),
            };
        }
        self.rename(backup, legacy)?;
        said(
            Outcome::Success,
            match is_untouched {
                Some(true) => "restored; the manifest made from it was removed",
                Some(false) => "restored; the manifest was changed since and stays",
                None => "given back",
            },
        )
    }

    fn target(&self) -> Result<Option<Vec<u8>>> {
        match self.place.read(&self.target) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(store::Error::Absent { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the manifest that `original` becomes.
    fn made(&self, original: &str) -> Result<Document> {
        let bytes = self.place.read(original)?;
        Ok(manifest::migrate(&bytes, &self.id, &loadable(self.place, &self.folder)?, self.now))
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        let (folder, old) = from.rsplit_once('/').unwrap_or(("", from));
        Ok(self.place.dir(folder)?.rename(old, to.rsplit('/').next().unwrap_or(to))?)
    }
}

/// Returns why an old file cannot be converted; `None` if it can.
fn unusable(original: &[u8]) -> Option<&'static str> {
    match std::str::from_utf8(original) {
        Ok(text) if text.contains('\0') => Some("it is not text"),
        Ok(text) if text.trim_start_matches('\u{feff}').trim().is_empty() => Some("it is empty"),
        Ok(_) => None,
        Err(_) => Some("it is not UTF-8 text"),
    }
}

fn said(outcome: Outcome, why: &str) -> Result<Became> {
    Ok(Some((outcome, why.to_owned())))
}

/// Returns the markdown files of a workstream, relative to its folder.
fn loadable(place: &Workstreams, folder: &str) -> Result<Vec<String>> {
    let mut files = Vec::new();
    for (below, prefix) in
        [(format!("{folder}/{PLANNING}"), format!("{PLANNING}/")), (folder.to_owned(), String::new())]
    {
        let mut names = place.files(&below)?;
        names.retain(|name| name.ends_with(".md") && name != manifest::NAME && name != manifest::LEGACY_NAME);
        usual_first(&mut names);
        files.extend(names.into_iter().map(|name| format!("{prefix}{name}")));
    }
    Ok(files)
}
