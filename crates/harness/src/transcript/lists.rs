//! Lists that tools carry: things to do, questions to the user. As objects, or as numbered lines of text.

use model::transcript::{NAME_BYTES, NOTE_BYTES, Question, Status, TEXT_BYTES, Todo};

use super::walk::{Raw, Walk};

/// `[{"content": …, "status": …}]`, or `1. [completed] …` line by line, or either of them in an object under `todos`.
pub fn todos(raw: Raw<'_>) -> Vec<Todo<'_>> {
    if let Some(text) = raw.text(TEXT_BYTES) {
        return text.lines().filter_map(todo_of_line).collect();
    }
    let mut walk = raw.walk();
    if walk.clone().object() {
        walk.object();
        while let Some(key) = walk.key() {
            match key {
                b"todos" => return todos(walk.raw()),
                _ => walk.skip(),
            }
        }
        return Vec::new();
    }
    each(walk, |walk| {
        let mut todo = Todo::default();
        while let Some(key) = walk.key() {
            match key {
                b"content" | b"description" | b"subject" => todo.text = walk.text(NOTE_BYTES),
                b"status" => todo.status = walk.text(NAME_BYTES).and_then(|status| Status::parse(&status)),
                _ => walk.skip(),
            }
        }
        todo
    })
}

/// `[{"question": …, "options": [{"label": …}]}]`.
pub fn questions(raw: Raw<'_>) -> Vec<Question<'_>> {
    each(raw.walk(), |walk| {
        let mut question = Question::default();
        while let Some(key) = walk.key() {
            match key {
                b"question" => question.text = walk.text(NOTE_BYTES).unwrap_or_default(),
                b"options" => question.options = labels(walk.raw()),
                _ => walk.skip(),
            }
        }
        question
    })
}

fn labels(raw: Raw<'_>) -> Vec<std::borrow::Cow<'_, str>> {
    each(raw.walk(), |walk| {
        let mut label = None;
        while let Some(key) = walk.key() {
            match key {
                b"label" => label = walk.text(NOTE_BYTES),
                _ => walk.skip(),
            }
        }
        label
    })
    .into_iter()
    .flatten()
    .collect()
}

/// Every object of an array, stepped into.
fn each<'a, T>(mut walk: Walk<'a>, mut read: impl FnMut(&mut Walk<'a>) -> T) -> Vec<T> {
    let mut found = Vec::new();
    if walk.array() {
        while walk.element() {
            if walk.object() {
                found.push(read(&mut walk));
            }
        }
    }
    found
}

fn todo_of_line(line: &str) -> Option<Todo<'static>> {
    let line =
        line.trim().trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches(['.', ')', '-', ' ']);
    let (status, text) = match line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((status, text)) => (Status::parse(status.trim()), text.trim()),
        None => (None, line),
    };
    (!text.is_empty()).then(|| Todo { id: None, text: Some(text.to_owned().into()), status })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_todo_list() {
        for json in [
            r#"[{"content":"a","status":"completed","activeForm":"x"},{"content":"b","status":"pending"}]"#,
            r#""1. [completed] a\n2. [pending] b\n""#,
            r#"{"todos":"1. [completed] a\n2. [pending] b"}"#,
            r#"{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"pending"}]}"#,
        ] {
            let found: Vec<_> = todos(Walk::new(json.as_bytes()).raw())
                .into_iter()
                .map(|todo| (todo.text.unwrap_or_default().into_owned(), todo.status))
                .collect();
            let expected = [("a".to_owned(), Some(Status::Done)), ("b".to_owned(), Some(Status::Open))];
            assert_eq!(found, expected, "{json}");
        }
        for odd in ["7", "null", "[]", "[7]", "{}", "\"\"", "{\"todos\":{\"todos\":{}}}"] {
            assert_eq!(todos(Walk::new(odd.as_bytes()).raw()), [], "{odd}");
        }
    }

    #[test]
    fn questions_with_their_options() {
        let json = r#"[{"question":"Which?","header":"h","options":[{"label":"A","description":"d"},{"label":"B"},7]}]"#;
        let found = questions(Walk::new(json.as_bytes()).raw());
        assert_eq!(found, [Question { text: "Which?".into(), options: vec!["A".into(), "B".into()] }]);
    }
}
