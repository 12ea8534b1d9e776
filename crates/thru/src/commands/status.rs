use std::borrow::Cow;

use model::activity::short_session_id;
use model::marker::SharingMode;
use model::render::one_line;
use model::time;
use ops::Result;
use ops::World;
use ops::features::{StatusReportLine, StatusTone};
use ops::project::status::{NextStepForNewUser, StatusReport};
use ops::session::list::LastSession;
use ops::setup::install::IgnoredFile;

use crate::output::{self, BOLD, GOOD, OutputFormat, WARN};

/// Show the state of this project and what to do next
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(world: &World, _: &Args, format: OutputFormat) -> Result<u8> {
    let report = ops::project::status::project_status(world)?;
    match format {
        OutputFormat::Json => output::print_json(&report),
        OutputFormat::Text => print_report(&report, world),
    }
    Ok(0)
}

fn print_report(report: &StatusReport, world: &World) {
    if let Some(why) = &report.unfit {
        output::print_line(format_args!(
            "{BOLD}No root here.{BOLD:#} {} is not used as a root: {why}",
            report.root.display()
        ));
    } else if let Some(missing) = &report.missing_git_folder {
        output::print_line(format_args!(
            "{BOLD}No root here.{BOLD:#} Git cannot find the main checkout of this worktree: there is no {}",
            one_line(&missing.to_string_lossy(), 400)
        ));
    } else if !report.marked {
        output::print_line(format_args!(
            "{BOLD}No root yet.{BOLD:#} This project's records would be kept in"
        ));
        output::print_line(format_args!("  {}", report.root.join(".agent/context").display()));
    } else {
        output::print_pairs(&report_rows(report, world));
    }
    report
        .problems
        .iter()
        .for_each(|problem| output::print_message(format_args!("{WARN}note:{WARN:#} {problem}")));
    report
        .settings_problems
        .iter()
        .for_each(|finding| output::print_message(output::format_finding(finding)));
    match (&report.next_step, advice_for_new_user(report)) {
        (Some(step), _) => output::print_line(format_args!(
            "\nNext: {BOLD}`{}`{BOLD:#} {}",
            one_line(&step.command, 200),
            one_line(&step.why, 200)
        )),
        (None, Some(next)) => output::print_line(format_args!("\nNext: {next}")),
        (None, None) => {}
    }
}

fn report_rows(report: &StatusReport, world: &World) -> Vec<(&'static str, String)> {
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
        Some(SharingMode::Shared) => "shared: what a team needs is in git",
        _ => "private: nothing goes into git",
    };
    rows.push(("records", records.to_owned()));
    rows.push(match (report.trusted, &report.moved_from) {
        (true, _) => ("trust", format!("{GOOD}trusted{GOOD:#} on this machine")),
        (false, None) => {
            ("trust", format!("{WARN}not trusted{WARN:#}: hooks record nothing here and tell the agent nothing"))
        }
        (false, Some(from)) => (
            "trust",
            format!(
                "{WARN}not trusted at this path{WARN:#}: moved from {}; hooks record nothing here and tell the agent nothing",
                one_line(from, 300)
            ),
        ),
    });
    if report.hooks_off {
        rows.push(("hooks", format!("{WARN}switched off{WARN:#}; `thru config` shows where")));
    } else if report.wired_harnesses.is_empty() && !report.ignored_files.is_empty() {
        rows.push(("hooks", format!("{WARN}not running{WARN:#}: the file that contains them is ignored")));
    } else if report.wired_harnesses.is_empty() {
        let none = "no settings file calls thru here";
        let rest = match &report.tracked_settings {
            Some(tracked) => {
                format!("git tracks {}", one_line(&tracked.path.to_string_lossy(), 300))
            }
            None => {
                "`thru init` installs hooks for the harnesses in use (not needed with a plugin)".to_owned()
            }
        };
        rows.push(("hooks", format!("{WARN}{none}{WARN:#}; {rest}")));
    } else {
        rows.push((
            "hooks",
            format!("{GOOD}installed{GOOD:#} for {}", harness_titles(&report.wired_harnesses).join(", ")),
        ));
    }
    for IgnoredFile { path, why, .. } in &report.ignored_files {
        rows.push(("ignored", format!("{}: {why}", one_line(&path.to_string_lossy(), 300))));
    }
    let last = report.last_session.as_ref().map_or(String::new(), |last| describe_last_session(last, world));
    rows.push(("sessions", format!("{}{last}", report.sessions)));
    if let Some(lost) = &report.lost_records {
        rows.push(("lost", format!("{WARN}{}{WARN:#}; run `thru doctor` for details", one_line(lost, 500))));
    }
    rows.extend(report.lines.iter().map(|line| (line.label, style_status_line(line))));
    rows
}

fn harness_titles(names: &[&'static str]) -> Vec<&'static str> {
    names.iter().map(|name| ops::setup::harnesses::harness_title(name)).collect()
}

fn style_status_line(line: &StatusReportLine) -> String {
    let StatusReportLine { colored_start, plain_rest, .. } = line;
    match line.tone {
        StatusTone::Plain => format!("{colored_start}{plain_rest}"),
        StatusTone::Strong => format!("{BOLD}{colored_start}{BOLD:#}{plain_rest}"),
        StatusTone::Good => format!("{GOOD}{colored_start}{GOOD:#}{plain_rest}"),
        StatusTone::Warning => format!("{WARN}{colored_start}{WARN:#}{plain_rest}"),
    }
}

fn describe_last_session(last: &LastSession, world: &World) -> String {
    let ago =
        time::parse_time(&last.at).map_or_else(|| last.at.clone(), |at| time::describe_age(at, world.now));
    format!(
        ", most recent work: {} in {}, {}{}",
        short_session_id(&last.session),
        one_line(ops::setup::harnesses::harness_title(&last.harness), 32),
        one_line(&ago, 40),
        last.worktree.as_ref().map_or(String::new(), |tree| format!(", in {}", one_line(tree, 300)))
    )
}

fn advice_for_new_user(report: &StatusReport) -> Option<Cow<'static, str>> {
    if let (NextStepForNewUser::WireElsewhere, Some(tracked)) =
        (report.next_for_new_user, &report.tracked_settings)
    {
        let name = tracked.harness;
        let advice = format!(
            "`thru install {name} --user` installs hooks for you, in all projects, and `thru install {name} --project` \
             installs them for everybody who uses the repository; until then nothing is captured"
        );
        return Some(advice.into());
    }
    fixed_advice(report.next_for_new_user).map(Cow::Borrowed)
}

fn fixed_advice(next: NextStepForNewUser) -> Option<&'static str> {
    match next {
        NextStepForNewUser::Init => Some("`thru init` makes this project a root"),
        NextStepForNewUser::GoToProject => Some("run `thru init` in your project's folder"),
        NextStepForNewUser::Trust => Some("look at the records in .agent/context, then run `thru trust`"),
        NextStepForNewUser::TrustMoved => Some("`thru trust --moved` makes hooks work in the new folder"),
        NextStepForNewUser::SwitchOn => Some(
            "`thru config` shows where hooks are switched off; until they are on again, nothing is captured",
        ),
        NextStepForNewUser::Wire => Some(
            "`thru init` installs hooks for the harnesses that it finds, and `thru install HARNESS` installs them for \
             another one; until then nothing is captured",
        ),
        NextStepForNewUser::FixSettings => Some(
            "remove the comments and trailing commas from the ignored file; until then nothing is captured",
        ),
        NextStepForNewUser::WireAgain => Some(
            "`thru init` reinstalls hooks for the harnesses in use; until then nothing is captured, unless a plugin calls thru",
        ),
        NextStepForNewUser::StartHarness => Some(
            "no session has been captured yet; start your harness, or run `thru doctor` to see which harnesses have \
             hooks",
        ),
        NextStepForNewUser::RepairWorktree => Some(
            "if you moved the main checkout, run `git worktree repair` in its new folder; this worktree then uses \
             the root there again",
        ),
        NextStepForNewUser::WireElsewhere | NextStepForNewUser::Nothing => None,
    }
}
