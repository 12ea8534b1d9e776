//! Structs that are read from JSON field by field and keep unknown fields.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Visitor};

/// Defines a struct whose fields are read and written in this order. All other keys of the object are kept in `rest`.
/// serde's `flatten` is not used because it copies everything it reads. `entry_type as "type"` defines a field that is
/// called `type` in the file.
macro_rules! keeping_the_rest {
    ($(#[$doc:meta])* pub struct $name:ident {
        $($(#[$field_doc:meta])* $field:ident $(as $key:literal)?: $type:ty $(= skip $skip:path)?,)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
            /// The keys that this version does not recognise.
            pub rest: serde_json::Map<String, serde_json::Value>,
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;
                let mut map = serializer.serialize_map(None)?;
                $(if !(false $(|| $skip(&self.$field))?) {
                    map.serialize_entry($crate::plan::fields::key!($field $($key)?), &self.$field)?;
                })*
                for (key, value) in &self.rest {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Fields;
                impl<'de> serde::de::Visitor<'de> for Fields {
                    type Value = $name;

                    fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<$name, A::Error> {
                        let mut read = $name::default();
                        while let Some(key) = map.next_key::<$crate::plan::fields::JsonKey>()? {
                            match key.0.as_ref() {
                                // A null value is read as a missing one, because some programs write null.
                                $($crate::plan::fields::key!($field $($key)?) => {
                                    read.$field = map.next_value::<Option<$type>>()?.unwrap_or_default();
                                })*
                                other => {
                                    let key = other.to_owned();
                                    read.rest.insert(key, map.next_value()?);
                                }
                            }
                        }
                        Ok(read)
                    }
                }
                deserializer.deserialize_map(Fields)
            }
        }
    };
}

/// A key of an object, borrowed from the text unless it contains an escape. A derived `Cow` would copy every key, and a
/// large plan has twenty thousand keys.
pub(crate) struct JsonKey<'t>(pub Cow<'t, str>);

impl<'de> Deserialize<'de> for JsonKey<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = JsonKey<'de>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_str<E>(self, key: &'de str) -> Result<JsonKey<'de>, E> {
                Ok(JsonKey(Cow::Borrowed(key)))
            }

            fn visit_str<E>(self, key: &str) -> Result<JsonKey<'de>, E> {
                Ok(JsonKey(Cow::Owned(key.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// Returns the name of a field in the file.
macro_rules! key {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $key:literal) => {
        $key
    };
}

pub(crate) use {keeping_the_rest, key};
