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
            assert!(status.contains("all 1 passed, before their inputs changed"), "{status}");
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
    let run = env.run_thru_json(&["gate", "check"])["run"].as_str().unwrap().to_owned();
    let list = Path::new(&run).join("expected.json");
    let text = fs::read_to_string(&list).unwrap();
    let elsewhere = format!("\"inputs_checkout\": \"{}/elsewhere\"", env.base_folder().display());
    let changed = text.replace("\"inputs_checkout\": \".\"", &elsewhere);
    assert_ne!(text, changed, "{text}");
    fs::write(&list, changed).unwrap();
    check_gate_in(&env, &env.project_folder()).assert_ok();
}
