use super::*;

fn check_mentions(command: &str, expected: &[(&str, FileAction)]) {
    let found: Vec<_> = paths_in_command(command).into_iter().map(|m| (m.path, m.action)).collect();
    let expected: Vec<_> = expected.iter().map(|(path, action)| ((*path).to_owned(), *action)).collect();
    assert_eq!(found, expected, "{command}");
}

#[test]
fn files_that_commands_name() {
    use FileAction::{Delete, Edit, Mention, Read};
    check_mentions("cat src/main.rs", &[("src/main.rs", Read)]);
    check_mentions("sed -n '1,20p' src/lib.rs | head -5", &[("src/lib.rs", Read)]);
    check_mentions("sed -i 's/a/b/' src/lib.rs", &[("src/lib.rs", Edit)]);
    check_mentions("echo hi > notes.txt", &[("notes.txt", Edit)]);
    check_mentions("echo hi 2>/dev/null >> out/log.txt", &[("out/log.txt", Edit)]);
    check_mentions("wc -l < data.csv", &[("data.csv", Read)]);
    check_mentions("rm -f old.py", &[("old.py", Delete)]);
    check_mentions("mv a.rs b.rs", &[("a.rs", Delete), ("b.rs", Edit)]);
    check_mentions("cp 'my file.txt' b.txt", &[("my file.txt", Read), ("b.txt", Edit)]);
    check_mentions("python3 tools/gen.py --out x.json", &[("tools/gen.py", Mention), ("x.json", Mention)]);
    check_mentions("cd sub && cat a.rs; cat /abs/b.rs", &[("sub/a.rs", Read), ("/abs/b.rs", Read)]);
    check_mentions("git add src/a.rs && git commit -m 'fix b.rs'", &[("src/a.rs", Mention)]);
    check_mentions("FOO=1 sudo ./run.sh", &[]);
    check_mentions("go test ./pkg/x_test.go", &[("./pkg/x_test.go", Mention)]);
    check_mentions("cat a.rs a.rs; sed -i x a.rs", &[("a.rs", Edit)]);
    check_mentions("git mv a.rs b.rs", &[("a.rs", Delete), ("b.rs", Edit)]);
    check_mentions("cd sub && cat >a.rs <<'E'\n'x\nE\nrm b.rs", &[("sub/a.rs", Edit), ("sub/b.rs", Delete)]);
    check_mentions("cat > a.rs <<E\nE\ncat <<-F | tee b.rs\nF", &[("a.rs", Edit), ("b.rs", Edit)]);
}

#[test]
fn which_programs_edit_their_files() {
    use FileAction::{Edit, Mention, Read};
    for (command, path, action) in [
        ("sed -i 's/a/b/' Makefile", "Makefile", Edit),
        ("sed -i.bak -e '/a.b/d' -e '/c.d/d' README.md", "README.md", Edit),
        ("sed -i '' '/a.b/d' README.md", "README.md", Edit),
        ("sed --in-place -Ee 's/a/b.c' README.md", "README.md", Edit),
        ("gsed -Ei 's/a/b/' README.md", "README.md", Edit),
        ("sed -n -e '1,2p' README.md", "README.md", Read),
        ("perl -pi -e 's/a/b.c' README.md", "README.md", Edit),
        ("perl -i -pe 's/a/b.c' Dockerfile", "Dockerfile", Edit),
        ("perl -ne 'print if /a/' README.md", "README.md", Mention),
        ("ruby -i.bak -pe 'sub(/a/, 1)' README.md", "README.md", Edit),
        ("cat <<'EOF' > README.md\nnot/a_file.md\nEOF", "README.md", Edit),
        ("cat >> README.md <<EOF\nnot/a_file.md\nEOF", "README.md", Edit),
        ("cat <<EOF | grep x > a.md\nEOF", "a.md", Edit),
        ("cat <<EOF && npm test\n> a.md\nEOF", "", Mention),
        ("prettier --write README.md", "README.md", Edit),
        ("npx prettier --write README.md", "README.md", Edit),
        ("prettier --check README.md", "README.md", Read),
        ("black --check a.py", "a.py", Read),
        ("black a.py", "a.py", Edit),
        ("gofmt -l a.go", "a.go", Read),
        ("gofmt -w a.go", "a.go", Edit),
        ("git restore a.md", "a.md", Edit),
        ("git restore --staged a.md", "a.md", Mention),
        ("git restore --staged --worktree a.md", "a.md", Edit),
    ] {
        match path {
            "" => check_mentions(command, &[]),
            path => check_mentions(command, &[(path, action)]),
        }
    }
}

#[test]
fn what_only_looks_like_a_file() {
    check_mentions("gh pr view --json author -q .author.login", &[]);
    check_mentions("gh api x --jq .author.login", &[]);
    for command in [
        "git checkout origin/main",
        "git log feature/login.v2",
        "cargo test token::tests::expires",
        "curl https://example.com/a.json -o -",
        "echo see src/main.rs",
        "ls src/*.rs",
        "cat $FILE ${HOME}/x.rs `which x`.sh",
        "grep -rn 'a/b.c' --include=*.rs",
        "npm install left-pad@1.3.0",
        "test -f a.rs",
        "docker run image/name:1.2 a.sh",
        "cat <<EOF\nsrc/in_heredoc.rs > b.rs\nEOF",
        "node -e 'console.log(1.5)'",
        "# cat commented.rs",
        "",
    ] {
        check_mentions(command, &[]);
    }
}

#[test]
fn odd_input_is_survived() {
    for command in ["'", "\"", "\\", "cat 'unterminated.rs", ">", "> >", "cd", "cd &&", "(((", "cat \u{0}.rs"]
    {
        let _ = paths_in_command(command);
    }
    assert!(paths_in_command(&"cat a.rs ".repeat(5_000)).len() == 1);
    let many: String = (0..500).map(|n| format!("cat f{n}.rs;")).collect();
    assert_eq!(paths_in_command(&many).len(), MAX_MENTIONED_PATHS);
}
