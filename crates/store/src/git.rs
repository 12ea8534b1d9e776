//! Reads git's own files without starting a process, to find out where a checkout begins, whether it is a worktree,
//! and what is checked out.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::digest::BranchMove;
use rustix::fs::{self, AtFlags, CWD, FileType};

mod history;

pub use crate::tracked::GitIndexComparison;
pub use history::{read_history, read_refs, read_stashes};

use crate::read::{open_outside_store, read_lines, read_outside_store, require_regular_file};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckoutKind {
    /// The top of an ordinary checkout.
    OrdinaryCheckout,
    /// The top of a submodule inside its superproject's working tree.
    Submodule,
    /// The top of a worktree. The main checkout of its repository is at `main_checkout`.
    Worktree { main_checkout: PathBuf },
}

/// Returns the kind of checkout whose top is `dir`, or `None` if `dir` is not the top of a checkout.
pub fn checkout_kind(dir: &Path) -> Option<CheckoutKind> {
    let dot_git = dir.join(".git");
    // Call the system directly, because the standard library makes a second system call if the first one fails.
    let stat = fs::statat(CWD, &dot_git, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Some(CheckoutKind::OrdinaryCheckout);
    }
    if let Some(main) = main_checkout(dir, &dot_git) {
        return Some(CheckoutKind::Worktree { main_checkout: main });
    }
    Some(if is_submodule_of_superproject(dir, &dot_git) {
        CheckoutKind::Submodule
    } else {
        CheckoutKind::OrdinaryCheckout
    })
}

/// Returns whether `dir` is a submodule inside its superproject. A submodule's `.git` file contains `gitdir:
/// <superproject>/.git/modules/<name>`. If the superproject is a worktree, its modules are in
/// `<main>/.git/worktrees/<worktree>/modules`. In either case, the superproject must contain `dir`.
fn is_submodule_of_superproject(dir: &Path, dot_git: &Path) -> bool {
    let superproject = || {
        let pointer = read_first_line(dot_git)?;
        let git_dir = dir.join(pointer.strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
        git_dir.ancestors().filter(|part| part.ends_with("modules")).find_map(|modules| {
            let holder = modules.parent()?;
            if holder.ends_with(".git") {
                return holder.parent().map(Path::to_owned);
            }
            let is_worktree = holder.parent()?.ends_with(".git/worktrees");
            let back = is_worktree.then(|| read_first_line(&holder.join("gitdir"))).flatten()?;
            holder.join(back).parent()?.canonicalize().ok()
        })
    };
    let (Some(around), Ok(dir)) = (superproject(), dir.canonicalize()) else { return false };
    dir != around && dir.starts_with(around)
}

/// Returns a worktree's main checkout. A worktree's `.git` file contains `gitdir: <main>/.git/worktrees/<name>`, and
/// the file `commondir` in that folder leads to `<main>/.git`. A submodule has no `commondir`, and a bare repository
/// has no `.git`, so neither of them has a main checkout.
fn main_checkout(dir: &Path, dot_git: &Path) -> Option<PathBuf> {
    let pointer = read_first_line(dot_git)?;
    let git_dir = dir.join(pointer.strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
    let common = git_dir.join(read_first_line(&git_dir.join("commondir"))?).canonicalize().ok()?;
    // Anybody can write a `.git` file that points to a repository, but only git makes the repository point back to
    // that file.
    let back = git_dir.join(read_first_line(&git_dir.join("gitdir"))?).canonicalize().ok()?;
    let mutual = git_dir.parent()? == common.join("worktrees") && back == dot_git.canonicalize().ok()?;
    (mutual && common.file_name()? == ".git").then(|| common.parent().map(Path::to_owned))?
}

/// Returns the folder that the `.git` file of a worktree points to, if `top` is the top of a worktree and that folder
/// does not exist. This happens after the main checkout has been moved or deleted.
pub fn missing_git_folder_of_worktree(top: &Path) -> Option<PathBuf> {
    let dot_git = top.join(".git");
    if !dot_git.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let named = top.join(read_first_line(&dot_git)?.strip_prefix("gitdir:")?.trim());
    let is_worktree = named.parent()?.file_name()? == "worktrees";
    (is_worktree && named.symlink_metadata().is_err()).then_some(named)
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitHead {
    /// The commit, or an empty string before the first commit.
    pub commit: String,
    /// The branch, or an empty string if no branch is checked out.
    pub branch: String,
}

/// Reads the HEAD of the checkout that contains `dir`. Returns `None` if `dir` is not in git, or if the repository
/// uses reftable, which only git can read.
pub fn read_head(dir: &Path) -> Option<GitHead> {
    let (git_dir, common) = git_folders(dir)?;
    let head = read_first_line(&git_dir.join("HEAD"))?;
    let Some(name) = head.strip_prefix("ref:").map(str::trim) else {
        return is_commit_hash(&head).then(|| GitHead { commit: head, branch: String::new() });
    };
    let branch = name.strip_prefix("refs/heads/").unwrap_or(name).to_owned();
    let loose = [&git_dir, &common].into_iter().find_map(|folder| read_first_line(&folder.join(name)));
    let packed_refs = common.join("packed-refs");
    let Some(commit) = loose.or_else(|| find_packed_ref(&packed_refs, name)) else {
        // HEAD names a branch that has no commit yet, or whose commit was not found.
        let is_unread =
            packed_refs.metadata().is_ok_and(|meta| !meta.is_file() || meta.len() > MAX_PACKED_REFS_BYTES);
        let is_elsewhere = is_unread || branch == ".invalid" || common.join("reftable").exists();
        return (!is_elsewhere).then(|| GitHead { commit: String::new(), branch });
    };
    is_commit_hash(&commit).then_some(GitHead { commit, branch })
}

/// A checkout's remote, according to git's own files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitRemote {
    pub name: String,
    /// The commit of the branch on the remote as of the last fetch or push, or `None` if it is unknown.
    pub commit: Option<String>,
}

/// Returns the remote that a branch is assumed to be pushed to: `origin`, or else the first remote. Returns `None` if
/// there is no remote.
pub fn remote_assumed_for_branch(dir: &Path, branch: &str) -> Option<GitRemote> {
    let (_, common) = git_folders(dir)?;
    let names = remote_names(&common)?;
    let name = names.iter().find(|name| *name == "origin").or(names.first())?.clone();
    let commit = commit_on_remote(&common, &name, branch);
    Some(GitRemote { name, commit })
}

fn remote_names(common: &Path) -> Option<Vec<String>> {
    let config =
        String::from_utf8(read_outside_store(&common.join("config"), MAX_SMALL_GIT_FILE_BYTES).ok()?).ok()?;
    let named = |line: &str| Some(line.trim().strip_prefix("[remote \"")?.strip_suffix("\"]")?.to_owned());
    Some(config.lines().filter_map(named).collect())
}

/// Returns the commit of a branch on a remote as of the last fetch or push.
fn commit_on_remote(common: &Path, remote: &str, branch: &str) -> Option<String> {
    let reference = format!("refs/remotes/{remote}/{branch}");
    let is_plain = !branch.is_empty() && !reference.split('/').any(|part| part == ".." || part.is_empty());
    let read = || {
        read_first_line(&common.join(&reference))
            .or_else(|| find_packed_ref(&common.join("packed-refs"), &reference))
    };
    is_plain.then(read).flatten().filter(|commit| is_commit_hash(commit))
}

/// Returns the commit of a branch, or `None` if the branch does not exist.
pub fn read_branch_commit(dir: &Path, branch: &str) -> Option<String> {
    let (_, common) = git_folders(dir)?;
    let name = branch_reference(branch)?;
    let commit =
        read_first_line(&common.join(&name)).or_else(|| find_packed_ref(&common.join("packed-refs"), &name));
    commit.filter(|commit| is_commit_hash(commit))
}

/// Returns the newest moves of a branch, oldest first. The list is empty if git keeps no reflog of the branch.
pub fn moves_of_branch(dir: &Path, branch: &str) -> Vec<BranchMove> {
    let mut moves = Vec::new();
    if let (Some((_, common)), Some(name)) = (git_folders(dir), branch_reference(branch)) {
        each_move_in_reflog(&common.join("logs").join(name), |found| moves.push(found.to_branch_move()));
    }
    moves
}

/// Returns the newest moves of a checkout's HEAD, oldest first. Returns `None` if git keeps no reflog of HEAD.
pub fn moves_of_head(dir: &Path) -> Option<Vec<BranchMove>> {
    let (git_dir, _) = git_folders(dir)?;
    let mut moves = Vec::new();
    let is_read = each_move_in_reflog(&git_dir.join("logs/HEAD"), |found| moves.push(found.to_branch_move()));
    is_read.then_some(moves)
}

/// Returns the name of a branch's reference, or `None` if it would lead out of the folder of branches.
fn branch_reference(branch: &str) -> Option<String> {
    let name = format!("refs/heads/{branch}");
    (!name.split('/').any(|part| part == ".." || part.is_empty())).then_some(name)
}

/// Returns whether a checkout's repository no longer has a branch with this name. Returns false if the branches
/// cannot be read.
pub fn is_branch_gone(dir: &Path, branch: &str) -> bool {
    let Some((_, common)) = git_folders(dir) else { return false };
    let Some(name) = branch_reference(branch) else { return false };
    let packed_refs = common.join("packed-refs");
    let is_readable = common.join("refs/heads").is_dir()
        && !common.join("reftable").exists()
        && packed_refs.metadata().map_or(true, |meta| meta.is_file() && meta.len() <= MAX_PACKED_REFS_BYTES);
    is_readable
        && common.join(&name).symlink_metadata().is_err()
        && find_packed_ref(&packed_refs, &name).is_none()
}

/// Returns the time at which this checkout last fetched from a remote, or `None` if the time is unknown.
pub fn last_fetched_at(dir: &Path) -> Option<Timestamp> {
    let (git_dir, common) = git_folders(dir)?;
    let fetched_at = |folder: &PathBuf| {
        let changed = folder.join("FETCH_HEAD").symlink_metadata().ok()?.modified().ok()?;
        Timestamp::try_from(changed).ok()
    };
    // Git keeps a separate file for each worktree.
    [&git_dir, &common].into_iter().filter_map(fetched_at).max()
}

/// How many bytes are read from the end of a reflog, in which git records every move of HEAD or of a branch.
const REFLOG_TAIL_BYTES: u64 = 64 * 1024;

/// Returns whether HEAD's reflog says that a branch with this name was merged into this checkout at or after `since`.
/// An earlier branch may have had the same name. A merge that was undone at once with `git reset` does not count.
pub fn was_branch_merged_since(dir: &Path, branch: &str, since: Timestamp) -> bool {
    let Some((git_dir, _)) = git_folders(dir) else { return false };
    let mut commit_before_merge = None;
    let is_read = each_move_in_reflog(&git_dir.join("logs/HEAD"), |head_move| {
        if head_move.at >= since && head_move.merges(branch) {
            commit_before_merge = Some(head_move.old.to_owned());
        } else if head_move.what.starts_with("reset: ")
            && commit_before_merge.as_deref() == Some(head_move.new)
        {
            commit_before_merge = None;
        }
    });
    is_read && commit_before_merge.is_some()
}

/// Returns the times at which git replaced files of this checkout with those of another commit, oldest first. By now,
/// the files may have their old content again. HEAD's reflog lists these changes as checkouts of other commits, rebases
/// or resets. `git stash` is a reset.
pub fn times_of_checkouts(dir: &Path) -> Vec<Timestamp> {
    let mut times = Vec::new();
    if let Some((git_dir, _)) = git_folders(dir) {
        each_move_in_reflog(&git_dir.join("logs/HEAD"), |head_move| {
            if head_move.rewrites_files() {
                times.push(head_move.at);
            }
        });
    }
    times
}

/// Calls `with` for each line at the end of a reflog, oldest first. Returns whether the reflog could be read.
fn each_move_in_reflog(path: &Path, mut with: impl FnMut(HeadMove)) -> bool {
    let Ok(file) = open_outside_store(path) else { return false };
    let Ok(size) = require_regular_file(file.as_fd(), path) else { return false };
    let from = size.saturating_sub(REFLOG_TAIL_BYTES);
    let read = read_lines(&file, path, from, size, |line| {
        if let Some(found) = HeadMove::parse(&String::from_utf8_lossy(line)) {
            with(found);
        }
    });
    read.is_ok()
}

/// A line of a reflog. It consists of `OLD NEW Name <mail> SECONDS ZONE`, a tab, and what moved HEAD or the branch.
struct HeadMove<'a> {
    old: &'a str,
    new: &'a str,
    at: Timestamp,
    what: &'a str,
}

impl HeadMove<'_> {
    fn parse(line: &str) -> Option<HeadMove<'_>> {
        let (who_and_when, what) = line.split_once('\t')?;
        let (ids, when) = who_and_when.rsplit_once("> ")?;
        let mut ids = ids.split(' ');
        let at = Timestamp::from_second(when.split(' ').next()?.parse().ok()?).ok()?;
        Some(HeadMove { old: ids.next()?, new: ids.next()?, at, what: what.trim_end() })
    }

    fn to_branch_move(&self) -> BranchMove {
        let [commit_before, commit, what] = [self.old, self.new, self.what].map(str::to_owned);
        BranchMove { commit_before, commit, at: self.at, what }
    }

    /// Returns whether this move of HEAD may have rewritten files. A file also counts as rewritten if its old content
    /// has been restored since. Checking out a new branch at the same commit rewrites no files.
    fn rewrites_files(&self) -> bool {
        self.what.starts_with("checkout:") && self.old != self.new
            || self.what.starts_with("rebase")
            || self.what.starts_with("reset:")
    }

    /// Returns whether HEAD was moved by a merge of `branch`. Git usually writes `merge a b: Fast-forward`. If
    /// conflicts had to be resolved first, git writes the commit's message: `commit (merge): Merge branch 'a' into
    /// main`.
    fn merges(&self, branch: &str) -> bool {
        if let Some(message) = self.what.strip_prefix("commit (merge): ") {
            return message.starts_with("Merge branch") && message.contains(&format!("'{branch}'"));
        }
        let arguments = self.what.strip_prefix("merge ").and_then(|rest| rest.split_once(':'));
        arguments.is_some_and(|(names, _)| names.split(' ').any(|name| name == branch))
    }
}

/// Returns the git folder of the checkout that contains `dir`, and the git folder that all its worktrees share.
fn git_folders(dir: &Path) -> Option<(PathBuf, PathBuf)> {
    let top = dir.ancestors().find(|folder| folder.join(".git").exists())?;
    let dot_git = top.join(".git");
    let git_dir = match read_first_line(&dot_git) {
        Some(pointer) => top.join(pointer.strip_prefix("gitdir:")?.trim()),
        None => dot_git,
    };
    let common =
        read_first_line(&git_dir.join("commondir")).map_or_else(|| git_dir.clone(), |rel| git_dir.join(rel));
    Some((git_dir, common))
}

fn find_packed_ref(path: &Path, name: &str) -> Option<String> {
    let file = open_outside_store(path).ok()?;
    let size = require_regular_file(file.as_fd(), path).ok().filter(|size| *size <= MAX_PACKED_REFS_BYTES)?;
    let mut found = None;
    let suffix = format!(" {name}");
    let read = read_lines(&file, path, 0, size, |line| {
        if let (None, Some(commit)) = (&found, line.strip_suffix(suffix.as_bytes())) {
            found = String::from_utf8(commit.to_vec()).ok();
        }
    });
    read.ok().and(found)
}

fn is_commit_hash(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Reads the first line of one of git's small files.
fn read_first_line(path: &Path) -> Option<String> {
    let text = String::from_utf8(read_outside_store(path, MAX_SMALL_GIT_FILE_BYTES).ok()?).ok()?;
    Some(text.lines().next()?.trim().to_owned())
}

/// Compares files with git's index. A file that matches its entry in the index was committed, restored or staged.
pub fn compare_with_index<'p>(dir: &Path, paths: &[&'p str]) -> GitIndexComparison<'p> {
    crate::tracked::compare_with_index(dir, paths)
}

/// Finds an entry in git's folders that is neither a file nor a folder. For example, a pipe would make git hang.
pub fn find_special_file(dir: &Path) -> Option<PathBuf> {
    let top = dir.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok())?;
    let dot_git = top.join(".git");
    let pointer =
        read_first_line(&dot_git).and_then(|line| Some(top.join(line.strip_prefix("gitdir:")?.trim())));
    let git_dir = pointer.unwrap_or_else(|| dot_git.clone());
    let commondir = git_dir.join("commondir");
    let common = read_first_line(&commondir).map_or_else(|| git_dir.clone(), |rel| git_dir.join(rel));
    let head = read_first_line(&git_dir.join("HEAD"));
    let branch = head.as_deref().and_then(|head| head.strip_prefix("ref:")).map(str::trim);
    let of_checkout = [".gitignore", ".gitattributes", ".gitmodules"].map(|name| top.join(name));
    let of_git = [&git_dir, &common].into_iter().flat_map(|folder| {
        GIT_FILES.iter().copied().chain(branch).map(|name| folder.join(name)).collect::<Vec<_>>()
    });
    let is_special = |path: &PathBuf| path.metadata().is_ok_and(|meta| !meta.is_file() && !meta.is_dir());
    [dot_git, commondir].into_iter().chain(of_checkout).chain(of_git).find(is_special)
}

/// The files that git reads for every command.
const GIT_FILES: &[&str] = &[
    "HEAD",
    "ORIG_HEAD",
    "config",
    "config.worktree",
    "gitdir",
    "index",
    "info/attributes",
    "info/exclude",
    "info/grafts",
    "info/sparse-checkout",
    "logs/HEAD",
    "objects/info/alternates",
    "objects/info/commit-graph",
    "packed-refs",
    "refs/stash",
    "shallow",
];

/// The size limit of small git files such as HEAD or `config`. Real files are much smaller.
const MAX_SMALL_GIT_FILE_BYTES: usize = 64 * 1024;

/// The size limit of `packed-refs`. A session start has no time to read a larger file.
const MAX_PACKED_REFS_BYTES: u64 = 8 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_submodule_is_known_by_the_superproject_around_it() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        let module = base.join("main/libs/m");
        for dir in ["main/.git/modules/m/modules/n", "main/.git/worktrees/t/modules/m", "tree/m", "other/m"] {
            fs::create_dir_all(base.join(dir)).unwrap();
        }
        fs::create_dir_all(module.join("n")).unwrap();
        fs::write(base.join("main/.git/worktrees/t/gitdir"), base.join("tree/.git").to_str().unwrap())
            .unwrap();
        for (dir, pointer, expected) in [
            ("main/libs/m", "../../.git/modules/m", CheckoutKind::Submodule),
            ("main/libs/m/n", "../../../.git/modules/m/modules/n", CheckoutKind::Submodule),
            ("tree/m", "../../main/.git/worktrees/t/modules/m", CheckoutKind::Submodule),
            ("other/m", "../../main/.git/modules/m", CheckoutKind::OrdinaryCheckout),
        ] {
            fs::write(base.join(dir).join(".git"), format!("gitdir: {pointer}\n")).unwrap();
            assert_eq!(checkout_kind(&base.join(dir)), Some(expected), "{dir}");
        }
    }

    #[test]
    fn checkouts_that_rewrite_files_are_found_in_the_moves_of_head() {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir_all(temp.path().join(".git/logs")).unwrap();
        for (ids, what, expected) in [
            ("a b", "checkout: moving from main to topic", true),
            ("a a", "checkout: moving from main to new", false),
            ("a a", "reset: moving to HEAD", true),
            ("a b", "rebase (pick): Round", true),
            ("a b", "commit: checkout: two", false),
        ] {
            let line = format!("{ids} A <a@b> 1000 +0000\t{what}\n");
            fs::write(temp.path().join(".git/logs/HEAD"), line).unwrap();
            assert_eq!(times_of_checkouts(temp.path()).len(), usize::from(expected), "{what}");
        }
    }

    #[test]
    fn a_merge_of_a_branch_is_found_in_the_moves_of_head() {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir_all(temp.path().join(".git/logs")).unwrap();
        let since = Timestamp::from_second(1000).unwrap();
        for (moves, expected) in [
            (&[("a b", 1000, "merge topic: Fast-forward")][..], true),
            (&[("a b", 1001, "merge other topic: Merge made by the 'octopus' strategy.")], true),
            (&[("a b", 1001, "commit (merge): Merge branch 'topic' into next")], true),
            (&[("a b", 1001, "commit (merge): Merge branches 'other' and 'topic'")], true),
            (&[("a b", 1001, "merge topic-2: Fast-forward")], false),
            (&[("a b", 1001, "commit (merge): Merge branch 'topic-2'")], false),
            // An earlier branch had the same name.
            (&[("a b", 999, "merge topic: Fast-forward")], false),
            (&[("a b", 1001, "commit: Revert \"Merge branch 'topic'\"")], false),
            (&[("a b", 1001, "merge topic: Fast-forward"), ("b a", 1002, "reset: moving to HEAD~")], false),
            (&[("a b", 1001, "merge topic: Fast-forward"), ("b b", 1002, "reset: moving to HEAD")], true),
            (&[("a b", 1001, "merge topic: Fast-forward"), ("b a", 1002, "checkout: moving to old")], true),
            (&[], false),
        ] {
            let line =
                |(ids, at, what): &(&str, i64, &str)| format!("{ids} A > B <a@b> {at} +0100\t{what}\n");
            fs::write(temp.path().join(".git/logs/HEAD"), moves.iter().map(line).collect::<String>())
                .unwrap();
            assert_eq!(was_branch_merged_since(temp.path(), "topic", since), expected, "{moves:?}");
        }
    }

    #[test]
    fn the_kind_of_a_checkout_is_recognised() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        let (main, tree, module) = (base.join("main"), base.join("tree"), base.join("module"));
        for dir in [&main.join(".git/worktrees/t"), &main.join(".git/modules/m"), &tree, &module] {
            fs::create_dir_all(dir).unwrap();
        }
        fs::write(main.join(".git/worktrees/t/commondir"), "../..\n").unwrap();
        let back = main.join(".git/worktrees/t/gitdir");
        fs::write(&back, format!("{}/.git\n", tree.display())).unwrap();
        fs::write(tree.join(".git"), format!("gitdir: {}/.git/worktrees/t\n", main.display())).unwrap();
        fs::write(module.join(".git"), "gitdir: ../main/.git/modules/m\n").unwrap();
        assert_eq!(checkout_kind(&main), Some(CheckoutKind::OrdinaryCheckout));
        assert_eq!(checkout_kind(&tree), Some(CheckoutKind::Worktree { main_checkout: main.clone() }));
        assert_eq!(
            checkout_kind(&module),
            Some(CheckoutKind::OrdinaryCheckout),
            "a submodule is not a worktree"
        );
        assert_eq!(checkout_kind(&base), None);
        fs::write(tree.join(".git"), "gitdir: ../main/.git/worktrees/t").unwrap();
        assert_eq!(
            checkout_kind(&tree),
            Some(CheckoutKind::Worktree { main_checkout: main }),
            "relative, as newer versions of git write it"
        );
        fs::write(&back, format!("{}/.git\n", module.display())).unwrap();
        assert_eq!(
            checkout_kind(&tree),
            Some(CheckoutKind::OrdinaryCheckout),
            "the repository knows of no such worktree"
        );
        fs::write(tree.join(".git"), [0xff, 0xfe]).unwrap();
        assert_eq!(
            checkout_kind(&tree),
            Some(CheckoutKind::OrdinaryCheckout),
            "a `.git` file that cannot be read still marks a checkout"
        );
    }
}
