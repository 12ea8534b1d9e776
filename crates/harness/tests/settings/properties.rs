//! What holds of any file at all.

use harness::settings::{Place, Problem, diff, find, install, uninstall};
use proptest::prelude::*;

use crate::generate::file;
use crate::oracle::{apply_diff, check, read};
use crate::{claude_code, droid};

const BARE: Place = Place::DROID_HOOKS;

fn choices() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..160)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_settings_file(choices in choices()) {
        let text = file(&choices, false);
        check("generated", text.as_bytes(), &Place::CLAUDE_CODE, &claude_code()[..4]);
    }

    #[test]
    fn any_file_of_events(choices in choices()) {
        let text = file(&choices, true);
        check("generated", text.as_bytes(), &BARE, &droid());
    }

    /// One byte more, less or other: nobody panics, what a strict reader takes we take, and what a second reader refuses
    /// we refuse.
    #[test]
    fn any_damage(choices in choices(), at in any::<prop::sample::Index>(), byte in any::<u8>(), kind in 0..3) {
        let mut bytes = file(&choices, false).into_bytes();
        prop_assume!(!bytes.is_empty());
        let at = at.index(bytes.len());
        match kind {
            0 => { bytes.remove(at); }
            1 => bytes.insert(at, byte % 128),
            _ => bytes[at] = byte,
        }
        let result = install(Some(&bytes), &Place::CLAUDE_CODE, &claude_code());
        let Ok(text) = str::from_utf8(&bytes) else {
            let refused = matches!(result, Err(Problem::NotUtf8 { .. }));
            prop_assert!(refused);
            return Ok(());
        };
        let plain = text.trim_start_matches('\u{feff}');
        if serde_json::from_str::<serde_json::Value>(plain).is_ok() {
            let refused = matches!(result, Err(Problem::Invalid { .. }));
            prop_assert!(!refused, "{:?}", result);
        }
        if let Ok(outcome) = &result {
            prop_assert!(read(text).is_some(), "taken: {text}");
            prop_assert!(read(str::from_utf8(&outcome.bytes).unwrap()).is_some());
        }
        let _ = (uninstall(&bytes, &Place::CLAUDE_CODE), find(&bytes, &Place::CLAUDE_CODE));
    }

    /// Somebody puts a comment anywhere into a file with our entries. Taking ours out leaves the values, and the comment
    /// unless it was inside one of ours.
    #[test]
    fn any_comment_since(choices in choices(), at in any::<prop::sample::Index>(), line in any::<bool>()) {
        let old = file(&choices, false);
        let new = install(Some(old.as_bytes()), &Place::CLAUDE_CODE, &claude_code()[..3]).unwrap();
        let mut text = String::from_utf8(new.bytes).unwrap();
        let mut at = at.index(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        text.insert_str(at, if line { "// since\n" } else { "/* since */" });
        // In a string or before the mark it is no comment.
        prop_assume!(read(&text).is_some() && read(&text) == read(str::from_utf8(
            &install(Some(old.as_bytes()), &Place::CLAUDE_CODE, &claude_code()[..3]).unwrap().bytes).unwrap()));
        let Ok(removed) = uninstall(text.as_bytes(), &Place::CLAUDE_CODE) else { return Ok(()) };
        let back = String::from_utf8(removed.bytes).unwrap();
        prop_assert!(find(back.as_bytes(), &Place::CLAUDE_CODE).unwrap().is_empty());
        let without_hooks = |text: &str| {
            let mut value = read(text).unwrap_or_default();
            if let Some(object) = value.as_object_mut() {
                let empty = object.get("hooks").and_then(|hooks| hooks.as_object()).is_some_and(|hooks| {
                    hooks.values().all(|groups| groups.as_array().is_some_and(Vec::is_empty))
                });
                if empty { object.shift_remove("hooks"); }
                if object.is_empty() { return serde_json::Value::Null; }
                if let Some(hooks) = object.get_mut("hooks").and_then(|hooks| hooks.as_object_mut()) {
                    hooks.retain(|_, groups| groups.as_array().is_none_or(|groups| !groups.is_empty()));
                }
            }
            value
        };
        prop_assert_eq!(without_hooks(&back), without_hooks(&old), "{}\n---\n{}", text, back);
        // Nothing that was there before is lost.
        let blanks = |text: &str| text.split_whitespace().collect::<String>();
        let back_blanks = blanks(&back).replacen("//since", "", 1).replacen("/*since*/", "", 1);
        prop_assert!(back_blanks.len() >= blanks(&old).len(), "{}\n---\n{}\n---\n{}", old, text, back);
    }

    #[test]
    fn any_diff(old in "([ab]\n){0,12}[ab]?", new in "([ab]\n){0,12}[ab]?") {
        prop_assert_eq!(apply_diff(&old, &diff(&old, &new)), new);
    }
}
