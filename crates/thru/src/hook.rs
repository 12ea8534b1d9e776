//! The face a harness sees: payload in, reply out, exit 0 whatever happens.

use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use jiff::Timestamp;
use ops::World;
use ops::hook::Call;

use crate::world;

/// No payload of use is larger. The rest is read and dropped, so that the harness can finish writing.
const LARGEST: u64 = 16 * 1024 * 1024;

pub fn run(harness: &str, event: &str, started: Instant) {
    // A panic must not show either: the harness prints what a hook writes to stderr.
    std::panic::set_hook(Box::new(|_| {}));
    let reply = catch_unwind(AssertUnwindSafe(|| {
        let payload = read_payload();
        let now = world::now().unwrap_or_else(|_| Timestamp::now());
        let world = World { var: &world::var, cwd: None, root: None, now };
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
    let mut stdin = std::io::stdin().lock();
    let mut payload = Vec::with_capacity(64 * 1024);
    let _ = stdin.by_ref().take(LARGEST).read_to_end(&mut payload);
    if payload.len() as u64 == LARGEST {
        let _ = std::io::copy(&mut stdin, &mut std::io::sink());
    }
    payload
}
