use super::super::{Command, Entry, HookLocation, Timeout, TimeoutUnit};
use super::*;

const KEY: &str = "statusLine";

/// Files in forms that people use, without a status line and with one.
const FILES: &[&str] = &[
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

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn hook() -> Vec<Entry> {
    vec![Entry {
        event: "Stop".into(),
        matcher: None,
        command: Command::Exec {
            program: "/bin/thru".into(),
            args: vec!["hook".into(), "claude-code".into(), "Stop".into()],
        },
        timeout: Timeout { seconds: 10, unit: TimeoutUnit::Seconds },
    }]
}

#[test]
fn removing_the_line_restores_every_byte() {
    let place = HookLocation::CLAUDE_CODE;
    for file in FILES {
        let installed = install(Some(file.as_bytes()), KEY, "/opt/my thru/thru").unwrap();
        assert!(is_ours(&installed, KEY).unwrap(), "{file:?}: {}", text(&installed));
        assert_eq!(
            install(Some(&installed), KEY, "/opt/my thru/thru").unwrap(),
            installed,
            "twice is once: {file:?}"
        );
        assert_eq!(text(&uninstall(&installed, KEY).unwrap()), *file, "after {}", text(&installed));
        // The same holds with another path of the program, and with hooks in the file.
        let moved = install(Some(&installed), KEY, "/usr/bin/thru").unwrap();
        assert_eq!(text(&uninstall(&moved, KEY).unwrap()), *file);
        let hooked = super::super::install(Some(file.as_bytes()), &place, &hook()).unwrap().bytes;
        let both = install(Some(&hooked), KEY, "/usr/bin/thru").unwrap();
        let without = uninstall(&both, KEY).unwrap();
        assert_eq!(text(&without), text(&hooked), "{file:?}");
        assert_eq!(text(&super::super::uninstall(&without, &place).unwrap().bytes), *file);
    }
    assert_eq!(uninstall(b"{\"a\":1}", KEY).unwrap(), b"{\"a\":1}");
    let none = install(None, KEY, "/usr/bin/thru").unwrap();
    assert_eq!(
        text(&none),
        "{\n  \"statusLine\": {\n    \"command\": \"/usr/bin/thru statusline\",\n    \"type\": \"command\"\n  }\n}\n"
    );
    assert_eq!(uninstall(&none, KEY).unwrap(), b"");
}

#[test]
fn the_users_own_command_is_the_argument_of_ours() {
    let file = r#"{"statusLine":{"type":"command","command":"echo it's $HOME | cut -c2-"}}"#;
    let installed = install(Some(file.as_bytes()), KEY, "/usr/bin/thru").unwrap();
    assert_eq!(
        text(&installed),
        r#"{"statusLine":{"type":"command","command":"/usr/bin/thru statusline --after 'echo it'\\''s $HOME | cut -c2-'"}}"#
    );
}

#[test]
fn what_is_not_ours_to_change_is_left_alone() {
    let refused = [
        ("{\"statusLine\": 7}", "is not an object"),
        ("{\"statusLine\": {\"type\": \"static\", \"text\": \"x\"}}", "has no command"),
        ("{\"statusLine\": {\"type\": \"command\", \"command\": \"a\\/b\"}}", "could not be restored"),
        ("[]", "not an object"),
        ("{", "expected"),
    ];
    for (file, why) in refused {
        let problem = install(Some(file.as_bytes()), KEY, "/usr/bin/thru").unwrap_err().to_string();
        assert!(problem.contains(why), "{file}: {problem}");
    }
    // A line that also runs something else belongs to the user.
    let theirs = br#"{"statusLine":{"type":"command","command":"thru statusline; date"}}"#;
    assert_eq!(uninstall(theirs, KEY).unwrap(), theirs);
}

/// A status line of another shape was never ours, and must not prevent the removal of our hooks.
#[test]
fn a_line_of_another_shape_is_left_alone() {
    for value in ["null", "\"off\"", "{\"type\": \"static\"}", "{\"type\": \"command\", \"command\": 1}"] {
        let file = format!("{{\"{KEY}\": {value}}}\n");
        assert_eq!(uninstall(file.as_bytes(), KEY).unwrap(), file.as_bytes(), "{value}");
        assert!(install(Some(file.as_bytes()), KEY, "thru").is_err(), "{value}");
    }
}
