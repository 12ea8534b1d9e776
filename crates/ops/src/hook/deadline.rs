//! How long an event may take. There is one clock for all of it: what one lock was waited for is missing to the next.

use std::time::{Duration, Instant};

use model::config::Settings;
use model::event::Kind;

/// What must be quick gets this part of the time: a tool call and a compaction hold up the agent itself.
const QUICK: u32 = 4;

/// Made once, at the start; whoever waits asks it anew.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    since: Instant,
    whole: Duration,
    /// The most that one lock is waited for.
    one: Duration,
}

impl Deadline {
    /// An event's. A lock is waited for at most half of it.
    pub fn of_event(kind: Option<&Kind>, settings: &Settings, since: Instant) -> Deadline {
        let whole = Duration::from_millis(settings.hooks_deadline_ms);
        let whole = match kind {
            Some(Kind::ToolDone(_) | Kind::BeforeCompact { .. }) => whole / QUICK,
            Some(
                Kind::SessionStart { .. }
                | Kind::Prompt { .. }
                | Kind::Summary { .. }
                | Kind::AfterCompact { .. }
                | Kind::SubagentStart
                | Kind::SubagentStop { .. }
                | Kind::Stop(_)
                | Kind::SessionEnd { .. }
                | Kind::Other { .. },
            )
            | None => whole,
        };
        Deadline { since, whole, one: whole / 2 }
    }

    /// A command's, for whoever can also be called by a hook.
    pub fn within(whole: Duration) -> Deadline {
        Deadline { since: Instant::now(), whole, one: whole }
    }

    /// How long a lock may be waited for now. At nothing it is still tried once.
    pub fn wait(self) -> Duration {
        self.one.min(self.left())
    }

    /// When it is over.
    pub fn end(self) -> Instant {
        self.since + self.whole
    }

    pub fn left(self) -> Duration {
        self.whole.saturating_sub(self.since.elapsed())
    }

    /// The same once more, after what has its own time: a loop's validators.
    pub fn anew(self) -> Deadline {
        Deadline { since: Instant::now(), ..self }
    }
}

#[cfg(test)]
#[path = "deadline_tests.rs"]
mod tests;
