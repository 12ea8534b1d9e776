//! Finds the promise in an agent's message. The promise is the last `<promise>…</promise>` that is not quoted.

use crate::document::lines_outside_blocks;

pub const PROMISE_TAG_NAME: &str = "promise";
const PROMISE_OPEN_TAG: &str = "<promise>";
const PROMISE_CLOSE_TAG: &str = "</promise>";

/// Returns the text of the last promise in `message`, with white space collapsed. Quoted text is ignored: text in code
/// fences or backticks, and text repeated from `fed`, which contains the loop's prompt and thru's own text about the
/// loop.
pub fn last_promise_given(message: &str, fed: &[&str]) -> Option<String> {
    if !message.contains(PROMISE_CLOSE_TAG) {
        return None;
    }
    let message = without_repeated_prompt(message, fed);
    let lines = lines_outside_blocks(message.as_bytes()).into_iter().map(|span| &message[span]);
    last_tagged_text(&lines.collect::<String>())
}

/// Returns the form in which promises are compared: trimmed and with single spaces.
pub fn collapse_white_space(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Puts a promise between its tags.
pub fn with_promise_tags(text: &str) -> String {
    format!("{PROMISE_OPEN_TAG}{}{PROMISE_CLOSE_TAG}", collapse_white_space(text))
}

/// Returns why `text` cannot be a promise, or `None` if it can.
pub fn why_invalid_promise(text: &str) -> Option<&'static str> {
    if collapse_white_space(text).is_empty() {
        return Some("it is empty");
    }
    (text.contains(PROMISE_OPEN_TAG) || text.contains(PROMISE_CLOSE_TAG))
        .then_some("it contains a <promise> tag; give only the text")
}

fn last_tagged_text(seen: &str) -> Option<String> {
    let mut found = None;
    let mut at = 0;
    while let Some(end) = seen[at..].find(PROMISE_CLOSE_TAG).map(|end| at + end) {
        // The innermost opening tag is used, so that an earlier mention of the tag does not become part of the
        // promise.
        if let Some(start) = seen[at..end].rfind(PROMISE_OPEN_TAG).map(|start| at + start) {
            let after = end + PROMISE_CLOSE_TAG.len();
            let in_code = seen[..start].ends_with('`') && seen[after..].starts_with('`');
            if !in_code {
                found = Some(collapse_white_space(&seen[start + PROMISE_OPEN_TAG.len()..end]));
            }
        }
        at = end + PROMISE_CLOSE_TAG.len();
    }
    found
}

/// Removes text that the agent repeats from the prompt, because repeating the prompt is not a promise. A line of the
/// prompt that consists only of the tagged promise is kept, because it cannot be distinguished from the promise
/// itself.
fn without_repeated_prompt(message: &str, fed: &[&str]) -> String {
    let is_tag = |text: &str| {
        text.starts_with(PROMISE_OPEN_TAG)
            && text.find(PROMISE_CLOSE_TAG) == Some(text.len() - PROMISE_CLOSE_TAG.len())
    };
    let quotes = |text: &&str| text.contains(PROMISE_CLOSE_TAG) && !is_tag(text);
    let texts = fed.iter().flat_map(|text| std::iter::once(*text).chain(text.lines()));
    texts.map(str::trim).filter(quotes).fold(message.to_owned(), |message, text| message.replace(text, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_and_what_is_only_said() {
        let table: &[(&str, Option<&str>)] = &[
            ("<promise>DONE</promise>", Some("DONE")),
            ("All tests pass.\n\n<promise>ALL  TESTS\n PASS</promise>\n", Some("ALL TESTS PASS")),
            ("DONE", None),
            ("promise DONE /promise", None),
            ("<promise>DONE", None),
            ("DONE</promise>", None),
            ("```\n<promise>DONE</promise>\n```\nnot yet", None),
            ("~~~~xml\n<promise>DONE</promise>\n~~~~\n", None),
            ("```\n<promise>A</promise>\n```\n<promise>B</promise>", Some("B")),
            ("```\nnever closed\n<promise>DONE</promise>", None),
            ("<promise>DONE</promise>, or rather <promise>NOT YET</promise>", Some("NOT YET")),
            ("I will say `<promise>DONE</promise>` then", None),
            ("say <promise> and then <promise>DONE</promise>", Some("DONE")),
            ("<promise>say \"yes\" | ünïcødé ✓</promise>", Some("say \"yes\" | ünïcødé ✓")),
            ("\u{1b}[1m<promise>DONE</promise>\u{1b}[0m\u{7}", Some("DONE")),
            ("<Promise>DONE</Promise>", None),
            ("", None),
        ];
        for (message, expected) in table {
            assert_eq!(last_promise_given(message, &["work"]).as_deref(), *expected, "{message}");
        }
    }

    #[test]
    fn the_prompts_own_words_never_count() {
        let prompt = "Fix it.\nSay <promise>DONE</promise> when all is green.\n";
        for message in [
            prompt,
            "You asked: Say <promise>DONE</promise> when all is green.",
            "Say <promise>DONE</promise> when all is green.\nI am at it.",
            "> Say <promise>DONE</promise> when all is green.",
        ] {
            assert_eq!(last_promise_given(&format!("{message}\nStill red."), &[prompt]), None, "{message}");
        }
        assert_eq!(
            last_promise_given(&format!("{prompt}\n<promise>DONE</promise>"), &[prompt]).as_deref(),
            Some("DONE")
        );
        let bare = "Fix it, then say:\n<promise>DONE</promise>\n";
        assert_eq!(last_promise_given("Fixed.\n<promise>DONE</promise>", &[bare]).as_deref(), Some("DONE"));
        assert_eq!(last_promise_given(&format!("You said: {}", bare.trim()), &[bare]), None);
    }
}
