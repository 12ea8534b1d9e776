//! Decides whether a failed command line can be run again as it is.

use crate::effect::{CompletedCall, Effect, EffectKind, effects_of_call};
use crate::shell;

/// Returns whether any command on a line, except the last one, must not be run twice. Examples are a commit and
/// `echo … >> FILE`. If the line failed, it is unknown whether that command has taken effect.
pub(super) fn may_first_parts_have_taken_effect(command: &str) -> bool {
    let steps = shell::command_steps(command);
    let Some((last, first)) = steps.split_last() else { return false };
    let (Some(begin), false) = (last.word_ranges.first(), first.is_empty()) else { return false };
    let before = &command[..begin.start];
    shell::appends_to_file(before)
        || first.iter().any(|step| changes_files_again(&step.words))
        || effects_if_successful(before).iter().any(|effect| !can_be_repeated(effect.kind))
}

fn effects_if_successful(command: &str) -> Vec<Effect> {
    let trimmed = command.trim_end().trim_end_matches(['&', '|', ';']);
    let call = CompletedCall { tool: "", command: trimmed, tool_input: "", output: "", succeeded: true };
    effects_of_call(&call)
}

fn can_be_repeated(kind: EffectKind) -> bool {
    matches!(
        kind,
        EffectKind::Push
            | EffectKind::UpToDate
            | EffectKind::Switch
            | EffectKind::Pull
            | EffectKind::Discard
            | EffectKind::Status
            | EffectKind::Other
    )
}

/// Returns whether a command changes files in such a way that a second run would change them again, or would fail.
fn changes_files_again(words: &[String]) -> bool {
    let has = |names: &[&str]| words[1..].iter().any(|word| names.contains(&word.as_str()));
    let edits_in_place =
        || words[1..].iter().any(|word| word.starts_with("-i") || word.starts_with("--in-place"));
    match words[0].as_str() {
        "sed" | "perl" | "ruby" => edits_in_place(),
        "tee" => has(&["-a", "--append"]),
        "git" => has(&["am", "apply", "mv", "cherry-pick", "revert"]),
        "mv" | "patch" => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::may_first_parts_have_taken_effect;

    #[test]
    fn lines_that_must_not_be_run_twice() {
        for (line, expected) in [
            ("git commit -qm x && git push", true),
            ("echo x >> README.md && make deploy", true),
            ("printf x | tee -a log && ./deploy.sh", true),
            ("sed -i s/a/b/ f && make test", true),
            ("mv a b; make", true),
            ("git stash && make test", true),
            ("gh pr create -t x -b y && ./notify.sh", true),
            ("make test && git push", false),
            ("make test > log 2>&1 && ./deploy.sh", false),
            ("cd web && npm run build", false),
            ("git add -A && git commit -qm x", false),
            ("git push && ./deploy.sh", false),
            ("echo x >> README.md", false),
            ("git push", false),
            ("echo 'a >> b' && make", false),
            ("", false),
        ] {
            assert_eq!(may_first_parts_have_taken_effect(line), expected, "{line}");
        }
    }
}
