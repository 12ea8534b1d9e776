//! Finds out where a harness keeps its settings and which of thru's entries they contain.

use std::path::{Path, PathBuf};

use harness::commands;
use harness::plugin::{self, InstalledPlugin};
use harness::settings;
use harness::{HARNESSES, Harness, HookTable, InstallMethod, Plugin, SettingsFile, UserFolder};
use serde::Serialize;
use store::git::CheckoutKind;

use super::files::read_settings_file;
use super::{InstallScope, is_file_ignored_by_harness, note_on_file_ignored_by_harness};
use crate::{Error, Result, World};

pub(super) fn hook_table_of_harness(harness: &Harness) -> Option<&HookTable> {
    match &harness.install {
        InstallMethod::HookTable(table) => Some(table),
        InstallMethod::Plugin(_) => None,
    }
}

pub(super) fn plugin_of_harness(harness: &Harness) -> Option<&Plugin> {
    match &harness.install {
        InstallMethod::Plugin(plugin) => Some(plugin),
        InstallMethod::HookTable(_) => None,
    }
}

/// A file through which a harness calls thru.
#[derive(Clone, Debug)]
pub struct CallingFile {
    pub path: PathBuf,
    /// The events for which the harness calls thru, under the harness's own names.
    pub events: Vec<String>,
    pub plugin: Option<InstalledPlugin>,
}

/// Returns the harnesses that the user or the project seems to use.
pub fn harnesses_in_use(world: &World, project: &Path) -> Vec<&'static Harness> {
    let used = |harness: &&Harness| {
        let home = user_folder(world, harness).is_some_and(|folder| has_content(&folder));
        home || has_content(&project.join(harness.folder)) || find_on_path(world, harness.program).is_some()
    };
    HARNESSES.iter().filter(used).collect()
}

/// Returns whether a folder has content. An empty folder does not show that a harness is in use, because an
/// uninstallation can leave one behind.
fn has_content(folder: &Path) -> bool {
    match std::fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_some(),
        Err(_) => folder.is_dir(),
    }
}

/// Returns, for each harness, the signs which show that it is in use. They are shown to the user if no harness is
/// found.
pub fn signs_of_harness_use(world: &World, project: &Path) -> Vec<String> {
    let signs_of = |harness: &Harness| {
        let sign = |folder: &Path| match folder.is_dir() {
            true => format!("{} (which is empty)", folder.display()),
            false => folder.display().to_string(),
        };
        let home = user_folder(world, harness).map_or(String::new(), |home| format!(", {}", sign(&home)));
        let here = sign(&project.join(harness.folder));
        format!("{}: `{}` on the PATH{home}, {here}", harness.title, harness.program)
    };
    HARNESSES.iter().map(signs_of).collect()
}

pub fn find_on_path(world: &World, program: &str) -> Option<PathBuf> {
    let path = (world.read_variable)("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|dir| dir.join(program)).find(|program| program.is_file())
}

/// Returns a harness's version, if it can be found from the path of the harness's program. The program is not run,
/// because it might access the network. Returns `None` if the harness is not installed or its version cannot be found.
pub fn installed_version(world: &World, harness: &Harness) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct PackageJson {
        version: String,
    }
    let program = find_on_path(world, harness.program)?.canonicalize().ok()?;
    // The harness's own installer names the program after its version. If npm installed it, a `package.json` in a
    // folder above the program contains the version.
    let name = program.file_name()?.to_string_lossy().into_owned();
    if name.starts_with(|c: char| c.is_ascii_digit()) && name.contains('.') {
        return Some(name);
    }
    let packages = program.ancestors().skip(1).take(4).map(|folder| folder.join("package.json"));
    let bytes = packages.filter_map(|file| read_settings_file(&file).ok().flatten()).next()?;
    serde_json::from_slice::<PackageJson>(&bytes).ok().map(|package| package.version)
}

/// Returns the scope in which hooks are installed by default. The settings file of that scope is not in git.
pub fn default_scope(harness: &Harness) -> InstallScope {
    match hook_table_of_harness(harness) {
        Some(table) if table.local_file.is_none() => InstallScope::User,
        _ => InstallScope::Local,
    }
}

/// Returns all files through which a harness calls thru, in any scope.
pub fn files_that_call_thru(world: &World, harness: &Harness, project: &Path) -> Vec<CallingFile> {
    let mut found = Vec::new();
    if let Some(plugin) = plugin_of_harness(harness) {
        let folders = [InstallScope::Local, InstallScope::User]
            .map(|scope| harness_folder(world, harness, project, scope));
        for path in folders.into_iter().flatten().map(|folder| folder.join(plugin.file)) {
            if let Some(installed) = installed_plugin(plugin, &path) {
                let events = harness.events.iter().map(|wired| wired.harness_event.to_owned()).collect();
                found.push(CallingFile { path, events, plugin: Some(installed) });
            }
        }
    }
    for scope in [InstallScope::Local, InstallScope::User, InstallScope::Project] {
        let Ok(folder) = harness_folder(world, harness, project, scope) else { continue };
        let files = hook_files_of_scope(harness, scope);
        for file in files {
            let path = folder.join(file.name);
            let Ok(Some(bytes)) = read_settings_file(&path) else { continue };
            match settings::find_thru_hooks(&bytes, &file.hook_location) {
                Ok(hooks) if !hooks.is_empty() => {
                    let events = hooks.into_iter().map(|hook| hook.event).collect();
                    found.push(CallingFile { path, events, plugin: None });
                }
                _ => {}
            }
        }
    }
    found
}

/// Returns the files through which a harness calls thru in this checkout. If the checkout is a worktree, some of
/// these files can be in the main checkout.
pub fn wired_files_in_force(world: &World, harness: &Harness, checkout: &Path) -> Vec<CallingFile> {
    let mut found = files_that_call_thru(world, harness, checkout);
    if !is_wired_in_scope(world, harness, checkout, InstallScope::Local)
        && do_main_hooks_run_in_worktrees(harness)
        && let Some(CheckoutKind::Worktree { main_checkout }) = store::git::checkout_kind(checkout)
    {
        let local = local_hook_files(harness, &main_checkout.join(harness.folder));
        let of_main = files_that_call_thru(world, harness, &main_checkout);
        found.extend(of_main.into_iter().filter(|file| local.iter().any(|(path, _)| *path == file.path)));
    }
    found
}

/// A settings file that contains thru's hooks but is ignored by its harness.
#[derive(Clone, Debug, Serialize)]
pub struct IgnoredFile {
    pub harness: &'static str,
    pub path: PathBuf,
    pub why: String,
}

/// Returns the files that contain thru's hooks but are ignored by their harness. The hooks in these files do not run.
pub fn ignored_files(world: &World, checkout: &Path) -> Vec<IgnoredFile> {
    let of_harness = |harness: &'static Harness| {
        let wired = wired_files_in_force(world, harness, checkout).into_iter();
        wired.filter(move |file| is_wired_file_ignored(harness, file)).map(move |file| IgnoredFile {
            harness: harness.name,
            path: file.path,
            why: note_on_file_ignored_by_harness(harness),
        })
    };
    HARNESSES.iter().flat_map(of_harness).collect()
}

pub fn is_wired_file_ignored(harness: &Harness, file: &CallingFile) -> bool {
    let bytes = read_settings_file(&file.path).ok().flatten().filter(|_| file.plugin.is_none());
    bytes.is_some_and(|bytes| is_file_ignored_by_harness(harness, &bytes))
}

/// Returns whether the main checkout's hooks run in every worktree, including worktrees that are added later.
pub(super) fn do_main_hooks_run_in_worktrees(harness: &Harness) -> bool {
    hook_table_of_harness(harness).is_some_and(|table| table.local_serves_worktrees)
}

/// Returns the properties of thru's plugin at this path, or `None` if the file does not exist or thru did not write
/// it.
fn installed_plugin(plugin: &Plugin, path: &Path) -> Option<InstalledPlugin> {
    let bytes = read_settings_file(path).ok()??;
    plugin::parse_installed_plugin(plugin, &String::from_utf8_lossy(&bytes))
}

/// Returns the settings files that cannot be used, each with the reason. Hooks in these files do not run.
pub fn unusable_settings_files(world: &World, harness: &Harness, project: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for scope in [InstallScope::Local, InstallScope::User, InstallScope::Project] {
        let Ok(folder) = harness_folder(world, harness, project, scope) else { continue };
        for file in hook_files_of_scope(harness, scope) {
            let path = folder.join(file.name);
            let problem = match read_settings_file(&path) {
                Ok(None) => continue,
                Ok(Some(bytes)) => settings::find_thru_hooks(&bytes, &file.hook_location)
                    .err()
                    .map(|problem| problem.to_string()),
                Err(error) => Some(error.to_string()),
            };
            found.extend(problem.map(|problem| (path, problem)));
        }
    }
    found
}

/// Returns the number of days after which a harness deletes its transcripts, or `None` if it keeps them forever.
pub fn transcript_retention_days(world: &World, harness: &Harness) -> Option<u32> {
    let folder = user_folder(world, harness)?;
    let file = hook_table_of_harness(harness).map(|table| folder.join(table.file.name));
    let text = file.and_then(|file| read_settings_file(&file).ok().flatten()).unwrap_or_default();
    (harness.retention_days)(&String::from_utf8_lossy(&text))
}

/// Returns whether the files of this scope contain thru's hooks.
pub fn is_wired_in_scope(world: &World, harness: &Harness, project: &Path, scope: InstallScope) -> bool {
    let Ok(folder) = harness_folder(world, harness, project, scope) else { return false };
    if let Some(plugin) = plugin_of_harness(harness) {
        // The local and the shared plugin have the same path, so they are distinguished by the program that they
        // call.
        let found = installed_plugin(plugin, &folder.join(plugin.file));
        return found
            .is_some_and(|found| (found.thru_path == PROGRAM_NAME) == (scope == InstallScope::Project));
    }
    let files: Vec<PathBuf> =
        hook_files_of_scope(harness, scope).iter().map(|file| folder.join(file.name)).collect();
    files_that_call_thru(world, harness, project).iter().any(|wired| files.contains(&wired.path))
}

/// Returns all files of a scope that can contain hooks.
pub(super) fn hook_files_of_scope(harness: &Harness, scope: InstallScope) -> Vec<SettingsFile> {
    let Some(table) = hook_table_of_harness(harness) else { return Vec::new() };
    match (scope, table.local_file) {
        (InstallScope::Local, Some(name)) => vec![SettingsFile { name, ..table.file }],
        (InstallScope::Local, None) => Vec::new(),
        _ => std::iter::once(table.file).chain(table.alternative_file).collect(),
    }
}

pub(super) fn harness_folder(
    world: &World,
    harness: &Harness,
    project: &Path,
    scope: InstallScope,
) -> Result<PathBuf> {
    match scope {
        InstallScope::Local if default_scope(harness) == InstallScope::User => Err(Error::Refused {
            what: format!("{} has no personal settings for one project", harness.title),
            hint: "use --user for your own settings, or --project for the project's".into(),
        }),
        InstallScope::Local | InstallScope::Project => Ok(project.join(harness.folder)),
        InstallScope::User => user_folder(world, harness).ok_or_else(|| Error::Refused {
            what: "HOME is not set, so there is no folder for your settings".into(),
            hint: "set HOME to your home folder".into(),
        }),
    }
}

pub(in crate::setup) fn user_folder(world: &World, harness: &Harness) -> Option<PathBuf> {
    let named = harness.folder_variable.and_then(|name| world.absolute_path_variable(name));
    named.or_else(|| match harness.user_folder {
        UserFolder::Folder => Some(world.absolute_path_variable("HOME")?.join(harness.folder)),
        UserFolder::Config(name) => Some(world.user_config_folder()?.join(name)),
    })
}

pub(super) fn settings_file(
    harness: &Harness,
    folder: &Path,
    scope: InstallScope,
) -> Result<Option<SettingsFile>> {
    let Some(table) = hook_table_of_harness(harness) else { return Ok(None) };
    if let (InstallScope::Local, Some(name)) = (scope, table.local_file) {
        return Ok(Some(SettingsFile { name, ..table.file }));
    }
    let is_there = store::metadata_without_following(&folder.join(table.file.name))?.is_some();
    Ok(Some(match table.alternative_file {
        Some(other) if !is_there && mentions_hooks(folder, &other) => other,
        _ => table.file,
    }))
}

fn mentions_hooks(folder: &Path, file: &SettingsFile) -> bool {
    let text = read_settings_file(&folder.join(file.name)).ok().flatten();
    text.is_some_and(|bytes| String::from_utf8_lossy(&bytes).contains("\"hooks\""))
}

pub(super) fn local_hook_files(harness: &Harness, folder: &Path) -> Vec<(PathBuf, settings::HookLocation)> {
    let files = hook_files_of_scope(harness, InstallScope::Local);
    files.into_iter().map(|file| (folder.join(file.name), file.hook_location)).collect()
}

pub(super) fn other_scope(scope: InstallScope) -> Option<InstallScope> {
    match scope {
        InstallScope::Local => Some(InstallScope::Project),
        InstallScope::Project => Some(InstallScope::Local),
        InstallScope::User => None,
    }
}

/// The program name in a shared file, which is looked up on the PATH.
pub(in crate::setup) const PROGRAM_NAME: &str = "thru";

#[derive(Clone, Debug)]
pub(super) struct FileAddedToHarness {
    pub path: PathBuf,
    pub text: String,
}

/// Returns the files that thru adds to a harness besides changing its settings: slash commands and a plugin.
pub(super) fn thru_files_for_harness(
    world: &World,
    harness: &Harness,
    folder: &Path,
    scope: InstallScope,
) -> Vec<FileAddedToHarness> {
    let program = match scope {
        InstallScope::Project => PROGRAM_NAME.into(),
        _ => world.program_path.to_string_lossy(),
    };
    let words = settings::quote_shell_word(&program);
    let command = |command: commands::SlashCommand| FileAddedToHarness {
        path: folder.join(COMMANDS_FOLDER).join(format!("{}.md", command.name)),
        text: command.text,
    };
    let mut files: Vec<FileAddedToHarness> =
        commands::command_files(harness, &words).into_iter().map(command).collect();
    if let Some(plugin) = plugin_of_harness(harness) {
        let patience = crate::project::settings::settings_here(world).settings().validator_timeout;
        let text = plugin::plugin_file_text(harness, plugin, &program, THRU_VERSION, patience);
        files.push(FileAddedToHarness { path: folder.join(plugin.file), text });
    }
    files
}

/// Older versions of thru installed some commands under names that the harness now uses for its own commands. Returns
/// the paths of these old command files.
pub(super) fn former_paths_of_renamed_commands(harness: &Harness, folder: &Path) -> Vec<PathBuf> {
    let names = commands::command_names_taken_by_harness(harness)
        .into_iter()
        .filter(|_| plugin_of_harness(harness).is_none());
    names.map(|name| folder.join(COMMANDS_FOLDER).join(format!("{name}.md"))).collect()
}

/// Returns whether any version of thru wrote this text.
pub(super) fn is_written_by_thru(text: &str) -> bool {
    commands::is_our_command_file(text) || plugin::is_our_plugin(text)
}

/// This program's version, which installed plugins should have too.
pub const THRU_VERSION: &str = env!("CARGO_PKG_VERSION");

/// Where a harness looks for commands, relative to its folder.
const COMMANDS_FOLDER: &str = "commands";
