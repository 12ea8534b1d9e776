//! `thru gate run`: keeps valid outputs, launches the others, launches each failed one a second time, then judges the
//! gate.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use model::consent::shown_command;
use model::gate::{self, Expected, Judged, Omission, Output, Step, Verdict};
use model::redact;
use model::render::one_line;
use model::time;
use store::{Durability, Run};

use super::launch::{Launch, launch};
use super::orphan::{self, Orphan};
use super::{GateContext, GateReport, Wanted, expect, need_trust, report};
use crate::process::reaper::ProcessReaper;
use crate::project::consent::is_launch_allowed;
use crate::{Error, Result, World};

/// How often a launch that outlived its run is checked.
pub(super) const TICK: Duration = Duration::from_millis(50);

#[derive(Clone, Debug, Default)]
pub struct Options {
    pub stage: Option<String>,
    /// `None` means the value of the settings.
    pub jobs: Option<usize>,
    pub timeout: Option<Duration>,
    pub again: Again,
}

/// Whether outputs that have used up their launches are launched again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Again {
    #[default]
    No,
    Yes,
}

/// A report of the run's progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    Reused {
        file: String,
    },
    Launched {
        file: String,
        attempt: u32,
    },
    Ended {
        file: String,
        how: String,
        verdict: Verdict,
        why: String,
    },
    /// A launch of a killed run is still working on the output.
    Waiting {
        file: String,
        process: Option<i32>,
    },
    /// The launch of a killed run can neither be waited for nor ended.
    StillRunning {
        file: String,
        remedy: String,
    },
}

pub fn run(world: &World, options: &Options, tell: &(dyn Fn(Progress) + Sync)) -> Result<GateReport> {
    let place = GateContext::find(world)?;
    let run = Arc::new(find_or_make(world, &place, options.stage.as_deref())?);
    let _lock = place.lock(&run, "gate run")?;
    let mut expected = place.expected(&run)?;
    let (mut steps, mut is_new) = (Vec::new(), false);
    for i in 0..expected.outputs.len() {
        let verdict = place.judge(&run, &expected.outputs[i])?.verdict;
        is_new |= expected.note(i, verdict);
        if verdict == Verdict::Valid {
            tell(Progress::Reused { file: expected.outputs[i].file.clone() });
        } else if is_step(&place, &run, &expected.outputs[i], verdict, options.again, tell)? {
            steps.push(i);
        }
    }
    if !steps.is_empty() {
        need_trust(&place)?;
        need_given(&place, &run, steps.iter().map(|i| &expected.outputs[*i]))?;
    }
    if options.again == Again::Yes && !steps.is_empty() {
        expected.begin_again(&steps);
        is_new = true;
    }
    if is_new && place.trusted {
        run.write_expected(&expected)?;
    }
    let settings = place.resolved.settings();
    let bench = Bench {
        run: &run,
        expected: Mutex::new(expected),
        checkout: &place.root.checkout,
        timeout: options.timeout.unwrap_or(Duration::from_secs(settings.gates_timeout_s)),
        redact: settings.redact(),
        now: world.now,
        started: Instant::now(),
        again: options.again,
        tell,
    };
    bench.side_by_side(steps, options.jobs.unwrap_or(settings.gates_jobs).max(1))?;
    let expected = bench.expected.into_inner().unwrap_or_else(PoisonError::into_inner);
    note_omissions(&place, &run, &expected)?;
    report(&place, &run, &expected)
}

/// Returns whether an invalid output is launched. If inputs are missing, nothing is launched at all, because somebody
/// who reads the results would not notice that.
fn is_step(
    place: &GateContext,
    run: &Run,
    output: &Output,
    verdict: Verdict,
    again: Again,
    tell: &(dyn Fn(Progress) + Sync),
) -> Result<bool> {
    let attempts = if again == Again::Yes { 0 } else { output.attempts };
    if gate::step(&Output { attempts, ..output.clone() }, verdict) != Step::Launch {
        return Ok(false);
    }
    if let [input, ..] = store::absent_inputs(&place.root.checkout, &output.inputs)?[..] {
        return Err(Error::Absent {
            what: format!("{input}: this input of {} does not exist, so nothing was launched", output.file),
            hint: format!(
                "restore it, or remove it from \"inputs\" in {}",
                run.path().join(run.list()).display()
            ),
        });
    }
    // A launch that cannot be ended cannot be repeated either.
    let orphan = if again == Again::Yes { Orphan::of(run, &output.file) } else { None };
    match orphan.filter(|orphan| !orphan.can_be_ended()) {
        Some(orphan) => {
            tell(Progress::StillRunning { file: output.file.clone(), remedy: orphan.remedy() });
            Ok(false)
        }
        None => Ok(true),
    }
}

/// How many commands a refusal names.
const NAMED: usize = 5;
/// How much of each command a refusal shows.
const NAMED_WIDTH: usize = 200;

/// Refuses commands that the user has not allowed. `expected.json` is in the project, so anybody may have written it.
/// A command from it is launched only if the user allowed exactly this command here.
fn need_given<'a>(place: &GateContext, run: &Run, launched: impl Iterator<Item = &'a Output>) -> Result<()> {
    let foreign: Vec<&Output> =
        launched.filter(|output| !is_launch_allowed(&place.store, &place.root, run, output)).collect();
    if foreign.is_empty() {
        return Ok(());
    }
    let named = foreign.iter().take(NAMED).map(|output| {
        let command = one_line(&shown_command(&output.launch), NAMED_WIDTH);
        format!("{} by `{command}`", one_line(&output.file, 128))
    });
    let more = match foreign.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    Err(Error::Refused {
        what: format!(
            "{}: nothing was launched, because you did not allow these commands here: {}{more}",
            run.path().join(run.list()).display(),
            named.collect::<Vec<_>>().join(", ")
        ),
        hint: "`thru gate run --adopt` shows the commands and prompts and asks; it needs a terminal".into(),
    })
}

/// Finds the run of a stage. If there is none and the settings define the stage, creates one.
pub(super) fn find_or_make(world: &World, place: &GateContext, stage: Option<&str>) -> Result<Run> {
    match (place.run(stage), stage) {
        (Err(Error::Absent { .. }), Some(stage))
            if place.resolved.stages.iter().any(|known| known.name == stage) =>
        {
            expect(world, &Wanted { stage: stage.to_owned(), ..Wanted::default() })?;
            place.run(Some(stage))
        }
        (run, _) => run,
    }
}

/// What the workers share.
struct Bench<'a> {
    run: &'a Arc<Run>,
    /// The list of outputs. Launch counts are written to disk before anything is launched.
    expected: Mutex<Expected>,
    /// The folder where commands run and where inputs are.
    checkout: &'a Path,
    timeout: Duration,
    redact: redact::Options,
    now: Timestamp,
    started: Instant,
    again: Again,
    tell: &'a (dyn Fn(Progress) + Sync),
}

impl Bench<'_> {
    fn side_by_side(&self, steps: Vec<usize>, jobs: usize) -> Result<()> {
        if steps.is_empty() {
            return Ok(());
        }
        let workers = jobs.min(steps.len());
        let (queue, failure) = (Mutex::new(VecDeque::from(steps)), Mutex::new(None));
        let next = || lock(&queue).pop_front();
        let watchman = ProcessReaper::start();
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    while let Some(i) = next() {
                        if let Err(error) = self.make(i, &watchman) {
                            lock(&failure).get_or_insert(error);
                            return;
                        }
                    }
                });
            }
        });
        failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }

    /// Launches the command of one output until the output is valid or has used up its launches.
    fn make(&self, i: usize, watchman: &ProcessReaper) -> Result<()> {
        if !self.is_free(&self.output(i))? {
            return Ok(());
        }
        loop {
            let output = self.output(i);
            let Judged { verdict, .. } = self.judge(&output)?;
            if gate::step(&output, verdict) != Step::Launch {
                return Ok(());
            }
            self.launch(i, &output, watchman)?;
        }
    }

    fn launch(&self, i: usize, output: &Output, watchman: &ProcessReaper) -> Result<()> {
        let now = self.now();
        let file = output.file.clone();
        // The old file is moved aside, so a file that exists afterwards comes from this launch, whatever the clocks of
        // the machine and its disks say.
        self.run.set_aside(&file, &format!("set-aside-{}", time::compact(now)))?;
        let digest = store::inputs_digest(self.checkout, &output.inputs)?;
        {
            let mut expected = lock(&self.expected);
            expected.count_launch(i, &digest);
            self.run.write_expected(&expected)?;
        }
        (self.tell)(Progress::Launched { file: file.clone(), attempt: output.attempts + 1 });
        let how = launch(&Launch {
            run: self.run,
            output,
            folder: self.checkout,
            timeout: self.timeout,
            watchman,
            redact: self.redact,
            now,
        })?;
        let Judged { verdict, why } = self.judge(&self.output(i))?;
        let mut expected = lock(&self.expected);
        if verdict == Verdict::Valid && expected.note(i, verdict) {
            self.run.write_expected(&expected)?;
        }
        drop(expected);
        (self.tell)(Progress::Ended { file, how, verdict, why });
        Ok(())
    }

    fn now(&self) -> Timestamp {
        self.now.checked_add(self.started.elapsed()).unwrap_or(self.now)
    }

    /// Waits for a launch that a killed run left and that is still working: as long as a launch may take, then ends
    /// it. Returns false if it does not end.
    fn is_free(&self, output: &Output) -> Result<bool> {
        let file = output.file.clone();
        let Some(orphan) = Orphan::of(self.run, &file) else { return Ok(true) };
        let process = orphan.process;
        (self.tell)(Progress::Waiting { file: file.clone(), process });
        let (patience, why) = match self.again {
            Again::Yes => (Duration::ZERO, "was ended, to be launched again"),
            Again::No => (orphan.time_left(self.timeout, self.now()), "was ended, its time was up"),
        };
        let until = Instant::now() + patience;
        let mut how = "is over";
        while orphan::is_held(self.run, &file) {
            if Instant::now() < until {
                std::thread::sleep(TICK);
            } else if orphan.end(self.run, &file) {
                how = why;
            } else {
                (self.tell)(Progress::StillRunning { file, remedy: orphan.remedy() });
                return Ok(false);
            }
        }
        orphan::forget(self.run, &file);
        let Judged { verdict, why } = self.judge(output)?;
        (self.tell)(Progress::Ended { file, how: format!("the earlier launch {how}"), verdict, why });
        Ok(true)
    }

    fn output(&self, i: usize) -> Output {
        lock(&self.expected).outputs[i].clone()
    }

    fn judge(&self, output: &Output) -> Result<Judged> {
        super::judge(self.run, output, self.checkout)
    }
}

fn note_omissions(place: &GateContext, run: &Run, expected: &Expected) -> Result<()> {
    let mut omitted = Vec::new();
    for output in &expected.outputs {
        let judged = place.judge(run, output)?;
        if Omission::is_omitted(output.tier, judged.verdict) {
            let message = place.store.message(run, &output.file).map(|path| path.display().to_string());
            omitted.push(Omission { file: output.file.clone(), judged, message });
        }
    }
    // An earlier note would describe the old state, so it is replaced.
    let name = super::stage_omissions_file(run, expected);
    if omitted.is_empty() && !run.holds(&name) {
        return Ok(());
    }
    Ok(run.write(&name, &gate::omissions(expected, &omitted), Durability::Synced)?)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
