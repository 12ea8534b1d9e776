use model::loops::pointer::Pointer;
use model::loops::{Loop, Record, Status};

use super::{LoopUse, meant};

fn known(id: &str, status: Status, session: &str, at: &str) -> Loop {
    let text = format!(
        "---\nid: {id}\ncreated_at: {at}\nupdated_at: {at}\nstatus: {}\niteration: 1\nmax_iterations: 0\n\
         completion_promise: null\nsession_id: {session}\n---\n\n## Loop Prompt\n\ngo on\n\n## Notes\n",
        status.name()
    );
    Record::parse(text.into_bytes()).unwrap().state
}

#[test]
fn which_loop_is_meant_when_none_is_named() {
    let loops = [
        known("a", Status::Active, "s1", "2026-01-01T00:00:00Z"),
        known("b", Status::Active, "s2", "2026-01-02T00:00:00Z"),
        known("c", Status::Paused, "s1", "2026-01-03T00:00:00Z"),
        known("d", Status::Paused, "s1", "2026-01-04T00:00:00Z"),
        known("e", Status::Cancelled, "s3", "2026-01-05T00:00:00Z"),
    ];
    let mut pointer = Pointer::default();
    pointer.set("a", "s1");
    pointer.set("b", "s2");
    let cases: [(LoopUse, Option<&str>, &[&str]); 10] = [
        // Inside a session only its own loops can be meant.
        (LoopUse::SetBack, Some("s1"), &["a"]),
        (LoopUse::SetBack, Some("s3"), &[]),
        (LoopUse::Resume, Some("s1"), &["d"]),
        (LoopUse::Resume, Some("s2"), &[]),
        (LoopUse::Look, Some("s2"), &["b"]),
        (LoopUse::Look, Some("s3"), &["e"]),
        (LoopUse::Look, Some("s4"), &[]),
        // At a terminal every loop can be meant.
        (LoopUse::SetBack, None, &["a", "b"]),
        (LoopUse::Resume, None, &["c", "d"]),
        (LoopUse::Look, None, &["b"]),
    ];
    let all: Vec<&Loop> = loops.iter().collect();
    for (aim, here, expected) in cases {
        let found: Vec<&str> = meant(aim, &all, &pointer, here).iter().map(|one| one.id.as_str()).collect();
        assert_eq!(found, expected, "{aim:?} {here:?}");
    }
    let one = [&loops[4]];
    assert_eq!(meant(LoopUse::Look, &one, &pointer, Some("s1")).len(), 1, "of one alone there is no doubt");
    assert_eq!(
        meant(LoopUse::SetBack, &one, &pointer, Some("s1")).len(),
        0,
        "but it is not ended by mistake"
    );
}
