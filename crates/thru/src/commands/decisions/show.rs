use model::decision::{Decision, State};
use ops::features::decisions::show::{self, Shown};
use ops::{Result, World};

use super::row;
use crate::output::{self, BOLD, Format};

pub fn run(world: &World, id: &str, format: Format) -> Result<u8> {
    let shown = show::show(world, id)?;
    match format {
        Format::Json => output::json(&shown),
        Format::Text => print_shown(&shown),
    }
    Ok(0)
}

fn print_shown(shown: &Shown) {
    let one = &shown.standing;
    let Decision { id, ts, text, why, by, phase, task, expires_at, source, session, question, topic, .. } =
        &one.decision;
    let state = match one.state {
        State::Superseded => format!("superseded by {}", one.superseded_by),
        State::Withdrawn if !one.withdrawn_because.is_empty() => {
            format!("withdrawn: {}", one.withdrawn_because)
        }
        state => state.name().to_owned(),
    };
    output::line(format_args!("{BOLD}{}{BOLD:#}", text.trim_end()));
    let rows = [
        ("id", id.clone()),
        ("why", why.clone()),
        ("state", state),
        ("decided", format!("{ts} by {by}")),
        ("from", source.name().to_owned()),
        ("asked", question.clone()),
        ("topic", topic.clone()),
        ("session", session.clone()),
        ("phase", phase.map(|phase| phase.to_string()).unwrap_or_default()),
        ("task", task.clone()),
        ("until", expires_at.clone()),
    ];
    let rows: Vec<(&str, String)> = rows.into_iter().filter(|(_, text)| !text.is_empty()).collect();
    output::pairs(&rows);
    for earlier in &shown.before {
        output::line(format_args!("in place of {}", row(earlier)));
    }
}
