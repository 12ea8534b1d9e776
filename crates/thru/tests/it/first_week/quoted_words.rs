//! Tests the words that a brief quotes, and the role of a session.

use super::handoffs::{ask_at, edit_at, end_at, fire_at, run_at, start_at, stop_at, thru_at};
use super::results_of_checks::fail_at;
use super::*;
use crate::roles::{env_with_bound_role, env_with_role};

const UNITTEST: &str = "Exit code 1\n..F\n======================================================================\nFAIL: test_median (tests.test_report.ReportTest.test_median)\n----------------------------------------------------------------------\nTraceback (most recent call last):\n  File \"/p/tests/test_report.py\", line 21, in test_median\n    self.assertEqual(median([parse_line(\"d;a;1\"), parse_line(\"d;a;2\")]), 150)\n    ~~~~~~~~~~~~~~~~^^^^^\nAssertionError: 200 != 150\n\n----------------------------------------------------------------------\nRan 16 tests in 0.002s\n\nFAILED (failures=1)";

/// Compacts a session with this summary. Returns what the agent is told afterwards.
pub fn compact_at(env: &TestEnv, time: &str, session: &str, summary: &str) -> String {
    let before = env.event_payload(session, "PreCompact", json!({"trigger": "manual"}));
    let call = env.hook_call("PreCompact", before.to_string());
    call.with_variable("THROUGHLINE_NOW", format!("2026-11-15T{time}Z")).run().assert_ok();
    let message = format!("<summary>\n{summary}\n</summary>");
    let stop = json!({"agent_type": "", "last_assistant_message": message});
    fire_at(env, time, session, "SubagentStop", stop);
    fire_at(env, time, session, "SessionStart", json!({"source": "compact"}))
}

#[test]
fn a_summary_with_a_heading_about_errors_hides_no_open_failure() {
    let variants = [
        "",
        "4. Errors and fixes: none.",
        "4. Errors and fixes:\n   - None",
        "4. **Errors and fixes**:\n   - `import average` raised an ImportError; fixed by adding it to the import.",
        "4. Errors and fixes: an import failed at first; this was fixed.",
        "4. Errors and fixes: test_average failed at first; fixed by rounding half up.",
        "4. Errors and fixes: there were no errors and no failures.",
        "5. All tests pass.",
    ];
    for errors in variants {
        let env = TestEnv::with_root();
        start_at(&env, "19:00:00", "s1");
        ask_at(&env, "19:00:01", "s1", "Add median(rows) to ledger/report.py. Integers only.");
        edit_at(&env, "19:00:02", "s1", "tests/test_report.py");
        edit_at(&env, "19:00:03", "s1", "ledger/report.py");
        fail_at(&env, "19:00:04", "s1", "python3 -m unittest", UNITTEST);
        stop_at(&env, "19:00:05", "s1", "An even count needs the mean of the two middle amounts.");
        let summary = format!(
            "1. Primary Request and Intent: add median(rows) to ledger/report.py, integers only.\n\
             3. Files: ledger/report.py, tests/test_report.py.\n{errors}\n6. Pending Tasks: none.\n\
             7. Current Work: median(rows) was added with a test."
        );
        let told = compact_at(&env, "19:00:06", "s1", &summary);
        assert!(told.contains("`python3 -m unittest`"), "{errors}: {told}");
        assert!(told.contains("test_median") && told.contains("200 != 150"), "{errors}: {told}");
    }
}

#[test]
fn a_mistake_that_was_mended_is_no_rule_and_a_limit_beside_it_is_one() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    let prompt = "Money.parse('1.5') returns 105 cents; it must be 150. Write a test first. Integers only: no float, no \
                  Decimal. Commit when it is green.";
    ask_at(&env, "19:00:01", "s1", prompt);
    edit_at(&env, "19:00:02", "s1", "ledger/money.py");
    run_at(
        &env,
        "19:00:03",
        "s1",
        "git commit -am 'money: pad'",
        "[main fdbe163] money: pad\n 1 file changed",
    );
    stop_at(&env, "19:00:04", "s1", "Fixed: `Money.parse` pads the fraction now, and I committed it.");
    let next = "Good. Next, refunds: negative amounts such as -0.50 must parse and print.";
    ask_at(&env, "19:00:05", "s1", next);
    edit_at(&env, "19:00:06", "s1", "ledger/money.py");
    stop_at(
        &env,
        "19:00:07",
        "s1",
        "`Money.parse` handles negative amounts now; `__str__` still prints -1.50.",
    );
    for words in [&["brief"][..], &["brief", "--event", "compact"]] {
        let brief = env.run_thru(words).assert_ok().stdout;
        let (_, said) = brief.split_once("The user's words:").unwrap_or_else(|| panic!("{brief}"));
        let said = said.split("\nAlready done").next().unwrap_or_default();
        assert!(said.contains("“Integers only: no float, no Decimal.”"), "{brief}");
        assert!(!said.contains("it must be 150"), "{brief}");
    }
}

#[test]
fn an_answer_is_told_with_the_short_one_that_overrules_it() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Start workstream 24.");
    edit_at(&env, "19:00:02", "s1", "ledger/export.py");
    stop_at(&env, "19:00:03", "s1", "`to_csv` is written, without the header line so far.");
    ask_at(&env, "19:00:04", "s1", "Add the header line.");
    edit_at(&env, "19:00:05", "s1", "ledger/export.py");
    stop_at(&env, "19:00:06", "s1", "The header is there and step 1 is ticked.");
    ask_at(&env, "19:00:07", "s1", "continue");
    edit_at(&env, "19:00:08", "s1", "tests/test_export.py");
    stop_at(&env, "19:00:09", "s1", "The round trip is tested. Step 3, the README, is left.");
    end_at(&env, "19:00:10", "s1");
    let told = start_at(&env, "19:00:11", "s2");
    let newer = told.find("“The header is there and step 1 is ticked.”");
    let older = told.find("without the header line so far");
    assert!(newer.is_some() && older.is_none_or(|older| newer < Some(older)), "{told}");
}

#[test]
fn an_agent_that_stops_as_asked_announces_no_next_step() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Do plan.md up to the first test run, then stop and tell me.");
    edit_at(&env, "19:00:02", "s1", "ledger/report.py");
    fail_at(&env, "19:00:03", "s1", "python3 -m unittest", UNITTEST);
    let message = "`test_by_month` fails: I sliced 6 characters instead of 7. I'll stop here as you asked; the fix is one \
                   character in by_month.";
    stop_at(&env, "19:00:04", "s1", message);
    thru_at(&env, "19:00:05", "s1", &["handoff", "fix the slice in by_month"]);
    let packet = env.run_thru(&["packet", "show", "slice"]).assert_ok().stdout;
    assert!(
        packet.contains("Begin with: the failing command `python3 -m unittest` (see Failing).\n"),
        "{packet}"
    );
    assert!(!packet.contains("would do: “I'll stop here"), "{packet}");
}

#[test]
fn a_quoted_step_ends_with_one_full_stop() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Sort the report by month in ledger/report.py");
    edit_at(&env, "19:00:02", "s1", "ledger/report.py");
    stop_at(
        &env,
        "19:00:03",
        "s1",
        "The rows are sorted. I'll add a test for two months with the same name.",
    );
    thru_at(&env, "19:00:04", "s1", &["handoff", "sort the report by month"]);
    let packet = env.run_thru(&["packet", "show", "sort"]).assert_ok().stdout;
    assert!(packet.contains("with the same name.”\n"), "{packet}");
}

#[test]
fn a_message_that_proposes_nothing_is_not_called_a_proposal() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Audit ledger/ for security and style; the gate expects the files.");
    edit_at(&env, "19:00:02", "s1", "audit-security.md");
    stop_at(&env, "19:00:03", "s1", "The security audit is there; style is still missing.");
    ask_at(&env, "19:00:04", "s1", "go on");
    edit_at(&env, "19:00:05", "s1", "notes.md");
    let told = env.run_thru(&["brief", "--event", "compact"]).assert_ok().stdout;
    assert!(
        told.contains("The agent had said: “The security audit is there; style is still missing.”"),
        "{told}"
    );
    assert!(!told.contains("proposal"), "{told}");
}

#[test]
fn a_session_that_recovers_a_role_gets_it() {
    let env = env_with_role();
    start_at(&env, "19:00:00", "s1");
    let recovered = thru_at(&env, "19:00:01", "s1", &["recover", "tester"]).stdout;
    assert!(
        recovered.ends_with("\nLifecycle: active\nSession: s1 has the role tester\nRecovered: tester\n"),
        "{recovered}"
    );
    assert_eq!(thru_at(&env, "19:00:01", "s1", &["recover", "tester"]).stdout, recovered);
    let status = thru_at(&env, "19:00:02", "s1", &["lifecycle", "status", "--json"]).json();
    assert_eq!(status[0]["open_sessions"], json!(["s1"]), "{status}");
    let brief = thru_at(&env, "19:00:03", "s1", &["brief", "--event", "compact"]).stdout;
    assert!(brief.contains("tester"), "{brief}");
    // The session keeps this role if it recovers the context file of another role.
    env.write_file("project/.agent/context/agents/reviewer.context.md", crate::roles::GOOD_CONTEXT_TEXT);
    let other = thru_at(&env, "19:00:04", "s1", &["recover", "reviewer"]).stdout;
    let kept =
        "Session: s1 keeps the role tester; `thru role bind reviewer` gives it the role reviewer instead\n";
    assert!(other.contains(kept), "{other}");
}

#[test]
fn a_role_stays_with_a_session_that_is_running() {
    let env = env_with_bound_role();
    env.fire_event("s2", "SessionStart", json!({"source": "startup"}));
    let recover = || {
        let call = env.thru_call(&["recover", "tester"]).with_variable("CLAUDE_CODE_SESSION_ID", "s2");
        call.run().assert_ok().stdout
    };
    let told = recover();
    let expected = "Session: s2 does not have the role tester, because session s1 has it and has not ended; `thru role bind \
                    tester` gives it to this session as well\n";
    assert!(told.contains(expected), "{told}");
    env.fire_event("s1", "SessionEnd", json!({"reason": "exit"}));
    assert!(recover().contains("Session: s2 has the role tester\n"));
}

#[test]
fn a_brief_shows_the_session_as_it_stands_before_and_after_a_compaction() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Add median(rows) to ledger/report.py.");
    edit_at(&env, "19:00:02", "s1", "ledger/report.py");
    stop_at(&env, "19:00:03", "s1", "`median` is written, and its test passes.");
    let note = |words: &[&str]| thru_at(&env, "19:01:00", "s1", words).stderr;
    assert!(note(&["brief"]).starts_with("Session s1 as it stands."));
    compact_at(&env, "19:00:04", "s1", "1. Primary Request and Intent: add median(rows).");
    assert!(note(&["brief"]).starts_with("Session s1 as it stands."));
    ask_at(&env, "19:00:05", "s1", "go on");
    edit_at(&env, "19:00:06", "s1", "ledger/report.py");
    assert!(note(&["brief"]).starts_with("Session s1 as it stands."));
    assert!(note(&["brief", "--event", "compact"]).contains("is told after a compaction"));
}

#[test]
fn what_was_left_open_in_a_removed_worktree_is_told() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Audit the ledger");
    edit_at(&env, "19:00:02", "s1", "README.md");
    end_at(&env, "19:00:03", "s1");
    let tree = env.base_folder().join("month");
    env.run_git(&["worktree", "add", "--quiet", "-b", "by-month", tree.to_str().unwrap()]);
    let edit = json!({"file_path": tree.join("report.py"), "old_string": "a", "new_string": "b"});
    let message = "`by_month` is there and merged. Still to do: print the report, as plan.md says.";
    for (time, event, more) in [
        ("19:01:00", "SessionStart", json!({"source": "startup"})),
        ("19:01:01", "UserPromptSubmit", json!({"prompt": "Do plan.md"})),
        ("19:01:02", "PostToolUse", json!({"tool_name": "Edit", "tool_use_id": "e", "tool_input": edit})),
        ("19:01:03", "Stop", json!({"last_assistant_message": message})),
        ("19:01:04", "SessionEnd", json!({"reason": "other"})),
    ] {
        let payload = crate::env::merge_fields(&env.event_payload("s2", event, more), json!({"cwd": tree}));
        let call = env.hook_call(event, payload.to_string()).with_variable("CLAUDE_PROJECT_DIR", &tree);
        call.with_variable("THROUGHLINE_NOW", format!("2026-11-15T{time}Z")).run();
    }
    let left = "its last message ended with “`by_month` is there and merged. Still to do: print the report, as plan.md says.”";
    // As long as the worktree exists, its work counts as still in progress.
    assert!(!env.run_thru(&["status"]).assert_ok().stdout.contains(left));
    fs::write(tree.join("report.py"), "b\n").unwrap();
    env.run_git_in(&tree, &["add", "-A"]);
    env.run_git_in(&tree, &["commit", "-qm", "By month"]);
    env.run_git(&["merge", "--quiet", "by-month"]);
    env.run_git(&["worktree", "remove", "--force", tree.to_str().unwrap()]);
    let status = env.run_thru(&["status"]).assert_ok().stdout;
    assert!(status.contains("session s2 in the worktree") && status.contains(left), "{status}");
    let told = start_at(&env, "19:02:00", "s3");
    assert!(told.contains("session s2 worked in the worktree") && told.contains(left), "{told}");
}

/// Returns the texts between quotation marks.
fn quotations(text: &str) -> Vec<&str> {
    text.split('“').skip(1).filter_map(|rest| Some(rest.split_once('”')?.0)).collect()
}

#[test]
fn a_quotation_shows_where_text_is_missing() {
    let task = "You are an experienced developer. Mend the reader of the lexer: it drops comments. It must keep them.";
    let long =
        "First read the whole lexer. Then mend the reader, which drops the comments in arrays. ".repeat(12);
    for (asked, said) in [
        (task, "Great! The reader is mended: `skip` counts the lines now. All tests pass."),
        (
            task,
            "The reader is mended.\n\n```\nfn skip() {}\n```\n\nLet me know if it is too slow. Have a nice day.",
        ),
        (
            &long,
            "I will look at the writer next. The reader is mended because `skip` counts the lines. Now let me see:",
        ),
        (&long, &long),
    ] {
        let env = TestEnv::with_root();
        start_at(&env, "19:00:00", "s1");
        ask_at(&env, "19:00:01", "s1", asked);
        edit_at(&env, "19:00:02", "s1", "src/reader.rs");
        stop_at(&env, "19:00:03", "s1", said);
        let brief = thru_at(&env, "19:00:04", "s1", &["brief"]).stdout;
        let short = thru_at(&env, "19:00:05", "s1", &["brief", "--max-chars", "600"]).stdout;
        let packet = thru_at(&env, "19:00:06", "s1", &["handoff", "go on", "--json"]).json();
        let packet = env.run_thru(&["packet", "show", packet["id"].as_str().unwrap()]).assert_ok().stdout;
        let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
        // A rule or a question may be quoted as a single sentence without an ellipsis, because the text before the
        // quotation says that it is a rule or a question.
        let is_sentence =
            |quote: &str| ["It must keep them.", "Let me know if it is too slow."].contains(&quote);
        for text in [&brief, &short, &packet] {
            for quote in quotations(text).into_iter().filter(|quote| !is_sentence(quote)) {
                let is_whole = [asked, said].iter().any(|whole| letters(whole) == letters(quote));
                assert!(is_whole || quote.contains('…') || quote == "go on", "{quote}: {text}");
            }
        }
    }
}
