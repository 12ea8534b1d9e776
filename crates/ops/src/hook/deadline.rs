//! How long the handling of an event may take. All work for an event shares one deadline, so time spent waiting for
//! one lock is not available for the next.

use std::time::{Duration, Instant};

use model::config::Settings;
use model::event::EventKind;

/// The agent waits during tool calls and compactions, so for these the time limit is divided by this number.
const QUICK_EVENT_DIVISOR: u32 = 4;

/// A deadline, counted from the start of the process. Every wait is limited to the time that is left.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    start: Instant,
    total_time: Duration,
    /// The longest wait for one lock.
    max_lock_wait: Duration,
}

impl Deadline {
    /// Returns the deadline for an event. The wait for a single lock may take at most half of that time.
    pub fn of_event(kind: Option<&EventKind>, settings: &Settings, start: Instant) -> Deadline {
        let whole = Duration::from_millis(settings.hooks_deadline_ms);
        let whole = match kind {
            Some(EventKind::ToolDone(_) | EventKind::BeforeCompact { .. }) => whole / QUICK_EVENT_DIVISOR,
            Some(
                EventKind::SessionStart { .. }
                | EventKind::Prompt { .. }
                | EventKind::Summary { .. }
                | EventKind::AfterCompact { .. }
                | EventKind::SubagentStart
                | EventKind::SubagentStop { .. }
                | EventKind::Stop(_)
                | EventKind::SessionEnd { .. }
                | EventKind::Other { .. },
            )
            | None => whole,
        };
        Deadline { start, total_time: whole, max_lock_wait: whole / 2 }
    }

    /// Returns the deadline for a command that runs code shared with hooks.
    pub fn of_command(total_time: Duration) -> Deadline {
        Deadline { start: Instant::now(), total_time, max_lock_wait: total_time }
    }

    /// Returns how long to wait for a lock. Even if the result is zero, the lock is tried once.
    pub fn lock_wait(self) -> Duration {
        self.max_lock_wait.min(self.time_left())
    }

    pub fn end(self) -> Instant {
        self.start + self.total_time
    }

    pub fn time_left(self) -> Duration {
        self.total_time.saturating_sub(self.start.elapsed())
    }

    /// Returns a deadline with the same time limit, counted from now. This is used after validators have run, because
    /// they have their own time limit.
    pub fn restarted(self) -> Deadline {
        Deadline { start: Instant::now(), ..self }
    }
}

#[cfg(test)]
#[path = "deadline_tests.rs"]
mod tests;
