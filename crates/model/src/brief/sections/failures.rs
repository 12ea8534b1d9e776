//! What fails, and what went wrong in a way that will happen again.

use crate::brief::Material;
use crate::brief::candidate::Class;
use crate::brief::gather::Gathered;
use crate::checks::{self, covers};
use crate::digest::{Digest, Failure};
use crate::render::{code, path};

use super::checks::COMMAND;

pub fn gather(material: &Material, all: &mut Gathered) {
    let digest = material.digest;
    let mut failures: Vec<&Failure> = digest.failures.iter().rev().collect();
    // That a tool was used wrongly matters less than what the project's own commands say.
    failures.sort_by_key(|failure| (failure.record <= digest.epoch, !failure.is_command));
    for failure in failures {
        let done =
            failure.is_command || digest.files.iter().any(|file| file.edits > 0 && file.path == failure.what);
        // What an earlier brief has told is told as an error met; but a test stays red until it was seen green.
        let is_new = || failure.record > digest.epoch || checks::sort(&failure.what).is_some();
        let open = failure.open && done && is_new();
        let class = if open && !is_overcome(digest, failure) { Class::Failing } else { Class::Traps };
        let known = failure.error.lines().next().unwrap_or_default().to_owned();
        all.add(class, format!("failure:{}", failure.record), forms(failure)).known_by = vec![known];
    }
}

/// Another command has shown since that it goes well.
fn is_overcome(digest: &Digest, failure: &Failure) -> bool {
    let later = digest.commands.iter().filter(|command| command.ok && command.last > failure.record);
    failure.is_command && later.into_iter().any(|later| covers(&later.command, later.passed, &failure.what))
}

/// The first telling line, then more of them.
fn forms(failure: &Failure) -> Vec<String> {
    let exit = failure.exit.map_or(String::new(), |exit| format!(" (exit {exit})"));
    let form = |command: usize, lines: usize, line: usize| {
        let what = match failure.is_command {
            true => code(&failure.what, command),
            false => {
                let what = if failure.what.is_empty() {
                    String::new()
                } else {
                    format!(" {}", path(&failure.what, 200))
                };
                format!("{}{what}", path(&failure.tool, 40))
            }
        };
        let why: Vec<String> = failure.error.lines().take(lines).map(|text| code(text, line)).collect();
        let between = if why.is_empty() { "" } else { ": " };
        format!("{what}{exit}{between}{}", why.join(" "))
    };
    vec![form(COMMAND, 1, 64), form(COMMAND, 3, 70), form(COMMAND, 6, 80), form(200, 6, 300)]
}
