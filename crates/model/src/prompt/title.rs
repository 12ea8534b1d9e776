//! The title of a long request.

/// Returns only the title of a plan or a long paste, and other messages unchanged.
pub fn title_if_long(text: &str) -> String {
    const MANY_LINES: usize = 6;
    match text.lines().filter(|line| !line.trim().is_empty()).count() >= MANY_LINES {
        true => title_of_message(text),
        false => text.to_owned(),
    }
}

/// Returns the first line of the text, together with the second line if the first line is only an introduction.
pub fn title_of_message(text: &str) -> String {
    let lines = text.lines().map(|line| line.trim().trim_start_matches('#').trim());
    // "You are an experienced developer." does not say what to do, but the rest of the line may.
    let is_text = |line: &&str| line.chars().any(char::is_alphanumeric);
    let mut lines = lines.map(without_role).filter(is_text).peekable();
    if lines.peek().is_none() {
        return text.trim().lines().next().unwrap_or_default().to_owned();
    }
    let first = lines.next().unwrap_or_default();
    match lines.next() {
        Some(second) if first.ends_with(':') => format!("{first} {second}"),
        Some(_) => format!("{first} …"),
        None => first.to_owned(),
    }
}

/// Returns a line without its first sentence if that sentence only says who the agent is.
fn without_role(line: &str) -> &str {
    match line.starts_with("You are ") {
        true => line.split_once(". ").map_or("", |(_, rest)| rest.trim()),
        false => line,
    }
}
