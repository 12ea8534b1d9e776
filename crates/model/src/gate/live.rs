//! Finds the live run in `state/live.json` or in the file in which an orchestrator records it.

use serde::Deserialize;

use crate::document::Document;

/// Returns the folder named in a `live.json`, or `None` if it names none.
pub fn parse_live_dir(bytes: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct LiveJson {
        dir: String,
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let live: LiveJson = serde_json::from_slice(bytes).ok()?;
    (!live.dir.is_empty()).then_some(live.dir)
}

/// Returns the folders of the runs that were live before, newest first. An older `live.json` has none.
pub fn parse_earlier_dirs(bytes: &[u8]) -> Vec<String> {
    #[derive(Deserialize)]
    struct LiveJson {
        #[serde(default)]
        earlier: Vec<String>,
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    serde_json::from_slice::<LiveJson>(bytes).map(|live| live.earlier).unwrap_or_default()
}

pub fn render_live_json(dir: &str, earlier: &[String]) -> Vec<u8> {
    let mut live = serde_json::json!({ "schema_version": 1, "dir": dir });
    if !earlier.is_empty() {
        live["earlier"] = earlier.into();
    }
    format!("{live:#}\n").into_bytes()
}

/// Returns `live.dir` from a YAML file. The key `live` is at the left margin, and `dir` is in the block below it or in
/// braces after it.
pub fn live_dir_of_yaml(text: &str) -> Option<String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let braces = text.lines().find_map(|line| line.strip_prefix("live:")?.trim().strip_prefix('{'));
    if let Some(braces) = braces {
        let (inside, _) = braces.split_once('}')?;
        return read_yaml_scalar(inside.split(',').find(|part| part.trim_start().starts_with("dir:"))?);
    }
    let at_edge = |line: &&str| line.starts_with(|c: char| !c.is_whitespace() && c != '#');
    let mut lines = text.lines();
    lines.by_ref().find(|line| is_yaml_key(line, "live"))?;
    let block: Vec<&str> = lines.take_while(|line| !at_edge(line)).collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let is_text = |line: &&&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let first = indent(block.iter().find(is_text)?);
    let line = block.iter().find(|line| indent(line) == first && line.trim_start().starts_with("dir:"))?;
    read_yaml_scalar(line)
}

/// Reads a scalar with the document parser, which handles quotes and comments.
fn read_yaml_scalar(line: &str) -> Option<String> {
    let document = Document::parse(format!("---\n{}\n---\n", line.trim()));
    document.frontmatter_text("dir").filter(|dir| !dir.is_empty()).map(str::to_owned)
}

fn is_yaml_key(line: &str, key: &str) -> bool {
    let rest = line.strip_prefix(key).and_then(|rest| rest.strip_prefix(':'));
    rest.is_some_and(|rest| rest.trim().is_empty() || rest.trim_start().starts_with('#'))
}
