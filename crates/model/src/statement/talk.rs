//! Phrase tables that distinguish mere talk from informative sentences. Phrases are compared in lower case.

/// Returns whether the agent retracts an earlier statement, as in "No, …" or "I was wrong".
pub fn retracts_statement(text: &str) -> bool {
    const RETRACTING_STARTS: &[&str] = &[
        "no, ",
        "no - ",
        "no — ",
        "no! ",
        "actually, no",
        "i was wrong",
        "i misread",
        "i misunderstood",
        "i misdiagnosed",
        "i made a mistake",
        "my mistake",
        "correction",
        "not quite",
        "hmm, ",
        "wait, ",
        "wait - ",
        "i need to correct",
        "i incorrectly ",
        "that clarifies ",
    ];
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let small: String = text.chars().take(60).collect::<String>().to_lowercase().replace('’', "'");
    RETRACTING_STARTS.iter().any(|start| small.starts_with(start))
}

/// Returns whether a sentence only announces the next step, thinks aloud or expresses satisfaction.
pub(super) fn is_uninformative_talk(sentence: &str) -> bool {
    const PREAMBLE_STARTS: &[&str] = &[
        "now i have ",
        "i now have ",
        "i have a ",
        "i have all ",
        "i have enough ",
        "based on my ",
        "here are the ",
        "here's the ",
        "here is the ",
        "this is a great ",
        "i've done a ",
        "i've completed ",
        "i have completed ",
        "i have successfully ",
        "i've successfully ",
        "<thinking",
        "</thinking",
    ];
    const THINKING_STARTS: &[&str] = &[
        "hmm",
        "wait,",
        "wait ",
        "wait -",
        "wait.",
        "i need to ",
        "i also need to ",
        "now i also need to ",
        "need to ",
        "i should ",
        "i wonder ",
        "i think i should ",
        "let's see",
        "looking at ",
        "so i need to ",
        "oh wait",
        "good, ",
        "good - ",
        "good — ",
        "ok, ",
    ];
    const PRAISE_PHRASES: &[&str] = &[
        "perfect",
        "great",
        "excellent",
        "done",
        "good",
        "good catch",
        "good question",
        "great question",
        "good point",
        "good feedback",
        "great catch",
        "good idea",
        "great idea",
        "you're right",
        "you're absolutely right",
        "no response requested",
        "got it",
        "understood",
        "absolutely",
        "sure",
        "interesting",
        "all tests pass",
        "all tests pass now",
        "tests pass",
        "the tests pass",
        "the test passes",
        "test passes",
        "linter passes",
        "lint passes",
        "lint is clean",
        "build passes",
        "build succeeded",
        "the build succeeded",
        "all integration tests pass",
        "all unit tests pass",
        "all tests pass and lint is clean",
        "all tests pass and linting is clean",
        "now i have a complete understanding",
        "found it",
        "i found it",
        "i see",
        "makes sense",
        "that makes sense",
        "you're right to ask",
        "fair point",
        "that clarifies everything",
        "that clarifies it",
        "good news",
        "this is very revealing",
        "both pass",
        "all clean",
    ];
    /// Beginnings of sentences that only comment on what follows.
    const JUDGING_STARTS: &[&str] = &[
        "this is very ",
        "this is really ",
        "this is interesting",
        "this is helpful",
        "this is useful",
        "the tests are progressing",
    ];
    /// Ends of sentences that only say that a list follows.
    const LISTING_ENDS: &[&str] = &[
        "fall into different categories.",
        "fall into several categories.",
        "fall into different groups.",
        "there are several options.",
        "a few things.",
        "several things.",
    ];
    let small = sentence.to_lowercase().replace('’', "'");
    let bare = small.trim_matches(|c: char| !c.is_alphanumeric());
    // A sentence that ends with a colon introduces a list, which is informative.
    let preamble = || PREAMBLE_STARTS.iter().any(|start| small.starts_with(start));
    let aloud = || THINKING_STARTS.iter().any(|start| small.starts_with(start)) && !small.ends_with(':');
    let looks = || {
        ["let me check", "let me verify", "let me see", "let me look", "which i'll need", "which i need"]
            .iter()
            .any(|words| small.contains(words))
    };
    // A judgement that mentions something in backticks is informative.
    let judges = || JUDGING_STARTS.iter().any(|start| small.starts_with(start)) && !sentence.contains('`');
    let lists = || LISTING_ENDS.iter().any(|end| small.ends_with(end));
    PRAISE_PHRASES.contains(&bare)
        || is_announcement(&small)
        || preamble()
        || aloud()
        || looks()
        || judges()
        || lists()
}

/// Returns whether a sentence announces a step that the agent has yet to take. Offers and introductions do not count.
pub(super) fn announces_step(sentence: &str) -> bool {
    const NEED_STARTS: &[&str] =
        &["i need to ", "i also need to ", "now i also need to ", "need to ", "i should ", "so i need to "];
    const OTHER_STARTS: &[&str] = &[
        "here's ",
        "here is ",
        "want me to ",
        "would you like me to ",
        "shall i ",
        "let me know ",
        "let me provide a summary",
        "let me summari",
        "let's see",
    ];
    let small = sentence.to_lowercase().replace('’', "'");
    let starts = |table: &[&str]| table.iter().any(|start| small.starts_with(start));
    (is_announcement(&small) || starts(NEED_STARTS)) && !starts(OTHER_STARTS)
}

/// Returns whether a lower-case sentence announces the next step.
pub(super) fn is_announcement(small: &str) -> bool {
    const ANNOUNCING_STARTS: &[&str] = &[
        "let me ",
        "now let me ",
        "let's ",
        "now let's ",
        "i'll ",
        "now i'll ",
        "first, let me ",
        "first, i'll ",
        "first let me ",
        "let's start ",
        "next, i'll ",
        "next, let me ",
        "now i need to ",
        "now i can ",
        "now for ",
        "now to ",
        "i will ",
        "i'm going to ",
        "time to ",
        "continuing ",
        "here's a summary",
        "here is a summary",
        "here's what",
        "here is what",
        "here's the summary",
        "want me to ",
        "would you like me to ",
        "shall i ",
        "let me know ",
    ];
    /// Words that make a sentence with "now" an announcement.
    const WORDS_AFTER_NOW: &[&str] = &[
        "add",
        "apply",
        "build",
        "change",
        "check",
        "commit",
        "create",
        "edit",
        "extract",
        "find",
        "fix",
        "implement",
        "look",
        "make",
        "move",
        "push",
        "read",
        "refactor",
        "remove",
        "rename",
        "replace",
        "rewrite",
        "run",
        "test",
        "update",
        "verify",
        "wire",
        "write",
    ];
    let next = small.strip_prefix("now ").and_then(|rest| rest.split_whitespace().next());
    ANNOUNCING_STARTS.iter().any(|start| small.starts_with(start))
        || next.is_some_and(|word| WORDS_AFTER_NOW.contains(&word))
}

/// Returns whether a message contains a name or a reason.
pub(super) fn is_informative(said: &str) -> bool {
    const REASON_WORDS: &[&str] = &[
        "because",
        "issue",
        "problem",
        "cause",
        "bug",
        "missing",
        "wrong",
        "instead",
        "already",
        "cannot",
        "can't",
        "doesn't",
        "isn't",
        "not ",
        "must",
        "should",
        "found",
        "turns out",
        "fails",
        "failing",
        "pre-existing",
        "stale",
        "decid",
        "chose",
        "works",
        "fixed",
    ];
    let small = said.to_lowercase();
    said.contains('`') || said.contains('/') || REASON_WORDS.iter().any(|word| small.contains(word))
}

/// Returns whether a heading names only a part of the message, such as "Summary", rather than a topic.
pub(super) fn is_bare_heading(heading: &str) -> bool {
    const BARE_HEADINGS: &[&str] = &[
        "summary",
        "overview",
        "changes",
        "changes made",
        "what i did",
        "what i changed",
        "what i implemented",
        "what changed",
        "result",
        "results",
        "details",
        "the answer",
        "answer",
        "analysis",
        "conclusion",
        "background",
        "findings",
        "key findings",
        "notes",
        "explanation",
    ];
    let small = heading.to_lowercase();
    BARE_HEADINGS.contains(&small.trim_matches(|c: char| !c.is_alphanumeric()))
}
