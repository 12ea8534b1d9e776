//! Extracts the command line from a shell's arguments.

use std::borrow::Cow;

use super::check::strip_assignments_and_wrappers;
use crate::shell::{self, StepJoin};

/// The maximum number of nested shells that are expanded.
const MAX_NESTED_SHELLS: usize = 2;

/// The maximum number of here-documents that are removed from a line because `cat` writes them to files.
const MAX_WRITTEN_DOCUMENTS: usize = 8;

/// Replaces each shell call in a line with the command line that it runs. `cd web && bash -lc 'npm test'` becomes `cd
/// web && npm test`. Files that `cat` writes from here-documents are left out if other commands follow, because
/// those commands decide how the line ends.
pub fn expand_shells(command: &str) -> Cow<'_, str> {
    let mut line = Cow::Borrowed(command);
    for _ in 0..MAX_WRITTEN_DOCUMENTS {
        match without_first_written_document(&line) {
            Some(rest) => line = Cow::Owned(rest),
            None => break,
        }
    }
    expand_nested_shells(line)
}

/// Like [`expand_shells`], but keeps the files that are written from here-documents.
pub fn expand_nested_shells(mut line: Cow<'_, str>) -> Cow<'_, str> {
    for _ in 0..MAX_NESTED_SHELLS {
        match expand_first_shell(&line) {
            Some(inner) => line = Cow::Owned(inner),
            None => break,
        }
    }
    line
}

/// Returns a line without its first here-document, if `cat` writes it to a file and other commands follow.
fn without_first_written_document(command: &str) -> Option<String> {
    if !command.contains("<<") {
        return None;
    }
    let steps = shell::command_steps(command);
    let step = steps.last().filter(|step| step.join_to_next == StepJoin::Document)?;
    let (start, end) = (step.word_ranges.first()?.start, step.word_ranges.last()?.end);
    let document = end + command[end..].find("<<")?;
    let first_line = command[start..].lines().next()?;
    let (_, marker_and_rest) = first_line.split_once("<<")?;
    let rest = marker_and_rest.split_once(' ').map_or("", |(_, rest)| rest.trim());
    let is_written = step.words.first().is_some_and(|word| word == "cat")
        && first_line.contains('>')
        && (rest.is_empty() || rest.starts_with('>'));
    let after = command[shell::here_document_end(command, document)..].trim_start();
    (is_written && !after.is_empty()).then(|| format!("{}{after}", &command[..start]))
}

fn expand_first_shell(command: &str) -> Option<String> {
    // Most lines do not start a shell, so they need not be parsed.
    if !command.contains("sh ") {
        return None;
    }
    shell::command_steps(command).iter().find_map(|step| {
        let words = strip_assignments_and_wrappers(&step.words);
        let inner = shell_script_argument(words)?;
        let from = step.word_ranges[step.words.len() - words.len()].start;
        let to = step.word_ranges.last()?.end;
        let pipefail = if words.iter().any(|word| word == "pipefail") { "set -o pipefail; " } else { "" };
        Some(format!("{}{pipefail}{inner}{}", &command[..from], &command[to..]))
    })
}

/// Returns the command line that a shell call runs, such as `cargo test` for `bash -lc 'cargo test'`. Returns `None`
/// if the words are not such a call.
pub fn shell_script_argument(words: &[String]) -> Option<&str> {
    let (program, arguments) = words.split_first()?;
    let name = program.rsplit('/').next().unwrap_or(program);
    if !["sh", "bash", "dash", "zsh", "ksh", "ash", "fish"].contains(&name) {
        return None;
    }
    let (mut takes_line, mut arguments) = (false, arguments.iter());
    loop {
        let argument = arguments.next()?;
        let flags = argument.strip_prefix(['-', '+']).filter(|flags| !flags.is_empty());
        match flags {
            None if takes_line => return Some(argument),
            // The argument is a script file.
            None => return None,
            Some(long) if long.starts_with('-') => {}
            Some(flags) => {
                takes_line |= argument.starts_with('-') && flags.contains('c');
                // The next word is the value of an option, as in `-o pipefail`.
                if flags.ends_with('o') {
                    arguments.next();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{expand_shells, shell_script_argument};

    #[test]
    fn a_shell_is_not_the_command() {
        let rows: &[(&[&str], Option<&str>)] = &[
            (&["sh", "-c", "make test"], Some("make test")),
            (&["/bin/bash", "-lc", "make test"], Some("make test")),
            (&["bash", "-euo", "pipefail", "-c", "make test", "arg0"], Some("make test")),
            (&["bash", "--norc", "-c", "-e", "make test"], Some("make test")),
            (&["zsh", "-ic", "make test"], Some("make test")),
            (&["sh", "check.sh"], None),
            (&["sh", "-e", "check.sh", "-c"], None),
            (&["sh", "-c"], None),
            (&["push", "-c", "x"], None),
            (&["cargo", "test"], None),
            (&[], None),
        ];
        for (words, expected) in rows {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(shell_script_argument(&words), *expected, "{words:?}");
        }
    }
    #[test]
    fn a_shell_is_opened() {
        let cases = [
            ("bash -lc 'cargo test | tail -5'", "cargo test | tail -5"),
            ("cd web && CI=1 sh -c \"npm test\" 2>&1 | tail", "cd web && CI=1 npm test 2>&1 | tail"),
            ("timeout 60 bash -c 'make lint' arg0", "timeout 60 make lint"),
            ("bash -o pipefail -c 'make test | tee log'", "set -o pipefail; make test | tee log"),
            ("sh -c \"bash -lc 'make test'\"", "make test"),
            // These lines are not expanded.
            ("bash scripts/test.sh", "bash scripts/test.sh"),
            ("git push origin main", "git push origin main"),
            ("ssh host make", "ssh host make"),
        ];
        for (line, expected) in cases {
            assert_eq!(expand_shells(line), expected, "{line}");
        }
        for (line, expected) in [
            ("cat > a.js <<'EOF'\nit fails\nEOF\nnpm test", "npm test"),
            (
                "cd web && cat <<EOF > a.js\nx\nEOF\nnpm test 2>&1 | tail -9",
                "cd web && npm test 2>&1 | tail -9",
            ),
            ("cat > a <<A\n1\nA\ncat >> b <<-'B'\n2\n\tB\nmake test", "make test"),
            // In these lines, either nothing follows the here-document, or a command other than `cat` reads it.
            ("cat > a.js <<EOF\nx\nEOF\n", "cat > a.js <<EOF\nx\nEOF\n"),
            ("python3 - <<EOF\nx\nEOF\nmake test", "python3 - <<EOF\nx\nEOF\nmake test"),
            ("cat <<EOF | psql > a\nx\nEOF\nmake test", "cat <<EOF | psql > a\nx\nEOF\nmake test"),
        ] {
            assert_eq!(expand_shells(line), expected, "{line}");
        }
    }
}
