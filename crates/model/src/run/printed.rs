//! Finds the command that a package script runs. npm, pnpm and yarn print this command before the script's output.

use crate::redact::Redacted;

/// How many lines of the output are searched. The command is printed before the output of the script.
const MAX_LINES_SEARCHED_FOR_SCRIPT_COMMAND: usize = 40;

/// Returns whether a command line may run a package script. The search for `npm` also finds `pnpm`.
pub fn may_run_package_script(command: &str) -> bool {
    ["npm", "yarn"].iter().any(|runner| command.contains(runner))
}

/// Returns the command of the package script that a command line ran, as its output shows it:
///
/// ```text
/// > shop@1.0.0 test
/// > node --test
/// ```
///
/// Returns `None` if the output shows several commands, because it is then unknown which of them failed.
pub fn printed_script<'o>(output: &'o Redacted) -> Option<&'o str> {
    let lines: Vec<&str> =
        output.lines().take(MAX_LINES_SEARCHED_FOR_SCRIPT_COMMAND).map(str::trim_end).collect();
    let mut found = lines.windows(2).filter_map(|pair| script_in_lines(pair[0], pair[1]));
    let script = found.next()?;
    found.next().is_none().then_some(script)
}

/// Returns the command if the first line is the title of a script, and the second line is its command.
fn script_in_lines<'o>(title: &str, line: &'o str) -> Option<&'o str> {
    let is_title = |rest: &str| !rest.is_empty() && !rest.starts_with(['>', ' ']);
    let script = match title.strip_prefix("> ") {
        Some(rest) if is_title(rest) => line.strip_prefix("> "),
        None if title.starts_with("yarn run v") => line.strip_prefix("$ "),
        _ => None,
    };
    script.map(str::trim).filter(|script| !script.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::RedactOptions;

    #[test]
    fn the_command_of_a_package_script_is_read_from_its_output() {
        for (output, expected) in [
            ("\n> shop@1.0.0 test\n> node --test\n\nnot ok 1 - add\n", Some("node --test")),
            ("Exit code 1\n\n> test\n> mocha test/unit\n\n  1 failing\n", Some("mocha test/unit")),
            ("> web@0.1.0 test /p/web\n> vitest run\n", Some("vitest run")),
            ("yarn run v1.22.22\n$ jest --ci\nFAIL a.test.js\n", Some("jest --ci")),
            // Either the script that runs before the tests or the tests themselves may have failed.
            ("> a@1 pretest\n> eslint .\n\n> a@1 test\n> node --test\n", None),
            ("not ok 1 - add\n", None),
        ] {
            let output = Redacted::redact_whole(output, RedactOptions::default());
            assert_eq!(printed_script(&output), expected, "{}", &*output);
        }
    }
}
