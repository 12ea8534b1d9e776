use super::{command_as_typed, command_to_repeat};

#[test]
fn a_line_is_shown_as_it_was_typed() {
    for same in [
        "npm run build; npm test 2>&1 | tail -40; exit ${PIPESTATUS[0]}",
        "npx tsc --noEmit src/missing.ts 2>&1; echo \"...\"; exit 2",
        "(a; b) || c &",
        "FOO=1 make -j2 > log 2>&1",
        "for f in a b; do cat $f; done",
        "npm test # all",
    ] {
        let expected = same.trim_end_matches(" # all");
        assert_eq!(command_as_typed(same), expected);
    }
    for (command, expected) in [
        ("cd /x && FOO=1 cargo test 2>&1 | tail -5", "FOO=1 cargo test 2>&1 | tail -5"),
        ("cd /x; (a; b)", "(a; b)"),
        ("cd a && cd b && make", "make"),
        ("cd /nowhere", "cd /nowhere"),
        ("# a comment\ngo vet ./...\n", "go vet ./..."),
        ("npm run build\nnpm test", "npm run build; npm test"),
        ("npm run build > log # first\n\n# then\nnpm test", "npm run build > log;   npm test"),
        ("make &&\n  make test", "make &&  make test"),
        ("for f in a b\ndo\n  cat $f\ndone", "for f in a b; do  cat $f; done"),
        ("uv run pytest \\\n  -q", "uv run pytest    -q"),
        ("python3 - <<'E'\nprint(1)\nE", "python3 - <<'E' …"),
        ("", ""),
    ] {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&command_as_typed(command)), words(expected), "{command}");
    }
}

#[test]
fn changes_around_a_check_are_left_out() {
    for (command, expected) in [
        ("npm test && git add -A && git commit -m 'a b'", "npm test"),
        ("sed -i 's/a/b/' src/a.ts && npm test 2>&1 | tail -5", "npm test 2>&1 | tail -5"),
        ("cd web && mkdir -p out; npm test; git push", "npm test"),
        ("npm run build && npm test && git commit -am x", "npm run build && npm test"),
        ("npm test || git commit -am x", "npm test"),
        // Nothing is left out of these.
        ("git commit -am x && npm test", "git commit -am x && npm test"),
        ("git add -A && git commit -m x", "git add -A && git commit -m x"),
        ("if npm test; then git commit -am x; fi", "if npm test; then git commit -am x; fi"),
        ("(npm test && git push)", "(npm test && git push)"),
        ("rm -rf out && ls", "rm -rf out && ls"),
        ("sed -n 3p a && npm test", "sed -n 3p a && npm test"),
    ] {
        assert_eq!(command_as_typed(command), expected, "{command}");
    }
    assert_eq!(command_to_repeat("rm -f x && npm test | tail && git add -A && git commit -m x"), "npm test");
}

#[test]
fn a_command_to_repeat_joins_its_parts_as_the_line_does() {
    for (command, expected) in [
        ("npm run build; npm test 2>&1 | tail -40; exit ${PIPESTATUS[0]}", "npm run build; npm test"),
        ("npx tsc --noEmit a.ts 2>&1; echo \"...\"; exit 2", "npx tsc --noEmit a.ts"),
        ("cd /x && make lint && make test 2>&1 | tail -5", "make lint && make test"),
        ("make lint && echo ok; make test", "make lint; make test"),
        ("make lint || echo bad && make test", "make lint; make test"),
        ("make lint | tail -3 || make fix", "make lint || make fix"),
        ("cat names | xargs npm test | tail", "cat names | xargs npm test"),
        ("make && cd web && npm test", "make && cd web && npm test"),
        ("for f in a b; do npm test $f; done", "for f in a b; do npm test $f; done"),
        ("exit 3", "exit 3"),
        // A call of thru changes records, so it is not repeated with the check.
        ("make test && thru resume update --task-done", "make test"),
        ("~/.local/bin/thru resume update && make test | tail -3", "make test"),
        ("make lint && thru evidence run t1 -- make test", "make lint && thru evidence run t1 -- make test"),
        ("thru status", "thru status"),
    ] {
        assert_eq!(command_to_repeat(command), expected, "{command}");
    }
}
