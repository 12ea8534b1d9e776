use super::{questions, wishes};
use crate::digest::Prompt;

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
