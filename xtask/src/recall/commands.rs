//! Finds the commands that a brief should name, and groups the runs of the same command.
//!
//! Look-ups, inline scripts and file moves are not wanted, because a brief never lists them. Git commands and other
//! commands with effects are not wanted either, because a brief tells what they did. The functions of `model::run`
//! decide what a command line is for, and which of its runs are the same.

use std::collections::{BTreeMap, BTreeSet};

use model::effect;
use model::run::{self, CommandPurpose};

use super::cut::collapse_white_space;

/// The useful commands that ran. The key is the same for all runs of a command. The value is the set of the command's
/// forms. A form is a command line that repeats the command; pipes to filters, redirections and `cd` are removed from
/// it. A command has several forms if its runs differ in their environment or in options that change only the output.
pub type UsefulCommands = BTreeMap<String, BTreeSet<String>>;

/// Returns the useful commands in these command lines. `folder_in_session` shortens a path to the session's folder.
pub fn useful_commands<'c>(
    lines: impl Iterator<Item = &'c str>,
    folder_in_session: impl Fn(&str) -> String,
) -> UsefulCommands {
    let mut found = UsefulCommands::new();
    for line in lines {
        let commands = match run::command_purpose(line, "") {
            CommandPurpose::Checks(checks) => checks
                .into_iter()
                .map(|mut check| {
                    check.folder = folder_in_session(&check.folder);
                    (check.identity_key(), check.command_to_repeat)
                })
                .collect(),
            CommandPurpose::Other(_) if !effect::may_have_effect(line) => {
                let form = collapse_white_space(&run::command_to_repeat(line));
                let folder = folder_in_session(&run::folder_of_command(line, ""));
                vec![(format!("{folder}\u{1}{form}"), form)]
            }
            CommandPurpose::Other(_) | CommandPurpose::Git(_) | CommandPurpose::ReadOnly => Vec::new(),
        };
        for (key, form) in commands {
            found.entry(key).or_default().insert(collapse_white_space(&form));
        }
    }
    found
}

/// Returns the commands that are in both maps. Each command has its forms from both.
pub fn commands_that_ran_again(before: &UsefulCommands, after: &UsefulCommands) -> UsefulCommands {
    let with_all_forms = |(key, forms): (&String, &BTreeSet<String>)| {
        let earlier = before.get(key)?;
        Some((key.clone(), earlier.union(forms).cloned().collect()))
    };
    after.iter().filter_map(with_all_forms).collect()
}

/// Returns whether the text contains one of the forms as a whole command. `mise run test:ci` does not name `mise run
/// test`, because it is another command.
pub fn is_command_named(text: &str, forms: &BTreeSet<String>) -> bool {
    forms.iter().any(|form| {
        text.match_indices(form.as_str()).any(|(at, _)| {
            let mut after = text[at + form.len()..].chars();
            let (next, then) = (after.next(), after.next());
            // A full stop, a colon or a comma ends the command only if it also ends the word.
            let ends_sentence = |c: char| {
                matches!(c, '.' | ':' | ',' | '?' | '!') && then.is_none_or(|c| !is_part_of_word(c))
            };
            let begins = text[..at].chars().next_back().is_none_or(|c| !is_part_of_word(c));
            begins && next.is_none_or(|c| !is_part_of_word(c) || ends_sentence(c))
        })
    })
}

/// Returns whether a character next to a command makes it a longer word.
fn is_part_of_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '.' | ':' | ',' | '?' | '!' | '=' | '@' | '+')
}

#[cfg(test)]
#[path = "commands_tests.rs"]
mod tests;
