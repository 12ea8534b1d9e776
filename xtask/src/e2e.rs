//! `cargo xtask e2e`: the real harnesses, driven offline against a scripted model (`crates/thru/tests/e2e`).

use std::io::{BufRead as _, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

use crate::args::Args;
use crate::dist;

/// Gives a command a network of its own in which there is nothing but itself.
const ALONE: &str = "ip link set lo up && exec \"$@\"";

pub fn run(mut args: Args) -> Result<bool> {
    let only = args.option("--only")?;
    let binary = match args.option("--bin")? {
        Some(path) => Path::new(&path).canonicalize().with_context(|| path)?,
        // A build that is up to date costs nothing, and an old binary would be tested in silence.
        None => dist::build(dist::Addresses::CHOSEN)?,
    };
    args.finish()?;
    let harnesses = install()?;
    // Before the network is taken away: what has to be fetched is fetched here.
    let built = crate::cargo().args(["test", "--package", "thru", "--test", "e2e", "--no-run"]).status();
    if !built.context("starting cargo")?.success() {
        bail!("the tests do not build");
    }

    let start = Instant::now();
    let alone = can_be_alone();
    let mut test = crate::cargo();
    test.args(["test", "--offline", "--quiet", "--package", "thru", "--test", "e2e", "--"]).args(&only);
    if alone {
        test = within_unshare(&test);
    }
    test.env("THRU_BIN", binary).envs(harnesses);
    let ended = watch(&mut test)?;

    let network =
        if alone { "in a network of their own" } else { "network left on: not root, or no unshare" };
    let (passed, failed, skipped) = (ended.passed, ended.failed, ended.skipped.len());
    // To the test runner one that was skipped has passed.
    let passed = passed.saturating_sub(skipped);
    let seconds = start.elapsed().as_secs_f64();
    println!("\ne2e: {passed} passed, {failed} failed, {skipped} skipped, {seconds:.0} s, {network}");
    for line in ended.skipped {
        println!("  {line}");
    }
    Ok(ended.ok)
}

/// One variable with the path of each harness that is there. One that is missing is the tests' business: they say
/// `skipped`, and fail in CI.
fn install() -> Result<Vec<(String, String)>> {
    let script = crate::workspace().join("scripts/harnesses.sh");
    let output = Command::new(&script)
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("starting {}", script.display()))?;
    Ok(variables(&String::from_utf8_lossy(&output.stdout)))
}

fn variables(text: &str) -> Vec<(String, String)> {
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    pairs.map(|(name, path)| (name.to_owned(), path.to_owned())).collect()
}

fn can_be_alone() -> bool {
    Command::new("unshare")
        .args(["--net", "sh", "-c", ALONE, "sh", "true"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn within_unshare(command: &Command) -> Command {
    let mut alone = Command::new("unshare");
    alone.args(["--net", "sh", "-c", ALONE, "sh"]).arg(command.get_program()).args(command.get_args());
    alone.current_dir(crate::workspace());
    alone
}

struct Ended {
    ok: bool,
    passed: usize,
    failed: usize,
    skipped: Vec<String>,
}

/// Shows everything as it comes and keeps what the summary needs.
fn watch(command: &mut Command) -> Result<Ended> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().context("starting the tests")?;
    let stdout = child.stdout.take().context("piped")?;
    let stderr = child.stderr.take().context("piped")?;
    let talk = thread::spawn(move || echo(stderr, |line| eprintln!("{line}")));
    let lines = echo(stdout, |line| println!("{line}"));
    let talk = talk.join().unwrap_or_default();
    let status = child.wait()?;
    let (passed, failed) = lines.iter().find_map(|line| counts(line)).unwrap_or_default();
    let skipped = talk.into_iter().filter(|line| line.contains("skipped: ")).collect();
    Ok(Ended { ok: status.success(), passed, failed, skipped })
}

fn echo(stream: impl Read, show: impl Fn(&str)) -> Vec<String> {
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    lines.inspect(|line| show(line)).collect()
}

/// Passed and failed, of `test result: ok. 7 passed; 0 failed; 0 ignored; …`.
fn counts(line: &str) -> Option<(usize, usize)> {
    let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let mut numbers = counts.split("; ").map(|part| part.split(' ').next()?.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

#[cfg(test)]
mod tests {
    use super::{counts, variables};

    #[test]
    fn the_script_names_what_is_there() {
        let found = variables("THRU_CLAUDE=/a/b=c/claude\nchatter\n");
        assert_eq!(found, [("THRU_CLAUDE".to_owned(), "/a/b=c/claude".to_owned())]);
    }

    #[test]
    fn the_closing_line_is_read() {
        let line =
            "test result: ok. 7 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1s";
        assert_eq!(counts(line), Some((7, 0)));
        assert_eq!(counts("test a ... ok"), None);
    }
}
