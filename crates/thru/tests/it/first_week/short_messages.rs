//! Tests that the user's requirements and answers are kept, whatever short message comes last, and that a crashed
//! session is counted only if it did any work.

use super::handoffs::{ask_at, edit_at, end_at, start_at, stop_at, thru_at};
use super::*;
use crate::packet_sweeps::mark_session_dead;
use crate::security::section_below;

const QUESTIONS: &str = "Two questions before I start: should settle() minimise the number of payments or simply go down \
                         the list? And may it return tuples?";
const ANSWER: &str =
    "Minimise the number of payments. Tuples are fine. A debt below 5 cents is simply forgiven.";

/// A session in which the agent asked questions before it began to work, and the user answered them. The user's last
/// messages are those in `last`.
fn session_with_answer(last: &[&str]) -> TestEnv {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(
        &env,
        "19:00:01",
        "s1",
        "Add settle(balances) that lists who pays whom. Ask me if something is unclear.",
    );
    stop_at(&env, "19:00:02", "s1", QUESTIONS);
    ask_at(&env, "19:00:03", "s1", ANSWER);
    edit_at(&env, "19:00:04", "s1", "splitbill/settle.py");
    stop_at(&env, "19:00:05", "s1", "settle() works for two people; three still fails.");
    for (i, prompt) in last.iter().enumerate() {
        ask_at(&env, &format!("19:01:{i}1"), "s1", prompt);
        edit_at(&env, &format!("19:01:{i}2"), "s1", "README.md");
        stop_at(
            &env,
            &format!("19:01:{i}3"),
            "s1",
            "README.md has an example now. test_three is still open.",
        );
    }
    env
}

fn packet_of_session(env: &TestEnv, purpose: &str) -> String {
    let written = thru_at(env, "19:02:00", "s1", &["handoff", purpose, "--json"]).json();
    env.run_thru(&["packet", "show", written["id"].as_str().unwrap()]).assert_ok().stdout
}

fn constraints_of_packet(env: &TestEnv, purpose: &str) -> String {
    section_below(&packet_of_session(env, purpose), "## Constraints").to_owned()
}

#[test]
fn an_answer_stays_whatever_short_message_comes_last() {
    let another = "Also put an example into the README.";
    for last in [&[another, "go on"][..], &[another, "go on", "continue"], &[another, "ok"], &["go on"]] {
        let env = session_with_answer(last);
        let packet = packet_of_session(&env, "finish settle");
        let words = "should settle() minimise the number of payments or simply go down the list?";
        // Without another request, the answer is the task itself.
        let (part, told_of_it) = match last {
            ["go on"] => {
                (section_below(&packet, "## Intent"), "The task before that, which the agent has summed up")
            }
            _ => (section_below(&packet, "## Constraints"), words),
        };
        assert!(part.contains(ANSWER), "{last:?}: {packet}");
        assert!(part.contains(told_of_it), "{last:?}: {packet}");
        end_at(&env, "19:03:00", "s1");
        let told = start_at(&env, "19:04:00", "s2");
        assert!(told.contains(ANSWER), "{last:?}: {told}");
    }
}

#[test]
fn an_earlier_request_is_told_at_a_start_if_there_is_room() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    for (i, prompt) in [
        "Add settle(balances) to splitbill/settle.py.",
        "Round what settle() returns to whole cents, half up, as the bank does it.",
        "Write a test for three people into tests/test_settle.py.",
        "Put an example of settle() into the README, below the one for split().",
        "go on",
    ]
    .iter()
    .enumerate()
    {
        ask_at(&env, &format!("19:00:{i}1"), "s1", prompt);
        edit_at(&env, &format!("19:00:{i}2"), "s1", "splitbill/settle.py");
        stop_at(&env, &format!("19:00:{i}3"), "s1", &format!("Step {i} is done in splitbill/settle.py."));
    }
    end_at(&env, "19:03:00", "s1");
    let told = start_at(&env, "19:04:00", "s2");
    assert!(told.contains("to whole cents, half up, as the bank does it."), "{told}");
    assert!(told.encode_utf16().count() <= 2_000 && !told.contains("thru brief --all"), "{told}");
}

#[test]
fn a_new_request_is_no_answer_and_an_abandoned_one_is_gone() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Add settle(balances) to splitbill/settle.py.");
    edit_at(&env, "19:00:02", "s1", "splitbill/settle.py");
    stop_at(&env, "19:00:03", "s1", "settle() is there. Shall I commit it?");
    ask_at(
        &env,
        "19:00:04",
        "s1",
        "Next, write the README section about settling debts among several people.",
    );
    edit_at(&env, "19:00:05", "s1", "README.md");
    stop_at(&env, "19:00:06", "s1", "The section is there.");
    ask_at(
        &env,
        "19:00:07",
        "s1",
        "Then list the functions in docs/functions.md, one line for each of them.",
    );
    edit_at(&env, "19:00:08", "s1", "docs/functions.md");
    let constraints = constraints_of_packet(&env, "list the functions");
    assert!(!constraints.contains("Shall I commit it?"), "{constraints}");
    assert!(!constraints.contains("README section"), "{constraints}");

    let env = session_with_answer(&["Scrap that, we start over: only split() is wanted.", "go on"]);
    let constraints = constraints_of_packet(&env, "start over");
    assert!(!constraints.contains("forgiven"), "{constraints}");
}

#[test]
fn a_crashed_session_without_work_is_not_counted() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Which split functions do we have?");
    stop_at(&env, "19:00:02", "s1", "split_even and split_weighted.");
    ask_at(&env, "19:00:03", "s1", "And which of them handles an empty list?");
    mark_session_dead(&env, "s1");
    let status = env.run_thru(&["status"]).assert_ok().stdout;
    assert!(!status.contains("thru sweep") && !status.contains("crashed"), "{status}");
    let swept = env.run_thru(&["sweep"]).assert_ok().stdout;
    assert!(swept.contains("nothing to hand over"), "{swept}");

    start_at(&env, "19:01:00", "s2");
    ask_at(&env, "19:01:01", "s2", "Add settle(balances) to splitbill/settle.py.");
    edit_at(&env, "19:01:02", "s2", "splitbill/settle.py");
    mark_session_dead(&env, "s2");
    let status = env.run_thru(&["status"]).assert_ok().stdout;
    assert!(status.contains("1 session; `thru sweep` writes a packet for it"), "{status}");
}

/// The agent asked questions before it began to work. Instead of answering them, the user asked for something else.
#[test]
fn a_new_request_after_a_question_is_no_answer() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Add settle(balances) to splitbill/settle.py.");
    stop_at(&env, "19:00:02", "s1", QUESTIONS);
    let request = "Write the README section that explains how several people pay, with one example.";
    ask_at(&env, "19:00:03", "s1", request);
    edit_at(&env, "19:00:04", "s1", "README.md");
    stop_at(&env, "19:00:05", "s1", "The section is there.");
    ask_at(
        &env,
        "19:00:06",
        "s1",
        "Then list the functions in docs/functions.md, one line for each of them.",
    );
    edit_at(&env, "19:00:07", "s1", "docs/functions.md");
    let packet = packet_of_session(&env, "list the functions");
    assert!(!packet.contains("in answer to"), "{packet}");
}

#[test]
fn a_message_that_asks_again_is_told_with_the_request_before_it() {
    let env = TestEnv::with_root();
    let request = "Have the reviewer check README.md, and make sure that the review ends up in a file.";
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Write a README for the project, with an example.");
    edit_at(&env, "19:00:02", "s1", "README.md");
    stop_at(&env, "19:00:03", "s1", "README.md is written.");
    ask_at(&env, "19:00:04", "s1", request);
    stop_at(&env, "19:00:05", "s1", "The reviewer has no complaints.");
    end_at(&env, "19:00:06", "s1");
    ask_at(&env, "19:00:08", "s1", "The gate has not passed. Please look again.");
    stop_at(&env, "19:00:09", "s1", "The review is in a file now.");
    for words in [&["brief"][..], &["brief", "--event", "compact"]] {
        let brief = thru_at(&env, "19:00:10", "s1", words).assert_ok().stdout;
        let goal = section_below(&brief, "Goal:");
        assert!(goal.contains("look again") && goal.contains("the reviewer check README.md"), "{brief}");
    }
}
