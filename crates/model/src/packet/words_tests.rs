use super::{is_real, questions, wishes};
use crate::digest::Prompt;

#[test]
fn what_the_user_said_about_the_work() {
    for (text, real) in [
        ("fix the parser", true),
        ("/handoff finish the parser", false),
        ("/compact", false),
        ("/thru:handoff x y z", false),
        ("/review", false),
        ("/review the parser for bugs", true),
        ("/home/me/x.rs does not compile", true),
        ("<local-command-stdout>ok</local-command-stdout>", false),
        ("Stop hook feedback:\n- go on", false),
        ("[Request interrupted by user]", false),
        ("This session is being continued from a previous conversation", false),
        ("  ", false),
    ] {
        assert_eq!(is_real(text), real, "{text}");
    }
}

#[test]
fn how_the_user_wants_it_done() {
    let prompt = |text: &str| Prompt { text: text.to_owned(), ..Prompt::default() };
    let said = [
        prompt("Fix src/a.rs. Don't touch v1.2 of the API! What does it do?"),
        prompt("- use tabs instead of spaces\n```\nnever run this\n```\nI don't know why it fails."),
        prompt("Don't touch v1.2 of the API!"),
    ];
    let all: Vec<&Prompt> = said.iter().collect();
    let found: Vec<&str> = wishes(&all).into_iter().map(|(wish, _)| wish).collect();
    assert_eq!(found, ["Don't touch v1.2 of the API!", "use tabs instead of spaces"]);
}

#[test]
fn questions_that_are_open() {
    let said = "I fixed it. Should I also fix b.rs? If so, how?\nWaiting.";
    assert_eq!(questions(said), ["Should I also fix b.rs?", "If so, how?"]);
}
