//! Runs a program on its own terminal, into which the test can type. The program is ended when the [`TestTerminal`] is
//! dropped.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process_group};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::process::WAIT_LIMIT;

const TERMINAL_SIZE: Winsize = Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };

#[derive(Debug)]
pub struct TestTerminal {
    keyboard: File,
    child: Child,
    screen: Arc<Mutex<Vec<u8>>>,
}

impl TestTerminal {
    pub fn start(mut command: Command) -> TestTerminal {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&master).expect("it is ours");
        unlockpt(&master).expect("it is ours");
        tcsetwinsize(&master, TERMINAL_SIZE).expect("a size");
        let name = ptsname(&master, Vec::new()).expect("a name");
        let name = name.to_str().expect("a plain name");
        let open = || File::options().read(true).write(true).open(name).expect("its other end");
        command.stdin(open()).stdout(open()).stderr(open()).process_group(0);
        let child = command.spawn().unwrap_or_else(|error| panic!("starting {command:?}: {error}"));
        // `command` owns the other ends of the terminal. The terminal is closed only when all of them are closed.
        drop(command);
        let keyboard = File::from(master);
        let mut reader = keyboard.try_clone().expect("another handle");
        let screen = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&screen);
        std::thread::spawn(move || {
            let mut piece = [0; 16 * 1024];
            while let Ok(n @ 1..) = reader.read(&mut piece) {
                seen.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&piece[..n]);
            }
        });
        TestTerminal { keyboard, child, screen }
    }

    pub fn type_keys(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("somebody reads");
    }

    /// Returns everything that was written to the screen, including cursor movements.
    pub fn screen_output(&self) -> String {
        let screen = self.screen.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&screen).into_owned()
    }

    pub fn wait_for(&self, text: &str) {
        let limit = Instant::now() + WAIT_LIMIT;
        while !self.screen_output().contains(text) {
            assert!(
                Instant::now() < limit,
                "{text:?} on the screen within {WAIT_LIMIT:?}: {:?}",
                self.screen_output()
            );
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }
}

impl Drop for TestTerminal {
    fn drop(&mut self) {
        if let Some(group) = Pid::from_raw(self.child.id() as i32) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}
