use model::render::one_line;
use model::text::count_with_noun;
use ops::Result;
use ops::World;
use ops::project::trust::{ConsentKind, PermissionRequest, TrustReport};
use serde::Serialize;

use crate::clock;
use crate::output::{self, BOLD, DIM, GOOD, OutputFormat};

/// Trust the records of this project on this machine, so that hooks may use them
///
/// Records that came with a clone are somebody else's text. Hooks ignore them until you have read them and run this
/// command. The records may contain commands to run and prompts for an agent. `thru trust` only lists these;
/// `thru loop adopt` and `thru gate run --adopt` allow them. Refuses to run inside a harness. Trust is recorded outside
/// the project, for this machine only.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Stop trusting this project
    #[arg(long, conflicts_with = "list")]
    revoke: bool,
    /// Trust this path instead of the old path of a project that you moved here; what you allowed to run at the old
    /// path is allowed here too
    #[arg(long, conflicts_with_all = ["list", "revoke"])]
    moved: bool,
    /// List every trusted root on this machine
    #[arg(long)]
    list: bool,
}

#[derive(Serialize)]
struct TrustedRootJson {
    path: String,
    project_id: String,
    trusted_at: String,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    if args.list {
        print_trusted_projects(world, format)?;
        return Ok(0);
    }
    let report = match (args.revoke, args.moved) {
        (true, _) => ops::project::trust::revoke_trust(world)?,
        (_, true) => ops::project::trust::trust_moved_project(world)?,
        _ => ops::project::trust::grant_trust(world)?,
    };
    match format {
        OutputFormat::Json => output::print_json(&report),
        OutputFormat::Text => {
            print_report(&report);
            print_permission_requests(&report.permission_requests);
        }
    }
    Ok(0)
}

fn print_report(report: &TrustReport) {
    let root = report.root.display();
    if let Some(from) = &report.moved_from {
        output::print_line(format_args!(
            "{GOOD}Trusted{GOOD:#} {root}, moved here from {}; hooks work here from now on",
            one_line(from, 300)
        ));
        if let Some(taken @ 1..) = report.consents_taken_over {
            output::print_line(format_args!(
                "The prompts and commands that you allowed at the old path are allowed here too ({})",
                count_with_noun(taken, "consent record")
            ));
        }
        return;
    }
    match (report.trusted, report.changed) {
        (true, true) => {
            output::print_line(format_args!("{GOOD}Trusted{GOOD:#} {root}; hooks work here from now on"));
        }
        (true, false) => output::print_line(format_args!("{root} is already trusted")),
        (false, true) => {
            output::print_line(format_args!(
                "No longer trusted: {root}; hooks record nothing there and tell the agent nothing"
            ));
        }
        (false, false) => output::print_line(format_args!("{root} was not trusted")),
    }
    if let Some(from) = &report.maybe_moved_from {
        output::print_line(format_args!(
            "It was trusted at {}, which no longer exists. If you moved it, `thru trust --moved` forgets that path and \
             keeps what you allowed to run there.",
            one_line(from, 300)
        ));
    }
}

/// Prints the prompts and commands in the store. The output must make clear that trust alone allows none of them.
fn print_permission_requests(wants: &[PermissionRequest]) {
    let foreign: Vec<&PermissionRequest> = wants.iter().filter(|want| !want.is_given).collect();
    if foreign.is_empty() {
        return;
    }
    output::print_line(format_args!(
        "The store contains {} with prompts for an agent or with commands. Trusting the store allows none of them; adopt what you want to allow:",
        count_with_noun(foreign.len(), "record")
    ));
    for want in foreign {
        let kind = match want.kind {
            ConsentKind::Loop => "loop",
            ConsentKind::StageRun => "run",
            ConsentKind::StageDefinition => "stage",
        };
        output::print_line(format_args!("  {kind} {BOLD}{}{BOLD:#}", one_line(&want.id, 200)));
        if let Some(prompt) = &want.loop_prompt {
            output::print_line(format_args!("    prompt {}", one_line(prompt, 200)));
        }
        for command in &want.commands {
            output::print_line(format_args!("    runs   {}", one_line(command, 200)));
        }
        output::print_line(format_args!("    {DIM}adopt:{DIM:#} {}", one_line(&want.adopt_command, 200)));
    }
}

fn print_trusted_projects(world: &World, format: OutputFormat) -> Result<()> {
    let rows: Vec<TrustedRootJson> = ops::project::trust::list_trusted_projects(world)?
        .into_iter()
        .map(|(project, root)| TrustedRootJson {
            path: root.path,
            project_id: project.as_str().to_owned(),
            trusted_at: root.trusted_at,
        })
        .collect();
    match format {
        OutputFormat::Json => output::print_json(&rows),
        OutputFormat::Text if rows.is_empty() => output::print_message("No root is trusted on this machine."),
        OutputFormat::Text => {
            let width = rows.iter().map(|row| row.path.len()).max().unwrap_or(0);
            for TrustedRootJson { path, project_id, trusted_at } in &rows {
                let at = clock::local_date_and_time(trusted_at);
                output::print_line(format_args!("{path:<width$}  {project_id}  {at}"));
            }
        }
    }
    Ok(())
}
