//! Developer tools that are too long for a shell script. `cargo xtask` lists them.
//!
//! Only developers run this crate, so it may print and panic. The lints that forbid this in `thru` are disabled here.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::exit, clippy::unwrap_used, clippy::expect_used)]

mod bench;
mod ci;
mod dist;
mod e2e;
mod fuzz;
mod memory;
mod platforms;
mod recall;
mod sandbox;
mod stats;
mod strace;
mod summaries;
mod table;
mod tidy;
mod tokens;
mod torture;
mod transcript;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

/// Tools that are too long for a shell script
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Command {
    /// Build the binary that users get, as target/dist/thru; with `--all`, build archives for every platform
    Dist(dist::Args),
    /// Measure the cost of `thru` in relation to /bin/true
    Bench(bench::Args),
    /// Record which functions hooks call, so that `dist` can put them next to each other
    Layout,
    /// Run `thru` with faults, hostile input and many processes, and look for lost data
    Torture(torture::Args),
    /// Run the real harnesses offline with a scripted model, and install them if necessary
    E2e(e2e::Args),
    /// Test properties on random bytes
    Fuzz(fuzz::Args),
    /// Measure, on a folder of transcripts, how well a brief covers the information that an agent needs after a
    /// compaction
    Recall(recall::Args),
    /// Compare the token estimate with the usage that transcripts record
    Tokens(tokens::Args),
    /// Summarise real tool outputs from a folder of transcripts, and retrieve the originals
    Summaries(summaries::Args),
    /// Check the rules of this repository: file lengths, crate boundaries, dependencies, licences
    Tidy(tidy::Args),
    /// Regenerate the sample output and the picture in the README by running a session with the real binary
    Picture,
    /// Run all checks and tests, as ./test.sh does
    Ci,
}

fn main() -> ExitCode {
    let result = match Command::parse() {
        Command::Dist(args) => dist::run_dist(&args),
        Command::Bench(args) => bench::run_benchmark(&args),
        Command::Layout => bench::layout::write_layout(),
        Command::Torture(args) => torture::run_torture(&args),
        Command::E2e(args) => e2e::run_e2e(&args),
        Command::Fuzz(args) => fuzz::run_fuzz(&args),
        Command::Recall(args) => recall::run_recall(&args),
        Command::Tokens(args) => tokens::run_tokens(&args),
        Command::Summaries(args) => summaries::run_summaries(&args),
        Command::Tidy(args) => tidy::run_tidy(&args),
        Command::Picture => rewrite_readme_example(),
        Command::Ci => ci::run_ci(),
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

/// Rewrites the example in the README by running the test that compares it with the binary.
fn rewrite_readme_example() -> anyhow::Result<bool> {
    let mut cargo = std::process::Command::new("cargo");
    cargo.args(["test", "-p", "thru", "--test", "it", "readme"]).env("THRU_BLESS", "1");
    Ok(cargo.current_dir(workspace_root()).status()?.success())
}

/// Returns the folder of the checkout that this xtask was built from.
fn workspace_root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.parent().expect("xtask is in the workspace").to_path_buf()
}

/// Returns cargo's target folder, which `CARGO_TARGET_DIR` may override.
fn target_dir() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => workspace_root().join(dir),
        None => workspace_root().join("target"),
    }
}

/// Returns a command that runs the cargo that started this program, so that the toolchain stays the same.
fn cargo_command() -> std::process::Command {
    let mut command = std::process::Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(workspace_root());
    command
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_arguments_make_sense() {
        super::Command::command().debug_assert();
    }
}
