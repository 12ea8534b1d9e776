//! The agent's own list of things to do.

use std::borrow::Cow;

type Text<'a> = Cow<'a, str>;

/// What a harness says about the list: all of it, or one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Todos<'a> {
    All(Vec<Todo<'a>>),
    /// Only what is set is said; the rest is as it was.
    Change(Todo<'a>),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Todo<'a> {
    /// Where the harness numbers its entries.
    pub id: Option<Text<'a>>,
    pub text: Option<Text<'a>>,
    pub status: Option<Status>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Open,
    Doing,
    Done,
    Dropped,
}

impl Status {
    pub fn parse(text: &str) -> Option<Status> {
        match text {
            "pending" | "open" | "todo" => Some(Status::Open),
            "in_progress" | "doing" => Some(Status::Doing),
            "completed" | "done" => Some(Status::Done),
            "deleted" | "cancelled" => Some(Status::Dropped),
            _ => None,
        }
    }
}

/// The list as it stands after all that was said about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TodoList(Vec<Todo<'static>>);

impl TodoList {
    pub fn apply(&mut self, todos: &Todos) {
        match todos {
            Todos::All(all) => self.0 = all.iter().map(owned).collect(),
            Todos::Change(change) => self.change(owned(change)),
        }
    }

    pub fn entries(&self) -> &[Todo<'static>] {
        &self.0
    }

    fn change(&mut self, change: Todo<'static>) {
        let known = self.0.iter().position(|todo| todo.id.is_some() && todo.id == change.id);
        match (known, change.status) {
            (Some(at), Some(Status::Dropped)) => drop(self.0.remove(at)),
            (Some(at), _) => {
                let todo = &mut self.0[at];
                todo.text = change.text.or_else(|| todo.text.take());
                todo.status = change.status.or(todo.status);
            }
            // A change to an entry that was made before the reading began: better a number than nothing.
            (None, _) => self.0.push(change),
        }
    }
}

fn owned(todo: &Todo) -> Todo<'static> {
    let text = |text: &Option<Text>| text.as_ref().map(|text| Cow::Owned(text.clone().into_owned()));
    Todo { id: text(&todo.id), text: text(&todo.text), status: todo.status }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn todo(id: &'static str, text: &'static str, status: Option<Status>) -> Todo<'static> {
        let some = |text: &'static str| (!text.is_empty()).then_some(Cow::Borrowed(text));
        Todo { id: some(id), text: some(text), status }
    }

    #[test]
    fn changes_are_folded() {
        let mut list = TodoList::default();
        for change in [
            todo("1", "write", Some(Status::Open)),
            todo("2", "test", Some(Status::Open)),
            todo("1", "", Some(Status::Done)),
            todo("2", "", Some(Status::Dropped)),
            todo("9", "", Some(Status::Doing)),
        ] {
            list.apply(&Todos::Change(change));
        }
        assert_eq!(
            list.entries(),
            [todo("1", "write", Some(Status::Done)), todo("9", "", Some(Status::Doing))]
        );
        list.apply(&Todos::All(vec![todo("", "anew", Some(Status::Open))]));
        assert_eq!(list.entries(), [todo("", "anew", Some(Status::Open))]);
    }
}
