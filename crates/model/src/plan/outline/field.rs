//! Lines that contain a field of a task or a phase, such as `Depends on: 1.1` or `Estimate: 2 hours`.

use super::super::{TaskSize, TaskStatus};
use super::marks;
use crate::id::Id;
use crate::render::one_line;

#[derive(Debug, PartialEq)]
pub enum TaskField {
    Acceptance(String),
    Files(Vec<String>),
    /// The ids, and a warning about text that names no task.
    Depends(Vec<String>, Option<String>),
    Size(TaskSize),
    /// The size that corresponds to a time such as `2 hours`. The time is also kept as a note, because it is more
    /// precise.
    Estimate(TaskSize),
    Status(TaskStatus),
    Blocked(String),
    Evidence(String),
    WithoutEvidence(String),
}

pub fn parse_field(text: &str) -> Option<TaskField> {
    let (name, value) = split_name_and_value(text)?;
    let text = || value.to_owned();
    Some(match name.as_str() {
        "acceptance"
        | "acceptance criteria"
        | "acceptance criterion"
        | "ac"
        | "verify"
        | "verification"
        | "done when"
        | "definition of done" => TaskField::Acceptance(Some(text()).filter(|text| !text.is_empty())?),
        "files" | "file" | "file(s)" | "files touched" | "target files" => {
            TaskField::Files(parse_file_list(value)?)
        }
        "depends" | "depends on" | "dependencies" | "deps" => {
            let (ids, doubt) = parse_dependencies(value);
            if ids.is_empty() && doubt.is_some() {
                return None;
            }
            TaskField::Depends(ids, doubt)
        }
        "size" | "complexity" => TaskField::Size(TaskSize::parse(value)?),
        "estimate" | "estimated effort" | "effort" => TaskField::Estimate(size_of_time(value)?),
        "status" => {
            let plain =
                TaskStatus::parse(value.trim_matches(['`', '[', ']', '*'])).filter(|_| !value.is_empty());
            TaskField::Status(plain.or_else(|| marks::parse_status_value(value))?)
        }
        "blocked" | "blocked reason" => TaskField::Blocked(text()),
        "evidence" => TaskField::Evidence(text()),
        "without evidence" => TaskField::WithoutEvidence(text()),
        _ => return None,
    })
}

/// Reads a line such as `**Dependencies**: Phase 1, Phase 4` below a phase.
pub fn phase_dependencies(text: &str) -> Option<PhaseDependencies> {
    let (name, value) = split_name_and_value(text)?;
    if !matches!(name.as_str(), "depends" | "depends on" | "dependencies" | "deps" | "prerequisites") {
        return None;
    }
    if value.to_lowercase().starts_with("all previous phases") {
        return Some(PhaseDependencies::AllBefore);
    }
    let (ids, _) = parse_dependencies(value);
    let numbers: Vec<u32> = ids
        .iter()
        .filter_map(|id| id.strip_prefix(PHASE_DEPENDENCY_PREFIX))
        .filter_map(|number| number.parse().ok())
        .collect();
    (!numbers.is_empty()).then_some(PhaseDependencies::Phases(numbers))
}

#[derive(Debug, PartialEq)]
pub enum PhaseDependencies {
    Phases(Vec<u32>),
    AllBefore,
}

fn split_name_and_value(text: &str) -> Option<(String, &str)> {
    let (name, value) = text.split_once(':')?;
    let name = name.trim().trim_matches(['*', '_', '`']).trim().to_lowercase();
    Some((name, value.trim().trim_start_matches("**").trim_start_matches("__").trim()))
}

/// Returns the ids in a list, and a warning about text that names no task.
pub fn parse_dependencies(list: &str) -> (Vec<String>, Option<String>) {
    let list = list.trim().trim_matches(['*', '`']).trim();
    let nothing = ["", "none", "n/a", "-", "—", "nothing", "nil"];
    if nothing.contains(&list.trim_end_matches('.').to_lowercase().as_str()) {
        return (Vec::new(), None);
    }
    let (mut ids, mut other) = (Vec::new(), Vec::new());
    for part in list.split([',', ';', '&', '+']).flat_map(|part| part.split(" and ")) {
        // A remark is not part of the id, as in `TASK-001 (login)`.
        let part = part.split(" (").next().unwrap_or(part).trim().trim_matches(['*', '`', '#', '.']);
        let lower = part.to_lowercase();
        if let Some(number) = parse_phase_number(&lower) {
            ids.push(format!("{PHASE_DEPENDENCY_PREFIX}{number}"));
            continue;
        }
        let named = ["tasks ", "task ", "step "].into_iter().find(|word| lower.starts_with(word));
        let id = named.map_or(part, |word| part[word.len()..].trim()).trim_end_matches('.');
        match Id::new(id).is_ok() && (id.bytes().any(|b| b.is_ascii_digit()) || !id.contains(' ')) {
            true => ids.push(id.to_owned()),
            false if part.is_empty() => {}
            false => other.push(part),
        }
    }
    let doubt = (!other.is_empty()).then(|| {
        format!("a dependency that names no task is kept as text: {}", one_line(&other.join(", "), 80))
    });
    (ids, doubt)
}

/// The prefix of a dependency on a whole phase, used until the tasks of that phase are known. It contains a space, so
/// it cannot be the beginning of an id.
pub const PHASE_DEPENDENCY_PREFIX: &str = "phase ";

/// Returns the number in `phase 3` or `phases 3`.
fn parse_phase_number(lower: &str) -> Option<u32> {
    let rest = lower.strip_prefix("phase ").or_else(|| lower.strip_prefix("phases "))?;
    rest.trim().parse().ok()
}

/// Returns the size of a task that takes this time. Up to two hours is small, up to a day is medium, and anything
/// longer is large.
fn size_of_time(text: &str) -> Option<TaskSize> {
    if let Some(size) = TaskSize::parse(text) {
        return Some(size);
    }
    let lower = text.to_lowercase();
    // For a range such as `1-2`, the upper end is used.
    let numbers =
        lower.split(|c: char| !c.is_ascii_digit() && c != '.').filter_map(|n| n.parse::<f32>().ok());
    let most = numbers.fold(None, |most: Option<f32>, n| Some(most.map_or(n, |most| most.max(n))))?;
    let unit = lower.trim_start_matches(|c: char| !c.is_alphabetic());
    let hours = match unit.get(..1)? {
        "m" if unit.starts_with("min") || unit == "m" => most / 60.0,
        "h" => most,
        "d" => most * 8.0,
        "w" => most * 40.0,
        _ => return None,
    };
    Some(match hours {
        hours if hours <= 2.0 => TaskSize::Small,
        hours if hours <= 8.0 => TaskSize::Medium,
        _ => TaskSize::Large,
    })
}

/// Splits `list` at commas into paths. Returns `None` if it is a sentence.
fn parse_file_list(list: &str) -> Option<Vec<String>> {
    let paths: Vec<String> = list
        .split(',')
        .map(|path| path.trim().trim_matches('`').to_owned())
        .filter(|path| !path.is_empty())
        .collect();
    (!paths.is_empty() && paths.iter().all(|path| !path.contains(char::is_whitespace))).then_some(paths)
}
