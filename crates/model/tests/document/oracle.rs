//! Reads documents with two independent parsers, one for markdown and one for YAML.

use model::document::Document;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use saphyr::{LoadableYamlNode as _, Scalar, Yaml};
use serde_json::Value;

/// The level of a heading, its line within the body, and its text.
pub type SeenHeading = (u8, usize, String);

/// Returns the ATX headings outside lists and quotes, according to a markdown parser.
pub fn atx_headings(body: &str) -> Vec<SeenHeading> {
    // In CommonMark a lone CR ends a line, but pulldown-cmark ignores it in indented code.
    let body = body.replace("\r\n", "\n").replace('\r', "\n");
    let mut depth = 0;
    let mut found: Vec<SeenHeading> = Vec::new();
    let mut inside = false;
    for (event, range) in Parser::new(&body).into_offset_iter() {
        match event {
            Event::Start(Tag::BlockQuote(_) | Tag::List(_)) => depth += 1,
            Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_)) => depth -= 1,
            Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                let source = body[range.clone()].trim_matches([' ', '\n']);
                // ATX headings have one line, and setext headings have two.
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

/// Returns the ATX headings according to [`Document`].
pub fn our_headings(document: &Document) -> Vec<SeenHeading> {
    let start = document.bytes().len() - document.body().len();
    let before = document.lines().take_while(|line| line.start < start).count();
    document
        .headings()
        .iter()
        .map(|heading| (heading.level, heading.line - before, heading.text.clone()))
        .collect()
}

/// Returns the frontmatter according to a YAML parser.
pub fn parse_yaml(document: &Document) -> Value {
    let text = std::str::from_utf8(document.bytes()).unwrap().trim_start_matches('\u{feff}');
    let inside = &text[..text.len() - document.body().len()];
    let inside = inside.trim_end().strip_prefix("---").and_then(|inside| inside.strip_suffix("---")).unwrap();
    let inside = &space_before_tab(inside);
    let read = Yaml::load_from_str(inside).unwrap_or_else(|error| panic!("{inside}\n{error}"));
    assert_eq!(read.len(), 1, "{inside}");
    yaml_to_json(&read[0])
}

/// Adds a space before a tab between a key and its value. YAML allows the tab alone, but saphyr does not.
fn space_before_tab(text: &str) -> String {
    text.split_inclusive(['\n', '\r'])
        .map(|line| match line.split_once(":\t") {
            Some((key, value)) if !key.contains([' ', '\t', ':']) => format!("{key}: \t{value}"),
            _ => line.to_owned(),
        })
        .collect()
}

fn yaml_to_json(yaml: &Yaml) -> Value {
    match yaml {
        Yaml::Value(Scalar::Null) => Value::Null,
        Yaml::Value(Scalar::Boolean(value)) => Value::from(*value),
        Yaml::Value(Scalar::Integer(value)) => Value::from(*value),
        Yaml::Value(Scalar::FloatingPoint(value)) => Value::from(value.into_inner()),
        Yaml::Value(Scalar::String(value)) => Value::from(&**value),
        Yaml::Sequence(items) => items.iter().map(yaml_to_json).collect(),
        Yaml::Mapping(entries) => {
            entries.iter().map(|(key, value)| (key.as_str().unwrap(), yaml_to_json(value))).collect()
        }
        other => panic!("nobody writes {other:?}"),
    }
}
