//! Rules for `gh` and `glab`: pull requests, issues, comments, reviews, releases and API requests.

use super::command_output::{CreatedIds, id_of_link};
use super::parts::UnwrappedCommand;
use super::{Effect, EffectCollector, EffectKind, has_flag, option_value, request};

pub(super) fn apply_forge_rule(seen: &mut EffectCollector, part: &UnwrappedCommand) {
    let words = without_repository(&part.words[1..]);
    let (Some(group), verb) = (words.first(), words.get(1).map_or("", |word| word)) else { return };
    let rest = words.get(2..).unwrap_or_default();
    let repository = option_value(&part.words, &["-R", "--repo"]).unwrap_or_default();
    if has_flag(rest, &["--help", "-h", "--dry-run"]) {
        return;
    }
    if *group == "api" {
        let rest: Vec<String> = words[1..].iter().map(|word| (*word).to_owned()).collect();
        return add_api_request(seen, part, &rest, &repository);
    }
    let Some((kind, done)) = effect_of_verb(group, verb) else { return };
    // The target of `gh pr comment` or `gh issue close` may be a number, a link or a branch.
    let target = first_operand(rest).unwrap_or_default();
    if *group == "pr" && verb == "create" && has_flag(rest, &["--web", "-w"]) {
        return;
    }
    let title = option_value(rest, &["--title", "-t"]).filter(|_| verb == "create");
    let what = match (&title, target.is_empty() || verb == "create") {
        (Some(title), _) => format!("{done}: {title}"),
        (None, false) => format!("{done} {}", number_or_name(target)),
        (None, true) => done.to_owned(),
    };
    if verb == "create" && seen.output.contains_text("already exists") {
        return;
    }
    let before = seen.effects.len();
    loop {
        let shown =
            seen.output.take_first_line(|line| link_of_changed_page(line.trim(), group, &part.piped_into));
        let noted = if shown.is_some() {
            None
        } else {
            seen.output.take_first_line(|line| parse_noted_target(line, group))
        };
        let is_first = seen.effects.len() == before;
        let (link, number) = match (shown, noted) {
            (Some(link), _) => (link.to_owned(), id_of_link(link).to_owned()),
            (None, Some((place, number))) => {
                let mut effect = Effect::new(kind, &what, place, number);
                if effect.place.is_empty() {
                    effect.place.clone_from(&repository);
                }
                seen.add_effect(effect);
                return;
            }
            (None, None) if is_first && seen.probably_succeeded(part) => {
                let number = if verb == "create" { "" } else { number_or_name(target) };
                let mut effect = Effect::new(kind, &what, &repository, number);
                if group == &"release" {
                    effect.id = target.to_owned();
                }
                seen.add_effect(effect);
                return;
            }
            (None, None) => return,
        };
        let place = repository_of_link(&link).unwrap_or(&repository).to_owned();
        seen.add_effect(Effect { link, ..Effect::new(kind, &what, &place, &number) });
        if !part.may_run_repeatedly {
            return;
        }
    }
}

/// Returns the effect of a command such as `pr create`, or `None` for a command that only reads.
fn effect_of_verb(group: &str, verb: &str) -> Option<(EffectKind, &'static str)> {
    let done = match verb {
        "create" | "new" => "created",
        "merge" | "accept" => "merged",
        "close" => "closed",
        "reopen" => "reopened",
        "edit" | "update" => "edited",
        "comment" | "note" => "comment on",
        "review" | "approve" => "reviewed",
        "ready" => "marked as ready",
        "delete" | "remove" => "deleted",
        "lock" => "locked",
        "transfer" => "transferred",
        "pin" => "pinned",
        "upload" => "uploaded to",
        "run" | "trigger" => "started",
        "rerun" | "retry" => "run again",
        "cancel" => "cancelled",
        "enable" => "enabled",
        "disable" => "disabled",
        "set" => "set",
        "fork" => "forked",
        "rename" => "renamed",
        "archive" => "archived",
        "add" => "added",
        "sync" => "synced",
        _ => return None,
    };
    let kind = match (group, verb) {
        ("pr" | "mr" | "issue", "comment" | "note") => EffectKind::Comment,
        ("pr" | "mr", "review" | "approve") => EffectKind::Review,
        ("pr" | "mr", "run" | "set" | "sync" | "fork" | "add") => return None,
        ("pr" | "mr", _) => EffectKind::PullRequest,
        ("issue", "set" | "run" | "sync" | "fork" | "add") => return None,
        ("issue", _) => EffectKind::Issue,
        ("release", _) => EffectKind::Release,
        ("workflow", "run" | "enable" | "disable")
        | ("run" | "ci" | "pipeline", "rerun" | "cancel" | "delete" | "run" | "trigger" | "retry")
        | ("repo", "create" | "delete" | "fork" | "rename" | "archive" | "edit" | "sync")
        | (
            "label" | "gist" | "ruleset" | "milestone" | "deploy-key" | "ssh-key",
            "create" | "delete" | "edit" | "add",
        )
        | ("secret" | "variable", "set" | "delete" | "remove" | "update" | "create")
        | ("snippet", "create") => EffectKind::Request,
        _ => return None,
    };
    Some((kind, done))
}

/// Returns the words without the option `-R owner/name`.
fn without_repository(words: &[String]) -> Vec<&str> {
    let mut kept = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-R" | "--repo" => {
                words.next();
            }
            word if word.starts_with("--repo=") => {}
            word => kept.push(word),
        }
    }
    kept
}

/// Returns the first word that is neither an option nor an option's value.
fn first_operand<'a>(words: &[&'a str]) -> Option<&'a str> {
    let alone = [
        "--squash",
        "--merge",
        "--rebase",
        "--admin",
        "--auto",
        "--delete-branch",
        "-d",
        "-s",
        "-m",
        "--draft",
        "--fill",
        "--approve",
        "-a",
        "--request-changes",
        "-r",
        "--comment",
        "-c",
        "--yes",
        "-y",
        "--undo",
        "--edit-last",
        "--prerelease",
        "--generate-notes",
        "--latest",
        "--clobber",
        "--public",
        "--private",
        "--failed",
        "-f",
    ];
    let mut skip = false;
    for word in words {
        if std::mem::take(&mut skip) {
            continue;
        }
        if word.starts_with('-') {
            skip = !alone.contains(word) && !word.contains('=');
            continue;
        }
        return Some(word);
    }
    None
}

/// Returns the link to the created or changed page. The link must be alone on its line, unless the output was
/// filtered.
fn link_of_changed_page<'a>(line: &'a str, group: &str, filters: &[String]) -> Option<&'a str> {
    let link = match filters.is_empty() {
        true => line,
        false => super::command_output::find_link(line, |_| true)?,
    };
    let link = link.trim();
    let parts: &[&str] = match group {
        "pr" | "mr" => &["/pull/", "/merge_requests/", "/pulls/"],
        "issue" => &["/issues/", "/pull/"],
        "release" => &["/releases/"],
        "gist" | "snippet" => &["gist.", "/snippets/"],
        "repo" => &["https://"],
        _ => return None,
    };
    let is_one = link.starts_with("https://")
        && !link.contains(char::is_whitespace)
        && !link.contains("/pull/new/")
        && !link.contains("/merge_requests/new")
        && parts.iter().any(|part| link.contains(part));
    is_one.then_some(link)
}

/// Parses a line such as `✓ Squashed and merged pull request owner/name#5 (Title)` into repository and number.
fn parse_noted_target<'a>(line: &'a str, group: &str) -> Option<(&'a str, &'a str)> {
    let noun = match group {
        "pr" => "ull request ",
        "mr" => "erge request ",
        "issue" => "ssue ",
        _ => return None,
    };
    if !line.starts_with(['✓', '-', '!', '•', '✔']) || line.contains("already") {
        return None;
    }
    let (_, rest) = line.split_once(noun)?;
    let (place, number) = rest.split(' ').next()?.split_once(['#', '!'])?;
    let digits = number.len() - number.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    (digits > 0).then_some((place, &number[..digits]))
}

/// Returns `owner/name` from `https://github.com/owner/name/pull/5`.
fn repository_of_link(link: &str) -> Option<&str> {
    let (_, path) = link.split_once("://")?.1.split_once('/')?;
    let end = ["/pull", "/issues", "/releases", "/-/", "/compare", "/actions"]
        .iter()
        .filter_map(|part| path.find(part))
        .min()?;
    Some(&path[..end])
}

/// Returns the number in a link or in `#5`. Any other target is returned unchanged.
fn number_or_name(target: &str) -> &str {
    if target.starts_with("http") { id_of_link(target) } else { target.trim_start_matches('#') }
}

/// Adds an API request that changes something. A request changes something if the command names a method other than GET
/// or HEAD, or if it names no method but has fields.
fn add_api_request(seen: &mut EffectCollector, part: &UnwrappedCommand, words: &[String], repository: &str) {
    let fields = ["-f", "-F", "--field", "--raw-field", "--input", "--form"];
    let has_fields = words.iter().any(|word| {
        fields
            .iter()
            .any(|name| word == name || name.starts_with("--") && word.starts_with(&format!("{name}=")))
    });
    let method = option_value(words, &["-X", "--method"]).map(|method| method.to_ascii_uppercase());
    let Some(path) = path_of_request(words) else { return };
    let written = match method.as_deref() {
        Some("GET" | "HEAD") => return,
        Some(method) => method.to_owned(),
        None if has_fields => "POST".to_owned(),
        None => return,
    };
    let target = if path == "graphql" {
        let text = words.join(" ");
        let Some(target) = request::parse_mutation(&text) else { return };
        target
    } else {
        request::RequestTarget::from_api_path(&path, &written, repository)
    };
    let before = seen.effects.len();
    loop {
        let is_link = |word: &str| word.starts_with("https://");
        match seen.output.take_created_ids(is_link) {
            Some(CreatedIds { failed: true, .. }) => {}
            Some(made) => seen.add_effect(target.to_effect(&made)),
            None => {
                if seen.effects.len() == before && seen.probably_succeeded(part) {
                    seen.add_effect(target.to_effect(&CreatedIds::default()));
                }
                return;
            }
        }
        if !part.may_run_repeatedly {
            return;
        }
    }
}

/// Returns a request's path, which is the first operand.
fn path_of_request(words: &[String]) -> Option<String> {
    let takes_value = [
        "-X",
        "--method",
        "-f",
        "-F",
        "--field",
        "--raw-field",
        "-H",
        "--header",
        "-q",
        "--jq",
        "-t",
        "--template",
        "--input",
        "-p",
        "--preview",
        "--hostname",
        "--cache",
        "--form",
    ];
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if takes_value.contains(&word.as_str()) {
            words.next();
        } else if !word.starts_with('-') {
            let path = word.trim_start_matches('/');
            return Some(path.split('?').next().unwrap_or(path).to_owned());
        }
    }
    None
}
