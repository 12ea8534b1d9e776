//! `cargo xtask ci`: all checks before a change lands, in one command. `./test.sh` installs a toolchain and runs
//! this command.
//!
//! If a step fails, the steps that do not depend on it still run, so one run reports everything that is wrong.

use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::table::{self, Align};
use crate::{bench, dist, e2e, fuzz, platforms, tidy, torture};

#[derive(Debug, Clone, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed,
    Skipped(&'static str),
}

/// The results of the test runners, added up.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Tests {
    passed: usize,
    failed: usize,
    ignored: usize,
}

struct Run {
    steps: Vec<(&'static str, Outcome, Duration)>,
}

pub fn run() -> Result<bool> {
    let mut run = Run { steps: Vec::new() };
    let mut tests = Tests::default();

    // Linking takes long on one core. In the meantime everything that does not need the binary runs.
    let dist = Aside::start(&["dist"])?;
    run.step("format", || succeeds(crate::cargo().args(["fmt", "--all", "--check"])));
    run.step("clippy", || {
        succeeds(crate::cargo().args(["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"]))
    });
    run.step_unless("platforms", platforms::missing_targets(), platforms::lint);
    run.step("tidy", || tidy::run(&tidy::Args::default()));
    if installed("cargo-deny") {
        run.step("deny", || succeeds(crate::cargo().args(["deny", "check", "bans", "licenses", "sources"])));
    } else {
        run.skip("deny", "cargo-deny is not installed (cargo install cargo-deny)");
    }
    let harnesses = run.harnesses();
    let built = run.step("test build", || succeeds(crate::cargo().args(["test", "--workspace", "--no-run"])));
    let binary = run.join("dist", dist);
    // Fuzzing runs for a fixed time, so nothing else runs at the same time.
    run.step("fuzz", || fuzz::run(&fuzz::Args::default()));
    if built && binary {
        run.step("tests", || {
            let mut test = crate::cargo();
            test.args(["test", "--workspace", "--no-fail-fast"]);
            // The tests drive the binary that users install, not the debug build.
            test.env("THRU_BIN", dist::path()).envs(harnesses);
            if std::env::var_os("RUST_TEST_THREADS").is_none() {
                // The tests spend most of their time waiting for other processes.
                let threads = 2 * thread::available_parallelism()?.get();
                test.env("RUST_TEST_THREADS", threads.to_string());
            }
            let ended = e2e::watch(&mut test)?;
            tests = ended.tests;
            Ok(ended.ok)
        });
    } else {
        run.skip("tests", "they do not build, or there is no binary to drive");
    }
    if !cfg!(target_os = "linux") {
        run.skip("arm64 tests", "the emulator runs programs of Linux, on Linux");
    } else if built {
        run.step_unless("arm64 tests", platforms::missing_emulator(), || {
            let ended = platforms::test_emulated()?;
            tests.join(ended.tests);
            Ok(ended.ok)
        });
    } else {
        run.skip("arm64 tests", "they do not build");
    }
    if !cfg!(target_os = "linux") {
        run.skip("torture", "it breaks single system calls with strace, which exists on Linux only");
        run.skip("bench", "its limits were measured on Linux");
    } else if binary {
        // Processes are killed at every call that changes the disk, and every call fails once. The full run takes ten
        // times as long and is started by hand.
        run.step("torture", || torture::run(&torture::Args { quick: true, ..Default::default() }));
        run.step("bench", || bench::run(&bench::Args { quick: true, gate: true, ..Default::default() }));
    } else {
        for name in ["torture", "bench"] {
            run.skip(name, "there is no binary to drive");
        }
    }
    println!("\n{}", run.summary());
    println!("{}", tests.line());
    Ok(run.passed() && tests.failed == 0)
}

impl Run {
    fn step(&mut self, name: &'static str, body: impl FnOnce() -> Result<bool>) -> bool {
        println!("\n== {name}");
        let start = Instant::now();
        let outcome = match body() {
            Ok(true) => Outcome::Passed,
            Ok(false) => Outcome::Failed,
            Err(error) => {
                eprintln!("error: {error:#}");
                Outcome::Failed
            }
        };
        let passed = outcome == Outcome::Passed;
        self.steps.push((name, outcome, start.elapsed()));
        passed
    }

    /// Prints the result of a step that ran in parallel, and the step's output.
    fn join(&mut self, name: &'static str, aside: Aside) -> bool {
        println!("\n== {name}");
        let (outcome, time) = aside.join();
        let passed = outcome == Outcome::Passed;
        self.steps.push((name, outcome, time));
        passed
    }

    /// Installs the harnesses before the tests, so that no test is skipped because its harness is missing. Without
    /// npm such tests are skipped, except in CI, where they fail.
    fn harnesses(&mut self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        self.step("harnesses", || {
            let installed = e2e::install()?;
            found = installed.variables;
            Ok(installed.all)
        });
        if let Some((_, outcome @ Outcome::Failed, _)) = self.steps.last_mut()
            && !in_ci()
        {
            *outcome =
                Outcome::Skipped("a harness could not be installed, its tests are skipped; in CI this fails");
        }
        found
    }

    /// Runs a step that needs something to be installed. If it is missing, the step is skipped; in CI that is a
    /// failure.
    fn step_unless(
        &mut self,
        name: &'static str,
        missing: Option<&'static str>,
        body: impl FnOnce() -> Result<bool>,
    ) {
        match missing {
            Some(why) if in_ci() => {
                self.step(name, || bail!("in CI this must run: {why}"));
            }
            Some(why) => self.skip(name, why),
            None => {
                self.step(name, body);
            }
        }
    }

    fn skip(&mut self, name: &'static str, why: &'static str) {
        println!("\n== {name}\nskipped: {why}");
        self.steps.push((name, Outcome::Skipped(why), Duration::ZERO));
    }

    fn passed(&self) -> bool {
        !self.steps.iter().any(|(_, outcome, _)| *outcome == Outcome::Failed)
    }

    fn summary(&self) -> String {
        let mut rows = vec![["step", "result", "seconds", ""].map(str::to_owned).to_vec()];
        for (name, outcome, time) in &self.steps {
            let (word, why) = match outcome {
                Outcome::Passed => ("ok", ""),
                Outcome::Failed => ("FAILED", ""),
                Outcome::Skipped(why) => ("skipped", *why),
            };
            rows.push(vec![
                (*name).to_owned(),
                word.to_owned(),
                format!("{:.1}", time.as_secs_f64()),
                why.to_owned(),
            ]);
        }
        table::plain(&[Align::Left, Align::Left, Align::Right, Align::Left], &rows)
    }
}

/// An xtask command that runs in parallel to the other steps. Its output is kept until they are done.
struct Aside(thread::JoinHandle<Result<(Output, Duration)>>);

impl Aside {
    fn start(words: &[&str]) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(words);
        Ok(Self(thread::spawn(move || {
            let start = Instant::now();
            let output = command.output().with_context(|| format!("starting {:?}", command.get_program()))?;
            Ok((output, start.elapsed()))
        })))
    }

    fn join(self) -> (Outcome, Duration) {
        match self.0.join().expect("only a command is waited for") {
            Ok((output, time)) => {
                eprint!("{}", String::from_utf8_lossy(&output.stderr));
                print!("{}", String::from_utf8_lossy(&output.stdout));
                (if output.status.success() { Outcome::Passed } else { Outcome::Failed }, time)
            }
            Err(error) => {
                eprintln!("error: {error:#}");
                (Outcome::Failed, Duration::ZERO)
            }
        }
    }
}

impl Tests {
    /// Adds the tests of another run.
    fn join(&mut self, other: Tests) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
    }

    /// Counts tests as ignored that were counted as passed. A test runner reports a test that skips itself as
    /// passed.
    pub fn skip(&mut self, tests: usize) {
        self.passed = self.passed.saturating_sub(tests);
        self.ignored += tests;
    }

    /// Reads one of cargo's summary lines: `test result: ok. 12 passed; 0 failed; 1 ignored; …`.
    pub fn add(&mut self, line: &str) {
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

    pub fn line(self) -> String {
        let Self { passed, failed, ignored } = self;
        let skipped = if ignored > 0 { format!(", {ignored} skipped") } else { String::new() };
        format!("{passed} passed, {failed} failed{skipped}")
    }
}

fn succeeds(command: &mut Command) -> Result<bool> {
    Ok(command.status().with_context(|| format!("starting {:?}", command.get_program()))?.success())
}

fn installed(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Returns whether this is CI, where nothing may be skipped.
fn in_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| !["", "0", "false"].contains(&value.as_str()))
}

#[cfg(test)]
mod tests {
    use super::Tests;

    #[test]
    fn closing_lines_are_added_up() {
        let mut tests = Tests::default();
        tests.add(
            "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.01s",
        );
        tests.add("test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s");
        tests.add("test a_thing ... ok");
        assert_eq!(tests, Tests { passed: 15, failed: 2, ignored: 1 });
        assert_eq!(tests.line(), "15 passed, 2 failed, 1 skipped");
        tests.skip(2);
        assert_eq!(tests.line(), "13 passed, 2 failed, 3 skipped");
        assert_eq!(Tests::default().line(), "0 passed, 0 failed");
    }
}
