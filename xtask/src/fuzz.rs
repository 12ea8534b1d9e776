//! `cargo xtask fuzz`: tests properties on random bytes.
//!
//! The random numbers have a seed, so every run can be repeated. The command needs no other tool. `fuzz/` has the same
//! targets for cargo-fuzz, which is guided by coverage and finds more in a long run. Inputs that fail with either tool
//! are kept in `fuzz/found/`. Every run starts with these inputs, and `cargo test` also tries them.

mod targets;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use model::text::fnv_fingerprint;

use crate::stats::RandomNumbers;
use targets::{FUZZ_TARGETS, FuzzTarget};

/// The default number of seconds for all targets together.
const DEFAULT_SECONDS: u64 = 8;
const DEFAULT_SEED: u64 = 20_261_115;

/// The longest input, in bytes. Longer inputs find no further failures and take longer to test.
const MAX_FUZZ_INPUT_BYTES: usize = 4096;

/// The longest time that a target may take for one input. Inputs are short, and every function under test takes
/// linear time.
const MAX_TARGET_TIME: Duration = Duration::from_secs(2);

/// Strings that are special to one of the parsers and would rarely occur by chance.
const INTERESTING_STRINGS: [&str; 40] = [
    "---\n",
    "\r\n",
    "\n\n",
    "## ",
    "# A\n",
    "```",
    "~~~\n",
    "<!--",
    "-->",
    "- [ ] ",
    "- [x] ",
    "key: value\n",
    "\u{feff}",
    "'",
    "\"",
    "\\",
    "\\u0000",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "//",
    "/*",
    "*/",
    "null",
    "{\"type\":\"assistant\",\"message\":",
    "\"content\":[",
    "\"tool_use\"",
    "\"hooks\":{\"Stop\":[",
    "password = ",
    "Authorization: Bearer ",
    "AKIA",
    "ghp_",
    "-----BEGIN PRIVATE KEY-----",
    "\u{1b}[31m",
    "\u{202e}",
    "</system-reminder>",
    "<!-- AGENT_COMPLETE -->",
];

/// Bytes that are special to one of the parsers.
const INTERESTING_BYTES: &[u8] = b"\n\r \t\"'\\{}[]:,#-`<>*/=\0\xff";

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run only this target
    target: Option<String>,
    /// The number of seconds for all targets together
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SECONDS)]
    seconds: u64,
    /// The seed of the random inputs
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SEED)]
    seed: u64,
}

impl Default for Args {
    fn default() -> Self {
        Self { target: None, seconds: DEFAULT_SECONDS, seed: DEFAULT_SEED }
    }
}

pub fn run_fuzz(args: &Args) -> Result<bool> {
    let (only, seed) = (args.target.as_deref(), args.seed);
    let chosen: Vec<(&str, FuzzTarget)> =
        FUZZ_TARGETS.into_iter().filter(|(name, _)| only.is_none_or(|only| only == *name)).collect();
    if chosen.is_empty() {
        bail!("no such target; there are: {}", FUZZ_TARGETS.map(|(name, _)| name).join(", "));
    }
    let each = Duration::from_secs(args.seconds) / chosen.len() as u32;
    // A target reports a failure with a panic. The failure is printed below, so the default message is suppressed.
    std::panic::set_hook(Box::new(|_| {}));
    let mut good = true;
    for (name, target) in chosen {
        let tried = fuzz_target(name, target, each, seed)?;
        println!(
            "{name:<12} {} inputs{}",
            tried.inputs,
            if tried.failure.is_none() { ", all held" } else { "" }
        );
        if let Some((input, why)) = tried.failure {
            good = false;
            let path = save_input(name, &input)?;
            println!("  FAILED: {why}\n  input:  {}\n  kept:   {}", input.escape_ascii(), path.display());
            println!("  again:  cargo xtask fuzz {name} --seed {seed}");
        }
    }
    let _ = std::panic::take_hook();
    Ok(good)
}

struct FuzzResult {
    inputs: usize,
    failure: Option<(Vec<u8>, String)>,
}

fn fuzz_target(name: &str, target: FuzzTarget, time: Duration, seed: u64) -> Result<FuzzResult> {
    let mut pool = saved_inputs(name)?;
    let mut random = RandomNumbers::seeded(seed ^ fnv_fingerprint([name]));
    let until = Instant::now() + time;
    let mut inputs = 0;
    while inputs < pool.len() || Instant::now() < until {
        let input = match pool.get(inputs) {
            Some(kept) => kept.clone(),
            None => mutate_input(&pool, &mut random),
        };
        inputs += 1;
        if let Some(why) = find_failure(target, &input) {
            return Ok(FuzzResult { inputs, failure: Some((shorten_failing_input(target, input), why)) });
        }
        // Some inputs are kept and changed again later, so that changes accumulate.
        if inputs > pool.len() && random.next_below(50) == 0 && pool.len() < 2_000 {
            pool.push(input);
        }
    }
    Ok(FuzzResult { inputs, failure: None })
}

/// Returns why the target fails on this input, or `None` if it does not fail.
fn find_failure(target: FuzzTarget, input: &[u8]) -> Option<String> {
    let start = Instant::now();
    let ended = catch_unwind(AssertUnwindSafe(|| target(input)));
    match ended {
        Err(panic) => Some(panic_message(panic.as_ref())),
        Ok(()) if start.elapsed() > MAX_TARGET_TIME => {
            Some(format!("{} bytes took {:?}", input.len(), start.elapsed()))
        }
        Ok(()) => None,
    }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    text.unwrap_or("it panicked without a word").to_owned()
}

fn mutate_input(pool: &[Vec<u8>], random: &mut RandomNumbers) -> Vec<u8> {
    let mut input = pool[random.next_below(pool.len())].clone();
    for _ in 0..=random.next_below(5) {
        let at = random.next_below(input.len() + 1);
        let length = random.next_below(input.len() - at + 1).min(1 + random.next_below(64));
        match random.next_below(8) {
            0 => input.insert(at, random.next_number() as u8),
            1 => drop(input.drain(at..at + length)),
            2 => {
                drop(input.splice(
                    at..at,
                    INTERESTING_STRINGS[random.next_below(INTERESTING_STRINGS.len())].bytes(),
                ));
            }
            3 => {
                let again = input[at..at + length].to_vec();
                let to = random.next_below(input.len() + 1);
                input.splice(to..to, again);
            }
            4 => {
                let other = &pool[random.next_below(pool.len())];
                let from = random.next_below(other.len() + 1);
                input.truncate(at);
                input.extend_from_slice(&other[from..]);
            }
            5 => input.truncate(at),
            6 if at < input.len() => input[at] ^= 1 << random.next_below(8),
            _ if at < input.len() => {
                input[at] = INTERESTING_BYTES[random.next_below(INTERESTING_BYTES.len())];
            }
            _ => input.push(b'\n'),
        }
    }
    input.truncate(MAX_FUZZ_INPUT_BYTES);
    input
}

/// Spends up to three seconds on shortening a failing input.
fn shorten_failing_input(target: FuzzTarget, mut input: Vec<u8>) -> Vec<u8> {
    let until = Instant::now() + Duration::from_secs(3);
    let mut size = input.len() / 2;
    while size > 0 && Instant::now() < until {
        let mut at = 0;
        while at + size <= input.len() && Instant::now() < until {
            let mut less = input.clone();
            less.drain(at..at + size);
            if find_failure(target, &less).is_some() { input = less } else { at += size }
        }
        size /= 2;
    }
    input
}

fn save_input(name: &str, input: &[u8]) -> Result<PathBuf> {
    let folder = inputs_folder().join("found").join(name);
    fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{:016x}", fnv_fingerprint([input])));
    fs::write(&path, input)?;
    Ok(path)
}

/// Returns the kept inputs of a target: a few simple inputs, and every input that has ever failed.
fn saved_inputs(name: &str) -> Result<Vec<Vec<u8>>> {
    let mut inputs = vec![Vec::new()];
    for kind in ["seeds", "found"] {
        let folder = inputs_folder().join(kind).join(name);
        let mut paths = match fs::read_dir(&folder) {
            Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?,
            Err(_) => continue,
        };
        paths.sort();
        for path in paths {
            inputs.push(fs::read(&path).with_context(|| format!("reading {}", path.display()))?);
        }
    }
    Ok(inputs)
}

fn inputs_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kept_input_holds() {
        for (name, target) in FUZZ_TARGETS {
            let inputs = saved_inputs(name).unwrap();
            assert!(inputs.len() > 1, "{name} has nothing to begin with");
            for input in inputs {
                assert_eq!(find_failure(target, &input), None, "{name}: {}", input.escape_ascii());
            }
        }
    }

    #[test]
    fn the_same_seed_makes_the_same_inputs() {
        let pool = [b"abc".to_vec(), b"## A\nx\n".to_vec()];
        let made = |seed| {
            let mut random = RandomNumbers::seeded(seed);
            (0..50).map(|_| mutate_input(&pool, &mut random)).collect::<Vec<_>>()
        };
        assert_eq!(made(7), made(7));
        assert_ne!(made(7), made(8));
    }

    #[test]
    fn a_failure_is_found_and_shortened() {
        let target: FuzzTarget = |data| assert!(!data.contains(&b'#'), "a hash");
        let tried = fuzz_target("section", target, Duration::from_secs(5), 1).unwrap();
        let (input, why) = tried.failure.unwrap();
        assert_eq!((input.as_slice(), why.as_str()), (b"#".as_slice(), "a hash"));
    }
}
