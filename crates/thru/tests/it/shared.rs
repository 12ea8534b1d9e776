//! `thru init --shared`: the records of a team are in git, and those of one machine are not.

use std::fs;

use crate::env::TestEnv;

fn shared() -> TestEnv {
    let env = TestEnv::repository();
    env.thru(&["init", "--shared"]).ok();
    env
}

/// Returns whether git would track the file.
fn is_kept(env: &TestEnv, rel: &str) -> bool {
    let path = format!(".agent/context/{rel}");
    env.write(format!("project/{path}"), "x");
    env.git(&["status", "--porcelain", "--untracked-files=all", "--", &path]).contains(&path)
}

#[test]
fn git_keeps_what_a_team_shares_and_ignores_the_rest() {
    let env = shared();
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
        assert!(is_kept(&env, rel), "{rel} belongs into git");
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
        assert!(!is_kept(&env, rel), "{rel} does not belong into git");
    }
    let listed = env.git(&["status", "--porcelain", "--untracked-files=all"]);
    for rel in [".gitignore", "root.json"] {
        assert!(listed.contains(&format!("?? .agent/context/{rel}\n")), "{rel}: {listed}");
    }
}

#[test]
fn a_private_store_is_not_in_git_at_all() {
    let env = TestEnv::repository();
    env.thru(&["init"]).ok();
    for rel in ["packets/p.md", "plan.json", "sessions/s.jsonl", "config.toml"] {
        assert!(!is_kept(&env, rel), "{rel}");
    }
    assert_eq!(env.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_whole_session_leaves_git_clean() {
    let env = shared();
    env.git(&["add", "."]);
    env.git(&["commit", "--quiet", "--message", "records"]);
    for (event, name) in [
        ("SessionStart", "SessionStart.startup"),
        ("UserPromptSubmit", "UserPromptSubmit"),
        ("PostToolUse", "PostToolUse.Edit"),
        ("Stop", "Stop.first"),
        ("SessionEnd", "SessionEnd.other"),
    ] {
        env.hook(event, &env.fixture(name)).silent(name);
    }
    assert!(env.journal_lines() >= 5);
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    assert!(env.marker().get("last_session").is_none(), "it is in sessions.jsonl only");
    assert_eq!(env.log("indexes/sessions.jsonl").len(), 2, "its start and its end");
}

#[test]
fn a_private_root_is_not_turned_into_a_shared_one_by_accident() {
    let env = TestEnv::rooted();
    let before = env.tree();
    let refused = env.thru(&["init", "--shared"]).exits(15);
    assert!(refused.stderr.contains("private"), "{refused}");
    before.assert_same(&env.tree(), "--shared on a private root");
}

#[test]
fn a_shared_root_stays_shared() {
    let env = shared();
    let before = env.tree();
    for words in [&["init"][..], &["init", "--shared"]] {
        assert_eq!(env.json(words)["mode"], "shared");
    }
    before.assert_same(&env.tree(), "again");
    assert_eq!(env.json(&["status"])["mode"], "shared");
    assert!(fs::read_to_string(env.store().join(".gitignore")).unwrap().contains("!/packets/"));
}
