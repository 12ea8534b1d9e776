use super::*;

/// Builds options from their first letters, such as `uf` for an unfinished call and a failure.
fn options(letters: &str) -> StepOptions {
    let given = |letter: char| letters.contains(letter).then(|| letter.to_string());
    StepOptions {
        unfinished: given('u'),
        untouched: given('m'),
        failing: given('f'),
        announced: given('a'),
        is_being_solved: letters.contains('s'),
        todo: given('t'),
        check: given('c'),
        old_failing: given('o'),
        is_over: letters.contains('d'),
        at_work: given('w'),
    }
}

#[test]
fn the_first_step_is_the_most_certain_one() {
    for (letters, expected) in [
        ("ufatcow", "u; then f"),
        ("uatcw", "u; then a"),
        ("fatcow", "f; then a"),
        ("fastcow", "a; then f"),
        ("atcow", "a"),
        ("mtcow", "m"),
        ("tcow", "t"),
        ("ow", "o"),
        ("w", "w"),
        ("tdw", "t"),
    ] {
        let expected = Some(FirstStep::Begin(expected.to_owned()));
        assert_eq!(options(letters).choose(), expected, "{letters}");
    }
    assert_eq!(options("cow").choose(), Some(FirstStep::Check("c".to_owned())));
    assert_eq!(options("dw").choose(), Some(FirstStep::NothingOpen("report to the user")));
    assert_eq!(options("").choose(), None);
}

#[test]
fn a_command_that_was_started_again_is_one_step() {
    for (call, failed, expected) in [
        ("mise run test:ci 2>&1 | head -150", "mise run test:ci 2>&1 | tail -60", true),
        ("go test ./... -v", "go test ./... 2>&1 | tail -5", true),
        ("mise run lint", "mise run test:ci 2>&1 | tail -60", false),
        ("git status", "go build ./...", false),
    ] {
        assert_eq!(choose::covers_command(call, failed), expected, "{call}");
    }
    for call in ["sleep 20 && npm test", "for i in 1 2; do npm test >/dev/null; sleep 2; done"] {
        assert!(choose::covers_command(call, "npm test"), "{call}");
    }
}
