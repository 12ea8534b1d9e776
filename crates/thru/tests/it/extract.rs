//! `swarm extract` and `swarm domains` through the binary.

use std::fs;

use serde_json::json;

use crate::env::TestEnv;

const MESSAGE: &str = "Here is `src/a.rs`:\n```rust\nfn a() {}\n```\n\n```sh ../../evil.sh\nrm x\n```\n```toml .git/config.toml\nx\n```\n```text /etc/motd.txt\nx\n```\n```rust src/a.rs\nfn b() {}\n```\n";

#[test]
fn blocks_become_files_and_nothing_leaves_the_folder() {
    let env = TestEnv::new();
    env.write("project/message.md", MESSAGE);
    let dry = env.thru(&["swarm", "extract", "message.md", "--dry-run", "--json"]).ok().json();
    let paths: Vec<&str> =
        dry["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["src/a.rs", "block-2.sh", "block-3.toml", "block-4.txt", "src/a.2.rs"]);
    assert!(!env.project().join("src").exists());

    let done = env.thru(&["swarm", "extract", "message.md"]).ok();
    for told in
        ["leads out of the folder", "programs take instructions", "an absolute path", "an earlier block"]
    {
        assert!(done.stdout.contains(told), "{told}: {}", done.stdout);
    }
    assert_eq!(fs::read_to_string(env.project().join("src/a.rs")).unwrap(), "fn a() {}\n");
    assert_eq!(fs::read_to_string(env.project().join("src/a.2.rs")).unwrap(), "fn b() {}\n");
    assert!(!env.project().join(".git/config.toml").exists());
}

#[test]
fn files_that_exist_stay_unless_told() {
    let env = TestEnv::new();
    env.write("project/a.rs", "mine\n");
    let message = "```rust a.rs\ntheirs\n```\n";
    let kept = env.call(&["swarm", "extract", "-", "--json"]).stdin(message).run();
    assert_eq!((kept.code, &kept.json()["files"][0]["outcome"]), (1, &json!("exists")));
    assert_eq!(fs::read_to_string(env.project().join("a.rs")).unwrap(), "mine\n");
    let replaced = env.call(&["swarm", "extract", "--replace"]).stdin(message).run();
    assert!(replaced.code == 0 && replaced.stdout.contains("replaced"), "{}", replaced.stdout);
    assert_eq!(fs::read_to_string(env.project().join("a.rs")).unwrap(), "theirs\n");
    let same = env.call(&["swarm", "extract", "--json"]).stdin(message).run();
    assert_eq!((same.code, &same.json()["files"][0]["outcome"]), (0, &json!("same")));
}

#[test]
fn links_are_not_written_through() {
    let env = TestEnv::new();
    env.write("elsewhere/keep.rs", "theirs\n");
    std::os::unix::fs::symlink(env.project().join("../elsewhere"), env.project().join("src")).unwrap();
    std::os::unix::fs::symlink("../elsewhere/keep.rs", env.project().join("b.rs")).unwrap();
    for message in ["```rust src/new.rs\nx\n```\n", "```rust b.rs\nx\n```\n"] {
        let refused = env.call(&["swarm", "extract", "--replace"]).stdin(message).run();
        assert!(refused.code > 1 && !refused.stderr.is_empty(), "{message}: {}", refused.stderr);
    }
    assert_eq!(fs::read_to_string(env.project().join("../elsewhere/keep.rs")).unwrap(), "theirs\n");
    assert!(!env.project().join("../elsewhere/new.rs").exists());
}

#[test]
fn a_message_without_blocks_is_explained() {
    let env = TestEnv::new();
    let refused = env.call(&["swarm", "extract"]).stdin("no code").run();
    assert!(refused.code != 0 && refused.stderr.contains("no code block"), "{}", refused.stderr);
}

#[test]
fn domains_are_off_unless_wanted() {
    let env = TestEnv::new();
    env.thru(&["init"]).ok();
    let refused = env.thru(&["swarm", "domains", "Add OAuth"]);
    assert!(refused.code != 0 && refused.stderr.contains("swarm.domains = true"), "{}", refused.stderr);
    env.write("project/.agent/context/config.toml", "[swarm]\ndomains = true\n");
    let found = env.thru(&["swarm", "domains", "Add OAuth and a SQL migration", "--json"]).ok().json();
    assert_eq!(
        found,
        json!([{"name": "database", "words": ["migration", "sql"]}, {"name": "security", "words": ["oauth"]}])
    );
}
