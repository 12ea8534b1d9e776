use super::*;

#[test]
fn texts_that_share_names_are_about_the_same() {
    let old = "`skipComment` lost its `keep_all` flag in src/reader.py";
    for (newer, expected) in [
        ("The flag `keep_all` of `skipComment()` is kept now.", true),
        ("The flag of `skipComment()` is kept now.", false),
        ("Nothing else was changed.", false),
    ] {
        assert_eq!(is_same_subject(old, newer), expected, "{newer}");
    }
}

#[test]
fn what_the_user_gave_up_or_quoted_no_longer_holds() {
    let mut digest = Digest::new("s");
    let said = AgentStatement {
        record: 2,
        text: "Writes the result to the old branch".into(),
        ..Default::default()
    };
    let prompt =
        |record: u64, text: &str| crate::digest::Prompt { record, text: text.into(), ..Default::default() };
    digest.prompts = vec![prompt(1, "write it"), prompt(5, "let's abandon this branch")];
    assert!(is_abandoned(&digest, &said));
    digest.prompts[1].text = "Writes the result to the old branch <- it must be the new one".to_owned();
    assert!(!is_abandoned(&digest, &said) && is_quoted_by_newest_prompt(&digest, &said));
    digest.prompts[1].text = "Writes the result to the old branch".to_owned();
    assert!(!is_quoted_by_newest_prompt(&digest, &said));
    assert!(describes_old_code("Current behavior: it walks the whole list."));
    assert!(!describes_old_code("It walks the whole list now."));
}
