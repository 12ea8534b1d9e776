//! JSON lines that `thru` or a harness wrote, and assertions about them.

use std::path::{Path, PathBuf};

use serde_json::Value;

#[derive(Clone, Debug)]
pub struct JournalLines {
    path: PathBuf,
    lines: Vec<Value>,
}

impl JournalLines {
    /// Reads the lines of a file. A missing file has no lines.
    pub fn read(path: &Path) -> JournalLines {
        JournalLines::parse(path, &std::fs::read_to_string(path).unwrap_or_default())
    }

    /// Parses printed output. `name` appears in the failure message.
    pub fn parse(name: impl AsRef<Path>, text: &str) -> JournalLines {
        let parse = |line| serde_json::from_str(line).unwrap_or_else(|_| panic!("torn: {line}"));
        JournalLines { path: name.as_ref().to_path_buf(), lines: text.lines().map(parse).collect() }
    }

    /// Returns the lines that contain every field of the pattern with the same value. If a value is an object, the
    /// object in the line may have further fields.
    pub fn matching(&self, pattern: &Value) -> Vec<&Value> {
        self.lines.iter().filter(|line| contains_pattern(line, pattern)).collect()
    }

    /// Asserts that exactly one line matches, and returns its index, so that callers can check the order.
    pub fn assert_once(&self, pattern: &Value) -> usize {
        let found = self.matching(pattern).len();
        assert_eq!(found, 1, "lines that hold {pattern} in\n{self}");
        self.lines.iter().position(|line| contains_pattern(line, pattern)).expect("just counted")
    }

    pub fn assert_never(&self, pattern: &Value) {
        assert!(self.matching(pattern).is_empty(), "a line holds {pattern} in\n{self}");
    }

    /// Asserts that each pattern matches exactly one line, and that these lines are in the order of the patterns.
    pub fn assert_in_order(&self, patterns: &[Value]) {
        let places: Vec<usize> = patterns.iter().map(|pattern| self.assert_once(pattern)).collect();
        assert!(places.is_sorted(), "in the order {places:?} in\n{self}");
    }
}

fn contains_pattern(value: &Value, pattern: &Value) -> bool {
    match (value, pattern) {
        (Value::Object(value), Value::Object(pattern)) => pattern
            .iter()
            .all(|(key, part)| value.get(key).is_some_and(|field| contains_pattern(field, part))),
        (Value::Array(value), Value::Array(pattern)) => {
            value.len() == pattern.len()
                && value.iter().zip(pattern).all(|(item, part)| contains_pattern(item, part))
        }
        _ => value == pattern,
    }
}

impl std::fmt::Display for JournalLines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}:", self.path.display())?;
        self.lines.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}
