//! Files grouped by folder: edited files, and files that were read and are likely to be needed.

use crate::brief::BriefMaterial;
use crate::brief::candidate::FactClass;
use crate::brief::gather::GatheredCandidates;
use crate::brief::paths::PathEndings;
use crate::digest::{Digest, FileUse};
use crate::render::path_or_code;
use crate::text::cut_to_bytes;

/// The number of most likely files to add to a summary that lacks them, even if they were read long ago.
const MAX_LIKELY_FILES: usize = 4;

pub fn gather_files(material: &BriefMaterial, all: &mut GatheredCandidates) {
    let BriefMaterial { digest, gone, .. } = *material;
    let endings = PathEndings::count_endings(digest.files.iter().map(|file| file.path.as_str()));
    let last_edit = digest.files.iter().map(|file| file.edited_at).max().unwrap_or(0);
    let goal = digest.current_goal();
    let task = goal.task.filter(|_| !goal.is_answered).or(goal.newest).map_or(0, |prompt| prompt.record);
    let mut place = 0;
    for file in digest.ranked_files() {
        if is_git_name_or_folder(file, digest) {
            continue;
        }
        let class = match (file.edits, file.reads) {
            (0, 0) => FactClass::Named,
            (0, _) => FactClass::Read,
            _ => FactClass::Edited,
        };
        let (folder, name) = endings.split_at_unique_ending(&file.path);
        let gone = file.deleted || gone.contains(&file.path);
        // A file that was only named in a command may be temporary, or belong to an earlier task. Such files are not
        // needed.
        if class == FactClass::Named && (gone || file.outside || file.last < task) {
            continue;
        }
        let candidate = all.add_fact(
            class,
            format!("file:{}", cut_to_bytes(&file.path, 300)),
            file_forms(file, name, gone),
        );
        candidate.folder = Some(if folder.is_empty() { String::new() } else { path_or_code(folder, 200) });
        // If there is a summary, files that were read before the last edit are left out, except the most likely ones.
        let served = class == FactClass::Read && file.last < last_edit && place >= MAX_LIKELY_FILES;
        candidate.known_by = vec![if served { String::new() } else { name.to_owned() }];
        // Edited and read files share one ranking.
        if class != FactClass::Named {
            candidate.place = place;
            place += 1;
        }
    }
}

/// Whether a name from a command line is inside `.git`, or is a folder whose files are listed anyway.
fn is_git_name_or_folder(file: &FileUse, digest: &Digest) -> bool {
    let is_below = |other: &FileUse| {
        other.path.strip_prefix(file.path.as_str()).is_some_and(|rest| rest.starts_with('/'))
    };
    file.edits + file.reads == 0
        && (file.path.split('/').any(|part| part == ".git") || digest.files.iter().any(is_below))
}

fn file_forms(file: &FileUse, name: &str, gone: bool) -> Vec<String> {
    let name = path_or_code(name, 200);
    let often = (file.edits > 1).then(|| format!("{}×", file.edits));
    match (gone, often) {
        (true, _) => vec![format!("{name} (gone)")],
        (false, None) => vec![name],
        (false, Some(often)) => vec![name.clone(), format!("{name} ({often})")],
    }
}
