//! A terminal for tests. It receives both output streams of a command and keeps all output.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

/// Runs the command on a terminal, with `input` piped to its stdin. Returns what the terminal received, and the exit
/// code.
pub fn run_on_terminal(mut command: Command, input: &[u8]) -> (Vec<u8>, i32) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let slave = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    // In raw mode, the terminal does not write a carriage return before each line feed.
    let mut modes = tcgetattr(&slave).unwrap();
    modes.make_raw();
    tcsetattr(&slave, OptionalActions::Now, &modes).unwrap();
    command.stdin(Stdio::piped()).stdout(slave.try_clone().unwrap()).stderr(slave);
    let mut child = command.spawn().unwrap();
    // `command` also keeps the terminal open. Drop it, because the test reads until the terminal is closed.
    drop(command);
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let mut seen = Vec::new();
    // When a terminal is closed, reading returns an error instead of an end of file.
    let _ = File::from(master).read_to_end(&mut seen);
    (seen, child.wait().unwrap().code().unwrap_or(-1))
}
