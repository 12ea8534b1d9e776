//! Puts the commands and files that the summary does not name into as few lines as possible.

use super::SummaryClaims;
use super::commands::CommandsNotNamed;
use super::files::FilesNotNamed;
use crate::brief::BriefMaterial;
use crate::brief::candidate::{Candidate, FactClass};

/// Adds the commands and files that the summary does not name, and the checks that passed, to the facts. If a line about
/// checks, edited files or uncommitted files is told anyway, the names are added to it, because few of them are needed
/// and a line of names alone is rarely worth reading. `checks` are the candidates about checks.
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
    let FilesNotNamed { edited, others, others_worth_line } =
        FilesNotNamed::find(material, claims, thin, &listed);
    let (mut commands, mut others) = (commands.join(", "), others);

    let mut lines: Vec<Candidate> = Vec::new();
    if !edited.is_empty() {
        let parts = [("", &edited), ("; read ", &others), ("; ran ", &commands)];
        let text = format!("{}, which the summary does not name", join_named_parts(&parts));
        lines.push(line_of_files(FactClass::Edited, text));
        (commands, others) = Default::default();
    } else if let Some(risk) = risk {
        let parts = [("", &others), ("; commands ", &commands)];
        let text = join_named_parts(&parts);
        if !text.is_empty() {
            let text = text.trim_start_matches("; ");
            risk.forms.iter_mut().for_each(|form| {
                form.push_str(&format!("; also used, which the summary does not name: {text}"))
            });
        }
        (commands, others) = Default::default();
    }
    let parts = [("; commands ", &commands), ("; files ", &others)];
    let named = join_named_parts(&parts);
    let named = named.trim_start_matches("; ");
    let passed = match passed.is_empty() {
        true => String::new(),
        false => format!("{} → passed, nothing edited since; the summary does not say so", passed.join("; ")),
    };
    let id = checks.first().map_or("commands:not-named", |check| &check.id).to_owned();
    let text = match (passed.is_empty(), commands.is_empty()) {
        // There is no other line that the files could be added to.
        (true, true) if !others_worth_line.is_empty() && !others.is_empty() => {
            let text = format!("{others_worth_line}, which the summary does not name");
            lines.push(line_of_files(FactClass::Read, text));
            String::new()
        }
        (true, true) => String::new(),
        (true, false) => format!("not named in the summary: {named}"),
        (false, _) if named.is_empty() => passed,
        (false, _) => format!("{passed}; not named in the summary: {named}"),
    };
    if !text.is_empty() {
        facts.push(Candidate::of_class(FactClass::Checks, id, vec![text]));
    }
    facts.extend(lines);
}

/// Joins the parts that are not empty. Each part is a text to print before it, and the names.
fn join_named_parts(parts: &[(&str, &String)]) -> String {
    let parts = parts.iter().filter(|(_, names)| !names.is_empty());
    parts.map(|(before, names)| format!("{before}{names}")).collect()
}

fn line_of_files(class: FactClass, text: String) -> Candidate {
    let mut line = Candidate::of_class(class, "files:not-named".to_owned(), vec![text]);
    // The text contains whole paths, so no folder is printed before it.
    line.folder = Some(String::new());
    line
}
