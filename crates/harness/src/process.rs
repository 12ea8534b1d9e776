//! Recognises the processes of harnesses.

use crate::{HARNESSES, Harness};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessDescription {
    /// The kernel's name for the process.
    pub name: String,
    /// The file that the process runs; empty if it is unknown.
    pub program: String,
    pub arguments: Vec<String>,
}

/// Programs that run scripts. A process that runs one of them is identified by its script.
const INTERPRETERS: &[&str] =
    &["node", "nodejs", "bun", "deno", "sh", "bash", "dash", "zsh", "ksh", "ash", "fish"];

/// Returns the harness that a process belongs to, if any.
pub fn harness_of_process(process: &ProcessDescription) -> Option<&'static Harness> {
    HARNESSES.iter().find(|harness| is_process_of_harness(process, harness))
}

fn is_process_of_harness(process: &ProcessDescription, harness: &Harness) -> bool {
    let fits = |path: &str| {
        base_name(path) == harness.program || harness.program_paths.iter().any(|part| path.contains(part))
    };
    let called = process.arguments.first().map_or("", String::as_str);
    process.name == harness.program
        || fits(&process.program)
        || fits(called)
        || ([process.name.as_str(), base_name(&process.program), base_name(called)].iter())
            .any(|name| INTERPRETERS.contains(name))
            && script_argument(&process.arguments).is_some_and(fits)
}

/// Returns the first argument that is not an option.
fn script_argument(arguments: &[String]) -> Option<&str> {
    arguments.iter().skip(1).map(String::as_str).find(|argument| !argument.starts_with('-'))
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harnesses_are_known_by_name_program_and_script() {
        let cases: &[(&str, &str, &[&str], Option<&str>)] = &[
            ("claude", "/usr/bin/node", &["claude"], Some("claude-code")),
            ("2.1.3", "/home/u/.local/share/claude/versions/2.1.3", &["x"], Some("claude-code")),
            (
                "node",
                "/usr/bin/node",
                &[
                    "node",
                    "--max-old-space-size=4096",
                    "/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js",
                ],
                Some("claude-code"),
            ),
            ("MainThread", "/opt/node", &["node", "/usr/local/bin/claude", "-p", "x"], Some("claude-code")),
            ("bash", "/bin/bash", &["bash", "/home/u/bin/claude", "--resume"], Some("claude-code")),
            ("droid", "/home/u/.local/bin/droid", &["droid"], Some("droid")),
            ("node", "/usr/bin/node", &["node", "/x/node_modules/droid/bin/run.js"], Some("droid")),
            ("claude", "", &[], Some("claude-code")),
            ("opencode", "/home/u/.opencode/bin/opencode", &["opencode"], Some("opencode")),
            (
                "bun",
                "/x/node_modules/opencode-linux-x64/bin/opencode",
                &["opencode", "run"],
                Some("opencode"),
            ),
            ("zsh", "/bin/zsh", &["-zsh"], None),
            ("vim", "/usr/bin/vim", &["vim", "claude"], None),
            ("sshd", "/usr/sbin/sshd", &["sshd: claude@pts/0"], None),
            ("tmux: server", "/usr/bin/tmux", &["tmux", "new", "-s", "x", "claude"], None),
            ("bash", "/bin/bash", &["bash", "-c", "thru trust # not claude"], None),
            ("node", "/usr/bin/node", &["node", "/srv/app/server.js", "/usr/bin/claude"], None),
        ];
        for (name, program, arguments, expected) in cases {
            let process = ProcessDescription {
                name: (*name).to_owned(),
                program: (*program).to_owned(),
                arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
            };
            assert_eq!(harness_of_process(&process).map(|harness| harness.name), *expected, "{process:?}");
        }
    }
}
