use model::render::one_line;
use ops::features::swarm::{self, AdoptedPlan, SwarmPlan};
use ops::{Result, World};
use serde::Serialize;
use serde_json::Value;

use crate::commands::plan::{print_notes, print_plan};
use crate::output::{self, BOLD, DIM, GOOD, OutputFormat, WARN};

/// Show the plan, the verdicts on its tasks, and the swarm that it belongs to
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Assign the plan to a swarm
    #[arg(long)]
    adopt: bool,
    /// Assign the plan to this swarm, with --adopt [default: the setting swarm.id]
    #[arg(long, value_name = "ID", requires = "adopt")]
    swarm: Option<String>,
    /// Include finished phases
    #[arg(long)]
    all: bool,
}

#[derive(Serialize)]
struct SwarmPlanJson<'a> {
    swarm: &'a str,
    foreign: bool,
    plan: Value,
    verdicts: Value,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    if args.adopt {
        print_adopted_plan(&swarm::adopt_plan(world, args.swarm.as_deref())?, format);
        return Ok(0);
    }
    let shown = swarm::show_swarm_plan(world)?;
    match format {
        OutputFormat::Json => output::print_json(&SwarmPlanJson {
            swarm: &shown.plan.loaded.plan.swarm,
            foreign: shown.foreign_swarm.is_some(),
            plan: serde_json::to_value(shown.plan.to_json()).unwrap_or_default(),
            verdicts: serde_json::to_value(&shown.verdicts).unwrap_or_default(),
        }),
        OutputFormat::Text => print_swarm_plan(&shown, args.all)?,
    }
    Ok(0)
}

fn print_swarm_plan(shown: &SwarmPlan, all: bool) -> Result<()> {
    let swarm = one_line(&shown.plan.loaded.plan.swarm, 60);
    if shown.foreign_swarm.is_some() {
        output::print_line(format_args!(
            "{WARN}This plan belongs to the swarm {swarm}, which is not in use here.{WARN:#} It is not continued; \
             `thru swarm plan --adopt` assigns it to this swarm."
        ));
    } else {
        output::print_line(format_args!("{DIM}swarm{DIM:#} {BOLD}{swarm}{BOLD:#}"));
    }
    print_plan(&shown.plan, None, all)?;
    if !shown.verdicts.is_empty() {
        output::print_line("\nVerdicts, oldest first:");
    }
    for (task, verdicts) in &shown.verdicts {
        for (agent, words) in verdicts.verdict_lines() {
            let words: Vec<String> = words.iter().map(|word| one_line(word, 40)).collect();
            output::print_line(format_args!(
                "  {BOLD}{}{BOLD:#}  {}  {}",
                one_line(task, 64),
                one_line(&agent, 64),
                words.join(", ")
            ));
        }
    }
    Ok(())
}

fn print_adopted_plan(report: &AdoptedPlan, format: OutputFormat) {
    if format == OutputFormat::Json {
        return output::print_json(report);
    }
    match report.changed {
        true => output::print_line(format_args!(
            "{GOOD}Adopted{GOOD:#}: the plan now belongs to {BOLD}{}{BOLD:#}; it used to belong to {}",
            report.swarm,
            one_line(&report.previous_swarm, 60)
        )),
        false => output::print_line(format_args!("No change: the plan already belongs to {}", report.swarm)),
    }
    print_notes(&report.notes, false);
}
