//! However we end, what we have started ends with us: it has process groups of its own, so that a timeout can end all of it,
//! and nobody else would. So there is one who hears that we are gone (Ctrl-C, a harness that loses patience, a crash) and ends
//! them.
//!
//! Only who kills him too leaves things running: the next run finds them.

use std::io::Write;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// A shell, because it can catch a signal without code that the compiler cannot check. TranscriptRecord of groups as they come and go,
/// and of a good end. A signal may end a `read` early: what was said before it is heard to its end, which comes when we are
/// gone.
const SCRIPT: &str = r#"
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
    on_duty: Mutex<Option<(Child, ChildStdin)>>,
}

impl ProcessReaper {
    /// Without a shell there is none, and our end leaves things running.
    pub fn start() -> ProcessReaper {
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let started =
            command.spawn().ok().and_then(|mut child| child.stdin.take().map(|stdin| (child, stdin)));
        ProcessReaper { on_duty: Mutex::new(started) }
    }

    pub(crate) fn began(&self, group: u32) {
        self.tell('+', group);
    }

    pub(crate) fn ended(&self, group: u32) {
        self.tell('-', group);
    }

    fn tell(&self, what: char, group: u32) {
        let mut on_duty = self.on_duty.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, stdin)) = on_duty.as_mut() {
            let _ = stdin.write_all(format!("{what} {group}\n").as_bytes());
        }
    }
}

impl Drop for ProcessReaper {
    fn drop(&mut self) {
        let on_duty = self.on_duty.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some((mut child, mut stdin)) = on_duty.take() {
            let _ = stdin.write_all(b".\n");
            drop(stdin);
            let _ = child.wait();
        }
    }
}
