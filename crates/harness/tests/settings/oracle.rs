//! Checks the properties of a file independently of the code under test: with a second JSONC parser, and by counting
//! insertions.

use harness::settings::{
    HookChangeKind, HookCommand, HookEntry, HookLocation, HookTimeout, TimeoutUnit, find_thru_hooks,
    install_hooks, unified_diff, uninstall_hooks,
};
use jsonc_parser::{ParseOptions, parse_to_serde_value};
use serde_json::{Value, json};

/// Uses `jsonc_parser` to parse JSON with comments and trailing commas. Unlike our reader, `jsonc_parser` accepts raw
/// line ends in strings.
pub fn parse_jsonc(text: &str) -> Option<Value> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    // Half of a surrogate pair is valid in a settings file and in JavaScript, but not in a Rust string, so it is
    // replaced.
    parse_to_serde_value(&text.replace(r"\ud800", "half").replace('\u{feff}', ""), &options).ok()
}

/// Returns the smallest number of insertions that turn `old` into `new`. Returns `None` if insertions alone cannot do
/// that.
pub fn count_insertions(old: &[u8], new: &[u8]) -> Option<usize> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    // Skip the common prefix and suffix, but keep 200 bytes of each, because repeated text can shift the position of an
    // insertion.
    let head = head.saturating_sub(200);
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let tail = tail.saturating_sub(200);
    let (old, new) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    const IMPOSSIBLE: usize = usize::MAX / 2;
    // For each position in `new`: the smallest number of insertions if the previous byte comes from `old` (`kept`), and
    // if the previous byte was inserted (`put`).
    let mut kept = vec![IMPOSSIBLE; new.len() + 1];
    let mut put = vec![IMPOSSIBLE; new.len() + 1];
    kept[0] = 0;
    for at in 0..=old.len() {
        if at > 0 {
            let mut next = vec![IMPOSSIBLE; new.len() + 1];
            for place in 1..=new.len() {
                if old[at - 1] == new[place - 1] {
                    next[place] = kept[place - 1].min(put[place - 1]);
                }
            }
            kept = next;
            put = vec![IMPOSSIBLE; new.len() + 1];
        }
        for place in 1..=new.len() {
            put[place] = put[place - 1].min(kept[place - 1] + 1);
        }
    }
    Some(kept[new.len()].min(put[new.len()])).filter(|count| *count < IMPOSSIBLE)
}

pub fn value_with_entries(value: Option<Value>, place: &HookLocation, entries: &[HookEntry]) -> Value {
    let mut value = value.unwrap_or_else(|| json!({}));
    for entry in entries {
        let events = match place.key {
            Some(key) => &mut value[key],
            None => &mut value,
        };
        let groups = &mut events[&entry.event];
        if groups.is_null() {
            *groups = json!([]);
        }
        let mut hook = json!({ "type": "command", "timeout": entry.timeout.seconds });
        match &entry.command {
            HookCommand::Exec { program, args } => {
                hook["command"] = json!(program);
                hook["args"] = json!(args);
            }
            HookCommand::Shell(line) => hook["command"] = json!(line),
        }
        let mut group = json!({ "hooks": [hook] });
        if let Some(matcher) = &entry.matcher {
            group["matcher"] = json!(matcher);
        }
        groups.as_array_mut().unwrap().push(group);
    }
    value
}

/// Checks everything that must hold for a valid file that does not contain our hooks yet. Returns the file with our
/// hooks added.
#[track_caller]
pub fn check_round_trip(name: &str, old: &[u8], place: &HookLocation, entries: &[HookEntry]) -> Vec<u8> {
    let installed =
        install_hooks(Some(old), place, entries).unwrap_or_else(|problem| panic!("{name}: {problem}"));
    let new = &installed.bytes;
    let (old_text, new_text) = (str::from_utf8(old).unwrap(), str::from_utf8(new).unwrap());
    let shown = || format!("{name}\n--- before\n{old_text}\n--- after\n{new_text}");

    // The change consists only of insertions: a comma and the new text, for each array and for the object.
    let pieces = count_insertions(old, new).unwrap_or_else(|| panic!("not an insertion: {}", shown()));
    assert!(pieces <= 2 * (entries.len() + 1), "{pieces} pieces: {}", shown());
    assert!(installed.changes.iter().all(|change| change.kind == HookChangeKind::Added), "{}", shown());

    // According to a second parser, the new file contains the original values and our hooks, and nothing else. If the
    // old file was strict JSON, the new one is too.
    let expected = value_with_entries(parse_jsonc(old_text), place, entries);
    assert_eq!(parse_jsonc(new_text), Some(expected), "{}", shown());
    if serde_json::from_str::<Value>(old_text).is_ok() {
        serde_json::from_str::<Value>(new_text).unwrap_or_else(|error| panic!("{error}: {}", shown()));
    }
    let crlf_only = |text: &str| text.contains('\n') && !text.replace("\r\n", "").contains(['\r', '\n']);
    assert!(!crlf_only(old_text) || crlf_only(new_text), "another line end: {}", shown());

    let again = install_hooks(Some(new), place, entries).unwrap();
    assert_eq!((&again.bytes, again.has_changed()), (new, false), "{}", shown());

    let mut found: Vec<HookEntry> = find_thru_hooks(new, place)
        .unwrap()
        .into_iter()
        .map(|found| HookEntry {
            event: found.event,
            matcher: found.matcher,
            command: found.command,
            timeout: HookTimeout { seconds: found.timeout.unwrap(), unit: TimeoutUnit::Seconds },
        })
        .collect();
    let mut wanted = entries.to_vec();
    let key = |entry: &HookEntry| format!("{entry:?}");
    found.sort_by_key(key);
    wanted.sort_by_key(key);
    assert_eq!(found, wanted, "{}", shown());

    let removed = uninstall_hooks(new, place).unwrap();
    let back = String::from_utf8_lossy(&removed.bytes);
    assert_eq!(back, old_text, "not as before: {}", shown());
    let blank = old_text.trim_start_matches('\u{feff}').trim().is_empty();
    assert_eq!(removed.is_now_blank, blank, "{}", shown());
    assert_eq!(apply_diff(old_text, &unified_diff(old_text, new_text)), new_text, "diff: {}", shown());
    new.clone()
}

/// Applies a diff, as `patch` does.
pub fn apply_diff(old: &str, diff: &str) -> String {
    let mut steps: Vec<(&str, &str)> = Vec::new();
    for line in diff.split_inclusive('\n') {
        match (line.strip_prefix('\\'), steps.last_mut()) {
            // This line of the diff means that the previous line has no line end.
            (Some(_), Some((_, last))) => *last = last.trim_end_matches('\n'),
            _ => steps.push(line.split_at(1)),
        }
    }
    let lines: Vec<&str> = old.split_inclusive('\n').collect();
    let mut out = String::new();
    let mut at = 0;
    for (sign, rest) in steps {
        match sign {
            "@" => {
                // In `@@ -3,2 +3 @@`, the second count is omitted because it is 1.
                let range =
                    rest.split([' ', '-']).find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
                let range = range.unwrap_or_else(|| panic!("{rest}"));
                let (start, count) = range.split_once(',').unwrap_or((range, "1"));
                let [start, count] = [start, count].map(|number| number.parse::<usize>().unwrap());
                let start = if count == 0 { start } else { start - 1 };
                out.extend(lines[at..start].iter().copied());
                at = start;
            }
            " " | "-" => {
                assert_eq!(lines[at], rest);
                if sign == " " {
                    out.push_str(rest);
                }
                at += 1;
            }
            "+" => out.push_str(rest),
            _ => panic!("{sign}{rest}"),
        }
    }
    out.extend(lines[at..].iter().copied());
    out
}
