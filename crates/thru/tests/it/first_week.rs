//! What a new user meets in the first week: what must not disturb, and what must be right.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::env::{NOW, TestEnv, names_in};
use crate::tree::Tree;

fn start(env: &TestEnv, session: &str) {
    env.fire(session, "SessionStart", json!({"source": "startup"}));
}

fn end(env: &TestEnv, session: &str) {
    env.fire(session, "SessionEnd", json!({"reason": "exit"}));
}

fn packet(env: &TestEnv) -> String {
    env.fire("s1", "UserPromptSubmit", json!({"prompt": "finish the parser"}));
    env.json(&["handoff", "finish the parser", "--session", "s1"])["id"].as_str().unwrap().to_owned()
}

fn claim(env: &TestEnv, id: &str, session: &str, more: &[&str]) -> crate::call::Output {
    let words = [&["pickup", id], more].concat();
    env.call(&words).var("CLAUDE_CODE_SESSION_ID", session).run()
}

/// Adds a worktree of the project's repository, next to the project.
fn worktree(env: &TestEnv) -> std::path::PathBuf {
    let tree = env.base().join("beside");
    env.git(&["worktree", "add", "--quiet", "--detach", tree.to_str().unwrap()]);
    tree
}

fn exclude(env: &TestEnv) -> String {
    fs::read_to_string(env.project().join(".git/info/exclude")).unwrap_or_default()
}

/// A repository of a user who has Claude Code.
fn repository() -> TestEnv {
    let env = TestEnv::repository();
    env.write("home/.claude/settings.json", "{}\n");
    env
}

#[test]
fn init_names_every_file_it_changes_and_uninstall_gives_all_of_them_back() {
    for text in ["# mine\n*.log\n", "no line end", ""] {
        let env = repository();
        env.write("project/.git/info/exclude", text);
        let report = env.thru(&["init"]).ok();
        let list = env.project().join(".git/info/exclude");
        assert!(report.stdout.contains(list.to_str().unwrap()), "{report}");
        assert_eq!(env.git(&["status", "--porcelain"]), "", "git shows nothing of ours");
        let dry = env.thru(&["uninstall", "claude-code", "--dry-run"]).ok();
        assert!(dry.stdout.contains(list.to_str().unwrap()), "{dry}");
        assert!(!dry.stderr.contains("still here"), "a dry run does not contradict itself: {dry}");
        env.thru(&["uninstall", "claude-code"]).ok();
        assert_eq!(exclude(&env), text);
    }
}

#[test]
fn one_init_serves_every_worktree_and_one_uninstall_undoes_them() {
    let env = repository();
    let before = exclude(&env);
    let tree = worktree(&env);
    env.thru(&["init"]).ok();
    for checkout in [env.project(), tree.clone()] {
        let settings = fs::read_to_string(checkout.join(".claude/settings.local.json")).unwrap();
        assert!(settings.contains("SessionStart"), "{}", checkout.display());
        assert_eq!(env.git_in(&checkout, &["status", "--porcelain"]), "");
    }
    env.call(&["uninstall", "claude-code"]).dir(&tree).run().ok();
    assert!(!tree.join(".claude").exists() && !env.project().join(".claude").exists());
    assert_eq!(exclude(&env), before);
}

#[test]
fn a_folder_that_only_claims_to_be_a_worktree_is_not_written() {
    let env = repository();
    env.write("elsewhere/.git", "gitdir: nowhere\n");
    env.write("project/.git/worktrees/x/gitdir", format!("{}/elsewhere/.git\n", env.base().display()));
    env.write("project/.git/worktrees/x/commondir", "../..\n");
    env.write("project/.git/worktrees/x/HEAD", "ref: refs/heads/main\n");
    let before = Tree::of(&env.base().join("elsewhere"));
    env.thru(&["init"]).ok();
    before.assert_same(&Tree::of(&env.base().join("elsewhere")), "not a worktree of this repository");
}

#[test]
fn uninstall_all_undoes_every_project_and_says_what_is_left() {
    let env = repository();
    let tree = worktree(&env);
    env.thru(&["init"]).ok();
    fs::create_dir(env.base().join("second")).unwrap();
    env.call(&["init"]).dir(env.base().join("second")).run().ok();
    env.thru(&["install", "claude-code", "--user"]).ok();
    let wired = || {
        let files =
            ["project", "second", "beside", "home"].map(|folder| env.base().join(folder).join(".claude"));
        files.iter().filter(|folder| holds_hooks(folder)).count()
    };
    assert_eq!(wired(), 4);
    let dry = env.thru(&["uninstall", "--all", "--dry-run"]).ok();
    assert_eq!(wired(), 4, "{dry}");
    let done = env.thru(&["uninstall", "--all"]).ok();
    assert_eq!(wired(), 0, "{done}");
    assert_eq!(fs::read_to_string(env.home().join(".claude/settings.json")).unwrap(), "{}\n");
    assert!(!tree.join(".claude").exists());
    assert!(!exclude(&env).contains("throughline"));
    for left in ["project/.agent/context", "second/.agent/context", "home/.local/state/throughline"] {
        assert!(done.stdout.contains(env.base().join(left).to_str().unwrap()), "{left}: {done}");
        assert!(env.base().join(left).exists());
    }
    let again = env.json(&["uninstall", "--all"]);
    assert_eq!(again["undone"], json!([]), "{again}");
    env.thru(&["uninstall"]).exits(2);
    env.thru(&["uninstall", "claude-code", "--all"]).exits(2);
}

/// Neither of the two projects is trusted, and neither is the current folder. They are found in the list of
/// installations.
#[test]
fn uninstall_all_finds_projects_that_are_not_trusted() {
    let env = TestEnv::repository();
    fs::create_dir(env.base().join("second")).unwrap();
    env.thru(&["install", "claude-code", "--project"]).ok();
    env.call(&["init"]).dir(env.base().join("second")).run().ok();
    env.call(&["install", "claude-code"]).dir(env.base().join("second")).run().ok();
    env.call(&["trust", "--revoke"]).dir(env.base().join("second")).run().ok();
    let wired = || {
        let folders = ["project", "second"].map(|folder| env.base().join(folder).join(".claude"));
        folders.iter().filter(|folder| folder.exists() && holds_hooks(folder)).count()
    };
    assert_eq!(wired(), 2);
    fs::create_dir(env.base().join("elsewhere")).unwrap();
    let done = env.call(&["uninstall", "--all"]).dir(env.base().join("elsewhere")).run().ok();
    assert_eq!(wired(), 0, "{done}");
    assert!(done.stdout.contains("Looked at your own settings and at 3 checkouts"), "{done}");
    assert!(
        done.stdout.contains("`thru uninstall HARNESS --project`"),
        "it says what it cannot know: {done}"
    );
    let again =
        env.call(&["uninstall", "--all", "--json"]).dir(env.base().join("elsewhere")).run().ok().json();
    assert_eq!(again["looked_at"].as_array().map(Vec::len), Some(3), "{again}");
}

fn holds_hooks(folder: &Path) -> bool {
    let files = names_in(folder);
    files.iter().any(|name| {
        fs::read_to_string(folder.join(name))
            .is_ok_and(|text| text.contains("\"hook\"") || text.contains(" hook "))
    })
}

#[test]
fn install_says_which_commands_have_another_name() {
    let env = repository();
    let said = env.thru(&["install", "claude-code"]).ok();
    let words = "Claude Code has its own /context, /plan and /loop; ours are /thru-context, /thru-plan and /thru-loop";
    assert_eq!(said.stderr.matches(words).count(), 1, "{said}");
    let again = env.thru(&["install", "claude-code"]).ok();
    assert!(!again.stderr.contains("/thru-"), "only once: {again}");
    let init = env.thru(&["init"]).ok();
    assert!(!init.stderr.contains("/thru-"), "{init}");
    assert!(env.thru(&["doctor"]).stdout.contains(words), "but the doctor can be asked");
}

#[test]
fn a_packet_can_be_taken_over_and_activating_it_frees_it() {
    let env = TestEnv::rooted();
    start(&env, "s1");
    start(&env, "s2");
    start(&env, "s3");
    let id = packet(&env);
    claim(&env, &id, "s1", &["--claim"]).ok();
    let refused = claim(&env, &id, "s2", &["--claim"]).exits(15);
    assert!(refused.stderr.contains("--take-over"), "{refused}");
    claim(&env, &id, "s2", &["--take-over"]).ok();
    let by = |env: &TestEnv| env.json(&["packet", "show", &id])["packet"]["claimed_by"].clone();
    assert_eq!(by(&env), "s2");
    env.thru(&["packet", "activate", &id]).ok();
    assert_eq!(by(&env), "");
    claim(&env, &id, "s3", &["--claim"]).ok();
}

#[test]
fn a_packet_that_is_garbage_is_named_and_not_picked_up() {
    let env = TestEnv::rooted();
    env.write("project/.agent/context/packets/20261115T192200Z-broken.md", "garbage\n");
    let refused = env.thru(&["pickup", "broken"]).exits(12);
    assert!(refused.stderr.contains("broken.md") && refused.stderr.contains("not a packet"), "{refused}");
    let doctor = env.thru(&["doctor"]).exits(1);
    assert!(doctor.stdout.contains("packets/20261115T192200Z-broken.md:1: not a valid packet"), "{doctor}");
    env.thru(&["packet", "show", "broken"]).ok();
}

#[test]
fn doctor_names_a_manifest_that_is_not_valid_and_one_of_the_older_layout() {
    let env = TestEnv::rooted();
    let home = "project/.agent/context/workstreams";
    env.write(format!("{home}/01-a/resume-context.md"), "---\nproject_id: 01-a\n---\n");
    env.write("project/02-projects/02-b/_resume.md", "---\nphase: planning\n---\n# b\n");
    let doctor = env.thru(&["doctor"]).exits(1);
    assert!(doctor.stdout.contains("01-a/resume-context.md: not a valid manifest"), "{doctor}");
    assert!(
        doctor.stdout.contains("02-projects/02-b/_resume.md")
            && doctor.stdout.contains("thru resume migrate"),
        "{doctor}"
    );
    let absent = env.thru(&["resume", "show", "02-b"]).exits(10);
    assert!(absent.stderr.contains("thru resume migrate"), "{absent}");
}

#[test]
fn a_broken_marker_has_a_way_out_that_works() {
    let env = TestEnv::rooted();
    env.write("project/.agent/context/root.json", "{brok");
    let status = env.thru(&["status"]).exits(12);
    assert!(status.stderr.contains("`thru init`") && status.stderr.contains("`thru trust`"), "{status}");
    env.thru(&["init"]).ok();
    env.thru(&["trust"]).ok();
    assert_eq!(env.json(&["status"])["trusted"], true);
}

#[test]
fn a_confirmed_file_stands_in_the_index_with_its_packet() {
    let env = TestEnv::rooted();
    start(&env, "s1");
    env.write("project/src/a.rs", "a\n");
    let id = packet(&env);
    for _ in 0..2 {
        env.thru(&["packet", "confirm", &id, "src/a.rs"]).ok();
    }
    let lines = env.log("indexes/relevant-files.jsonl");
    let by_user: Vec<&Value> = lines.iter().filter(|line| line["source"] == "user").collect();
    let expected = json!({"timestamp": NOW, "file_path": "src/a.rs", "source": "user", "confidence": 1.0,
        "action": "mention", "packet_id": id});
    assert_eq!(by_user, [&expected], "{lines:?}");
}

#[test]
fn lists_are_empty_where_there_is_no_root() {
    let env = TestEnv::new();
    let before = env.tree();
    for words in [
        &["files"][..],
        &["journal", "--list"],
        &["packet", "list"],
        &["loop", "list"],
        &["status"],
        &["role", "list"],
        &["lifecycle", "status"],
    ] {
        env.thru(words).ok();
    }
    for words in [&["journal", "--list"][..], &["packet", "list"]] {
        assert_eq!(env.json(words), json!([]), "{words:?}");
    }
    assert_eq!(env.json(&["files"])["files"], json!([]));
    before.assert_same(&env.tree(), "reading makes nothing");
}

#[test]
fn a_dry_import_says_what_the_import_does() {
    let env = TestEnv::rooted();
    for name in ["a", "b", "c"] {
        let text =
            if name == "c" { "# Fix it\n\nsame\n".to_owned() } else { format!("# Fix it\n\n{name}\n") };
        env.write(format!("project/.factory/handoffs/{name}.md"), text);
    }
    env.write("project/.factory/handoffs/d.md", "# Fix it\n\nsame\n");
    let ids = |report: &Value| -> Vec<(Value, Value)> {
        let rows = report["imported"].as_array().unwrap().iter();
        rows.map(|row| (row["id"].clone(), row["known"].clone())).collect()
    };
    let dry = ids(&env.json(&["import", "factory", "--dry-run"]));
    assert_eq!(dry, ids(&env.json(&["import", "factory"])));
    let again = ids(&env.json(&["import", "factory"]));
    assert!(again.iter().all(|(_, known)| *known == true), "{again:?}");
    assert_eq!(ids(&env.json(&["import", "factory", "--dry-run"])), again);
}

#[test]
fn names_are_readable_in_any_script_and_ids_are_shown_as_typed() {
    let env = TestEnv::rooted();
    start(&env, "s1");
    env.fire("s1", "UserPromptSubmit", json!({"prompt": "go"}));
    let id = env.json(&["handoff", "Größe des Fensters ändern"])["id"].as_str().unwrap().to_owned();
    assert!(id.ends_with("-groesse-des-fensters-aendern"), "{id}");
    let refused = env.thru(&["role", "bind", "Prüferin"]).exits(2);
    assert!(refused.stderr.contains("`Prüferin`"), "{refused}");
    let absent = env.thru(&["packet", "show", "nichts.md"]).exits(10);
    assert!(absent.stderr.contains("`nichts.md`"), "{absent}");
}

mod roles {
    use super::*;

    const FILE: &str = "project/.agent/context/agents/tester.context.md";

    #[test]
    fn a_skeleton_is_not_valid_until_it_is_filled_in() {
        let env = TestEnv::rooted();
        env.thru(&["context", "new", "tester"]).ok();
        let invalid = env.thru(&["context", "validate", "--all"]).exits(1);
        assert!(invalid.stdout.contains("\"## Current Goal\" is not filled in"), "{invalid}");
        let text = fs::read_to_string(env.base().join(FILE)).unwrap();
        let unset = "Not set yet: one or two sentences on what this role is after.";
        env.write(FILE, text.replace(unset, "Green suites."));
        env.thru(&["context", "validate", "--all"]).ok();
    }

    #[test]
    fn no_role_is_bound_to_a_session_that_has_ended() {
        let env = TestEnv::rooted();
        start(&env, "s1");
        end(&env, "s1");
        let refused = env.thru(&["role", "bind", "tester"]).exits(15);
        assert!(refused.stderr.contains("s1 has ended"), "{refused}");
        env.thru(&["role", "bind", "tester", "--session", "s1"]).exits(15);
        start(&env, "s2");
        start(&env, "s3");
        end(&env, "s3");
        assert_eq!(env.json(&["role", "bind", "tester"])["session"], "s2", "the newest that is open");
    }

    #[test]
    fn a_role_is_unbound_by_its_name() {
        let env = TestEnv::rooted();
        for session in ["s1", "s2"] {
            start(&env, session);
            env.thru(&["role", "bind", "tester", "--session", session]).ok();
        }
        let unbound = env.json(&["role", "unbind", "tester"]);
        let sessions: Vec<&Value> = unbound.as_array().unwrap().iter().map(|one| &one["session"]).collect();
        assert_eq!(sessions, ["s1", "s2"]);
        assert_eq!(env.json(&["role", "list"])[0]["sessions"], json!([]));
        env.thru(&["role", "unbind", "tester"]).exits(10);
    }

    #[test]
    fn recovery_names_no_document_that_nobody_wrote() {
        let env = TestEnv::rooted();
        env.thru(&["context", "new", "tester"]).ok();
        let said = env.thru(&["recover", "tester"]).ok();
        assert!(!said.stdout.contains("not there") && !said.stdout.contains("rchitecture"), "{said}");
        env.write("project/ARCHITECTURE.md", "here\n");
        let said = env.thru(&["recover", "tester"]).ok();
        assert!(said.stdout.contains("2. Read the architecture: ARCHITECTURE.md\n"), "{said}");
    }

    #[test]
    fn a_stale_variable_makes_no_role() {
        let env = TestEnv::rooted();
        for event in ["SessionStart", "UserPromptSubmit", "PreCompact"] {
            let payload =
                env.payload("s1", event, json!({"source": "startup", "prompt": "go on", "trigger": "auto"}));
            env.hook_call(event, payload.to_string()).var("HIVEMIND_ROLE", "yesterday").run().accepted(event);
        }
        assert_eq!(env.json(&["role", "list"]), json!([]));
        env.thru(&["context", "new", "yesterday"]).ok();
        let payload = env.payload("s2", "SessionStart", json!({"source": "startup"}));
        env.hook_call("SessionStart", payload.to_string())
            .var("HIVEMIND_ROLE", "yesterday")
            .run()
            .accepted("start");
        assert_eq!(env.json(&["role", "list"])[0]["sessions"], json!(["s2"]));
    }
}

mod manifests {
    use super::*;

    const HOME: &str = "project/.agent/context/workstreams/01-parser";

    fn workstream() -> TestEnv {
        let env = TestEnv::rooted();
        env.write(format!("{HOME}/overview.md"), "We build a parser that never panics.\n");
        env.write(format!("{HOME}/steps.md"), "- [x] lexer\n- [ ] parser\n");
        env.thru(&["resume", "new", "01-parser", "--phase", "execution"]).ok();
        env
    }

    fn compact(env: &TestEnv, session: &str) -> String {
        env.fire(session, "PreCompact", json!({"trigger": "auto"}));
        env.fire(session, "SessionStart", json!({"source": "compact"})).context()
    }

    fn edit(env: &TestEnv, session: &str, id: &str, path: &str) {
        let input = json!({"file_path": env.project().join(path)});
        env.fire(
            session,
            "PostToolUse",
            json!({"tool_name": "Edit", "tool_use_id": id, "tool_input": input}),
        );
    }

    #[test]
    fn a_session_is_told_the_workstream_it_was_given_and_never_anothers() {
        let env = workstream();
        for session in ["s1", "s2"] {
            start(&env, session);
            env.fire(session, "UserPromptSubmit", json!({"prompt": "go on"}));
        }
        assert_eq!(env.json(&["resume", "use", "01", "--session", "s1"])["project_id"], "01-parser");
        assert!(compact(&env, "s1").contains("01-parser"));
        let told = compact(&env, "s2");
        assert!(!told.contains("to load, in this order"), "{told}");
        assert!(compact(&env, "s1").contains("to load, in this order"), "however often");
        env.thru(&["resume", "use", "02", "--session", "s1"]).exits(10);
    }

    #[test]
    fn a_workstream_that_is_finished_is_not_told() {
        let env = workstream();
        start(&env, "s1");
        env.thru(&["resume", "use", "01-parser", "--session", "s1"]).ok();
        env.thru(&["resume", "update", "--task-done"]).ok();
        let told = compact(&env, "s1");
        assert!(!told.contains("01-parser"), "{told}");
    }

    #[test]
    fn a_file_that_was_given_whole_is_not_asked_for_again() {
        let env = workstream();
        start(&env, "s1");
        env.thru(&["resume", "use", "01", "--session", "s1"]).ok();
        assert!(compact(&env, "s1").contains("We build a parser that never panics."));
        edit(&env, "s1", "e1", "src/a.rs");
        env.fire("s1", "Stop", json!({}));
        let prompt = |env: &TestEnv| env.fire("s1", "UserPromptSubmit", json!({"prompt": "go on"})).stdout;
        assert!(!prompt(&env).contains("have not been read"), "both were in the brief");
        let gate = env.thru(&["resume", "gate", "--session", "s1"]).ok();
        assert!(gate.stdout.contains("given") && !gate.stdout.contains("unread"), "{gate}");
        env.write(format!("{HOME}/overview.md"), "Now it is a lexer.\n");
        let said = prompt(&env);
        assert!(said.contains("overview.md") && !said.contains("steps.md"), "it has changed since: {said}");
    }

    #[test]
    fn steps_are_counted_in_whatever_file_they_stand() {
        let env = TestEnv::rooted();
        env.write(format!("{HOME}/plan.md"), "# How\n- [x] lexer\n- [ ] parser\n- [ ] printer\n");
        env.thru(&["resume", "new", "01-parser"]).ok();
        assert_eq!(env.json(&["resume", "update"])["progress"], "1/3 tasks complete");
        assert_eq!(env.json(&["resume", "update", "--task-done"])["done"], "parser");
    }

    #[test]
    fn a_project_of_the_seeds_layout_is_as_good_as_one_of_ours() {
        let env = TestEnv::rooted();
        let home = "project/02-projects/07-api/01-planning";
        env.write(format!("{home}/steps.md"), "- [x] one\n- [ ] two\n");
        let made = env.json(&["resume", "new", "07-api"]);
        assert_eq!(made["path"], "02-projects/07-api/01-planning/resume-context.md");
        env.thru(&["resume", "validate", "--all"]).ok();
        start(&env, "s1");
        edit(&env, "s1", "e1", "02-projects/07-api/01-planning/steps.md");
        let told = compact(&env, "s1");
        assert!(told.contains("07-api") && told.contains("1/2 tasks complete"), "{told}");
        assert_eq!(env.json(&["resume", "show", "07"])["manifest"]["progress"], "1/2 tasks complete");
    }

    #[test]
    fn one_manifest_is_checked_as_all_of_them_are() {
        let env = workstream();
        let file = format!("{HOME}/resume-context.md");
        let text = fs::read_to_string(env.base().join(&file)).unwrap();
        env.write(&file, text.replace("- \"overview.md\"", "- gone.md\n  - ../../../../../outside.md"));
        let all = env.call(&["resume", "validate", "--all", "--json"]).run().exits(1).json();
        let one =
            env.call(&["resume", "validate", "--json"]).word(env.base().join(&file)).run().exits(1).json();
        assert_eq!(one, all);
        let texts = one.to_string();
        assert!(texts.contains("gone.md") && texts.contains("outside.md"), "{texts}");
        let folder = env.base().join(HOME);
        let near = env
            .call(&["resume", "validate", "resume-context.md", "--json"])
            .dir(folder)
            .run()
            .exits(1)
            .json();
        assert_eq!(near, all, "from its own folder");
    }

    #[test]
    fn the_seeds_own_example_is_read_with_its_comments() {
        let env = TestEnv::rooted();
        let id = "24-project-skills-research-resume-expansion";
        let home = format!("project/02-projects/{id}/01-planning");
        for name in ["overview.md", "plan.md", "steps.md", "research.md"] {
            env.write(format!("{home}/{name}"), "text\n");
        }
        env.write(format!("{home}/resume-context.md"), SEED);
        env.thru(&["resume", "validate", "--all"]).ok();
        let manifest = &env.json(&["resume", "show", id])["manifest"];
        assert_eq!(manifest["current_phase"], "execution");
        assert_eq!(manifest["files_to_load"][3], "01-planning/research.md");
        assert_eq!(manifest["questions"].as_array().unwrap().len(), 3);
    }

    const SEED: &str = "\
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

mod pleasant;
mod trials;

mod loops {
    use super::*;

    #[test]
    fn an_agent_knows_its_validators_from_the_start_and_their_output_keeps_its_columns() {
        let env = TestEnv::rooted();
        let check = "printf '  error\\n      ^ here\\n'; false";
        env.thru(&["loop", "start", "--next", "go", "--promise", "DONE", "--validator", check]).ok();
        let told = env.fire("s1", "SessionStart", json!({"source": "startup"})).context();
        assert!(told.contains("must pass: `printf"), "{told}");
        let stop = json!({"last_assistant_message": "<promise>DONE</promise>", "stop_hook_active": false});
        let fed = env.hook("Stop", &env.payload("s1", "Stop", stop));
        assert!(fed.stdout.contains("\\n      ^ here"), "{fed}");
    }

    #[test]
    fn a_loop_says_what_ends_it_and_how_the_harness_holds_it_back() {
        let env = repository();
        env.thru(&["init"]).ok();
        start(&env, "s1");
        for owner in [&["--session", "s1"][..], &["--next"]] {
            let said = env.thru(&[&["loop", "start", "go"], owner].concat()).ok();
            assert!(
                said.stderr.contains("it has no promise, so it goes on until 30 iterations are over"),
                "{said}"
            );
            assert!(said.stderr.contains("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=0"), "{owner:?}: {said}");
        }
    }
}
