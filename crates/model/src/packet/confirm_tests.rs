use super::{confirm_files, files_listed_as_confirmed, path_in_item, unconfirm_files};
use crate::document::Document;

const HAND_WRITTEN_PACKET: &str = "---\nid: p\nrelevant_files_confirmed: [\"x.rs\",\"y.rs\"]\n---\n## Relevant Files\n\n### Confirmed\n\nRead in this order:\n\n- `x.rs` — chosen by the user\n- `y.rs` — start at line 40\n  and read on\n\nThat is all.\n\n### Suggested\n\n- `z.rs`\n\n## Notes\n";

fn to_strings(files: &[&str]) -> Vec<String> {
    files.iter().map(|file| (*file).to_owned()).collect()
}

#[test]
fn only_a_files_own_line_comes_and_goes() {
    for text in [HAND_WRITTEN_PACKET.to_owned(), HAND_WRITTEN_PACKET.replace('\n', "\r\n")] {
        let end = if text.contains('\r') { "\r\n" } else { "\n" };
        let mut document = Document::parse(text.clone());
        confirm_files(&mut document, &to_strings(&["a/b.rs", "x.rs"])).unwrap();
        let added = format!("  and read on{end}- `a/b.rs` — chosen by the user{end}");
        let expected =
            text.replace("\"y.rs\"]", "\"y.rs\",\"a/b.rs\"]").replace(&format!("  and read on{end}"), &added);
        assert_eq!(String::from_utf8_lossy(document.bytes()), expected);
        unconfirm_files(&mut document, &to_strings(&["a/b.rs"])).unwrap();
        assert_eq!(String::from_utf8_lossy(document.bytes()), text);
        unconfirm_files(&mut document, &to_strings(&["x.rs"])).unwrap();
        let expected =
            text.replace("\"x.rs\",", "").replace(&format!("- `x.rs` — chosen by the user{end}"), "");
        assert_eq!(String::from_utf8_lossy(document.bytes()), expected);
    }
}

#[test]
fn an_empty_list_says_so_and_a_list_that_is_not_there_is_made() {
    let empty = "---\nid: p\nrelevant_files_confirmed: []\n---\n## Relevant Files\n\n### Confirmed\n\n_none recorded_\n\n### Suggested\n";
    let mut document = Document::parse(empty);
    confirm_files(&mut document, &to_strings(&["a.rs"])).unwrap();
    assert!(
        String::from_utf8_lossy(document.bytes())
            .contains("### Confirmed\n\n- `a.rs` — chosen by the user\n\n### Suggested")
    );
    unconfirm_files(&mut document, &to_strings(&["a.rs"])).unwrap();
    assert_eq!(String::from_utf8_lossy(document.bytes()), empty);
    let mut prose = Document::parse(empty.replace("_none recorded_", "Read all."));
    confirm_files(&mut prose, &to_strings(&["a.rs"])).unwrap();
    assert!(
        String::from_utf8_lossy(prose.bytes())
            .contains("Read all.\n\n- `a.rs` — chosen by the user\n\n### Suggested")
    );
    let mut bare = Document::parse("---\nid: p\n---\n");
    confirm_files(&mut bare, &to_strings(&["a.rs"])).unwrap();
    assert_eq!(files_listed_as_confirmed(&bare), ["a.rs"]);
}

#[test]
fn what_a_line_is_about() {
    for (text, path) in [
        ("`a.rs` — edited", Some("a.rs")),
        ("`` a`b.rs `` — edited", Some("a`b.rs")),
        ("src/a.rs: the lexer", Some("src/a.rs")),
        ("@src/a.rs", Some("src/a.rs")),
        ("`cargo test` first", None),
        ("Read this.", None),
        ("see https://x.y/z", None),
        ("https://x.y/z", None),
    ] {
        assert_eq!(path_in_item(text), path, "{text}");
    }
}
