use super::*;
use crate::redact::RedactOptions;

fn summarise_text(output: &str) -> Option<OutputSummary> {
    let output = Redacted::redact_whole(output, RedactOptions::default());
    summarise_output(&output, "o-0123456789abcdef", summary_room(output.len(), usize::MAX))
}

fn kind_of_text(output: &str) -> OutputKind {
    let output = Redacted::redact_whole(output, RedactOptions::default());
    OutputKind::detect(&output, &output.lines().collect::<Vec<_>>())
}

/// Returns the output of a test run with two different errors, one of which occurs twice.
fn test_run_output() -> String {
    let mut text: String = (0..700).map(|n| format!("test parser::case_{n} ... ok\n")).collect();
    text.push_str("error: the parser stopped\n");
    text.extend((0..300).map(|n| format!("test lexer::case_{n} ... ok\n")));
    text.push_str("thread 'main' panicked at src/a.rs:3:5\nerror: the parser stopped\ntest result: FAILED. 1000 passed; 2 failed\n");
    text
}

#[test]
fn a_test_run_keeps_every_error_with_its_place() {
    let OutputSummary { text, kind, original_lines: lines, error_line_count: errors } =
        summarise_text(&test_run_output()).unwrap();
    assert_eq!((kind, lines, errors), (OutputKind::Log, 1_004, 4));
    assert!(
        text.starts_with(
            "[Throughline summary of an output: o-0123456789abcdef, 28614 bytes, 1004 lines, log]\n"
        ),
        "{text}"
    );
    assert!(
        text.contains(
            "4 error lines:\n  701, 1003: error: the parser stopped\n  1002: thread 'main' panicked"
        ),
        "{text}"
    );
    assert!(text.contains("lines 1 to ") && text.contains("  test parser::case_0 ... ok\n"), "{text}");
    assert!(
        text.contains("to 1004:\n") && text.contains("`thru swarm retrieve o-0123456789abcdef`"),
        "{text}"
    );
}

#[test]
fn the_kind_of_an_output_is_recognised() {
    let listing: String = (0..50).map(|n| format!("src/part{}/file{n}.rs\n", n % 3)).collect();
    let matches: String = (0..50).map(|n| format!("src/a.rs:{n}:    let error = {n};\n")).collect();
    let lint: String = (0..50).map(|n| format!("src/a.rs:{n}:7: unused variable\n")).collect();
    let table: String = (0..50).map(|n| format!("row {n} | 12 | yes\n")).collect();
    let code = "fn main() {\n    let a = 1;\n    if a > 0 {\n        go(a);\n    }\n}\n\nstruct A {\n    b: u8,\n}\n".repeat(9);
    let diff = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n".repeat(3);
    for (text, expected) in [
        (r#"{"a": [1, 2]}"#, OutputKind::Json),
        ("{\"a\": 1}\n{\"a\": 2}\n", OutputKind::Log),
        ("{ not json", OutputKind::Log),
        (&listing, OutputKind::Listing),
        (&matches, OutputKind::Matches),
        (&lint, OutputKind::Log),
        (&table, OutputKind::Table),
        (&code, OutputKind::Code),
        (&diff, OutputKind::Diff),
        ("", OutputKind::Log),
        ("The parser reads a file.\nIt is slow.\n", OutputKind::Log),
    ] {
        assert_eq!(kind_of_text(text), expected, "{}", cut_to_bytes(text, 60));
    }
}

#[test]
fn json_is_told_by_its_keys() {
    let items: Vec<String> = (0..400)
        .map(|n| {
            format!(
                r#"{{"id": {n}, "name": "item {n}", "error": {}}}"#,
                if n == 7 { "\"disk full\"" } else { "null" }
            )
        })
        .collect();
    let text = summarise_text(&format!(r#"{{"total": 400, "items": [{}]}}"#, items.join(","))).unwrap().text;
    for part in [
        "1 error line:\n  $.items[7].error: disk full\n",
        "total: number, such as 400",
        "items: list, 400 items in total",
        "each: object with 3 keys",
        "name: text, such as \"item 0\"",
        "error: text, such as \"disk full\"",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

/// If an output of any kind contains errors and gets a summary, the summary contains them.
#[test]
fn errors_in_every_form_are_kept() {
    let passed: String = (0..1_500).map(|n| format!("test parser::case_{n} ... ok\n")).collect();
    let log = |line: &str| format!("{passed}{line}\n{passed}");
    let code: String =
        (0..600).map(|n| format!("def f_{n}(x):\n    y = x + {n};\n    return foo(y)\n\n")).collect();
    let items: Vec<String> =
        (0..600).map(|n| format!(r#"{{"id": {n}, "name": "{}"}}"#, "x".repeat(40))).collect();
    let items = items.join(",");
    let records: String = (0..700)
        .map(|n| format!("{{\"level\": \"info\", \"error\": null, \"msg\": \"fine {n}\"}}\n"))
        .collect();
    let listing: String = (0..900).map(|n| format!("src/part{}/file{n}.rs\n", n % 3)).collect();
    let matches: String = (0..900).map(|n| format!("src/a.rs:{n}:    let error = {n};\n")).collect();
    let hunk = "@@ -1,2 +1,3 @@\n context\n-before\n+    error: after\n";
    let diff = format!("diff --git a/x b/x\n--- a/x\n+++ b/x\n{}", hunk.repeat(400));
    for (output, kept) in [
        (log("Tests: 10 failed, 90 passed"), "1501: Tests: 10 failed"),
        (log("Found 20 errors in 3 files"), "1501: Found 20 errors"),
        (log("error: could not load info file"), "1501: error: could not load info file"),
        (log("fatal: no error handler is registered"), "1501: fatal: no error"),
        (log("error while parsing {"), "1501: error while parsing {"),
        (format!("{code}ValueError: bad shard 7\n{code}"), "2401: ValueError: bad shard 7"),
        (format!("{code}FAILED tests/test_a.py::test_b\n{code}"), "2401: FAILED tests/test_a.py"),
        (format!("{listing}find: 'x': Permission denied\n"), "901: find: 'x': Permission denied"),
        (
            format!("{matches}src/a.py:3: error: odd\nsrc/b.py:4: [W1(x)] odd\n"),
            "902: src/b.py:4: [W1(x)] odd",
        ),
        (format!("{diff}fatal: it stopped\n"), "fatal: it stopped"),
        (
            format!(r#"{{"items": [{items}], "error": {{"code": 13, "message": "shard 7 denied"}}}}"#),
            "$.error: {\"code\":13,\"message\":\"shard 7 denied\"}",
        ),
        (format!(r#"{{"items": [{items}], "errors": ["shard 7 denied"]}}"#), "$.errors[0]: shard 7 denied"),
        (format!(r#"{{"data": [{items}], "errors": [{{"message": "shard 7 denied"}}]}}"#), "shard 7 denied"),
        (format!(r#"[{items}, {{"level": "error", "msg": "disk is full"}}]"#), "disk is full"),
        (format!(r#"[{items}, {{"level": 50, "msg": "disk is full"}}]"#), "disk is full"),
        (format!(r#"{{"success": false, "reason": "quota", "items": [{items}]}}"#), "\"reason\":\"quota\""),
        (format!(r#"{{"items": [{items}], "error": "{} THE CAUSE"}}"#, "a".repeat(500)), "a THE CAUSE\n"),
        (format!(r#"{{"items": [{items}], "log": "fine\nerror: shard 7\nfine"}}"#), "$.log: error: shard 7"),
        (
            format!("{records}{{\"level\": \"ERROR\", \"msg\": \"disk full\"}}\n{records}"),
            "701: {\"level\": \"ERROR\"",
        ),
        (format!("{records}{{\"lvl\": \"i\", \"msg\": \"upload failed\"}}\n{records}"), "upload failed"),
    ] {
        let text = summarise_text(&output).unwrap_or_else(|| panic!("no summary with {kept}")).text;
        assert!(text.contains(kept), "{kept} is not in\n{text}");
    }
    // If every line is an error, there is no summary.
    let mypy: String = (0..300).map(|n| format!("src/mod_{n}.py:{n}: error: Incompatible type\n")).collect();
    let pylint: String = (0..500).map(|n| format!("src/mod_{n}.py:{n}: [W1101(odd), f] odd\n")).collect();
    assert_eq!((summarise_text(&mypy), summarise_text(&pylint)), (None, None));
}

#[test]
fn structure_of_code_diffs_and_listings() {
    let body = "    let value = compute(1, 2, 3);\n    store(value);\n".repeat(40);
    let code: String = (0..12).map(|n| format!("pub fn part_{n}(a: u8) -> u8 {{\n{body}}}\n\n")).collect();
    let text = summarise_text(&code).unwrap().text;
    assert!(
        text.contains("declarations (12):\n  1: pub fn part_0(a: u8) -> u8\n  84: pub fn part_1"),
        "{text}"
    );

    let hunk = "@@ -1,2 +1,3 @@\n context\n-before\n+after\n+more\n";
    let diff: String = (0..20)
        .map(|n| {
            format!(
                "diff --git a/src/f{n}.rs b/src/f{n}.rs\n--- a/src/f{n}.rs\n+++ b/src/f{n}.rs\n{}",
                hunk.repeat(12)
            )
        })
        .collect();
    let text = summarise_text(&diff).unwrap().text;
    assert!(text.contains("files (20):\n  1: src/f0.rs  +24 -12, 12 hunks\n  64: src/f1.rs"), "{text}");

    let listing: String = (0..900).map(|n| format!("crates/part{}/src/file{n}.rs\n", n % 3)).collect();
    let text = summarise_text(&listing).unwrap().text;
    assert!(text.contains("folders (3):\n  crates/part0/  300 (rs 300)"), "{text}");
}

#[test]
fn an_output_that_is_all_errors_is_left_alone() {
    let errors: String = (0..900).map(|n| format!("error: number {n} failed\n")).collect();
    assert_eq!(summarise_text(&errors), None);
    let long = format!("error: {}\n", "x".repeat(30_000));
    assert_eq!(summarise_text(&long), None);
    assert_eq!(summarise_text("short"), None);
}

#[test]
fn thresholds_and_ids() {
    assert!(
        !is_large_enough_for_summary(16_384, 16_384)
            && !is_large_enough_for_summary(20_480, 16_384)
            && is_large_enough_for_summary(20_481, 16_384)
    );
    let name = output_id(&output_digest(b"abc"));
    assert_eq!(name, "o-ba7816bf8f01cfea");
    assert!(is_output_id(&name));
    for bad in [
        "",
        "o-",
        "ba7816bf8f01cfea",
        "o-BA7816BF8F01CFEA",
        "o-ba7816bf8f01cfea0",
        "o-../../../../../..",
        "o-ba7816bf8f01cfe/",
    ] {
        assert!(!is_output_id(bad), "{bad}");
    }
}

#[test]
fn retrievals_are_known() {
    for (tool, command, expected) in [
        ("Bash", Some("thru swarm retrieve o-1"), true),
        ("Bash", Some("cd x && /opt/bin/thru  swarm retrieve o-1 --grep e | head"), true),
        ("mcp__throughline__retrieve", None, true),
        ("Bash", Some("thru swarm status"), false),
        ("Bash", Some("echo swarm and retrieve"), false),
        ("Bash", None, false),
    ] {
        assert_eq!(is_call_retrieving_original(tool, command), expected, "{tool} {command:?}");
    }
}

#[test]
fn hostile_characters_do_not_reach_the_model() {
    let mut text: String = (0..900).map(|n| format!("\u{1b}[31mline {n}\u{1b}[0m\u{202e}\n")).collect();
    text.push_str("\u{1b}[31merror: red\u{1b}[0m\n");
    let text = summarise_text(&text).unwrap().text;
    assert!(text.contains("901: error: red\n") && !text.contains(['\u{1b}', '\u{202e}']), "{text}");
}
