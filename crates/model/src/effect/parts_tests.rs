use super::*;

/// Describes each command of a command line. The words of the command come first. They are followed by `@folder`,
/// `~` if the command is in a loop, `!` if the command must have succeeded whenever the whole line succeeds, `>`
/// if the output is hidden, and `|` before the command's filters.
fn describe_parts(command: &str) -> Vec<String> {
    let tell = |part: UnwrappedCommand| {
        let mut told = part.words.join(" ");
        if !part.folder.is_empty() {
            told += &format!(" @{}", part.folder);
        }
        for (is, mark) in
            [(part.may_run_repeatedly, " ~"), (part.is_success_implied, " !"), (part.is_output_hidden, " >")]
        {
            told += if is { mark } else { "" };
        }
        if !part.piped_into.is_empty() {
            told += &format!(" |{}", part.piped_into.join(","));
        }
        told
    };
    commands_run_by_line(command).into_iter().map(tell).collect()
}

#[test]
fn lines_are_taken_apart() {
    for (command, expected) in [
        ("git push", &["git push !"][..]),
        (
            "git add . && git commit -m 'a; b' && git push",
            &["git add . !", "git commit -m a; b !", "git push !"],
        ),
        ("git commit -q; echo done", &["git commit -q", "echo done !"]),
        ("git push || true", &["git push", "true"]),
        ("git push 2>&1 | tail -3", &["git push |tail", "tail -3"]),
        ("cd sub && git push", &["git push @sub !"]),
        ("cd a && cd b && git push > /dev/null 2>&1", &["git push @a/b ! >"]),
        ("(cd a && git push)", &["git push @a !"]),
        ("A=1 sudo -u x /usr/bin/git push", &["git push !"]),
        ("timeout 60 env B=2 git push", &["git push !"]),
        ("for i in 1 2; do gh api x/$i -f a=b; done", &["gh api x/$i -f a=b ~"]),
        (
            "for i in 1 2\ndo\n  gh pr comment $i -b x\ndone\ngit push",
            &["gh pr comment $i -b x ~", "git push !"],
        ),
        (
            "reply() { gh api x -f body=\"$1\"; }\nreply a\nreply b",
            &["gh api x -f body=$1 ~", "reply a", "reply b !"],
        ),
        ("URL=$(gh pr create -t x) && echo $URL", &["gh pr create -t x |$()", "echo $URL !"]),
        ("echo \"$(git push 2>&1)\"", &["git push |$()", "echo $(git push 2>&1) !"]),
        ("bash -lc 'git push && ls'", &["git push !", "ls !"]),
        ("ssh -p 22 host 'git push'", &["git push !"]),
        ("cat ids | xargs -I{} gh api x/{} -X DELETE", &["cat ids |gh", "gh api x/{} -X DELETE ~"]),
        ("cat > f <<'EOF'\ngit push\nEOF\ngit commit -m x", &["cat >", "git commit -m x !"]),
        ("echo git push", &["echo git push !"]),
        ("# git push\nls", &["ls !"]),
        ("if git diff --quiet; then git push; fi", &["git diff --quiet", "git push"]),
        ("npx prisma migrate deploy", &["prisma migrate deploy !"]),
        ("git push &", &["git push"]),
        (
            "git commit -m \"$(cat <<'EOF'\nAdd (x)\n\nIt's a ) test\nEOF\n)\" && git push",
            &["cat |$()", "git commit -m $(cat <<'EOF'\nAdd (x)\n\nIt's a ) test\nEOF\n) !", "git push !"],
        ),
        ("", &[]),
        ("$( ( \" ' <<", &[" ' << |$()", "$( ( \" ' <<) !"]),
    ] {
        assert_eq!(describe_parts(command), expected, "{command}");
    }
}

#[test]
fn nothing_is_too_deep_or_too_long() {
    describe_parts(&"$(".repeat(10_000));
    describe_parts(&"(".repeat(10_000));
    assert!(commands_run_by_line(&"git push; ".repeat(10_000)).len() < 20_000);
    describe_parts(&"bash -c '".repeat(1_000));
}
