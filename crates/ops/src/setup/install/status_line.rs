//! `thru install --statusline`: adds our status line to the user's own settings of a harness. A status line is for one
//! person, so a project's settings never get one.

use std::path::PathBuf;

use harness::settings::{self, Outcome, Problem};
use harness::{File, Harness};

use super::places::{folder, hook_table};
use super::{
    Error, FileChange, InstallReport, Job, Kind, Mode, Path, Plan, Result, Scope, Task, World, plan, read,
    resolve,
};

/// Adds the status line. If the user already has one, ours calls it first.
pub fn install(world: &World, name: &str, mode: Mode) -> Result<InstallReport> {
    let harness = harness::by_name(name).filter(|harness| harness.status_line.is_some());
    let (Some(harness), Some(table)) = (harness, harness.and_then(hook_table)) else {
        return Err(Error::Refused {
            what: format!("no program can write the status line of {name}"),
            hint: "leave out --statusline".into(),
        });
    };
    if !world.program.is_absolute() {
        return Err(Error::Refused {
            what: "the path of this thru is unknown, so no harness could call it".into(),
            hint: "call it by its full path".into(),
        });
    }
    let here = Path::new("");
    let folder = folder(world, harness, here, Scope::User)?;
    let job = Job { world, harness, project: here, folder, scope: Scope::User, task: Task::Install, mode };
    let mut plans: Vec<Plan> = job.plan_status_line(&table.file)?.into_iter().collect();
    if mode == Mode::Write {
        plans.iter_mut().try_for_each(|plan| job.carry_out(plan))?;
    }
    let mut notes = Vec::new();
    if plans.iter().any(|plan| plan.changed.change != FileChange::Unchanged) {
        notes.push(format!("a new session of {} shows the status line", harness.title));
    }
    Ok(InstallReport {
        harness: harness.name,
        scope: Scope::User,
        written: mode == Mode::Write,
        files: plans.into_iter().map(|plan| plan.changed).collect(),
        failed: Vec::new(),
        notes,
    })
}

impl Job<'_> {
    pub(super) fn plan_status_line(&self, file: &File) -> Result<Option<Plan>> {
        let Job { world, harness, project, scope, .. } = *self;
        let Some(line) = harness.status_line else { return Ok(None) };
        let path = resolve(project, scope, &self.folder.join(file.name))?;
        let before = read(&path)?;
        let program = world.program.to_string_lossy();
        let spliced = settings::status_line::install(before.as_deref(), line.key, &program);
        let bytes = spliced.map_err(|problem| {
            Error::Store(store::Error::Damaged {
                path: path.clone(),
                line: None,
                why: format!("{problem}; the file is left unchanged"),
            })
        })?;
        let outcome = Outcome { blank: bytes.trim_ascii().is_empty(), bytes, changes: Vec::new() };
        let plan = plan(world, path, before, outcome, *file)?;
        Ok(Some(Plan { kind: Kind::StatusLine(*file), ..plan }))
    }
}

/// Returns the settings without our status line. Only the user's own settings can have one.
pub(super) fn removed(
    harness: &Harness,
    scope: Scope,
    bytes: &[u8],
) -> std::result::Result<Vec<u8>, Problem> {
    match harness.status_line {
        Some(line) if scope == Scope::User => settings::status_line::uninstall(bytes, line.key),
        _ => Ok(bytes.to_vec()),
    }
}

/// Returns the user's settings file if its status line is ours. `None` also if the file cannot be read, which other
/// checks report.
pub(super) fn installed(world: &World, harness: &Harness) -> Option<PathBuf> {
    let (line, table) = (harness.status_line?, hook_table(harness)?);
    let path = folder(world, harness, Path::new(""), Scope::User).ok()?.join(table.file.name);
    let bytes = read(&path).ok()??;
    settings::status_line::is_ours(&bytes, line.key).is_ok_and(|is_ours| is_ours).then_some(path)
}
