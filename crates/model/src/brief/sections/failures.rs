//! What fails, and failures that will happen again.

use crate::brief::Material;
use crate::brief::candidate::Class;
use crate::brief::gather::Gathered;
use crate::digest::{Failure, Trap};
use crate::failure;
use crate::render::{code, path};

use super::checks::COMMAND_ID_CHARS;

pub fn gather(material: &Material, all: &mut Gathered) {
    let digest = material.digest;
    let outside = if digest.is_changed_outside() { "before later changes" } else { "" };
    for failure in digest.open_failures() {
        let known = failure::reason(&failure.error).to_owned();
        let since = match digest.edited_after(failure.record) {
            Some(file) => format!("before the last edits, of {}", path(file, 120)),
            None => outside.to_owned(),
        };
        let id = format!("failure:{}", failure.record);
        let folder = digest.folder_of(&failure.what, &failure.folder);
        all.add(Class::Failing, id, forms(failure, &folder, &since)).known_by = vec![known];
    }
    for trap in digest.traps() {
        let id = format!("trap:{}", trap.record);
        let words = trap_words(&trap);
        all.add(Class::Traps, id, vec![words]).known_by = vec![trap.why];
    }
}

/// Returns the failure with its most informative line, then with more of them.
fn forms(failure: &Failure, folder: &str, since: &str) -> Vec<String> {
    let exit = failure.exit.filter(|exit| *exit != 0).map_or(String::new(), |exit| format!("exit {exit}"));
    let notes: Vec<&str> = [exit.as_str(), since].into_iter().filter(|note| !note.is_empty()).collect();
    let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
    let folder = match folder {
        "" => String::new(),
        folder => format!(" in {}", path(folder, 120)),
    };
    let form = |command: usize, lines: usize, line: usize| {
        let why: Vec<String> =
            failure::reasons(&failure.error).take(lines).map(|text| code(text, line)).collect();
        let between = if why.is_empty() { "" } else { ": " };
        format!("{}{folder}{notes}{between}{}", code(&failure.run(), command), why.join(" "))
    };
    vec![
        form(COMMAND_ID_CHARS, 1, 80),
        form(COMMAND_ID_CHARS, 3, 110),
        form(COMMAND_ID_CHARS, 6, 160),
        form(200, 6, 300),
    ]
}

/// Describes a trap: `X → why → Y worked`.
fn trap_words(trap: &Trap) -> String {
    let worked = match trap.worked.as_str() {
        "" => String::new(),
        worked => format!(" → {} worked", code(worked, 100)),
    };
    let times = if trap.times > 1 { format!(" ({}×)", trap.times) } else { String::new() };
    format!("{} → {}{times}{worked}", code(&trap.what, 80), code(&trap.why, 120))
}
