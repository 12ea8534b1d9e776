//! The rules that can be checked in the text of one file.
//!
//! The forbidden words are split in half in this file, so that it does not violate its own rules.

use std::path::Path;

use super::TidyFinding;

const MAX_SOURCE_FILE_LINES: usize = 700;

/// Markers of unfinished code, which must not be merged.
const FORBIDDEN_LEFTOVERS: &[&str] =
    &[concat!("to", "do!"), concat!("unimple", "mented!"), concat!("FIX", "ME"), concat!("XX", "X")];

/// Folders that exist only on one developer's machine.
const MACHINE_PATHS: &[&str] = &[concat!("/wo", "rk/"), concat!("/ro", "ot/")];

/// A rule that code below `folder` must not contain `word`, for the reason `why`. Tests may contain it.
struct ForbiddenWord {
    folder: &'static str,
    word: &'static str,
    why: &'static str,
    /// The one file in the folder that may contain the word.
    allowed_file: &'static str,
}

const fn forbidden_word(folder: &'static str, word: &'static str, why: &'static str) -> ForbiddenWord {
    ForbiddenWord { folder, word, why, allowed_file: "" }
}

const PURE_CRATES_REASON: &str = "model and harness are pure: bytes in, values out";
const PRINTING_REASON: &str = "only thru prints for people";
const REDACTION_REASON: &str =
    "captured text is redacted whole, then cut or picked from: use model::redact::Redacted outside harness";

/// The reason for several of the rules below. The standard library's functions for reading can block on a pipe, and
/// they have no size limit.
const READER_REASON: &str = "files and streams are read by crates/store/src/read.rs, which bounds every read";

const fn forbidden_reader(folder: &'static str, word: &'static str) -> ForbiddenWord {
    ForbiddenWord { folder, word, why: READER_REASON, allowed_file: "crates/store/src/read.rs" }
}

const FORBIDDEN_WORDS: &[ForbiddenWord] = &[
    forbidden_word("crates/model", "std::fs", PURE_CRATES_REASON),
    forbidden_word("crates/model", "std::env", PURE_CRATES_REASON),
    forbidden_word("crates/model", "std::process", PURE_CRATES_REASON),
    forbidden_word("crates/model", "std::net", PURE_CRATES_REASON),
    forbidden_word("crates/model", "std::thread", PURE_CRATES_REASON),
    forbidden_word("crates/model", "SystemTime", PURE_CRATES_REASON),
    forbidden_word("crates/model", "Instant", PURE_CRATES_REASON),
    forbidden_word("crates/harness", "std::fs", PURE_CRATES_REASON),
    forbidden_word("crates/harness", "std::env", PURE_CRATES_REASON),
    forbidden_word("crates/harness", "std::process", PURE_CRATES_REASON),
    forbidden_word("crates/harness", "std::net", PURE_CRATES_REASON),
    forbidden_word("crates/harness", "std::thread", PURE_CRATES_REASON),
    forbidden_word("crates/harness", "SystemTime", PURE_CRATES_REASON),
    forbidden_word("crates/harness", "Instant", PURE_CRATES_REASON),
    forbidden_word("crates/harness", "store::", "harness knows no layout of ours"),
    forbidden_word("crates/harness", "error_lines", REDACTION_REASON),
    forbidden_word("crates/harness", "text::cut", REDACTION_REASON),
    forbidden_word("crates/store", "harness::", "store knows no harness"),
    forbidden_word("crates/model", "clap", PRINTING_REASON),
    forbidden_word("crates/harness", "clap", PRINTING_REASON),
    forbidden_word("crates/store", "clap", PRINTING_REASON),
    forbidden_word("crates/ops", "clap", PRINTING_REASON),
    forbidden_word("crates/model", "println!", PRINTING_REASON),
    forbidden_word("crates/harness", "println!", PRINTING_REASON),
    forbidden_word("crates/store", "println!", PRINTING_REASON),
    forbidden_word("crates/ops", "println!", PRINTING_REASON),
    forbidden_word("crates/model", "eprintln!", PRINTING_REASON),
    forbidden_word("crates/harness", "eprintln!", PRINTING_REASON),
    forbidden_word("crates/store", "eprintln!", PRINTING_REASON),
    forbidden_word("crates/ops", "eprintln!", PRINTING_REASON),
    forbidden_reader("crates/store", "fs::read"),
    forbidden_reader("crates/store", "File::open"),
    forbidden_reader("crates/store", "read_to_string"),
    forbidden_reader("crates/store", "read_to_end"),
    forbidden_reader("crates/ops", "fs::read"),
    forbidden_reader("crates/ops", "File::open"),
    forbidden_reader("crates/ops", "read_to_string"),
    forbidden_reader("crates/ops", "read_to_end"),
    forbidden_reader("crates/thru", "fs::read"),
    forbidden_reader("crates/thru", "File::open"),
    forbidden_reader("crates/thru", "read_to_string"),
    forbidden_reader("crates/thru", "read_to_end"),
];

/// Ways to bypass the printer, which removes control characters.
const STREAM_HANDLES: &[&str] = &[
    "stdout()",
    "stderr()",
    "io::stdout",
    "io::stderr",
    "anstream",
    "/dev/tty",
    "/dev/stdout",
    "/dev/stderr",
];

/// The files that may use [`STREAM_HANDLES`]: the printer itself, and the entry point, which makes sure that the
/// streams are open.
const FILES_ALLOWED_STREAM_HANDLES: &[&str] =
    &["crates/thru/src/output/printer.rs", "crates/thru/src/entry.rs"];

/// The file that may use `anstream`, because its function `apply_color_setting` configures the colours.
const FILE_ALLOWED_TO_USE_ANSTREAM: &str = "crates/thru/src/output.rs";

fn find_stream_handle(path: &Path, code: &str) -> Option<&'static str> {
    let excused = |word: &str| word == "anstream" && path == Path::new(FILE_ALLOWED_TO_USE_ANSTREAM);
    if !path.starts_with("crates") || FILES_ALLOWED_STREAM_HANDLES.iter().any(|may| path == Path::new(may)) {
        return None;
    }
    STREAM_HANDLES.iter().copied().find(|word| contains_word(code, word) && !excused(word))
}
/// Names of harnesses, their folders and their titles. Code outside `crates/harness` must use the table of harnesses
/// instead.
const HARNESS_WORDS: &[&str] = &[
    "claude-code",
    "Claude Code",
    ".claude",
    "droid",
    "Droid",
    ".factory",
    "opencode",
    "OpenCode",
    "codex",
    "Codex",
    "gemini",
    "Gemini",
    "copilot",
    "Copilot",
    "qwen",
    "Qwen",
];

/// Files that are allowed to contain names of harnesses, each with the reason.
const MAY_NAME_HARNESSES: &[(&str, &str)] = &[
    (
        "crates/model/src/packet.rs",
        "the sources that the packet format allows; a test compares them with the table",
    ),
    ("crates/model/src/redact", "names of products in the names of secrets"),
    ("crates/model/src/window.rs", "names of models"),
    ("crates/ops/src/setup/factory.rs", "reads another tool's files"),
    ("crates/ops/src/features/loops/ralph.rs", "reads another tool's files"),
    ("crates/thru/src/commands/import", "reads another tool's files"),
];

/// Returns whether the argument of a redaction call cuts the text. This is forbidden, because redaction cannot
/// recognise a secret if part of it is missing.
fn cuts_before_redaction(line: &str) -> bool {
    let Some((_, argument)) = line.split_once(concat!("redact", "(")) else { return false };
    ["cut(", "inline(", "one_line(", "truncate(", "take("].iter().any(|cut| argument.contains(cut))
}

pub fn check_source(path: &Path, text: &str) -> Vec<TidyFinding> {
    let rust = path.extension().is_some_and(|extension| extension == "rs");
    let ours = path.starts_with("crates") || path.starts_with("xtask");
    let mut findings = Vec::new();
    if rust && ours && text.lines().count() > MAX_SOURCE_FILE_LINES {
        let lines = text.lines().count();
        findings.push(TidyFinding::new(
            path.display().to_string(),
            format!("{lines} lines; split it before {MAX_SOURCE_FILE_LINES}"),
        ));
    }
    let names_harnesses = may_name_harnesses(path);
    let mut in_tests = is_test_file(path);
    let mut previous = "";
    for (number, line) in (1..).zip(text.lines()) {
        let place = || format!("{}:{number}", path.display());
        for word in MACHINE_PATHS {
            if contains_path(line, word) {
                findings.push(TidyFinding::new(place(), format!("a path of one machine: {word}")));
            }
        }
        if !rust {
            continue;
        }
        for word in FORBIDDEN_LEFTOVERS {
            if contains_word(line, word) {
                findings.push(TidyFinding::new(place(), format!("{word} must not land")));
            }
        }
        let code = code_without_comment(line);
        if code.trim_start().starts_with("#[ignore]") {
            findings.push(TidyFinding::new(place(), "an ignored test must give a reason: #[ignore = \"…\"]"));
        }
        // A test module at the end of a file begins here. It may contain the forbidden words.
        in_tests |=
            previous.trim() == "#[cfg(test)]" && code.trim_start().starts_with("mod ") && code.contains('{');
        if !in_tests {
            if let Some(word) = find_stream_handle(path, code) {
                let why = "only crates/thru/src/output/printer.rs writes to stdout and stderr";
                findings.push(TidyFinding::new(place(), format!("{word}: {why}")));
            }
            for word in HARNESS_WORDS.iter().filter(|word| !names_harnesses && contains_word(code, word)) {
                let text =
                    format!("{word}: only crates/harness may name a harness; use the table of harnesses");
                findings.push(TidyFinding::new(place(), text));
            }
            if cuts_before_redaction(code) {
                findings.push(TidyFinding::new(place(), REDACTION_REASON));
            }
            let stands =
                |wall: &&ForbiddenWord| path.starts_with(wall.folder) && path != Path::new(wall.allowed_file);
            for wall in FORBIDDEN_WORDS.iter().filter(stands) {
                if contains_word(code, wall.word) {
                    findings.push(TidyFinding::new(
                        place(),
                        format!("{} in {}: {}", wall.word, wall.folder, wall.why),
                    ));
                }
            }
        }
        previous = line;
    }
    findings
}

/// Returns whether a file may name harnesses. `xtask` and tests may, because they run harnesses by name.
fn may_name_harnesses(path: &Path) -> bool {
    let allowed = MAY_NAME_HARNESSES.iter().any(|(file, _)| path.starts_with(file));
    allowed || !path.starts_with("crates") || path.starts_with("crates/harness")
}

fn is_test_file(path: &Path) -> bool {
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    name.ends_with("_tests") || name == "tests" || path.components().any(|part| part.as_os_str() == "tests")
}

/// Returns the line without its `//` comment. The `//` of a URL in a string is kept, because it follows a colon.
fn code_without_comment(line: &str) -> &str {
    line.match_indices("//").find(|&(at, _)| !line[..at].ends_with(':')).map_or(line, |(at, _)| &line[..at])
}

fn contains_word(line: &str, word: &str) -> bool {
    let part_of_name = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let glued_after = word.ends_with(part_of_name) && after.is_some_and(part_of_name);
        !before.is_some_and(part_of_name) && !glued_after
    })
}

/// Returns whether the line contains the absolute path. If the same letters are part of a longer path, they are
/// ignored.
fn contains_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "_-.~/}$*".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding_texts(path: &str, text: &str) -> Vec<String> {
        check_source(Path::new(path), text)
            .into_iter()
            .map(|finding| format!("{}: {}", finding.place, finding.text))
            .collect()
    }

    #[test]
    fn harnesses_are_named_in_their_table_only() {
        let line = "let name = \"droid\";\n";
        assert_eq!(finding_texts("crates/ops/src/a.rs", line).len(), 1);
        assert_eq!(
            finding_texts("crates/ops/src/a.rs", "join(\".claude\") // as Claude Code does\n").len(),
            1
        );
        assert_eq!(finding_texts("crates/ops/src/a.rs", "let android = Codexes;\n"), [] as [&str; 0]);
        for path in [
            "crates/harness/src/droid/mod.rs",
            "crates/ops/src/setup/factory.rs",
            "crates/ops/src/a_tests.rs",
            "crates/thru/tests/it/a.rs",
            "xtask/src/a.rs",
        ] {
            assert_eq!(finding_texts(path, line), [] as [&str; 0], "{path}");
        }
    }

    #[test]
    fn walls_stand_in_code_but_not_in_comments_or_tests() {
        assert_eq!(finding_texts("crates/model/src/a.rs", "use std::fs;\n").len(), 1);
        assert!(finding_texts("crates/model/src/a.rs", "// std::fs is not used here\n").is_empty());
        assert!(
            finding_texts("crates/model/src/a.rs", "#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n")
                .is_empty()
        );
        assert!(finding_texts("crates/model/src/a_tests.rs", "use std::fs;\n").is_empty());
        assert!(finding_texts("crates/store/src/a.rs", "use std::fs;\n").is_empty());
        assert!(finding_texts("crates/model/src/a.rs", "struct InstantNoodles;\n").is_empty());
        assert_eq!(finding_texts("crates/ops/src/a.rs", "println!(\"{x}\");\n").len(), 1);
        assert!(finding_texts("crates/thru/src/a.rs", "println!(\"{x}\");\n").is_empty());
    }

    #[test]
    fn a_cut_before_redaction_is_named() {
        let cut = concat!("let x = redact", "(cut(text, 400), options);\n");
        assert_eq!(
            finding_texts("crates/ops/src/a.rs", cut),
            [format!("crates/ops/src/a.rs:1: {REDACTION_REASON}")]
        );
        let after = concat!("let x = inline(&redact", "(text, options), 400);\n");
        assert!(finding_texts("crates/ops/src/a.rs", after).is_empty());
        assert!(!finding_texts("crates/harness/src/a.rs", "let x = error_lines(&text);\n").is_empty());
    }

    #[test]
    fn files_are_read_by_one_module() {
        for text in [
            "std::fs::read(path)",
            "fs::read_to_string(path)",
            "File::open(path)",
            "pipe.read_to_end(&mut bytes)",
        ] {
            assert_eq!(finding_texts("crates/ops/src/a.rs", text).len(), 1, "{text}");
            assert_eq!(finding_texts("crates/thru/src/a.rs", text).len(), 1, "{text}");
            assert!(finding_texts("crates/store/src/read.rs", text).is_empty(), "{text}");
            assert!(finding_texts("crates/ops/src/a_tests.rs", text).is_empty(), "{text}");
        }
        assert!(finding_texts("crates/ops/src/a.rs", "std::fs::read_dir(folder)").is_empty());
    }

    #[test]
    fn leftovers_and_machine_paths_are_named_with_their_line() {
        let text = format!("a\n// {} later\n", concat!("FIX", "ME"));
        assert_eq!(
            finding_texts("xtask/src/a.rs", &text),
            [format!("xtask/src/a.rs:2: {} must not land", concat!("FIX", "ME"))]
        );
        let text = format!("see {}main\n", concat!("/wo", "rk/"));
        assert_eq!(finding_texts("README.md", &text).len(), 1);
        let text = format!("see src{}main\n", concat!("/wo", "rk/"));
        assert!(finding_texts("README.md", &text).is_empty());
        assert!(finding_texts("a.rs", "mktemp /tmp/a.XXXXXX\n").is_empty());
    }

    #[test]
    fn an_ignored_test_says_why() {
        assert_eq!(finding_texts("crates/thru/tests/a.rs", "#[ignore]\n").len(), 1);
        assert!(finding_texts("crates/thru/tests/a.rs", "#[ignore = \"needs node\"]\n").is_empty());
    }

    #[test]
    fn long_files_are_named() {
        assert_eq!(finding_texts("crates/model/src/a.rs", &"x\n".repeat(701)).len(), 1);
        assert!(finding_texts("crates/model/src/a.rs", &"x\n".repeat(700)).is_empty());
        assert!(finding_texts("fixtures/long.txt", &"x\n".repeat(701)).is_empty());
    }
}
