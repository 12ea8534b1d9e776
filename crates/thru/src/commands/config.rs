use model::config::{Entry, KEYS, Stage};
use model::finding::{Finding, Level};
use model::text::count;
use ops::Result;
use ops::World;
use ops::project::settings;
use serde::Serialize;

use crate::output::{self, DIM, Format};

/// Show every setting, its effective value and where it comes from
///
/// Later sources win: defaults, ~/.config/throughline/config.toml, .agent/context/config.toml (of a trusted root),
/// THROUGHLINE_* variables. Exit code 1 if a file cannot be used.
#[derive(Debug, clap::Args)]
pub struct Args {}

#[derive(Serialize)]
struct ConfigReport<'a> {
    settings: &'a [Entry],
    stages: &'a [Stage],
    findings: &'a [Finding],
}

pub fn run(world: &World, _: &Args, format: Format) -> Result<u8> {
    let resolved = settings::here(world);
    match format {
        Format::Json => output::json(&ConfigReport {
            settings: &resolved.entries,
            stages: &resolved.stages,
            findings: &resolved.findings,
        }),
        Format::Text => {
            print(&resolved.entries);
            resolved.stages.iter().filter(|stage| stage.broken.is_none()).for_each(print_stage);
            resolved.findings.iter().for_each(|finding| output::talk(output::finding(finding)));
        }
    }
    let failed = resolved.findings.iter().any(|finding| finding.level == Level::Error);
    Ok(u8::from(failed))
}

fn print(entries: &[Entry]) {
    let values: Vec<String> = entries.iter().map(|entry| entry.value.to_string()).collect();
    let (keys, width) = (widest(entries.iter().map(|e| e.key)), widest(values.iter().map(String::as_str)));
    let sources = widest(entries.iter().map(|e| e.source.as_str()));
    for (entry, value) in entries.iter().zip(&values) {
        let about = KEYS.iter().find(|key| key.name == entry.key).map_or("", |key| key.help);
        let Entry { key, source, .. } = entry;
        output::line(format_args!("{key:<keys$}  {value:<width$}  {source:<sources$}  {DIM}{about}{DIM:#}"));
    }
}

fn print_stage(stage: &Stage) {
    let Stage { name, source, .. } = stage;
    let outputs = count(stage.expected().len(), "output");
    output::line(format_args!(
        "stages.{name}  {outputs}  {source}  {DIM}`thru gate run --stage {name}`{DIM:#}"
    ));
}

fn widest<'a>(words: impl Iterator<Item = &'a str>) -> usize {
    words.map(str::len).max().unwrap_or(0)
}
