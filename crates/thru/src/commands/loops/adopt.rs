use ops::features::loops::{self, LoopShown};
use ops::{Result, World};

use super::change::{describe_how_loop_ends, print_changed_loop};
use super::list::describe_state;
use crate::ask::{self, UserQuestion};
use crate::output::{self, BOLD, OutputFormat};

pub fn run(world: &World, id: &str, format: OutputFormat) -> Result<()> {
    let adoption = loops::find_loop_to_adopt(world, id)?;
    let command = format!("thru loop adopt {}", adoption.shown_loop.id);
    let question = UserQuestion { refusal: "the loop is not adopted", command: &command };
    if adoption.shown_loop.is_allowed_here {
        output::print_line(format_args!(
            "{} was started here; there is nothing to adopt",
            adoption.shown_loop.id
        ));
        return Ok(());
    }
    question.require_person(format)?;
    print_adoption(&adoption.shown_loop);
    question.ask("Give this prompt to the agent and run these commands on this machine?")?;
    print_changed_loop(world, &loops::adopt_loop(world, &adoption)?, "Adopted", format);
    Ok(())
}

/// Prints everything that the user is asked to allow.
fn print_adoption(shown: &LoopShown) {
    output::print_line(format_args!(
        "{BOLD}{}{BOLD:#}, {}, {}",
        shown.id,
        describe_state(shown),
        shown.describe_state()
    ));
    output::print_line("At every stop the agent would get this:");
    ask::print_marked_text(&shown.prompt);
    match shown.validators.is_empty() {
        true => output::print_line("No command would be run."),
        false => output::print_line("To check the agent's promise, sh would run these commands:"),
    }
    for command in &shown.validators {
        ask::print_marked_text(command);
    }
    output::print_line(describe_how_loop_ends(shown));
}
