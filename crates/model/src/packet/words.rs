//! What people and agents said, and what of it still matters to whoever goes on.

use crate::digest::Prompt;

/// How long a wish may be, and how many are kept.
const LONGEST: usize = 300;
const SHORTEST: usize = 12;
const MOST_WISHES: usize = 12;
const MOST_QUESTIONS: usize = 5;

/// A prompt this long is a paste: a log, a plan, a file. Its sentences are not the user's own.
const PASTE: usize = 700;

/// What a harness or a hook puts in the user's place.
const NOT_SAID: &[&str] = &[
    "<local-command",
    "<command-name>",
    "<command-message>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<system-reminder>",
    "<task-notification>",
    "<user-prompt-submit-hook>",
    "Caveat: The messages below",
    "[Request interrupted",
    "Stop hook feedback",
    "This session is being continued from a previous",
    "Base directory for this skill",
];

/// Commands that steer the harness or us, and say nothing about the work.
const STEERING: &[&str] = &[
    "handoff",
    "pickup",
    "packet",
    "loop",
    "context",
    "thru-context",
    "recover",
    "swarm",
    "compact",
    "clear",
    "exit",
    "quit",
    "resume",
    "model",
    "login",
    "logout",
    "help",
    "status",
    "cost",
    "config",
    "usage",
    "mcp",
    "memory",
    "init",
];

/// Whether the user said it, about the work.
pub fn is_real(text: &str) -> bool {
    let text = text.trim();
    if text.is_empty() || NOT_SAID.iter().any(|start| text.starts_with(start)) {
        return false;
    }
    match text.strip_prefix('/').and_then(|rest| rest.split_whitespace().next()) {
        Some(name) if !name.contains('/') => {
            let name = name.rsplit(':').next().unwrap_or(name);
            // With words behind it a command says what is wanted; alone it says how to go about it.
            !STEERING.contains(&name) && text.split_whitespace().count() > 2
        }
        _ => true,
    }
}

/// Prompts that are about the work, oldest first.
pub fn real(prompts: &[Prompt]) -> Vec<&Prompt> {
    prompts.iter().filter(|prompt| is_real(&prompt.text)).collect()
}

/// Sentences in which the user said how it is to be done, newest first, each once.
pub fn wishes<'a>(prompts: &[&'a Prompt]) -> Vec<(&'a str, &'a Prompt)> {
    let mut found: Vec<(&str, &Prompt)> = Vec::new();
    for prompt in prompts.iter().rev().filter(|prompt| prompt.text.len() < PASTE) {
        for sentence in sentences(&prompt.text).filter(|sentence| is_wish(sentence)) {
            if found.len() < MOST_WISHES && !found.iter().any(|(known, _)| *known == sentence) {
                found.push((sentence, prompt));
            }
        }
    }
    found
}

/// What the agent asked and nobody has answered: questions at the end of its last words.
pub fn questions(said: &str) -> Vec<&str> {
    let all: Vec<&str> = sentences(said).filter(|sentence| sentence.ends_with('?')).collect();
    all.into_iter().rev().take(MOST_QUESTIONS).rev().collect()
}

fn is_wish(sentence: &str) -> bool {
    const STARTS: &[&str] = &[
        "don't ",
        "do not ",
        "never ",
        "always ",
        "make sure ",
        "please don't",
        "please do not",
        "avoid ",
        "prefer ",
        "only ",
        "keep ",
        "use ",
        "no need to ",
        "stick to ",
        "remember ",
    ];
    const WITHIN: &[&str] = &[
        " must ",
        " must not ",
        " should not ",
        " shouldn't ",
        " don't ",
        " do not ",
        " never ",
        " always ",
        " instead of ",
        " rather than ",
        " make sure ",
        " without ",
        " has to ",
        " needs to ",
        " should be ",
    ];
    let words = sentence.to_lowercase();
    (SHORTEST..=LONGEST).contains(&sentence.len())
        && !sentence.ends_with('?')
        && !["can you", "could you", "would you", "can we", "is there", "how about", "i guess", "and i guess"]
            .iter()
            .any(|ask| words.starts_with(ask))
        && (STARTS.iter().any(|start| words.starts_with(start))
            || WITHIN.iter().any(|word| words.contains(word)))
        && !words.contains("i don't know")
        && !words.contains("i do not know")
}

/// Lines outside of fences, and within them what ends with a mark and a space: `a.rs` is one word.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    let lines = text.lines().filter(move |line| {
        let mark = line.trim_start().starts_with("```");
        fenced ^= mark;
        !mark && !fenced
    });
    lines
        .flat_map(split_line)
        .map(|sentence| sentence.trim().trim_start_matches(['-', '*', '#', '>', ' ']).trim())
        .filter(|sentence| !sentence.is_empty())
}

fn split_line(line: &str) -> Vec<&str> {
    let ends = line.match_indices(['.', '?', '!']).map(|(at, mark)| at + mark.len());
    let (mut found, mut start) = (Vec::new(), 0);
    for end in ends.filter(|end| line[*end..].starts_with(' ')).chain([line.len()]) {
        found.push(&line[start..end]);
        start = end;
    }
    found
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
