use model::activity;
use model::render::in_quotation_marks;
use ops::Result;
use ops::World;
use ops::features::roles::recover::{CallingSession, DocumentToRead, RecoverReport, RoleStanding};

use crate::commands::role::{RoleArg, print_role_warning};
use crate::output::{self, OutputFormat, WARN};

/// Print what a role needs to continue: a checklist, the documents to read and the whole context file
///
/// The output has the same parts for every role, and is identical for identical state. If the role has a lifecycle, the
/// role becomes active. If a session runs the command, it gets the role, unless it has another role or another session is
/// working with the role. The exit code is 1 if the role has no context file.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    which: RoleArg,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let report = ops::features::roles::recover::recover_report(world, args.which.name())?;
    match (format, &report.file) {
        (OutputFormat::Json, _) => output::print_json(&report),
        (OutputFormat::Text, Some(file)) => {
            print_role_warning(&report.source);
            output::print_text(&format_report(&report, file));
            if let Some(session) = &report.ended_recovery_of {
                output::print_message(format_args!(
                    "{WARN}note:{WARN:#} session {} was recovering this role; this command ended the recovery. To read the file without ending the recovery, open {file}",
                    activity::short_session_id(session)
                ));
            }
        }
        (OutputFormat::Text, None) => {
            print_role_warning(&report.source);
            let (role, path) = (&report.role, report.missing_path.as_deref().unwrap_or_default());
            output::print_message(format_args!("The role {role} has no context file: create {path}."));
            if let Some(near) = &report.similar_role {
                output::print_message(format_args!(
                    "hint: did you mean {near}? `thru recover {near}` recovers that role"
                ));
            }
            output::print_message(format_args!(
                "Next: `thru context new {role}` creates it; `thru context schema` shows what it must contain"
            ));
        }
    }
    match (report.lifecycle_error, format) {
        // The error is printed last, so that the user notices it. With `--json`, it is part of the report.
        (Some(error), OutputFormat::Text) => Err(error),
        (Some(error), OutputFormat::Json) => Ok(output::exit_code(error.kind())),
        (None, _) => Ok(u8::from(report.file.is_none())),
    }
}

fn format_report(report: &RecoverReport, file: &str) -> String {
    let RecoverReport { role, errors, skill, architecture, text, .. } = report;
    let invalid = match errors.as_slice() {
        [] => String::new(),
        errors => format!("The context file is not valid:\n{}\n\n", errors.join("\n")),
    };
    let there = |document: &DocumentToRead| if document.exists { "" } else { " (missing)" };
    let to_read = |what: &str, document: &Option<DocumentToRead>| {
        document.as_ref().map(|document| format!("Read {what}: {}{}", document.path, there(document)))
    };
    let author = report.last_committed_by.as_ref();
    let author =
        author.map_or(String::new(), |name| format!(", last committed by {}", in_quotation_marks(name, 80)));
    let steps = [
        Some(format!("Read the context file below, {file}{author}")),
        to_read("what the role is", skill),
        to_read("the architecture", architecture),
        Some("Take the recovery steps that the context file lists".to_owned()),
        Some("Continue with the role's goal and its pending work".to_owned()),
    ];
    let numbered = (1..).zip(steps.into_iter().flatten()).map(|(n, step)| format!("{n}. {step}\n"));
    let checklist = format!("Checklist:\n{}", numbered.collect::<String>());
    // The marker lines have more `=` in a row than any line of the file, so no line of the file looks like the end
    // marker.
    let longest = text.split(|c| c != '=').map(str::len).max().unwrap_or(0);
    let marks = "=".repeat((longest + 1).max(5));
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let inline = format!("{marks} {file}\n{text}{gap}{marks} end of {file}\n");
    let lifecycle = match (report.state, &report.unchanged_reason) {
        (Some(state), _) => format!("Lifecycle: {state}\n"),
        (None, Some(held)) => format!("Lifecycle: unchanged: {held}\n"),
        (None, None) => String::new(),
    };
    let session =
        report.calling_session.as_ref().map_or(String::new(), |calling| describe_session(calling, role));
    let done = if errors.is_empty() { format!("Recovered: {role}\n") } else { String::new() };
    format!("Recovery of the role {role}\n\n{invalid}{checklist}\n{inline}\n{lifecycle}{session}{done}")
}

/// Says whether the session that runs the command has the role now.
fn describe_session(CallingSession { session, standing }: &CallingSession, role: &str) -> String {
    let session = activity::short_session_id(session);
    match standing {
        RoleStanding::HasRole => format!("Session: {session} has the role {role}\n"),
        RoleStanding::HasOtherRole(other) => format!(
            "Session: {session} keeps the role {other}; `thru role bind {role}` gives it the role {role} instead\n"
        ),
        RoleStanding::NotRecorded => format!(
            "Session: {session} does not have the role {role}, because no hook has recorded this session in this project\n"
        ),
        RoleStanding::HeldBySession(holder) => format!(
            "Session: {session} does not have the role {role}, because session {} has it and has not ended; `thru role \
             bind {role}` gives it to this session as well\n",
            activity::short_session_id(holder)
        ),
    }
}
