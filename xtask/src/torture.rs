//! `cargo xtask torture`: runs the real `thru` with faults, hostile input and parallel processes, and looks for lost
//! data.
//!
//! The command tests these promises: an acknowledged record is never lost, an unreadable file is never treated as
//! empty, a hook never fails, and the next command always works.

mod concurrency;
mod decisions;
mod evidence;
mod gates;
mod hostile;
mod integrity;
mod journals;
mod judge;
mod limits;
mod packets;
mod plans;
mod prepare;
mod roles;
mod rows;
mod settings;
mod snapshot;
mod stores;
mod summaries;
mod swarm;
mod sweep;
mod torn;
mod workstreams;

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Result, ensure};

use crate::dist;
use crate::sandbox::{SandboxLocation, SandboxRoot};
use crate::strace;
use crate::table::{self, ColumnAlignment};

/// How many different failures are printed. The table counts all of them.
const MAX_FAILURES_PRINTED: usize = 40;
/// How many reproductions of each failure are printed.
const MAX_REPRODUCTIONS_PRINTED: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LossKind {
    /// An acknowledged record is missing or changed.
    RecordLost,
    /// A file that could not be read was treated as missing or empty.
    TreatedAsEmpty,
    /// Any other failure: a crash, a hang, a wrong exit code, or a command that no longer works.
    NoLoss,
}

#[derive(Debug)]
pub struct TortureFailure {
    pub loss: LossKind,
    pub text: String,
    /// A command line that reproduces the failure as closely as possible.
    pub reproduce: String,
}

#[derive(Debug, Default)]
pub struct TortureTally {
    pub points_tested: usize,
    /// The number of faults that were injected into system calls.
    pub faults_injected: usize,
    pub failures: Vec<TortureFailure>,
    pub skipped: Vec<String>,
    /// Tables that are printed below the results of the sections.
    pub tables: Vec<String>,
}

impl TortureTally {
    pub fn add_tally(&mut self, other: Self) {
        self.points_tested += other.points_tested;
        self.faults_injected += other.faults_injected;
        self.failures.extend(other.failures);
        self.skipped.extend(other.skipped);
        self.tables.extend(other.tables);
    }

    pub fn count_tested_point(&mut self, wrong: Vec<(LossKind, String)>, reproduce: impl Fn() -> String) {
        self.points_tested += 1;
        self.failures.extend(wrong.into_iter().map(|(loss, text)| TortureFailure {
            loss,
            text,
            reproduce: reproduce(),
        }));
    }

    fn count_losses(&self, loss: LossKind) -> usize {
        self.failures.iter().filter(|failure| failure.loss == loss).count()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TortureDepth {
    Quick,
    Full,
}

struct TortureSection {
    name: &'static str,
    location: SandboxLocation,
    run: fn(&SandboxRoot, TortureDepth) -> Result<TortureTally>,
}

const TORTURE_SECTIONS: &[TortureSection] = &[
    TortureSection {
        name: "kill at every system call",
        location: SandboxLocation::Memory,
        run: sweep::kill_at_every_call,
    },
    TortureSection {
        name: "error at every system call",
        location: SandboxLocation::Memory,
        run: sweep::fail_every_call,
    },
    TortureSection {
        name: "64 processes, 100 appends each",
        location: SandboxLocation::Disk,
        run: concurrency::appends_at_once,
    },
    TortureSection {
        name: "the same, the log rotating",
        location: SandboxLocation::Disk,
        run: concurrency::simultaneous_appends_with_rotation,
    },
    TortureSection {
        name: "64 processes, 20 locked updates each",
        location: SandboxLocation::Disk,
        run: concurrency::simultaneous_trust_updates,
    },
    TortureSection {
        name: "64 inits in one empty folder",
        location: SandboxLocation::Disk,
        run: concurrency::simultaneous_inits,
    },
    TortureSection {
        name: "one packet claimed by two, in rounds",
        location: SandboxLocation::Disk,
        run: concurrency::simultaneous_packet_claims,
    },
    TortureSection {
        name: "64 hooks, one tool call",
        location: SandboxLocation::Disk,
        run: concurrency::simultaneous_reports_of_same_call,
    },
    TortureSection {
        name: "64 stops of one session",
        location: SandboxLocation::Disk,
        run: concurrency::simultaneous_stops,
    },
    TortureSection {
        name: "64 processes, 20 loop iterations each",
        location: SandboxLocation::Disk,
        run: concurrency::loop_iterations_at_once,
    },
    TortureSection {
        name: "64 processes, 20 changes of the plan each",
        location: SandboxLocation::Disk,
        run: plans::simultaneous_plan_changes,
    },
    TortureSection {
        name: "64 processes, 20 decisions each",
        location: SandboxLocation::Disk,
        run: decisions::decisions_at_once,
    },
    TortureSection {
        name: "one task claimed by 64, in rounds",
        location: SandboxLocation::Disk,
        run: plans::task_claims_at_once,
    },
    TortureSection {
        name: "logs torn at every byte",
        location: SandboxLocation::Memory,
        run: torn::torn_logs,
    },
    TortureSection {
        name: "whole files torn",
        location: SandboxLocation::Memory,
        run: torn::truncated_files,
    },
    TortureSection { name: "hostile places", location: SandboxLocation::Disk, run: hostile::hostile_places },
    TortureSection { name: "hostile input", location: SandboxLocation::Disk, run: hostile::hostile_input },
    TortureSection { name: "limits", location: SandboxLocation::Disk, run: limits::run_limits },
    TortureSection { name: "hostile disks", location: SandboxLocation::Disk, run: hostile::broken_disks },
    TortureSection { name: "hostile-stores", location: SandboxLocation::Memory, run: stores::hostile_stores },
];

#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// Run a faster selection of the tests
    #[arg(long)]
    pub quick: bool,
    /// Run only sections whose name contains TEXT
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub only: Option<String>,
    /// Test only commands and hostile stores whose name contains TEXT
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub row: Option<String>,
    /// Test this binary instead of target/dist/thru
    #[arg(long, value_name = "PATH")]
    pub bin: Option<PathBuf>,
}

pub fn run_torture(args: &Args) -> Result<bool> {
    let depth = if args.quick { TortureDepth::Quick } else { TortureDepth::Full };
    let [only, row] = [&args.only, &args.row].map(|text| text.as_deref().unwrap_or_default());
    let bin = dist::chosen_binary(args.bin.as_deref())?;
    strace::require_strace()?;
    // A filter that selects nothing must not let the run pass.
    ensure!(
        TORTURE_SECTIONS.iter().any(|section| section.name.contains(only)),
        "no section is called `{only}`"
    );
    let is_row = rows::ROWS.iter().any(|known| known.name.contains(row));
    ensure!(is_row || stores::does_any_store_match_filter(row), "no row is called `{row}`");

    let disk = SandboxRoot::new(bin.clone(), SandboxLocation::Disk)?.with_row_filter(row);
    let memory = SandboxRoot::new(bin, SandboxLocation::Memory)?.with_row_filter(row);
    let mut rows = vec![
        ["section", "points", "lost", "treated as empty", "failures", "seconds"].map(str::to_owned).to_vec(),
    ];
    let mut total = TortureTally::default();
    for section in TORTURE_SECTIONS.iter().filter(|section| section.name.contains(only)) {
        table::print_overwritten_progress_line(section.name);
        let start = Instant::now();
        let lab = match section.location {
            SandboxLocation::Disk => &disk,
            SandboxLocation::Memory => &memory,
        };
        let tally = (section.run)(lab, depth)?;
        rows.push(table_row(section.name, &tally, start));
        total.add_tally(tally);
    }
    table::print_overwritten_progress_line("");
    print!(
        "{}",
        table::plain_table(
            &[
                ColumnAlignment::Left,
                ColumnAlignment::Right,
                ColumnAlignment::Right,
                ColumnAlignment::Right,
                ColumnAlignment::Right,
                ColumnAlignment::Right
            ],
            &rows
        )
    );
    println!(
        "\n{} points, {} of them broken system calls",
        table::format_thousands(total.points_tested),
        table::format_thousands(total.faults_injected)
    );
    for table in &total.tables {
        print!("\n{table}");
    }
    for skipped in &total.skipped {
        println!("skipped: {skipped}");
    }
    print_failures(&total.failures);
    Ok(total.failures.is_empty())
}

fn table_row(name: &str, tally: &TortureTally, start: Instant) -> Vec<String> {
    let numbers = [
        tally.points_tested,
        tally.count_losses(LossKind::RecordLost),
        tally.count_losses(LossKind::TreatedAsEmpty),
        tally.failures.len(),
    ];
    let mut row = vec![name.to_owned()];
    row.extend(numbers.map(table::format_thousands));
    row.push(format!("{:.1}", start.elapsed().as_secs_f64()));
    row
}

/// Prints each distinct failure once, with the first few ways to reproduce it.
fn print_failures(failures: &[TortureFailure]) {
    let mut told: Vec<(&TortureFailure, Vec<&str>)> = Vec::new();
    for failure in failures {
        match told.iter_mut().find(|(first, _)| {
            first.loss == failure.loss
                && mask_variable_words(&first.text) == mask_variable_words(&failure.text)
        }) {
            Some((_, ways)) => ways.push(&failure.reproduce),
            None => told.push((failure, vec![&failure.reproduce])),
        }
    }
    for (failure, ways) in told.iter().take(MAX_FAILURES_PRINTED) {
        let what = match failure.loss {
            LossKind::RecordLost => "LOST",
            LossKind::TreatedAsEmpty => "TREATED AS EMPTY",
            LossKind::NoLoss => "FAILED",
        };
        println!("\n{what} ({} times): {}", ways.len(), failure.text);
        for way in ways.iter().take(MAX_REPRODUCTIONS_PRINTED) {
            println!("    {way}");
        }
        if ways.len() > MAX_REPRODUCTIONS_PRINTED {
            println!("    ...");
        }
    }
    if told.len() > MAX_FAILURES_PRINTED {
        println!("\n... and {} other failures", told.len() - MAX_FAILURES_PRINTED);
    }
}

/// Replaces process ids, times and other words that differ between runs.
fn mask_variable_words(text: &str) -> String {
    text.split_inclusive(|c: char| !c.is_alphanumeric() && c != '-')
        .map(|word| if word.contains(|c: char| c.is_ascii_digit()) { "#" } else { word })
        .collect()
}

/// Runs the jobs on all cores and adds up their results, in the order of the jobs.
fn on_all_cores<J: Sync>(
    jobs: &[J],
    work: impl Fn(usize, &J) -> Result<TortureTally> + Sync,
) -> Result<TortureTally> {
    let mut total = TortureTally::default();
    map_on_all_cores(jobs, work)?.into_iter().for_each(|tally| total.add_tally(tally));
    Ok(total)
}

/// Runs the jobs on all cores and returns their results, in the order of the jobs.
fn map_on_all_cores<J: Sync, T: Send>(
    jobs: &[J],
    work: impl Fn(usize, &J) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<(usize, Result<T>)>> = Mutex::new(Vec::new());
    // The workers spend most of their time waiting for other processes, so there is one more worker than there are
    // cores.
    let workers = 1 + std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(at) else { break };
                    let result = work(at, job);
                    found.lock().expect("a worker panicked").push((at, result));
                }
            });
        }
    });
    let mut found = found.into_inner().expect("a worker panicked");
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, result)| result).collect()
}
