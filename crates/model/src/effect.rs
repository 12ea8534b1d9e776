//! What a call did outside the conversation: commits, pushes, pull requests, comments, deployments.
//!
//! Rules find effects in a command and its output, when a hook reports the call and when a transcript is read. A failed
//! command has no effect: an effect counts if the output of its command shows it, or if the call succeeded and the exit
//! code can only be that of this command.

mod commands;
mod forge;
mod git;
mod git_lines;
mod parts;
mod request;
mod said;
mod table;
mod tokens;
mod tool;
mod words;

use serde::{Deserialize, Serialize};

use parts::Part;
use said::Said;

pub use tool::acts as tool_acts;
pub use words::{Detail, describe};

/// The longest text of each field of an effect, in bytes.
const WHAT_BYTES: usize = 200;
const PLACE_BYTES: usize = 200;
const ID_BYTES: usize = 120;
const LINK_BYTES: usize = 300;

/// The most effects that are kept for one call.
pub const MOST_EFFECTS: usize = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
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
    /// Any other request that writes.
    Request,
    // The following kinds change only the checkout.
    Switch,
    Pull,
    Rebase,
    Reset,
    /// Changes in files were discarded.
    Discard,
    Stash,
    Unstash,
    StashDrop,
    Worktree,
    /// A kind from a newer version.
    #[serde(other)]
    Other,
}

impl Kind {
    /// Returns whether other people can see the effect, or it must not be repeated.
    pub fn is_outside(self) -> bool {
        !matches!(
            self,
            Kind::UpToDate
                | Kind::Switch
                | Kind::Pull
                | Kind::Rebase
                | Kind::Reset
                | Kind::Discard
                | Kind::Stash
                | Kind::Unstash
                | Kind::StashDrop
                | Kind::Worktree
                | Kind::Other
        )
    }
}

/// One effect. An empty field means that its value is unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    pub kind: Kind,
    /// The subject of a commit, the branch that was pushed, what was done to an issue.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub what: String,
    /// The branch of a commit, the remote of a push, the repository of a pull request.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// The id as the command printed it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub link: String,
    /// The folder of a git command, if it is not the folder in which the command line began.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub folder: String,
}

impl Effect {
    fn new(kind: Kind, what: &str, place: &str, id: &str) -> Effect {
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

    fn cut(mut self) -> Effect {
        let limits = [
            (&mut self.what, WHAT_BYTES),
            (&mut self.place, PLACE_BYTES),
            (&mut self.id, ID_BYTES),
            (&mut self.link, LINK_BYTES),
            (&mut self.folder, PLACE_BYTES),
        ];
        for (text, most) in limits {
            text.truncate(crate::text::cut(text, most).len());
        }
        self
    }
}

/// A call and its result. Both texts are redacted.
#[derive(Clone, Copy, Debug)]
pub struct Made<'a> {
    pub tool: &'a str,
    pub command: &'a str,
    /// The input of a tool without a command: a title, a channel.
    pub asked: &'a str,
    pub output: &'a str,
    pub ok: bool,
}

/// Returns whether a command line may have an effect, because it contains a word of some rule. Other commands are not
/// parsed.
pub fn may_act(command: &str) -> bool {
    let ends = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':'));
    command.split(ends).any(table::is_rule_word)
}

/// Returns the effects of a call, in the order of its command line.
pub fn of(made: &Made) -> Vec<Effect> {
    let said = Said::new(made.output, made.ok);
    let found = if made.command.is_empty() {
        tool::effects(made, &said)
    } else if may_act(made.command) {
        let mut seen = Seen { said: &said, found: Vec::new(), trial: false };
        for part in parts::parts(made.command) {
            apply_rule(&mut seen, &part);
        }
        seen.found
    } else {
        Vec::new()
    };
    found.into_iter().take(MOST_EFFECTS).map(Effect::cut).collect()
}

fn apply_rule(seen: &mut Seen, part: &Part) {
    match part.words[0].as_str() {
        "git" => git::rule(seen, part),
        "gh" | "glab" => forge::rule(seen, part),
        "curl" | "wget" | "http" | "https" | "xh" => request::rule(seen, part),
        _ => commands::rule(seen, part),
    }
}

/// What the rules work on, and what they found.
struct Seen<'a> {
    said: &'a Said<'a>,
    found: Vec<Effect>,
    /// Whether the command line created its own repository, which makes it an experiment.
    trial: bool,
}

impl Seen<'_> {
    /// Returns whether a command without proof in its output can be assumed to have succeeded.
    fn happened(&self, part: &Part) -> bool {
        self.said.ok && (part.sure || !self.said.sounds_failed())
    }

    fn add(&mut self, effect: Effect) {
        self.found.push(effect);
    }
}

fn flag(words: &[impl AsRef<str>], names: &[&str]) -> bool {
    words.iter().any(|word| names.contains(&word.as_ref()))
}

/// Returns the value of an option: `-m text`, `--message=text`, `-mtext`.
fn value_of(words: &[impl AsRef<str>], names: &[&str]) -> Option<String> {
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
