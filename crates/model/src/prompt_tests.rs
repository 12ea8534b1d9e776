use super::*;

#[test]
fn typed_prompts_are_told_from_commands() {
    let cases = [
        ("make it fast", true),
        ("/exit", false),
        ("/model opus", false),
        ("/compact keep the plan", false),
        ("/review-pr 12", true),
        ("/plugin:handoff x", false),
        ("/pickup", false),
        ("/pickup discount", false),
        ("/pickup cart discount", false),
        ("/pickup discount, but skip the README", true),
        ("/thru:pickup and finish the cart", true),
        ("/usr/bin/env fails", true),
        (r#"{"task_id":"b1","status":"completed"}"#, false),
        (r#"[{"type":"notice"}]"#, false),
        ("{ not an object, a person's braces }", true),
        ("Read the output file to retrieve the result: /tmp/x", false),
        ("[Request interrupted by user]", false),
        ("<task-notification>done</task-notification>", false),
        ("  ", false),
    ];
    for (text, expected) in cases {
        assert_eq!(is_typed_work_prompt(text), expected, "{text:?}");
    }
}

#[test]
fn prompts_are_classified() {
    let cases = [
        ("yes", PromptKind::Approval),
        ("Yes, let's go with A", PromptKind::Approval),
        ("do the rest", PromptKind::Approval),
        ("go ahead", PromptKind::Approval),
        ("Lets do the implementation too", PromptKind::Approval),
        ("B", PromptKind::Approval),
        ("option 2", PromptKind::Approval),
        ("1 and 3", PromptKind::Approval),
        ("push it", PromptKind::Remark),
        ("one space more", PromptKind::Remark),
        ("why is the worktree not available there?", PromptKind::Question),
        ("is that fast?", PromptKind::Question),
        ("why is the number so high: [+51894 (175 files)]", PromptKind::Question),
        ("hmm but couldn't we not simply diff against the base commit?", PromptKind::Question),
        ("can you fix the failing test in the parser?", PromptKind::Task),
        ("Implement the following plan: change the reader so that it keeps comments", PromptKind::Task),
        (
            "yes but first rename the folder to cache, then move the reader and all of its tests there",
            PromptKind::Task,
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(classify_prompt(text), expected, "{text:?}");
    }
}

#[test]
fn agreement_may_come_with_a_remark() {
    // The text, whether it begins with agreement, and whether it says something else as well.
    for (text, is_agreement, adds) in [
        ("Yes, do it that way, but keep _WHOLE as a separate name because export will need it.", true, true),
        ("Yes, regex is fine, because it also documents the format. But I have to go now.", true, true),
        ("ok, but use tabs", true, true),
        ("sure, go with 2", true, false),
        ("yes", true, false),
        ("Go ahead, but leave the tests alone", true, true),
        ("continue", false, false),
        ("go on", false, false),
        ("do the rest", false, false),
        ("pick up where the last session stopped", false, false),
        ("Start with the three decimal places.", false, true),
        ("ok, now write the documentation of the importer", false, true),
        ("okay, we really need to change the names of the columns in the report", false, true),
        ("yeah let's abandon this branch, make a new one and add the second fix there", false, true),
        ("Yes, thanks. Next: sort the rows of the table", false, true),
        ("yes but why is the folder named like that?", false, true),
        ("all tests fail on Windows since yesterday, please fix them", false, true),
        ("right now the reader drops comments in arrays", false, true),
    ] {
        assert_eq!((begins_with_agreement(text), adds_to_agreement(text)), (is_agreement, adds), "{text}");
    }
    for (text, expected) in [
        ("continue", true),
        ("ok, please go on with the parser and its tests", true),
        ("do the rest", true),
        ("pick up where the last session stopped", true),
        ("Start with the three decimal places.", false),
        ("ok, but use tabs", false),
    ] {
        assert_eq!(continues_earlier_work(text), expected, "{text}");
    }
    assert!(!begins_with_agreement(&format!("Yes. {}", "This is the plan. ".repeat(50))));
}

#[test]
fn instructions_are_found_in_prompts() {
    let wish = |text| instruction_sentences(text).join("|");
    // A sentence may contain a prohibition.
    assert_eq!(wish("Make HALF halve the amount; never change tests/."), "never change tests/.");
    assert_eq!(wish("Make HALF halve the amount, but don’t touch the tests."), "don’t touch the tests.");
    assert_eq!(
        wish("Refactor the cart but do not rename HALF, and never push to main."),
        "do not rename HALF|never push to main."
    );
    assert_eq!(wish("Größe halbieren – never change tests/"), "never change tests/");
    assert_eq!(wish("Round the totals; add THIRD; list the users that never log in"), "");
    assert_eq!(wish("Why is it halved; never mind the tests?"), "");
    assert_eq!(wish("Fix it. Don't touch the lock file! Is it green?"), "Don't touch the lock file!");
    assert_eq!(
        wish("oh, please don't amend commits - it breaks hooks"),
        "oh, please don't amend commits - it breaks hooks"
    );
    assert_eq!(wish("I don't know what that is."), "");
    assert_eq!(
        wish("The reader does not filter binary files without a check."),
        "",
        "a report speaks of code"
    );
    for (words, expected) in [
        ("actually maybe let's test this first", true),
        ("not yet, commit all at once", true),
        ("hang on a sec, I'll get you a log", false),
        ("is this not the same as before?", false),
    ] {
        assert_eq!(is_refusal_with_reason(words), expected, "{words}");
    }
    assert!(
        is_lasting_instruction("please don't amend commits")
            && is_lasting_instruction("always run make check")
    );
    assert!(!is_lasting_instruction("don't fix anything, but just validate"));
    // Requirements on the result and prohibitions about files are lasting instructions.
    let coupon = "Implement class Coupon in shop/coupon.py. Percentages must be integers from 1 to 90. Do not change cart.py.";
    assert_eq!(wish(coupon), "Percentages must be integers from 1 to 90.|Do not change cart.py.");
    assert!(instruction_sentences(coupon).into_iter().all(is_lasting_instruction));
    assert!(!is_lasting_instruction("do not stop yet"));
    assert_eq!(wish("Low Severity\nWe must not call it twice."), "");
    assert_eq!(
        wish("Also don't give it a number and it needs no date"),
        "Also don't give it a number and it needs no date"
    );
    assert_eq!(wish("can you do it without a loop?"), "");
    assert_eq!(wish(&format!("Never do that. {}", "log line\n".repeat(100))), "");
}

#[test]
fn messages_that_ask_for_nothing() {
    for (text, expected) in [
        ("the strategy is a trailer on the checkpoint commit", true),
        ("there's already a helper for that in explain.go", true),
        ("the reader should keep comments", false),
        ("it still fails with the same error", false),
        ("rename the reader to lexer", false),
    ] {
        assert_eq!(is_statement_of_fact(text), expected, "{text}");
    }
    for (text, expected) in [
        ("/github-pr-review", true),
        ("let's discuss", true),
        ("wait, let's discuss first", true),
        ("/review this branch", false),
        ("let's discuss how the reader keeps comments in arrays", false),
        ("push it", false),
    ] {
        assert_eq!(is_uninformative_once_answered(text), expected, "{text}");
    }
}

#[test]
fn messages_that_need_what_came_before() {
    for (text, expected) in [
        ("and the tests?", true),
        ("how about the writer?", true),
        ("can we check if this is wrong elsewhere?", true),
        ("let's consolidate the types with these if possible", true),
        ("The gate has not passed. Please look again.", true),
        ("try again, please", true),
        ("again", true),
        ("run the slow tests against the new server again", false),
        ("rename the reader to parser", false),
        ("this line is drawn twice, please draw one line only", false),
        ("/review", false),
        // The word "it" makes a message unclear only if the message is short. Both of these messages are long,
        // but the first one depends on an earlier message, because it begins with "hmm but".
        (
            "hmm but could we not simply compare it with the commit from which the topic branch was once made?",
            true,
        ),
        (
            "could we not simply compare it with the commit from which the topic branch was once made today?",
            false,
        ),
    ] {
        assert_eq!(is_unclear_without_message_before(text), expected, "{text}");
    }
}

#[test]
fn messages_that_open_work() {
    for (text, expected) in [
        ("make the reader keep comments in nested arrays", true),
        ("can you explain how the reader works with nested arrays", false),
        ("can we group the changes into a few commits please", false),
        ("have a look at docs/plan.md", false),
        ("yes, and then rename the reader and all of its tests", false),
        ("/review the changes of this branch, all of them", false),
    ] {
        assert_eq!(may_state_session_goal(text), expected, "{text}");
    }
    assert!(
        only_asks_to_look("have a look at docs/plan.md")
            && !only_asks_to_look("look at the log and fix what fails there today")
    );
    assert_eq!(classify_prompt("let's do a review"), PromptKind::Remark);
    assert_eq!(classify_prompt("let's do it"), PromptKind::Approval);
}

#[test]
fn messages_that_only_continue_earlier_work() {
    for (text, expected) in [
        ("go on", true),
        ("Continue, please.", true),
        ("pick up where the last session stopped", true),
        ("Please pick up where we left off yesterday", true),
        ("continue where we left off", true),
        ("carry on from last time", true),
        ("Let’s continue where the previous session ended.", true),
        ("resume", true),
        ("can you resume the work from before the crash?", true),
        ("pick it up where you stopped", true),
        ("continue with the parser", false),
        ("pick up the packet about the discount", false),
        ("go on with the umlauts", false),
        ("carry on until all tests pass", false),
        ("resume the download after a lost connection", false),
        ("can you explain where we left off?", false),
        ("", false),
    ] {
        assert_eq!(only_says_continue(text), expected, "{text}");
        assert!(!expected || classify_prompt(text) == PromptKind::Approval, "{text}");
    }
}

#[test]
fn an_order_lifts_a_prohibition() {
    for (wish, later, expected) in [
        ("don't commit yet", "commit this", true),
        ("we don't need to push", "then push and open a pull request", true),
        ("please don't amend commits", "commit this", false),
        ("don't commit yet", "it makes no sense to commit that", false),
        ("always run make check", "push it", false),
    ] {
        assert_eq!(is_instruction_revoked_by(wish, later), expected, "{wish} / {later}");
    }
}

#[test]
fn words_that_are_typed_with_a_paste() {
    let paste = "a\nb\nc\nd\ne\nf\ng";
    assert_eq!(
        words_above_paste(&format!("this is what it prints:\n{paste}")),
        Some("this is what it prints:")
    );
    assert_eq!(words_above_paste(&format!("Built: x\n{paste}")), None);
    assert_eq!(words_above_paste("fix it"), Some("fix it"));
    // Output may contain lines that look like headings.
    let output = "Building from: /home/me/work/cli\nBuilt: /tmp/x/cli\n=== Step 1 ===\n# a comment\n=== Step 2 ===\n/tmp/x/a.py\n[main] First";
    assert_eq!(words_above_paste(output), None);
    let request = "Change these files:\n- a\n- b\n- c\n- d\n- e\n- f";
    assert_eq!(words_above_paste(request), Some(request));
    assert_eq!(
        title_of_message("Implement the plan:\n\n# Keep comments\n## Why"),
        "Implement the plan: Keep comments"
    );
    let request = "Make slug() strip punctuation and handle umlauts. Do not add any npm dependency.";
    let shortened = |most| shorten_request(request, most);
    assert_eq!(shortened(80), request);
    assert_eq!(shortened(60), request);
    assert_eq!(shortened(24), "Make slug() strip punct… Do not add any npm dependency.");
    assert_eq!(shorten_request("Fix it, then go on with the umlauts", 12), "Fix it, the…");
    let joined = "Make slug() handle umlauts. Please write tests first, and don't add dependencies.";
    assert_eq!(shorten_request(joined, 30), "Make slug() handle umlauts. P… don't add dependencies.");
    assert_eq!(
        lasting_parts("Please write tests first, and don't add dependencies."),
        ["don't add dependencies."]
    );
    assert_eq!(lasting_parts("Never push to main; use a branch."), ["Never push to main; use a branch."]);
    assert!(lasting_parts("Please keep the first one.").is_empty());
    assert_eq!(title_of_message("You are a developer.\nMake it so.\nNow."), "Make it so. …");
    let tester = "You are the tester. Add cases for repeated units.";
    assert_eq!(title_of_message(tester), "Add cases for repeated units.");
    assert_eq!(title_of_message("You are the reviewer."), "You are the reviewer.");
    assert_eq!(title_of_message("You are late"), "You are late");
}

#[test]
fn only_a_long_request_is_replaced_by_its_title() {
    let plan = "Implement the plan:\n# Keep comments\n- one\n- two\n- three\n- four";
    assert_eq!(title_if_long(plan), "Implement the plan: Keep comments");
    assert_eq!(title_if_long("Keep comments\nin arrays"), "Keep comments\nin arrays");
}

#[test]
fn rows_of_a_screen_are_not_part_of_the_request() {
    let question = "why is it showing such a high number";
    for (text, expected) in [
        // The prompt on the screen is old, so it is not a new request.
        (
            format!(
                "{question}:  main *  [4 checkpoints]\n   v * revert the work so far\n>     - [ NEW ] Revert [+51894]"
            ),
            format!("{question} …"),
        ),
        (format!("{question}:\n│  a\n╰  b"), format!("{question} …")),
        (format!("{question}:\n$ ls\na.py"), format!("{question}:\n$ ls\na.py")),
        (
            format!("{question}:\n  - the first\n  - the second"),
            format!("{question}:\n  - the first\n  - the second"),
        ),
        (format!("{question}:\n> a\n> b\nand fix it"), format!("{question}:\n> a\n> b\nand fix it")),
        (format!("{question}?"), format!("{question}?")),
    ] {
        assert_eq!(words_before_paste(&text), expected, "{text}");
    }
}
