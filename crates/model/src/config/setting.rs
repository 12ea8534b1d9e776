//! A row of the settings table, and the values that a setting can have.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;

use super::Settings;
use crate::score::DecayShape;

/// One setting. Its default is in [`Settings::DEFAULT`].
#[derive(Debug)]
pub struct Key {
    /// The name in settings files, in the form `group.name`.
    pub name: &'static str,
    /// The variable that overrides the setting, or an empty string if there is none. The name is written out in the
    /// table, so that hooks need not build it.
    pub variable: &'static str,
    pub shape: ValueShape,
    pub help: &'static str,
    pub scope: SettingScope,
    pub outside: OutOfBounds,
    /// Former names. They are still accepted, with a note about the current name.
    pub old: &'static [OldName],
    pub(super) get: fn(&Settings) -> Value,
    pub(super) set: fn(&mut Settings, &Value),
}

#[derive(Debug)]
pub struct OldName {
    pub name: &'static str,
    pub variable: &'static str,
}

/// What happens to a value that is out of bounds or otherwise not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutOfBounds {
    /// The value is reported as a warning, and a number is moved to the nearer bound.
    UseNearestBound,
    /// The value is reported as an error, and the default is used, because any other number would be a guess.
    UseDefault,
}

/// The values that a setting accepts.
#[derive(Debug)]
pub enum ValueShape {
    Flag,
    Number {
        min: i64,
        max: i64,
    },
    /// A number that may have a fraction.
    Decimal {
        min: f64,
        max: f64,
    },
    Choice {
        allowed: &'static [&'static str],
    },
    /// A string that must not be empty.
    Text,
    /// A string. If it is empty, the setting is not set.
    OptionalText,
    AbsolutePaths,
    /// A list of allowed words, or a string that contains such words separated by commas.
    Words {
        allowed: &'static [&'static str],
    },
    /// A table that maps patterns for model names to numbers of tokens.
    TokensByModel {
        min: i64,
        max: i64,
    },
}

impl fmt::Display for ValueShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueShape::Flag => f.write_str("true or false"),
            ValueShape::Number { min, max } => write!(f, "a whole number from {min} to {max}"),
            ValueShape::Decimal { min, max } => write!(f, "a number from {min} to {max}"),
            ValueShape::Choice { allowed } => write!(f, "one of {}", allowed.join(", ")),
            ValueShape::Text => f.write_str("a text that is not empty"),
            ValueShape::OptionalText => f.write_str("a text"),
            ValueShape::AbsolutePaths => f.write_str("a list of absolute paths, such as [\"/srv/work\"]"),
            ValueShape::Words { allowed } => write!(f, "a list of these words: {}", allowed.join(", ")),
            ValueShape::TokensByModel { min, max } => {
                write!(f, "a table of model names, each with a whole number from {min} to {max}")
            }
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Flag(on) => on.fmt(f),
            Value::Number(n) => n.fmt(f),
            Value::Decimal(n) => n.fmt(f),
            Value::Word(word) => word.fmt(f),
            Value::List(texts) => texts.join(", ").fmt(f),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingScope {
    /// The setting is accepted in both settings files and as a variable.
    Everywhere,
    /// The setting is accepted only in the user's own file. It is ignored in project files and as a variable, because
    /// any script can set a variable.
    OnlyUserFile,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    Flag(bool),
    Number(i64),
    Decimal(f64),
    Word(String),
    List(Vec<String>),
}

impl Key {
    /// The values for fields that a row of the table leaves out.
    pub(super) const ROW_DEFAULTS: Key = Key {
        name: "",
        variable: "",
        shape: ValueShape::Flag,
        help: "",
        scope: SettingScope::Everywhere,
        outside: OutOfBounds::UseNearestBound,
        old: &[],
        get: |_| Value::Flag(false),
        set: |_, _| {},
    };

    pub fn default(&self) -> Value {
        (self.get)(&Settings::DEFAULT)
    }

    /// Returns the current name and the former names.
    pub(super) fn all_names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.old.iter().map(|old| old.name))
    }

    pub(super) fn has_name(&self, name: &str) -> bool {
        self.all_names().any(|known| known == name)
    }

    /// Returns the variables for this setting. The current variable comes first, because it has priority.
    pub fn variable_names(&self) -> impl Iterator<Item = &'static str> {
        let all = std::iter::once(self.variable).chain(self.old.iter().map(|old| old.variable));
        all.filter(|variable| !variable.is_empty())
    }
}

/// A type that a field of [`Settings`] can have.
pub(super) trait FieldType: Sized {
    fn to_value(&self) -> Value;
    /// Converts a value. Returns `None` if the value has another type. This cannot happen, because the value was
    /// checked against its [`ValueShape`].
    fn from_value(value: &Value) -> Option<Self>;
}

/// A string whose default is a constant.
pub type ConstantText = Cow<'static, str>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    Auto,
    Always,
    Never,
}

impl Color {
    pub const WORDS: &'static [&'static str] = &["auto", "always", "never"];
}

impl FieldType for bool {
    fn to_value(&self) -> Value {
        Value::Flag(*self)
    }

    fn from_value(value: &Value) -> Option<bool> {
        if let Value::Flag(on) = value { Some(*on) } else { None }
    }
}

macro_rules! number_field {
    ($($type:ty),*) => {$(
        impl FieldType for $type {
            fn to_value(&self) -> Value {
                Value::Number(i64::try_from(*self).unwrap_or(i64::MAX))
            }

            fn from_value(value: &Value) -> Option<$type> {
                if let Value::Number(number) = value { (*number).try_into().ok() } else { None }
            }
        }
    )*};
}

number_field!(u32, u64, usize);

impl FieldType for f64 {
    fn to_value(&self) -> Value {
        Value::Decimal(*self)
    }

    fn from_value(value: &Value) -> Option<f64> {
        if let Value::Decimal(number) = value { Some(*number) } else { None }
    }
}

impl FieldType for DecayShape {
    fn to_value(&self) -> Value {
        Value::Word(DecayShape::WORDS[*self as usize].to_owned())
    }

    fn from_value(value: &Value) -> Option<DecayShape> {
        let Value::Word(word) = value else { return None };
        [DecayShape::Exponential, DecayShape::Linear]
            .into_iter()
            .find(|mode| DecayShape::WORDS[*mode as usize] == word)
    }
}

impl FieldType for ConstantText {
    fn to_value(&self) -> Value {
        Value::Word(self.clone().into_owned())
    }

    fn from_value(value: &Value) -> Option<ConstantText> {
        if let Value::Word(word) = value { Some(Cow::Owned(word.clone())) } else { None }
    }
}

impl FieldType for Vec<String> {
    fn to_value(&self) -> Value {
        Value::List(self.clone())
    }

    fn from_value(value: &Value) -> Option<Vec<String>> {
        if let Value::List(texts) = value { Some(texts.clone()) } else { None }
    }
}

impl FieldType for Color {
    fn to_value(&self) -> Value {
        Value::Word(Color::WORDS[*self as usize].to_owned())
    }

    fn from_value(value: &Value) -> Option<Color> {
        let Value::Word(word) = value else { return None };
        [Color::Auto, Color::Always, Color::Never]
            .into_iter()
            .find(|color| Color::WORDS[*color as usize] == word)
    }
}
