//! The table of programs with effects on the outside world, with their arguments and success messages. The module
//! also lists the words that occur in rules.

use super::EffectKind;

/// A program, the arguments with which it has an effect, and the output that proves the effect.
pub(super) struct ProgramRow {
    pub programs: &'static [&'static str],
    /// The words that must occur, in this order. `a|b` means either word. An empty entry means that no word is
    /// required.
    pub verbs: &'static [&'static str],
    pub kind: EffectKind,
    /// Strings that precede an id in an output line. Such a line proves the effect.
    pub says: &'static [&'static str],
}

const fn program_row(
    programs: &'static [&'static str],
    verbs: &'static [&'static str],
    kind: EffectKind,
    says: &'static [&'static str],
) -> ProgramRow {
    ProgramRow { programs, verbs, kind, says }
}

const NPM_PROGRAMS: &[&str] = &["npm", "pnpm", "yarn", "bun"];
const DOCKER_PROGRAMS: &[&str] = &["docker", "podman", "nerdctl"];
const TERRAFORM_PROGRAMS: &[&str] = &["terraform", "tofu", "terragrunt"];
pub(super) const KUBECTL_PROGRAMS: &[&str] = &["kubectl", "oc", "k"];
pub(super) static PROGRAM_ROWS: &[ProgramRow] = &[
    // Kubernetes prints a line for each resource (see `commands::add_changed_resources`).
    program_row(
        KUBECTL_PROGRAMS,
        &[
            "apply|create|delete|patch|replace|scale|annotate|label|set|drain|cordon|uncordon|expose|autoscale|taint|rollout",
        ],
        EffectKind::Deployment,
        &[],
    ),
    program_row(
        &["helm"],
        &["install|upgrade|uninstall|rollback|delete"],
        EffectKind::Deployment,
        &["Release \"", "release \"", "NAME: ", "Rollback was a success"],
    ),
    program_row(&["helmfile"], &["apply|sync|destroy"], EffectKind::Deployment, &[]),
    program_row(&["kustomize"], &["apply"], EffectKind::Deployment, &[]),
    program_row(
        TERRAFORM_PROGRAMS,
        &["apply|destroy|import"],
        EffectKind::Deployment,
        &["Apply complete! ", "Destroy complete! ", "Import successful"],
    ),
    program_row(TERRAFORM_PROGRAMS, &["state", "rm|mv"], EffectKind::Deployment, &["Successfully "]),
    program_row(
        &["pulumi"],
        &["up|destroy|update"],
        EffectKind::Deployment,
        &["View Live: ", "View in Browser", "Resources:"],
    ),
    program_row(&["cdk"], &["deploy|destroy"], EffectKind::Deployment, &["Stack ARN:"]),
    program_row(
        &["sam"],
        &["deploy|delete"],
        EffectKind::Deployment,
        &["Successfully created/updated stack - "],
    ),
    program_row(
        &["serverless", "sls"],
        &["deploy|remove"],
        EffectKind::Deployment,
        &["endpoint:", "Service deployed"],
    ),
    program_row(&["ansible-playbook"], &[""], EffectKind::Deployment, &["PLAY RECAP"]),
    program_row(
        &["fly", "flyctl"],
        &["deploy|launch|scale|secrets|destroy|restart|rollback"],
        EffectKind::Deployment,
        &["Visit your newly deployed app at ", "image: ", "deployed"],
    ),
    program_row(
        &["vercel"],
        &["deploy|--prod|promote|rollback|remove|alias"],
        EffectKind::Deployment,
        &["Production: ", "Preview: "],
    ),
    program_row(&["vercel"], &[""], EffectKind::Deployment, &["Production: ", "Preview: "]),
    program_row(
        &["netlify", "ntl"],
        &["deploy"],
        EffectKind::Deployment,
        &["Website URL:", "Unique Deploy URL:", "Unique deploy URL:", "Website draft URL:"],
    ),
    program_row(
        &["wrangler"],
        &["deploy|publish|delete|rollback"],
        EffectKind::Deployment,
        &["Current Version ID: ", "Current Deployment ID: ", "Published "],
    ),
    program_row(&["wrangler"], &["secret", "put|delete"], EffectKind::Deployment, &["Success!"]),
    program_row(&["wrangler"], &["d1", "migrations", "apply"], EffectKind::Migration, &[]),
    program_row(
        &["gcloud"],
        &[
            "deploy|create|delete|update|set-iam-policy|add-iam-policy-binding|submit|update-traffic|reset|resize|publish",
        ],
        EffectKind::Deployment,
        &["Service URL: ", "Deployed service ", "Created [", "Updated [", "Deleted ["],
    ),
    program_row(&["gsutil"], &["cp|rsync|rm|mv"], EffectKind::Deployment, &[]),
    program_row(&["firebase"], &["deploy"], EffectKind::Deployment, &["Hosting URL: ", "Deploy complete!"]),
    program_row(
        &["heroku"],
        &["releases:rollback|container:release|config:set|ps:scale|pg:reset|create|addons:create"],
        EffectKind::Deployment,
        &["Released "],
    ),
    program_row(&["railway"], &["up|redeploy|down"], EffectKind::Deployment, &["Build Logs: "]),
    program_row(&["eas"], &["build|submit|update"], EffectKind::Deployment, &["Build details: "]),
    program_row(&["amplify"], &["push|publish"], EffectKind::Deployment, &[]),
    program_row(&["supabase"], &["functions", "deploy"], EffectKind::Deployment, &["Deployed Function"]),
    program_row(&["supabase"], &["db", "push|reset"], EffectKind::Migration, &["Finished supabase db push"]),
    program_row(&["supabase"], &["migration", "up"], EffectKind::Migration, &[]),
    program_row(&["az"], &["create|delete|update|deploy|up|start|stop|restart"], EffectKind::Deployment, &[]),
    program_row(&["kamal"], &["deploy|redeploy|rollback"], EffectKind::Deployment, &[]),
    program_row(&["cap"], &["deploy"], EffectKind::Deployment, &[]),
    program_row(DOCKER_PROGRAMS, &["push"], EffectKind::Package, &["digest: "]),
    program_row(DOCKER_PROGRAMS, &["build", "--push"], EffectKind::Package, &["pushing manifest for "]),
    program_row(&["skopeo"], &["copy"], EffectKind::Package, &[]),
    program_row(NPM_PROGRAMS, &["publish|unpublish|deprecate|dist-tag"], EffectKind::Package, &["+ ", "- "]),
    program_row(&["lerna", "changeset"], &["publish"], EffectKind::Package, &["+ "]),
    program_row(&["semantic-release"], &[""], EffectKind::Package, &["Published release "]),
    program_row(&["cargo"], &["publish|yank"], EffectKind::Package, &["Published ", "Uploaded ", "Yank "]),
    program_row(&["twine"], &["upload"], EffectKind::Package, &["View at:"]),
    program_row(
        &["uv", "poetry", "flit", "hatch", "pdm", "maturin"],
        &["publish|upload"],
        EffectKind::Package,
        &[],
    ),
    program_row(&["gem"], &["push|yank"], EffectKind::Package, &["Successfully registered gem: "]),
    program_row(&["dotnet"], &["nuget", "push"], EffectKind::Package, &["Your package was pushed"]),
    program_row(&["mvn", "mvnw"], &["deploy|release:perform"], EffectKind::Package, &[]),
    program_row(
        &["gradle", "gradlew"],
        &["publish|publishPlugins|publishToMavenCentral"],
        EffectKind::Package,
        &[],
    ),
    program_row(&["goreleaser"], &["release"], EffectKind::Release, &["release created/updated"]),
    program_row(&["vsce", "ovsx"], &["publish"], EffectKind::Package, &["Published "]),
    program_row(
        &["rails", "rake"],
        &["db:migrate|db:rollback|db:reset|db:drop|db:create|db:seed|db:setup|db:schema:load|db:prepare"],
        EffectKind::Migration,
        &[],
    ),
    program_row(
        &["alembic"],
        &["upgrade|downgrade|stamp"],
        EffectKind::Migration,
        &["Running upgrade ", "Running downgrade "],
    ),
    program_row(&["flask"], &["db", "upgrade|downgrade"], EffectKind::Migration, &["Running upgrade "]),
    program_row(
        &["prisma"],
        &["migrate", "deploy|dev|reset|resolve"],
        EffectKind::Migration,
        &["Applying migration `"],
    ),
    program_row(&["prisma"], &["db", "push|execute|seed"], EffectKind::Migration, &[]),
    program_row(&["sqlx"], &["migrate", "run|revert"], EffectKind::Migration, &["Applied "]),
    program_row(&["sqlx", "diesel"], &["database", "drop|create|reset|setup"], EffectKind::Migration, &[]),
    program_row(
        &["diesel"],
        &["migration", "run|revert|redo"],
        EffectKind::Migration,
        &["Running migration "],
    ),
    program_row(&["sea-orm-cli"], &["migrate"], EffectKind::Migration, &["Applying migration "]),
    program_row(
        &["python", "python3", "manage.py", "django-admin"],
        &["migrate"],
        EffectKind::Migration,
        &["Applying "],
    ),
    program_row(
        &["knex"],
        &["migrate:latest|migrate:up|migrate:rollback|migrate:down"],
        EffectKind::Migration,
        &["Batch "],
    ),
    program_row(
        &["sequelize", "sequelize-cli"],
        &["db:migrate|db:migrate:undo"],
        EffectKind::Migration,
        &["== "],
    ),
    program_row(
        &["typeorm"],
        &["migration:run|migration:revert|schema:sync"],
        EffectKind::Migration,
        &["has been executed successfully"],
    ),
    program_row(&["drizzle-kit"], &["push|migrate"], EffectKind::Migration, &[]),
    program_row(
        &["goose", "dbmate", "migrate", "atlas"],
        &["up|down|apply|rollback|goto|drop"],
        EffectKind::Migration,
        &["OK ", "Applying: ", "Applied: "],
    ),
    program_row(
        &["flyway", "liquibase"],
        &["migrate|update|rollback|clean|undo"],
        EffectKind::Migration,
        &["Successfully applied "],
    ),
    program_row(
        &["mix"],
        &["ecto.migrate|ecto.rollback|ecto.reset"],
        EffectKind::Migration,
        &["== Migrated "],
    ),
    program_row(
        &["artisan", "php"],
        &["migrate|migrate:fresh|migrate:rollback"],
        EffectKind::Migration,
        &["Migrated: "],
    ),
    program_row(
        &["dotnet"],
        &["ef", "database", "update|drop"],
        EffectKind::Migration,
        &["Applying migration '"],
    ),
    program_row(
        &["mail", "mailx", "sendmail", "mutt", "msmtp", "swaks", "sendemail"],
        &[""],
        EffectKind::Message,
        &[],
    ),
    program_row(&["slack"], &["chat|send|post"], EffectKind::Message, &[]),
    program_row(&["slackcat", "ntfy"], &[""], EffectKind::Message, &[]),
    program_row(&["twilio"], &["messages:create|api:core:messages:create"], EffectKind::Message, &[]),
];

/// Returns whether the word occurs in a rule. Every word of every command is tested, so this is a plain `matches!`.
pub(super) fn is_rule_word(word: &str) -> bool {
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
            | "status"
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
