use super::{command_as_typed, command_to_repeat, does_zero_exit_prove_repeated_command};

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
        (
            "sed -i 's/a/b/' a.rs && printf 'x' >> a.rs && cargo test -q 2>&1 | tail -20",
            "cargo test -q 2>&1 | tail -20",
        ),
        ("sed -i \"s/a(b)/c('d')/; s/e/f/\" src/cli.js && npm test", "npm test"),
        ("cat > a.js <<'EOF'\nf(1)\nEOF\nsed -i 's/f(1)/f(2)/' a.js && npm test", "npm test"),
        ("perl -0pi -e 's/a/b/' a.rs && cargo test", "cargo test"),
        ("git checkout -- a.rs && cargo test", "cargo test"),
        ("npm run build && sed -i 's/a/b/' a.ts && npm test", "npm test"),
        ("printf 'x' | tee -a a.rs; cargo test; rm a.rs; ls", "cargo test"),
        ("npm test && git commit -am x && git log", "npm test"),
        // Nothing is left out of these.
        (
            "make && cd web && sed -i 's/a/b/' a.ts && npm test",
            "make && cd web && sed -i 's/a/b/' a.ts && npm test",
        ),
        ("git stash && npm test; git stash pop", "git stash && npm test; git stash pop"),
        ("printf 'x > y' | ./test.sh 2>/dev/null", "printf 'x > y' | ./test.sh 2>/dev/null"),
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
        // Commands in the middle are kept, so that the result is a part of the line exactly as it was run.
        ("make lint && echo ok; make test", "make lint && echo ok; make test"),
        ("make lint || echo bad && make test", "make lint || echo bad && make test"),
        ("make lint | tail -3 || make fix", "make lint | tail -3 || make fix"),
        (
            "echo a; make lint 2>&1 | tail -3; echo b; make test > log",
            "make lint 2>&1 | tail -3; echo b; make test",
        ),
        // The input of a command is kept, too.
        ("printf 'a\\n' | ./app", "printf 'a\\n' | ./app"),
        ("make && printf 'a\\n' | ./app | head -3; echo $?", "make && printf 'a\\n' | ./app"),
        ("./app --since < /dev/null > log 2>&1", "./app --since < /dev/null"),
        ("./app 2>&1 < /dev/null | tail -3", "./app 2>&1 < /dev/null"),
        ("./app <<< 'a b' | tail -3", "./app <<< 'a b'"),
        ("uv run pytest \\\n  -q && make", "uv run pytest -q && make"),
        ("npm run build\nnpm test", "npm run build; npm test"),
        ("(cd web && npm test) | tail -3", "npm test"),
        ("(make lint; make test) && ./app", "(make lint; make test) && ./app"),
        ("cat names | xargs npm test | tail", "cat names | xargs npm test"),
        ("make && cd web && npm test", "make && cd web && npm test"),
        ("for f in a b; do npm test $f; done", "for f in a b; do npm test $f; done"),
        ("exit 3", "exit 3"),
        // A `thru` command changes records, so it is not repeated with the check.
        ("make test && thru resume update --task-done", "make test"),
        ("~/.local/bin/thru resume update && make test | tail -3", "make test"),
        ("make lint && thru evidence run t1 -- make test", "make lint && thru evidence run t1 -- make test"),
        ("thru status", "thru status"),
    ] {
        assert_eq!(command_to_repeat(command), expected, "{command}");
    }
}

#[test]
fn an_exit_code_may_show_that_the_quoted_command_worked() {
    for (command, expected) in [
        ("./app list", true),
        ("cd /x && make && ./app list > out 2>&1", true),
        ("printf 'a\\n' | ./app", true),
        ("./app list && echo done", true),
        ("set -o pipefail; ./app list | head -3", true),
        // The exit code is that of another command.
        ("./app list | head -3", false),
        ("./app list; echo $?", false),
        ("make; ./app list", false),
        ("./app list || true", false),
        ("./app serve &", false),
        ("cargo test -q 2>&1 | tail -3 && printf 'x' | ./app; echo $?", false),
        ("for x in a b; do ./app $x; done", false),
        ("echo a", false),
    ] {
        assert_eq!(does_zero_exit_prove_repeated_command(command), expected, "{command}");
    }
}

#[test]
fn a_check_is_quoted_with_its_input() {
    for (command, expected) in [
        ("printf 'y\\n' | ./test.sh 2>&1 | tail -3", "printf 'y\\n' | ./test.sh"),
        ("make && yes | timeout 60 npm test > log", "make;yes | timeout 60 npm test"),
        ("npm test < /dev/null 2>&1 | tail", "npm test < /dev/null"),
        ("timeout 60 npm test 2>&1", "npm test"),
        ("cargo test | ./target/debug/app", "cargo test;./target/debug/app"),
    ] {
        let checks = super::super::checks_of_command(command, "");
        let quoted: Vec<&str> = checks.iter().map(|check| check.command_to_repeat.as_str()).collect();
        assert_eq!(quoted.join(";"), expected, "{command}");
    }
}
