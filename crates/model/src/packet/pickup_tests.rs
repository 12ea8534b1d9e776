use super::*;

#[test]
fn a_sentence_is_told_once() {
    let above = "Goal: …\n\nBegin with: what the agent said it would do: “Now let me round the total of the cart:”.\n";
    let state = "Where it stands:\n";
    let found = "Found, decided, done (newest first):\n";
    let cases = [
        // The line `Begin with` already contains the whole quotation.
        (format!("{state}- At work. Last said: “Now let me round the total of the cart:”\n"), String::new()),
        // Only the announcement is removed. The reason before it is kept.
        (
            format!(
                "{state}- At work. Last said: “The sum has three digits after the comma. Now let me round the total of the cart:”; then edited cart.py\n"
            ),
            format!(
                "{state}- At work. Last said: “The sum has three digits after the comma. …”; then edited cart.py\n"
            ),
        ),
        // A sentence that the state contains is removed from the findings.
        (
            format!(
                "{state}- Last said: “The tax is added before the discount.”\n{found}- “why?” → “The tax is added before the discount. It must come after the discount is taken off.”\n"
            ),
            format!(
                "{state}- Last said: “The tax is added before the discount.”\n{found}- “why?” → “… It must come after the discount is taken off.”\n"
            ),
        ),
        // Short sentences are kept even if they are repeated. A list such as `Also asked` is not changed.
        (
            format!("{state}- Last said: “All tests pass.”\n{found}- “All tests pass.”\n"),
            format!("{state}- Last said: “All tests pass.”\n{found}- “All tests pass.”\n"),
        ),
        (
            "Also asked:\n- “Now let me round the total of the cart:”\n".to_owned(),
            "Also asked:\n- “Now let me round the total of the cart:”\n".to_owned(),
        ),
    ];
    for (context, expected) in cases {
        assert_eq!(without_told_sentences(&context, above), expected);
    }
}

#[test]
fn a_failed_run_is_told_once() {
    let failing = "Failing:\n- `go test ./... 2>&1 | tail -5`: `FAIL a`\n";
    for (state, expected) in [
        (
            "- In progress. Last said: “Done.”; then edited a.go, ran `go test ./... | tail -5` → failed (3×), edited b.go\n",
            "- In progress. Last said: “Done.”; then edited a.go, edited b.go\n",
        ),
        ("- Last said: “Done.”; then ran `go test ./...` → failed\n", "- Last said: “Done.”\n"),
        // A failed run of another command is kept. A run that passed is kept too.
        (
            "- Last said: “Done.”; then ran `go vet ./...` → failed, ran `go test ./...` → passed\n",
            "- Last said: “Done.”; then ran `go vet ./...` → failed, ran `go test ./...` → passed\n",
        ),
    ] {
        assert_eq!(without_failed_steps(&format!("{state}{failing}")), format!("{expected}{failing}"));
        assert_eq!(without_failed_steps(state), state);
    }
    for (note, expected) in [
        ("failed at 09:57; nothing has changed since", "failed (see above); nothing has changed since"),
        (
            "failed at 09:57, before the last edits; run it again",
            "failed (see above), before the last edits; run it again",
        ),
    ] {
        assert_eq!(note_on_told_failure(note), expected);
    }
}

#[test]
fn unfinished_calls_are_listed_unless_the_prompt_mentions_all_of_them() {
    let prompt = "Begin with: the user's newest message, which the agent was working on; it was reading `docs/plan.md`.";
    for (calls, is_told) in [
        ("- `Read docs/plan.md`\n", true),
        ("- `Read docs/plan.md`\n- `make`\n", false),
        ("- `Read docs/plan.md`\n- `make test`\n", false),
    ] {
        let context = format!("{UNFINISHED_CALLS_TITLE}:\n{calls}");
        let expected = if is_told { String::new() } else { context.clone() };
        assert_eq!(without_started_calls(&context, prompt), expected);
    }
}

/// The goal is stated only once, even if the user's own lines begin with `>`.
#[test]
fn the_goal_is_told_once() {
    let prompt = |goal: &str| NextPrompt {
        text: format!("Goal: “{goal}”\n\nBegin with: a.py."),
        sections: SectionsUse::Beside,
    };
    let intent = "\nIntent:\nThe user asked:\n> explain this:\n>\n> > │ 5952698 fixed\n> > ╰ a917ebd when\n";
    for (goal, is_told_once) in [
        ("explain this: > │ 5952698 fixed > ╰ a917ebd when", true),
        ("explain this: > │ 5952698 fixed…", true),
        ("explain something else", false),
    ] {
        assert_eq!(prompt_with_full_goal(&prompt(goal), intent).is_some(), is_told_once, "{goal}");
    }
}
