//! All known ways in which a loop can go wrong, one row each.

use super::*;
use crate::loops::{LoopRecord, Promise};
use crate::redact::{RedactOptions, Redacted};

const TEST_TIME: &str = "2026-11-15T19:22:00Z";

fn parse_time(text: &str) -> Timestamp {
    time::parse_time(text).unwrap()
}

fn running_loop() -> Loop {
    Loop {
        id: "l1".into(),
        created_at: TEST_TIME.into(),
        updated_at: TEST_TIME.into(),
        status: LoopStatus::Active,
        iteration: 2,
        max_iterations: 30,
        promises: vec![
            Promise { text: "ALL DONE".into(), outcome: PromiseOutcome::Done },
            Promise { text: "STUCK".into(), outcome: PromiseOutcome::Blocked },
        ],
        source_packet_id: None,
        imported_from: None,
        session: Some("s1".into()),
        end_reason: None,
        ended_detail: None,
        validators: Vec::new(),
        deadline: None,
        last_message_digest: None,
        last_stop: None,
        prompt: "Make it green.\nSay <promise>ALL DONE</promise> when it is.".into(),
    }
}

fn loop_with_promise(text: &str) -> Loop {
    Loop { promises: vec![Promise { text: text.into(), outcome: PromiseOutcome::Done }], ..running_loop() }
}

/// Returns a stop in the session that owns the loop, after a turn with progress.
fn stop_saying(text: &'static str) -> LoopStop<'static> {
    LoopStop {
        session: "s1",
        stopped_agent: StoppedAgent::Main,
        now: parse_time("2026-11-15T19:30:00Z"),
        message: Ok(Some(AgentMessage { id: Some("m2"), text, is_answered: false })),
        prompt: Some("p1"),
        feedback_time: None,
        is_first_since_prompt: Some(false),
        is_compacting: false,
        running_subagents: 0,
        session_position: Some(SessionPosition { calls: 9, records: 20 }),
        changed_files: 1,
        validator_result: ValidatorResult::NotRun,
    }
}

/// Returns a loop that sent its prompt a while ago. The prompt answered the agent's message `text`.
fn fed_loop(text: &str) -> Loop {
    let message = AgentMessage { id: Some("m1"), text, is_answered: false };
    let last = LastStop {
        message: Some("m1".into()),
        prompt: Some("p1".into()),
        at: "2026-11-15T19:25:00.000Z".into(),
        continue_reason: "ended without the promise".into(),
        continued_without_calls: 1,
        session_position: Some(SessionPosition { calls: 5, records: 10 }),
        ..LastStop::default()
    };
    Loop { last_stop: Some(last), last_message_digest: digest_of_message(Some(message)), ..running_loop() }
}

/// Describes a verdict in a few words: the next iteration, why the loop ends, or why the agent may stop.
fn describe_verdict(verdict: &StopVerdict) -> String {
    match verdict {
        StopVerdict::AllowStop(why) => format!("allow {why:?}"),
        StopVerdict::RunValidators => "validate".into(),
        StopVerdict::EndLoop { why, next_state } => {
            format!("end {} {}", why.name(), next_state.status.name())
        }
        StopVerdict::SendPrompt { next_state, .. } => format!("feed {}", next_state.iteration),
        StopVerdict::RepeatLastReply { .. } => "again".into(),
    }
}

const TEST_RULES: LoopRules =
    LoopRules { no_progress_turns: 3, redact_options: RedactOptions { emails: false } };

#[track_caller]
fn check_verdict(about: &str, state: &Loop, stop: &LoopStop, expected: &str) {
    assert_eq!(
        describe_verdict(&decide_stop(ForegroundLoop::Loop(state), stop, &TEST_RULES)),
        expected,
        "{about}"
    );
}

#[test]
fn a_promise_ends_a_loop() {
    let rows = [
        ("given", "Green.\n<promise>ALL DONE</promise>", "end promise done"),
        ("the other one", "<promise>STUCK</promise>", "end blocked paused"),
        ("none", "Still red.", "feed 3"),
        ("in a code fence", "```\n<promise>ALL DONE</promise>\n```", "feed 3"),
        ("in code", "I will say `<promise>ALL DONE</promise>`.", "feed 3"),
        ("in the prompt", "Say <promise>ALL DONE</promise> when it is.", "feed 3"),
        ("without tags", "ALL DONE", "feed 3"),
        ("half a tag", "<promise>ALL DONE", "feed 3"),
        ("with double spaces", "<promise>  ALL   DONE </promise>", "end promise done"),
        ("split over lines", "<promise>ALL\n  DONE</promise>", "end promise done"),
        (
            "two tags, the last counts",
            "<promise>STUCK</promise> no: <promise>ALL DONE</promise>",
            "end promise done",
        ),
        (
            "two tags, the last is another",
            "<promise>ALL DONE</promise> no: <promise>NOT YET</promise>",
            "feed 3",
        ),
        (
            "control characters in a line",
            "\u{1}\u{1b}[1m\u{7}<promise>ALL DONE</promise>\u{0}",
            "end promise done",
        ),
        ("not quite", "<promise>all done</promise>", "feed 3"),
        (
            "our own words",
            "It ends when your last message says <promise>ALL DONE</promise>. Say this only if it is true. If you cannot continue without the user, say <promise>STUCK</promise>.",
            "feed 3",
        ),
    ];
    for (about, text, expected) in rows {
        check_verdict(about, &running_loop(), &stop_saying(text), expected);
    }
    for odd in ["say \"yes\" | no", "a'b\"c|d", "✓ ünïcødé 完了", "$(rm) `x` \\ <b>", "50% & more: #1"]
    {
        let message: &'static str = Box::leak(format!("<promise>{odd}</promise>").into_boxed_str());
        check_verdict(odd, &loop_with_promise(odd), &stop_saying(message), "end promise done");
    }
    let none = Loop { promises: Vec::new(), ..running_loop() };
    check_verdict("a loop without a promise", &none, &stop_saying("<promise>ALL DONE</promise>"), "feed 3");
}

#[test]
fn what_is_not_the_last_message_of_the_main_agent() {
    let promised = "<promise>ALL DONE</promise>";
    let quiet = LoopStop { message: Ok(None), ..stop_saying("") };
    check_verdict("the last block is a tool call: nothing was said", &running_loop(), &quiet, "feed 3");
    // A tool result, a sub-agent's message and a message that is not yet in the transcript never reach the engine (see
    // `last_turn.rs`). The following cases do.
    check_verdict(
        "by a sub-agent",
        &running_loop(),
        &LoopStop { stopped_agent: StoppedAgent::SubAgent, ..stop_saying(promised) },
        "allow SubAgent",
    );
    let unreadable = LoopStop { message: Err("the transcript cannot be read".into()), ..stop_saying("") };
    check_verdict("nobody can know", &running_loop(), &unreadable, "end error paused");
    let StopVerdict::EndLoop { next_state, .. } =
        decide_stop(ForegroundLoop::Loop(&running_loop()), &unreadable, &TEST_RULES)
    else {
        panic!()
    };
    assert_eq!(next_state.ended_detail.as_deref(), Some("the transcript cannot be read"));
}

#[test]
fn only_a_stop_of_the_owning_session_counts() {
    let promised = || stop_saying("<promise>ALL DONE</promise>");
    check_verdict(
        "no session id",
        &running_loop(),
        &LoopStop { session: "", ..promised() },
        "allow AnotherSession",
    );
    let nobodys = Loop { session: None, ..running_loop() };
    check_verdict("no owner yet", &nobodys, &promised(), "allow AnotherSession");
    let empty = Loop { session: Some(String::new()), ..running_loop() };
    check_verdict("both empty", &empty, &LoopStop { session: "", ..promised() }, "allow AnotherSession");
    check_verdict(
        "another session",
        &running_loop(),
        &LoopStop { session: "s2", ..promised() },
        "allow AnotherSession",
    );
    check_verdict(
        "background agents at work",
        &running_loop(),
        &LoopStop { running_subagents: 1, ..promised() },
        "allow AgentsAtWork",
    );
    for status in [LoopStatus::Paused, LoopStatus::Done, LoopStatus::Cancelled] {
        check_verdict("not active", &Loop { status, ..running_loop() }, &promised(), "allow NotActive");
    }
    let cancelled =
        Loop { status: LoopStatus::Cancelled, end_reason: Some(EndReason::Cancelled), ..running_loop() };
    let restored =
        stop_saying("The brief says that loop l1 is at iteration 2 of 30. <promise>ALL DONE</promise>");
    check_verdict("cancelled, then mentioned in a restored brief", &cancelled, &restored, "allow NotActive");
    assert_eq!(
        describe_verdict(&decide_stop(ForegroundLoop::NoLoop, &promised(), &TEST_RULES)),
        "allow NoLoop"
    );
}

#[test]
fn a_stop_during_a_compaction() {
    let unnamed = |text| LoopStop {
        is_compacting: true,
        message: Ok(Some(AgentMessage { id: None, text, is_answered: false })),
        ..stop_saying("")
    };
    check_verdict("its stop", &running_loop(), &unnamed("<summary>…</summary>"), "allow Compaction");
    check_verdict(
        "without a word",
        &running_loop(),
        &LoopStop { is_compacting: true, message: Ok(None), ..stop_saying("") },
        "allow Compaction",
    );
    let later = LoopStop { is_compacting: true, ..stop_saying("Still red.") };
    check_verdict("announced, never came, and the turn went on", &running_loop(), &later, "feed 3");
}

#[test]
fn a_stop_is_allowed_if_facts_cannot_be_read() {
    let damaged = LoopRecord::parse(b"---\nid: l1\nstatus: act".to_vec()).unwrap_err().why;
    for why in
        [damaged.as_str(), "state/locks/loops.lock: in use by another thru process for more than 100 ms"]
    {
        let verdict = decide_stop(ForegroundLoop::Unusable(why), &stop_saying("Still red."), &TEST_RULES);
        assert_eq!(describe_verdict(&verdict), "allow UnusableLoop", "{why}");
    }
}

#[test]
fn the_same_stop_counts_once() {
    let StopVerdict::SendPrompt { next_state, text } =
        decide_stop(ForegroundLoop::Loop(&running_loop()), &stop_saying("Still red."), &TEST_RULES)
    else {
        panic!()
    };
    let twice = decide_stop(ForegroundLoop::Loop(&next_state), &stop_saying("Still red."), &TEST_RULES);
    assert_eq!(twice, StopVerdict::RepeatLastReply { text }, "fired twice: the same answer");
    let failure =
        ValidatorFailure { command: "make".into(), failure_kind: "exit 2".into(), output: "x\n".repeat(90) };
    let checked = LoopStop {
        validator_result: ValidatorResult::Failed(&failure),
        ..stop_saying("<promise>ALL DONE</promise>")
    };
    let StopVerdict::SendPrompt { next_state: failed, text } =
        decide_stop(ForegroundLoop::Loop(&loop_with_promise("ALL DONE")), &checked, &TEST_RULES)
    else {
        panic!()
    };
    let twice =
        decide_stop(ForegroundLoop::Loop(&failed), &stop_saying("<promise>ALL DONE</promise>"), &TEST_RULES);
    assert_eq!(twice, StopVerdict::RepeatLastReply { text }, "with what the validator printed");
    let other = |id, now: &str, feedback| LoopStop {
        message: Ok(Some(AgentMessage { id, text: "Still red.", is_answered: false })),
        now: parse_time(now),
        feedback_time: feedback,
        ..stop_saying("")
    };
    let (soon, late) = ("2026-11-15T19:30:00.250Z", "2026-11-15T19:30:00.251Z");
    check_verdict("equal words in a new message", &next_state, &other(Some("m3"), soon, None), "feed 4");
    check_verdict("the id not known now, at once", &next_state, &other(None, soon, None), "again");
    check_verdict("the id not known now, later", &next_state, &other(None, late, None), "feed 4");
    check_verdict(
        "the id not known now, our words in between",
        &next_state,
        &other(None, soon, Some("19:30:00.100")),
        "feed 4",
    );
    let answered = |text| LoopStop {
        message: Ok(Some(AgentMessage { id: None, text, is_answered: true })),
        ..other(None, late, Some("19:30:00.100"))
    };
    check_verdict("slower than its twin, which was answered", &next_state, &answered("Still red."), "again");
    check_verdict("another hook was faster", &next_state, &answered("Red."), "feed 4");
    check_verdict(
        "another prompt",
        &next_state,
        &LoopStop { prompt: Some("p2"), ..other(None, soon, None) },
        "feed 4",
    );
    check_verdict(
        "other words",
        &next_state,
        &LoopStop {
            message: Ok(Some(AgentMessage { id: None, text: "Red.", is_answered: false })),
            ..other(None, soon, None)
        },
        "feed 4",
    );
    check_verdict("the clock went back", &next_state, &other(None, "2025-11-15T19:30:00Z", None), "feed 4");
}

#[test]
fn limits_end_a_loop() {
    let of = |iteration, max_iterations| Loop { iteration, max_iterations, ..running_loop() };
    check_verdict("max 1", &of(1, 1), &stop_saying("Still red."), "end limit paused");
    check_verdict("max 1, kept", &of(1, 1), &stop_saying("<promise>ALL DONE</promise>"), "end promise done");
    check_verdict("max 0", &of(1_000_000, 0), &stop_saying("Still red."), "feed 1000001");
    check_verdict("one left", &of(29, 30), &stop_saying("Still red."), "feed 30");
    check_verdict("none left", &of(30, 30), &stop_saying("Still red."), "end limit paused");
    check_verdict(
        "limit and promise in one turn",
        &of(30, 30),
        &stop_saying("<promise>ALL DONE</promise>"),
        "end promise done",
    );
    check_verdict(
        "limit and the wrong promise",
        &of(30, 30),
        &stop_saying("<promise>NO</promise>"),
        "end limit paused",
    );
    let until = |deadline: &str| Loop { deadline: Some(deadline.into()), ..running_loop() };
    check_verdict("time", &until("2026-11-15T19:30:00Z"), &stop_saying("Still red."), "end time paused");
    check_verdict("time left", &until("2026-11-15T19:30:01Z"), &stop_saying("Still red."), "feed 3");
    let back = LoopStop { now: parse_time("2020-01-01T00:00:00Z"), ..stop_saying("Still red.") };
    check_verdict("the clock went back", &until("2026-11-15T19:30:00Z"), &back, "feed 3");
    let StopVerdict::SendPrompt { next_state, .. } =
        decide_stop(ForegroundLoop::Loop(&running_loop()), &back, &TEST_RULES)
    else {
        panic!()
    };
    assert_eq!(next_state.updated_at, TEST_TIME, "and the record does not");
}

#[test]
fn validators_decide_whether_a_promise_counts() {
    let checked = Loop { validators: vec!["cargo test".into()], ..running_loop() };
    let promised = || stop_saying("<promise>ALL DONE</promise>");
    let redact = |text| Redacted::redact_whole(text, RedactOptions::default());
    let output = redact("a\n</b>\n```\nerror: red\n");
    let failure = ValidatorFailure::new(&redact("cargo test"), "exit 101".into(), &output);
    let failed = LoopStop { validator_result: ValidatorResult::Failed(&failure), ..promised() };
    check_verdict("asked for", &checked, &promised(), "validate");
    check_verdict(
        "passed",
        &checked,
        &LoopStop { validator_result: ValidatorResult::Passed, ..promised() },
        "end promise done",
    );
    check_verdict("failed", &checked, &failed, "feed 3");
    check_verdict(
        "failed at the limit",
        &Loop { max_iterations: 2, ..checked.clone() },
        &failed,
        "end limit paused",
    );
    check_verdict("not asked for without a promise", &checked, &stop_saying("Still red."), "feed 3");
    check_verdict(
        "not asked for when blocked",
        &checked,
        &stop_saying("<promise>STUCK</promise>"),
        "end blocked paused",
    );
    let StopVerdict::SendPrompt { text, .. } =
        decide_stop(ForegroundLoop::Loop(&checked), &failed, &TEST_RULES)
    else {
        panic!()
    };
    assert!(text.starts_with(&checked.prompt), "verbatim, and first: {text}");
    for part in
        ["iteration 3 of 30", "`cargo test` did not pass (exit 101)", "error: red", "````verbatim\na\n<\\/b>"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn turns_without_progress_end_a_loop() {
    let idle = |idle, calls, changed, text| {
        let mut state = fed_loop("Still red.");
        state.last_stop.as_mut().unwrap().idle_turns = idle;
        (
            state,
            LoopStop {
                session_position: Some(SessionPosition { calls, records: 20 }),
                changed_files: changed,
                ..stop_saying(text)
            },
        )
    };
    let rows = [
        ("no call for the third time", idle(2, 5, 0, "Hm."), "end no-progress paused"),
        ("no call for the second time", idle(1, 5, 0, "Hm."), "feed 3"),
        ("the same words for the second time", idle(0, 9, 0, "Still red."), "feed 3"),
        ("the same words for the third time", idle(2, 9, 0, "Still red."), "end no-progress paused"),
        ("the same words, but a file changed", idle(2, 9, 1, "Still red."), "feed 3"),
        ("other words and calls", idle(2, 9, 0, "Hm."), "feed 3"),
        ("counts that were lost", idle(2, 4, 0, "Still red."), "feed 3"),
    ];
    for (about, (state, stop), expected) in &rows {
        check_verdict(about, state, stop, expected);
    }
    let (state, stop) = idle(50, 5, 0, "Still red.");
    let off = LoopRules { no_progress_turns: 0, ..TEST_RULES };
    assert_eq!(
        describe_verdict(&decide_stop(ForegroundLoop::Loop(&state), &stop, &off)),
        "feed 3",
        "switched off"
    );
}

#[test]
fn a_harness_that_does_not_go_on() {
    let off = LoopRules { no_progress_turns: 0, ..TEST_RULES };
    let mut state = running_loop();
    for n in 1..=9 {
        assert!(!was_continuation_overridden(&state, 8), "after {} answers", n - 1);
        let id: &'static str = Box::leak(format!("m{n}").into_boxed_str());
        let quiet = LoopStop {
            message: Ok(Some(AgentMessage { id: Some(id), text: "Hm.", is_answered: false })),
            changed_files: 0,
            is_first_since_prompt: Some(n == 1),
            ..stop_saying("")
        };
        let StopVerdict::SendPrompt { next_state, .. } =
            decide_stop(ForegroundLoop::Loop(&state), &quiet, &off)
        else {
            panic!("{n}")
        };
        state = *next_state;
    }
    assert!(
        was_continuation_overridden(&state, 8)
            && !was_continuation_overridden(&state, 9)
            && !was_continuation_overridden(&state, 0)
    );
    let worked =
        LoopStop { session_position: Some(SessionPosition { calls: 10, records: 30 }), ..stop_saying("Hm.") };
    let StopVerdict::SendPrompt { next_state, .. } = decide_stop(ForegroundLoop::Loop(&state), &worked, &off)
    else {
        panic!()
    };
    assert_eq!(
        next_state.last_stop.unwrap().continued_without_calls,
        1,
        "a tool call in between begins anew"
    );
}

#[test]
fn the_prompt_is_fed_verbatim() {
    for prompt in
        ["---\nx: y\n---\n# Heading\n\n```sh\nmake\n```\n", "  two\r\n\r\nlines  ", "a secret: hunter22"]
    {
        let state = Loop { prompt: prompt.into(), ..running_loop() };
        let StopVerdict::SendPrompt { text, .. } =
            decide_stop(ForegroundLoop::Loop(&state), &stop_saying("Hm."), &TEST_RULES)
        else {
            panic!()
        };
        assert!(text.starts_with(prompt), "{text}");
        let hidden = Loop { prompt: format!("{prompt}\u{1b}[8m\u{e0041}\u{200b}"), ..running_loop() };
        let StopVerdict::SendPrompt { text: without, .. } =
            decide_stop(ForegroundLoop::Loop(&hidden), &stop_saying("Hm."), &TEST_RULES)
        else {
            panic!()
        };
        assert_eq!(without, text, "what nobody sees is not given to the agent");
        let rest = text[prompt.len()..].trim();
        assert!(
            rest.starts_with("[Throughline loop l1, iteration 3 of 30.") && rest.lines().count() == 1,
            "{rest}"
        );
    }
}

#[test]
fn a_loop_that_reached_a_limit_is_resumed_with_a_higher_one() {
    let now = time::parse_time("2026-11-15T19:00:00Z").unwrap();
    for (iteration, max_iterations, deadline, options, effect) in [
        (1, 5, None, "", "continues it"),
        (5, 0, Some("2026-11-15T19:00:01Z"), "", "continues it"),
        (5, 5, None, " --max-iterations N", "gives it more iterations"),
        (1, 5, Some("2026-11-15T19:00:00Z"), " --for 1h", "gives it more time"),
        (6, 5, Some("2026-11-14"), " --max-iterations N --for 1h", "gives it more iterations and more time"),
    ] {
        let deadline = deadline.map(str::to_owned);
        let state = Loop { id: "work".into(), iteration, max_iterations, deadline, ..running_loop() };
        let command = format!("thru loop resume work{options}");
        assert_eq!(
            crate::loops::command_to_resume(&state, now),
            crate::loops::ResumeCommand { command, effect }
        );
    }
}
