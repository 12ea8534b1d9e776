//! Reads a JSON object leniently: any field may be missing, duplicated, unknown or of another type.

use std::borrow::Cow;

use crate::transcript::message::first_text_block;
use crate::transcript::walk::{JsonWalk, RawJson, decode_string};

/// The undecoded fields of one object. A field that is not used is never parsed, however large it is.
#[derive(Debug, Default)]
pub struct JsonFields<'a>(Vec<(Cow<'a, str>, RawJson<'a>)>);

impl<'a> JsonFields<'a> {
    /// Returns the fields of `json`. If reading stopped early, also returns the reason. For a truncated payload,
    /// returns the fields before the cut.
    pub fn parse(json: &'a [u8]) -> (JsonFields<'a>, Option<&'static str>) {
        let mut fields = JsonFields::default();
        let mut walk = JsonWalk::new(json);
        if !walk.enter_object() {
            return (fields, Some("it does not begin with {"));
        }
        while let Some(key) = walk.next_key() {
            let value = walk.take_raw();
            if walk.is_torn() {
                break;
            }
            fields.0.push((decode_string(key), value));
        }
        let problem = walk.is_torn().then_some("it is truncated");
        (fields, problem)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.raw_value(name)?.text(usize::MAX)
    }

    /// Returns the bytes between the quotes of a string, undecoded.
    pub fn string_bytes(&self, name: &str) -> Option<&'a [u8]> {
        self.raw_value(name)?.string_bytes()
    }

    /// Returns a tool's result in any form: a string, the first text in a list of blocks, or an object as raw JSON.
    pub fn result_text(&self, name: &str) -> Option<Cow<'a, str>> {
        let raw = self.raw_value(name)?;
        raw.text(usize::MAX)
            .or_else(|| Some(first_text_block(raw, usize::MAX)).filter(|text| !text.is_empty()))
            .or_else(|| raw.as_written().map(Cow::Borrowed))
    }

    /// Returns the raw bytes of a field, or an empty slice if the field is missing.
    pub fn raw_bytes(&self, name: &str) -> &'a [u8] {
        self.raw_value(name).map(RawJson::as_json_bytes).unwrap_or_default()
    }

    pub fn number(&self, name: &str) -> Option<u64> {
        self.raw_value(name)?.number()
    }

    pub fn boolean(&self, name: &str) -> Option<bool> {
        let raw = self.raw_value(name)?;
        (raw.is_true() || raw.is_false()).then(|| raw.is_true())
    }

    /// Returns the object in a field. The result is empty if the field is missing.
    pub fn object(&self, name: &str) -> JsonFields<'a> {
        self.raw_value(name).map(RawJson::fields).unwrap_or_default()
    }

    /// Returns the objects in an array. The result is empty if there is no array.
    pub fn objects(&self, name: &str) -> Vec<JsonFields<'a>> {
        let mut objects = Vec::new();
        if let Some(mut walk) = self.raw_value(name).map(RawJson::walk)
            && walk.enter_array()
        {
            while walk.next_element() {
                objects.push(walk.take_raw().fields());
            }
        }
        objects
    }

    /// Returns the lists of strings in an array. The result is empty if there is no array.
    pub fn text_lists(&self, name: &str) -> Vec<Vec<Cow<'a, str>>> {
        let mut lists = Vec::new();
        if let Some(mut walk) = self.raw_value(name).map(RawJson::walk)
            && walk.enter_array()
        {
            while walk.next_element() {
                let mut texts = Vec::new();
                let mut list = walk.take_raw().walk();
                if list.enter_array() {
                    while list.next_element() {
                        texts.extend(list.take_text(usize::MAX));
                    }
                }
                lists.push(texts);
            }
        }
        lists
    }

    /// Lists every field that contains a string, with its name.
    pub fn text_fields(&self) -> Vec<(Cow<'a, str>, Cow<'a, str>)> {
        self.0.iter().filter_map(|(key, _)| Some((key.clone(), self.text(key)?))).collect()
    }

    /// Returns a field's value. If a key occurs twice, returns the last value, as the JSON parsers of the harnesses do.
    fn raw_value(&self, name: &str) -> Option<RawJson<'a>> {
        self.0.iter().rev().find(|(key, _)| key == name).map(|(_, value)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_can_be_read() {
        let (fields, problem) =
            JsonFields::parse(br#"{"a":"x\ny","n":3.0,"o":{"b":"z"},"bad":[1],"a2":null,"s":"x\ud800y"}"#);
        assert!(problem.is_none());
        assert_eq!(fields.text("a").as_deref(), Some("x\ny"));
        assert_eq!(fields.number("n"), Some(3));
        assert_eq!(fields.object("o").text("b").as_deref(), Some("z"));
        assert_eq!(fields.text("bad"), None);
        assert_eq!(fields.text("a2"), None);
        assert_eq!(fields.number("a"), None);
        assert!(fields.object("a").is_empty() && fields.object("nope").is_empty());
        assert!(fields.text("s").is_some_and(|s| s.starts_with('x') && s.ends_with('y')));
    }

    #[test]
    fn doubled_keys_and_odd_keys_do_no_harm() {
        let (fields, problem) = JsonFields::parse(br#"{"a":"1","\ud800":2,"a":"3","k\u0065y":"4"}"#);
        assert!(problem.is_none(), "{problem:?}");
        assert_eq!(fields.text("a").as_deref(), Some("3"));
        assert_eq!(fields.text("key").as_deref(), Some("4"));
    }

    #[test]
    fn a_torn_object_gives_its_beginning() {
        let (fields, problem) = JsonFields::parse(br#"{"session_id":"s","prompt":"abc"#);
        assert!(problem.is_some());
        assert_eq!(fields.text("session_id").as_deref(), Some("s"));
    }

    #[test]
    fn what_follows_the_object_is_ignored() {
        assert!(JsonFields::parse(b"{\"a\":1}\n{\"b\":2}").1.is_none());
        for junk in ["", "[]", "7", "\"x\"", "null", "nonsense"] {
            assert!(JsonFields::parse(junk.as_bytes()).1.is_some(), "{junk}");
        }
    }

    #[test]
    fn deep_nesting_does_not_overflow_the_stack() {
        let deep = format!("{{\"a\":{}{},\"b\":\"x\"}}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(JsonFields::parse(deep.as_bytes()).0.text("b").as_deref(), Some("x"));
    }
}
