//! `cargo xtask bench`: times `thru` against `/bin/true` in the same run.
//!
//! An absolute time means nothing on a shared machine. So in every round, each row and `/bin/true` run once, in
//! random order, and any disturbance affects all of them alike. A sample is the time to start the process, write its
//! payload and wait for its exit.

mod gates;
pub mod layout;
mod peers;
mod prepare;
mod rows;

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Barrier;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use crate::dist::{self, LinkKind};
use crate::memory;
use crate::sandbox::{SANDBOX_SESSION_ID, Sandbox, SandboxLocation, SandboxRoot};
use crate::stats::{RandomNumbers, percentile, ratio};
use crate::table::{self, ColumnAlignment};
use rows::{BenchRow, MANY_PACKETS_ROW_MARK, ROWS};

const TRUE_PROGRAM: &str = if cfg!(target_os = "macos") { "/usr/bin/true" } else { "/bin/true" };
const PARALLEL_HOOKS: usize = 64;
const MAX_PARALLEL_TIME_RATIO: f64 = 2.0;

struct PreparedRow {
    row: &'static BenchRow,
    sandbox: Sandbox,
    /// The path of the transcript in the payload, or an empty path if the payload has none.
    transcript: PathBuf,
    command: Command,
    /// The payload with the session id that all rows share.
    first_payload: Vec<u8>,
    /// The payload of this round.
    payload: Vec<u8>,
    samples: Vec<u64>,
    peak_kb: u64,
}

/// A command that is timed against `/bin/true`.
trait TimedCommand {
    /// Prepares a sample. The time that this takes is not included in the sample.
    fn prepare_sample(&mut self, _round: usize) -> Result<()> {
        Ok(())
    }
    fn command_and_stdin(&mut self) -> (&mut Command, &[u8]);
    /// Returns whether the command must print something.
    fn speaks(&self) -> bool {
        false
    }
    fn add_sample(&mut self, time: u64);
}

impl TimedCommand for PreparedRow {
    fn prepare_sample(&mut self, round: usize) -> Result<()> {
        if self.row.new_session {
            let text = String::from_utf8_lossy(&self.first_payload);
            self.payload = text.replace(SANDBOX_SESSION_ID, &prepare::new_session_id(round)).into_bytes();
        }
        (self.row.before_each)(&self.sandbox, &self.transcript, round)
    }
    fn command_and_stdin(&mut self) -> (&mut Command, &[u8]) {
        (&mut self.command, &self.payload)
    }
    fn speaks(&self) -> bool {
        self.row.must_print
    }
    fn add_sample(&mut self, time: u64) {
        self.samples.push(time);
    }
}

#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// Run fewer rounds, with smaller transcripts
    #[arg(long)]
    pub quick: bool,
    /// Exit with 1 if a limit on memory, system calls or bytes read is exceeded
    #[arg(long)]
    pub gate: bool,
    /// Compare with hooks in Node, Python and Bash (with jq) that do the same work
    #[arg(long)]
    pub peers: bool,
    /// Number of rounds per row [default: 1000, or 300 with --peers; a tenth of that with --quick]
    #[arg(long, value_name = "N")]
    pub rounds: Option<usize>,
    /// Print the table for the README
    #[arg(long)]
    pub markdown: bool,
    /// Run only rows whose name contains TEXT
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub only: Option<String>,
    /// Measure this binary instead of target/dist/thru
    #[arg(long, value_name = "PATH")]
    pub bin: Option<PathBuf>,
}

struct BenchOptions {
    rounds: usize,
    markdown: bool,
    only: String,
    /// The size of the large transcripts in MB.
    large_transcript_mb: usize,
}

pub fn run_benchmark(args: &Args) -> Result<bool> {
    // With the hooks in other languages, a round takes about 100 times as long, so there are fewer rounds.
    let all = if args.peers { 300 } else { 1000 };
    let rounds = args.rounds.unwrap_or(if args.quick { all / 10 } else { all });
    let bin = dist::chosen_binary(args.bin.as_deref())?;

    let kind = dist::link_kind_of_binary(&bin)?;
    let lab = SandboxRoot::new(bin, SandboxLocation::Disk)?;
    let options = BenchOptions {
        rounds,
        markdown: args.markdown,
        only: args.only.clone().unwrap_or_default(),
        large_transcript_mb: if args.quick { 50 } else { 500 },
    };
    if args.peers {
        peers::run_peer_benchmark(&lab, kind, &options)?;
        return Ok(true);
    }
    let mut ready = Vec::new();
    let wanted = |row: &&BenchRow| {
        row.name.contains(&options.only)
            && (options.large_transcript_mb == 500 || !row.name.contains(MANY_PACKETS_ROW_MARK))
    };
    for row in ROWS.iter().filter(wanted) {
        table::print_overwritten_progress_line(&format!("the sandbox of '{}'", row.name));
        let one =
            prepare_row(&lab, row, &options).with_context(|| format!("the sandbox of '{}'", row.name))?;
        ready.push(one);
    }

    let mut true_command = lab.sandbox("true")?.command(Path::new(TRUE_PROGRAM), &[]);
    let floor = collect_samples(&mut true_command, &mut ready, rounds)?;
    let helper = memory::PeakMemoryHelper::build()?;
    let helper_kb = helper.peak_kb(&true_command, b"")?;
    for one in &mut ready {
        one.prepare_sample(usize::MAX)?;
        one.peak_kb = helper.peak_kb(&one.command, &one.payload)?;
    }
    let crowd = time_parallel_hooks(&mut true_command, &mut ready, (rounds / 20).max(5))?;
    table::print_overwritten_progress_line("");

    let report = format_report(kind, &options, &floor, &ready, crowd);
    print!("{report}");
    println!(
        "\nPeaks below {:.1} MB cannot be measured, because the measuring helper itself uses that much.",
        kb_to_mb(helper_kb)
    );
    if options.large_transcript_mb != 500 {
        println!(
            "Transcripts over 10 MB have a tenth of their size here (500 MB is {} MB): --quick.",
            options.large_transcript_mb
        );
    }
    print!("{}", check_size_independence(&ready));
    let gates = gates::check_limits(&lab, ready.iter().map(|one| (one.row.name, one.peak_kb)))?;
    Ok(gates || !args.gate)
}

fn prepare_row(lab: &SandboxRoot, row: &'static BenchRow, options: &BenchOptions) -> Result<PreparedRow> {
    let sandbox = lab.sandbox(&row.name.replace(|c: char| !c.is_ascii_alphanumeric(), "-"))?;
    (row.sandbox)(&sandbox)?;
    let mut payload = (row.payload)(&sandbox.dir);
    let transcript = match &row.transcript {
        Some(wanted) => wanted.create(lab.path(), options.large_transcript_mb)?,
        None => PathBuf::new(),
    };
    if row.transcript.is_some() {
        let mut value: serde_json::Value = serde_json::from_slice(&payload)?;
        value["transcript_path"] = serde_json::json!(transcript);
        payload = value.to_string().into_bytes();
    }
    let mut one = PreparedRow {
        row,
        command: sandbox.thru_command(row.argv),
        sandbox,
        transcript,
        first_payload: payload.clone(),
        payload,
        samples: Vec::new(),
        peak_kb: 0,
    };
    // The first run creates the cursor and other files, so it is not counted as a sample.
    one.prepare_sample(usize::MAX - 1)?;
    let output = crate::sandbox::run_with_timeout(&mut one.command, &one.payload)?;
    ensure!(output.status.success(), "it ended with {}", output.status);
    ensure!(
        !row.must_print || !output.stdout.is_empty(),
        "the hook should have told the agent something, but printed nothing"
    );
    Ok(one)
}

/// Collects the samples of every row, and returns the samples of `/bin/true`.
fn collect_samples<C: TimedCommand>(
    true_command: &mut Command,
    ready: &mut [C],
    rounds: usize,
) -> Result<Vec<u64>> {
    let mut floor = Vec::with_capacity(rounds);
    let mut random = RandomNumbers::seeded(0x7413);
    let mut order: Vec<usize> = (0..=ready.len()).collect();
    let warm_up = 10.min(rounds);
    for round in 0..rounds + warm_up {
        if round % 10 == 0 {
            table::print_overwritten_progress_line(&format!("round {round} of {rounds}"));
        }
        random.shuffle(&mut order);
        for &at in &order {
            let Some(one) = ready.get_mut(at) else {
                let time = time_command(true_command, b"", false)?;
                if round >= warm_up {
                    floor.push(time);
                }
                continue;
            };
            one.prepare_sample(round)?;
            let speaks = one.speaks();
            let (command, payload) = one.command_and_stdin();
            let time = time_command(command, payload, speaks)?;
            if round >= warm_up {
                one.add_sample(time);
            }
        }
    }
    Ok(floor)
}

/// Runs the command and returns how long it took, from before its start until after its exit, in nanoseconds. If
/// `speaks` is true, a process that prints nothing is an error.
fn time_command(command: &mut Command, payload: &[u8], speaks: bool) -> Result<u64> {
    let stdout = if speaks { Stdio::piped() } else { Stdio::null() };
    command.stdin(Stdio::piped()).stdout(stdout).stderr(Stdio::null());
    let start = Instant::now();
    let mut child = command.spawn().with_context(|| format!("starting {:?}", command.get_program()))?;
    if let Some(mut pipe) = child.stdin.take() {
        // The command may ignore its input, so a closed pipe is not an error.
        let _ = pipe.write_all(payload);
    }
    child.wait()?;
    let time = nanoseconds(start.elapsed());
    // The output of a hook fits into the pipe, so it can be read after the process has ended.
    if let Some(mut pipe) = child.stdout.take() {
        ensure!(pipe.read(&mut [0])? > 0, "{command:?} should have printed something, but printed nothing");
    }
    Ok(time)
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Runs 64 `/bin/true` processes and then 64 hooks in parallel. Returns the p99 of each.
fn time_parallel_hooks(
    true_command: &mut Command,
    ready: &mut [PreparedRow],
    rounds: usize,
) -> Result<Option<(u64, u64)>> {
    let Some(hook) = ready.iter_mut().find(|one| one.row.run_in_parallel) else { return Ok(None) };
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        table::print_overwritten_progress_line(&format!(
            "{PARALLEL_HOOKS} at once, round {round} of {rounds}"
        ));
        theirs.extend(run_in_parallel(true_command, b"")?);
        ours.extend(run_in_parallel(&mut hook.command, &hook.payload)?);
    }
    Ok(Some((percentile(&theirs, 99.0), percentile(&ours, 99.0))))
}

fn run_in_parallel(command: &mut Command, payload: &[u8]) -> Result<Vec<u64>> {
    // A `Command` cannot be cloned, so each copy is built from its parts.
    let copies: Vec<Command> = (0..PARALLEL_HOOKS).map(|_| copy_command(command)).collect();
    let barrier = Barrier::new(PARALLEL_HOOKS);
    std::thread::scope(|scope| {
        let threads: Vec<_> = copies
            .into_iter()
            .map(|mut command| {
                let barrier = &barrier;
                scope.spawn(move || {
                    barrier.wait();
                    time_command(&mut command, payload, false)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("a sampling thread panicked")).collect()
    })
}

fn copy_command(command: &Command) -> Command {
    let mut copy = Command::new(command.get_program());
    copy.args(command.get_args());
    let envs: Vec<_> = command.get_envs().filter_map(|(name, value)| Some((name, value?))).collect();
    if !envs.is_empty() {
        copy.env_clear().envs(envs);
    }
    if let Some(folder) = command.get_current_dir() {
        copy.current_dir(folder);
    }
    copy
}

fn format_report(
    kind: LinkKind,
    options: &BenchOptions,
    floor: &[u64],
    ready: &[PreparedRow],
    crowd: Option<(u64, u64)>,
) -> String {
    let base = percentile(floor, 50.0);
    let head = ["what", "p50 µs", "p99 µs", "min µs", "memory MB", "× true", "target", ""];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let line = |name: &str, samples: &[u64], memory: String, ratio: String, target: String, verdict: &str| {
        let micro = |percent| format!("{}", percentile(samples, percent) / 1000);
        vec![name.to_owned(), micro(50.0), micro(99.0), micro(0.0), memory, ratio, target, verdict.to_owned()]
    };
    rows.push(line(TRUE_PROGRAM, floor, String::new(), "1.00".into(), String::new(), ""));
    for one in ready {
        let ratio = ratio(percentile(&one.samples, 50.0), base);
        let target = one.row.target.of(kind);
        let verdict = if ratio <= target { "ok" } else { "MISSED" };
        let memory = format!("{:.1}", kb_to_mb(one.peak_kb));
        rows.push(line(
            one.row.name,
            &one.samples,
            memory,
            format!("{ratio:.2}"),
            format!("≤ {target:.1}"),
            verdict,
        ));
    }
    if let Some((theirs, ours)) = crowd {
        let ratio = ratio(ours, theirs);
        let verdict = if ratio <= MAX_PARALLEL_TIME_RATIO { "ok" } else { "MISSED" };
        let mut row = vec![
            format!("{PARALLEL_HOOKS} hooks at once, p99 against {PARALLEL_HOOKS} × true"),
            String::new(),
        ];
        row.extend([format!("{}", ours / 1000), String::new(), String::new(), format!("{ratio:.2}")]);
        row.extend([format!("≤ {MAX_PARALLEL_TIME_RATIO:.1}"), verdict.to_owned()]);
        rows.push(row);
    }
    let align = [
        ColumnAlignment::Left,
        ColumnAlignment::Right,
        ColumnAlignment::Right,
        ColumnAlignment::Right,
        ColumnAlignment::Right,
        ColumnAlignment::Right,
        ColumnAlignment::Right,
        ColumnAlignment::Left,
    ];
    let table = if options.markdown {
        table::markdown_table(&align, &rows)
    } else {
        table::plain_table(&align, &rows)
    };
    let rounds = table::format_thousands(options.rounds);
    format!("thru, {}, {rounds} rounds beside {TRUE_PROGRAM} in random order\n\n{table}", kind.name())
}

/// Compares `before-compact` on the largest transcript with `before-compact` on 10 MB. Also compares the peak memory
/// with its limits.
fn check_size_independence(ready: &[PreparedRow]) -> String {
    let mut text = String::new();
    let find = |name: &str| ready.iter().find(|one| one.row.name == name);
    if let (Some(small), Some(large)) =
        (find(rows::COMPACT_10_MB_ROW_NAME), find(rows::COMPACT_LARGE_ROW_NAME))
    {
        let ratio = ratio(percentile(&large.samples, 50.0), percentile(&small.samples, 50.0));
        let verdict = if ratio <= 1.2 { "ok" } else { "MISSED" };
        text.push_str(&format!("before-compact, large against 10 MB: {ratio:.2} (≤ 1.2) {verdict}\n"));
    }
    let is_first = |one: &&PreparedRow| one.row.name.contains(rows::FIRST_CONTACT_ROW_MARK);
    let steady = |one: &&PreparedRow| one.row.name.contains("before-compact") && !is_first(one);
    text.push_str(&memory_verdict("before-compact", 4, ready.iter().filter(steady)));
    text.push_str(&memory_verdict("first contact", 24, ready.iter().filter(is_first)));
    text
}

/// Returns a line such as `before-compact, most memory: 3.1 MB (≤ 4) ok: hook before-compact, role`.
fn memory_verdict<'r>(what: &str, most: u64, ready: impl Iterator<Item = &'r PreparedRow>) -> String {
    let Some(one) = ready.max_by_key(|one| one.peak_kb) else { return String::new() };
    let verdict = if one.peak_kb <= most * 1024 { "ok" } else { "MISSED" };
    format!("{what}, most memory: {:.1} MB (≤ {most}) {verdict}: {}\n", kb_to_mb(one.peak_kb), one.row.name)
}

fn kb_to_mb(kb: u64) -> f64 {
    kb as f64 / 1024.0
}
