//! The supported platforms. This module runs the lints for each of them, and tests the binary for Linux on arm64
//! under an emulator.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::e2e;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperatingSystem {
    Linux,
    MacOs,
}

#[derive(Debug, Clone, Copy)]
pub struct Platform {
    pub target: &'static str,
    pub system: OperatingSystem,
    /// Whether the lints include the tests. This is true for only one target, because hardly any code in the tests
    /// depends on the platform.
    lint_tests: bool,
}

pub const PLATFORMS: [Platform; 4] = [
    Platform { target: "aarch64-apple-darwin", system: OperatingSystem::MacOs, lint_tests: false },
    Platform { target: "x86_64-apple-darwin", system: OperatingSystem::MacOs, lint_tests: false },
    Platform { target: ARM64_TARGET, system: OperatingSystem::Linux, lint_tests: false },
    Platform { target: "x86_64-unknown-linux-musl", system: OperatingSystem::Linux, lint_tests: true },
];

const ARM64_TARGET: &str = "aarch64-unknown-linux-musl";

/// The linker that comes with Rust. With it, no C compiler for arm64 is needed.
pub const ARM64_LINKER: (&str, &str) = ("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER", "rust-lld");

/// The names of the emulator. Debian's package `qemu-user-static` uses the first name.
const EMULATORS: [&str; 2] = ["qemu-aarch64-static", "qemu-aarch64"];

/// The tests that run under the emulator: hooks, roots, logs, obstacles on disk, and dead processes. Each entry is a
/// module or the beginning of a test's name. Running all tests would take several minutes. The other tests check code
/// that is the same on every machine.
const EMULATED_TESTS: [&str; 5] =
    ["events::", "obstacles::", "packet_sweeps::a_killed_session", "roots::", "rotation::"];

/// Packages that are built without optimisation. This halves the build time and hardly slows the tests, which run the
/// binary only briefly.
const UNOPTIMISED_PACKAGES: [&str; 2] = ["serde_json", "memchr"];

/// Returns why the lints cannot run for every platform, or `None` if they can.
pub fn why_platform_lints_cannot_run() -> Option<&'static str> {
    let missing: Vec<_> = PLATFORMS.iter().filter(|platform| !is_target_installed(platform.target)).collect();
    for platform in &missing {
        eprintln!("the Rust target {} is not installed: rustup target add {0}", platform.target);
    }
    (!missing.is_empty()).then_some("a target is not installed (rustup target add, as ./test.sh does)")
}

/// Runs `cargo clippy` for every platform. Clippy also checks everything that `cargo check` checks.
pub fn lint_all_platforms() -> Result<bool> {
    let mut passed = true;
    for with_tests in [true, false] {
        let mut clippy = crate::cargo_command();
        clippy.args(["clippy", "--workspace"]);
        for platform in PLATFORMS.iter().filter(|platform| platform.lint_tests == with_tests) {
            clippy.args(["--target", platform.target]);
        }
        match with_tests {
            true => clippy.arg("--all-targets"),
            // The xtask runs only on developers' machines, and `thru` does not need it.
            false => clippy.args(["--exclude", "xtask"]),
        };
        clippy.args(["--", "--deny", "warnings"]);
        passed &= clippy.status().context("starting cargo clippy")?.success();
    }
    Ok(passed)
}

/// Runs `cargo clippy` for this machine.
pub fn lint_for_this_machine() -> Result<bool> {
    let mut clippy = crate::cargo_command();
    clippy.args(["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"]);
    Ok(clippy.status().context("starting cargo clippy")?.success())
}

/// Returns why the binary for arm64 cannot be tested, or `None` if it can.
pub fn why_arm64_cannot_be_tested() -> Option<&'static str> {
    if !is_target_installed(ARM64_TARGET) {
        Some("the Rust target aarch64-unknown-linux-musl is not installed")
    } else if find_emulator().is_none() {
        Some("there is no qemu-aarch64-static (Debian: apt-get install qemu-user-static)")
    } else {
        None
    }
}

/// Builds the binary for arm64 and runs the integration tests with it under an emulator.
pub fn test_emulated() -> Result<e2e::TestRun> {
    let emulator = find_emulator().context("no emulator")?;
    let mut build = crate::cargo_command();
    build.args(["build", "--locked", "--package", "thru", "--bin", "thru", "--target", ARM64_TARGET]);
    for package in UNOPTIMISED_PACKAGES {
        build.arg("--config").arg(format!("profile.dev.package.{package}.opt-level=0"));
    }
    build.env(ARM64_LINKER.0, ARM64_LINKER.1);
    if !build.status().context("starting cargo")?.success() {
        bail!("the build for {ARM64_TARGET} failed");
    }
    let built = crate::target_dir().join(ARM64_TARGET).join("debug/thru");
    let wrapper = write_wrapper(&crate::target_dir().join("emulated"), emulator, &built)?;
    let mut test = crate::cargo_command();
    // Name the whole workspace, as the other steps of `./test.sh` do. With another selection, cargo would choose
    // other features and build everything again.
    test.args(["test", "--workspace", "--test", "it", "--"]).args(EMULATED_TESTS);
    test.env("THRU_BIN", wrapper).env("THRU_EMULATED", "1");
    e2e::run_tests(&mut test)
}

/// Writes a script that runs the binary under the emulator, so that the tests can call it like `thru`.
fn write_wrapper(folder: &Path, emulator: &str, binary: &Path) -> Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    let wrapper = folder.join("thru");
    let binary = binary.to_str().context("the path of the checkout is not Unicode")?.replace('\'', r"'\''");
    std::fs::write(&wrapper, format!("#!/bin/sh\nexec {emulator} '{binary}' \"$@\"\n"))
        .with_context(|| format!("writing {}", wrapper.display()))?;
    std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755))?;
    Ok(wrapper)
}

fn find_emulator() -> Option<&'static str> {
    EMULATORS.into_iter().find(|name| can_run(name))
}

fn can_run(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Returns whether Rust's standard library is installed for a target. Not every Rust installation comes from rustup, so
/// this checks for the folder.
pub fn is_target_installed(target: &str) -> bool {
    let rustc = std::env::var_os("RUSTC");
    let rustc = rustc.as_deref().unwrap_or(OsStr::new("rustc"));
    let printed =
        Command::new(rustc).args(["--print", "sysroot"]).current_dir(crate::workspace_root()).output();
    printed.is_ok_and(|printed| {
        let sysroot = String::from_utf8_lossy(&printed.stdout);
        Path::new(sysroot.trim()).join("lib/rustlib").join(target).join("lib").is_dir()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emulated_tests_exist() {
        let tests = crate::workspace_root().join("crates/thru/tests/it");
        let main = std::fs::read_to_string(tests.join("main.rs")).unwrap();
        for name in EMULATED_TESTS {
            let (module, test) = name.split_once("::").expect("a module");
            assert!(main.lines().any(|line| line == format!("mod {module};")), "{name}");
            let code = std::fs::read_to_string(tests.join(format!("{module}.rs"))).unwrap();
            assert!(code.contains(&format!("fn {test}")), "{name}");
        }
    }

    #[test]
    fn the_wrapper_passes_every_word_on() {
        let folder = tempfile::tempdir().unwrap();
        let odd = folder.path().join("it's a folder");
        std::fs::create_dir(&odd).unwrap();
        let printer = odd.join("printer");
        std::fs::write(&printer, "#!/bin/sh\nprintf '<%s>' \"$@\"\n").unwrap();
        let wrapper = write_wrapper(folder.path(), "sh", &printer).unwrap();
        let output = Command::new("sh").arg(wrapper).args(["a b", "", "$HOME"]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "<a b><><$HOME>");
    }

    #[test]
    fn the_tests_are_linted_once() {
        assert_eq!(PLATFORMS.iter().filter(|platform| platform.lint_tests).count(), 1);
    }
}
