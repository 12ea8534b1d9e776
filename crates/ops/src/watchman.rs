//! Ctrl-C ends us, and not what we have started: that has process groups of its own, so that a timeout can end all of it.
//! So there is one who stays in our group, is interrupted with us, and passes it on.
//!
//! When we are killed in any other way (a harness that loses patience, say), what runs may finish its work: the next run
//! finds it there.

use std::io::Write;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// A shell, because it can catch a signal without code that the compiler cannot check. Told of groups as they come and go.
/// An interrupt may end a `read` early: what was said before it is heard to its end, which comes when we are gone.
const SCRIPT: &str = r#"
groups=' '
interrupted=
trap 'interrupted=yes' INT QUIT
listen() {
    while read -r what group; do
        case $what in
            +) groups="$groups$group " ;;
            -) groups="${groups%% $group *} ${groups#* $group }" ;;
        esac
    done
}
listen
test -n "$interrupted" || exit 0
listen
for group in $groups; do kill -s TERM -- "-$group"; done
"#;

#[derive(Debug)]
pub struct Watchman {
    on_duty: Mutex<Option<(Child, ChildStdin)>>,
}

impl Watchman {
    /// Without a shell there is none, and an interrupt leaves things running.
    pub fn start() -> Watchman {
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let started =
            command.spawn().ok().and_then(|mut child| child.stdin.take().map(|stdin| (child, stdin)));
        Watchman { on_duty: Mutex::new(started) }
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

impl Drop for Watchman {
    fn drop(&mut self) {
        let on_duty = self.on_duty.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some((mut child, stdin)) = on_duty.take() {
            drop(stdin);
            let _ = child.wait();
        }
    }
}
