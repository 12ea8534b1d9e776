//! The face a harness sees: payload in, reply out, exit 0 whatever happens.

use std::ffi::OsString;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use ops::World;
use ops::hook::Call;

use crate::{output, world};

/// No payload of use is larger. The rest is read and dropped, so that the harness can finish writing.
const LARGEST: usize = 16 * 1024 * 1024;

/// A harness that has begun to write and then says nothing for so long has broken off.
const SILENCE: Duration = Duration::from_millis(200);

/// The longest that a payload may take in all, and to begin: a harness under load starts us long before it writes.
const PATIENCE: Duration = Duration::from_secs(1);

/// `words` is what stands behind `thru hook`. Anything but an exit code of 0 could be a veto to a harness, so even a
/// call that makes no sense gets one, with a word on stderr for whoever tried it by hand.
pub fn run(words: &[OsString], started: Instant) {
    let [harness, event, ..] = words else {
        output::talk("thru hook wants a harness and an event; nothing was done");
        return;
    };
    let (harness, event) = (&harness.to_string_lossy(), &event.to_string_lossy());
    // A panic must not show either: the harness prints what a hook writes to stderr.
    std::panic::set_hook(Box::new(|_| {}));
    let reply = catch_unwind(AssertUnwindSafe(|| {
        // The process ends with its event: giving the memory back first would only be more work.
        let payload = ManuallyDrop::new(read_payload(started));
        let now = world::now().unwrap_or_else(|_| Timestamp::now());
        ops::hook::run(&hook_world(now), &Call { harness, event, payload: &payload, started })
    }));
    match reply {
        Ok(reply) if reply.is_empty() => {}
        Ok(reply) => {
            let _ = output::print_reply(&reply);
        }
        Err(panic) => {
            let why = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let why = why.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            let call = Call { harness, event, payload: b"", started };
            let _ = catch_unwind(AssertUnwindSafe(|| {
                ops::hook::receipt::panicked(&hook_world(Timestamp::now()), &call, &why);
            }));
        }
    }
}

fn hook_world(now: Timestamp) -> World<'static> {
    World { var: &world::var, cwd: None, root: None, program: PathBuf::new(), now, user: world::user() }
}

/// As much as comes in time; what is missing shows when it is decoded. A whole object is all there will be: whether the
/// harness then closes the pipe is its own business.
fn read_payload(started: Instant) -> Vec<u8> {
    // Small enough for the first piece of memory that the allocator asks for: a second piece is another system call.
    let mut payload = Vec::with_capacity(32 * 1024);
    while is_more_coming(started, if payload.is_empty() { PATIENCE } else { SILENCE }) {
        // What is large is very large: better one step that is paid for as it is filled than many copies.
        if payload.len() == payload.capacity() {
            payload.reserve_exact((LARGEST / 4).max(payload.len()));
        }
        match rustix::io::read(rustix::stdio::stdin(), rustix::buffer::spare_capacity(&mut payload)) {
            Ok(0) => break,
            Ok(_) if payload.len() >= LARGEST => {
                drop_the_rest(started);
                break;
            }
            Ok(_) if ops::hook::is_whole(&payload) => break,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => break,
        }
    }
    payload
}

/// Waits until there is something to read, or the end of it. False where the time for that is over.
fn is_more_coming(started: Instant, most: Duration) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let left = PATIENCE.saturating_sub(started.elapsed());
    let wait = left.min(most);
    let wait = Timespec { tv_sec: wait.as_secs().cast_signed(), tv_nsec: wait.subsec_nanos().into() };
    let stdin = rustix::stdio::stdin();
    match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&wait)) {
        Ok(ready) => ready > 0 && !left.is_zero(),
        Err(error) => error == rustix::io::Errno::INTR,
    }
}

fn drop_the_rest(started: Instant) {
    let mut dropped = vec![0; 64 * 1024];
    while is_more_coming(started, SILENCE)
        && rustix::io::read(rustix::stdio::stdin(), &mut dropped).is_ok_and(|read| read > 0)
    {}
}
