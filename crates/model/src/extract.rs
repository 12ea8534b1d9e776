//! Finds the code blocks of a message, what each is called, and under which name it may be written to a file.
//!
//! Messages come from a model. A name that leads out of the folder, or into a folder from which programs take
//! instructions, is not used: the block gets a plain name, and a note says so.

mod name;

use std::collections::HashSet;

use crate::clean;

/// One code block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The line of the fence, counted from 1.
    pub line: usize,
    pub language: String,
    /// The name that the message gives the block.
    pub name: Option<String>,
    pub text: String,
    /// False if the message ended within the block.
    pub is_closed: bool,
}

/// A block and the path for it, relative to the folder it is written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedBlock {
    pub block: Block,
    pub path: String,
    /// Why the path is not the name that the message gives; empty if it is, or if there is no name.
    pub note: String,
}

/// Lists the code blocks, in order. A fence is three or more backticks or tildes, indented or not.
pub fn blocks(message: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<(Fence, Block)> = None;
    let mut before = "";
    for (i, line) in message.lines().enumerate() {
        match &mut open {
            Some((fence, _)) if fence.is_closed_by(line) => {
                blocks.extend(open.take().map(|(_, block)| Block { is_closed: true, ..block }));
                before = "";
            }
            Some((fence, block)) => {
                block.text.push_str(fence.without_indent(line));
                block.text.push('\n');
            }
            None => match Fence::of(line) {
                Some((fence, info)) => {
                    let language = name::language(info);
                    let name = name::in_info(info).or_else(|| name::in_line_before(before));
                    let block = Block { line: i + 1, language, name, text: String::new(), is_closed: false };
                    open = Some((fence, block));
                }
                None if !line.trim().is_empty() => before = line,
                None => {}
            },
        }
    }
    blocks.extend(open.map(|(_, block)| block));
    // A name in the block itself is more reliable than one in the line before it.
    for block in &mut blocks {
        let first = block.text.lines().next().unwrap_or_default();
        if let Some(name) = name::in_comment(first) {
            block.name = Some(name);
        }
    }
    blocks
}

/// Gives each block a safe path that no other block has. Nothing is written to folders with a name in `forbidden`.
pub fn named(message: &str, forbidden: &[&str]) -> Vec<NamedBlock> {
    let mut taken = HashSet::new();
    let blocks = blocks(message).into_iter().enumerate();
    blocks
        .map(|(i, block)| {
            let plain = || format!("block-{}.{}", i + 1, name::ending(&block.language));
            let (path, mut note) = match block.name.as_deref().map(|name| (name, safe(name, forbidden))) {
                None => (plain(), String::new()),
                Some((_, Ok(path))) => (path, String::new()),
                Some((name, Err(why))) => {
                    (plain(), format!("the message calls it {}: {why}", crate::render::quoted(name, 120)))
                }
            };
            let free_path = free_path(&path, &mut taken);
            if free_path != path {
                note = format!("{path} is the name of an earlier block");
            }
            NamedBlock { block, path: free_path, note }
        })
        .collect()
}

/// Returns a path that no block has yet: `a.rs`, then `a.2.rs`. The comparison ignores case, because some file systems
/// do.
fn free_path(path: &str, taken: &mut HashSet<String>) -> String {
    let (stem, ending) = match path.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() && !stem.ends_with('/') => (stem, format!(".{ending}")),
        _ => (path, String::new()),
    };
    let names = std::iter::once(path.to_owned()).chain((2..).map(|n| format!("{stem}.{n}{ending}")));
    let mut names = names.filter(|name| taken.insert(name.to_lowercase()));
    names.next().unwrap_or_else(|| path.to_owned())
}

/// Returns the path of a name below the folder, or why the name cannot be used.
pub fn safe(name: &str, forbidden: &[&str]) -> Result<String, &'static str> {
    if name.chars().any(|c| clean::is_hidden(c) || c.is_control()) {
        return Err("it has characters that nobody can see");
    }
    let path = name.replace('\\', "/");
    let has_drive = path.as_bytes().get(1) == Some(&b':');
    if path.starts_with(['/', '~']) || has_drive {
        return Err("an absolute path");
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if path.ends_with('/') || parts.is_empty() {
        return Err("it names a folder");
    }
    // Some systems ignore dots and blanks at the end of a name.
    let bare = |part: &&str| part.trim().trim_end_matches(['.', ' ']).to_lowercase();
    if parts.iter().any(|part| *part == ".." || bare(part).is_empty()) {
        return Err("it leads out of the folder");
    }
    if parts.iter().map(bare).any(|part| forbidden.contains(&part.as_str())) {
        return Err("programs take instructions from that folder");
    }
    if path.len() > 400 || parts.iter().any(|part| part.len() > 200) {
        return Err("it is too long");
    }
    Ok(parts.join("/"))
}

/// An opening fence: its character, how many of them, and how far it is indented.
struct Fence {
    mark: char,
    length: usize,
    indent: usize,
}

impl Fence {
    fn of(line: &str) -> Option<(Fence, &str)> {
        let bare = line.trim_start_matches([' ', '\t', '>']);
        let mark = bare.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let info = bare.trim_start_matches(mark);
        let length = bare.len() - info.len();
        // Backticks after the fence make it inline code in a sentence.
        let is_inline = mark == '`' && info.contains('`');
        let fence = Fence { mark, length, indent: line.len() - bare.len() };
        (length >= 3 && !is_inline).then_some((fence, info.trim()))
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let bare = line.trim_start_matches([' ', '\t', '>']).trim_end();
        bare.len() >= self.length && bare.chars().all(|c| c == self.mark)
    }

    /// Removes the indentation of the fence, which the lines of a block in a list share.
    fn without_indent<'l>(&self, line: &'l str) -> &'l str {
        let blanks = line.len() - line.trim_start_matches([' ', '\t', '>']).len();
        &line[blanks.min(self.indent)..]
    }
}

#[cfg(test)]
#[path = "extract_tests.rs"]
mod tests;
