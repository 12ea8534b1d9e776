use model::loops::pointer::ForegroundPointer;
use model::loops::{Loop, LoopRecord, LoopStatus};

use super::{LoopCommandPurpose, loops_for_use};

fn test_loop(id: &str, status: LoopStatus, session: &str, at: &str) -> Loop {
    let text = format!(
        "---\nid: {id}\ncreated_at: {at}\nupdated_at: {at}\nstatus: {}\niteration: 1\nmax_iterations: 0\n\
         completion_promise: null\nsession_id: {session}\n---\n\n## Loop Prompt\n\ngo on\n\n## Notes\n",
        status.name()
    );
    LoopRecord::parse(text.into_bytes()).unwrap().loop_state
}

#[test]
fn which_loop_is_meant_when_none_is_named() {
    let loops = [
        test_loop("a", LoopStatus::Active, "s1", "2026-01-01T00:00:00Z"),
        test_loop("b", LoopStatus::Active, "s2", "2026-01-02T00:00:00Z"),
        test_loop("c", LoopStatus::Paused, "s1", "2026-01-03T00:00:00Z"),
        test_loop("d", LoopStatus::Paused, "s1", "2026-01-04T00:00:00Z"),
        test_loop("e", LoopStatus::Cancelled, "s3", "2026-01-05T00:00:00Z"),
    ];
    let mut pointer = ForegroundPointer::default();
    pointer.set_foreground_loop_of_session("a", "s1");
    pointer.set_foreground_loop_of_session("b", "s2");
    let cases: [(LoopCommandPurpose, Option<&str>, &[&str]); 10] = [
        // Inside a session, a command acts only on that session's own loops.
        (LoopCommandPurpose::LeaveForeground, Some("s1"), &["a"]),
        (LoopCommandPurpose::LeaveForeground, Some("s3"), &[]),
        (LoopCommandPurpose::Resume, Some("s1"), &["d"]),
        (LoopCommandPurpose::Resume, Some("s2"), &[]),
        (LoopCommandPurpose::View, Some("s2"), &["b"]),
        (LoopCommandPurpose::View, Some("s3"), &["e"]),
        (LoopCommandPurpose::View, Some("s4"), &[]),
        // At a terminal, a command may act on any loop.
        (LoopCommandPurpose::LeaveForeground, None, &["a", "b"]),
        (LoopCommandPurpose::Resume, None, &["c", "d"]),
        (LoopCommandPurpose::View, None, &["b"]),
    ];
    let all: Vec<&Loop> = loops.iter().collect();
    for (aim, here, expected) in cases {
        let found: Vec<&str> =
            loops_for_use(aim, &all, &pointer, here).iter().map(|one| one.id.as_str()).collect();
        assert_eq!(found, expected, "{aim:?} {here:?}");
    }
    let one = [&loops[4]];
    assert_eq!(
        loops_for_use(LoopCommandPurpose::View, &one, &pointer, Some("s1")).len(),
        1,
        "a single loop is unambiguous"
    );
    assert_eq!(
        loops_for_use(LoopCommandPurpose::LeaveForeground, &one, &pointer, Some("s1")).len(),
        0,
        "a command must not end another session's loop"
    );
}
