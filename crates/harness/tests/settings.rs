//! Tests of our hooks in other people's settings files: installing, uninstalling, and text that must not change.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

#[path = "settings/generate.rs"]
mod generate;
#[path = "settings/oracle.rs"]
mod oracle;
#[path = "settings/properties.rs"]
mod properties;

use std::path::PathBuf;

use harness::settings::{
    HookChangeKind, HookCommand, HookEntry, HookLocation, HookTimeout, SettingsProblem, TimeoutUnit,
    find_thru_hooks, install_hooks, line_disabling_hooks, unified_diff, uninstall_hooks,
};
use oracle::{apply_diff, check_round_trip, count_insertions, parse_jsonc};

fn timeout_seconds(seconds: u32) -> HookTimeout {
    HookTimeout { seconds, unit: TimeoutUnit::Seconds }
}

#[test]
fn a_timeout_is_written_in_the_unit_of_the_harness() {
    let in_ms: Vec<HookEntry> = entry_for_event("Stop")
        .into_iter()
        .map(|entry| HookEntry {
            timeout: HookTimeout { seconds: 10, unit: TimeoutUnit::Milliseconds },
            ..entry
        })
        .collect();
    let installed = install_hooks(None, &HookLocation::CLAUDE_CODE, &in_ms).unwrap().bytes;
    assert_eq!(find_thru_hooks(&installed, &HookLocation::CLAUDE_CODE).unwrap()[0].timeout, Some(10_000));
    let again = install_hooks(Some(&installed), &HookLocation::CLAUDE_CODE, &in_ms).unwrap();
    assert!(!again.has_changed());
    let changed =
        install_hooks(Some(&installed), &HookLocation::CLAUDE_CODE, &entry_for_event("Stop")).unwrap();
    assert_eq!(changed.changes[0].kind, HookChangeKind::Updated);
    assert_eq!(find_thru_hooks(&changed.bytes, &HookLocation::CLAUDE_CODE).unwrap()[0].timeout, Some(10));
}

pub fn claude_code_entries() -> Vec<HookEntry> {
    let entry = |event: &str, matcher: Option<&str>| HookEntry {
        event: event.into(),
        matcher: matcher.map(str::to_owned),
        command: HookCommand::Exec {
            program: "/home/me/.local/bin/thru".into(),
            args: vec!["hook".into(), "claude-code".into(), event.into()],
        },
        timeout: timeout_seconds(10),
    };
    vec![
        entry("Stop", None),
        entry("PostToolUse", Some("*")),
        entry("SessionStart", None),
        entry("SessionEnd", None),
        entry("UserPromptSubmit", None),
        entry("PreCompact", None),
    ]
}

pub fn droid_entries() -> Vec<HookEntry> {
    let entry = |event: &str| HookEntry {
        event: event.into(),
        matcher: None,
        command: HookCommand::shell_command("/home/me/my tools/thru", &["hook", "droid", event]),
        timeout: timeout_seconds(15),
    };
    vec![entry("Stop"), entry("SessionStart"), entry("PostToolUse")]
}

fn entry_for_event(event: &str) -> Vec<HookEntry> {
    claude_code_entries().into_iter().filter(|entry| entry.event == event).collect()
}

fn read_fixtures(folder: &str) -> Vec<(String, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/settings").join(folder);
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(path).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn every_fixture_is_extended_and_restored() {
    let files = read_fixtures("valid");
    assert!(files.len() >= 60);
    for (name, bytes) in files {
        check_round_trip(&name, &bytes, &HookLocation::CLAUDE_CODE, &claude_code_entries());
        check_round_trip(&name, &bytes, &HookLocation::CLAUDE_CODE, &entry_for_event("Stop"));
        check_round_trip(&name, &bytes, &HookLocation::DROID_SETTINGS, &droid_entries());
        assert!(find_thru_hooks(&bytes, &HookLocation::CLAUDE_CODE).unwrap().is_empty(), "{name}");
        let untouched = uninstall_hooks(&bytes, &HookLocation::CLAUDE_CODE).unwrap();
        assert_eq!((untouched.bytes, untouched.changes.len()), (bytes, 0), "{name}");
    }
}

#[test]
fn events_at_the_top_are_extended_and_restored() {
    for (name, bytes) in read_fixtures("top") {
        check_round_trip(&name, &bytes, &HookLocation::DROID_HOOKS, &droid_entries());
        check_round_trip(&name, &bytes, &HookLocation::DROID_HOOKS, &droid_entries()[..1]);
    }
}

#[test]
fn an_invalid_file_is_left_alone() {
    let expected = [
        ("bad-escape.json", 2, 14, "JSON has no such escape"),
        ("bare-key.json", 2, 3, "unexpected `model`"),
        ("bare-point.json", 1, 7, "unexpected `.`"),
        ("bare-word.json", 2, 8, "unexpected `yes`"),
        ("comma-first.json", 1, 2, "a value or `]` is expected"),
        ("cut-off.json", 4, 1, "the file ends here, but a value or `]` is expected"),
        ("double-comma.json", 2, 10, "`}` or a key in double quotes is expected"),
        ("extra-brace.json", 3, 2, "nothing is expected after the value"),
        ("form-feed.json", 1, 2, "unexpected character U+000C"),
        ("hash-comment.json", 1, 1, "unexpected `#`"),
        ("hex.json", 1, 8, "this is not a number"),
        ("jsonl.json", 1, 9, "nothing is expected after the value"),
        ("latin1.json", 2, 12, "not UTF-8"),
        ("leading-zero.json", 1, 7, "a number must not begin with 0"),
        ("line-end-in-string.json", 2, 17, "the line ends inside a string"),
        ("lone-slash.json", 1, 3, "unexpected `/`"),
        ("merge-conflict.json", 2, 1, "unexpected `<`"),
        ("minus-infinity.json", 1, 8, "a digit is missing in this number"),
        ("missing-colon.json", 2, 7, "`:` is expected after the key"),
        ("missing-comma-in-array.json", 1, 10, "`,` or `]` is expected"),
        ("missing-comma.json", 3, 3, "`,` or `}` is expected"),
        ("missing-value.json", 2, 8, "a value is expected"),
        ("no-break-space.json", 2, 1, "unexpected character U+00A0"),
        ("not-a-number.json", 1, 7, "unexpected `NaN`"),
        ("nul.json", 1, 9, "unexpected character U+0000"),
        ("only-a-comment.json", 2, 1, "the file ends here, but a value is expected"),
        ("only-comma.json", 1, 2, "`}` or a key in double quotes is expected"),
        ("plus.json", 1, 7, "unexpected `+`"),
        ("point-at-end.json", 1, 9, "a digit is missing in this number"),
        ("python-true.json", 1, 7, "unexpected `True`"),
        ("second-mark.json", 1, 1, "unexpected character U+FEFF"),
        ("short-unicode-escape.json", 1, 8, "\\u needs four hexadecimal digits"),
        ("single-quotes.json", 2, 3, "unexpected `'`"),
        ("tab-in-string.json", 1, 9, "a control character inside a string"),
        ("two-values.json", 2, 1, "nothing is expected after the value"),
        ("unclosed-comment.json", 2, 10, "this comment is never closed"),
        ("unclosed-string-at-end.json", 1, 7, "this string is never closed"),
        ("unclosed-string.json", 2, 10, "the line ends inside a string"),
        ("utf16.json", 1, 1, "not UTF-8"),
        ("words.txt.json", 1, 1, "unexpected `hello`"),
        ("wrong-bracket.json", 1, 9, "`,` or `]` is expected"),
    ];
    let files = read_fixtures("invalid");
    assert_eq!(files.len(), expected.len());
    for ((name, bytes), (file, line, column, why)) in files.iter().zip(expected) {
        assert_eq!(name, file);
        let problem =
            install_hooks(Some(bytes), &HookLocation::CLAUDE_CODE, &claude_code_entries()).unwrap_err();
        assert_eq!(problem.to_string(), format!("line {line}, column {column}: {why}"), "{name}");
        assert_eq!(uninstall_hooks(bytes, &HookLocation::CLAUDE_CODE).unwrap_err(), problem, "{name}");
        assert_eq!(find_thru_hooks(bytes, &HookLocation::CLAUDE_CODE).unwrap_err(), problem, "{name}");
        assert_eq!(line_disabling_hooks(bytes, &HookLocation::CLAUDE_CODE).unwrap_err(), problem, "{name}");
    }
}

#[test]
fn a_file_of_another_shape_is_left_alone() {
    let expected = [
        ("event-object.json", "line 3, column 13: `Stop` is not an array"),
        ("event-string.json", "line 3, column 13: `Stop` is not an array"),
        ("event-twice.json", "line 4, column 5: `Stop` appears here a second time"),
        ("group-string.json", "line 5, column 7: a hook of `Stop` is not an object"),
        ("hooks-array.json", "line 2, column 12: `hooks` is not an object"),
        ("hooks-null.json", "line 3, column 12: `hooks` is not an object"),
        ("hooks-string.json", "line 1, column 11: `hooks` is not an object"),
        ("hooks-twice-escaped.json", "line 1, column 13: `hooks` appears here a second time"),
        ("hooks-twice.json", "line 4, column 3: `hooks` appears here a second time"),
        ("root-array.json", "line 1, column 1: the file does not contain a JSON object"),
        ("root-null.json", "line 2, column 2: the file does not contain a JSON object"),
        ("root-string.json", "line 1, column 1: the file does not contain a JSON object"),
    ];
    let files = read_fixtures("wrong-shape");
    assert_eq!(files.len(), expected.len());
    for ((name, bytes), (file, message)) in files.iter().zip(expected) {
        assert_eq!(name, file);
        let problem =
            install_hooks(Some(bytes), &HookLocation::CLAUDE_CODE, &claude_code_entries()).unwrap_err();
        assert!(!matches!(problem, SettingsProblem::Invalid { .. }), "{name}");
        assert_eq!(problem.to_string(), message, "{name}");
    }
}

#[test]
fn old_entries_are_updated_in_place() {
    for (name, bytes) in read_fixtures("ours") {
        let entries = entry_for_event("Stop");
        let outcome = install_hooks(Some(&bytes), &HookLocation::CLAUDE_CODE, &entries).unwrap();
        assert!(outcome.has_changed(), "{name}");
        let found = find_thru_hooks(&outcome.bytes, &HookLocation::CLAUDE_CODE).unwrap();
        assert_eq!(found.len(), 1, "{name}");
        assert_eq!((&found[0].command, found[0].timeout), (&entries[0].command, Some(10)), "{name}");
        let again = install_hooks(Some(&outcome.bytes), &HookLocation::CLAUDE_CODE, &entries).unwrap();
        assert_eq!(again.bytes, outcome.bytes, "{name}");
        let (from_old, from_new) = (
            uninstall_hooks(&bytes, &HookLocation::CLAUDE_CODE).unwrap(),
            uninstall_hooks(&outcome.bytes, &HookLocation::CLAUDE_CODE).unwrap(),
        );
        assert_eq!(from_old.bytes, from_new.bytes, "{name}");
        assert!(parse_jsonc(str::from_utf8(&from_old.bytes).unwrap()).is_some(), "{name}");
    }
}

#[track_caller]
fn check_install(old: &str, entries: &[HookEntry], new: &str, what: &[HookChangeKind]) {
    let outcome = install_hooks(Some(old.as_bytes()), &HookLocation::CLAUDE_CODE, entries).unwrap();
    assert_eq!(String::from_utf8_lossy(&outcome.bytes), new);
    assert_eq!(outcome.changes.iter().map(|change| change.kind).collect::<Vec<_>>(), what);
}

#[track_caller]
fn check_uninstall(old: &str, new: &str) {
    let outcome = uninstall_hooks(old.as_bytes(), &HookLocation::CLAUDE_CODE).unwrap();
    assert_eq!(String::from_utf8_lossy(&outcome.bytes), new);
}

#[test]
fn only_the_values_that_differ_change() {
    let ours = |program: &str, time: &str| {
        format!(
            r#"{{"hooks":{{"Stop":[{{"hooks":[{{"type":"command" , "command":"{program}", "args":["hook", "claude-code","Stop"], "async":true, "timeout":{time}}} // !
            ]}}]}}}}"#
        )
    };
    let program = "/home/me/.local/bin/thru";
    check_install(
        &ours("/old/thru", "10"),
        &entry_for_event("Stop"),
        &ours(program, "10"),
        &[HookChangeKind::Updated],
    );
    check_install(
        &ours(program, "2.5"),
        &entry_for_event("Stop"),
        &ours(program, "10"),
        &[HookChangeKind::Updated],
    );
    check_install(
        &ours("/old/thru", "99"),
        &entry_for_event("Stop"),
        &ours(program, "10"),
        &[HookChangeKind::Updated],
    );
    check_install(
        &ours(program, "10"),
        &entry_for_event("Stop"),
        &ours(program, "10"),
        &[HookChangeKind::Kept],
    );
}

#[test]
fn entries_no_longer_wanted_are_removed() {
    let old = install_hooks(Some(b"{\"a\": 1}\n"), &HookLocation::CLAUDE_CODE, &claude_code_entries())
        .unwrap()
        .bytes;
    let fewer = install_hooks(Some(&old), &HookLocation::CLAUDE_CODE, &entry_for_event("Stop")).unwrap();
    assert_eq!(
        fewer.bytes,
        install_hooks(Some(b"{\"a\": 1}\n"), &HookLocation::CLAUDE_CODE, &entry_for_event("Stop"))
            .unwrap()
            .bytes
    );
    assert_eq!(fewer.changes.iter().filter(|change| change.kind == HookChangeKind::Removed).count(), 5);
    let none = install_hooks(Some(&old), &HookLocation::CLAUDE_CODE, &[]).unwrap();
    assert_eq!(none.bytes, b"{\"a\": 1}\n");
}

/// Our hooks record the state of the original file. When hooks of a later version replace them, the new hooks must
/// record the same state.
#[test]
fn upgrades_end_where_they_began() {
    for (name, bytes) in read_fixtures("valid") {
        let first =
            install_hooks(Some(&bytes), &HookLocation::CLAUDE_CODE, &entry_for_event("Stop")).unwrap().bytes;
        let second =
            install_hooks(Some(&first), &HookLocation::CLAUDE_CODE, &claude_code_entries()).unwrap().bytes;
        let third = install_hooks(Some(&second), &HookLocation::CLAUDE_CODE, &claude_code_entries()[1..])
            .unwrap()
            .bytes;
        for (step, file) in [first, second, third].into_iter().enumerate() {
            let back = uninstall_hooks(&file, &HookLocation::CLAUDE_CODE).unwrap().bytes;
            assert_eq!(
                String::from_utf8_lossy(&back),
                String::from_utf8_lossy(&bytes),
                "{name}, step {step}"
            );
        }
    }
}

/// Claude Code rewrites its settings when a user allows a tool. The white space changes, but the order of the keys in
/// our hooks stays the same. `uninstall_hooks` uses this order to determine what the file contained before the
/// installation.
#[test]
fn survives_being_written_anew() {
    let cases =
        ["{}", "{\"hooks\":{}}", "{\"hooks\":{\"Stop\":[]}}", "{\"a\":1}", "{\"a\":1,\"hooks\":{}}", ""];
    for old in cases {
        let new = install_hooks(Some(old.as_bytes()), &HookLocation::CLAUDE_CODE, &entry_for_event("Stop"))
            .unwrap()
            .bytes;
        let value = parse_jsonc(str::from_utf8(&new).unwrap()).unwrap();
        for anew in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let back = uninstall_hooks(anew.as_bytes(), &HookLocation::CLAUDE_CODE).unwrap();
            assert_eq!(parse_jsonc(str::from_utf8(&back.bytes).unwrap()), parse_jsonc(old), "{old}: {anew}");
            assert_eq!(back.is_now_blank, old.is_empty());
        }
    }
}

#[test]
fn a_missing_file_is_created_with_indentation() {
    let outcome = install_hooks(None, &HookLocation::CLAUDE_CODE, &claude_code_entries()[..2]).unwrap();
    assert_eq!(
        String::from_utf8(outcome.bytes).unwrap(),
        r#"{
  "hooks": {
    "Stop": [
      {
        "hooks": [
          {
            "timeout": 10,
            "type": "command",
            "command": "/home/me/.local/bin/thru",
            "args": ["hook", "claude-code", "Stop"]
          }
        ]
      }
    ],
    "PostToolUse": [
      {
        "matcher": "*",
        "hooks": [
          {
            "timeout": 10,
            "type": "command",
            "command": "/home/me/.local/bin/thru",
            "args": ["hook", "claude-code", "PostToolUse"]
          }
        ]
      }
    ]
  }
}
"#
    );
    assert!(install_hooks(None, &HookLocation::CLAUDE_CODE, &[]).unwrap().is_now_blank);
}

#[test]
fn new_entries_follow_the_formatting_of_the_file() {
    let hook = |event: &str| {
        format!(
            r#"{{"type": "command", "command": "/home/me/.local/bin/thru", "args": ["hook", "claude-code", "{event}"], "timeout": 10}}"#
        )
    };
    let stop = hook("Stop");
    let minified = stop.replace(": ", ":").replace(", ", ",");
    let cases = [
        (r#"{"a":1}"#, format!(r#"{{"a":1,"hooks":{{"Stop":[{{"hooks":[{minified}]}}]}}}}"#)),
        (r#"{ "a": 1 }"#, format!(r#"{{ "a": 1, "hooks": {{"Stop": [{{"hooks": [{stop}]}}]}} }}"#)),
        (r#"{"a": [1,],}"#, format!(r#"{{"a": [1,], "hooks": {{"Stop": [{{"hooks": [{stop}]}}]}},}}"#)),
        (
            "{\n  \"hooks\": {\n    \"Stop\": [{\"hooks\": []}] // c\n  }\n}",
            format!(
                "{{\n  \"hooks\": {{\n    \"Stop\": [{{\"hooks\": []}}, {{\"hooks\": [{stop}]}}] // c\n  }}\n}}"
            ),
        ),
        (
            "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": []}, // c\n    ]\n  }\n}",
            format!(
                "{{\n  \"hooks\": {{\n    \"Stop\": [\n      {{\"hooks\": []}}, // c\n      {{\"hooks\": [{stop}]}},\n    ]\n  }}\n}}"
            ),
        ),
    ];
    for (old, new) in cases {
        check_install(old, &entry_for_event("Stop"), &new, &[HookChangeKind::Added]);
    }
    let tabs = "{\n\t\"a\": 1 // one\n}\n";
    let lines = install_hooks(Some(tabs.as_bytes()), &HookLocation::CLAUDE_CODE, &entry_for_event("Stop"))
        .unwrap()
        .bytes;
    let lines = String::from_utf8(lines).unwrap();
    assert!(lines.starts_with(
        "{\n\t\"a\": 1, // one\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{\n\t\t\t\t\"hooks\": [\n"
    ));
    assert!(lines.ends_with("\n\t\t\t}\n\t\t]\n\t}\n}\n"));
}

#[test]
fn keeps_what_was_added_to_a_file_of_ours() {
    let ours = String::from_utf8(
        install_hooks(None, &HookLocation::CLAUDE_CODE, &entry_for_event("Stop")).unwrap().bytes,
    )
    .unwrap();
    check_uninstall(&ours, "");
    check_uninstall(&ours.replacen('{', "{\n  \"model\": \"opus\",", 1), "{\n  \"model\": \"opus\"\n}\n");
    check_uninstall(&ours.replacen('{', "{ // mine", 1), "{ // mine\n}\n");
    check_uninstall(&format!("// mine\n{ours}"), "// mine\n{}\n");
    check_uninstall(&format!("{ours}// mine"), "{}\n// mine");
    check_uninstall(&format!("\n{ours}\n"), "\n\n");
}

#[test]
fn leaves_what_was_edited_since() {
    let stop = r#"{"hooks": [{"type": "command", "command": "/x/thru", "args": ["hook", "c", "Stop"], "timeout": 1}]}"#;
    let theirs = r#"{"hooks": [{"type": "command", "command": "mine"}]}"#;
    let ours = &stop[11..stop.len() - 2];
    let cases = [
        // Other groups are before, after or on both sides of our group.
        (format!("[{theirs}, {stop}]"), Some(format!("[{theirs}]"))),
        (format!("[{stop}, {theirs}]"), Some(format!("[{theirs}]"))),
        (format!("[{theirs}, {stop}, {theirs}]"), Some(format!("[{theirs}, {theirs}]"))),
        // Another hook is in our group.
        (
            format!(r#"[{{"hooks": [{ours}, {{"command": "mine"}}]}}]"#),
            Some(r#"[{"hooks": [{"command": "mine"}]}]"#.into()),
        ),
        (
            format!(r#"[{{"hooks": [{{"command": "mine"}}, {ours}]}}]"#),
            Some(r#"[{"hooks": [{"command": "mine"}]}]"#.into()),
        ),
        // There are comments around our group.
        (format!("[ // why\n  {stop} // because\n]"), Some("[ // why\n   // because\n]".into())),
        (format!("[ // why\n  {stop}, {theirs}\n]"), Some(format!("[ // why\n   {theirs}\n]"))),
        (format!("[ // why\n  {stop},\n  {stop}, {theirs}\n]"), Some(format!("[ // why\n   {theirs}\n]"))),
        (format!("[{theirs}, // why\n  {stop}\n]"), Some(format!("[{theirs} // why\n]"))),
        (
            format!("[{theirs} /* a */, /* b */ {stop} /* c */ ]"),
            Some(format!("[{theirs} /* a */ /* b */ /* c */ ]")),
        ),
        // The array contains only our groups, so the whole event is removed.
        (format!("[\n{stop},\n{stop}\n]"), None),
    ];
    for (old, new) in cases {
        let file = |array: Option<&str>| match array {
            Some(array) => format!("{{\"a\": 1,\n\"hooks\": {{\"Stop\": {array}, \"x\": 1}}}}"),
            None => "{\"a\": 1,\n\"hooks\": {\"x\": 1}}".into(),
        };
        check_uninstall(&file(Some(&old)), &file(new.as_deref()));
    }
}

#[test]
fn our_own_commands_are_recognised() {
    let ours = [
        "thru hook claude-code Stop",
        "/usr/local/bin/thru hook droid",
        "'/home/a b/thru' hook droid",
        "\"$HOME/.local/bin/thru\" hook droid Stop 2>/dev/null",
        "/home/a\\ b/thru hook x",
        "'C:\\Program Files\\thru.exe' hook x",
        "exec thru hook x",
        "THRU_LOG=1 thru hook x",
        "command -v thru >/dev/null && thru hook claude-code Stop || true",
        "command -v thru > /dev/null 2>&1 && thru hook x || exit 0",
        "if command -v thru &>/dev/null; then thru hook x; fi",
        "[ -x /opt/thru ] && /opt/thru hook x || :",
        "which thru >/dev/null; thru hook x",
    ];
    let not_ours = [
        "",
        "thru",
        "thru brief",
        "thru  --hook",
        "echo thru hook",
        "thru-hook",
        "thru.sh hook",
        "/opt/thru/run hook",
        "./mine.sh && thru hook x",
        "thru hook x && ./mine.sh",
        "thru hook x | tee log",
        "thru hook x; rm -f lock",
        "thru hook $(./mine.sh)",
        "thru hook \"`./mine.sh`\"",
        "(thru hook x)",
        "sh -c 'thru hook x'",
        "thru 'hook",
        "'thru hook x'",
        "command -v thru && echo yes",
    ];
    for line in ours {
        assert!(HookCommand::Shell(line.into()).is_thru_hook(), "{line}");
    }
    for line in not_ours {
        assert!(!HookCommand::Shell(line.into()).is_thru_hook(), "{line}");
    }
    let exec = |program: &str, args: &[&str]| HookCommand::Exec {
        program: program.into(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
    };
    assert!(exec("/a b/thru", &["hook", "x"]).is_thru_hook());
    assert!(exec("thru", &["hook"]).is_thru_hook());
    assert!(!exec("thru", &[]).is_thru_hook());
    assert!(!exec("thru", &["brief"]).is_thru_hook());
    assert!(!exec("/a/thru2", &["hook"]).is_thru_hook());
    assert_eq!(
        HookCommand::shell_command("/a b/thru", &["hook", "x"]),
        HookCommand::Shell("'/a b/thru' hook x".into())
    );
    assert_eq!(HookCommand::shell_command("it's", &[""]), HookCommand::Shell("'it'\\''s' ''".into()));
    assert!(HookCommand::shell_command("/it's/thru", &["hook", "$x"]).is_thru_hook());
    assert!(HookCommand::shell_command_if_installed(&["hook", "claude-code", "Stop"]).is_thru_hook());
}

#[test]
fn sees_the_off_switch() {
    let cases = [
        ("{\n\"disableAllHooks\": true}", Some(2)),
        ("{\"disableAllHooks\": false}", None),
        ("{\"disableAllHooks\": \"true\"}", None),
        ("{\"a\": {\"disableAllHooks\": true}}", None),
        ("{\"disableAllHooks\": true, \"disableAllHooks\": false}", None),
        ("{\"disableAllHooks\": false, // off\n\"disableAllHooks\": true}", Some(2)),
        ("", None),
    ];
    for (text, line) in cases {
        assert_eq!(
            line_disabling_hooks(text.as_bytes(), &HookLocation::CLAUDE_CODE).unwrap(),
            line,
            "{text}"
        );
        let droid = text.replace("disableAllHooks", "hooksDisabled");
        assert_eq!(
            line_disabling_hooks(droid.as_bytes(), &HookLocation::DROID_SETTINGS).unwrap(),
            line,
            "{droid}"
        );
        assert_eq!(
            line_disabling_hooks(droid.as_bytes(), &HookLocation::CLAUDE_CODE).unwrap(),
            None,
            "{droid}"
        );
    }
}

#[test]
fn finds_line_matcher_and_time() {
    let new =
        install_hooks(Some(b"{\n}\n"), &HookLocation::CLAUDE_CODE, &claude_code_entries()).unwrap().bytes;
    let found = find_thru_hooks(&new, &HookLocation::CLAUDE_CODE).unwrap();
    assert_eq!(found.len(), 6);
    assert_eq!((found[0].line, found[1].matcher.as_deref(), found[2].timeout), (6, Some("*"), Some(10)));
}

#[test]
fn depth_is_refused_and_size_is_not() {
    let deep = format!("{{\"a\": {}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    let problem =
        install_hooks(Some(deep.as_bytes()), &HookLocation::CLAUDE_CODE, &claude_code_entries()).unwrap_err();
    assert!(matches!(problem, SettingsProblem::Invalid { line: 1, column: 518, .. }), "{problem}");
    let fine = format!("{{\"a\": {}{}}}", "[".repeat(100), "]".repeat(100));
    check_round_trip("100 deep", fine.as_bytes(), &HookLocation::CLAUDE_CODE, &claude_code_entries());

    let rule = "      \"Bash(cargo test --package some-package-with-a-long-name:*)\", // ✓\n";
    let large = format!("{{\n  \"a\": [\n{}    null\n  ]\n}}\n", rule.repeat(5_000_000 / rule.len()));
    let started = std::time::Instant::now();
    let new = install_hooks(Some(large.as_bytes()), &HookLocation::CLAUDE_CODE, &claude_code_entries())
        .unwrap()
        .bytes;
    assert!(uninstall_hooks(&new, &HookLocation::CLAUDE_CODE).unwrap().bytes == large.as_bytes());
    assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
}

#[test]
fn the_diff_shows_the_inserted_lines() {
    let old = "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3,\n  \"d\": 4\n}\n";
    assert_eq!(unified_diff(old, old), "");
    assert_eq!(
        unified_diff(old, &old.replace("4\n", "4,\n  \"e\": 5\n")),
        "@@ -2,5 +2,6 @@\n   \"a\": 1,\n   \"b\": 2,\n   \"c\": 3,\n-  \"d\": 4\n+  \"d\": 4,\n+  \"e\": 5\n }\n"
    );
    assert_eq!(unified_diff("", "a\nb\n"), "@@ -0,0 +1,2 @@\n+a\n+b\n");
    assert_eq!(unified_diff("a", "a\n"), "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
    let many: String = (0..100).map(|n| format!("{n}\n")).collect();
    let apart = many.replace("\n10\n", "\nten\n").replace("\n90\n", "\nninety\n");
    assert_eq!(unified_diff(&many, &apart).matches("@@ -").count(), 2);
    // The files differ too much for a minimal diff, but the diff must still be correct.
    let (a, b): (String, String) = ((0..3000).map(|n| format!("{n}\n")).collect(), "x\n".repeat(3000));
    assert_eq!(apply_diff(&a, &unified_diff(&a, &b)), b);
}

/// `count_insertions` must return `None` if a change does more than insert text.
#[test]
fn the_oracle_detects_wrong_edits() {
    assert_eq!(count_insertions(b"ac", b"abc"), Some(1));
    assert_eq!(count_insertions(b"ace", b"abcde"), Some(2));
    assert_eq!(count_insertions(b"abc", b"abc"), Some(0));
    assert_eq!(count_insertions(b"", b"x"), Some(1));
    assert_eq!(count_insertions(b"abc", b"ac"), None);
    assert_eq!(count_insertions(b"abc", b"acb"), None);
}
