//! The examples in `docs/` are real. The tests run their commands in order and compare the output with the page.

use std::fs;
use std::path::Path;

use crate::env::TestEnv;

/// A script that acts as an agent and writes the file that its prompt names. The first attempt to write
/// `review-style.md` fails.
const AGENT_SCRIPT: &str = "#!/bin/sh
file=$(grep -o '/[^ `]*/review-[a-z]*\\.md' | head -n 1)
case $file in *style*) [ -e \"$HOME/failed\" ] || { : >\"$HOME/failed\"; exit 1; } ;; esac
printf '# Review\\n\\nNothing to object to.\\n\\n<!-- AGENT_COMPLETE -->\\n' >\"$file\"
";

#[test]
fn the_example_on_the_page_about_gates_works() {
    use std::os::unix::fs::PermissionsExt;
    let env = TestEnv::with_root();
    env.write_file("project/plan.md", "# Plan\n");
    env.write_file("bin/claude", AGENT_SCRIPT);
    fs::set_permissions(env.base_folder().join("bin/claude"), fs::Permissions::from_mode(0o755)).unwrap();
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

/// Splits a command into words as a shell does. Only single quotes are supported.
fn split_shell_words(command: &str) -> Vec<String> {
    let parts = command.split('\'').enumerate();
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
