//! Imports the outputs that opencode-swarm kept in `.swarm/summaries`, so that `thru swarm retrieve` finds them.

use std::time::Duration;

use model::redact::Redacted;
use model::render::one_line;
use model::summary::{self, OutputKind, SummarisedOutput};
use model::time;
use serde::{Deserialize, Serialize};
use store::{Dir, FolderEntryKind};

use crate::project::{Project, settings};
use crate::{Result, World, WriteMode};

/// The folder in `.swarm` that contains opencode-swarm's outputs.
const SWARM_SUMMARIES_FOLDER: &str = "summaries";

const MAX_FILE_BYTES: usize = 64 * 1024 * 1024;

/// How long the import waits for a process that is removing old originals.
const MAX_WAIT_FOR_ORIGINALS_LOCK: Duration = Duration::from_secs(10);

#[derive(Clone, Debug, Default, Serialize)]
pub struct OutputImportReport {
    pub outputs: Vec<ImportedOutput>,
    /// How many outputs were new. A dry run does not write them.
    pub new: usize,
    /// The files that were not read, each with the reason.
    pub left_out: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct ImportedOutput {
    /// The name that opencode-swarm gave to the output.
    #[serde(rename = "from")]
    pub source_name: String,
    pub id: String,
    pub bytes: usize,
}

/// The content of a file in opencode-swarm's folder. Its field names differ between versions.
#[derive(Default, Deserialize)]
#[serde(default)]
struct StoredOutput {
    #[serde(alias = "fullOutput", alias = "full_output", alias = "output", alias = "raw")]
    content: String,
    #[serde(alias = "summaryText", alias = "summary_text")]
    summary: String,
    #[serde(alias = "toolName", alias = "tool_name")]
    tool: String,
}

/// Imports the outputs. Returns `None` if the folder does not exist.
pub(crate) fn import_outputs(
    world: &World,
    swarm: &Dir,
    mode: WriteMode,
) -> Result<Option<OutputImportReport>> {
    let dir = match swarm.open_subfolder(SWARM_SUMMARIES_FOLDER) {
        Err(store::Error::Absent { .. }) => return Ok(None),
        dir => dir?,
    };
    let options = settings::settings_here(world).settings().redact_options();
    let store = match mode {
        WriteMode::Write => Some(Project::find_or_create(world)?.store),
        WriteMode::DryRun => Project::find_for_reading(world).ok().map(|project| project.store),
    };
    let known = store.as_ref().map(store::Store::list_summarised_outputs).transpose()?.unwrap_or_default().0;
    let mut report = OutputImportReport::default();
    let mut entries = dir.entries()?;
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    for entry in entries {
        let name = one_line(&entry.name, 100);
        let kept = match read_stored_output(&dir, &entry)? {
            Ok(kept) => kept,
            Err(why) => {
                report.left_out.push(format!("{name}: {why}"));
                continue;
            }
        };
        let text = Redacted::redact_whole(&kept.content, options);
        let id = summary::output_id(&summary::output_digest(text.as_bytes()));
        let lines: Vec<&str> = text.lines().collect();
        let noted = SummarisedOutput {
            // Use the time of the import, so that the output is kept for a full week from now.
            ts: time::to_rfc3339(world.now),
            id: id.clone(),
            session: String::new(),
            tool: one_line(&kept.tool, 100),
            kind: OutputKind::detect(&text, &lines),
            bytes: text.len(),
            lines: lines.len(),
            errors: 0,
            summary_bytes: kept.summary.len().min(text.len()),
            imported: true,
        };
        // Store the original again if it was removed because of its age, or if a crash kept it out of the log.
        let is_logged = known.iter().any(|one| one.id == id);
        let is_stored = match &store {
            Some(store) => is_logged && store.read_original(&id)?.is_some(),
            None => false,
        };
        let is_known = is_stored || report.outputs.iter().any(|one| one.id == id);
        report.outputs.push(ImportedOutput { source_name: name, id, bytes: text.len() });
        if is_known {
            continue;
        }
        report.new += 1;
        if let (Some(store), WriteMode::Write) = (&store, mode) {
            store.write_original(text.as_bytes(), &noted, u64::MAX, MAX_WAIT_FOR_ORIGINALS_LOCK)?;
        }
    }
    Ok(Some(report))
}

/// Returns the content of a file, or the reason why the file is skipped. Returns an error if the file may become
/// readable later.
fn read_stored_output(
    dir: &Dir,
    entry: &store::FolderEntry,
) -> Result<std::result::Result<StoredOutput, String>> {
    match entry.kind {
        FolderEntryKind::File if entry.name.ends_with(".json") => {}
        FolderEntryKind::File | FolderEntryKind::Folder => return Ok(Err("not a JSON file".to_owned())),
        FolderEntryKind::Other => return Ok(Err("a link, and links are not followed".to_owned())),
    }
    let bytes = match dir.read_file(&entry.name, MAX_FILE_BYTES) {
        Ok(bytes) => bytes,
        Err(store::Error::Refused { why, .. } | store::Error::Damaged { why, .. }) => return Ok(Err(why)),
        Err(error) => return Err(error.into()),
    };
    Ok(match serde_json::from_slice::<StoredOutput>(&bytes) {
        Ok(kept) if kept.content.is_empty() => Err("it has no output".to_owned()),
        kept => kept.map_err(|error| error.to_string()),
    })
}
