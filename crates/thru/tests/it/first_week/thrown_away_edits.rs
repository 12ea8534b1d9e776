//! Tests changes that were thrown away, and changes that the same command line made afterwards.

use super::files_at_risk::repository_with_files;
use super::handoffs::{ask_at, fire_at, run_at, start_at, stop_at, thru_at};
use super::*;

const UPDATED: &str = "Updated 1 path from the index";

/// Creates a repository in which a session renamed a function in `tests/cli.rs`.
fn env_with_edit() -> TestEnv {
    let env = repository_with_files(&["tests/cli.rs", "README.md"]);
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Take back the change in tests/cli.rs and add an attribute");
    env.write_file("project/tests/cli.rs", "fn run_it() {}\n");
    let edit = json!({"file_path": env.project_folder().join("tests/cli.rs"),
        "old_string": "fn run() {}", "new_string": "fn run_it() {}"});
    fire_at(
        &env,
        "19:00:02",
        "s1",
        "PostToolUse",
        json!({"tool_name": "Edit", "tool_use_id": "e1", "tool_input": edit}),
    );
    env
}

fn brief_at(env: &TestEnv, time: &str) -> String {
    thru_at(env, time, "s1", &["brief", "--session", "s1"]).stdout
}

#[test]
fn a_change_after_the_checkout_in_the_same_line_is_at_risk() {
    for (line, output) in [
        ("git checkout tests/cli.rs && sed -i 's/a/b/' tests/cli.rs", UPDATED),
        ("git checkout -q -- tests/cli.rs && sed -i 's/a/b/' tests/cli.rs", ""),
        ("git restore tests/cli.rs; echo '// end' >> tests/cli.rs", ""),
        ("git reset --hard && echo '// end' >> tests/cli.rs", "HEAD is now at 1234567 One"),
        ("git commit -qam wip && echo '// end' >> tests/cli.rs", ""),
    ] {
        let env = env_with_edit();
        match line.starts_with("git commit") {
            true => env.run_git(&["commit", "-qam", "wip"]),
            false => env.run_git(&["checkout", "--quiet", "."]),
        };
        env.write_file("project/tests/cli.rs", "#[test]\nfn run() {}\n");
        run_at(&env, "19:00:03", "s1", line, output);
        stop_at(&env, "19:00:04", "s1", "Done.");
        let told = brief_at(&env, "19:00:05");
        assert!(told.contains("At risk:\n- 1 file edited by the session, not"), "{line}\n{told}");
        assert!(told.contains(": tests/cli.rs\n"), "{line}\n{told}");
        assert!(!told.contains("thrown away"), "{line}\n{told}");
        if !line.starts_with("git commit") {
            assert!(!told.contains("run_it"), "{line}\n{told}");
        }
    }
}

#[test]
fn a_line_that_changes_and_then_throws_away_leaves_nothing_at_risk() {
    let env = env_with_edit();
    env.run_git(&["checkout", "--quiet", "."]);
    run_at(&env, "19:00:03", "s1", "sed -i 's/a/b/' tests/cli.rs && git checkout tests/cli.rs", UPDATED);
    stop_at(&env, "19:00:04", "s1", "Done.");
    let told = brief_at(&env, "19:00:05");
    assert!(!told.contains("At risk"), "{told}");
    assert!(told.contains("changes thrown away: tests/cli.rs\n"), "{told}");
    assert!(!told.contains("run_it") && !told.contains("edited tests/cli.rs"), "{told}");
}

#[test]
fn an_edit_that_was_thrown_away_is_not_listed_as_done() {
    let env = env_with_edit();
    env.run_git(&["checkout", "--quiet", "."]);
    run_at(&env, "19:00:03", "s1", "git checkout tests/cli.rs", UPDATED);
    env.write_file("project/tests/cli.rs", "#[test]\nfn run() {}\n");
    run_at(&env, "19:00:04", "s1", "sed -i 's/^fn/#[test]\\nfn/' tests/cli.rs", "");
    stop_at(&env, "19:00:05", "s1", "Done.");
    let told = brief_at(&env, "19:00:06");
    assert!(told.contains("1 file edited by the session, not committed: tests/cli.rs\n"), "{told}");
    assert!(!told.contains("run_it"), "{told}");
}

/// Git does not throw away a file that it does not track.
#[test]
fn a_new_file_survives_a_checkout_of_everything() {
    let env = env_with_edit();
    env.write_file("project/src/new.rs", "fn new() {}\n");
    let write = json!({"file_path": env.project_folder().join("src/new.rs"), "content": "fn new() {}\n"});
    fire_at(
        &env,
        "19:00:03",
        "s1",
        "PostToolUse",
        json!({"tool_name": "Write", "tool_use_id": "w1", "tool_input": write}),
    );
    env.run_git(&["checkout", "--quiet", "."]);
    run_at(&env, "19:00:04", "s1", "git checkout .", UPDATED);
    let told = brief_at(&env, "19:00:05");
    assert!(told.contains("1 file edited by the session, not committed: src/new.rs\n"), "{told}");
}
