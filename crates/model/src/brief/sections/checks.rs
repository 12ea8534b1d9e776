//! The project's checks with how they ended, and other commands that may be needed again.

use std::collections::BTreeSet;

use crate::brief::Material;
use crate::brief::candidate::Class;
use crate::brief::gather::Gathered;
use crate::checks;
use crate::render::{code, inline};
use crate::text::cut;

/// How much of a command makes it known, with a little to spare.
pub(super) const COMMAND: usize = 66;

pub fn gather(material: &Material, all: &mut Gathered) {
    let mut told = BTreeSet::new();
    for command in material.digest.ranked_commands() {
        // Two that begin alike are the same to a reader.
        if !told.insert(inline(&command.command, COMMAND)) {
            continue;
        }
        let class = if checks::sort(&command.command).is_some() { Class::Checks } else { Class::Commands };
        let ended = match (class, command.passed) {
            (Class::Checks, Some(true)) => " → passed",
            (Class::Checks, _) => " → ran",
            _ => "",
        };
        let forms = vec![
            format!("{}{ended}", code(&command.command, COMMAND)),
            format!("{}{ended}", code(&command.command, 140)),
        ];
        let id = format!("command:{}", inline(&command.command, 60));
        all.add(class, id, forms).known_by = vec![cut(&command.command, 40).to_owned()];
    }
}
