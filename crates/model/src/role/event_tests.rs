use super::*;
use crate::event::{EventSubagent, FileAction, StopEvent, ToolDone};

fn event_of_kind(kind: EventKind<'_>) -> Event<'_> {
    Event {
        session: "s1".into(),
        harness_event_id: None,
        is_payload_truncated: false,
        previous_session: None,
        cwd: None,
        transcript: None,
        subagent: None,
        kind,
    }
}

#[test]
fn what_an_event_is_to_a_role() {
    let file = |path: &str| RecordedFile::new(path.into(), FileAction::Read);
    let start = |source| EventKind::SessionStart { source };
    let tool = |failed| EventKind::ToolDone(Box::new(ToolDone { failed, ..ToolDone::default() }));
    let prompt = || EventKind::Prompt { text: "x".into() };
    let compact = || EventKind::BeforeCompact { trigger: None, instructions: None };
    let (role, other) = (file("a.context.md"), file("a.md"));
    let touched = || Some(RoleEvent::ContextFilesTouched(vec![role.clone()]));
    let (announced, due) = (Some(PendingBrief::Announced), Some(PendingBrief::Due));
    let cases = [
        ("a start", start(StartSource::Startup), None, &other, Some(RoleEvent::Started)),
        ("a clear", start(StartSource::Clear), None, &other, Some(RoleEvent::Started)),
        ("a resume", start(StartSource::Resume), None, &other, Some(RoleEvent::Continued)),
        ("after a compaction", start(StartSource::Compact), None, &other, Some(RoleEvent::Continued)),
        ("a compaction", compact(), None, &other, Some(RoleEvent::Compacting)),
        ("a prompt", prompt(), None, &other, None),
        ("the brief comes with the prompt", prompt(), due, &other, Some(RoleEvent::Continued)),
        ("it never came", prompt(), announced, &other, Some(RoleEvent::NotCompacted)),
        ("a role file was read", tool(false), None, &role, touched()),
        ("reading it failed", tool(true), None, &role, None),
        ("another file was read", tool(false), None, &other, None),
        (
            "work goes on instead of a compaction",
            tool(false),
            announced,
            &other,
            Some(RoleEvent::NotCompacted),
        ),
        ("also with a failed call", tool(true), announced, &role, Some(RoleEvent::NotCompacted)),
        ("a stop", EventKind::Stop(StopEvent::default()), announced, &role, None),
    ];
    for (why, kind, pending, file, expected) in cases {
        let event = event_of_kind(kind);
        let files = std::slice::from_ref(file);
        assert_eq!(role_event(&event, pending, files), expected, "{why}");
        let agent = Some(EventSubagent { id: "a".into(), agent_type: "explorer".into() });
        assert_eq!(
            role_event(&Event { subagent: agent, ..event }, pending, files),
            None,
            "{why}, of a sub-agent"
        );
    }
}
