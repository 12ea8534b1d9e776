//! Tests command lines such as `git commit -m x || echo nothing`, in which a later command deals with a failure.

use super::handoffs::{ask_at, run_at, start_at, stop_at, thru_at};
use super::*;

const CLEAN: &str = "On branch main\nnothing to commit, working tree clean";

/// Runs a command in a session. Returns the brief and the packet.
fn told_after(command: &str, output: &str) -> [String; 2] {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Commit the parser and push it, if there is anything to commit.");
    run_at(&env, "19:00:02", "s1", command, output);
    stop_at(&env, "19:00:03", "s1", "See above.");
    let brief = thru_at(&env, "19:00:04", "s1", &["brief"]).stdout;
    let written = thru_at(&env, "19:00:05", "s1", &["handoff", "go on", "--json"]).json();
    [brief, env.run_thru(&["packet", "show", written["id"].as_str().unwrap()]).assert_ok().stdout]
}

/// The whole call succeeded, so the failed command before `||` is not listed as an open failure. It is not listed as
/// done either, because it failed.
#[test]
fn a_command_that_failed_before_an_or_is_neither_done_nor_open() {
    let rejected = "To x\n ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs to 'x'\nlater";
    let conflict =
        "CONFLICT (content): Merge conflict in a.rs\nAutomatic merge failed; fix conflicts and commit.";
    let clean = format!("{CLEAN}\nnothing to commit");
    for (command, output) in [
        ("git commit -m x || echo nothing to commit", clean.as_str()),
        ("git add . && git commit -m x || echo 'nothing to commit'", &clean),
        ("git commit -q -m x || echo 'commit failed'", "commit failed"),
        ("git commit -m x 2>/dev/null || printf 'skipped\\n'", "skipped"),
        ("git commit -m x >/dev/null || true", ""),
        ("git commit -m x || true", "husky - pre-commit hook exited with code 1"),
        ("git commit -m x || echo skipped", "husky - pre-commit hook exited with code 1\nskipped"),
        ("git commit -m x || echo skipped", "error: pathspec 'x' did not match any file(s)\nskipped"),
        ("git diff --cached --quiet || git commit -m x", ""),
        ("git push || echo 'push failed, will retry'", "push failed, will retry"),
        ("git push || echo later", "fatal: unable to access 'https://github.com/o/r/'\nlater"),
        ("git push 2>&1 || echo later", rejected),
        ("git merge topic || git merge --abort", conflict),
        ("git tag v1 || echo exists", "fatal: tag 'v1' already exists\nexists"),
        ("gh pr create --fill || gh pr view", "title: x"),
        ("npm publish || echo no", "no"),
    ] {
        for text in told_after(command, output) {
            let is_done = text.contains("Already done") || text.contains("commit “x”");
            assert!(!is_done && !text.contains("Failing"), "{command}: {text}");
        }
    }
}

#[test]
fn a_command_that_succeeded_before_an_or_is_done() {
    for (command, output, expected) in [
        (
            "git commit -m x || echo nothing to commit",
            "[main 1a2b3c4] x\n 1 file changed",
            "commit 1a2b3c4 on main “x”",
        ),
        ("git add . && git commit -qm x || echo failed", "", "commit “x”"),
        ("git commit -qm x || true", "", "commit “x”"),
        ("npm publish || echo no", "+ parser@1.0.0", "published"),
        (
            "git diff --quiet || git commit -m x",
            "[main 1a2b3c4] x\n 1 file changed",
            "commit 1a2b3c4 on main “x”",
        ),
    ] {
        let [brief, packet] = told_after(command, output);
        assert!(brief.contains(expected) && packet.contains(expected), "{command}: {brief}{packet}");
    }
}

/// `||` and `|` hide the exit code of a failed command. The failure still counts if the output shows it.
#[test]
fn a_failed_check_before_an_or_stays_open() {
    for (command, output) in [
        ("npm test || echo 'tests fail'", "tests fail"),
        ("npm test || true", "Tests: 1 failed, 2 passed, 3 total"),
        ("git push 2>&1 | tail -2; ls || true", " ! [rejected]        main -> main (fetch first)"),
    ] {
        let [brief, _] = told_after(command, output);
        assert!(brief.contains(&format!("Failing:\n- `{command}`")), "{command}: {brief}");
    }
}
