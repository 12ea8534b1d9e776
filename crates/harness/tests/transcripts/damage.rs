//! Tests of how transcripts are read if some lines were damaged by a crash or written by another version of the
//! harness. Reading must never panic, and complete objects must be found.

use model::transcript::TranscriptItem;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{READERS, captured_lines};
use harness::transcript::{ReadLine, each_object_in_line};

fn count_items(read: ReadLine, bytes: &[u8]) -> usize {
    let mut items = 0;
    each_object_in_line(read, bytes, |line| items += line.items.len());
    items
}

#[test]
fn torn_at_every_byte() {
    for (harness, read) in READERS {
        for line in captured_lines(harness).lines() {
            let whole = count_items(read, line.as_bytes());
            for end in 0..line.len() {
                assert!(
                    count_items(read, &line.as_bytes()[..end]) <= whole.max(1),
                    "{}",
                    &line[..end.min(200)]
                );
            }
            for start in (1..line.len()).step_by(7) {
                count_items(read, &line.as_bytes()[start..]);
            }
        }
    }
}

#[test]
fn bytes_around_a_line_are_ignored() {
    for (harness, read) in READERS {
        for line in captured_lines(harness).lines() {
            let whole = count_items(read, line.as_bytes());
            for around in [("\u{feff}", ""), ("", "\r"), ("\0\0\0", "\0"), ("  ", " \t"), ("", "\r\n")] {
                let line = format!("{}{line}{}", around.0, around.1);
                assert_eq!(count_items(read, line.as_bytes()), whole, "{around:?}");
            }
            // A serialiser may add white space and reorder the keys.
            let value: Value = serde_json::from_str(line).unwrap();
            assert_eq!(
                count_items(read, serde_json::to_string_pretty(&value).unwrap().as_bytes()),
                whole,
                "{line}"
            );
        }
    }
}

#[test]
fn any_field_gone_or_of_another_type() {
    let others = [
        json!(null),
        json!(7),
        json!(true),
        json!("x"),
        json!([1, "x"]),
        json!({"a": {"type": "text"}}),
        json!(-1.5e300),
    ];
    for (harness, read) in READERS {
        for line in captured_lines(harness).lines() {
            let value: Value = serde_json::from_str(line).unwrap();
            let mut places = Vec::new();
            collect_pointers(&value, String::new(), &mut places);
            for place in places {
                let mut without = value.clone();
                remove_at_pointer(&mut without, &place);
                count_items(read, without.to_string().as_bytes());
                for other in &others {
                    let mut changed = value.clone();
                    *changed.pointer_mut(&place).unwrap() = other.clone();
                    count_items(read, changed.to_string().as_bytes());
                }
            }
        }
    }
}

fn collect_pointers(value: &Value, at: String, places: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                collect_pointers(
                    value,
                    format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")),
                    places,
                );
            }
        }
        Value::Array(elements) => {
            for (n, value) in elements.iter().enumerate() {
                collect_pointers(value, format!("{at}/{n}"), places);
            }
        }
        _ => {}
    }
    if !at.is_empty() {
        places.push(at);
    }
}

fn remove_at_pointer(value: &mut Value, place: &str) {
    let (parent, key) = place.rsplit_once('/').unwrap();
    match value.pointer_mut(parent).unwrap() {
        Value::Object(fields) => drop(fields.shift_remove(&key.replace("~1", "/").replace("~0", "~"))),
        Value::Array(elements) => drop(elements.remove(key.parse().unwrap())),
        _ => {}
    }
}

#[test]
fn deep_and_long_lines_are_survived() {
    for (_, read) in READERS {
        let deep = "[".repeat(100_000);
        count_items(read, deep.as_bytes());
        count_items(read, "{\"message\":".repeat(100_000).as_bytes());
        count_items(read, "{\"type\"".repeat(100_000).as_bytes());
        count_items(read, "{\"type\":[x".repeat(20_000).as_bytes());
        count_items(read, "\\".repeat(1_000_000).as_bytes());
        count_items(read, format!("{{\"type\":\"{}", "\\\"".repeat(500_000)).as_bytes());
        let text = "x".repeat(20_000_000);
        for line in [
            format!(r#"{{"type":"user","message":{{"role":"user","content":"{text}"}}}}"#),
            format!(r#"{{"type":"message","message":{{"role":"user","content":"{text}"}}}}"#),
        ] {
            each_object_in_line(read, line.as_bytes(), |line| {
                for item in line.items {
                    assert!(
                        matches!(item, TranscriptItem::Prompt { text, .. } if text.len() <= model::transcript::MAX_DECODED_TEXT_BYTES)
                    );
                }
            });
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        for (_, read) in READERS {
            count_items(read, &bytes);
        }
    }

    #[test]
    fn anything_that_looks_like_json(text in "[{}\\[\\]\",:\\\\ntrue0-9 a-z\u{e9}]{0,300}") {
        for (_, read) in READERS {
            count_items(read, text.as_bytes());
        }
    }

    #[test]
    fn captured_lines_with_bytes_changed(
        pick in any::<prop::sample::Index>(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
    ) {
        for (harness, read) in READERS {
            let all = captured_lines(harness);
            let lines: Vec<&str> = all.lines().collect();
            let mut bytes = pick.get(&lines).as_bytes().to_vec();
            for (at, byte) in &changes {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            count_items(read, &bytes);
        }
    }
}
