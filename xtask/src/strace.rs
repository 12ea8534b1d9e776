//! Reads strace's output.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

/// Returns an error if strace is not installed. Without strace, `unsafe` code would be needed to count individual
/// system calls or to make them fail.
pub fn require_strace() -> Result<()> {
    if is_strace_installed() {
        return Ok(());
    }
    bail!(
        "strace is not installed (apt-get install strace; ./test.sh installs it when run as root); it exists on Linux only"
    );
}

pub fn is_strace_installed() -> bool {
    Command::new("strace")
        .arg("-V")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|s| s.success())
}

/// One system call in a log that `strace -f -o FILE` wrote.
#[derive(Debug, PartialEq, Eq)]
pub struct SystemCall<'a> {
    pub name: &'a str,
    /// The text between the parentheses, as printed.
    pub arguments: &'a str,
    pub injected: bool,
    pub failed: bool,
    /// The return value, unless it is negative or not a number.
    pub returned: Option<usize>,
}

impl SystemCall<'_> {
    /// Returns the first string among the arguments. For most calls, this is the path.
    pub fn path(&self) -> Option<&str> {
        let start = self.arguments.find('"')? + 1;
        let length = self.arguments[start..].find('"')?;
        Some(&self.arguments[start..start + length])
    }
}

/// Returns all calls in order. If a line from another thread splits a call in two, the position of its first half
/// counts.
pub fn parse_strace_log(log: &str) -> impl Iterator<Item = SystemCall<'_>> {
    log.lines().filter_map(parse_call)
}

fn parse_call(line: &str) -> Option<SystemCall<'_>> {
    // With `-f`, every line begins with the process id.
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
    let open = rest.find('(')?;
    let name = &rest[..open];
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return None; // a signal, an exit, or `<... read resumed>`
    }
    let (before, result) = match rest.rsplit_once(" = ") {
        // strace pads short calls, so that the results are in one column.
        Some((before, result)) if before.trim_end().ends_with(')') => (before.trim_end(), result),
        _ => (rest, ""),
    };
    Some(SystemCall {
        name,
        arguments: before.get(open + 1..).map_or("", |rest| rest.strip_suffix(')').unwrap_or(rest)),
        injected: result.contains("(INJECTED)"),
        failed: result.starts_with("-1 "),
        returned: result.split(' ').next().and_then(|number| number.parse().ok()),
    })
}

/// The calls that differ from all earlier calls. The keys are the kind of a call and its number. The value is the
/// call's arguments, without the values that change from run to run.
pub type FirstDistinctCallsByKind = BTreeMap<String, BTreeMap<usize, String>>;

/// Returns the calls that differ from every earlier call. Calls are counted from 1 in each process, like strace's
/// `when=`. Opening the same file again is not a different call, and neither is opening a file whose name differs only in
/// its ids or times. The log needs `-y`, which adds the names of the files.
pub fn first_distinct_system_calls(log: &str) -> FirstDistinctCallsByKind {
    let mut seen = HashSet::new();
    let mut numbers: HashMap<(&str, &str), usize> = HashMap::new();
    let mut firsts = FirstDistinctCallsByKind::new();
    for line in log.lines() {
        let Some(call) = parse_call(line) else { continue };
        // With `-f`, every line begins with the process id. Without `-f`, no line does.
        let process = line.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
        let number = numbers.entry((process, call.name)).or_default();
        *number += 1;
        let what = arguments_without_values(&call);
        if seen.insert((call.name, what.clone())) {
            firsts.entry(call.name.to_owned()).or_default().insert(*number, what);
        }
    }
    firsts
}

/// Returns the arguments of a call without the values that change from run to run: descriptors, ids, times, sizes, and
/// what a read returned.
fn arguments_without_values(call: &SystemCall) -> String {
    let arguments = match call.arguments.split_once(">, \"") {
        // A read that returns text and a read that finds the end of the file count as different calls. If the read at
        // the end fails, the program already has all of the text.
        Some((file, read)) if READING_CALLS.contains(&call.name) => {
            format!("{file} {}", if read.starts_with('"') { "end" } else { "text" })
        }
        _ => call.arguments.to_owned(),
    };
    let mut kept = String::with_capacity(arguments.len());
    let mut rest = arguments.as_str();
    while !rest.is_empty() {
        let word = rest.find(|c: char| !is_part_of_number(c)).unwrap_or(rest.len());
        let (number, after) = rest.split_at(word);
        kept.push_str(if number.contains(|c: char| c.is_ascii_digit()) { "#" } else { number });
        let between = after.find(is_part_of_number).unwrap_or(after.len());
        kept.push_str(&after[..between]);
        rest = &after[between..];
    }
    kept
}

const READING_CALLS: [&str; 3] = ["read", "pread64", "getdents64"];

/// Returns whether a character can be part of a number, a hash, an id or a time.
fn is_part_of_number(c: char) -> bool {
    c.is_ascii_hexdigit() || c == '-'
}

/// Returns whether a fault was injected. The whole log is searched, because the output of another process can separate
/// the mark from its call.
pub fn was_fault_injected(log: &str) -> bool {
    log.contains("(INJECTED)")
}

/// Returns whether the process was killed, by the injected fault or for another reason.
pub fn was_killed(log: &str) -> bool {
    log.contains("+++ killed by SIGKILL")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEST_LOG: &str = r#"123 execve("/bin/true", ["true"], 0x7ffd /* 1 var */) = 0
123 openat(AT_FDCWD, "/a (b) = c/root.json", O_RDONLY|O_CLOEXEC) = 3
123 read(3, "{\"x\": \") = 1\"}", 32) = 13
123 write(4, "line\n", 5) = -1 ENOSPC (No space left on device) (INJECTED)
124 futex(0x7f, FUTEX_WAIT <unfinished ...>
123 <... futex resumed>) = 0
123 --- SIGPIPE {si_signo=SIGPIPE} ---
123 close(4)                            = -1 EIO (Input/output error) (INJECTED)
123 exit_group(0) = ?
123 +++ exited with 0 +++
"#;

    #[test]
    fn calls_are_told_from_signals_and_exits() {
        let names: Vec<&str> = parse_strace_log(TEST_LOG).map(|call| call.name).collect();
        assert_eq!(names, ["execve", "openat", "read", "write", "futex", "close", "exit_group"]);
        assert!(!was_killed(TEST_LOG));
        assert!(was_killed("5 +++ killed by SIGKILL +++\n"));
    }

    #[test]
    fn injected_faults_and_paths_are_found() {
        let all: Vec<SystemCall> = parse_strace_log(TEST_LOG).collect();
        assert!(all[3].injected && all[3].failed);
        assert_eq!(all[3].arguments, "4, \"line\\n\", 5");
        assert!(!all[2].injected && !all[2].failed);
        assert_eq!((all[2].returned, all[3].returned), (Some(13), None));
        assert_eq!(all[1].path(), Some("/a (b) = c/root.json"));
        assert!(all[5].injected && all[5].failed);
        assert_eq!((all[5].arguments, all[5].path()), ("4", None));
    }

    #[test]
    fn a_call_that_was_made_before_is_not_the_first_of_its_kind() {
        let log = r#"1 openat(AT_FDCWD</p>, "a", O_RDONLY) = 3</p/a>
1 close(3</p/a>) = 0
2 openat(AT_FDCWD</p>, "b", O_RDONLY) = 3</p/b>
1 openat(AT_FDCWD</p>, "a", O_RDONLY) = 4</p/a>
1 close(4</p/a>) = 0
1 openat(AT_FDCWD</p>, "c", O_RDONLY) = 4</p/c>
"#;
        let firsts = first_distinct_system_calls(log);
        let numbers = |kind: &str| firsts[kind].keys().copied().collect::<Vec<_>>();
        assert_eq!(numbers("openat"), [1, 3]);
        assert_eq!(numbers("close"), [1]);
    }

    #[test]
    fn values_that_change_from_run_to_run_make_no_different_call() {
        let table: &[(&str, &str, bool)] = &[
            (
                "openat(3</p>, \"ab-01.json\", O_RDONLY) = 4",
                "openat(5</p>, \"cd-77.json\", O_RDONLY) = 6",
                true,
            ),
            (
                "openat(3</p>, \"root.json\", O_RDONLY) = 4",
                "openat(3</p>, \"plan.json\", O_RDONLY) = 4",
                false,
            ),
            ("openat(3</p>, \"a\", O_RDONLY) = 4", "openat(3</p>, \"a\", O_RDWR) = 4", false),
            ("read(3</p/a>, \"one\", 4096) = 3", "read(3</p/a>, \"other\", 8192) = 5", true),
            ("read(3</p/a>, \"one\", 4096) = 3", "read(3</p/a>, \"\", 4096) = 0", false),
            ("write(3</p/a>, \"one\", 3) = 3", "write(3</p/a>, \"two\", 3) = 3", false),
            ("write(3</p/a>, \"at 12\", 5) = 5", "write(3</p/a>, \"at 345\", 6) = 6", true),
        ];
        for (first, second, are_same) in table {
            let firsts = first_distinct_system_calls(&format!("1 {first}\n1 {second}\n"));
            let distinct: usize = firsts.values().map(BTreeMap::len).sum();
            assert_eq!(distinct, if *are_same { 1 } else { 2 }, "{first} and {second}");
        }
    }
}
