//! `thru hook`, which harnesses call. It reads a payload, prints a reply and always exits with 0.

use std::ffi::OsString;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use ops::World;
use ops::hook::HookCall;

use crate::{output, world};

/// The largest payload that is kept, in bytes. Real payloads are smaller. The remainder of a larger payload is read and
/// dropped, so that the harness can finish writing.
const MAX_PAYLOAD_BYTES: usize = 16 * 1024 * 1024;

/// The longest pause in the middle of a payload. After a longer pause, the harness is assumed to have given up.
const MAX_PAUSE_IN_PAYLOAD: Duration = Duration::from_millis(200);

/// The longest wait for a whole payload, which is also the limit for its first byte. A busy harness may write the
/// payload long after it started the hook.
const MAX_PAYLOAD_WAIT: Duration = Duration::from_secs(1);

/// Runs a hook. `words` are the arguments after `thru hook`. A harness could interpret an exit code other than 0 as a
/// veto, so even an invalid call exits with 0. For a person who tries the command, a message on stderr says what is
/// wrong.
pub fn run_hook(words: &[OsString], has_variables: bool, started_at: Instant) {
    let [harness, event, ..] = words else {
        output::print_message("thru hook needs a harness and an event; nothing was done");
        return;
    };
    let (harness, event) = (&harness.to_string_lossy(), &event.to_string_lossy());
    // A panic must be silent too, because the harness shows the stderr of a hook.
    std::panic::set_hook(Box::new(|_| {}));
    let reply = catch_unwind(AssertUnwindSafe(|| {
        // The process ends after the event is handled, so freeing memory would only waste time.
        let payload = ManuallyDrop::new(read_payload(started_at));
        let now = world::current_time().unwrap_or_else(|_| Timestamp::now());
        ops::hook::run_hook(
            &hook_world(now, has_variables),
            &HookCall { harness, event, payload: &payload, started_at },
        )
    }));
    match reply {
        Ok(reply) if reply.is_empty() => {}
        Ok(reply) => {
            let _ = output::print_reply(&reply);
        }
        Err(panic) => {
            let why = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let why = why.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            let call = HookCall { harness, event, payload: b"", started_at };
            let _ = catch_unwind(AssertUnwindSafe(|| {
                ops::hook::receipt::leave_receipt_after_panic(
                    &hook_world(Timestamp::now(), has_variables),
                    &call,
                    &why,
                );
            }));
        }
    }
}

pub fn hook_world(now: Timestamp, has_variables: bool) -> World<'static> {
    World {
        read_variable: &world::read_variable,
        has_variables,
        cwd: None,
        root: None,
        program_path: PathBuf::new(),
        now,
        time_for_reader: str::to_owned,
        user_id: world::effective_user_id(),
    }
}

/// Reads the part of the payload that arrives in time. The decoder notices if the payload is incomplete. Reading stops
/// at a complete object, even if the harness does not close the pipe.
pub fn read_payload(started: Instant) -> Vec<u8> {
    // This size fits into the allocator's first memory block. A second block would take another system call.
    let mut payload = Vec::with_capacity(32 * 1024);
    while wait_for_input(started, if payload.is_empty() { MAX_PAYLOAD_WAIT } else { MAX_PAUSE_IN_PAYLOAD }) {
        // A payload that does not fit into the buffer is usually very large. Growing the buffer once by a large amount
        // is cheaper than copying the payload many times.
        if payload.len() == payload.capacity() {
            payload.reserve_exact((MAX_PAYLOAD_BYTES / 4).max(payload.len()));
        }
        match rustix::io::read(rustix::stdio::stdin(), rustix::buffer::spare_capacity(&mut payload)) {
            Ok(0) => break,
            Ok(_) if payload.len() >= MAX_PAYLOAD_BYTES => {
                discard_remaining_input(started);
                break;
            }
            Ok(_) if ops::hook::is_complete_payload(&payload) => break,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => break,
        }
    }
    payload
}

/// Waits for input or for the end of the input. Returns false if neither comes in time.
fn wait_for_input(started: Instant, most: Duration) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let left = MAX_PAYLOAD_WAIT.saturating_sub(started.elapsed());
    let wait = left.min(most);
    let wait = Timespec { tv_sec: wait.as_secs().cast_signed(), tv_nsec: wait.subsec_nanos().into() };
    let stdin = rustix::stdio::stdin();
    match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&wait)) {
        Ok(ready) => ready > 0 && !left.is_zero(),
        Err(error) => error == rustix::io::Errno::INTR,
    }
}

fn discard_remaining_input(started: Instant) {
    let mut dropped = vec![0; 64 * 1024];
    while wait_for_input(started, MAX_PAUSE_IN_PAYLOAD)
        && rustix::io::read(rustix::stdio::stdin(), &mut dropped).is_ok_and(|read| read > 0)
    {}
}
