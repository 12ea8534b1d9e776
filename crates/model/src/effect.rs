//! The effects that a call has outside the conversation: commits, pushes, pull requests, comments and deployments.
//!
//! Rules derive effects from a command and its output, both when a hook reports a call and when a transcript is read.
//! A failed command has no effects. An effect is recorded if the output proves it, or if the call succeeded and its
//! exit code belongs to the command in question.

mod command_output;
mod commands;
mod forge;
mod git;
mod git_lines;
mod parts;
mod request;
mod table;
mod tokens;
mod tool;
mod typed_git;
mod words;

use serde::{Deserialize, Serialize};

use command_output::CommandOutput;
use parts::{Fallback, UnwrappedCommand};

pub use tool::tool_acts_externally as tool_acts;
pub use typed_git::{GitCommandsOfLine, TypedCommit, git_commands_of_line};
pub use words::{DescriptionDetail, describe_effect};

/// The maximum length of an effect's text, in bytes.
const MAX_EFFECT_TEXT_BYTES: usize = 200;
/// A list of changed files that is longer than this is not recorded, because a truncated list says nothing about the
/// other files.
const MAX_CHANGED_FILES_LIST_BYTES: usize = 2_000;
const MAX_EFFECT_PLACE_BYTES: usize = 200;

/// The place of a stash that contains an unknown part of the changes.
pub const SOME_CHANGES: &str = "some changes";

const MAX_EFFECT_ID_BYTES: usize = 120;
const MAX_EFFECT_LINK_BYTES: usize = 300;

pub const MAX_EFFECTS_PER_CALL: usize = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EffectKind {
    Commit,
    /// The last commit was replaced.
    Amend,
    Push,
    /// A push that changed nothing.
    UpToDate,
    Branch,
    Tag,
    Merge,
    PullRequest,
    Comment,
    Review,
    Issue,
    Release,
    Message,
    Deployment,
    Migration,
    Package,
    /// Any other request that changes something.
    Request,
    // The kinds below affect only the checkout.
    Switch,
    Pull,
    Rebase,
    Reset,
    /// Changes to files were discarded.
    Discard,
    Stash,
    Unstash,
    StashDrop,
    Worktree,
    /// `git status` listed the changed and untracked files. The command itself changed nothing.
    Status,
    /// A kind that a newer version wrote.
    #[serde(other)]
    Other,
}

impl EffectKind {
    /// Returns whether the effect is visible to other people or must not be repeated.
    pub fn is_external(self) -> bool {
        !matches!(
            self,
            EffectKind::UpToDate
                | EffectKind::Switch
                | EffectKind::Pull
                | EffectKind::Rebase
                | EffectKind::Reset
                | EffectKind::Discard
                | EffectKind::Stash
                | EffectKind::Unstash
                | EffectKind::StashDrop
                | EffectKind::Worktree
                | EffectKind::Status
                | EffectKind::Other
        )
    }
}

/// One effect. Unknown fields are empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    pub kind: EffectKind,
    /// The subject of a commit, the branch of a push, or the action on an issue.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub what: String,
    /// The branch of a commit, the remote of a push, the repository of a pull request, or the names that a stash is
    /// limited to.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// The id that the command printed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub link: String,
    /// The folder in which git ran, or empty if it is the folder in which the command line was started.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub folder: String,
}

impl Effect {
    fn new(kind: EffectKind, what: &str, place: &str, id: &str) -> Effect {
        let own = |text: &str| text.trim().to_owned();
        Effect {
            kind,
            what: own(what),
            place: own(place),
            id: own(id),
            link: String::new(),
            folder: String::new(),
        }
    }

    fn with_fields_cut(mut self) -> Effect {
        let limits = [
            (
                &mut self.what,
                if self.kind == EffectKind::Status {
                    MAX_CHANGED_FILES_LIST_BYTES
                } else {
                    MAX_EFFECT_TEXT_BYTES
                },
            ),
            (&mut self.place, MAX_EFFECT_PLACE_BYTES),
            (&mut self.id, MAX_EFFECT_ID_BYTES),
            (&mut self.link, MAX_EFFECT_LINK_BYTES),
            (&mut self.folder, MAX_EFFECT_PLACE_BYTES),
        ];
        for (text, most) in limits {
            text.truncate(crate::text::cut_to_bytes(text, most).len());
        }
        self
    }
}

/// A call and its result, already redacted.
#[derive(Clone, Copy, Debug)]
pub struct CompletedCall<'a> {
    pub tool: &'a str,
    pub command: &'a str,
    /// The input of a tool that takes no command. It may contain, for example, a title or a channel.
    pub tool_input: &'a str,
    pub output: &'a str,
    pub succeeded: bool,
}

/// Returns whether a command line may have an effect, that is, whether it contains a word that occurs in a rule. Other
/// command lines need not be parsed.
pub fn may_have_effect(command: &str) -> bool {
    let ends = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':'));
    command.split(ends).any(table::is_rule_word)
}

/// Returns the effects of a call, in the order of its commands.
pub fn effects_of_call(made: &CompletedCall) -> Vec<Effect> {
    let said = CommandOutput::new(made.output, made.succeeded);
    let found = if made.command.is_empty() {
        tool::effects_of_tool(made, &said)
    } else if may_have_effect(made.command) {
        let mut seen = EffectCollector { output: &said, effects: Vec::new(), is_experiment: false };
        for part in parts::commands_run_by_line(made.command) {
            apply_effect_rule(&mut seen, &part);
        }
        seen.effects
    } else {
        Vec::new()
    };
    found.into_iter().take(MAX_EFFECTS_PER_CALL).map(Effect::with_fields_cut).collect()
}

fn apply_effect_rule(seen: &mut EffectCollector, part: &UnwrappedCommand) {
    match part.words[0].as_str() {
        "git" => git::apply_git_rule(seen, part),
        "gh" | "glab" => forge::apply_forge_rule(seen, part),
        "curl" | "wget" | "http" | "https" | "xh" => request::apply_request_rule(seen, part),
        _ => commands::apply_command_rule(seen, part),
    }
}

/// The command output that the rules search, and the effects found so far.
struct EffectCollector<'a> {
    output: &'a CommandOutput<'a>,
    effects: Vec<Effect>,
    /// Whether the command line created its own repository. Such a command line is an experiment.
    is_experiment: bool,
}

impl EffectCollector<'_> {
    /// Returns whether a command is assumed to have succeeded although its output does not prove it.
    fn probably_succeeded(&self, part: &UnwrappedCommand) -> bool {
        let has_not_failed =
            || !self.output.reports_failure() && !part.runs_after_failure && self.is_fallback_unused(part);
        self.output.call_succeeded && (part.is_success_implied || has_not_failed())
    }

    /// Returns whether the output suggests that the command after `||` did not run. If it is known what that command
    /// prints, this text must be missing from the output. Otherwise, the output must be empty although it was not
    /// redirected: if the command before `||` had failed, it would have printed an error.
    fn is_fallback_unused(&self, part: &UnwrappedCommand) -> bool {
        match &part.fallback {
            None => true,
            Some(Fallback::Prints(text)) => !self.output.lines().any(|line| line.trim() == text),
            Some(Fallback::Other) => !part.is_output_hidden && self.output.is_empty(),
        }
    }

    fn add_effect(&mut self, effect: Effect) {
        self.effects.push(effect);
    }
}

fn has_flag(words: &[impl AsRef<str>], names: &[&str]) -> bool {
    words.iter().any(|word| names.contains(&word.as_ref()))
}

/// Returns the value of an option, given as `-m text`, `--message=text` or `-mtext`.
fn option_value(words: &[impl AsRef<str>], names: &[&str]) -> Option<String> {
    for (place, word) in words.iter().map(AsRef::as_ref).enumerate() {
        for name in names {
            if word == *name {
                return words.get(place + 1).map(|value| value.as_ref().to_owned());
            }
            let behind = word.strip_prefix(name).and_then(|rest| match name.starts_with("--") {
                true => rest.strip_prefix('='),
                false => {
                    (name.len() == 2 && !rest.is_empty()).then_some(rest.strip_prefix('=').unwrap_or(rest))
                }
            });
            if let Some(value) = behind {
                return Some(value.to_owned());
            }
        }
    }
    None
}

#[cfg(test)]
#[path = "effect_tests.rs"]
mod tests;
