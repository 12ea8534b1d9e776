//! What two real parsers, of markdown and of YAML, make of a document.

use model::document::Document;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use serde_json::Value;

/// Level, line within the body and text of a heading.
pub type Seen = (u8, usize, String);

/// The ATX headings that are in no list or quote, as a markdown parser sees them.
pub fn atx_headings(body: &str) -> Vec<Seen> {
    // A lone CR ends a line, says CommonMark; in indented code pulldown-cmark does not know it.
    let body = body.replace("\r\n", "\n").replace('\r', "\n");
    let mut depth = 0;
    let mut found: Vec<Seen> = Vec::new();
    let mut inside = false;
    for (event, range) in Parser::new(&body).into_offset_iter() {
        match event {
            Event::Start(Tag::BlockQuote(_) | Tag::List(_)) => depth += 1,
            Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_)) => depth -= 1,
            Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                let source = body[range.clone()].trim_matches([' ', '\n']);
                // One line: setext headings have two.
                inside = source.starts_with('#') && !source.contains('\n');
                if inside {
                    found.push((level as u8, body[..range.start].matches('\n').count() + 1, String::new()));
                }
            }
            Event::End(TagEnd::Heading(_)) => inside = false,
            Event::Text(text) | Event::Code(text) if inside => {
                found.iter_mut().last().into_iter().for_each(|heading| heading.2.push_str(&text));
            }
            _ => {}
        }
    }
    found
}

/// The same of ours.
pub fn headings(document: &Document) -> Vec<Seen> {
    let start = document.bytes().len() - document.body().len();
    let before = document.lines().take_while(|line| line.start < start).count();
    document
        .headings()
        .iter()
        .map(|heading| (heading.level, heading.line - before, heading.text.clone()))
        .collect()
}

/// The frontmatter as a YAML parser sees it.
pub fn yaml(document: &Document) -> Value {
    let text = std::str::from_utf8(document.bytes()).unwrap().trim_start_matches('\u{feff}');
    let inside = &text[..text.len() - document.body().len()];
    let inside = inside.trim_end().strip_prefix("---").and_then(|inside| inside.strip_suffix("---")).unwrap();
    serde_saphyr::from_str(inside).unwrap_or_else(|error| panic!("{inside}\n{error}"))
}
