use model::loops::{Ended, Status};
use model::render::one_line;
use model::time;
use ops::features::loops::{self, Shown};
use ops::{Result, World};

use crate::output::{self, BAD, BOLD, DIM, Format, GOOD, WARN};

pub fn run(world: &World, format: Format) -> Result<()> {
    let list = loops::list(world)?;
    if format == Format::Json {
        output::json(&list);
        return Ok(());
    }
    if list.loops.is_empty() && list.damaged.is_empty() {
        output::talk("There are no loops yet; `thru loop start` starts one.");
    }
    let wide = |of: &dyn Fn(&Shown) -> usize| list.loops.iter().map(of).max().unwrap_or(0);
    let (id, state, done, holder) = (
        wide(&|shown| shown.id.len()),
        wide(&|shown| state(shown).len()),
        wide(&|shown| shown.progress().len()),
        wide(&|shown| whose(shown).len()),
    );
    for shown in &list.loops {
        let mark = match (shown.foreground, shown.waiting) {
            (true, _) => "▶",
            (false, true) => "▷",
            (false, false) => " ",
        };
        let style = match shown.status {
            _ if is_foreign(shown) => WARN,
            Status::Active if is_behind(shown) => WARN,
            Status::Active => GOOD,
            Status::Paused => WARN,
            Status::Done | Status::Cancelled => DIM,
        };
        let ago = time::parse(&shown.updated_at).map_or(String::new(), |at| time::ago(at, world.now));
        let rest = match shown.promises.first() {
            Some(promise) => format!("{ago:<12}  {DIM}{}{DIM:#}", one_line(&promise.text, 40)),
            None => ago,
        };
        output::line(format_args!(
            "{GOOD}{mark}{GOOD:#} {BOLD}{:<id$}{BOLD:#}  {style}{:<state$}{style:#}  {:>done$}  {:<holder$}  {rest}",
            shown.id,
            self::state(shown),
            shown.progress(),
            whose(shown),
        ));
    }
    if let Some(behind) = list.loops.iter().find(|shown| is_behind(shown)) {
        output::talk(format_args!(
            "{DIM}`thru loop activate {}` puts one that waits into the foreground{DIM:#}",
            behind.id
        ));
    }
    list.loops.iter().for_each(tell_foreign);
    for damaged in &list.damaged {
        output::talk(format_args!("{BAD}damaged:{BAD:#} {}", one_line(damaged, 400)));
    }
    Ok(())
}

/// Returns the state of a loop, such as `paused (limit)`, `active (waits)` or `active (not started here)`.
pub fn state(shown: &Shown) -> String {
    if is_foreign(shown) {
        return format!("{} (not started here)", shown.status.name());
    }
    if is_behind(shown) {
        return format!("{} (waits)", shown.status.name());
    }
    match shown.ended_reason.filter(|reason| *reason != Ended::Cancelled) {
        Some(reason) => format!("{} ({})", shown.status.name(), reason.name()),
        None => shown.status.name().to_owned(),
    }
}

/// Whether the user did not start the loop on this machine. Such a loop is never fed.
fn is_foreign(shown: &Shown) -> bool {
    !shown.started_here && matches!(shown.status, Status::Active | Status::Paused)
}

pub fn tell_foreign(shown: &Shown) {
    if is_foreign(shown) {
        output::talk(format_args!(
            "{WARN}note:{WARN:#} {} was not started here, so it is never fed; `thru loop adopt {0}` shows what it would \
             feed and run, and asks",
            shown.id
        ));
    }
}

/// Whether the loop is active but holds no session. Then another loop holds its session, or waits for the next
/// session before it.
fn is_behind(shown: &Shown) -> bool {
    shown.status == Status::Active && shown.started_here && !shown.foreground && !shown.waiting
}

fn whose(shown: &Shown) -> String {
    match (&shown.session, shown.waiting) {
        (_, true) => "next session".to_owned(),
        (Some(session), _) => loops::short(session),
        (None, false) => "-".to_owned(),
    }
}
