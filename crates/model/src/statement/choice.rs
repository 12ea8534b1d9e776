//! Finds the option that the user chose from the agent's list. For example, the user may answer "2", "option B" or
//! "let's try 2".

/// A longer answer is considered a request in the user's own words.
const MAX_OPTION_ANSWER_CHARS: usize = 60;

/// Returns the option that an answer chooses from a message with several options.
pub fn option_named_by_answer<'t>(text: &'t str, answer: &str) -> Option<&'t str> {
    if answer.chars().count() > MAX_OPTION_ANSWER_CHARS {
        return None;
    }
    let labels: Vec<char> = answer.split_whitespace().filter_map(option_label).collect();
    let [label] = labels[..] else { return None };
    let next = char::from_u32(label as u32 + 1)?;
    ["Option ", "Approach ", "Alternative ", "("].into_iter().chain([""]).find_map(|before| {
        let start = option_position(text, before, label, 0)?;
        // The message must list more than one option. If the first option was chosen, a second one must follow it.
        let first = if label.is_ascii_digit() { '1' } else { 'A' };
        let is_listed = option_position(text, before, next, start).is_some() || label != first;
        let end = option_position(text, before, next, start).unwrap_or(text.len());
        is_listed.then(|| text[start..end].trim_end_matches([' ', ';']))
    })
}

/// Returns the number or letter of an option, such as `2`, `#2` or `b)`.
fn option_label(word: &str) -> Option<char> {
    let mut chars = word.chars().filter(|c| c.is_alphanumeric());
    let (label, more) = (chars.next()?.to_ascii_uppercase(), chars.next());
    // The word "a" is not a label, because it is usually an article. "I" is outside the range A to F.
    let is_label = ('1'..='9').contains(&label) || ('A'..='F').contains(&label) && word != "a";
    (more.is_none() && is_label).then_some(label)
}

/// Returns the position of an option's label, such as `Option 2`, `2. ` or `(2)`, at the start of a sentence or item.
fn option_position(text: &str, before: &str, label: char, from: usize) -> Option<usize> {
    let mark = format!("{before}{label}");
    let found = text[from..].match_indices(&mark).map(|(at, _)| from + at);
    found.into_iter().find(|at| {
        let begins = *at == 0 || text[..*at].ends_with([' ', '\n']);
        let after = &text[at + mark.len()..];
        let ends = match before {
            "" => [". ", ") ", ": "].iter().any(|end| after.starts_with(end)),
            _ => after.starts_with([':', ' ', ')', '.', ',']),
        };
        let starts_sentence = || text[..*at].trim_end().ends_with([':', '.', ';', '!', '?', ')', '…']);
        begins && ends && (*at == 0 || starts_sentence())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_that_an_answer_names() {
        let options = "Three ways: Option 1: Return errors. Skip bad ones. Option 2: Typed structs, checked once. Option 3: Both.";
        let numbered = "Two execution options: 1. Here, one task at a time. 2. In a new session.";
        let lettered = "I see: A) keep it; B) drop it";
        let cases = [
            (options, "let's try 2=", Some("Option 2: Typed structs, checked once.")),
            (options, "option 3", Some("Option 3: Both.")),
            (numbered, "1", Some("1. Here, one task at a time.")),
            (numbered, "2.", Some("2. In a new session.")),
            (lettered, "B", Some("B) drop it")),
            (lettered, "b please", Some("B) drop it")),
            // These answers name two options or none.
            (options, "1 and 3", None),
            (options, "yes", None),
            (lettered, "make it a loop", None),
            ("It takes 2 steps.", "2", None),
            ("1. is the only one", "1", None),
        ];
        for (text, answer, expected) in cases {
            assert_eq!(option_named_by_answer(text, answer), expected, "{answer:?}");
        }
    }
}
