//! Tests that a session claims a packet when it continues the packet's work.

use super::handoffs::{ask_at, edit_at, end_at, start_at, thru_at};
use super::*;
use crate::packet_sweeps::mark_session_dead;

/// Runs the `thru` command that the text names in backticks.
fn run_named_command(env: &TestEnv, session: &str, text: &str) -> crate::call::ThruOutput {
    let (_, rest) = text.split_once("`thru pickup ").unwrap_or_else(|| panic!("{text}"));
    let (words, _) = rest.split_once('`').unwrap();
    let words: Vec<&str> = std::iter::once("pickup").chain(words.split(' ')).collect();
    thru_at(env, "19:10:00", session, &words)
}

#[test]
fn the_command_that_a_new_session_is_told_claims_the_packet() {
    for has_crashed in [false, true] {
        let env = TestEnv::with_root();
        start_at(&env, "19:00:00", "s1");
        ask_at(&env, "19:00:01", "s1", "Finish the header option of the parser.");
        edit_at(&env, "19:00:02", "s1", "src/parse.js");
        match has_crashed {
            true => mark_session_dead(&env, "s1"),
            false => {
                thru_at(&env, "19:00:03", "s1", &["handoff", "finish the header option"]);
                end_at(&env, "19:00:04", "s1");
            }
        }
        let told = start_at(&env, "19:09:00", "s2");
        assert!(told.contains(" --claim` continues its work"), "{told}");
        let picked = run_named_command(&env, "s2", &told);
        assert!(!picked.stderr.contains("still on offer"), "{picked}");
        let status = env.run_thru(&["status"]).assert_ok().stdout;
        assert!(!status.contains("on offer"), "{status}");
    }
}

#[test]
fn a_packet_that_is_only_printed_is_said_to_be_still_on_offer() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Finish the header option of the parser.");
    let id = thru_at(&env, "19:00:03", "s1", &["handoff", "finish the header option", "--json"]).json();
    let id = id["id"].as_str().unwrap();
    end_at(&env, "19:00:04", "s1");
    let printed = env.run_thru(&["pickup"]).assert_ok();
    assert!(printed.stderr.contains("this packet is still on offer"), "{printed}");
    assert!(printed.stderr.contains(&format!("`thru pickup {id} --claim`")), "{printed}");
    env.run_thru(&["packet", "done", id]).assert_ok();
    let printed = env.run_thru(&["pickup", id]).assert_ok();
    assert!(!printed.stderr.contains("still on offer"), "{printed}");
}

#[test]
fn a_session_is_named_the_command_that_claims_and_a_person_the_one_that_shows() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Finish the header option of the parser.");
    let made = env.run_thru(&["handoff", "finish the header option"]).assert_ok();
    assert!(
        made.stderr.contains(
            "claims it with `/pickup 20261115T192200Z-finish-the-header-option`; to read it: thru pickup 2026"
        ),
        "{made}"
    );
    end_at(&env, "19:00:04", "s1");
    let person = env.run_thru(&["status"]).assert_ok().stdout;
    assert!(
        person.contains("header-option` prints the prompt") && person.contains("in a session, `/pickup`"),
        "{person}"
    );
    start_at(&env, "19:09:00", "s2");
    let session = thru_at(&env, "19:09:01", "s2", &["status"]).stdout;
    assert!(session.contains("header-option --claim` claims the packet on offer"), "{session}");
}
