use super::*;
use crate::{HARNESSES, OTHERS, by_name, mention_for, names};

#[test]
fn every_gap_is_said_and_nothing_else() {
    let whole = by_name("claude-code").unwrap();
    assert_eq!(whole.gaps(), [""; 0]);
    let droid = by_name("droid").unwrap().gaps();
    assert_eq!(
        droid,
        [
            "no hook for a tool that failed: found in the transcript at the next stop",
            "no hook for an automatic compaction: found in the transcript at the next prompt or stop",
            "no hook for the prompt of a one-shot `droid exec`: found in the transcript at the stop",
            "no hook after a compaction",
            "no hook when a sub-agent starts",
            "hooks do not say which sub-agent has stopped: `thru gate check` judges outputs, hooks do not",
            "a hook cannot replace a tool's output: large outputs are not summarised",
        ]
    );
}

#[test]
fn what_a_harness_does_its_own_way_is_said_too() {
    let opencode = by_name("opencode").unwrap();
    assert_eq!(opencode.gaps(), opencode.limits);
}

#[test]
fn rows_agree_with_their_capabilities() {
    for harness in HARNESSES {
        let name = harness.name;
        // Without these events nothing can be captured or restored, and there are no loops.
        for event in [EventName::SessionStart, EventName::ToolDone, EventName::BeforeCompact, EventName::Stop]
        {
            assert!(harness.reports(event), "{name}: {}", event.name());
        }
        if harness.capabilities.reports_every_prompt() {
            assert!(harness.reports(EventName::Prompt), "{name}");
        }
        let summary = harness.events.iter().any(|wired| wired.neutral == EventName::Other);
        assert!(!summary, "{name}: nothing is wired that we do not act on");
        for (index, wired) in harness.events.iter().enumerate() {
            let twice = harness.events[..index].iter().any(|other| other.event == wired.event);
            assert!(!twice, "{name}: {} is wired twice", wired.event);
        }
    }
}

#[test]
fn every_name_is_of_one_harness() {
    let words: Vec<&str> =
        names().chain(HARNESSES.iter().flat_map(|harness| harness.aliases).copied()).collect();
    for (index, word) in words.iter().enumerate() {
        assert!(!words[..index].contains(word), "{word} is there twice");
        assert!(mention_for(word).is_some(), "{word}");
    }
    assert!(
        OTHERS.iter().all(|other| by_name(other.name).is_none()),
        "an adapter takes the place of the name"
    );
    assert_eq!(mention_for("emacs"), None);
}
