//! Settings: one table of keys, layers in order of priority, and a finding for every value that is not accepted.

mod setting;
mod stage;
mod table;

use serde::Serialize;
use toml_edit::{Document, Item, TableLike};

use crate::finding::{Finding, FindingLevel};
use crate::redact;
use crate::render::one_line;
use crate::score::{SIGNALS, ScoreSignal, ScoringSettings, SignalWeights};
use crate::text::nearest_allowed_word;
use crate::tokens::TokenRatios;

pub use setting::{
    AcceptedValues, ColorSetting, ConstantText, FormerSettingName, OutOfBoundsPolicy, SettingRow,
    SettingScope, SettingValue,
};
pub use stage::StageDefinition;
pub use table::{SETTING_ROWS, Settings};

/// A setting's value and its source, as `thru config` shows them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConfigEntry {
    pub key: &'static str,
    pub value: SettingValue,
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
    setting_rows: &'static [SettingRow],
    /// One entry per key, in the order of [`SETTING_ROWS`].
    pub entries: Vec<ConfigEntry>,
    /// The stages in the order in which they were found.
    pub stages: Vec<StageDefinition>,
    pub findings: Vec<Finding>,
}

/// Applies `layers` over the defaults. Later layers override earlier ones.
pub fn resolve_settings(layers: &[SettingsLayer]) -> ResolvedSettings {
    resolve_setting_rows(SETTING_ROWS, layers)
}

fn resolve_setting_rows(keys: &'static [SettingRow], layers: &[SettingsLayer]) -> ResolvedSettings {
    let entry = |key: &SettingRow| ConfigEntry {
        key: key.name,
        value: key.default_value(),
        source: "default".to_owned(),
    };
    let mut resolved = ResolvedSettings {
        setting_rows: keys,
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

impl SettingRow {
    /// Returns the value to use, and a message if the written value cannot be used as it is.
    fn check_value(&self, written: &UncheckedSettingValue) -> (Option<SettingValue>, Option<String>) {
        let settled;
        let written = match written {
            UncheckedSettingValue::Untyped(text) => {
                settled = UncheckedSettingValue::parse_text_as(text, &self.accepted_values);
                &settled
            }
            written => written,
        };
        match (self.out_of_bounds, self.convert_value(written)) {
            (OutOfBoundsPolicy::UseDefault, (_, Some(_))) => {
                let SettingRow { name, accepted_values: shape, .. } = self;
                let (given, default) = (written.describe(), self.default_value());
                let word = format!("{name} is {given}, not {shape}; using the default, {default}");
                (None, Some(word))
            }
            (_, taken) => taken,
        }
    }

    fn convert_value(&self, written: &UncheckedSettingValue) -> (Option<SettingValue>, Option<String>) {
        let refuse =
            |what: &str| (None, Some(format!("{} must be {what}; this value is ignored", self.name)));
        match (&self.accepted_values, written) {
            (AcceptedValues::Flag, UncheckedSettingValue::Flag(on)) => (Some(SettingValue::Flag(*on)), None),
            (AcceptedValues::Flag, _) => refuse(&self.accepted_values.to_string()),
            (AcceptedValues::Number { min, max }, UncheckedSettingValue::Number(n)) => {
                let clamped = *n.clamp(min, max);
                let word = format!(
                    "{} is {n}, which is outside the range {min} to {max}; using {clamped}",
                    self.name
                );
                (Some(SettingValue::Number(clamped)), (clamped != *n).then_some(word))
            }
            (AcceptedValues::Decimal { min, max }, UncheckedSettingValue::Decimal(n))
                if (min..=max).contains(&n) =>
            {
                (Some(SettingValue::Decimal(*n)), None)
            }
            (AcceptedValues::Number { .. } | AcceptedValues::Decimal { .. }, _) => {
                refuse(&self.accepted_values.to_string())
            }
            (AcceptedValues::Choice { allowed }, UncheckedSettingValue::Word(word))
                if allowed.contains(&word.as_str()) =>
            {
                (Some(SettingValue::Word(word.clone())), None)
            }
            (AcceptedValues::Choice { .. }, _) => refuse(&self.accepted_values.to_string()),
            (AcceptedValues::Text, UncheckedSettingValue::Word(word)) if !word.trim().is_empty() => {
                (Some(SettingValue::Word(word.clone())), None)
            }
            (AcceptedValues::Text, _) => refuse(&self.accepted_values.to_string()),
            (AcceptedValues::OptionalText, UncheckedSettingValue::Word(word)) => {
                (Some(SettingValue::Word(word.clone())), None)
            }
            (AcceptedValues::OptionalText, _) => refuse(&self.accepted_values.to_string()),
            (AcceptedValues::AbsolutePaths, UncheckedSettingValue::List(paths))
                if paths.iter().all(|path| path.starts_with('/')) =>
            {
                (Some(SettingValue::List(paths.clone())), None)
            }
            (AcceptedValues::AbsolutePaths, _) => refuse(&self.accepted_values.to_string()),
            (AcceptedValues::Words { allowed }, UncheckedSettingValue::List(words))
                if words.iter().all(|word| allowed.contains(&word.as_str())) =>
            {
                (Some(SettingValue::Word(words.join(", "))), None)
            }
            (AcceptedValues::TokensByModel { min, max }, UncheckedSettingValue::Pairs(pairs))
                if pairs
                    .iter()
                    .all(|(name, tokens)| (min..=max).contains(&tokens) && !name.contains([',', '='])) =>
            {
                let pairs: Vec<String> =
                    pairs.iter().map(|(name, tokens)| format!("{name}={tokens}")).collect();
                (Some(SettingValue::Word(pairs.join(", "))), None)
            }
            (AcceptedValues::Words { .. } | AcceptedValues::TokensByModel { .. }, _) => {
                refuse(&self.accepted_values.to_string())
            }
        }
    }
}

impl ResolvedSettings {
    pub fn settings(&self) -> Settings {
        let mut settings = Settings::DEFAULT;
        for (key, entry) in self.setting_rows.iter().zip(&self.entries) {
            (key.write_field)(&mut settings, &entry.value);
        }
        settings
    }

    fn apply_file(&mut self, file: SettingsFile) {
        let SettingsFile { path, text, owner } = file;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let document = match Document::parse(text) {
            Ok(document) => document,
            Err(error) => {
                let line = error.span().map(|span| line_number_of_offset(text, span.start));
                let first = error.message().lines().next().unwrap_or("it does not parse").to_owned();
                let finding =
                    Finding::new(FindingLevel::Error, format!("not valid TOML: {first}")).at_line(path, line);
                self.findings.push(finding.with_hint("fix that line; until then the whole file is ignored"));
                return;
            }
        };
        let reading = SettingsFileBeingRead { path, text, owner, table: document.as_table() };
        self.apply_toml_table(document.as_table(), "", &reading);
    }

    fn apply_toml_table(&mut self, table: &dyn TableLike, prefix: &str, reading: &SettingsFileBeingRead) {
        let SettingsFileBeingRead { path, text, .. } = *reading;
        for (word, item) in table.iter() {
            let name = if prefix.is_empty() { word.to_owned() } else { format!("{prefix}.{word}") };
            let line = table
                .key(word)
                .and_then(toml_edit::Key::span)
                .map(|span| line_number_of_offset(text, span.start));
            if name == "stages" {
                let place = stage::StageSettingsFile { path, text };
                self.findings.extend(stage::merge_stages(&mut self.stages, item, line, place));
            } else if let Some(key) = self.setting_rows.iter().find(|key| key.has_name(&name)) {
                self.apply_file_value(key, &name, item, reading, line);
            } else if let Some(inner) = item.as_table_like().filter(|_| self.is_settings_group(&name)) {
                self.apply_toml_table(inner, &name, reading);
            } else if self.is_settings_group(&name) {
                let finding = Finding::new(
                    FindingLevel::Warning,
                    format!("`{name}` is a group of settings, not a value"),
                );
                self.findings.push(
                    finding
                        .at_line(path, line)
                        .with_hint(format!("write [{name}] and put its settings below it")),
                );
            } else {
                self.findings.push(self.unknown_setting_finding(&name).at_line(path, line));
            }
        }
    }

    /// Applies a value from a settings file. `name` is the name used in the file, which is the setting's current name
    /// or a former one.
    fn apply_file_value(
        &mut self,
        key: &SettingRow,
        name: &str,
        item: &Item,
        reading: &SettingsFileBeingRead,
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
        self.apply_value(
            key,
            &UncheckedSettingValue::from_item(item, &key.accepted_values),
            path.to_owned(),
            path,
            line,
        );
    }

    /// Applies a variable. A variable with the setting's current name overrides one with a former name.
    fn apply_variable(&mut self, name: &str, text: &str) {
        let Some(key) =
            self.setting_rows.iter().find(|key| key.environment_variable_names().any(|known| known == name))
        else {
            return;
        };
        let (source, own) = (format!("${name}"), format!("${}", key.environment_variable));
        if key.scope == SettingScope::OnlyUserFile {
            let text =
                format!("`{}` is allowed only in your own settings file; this value is ignored", key.name);
            self.findings.push(Finding::new(FindingLevel::Warning, text).at_line(source, None));
            return;
        }
        if name != key.environment_variable {
            let both = self.entries.iter().any(|entry| entry.key == key.name && entry.source == own);
            self.findings.push(old_name_finding(&source, &own, both));
            if both {
                return;
            }
        }
        self.apply_value(
            key,
            &UncheckedSettingValue::Untyped(text.to_owned()),
            source.clone(),
            &source,
            None,
        );
    }

    fn apply_value(
        &mut self,
        key: &SettingRow,
        written: &UncheckedSettingValue,
        source: String,
        file: &str,
        line: Option<usize>,
    ) {
        let (value, word) = key.check_value(written);
        if let Some(word) = word {
            let level = match key.out_of_bounds {
                OutOfBoundsPolicy::UseNearestBound => FindingLevel::Warning,
                OutOfBoundsPolicy::UseDefault => FindingLevel::Error,
            };
            self.findings.push(Finding::new(level, word).at_line(file, line));
        }
        if let (Some(value), Some(entry)) = (value, self.entries.iter_mut().find(|e| e.key == key.name)) {
            *entry = ConfigEntry { key: entry.key, value, source };
        }
    }

    fn is_settings_group(&self, name: &str) -> bool {
        let is_within = |known: &str| known.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
        self.setting_rows.iter().any(|key| key.all_names().any(is_within))
    }

    fn unknown_setting_finding(&self, name: &str) -> Finding {
        let finding = Finding::new(FindingLevel::Warning, format!("unknown setting `{name}` is ignored"));
        match nearest_allowed_word(name, self.setting_rows.iter().map(|key| key.name)) {
            Some(near) => finding.with_hint(format!("did you mean `{near}`?")),
            None => finding.with_hint("`thru config` lists every setting"),
        }
    }
}

struct SettingsFileBeingRead<'a> {
    path: &'a str,
    text: &'a str,
    owner: SettingsOwner,
    table: &'a dyn TableLike,
}

impl SettingsFileBeingRead<'_> {
    fn has_setting(&self, name: &str) -> bool {
        let (group, word) = name.split_once('.').unwrap_or(("", name));
        let table = self.table.get(group).and_then(Item::as_table_like);
        table.is_some_and(|table| table.contains_key(word))
    }
}

/// A value as it was written, before it is checked.
enum UncheckedSettingValue {
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

impl UncheckedSettingValue {
    fn from_item(item: &Item, shape: &AcceptedValues) -> UncheckedSettingValue {
        if let (AcceptedValues::TokensByModel { .. }, Some(table)) = (shape, item.as_table_like()) {
            let pairs = table.iter().map(|(name, item)| Some((name.to_owned(), item.as_integer()?)));
            return Option::map_or(
                pairs.collect(),
                UncheckedSettingValue::Other,
                UncheckedSettingValue::Pairs,
            );
        }
        match item.as_value() {
            Some(toml_edit::Value::String(words)) if matches!(shape, AcceptedValues::Words { .. }) => {
                UncheckedSettingValue::split_list(words.value())
            }
            Some(toml_edit::Value::Boolean(on)) => UncheckedSettingValue::Flag(*on.value()),
            Some(toml_edit::Value::Integer(n)) if matches!(shape, AcceptedValues::Decimal { .. }) => {
                UncheckedSettingValue::Decimal(*n.value() as f64)
            }
            Some(toml_edit::Value::Integer(n)) => UncheckedSettingValue::Number(*n.value()),
            Some(toml_edit::Value::Float(n)) => UncheckedSettingValue::Decimal(*n.value()),
            Some(toml_edit::Value::String(word)) => UncheckedSettingValue::Word(word.value().clone()),
            Some(toml_edit::Value::Array(items)) => {
                let texts = items.iter().map(|item| item.as_str().map(str::to_owned)).collect();
                Option::map_or(texts, UncheckedSettingValue::Other, UncheckedSettingValue::List)
            }
            _ => UncheckedSettingValue::Other,
        }
    }

    /// Parses the value of a variable as a value of the given `shape`. For a flag, `1`, `true`, `yes` and `on` have
    /// the same meaning.
    fn parse_text_as(text: &str, shape: &AcceptedValues) -> UncheckedSettingValue {
        match shape {
            AcceptedValues::Text | AcceptedValues::OptionalText => {
                return UncheckedSettingValue::Word(text.to_owned());
            }
            AcceptedValues::AbsolutePaths | AcceptedValues::Words { .. } => {
                return UncheckedSettingValue::split_list(text);
            }
            AcceptedValues::TokensByModel { .. } => {
                let pair = |pair: &str| {
                    let (name, tokens) = pair.rsplit_once('=')?;
                    Some((name.trim().to_owned(), tokens.trim().parse().ok()?))
                };
                let pairs = text.split(',').filter(|text| !text.trim().is_empty()).map(pair);
                return Option::map_or(
                    pairs.collect(),
                    UncheckedSettingValue::Other,
                    UncheckedSettingValue::Pairs,
                );
            }
            AcceptedValues::Flag
            | AcceptedValues::Number { .. }
            | AcceptedValues::Decimal { .. }
            | AcceptedValues::Choice { .. } => {}
        }
        let text = text.trim().to_ascii_lowercase();
        match (shape, text.as_str()) {
            (AcceptedValues::Flag, "true" | "yes" | "on" | "1") => UncheckedSettingValue::Flag(true),
            (AcceptedValues::Flag, "false" | "no" | "off" | "0") => UncheckedSettingValue::Flag(false),
            (AcceptedValues::Number { .. }, number) => {
                number.parse().map_or(UncheckedSettingValue::Other, UncheckedSettingValue::Number)
            }
            (AcceptedValues::Decimal { .. }, number) => {
                number.parse().map_or(UncheckedSettingValue::Other, UncheckedSettingValue::Decimal)
            }
            _ => UncheckedSettingValue::Word(text),
        }
    }

    fn split_list(text: &str) -> UncheckedSettingValue {
        let texts = text.split(',').map(str::trim).filter(|text| !text.is_empty());
        UncheckedSettingValue::List(texts.map(str::to_owned).collect())
    }

    /// Describes a rejected value, for use in an error message.
    fn describe(&self) -> String {
        match self {
            UncheckedSettingValue::Flag(on) => on.to_string(),
            UncheckedSettingValue::Number(n) => n.to_string(),
            UncheckedSettingValue::Decimal(n) => n.to_string(),
            UncheckedSettingValue::Word(word) | UncheckedSettingValue::Untyped(word) => {
                format!("`{}`", one_line(word, 60))
            }
            UncheckedSettingValue::List(_) => "a list".to_owned(),
            UncheckedSettingValue::Pairs(_) => "a table".to_owned(),
            UncheckedSettingValue::Other => "something else".to_owned(),
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
    pub fn enabled_scoring(&self) -> Option<ScoringSettings> {
        self.brief_scoring_enabled.then(|| self.scoring_settings())
    }

    pub fn scoring_settings(&self) -> ScoringSettings {
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
        ScoringSettings {
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
        let text = format!("`{old}` is ignored, because it is now called `{new}`, which is also set");
        return Finding::new(FindingLevel::Warning, text).with_hint(format!("remove `{old}`"));
    }
    Finding::new(FindingLevel::Note, format!("`{old}` is now called `{new}`"))
        .with_hint("the old name still works; rename it when you edit this file")
}

fn line_number_of_offset(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|b| *b == b'\n').count()
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
