//! Finds the code blocks of a message, their names, and the paths to which they may be written.
//!
//! Messages come from a model, so the names in them are not trusted. A name that leads out of the folder, or into a
//! folder that must not be written to, is not used. The block then gets a plain name and a note. A file that changes
//! which programs run, or what agents are told, is marked as guarded.

mod name;

use std::collections::HashSet;

use crate::clean;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeBlock {
    /// The line of the opening fence, counted from 1.
    pub line: usize,
    pub language: String,
    /// The name that the message gives to the block.
    pub name: Option<String>,
    /// Whether the name is only mentioned in a sentence before the block. The sentence may be about another file.
    pub is_only_mentioned: bool,
    pub text: String,
    /// Whether the block is closed. It is false if the message ends within the block.
    pub is_closed: bool,
}

/// A block and its path, relative to the folder to which it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedBlock {
    pub block: CodeBlock,
    pub path: String,
    /// Why the path differs from the name in the message. It is empty if both are the same or if there is no name.
    pub note: String,
    /// Whether the file changes which programs run or what agents are told.
    pub is_guarded: bool,
}

/// Names with special rules, all in lower case.
#[derive(Clone, Copy, Debug)]
pub struct FileNameRules<'a> {
    /// Folders that must not be written to.
    pub forbidden_folders: &'a [&'a str],
    /// Folders whose files can change which programs run or what agents are told.
    pub guarded_folders: &'a [&'a str],
    /// Files that can change which programs run or what agents are told, whatever their folder.
    pub guarded_files: &'a [&'a str],
}

/// Returns the code blocks in order. A fence is three or more backticks or tildes, indented or not.
pub fn code_blocks(message: &str) -> Vec<CodeBlock> {
    let mut blocks = Vec::new();
    let mut open: Option<(BlockFence, CodeBlock)> = None;
    let (mut before, mut lines_before) = ("", Vec::new());
    for (i, line) in message.lines().enumerate() {
        match &mut open {
            Some((fence, _)) if fence.is_closed_by(line) => {
                blocks.extend(open.take().map(|(_, block)| CodeBlock { is_closed: true, ..block }));
                before = "";
            }
            Some((fence, block)) => {
                block.text.push_str(fence.without_indent(line));
                block.text.push('\n');
            }
            None => match BlockFence::parse_opening(line) {
                Some((fence, info)) => {
                    let language = name::fence_language(info);
                    let name = name::name_in_fence_info(info);
                    // The line before the block is used only if neither the fence nor the block contains a name.
                    let before = if name.is_some() { "" } else { std::mem::take(&mut before) };
                    let block = CodeBlock {
                        line: i + 1,
                        language,
                        name,
                        is_only_mentioned: false,
                        text: String::new(),
                        is_closed: false,
                    };
                    lines_before.push(before);
                    open = Some((fence, block));
                }
                None if !line.trim().is_empty() => before = line,
                None => {}
            },
        }
    }
    blocks.extend(open.map(|(_, block)| block));
    // A name in the fence is the most reliable, followed by a comment in the block and the line before the block.
    for (block, before) in blocks.iter_mut().zip(lines_before) {
        if block.name.is_some() {
            continue;
        }
        let first = block.text.lines().next().unwrap_or_default();
        block.name = name::name_in_comment(first, &block.language);
        if block.name.is_none()
            && let Some(found) = name::name_in_line_before(before, &block.language)
        {
            (block.name, block.is_only_mentioned) = (Some(found.name), found.is_only_mentioned);
        }
    }
    blocks
}

/// Gives each block a safe and unique path.
pub fn assign_paths_to_blocks(message: &str, rules: &FileNameRules) -> Vec<NamedBlock> {
    let mut taken = HashSet::new();
    let blocks = code_blocks(message).into_iter().enumerate();
    blocks
        .map(|(i, block)| {
            let plain = || format!("block-{}.{}", i + 1, name::extension_of_language(&block.language));
            let (path, mut note) = match block
                .name
                .as_deref()
                .map(|name| (name, safe_path(name, rules.forbidden_folders)))
            {
                None => (plain(), String::new()),
                Some((_, Ok(path))) => (path, String::new()),
                Some((name, Err(why))) => (
                    plain(),
                    format!("the message calls it {}: {why}", crate::render::in_quotation_marks(name, 120)),
                ),
            };
            let free_path = unused_path(&path, &mut taken);
            if free_path != path {
                note = format!("an earlier block is already called {path}");
            }
            let is_guarded = is_guarded(&path, rules);
            NamedBlock { block, path: free_path, note, is_guarded }
        })
        .collect()
}

fn is_guarded(path: &str, rules: &FileNameRules) -> bool {
    let parts: Vec<String> = path.split('/').map(normalised_path_part).collect();
    let (folders, file) = parts.split_at(parts.len() - 1);
    folders.iter().any(|folder| rules.guarded_folders.contains(&folder.as_str()))
        || file.iter().any(|file| rules.guarded_files.contains(&file.as_str()))
}

/// Returns a path component in the form in which some systems compare it: in lower case, without trailing dots and
/// blanks.
fn normalised_path_part(part: &str) -> String {
    part.trim().trim_end_matches(['.', ' ']).to_lowercase()
}

/// Returns a path that no other block has, such as `a.rs` and then `a.2.rs`. The comparison ignores case, because some
/// file systems do.
fn unused_path(path: &str, taken: &mut HashSet<String>) -> String {
    let (stem, ending) = match path.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() && !stem.ends_with('/') => (stem, format!(".{ending}")),
        _ => (path, String::new()),
    };
    let names = std::iter::once(path.to_owned()).chain((2..).map(|n| format!("{stem}.{n}{ending}")));
    let mut names = names.filter(|name| taken.insert(name.to_lowercase()));
    names.next().unwrap_or_else(|| path.to_owned())
}

/// Returns the path for a name, relative to the folder, or why the name cannot be used.
pub fn safe_path(name: &str, forbidden: &[&str]) -> Result<String, &'static str> {
    if name.chars().any(|c| clean::is_hidden_char(c) || c.is_control()) {
        return Err("it contains invisible characters");
    }
    let path = name.replace('\\', "/");
    let has_drive = path.as_bytes().get(1) == Some(&b':');
    if path.starts_with(['/', '~']) || has_drive {
        return Err("it is an absolute path");
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if path.ends_with('/') || parts.is_empty() {
        return Err("it names a folder");
    }
    if parts.iter().any(|part| *part == ".." || normalised_path_part(part).is_empty()) {
        return Err("it leads out of the folder");
    }
    if parts.iter().map(|part| normalised_path_part(part)).any(|part| forbidden.contains(&part.as_str())) {
        return Err("nothing is written to that folder");
    }
    if path.len() > 400 || parts.iter().any(|part| part.len() > 200) {
        return Err("it is too long");
    }
    Ok(parts.join("/"))
}

struct BlockFence {
    fence_char: char,
    length: usize,
    indent: usize,
}

impl BlockFence {
    fn parse_opening(line: &str) -> Option<(BlockFence, &str)> {
        let bare = line.trim_start_matches([' ', '\t', '>']);
        let fence_char = bare.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let info = bare.trim_start_matches(fence_char);
        let length = bare.len() - info.len();
        // If `info` contains a backtick, the line is inline code, such as "```code```", and not a fence.
        let is_inline = fence_char == '`' && info.contains('`');
        let fence = BlockFence { fence_char, length, indent: line.len() - bare.len() };
        (length >= 3 && !is_inline).then_some((fence, info.trim()))
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let bare = line.trim_start_matches([' ', '\t', '>']).trim_end();
        bare.len() >= self.length && bare.chars().all(|c| c == self.fence_char)
    }

    /// Removes the indentation of the fence, because in a list all lines of a block are indented.
    fn without_indent<'l>(&self, line: &'l str) -> &'l str {
        let blanks = line.len() - line.trim_start_matches([' ', '\t', '>']).len();
        &line[blanks.min(self.indent)..]
    }
}

#[cfg(test)]
#[path = "extract_tests.rs"]
mod tests;
