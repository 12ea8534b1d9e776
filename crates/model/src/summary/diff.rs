//! Outlines a diff: its files, the line at which each file starts, and the number of hunks and changed lines.

use super::titled_section;
use crate::text::count_with_noun;

#[derive(Default)]
struct DiffFile {
    line: usize,
    name: String,
    hunks: usize,
    added: usize,
    removed: usize,
}

pub fn outline_diff(lines: &[&str], room: usize) -> String {
    let items: Vec<String> = diff_files(lines)
        .iter()
        .map(|file| {
            format!(
                "{}: {}  +{} -{}, {}",
                file.line,
                file.name,
                file.added,
                file.removed,
                count_with_noun(file.hunks, "hunk")
            )
        })
        .collect();
    titled_section("files", &items, room * 3 / 4)
}

fn diff_files(lines: &[&str]) -> Vec<DiffFile> {
    let mut files: Vec<DiffFile> = Vec::new();
    let mut is_head = true;
    for (i, line) in lines.iter().enumerate() {
        let begins = line.starts_with("diff --git ") || !is_head && begins_file_without_git_header(lines, i);
        if begins || files.is_empty() && line.starts_with("--- ") {
            is_head = true;
            let name = line.rsplit_once(" b/").map_or("", |(_, name)| name);
            files.push(DiffFile { line: i + 1, name: name.to_owned(), ..DiffFile::default() });
        }
        let Some(file) = files.last_mut() else { continue };
        match line.as_bytes().first() {
            Some(b'@') if line.starts_with("@@ ") => {
                is_head = false;
                file.hunks += 1;
            }
            Some(b'+') if !is_head => file.added += 1,
            Some(b'-') if !is_head => file.removed += 1,
            _ if is_head
                && (line.starts_with("+++ ") || file.name.is_empty() && line.starts_with("--- ")) =>
            {
                let name = line[4..].split('\t').next().unwrap_or_default();
                let name = name.strip_prefix("b/").or_else(|| name.strip_prefix("a/")).unwrap_or(name);
                if name != "/dev/null" {
                    name.clone_into(&mut file.name);
                }
            }
            _ => {}
        }
    }
    files
}

/// Returns whether a file without a git header starts here, with the lines `--- a`, `+++ b` and `@@ `.
fn begins_file_without_git_header(lines: &[&str], i: usize) -> bool {
    let next = |n: usize| lines.get(i + n).copied().unwrap_or_default();
    lines[i].starts_with("--- ") && next(1).starts_with("+++ ") && next(2).starts_with("@@ ")
}
