//! `thru install --statusline`: adds thru's status line to the user's own settings for a harness. It is never added
//! to a project's settings, because a status line is for one person.

use std::path::PathBuf;

use harness::settings::{self, EditOutcome, SettingsProblem};
use harness::{Harness, SettingsFile};

use super::places::{harness_folder, hook_table_of_harness};
use super::{
    Error, FileChange, InstallJob, InstallReport, InstallScope, InstallTask, Path, PlannedFileChange,
    PlannedFileKind, Result, World, WriteMode, file_plan, file_to_write_for_path, read_settings_file,
};

/// Adds the status line. If the user already has a status line, thru's status line calls that existing one first.
pub fn install_status_line(world: &World, name: &str, mode: WriteMode) -> Result<InstallReport> {
    let harness = harness::harness_by_name(name).filter(|harness| harness.status_line.is_some());
    let (Some(harness), Some(table)) = (harness, harness.and_then(hook_table_of_harness)) else {
        return Err(Error::Refused {
            what: format!("programs cannot set the status line of {name}"),
            hint: "omit --statusline".into(),
        });
    };
    if !world.program_path.is_absolute() {
        return Err(Error::Refused {
            what: "thru cannot determine its own path, so the harness would be unable to call thru".into(),
            hint: "run thru by its full path".into(),
        });
    }
    let here = Path::new("");
    let folder = harness_folder(world, harness, here, InstallScope::User)?;
    let job = InstallJob {
        world,
        harness,
        project: here,
        folder,
        scope: InstallScope::User,
        task: InstallTask::Install,
        mode,
    };
    let mut plans: Vec<PlannedFileChange> = job.plan_status_line(&table.file)?.into_iter().collect();
    if mode == WriteMode::Write {
        plans.iter_mut().try_for_each(|plan| job.carry_out_plan(plan))?;
    }
    let mut notes = Vec::new();
    if plans.iter().any(|plan| plan.changed.change != FileChange::Unchanged) {
        notes.push(format!("a new session of {} shows the status line", harness.title));
    }
    Ok(InstallReport {
        harness: harness.name,
        scope: InstallScope::User,
        written: mode == WriteMode::Write,
        files: plans.into_iter().map(|plan| plan.changed).collect(),
        failed: Vec::new(),
        notes,
    })
}

impl InstallJob<'_> {
    pub(super) fn plan_status_line(&self, file: &SettingsFile) -> Result<Option<PlannedFileChange>> {
        let InstallJob { world, harness, project, scope, .. } = *self;
        let Some(line) = harness.status_line else { return Ok(None) };
        let path = file_to_write_for_path(project, scope, &self.folder.join(file.name))?;
        let before = read_settings_file(&path)?;
        let program = world.program_path.to_string_lossy();
        let spliced =
            settings::status_line::install_status_line(before.as_deref(), line.settings_key, &program);
        let bytes = spliced.map_err(|problem| {
            Error::Store(store::Error::Damaged {
                path: path.clone(),
                line: None,
                why: format!("{problem}; the file is left unchanged"),
            })
        })?;
        let outcome = EditOutcome { is_now_blank: bytes.trim_ascii().is_empty(), bytes, changes: Vec::new() };
        let plan = file_plan(world, path, before, outcome, *file)?;
        Ok(Some(PlannedFileChange { kind: PlannedFileKind::StatusLine(*file), ..plan }))
    }
}

/// Returns the settings without thru's status line. Only the user's own settings can contain it.
pub(super) fn without_status_line(
    harness: &Harness,
    scope: InstallScope,
    bytes: &[u8],
) -> std::result::Result<Vec<u8>, SettingsProblem> {
    match harness.status_line {
        Some(line) if scope == InstallScope::User => {
            settings::status_line::uninstall_status_line(bytes, line.settings_key)
        }
        _ => Ok(bytes.to_vec()),
    }
}

/// Returns the user's settings file if it contains thru's status line. A file that cannot be read is ignored, because
/// other checks report it.
pub(super) fn file_with_our_status_line(world: &World, harness: &Harness) -> Option<PathBuf> {
    let (line, table) = (harness.status_line?, hook_table_of_harness(harness)?);
    let path = harness_folder(world, harness, Path::new(""), InstallScope::User).ok()?.join(table.file.name);
    let bytes = read_settings_file(&path).ok()??;
    settings::status_line::is_our_status_line(&bytes, line.settings_key)
        .is_ok_and(|is_ours| is_ours)
        .then_some(path)
}
