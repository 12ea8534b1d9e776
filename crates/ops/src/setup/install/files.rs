//! Opens a harness's files. Links in a project are not followed, but links in the user's own folders are.

use std::path::{Path, PathBuf};

use store::{Dir, FolderChange};

use super::InstallScope;
use crate::{Error, Result, World};

const MAX_SETTINGS_FILE_BYTES: usize = 16 * 1024 * 1024;

/// Returns the file to write for a path. A link in the user's own folders is followed, because many people keep their
/// settings under version control and link to them. A link in a project is refused, because it may have come with the
/// project and may lead anywhere.
pub(in crate::setup) fn file_to_write_for_path(
    project: &Path,
    scope: InstallScope,
    path: &Path,
) -> Result<PathBuf> {
    if scope == InstallScope::User {
        return Ok(real_path(path));
    }
    refuse_links(project, path)?;
    Ok(path.to_owned())
}

/// Returns an error if any part of the path from `project` to `path` is a symbolic link.
pub(crate) fn refuse_links(project: &Path, path: &Path) -> Result<()> {
    let mut topmost = None;
    for part in path.ancestors().take_while(|part| *part != project) {
        if store::metadata_without_following(part)?.is_some_and(|found| found.is_symlink()) {
            topmost = Some(part);
        }
    }
    let Some(link) = topmost else { return Ok(()) };
    let target = std::fs::read_link(link).unwrap_or_default();
    Err(Error::Refused {
        what: format!(
            "{}: this is a symbolic link to {}, and thru does not follow links in a project",
            link.display(),
            target.display()
        ),
        hint:
            "put a real file or folder in its place, or use --user for your own settings; nothing was changed"
                .into(),
    })
}

/// Opens the folder of a file that [`file_to_write_for_path`] returned. Returns the opened folder and the file's name.
/// Creates the folder if necessary. Folders that are created in the user's home are recorded, so that they can be
/// removed later.
pub(in crate::setup) fn open_folder(
    world: &World,
    project: &Path,
    scope: InstallScope,
    path: &Path,
) -> Result<(Dir, String)> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Err(Error::Usage { what: format!("{}: not a file", path.display()), hint: String::new() });
    };
    let inside =
        folder.strip_prefix(project).ok().and_then(Path::to_str).filter(|_| scope != InstallScope::User);
    let dir = match inside {
        // The kernel checks each part of the path again, so a link that has appeared since `file_to_write_for_path` is not
        // followed.
        Some(rel) => Dir::open(project)?.create_subfolder_by_umask(rel)?,
        None => {
            let fail = |e: &std::io::Error| Error::stream_error(&folder.display().to_string(), "make", e);
            let missing: Vec<&Path> = folder.ancestors().take_while(|above| !above.exists()).collect();
            std::fs::create_dir_all(folder).map_err(|e| fail(&e))?;
            for created in missing {
                // If this fails, an uninstallation may leave an empty folder behind, which does no harm.
                let _ = world
                    .installs()
                    .map_or(Ok(()), |list| list.add_folder(created, FolderChange::Created, world.now));
            }
            Dir::open(folder)?
        }
    };
    Ok((dir, name.to_owned()))
}

/// Removes a harness's folder if it is empty. In the user's home, it is removed only if thru created it.
pub(in crate::setup) fn remove_harness_folder(world: &World, scope: InstallScope, folder: &Path) {
    match scope {
        InstallScope::User => remove_created_folders(world),
        InstallScope::Local | InstallScope::Project => {
            // If the folder is not empty, this call fails and the folder is kept.
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// Removes the folders in the user's home that thru created and that are empty. Each removal is recorded. If another
/// program later creates a folder at the same path, that folder is therefore kept.
fn remove_created_folders(world: &World) {
    let Some(installs) = world.installs() else { return };
    let mut folders = installs.list_created_folders().unwrap_or_default();
    // Remove inner folders first, because only an empty folder can be removed.
    folders.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
    for folder in folders {
        // If the folder is not empty, this call fails and the folder is kept.
        if std::fs::remove_dir(&folder).is_ok() || !folder.exists() {
            let _ = installs.add_folder(&folder, FolderChange::Removed, world.now);
        }
    }
}

pub(in crate::setup) fn read_settings_file(path: &Path) -> Result<Option<Vec<u8>>> {
    match store::read_outside_store(path, MAX_SETTINGS_FILE_BYTES) {
        Err(store::Error::Absent { .. }) => Ok(None),
        read => Ok(Some(read?)),
    }
}

pub(super) fn real_path(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
