use model::render::one_line;
use model::text::count_with_noun;
use model::time;
use ops::Result;
use ops::World;
use ops::session::files::{FileRow, FilesReport};

use crate::output::{self, DIM, OutputFormat};

/// List the files that matter most, ranked by how tools used them
///
/// Edits count more than reads, recent use more than old use, and frequent use more than rare use. Files that are
/// deleted, ignored by git or generated rank lower. `~named` means that the text of a command mentions the file.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// List only the files of this session; the beginning of its id is enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// List at most this many files; 0 means all
    #[arg(long, short = 'n', default_value_t = 40, value_name = "N")]
    limit: usize,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let mut report = ops::session::files::files_report(world, args.session.as_deref())?;
    let all = report.files.len();
    if args.limit > 0 {
        report.files.truncate(args.limit);
    }
    match format {
        OutputFormat::Json => output::print_json(&report),
        OutputFormat::Text => print_report(&report, all, world),
    }
    Ok(0)
}

fn print_report(report: &FilesReport, all: usize, world: &World) {
    if report.files.is_empty() {
        output::print_message("Hooks have not reported any files yet.");
        return;
    }
    let width = report.files.iter().map(|row| row.path.chars().count()).max().unwrap_or(0).min(70);
    for row in &report.files {
        let path = one_line(&row.path, 400);
        let ago =
            time::parse_time(&row.last_at).map_or(String::new(), |at| time::describe_age(at, world.now));
        output::print_line(format_args!("{path:<width$}  {:<22}  {DIM}{ago}{DIM:#}", describe_use(row)));
    }
    if all > report.files.len() {
        output::print_message(format_args!(
            "{DIM}and {}; -n 0 shows all{DIM:#}",
            count_with_noun(all - report.files.len(), "other file")
        ));
    }
}

/// Describes how a file was used, as in `edited 4×, read 2×, gone`.
fn describe_use(row: &FileRow) -> String {
    let times = |n: u32, word: &str| match n {
        0 => None,
        1 => Some(word.to_owned()),
        _ => Some(format!("{word} {n}×")),
    };
    let flag = |on: bool, word: &str| on.then(|| word.to_owned());
    let words = [
        times(row.edits, "edited"),
        times(row.edits_by_commands, "edited by a command"),
        times(row.reads, "read"),
        times(row.guesses.saturating_sub(row.edits_by_commands), "~named"),
        flag(row.gone, "gone"),
        flag(row.ignored, "ignored"),
        flag(row.outside, "outside"),
    ];
    words.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
