//! `cargo xtask dist --all`: makes an archive for each platform that can be linked here, and writes the checksums of
//! the archives.
//!
//! Binaries for Linux are linked with the linkers that come with Rust, for both architectures. The linker and the
//! system libraries for macOS come from zig's package on PyPI (442 MB), which is downloaded once and used only here.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::{AddressMode, LINKER_SCRIPT_FLAG, STATIC_FLAG, fixed_address_flag, has_gnu_ld};
use crate::platforms::{self, OperatingSystem, Platform};

const ZIG_PACKAGES: [&str; 2] = ["cargo-zigbuild==0.24.0", "ziglang==0.17.0"];

/// The only target that is linked with the C compiler.
const HOST_TARGET: &str = "x86_64-unknown-linux-musl";

const CHECKSUMS_FILE: &str = "SHA256SUMS";

/// The files in an archive besides the binary.
const FILES_ARCHIVED_WITH_BINARY: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", "README.md"];

pub fn build_archives(addresses: AddressMode) -> Result<bool> {
    let folder = crate::target_dir().join("dist");
    std::fs::create_dir_all(&folder)?;
    let (mut archives, mut passed) = (Vec::new(), true);
    for platform in platforms::PLATFORMS {
        match build_for_platform(&platform, addresses)
            .and_then(|binary| pack_archive(&folder, &platform, &binary))
        {
            Ok(archive) => archives.push(archive),
            Err(error) => {
                eprintln!("error: {}: {error:#}", platform.target);
                passed = false;
            }
        }
    }
    write_checksums(&folder, &archives)?;
    for archive in &archives {
        let size = folder.join(archive).metadata()?.len();
        println!("{}  {:.2} MB", folder.join(archive).display(), size as f64 / 1e6);
    }
    println!("{}", folder.join(CHECKSUMS_FILE).display());
    Ok(passed)
}

fn build_for_platform(platform: &Platform, addresses: AddressMode) -> Result<PathBuf> {
    if !platforms::is_target_installed(platform.target) {
        bail!("the Rust target is not installed (rustup target add {})", platform.target);
    }
    let mut cargo = crate::cargo_command();
    match platform.system {
        OperatingSystem::Linux => {
            cargo.arg("build").env(platforms::ARM64_LINKER.0, platforms::ARM64_LINKER.1);
            // arm64 is linked with `rust-lld`, which is not GNU ld, so the layout script is not used for it.
            let layout = (platform.target == HOST_TARGET && has_gnu_ld()).then_some(LINKER_SCRIPT_FLAG);
            let flags: Vec<_> =
                [STATIC_FLAG].into_iter().chain(fixed_address_flag(addresses)).chain(layout).collect();
            super::add_rustflags(&mut cargo, &flags);
        }
        OperatingSystem::MacOs if cfg!(target_os = "macos") => {
            cargo.arg("build");
        }
        OperatingSystem::MacOs => {
            let tools = install_zig()?;
            let path = std::env::var_os("PATH").unwrap_or_default();
            let paths = [tools].into_iter().chain(std::env::split_paths(&path));
            cargo.arg("zigbuild").env("PATH", std::env::join_paths(paths)?);
        }
    }
    cargo.args(["--release", "--locked", "--package", "thru", "--bin", "thru", "--target", platform.target]);
    cargo.arg("--target-dir").arg(crate::target_dir());
    run_quietly(&mut cargo)?;
    Ok(crate::target_dir().join(platform.target).join("release/thru"))
}

/// Returns the folder with `cargo-zigbuild`, in a separate environment below `target`.
fn install_zig() -> Result<PathBuf> {
    let environment = crate::target_dir().join("zig");
    let tools = environment.join("bin");
    if !tools.join("cargo-zigbuild").exists() {
        eprintln!("Fetching {} (once, 442 MB) ...", ZIG_PACKAGES.join(" and "));
        run_quietly(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
        run_quietly(Command::new(tools.join("pip")).args(["install", "--quiet"]).args(ZIG_PACKAGES))?;
    }
    Ok(tools)
}

/// Packs `thru-<version>-<target>.tar.gz`. The archive contains one folder with the same name.
fn pack_archive(folder: &Path, platform: &Platform, binary: &Path) -> Result<String> {
    let name = format!("thru-{}-{}", env!("CARGO_PKG_VERSION"), platform.target);
    let packed = folder.join(&name);
    let _ = std::fs::remove_dir_all(&packed);
    std::fs::create_dir_all(&packed)?;
    let papers = FILES_ARCHIVED_WITH_BINARY.map(|paper| crate::workspace_root().join(paper));
    for file in papers.iter().map(PathBuf::as_path).chain([binary]) {
        let to = packed.join(file.file_name().context("no name")?);
        std::fs::copy(file, to).with_context(|| format!("copying {}", file.display()))?;
    }
    let archive = format!("{name}.tar.gz");
    run_quietly(Command::new("tar").arg("-czf").arg(&archive).arg(&name).current_dir(folder))?;
    std::fs::remove_dir_all(&packed)?;
    Ok(archive)
}

/// Writes the checksums in the format that `sha256sum --check` and `install.sh` read.
fn write_checksums(folder: &Path, archives: &[String]) -> Result<()> {
    let mut text = String::new();
    for archive in archives {
        text.push_str(&sha256_of_archive(folder, archive)?);
    }
    std::fs::write(folder.join(CHECKSUMS_FILE), text).context("writing the checksums")
}

fn sha256_of_archive(folder: &Path, archive: &str) -> Result<String> {
    for (program, words) in [("sha256sum", &[][..]), ("shasum", &["-a", "256"][..])] {
        let printed = Command::new(program).args(words).arg(archive).current_dir(folder).output();
        if let Ok(printed) = printed
            && printed.status.success()
        {
            return Ok(String::from_utf8(printed.stdout)?);
        }
    }
    bail!("neither sha256sum nor shasum can be run");
}

fn run_quietly(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("starting {:?}", command.get_program()))?;
    if !status.success() {
        bail!("{:?} failed ({status})", command.get_program());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_holds_the_binary_the_licences_and_the_readme_and_its_checksum_is_right() {
        let folder = tempfile::tempdir().unwrap();
        let binary = folder.path().join("thru");
        std::fs::write(&binary, "#!/bin/sh\n").unwrap();
        let archive = pack_archive(folder.path(), &platforms::PLATFORMS[0], &binary).unwrap();
        let name = format!("thru-{}-aarch64-apple-darwin", env!("CARGO_PKG_VERSION"));
        assert_eq!(archive, format!("{name}.tar.gz"));
        let listed =
            Command::new("tar").arg("-tzf").arg(&archive).current_dir(folder.path()).output().unwrap();
        let listed = String::from_utf8(listed.stdout).unwrap();
        let mut files: Vec<_> = listed.lines().filter(|line| !line.ends_with('/')).collect();
        files.sort_unstable();
        let expected =
            ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "thru"].map(|file| format!("{name}/{file}"));
        assert_eq!(files, expected);
        write_checksums(folder.path(), &[archive]).unwrap();
        let check =
            Command::new("sha256sum").args(["--check", CHECKSUMS_FILE]).current_dir(folder.path()).output();
        // macOS verifies the checksums with `shasum`, which reads the same file format.
        if let Ok(check) = check {
            assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stdout));
        }
    }
}
