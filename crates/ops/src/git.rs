//! What only git itself can tell, asked by its own command. Never in a hook.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use store::{Dir, Durability};

use crate::{Error, Result};

/// The line above what we keep out of git in one clone.
const MARK: &str = "# throughline: settings of one person, see `thru uninstall`";

pub fn is_tracked(project: &Path, path: &Path) -> bool {
    ask(project, &["ls-files", "--error-unmatch", "--", &path.to_string_lossy()]).is_some()
}

pub fn is_ignored(project: &Path, path: &Path) -> bool {
    ask(project, &["check-ignore", "-q", "--", &path.to_string_lossy()]).is_some()
}

/// Adds paths to this clone's own list of what git does not show, unless it does not show them anyway. A list that
/// cannot be read, or is a link, is somebody's arrangement: it stays as it is.
pub fn exclude(project: &Path, paths: &[&Path]) -> Result<()> {
    let Some((file, before)) = exclude_file(project) else { return Ok(()) };
    let hidden = paths.iter().filter(|path| !is_ignored(project, path));
    let lines: Vec<String> = hidden.filter_map(|path| line_for(project, path)).collect();
    if lines.is_empty() {
        return Ok(());
    }
    let gap = if before.is_empty() || before.ends_with(b"\n") { "" } else { "\n" };
    let mark = if contains_line(&before, MARK) { String::new() } else { format!("{MARK}\n") };
    let added = format!("{gap}{mark}{}\n", lines.join("\n"));
    write(&file, &[before, added.into_bytes()].concat())
}

/// Takes the lines for these paths out again, and the mark. With worktrees it leaves them: the list is everybody's, and
/// another checkout may still need it.
pub fn include(project: &Path, paths: &[&Path]) -> Result<()> {
    let Some((file, before)) = exclude_file(project) else { return Ok(()) };
    let worktrees = ask(project, &["worktree", "list", "--porcelain"]).unwrap_or_default();
    if worktrees.matches("worktree ").count() > 1 {
        return Ok(());
    }
    let mut ours: Vec<String> = paths.iter().filter_map(|path| line_for(project, path)).collect();
    ours.push(MARK.to_owned());
    let is_ours = |line: &&[u8]| ours.iter().any(|own| own.as_bytes() == line.trim_ascii_end());
    let kept: Vec<u8> =
        before.split_inclusive(|b| *b == b'\n').filter(|line| !is_ours(line)).flatten().copied().collect();
    if kept == before { Ok(()) } else { write(&file, &kept) }
}

/// Seen from the top of the checkout, as the list wants it.
fn line_for(project: &Path, path: &Path) -> Option<String> {
    let top = ask(project, &["rev-parse", "--show-toplevel"])?;
    let rel = path.strip_prefix(top.trim_end()).ok()?;
    Some(format!("/{}", rel.display()))
}

fn contains_line(bytes: &[u8], line: &str) -> bool {
    bytes.split(|b| *b == b'\n').any(|known| known.trim_ascii_end() == line.as_bytes())
}

/// The list and what it holds. None outside git, and where it is no plain file.
fn exclude_file(project: &Path) -> Option<(PathBuf, Vec<u8>)> {
    let out = ask(project, &["rev-parse", "--git-path", "info/exclude"])?;
    let file = project.join(out.trim_end());
    match file.symlink_metadata() {
        Ok(meta) if meta.is_file() => std::fs::read(&file).ok().map(|bytes| (file, bytes)),
        Ok(_) => None,
        Err(e) => (e.kind() == std::io::ErrorKind::NotFound).then(|| (file, Vec::new())),
    }
}

fn write(file: &Path, bytes: &[u8]) -> Result<()> {
    let (Some(folder), Some(name)) = (file.parent(), file.file_name().and_then(|name| name.to_str())) else {
        return Ok(());
    };
    std::fs::create_dir_all(folder).map_err(|e| Error::stream(&folder.display().to_string(), "make", &e))?;
    Ok(Dir::open(folder)?.write(name, bytes, Durability::Synced)?)
}

/// What git prints; None when it is not there, or says no.
fn ask(project: &Path, args: &[&str]) -> Option<String> {
    let output = run(project, args, Vec::new())?;
    Some(String::from_utf8_lossy(&output).into_owned())
}

/// Runs git, with `input` on its stdin, and gives its stdout. By hand, because the standard library's way panics when a
/// pipe cannot be read.
pub fn run(project: &Path, args: &[&str], input: Vec<u8>) -> Option<Vec<u8>> {
    let mut git = Command::new("git");
    git.arg("-C").arg(project).args(args).env("GIT_OPTIONAL_LOCKS", "0");
    let mut git = git.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    // From a thread: git answers while it is still being asked, and a full pipe would hold up both.
    let stdin = git.stdin.take();
    let asking = std::thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&input)));
    let mut output = Vec::new();
    let read = git.stdout.take().map(|mut stdout| stdout.read_to_end(&mut output));
    let _ = asking.join();
    let ended = git.wait();
    (matches!(read, Some(Ok(_))) && ended.is_ok_and(|status| status.success())).then_some(output)
}
