//! `thru context validate`, `new` and `fix`: check, create and fix the context files of roles.

use std::path::{Path, PathBuf};

use model::diff::diff;
use model::id::Id;
use model::role::{self, Finding, RoleReport};
use serde::Serialize;
use store::{Dir, Durability};

use crate::features::roles::{Roles, id, look, look_or_make};
use crate::setup::backup::back_up;
use crate::{Error, Mode, Result, World};

const LARGEST: usize = 1024 * 1024;

#[derive(Clone, Debug, Serialize)]
pub struct Checked {
    pub file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    pub valid: bool,
    pub errors: usize,
    pub warnings: usize,
    pub findings: Vec<Finding>,
    /// `PASS: …` or `FAIL: …`
    pub verdict: String,
}

/// The result of a check. A file that cannot be read does not stop the check of the others.
#[derive(Debug, Default)]
pub struct Validated {
    pub checked: Vec<Checked>,
    /// The error of the first file that could not be read.
    pub failed: Option<Error>,
}

impl Validated {
    fn take(&mut self, checked: Result<Checked>) {
        match checked {
            Ok(checked) => self.checked.push(checked),
            Err(error) => self.failed = self.failed.take().or(Some(error)),
        }
    }
}

/// Checks the files that the user named.
pub fn validate(world: &World, files: &[PathBuf]) -> Result<Validated> {
    let roles = look(world)?;
    let mut validated = Validated::default();
    for file in files {
        let check = || -> Result<Checked> {
            let (path, shown) = meant(world, &roles, file)?;
            let bytes = store::read_given(&path, LARGEST)?;
            Ok(checked(shown, roles.check(world, &bytes)))
        };
        validated.take(check());
    }
    Ok(validated)
}

/// Checks every context file of the roles.
pub fn validate_all(world: &World) -> Result<Validated> {
    let roles = look(world)?;
    let mut validated = Validated::default();
    for role in roles.names()? {
        if let Some(found) = roles.find(&role).transpose() {
            validated.take(found.map(|file| checked(file.shown, roles.check(world, &file.bytes))));
        }
    }
    Ok(validated)
}

fn checked(file: String, report: RoleReport) -> Checked {
    let name = file.rsplit('/').next().unwrap_or(&file).to_owned();
    Checked {
        role: role::of_file(&file).map(|role| role.to_string()),
        valid: report.is_valid(),
        errors: report.errors().len(),
        warnings: report.warnings(),
        verdict: report.verdict(&name),
        findings: report.findings,
        file,
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct Begun {
    pub role: String,
    pub file: String,
    /// False if the file already existed; it is left unchanged.
    pub created: bool,
}

pub fn new(world: &World, name: &str) -> Result<Begun> {
    let role = id(name)?;
    let (roles, _) = look_or_make(world)?;
    if let Some(file) = roles.find(&role)? {
        return Ok(Begun { role: role.to_string(), file: file.shown, created: false });
    }
    let (dir, name, shown) = roles.new_file(&role)?;
    let pane = (world.var)("TMUX_PANE").map(|pane| pane.to_string_lossy().into_owned());
    let pane = pane.filter(|pane| !pane.is_empty());
    let text = role::template(&role, pane.as_deref().unwrap_or("none"), &shown, world.now);
    let created = dir.create(&name, text.as_bytes())?;
    Ok(Begun { role: role.to_string(), file: shown, created })
}

#[derive(Clone, Debug, Serialize)]
pub struct Mended {
    pub file: String,
    /// The numbers of the lines that changed. In a dry run, of the lines that would change.
    pub lines: Vec<usize>,
    pub written: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub diff: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup: Option<PathBuf>,
    /// The result of checking the file after the fix.
    pub check: Checked,
}

pub fn fix(world: &World, file: &Path, mode: Mode) -> Result<Mended> {
    let roles: Roles = look(world)?;
    let (path, shown) = meant(world, &roles, file)?;
    let bytes = store::read_own(&path, LARGEST)?;
    let fixed = role::fix(bytes.clone());
    let mut mended = Mended {
        file: shown.clone(),
        written: mode == Mode::Write && !fixed.lines.is_empty(),
        diff: diff(&String::from_utf8_lossy(&bytes), &String::from_utf8_lossy(&fixed.bytes)),
        lines: fixed.lines,
        backup: None,
        check: checked(shown, roles.check(world, &fixed.bytes)),
    };
    if mended.written {
        // Nothing is replaced without a backup.
        mended.backup = Some(back_up(world, &path, &bytes)?.ok_or_else(no_backup)?);
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

fn no_backup() -> Error {
    Error::Refused {
        what: "neither HOME nor XDG_STATE_HOME is set, so there is no place for a backup".into(),
        hint: "set HOME to your home folder; nothing was changed".into(),
    }
}

/// Returns the named file. If there is no such file, returns the file of the role with that name. Also returns the
/// file's name for messages.
fn meant(world: &World, roles: &Roles, named: &Path) -> Result<(PathBuf, String)> {
    let path = if named.is_absolute() { named.to_owned() } else { world.need_cwd()?.join(named) };
    let role = named.to_str().filter(|_| !path.exists()).and_then(|name| Id::new(name).ok());
    let file = role.map_or(Ok(None), |role| roles.find(&role))?;
    Ok(file.map_or_else(|| (path, named.display().to_string()), |file| (file.path, file.shown)))
}
