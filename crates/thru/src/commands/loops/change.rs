//! What is printed after a command changed a loop.

use model::loops::{Outcome, Status};
use model::render::one_line;
use ops::features::loops::{Changed, Shown};

use crate::clock;
use crate::output::{self, BOLD, Format, GOOD, WARN};

pub fn print_changed(changed: &Changed, what: &str, format: Format) {
    if format == Format::Json {
        return output::json(changed);
    }
    let Changed { shown, notes, .. } = changed;
    let what = if changed.changed { what } else { "Nothing to change:" };
    output::line(format_args!("{GOOD}{what}{GOOD:#} {BOLD}{}{BOLD:#}, {}", shown.id, shown.standing()));
    if shown.status == Status::Active {
        output::line(format_args!("{}", how_it_ends(shown)));
    }
    for note in notes {
        output::talk(format_args!("{WARN}note:{WARN:#} {}", one_line(note, 400)));
    }
}

pub fn how_it_ends(shown: &Shown) -> String {
    let of = |outcome: Outcome| {
        let texts = shown.promises.iter().filter(move |promise| promise.outcome == outcome);
        texts
            .map(|promise| format!("<promise>{}</promise>", one_line(&promise.text, 200)))
            .collect::<Vec<_>>()
            .join(" or ")
    };
    let (done, blocked) = (of(Outcome::Done), of(Outcome::Blocked));
    let mut parts = Vec::new();
    if !done.is_empty() {
        let checks = if shown.validators.is_empty() { "" } else { " and the validators pass" };
        parts.push(format!("It ends when the agent says {done}{checks}"));
    }
    if !blocked.is_empty() {
        parts.push(format!("it pauses at {blocked}"));
    }
    if shown.max_iterations > 0 {
        parts.push(format!("after {} iterations", shown.max_iterations));
    }
    if let Some(deadline) = &shown.deadline {
        parts.push(format!("at {}", clock::when(deadline)));
    }
    if done.is_empty() {
        return match parts.is_empty() {
            true => "It ends when it gets nowhere, or is cancelled.".to_owned(),
            false => format!("It ends {}.", parts.join(", or ")),
        };
    }
    format!("{}.", parts.join(", or "))
}
