//! Tests that after a compaction the agent is told every requirement of its task that the summary lacks.

use super::handoffs::{ask_at, edit_at, run_at, start_at, stop_at};
use super::quoted_words::compact_at;
use super::*;

const REQUEST: &str = "Add --from and --to options that filter by the timestamp. Both bounds are inclusive. Timestamps stay \
                       strings (RFC 3339 in UTC compares lexically), no chrono. Don't touch src/level.rs.";
const CORRECTION: &str = "Actually --to should be exclusive, like in journalctl. And the positional LEVEL argument must keep \
                          working.";
const SUMMARY: &str = "1. Primary Request and Intent: The user asked to add `--from` and `--to` options to logsift, filtering \
                       lines by timestamp. --to is exclusive, as in journalctl.\n2. Files: src/main.rs (argument \
                       parsing).\n3. Pending Tasks: none known\n4. Current Work: argument parsing in src/main.rs.";

/// Lengthens a summary, so that it does not count as thin.
fn long_summary(beginning: &str) -> String {
    let line = "\n   - `parse_args` in src/main.rs walks over the arguments and compares each of them with a known name.";
    format!("{beginning}{}", line.repeat(20))
}

#[test]
fn every_requirement_that_the_summary_lacks_is_quoted() {
    for summary in [SUMMARY.to_owned(), long_summary(SUMMARY)] {
        for first_answer in [
            "The library supports inclusive ranges now; next I'll wire the CLI.",
            "Both options filter by the timestamp now.",
        ] {
            let env = TestEnv::with_root();
            start_at(&env, "19:00:00", "s1");
            ask_at(&env, "19:00:01", "s1", REQUEST);
            stop_at(&env, "19:00:02", "s1", first_answer);
            ask_at(&env, "19:00:03", "s1", CORRECTION);
            edit_at(&env, "19:00:04", "s1", "src/main.rs");
            let told = compact_at(&env, "19:00:06", "s1", &summary);
            for words in [
                "Timestamps stay strings (RFC 3339 in UTC compares lexically), no chrono.",
                "Don't touch src/level.rs.",
                "the positional LEVEL argument must keep working.",
            ] {
                assert!(told.contains(words), "{words}: {told}");
            }
            // The older message is not quoted without the newer one that corrects it.
            assert!(told.contains("Actually --to should be exclusive"), "{told}");
            assert!(!told.contains("filter by the timestamp"), "the summary says so: {told}");
        }
    }
}

#[test]
fn the_requirements_of_a_request_with_a_short_correction_are_quoted() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    let request = "Add --since-file FILE. Timestamps stay strings, no chrono. Keep main.rs below 60 lines. The option must \
                   not be documented in the README yet. Use std::fs only.";
    ask_at(&env, "19:00:01", "s1", request);
    stop_at(&env, "19:00:02", "s1", "I've read main.rs, I'll start with the option.");
    ask_at(&env, "19:00:03", "s1", "Use --from-file as its name instead.");
    run_at(&env, "19:00:04", "s1", "cat src/main.rs", "fn main() {}");
    let summary = "The user asked for an option --from-file FILE (first called --since-file). I read src/main.rs. Next: add \
                   the option to main().";
    for summary in [summary.to_owned(), long_summary(summary)] {
        let told = compact_at(&env, "19:00:06", "s1", &summary);
        for words in
            ["no chrono", "below 60 lines", "not be documented in the README yet", "Use std::fs only."]
        {
            assert!(told.contains(words), "{words}: {told}");
        }
    }
}

#[test]
fn a_requirement_of_finished_work_or_one_that_the_summary_has_is_not_quoted() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Add --count to the tool. The number stands alone on its line.");
    edit_at(&env, "19:00:02", "s1", "src/count.rs");
    stop_at(&env, "19:00:03", "s1", "`--count` prints the number alone.");
    ask_at(&env, "19:00:04", "s1", REQUEST);
    edit_at(&env, "19:00:05", "s1", "src/main.rs");
    let known = "Timestamps stay strings (RFC 3339 in UTC compares lexically), no chrono";
    let told = compact_at(
        &env,
        "19:00:06",
        "s1",
        &long_summary(&format!("{SUMMARY}\n5. All user messages: {known}.")),
    );
    assert!(!told.contains("stands alone on its line") && !told.contains("no chrono"), "{told}");
    assert!(told.contains("Don't touch src/level.rs."), "{told}");
}
