//! Tests that a check counts as out of date if a file was changed after it, even if no call shows the change. The times
//! of the files on disk show it.

use super::files_at_risk::repository_with_files;
use super::handoffs::{ask_at, edit_at, end_at, fire_at, run_at, start_at, stop_at, thru_at};
use super::results_of_checks::{fail_at, read_at};
use super::*;

const FAILED: &str = "Exit code 1\n======\nFAIL: test_nobody (tests.test_split.Split)\n------\nTraceback (most recent call last):\n  File \"tests/test_split.py\", line 9, in test_nobody\nAssertionError: {} != None\n------\nRan 3 tests in 0.001s\n\nFAILED (failures=1)";
const INLINE_SCRIPT: &str = "python3 - <<'EOF'\np = 'app/split.py'\ns = open(p).read()\nopen(p, 'w').write(s.replace('old', 'new'))\nEOF";
const TESTS: &str = "python3 -m unittest -q";

/// Writes a file of the project and sets its time to a time on the test day.
pub fn write_at(env: &TestEnv, time: &str, path: &str, text: &str) {
    let file = env.write_file(format!("project/{path}"), text);
    let at: jiff::Timestamp = format!("2026-11-15T{time}Z").parse().unwrap();
    fs::File::options().append(true).open(file).unwrap().set_modified(at.into()).unwrap();
}

fn packet_at(env: &TestEnv, time: &str, session: &str) -> (String, String) {
    let written = thru_at(env, time, session, &["handoff", "finish split", "--json"]).json();
    let id = written["id"].as_str().unwrap();
    let packet = env.run_thru(&["packet", "show", id]).assert_ok().stdout;
    (packet, thru_at(env, time, session, &["pickup", id]).assert_ok().stdout)
}

/// Creates a repository in which session `s1` read a file and ran tests, which failed.
fn env_with_failed_tests(listed: &[&str]) -> TestEnv {
    let env = repository_with_files(listed);
    listed.iter().for_each(|file| write_at(&env, "18:00:00", file, "old\n"));
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "split must give {} for nobody.");
    read_at(&env, "19:00:02", "s1", "app/split.py");
    fail_at(&env, "19:00:03", "s1", TESTS, FAILED);
    env
}

#[test]
fn a_change_by_an_inline_script_is_told_everywhere() {
    let env = env_with_failed_tests(&["app/split.py"]);
    write_at(&env, "19:00:05", "app/split.py", "new\n");
    run_at(&env, "19:00:06", "s1", INLINE_SCRIPT, "");
    stop_at(&env, "19:00:07", "s1", "split gives {} for nobody now. I have not run the tests yet.");
    let status = thru_at(&env, "19:00:08", "s1", &["status"]).assert_ok().stdout;
    assert!(status.contains("`python3 -m unittest -q`, before the last edit"), "{status}");
    let (packet, prompt) = packet_at(&env, "19:00:08", "s1");
    assert!(packet.contains("before the last edit"), "{packet}");
    assert!(prompt.contains("failed (see above), before the last edits; run it again"), "{prompt}");
    let brief = thru_at(&env, "19:00:08", "s1", &["brief"]).assert_ok().stdout;
    end_at(&env, "19:00:09", "s1");
    let told = start_at(&env, "19:01:00", "s2");
    for text in [packet, prompt, brief, told] {
        assert!(!text.contains("nothing has changed since"), "{text}");
        assert!(text.contains("before the last edit to app/split.py"), "{text}");
        assert!(text.contains("app/split.py") && !text.contains("read app/split.py"), "{text}");
        assert!(text.contains("not committed: app/split.py"), "{text}");
    }
}

#[test]
fn a_change_in_the_second_of_the_run_counts_if_a_script_followed() {
    for (command, is_told) in [(INLINE_SCRIPT, true), ("git log --oneline -1", false)] {
        let env = env_with_failed_tests(&["app/split.py"]);
        write_at(&env, "19:00:03", "app/split.py", "new\n");
        let call = json!({"tool_name": "Bash", "tool_use_id": "later", "tool_input": {"command": command},
            "tool_response": {"stdout": "", "stderr": "", "interrupted": false}});
        fire_at(&env, "19:00:03", "s1", "PostToolUse", call);
        stop_at(&env, "19:00:03", "s1", "Done.");
        let status = thru_at(&env, "19:00:04", "s1", &["status"]).assert_ok().stdout;
        let is_stale =
            ["before the last edit", "may have changed since"].iter().any(|words| status.contains(words));
        assert_eq!(is_stale, is_told, "{command}: {status}");
    }
}

#[test]
fn a_run_after_the_change_is_current() {
    let env = env_with_failed_tests(&["app/split.py"]);
    write_at(&env, "19:00:05", "app/split.py", "new\n");
    run_at(&env, "19:00:06", "s1", INLINE_SCRIPT, "");
    fail_at(&env, "19:00:07", "s1", TESTS, FAILED);
    stop_at(&env, "19:00:08", "s1", "It still fails.");
    let status = thru_at(&env, "19:00:09", "s1", &["status"]).assert_ok().stdout;
    assert!(!status.contains("not run since"), "{status}");
    let (_, prompt) = packet_at(&env, "19:00:09", "s1");
    assert!(prompt.contains("failed (see above); nothing has changed since"), "{prompt}");
}

/// The session never named the file, so only git shows the change.
#[test]
fn a_change_that_only_git_shows_is_told_by_commands() {
    let env = env_with_failed_tests(&["app/split.py", "app/other.py"]);
    write_at(&env, "19:00:05", "app/other.py", "new\n");
    run_at(&env, "19:00:06", "s1", "python3 tool.py", "");
    stop_at(&env, "19:00:07", "s1", "I have not run the tests yet.");
    let status = thru_at(&env, "19:00:08", "s1", &["status"]).assert_ok().stdout;
    assert!(status.contains("and files may have changed since"), "{status}");
    let brief = thru_at(&env, "19:00:08", "s1", &["brief"]).assert_ok().stdout;
    assert!(brief.contains("app/other.py may have changed since"), "{brief}");
    let (_, prompt) = packet_at(&env, "19:00:08", "s1");
    assert!(!prompt.contains("nothing has changed since"), "{prompt}");
}

#[test]
fn a_change_after_the_packet_is_told_by_the_pickup() {
    let env = env_with_failed_tests(&["app/split.py", "app/other.py"]);
    stop_at(&env, "19:00:04", "s1", "The test fails.");
    write_at(&env, "18:30:00", "app/other.py", "new\n");
    let written = thru_at(&env, "19:00:05", "s1", &["handoff", "finish split", "--json"]).json();
    let id = written["id"].as_str().unwrap();
    let prompt = thru_at(&env, "19:00:06", "s1", &["pickup", id]).assert_ok().stdout;
    assert!(prompt.contains("nothing has changed since"), "the file is older than the run: {prompt}");
    write_at(&env, "19:00:07", "app/other.py", "newer\n");
    let prompt = thru_at(&env, "19:00:08", "s1", &["pickup", id]).assert_ok().stdout;
    assert!(prompt.contains("before later changes; run it again"), "{prompt}");
}

#[test]
fn a_pass_is_not_called_verified_after_a_change() {
    let env = repository_with_files(&["app/split.py"]);
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "split must give {} for nobody.");
    edit_at(&env, "19:00:02", "s1", "app/split.py");
    write_at(&env, "19:00:02", "app/split.py", "new\n");
    run_at(&env, "19:00:03", "s1", TESTS, "Ran 3 tests in 0.001s\n\nOK");
    stop_at(&env, "19:00:04", "s1", "All tests pass.");
    let (_, prompt) = packet_at(&env, "19:00:05", "s1");
    assert!(prompt.contains("verified: passed at"), "{prompt}");
    write_at(&env, "19:00:07", "app/split.py", "newer\n");
    run_at(&env, "19:00:07", "s1", INLINE_SCRIPT, "");
    stop_at(&env, "19:00:08", "s1", "I renamed a variable.");
    let (_, prompt) = packet_at(&env, "19:00:09", "s1");
    assert!(prompt.contains("unverified: passed"), "{prompt}");
    let brief = thru_at(&env, "19:00:09", "s1", &["brief"]).assert_ok().stdout;
    assert!(brief.contains("passed, before the last edits"), "{brief}");
}

#[test]
fn an_earlier_sessions_failure_names_a_file_that_a_script_changed() {
    let env = env_with_failed_tests(&["app/split.py"]);
    write_at(&env, "19:00:05", "app/split.py", "new\n");
    run_at(&env, "19:00:06", "s1", INLINE_SCRIPT, "");
    end_at(&env, "19:00:07", "s1");
    start_at(&env, "19:01:00", "s2");
    ask_at(&env, "19:01:01", "s2", "Describe split in the README.");
    edit_at(&env, "19:01:02", "s2", "README.md");
    end_at(&env, "19:01:03", "s2");
    let told = start_at(&env, "19:02:00", "s3");
    let words =
        "in an earlier session, before the edits to README.md, and app/split.py may have changed since";
    assert!(told.contains(words), "{told}");
}

#[test]
fn an_output_of_a_sub_agent_makes_no_check_stale() {
    let env = env_with_failed_tests(&["app/split.py"]);
    edit_at(&env, "19:00:04", "s1", ".agent/context/outputs/audit-tests.md");
    write_at(&env, "19:00:04", ".agent/context/outputs/audit-tests.md", "PASS\n");
    write_at(&env, "19:00:05", ".agent/context/outputs/audit-docs.md", "PASS\n");
    run_at(&env, "19:00:05", "s1", "python3 write_reports.py", "");
    stop_at(&env, "19:00:06", "s1", "The audit is written.");
    let status = thru_at(&env, "19:00:07", "s1", &["status"]).assert_ok().stdout;
    assert!(status.contains("failing") && !status.contains("not run since"), "{status}");
    let (_, prompt) = packet_at(&env, "19:00:07", "s1");
    assert!(prompt.contains("nothing has changed since"), "{prompt}");
    end_at(&env, "19:00:08", "s1");
    start_at(&env, "19:01:00", "s2");
    ask_at(&env, "19:01:01", "s2", "Audit the tests.");
    edit_at(&env, "19:01:02", "s2", ".agent/context/outputs/audit-tests.md");
    run_at(&env, "19:01:03", "s2", "git commit -am docs", "[main 1a2b3c4] docs");
    end_at(&env, "19:01:04", "s2");
    let told = start_at(&env, "19:02:00", "s3");
    assert!(told.contains("in an earlier session"), "{told}");
    assert!(!told.contains("before the edits to"), "{told}");
}

/// Sets the time of the last move of HEAD in git's reflog.
fn set_time_of_last_move(env: &TestEnv, time: &str) {
    let path = env.project_folder().join(".git/logs/HEAD");
    let at: jiff::Timestamp = format!("2026-11-15T{time}Z").parse().unwrap();
    let moves = fs::read_to_string(&path).unwrap();
    let (earlier, last) = moves.trim_end().rsplit_once('\n').unwrap();
    let (who, rest) = last.split_once("> ").unwrap();
    let (_, zone_and_what) = rest.split_once(' ').unwrap();
    fs::write(&path, format!("{earlier}\n{who}> {} {zone_and_what}\n", at.as_second())).unwrap();
}

/// After a branch switch or a stash, a file can have a new modification time although its content is unchanged.
#[test]
fn a_new_time_alone_is_not_called_an_edit() {
    let env = env_with_failed_tests(&["app/split.py"]);
    stop_at(&env, "19:00:04", "s1", "The test fails.");
    let brief = || thru_at(&env, "19:00:08", "s1", &["brief"]).assert_ok().stdout;
    let status = || thru_at(&env, "19:00:08", "s1", &["status"]).assert_ok().stdout;
    write_at(&env, "19:00:06", "app/split.py", "old\n");
    assert!(brief().contains("app/split.py may have changed since"), "{}", brief());
    assert!(!brief().contains("before the last edit"), "{}", brief());
    assert!(status().contains("and files may have changed since"), "{}", status());
    env.run_git(&["switch", "-qc", "topic"]);
    env.run_git(&["commit", "-q", "--allow-empty", "-m", "Two"]);
    env.run_git(&["switch", "-q", "-"]);
    set_time_of_last_move(&env, "19:00:06");
    write_at(&env, "19:00:06", "app/split.py", "old\n");
    assert!(!brief().contains("may have changed since"), "{}", brief());
    assert!(!status().contains("may have changed since"), "{}", status());
}

/// The user changed a file while the agent was idle. The agent then ran a script that may have changed any file.
#[test]
fn the_users_own_change_is_not_told_as_the_sessions() {
    let env = env_with_failed_tests(&["app/split.py"]);
    stop_at(&env, "19:00:04", "s1", "The test fails.");
    write_at(&env, "19:00:06", "app/split.py", "by the user\n");
    ask_at(&env, "19:00:08", "s1", "Run the report.");
    run_at(&env, "19:00:09", "s1", "python3 report.py", "");
    stop_at(&env, "19:00:10", "s1", "The report is written.");
    let brief = thru_at(&env, "19:00:11", "s1", &["brief"]).assert_ok().stdout;
    assert!(!brief.contains("not committed: app/split.py"), "{brief}");
    assert!(!brief.contains("before the last edit"), "{brief}");
    assert!(brief.contains("app/split.py may have changed since"), "{brief}");
}

/// A journal can name any folder, even one in another repository. `thru` does not run git in that repository and does
/// not compare its files.
#[test]
fn a_folder_of_another_repository_is_not_examined() {
    let env = env_with_failed_tests(&["app/split.py"]);
    stop_at(&env, "19:00:04", "s1", "The test fails.");
    let other = env.base_folder().join("other");
    fs::create_dir_all(other.join("app")).unwrap();
    let project = env.project_folder();
    let git = |words: &[&str]| {
        let done = std::process::Command::new("git").args(words).current_dir(&other).status().unwrap();
        assert!(done.success(), "{words:?}");
    };
    git(&["init", "-q"]);
    let file = env.write_file("other/app/other.py", "new\n");
    let at: jiff::Timestamp = "2026-11-15T19:00:05Z".parse().unwrap();
    fs::File::options().append(true).open(file).unwrap().set_modified(at.into()).unwrap();
    let store = project.join(".agent/context");
    let journal = store.join("sessions/s1.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    let whole = project.to_str().unwrap();
    assert!(text.contains(whole), "{text}");
    fs::write(&journal, text.replace(whole, other.to_str().unwrap())).unwrap();
    fs::remove_dir_all(store.join("state/digest")).unwrap();
    let brief = thru_at(&env, "19:00:08", "s1", &["brief"]).stdout;
    assert!(brief.contains(TESTS) && !brief.contains("other.py"), "{brief}");
}
