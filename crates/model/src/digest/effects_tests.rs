use super::*;
use crate::event::{Action, Event, Kind as Happened, ToolDone, Touched};
use crate::journal::{self, RecordPolicy};
use crate::redact;

/// Builds a session call by call.
#[derive(Default)]
struct Session {
    digest: Digest,
    calls: usize,
}

impl Session {
    fn call(&mut self, done: ToolDone) -> &mut Self {
        self.calls += 1;
        let policy = RecordPolicy {
            harness: "claude-code",
            checkout: "/p",
            redact: redact::Options::default(),
            now: "2026-11-17T16:20:00Z".parse().unwrap(),
        };
        let event = Event {
            session: "s".into(),
            id: None,
            torn: false,
            previous: None,
            cwd: Some("/p".into()),
            transcript: None,
            agent: None,
            kind: Happened::ToolDone(Box::new(ToolDone { id: Some(self.calls.to_string().into()), ..done })),
        };
        self.digest.fold(&journal::record(&event, &policy));
        self
    }

    fn edit(&mut self, path: &'static str) -> &mut Self {
        let file = Touched { path: path.into(), action: Action::Edit };
        self.call(ToolDone { tool: "Edit".into(), files: vec![file], ..ToolDone::default() })
    }

    fn run(&mut self, command: &'static str, output: &'static str) -> &mut Self {
        self.call(ToolDone {
            tool: "Bash".into(),
            command: Some(command.into()),
            output: Some(output.into()),
            ..ToolDone::default()
        })
    }

    /// Returns files in no commit, commits that are not pushed, and the branch.
    fn stands(&self) -> (Vec<&str>, Vec<&str>, &str) {
        let git = self.digest.git();
        let files = git.uncommitted.iter().map(|file| file.path.as_str()).collect();
        (files, git.unpushed.iter().map(|used| used.effect.id.as_str()).collect(), git.branch)
    }
}

const COMMIT: &str = "[main 1111111] One\n 1 file changed, 1 insertion(+)\n";
const PUSH: &str = "To github.com:o/r.git\n   0000000..1111111  main -> main\n";

#[test]
fn commits_save_files() {
    let mut session = Session::default();
    session.edit("/p/a.rs").edit("/p/sub/b.rs").edit("/elsewhere/c.rs");
    assert_eq!(session.stands(), (vec!["sub/b.rs", "a.rs"], vec![], ""));
    session.run("git add a.rs && git commit -m One", COMMIT);
    assert_eq!(session.stands(), (vec!["sub/b.rs"], vec![], "main"), "only what was added");
    session.run("git commit -am Two", "[main 2222222] Two\n 1 file changed, 1 insertion(+)\n");
    assert_eq!(session.stands().0, Vec::<&str>::new());
    session.edit("/p/a.rs");
    assert_eq!(session.stands().0, ["a.rs"], "edited again");
    session
        .run("git add sub && git commit -m Three", "[main 3333333] Three\n 1 file changed, 1 insertion(+)\n");
    assert_eq!(session.stands().0, ["a.rs"], "a folder that does not hold it");
    session
        .run("git add -A", "")
        .run("git commit -m Four", "[main 4444444] Four\n 1 file changed, 1 insertion(+)\n");
    assert_eq!(session.stands().0, Vec::<&str>::new());
}

#[test]
fn a_push_is_needed_where_there_is_a_remote() {
    let mut session = Session::default();
    session.edit("/p/a.rs").run("git commit -am One", COMMIT);
    assert_eq!(session.stands().1, Vec::<&str>::new(), "nothing says that there is a remote");
    session.run("git push", PUSH);
    session.run("git commit -am Two", "[main 2222222] Two\n 1 file changed, 1 insertion(+)\n");
    assert_eq!(session.stands().1, ["2222222"]);
    session.run("git commit --amend --no-edit", "[main 3333333] Two\n 1 file changed, 1 insertion(+)\n");
    assert_eq!(session.stands().1, ["3333333"], "the one it replaced is gone");
    session.run("git push", "Everything up-to-date\n");
    assert_eq!(session.stands().1, Vec::<&str>::new());
    session.run("git commit -am Four", "[main 4444444] Four\n 1 file changed, 1 insertion(+)\n");
    session.digest.disk = Some(GitOnDisk {
        branch: "main".into(),
        commit: "4444444aaaa".into(),
        has_remote: true,
        remote_commit: Some("4444444aaaa".into()),
        ..GitOnDisk::default()
    });
    assert_eq!(session.stands().1, Vec::<&str>::new(), "pushed by somebody else");
}

#[test]
fn thrown_away_and_stashed() {
    let mut session = Session::default();
    session.edit("/p/a.rs").edit("/p/b.rs").run("git checkout -- a.rs", "");
    assert_eq!(session.stands().0, ["b.rs"]);
    session.run("git stash", "Saved working directory and index state WIP on main: 1a2b3c4 x\n");
    assert_eq!(session.stands().0, Vec::<&str>::new());
    assert_eq!(session.digest.git().stashed.len(), 1);
    session.run("git stash pop", "Dropped refs/stash@{0} (abc)\n");
    assert_eq!(session.stands().0, ["b.rs"]);
    session.run("git reset --hard", "HEAD is now at 1a2b3c4 x\n");
    assert_eq!(session.stands().0, Vec::<&str>::new());
    let notes: Vec<Kind> = session.digest.git().notes.iter().map(|used| used.effect.kind).collect();
    assert_eq!(notes, [Kind::Discard, Kind::Reset]);
}

#[test]
fn other_repositories_are_apart() {
    let mut session = Session::default();
    session
        .edit("/p/a.rs")
        .run("git -C /other commit -am One", COMMIT)
        .run("cd ../x && git commit -am One", COMMIT);
    assert_eq!(session.stands(), (vec!["a.rs"], vec![], ""));
    assert_eq!(session.digest.effects.iter().filter(|used| used.elsewhere).count(), 2);
    session.run("git -C /p/sub commit -am One", COMMIT);
    assert_eq!(session.stands().0, Vec::<&str>::new());
}

#[test]
fn the_branch_follows() {
    let mut session = Session::default();
    for (command, output, branch) in [
        ("git checkout -b topic", "Switched to a new branch 'topic'\n", "topic"),
        ("git switch main", "Switched to branch 'main'\n", "main"),
        ("git branch other", "", "main"),
        ("git branch -D topic", "Deleted branch topic (was 1a2b3c4).\n", "main"),
        ("git rebase main", "Successfully rebased and updated refs/heads/third.\n", "third"),
    ] {
        session.run(command, output);
        assert_eq!(session.stands().2, branch, "{command}");
    }
}

#[test]
fn head_on_disk_that_was_not_seen() {
    let mut session = Session::default();
    session.run("git commit -am One", COMMIT);
    let disk = |commit: &str| {
        Some(GitOnDisk { branch: "main".into(), commit: commit.into(), ..GitOnDisk::default() })
    };
    session.digest.disk = disk("1111111aaaaaaaa");
    assert_eq!(session.digest.git().moved, None);
    session.digest.disk = disk("9999999aaaaaaaa");
    assert_eq!(session.digest.git().moved, Some("9999999aaaaaaaa"));
    session.run("git pull", "Updating 1111111..9999999\nFast-forward\n");
    assert_eq!(session.digest.git().moved, None, "something else moved it");
}

#[test]
fn head_that_a_hook_saw_and_that_is_another_now() {
    let mut session = Session::default();
    session.edit("/p/a.rs");
    (session.digest.head, session.digest.head_at) = ("1111111aaaaaaaa".into(), 1);
    let disk = |commit: &str| Some(GitOnDisk { commit: commit.into(), ..GitOnDisk::default() });
    session.digest.disk = disk("1111111aaaaaaaa");
    assert_eq!(session.digest.git().moved, None);
    session.digest.disk = disk("2222222aaaaaaaa");
    assert_eq!(session.digest.git().moved, Some("2222222aaaaaaaa"), "the user has committed");
    session.run("git commit -am Two", "[main 2222222] Two\n 1 file changed, 1 insertion(+)\n");
    assert_eq!(session.digest.git().moved, None, "it was us");
}

#[test]
fn a_session_that_goes_on_keeps_them() {
    let mut first = Session::default();
    first.edit("/p/a.rs").run("git commit -am One", COMMIT).run("git push", PUSH).edit("/p/b.rs");
    let mut second = Session::default();
    second.edit("/p/a.rs");
    let whole = Session { digest: second.digest.after(first.digest), calls: 0 };
    assert_eq!(whole.stands(), (vec!["a.rs", "b.rs"], vec![], "main"));
    assert_eq!(whole.digest.effects.len(), 2);
}
