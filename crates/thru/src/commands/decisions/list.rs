use model::render::one_line;
use model::text::count_with_noun;
use ops::features::decisions::show::{self, DecisionFilter, DecisionListing};
use ops::features::decisions::suggest::{self, SuggestionListing};
use ops::{Result, World};

use super::{MAX_LISTED_DECISION_CHARS, format_reason, format_row};
use crate::output::{self, DIM, OutputFormat, WARN};

pub fn run(world: &World, all: bool, most: usize, format: OutputFormat) -> Result<u8> {
    let listing =
        show::list_decisions(world, if all { DecisionFilter::All } else { DecisionFilter::Current }, most)?;
    match format {
        OutputFormat::Json => output::print_json(&listing),
        OutputFormat::Text => print_listing(&listing, all),
    }
    Ok(0)
}

pub fn list_suggested_decisions(world: &World, most: usize, format: OutputFormat) -> Result<u8> {
    let suggested = suggest::list_suggestions(world, most)?;
    match format {
        OutputFormat::Json => output::print_json(&suggested),
        OutputFormat::Text => print_suggested_decisions(&suggested),
    }
    Ok(0)
}

fn print_listing(listing: &DecisionListing, all: bool) {
    if listing.decisions.is_empty() {
        let yet = if listing.ended_count > 0 { "No decisions are in force." } else { "No decisions yet." };
        output::print_message(format_args!("{yet} `thru decide TEXT --why WHY` records one."));
    }
    for one in &listing.decisions {
        let aside = listing.of_other_swarm.as_ref().filter(|aside| aside.ids.contains(&one.decision.id));
        let aside = aside.map_or("", |_| "  (set aside)");
        output::print_line(format_args!("{}{aside}", format_row(one)));
    }
    if let Some(aside) = &listing.of_other_swarm {
        output::print_message(format_args!(
            "{DIM}set aside: not in force here, because they belong to the plan of the swarm {}, \
             which is not in use; `thru swarm plan --adopt` assigns the plan to this swarm{DIM:#}",
            one_line(&aside.swarm, 64)
        ));
    }
    if listing.not_listed > 0 {
        output::print_message(format_args!("{DIM}and {} more: `-n 0` lists all{DIM:#}", listing.not_listed));
    }
    if listing.ended_count > 0 && !all {
        output::print_message(format_args!(
            "{DIM}{} no longer in force: `--all` lists them{DIM:#}",
            listing.ended_count
        ));
    }
    if listing.unreadable_lines > 0 {
        output::print_message(format_args!(
            "{WARN}note:{WARN:#} {} could not be read (cut off by a crash, or not written by thru)",
            count_with_noun(listing.unreadable_lines, "line")
        ));
    }
}

fn print_suggested_decisions(suggested: &SuggestionListing) {
    if suggested.suggested.is_empty() {
        output::print_message(
            "No suggestions: no agent said that something was decided, or every suggestion was accepted.",
        );
        return;
    }
    for one in &suggested.suggested {
        let why = format_reason(&one.why);
        output::print_line(format_args!(
            "{DIM}{}{DIM:#}  {}{why}",
            one.id,
            one_line(&one.text, MAX_LISTED_DECISION_CHARS)
        ));
    }
    if suggested.not_listed > 0 {
        output::print_message(format_args!(
            "{DIM}and {} more: `-n 0` lists all{DIM:#}",
            suggested.not_listed
        ));
    }
    output::print_message(format_args!(
        "{DIM}`thru decisions accept ID` records a suggestion as a decision{DIM:#}"
    ));
}
