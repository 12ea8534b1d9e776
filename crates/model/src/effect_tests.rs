//! Commands with their outputs and effects. The outputs have the format of the real programs.

use super::*;

#[path = "effect_rows.rs"]
mod rows;

/// Formats an effect as `kind id what @place <link>`, without empty parts.
fn describe_effect(effect: &Effect) -> String {
    let kind = serde_json::to_string(&effect.kind).unwrap();
    let mut told = kind.trim_matches('"').to_owned();
    for (before, text, after) in [
        (" ", &effect.id, ""),
        (" “", &effect.what, "”"),
        (" @", &effect.place, ""),
        (" <", &effect.link, ">"),
        (" in ", &effect.folder, ""),
    ] {
        if !text.is_empty() {
            told += &format!("{before}{text}{after}");
        }
    }
    told
}

fn completed_call<'a>(command: &'a str, ok: bool, output: &'a str) -> CompletedCall<'a> {
    CompletedCall { tool: "Bash", command, tool_input: "", output, succeeded: ok }
}

#[test]
fn every_row_of_the_table() {
    let mut wrong = String::new();
    for (line, command, ok, output, expected) in rows::COMMAND_CASES {
        let found: Vec<String> =
            effects_of_call(&completed_call(command, *ok, output)).iter().map(describe_effect).collect();
        if found != *expected {
            wrong += &format!("\n{line}: {command}\n  expected {expected:?}\n  found    {found:?}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(rows::COMMAND_CASES.len() >= 120, "{} rows", rows::COMMAND_CASES.len());
}

#[test]
fn whatever_has_an_effect_is_looked_into() {
    for (line, command, _, _, expected) in rows::COMMAND_CASES {
        assert!(expected.is_empty() || may_have_effect(command), "{line}: {command}");
    }
    for idle in ["ls -la", "cargo test", "git log --oneline", "npm run build", "rg commits src", ""] {
        assert!(!may_have_effect(idle), "{idle}");
    }
}

#[test]
fn effects_of_tools_are_recognised_by_name() {
    for (tool, asked, ok, output, expected) in rows::TOOL_CASES {
        let made = CompletedCall { tool, command: "", tool_input: asked, output, succeeded: *ok };
        let found: Vec<String> = effects_of_call(&made).iter().map(describe_effect).collect();
        assert_eq!(found, *expected, "{tool}");
        assert!(expected.is_empty() || tool_acts(tool), "{tool}");
    }
}

#[test]
fn any_text_is_survived() {
    for text in [
        "{",
        "[",
        "\"",
        "{\"id\":",
        "[x 1234567] ",
        " * [new branch]",
        "To ",
        "Updating ..",
        "✓ pull request #",
        "é -> ü",
        "  é..ü a -> b",
    ] {
        for command in [
            "git commit -m",
            "git push",
            "gh api x -f a=b",
            "gh pr merge",
            "curl -d x",
            "kubectl apply",
            "git branch -D é",
        ] {
            effects_of_call(&completed_call(command, true, text));
            effects_of_call(&completed_call(&format!("{command} {text}"), false, &text.repeat(50)));
        }
    }
    let long = format!("{{\"a\":\"{}\",\"id\":7}}", "x".repeat(100_000));
    assert_eq!(
        effects_of_call(&completed_call("gh api repos/o/r/issues/1/comments -f body=x", true, &long))[0].id,
        "7"
    );
    assert_eq!(
        effects_of_call(&completed_call(&"git push; ".repeat(1_000), true, "")).len(),
        MAX_EFFECTS_PER_CALL
    );
}

#[test]
fn nothing_is_kept_longer_than_its_limit() {
    let output = format!("[main 1a2b3c4] {}é", "x".repeat(199));
    let effects = effects_of_call(&completed_call("git commit -m x", true, &output));
    assert_eq!((effects.len(), effects[0].what.len()), (1, 199));
}
