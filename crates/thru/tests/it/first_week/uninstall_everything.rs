//! `thru uninstall --all` gives back every byte, wherever something was installed, and says what it leaves.

use super::*;

/// The user's settings, with a layout that no program would write.
const OWN_SETTINGS: &str = "{\n\t\"model\":   \"opus\",\n  \"hooks\": { \"Stop\": [ {\"hooks\": []} ] },\n\t\"env\": {\"A\":\"1\"} }\n";
const OWN_STATUS_LINE: &str = "{\n\t\"statusLine\": { \"type\": \"command\", \"command\": \"echo 'my own'\" }, \"model\": \"opus\"\n}\n";

/// Installs everything that can be installed: for the user, for the project and for this machine, in two checkouts of
/// one repository and in a second project, with the status line and the agents of a swarm.
fn install_everything(env: &TestEnv) {
    env.run_thru(&["init"]).assert_ok();
    for harness in ["claude-code", "droid", "opencode"] {
        env.run_thru(&["install", harness]).assert_ok();
        env.run_thru(&["install", harness, "--project"]).assert_ok();
        env.run_thru(&["install", harness, "--user"]).assert_ok();
        env.run_thru(&["swarm", "install", "--harness", harness]).assert_ok();
    }
    env.run_thru(&["install", "claude-code", "--user", "--statusline"]).assert_ok();
    let second = env.base_folder().join("second");
    env.thru_call(&["init"]).in_folder(&second).run().assert_ok();
    env.thru_call(&["install", "claude-code"]).in_folder(&second).run().assert_ok();
}

#[test]
fn uninstall_all_gives_back_the_whole_tree_byte_for_byte() {
    let env = repository_with_claude_code();
    add_worktree(&env);
    for file in [
        "project/.claude/settings.json",
        "project/.claude/settings.local.json",
        "project/.factory/settings.json",
        "home/.factory/settings.json",
        "beside/.claude/settings.local.json",
        "second/.claude/settings.local.json",
    ] {
        env.write_file(file, OWN_SETTINGS);
    }
    env.write_file("home/.claude/settings.json", OWN_STATUS_LINE);
    env.write_file("home/.config/opencode/opencode.json", "{ \"theme\":\"mine\" }\n");
    env.write_file("project/.claude/commands/mine.md", "mine\n");
    env.write_file("project/.git/info/exclude", "# mine\n*.orig\r\n/target");
    let before = env.file_tree();
    install_everything(&env);
    let installed = before.content_changes_to(&env.file_tree());
    for part in
        ["/home/.claude/settings.json", "/home/.factory", "/beside/.claude", "/second/.claude", "/opencode"]
    {
        assert!(installed.iter().any(|change| change.contains(part)), "{part}: {installed:#?}");
    }
    env.run_thru(&["uninstall", "--all"]).assert_ok();
    let mut left = before.content_changes_to(&env.file_tree());
    // What is left is named to the user: the records and the state folder.
    left.retain(|change| {
        !change.contains("/.agent") && !change[1..].starts_with("/home/.local") && *change != "+/home/.cache"
    });
    assert_eq!(left, [""; 0]);
}

#[test]
fn uninstall_all_says_what_it_leaves_and_how_to_remove_it() {
    let env = repository_with_claude_code();
    env.run_thru(&["init"]).assert_ok();
    env.write_file(env.user_config_path(), "[hooks]\nenabled = true\n");
    let said = env.run_thru(&["uninstall", "--all"]).assert_ok().stdout;
    let (_, left) = said.split_once("Left on this machine, because it is yours. ").unwrap();
    assert!(
        left.starts_with("When you no longer want one of these files and folders, delete it:\n"),
        "{said}"
    );
    let rows: Vec<&str> = left.lines().skip(1).collect();
    let program = crate::env::thru_binary().canonicalize().unwrap();
    let expected = [
        (env.store_folder(), "records"),
        (env.home_folder().join(".local/state/throughline"), "trust, consent and backups of settings files"),
        (env.user_config_path(), "your thru settings"),
        (program, "the program"),
    ];
    let expected = expected.map(|(path, what)| format!("  {}  {what}", path.display()));
    assert_eq!(rows, expected, "{said}");
}
