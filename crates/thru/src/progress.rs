//! Shows progress while sub-agents write their outputs: a line for each event and, on a terminal, a last line that
//! says what is still running.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use model::gate::Verdict;
use model::render::one_line;
use ops::features::outputs::Progress;

use crate::output::{self, BAD, DIM, Format, GOOD};

/// How long to wait before the last line is drawn again.
const TICK: Duration = Duration::from_millis(200);

const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

#[derive(Debug)]
pub struct Board {
    says: Says,
    running: Mutex<Vec<(String, Instant)>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    Nothing,
    Lines,
    /// A line for each event, and below them a line that is always the last.
    Screen,
}

impl Board {
    pub fn new(format: Format) -> Board {
        let says = match format {
            Format::Json => Says::Nothing,
            Format::Text if output::is_watched() => Says::Screen,
            Format::Text => Says::Lines,
        };
        Board { says, running: Mutex::new(Vec::new()) }
    }

    /// Runs `work` and shows what it reports.
    pub fn watch<T>(&self, work: impl FnOnce(&(dyn Fn(Progress) + Sync)) -> T) -> T {
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            if self.says == Says::Screen {
                scope.spawn(|| {
                    for frame in SPINNER.iter().cycle().take_while(|_| !over.load(Ordering::Relaxed)) {
                        self.draw(*frame);
                        std::thread::sleep(TICK);
                    }
                });
            }
            let done = work(&|progress| self.tell(&progress));
            over.store(true, Ordering::Relaxed);
            if self.says == Says::Screen {
                output::transient_line("");
            }
            done
        })
    }

    fn tell(&self, progress: &Progress) {
        let mut running = self.running();
        match progress {
            Progress::Launched { file, .. } | Progress::Waiting { file, .. } => {
                running.push((file.clone(), Instant::now()));
            }
            Progress::Ended { file, .. } | Progress::StillRunning { file, .. } => {
                running.retain(|(name, _)| name != file);
            }
            Progress::Reused { .. } => {}
        }
        match self.says {
            Says::Nothing => {}
            Says::Lines => output::talk(words(progress)),
            Says::Screen => {
                output::transient_line("");
                output::talk(words(progress));
            }
        }
    }

    fn draw(&self, frame: char) {
        let running = self.running();
        if running.is_empty() {
            return;
        }
        let each = running.iter().map(|(file, since)| format!("{file} {} s", since.elapsed().as_secs()));
        let text = format!("{} running: {}", running.len(), each.collect::<Vec<_>>().join(", "));
        output::transient_line(&format!("{frame} {DIM}{}{DIM:#}", one_line(&text, 76)));
    }

    fn running(&self) -> MutexGuard<'_, Vec<(String, Instant)>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn words(progress: &Progress) -> String {
    let name = |file: &str| one_line(file, 200);
    match progress {
        Progress::Reused { file } => format!("reused    {}", name(file)),
        Progress::Launched { file, attempt } => format!("launched  {} (launch {attempt})", name(file)),
        Progress::Ended { file, how, verdict: Verdict::Valid, .. } => {
            format!("{GOOD}valid{GOOD:#}     {} ({})", name(file), one_line(how, 200))
        }
        Progress::Ended { file, how, verdict, why } => {
            let (verdict, why, how) = (verdict.name(), one_line(why, 200), one_line(how, 200));
            format!("{BAD}{verdict:<8}{BAD:#}  {} ({how}): {why}", name(file))
        }
        Progress::Waiting { file, process } => {
            let who = process.map_or("a launch".to_owned(), |process| format!("process {process}"));
            format!("waiting   {}: {who} of an earlier run is still working on it", name(file))
        }
        Progress::StillRunning { file, remedy } => {
            format!("{BAD}running{BAD:#}   {}: not launched: {remedy}", name(file))
        }
    }
}
