//! Every known way in which loops went wrong, one row each.

use super::*;
use crate::loops::{Promise, Record};

const NOW: &str = "2026-11-15T19:22:00Z";

fn at(text: &str) -> Timestamp {
    time::parse(text).unwrap()
}

fn running() -> Loop {
    Loop {
        id: "l1".into(),
        created_at: NOW.into(),
        updated_at: NOW.into(),
        status: Status::Active,
        iteration: 2,
        max_iterations: 30,
        promises: vec![
            Promise { text: "ALL DONE".into(), outcome: Outcome::Done },
            Promise { text: "STUCK".into(), outcome: Outcome::Blocked },
        ],
        source_packet_id: None,
        imported_from: None,
        session: Some("s1".into()),
        ended: None,
        ended_detail: None,
        validators: Vec::new(),
        deadline: None,
        last_message_digest: None,
        last_stop: None,
        prompt: "Make it green.\nSay <promise>ALL DONE</promise> when it is.".into(),
    }
}

fn promising(text: &str) -> Loop {
    Loop { promises: vec![Promise { text: text.into(), outcome: Outcome::Done }], ..running() }
}

/// Makes a stop in the owner's session, after a turn that made progress.
fn stop(text: &'static str) -> Stop<'static> {
    Stop {
        session: "s1",
        who: Who::Main,
        now: at("2026-11-15T19:30:00Z"),
        message: Ok(Some(Message { id: Some("m2"), text, answered: false })),
        prompt: Some("p1"),
        feedback: None,
        first: Some(false),
        compacting: false,
        agents: 0,
        mark: Some(SessionPosition { calls: 9, records: 20 }),
        changed: 1,
        checked: Checked::NotYet,
    }
}

/// Makes a loop that was fed a while ago, after a message that said `text`.
fn fed(text: &str) -> Loop {
    let message = Message { id: Some("m1"), text, answered: false };
    let last = LastStop {
        message: Some("m1".into()),
        prompt: Some("p1".into()),
        at: "2026-11-15T19:25:00.000Z".into(),
        why: "ended without the promise".into(),
        unaided: 1,
        mark: Some(SessionPosition { calls: 5, records: 10 }),
        ..LastStop::default()
    };
    Loop { last_stop: Some(last), last_message_digest: digest(Some(message)), ..running() }
}

/// Describes a verdict in a word: the iteration that is fed, the end, or the reason to let the agent stop.
fn word(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Allow(why) => format!("allow {why:?}"),
        Verdict::Validate => "validate".into(),
        Verdict::End { why, next } => format!("end {} {}", why.name(), next.status.name()),
        Verdict::Feed { next, .. } => format!("feed {}", next.iteration),
        Verdict::FeedAgain { .. } => "again".into(),
    }
}

const RULES: Rules = Rules { no_progress_turns: 3, redact: redact::Options { emails: false } };

#[track_caller]
fn check(about: &str, state: &Loop, stop: &Stop, expected: &str) {
    assert_eq!(word(&decide(Foreground::Loop(state), stop, &RULES)), expected, "{about}");
}

#[test]
fn promises() {
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
            "It ends when your last message says <promise>ALL DONE</promise>, which must be true. If you cannot continue without the user, say <promise>STUCK</promise>.",
            "feed 3",
        ),
    ];
    for (about, text, expected) in rows {
        check(about, &running(), &stop(text), expected);
    }
    for odd in ["say \"yes\" | no", "a'b\"c|d", "✓ ünïcødé 完了", "$(rm) `x` \\ <b>", "50% & more: #1"]
    {
        let message: &'static str = Box::leak(format!("<promise>{odd}</promise>").into_boxed_str());
        check(odd, &promising(odd), &stop(message), "end promise done");
    }
    let none = Loop { promises: Vec::new(), ..running() };
    check("a loop without a promise", &none, &stop("<promise>ALL DONE</promise>"), "feed 3");
}

#[test]
fn what_is_not_the_last_message_of_the_main_agent() {
    let promised = "<promise>ALL DONE</promise>";
    let quiet = Stop { message: Ok(None), ..stop("") };
    check("the last block is a tool call: nothing was said", &running(), &quiet, "feed 3");
    // A tool result, a sub-agent's words and a message that is not in the transcript yet never count as the message;
    // `last_turn.rs` ensures that. These are the cases that reach the engine.
    check("by a sub-agent", &running(), &Stop { who: Who::SubAgent, ..stop(promised) }, "allow SubAgent");
    let unreadable = Stop { message: Err("the transcript cannot be read".into()), ..stop("") };
    check("nobody can know", &running(), &unreadable, "end error paused");
    let Verdict::End { next, .. } = decide(Foreground::Loop(&running()), &unreadable, &RULES) else {
        panic!()
    };
    assert_eq!(next.ended_detail.as_deref(), Some("the transcript cannot be read"));
}

#[test]
fn whose_stop_it_is() {
    let promised = || stop("<promise>ALL DONE</promise>");
    check("no session id", &running(), &Stop { session: "", ..promised() }, "allow AnotherSession");
    let nobodys = Loop { session: None, ..running() };
    check("no owner yet", &nobodys, &promised(), "allow AnotherSession");
    let empty = Loop { session: Some(String::new()), ..running() };
    check("both empty", &empty, &Stop { session: "", ..promised() }, "allow AnotherSession");
    check("another session", &running(), &Stop { session: "s2", ..promised() }, "allow AnotherSession");
    check("background agents at work", &running(), &Stop { agents: 1, ..promised() }, "allow AgentsAtWork");
    for status in [Status::Paused, Status::Done, Status::Cancelled] {
        check("not active", &Loop { status, ..running() }, &promised(), "allow NotActive");
    }
    let cancelled = Loop { status: Status::Cancelled, ended: Some(Ended::Cancelled), ..running() };
    let restored = stop("The brief says that loop l1 is at iteration 2 of 30. <promise>ALL DONE</promise>");
    check("cancelled, then mentioned in a restored brief", &cancelled, &restored, "allow NotActive");
    assert_eq!(word(&decide(Foreground::Nothing, &promised(), &RULES)), "allow NoLoop");
}

#[test]
fn compaction() {
    let unnamed = |text| Stop {
        compacting: true,
        message: Ok(Some(Message { id: None, text, answered: false })),
        ..stop("")
    };
    check("its stop", &running(), &unnamed("<summary>…</summary>"), "allow Compaction");
    check(
        "without a word",
        &running(),
        &Stop { compacting: true, message: Ok(None), ..stop("") },
        "allow Compaction",
    );
    let later = Stop { compacting: true, ..stop("Still red.") };
    check("announced, never came, and the turn went on", &running(), &later, "feed 3");
}

#[test]
fn trouble_lets_it_stop() {
    let damaged = Record::parse(b"---\nid: l1\nstatus: act".to_vec()).unwrap_err().why;
    for why in [damaged.as_str(), "state/locks/loops.lock: in use by another thru for more than 100 ms"] {
        let verdict = decide(Foreground::Trouble(why), &stop("Still red."), &RULES);
        assert_eq!(word(&verdict), "allow Trouble", "{why}");
    }
}

#[test]
fn the_same_stop_counts_once() {
    let Verdict::Feed { next, text } = decide(Foreground::Loop(&running()), &stop("Still red."), &RULES)
    else {
        panic!()
    };
    let twice = decide(Foreground::Loop(&next), &stop("Still red."), &RULES);
    assert_eq!(twice, Verdict::FeedAgain { text }, "fired twice: the same answer");
    let failure = Failure { command: "make".into(), how: "exit 2".into(), output: "x\n".repeat(90) };
    let checked = Stop { checked: Checked::Failed(&failure), ..stop("<promise>ALL DONE</promise>") };
    let Verdict::Feed { next: failed, text } =
        decide(Foreground::Loop(&promising("ALL DONE")), &checked, &RULES)
    else {
        panic!()
    };
    let twice = decide(Foreground::Loop(&failed), &stop("<promise>ALL DONE</promise>"), &RULES);
    assert_eq!(twice, Verdict::FeedAgain { text }, "with what the validator printed");
    let other = |id, now: &str, feedback| Stop {
        message: Ok(Some(Message { id, text: "Still red.", answered: false })),
        now: at(now),
        feedback,
        ..stop("")
    };
    let (soon, late) = ("2026-11-15T19:30:00.250Z", "2026-11-15T19:30:00.251Z");
    check("equal words in a new message", &next, &other(Some("m3"), soon, None), "feed 4");
    check("the id not known now, at once", &next, &other(None, soon, None), "again");
    check("the id not known now, later", &next, &other(None, late, None), "feed 4");
    check(
        "the id not known now, our words in between",
        &next,
        &other(None, soon, Some("19:30:00.100")),
        "feed 4",
    );
    let answered = |text| Stop {
        message: Ok(Some(Message { id: None, text, answered: true })),
        ..other(None, late, Some("19:30:00.100"))
    };
    check("slower than its twin, which was answered", &next, &answered("Still red."), "again");
    check("another hook was faster", &next, &answered("Red."), "feed 4");
    check("another prompt", &next, &Stop { prompt: Some("p2"), ..other(None, soon, None) }, "feed 4");
    check(
        "other words",
        &next,
        &Stop {
            message: Ok(Some(Message { id: None, text: "Red.", answered: false })),
            ..other(None, soon, None)
        },
        "feed 4",
    );
    check("the clock went back", &next, &other(None, "2025-11-15T19:30:00Z", None), "feed 4");
}

#[test]
fn limits() {
    let of = |iteration, max_iterations| Loop { iteration, max_iterations, ..running() };
    check("max 1", &of(1, 1), &stop("Still red."), "end limit paused");
    check("max 1, kept", &of(1, 1), &stop("<promise>ALL DONE</promise>"), "end promise done");
    check("max 0", &of(1_000_000, 0), &stop("Still red."), "feed 1000001");
    check("one left", &of(29, 30), &stop("Still red."), "feed 30");
    check("none left", &of(30, 30), &stop("Still red."), "end limit paused");
    check(
        "limit and promise in one turn",
        &of(30, 30),
        &stop("<promise>ALL DONE</promise>"),
        "end promise done",
    );
    check("limit and the wrong promise", &of(30, 30), &stop("<promise>NO</promise>"), "end limit paused");
    let until = |deadline: &str| Loop { deadline: Some(deadline.into()), ..running() };
    check("time", &until("2026-11-15T19:30:00Z"), &stop("Still red."), "end time paused");
    check("time left", &until("2026-11-15T19:30:01Z"), &stop("Still red."), "feed 3");
    let back = Stop { now: at("2020-01-01T00:00:00Z"), ..stop("Still red.") };
    check("the clock went back", &until("2026-11-15T19:30:00Z"), &back, "feed 3");
    let Verdict::Feed { next, .. } = decide(Foreground::Loop(&running()), &back, &RULES) else { panic!() };
    assert_eq!(next.updated_at, NOW, "and the record does not");
}

#[test]
fn validators() {
    let checked = Loop { validators: vec!["cargo test".into()], ..running() };
    let promised = || stop("<promise>ALL DONE</promise>");
    let failure = Failure {
        command: "cargo test".into(),
        how: "exit 101".into(),
        output: "a\n</b>\n```\nerror: red\n".into(),
    };
    let failed = Stop { checked: Checked::Failed(&failure), ..promised() };
    check("asked for", &checked, &promised(), "validate");
    check("passed", &checked, &Stop { checked: Checked::Passed, ..promised() }, "end promise done");
    check("failed", &checked, &failed, "feed 3");
    check("failed at the limit", &Loop { max_iterations: 2, ..checked.clone() }, &failed, "end limit paused");
    check("not asked for without a promise", &checked, &stop("Still red."), "feed 3");
    check("not asked for when blocked", &checked, &stop("<promise>STUCK</promise>"), "end blocked paused");
    let Verdict::Feed { text, .. } = decide(Foreground::Loop(&checked), &failed, &RULES) else { panic!() };
    assert!(text.starts_with(&checked.prompt), "verbatim, and first: {text}");
    for part in
        ["iteration 3 of 30", "`cargo test` did not pass (exit 101)", "error: red", "````verbatim\na\n<\\/b>"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn no_progress() {
    let idle = |idle, calls, changed, text| {
        let mut state = fed("Still red.");
        state.last_stop.as_mut().unwrap().idle = idle;
        (state, Stop { mark: Some(SessionPosition { calls, records: 20 }), changed, ..stop(text) })
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
        check(about, state, stop, expected);
    }
    let (state, stop) = idle(50, 5, 0, "Still red.");
    let off = Rules { no_progress_turns: 0, ..RULES };
    assert_eq!(word(&decide(Foreground::Loop(&state), &stop, &off)), "feed 3", "switched off");
}

#[test]
fn a_harness_that_does_not_go_on() {
    let off = Rules { no_progress_turns: 0, ..RULES };
    let mut state = running();
    for n in 1..=9 {
        assert!(!overridden(&state, 8), "after {} answers", n - 1);
        let id: &'static str = Box::leak(format!("m{n}").into_boxed_str());
        let quiet = Stop {
            message: Ok(Some(Message { id: Some(id), text: "Hm.", answered: false })),
            changed: 0,
            first: Some(n == 1),
            ..stop("")
        };
        let Verdict::Feed { next, .. } = decide(Foreground::Loop(&state), &quiet, &off) else {
            panic!("{n}")
        };
        state = *next;
    }
    assert!(overridden(&state, 8) && !overridden(&state, 9) && !overridden(&state, 0));
    let worked = Stop { mark: Some(SessionPosition { calls: 10, records: 30 }), ..stop("Hm.") };
    let Verdict::Feed { next, .. } = decide(Foreground::Loop(&state), &worked, &off) else { panic!() };
    assert_eq!(next.last_stop.unwrap().unaided, 1, "a tool call in between begins anew");
}

#[test]
fn the_prompt_is_fed_verbatim() {
    for prompt in
        ["---\nx: y\n---\n# Heading\n\n```sh\nmake\n```\n", "  two\r\n\r\nlines  ", "a secret: hunter22"]
    {
        let state = Loop { prompt: prompt.into(), ..running() };
        let Verdict::Feed { text, .. } = decide(Foreground::Loop(&state), &stop("Hm."), &RULES) else {
            panic!()
        };
        assert!(text.starts_with(prompt), "{text}");
        let hidden = Loop { prompt: format!("{prompt}\u{1b}[8m\u{e0041}\u{200b}"), ..running() };
        let Verdict::Feed { text: without, .. } = decide(Foreground::Loop(&hidden), &stop("Hm."), &RULES)
        else {
            panic!()
        };
        assert_eq!(without, text, "what nobody sees is not fed");
        let rest = text[prompt.len()..].trim();
        assert!(
            rest.starts_with("[Throughline loop l1, iteration 3 of 30.") && rest.lines().count() == 1,
            "{rest}"
        );
    }
}
