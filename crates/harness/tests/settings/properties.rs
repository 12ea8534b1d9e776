//! Properties that must hold for arbitrary settings files.

use harness::settings::{
    HookLocation, SettingsProblem, find_thru_hooks, install_hooks, unified_diff, uninstall_hooks,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::generate::generate_file;
use crate::oracle::{apply_diff, check_round_trip, parse_jsonc};
use crate::{claude_code_entries, droid_entries};

const DROID_HOOKS_FILE: HookLocation = HookLocation::DROID_HOOKS;

fn random_choices() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..160)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 700, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_settings_file_is_extended_and_restored(choices in random_choices()) {
        let text = generate_file(&choices, false);
        check_round_trip("generated", text.as_bytes(), &HookLocation::CLAUDE_CODE, &claude_code_entries()[..4]);
    }

    #[test]
    fn any_file_of_events_is_extended_and_restored(choices in random_choices()) {
        let text = generate_file(&choices, true);
        check_round_trip("generated", text.as_bytes(), &DROID_HOOKS_FILE, &droid_entries());
    }

    /// After one byte is added, removed or changed, nothing panics. We accept every file that `serde_json` accepts, and
    /// refuse every file that `jsonc_parser` refuses.
    #[test]
    fn a_file_with_one_wrong_byte_is_read_as_other_parsers_read_it(choices in random_choices(), at in any::<prop::sample::Index>(), byte in any::<u8>(), kind in 0..3) {
        let mut bytes = generate_file(&choices, false).into_bytes();
        prop_assume!(!bytes.is_empty());
        let at = at.index(bytes.len());
        match kind {
            0 => { bytes.remove(at); }
            1 => bytes.insert(at, byte % 128),
            _ => bytes[at] = byte,
        }
        let result = install_hooks(Some(&bytes), &HookLocation::CLAUDE_CODE, &claude_code_entries());
        let Ok(text) = str::from_utf8(&bytes) else {
            let refused = matches!(result, Err(SettingsProblem::NotUtf8 { .. }));
            prop_assert!(refused);
            return Ok(());
        };
        let plain = text.trim_start_matches('\u{feff}');
        if serde_json::from_str::<Value>(plain).is_ok() {
            let refused = matches!(result, Err(SettingsProblem::Invalid { .. }));
            prop_assert!(!refused, "{:?}", result);
        }
        if let Ok(outcome) = &result {
            prop_assert!(parse_jsonc(text).is_some(), "taken: {text}");
            prop_assert!(parse_jsonc(str::from_utf8(&outcome.bytes).unwrap()).is_some());
        }
        let _ = (uninstall_hooks(&bytes, &HookLocation::CLAUDE_CODE), find_thru_hooks(&bytes, &HookLocation::CLAUDE_CODE));
    }

    /// If a version with other events is installed over an earlier version, removing our hooks leaves no trace of
    /// either version.
    #[test]
    fn uninstalling_after_any_upgrade_restores_the_file(choices in random_choices(), first in 0..4usize, second in 0..4usize) {
        let old = generate_file(&choices, false);
        let entries = claude_code_entries();
        let one = install_hooks(Some(old.as_bytes()), &HookLocation::CLAUDE_CODE, &entries[first..first + 2]).unwrap();
        let two = install_hooks(Some(&one.bytes), &HookLocation::CLAUDE_CODE, &entries[second..second + 2]).unwrap();
        prop_assert_eq!(find_thru_hooks(&two.bytes, &HookLocation::CLAUDE_CODE).unwrap().len(), 2);
        let back = uninstall_hooks(&two.bytes, &HookLocation::CLAUDE_CODE).unwrap();
        prop_assert_eq!(String::from_utf8_lossy(&back.bytes), old);
    }

    /// Somebody may add a comment to a file with our entries. Removing our entries then leaves the other values
    /// unchanged. The comment stays too, unless it is inside one of our entries.
    #[test]
    fn a_comment_added_anywhere_survives_uninstalling(choices in random_choices(), at in any::<prop::sample::Index>(), line in any::<bool>()) {
        let old = generate_file(&choices, false);
        let new = install_hooks(Some(old.as_bytes()), &HookLocation::CLAUDE_CODE, &claude_code_entries()[..3]).unwrap().bytes;
        let new = String::from_utf8(new).unwrap();
        let at = new.floor_char_boundary(at.index(new.len() + 1));
        let (before, after) = new.split_at(at);
        let text = format!("{before}{}{after}", if line { "// since\n" } else { "/* since */" });
        // Skip positions where the inserted text would not become a separate comment: inside a string, inside a
        // comment, or before the byte order mark.
        if parse_jsonc(&text) != parse_jsonc(&new) || text.starts_with('/') {
            return Ok(());
        }
        let Ok(removed) = uninstall_hooks(text.as_bytes(), &HookLocation::CLAUDE_CODE) else { return Ok(()) };
        let back = String::from_utf8(removed.bytes).unwrap();
        prop_assert!(find_thru_hooks(back.as_bytes(), &HookLocation::CLAUDE_CODE).unwrap().is_empty());
        prop_assert_eq!(without_empty_hooks(&back), without_empty_hooks(&old), "{}\n---\n{}", text, back);
        // A comment outside our insertion stays. The exact end of the insertion is uncertain, because our entries end
        // in brackets and the text after them may begin with brackets.
        let same = |a: &mut dyn Iterator<Item = u8>, b: &mut dyn Iterator<Item = u8>| a.zip(b).take_while(|(a, b)| a == b).count();
        let head = same(&mut old.bytes(), &mut new.bytes());
        let tail = same(&mut old.bytes().rev(), &mut new.bytes().rev());
        let outside = at <= head || at + tail >= new.len() + 80;
        prop_assert!(!outside || back.contains(" since"), "{}\n---\n{}", text, back);
    }

    #[test]
    fn any_diff_can_be_applied(old in "([ab]\n){0,12}[ab]?", new in "([ab]\n){0,12}[ab]?") {
        prop_assert_eq!(apply_diff(&old, &unified_diff(&old, &new)), new);
    }
}

/// Parses the file, and removes empty hook arrays and objects from the result. Uninstalling leaves them in the file if
/// they contain a comment. This must not count as a difference.
fn without_empty_hooks(text: &str) -> Option<Value> {
    let mut value = parse_jsonc(text)?;
    let root = value.as_object_mut()?;
    if let Some(hooks) = root.get_mut("hooks").and_then(Value::as_object_mut) {
        hooks.retain(|_, groups| groups != &json!([]));
        if hooks.is_empty() {
            root.shift_remove("hooks");
        }
    }
    Some(value).filter(|value| value != &json!({}))
}
