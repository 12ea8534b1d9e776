//! A repository's own settings may name commands that git would run. `thru` runs git, but git must run none of these
//! commands.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::env::TestEnv;

/// Settings that make `git status` or another read-only command run a program.
const DANGEROUS_GIT_SETTINGS: &[(&str, &str)] = &[
    ("fsmonitor", "[core]\n\tfsmonitor = @\n"),
    ("a hooks folder", "[core]\n\thooksPath = @.d\n"),
    ("a clean filter", "[filter \"evil\"]\n\tclean = @\n\trequired = true\n"),
    ("a filter process", "[filter \"evil\"]\n\tprocess = @\n"),
    ("an included filter", "[include]\n\tpath = included\n"),
    ("a pager", "[core]\n\tpager = @\n[pager]\n\tstatus = true\n\tls-files = true\n"),
    ("an alias", "[alias]\n\tstatus = !@\n\tls-files = !@\n"),
    (
        "a partial clone",
        "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = origin\n[remote \"origin\"]\n\turl = ext::@\n\tpromisor = true\n\tuploadpack = @\n[protocol]\n\tallow = always\n",
    ),
];

/// A way in which the settings get into the project: its name, and a function that puts them there.
type SettingsArrangement = (&'static str, fn(&TestEnv));

#[test]
fn git_runs_no_command_of_the_repository() {
    for (name, settings) in DANGEROUS_GIT_SETTINGS {
        let env = TestEnv::new();
        env.run_git(&["init", "-q"]);
        env.run_thru(&["init", "--no-hooks"]).assert_ok();
        env.write_file("project/src/a.rs", "fn a() {}\n");
        env.run_git(&["add", "src"]);
        env.run_git(&["commit", "-q", "-m", "a"]);
        env.write_file("project/.gitattributes", "* filter=evil\n");
        // The new content has the same length as the old, so git must read the file to detect the change.
        env.write_file("project/src/a.rs", "fn b() {}\n");
        let project = env.project_folder();
        let script = env.base_folder().join("script");
        let canary = env.base_folder().join("canary");
        let text = format!("#!/bin/sh\ntouch {}\ncat\n", canary.display());
        fs::create_dir_all(env.base_folder().join("script.d")).unwrap();
        for path in [script.clone(), env.base_folder().join("script.d/post-index-change")] {
            fs::write(&path, &text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let script = script.display().to_string();
        fs::write(project.join(".git/included"), format!("[filter \"evil\"]\n\tclean = {script}\n")).unwrap();
        let config = project.join(".git/config");
        let was = fs::read_to_string(&config).unwrap();
        fs::write(&config, format!("{was}{}", settings.replace('@', &script))).unwrap();
        let packet = env.run_thru(&["handoff", "go on"]).assert_ok();
        for words in [
            ["pickup"].as_slice(),
            &["files"],
            &["status"],
            &["doctor"],
            &["install", "claude-code"],
            &["uninstall", "claude-code"],
        ] {
            env.run_thru(words);
        }
        assert!(!canary.exists(), "{name}: git ran it; {packet}");
    }
}

#[test]
fn changed_files_are_still_counted() {
    let env = TestEnv::new();
    env.run_git(&["init", "-q"]);
    env.run_thru(&["init", "--no-hooks"]).assert_ok();
    env.write_file("project/src/a.rs", "fn a() {}\n");
    env.run_git(&["add", "."]);
    env.run_git(&["commit", "-q", "-m", "a"]);
    env.write_file("project/src/a.rs", "fn b() {}\n");
    env.write_file("project/src/c.rs", "fn c() {}\n");
    env.run_thru(&["handoff", "go on"]).assert_ok();
    let shown = env.run_thru(&["pickup", "--json"]).assert_ok().stdout;
    assert!(shown.contains("2 files uncommitted") || shown.contains("\"dirty\": 2"), "{shown}");
}

#[test]
fn only_the_checkout_s_own_list_of_ignored_files_is_written() {
    let arrangements: &[SettingsArrangement] = &[
        (".git is a file that names another repository", |env| {
            fs::remove_dir_all(env.project_folder().join(".git")).unwrap();
            env.write_file("project/.git", "gitdir: ../other/.git\n");
        }),
        (".git is a link to another repository", |env| {
            fs::remove_dir_all(env.project_folder().join(".git")).unwrap();
            symlink("../other/.git", env.project_folder().join(".git")).unwrap();
        }),
        (".git/info is a link", |env| {
            fs::remove_dir_all(env.project_folder().join(".git/info")).unwrap();
            symlink(env.base_folder().join("other/.git/info"), env.project_folder().join(".git/info"))
                .unwrap();
        }),
    ];
    for (name, arrange) in arrangements {
        let env = TestEnv::new();
        env.run_git(&["init", "-q"]);
        env.run_thru(&["init", "--no-hooks"]).assert_ok();
        let other = env.base_folder().join("other");
        fs::create_dir(&other).unwrap();
        env.run_git_in(&other, &["init", "-q"]);
        let list = other.join(".git/info/exclude");
        fs::create_dir_all(list.parent().unwrap()).unwrap();
        fs::write(&list, "# mine\n").unwrap();
        arrange(&env);
        let told = env.run_thru(&["install", "claude-code"]);
        env.run_thru(&["uninstall", "claude-code"]);
        assert_eq!(fs::read_to_string(&list).unwrap(), "# mine\n", "{name}: {told}");
    }
}
