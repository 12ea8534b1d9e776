//! Other programs that reach outside: one table of what they are told and what they say when it is done.

use super::parts::Part;
use super::said::link_in;
use super::{Effect, Kind, Seen, flag};

/// One row: a program, the words behind it that make it act, and how its output names what it did.
struct Row {
    programs: &'static [&'static str],
    /// Each entry must be found among the words in this order; `a|b` is one of them; empty for the program alone.
    verbs: &'static [&'static str],
    kind: Kind,
    /// What stands before the id in a line of the output; the line shows that it was done.
    says: &'static [&'static str],
    /// With one of these it only tries, or looks.
    unless: &'static [&'static str],
}

const fn row(
    programs: &'static [&'static str],
    verbs: &'static [&'static str],
    kind: Kind,
    says: &'static [&'static str],
) -> Row {
    Row { programs, verbs, kind, says, unless: &[] }
}

const NPM: &[&str] = &["npm", "pnpm", "yarn", "bun"];
const DOCKER: &[&str] = &["docker", "podman", "nerdctl"];
const TERRAFORM: &[&str] = &["terraform", "tofu", "terragrunt"];
const KUBECTL: &[&str] = &["kubectl", "oc", "k"];
const DRY: &[&str] = &[
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

static ROWS: &[Row] = &[
    // Kubernetes prints a line for each thing; see `resources`.
    row(
        KUBECTL,
        &[
            "apply|create|delete|patch|replace|scale|annotate|label|set|drain|cordon|uncordon|expose|autoscale|taint|rollout",
        ],
        Kind::Deployment,
        &[],
    ),
    row(
        &["helm"],
        &["install|upgrade|uninstall|rollback|delete"],
        Kind::Deployment,
        &["Release \"", "release \"", "NAME: ", "Rollback was a success"],
    ),
    row(&["helmfile"], &["apply|sync|destroy"], Kind::Deployment, &[]),
    row(&["kustomize"], &["apply"], Kind::Deployment, &[]),
    row(
        TERRAFORM,
        &["apply|destroy|import"],
        Kind::Deployment,
        &["Apply complete! ", "Destroy complete! ", "Import successful"],
    ),
    row(TERRAFORM, &["state", "rm|mv"], Kind::Deployment, &["Successfully "]),
    row(
        &["pulumi"],
        &["up|destroy|update"],
        Kind::Deployment,
        &["View Live: ", "View in Browser", "Resources:"],
    ),
    row(&["cdk"], &["deploy|destroy"], Kind::Deployment, &["Stack ARN:"]),
    row(&["sam"], &["deploy|delete"], Kind::Deployment, &["Successfully created/updated stack - "]),
    row(&["serverless", "sls"], &["deploy|remove"], Kind::Deployment, &["endpoint:", "Service deployed"]),
    row(&["ansible-playbook"], &[""], Kind::Deployment, &["PLAY RECAP"]),
    row(
        &["fly", "flyctl"],
        &["deploy|launch|scale|secrets|destroy|restart|rollback"],
        Kind::Deployment,
        &["Visit your newly deployed app at ", "image: ", "deployed"],
    ),
    row(
        &["vercel"],
        &["deploy|--prod|promote|rollback|remove|alias"],
        Kind::Deployment,
        &["Production: ", "Preview: "],
    ),
    row(&["vercel"], &[""], Kind::Deployment, &["Production: ", "Preview: "]),
    row(
        &["netlify", "ntl"],
        &["deploy"],
        Kind::Deployment,
        &["Website URL:", "Unique Deploy URL:", "Unique deploy URL:", "Website draft URL:"],
    ),
    row(
        &["wrangler"],
        &["deploy|publish|delete|rollback"],
        Kind::Deployment,
        &["Current Version ID: ", "Current Deployment ID: ", "Published "],
    ),
    row(&["wrangler"], &["secret", "put|delete"], Kind::Deployment, &["Success!"]),
    row(&["wrangler"], &["d1", "migrations", "apply"], Kind::Migration, &[]),
    row(
        &["gcloud"],
        &[
            "deploy|create|delete|update|set-iam-policy|add-iam-policy-binding|submit|update-traffic|reset|resize|publish",
        ],
        Kind::Deployment,
        &["Service URL: ", "Deployed service ", "Created [", "Updated [", "Deleted ["],
    ),
    row(&["gsutil"], &["cp|rsync|rm|mv"], Kind::Deployment, &[]),
    row(&["firebase"], &["deploy"], Kind::Deployment, &["Hosting URL: ", "Deploy complete!"]),
    row(
        &["heroku"],
        &["releases:rollback|container:release|config:set|ps:scale|pg:reset|create|addons:create"],
        Kind::Deployment,
        &["Released "],
    ),
    row(&["railway"], &["up|redeploy|down"], Kind::Deployment, &["Build Logs: "]),
    row(&["eas"], &["build|submit|update"], Kind::Deployment, &["Build details: "]),
    row(&["amplify"], &["push|publish"], Kind::Deployment, &[]),
    row(&["supabase"], &["functions", "deploy"], Kind::Deployment, &["Deployed Function"]),
    row(&["supabase"], &["db", "push|reset"], Kind::Migration, &["Finished supabase db push"]),
    row(&["supabase"], &["migration", "up"], Kind::Migration, &[]),
    row(&["az"], &["create|delete|update|deploy|up|start|stop|restart"], Kind::Deployment, &[]),
    row(&["kamal"], &["deploy|redeploy|rollback"], Kind::Deployment, &[]),
    row(&["cap"], &["deploy"], Kind::Deployment, &[]),
    row(DOCKER, &["push"], Kind::Package, &["digest: "]),
    row(DOCKER, &["build", "--push"], Kind::Package, &["pushing manifest for "]),
    row(&["skopeo"], &["copy"], Kind::Package, &[]),
    row(NPM, &["publish|unpublish|deprecate|dist-tag"], Kind::Package, &["+ ", "- "]),
    row(&["lerna", "changeset"], &["publish"], Kind::Package, &["+ "]),
    row(&["semantic-release"], &[""], Kind::Package, &["Published release "]),
    row(&["cargo"], &["publish|yank"], Kind::Package, &["Published ", "Uploaded ", "Yank "]),
    row(&["twine"], &["upload"], Kind::Package, &["View at:"]),
    row(&["uv", "poetry", "flit", "hatch", "pdm", "maturin"], &["publish|upload"], Kind::Package, &[]),
    row(&["gem"], &["push|yank"], Kind::Package, &["Successfully registered gem: "]),
    row(&["dotnet"], &["nuget", "push"], Kind::Package, &["Your package was pushed"]),
    row(&["mvn", "mvnw"], &["deploy|release:perform"], Kind::Package, &[]),
    row(&["gradle", "gradlew"], &["publish|publishPlugins|publishToMavenCentral"], Kind::Package, &[]),
    row(&["goreleaser"], &["release"], Kind::Release, &["release created/updated"]),
    row(&["vsce", "ovsx"], &["publish"], Kind::Package, &["Published "]),
    row(
        &["rails", "rake"],
        &["db:migrate|db:rollback|db:reset|db:drop|db:create|db:seed|db:setup|db:schema:load|db:prepare"],
        Kind::Migration,
        &[],
    ),
    row(
        &["alembic"],
        &["upgrade|downgrade|stamp"],
        Kind::Migration,
        &["Running upgrade ", "Running downgrade "],
    ),
    row(&["flask"], &["db", "upgrade|downgrade"], Kind::Migration, &["Running upgrade "]),
    row(&["prisma"], &["migrate", "deploy|dev|reset|resolve"], Kind::Migration, &["Applying migration `"]),
    row(&["prisma"], &["db", "push|execute|seed"], Kind::Migration, &[]),
    row(&["sqlx"], &["migrate", "run|revert"], Kind::Migration, &["Applied "]),
    row(&["sqlx", "diesel"], &["database", "drop|create|reset|setup"], Kind::Migration, &[]),
    row(&["diesel"], &["migration", "run|revert|redo"], Kind::Migration, &["Running migration "]),
    row(&["sea-orm-cli"], &["migrate"], Kind::Migration, &["Applying migration "]),
    row(&["python", "python3", "manage.py", "django-admin"], &["migrate"], Kind::Migration, &["Applying "]),
    row(
        &["knex"],
        &["migrate:latest|migrate:up|migrate:rollback|migrate:down"],
        Kind::Migration,
        &["Batch "],
    ),
    row(&["sequelize", "sequelize-cli"], &["db:migrate|db:migrate:undo"], Kind::Migration, &["== "]),
    row(
        &["typeorm"],
        &["migration:run|migration:revert|schema:sync"],
        Kind::Migration,
        &["has been executed successfully"],
    ),
    row(&["drizzle-kit"], &["push|migrate"], Kind::Migration, &[]),
    row(
        &["goose", "dbmate", "migrate", "atlas"],
        &["up|down|apply|rollback|goto|drop"],
        Kind::Migration,
        &["OK ", "Applying: ", "Applied: "],
    ),
    row(
        &["flyway", "liquibase"],
        &["migrate|update|rollback|clean|undo"],
        Kind::Migration,
        &["Successfully applied "],
    ),
    row(&["mix"], &["ecto.migrate|ecto.rollback|ecto.reset"], Kind::Migration, &["== Migrated "]),
    row(&["artisan", "php"], &["migrate|migrate:fresh|migrate:rollback"], Kind::Migration, &["Migrated: "]),
    row(&["dotnet"], &["ef", "database", "update|drop"], Kind::Migration, &["Applying migration '"]),
    row(&["mail", "mailx", "sendmail", "mutt", "msmtp", "swaks", "sendemail"], &[""], Kind::Message, &[]),
    row(&["slack"], &["chat|send|post"], Kind::Message, &[]),
    row(&["slackcat", "ntfy"], &[""], Kind::Message, &[]),
    row(&["twilio"], &["messages:create|api:core:messages:create"], Kind::Message, &[]),
];

/// Words of `aws` that change something begin with these.
const AWS: &[&str] = &[
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

/// Words that stand in a command line which a rule may be about. Asked of every command, so a plain match.
pub(super) fn is_telling(word: &str) -> bool {
    matches!(
        word,
        "commit"
            | "push"
            | "merge"
            | "pull"
            | "rebase"
            | "tag"
            | "branch"
            | "checkout"
            | "switch"
            | "restore"
            | "reset"
            | "stash"
            | "clean"
            | "worktree"
            | "cherry-pick"
            | "revert"
            | "gh"
            | "glab"
            | "curl"
            | "wget"
            | "http"
            | "https"
            | "xh"
            | "publish"
            | "unpublish"
            | "yank"
            | "deprecate"
            | "dist-tag"
            | "upload"
            | "deploy"
            | "redeploy"
            | "migrate"
            | "upgrade"
            | "downgrade"
            | "release"
            | "kubectl"
            | "oc"
            | "k"
            | "helm"
            | "helmfile"
            | "kustomize"
            | "terraform"
            | "tofu"
            | "terragrunt"
            | "pulumi"
            | "cdk"
            | "sam"
            | "serverless"
            | "sls"
            | "ansible-playbook"
            | "fly"
            | "flyctl"
            | "vercel"
            | "netlify"
            | "ntl"
            | "wrangler"
            | "gcloud"
            | "gsutil"
            | "firebase"
            | "heroku"
            | "railway"
            | "eas"
            | "amplify"
            | "supabase"
            | "az"
            | "aws"
            | "kamal"
            | "cap"
            | "skopeo"
            | "lerna"
            | "changeset"
            | "semantic-release"
            | "twine"
            | "goreleaser"
            | "vsce"
            | "ovsx"
            | "nuget"
            | "publishPlugins"
            | "publishToMavenCentral"
            | "release:perform"
            | "rails"
            | "rake"
            | "alembic"
            | "flask"
            | "prisma"
            | "sqlx"
            | "diesel"
            | "sea-orm-cli"
            | "knex"
            | "sequelize"
            | "sequelize-cli"
            | "typeorm"
            | "drizzle-kit"
            | "goose"
            | "dbmate"
            | "atlas"
            | "flyway"
            | "liquibase"
            | "ecto.migrate"
            | "ecto.rollback"
            | "ecto.reset"
            | "artisan"
            | "migrate:fresh"
            | "migrate:rollback"
            | "ef"
            | "mail"
            | "mailx"
            | "sendmail"
            | "mutt"
            | "msmtp"
            | "swaks"
            | "sendemail"
            | "slack"
            | "slackcat"
            | "ntfy"
            | "twilio"
            | "scp"
            | "rsync"
            | "--push"
    )
}

pub(super) fn rule(seen: &mut Seen, part: &Part) {
    let words = &part.words;
    let program = words[0].as_str();
    if flag(words, &["--help", "-h", "help", "--version"]) || flag(words, DRY) {
        return;
    }
    match program {
        "aws" => return aws(seen, part),
        "scp" | "rsync" => return copied(seen, part),
        _ => {}
    }
    let Some(row) = ROWS.iter().find(|row| row.programs.contains(&program) && acts(row, words)) else {
        return;
    };
    if flag(words, row.unless) {
        return;
    }
    if row.programs == KUBECTL {
        return resources(seen, part);
    }
    let shown = seen.said.take(|line| {
        let line = line.trim().trim_start_matches(['✅', '✔', '✓', '>', '=', ' ', '\u{fe0f}']);
        row.says.iter().any(|words| starts(line, words)).then_some(line)
    });
    if shown.is_some() || seen.happened(part) {
        let link = link_in(shown.unwrap_or(""), |_| true).or_else(|| {
            let is_place = |link: &str| !link.contains("/docs") && !link.contains("help");
            seen.said
                .lines()
                .find_map(|line| link_in(line, is_place))
                .filter(|_| matches!(row.kind, Kind::Package | Kind::Deployment | Kind::Release))
        });
        let id = shown.map(|line| id_of(line, row)).unwrap_or_default();
        let what = crate::render::one_line(&words.join(" "), 100);
        seen.add(Effect { link: link.unwrap_or("").to_owned(), ..Effect::new(row.kind, &what, "", &id) });
    }
}

/// Some marks stand in the middle of a line: `v1: digest: sha256:… size: 1`.
fn starts(line: &str, words: &str) -> bool {
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

/// What a line says besides the words that every such line has.
fn id_of(line: &str, row: &Row) -> String {
    let rest = match row.says.iter().find_map(|words| line.split_once(words)) {
        Some((_, rest)) if line.contains("digest: ") => rest.split(' ').next().unwrap_or(rest),
        Some((_, rest)) if matches!(row.kind, Kind::Package) => rest,
        _ => line,
    };
    crate::render::one_line(rest.trim_matches(['`', '"', '\'', ' ', ':']), 110)
}

fn acts(row: &Row, words: &[String]) -> bool {
    if row.verbs == [""] {
        return row.programs != ["vercel"] || words[1..].iter().all(|word| word.starts_with('-'));
    }
    let mut rest = words[1..].iter();
    row.verbs.iter().all(|verb| rest.any(|word| verb.split('|').any(|one| one == word)))
        // The verb comes early; what follows are names.
        && words.iter().take(6).any(|word| row.verbs[0].split('|').any(|one| one == word))
}

/// `deployment.apps/web configured`: one effect for all that changed.
fn resources(seen: &mut Seen, part: &Part) {
    let verb = part.words[1..].iter().find(|word| !word.starts_with('-')).map_or("", String::as_str);
    if verb == "rollout" && !flag(&part.words, &["restart", "undo", "pause", "resume"])
        || verb == "config"
        || verb == "get"
    {
        return;
    }
    let changed: Vec<&str> = seen.said.lines().filter(|line| is_resource(line)).map(str::trim).collect();
    let unchanged = seen.said.lines().any(|line| line.ends_with(" unchanged"));
    if !changed.is_empty() || !unchanged && seen.happened(part) {
        let what = crate::render::one_line(&part.words.join(" "), 100);
        seen.add(Effect::new(Kind::Deployment, &what, "", &changed.join(", ")));
    }
}

fn is_resource(line: &str) -> bool {
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

/// `aws s3 cp`, `aws lambda update-function-code`: the verb says whether it changes something.
fn aws(seen: &mut Seen, part: &Part) {
    let words: Vec<&str> =
        part.words[1..].iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    let [service, verb, ..] = words.as_slice() else { return };
    let first = verb.split('-').next().unwrap_or(verb);
    // Copying down changes nothing outside.
    let is_download = *service == "s3"
        && matches!(*verb, "cp" | "sync" | "mv")
        && words.last().is_some_and(|to| !to.starts_with("s3://"));
    if !AWS.contains(&first)
        || is_download
        || matches!(*service, "configure" | "sts" | "logs")
        || flag(&part.words, &["--dryrun"])
    {
        return;
    }
    let kind = if matches!((*service, first), ("ses" | "sesv2" | "sns" | "sqs", "send" | "publish")) {
        Kind::Message
    } else {
        Kind::Deployment
    };
    let id = seen.said.take(|line| {
        let line = line.trim();
        let (key, value) = line.strip_prefix('"')?.split_once("\": \"")?;
        (key.ends_with("Arn") || key.ends_with("Id")).then(|| value.split('"').next())?
    });
    if id.is_some() || seen.happened(part) {
        let what = crate::render::one_line(&format!("aws {}", words.join(" ")), 100);
        seen.add(Effect::new(kind, &what, "", id.unwrap_or_default()));
    }
}

/// Copied to another machine: the last word is `host:path`.
fn copied(seen: &mut Seen, part: &Part) {
    let Some(to) = part.words.last().filter(|_| part.words.len() > 2) else { return };
    let is_remote = to.split_once(':').is_some_and(|(host, _)| !host.is_empty() && !host.contains('/'));
    if is_remote && !flag(&part.words, &["-n"]) && seen.happened(part) {
        let what = crate::render::one_line(&part.words.join(" "), 100);
        seen.add(Effect::new(Kind::Deployment, &what, to, ""));
    }
}
