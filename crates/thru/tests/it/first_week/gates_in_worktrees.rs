//! Tests gates whose stage was requested in one checkout and is checked in another one.

use super::*;

const COMMAND: &str =
    "cat plan.md > \"$THROUGHLINE_OUTPUT\"; printf '<!-- AGENT_COMPLETE -->\\n' >> \"$THROUGHLINE_OUTPUT\"";

fn request_stage(env: &TestEnv, folder: &Path) {
    let expect = ["gate", "expect", "review", "--critical", "review-a.md", "--input", "plan.md"];
    let words = [&expect[..], &["--prompt", "Review {role}", "--", "sh", "-c", COMMAND]].concat();
    env.thru_call(&words).in_folder(folder).run().assert_ok();
}

fn check_gate_in(env: &TestEnv, folder: &Path) -> crate::call::ThruOutput {
    env.thru_call(&["gate", "check"]).in_folder(folder).run()
}

fn status_in(env: &TestEnv, folder: &Path) -> String {
    let status = env.thru_call(&["status"]).in_folder(folder).run().assert_ok().stdout;
    status.lines().find(|line| line.starts_with("outputs")).unwrap_or_default().to_owned()
}

/// Edits a stage's list of outputs, so that the list names `checkout` instead of the root's own checkout. Returns the
/// list's text before the edit.
fn name_checkout_in_list(env: &TestEnv, checkout: &Path) -> String {
    let list = list_of_stage(env);
    let text = fs::read_to_string(&list).unwrap();
    let edited = format!("\"inputs_checkout\": \"{}\"", checkout.display());
    let changed = text.replace("\"inputs_checkout\": \".\"", &edited);
    assert_ne!(text, changed, "{text}");
    fs::write(&list, changed).unwrap();
    text
}

fn list_of_stage(env: &TestEnv) -> std::path::PathBuf {
    let run = env.run_thru_json(&["gate", "live"])["run"].as_str().unwrap().to_owned();
    Path::new(&run).join("expected.json")
}

/// Creates a repository with a committed input and a committed script, and a worktree of it.
fn repository_with_script() -> (TestEnv, std::path::PathBuf) {
    let env = repository_with_claude_code();
    env.run_thru(&["init"]).assert_ok();
    env.write_file("project/plan.md", "# Plan\n");
    env.write_file("project/review.sh", COMMAND);
    env.run_git(&["add", "plan.md", "review.sh"]);
    env.run_git(&["commit", "--quiet", "--message", "plan"]);
    let tree = add_worktree(&env);
    (env, tree)
}

fn launches_in(env: &TestEnv, folder: &Path) -> crate::call::ThruOutput {
    env.thru_call(&["gate", "run"]).in_folder(folder).run()
}

#[test]
fn a_gate_is_judged_alike_in_every_worktree() {
    let env = repository_with_claude_code();
    env.run_thru(&["init"]).assert_ok();
    let tree = add_worktree(&env);
    let main = env.project_folder();
    for (requested_in, other) in [(&main, &tree), (&tree, &main)] {
        fs::write(requested_in.join("plan.md"), "# Plan\n").unwrap();
        request_stage(&env, requested_in);
        for folder in [other, requested_in] {
            let open = status_in(&env, folder);
            assert!(open.contains("missing review-a.md"), "{open}");
        }
        // The command reads `plan.md`, which exists only in the checkout in which the stage was requested.
        env.thru_call(&["gate", "run"]).in_folder(other).run().assert_ok();
        for folder in [other, requested_in] {
            check_gate_in(&env, folder).assert_ok();
            assert!(status_in(&env, folder).contains("all 1 valid"), "{}", status_in(&env, folder));
        }
        fs::write(requested_in.join("plan.md"), "# Another plan\n").unwrap();
        for folder in [other, requested_in] {
            let check = check_gate_in(&env, folder).assert_exit_code(4);
            assert!(check.stdout.contains("its inputs have changed"), "{check}");
            let status = status_in(&env, folder);
            assert!(status.contains("inputs changed since: plan.md; the outputs are stale"), "{status}");
        }
        fs::remove_file(requested_in.join("plan.md")).unwrap();
        let check = check_gate_in(&env, other);
        let restore = format!("restore its input {}", requested_in.join("plan.md").display());
        assert!(check.stdout.contains(&restore), "{check}");
    }
}

#[test]
fn the_inputs_of_a_removed_worktree_are_those_of_the_root() {
    let env = repository_with_claude_code();
    env.run_thru(&["init"]).assert_ok();
    let tree = add_worktree(&env);
    fs::write(tree.join("plan.md"), "# Plan\n").unwrap();
    request_stage(&env, &tree);
    env.thru_call(&["gate", "run"]).in_folder(&tree).run().assert_ok();
    env.run_git(&["worktree", "remove", "--force", tree.to_str().unwrap()]);
    env.write_file("project/plan.md", "# Plan\n");
    check_gate_in(&env, &env.project_folder()).assert_ok();
}

/// Anybody may have written the list, so it must not make thru read files of another project.
#[test]
fn a_list_cannot_name_a_folder_that_is_no_worktree_of_the_root() {
    let env = repository_with_claude_code();
    env.run_thru(&["init"]).assert_ok();
    env.write_file("project/plan.md", "# Plan\n");
    request_stage(&env, &env.project_folder());
    env.run_thru(&["gate", "run"]).assert_ok();
    env.write_file("elsewhere/plan.md", "# Another\n");
    name_checkout_in_list(&env, &env.base_folder().join("elsewhere"));
    check_gate_in(&env, &env.project_folder()).assert_ok();
}

#[test]
fn a_deleted_input_is_not_replaced_by_the_file_of_another_checkout() {
    let (env, tree) = repository_with_script();
    request_stage(&env, &tree);
    launches_in(&env, &tree).assert_ok();
    fs::remove_file(tree.join("plan.md")).unwrap();
    for folder in [&tree, &env.project_folder()] {
        let check = check_gate_in(&env, folder).assert_exit_code(4);
        assert!(check.stdout.contains("its inputs have changed"), "{check}");
        assert!(check.stdout.contains("restore its input "), "{check}");
    }
    let refused = launches_in(&env, &tree).assert_exit_code(10);
    assert!(refused.stderr.contains("plan.md: this input of review-a.md does not exist"), "{refused}");
}

/// A worktree may contain a branch that the user does not trust. So the user's consent to a command applies to only one
/// checkout.
#[test]
fn an_edited_list_cannot_launch_the_script_of_another_worktree() {
    let (env, tree) = repository_with_script();
    fs::write(tree.join("review.sh"), "touch \"$PWD/../pwned\"\n").unwrap();
    let expect = ["gate", "expect", "review", "--critical", "review-a.md", "--input", "plan.md"];
    env.run_thru(&[&expect[..], &["--", "sh", "./review.sh"]].concat()).assert_ok();
    let before = name_checkout_in_list(&env, &tree);
    for folder in [&env.project_folder(), &tree] {
        let refused = launches_in(&env, folder).assert_exit_code(15);
        let named = format!("by `sh ./review.sh` in {}", tree.display());
        assert!(refused.stderr.contains(&named) && refused.stderr.contains("--adopt"), "{refused}");
    }
    assert!(!env.base_folder().join("pwned").exists());
    let adopt = env.thru_call(&["gate", "run", "--adopt"]).run_on_terminal("n\n");
    assert!(adopt.stdout.contains(&format!("in {}", tree.display())), "{adopt}");
    assert!(!env.base_folder().join("pwned").exists());
    fs::write(list_of_stage(&env), before).unwrap();
    launches_in(&env, &env.project_folder()).assert_ok();
}

#[test]
fn a_launch_that_records_its_checkout_stays_allowed() {
    let (env, tree) = repository_with_script();
    request_stage(&env, &env.project_folder());
    name_checkout_in_list(&env, Path::new(""));
    for text in ["# Plan\n", "# Another\n"] {
        fs::write(tree.join("plan.md"), text).unwrap();
        launches_in(&env, &tree).assert_ok();
        let list = fs::read_to_string(list_of_stage(&env)).unwrap();
        assert!(list.contains(tree.to_str().unwrap()), "{list}");
    }
    env.run_git(&["worktree", "remove", "--force", tree.to_str().unwrap()]);
    for text in ["# Third\n", "# Fourth\n"] {
        env.write_file("project/plan.md", text);
        launches_in(&env, &env.project_folder()).assert_ok();
    }
}

#[test]
fn a_stage_adopted_in_a_worktree_is_adopted_for_later_runs() {
    let (env, tree) = repository_with_script();
    let config = "[stages.review]\ncritical = [\"review-a.md\"]\ninputs = [\"plan.md\"]\n\
                  launch = [\"sh\", \"./review.sh\"]\n";
    env.write_file("project/.agent/context/config.toml", config);
    let run = ["gate", "run", "--stage", "review"];
    let call = |words: &[&str]| env.thru_call(words).in_folder(&tree);
    call(&run).run().assert_exit_code(15);
    call(&[&run[..], &["--adopt"]].concat()).run_on_terminal("y\n").assert_ok();
    call(&["gate", "expect", "review"]).run().assert_ok();
    launches_in(&env, &tree).assert_ok();
}
