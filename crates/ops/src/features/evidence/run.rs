//! `thru evidence run TASK -- COMMAND`: runs the command, and records its result, its test counts and the files that
//! the run covers.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::evidence::{
    EntryType, EvidenceEntry, EvidenceOrigin, EvidenceVerdict, FileListing, WHOLE_PROJECT_SCOPE,
    verdict_of_run,
};
use model::failure::error_lines;
use model::plan::Task;
use model::redact::Redacted;
use model::{checkout_path, run, time};
use serde::Serialize;
use store::{Checkout, ListingComparison, ListingTime};

use super::judge::{MAX_CHECKOUT_FILES, list_checkout_files};
use super::{MAX_EVIDENCE_LOCK_WAIT, find_task, new_entry_id, write_evidence_entry};
use crate::features::plan::PlanAuthor;
use crate::input_redactor::InputRedactor;
use crate::process::reaper::ProcessReaper;
use crate::process::{self, CommandJob, CommandObserver, EndedCommand, ExitReason};
use crate::project::{Project, git};
use crate::{Error, Result, World};

/// How many bytes at the end of the output are searched for test counts.
const MAX_OUTPUT_BYTES_SEARCHED: usize = 4 * 1024 * 1024;

/// How many bytes of file content are read in total.
const MAX_COVERED_FILES_CONTENT_BYTES: u64 = 1024 * 1024 * 1024;

/// The largest test report that is read.
const MAX_REPORT_BYTES: usize = 64 * 1024 * 1024;

#[derive(Clone, Debug)]
pub struct EvidenceRunRequest<'a> {
    pub task: &'a str,
    pub argv: &'a [String],
    /// The files and folders that the run covers. If the list is empty, the run covers the files that the task lists.
    /// If the task lists none, the run covers the whole project.
    pub files: &'a [String],
    pub timeout: Option<Duration>,
    /// A JUnit file that contains the test counts.
    pub junit: Option<&'a Path>,
    pub session: Option<&'a str>,
}

#[derive(Clone, Debug, Serialize)]
pub struct RunRecordedAsEvidence {
    pub task: String,
    pub entry: EvidenceEntry,
    /// The path of a file that changed while the command ran, or an empty string. If a file changed, the evidence is
    /// stale from the start.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[serde(rename = "changed")]
    pub changed_file: String,
    pub redacted: bool,
    pub notes: Vec<String>,
}

impl RunRecordedAsEvidence {
    pub fn has_passed(&self) -> bool {
        self.entry.verdict() == EvidenceVerdict::Pass
    }
}

/// Runs the command and records its result. `hear` receives the command's output as it arrives.
pub fn run_and_record(
    world: &World,
    request: &EvidenceRunRequest,
    hear: impl FnMut(&[u8]) + Send + 'static,
) -> Result<RunRecordedAsEvidence> {
    let project = Project::find_for_reading(world)?;
    let (id, plan) = find_task(&project.store, request.task)?;
    let author = PlanAuthor::current_author(world, request.session)?;
    let folder = find_run_folder(world, &project)?;
    let spoken = find_covered_files(world, &project, plan.task(request.task), request.files)?;
    let checkout = Checkout::open(&project.root.checkout)?;
    let before =
        checkout.list_files(spoken.files.iter().map(String::as_str), MAX_COVERED_FILES_CONTENT_BYTES);
    let head = git::read_head(&project.root.checkout).map(|head| head.commit).unwrap_or_default();
    let report = request.junit.map(JunitReportFile::stamp_before_run);
    let ended = run_command(request, &folder.path, hear)?;
    // Examine the files again, because the command may not have tested a file that changed during the run.
    let after = Checkout::open(&project.root.checkout)?;
    let changed = match after.compare_with_listing(&before, ListingTime::ExaminedThrough(&checkout)) {
        ListingComparison::Changed(path) | ListingComparison::Gone(path) => path,
        ListingComparison::Same | ListingComparison::Unfinished => String::new(),
    };
    let given = InputRedactor::with_settings_of(world);
    let counted = report.map(JunitReportFile::read_counts);
    let seen = RedactedRunResult::from_ended(request, &ended, counted.as_ref(), &given);
    let mut entry = EvidenceEntry {
        id: new_entry_id()?,
        task_id: id.to_string(),
        entry_type: EntryType::Test.name().to_owned(),
        kind: EvidenceOrigin::Run.name().to_owned(),
        timestamp: time::to_rfc3339(world.now),
        agent: author.author,
        verdict: seen.verdict.name().to_owned(),
        summary: seen.summary,
        tests_passed: seen.counts.passed,
        tests_failed: seen.counts.failed,
        failures: seen.failures.into_iter().map(Into::into).collect(),
        command: Some(seen.command),
        folder: folder.path_below_checkout,
        exit_code: seen.exit_code,
        head,
        files: u64::try_from(before.files.len()).ok(),
        scope: if spoken.is_complete { WHOLE_PROJECT_SCOPE.to_owned() } else { String::new() },
        changed,
        ..EvidenceEntry::default()
    };
    let mut notes = Vec::new();
    if let Some(Err(why)) = &counted {
        entry.metadata.insert("report".to_owned(), why.as_str().into());
        notes.push(why.clone());
    }
    let milliseconds = u64::try_from(ended.duration.as_millis()).unwrap_or(u64::MAX);
    entry.metadata.insert("milliseconds".to_owned(), milliseconds.into());
    if matches!(ended.exit_reason, ExitReason::TimedOut | ExitReason::Signal(_)) {
        entry.metadata.insert("ended".to_owned(), ended.exit_reason.to_string().into());
    }
    let listing = entry.changed.is_empty().then_some(&before);
    entry.tree = listing.map(FileListing::tree_hash).unwrap_or_default();
    notes.extend(
        write_evidence_entry(
            &project.store,
            &id,
            entry.clone(),
            listing,
            (world.now, MAX_EVIDENCE_LOCK_WAIT),
        )?
        .notes,
    );
    let changed = entry.changed.clone();
    Ok(RunRecordedAsEvidence {
        task: id.to_string(),
        entry,
        changed_file: changed,
        redacted: given.has_redacted(),
        notes,
    })
}

/// The folder in which the command runs: the current folder, or the top of the checkout if the current folder is
/// outside it.
struct CommandFolder {
    path: PathBuf,
    path_below_checkout: String,
}

fn find_run_folder(world: &World, project: &Project) -> Result<CommandFolder> {
    let checkout = &project.root.checkout;
    let here = world.require_cwd()?;
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    match real(here).strip_prefix(real(checkout)) {
        Ok(below) => Ok(CommandFolder {
            path: here.to_owned(),
            path_below_checkout: below.to_string_lossy().into_owned(),
        }),
        Err(_) => Ok(CommandFolder { path: checkout.clone(), path_below_checkout: String::new() }),
    }
}

pub(super) struct FilesCoveredByEvidence {
    pub files: Vec<String>,
    pub is_complete: bool,
}

fn find_covered_files(
    world: &World,
    project: &Project,
    task: Option<&Task>,
    named: &[String],
) -> Result<FilesCoveredByEvidence> {
    let checkout = Checkout::open(&project.root.checkout)?;
    let all = list_project_files(project, &checkout);
    let some = |files: Vec<String>| FilesCoveredByEvidence { files, is_complete: false };
    if !named.is_empty() {
        let mut files = Vec::new();
        for name in named {
            let path = path_inside_checkout(world, project, name)?;
            let found = files_at_or_below(&checkout, all.as_deref(), &path);
            if found.is_empty() {
                return Err(Error::Absent {
                    what: format!(
                        "{}: there is no such file or folder in this checkout",
                        crate::features::plan::to_one_line(name)
                    ),
                    hint: "name files and folders relative to this folder".into(),
                });
            }
            files.extend(found);
        }
        return Ok(some(files));
    }
    // Use the files that the task lists, but only if all of them exist, because an outdated list would hide changes.
    let own: Vec<&String> = task.map(|task| task.files_touched.iter().collect()).unwrap_or_default();
    let found: Vec<Vec<String>> =
        own.iter().map(|path| files_at_or_below(&checkout, all.as_deref(), path)).collect();
    if !own.is_empty() && found.iter().all(|found| !found.is_empty()) {
        return Ok(some(found.concat()));
    }
    match all {
        Some(files) => Ok(FilesCoveredByEvidence { files, is_complete: true }),
        None => Err(Error::Refused {
            what: format!("this checkout has over {MAX_CHECKOUT_FILES} files"),
            hint: "name the files or folders that the command is about: `--file PATH`, once for each".into(),
        }),
    }
}

/// Returns all files of the project that git does not ignore, or `None` if the project has too many files.
fn list_project_files(project: &Project, checkout: &Checkout) -> Option<Vec<String>> {
    let mut files = list_checkout_files(checkout)?;
    if checkout.is_in_git() {
        let args = ["ls-files", "--others", "--exclude-standard", "-z"];
        let others =
            git::run_git(&project.root.checkout, &args, Vec::new()).ok().flatten().unwrap_or_default();
        let others = others.split(|b| *b == 0).filter(|name| !name.is_empty());
        let others = others.filter_map(|name| String::from_utf8(name.to_vec()).ok());
        files.extend(others.filter(|name| !checkout_path::is_in_store(name)));
        files.sort_unstable();
        files.dedup();
    }
    (files.len() <= MAX_CHECKOUT_FILES).then_some(files)
}

/// Returns the file at `path` or, if `path` is a folder, all files below it.
fn files_at_or_below(checkout: &Checkout, all: Option<&[String]>, path: &str) -> Vec<String> {
    if checkout.has_file(path) {
        return vec![path.to_owned()];
    }
    let folder = if path == "." { String::new() } else { format!("{}/", path.trim_end_matches('/')) };
    match all {
        Some(all) => all.iter().filter(|file| file.starts_with(&folder)).cloned().collect(),
        None if checkout.is_folder(path) => {
            checkout.files_below(path, MAX_CHECKOUT_FILES).unwrap_or_default()
        }
        None => Vec::new(),
    }
}

fn path_inside_checkout(world: &World, project: &Project, name: &str) -> Result<String> {
    let outside = || Error::Refused {
        what: format!("{}: this path is outside the checkout", crate::features::plan::to_one_line(name)),
        hint: "evidence can cover only files in the project".into(),
    };
    if name.contains('\0') {
        return Err(outside());
    }
    let path = world.require_cwd()?.join(name);
    checkout_path::path_within_checkout(&project.root.checkout.to_string_lossy(), &path.to_string_lossy())
        .path_if_inside()
        .ok_or_else(outside)
}

fn run_command(
    request: &EvidenceRunRequest,
    folder: &Path,
    hear: impl FnMut(&[u8]) + Send + 'static,
) -> Result<EndedCommand> {
    let job = CommandJob {
        argv: request.argv,
        folder,
        input: b"",
        variables: &[],
        timeout: request.timeout.unwrap_or(Duration::from_secs(24 * 60 * 60)),
        kept_output_bytes: MAX_OUTPUT_BYTES_SEARCHED,
    };
    let reaper = ProcessReaper::start();
    let watch = CommandObserver { reaper: &reaper, on_start: &|_| {} };
    process::run_command_streaming_output(&job, None, Some(watch), hear).map_err(|error| {
        let program = request.argv.first().map(String::as_str).unwrap_or_default();
        Error::Absent {
            what: format!("{} cannot be started: {error}", crate::features::plan::to_one_line(program)),
            hint: "nothing was recorded; for a shell line, use `-- sh -c 'LINE'`".into(),
        }
    })
}

/// The redacted result of a run.
struct RedactedRunResult {
    command: String,
    verdict: EvidenceVerdict,
    exit_code: Option<i64>,
    counts: run::TestCounts,
    summary: String,
    failures: Vec<String>,
}

impl RedactedRunResult {
    fn from_ended(
        request: &EvidenceRunRequest,
        ended: &EndedCommand,
        report: Option<&std::result::Result<run::TestCounts, String>>,
        given: &InputRedactor,
    ) -> RedactedRunResult {
        let words =
            || request.argv.iter().map(|word| harness::settings::quote_shell_word(word)).collect::<Vec<_>>();
        let line = run::shell_script_argument(request.argv).map_or_else(|| words().join(" "), str::to_owned);
        let output = String::from_utf8_lossy(&ended.output);
        let exit_code = match ended.exit_reason {
            ExitReason::Exit(code) => Some(i64::from(code)),
            ExitReason::Signal(signal) => Some(128 + i64::from(signal)),
            ExitReason::TimedOut => None,
        };
        let judged = run::decide_result(&line, exit_code, !ended.is_success(), &output);
        let of_output = || run::counts_of_command(&line, &output).unwrap_or_default();
        let counts = report.and_then(|report| report.as_ref().ok().copied()).unwrap_or_else(of_output);
        let ended_as = match (judged.result, ended.is_success(), counts.failed) {
            // If the command did not succeed, the run failed, whatever its output contains.
            (_, false, _) => run::RunResult::Failed,
            (run::RunResult::Passed, true, Some(1..)) => run::RunResult::Failed,
            // The user asked for the counts in a report, but the report contains none.
            (run::RunResult::Passed, true, _) if matches!(report, Some(Err(_))) => run::RunResult::Unknown,
            (judged, true, _) => judged,
        };
        let clean = Redacted::redact_whole(&output, given.options);
        let errors = if ended_as == run::RunResult::Failed { error_lines(&clean) } else { String::new() };
        let result = judged
            .deciding_line
            .map(|range| Redacted::redact_range(&output, range, given.options).to_string());
        let last = || clean.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        let summary = match (result, errors.lines().next()) {
            (Some(result), _) => result,
            (None, Some(error)) => error.to_owned(),
            (None, None) => last().to_owned(),
        };
        let failures = run::failed_test_names(&errors)
            .unwrap_or_else(|| errors.lines().map(|line| line.trim().to_owned()).collect());
        RedactedRunResult {
            command: given.redact_text(&line).into_owned(),
            verdict: verdict_of_run(ended_as, counts),
            exit_code,
            counts,
            summary: model::text::cut_to_bytes(&summary, MAX_RECORDED_OUTPUT_LINE_CHARS).to_owned(),
            failures: failures
                .into_iter()
                .map(|text| model::text::cut_to_bytes(&text, MAX_RECORDED_OUTPUT_LINE_CHARS).to_owned())
                .collect(),
        }
    }
}

/// A report that the command should write, and the state of the report file before the run.
struct JunitReportFile<'a> {
    path: &'a Path,
    stamp_before: Option<FileStamp>,
}

/// The properties of a file that change when it is written.
type FileStamp = (u64, u64, (i64, i64), (i64, i64));

impl<'a> JunitReportFile<'a> {
    fn stamp_before_run(path: &'a Path) -> JunitReportFile<'a> {
        JunitReportFile { path, stamp_before: JunitReportFile::file_stamp(path) }
    }

    fn file_stamp(path: &Path) -> Option<FileStamp> {
        let data = path.metadata().ok()?;
        let times = ((data.mtime(), data.mtime_nsec()), (data.ctime(), data.ctime_nsec()));
        Some((data.ino(), data.len(), times.0, times.1))
    }

    /// Returns the counts in the report, or an error that explains why there are none. The run is recorded in either
    /// case.
    fn read_counts(self) -> std::result::Result<run::TestCounts, String> {
        let shown = self.path.display();
        match JunitReportFile::file_stamp(self.path) {
            None => return Err(format!("{shown}: the command wrote no report")),
            look if look == self.stamp_before => {
                return Err(format!(
                    "{shown}: the command did not write this report, which is from an earlier run"
                ));
            }
            Some(_) => {}
        }
        let report =
            store::read_file_named_by_user(self.path, MAX_REPORT_BYTES).map_err(|error| error.to_string())?;
        let counts = run::counts_in_output(&String::from_utf8_lossy(&report));
        counts.ok_or_else(|| {
            format!("{shown}: there is no <testsuite tests=…> in it, so it is not a JUnit report")
        })
    }
}

/// The length to which an output line is cut.
const MAX_RECORDED_OUTPUT_LINE_CHARS: usize = 1_000;
