use crate::failure::error_lines;
use crate::redact::{RedactOptions, Redacted};

fn check(output: &str, expected: &[&str]) {
    let lines = error_lines(&Redacted::redact_whole(output, RedactOptions::default()));
    assert_eq!(lines.lines().collect::<Vec<_>>(), expected, "{output}");
}

const TAP: &str = "TAP version 13
# Subtest: reports errors
ok 1 - reports errors
  ---
  duration_ms: 5.07
  ...
# Subtest: umlaut
not ok 2 - umlaut
  ---
  duration_ms: 1.07
  location: '/x/a.test.mjs:3:1'
  failureType: 'testCodeFailure'
  error: |-
    Expected values to be strictly equal:
    + actual - expected

    + 'ber-uns'
    - 'uber-uns'
  code: 'ERR_ASSERTION'
  name: 'AssertionError'
  expected: 'uber-uns'
  actual: 'ber-uns'
  operator: 'strictEqual'
  stack: |-
    TestContext.<anonymous> (file:///x/errors/a.test.mjs:3:27)
  ...
";

const TAP_END: &str = "1..4\n# tests 5\n# pass 1\n# fail 1\n# cancelled 0\n";

#[test]
fn node_tap_names_the_test_and_the_values() {
    check(
        &format!("{TAP}{TAP_END}"),
        &["not ok 2 - umlaut", "location: '/x/a.test.mjs:3:1'", "expected: 'uber-uns'", "actual: 'ber-uns'"],
    );
    let objects = "# Subtest: deep
not ok 3 - deep
  location: '/x/a.test.mjs:4:1'
  failureType: 'testCodeFailure'
  error: |-
    Expected values to be strictly deep-equal:
    + actual - expected

      {
        b: [
    +     2
    -     3
        ]
      }
  code: 'ERR_ASSERTION'
  expected:
    b:
      0: 3
";
    check(objects, &["not ok 3 - deep", "location: '/x/a.test.mjs:4:1'", "+     2", "-     3"]);
    let thrown = "# Subtest: suite
    not ok 1 - inner
      failureType: 'testCodeFailure'
      error: 'boom happened'
      code: 'ERR_TEST_FAILURE'
not ok 4 - suite
  failureType: 'subtestsFailed'
  error: '1 subtest failed'
";
    check(thrown, &["not ok 1 - inner", "error: 'boom happened'", "not ok 4 - suite"]);
    let message =
        "not ok 1 - inner\n  error: |-\n    the slug is off\n    by one\n  code: 'ERR_TEST_FAILURE'\n";
    check(message, &["not ok 1 - inner", "the slug is off"]);
    // If a value spans several lines, only its lines in the diff are kept.
    let block = "not ok 7 - total\n  error: |-\n    Expected values to be strictly equal:\n    + actual - expected\n\n    \
                 + ''\n    - 'total: 1\\n'\n  expected: |-\n    total: 1\n  actual: ''\n  location: '/x/a.mjs:3:1'\n";
    check(block, &["not ok 7 - total", "- 'total: 1\\n'", "actual: ''", "location: '/x/a.mjs:3:1'"]);
    let both = "not ok 7 - total\n    + actual - expected\n\n    + 'a\\n' +\n    - 'b\\n' +\n  expected: |-\n    b\n  actual: |-\n    a\n";
    check(both, &["not ok 7 - total", "+ 'a\\n' +", "- 'b\\n' +"]);
    // A label is left out if its value is not on the same line, even if the report contains little else.
    check("  expected:\n    0: 'a'\n  actual:\n    0: 'b'\n  ...\n1..7\n# fail 1\n", &["# fail 1"]);
    check("  error: |-\n# fail 1\n", &["# fail 1"]);
    check("Expected:\n1..7\n", &["1..7"]);
    check("not ok 1 - row\n+ actual - expected ... Lines skipped\n", &["not ok 1 - row"]);
    // If there are too many lines, the locations are dropped first.
    check(
        &format!("{TAP}{objects}{thrown}{TAP_END}"),
        &[
            "not ok 2 - umlaut",
            "expected: 'uber-uns'",
            "actual: 'ber-uns'",
            "not ok 3 - deep",
            "+     2",
            "not ok 1 - inner",
        ],
    );
}

#[test]
fn node_spec_names_the_test_and_the_values() {
    let spec = "✔ reports errors (0.9ms)
✖ punctuation (1.2ms)
ℹ tests 2
ℹ pass 1
ℹ fail 1

✖ failing tests:

test at test/slug.test.ts:5:1
✖ punctuation (1.2ms)
  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:
  + actual - expected

  + 'hello-world-'
  - 'hello-world'
      at TestContext.<anonymous> (file:///x/test/slug.test.ts:5:32) {
    generatedMessage: true,
    code: 'ERR_ASSERTION',
    actual: 'hello-world-',
    expected: 'hello-world',
    operator: 'strictEqual'
  }
";
    check(
        spec,
        &[
            "✖ punctuation (1.2ms)",
            "test at test/slug.test.ts:5:1",
            "actual: 'hello-world-',",
            "expected: 'hello-world',",
        ],
    );
    check(
        "✖ inner (8.2ms)\n  Error: boom happened\n      at async Test.run (node:internal/test_runner/test:526:7)\n",
        &["✖ inner (8.2ms)", "Error: boom happened"],
    );
}

#[test]
fn jest_names_the_test_and_the_values() {
    let jest = "FAIL test/slug.test.ts
  ✓ spaces (2 ms)
  ✕ punctuation (3 ms)

  ● punctuation

    expect(received).toBe(expected) // Object.is equality

    Expected: \"hello-world\"
    Received: \"hello-world-\"

      5 | test(\"punctuation\", () => {
    > 6 |   expect(slugify(\"Hello, World!\")).toBe(\"hello-world\");

Test Suites: 1 failed, 1 total
Tests:       1 failed, 1 passed, 2 total
";
    check(
        jest,
        &[
            "FAIL test/slug.test.ts",
            "● punctuation",
            "Expected: \"hello-world\"",
            "Received: \"hello-world-\"",
        ],
    );
    check(
        "● a › b\n\n  expect(received).toEqual(expected)\n\n  - Expected  - 1\n  + Received  + 1\n\n    Object {\n  -   \"a\": 1,\n  +   \"a\": 2,\n    }\n\n      at Object.<anonymous> (a.test.js:3:5)\n",
        &["● a › b", "-   \"a\": 1,", "+   \"a\": 2,"],
    );
    check(
        "● Test suite failed to run\n\n  Cannot find module './a'\n",
        &["● Test suite failed to run", "Cannot find module './a'"],
    );
}

#[test]
fn a_notice_is_not_the_error() {
    check(
        "npm warn exec The following package was not found and will be installed: typescript@5.9.2\n(node:7) [DEP0040] DeprecationWarning: The `punycode` module failed to age\nsrc/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.\nnpm notice error reports go to the forum\n",
        &["src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'."],
    );
    check(
        "npm warn exec The following package was not found and will be installed: typescript@5.9.2\n",
        &["npm warn exec The following package was not found and will be installed: typescript@5.9.2"],
    );
    check(
        "Error: not equal\nnpm error Lifecycle script `test` failed with error:\nnpm error A complete log of this run can be found in: /x\n",
        &["Error: not equal"],
    );
}

#[test]
fn what_looks_like_a_test_report_is_left_alone() {
    check(
        "a.js\n  3:5  error  'x' is not defined\n\n✖ 1 problem (1 error, 0 warnings)\n",
        &["3:5  error  'x' is not defined", "✖ 1 problem (1 error, 0 warnings)"],
    );
    check("not ok 3 - later # TODO\nerror: odd\n", &["error: odd"]);
    check("- one\n+ two\nerror: odd\n", &["error: odd"]);
}

/// Lines of diffs do not crowd out the names of other failed tests, and the count says how many are not named.
#[test]
fn if_many_tests_failed_their_number_is_told() {
    let failed = |i| {
        format!(
            "not ok {i} - case {i}\n  error: |-\n    Expected values to be strictly deep-equal:\n    + actual - expected\n\n    + undefined,\n    - 'b{i}',\n"
        )
    };
    let output = |all: u32| {
        let tests: String = (1..=all).map(failed).collect();
        format!("{tests}# tests 15\n# fail {all}\n")
    };
    let names = ["not ok 1 - case 1", "not ok 2 - case 2", "not ok 3 - case 3", "not ok 4 - case 4"];
    check(&output(7), &[&names[..], &["not ok 5 - case 5", "# fail 7"]].concat());
    check(&output(2), &[names[0], "+ undefined,", "- 'b1',", names[1], "- 'b2',"]);
}

const CARGO: &str = "running 2 tests
test mean_of_numbers ... ok
test mean_skips_header ... FAILED

failures:

---- mean_skips_header stdout ----

thread 'mean_skips_header' (29240) panicked at tests/stats.rs:5:5:
assertion `left == right` failed
  left: 2.0
 right: 3.0
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace


failures:
    mean_skips_header

";

const CARGO_END: &str = "test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out

error: test failed, to rerun pass `--test stats`
";

#[test]
fn rust_tests_name_the_values_and_not_the_verdict() {
    check(
        &format!("{CARGO}{CARGO_END}"),
        &[
            "test mean_skips_header ... FAILED",
            "thread 'mean_skips_header' (29240) panicked at tests/stats.rs:5:5:",
            "assertion `left == right` failed",
            "left: 2.0",
            "right: 3.0",
        ],
    );
    // A panic without an assertion has its message on the next line.
    check(
        "thread 'main' (7) panicked at src/main.rs:3:5:\nindex out of bounds: the len is 1 but the index is 2\nleft: 3",
        &[
            "thread 'main' (7) panicked at src/main.rs:3:5:",
            "index out of bounds: the len is 1 but the index is 2",
        ],
    );
    check(
        CARGO_END,
        &[
            "test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out",
            "error: test failed, to rerun pass `--test stats`",
        ],
    );
}
