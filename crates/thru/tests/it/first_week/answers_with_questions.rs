//! Tests that a short answer of the user is quoted with the agent's question, whether or not the agent has replied.

use super::handoffs::{ask_at, edit_at, end_at, start_at, stop_at, thru_at};
use super::*;
use crate::security::section_below;

const QUESTION: &str = "Should parse() throw for a duplicate key, or keep the last value?";

/// A session in which the agent asked before it began. The user gave this answer.
fn session_with_answer(answer: &str) -> TestEnv {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    let task = "Write parse(text) into lib/parse.py. It reads lines of the form key = value into a dict.";
    ask_at(&env, "19:00:01", "s1", task);
    stop_at(&env, "19:00:02", "s1", &format!("Two lines may name the same key. {QUESTION}"));
    ask_at(&env, "19:00:03", "s1", answer);
    env
}

fn packet_at(env: &TestEnv, time: &str) -> String {
    let written = thru_at(env, time, "s1", &["handoff", "finish the parser", "--json"]).json();
    env.run_thru(&["packet", "show", written["id"].as_str().unwrap()]).assert_ok().stdout
}

#[test]
fn an_answer_is_quoted_with_its_question_before_and_after_the_reply() {
    for answer in ["Throw.", "yes, the second", "Keep the last one", "throw, please"] {
        let env = session_with_answer(answer);
        let brief = thru_at(&env, "19:00:04", "s1", &["brief"]).assert_ok().stdout;
        assert!(brief.contains(QUESTION), "{answer}, not replied: {brief}");
        edit_at(&env, "19:00:05", "s1", "lib/parse.py");
        stop_at(
            &env,
            "19:00:06",
            "s1",
            "lib/parse.py has parse() now. Duplicate keys are handled as you said.",
        );
        let brief = thru_at(&env, "19:00:07", "s1", &["brief"]).assert_ok().stdout;
        let packet = packet_at(&env, "19:00:07");
        let intent = section_below(&packet, "## Intent");
        end_at(&env, "19:00:08", "s1");
        let told = start_at(&env, "19:01:00", "s2");
        for text in [brief.as_str(), intent, &told] {
            assert!(text.contains(QUESTION) && text.contains(answer), "{answer}, replied: {text}");
        }
    }
}
