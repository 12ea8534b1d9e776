//! Settings: one table of keys, layers in order of priority, and a finding for every value that is not accepted.

mod setting;
mod stage;
mod table;

use serde::Serialize;
use toml_edit::{Document, Item, TableLike};

use crate::finding::{Finding, FindingLevel};
use crate::redact;
use crate::render::one_line;
use crate::score::{SIGNALS, ScoreSignal, Scoring, SignalWeights};
use crate::text::nearest_allowed_word;
use crate::tokens::TokenRatios;

pub use setting::{Color, ConstantText, Key, OldName, OutOfBounds, SettingScope, Value, ValueShape};
pub use stage::StageDefinition;
pub use table::{KEYS, Settings};

/// A setting's value and its source, as `thru config` shows them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConfigEntry {
    pub key: &'static str,
    pub value: Value,
    pub source: String,
}

#[derive(Clone, Copy, Debug)]
pub enum SettingsLayer<'a> {
    File(SettingsFile<'a>),
    /// An environment variable and its value.
    Variable {
        name: &'a str,
        text: &'a str,
    },
}

#[derive(Clone, Copy, Debug)]
pub struct SettingsFile<'a> {
    /// The path that messages show.
    pub path: &'a str,
    pub text: &'a str,
    pub owner: SettingsOwner,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsOwner {
    User,
    Project,
}

#[derive(Clone, Debug)]
pub struct ResolvedSettings {
    keys: &'static [Key],
    /// One entry per key, in the order of [`KEYS`].
    pub entries: Vec<ConfigEntry>,
    /// The stages in the order in which they were found.
    pub stages: Vec<StageDefinition>,
    pub findings: Vec<Finding>,
}

/// Applies `layers` over the defaults. Later layers override earlier ones.
pub fn resolve_settings(layers: &[SettingsLayer]) -> ResolvedSettings {
    resolve_keys(KEYS, layers)
}

fn resolve_keys(keys: &'static [Key], layers: &[SettingsLayer]) -> ResolvedSettings {
    let entry = |key: &Key| ConfigEntry { key: key.name, value: key.default(), source: "default".to_owned() };
    let mut resolved = ResolvedSettings {
        keys,
        entries: keys.iter().map(entry).collect(),
        stages: Vec::new(),
        findings: Vec::new(),
    };
    for layer in layers {
        match *layer {
            SettingsLayer::File(file) => resolved.apply_file(file),
            SettingsLayer::Variable { name, text } => resolved.apply_variable(name, text),
        }
    }
    resolved
}

impl Key {
    /// Returns the value to use, and a message if the written value cannot be used as it is.
    fn check_value(&self, written: &WrittenValue) -> (Option<Value>, Option<String>) {
        let settled;
        let written = match written {
            WrittenValue::Untyped(text) => {
                settled = WrittenValue::parse_text_as(text, &self.shape);
                &settled
            }
            written => written,
        };
        match (self.outside, self.convert_value(written)) {
            (OutOfBounds::UseDefault, (_, Some(_))) => {
                let Key { name, shape, .. } = self;
                let (given, default) = (written.describe(), self.default());
                let word = format!("{name} is {given}, not {shape}; the default, {default}, is used");
                (None, Some(word))
            }
            (_, taken) => taken,
        }
    }

    fn convert_value(&self, written: &WrittenValue) -> (Option<Value>, Option<String>) {
        let refuse =
            |what: &str| (None, Some(format!("{} must be {what}; this value is ignored", self.name)));
        match (&self.shape, written) {
            (ValueShape::Flag, WrittenValue::Flag(on)) => (Some(Value::Flag(*on)), None),
            (ValueShape::Flag, _) => refuse(&self.shape.to_string()),
            (ValueShape::Number { min, max }, WrittenValue::Number(n)) => {
                let clamped = *n.clamp(min, max);
                let word = format!("{} is {n}, outside {min} to {max}; {clamped} is used", self.name);
                (Some(Value::Number(clamped)), (clamped != *n).then_some(word))
            }
            (ValueShape::Decimal { min, max }, WrittenValue::Decimal(n)) if (min..=max).contains(&n) => {
                (Some(Value::Decimal(*n)), None)
            }
            (ValueShape::Number { .. } | ValueShape::Decimal { .. }, _) => refuse(&self.shape.to_string()),
            (ValueShape::Choice { allowed }, WrittenValue::Word(word))
                if allowed.contains(&word.as_str()) =>
            {
                (Some(Value::Word(word.clone())), None)
            }
            (ValueShape::Choice { .. }, _) => refuse(&self.shape.to_string()),
            (ValueShape::Text, WrittenValue::Word(word)) if !word.trim().is_empty() => {
                (Some(Value::Word(word.clone())), None)
            }
            (ValueShape::Text, _) => refuse(&self.shape.to_string()),
            (ValueShape::OptionalText, WrittenValue::Word(word)) => (Some(Value::Word(word.clone())), None),
            (ValueShape::OptionalText, _) => refuse(&self.shape.to_string()),
            (ValueShape::AbsolutePaths, WrittenValue::List(paths))
                if paths.iter().all(|path| path.starts_with('/')) =>
            {
                (Some(Value::List(paths.clone())), None)
            }
            (ValueShape::AbsolutePaths, _) => refuse(&self.shape.to_string()),
            (ValueShape::Words { allowed }, WrittenValue::List(words))
                if words.iter().all(|word| allowed.contains(&word.as_str())) =>
            {
                (Some(Value::Word(words.join(", "))), None)
            }
            (ValueShape::TokensByModel { min, max }, WrittenValue::Pairs(pairs))
                if pairs
                    .iter()
                    .all(|(name, tokens)| (min..=max).contains(&tokens) && !name.contains([',', '='])) =>
            {
                let pairs: Vec<String> =
                    pairs.iter().map(|(name, tokens)| format!("{name}={tokens}")).collect();
                (Some(Value::Word(pairs.join(", "))), None)
            }
            (ValueShape::Words { .. } | ValueShape::TokensByModel { .. }, _) => {
                refuse(&self.shape.to_string())
            }
        }
    }
}

impl ResolvedSettings {
    pub fn settings(&self) -> Settings {
        let mut settings = Settings::DEFAULT;
        for (key, entry) in self.keys.iter().zip(&self.entries) {
            (key.set)(&mut settings, &entry.value);
        }
        settings
    }

    fn apply_file(&mut self, file: SettingsFile) {
        let SettingsFile { path, text, owner } = file;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let document = match Document::parse(text) {
            Ok(document) => document,
            Err(error) => {
                let line = error.span().map(|span| line_number(text, span.start));
                let first = error.message().lines().next().unwrap_or("it does not parse").to_owned();
                let finding =
                    Finding::new(FindingLevel::Error, format!("not valid TOML: {first}")).at_line(path, line);
                self.findings.push(finding.with_hint("fix that line; until then the whole file is ignored"));
                return;
            }
        };
        let reading = FileBeingRead { path, text, owner, table: document.as_table() };
        self.apply_table(document.as_table(), "", &reading);
    }

    fn apply_table(&mut self, table: &dyn TableLike, prefix: &str, reading: &FileBeingRead) {
        let FileBeingRead { path, text, .. } = *reading;
        for (word, item) in table.iter() {
            let name = if prefix.is_empty() { word.to_owned() } else { format!("{prefix}.{word}") };
            let line =
                table.key(word).and_then(toml_edit::Key::span).map(|span| line_number(text, span.start));
            if name == "stages" {
                let place = stage::SourceFile { path, text };
                self.findings.extend(stage::merge_stages(&mut self.stages, item, line, place));
            } else if let Some(key) = self.keys.iter().find(|key| key.has_name(&name)) {
                self.apply_item(key, &name, item, reading, line);
            } else if let Some(inner) = item.as_table_like().filter(|_| self.is_group(&name)) {
                self.apply_table(inner, &name, reading);
            } else if self.is_group(&name) {
                let finding = Finding::new(
                    FindingLevel::Warning,
                    format!("`{name}` is a group of settings, not a value"),
                );
                self.findings.push(
                    finding
                        .at_line(path, line)
                        .with_hint(format!("write [{name}], and the settings below it")),
                );
            } else {
                self.findings.push(self.unknown_setting_finding(&name).at_line(path, line));
            }
        }
    }

    /// Applies a value from a settings file. `name` is the name used in the file, which is the setting's current name
    /// or a former one.
    fn apply_item(
        &mut self,
        key: &Key,
        name: &str,
        item: &Item,
        reading: &FileBeingRead,
        line: Option<usize>,
    ) {
        let path = reading.path;
        if key.scope == SettingScope::OnlyUserFile && reading.owner == SettingsOwner::Project {
            let text = format!("`{name}` is allowed only in your own settings file; this value is ignored");
            self.findings.push(Finding::new(FindingLevel::Warning, text).at_line(path, line));
            return;
        }
        if name != key.name {
            let both = reading.has_setting(key.name);
            self.findings.push(old_name_finding(name, key.name, both).at_line(path, line));
            if both {
                return;
            }
        }
        self.apply_value(key, &WrittenValue::from_item(item, &key.shape), path.to_owned(), path, line);
    }

    /// Applies a variable. A variable with the setting's current name overrides one with a former name.
    fn apply_variable(&mut self, name: &str, text: &str) {
        let Some(key) = self.keys.iter().find(|key| key.variable_names().any(|known| known == name)) else {
            return;
        };
        let (source, own) = (format!("${name}"), format!("${}", key.variable));
        if key.scope == SettingScope::OnlyUserFile {
            let text =
                format!("`{}` is allowed only in your own settings file; this value is ignored", key.name);
            self.findings.push(Finding::new(FindingLevel::Warning, text).at_line(source, None));
            return;
        }
        if name != key.variable {
            let both = self.entries.iter().any(|entry| entry.key == key.name && entry.source == own);
            self.findings.push(old_name_finding(&source, &own, both));
            if both {
                return;
            }
        }
        self.apply_value(key, &WrittenValue::Untyped(text.to_owned()), source.clone(), &source, None);
    }

    fn apply_value(
        &mut self,
        key: &Key,
        written: &WrittenValue,
        source: String,
        file: &str,
        line: Option<usize>,
    ) {
        let (value, word) = key.check_value(written);
        if let Some(word) = word {
            let level = match key.outside {
                OutOfBounds::UseNearestBound => FindingLevel::Warning,
                OutOfBounds::UseDefault => FindingLevel::Error,
            };
            self.findings.push(Finding::new(level, word).at_line(file, line));
        }
        if let (Some(value), Some(entry)) = (value, self.entries.iter_mut().find(|e| e.key == key.name)) {
            *entry = ConfigEntry { key: entry.key, value, source };
        }
    }

    fn is_group(&self, name: &str) -> bool {
        let is_within = |known: &str| known.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
        self.keys.iter().any(|key| key.all_names().any(is_within))
    }

    fn unknown_setting_finding(&self, name: &str) -> Finding {
        let finding = Finding::new(FindingLevel::Warning, format!("unknown setting `{name}` is ignored"));
        match nearest_allowed_word(name, self.keys.iter().map(|key| key.name)) {
            Some(near) => finding.with_hint(format!("did you mean `{near}`?")),
            None => finding.with_hint("`thru config` lists every setting"),
        }
    }
}

struct FileBeingRead<'a> {
    path: &'a str,
    text: &'a str,
    owner: SettingsOwner,
    table: &'a dyn TableLike,
}

impl FileBeingRead<'_> {
    fn has_setting(&self, name: &str) -> bool {
        let (group, word) = name.split_once('.').unwrap_or(("", name));
        let table = self.table.get(group).and_then(Item::as_table_like);
        table.is_some_and(|table| table.contains_key(word))
    }
}

/// A value as it was written, before it is checked.
enum WrittenValue {
    Flag(bool),
    Number(i64),
    Decimal(f64),
    Word(String),
    List(Vec<String>),
    Pairs(Vec<(String, i64)>),
    /// The text of a variable, whose type is not yet known.
    Untyped(String),
    Other,
}

impl WrittenValue {
    fn from_item(item: &Item, shape: &ValueShape) -> WrittenValue {
        if let (ValueShape::TokensByModel { .. }, Some(table)) = (shape, item.as_table_like()) {
            let pairs = table.iter().map(|(name, item)| Some((name.to_owned(), item.as_integer()?)));
            return Option::map_or(pairs.collect(), WrittenValue::Other, WrittenValue::Pairs);
        }
        match item.as_value() {
            Some(toml_edit::Value::String(words)) if matches!(shape, ValueShape::Words { .. }) => {
                WrittenValue::split_list(words.value())
            }
            Some(toml_edit::Value::Boolean(on)) => WrittenValue::Flag(*on.value()),
            Some(toml_edit::Value::Integer(n)) if matches!(shape, ValueShape::Decimal { .. }) => {
                WrittenValue::Decimal(*n.value() as f64)
            }
            Some(toml_edit::Value::Integer(n)) => WrittenValue::Number(*n.value()),
            Some(toml_edit::Value::Float(n)) => WrittenValue::Decimal(*n.value()),
            Some(toml_edit::Value::String(word)) => WrittenValue::Word(word.value().clone()),
            Some(toml_edit::Value::Array(items)) => {
                let texts = items.iter().map(|item| item.as_str().map(str::to_owned)).collect();
                Option::map_or(texts, WrittenValue::Other, WrittenValue::List)
            }
            _ => WrittenValue::Other,
        }
    }

    /// Parses the value of a variable as `shape`. For a flag, `1`, `true`, `yes` and `on` have the same meaning.
    fn parse_text_as(text: &str, shape: &ValueShape) -> WrittenValue {
        match shape {
            ValueShape::Text | ValueShape::OptionalText => return WrittenValue::Word(text.to_owned()),
            ValueShape::AbsolutePaths | ValueShape::Words { .. } => return WrittenValue::split_list(text),
            ValueShape::TokensByModel { .. } => {
                let pair = |pair: &str| {
                    let (name, tokens) = pair.rsplit_once('=')?;
                    Some((name.trim().to_owned(), tokens.trim().parse().ok()?))
                };
                let pairs = text.split(',').filter(|text| !text.trim().is_empty()).map(pair);
                return Option::map_or(pairs.collect(), WrittenValue::Other, WrittenValue::Pairs);
            }
            ValueShape::Flag
            | ValueShape::Number { .. }
            | ValueShape::Decimal { .. }
            | ValueShape::Choice { .. } => {}
        }
        let text = text.trim().to_ascii_lowercase();
        match (shape, text.as_str()) {
            (ValueShape::Flag, "true" | "yes" | "on" | "1") => WrittenValue::Flag(true),
            (ValueShape::Flag, "false" | "no" | "off" | "0") => WrittenValue::Flag(false),
            (ValueShape::Number { .. }, number) => {
                number.parse().map_or(WrittenValue::Other, WrittenValue::Number)
            }
            (ValueShape::Decimal { .. }, number) => {
                number.parse().map_or(WrittenValue::Other, WrittenValue::Decimal)
            }
            _ => WrittenValue::Word(text),
        }
    }

    fn split_list(text: &str) -> WrittenValue {
        let texts = text.split(',').map(str::trim).filter(|text| !text.is_empty());
        WrittenValue::List(texts.map(str::to_owned).collect())
    }

    /// Describes a rejected value for a message.
    fn describe(&self) -> String {
        match self {
            WrittenValue::Flag(on) => on.to_string(),
            WrittenValue::Number(n) => n.to_string(),
            WrittenValue::Decimal(n) => n.to_string(),
            WrittenValue::Word(word) | WrittenValue::Untyped(word) => format!("`{}`", one_line(word, 60)),
            WrittenValue::List(_) => "a list".to_owned(),
            WrittenValue::Pairs(_) => "a table".to_owned(),
            WrittenValue::Other => "something else".to_owned(),
        }
    }
}

impl Settings {
    pub fn redact_options(&self) -> redact::RedactOptions {
        redact::RedactOptions { emails: self.redact_emails }
    }

    pub fn log_limit_bytes(&self) -> u64 {
        self.log_limit_kib * 1024
    }

    /// Returns how briefs are scored, or `None` if they use the fixed order.
    pub fn enabled_scoring(&self) -> Option<Scoring> {
        self.brief_scoring_enabled.then(|| self.scoring_settings())
    }

    pub fn scoring_settings(&self) -> Scoring {
        let weight = |signal: ScoreSignal| match signal {
            ScoreSignal::Phase => self.weight_phase,
            ScoreSignal::CurrentTask => self.weight_current_task,
            ScoreSignal::BlockedTask => self.weight_blocked_task,
            ScoreSignal::RecentFailure => self.weight_recent_failure,
            ScoreSignal::RecentSuccess => self.weight_recent_success,
            ScoreSignal::DecisionRecency => self.weight_decision_recency,
            ScoreSignal::EvidencePresence => self.weight_evidence_presence,
            ScoreSignal::DependencyProximity => self.weight_dependency_proximity,
            ScoreSignal::Loop => self.weight_loop,
            ScoreSignal::Role => self.weight_role,
            ScoreSignal::Manifest => self.weight_manifest,
            ScoreSignal::Packet => self.weight_packet,
            ScoreSignal::Outputs => self.weight_outputs,
            ScoreSignal::Activity => self.weight_activity,
            ScoreSignal::Risk => self.weight_risk,
            ScoreSignal::Effects => self.weight_effects,
            ScoreSignal::State => self.weight_state,
            ScoreSignal::Statements => self.weight_statements,
            ScoreSignal::Prompts => self.weight_prompts,
            ScoreSignal::Files => self.weight_files,
            ScoreSignal::Commands => self.weight_commands,
            ScoreSignal::Problems => self.weight_problems,
        };
        Scoring {
            weights: SignalWeights(SIGNALS.map(|row| weight(row.signal))),
            decay: self.decay_mode,
            half_life_hours: self.decay_half_life_hours,
            max_candidates: self.brief_max_candidates,
            max_tokens: self.brief_max_tokens,
            ratios: TokenRatios {
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

/// Reports the use of an old name. `both` is true if the same source also sets the new name.
fn old_name_finding(old: &str, new: &str, both: bool) -> Finding {
    if both {
        let text = format!("`{old}` is ignored: `{new}`, its new name, is set too");
        return Finding::new(FindingLevel::Warning, text).with_hint(format!("remove `{old}`"));
    }
    Finding::new(FindingLevel::Note, format!("`{old}` is now called `{new}`"))
        .with_hint("the old name is still read; rename it when you edit this file")
}

fn line_number(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|b| *b == b'\n').count()
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
