use model::evidence::EvidenceEntry;
use model::render::one_line;
use model::text::count_with_noun;
use ops::features::evidence::show::{self, EntryShown, EvidenceEntryFilter, TaskEvidenceShown};
use ops::{Result, World};

use super::{count_entries, describe_evidence, proof_style};
use crate::clock;
use crate::output::{self, BAD, BOLD, DIM, GOOD, OutputFormat, WARN};

pub fn run(world: &World, id: &str, archived: bool, format: OutputFormat) -> Result<u8> {
    let which = if archived { EvidenceEntryFilter::Archived } else { EvidenceEntryFilter::Current };
    let shown = show::show_task_evidence(world, id, which)?;
    match format {
        OutputFormat::Json => output::print_json(&shown),
        OutputFormat::Text => print_evidence(&shown, which),
    }
    Ok(0)
}

fn print_evidence(shown: &TaskEvidenceShown, which: EvidenceEntryFilter) {
    let style = proof_style(&shown.evidence);
    output::print_line(format_args!(
        "{BOLD}{}{BOLD:#}  {style}●{style:#} {}",
        shown.task,
        one_line(&describe_evidence(&shown.evidence), 1_000)
    ));
    for EntryShown { entry, stale, changed_file } in &shown.entries {
        let verdict = entry.verdict();
        let style = match verdict {
            _ if verdict.is_good() => GOOD,
            _ if verdict.is_negative_verdict() => BAD,
            _ => DIM,
        };
        let stale = match stale {
            Some(true) => format!("  {WARN}stale: {}{WARN:#}", one_line(changed_file, 200)),
            _ => String::new(),
        };
        output::print_line(format_args!(
            "\n{DIM}{}{DIM:#}  {BOLD}{}{BOLD:#} {style}{}{style:#} {DIM}{} by {}{DIM:#}{stale}",
            one_line(&clock::local_date_and_time(&entry.timestamp), 40),
            one_line(&entry.entry_type, 40),
            one_line(&entry.verdict, 40),
            entry.kind().name(),
            one_line(if entry.agent.is_empty() { "?" } else { &entry.agent }, 80)
        ));
        print_fields(entry);
    }
    if shown.archived > 0 && which == EvidenceEntryFilter::Current {
        output::print_message(format_args!(
            "{DIM}{} in the archive; `thru evidence show {} --archived` shows them{DIM:#}",
            count_entries(shown.archived),
            shown.task
        ));
    }
}

fn print_fields(entry: &EvidenceEntry) {
    let mut rows: Vec<(&str, String)> = Vec::new();
    let mut row = |name: &'static str, text: String| {
        if !text.is_empty() {
            rows.push((name, one_line(&text, 2_000)));
        }
    };
    let values = |values: &[serde_json::Value]| {
        let text =
            |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        values.iter().map(text).collect::<Vec<_>>().join("; ")
    };
    row("  summary", entry.summary.clone());
    row("  command", entry.command.clone().unwrap_or_default());
    row("  folder", entry.folder.clone());
    row("  exit", entry.exit_code.map(|code| code.to_string()).unwrap_or_default());
    row("  tests", entry.test_counts().map(|counts| counts.to_string()).unwrap_or_default());
    row("  failures", values(&entry.failures));
    row("  risk", entry.risk.clone().unwrap_or_default());
    row("  issues", values(&entry.issues));
    row("  changed", values(&entry.files_changed));
    if let (Some(more), Some(less)) = (entry.additions, entry.deletions) {
        row("  lines", format!("+{more} -{less}"));
    }
    row("  patch", entry.patch_path.clone().unwrap_or_default());
    row("  commit", entry.head.clone());
    let files = entry.files.filter(|_| !entry.tree.is_empty());
    let files = files.map(|files| count_with_noun(usize::try_from(files).unwrap_or(usize::MAX), "file"));
    row("  covers", files.unwrap_or_default());
    for (key, value) in entry.metadata.iter().chain(&entry.rest) {
        rows.push(("  also", format!("{}: {}", one_line(key, 40), one_line(&value.to_string(), 400))));
    }
    output::print_pairs(&rows);
}
