//! Tests `thru init --shared`. Git tracks the records that a team shares, but not the records of one machine.

use std::fs;

use crate::env::TestEnv;

fn env_with_shared_store() -> TestEnv {
    let env = TestEnv::with_repository();
    env.run_thru(&["init", "--shared"]).assert_ok();
    env
}

/// Returns whether git would track the file.
fn is_tracked_by_git(env: &TestEnv, rel: &str) -> bool {
    let path = format!(".agent/context/{rel}");
    env.write_file(format!("project/{path}"), "x");
    env.run_git(&["status", "--porcelain", "--untracked-files=all", "--", &path]).contains(&path)
}

#[test]
fn git_keeps_what_a_team_shares_and_ignores_the_rest() {
    let env = env_with_shared_store();
    let kept = [
        "packets/20261115T192200Z-fix.md",
        "agents/reviewer.context.md",
        "workstreams/01-core/resume-context.md",
        "plan.json",
        "plan.md",
        "plan-ledger.jsonl",
        "decisions.jsonl",
        "evidence/t1/bundle.json",
    ];
    for rel in kept {
        assert!(is_tracked_by_git(&env, rel), "{rel} belongs into git");
    }
    let ignored = [
        "config.toml",
        "loops/l1.md",
        "sessions/s.jsonl",
        "indexes/receipts.jsonl",
        "state/live.json",
        "state/locks/root.lock",
        "scratch/x",
        "outputs/r/expected.json",
        "summaries/s.json",
        "packets/.x.md.77-0.tmp",
        "packets/x.md.damaged-20261115T192200Z",
        "root.json.damaged-20261115T192200Z",
    ];
    for rel in ignored {
        assert!(!is_tracked_by_git(&env, rel), "{rel} does not belong into git");
    }
    let listed = env.run_git(&["status", "--porcelain", "--untracked-files=all"]);
    for rel in [".gitignore", "root.json"] {
        assert!(listed.contains(&format!("?? .agent/context/{rel}\n")), "{rel}: {listed}");
    }
}

#[test]
fn a_private_store_is_not_in_git_at_all() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    for rel in ["packets/p.md", "plan.json", "sessions/s.jsonl", "config.toml"] {
        assert!(!is_tracked_by_git(&env, rel), "{rel}");
    }
    assert_eq!(env.run_git(&["status", "--porcelain"]), "");
}

#[test]
fn a_whole_session_leaves_git_clean() {
    let env = env_with_shared_store();
    env.run_git(&["add", "."]);
    env.run_git(&["commit", "--quiet", "--message", "records"]);
    for (event, name) in [
        ("SessionStart", "SessionStart.startup"),
        ("UserPromptSubmit", "UserPromptSubmit"),
        ("PostToolUse", "PostToolUse.Edit"),
        ("Stop", "Stop.first"),
        ("SessionEnd", "SessionEnd.other"),
    ] {
        env.fire_hook(event, &env.captured_payload(name)).assert_silent(name);
    }
    assert!(env.count_journal_lines() >= 5);
    assert_eq!(env.run_git(&["status", "--porcelain"]), "");
    assert!(env.read_marker().get("last_session").is_none(), "it is in sessions.jsonl only");
    assert_eq!(env.read_log("indexes/sessions.jsonl").len(), 2, "its start and its end");
}

#[test]
fn a_private_root_is_not_turned_into_a_shared_one_by_accident() {
    let env = TestEnv::with_root();
    let before = env.file_tree();
    let refused = env.run_thru(&["init", "--shared"]).assert_exit_code(15);
    assert!(refused.stderr.contains("private"), "{refused}");
    before.assert_unchanged(&env.file_tree(), "--shared on a private root");
}

#[test]
fn a_shared_root_stays_shared() {
    let env = env_with_shared_store();
    let before = env.file_tree();
    for words in [&["init"][..], &["init", "--shared"]] {
        assert_eq!(env.run_thru_json(words)["mode"], "shared");
    }
    before.assert_unchanged(&env.file_tree(), "again");
    assert_eq!(env.run_thru_json(&["status"])["mode"], "shared");
    assert!(fs::read_to_string(env.store_folder().join(".gitignore")).unwrap().contains("!/packets/"));
}
