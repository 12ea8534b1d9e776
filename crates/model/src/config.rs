//! Settings: one table of keys, layers in order of priority, and a finding for every value that was not accepted.

mod setting;
mod stage;
mod table;

use serde::Serialize;
use toml_edit::{Document, Item, TableLike};

use crate::finding::{Finding, Level};
use crate::redact;
use crate::render::one_line;
use crate::score::{SIGNALS, Scoring, Signal, Weights};
use crate::text::did_you_mean;
use crate::tokens::Ratios;

pub use setting::{Color, Key, OldName, Outside, Scope, Shape, Text, Value};
pub use stage::Stage;
pub use table::{KEYS, Settings};

/// A setting's value and its source, in words for `thru config`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    pub key: &'static str,
    pub value: Value,
    pub source: String,
}

/// One source of settings.
#[derive(Clone, Copy, Debug)]
pub enum Layer<'a> {
    File(File<'a>),
    /// An environment variable and its content.
    Variable {
        name: &'a str,
        text: &'a str,
    },
}

/// A settings file.
#[derive(Clone, Copy, Debug)]
pub struct File<'a> {
    /// The path, for messages.
    pub path: &'a str,
    pub text: &'a str,
    pub owner: Owner,
}

/// Whether a settings file is the user's or the project's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    User,
    Project,
}

#[derive(Clone, Debug)]
pub struct Resolved {
    keys: &'static [Key],
    /// One entry per key, in the order of [`KEYS`].
    pub entries: Vec<Entry>,
    /// Stages in the order in which they were found.
    pub stages: Vec<Stage>,
    pub findings: Vec<Finding>,
}

/// Applies `layers` over the defaults; later layers win.
pub fn resolve(layers: &[Layer]) -> Resolved {
    resolve_keys(KEYS, layers)
}

fn resolve_keys(keys: &'static [Key], layers: &[Layer]) -> Resolved {
    let entry = |key: &Key| Entry { key: key.name, value: key.default(), source: "default".to_owned() };
    let mut resolved = Resolved {
        keys,
        entries: keys.iter().map(entry).collect(),
        stages: Vec::new(),
        findings: Vec::new(),
    };
    for layer in layers {
        match *layer {
            Layer::File(file) => resolved.lay_file(file),
            Layer::Variable { name, text } => resolved.lay_variable(name, text),
        }
    }
    resolved
}

impl Key {
    /// Returns the value to use, and a message if it differs from what was written.
    fn admit(&self, written: &Written) -> (Option<Value>, Option<String>) {
        let settled;
        let written = match written {
            Written::Loose(text) => {
                settled = Written::typed(text, &self.shape);
                &settled
            }
            written => written,
        };
        match (self.outside, self.take(written)) {
            (Outside::Default, (_, Some(_))) => {
                let Key { name, shape, .. } = self;
                let (given, default) = (written.described(), self.default());
                let word = format!("{name} is {given}, not {shape}; the default, {default}, is used");
                (None, Some(word))
            }
            (_, taken) => taken,
        }
    }

    fn take(&self, written: &Written) -> (Option<Value>, Option<String>) {
        let refuse =
            |what: &str| (None, Some(format!("{} must be {what}; this value is ignored", self.name)));
        match (&self.shape, written) {
            (Shape::Flag, Written::Flag(on)) => (Some(Value::Flag(*on)), None),
            (Shape::Flag, _) => refuse(&self.shape.to_string()),
            (Shape::Number { min, max }, Written::Number(n)) => {
                let clamped = *n.clamp(min, max);
                let word = format!("{} is {n}, outside {min} to {max}; {clamped} is used", self.name);
                (Some(Value::Number(clamped)), (clamped != *n).then_some(word))
            }
            (Shape::Decimal { min, max }, Written::Decimal(n)) if (min..=max).contains(&n) => {
                (Some(Value::Decimal(*n)), None)
            }
            (Shape::Number { .. } | Shape::Decimal { .. }, _) => refuse(&self.shape.to_string()),
            (Shape::Choice { allowed }, Written::Word(word)) if allowed.contains(&word.as_str()) => {
                (Some(Value::Word(word.clone())), None)
            }
            (Shape::Choice { .. }, _) => refuse(&self.shape.to_string()),
            (Shape::Text, Written::Word(word)) if !word.trim().is_empty() => {
                (Some(Value::Word(word.clone())), None)
            }
            (Shape::Text, _) => refuse(&self.shape.to_string()),
            (Shape::OptionalText, Written::Word(word)) => (Some(Value::Word(word.clone())), None),
            (Shape::OptionalText, _) => refuse(&self.shape.to_string()),
            (Shape::AbsolutePaths, Written::List(paths))
                if paths.iter().all(|path| path.starts_with('/')) =>
            {
                (Some(Value::List(paths.clone())), None)
            }
            (Shape::AbsolutePaths, _) => refuse(&self.shape.to_string()),
            (Shape::Words { allowed }, Written::List(words))
                if words.iter().all(|word| allowed.contains(&word.as_str())) =>
            {
                (Some(Value::Word(words.join(", "))), None)
            }
            (Shape::Tokens { min, max }, Written::Pairs(pairs))
                if pairs
                    .iter()
                    .all(|(name, tokens)| (min..=max).contains(&tokens) && !name.contains([',', '='])) =>
            {
                let pairs: Vec<String> =
                    pairs.iter().map(|(name, tokens)| format!("{name}={tokens}")).collect();
                (Some(Value::Word(pairs.join(", "))), None)
            }
            (Shape::Words { .. } | Shape::Tokens { .. }, _) => refuse(&self.shape.to_string()),
        }
    }
}

impl Resolved {
    pub fn settings(&self) -> Settings {
        let mut settings = Settings::DEFAULT;
        for (key, entry) in self.keys.iter().zip(&self.entries) {
            (key.set)(&mut settings, &entry.value);
        }
        settings
    }

    fn lay_file(&mut self, file: File) {
        let File { path, text, owner } = file;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let document = match Document::parse(text) {
            Ok(document) => document,
            Err(error) => {
                let line = error.span().map(|span| line_of(text, span.start));
                let first = error.message().lines().next().unwrap_or("it does not parse").to_owned();
                let finding = Finding::new(Level::Error, format!("not valid TOML: {first}")).at(path, line);
                self.findings.push(finding.hint("fix that line; until then the whole file is ignored"));
                return;
            }
        };
        let reading = Reading { path, text, owner, whole: document.as_table() };
        self.lay_table(document.as_table(), "", &reading);
    }

    fn lay_table(&mut self, table: &dyn TableLike, prefix: &str, reading: &Reading) {
        let Reading { path, text, .. } = *reading;
        for (word, item) in table.iter() {
            let name = if prefix.is_empty() { word.to_owned() } else { format!("{prefix}.{word}") };
            let line = table.key(word).and_then(toml_edit::Key::span).map(|span| line_of(text, span.start));
            if name == "stages" {
                let place = stage::SourceFile { path, text };
                self.findings.extend(stage::lay(&mut self.stages, item, line, place));
            } else if let Some(key) = self.keys.iter().find(|key| key.is_called(&name)) {
                self.lay_item(key, &name, item, reading, line);
            } else if let Some(inner) = item.as_table_like().filter(|_| self.is_group(&name)) {
                self.lay_table(inner, &name, reading);
            } else if self.is_group(&name) {
                let finding =
                    Finding::new(Level::Warning, format!("`{name}` is a group of settings, not a value"));
                self.findings
                    .push(finding.at(path, line).hint(format!("write [{name}], and the settings below it")));
            } else {
                self.findings.push(self.unknown(&name).at(path, line));
            }
        }
    }

    /// Applies a value of a settings file. `name` is the name in the file: the setting's current name or a former one.
    fn lay_item(&mut self, key: &Key, name: &str, item: &Item, reading: &Reading, line: Option<usize>) {
        let path = reading.path;
        if key.scope == Scope::UserFile && reading.owner == Owner::Project {
            let text = format!("`{name}` counts only in your own settings file; this value is ignored");
            self.findings.push(Finding::new(Level::Warning, text).at(path, line));
            return;
        }
        if name != key.name {
            let both = reading.has(key.name);
            self.findings.push(old_name(name, key.name, both).at(path, line));
            if both {
                return;
            }
        }
        self.lay_value(key, &Written::from_item(item, &key.shape), path.to_owned(), path, line);
    }

    /// Applies a variable. A variable with the setting's current name wins over one with a former name.
    fn lay_variable(&mut self, name: &str, text: &str) {
        let Some(key) = self.keys.iter().find(|key| key.variables().any(|known| known == name)) else {
            return;
        };
        let (source, own) = (format!("${name}"), format!("${}", key.variable));
        if key.scope == Scope::UserFile {
            let text = format!("`{}` counts only in your own settings file; this value is ignored", key.name);
            self.findings.push(Finding::new(Level::Warning, text).at(source, None));
            return;
        }
        if name != key.variable {
            let both = self.entries.iter().any(|entry| entry.key == key.name && entry.source == own);
            self.findings.push(old_name(&source, &own, both));
            if both {
                return;
            }
        }
        self.lay_value(key, &Written::Loose(text.to_owned()), source.clone(), &source, None);
    }

    fn lay_value(&mut self, key: &Key, written: &Written, source: String, file: &str, line: Option<usize>) {
        let (value, word) = key.admit(written);
        if let Some(word) = word {
            let level = match key.outside {
                Outside::Nearest => Level::Warning,
                Outside::Default => Level::Error,
            };
            self.findings.push(Finding::new(level, word).at(file, line));
        }
        if let (Some(value), Some(entry)) = (value, self.entries.iter_mut().find(|e| e.key == key.name)) {
            *entry = Entry { key: entry.key, value, source };
        }
    }

    fn is_group(&self, name: &str) -> bool {
        let is_within = |known: &str| known.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
        self.keys.iter().any(|key| key.names().any(is_within))
    }

    fn unknown(&self, name: &str) -> Finding {
        let finding = Finding::new(Level::Warning, format!("unknown setting `{name}` is ignored"));
        match did_you_mean(name, self.keys.iter().map(|key| key.name)) {
            Some(near) => finding.hint(format!("did you mean `{near}`?")),
            None => finding.hint("`thru config` lists every setting"),
        }
    }
}

/// A settings file while it is read.
struct Reading<'a> {
    path: &'a str,
    text: &'a str,
    owner: Owner,
    whole: &'a dyn TableLike,
}

impl Reading<'_> {
    /// Returns whether the file sets `name`.
    fn has(&self, name: &str) -> bool {
        let (group, word) = name.split_once('.').unwrap_or(("", name));
        let table = self.whole.get(group).and_then(Item::as_table_like);
        table.is_some_and(|table| table.contains_key(word))
    }
}

/// A value as it was written, before it is checked.
enum Written {
    Flag(bool),
    Number(i64),
    Decimal(f64),
    Word(String),
    List(Vec<String>),
    Pairs(Vec<(String, i64)>),
    /// The text of a variable, which has no type.
    Loose(String),
    Other,
}

impl Written {
    fn from_item(item: &Item, shape: &Shape) -> Written {
        if let (Shape::Tokens { .. }, Some(table)) = (shape, item.as_table_like()) {
            let pairs = table.iter().map(|(name, item)| Some((name.to_owned(), item.as_integer()?)));
            return Option::map_or(pairs.collect(), Written::Other, Written::Pairs);
        }
        match item.as_value() {
            Some(toml_edit::Value::String(words)) if matches!(shape, Shape::Words { .. }) => {
                Written::listed(words.value())
            }
            Some(toml_edit::Value::Boolean(on)) => Written::Flag(*on.value()),
            Some(toml_edit::Value::Integer(n)) if matches!(shape, Shape::Decimal { .. }) => {
                Written::Decimal(*n.value() as f64)
            }
            Some(toml_edit::Value::Integer(n)) => Written::Number(*n.value()),
            Some(toml_edit::Value::Float(n)) => Written::Decimal(*n.value()),
            Some(toml_edit::Value::String(word)) => Written::Word(word.value().clone()),
            Some(toml_edit::Value::Array(items)) => {
                let texts = items.iter().map(|item| item.as_str().map(str::to_owned)).collect();
                Option::map_or(texts, Written::Other, Written::List)
            }
            _ => Written::Other,
        }
    }

    /// Interprets the text of a variable as `shape`. For a flag, `1`, `true`, `yes` and `on` all mean the same.
    fn typed(text: &str, shape: &Shape) -> Written {
        match shape {
            Shape::Text | Shape::OptionalText => return Written::Word(text.to_owned()),
            Shape::AbsolutePaths | Shape::Words { .. } => return Written::listed(text),
            Shape::Tokens { .. } => {
                let pair = |pair: &str| {
                    let (name, tokens) = pair.rsplit_once('=')?;
                    Some((name.trim().to_owned(), tokens.trim().parse().ok()?))
                };
                let pairs = text.split(',').filter(|text| !text.trim().is_empty()).map(pair);
                return Option::map_or(pairs.collect(), Written::Other, Written::Pairs);
            }
            Shape::Flag | Shape::Number { .. } | Shape::Decimal { .. } | Shape::Choice { .. } => {}
        }
        let text = text.trim().to_ascii_lowercase();
        match (shape, text.as_str()) {
            (Shape::Flag, "true" | "yes" | "on" | "1") => Written::Flag(true),
            (Shape::Flag, "false" | "no" | "off" | "0") => Written::Flag(false),
            (Shape::Number { .. }, number) => number.parse().map_or(Written::Other, Written::Number),
            (Shape::Decimal { .. }, number) => number.parse().map_or(Written::Other, Written::Decimal),
            _ => Written::Word(text),
        }
    }

    /// Splits `a, b` into a list.
    fn listed(text: &str) -> Written {
        let texts = text.split(',').map(str::trim).filter(|text| !text.is_empty());
        Written::List(texts.map(str::to_owned).collect())
    }

    /// Describes the value, for a message that says that the value is not accepted.
    fn described(&self) -> String {
        match self {
            Written::Flag(on) => on.to_string(),
            Written::Number(n) => n.to_string(),
            Written::Decimal(n) => n.to_string(),
            Written::Word(word) | Written::Loose(word) => format!("`{}`", one_line(word, 60)),
            Written::List(_) => "a list".to_owned(),
            Written::Pairs(_) => "a table".to_owned(),
            Written::Other => "something else".to_owned(),
        }
    }
}

impl Settings {
    /// Returns what the redactor should look for besides secrets.
    pub fn redact(&self) -> redact::Options {
        redact::Options { emails: self.redact_emails }
    }

    pub fn log_limit_bytes(&self) -> u64 {
        self.log_limit_kib * 1024
    }

    /// Returns how a brief is ranked; `None` for the fixed order.
    pub fn scoring(&self) -> Option<Scoring> {
        self.brief_scoring_enabled.then(|| self.scoring_if_enabled())
    }

    pub fn scoring_if_enabled(&self) -> Scoring {
        let weight = |signal: Signal| match signal {
            Signal::Phase => self.weight_phase,
            Signal::CurrentTask => self.weight_current_task,
            Signal::BlockedTask => self.weight_blocked_task,
            Signal::RecentFailure => self.weight_recent_failure,
            Signal::RecentSuccess => self.weight_recent_success,
            Signal::DecisionRecency => self.weight_decision_recency,
            Signal::EvidencePresence => self.weight_evidence_presence,
            Signal::DependencyProximity => self.weight_dependency_proximity,
            Signal::Loop => self.weight_loop,
            Signal::Role => self.weight_role,
            Signal::Manifest => self.weight_manifest,
            Signal::Packet => self.weight_packet,
            Signal::Outputs => self.weight_outputs,
            Signal::Activity => self.weight_activity,
            Signal::Risk => self.weight_risk,
            Signal::Effects => self.weight_effects,
            Signal::State => self.weight_state,
            Signal::Statements => self.weight_statements,
            Signal::Prompts => self.weight_prompts,
            Signal::Files => self.weight_files,
            Signal::Commands => self.weight_commands,
            Signal::Problems => self.weight_problems,
        };
        Scoring {
            weights: Weights(SIGNALS.map(|row| weight(row.signal))),
            decay: self.decay_mode,
            half_life_hours: self.decay_half_life_hours,
            max_candidates: self.brief_max_candidates,
            max_tokens: self.brief_max_tokens,
            ratios: Ratios {
                prose: self.ratio_prose,
                code: self.ratio_code,
                markdown: self.ratio_markdown,
                json: self.ratio_json,
            },
        }
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings::DEFAULT
    }
}

/// Reports the use of an old name. `both` means that the same source also sets the new name.
fn old_name(old: &str, new: &str, both: bool) -> Finding {
    if both {
        let text = format!("`{old}` is ignored: `{new}`, its new name, is set too");
        return Finding::new(Level::Warning, text).hint(format!("remove `{old}`"));
    }
    Finding::new(Level::Note, format!("`{old}` is now called `{new}`"))
        .hint("the old name is still read; rename it when you edit this file")
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|b| *b == b'\n').count()
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
