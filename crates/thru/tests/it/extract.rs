//! Tests of `thru swarm extract` and `thru swarm domains`.

use std::fs;

use serde_json::json;

use crate::env::TestEnv;

const MESSAGE_WITH_CODE: &str = "Here is `src/a.rs`:\n```rust\nfn a() {}\n```\n\n```sh ../../evil.sh\nrm x\n```\n```toml .git/config.toml\nx\n```\n```text /etc/motd.txt\nx\n```\n```rust src/a.rs\nfn b() {}\n```\n";

#[test]
fn blocks_become_files_and_nothing_leaves_the_folder() {
    let env = TestEnv::new();
    env.write_file("project/message.md", MESSAGE_WITH_CODE);
    let dry = env.run_thru(&["swarm", "extract", "message.md", "--dry-run", "--json"]).assert_ok().json();
    let paths: Vec<&str> =
        dry["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["src/a.rs", "block-2.sh", "block-3.toml", "block-4.txt", "src/a.2.rs"]);
    assert!(!env.project_folder().join("src").exists());

    let done = env.run_thru(&["swarm", "extract", "message.md"]).assert_ok();
    for told in [
        "leads out of the folder",
        "nothing is written to that folder",
        "an absolute path",
        "an earlier block",
    ] {
        assert!(done.stdout.contains(told), "{told}: {}", done.stdout);
    }
    assert_eq!(fs::read_to_string(env.project_folder().join("src/a.rs")).unwrap(), "fn a() {}\n");
    assert_eq!(fs::read_to_string(env.project_folder().join("src/a.2.rs")).unwrap(), "fn b() {}\n");
    assert!(!env.project_folder().join(".git/config.toml").exists());
}

#[test]
fn files_that_exist_stay_unless_told() {
    let env = TestEnv::new();
    env.write_file("project/a.rs", "mine\n");
    let message = "```rust a.rs\ntheirs\n```\n";
    let kept = env.thru_call(&["swarm", "extract", "-", "--json"]).with_stdin(message).run();
    assert_eq!((kept.code, &kept.json()["files"][0]["outcome"]), (1, &json!("exists")));
    assert_eq!(fs::read_to_string(env.project_folder().join("a.rs")).unwrap(), "mine\n");
    let replaced = env.thru_call(&["swarm", "extract", "--replace"]).with_stdin(message).run();
    assert!(replaced.code == 0 && replaced.stdout.contains("replaced"), "{}", replaced.stdout);
    assert_eq!(fs::read_to_string(env.project_folder().join("a.rs")).unwrap(), "theirs\n");
    let same = env.thru_call(&["swarm", "extract", "--json"]).with_stdin(message).run();
    assert_eq!((same.code, &same.json()["files"][0]["outcome"]), (0, &json!("same")));
}

#[test]
fn links_are_not_written_through() {
    let env = TestEnv::new();
    env.write_file("elsewhere/keep.rs", "theirs\n");
    std::os::unix::fs::symlink(env.project_folder().join("../elsewhere"), env.project_folder().join("src"))
        .unwrap();
    std::os::unix::fs::symlink("../elsewhere/keep.rs", env.project_folder().join("b.rs")).unwrap();
    for message in ["```rust src/new.rs\nx\n```\n", "```rust b.rs\nx\n```\n"] {
        let refused = env.thru_call(&["swarm", "extract", "--replace", "--json"]).with_stdin(message).run();
        assert_eq!(
            (refused.code, &refused.json()["files"][0]["outcome"]),
            (1, &json!("failed")),
            "{message}"
        );
        assert!(refused.json()["files"][0]["note"].as_str().unwrap().contains("link"), "{refused}");
    }
    assert_eq!(fs::read_to_string(env.project_folder().join("../elsewhere/keep.rs")).unwrap(), "theirs\n");
    assert!(!env.project_folder().join("../elsewhere/new.rs").exists());
}

#[test]
fn a_path_that_cannot_be_written_does_not_hide_what_was() {
    let env = TestEnv::new();
    let message = "```rust x.rs\n1\n```\n```rust x.rs/y.rs\n2\n```\n```rust z.rs\n3\n```\n";
    let done = env.thru_call(&["swarm", "extract", "--json"]).with_stdin(message).run();
    let report = done.json();
    let outcomes: Vec<&str> =
        report["files"].as_array().unwrap().iter().map(|file| file["outcome"].as_str().unwrap()).collect();
    assert_eq!((done.code, outcomes), (1, vec!["created", "failed", "created"]));
    assert!(report["files"][1]["note"].as_str().unwrap().contains("x.rs"), "{report}");
    assert_eq!(fs::read_to_string(env.project_folder().join("z.rs")).unwrap(), "3\n");
}

/// A sentence before a block may mention a file although the block is not that file's content. Such a file is never
/// replaced.
#[test]
fn a_file_that_is_only_mentioned_is_never_replaced() {
    let env = TestEnv::new();
    env.write_file("project/src/a.rs", "mine\n");
    for message in [
        "Check `src/a.rs` with:\n\n```bash\ncargo test\n```\n",
        "The tests of `src/a.rs` fail here:\n```rust\nfn part() {}\n```\n",
    ] {
        env.thru_call(&["swarm", "extract", "--replace"]).with_stdin(message).run();
        assert_eq!(fs::read_to_string(env.project_folder().join("src/a.rs")).unwrap(), "mine\n", "{message}");
    }
}

#[test]
fn files_that_change_what_runs_or_is_fed_need_to_be_named() {
    let names = [
        ".mcp.json",
        "CLAUDE.md",
        "docs/AGENTS.md",
        "opencode.json",
        ".envrc",
        ".github/workflows/a.yml",
        ".githooks/pre-commit.sh",
        ".claude/settings.json",
        ".factory/droids/a.md",
        ".devcontainer/devcontainer.json",
    ];
    let env = TestEnv::new();
    let message: String = names.iter().map(|name| format!("`{name}`\n```json\n{{}}\n```\n")).collect();
    let refused = env.thru_call(&["swarm", "extract"]).with_stdin(message.clone()).run();
    assert_eq!(refused.code, 1, "{refused}");
    for name in names {
        assert!(refused.stdout.contains(&format!("--allow {name}")), "{name}: {refused}");
        assert!(!env.project_folder().join(name).exists(), "{name}");
    }
    let call = ["swarm", "extract", "--allow", "CLAUDE.md", "--allow", ".envrc", "--json"];
    let allowed = env.thru_call(&call).with_stdin(message).run();
    assert_eq!((allowed.code, &allowed.json()["left_out"]), (1, &json!(names.len() - 2)));
    for name in names {
        assert_eq!(
            env.project_folder().join(name).exists(),
            ["CLAUDE.md", ".envrc"].contains(&name),
            "{name}"
        );
    }
    let never = env
        .thru_call(&["swarm", "extract", "--allow", ".git/hooks/x.sh"])
        .with_stdin("```sh .git/hooks/x.sh\nx\n```\n")
        .run();
    assert!(
        !env.project_folder().join(".git/hooks/x.sh").exists() && never.stdout.contains("nothing is written"),
        "{never}"
    );
}

#[test]
fn a_message_without_blocks_is_explained() {
    let env = TestEnv::new();
    let refused = env.thru_call(&["swarm", "extract"]).with_stdin("no code").run();
    assert!(refused.code != 0 && refused.stderr.contains("no code block"), "{}", refused.stderr);
}

#[test]
fn domains_are_off_unless_wanted() {
    let env = TestEnv::new();
    env.run_thru(&["init"]).assert_ok();
    let refused = env.run_thru(&["swarm", "domains", "Add OAuth"]);
    assert!(refused.code != 0 && refused.stderr.contains("swarm.domains = true"), "{}", refused.stderr);
    env.write_file("project/.agent/context/config.toml", "[swarm]\ndomains = true\n");
    let found =
        env.run_thru(&["swarm", "domains", "Add OAuth and a SQL migration", "--json"]).assert_ok().json();
    assert_eq!(
        found,
        json!([{"name": "database", "words": ["migration", "sql"]}, {"name": "security", "words": ["oauth"]}])
    );
}
