//! What can be told from one file's text.
//!
//! Words looked for are spelt in two halves here, so that this file does not find itself.

use std::path::Path;

use super::Finding;

const LONGEST_FILE: usize = 700;

/// Left-overs that must not land.
const LEFTOVERS: &[&str] =
    &[concat!("to", "do!"), concat!("unimple", "mented!"), concat!("FIX", "ME"), concat!("XX", "X")];

/// Folders of the machine somebody happened to work on.
const MACHINE_PATHS: &[&str] = &[concat!("/wo", "rk/"), concat!("/ro", "ot/")];

/// A wall: files below `folder` do not say `word`, because `why`. Tests may.
struct Wall {
    folder: &'static str,
    word: &'static str,
    why: &'static str,
}

const PURE: &str = "model and harness are pure: bytes in, values out";
const FACE: &str = "only thru talks to a person";
const WHOLE: &str =
    "captured text is redacted whole, then cut or picked from: use model::redact::Redacted outside harness";

const WALLS: &[Wall] = &[
    Wall { folder: "crates/model", word: "std::fs", why: PURE },
    Wall { folder: "crates/model", word: "std::env", why: PURE },
    Wall { folder: "crates/model", word: "std::process", why: PURE },
    Wall { folder: "crates/model", word: "std::net", why: PURE },
    Wall { folder: "crates/model", word: "std::thread", why: PURE },
    Wall { folder: "crates/model", word: "SystemTime", why: PURE },
    Wall { folder: "crates/model", word: "Instant", why: PURE },
    Wall { folder: "crates/harness", word: "std::fs", why: PURE },
    Wall { folder: "crates/harness", word: "std::env", why: PURE },
    Wall { folder: "crates/harness", word: "std::process", why: PURE },
    Wall { folder: "crates/harness", word: "std::net", why: PURE },
    Wall { folder: "crates/harness", word: "std::thread", why: PURE },
    Wall { folder: "crates/harness", word: "SystemTime", why: PURE },
    Wall { folder: "crates/harness", word: "Instant", why: PURE },
    Wall { folder: "crates/harness", word: "store::", why: "harness knows no layout of ours" },
    Wall { folder: "crates/harness", word: "error_lines", why: WHOLE },
    Wall { folder: "crates/harness", word: "text::cut", why: WHOLE },
    Wall { folder: "crates/store", word: "harness::", why: "store knows no harness" },
    Wall { folder: "crates/model", word: "clap", why: FACE },
    Wall { folder: "crates/harness", word: "clap", why: FACE },
    Wall { folder: "crates/store", word: "clap", why: FACE },
    Wall { folder: "crates/ops", word: "clap", why: FACE },
    Wall { folder: "crates/model", word: "println!", why: FACE },
    Wall { folder: "crates/harness", word: "println!", why: FACE },
    Wall { folder: "crates/store", word: "println!", why: FACE },
    Wall { folder: "crates/ops", word: "println!", why: FACE },
    Wall { folder: "crates/model", word: "eprintln!", why: FACE },
    Wall { folder: "crates/harness", word: "eprintln!", why: FACE },
    Wall { folder: "crates/store", word: "eprintln!", why: FACE },
    Wall { folder: "crates/ops", word: "eprintln!", why: FACE },
];

/// A cut inside the call that redacts: half a secret is not recognised.
fn cuts_before_redaction(line: &str) -> bool {
    let Some((_, argument)) = line.split_once(concat!("redact", "(")) else { return false };
    ["cut(", "inline(", "one_line(", "truncate(", "take("].iter().any(|cut| argument.contains(cut))
}

pub fn check(path: &Path, text: &str) -> Vec<Finding> {
    let rust = path.extension().is_some_and(|extension| extension == "rs");
    let ours = path.starts_with("crates") || path.starts_with("xtask");
    let mut findings = Vec::new();
    if rust && ours && text.lines().count() > LONGEST_FILE {
        let lines = text.lines().count();
        findings.push(Finding::new(
            path.display().to_string(),
            format!("{lines} lines; split it before {LONGEST_FILE}"),
        ));
    }
    let mut in_tests = is_test_file(path);
    let mut previous = "";
    for (number, line) in (1..).zip(text.lines()) {
        let place = || format!("{}:{number}", path.display());
        for word in MACHINE_PATHS {
            if holds_path(line, word) {
                findings.push(Finding::new(place(), format!("a path of one machine: {word}")));
            }
        }
        if !rust {
            continue;
        }
        for word in LEFTOVERS {
            if holds_word(line, word) {
                findings.push(Finding::new(place(), format!("{word} must not land")));
            }
        }
        let code = code_of(line);
        if code.trim_start().starts_with("#[ignore]") {
            findings.push(Finding::new(place(), "an ignored test says why: #[ignore = \"…\"]"));
        }
        // A test module at the end of a file: from here on the walls do not stand.
        in_tests |=
            previous.trim() == "#[cfg(test)]" && code.trim_start().starts_with("mod ") && code.contains('{');
        if !in_tests {
            if cuts_before_redaction(code) {
                findings.push(Finding::new(place(), WHOLE));
            }
            for wall in WALLS.iter().filter(|wall| path.starts_with(wall.folder)) {
                if holds_word(code, wall.word) {
                    findings.push(Finding::new(
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

fn is_test_file(path: &Path) -> bool {
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    name.ends_with("_tests") || name == "tests" || path.components().any(|part| part.as_os_str() == "tests")
}

/// The line without its `//` comment. A `//` inside a string (an address) is kept: it follows a colon.
fn code_of(line: &str) -> &str {
    line.match_indices("//").find(|&(at, _)| !line[..at].ends_with(':')).map_or(line, |(at, _)| &line[..at])
}

fn holds_word(line: &str, word: &str) -> bool {
    let part_of_name = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let glued_after = word.ends_with(part_of_name) && after.is_some_and(part_of_name);
        !before.is_some_and(part_of_name) && !glued_after
    })
}

/// An absolute path, not the same letters in the middle of a longer one.
fn holds_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "_-.~/}$*".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(path: &str, text: &str) -> Vec<String> {
        check(Path::new(path), text)
            .into_iter()
            .map(|finding| format!("{}: {}", finding.place, finding.text))
            .collect()
    }

    #[test]
    fn walls_stand_in_code_but_not_in_comments_or_tests() {
        assert_eq!(texts("crates/model/src/a.rs", "use std::fs;\n").len(), 1);
        assert!(texts("crates/model/src/a.rs", "// std::fs is not used here\n").is_empty());
        assert!(
            texts("crates/model/src/a.rs", "#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n").is_empty()
        );
        assert!(texts("crates/model/src/a_tests.rs", "use std::fs;\n").is_empty());
        assert!(texts("crates/store/src/a.rs", "use std::fs;\n").is_empty());
        assert!(texts("crates/model/src/a.rs", "struct InstantNoodles;\n").is_empty());
        assert_eq!(texts("crates/ops/src/a.rs", "println!(\"{x}\");\n").len(), 1);
        assert!(texts("crates/thru/src/a.rs", "println!(\"{x}\");\n").is_empty());
    }

    #[test]
    fn a_cut_before_redaction_is_named() {
        let cut = concat!("let x = redact", "(cut(text, 400), options);\n");
        assert_eq!(texts("crates/ops/src/a.rs", cut), [format!("crates/ops/src/a.rs:1: {WHOLE}")]);
        let after = concat!("let x = inline(&redact", "(text, options), 400);\n");
        assert!(texts("crates/ops/src/a.rs", after).is_empty());
        assert!(!texts("crates/harness/src/a.rs", "let x = error_lines(&text);\n").is_empty());
    }

    #[test]
    fn leftovers_and_machine_paths_are_named_with_their_line() {
        let text = format!("a\n// {} later\n", concat!("FIX", "ME"));
        assert_eq!(
            texts("xtask/src/a.rs", &text),
            [format!("xtask/src/a.rs:2: {} must not land", concat!("FIX", "ME"))]
        );
        let text = format!("see {}main\n", concat!("/wo", "rk/"));
        assert_eq!(texts("README.md", &text).len(), 1);
        let text = format!("see src{}main\n", concat!("/wo", "rk/"));
        assert!(texts("README.md", &text).is_empty());
        assert!(texts("a.rs", "mktemp /tmp/a.XXXXXX\n").is_empty());
    }

    #[test]
    fn an_ignored_test_says_why() {
        assert_eq!(texts("crates/thru/tests/a.rs", "#[ignore]\n").len(), 1);
        assert!(texts("crates/thru/tests/a.rs", "#[ignore = \"needs node\"]\n").is_empty());
    }

    #[test]
    fn long_files_are_named() {
        assert_eq!(texts("crates/model/src/a.rs", &"x\n".repeat(701)).len(), 1);
        assert!(texts("crates/model/src/a.rs", &"x\n".repeat(700)).is_empty());
        assert!(texts("fixtures/long.txt", &"x\n".repeat(701)).is_empty());
    }
}
