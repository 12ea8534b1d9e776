//! `thru install` and `uninstall`: our hooks in a harness's settings, as pure insertion, with a backup and a way back.

mod places;

use std::path::{Path, PathBuf};

use harness::settings::{self, Command, Entry, Outcome, Timeout, What};
use harness::{File, Form, Harness, commands};
use model::event::EventName;
use serde::Serialize;
use store::{Dir, Durability, Found};

use crate::backup::{back_up, backups_of};
use crate::{Error, Mode, Result, World, git};
use places::{
    COMMANDS, command_path, files_of, folder, hook_table, local_files, other_scope, real_path, settings_file,
};

pub use places::{in_use, is_wired_in, signs, transcripts_kept, unusable, usual_scope, version, wired};

const LARGEST: usize = 16 * 1024 * 1024;

/// Whose file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// One person's, for one project; not in git.
    Local,
    /// One person's, for every project.
    User,
    /// The project's, in git: everybody's.
    Project,
}

/// What to do with a harness's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    Install,
    Uninstall,
}

#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub harness: &'static str,
    pub scope: Scope,
    /// False for a dry run: this is what would have been done.
    pub written: bool,
    pub files: Vec<Changed>,
    pub notes: Vec<String>,
}

/// One file, and what became of it.
#[derive(Clone, Debug, Serialize)]
pub struct Changed {
    pub path: PathBuf,
    pub change: FileChange,
    /// Events whose hook was added, updated or removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup: Option<PathBuf>,
    /// As `diff -u` has it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub diff: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileChange {
    Unchanged,
    Created,
    Changed,
    Removed,
}

/// For the command line: the harness by its name, the project we stand in, the scope if one was asked for.
pub fn by_name(world: &World, name: &str, scope: Option<Scope>, task: Task, mode: Mode) -> Result<Report> {
    let harness = harness::by_name(name).ok_or_else(|| Error::Usage {
        what: format!("`{name}` is no harness that thru knows"),
        hint: "`thru harness list` shows them".into(),
    })?;
    let project = match world.find()? {
        Found::Marked { root, .. } | Found::Unmarked(root) => root.checkout,
    };
    run(world, harness, &project, scope.unwrap_or_else(|| usual_scope(harness)), task, mode)
}

pub fn run(
    world: &World,
    harness: &'static Harness,
    project: &Path,
    scope: Scope,
    task: Task,
    mode: Mode,
) -> Result<Report> {
    let folder = folder(world, harness, project, scope)?;
    if task == Task::Install && scope != Scope::Project && !world.program.is_absolute() {
        return Err(Error::Refused {
            what: "it cannot be told where this thru is, so no harness could call it".into(),
            hint: "call it by its whole path, or use --project, which looks for it on PATH".into(),
        });
    }
    if task == Task::Install && !entries(world, harness, scope).iter().all(|entry| entry.command.is_ours()) {
        return Err(Error::Refused {
            what: format!("{}: hooks that call it would not be known as ours again", world.program.display()),
            hint: "call the program thru, or by a name that begins with it".into(),
        });
    }
    let mut report = Report {
        harness: harness.name,
        scope,
        written: mode == Mode::Write,
        files: Vec::new(),
        notes: Vec::new(),
    };
    let files = match task {
        Task::Install => vec![settings_file(harness, &folder, scope)],
        Task::Uninstall => files_of(harness, scope),
    };
    // All is looked at before anything is written: what cannot be done whole is not begun.
    let mut plans = Vec::new();
    for file in files {
        plans.extend(plan_settings(world, harness, project, &file, &folder, task, &mut report)?);
    }
    // One folder of commands serves both scopes of a project: it stays as long as either is wired.
    let still_used = task == Task::Uninstall
        && other_scope(scope).is_some_and(|other| is_wired_in(world, harness, project, other));
    let all = if still_used { Vec::new() } else { commands::all(harness, &program_words(world, scope)) };
    for command in all {
        let path = command_path(&folder, &command.name);
        if scope != Scope::Project && git::is_tracked(project, &path)? {
            report
                .notes
                .push(format!("{}: in git, so it is the project's; it is left alone", path.display()));
            continue;
        }
        plans.extend(plan_command(&path, &command.text, task, &mut report.notes)?);
    }
    if mode == Mode::Write {
        for plan in &mut plans {
            plan.carry_out(world)?;
        }
        if plans.iter().any(|plan| plan.is_command_gone(&folder)) {
            // The folder was perhaps ours too; one that holds anything stays.
            let _ = std::fs::remove_dir(folder.join(COMMANDS));
        }
        tidy_up(world, harness, project, &folder, scope, task)?;
    }
    report.files = plans.into_iter().map(|plan| plan.changed).collect();
    if task == Task::Uninstall {
        for (path, _) in wired(world, harness, project) {
            report.notes.push(format!("{}: hooks of thru are still here, in another scope", path.display()));
        }
    }
    Ok(report)
}

/// What is to become of one file.
struct Plan {
    changed: Changed,
    before: Option<Vec<u8>>,
    /// Empty where the file goes.
    after: Vec<u8>,
    keep: Keep,
}

/// Whether what a file held is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keep {
    Backup,
    /// It is ours alone, as we would write it again.
    Nothing,
}

impl Plan {
    fn is_command_gone(&self, folder: &Path) -> bool {
        let Changed { path, change, .. } = &self.changed;
        *change == FileChange::Removed && path.parent().is_some_and(|parent| parent == folder.join(COMMANDS))
    }

    fn carry_out(&mut self, world: &World) -> Result<()> {
        let path = &self.changed.path;
        if self.changed.change == FileChange::Unchanged {
            return Ok(());
        }
        if let Some(before) = self.before.as_deref().filter(|_| self.keep == Keep::Backup) {
            self.changed.backup = back_up(world, path, before)?;
        }
        match self.changed.change {
            FileChange::Removed => std::fs::remove_file(path)
                .map_err(|e| Error::stream(&path.display().to_string(), "remove", &e)),
            _ => write(path, &self.after),
        }
    }
}

/// One settings file: read and spliced. None where there is nothing to take out of.
fn plan_settings(
    world: &World,
    harness: &'static Harness,
    project: &Path,
    file: &File,
    folder: &Path,
    task: Task,
    report: &mut Report,
) -> Result<Option<Plan>> {
    let scope = report.scope;
    let path = real_path(&folder.join(file.name));
    if scope == Scope::Local && task == Task::Install && git::is_tracked(project, &path)? {
        return Err(Error::Refused {
            what: format!("{}: this file is in git, so it is everybody's", path.display()),
            hint: "say --project to write into it all the same, or --user for your own settings".into(),
        });
    }
    let before = read(&path)?;
    if before.is_none() && task == Task::Uninstall {
        return Ok(None);
    }
    let outcome = splice(world, harness, scope, task, before.as_deref(), file, &path)?;
    if let Ok(Some(line)) = settings::switched_off(before.as_deref().unwrap_or_default(), &file.place) {
        report.notes.push(format!("{}:{line}: hooks are switched off there", path.display()));
    }
    if task == Task::Install && is_ignored(harness, &outcome.bytes) {
        report.notes.push(format!("{}: {}", path.display(), ignored_words(harness)));
    }
    plan(world, path, before, outcome, &file.place).map(Some)
}

/// Whether the harness passes this file over, and every hook in it with it.
pub fn is_ignored(harness: &Harness, bytes: &[u8]) -> bool {
    let json = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    hook_table(harness).strict && serde_json::from_slice::<serde::de::IgnoredAny>(json).is_err()
}

pub fn ignored_words(harness: &Harness) -> String {
    format!(
        "{} ignores this file as long as it has comments or trailing commas, so no hook in it runs",
        harness.title
    )
}

fn splice(
    world: &World,
    harness: &Harness,
    scope: Scope,
    task: Task,
    before: Option<&[u8]>,
    file: &File,
    path: &Path,
) -> Result<Outcome> {
    let done = match (task, before) {
        (Task::Install, before) => settings::install(before, &file.place, &entries(world, harness, scope)),
        (Task::Uninstall, Some(bytes)) => settings::uninstall(bytes, &file.place),
        (Task::Uninstall, None) => Ok(Outcome { bytes: Vec::new(), changes: Vec::new(), blank: true }),
    };
    done.map_err(|problem| {
        Error::Store(store::Error::Damaged {
            path: path.to_owned(),
            line: None,
            why: format!("{problem}; the file is left as it is"),
        })
    })
}

fn entries(world: &World, harness: &Harness, scope: Scope) -> Vec<Entry> {
    let (program, table) = (world.program.to_string_lossy(), hook_table(harness));
    let command = |event: &str| {
        let args = ["hook", harness.name, event];
        match (scope, table.form) {
            // A file that others get too: found through PATH, and nothing where it is not installed.
            (Scope::Project, _) => Command::if_installed(&args),
            (_, Form::Exec) => {
                Command::Exec { program: program.to_string(), args: args.map(str::to_owned).to_vec() }
            }
            (_, Form::Shell) => Command::shell(&program, &args),
        }
    };
    // What runs at a stop are the validators of a loop.
    let stop_timeout = crate::settings::here(world).settings().validator_timeout;
    let entry = |wired: &harness::Wired| {
        let seconds = if wired.neutral == EventName::Stop { stop_timeout } else { wired.timeout };
        Entry {
            event: wired.event.to_owned(),
            matcher: None,
            command: command(wired.event),
            timeout: Timeout { seconds, unit: table.timeouts },
        }
    };
    harness.events.iter().map(entry).collect()
}

fn program_words(world: &World, scope: Scope) -> String {
    match scope {
        Scope::Project => "thru".to_owned(),
        _ => settings::quoted(&world.program.to_string_lossy()),
    }
}

fn plan(
    world: &World,
    path: PathBuf,
    before: Option<Vec<u8>>,
    outcome: Outcome,
    place: &settings::Place,
) -> Result<Plan> {
    let old = before.as_deref().unwrap_or_default();
    // A file that was not there before us is not there after us; an empty one of the user's own had a backup made.
    let remove = outcome.bytes.is_empty() && before.is_some() && !was_there(world, &path, place)?;
    let touched = outcome.changes.iter().filter(|change| change.what != What::Kept);
    let change = match &before {
        _ if outcome.bytes == old => FileChange::Unchanged,
        None => FileChange::Created,
        Some(_) if remove => FileChange::Removed,
        Some(_) => FileChange::Changed,
    };
    let changed = Changed {
        change,
        events: touched.map(|change| change.event.clone()).collect(),
        backup: None,
        diff: settings::diff(&String::from_utf8_lossy(old), &String::from_utf8_lossy(&outcome.bytes)),
        path,
    };
    let keep = if remove { Keep::Nothing } else { Keep::Backup };
    Ok(Plan { changed, before, after: outcome.bytes, keep })
}

/// Whether the user had this settings file before we came: then one of its backups has no hook of ours in it.
fn was_there(world: &World, path: &Path, place: &settings::Place) -> Result<bool> {
    let is_ours = |bytes: &Vec<u8>| settings::find(bytes, place).is_ok_and(|hooks| !hooks.is_empty());
    Ok(backups_of(world, path)?.iter().any(|bytes| !is_ours(bytes)))
}

fn plan_command(path: &Path, text: &str, task: Task, notes: &mut Vec<String>) -> Result<Option<Plan>> {
    let before = read(path)?;
    let old = before.as_deref().map(String::from_utf8_lossy);
    let (change, after) = match (task, &old) {
        (_, Some(old)) if !commands::is_ours(old) => {
            notes.push(format!("{}: a command of yours has this name; it is left alone", path.display()));
            return Ok(None);
        }
        (Task::Install, Some(old)) if old == text => (FileChange::Unchanged, text),
        (Task::Install, Some(_)) => (FileChange::Changed, text),
        (Task::Install, None) => (FileChange::Created, text),
        (Task::Uninstall, Some(_)) => (FileChange::Removed, ""),
        (Task::Uninstall, None) => return Ok(None),
    };
    let old = old.unwrap_or_default();
    let diff = settings::diff(&old, after);
    // Our mark is in it, and perhaps the user's words too: an older version of ours cannot be told from those.
    let keep = if old == text { Keep::Nothing } else { Keep::Backup };
    let changed = Changed { path: path.to_owned(), change, events: Vec::new(), backup: None, diff };
    Ok(Some(Plan { changed, after: after.as_bytes().to_vec(), keep, before }))
}

/// Leaves git and the folders as they should be after the files are.
fn tidy_up(
    world: &World,
    harness: &Harness,
    project: &Path,
    folder: &Path,
    scope: Scope,
    task: Task,
) -> Result<()> {
    let mut ours: Vec<PathBuf> =
        commands::all(harness, "thru").iter().map(|command| command_path(folder, &command.name)).collect();
    match (scope, task) {
        (Scope::User, _) => Ok(()),
        // What we wrote for one person is nobody else's business: it is excluded in this clone only.
        (Scope::Local, Task::Install) => {
            for (path, place) in local_files(harness, folder) {
                // A settings file that was there before us is the user's to show or to hide.
                if !was_there(world, &path, &place)? {
                    ours.push(path);
                }
            }
            git::exclude(project, &ours)
        }
        // What is everybody's must be seen, also where an install for one person had hidden it.
        (Scope::Project, Task::Install) => git::include(project, &ours),
        (_, Task::Uninstall) => {
            ours.extend(local_files(harness, folder).into_iter().map(|(path, _)| path));
            // The folder was perhaps ours too; one that holds anything stays.
            let _ = std::fs::remove_dir(folder);
            if scope == Scope::Local { git::include(project, &ours) } else { Ok(()) }
        }
    }
}

fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    match store::read_own(path, LARGEST) {
        Err(store::Error::Absent { .. }) => Ok(None),
        read => Ok(Some(read?)),
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let fail = |e: &std::io::Error| Error::stream(&path.display().to_string(), "write", e);
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Err(Error::Usage { what: format!("{}: not a file", path.display()), hint: String::new() });
    };
    std::fs::create_dir_all(folder).map_err(|e| fail(&e))?;
    Ok(Dir::open(folder)?.write(name, bytes, Durability::Synced)?)
}
