use super::*;

fn reply_part(reply: Reply, id: &str) -> ReplyPart {
    ReplyPart { reply, candidate_ids: vec![id.to_owned()] }
}

#[test]
fn one_reply_out_of_several() {
    let context = |text: &str| Reply::ContextForAgent(text.to_owned());
    let block = |text: &str| Reply::BlockStop(text.to_owned());
    let user = || Reply::MessageForUser("u".to_owned());
    let guidance = || Reply::GuideSummariser("g".to_owned());
    let cases: &[(&str, Vec<ReplyPart>, ReplyPart)] = &[
        ("nothing to say", vec![], ReplyPart::silent()),
        (
            "silence adds nothing",
            vec![reply_part(Reply::Silent, "a"), reply_part(context("x"), "b")],
            reply_part(context("x"), "b"),
        ),
        (
            "texts follow each other, and the agent is told all of them",
            vec![reply_part(context("loop\n"), "a"), reply_part(context("brief\n"), "b")],
            ReplyPart {
                reply: context("loop\nbrief\n"),
                candidate_ids: vec!["a".to_owned(), "b".to_owned()],
            },
        ),
        (
            "a loop that goes on is the answer; the agent is not told the rest",
            vec![reply_part(context("x"), "a"), reply_part(block("go on"), "b")],
            reply_part(block("go on"), "b"),
        ),
        (
            "two loops cannot both go on: the first row's does",
            vec![reply_part(block("1"), "a"), reply_part(block("2"), "b")],
            reply_part(block("1"), "a"),
        ),
        (
            "the model and the user side by side",
            vec![reply_part(user(), "a"), reply_part(context("x"), "b")],
            reply_part(Reply::ContextAndUser { context: "x".to_owned(), user: "u".to_owned() }, "b"),
        ),
        (
            "guidance before the user",
            vec![reply_part(user(), "a"), reply_part(guidance(), "b")],
            reply_part(guidance(), "b"),
        ),
    ];
    for (name, parts, expected) in cases {
        assert_eq!(combine_replies(parts.clone()), *expected, "{name}");
    }
}

#[test]
fn the_person_is_told_beside_the_model() {
    let parts = vec![
        ReplyPart { reply: Reply::ContextForAgent("facts".into()), candidate_ids: vec!["a".into()] },
        ReplyPart::from_reply(Reply::MessageForUser("no room".into())),
    ];
    let reply = Reply::ContextAndUser { context: "facts".into(), user: "no room".into() };
    assert_eq!(combine_replies(parts), ReplyPart { reply, candidate_ids: vec!["a".into()] });
}
