//! A row of the settings table, and the values that a setting can have.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;

use super::Settings;
use crate::score::DecayShape;

/// One setting. Its default is in [`Settings::DEFAULT`].
#[derive(Debug)]
pub struct SettingRow {
    /// The name in settings files, in the form `group.name`.
    pub name: &'static str,
    /// The variable that overrides the setting, or an empty string if there is none. The name is written out in the
    /// table, so that hooks need not build it.
    pub environment_variable: &'static str,
    pub accepted_values: AcceptedValues,
    pub help_text: &'static str,
    pub scope: SettingScope,
    pub out_of_bounds: OutOfBoundsPolicy,
    /// Former names. They are still accepted, with a note about the current name.
    pub former_names: &'static [FormerSettingName],
    pub(super) read_field: fn(&Settings) -> SettingValue,
    pub(super) write_field: fn(&mut Settings, &SettingValue),
}

#[derive(Debug)]
pub struct FormerSettingName {
    pub name: &'static str,
    pub environment_variable: &'static str,
}

/// What happens to a value that is out of bounds or otherwise not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutOfBoundsPolicy {
    /// A warning reports the value. A number that is out of bounds is replaced by the nearest bound.
    UseNearestBound,
    /// An error reports the value, and the default is used, because any other number would be a guess.
    UseDefault,
}

/// The values that a setting accepts.
#[derive(Debug)]
pub enum AcceptedValues {
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

impl fmt::Display for AcceptedValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AcceptedValues::Flag => f.write_str("true or false"),
            AcceptedValues::Number { min, max } => write!(f, "a whole number from {min} to {max}"),
            AcceptedValues::Decimal { min, max } => write!(f, "a number from {min} to {max}"),
            AcceptedValues::Choice { allowed } => write!(f, "one of {}", allowed.join(", ")),
            AcceptedValues::Text => f.write_str("a non-empty string"),
            AcceptedValues::OptionalText => f.write_str("a string"),
            AcceptedValues::AbsolutePaths => f.write_str("a list of absolute paths, such as [\"/srv/work\"]"),
            AcceptedValues::Words { allowed } => write!(f, "a list of these words: {}", allowed.join(", ")),
            AcceptedValues::TokensByModel { min, max } => {
                write!(f, "a table of model names, each set to a whole number from {min} to {max}")
            }
        }
    }
}

impl fmt::Display for SettingValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingValue::Flag(on) => on.fmt(f),
            SettingValue::Number(n) => n.fmt(f),
            SettingValue::Decimal(n) => n.fmt(f),
            SettingValue::Word(word) => word.fmt(f),
            SettingValue::List(texts) => texts.join(", ").fmt(f),
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
pub enum SettingValue {
    Flag(bool),
    Number(i64),
    Decimal(f64),
    Word(String),
    List(Vec<String>),
}

impl SettingRow {
    /// The values for fields that a row of the table leaves out.
    pub(super) const ROW_DEFAULTS: SettingRow = SettingRow {
        name: "",
        environment_variable: "",
        accepted_values: AcceptedValues::Flag,
        help_text: "",
        scope: SettingScope::Everywhere,
        out_of_bounds: OutOfBoundsPolicy::UseNearestBound,
        former_names: &[],
        read_field: |_| SettingValue::Flag(false),
        write_field: |_, _| {},
    };

    pub fn default_value(&self) -> SettingValue {
        (self.read_field)(&Settings::DEFAULT)
    }

    /// Returns the current name and the former names.
    pub(super) fn all_names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.former_names.iter().map(|old| old.name))
    }

    pub(super) fn has_name(&self, name: &str) -> bool {
        self.all_names().any(|known| known == name)
    }

    /// Returns the variables for this setting. The current variable comes first, because it has priority.
    pub fn environment_variable_names(&self) -> impl Iterator<Item = &'static str> {
        let all = std::iter::once(self.environment_variable)
            .chain(self.former_names.iter().map(|old| old.environment_variable));
        all.filter(|variable| !variable.is_empty())
    }
}

/// A type that a field of [`Settings`] can have.
pub(super) trait SettingFieldType: Sized {
    fn to_value(&self) -> SettingValue;
    /// Converts a value. Returns `None` if the value has another type. This cannot happen, because the value was
    /// checked against its [`AcceptedValues`].
    fn from_value(value: &SettingValue) -> Option<Self>;
}

/// A string whose default is a constant.
pub type ConstantText = Cow<'static, str>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColorSetting {
    Auto,
    Always,
    Never,
}

impl ColorSetting {
    pub const WORDS: &'static [&'static str] = &["auto", "always", "never"];
}

impl SettingFieldType for bool {
    fn to_value(&self) -> SettingValue {
        SettingValue::Flag(*self)
    }

    fn from_value(value: &SettingValue) -> Option<bool> {
        if let SettingValue::Flag(on) = value { Some(*on) } else { None }
    }
}

macro_rules! impl_number_field {
    ($($type:ty),*) => {$(
        impl SettingFieldType for $type {
            fn to_value(&self) -> SettingValue {
                SettingValue::Number(i64::try_from(*self).unwrap_or(i64::MAX))
            }

            fn from_value(value: &SettingValue) -> Option<$type> {
                if let SettingValue::Number(number) = value { (*number).try_into().ok() } else { None }
            }
        }
    )*};
}

impl_number_field!(u32, u64, usize);

impl SettingFieldType for f64 {
    fn to_value(&self) -> SettingValue {
        SettingValue::Decimal(*self)
    }

    fn from_value(value: &SettingValue) -> Option<f64> {
        if let SettingValue::Decimal(number) = value { Some(*number) } else { None }
    }
}

impl SettingFieldType for DecayShape {
    fn to_value(&self) -> SettingValue {
        SettingValue::Word(DecayShape::DECAY_SHAPE_WORDS[*self as usize].to_owned())
    }

    fn from_value(value: &SettingValue) -> Option<DecayShape> {
        let SettingValue::Word(word) = value else { return None };
        [DecayShape::Exponential, DecayShape::Linear]
            .into_iter()
            .find(|mode| DecayShape::DECAY_SHAPE_WORDS[*mode as usize] == word)
    }
}

impl SettingFieldType for ConstantText {
    fn to_value(&self) -> SettingValue {
        SettingValue::Word(self.clone().into_owned())
    }

    fn from_value(value: &SettingValue) -> Option<ConstantText> {
        if let SettingValue::Word(word) = value { Some(Cow::Owned(word.clone())) } else { None }
    }
}

impl SettingFieldType for Vec<String> {
    fn to_value(&self) -> SettingValue {
        SettingValue::List(self.clone())
    }

    fn from_value(value: &SettingValue) -> Option<Vec<String>> {
        if let SettingValue::List(texts) = value { Some(texts.clone()) } else { None }
    }
}

impl SettingFieldType for ColorSetting {
    fn to_value(&self) -> SettingValue {
        SettingValue::Word(ColorSetting::WORDS[*self as usize].to_owned())
    }

    fn from_value(value: &SettingValue) -> Option<ColorSetting> {
        let SettingValue::Word(word) = value else { return None };
        [ColorSetting::Auto, ColorSetting::Always, ColorSetting::Never]
            .into_iter()
            .find(|color| ColorSetting::WORDS[*color as usize] == word)
    }
}
