use model::render::one_line;
use model::text::count;
use ops::features::decisions::show::{self, Listing, Which};
use ops::features::decisions::suggest::{self, Suggested};
use ops::{Result, World};

use super::{TEXT, reason, row};
use crate::output::{self, DIM, Format, WARN};

pub fn run(world: &World, all: bool, most: usize, format: Format) -> Result<u8> {
    let listing = show::list(world, if all { Which::All } else { Which::Current }, most)?;
    match format {
        Format::Json => output::json(&listing),
        Format::Text => print_listing(&listing, all),
    }
    Ok(0)
}

pub fn suggested(world: &World, most: usize, format: Format) -> Result<u8> {
    let suggested = suggest::list(world, most)?;
    match format {
        Format::Json => output::json(&suggested),
        Format::Text => print_suggested(&suggested),
    }
    Ok(0)
}

fn print_listing(listing: &Listing, all: bool) {
    if listing.decisions.is_empty() {
        let yet = if listing.over > 0 { "No decision is in force." } else { "No decisions yet." };
        output::talk(format_args!("{yet} `thru decide TEXT --why WHY` records one."));
    }
    for one in &listing.decisions {
        output::line(row(one));
    }
    if listing.more > 0 {
        output::talk(format_args!("{DIM}and {} more: `-n 0` lists all{DIM:#}", listing.more));
    }
    if listing.over > 0 && !all {
        output::talk(format_args!("{DIM}{} no longer in force: `--all` lists them{DIM:#}", listing.over));
    }
    if listing.torn > 0 {
        output::talk(format_args!(
            "{WARN}note:{WARN:#} {} could not be read (cut off by a crash, or not written by thru)",
            count(listing.torn, "line")
        ));
    }
}

fn print_suggested(suggested: &Suggested) {
    if suggested.suggested.is_empty() {
        output::talk("Nothing is suggested: no agent said what was decided, or all of it was accepted.");
        return;
    }
    for one in &suggested.suggested {
        let why = reason(&one.why);
        output::line(format_args!("{DIM}{}{DIM:#}  {}{why}", one.id, one_line(&one.text, TEXT)));
    }
    if suggested.more > 0 {
        output::talk(format_args!("{DIM}and {} more: `-n 0` lists all{DIM:#}", suggested.more));
    }
    output::talk(format_args!("{DIM}`thru decisions accept ID` makes one a decision{DIM:#}"));
}
