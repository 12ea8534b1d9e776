use super::*;

fn parse_time(text: &str) -> Timestamp {
    time::parse_time(text).unwrap()
}

fn found_output(text: &str) -> FoundOutput {
    FoundOutput::File {
        modified: parse_time("2026-11-15T12:00:00Z"),
        ending: OutputScanner::scan_whole_output(text.as_bytes()).ending(),
    }
}

fn expected_output() -> ExpectedOutput {
    let not_before = Some(parse_time("2026-11-15T12:00:00Z"));
    ExpectedOutput { not_before, inputs_digest: "d1".into(), ..ExpectedOutput::new("review-security.md") }
}

#[test]
fn each_state_of_a_file_has_its_verdict() {
    let s = COMPLETION_LINE;
    let sealed = format!("text\n{s}\n");
    let verdict = |output: &ExpectedOutput, seen: &FoundOutput, inputs: &str| {
        judge_output(output, seen, inputs).verdict
    };
    let of = |text: &str| verdict(&expected_output(), &found_output(text), "d1");
    for (about, text, expected) in [
        ("nothing in it", "", OutputVerdict::Empty),
        ("blanks", " \n\t\r\n\n", OutputVerdict::Empty),
        ("no sentinel", "text\n", OutputVerdict::Incomplete),
        ("sentinel last", &sealed, OutputVerdict::Valid),
        ("without a line end", sealed.trim_end(), OutputVerdict::Valid),
        ("blank lines behind it", &format!("{sealed}\n \n\t\n"), OutputVerdict::Valid),
        ("trailing spaces", &format!("text\n{s}  \t\n"), OutputVerdict::Valid),
        ("CRLF", &format!("text\r\n{s}\r\n\r\n"), OutputVerdict::Valid),
        ("nothing else", &format!("\n{s}\n\n{s}\n"), OutputVerdict::Empty),
        ("BOM and nothing else", &format!("\u{feff}{s}\n"), OutputVerdict::Empty),
        ("in the middle", &format!("text\n{s}\nmore\n"), OutputVerdict::Incomplete),
        ("two", &format!("text\n{s}\nmore\n{s}\n"), OutputVerdict::Valid),
        ("mentioned before", &format!("ends with `{s}`.\n\n{s}\n"), OutputVerdict::Valid),
        ("mentioned only", &format!("ends with `{s}`\n"), OutputVerdict::Incomplete),
        ("indented", &format!("text\n  {s}\n"), OutputVerdict::Incomplete),
        ("with more on the line", &format!("text\n{s} done\n"), OutputVerdict::Incomplete),
        ("in a fence", &format!("```\n{s}\n```\n"), OutputVerdict::Incomplete),
        ("in a fence nobody closed", &format!("a\n```text\n{s}\n"), OutputVerdict::Incomplete),
        ("in one of tildes", &format!("~~~~\n```\n~~~\n{s}\n"), OutputVerdict::Incomplete),
        ("behind a fence", &format!("```\nx\n```\n{s}\n"), OutputVerdict::Valid),
        ("behind one in a list", &format!("- a\n  ```\n  x\n{s}\n"), OutputVerdict::Valid),
        ("in small letters", "<!-- agent_complete -->\n", OutputVerdict::Incomplete),
    ] {
        assert_eq!(of(text), expected, "{about}");
    }

    let valid = found_output(&sealed);
    let older =
        FoundOutput::File { modified: parse_time("2026-11-15T11:59:59Z"), ending: OutputEnding::Sealed };
    assert_eq!(verdict(&expected_output(), &FoundOutput::Missing, "d1"), OutputVerdict::Missing);
    assert_eq!(
        verdict(&expected_output(), &FoundOutput::Unopenable("a link".into()), "d1"),
        OutputVerdict::Unsafe
    );
    assert_eq!(verdict(&expected_output(), &older, "d1"), OutputVerdict::Stale, "by time");
    assert_eq!(
        verdict(&expected_output(), &valid, "d2"),
        OutputVerdict::Stale,
        "by the digest of its inputs"
    );
    let undated = ExpectedOutput { not_before: None, inputs_digest: String::new(), ..expected_output() };
    assert_eq!(verdict(&undated, &older, "d2"), OutputVerdict::Valid, "nothing was said about its age");
    for outside in ["../review-security.md", "/etc/passwd", "a/b.md", ""] {
        let output = ExpectedOutput { file: outside.into(), ..expected_output() };
        assert_eq!(verdict(&output, &valid, "d1"), OutputVerdict::Unsafe, "{outside}");
        assert_eq!(next_launch_step(&output, OutputVerdict::Unsafe), NextLaunchStep::NoCommand, "{outside}");
    }
}

#[test]
fn each_verdict_has_its_next_launch_step() {
    let launched = |attempts, launch: &[&str]| ExpectedOutput {
        attempts,
        launch: launch.iter().map(|word| (*word).to_owned()).collect(),
        ..expected_output()
    };
    for (attempts, launch, verdict, expected) in [
        (0, &["a"][..], OutputVerdict::Valid, NextLaunchStep::Reuse),
        (2, &["a"], OutputVerdict::Valid, NextLaunchStep::Reuse),
        (0, &["a"], OutputVerdict::Missing, NextLaunchStep::Launch),
        (1, &["a"], OutputVerdict::Stale, NextLaunchStep::Launch),
        (1, &["a"], OutputVerdict::Unsafe, NextLaunchStep::Launch),
        (2, &["a"], OutputVerdict::Incomplete, NextLaunchStep::GiveUp),
        (0, &[], OutputVerdict::Missing, NextLaunchStep::NoCommand),
    ] {
        assert_eq!(
            next_launch_step(&launched(attempts, launch), verdict),
            expected,
            "{attempts} {launch:?} {verdict:?}"
        );
    }
    let spoiled = ExpectedOutput { was_valid: true, ..launched(2, &["a"]) };
    assert_eq!(
        next_launch_step(&spoiled, OutputVerdict::Stale),
        NextLaunchStep::Launch,
        "it was valid: what is launched now counts anew"
    );
}

#[test]
fn the_verdicts_of_all_files_decide_the_gate() {
    use OutputTier::{Advisory, Critical};
    for (verdicts, expected) in [
        (&[][..], GateResult::Pass),
        (&[(Critical, OutputVerdict::Valid), (Advisory, OutputVerdict::Valid)], GateResult::Pass),
        (&[(Critical, OutputVerdict::Valid), (Advisory, OutputVerdict::Stale)], GateResult::SoftContinue),
        (&[(Critical, OutputVerdict::Empty), (Advisory, OutputVerdict::Valid)], GateResult::HardFail),
        (&[(Critical, OutputVerdict::Empty), (Advisory, OutputVerdict::Missing)], GateResult::HardFail),
        (&[(Advisory, OutputVerdict::Missing), (Critical, OutputVerdict::Unsafe)], GateResult::HardFail),
    ] {
        assert_eq!(gate_result(verdicts.iter().copied()), expected, "{verdicts:?}");
    }
}

#[test]
fn names_tell_tier_and_role() {
    for (file, stage, tier, role) in [
        ("plan-prior-art.md", "plan", OutputTier::Critical, "prior-art"),
        ("review-security.md", "review", OutputTier::Critical, "security"),
        ("review-expert-alpha.md", "code", OutputTier::Critical, "expert-alpha"),
        ("retro-cdm-analysis.md", "retro", OutputTier::Critical, "cdm-analysis"),
        ("retro-expert-alpha.md", "retro", OutputTier::Advisory, "expert-alpha"),
        ("deep-review-security.md", "deep-review", OutputTier::Critical, "security"),
        ("notes.md", "x", OutputTier::Critical, "notes"),
    ] {
        assert_eq!(
            (default_output_tier(file), agent_role_in_output_file_name(file, stage)),
            (tier, role),
            "{file}"
        );
    }
}

#[test]
fn an_output_belongs_to_one_agent_or_to_none() {
    let expected = |files: &[&str]| {
        ExpectedOutputs::new("review", files.iter().map(|file| ExpectedOutput::new(file)).collect())
    };
    let two = expected(&["review-security.md", "review-ux.md", "plan-ux.md"]);
    assert_eq!(output_of_agent(&two, "security"), Some(0));
    assert_eq!(output_of_agent(&two, "plugin:security"), Some(0));
    assert_eq!(output_of_agent(&two, "review-security"), Some(0), "by the name of the file");
    assert_eq!(output_of_agent(&two, "plugin:plan-ux"), Some(2));
    assert_eq!(output_of_agent(&two, "ux"), None, "two could be meant");
    assert_eq!(output_of_agent(&two, "security-review"), None);
    assert_eq!(output_of_agent(&two, "general-purpose"), None);
    let long = expected(&["code-review-perf.md", "code-review-ux.md", "plan-ux.md"]);
    assert_eq!(output_of_agent(&long, "cwf:perf"), Some(0), "by the end of its role");
    assert_eq!(output_of_agent(&long, "ux"), Some(2), "a whole role goes before the end of one");
    assert_eq!(output_of_agent(&long, "erf"), None);
    let both = expected(&["review-ux.md", "ux.md", "x-plan-ux.md", "plan-ux.md"]);
    assert_eq!(output_of_agent(&both, "ux"), None, "a name does not go before a role");
    assert_eq!(output_of_agent(&both, "plan-ux"), None, "two could be meant");
    assert_eq!(output_of_agent(&expected(&["a-b-ux.md", "a-c-ux.md"]), "ux"), None, "two could be meant");
    assert_eq!(output_of_agent(&two, ""), None, "the summariser of Claude Code");
    assert_eq!(output_of_agent(&expected(&["review-.md"]), ""), None);
}

#[test]
fn expected_json_keeps_what_it_does_not_know() {
    let text = r#"{"note": "mine", "stage": "review", "outputs": ["review-a.md",
        {"zebra": 1, "file": "review-b.md", "tier": "advisory", "launch": ["x", "y"], "attempts": 1}]}"#;
    let mut expected = ExpectedOutputs::parse(text.as_bytes()).unwrap();
    assert_eq!((expected.attempt, expected.outputs[0].tier), (1, OutputTier::Critical));
    expected.count_launch(0, "d", ".");
    expected.count_launch(1, "", ".");
    expected.reset_launches(&[1]);
    let again = ExpectedOutputs::parse(&expected.to_bytes()).unwrap();
    assert_eq!(again.attempt, 2);
    assert_eq!((again.outputs[0].attempts, again.outputs[0].inputs_digest.as_str()), (1, "d"));
    assert_eq!((again.outputs[1].attempts, again.outputs[1].launch.len()), (0, 2));
    let printed = String::from_utf8(expected.to_bytes()).unwrap();
    assert!(printed.find("note") < printed.find("stage") && printed.contains("\"zebra\": 1"), "{printed}");
}

#[test]
fn expected_json_says_what_is_wrong_with_it() {
    let why = |text: &str| match ExpectedOutputs::parse(text.as_bytes()) {
        Err(ExpectedOutputsProblem::Damaged { why, .. }) => why,
        other => panic!("{text}: {other:?}"),
    };
    for (text, expected) in [
        ("", "the file is empty"),
        (r#"{"stage": "a"}"#, "outputs must be a list of the files that the run must contain"),
        (r#"{"outputs": [7]}"#, "outputs[0] must be an object with a `file`"),
        (r#"{"outputs": [{}]}"#, "outputs[0].file must be a string"),
        (r#"{"outputs": ["a.md", {"file": "a.md"}]}"#, "outputs[1].file names `a.md` a second time"),
        (
            r#"{"outputs": [{"file": "a.md", "tier": "high"}]}"#,
            "outputs[0].tier must be `critical` or `advisory`",
        ),
        (r#"{"outputs": [{"file": "a.md", "launch": "ls"}]}"#, "outputs[0].launch must be a list of strings"),
        (r#"{"outputs": [{"file": "a.md", "attempts": -1}]}"#, "outputs[0].attempts must be a whole number"),
    ] {
        assert_eq!(why(text), expected);
    }
    assert!(why("{").starts_with("not JSON: "));
    let newer = ExpectedOutputs::parse(br#"{"schema_version": 2, "outputs": []}"#);
    assert!(matches!(newer, Err(ExpectedOutputsProblem::Foreign { .. })));
}

#[test]
fn where_the_live_run_is() {
    let earlier = vec!["outputs/b".to_owned()];
    for (earlier, json) in [
        (Vec::new(), render_live_json("outputs/a", &[])),
        (earlier.clone(), render_live_json("outputs/a", &earlier)),
    ] {
        assert_eq!(parse_live_dir(&json).as_deref(), Some("outputs/a"));
        assert_eq!(parse_earlier_dirs(&json), earlier);
    }
    assert!(parse_earlier_dirs(b"nothing").is_empty() && parse_earlier_dirs(b"{\"dir\":\"a\"}").is_empty());
    for text in ["", "{}", "[]", r#"{"dir": 7}"#, r#"{"dir": ""}"#] {
        assert_eq!(parse_live_dir(text.as_bytes()), None, "{text}");
    }
    for (yaml, expected) in [
        ("live:\n  session_id: \"S1\"\n  dir: \".x/p/1\"\n  hitl:\n    dir: no\n", Some(".x/p/1")),
        ("# c\nother:\n  dir: no\nlive: # now\n\n  # c\n  dir: a b # c\n", Some("a b")),
        ("live:\r\n    dir: 'x'\r\n", Some("x")),
        ("live:\n  hitl:\n    dir: no\nnext:\n  dir: no\n", None),
        ("live:\n  dir: \"\"\n", None),
        ("dir: x\n", None),
        ("live: {dir: x}\n", Some("x")),
        ("live: { session_id: \"S1\", dir: '.x/p/1' } # c\n", Some(".x/p/1")),
        ("live: {dir: x\n", None),
        ("live: {other: x}\n", None),
    ] {
        assert_eq!(live_dir_of_yaml(yaml).as_deref(), expected, "{yaml}");
    }
}

#[test]
fn instructions_hold_what_is_judged() {
    let text = subagent_instruction("/p/review-a.md");
    assert!(text.contains("/p/review-a.md") && text.contains(&format!("\n{COMPLETION_LINE}\n")), "{text}");
    let output = ExpectedOutput { prompt: "Look at it.\n".into(), ..expected_output() };
    assert!(launch_prompt(&output, "/p/a").starts_with("Look at it.\n\nWrite your complete result"));
    assert!(text_for_subagent_with_awaited_output("review", "/p/a").contains(COMPLETION_LINE));
}

#[test]
fn the_last_message_is_kept_where_nothing_was_left() {
    let cases = [
        (OutputVerdict::Missing, Some("It is fine."), Some("It is fine.\n")),
        (OutputVerdict::Empty, Some(" It is fine.\n"), Some("It is fine.\n")),
        (OutputVerdict::Missing, Some("  "), None),
        (OutputVerdict::Missing, None, None),
        (OutputVerdict::Incomplete, Some("It is fine."), None),
        (OutputVerdict::Valid, Some("It is fine."), None),
    ];
    for (verdict, message, expected) in cases {
        assert_eq!(last_message_to_save(verdict, message).as_deref(), expected, "{verdict:?} {message:?}");
    }
}

#[test]
fn a_stage_that_passed_is_opened_again_only_by_a_launch_or_a_lost_output() {
    let mut list = ExpectedOutputs::new("review", vec![ExpectedOutput::new("review-a.md")]);
    let judged =
        |verdict, have_inputs_changed| JudgedOutput { verdict, why: String::new(), have_inputs_changed };
    let (stale, missing) = (judged(OutputVerdict::Stale, true), judged(OutputVerdict::Missing, false));
    let old = judged(OutputVerdict::Stale, false);
    assert!(list.keeps_stage_open(&stale) && list.keeps_stage_open(&missing));
    let at = time::parse_time("2026-11-15T19:00:00Z").unwrap();
    assert!(list.record_pass(at, Vec::new()) && !list.record_pass(at, Vec::new()));
    let mut list = ExpectedOutputs::parse(&list.to_bytes()).unwrap();
    assert_eq!(list.passed_at, Some(at));
    assert!(!list.keeps_stage_open(&stale) && list.keeps_stage_open(&missing));
    assert!(list.keeps_stage_open(&old), "an older file was put in the place of the output");
    list.count_launch(0, "d", ".");
    assert_eq!(ExpectedOutputs::parse(&list.to_bytes()).unwrap().passed_at, None);
}

#[test]
fn the_inputs_that_changed_after_a_pass_are_named_only_if_they_are_known() {
    let digests = |digests: &[&str]| digests.iter().map(|digest| (*digest).to_owned()).collect::<Vec<_>>();
    for (inputs, at_pass, now, expected) in [
        (&["a.py"][..], &[][..], &["2"][..], &["a.py"][..]),
        (&["a.py", "b.py"], &["1", "1"], &["1", "2"], &["b.py"]),
        (&["a.py", "b.py"], &["1", "1"], &["2", "2"], &["a.py", "b.py"]),
        (&["a.py", "b.py"], &[], &["1", "2"], &[]),
    ] {
        let output = ExpectedOutput { inputs: digests(inputs), ..expected_output() };
        let mut list = ExpectedOutputs::new("review", vec![output]);
        list.record_pass(time::parse_time("2026-11-15T19:00:00Z").unwrap(), vec![digests(at_pass)]);
        let list = ExpectedOutputs::parse(&list.to_bytes()).unwrap();
        assert_eq!(list.outputs[0].inputs_changed_since_pass(&digests(now)), expected, "{inputs:?}");
    }
}

#[test]
fn a_changed_stage_that_passed_is_described_by_what_happened() {
    let at = "2026-11-15 15:02 CET";
    for (inputs, expected) in [
        (&["calc.py"][..], "inputs changed since: calc.py; the outputs are stale"),
        (&[], "inputs changed since; the outputs are stale"),
        (&["a", "b", "c", "d", "e"], "inputs changed since: a, b, c, d, …; the outputs are stale"),
    ] {
        let inputs: Vec<String> = inputs.iter().map(|input| (*input).to_owned()).collect();
        let text = describe_change_since_pass(at, &inputs);
        assert_eq!(text, format!("passed at {at}; {expected}"));
    }
}

#[test]
fn a_remedy_names_the_run_and_keeps_valid_outputs() {
    let judged = |verdict| JudgedOutput { verdict, why: String::new(), have_inputs_changed: false };
    let live = RemedyCommands { stage: None, file: "review-a.md".into() };
    let other = RemedyCommands { stage: Some("review".into()), file: "/p/my runs/review-a.md".into() };
    let output = |launch: &[&str], attempts| ExpectedOutput {
        launch: launch.iter().map(|word| (*word).to_owned()).collect(),
        attempts,
        ..ExpectedOutput::new("review-a.md")
    };
    for (verdict, launch, attempts, commands, expected) in [
        (OutputVerdict::Missing, &["x"][..], 0, &live, "`thru gate run` launches it"),
        (OutputVerdict::Stale, &["x"], 0, &other, "`thru gate run --stage review` launches it again"),
        (
            OutputVerdict::Missing,
            &["x"],
            2,
            &other,
            "it was launched 2 times; `thru gate run --stage review --again` launches it again",
        ),
        (
            OutputVerdict::Missing,
            &[],
            0,
            &live,
            "have it written: `thru gate prompt review-a.md` prints the instruction",
        ),
        (
            OutputVerdict::Stale,
            &[],
            0,
            &other,
            "have it written again: `thru gate prompt '/p/my runs/review-a.md'` prints the instruction",
        ),
        (
            OutputVerdict::Incomplete,
            &[],
            0,
            &live,
            "finish it; if nothing is missing from it, `thru gate seal review-a.md` adds the last line",
        ),
    ] {
        let remedy = remedy_for_output(&output(launch, attempts), &judged(verdict), None, commands);
        assert_eq!(remedy, expected);
    }
}
