use super::*;

#[test]
fn markup_announcements_and_praise_go() {
    let cases = [
        (
            "Done! Here's a summary of the changes:\n\n**Reader:**\n- keeps comments\n- `parse()` is gone\n\nAll tests pass.",
            "Reader: keeps comments; `parse()` is gone",
        ),
        (
            "Found it! The path is missing from the saved state. Let me fix that.",
            "The path is missing from the saved state.",
        ),
        ("Now update the title:", ""),
        (
            "## Before\n| a | b |\n|---|---|\n| 1 | 2 |\n```rust\nfn a() {}\n```\nIt reads a.rs first.",
            "Before: 1 — 2. It reads a.rs first.",
        ),
        ("1. Reads the file\n2. Writes it", "1. Reads the file; 2. Writes it"),
        // Headings without content and headings without information are dropped.
        ("## Tests\n```sh\nmake\n```\n## Summary\nThe reader keeps comments.", "The reader keeps comments."),
        (
            "**Fixes**\n| file | what |\n|---|---|\n| a.rs | reads twice |\n| b.rs | leaks |",
            "Fixes: a.rs — reads twice; b.rs — leaks",
        ),
        // The text of a plain block is kept.
        (
            "The order would be:\n```\nfirst the reader alone\nthen the writer with tests\n```",
            "The order would be: first the reader alone; then the writer with tests",
        ),
        ("It looks so:\n```\n│ ╭─ a ╮ │\nfn a() {\n```", "It looks so"),
        (
            "Now I have all the information I need. Based on my analysis, here it is. The cache is `stale`.",
            "The cache is `stale`.",
        ),
        ("Hmm, that is odd. Wait, I should look again. The cache is `stale`.", "The cache is `stale`."),
        // Where a sentence between two others is dropped, `…` is inserted.
        ("The reader is done. I will add tests. I chose cents.", "The reader is done. … I chose cents."),
        ("- reads `a`\n\nGreat!\n- writes `b`", "reads `a` … writes `b`"),
        ("", ""),
    ];
    for (text, expected) in cases {
        assert_eq!(condense_message(text), expected, "{text:?}");
        assert_eq!(condense_message(&condense_message(text)), expected, "{text:?}");
    }
}

#[test]
fn closing_words_keep_the_next_step() {
    let cases = [
        (
            "Great! THIRD is not in yet. I will add it next. I chose integer cents. Do you want me to rename TEN?",
            "THIRD is not in yet. I will add it next. I chose integer cents. Do you want me to rename TEN?",
        ),
        (
            "It divides by 3. I need to fix this. All tests pass. HALF stays.",
            "It divides by 3. I need to fix this. … HALF stays.",
        ),
        ("HALF is in. Here's what is left:\n- I'll add THIRD", "HALF is in. … I'll add THIRD"),
        ("HALF is in. Let me know if it fits.", "HALF is in."),
        // Words that only introduce code are dropped with it.
        (
            "The reader is `read()`.\n\nYou could use:\n\n```rust\nlet a = read();\n```\nIt keeps comments.",
            "The reader is `read()`. It keeps comments.",
        ),
        (
            "Both tests are in `a.rs`.\n\nRun the tests with:\n```bash\ncargo test -- --exact x::y\n```",
            "Both tests are in `a.rs`.",
        ),
        (
            "The cache is never cleared.\n\nThe state file for `914e68cc` shows:\n```json\n{\"count\": 0}\n```",
            "The cache is never cleared.",
        ),
        (
            "The fix is in `a.rs`.\n\nUse `starts_with` instead of `==`:\n```rust\na == b\n```\nThat is all.",
            "The fix is in `a.rs`. Use `starts_with` instead of `==`. That is all.",
        ),
        ("This is very revealing. The old branch was never deleted.", "The old branch was never deleted."),
        (
            "There are many uses of `[:7]`, but they fall into different categories. Two are wrong.",
            "Two are wrong.",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(condense_closing_message(text), expected, "{text:?}");
    }
}

#[test]
fn what_a_message_asks_announces_and_takes_back() {
    let asking = [
        ("Three steps.\n\nWant me to update the plan with it?", "Want me to update the plan with it?"),
        ("1. **Squash** them\n2. Keep them\n\nWhich do you prefer? Both work.", "Which do you prefer?"),
        ("All of it is done.", ""),
    ];
    for (text, expected) in asking {
        assert_eq!(question_at_end(text), expected, "{text:?}");
    }
    let announcing = [
        ("Need to add the import.", true),
        ("The walk stops too early. Let me fix that.", true),
        ("Now the tests:", true),
        ("Both are fixed and pushed.", false),
        ("It fails. I'll stop here as you asked; the fix is one character in by_month.", false),
        ("I’ll wait for your answer.", false),
        ("I'll stop the server and run it again.", true),
        ("I'll wait for the build.", true),
        ("Want me to push it?", false),
        ("", false),
    ];
    for (text, expected) in announcing {
        assert_eq!(announces_next_step(text), expected, "{text:?}");
    }
    for (text, expected) in [
        ("No, resume uses another path.", true),
        ("I was wrong about the cache.", true),
        ("Nothing else uses it.", false),
        ("Now it works.", false),
    ] {
        assert_eq!(retracts_statement(text), expected, "{text:?}");
    }
}

#[test]
fn findings_name_something_or_say_why() {
    let cases = [
        ("I see the structure now.", false),
        ("Let me run the tests and the linter to verify the changes in `a.rs`.", false),
        ("The transcript file is named `full.jsonl`, not `transcript.jsonl`. Let me fix the test.", true),
        ("The branch was merged into main before, because of which the walk stops too early.", true),
    ];
    for (text, expected) in cases {
        assert_eq!(!finding_between_calls(text).is_empty(), expected, "{text:?}");
    }
}

#[test]
fn cut_between_sentences() {
    assert_eq!(first_sentences("One two. Three four.", 40), "One two. Three four.");
    assert_eq!(first_sentences("One two. Three four.", 12), "One two. …");
    assert_eq!(first_sentences("a; b; c and more of it", 6), "a; b …");
    assert_eq!(first_sentences("onelongword without an end", 11), "onelongword…");
    assert_eq!(first_sentences("éé éé éé", 4), "éé…");
    assert_eq!(first_sentences("It fails because: 1. The path is relative to it", 20), "It fails because…");
    assert_eq!(first_sentences("Two: 1. one thing; 2. another thing here", 24), "Two: 1. one thing …");
    assert_eq!(last_sentences("One two. Three four.", 40), "One two. Three four.");
    assert_eq!(last_sentences("One two. Three four. Let me see.", 16), "… Let me see.");
    assert_eq!(last_sentences("First: 1. one; 2. two of them; 3. three", 32), "… 2. two of them; 3. three");
    assert_eq!(last_sentences("all of it is one long sentence", 12), "… sentence");
}

#[test]
fn an_announcement_is_the_last_sentence_if_it_is_clear() {
    for (text, expected) in [
        (
            "Both are parsed. They differ in names. Let me check the constants of the two readers:",
            "Let me check the constants of the two readers:",
        ),
        ("The reader drops comments. Let me fix it:", "The reader drops comments. Let me fix it:"),
        ("", ""),
    ] {
        assert_eq!(sentence_announcing_next_step(text, 200), expected, "{text:?}");
    }
}

#[test]
fn an_announcement_keeps_its_reason() {
    let text = "I looked at both readers and at the lexer.\n\nThe tests fail because they expect names without a suffix. Let me \
                update the tests to handle the new names.";
    let step = "Let me update the tests to handle the new names.";
    assert_eq!(reason_and_announcement(text, 60), step);
    assert_eq!(
        reason_and_announcement(text, 130),
        format!("The tests fail because they expect names without a suffix. {step}")
    );
    assert_eq!(reason_and_announcement(text, 400), text);
    // A long announcement is cut at its end, because its first words say what the agent does.
    let promise =
        "I'll now rewrite the reader so that it keeps the comments of nested arrays and of objects in them";
    let cut = "I'll now rewrite the reader so that it keeps the comments of…";
    assert_eq!(sentence_announcing_next_step(promise, 60), cut);
    assert_eq!(reason_and_announcement(promise, 60), cut);
}

#[test]
fn a_question_about_the_work_asks_for_no_permission() {
    for (question, expected) in [
        ("Shall I commit it?", true),
        ("Want me to add a test as well?", true),
        ("Do you want me to go on? Should I push it?", true),
        ("Should I use cents or floats?", false),
        ("May it return tuples?", false),
        ("Which rounding do you want?", false),
        ("Shall I commit it? And may it return tuples?", false),
        ("Want me to write the tests, or is this good for now?", true),
        ("Want me to draft the plan, or is there anything else to discuss?", true),
    ] {
        assert_eq!(asks_permission(question), expected, "{question}");
    }
}

#[test]
fn a_question_whether_the_agent_has_understood_asks_for_confirmation() {
    for (question, expected) in [
        ("Does this look complete now?", true),
        ("Does this scope look complete? Any files I'm missing?", true),
        ("Does that match what you're thinking?", true),
        ("Does the parser keep comments?", false),
        ("Does this go into the reader or into the writer?", false),
        ("Which do you prefer?", false),
        ("", false),
    ] {
        assert_eq!(asks_confirmation(question), expected, "{question}");
    }
}

#[test]
fn a_bold_sentence_after_a_colon_is_what_the_colon_introduced() {
    for (text, expected) in [
        (
            "The actual issue was:\n\n**A developer on `main` is skipped silently**\n\nThe hook returns too early.",
            "The actual issue was: A developer on `main` is skipped silently. The hook returns too early.",
        ),
        (
            "Let me evaluate each issue:\n\n1. **Lock race** — Valid. `O_EXCL` is the fix.\n\n2. **No timeout** — \
             Valid. It blocks the lock.",
            "1. Lock race — Valid. `O_EXCL` is the fix. 2. No timeout — Valid. It blocks the lock.",
        ),
        (
            "Let me evaluate each issue: 1. Lock race — Valid. 2. No timeout — Valid.",
            "1. Lock race — Valid. 2. No timeout — Valid.",
        ),
        (
            "There is a gap:\n\n**Files that `Bash` changes are not seen if:**\n- They are tracked\n- They are old",
            "There is a gap: Files that `Bash` changes are not seen if: They are tracked; They are old",
        ),
        ("Two points:\n**Reader**\nIt keeps comments now.", "Two points: Reader: It keeps comments now."),
    ] {
        assert_eq!(condense_message(text), expected, "{text}");
        assert_eq!(condense_message(expected), expected);
    }
}
