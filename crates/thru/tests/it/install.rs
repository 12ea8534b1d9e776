//! `thru install`, `uninstall`, and the hooks that `init` installs. Text is only inserted, and uninstalling restores
//! the exact bytes.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;

use crate::env::{TestEnv, copy_binary, names_in};

const LOCAL_SETTINGS_PATH: &str = "project/.claude/settings.local.json";

const USER_SETTINGS: &str = "{\n\t// my own\n\t\"permissions\": {\"allow\": [\"Bash(ls:*)\"]},\n\t\"hooks\": {\n\t\t\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}],\n\t},\n}\r\n";

#[test]
fn install_is_insertion_and_uninstall_gives_the_bytes_back() {
    for (words, rel) in [
        (&["claude-code"][..], LOCAL_SETTINGS_PATH),
        (&["claude-code", "--user"], "home/.claude/settings.json"),
        (&["claude-code", "--project"], "project/.claude/settings.json"),
        (&["droid"], "home/.factory/settings.json"),
        (&["droid", "--project"], "project/.factory/settings.json"),
    ] {
        let env = TestEnv::with_repository();
        env.run_thru(&["context", "init"]).assert_ok();
        env.write_file(rel, USER_SETTINGS);
        let before = env.file_tree();
        env.run_thru(&[&["install"], words].concat()).assert_ok();
        let installed = fs::read_to_string(env.base_folder().join(rel)).unwrap();
        for line in USER_SETTINGS.lines() {
            assert!(installed.contains(line.trim_end_matches(['}', ',', ']'])), "{rel}: {line}\n{installed}");
        }
        assert!(installed.contains("hook"), "{installed}");
        let once = env.file_tree();
        let again = env.run_thru(&[&["install"], words].concat()).assert_ok();
        once.assert_unchanged(&env.file_tree(), "twice is once");
        assert!(again.stdout.contains("nothing to change"), "{again}");
        env.run_thru(&[&["uninstall"], words].concat()).assert_ok();
        let mut changes = before.changes_to(&env.file_tree());
        changes.retain(|change| !change.contains("/.local") && !change.starts_with('~'));
        assert_eq!(changes, [""; 0], "{words:?}");
        assert_eq!(fs::read_to_string(env.base_folder().join(rel)).unwrap(), USER_SETTINGS, "{words:?}");
    }
}

#[test]
fn a_dry_run_shows_the_diff_and_writes_nothing() {
    let env = TestEnv::with_repository();
    env.write_file(LOCAL_SETTINGS_PATH, USER_SETTINGS);
    let before = env.file_tree();
    let shown = env.run_thru(&["install", "claude-code", "--dry-run"]).assert_ok().stdout;
    before.assert_unchanged(&env.file_tree(), "a dry run");
    assert!(
        shown.contains("\n+") && shown.contains("PostToolUse") && shown.contains("would change"),
        "{shown}"
    );
}

#[test]
fn what_one_person_installs_does_not_show_in_git() {
    let env = TestEnv::with_repository();
    env.write_file("home/.claude/x", "");
    env.run_thru(&["init"]).assert_ok();
    assert_eq!(env.run_git(&["status", "--porcelain"]), "");
    let exclude = fs::read_to_string(env.project_folder().join(".git/info/exclude")).unwrap();
    assert!(exclude.contains("/.claude/settings.local.json"), "{exclude}");
    env.run_thru(&["uninstall", "claude-code"]).assert_ok();
    let exclude = fs::read_to_string(env.project_folder().join(".git/info/exclude")).unwrap();
    assert!(!exclude.contains("throughline") && !exclude.contains(".claude"), "{exclude}");
    assert!(!env.project_folder().join(".claude/settings.local.json").exists(), "it was not there before");
}

#[test]
fn a_file_in_git_is_written_only_when_that_is_said() {
    let env = TestEnv::with_repository();
    env.write_file(LOCAL_SETTINGS_PATH, "{}");
    env.run_git(&["add", "-f", "."]);
    env.run_git(&["commit", "-qm", "x"]);
    let refused = env.run_thru(&["install", "claude-code"]).assert_exit_code(15);
    assert!(refused.stderr.contains("--project"), "{refused}");
    assert_eq!(fs::read_to_string(env.base_folder().join(LOCAL_SETTINGS_PATH)).unwrap(), "{}");
}

#[test]
fn a_file_that_does_not_parse_is_left_alone() {
    let env = TestEnv::with_repository();
    env.write_file(LOCAL_SETTINGS_PATH, "{\n  \"hooks\": {\n");
    let refused = env.run_thru(&["install", "claude-code"]).assert_exit_code(12);
    assert!(refused.stderr.contains("settings.local.json") && refused.stderr.contains("line 3"), "{refused}");
    assert_eq!(
        fs::read_to_string(env.base_folder().join(LOCAL_SETTINGS_PATH)).unwrap(),
        "{\n  \"hooks\": {\n"
    );
    let init = env.run_thru(&["init"]).assert_ok();
    assert!(init.stderr.contains("not wired"), "{init}");
}

#[test]
fn settings_behind_a_link_stay_behind_it() {
    let env = TestEnv::new();
    let real = env.write_file("dotfiles/settings.json", USER_SETTINGS);
    fs::create_dir_all(env.home_folder().join(".claude")).unwrap();
    let link = env.home_folder().join(".claude/settings.json");
    symlink(&real, &link).unwrap();
    env.run_thru(&["install", "claude-code", "--user"]).assert_ok();
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("PostToolUse"));
    env.run_thru(&["uninstall", "claude-code", "--user"]).assert_ok();
    assert_eq!(fs::read_to_string(&real).unwrap(), USER_SETTINGS);
}

#[test]
fn init_wires_what_is_in_use_and_nothing_else() {
    let env = TestEnv::with_repository();
    let report = env.run_thru_json(&["init"]);
    assert_eq!(
        (report["wired"].as_array().unwrap().len(), env.home_folder().join(".claude").exists()),
        (0, false)
    );
    env.write_file("home/.factory/x", "");
    let report = env.run_thru_json(&["init"]);
    let names: Vec<&Value> =
        report["wired"].as_array().unwrap().iter().map(|wired| &wired["harness"]).collect();
    assert_eq!(names, ["droid"]);
    let hooks: Value =
        serde_json::from_slice(&fs::read(env.home_folder().join(".factory/hooks.json")).unwrap()).unwrap();
    let command = hooks["PostToolUse"][0]["hooks"][0]["command"].as_str().unwrap();
    assert!(command.ends_with("thru hook droid PostToolUse") && command.starts_with('/'), "{command}");
    let env = TestEnv::with_repository();
    env.write_file("home/.claude/x", "");
    assert_eq!(env.run_thru_json(&["init", "--no-hooks"])["wired"].as_array().unwrap().len(), 0);
    assert_eq!(env.run_thru_json(&["context", "init"])["wired"].as_array().unwrap().len(), 0);
}

#[test]
fn a_hook_of_claude_code_is_started_without_a_shell() {
    let env = TestEnv::with_repository();
    env.run_thru(&["install", "claude-code"]).assert_ok();
    let settings: Value =
        serde_json::from_slice(&fs::read(env.base_folder().join(LOCAL_SETTINGS_PATH)).unwrap()).unwrap();
    let hook = &settings["hooks"]["PostToolUse"][0]["hooks"][0];
    assert_eq!(hook["args"], serde_json::json!(["hook", "claude-code", "PostToolUse"]));
    assert!(hook["command"].as_str().is_some_and(|command| command.starts_with('/')), "{hook}");
    env.run_thru(&["install", "claude-code", "--project"]).assert_ok();
    let shared = fs::read_to_string(env.project_folder().join(".claude/settings.json")).unwrap();
    assert!(
        shared.contains("command -v thru") && !shared.contains(env.base_folder().to_str().unwrap()),
        "{shared}"
    );
}

#[test]
fn a_command_of_the_users_own_is_not_overwritten() {
    let env = TestEnv::with_repository();
    let mine = env.write_file("project/.claude/commands/thru-context.md", "mine\n");
    let noted = env.run_thru(&["install", "claude-code"]).assert_ok();
    assert!(noted.stderr.contains("left unchanged"), "{noted}");
    env.run_thru(&["uninstall", "claude-code"]).assert_ok();
    assert_eq!(fs::read_to_string(mine).unwrap(), "mine\n");
}

/// Only our own files are hidden from git, through the exclude list that all worktrees share.
#[test]
fn a_command_of_the_users_own_is_not_hidden_from_git() {
    const USERS_COMMAND_FILE: &str = ".claude/commands/thru-context.md";
    const OUR_COMMAND_FILE: &str = ".claude/commands/handoff.md";
    let env = TestEnv::with_repository();
    env.write_file("project/a.py", "");
    env.run_git(&["add", "a.py"]);
    env.run_git(&["commit", "-qm", "start"]);
    env.run_git(&["worktree", "add", "-q", "../tree"]);
    let list = env.project_folder().join(".git/info/exclude");
    let is_hidden =
        |file: &str| fs::read_to_string(&list).unwrap().lines().any(|line| line == format!("/{file}"));
    // Try both cases: the user's own file is in the main checkout, or in the other worktree.
    for folder in ["project", "tree"] {
        let mine = env.write_file(format!("{folder}/{USERS_COMMAND_FILE}"), "mine\n");
        env.run_thru(&["install", "claude-code"]).assert_ok();
        assert!(
            is_hidden(OUR_COMMAND_FILE) && !is_hidden(USERS_COMMAND_FILE),
            "{folder}: {}",
            fs::read_to_string(&list).unwrap()
        );
        let again = env.run_thru(&["install", "claude-code", "--json"]).assert_ok().stdout;
        assert!(!again.contains("info/exclude"), "{folder}: {again}");
        env.run_thru(&["uninstall", "claude-code"]).assert_ok();
        fs::remove_file(mine).unwrap();
    }
    // An older version listed the user's file in `.git/info/exclude`. Our line is removed. An identical line above
    // ours, which the user wrote, is kept.
    env.run_thru(&["install", "claude-code"]).assert_ok();
    assert!(is_hidden(USERS_COMMAND_FILE));
    env.write_file(format!("project/{USERS_COMMAND_FILE}"), "mine\n");
    env.run_thru(&["install", "claude-code"]).assert_ok();
    assert!(is_hidden(OUR_COMMAND_FILE) && !is_hidden(USERS_COMMAND_FILE));
    env.run_thru(&["uninstall", "claude-code"]).assert_ok();
    fs::write(&list, format!("/{USERS_COMMAND_FILE}\n")).unwrap();
    env.run_thru(&["install", "claude-code"]).assert_ok();
    assert!(is_hidden(OUR_COMMAND_FILE) && is_hidden(USERS_COMMAND_FILE));
    env.run_thru(&["uninstall", "claude-code"]).assert_ok();
    assert_eq!(fs::read_to_string(&list).unwrap(), format!("/{USERS_COMMAND_FILE}\n"));
}

#[test]
fn the_doctor_knows_what_is_wired_and_what_never_fired() {
    let env = TestEnv::with_repository();
    env.write_file("home/.claude/settings.json", "{\"cleanupPeriodDays\": 7}");
    env.run_thru(&["init"]).assert_ok();
    env.fire_hook("SessionStart", &env.captured_payload("SessionStart.startup")).assert_silent("start");
    let doctor = env.run_thru(&["doctor"]).assert_ok().stdout;
    assert!(doctor.contains("never fired here: ") && doctor.contains(", Stop, "), "{doctor}");
    assert!(!doctor.contains("here: SessionStart"), "{doctor}");
    assert!(doctor.contains("after 7 days") && doctor.contains("/thru-context"), "{doctor}");
    assert_eq!(env.run_thru_json(&["doctor"])["events"][0]["event"], "session-start");
}

#[test]
fn a_file_that_the_harness_ignores_is_named() {
    let env = TestEnv::with_repository();
    env.write_file("home/.claude/x", "");
    env.write_file(LOCAL_SETTINGS_PATH, USER_SETTINGS);
    let init = env.run_thru(&["init"]).assert_ok();
    assert!(init.stderr.contains("ignores this file"), "{init}");
    assert!(init.stdout.contains("Next: remove the comments and trailing commas from "), "{init}");
    let status = env.run_thru(&["status"]).assert_ok();
    assert!(status.stdout.contains("not running") && status.stdout.contains("ignores this file"), "{status}");
    assert!(!status.stdout.contains("wired") && status.stdout.contains("Next: remove"), "{status}");
    assert_eq!(env.run_thru_json(&["status"])["next"], "fix-settings");
    let journal = env.run_thru(&["journal"]);
    assert!(journal.stderr.contains("`thru doctor` says what is missing"), "{journal}");
    let doctor = env.run_thru(&["doctor"]).assert_exit_code(1);
    assert!(doctor.stdout.contains("ignores this file"), "{doctor}");
}

#[test]
fn wired_twice_is_avoided_and_told() {
    let env = TestEnv::with_repository();
    env.run_thru(&["install", "claude-code", "--user"]).assert_ok();
    let init = env.run_thru(&["init"]).assert_ok();
    assert!(init.stderr.contains("already wired, in"), "{init}");
    assert!(!env.base_folder().join(LOCAL_SETTINGS_PATH).exists());
    env.run_thru(&["install", "claude-code"]).assert_ok();
    assert!(env.run_thru(&["doctor"]).assert_exit_code(1).stdout.contains("wired more than once"));
    let left = env.run_thru(&["uninstall", "claude-code"]).assert_ok();
    assert!(left.stderr.contains("still here"), "{left}");
    env.run_thru(&["doctor"]).assert_ok();
}

#[test]
fn a_list_of_gits_that_is_no_text_is_kept() {
    let env = TestEnv::with_repository();
    let mine = b"caf\xe9\n/.claude/mine\n".to_vec();
    env.write_file("project/.git/info/exclude", &mine);
    env.run_thru(&["install", "claude-code"]).assert_ok();
    env.run_thru(&["uninstall", "claude-code"]).assert_ok();
    assert_eq!(fs::read(env.project_folder().join(".git/info/exclude")).unwrap(), mine);
}

/// The exclude list did not end with a newline, so the installation added one before our lines. Uninstalling removes
/// that newline only if no line follows ours.
#[test]
fn what_the_user_adds_below_our_lines_keeps_its_line_end() {
    let env = TestEnv::with_repository();
    let list = env.project_folder().join(".git/info/exclude");
    for (added, left) in [("", "*.log"), ("*.tmp\n", "*.log\n*.tmp\n")] {
        env.write_file("project/.git/info/exclude", "*.log");
        env.run_thru(&["install", "claude-code"]).assert_ok();
        let ours = fs::read_to_string(&list).unwrap();
        env.write_file("project/.git/info/exclude", format!("{ours}{added}"));
        env.run_thru(&["uninstall", "claude-code"]).assert_ok();
        assert_eq!(fs::read_to_string(&list).unwrap(), left);
    }
}

#[test]
fn every_cycle_gives_the_bytes_back() {
    let env = TestEnv::with_repository();
    let before = env.file_tree();
    for _ in 0..3 {
        env.run_thru(&["install", "claude-code"]).assert_ok();
        env.run_thru(&["uninstall", "claude-code"]).assert_ok();
        assert!(!env.base_folder().join(LOCAL_SETTINGS_PATH).exists(), "it was not there before");
        let mut changes = before.changes_to(&env.file_tree());
        changes.retain(|change| {
            !change.contains("/.local") && !change.starts_with('~') && !change.ends_with("/.claude")
        });
        assert_eq!(changes, [""; 0]);
    }
}

#[test]
fn the_doctor_names_settings_that_do_not_parse() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    env.write_file(LOCAL_SETTINGS_PATH, "{ \"hooks\": [");
    let doctor = env.run_thru(&["doctor"]).assert_exit_code(1);
    assert!(doctor.stdout.contains("settings.local.json") && doctor.stdout.contains("column"), "{doctor}");
}

#[test]
fn one_folder_of_commands_serves_both_scopes_of_a_project() {
    let env = TestEnv::with_repository();
    env.run_thru(&["context", "init"]).assert_ok();
    env.run_thru(&["install", "claude-code"]).assert_ok();
    env.run_thru(&["install", "claude-code", "--project"]).assert_ok();
    let command = env.project_folder().join(".claude/commands/thru-context.md");
    let shown = env.run_git(&["status", "--porcelain", "-uall"]);
    assert!(shown.contains("thru-context.md") && !shown.contains("settings.local.json"), "{shown}");
    env.run_thru(&["uninstall", "claude-code"]).assert_ok();
    assert!(command.exists(), "the project's install still needs it");
    let exclude = fs::read_to_string(env.project_folder().join(".git/info/exclude")).unwrap();
    assert!(!exclude.contains(".claude") && !exclude.contains("throughline"), "{exclude}");
    env.run_thru(&["uninstall", "claude-code", "--project"]).assert_ok();
    assert!(!env.project_folder().join(".claude").exists(), "the folder was ours");
}

#[test]
fn the_doctor_names_versions_and_files_that_do_not_parse() {
    let env = TestEnv::with_repository();
    env.write_file("lib/node_modules/x/package.json", "{\"name\": \"x\", \"version\": \"9.8.7\"}");
    env.write_file("lib/node_modules/x/bin/claude", "#!/bin/sh\n");
    env.write_file("bin/.keep", "");
    symlink(env.base_folder().join("lib/node_modules/x/bin/claude"), env.base_folder().join("bin/claude"))
        .unwrap();
    env.run_thru(&["context", "init"]).assert_ok();
    env.run_thru(&["install", "claude-code"]).assert_ok();
    env.write_file("home/.claude/settings.json", "{\n  nonsense\n}\n");
    let path = format!("{}:/usr/bin:/bin", env.base_folder().join("bin").display());
    let told = env.thru_call(&["doctor"]).with_variable("PATH", &path).run().assert_exit_code(1);
    assert!(told.stdout.contains("Claude Code 9.8.7, hooks in"), "{told}");
    assert!(told.stdout.contains("home/.claude/settings.json"), "{told}");
}

#[test]
fn a_file_that_is_ours_alone_goes_also_after_a_change() {
    for (harness, rel) in [("claude-code", LOCAL_SETTINGS_PATH), ("droid", "home/.factory/hooks.json")] {
        let env = TestEnv::with_repository();
        env.run_thru(&["context", "init"]).assert_ok();
        env.run_thru(&["install", harness]).assert_ok();
        env.write_file("home/.config/throughline/config.toml", "[loops]\nvalidator_timeout = 600\n");
        let changed = env.run_thru(&["install", harness]).assert_ok();
        assert!(changed.stdout.contains("changed"), "{changed}");
        env.run_thru(&["uninstall", harness]).assert_ok();
        assert!(!env.base_folder().join(rel).exists(), "{rel}");
    }
}

#[test]
fn a_file_that_does_not_parse_keeps_nothing_of_ours_in_the_others() {
    let env = TestEnv::with_repository();
    env.run_thru(&["context", "init"]).assert_ok();
    env.run_thru(&["install", "droid"]).assert_ok();
    let broken = env.write_file("home/.factory/settings.json", "{ \"hooks\": ");
    let told = env.run_thru(&["uninstall", "droid"]).assert_exit_code(12);
    assert!(
        told.stderr.contains(broken.to_str().unwrap()) && told.stderr.contains("fix that file"),
        "{told}"
    );
    assert_eq!(names_in(&env.home_folder().join(".factory")), ["settings.json"], "{told}");
    assert_eq!(fs::read_to_string(&broken).unwrap(), "{ \"hooks\": ");
    let again = env.thru_call(&["uninstall", "droid", "--json"]).run().assert_exit_code(12).json();
    assert_eq!(again["failed"][0]["path"], broken.to_str().unwrap());
    fs::write(&broken, "{}").unwrap();
    env.run_thru(&["uninstall", "droid"]).assert_ok();
}

#[test]
fn what_cannot_be_installed_whole_is_not_begun() {
    let env = TestEnv::with_repository();
    env.write_file("project/.claude/commands", "a file of mine");
    let before = env.file_tree();
    env.run_thru(&["install", "claude-code"]).assert_exit_code(15);
    before.assert_unchanged(&env.file_tree(), "nothing was written");
}

#[test]
fn what_the_user_wrote_into_a_command_of_ours_is_kept() {
    for task in ["install", "uninstall"] {
        let env = TestEnv::with_repository();
        env.run_thru(&["install", "claude-code"]).assert_ok();
        let path = env.project_folder().join(".claude/commands/handoff.md");
        let mine = fs::read_to_string(&path).unwrap() + "And in German, please.\n";
        fs::write(&path, &mine).unwrap();
        let report = env.run_thru_json(&[task, "claude-code"]);
        let files = report["files"].as_array().unwrap();
        let kept =
            files.iter().filter_map(|file| file["backup"].as_str()).find(|p| p.ends_with("handoff.md"));
        assert_eq!(fs::read_to_string(kept.unwrap()).unwrap(), mine, "{task}");
        assert_eq!(files.iter().filter(|file| file["backup"].is_string()).count(), 1, "{task}: {report}");
    }
}

#[test]
fn a_binary_of_any_place_and_name_is_known_again() {
    for name in ["it's here/thru", "with a blank/thru", "thru-copy"] {
        for harness in ["claude-code", "droid"] {
            let env = TestEnv::with_repository();
            let copy = env.base_folder().join(name);
            fs::create_dir_all(copy.parent().unwrap()).unwrap();
            copy_binary(&copy);
            let run = |task| env.thru_call(&[task, harness, "--user"]).with_program(&copy).run().assert_ok();
            run("install");
            assert!(run("install").stdout.contains("nothing to change"), "{name}, {harness}");
            let folder = env.home_folder().join(if harness == "droid" { ".factory" } else { ".claude" });
            let command = fs::read_to_string(folder.join("commands/pickup.md")).unwrap();
            assert!(!command.contains("`/") || name == "thru-copy", "quoted: {command}");
            run("uninstall");
            assert_eq!(names_in(&folder), [""; 0], "{name}, {harness}");
        }
    }
}

#[test]
fn a_binary_called_by_a_winding_path_is_written_straight() {
    let env = TestEnv::with_repository();
    let copy = env.base_folder().join("thru");
    copy_binary(&copy);
    let way = std::path::Path::new("../home/../thru");
    env.thru_call(&["install", "claude-code"]).with_program(way).run().assert_ok();
    let text = fs::read_to_string(env.base_folder().join(LOCAL_SETTINGS_PATH)).unwrap();
    assert!(text.contains(copy.to_str().unwrap()) && !text.contains(".."), "{text}");
}

#[test]
fn a_folder_that_may_not_be_written_is_told_as_such() {
    let env = TestEnv::with_repository();
    let call = env.call_bound_by_modes(&["install", "claude-code"]);
    fs::set_permissions(env.project_folder(), std::os::unix::fs::PermissionsExt::from_mode(0o555)).unwrap();
    call.run().assert_exit_code(11);
}

/// An older version wrote a command `/loop`, a name that the harness itself now uses. A user's own command with this
/// name is kept.
#[test]
fn a_command_that_was_renamed_leaves_no_file_of_its_old_name() {
    for task in ["install", "uninstall"] {
        let env = TestEnv::with_repository();
        env.run_thru(&["install", "droid"]).assert_ok();
        let folder = env.home_folder().join(".factory/commands");
        let ours = fs::read_to_string(folder.join("thru-loop.md")).unwrap();
        env.write_file(folder.join("loop.md"), ours);
        env.write_file(folder.join("context.md"), "mine\n");
        env.run_thru(&[task, "droid"]).assert_ok();
        assert!(!folder.join("loop.md").exists(), "{task}");
        assert_eq!(fs::read_to_string(folder.join("context.md")).unwrap(), "mine\n", "{task}");
    }
}

/// The status line is added only to the user's own settings. If the user already had a status line, ours calls it
/// first, and uninstalling restores it byte for byte.
#[test]
fn a_status_line_is_added_and_removed() {
    let env = TestEnv::with_root();
    let settings = env.home_folder().join(".claude/settings.json");
    let own = "{\n\t\"statusLine\": { \"type\": \"command\", \"command\": \"echo 'my own'\" }\n}\n";
    for before in [None, Some("{}\n"), Some(own)] {
        let _ = fs::remove_file(&settings);
        if let Some(before) = before {
            env.write_file(&settings, before);
        }
        let would =
            env.run_thru(&["install", "claude-code", "--user", "--statusline", "--dry-run"]).assert_ok();
        assert!(would.stdout.contains("statusline"), "{would}");
        assert_eq!(fs::read_to_string(&settings).ok().as_deref(), before, "a dry run");
        env.run_thru(&["install", "claude-code", "--user", "--statusline"]).assert_ok();
        let installed: Value = serde_json::from_str(&fs::read_to_string(&settings).unwrap()).unwrap();
        let line = installed["statusLine"]["command"].as_str().unwrap();
        let status = serde_json::json!({"session_id": "s1", "context_window": {"used_percentage": 42}});
        let mut shell = std::process::Command::new("sh");
        shell
            .args(["-c", line])
            .env_clear()
            .env("HOME", env.home_folder())
            .env("PATH", std::env::var_os("PATH").unwrap());
        let shown = crate::call::ThruCall::new(shell).with_stdin(status.to_string()).run().assert_ok();
        let expected = if before == Some(own) { "my own\ncontext 42%\n" } else { "context 42%\n" };
        assert_eq!(shown.stdout, expected);
        env.run_thru(&["install", "claude-code", "--user", "--statusline"]).assert_ok();
        env.run_thru(&["uninstall", "claude-code", "--user"]).assert_ok();
        assert_eq!(fs::read_to_string(&settings).ok().as_deref(), before);
    }
    // The status line was installed together with a project's hooks. Removing the hooks keeps the status line, and a
    // message says so.
    env.run_thru(&["install", "claude-code", "--statusline"]).assert_ok();
    let local = env.run_thru(&["uninstall", "claude-code"]).assert_ok();
    assert!(local.stderr.contains("thru's status line is still here"), "{local}");
    assert!(local.stderr.contains("`thru uninstall claude-code --user`"), "{local}");
    let whole = env.run_thru(&["uninstall", "claude-code", "--user"]).assert_ok();
    assert!(!whole.stderr.contains("status line"), "{whole}");
    assert_eq!(fs::read_to_string(&settings).unwrap(), own);
    let local = env.run_thru(&["uninstall", "claude-code"]).assert_ok();
    assert!(!local.stderr.contains("status line"), "{local}");
    let refused =
        env.run_thru(&["install", "droid", "--user", "--statusline", "--dry-run"]).assert_exit_code(15);
    assert!(refused.stderr.contains("programs cannot set the status line of droid"), "{refused}");
}
