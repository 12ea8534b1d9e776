//! Shows progress while sub-agents write their outputs: one line for each event and, on a terminal, a status line that
//! names the outputs in progress.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use model::gate::OutputVerdict;
use model::render::one_line;
use ops::features::outputs::GateRunProgress;

use crate::output::{self, BAD, DIM, GOOD, OutputFormat};

const REDRAW_INTERVAL: Duration = Duration::from_millis(200);

const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

#[derive(Debug)]
pub struct ProgressBoard {
    mode: ProgressDisplay,
    running_tasks: Mutex<Vec<(String, Instant)>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProgressDisplay {
    Silent,
    Lines,
    /// Print one line for each event, and redraw a status line below these lines.
    LinesAndStatus,
}

impl ProgressBoard {
    pub fn new(format: OutputFormat) -> ProgressBoard {
        let mode = match format {
            OutputFormat::Json => ProgressDisplay::Silent,
            OutputFormat::Text if output::is_stderr_terminal() => ProgressDisplay::LinesAndStatus,
            OutputFormat::Text => ProgressDisplay::Lines,
        };
        ProgressBoard { mode, running_tasks: Mutex::new(Vec::new()) }
    }

    pub fn run_with_progress<T>(&self, work: impl FnOnce(&(dyn Fn(GateRunProgress) + Sync)) -> T) -> T {
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            if self.mode == ProgressDisplay::LinesAndStatus {
                scope.spawn(|| {
                    for frame in SPINNER.iter().cycle().take_while(|_| !over.load(Ordering::Relaxed)) {
                        self.draw_last_line(*frame);
                        std::thread::sleep(REDRAW_INTERVAL);
                    }
                });
            }
            let done = work(&|progress| self.show_progress(&progress));
            over.store(true, Ordering::Relaxed);
            if self.mode == ProgressDisplay::LinesAndStatus {
                output::print_transient_line("");
            }
            done
        })
    }

    fn show_progress(&self, progress: &GateRunProgress) {
        let mut running = self.lock_running();
        match progress {
            GateRunProgress::Launched { file, .. } | GateRunProgress::WaitingForOrphan { file, .. } => {
                running.push((file.clone(), Instant::now()));
            }
            GateRunProgress::Ended { file, .. } | GateRunProgress::StillRunning { file, .. } => {
                running.retain(|(name, _)| name != file);
            }
            GateRunProgress::Reused { .. } | GateRunProgress::SetAside { .. } => {}
        }
        match self.mode {
            ProgressDisplay::Silent => {}
            ProgressDisplay::Lines => output::print_message(describe_progress(progress)),
            ProgressDisplay::LinesAndStatus => {
                output::print_transient_line("");
                output::print_message(describe_progress(progress));
            }
        }
    }

    fn draw_last_line(&self, frame: char) {
        let running = self.lock_running();
        if running.is_empty() {
            return;
        }
        let each = running.iter().map(|(file, since)| format!("{file} {} s", since.elapsed().as_secs()));
        let text = format!("{} running: {}", running.len(), each.collect::<Vec<_>>().join(", "));
        output::print_transient_line(&format!("{frame} {DIM}{}{DIM:#}", one_line(&text, 76)));
    }

    fn lock_running(&self) -> MutexGuard<'_, Vec<(String, Instant)>> {
        self.running_tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn describe_progress(progress: &GateRunProgress) -> String {
    let name = |file: &str| one_line(file, 200);
    match progress {
        GateRunProgress::Reused { file } => format!("reused    {}", name(file)),
        GateRunProgress::SetAside { file, verdict, kept_as } => {
            format!("set aside {}: {}, kept as {}", name(file), verdict.name(), name(kept_as))
        }
        GateRunProgress::Launched { file, attempt } => format!("launched  {} (launch {attempt})", name(file)),
        GateRunProgress::Ended { file, how_it_ended, verdict: OutputVerdict::Valid, .. } => {
            format!("{GOOD}valid{GOOD:#}     {} ({})", name(file), one_line(how_it_ended, 200))
        }
        GateRunProgress::Ended { file, how_it_ended, verdict, why } => {
            let (verdict, why, how_it_ended) =
                (verdict.name(), one_line(why, 200), one_line(how_it_ended, 200));
            format!("{BAD}{verdict:<8}{BAD:#}  {} ({how_it_ended}): {why}", name(file))
        }
        GateRunProgress::WaitingForOrphan { file, process } => {
            let who = process.map_or("a command".to_owned(), |process| format!("process {process}"));
            format!("waiting   {}: {who} of an earlier run is still working on it", name(file))
        }
        GateRunProgress::StillRunning { file, remedy } => {
            format!("{BAD}running{BAD:#}   {}: not launched: {remedy}", name(file))
        }
    }
}
