use super::*;

fn limit_of(model: &str, size: Option<u64>, settings: &str) -> u64 {
    let used = ContextWindowUse {
        tokens: 1,
        model: model.to_owned(),
        window_size: size,
        ..ContextWindowUse::default()
    };
    window_size(&used, settings).unwrap()
}

#[test]
fn the_window_of_a_model() {
    let cases = [
        ("claude-opus-5-5", "", 1_000_000),
        ("claude-sonnet-4-5", "", 200_000),
        ("claude-sonnet-4-5-1m", "", 1_000_000),
        ("sonnet[1m]", "", 1_000_000),
        ("gpt-5-codex", "", 400_000),
        ("", "", 200_000),
        ("my-own", "", 200_000),
        ("my-own", "my-*=32000", 32_000),
        ("claude-sonnet-4-5", "claude-*-4-5=500000, *=10000", 500_000),
        ("claude-haiku-4-5x", "claude-*-4-5=500000, *=10000", 10_000),
        // A setting that cannot be parsed is ignored.
        ("my-own", "my-*=many", 200_000),
    ];
    for (model, settings, expected) in cases {
        assert_eq!(limit_of(model, None, settings), expected, "{model} with {settings:?}");
    }
    // The size from the harness takes precedence over the table, and the user's settings take precedence over both. A
    // size of 0 is ignored.
    let cases = [
        ("claude-opus-5-5", 128_000, "", 128_000),
        ("my-own", 128_000, "my-*=32000", 32_000),
        ("my-own", 128_000, "other=32000", 128_000),
        ("gpt-5", 0, "", 400_000),
    ];
    for (model, size, settings, expected) in cases {
        assert_eq!(limit_of(model, Some(size), settings), expected, "{model}, {size} with {settings:?}");
    }
}

#[test]
fn the_level_that_a_window_has_reached() {
    let used = |tokens, model: &str| ContextWindowUse {
        tokens,
        model: model.to_owned(),
        ..ContextWindowUse::default()
    };
    let cases = [
        (used(139_999, "claude-haiku-4-5"), Some((0, 200_000))),
        (used(140_000, "claude-haiku-4-5"), Some((70, 200_000))),
        (used(179_999, "claude-haiku-4-5"), Some((70, 200_000))),
        (used(180_000, "claude-haiku-4-5"), Some((90, 200_000))),
        (used(200_000, "claude-haiku-4-5"), Some((90, 200_000))),
        // The harness reports more tokens than the table's size, so the window must be a large one.
        (used(210_000, "claude-haiku-4-5"), Some((0, 1_000_000))),
        (used(710_000, "claude-haiku-4-5"), Some((70, 1_000_000))),
        (used(3_000_000, "claude-haiku-4-5"), None),
        (used(2_100_000, "grok-4-fast"), None),
        (used(0, ""), None),
    ];
    for (used, expected) in cases {
        assert_eq!(reached_level(&used, ""), expected, "{used:?}");
    }
}

/// If the harness reports more tokens than a window can hold, a larger window is assumed. This is not done if the
/// number of tokens is only an estimate, or if the size of the window is known from the settings or the harness.
#[test]
fn only_measured_tokens_enlarge_a_window() {
    let used = |tokens, size, estimated| ContextWindowUse {
        tokens,
        model: "my-own".to_owned(),
        window_size: size,
        estimated,
        ..ContextWindowUse::default()
    };
    let cases = [
        (used(212_500, None, true), "", (90, 200_000)),
        (used(725_000, None, true), "", (90, 200_000)),
        (used(129_000, None, false), "my-*=128000", (90, 128_000)),
        (used(750_000, None, false), "my-*=128000", (90, 128_000)),
        (used(129_000, None, true), "my-*=128000", (90, 128_000)),
        (used(129_000, Some(128_000), false), "", (90, 128_000)),
    ];
    for (used, settings, expected) in cases {
        assert_eq!(reached_level(&used, settings), Some(expected), "{used:?} with {settings:?}");
    }
}

fn test_usage(input: u64, cache_read: u64) -> TokenUsage<'static> {
    TokenUsage { model: Some("m".into()), input, cache_read, output: 7, ..TokenUsage::default() }
}

#[test]
fn real_figures_replace_estimates_and_a_compaction_clears_both() {
    let mut used = ContextWindowUse::default();
    used.update_from_window_facts(&WindowFacts::default(), 0, 4_000);
    assert_eq!((used.tokens, used.estimated), (1_000, true));
    // After an unfinished call, the same bytes are read again, but they must be counted only once.
    used.update_from_window_facts(&WindowFacts::default(), 3_000, 8_000);
    assert_eq!(used.tokens, 2_000);
    let mut seen = WindowFacts::default();
    seen.add_usage(&test_usage(10, 500), None);
    seen.add_usage(&test_usage(20, 600), None);
    seen.add_usage(&test_usage(0, 0), None);
    used.update_from_window_facts(&seen, 8_000, 9_000);
    assert_eq!((used.tokens, used.estimated, used.model.as_str()), (620, false, "m"));
    let mut seen = WindowFacts::default();
    seen.add_usage(&test_usage(900, 0), None);
    seen.add_compaction(10_000, None);
    used.update_from_window_facts(&seen, 9_000, 12_000);
    assert_eq!((used.tokens, used.estimated), (0, false), "not estimated once there were real figures");
    let mut used = ContextWindowUse::default();
    used.update_from_window_facts(
        &WindowFacts { compacted_at: Some(6_000), ..WindowFacts::default() },
        0,
        10_000,
    );
    assert_eq!((used.tokens, used.estimated), (1_000, true));
}

#[test]
fn the_text_of_a_window_warning() {
    let warning = WindowWarning {
        level: 70,
        tokens: 144_200,
        limit: 200_000,
        estimated: false,
        prompts: 1,
        calls: 41,
        edited_files: 7,
    };
    assert_eq!(
        warning.describe_for_agent("handoff"),
        "Throughline: the context window is 72 % full (144,200 of 200,000 tokens). Recorded so far: 1 prompt, \
         41 calls, 7 edited files; after a compaction, you will get a brief. `/handoff` writes a packet from which a \
         new session can continue.\n"
    );
    let guess = WindowWarning { estimated: true, ..warning };
    assert!(
        guess
            .describe_for_agent("handoff")
            .contains("is about 72 % full (144,200 of 200,000 tokens, estimated)")
    );
    let guess = WindowWarning { tokens: 212_500, ..guess };
    assert!(
        guess
            .describe_for_agent("handoff")
            .contains("window may be full (212,500 of 200,000 tokens, estimated)")
    );
    let over = WindowWarning { estimated: false, ..guess };
    assert!(
        over.describe_for_agent("handoff").contains("window is over its limit (212,500 of 200,000 tokens)")
    );
}
