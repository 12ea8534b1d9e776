use std::fs;
use std::path::PathBuf;

use super::*;
use crate::git::read_head;

const FIRST: &str = "1111111111111111111111111111111111111111";
const SECOND: &str = "2222222222222222222222222222222222222222";
const THIRD: &str = "3333333333333333333333333333333333333333";

/// A checkout with these files in its git folder.
fn checkout(files: &[(&str, String)]) -> (tempfile::TempDir, PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().canonicalize().unwrap();
    for (path, text) in files {
        let path = dir.join(".git").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    (temp, dir)
}

#[test]
fn the_history_has_the_branch_on_every_remote() {
    let remotes = "[remote \"origin\"]\n\turl = x\n[remote \"fork\"]\n\turl = y\n";
    let (_temp, dir) = checkout(&[
        ("HEAD", "ref: refs/heads/main\n".into()),
        ("refs/heads/main", format!("{SECOND}\n")),
        ("refs/remotes/fork/main", format!("{SECOND}\n")),
        ("packed-refs", format!("{FIRST} refs/remotes/origin/main\n{THIRD} refs/remotes/origin/other\n")),
        ("config", remotes.into()),
        ("logs/HEAD", format!("{FIRST} {SECOND} A <a@b> 1000 +0000\tcommit: Two\n")),
    ]);
    let history = read_history(&dir, &read_head(&dir).unwrap());
    assert_eq!(history.head, SECOND);
    assert_eq!(history.remote_commits, [FIRST, SECOND]);
    assert_eq!(history.moves_of_head.len(), 1);
}

#[test]
fn references_are_read_whether_packed_or_not() {
    let refs = [
        ("refs/heads/a/b", format!("{FIRST}\n")),
        ("refs/remotes/origin/HEAD", "ref: refs/remotes/origin/main\n".to_owned()),
        ("refs/stash", format!("{THIRD}\n")),
        (
            "packed-refs",
            format!("# pack-refs with: peeled\n{FIRST} refs/tags/v1\n^{SECOND}\n{THIRD} refs/stash\n"),
        ),
    ];
    let (_temp, dir) = checkout(&refs);
    let found = read_refs(&dir, |_| true);
    assert_eq!((found.commits, found.has_others), (vec![FIRST.to_owned(), SECOND.to_owned()], false));
    let found = read_refs(&dir, |id| id == SECOND);
    assert_eq!((found.commits, found.has_others), (vec![SECOND.to_owned()], true));
    fs::write(dir.join(".git/refs/heads/damaged"), "x").unwrap();
    assert!(read_refs(&dir, |_| true).has_others);
}

#[test]
fn the_list_of_stashes_is_read() {
    let line = |what: &str| format!("{FIRST} {SECOND} A <a@b> 1000 +0000\t{what}\n");
    let list = line("WIP on main: 1111111 One") + &line("On main: later");
    let descriptions = |files: &[(&str, String)]| {
        let (_temp, dir) = checkout(files);
        let list = read_stashes(&dir)?;
        Some(list.into_iter().map(|stash| stash.description).collect::<Vec<_>>())
    };
    let expected = Some(vec!["WIP on main: 1111111 One".to_owned(), "On main: later".to_owned()]);
    let reflog = ("logs/refs/stash", list);
    assert_eq!(descriptions(&[("refs/stash", SECOND.into()), reflog.clone()]), expected);
    assert_eq!(descriptions(&[("packed-refs", format!("{SECOND} refs/stash\n")), reflog.clone()]), expected);
    assert_eq!(descriptions(&[("HEAD", "x".into()), reflog]), Some(vec![]), "all stashes were dropped");
    assert_eq!(descriptions(&[("refs/stash", SECOND.into())]), None, "without a record of its moves");
    assert_eq!(descriptions(&[("reftable/tables.list", "x".into())]), None, "only git can read this");
}
