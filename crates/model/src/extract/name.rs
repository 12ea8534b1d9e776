//! Finds the name of a code block in the fence, in the line before it, or in the first line of the block.

/// Names of files that have no extension.
const FILE_NAMES_WITHOUT_EXTENSION: &[&str] = &[
    "makefile",
    "dockerfile",
    "containerfile",
    "justfile",
    "rakefile",
    "gemfile",
    "procfile",
    "license",
    "readme",
    "jenkinsfile",
    "vagrantfile",
    "caddyfile",
];

/// Languages of blocks that contain commands, output or diffs. Such a block is not the content of a source file.
const COMMAND_LANGUAGES: &[&str] = &[
    "bash",
    "sh",
    "shell",
    "zsh",
    "fish",
    "console",
    "terminal",
    "shell-session",
    "powershell",
    "cmd",
    "bat",
    "diff",
    "patch",
    "output",
    "log",
];

/// Groups of extensions that are used for the same language.
const EXTENSION_FAMILIES: &[&[&str]] = &[
    &["sh", "bash", "zsh", "fish", "shell", "command", "bats"],
    &["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"],
    &["c", "h", "cpp", "cc", "cxx", "hpp", "hh", "m", "mm"],
    &["yml", "yaml"],
    &["json", "jsonc", "json5"],
    &["md", "mdx", "markdown"],
    &["html", "htm", "vue", "svelte", "xml", "svg"],
    &["css", "scss", "less", "sass"],
    &["py", "pyi"],
    &["ps1", "psm1"],
    &["bat", "cmd"],
    &["diff", "patch"],
];

/// Labels that may come before a name.
const FILE_NAME_LABELS: &[&str] =
    &["file", "filename", "file name", "path", "filepath", "file path", "title", "name", "source"];

/// Languages whose extension differs from their name.
const EXTENSIONS_BY_LANGUAGE: &[(&str, &str)] = &[
    ("rust", "rs"),
    ("python", "py"),
    ("python3", "py"),
    ("javascript", "js"),
    ("typescript", "ts"),
    ("bash", "sh"),
    ("shell", "sh"),
    ("zsh", "sh"),
    ("console", "txt"),
    ("text", "txt"),
    ("plaintext", "txt"),
    ("ruby", "rb"),
    ("golang", "go"),
    ("csharp", "cs"),
    ("c#", "cs"),
    ("c++", "cpp"),
    ("markdown", "md"),
    ("yaml", "yml"),
    ("kotlin", "kt"),
    ("haskell", "hs"),
    ("perl", "pl"),
    ("elixir", "ex"),
    ("objective-c", "m"),
    ("powershell", "ps1"),
    ("dockerfile", "dockerfile"),
    ("makefile", "mk"),
    ("", "txt"),
];

/// Returns the language of a fence. It is the first word, unless that is a file name.
pub fn fence_language(info: &str) -> String {
    let word = info
        .trim_start_matches(['{', '.'])
        .split([' ', ':', ',', '{', '}', '=', '\t'])
        .next()
        .unwrap_or_default();
    let is_word = !word.is_empty()
        && word.len() <= 20
        && word.chars().all(|c| c.is_alphanumeric() || "+#-_".contains(c));
    if is_word { word.to_lowercase() } else { String::new() }
}

pub fn extension_of_language(language: &str) -> &str {
    let known = EXTENSIONS_BY_LANGUAGE.iter().find(|(name, _)| *name == language).map(|(_, ending)| *ending);
    let is_plain = language.len() <= 10 && language.bytes().all(|b| b.is_ascii_alphanumeric());
    known.unwrap_or(if is_plain { language } else { "txt" })
}

/// Finds a name in the fence, as in ```` ```rust src/a.rs ````, ```` ```rust:src/a.rs ````, ```` ```rust
/// title="src/a.rs" ```` and ```` ```src/a.rs ````.
pub fn name_in_fence_info(info: &str) -> Option<String> {
    let info = info.trim().trim_start_matches('{').trim_end_matches('}').trim();
    for (at, _) in info.match_indices(['=', ':']) {
        let label = info[..at].trim_end().rsplit([' ', ',', '{', '\t']).next().unwrap_or_default();
        let label = label.to_lowercase();
        let label = label.trim_matches(['"', '\'']);
        let name = quoted_or_bare_value(info[at + 1..].trim_start());
        if FILE_NAME_LABELS.contains(&label)
            && name.as_deref().is_some_and(|name| is_file_label(label) || has_extension(name))
        {
            return name;
        }
    }
    if let Some((_, comment)) =
        info.split_once("//").or_else(|| info.split_once('#')).filter(|(_, rest)| rest.starts_with(' '))
    {
        return file_name_if_plausible(comment);
    }
    let first = info.split_whitespace().next().unwrap_or_default();
    // In `rust:src/a.rs` the name follows the colon, but `C:\a.rs` is itself a name.
    let after_colon = first
        .split_once(':')
        .filter(|(language, _)| language.len() > 1)
        .and_then(|(_, name)| file_name_if_plausible(name));
    after_colon.or_else(|| {
        info.split_whitespace()
            .find_map(|word| file_name_if_plausible(word.trim_matches(['(', ')', '[', ']', ','])))
    })
}

/// Returns the value in quotation marks at the start of `text`, or the part of `text` up to the next blank.
fn quoted_or_bare_value(text: &str) -> Option<String> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''));
    let name = match quote {
        Some(quote) => text[1..].split(quote).next()?,
        None => text.split([' ', ',', '}']).next()?,
    };
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

/// Finds a name in a comment, as in `// src/a.rs`, `# file: a.py`, `<!-- index.html -->`, `/* a.css */` and `-- a.sql`.
pub fn name_in_comment(line: &str, language: &str) -> Option<String> {
    let line = line.trim();
    // In markdown, this line is a heading and not a comment.
    if line.starts_with('#') && extension_of_language(language) == "md" {
        return None;
    }
    let marks = [
        "//!", "///", "//", "#", "<!--", "/**", "/*", "--", ";;", ";", "%", "{{/*", "(*", "\"\"\"", "'''",
        "REM ",
    ];
    let text = marks.iter().find_map(|mark| line.strip_prefix(mark))?;
    let ends = ["-->", "*/}}", "*/", "*)", "\"\"\"", "'''"];
    let text = ends.iter().find_map(|end| text.trim_end().strip_suffix(end)).unwrap_or(text);
    name_after_label(text.trim().trim_matches(['=', '-', '*', ' ']))
}

/// A name in the line before a block.
pub struct FoundFileName {
    pub name: String,
    /// Whether the line contains other words besides the name.
    pub is_only_mentioned: bool,
}

/// Finds a name in the line before a block, as in `**src/a.rs**`, `### src/a.rs`, `File: src/a.rs`, ``Now
/// `src/a.rs`:``, `1. src/a.rs` and `Create src/a.rs:`. A block of commands does not get the name of a source file. A
/// name in a sentence is used only if the language fits.
pub fn name_in_line_before(line: &str, language: &str) -> Option<FoundFileName> {
    let name = any_name_in_line_before(line)?;
    let rest = line.replacen(&name, "", 1).to_lowercase();
    let mut words = rest.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_only_mentioned =
        words.any(|word| !LABEL_WORDS.contains(&word) && !word.bytes().all(|b| b.is_ascii_digit()));
    let fits = match is_only_mentioned {
        true => extension_fits_language(language, &name),
        false => {
            // A dot file such as `.envrc` has no extension.
            let is_dot_file = name.rsplit('/').next().is_some_and(|name| name.rfind('.') == Some(0));
            !COMMAND_LANGUAGES.contains(&language)
                || !has_extension(&name)
                || is_dot_file
                || extension_fits_language(language, &name)
        }
    };
    fits.then_some(FoundFileName { name, is_only_mentioned })
}

/// Words next to a name that only label it.
const LABEL_WORDS: &[&str] =
    &["file", "filename", "name", "path", "filepath", "title", "new", "updated", "modified", "full"];

/// Returns whether the extension of a name belongs to the language.
fn extension_fits_language(language: &str, name: &str) -> bool {
    let of_name = name
        .rsplit('/')
        .next()
        .and_then(|name| name.rsplit_once('.'))
        .map(|(_, ending)| ending.to_lowercase());
    let (of_name, of_language) = (of_name.unwrap_or_default(), extension_of_language(language));
    !language.is_empty()
        && !of_name.is_empty()
        && (of_name == of_language
            || of_name == language
            || EXTENSION_FAMILIES
                .iter()
                .any(|family| family.contains(&of_name.as_str()) && family.contains(&of_language)))
}

/// Finds a name anywhere in the line before a block.
fn any_name_in_line_before(line: &str) -> Option<String> {
    let line = line.trim().trim_start_matches(['#', '>', '-', '*', '+', ' ']);
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let line = if number.len() < line.len() { number.strip_prefix(['.', ')']).unwrap_or(line) } else { line };
    if let Some(name) = name_in_tag(line) {
        return Some(name);
    }
    let mut quoted = line.split('`').skip(1).step_by(2).filter_map(file_name_if_plausible);
    // If the line ends with quoted text, the last quoted path is used, and otherwise the first. In ``In `a.rs`, below
    // `b()`:`` only `a.rs` is a path.
    if let Some(first) = quoted.next() {
        return Some(if line.trim_end_matches([':', '*', ' ', '.']).ends_with('`') {
            quoted.last().unwrap_or(first)
        } else {
            first
        });
    }
    let bare = line.trim_end_matches([':', ' ']).trim_matches(['*', '_', ' ']).trim_end_matches(':');
    let bare = bare.split_once(" (").map_or(bare, |(name, _)| name).trim_matches(['*', '_']);
    name_after_label(bare).or_else(|| {
        // The name may be bold. It may also be the last word before a colon.
        let bold = line.split("**").skip(1).step_by(2).find_map(name_after_label);
        bold.or_else(|| {
            line.trim_end().ends_with(':').then(|| file_name_if_plausible(bare.rsplit(' ').next()?))?
        })
    })
}

/// Finds the name in a tag such as `<file path="src/a.rs">`.
fn name_in_tag(line: &str) -> Option<String> {
    let tag = line.strip_prefix('<')?.split_once('>')?.0;
    ["path=", "name=", "file=", "src="]
        .iter()
        .find_map(|label| quoted_or_bare_value(tag.split_once(label)?.1))
}

/// Returns a name that is alone in the text or follows a label.
fn name_after_label(text: &str) -> Option<String> {
    let after = text.split_once([':', '=']).and_then(|(label, name)| {
        let label = label.trim().trim_matches(['*', '_', '@']).to_lowercase();
        let name = FILE_NAME_LABELS
            .contains(&label.as_str())
            .then(|| quoted_or_bare_value(name.trim().trim_matches(['*', '`', ' '])))?;
        // `name: ci` and `Source: https://example.com/a.html` do not name a file.
        name.filter(|name| {
            !name.contains("://") && (is_file_label(&label) || file_name_if_plausible(name).is_some())
        })
    });
    after.or_else(|| file_name_if_plausible(text))
}

/// Returns whether only a file name can follow this label.
fn is_file_label(label: &str) -> bool {
    label.starts_with("file") || label == "path"
}

/// Returns whether a name has an extension.
fn has_extension(name: &str) -> bool {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending).unwrap_or_default();
    !ending.is_empty()
        && ending.len() <= 12
        && ending.starts_with(|c: char| c.is_ascii_alphabetic())
        && ending.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
}

/// Returns `text` if it looks like a file name: one word with an extension, or a well-known name.
fn file_name_if_plausible(text: &str) -> Option<String> {
    let text = text.trim().trim_matches(['`', '"', '\'', '*']).trim_end_matches([':', ',']);
    let name = text.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_word = !text.is_empty()
        && text.len() <= 500
        && !text.contains([' ', '\t', '(', ')', '<', '>', '|', ';', '{', '}', '=', '"']);
    let ending = name.rsplit_once('.').map(|(_, ending)| ending).unwrap_or_default();
    let is_known = FILE_NAMES_WITHOUT_EXTENSION.contains(&name.to_lowercase().as_str());
    // `v1.x`, `e.g` and `https://…` are not file names.
    let is_other = text.contains("://")
        || name.len() <= 3 && ending.len() <= 1 && !text.contains('/') && !SHORT_EXTENSIONS.contains(&ending);
    (is_word && (has_extension(name) || is_known) && !is_other).then(|| text.to_owned())
}

/// One-letter extensions of source files.
const SHORT_EXTENSIONS: &[&str] = &["c", "h", "d", "r", "m", "s", "v"];
