use std::fmt::Write as _;

use model::evidence::Proof;
use model::plan::{self, Phase, PhaseStatus, Progress, Standing, Task, TaskStatus};
use model::render::{as_line, one_line};
use ops::features::evidence::show::EvidenceLine;
use ops::features::plan::Source;
use ops::features::plan::show::{self, Shown};
use ops::{Error, Result, World};

use super::{TEXT, short_list, style_of};
use crate::commands::evidence::proof_style;
use crate::output::{self, BAD, BOLD, DIM, Format, GOOD, WARN};

/// How much is printed at once: memory that is used again is faster than new memory.
const PRINTED: usize = 32 * 1024;

/// The width of a bar.
const BAR: usize = 20;

pub fn run(world: &World, only: Option<u32>, all: bool, format: Format) -> Result<u8> {
    let shown = show::show(world)?;
    match format {
        Format::Json => output::json(&shown.report()),
        Format::Text => print_plan(&shown, only, all)?,
    }
    // The process ends here, and the kernel frees a large plan faster than its tasks one by one.
    std::mem::forget(shown);
    Ok(0)
}

pub fn print_plan(shown: &Shown, only: Option<u32>, all: bool) -> Result<()> {
    let plan = &shown.loaded.plan;
    let standing = shown.standing();
    if let Some(id) = only
        && plan.phase(id).is_none()
    {
        return Err(Error::Absent {
            what: format!("there is no phase {id}"),
            hint: "`thru plan show` lists the phases".into(),
        });
    }
    let title = if plan.title.trim().is_empty() { "Plan" } else { plan.title.as_str() };
    output::line(format_args!("{BOLD}{}{BOLD:#}  {}", one_line(title, 200), bar(standing.progress)));
    if shown.loaded.from != Source::File {
        output::talk(format_args!("{WARN}note:{WARN:#} {}", source_words(shown.loaded.from)));
    }
    let mut out = String::with_capacity(2 * PRINTED);
    for phase in plan.phases.iter().filter(|phase| only.is_none_or(|id| phase.id == id)) {
        let is_current = standing.phase.is_some_and(|current| current.id == phase.id);
        phase_lines(&mut out, phase, shown, &standing, (is_current, all || only.is_some()));
        if out.len() > PRINTED {
            output::text(&out);
            out.clear();
        }
    }
    output::text(&out);
    if only.is_none() {
        footer(&standing);
    }
    for problem in plan::problems(plan) {
        output::talk(format_args!("{BAD}error:{BAD:#} {problem}"));
    }
    Ok(())
}

/// Everything goes into one text: a large plan has thousands of lines, and a text for each part of each would take most of
/// the time. Writing to a `String` cannot fail.
fn phase_lines<'p>(
    out: &mut String,
    phase: &'p Phase,
    shown: &Shown,
    standing: &Standing<'p>,
    (is_current, all): (bool, bool),
) {
    let mark = if is_current { "▸" } else { " " };
    let (name, bar) = (as_line(&phase.name, 120), bar(Progress::of(&phase.tasks)));
    let _ = write!(out, "\n{mark} {BOLD}{}. {name}{BOLD:#}  {bar}", phase.id);
    let _ = match phase.status {
        PhaseStatus::Blocked => write!(out, "  {BAD}blocked{BAD:#}"),
        PhaseStatus::Closed => write!(out, "  {DIM}closed{DIM:#}"),
        PhaseStatus::Complete | PhaseStatus::InProgress | PhaseStatus::Pending => Ok(()),
    };
    out.push('\n');
    if phase.status.is_over() && !all {
        return;
    }
    let width = phase.tasks.iter().map(|task| task.id.chars().count()).max().unwrap_or(0).min(24);
    for task in &phase.tasks {
        task_line(out, task, standing, (width, shown.evidence.get(&task.id)));
    }
}

fn task_line<'p>(
    out: &mut String,
    task: &'p Task,
    standing: &Standing<'p>,
    (width, evidence): (usize, Option<&EvidenceLine>),
) {
    let style = style_of(task.status);
    let (sign, id) = (task.status.sign(), as_line(&task.id, 64));
    let _ = write!(out, "    {style}{sign}{style:#} {id:<width$}  {}", as_line(&task.description, TEXT));
    if let Some(size) = task.size {
        let _ = write!(out, " {DIM}{}{DIM:#}", size.name());
    }
    let is_waiting = !task.status.is_over() && standing.waits_for(task).next().is_some();
    if is_waiting {
        let waits = short_list(standing.waits_for(task).map(|(id, _)| id));
        let _ = write!(out, "  {DIM}← {waits}{DIM:#}");
    }
    if let Some(line) = evidence {
        let style = proof_style(line);
        let _ = write!(out, "  {style}{}{style:#}", evidence_words(line));
    }
    if task.reported_done {
        let _ = write!(out, "  {WARN}done by its list, no evidence{WARN:#}");
    }
    if task.without_evidence.is_some() {
        let _ = write!(out, "  {WARN}without evidence{WARN:#}");
    }
    out.push('\n');
    if task.status == TaskStatus::Blocked
        && let Some(why) = &task.blocked_reason
    {
        let _ = writeln!(out, "      {BAD}{}{BAD:#}", as_line(why, TEXT));
    }
}

fn evidence_words(line: &EvidenceLine) -> String {
    match (line.proof, &line.error) {
        (_, Some(_)) => "evidence cannot be read".to_owned(),
        (Proof::Passed, None) => "evidence passed".to_owned(),
        (Proof::None, None) => "nothing observed".to_owned(),
        (_, None) if line.stale => format!("evidence {}: {}", line.word, one_line(&line.changed, 60)),
        (_, None) => format!("evidence {}", line.word),
    }
}

fn footer(standing: &Standing) {
    output::line("");
    let names = |tasks: &[&Task]| short_list(tasks.iter().map(|task| task.id.as_str()));
    let rows: Vec<(&str, String)> = [
        ("now", names(&standing.in_progress)),
        ("ready", names(&standing.ready)),
        ("blocked", names(&standing.blocked)),
    ]
    .into_iter()
    .filter(|(_, ids)| !ids.is_empty())
    .collect();
    if rows.is_empty() {
        let Progress { done, total } = standing.progress;
        let text = match (done == total, total) {
            (_, 0) => "There are no tasks yet; `thru task add TEXT` adds one.",
            (true, _) => "All tasks are over.",
            (false, _) => "Nothing is ready: every open task waits for another.",
        };
        return output::line(text);
    }
    output::pairs(&rows);
}

/// `██████░░░░ 3/5`.
fn bar(progress: Progress) -> String {
    let Progress { done, total } = progress;
    if total == 0 {
        return format!("{DIM}no tasks{DIM:#}");
    }
    let full = done * BAR / total;
    let style = if done == total { GOOD } else { BOLD };
    format!("{style}{}{style:#}{DIM}{}{DIM:#} {done}/{total}", "█".repeat(full), "░".repeat(BAR - full))
}

fn source_words(source: Source) -> &'static str {
    match source {
        Source::File => "",
        Source::Ledger => {
            "plan.json is older than its ledger (a change was interrupted); this is what the ledger says"
        }
        Source::EditedFile => "plan.json was edited by hand; the next change records that in the ledger",
    }
}
