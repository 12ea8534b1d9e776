use model::decision::{Decision, DecisionState};
use ops::features::decisions::show::{self, DecisionShown};
use ops::{Result, World};

use super::format_row;
use crate::clock;
use crate::output::{self, BOLD, OutputFormat};

pub fn run(world: &World, id: &str, format: OutputFormat) -> Result<u8> {
    let shown = show::show_decision(world, id)?;
    match format {
        OutputFormat::Json => output::print_json(&shown),
        OutputFormat::Text => print_shown(&shown),
    }
    Ok(0)
}

fn print_shown(shown: &DecisionShown) {
    let one = &shown.standing;
    let Decision {
        id, ts, text, why, author, phase, task, expires_at, source, session, question, topic, ..
    } = &one.decision;
    let state = match one.state {
        DecisionState::Superseded => format!("superseded by {}", one.superseded_by),
        DecisionState::Withdrawn if !one.withdrawn_because.is_empty() => {
            format!("withdrawn: {}", one.withdrawn_because)
        }
        state => state.name().to_owned(),
    };
    output::print_line(format_args!("{BOLD}{}{BOLD:#}", text.trim_end()));
    let rows = [
        ("id", id.clone()),
        ("why", why.clone()),
        ("state", state),
        ("decided", format!("{} by {author}", clock::local_date_and_time(ts))),
        ("from", source.name().to_owned()),
        ("asked", question.clone()),
        ("topic", topic.clone()),
        ("session", session.clone()),
        ("phase", phase.map(|phase| phase.to_string()).unwrap_or_default()),
        ("task", task.clone()),
        ("until", clock::local_date_and_time(expires_at)),
    ];
    let rows: Vec<(&str, String)> = rows.into_iter().filter(|(_, text)| !text.is_empty()).collect();
    output::print_pairs(&rows);
    for earlier in &shown.superseded_decisions {
        output::print_line(format_args!("supersedes {}", format_row(earlier)));
    }
}
