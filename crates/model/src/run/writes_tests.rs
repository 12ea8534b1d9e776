use super::*;

#[test]
fn commands_that_leave_files_alone_or_name_them() {
    for command in [
        "",
        "ls -la && cat src/a.rs | head -3",
        "cargo test --quiet 2>&1 | tail -5",
        "cargo test > /dev/null 2>&1",
        "npm test",
        "python3 -m pytest -q",
        "python3 -m unittest",
        "go test ./...",
        "cargo clippy",
        "cargo build",
        "git status && git diff",
        "git add -A && git commit -m 'fix it'",
        "git push",
        "grep -rn foo src",
        "cd web && npm run lint",
        "mkdir -p out",
        "thru status",
        "echo hi",
        "FOO=1 cargo test",
        // These commands change only files that are mentioned in their text.
        "sed -i s/1/2/ cart.py",
        "sed -i.bak 's/1/2/' a.py b.py",
        "echo hi > notes.txt",
        "cargo test >> out/log.txt",
        "rm -f old.py",
        "mv a.rs b.rs",
        "touch a.txt",
        "chmod +x run.sh",
        "bash -lc 'echo hi > notes.txt'",
    ] {
        assert!(!may_change_unnamed_files(command), "{command}");
    }
}

#[test]
fn commands_that_may_change_any_file() {
    for command in [
        "python3 gen.py",
        "python3 -c 'open(\"a\", \"w\")'",
        "python3 - <<'EOF'\nprint(1)\nEOF",
        "node build.js",
        "./gen.sh",
        "make generate",
        "make",
        "npm run build",
        "npm install",
        "cargo fmt",
        "cargo add serde",
        "eslint --fix .",
        "jest -u",
        "prettier --write src",
        "gofmt -w .",
        "go mod tidy",
        "go generate ./...",
        "git checkout main",
        "git stash",
        "git pull",
        "git restore .",
        "sed -i s/1/2/ *.py",
        "sed -i s/1/2/ Makefile",
        "rm -rf build",
        "cp -r a b",
        "find . -name '*.pyc' -delete",
        "grep -l x . | xargs sed -i s/x/y/",
        "echo hi > \"$OUT\"",
        "echo hi > Makefile",
        "curl -o a.json https://example.com/a.json",
        "patch -p1 < fix.diff",
        "cat > a.py <<'EOF'\nprint(1)\nEOF",
        "tar xf a.tar",
    ] {
        assert!(may_change_unnamed_files(command), "{command}");
    }
}
