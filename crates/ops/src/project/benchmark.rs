//! `thru swarm benchmark`: computes figures from the records, compares them with limits, and keeps every run.

use std::path::Path;
use std::time::Duration;

use model::benchmark::{self, BenchmarkHistory, BenchmarkRun, CheckOutcome, CountedRecords, NoDataPolicy};
use model::config::Settings;
use model::plan::TaskStatus;
use model::time;
use serde::Serialize;
use store::{Dir, ReplaceOutcome, Store, layout};

use crate::features::{plan, sessions};
use crate::input_redactor::InputRedactor;
use crate::project::{Project, settings};
use crate::{Error, Result, World, WriteMode};

/// How long a command waits for another command that is adding a benchmark run.
const MAX_BENCHMARKS_LOCK_WAIT: Duration = Duration::from_secs(5);

/// How many runs a chart shows.
pub const MAX_RUNS_IN_CHART: usize = 30;

#[derive(Clone, Debug, Serialize)]
pub struct BenchmarkReport {
    pub run: BenchmarkRun,
    /// Whether the figures meet all limits.
    pub outcome: CheckOutcome,
    /// All runs. The current run is the last one.
    #[serde(skip)]
    pub history: BenchmarkHistory,
    #[serde(skip)]
    pub settings: Settings,
}

pub fn run_benchmark(world: &World, no_data: NoDataPolicy) -> Result<BenchmarkReport> {
    let project = Project::find_for_reading(world)?;
    let settings = settings::settings_here(world).settings();
    let metrics = count_records(world, &project.store)?.to_metrics();
    let checks = benchmark::check_metrics(&metrics, &settings);
    let gate = benchmark::benchmark_gate_outcome(&checks, no_data);
    let run = BenchmarkRun {
        ts: time::to_rfc3339(world.now),
        metrics,
        checks,
        gate: Some(gate),
        ..BenchmarkRun::default()
    };
    let _lock = project.store.lock_benchmarks(MAX_BENCHMARKS_LOCK_WAIT)?;
    let mut history = project.store.read_benchmarks()?;
    history.runs.push(run.clone());
    project.store.write_benchmarks(&history)?;
    Ok(BenchmarkReport { run, outcome: gate, history, settings })
}

fn count_records(world: &World, store: &Store) -> Result<CountedRecords> {
    let mut counted = CountedRecords::default();
    for task in store.tasks_with_evidence()?.0 {
        let bundle = store.read_evidence(&task)?.map(|bundle| bundle.entries).unwrap_or_default();
        let archived = store.read_archived_evidence(&task)?;
        let is_only_archived = |entry: &model::evidence::EvidenceEntry| {
            entry.id.is_empty() || bundle.iter().all(|kept| kept.id != entry.id)
        };
        let archived = archived.into_iter().filter(is_only_archived);
        counted.add_task(&archived.chain(bundle.iter().cloned()).collect::<Vec<_>>());
    }
    if let Some(loaded) = plan::load_plan(store)? {
        let done = loaded.plan.tasks().filter(|task| task.status == TaskStatus::Completed).count();
        counted.completed_tasks = done as u64;
    }
    let activity = sessions::activity::activity_report(world, None)?;
    counted.tool_calls = activity.calls;
    counted.failed_calls = activity.tools.iter().map(|tool| tool.failed).sum();
    counted.calls_with_known_result = activity.tools.iter().map(|tool| tool.ok + tool.failed).sum();
    for id in store.loop_ids()? {
        let mut ended = Vec::new();
        store.each_loop_log_entry(&id, |entry| ended.extend(entry.reason))?;
        counted.add_loop(&ended);
    }
    store.each_receipt(|receipt| {
        if receipt.event != model::receipt::RECORDS_LOST_EVENT {
            counted.hook_ms.push(receipt.ms);
        }
    })?;
    Ok(counted)
}

/// Whether the chart may replace an existing file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureOverwritePolicy {
    /// Replace an existing file only if it is an earlier chart.
    OnlyPicture,
    AnyFile,
}

pub fn write_svg(
    world: &World,
    report: &BenchmarkReport,
    file: &Path,
    overwrite: PictureOverwritePolicy,
) -> Result<()> {
    let path = world.require_cwd()?.join(file);
    let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(|| Error::Usage {
        what: format!("{} does not name a file", file.display()),
        hint: "name one: `--svg benchmark.svg`".into(),
    })?;
    let folder = Dir::open(path.parent().unwrap_or(Path::new("/")))?;
    let known = match folder.read_file(name, MAX_FILE_BYTES) {
        Err(store::Error::Absent { .. }) => None,
        bytes => Some(bytes?),
    };
    let is_own = |bytes: &Vec<u8>| benchmark::is_benchmark_picture(&String::from_utf8_lossy(bytes));
    if overwrite == PictureOverwritePolicy::OnlyPicture && known.as_ref().is_some_and(|bytes| !is_own(bytes))
    {
        return Err(Error::Refused {
            what: format!("{} exists and is not a benchmark chart", file.display()),
            hint: "name another file, or replace it with --force".into(),
        });
    }
    let svg = benchmark::draw_svg(&report.history, &report.run.checks, &report.settings, MAX_RUNS_IN_CHART);
    match folder.replace_if_unchanged(name, known.as_deref(), svg.as_bytes())? {
        ReplaceOutcome::Done => Ok(()),
        ReplaceOutcome::ChangedMeanwhile => Err(Error::Refused {
            what: format!("another program is writing {}", file.display()),
            hint: "run this again, or name another file".into(),
        }),
    }
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct BenchmarkRunsImportReport {
    pub runs: usize,
    /// How many runs were new. A dry run does not write them.
    pub new: usize,
    /// Why the file could not be read, or an empty string if it was read.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[serde(rename = "left_out")]
    pub unread_reason: String,
}

/// The size limit of the file that opencode-swarm wrote.
const MAX_FILE_BYTES: usize = 64 * 1024 * 1024;

/// Imports the benchmark runs that opencode-swarm kept. Returns `None` if there is no file with such runs.
pub(crate) fn import_benchmark_runs(
    world: &World,
    swarm: &Dir,
    mode: WriteMode,
) -> Result<Option<BenchmarkRunsImportReport>> {
    let bytes = match swarm.read_file(layout::BENCHMARKS_FILE, MAX_FILE_BYTES) {
        Err(store::Error::Absent { .. }) => return Ok(None),
        bytes => bytes?,
    };
    let runs =
        match benchmark::parse_foreign_runs(&InputRedactor::with_settings_of(world).redact_bytes(&bytes)) {
            Ok(runs) => runs,
            Err(why) => {
                return Ok(Some(BenchmarkRunsImportReport {
                    unread_reason: why,
                    ..BenchmarkRunsImportReport::default()
                }));
            }
        };
    let all = runs.len();
    let store = match mode {
        WriteMode::Write => Some(Project::find_or_create(world)?.store),
        WriteMode::DryRun => Project::find_for_reading(world).ok().map(|project| project.store),
    };
    let _lock = match (&store, mode) {
        (Some(store), WriteMode::Write) => Some(store.lock_benchmarks(MAX_BENCHMARKS_LOCK_WAIT)?),
        _ => None,
    };
    let mut history = store.as_ref().map_or_else(|| Ok(BenchmarkHistory::new()), Store::read_benchmarks)?;
    let is_new = |run: &BenchmarkRun| history.runs.iter().all(|known| known.id != run.id);
    let new: Vec<BenchmarkRun> = runs.into_iter().filter(is_new).collect();
    let report = BenchmarkRunsImportReport { runs: all, new: new.len(), unread_reason: String::new() };
    if let (Some(store), WriteMode::Write, false) = (&store, mode, new.is_empty()) {
        // The imported runs are older than thru's own runs, so they come first. The current run must stay the last
        // one.
        history.runs.splice(0..0, new);
        store.write_benchmarks(&history)?;
    }
    Ok(Some(report))
}
