use std::fmt::Write as _;

use model::evidence::Proof;
use model::plan::{self, Phase, PhaseStatus, Progress, Standing, Task, TaskStatus};
use model::render::{as_line, one_line};
use ops::features::evidence::show::EvidenceLine;
use ops::features::plan::Source;
use ops::features::plan::show::{self, Shown};
use ops::{Error, Result, World};

use super::{TEXT, push_short_list, short_list, style_of};
use crate::commands::evidence::proof_style;
use crate::output::{self, BAD, BOLD, DIM, Format, GOOD, Stream, Style, WARN};

/// How many bytes are printed at once. Using the same memory again is faster than using new memory.
const PRINTED: usize = 32 * 1024;

/// How many tasks of a phase are listed, unless it is the current phase. The last lines of the output name the
/// tasks that are ready or blocked.
const LISTED_TASKS: usize = 20;

/// The width of a progress bar, in characters.
const BAR: usize = 20;

pub fn run(world: &World, only: Option<u32>, all: bool, format: Format) -> Result<u8> {
    let shown = show::show(world)?;
    match format {
        Format::Json => output::json(&shown.report()),
        Format::Text => print_plan(&shown, only, all)?,
    }
    // The process ends here. The kernel frees the memory of a large plan faster than dropping its tasks one by one
    // would.
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
    let mut page = Page { text: String::with_capacity(2 * PRINTED), has_color: Stream::Out.has_color() };
    page.styled(BOLD, &as_line(title, 200));
    page.text.push_str("  ");
    page.bar(standing.progress);
    page.text.push('\n');
    if shown.loaded.from != Source::File {
        page.print();
        output::talk(format_args!("{WARN}note:{WARN:#} {}", source_words(shown.loaded.from)));
    }
    for phase in plan.phases.iter().filter(|phase| only.is_none_or(|id| phase.id == id)) {
        let is_current = standing.phase.is_some_and(|current| current.id == phase.id);
        page.phase(phase, shown, &standing, (is_current, all || only.is_some()));
        if page.text.len() > PRINTED {
            page.print();
        }
    }
    page.print();
    if only.is_none() {
        footer(&standing);
    }
    for problem in plan::problems(plan) {
        output::talk(format_args!("{BAD}error:{BAD:#} {problem}"));
    }
    Ok(())
}

/// What is printed next. A large plan has thousands of lines, so nothing is copied twice: without colour the text contains no
/// marks, and the printer need not replace them. Every text from the plan is cleaned before it is added.
struct Page {
    text: String,
    has_color: bool,
}

impl Page {
    fn print(&mut self) {
        output::text(&self.text);
        self.text.clear();
    }

    fn styled(&mut self, style: Style, text: &str) {
        self.styled_by(style, |page| page.push_str(text));
    }

    fn styled_by(&mut self, style: Style, add: impl FnOnce(&mut String)) {
        if !self.has_color {
            return add(&mut self.text);
        }
        // Writing to a `String` cannot fail.
        let _ = write!(self.text, "{style}");
        add(&mut self.text);
        let _ = write!(self.text, "{style:#}");
    }

    fn also(&mut self, style: Style, text: &str) {
        self.text.push_str("  ");
        self.styled(style, text);
    }

    fn phase(&mut self, phase: &Phase, shown: &Shown, standing: &Standing, (is_current, all): (bool, bool)) {
        self.text.push_str(if is_current { "\n▸ " } else { "\n  " });
        self.styled(BOLD, &format!("{}. {}", phase.id, as_line(&phase.name, 120)));
        self.text.push_str("  ");
        self.bar(Progress::of(&phase.tasks));
        match phase.status {
            PhaseStatus::Blocked => self.also(BAD, "blocked"),
            PhaseStatus::Closed => self.also(DIM, "closed"),
            PhaseStatus::Complete | PhaseStatus::InProgress | PhaseStatus::Pending => {}
        }
        self.text.push('\n');
        if phase.status.is_over() && !all {
            return;
        }
        let listed = if all || is_current { phase.tasks.len() } else { phase.tasks.len().min(LISTED_TASKS) };
        let (tasks, more) = phase.tasks.split_at(listed);
        let width = tasks.iter().map(|task| task.id.chars().count()).max().unwrap_or(0).min(24);
        for task in tasks {
            self.task(task, standing, (width, shown.evidence.get(&task.id)));
        }
        if !more.is_empty() {
            let text = format!("    … {} more; `thru plan show --phase {}` lists them", more.len(), phase.id);
            self.styled(DIM, &text);
            self.text.push('\n');
        }
    }

    fn task(&mut self, task: &Task, standing: &Standing, (width, evidence): (usize, Option<&EvidenceLine>)) {
        self.text.push_str("    ");
        self.styled(style_of(task.status), task.status.sign());
        self.text.push(' ');
        let id = as_line(&task.id, 64);
        self.text.push_str(&id);
        let missing = width.saturating_sub(id.chars().count());
        self.text.extend(std::iter::repeat_n(' ', missing + 2));
        self.text.push_str(&as_line(&task.description, TEXT));
        if let Some(size) = task.size {
            self.text.push(' ');
            self.styled(DIM, size.name());
        }
        let mut waits = standing.waits_for(task).map(|(id, _)| id).peekable();
        if !task.status.is_over() && waits.peek().is_some() {
            self.text.push_str("  ");
            self.styled_by(DIM, |text| {
                text.push_str("← ");
                push_short_list(text, waits);
            });
        }
        if let Some(line) = evidence {
            self.also(proof_style(line), &evidence_words(line));
        }
        if task.reported_done {
            self.also(WARN, "done by its list, no evidence");
        }
        if task.without_evidence.is_some() {
            self.also(WARN, "without evidence");
        }
        self.text.push('\n');
        if task.status == TaskStatus::Blocked
            && let Some(why) = &task.blocked_reason
        {
            self.text.push_str("      ");
            self.styled(BAD, &as_line(why, TEXT));
            self.text.push('\n');
        }
    }

    /// Adds a bar like `██████░░░░ 3/5`.
    fn bar(&mut self, Progress { done, total }: Progress) {
        if total == 0 {
            return self.styled(DIM, "no tasks");
        }
        let full = done * BAR / total;
        self.styled(if done == total { GOOD } else { BOLD }, &"█".repeat(full));
        self.styled(DIM, &"░".repeat(BAR - full));
        self.text.push_str(&format!(" {done}/{total}"));
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

fn source_words(source: Source) -> &'static str {
    match source {
        Source::File => "",
        Source::Ledger => {
            "plan.json is older than its ledger (a change was interrupted); this is what the ledger says"
        }
        Source::EditedFile => "plan.json was edited by hand; the next change records that in the ledger",
    }
}
