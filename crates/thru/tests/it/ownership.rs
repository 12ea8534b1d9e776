//! Which state folders and roots are trusted, depending on their owners, and which processes act for a person.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::call::Call;
use crate::env::{TestEnv, event_of, fixture_names};
use crate::roots::status_in;

const STRANGER: u32 = 4242;

/// Returns whether this test runs as root. Only root can change the owner of a file.
fn is_root(env: &TestEnv) -> bool {
    let root = fs::metadata(env.base()).unwrap().uid() == 0;
    if !root {
        println!("skipped: only root can give files to somebody else");
    }
    root
}

fn give_away(path: &Path) {
    chown(path, Some(STRANGER), Some(STRANGER)).unwrap();
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn untrusted() -> TestEnv {
    let env = TestEnv::rooted();
    env.thru(&["trust", "--revoke"]).ok();
    env
}

/// Copies a shell and gives it another name, so that it runs lines as a harness would.
fn shell_named(env: &TestEnv, rel: &str) -> PathBuf {
    let path = env.base().join(rel);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    assert!(Command::new("cp").arg("/bin/sh").arg(&path).status().unwrap().success());
    path
}

#[test]
fn trust_is_not_given_below_a_harness_whatever_the_environment_says() {
    let env = untrusted();
    let line = "\"$0\" \"$@\"; exit $?";
    let (claude, droid) = (shell_named(&env, "bin/claude"), shell_named(&env, "bin/droid"));
    let node = shell_named(&env, "bin/node");
    let script = env.write("lib/node_modules/@anthropic-ai/claude-code/cli.js", "\"$@\"\nexit $?\n");
    let trust = || env.call(&["trust"]);
    let dash_c: [&OsStr; 2] = ["-c".as_ref(), line.as_ref()];
    let calls: Vec<(&str, &str, Call)> = vec![
        ("claude", "claude-code", trust().through(&claude, &dash_c)),
        ("droid", "droid", trust().through(&droid, &dash_c)),
        ("a script of node", "claude-code", trust().through(&node, &[script.as_os_str()])),
        (
            "a shell, without variables",
            "claude-code",
            trust()
                .through("env", &["-u".as_ref(), "CLAUDECODE".as_ref()])
                .through("sh", &dash_c)
                .through(&claude, &dash_c),
        ),
        (
            "a session of its own",
            "claude-code",
            trust().through("setsid", &["--wait".as_ref()]).through(&claude, &dash_c),
        ),
    ];
    let before = env.store();
    for (about, harness, call) in calls {
        let refused = call.run();
        assert_eq!(refused.code, 15, "{about}: {refused}");
        assert!(refused.stderr.contains(harness) && refused.stderr.contains("process"), "{about}: {refused}");
        assert_eq!(env.json(&["status"])["trusted"], false, "{about}");
    }
    assert!(before.exists());
    trust().through("sh", &dash_c).run().ok();
    assert_eq!(env.json(&["status"])["trusted"], true, "a shell alone is no harness");
}

/// Asserts that hooks and commands do not trust a state folder that another user could have written.
#[track_caller]
fn assert_not_believed(env: &TestEnv, folder: &Path, about: &str) {
    let before = env.tree();
    for name in fixture_names().iter().filter(|name| !name.contains("subagent")) {
        env.hook(event_of(name), &env.fixture(name)).silent(&format!("{about}: {name}"));
    }
    before.assert_same(&env.tree(), about);
    for words in [&["status"][..], &["trust"], &["doctor"]] {
        let output = env.thru(words);
        let said = format!("{}{}", output.stdout, output.stderr);
        assert_ne!(output.code, 0, "{about}: {words:?}: {output}");
        assert!(said.contains(folder.to_str().unwrap()), "{about}: {words:?}: {output}");
    }
}

fn state_folder(env: &TestEnv, rel: &str) -> PathBuf {
    let state = env.home().join(".local/state");
    if rel.is_empty() { state } else { state.join(rel) }
}

#[test]
fn a_state_folder_that_others_may_write_is_not_believed() {
    for rel in ["", "throughline", "throughline/trust"] {
        for mode in [0o777, 0o1777, 0o702] {
            let env = TestEnv::rooted();
            let folder = state_folder(&env, rel);
            set_mode(&folder, mode);
            assert_not_believed(&env, folder.as_path(), &format!("{rel} {mode:o}"));
            set_mode(&folder, 0o755);
            env.thru(&["status"]).ok();
        }
    }
}

#[test]
fn a_state_folder_of_somebody_else_is_not_believed() {
    for rel in ["", "throughline", "throughline/trust"] {
        let env = TestEnv::rooted();
        if !is_root(&env) {
            return;
        }
        let folder = state_folder(&env, rel);
        give_away(&folder);
        assert_not_believed(&env, &folder, rel);
    }
}

#[test]
fn a_project_cannot_vouch_for_itself() {
    let env = TestEnv::rooted();
    let state = env.project().join("state");
    fs::create_dir_all(&state).unwrap();
    let from = env.home().join(".local/state/throughline");
    assert!(Command::new("cp").arg("-r").arg(&from).arg(&state).status().unwrap().success());
    symlink(&state, env.base().join("link")).unwrap();
    env.thru(&["trust", "--revoke"]).ok();
    let winding = env.project().join("../project/state");
    for forged in [state, env.base().join("link"), winding, "/proc/self/cwd/state".into()] {
        let before = env.tree();
        let payload = env.fixture("UserPromptSubmit").to_string();
        let hook = env.hook_call("UserPromptSubmit", payload).var("XDG_STATE_HOME", &forged).run();
        hook.silent("forged");
        before.assert_same(&env.tree(), "forged");
        let status = env.call(&["status"]).var("XDG_STATE_HOME", &forged).run().exits(15);
        assert!(status.stderr.contains("inside the project"), "{status}");
    }
}

/// Creates a root at `folder`, with `--root`.
fn mark(env: &TestEnv, folder: &Path) {
    env.thru(&["--root", folder.to_str().unwrap(), "context", "init"]).ok();
}

#[track_caller]
fn assert_no_root(env: &TestEnv, start: &Path, about: &str) {
    let payload = env.fixture_in("UserPromptSubmit", start);
    let before = env.tree();
    let call = env.hook_call("UserPromptSubmit", payload.to_string()).var("CLAUDE_PROJECT_DIR", start);
    call.run().silent(about);
    before.assert_same(&env.tree(), about);
    let status = status_in(env, start);
    assert_eq!(status["marked"], false, "{about}: {status}");
    let doctor = env.call(&["doctor"]).dir(start).run().exits(1);
    assert!(doctor.stdout.contains("is not used from here: "), "{about}: {doctor}");
}

#[test]
fn a_root_is_looked_for_within_the_working_tree() {
    let env = TestEnv::rooted();
    let inner = env.project().join("vendor/inner");
    fs::create_dir_all(&inner).unwrap();
    assert_eq!(status_in(&env, &inner)["marked"], true, "a plain folder");
    env.git_in(&inner, &["init", "--quiet"]);
    assert_no_root(&env, &inner, "a repository of its own");
    env.call(&["init"]).dir(&inner).run().ok();
    assert!(inner.join(".agent/context/root.json").exists());
}

#[test]
fn a_world_writable_folder_above_holds_no_root() {
    let env = TestEnv::new();
    let (shared, mine) = (env.base().join("shared"), env.base().join("shared/mine"));
    fs::create_dir_all(&mine).unwrap();
    mark(&env, &shared);
    assert_eq!(status_in(&env, &mine)["marked"], true);
    for mode in [0o1777, 0o777] {
        set_mode(&shared, mode);
        assert_no_root(&env, &mine, "shared");
        env.write("home/.claude/x", "");
        for words in [&["init"][..], &["install", "claude-code"]] {
            let refused = env.call(words).dir(&shared).run().exits(15);
            let named = refused.stderr.contains("roots") && refused.stderr.contains("other users may write");
            assert!(named, "{words:?}: {refused}");
            assert!(!shared.join(".claude").exists(), "{words:?}");
        }
    }
    // A damaged marker in a shared folder does not affect anybody.
    fs::write(shared.join(".agent/context/root.json"), "{").unwrap();
    assert_no_root(&env, &mine, "broken");
    env.call(&["init"]).dir(&mine).run().ok();
    assert!(mine.join(".agent/context/root.json").exists() && mine.join(".claude").exists());
}

#[test]
fn home_and_what_is_above_it_hold_no_root() {
    let env = TestEnv::new();
    let work = env.home().join("work");
    fs::create_dir_all(&work).unwrap();
    for folder in [env.home(), env.base().to_owned()] {
        let before = env.tree();
        let refused = env.call(&["init"]).dir(&folder).run().exits(15);
        assert!(refused.stderr.contains("home") && refused.stderr.contains("[roots] allow"), "{refused}");
        before.assert_same(&env.tree(), "refused");
        mark(&env, &folder);
        assert_no_root(&env, &work, "home");
        let named = env.call(&["status", "--json", "--root", folder.to_str().unwrap()]).run().ok().json();
        assert_eq!(named["marked"], true, "what is named is taken");
    }
    let refused = env.call(&["init"]).dir("/").run().exits(15);
    assert!(refused.stderr.contains("top of the file system"), "{refused}");
    env.write(env.user_config(), format!("[roots]\nallow = [\"{}\"]\n", env.home().display()));
    assert_eq!(status_in(&env, &work)["root"], env.home().to_str().unwrap(), "allowed");
}

#[test]
fn only_the_users_own_settings_can_allow_a_root() {
    let env = TestEnv::rooted();
    mark(&env, &env.home());
    let allow = format!("[roots]\nallow = [\"{}\"]\n", env.home().display());
    env.write("project/.agent/context/config.toml", &allow);
    env.write("home/.agent/context/config.toml", &allow);
    let told = env.thru(&["config"]).ok();
    assert!(told.stderr.contains("`roots.allow` counts only in your own settings file"), "{told}");
    let by_variable = env.call(&["status"]).dir(env.home()).var("THROUGHLINE_ROOTS_ALLOW", env.home());
    by_variable.run().exits(15);
    env.write(env.user_config(), "[roots]\nallow = [\"relative\"]\n");
    let told = env.thru(&["config"]).ok();
    assert!(told.stderr.contains("absolute paths"), "{told}");
}

#[test]
fn a_root_of_somebody_else_is_refused() {
    let env = TestEnv::rooted();
    if !is_root(&env) {
        return;
    }
    let sub = env.project().join("sub");
    fs::create_dir(&sub).unwrap();
    give_away(&env.project());
    let refused = env.thru(&["status"]).exits(15);
    assert!(refused.stderr.contains("another user") && refused.stderr.contains("roots"), "{refused}");
    assert_no_root(&env, &sub, "foreign");
    env.thru(&["handoff", "x"]).exits(15);
    env.thru(&["init"]).exits(15);
    env.write(env.user_config(), format!("[roots]\nallow = [\"{}\"]\n", env.project().display()));
    assert_eq!(status_in(&env, &sub)["trusted"], true);
}

#[test]
fn a_store_of_somebody_else_in_a_folder_of_ones_own_is_refused() {
    let env = TestEnv::rooted();
    set_mode(&env.store(), 0o777);
    let refused = env.thru(&["status"]).exits(15);
    assert!(refused.stderr.contains(".agent/context") && refused.stderr.contains("may write"), "{refused}");
    env.hook("UserPromptSubmit", &env.fixture("UserPromptSubmit")).silent("writable by others");
    assert_eq!(env.journal_lines(), 0);
    set_mode(&env.store(), 0o755);
    assert_eq!(status_in(&env, &env.project())["trusted"], true);
    if is_root(&env) {
        give_away(&env.store());
        env.thru(&["status"]).exits(15);
    }
}

#[test]
fn outside_git_the_search_ends_where_the_owner_changes() {
    let env = TestEnv::rooted();
    if !is_root(&env) {
        return;
    }
    let theirs = env.project().join("theirs");
    fs::create_dir_all(theirs.join("sub")).unwrap();
    give_away(&theirs);
    assert_no_root(&env, &theirs.join("sub"), "behind a folder of somebody else");
    env.git(&["init", "--quiet"]);
    assert_eq!(status_in(&env, &theirs.join("sub"))["marked"], true, "one working tree");
}
