use ops::features::loops::{self, Shown};
use ops::{Result, World};

use super::change::{how_it_ends, print_changed};
use super::list::state;
use crate::ask::{self, Question};
use crate::output::{self, BOLD, Format};

pub fn run(world: &World, id: &str, format: Format) -> Result<()> {
    let adoption = loops::to_adopt(world, id)?;
    let command = format!("thru loop adopt {}", adoption.shown.id);
    let question = Question { refusal: "the loop is not adopted", command: &command };
    if adoption.shown.started_here {
        output::line(format_args!("{} was started here; there is nothing to adopt", adoption.shown.id));
        return Ok(());
    }
    question.need_person(format)?;
    show_adoption(&adoption.shown);
    question.ask("Feed this and run these commands on this machine?")?;
    print_changed(&loops::adopt(world, &adoption)?, "Adopted", format);
    Ok(())
}

/// Shows everything that the user agrees to with the answer.
fn show_adoption(shown: &Shown) {
    output::line(format_args!("{BOLD}{}{BOLD:#}, {}, {}", shown.id, state(shown), shown.standing()));
    output::line("At every stop the agent would get this:");
    ask::show_text(&shown.prompt);
    match shown.validators.is_empty() {
        true => output::line("No command would be run."),
        false => output::line("When it gives its promise, these commands would be run by sh:"),
    }
    for command in &shown.validators {
        ask::show_text(command);
    }
    output::line(how_it_ends(shown));
}
