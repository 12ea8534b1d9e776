//! Puts the commands and files that the summary does not name into as few lines as possible.

use super::SummaryClaims;
use super::commands::CommandsNotNamed;
use super::files::FilesNotNamed;
use crate::brief::BriefMaterial;
use crate::brief::candidate::{Candidate, FactClass};

/// Adds the commands and files that the summary does not name, and the checks that passed, to the facts. A line of names
/// alone is rarely worth reading, so the names are added to a line about edited files, uncommitted files or passed
/// checks if there is one. `checks` are the candidates about checks.
pub(super) fn add_names_missing_in_summary(
    facts: &mut Vec<Candidate>,
    checks: &[Candidate],
    material: &BriefMaterial,
    claims: &SummaryClaims,
    thin: bool,
) {
    let failing = facts.iter().filter(|candidate| candidate.class == FactClass::Failing);
    let failing: Vec<&str> = failing.filter_map(|failure| failure.forms.last()).map(String::as_str).collect();
    let CommandsNotNamed { passed, commands } =
        CommandsNotNamed::find(checks, material.digest, claims, &failing.join("\n"));
    let risk = facts.iter_mut().find(|fact| fact.id == "risk:uncommitted");
    let listed = risk.as_ref().and_then(|risk| risk.forms.last()).cloned().unwrap_or_default();
    let mut files = FilesNotNamed::find(material, claims, thin, &listed);
    let mut commands = commands.join(", ");

    if passed.is_empty() && commands.is_empty() && files.edited.is_empty() && risk.is_none() {
        let text = format!("{}, which the summary does not name", files.others_worth_line);
        facts.extend((!files.others_worth_line.is_empty()).then(|| line_of_files(FactClass::Read, text)));
        return;
    }
    // A line about passed checks is a better place for commands than a line about files.
    let commands_with_files = match passed.is_empty() && (!files.edited.is_empty() || risk.is_some()) {
        true => std::mem::take(&mut commands),
        false => String::new(),
    };
    if !files.edited.is_empty() {
        let others = std::mem::take(&mut files.others);
        let names = join_names(&[("", &files.edited), ("read ", &others), ("ran ", &commands_with_files)]);
        let text = format!("{names}, which the summary does not name");
        facts.push(line_of_files(FactClass::Edited, text));
    } else if let Some(risk) = risk {
        let others = std::mem::take(&mut files.others);
        let addition = match (others.is_empty(), commands_with_files.is_empty()) {
            (true, true) => String::new(),
            (true, false) => format!("; commands that the summary does not name: {commands_with_files}"),
            (false, _) => {
                let names = join_names(&[("", &others), ("commands ", &commands_with_files)]);
                format!("; also used, which the summary does not name: {names}")
            }
        };
        risk.forms.iter_mut().for_each(|form| form.push_str(&addition));
    }
    let passed = match passed.as_slice() {
        [] => String::new(),
        passed => {
            format!("{} → passed, nothing edited since; the summary does not say so", passed.join("; "))
        }
    };
    let names = join_names(&[("commands ", &commands), ("files ", &files.others)]);
    let parts = join_names(&[("", &passed), ("not named in the summary: ", &names)]);
    if !parts.is_empty() {
        let id = checks.first().map_or("commands:not-named", |check| &check.id).to_owned();
        facts.push(Candidate::of_class(FactClass::Checks, id, vec![parts]));
    }
}

/// Joins the lists that are not empty. Each comes with the words that introduce it.
fn join_names(lists: &[(&str, &str)]) -> String {
    let lists = lists.iter().filter(|(_, names)| !names.is_empty());
    lists.map(|(words, names)| format!("{words}{names}")).collect::<Vec<_>>().join("; ")
}

fn line_of_files(class: FactClass, text: String) -> Candidate {
    let mut line = Candidate::of_class(class, "files:not-named".to_owned(), vec![text]);
    // The text contains whole paths, so no folder is printed before it.
    line.folder = Some(String::new());
    line
}
