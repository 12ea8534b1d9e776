//! File system calls that differ between systems: opening a file without following links, renaming to a free name,
//! and syncing a folder. Linux has a single call for each of these operations. Other systems and old kernels need
//! several steps.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{self, AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::{Errno, Result};

/// Flags for every call that opens a file. `NONBLOCK` keeps a hook from hanging if it finds a pipe in place of a
/// file.
pub const OPEN_FLAGS: OFlags = OFlags::CLOEXEC.union(OFlags::NOCTTY).union(OFlags::NONBLOCK);

/// The flag for opening each folder along a path. On Linux, it requires only search permission, like a single call
/// for the whole path.
#[cfg(target_os = "linux")]
const FOLDER_FLAGS: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const FOLDER_FLAGS: OFlags = OFlags::RDONLY;

/// Opens the file `rel` beneath a folder. Fails with `LOOP` if any part of the name is a symbolic link, and with
/// `XDEV` if the name leads out of the folder.
pub fn open_beneath(at: BorrowedFd, rel: &str, flags: OFlags, mode: Mode) -> Result<OwnedFd> {
    match kernel::open_beneath(at, rel, flags, mode) {
        // Old kernels lack this call, and some sandboxes refuse calls that they do not know.
        Err(Errno::NOSYS | Errno::PERM) => by_parts::open_beneath(at, rel, flags, mode),
        opened => opened,
    }
}

/// Opens `path`. Fails with `LOOP` if any part of it is a symbolic link.
pub fn open_without_links(path: &Path, flags: OFlags) -> Result<OwnedFd> {
    match kernel::open_without_links(path, flags) {
        Err(Errno::NOSYS | Errno::PERM) => by_parts::open_without_links(path, flags),
        opened => opened,
    }
}

/// Renames an entry within a folder. Fails with `EXIST` if the new name is taken.
pub fn rename_if_new_name_is_free(at: BorrowedFd, from: &str, to: &str) -> Result<()> {
    match fs::renameat_with(at, from, at, to, fs::RenameFlags::NOREPLACE) {
        // Some kernels and file systems cannot check the new name and rename in one step, so use two steps.
        Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP) => {}
        renamed => return renamed,
    }
    match fs::statat(at, to, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => fs::renameat(at, from, at, to),
        Ok(_) => Err(Errno::EXIST),
        Err(e) => Err(e),
    }
}

/// Syncs a folder, so that created, renamed and removed entries survive a power cut.
pub fn sync_folder(folder: BorrowedFd) -> Result<()> {
    // On macOS, `fsync` leaves the data in the disk's cache, so try the stronger call first. Some file systems do not
    // support it.
    #[cfg(target_os = "macos")]
    if fs::fcntl_fullfsync(folder).is_ok() {
        return Ok(());
    }
    fs::fsync(folder)
}

#[cfg(target_os = "linux")]
mod kernel {
    use rustix::fs::{ResolveFlags, openat2};

    use super::{BorrowedFd, CWD, Errno, Mode, OFlags, OPEN_FLAGS, OwnedFd, Path, Result};

    /// The maximum number of attempts to open a path.
    const MAX_OPEN_TRIES: usize = 16;

    pub fn open_beneath(at: BorrowedFd, rel: &str, flags: OFlags, mode: Mode) -> Result<OwnedFd> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let mut opened = Err(Errno::AGAIN);
        // While anything on the machine is being renamed, the kernel cannot safely resolve `..` and returns `EAGAIN`.
        // So try again.
        for _ in 0..MAX_OPEN_TRIES {
            opened = openat2(at, rel, flags | OPEN_FLAGS, mode, resolve);
            if !matches!(opened, Err(Errno::AGAIN)) {
                break;
            }
        }
        opened
    }

    pub fn open_without_links(path: &Path, flags: OFlags) -> Result<OwnedFd> {
        openat2(CWD, path, flags | OPEN_FLAGS, Mode::empty(), ResolveFlags::NO_SYMLINKS)
    }
}

#[cfg(not(target_os = "linux"))]
mod kernel {
    use super::{BorrowedFd, Errno, Mode, OFlags, OwnedFd, Path, Result};

    pub fn open_beneath(_: BorrowedFd, _: &str, _: OFlags, _: Mode) -> Result<OwnedFd> {
        Err(Errno::NOSYS)
    }

    pub fn open_without_links(_: &Path, _: OFlags) -> Result<OwnedFd> {
        Err(Errno::NOSYS)
    }
}

/// Opens one folder after another and keeps each handle, so that no folder can be replaced after it was checked.
mod by_parts {
    use super::{
        AsFd, BorrowedFd, CWD, Component, Errno, FOLDER_FLAGS, Mode, OFlags, OPEN_FLAGS, OwnedFd, Path,
        Result, fs, is_link,
    };

    /// Opens a file beneath a folder. Unlike the kernel's call, this function always rejects `..`.
    pub fn open_beneath(at: BorrowedFd, rel: &str, flags: OFlags, mode: Mode) -> Result<OwnedFd> {
        let mut folder: Option<OwnedFd> = None;
        let mut parts = rel.split('/').peekable();
        while let Some(part) = parts.next() {
            match part {
                // The name is absolute or leads upwards.
                "" if folder.is_none() && parts.peek().is_some() => return Err(Errno::XDEV),
                ".." => return Err(Errno::XDEV),
                "" | "." => return Err(Errno::INVAL),
                _ => {}
            }
            let from = folder.as_ref().map_or(at, AsFd::as_fd);
            folder = Some(match parts.peek() {
                Some(_) => open_path_part(from, part, OFlags::DIRECTORY | FOLDER_FLAGS, Mode::empty())?,
                None => open_path_part(from, part, flags, mode)?,
            });
        }
        folder.ok_or(Errno::INVAL)
    }

    pub fn open_without_links(path: &Path, flags: OFlags) -> Result<OwnedFd> {
        let start = if path.is_absolute() { "/" } else { "." };
        let mut folder =
            fs::openat(CWD, start, OFlags::DIRECTORY | FOLDER_FLAGS | OPEN_FLAGS, Mode::empty())?;
        let mut parts =
            path.components().filter(|part| !matches!(part, Component::RootDir | Component::CurDir));
        let Some(mut part) = parts.next() else {
            return fs::openat(CWD, start, flags | OPEN_FLAGS, Mode::empty());
        };
        // The system resolves `..` to the parent of the open folder, and no link was followed to reach that folder.
        for next in parts {
            folder = open_path_part(
                folder.as_fd(),
                part.as_os_str(),
                OFlags::DIRECTORY | FOLDER_FLAGS,
                Mode::empty(),
            )?;
            part = next;
        }
        open_path_part(folder.as_fd(), part.as_os_str(), flags, Mode::empty())
    }

    fn open_path_part(
        at: BorrowedFd,
        name: impl rustix::path::Arg + Copy,
        flags: OFlags,
        mode: Mode,
    ) -> Result<OwnedFd> {
        match fs::openat(at, name, flags | OPEN_FLAGS | OFlags::NOFOLLOW, mode) {
            // With `O_DIRECTORY`, the system reports a link as "not a folder", so check whether it is a link.
            Err(Errno::NOTDIR) if is_link(at, name) => Err(Errno::LOOP),
            opened => opened,
        }
    }
}

fn is_link(at: BorrowedFd, name: impl rustix::path::Arg) -> bool {
    fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
}

#[cfg(test)]
#[path = "system_tests.rs"]
mod tests;
