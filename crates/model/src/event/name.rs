//! Event names for tables, the command line, journals and receipts.

/// The kinds of events, without their content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

    pub fn parse(text: &str) -> Option<EventName> {
        EventName::ALL.into_iter().find(|event| event.name() == text)
    }
}

/// A set of event names, stored as bits so that a lookup takes one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventSet(u16);

impl EventSet {
    pub const NO_EVENTS: EventSet = EventSet(0);

    pub const fn from_names(events: &[EventName]) -> EventSet {
        let (mut bits, mut at) = (0, 0);
        while at < events.len() {
            bits |= 1 << events[at] as u16;
            at += 1;
        }
        EventSet(bits)
    }

    pub const fn contains(self, event: EventName) -> bool {
        self.0 & (1 << event as u16) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_sets_hold_what_was_put_in() {
        for event in EventName::ALL {
            assert_eq!(EventName::parse(event.name()), Some(event));
            assert!(EventSet::from_names(&[event]).contains(event) && !EventSet::NO_EVENTS.contains(event));
            let others = EventName::ALL.into_iter().filter(|other| *other != event);
            assert!(others.into_iter().all(|other| !EventSet::from_names(&[event]).contains(other)));
        }
        assert_eq!(EventName::parse("Stop"), None);
    }
}
