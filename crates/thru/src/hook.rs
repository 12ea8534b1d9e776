//! The face a harness sees: payload in, reply out, exit 0 whatever happens.

use std::ffi::OsString;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::Instant;

use jiff::Timestamp;
use ops::World;
use ops::hook::Call;

use crate::world;

/// No payload of use is larger. The rest is read and dropped, so that the harness can finish writing.
const LARGEST: usize = 16 * 1024 * 1024;

/// `words` is what stands behind `thru hook`. Anything but an exit code of 0 could be a veto to a harness, so even a
/// call that makes no sense gets one, with a word on stderr for whoever tried it by hand.
pub fn run(words: &[OsString], started: Instant) {
    let [harness, event, ..] = words else {
        let _ = writeln!(std::io::stderr(), "thru hook wants a harness and an event; nothing was done");
        return;
    };
    let (harness, event) = (&harness.to_string_lossy(), &event.to_string_lossy());
    // A panic must not show either: the harness prints what a hook writes to stderr.
    std::panic::set_hook(Box::new(|_| {}));
    let reply = catch_unwind(AssertUnwindSafe(|| {
        let payload = read_payload();
        let now = world::now().unwrap_or_else(|_| Timestamp::now());
        let world = World { var: &world::var, cwd: None, root: None, program: PathBuf::new(), now };
        ops::hook::run(&world, &Call { harness, event, payload: &payload, started })
    }));
    if let Ok(reply) = reply
        && !reply.is_empty()
    {
        let _ = std::io::stdout().write_all(&reply).and_then(|()| std::io::stdout().flush());
    }
}

/// As much as can be read; what is missing shows when it is decoded.
fn read_payload() -> Vec<u8> {
    let mut payload = Vec::with_capacity(64 * 1024);
    loop {
        payload.reserve(32 * 1024);
        match rustix::io::read(rustix::stdio::stdin(), rustix::buffer::spare_capacity(&mut payload)) {
            Ok(0) => break,
            Ok(_) if payload.len() >= LARGEST => {
                let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
                break;
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => break,
        }
    }
    payload
}
