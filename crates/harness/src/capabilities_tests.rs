use super::*;
use crate::{HARNESSES, OTHER_HARNESSES, harness_by_name, harness_names, mention_style};

#[test]
fn every_gap_is_said_and_nothing_else() {
    let whole = harness_by_name("claude-code").unwrap();
    assert_eq!(whole.describe_gaps(), [""; 0]);
    let droid = harness_by_name("droid").unwrap().describe_gaps();
    assert_eq!(
        droid,
        [
            "no hook reports failed tool calls, so they are read from the transcript at the next stop",
            "no hook reports an automatic compaction, so it is read from the transcript at the next prompt or stop",
            "no hook reports the prompt of a one-shot `droid exec`, so it is read from the transcript when the agent stops",
            "no hook after a compaction",
            "no hook when a sub-agent starts",
            "hooks do not say which sub-agent has stopped, so only `thru gate check` judges outputs",
            "a hook cannot replace a tool's output, so large outputs are not summarised",
        ]
    );
}

#[test]
fn what_a_harness_does_its_own_way_is_said_too() {
    let opencode = harness_by_name("opencode").unwrap();
    assert_eq!(opencode.describe_gaps(), opencode.limitations);
}

#[test]
fn rows_agree_with_their_capabilities() {
    for harness in HARNESSES {
        let name = harness.name;
        // Without these events, nothing can be captured or restored, and loops do not work.
        for event in [EventName::SessionStart, EventName::ToolDone, EventName::BeforeCompact, EventName::Stop]
        {
            assert!(harness.reports_event(event), "{name}: {}", event.name());
        }
        if harness.capabilities.reports_every_prompt() {
            assert!(harness.reports_event(EventName::Prompt), "{name}");
        }
        let summary = harness.events.iter().any(|wired| wired.our_event == EventName::Other);
        assert!(!summary, "{name}: nothing is wired that we do not act on");
        for (index, wired) in harness.events.iter().enumerate() {
            let twice =
                harness.events[..index].iter().any(|other| other.harness_event == wired.harness_event);
            assert!(!twice, "{name}: {} is wired twice", wired.harness_event);
        }
    }
}

#[test]
fn every_name_is_of_one_harness() {
    let words: Vec<&str> =
        harness_names().chain(HARNESSES.iter().flat_map(|harness| harness.aliases).copied()).collect();
    for (index, word) in words.iter().enumerate() {
        assert!(!words[..index].contains(word), "{word} is there twice");
        assert!(mention_style(word).is_some(), "{word}");
    }
    assert!(
        OTHER_HARNESSES.iter().all(|other| harness_by_name(other.name).is_none()),
        "an adapter takes the place of the name"
    );
    assert_eq!(mention_style("emacs"), None);
}
