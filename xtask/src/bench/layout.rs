//! `cargo xtask layout`: records which functions hooks call, so that `dist` can put them next to each other.
//!
//! The first access to a page of the program costs a hook two microseconds. The kernel then also maps the pages
//! around it, sixteen in all. In the linker's own order, the functions of one tool call are spread over fifty such
//! groups of pages.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::rows::{FIRST_CONTACT_ROW_MARK, MANY_PACKETS_ROW_MARK, ROWS};
use super::{BenchOptions, TimedCommand as _, prepare_row};
use crate::dist;
use crate::sandbox::{self, SandboxLocation, SandboxRoot};
use crate::table;

/// The linker script, relative to the workspace.
pub const LINKER_SCRIPT: &str = "xtask/hook-layout.ld";

const SCRIPT_HEAD: &str = "\
/* Places the functions that hooks call next to each other, because each page of the program that a hook touches costs
 * time. Written by `cargo xtask layout`. If the list is out of date, hooks are slower, but still correct. */
SECTIONS
{
  .text.hooks :
  {
";
const SCRIPT_TAIL: &str = "  }\n}\nINSERT BEFORE .text;\n";

/// A pattern may also match functions that no hook calls. If the code of these functions has more bytes than this, the
/// pattern comes last.
const MAX_UNCALLED_BYTES: u64 = 2 * 1024;

/// Runs each hook of the benchmark under callgrind, with a binary that still has its symbols.
pub fn write_layout() -> Result<bool> {
    let bin = dist::build_with_symbols()?;
    let symbols = function_sizes(&bin)?;
    let lab = SandboxRoot::new(bin, SandboxLocation::Disk)?;
    let options = BenchOptions { rounds: 1, markdown: false, only: String::new(), large_transcript_mb: 50 };
    let mut called: Vec<&str> = Vec::new();
    for row in ROWS.iter().filter(|row| row.argv[0] == "hook") {
        if row.name.contains(FIRST_CONTACT_ROW_MARK) || row.name.contains(MANY_PACKETS_ROW_MARK) {
            continue;
        }
        table::print_overwritten_progress_line(row.name);
        let mut one = prepare_row(&lab, row, &options).with_context(|| row.name)?;
        one.prepare_sample(0)?;
        let log = lab.path().join("callgrind.out");
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--tool=callgrind", "--demangle=no", "--compress-strings=no"]);
        valgrind.arg(format!("--callgrind-out-file={}", log.display()));
        sandbox::run_with_timeout(&mut sandbox::wrap_command(valgrind, &one.command), &one.payload)?;
        let text = std::fs::read_to_string(&log).context("is valgrind installed?")?;
        let names = called_functions(&text);
        let known: HashSet<&str> = called.iter().copied().collect();
        called.extend(
            symbols.keys().map(String::as_str).filter(|name| names.contains(name) && !known.contains(name)),
        );
    }
    table::print_overwritten_progress_line("");
    ensure!(!called.is_empty(), "callgrind named no function of ours");
    let patterns = linker_patterns(&called, &symbols);
    let lines: String = patterns.iter().map(|pattern| format!("    *(.text.{pattern})\n")).collect();
    std::fs::write(
        crate::workspace_root().join(LINKER_SCRIPT),
        format!("{SCRIPT_HEAD}{lines}{SCRIPT_TAIL}"),
    )?;
    println!("{LINKER_SCRIPT}: {} functions that hooks call", patterns.len());
    Ok(true)
}

fn function_sizes(bin: &Path) -> Result<BTreeMap<String, u64>> {
    let listed = Command::new("nm").arg("--print-size").arg(bin).output().context("starting nm")?;
    let text = String::from_utf8_lossy(&listed.stdout);
    let function = |line: &str| match line.split(' ').collect::<Vec<_>>()[..] {
        [_, size, "t" | "T" | "w" | "W", name] => {
            Some((name.to_owned(), u64::from_str_radix(size, 16).ok()?))
        }
        _ => None,
    };
    Ok(text.lines().filter_map(function).collect())
}

/// Returns the functions in callgrind's log: `fn=name` and, for a function that calls itself, `fn=name'2`.
fn called_functions(log: &str) -> HashSet<&str> {
    let names = log.lines().filter_map(|line| line.strip_prefix("fn="));
    names.map(|name| name.split_once('\'').map_or(name, |(name, _)| name)).collect()
}

/// Returns the patterns for these functions. All instances of a generic function share one pattern.
fn linker_patterns(called: &[&str], symbols: &BTreeMap<String, u64>) -> Vec<String> {
    let mut sizes: BTreeMap<String, u64> = BTreeMap::new();
    for (name, size) in symbols {
        *sizes.entry(linker_pattern(name).unwrap_or_default()).or_default() += size;
    }
    let mut needed: BTreeMap<String, u64> = BTreeMap::new();
    for name in called {
        *needed.entry(linker_pattern(name).unwrap_or_default()).or_default() += symbols[*name];
    }
    let mut taken = HashSet::new();
    let wanted =
        called.iter().filter_map(|name| linker_pattern(name)).filter(|pattern| taken.insert(pattern.clone()));
    let (own, shared): (Vec<_>, Vec<_>) =
        wanted.partition(|pattern| sizes[pattern] <= 2 * needed[pattern] + MAX_UNCALLED_BYTES);
    [own, shared].concat()
}

/// Returns a pattern for a Rust name without the parts that differ between builds. Returns `None` for any other name.
fn linker_pattern(name: &str) -> Option<String> {
    let name = name.split_once(".llvm.").map_or(name, |(name, _)| name);
    if name.starts_with("_ZN") {
        let (path, hash) = name.rsplit_once("17h")?;
        return (hash.len() == 17).then(|| format!("{path}17h*"));
    }
    let mut parts = name.strip_prefix("_R")?.split("Cs");
    let mut pattern = format!("_R{}", parts.next()?);
    for part in parts {
        // After `Cs`, a mangled name has the hash of a crate, then an underscore, then the crate's name.
        let (_, rest) = part.split_once('_')?;
        pattern.push_str("Cs*_");
        pattern.push_str(rest);
    }
    Some(pattern + "*")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_the_name_without_hashes() {
        let cases = [
            ("_ZN5model6redact4find17heca866fec920b50aE", Some("_ZN5model6redact4find17h*")),
            ("_ZN5model6redact4find17heca866fec920b50aE.llvm.123", Some("_ZN5model6redact4find17h*")),
            ("_RNvNtCsabc123_4core3fmt5write", Some("_RNvNtCs*_4core3fmt5write*")),
            ("_RNvCsa1_7___rustc12___rust_alloc", Some("_RNvCs*_7___rustc12___rust_alloc*")),
            ("memcpy", None),
        ];
        for (name, expected) in cases {
            assert_eq!(linker_pattern(name).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn callgrind_names_functions() {
        assert_eq!(called_functions("fn=a\n5 1\ncfn=b\nfn=c'2\n"), HashSet::from(["a", "c"]));
    }

    #[test]
    fn names_that_bring_much_else_come_last() {
        let name = |path: &str, hash: char| format!("_ZN{path}17h{}E", String::from(hash).repeat(16));
        let (many, one) = (name("4many", 'a'), name("3one", 'c'));
        let symbols =
            BTreeMap::from([(many.clone(), 10), (name("4many", 'b'), 9_000), (one.clone(), 50_000)]);
        assert_eq!(linker_patterns(&[&many, &one], &symbols), ["_ZN3one17h*", "_ZN4many17h*"]);
    }

    #[test]
    fn the_file_is_one_that_this_writes() {
        let text = std::fs::read_to_string(crate::workspace_root().join(LINKER_SCRIPT)).unwrap();
        let lines = text.strip_prefix(SCRIPT_HEAD).unwrap().strip_suffix(SCRIPT_TAIL).unwrap();
        assert!(lines.lines().count() > 100);
        assert!(lines.lines().all(|line| line.starts_with("    *(.text._") && line.ends_with(')')));
    }
}
