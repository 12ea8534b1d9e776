use super::*;

fn keys(line: &str) -> Vec<String> {
    let folder_in_session = |folder: &str| match folder.strip_prefix("/home/dev/app") {
        Some(inside) => inside.trim_start_matches('/').to_owned(),
        None => folder.to_owned(),
    };
    useful_commands([line].into_iter(), folder_in_session).into_keys().collect()
}

#[test]
fn runs_of_the_same_command_have_the_same_key() {
    for (one, other, is_same) in [
        ("mise run test", "mise run test 2>&1 | tail -30", true),
        ("mise run test", "cd /home/dev/app && mise run test > log.txt", true),
        ("mise run test", "CI=1 mise run test", true),
        ("cargo test", "cargo test -q", true),
        ("docker build .", "cd /home/dev/app && docker build . 2>&1 | tail -5", true),
        ("mise run test", "mise run test:ci", false),
        ("mise run test", "cd web && mise run test", false),
        ("go test ./...", "go test ./parser/...", false),
        ("docker build .", "docker build web", false),
    ] {
        assert_eq!(keys(one) == keys(other), is_same, "{one} | {other}");
        assert!(!keys(one).is_empty(), "{one}");
    }
}

#[test]
fn commands_that_a_brief_never_lists_are_not_wanted() {
    for (line, expected) in [
        ("mise run fmt && mise run lint", 2),
        ("go build -o app ./cmd/app && ls -l app", 1),
        ("docker compose up", 1),
        ("ls src", 0),
        ("grep -rn parse src | head -5", 0),
        ("mkdir -p build", 0),
        ("rm build/log.txt", 0),
        ("git status", 0),
        ("git log --oneline -5", 0),
        ("git add -A && git commit -m 'Fix the parser'", 0),
        ("git push", 0),
        ("gh pr view 12 --json body | jq .body", 0),
        ("gh pr comment 12 --body Done", 0),
        ("python3 -c 'print(1)'", 0),
        ("for f in *.txt; do cat $f; done", 0),
    ] {
        assert_eq!(keys(line).len(), expected, "{line}: {:?}", keys(line));
    }
}

#[test]
fn a_command_is_named_only_as_a_whole() {
    let forms: BTreeSet<String> = ["mise run test".to_owned(), "CI=1 mise run test".to_owned()].into();
    for (text, expected) in [
        ("run `mise run test`, then commit", true),
        ("then mise run test.", true),
        ("mise run test: passed", true),
        ("mise run test -- -run Parser", true),
        ("CI=1 mise run test", true),
        ("mise run test:ci", false),
        ("mise run test-all", false),
        ("mise run tests", false),
        ("promise run test", false),
        ("run the tests", false),
    ] {
        assert_eq!(is_command_named(text, &forms), expected, "{text}");
    }
}

#[test]
fn a_command_that_ran_again_keeps_the_forms_of_all_its_runs() {
    let ran = |lines: &[&str]| useful_commands(lines.iter().copied(), str::to_owned);
    let again = commands_that_ran_again(
        &ran(&["cargo test 2>&1 | tail", "cargo build"]),
        &ran(&["cargo test -q", "cargo fmt"]),
    );
    let forms: Vec<&String> = again.values().flatten().collect();
    assert_eq!(forms, ["cargo test", "cargo test -q"]);
}
