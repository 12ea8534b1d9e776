//! `cargo xtask dist`: builds the binary that users get.
//!
//! The cost of a hook depends mostly on how the binary is linked. If nothing has to be loaded or relocated, the same
//! program starts in a third of the time. So the binary is linked with static musl if that target is installed, with
//! static glibc if there is a `libc.a`, and otherwise dynamically.

mod archives;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::platforms;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkKind {
    Musl,
    StaticGnu,
    Dynamic,
}

impl LinkKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Musl => "static musl",
            Self::StaticGnu => "static gnu",
            Self::Dynamic => "dynamic",
        }
    }
}

/// Whether the program is loaded at fixed or random addresses. Fixed addresses avoid relocations at start-up. Random
/// addresses need position-independent code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressMode {
    Random,
    Fixed,
}

impl AddressMode {
    /// The address mode of the binary that users get.
    pub const RELEASE_MODE: Self = Self::Fixed;
}

/// The facts about this machine that decide how the binary is built. They are read in advance, so that the decision
/// itself can be tested on any machine.
#[derive(Debug)]
struct MachineFacts {
    host: String,
    musl_target_installed: bool,
    has_libc_archive: bool,
    /// Whether the C compiler links with GNU ld, which accepts our layout script. Other linkers are untested.
    has_gnu_ld: bool,
}

#[derive(Debug, PartialEq, Eq)]
struct BuildPlan {
    kind: LinkKind,
    target: Option<String>,
    rustflags: Vec<&'static str>,
}

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Build a static PIE, whose addresses are chosen at start-up
    #[arg(long, conflicts_with = "no_pie")]
    pie: bool,
    /// Build with fixed addresses (the default)
    #[arg(long)]
    no_pie: bool,
    /// Build an archive for each supported platform, and write the checksums; downloads zig for macOS
    #[arg(long)]
    all: bool,
}

pub fn run_dist(args: &Args) -> Result<bool> {
    let addresses = match (args.pie, args.no_pie) {
        (true, _) => AddressMode::Random,
        (_, true) => AddressMode::Fixed,
        (false, false) => AddressMode::RELEASE_MODE,
    };
    if args.all {
        return archives::build_archives(addresses);
    }
    build_dist(addresses)?;
    Ok(true)
}

/// Returns the path at which `dist` puts the binary.
pub fn dist_binary_path() -> PathBuf {
    crate::target_dir().join("dist").join("thru")
}

/// Returns the path of the binary under test: the one that `--bin` names, or else the one that `dist` built.
pub fn chosen_binary(bin: Option<&Path>) -> Result<PathBuf> {
    let path = bin.map_or_else(dist_binary_path, Path::to_path_buf);
    path.canonicalize()
        .with_context(|| format!("{} does not exist: run `cargo xtask dist` first", path.display()))
}

pub fn build_dist(addresses: AddressMode) -> Result<PathBuf> {
    let plan = plan_build(&read_machine_facts(), addresses);
    let built = compile_binary(&plan, &[])?;
    let dist = dist_binary_path();
    replace_binary(&built, &dist)?;
    let size = dist.metadata()?.len();
    let pie = match (plan.kind, addresses) {
        (LinkKind::Dynamic, _) => "",
        (_, AddressMode::Random) => "-PIE",
        (_, AddressMode::Fixed) => ", fixed addresses",
    };
    println!("{}  {}{pie}  {:.2} MB", dist.display(), plan.kind.name(), size as f64 / 1e6);
    Ok(dist)
}

/// Builds the release binary, but keeps the names of its functions. Returns its path. This binary is not for users.
pub fn build_with_symbols() -> Result<PathBuf> {
    compile_binary(
        &plan_build(&read_machine_facts(), AddressMode::RELEASE_MODE),
        &[("CARGO_PROFILE_RELEASE_STRIP", "none")],
    )
}

/// Builds the binary and returns the path of cargo's output.
fn compile_binary(plan: &BuildPlan, variables: &[(&str, &str)]) -> Result<PathBuf> {
    let mut cargo = crate::cargo_command();
    cargo.args(["build", "--release", "--locked", "--package", "thru", "--bin", "thru"]);
    cargo.arg("--target-dir").arg(crate::target_dir());
    let mut out = crate::target_dir();
    if let Some(target) = &plan.target {
        // The target is given even if it is the host's own target. Otherwise the flags below would also apply to build
        // scripts and procedural macros, and a procedural macro cannot be linked statically.
        cargo.args(["--target", target]);
        out.push(target);
    }
    add_rustflags(&mut cargo, &plan.rustflags);
    let status = cargo.envs(variables.iter().copied()).status().context("starting cargo")?;
    if !status.success() {
        bail!("the release build failed ({status})");
    }
    Ok(out.join("release").join(format!("thru{}", std::env::consts::EXE_SUFFIX)))
}

/// Adds flags to those in the caller's `RUSTFLAGS`.
fn add_rustflags(cargo: &mut Command, flags: &[&str]) {
    if !flags.is_empty() {
        let given = std::env::var("RUSTFLAGS").unwrap_or_default();
        cargo.env("RUSTFLAGS", [given.as_str(), &flags.join(" ")].join(" ").trim());
    }
}

/// Links everything into one file, so that the system loads nothing at start-up.
const STATIC_FLAG: &str = "-Ctarget-feature=+crt-static";

/// Places the functions called by hooks next to each other; see `bench::layout`.
const LINKER_SCRIPT_FLAG: &str = "-Clink-arg=-Wl,-Txtask/hook-layout.ld";

fn fixed_address_flag(addresses: AddressMode) -> Option<&'static str> {
    match addresses {
        AddressMode::Random => None,
        AddressMode::Fixed => Some("-Crelocation-model=static"),
    }
}

fn plan_build(machine: &MachineFacts, addresses: AddressMode) -> BuildPlan {
    let fixed = fixed_address_flag(addresses);
    if let Some(musl) = musl_target_of(&machine.host)
        && machine.musl_target_installed
    {
        return BuildPlan {
            kind: LinkKind::Musl,
            target: Some(musl),
            rustflags: [STATIC_FLAG]
                .into_iter()
                .chain(fixed)
                .chain(machine.has_gnu_ld.then_some(LINKER_SCRIPT_FLAG))
                .collect(),
        };
    }
    if machine.host.contains("-linux-gnu") && machine.has_libc_archive {
        return BuildPlan {
            kind: LinkKind::StaticGnu,
            target: Some(machine.host.clone()),
            rustflags: [STATIC_FLAG].into_iter().chain(fixed).collect(),
        };
    }
    BuildPlan { kind: LinkKind::Dynamic, target: None, rustflags: Vec::new() }
}

/// Returns the musl target for a Linux host, regardless of the host's own libc.
fn musl_target_of(host: &str) -> Option<String> {
    let (machine, rest) = host.split_once('-')?;
    (rest.contains("linux") && ["x86_64", "aarch64"].contains(&machine))
        .then(|| format!("{machine}-unknown-linux-musl"))
}

fn read_machine_facts() -> MachineFacts {
    let host = command_output(Command::new("rustc").arg("-vV"))
        .and_then(|text| text.lines().find_map(|line| line.strip_prefix("host: ").map(str::to_owned)))
        .unwrap_or_default();
    let musl_target_installed =
        musl_target_of(&host).is_some_and(|target| platforms::is_target_installed(&target));
    // Some distributions have no libc.a. If the compiler finds the file, it prints an absolute path, and otherwise
    // only the name.
    let has_libc_archive = command_output(Command::new("cc").arg("-print-file-name=libc.a"))
        .is_some_and(|found| Path::new(found.trim()).is_absolute());
    MachineFacts { host, musl_target_installed, has_libc_archive, has_gnu_ld: has_gnu_ld() }
}

fn has_gnu_ld() -> bool {
    command_output(Command::new("cc").arg("-Wl,--version")).is_some_and(|text| text.starts_with("GNU ld"))
}

fn command_output(command: &mut Command) -> Option<String> {
    let output = command.current_dir(crate::workspace_root()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Replaces the binary by renaming a new file over it, because the old binary may be running.
fn replace_binary(from: &Path, to: &Path) -> Result<()> {
    let folder = to.parent().context("no folder")?;
    std::fs::create_dir_all(folder)?;
    let temporary = folder.join(format!(".thru-{}", std::process::id()));
    std::fs::copy(from, &temporary).with_context(|| format!("copying {}", from.display()))?;
    std::fs::rename(&temporary, to).with_context(|| format!("writing {}", to.display()))
}

/// Returns how a binary is linked. The answer comes from the file, because `--bin` may name any binary.
pub fn link_kind_of_binary(binary: &Path) -> Result<LinkKind> {
    let bytes = std::fs::read(binary).with_context(|| format!("reading {}", binary.display()))?;
    Ok(link_kind_of_bytes(&bytes))
}

fn link_kind_of_bytes(bytes: &[u8]) -> LinkKind {
    let holds = |needle: &[u8]| bytes.windows(needle.len()).any(|window| window == needle);
    if !bytes.starts_with(b"\x7fELF") || has_interpreter(bytes).unwrap_or(true) {
        LinkKind::Dynamic
    } else if holds(b"GLIBC_TUNABLES") || holds(b"GNU C Library") {
        LinkKind::StaticGnu
    } else {
        LinkKind::Musl
    }
}

/// Returns whether a 64-bit little-endian ELF file has a PT_INTERP program header.
fn has_interpreter(bytes: &[u8]) -> Option<bool> {
    const PT_INTERP: u32 = 3;
    let offset = usize::try_from(u64::from_le_bytes(bytes.get(32..40)?.try_into().ok()?)).ok()?;
    let size = usize::from(u16::from_le_bytes(bytes.get(54..56)?.try_into().ok()?));
    let count = usize::from(u16::from_le_bytes(bytes.get(56..58)?.try_into().ok()?));
    for at in (0..count).map(|index| offset + index * size) {
        if u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) == PT_INTERP {
            return Some(true);
        }
    }
    Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test_machine(host: &str, musl_target_installed: bool, has_libc_archive: bool) -> MachineFacts {
        MachineFacts { host: host.to_owned(), musl_target_installed, has_libc_archive, has_gnu_ld: false }
    }

    #[test]
    fn musl_comes_first_then_static_gnu_then_dynamic() {
        for (host, musl, archive, kind, target) in [
            ("x86_64-unknown-linux-gnu", true, true, LinkKind::Musl, Some("x86_64-unknown-linux-musl")),
            ("aarch64-unknown-linux-gnu", true, false, LinkKind::Musl, Some("aarch64-unknown-linux-musl")),
            ("x86_64-unknown-linux-gnu", false, true, LinkKind::StaticGnu, Some("x86_64-unknown-linux-gnu")),
            ("x86_64-unknown-linux-gnu", false, false, LinkKind::Dynamic, None),
            (
                "riscv64gc-unknown-linux-gnu",
                false,
                true,
                LinkKind::StaticGnu,
                Some("riscv64gc-unknown-linux-gnu"),
            ),
            ("aarch64-apple-darwin", false, false, LinkKind::Dynamic, None),
            ("x86_64-apple-darwin", false, true, LinkKind::Dynamic, None),
        ] {
            let plan = plan_build(&test_machine(host, musl, archive), AddressMode::Random);
            assert_eq!(
                (plan.kind, plan.target.as_deref()),
                (kind, target),
                "{host} musl={musl} libc.a={archive}"
            );
        }
    }

    #[test]
    fn fixed_addresses_are_asked_for_only_in_static_builds() {
        let linux = test_machine("x86_64-unknown-linux-gnu", false, true);
        assert!(plan_build(&linux, AddressMode::Fixed).rustflags.contains(&"-Crelocation-model=static"));
        assert!(!plan_build(&linux, AddressMode::Random).rustflags.contains(&"-Crelocation-model=static"));
        let mac = test_machine("aarch64-apple-darwin", false, false);
        assert!(plan_build(&mac, AddressMode::Fixed).rustflags.is_empty());
    }

    #[test]
    fn the_layout_is_for_musl_and_gnu_ld() {
        let gnu_ld = |machine: MachineFacts| MachineFacts { has_gnu_ld: true, ..machine };
        let musl = test_machine("x86_64-unknown-linux-gnu", true, true);
        assert!(!plan_build(&musl, AddressMode::Fixed).rustflags.contains(&LINKER_SCRIPT_FLAG));
        assert!(plan_build(&gnu_ld(musl), AddressMode::Fixed).rustflags.contains(&LINKER_SCRIPT_FLAG));
        let gnu = gnu_ld(test_machine("x86_64-unknown-linux-gnu", false, true));
        assert!(!plan_build(&gnu, AddressMode::Fixed).rustflags.contains(&LINKER_SCRIPT_FLAG));
        assert!(LINKER_SCRIPT_FLAG.ends_with(crate::bench::layout::LINKER_SCRIPT));
    }

    #[test]
    fn a_dynamic_binary_is_known_by_its_loader() {
        // On Linux with glibc, the test binary itself is a dynamic build. On other systems, it may not be an ELF file.
        let this = std::env::current_exe().unwrap();
        if cfg!(all(target_os = "linux", target_env = "gnu", not(target_feature = "crt-static"))) {
            assert_eq!(link_kind_of_binary(&this).unwrap(), LinkKind::Dynamic);
        }
        assert_eq!(link_kind_of_bytes(b"#!/bin/sh\n"), LinkKind::Dynamic);
    }
}
