//! `thru gate run`: keeps the valid outputs, launches the commands of the others, launches each failed command once
//! more, and then judges the gate.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use model::consent::quote_command;
use model::gate::{
    self, ExpectedOutput, ExpectedOutputs, GateResult, JudgedOutput, NextLaunchStep, OmittedOutput,
    OutputVerdict,
};
use model::redact;
use model::render::one_line;
use model::time;
use store::{Durability, Root, RunFolder, Store};

use super::launch::{OutputLaunch, run_launch};
use super::orphan::{self, OrphanedLaunch};
use super::{
    ExpectedOutputsRequest, GateContext, GateReport, build_gate_report, expect_outputs, require_trust, worker,
};
use crate::process::reaper::ProcessReaper;
use crate::project::consent::{allow_launches, is_launch_allowed};
use crate::{Error, Result, World};

/// How long to wait between two checks of a launch that outlived its run.
pub(super) const ORPHAN_POLL_INTERVAL: Duration = Duration::from_millis(50);

#[derive(Clone, Debug, Default)]
pub struct GateRunOptions {
    pub stage: Option<String>,
    /// How many commands run at the same time. If this is `None`, the settings determine the number.
    pub jobs: Option<usize>,
    pub timeout: Option<Duration>,
    pub relaunch: RelaunchPolicy,
}

/// Whether to launch an output's command again after the maximum number of launches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RelaunchPolicy {
    #[default]
    No,
    Yes,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GateRunProgress {
    Reused {
        file: String,
    },
    /// An invalid output was renamed before a launch.
    SetAside {
        file: String,
        verdict: OutputVerdict,
        kept_as: String,
    },
    Launched {
        file: String,
        attempt: u32,
    },
    Ended {
        file: String,
        how_it_ended: String,
        verdict: OutputVerdict,
        why: String,
    },
    /// A command that a killed run launched is still working on this output. thru waits for the command or ends it.
    WaitingForOrphan {
        file: String,
        process: Option<i32>,
    },
    /// A command that a killed run launched is still writing this output. thru can neither wait for it nor end it.
    StillRunning {
        file: String,
        remedy: String,
    },
}

pub fn run_gate(
    world: &World,
    options: &GateRunOptions,
    tell: &(dyn Fn(GateRunProgress) + Sync),
) -> Result<GateReport> {
    let place = GateContext::find_project(world)?;
    let run = Arc::new(find_or_create_run(world, &place, options.stage.as_deref())?);
    let _lock = place.lock_run(&run, "gate run")?;
    let mut expected = place.read_expected(&run)?;
    worker::record_calling_agent_works_on_run(world, &place, &run);
    let (mut steps, mut is_new) = (Vec::new(), false);
    for i in 0..expected.outputs.len() {
        let verdict = place.judge_output(&run, &expected.outputs[i])?.verdict;
        is_new |= expected.record_verdict(i, verdict);
        if verdict == OutputVerdict::Valid {
            tell(GateRunProgress::Reused { file: expected.outputs[i].file.clone() });
        } else if should_launch(&place, &run, &expected.outputs[i], verdict, options.relaunch, tell)? {
            steps.push(i);
        }
    }
    if !steps.is_empty() {
        require_trust(&place)?;
        require_consent(&place, &run, steps.iter().map(|i| &expected.outputs[*i]))?;
    }
    if options.relaunch == RelaunchPolicy::Yes && !steps.is_empty() {
        expected.reset_launches(&steps);
        is_new = true;
    }
    if is_new && place.trusted {
        run.write_expected(&expected)?;
    }
    let settings = place.settings.settings();
    let bench = GateRunner {
        run: &run,
        expected: Mutex::new(expected),
        root: &place.root,
        store: &place.store,
        timeout: options.timeout.unwrap_or(Duration::from_secs(settings.gates_timeout_s)),
        redact_options: settings.redact_options(),
        now: world.now,
        started: Instant::now(),
        relaunch: options.relaunch,
        report_progress: tell,
    };
    bench.launch_in_parallel(steps, options.jobs.unwrap_or(settings.gates_jobs).max(1))?;
    let mut expected = bench.expected.into_inner().unwrap_or_else(PoisonError::into_inner);
    write_omissions(&place, &run, &expected)?;
    let report = build_gate_report(&place, &run, &expected)?;
    if report.gate == GateResult::Pass && place.trusted {
        super::passed::record_pass(&place.root, &run, &mut expected, world.now)?;
    }
    Ok(report)
}

/// Returns whether the command of an invalid output should be launched. Returns an error if one of its inputs is
/// missing, because the output itself would not show that.
fn should_launch(
    place: &GateContext,
    run: &RunFolder,
    output: &ExpectedOutput,
    verdict: OutputVerdict,
    again: RelaunchPolicy,
    tell: &(dyn Fn(GateRunProgress) + Sync),
) -> Result<bool> {
    let attempts = if again == RelaunchPolicy::Yes { 0 } else { output.attempts };
    if gate::next_launch_step(&ExpectedOutput { attempts, ..output.clone() }, verdict)
        != NextLaunchStep::Launch
    {
        return Ok(false);
    }
    if let [input, ..] = &super::absent_inputs(&place.root, output)?[..] {
        return Err(Error::Absent {
            what: format!("{input}: this input of {} does not exist, so nothing was launched", output.file),
            hint: format!(
                "restore it, or remove it from \"inputs\" in {}",
                run.path().join(run.list_file_name()).display()
            ),
        });
    }
    // If an earlier launch is still running and cannot be ended, do not launch the command again.
    let orphan =
        if again == RelaunchPolicy::Yes { OrphanedLaunch::read_record(run, &output.file) } else { None };
    match orphan.filter(|orphan| !orphan.can_be_ended()) {
        Some(orphan) => {
            tell(GateRunProgress::StillRunning { file: output.file.clone(), remedy: orphan.remedy() });
            Ok(false)
        }
        None => Ok(true),
    }
}

/// The error names at most this many of the refused commands.
const MAX_COMMANDS_NAMED: usize = 5;
/// How many characters of each command the error shows.
const MAX_COMMAND_CHARS_IN_ERROR: usize = 200;

/// Returns an error if the user has not allowed one of the commands. `expected.json` is part of the project, so
/// anybody may have written it. A command in it is launched only if the user has allowed exactly this command on this
/// machine.
fn require_consent<'a>(
    place: &GateContext,
    run: &RunFolder,
    launched: impl Iterator<Item = &'a ExpectedOutput>,
) -> Result<()> {
    let foreign: Vec<&ExpectedOutput> =
        launched.filter(|output| !is_launch_allowed(&place.store, &place.root, run, output)).collect();
    if foreign.is_empty() {
        return Ok(());
    }
    let named = foreign.iter().take(MAX_COMMANDS_NAMED).map(|output| {
        let command = one_line(&quote_command(&output.launch), MAX_COMMAND_CHARS_IN_ERROR);
        let place = output.other_checkout().map(|checkout| format!(" in {}", one_line(checkout, 256)));
        format!("{} by `{command}`{}", one_line(&output.file, 128), place.unwrap_or_default())
    });
    let more = match foreign.len().saturating_sub(MAX_COMMANDS_NAMED) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    Err(Error::Refused {
        what: format!(
            "{}: nothing was launched, because you have not allowed these commands here: {}{more}",
            run.path().join(run.list_file_name()).display(),
            named.collect::<Vec<_>>().join(", ")
        ),
        hint: "`thru gate run --adopt` shows the commands and prompts, and asks for your consent; it needs a terminal".into(),
    })
}

/// Finds a run of a stage. If there is none and the settings define the stage, creates one.
pub(super) fn find_or_create_run(
    world: &World,
    place: &GateContext,
    stage: Option<&str>,
) -> Result<RunFolder> {
    match (place.find_run(stage), stage) {
        (Err(Error::Absent { .. }), Some(stage))
            if place.settings.stages.iter().any(|known| known.name == stage) =>
        {
            expect_outputs(
                world,
                &ExpectedOutputsRequest { stage: stage.to_owned(), ..ExpectedOutputsRequest::default() },
            )?;
            place.find_run(Some(stage))
        }
        (run, _) => run,
    }
}

/// The state that the worker threads share.
struct GateRunner<'a> {
    run: &'a Arc<RunFolder>,
    /// The list of outputs. Each launch is counted on disk before it starts.
    expected: Mutex<ExpectedOutputs>,
    root: &'a Root,
    store: &'a Store,
    timeout: Duration,
    redact_options: redact::RedactOptions,
    now: Timestamp,
    started: Instant,
    relaunch: RelaunchPolicy,
    report_progress: &'a (dyn Fn(GateRunProgress) + Sync),
}

impl GateRunner<'_> {
    fn launch_in_parallel(&self, steps: Vec<usize>, jobs: usize) -> Result<()> {
        if steps.is_empty() {
            return Ok(());
        }
        let workers = jobs.min(steps.len());
        let (queue, failure) = (Mutex::new(VecDeque::from(steps)), Mutex::new(None));
        let next = || lock_ignoring_poison(&queue).pop_front();
        let reaper = ProcessReaper::start();
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    while let Some(i) = next() {
                        if let Err(error) = self.launch_until_valid(i, &reaper) {
                            lock_ignoring_poison(&failure).get_or_insert(error);
                            return;
                        }
                    }
                });
            }
        });
        failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }

    /// Launches the command of one output repeatedly, until the output is valid or no further launch is allowed.
    fn launch_until_valid(&self, i: usize, reaper: &ProcessReaper) -> Result<()> {
        if !self.wait_for_orphan(&self.current_output(i))? {
            return Ok(());
        }
        loop {
            let output = self.current_output(i);
            let JudgedOutput { verdict, .. } = self.judge_output(&output)?;
            if gate::next_launch_step(&output, verdict) != NextLaunchStep::Launch {
                return Ok(());
            }
            self.launch(i, &output, verdict, reaper)?;
        }
    }

    /// Launches the command of one output once. `before` is the verdict on the existing file.
    fn launch(
        &self,
        i: usize,
        output: &ExpectedOutput,
        before: OutputVerdict,
        reaper: &ProcessReaper,
    ) -> Result<()> {
        let now = self.current_time();
        let file = output.file.clone();
        // Move the old file aside. Any file that exists afterwards comes from this launch, even if the clocks of the
        // machine and its disks disagree.
        let aside =
            self.run.rename_aside(&file, &format!("set-aside-{}", time::format_time_for_file_name(now)))?;
        if let Some(kept_as) = aside {
            (self.report_progress)(GateRunProgress::SetAside {
                file: file.clone(),
                verdict: before,
                kept_as,
            });
        }
        // A command runs in the checkout that its inputs belong to, because it opens them by their relative paths.
        let folder = store::input_folder(self.root, output);
        let digest = store::inputs_digest(&folder, &output.inputs)?;
        let checkout = store::recorded_checkout(self.root, &folder);
        {
            let mut expected = lock_ignoring_poison(&self.expected);
            expected.count_launch(i, &digest, &checkout);
            if expected.outputs[i].other_checkout() != output.other_checkout() {
                // The user allowed this launch with the previously recorded checkout, so allow it with the new
                // checkout too.
                allow_launches(self.store, self.root, self.run, [&expected.outputs[i]].into_iter(), now)?;
            }
            self.run.write_expected(&expected)?;
        }
        (self.report_progress)(GateRunProgress::Launched {
            file: file.clone(),
            attempt: output.attempts + 1,
        });
        let how = run_launch(&OutputLaunch {
            run: self.run,
            output,
            folder: &folder,
            timeout: self.timeout,
            reaper,
            redact_options: self.redact_options,
            now,
        })?;
        let JudgedOutput { verdict, why, .. } = self.judge_output(&self.current_output(i))?;
        let mut expected = lock_ignoring_poison(&self.expected);
        if verdict == OutputVerdict::Valid && expected.record_verdict(i, verdict) {
            self.run.write_expected(&expected)?;
        }
        drop(expected);
        (self.report_progress)(GateRunProgress::Ended { file, how_it_ended: how, verdict, why });
        Ok(())
    }

    fn current_time(&self) -> Timestamp {
        self.now.checked_add(self.started.elapsed()).unwrap_or(self.now)
    }

    /// Waits for a launch that outlived a killed run, and ends that launch when its time is up. Returns false if it
    /// cannot be ended.
    fn wait_for_orphan(&self, output: &ExpectedOutput) -> Result<bool> {
        let file = output.file.clone();
        let Some(orphan) = OrphanedLaunch::read_record(self.run, &file) else { return Ok(true) };
        let process = orphan.process;
        (self.report_progress)(GateRunProgress::WaitingForOrphan { file: file.clone(), process });
        let (patience, why) = match self.relaunch {
            RelaunchPolicy::Yes => (Duration::ZERO, "was ended to make way for a new launch"),
            RelaunchPolicy::No => {
                (orphan.time_left(self.timeout, self.current_time()), "was ended because its time was up")
            }
        };
        let until = Instant::now() + patience;
        let mut how = "is over";
        while orphan::is_launch_running(self.run, &file) {
            if Instant::now() < until {
                std::thread::sleep(ORPHAN_POLL_INTERVAL);
            } else if orphan.kill_process_group(self.run, &file) {
                how = why;
            } else {
                (self.report_progress)(GateRunProgress::StillRunning { file, remedy: orphan.remedy() });
                return Ok(false);
            }
        }
        orphan::remove_launch_record(self.run, &file);
        let JudgedOutput { verdict, why, .. } = self.judge_output(output)?;
        (self.report_progress)(GateRunProgress::Ended {
            file,
            how_it_ended: format!("the earlier launch {how}"),
            verdict,
            why,
        });
        Ok(true)
    }

    fn current_output(&self, i: usize) -> ExpectedOutput {
        lock_ignoring_poison(&self.expected).outputs[i].clone()
    }

    fn judge_output(&self, output: &ExpectedOutput) -> Result<JudgedOutput> {
        super::judge_file(self.run, output, self.root)
    }
}

fn write_omissions(place: &GateContext, run: &RunFolder, expected: &ExpectedOutputs) -> Result<()> {
    let mut omitted = Vec::new();
    for output in &expected.outputs {
        let judged = place.judge_output(run, output)?;
        if OmittedOutput::may_omit(output.tier, judged.verdict) {
            let message =
                place.store.saved_message_path(run, &output.file).map(|path| path.display().to_string());
            omitted.push(OmittedOutput { file: output.file.clone(), judged, message });
        }
    }
    // Write the file even if nothing is omitted now, because an existing file would still list old omissions.
    let name = super::stage_omissions_file(run, expected);
    if omitted.is_empty() && !run.has_file(&name) {
        return Ok(());
    }
    Ok(run.write_file(&name, &gate::render_omissions(expected, &omitted), Durability::Synced)?)
}

fn lock_ignoring_poison<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
