//! Outlines JSON: keys, types and counts. `errors` finds the values that report errors.

mod errors;

use serde_json::Value;

use super::section;
use crate::clean::clean_line;
use crate::text::cut;

pub use errors::{errors, line_reports_error};

/// The longest value that is shown as an example, in bytes.
const LONGEST_EXAMPLE: usize = 60;

/// The most keys that the objects of a list have together. If there are more, they are data, as in a map.
const MERGED_KEYS: usize = 200;

/// How many levels of keys are listed. Below that, only the type is named.
const DEEPEST_LEVEL: usize = 6;

pub fn outline(text: &str, room: usize) -> String {
    let Ok(value) = serde_json::from_str::<Value>(text) else { return String::new() };
    let mut lines = Vec::new();
    describe(&Shape::of(&value), "the whole", 0, &mut lines);
    section("keys and types", &lines, room)
}

/// The structure of a value, without the values themselves.
enum Shape {
    Scalar { name: &'static str, example: String },
    List { items: usize, item: Option<Box<Shape>> },
    Object { fields: Vec<(String, Shape, usize)>, objects: usize },
}

impl Shape {
    fn of(value: &Value) -> Shape {
        let scalar = |name, example| Shape::Scalar { name, example };
        match value {
            Value::Null => scalar("null", String::new()),
            Value::Bool(value) => scalar("true or false", value.to_string()),
            Value::Number(number) => scalar("number", number.to_string()),
            Value::String(text) => {
                let line = clean_line(text);
                let is_cut = line.len() > LONGEST_EXAMPLE;
                scalar(
                    "text",
                    format!("\"{}{}\"", cut(&line, LONGEST_EXAMPLE), if is_cut { "…" } else { "" }),
                )
            }
            Value::Array(items) => {
                let item = items.iter().map(Shape::of).reduce(Shape::merge).map(Box::new);
                Shape::List { items: items.len(), item }
            }
            Value::Object(fields) => Shape::Object {
                fields: fields.iter().map(|(key, value)| (key.clone(), Shape::of(value), 1)).collect(),
                objects: 1,
            },
        }
    }

    /// Merges the shapes of two items of a list. If they differ, the first is used, unless it is null.
    fn merge(self, other: Shape) -> Shape {
        match (self, other) {
            (Shape::Object { fields, objects }, Shape::Object { fields: more, objects: others }) => {
                let mut fields = fields;
                for (key, shape, times) in more {
                    let has_room = fields.len() < MERGED_KEYS;
                    match fields.iter_mut().find(|(known, ..)| *known == key) {
                        Some((_, known, before)) => {
                            let nothing = Shape::Scalar { name: "null", example: String::new() };
                            *known = std::mem::replace(known, nothing).merge(shape);
                            *before += times;
                        }
                        None if has_room => fields.push((key, shape, times)),
                        None => {}
                    }
                }
                Shape::Object { fields, objects: objects + others }
            }
            (Shape::List { items, item }, Shape::List { items: more, item: other }) => {
                let item = match (item, other) {
                    (Some(one), Some(other)) => Some(Box::new(one.merge(*other))),
                    (one, other) => one.or(other),
                };
                Shape::List { items: items + more, item }
            }
            (Shape::Scalar { name: "null", .. }, other) => other,
            (one, _) => one,
        }
    }
}

/// Adds one line for each key, indented by its depth.
fn describe(shape: &Shape, name: &str, depth: usize, lines: &mut Vec<String>) {
    let indent = "  ".repeat(depth);
    match shape {
        Shape::Scalar { name: kind, example } => {
            let example = if example.is_empty() { String::new() } else { format!(", such as {example}") };
            lines.push(format!("{indent}{name}: {kind}{example}"));
        }
        Shape::List { items, item } => {
            lines.push(format!("{indent}{name}: list, {items} in all"));
            if let Some(item) = item
                && depth < DEEPEST_LEVEL
            {
                describe(item, "each", depth + 1, lines);
            }
        }
        Shape::Object { fields, objects } => {
            lines.push(format!("{indent}{name}: object with {} keys", fields.len()));
            for (key, shape, times) in fields.iter().filter(|_| depth < DEEPEST_LEVEL) {
                let name = match times < objects {
                    true => format!("{key} (in {times} of {objects})"),
                    false => key.clone(),
                };
                describe(shape, &name, depth + 1, lines);
            }
        }
    }
}
