use super::super::{HookCommand, HookEntry, HookLocation, HookTimeout, TimeoutUnit};
use super::*;

const STATUS_LINE_KEY: &str = "statusLine";

/// Typical files, with and without a status line.
const TEST_FILES: &[&str] = &[
    "",
    "\n",
    "{}",
    "{}\n",
    "{\n}\n",
    "{ }",
    "{\"a\":1}",
    "{\"a\": 1}\n",
    "{\n  \"a\": 1\n}\n",
    "{\r\n\t\"a\": 1,\r\n\t\"b\": {\"c\": []}\r\n}\r\n",
    "{\n  // mine\n  \"a\": 1, // yes\n}\n",
    "{\n  \"hooks\": {}\n}\n",
    "{\"statusLine\":{\"type\":\"command\",\"command\":\"~/bin/line.sh\"}}",
    "{\n  \"statusLine\": {\n    \"padding\": 0,\n    \"command\": \"printf '%s' \\\"it's $(date)\\\"\",\n    \"type\": \"command\"\n  }\n}\n",
    "{\n    \"model\": \"opus\",\n    \"statusLine\": {\"type\": \"command\", \"command\": \"echo a\\necho b\"} // mine\n}\n",
];

fn bytes_as_text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn hook_entries() -> Vec<HookEntry> {
    vec![HookEntry {
        event: "Stop".into(),
        matcher: None,
        command: HookCommand::Exec {
            program: "/bin/thru".into(),
            args: vec!["hook".into(), "claude-code".into(), "Stop".into()],
        },
        timeout: HookTimeout { seconds: 10, unit: TimeoutUnit::Seconds },
    }]
}

#[test]
fn removing_the_line_restores_every_byte() {
    let place = HookLocation::CLAUDE_CODE;
    for file in TEST_FILES {
        let installed =
            install_status_line(Some(file.as_bytes()), STATUS_LINE_KEY, "/opt/my thru/thru").unwrap();
        assert!(
            is_our_status_line(&installed, STATUS_LINE_KEY).unwrap(),
            "{file:?}: {}",
            bytes_as_text(&installed)
        );
        assert_eq!(
            install_status_line(Some(&installed), STATUS_LINE_KEY, "/opt/my thru/thru").unwrap(),
            installed,
            "twice is once: {file:?}"
        );
        assert_eq!(
            bytes_as_text(&uninstall_status_line(&installed, STATUS_LINE_KEY).unwrap()),
            *file,
            "after {}",
            bytes_as_text(&installed)
        );
        // A different path to the program makes no difference, and neither do hooks in the file.
        let moved = install_status_line(Some(&installed), STATUS_LINE_KEY, "/usr/bin/thru").unwrap();
        assert_eq!(bytes_as_text(&uninstall_status_line(&moved, STATUS_LINE_KEY).unwrap()), *file);
        let hooked =
            super::super::install_hooks(Some(file.as_bytes()), &place, &hook_entries()).unwrap().bytes;
        let both = install_status_line(Some(&hooked), STATUS_LINE_KEY, "/usr/bin/thru").unwrap();
        let without = uninstall_status_line(&both, STATUS_LINE_KEY).unwrap();
        assert_eq!(bytes_as_text(&without), bytes_as_text(&hooked), "{file:?}");
        assert_eq!(bytes_as_text(&super::super::uninstall_hooks(&without, &place).unwrap().bytes), *file);
    }
    assert_eq!(uninstall_status_line(b"{\"a\":1}", STATUS_LINE_KEY).unwrap(), b"{\"a\":1}");
    let none = install_status_line(None, STATUS_LINE_KEY, "/usr/bin/thru").unwrap();
    assert_eq!(
        bytes_as_text(&none),
        "{\n  \"statusLine\": {\n    \"command\": \"/usr/bin/thru statusline\",\n    \"type\": \"command\"\n  }\n}\n"
    );
    assert_eq!(uninstall_status_line(&none, STATUS_LINE_KEY).unwrap(), b"");
}

#[test]
fn the_users_own_command_is_the_argument_of_ours() {
    let file = r#"{"statusLine":{"type":"command","command":"echo it's $HOME | cut -c2-"}}"#;
    let installed = install_status_line(Some(file.as_bytes()), STATUS_LINE_KEY, "/usr/bin/thru").unwrap();
    assert_eq!(
        bytes_as_text(&installed),
        r#"{"statusLine":{"type":"command","command":"/usr/bin/thru statusline --after 'echo it'\\''s $HOME | cut -c2-'"}}"#
    );
}

#[test]
fn what_is_not_ours_to_change_is_left_alone() {
    let refused = [
        ("{\"statusLine\": 7}", "is not an object"),
        ("{\"statusLine\": {\"type\": \"static\", \"text\": \"x\"}}", "has no command"),
        ("{\"statusLine\": {\"type\": \"command\", \"command\": \"a\\/b\"}}", "could not be restored"),
        ("[]", "does not contain a JSON object"),
        ("{", "expected"),
    ];
    for (file, why) in refused {
        let problem = install_status_line(Some(file.as_bytes()), STATUS_LINE_KEY, "/usr/bin/thru")
            .unwrap_err()
            .to_string();
        assert!(problem.contains(why), "{file}: {problem}");
    }
    // A line that also runs another command belongs to the user.
    let theirs = br#"{"statusLine":{"type":"command","command":"thru statusline; date"}}"#;
    assert_eq!(uninstall_status_line(theirs, STATUS_LINE_KEY).unwrap(), theirs);
}

/// A status line in another form is not ours, and must not prevent the removal of our hooks.
#[test]
fn a_line_of_another_shape_is_left_alone() {
    for value in ["null", "\"off\"", "{\"type\": \"static\"}", "{\"type\": \"command\", \"command\": 1}"] {
        let file = format!("{{\"{STATUS_LINE_KEY}\": {value}}}\n");
        assert_eq!(
            uninstall_status_line(file.as_bytes(), STATUS_LINE_KEY).unwrap(),
            file.as_bytes(),
            "{value}"
        );
        assert!(install_status_line(Some(file.as_bytes()), STATUS_LINE_KEY, "thru").is_err(), "{value}");
    }
}
