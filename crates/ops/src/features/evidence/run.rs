//! `thru evidence run TASK -- COMMAND`: runs the command, and records its result, its counts and the files it is
//! about.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::evidence::{Entry, EntryType, Kind, Listing, PROJECT, Verdict, verdict};
use model::failure::error_lines;
use model::plan::Task;
use model::redact::Redacted;
use model::{place, run, time};
use serde::Serialize;
use store::{Checkout, Comparison, ListedAt};

use super::judge::{MOST_FILES, files_now};
use super::{WAIT, fresh_id, task, write};
use crate::features::plan::Author;
use crate::input_redactor::InputRedactor;
use crate::process::reaper::ProcessReaper;
use crate::process::{self, Ended, How, Job, Watch};
use crate::project::{Project, git};
use crate::{Error, Result, World};

/// How many bytes of the end of the output are searched.
const KEPT: usize = 4 * 1024 * 1024;

/// How many bytes of the files' content are read in total.
const CONTENT: u64 = 1024 * 1024 * 1024;

/// The largest report of a command that is read.
const LARGEST_REPORT: usize = 64 * 1024 * 1024;

#[derive(Clone, Debug)]
pub struct Request<'a> {
    pub task: &'a str,
    pub argv: &'a [String],
    /// The files and folders that the run is about. If empty, those that the task names, or else the whole project.
    pub files: &'a [String],
    pub timeout: Option<Duration>,
    /// A file with the counts, in JUnit's format.
    pub junit: Option<&'a Path>,
    pub session: Option<&'a str>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Recorded {
    pub task: String,
    pub entry: Entry,
    /// A file that changed while the command ran. The evidence is then already stale.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub changed: String,
    pub covered: bool,
    pub notes: Vec<String>,
}

impl Recorded {
    pub fn is_passed(&self) -> bool {
        self.entry.verdict() == Verdict::Pass
    }
}

/// Runs the command and records the result. `hear` is called with the command's output as it arrives.
pub fn run(world: &World, request: &Request, hear: impl FnMut(&[u8]) + Send + 'static) -> Result<Recorded> {
    let project = Project::find(world)?;
    let (id, plan) = task(&project.store, request.task)?;
    let author = Author::here(world, request.session)?;
    let folder = folder(world, &project)?;
    let spoken = spoken_of(world, &project, plan.task(request.task), request.files)?;
    let checkout = Checkout::open(&project.root.checkout)?;
    let before = checkout.listing(spoken.files.iter().map(String::as_str), CONTENT);
    let head = git::head(&project.root.checkout).map(|head| head.commit).unwrap_or_default();
    let report = request.junit.map(Report::before);
    let ended = start(request, &folder.path, hear)?;
    // Examine the files again. If a file changed during the run, the run did not test it, or tested it only in
    // part.
    let after = Checkout::open(&project.root.checkout)?;
    let changed = match after.compare(&before, ListedAt::Through(&checkout)) {
        Comparison::Changed(path) | Comparison::Gone(path) => path,
        Comparison::Same | Comparison::Unfinished => String::new(),
    };
    let given = InputRedactor::to(world);
    let counted = report.map(Report::counts);
    let seen = Seen::of(request, &ended, counted.as_ref(), &given);
    let mut entry = Entry {
        id: fresh_id()?,
        task_id: id.to_string(),
        entry_type: EntryType::Test.name().to_owned(),
        kind: Kind::Run.name().to_owned(),
        timestamp: time::rfc3339(world.now),
        agent: author.by,
        verdict: seen.verdict.name().to_owned(),
        summary: seen.summary,
        tests_passed: seen.counts.passed,
        tests_failed: seen.counts.failed,
        failures: seen.failures.into_iter().map(Into::into).collect(),
        command: Some(seen.command),
        folder: folder.below,
        exit_code: seen.exit,
        head,
        files: u64::try_from(before.files.len()).ok(),
        scope: if spoken.is_all { PROJECT.to_owned() } else { String::new() },
        changed,
        ..Entry::default()
    };
    let mut notes = Vec::new();
    if let Some(Err(why)) = &counted {
        entry.metadata.insert("report".to_owned(), why.as_str().into());
        notes.push(why.clone());
    }
    let milliseconds = u64::try_from(ended.took.as_millis()).unwrap_or(u64::MAX);
    entry.metadata.insert("milliseconds".to_owned(), milliseconds.into());
    if matches!(ended.how, How::TimedOut | How::Signal(_)) {
        entry.metadata.insert("ended".to_owned(), ended.how.to_string().into());
    }
    let listing = entry.changed.is_empty().then_some(&before);
    entry.tree = listing.map(Listing::tree).unwrap_or_default();
    notes.extend(write(&project.store, &id, entry.clone(), listing, (world.now, WAIT))?.notes);
    let changed = entry.changed.clone();
    Ok(Recorded { task: id.to_string(), entry, changed, covered: given.was_covered(), notes })
}

/// The folder where the command runs: the current folder, or the top of the checkout if the current folder is
/// outside it.
struct Folder {
    path: PathBuf,
    below: String,
}

fn folder(world: &World, project: &Project) -> Result<Folder> {
    let checkout = &project.root.checkout;
    let here = world.need_cwd()?;
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    match real(here).strip_prefix(real(checkout)) {
        Ok(below) => Ok(Folder { path: here.to_owned(), below: below.to_string_lossy().into_owned() }),
        Err(_) => Ok(Folder { path: checkout.clone(), below: String::new() }),
    }
}

/// The files that a run is about.
pub(super) struct SpokenOf {
    pub files: Vec<String>,
    pub is_all: bool,
}

fn spoken_of(world: &World, project: &Project, task: Option<&Task>, named: &[String]) -> Result<SpokenOf> {
    let checkout = Checkout::open(&project.root.checkout)?;
    let all = all_files(project, &checkout);
    let some = |files: Vec<String>| SpokenOf { files, is_all: false };
    if !named.is_empty() {
        let mut files = Vec::new();
        for name in named {
            let path = inside(world, project, name)?;
            let found = below(&checkout, all.as_deref(), &path);
            if found.is_empty() {
                return Err(Error::Absent {
                    what: format!(
                        "{}: there is no such file or folder in this checkout",
                        crate::features::plan::line(name)
                    ),
                    hint: "name files and folders relative to this folder".into(),
                });
            }
            files.extend(found);
        }
        return Ok(some(files));
    }
    // Use the files that the task names, but only if all of them exist: an outdated list would hide changes.
    let own: Vec<&String> = task.map(|task| task.files_touched.iter().collect()).unwrap_or_default();
    let found: Vec<Vec<String>> = own.iter().map(|path| below(&checkout, all.as_deref(), path)).collect();
    if !own.is_empty() && found.iter().all(|found| !found.is_empty()) {
        return Ok(some(found.concat()));
    }
    match all {
        Some(files) => Ok(SpokenOf { files, is_all: true }),
        None => Err(Error::Refused {
            what: format!("this checkout has over {MOST_FILES} files"),
            hint: "name the files or folders that the command is about: `--file PATH`, once for each".into(),
        }),
    }
}

/// Returns all files of the project except those that git ignores; `None` if there are too many.
fn all_files(project: &Project, checkout: &Checkout) -> Option<Vec<String>> {
    let mut files = files_now(checkout)?;
    if checkout.is_in_git() {
        let args = ["ls-files", "--others", "--exclude-standard", "-z"];
        let others = git::run(&project.root.checkout, &args, Vec::new()).ok().flatten().unwrap_or_default();
        let others = others.split(|b| *b == 0).filter(|name| !name.is_empty());
        let others = others.filter_map(|name| String::from_utf8(name.to_vec()).ok());
        files.extend(others.filter(|name| !name.starts_with(store::layout::STORE)));
        files.sort_unstable();
        files.dedup();
    }
    (files.len() <= MOST_FILES).then_some(files)
}

/// Returns the file itself, or all files of a folder.
fn below(checkout: &Checkout, all: Option<&[String]>, path: &str) -> Vec<String> {
    if checkout.has(path) {
        return vec![path.to_owned()];
    }
    let folder = if path == "." { String::new() } else { format!("{}/", path.trim_end_matches('/')) };
    match all {
        Some(all) => all.iter().filter(|file| file.starts_with(&folder)).cloned().collect(),
        None if checkout.is_folder(path) => checkout.walk(path, MOST_FILES).unwrap_or_default(),
        None => Vec::new(),
    }
}

fn inside(world: &World, project: &Project, name: &str) -> Result<String> {
    let outside = || Error::Refused {
        what: format!("{}: it is outside this checkout", crate::features::plan::line(name)),
        hint: "evidence is about files of the project".into(),
    };
    if name.contains('\0') {
        return Err(outside());
    }
    let path = world.need_cwd()?.join(name);
    place::within(&project.root.checkout.to_string_lossy(), &path.to_string_lossy())
        .into_inside()
        .ok_or_else(outside)
}

fn start(request: &Request, folder: &Path, hear: impl FnMut(&[u8]) + Send + 'static) -> Result<Ended> {
    let job = Job {
        argv: request.argv,
        folder,
        input: b"",
        variables: &[],
        timeout: request.timeout.unwrap_or(Duration::from_secs(24 * 60 * 60)),
        keep: KEPT,
    };
    let watchman = ProcessReaper::start();
    let watch = Watch { watchman: &watchman, began: &|_| {} };
    process::run_heard(&job, None, Some(watch), hear).map_err(|error| {
        let program = request.argv.first().map(String::as_str).unwrap_or_default();
        Error::Absent {
            what: format!("{} cannot be started: {error}", crate::features::plan::line(program)),
            hint: "nothing was recorded; for a shell line, use `-- sh -c 'LINE'`".into(),
        }
    })
}

/// The result of a run, redacted.
struct Seen {
    command: String,
    verdict: Verdict,
    exit: Option<i64>,
    counts: run::Counts,
    summary: String,
    failures: Vec<String>,
}

impl Seen {
    fn of(
        request: &Request,
        ended: &Ended,
        report: Option<&std::result::Result<run::Counts, String>>,
        given: &InputRedactor,
    ) -> Seen {
        let words = || request.argv.iter().map(|word| harness::settings::quoted(word)).collect::<Vec<_>>();
        let line = run::script_of(request.argv).map_or_else(|| words().join(" "), str::to_owned);
        let output = String::from_utf8_lossy(&ended.output);
        let exit = match ended.how {
            How::Exit(code) => Some(i64::from(code)),
            How::Signal(signal) => Some(128 + i64::from(signal)),
            How::TimedOut => None,
        };
        let judged = run::ended(&line, exit, !ended.is_ok(), &output);
        let of_output = || run::counts(&output).unwrap_or_default();
        let counts = report.and_then(|report| report.as_ref().ok().copied()).unwrap_or_else(of_output);
        let ended_as = match (judged.ended, ended.is_ok(), counts.failed) {
            // If the command did not succeed, the run failed, whatever the output says.
            (_, false, _) => run::Ended::Failed,
            (run::Ended::Passed, true, Some(1..)) => run::Ended::Failed,
            // The user asked for counts, and they are missing.
            (run::Ended::Passed, true, _) if matches!(report, Some(Err(_))) => run::Ended::Unknown,
            (judged, true, _) => judged,
        };
        let clean = Redacted::whole(&output, given.options);
        let errors = if ended_as == run::Ended::Failed { error_lines(&clean) } else { String::new() };
        let result = judged.line.map(|range| Redacted::part(&output, range, given.options).to_string());
        let last = || clean.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        let summary = match (result, errors.lines().next()) {
            (Some(result), _) => result,
            (None, Some(error)) => error.to_owned(),
            (None, None) => last().to_owned(),
        };
        let failures = run::failed_tests(&errors)
            .unwrap_or_else(|| errors.lines().map(|line| line.trim().to_owned()).collect());
        Seen {
            command: given.clean(&line).into_owned(),
            verdict: verdict(ended_as, counts),
            exit,
            counts,
            summary: model::text::cut(&summary, LONGEST).to_owned(),
            failures: failures.into_iter().map(|text| model::text::cut(&text, LONGEST).to_owned()).collect(),
        }
    }
}

/// A report that the command is expected to write, and the state of its file before the run.
struct Report<'a> {
    path: &'a Path,
    before: Option<FileLook>,
}

/// The properties of a file that change when it is written.
type FileLook = (u64, u64, (i64, i64), (i64, i64));

impl<'a> Report<'a> {
    fn before(path: &'a Path) -> Report<'a> {
        Report { path, before: Report::look(path) }
    }

    fn look(path: &Path) -> Option<FileLook> {
        let data = path.metadata().ok()?;
        let times = ((data.mtime(), data.mtime_nsec()), (data.ctime(), data.ctime_nsec()));
        Some((data.ino(), data.len(), times.0, times.1))
    }

    /// Returns the report's counts. If there are none, the error says why. The run is recorded in either case.
    fn counts(self) -> std::result::Result<run::Counts, String> {
        let shown = self.path.display();
        match Report::look(self.path) {
            None => return Err(format!("{shown}: the command wrote no report")),
            look if look == self.before => {
                return Err(format!("{shown}: the command did not write it, it is of an earlier run"));
            }
            Some(_) => {}
        }
        let report = store::read_given(self.path, LARGEST_REPORT).map_err(|error| error.to_string())?;
        let counts = run::counts(&String::from_utf8_lossy(&report));
        counts.ok_or_else(|| format!("{shown}: it has no <testsuite tests=…>, so it is no JUnit report"))
    }
}

/// The longest line of output that is kept.
const LONGEST: usize = 1_000;
