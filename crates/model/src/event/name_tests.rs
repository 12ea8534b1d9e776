use super::*;

#[test]
fn every_name_is_read_back() {
    for (place, event) in EventName::ALL.into_iter().enumerate() {
        assert_eq!(event as usize, place, "{} stands in the order of the enum", event.name());
        assert_eq!(EventName::parse(event.name()), Some(event));
    }
    assert_eq!(EventName::parse("Stop"), None);
    assert_eq!(EventName::parse(""), None);
}

#[test]
fn a_set_holds_what_it_was_made_of_and_no_more() {
    const START_AND_OTHER: EventSet = EventSet::of(&[EventName::SessionStart, EventName::Other, EventName::Other]);
    for event in EventName::ALL {
        let expected = matches!(event, EventName::SessionStart | EventName::Other);
        assert_eq!(START_AND_OTHER.contains(event), expected, "{}", event.name());
        assert!(EventSet::of(&EventName::ALL).contains(event));
        assert!(!EventSet::of(&[]).contains(event));
    }
}
