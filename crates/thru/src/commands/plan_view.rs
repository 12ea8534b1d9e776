//! How a plan looks on a terminal.

use model::evidence::Proof;
use model::plan::{self, Phase, PhaseStatus, Plan, Progress, Standing, Task, TaskStatus};
use model::render::one_line;
use model::text::count;
use ops::features::evidence::show::EvidenceLine;
use ops::features::plan::Source;
use ops::features::plan::show::{Checked, Log, Next, Shown, TaskShown};
use ops::{Error, Result};

use crate::output::{self, BAD, BOLD, DIM, GOOD, Style, WARN};

/// How wide a bar is.
const BAR: usize = 20;

/// Of a text in a list.
const TEXT: usize = 100;

pub fn plan(shown: &Shown, only: Option<u32>, all: bool) -> Result<()> {
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
    let mut out = String::new();
    for phase in plan.phases.iter().filter(|phase| only.is_none_or(|id| phase.id == id)) {
        let is_current = standing.phase.is_some_and(|current| current.id == phase.id);
        phase_lines(&mut out, phase, shown, &standing, (is_current, all || only.is_some()));
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

fn phase_lines(
    out: &mut String,
    phase: &Phase,
    shown: &Shown,
    standing: &Standing,
    (is_current, all): (bool, bool),
) {
    let mark = if is_current { "▸" } else { " " };
    let status = match phase.status {
        PhaseStatus::Blocked => format!("  {BAD}blocked{BAD:#}"),
        PhaseStatus::Closed => format!("  {DIM}closed{DIM:#}"),
        PhaseStatus::Complete | PhaseStatus::InProgress | PhaseStatus::Pending => String::new(),
    };
    let name = one_line(&phase.name, 120);
    out.push_str(&format!(
        "\n{mark} {BOLD}{}. {name}{BOLD:#}  {}{status}\n",
        phase.id,
        bar(Progress::of(&phase.tasks))
    ));
    if phase.status.is_over() && !all {
        return;
    }
    let width = phase.tasks.iter().map(|task| task.id.chars().count()).max().unwrap_or(0).min(24);
    for task in &phase.tasks {
        task_line(out, task, standing, (width, shown.evidence.get(&task.id)));
    }
}

fn task_line(
    out: &mut String,
    task: &Task,
    standing: &Standing,
    (width, evidence): (usize, Option<&EvidenceLine>),
) {
    let style = style_of(task.status);
    let id = one_line(&task.id, 64);
    let size = task.size.map_or(String::new(), |size| format!(" {DIM}{}{DIM:#}", size.name()));
    out.push_str(&format!(
        "    {style}{}{style:#} {id:<width$}  {}{size}",
        task.status.sign(),
        one_line(&task.description, TEXT)
    ));
    let waits = standing.waits_for_known(task);
    if !task.status.is_over() && !waits.is_empty() {
        out.push_str(&format!("  {DIM}← {}{DIM:#}", short(&waits)));
    }
    if let Some(line) = evidence {
        let style = proof_style(line);
        let text = match (line.proof, &line.error) {
            (_, Some(_)) => "evidence cannot be read".to_owned(),
            (Proof::Passed, None) => "evidence passed".to_owned(),
            (Proof::None, None) => "nothing observed".to_owned(),
            (_, None) if line.stale => format!("evidence {}: {}", line.word, one_line(&line.changed, 60)),
            (_, None) => format!("evidence {}", line.word),
        };
        out.push_str(&format!("  {style}{text}{style:#}"));
    }
    if task.reported_done {
        out.push_str(&format!("  {WARN}done by its list, no evidence{WARN:#}"));
    }
    if task.without_evidence.is_some() {
        out.push_str(&format!("  {WARN}without evidence{WARN:#}"));
    }
    out.push('\n');
    if task.status == TaskStatus::Blocked
        && let Some(why) = &task.blocked_reason
    {
        out.push_str(&format!("      {BAD}{}{BAD:#}\n", one_line(why, TEXT)));
    }
}

fn footer(standing: &Standing) {
    output::line("");
    let names = |tasks: &[&Task]| short(&tasks.iter().map(|task| task.id.as_str()).collect::<Vec<_>>());
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

/// At most a dozen ids, and how many more there are.
fn short(ids: &[&str]) -> String {
    const MOST: usize = 12;
    let shown: Vec<String> = ids.iter().take(MOST).map(|id| one_line(id, 64)).collect();
    let more = if ids.len() > MOST { format!(" +{}", ids.len() - MOST) } else { String::new() };
    format!("{}{more}", shown.join(", "))
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

pub fn proof_style(line: &EvidenceLine) -> Style {
    match line.proof {
        _ if line.error.is_some() => BAD,
        Proof::Passed => GOOD,
        Proof::Stale => WARN,
        Proof::Failed => BAD,
        Proof::None => DIM,
    }
}

fn style_of(status: TaskStatus) -> Style {
    match status {
        TaskStatus::Completed => GOOD,
        TaskStatus::InProgress => BOLD,
        TaskStatus::Blocked => BAD,
        TaskStatus::Pending | TaskStatus::Closed => DIM,
    }
}

fn source_words(source: Source) -> &'static str {
    match source {
        Source::File => "",
        Source::Ledger => {
            "plan.json is behind its ledger (a change was cut off); this is what the ledger says"
        }
        Source::EditedFile => "plan.json was edited by hand; the next change takes that into the ledger",
    }
}

pub fn graph(plan: &Plan) {
    let mut out = String::new();
    for line in plan::graph(plan) {
        let task = line.task;
        let style = style_of(task.status);
        let again = if line.again { format!(" {DIM}(above){DIM:#}") } else { String::new() };
        let text = if line.again { String::new() } else { format!("  {}", one_line(&task.description, 72)) };
        let (rails, id) = (&line.rails, one_line(&task.id, 64));
        out.push_str(&format!(
            "{DIM}{rails}{DIM:#}{style}{}{style:#} {id}{text}{again}\n",
            task.status.sign()
        ));
    }
    if out.is_empty() {
        return output::talk("There are no tasks yet; `thru task add TEXT` adds one.");
    }
    output::text(&out);
    output::talk(format_args!(
        "{DIM}below each task: what waits for it. ✓ completed ▶ in progress ○ pending ✗ blocked – closed{DIM:#}"
    ));
}

pub fn next(next: &Next) {
    for task in &next.in_progress {
        let who = task
            .claimed_by
            .as_deref()
            .map_or(String::new(), |who| format!("  {DIM}{}{DIM:#}", one_line(who, 60)));
        output::line(format_args!("{BOLD}▶ {}{BOLD:#}  {}{who}", task.id, one_line(&task.description, TEXT)));
    }
    for task in &next.ready {
        output::line(format_args!("○ {}  {}", task.id, one_line(&task.description, TEXT)));
    }
    if next.ready.is_empty() && next.in_progress.is_empty() {
        let Progress { done, total } = next.progress;
        let text = if done == total { "All tasks are over." } else { "Nothing is ready." };
        output::line(text);
    }
    for waiting in &next.waiting {
        let ids: Vec<&str> = waiting.waits_for.iter().map(String::as_str).collect();
        let waits = if ids.is_empty() { String::new() } else { format!(" waits for {}", short(&ids)) };
        let why = waiting
            .blocked_reason
            .as_deref()
            .map_or(String::new(), |why| format!(" blocked: {}", one_line(why, TEXT)));
        output::line(format_args!("{DIM}· {}{waits}{why}{DIM:#}", waiting.id));
    }
}

pub fn checked(checked: &Checked) {
    let Checked { tasks, ledger_lines, findings, .. } = checked;
    for finding in findings {
        output::line(output::finding(finding));
    }
    if findings.is_empty() {
        output::line(format_args!(
            "{GOOD}The plan is sound:{GOOD:#} {}, {} in the ledger give the same plan",
            count(*tasks, "task"),
            count(*ledger_lines, "change")
        ));
    }
}

pub fn log(log: &Log) {
    if log.lines.is_empty() {
        output::talk("There is no change yet.");
    }
    for line in &log.lines {
        let why =
            if line.why.is_empty() { String::new() } else { format!("  {}", one_line(&line.why, TEXT)) };
        output::line(format_args!(
            "{DIM}{:>5}  {}{DIM:#}  {:<15} {BOLD}{}{BOLD:#}  {DIM}{}{DIM:#}{why}",
            line.seq,
            one_line(&line.at, 24),
            one_line(&line.what, 24),
            one_line(&line.id, 64),
            one_line(&line.by, 40)
        ));
    }
    if log.torn > 0 {
        output::talk(format_args!("{WARN}note:{WARN:#} {} could not be read", count(log.torn, "line")));
    }
}

pub fn task(shown: &TaskShown) {
    let TaskShown { task, phase_name, ready, waits_for, held_up, evidence, history } = shown;
    output::line(format_args!("{BOLD}{}{BOLD:#}  {}", task.id, one_line(&task.description, 2_000)));
    let status = task.status.name().replace('_', " ");
    let ready = if *ready { ", ready" } else { "" };
    let mut rows = vec![
        ("status", format!("{status}{ready}")),
        ("phase", format!("{} {}", task.phase, one_line(phase_name, 120))),
    ];
    let mut row = |name: &'static str, text: Option<String>| {
        rows.extend(text.filter(|text| !text.is_empty()).map(|text| (name, text)));
    };
    let long = |text: &Option<String>| text.as_deref().map(|text| one_line(text, 2_000));
    row("size", task.size.map(|size| size.name().to_owned()));
    row("done when", long(&task.acceptance));
    row("waits for", Some(waits_for.join(", ")));
    row("held up", Some(held_up.join(", ")));
    row("blocked", long(&task.blocked_reason));
    row("files", Some(one_line(&task.files_touched.join(", "), 2_000)));
    row("evidence", evidence.as_ref().map(|line| line.error.clone().unwrap_or_else(|| line.text.clone())));
    row("its file", long(&task.evidence_path));
    row("no evidence", long(&task.without_evidence));
    row("by", long(&task.claimed_by));
    row("started", long(&task.started_at));
    row("done", long(&task.done_at));
    for (key, value) in &task.rest {
        rows.push(("also", format!("{}: {}", one_line(key, 40), one_line(&value.to_string(), 400))));
    }
    output::pairs(&rows);
    for line in history {
        output::line(format_args!(
            "{DIM}{}  {}  {}{DIM:#}",
            line.at,
            one_line(&line.what, 24),
            one_line(&line.by, 60)
        ));
    }
}
