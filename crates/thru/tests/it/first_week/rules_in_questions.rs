//! Tests that later sessions are told every rule that the user stated, no matter what else the message said.

use super::handoffs::{ask_at, edit_at, end_at, start_at, stop_at, thru_at};
use super::*;

const RULE: &str = "please never add a bin script to package.json, we ship a library only.";

fn packet_at(env: &TestEnv, time: &str, session: &str) -> String {
    let written = thru_at(env, time, session, &["handoff", "go on", "--json"]).json();
    env.run_thru(&["packet", "show", written["id"].as_str().unwrap()]).assert_ok().stdout
}

/// Gives the session these messages, one per minute, and lets the agent edit a file after each of them.
fn converse(env: &TestEnv, session: &str, messages: &[&str]) {
    for (i, message) in messages.iter().enumerate() {
        ask_at(env, &format!("19:0{i}:10"), session, message);
        edit_at(env, &format!("19:0{i}:20"), session, &format!("src/part{i}.js"));
        stop_at(
            env,
            &format!("19:0{i}:30"),
            session,
            &format!("Part {i} of the library is written and its test passes."),
        );
    }
}

#[test]
fn a_rule_outlives_its_message_whatever_the_message_asks() {
    for question in ["", " What about two.js?"] {
        let second = format!("Yes, commit. And {RULE}{question}");
        for later in [
            &["add it. It must be a constant."][..],
            &[
                "add it. It must be a constant.",
                "Add three.js too.",
                "Add four.js too, with a test for its default.",
            ],
        ] {
            let env = TestEnv::with_root();
            start_at(&env, "19:00:00", "s1");
            let messages = [&["Add one.js exporting one.", second.as_str()], later].concat();
            converse(&env, "s1", &messages);
            let packet = packet_at(&env, "19:08:00", "s1");
            let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
            end_at(&env, "19:08:10", "s1");
            let told = start_at(&env, "19:09:00", "s2");
            for text in [told, packet, picked] {
                assert!(text.contains(RULE), "{question} {later:?}: {text}");
            }
        }
    }
}

#[test]
fn rules_about_the_result_last_for_the_whole_session() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    let quoted =
        "Make parse() support quoted fields (RFC 4180). Keep it dependency-free. Write the tests first.";
    let green =
        "Go on: make parse remember that a field was quoted. Don't touch the public signature of parse.";
    let header =
        "Now add a `header` option to parse: with header: true it returns objects keyed by the first row.";
    converse(&env, "s1", &[quoted, green, header]);
    let packet = packet_at(&env, "19:08:00", "s1");
    let compacted = env.run_thru(&["brief", "--event", "compact", "--session", "s1"]).assert_ok().stdout;
    end_at(&env, "19:08:10", "s1");
    let told = start_at(&env, "19:09:00", "s2");
    for text in [packet, compacted, told] {
        for rule in ["Keep it dependency-free.", "Don't touch the public signature of parse."] {
            assert!(text.contains(rule), "{rule}: {text}");
        }
    }
}

#[test]
fn a_quoted_rule_is_not_cut_within_a_clause() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    let second = format!("Yes, commit. And {RULE} What about CRLF line endings?");
    converse(
        &env,
        "s1",
        &[
            "Make parse() support quoted fields.",
            &second,
            "ok do that, with a test",
            "Fix format() so that parse(format(rows)) gives the rows back.",
        ],
    );
    for words in [&["brief", "--event", "compact", "--session", "s1"][..], &["brief", "--event", "startup"]] {
        let brief = env.run_thru(words).assert_ok().stdout;
        assert!(brief.contains(RULE), "{brief}");
        let pieces = brief.matches("never add a bin").count();
        let whole = brief.matches("package.json, we ship a library only.").count();
        let at_clause = brief.matches("package.json …").count();
        assert_eq!(pieces, whole + at_clause, "{brief}");
    }
}
