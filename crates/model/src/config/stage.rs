//! `[stages.<name>]` defines the outputs of a stage, once per project and for all runs.
//!
//! A definition with an unknown part is refused. Otherwise, a gate could overlook an output without anybody noticing.

use serde::Serialize;
use toml_edit::{Item, TableLike};

use super::line_number_of_offset;
use crate::finding::{Finding, FindingLevel};
use crate::gate::{ExpectedOutput, OutputTier, agent_role_in_output_file_name};
use crate::id::Id;
use crate::text::nearest_allowed_word;

/// A stage definition, merged key by key from all files. Later files override earlier ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StageDefinition {
    pub name: String,
    pub source: String,
    critical: Vec<String>,
    advisory: Vec<String>,
    outputs: Vec<StageOutputEntry>,
    inputs: Vec<String>,
    prompt: String,
    launch: Vec<String>,
    /// Why the stage cannot be used, or `None` if it can.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "broken")]
    pub unusable_reason: Option<Finding>,
}

/// An entry of `outputs`, which is a name or a table with details. Missing details are inherited from the stage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
struct StageOutputEntry {
    file: String,
    tier: Option<OutputTier>,
    inputs: Option<Vec<String>>,
    prompt: Option<String>,
    launch: Option<Vec<String>>,
}

const KNOWN_STAGE_KEYS: &[&str] = &["critical", "advisory", "outputs", "inputs", "prompt", "launch"];
const KNOWN_OUTPUT_KEYS: &[&str] = &["file", "tier", "inputs", "prompt", "launch"];

/// A settings file with stages: its path for messages, and its text, from which line numbers are computed.
#[derive(Clone, Copy)]
pub(super) struct StageSettingsFile<'a> {
    pub path: &'a str,
    pub text: &'a str,
}

/// Merges the tables below `stages` into the known definitions.
pub(super) fn merge_stages(
    stages: &mut Vec<StageDefinition>,
    item: &Item,
    line: Option<usize>,
    place: StageSettingsFile,
) -> Vec<Finding> {
    let Some(table) = item.as_table_like() else {
        let finding = Finding::new(FindingLevel::Error, "`stages` is a group of stages, not a value");
        return vec![
            finding.at_line(place.path, line).with_hint("write [stages.review] and put its outputs below it"),
        ];
    };
    let mut findings = Vec::new();
    for (name, item) in table.iter() {
        let line = line_number_of_key(table, name, place);
        let known = stages.iter().position(|stage| stage.name == name);
        let mut stage = known.map_or_else(StageDefinition::default, |i| stages[i].clone());
        (stage.name, stage.source) = (name.to_owned(), place.path.to_owned());
        if let Err(finding) = read_stage(&mut stage, item, line, place) {
            findings.push(finding.clone());
            stage.unusable_reason = Some(finding);
        }
        match known {
            Some(i) => stages[i] = stage,
            None => stages.push(stage),
        }
    }
    findings
}

impl StageDefinition {
    /// Returns the outputs that a run of this stage must produce, in the order of the definition.
    pub fn expected_outputs(&self) -> Vec<ExpectedOutput> {
        let named = |names: &[String], tier| {
            let listed = |file: &String| StageOutputEntry {
                file: file.clone(),
                tier: Some(tier),
                ..StageOutputEntry::default()
            };
            names.iter().map(listed).collect::<Vec<_>>()
        };
        let listed =
            [named(&self.critical, OutputTier::Critical), named(&self.advisory, OutputTier::Advisory)]
                .concat();
        listed.iter().chain(&self.outputs).map(|listed| self.to_output(listed)).collect()
    }

    fn to_output(&self, listed: &StageOutputEntry) -> ExpectedOutput {
        let output = ExpectedOutput::new(&listed.file);
        let prompt = listed.prompt.as_ref().unwrap_or(&self.prompt);
        ExpectedOutput {
            tier: listed.tier.unwrap_or(output.tier),
            prompt: prompt.replace("{role}", agent_role_in_output_file_name(&listed.file, &self.name)),
            launch: listed.launch.as_ref().unwrap_or(&self.launch).clone(),
            inputs: listed.inputs.as_ref().unwrap_or(&self.inputs).clone(),
            ..output
        }
    }
}

fn read_stage(
    stage: &mut StageDefinition,
    item: &Item,
    line: Option<usize>,
    place: StageSettingsFile,
) -> Result<(), Finding> {
    let at = format!("stages.{}", stage.name);
    let refuse = |text: String, line| Finding::new(FindingLevel::Error, text).at_line(place.path, line);
    if let Err(bad) = Id::new(&stage.name) {
        return Err(refuse(format!("{at}: the name {}", bad.reason()), line));
    }
    let table = item.as_table_like().ok_or_else(|| {
        refuse(format!("`{at}` is a stage, not a value"), line).with_hint(format!("write [{at}]"))
    })?;
    for (key, item) in table.iter() {
        let line = line_number_of_key(table, key, place);
        let at = format!("{at}.{key}");
        let wrong = |wanted: &str| refuse(format!("{at} must be {wanted}; the stage cannot be used"), line);
        match key {
            "critical" => {
                stage.critical = toml_item_texts(item).ok_or_else(|| wrong(REQUIRED_FORM_OF_FILE_NAMES))?;
            }
            "advisory" => {
                stage.advisory = toml_item_texts(item).ok_or_else(|| wrong(REQUIRED_FORM_OF_FILE_NAMES))?;
            }
            "inputs" => {
                stage.inputs =
                    toml_item_texts(item).ok_or_else(|| wrong("a list of files in the project"))?;
            }
            "launch" => stage.launch = toml_item_texts(item).ok_or_else(|| wrong(REQUIRED_FORM_OF_ARGV))?,
            "prompt" => stage.prompt = toml_item_text(item).ok_or_else(|| wrong("a string"))?,
            "outputs" => stage.outputs = read_stage_outputs(item, &at).map_err(|text| refuse(text, line))?,
            _ => return Err(unknown_key_finding(&at, key, KNOWN_STAGE_KEYS).at_line(place.path, line)),
        }
    }
    check_file_names(stage).map_err(|text| refuse(text, line))
}

const REQUIRED_FORM_OF_FILE_NAMES: &str = "a list of file names, such as [\"review-security.md\"]";
const REQUIRED_FORM_OF_ARGV: &str = "a program and its arguments, such as [\"claude\", \"-p\"]";

fn check_file_names(stage: &StageDefinition) -> Result<(), String> {
    let at = format!("stages.{}", stage.name);
    let outputs = stage.expected_outputs();
    if outputs.is_empty() {
        return Err(format!("{at} names no outputs; add `critical`, `advisory` or `outputs`"));
    }
    for (i, output) in outputs.iter().enumerate() {
        let file = &output.file;
        if let Err(bad) = Id::new(file) {
            return Err(format!("{at}: {bad}"));
        }
        if outputs[..i].iter().any(|known| known.file == *file) {
            return Err(format!("{at} names `{file}` twice"));
        }
    }
    Ok(())
}

fn read_stage_outputs(item: &Item, at: &str) -> Result<Vec<StageOutputEntry>, String> {
    let tables: Vec<&dyn TableLike> = match item {
        Item::ArrayOfTables(tables) => tables.iter().map(|table| table as &dyn TableLike).collect(),
        item => {
            let wrong = || format!("{at} must be a list of names or tables; the stage cannot be used");
            let array = item.as_array().ok_or_else(wrong)?;
            if let Some(names) = toml_item_texts(item) {
                return Ok(names
                    .into_iter()
                    .map(|file| StageOutputEntry { file, ..StageOutputEntry::default() })
                    .collect());
            }
            let tables: Option<Vec<&dyn TableLike>> = array
                .iter()
                .map(|value| value.as_inline_table().map(|table| table as &dyn TableLike))
                .collect();
            tables.ok_or_else(wrong)?
        }
    };
    tables.into_iter().enumerate().map(|(i, table)| read_stage_output(table, &format!("{at}[{i}]"))).collect()
}

fn read_stage_output(table: &dyn TableLike, at: &str) -> Result<StageOutputEntry, String> {
    let mut listed = StageOutputEntry::default();
    for (key, item) in table.iter() {
        let wrong = |wanted: &str| format!("{at}.{key} must be {wanted}; the stage cannot be used");
        match key {
            "file" => listed.file = toml_item_text(item).ok_or_else(|| wrong("a file name"))?,
            "tier" => {
                let tier = toml_item_text(item).and_then(|word| OutputTier::parse(&word));
                listed.tier = Some(tier.ok_or_else(|| wrong("`critical` or `advisory`"))?);
            }
            "inputs" => listed.inputs = Some(toml_item_texts(item).ok_or_else(|| wrong("a list of files"))?),
            "prompt" => listed.prompt = Some(toml_item_text(item).ok_or_else(|| wrong("a string"))?),
            "launch" => {
                listed.launch = Some(toml_item_texts(item).ok_or_else(|| wrong(REQUIRED_FORM_OF_ARGV))?);
            }
            _ => return Err(unknown_key_finding(&format!("{at}.{key}"), key, KNOWN_OUTPUT_KEYS).text),
        }
    }
    if listed.file.is_empty() {
        return Err(format!("{at} has no `file`; the stage cannot be used"));
    }
    Ok(listed)
}

fn unknown_key_finding(at: &str, key: &str, allowed: &[&'static str]) -> Finding {
    let near = nearest_allowed_word(key, allowed.iter().copied());
    let meant = near.map_or_else(|| format!("there are {}", allowed.join(", ")), |near| format!("`{near}`?"));
    Finding::new(FindingLevel::Error, format!("unknown key `{at}` ({meant}); the stage cannot be used"))
}

fn toml_item_text(item: &Item) -> Option<String> {
    item.as_str().map(str::to_owned)
}

fn toml_item_texts(item: &Item) -> Option<Vec<String>> {
    item.as_array()?.iter().map(|value| value.as_str().map(str::to_owned)).collect()
}

fn line_number_of_key(table: &dyn TableLike, key: &str, place: StageSettingsFile) -> Option<usize> {
    table.key(key).and_then(toml_edit::Key::span).map(|span| line_number_of_offset(place.text, span.start))
}

#[cfg(test)]
#[path = "stage_tests.rs"]
mod tests;
