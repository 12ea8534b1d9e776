//! `thru evidence add`: records what somebody states about a task. Such an entry is shown, but it does not prove that
//! the task passed.

use std::path::Path;

use model::evidence::{
    EntryType, EvidenceEntry, EvidenceOrigin, EvidenceVerdict, MAX_EVIDENCE_BYTES_PER_TASK, MAX_PATCH_BYTES,
    patch_stats,
};
use model::time;
use serde::Serialize;
use serde_json::Value;
use store::layout;

use super::{MAX_EVIDENCE_LOCK_WAIT, find_task, new_entry_id, too_large_error, write_evidence_entry};
use crate::features::plan::PlanAuthor;
use crate::input_redactor::InputRedactor;
use crate::project::{Project, git};
use crate::{Error, Result, World};

#[derive(Clone, Debug)]
pub struct AddEvidenceRequest<'a> {
    pub task: &'a str,
    pub entry_type: EntryType,
    pub verdict: EvidenceVerdict,
    pub summary: &'a str,
    pub agent: Option<&'a str>,
    pub risk: Option<&'a str>,
    pub issues: &'a [String],
    pub failures: &'a [String],
    pub tests_passed: Option<u64>,
    pub tests_failed: Option<u64>,
    pub patch: Option<&'a Path>,
    pub metadata: &'a [(String, String)],
}

#[derive(Clone, Debug, Serialize)]
pub struct AddedEntry {
    pub task: String,
    pub entry: EvidenceEntry,
    pub redacted: bool,
    pub notes: Vec<String>,
}

pub fn add_entry(world: &World, request: &AddEvidenceRequest) -> Result<AddedEntry> {
    let project = Project::find_for_reading(world)?;
    let store = &project.store;
    let (id, _) = find_task(store, request.task)?;
    let given = InputRedactor::with_settings_of(world);
    let clean = |text: &str| given.redact_text(text.trim()).into_owned();
    let all = |texts: &[String]| texts.iter().map(|text| Value::from(clean(text))).collect::<Vec<_>>();
    let summary = clean(request.summary);
    if summary.is_empty() && request.patch.is_none() {
        return Err(Error::Usage {
            what: "the entry has neither a summary nor a patch".into(),
            hint: "give `--summary TEXT`".into(),
        });
    }
    let mut entry = EvidenceEntry {
        id: new_entry_id()?,
        task_id: id.to_string(),
        entry_type: request.entry_type.name().to_owned(),
        kind: EvidenceOrigin::Claimed.name().to_owned(),
        timestamp: time::to_rfc3339(world.now),
        agent: match request.agent {
            Some(agent) => clean(agent),
            None => PlanAuthor::current_author(world, None)?.author,
        },
        verdict: request.verdict.name().to_owned(),
        summary,
        risk: request.risk.map(clean),
        issues: all(request.issues),
        tests_passed: request.tests_passed,
        tests_failed: request.tests_failed,
        failures: all(request.failures),
        head: git::read_head(&project.root.checkout).map(|head| head.commit).unwrap_or_default(),
        ..EvidenceEntry::default()
    };
    for (key, value) in request.metadata {
        entry.metadata.insert(clean(key), clean(value).into());
    }
    let patch = request.patch.map(|path| read_patch(path, &given)).transpose()?;
    if let Some(patch) = &patch {
        let used = usize::try_from(store.evidence_size(&id)?).unwrap_or(usize::MAX);
        if used.saturating_add(patch.len()) > MAX_EVIDENCE_BYTES_PER_TASK {
            let hint = format!(
                "move old patches out of {}/{}",
                layout::STORE_FOLDER,
                layout::evidence_folder_path(&id)
            );
            return Err(too_large_error(
                &format!("the evidence of {id}"),
                used.saturating_add(patch.len()),
                MAX_EVIDENCE_BYTES_PER_TASK,
                hint,
            ));
        }
        let stats = patch_stats(&String::from_utf8_lossy(patch));
        entry.files_changed = stats.files.into_iter().map(Value::from).collect();
        (entry.additions, entry.deletions) = (Some(stats.additions), Some(stats.deletions));
        entry.patch_path = Some(store_patch(store, &id, patch)?);
    }
    let written = write_evidence_entry(store, &id, entry.clone(), None, (world.now, MAX_EVIDENCE_LOCK_WAIT))
        .inspect_err(|_| {
            // The entry was not written, so nothing refers to its patch and the patch can be removed.
            if let Some(patch) = &entry.patch_path {
                let _ = store.dir().remove_file(patch);
            }
        })?;
    Ok(AddedEntry { task: id.to_string(), entry, redacted: given.has_redacted(), notes: written.notes })
}

fn read_patch(path: &Path, given: &InputRedactor) -> Result<Vec<u8>> {
    // Read up to 16 times the limit, so that the error can state the real size.
    let bytes = match store::read_file_named_by_user(path, 16 * MAX_PATCH_BYTES) {
        Ok(bytes) if bytes.len() > MAX_PATCH_BYTES => {
            let hint = "keep only the part that matters".to_owned();
            return Err(too_large_error(
                &format!("{}: the patch", path.display()),
                bytes.len(),
                MAX_PATCH_BYTES,
                hint,
            ));
        }
        bytes => bytes?,
    };
    Ok(given.redact_bytes(&bytes).into_owned())
}

/// Writes the patch as `diff.patch`, or under the next free name. Returns its path relative to the store.
fn store_patch(store: &store::Store, task: &model::id::Id, patch: &[u8]) -> Result<String> {
    for number in 1..=1_000_u32 {
        let name = if number == 1 { "diff.patch".to_owned() } else { format!("diff-{number}.patch") };
        if store.create_patch_file(task, &name, patch)? {
            return Ok(format!("{}/{name}", layout::evidence_folder_path(task)));
        }
    }
    Err(Error::Refused {
        what: format!("{task} already has a thousand patches"),
        hint: format!("move old ones out of {}/{}", layout::STORE_FOLDER, layout::evidence_folder_path(task)),
    })
}
