//! `thru context validate|new|fix`: check, create and fix the context files of roles.

use std::path::{Path, PathBuf};

use model::diff::unified_diff;
use model::id::Id;
use model::role::{self, ContextFileCheckReport, ContextFileFinding};
use serde::Serialize;
use store::{Dir, Durability};

use crate::features::roles::{ProjectRoles, find_or_create_roles, find_roles, parse_role_name};
use crate::setup::backup::back_up_file;
use crate::{Error, Result, World, WriteMode};

const MAX_FILE_BYTES: usize = 1024 * 1024;

#[derive(Clone, Debug, Serialize)]
pub struct CheckedContextFile {
    pub file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    pub valid: bool,
    pub errors: usize,
    pub warnings: usize,
    pub findings: Vec<ContextFileFinding>,
    /// The last line of the report, which begins with `PASS:` or `FAIL:`.
    pub verdict: String,
}

/// The results of a validation. If one file cannot be read, the others are still checked.
#[derive(Debug, Default)]
pub struct ContextValidationReport {
    pub checked_files: Vec<CheckedContextFile>,
    /// The error from the first file that could not be read.
    pub first_error: Option<Error>,
}

impl ContextValidationReport {
    fn add_result(&mut self, checked: Result<CheckedContextFile>) {
        match checked {
            Ok(checked) => self.checked_files.push(checked),
            Err(error) => self.first_error = self.first_error.take().or(Some(error)),
        }
    }
}

pub fn validate_context_files(world: &World, files: &[PathBuf]) -> Result<ContextValidationReport> {
    let roles = find_roles(world)?;
    let mut validated = ContextValidationReport::default();
    for file in files {
        let check = || -> Result<CheckedContextFile> {
            let (path, shown) = resolve_named_file(world, &roles, file)?;
            let bytes = store::read_file_named_by_user(&path, MAX_FILE_BYTES)?;
            Ok(checked_file(shown, roles.check_context_file(world, &bytes)))
        };
        validated.add_result(check());
    }
    Ok(validated)
}

pub fn validate_all(world: &World) -> Result<ContextValidationReport> {
    let roles = find_roles(world)?;
    let mut validated = ContextValidationReport::default();
    for role in roles.role_names()? {
        if let Some(found) = roles.find_context_file(&role).transpose() {
            validated.add_result(
                found.map(|file| {
                    checked_file(file.display_path, roles.check_context_file(world, &file.bytes))
                }),
            );
        }
    }
    Ok(validated)
}

fn checked_file(file: String, report: ContextFileCheckReport) -> CheckedContextFile {
    let name = file.rsplit('/').next().unwrap_or(&file).to_owned();
    CheckedContextFile {
        role: role::role_of_file(&file).map(|role| role.to_string()),
        valid: report.is_valid(),
        errors: report.errors().len(),
        warnings: report.count_warnings(),
        verdict: report.verdict_line(&name),
        findings: report.findings,
        file,
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct CreatedContextFile {
    pub role: String,
    pub file: String,
    /// Whether the file was created. False if it already existed and was left unchanged.
    pub created: bool,
}

pub fn create_context_file(world: &World, name: &str) -> Result<CreatedContextFile> {
    let role = parse_role_name(name)?;
    let (roles, _) = find_or_create_roles(world)?;
    if let Some(file) = roles.find_context_file(&role)? {
        return Ok(CreatedContextFile { role: role.to_string(), file: file.display_path, created: false });
    }
    let (dir, name, shown) = roles.new_context_file_location(&role)?;
    let pane = (world.read_variable)("TMUX_PANE").map(|pane| pane.to_string_lossy().into_owned());
    let pane = pane.filter(|pane| !pane.is_empty());
    let text = role::context_file_template(&role, pane.as_deref().unwrap_or("none"), &shown, world.now);
    let created = dir.create_private_file(&name, text.as_bytes())?;
    Ok(CreatedContextFile { role: role.to_string(), file: shown, created })
}

#[derive(Clone, Debug, Serialize)]
pub struct ContextFileFixReport {
    pub file: String,
    /// The numbers of the lines that changed, or that would change in a dry run.
    pub lines: Vec<usize>,
    pub written: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub diff: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup: Option<PathBuf>,
    /// The result of the check after the fix.
    pub check: CheckedContextFile,
}

pub fn fix_file(world: &World, file: &Path, mode: WriteMode) -> Result<ContextFileFixReport> {
    let roles: ProjectRoles = find_roles(world)?;
    let (path, shown) = resolve_named_file(world, &roles, file)?;
    let bytes = store::read_outside_store(&path, MAX_FILE_BYTES)?;
    let fixed = role::fix_context_file(bytes.clone());
    let mut mended = ContextFileFixReport {
        file: shown.clone(),
        written: mode == WriteMode::Write && !fixed.changed_lines.is_empty(),
        diff: unified_diff(&String::from_utf8_lossy(&bytes), &String::from_utf8_lossy(&fixed.bytes)),
        lines: fixed.changed_lines,
        backup: None,
        check: checked_file(shown, roles.check_context_file(world, &fixed.bytes)),
    };
    if mended.written {
        // Do not replace the file unless it could be backed up.
        mended.backup = Some(back_up_file(world, &path, &bytes)?.ok_or_else(no_backup_error)?);
        let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str()))
        else {
            return Err(Error::Usage {
                what: format!("{}: not a file", path.display()),
                hint: String::new(),
            });
        };
        Dir::open(folder)?.write(name, &fixed.bytes, Durability::Synced)?;
    }
    Ok(mended)
}

fn no_backup_error() -> Error {
    Error::Refused {
        what: "neither HOME nor XDG_STATE_HOME is set, so there is no place for a backup".into(),
        hint: "set HOME to your home folder; nothing was changed".into(),
    }
}

/// `named` is the path of a file or the name of a role. Returns the path of that file, or of the role's context file.
/// The second value is this path as messages show it.
fn resolve_named_file(world: &World, roles: &ProjectRoles, named: &Path) -> Result<(PathBuf, String)> {
    let path = if named.is_absolute() { named.to_owned() } else { world.require_cwd()?.join(named) };
    let role = named.to_str().filter(|_| !path.exists()).and_then(|name| Id::new(name).ok());
    let file = role.map_or(Ok(None), |role| roles.find_context_file(&role))?;
    Ok(file.map_or_else(|| (path, named.display().to_string()), |file| (file.path, file.display_path)))
}
