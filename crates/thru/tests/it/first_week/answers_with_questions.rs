//! Tests that a short answer from the user is quoted with the agent's question, whether or not the agent has replied.

use super::handoffs::{ask_at, edit_at, end_at, start_at, stop_at, thru_at};
use super::*;
use crate::security::section_below;

const QUESTION: &str = "Should parse() throw for a duplicate key, or keep the last value?";

/// A session in which the agent asked a question before it began to work, and the user gave this answer.
fn session_with_answer(answer: &str) -> TestEnv {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", TASK);
    stop_at(&env, "19:00:02", "s1", &format!("Two lines may name the same key. {QUESTION}"));
    ask_at(&env, "19:00:03", "s1", answer);
    env
}

const TASK: &str = "Write parse(text) into lib/parse.py. It reads lines of the form key = value into a dict.";

fn packet_at(env: &TestEnv, time: &str) -> String {
    let written = thru_at(env, time, "s1", &["handoff", "finish the parser", "--json"]).json();
    env.run_thru(&["packet", "show", written["id"].as_str().unwrap()]).assert_ok().stdout
}

#[test]
fn an_answer_is_quoted_with_its_question_before_and_after_the_reply() {
    for answer in [
        "Throw.",
        "yes, the second",
        "Keep the last one",
        "throw, please",
        "Throw. Keep it simple.",
        "Throw a ValueError. Keep it simple and do not add a class for it.",
        "Keep the last value. That is what the other tools of ours do, too.",
        "The first option. Name the line number in the message, please.",
        "Neither of them. Collect all of the values of a key in a list.",
        "Please throw for those. No need for a class of its own.",
    ] {
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
            assert!(text.contains("It reads lines of the form key = value"), "{answer}, task: {text}");
        }
    }
}

/// A short answer to a question that offers no options need not repeat any word of the question.
#[test]
fn an_answer_of_two_sentences_need_not_repeat_the_question() {
    let question = "Where should the jobs be stored?";
    for answer in [
        "SQLite. Keep it simple and add no other dependency for it.",
        "In memory. They may be lost at a restart.",
    ] {
        let env = TestEnv::with_root();
        start_at(&env, "19:00:00", "s1");
        ask_at(&env, "19:00:01", "s1", "Add a queue of jobs to the server, with a page that lists them.");
        stop_at(&env, "19:00:02", "s1", &format!("The page is easy. {question}"));
        ask_at(&env, "19:00:03", "s1", answer);
        let brief = thru_at(&env, "19:00:04", "s1", &["brief"]).stdout;
        for part in [question, answer, "with a page that lists them"] {
            assert!(brief.contains(part), "{part}: {brief}");
        }
    }
}

/// A request of two short sentences replaces the task if the agent had asked nothing, or if the request has nothing to
/// do with the agent's question.
#[test]
fn a_request_of_two_sentences_is_no_answer() {
    for (said, request) in [
        ("lib/parse.py has parse() now.", "Thanks. Now write the page about the format for the README."),
        ("lib/parse.py has parse() now.", "SQLite. Keep it simple and add no other dependency for it."),
        (QUESTION, "Rename the module. All of the importers must use the new name."),
        (QUESTION, "Later. First write the page about the format for the README."),
        (QUESTION, "Thanks. Now write the page about the format for the README."),
        (
            "The parser is in. Shall I write tests, too?",
            "Fix the build first. The linker does not find zlib on macOS.",
        ),
        (
            "The parser is in. Anything else?",
            "Add tests. They belong in tests/test_parse.py, one for each rule.",
        ),
    ] {
        let env = TestEnv::with_root();
        start_at(&env, "19:00:00", "s1");
        ask_at(&env, "19:00:01", "s1", TASK);
        edit_at(&env, "19:00:02", "s1", "lib/parse.py");
        stop_at(&env, "19:00:03", "s1", said);
        ask_at(&env, "19:00:04", "s1", request);
        let brief = thru_at(&env, "19:00:05", "s1", &["brief"]).stdout;
        assert!(brief.contains(request) && !brief.contains("The agent had asked"), "{request}: {brief}");
        assert!(!brief.contains("- Task:"), "{request}: {brief}");
    }
}
