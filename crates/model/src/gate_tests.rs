use super::*;

fn at(text: &str) -> Timestamp {
    time::parse(text).unwrap()
}

fn seen(text: &str) -> FoundOutput {
    FoundOutput::File { modified: at("2026-11-15T12:00:00Z"), ending: Reading::of(text.as_bytes()).ending() }
}

fn wanted() -> Output {
    let not_before = Some(at("2026-11-15T12:00:00Z"));
    Output { not_before, inputs_digest: "d1".into(), ..Output::new("review-security.md") }
}

#[test]
fn verdicts() {
    let s = SENTINEL;
    let sealed = format!("text\n{s}\n");
    let verdict = |output: &Output, seen: &FoundOutput, inputs: &str| judge(output, seen, inputs).verdict;
    let of = |text: &str| verdict(&wanted(), &seen(text), "d1");
    for (about, text, expected) in [
        ("nothing in it", "", Verdict::Empty),
        ("blanks", " \n\t\r\n\n", Verdict::Empty),
        ("no sentinel", "text\n", Verdict::Incomplete),
        ("sentinel last", &sealed, Verdict::Valid),
        ("without a line end", sealed.trim_end(), Verdict::Valid),
        ("blank lines behind it", &format!("{sealed}\n \n\t\n"), Verdict::Valid),
        ("trailing spaces", &format!("text\n{s}  \t\n"), Verdict::Valid),
        ("CRLF", &format!("text\r\n{s}\r\n\r\n"), Verdict::Valid),
        ("nothing else", &format!("\n{s}\n\n{s}\n"), Verdict::Empty),
        ("BOM and nothing else", &format!("\u{feff}{s}\n"), Verdict::Empty),
        ("in the middle", &format!("text\n{s}\nmore\n"), Verdict::Incomplete),
        ("two", &format!("text\n{s}\nmore\n{s}\n"), Verdict::Valid),
        ("mentioned before", &format!("ends with `{s}`.\n\n{s}\n"), Verdict::Valid),
        ("mentioned only", &format!("ends with `{s}`\n"), Verdict::Incomplete),
        ("indented", &format!("text\n  {s}\n"), Verdict::Incomplete),
        ("with more on the line", &format!("text\n{s} done\n"), Verdict::Incomplete),
        ("in a fence", &format!("```\n{s}\n```\n"), Verdict::Incomplete),
        ("in a fence nobody closed", &format!("a\n```text\n{s}\n"), Verdict::Incomplete),
        ("in one of tildes", &format!("~~~~\n```\n~~~\n{s}\n"), Verdict::Incomplete),
        ("behind a fence", &format!("```\nx\n```\n{s}\n"), Verdict::Valid),
        ("behind one in a list", &format!("- a\n  ```\n  x\n{s}\n"), Verdict::Valid),
        ("in small letters", "<!-- agent_complete -->\n", Verdict::Incomplete),
    ] {
        assert_eq!(of(text), expected, "{about}");
    }

    let valid = seen(&sealed);
    let older = FoundOutput::File { modified: at("2026-11-15T11:59:59Z"), ending: Ending::Sealed };
    assert_eq!(verdict(&wanted(), &FoundOutput::Nothing, "d1"), Verdict::Missing);
    assert_eq!(verdict(&wanted(), &FoundOutput::Odd("a link".into()), "d1"), Verdict::Unsafe);
    assert_eq!(verdict(&wanted(), &older, "d1"), Verdict::Stale, "by time");
    assert_eq!(verdict(&wanted(), &valid, "d2"), Verdict::Stale, "by the digest of its inputs");
    let undated = Output { not_before: None, inputs_digest: String::new(), ..wanted() };
    assert_eq!(verdict(&undated, &older, "d2"), Verdict::Valid, "nothing was said about its age");
    for outside in ["../review-security.md", "/etc/passwd", "a/b.md", ""] {
        let output = Output { file: outside.into(), ..wanted() };
        assert_eq!(verdict(&output, &valid, "d1"), Verdict::Unsafe, "{outside}");
        assert_eq!(step(&output, Verdict::Unsafe), Step::Leave, "{outside}");
    }
}

#[test]
fn steps() {
    let launched = |attempts, launch: &[&str]| Output {
        attempts,
        launch: launch.iter().map(|word| (*word).to_owned()).collect(),
        ..wanted()
    };
    for (attempts, launch, verdict, expected) in [
        (0, &["a"][..], Verdict::Valid, Step::Reuse),
        (2, &["a"], Verdict::Valid, Step::Reuse),
        (0, &["a"], Verdict::Missing, Step::Launch),
        (1, &["a"], Verdict::Stale, Step::Launch),
        (1, &["a"], Verdict::Unsafe, Step::Launch),
        (2, &["a"], Verdict::Incomplete, Step::GiveUp),
        (0, &[], Verdict::Missing, Step::Leave),
    ] {
        assert_eq!(step(&launched(attempts, launch), verdict), expected, "{attempts} {launch:?} {verdict:?}");
    }
    let spoiled = Output { was_valid: true, ..launched(2, &["a"]) };
    assert_eq!(
        step(&spoiled, Verdict::Stale),
        Step::Launch,
        "it was valid: what is launched now counts anew"
    );
}

#[test]
fn gates() {
    use Tier::{Advisory, Critical};
    for (verdicts, expected) in [
        (&[][..], Gate::Pass),
        (&[(Critical, Verdict::Valid), (Advisory, Verdict::Valid)], Gate::Pass),
        (&[(Critical, Verdict::Valid), (Advisory, Verdict::Stale)], Gate::SoftContinue),
        (&[(Critical, Verdict::Empty), (Advisory, Verdict::Valid)], Gate::HardFail),
        (&[(Critical, Verdict::Empty), (Advisory, Verdict::Missing)], Gate::HardFail),
        (&[(Advisory, Verdict::Missing), (Critical, Verdict::Unsafe)], Gate::HardFail),
    ] {
        assert_eq!(gate(verdicts.iter().copied()), expected, "{verdicts:?}");
    }
}

#[test]
fn names_tell_tier_and_role() {
    for (file, stage, tier, role) in [
        ("plan-prior-art.md", "plan", Tier::Critical, "prior-art"),
        ("review-security.md", "review", Tier::Critical, "security"),
        ("review-expert-alpha.md", "code", Tier::Critical, "expert-alpha"),
        ("retro-cdm-analysis.md", "retro", Tier::Critical, "cdm-analysis"),
        ("retro-expert-alpha.md", "retro", Tier::Advisory, "expert-alpha"),
        ("deep-review-security.md", "deep-review", Tier::Critical, "security"),
        ("notes.md", "x", Tier::Critical, "notes"),
    ] {
        assert_eq!((tier_of(file), role_of(file, stage)), (tier, role), "{file}");
    }
}

#[test]
fn an_output_belongs_to_one_agent_or_to_none() {
    let expected =
        |files: &[&str]| Expected::new("review", files.iter().map(|file| Output::new(file)).collect());
    let two = expected(&["review-security.md", "review-ux.md", "plan-ux.md"]);
    assert_eq!(output_of(&two, "security"), Some(0));
    assert_eq!(output_of(&two, "plugin:security"), Some(0));
    assert_eq!(output_of(&two, "review-security"), Some(0), "by the name of the file");
    assert_eq!(output_of(&two, "plugin:plan-ux"), Some(2));
    assert_eq!(output_of(&two, "ux"), None, "two could be meant");
    assert_eq!(output_of(&two, "security-review"), None);
    assert_eq!(output_of(&two, "general-purpose"), None);
    let long = expected(&["code-review-perf.md", "code-review-ux.md", "plan-ux.md"]);
    assert_eq!(output_of(&long, "cwf:perf"), Some(0), "by the end of its role");
    assert_eq!(output_of(&long, "ux"), Some(2), "a whole role goes before the end of one");
    assert_eq!(output_of(&long, "erf"), None);
    let both = expected(&["review-ux.md", "ux.md", "x-plan-ux.md", "plan-ux.md"]);
    assert_eq!(output_of(&both, "ux"), None, "a name does not go before a role");
    assert_eq!(output_of(&both, "plan-ux"), None, "two could be meant");
    assert_eq!(output_of(&expected(&["a-b-ux.md", "a-c-ux.md"]), "ux"), None, "two could be meant");
    assert_eq!(output_of(&two, ""), None, "the summariser of Claude Code");
    assert_eq!(output_of(&expected(&["review-.md"]), ""), None);
}

#[test]
fn expected_json_keeps_what_it_does_not_know() {
    let text = r#"{"note": "mine", "stage": "review", "outputs": ["review-a.md",
        {"zebra": 1, "file": "review-b.md", "tier": "advisory", "launch": ["x", "y"], "attempts": 1}]}"#;
    let mut expected = Expected::parse(text.as_bytes()).unwrap();
    assert_eq!((expected.attempt, expected.outputs[0].tier), (1, Tier::Critical));
    expected.count_launch(0, "d");
    expected.count_launch(1, "");
    expected.begin_again(&[1]);
    let again = Expected::parse(&expected.render()).unwrap();
    assert_eq!(again.attempt, 2);
    assert_eq!((again.outputs[0].attempts, again.outputs[0].inputs_digest.as_str()), (1, "d"));
    assert_eq!((again.outputs[1].attempts, again.outputs[1].launch.len()), (0, 2));
    let printed = String::from_utf8(expected.render()).unwrap();
    assert!(printed.find("note") < printed.find("stage") && printed.contains("\"zebra\": 1"), "{printed}");
}

#[test]
fn expected_json_says_what_is_wrong_with_it() {
    let why = |text: &str| match Expected::parse(text.as_bytes()) {
        Err(Problem::Damaged { why, .. }) => why,
        other => panic!("{text}: {other:?}"),
    };
    for (text, expected) in [
        ("", "the file is empty"),
        (r#"{"stage": "a"}"#, "outputs must be a list of the files that the run must contain"),
        (r#"{"outputs": [7]}"#, "outputs[0] must be an object with a `file`"),
        (r#"{"outputs": [{}]}"#, "outputs[0].file must be a text"),
        (r#"{"outputs": ["a.md", {"file": "a.md"}]}"#, "outputs[1].file names `a.md` a second time"),
        (
            r#"{"outputs": [{"file": "a.md", "tier": "high"}]}"#,
            "outputs[0].tier must be `critical` or `advisory`",
        ),
        (r#"{"outputs": [{"file": "a.md", "launch": "ls"}]}"#, "outputs[0].launch must be a list of texts"),
        (r#"{"outputs": [{"file": "a.md", "attempts": -1}]}"#, "outputs[0].attempts must be a whole number"),
    ] {
        assert_eq!(why(text), expected);
    }
    assert!(why("{").starts_with("not JSON: "));
    let newer = Expected::parse(br#"{"schema_version": 2, "outputs": []}"#);
    assert!(matches!(newer, Err(Problem::Foreign { .. })));
}

#[test]
fn where_the_live_run_is() {
    assert_eq!(live_dir(&render_live("outputs/a")).as_deref(), Some("outputs/a"));
    for text in ["", "{}", "[]", r#"{"dir": 7}"#, r#"{"dir": ""}"#] {
        assert_eq!(live_dir(text.as_bytes()), None, "{text}");
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
        assert_eq!(live_of_yaml(yaml).as_deref(), expected, "{yaml}");
    }
}

#[test]
fn instructions_hold_what_is_judged() {
    let text = instruction("/p/review-a.md");
    assert!(text.contains("/p/review-a.md") && text.contains(&format!("\n{SENTINEL}\n")), "{text}");
    let output = Output { prompt: "Look at it.\n".into(), ..wanted() };
    assert!(prompt(&output, "/p/a").starts_with("Look at it.\n\nWrite your complete result"));
    assert!(awaited("review", "/p/a").contains(SENTINEL));
}

#[test]
fn the_last_message_is_kept_where_nothing_was_left() {
    let cases = [
        (Verdict::Missing, Some("It is fine."), Some("It is fine.\n")),
        (Verdict::Empty, Some(" It is fine.\n"), Some("It is fine.\n")),
        (Verdict::Missing, Some("  "), None),
        (Verdict::Missing, None, None),
        (Verdict::Incomplete, Some("It is fine."), None),
        (Verdict::Valid, Some("It is fine."), None),
    ];
    for (verdict, message, expected) in cases {
        assert_eq!(message_to_keep(verdict, message).as_deref(), expected, "{verdict:?} {message:?}");
    }
}
