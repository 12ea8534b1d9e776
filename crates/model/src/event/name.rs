//! The neutral events by name, and sets of them.

/// What an event is called in journals, receipts, `thru hook` and the rows of harnesses and features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum EventName {
    SessionStart,
    Prompt,
    ToolDone,
    BeforeCompact,
    Summary,
    AfterCompact,
    SubagentStart,
    SubagentStop,
    Stop,
    SessionEnd,
    /// Well-formed, and nothing we act on.
    Other,
}

impl EventName {
    pub const ALL: [EventName; 11] = [
        EventName::SessionStart,
        EventName::Prompt,
        EventName::ToolDone,
        EventName::BeforeCompact,
        EventName::Summary,
        EventName::AfterCompact,
        EventName::SubagentStart,
        EventName::SubagentStop,
        EventName::Stop,
        EventName::SessionEnd,
        EventName::Other,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            EventName::SessionStart => "session-start",
            EventName::Prompt => "prompt",
            EventName::ToolDone => "tool-done",
            EventName::BeforeCompact => "before-compact",
            EventName::Summary => "summary",
            EventName::AfterCompact => "after-compact",
            EventName::SubagentStart => "subagent-start",
            EventName::SubagentStop => "subagent-stop",
            EventName::Stop => "stop",
            EventName::SessionEnd => "session-end",
            EventName::Other => "other",
        }
    }

    /// None for a name that this version does not know.
    pub fn parse(name: &str) -> Option<EventName> {
        EventName::ALL.into_iter().find(|event| event.name() == name)
    }
}

/// A set of events, as a constant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventSet(u16);

impl EventSet {
    pub const fn of(events: &[EventName]) -> EventSet {
        let mut bits = 0;
        let mut index = 0;
        // `for` cannot be used in a constant function.
        while index < events.len() {
            bits |= 1 << events[index] as u8;
            index += 1;
        }
        EventSet(bits)
    }

    pub const fn contains(self, event: EventName) -> bool {
        self.0 & (1 << event as u8) != 0
    }
}

#[cfg(test)]
#[path = "name_tests.rs"]
mod tests;
