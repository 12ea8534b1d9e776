use std::fmt::Write as _;

use model::evidence::ProofState;
use model::plan::{self, Phase, PhaseStatus, PlanStanding, Task, TaskProgress, TaskStatus};
use model::render::{borrow_or_collapse_line, one_line};
use ops::features::evidence::show::TaskEvidenceLine;
use ops::features::plan::PlanSource;
use ops::features::plan::show::{self, PlanShown};
use ops::{Error, Result, World};

use super::{TEXT_WIDTH, format_id_list, push_id_list, status_style};
use crate::commands::evidence::proof_style;
use crate::output::{self, BAD, BOLD, DIM, GOOD, OutputFormat, OutputStream, TextStyle, WARN};

/// How many bytes of text are collected before they are printed. The buffer is then reused, which is faster than
/// allocating a new one.
const PAGE_BYTES: usize = 32 * 1024;

/// The maximum number of tasks listed for a phase that is not current. The footer lists the tasks that are ready or
/// blocked.
const MAX_TASKS_LISTED: usize = 20;

/// The width of a progress bar, in characters.
const BAR_WIDTH: usize = 20;

pub fn run(world: &World, only: Option<u32>, all: bool, format: OutputFormat) -> Result<u8> {
    let shown = show::show_plan(world)?;
    match format {
        OutputFormat::Json => output::print_json(&shown.to_json()),
        OutputFormat::Text => print_plan(&shown, only, all)?,
    }
    // The process ends soon. The kernel frees the memory of a large plan faster than we could drop its tasks one by
    // one.
    std::mem::forget(shown);
    Ok(0)
}

pub fn print_plan(shown: &PlanShown, only: Option<u32>, all: bool) -> Result<()> {
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
    let mut page =
        PlanPage { text: String::with_capacity(2 * PAGE_BYTES), has_color: OutputStream::Out.has_color() };
    page.push_styled(BOLD, &borrow_or_collapse_line(title, 200));
    page.text.push_str("  ");
    page.push_progress_bar(standing.progress);
    page.text.push('\n');
    if shown.loaded.source != PlanSource::File {
        page.print();
        output::print_message(format_args!("{WARN}note:{WARN:#} {}", describe_source(shown.loaded.source)));
    }
    for phase in plan.phases.iter().filter(|phase| only.is_none_or(|id| phase.id == id)) {
        let is_current = standing.current_phase.is_some_and(|current| current.id == phase.id);
        page.push_phase(phase, shown, &standing, (is_current, all || only.is_some()));
        if page.text.len() > PAGE_BYTES {
            page.print();
        }
    }
    page.print();
    if only.is_none() {
        print_footer(&standing);
    }
    for problem in plan::find_plan_problems(plan) {
        output::print_message(format_args!("{BAD}error:{BAD:#} {problem}"));
    }
    Ok(())
}

/// The text to print next, collected in one buffer because a large plan has thousands of lines. If the output has no
/// colour, no style marks are added, so the printer has none to replace. Text from the plan is cleaned before it is
/// added.
struct PlanPage {
    text: String,
    has_color: bool,
}

impl PlanPage {
    fn print(&mut self) {
        output::print_text(&self.text);
        self.text.clear();
    }

    fn push_styled(&mut self, style: TextStyle, text: &str) {
        self.push_styled_with(style, |page| page.push_str(text));
    }

    fn push_styled_with(&mut self, style: TextStyle, add: impl FnOnce(&mut String)) {
        if !self.has_color {
            return add(&mut self.text);
        }
        // Writing to a `String` cannot fail.
        let _ = write!(self.text, "{style}");
        add(&mut self.text);
        let _ = write!(self.text, "{style:#}");
    }

    fn push_detail(&mut self, style: TextStyle, text: &str) {
        self.text.push_str("  ");
        self.push_styled(style, text);
    }

    fn push_phase(
        &mut self,
        phase: &Phase,
        shown: &PlanShown,
        standing: &PlanStanding,
        (is_current, all): (bool, bool),
    ) {
        self.text.push_str(if is_current { "\n▸ " } else { "\n  " });
        self.push_styled(BOLD, &format!("{}. {}", phase.id, borrow_or_collapse_line(&phase.name, 120)));
        self.text.push_str("  ");
        self.push_progress_bar(TaskProgress::count_tasks(&phase.tasks));
        match phase.status {
            PhaseStatus::Blocked => self.push_detail(BAD, "blocked"),
            PhaseStatus::Closed => self.push_detail(DIM, "closed"),
            PhaseStatus::Complete | PhaseStatus::InProgress | PhaseStatus::Pending => {}
        }
        self.text.push('\n');
        if phase.status.is_over() && !all {
            return;
        }
        let listed =
            if all || is_current { phase.tasks.len() } else { phase.tasks.len().min(MAX_TASKS_LISTED) };
        let (tasks, more) = phase.tasks.split_at(listed);
        let width = tasks.iter().map(|task| task.id.chars().count()).max().unwrap_or(0).min(24);
        for task in tasks {
            self.push_task(task, standing, (width, shown.evidence.get(&task.id)));
        }
        if !more.is_empty() {
            let text = format!("    … {} more; `thru plan show --phase {}` lists them", more.len(), phase.id);
            self.push_styled(DIM, &text);
            self.text.push('\n');
        }
    }

    fn push_task(
        &mut self,
        task: &Task,
        standing: &PlanStanding,
        (width, evidence): (usize, Option<&TaskEvidenceLine>),
    ) {
        self.text.push_str("    ");
        self.push_styled(status_style(task.status), task.status.status_symbol());
        self.text.push(' ');
        let id = borrow_or_collapse_line(&task.id, 64);
        self.text.push_str(&id);
        let missing = width.saturating_sub(id.chars().count());
        self.text.extend(std::iter::repeat_n(' ', missing + 2));
        self.text.push_str(&borrow_or_collapse_line(&task.description, TEXT_WIDTH));
        if let Some(size) = task.size {
            self.text.push(' ');
            self.push_styled(DIM, size.name());
        }
        let mut waits = standing.open_dependencies(task).map(|(id, _)| id).peekable();
        if !task.status.is_over() && waits.peek().is_some() {
            self.text.push_str("  ");
            self.push_styled_with(DIM, |text| {
                text.push_str("← ");
                push_id_list(text, waits);
            });
        }
        if let Some(line) = evidence {
            self.push_detail(proof_style(line), &describe_evidence(line));
        }
        if task.reported_done {
            self.push_detail(WARN, "done according to the agent's list, no evidence");
        }
        if task.without_evidence.is_some() {
            self.push_detail(WARN, "without evidence");
        }
        self.text.push('\n');
        if task.status == TaskStatus::Blocked
            && let Some(why) = &task.blocked_reason
        {
            self.text.push_str("      ");
            self.push_styled(BAD, &borrow_or_collapse_line(why, TEXT_WIDTH));
            self.text.push('\n');
        }
    }

    /// Adds a bar like `██████░░░░ 3/5`.
    fn push_progress_bar(&mut self, TaskProgress { done, total }: TaskProgress) {
        if total == 0 {
            return self.push_styled(DIM, "no tasks");
        }
        let full = done * BAR_WIDTH / total;
        self.push_styled(if done == total { GOOD } else { BOLD }, &"█".repeat(full));
        self.push_styled(DIM, &"░".repeat(BAR_WIDTH - full));
        self.text.push_str(&format!(" {done}/{total}"));
    }
}

fn describe_evidence(line: &TaskEvidenceLine) -> String {
    match (line.proof, &line.error) {
        (_, Some(_)) => "evidence cannot be read".to_owned(),
        (ProofState::Passed, None) => "evidence passed".to_owned(),
        (ProofState::None, None) => "nothing observed".to_owned(),
        (_, None) if line.stale => {
            format!("evidence {}: {}", line.state_word, one_line(&line.changed_file, 60))
        }
        (_, None) => format!("evidence {}", line.state_word),
    }
}

fn print_footer(standing: &PlanStanding) {
    output::print_line("");
    let names = |tasks: &[&Task]| format_id_list(tasks.iter().map(|task| task.id.as_str()));
    let rows: Vec<(&str, String)> = [
        ("now", names(&standing.in_progress)),
        ("ready", names(&standing.ready)),
        ("blocked", names(&standing.blocked)),
    ]
    .into_iter()
    .filter(|(_, ids)| !ids.is_empty())
    .collect();
    if rows.is_empty() {
        let TaskProgress { done, total } = standing.progress;
        let text = match (done == total, total) {
            (_, 0) => "There are no tasks yet; `thru task add TEXT` adds one.",
            (true, _) => "No open tasks are left.",
            (false, _) => "Nothing is ready: every open task waits for another.",
        };
        return output::print_line(text);
    }
    output::print_pairs(&rows);
}

fn describe_source(source: PlanSource) -> &'static str {
    match source {
        PlanSource::File => "",
        PlanSource::Ledger => {
            "plan.json is older than its ledger (a change was interrupted); this is the plan from the ledger"
        }
        PlanSource::EditedFile => "plan.json was edited by hand; the next change records that in the ledger",
    }
}
