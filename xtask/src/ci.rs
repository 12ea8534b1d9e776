//! `cargo xtask ci`: runs all checks that a change must pass, in one command. `./test.sh` installs a toolchain and runs
//! this command.
//!
//! If a step fails, the steps that do not depend on it still run, so one run reports all problems.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::table::{self, ColumnAlignment};
use crate::{bench, dist, e2e, fuzz, platforms, tidy};

#[derive(Debug, Clone, PartialEq, Eq)]
enum StepOutcome {
    Passed,
    Failed,
    Skipped(&'static str),
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct TestCounts {
    passed: usize,
    failed: usize,
    ignored: usize,
}

struct CiRun {
    steps: Vec<(&'static str, StepOutcome, Duration)>,
}

pub fn run_ci() -> Result<bool> {
    let mut run = CiRun { steps: Vec::new() };
    let mut tests = TestCounts::default();

    // Linking is slow and uses one core, so the steps that do not need the binary run in the meantime.
    let mut build_dist = Command::new(std::env::current_exe()?);
    build_dist.arg("dist");
    let dist = ParallelStep::start(build_dist);
    run.run_step("format", || run_successfully(crate::cargo_command().args(["fmt", "--all", "--check"])));
    match platforms::why_platform_lints_cannot_run() {
        // The lints for all platforms include those for this machine, so there is no separate step for them.
        None => drop(run.run_step("platforms", platforms::lint_all_platforms)),
        missing => {
            run.run_step("clippy", platforms::lint_for_this_machine);
            run.run_step_unless_missing("platforms", missing, platforms::lint_all_platforms);
        }
    }
    run.run_step("tidy", || tidy::run_tidy(&tidy::Args::default()));
    if is_program_installed("cargo-deny") {
        run.run_step("deny", || {
            run_successfully(crate::cargo_command().args(["deny", "check", "bans", "licenses", "sources"]))
        });
    } else {
        run.skip_step("deny", "cargo-deny is not installed (cargo install cargo-deny)");
    }
    let harnesses = run.install_harnesses();
    let built = run.run_step("test build", || {
        run_successfully(crate::cargo_command().args(["test", "--workspace", "--no-run"]))
    });
    let binary = run.join_parallel_step("dist", dist).is_some_and(|ended| ended.status.success());
    // Fuzzing runs for a fixed time, so no other step runs at the same time.
    run.run_step("fuzz", || fuzz::run_fuzz(&fuzz::Args::default()));
    let (mut harness_tests, mut torture) = (None, None);
    // If a command cannot be made, the run ends with an error. So all commands are made before the torture tests start,
    // because nothing would wait for those.
    let can_test = built && binary;
    let harness_command = can_test.then(|| command_for_tests(&[HARNESS_TESTS], &harnesses)).transpose()?;
    if binary && cfg!(target_os = "linux") {
        // The quick torture tests kill processes at every call that changes the disk, and make every call fail once.
        // The full torture tests take ten times as long and are started by hand. Torture tests spend most of their time
        // waiting for the disk or for other processes, so the other tests run at the same time.
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["torture", "--quick"]);
        torture = Some(ParallelStep::start(command));
    } else if cfg!(target_os = "linux") {
        run.skip_step("torture", "there is no binary to drive");
    } else {
        run.skip_step("torture", "it makes single system calls fail with strace, which exists on Linux only");
    }
    if let Some(command) = harness_command {
        // The tests with the real harnesses use less than one core, so all other tests run at the same time.
        harness_tests = Some(ParallelStep::start(command));
        run.run_step("tests", || {
            let targets = list_test_targets(&crate::workspace_root())?;
            let others: Vec<&str> =
                targets.iter().map(String::as_str).filter(|target| *target != HARNESS_TESTS).collect();
            let mut test = command_for_tests(&others, &harnesses)?;
            // Not `--bins`, which would also run the program `thru` as a test. It has no unit tests.
            test.args(["--lib", "--bin", "xtask"]);
            let ended = e2e::run_tests(&mut test)?;
            tests.add_counts(ended.tests);
            Ok(ended.ok)
        });
    } else {
        run.skip_step("tests", "the tests do not build, or there is no binary to test");
    }
    if !cfg!(target_os = "linux") {
        run.skip_step("arm64 tests", "the emulator runs Linux programs, and only on Linux");
    } else if built {
        run.run_step_unless_missing("arm64 tests", platforms::why_arm64_cannot_be_tested(), || {
            let ended = platforms::test_emulated()?;
            tests.add_counts(ended.tests);
            Ok(ended.ok)
        });
    } else {
        run.skip_step("arm64 tests", "they do not build");
    }
    if let Some(step) = torture {
        run.join_parallel_step("torture", step);
    }
    if let Some(ended) = harness_tests.and_then(|step| run.join_parallel_step("harness tests", step)) {
        tests.add_counts(e2e::read_test_output(&ended).tests);
    }
    if !cfg!(target_os = "linux") {
        run.skip_step("bench", "its limits were measured on Linux");
    } else if binary {
        // The benchmark measures time, so it runs last and alone.
        run.run_step("bench", || {
            bench::run_benchmark(&bench::Args { quick: true, gate: true, ..Default::default() })
        });
    } else {
        run.skip_step("bench", "there is no binary to drive");
    }
    println!("\n{}", run.format_summary());
    println!("{}", tests.format_line());
    Ok(run.has_passed() && tests.failed == 0)
}

impl CiRun {
    fn run_step(&mut self, name: &'static str, body: impl FnOnce() -> Result<bool>) -> bool {
        println!("\n== {name}");
        let start = Instant::now();
        let outcome = match body() {
            Ok(true) => StepOutcome::Passed,
            Ok(false) => StepOutcome::Failed,
            Err(error) => {
                eprintln!("error: {error:#}");
                StepOutcome::Failed
            }
        };
        let passed = outcome == StepOutcome::Passed;
        self.steps.push((name, outcome, start.elapsed()));
        passed
    }

    /// Waits for a step that ran in parallel, prints its output and returns it. Returns `None` if the step could not be
    /// started.
    fn join_parallel_step(&mut self, name: &'static str, step: ParallelStep) -> Option<Output> {
        println!("\n== {name}");
        let (output, time) = match step.join() {
            Ok(ended) => ended,
            Err(error) => {
                eprintln!("error: {error:#}");
                self.steps.push((name, StepOutcome::Failed, Duration::ZERO));
                return None;
            }
        };
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
        print!("{}", String::from_utf8_lossy(&output.stdout));
        let outcome = if output.status.success() { StepOutcome::Passed } else { StepOutcome::Failed };
        self.steps.push((name, outcome, time));
        Some(output)
    }

    /// Installs the harnesses before the tests run. Without npm they cannot be installed. Their tests are then
    /// skipped or, in CI, fail.
    fn install_harnesses(&mut self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        self.run_step("harnesses", || {
            let installed = e2e::install_harnesses()?;
            found = installed.variables;
            Ok(installed.all)
        });
        if let Some((_, outcome @ StepOutcome::Failed, _)) = self.steps.last_mut()
            && !is_in_ci()
        {
            *outcome = StepOutcome::Skipped(
                "a harness could not be installed; its tests are skipped (in CI, this step fails)",
            );
        }
        found
    }

    /// Runs a step that needs an installed tool. If the tool is missing, the step is skipped or, in CI, fails.
    fn run_step_unless_missing(
        &mut self,
        name: &'static str,
        missing: Option<&'static str>,
        body: impl FnOnce() -> Result<bool>,
    ) {
        match missing {
            Some(why) if is_in_ci() => {
                self.run_step(name, || bail!("in CI this must run: {why}"));
            }
            Some(why) => self.skip_step(name, why),
            None => {
                self.run_step(name, body);
            }
        }
    }

    fn skip_step(&mut self, name: &'static str, why: &'static str) {
        println!("\n== {name}\nskipped: {why}");
        self.steps.push((name, StepOutcome::Skipped(why), Duration::ZERO));
    }

    fn has_passed(&self) -> bool {
        !self.steps.iter().any(|(_, outcome, _)| *outcome == StepOutcome::Failed)
    }

    fn format_summary(&self) -> String {
        let mut rows = vec![["step", "result", "seconds", ""].map(str::to_owned).to_vec()];
        for (name, outcome, time) in &self.steps {
            let (word, why) = match outcome {
                StepOutcome::Passed => ("ok", ""),
                StepOutcome::Failed => ("FAILED", ""),
                StepOutcome::Skipped(why) => ("skipped", *why),
            };
            rows.push(vec![
                (*name).to_owned(),
                word.to_owned(),
                format!("{:.1}", time.as_secs_f64()),
                why.to_owned(),
            ]);
        }
        table::plain_table(
            &[ColumnAlignment::Left, ColumnAlignment::Left, ColumnAlignment::Right, ColumnAlignment::Left],
            &rows,
        )
    }
}

/// A command that runs in parallel with other steps. Its output is printed after those steps have finished.
struct ParallelStep(thread::JoinHandle<Result<(Output, Duration)>>);

impl ParallelStep {
    fn start(mut command: Command) -> Self {
        Self(thread::spawn(move || {
            let start = Instant::now();
            let output = command.output().with_context(|| format!("starting {:?}", command.get_program()))?;
            Ok((output, start.elapsed()))
        }))
    }

    fn join(self) -> Result<(Output, Duration)> {
        self.0.join().expect("only a command is waited for")
    }
}

/// The tests that drive the real harnesses (`crates/thru/tests/e2e`).
const HARNESS_TESTS: &str = "e2e";

/// Returns the command that runs these integration tests of the workspace.
fn command_for_tests(targets: &[&str], harnesses: &[(String, String)]) -> Result<Command> {
    let mut test = crate::cargo_command();
    // Every command names the whole workspace. With another selection, cargo would choose other features and build
    // everything again.
    test.args(["test", "--workspace", "--no-fail-fast"]);
    for target in targets {
        test.args(["--test", target]);
    }
    // The tests use the binary that users install, not the debug build.
    test.env("THRU_BIN", dist::dist_binary_path()).envs(harnesses.iter().cloned());
    if std::env::var_os("RUST_TEST_THREADS").is_none() {
        // The tests spend most of their time waiting for other processes, so there are twice as many threads as cores.
        let threads = 2 * thread::available_parallelism()?.get();
        test.env("RUST_TEST_THREADS", threads.to_string());
    }
    Ok(test)
}

/// Returns the names of all integration tests in the workspace. Each is a file or a folder with a `main.rs`, as cargo
/// finds them.
fn list_test_targets(workspace: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for package in read_folder(&workspace.join("crates"))? {
        let tests = package.join("tests");
        if !tests.is_dir() {
            continue;
        }
        for path in read_folder(&tests)? {
            let is_target =
                path.extension().is_some_and(|extension| extension == "rs") || path.join("main.rs").is_file();
            let name = path.file_stem().and_then(|name| name.to_str());
            names.extend(name.filter(|_| is_target).map(str::to_owned));
        }
    }
    names.sort();
    Ok(names)
}

fn read_folder(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    entries.map(|entry| Ok(entry?.path())).collect()
}

impl TestCounts {
    fn add_counts(&mut self, other: TestCounts) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
    }

    /// Moves this many tests from passed to ignored, because cargo reports a test that skips itself as passed.
    pub fn recount_passed_as_ignored(&mut self, tests: usize) {
        self.passed = self.passed.saturating_sub(tests);
        self.ignored += tests;
    }

    /// Adds the counts of one of cargo's summary lines: `test result: ok. 12 passed; 0 failed; 1 ignored; …`.
    pub fn add_summary_line(&mut self, line: &str) {
        let Some(counts) = line.trim().strip_prefix("test result: ").and_then(|rest| rest.split_once(". "))
        else {
            return;
        };
        for part in counts.1.split(';') {
            let mut words = part.split_whitespace();
            let (Some(number), Some(word)) =
                (words.next().and_then(|n| n.parse::<usize>().ok()), words.next())
            else {
                continue;
            };
            match word {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }

    pub fn format_line(self) -> String {
        let Self { passed, failed, ignored } = self;
        let skipped = if ignored > 0 { format!(", {ignored} skipped") } else { String::new() };
        format!("{passed} passed, {failed} failed{skipped}")
    }
}

fn run_successfully(command: &mut Command) -> Result<bool> {
    Ok(command.status().with_context(|| format!("starting {:?}", command.get_program()))?.success())
}

fn is_program_installed(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Returns whether this is CI, where nothing may be skipped.
fn is_in_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| !["", "0", "false"].contains(&value.as_str()))
}

#[cfg(test)]
mod tests {
    use super::{HARNESS_TESTS, TestCounts, list_test_targets};

    #[test]
    fn every_integration_test_is_run() {
        let targets = list_test_targets(&crate::workspace_root()).unwrap();
        for target in [HARNESS_TESTS, "it", "transcripts", "redact"] {
            assert!(targets.iter().any(|found| found == target), "{target} is not in {targets:?}");
        }
        assert!(!targets.iter().any(|found| found == "fixtures"));
    }

    #[test]
    fn closing_lines_are_added_up() {
        let mut tests = TestCounts::default();
        tests.add_summary_line(
            "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.01s",
        );
        tests.add_summary_line("test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s");
        tests.add_summary_line("test a_thing ... ok");
        assert_eq!(tests, TestCounts { passed: 15, failed: 2, ignored: 1 });
        assert_eq!(tests.format_line(), "15 passed, 2 failed, 1 skipped");
        tests.recount_passed_as_ignored(2);
        assert_eq!(tests.format_line(), "13 passed, 2 failed, 3 skipped");
        assert_eq!(TestCounts::default().format_line(), "0 passed, 0 failed");
    }
}
