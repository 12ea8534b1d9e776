//! What only git itself can tell, asked by its own command. Never in a hook.

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

/// Adds paths to this clone's own list of what git does not show, unless it does not show them anyway.
pub fn exclude(project: &Path, paths: &[&Path]) -> Result<()> {
    let Some(file) = exclude_file(project) else { return Ok(()) };
    let before = std::fs::read_to_string(&file).unwrap_or_default();
    let mut lines = String::new();
    for path in paths.iter().filter(|path| !is_ignored(project, path)) {
        if let Ok(rel) = path.strip_prefix(project) {
            lines.push_str(&format!("/{}\n", rel.display()));
        }
    }
    if lines.is_empty() {
        return Ok(());
    }
    let gap = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    let text = match before.contains(MARK) {
        true => before.replacen(MARK, &format!("{MARK}\n{}", lines.trim_end()), 1),
        false => format!("{before}{gap}{MARK}\n{lines}"),
    };
    write(&file, &text)
}

/// Takes them out again: the mark and the lines below it that we put there.
pub fn include(project: &Path) -> Result<()> {
    let Some(file) = exclude_file(project) else { return Ok(()) };
    let Ok(before) = std::fs::read_to_string(&file) else { return Ok(()) };
    let mut ours = false;
    let kept: String = before
        .split_inclusive('\n')
        .filter(|line| {
            ours = line.trim_end() == MARK
                || ours && (line.starts_with("/.claude/") || line.starts_with("/.factory/"));
            !ours
        })
        .collect();
    if kept == before { Ok(()) } else { write(&file, &kept) }
}

fn exclude_file(project: &Path) -> Option<PathBuf> {
    let out = ask(project, &["rev-parse", "--git-path", "info/exclude"])?;
    Some(project.join(out.trim_end()))
}

fn write(file: &Path, text: &str) -> Result<()> {
    let (Some(folder), Some(name)) = (file.parent(), file.file_name().and_then(|name| name.to_str())) else {
        return Ok(());
    };
    std::fs::create_dir_all(folder).map_err(|e| Error::stream(&folder.display().to_string(), "make", &e))?;
    Ok(Dir::open(folder)?.write(name, text.as_bytes(), Durability::Synced)?)
}

/// What git prints; None when it is not there, or says no.
fn ask(project: &Path, args: &[&str]) -> Option<String> {
    let mut git = Command::new("git");
    git.arg("-C").arg(project).args(args).stdin(Stdio::null()).stderr(Stdio::null());
    let output = git.env("GIT_OPTIONAL_LOCKS", "0").output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
