//! Opens a harness's files. Links in a project are not followed, but links in the user's own folders are.

use std::path::{Path, PathBuf};

use store::Dir;

use super::InstallScope;
use crate::{Error, Result};

const MAX_FILE_BYTES: usize = 16 * 1024 * 1024;

/// Returns the file to write for a path. A link in the user's own folders is followed, because many people keep their
/// settings under version control and link to them. A link in a project is refused, because it may have come with the
/// project and may lead anywhere.
pub(in crate::setup) fn resolve_target(project: &Path, scope: InstallScope, path: &Path) -> Result<PathBuf> {
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

/// Opens the folder of a file that [`resolve_target`] returned, and returns it with the file's name. Creates the
/// folder if necessary.
pub(in crate::setup) fn open_folder(
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
        // The kernel checks each part of the path again, so a link that has appeared since `resolve_target` is not
        // followed.
        Some(rel) => Dir::open(project)?.create_subfolder_by_umask(rel)?,
        None => {
            let fail = |e: &std::io::Error| Error::stream_error(&folder.display().to_string(), "make", e);
            std::fs::create_dir_all(folder).map_err(|e| fail(&e))?;
            Dir::open(folder)?
        }
    };
    Ok((dir, name.to_owned()))
}

pub(in crate::setup) fn read_settings_file(path: &Path) -> Result<Option<Vec<u8>>> {
    match store::read_outside_store(path, MAX_FILE_BYTES) {
        Err(store::Error::Absent { .. }) => Ok(None),
        read => Ok(Some(read?)),
    }
}

pub(super) fn real_path(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
