//! Describes a call that was running when its session ended. No hook reports the beginning of a call, so such a call is
//! only known from the transcript. Its command may have had its effect, may have failed, and may even still be running.

use crate::checkout_path::is_in_temporary_folder;
use crate::render::in_backticks;
use crate::run::{self, CommandPurpose};
use crate::shell;

/// What the session was doing when it ended. Calls are given as their command, or as the tool and its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UnfinishedCall<'c> {
    /// The call only looks at something, so it can be repeated. The string describes what the call does.
    Look(String),
    /// The call edits this file.
    Edit(&'c str),
    Command(&'c str),
}

impl UnfinishedCall<'_> {
    pub fn parse(call: &str) -> UnfinishedCall<'_> {
        let path_after = |tools: &[&str]| {
            let (tool, path) = call.split_once(' ')?;
            (tools.contains(&tool.to_lowercase().as_str()) && tool.starts_with(char::is_uppercase)
                || tools.contains(&tool) && path.contains('/') && !path.contains(' '))
            .then_some(path)
        };
        if let Some(path) = path_after(&["edit", "multiedit", "write", "create", "notebookedit"]) {
            return UnfinishedCall::Edit(path);
        }
        if let Some(path) = path_after(&["read"]) {
            return UnfinishedCall::Look(format!("reading {}", in_backticks(path, 160)));
        }
        let changes_file = || {
            let mut named = shell::paths_in_command(call).into_iter();
            named.any(|file| file.action.changes_file() && !is_in_temporary_folder(&file.path))
        };
        let is_look = matches!(run::command_purpose(call, ""), CommandPurpose::ReadOnly)
            && !run::is_attempt_with_result(call, "")
            && !changes_file();
        match is_look {
            true => UnfinishedCall::Look(format!("running {}", in_backticks(call, 160))),
            false => UnfinishedCall::Command(call),
        }
    }

    pub fn is_look(&self) -> bool {
        matches!(self, UnfinishedCall::Look(_))
    }

    /// Says that the outcome is unknown, in a sentence without its full stop. `width` is the maximum length of the command.
    pub fn describe_outcome(&self, width: usize) -> String {
        match self {
            UnfinishedCall::Look(what) => format!("The agent was {what} when the session ended"),
            UnfinishedCall::Edit(path) => format!(
                "The edit of {} was running when the session ended; its outcome is unknown, so check the file before repeating the edit",
                in_backticks(path, width)
            ),
            UnfinishedCall::Command(command) => format!(
                "{} was running when the session ended; its outcome is unknown, so check its effects before running it again",
                in_backticks(command, width)
            ),
        }
    }
}

/// Says what is known about the checks in a command whose outcome is unknown. `failing` is a failing command, as it
/// was typed. If `call` differs from `failing`, it is not known whether `call` has run before.
pub(crate) fn note_on_earlier_failure(call: &str, failing: Option<&str>) -> String {
    match failing {
        Some(failing) if run::command_as_typed(call) == failing => {
            " (its run before that failed, see Failing)".to_owned()
        }
        Some(failing) => format!(" (it includes {}, which failed, see Failing)", in_backticks(failing, 120)),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_said_about_how_an_unfinished_call_ended() {
        let look = |what: &str| UnfinishedCall::Look(what.to_owned());
        for (call, expected) in [
            ("Read docs/plan.md", look("reading `docs/plan.md`")),
            (
                "grep -n \"name\" a.go b.go | head -30",
                look("running `grep -n \"name\" a.go b.go | head -30`"),
            ),
            ("git log --oneline -5", look("running `git log --oneline -5`")),
            ("Edit src/a.go", UnfinishedCall::Edit("src/a.go")),
            ("Write src/a.go", UnfinishedCall::Edit("src/a.go")),
            ("make test", UnfinishedCall::Command("make test")),
            ("go test ./... | tail -5", UnfinishedCall::Command("go test ./... | tail -5")),
            ("git push", UnfinishedCall::Command("git push")),
            ("sleep 2 && sed -i s/a/b/ a.js", UnfinishedCall::Command("sleep 2 && sed -i s/a/b/ a.js")),
            ("mv a.js b.js", UnfinishedCall::Command("mv a.js b.js")),
            ("ls > /tmp/list.txt", look("running `ls > /tmp/list.txt`")),
            ("./scripts/migrate.sh", UnfinishedCall::Command("./scripts/migrate.sh")),
            ("mcp__tracker__create_issue", UnfinishedCall::Command("mcp__tracker__create_issue")),
        ] {
            assert_eq!(UnfinishedCall::parse(call), expected, "{call}");
            let told = UnfinishedCall::parse(call).describe_outcome(200);
            assert!(!told.contains("finish") && told.contains("when the session ended"), "{told}");
            assert_eq!(told.contains("its outcome is unknown, so check "), !expected.is_look(), "{told}");
        }
    }

    #[test]
    fn only_the_command_that_failed_has_an_earlier_run() {
        for (call, failing, expected) in [
            ("make test", None, ""),
            ("make test", Some("make test"), " (its run before that failed, see Failing)"),
            (
                "sleep 20 && npm test",
                Some("npm test"),
                " (it includes `npm test`, which failed, see Failing)",
            ),
            // The call runs the whole suite, but the run that failed was a run of a single module.
            (
                "python3 -m unittest -q",
                Some("python3 -m unittest tests.test_cli -q"),
                " (it includes `python3 -m unittest tests.test_cli -q`, which failed, see Failing)",
            ),
        ] {
            assert_eq!(note_on_earlier_failure(call, failing), expected, "{call}");
        }
    }
}
