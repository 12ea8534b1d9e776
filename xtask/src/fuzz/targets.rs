//! Properties that must hold for arbitrary input. Each target panics if its property is violated.
//!
//! The targets are shared by `cargo xtask fuzz`, which runs everywhere, and by `fuzz/`, where cargo-fuzz guides them by
//! coverage.

use std::path::Path;

use harness::HARNESSES;
use harness::settings::{
    HookCommand, HookEntry, HookLocation, HookTimeout, TimeoutUnit, find_thru_hooks, install_hooks,
    uninstall_hooks,
};
use harness::transcript::each_object_in_line;
use model::document::{Document, HeadingPattern, unwrap_verbatim, wrap_verbatim};
use model::id::{Id, MAX_ID_BYTES};
use model::redact::{self, redact_bytes};
use model::render::{
    block_quote, in_backticks, in_quotation_marks, inline_for_model, one_line, utf16_length,
};

pub type FuzzTarget = fn(&[u8]);

pub const FUZZ_TARGETS: [(&str, FuzzTarget); 8] = [
    ("document", fuzz_document),
    ("section", fuzz_section),
    ("transcript", fuzz_transcript),
    ("payload", fuzz_payload),
    ("settings", fuzz_settings),
    ("redact", fuzz_redact),
    ("render", fuzz_render),
    ("id", fuzz_id),
];

/// Checks that parsing and writing a document returns the same bytes. After a frontmatter edit, the new value must be
/// readable, and the body must be unchanged.
pub fn fuzz_document(data: &[u8]) {
    let mut document = Document::parse(data);
    assert_eq!(document.bytes(), data, "parse and write");
    let body = document.body().to_vec();
    let had_frontmatter = document.has_frontmatter();
    let value = "a: b # c";
    if document.set_frontmatter_entry("fuzzed", value).is_err() {
        assert_eq!(document.bytes(), data, "a refused edit changes nothing");
        return;
    }
    assert_eq!(document.frontmatter_text("fuzzed"), Some(value));
    let again = Document::parse(document.bytes());
    assert_eq!(again.frontmatter_text("fuzzed"), Some(value), "what is written reads back");
    if had_frontmatter {
        assert_eq!(document.body(), body, "the body is not touched");
    }
    let once = document.bytes().to_vec();
    assert!(document.set_frontmatter_entry("fuzzed", value).is_ok());
    assert_eq!(document.bytes(), once, "twice is once");
    document.remove_frontmatter_entry("fuzzed");
    assert_eq!(document.frontmatter_value("fuzzed"), None);
}

/// Checks that replacing a document's first section does not change the rest of the document. The input is the new
/// text, the byte 0xff, which valid UTF-8 never contains, and the document.
pub fn fuzz_section(data: &[u8]) {
    let split = data.iter().position(|byte| *byte == 0xff).unwrap_or(0);
    let (text, rest) = (&data[..split], &data[(split + 1).min(data.len())..]);
    let mut document = Document::parse(rest);
    let Some(heading) = document.headings().first().map(|heading| (heading.level, heading.text.clone()))
    else {
        return;
    };
    let path = [HeadingPattern::exact(heading.0, &heading.1)];
    let Some(old) = document.find_section(&path).map(|section| section.body().to_vec()) else { return };
    let start = document
        .find_section(&path)
        .map_or(0, |section| section.body().as_ptr() as usize - document.bytes().as_ptr() as usize);
    let (before, after) = (rest[..start].to_vec(), rest[start + old.len()..].to_vec());
    if document.set_section(&path, text).is_err() {
        assert_eq!(document.bytes(), rest, "a refused edit changes nothing");
        return;
    }
    let edited = document.bytes().to_vec();
    assert!(edited.starts_with(&before) && edited.ends_with(&after), "only the section changes");
    let again = Document::parse(edited.clone());
    assert_eq!(again.headings(), document.headings(), "read again it is the same");
    assert!(
        again.headings().first().is_some_and(|first| (first.level, &first.text) == (heading.0, &heading.1))
    );
    if document.set_section(&path, text).is_ok() {
        assert_eq!(document.bytes(), edited, "twice is once");
    }
}

/// Checks that reading a transcript line always makes progress, so that reading ends.
pub fn fuzz_transcript(data: &[u8]) {
    for harness in HARNESSES {
        let read_line = harness.transcript.read_line();
        let line = read_line(data);
        assert!(line.text_after_object.len() < data.len().max(1), "what is left is less");
        let mut lines = 0;
        each_object_in_line(read_line, data, |_| lines += 1);
        assert!(lines <= 32, "{lines} lines in one");
    }
}

/// Checks that every payload that can be decoded has a session.
pub fn fuzz_payload(data: &[u8]) {
    for harness in HARNESSES {
        for event in ["PostToolUse", "UserPromptSubmit", "SessionStart", "Stop", "SubagentStop", "PreCompact"]
        {
            if let Ok(event) = (harness.decode)(data, event) {
                assert!(!event.session.is_empty());
            }
        }
    }
}

/// Checks that inserting and removing our hooks restores the same bytes if the settings parse. Settings that do not
/// parse must not be changed.
pub fn fuzz_settings(data: &[u8]) {
    let entries = ["Stop", "PostToolUse"].map(|event| HookEntry {
        event: event.into(),
        matcher: (event == "PostToolUse").then(|| "*".to_owned()),
        command: HookCommand::Exec {
            program: Path::new("/opt/thru").display().to_string(),
            args: vec!["hook".into(), "claude-code".into(), event.into()],
        },
        timeout: HookTimeout { seconds: 10, unit: TimeoutUnit::Seconds },
    });
    for place in [HookLocation::CLAUDE_CODE, HookLocation::DROID_SETTINGS, HookLocation::DROID_HOOKS] {
        let Ok(ours) = find_thru_hooks(data, &place) else { continue };
        let Ok(installed) = install_hooks(Some(data), &place, &entries) else { continue };
        let twice =
            install_hooks(Some(&installed.bytes), &place, &entries).expect("the edited settings parse");
        assert_eq!(twice.bytes, installed.bytes, "twice is once");
        if ours.is_empty() {
            let back = uninstall_hooks(&installed.bytes, &place).expect("our hooks can be removed");
            assert_eq!(
                String::from_utf8_lossy(&back.bytes),
                String::from_utf8_lossy(data),
                "the same bytes back"
            );
        }
    }
}

/// Checks that redacting twice gives the same result as redacting once.
pub fn fuzz_redact(data: &[u8]) {
    for emails in [false, true] {
        let options = redact::RedactOptions { emails };
        let once = redact_bytes(data, options).into_owned();
        assert_eq!(redact_bytes(&once, options), once, "twice is once");
        if let Ok(text) = std::str::from_utf8(data) {
            assert_eq!(redact::redact_text(text, options).as_bytes(), once, "text and bytes agree");
        }
    }
}

/// Checks that text for a model contains no invisible characters and no colour codes, and cannot close the quotes
/// around it.
pub fn fuzz_render(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for max in [1, 7, 80, 2_000] {
        for shown in [inline_for_model(&text, max), one_line(&text, max)] {
            assert!(shown.chars().all(is_harmless_char), "{shown:?}");
            assert!(utf16_length(&shown) <= max, "{} wide, at most {max}: {shown:?}", utf16_length(&shown));
        }
        assert!(!inline_for_model(&text, max).contains("</"), "a tag that closes");
        let fenced = in_backticks(&text, max);
        let fence = fenced.len() - fenced.trim_start_matches('`').len();
        let inner = &fenced[fence..fenced.len() - fence];
        assert!(fence > 0 && !inner.split(|c| c != '`').any(|run| run.len() == fence), "{fenced}");
        let said = in_quotation_marks(&text, max);
        assert_eq!(said.matches(['“', '”']).count(), 2, "{said}");
        assert!(block_quote(&text, max).lines().all(|line| line.starts_with('>')));
    }
    let wrapped = wrap_verbatim(data, "\n");
    assert_eq!(unwrap_verbatim(&wrapped), Some(data), "what is wrapped comes out again");
    let page = [b"## A\n\n".as_slice(), &wrapped, b"\n## B\n"].concat();
    let headings: Vec<String> = Document::parse(page).headings().iter().map(|h| h.text.clone()).collect();
    assert_eq!(headings, ["A", "B"], "a fence that is not closed from within");
}

fn is_harmless_char(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Checks that an id is always a safe file name.
pub fn fuzz_id(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(id) = Id::new(&text) else { return };
    assert_eq!(id.as_str(), text);
    let bytes = id.as_str().as_bytes();
    assert!(!bytes.is_empty() && bytes.len() <= MAX_ID_BYTES);
    assert!(bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(b)), "{text}");
    assert!(!text.contains("..") && !text.starts_with(['.', '-']) && !text.ends_with('.'), "{text}");
    assert_eq!(Path::new(id.as_str()).components().count(), 1, "{text}");
}
