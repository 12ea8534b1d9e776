//! Chores of this repository that are too long for a shell script: `cargo xtask` lists them.
//!
//! This crate talks to a developer on a terminal, so it may print and it may stop with a panic;
//! the lints that keep the product quiet are lifted here, and only here.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::exit, clippy::unwrap_used, clippy::expect_used)]

mod args;
mod bench;
mod ci;
mod dist;
mod e2e;
mod fuzz;
mod memory;
mod recall;
mod scene;
mod stats;
mod strace;
mod table;
mod tidy;
mod torture;
mod transcript;

use std::path::PathBuf;
use std::process::ExitCode;

use args::Args;

const HELP: &str = "\
cargo xtask COMMAND [OPTIONS]

  dist     build `thru` as users get it, and copy it to target/dist/thru
             --pie | --no-pie   static-PIE, or fixed addresses (default)
  bench    print what `thru` costs, as ratios to /bin/true
             --rounds N   rounds per row (default 1000)        --quick      fewer rounds
             --markdown   print the table for the README       --gate       exit 1 when a noise-free limit is missed
             --only TEXT  only rows whose name holds TEXT      --bin PATH   measure this binary instead of target/dist/thru
             --peers      beside hooks in node, python3 and bash with jq that do the same work
  torture  break everything around `thru` and look for lost data
             --quick      fewer points                         --only TEXT  only sections whose name holds TEXT
             --bin PATH   torture this binary                 --row TEXT   sweep only commands whose name holds TEXT
  e2e      drive the real harnesses offline against a scripted model, installing them if need be
             --only TEXT  only tests whose name holds TEXT     --bin PATH   let them call this binary
  fuzz [TARGET]   what must hold of any bytes, against bytes that nobody wrote
             --seconds N  for all targets together (default 8) --seed N     another order of inputs
  recall DIR   how much of what an agent needs after a compaction a brief gives back, on a folder of transcripts
             --json       every figure                         --misses     name what was not found
             --every N    cut after every N calls too          --only TEXT  only transcripts whose name holds TEXT
  tidy     house rules: file length, walls between crates, dependencies, licences
             --bless      rewrite xtask/ops-dependencies.txt
  ci       everything above and the tests, as ./test.sh runs it
";

fn main() -> ExitCode {
    let mut args = Args::from_env();
    let command = args.word().unwrap_or_default();
    let result = match command.as_str() {
        "dist" => dist::run(args),
        "bench" => bench::run(args),
        "torture" => torture::run(args),
        "e2e" => e2e::run(args),
        "fuzz" => fuzz::run(args),
        "recall" => recall::run(args),
        "tidy" => tidy::run(args),
        "ci" => ci::run(args),
        memory::WORD => return memory::helper(args),
        "" | "help" | "--help" | "-h" => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        other => {
            eprintln!("error: no such command: {other}\n\n{HELP}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The checkout this xtask was built from.
fn workspace() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.parent().expect("xtask lies in the workspace").to_path_buf()
}

/// Where cargo builds, also when the caller has moved it.
fn target_dir() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => workspace().join(dir),
        None => workspace().join("target"),
    }
}

/// The cargo that started us, so that a toolchain chosen by the caller stays chosen.
fn cargo() -> std::process::Command {
    let mut command = std::process::Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(workspace());
    command
}
