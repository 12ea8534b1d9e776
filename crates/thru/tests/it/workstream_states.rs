//! Tests that every command has the same word for the state of a workstream.

use crate::env::TestEnv;

#[test]
fn list_and_show_name_the_same_state() {
    let env = TestEnv::with_root();
    env.run_thru(&["resume", "new", "01-units", "--load", "steps.md"]).assert_ok();
    env.write_file("project/.agent/context/workstreams/01-units/steps.md", "- [ ] one\n- [ ] two\n");
    for state in ["planning", "planning", "finished"] {
        let list = env.run_thru(&["resume", "list"]).assert_ok().stdout;
        let show = env.run_thru(&["resume", "show", "1"]).assert_ok().stdout;
        assert_eq!(list.split_whitespace().nth(1), Some(state), "{list}");
        assert!(show.contains(&format!("\nstate       {state}\n")), "{show}");
        assert_eq!(env.run_thru_json(&["resume", "list"])[0]["state"], state);
        assert_eq!(env.run_thru_json(&["resume", "show", "1"])["state"], state);
        env.run_thru(&["resume", "update", "--task-done"]).assert_ok();
    }
    let manifest = env.store_folder().join("workstreams/01-units/resume-context.md");
    let text = std::fs::read_to_string(manifest).unwrap();
    assert!(text.contains("current_phase: planning\n"), "thru does not change the phase: {text}");
    let help = env.run_thru(&["resume", "update", "--help"]).assert_ok().stdout;
    assert!(help.contains("The phase is not changed."), "{help}");
}
