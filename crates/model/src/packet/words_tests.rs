use super::{is_about, says_what_to_do, unanswered_questions};

#[test]
fn purposes_that_say_what_is_to_be_done() {
    for (purpose, expected) in [
        ("go on", false),
        ("Continue, please.", false),
        ("finish the rest", false),
        ("pick this up tomorrow", false),
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
        assert_eq!(is_about(purpose, request), expected, "{purpose}");
    }
}
