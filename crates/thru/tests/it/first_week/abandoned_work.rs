//! Tests what briefs and packets say about a task that the user interrupted and gave up.

use super::handoffs::{ask_at, edit_at, end_at, start_at, stop_at, thru_at};
use super::*;

#[test]
fn a_task_that_the_user_gave_up_is_not_told_as_answered() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Add a cache to fetch() in src/fetch.py, with a limit of 100 entries.");
    edit_at(&env, "19:00:02", "s1", "src/fetch.py");
    ask_at(&env, "19:00:03", "s1", "[Request interrupted by user]");
    ask_at(&env, "19:00:04", "s1", "No, forget the cache. Let fetch() retry three times instead.");
    edit_at(&env, "19:00:05", "s1", "src/fetch.py");
    stop_at(&env, "19:00:06", "s1", "fetch() retries three times now.");
    let brief = thru_at(&env, "19:00:07", "s1", &["brief"]).stdout;
    let written = thru_at(&env, "19:00:07", "s1", &["handoff", "go on", "--json"]).json();
    let packet = env.run_thru(&["packet", "show", written["id"].as_str().unwrap()]).assert_ok().stdout;
    end_at(&env, "19:00:08", "s1");
    let told = start_at(&env, "19:01:00", "s2");
    for text in [brief, packet, told] {
        assert!(text.contains("retry three times instead"), "{text}");
        assert!(!text.contains("Before it, answered") && !text.contains("has summed up"), "{text}");
    }
}
