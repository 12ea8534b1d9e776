//! Describes a call that was started and did not finish.

use crate::render::in_backticks;
use crate::run::{self, CommandPurpose};

/// A call that was started and did not finish. Calls are described by their command, or by the tool and its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum UnfinishedCall<'c> {
    /// The call only looks at something, so it is not a step of its own. The string describes what the call does.
    Look(String),
    /// The call edits this file.
    Edit(&'c str),
    Command,
}

impl UnfinishedCall<'_> {
    pub(super) fn parse(call: &str) -> UnfinishedCall<'_> {
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
        let is_look = matches!(run::command_purpose(call, ""), CommandPurpose::ReadOnly)
            && !run::is_attempt_with_result(call, "");
        match is_look {
            true => UnfinishedCall::Look(format!("running {}", describe_unfinished(call, None))),
            false => UnfinishedCall::Command,
        }
    }
}

/// Describes a call that did not finish. `failing` is a failing command, as it was typed, whose checks the call
/// includes. Unless the call is that very command, the call itself may never have run before, so it is not said to have
/// failed.
pub(super) fn describe_unfinished(call: &str, failing: Option<&str>) -> String {
    let failed = match failing {
        Some(failing) if run::command_as_typed(call) == failing => {
            "; its last run failed (see Failing)".to_owned()
        }
        Some(failing) => format!("; it includes {}, which failed (see Failing)", in_backticks(failing, 120)),
        None => String::new(),
    };
    format!("{}, which was started and did not finish{failed}", in_backticks(call, 200))
}
