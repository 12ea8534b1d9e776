use super::ValidatorFailure;
use crate::redact::{RedactOptions, Redacted};

fn told_output(output: &str) -> String {
    let redact = |text| Redacted::redact_whole(text, RedactOptions::default());
    ValidatorFailure::new(&redact("npm test"), "exit 1".to_owned(), &redact(output)).output
}

fn passing_tests(n: usize) -> String {
    let test = |n| format!("# Subtest: n{n}\nok {n} - n{n}\n  ---\n  duration_ms: 0.1\n  ...\n");
    (0..n).map(test).collect()
}

/// The report of a failed test in TAP. `value` is the value that the test found.
fn failed_test(name: &str, value: u32) -> String {
    format!(
        "# Subtest: {name}\nnot ok 2 - {name}\n  ---\n  duration_ms: 1.2\n  location: '/p/a.test.js:4:1'\n  \
         failureType: 'testCodeFailure'\n  expected: 3\n  actual: {value}\n  ...\n"
    )
}

#[test]
fn the_agent_gets_the_errors_and_the_end() {
    let end = format!("{}1..60\n# fail 1", passing_tests(40));
    let told = told_output(&format!("{}{}{end}", passing_tests(20), failed_test("strings", 12)));
    let errors = "not ok 2 - strings\n…\n  location: '/p/a.test.js:4:1'\n…\n  expected: 3\n  actual: 12\n…\n";
    assert!(told.starts_with(errors), "{told}");
    let last: Vec<&str> = end.lines().collect();
    assert!(told.ends_with(&last[last.len() - 40..].join("\n")), "{told}");
    assert_eq!(told.lines().count(), 47);
}

#[test]
fn a_short_output_is_told_as_it_is() {
    let output = format!("{}# fail 1", failed_test("strings", 12));
    assert_eq!(told_output(&output), output);
    assert_eq!(told_output("  error\n      ^ here\n"), "  error\n      ^ here");
    let plain: String = (0..90).map(|n| format!("line {n}\n")).collect();
    assert!(told_output(&plain).starts_with("line 50\n"), "nothing in it is an error");
    assert_eq!(told_output(""), "");
}

#[test]
fn each_failed_test_keeps_its_values_within_a_limit() {
    let two = format!("{}{}{}", failed_test("a", 1), failed_test("b", 1), passing_tests(40));
    assert_eq!(told_output(&two).matches("actual: 1\n").count(), 2);
    let many: String = (0..400).map(|n| failed_test(&format!("t{n}{}", "x".repeat(400)), n)).collect();
    let told = told_output(&format!("{many}{}# fail 400", passing_tests(40)));
    assert!(told.starts_with("not ok 2 - t0x") && told.contains("…\n  expected: 3\n"), "{told}");
    assert!(told.lines().count() <= 72 && told.chars().count() < 17_000, "{told}");
}
