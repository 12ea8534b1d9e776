//! A table of programs that act on the outside world, with their arguments and success messages; and the words that
//! show that some rule may apply to a command line.

use super::Kind;

/// One row: a program, the arguments that make it act, and how its output names what it did.
pub(super) struct Row {
    pub programs: &'static [&'static str],
    /// The entries must occur among the words in this order. `a|b` means either word; an empty entry means the program
    /// alone.
    pub verbs: &'static [&'static str],
    pub kind: Kind,
    /// The text before the id in a line of the output; such a line proves the effect.
    pub says: &'static [&'static str],
}

const fn row(
    programs: &'static [&'static str],
    verbs: &'static [&'static str],
    kind: Kind,
    says: &'static [&'static str],
) -> Row {
    Row { programs, verbs, kind, says }
}

const NPM: &[&str] = &["npm", "pnpm", "yarn", "bun"];
const DOCKER: &[&str] = &["docker", "podman", "nerdctl"];
const TERRAFORM: &[&str] = &["terraform", "tofu", "terragrunt"];
pub(super) const KUBECTL: &[&str] = &["kubectl", "oc", "k"];
pub(super) static ROWS: &[Row] = &[
    // Kubernetes prints a line for each resource; see `commands::changed_resources`.
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

/// Whether a word shows that a rule may apply. Every word of every command is checked, so this is a plain match.
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
