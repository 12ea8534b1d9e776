//! The files that the summary does not name, as one line or as the end of the line about uncommitted files.

use super::SummaryClaims;
use crate::brief::BriefMaterial;
use crate::brief::candidate::{Candidate, FactClass};
use crate::brief::effects::contains_file_name;
use crate::brief::paths::{PathEndings, list_by_folder, path_endings};
use crate::checkout_path::is_in_store;
use crate::digest::FileUse;

/// The maximum number of edited files. Those edited most often are chosen.
const MAX_EDITED_FILES: usize = 10;

/// The maximum number of other files. Those most likely to be needed again are chosen: recent and frequent use count
/// most.
const MAX_OTHER_FILES: usize = 8;

/// The maximum number of files that are listed if the summary is thin. Such a summary names hardly any file.
const MAX_FILES_FOR_THIN_SUMMARY: usize = 6;

/// Adds the files that the summary does not name to the facts: the files edited since the last compaction, then other
/// files that were used recently. If a line about uncommitted files is told, they are added to it, because one line
/// about files is enough.
pub(super) fn add_files_missing_in_summary(
    facts: &mut Vec<Candidate>,
    material: &BriefMaterial,
    claims: &SummaryClaims,
    thin: bool,
) {
    let BriefMaterial { digest, missing_files: gone, .. } = *material;
    let risk = facts.iter_mut().find(|fact| fact.id == "risk:uncommitted");
    let listed = risk.as_ref().and_then(|risk| risk.forms.last()).cloned().unwrap_or_default();
    let endings = PathEndings::count_endings(digest.files.iter().map(|file| file.path.as_str()));
    let is_new = |file: &&FileUse| {
        let name = file.path.rsplit('/').next().unwrap_or(&file.path);
        file.edits + file.reads > 0
            && !file.deleted
            && !is_in_store(&file.path)
            && !gone.contains(&file.path)
            && !claims.names_path(&file.path, &endings)
            && !contains_file_name(&listed, name)
    };
    let is_edited_now = |file: &&FileUse| {
        file.is_edited()
            && !file.is_outside_checkout
            && (thin || file.changed_at() > digest.last_compaction_before_work)
    };
    let (mut edited, mut others): (Vec<&FileUse>, Vec<&FileUse>) =
        digest.ranked_files().into_iter().filter(is_new).partition(is_edited_now);
    edited.sort_by_key(|file| std::cmp::Reverse(file.edits + file.edits_by_commands));
    edited.truncate(if thin { MAX_FILES_FOR_THIN_SUMMARY } else { MAX_EDITED_FILES });
    let likely = digest.files_likely_needed_again();
    // If none of them is likely to be needed, they are not worth a line.
    if !others.iter().any(|file| thin || likely.iter().any(|known| known.path == file.path)) {
        others.clear();
    }
    others.truncate(if thin { MAX_FILES_FOR_THIN_SUMMARY - edited.len() } else { MAX_OTHER_FILES });
    let list = |files: &[&FileUse]| list_so_that_each_is_unique(files, &endings);
    let (edited, others) = (list(&edited), list(&others));
    if let Some(risk) = risk.filter(|_| edited.is_empty() && !others.is_empty()) {
        for form in &mut risk.forms {
            form.push_str(&format!("; also used, which the summary does not name: {others}"));
        }
        return;
    }
    let (class, text) = match (edited.is_empty(), others.is_empty()) {
        (true, true) => return,
        (true, false) => (FactClass::Read, others),
        (false, true) => (FactClass::Edited, edited),
        (false, false) => (FactClass::Edited, format!("{edited}; read {others}")),
    };
    let text = format!("{text}, which the summary does not name");
    let mut line = Candidate::of_class(class, "files:not-named".to_owned(), vec![text]);
    line.folder = Some(String::new());
    facts.push(line);
}

/// Lists files by folder. A file whose name is not unique in the session is listed with its whole path, so that it
/// cannot be taken for another one.
fn list_so_that_each_is_unique(files: &[&FileUse], endings: &PathEndings) -> String {
    let is_name_unique =
        |file: &&FileUse| endings.is_unique(path_endings(&file.path).next().unwrap_or_default());
    let (unique, others): (Vec<&FileUse>, Vec<&FileUse>) = files.iter().copied().partition(is_name_unique);
    let unique = list_by_folder(unique.iter().map(|file| file.path.as_str()), usize::MAX);
    let others = others.iter().map(|file| list_by_folder([file.path.as_str()].into_iter(), 1));
    let parts = [unique].into_iter().chain(others).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(", ")
}
