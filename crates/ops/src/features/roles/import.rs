//! `thru import agents`: imports the context files of roles from another folder, such as `session/agents`.

use std::path::Path;

use model::render::one_line;
use model::role;
use serde::Serialize;
use store::{Dir, FolderEntryKind};

use crate::features::roles::{find_or_create_roles, find_roles};
use crate::input_redactor::InputRedactor;
use crate::{Error, Result, World, WriteMode};

/// The folder to import from if the user names none.
pub const DEFAULT_AGENTS_FOLDER: &str = "session/agents";

const MAX_IMPORTED_CONTEXT_FILE_BYTES: usize = 1024 * 1024;

#[derive(Clone, Debug, Serialize)]
pub struct ContextFilesImportReport {
    pub folder: String,
    pub agents: Vec<ImportedAgent>,
    pub left_out: Vec<String>,
    pub redacted: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct ImportedAgent {
    pub role: String,
    /// The path of the role's file in this project.
    pub file: String,
    pub outcome: ContextFileImportOutcome,
    /// The number of errors that `thru context validate` finds in the file.
    pub errors: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ContextFileImportOutcome {
    Imported,
    /// The same file was imported before, so nothing is written.
    #[serde(rename = "same")]
    AlreadyImported,
    /// The role already has a different file, which is kept.
    #[serde(rename = "exists")]
    OtherFileExists,
}

pub fn import_agents(
    world: &World,
    named: Option<&Path>,
    mode: WriteMode,
) -> Result<ContextFilesImportReport> {
    let roles = match mode {
        WriteMode::Write => find_or_create_roles(world)?.0,
        WriteMode::DryRun => find_roles(world)?,
    };
    // A folder that the user names may be a link. The default folder must not be one, because it may have come with
    // the project.
    let dir = match named {
        Some(folder) => Dir::open(&world.require_cwd()?.join(folder))?,
        None => Dir::open(&roles.root.checkout)?.open_subfolder(DEFAULT_AGENTS_FOLDER)?,
    };
    let redactor = InputRedactor::with_settings_of(world);
    let mut report = ContextFilesImportReport {
        folder: dir.path().display().to_string(),
        agents: Vec::new(),
        left_out: Vec::new(),
        redacted: false,
    };
    let mut entries = dir.entries()?;
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    for entry in entries {
        let mut leave_out =
            |why: &str| report.left_out.push(format!("{}: {why}", one_line(&entry.name, 100)));
        let Some(role) = role::role_of_file(&entry.name) else {
            leave_out("not a context file (ROLE.context.md)");
            continue;
        };
        if entry.kind != FolderEntryKind::File {
            leave_out("a folder, a link or a pipe; only files are read");
            continue;
        }
        let bytes = match dir.read_file(&entry.name, MAX_IMPORTED_CONTEXT_FILE_BYTES) {
            Ok(bytes) => bytes,
            Err(store::Error::Refused { why, .. } | store::Error::Damaged { why, .. }) => {
                leave_out(&why);
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let text = redactor.redact_bytes(&bytes);
        let (file, known) = roles.read_import_target_of_role(&role)?;
        let outcome = match known {
            Some(known) if known == text.as_ref() => ContextFileImportOutcome::AlreadyImported,
            Some(_) => ContextFileImportOutcome::OtherFileExists,
            None => ContextFileImportOutcome::Imported,
        };
        if (outcome, mode) == (ContextFileImportOutcome::Imported, WriteMode::Write) {
            let (folder, name, _) = roles.new_context_file_location(&role)?;
            folder.create_private_file(&name, &text)?;
        }
        let errors = roles.check_context_file(world, &text).errors().len();
        report.agents.push(ImportedAgent { role: role.to_string(), file, outcome, errors });
    }
    if report.agents.is_empty() {
        return Err(Error::Absent {
            what: format!("{}: there are no context files in this folder", report.folder),
            hint: "name the folder that contains them: `thru import agents FOLDER`".into(),
        });
    }
    report.redacted = redactor.has_redacted();
    Ok(report)
}
