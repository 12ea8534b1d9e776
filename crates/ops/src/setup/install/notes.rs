//! Notes in the report of an installation or a removal.

use std::path::Path;

use harness::Harness;

pub(super) fn status_line_still_shown_note(harness: &Harness, path: &Path) -> String {
    let path = path.display();
    format!(
        "{path}: thru's status line is still here, because it serves all your projects; `thru uninstall {} \
         --user` removes it",
        harness.name
    )
}

pub(super) fn hooks_still_called_note(harness: &Harness, path: &Path) -> String {
    let path = path.display();
    format!(
        "{path}: thru's hooks are still here, in another scope; `thru uninstall {} --user`, `--local` or \
         `--project` removes them, and `--all` removes everything",
        harness.name
    )
}

pub(super) fn install_not_recorded_note(error: &store::Error) -> String {
    format!("{error}; `thru uninstall --all` will find this project only if it is trusted or you run it here")
}

/// Returns a note about thru's commands that have another name in this harness, because the harness has commands of its
/// own with thru's usual names.
pub fn renamed_command_note(harness: &Harness) -> Option<String> {
    let names = harness::commands::command_names_taken_by_harness(harness);
    let listed = |prefix: &str| {
        let names: Vec<String> = names.iter().map(|name| format!("{prefix}{name}")).collect();
        match names.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
            None => String::new(),
        }
    };
    match names.as_slice() {
        [] => None,
        [_] => Some(format!("{} has its own {}; ours is {}", harness.title, listed("/"), listed("/thru-"))),
        _ => Some(format!("{} has its own {}; ours are {}", harness.title, listed("/"), listed("/thru-"))),
    }
}
