//! Prints the result of a command that changed a loop.

use model::loops::{LoopStatus, PromiseOutcome};
use model::render::one_line;
use ops::World;
use ops::features::loops::{LoopChanged, LoopShown};

use crate::clock;
use crate::output::{self, BOLD, GOOD, OutputFormat, WARN};

pub fn print_changed_loop(world: &World, changed: &LoopChanged, what: &str, format: OutputFormat) {
    if format == OutputFormat::Json {
        return output::print_json(changed);
    }
    let LoopChanged { shown_loop, notes, .. } = changed;
    let what = if changed.changed { what } else { "Nothing to change:" };
    output::print_line(format_args!(
        "{GOOD}{what}{GOOD:#} {BOLD}{}{BOLD:#}, {}",
        shown_loop.id,
        shown_loop.describe_state()
    ));
    if shown_loop.status == LoopStatus::Active {
        output::print_line(format_args!("{}", describe_how_loop_ends(shown_loop)));
        output::print_note_if_hooks_do_nothing(world, "The loop does not run");
    }
    for note in notes {
        output::print_message(format_args!("{WARN}note:{WARN:#} {}", one_line(note, 400)));
    }
}

pub fn describe_how_loop_ends(shown: &LoopShown) -> String {
    let of = |outcome: PromiseOutcome| {
        let texts = shown.promises.iter().filter(move |promise| promise.outcome == outcome);
        texts
            .map(|promise| format!("<promise>{}</promise>", one_line(&promise.text, 200)))
            .collect::<Vec<_>>()
            .join(" or ")
    };
    let (done, blocked) = (of(PromiseOutcome::Done), of(PromiseOutcome::Blocked));
    let mut parts = Vec::new();
    if !done.is_empty() {
        let checks = if shown.validators.is_empty() { "" } else { " and the validators pass" };
        parts.push(format!("It ends when the agent says {done}{checks}"));
    }
    if shown.max_iterations > 0 {
        parts.push(format!("after {} iterations", shown.max_iterations));
    }
    if let Some(deadline) = &shown.deadline {
        parts.push(format!("at {}", clock::local_date_and_time(deadline)));
    }
    let pauses = match blocked.is_empty() {
        true => String::new(),
        false => format!(" It pauses when the agent says {blocked}."),
    };
    match (done.is_empty(), parts.is_empty()) {
        (true, true) => format!("It ends when it makes no progress, or is cancelled.{pauses}"),
        (true, false) => format!("It ends {}.{pauses}", parts.join(", or ")),
        (false, _) => format!("{}.{pauses}", parts.join(", or ")),
    }
}
