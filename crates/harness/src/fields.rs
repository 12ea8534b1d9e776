//! A JSON object read leniently: any field may be missing, of another type, twice there, or unknown.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The fields of one object, undecoded. What nobody asks for is never looked into, however large it is.
#[derive(Debug, Default)]
pub struct Fields<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Fields<'a> {
    /// What can be read of `json`, and what stopped the reading. A torn payload gives what stands before the tear.
    pub fn parse(json: &'a str) -> (Fields<'a>, Option<serde_json::Error>) {
        let mut fields = Fields::default();
        let mut reader = serde_json::Deserializer::from_str(json);
        let problem = Collect(&mut fields).deserialize(&mut reader).err();
        (fields, problem)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        let raw = self.raw(name)?;
        match serde_json::from_str::<Text>(raw) {
            Ok(Text(text)) => Some(text),
            // Half a surrogate pair is no Unicode, but JavaScript writes it: keep the rest of the text.
            Err(_) if raw.starts_with('"') => {
                let bytes: Bytes = serde_json::from_str(raw).ok()?;
                Some(Cow::Owned(String::from_utf8_lossy(&bytes.0).into_owned()))
            }
            Err(_) => None,
        }
    }

    pub fn number(&self, name: &str) -> Option<u64> {
        serde_json::from_str::<f64>(self.raw(name)?).ok().filter(|n| *n >= 0.0).map(|n| n as u64)
    }

    /// The object in a field; empty where there is none.
    pub fn object(&self, name: &str) -> Fields<'a> {
        self.raw(name).map(|raw| Fields::parse(raw).0).unwrap_or_default()
    }

    /// The objects in an array; empty where there are none.
    pub fn objects(&self, name: &str) -> Vec<Fields<'a>> {
        let items: Vec<&'a RawValue> =
            self.raw(name).and_then(|raw| serde_json::from_str(raw).ok()).unwrap_or_default();
        items.into_iter().map(|item| Fields::parse(item.get()).0).collect()
    }

    /// Every field that holds a text, with its name.
    pub fn texts(&self) -> Vec<(Cow<'a, str>, Cow<'a, str>)> {
        self.0.iter().filter_map(|(key, _)| Some((key.clone(), self.text(key)?))).collect()
    }

    /// The last one wins, as in every JSON parser the harnesses use.
    fn raw(&self, name: &str) -> Option<&'a str> {
        self.0.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.get())
    }
}

struct Collect<'f, 'a>(&'f mut Fields<'a>);

impl<'a> DeserializeSeed<'a> for Collect<'_, 'a> {
    type Value = ();
    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for Collect<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Key>()? {
            match key {
                Key::Text(key) => self.0.0.push((key, map.next_value()?)),
                Key::Unreadable => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// Borrowed where the text has no escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

enum Key<'a> {
    Text(Cow<'a, str>),
    Unreadable,
}

impl<'a> Deserialize<'a> for Key<'a> {
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'a> Visitor<'a> for Reader {
            type Value = Key<'a>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_borrowed_bytes<E>(self, bytes: &'a [u8]) -> Result<Key<'a>, E> {
                Ok(std::str::from_utf8(bytes).map_or(Key::Unreadable, |text| Key::Text(text.into())))
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Key<'a>, E> {
                Ok(std::str::from_utf8(bytes)
                    .map_or(Key::Unreadable, |text| Key::Text(text.to_owned().into())))
            }
        }
        // As bytes: a key with half a surrogate pair must not end the reading of the object.
        deserializer.deserialize_bytes(Reader)
    }
}

struct Bytes(Vec<u8>);

impl<'a> Deserialize<'a> for Bytes {
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Bytes;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }
        }
        deserializer.deserialize_bytes(Reader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_can_be_read() {
        let (fields, problem) =
            Fields::parse(r#"{"a":"x\ny","n":3.0,"o":{"b":"z"},"bad":[1],"a2":null,"s":"x\ud800y"}"#);
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
        let (fields, problem) = Fields::parse(r#"{"a":"1","\ud800":2,"a":"3","k\u0065y":"4"}"#);
        assert!(problem.is_none(), "{problem:?}");
        assert_eq!(fields.text("a").as_deref(), Some("3"));
        assert_eq!(fields.text("key").as_deref(), Some("4"));
    }

    #[test]
    fn a_torn_object_gives_its_beginning() {
        let (fields, problem) = Fields::parse(r#"{"session_id":"s","prompt":"abc"#);
        assert!(problem.is_some());
        assert_eq!(fields.text("session_id").as_deref(), Some("s"));
    }

    #[test]
    fn what_follows_the_object_is_ignored() {
        assert!(Fields::parse("{\"a\":1}\n{\"b\":2}").1.is_none());
        for junk in ["", "[]", "7", "\"x\"", "null", "nonsense"] {
            assert!(Fields::parse(junk).1.is_some(), "{junk}");
        }
    }

    #[test]
    fn depth_is_no_danger() {
        let deep = format!("{{\"a\":{}{},\"b\":\"x\"}}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(Fields::parse(&deep).0.text("b").as_deref(), Some("x"));
    }
}
