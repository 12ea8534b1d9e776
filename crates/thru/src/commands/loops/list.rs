use model::loops::{EndReason, LoopStatus};
use model::render::one_line;
use model::time;
use ops::features::loops::{self, LoopShown};
use ops::{Result, World};

use crate::output::{self, BAD, BOLD, DIM, GOOD, OutputFormat, WARN};

pub fn run(world: &World, format: OutputFormat) -> Result<()> {
    let list = loops::list_loops(world)?;
    if format == OutputFormat::Json {
        output::print_json(&list);
        return Ok(());
    }
    if list.loops.is_empty() && list.damaged.is_empty() {
        output::print_message("There are no loops yet; `thru loop start` starts one.");
    }
    let wide = |of: &dyn Fn(&LoopShown) -> usize| list.loops.iter().map(of).max().unwrap_or(0);
    let (id, state, done, holder) = (
        wide(&|shown| shown.id.len()),
        wide(&|shown| describe_state(shown).len()),
        wide(&|shown| shown.describe_progress().len()),
        wide(&|shown| describe_owner(shown).len()),
    );
    for shown in &list.loops {
        let mark = match (shown.foreground && shown.session_end.is_none(), shown.waits_for_session) {
            (true, _) => "▶",
            (false, true) => "▷",
            (false, false) => " ",
        };
        let style = match shown.status {
            _ if is_open_without_consent(shown) || shown.session_end.is_some() => WARN,
            LoopStatus::Active if shown.waits_for_another_loop() => WARN,
            LoopStatus::Active => GOOD,
            LoopStatus::Paused => WARN,
            LoopStatus::Done | LoopStatus::Cancelled => DIM,
        };
        let ago =
            time::parse_time(&shown.updated_at).map_or(String::new(), |at| time::describe_age(at, world.now));
        let rest = match shown.promises.first() {
            Some(promise) => format!("{ago:<12}  {DIM}{}{DIM:#}", one_line(&promise.text, 40)),
            None => ago,
        };
        output::print_line(format_args!(
            "{GOOD}{mark}{GOOD:#} {BOLD}{:<id$}{BOLD:#}  {style}{:<state$}{style:#}  {:>done$}  {:<holder$}  {rest}",
            shown.id,
            describe_state(shown),
            shown.describe_progress(),
            describe_owner(shown),
        ));
    }
    if let Some(behind) = list.loops.iter().find(|shown| shown.waits_for_another_loop()) {
        output::print_message(format_args!(
            "{DIM}`thru loop activate {}` brings a waiting loop to the foreground{DIM:#}",
            behind.id
        ));
    }
    if list.loops.iter().any(|shown| shown.status == LoopStatus::Active && shown.is_allowed_here) {
        output::print_note_if_hooks_do_nothing(world, "No loop runs");
    }
    list.loops.iter().for_each(|shown| print_note_on_loop_that_cannot_run(world, shown));
    for damaged in &list.damaged {
        output::print_message(format_args!("{BAD}damaged:{BAD:#} {}", one_line(damaged, 400)));
    }
    Ok(())
}

/// Returns the state of a loop, such as `paused (limit)`, `active (waits)`, `active (not running)` or `active (not
/// started here)`.
pub fn describe_state(shown: &LoopShown) -> String {
    if is_open_without_consent(shown) {
        let why = if shown.is_folder_moved { "folder moved" } else { "not started here" };
        return format!("{} ({why})", shown.status.name());
    }
    if shown.session_end.is_some() {
        return format!("{} (not running)", shown.status.name());
    }
    if shown.waits_for_another_loop() {
        return format!("{} (waits)", shown.status.name());
    }
    match shown.ended_reason.filter(|reason| *reason != EndReason::Cancelled) {
        Some(reason) => format!("{} ({})", shown.status.name(), reason.name()),
        None => shown.status.name().to_owned(),
    }
}

/// Returns whether the loop is active or paused although the user did not start it on this machine. No agent gets the
/// prompt of such a loop.
fn is_open_without_consent(shown: &LoopShown) -> bool {
    !shown.is_allowed_here && matches!(shown.status, LoopStatus::Active | LoopStatus::Paused)
}

/// Prints why no agent gets the prompt of an open loop, and how to change this.
pub fn print_note_on_loop_that_cannot_run(world: &World, shown: &LoopShown) {
    let advice = match is_open_without_consent(shown) {
        true => Some(loops::advice_without_consent(world, &shown.id)),
        false => loops::advice_on_ended_session(world, shown),
    };
    if let Some(advice) = advice {
        output::print_message(format_args!("{WARN}note:{WARN:#} {advice}"));
    }
}

fn describe_owner(shown: &LoopShown) -> String {
    match (&shown.session, shown.waits_for_session) {
        (_, true) => "next session".to_owned(),
        (Some(session), _) => loops::short_session_id(session),
        (None, false) => "-".to_owned(),
    }
}
