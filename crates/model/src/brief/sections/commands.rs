//! Commands that worked and may be needed again, besides the project's checks.

use std::collections::BTreeSet;

use crate::brief::BriefMaterial;
use crate::brief::candidate::FactClass;
use crate::brief::gather::GatheredCandidates;
use crate::digest::{CommandUse, Digest, RecordedEffect};
use crate::effect::EffectKind;
use crate::render::{in_backticks, inline_for_model};
use crate::run::{self, CommandPurpose, RunResult};
use crate::shell;

use super::checks::{MAX_LISTED_CHECK_COMMAND_CHARS, add_command_candidate};

const MAX_COMMANDS_LISTED: usize = 4;

/// A brief lists at most this many requests to other services.
const MAX_SERVICE_REQUESTS_LISTED: usize = 2;

/// An argument longer than this is assumed to be message text, and is replaced with `…` in the listed request.
const MAX_ARGUMENT_CHARS: usize = 60;

/// A number with at least this many digits is an id.
const MIN_ID_DIGITS: usize = 5;

/// Folders into which builds write programs.
const BUILD_FOLDERS: &[&str] = &["target/", "build/", "bin/", "dist/", "out/"];

pub fn gather_commands(material: &BriefMaterial, all: &mut GatheredCandidates) {
    let digest = material.digest;
    let failing: Vec<String> = digest.open_failures().map(|failure| failure.command_to_repeat()).collect();
    let mut told: BTreeSet<String> = BTreeSet::new();
    // Only a command whose exit code shows that it worked is listed. A filter may hide the exit code.
    let has_worked = |command: &&CommandUse| {
        command.last_result == RunResult::Passed
            && run::does_zero_exit_prove_repeated_command(&command.command)
    };
    for command in digest.ranked_commands().into_iter().filter(has_worked) {
        let runnable = run::command_to_repeat(&command.command);
        let Some(key) = key_of_command_worth_repeating(digest, command, &runnable) else { continue };
        let id = format!("command:{}", inline_for_model(&command.command, 60));
        let fits =
            told.len() < MAX_COMMANDS_LISTED && runnable.chars().count() <= MAX_LISTED_CHECK_COMMAND_CHARS;
        if fits && !failing.contains(&runnable) && !all.has_fact(&id) && told.insert(key) {
            let folder = digest.folder_of_command(&command.command, &command.folder);
            add_command_candidate(all, FactClass::Commands, (command, &folder), &runnable, "");
        }
    }
    add_request_forms(digest, all);
}

/// Returns a key for a command that is likely to be needed again, or `None` for any other command. The brief lists only
/// one of several commands with the same key.
fn key_of_command_worth_repeating(digest: &Digest, command: &CommandUse, runnable: &str) -> Option<String> {
    let own = shell::simple_commands(runnable).into_iter().find(|words| is_own_program(digest, &words[0]));
    if let Some(words) = own {
        let action = words.get(1).filter(|word| !word.starts_with('-'));
        return Some(format!("{} {}", words[0], action.map_or("", String::as_str)));
    }
    // List another command only if it ran more than once. A command that ran once is unlikely to be needed again.
    let is_work =
        || matches!(run::command_purpose(&command.command, &command.folder), CommandPurpose::Other(_));
    (command.runs > 1 && is_work()).then(|| inline_for_model(runnable, MAX_ARGUMENT_CHARS))
}

/// Returns whether the session edited or built the program.
fn is_own_program(digest: &Digest, program: &str) -> bool {
    let path = program.trim_start_matches("./");
    if !program.contains('/') || program.starts_with(['/', '~', '$', '.']) && !program.starts_with("./") {
        return false;
    }
    let is_output = |words: &Vec<String>| {
        words.windows(2).any(|pair| pair[0] == "-o" && pair[1].trim_start_matches("./") == path)
    };
    BUILD_FOLDERS.iter().any(|folder| path.starts_with(folder))
        || digest.files.iter().any(|file| file.edits > 0 && file.path == path)
        || digest.commands.iter().any(|known| {
            known.command.contains("-o ") && shell::simple_commands(&known.command).iter().any(is_output)
        })
}

/// For each kind of request to another service, adds the form of the last request that the service accepted, because
/// the exact form is hard to work out again.
fn add_request_forms(digest: &Digest, all: &mut GatheredCandidates) {
    let mut kinds: Vec<EffectKind> = Vec::new();
    for used in digest.effects.iter().rev().filter(|used| is_request(used)) {
        let command = digest.commands.iter().find(|command| command.last_run_record == used.record);
        let Some(form) = command.and_then(|command| form_of_request(&command.command)) else { continue };
        if kinds.len() < MAX_SERVICE_REQUESTS_LISTED && !kinds.contains(&used.effect.kind) {
            kinds.push(used.effect.kind);
            let text = in_backticks(&form, MAX_LISTED_CHECK_COMMAND_CHARS);
            all.add_fact(FactClass::Commands, format!("request:{}", used.record), vec![text]);
        }
    }
}

fn is_request(used: &RecordedEffect) -> bool {
    matches!(
        used.effect.kind,
        EffectKind::Comment
            | EffectKind::Review
            | EffectKind::Issue
            | EffectKind::Message
            | EffectKind::Request
    )
}

/// Returns the request in a command line, with `{id}` for each id and `…` for each long argument. Returns `None` if the
/// line contains no request, or if the result is too long.
fn form_of_request(command: &str) -> Option<String> {
    const REQUEST_PROGRAMS: &[&str] = &["gh", "glab", "curl", "http", "wget", "az", "jira", "linear"];
    let all = shell::simple_commands(command);
    let words = all.iter().rev().find(|words| REQUEST_PROGRAMS.contains(&words[0].as_str()))?;
    let shorten = |word: &String| {
        let is_text = word.contains(char::is_whitespace) || word.chars().count() > MAX_ARGUMENT_CHARS;
        match word.split_once('=') {
            Some((name, _)) if is_text && !name.contains(char::is_whitespace) => format!("{name}=…"),
            _ if is_text && !word.contains('/') => "…".to_owned(),
            _ if is_text && word.contains(char::is_whitespace) => "…".to_owned(),
            _ => replace_ids(word),
        }
    };
    let form = words.iter().map(shorten).collect::<Vec<_>>().join(" ");
    (form.chars().count() <= MAX_LISTED_CHECK_COMMAND_CHARS).then_some(form)
}

fn replace_ids(word: &str) -> String {
    let mut text = String::new();
    for part in word.split_inclusive(|c: char| !c.is_ascii_digit()) {
        let digits = part.trim_end_matches(|c: char| !c.is_ascii_digit());
        text.push_str(if digits.len() >= MIN_ID_DIGITS { "{id}" } else { digits });
        text.push_str(&part[digits.len()..]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::JournalRecord;

    #[test]
    fn the_form_of_a_request_has_no_ids_and_no_texts() {
        let cases = [
            (
                "gh api repos/o/r/pulls/90/comments/2719281053/replies -f body=\"Fixed in the last commit.\"",
                Some("gh api repos/o/r/pulls/90/comments/{id}/replies -f body=…"),
            ),
            ("cd x && gh pr comment 12 --body 'Thank you, done.'", Some("gh pr comment 12 --body …")),
            ("echo hello", None),
        ];
        for (command, form) in cases {
            assert_eq!(form_of_request(command).as_deref(), form, "{command}");
        }
    }

    #[test]
    fn programs_of_the_session_are_recognised() {
        let mut digest = Digest::new("s");
        for (n, command) in ["go build -o ./app ./cmd/app", "./app list"].iter().enumerate() {
            digest.fold_record(&JournalRecord {
                event: "tool-done".into(),
                tool: "Bash".into(),
                id: n.to_string().into(),
                ok: Some(true),
                exit: Some(0),
                command: (*command).into(),
                ..JournalRecord::default()
            });
        }
        let cases = [
            ("./app", true),
            ("./other", false),
            ("target/debug/app", true),
            ("app", false),
            ("/bin/ls", false),
        ];
        for (program, is_own) in cases {
            assert_eq!(is_own_program(&digest, program), is_own, "{program}");
        }
    }
}
