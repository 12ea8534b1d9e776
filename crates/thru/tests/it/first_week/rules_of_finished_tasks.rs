//! Tests that a rule about a task ends with the task, or when the user asks for what it forbids.

use super::files_at_risk::repository_with_files;
use super::handoffs::{ask_at, edit_at, end_at, run_at, start_at, stop_at, thru_at};
use super::*;

const TASK: &str = "Write the usage in lower case.";
const RULE: &str = "Don't touch src/level.rs.";
const LASTING_RULE: &str = "Never touch src/level.rs.";
const OTHER_TASK: &str = "Now write a page about the formats of the export, with an example for each.";
const ORDER: &str =
    "Now in src/level.rs accept TRACE as DEBUG, and in src/main.rs fix --until in the same way.";

pub fn edit_on_disk(env: &TestEnv, time: &str, session: &str, path: &str) {
    env.write_file(format!("project/{path}"), format!("{session} {time}\n"));
    edit_at(env, time, session, path);
}

pub fn commit_all(env: &TestEnv, time: &str, session: &str) {
    env.run_git(&["commit", "--quiet", "-am", "Usage"]);
    let id = env.run_git(&["rev-parse", "--short", "HEAD"]);
    let printed = format!("[main {}] Usage\n 1 file changed, 1 insertion(+)", id.trim());
    run_at(env, time, session, "git commit -am Usage", &printed);
}

/// The texts that a session can get about its work and about earlier work: its brief, and the packet that it writes.
fn brief_and_packet(env: &TestEnv, time: &str, session: &str) -> (String, String) {
    let brief = thru_at(env, time, session, &["brief"]).assert_ok().stdout;
    let written = thru_at(env, time, session, &["handoff", "go on", "--json"]).json();
    let packet = env.run_thru(&["packet", "show", written["id"].as_str().unwrap()]).assert_ok().stdout;
    (brief, packet)
}

pub fn constraints_of(packet: &str) -> &str {
    packet.split("## Constraints").nth(1).unwrap().split("\n## ").next().unwrap()
}

#[test]
fn a_rule_about_a_task_ends_when_the_task_is_committed_and_another_one_begins() {
    for (rule, commits, next, is_told) in [
        (RULE, true, OTHER_TASK, false),
        (RULE, false, OTHER_TASK, true),
        (RULE, true, "Thanks. Push it.", true),
        (LASTING_RULE, true, OTHER_TASK, true),
        (RULE, false, ORDER, false),
        (LASTING_RULE, false, ORDER, false),
    ] {
        let env = repository_with_files(&["src/main.rs", "src/level.rs"]);
        start_at(&env, "19:00:00", "s1");
        ask_at(&env, "19:00:01", "s1", &format!("{TASK} {rule}"));
        edit_on_disk(&env, "19:00:02", "s1", "src/main.rs");
        if commits {
            commit_all(&env, "19:00:03", "s1");
        }
        stop_at(&env, "19:00:04", "s1", "The usage is in lower case.");
        ask_at(&env, "19:01:00", "s1", next);
        edit_on_disk(&env, "19:01:01", "s1", "src/main.rs");
        stop_at(&env, "19:01:02", "s1", "Half of it is written; the examples are missing.");
        let (brief, packet) = brief_and_packet(&env, "19:01:03", "s1");
        let words = brief.split("The user's words:").nth(1).unwrap_or_default();
        let words = words.lines().skip(1).take_while(|line| line.starts_with("- ")).collect::<String>();
        // The goal may quote the rule, too.
        let is_in_brief = if is_told { brief.contains(rule) } else { words.contains(rule) };
        for is_in_text in [is_in_brief, constraints_of(&packet).contains(rule)] {
            assert_eq!(is_in_text, is_told, "{rule} {commits} {next}: {brief}\n{packet}");
        }
    }
}

/// Session `s1` does a task with this rule, and commits nothing. Then session `s2` does another task. If `commits` is
/// true, session `s2` finally commits the changes from both tasks.
fn two_tasks(rule: &str, commits: bool) -> TestEnv {
    let env = repository_with_files(&["src/main.rs", "src/level.rs"]);
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", &format!("{TASK} {rule}"));
    edit_on_disk(&env, "19:00:02", "s1", "src/main.rs");
    stop_at(&env, "19:00:03", "s1", "Done, not committed yet.");
    end_at(&env, "19:00:04", "s1");
    start_at(&env, "19:01:00", "s2");
    let next = "Write 'needs a value' with a capital, too; look at both places in src/main.rs.";
    ask_at(&env, "19:01:01", "s2", next);
    edit_on_disk(&env, "19:01:02", "s2", "src/main.rs");
    if commits {
        commit_all(&env, "19:01:03", "s2");
    }
    stop_at(&env, "19:01:04", "s2", "Both places begin with a capital now.");
    env
}

#[test]
fn a_rule_of_an_earlier_session_is_told_only_while_its_task_may_be_open() {
    for (rule, commits, is_rule, is_quoted) in [
        (RULE, true, false, false),
        (RULE, false, false, true),
        (LASTING_RULE, true, true, true),
        (LASTING_RULE, false, true, true),
    ] {
        let env = two_tasks(rule, commits);
        let (_, packet) = brief_and_packet(&env, "19:01:05", "s2");
        end_at(&env, "19:01:06", "s2");
        let told = start_at(&env, "19:02:00", "s3");
        let as_rule = format!("in an earlier session: “{rule}”");
        let as_quotation = format!("in session s1 on 2026-11-15, about the task at that time: “{rule}”");
        for text in [&told, &packet] {
            assert_eq!(text.contains(rule), is_quoted, "{rule} {commits}: {text}");
            assert_eq!(text.contains(&as_rule), is_rule, "{rule} {commits}: {text}");
            assert_eq!(text.contains(&as_quotation), is_quoted && !is_rule, "{rule} {commits}: {text}");
        }
        assert_eq!(constraints_of(&packet).contains(rule), is_rule, "{rule} {commits}: {packet}");
    }
}

#[test]
fn a_rule_that_a_packet_repeats_ends_when_the_user_asks_for_what_it_forbids() {
    let env = two_tasks(LASTING_RULE, false);
    thru_at(&env, "19:01:05", "s2", &["handoff", "write the tests"]).assert_ok();
    end_at(&env, "19:01:06", "s2");
    start_at(&env, "19:02:00", "s3");
    ask_at(&env, "19:02:01", "s3", "/pickup");
    thru_at(&env, "19:02:02", "s3", &["pickup", "--claim"]).assert_ok();
    run_at(&env, "19:02:02", "s3", "thru pickup --claim", "Picking up");
    edit_on_disk(&env, "19:02:03", "s3", "src/main.rs");
    stop_at(&env, "19:02:04", "s3", "The tests are written.");
    let (_, packet) = brief_and_packet(&env, "19:02:05", "s3");
    assert!(constraints_of(&packet).contains(LASTING_RULE), "{packet}");
    ask_at(&env, "19:02:06", "s3", ORDER);
    edit_on_disk(&env, "19:02:07", "s3", "src/level.rs");
    stop_at(&env, "19:02:08", "s3", "TRACE is accepted; tests still to be written.");
    let (_, packet) = brief_and_packet(&env, "19:02:09", "s3");
    assert!(!constraints_of(&packet).contains("touch src/level.rs"), "{packet}");
}
