//! Tests for the files that a manifest loads. A brief quotes their text with its white space unchanged.

use super::*;

const FOLDER: &str = "project/.agent/context/workstreams/01-indent";

/// Creates a workstream that loads this file. Returns the brief after a compaction, followed by the output of
/// `thru resume gate`.
fn brief_and_gate(name: &str, text: &str) -> (String, String) {
    let env = TestEnv::with_root();
    env.write_file(format!("{FOLDER}/{name}"), text);
    env.run_thru(&["resume", "new", "01-indent", "--phase", "execution", "--load", name]).assert_ok();
    start_session(&env, "s1");
    env.run_thru(&["resume", "use", "01", "--session", "s1"]).assert_ok();
    env.fire_event("s1", "PreCompact", json!({"trigger": "auto"}));
    let brief = env.fire_event("s1", "SessionStart", json!({"source": "compact"})).context_for_model();
    let sent = env.run_thru(&["brief", "--as-sent", "--event", "compact", "--session", "s1"]).assert_ok();
    assert!(sent.stdout.contains(brief.trim_end()), "{sent}\n{brief}");
    (brief, env.run_thru(&["resume", "gate", "--session", "s1"]).stdout)
}

#[test]
fn indentation_and_tabs_of_a_loaded_file_arrive_unchanged() {
    let text = "a = [\n                16,\n                    20,\n                        24]\n\n\tone\n\t\t\t\t\tfive\tx  \n";
    let (brief, gate) = brief_and_gate("conf.py", text);
    let quoted: String = text
        .lines()
        .map(|line| if line.is_empty() { "  >\n".to_owned() } else { format!("  > {line}\n") })
        .collect();
    assert!(brief.contains(&format!("conf.py:\n{quoted}")), "{brief}");
    assert!(gate.contains("given in the brief"), "{gate}");
}

#[test]
fn a_loaded_file_that_was_altered_or_cut_is_not_given() {
    let long: String = (0..400).map(|i| format!("    line {i}\n")).collect();
    for (text, note) in [
        ("a\n\u{1b}[1mb\u{1b}[0m\n", " (without control characters and invisible characters):\n"),
        (&*long, " (only the beginning):\n"),
    ] {
        let (brief, gate) = brief_and_gate("notes.txt", text);
        assert!(brief.contains(&format!("notes.txt{note}")), "{brief}");
        assert!(gate.contains("unread") && !gate.contains("given"), "{gate}");
    }
}
