//! The checks of `thru doctor` and the lines of `thru status` that are about loops.

use model::finding::{Finding, FindingLevel};
use model::loops::{EndReason, Loop, LoopStatus, ResumeCommand, command_to_resume};
use model::render::one_line;
use model::text::count_with_noun;
use serde_json::json;
use store::{FoundRoot, Root, Store};

use super::{
    LoopShown, all_loops, choose, foreground_loop, is_without_consent, loop_shown, read_or_rebuild_pointer,
};
use crate::features::{DoctorCheck, NextStepUrgency, ProjectContext, StatusReportLine, StatusTone};
use crate::project::trust;
use crate::session::roster::SessionEnd;
use crate::{Result, World};

pub fn status_lines(project: &ProjectContext) -> Result<Vec<StatusReportLine>> {
    let mut lines = Vec::new();
    let foreground = foreground_loop(project.world, project.store)?;
    if let Some(shown) = foreground.filter(|shown| shown.session_end.is_none()) {
        let line = StatusReportLine::colored(
            "loop",
            StatusTone::Strong,
            &shown.id,
            format!(", {}", shown.describe_state()),
        );
        let line = match shown.waits_for_session {
            true => line.with_next_step(
                NextStepUrgency::ActiveLoop,
                "thru loop show",
                "shows the waiting loop; start your harness here and send any message, such as `go`, to run it",
            ),
            false => line.with_next_step(
                NextStepUrgency::ActiveLoop,
                "thru loop log",
                "shows what the active loop has done so far",
            ),
        };
        lines.push(line.changed_at(&shown.updated_at).with_json("loop", json!(shown)));
    }
    let store = project.store;
    let records = all_loops(store)?.0;
    let pointer = read_or_rebuild_pointer(store, &records);
    let shown = records.iter().map(|record| loop_shown(project.world, store, &record.loop_state, &pointer));
    let mut shown: Vec<LoopShown> = shown.collect();
    shown.sort_by(|a, b| (&b.updated_at, &b.id).cmp(&(&a.updated_at, &a.id)));
    let left: Vec<&LoopShown> = shown.iter().filter(|shown| shown.session_end.is_some()).collect();
    if let Some(newest) = left.first() {
        let (command, what) = how_to_give_on(project.world, store, &newest.id);
        let more = if left.len() > 1 { "; `thru loop list` shows more" } else { "" };
        let rest = format!(", {}; `{command}` {what}{more}", newest.describe_state());
        let line = StatusReportLine::colored("not running", StatusTone::Warning, &newest.id, rest);
        let line = line.with_json("loops_not_running", json!(left.len()));
        let what = format!("{what}: its session {}", newest.session_end.map_or("", SessionEnd::describe));
        lines.push(line.with_next_step(NextStepUrgency::PausedWork, command, what));
    }
    let behind: Vec<&LoopShown> = shown.iter().filter(|shown| shown.waits_for_another_loop()).collect();
    if let Some(newest) = behind.first() {
        let activate = format!("thru loop activate {}", newest.id);
        let (number, which) = match behind.len() {
            1 => ("1 loop is".to_owned(), "it"),
            many => (format!("{many} loops are"), "one"),
        };
        let text = format!("{number} active, but not in the foreground; `{activate}` brings {which} there");
        let line = StatusReportLine::plain("waiting", text).with_json("waiting_loops", json!(behind.len()));
        // Do not suggest a next step while another loop is in the foreground, because the user chose that loop.
        lines.push(match lines.is_empty() {
            true => line.with_next_step(NextStepUrgency::PausedWork, activate, "continues the waiting loop"),
            false => line,
        });
    }
    let foreign = records.iter().filter(|record| is_without_consent(store, &record.loop_state)).count();
    let is_paused = |state: &Loop| state.status == LoopStatus::Paused && !is_without_consent(store, state);
    let paused: Vec<&Loop> =
        records.iter().map(|record| &record.loop_state).filter(|state| is_paused(state)).collect();
    if let Some(newest) = paused.iter().max_by_key(|state| (&state.updated_at, &state.id)) {
        // Without the id, the commands would choose among the loops of the reader's own session.
        let ResumeCommand { command, effect } = command_to_resume(newest, project.world.now);
        let number = match paused.len() {
            1 => "1 loop".to_owned(),
            many => format!("{many} loops, of which this is the newest"),
        };
        let text = format!("{number}; `thru loop log {}` says why; `{command}` {effect}", newest.id);
        let line = StatusReportLine::plain("paused", text).with_json("paused_loops", json!(paused.len()));
        lines.push(line.with_next_step(
            NextStepUrgency::PausedWork,
            command,
            format!("{effect} (a paused loop)"),
        ));
    }
    if foreign > 0 && is_project_folder_moved(project) {
        let number = count_with_noun(foreign, "loop");
        let text = format!("{number}; this folder was moved; run `thru trust --moved` to continue");
        let line = StatusReportLine::plain("waiting", text);
        lines.push(line.with_json("loops_not_started_here", json!(foreign)));
    } else if foreign > 0 {
        let number = count_with_noun(foreign, "loop");
        let text = format!("{number}; no agent gets the prompt; `thru loop list` shows more");
        let line = StatusReportLine::plain("not started here", text);
        lines.push(line.with_json("loops_not_started_here", json!(foreign)));
    }
    Ok(lines)
}

/// Returns the command that gives a loop to another session, and what the command does. If thru runs inside a
/// session, that session gets the loop. Otherwise, the next session gets it.
fn how_to_give_on(world: &World, store: &Store, id: &str) -> (String, &'static str) {
    match choose::current_session(world, store) {
        Some(_) => (format!("thru loop activate {id}"), "gives the loop to this session"),
        None => {
            (format!("thru loop activate {id} --next"), "gives the loop to the next session that starts here")
        }
    }
}

/// Says that a loop is not running because its session is over, and names the command that gives the loop to another
/// session.
pub fn advice_on_ended_session(world: &World, shown: &LoopShown) -> Option<String> {
    let end = shown.session_end?.describe();
    let session = shown.session.as_deref().map(short_session_id).unwrap_or_default();
    let FoundRoot::Marked { store, .. } = world.find_root().ok()? else { return None };
    let (command, what) = how_to_give_on(world, &store, &shown.id);
    Some(format!("{} is not running: its session {session} {end}; `{command}` {what}", shown.id))
}

fn is_project_folder_moved(project: &ProjectContext) -> bool {
    is_folder_moved(project.world, project.store, project.root)
}

/// Returns whether the project's folder was moved and its new path is not trusted yet. Until it is trusted, nothing
/// that the user allowed at the old path is allowed here.
pub fn is_folder_moved(world: &World, store: &Store, root: &Root) -> bool {
    let id = store.read_marker().ok().map(|marker| marker.project_id);
    id.is_some_and(|id| trust::former_root(world, &id, &root.path).is_some())
}

/// Explains why no agent gets the prompt of a loop if the user has not consented to the loop, and names the command
/// that gives consent.
pub fn advice_without_consent(world: &World, id: &str) -> String {
    match world.find_root() {
        Ok(FoundRoot::Marked { root, store, .. }) if is_folder_moved(world, &store, &root) => format!(
            "this folder was moved, so no agent gets the prompt of {id}; `thru trust --moved` keeps everything \
             that you allowed at the old path"
        ),
        _ => format!(
            "{id} was not started here, so no agent gets its prompt; `thru loop adopt {id}` shows its prompt and its \
             commands, and asks whether you allow them"
        ),
    }
}

impl LoopShown {
    /// Describes the loop's state, for example `iteration 3 of 30, session 9487a9f7`.
    pub fn describe_state(&self) -> String {
        let whose = match (&self.session, self.waits_for_session) {
            (_, true) => ", for the next session that starts here".to_owned(),
            (Some(session), _) => {
                let end = self.session_end.map_or(String::new(), |end| format!(", which {}", end.describe()));
                format!(", session {}{end}", short_session_id(session))
            }
            (None, false) => String::new(),
        };
        format!("iteration {}{whose}", self.describe_progress())
    }

    /// Returns whether the loop is active and allowed, but neither in the foreground nor next in line. Another loop
    /// took its place. A loop whose session has ended is left out, because it waits for nothing.
    pub fn waits_for_another_loop(&self) -> bool {
        self.status == LoopStatus::Active
            && self.is_allowed_here
            && self.session_end.is_none()
            && !self.foreground
            && !self.waits_for_session
    }

    pub fn describe_progress(&self) -> String {
        match self.max_iterations {
            0 => self.iteration.to_string(),
            most => format!("{} of {most}", self.iteration),
        }
    }
}

/// Returns the first characters of a session id, which are enough to recognise the session.
pub fn short_session_id(session: &str) -> String {
    one_line(session, 128).chars().take(8).collect()
}

pub fn doctor_checks(project: &ProjectContext) -> Vec<DoctorCheck> {
    let (loops, findings) = loop_findings(project);
    if loops == 0 && findings.is_empty() {
        return Vec::new();
    }
    vec![DoctorCheck { name: "loops", text: count_with_noun(loops, "loop"), findings }]
}

fn loop_findings(project: &ProjectContext) -> (usize, Vec<Finding>) {
    let store = project.store;
    let (records, damaged) = match all_loops(store) {
        Ok(all) => all,
        Err(error) => return (0, vec![Finding::new(FindingLevel::Error, error.to_string())]),
    };
    let mut findings: Vec<Finding> = damaged
        .into_iter()
        .map(|error| {
            let text = format!("a loop cannot be read: {error}");
            Finding::new(FindingLevel::Error, text)
                .with_hint("fix the file; until then every stop is allowed")
        })
        .collect();
    if let Err(error) = store.read_foreground() {
        let hint = "any `thru loop` command that changes a loop rebuilds this file";
        findings.push(Finding::new(FindingLevel::Warning, error.to_string()).with_hint(hint));
    }
    for state in records
        .iter()
        .map(|record| &record.loop_state)
        .filter(|state| state.end_reason == Some(EndReason::Error))
    {
        let detail = state.ended_detail.as_deref().unwrap_or("no reason was recorded");
        let text = format!("loop {} was paused by an error: {detail}", state.id);
        let ResumeCommand { command, effect } = command_to_resume(state, project.world.now);
        findings.push(Finding::new(FindingLevel::Warning, text).with_hint(format!("`{command}` {effect}")));
    }
    if is_project_folder_moved(project) {
        // Do not suggest `thru loop adopt` for each loop. `thru trust --moved` restores all consents at once, and
        // another check already suggests that command.
        return (records.len(), findings);
    }
    for state in
        records.iter().map(|record| &record.loop_state).filter(|state| is_without_consent(store, state))
    {
        let text = format!(
            "loop {} is {} and was not started here: no agent gets its prompt",
            state.id,
            state.status.name()
        );
        let hint = format!(
            "`thru loop adopt {}` shows its prompt and its commands, and asks whether you allow them",
            state.id
        );
        findings.push(Finding::new(FindingLevel::Note, text).with_hint(hint));
    }
    (records.len(), findings)
}
