//! Kills the process groups that thru started, if thru itself is killed.
//!
//! Each launched command has its own process group, so that a timeout can end the command and everything it started.
//! If thru crashes, or is killed by Ctrl-C or by its harness, nothing else ends these groups. thru therefore starts a
//! child `sh` that reads from a pipe. When the pipe is closed, the child sends SIGTERM and then SIGKILL to the
//! groups. If the child is killed too, the groups keep running, and the next run finds them.

use std::io::Write;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// The script that the child runs. It is a shell script, because catching a signal in Rust needs unsafe code. The
/// script reads a line for each group that starts or ends, and a line when thru ends normally. A signal may interrupt
/// `read`, but lines written before the signal are still read.
const REAPER_SCRIPT: &str = r#"
groups=' '
trap 'signalled=yes' INT QUIT TERM HUP
listen() {
    while read -r what group; do
        case $what in
            +) groups="$groups$group " ;;
            -) groups="${groups%% $group *} ${groups#* $group }" ;;
            .) exit 0 ;;
        esac
    done
}
signalled=yes
while test -n "$signalled"; do
    signalled=
    listen
done
all() { for group in $groups; do kill -s "$1" -- "-$group"; done; }
test "$groups" = ' ' && exit 0
all TERM
sleep 0.5
all KILL
"#;

#[derive(Debug)]
pub struct ProcessReaper {
    child: Mutex<Option<(Child, ChildStdin)>>,
}

impl ProcessReaper {
    /// Starts the reaper. If there is no `sh`, there is no reaper, and launched processes may outlive thru.
    pub fn start() -> ProcessReaper {
        let mut command = Command::new("sh");
        command.args(["-c", REAPER_SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let started =
            command.spawn().ok().and_then(|mut child| child.stdin.take().map(|stdin| (child, stdin)));
        ProcessReaper { child: Mutex::new(started) }
    }

    pub(crate) fn add_process_group(&self, group: u32) {
        self.send_to_child('+', group);
    }

    pub(crate) fn forget_process_group(&self, group: u32) {
        self.send_to_child('-', group);
    }

    fn send_to_child(&self, what: char, group: u32) {
        let mut on_duty = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, stdin)) = on_duty.as_mut() {
            let _ = stdin.write_all(format!("{what} {group}\n").as_bytes());
        }
    }
}

impl Drop for ProcessReaper {
    fn drop(&mut self) {
        let on_duty = self.child.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some((mut child, mut stdin)) = on_duty.take() {
            let _ = stdin.write_all(b".\n");
            drop(stdin);
            let _ = child.wait();
        }
    }
}
