use super::*;

fn raw_fields(json: &str) -> (Vec<(&str, &str)>, bool) {
    let text = |bytes| std::str::from_utf8(bytes).unwrap();
    let mut walk = JsonWalk::new(json.as_bytes());
    let mut found = Vec::new();
    if walk.enter_object() {
        while let Some(key) = walk.next_key() {
            found.push((text(key), text(walk.take_raw().0)));
        }
    }
    (found, walk.is_torn())
}

#[test]
fn steps_over_every_kind_of_value() {
    let json = r#" {"a": 1 ,"b":"x\"}\\","c":{"d":["]",{}]},"e":null,"f":[],"g":-1.5e3}"#;
    let expected = [
        ("a", "1"),
        ("b", r#""x\"}\\""#),
        ("c", r#"{"d":["]",{}]}"#),
        ("e", "null"),
        ("f", "[]"),
        ("g", "-1.5e3"),
    ];
    assert_eq!(raw_fields(json), (expected.to_vec(), false));
}

#[test]
fn a_tear_ends_the_walk_and_nothing_else() {
    let json = r#"{"a":"x","b":[1,{"c":"y"}],"d":true}"#;
    for end in 0..json.len() {
        let (found, torn) = raw_fields(&json[..end]);
        assert!(torn || end == 0 || !json[..end].starts_with('{'), "{end}");
        assert!(found.len() <= 3);
    }
    for junk in
        ["", "7", "[]", "}", "{]", "{\"a\"", "{\"a\":", "{\"a\":}", "{a:1}", "\u{0}", "{\"a\":\"x\"y\":1}"]
    {
        raw_fields(junk);
    }
}

#[test]
fn walks_into_what_is_asked_for() {
    let mut walk = JsonWalk::new(br#"{"list":[{"n":7},"no",{"n":"x"}],"flag":true,"text":"a\u00e9b"}tail"#);
    assert!(walk.enter_object());
    let mut numbers = Vec::new();
    while let Some(key) = walk.next_key() {
        match key {
            b"list" => {
                assert!(walk.enter_array());
                while walk.next_element() {
                    if walk.enter_object() {
                        while walk.next_key().is_some() {
                            numbers.push(walk.take_raw().number());
                        }
                    }
                }
            }
            b"flag" => assert!(walk.take_raw().is_true()),
            _ => assert_eq!(walk.take_text(99).as_deref(), Some("aéb")),
        }
    }
    assert_eq!(numbers, [Some(7), None]);
    assert_eq!(walk.unread_bytes(), b"tail");
    assert!(!walk.is_torn());
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    let deep = format!("{{\"a\":{}{},\"b\":1}}", "[".repeat(100_000), "]".repeat(100_000));
    let (found, torn) = raw_fields(&deep);
    assert_eq!((found.len(), torn), (2, false));
    assert!(raw_fields(&"{\"a\":".repeat(100_000)).1);
}

#[test]
fn a_cut_splits_no_character_and_no_escape() {
    let whole = r#""aé\n\u00e9\\\"ü\ud83d\ude00z""#;
    let all = RawJson(whole.as_bytes()).text(usize::MAX).unwrap();
    assert_eq!(all, "aé\né\\\"ü😀z");
    for max in 0..whole.len() {
        let cut = RawJson(whole.as_bytes()).text(max).unwrap();
        // If the cut is between the halves of a surrogate pair, the last character is U+FFFD.
        assert!(all.starts_with(cut.trim_end_matches('\u{FFFD}')), "{max}: {cut}");
    }
    assert_eq!(RawJson(b"7").text(9), None);
    assert_eq!(RawJson(b"\"").text(9), None);
}

#[test]
fn text_that_is_no_unicode_is_kept_as_far_as_it_is() {
    assert_eq!(RawJson(b"\"a\xffb\"").text(9).as_deref(), Some("a\u{FFFD}b"));
    assert_eq!(RawJson(b"\"a\xff\\nb\"").text(9).as_deref(), Some("a\u{FFFD}\nb"));
    assert!(
        RawJson(b"\"a\\ud800b\"").text(9).is_some_and(|text| text.starts_with('a') && text.ends_with('b'))
    );
    assert_eq!(RawJson(b"\"a\tb\0\"").text(9).as_deref(), Some("a\tb\0"));
    assert_eq!(RawJson(b"\"a\\xb\"").text(9).as_deref(), Some("a\\xb"));
}
