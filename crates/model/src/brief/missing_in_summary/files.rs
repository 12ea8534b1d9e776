//! The files that the summary does not name.

use super::SummaryClaims;
use crate::brief::BriefMaterial;
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

/// A file that was only read is worth a line of its own if at most this many records came after its last use.
const MAX_RECORDS_SINCE_USE: u64 = 8;

/// A file that was only read is also worth a line of its own if it was used at least this often.
const MIN_USES: u32 = 3;

/// The files that the summary does not name, as printable lists.
pub(super) struct FilesNotNamed {
    /// The files edited since the last compaction.
    pub edited: String,
    /// Other files that are likely to be needed.
    pub others: String,
    /// The other files that are worth a line of their own, even if there is nothing else to say.
    pub others_worth_line: String,
}

impl FilesNotNamed {
    /// `listed` is the line about uncommitted files. A file that it names is left out here.
    pub fn find(material: &BriefMaterial, claims: &SummaryClaims, thin: bool, listed: &str) -> FilesNotNamed {
        let BriefMaterial { digest, missing_files: gone, .. } = *material;
        let endings = PathEndings::count_endings(digest.files.iter().map(|file| file.path.as_str()));
        let is_new = |file: &&FileUse| {
            let name = file.path.rsplit('/').next().unwrap_or(&file.path);
            file.edits + file.reads > 0
                && !file.deleted
                && !is_in_store(&file.path)
                && !gone.contains(&file.path)
                && !claims.names_path(&file.path, &endings)
                && !contains_file_name(listed, name)
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
        // If none of them is likely to be needed, they are not worth listing.
        if !others.iter().any(|file| thin || likely.iter().any(|known| known.path == file.path)) {
            others.clear();
        }
        others.truncate(if thin { MAX_FILES_FOR_THIN_SUMMARY - edited.len() } else { MAX_OTHER_FILES });
        let is_worth_line = |file: &&FileUse| {
            file.edits + file.reads >= MIN_USES
                || file.last_use_record + MAX_RECORDS_SINCE_USE >= digest.record_count
        };
        let worth_line: Vec<&FileUse> = others.iter().copied().filter(is_worth_line).collect();
        let list = |files: &[&FileUse]| list_so_that_each_is_unique(files, &endings);
        FilesNotNamed { edited: list(&edited), others: list(&others), others_worth_line: list(&worth_line) }
    }
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
