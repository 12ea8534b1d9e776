//! Decides whether a command's failure stays open until the command passes. It stays open if the command checks the
//! project, runs a file or a task of the project, or changes something outside the project. The failure of a lookup
//! or a one-off probe does not stay open. The failure of a program that the project builds does not stay open either,
//! because whoever tries the program out may want it to fail.

use super::CommandKind;
use super::check::{ProjectCheck, is_script_file, strip_assignments_and_wrappers};
use super::exit::CheckedLine;
use super::open::{
    CommandPurpose, GitCommandFamily, command_purpose, git_family, is_read_only, is_thru_step,
};
use super::script::expand_shells;
use super::summary::reports_git_refusal;
use crate::shell::{CommandStep, StepJoin};

/// The top-level packages of dotted modules that come with Python, such as `http` in `python3 -m http.server`.
const PYTHON_MODULES: [&str; 6] = ["http", "json", "xml", "email", "importlib", "concurrent"];

/// Returns whether the failure of a command stays open until the command passes. `cwd` is the folder in which the
/// command was started. `worktree` is the top of the checkout, or empty if it is unknown.
pub fn failure_lasts(command: &str, cwd: &str, worktree: &str) -> bool {
    match command_purpose(command, cwd) {
        CommandPurpose::Checks(checks) => checks.iter().any(|check| {
            check.check_kind.is_check()
                || check.check_kind == CommandKind::Run
                    && runs_project_file(check, worktree)
                    && !runs_built_program(check)
        }),
        CommandPurpose::Git(_) => true,
        CommandPurpose::Other(names) => {
            names.iter().any(|name| runs_task_or_changes_outside(name) || is_project_python_module(name))
        }
        CommandPurpose::ReadOnly => false,
    }
}

/// Returns whether a failed command line only failed because a call to `thru` said "not yet", as `thru resume gate` does
/// with a nonzero exit code. The exit code is that of the part after the last `;` or line break. In `git add a &&
/// thru resume gate`, git would have printed an error if it had failed. A hook may stop a commit or a push
/// without a known message, so nothing is concluded about these.
pub fn is_only_answer_of_thru(command: &str, error: &str) -> bool {
    let expanded = expand_shells(command);
    let line = CheckedLine::parse_command(&expanded);
    let Some(steps) = line.steps_without_control_flow() else { return false };
    let start = steps.iter().rposition(|step| step.join_to_next == StepJoin::Next).map_or(0, |at| at + 1);
    let part = &steps[start..];
    let is_harmless = |step: &CommandStep| {
        let words = strip_assignments_and_wrappers(&step.words);
        is_read_only(words) || git_family(words) == Some(GitCommandFamily::Other)
    };
    let is_thru = |step: &CommandStep| is_thru_step(step) && !step.words.iter().any(|word| word == "--");
    let is_git_error = |line: &str| line.starts_with("error: ");
    let may_git_have_failed = reports_git_refusal(error)
        || error.lines().any(is_git_error) && part.iter().any(|step| !is_thru(step));
    !line.has_checks() && part.iter().any(is_thru) && part.iter().all(is_harmless) && !may_git_have_failed
}

/// Returns whether a command runs a program that was built from the project, as `cargo run` and `./target/debug/app` do.
pub fn runs_built_program(check: &ProjectCheck) -> bool {
    const BUILD_FOLDERS: [&str; 8] =
        ["target", "build", "dist", "out", "_build", ".build", "zig-out", "bazel-bin"];
    const BUILDING_RUNNERS: [&str; 8] = ["cargo", "go", "dotnet", "swift", "zig", "cabal", "stack", "bazel"];
    let program = check.program();
    let (folders, name) = program.rsplit_once('/').unwrap_or(("", program));
    let is_built_folder = |folder: &str| BUILD_FOLDERS.contains(&folder) || folder.starts_with("cmake-build");
    let is_script = is_script_file(name) && !name.ends_with("js");
    check.check_kind == CommandKind::Run
        && (BUILDING_RUNNERS.contains(&program) || folders.split('/').any(is_built_folder) && !is_script)
}

/// Returns whether a command line runs nothing but programs that were built from the project.
pub(super) fn only_runs_built_programs(command: &str) -> bool {
    matches!(command_purpose(command, ""), CommandPurpose::Checks(checks) if checks.iter().all(runs_built_program))
}

/// Returns whether a command line runs only programs that are not scripts. After a build, these are assumed to be
/// programs that the build produced.
pub(super) fn only_runs_programs(command: &str) -> bool {
    let is_program =
        |check: &ProjectCheck| check.check_kind == CommandKind::Run && !is_script_file(check.program());
    matches!(command_purpose(command, ""), CommandPurpose::Checks(checks) if checks.iter().all(is_program))
}

/// Returns whether the program that a command runs is in the checkout, rather than in a folder elsewhere.
fn runs_project_file(check: &ProjectCheck, worktree: &str) -> bool {
    // For a program in a `bin` folder, the words of the check do not contain the folder, so use the command as
    // written.
    let written = check.command_to_repeat.split_whitespace().next().unwrap_or_default();
    let is_same = written.rsplit('/').next() == Some(check.program());
    let program = if is_same { written } else { check.program() };
    let is_below = |path: &str| {
        let inside = path.strip_prefix(worktree).filter(|_| !worktree.is_empty());
        inside.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let is_absolute = |path: &str| path.starts_with(['/', '~', '$']);
    let is_inside = match program.contains('/') && is_absolute(program) {
        true => is_below(program),
        false => !is_absolute(&check.folder) || worktree.is_empty() || is_below(&check.folder),
    };
    is_inside && !(program.starts_with("../") && check.folder.is_empty())
}

/// Returns whether the name of a command looks like a module that was run with `python3 -m` and does not come with
/// Python.
fn is_project_python_module(name: &str) -> bool {
    let program = name.split(' ').next().unwrap_or_default();
    let is_dotted = program.split('.').count() > 1
        && program
            .split('.')
            .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'));
    is_dotted
        && !is_script_file(program)
        && !PYTHON_MODULES.contains(&program.split('.').next().unwrap_or(""))
}

/// Returns whether a tool runs a task of the project, or changes an installation, a database, a cloud service or a
/// registry. If such a tool fails, the task or the change still has to be carried out.
fn runs_task_or_changes_outside(name: &str) -> bool {
    matches!(
        name.split(' ').next().unwrap_or_default(),
        // Containers and machines.
        "docker" | "docker-compose" | "podman" | "buildah" | "vagrant" | "packer" | "systemctl" | "launchctl"
        // Clouds and clusters.
        | "terraform" | "tofu" | "terragrunt" | "pulumi" | "kubectl" | "helm" | "helmfile" | "kustomize"
        | "skaffold" | "argocd" | "nomad" | "ansible" | "ansible-playbook" | "aws" | "gcloud" | "az" | "cdk"
        | "sam" | "serverless" | "sls" | "eb" | "vercel" | "netlify" | "fly" | "flyctl" | "heroku" | "railway"
        | "wrangler" | "firebase" | "supabase" | "doctl" | "cap" | "kamal" | "rsync" | "scp"
        // Package managers and release tools.
        | "npm" | "pnpm" | "yarn" | "bun" | "pip" | "pip3" | "uv" | "poetry" | "pdm" | "pipenv" | "hatch"
        | "twine" | "bundle" | "gem" | "brew" | "apt" | "apt-get" | "cargo" | "go" | "goreleaser" | "composer"
        // Databases.
        | "prisma" | "alembic" | "flask" | "rails" | "artisan" | "knex" | "sequelize" | "sequelize-cli"
        | "typeorm" | "drizzle-kit" | "dbmate" | "goose" | "migrate" | "atlas" | "liquibase" | "flyway" | "sqlx"
        | "diesel" | "psql" | "mysql" | "sqlite3"
        // Code hosting services and HTTP requests.
        | "gh" | "glab" | "curl"
        // Task runners and generators.
        | "make" | "gmake" | "cmake" | "ninja" | "mise" | "just" | "task" | "go-task" | "rake" | "mvn" | "mvnw"
        | "gradle" | "gradlew" | "ant" | "sbt" | "bazel" | "dotnet" | "mix" | "nx" | "turbo" | "lerna" | "poe"
        | "deno" | "gulp" | "grunt" | "invoke" | "inv" | "fab" | "swift" | "protoc"
    )
}

#[cfg(test)]
mod tests {
    use super::failure_lasts;

    #[test]
    fn failures_of_the_project_last_and_those_of_probes_do_not() {
        for (command, expected) in [
            // The failure of a check stays open.
            ("make test", true),
            ("python3 -m unittest", true),
            ("npm run build", true),
            // Files of the project.
            ("./deploy.sh", true),
            ("./deploy", true),
            ("bash scripts/release.sh 1.2", true),
            ("cd ops && ./migrate.sh | tee log", true),
            ("/w/app/ops/deploy.sh", true),
            ("/w/app/ops/bin/deploy", true),
            ("ops/bin/deploy", true),
            ("python3 tools/import.py a.csv", true),
            ("node migrate.js", true),
            ("uv run seed.py", true),
            ("bash build/deploy.sh", true),
            // Programs that the project builds.
            ("./target/debug/logsift --since < /dev/null", false),
            ("/w/app/target/release/logsift a.log", false),
            ("cd crates/app && ../../target/debug/app x", false),
            ("cargo run -q -- --since", false),
            ("go run ./cmd/x list", false),
            ("dotnet run -- x", false),
            ("node dist/cli.js --bad", false),
            ("build/src/app | head", false),
            ("./cmake-build-debug/app", false),
            ("cargo build -q && ./target/debug/logsift", true),
            ("python3 -m shop.importer", true),
            ("python3 manage.py migrate", true),
            ("./manage.py loaddata x", true),
            ("php artisan migrate", true),
            // Tasks of a build tool or package manager.
            ("make deploy", true),
            ("just deploy", true),
            ("npm run deploy", true),
            ("npm start", true),
            // Changes outside the project.
            ("docker build .", true),
            ("docker compose up -d", true),
            ("terraform apply", true),
            ("kubectl apply -f a.yaml", true),
            ("kubectl apply -f - <<E\na: 1\nE\n", true),
            ("npm publish", true),
            ("twine upload dist/*", true),
            ("rails db:migrate", true),
            ("flask db upgrade", true),
            ("alembic upgrade head", true),
            ("psql shop -f schema.sql", true),
            ("curl -X POST https://x/y -d a", true),
            ("git push", true),
            // Files outside the project.
            ("/tmp/try.sh", false),
            ("python3 /tmp/probe.py", false),
            ("~/bin/tool", false),
            ("cd /tmp/x && ./a.sh", false),
            ("../other/deploy.sh", false),
            ("../other/bin/deploy", false),
            ("/w/other/bin/deploy", false),
            // Probes and lookups.
            ("python3 -c 'import x'", false),
            ("python3 - <<'E'\nx\nE", false),
            ("node -e 'x()'", false),
            ("python3 -m json.tool a.json", false),
            ("python3 -m http.server", false),
            ("python3 manage.py shell -c 'x'", false),
            ("python3 manage.py showmigrations", false),
            ("psql -c 'select 1'", false),
            ("curl https://x/y", false),
            ("curl -s https://x/y | jq .a", false),
            ("cat a | grep b", false),
            ("kubectl get pods", false),
            ("docker ps", false),
            ("terraform show", false),
            ("gh pr view 3", false),
            ("ssh host uptime", false),
            // A nonzero exit code of `thru` is an answer and not a failure.
            ("thru gate check", false),
            ("/usr/local/bin/thru loop start x", false),
            ("./target/debug/thru brief", false),
            ("", false),
        ] {
            assert_eq!(failure_lasts(command, "", "/w/app"), expected, "{command}");
        }
        assert!(failure_lasts("./deploy.sh", "/w/app/ops", "/w/app"));
        assert!(!failure_lasts("./deploy.sh", "/w/other", "/w/app"));
        assert!(failure_lasts("./deploy.sh", "/w/app", ""));
    }
}
