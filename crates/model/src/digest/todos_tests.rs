use super::*;
use crate::declared::ChangedNames;
use crate::digest::FileEdit;

fn todo(text: &str) -> RecordedTodo {
    RecordedTodo { id: String::new(), text: text.to_owned(), status: Some(TodoStatus::Pending) }
}

#[test]
fn an_entry_is_done_if_the_declaration_was_added() {
    let todos = [
        "Add cartTotals field to Model",
        "Implement computeTotals function",
        "Write renderTotals and print_totals",
        "Update renderCart to show totals",
    ];
    let names = ChangedNames {
        added: vec!["computeTotals".to_owned(), "renderTotals".to_owned()],
        changed: vec!["renderCart".to_owned()],
        ..ChangedNames::default()
    };
    let mut digest = Digest::new("s");
    digest.todos = todos.map(todo).to_vec();
    digest.todos_changed_at = 3;
    digest.changes = vec![FileEdit { record: 5, changed_names: names.clone(), ..FileEdit::default() }];
    let done: Vec<bool> = digest.todos.iter().map(|todo| digest.is_todo_done(todo)).collect();
    // The first entry counts as done because a later entry is done. The third entry is only half done.
    assert_eq!(done, [true, true, false, false]);
    // A declaration that was added before the list changed does not show that an entry is done.
    digest.changes = vec![FileEdit { record: 2, changed_names: names, ..FileEdit::default() }];
    assert!(!digest.todos.iter().any(|todo| digest.is_todo_done(todo)));
}

#[test]
fn the_entry_in_progress_is_done_once_its_edits_are_tested() {
    let record = |command: &str, ended: &str, path: &str| {
        let mut record = crate::journal::JournalRecord { event: "tool-done".into(), ..Default::default() };
        record.ok = Some(true);
        (record.command, record.ended) = (command.to_owned().into(), ended.to_owned().into());
        if !path.is_empty() {
            record.files =
                vec![crate::journal::RecordedFile::new(path.into(), crate::event::FileAction::Edit)];
        }
        record
    };
    let edit = || record("", "", "src/a.go");
    let test = |ended| record("make test", ended, "");
    for (calls, expected) in [
        (vec![edit(), test("passed")], [true, false]),
        (vec![edit()], [false, false]),
        (vec![test("passed")], [false, false]),
        (vec![edit(), test("failed")], [false, false]),
        (vec![edit(), test("passed"), edit()], [false, false]),
    ] {
        let mut digest = Digest::new("s");
        let in_progress = RecordedTodo { status: Some(TodoStatus::InProgress), ..todo("Move the reader") };
        digest.todos = vec![in_progress, todo("Move the writer")];
        for call in &calls {
            digest.fold_record(call);
        }
        let done: Vec<bool> = digest.todos.iter().map(|todo| digest.is_todo_done(todo)).collect();
        assert_eq!(done, expected, "{calls:?}");
    }
}
