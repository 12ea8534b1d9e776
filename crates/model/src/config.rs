//! Settings: one table of keys, layers laid over each other, and a word about every value that was not taken.

mod keys;
mod stage;

use std::borrow::Cow;

use serde::Serialize;
use toml_edit::{Document, Item, TableLike};

use crate::finding::{Finding, Level};
use crate::redact;
use crate::text::did_you_mean;

use keys::{
    DEFAULT_ARCHITECTURE_DOC, DEFAULT_ROLES_DIR, GATES_JOBS, GATES_LIVE_STATE_FILE, GATES_TIMEOUT_S,
    HOOKS_AUTO_INIT, HOOKS_COMPACTION_GUIDANCE, HOOKS_DEADLINE_MS, HOOKS_ENABLED, HOOKS_GATE_REMINDERS,
    HOOKS_LOG_LIMIT_KIB, LOOPS_NO_PROGRESS_TURNS, LOOPS_VALIDATOR_TIMEOUT, OUTPUT_COLOR, REDACT_EMAILS,
    RESUME_GLOBS, RESUME_INLINE, RESUME_MAX_AGE_HOURS, ROLES_ARCHITECTURE_DOC, ROLES_DIR, ROLES_STALE_HOURS,
    ROOTS_ALLOW,
};

pub use keys::{KEYS, Key, Shape};
pub use stage::Stage;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Value {
    Flag(bool),
    Number(i64),
    Word(String),
    List(Vec<String>),
}

/// Where a value comes from, in words for `thru config`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    pub key: &'static str,
    pub value: Value,
    pub source: String,
}

/// The values that code reads. Built only from [`Entry`]s that passed their [`Shape`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    pub hooks_enabled: bool,
    pub hooks_auto_init: bool,
    pub compaction_guidance: bool,
    pub hooks_deadline_ms: u64,
    pub log_limit_bytes: u64,
    pub no_progress_turns: u64,
    pub validator_timeout: u32,
    pub gate_reminders: bool,
    pub resume_inline: bool,
    pub resume_max_age_hours: u64,
    pub resume_globs: String,
    pub redact_emails: bool,
    pub output_color: Color,
    pub roles_dir: Cow<'static, str>,
    pub roles_stale_hours: u64,
    pub roles_architecture_doc: Cow<'static, str>,
    pub gates_jobs: usize,
    pub gates_timeout_s: u64,
    /// Empty: there is none.
    pub live_state_file: String,
    pub roots_allow: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    Auto,
    Always,
    Never,
}

/// One place settings come from.
#[derive(Clone, Copy, Debug)]
pub enum Layer<'a> {
    /// A TOML file: its path for messages, and its text.
    File { path: &'a str, text: &'a str },
    /// The user's own file, which may say more than a project's.
    UserFile { path: &'a str, text: &'a str },
    /// The environment variable of a key.
    Variable { key: &'a Key, text: &'a str },
}

#[derive(Clone, Debug)]
pub struct Resolved {
    /// One per key, in the order of [`KEYS`].
    pub entries: Vec<Entry>,
    /// In the order in which they were met.
    pub stages: Vec<Stage>,
    pub findings: Vec<Finding>,
}

/// Lays `layers` over the defaults, later ones on top.
pub fn resolve(layers: &[Layer]) -> Resolved {
    let mut resolved = Resolved {
        entries: KEYS
            .iter()
            .map(|key| Entry { key: key.name, value: key.default(), source: "default".to_owned() })
            .collect(),
        stages: Vec::new(),
        findings: Vec::new(),
    };
    for layer in layers {
        match *layer {
            Layer::File { path, text } => resolved.lay_file(path, text, Author::Project),
            Layer::UserFile { path, text } => resolved.lay_file(path, text, Author::User),
            Layer::Variable { key, text } => resolved.lay_variable(key, text),
        }
    }
    resolved
}

impl Key {
    fn default(&self) -> Value {
        match self.shape {
            Shape::Flag(on) => Value::Flag(on),
            Shape::Number { default, .. } => Value::Number(default),
            Shape::OwnPaths => Value::List(Vec::new()),
            Shape::Choice { default, .. } | Shape::Text { default } => Value::Word(default.to_owned()),
        }
    }

    /// The value to use for what was written, and a word where that is not the same thing.
    fn admit(&self, written: &Written) -> (Option<Value>, Option<String>) {
        let refuse =
            |what: &str| (None, Some(format!("{} must be {what}; this value is ignored", self.name)));
        let settled;
        let written = match written {
            Written::Loose(text) => {
                settled = Written::settled(text, &self.shape);
                &settled
            }
            written => written,
        };
        match (&self.shape, written) {
            (Shape::Flag(_), Written::Flag(on)) => (Some(Value::Flag(*on)), None),
            (Shape::Flag(_), _) => refuse("true or false"),
            (Shape::Number { min, max, .. }, Written::Number(n)) => {
                let clamped = *n.clamp(min, max);
                let word = format!("{} is {n}, outside {min} to {max}; {clamped} is used", self.name);
                (Some(Value::Number(clamped)), (clamped != *n).then_some(word))
            }
            (Shape::Number { min, max, .. }, _) => refuse(&format!("a whole number from {min} to {max}")),
            (Shape::Choice { allowed, .. }, Written::Word(word)) if allowed.contains(&word.as_str()) => {
                (Some(Value::Word(word.clone())), None)
            }
            (Shape::Choice { allowed, .. }, _) => refuse(&format!("one of {}", allowed.join(", "))),
            (Shape::OwnPaths, Written::List(paths)) if paths.iter().all(|path| path.starts_with('/')) => {
                (Some(Value::List(paths.clone())), None)
            }
            (Shape::OwnPaths, _) => refuse("a list of absolute paths, such as [\"/srv/work\"]"),
            (Shape::Text { default }, Written::Word(word))
                if default.is_empty() || !word.trim().is_empty() =>
            {
                (Some(Value::Word(word.clone())), None)
            }
            (Shape::Text { .. }, _) => refuse("a text that is not empty"),
        }
    }
}

impl Resolved {
    pub fn settings(&self) -> Settings {
        let mut settings = Settings::default();
        for Entry { key, value, .. } in &self.entries {
            match (*key, value) {
                (HOOKS_ENABLED, Value::Flag(on)) => settings.hooks_enabled = *on,
                (HOOKS_AUTO_INIT, Value::Flag(on)) => settings.hooks_auto_init = *on,
                (HOOKS_COMPACTION_GUIDANCE, Value::Flag(on)) => settings.compaction_guidance = *on,
                (HOOKS_DEADLINE_MS, Value::Number(n)) => settings.hooks_deadline_ms = n.unsigned_abs(),
                (HOOKS_LOG_LIMIT_KIB, Value::Number(n)) => settings.log_limit_bytes = n.unsigned_abs() * 1024,
                (LOOPS_NO_PROGRESS_TURNS, Value::Number(n)) => settings.no_progress_turns = n.unsigned_abs(),
                (LOOPS_VALIDATOR_TIMEOUT, Value::Number(n)) => {
                    settings.validator_timeout = u32::try_from(*n).unwrap_or(u32::MAX);
                }
                (HOOKS_GATE_REMINDERS, Value::Flag(on)) => settings.gate_reminders = *on,
                (RESUME_INLINE, Value::Flag(on)) => settings.resume_inline = *on,
                (RESUME_MAX_AGE_HOURS, Value::Number(n)) => settings.resume_max_age_hours = n.unsigned_abs(),
                (RESUME_GLOBS, Value::Word(word)) => settings.resume_globs.clone_from(word),
                (REDACT_EMAILS, Value::Flag(on)) => settings.redact_emails = *on,
                (OUTPUT_COLOR, Value::Word(word)) => settings.output_color = Color::parse(word),
                (ROLES_DIR, Value::Word(text)) => settings.roles_dir = Cow::Owned(text.clone()),
                (ROLES_STALE_HOURS, Value::Number(n)) => settings.roles_stale_hours = n.unsigned_abs(),
                (ROLES_ARCHITECTURE_DOC, Value::Word(text)) => {
                    settings.roles_architecture_doc = Cow::Owned(text.clone());
                }
                (GATES_JOBS, Value::Number(n)) => settings.gates_jobs = usize::try_from(*n).unwrap_or(1),
                (GATES_TIMEOUT_S, Value::Number(n)) => settings.gates_timeout_s = n.unsigned_abs(),
                (GATES_LIVE_STATE_FILE, Value::Word(path)) => settings.live_state_file.clone_from(path),
                (ROOTS_ALLOW, Value::List(paths)) => settings.roots_allow.clone_from(paths),
                _ => {}
            }
        }
        settings
    }

    fn lay_file(&mut self, path: &str, text: &str, author: Author) {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let document = match Document::parse(text) {
            Ok(document) => document,
            Err(error) => {
                let line = error.span().map(|span| line_of(text, span.start));
                let first = error.message().lines().next().unwrap_or("it does not parse").to_owned();
                let finding = Finding::new(Level::Error, format!("not valid TOML: {first}")).at(path, line);
                self.findings.push(finding.hint("mend that line; until then the whole file is ignored"));
                return;
            }
        };
        self.lay_table(document.as_table(), "", stage::Place { path, text }, author);
    }

    fn lay_table(&mut self, table: &dyn TableLike, prefix: &str, place: stage::Place, author: Author) {
        let stage::Place { path, text } = place;
        for (word, item) in table.iter() {
            let name = if prefix.is_empty() { word.to_owned() } else { format!("{prefix}.{word}") };
            let line = table.key(word).and_then(toml_edit::Key::span).map(|span| line_of(text, span.start));
            if name == "stages" {
                self.findings.extend(stage::lay(&mut self.stages, item, line, place));
            } else if let Some(key) = KEYS.iter().find(|key| key.name == name) {
                if matches!(key.shape, Shape::OwnPaths) && author != Author::User {
                    self.findings.push(not_yours(key).at(path, line));
                    continue;
                }
                self.lay_value(key, &Written::from_item(item), path.to_owned(), path, line);
            } else if let Some(inner) = item.as_table_like().filter(|_| is_group(&name)) {
                self.lay_table(inner, &name, place, author);
            } else if is_group(&name) {
                let finding =
                    Finding::new(Level::Warning, format!("`{name}` is a group of settings, not a value"));
                self.findings
                    .push(finding.at(path, line).hint(format!("write [{name}], and the settings below it")));
            } else {
                self.findings.push(unknown(&name).at(path, line));
            }
        }
    }

    fn lay_variable(&mut self, key: &Key, text: &str) {
        let source = format!("${}", key.variable);
        if let Shape::OwnPaths = key.shape {
            self.findings.push(not_yours(key).at(source, None));
            return;
        }
        self.lay_value(key, &Written::Loose(text.to_owned()), source.clone(), &source, None);
    }

    fn lay_value(&mut self, key: &Key, written: &Written, source: String, file: &str, line: Option<usize>) {
        let (value, word) = key.admit(written);
        if let Some(word) = word {
            self.findings.push(Finding::new(Level::Warning, word).at(file, line));
        }
        if let (Some(value), Some(entry)) = (value, self.entries.iter_mut().find(|e| e.key == key.name)) {
            *entry = Entry { key: entry.key, value, source };
        }
    }
}

/// Who wrote a settings file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Author {
    User,
    Project,
}

/// A value as somebody wrote it, before we know whether it fits.
enum Written {
    Flag(bool),
    Number(i64),
    Word(String),
    /// From a variable, which has no types.
    Loose(String),
    List(Vec<String>),
    Other,
}

impl Written {
    fn from_item(item: &Item) -> Written {
        match item.as_value() {
            Some(toml_edit::Value::Boolean(on)) => Written::Flag(*on.value()),
            Some(toml_edit::Value::Integer(n)) => Written::Number(*n.value()),
            Some(toml_edit::Value::String(word)) => Written::Word(word.value().clone()),
            Some(toml_edit::Value::Array(items)) => {
                let words: Option<Vec<String>> =
                    items.iter().map(|item| item.as_str().map(str::to_owned)).collect();
                words.map_or(Written::Other, Written::List)
            }
            _ => Written::Other,
        }
    }

    /// What a text without a type means where `shape` is wanted: `1`, `true`, `yes` and `on` are all the same.
    fn settled(text: &str, shape: &Shape) -> Written {
        if let Shape::Text { .. } = shape {
            return Written::Word(text.to_owned());
        }
        let text = text.trim().to_ascii_lowercase();
        match (shape, text.as_str()) {
            (Shape::Flag(_), "true" | "yes" | "on" | "1") => Written::Flag(true),
            (Shape::Flag(_), "false" | "no" | "off" | "0") => Written::Flag(false),
            (Shape::Number { .. }, number) => number.parse().map_or(Written::Other, Written::Number),
            _ => Written::Word(text),
        }
    }
}

impl Color {
    fn parse(word: &str) -> Color {
        match word {
            "always" => Color::Always,
            "never" => Color::Never,
            _ => Color::Auto,
        }
    }
}

impl Settings {
    /// What the redactor has to look for besides.
    pub fn redact(&self) -> redact::Options {
        redact::Options { emails: self.redact_emails }
    }
}

impl Default for Settings {
    /// The defaults of [`KEYS`], spelled out so that a hook without config files does no work for them.
    fn default() -> Settings {
        Settings {
            hooks_enabled: true,
            hooks_auto_init: false,
            compaction_guidance: true,
            hooks_deadline_ms: 200,
            log_limit_bytes: 8_192 * 1024,
            no_progress_turns: 3,
            validator_timeout: 300,
            gate_reminders: true,
            resume_inline: true,
            resume_max_age_hours: 72,
            resume_globs: String::new(),
            redact_emails: false,
            output_color: Color::Auto,
            roles_dir: Cow::Borrowed(DEFAULT_ROLES_DIR),
            roles_stale_hours: 24,
            roles_architecture_doc: Cow::Borrowed(DEFAULT_ARCHITECTURE_DOC),
            gates_jobs: 4,
            gates_timeout_s: 1_800,
            live_state_file: String::new(),
            roots_allow: Vec::new(),
        }
    }
}

fn is_group(name: &str) -> bool {
    KEYS.iter().any(|key| key.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('.')))
}

fn not_yours(key: &Key) -> Finding {
    let text = format!("{} is ignored here: only your own settings file can say it", key.name);
    Finding::new(Level::Warning, text).hint("put it into ~/.config/throughline/config.toml")
}

fn unknown(name: &str) -> Finding {
    let finding = Finding::new(Level::Warning, format!("unknown setting `{name}` is ignored"));
    match did_you_mean(name, KEYS.iter().map(|key| key.name)) {
        Some(near) => finding.hint(format!("did you mean `{near}`?")),
        None => finding.hint("`thru config` lists every setting"),
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|b| *b == b'\n').count()
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
