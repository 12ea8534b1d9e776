use super::*;
use crate::event::{Event, EventKind as Happened, FileAction, ToolDone, TouchedFile};
use crate::journal::{self, RecordPolicy};
use crate::redact;

/// A session that is built call by call.
#[derive(Default)]
struct TestSession {
    digest: Digest,
    calls: usize,
}

impl TestSession {
    fn fold_call(&mut self, done: ToolDone) -> &mut Self {
        self.calls += 1;
        let policy = RecordPolicy {
            harness: "claude-code",
            checkout: "/p",
            redact_options: redact::RedactOptions::default(),
            now: "2026-11-17T16:20:00Z".parse().unwrap(),
        };
        let event = Event {
            session: "s".into(),
            harness_event_id: None,
            is_payload_truncated: false,
            previous_session: None,
            cwd: Some("/p".into()),
            transcript: None,
            subagent: None,
            kind: Happened::ToolDone(Box::new(ToolDone {
                call_id: Some(self.calls.to_string().into()),
                ..done
            })),
        };
        self.digest.fold_record(&journal::record_of_event(&event, &policy));
        self
    }

    fn fold_edit(&mut self, path: &'static str) -> &mut Self {
        let file = TouchedFile::new(path.into(), FileAction::Edit);
        self.fold_call(ToolDone { tool: "Edit".into(), files: vec![file], ..ToolDone::default() })
    }

    fn fold_command(&mut self, command: &'static str, output: &'static str) -> &mut Self {
        self.fold_call(ToolDone {
            tool: "Bash".into(),
            command: Some(command.into()),
            output: Some(output.into()),
            ..ToolDone::default()
        })
    }

    /// Returns the uncommitted files, the ids of unpushed commits, and the branch.
    fn unsaved_unpushed_and_branch(&self) -> (Vec<&str>, Vec<&str>, &str) {
        let git = self.digest.git_state();
        let files = git.uncommitted.iter().map(|file| file.path.as_str()).collect();
        (files, git.unpushed.iter().map(|used| used.effect.id.as_str()).collect(), git.branch)
    }
}

const COMMIT_OUTPUT: &str = "[main 1111111] One\n 1 file changed, 1 insertion(+)\n";
const PUSH_OUTPUT: &str = "To github.com:o/r.git\n   0000000..1111111  main -> main\n";

#[test]
fn commits_save_files() {
    let mut session = TestSession::default();
    session.fold_edit("/p/a.rs").fold_edit("/p/sub/b.rs").fold_edit("/elsewhere/c.rs");
    assert_eq!(session.unsaved_unpushed_and_branch(), (vec!["sub/b.rs", "a.rs"], vec![], ""));
    session.fold_command("git add a.rs && git commit -m One", COMMIT_OUTPUT);
    assert_eq!(
        session.unsaved_unpushed_and_branch(),
        (vec!["sub/b.rs"], vec![], "main"),
        "only what was added"
    );
    session.fold_command("git commit -am Two", "[main 2222222] Two\n 1 file changed, 1 insertion(+)\n");
    assert_eq!(session.unsaved_unpushed_and_branch().0, Vec::<&str>::new());
    session.fold_edit("/p/a.rs");
    assert_eq!(session.unsaved_unpushed_and_branch().0, ["a.rs"], "edited again");
    session.fold_command(
        "git add sub && git commit -m Three",
        "[main 3333333] Three\n 1 file changed, 1 insertion(+)\n",
    );
    assert_eq!(session.unsaved_unpushed_and_branch().0, ["a.rs"], "a folder that does not hold it");
    session
        .fold_command("git add -A", "")
        .fold_command("git commit -m Four", "[main 4444444] Four\n 1 file changed, 1 insertion(+)\n");
    assert_eq!(session.unsaved_unpushed_and_branch().0, Vec::<&str>::new());
}

#[test]
fn a_push_is_needed_where_there_is_a_remote() {
    let mut session = TestSession::default();
    session.fold_edit("/p/a.rs").fold_command("git commit -am One", COMMIT_OUTPUT);
    assert_eq!(
        session.unsaved_unpushed_and_branch().1,
        Vec::<&str>::new(),
        "nothing says that there is a remote"
    );
    session.fold_command("git push", PUSH_OUTPUT);
    session.fold_command("git commit -am Two", "[main 2222222] Two\n 1 file changed, 1 insertion(+)\n");
    assert_eq!(session.unsaved_unpushed_and_branch().1, ["2222222"]);
    session.fold_command(
        "git commit --amend --no-edit",
        "[main 3333333] Two\n 1 file changed, 1 insertion(+)\n",
    );
    assert_eq!(session.unsaved_unpushed_and_branch().1, ["3333333"], "the one it replaced is gone");
    session.fold_command("git push", "Everything up-to-date\n");
    assert_eq!(session.unsaved_unpushed_and_branch().1, Vec::<&str>::new());
    session.fold_command("git commit -am Four", "[main 4444444] Four\n 1 file changed, 1 insertion(+)\n");
    session.digest.git_on_disk = Some(GitOnDisk {
        branch: "main".into(),
        commit: "4444444aaaa".into(),
        has_remote: true,
        remote_commit: Some("4444444aaaa".into()),
        ..GitOnDisk::default()
    });
    assert_eq!(session.unsaved_unpushed_and_branch().1, Vec::<&str>::new(), "pushed by somebody else");
}

#[test]
fn discarded_and_stashed_changes_are_recognised() {
    let mut session = TestSession::default();
    session.fold_edit("/p/a.rs").fold_edit("/p/b.rs").fold_command("git checkout -- a.rs", "");
    assert_eq!(session.unsaved_unpushed_and_branch().0, ["b.rs"]);
    session.fold_command("git stash", "Saved working directory and index state WIP on main: 1a2b3c4 x\n");
    assert_eq!(session.unsaved_unpushed_and_branch().0, Vec::<&str>::new());
    assert_eq!(session.digest.git_state().stashed.len(), 1);
    session.fold_command("git stash pop", "Dropped refs/stash@{0} (abc)\n");
    assert_eq!(session.unsaved_unpushed_and_branch().0, ["b.rs"]);
    session.fold_command("git reset --hard", "HEAD is now at 1a2b3c4 x\n");
    assert_eq!(session.unsaved_unpushed_and_branch().0, Vec::<&str>::new());
    let notes: Vec<EffectKind> = session
        .digest
        .git_state()
        .checkout_changes_since_commit
        .iter()
        .map(|used| used.effect.kind)
        .collect();
    assert_eq!(notes, [EffectKind::Discard, EffectKind::Reset]);
}

#[test]
fn a_stash_contains_only_what_its_command_names() {
    // The command, the files in the stash, and those that are not committed.
    type Case<'a> = (&'a str, &'a [&'a str], &'a [&'a str]);
    let cases: [Case; 11] = [
        ("git stash", &["a.rs", "sub/a.rs", "b.rs"], &[]),
        ("git stash push -u -m 'a.rs later'", &["a.rs", "sub/a.rs", "b.rs"], &[]),
        ("git stash save a.rs", &["a.rs", "sub/a.rs", "b.rs"], &[]),
        ("git stash push -- a.rs", &["a.rs"], &["b.rs", "sub/a.rs"]),
        ("git stash push -m later ./a.rs", &["a.rs"], &["b.rs", "sub/a.rs"]),
        ("git stash -- sub", &["sub/a.rs"], &["b.rs", "a.rs"]),
        ("git stash push sub/a.rs b.rs", &["sub/a.rs", "b.rs"], &["a.rs"]),
        ("git stash push --message=later .", &["a.rs", "sub/a.rs", "b.rs"], &[]),
        // Only git knows what these stashes contain.
        ("git stash -p", &[], &["b.rs", "sub/a.rs", "a.rs"]),
        ("git stash push -- '*.rs'", &[], &["b.rs", "sub/a.rs", "a.rs"]),
        ("git stash push -- $FILES", &[], &["b.rs", "sub/a.rs", "a.rs"]),
    ];
    for (command, stashed, uncommitted) in cases {
        let mut session = TestSession::default();
        session.fold_edit("/p/a.rs").fold_edit("/p/sub/a.rs").fold_edit("/p/b.rs");
        session.fold_command(command, "Saved working directory and index state WIP on main: 1a2b3c4 x\n");
        let found: Vec<&str> =
            session.digest.git_state().stashed.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(found, stashed, "{command}");
        assert_eq!(session.unsaved_unpushed_and_branch().0, uncommitted, "{command}");
    }
}

#[test]
fn a_pop_takes_the_files_of_one_stash() {
    for (commands, stashed, uncommitted) in [
        (&["git stash pop"][..], &["a.rs"][..], &["b.rs"][..]),
        (&["git stash pop stash@{1}"], &["b.rs"], &["a.rs"]),
        (&["git stash drop"], &["a.rs"], &[]),
        (&["git stash drop", "git stash pop"], &[], &["a.rs"]),
        (&["git stash apply"], &["a.rs"], &["b.rs"]),
        (&["git stash clear"], &[], &[]),
    ] {
        let mut session = TestSession::default();
        session.fold_edit("/p/a.rs").fold_command("git stash -q", "");
        session.fold_edit("/p/b.rs").fold_command("git stash -q", "");
        for command in commands {
            session.fold_command(command, "");
        }
        let found: Vec<&str> =
            session.digest.git_state().stashed.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(found, stashed, "{commands:?}");
        assert_eq!(session.unsaved_unpushed_and_branch().0, uncommitted, "{commands:?}");
    }
}

#[test]
fn files_that_a_soft_reset_staged_are_in_the_next_commit() {
    for (command, uncommitted) in
        [("git reset --soft HEAD~1", &["b.rs"][..]), ("git reset HEAD~1", &["b.rs", "a.rs"])]
    {
        let mut session = TestSession::default();
        session
            .fold_edit("/p/a.rs")
            .fold_command("git commit -am One", COMMIT_OUTPUT)
            .fold_command(command, "");
        session.digest.mark_files_of_removed_commits_as_unsaved();
        assert_eq!(session.unsaved_unpushed_and_branch().0, ["a.rs"], "{command}");
        session.fold_edit("/p/b.rs").fold_edit("/p/c.rs");
        session.fold_command("git add c.rs && git commit -m Two", "[main 2222222] Two\n 2 files changed\n");
        session.digest.mark_files_of_removed_commits_as_unsaved();
        assert_eq!(session.unsaved_unpushed_and_branch().0, uncommitted, "{command}");
    }
}

#[test]
fn an_effect_in_another_repository_has_a_folder() {
    for (cwd, folder, expected) in
        [("/other", "", "/other"), ("/other", "/third", "/third"), ("sub", "", ""), ("", "", "")]
    {
        let mut digest = Digest::new("s");
        let (what, place, id) = ("One".into(), "main".into(), "1234567".into());
        let kind = EffectKind::Commit;
        let effect = Effect { kind, what, place, id, link: String::new(), folder: folder.into() };
        digest.fold_record(&JournalRecord {
            event: "tool-done".into(),
            tool: "Bash".into(),
            ok: Some(true),
            worktree: "/p".into(),
            cwd: cwd.into(),
            command: "git commit -am One".into(),
            effect: vec![effect],
            ..JournalRecord::default()
        });
        assert_eq!(digest.effects[0].effect.folder, expected, "{cwd} {folder}");
    }
}

#[test]
fn effects_in_other_repositories_do_not_count() {
    let mut session = TestSession::default();
    session
        .fold_edit("/p/a.rs")
        .fold_command("git -C /other commit -am One", COMMIT_OUTPUT)
        .fold_command("cd ../x && git commit -am One", COMMIT_OUTPUT);
    assert_eq!(session.unsaved_unpushed_and_branch(), (vec!["a.rs"], vec![], ""));
    assert_eq!(session.digest.effects.iter().filter(|used| used.is_in_other_repository).count(), 2);
    session.fold_command("git -C /p/sub commit -am One", COMMIT_OUTPUT);
    assert_eq!(session.unsaved_unpushed_and_branch().0, Vec::<&str>::new());
}

#[test]
fn the_branch_follows_checkouts() {
    let mut session = TestSession::default();
    for (command, output, branch) in [
        ("git checkout -b topic", "Switched to a new branch 'topic'\n", "topic"),
        ("git switch main", "Switched to branch 'main'\n", "main"),
        ("git branch other", "", "main"),
        ("git branch -D topic", "Deleted branch topic (was 1a2b3c4).\n", "main"),
        ("git rebase main", "Successfully rebased and updated refs/heads/third.\n", "third"),
    ] {
        session.fold_command(command, output);
        assert_eq!(session.unsaved_unpushed_and_branch().2, branch, "{command}");
    }
}

#[test]
fn head_on_disk_that_was_not_seen() {
    let mut session = TestSession::default();
    session.fold_command("git commit -am One", COMMIT_OUTPUT);
    let disk = |commit: &str| {
        Some(GitOnDisk { branch: "main".into(), commit: commit.into(), ..GitOnDisk::default() })
    };
    session.digest.git_on_disk = disk("1111111aaaaaaaa");
    assert_eq!(session.digest.git_state().head_moved_by_others, None);
    session.digest.git_on_disk = disk("9999999aaaaaaaa");
    assert_eq!(session.digest.git_state().head_moved_by_others, Some("9999999aaaaaaaa"));
    session.fold_command("git pull", "Updating 1111111..9999999\nFast-forward\n");
    assert_eq!(session.digest.git_state().head_moved_by_others, None, "something else moved it");
}

#[test]
fn head_that_a_hook_saw_and_that_is_another_now() {
    let mut session = TestSession::default();
    session.fold_edit("/p/a.rs");
    (session.digest.head, session.digest.head_read_at) = ("1111111aaaaaaaa".into(), 1);
    let disk = |commit: &str| Some(GitOnDisk { commit: commit.into(), ..GitOnDisk::default() });
    session.digest.git_on_disk = disk("1111111aaaaaaaa");
    assert_eq!(session.digest.git_state().head_moved_by_others, None);
    session.digest.git_on_disk = disk("2222222aaaaaaaa");
    assert_eq!(
        session.digest.git_state().head_moved_by_others,
        Some("2222222aaaaaaaa"),
        "the user has committed"
    );
    session.fold_command("git commit -am Two", "[main 2222222] Two\n 1 file changed, 1 insertion(+)\n");
    assert_eq!(session.digest.git_state().head_moved_by_others, None, "it was us");
}

#[test]
fn a_session_that_goes_on_keeps_them() {
    let mut first = TestSession::default();
    first
        .fold_edit("/p/a.rs")
        .fold_command("git commit -am One", COMMIT_OUTPUT)
        .fold_command("git push", PUSH_OUTPUT)
        .fold_edit("/p/b.rs");
    let mut second = TestSession::default();
    second.fold_edit("/p/a.rs");
    let whole = TestSession { digest: second.digest.append_to_earlier_digest(first.digest), calls: 0 };
    assert_eq!(whole.unsaved_unpushed_and_branch(), (vec!["a.rs", "b.rs"], vec![], "main"));
    assert_eq!(whole.digest.effects.len(), 2);
}

#[test]
fn a_file_that_two_commits_left_out_is_not_at_risk() {
    let mut session = TestSession::default();
    session.fold_edit("/p/notes.md").fold_edit("/p/a.rs");
    session.fold_command("git add a.rs && git commit -m One", COMMIT_OUTPUT);
    assert_eq!(session.unsaved_unpushed_and_branch().0, ["notes.md"]);
    session.fold_edit("/p/a.rs");
    session.fold_command(
        "git add a.rs && git commit -m Two",
        "[main 2222222] Two\n 1 file changed, 1 insertion(+)\n",
    );
    assert_eq!(session.unsaved_unpushed_and_branch().0, Vec::<&str>::new());
    session.fold_edit("/p/notes.md");
    assert_eq!(session.unsaved_unpushed_and_branch().0, ["notes.md"], "edited again");
}

#[test]
fn files_that_git_status_does_not_list_are_not_at_risk() {
    let status = "On branch main\nChanges not staged for commit:\n  (use \"git add <file>...\")\n\tmodified:   a.rs\n\n\
                  Untracked files:\n\tdocs/\n\nno changes added to commit\n";
    let clean = "On branch main\nnothing to commit, working tree clean\n";
    let cases: [(&str, &str, &[&str]); 5] = [
        ("git status", status, &["docs/c.md", "a.rs"]),
        ("git status", clean, &[]),
        ("git status", "On branch main\n", &["docs/c.md", "b.rs", "a.rs"]),
        ("git status | head -5", status, &["docs/c.md", "b.rs", "a.rs"]),
        ("git status src", status, &["docs/c.md", "b.rs", "a.rs"]),
    ];
    for (command, output, left) in cases {
        let mut session = TestSession::default();
        session.fold_edit("/p/a.rs").fold_edit("/p/b.rs").fold_edit("/p/docs/c.md");
        session.fold_command(command, output);
        assert_eq!(session.unsaved_unpushed_and_branch().0, left, "{command}: {output}");
    }
}

#[test]
fn an_edit_by_a_command_that_was_discarded_is_none() {
    const EDIT: &str = "sed -i s/a/b/ README.md";
    for (commands, is_edited) in [
        (&[EDIT][..], true),
        (&[EDIT, "git commit -qam Two"], true),
        (&[EDIT, "git commit -qam Two", "git reset --hard"], true),
        (&[EDIT, "git checkout -- README.md"], false),
        (&[EDIT, "git restore README.md"], false),
        (&[EDIT, "git reset --hard"], false),
        (&["git restore README.md"], false),
        (&["git restore --staged README.md"], false),
    ] {
        let mut session = TestSession::default();
        let read = TouchedFile::new("README.md".into(), FileAction::Read);
        session.fold_call(ToolDone { tool: "Read".into(), files: vec![read], ..ToolDone::default() });
        for command in commands {
            session.fold_command(command, "");
        }
        assert_eq!(session.digest.files[0].is_edited(), is_edited, "{commands:?}");
    }
}
