//! Finds the names of the functions, types and constants that an edit adds, removes or changes.

mod text;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::summary::source;
pub use text::{DecodeJson, SourceText};

/// How many names are kept for one edit.
const MAX_DECLARED_NAMES_KEPT_PER_EDIT: usize = 6;

/// A name longer than this is left out. It is not cut short, because nobody could then search for it.
const MAX_NAME_BYTES: usize = 60;

/// How many bytes of an edit's text are searched.
const MAX_EDIT_BYTES_SEARCHED: usize = 20 * 1024;

/// A constant with a shorter name than this, such as `OK`, is left out, because its name says too little.
const MIN_CONSTANT_BYTES: usize = 3;

/// Declarations indented by more bytes than this are left out, because they are details.
const MAX_DECLARATION_INDENT_BYTES: usize = 8;

/// Files with these extensions contain no declarations, but may contain words such as `type` and `class`.
const PROSE_AND_DATA_EXTENSIONS: &[&str] = &[
    "md", "mdx", "txt", "rst", "adoc", "json", "jsonl", "yaml", "yml", "toml", "ini", "cfg", "lock", "csv",
    "tsv", "html", "css", "scss", "svg", "xml", "log", "sum", "mod", "env", "diff", "patch",
];

/// The names in declarations with these keywords are not worth searching for.
const GROUPING_WORDS: &[&str] = &["impl", "mod", "package", "namespace", "module", "extension"];

/// Words that begin a statement and not a function, although a parenthesis follows them.
const STATEMENT_WORDS: &[&str] = &[
    "if",
    "else",
    "elif",
    "for",
    "foreach",
    "while",
    "until",
    "unless",
    "switch",
    "case",
    "match",
    "when",
    "with",
    "using",
    "lock",
    "synchronized",
    "catch",
    "try",
    "do",
    "loop",
    "select",
    "return",
    "throw",
    "yield",
    "await",
    "defer",
    "go",
    "new",
    "func",
    "function",
    "fn",
    "assert",
    "let",
    "var",
    "super",
];

/// The declarations that one or more edits to a file touch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChangedNames {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// How many names were left out.
    #[serde(skip_serializing_if = "is_zero")]
    pub more: usize,
    /// Whether the edit begins inside a declaration whose name is not in the edit's text.
    #[serde(skip)]
    pub begins_inside: bool,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Returns whether a file may contain declarations, judging by its extension.
pub fn may_declare_names(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(_, ending)| !PROSE_AND_DATA_EXTENSIONS.contains(&ending))
}

/// Compares the declarations in two versions of a text. A declaration extends to the start of the next one.
pub fn compare_declarations(old: SourceText<'_>, new: SourceText<'_>) -> ChangedNames {
    let (before, after) = (old.split_at_declarations(), new.split_at_declarations());
    let mut names = ChangedNames::default();
    // Methods of different types may have the same name. Each is compared with the first method of that name.
    for part in &after {
        match before.iter().find(|known| known.name == part.name) {
            None => names.added.push(part.name.clone()),
            Some(known) if known.text == part.text => {}
            Some(_) if part.name.is_empty() => names.begins_inside = true,
            Some(_) => names.changed.push(part.name.clone()),
        }
    }
    let removed = before.iter().filter(|part| !after.iter().any(|kept| kept.name == part.name));
    names.removed = removed.map(|part| part.name.clone()).collect();
    names.limit_to(MAX_DECLARED_NAMES_KEPT_PER_EDIT);
    names
}

/// Compares two versions of a whole file, each given as a JSON string without its quotes. Only the part that differs is
/// searched. If that part is too long to be searched as a whole, no names are returned.
pub fn compare_file_versions(old: &[u8], new: &[u8], decode: DecodeJson) -> ChangedNames {
    let (old, new) = text::differing_parts(old, new);
    if old.len().max(new.len()) > MAX_EDIT_BYTES_SEARCHED {
        return ChangedNames::default();
    }
    let mut names = compare_declarations(
        SourceText::from_json_string(old, decode),
        SourceText::from_json_string(new, decode),
    );
    // The part begins at the left margin, so it does not begin inside a declaration.
    names.begins_inside = false;
    names
}

impl ChangedNames {
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }

    /// Adds the declaration that contains the beginning of the edit.
    pub fn set_enclosing_declaration(&mut self, name: Option<String>) {
        if let Some(name) = name.filter(|name| self.begins_inside && name.len() <= MAX_NAME_BYTES) {
            self.changed.retain(|known| *known != name);
            self.changed.insert(0, name);
            self.limit_to(MAX_DECLARED_NAMES_KEPT_PER_EDIT);
        }
    }

    /// Returns the names in a file that was written as a whole. If the file already existed, returns no names, because
    /// it is unknown which of them the write changed.
    #[must_use]
    pub fn keep_only_if_file_is_new(self, is_new: bool) -> ChangedNames {
        if is_new { self } else { ChangedNames::default() }
    }

    /// Adds a later edit to the same file. A name that was added and then changed is still new.
    pub fn add_later_edit(&mut self, later: &ChangedNames) {
        for name in &later.removed {
            let was_new = remove_name(&mut self.added, name);
            remove_name(&mut self.changed, name);
            if !was_new {
                move_or_push_name_to_end(&mut self.removed, name);
            }
        }
        for name in &later.added {
            let is_back = remove_name(&mut self.removed, name);
            move_or_push_name_to_end(if is_back { &mut self.changed } else { &mut self.added }, name);
        }
        for name in &later.changed {
            move_or_push_name_to_end(
                if self.added.contains(name) { &mut self.added } else { &mut self.changed },
                name,
            );
        }
        self.more += later.more;
        self.begins_inside |= later.begins_inside;
    }

    /// Applies a function to every name. A name for which it returns `None` is left out.
    #[must_use]
    pub fn filter_map(&self, change: impl Fn(&str) -> Option<String>) -> ChangedNames {
        let each = |names: &[String]| names.iter().filter_map(|name| change(name)).collect();
        ChangedNames {
            added: each(&self.added),
            changed: each(&self.changed),
            removed: each(&self.removed),
            ..*self
        }
    }

    /// Describes the newest names, for example as `added a, b; changed c; removed d`. At most `most` of each kind
    /// are listed. `name` formats each name.
    pub fn describe(&self, most: usize, name: impl Fn(&str) -> String) -> String {
        let part = |verb: &str, names: &[String], more: usize| {
            let left = names.len().saturating_sub(most);
            let named: Vec<String> = names[left..].iter().rev().map(|one| name(one)).collect();
            let more = if left + more > 0 { format!(" +{} more", left + more) } else { String::new() };
            (!names.is_empty()).then(|| format!("{verb} {}{more}", named.join(", ")))
        };
        let is_new = !self.added.is_empty();
        let parts = [
            part("added", &self.added, if is_new { self.more } else { 0 }),
            part("changed", &self.changed, if is_new { 0 } else { self.more }),
            part("removed", &self.removed, 0),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    /// Leaves out names that are too long, and then the last names if more than `most` remain.
    fn limit_to(&mut self, most: usize) {
        let mut room = most;
        for names in [&mut self.added, &mut self.changed, &mut self.removed] {
            names.retain(|name| name.len() <= MAX_NAME_BYTES);
            self.more += names.len().saturating_sub(room);
            names.truncate(room);
            room -= names.len();
        }
    }
}

fn remove_name(names: &mut Vec<String>, name: &str) -> bool {
    let before = names.len();
    names.retain(|known| known != name);
    names.len() < before
}

fn move_or_push_name_to_end(names: &mut Vec<String>, name: &str) {
    remove_name(names, name);
    names.push(name.to_owned());
}

/// Returns the name of the function, the type or the top-level constant that a line declares.
pub fn declared_name(line: &str) -> Option<&str> {
    let bare = line.trim_start();
    let indentation = line.len() - bare.len();
    let bare = bare.trim_end();
    let is_word = bare.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !is_word || indentation > MAX_DECLARATION_INDENT_BYTES {
        return None;
    }
    let rest = source::without_modifiers(bare);
    if let Some((word, after)) = source::split_declaration(rest) {
        return named_after_word(word, after);
    }
    let is_constant = || {
        let modifiers = &bare[..bare.len() - rest.len()];
        ["const ", "static "].iter().any(|word| modifiers.contains(word))
    };
    let constant =
        (indentation == 0 && rest.contains('=')).then(|| constant_name(rest, is_constant())).flatten();
    constant.or_else(|| function_without_keyword(rest))
}

/// Returns the name after a keyword such as `fn` or `class`.
fn named_after_word<'t>(word: &str, after: &'t str) -> Option<&'t str> {
    if GROUPING_WORDS.contains(&word) {
        return None;
    }
    let after = match after.strip_prefix('(') {
        // Skip the receiver of a Go method.
        Some(receiver) if word == "func" => receiver.split_once(')')?.1.trim_start(),
        _ => after.trim_start_matches("* ").trim_start_matches("self."),
    };
    let name = leading_name(after)?;
    let rest = after[name.len()..].trim_start();
    let ends_as_declaration = ["{", ":", "(", ",", " do", "="].iter().any(|end| rest.ends_with(end));
    let begins_as_declaration = rest.is_empty()
        || rest.starts_with(['(', '<', '{', ':', '=', ';', '[', '?', '!'])
        || ["extends ", "implements ", "where "].iter().any(|word| rest.starts_with(word));
    // A type alias has no other word after its name. In prose, other words follow, as in "type of the value".
    let is_alias = word == "type" && !rest.contains(' ');
    (begins_as_declaration || ends_as_declaration || is_alias).then_some(name)
}

/// Returns the name of a constant: `LIMIT = 3`, or `limit = 3` if a keyword marks it as a constant.
fn constant_name(rest: &str, has_keyword: bool) -> Option<&str> {
    let name = leading_name(rest)?;
    let after = rest[name.len()..].trim_start();
    let is_assigned = after.starts_with('=') && !after.starts_with("==") && !after.starts_with("=>");
    let is_upper =
        |name: &str| !name.contains(|c: char| c.is_lowercase()) && name.len() >= MIN_CONSTANT_BYTES;
    // In a shell script, an assignment to a variable has no blank before its `=`.
    let has_blank = after.len() < rest.len() - name.len();
    let is_constant = match has_keyword {
        true => is_assigned || after.starts_with(':'),
        false => is_assigned && has_blank && is_upper(name) && name.contains(|c: char| c.is_alphabetic()),
    };
    is_constant.then_some(name)
}

/// Returns the name of a function in a language without a keyword for functions: `int total(int a) {`.
fn function_without_keyword(rest: &str) -> Option<&str> {
    let (head, after) = rest.split_once('(').filter(|_| rest.ends_with('{'))?;
    let balance = |open: char, close: char| {
        after.chars().fold(1_i32, |depth, c| depth + i32::from(c == open) - i32::from(c == close))
    };
    let start = head.rfind(|c: char| !is_name_part(c)).map_or(0, |at| at + 1);
    let name = head.get(start..).filter(|name| !name.is_empty())?;
    let first = leading_name(head).unwrap_or_default();
    let is_statement = STATEMENT_WORDS.contains(&first) || STATEMENT_WORDS.contains(&name);
    // In Rust, `Err(e) => {` is an arm of a match.
    let is_arm = after.rsplit(')').next().is_some_and(|rest| rest.contains("=>"));
    let is_typed = head[..start].is_empty() || head[..start].ends_with([' ', '*', '&', ':', '~']);
    (balance('(', ')') == 0 && !is_statement && !is_arm && is_typed && !head.contains(['=', '"', '\'', '.']))
        .then_some(name)
}

fn leading_name(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !is_name_part(c)).unwrap_or(text.len());
    let name = &text[..end];
    (!name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit())).then_some(name)
}

fn is_name_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// Returns the path, the old text and the new text of each file in a patch. The patch has the format `*** Update File:
/// path`.
pub fn old_and_new_texts_in_patch(patch: &str) -> Vec<(&str, String, String)> {
    let mut files: Vec<(&str, String, String)> = Vec::new();
    for line in crate::text::cut_to_bytes(patch, 4 * MAX_EDIT_BYTES_SEARCHED).lines() {
        if let Some(mark) = line.strip_prefix("*** ") {
            if let Some((_, path)) = mark.split_once(" File: ") {
                files.push((path.trim(), String::new(), String::new()));
            }
            continue;
        }
        let Some((_, old, new)) = files.last_mut() else { continue };
        let (mark, text) = line.split_at_checked(1).unwrap_or(("", ""));
        // `@@ fn parse() {` names the declaration that contains the change.
        let text: Cow<str> = if mark == "@" { line.trim_matches('@').trim().into() } else { text.into() };
        for (marks, side) in [([" ", "-", "@"], old), ([" ", "+", "@"], new)] {
            if marks.contains(&mark) {
                side.push_str(&text);
                side.push('\n');
            }
        }
    }
    files
}

#[cfg(test)]
#[path = "declared_tests.rs"]
mod tests;
