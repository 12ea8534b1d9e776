use super::*;

fn test_plan() -> Plan {
    let markdown = "# Parser\n## Phase 1: Read\n- [x] 1.1: Lexer [SMALL]\n- [ ] 1.2: Grammar (depends: 1.1)\n\
                    - [ ] 1.10: Errors (depends: 1.2)\n## Phase 2: Write\n- [ ] 2.1: Printer (depends: 1.2)\n";
    read_json_or_markdown(markdown.as_bytes()).unwrap().plan
}

fn task_ids(tasks: &[&Task]) -> Vec<String> {
    tasks.iter().map(|task| task.id.clone()).collect()
}

const TEST_TIME: &str = "2026-11-15T19:22:00Z";

#[test]
fn unknown_fields_stay_in_their_place() {
    let text = r#"{"schema_version":"1.3.0","title":"t","swarm":"s","phases":[{"id":1,"name":"n","status":"completed","tasks":[
        {"id":"1.1","phase":1,"status":"pending","size":"small","description":"d","depends":[],"files_touched":[],"owner":{"b":1,"a":2}}
        ],"colour":"red"}],"migration_status":"native","specHash":"x"}"#;
    let read = Plan::parse(text.as_bytes()).unwrap();
    assert_eq!(read.rest["specHash"], "x");
    assert_eq!(read.phases[0].status, PhaseStatus::Complete, "another word for the same");
    let again = Plan::parse(&read.to_bytes()).unwrap();
    assert_eq!(again, read);
    assert_eq!(again.to_bytes(), read.to_bytes());
    let text = String::from_utf8(read.to_bytes()).unwrap();
    assert!(text.contains("\"schema_version\": \"1.3.0\""), "a minor version is not taken back: {text}");
    assert!(text.find("\"b\": 1").unwrap() < text.find("\"a\": 2").unwrap());
}

#[test]
fn versions_are_told_apart() {
    let newer = Plan::parse(br#"{"schema_version":"2.0.0","phases":[]}"#);
    assert!(matches!(newer, Err(PlanUnreadableReason::Foreign { .. })), "{newer:?}");
    let older = Plan::parse(br#"{"version":"1.0","tasks":[{"id":7,"title":"a","done":true}]}"#).unwrap();
    assert_eq!(
        (older.schema_version.as_str(), older.migration_status.as_str()),
        (SCHEMA_VERSION, "migrated")
    );
    assert_eq!(
        (older.phases[0].tasks[0].id.as_str(), older.phases[0].tasks[0].rest["done"].clone()),
        ("7", true.into())
    );
    assert_eq!(Plan::parse(&older.to_bytes()).unwrap(), older, "migrated once");
    for (text, line) in [("", 1), ("{\n\"schema_version\": \"1.0.0\",\n\"phases\": 7}", 3)] {
        match Plan::parse(text.as_bytes()) {
            Err(PlanUnreadableReason::Damaged { line: found, .. }) => assert_eq!(found, Some(line), "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn task_ids_are_compared_naturally() {
    let mut ids = ["1.10", "1.2", "T10", "T9", "2", "10", "1.2a", "01", "1"];
    ids.sort_by(|a, b| compare_ids_naturally(a, b));
    assert_eq!(ids, ["1", "1.2", "1.2a", "1.10", "01", "2", "10", "T9", "T10"]);
}

#[test]
fn what_is_current_and_ready_is_computed() {
    let plan = test_plan();
    let at = standing_of_plan(&plan);
    assert_eq!(at.current_phase.map(|phase| phase.id), Some(1));
    assert_eq!(
        (task_ids(&at.ready), at.current_task.map(|task| task.id.as_str())),
        (vec!["1.2".to_owned()], Some("1.2"))
    );
    assert_eq!(task_ids(&at.tasks_waiting_for("1.2")), ["1.10", "2.1"]);
    let plan = start_task(&plan, "1.2", "s1", TEST_TIME).unwrap();
    assert_eq!(standing_of_plan(&plan).current_task.map(|task| task.id.as_str()), Some("1.2"));
    let plan = complete_task(&plan, "1.2", "s1", TEST_TIME, &CompletionEvidence::Unproven("")).unwrap();
    assert_eq!(task_ids(&standing_of_plan(&plan).ready), ["1.10", "2.1"]);
    let plan = complete_task(&plan, "1.10", "s1", TEST_TIME, &CompletionEvidence::Unproven("")).unwrap();
    assert_eq!(plan.phases[0].status, PhaseStatus::Complete);
    assert_eq!(
        standing_of_plan(&plan).current_phase.map(|phase| phase.id),
        Some(2),
        "the next phase is the current one"
    );
}

#[test]
fn only_one_session_can_start_a_task() {
    let plan = start_task(&test_plan(), "1.2", "s1", TEST_TIME).unwrap();
    assert_eq!(start_task(&plan, "1.2", "s1", "later").unwrap(), plan, "again by the same: nothing changes");
    let refusal = start_task(&plan, "1.2", "s2", TEST_TIME).unwrap_err();
    assert_eq!((refusal.kind, refusal.message.contains("s1")), (RefusalKind::Busy, true), "{refusal:?}");
}

#[test]
fn what_is_refused_names_the_ids() {
    let plan = test_plan();
    let rows = [
        (start_task(&plan, "1.10", "s", TEST_TIME), "1.10 is not ready: it waits for 1.2"),
        (start_task(&plan, "1.1", "s", TEST_TIME), "1.1 is already completed"),
        (start_task(&plan, "9.9", "s", TEST_TIME), "there is no task 9.9"),
        (unblock_task(&plan, "1.2"), "1.2 is not blocked; it is pending"),
        (block_task(&plan, "1.1", "why"), "1.1 is already completed"),
        (
            set_task(
                &plan,
                "1.2",
                &TaskFieldChanges {
                    dependency_ids: Some(vec!["1.10".into()]),
                    ..TaskFieldChanges::default()
                },
            ),
            "tasks depend on each other in a cycle: 1.2 → 1.10 → 1.2",
        ),
        (
            set_task(
                &plan,
                "1.2",
                &TaskFieldChanges { dependency_ids: Some(vec!["7.7".into()]), ..TaskFieldChanges::default() },
            ),
            "1.2 depends on 7.7, which is not a task of this plan",
        ),
        (
            add_task(&plan, &NewTask { id: Some("1.1".into()), ..NewTask::default() }).map(|(plan, _)| plan),
            "two tasks have the id 1.1",
        ),
        (
            add_task(&plan, &NewTask { id: Some("../x".into()), ..NewTask::default() }).map(|(plan, _)| plan),
            "`../x` cannot be an id: it may contain only letters, digits, `_`, `-` and single dots",
        ),
        (add_phase(&plan, "n", Some(1)).map(|(plan, _)| plan), "two phases have the id 1"),
    ];
    for (edited, what) in rows {
        assert_eq!(edited.unwrap_err().message, what);
    }
}

#[test]
fn a_task_with_acceptance_wants_evidence() {
    let change = TaskFieldChanges { acceptance: Some("tests pass".into()), ..TaskFieldChanges::default() };
    let plan = set_task(&test_plan(), "1.2", &change).unwrap();
    let refusal = complete_task(
        &plan,
        "1.2",
        "s",
        TEST_TIME,
        &CompletionEvidence::Unproven("there is no evidence for it"),
    )
    .unwrap_err();
    assert_eq!(refusal.message, "1.2 has an acceptance criterion, and there is no evidence for it");
    let proven = complete_task(&plan, "1.2", "s", TEST_TIME, &CompletionEvidence::Proven).unwrap();
    assert_eq!(proven.task("1.2").unwrap().without_evidence, None);
    let waived =
        complete_task(&plan, "1.2", "s", TEST_TIME, &CompletionEvidence::Waived("seen by hand")).unwrap();
    assert_eq!(waived.task("1.2").unwrap().without_evidence.as_deref(), Some("seen by hand"));
}

#[test]
fn blocked_goes_on_where_it_was() {
    let begun = start_task(&test_plan(), "1.2", "s", TEST_TIME).unwrap();
    let blocked = block_task(&begun, "1.2", "no key").unwrap();
    assert_eq!(task_ids(&standing_of_plan(&blocked).blocked), ["1.2"]);
    assert!(complete_task(&blocked, "1.2", "s", TEST_TIME, &CompletionEvidence::Proven).is_err());
    assert_eq!(unblock_task(&blocked, "1.2").unwrap(), begun);
}

#[test]
fn an_appended_plan_keeps_its_dependencies() {
    let both = append_plan(&test_plan(), &test_plan());
    assert_eq!(both.phases.iter().map(|phase| phase.id).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!(find_plan_problems(&both), []);
    assert_eq!(both.task("3.2").unwrap().depends, ["3.1"]);
    assert_eq!(both.task("4.1").unwrap().depends, ["3.2"]);
}

#[test]
fn todo_changes_move_their_tasks() {
    let todo = |text: &str, status| crate::journal::RecordedTodo {
        id: String::new(),
        text: text.to_owned(),
        status: Some(status),
    };
    use crate::event::TodoStatus::{Completed, InProgress, Pending};
    let known = LinkedTodos::default();
    let first = follow_todos(
        &test_plan(),
        &known,
        &[todo("grammar.", InProgress), todo("other", Completed)],
        "s",
        TEST_TIME,
    );
    assert_eq!(first.changed_ids, ["1.2"]);
    assert_eq!(first.plan.task("1.2").unwrap().status, TaskStatus::InProgress);
    let second = follow_todos(&first.plan, &first.todos, &[todo("Grammar", Completed)], "s", TEST_TIME);
    assert_eq!(second.plan.task("1.2").unwrap().status, TaskStatus::Completed);
    // A person reopens the task. The list has not changed, so the task stays open.
    let opened = set_task(
        &second.plan,
        "1.2",
        &TaskFieldChanges { status: Some(TaskStatus::Pending), ..TaskFieldChanges::default() },
    );
    let third = follow_todos(&opened.unwrap(), &second.todos, &[todo("Grammar", Completed)], "s", TEST_TIME);
    assert_eq!((third.changed_ids.len(), third.plan.task("1.2").unwrap().status), (0, TaskStatus::Pending));
    let back = follow_todos(&second.plan, &second.todos, &[todo("Grammar", Pending)], "s", TEST_TIME);
    assert_eq!(back.plan.task("1.2").unwrap().status, TaskStatus::Pending);
    // A session's list does not change another session's task.
    let others = follow_todos(&first.plan, &known, &[todo("Grammar", Completed)], "s2", TEST_TIME);
    assert_eq!(others.changed_ids, Vec::<String>::new());
    let change = TaskFieldChanges { acceptance: Some("tests pass".into()), ..TaskFieldChanges::default() };
    let strict = set_task(&test_plan(), "1.2", &change).unwrap();
    let ticked = follow_todos(&strict, &known, &[todo("Grammar", Completed)], "s", TEST_TIME);
    let task = ticked.plan.task("1.2").unwrap();
    assert_eq!((task.status, task.reported_done), (TaskStatus::InProgress, true));
}

#[test]
fn every_circle_is_named_once() {
    let mut plan = test_plan();
    plan.task_mut("1.1").unwrap().depends = vec!["1.1".into()];
    plan.task_mut("1.2").unwrap().depends = vec!["2.1".into()];
    let found: Vec<String> = find_plan_problems(&plan).iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "tasks depend on each other in a cycle: 1.1 → 1.1",
            "tasks depend on each other in a cycle: 1.2 → 2.1 → 1.2"
        ]
    );
}

#[test]
fn a_graph_draws_each_task_once() {
    let plan = test_plan();
    let lines: Vec<String> = draw_graph(&plan)
        .iter()
        .map(|line| {
            format!("{}{}{}", line.tree_prefix, line.task.id, if line.already_drawn { " again" } else { "" })
        })
        .collect();
    assert_eq!(lines, ["1.1", "└─ 1.2", "   ├─ 1.10", "   └─ 2.1"]);
}

#[test]
fn the_view_knows_when_it_was_edited() {
    let view = render_plan(&test_plan());
    assert!(is_plan_view_unedited(&view));
    assert!(!is_plan_view_unedited(&view.replace("[ ] 1.2", "[x] 1.2")));
    let edited = read_json_or_markdown(view.replace("[ ] 1.2", "[x] 1.2").as_bytes()).unwrap().plan;
    assert_eq!(edited.task("1.2").unwrap().status, TaskStatus::Completed);
}

#[test]
fn a_file_behind_its_ledger_is_told_from_an_edited_one() {
    let first = test_plan();
    let second = start_task(&first, "1.2", "s", TEST_TIME).unwrap();
    let lines = [LedgerLine::of_change(1, None, &first), LedgerLine::of_change(2, Some(&first), &second)];
    assert_eq!(
        LedgerComparison::compare_with_file(&second.content_hash(), lines.iter()),
        LedgerComparison::Same
    );
    assert_eq!(
        LedgerComparison::compare_with_file(&first.content_hash(), lines.iter()),
        LedgerComparison::FileBehind
    );
    assert_eq!(LedgerComparison::compare_with_file("other", lines.iter()), LedgerComparison::FileEdited);
    let fold = fold_ledger(lines);
    assert_eq!((fold.plan.as_ref(), fold.discontinuous_seqs.as_slice()), (Some(&second), [].as_slice()));
}

#[test]
fn the_owner_of_a_plan_is_read_without_its_phases() {
    let cases = [
        (r#"{"title": "a", "swarm": "mega", "phases": [broken"#, Some(("mega", false))),
        (r#"{"swarm": "", "phases": [], "migration_status": "migrated"}"#, Some(("", true))),
        (r#"{"phases": [], "swarm": "late", "migration_status": "migrated"}"#, Some(("late", true))),
        (r#"{"title": "phases", "swarm": "mega", "phases": []}"#, Some(("mega", false))),
        (r#"{"swarm": "", "phases": [broken"#, None),
        (r#"{"title": "a"}"#, Some(("", false))),
        ("", None),
    ];
    for (text, expected) in cases {
        let owner = PlanOwner::read(text.as_bytes());
        let found = owner.as_ref().map(|owner| (owner.swarm.as_str(), owner.is_migrated()));
        assert_eq!(found, expected, "{text}");
    }
}
