//! Where a harness keeps its settings, and what of ours is in them.

use std::path::{Path, PathBuf};

use harness::settings;
use harness::{File, HARNESSES, Harness, HookTable, Install};

use super::Scope;
use super::files::read;
use crate::{Error, Result, World};

/// The table of hooks that we write into. The only place that knows how a harness can be installed: a second kind of
/// [`Install`] does not compile here.
pub(super) fn hook_table(harness: &Harness) -> &HookTable {
    let Install::HookTable(table) = &harness.install;
    table
}

/// The harnesses that this person or this project uses, by what can be seen of them.
pub fn in_use(world: &World, project: &Path) -> Vec<&'static Harness> {
    let used = |harness: &&Harness| {
        let home = user_folder(world, harness).is_some_and(|folder| is_lived_in(&folder));
        home || is_lived_in(&project.join(harness.folder)) || on_path(world, harness.program).is_some()
    };
    HARNESSES.iter().filter(used).collect()
}

/// An empty folder tells of nobody: uninstalling leaves one where there was nothing before.
fn is_lived_in(folder: &Path) -> bool {
    match std::fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_some(),
        Err(_) => folder.is_dir(),
    }
}

/// What would have shown that a harness is in use, for whoever wonders why none was found.
pub fn signs(world: &World, project: &Path) -> Vec<String> {
    let signs_of = |harness: &Harness| {
        let (program, folder) = (harness.program, harness.folder);
        let home = user_folder(world, harness).map_or(String::new(), |home| format!(", {}", home.display()));
        let here = project.join(folder);
        format!("{}: `{program}` on the PATH{home}, {}", harness.title, here.display())
    };
    HARNESSES.iter().map(signs_of).collect()
}

fn on_path(world: &World, program: &str) -> Option<PathBuf> {
    let path = (world.var)("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|dir| dir.join(program)).find(|program| program.is_file())
}

/// The version of a harness, by where its program lies: nothing is started, because a harness that starts may well go
/// to the network. None where it is not installed, or its place does not tell.
pub fn version(world: &World, harness: &Harness) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Package {
        version: String,
    }
    let program = on_path(world, harness.program)?.canonicalize().ok()?;
    // Its own installer keeps each version under its number; npm keeps a package file above the program.
    let name = program.file_name()?.to_string_lossy().into_owned();
    if name.starts_with(|c: char| c.is_ascii_digit()) && name.contains('.') {
        return Some(name);
    }
    let packages = program.ancestors().skip(1).take(4).map(|folder| folder.join("package.json"));
    let bytes = packages.filter_map(|file| read(&file).ok().flatten()).next()?;
    serde_json::from_slice::<Package>(&bytes).ok().map(|package| package.version)
}

/// Where hooks go unless the user says otherwise: a file that is not in git.
pub fn usual_scope(harness: &Harness) -> Scope {
    if hook_table(harness).local.is_some() { Scope::Local } else { Scope::User }
}

/// Which of our hooks are in a harness's settings, anywhere: for the doctor.
pub fn wired(world: &World, harness: &Harness, project: &Path) -> Vec<(PathBuf, Vec<settings::Found>)> {
    let mut found = Vec::new();
    for scope in [Scope::Local, Scope::User, Scope::Project] {
        let Ok(folder) = folder(world, harness, project, scope) else { continue };
        let files = files_of(harness, scope);
        for file in files {
            let path = folder.join(file.name);
            let Ok(Some(bytes)) = read(&path) else { continue };
            match settings::find(&bytes, &file.place) {
                Ok(hooks) if !hooks.is_empty() => found.push((path, hooks)),
                _ => {}
            }
        }
    }
    found
}

/// Settings files that cannot be used, and why: whatever hooks they hold, they do not run.
pub fn unusable(world: &World, harness: &Harness, project: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for scope in [Scope::Local, Scope::User, Scope::Project] {
        let Ok(folder) = folder(world, harness, project, scope) else { continue };
        for file in files_of(harness, scope) {
            let path = folder.join(file.name);
            let problem = match read(&path) {
                Ok(None) => continue,
                Ok(Some(bytes)) => {
                    settings::find(&bytes, &file.place).err().map(|problem| problem.to_string())
                }
                Err(error) => Some(error.to_string()),
            };
            found.extend(problem.map(|problem| (path, problem)));
        }
    }
    found
}

/// After how many days a harness deletes its transcripts, as far as it does.
pub fn transcripts_kept(world: &World, harness: &Harness) -> Option<u32> {
    let folder = user_folder(world, harness)?;
    let text = read(&folder.join(hook_table(harness).file.name)).ok().flatten().unwrap_or_default();
    (harness.transcripts_kept)(&String::from_utf8_lossy(&text))
}

/// Whether our hooks are in the files of this scope.
pub fn is_wired_in(world: &World, harness: &Harness, project: &Path, scope: Scope) -> bool {
    let Ok(folder) = folder(world, harness, project, scope) else { return false };
    let files: Vec<PathBuf> = files_of(harness, scope).iter().map(|file| folder.join(file.name)).collect();
    wired(world, harness, project).iter().any(|(path, _)| files.contains(path))
}

/// Every file of a scope that can hold hooks.
pub(super) fn files_of(harness: &Harness, scope: Scope) -> Vec<File> {
    let table = hook_table(harness);
    match (scope, table.local) {
        (Scope::Local, Some(name)) => vec![File { name, ..table.file }],
        (Scope::Local, None) => Vec::new(),
        _ => std::iter::once(table.file).chain(table.other).collect(),
    }
}

pub(super) fn folder(world: &World, harness: &Harness, project: &Path, scope: Scope) -> Result<PathBuf> {
    match scope {
        Scope::Local if hook_table(harness).local.is_none() => Err(Error::Refused {
            what: format!("{} has no settings of one person for one project", harness.title),
            hint: "say --user for your own settings, or --project for the project's".into(),
        }),
        Scope::Local | Scope::Project => Ok(project.join(harness.folder)),
        Scope::User => user_folder(world, harness).ok_or_else(|| Error::Refused {
            what: "HOME is not set, so there is no folder for your settings".into(),
            hint: "set HOME to your home folder".into(),
        }),
    }
}

fn user_folder(world: &World, harness: &Harness) -> Option<PathBuf> {
    let named = harness.folder_variable.and_then(|name| world.path(name));
    named.or_else(|| Some(world.path("HOME")?.join(harness.folder)))
}

pub(super) fn settings_file(harness: &Harness, folder: &Path, scope: Scope) -> File {
    let table = hook_table(harness);
    if let (Scope::Local, Some(name)) = (scope, table.local) {
        return File { name, ..table.file };
    }
    match table.other {
        Some(other) if !folder.join(table.file.name).exists() && holds_hooks(folder, &other) => other,
        _ => table.file,
    }
}

fn holds_hooks(folder: &Path, file: &File) -> bool {
    let text = read(&folder.join(file.name)).ok().flatten();
    text.is_some_and(|bytes| String::from_utf8_lossy(&bytes).contains("\"hooks\""))
}

pub(super) fn local_files(harness: &Harness, folder: &Path) -> Vec<(PathBuf, settings::HookLocation)> {
    let files = files_of(harness, Scope::Local);
    files.into_iter().map(|file| (folder.join(file.name), file.place)).collect()
}

/// The scope that shares this one's folder.
pub(super) fn other_scope(scope: Scope) -> Option<Scope> {
    match scope {
        Scope::Local => Some(Scope::Project),
        Scope::Project => Some(Scope::Local),
        Scope::User => None,
    }
}

/// Where a harness looks for commands, below its folder.
pub(super) const COMMANDS: &str = "commands";

pub(super) fn command_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(COMMANDS).join(format!("{name}.md"))
}
