use super::*;

#[test]
fn who_wrote_the_text_of_a_user_line() {
    let slash = |text: &'static str| Some((text, PromptOrigin::Slash));
    let words = |text: &'static str| Some((text, PromptOrigin::PlainText));
    let cases = [
        ("fix it", words("fix it")),
        ("  fix it\n", words("fix it")),
        ("", None),
        ("<div> is broken", words("<div> is broken")),
        ("[WIP] look", words("[WIP] look")),
        (
            "<command-name>/compact</command-name>\n   <command-message>compact</command-message>\n   <command-args>keep X</command-args>",
            slash("/compact keep X"),
        ),
        ("<command-message>review</command-message>\n<command-name>/review</command-name>", slash("/review")),
        ("<command-name></command-name>", None),
        ("<command-name>/torn", None),
        ("/compact keep X", slash("/compact keep X")),
        ("/home/dev/a.rs is wrong", words("/home/dev/a.rs is wrong")),
        ("<bash-input>git pull</bash-input>", Some(("git pull", PromptOrigin::Shell))),
        ("<bash-stdout>x</bash-stdout><bash-stderr>y</bash-stderr>", None),
        ("<local-command-stdout>See ya!</local-command-stdout>", None),
        ("<local-command-caveat>Caveat</local-command-caveat>", None),
        ("<task-notification>\n<task-id>1</task-id>\n</task-notification>", None),
        ("<task-notification>\ntorn", None),
        ("<system-reminder>\nx\n</system-reminder>\n\nfix it", words("fix it")),
        (
            "<ide_opened_file>a.rs</ide_opened_file><system-reminder>x</system-reminder>fix it",
            words("fix it"),
        ),
        ("<teammate-message from=\"a\">x</teammate-message>", None),
        ("Stop hook feedback:\nGO ON", None),
        ("Operation stopped by hook: no", None),
        ("[Request interrupted by user for tool use]", None),
        ("This session is being continued from a previous conversation that ran out", None),
    ];
    for (text, expected) in cases {
        let found = extract_prompt(text.into());
        assert_eq!(found.as_ref().map(|(text, typed)| (text.as_ref(), *typed)), expected, "{text}");
    }
}

#[test]
fn user_lines_that_are_not_prompts_are_read() {
    assert_eq!(classify_user_text("[Request interrupted by user]".into()), Some(TranscriptItem::Interrupted));
    assert_eq!(
        classify_user_text("Stop hook feedback:\nGO ON".into()),
        Some(TranscriptItem::StopHookFeedback { text: "GO ON".into() })
    );
    assert_eq!(classify_user_text("<bash-stdout>x".into()), None);
}

#[test]
fn a_refusal_and_its_reason() {
    let refused = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. …).";
    assert_eq!(
        refusal_reason(&format!("{refused} To tell you how to proceed, the user said:\nnot that one")),
        Some(Some("not that one"))
    );
    assert_eq!(refusal_reason(&format!("{refused} STOP what you are doing")), Some(None));
    assert_eq!(refusal_reason("Exit code 1"), None);
}
