//! `cargo xtask dist`: builds the binary that users get.
//!
//! How the binary is linked matters more for the cost of a hook than anything the hook does: the same program starts in
//! a third of the time if nothing has to be loaded or relocated. So it is linked with static musl if that target is
//! installed, with static glibc if there is a `libc.a`, and otherwise dynamically.

mod archives;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::platforms;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Musl,
    StaticGnu,
    Dynamic,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Musl => "static musl",
            Self::StaticGnu => "static gnu",
            Self::Dynamic => "dynamic",
        }
    }
}

/// Where the program is loaded. Fixed addresses save relocations at start-up. Random addresses need
/// position-independent code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addresses {
    Random,
    Fixed,
}

impl Addresses {
    /// The kind of addresses in the binary that users get.
    pub const CHOSEN: Self = Self::Fixed;
}

/// What the machine offers. This is read once, so that the decision itself is a pure function.
#[derive(Debug)]
struct Machine {
    host: String,
    musl_target_installed: bool,
    libc_archive: bool,
    /// Whether the C compiler links with GNU ld, which accepts our layout script. Other linkers were not tried.
    gnu_ld: bool,
}

#[derive(Debug, PartialEq, Eq)]
struct Plan {
    kind: Kind,
    target: Option<String>,
    rustflags: Vec<&'static str>,
}

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Build static-PIE: addresses are chosen at start
    #[arg(long, conflicts_with = "no_pie")]
    pie: bool,
    /// Build with fixed addresses, which is the default
    #[arg(long)]
    no_pie: bool,
    /// Build an archive for each platform that can be linked here, with checksums; fetches zig for macOS
    #[arg(long)]
    all: bool,
}

pub fn run(args: &Args) -> Result<bool> {
    let addresses = match (args.pie, args.no_pie) {
        (true, _) => Addresses::Random,
        (_, true) => Addresses::Fixed,
        (false, false) => Addresses::CHOSEN,
    };
    if args.all {
        return archives::run(addresses);
    }
    build(addresses)?;
    Ok(true)
}

/// Returns the path at which `dist` puts the binary.
pub fn path() -> PathBuf {
    crate::target_dir().join("dist").join("thru")
}

/// Returns the binary that a command works on: the binary that `--bin` names, or else the binary from `dist`.
pub fn chosen(bin: Option<&Path>) -> Result<PathBuf> {
    let path = bin.map_or_else(path, Path::to_path_buf);
    path.canonicalize()
        .with_context(|| format!("{} is not there: run `cargo xtask dist` first", path.display()))
}

pub fn build(addresses: Addresses) -> Result<PathBuf> {
    let plan = decide(&look(), addresses);
    let built = compile(&plan, &[])?;
    let dist = path();
    replace(&built, &dist)?;
    let size = dist.metadata()?.len();
    let pie = match (plan.kind, addresses) {
        (Kind::Dynamic, _) => "",
        (_, Addresses::Random) => "-PIE",
        (_, Addresses::Fixed) => ", fixed addresses",
    };
    println!("{}  {}{pie}  {:.2} MB", dist.display(), plan.kind.name(), size as f64 / 1e6);
    Ok(dist)
}

/// Builds the same binary, but with the names of its functions, and returns its path. This binary is not for users.
pub fn build_with_symbols() -> Result<PathBuf> {
    compile(&decide(&look(), Addresses::CHOSEN), &[("CARGO_PROFILE_RELEASE_STRIP", "none")])
}

/// Builds the binary and returns where cargo left it.
fn compile(plan: &Plan, variables: &[(&str, &str)]) -> Result<PathBuf> {
    let mut cargo = crate::cargo();
    cargo.args(["build", "--release", "--locked", "--package", "thru", "--bin", "thru"]);
    cargo.arg("--target-dir").arg(crate::target_dir());
    let mut out = crate::target_dir();
    if let Some(target) = &plan.target {
        // The target is explicit even if it is the host's own. Otherwise the flags below would also apply to build
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

/// Adds flags to the flags that the caller has set.
fn add_rustflags(cargo: &mut Command, flags: &[&str]) {
    if !flags.is_empty() {
        let given = std::env::var("RUSTFLAGS").unwrap_or_default();
        cargo.env("RUSTFLAGS", [given.as_str(), &flags.join(" ")].join(" ").trim());
    }
}

/// Links everything into one file, so that the system has nothing to load at start-up.
const STATIC: &str = "-Ctarget-feature=+crt-static";

/// Puts the functions that hooks call next to each other; see `bench::layout`.
const LAYOUT: &str = "-Clink-arg=-Wl,-Txtask/hook-layout.ld";

fn fixed(addresses: Addresses) -> Option<&'static str> {
    match addresses {
        Addresses::Random => None,
        Addresses::Fixed => Some("-Crelocation-model=static"),
    }
}

fn decide(machine: &Machine, addresses: Addresses) -> Plan {
    let fixed = fixed(addresses);
    if let Some(musl) = musl_of(&machine.host)
        && machine.musl_target_installed
    {
        return Plan {
            kind: Kind::Musl,
            target: Some(musl),
            rustflags: [STATIC].into_iter().chain(fixed).chain(machine.gnu_ld.then_some(LAYOUT)).collect(),
        };
    }
    if machine.host.contains("-linux-gnu") && machine.libc_archive {
        return Plan {
            kind: Kind::StaticGnu,
            target: Some(machine.host.clone()),
            rustflags: [STATIC].into_iter().chain(fixed).collect(),
        };
    }
    Plan { kind: Kind::Dynamic, target: None, rustflags: Vec::new() }
}

/// Returns the musl target for a Linux host, whatever libc the host itself has.
fn musl_of(host: &str) -> Option<String> {
    let (machine, rest) = host.split_once('-')?;
    (rest.contains("linux") && ["x86_64", "aarch64"].contains(&machine))
        .then(|| format!("{machine}-unknown-linux-musl"))
}

fn look() -> Machine {
    let host = output(Command::new("rustc").arg("-vV"))
        .and_then(|text| text.lines().find_map(|line| line.strip_prefix("host: ").map(str::to_owned)))
        .unwrap_or_default();
    let musl_target_installed = musl_of(&host).is_some_and(|target| platforms::is_installed(&target));
    // If the compiler does not know the file, it prints the name without a folder. Some distributions ship no
    // libc.a.
    let libc_archive = output(Command::new("cc").arg("-print-file-name=libc.a"))
        .is_some_and(|found| Path::new(found.trim()).is_absolute());
    Machine { host, musl_target_installed, libc_archive, gnu_ld: has_gnu_ld() }
}

/// Returns whether the C compiler links with GNU ld.
fn has_gnu_ld() -> bool {
    output(Command::new("cc").arg("-Wl,--version")).is_some_and(|text| text.starts_with("GNU ld"))
}

fn output(command: &mut Command) -> Option<String> {
    let output = command.current_dir(crate::workspace()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Replaces the binary by a rename, because the old binary may be running.
fn replace(from: &Path, to: &Path) -> Result<()> {
    let folder = to.parent().context("no folder")?;
    std::fs::create_dir_all(folder)?;
    let temporary = folder.join(format!(".thru-{}", std::process::id()));
    std::fs::copy(from, &temporary).with_context(|| format!("copying {}", from.display()))?;
    std::fs::rename(&temporary, to).with_context(|| format!("writing {}", to.display()))
}

/// Returns how a binary is linked. The file itself shows this: a dynamic binary names its loader. `--bin` may name
/// any binary.
pub fn kind_of(binary: &Path) -> Result<Kind> {
    let bytes = std::fs::read(binary).with_context(|| format!("reading {}", binary.display()))?;
    Ok(kind_of_bytes(&bytes))
}

fn kind_of_bytes(bytes: &[u8]) -> Kind {
    let holds = |needle: &[u8]| bytes.windows(needle.len()).any(|window| window == needle);
    if !bytes.starts_with(b"\x7fELF") || has_interpreter(bytes).unwrap_or(true) {
        Kind::Dynamic
    } else if holds(b"GLIBC_TUNABLES") || holds(b"GNU C Library") {
        Kind::StaticGnu
    } else {
        Kind::Musl
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

    fn machine(host: &str, musl_target_installed: bool, libc_archive: bool) -> Machine {
        Machine { host: host.to_owned(), musl_target_installed, libc_archive, gnu_ld: false }
    }

    #[test]
    fn musl_comes_first_then_static_gnu_then_dynamic() {
        for (host, musl, archive, kind, target) in [
            ("x86_64-unknown-linux-gnu", true, true, Kind::Musl, Some("x86_64-unknown-linux-musl")),
            ("aarch64-unknown-linux-gnu", true, false, Kind::Musl, Some("aarch64-unknown-linux-musl")),
            ("x86_64-unknown-linux-gnu", false, true, Kind::StaticGnu, Some("x86_64-unknown-linux-gnu")),
            ("x86_64-unknown-linux-gnu", false, false, Kind::Dynamic, None),
            (
                "riscv64gc-unknown-linux-gnu",
                false,
                true,
                Kind::StaticGnu,
                Some("riscv64gc-unknown-linux-gnu"),
            ),
            ("aarch64-apple-darwin", false, false, Kind::Dynamic, None),
            ("x86_64-apple-darwin", false, true, Kind::Dynamic, None),
        ] {
            let plan = decide(&machine(host, musl, archive), Addresses::Random);
            assert_eq!(
                (plan.kind, plan.target.as_deref()),
                (kind, target),
                "{host} musl={musl} libc.a={archive}"
            );
        }
    }

    #[test]
    fn fixed_addresses_are_asked_for_only_in_static_builds() {
        let linux = machine("x86_64-unknown-linux-gnu", false, true);
        assert!(decide(&linux, Addresses::Fixed).rustflags.contains(&"-Crelocation-model=static"));
        assert!(!decide(&linux, Addresses::Random).rustflags.contains(&"-Crelocation-model=static"));
        let mac = machine("aarch64-apple-darwin", false, false);
        assert!(decide(&mac, Addresses::Fixed).rustflags.is_empty());
    }

    #[test]
    fn the_layout_is_for_musl_and_gnu_ld() {
        let gnu_ld = |machine: Machine| Machine { gnu_ld: true, ..machine };
        let musl = machine("x86_64-unknown-linux-gnu", true, true);
        assert!(!decide(&musl, Addresses::Fixed).rustflags.contains(&LAYOUT));
        assert!(decide(&gnu_ld(musl), Addresses::Fixed).rustflags.contains(&LAYOUT));
        let gnu = gnu_ld(machine("x86_64-unknown-linux-gnu", false, true));
        assert!(!decide(&gnu, Addresses::Fixed).rustflags.contains(&LAYOUT));
        assert!(LAYOUT.ends_with(crate::bench::layout::FILE));
    }

    #[test]
    fn a_dynamic_binary_is_known_by_its_loader() {
        // On Linux with glibc, the test binary itself is an ordinary dynamic build. Elsewhere it may be no ELF
        // file.
        let this = std::env::current_exe().unwrap();
        if cfg!(all(target_os = "linux", target_env = "gnu", not(target_feature = "crt-static"))) {
            assert_eq!(kind_of(&this).unwrap(), Kind::Dynamic);
        }
        assert_eq!(kind_of_bytes(b"#!/bin/sh\n"), Kind::Dynamic);
    }
}
