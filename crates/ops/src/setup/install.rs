//! `thru install` and `thru uninstall`: insert thru's hooks into a harness's settings, and remove them. The rest of
//! each file stays unchanged, and a backup is made first.

pub mod everywhere;
pub(super) mod files;
mod notes;
pub(super) mod places;
pub mod status_line;
mod unfit;

use std::path::{Path, PathBuf};

use harness::settings::{self, EditOutcome, HookChangeKind, HookCommand, HookEntry, HookTimeout};
use harness::{Harness, HookForm, HookTable, SettingsFile};
use model::event::EventName;
use serde::Serialize;
use store::git::CheckoutKind;
use store::{FoundRoot, ReplaceOutcome, Root};

use crate::project::git;
use crate::setup::backup::{back_up_file, read_backups_of_file};
use crate::{Error, ErrorKind, Result, World, WriteMode};
use files::{file_to_write_for_path, open_folder, read_settings_file, remove_harness_folder};
use notes::{hooks_still_called_note, install_not_recorded_note, status_line_still_shown_note};
use places::{
    FileAddedToHarness, do_main_hooks_run_in_worktrees, former_paths_of_renamed_commands, harness_folder,
    hook_files_of_scope, hook_table_of_harness, is_written_by_thru, local_hook_files, other_scope,
    settings_file, thru_files_for_harness,
};
use unfit::advice_for_tracked_file;

pub(crate) use files::refuse_links;
pub use notes::renamed_command_note;
pub use places::{
    CallingFile, IgnoredFile, THRU_VERSION, default_scope, files_that_call_thru, find_on_path,
    harnesses_in_use, ignored_files, installed_version, is_wired_file_ignored, is_wired_in_scope,
    signs_of_harness_use, transcript_retention_days, unusable_settings_files, wired_files_in_force,
};
pub use unfit::{
    TrackedSettings, is_file_ignored_by_harness, local_settings_file_tracked_by_git,
    note_on_file_ignored_by_harness, tracked_settings,
};

/// How many times an edit is attempted if another program keeps changing the file.
const MAX_WRITE_ATTEMPTS: usize = 5;

/// Whose settings file is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum InstallScope {
    /// One user's file for one project. It is not in git.
    Local,
    /// One user's file, which applies to all projects.
    User,
    /// The project's file, which is in git and applies to everybody.
    Project,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstallTask {
    Install,
    Uninstall,
}

#[derive(Clone, Debug, Serialize)]
pub struct InstallReport {
    pub harness: &'static str,
    pub scope: InstallScope,
    /// Whether the changes were written. False in a dry run, which reports what would be done.
    pub written: bool,
    pub files: Vec<FileChangedByInstall>,
    /// The files that could not be read and were not changed. They may still contain thru's hooks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<FailedFile>,
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct FailedFile {
    pub path: PathBuf,
    pub error: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct FileChangedByInstall {
    pub path: PathBuf,
    pub change: FileChange,
    /// The events whose hooks were added, updated or removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup: Option<PathBuf>,
    /// The change, in the format of `diff -u`.
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

/// Runs the task for the named harness in the current project. `scope` is the user's choice, if the user made one.
pub fn run_for_harness_name(
    world: &World,
    name: &str,
    scope: Option<InstallScope>,
    task: InstallTask,
    mode: WriteMode,
) -> Result<InstallReport> {
    let harness = harness::harness_by_name(name).ok_or_else(|| Error::Usage {
        what: format!("unknown harness `{name}`"),
        hint: "`thru harness list` shows the known harnesses".into(),
    })?;
    let scope = scope.unwrap_or_else(|| default_scope(harness));
    let root = match world.find_root() {
        Ok(FoundRoot::Marked { root, .. } | FoundRoot::Unmarked(root)) => root,
        // No root is needed, because the user's own settings do not belong to a project.
        Err(Error::Refused { .. }) if scope == InstallScope::User => {
            let here = world.require_cwd()?.to_owned();
            Root { path: here.clone(), checkout: here }
        }
        Err(error) => return Err(error),
    };
    if scope != InstallScope::User && task == InstallTask::Install {
        world.refuse_unfit_root(&root)?;
    }
    run_in_worktrees(world, harness, &root.checkout, scope, task, mode)
}

/// Runs the task. Files in the local scope are changed in all worktrees of the repository, so that one call is
/// enough.
pub fn run_in_worktrees(
    world: &World,
    harness: &'static Harness,
    checkout: &Path,
    scope: InstallScope,
    task: InstallTask,
    mode: WriteMode,
) -> Result<InstallReport> {
    let mut report = run_in_checkout(world, harness, checkout, scope, task, mode)?;
    let worktrees = if scope == InstallScope::Local { git::list_worktrees(checkout) } else { Vec::new() };
    for other in worktrees.iter().skip(1) {
        match run_in_checkout(world, harness, other, scope, task, mode) {
            Ok(InstallReport { files, failed, notes, .. }) => {
                // All worktrees share one exclude list, so report it only once.
                let is_new =
                    |file: &FileChangedByInstall| !report.files.iter().any(|known| known.path == file.path);
                let files: Vec<FileChangedByInstall> = files.into_iter().filter(is_new).collect();
                report.files.extend(files);
                report.failed.extend(failed);
                let notes: Vec<String> =
                    notes.into_iter().filter(|note| !report.notes.contains(note)).collect();
                report.notes.extend(notes);
            }
            Err(error) => {
                report.notes.push(format!("the worktree {} is left unchanged: {error}", other.display()));
            }
        }
    }
    match task {
        InstallTask::Install if worktrees.len() > 1 => {
            let later = match has_main_checkout(&worktrees) && do_main_hooks_run_in_worktrees(harness) {
                true => {
                    format!(
                        "in a worktree that you add later, {} runs the hooks of the main checkout",
                        harness.title
                    )
                }
                false => format!(
                    "run `thru init` in each worktree that you add later, or run `thru install {} --user` once",
                    harness.name
                ),
            };
            report.notes.push(format!("all {} worktrees are wired; {later}", worktrees.len()));
        }
        InstallTask::Install => {}
        InstallTask::Uninstall => {
            let undone = |path: &Path| report.files.iter().any(|file| file.path == path);
            let left =
                files_that_call_thru(world, harness, checkout).into_iter().filter(|file| !undone(&file.path));
            let notes: Vec<String> = left.map(|file| hooks_still_called_note(harness, &file.path)).collect();
            report.notes.extend(notes);
            let line = status_line::file_with_our_status_line(world, harness)
                .filter(|_| scope != InstallScope::User);
            report.notes.extend(line.map(|path| status_line_still_shown_note(harness, &path)));
        }
    }
    Ok(report)
}

/// Returns whether one of these worktrees is the main checkout. A bare repository has no main checkout.
fn has_main_checkout(worktrees: &[PathBuf]) -> bool {
    worktrees
        .iter()
        .any(|tree| matches!(store::git::checkout_kind(tree), Some(CheckoutKind::OrdinaryCheckout)))
}

fn run_in_checkout(
    world: &World,
    harness: &'static Harness,
    project: &Path,
    scope: InstallScope,
    task: InstallTask,
    mode: WriteMode,
) -> Result<InstallReport> {
    let folder = harness_folder(world, harness, project, scope)?;
    if task == InstallTask::Install && scope != InstallScope::Project && !world.program_path.is_absolute() {
        return Err(Error::Refused {
            what: "thru cannot determine its own path, so the harness would be unable to call thru".into(),
            hint: "run thru by its full path, or use --project, which looks for thru on PATH".into(),
        });
    }
    if task == InstallTask::Install
        && !hook_entries(world, harness, scope).iter().all(|entry| entry.command.is_thru_hook())
    {
        return Err(Error::Refused {
            what: format!(
                "{}: hooks that call a program with this name would not be recognised as thru's hooks",
                world.program_path.display()
            ),
            hint: "rename the program to `thru`, or to another name that begins with `thru`".into(),
        });
    }
    let job = InstallJob { world, harness, project, folder, scope, task, mode };
    let mut report = InstallReport {
        harness: harness.name,
        scope,
        written: mode == WriteMode::Write,
        files: Vec::new(),
        failed: Vec::new(),
        notes: Vec::new(),
    };
    // Check everything before writing anything, so that an error does not leave an incomplete installation.
    let mut plans = job.plan_files(&mut report)?;
    if mode == WriteMode::Write {
        // Record the checkout first, so that an interrupted installation is found later.
        if task == InstallTask::Install && scope != InstallScope::User {
            let recorded =
                world.installs().map_or(Ok(()), |installs| installs.add_checkout(project, world.now));
            report.notes.extend(recorded.err().map(|error| install_not_recorded_note(&error)));
        }
        for plan in &mut plans {
            job.carry_out_plan(plan)?;
        }
        for folder in plans.iter().filter_map(|plan| plan.folder_possibly_emptied(&job.folder)) {
            // thru may have created this folder. If it is not empty, this call fails and the folder is kept.
            let _ = std::fs::remove_dir(folder);
        }
        if task == InstallTask::Uninstall {
            remove_harness_folder(world, scope, &job.folder);
        }
    }
    // Plan the exclude list only after the files have been written. In a dry run nothing has been written, and the
    // plan shows what the list would be.
    let hidden = job.plan_exclude_list(&plans)?;
    if let (WriteMode::Write, Some(change)) = (mode, &hidden) {
        change.write()?;
    }
    if task == InstallTask::Install {
        // Show this note only when the commands are first written.
        let are_new = plans.iter().any(|plan| plan.changed.change == FileChange::Created);
        report.notes.extend(renamed_command_note(harness).filter(|_| are_new));
        if scope == InstallScope::Local {
            report.notes.extend(plans.iter().filter_map(|plan| visible_settings_note(project, plan)));
        }
    }
    report.files =
        plans.into_iter().map(|plan| plan.changed).chain(hidden.map(exclude_list_changed)).collect();
    Ok(report)
}

/// Returns a warning if a settings file existed before the installation and is not hidden from git. The next commit
/// would include thru's hooks, which contain paths on this machine.
fn visible_settings_note(project: &Path, plan: &PlannedFileChange) -> Option<String> {
    let path = &plan.changed.path;
    let is_theirs = plan.changed.change == FileChange::Changed && plan.content_before.is_some();
    if !is_theirs || !git::would_git_add_file(project, path) {
        return None;
    }
    Some(format!(
        "{}: git does not ignore this file, which now contains hooks with paths on this machine; add it to .gitignore \
         unless you want to commit it",
        path.display()
    ))
}

fn exclude_list_changed(change: git::ExcludeListChange) -> FileChangedByInstall {
    let old = change.content_before.as_deref().unwrap_or_default();
    FileChangedByInstall {
        change: if change.content_before.is_some() { FileChange::Changed } else { FileChange::Created },
        events: Vec::new(),
        backup: None,
        diff: settings::unified_diff(
            &String::from_utf8_lossy(old),
            &String::from_utf8_lossy(&change.content_after),
        ),
        path: change.file,
    }
}

struct InstallJob<'a> {
    world: &'a World<'a>,
    harness: &'static Harness,
    project: &'a Path,
    /// The harness's folder in this scope.
    folder: PathBuf,
    scope: InstallScope,
    task: InstallTask,
    mode: WriteMode,
}

struct PlannedFileChange {
    changed: FileChangedByInstall,
    content_before: Option<Vec<u8>>,
    /// The new content, which is empty if the file is removed.
    content_after: Vec<u8>,
    backup_policy: BackupPolicy,
    kind: PlannedFileKind,
}

/// The input from which a plan can be made again.
#[derive(Clone, Debug)]
enum PlannedFileKind {
    Settings(SettingsFile),
    StatusLine(SettingsFile),
    /// A file that contains only text written by thru. The fields are the text, and whether to install or remove it.
    WholeFile(String, InstallTask),
}

/// Whether to back up a file's old content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BackupPolicy {
    Backup,
    /// No backup is needed, because the old content is exactly the text that thru writes.
    NoBackup,
}

impl PlannedFileChange {
    /// If one of thru's files was removed, returns the folder that contained it, which may be empty now. Returns `None`
    /// if that folder is the harness's own folder.
    fn folder_possibly_emptied(&self, folder: &Path) -> Option<&Path> {
        let FileChangedByInstall { path, change, .. } = &self.changed;
        path.parent().filter(|parent| *change == FileChange::Removed && *parent != folder)
    }
}

impl InstallJob<'_> {
    fn plan_files(&self, report: &mut InstallReport) -> Result<Vec<PlannedFileChange>> {
        let InstallJob { world, harness, project, scope, task, .. } = *self;
        if scope == InstallScope::Local && task == InstallTask::Install {
            git::refuse_linked_exclude_list(project)?;
        }
        let files = match task {
            InstallTask::Install => settings_file(harness, &self.folder, scope)?.into_iter().collect(),
            InstallTask::Uninstall => hook_files_of_scope(harness, scope),
        };
        let mut plans = Vec::new();
        for file in files {
            match self.plan_settings(&file, &mut report.notes) {
                // A file that cannot be parsed must not prevent the removal of thru's hooks from other files.
                Err(error) if task == InstallTask::Uninstall && error.kind() == ErrorKind::Damaged => {
                    let path = self.folder.join(file.name);
                    report.failed.push(FailedFile { path, error: error.to_string() });
                }
                planned => plans.extend(planned?),
            }
        }
        // The local scope and the project scope share one folder. Uninstalling one scope must not remove thru's files
        // while the other scope is installed.
        let still_used = task == InstallTask::Uninstall
            && other_scope(scope).is_some_and(|other| is_wired_in_scope(world, harness, project, other));
        let own =
            if still_used { Vec::new() } else { thru_files_for_harness(world, harness, &self.folder, scope) };
        let resolved = |path: &PathBuf| file_to_write_for_path(project, scope, path);
        let own_paths = own.iter().map(|file| resolved(&file.path)).collect::<Result<Vec<_>>>()?;
        let former = former_paths_of_renamed_commands(harness, &self.folder)
            .iter()
            .map(resolved)
            .collect::<Result<Vec<_>>>()?;
        let tracked = match scope {
            InstallScope::Project => Vec::new(),
            InstallScope::Local | InstallScope::User => {
                git::tracked_paths(project, &[&own_paths[..], &former[..]].concat())?
            }
        };
        for (path, FileAddedToHarness { text, .. }) in own_paths.into_iter().zip(own) {
            if tracked.contains(&path) {
                report.notes.push(format!(
                    "{}: this file is in git, so it belongs to the project; it is left unchanged",
                    path.display()
                ));
                continue;
            }
            plans.extend(plan_own_file(&path, &text, task, &mut report.notes)?);
        }
        // Older versions of thru installed some commands under names that the harness now uses itself. Remove these
        // old command files.
        for path in former.iter().filter(|path| !tracked.contains(path)) {
            plans.extend(plan_own_file(path, "", InstallTask::Uninstall, &mut Vec::new())?);
        }
        Ok(plans)
    }

    /// Carries out the plan. If another program has changed the file since it was read, the plan is made again.
    fn carry_out_plan(&self, plan: &mut PlannedFileChange) -> Result<()> {
        for _ in 0..MAX_WRITE_ATTEMPTS {
            if self.try_to_write(plan)? == ReplaceOutcome::Done {
                return Ok(());
            }
            let path = plan.changed.path.clone();
            let again = match plan.kind.clone() {
                PlannedFileKind::Settings(file) => self.plan_settings(&file, &mut Vec::new())?,
                PlannedFileKind::StatusLine(file) => self.plan_status_line(&file)?,
                PlannedFileKind::WholeFile(text, task) => plan_own_file(&path, &text, task, &mut Vec::new())?,
            };
            match again {
                Some(again) => *plan = again,
                // The file no longer exists, so nothing needs to be removed.
                None => plan.changed.change = FileChange::Unchanged,
            }
        }
        Err(Error::Busy {
            what: format!("{}: another program kept changing it", plan.changed.path.display()),
            hint: "close the program that edits it, then try again; this file was not changed".into(),
        })
    }

    fn try_to_write(&self, plan: &mut PlannedFileChange) -> Result<ReplaceOutcome> {
        let path = &plan.changed.path;
        if plan.changed.change == FileChange::Unchanged {
            return Ok(ReplaceOutcome::Done);
        }
        if let Some(before) =
            plan.content_before.as_deref().filter(|_| plan.backup_policy == BackupPolicy::Backup)
        {
            plan.changed.backup = back_up_file(self.world, path, before)?;
        }
        let (dir, name) = open_folder(self.world, self.project, self.scope, path)?;
        Ok(match (plan.changed.change, &plan.content_before) {
            (FileChange::Removed, Some(before)) => dir.remove_if_unchanged(&name, before)?,
            _ => dir.replace_if_unchanged(&name, plan.content_before.as_deref(), &plan.content_after)?,
        })
    }

    /// Reads one settings file and edits it in memory. Returns `None` if there is nothing to remove from it.
    fn plan_settings(
        &self,
        file: &SettingsFile,
        notes: &mut Vec<String>,
    ) -> Result<Option<PlannedFileChange>> {
        let InstallJob { world, harness, project, scope, task, .. } = *self;
        let path = file_to_write_for_path(project, scope, &self.folder.join(file.name))?;
        if scope == InstallScope::Local && task == InstallTask::Install && git::is_tracked(project, &path)? {
            return Err(Error::Refused {
                what: format!("{}: this file is in git, so it is not yours alone", path.display()),
                hint: advice_for_tracked_file(world, harness, project),
            });
        }
        let before = read_settings_file(&path)?;
        if before.is_none() && task == InstallTask::Uninstall {
            return Ok(None);
        }
        let outcome = edit_hooks(world, harness, scope, task, before.as_deref(), file, &path)?;
        if let Ok(Some(line)) =
            settings::line_disabling_hooks(before.as_deref().unwrap_or_default(), &file.hook_location)
        {
            notes.push(format!("{}:{line}: hooks are switched off there", path.display()));
        }
        if task == InstallTask::Install && is_file_ignored_by_harness(harness, &outcome.bytes) {
            notes.push(format!("{}: {}", path.display(), note_on_file_ignored_by_harness(harness)));
        }
        file_plan(world, path, before, outcome, *file).map(Some)
    }

    fn plan_exclude_list(&self, plans: &[PlannedFileChange]) -> Result<Option<git::ExcludeListChange>> {
        let InstallJob { world, harness, project, scope, task, .. } = *self;
        let folder = &self.folder;
        let own: Vec<PathBuf> =
            thru_files_for_harness(world, harness, folder, scope).into_iter().map(|file| file.path).collect();
        match (scope, task) {
            (InstallScope::User, _) => Ok(None),
            // Files in the local scope do not concern other people, so they are hidden from git in this clone.
            (InstallScope::Local, InstallTask::Install) => {
                let mut settings = Vec::new();
                for (path, place) in local_hook_files(harness, folder) {
                    // Do not hide a settings file that existed before the installation. The user decides whether git
                    // ignores it.
                    let held = plans
                        .iter()
                        .find(|plan| plan.changed.path == path)
                        .and_then(|plan| plan.content_before.as_ref());
                    let is_theirs = held.is_some_and(|bytes| {
                        !settings::find_thru_hooks(bytes, &place).is_ok_and(|hooks| !hooks.is_empty())
                    });
                    if !is_theirs && !existed_before_us(world, &path, &place)? {
                        settings.push(path);
                    }
                }
                // All worktrees share one exclude list. If the user's own file is at one of these paths in any
                // worktree, it must not be hidden from git. Older versions of thru did hide such files.
                let worktrees = git::list_worktrees(project);
                let is_theirs = |path: &PathBuf| {
                    let inside = path.strip_prefix(project).ok();
                    inside.is_some_and(|inside| {
                        worktrees.iter().any(|tree| is_file_of_someone_else(&tree.join(inside)))
                    })
                };
                let (theirs, own): (Vec<PathBuf>, Vec<PathBuf>) = own.into_iter().partition(is_theirs);
                git::change_exclude_list(project, &[own, settings].concat(), &theirs)
            }
            // Shared files must be visible to git, even if an earlier local installation hid them.
            (InstallScope::Project, InstallTask::Install) => git::remove_from_exclude_list(project, &own),
            (InstallScope::Project, InstallTask::Uninstall) => Ok(None),
            (InstallScope::Local, InstallTask::Uninstall) => {
                // All worktrees share one exclude list, so its lines are needed as long as hooks are installed in
                // another worktree.
                let others = git::list_worktrees(project);
                let is_wired =
                    |other: &PathBuf| is_wired_in_scope(world, harness, other, InstallScope::Local);
                if self.mode == WriteMode::Write && others.iter().skip(1).any(is_wired) {
                    return Ok(None);
                }
                let settings = local_hook_files(harness, folder).into_iter().map(|(path, _)| path);
                git::remove_from_exclude_list(project, &own.into_iter().chain(settings).collect::<Vec<_>>())
            }
        }
    }
}

/// Returns whether the file at this path exists and was not written by any version of thru.
fn is_file_of_someone_else(path: &Path) -> bool {
    let text = read_settings_file(path).ok().flatten();
    text.is_some_and(|text| !is_written_by_thru(&String::from_utf8_lossy(&text)))
}

fn edit_hooks(
    world: &World,
    harness: &Harness,
    scope: InstallScope,
    task: InstallTask,
    before: Option<&[u8]>,
    file: &SettingsFile,
    path: &Path,
) -> Result<EditOutcome> {
    let done = match (task, before) {
        (InstallTask::Install, before) => {
            settings::install_hooks(before, &file.hook_location, &hook_entries(world, harness, scope))
        }
        // Remove the status line first, because it was inserted after the hooks.
        (InstallTask::Uninstall, Some(bytes)) => status_line::without_status_line(harness, scope, bytes)
            .and_then(|bytes| settings::uninstall_hooks(&bytes, &file.hook_location)),
        (InstallTask::Uninstall, None) => {
            Ok(EditOutcome { bytes: Vec::new(), changes: Vec::new(), is_now_blank: true })
        }
    };
    done.map_err(|problem| {
        Error::Store(store::Error::Damaged {
            path: path.to_owned(),
            line: None,
            why: format!("{problem}; the file is left unchanged"),
        })
    })
}

fn hook_entries(world: &World, harness: &Harness, scope: InstallScope) -> Vec<HookEntry> {
    let Some(HookTable { hook_form, timeout_unit, .. }) = hook_table_of_harness(harness) else {
        return Vec::new();
    };
    let program = world.program_path.to_string_lossy();
    let command = |event: &str| {
        let args = ["hook", harness.name, event];
        match (scope, hook_form) {
            // A hook in a shared file finds thru on the PATH, and does nothing if thru is not installed.
            (InstallScope::Project, _) => HookCommand::shell_command_if_installed(&args),
            (_, HookForm::Exec) => {
                HookCommand::Exec { program: program.to_string(), args: args.map(str::to_owned).to_vec() }
            }
            (_, HookForm::Shell) => HookCommand::shell_command(&program, &args),
        }
    };
    // A loop's validators run at a stop, so the stop hook gets their time limit.
    let stop_timeout = crate::project::settings::settings_here(world).settings().validator_timeout;
    let entry = |wired: &harness::RegisteredEvent| {
        let seconds = if wired.our_event == EventName::Stop { stop_timeout } else { wired.timeout };
        HookEntry {
            event: wired.harness_event.to_owned(),
            matcher: None,
            command: command(wired.harness_event),
            timeout: HookTimeout { seconds, unit: *timeout_unit },
        }
    };
    harness.events.iter().map(entry).collect()
}

fn file_plan(
    world: &World,
    path: PathBuf,
    content_before: Option<Vec<u8>>,
    outcome: EditOutcome,
    file: SettingsFile,
) -> Result<PlannedFileChange> {
    let old = content_before.as_deref().unwrap_or_default();
    // If the file did not exist before the installation, it must not exist after the removal. If the user had an
    // empty file, there is a backup of it.
    let remove = outcome.bytes.is_empty()
        && content_before.is_some()
        && !existed_before_us(world, &path, &file.hook_location)?;
    let touched = outcome.changes.iter().filter(|change| change.kind != HookChangeKind::Kept);
    let change = match &content_before {
        _ if outcome.bytes == old => FileChange::Unchanged,
        None => FileChange::Created,
        Some(_) if remove => FileChange::Removed,
        Some(_) => FileChange::Changed,
    };
    let changed = FileChangedByInstall {
        change,
        events: touched.map(|change| change.event.clone()).collect(),
        backup: None,
        diff: settings::unified_diff(&String::from_utf8_lossy(old), &String::from_utf8_lossy(&outcome.bytes)),
        path,
    };
    let backup_policy = if remove { BackupPolicy::NoBackup } else { BackupPolicy::Backup };
    Ok(PlannedFileChange {
        changed,
        content_before,
        content_after: outcome.bytes,
        backup_policy,
        kind: PlannedFileKind::Settings(file),
    })
}

/// Returns whether the user had this settings file before the installation. If so, one of its backups contains none of
/// thru's hooks.
fn existed_before_us(world: &World, path: &Path, place: &settings::HookLocation) -> Result<bool> {
    let is_ours =
        |bytes: &Vec<u8>| settings::find_thru_hooks(bytes, place).is_ok_and(|hooks| !hooks.is_empty());
    Ok(read_backups_of_file(world, path)?.iter().any(|bytes| !is_ours(bytes)))
}

fn plan_own_file(
    path: &Path,
    text: &str,
    task: InstallTask,
    notes: &mut Vec<String>,
) -> Result<Option<PlannedFileChange>> {
    let content_before = read_settings_file(path)?;
    let old = content_before.as_deref().map(String::from_utf8_lossy);
    let (change, after) = match (task, &old) {
        (_, Some(old)) if !is_written_by_thru(old) => {
            notes.push(format!(
                "{}: one of your own files has this name; it is left unchanged",
                path.display()
            ));
            return Ok(None);
        }
        (InstallTask::Install, Some(old)) if old == text => (FileChange::Unchanged, text),
        (InstallTask::Install, Some(_)) => (FileChange::Changed, text),
        (InstallTask::Install, None) => (FileChange::Created, text),
        (InstallTask::Uninstall, Some(_)) => (FileChange::Removed, ""),
        (InstallTask::Uninstall, None) => return Ok(None),
    };
    let old = old.unwrap_or_default();
    let diff = settings::unified_diff(&old, after);
    // The old file has thru's mark, but the user may have edited it. Such edits cannot be distinguished from an older
    // version of thru's text, so make a backup.
    let backup_policy = if old == text { BackupPolicy::NoBackup } else { BackupPolicy::Backup };
    let changed =
        FileChangedByInstall { path: path.to_owned(), change, events: Vec::new(), backup: None, diff };
    let kind = PlannedFileKind::WholeFile(text.to_owned(), task);
    Ok(Some(PlannedFileChange {
        changed,
        content_after: after.as_bytes().to_vec(),
        backup_policy,
        content_before,
        kind,
    }))
}
