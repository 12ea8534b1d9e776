//! Files: edited first, then read and likely needed, by folder.

use crate::brief::Material;
use crate::brief::candidate::Class;
use crate::brief::gather::Gathered;
use crate::brief::paths::Endings;
use crate::digest::{Digest, FileUse};
use crate::render::path;
use crate::text::cut;

/// This many of the most likely files are added to a summary that lacks them, whenever they were read.
const LIKELIEST_FILES: usize = 4;

pub fn gather(material: &Material, all: &mut Gathered) {
    let Material { digest, gone, .. } = *material;
    let endings = Endings::of(digest.files.iter().map(|file| file.path.as_str()));
    let last_edit = digest.files.iter().map(|file| file.edited_at).max().unwrap_or(0);
    let mut place = 0;
    for file in digest.ranked_files() {
        if is_only_a_word(file, digest) {
            continue;
        }
        let class = match (file.edits, file.reads) {
            (0, 0) => Class::Named,
            (0, _) => Class::Read,
            _ => Class::Edited,
        };
        let (folder, name) = endings.split(&file.path);
        let gone = file.deleted || gone.contains(&file.path);
        // A command may name a temporary file.
        if class == Class::Named && (gone || file.outside) {
            continue;
        }
        let candidate = all.add(class, format!("file:{}", cut(&file.path, 300)), forms(file, name, gone));
        candidate.folder = Some(if folder.is_empty() { String::new() } else { path(folder, 200) });
        // Next to a summary, files that were read before the last edit are no longer needed, except the likeliest.
        let served = class == Class::Read && file.last < last_edit && place >= LIKELIEST_FILES;
        candidate.known_by = vec![if served { String::new() } else { name.to_owned() }];
        // Edited and read files are ranked together.
        if class != Class::Named {
            candidate.place = place;
            place += 1;
        }
    }
}

/// Whether a name from a command line is one of git's own files, or a folder whose files are named.
fn is_only_a_word(file: &FileUse, digest: &Digest) -> bool {
    let is_below = |other: &FileUse| {
        other.path.strip_prefix(file.path.as_str()).is_some_and(|rest| rest.starts_with('/'))
    };
    file.edits + file.reads == 0
        && (file.path.split('/').any(|part| part == ".git") || digest.files.iter().any(is_below))
}

fn forms(file: &FileUse, name: &str, gone: bool) -> Vec<String> {
    let name = path(name, 200);
    let often = (file.edits > 1).then(|| format!("{}×", file.edits));
    match (gone, often) {
        (true, _) => vec![format!("{name} (gone)")],
        (false, None) => vec![name],
        (false, Some(often)) => vec![name.clone(), format!("{name} ({often})")],
    }
}
