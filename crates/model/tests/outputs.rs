//! Judges outputs of sub-agents both with thru's line scanner and with a full markdown parser.
//!
//! `THRU_STAGE_FILES=DIR` adds every `*.md` file below `DIR`, a folder with real outputs. Such outputs must not be
//! committed.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are tests")]

use std::path::{Path, PathBuf};

use model::gate::{COMPLETION_LINE, OutputEnding, OutputScanner};
use proptest::prelude::*;
use pulldown_cmark::{Event, Parser, Tag};

/// Returns whether the last non-blank line is the sentinel and is not in a code block.
fn is_sealed_by_parser(text: &str) -> bool {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    let trimmed = body.trim_end();
    let start = trimmed.rfind('\n').map_or(0, |end| end + 1);
    if &trimmed[start..] != COMPLETION_LINE {
        return false;
    }
    let code = |event: &Event| matches!(event, Event::Start(Tag::CodeBlock(_)));
    !Parser::new(&body).into_offset_iter().any(|(event, range)| code(&event) && range.contains(&start))
}

fn is_sealed(text: &str) -> bool {
    OutputScanner::scan_whole_output(text.as_bytes()).ending() == OutputEnding::Sealed
}

fn collect_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect_files(&path, found);
        } else if path.is_file() && path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

#[test]
fn real_stage_files_pass_and_fail_as_the_protocol_says() {
    let Some(folder) = std::env::var_os("THRU_STAGE_FILES") else {
        println!("skipped: THRU_STAGE_FILES names no folder");
        return;
    };
    let mut found = Vec::new();
    collect_files(Path::new(&folder), &mut found);
    assert!(!found.is_empty(), "no *.md below {}", folder.display());
    let (mut sealed, mut elsewhere, mut without) = (0, 0, 0);
    for path in found {
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        assert_eq!(is_sealed(&text), is_sealed_by_parser(&text), "{}", path.display());
        match (is_sealed(&text), text.contains(COMPLETION_LINE)) {
            (true, _) => sealed += 1,
            (false, true) => elsewhere += 1,
            (false, false) => without += 1,
        }
    }
    println!("{sealed} complete, {elsewhere} with the sentinel anywhere but last, {without} without one");
}

/// These files have the structure of real outputs but different text.
#[test]
fn shapes_of_real_stage_files() {
    let provenance = "### Provenance\nsource: REAL_EXECUTION\ntool: some-cli\nduration_ms: —\n";
    for (about, text, complete) in [
        (
            "a reviewer's verdict",
            format!("# Review\n\n- [x] fine\n\n{provenance}\n{COMPLETION_LINE}\n"),
            true,
        ),
        (
            "one that reviews this very protocol",
            format!("- ends with `{COMPLETION_LINE}`: good.\n\n{COMPLETION_LINE}\n"),
            true,
        ),
        (
            "one that quotes an example",
            format!("```text\n{COMPLETION_LINE}\n```\n\nEnd.\n\n{COMPLETION_LINE}\n"),
            true,
        ),
        (
            "a script for the next session",
            format!("Check:\n\n```bash\ngrep -q '{COMPLETION_LINE}' a.md\n```\n"),
            false,
        ),
        ("lessons that mention it", format!("- files end with `{COMPLETION_LINE}`\n- and more\n"), false),
        ("cut off by a turn limit", "# Review\n\n## Concerns\n\n1. The fi".to_owned(), false),
        ("written on after the end", format!("# Review\n\n{COMPLETION_LINE}\n\nOne more thing.\n"), false),
        ("cut off inside an example", format!("# Plan\n\n```text\n{COMPLETION_LINE}\n"), false),
    ] {
        assert_eq!((is_sealed(&text), is_sealed_by_parser(&text)), (complete, complete), "{about}");
    }
}

/// Generates a line of a report. Lists and quotes are left out, because thru deliberately treats fences in them
/// differently from CommonMark (see `document::outline`).
fn random_line() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "text",
        "",
        "  ",
        COMPLETION_LINE,
        "<!-- AGENT_COMPLETE -->  ",
        "ends with `<!-- AGENT_COMPLETE -->`",
        "```",
        "```rust",
        "````",
        "~~~",
        "~~~~",
        "# Heading",
        "   ```",
        "| a | b |",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn we_agree_with_a_full_parser(lines in prop::collection::vec(random_line(), 0..12), crlf in any::<bool>()) {
        // Text before the sentinel is required, because the sentinel alone is an empty output.
        let text = [&["Report."], lines.as_slice()].concat().join(if crlf { "\r\n" } else { "\n" });
        prop_assert_eq!(is_sealed(&text), is_sealed_by_parser(&text), "{}", text);
    }
}
