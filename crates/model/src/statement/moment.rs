//! Recognises statements that hold only until the next change, such as "It does not compile at the moment".

use std::borrow::Cow;

use super::about::{names_cause, split_pieces};

/// Lower-case phrases that limit a statement to the moment at which it was made.
const PHRASES_OF_THE_MOMENT: [&str; 6] =
    ["at the moment", "for the moment", "right now", "at present", "as of now", "as it stands"];

/// Lower-case phrases that say that the code is broken now. The next edit may repair it.
const PHRASES_OF_BROKEN_CODE: [&str; 22] = [
    "does not compile",
    "do not compile",
    "doesn't compile",
    "don't compile",
    "won't compile",
    "cannot compile",
    "can't compile",
    "not compiling",
    "fails to compile",
    "fail to compile",
    "does not build",
    "doesn't build",
    "won't build",
    "fails to build",
    "build fails",
    "build is broken",
    "build is red",
    "tests are red",
    "suite is red",
    "currently fail",
    "currently broken",
    "currently red",
];

/// Returns whether a sentence is true only until the next change. "It does not compile on Windows" names a condition, so
/// it may stay true for longer. A sentence that names a cause does not count either, because it explains the change.
fn holds_only_for_now(sentence: &str) -> bool {
    /// Words that name a condition under which the code is broken, or the time before the change.
    const CONDITIONS: [&str; 8] =
        [" if ", " on ", " unless ", " when ", " with ", " without ", " under ", " until "];
    let small = sentence.to_lowercase().replace('’', "'");
    let has = |phrases: &[&str]| phrases.iter().any(|phrase| small.contains(phrase));
    let is_of_moment = has(&PHRASES_OF_THE_MOMENT) && !small.contains("at the moment of ");
    is_of_moment || has(&PHRASES_OF_BROKEN_CODE) && !has(&CONDITIONS) && !names_cause(sentence)
}

/// Returns the text without the sentences that are true only until the next change. The result is empty if no sentence
/// is left. An ellipsis marks each gap between kept sentences.
pub fn without_states_of_the_moment(text: &str) -> Cow<'_, str> {
    let pieces = split_pieces(text);
    if !pieces.iter().any(|piece| holds_only_for_now(piece)) {
        return Cow::Borrowed(text);
    }
    let runs = pieces.split(|piece| holds_only_for_now(piece)).filter(|run| !run.is_empty());
    Cow::Owned(runs.map(|run| run.join(" ")).collect::<Vec<_>>().join(" … "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_of_the_moment_is_left_out() {
        for (text, left) in [
            ("tests/cli.rs does not compile at the moment: run() must take bytes.", ""),
            ("The reader is in. It doesn’t build yet.", "The reader is in."),
            ("The suite is red right now. `skip()` eats comments.", "`skip()` eats comments."),
            ("HALF is in. The build fails. TEN is in.", "HALF is in. … TEN is in."),
            ("`tsc` currently fails. Next: the types.", "Next: the types."),
            // These hold after the next change, too.
            ("It does not compile on Windows.", "It does not compile on Windows."),
            ("It does not compile without `std`.", "It does not compile without `std`."),
            ("It won't build because `foo` is private.", "It won't build because `foo` is private."),
            (
                "At the moment of the commit, the lock is held.",
                "At the moment of the commit, the lock is held.",
            ),
            ("Fixed: it compiles now.", "Fixed: it compiles now."),
        ] {
            assert_eq!(without_states_of_the_moment(text), left, "{text}");
        }
    }
}
