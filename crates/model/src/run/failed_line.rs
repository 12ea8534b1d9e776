//! Decides which files a failed command line changed. A line fails because one of its parts fails, but earlier parts
//! may already have changed files.

use super::check::{kind_of_command, strip_assignments_and_wrappers};
use crate::shell::{self, StepJoin};

/// Returns the files that a failed line changed, as [`shell::paths_in_command`] names them. `failed_check` is the index of
/// the check that is known to have failed.
///
/// The last part of the line is assumed to have failed. Of its files, only those that a redirection or `tee` writes
/// count as changed. It may be unknown whether a part ran, because that depends on the result of an earlier part, such
/// as a check or `grep -q`. The files of such a part do not count.
pub fn paths_changed_by_failed_line(command: &str, failed_check: Option<usize>) -> Vec<String> {
    let parts = shell::parts_with_files(command);
    let mut changed: Vec<String> = Vec::new();
    let (mut stops_at_error, mut is_in_doubt, mut checks_before) = (false, false, 0);
    for (at, part) in parts.iter().enumerate() {
        let is_check = kind_of_command(strip_assignments_and_wrappers(&part.words))
            .is_some_and(super::CommandKind::is_check);
        stops_at_error |= sets_stop_at_error(&part.words);
        if !is_in_doubt {
            // The parts of the last pipeline share its fate.
            let is_last =
                parts[at..].iter().all(|later| matches!(later.join_to_next, StepJoin::Pipe | StepJoin::End));
            let fails = is_last || part.join_to_next == StepJoin::Or;
            // `git restore` discards changes. The `effect` module handles this command.
            let is_restore = part.words.iter().take(2).map(String::as_str).eq(["git", "restore"]);
            let writes_all =
                !fails && !is_restore || part.words.first().is_some_and(|program| program == "tee");
            let files = part.files.iter().filter(|file| file.action.changes_file());
            let written = files.filter(|file| writes_all || part.redirected.contains(&file.path));
            changed.extend(written.map(|file| file.path.clone()));
        }
        let has_passed = is_check && failed_check.is_some_and(|failed| checks_before < failed);
        let may_have_failed = match is_check {
            true => !has_passed,
            false => is_condition(&part.words) && failed_check.is_none_or(|failed| checks_before > failed),
        };
        checks_before += usize::from(is_check);
        is_in_doubt = match part.join_to_next {
            // What follows `||` runs only if the part before it fails.
            StepJoin::Or => true,
            StepJoin::And => is_in_doubt || may_have_failed,
            StepJoin::Pipe => is_in_doubt,
            _ => stops_at_error && (is_in_doubt || may_have_failed),
        };
    }
    changed
}

/// Returns whether a command makes the shell stop at the first part that fails.
fn sets_stop_at_error(words: &[String]) -> bool {
    let is_option =
        |word: &String| word == "errexit" || word.strip_prefix('-').is_some_and(|flags| flags.contains('e'));
    words.first().is_some_and(|program| program == "set") && words[1..].iter().any(is_option)
}

/// Returns whether a command only asks something, so that its failure is an answer.
fn is_condition(words: &[String]) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    let has = |option: &str| rest.iter().any(|word| word == option);
    match program.as_str() {
        "test" | "[" | "[[" | "false" | "cmp" | "diff" => true,
        "grep" | "egrep" | "fgrep" | "rg" => true,
        "git" => has("--quiet") || has("--exit-code") || has("--error-unmatch"),
        "command" | "which" => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::paths_changed_by_failed_line;

    #[test]
    fn what_ran_before_the_failing_part_changed_its_files() {
        for (command, failed_check, expected) in [
            ("cat >> a.js <<'EOF'\ntest > b.js\nEOF\nnpm test", Some(0), &["a.js"][..]),
            ("cat >> a.js <<'EOF' && npm test\ntest\nEOF", Some(0), &["a.js"]),
            ("cat > a.js <<EOF\n1\nEOF\ncat > b.js <<EOF\n2\nEOF\nnpm test", None, &["a.js", "b.js"]),
            ("cat > a.js <<EOF\n1\nEOF\nsed -i s/1/2/ b.js && npm test", None, &["a.js", "b.js"]),
            ("cd web && sed -i s/1/2/ a.js && npm test", None, &["web/a.js"]),
            ("mv a.js b.js; npm test", None, &["a.js", "b.js"]),
            ("git mv a.js b.js && npm test", None, &["a.js", "b.js"]),
            ("git rm a.js && npm test", None, &["a.js"]),
            ("git restore a.js && npm test", None, &[]),
            ("rm a.js\nnpm test 2>&1 | tail -5", None, &["a.js"]),
            ("echo 1 | tee a.js && npm test", None, &["a.js"]),
            ("npm test | tee out.log", None, &["out.log"]),
            ("npm test > out.log", None, &["out.log"]),
            ("set -e\nsed -i s/1/2/ a.js\nnpm test", None, &["a.js"]),
            // Nobody knows whether these parts ran.
            ("npm test && mv a.js b.js", None, &[]),
            ("set -e; npm test; mv a.js b.js", None, &[]),
            ("set -euo pipefail\nnpm test\nmv a.js b.js\nexit 1", None, &[]),
            ("npm run lint && sed -i s/1/2/ a.js && npm test", None, &[]),
            ("npm run lint && sed -i s/1/2/ a.js && npm test", Some(0), &[]),
            ("npm run lint && sed -i s/1/2/ a.js && npm test", Some(1), &["a.js"]),
            ("grep -q x a.js && sed -i s/x/y/ a.js && npm test", None, &[]),
            ("grep -q x a.js && sed -i s/x/y/ a.js && npm test", Some(0), &["a.js"]),
            ("npm test || git restore a.js", None, &[]),
            // Without `set -e`, the shell goes on after a part that fails.
            ("npm test; mv a.js b.js; exit 1", None, &["a.js", "b.js"]),
            // The last part is assumed to have failed without changing its files.
            ("sed -i s/1/2/ a.js", None, &[]),
            ("rm a.js", None, &[]),
            ("npm run build; mv a.js b.js", None, &[]),
            ("", None, &[]),
        ] {
            assert_eq!(paths_changed_by_failed_line(command, failed_check), expected, "{command}");
        }
    }
}
