use model::marker::Mode;
use model::render::one_line;
use model::text::count;
use model::time;
use ops::features::outputs::Open;
use ops::project::status::{Next, Packets, Report};
use ops::session::list::Listed;
use ops::{Result, World};

use super::loops;
use crate::output::{self, BOLD, Format, GOOD, WARN};

/// Most names in one line.
const NAMED: usize = 5;

/// Show where this project stands and what to do next
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(world: &World, _: &Args, format: Format) -> Result<u8> {
    let report = ops::project::status::run(world)?;
    match format {
        Format::Json => output::json(&report),
        Format::Text => print(&report, world),
    }
    Ok(0)
}

fn print(report: &Report, world: &World) {
    if !report.marked {
        output::line(format_args!("{BOLD}No root yet.{BOLD:#} This project's records would be kept in"));
        output::line(format_args!("  {}", report.root.join(".agent/context").display()));
    } else {
        output::pairs(&rows(report, world));
    }
    report.settings_problems.iter().for_each(|finding| output::talk(output::finding(finding)));
    if let Some(next) = advice(report.next) {
        output::line(format_args!("\nNext: {next}"));
    }
}

fn rows(report: &Report, world: &World) -> Vec<(&'static str, String)> {
    let name = one_line(report.name.as_deref().unwrap_or_default(), 100);
    let id = report.project_id.as_ref().map_or("", |id| id.as_str());
    let mut rows = vec![
        ("project", format!("{BOLD}{name}{BOLD:#} ({id})")),
        ("root", report.root.display().to_string()),
    ];
    if let Some(worktree) = &report.worktree {
        rows.push(("worktree", worktree.display().to_string()));
    }
    let records = match report.mode {
        Some(Mode::Shared) => "shared: what a team needs is in git",
        _ => "private: nothing goes into git",
    };
    rows.push(("records", records.to_owned()));
    rows.push(match report.trusted {
        true => ("trust", format!("{GOOD}trusted{GOOD:#} on this machine")),
        false => ("trust", format!("{WARN}not trusted{WARN:#}: hooks neither write nor say anything here")),
    });
    if report.hooks_off {
        rows.push(("hooks", format!("{WARN}switched off{WARN:#}; `thru config` shows where")));
    } else if report.wired.is_empty() {
        let none = "no settings file calls thru here";
        rows.push((
            "hooks",
            format!("{WARN}{none}{WARN:#}; `thru init` wires the harnesses in use (a plugin needs none)"),
        ));
    }
    let last = report.last_session.as_ref().map_or(String::new(), |last| last_words(last, world));
    rows.push(("sessions", format!("{}{last}", report.sessions)));
    if report.broke_off > 0 {
        let left = count(report.broke_off, "session");
        rows.push((
            "broke off",
            format!("{WARN}{left}{WARN:#} without an end; `thru sweep` makes a packet of each"),
        ));
    }
    if let Some(lost) = &report.lost {
        rows.push(("lost", format!("{WARN}{}{WARN:#}; `thru doctor` says more", one_line(lost, 500))));
    }
    if let Some(packets) = &report.packets {
        rows.push(("packets", packet_words(packets)));
    }
    if let Some(running) = &report.running {
        rows.push(("loop", format!("{BOLD}{}{BOLD:#}, {}", running.id, loops::standing(running))));
    }
    if report.paused_loops > 0 {
        let paused = count(report.paused_loops, "loop");
        rows.push(("paused", format!("{paused}; `thru loop log` says why, `thru loop resume` goes on")));
    }
    if report.loops_not_started_here > 0 {
        let foreign = count(report.loops_not_started_here, "loop");
        rows.push(("not started here", format!("{foreign}; never fed, `thru loop list` names them")));
    }
    if !report.workstreams.is_empty() {
        rows.push(("workstreams", listed(&report.workstreams)));
    }
    if let Some(role) = &report.role {
        rows.push(("role", format!("{BOLD}{}{BOLD:#} in this session", one_line(role, 128))));
    } else if !report.roles.is_empty() {
        rows.push(("roles", listed(&report.roles)));
    }
    if let Some(open) = &report.outputs {
        rows.push(("outputs", outputs(open, report)));
    }
    if let Some(problem) = &report.outputs_problem {
        rows.push(("outputs", format!("{WARN}{}{WARN:#}", one_line(problem, 400))));
    }
    rows
}

/// `3, the newest 20261115T192200Z-finish-the-parser`.
fn packet_words(packets: &Packets) -> String {
    let Packets { count, at_least, newest } = packets;
    match newest {
        Some(newest) if *count == 1 => newest.clone(),
        Some(newest) => format!("{count}, the newest {newest}"),
        None if *at_least => format!("{count} or more"),
        None => count.to_string(),
    }
}

/// `2: 01-parser, 02-lexer`.
fn listed(names: &[String]) -> String {
    if let [only] = names {
        return one_line(only, 64);
    }
    let shown: Vec<String> = names.iter().take(NAMED).map(|name| one_line(name, 64)).collect();
    let more = if names.len() > NAMED { ", …" } else { "" };
    format!("{}: {}{more}", names.len(), shown.join(", "))
}

/// `2 of 5 open in outputs/review-…: missing review-a.md, stale review-b.md`.
fn outputs(live: &Open, report: &Report) -> String {
    let run = live.run.strip_prefix(report.root.join(".agent/context")).unwrap_or(&live.run).display();
    let (stage, all) = (one_line(&live.stage, 128), live.outputs);
    if live.open.is_empty() {
        return format!("{GOOD}all {all} valid{GOOD:#} (stage {stage}, {run})");
    }
    let named = live.open.iter().take(4).map(|o| format!("{} {}", o.verdict.name(), one_line(&o.file, 128)));
    let more = if live.open.len() > 4 { ", …" } else { "" };
    let named = named.collect::<Vec<_>>().join(", ");
    let open = live.open.len();
    format!("{WARN}{open} of {all} open{WARN:#} (stage {stage}, {run}): {named}{more}; see `thru gate check`")
}

fn last_words(last: &Listed, world: &World) -> String {
    let ago = time::parse(&last.at).map_or_else(|| last.at.clone(), |at| time::ago(at, world.now));
    format!(
        ", last {} in {}, {}",
        one_line(&last.session, 128),
        one_line(&last.harness, 32),
        one_line(&ago, 40)
    )
}

fn advice(next: Next) -> Option<&'static str> {
    match next {
        Next::Init => Some("`thru init` makes this project a root"),
        Next::Trust => Some("look at the records in .agent/context, then run `thru trust`"),
        Next::StartHarness => Some(
            "no session has been captured yet; start your harness, or see `thru doctor` for what is wired",
        ),
        Next::Nothing => None,
    }
}
