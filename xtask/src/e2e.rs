//! `cargo xtask e2e`: runs the tests with the real harnesses, offline and with a scripted model
//! (`crates/thru/tests/e2e`).

use std::io::{BufRead as _, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

use crate::ci::TestCounts;
use crate::dist;

/// Brings up the loopback interface of a new network namespace and runs a command there.
const ISOLATE_SCRIPT: &str = "ip link set lo up && exec \"$@\"";

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run only tests whose name contains TEXT
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Use this binary instead of a new build
    #[arg(long, value_name = "PATH")]
    bin: Option<PathBuf>,
}

pub fn run_e2e(args: &Args) -> Result<bool> {
    let binary = match &args.bin {
        Some(path) => path.canonicalize().with_context(|| path.display().to_string())?,
        // If the binary is up to date, building takes no time. Without the build, an outdated binary could be tested by
        // mistake.
        None => dist::build_dist(dist::AddressMode::RELEASE_MODE)?,
    };
    let harnesses = install_harnesses()?.variables;
    // Dependencies are fetched here, before the network is disabled.
    let built =
        crate::cargo_command().args(["test", "--package", "thru", "--test", "e2e", "--no-run"]).status();
    if !built.context("starting cargo")?.success() {
        bail!("the tests do not build");
    }

    let start = Instant::now();
    let alone = can_unshare_network();
    let mut test = crate::cargo_command();
    test.args(["test", "--offline", "--quiet", "--package", "thru", "--test", "e2e", "--"]).args(&args.only);
    if alone {
        test = command_without_network(&test);
    }
    test.env("THRU_BIN", binary).envs(harnesses);
    let ended = run_tests(&mut test)?;

    let network =
        if alone { "without network access" } else { "with network access: not root, or no unshare" };
    let seconds = start.elapsed().as_secs_f64();
    println!("\ne2e: {}, {seconds:.0} s, {network}", ended.tests.format_line());
    for line in ended.skipped {
        println!("  {line}");
    }
    Ok(ended.ok)
}

pub struct InstalledHarnesses {
    /// For each harness, the name of an environment variable and the harness's path. The tests read the path from the
    /// variable.
    pub variables: Vec<(String, String)>,
    /// Whether every harness is installed. Tests of a missing harness print `skipped`, and fail in CI.
    pub all: bool,
}

/// Installs the missing harnesses. If the installation script fails, it prints the reason.
pub fn install_harnesses() -> Result<InstalledHarnesses> {
    let script = crate::workspace_root().join("scripts/harnesses.sh");
    let output = Command::new(&script)
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("starting {}", script.display()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    Ok(InstalledHarnesses { variables: parse_variables(&said), all: output.status.success() })
}

fn parse_variables(text: &str) -> Vec<(String, String)> {
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    pairs.map(|(name, path)| (name.to_owned(), path.to_owned())).collect()
}

fn can_unshare_network() -> bool {
    Command::new("unshare")
        .args(["--net", "sh", "-c", ISOLATE_SCRIPT, "sh", "true"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn command_without_network(command: &Command) -> Command {
    let mut alone = Command::new("unshare");
    alone
        .args(["--net", "sh", "-c", ISOLATE_SCRIPT, "sh"])
        .arg(command.get_program())
        .args(command.get_args());
    alone.current_dir(crate::workspace_root());
    alone
}

pub struct TestRun {
    pub ok: bool,
    pub tests: TestCounts,
    /// The tests that were skipped, and why.
    skipped: Vec<String>,
}

/// Runs tests, prints their output as it arrives, and keeps the lines that the summary needs.
pub fn run_tests(command: &mut Command) -> Result<TestRun> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().context("starting the tests")?;
    let stdout = child.stdout.take().context("piped")?;
    let stderr = child.stderr.take().context("piped")?;
    let talk = thread::spawn(move || echo_lines(stderr, |line| eprintln!("{line}")));
    let lines = echo_lines(stdout, |line| println!("{line}"));
    let talk = talk.join().unwrap_or_default();
    Ok(summarize_tests(child.wait()?.success(), &lines, talk))
}

/// Reads the summary from the output of tests that have ended.
pub fn read_test_output(output: &Output) -> TestRun {
    let [lines, talk] = [&output.stdout, &output.stderr]
        .map(|stream| String::from_utf8_lossy(stream).lines().map(str::to_owned).collect::<Vec<_>>());
    summarize_tests(output.status.success(), &lines, talk)
}

fn summarize_tests(ok: bool, stdout: &[String], stderr: Vec<String>) -> TestRun {
    let skipped: Vec<String> = stderr.into_iter().filter(|line| line.contains(": skipped: ")).collect();
    let mut tests = TestCounts::default();
    stdout.iter().for_each(|line| tests.add_summary_line(line));
    tests.recount_passed_as_ignored(skipped.len());
    TestRun { ok, tests, skipped }
}

fn echo_lines(stream: impl Read, show: impl Fn(&str)) -> Vec<String> {
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    lines.inspect(|line| show(line)).collect()
}

#[cfg(test)]
mod tests {
    use super::parse_variables;

    #[test]
    fn the_script_names_what_is_there() {
        let found = parse_variables("THRU_CLAUDE=/a/b=c/claude\nchatter\n");
        assert_eq!(found, [("THRU_CLAUDE".to_owned(), "/a/b=c/claude".to_owned())]);
    }
}
