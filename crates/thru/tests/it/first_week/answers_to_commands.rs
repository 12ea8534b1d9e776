//! Tests that briefs and packets quote the agent's answer to a slash command, as they quote other answers.

use super::handoffs::{ask_at, edit_at, end_at, run_at, start_at, stop_at, thru_at};
use super::*;

const REPORT: &str = "`--count` works on the command line: it printed 2. There's no test yet, and the README does not mention it.";

#[test]
fn an_answer_to_a_slash_command_is_in_the_brief_and_in_the_packet() {
    for command in ["/pickup", "/recover", "/thru:pickup", "/init", "/fix-issue 12", "Continue with --count."]
    {
        let env = TestEnv::with_root();
        start_at(&env, "08:00:00", "a");
        ask_at(&env, "08:00:01", "a", command);
        edit_at(&env, "08:00:02", "a", "src/main.rs");
        stop_at(&env, "08:00:03", "a", REPORT);
        ask_at(&env, "08:00:04", "a", "ok, and what about `err`?");
        edit_at(&env, "08:00:05", "a", "src/level.rs");
        stop_at(&env, "08:00:06", "a", "`err` is accepted now.");
        let brief = thru_at(&env, "08:00:07", "a", &["brief"]).assert_ok().stdout;
        ask_at(&env, "08:00:08", "a", "/handoff finish --count");
        let written = thru_at(&env, "08:00:09", "a", &["handoff", "finish --count", "--json"]).json();
        run_at(&env, "08:00:09", "a", "thru handoff 'finish --count'", "Written");
        stop_at(&env, "08:00:10", "a", "The packet is written; it names both options.");
        end_at(&env, "08:00:11", "a");
        let packet = env.run_thru(&["packet", "show", written["id"].as_str().unwrap()]).assert_ok().stdout;
        let told = start_at(&env, "08:01:00", "b");
        for text in [brief, packet, told] {
            assert!(text.contains("There's no test yet"), "{command}: {text}");
            assert!(!text.contains("The packet is written"), "{command}: {text}");
        }
    }
}
