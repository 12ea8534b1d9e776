//! A validation finding: the problem, its location and a hint.

use std::fmt;

use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FindingLevel {
    /// For information only.
    Note,
    /// Everything works, but probably not as intended.
    Warning,
    /// Something will not work until somebody fixes it.
    Error,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub level: FindingLevel,
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Finding {
    pub fn new(level: FindingLevel, text: impl Into<String>) -> Finding {
        Finding { level, text: text.into(), file: None, line: None, hint: None }
    }

    pub fn at_line(mut self, file: impl Into<String>, line: Option<usize>) -> Finding {
        self.file = Some(file.into());
        self.line = line;
        self
    }

    pub fn with_hint(mut self, hint: impl Into<String>) -> Finding {
        self.hint = Some(hint.into());
        self
    }
}

/// Prints the finding on one line without the hint, such as `config.toml:3: message`.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{file}:{line}: {}", self.text),
            (Some(file), None) => write!(f, "{file}: {}", self.text),
            (None, _) => f.write_str(&self.text),
        }
    }
}
