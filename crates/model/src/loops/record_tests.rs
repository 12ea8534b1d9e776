use super::*;

fn sample_loop(prompt: &str) -> Loop {
    Loop {
        id: "20261115T192200Z-fix".into(),
        created_at: "2026-11-15T19:22:00Z".into(),
        updated_at: "2026-11-15T19:22:00Z".into(),
        status: LoopStatus::Active,
        iteration: 1,
        max_iterations: 30,
        promises: vec![
            Promise { text: "say \"yes\" | ✓ # no: comment".into(), outcome: PromiseOutcome::Done },
            Promise { text: "STUCK".into(), outcome: PromiseOutcome::Blocked },
        ],
        source_packet_id: None,
        imported_from: None,
        session: Some("s1".into()),
        end_reason: None,
        ended_detail: None,
        validators: vec!["cargo test -- --nocapture | tail -5".into()],
        deadline: None,
        last_message_digest: None,
        last_stop: None,
        prompt: prompt.into(),
    }
}

/// Any prompt is read back unchanged, even after the record was edited.
#[test]
fn prompts_come_back_to_the_byte() {
    let prompts = [
        "Fix the tests.",
        "Fix the tests.\n",
        "\n\n  indented, with blank lines around\n\n",
        "---\nstatus: done\n---\n",
        "# A heading\n\n## Notes\n\nmine\n\n## Loop Prompt\nagain",
        "## Notes",
        "```\nnever closed",
        "~~~\n## Notes\n~~~\n\ttail \t",
        "`` ` ``` ```` `````verbatim",
        "```verbatim\nlooks like ours\n```",
        "<!-- never closed",
        "- item\n  ```\n  in a list",
        "quotes \"'` and | pipes \\ and ünïcødé \u{202e} \u{200b}✓",
        "line one\r\nline two\r\n",
        "> quoted\n\n    code",
    ];
    for prompt in prompts {
        let record = LoopRecord::new(sample_loop(prompt)).unwrap();
        let read = LoopRecord::parse(record.bytes().to_vec()).unwrap();
        assert_eq!(
            read.loop_state,
            record.loop_state,
            "{prompt:?}\n{}",
            String::from_utf8_lossy(record.bytes())
        );
        let mut next = read.loop_state.clone();
        next.iteration = 7;
        let edited = LoopRecord::parse(read.with_state(next.clone()).unwrap().bytes().to_vec()).unwrap();
        assert_eq!(edited.loop_state, next, "{prompt:?}");
    }
}

#[test]
fn a_plain_prompt_is_plain_to_read() {
    let record = LoopRecord::new(sample_loop("Fix the tests.\n\n## Steps\n1. look")).unwrap();
    let text = String::from_utf8(record.bytes().to_vec()).unwrap();
    assert!(
        text.ends_with("\n## Loop Prompt\n\nFix the tests.\n\n## Steps\n1. look\n\n## Notes\n"),
        "{text}"
    );
    assert!(text.starts_with("---\nid: 20261115T192200Z-fix\n") && !text.contains('\r'), "{text}");
}

/// Text that people add to a loop's file is kept, and the values that they change take effect.
#[test]
fn an_edit_touches_nothing_else() {
    let record = LoopRecord::new(sample_loop("work")).unwrap();
    let text = String::from_utf8(record.bytes().to_vec()).unwrap();
    let text =
        text.replace("status: active\n", "status: active # by hand\nmine: keep\n") + "\nremember the milk\n";
    let read = LoopRecord::parse(text.clone().into_bytes()).unwrap();
    let mut next = read.loop_state.clone();
    next.iteration = 2;
    let edited = read.with_state(next).unwrap();
    assert_eq!(String::from_utf8_lossy(edited.bytes()), text.replace("iteration: 1\n", "iteration: 2\n"));
}

#[test]
fn the_promise_people_edit_is_the_one_that_counts() {
    let text = "---\nid: a\nstatus: active\niteration: 1\nmax_iterations: 3\ncompletion_promise: NEW\npromises: [{\"text\":\"OLD\",\"outcome\":\"done\"}]\n---\n## Loop Prompt\nwork\n";
    assert_eq!(LoopRecord::parse(text.into()).unwrap().loop_state.promises[0].text, "NEW");
    let text = text.replace("promises: [{\"text\":\"OLD\",\"outcome\":\"done\"}]\n", "");
    let read = LoopRecord::parse(text.into()).unwrap().loop_state;
    assert_eq!((read.promises[0].text.as_str(), read.prompt.as_str()), ("NEW", "work"));
}

#[test]
fn damage_is_named_with_its_line() {
    let whole = "---\nid: a\nstatus: active\niteration: 1\nmax_iterations: 3\n---\n## Loop Prompt\nwork\n";
    assert!(LoopRecord::parse(whole.into()).is_ok());
    let table = [
        ("", "it has no frontmatter"),
        ("\0\0\0\0", "it has no frontmatter"),
        (&whole[..20], "it has no frontmatter"),
        (&whole.replace("id: a\n", ""), "id: it is missing"),
        (
            &whole.replace("active", "running"),
            "status: `running` is not one of active, paused, done, cancelled",
        ),
        (
            &whole.replace("iteration: 1", "iteration: one"),
            "iteration: it must be a non-negative whole number",
        ),
        (
            &whole.replace("max_iterations: 3", "max_iterations: -1"),
            "max_iterations: it must be a non-negative whole number",
        ),
        (&whole.replace("## Loop Prompt", "## Prompt"), "there is no section `## Loop Prompt`"),
        (&whole.replace("work\n", "\n"), "the loop prompt is empty"),
        (&whole.replace("id: a", "id: a\ndeadline: soon"), "deadline: `soon` is not a valid time"),
        (
            &whole.replace("id: a", "id: a\npromises: [1]"),
            "promises: it must be [{\"text\": …, \"outcome\": \"done|blocked\"}]",
        ),
    ];
    for (text, expected) in table {
        assert_eq!(LoopRecord::parse(text.as_bytes().to_vec()).unwrap_err().why, expected, "{text:?}");
    }
    assert_eq!(LoopRecord::parse(whole.replace("active", "x").into()).unwrap_err().line, Some(3));
}
