//! `thru import agents`: imports the context files of roles from another folder, such as `session/agents`.

use std::path::Path;

use model::render::one_line;
use model::role;
use serde::Serialize;
use store::{Dir, EntryKind};

use crate::features::roles::{look, look_or_make};
use crate::input_redactor::InputRedactor;
use crate::{Error, Mode, Result, World};

/// The folder that is imported if none is named.
pub const FOLDER: &str = "session/agents";

const LARGEST: usize = 1024 * 1024;

#[derive(Clone, Debug, Serialize)]
pub struct AgentsReport {
    pub folder: String,
    pub agents: Vec<ImportedAgent>,
    pub left_out: Vec<String>,
    /// Whether a secret was redacted.
    pub covered: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct ImportedAgent {
    pub role: String,
    /// The path of the imported file.
    pub file: String,
    pub outcome: Outcome,
    /// The number of errors that `thru context validate` finds in the file.
    pub errors: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Imported,
    /// The same file was imported before, so nothing is written.
    Same,
    /// The role already has another file, which is kept.
    Exists,
}

pub fn run(world: &World, named: Option<&Path>, mode: Mode) -> Result<AgentsReport> {
    let roles = match mode {
        Mode::Write => look_or_make(world)?.0,
        Mode::DryRun => look(world)?,
    };
    // A folder that the user names may be a link. The default folder is in the project and may have come with it,
    // so a link is refused there.
    let dir = match named {
        Some(folder) => Dir::open(&world.need_cwd()?.join(folder))?,
        None => Dir::open(&roles.root.checkout)?.sub(FOLDER)?,
    };
    let redactor = InputRedactor::to(world);
    let mut report = AgentsReport {
        folder: dir.path().display().to_string(),
        agents: Vec::new(),
        left_out: Vec::new(),
        covered: false,
    };
    let mut entries = dir.entries()?;
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    for entry in entries {
        let mut leave_out =
            |why: &str| report.left_out.push(format!("{}: {why}", one_line(&entry.name, 100)));
        let Some(role) = role::of_file(&entry.name) else {
            leave_out("not a context file (ROLE.context.md)");
            continue;
        };
        if entry.kind != EntryKind::File {
            leave_out("a folder, a link or a pipe; only files are read");
            continue;
        }
        let bytes = match dir.read(&entry.name, LARGEST) {
            Ok(bytes) => bytes,
            Err(store::Error::Refused { why, .. } | store::Error::Damaged { why, .. }) => {
                leave_out(&why);
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let text = redactor.clean_bytes(&bytes);
        let (file, known) = roles.imported_to(&role)?;
        let outcome = match known {
            Some(known) if known == text.as_ref() => Outcome::Same,
            Some(_) => Outcome::Exists,
            None => Outcome::Imported,
        };
        if (outcome, mode) == (Outcome::Imported, Mode::Write) {
            let (folder, name, _) = roles.new_file(&role)?;
            folder.create(&name, &text)?;
        }
        let errors = roles.check(world, &text).errors().len();
        report.agents.push(ImportedAgent { role: role.to_string(), file, outcome, errors });
    }
    if report.agents.is_empty() {
        return Err(Error::Absent {
            what: format!("{}: there is no context file in it", report.folder),
            hint: "name the folder that contains them: `thru import agents FOLDER`".into(),
        });
    }
    report.covered = redactor.was_covered();
    Ok(report)
}
