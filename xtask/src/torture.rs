//! `cargo xtask torture`: breaks everything around the real `thru` and looks for lost data.
//!
//! It tests these promises: an acknowledged record stays; a file that cannot be read is never taken for an empty
//! one; a hook never fails; the next command works, whatever happened before.

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
use crate::sandbox::{Ground, Lab};
use crate::strace;
use crate::table::{self, Align};

/// How many different failures are printed. The table counts all of them.
const TOLD: usize = 40;
/// How many ways to reproduce each failure are printed.
const WAYS: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Loss {
    /// An acknowledged record is gone or changed.
    Record,
    /// A file that could not be read was taken for a missing file.
    TakenForEmpty,
    /// Anything else that should not happen: a crash, a hang, a wrong exit code, a command that no longer works.
    None,
}

#[derive(Debug)]
pub struct Failure {
    pub loss: Loss,
    pub text: String,
    /// A command line that reproduces the failure, as closely as one line can.
    pub reproduce: String,
}

#[derive(Debug, Default)]
pub struct Tally {
    pub points: usize,
    /// At how many of the points a system call was broken.
    pub faults: usize,
    pub failures: Vec<Failure>,
    pub skipped: Vec<String>,
    /// The tables that are printed below the sections.
    pub tables: Vec<String>,
}

impl Tally {
    pub fn add(&mut self, other: Self) {
        self.points += other.points;
        self.faults += other.faults;
        self.failures.extend(other.failures);
        self.skipped.extend(other.skipped);
        self.tables.extend(other.tables);
    }

    /// Counts one point, and the failures at this point.
    pub fn point(&mut self, wrong: Vec<(Loss, String)>, reproduce: impl Fn() -> String) {
        self.points += 1;
        self.failures.extend(wrong.into_iter().map(|(loss, text)| Failure {
            loss,
            text,
            reproduce: reproduce(),
        }));
    }

    fn count(&self, loss: Loss) -> usize {
        self.failures.iter().filter(|failure| failure.loss == loss).count()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    Quick,
    Full,
}

struct Section {
    name: &'static str,
    ground: Ground,
    run: fn(&Lab, Depth) -> Result<Tally>,
}

const SECTIONS: &[Section] = &[
    Section { name: "kill at every system call", ground: Ground::Memory, run: sweep::kill },
    Section { name: "error at every system call", ground: Ground::Memory, run: sweep::errors },
    Section { name: "64 processes, 100 appends each", ground: Ground::Disk, run: concurrency::appends },
    Section { name: "the same, the log rotating", ground: Ground::Disk, run: concurrency::appends_rotating },
    Section { name: "64 processes, 20 locked updates each", ground: Ground::Disk, run: concurrency::updates },
    Section { name: "64 inits in one empty folder", ground: Ground::Disk, run: concurrency::inits },
    Section { name: "one packet claimed by two, in rounds", ground: Ground::Disk, run: concurrency::claims },
    Section { name: "64 hooks, one tool call", ground: Ground::Disk, run: concurrency::same_call },
    Section { name: "64 stops of one session", ground: Ground::Disk, run: concurrency::stops },
    Section {
        name: "64 processes, 20 loop iterations each",
        ground: Ground::Disk,
        run: concurrency::iterations,
    },
    Section { name: "64 processes, 20 changes of the plan each", ground: Ground::Disk, run: plans::changes },
    Section { name: "64 processes, 20 decisions each", ground: Ground::Disk, run: decisions::decides },
    Section { name: "one task claimed by 64, in rounds", ground: Ground::Disk, run: plans::claims },
    Section { name: "logs torn at every byte", ground: Ground::Memory, run: torn::logs },
    Section { name: "whole files torn", ground: Ground::Memory, run: torn::whole_files },
    Section { name: "hostile places", ground: Ground::Disk, run: hostile::places },
    Section { name: "hostile input", ground: Ground::Disk, run: hostile::input },
    Section { name: "limits", ground: Ground::Disk, run: limits::run },
    Section { name: "hostile disks", ground: Ground::Disk, run: hostile::disks },
    Section { name: "hostile-stores", ground: Ground::Memory, run: stores::hostile_stores },
];

#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// Try fewer points
    #[arg(long)]
    pub quick: bool,
    /// Run only sections whose name contains this
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub only: Option<String>,
    /// Test only swept commands and hostile stores whose name contains this
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub row: Option<String>,
    /// Torture this binary instead of target/dist/thru
    #[arg(long, value_name = "PATH")]
    pub bin: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<bool> {
    let depth = if args.quick { Depth::Quick } else { Depth::Full };
    let [only, row] = [&args.only, &args.row].map(|text| text.as_deref().unwrap_or_default());
    let bin = dist::chosen(args.bin.as_deref())?;
    strace::require()?;
    // A run in which no section is selected must not pass.
    ensure!(SECTIONS.iter().any(|section| section.name.contains(only)), "no section is called `{only}`");
    let is_row = rows::ROWS.iter().any(|known| known.name.contains(row));
    ensure!(is_row || stores::is_named(row), "no row is called `{row}`");

    let disk = Lab::new(bin.clone(), Ground::Disk)?.with_rows(row);
    let memory = Lab::new(bin, Ground::Memory)?.with_rows(row);
    let mut rows = vec![
        ["section", "points", "lost", "taken for empty", "failures", "seconds"].map(str::to_owned).to_vec(),
    ];
    let mut total = Tally::default();
    for section in SECTIONS.iter().filter(|section| section.name.contains(only)) {
        table::progress(section.name);
        let start = Instant::now();
        let lab = match section.ground {
            Ground::Disk => &disk,
            Ground::Memory => &memory,
        };
        let tally = (section.run)(lab, depth)?;
        rows.push(line(section.name, &tally, start));
        total.add(tally);
    }
    table::progress("");
    print!(
        "{}",
        table::plain(
            &[Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right],
            &rows
        )
    );
    println!(
        "\n{} points, {} of them broken system calls",
        table::thousands(total.points),
        table::thousands(total.faults)
    );
    for table in &total.tables {
        print!("\n{table}");
    }
    for skipped in &total.skipped {
        println!("skipped: {skipped}");
    }
    tell(&total.failures);
    Ok(total.failures.is_empty())
}

fn line(name: &str, tally: &Tally, start: Instant) -> Vec<String> {
    let numbers =
        [tally.points, tally.count(Loss::Record), tally.count(Loss::TakenForEmpty), tally.failures.len()];
    let mut row = vec![name.to_owned()];
    row.extend(numbers.map(table::thousands));
    row.push(format!("{:.1}", start.elapsed().as_secs_f64()));
    row
}

/// Prints each different failure once, with the first few ways to reproduce it.
fn tell(failures: &[Failure]) {
    let mut told: Vec<(&Failure, Vec<&str>)> = Vec::new();
    for failure in failures {
        match told
            .iter_mut()
            .find(|(first, _)| first.loss == failure.loss && masked(&first.text) == masked(&failure.text))
        {
            Some((_, ways)) => ways.push(&failure.reproduce),
            None => told.push((failure, vec![&failure.reproduce])),
        }
    }
    for (failure, ways) in told.iter().take(TOLD) {
        let what = match failure.loss {
            Loss::Record => "LOST",
            Loss::TakenForEmpty => "TAKEN FOR EMPTY",
            Loss::None => "FAILED",
        };
        println!("\n{what} ({} times): {}", ways.len(), failure.text);
        for way in ways.iter().take(WAYS) {
            println!("    {way}");
        }
        if ways.len() > WAYS {
            println!("    ...");
        }
    }
    if told.len() > TOLD {
        println!("\n... and {} other failures", told.len() - TOLD);
    }
}

/// Replaces process ids, times and similar words, which differ in every run.
fn masked(text: &str) -> String {
    text.split_inclusive(|c: char| !c.is_alphanumeric() && c != '-')
        .map(|word| if word.contains(|c: char| c.is_ascii_digit()) { "#" } else { word })
        .collect()
}

/// Runs the jobs on all cores and adds up their findings, in the order of the jobs.
fn on_all_cores<J: Sync>(jobs: &[J], work: impl Fn(usize, &J) -> Result<Tally> + Sync) -> Result<Tally> {
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<(usize, Result<Tally>)>> = Mutex::new(Vec::new());
    // The workers spend most of their time waiting for other processes, so there is one worker more than there are
    // cores.
    let workers = 1 + std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(at) else { break };
                    let tally = work(at, job);
                    found.lock().expect("a worker panicked").push((at, tally));
                }
            });
        }
    });
    let mut found = found.into_inner().expect("a worker panicked");
    found.sort_by_key(|(at, _)| *at);
    let mut total = Tally::default();
    for (_, tally) in found {
        total.add(tally?);
    }
    Ok(total)
}
