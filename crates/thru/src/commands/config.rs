use model::config::{ConfigEntry, SETTING_ROWS, StageDefinition};
use model::finding::{Finding, FindingLevel};
use model::text::count_with_noun;
use ops::Result;
use ops::World;
use ops::project::settings;
use serde::Serialize;

use crate::output::{self, DIM, OutputFormat};

/// Show every setting, its effective value and where it comes from
///
/// Each source overrides the ones before it: defaults, ~/.config/throughline/config.toml, .agent/context/config.toml
/// (of a trusted root), THROUGHLINE_* variables. The exit code is 1 if a settings file cannot be used.
#[derive(Debug, clap::Args)]
pub struct Args {}

#[derive(Serialize)]
struct ConfigReport<'a> {
    settings: &'a [ConfigEntry],
    stages: &'a [StageDefinition],
    findings: &'a [Finding],
}

pub fn run(world: &World, _: &Args, format: OutputFormat) -> Result<u8> {
    let resolved = settings::settings_here(world);
    match format {
        OutputFormat::Json => output::print_json(&ConfigReport {
            settings: &resolved.entries,
            stages: &resolved.stages,
            findings: &resolved.findings,
        }),
        OutputFormat::Text => {
            print_entries(&resolved.entries);
            resolved.stages.iter().filter(|stage| stage.unusable_reason.is_none()).for_each(print_stage);
            resolved
                .findings
                .iter()
                .for_each(|finding| output::print_message(output::format_finding(finding)));
        }
    }
    let failed = resolved.findings.iter().any(|finding| finding.level == FindingLevel::Error);
    Ok(u8::from(failed))
}

fn print_entries(entries: &[ConfigEntry]) {
    let values: Vec<String> = entries.iter().map(|entry| entry.value.to_string()).collect();
    let (keys, width) =
        (max_width(entries.iter().map(|e| e.key)), max_width(values.iter().map(String::as_str)));
    let sources = max_width(entries.iter().map(|e| e.source.as_str()));
    for (entry, value) in entries.iter().zip(&values) {
        let about = SETTING_ROWS.iter().find(|key| key.name == entry.key).map_or("", |key| key.help_text);
        let ConfigEntry { key, source, .. } = entry;
        output::print_line(format_args!(
            "{key:<keys$}  {value:<width$}  {source:<sources$}  {DIM}{about}{DIM:#}"
        ));
    }
}

fn print_stage(stage: &StageDefinition) {
    let StageDefinition { name, source, .. } = stage;
    let outputs = count_with_noun(stage.expected_outputs().len(), "output");
    output::print_line(format_args!(
        "stages.{name}  {outputs}  {source}  {DIM}`thru gate run --stage {name}`{DIM:#}"
    ));
}

fn max_width<'a>(words: impl Iterator<Item = &'a str>) -> usize {
    words.map(str::len).max().unwrap_or(0)
}
