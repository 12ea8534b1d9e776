use super::*;

fn part(reply: Reply, id: &str) -> Part {
    Part { reply, told: vec![id.to_owned()] }
}

#[test]
fn one_reply_out_of_several() {
    let context = |text: &str| Reply::Context(text.to_owned());
    let block = |text: &str| Reply::Block(text.to_owned());
    let user = || Reply::TellUser("u".to_owned());
    let guidance = || Reply::Guidance("g".to_owned());
    let cases: &[(&str, Vec<Part>, Part)] = &[
        ("nothing to say", vec![], Part::silent()),
        (
            "silence adds nothing",
            vec![part(Reply::Silent, "a"), part(context("x"), "b")],
            part(context("x"), "b"),
        ),
        (
            "texts follow each other, and all are told",
            vec![part(context("loop\n"), "a"), part(context("brief\n"), "b")],
            Part { reply: context("loop\nbrief\n"), told: vec!["a".to_owned(), "b".to_owned()] },
        ),
        (
            "a loop that goes on is the answer; the rest was not told",
            vec![part(context("x"), "a"), part(block("go on"), "b")],
            part(block("go on"), "b"),
        ),
        (
            "two loops cannot both go on: the first row's does",
            vec![part(block("1"), "a"), part(block("2"), "b")],
            part(block("1"), "a"),
        ),
        (
            "the model and the user side by side",
            vec![part(user(), "a"), part(context("x"), "b")],
            part(Reply::ContextAndUser { context: "x".to_owned(), user: "u".to_owned() }, "b"),
        ),
        ("guidance before the user", vec![part(user(), "a"), part(guidance(), "b")], part(guidance(), "b")),
    ];
    for (name, parts, expected) in cases {
        assert_eq!(combine(parts.clone()), *expected, "{name}");
    }
}

#[test]
fn the_person_is_told_beside_the_model() {
    let parts = vec![
        Part { reply: Reply::Context("facts".into()), told: vec!["a".into()] },
        Part::of(Reply::TellUser("no room".into())),
    ];
    let reply = Reply::ContextAndUser { context: "facts".into(), user: "no room".into() };
    assert_eq!(combine(parts), Part { reply, told: vec!["a".into()] });
}
