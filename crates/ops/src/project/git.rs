//! Runs git for information that git's files do not show directly. Hooks never run git.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use model::redact::{RedactOptions, Redacted};
use store::git::CheckoutKind;
use store::{Dir, ReplaceOutcome};

use crate::{Error, Result};

/// How long git may take to answer. After this time, it is killed.
const GIT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long to wait for git's output before checking again whether git is still running.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The size limit of git's output. None of the git commands below prints more.
const MAX_OUTPUT_BYTES: usize = 256 * 1024 * 1024;
/// The size limit of an exclude list.
const MAX_GIT_EXCLUDE_LIST_BYTES: usize = 4 * 1024 * 1024;
/// Options that keep git from running other commands. Even if git only reads, the settings of a repository can make
/// it run commands, and those settings may come from an archive or another person. The options also keep git from
/// using a bare repository among the project's files.
const SAFE_GIT_OPTIONS: &[&str] = &[
    "--no-pager",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "safe.bareRepository=explicit",
];

/// The line above the paths that thru excludes from git in one clone.
const EXCLUDE_MARK: &str = "# throughline: settings of one person, see `thru uninstall`";
/// The mark that is used if the file did not end with a newline before thru added its lines.
const EXCLUDE_MARK_AFTER_JOINED_LINE: &str =
    "# throughline: settings of one person, see `thru uninstall` (the line above had no end)";

/// Returns those of the given paths that git tracks. All paths are checked with one call, because each call starts a
/// process.
pub fn tracked_paths(project: &Path, paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let Some(RepositoryPaths { top_folder, .. }) = find_repository(project)? else { return Ok(Vec::new()) };
    // Pass only paths inside the repository, because git fails for all paths if one is outside.
    let inside: Vec<&PathBuf> = paths.iter().filter(|path| path.starts_with(&top_folder)).collect();
    if inside.is_empty() {
        return Ok(Vec::new());
    }
    let names: Vec<_> = inside.iter().map(|path| path.to_string_lossy()).collect();
    let mut args = vec!["--literal-pathspecs", "ls-files", "--full-name", "-z", "--"];
    args.extend(names.iter().map(|name| &**name));
    let listed = run_git(project, &args, Vec::new())?.unwrap_or_default();
    let listed: HashSet<PathBuf> =
        listed.split(|b| *b == 0).map(|name| top_folder.join(OsStr::from_bytes(name))).collect();
    Ok(inside.into_iter().filter(|path| listed.contains(*path)).cloned().collect())
}

pub fn is_tracked(project: &Path, path: &Path) -> Result<bool> {
    Ok(!tracked_paths(project, &[path.to_owned()])?.is_empty())
}

/// Returns those of the given paths that git ignores. The list is empty if git fails.
pub fn ignored_paths(project: &Path, paths: &[&str]) -> Vec<String> {
    if paths.is_empty() {
        return Vec::new();
    }
    let input = paths.join("\0").into_bytes();
    let answer =
        run_git(project, &["check-ignore", "-z", "--stdin"], input).ok().flatten().unwrap_or_default();
    answer.split(|b| *b == 0).filter_map(|path| String::from_utf8(path.to_vec()).ok()).collect()
}

/// Returns whether `git add -A` would add a file, that is, whether the file is in a repository and neither tracked nor
/// ignored.
pub fn would_git_add_file(project: &Path, path: &Path) -> bool {
    let path = path.to_string_lossy();
    let args = ["--literal-pathspecs", "ls-files", "--others", "--exclude-standard", "--", &path];
    run_git(project, &args, Vec::new()).ok().flatten().is_some_and(|listed| !listed.is_empty())
}

/// Returns an error if the path of this clone's exclude list contains a link, because the change would then be
/// written to another file.
pub fn refuse_linked_exclude_list(project: &Path) -> Result<()> {
    let Some(RepositoryPaths { exclude_file: file, .. }) = find_own_repository(project)? else {
        return Ok(());
    };
    // In a worktree or a submodule, the list is not below the project. It is in the repository that the project
    // belongs to.
    let repository = file.ancestors().nth(2).unwrap_or(&file);
    let base = if file.starts_with(project) { project } else { repository };
    crate::setup::install::refuse_links(base, &file)
}

/// A change to the exclude list of this clone.
#[derive(Debug)]
pub struct ExcludeListChange {
    pub file: PathBuf,
    pub content_before: Option<Vec<u8>>,
    pub content_after: Vec<u8>,
}

impl ExcludeListChange {
    pub fn write(&self) -> Result<()> {
        write_exclude_list(&self.file, self.content_before.as_deref(), &self.content_after)
    }
}

/// Adds paths to this clone's exclude list, unless git ignores them already.
pub fn add_to_exclude_list(project: &Path, paths: &[PathBuf]) -> Result<Option<ExcludeListChange>> {
    change_exclude_list(project, paths, &[])
}

/// Removes thru's lines for these paths from the exclude list. If none of thru's lines is left, the comment above
/// them is removed too.
pub fn remove_from_exclude_list(project: &Path, paths: &[PathBuf]) -> Result<Option<ExcludeListChange>> {
    change_exclude_list(project, &[], paths)
}

/// Adds the paths in `hide` to this clone's exclude list, unless git ignores them already, and removes thru's lines
/// for the paths in `show`. No path may be in both lists.
pub fn change_exclude_list(
    project: &Path,
    hide: &[PathBuf],
    show: &[PathBuf],
) -> Result<Option<ExcludeListChange>> {
    let Some(ExcludeList { top_folder, file, content }) = read_exclude_list(project)? else {
        return Ok(None);
    };
    let before = content.as_deref().unwrap_or_default();
    let shown: Vec<String> = show.iter().filter_map(|path| exclude_line_for(&top_folder, path)).collect();
    let names: Vec<_> = hide.iter().map(|path| path.to_string_lossy()).collect();
    let ignored = ignored_paths(project, &names.iter().map(|name| &**name).collect::<Vec<_>>());
    let hidden: Vec<String> = names
        .iter()
        .filter(|name| !ignored.iter().any(|path| path == *name))
        .filter_map(|name| exclude_line_for(&top_folder, Path::new(&**name)))
        .collect();
    let content_after = with_exclude_lines(without_exclude_lines(before, &shown), &hidden);
    Ok((content_after != before).then_some(ExcludeListChange {
        file,
        content_before: content,
        content_after,
    }))
}

fn with_exclude_lines(list: Vec<u8>, lines: &[String]) -> Vec<u8> {
    let new: Vec<&str> =
        lines.iter().filter(|line| !contains_line(&list, line)).map(String::as_str).collect();
    if new.is_empty() {
        return list;
    }
    let has_gap = !list.is_empty() && !list.ends_with(b"\n");
    let (gap, mark) = if has_gap { ("\n", EXCLUDE_MARK_AFTER_JOINED_LINE) } else { ("", EXCLUDE_MARK) };
    let mark = if exclude_mark_position(&list).is_some() { String::new() } else { format!("{mark}\n") };
    let added = format!("{gap}{mark}{}\n", new.join("\n"));
    [list, added.into_bytes()].concat()
}

/// Removes the lines in `ours` that are below thru's comment in the list. Lines above the comment belong to the user.
fn without_exclude_lines(list: &[u8], ours: &[String]) -> Vec<u8> {
    let Some(mark) = exclude_mark_position(list).filter(|_| !ours.is_empty()) else { return list.to_vec() };
    let is_ours = |line: &[u8]| ours.iter().any(|own| own.as_bytes() == line.trim_ascii_end());
    let numbered = list.split_inclusive(|b| *b == b'\n').enumerate();
    let mut lines: Vec<&[u8]> =
        numbered.filter(|(i, line)| *i < mark || !is_ours(line)).map(|(_, line)| line).collect();
    if !lines.get(mark + 1).is_some_and(|next| next.starts_with(b"/")) {
        let joined = lines.remove(mark).trim_ascii_end() == EXCLUDE_MARK_AFTER_JOINED_LINE.as_bytes();
        // Also remove the line end that thru added before its marker line, unless the user has added lines after
        // thru's lines.
        let is_last = mark > 0 && mark == lines.len();
        if let Some(last) = lines.last_mut().filter(|_| joined && is_last) {
            *last = last.strip_suffix(b"\n").unwrap_or(last);
        }
    }
    lines.concat()
}

/// Returns the paths that thru has excluded in this clone.
pub fn excluded_paths(project: &Path) -> Result<Vec<PathBuf>> {
    let Some(ExcludeList { top_folder, content, .. }) = read_exclude_list(project)? else {
        return Ok(Vec::new());
    };
    let content = content.unwrap_or_default();
    let lines = content.split(|b| *b == b'\n').skip_while(|line| !is_exclude_mark(line)).skip(1);
    let ours = lines.map_while(|line| std::str::from_utf8(line).ok()?.trim_end().strip_prefix('/'));
    Ok(ours.map(|path| top_folder.join(path)).collect())
}

/// Returns all checkouts of this checkout's repository, beginning with this one. A checkout that belongs to another
/// repository is left out.
pub fn list_worktrees(checkout: &Path) -> Vec<PathBuf> {
    let mut found = vec![checkout.to_owned()];
    let Some(main) = main_checkout(checkout) else { return found };
    let listed =
        run_git_text(checkout, &["worktree", "list", "--porcelain"]).ok().flatten().unwrap_or_default();
    for path in listed.lines().filter_map(|line| line.strip_prefix("worktree ")).map(PathBuf::from) {
        let is_known = found.iter().any(|known| known.canonicalize().ok() == path.canonicalize().ok());
        if !is_known && main_checkout(&path).as_ref() == Some(&main) {
            found.push(path);
        }
    }
    found
}

/// Returns the checkout of this repository in which a reference such as `refs/heads/main` is checked out, if there is
/// one besides this checkout.
pub fn worktree_with_reference(checkout: &Path, reference: &str) -> Option<PathBuf> {
    let branch = reference.strip_prefix("refs/heads/")?;
    let is_there = |tree: &PathBuf| store::git::read_head(tree).is_some_and(|head| head.branch == branch);
    list_worktrees(checkout).into_iter().skip(1).find(is_there)
}

/// Returns whether two checkouts belong to the same repository. This reads only git's files.
pub fn is_same_repository(one: &Path, other: &Path) -> bool {
    let main = main_checkout(one);
    main.is_some() && main == main_checkout(other)
}

/// Returns the main checkout of a checkout's repository.
fn main_checkout(dir: &Path) -> Option<PathBuf> {
    match store::git::checkout_kind(dir) {
        Some(CheckoutKind::Worktree { main_checkout }) => Some(main_checkout),
        Some(CheckoutKind::OrdinaryCheckout) => dir.canonicalize().ok(),
        _ => None,
    }
}

/// Returns the exclude-list line for a path, or `None` if the path is outside the checkout.
fn exclude_line_for(top: &Path, path: &Path) -> Option<String> {
    Some(format!("/{}", path.strip_prefix(top).ok()?.display()))
}

fn is_exclude_mark(line: &[u8]) -> bool {
    [EXCLUDE_MARK, EXCLUDE_MARK_AFTER_JOINED_LINE].iter().any(|mark| line.trim_ascii_end() == mark.as_bytes())
}

fn exclude_mark_position(bytes: &[u8]) -> Option<usize> {
    bytes.split(|b| *b == b'\n').position(is_exclude_mark)
}

fn contains_line(bytes: &[u8], line: &str) -> bool {
    bytes.split(|b| *b == b'\n').any(|known| known.trim_ascii_end() == line.as_bytes())
}

struct RepositoryPaths {
    top_folder: PathBuf,
    exclude_file: PathBuf,
}

/// Returns the repository that contains the project, or `None` if the project is not in git.
fn find_repository(project: &Path) -> Result<Option<RepositoryPaths>> {
    let Some(out) = run_git_text(project, &["rev-parse", "--show-toplevel", "--git-path", "info/exclude"])?
    else {
        return Ok(None);
    };
    let mut lines = out.lines();
    let (Some(top), Some(exclude)) = (lines.next(), lines.next()) else { return Ok(None) };
    Ok(Some(RepositoryPaths { top_folder: PathBuf::from(top), exclude_file: project.join(exclude) }))
}

/// Returns the repository, but only if its exclude list belongs to this checkout. A `.git` that came with the files
/// can name any repository, or be a link to one. The function that writes the list also refuses links in the rest of
/// its path.
fn find_own_repository(project: &Path) -> Result<Option<RepositoryPaths>> {
    let Some(found) = find_repository(project)? else { return Ok(None) };
    let is_folder = store::metadata_without_following(&found.top_folder.join(".git"))?
        .is_some_and(|found| found.is_dir());
    // Also accept a worktree or a submodule. `checkout_kind` has checked that the checkout belongs to the repository
    // that its `.git` file names.
    let is_listed = || {
        matches!(
            store::git::checkout_kind(&found.top_folder),
            Some(CheckoutKind::Submodule | CheckoutKind::Worktree { .. })
        )
    };
    Ok((is_folder || is_listed()).then_some(found))
}

struct ExcludeList {
    top_folder: PathBuf,
    file: PathBuf,
    /// The content of the file, or `None` if it does not exist.
    content: Option<Vec<u8>>,
}

/// Reads the exclude list. Returns `None` if the project is not in git or the list is not a regular file.
fn read_exclude_list(project: &Path) -> Result<Option<ExcludeList>> {
    let Some(RepositoryPaths { top_folder, exclude_file: file }) = find_own_repository(project)? else {
        return Ok(None);
    };
    let content = match store::metadata_without_following(&file)? {
        Some(found) if !found.is_file() => return Ok(None),
        Some(_) => Some(store::read_outside_store(&file, MAX_GIT_EXCLUDE_LIST_BYTES)?),
        None => None,
    };
    Ok(Some(ExcludeList { top_folder, file, content }))
}

fn write_exclude_list(file: &Path, before: Option<&[u8]>, after: &[u8]) -> Result<()> {
    let (Some(folder), Some(name)) = (file.parent(), file.file_name().and_then(|name| name.to_str())) else {
        return Ok(());
    };
    if before == Some(after) {
        return Ok(());
    }
    std::fs::create_dir_all(folder)
        .map_err(|e| Error::stream_error(&folder.display().to_string(), "make", &e))?;
    match Dir::open(folder)?.replace_if_unchanged(name, before, after)? {
        ReplaceOutcome::Done => Ok(()),
        ReplaceOutcome::ChangedMeanwhile => Err(Error::Busy {
            what: format!("{}: another program changed it while it was being written", file.display()),
            hint: "try again; this file was not changed".into(),
        }),
    }
}

/// Returns the commit and the branch that are checked out. They are read from git's files. If the files do not show
/// them, git is run.
pub fn read_head(project: &Path) -> Option<store::git::GitHead> {
    store::git::read_head(project).or_else(|| {
        let commit =
            run_git_text(project, &["rev-parse", "--verify", "-q", "HEAD"]).ok()?.unwrap_or_default();
        let branch =
            run_git_text(project, &["symbolic-ref", "--short", "-q", "HEAD"]).ok()?.unwrap_or_default();
        let (commit, branch) = (commit.trim().to_owned(), branch.trim().to_owned());
        (!commit.is_empty() || !branch.is_empty()).then_some(store::git::GitHead { commit, branch })
    })
}

/// Returns the branch name for a packet. It is redacted, because a branch name can contain a secret.
pub fn redacted_branch(head: &store::git::GitHead, redact: RedactOptions) -> String {
    Redacted::redact_whole(&head.branch, redact).to_string()
}

/// Returns the files that differ from HEAD, including untracked files. A renamed file is listed once, under its new
/// name. The names are redacted like those in the journal, so that the two can be compared.
pub fn list_uncommitted_files(project: &Path, redact: RedactOptions) -> Option<Vec<String>> {
    let status = run_git_status(project, "--find-renames")?;
    let mut entries = status.split(|b| *b == 0).filter(|entry| !entry.is_empty());
    let mut files = Vec::new();
    while let Some(entry) = entries.next() {
        // An entry is two letters for the state, a space and the name.
        let name = String::from_utf8_lossy(entry.get(3..).unwrap_or_default());
        files.push(Redacted::redact_whole(&name, redact).to_string());
        // A renamed or copied file has a second entry with its old name, which is skipped.
        if entry.iter().take(2).any(|state| matches!(state, b'R' | b'C')) {
            entries.next();
        }
    }
    Some(files)
}

/// Like `list_uncommitted_files`, but returns only files below `folder`, with paths relative to it. The list is empty if
/// git fails.
pub fn list_uncommitted_files_below(folder: &Path, redact: RedactOptions) -> Vec<String> {
    let Some(top) = folder.ancestors().find(|dir| dir.join(".git").symlink_metadata().is_ok()) else {
        return Vec::new();
    };
    let Ok(inside) = folder.strip_prefix(top) else { return Vec::new() };
    let listed = list_uncommitted_files(folder, redact).unwrap_or_default();
    let below = |path: String| Some(Path::new(&path).strip_prefix(inside).ok()?.to_str()?.to_owned());
    listed.into_iter().filter_map(below).collect()
}

fn run_git_status(project: &Path, rename_option: &str) -> Option<Vec<u8>> {
    // Do not examine submodules, because they have their own settings.
    let args =
        ["status", "--porcelain", "-z", rename_option, "--untracked-files=all", "--ignore-submodules=dirty"];
    let off = options_disabling_filters(project)?;
    let off: Vec<&str> = off.iter().flat_map(|setting| ["-c", setting.as_str()]).collect();
    run_git(project, &[&off, args.as_slice()].concat(), Vec::new()).ok()?
}

/// The files of a repository that may differ from a commit.
pub struct DifferingFiles {
    pub top_folder: PathBuf,
    /// The paths in order, relative to the top folder. They are not redacted.
    pub paths: BTreeSet<String>,
}

/// Returns the files that differ from HEAD, including untracked files, and those in which HEAD differs from `commit`. A
/// renamed file is listed under both names. Returns `None` if git does not know the commit, or if a name is not UTF-8.
pub fn files_differing_from_commit(project: &Path, head: &str, commit: &str) -> Option<DifferingFiles> {
    let is_id = |id: &str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_id(head) || !is_id(commit) {
        return None;
    }
    let top_folder = find_repository(project).ok()??.top_folder;
    let status = run_git_status(project, "--no-renames")?;
    let args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", commit, head];
    let committed = match head == commit {
        true => Vec::new(),
        false => run_git(project, &args, Vec::new()).ok()??,
    };
    let entries = |list: &'_ [u8], prefix: usize| -> Option<Vec<String>> {
        let entries = list.split(|b| *b == 0).filter(|entry| !entry.is_empty());
        entries.map(|entry| String::from_utf8(entry.get(prefix..)?.to_vec()).ok()).collect()
    };
    // An entry of the status begins with two letters for the state and a space.
    let paths = entries(&status, 3)?.into_iter().chain(entries(&committed, 0)?).collect();
    Some(DifferingFiles { top_folder, paths })
}

/// Returns options that disable this repository's filters, because git would run them to compare files. The user's
/// own filters stay enabled. Returns `None` if git cannot be run.
fn options_disabling_filters(project: &Path) -> Option<Vec<String>> {
    let args = ["config", "--includes", "--show-scope", "--name-only", "-z", "--get-regexp", "^filter\\."];
    // If there are no filters, git exits with an error, which counts as an empty list.
    let listed = run_git(project, &args, Vec::new()).ok()?.unwrap_or_default();
    let mut fields = listed.split(|b| *b == 0);
    let mut off = Vec::new();
    while let (Some(scope), Some(key)) = (fields.next(), fields.next()) {
        let key = String::from_utf8_lossy(key);
        if scope == b"local" || scope == b"worktree" {
            let value = if key.ends_with(".required") { "false" } else { "" };
            off.push(format!("{key}={value}"));
        }
    }
    Some(off)
}

/// Returns how many commits only `ours` has, and how many only `theirs` has. Returns `None` if one of them does not
/// exist in this repository.
pub fn count_diverging_commits(project: &Path, ours: &str, theirs: &str) -> Option<(u64, u64)> {
    let range = format!("{ours}...{theirs}");
    let counts = run_git_text(project, &["rev-list", "--left-right", "--count", &range, "--"]).ok()??;
    let (ours, theirs) = counts.trim().split_once('\t')?;
    Some((ours.parse().ok()?, theirs.parse().ok()?))
}

/// Returns those of the given paths that a commit contains. `commit` is a commit's id or the name of a reference.
pub fn paths_in_commit(project: &Path, commit: &str, paths: &[&str]) -> Vec<String> {
    if paths.is_empty() || commit.starts_with('-') {
        return Vec::new();
    }
    let args = [&["--literal-pathspecs", "ls-tree", "-z", "--name-only", commit, "--"], paths].concat();
    let listed = run_git(project, &args, Vec::new()).ok().flatten().unwrap_or_default();
    listed.split(|b| *b == 0).filter_map(|path| String::from_utf8(path.to_vec()).ok()).collect()
}

/// Returns the author of the last commit that changed a file, or `None` if git does not track the file or cannot be
/// run.
pub fn last_author_of_file(project: &Path, path: &Path) -> Option<String> {
    let path = path.to_string_lossy();
    let name =
        run_git_text(project, &["log", "-1", "--no-show-signature", "--format=%an", "--", &path]).ok()??;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

fn run_git_text(project: &Path, args: &[&str]) -> Result<Option<String>> {
    let output = run_git(project, args, Vec::new())?;
    Ok(output.map(|output| String::from_utf8_lossy(&output).into_owned()))
}

/// Runs git with `input` on stdin and returns its stdout. Returns `None` if git is not installed or fails. The pipes
/// are read here, because the standard library's function panics if a pipe cannot be read.
pub fn run_git(project: &Path, args: &[&str], input: Vec<u8>) -> Result<Option<Vec<u8>>> {
    let fail = |e: &std::io::Error| Error::stream_error("git", "ask", e);
    if let Some(path) = store::git::find_special_file(project) {
        return Err(Error::Refused {
            what: format!("{}: not a regular file: git would hang on it", path.display()),
            hint: "put a regular file there, or remove what is there".into(),
        });
    }
    let mut git = Command::new("git");
    git.args(SAFE_GIT_OPTIONS).arg("-C").arg(project).args(args);
    // Git must not write while it reads. A partial clone must not fetch, because the URL of its remote could make git
    // run a command.
    git.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "none");
    let mut git = match git.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn() {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        spawned => spawned.map_err(|e| fail(&e))?,
    };
    // Git writes output while it is still reading, so each pipe needs a thread. Otherwise, a full pipe would block
    // both processes.
    let (stdin, stdout) = (git.stdin.take(), git.stdout.take());
    std::thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&input)));
    let (told, heard) = mpsc::channel();
    std::thread::spawn(move || {
        let read = stdout.map_or(Ok(Vec::new()), |mut stdout| {
            store::read_stream(&mut stdout, Path::new("git"), MAX_OUTPUT_BYTES)
        });
        told.send(read)
    });
    let until = Instant::now() + GIT_TIMEOUT;
    let mut output = None;
    let ended = loop {
        if let Some(ended) = git.try_wait().map_err(|e| fail(&e))? {
            break ended;
        }
        if Instant::now() >= until {
            let _ = git.kill();
            let _ = git.wait();
            let late = format!("it did not answer within {} seconds", GIT_TIMEOUT.as_secs());
            return Err(fail(&std::io::Error::new(std::io::ErrorKind::TimedOut, late)));
        }
        // Git closes its stdout when it ends. If another process keeps the pipe open, this loop still notices that
        // git has ended.
        match output {
            None => output = heard.recv_timeout(POLL_INTERVAL).ok(),
            Some(_) => std::thread::sleep(Duration::from_micros(100)),
        }
    };
    // If another process keeps the pipe open, do not wait for it any longer.
    let Some(output) = output.or_else(|| heard.recv_timeout(Duration::from_secs(1)).ok()) else {
        return Ok(None);
    };
    let output = output?;
    Ok(ended.success().then_some(output))
}
