use std::time::{Duration, Instant};

use model::config::Settings;
use model::event::EventKind;

use super::Deadline;

#[test]
fn time_already_waited_shortens_the_next_wait() {
    let ms = Duration::from_millis;
    let settings = Settings { hooks_deadline_ms: 200_000, ..Settings::default() };
    let compaction = EventKind::BeforeCompact { trigger: None, instructions: None };
    // (event, seconds since the start, longest wait for a lock in seconds)
    let rows = [(None, 0, 100), (None, 90, 100), (None, 150, 50), (None, 300, 0), (Some(&compaction), 0, 25)];
    for (kind, since, wait) in rows {
        let Some(began) = Instant::now().checked_sub(Duration::from_secs(since)) else { continue };
        let deadline = Deadline::of_event(kind, &settings, began);
        let waits = deadline.lock_wait();
        assert!(waits <= ms(wait * 1000) && waits + ms(5000) >= ms(wait * 1000), "{since}: {waits:?}");
        assert!(deadline.restarted().lock_wait() >= waits, "{since}");
    }
}
