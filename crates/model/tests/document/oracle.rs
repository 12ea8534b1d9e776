//! What two real parsers, of markdown and of YAML, make of a document.

use model::document::Document;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use serde_json::Value;

/// Level and line of each ATX heading that is in no list or quote, as a markdown parser sees them.
pub fn atx_headings(body: &str) -> Vec<(u8, usize)> {
    // A lone CR ends a line, says CommonMark; in indented code pulldown-cmark does not know it.
    let body = body.replace("\r\n", "\n").replace('\r', "\n");
    let mut depth = 0;
    let mut found = Vec::new();
    for (event, range) in Parser::new(&body).into_offset_iter() {
        match event {
            Event::Start(Tag::BlockQuote(_) | Tag::List(_)) => depth += 1,
            Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_)) => depth -= 1,
            Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                let source = body[range.clone()].trim_matches([' ', '\n', '\r']);
                // One line: setext headings have two.
                if source.starts_with('#') && !source.contains(['\n', '\r']) {
                    let line = Document::parse(&body[..range.start]).lines().count();
                    let fresh = range.start == 0 || body[..range.start].ends_with(['\n', '\r']);
                    found.push((level as u8, if fresh { line + 1 } else { line }));
                }
            }
            _ => {}
        }
    }
    found
}

/// The same of ours, lines counted from the start of the body.
pub fn headings(document: &Document) -> Vec<(u8, usize)> {
    let start = document.bytes().len() - document.body().len();
    let before = document.lines().take_while(|line| line.start < start).count();
    document.headings().iter().map(|heading| (heading.level, heading.line - before)).collect()
}

/// The frontmatter as a YAML parser sees it.
pub fn yaml(document: &Document) -> Value {
    let text = std::str::from_utf8(document.bytes()).unwrap().trim_start_matches('\u{feff}');
    let inside = &text[..text.len() - document.body().len()];
    let inside = inside.trim_end().strip_prefix("---").and_then(|inside| inside.strip_suffix("---")).unwrap();
    serde_saphyr::from_str(inside).unwrap_or_else(|error| panic!("{inside}\n{error}"))
}
