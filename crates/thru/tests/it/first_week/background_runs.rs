//! Tests that a command that was only started in the background is not reported as passed.

use super::handoffs::{ask_at, edit_at, fire_at, start_at, stop_at, thru_at};
use super::*;

#[test]
fn a_command_in_the_background_has_not_passed() {
    for command in ["npm run dev", "npm test", "cargo build"] {
        let env = TestEnv::with_root();
        start_at(&env, "19:00:00", "s1");
        ask_at(&env, "19:00:01", "s1", "Make parse() in src/a.ts strict.");
        edit_at(&env, "19:00:02", "s1", "src/a.ts");
        let call = json!({"tool_name": "Bash", "tool_use_id": "b1",
            "tool_input": {"command": command, "run_in_background": true},
            "tool_response": {"stdout": "", "stderr": "", "interrupted": false, "backgroundTaskId": "b1"}});
        fire_at(&env, "19:00:03", "s1", "PostToolUse", call);
        stop_at(&env, "19:00:04", "s1", "It runs in the background.");
        let brief = thru_at(&env, "19:00:05", "s1", &["brief"]).stdout;
        let written = thru_at(&env, "19:00:05", "s1", &["handoff", "strict parser", "--json"]).json();
        let id = written["id"].as_str().unwrap();
        let packet = env.run_thru(&["packet", "show", id]).assert_ok().stdout;
        let prompt = thru_at(&env, "19:00:06", "s1", &["pickup", id]).stdout;
        for text in [brief, packet, prompt] {
            assert!(!text.contains("passed"), "{command}: {text}");
        }
    }
}
