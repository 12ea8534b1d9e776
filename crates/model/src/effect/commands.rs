//! Rules for the programs in [`PROGRAM_ROWS`], which affect the outside world.

use super::command_output::find_link;
use super::parts::UnwrappedCommand;
use super::table::{KUBECTL_PROGRAMS, PROGRAM_ROWS, ProgramRow};
use super::{Effect, EffectCollector, EffectKind, has_flag};

/// Options that make a program change nothing.
const DRY_RUN_FLAGS: &[&str] = &[
    "--dry-run",
    "--dry-run=client",
    "--dry-run=server",
    "--check",
    "--noop",
    "--sql",
    "--list",
    "--plan",
    "--pretend",
];

/// First words of `aws` subcommands that change something.
const AWS_VERBS: &[&str] = &[
    "create",
    "update",
    "delete",
    "put",
    "run",
    "start",
    "stop",
    "terminate",
    "invoke",
    "publish",
    "send",
    "deploy",
    "register",
    "deregister",
    "attach",
    "detach",
    "tag",
    "untag",
    "copy",
    "restore",
    "modify",
    "reboot",
    "add",
    "remove",
    "cp",
    "sync",
    "mv",
    "rm",
    "mb",
    "rb",
    "execute",
    "enable",
    "disable",
    "set",
];

pub(super) fn apply_command_rule(seen: &mut EffectCollector, part: &UnwrappedCommand) {
    let words = &part.words;
    let program = words[0].as_str();
    if has_flag(words, &["--help", "-h", "help", "--version"]) || has_flag(words, DRY_RUN_FLAGS) {
        return;
    }
    match program {
        "aws" => return add_aws_effect(seen, part),
        "scp" | "rsync" => return add_remote_copy(seen, part),
        _ => {}
    }
    let Some(row) =
        PROGRAM_ROWS.iter().find(|row| row.programs.contains(&program) && row_matches_command(row, words))
    else {
        return;
    };
    if row.programs == KUBECTL_PROGRAMS {
        return add_changed_resources(seen, part);
    }
    let shown = seen.output.take_first_line(|line| {
        let line = line.trim().trim_start_matches(['✅', '✔', '✓', '>', '=', ' ', '\u{fe0f}']);
        row.says.iter().any(|words| line_starts_with_rule_text(line, words)).then_some(line)
    });
    if shown.is_some() || seen.probably_succeeded(part) {
        let link = find_link(shown.unwrap_or(""), |_| true).or_else(|| {
            let is_place = |link: &str| !link.contains("/docs") && !link.contains("help");
            seen.output.lines().find_map(|line| find_link(line, is_place)).filter(|_| {
                matches!(row.kind, EffectKind::Package | EffectKind::Deployment | EffectKind::Release)
            })
        });
        let id = shown.map(|line| id_in_line(line, row)).unwrap_or_default();
        let what = crate::render::one_line(&words.join(" "), 100);
        seen.add_effect(Effect {
            link: link.unwrap_or("").to_owned(),
            ..Effect::new(row.kind, &what, "", &id)
        });
    }
}

/// Returns whether a line starts with a rule's fixed text. Some fixed text may also occur later in the line, as in `v1:
/// digest: sha256:… size: 1`.
fn line_starts_with_rule_text(line: &str, words: &str) -> bool {
    match words {
        "digest: "
        | "Running upgrade "
        | "Running downgrade "
        | "pushing manifest for "
        | "has been executed successfully"
        | "== Migrated "
        | "Successfully applied "
        | "deployed"
        | "release created/updated" => line.contains(words),
        _ => line.starts_with(words),
    }
}

/// Returns the id in a line. For some rules, the id follows the rule's fixed text. For all others, it is the whole
/// line.
fn id_in_line(line: &str, row: &ProgramRow) -> String {
    let rest = match row.says.iter().find_map(|words| line.split_once(words)) {
        Some((_, rest)) if line.contains("digest: ") => rest.split(' ').next().unwrap_or(rest),
        Some((_, rest)) if matches!(row.kind, EffectKind::Package) => rest,
        _ => line,
    };
    crate::render::one_line(rest.trim_matches(['`', '"', '\'', ' ', ':']), 110)
}

fn row_matches_command(row: &ProgramRow, words: &[String]) -> bool {
    if row.verbs == [""] {
        return row.programs != ["vercel"] || words[1..].iter().all(|word| word.starts_with('-'));
    }
    let mut rest = words[1..].iter();
    row.verbs.iter().all(|verb| rest.any(|word| verb.split('|').any(|one| one == word)))
        // The verb must be among the first words, because later words may be names.
        && words.iter().take(6).any(|word| row.verbs[0].split('|').any(|one| one == word))
}

/// Adds one effect for all changed resources, which are printed as `deployment.apps/web configured`.
fn add_changed_resources(seen: &mut EffectCollector, part: &UnwrappedCommand) {
    let verb = part.words[1..].iter().find(|word| !word.starts_with('-')).map_or("", String::as_str);
    if verb == "rollout" && !has_flag(&part.words, &["restart", "undo", "pause", "resume"])
        || verb == "config"
        || verb == "get"
    {
        return;
    }
    let changed: Vec<&str> =
        seen.output.lines().filter(|line| is_resource_line(line)).map(str::trim).collect();
    let unchanged = seen.output.lines().any(|line| line.ends_with(" unchanged"));
    if !changed.is_empty() || !unchanged && seen.probably_succeeded(part) {
        let what = crate::render::one_line(&part.words.join(" "), 100);
        seen.add_effect(Effect::new(EffectKind::Deployment, &what, "", &changed.join(", ")));
    }
}

fn is_resource_line(line: &str) -> bool {
    let Some((name, done)) = line.trim().split_once(' ') else { return false };
    let done = done.rsplit(' ').next().unwrap_or(done);
    let changes = [
        "created",
        "configured",
        "deleted",
        "patched",
        "scaled",
        "restarted",
        "labeled",
        "annotated",
        "replaced",
        "cordoned",
        "drained",
        "exposed",
        "autoscaled",
        "tainted",
        "back",
        "updated",
    ];
    (name.contains('/') || line.contains('"')) && changes.contains(&done)
}

/// Adds the effect of an `aws` command such as `aws s3 cp` or `aws lambda update-function-code`, if its verb changes
/// something.
fn add_aws_effect(seen: &mut EffectCollector, part: &UnwrappedCommand) {
    let words: Vec<&str> =
        part.words[1..].iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    let [service, verb, ..] = words.as_slice() else { return };
    let first = verb.split('-').next().unwrap_or(verb);
    // A download changes nothing on the server.
    let is_download = *service == "s3"
        && matches!(*verb, "cp" | "sync" | "mv")
        && words.last().is_some_and(|to| !to.starts_with("s3://"));
    if !AWS_VERBS.contains(&first)
        || is_download
        || matches!(*service, "configure" | "sts" | "logs")
        || has_flag(&part.words, &["--dryrun"])
    {
        return;
    }
    let kind = if matches!((*service, first), ("ses" | "sesv2" | "sns" | "sqs", "send" | "publish")) {
        EffectKind::Message
    } else {
        EffectKind::Deployment
    };
    let id = seen.output.take_first_line(|line| {
        let line = line.trim();
        let (key, value) = line.strip_prefix('"')?.split_once("\": \"")?;
        (key.ends_with("Arn") || key.ends_with("Id")).then(|| value.split('"').next())?
    });
    if id.is_some() || seen.probably_succeeded(part) {
        let what = crate::render::one_line(&format!("aws {}", words.join(" ")), 100);
        seen.add_effect(Effect::new(kind, &what, "", id.unwrap_or_default()));
    }
}

/// Adds the effect of a command that copies files to another machine. The last word of such a command has the form
/// `host:path`.
fn add_remote_copy(seen: &mut EffectCollector, part: &UnwrappedCommand) {
    let Some(to) = part.words.last().filter(|_| part.words.len() > 2) else { return };
    let is_remote = to.split_once(':').is_some_and(|(host, _)| !host.is_empty() && !host.contains('/'));
    if is_remote && !has_flag(&part.words, &["-n"]) && seen.probably_succeeded(part) {
        let what = crate::render::one_line(&part.words.join(" "), 100);
        seen.add_effect(Effect::new(EffectKind::Deployment, &what, to, ""));
    }
}
