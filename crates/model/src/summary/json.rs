//! Outlines JSON: its keys, the types of their values, and the lengths of its lists. The module `errors` finds values
//! that report errors.

mod errors;

use serde_json::Value;

use super::titled_section;
use crate::clean::clean_line;
use crate::text::{count_with_noun, cut_to_bytes};

pub use errors::{find_json_errors, line_reports_error};

/// The maximum length of an example value, in bytes.
const MAX_EXAMPLE_BYTES: usize = 60;

/// The maximum number of different keys collected from the objects in a list. If there are more, the keys are data,
/// as in a map.
const MAX_MERGED_KEYS: usize = 200;

/// The number of nested key levels that are listed. Below them, only types are shown.
const MAX_NESTED_KEY_LEVELS_LISTED: usize = 6;

pub fn outline_json(text: &str, room: usize) -> String {
    let Ok(value) = serde_json::from_str::<Value>(text) else { return String::new() };
    let mut lines = Vec::new();
    describe_shape(&JsonShape::of_value(&value), "top level", 0, &mut lines);
    titled_section("keys and types", &lines, room)
}

/// The structure of a JSON value, without its content except for examples.
enum JsonShape {
    Scalar { name: &'static str, example: String },
    List { item_count: usize, item_shape: Option<Box<JsonShape>> },
    Object { fields: Vec<(String, JsonShape, usize)>, object_count: usize },
}

impl JsonShape {
    fn of_value(value: &Value) -> JsonShape {
        let scalar = |name, example| JsonShape::Scalar { name, example };
        match value {
            Value::Null => scalar("null", String::new()),
            Value::Bool(value) => scalar("true or false", value.to_string()),
            Value::Number(number) => scalar("number", number.to_string()),
            Value::String(text) => {
                let line = clean_line(text);
                let is_cut = line.len() > MAX_EXAMPLE_BYTES;
                scalar(
                    "text",
                    format!(
                        "\"{}{}\"",
                        cut_to_bytes(&line, MAX_EXAMPLE_BYTES),
                        if is_cut { "…" } else { "" }
                    ),
                )
            }
            Value::Array(items) => {
                let item = items.iter().map(JsonShape::of_value).reduce(JsonShape::merge).map(Box::new);
                JsonShape::List { item_count: items.len(), item_shape: item }
            }
            Value::Object(fields) => JsonShape::Object {
                fields: fields
                    .iter()
                    .map(|(key, value)| (key.clone(), JsonShape::of_value(value), 1))
                    .collect(),
                object_count: 1,
            },
        }
    }

    /// Merges the shapes of two list items. If they differ in type, the first shape is used, unless it is null.
    fn merge(self, other: JsonShape) -> JsonShape {
        match (self, other) {
            (
                JsonShape::Object { fields, object_count },
                JsonShape::Object { fields: more, object_count: others },
            ) => {
                let mut fields = fields;
                for (key, shape, times) in more {
                    let has_room = fields.len() < MAX_MERGED_KEYS;
                    match fields.iter_mut().find(|(known, ..)| *known == key) {
                        Some((_, known, before)) => {
                            let nothing = JsonShape::Scalar { name: "null", example: String::new() };
                            *known = std::mem::replace(known, nothing).merge(shape);
                            *before += times;
                        }
                        None if has_room => fields.push((key, shape, times)),
                        None => {}
                    }
                }
                JsonShape::Object { fields, object_count: object_count + others }
            }
            (
                JsonShape::List { item_count, item_shape: item },
                JsonShape::List { item_count: more, item_shape: other },
            ) => {
                let item = match (item, other) {
                    (Some(one), Some(other)) => Some(Box::new(one.merge(*other))),
                    (one, other) => one.or(other),
                };
                JsonShape::List { item_count: item_count + more, item_shape: item }
            }
            (JsonShape::Scalar { name: "null", .. }, other) => other,
            (one, _) => one,
        }
    }
}

/// Adds one line for each key, indented by its depth.
fn describe_shape(shape: &JsonShape, name: &str, depth: usize, lines: &mut Vec<String>) {
    let indent = "  ".repeat(depth);
    match shape {
        JsonShape::Scalar { name: kind, example } => {
            let example = if example.is_empty() { String::new() } else { format!(", such as {example}") };
            lines.push(format!("{indent}{name}: {kind}{example}"));
        }
        JsonShape::List { item_count, item_shape: item } => {
            lines.push(format!("{indent}{name}: list, {} in total", count_with_noun(*item_count, "item")));
            if let Some(item) = item
                && depth < MAX_NESTED_KEY_LEVELS_LISTED
            {
                describe_shape(item, "each", depth + 1, lines);
            }
        }
        JsonShape::Object { fields, object_count } => {
            lines.push(format!("{indent}{name}: object with {} keys", fields.len()));
            for (key, shape, times) in fields.iter().filter(|_| depth < MAX_NESTED_KEY_LEVELS_LISTED) {
                let name = match times < object_count {
                    true => format!("{key} (in {times} of {object_count})"),
                    false => key.clone(),
                };
                describe_shape(shape, &name, depth + 1, lines);
            }
        }
    }
}
