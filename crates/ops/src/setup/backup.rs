//! Keeps copies of other programs' files, made before thru changes those files.

use std::path::{Path, PathBuf};

use model::time;
use store::Dir;

use crate::{Error, Result, World};

/// The size limit of a backup. The settings files that thru changes are never this large.
const MAX_BACKUP_BYTES: usize = 16 * 1024 * 1024;

/// Makes a backup outside the project and outside the harness's folders. Only the user can read it, because settings
/// can contain keys. It never replaces an earlier backup. Returns `None` if there is no folder for backups.
pub(crate) fn back_up_file(world: &World, path: &Path, bytes: &[u8]) -> Result<Option<PathBuf>> {
    let Some(folder) = backups_folder(world) else { return Ok(None) };
    use std::os::unix::fs::DirBuilderExt;
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    made.map_err(|e| Error::stream_error(&folder.display().to_string(), "make", &e))?;
    let (dir, stamp, name) =
        (Dir::open(&folder)?, time::format_time_for_file_name(world.now), flatten_path(path));
    for count in 1..1_000 {
        let name = if count == 1 { format!("{stamp}{name}") } else { format!("{stamp}-{count}{name}") };
        if dir.create_private_file(&name, bytes)? {
            return Ok(Some(folder.join(name)));
        }
    }
    Ok(None)
}

pub(crate) fn read_backups_of_file(world: &World, path: &Path) -> Result<Vec<Vec<u8>>> {
    let Some(folder) = backups_folder(world) else { return Ok(Vec::new()) };
    let dir = match Dir::open(&folder) {
        Err(store::Error::Absent { .. }) => return Ok(Vec::new()),
        dir => dir?,
    };
    let entries = dir.entries()?.into_iter().filter(|entry| is_backup_of(&entry.name, &flatten_path(path)));
    entries.map(|entry| Ok(dir.read_file(&entry.name, MAX_BACKUP_BYTES)?)).collect()
}

/// Returns whether `name` is a backup of exactly this path. If so, only a time, and perhaps a number, precedes the
/// path. If anything else precedes the path, `name` is a backup of a longer path with the same ending.
fn is_backup_of(name: &str, flat: &str) -> bool {
    let Some(before) = name.strip_suffix(flat) else { return false };
    let (stamp, count) = before.split_once('-').unwrap_or((before, "1"));
    stamp.ends_with('Z') && count.parse::<usize>().is_ok()
}

fn backups_folder(world: &World) -> Option<PathBuf> {
    world.state_folder().map(|state| state.join("backups"))
}

/// Converts a path to a single file name.
fn flatten_path(path: &Path) -> String {
    path.to_string_lossy().replace(['/', '\\'], "-")
}
