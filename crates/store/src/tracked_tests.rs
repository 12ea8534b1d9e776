//! Tests with indexes that the real git wrote.

use std::process::Command;

use super::*;

struct Repository {
    _temp: tempfile::TempDir,
    top: PathBuf,
}

impl Repository {
    fn new(options: &[&str]) -> Repository {
        let temp = tempfile::tempdir().unwrap();
        let top = temp.path().canonicalize().unwrap();
        let repository = Repository { _temp: temp, top };
        repository.run_git(&[&["init", "--quiet"], options].concat());
        repository
    }

    fn run_git(&self, words: &[&str]) {
        let run = Command::new("git")
            .args(words)
            .current_dir(&self.top)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .output()
            .unwrap();
        assert!(run.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&run.stderr));
    }

    fn write_file(&self, rel: &str) {
        let path = self.top.join(rel);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x").unwrap();
    }

    fn tracked_files(&self, root: &str) -> Vec<String> {
        match GitTrackedFiles::read_for_root(&self.top.join(root)) {
            GitTrackedFiles::NoneTracked => Vec::new(),
            GitTrackedFiles::Files(files) => files,
            GitTrackedFiles::Unknown(why) => panic!("{why}"),
        }
    }
}

const TEST_FILES: [&str; 10] = [
    "  first",
    ".agent/context/indexes/active-loop.json",
    ".agent/context/packets/p.md",
    ".agent/context/root.json",
    ".agent/context/state/lifecycle/a.json",
    ".agent/context/state/live.json",
    ".agent/context/statement",
    "pkg/.agent/context/State/live.json",
    ".agent/context/sessions/s.jsonl",
    "src/main.rs",
];

#[test]
fn finds_what_git_tracks_in_every_version_of_the_index() {
    let all: &[(&[&str], &[&[&str]])] = &[
        (&[], &[&["add", "."]]),
        (&[], &[&["add", "."], &["update-index", "--index-version", "4"]]),
        (&[], &[&["add", "."], &["update-index", "--split-index"]]),
        // `--intent-to-add` sets an extra flag that requires version 3 of the index.
        (&[], &[&["add", "--intent-to-add", "."]]),
        (&["--object-format=sha256"], &[&["add", "."]]),
        (&["--object-format=sha256"], &[&["add", "."], &["update-index", "--index-version", "4"]]),
    ];
    for (options, commands) in all {
        let repository = Repository::new(options);
        assert_eq!(
            GitTrackedFiles::read_for_root(&repository.top),
            GitTrackedFiles::NoneTracked,
            "no index yet"
        );
        TEST_FILES.iter().for_each(|file| repository.write_file(file));
        for command in *commands {
            repository.run_git(command);
        }
        let expected =
            ["indexes/active-loop.json", "sessions/s.jsonl", "state/lifecycle/a.json", "state/live.json"];
        assert_eq!(repository.tracked_files(""), expected, "{options:?} {commands:?}");
        assert_eq!(repository.tracked_files("pkg"), ["State/live.json"], "{options:?} {commands:?}");
        assert_eq!(repository.tracked_files("src"), [""; 0]);
        std::os::unix::fs::symlink("pkg", repository.top.join("link")).unwrap();
        assert_eq!(repository.tracked_files("link"), ["State/live.json"], "a link to it is the same root");
        repository.run_git(&["rm", "--quiet", "--cached", "-r", ".agent/context/state"]);
        let left = repository.tracked_files("");
        assert!(left.contains(&"indexes/active-loop.json".to_owned()), "{left:?}");
    }
}

#[test]
fn a_real_path_has_no_links_and_no_superfluous_parts() {
    let temp = tempfile::tempdir().unwrap();
    let top = temp.path().canonicalize().unwrap();
    std::fs::create_dir_all(top.join("real/inner")).unwrap();
    std::os::unix::fs::symlink("real", top.join("link")).unwrap();
    for spelling in [
        "real/inner",
        "real/inner/",
        "real//inner",
        "real/./inner/.",
        "real/../real/inner",
        "link/inner",
        "link/../real/inner",
    ] {
        let given = PathBuf::from(format!("{}/{spelling}", top.display()));
        // Paths are compared as bytes, because `Path` ignores `//` and `/./` in comparisons.
        assert_eq!(real_path(&given).as_os_str(), top.join("real/inner").as_os_str(), "{spelling}");
    }
    assert_eq!(real_path(&top.join("missing")), top.join("missing"));
}

#[test]
fn a_worktree_has_an_index_of_its_own() {
    let repository = Repository::new(&[]);
    TEST_FILES.iter().for_each(|file| repository.write_file(file));
    repository.run_git(&["add", "."]);
    let who = ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--message", "x"];
    repository.run_git(&who);
    repository.run_git(&["worktree", "add", "--quiet", "tree"]);
    repository.run_git(&["rm", "--quiet", "-r", ".agent"]);
    assert_eq!(repository.tracked_files(""), [""; 0]);
    assert_eq!(repository.tracked_files("tree").len(), 4);
}

#[test]
fn what_cannot_be_read_hides_every_local_file() {
    let repository = Repository::new(&[]);
    for bytes in [&b""[..], b"DIRC", b"DIRC\0\0\0\x09\0\0\0\x01", b"not an index at all"] {
        std::fs::write(repository.top.join(".git/index"), bytes).unwrap();
        let tracked = GitTrackedFiles::read_for_root(&repository.top);
        assert!(matches!(tracked, GitTrackedFiles::Unknown(_)), "{bytes:?}");
        assert!(
            tracked.treats_as_absent("state/live.json")
                && tracked.treats_as_absent("indexes/x")
                && !tracked.treats_as_absent("root.json")
        );
        assert!(
            !tracked.treats_as_absent("sessions/s.jsonl"),
            "a session's memory is not given up on a suspicion"
        );
    }
}

#[test]
fn outside_of_git_nothing_is_tracked() {
    let temp = tempfile::tempdir().unwrap();
    assert_eq!(GitTrackedFiles::read_for_root(temp.path()), GitTrackedFiles::NoneTracked);
}

#[test]
fn a_file_is_hidden_under_every_spelling() {
    let tracked = GitTrackedFiles::Files(vec!["State/live.json".to_owned()]);
    assert!(tracked.treats_as_absent("state/live.json") && !tracked.treats_as_absent("state/live.json2"));
}

#[test]
fn files_are_compared_with_the_index() {
    let repository = Repository::new(&[]);
    for file in ["src/same.rs", "src/changed.rs", "src/gone.rs"] {
        repository.write_file(file);
    }
    repository.run_git(&["add", "-A"]);
    std::fs::write(repository.top.join("src/changed.rs"), "longer").unwrap();
    std::fs::remove_file(repository.top.join("src/gone.rs")).unwrap();
    repository.write_file("src/new.rs");
    let paths = ["src/same.rs", "src/new.rs", "src/never.rs", "src/gone.rs", "src/changed.rs"];
    let expected = GitIndexComparison {
        unchanged: vec!["src/same.rs"],
        changed: vec!["src/changed.rs", "src/gone.rs"],
        // The times are those of this run, so only the names are compared.
        times_in_index: Vec::new(),
        untracked: vec!["src/new.rs"],
    };
    let mut found = compare_with_index(&repository.top, &paths);
    let with_times: Vec<&str> =
        std::mem::take(&mut found.times_in_index).into_iter().map(|(name, _)| name).collect();
    assert_eq!(with_times, expected.changed);
    assert_eq!(found, expected);
    assert_eq!(compare_with_index(&repository.top, &[]), GitIndexComparison::default());
    // The shared part of a split index is not read, so nothing is called untracked.
    repository.run_git(&["update-index", "--split-index"]);
    assert_eq!(compare_with_index(&repository.top, &paths).untracked, Vec::<&str>::new());
}
