//! The checks of `thru doctor` and the lines of `thru status` that are about roles: invalid files, unreadable states
//! and stuck roles.

use jiff::SignedDuration;
use model::finding::{Finding, FindingLevel};
use model::render::one_line;
use model::role::lifecycle::LifecycleState;
use model::text::count_with_noun;
use model::time;
use serde_json::json;

use super::{ProjectRoles, find_roles};
use crate::Result;
use crate::features::{DoctorCheck, ProjectContext, StatusReportLine, StatusTone, format_name_list};
use crate::session::list;

/// Returns a line about the current session's role or, if it has none, about all roles with a context file.
pub fn status_lines(project: &ProjectContext) -> Result<Vec<StatusReportLine>> {
    let ProjectContext { world, root, store, settings } = *project;
    let role = list::session_of_current_harness(world)
        .and_then(|session| store.role_of_session(&session).ok().flatten());
    let roles = ProjectRoles { root: root.clone(), store: None, settings: settings.clone() };
    // Errors are ignored here, because `thru doctor` reports problems with the folder of roles.
    let names: Vec<String> = roles.role_names().unwrap_or_default().iter().map(ToString::to_string).collect();
    let line = match role {
        Some(role) => {
            let head = one_line(role.as_str(), 128);
            let line = StatusReportLine::colored("role", StatusTone::Strong, head, " in this session");
            line.with_json("role", json!(role.as_str()))
        }
        None if names.is_empty() => return Ok(Vec::new()),
        None => StatusReportLine::plain("roles", format_name_list(&names)),
    };
    Ok(vec![if names.is_empty() { line } else { line.with_json("roles", json!(names)) }])
}

/// A compaction should finish within this time after it was announced. If it does not, thru assumes that it never
/// happened.
const MAX_COMPACTION_TIME: SignedDuration = SignedDuration::from_hours(24);

/// Checks the roles. If the project uses no roles, there is nothing to report.
pub fn doctor_checks(project: &ProjectContext) -> Vec<DoctorCheck> {
    let ProjectContext { world, store, .. } = *project;
    let mut findings = Vec::new();
    let (mut files, mut states) = (0, 0);
    match find_roles(world).and_then(|roles| Ok((roles.context_files()?, roles))) {
        Ok((found, roles)) => {
            files = found.len();
            for file in found {
                let report = roles.check_context_file(world, &file.bytes);
                if !report.is_valid() {
                    let text =
                        format!("a context file with {}", count_with_noun(report.errors().len(), "error"));
                    let finding =
                        Finding::new(FindingLevel::Note, text).at_line(file.display_path.clone(), None);
                    findings.push(
                        finding
                            .with_hint(format!("`thru context validate {}` lists them", file.display_path)),
                    );
                }
            }
        }
        Err(error) => findings.push(Finding::from(&error)),
    }
    let lifecycles = store.list_lifecycles().unwrap_or_else(|error| {
        findings.push(Finding::from(&crate::Error::from(error)));
        Vec::new()
    });
    for (_, lifecycle) in lifecycles {
        states += 1;
        match lifecycle {
            Ok(lifecycle) => {
                let since = time::parse_time(&lifecycle.since).unwrap_or(world.now);
                let on_its_way =
                    matches!(lifecycle.state, LifecycleState::Compacting | LifecycleState::Recovering);
                if on_its_way && world.now.duration_since(since) > MAX_COMPACTION_TIME {
                    let (role, state) = (&lifecycle.role, lifecycle.state);
                    let text = format!(
                        "{role} has been {state} since {}",
                        (world.time_for_reader)(&lifecycle.since)
                    );
                    let hint = format!("`thru recover {role}` makes it active again");
                    findings.push(Finding::new(FindingLevel::Note, text).with_hint(hint));
                }
            }
            Err(error) => findings.push(Finding::from(&crate::Error::from(error))),
        }
    }
    if files + states == 0 && findings.is_empty() {
        return Vec::new();
    }
    let text =
        format!("{}, {}", count_with_noun(files, "context file"), count_with_noun(states, "lifecycle"));
    vec![DoctorCheck { name: "roles", text, findings }]
}
