//! Tests what a new user encounters in the first week.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::env::{TEST_TIME, TestEnv, names_in};
use crate::tree::FileTree;

fn start_session(env: &TestEnv, session: &str) {
    env.fire_event(session, "SessionStart", json!({"source": "startup"}));
}

fn end_session(env: &TestEnv, session: &str) {
    env.fire_event(session, "SessionEnd", json!({"reason": "exit"}));
}

fn write_packet(env: &TestEnv) -> String {
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "finish the parser"}));
    env.run_thru_json(&["handoff", "finish the parser", "--session", "s1"])["id"].as_str().unwrap().to_owned()
}

fn claim_packet(env: &TestEnv, id: &str, session: &str, more: &[&str]) -> crate::call::ThruOutput {
    let words = [&["pickup", id], more].concat();
    env.thru_call(&words).with_variable("CLAUDE_CODE_SESSION_ID", session).run()
}

pub fn add_worktree(env: &TestEnv) -> std::path::PathBuf {
    let tree = env.base_folder().join("beside");
    env.run_git(&["worktree", "add", "--quiet", "--detach", tree.to_str().unwrap()]);
    tree
}

fn read_exclude_list(env: &TestEnv) -> String {
    fs::read_to_string(env.project_folder().join(".git/info/exclude")).unwrap_or_default()
}

/// Creates a repository for a user who has Claude Code.
fn repository_with_claude_code() -> TestEnv {
    let env = TestEnv::with_repository();
    env.write_file("home/.claude/settings.json", "{}\n");
    env
}

#[test]
fn init_names_every_file_it_changes_and_uninstall_gives_all_of_them_back() {
    for text in ["# mine\n*.log\n", "no line end", ""] {
        let env = repository_with_claude_code();
        env.write_file("project/.git/info/exclude", text);
        let report = env.run_thru(&["init"]).assert_ok();
        let list = env.project_folder().join(".git/info/exclude");
        assert!(report.stdout.contains(list.to_str().unwrap()), "{report}");
        assert_eq!(env.run_git(&["status", "--porcelain"]), "", "git shows nothing of ours");
        let dry = env.run_thru(&["uninstall", "claude-code", "--dry-run"]).assert_ok();
        assert!(dry.stdout.contains(list.to_str().unwrap()), "{dry}");
        assert!(!dry.stderr.contains("still here"), "a dry run does not contradict itself: {dry}");
        env.run_thru(&["uninstall", "claude-code"]).assert_ok();
        assert_eq!(read_exclude_list(&env), text);
    }
}

#[test]
fn one_init_serves_every_worktree_and_one_uninstall_undoes_them() {
    let env = repository_with_claude_code();
    let before = read_exclude_list(&env);
    let tree = add_worktree(&env);
    env.run_thru(&["init"]).assert_ok();
    for checkout in [env.project_folder(), tree.clone()] {
        let settings = fs::read_to_string(checkout.join(".claude/settings.local.json")).unwrap();
        assert!(settings.contains("SessionStart"), "{}", checkout.display());
        assert_eq!(env.run_git_in(&checkout, &["status", "--porcelain"]), "");
    }
    env.thru_call(&["uninstall", "claude-code"]).in_folder(&tree).run().assert_ok();
    assert!(!tree.join(".claude").exists() && !env.project_folder().join(".claude").exists());
    assert_eq!(read_exclude_list(&env), before);
}

#[test]
fn a_folder_that_only_claims_to_be_a_worktree_is_not_written() {
    let env = repository_with_claude_code();
    env.write_file("elsewhere/.git", "gitdir: nowhere\n");
    env.write_file(
        "project/.git/worktrees/x/gitdir",
        format!("{}/elsewhere/.git\n", env.base_folder().display()),
    );
    env.write_file("project/.git/worktrees/x/commondir", "../..\n");
    env.write_file("project/.git/worktrees/x/HEAD", "ref: refs/heads/main\n");
    let before = FileTree::read_folder(&env.base_folder().join("elsewhere"));
    env.run_thru(&["init"]).assert_ok();
    before.assert_unchanged(
        &FileTree::read_folder(&env.base_folder().join("elsewhere")),
        "not a worktree of this repository",
    );
}

#[test]
fn uninstall_all_undoes_every_project_and_says_what_is_left() {
    let env = repository_with_claude_code();
    let tree = add_worktree(&env);
    env.run_thru(&["init"]).assert_ok();
    fs::create_dir(env.base_folder().join("second")).unwrap();
    env.thru_call(&["init"]).in_folder(env.base_folder().join("second")).run().assert_ok();
    env.run_thru(&["install", "claude-code", "--user"]).assert_ok();
    let wired = || {
        let files = ["project", "second", "beside", "home"]
            .map(|folder| env.base_folder().join(folder).join(".claude"));
        files.iter().filter(|folder| has_hooks(folder)).count()
    };
    assert_eq!(wired(), 4);
    let dry = env.run_thru(&["uninstall", "--all", "--dry-run"]).assert_ok();
    assert_eq!(wired(), 4, "{dry}");
    let done = env.run_thru(&["uninstall", "--all"]).assert_ok();
    assert_eq!(wired(), 0, "{done}");
    assert_eq!(fs::read_to_string(env.home_folder().join(".claude/settings.json")).unwrap(), "{}\n");
    assert!(!tree.join(".claude").exists());
    assert!(!read_exclude_list(&env).contains("throughline"));
    for left in ["project/.agent/context", "second/.agent/context", "home/.local/state/throughline"] {
        assert!(done.stdout.contains(env.base_folder().join(left).to_str().unwrap()), "{left}: {done}");
        assert!(env.base_folder().join(left).exists());
    }
    let again = env.run_thru_json(&["uninstall", "--all"]);
    assert_eq!(again["undone"], json!([]), "{again}");
    env.run_thru(&["uninstall"]).assert_exit_code(2);
    env.run_thru(&["uninstall", "claude-code", "--all"]).assert_exit_code(2);
}

/// Neither of the two projects is trusted, and neither is the current folder. thru finds both through its list of
/// installations.
#[test]
fn uninstall_all_finds_projects_that_are_not_trusted() {
    let env = TestEnv::with_repository();
    fs::create_dir(env.base_folder().join("second")).unwrap();
    env.run_thru(&["install", "claude-code", "--project"]).assert_ok();
    env.thru_call(&["init"]).in_folder(env.base_folder().join("second")).run().assert_ok();
    env.thru_call(&["install", "claude-code"]).in_folder(env.base_folder().join("second")).run().assert_ok();
    env.thru_call(&["trust", "--revoke"]).in_folder(env.base_folder().join("second")).run().assert_ok();
    let wired = || {
        let folders = ["project", "second"].map(|folder| env.base_folder().join(folder).join(".claude"));
        folders.iter().filter(|folder| folder.exists() && has_hooks(folder)).count()
    };
    assert_eq!(wired(), 2);
    fs::create_dir(env.base_folder().join("elsewhere")).unwrap();
    let done = env
        .thru_call(&["uninstall", "--all"])
        .in_folder(env.base_folder().join("elsewhere"))
        .run()
        .assert_ok();
    assert_eq!(wired(), 0, "{done}");
    assert!(done.stdout.contains("Looked at your own settings and at 3 checkouts"), "{done}");
    assert!(
        done.stdout.contains("`thru uninstall HARNESS --project`"),
        "it says what it cannot know: {done}"
    );
    let again = env
        .thru_call(&["uninstall", "--all", "--json"])
        .in_folder(env.base_folder().join("elsewhere"))
        .run()
        .assert_ok()
        .json();
    assert_eq!(again["looked_at"].as_array().map(Vec::len), Some(3), "{again}");
}

fn has_hooks(folder: &Path) -> bool {
    let files = names_in(folder);
    files.iter().any(|name| {
        fs::read_to_string(folder.join(name))
            .is_ok_and(|text| text.contains("\"hook\"") || text.contains(" hook "))
    })
}

#[test]
fn install_says_which_commands_have_another_name() {
    let env = repository_with_claude_code();
    let said = env.run_thru(&["install", "claude-code"]).assert_ok();
    let words = "Claude Code has its own /context, /plan and /loop; ours are /thru-context, /thru-plan and /thru-loop";
    assert_eq!(said.stderr.matches(words).count(), 1, "{said}");
    let again = env.run_thru(&["install", "claude-code"]).assert_ok();
    assert!(!again.stderr.contains("/thru-"), "only once: {again}");
    let init = env.run_thru(&["init"]).assert_ok();
    assert!(!init.stderr.contains("/thru-"), "{init}");
    assert!(env.run_thru(&["doctor"]).stdout.contains(words), "but the doctor can be asked");
}

#[test]
fn a_packet_can_be_taken_over_and_activating_it_frees_it() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    start_session(&env, "s2");
    start_session(&env, "s3");
    let id = write_packet(&env);
    claim_packet(&env, &id, "s1", &["--claim"]).assert_ok();
    let refused = claim_packet(&env, &id, "s2", &["--claim"]).assert_exit_code(15);
    assert!(refused.stderr.contains("--take-over"), "{refused}");
    claim_packet(&env, &id, "s2", &["--take-over"]).assert_ok();
    let by = |env: &TestEnv| env.run_thru_json(&["packet", "show", &id])["packet"]["claimed_by"].clone();
    assert_eq!(by(&env), "s2");
    env.run_thru(&["packet", "activate", &id]).assert_ok();
    assert_eq!(by(&env), "");
    claim_packet(&env, &id, "s3", &["--claim"]).assert_ok();
}

#[test]
fn a_packet_that_is_garbage_is_named_and_not_picked_up() {
    let env = TestEnv::with_root();
    env.write_file("project/.agent/context/packets/20261115T192200Z-broken.md", "garbage\n");
    let refused = env.run_thru(&["pickup", "broken"]).assert_exit_code(12);
    assert!(refused.stderr.contains("broken.md") && refused.stderr.contains("not a packet"), "{refused}");
    let doctor = env.run_thru(&["doctor"]).assert_exit_code(1);
    assert!(doctor.stdout.contains("packets/20261115T192200Z-broken.md:1: not a valid packet"), "{doctor}");
    env.run_thru(&["packet", "show", "broken"]).assert_ok();
}

#[test]
fn doctor_names_a_manifest_that_is_not_valid_and_one_of_the_older_layout() {
    let env = TestEnv::with_root();
    let home = "project/.agent/context/workstreams";
    env.write_file(format!("{home}/01-a/resume-context.md"), "---\nproject_id: 01-a\n---\n");
    env.write_file("project/02-projects/02-b/_resume.md", "---\nphase: planning\n---\n# b\n");
    let doctor = env.run_thru(&["doctor"]).assert_exit_code(1);
    assert!(doctor.stdout.contains("01-a/resume-context.md: not a valid manifest"), "{doctor}");
    assert!(
        doctor.stdout.contains("02-projects/02-b/_resume.md")
            && doctor.stdout.contains("thru resume migrate"),
        "{doctor}"
    );
    let absent = env.run_thru(&["resume", "show", "02-b"]).assert_exit_code(10);
    assert!(absent.stderr.contains("thru resume migrate"), "{absent}");
}

#[test]
fn a_broken_marker_has_a_way_out_that_works() {
    let env = TestEnv::with_root();
    env.write_file("project/.agent/context/root.json", "{brok");
    let status = env.run_thru(&["status"]).assert_exit_code(12);
    assert!(status.stderr.contains("`thru init`") && status.stderr.contains("`thru trust`"), "{status}");
    env.run_thru(&["init"]).assert_ok();
    env.run_thru(&["trust"]).assert_ok();
    assert_eq!(env.run_thru_json(&["status"])["trusted"], true);
}

#[test]
fn a_confirmed_file_stands_in_the_index_with_its_packet() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    env.write_file("project/src/a.rs", "a\n");
    let id = write_packet(&env);
    for _ in 0..2 {
        env.run_thru(&["packet", "confirm", &id, "src/a.rs"]).assert_ok();
    }
    let lines = env.read_log("indexes/relevant-files.jsonl");
    let by_user: Vec<&Value> = lines.iter().filter(|line| line["source"] == "user").collect();
    let expected = json!({"timestamp": TEST_TIME, "file_path": "src/a.rs", "source": "user", "confidence": 1.0,
        "action": "mention", "packet_id": id});
    assert_eq!(by_user, [&expected], "{lines:?}");
}

#[test]
fn lists_are_empty_where_there_is_no_root() {
    let env = TestEnv::new();
    let before = env.file_tree();
    for words in [
        &["files"][..],
        &["journal"],
        &["journal", "--list"],
        &["packet", "list"],
        &["loop", "list"],
        &["status"],
        &["role", "list"],
        &["lifecycle", "status"],
    ] {
        env.run_thru(words).assert_ok();
    }
    for words in [&["files"][..], &["journal"], &["packet", "list"], &["loop", "list"]] {
        let said = env.run_thru(words).stderr;
        assert!(said.contains("note: there is no root here yet; run `thru init`"), "{words:?}: {said}");
    }
    let journal = env.run_thru(&["journal"]);
    assert!(journal.stderr.starts_with("No session has been captured yet.\n"), "{journal}");
    assert_eq!(env.run_thru(&["journal", "--json"]).assert_ok().stdout, "");
    for words in [&["journal", "--list"][..], &["packet", "list"]] {
        assert_eq!(env.run_thru_json(words), json!([]), "{words:?}");
    }
    assert_eq!(env.run_thru_json(&["files"])["files"], json!([]));
    before.assert_unchanged(&env.file_tree(), "reading makes nothing");
}

#[test]
fn a_dry_import_says_what_the_import_does() {
    let env = TestEnv::with_root();
    for name in ["a", "b", "c"] {
        let text =
            if name == "c" { "# Fix it\n\nsame\n".to_owned() } else { format!("# Fix it\n\n{name}\n") };
        env.write_file(format!("project/.factory/handoffs/{name}.md"), text);
    }
    env.write_file("project/.factory/handoffs/d.md", "# Fix it\n\nsame\n");
    let ids = |report: &Value| -> Vec<(Value, Value)> {
        let rows = report["imported"].as_array().unwrap().iter();
        rows.map(|row| (row["id"].clone(), row["already_imported"].clone())).collect()
    };
    let dry = ids(&env.run_thru_json(&["import", "factory", "--dry-run"]));
    assert_eq!(dry, ids(&env.run_thru_json(&["import", "factory"])));
    let again = ids(&env.run_thru_json(&["import", "factory"]));
    assert!(again.iter().all(|(_, known)| *known == true), "{again:?}");
    assert_eq!(ids(&env.run_thru_json(&["import", "factory", "--dry-run"])), again);
}

#[test]
fn names_are_readable_in_any_script_and_ids_are_shown_as_typed() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "go"}));
    let id = env.run_thru_json(&["handoff", "Größe des Fensters ändern"])["id"].as_str().unwrap().to_owned();
    assert!(id.ends_with("-groesse-des-fensters-aendern"), "{id}");
    let refused = env.run_thru(&["role", "bind", "Prüferin"]).assert_exit_code(2);
    assert!(refused.stderr.contains("`Prüferin`"), "{refused}");
    let absent = env.run_thru(&["packet", "show", "nichts.md"]).assert_exit_code(10);
    assert!(absent.stderr.contains("`nichts.md`"), "{absent}");
}

mod roles {
    use super::*;

    const CONTEXT_FILE: &str = "project/.agent/context/agents/tester.context.md";

    #[test]
    fn a_skeleton_is_not_valid_until_it_is_filled_in() {
        let env = TestEnv::with_root();
        env.run_thru(&["context", "new", "tester"]).assert_ok();
        let invalid = env.run_thru(&["context", "validate", "--all"]).assert_exit_code(1);
        assert!(invalid.stdout.contains("\"## Current Goal\" is not filled in"), "{invalid}");
        let text = fs::read_to_string(env.base_folder().join(CONTEXT_FILE)).unwrap();
        let unset = "Not set yet: one or two sentences on what this role is after.";
        env.write_file(CONTEXT_FILE, text.replace(unset, "Green suites."));
        env.run_thru(&["context", "validate", "--all"]).assert_ok();
    }

    #[test]
    fn no_role_is_bound_to_a_session_that_has_ended() {
        let env = TestEnv::with_root();
        start_session(&env, "s1");
        end_session(&env, "s1");
        let refused = env.run_thru(&["role", "bind", "tester"]).assert_exit_code(15);
        assert!(refused.stderr.contains("s1 has ended"), "{refused}");
        env.run_thru(&["role", "bind", "tester", "--session", "s1"]).assert_exit_code(15);
        start_session(&env, "s2");
        start_session(&env, "s3");
        end_session(&env, "s3");
        assert_eq!(
            env.run_thru_json(&["role", "bind", "tester"])["session"],
            "s2",
            "the newest that is open"
        );
    }

    #[test]
    fn a_role_is_unbound_by_its_name() {
        let env = TestEnv::with_root();
        for session in ["s1", "s2"] {
            start_session(&env, session);
            env.run_thru(&["role", "bind", "tester", "--session", session]).assert_ok();
        }
        let unbound = env.run_thru_json(&["role", "unbind", "tester"]);
        let sessions: Vec<&Value> = unbound.as_array().unwrap().iter().map(|one| &one["session"]).collect();
        assert_eq!(sessions, ["s1", "s2"]);
        assert_eq!(env.run_thru_json(&["role", "list"])[0]["sessions"], json!([]));
        env.run_thru(&["role", "unbind", "tester"]).assert_exit_code(10);
    }

    #[test]
    fn recovery_names_no_document_that_nobody_wrote() {
        let env = TestEnv::with_root();
        env.run_thru(&["context", "new", "tester"]).assert_ok();
        let said = env.run_thru(&["recover", "tester"]).assert_ok();
        assert!(!said.stdout.contains("not there") && !said.stdout.contains("rchitecture"), "{said}");
        env.write_file("project/ARCHITECTURE.md", "here\n");
        let said = env.run_thru(&["recover", "tester"]).assert_ok();
        assert!(said.stdout.contains("2. Read the architecture: ARCHITECTURE.md\n"), "{said}");
    }

    #[test]
    fn a_stale_variable_makes_no_role() {
        let env = TestEnv::with_root();
        for event in ["SessionStart", "UserPromptSubmit", "PreCompact"] {
            let payload = env.event_payload(
                "s1",
                event,
                json!({"source": "startup", "prompt": "go on", "trigger": "auto"}),
            );
            env.hook_call(event, payload.to_string())
                .with_variable("HIVEMIND_ROLE", "yesterday")
                .run()
                .assert_accepted_by_harness(event);
        }
        assert_eq!(env.run_thru_json(&["role", "list"]), json!([]));
        env.run_thru(&["context", "new", "yesterday"]).assert_ok();
        let payload = env.event_payload("s2", "SessionStart", json!({"source": "startup"}));
        env.hook_call("SessionStart", payload.to_string())
            .with_variable("HIVEMIND_ROLE", "yesterday")
            .run()
            .assert_accepted_by_harness("start");
        assert_eq!(env.run_thru_json(&["role", "list"])[0]["sessions"], json!(["s2"]));
    }
}

mod manifests {
    use super::*;

    const WORKSTREAM_FOLDER: &str = "project/.agent/context/workstreams/01-parser";

    fn env_with_workstream() -> TestEnv {
        let env = TestEnv::with_root();
        env.write_file(format!("{WORKSTREAM_FOLDER}/overview.md"), "We build a parser that never panics.\n");
        env.write_file(format!("{WORKSTREAM_FOLDER}/steps.md"), "- [x] lexer\n- [ ] parser\n");
        env.run_thru(&["resume", "new", "01-parser", "--phase", "execution"]).assert_ok();
        env
    }

    fn brief_after_compaction(env: &TestEnv, session: &str) -> String {
        env.fire_event(session, "PreCompact", json!({"trigger": "auto"}));
        env.fire_event(session, "SessionStart", json!({"source": "compact"})).context_for_model()
    }

    fn report_edit(env: &TestEnv, session: &str, id: &str, path: &str) {
        let input = json!({"file_path": env.project_folder().join(path)});
        env.fire_event(
            session,
            "PostToolUse",
            json!({"tool_name": "Edit", "tool_use_id": id, "tool_input": input}),
        );
    }

    #[test]
    fn a_session_is_told_the_workstream_it_was_given_and_never_anothers() {
        let env = env_with_workstream();
        for session in ["s1", "s2"] {
            start_session(&env, session);
            env.fire_event(session, "UserPromptSubmit", json!({"prompt": "go on"}));
        }
        assert_eq!(env.run_thru_json(&["resume", "use", "01", "--session", "s1"])["project_id"], "01-parser");
        assert!(brief_after_compaction(&env, "s1").contains("01-parser"));
        let told = brief_after_compaction(&env, "s2");
        assert!(!told.contains("to load, in this order"), "{told}");
        assert!(brief_after_compaction(&env, "s1").contains("to load, in this order"), "however often");
        env.run_thru(&["resume", "use", "02", "--session", "s1"]).assert_exit_code(10);
    }

    #[test]
    fn a_workstream_that_is_finished_is_not_told() {
        let env = env_with_workstream();
        start_session(&env, "s1");
        env.run_thru(&["resume", "use", "01-parser", "--session", "s1"]).assert_ok();
        env.run_thru(&["resume", "update", "--task-done"]).assert_ok();
        let told = brief_after_compaction(&env, "s1");
        assert!(!told.contains("01-parser"), "{told}");
    }

    #[test]
    fn a_file_that_was_given_whole_is_not_asked_for_again() {
        let env = env_with_workstream();
        start_session(&env, "s1");
        env.run_thru(&["resume", "use", "01", "--session", "s1"]).assert_ok();
        assert!(brief_after_compaction(&env, "s1").contains("We build a parser that never panics."));
        report_edit(&env, "s1", "e1", "src/a.rs");
        env.fire_event("s1", "Stop", json!({}));
        let prompt =
            |env: &TestEnv| env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "go on"})).stdout;
        assert!(!prompt(&env).contains("have not been read"), "both were in the brief");
        let gate = env.run_thru(&["resume", "gate", "--session", "s1"]).assert_ok();
        assert!(gate.stdout.contains("given") && !gate.stdout.contains("unread"), "{gate}");
        env.write_file(format!("{WORKSTREAM_FOLDER}/overview.md"), "Now it is a lexer.\n");
        let said = prompt(&env);
        assert!(said.contains("overview.md") && !said.contains("steps.md"), "it has changed since: {said}");
    }

    #[test]
    fn steps_are_counted_in_whatever_file_they_stand() {
        let env = TestEnv::with_root();
        env.write_file(
            format!("{WORKSTREAM_FOLDER}/plan.md"),
            "# How\n- [x] lexer\n- [ ] parser\n- [ ] printer\n",
        );
        env.run_thru(&["resume", "new", "01-parser"]).assert_ok();
        assert_eq!(env.run_thru_json(&["resume", "update"])["progress"], "1/3 tasks complete");
        assert_eq!(env.run_thru_json(&["resume", "update", "--task-done"])["done"], "parser");
    }

    #[test]
    fn a_project_of_the_seeds_layout_is_as_good_as_one_of_ours() {
        let env = TestEnv::with_root();
        let home = "project/02-projects/07-api/01-planning";
        env.write_file(format!("{home}/steps.md"), "- [x] one\n- [ ] two\n");
        let made = env.run_thru_json(&["resume", "new", "07-api"]);
        assert_eq!(made["path"], "02-projects/07-api/01-planning/resume-context.md");
        env.run_thru(&["resume", "validate", "--all"]).assert_ok();
        start_session(&env, "s1");
        report_edit(&env, "s1", "e1", "02-projects/07-api/01-planning/steps.md");
        let told = brief_after_compaction(&env, "s1");
        assert!(told.contains("07-api") && told.contains("1/2 tasks complete"), "{told}");
        assert_eq!(
            env.run_thru_json(&["resume", "show", "07"])["manifest"]["progress"],
            "1/2 tasks complete"
        );
    }

    #[test]
    fn one_manifest_is_checked_as_all_of_them_are() {
        let env = env_with_workstream();
        let file = format!("{WORKSTREAM_FOLDER}/resume-context.md");
        let text = fs::read_to_string(env.base_folder().join(&file)).unwrap();
        env.write_file(&file, text.replace("- \"overview.md\"", "- gone.md\n  - ../../../../../outside.md"));
        let all = env.thru_call(&["resume", "validate", "--all", "--json"]).run().assert_exit_code(1).json();
        let one = env
            .thru_call(&["resume", "validate", "--json"])
            .with_argument(env.base_folder().join(&file))
            .run()
            .assert_exit_code(1)
            .json();
        assert_eq!(one, all);
        let texts = one.to_string();
        assert!(texts.contains("gone.md") && texts.contains("outside.md"), "{texts}");
        let folder = env.base_folder().join(WORKSTREAM_FOLDER);
        let near = env
            .thru_call(&["resume", "validate", "resume-context.md", "--json"])
            .in_folder(folder)
            .run()
            .assert_exit_code(1)
            .json();
        assert_eq!(near, all, "from its own folder");
    }

    #[test]
    fn the_seeds_own_example_is_read_with_its_comments() {
        let env = TestEnv::with_root();
        let id = "24-project-skills-research-resume-expansion";
        let home = format!("project/02-projects/{id}/01-planning");
        for name in ["overview.md", "plan.md", "steps.md", "research.md"] {
            env.write_file(format!("{home}/{name}"), "text\n");
        }
        env.write_file(format!("{home}/resume-context.md"), SEED_TEXT);
        env.run_thru(&["resume", "validate", "--all"]).assert_ok();
        let manifest = &env.run_thru_json(&["resume", "show", id])["manifest"];
        assert_eq!(manifest["current_phase"], "execution");
        assert_eq!(manifest["files_to_load"][3], "01-planning/research.md");
        assert_eq!(manifest["questions"].as_array().unwrap().len(), 3);
    }

    const SEED_TEXT: &str = "\
---
# LOADING MANIFEST
resume_schema_version: \"1.0\"
last_updated: \"2026-01-03T15:30:00\"

# PROJECT IDENTIFICATION
project_id: \"24-project-skills-research-resume-expansion\"
project_name: \"Project Skills Research & Resume Expansion\"
current_phase: execution  # research | planning | execution

# AUTO-LOAD INSTRUCTIONS
next_action: execute-project
files_to_load:
  - 01-planning/overview.md
  - 01-planning/plan.md
  - 01-planning/steps.md
  - 01-planning/research.md  # If research completed

# EXECUTION STATE (MINIMAL)
current_section: 2
current_task: 15
progress: \"14/40 tasks complete\"
---

# Validation Gate

Before continuing, you MUST verify you understand:

1. **Project Purpose** (from overview.md):
   - [ ] What problem are we solving?

2. **Current Location** (from steps.md):
   - [ ] What is the next task?

3. **Approach** (from plan.md):
   - [ ] What is the implementation strategy?
";
}

mod abandoned_work;
mod answers_and_earlier_work;
mod answers_to_commands;
mod answers_with_questions;
mod background_runs;
mod changes_by_commands;
pub mod changes_on_disk;
mod closed_packets;
mod compile_errors;
mod counts_and_order;
mod cut_outputs;
mod error_excerpts;
pub mod files_at_risk;
mod finished_work;
mod gate_hints;
mod gates_in_worktrees;
mod half_done;
pub mod handoffs;
mod hints_parse;
mod killed_runs;
mod loaded_files;
mod loop_hints;
mod loops_of_crashed_sessions;
mod loops_that_ended;
mod merged_branches;
mod or_lists;
mod other_branch;
mod packets_after_commit;
mod picked_up_packets;
mod picking_up;
mod piped_runs;
mod pleasant;
mod previews_and_titles;
mod quiet_commits;
mod quoted_commands;
pub mod quoted_words;
mod requirements_beside_a_summary;
mod results_of_checks;
mod rewritten_commits;
mod role_from_variable;
mod rules_in_questions;
pub mod rules_of_finished_tasks;
mod scratch_tests;
mod short_messages;
mod stages_and_drift;
mod starts_of_sessions;
mod states_of_a_moment;
mod thrown_away_edits;
mod trials;
mod tried_out_programs;
mod unexpected_outputs;
mod uninstall_everything;
mod unknown_outcomes;
mod unseen_results;
mod work_of_several_sessions;

mod loops {
    use super::*;

    #[test]
    fn an_agent_knows_its_validators_from_the_start_and_their_output_keeps_its_columns() {
        let env = TestEnv::with_root();
        let check = "printf '  error\\n      ^ here\\n'; false";
        env.run_thru(&["loop", "start", "--next", "go", "--promise", "DONE", "--validator", check])
            .assert_ok();
        let told = env.fire_event("s1", "SessionStart", json!({"source": "startup"})).context_for_model();
        assert!(told.contains("must pass: `printf"), "{told}");
        let stop = json!({"last_assistant_message": "<promise>DONE</promise>", "stop_hook_active": false});
        let fed = env.fire_hook("Stop", &env.event_payload("s1", "Stop", stop));
        assert!(fed.stdout.contains("\\n      ^ here"), "{fed}");
    }

    #[test]
    fn a_loop_says_what_ends_it_and_how_the_harness_holds_it_back() {
        let env = repository_with_claude_code();
        env.run_thru(&["init"]).assert_ok();
        start_session(&env, "s1");
        for owner in [&["--session", "s1"][..], &["--next"]] {
            let said = env.run_thru(&[&["loop", "start", "go"], owner].concat()).assert_ok();
            assert!(
                said.stderr.contains("it has no promise, so it continues until 30 iterations have run"),
                "{said}"
            );
            assert!(said.stderr.contains("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=0"), "{owner:?}: {said}");
        }
        let endless =
            env.run_thru(&["loop", "start", "go on", "--next", "--max-iterations", "0"]).assert_ok();
        let only = "only a lack of progress or `thru loop cancel` ends this loop";
        assert!(endless.stderr.contains(only), "{endless}");
    }

    #[test]
    fn a_loop_that_is_resumed_or_activated_says_the_same() {
        let env = repository_with_claude_code();
        env.run_thru(&["init"]).assert_ok();
        start_session(&env, "s1");
        env.run_thru(&["loop", "start", "go", "--session", "s1"]).assert_ok();
        let id = env.run_thru_json(&["loop", "list"])["loops"][0]["id"].as_str().unwrap().to_owned();
        for owner in [&["--session", "s1"][..], &["--next"]] {
            let activated = env.run_thru(&[&["loop", "activate", &id], owner].concat()).assert_ok();
            env.run_thru(&["loop", "pause", &id]).assert_ok();
            let resumed = env.run_thru(&[&["loop", "resume", &id], owner].concat()).assert_ok();
            for said in [activated, resumed] {
                let until = "it has no promise, so it continues until 30 iterations have run";
                assert!(said.stderr.contains(until), "{owner:?}: {said}");
                assert!(said.stderr.contains("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=0"), "{owner:?}: {said}");
            }
        }
    }
}
