//! Outlines source code: its declarations with their line numbers.

use super::titled_section;

pub fn outline_source(lines: &[&str], room: usize) -> String {
    let declared = lines.iter().enumerate().filter(|(_, line)| is_declaration(line));
    let items: Vec<String> = declared
        .map(|(i, line)| {
            format!("{}: {}", i + 1, without_line_number(line).trim_end().trim_end_matches('{').trim_end())
        })
        .collect();
    // A quarter of the available space is left for the first and last lines.
    titled_section("declarations", &items, room * 3 / 4)
}

pub fn looks_like_code(line: &str) -> bool {
    let line = without_line_number(line).trim();
    line.ends_with([';', '{', '}'])
        || line.starts_with("//")
        || line.starts_with(['}', ')', ']'])
        || is_declaration(line)
        || line.ends_with(':') && BLOCK_WORDS.iter().any(|word| line.starts_with(word))
        || line.contains(" = ") && !line.contains(": ")
        || line.starts_with("return ")
        || line.starts_with("import ")
        || line.ends_with("),")
}

/// Words that start a block in languages without braces.
const BLOCK_WORDS: &[&str] = &["if ", "for ", "else", "elif ", "while ", "try", "except", "with ", "match "];

const DECLARATION_WORDS: &[&str] = &[
    "fn",
    "struct",
    "enum",
    "trait",
    "impl",
    "mod",
    "type",
    "macro_rules!",
    "class",
    "def",
    "function",
    "interface",
    "func",
    "fun",
    "package",
    "namespace",
    "module",
    "protocol",
    "extension",
    "record",
    "object",
    "union",
];

const MODIFIER_WORDS: &[&str] = &[
    "pub",
    "pub(crate)",
    "pub(super)",
    "export",
    "default",
    "async",
    "unsafe",
    "const",
    "static",
    "public",
    "private",
    "protected",
    "internal",
    "final",
    "abstract",
    "override",
    "open",
    "data",
    "sealed",
    "extern",
    "declare",
    "inline",
];

pub fn is_declaration(line: &str) -> bool {
    let line = without_line_number(line);
    // Deeply indented declarations are left out as details.
    if line.len() - line.trim_start().len() > 8 {
        return false;
    }
    let rest = without_modifiers(line);
    let is_named = |name: &str| name.starts_with(|c: char| c.is_alphabetic() || "_<('&\"".contains(c));
    split_declaration(rest).is_some_and(|(_, name)| is_named(name)) || rest.starts_with("impl<")
}

/// Returns a line without words such as `pub` and `static` at its beginning.
pub fn without_modifiers(line: &str) -> &str {
    let mut rest = line.trim_start();
    while let Some((word, after)) = rest.split_once(char::is_whitespace)
        && MODIFIER_WORDS.contains(&word)
    {
        rest = after.trim_start();
    }
    rest
}

/// The bytes with which [`DECLARATION_WORDS`] and [`MODIFIER_WORDS`] begin.
const FIRST_BYTES_OF_DECLARATION_WORDS: [bool; 256] = {
    let mut begins = [false; 256];
    let mut i = 0;
    while i < DECLARATION_WORDS.len() {
        begins[DECLARATION_WORDS[i].as_bytes()[0] as usize] = true;
        i += 1;
    }
    i = 0;
    while i < MODIFIER_WORDS.len() {
        begins[MODIFIER_WORDS[i].as_bytes()[0] as usize] = true;
        i += 1;
    }
    begins
};

/// Returns whether any word that [`is_declaration_word`] accepts begins with this byte.
pub fn may_byte_begin_declaration(first: u8) -> bool {
    FIRST_BYTES_OF_DECLARATION_WORDS[usize::from(first)]
}

/// Returns whether a word begins a declaration, or may come before a word that does.
pub fn is_declaration_word(word: &[u8]) -> bool {
    let is_it = |known: &&str| known.as_bytes() == word;
    DECLARATION_WORDS.iter().any(is_it) || MODIFIER_WORDS.iter().any(is_it)
}

/// Splits a line into the word that begins a declaration, such as `fn` or `class`, and the text after it.
pub fn split_declaration(line: &str) -> Option<(&str, &str)> {
    let (word, after) = line.split_once(char::is_whitespace)?;
    DECLARATION_WORDS.contains(&word).then_some((word, after.trim_start()))
}

/// Removes the line number that `cat -n` or a file-reading tool adds.
fn without_line_number(line: &str) -> &str {
    let bare = line.trim_start();
    let rest = bare.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.strip_prefix(['\t', '→']) {
        Some(text) if rest.len() < bare.len() => text,
        _ => line,
    }
}
