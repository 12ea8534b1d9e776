//! The examples in `docs/` are real. The tests run their commands in order and compare the output with the page.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::env::TestEnv;

const SESSION_ID: &str = "9487a9f7-611a-47e9-8202-df72ea246773";

/// A script that acts as an agent and writes the file that its prompt names. The first attempt to write
/// `review-style.md` fails.
const AGENT_SCRIPT: &str = "#!/bin/sh
file=$(grep -o '/[^ `]*/review-[a-z]*\\.md' | head -n 1)
case $file in *style*) [ -e \"$HOME/failed\" ] || { : >\"$HOME/failed\"; exit 1; } ;; esac
printf '# Review\\n\\nNothing to object to.\\n\\n<!-- AGENT_COMPLETE -->\\n' >\"$file\"
";

#[test]
fn the_example_on_the_page_about_gates_works() {
    let env = TestEnv::with_root();
    env.write_file("project/plan.md", "# Plan\n");
    env.write_file("bin/claude", AGENT_SCRIPT);
    make_executable(&env.base_folder().join("bin/claude"));
    let path = format!("{}:/usr/bin:/bin", env.base_folder().join("bin").display());
    let project = env.project_folder().to_string_lossy().into_owned();
    let examples = examples_of_page("gates.md");
    assert_eq!(examples.len(), 3, "{examples:?}");
    for (command, shown) in examples {
        let words = split_shell_words(&command);
        let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        let output = env.thru_call(&words).with_variable("PATH", &path).run().assert_ok();
        let printed = format!("{}{}", output.stderr, output.stdout).replace(&project, "~/code/my-project");
        assert_eq!(mask_durations(&shown), mask_durations(&printed), "$ {command}");
    }
}

/// Runs a command of a page at the given time. Returns what it prints, with the path that the page shows for the project
/// and without white space at the end of a line.
fn run_example(env: &TestEnv, command: &str, at: &str) -> String {
    let words = split_shell_words(command);
    let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    let output = env.thru_call(&words).with_variable("THROUGHLINE_NOW", at).run();
    let printed = format!("{}{}", output.stdout, output.stderr);
    let printed = printed.replace(&*env.project_folder().to_string_lossy(), "~/code/my-project");
    printed.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The indented example of the page about plans.
#[test]
fn the_example_on_the_page_about_plans_works() {
    let env = TestEnv::with_root();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/plan.md");
    let page = fs::read_to_string(path).unwrap();
    let block = page.lines().skip_while(|line| !line.starts_with("    thru ")).map(|line| line.trim_end());
    let block: Vec<&str> = block.take_while(|line| line.is_empty() || line.starts_with("    ")).collect();
    let commands: Vec<&str> =
        block.iter().map(|line| line.trim()).filter(|line| line.starts_with("thru ")).collect();
    assert_eq!(commands.len(), 4, "{block:?}");
    let printed =
        commands.iter().map(|command| run_example(&env, command, crate::env::TEST_TIME)).last().unwrap();
    let shown = block
        .iter()
        .skip_while(|line| !line.contains("Ship the parser  "))
        .map(|line| line.get(4..).unwrap_or(""));
    let shown = shown.collect::<Vec<_>>().join("\n");
    assert_eq!(shown.trim_end(), printed.trim_end());
}

#[test]
fn the_example_on_the_page_about_loops_works() {
    let env = TestEnv::with_root();
    env.run_thru(&["install", "claude-code", "--local"]).assert_ok();
    let examples = examples_of_page("loops.md");
    assert_eq!(examples.len(), 2, "{examples:?}");
    let (command, shown) = &examples[0];
    assert_eq!(&run_example(&env, command, "2026-11-15T19:22:00Z"), shown, "$ {command}");
    env.write_file("project/src/parse.rs", "old\n");
    // The validator is a script, so that no toolchain is needed.
    env.write_file("bin/cargo", "#!/bin/sh\nexit 101\n");
    make_executable(&env.base_folder().join("bin/cargo"));
    let path = format!("{}:/usr/bin:/bin", env.base_folder().join("bin").display());
    let fire = |at: &str, event: &str, more: Value| {
        let payload = env.event_payload(SESSION_ID, event, more).to_string();
        let call = env.hook_call(event, payload).with_variable("PATH", &path);
        call.with_variable("THROUGHLINE_NOW", format!("2026-11-15T{at}Z")).run().assert_ok();
    };
    let calls = |at: &str, from: usize, to: usize| {
        for number in from..to {
            let call = json!({"tool_name": "Bash", "tool_use_id": format!("b{number}"), "tool_input": {"command": "true"}});
            fire(at, "PostToolUse", call);
        }
    };
    fire("19:22:08", "SessionStart", json!({"source": "startup"}));
    calls("19:23:00", 0, 4);
    fire("19:23:10", "Stop", json!({"last_assistant_message": "More remains."}));
    calls("19:30:00", 4, 12);
    let input = json!({"file_path": env.project_folder().join("src/parse.rs"), "old_string": "old", "new_string": "new"});
    let edit = json!({"tool_name": "Edit", "tool_use_id": "e1", "tool_input": input, "tool_response": {}});
    fire("19:31:00", "PostToolUse", edit);
    fire("19:31:42", "Stop", json!({"last_assistant_message": "<promise>ALL TESTS PASS</promise>"}));
    let (command, shown) = &examples[1];
    let printed = run_example(&env, command, "2026-11-15T19:32:00Z").replace(SESSION_ID, &SESSION_ID[..8]);
    assert_eq!(&printed, shown, "$ {command}");
}

#[test]
fn the_example_on_the_page_about_manifests_works() {
    let env = TestEnv::with_root();
    let examples = examples_of_page("manifests.md");
    let commands: Vec<&str> = examples.iter().map(|(command, _)| command.as_str()).collect();
    assert_eq!(commands.len(), 4, "{commands:?}");
    assert!(commands[1].starts_with("$EDITOR "), "{commands:?}");
    let (at, folder) = ("2026-11-15T22:51:00Z", "project/.agent/context/workstreams/24-new-parser");
    let run = |number: usize| {
        let (command, shown) = &examples[number];
        assert_eq!(&run_example(&env, command, at), shown, "$ {command}");
    };
    run(0);
    let steps: String = (2..=12).map(|number| format!("- [ ] step {number}\n")).collect();
    env.write_file(format!("{folder}/steps.md"), format!("- [ ] write the lexer\n{steps}"));
    let overview = env.write_file(format!("{folder}/overview.md"), "# Overview\n");
    run(2);
    let read = json!({"tool_name": "Read", "tool_use_id": "r1", "tool_input": {"file_path": overview}, "tool_response": {}});
    let payload = env.event_payload(SESSION_ID, "PostToolUse", read).to_string();
    env.hook_call("PostToolUse", payload).with_variable("THROUGHLINE_NOW", at).run().assert_ok();
    run(3);
}

/// The page leaves out parts of the prompt, and shows `...` in their place.
#[test]
fn the_examples_on_the_page_about_packets_work() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    for path in ["src/parse.rs", "tests/parse.rs"] {
        env.write_file(format!("project/{path}"), "\n");
    }
    env.run_git(&["add", "."]);
    env.run_git(&["commit", "--quiet", "-m", "begin"]);
    let fire = |event: &str, more: Value| {
        let payload = env.event_payload(SESSION_ID, event, more).to_string();
        env.hook_call(event, payload)
            .with_variable("THROUGHLINE_NOW", "2026-11-15T22:51:00Z")
            .run()
            .assert_ok();
    };
    fire("SessionStart", json!({"source": "startup"}));
    fire("UserPromptSubmit", json!({"prompt": "Make the parser accept trailing commas"}));
    for (id, path) in [("t1", "src/parse.rs"), ("t2", "tests/parse.rs")] {
        let input = json!({"file_path": env.project_folder().join(path)});
        fire(
            "PostToolUse",
            json!({"tool_name": "Edit", "tool_use_id": id, "tool_input": input, "tool_response": {}}),
        );
    }
    let test = json!({"tool_name": "Bash", "tool_use_id": "t3", "tool_input": {"command": "cargo test"},
        "error": "Exit code 101\nerror: test trailing_comma failed"});
    fire("PostToolUseFailure", test);
    let examples = examples_of_page("packets.md");
    assert_eq!(examples.len(), 2, "{examples:?}");
    let (command, shown) = &examples[0];
    let printed = run_example(&env, command, "2026-11-15T22:52:03Z").replace(SESSION_ID, &SESSION_ID[..8]);
    assert_eq!(&printed, shown, "$ {command}");
    for number in 1..=3 {
        env.write_file(format!("project/later-{number}"), "\n");
        env.run_git(&["add", "."]);
        env.run_git(&["commit", "--quiet", "-m", "later"]);
    }
    let (command, shown) = &examples[1];
    let printed = mask_commit_ids(&run_example(&env, command, "2026-11-16T01:52:03Z"));
    let shown = mask_commit_ids(shown);
    let parts: Vec<&str> = shown.split("...\n").collect();
    assert_eq!(parts.len(), 3, "{shown}");
    for part in parts.iter().map(|part| part.trim_end()) {
        assert!(printed.contains(part), "{part}\n\nis not in\n\n{printed}");
    }
}

#[test]
fn the_example_on_the_page_about_roles_works() {
    let env = TestEnv::with_root();
    let at = "2026-11-15T19:24:00Z";
    let payload = env.event_payload(SESSION_ID, "SessionStart", json!({"source": "startup"})).to_string();
    env.hook_call("SessionStart", payload).with_variable("THROUGHLINE_NOW", at).run();
    let examples = examples_of_page("roles.md");
    let named: Vec<String> = examples
        .iter()
        .map(|(command, _)| split_shell_words(command)[..3.min(split_shell_words(command).len())].join(" "))
        .collect();
    let expected = [
        "thru context new",
        "thru role bind",
        "$EDITOR .agent/context/agents/tester.context.md",
        "thru context validate",
        "thru context fix",
        "thru lifecycle status",
        "thru recover tester",
    ];
    assert_eq!(named, expected);
    let run = |number: usize| run_example(&env, &examples[number].0, at);
    assert!(run(0).contains("tester.context.md"));
    let bind = env.thru_call(&["role", "bind", "tester"]).with_variable("CLAUDE_CODE_SESSION_ID", SESSION_ID);
    bind.run().assert_ok();
    let good = crate::roles::GOOD_CONTEXT_TEXT.replace("2026-11-15T18:00Z", "2026-11-15T19:22Z");
    env.write_file("project/README.md", "hello\n");
    env.write_file(crate::roles::CONTEXT_FILE, good.replacen('—', "-", 1));
    assert_eq!(run(3), examples[3].1);
    let fixed = run(4);
    assert!(fixed.contains("+# Test Runner — Session Context"), "{fixed}");
    env.thru_call(&["lifecycle", "save", "tester"]).with_variable("THROUGHLINE_NOW", at).run().assert_ok();
    assert_eq!(run(5), examples[5].1);
    // The same state gives the same bytes. The first call has changed the state.
    run(6);
    let recovered = run(6);
    assert!(recovered.contains("# Test Runner — Session Context") && recovered == run(6), "{recovered}");
}

/// Replaces the ids of commits, which differ from run to run.
fn mask_commit_ids(text: &str) -> String {
    let is_id = |word: &str| word.len() >= 10 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let line = |line: &str| {
        let words = line.split(' ').map(|word| match is_id(word.trim_end_matches([':', ','])) {
            true => word.replace(word.trim_end_matches([':', ',']), "COMMIT"),
            false => word.to_owned(),
        });
        words.collect::<Vec<_>>().join(" ") + "\n"
    };
    text.lines().map(line).collect()
}

fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Returns the commands of a page, each with the output that the page shows below it.
fn examples_of_page(page: &str) -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    let text = fs::read_to_string(path).unwrap();
    let mut found: Vec<(String, String)> = Vec::new();
    let mut indent = None;
    let mut continues = false;
    for line in text.lines() {
        match (indent, line.trim_start().strip_prefix("```")) {
            (None, Some("console")) => indent = Some(line.len() - line.trim_start().len()),
            (Some(_), Some(_)) => indent = None,
            (Some(indent), None) => {
                let line = line.get(indent..).unwrap_or_default();
                let (text, more) = line.strip_suffix('\\').map_or((line, false), |text| (text, true));
                match (continues, text.strip_prefix("$ ")) {
                    (true, _) => found.last_mut().unwrap().0 += text.trim_start(),
                    (false, Some(command)) => found.push((command.to_owned(), String::new())),
                    (false, None) => found.last_mut().unwrap().1 += &format!("{line}\n"),
                }
                continues = more;
            }
            (None, _) => {}
        }
    }
    found
}

/// Splits a command into words as a shell does. Quotes are not nested, and a comment ends the command.
fn split_shell_words(command: &str) -> Vec<String> {
    let command = command.split_once(" #").map_or(command, |(command, _)| command);
    let parts = command.split(['\'', '"']).enumerate();
    let words = parts.flat_map(|(number, part)| match number % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect(),
        _ => vec![part.to_owned()],
    });
    words.collect()
}

/// Replaces the running time of an agent, which differs from run to run.
fn mask_durations(text: &str) -> String {
    let line = |line: &str| match line.split_once(" after ") {
        Some((before, rest)) => {
            format!("{before} after … s{}\n", rest.split_once(" s").map_or("", |(_, end)| end))
        }
        None => format!("{line}\n"),
    };
    text.trim_end().lines().map(line).collect()
}
