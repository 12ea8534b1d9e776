use super::*;

#[test]
fn purposes_that_say_what_is_to_be_done() {
    for (purpose, expected) in [
        ("go on", false),
        ("Continue, please.", false),
        ("finish the rest", false),
        ("pick this up tomorrow", false),
        ("carry on where this session stopped", false),
        ("", false),
        ("finish the parser", true),
        ("fix #12", true),
        ("weiter mit dem Parser", true),
    ] {
        assert_eq!(says_what_to_do(purpose), expected, "{purpose}");
    }
}

#[test]
fn questions_that_are_open() {
    let said = "I fixed it. Should I also fix b.rs? If so, how?\nWaiting.";
    assert_eq!(unanswered_questions(said), ["Should I also fix b.rs?", "If so, how?"]);
}

#[test]
fn purposes_that_are_about_a_request() {
    let request = "Make the cart apply a discount of 10 %";
    for (purpose, expected) in [
        ("finish the discount", true),
        ("go on", true),
        ("round the discount of the cart", true),
        ("use Decimal in the cart", false),
        ("write the release notes", false),
    ] {
        assert_eq!(is_purpose_about_request(purpose, request), expected, "{purpose}");
    }
}

#[test]
fn pasted_output_is_collapsed() {
    let output = "=== Step 1 ===\nBuilt: /tmp/build/one\n=== Step 2 ===\nDone\n[main 1234567] One\n# One\n=== Step 3 ===\n/tmp/build/two";
    let text = format!("It works, but the numbers are off:\n{output}\n\nPlease look at it.");
    let expected = "It works, but the numbers are off:\n[8 lines of output]\nPlease look at it.";
    assert_eq!(without_pasted_output(&text), expected);
    let alone = "=== Step 1 ===\n[8 lines of output]\n/tmp/build/two";
    assert_eq!(without_pasted_output(output), alone, "a number of lines is no goal");
    let failed = output.replace("\nDone\n", "\nerror: no such table `carts`\n");
    let error = "error: no such table `carts`\n[8 lines of output]";
    assert_eq!(without_pasted_output(&failed), error);
    assert_eq!(without_pasted_output(&format!("Why?\n{failed}")), format!("Why?\n{error}"));
    for text in ["One\n- two\n- three\n- four\n- five\n- six", &format!("# Plan\n{output}"), "Fix /a/b.rs"] {
        assert_eq!(without_pasted_output(text), text);
    }
}

#[test]
fn messages_that_effects_fulfil() {
    use EffectKind::{Commit, Issue, PullRequest, Push};
    let cases: [(&str, &[EffectKind], bool); 13] = [
        ("log a linear bug and let's move on", &[Issue], true),
        ("ok, log a linear bug and let's move on", &[Commit], false),
        ("commit and push", &[Commit, Push], true),
        ("commit and push", &[Commit], false),
        ("Yes please, push it.", &[Push], true),
        ("can you open a draft PR?", &[PullRequest], true),
        // These messages also request other work, or they are not plain requests for an effect such as a commit.
        ("commit this, then fix the parser", &[Commit], false),
        ("fix the open issue", &[Issue], false),
        ("why did you push?", &[Push], false),
        ("don't commit", &[Commit], false),
        ("commit once the tests pass", &[Commit], false),
        ("let's move on", &[Commit], false),
        ("", &[Commit], false),
    ];
    for (message, kinds, expected) in cases {
        assert_eq!(is_fulfilled_by_effects(message, kinds), expected, "{message}");
    }
}

#[test]
fn prompts_about_the_packet_that_was_picked_up() {
    let addition = "Yes, go on. And --mean of an empty column must print n/a, not 0.";
    let task = "Write a table of symbols that the printer can use as well.";
    for (prompts, expected) in [
        (&[][..], true),
        (&["go on"], true),
        (&[addition], true),
        (&["Which tests does the packet name?", "ok", addition], true),
        (&["Continue, but leave the README as it is until the tests pass."], true),
        (&[task], false),
        (&["Now write the table of symbols"], false),
        (&["go on", task], false),
    ] {
        let prompts: Vec<Prompt> =
            prompts.iter().map(|text| Prompt { text: (*text).to_owned(), ..Prompt::default() }).collect();
        assert_eq!(are_about_packet(&prompts), expected, "{prompts:?}");
    }
}
