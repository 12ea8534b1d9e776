//! Picks out the parts of messages that matter to the next agent.

use crate::digest::Prompt;
use crate::effect::EffectKind;
use crate::error_line::{is_error_line, is_warning_line};
use crate::prompt::{self, PromptKind, is_output_line};
use crate::text::split_into_sentences;

const MAX_OPEN_QUESTIONS_LISTED: usize = 5;

/// Words that only say that work continues.
const UNINFORMATIVE_WORDS: &str = "a all and carry continue doing everything finish finished for from go going hand handoff handover here \
                     i it keep later me my next now of off on our over packet pick please proceed rest resume save \
                     session something stuff task that the them then things this to today tomorrow up we where wip \
                     with work you your";

/// Returns whether a purpose says what work to do. "go on" and "finish the rest" do not.
pub fn says_what_to_do(purpose: &str) -> bool {
    full_words(purpose).next().is_some() && !prompt::only_says_continue(purpose)
}

/// Returns whether a person gave the purpose. In older versions, the purpose of a crashed session's packet starts with
/// `go on`.
pub fn is_purpose_given_by_person(purpose: &str) -> bool {
    !purpose.trim().is_empty() && !purpose.starts_with("go on")
}

/// Returns whether a purpose and a request are about the same work. This is assumed if the request contains at least
/// half of the purpose's informative words.
pub fn is_purpose_about_request(purpose: &str, request: &str) -> bool {
    let request: Vec<String> = full_words(request).collect();
    let (shared, all) = full_words(purpose)
        .fold((0, 0), |(shared, all), word| (shared + usize::from(request.contains(&word)), all + 1));
    shared * 2 >= all
}

fn full_words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words
        .map(str::to_lowercase)
        .filter(|word| !UNINFORMATIVE_WORDS.split_whitespace().any(|empty| empty == word))
}

/// The words with which a user asks for an effect. Each entry contains the kinds of the effect, the verbs, and the
/// nouns. If there are nouns, one of them must accompany the verb.
const WORDS_REQUESTING_EFFECTS: &[(&[EffectKind], &[&str], &[&str])] = &[
    (&[EffectKind::Commit, EffectKind::Amend], &["commit", "amend"], &[]),
    (&[EffectKind::Push], &["push"], &[]),
    (&[EffectKind::PullRequest], &["create", "open", "make", "raise", "draft", "send"], &["pr", "pull"]),
    (
        &[EffectKind::Issue],
        &["log", "file", "create", "open", "add", "make", "raise", "write"],
        &["bug", "issue", "ticket"],
    ),
    (&[EffectKind::Comment, EffectKind::Review], &["reply", "comment", "respond"], &[]),
];

/// Words that show that a clause is not a request but a condition, a prohibition, or a question about an effect.
const NO_REQUEST_WORDS: &[&str] = &[
    "after", "before", "did", "don", "except", "how", "if", "never", "no", "not", "once", "only", "should",
    "unless", "until", "was", "what", "when", "which", "why", "without",
];

/// Words that a message may contain in addition to its requests for effects.
const COURTESY_WORDS: &[&str] = &[
    "also", "alright", "can", "cool", "could", "just", "good", "great", "lets", "let", "move", "nice", "ok",
    "okay", "s", "sure", "thank", "thanks", "yeah", "yep", "yes",
];

/// Returns whether effects of these kinds fulfill everything that a message requests. For example, an issue
/// fulfills "log a bug and let's move on". Returns false if the message requests nothing.
pub fn is_fulfilled_by_effects(message: &str, kinds: &[EffectKind]) -> bool {
    let small = message.to_lowercase().replace(" and ", ", ").replace(" then ", ", ");
    let mut asked = false;
    for clause in small.split(['.', ',', ';', '!', '?', '\n']) {
        let words: Vec<&str> =
            clause.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let has = |known: &[&str]| words.iter().any(|word| known.contains(word));
        let is_empty = |word: &&&str| {
            COURTESY_WORDS.contains(*word) || UNINFORMATIVE_WORDS.split_whitespace().any(|it| it == **word)
        };
        // The verb comes first: "fix the open issue" does not ask to open an issue.
        let first = words.iter().find(|word| !is_empty(word));
        let mut requests = WORDS_REQUESTING_EFFECTS
            .iter()
            .filter(|(_, verbs, nouns)| {
                first.is_some_and(|first| verbs.contains(first)) && (nouns.is_empty() || has(nouns))
            })
            .peekable();
        let is_request = requests.peek().is_some() && !has(NO_REQUEST_WORDS);
        let is_met = requests.all(|(wanted, ..)| wanted.iter().any(|kind| kinds.contains(kind)));
        match (is_request, first.is_none()) {
            (true, _) if is_met => asked = true,
            (false, true) => {}
            _ => return false,
        }
    }
    asked
}

/// Returns the prompts about the work, oldest first.
pub fn prompts_about_work(prompts: &[Prompt]) -> Vec<&Prompt> {
    prompts.iter().filter(|prompt| prompt::is_typed_work_prompt(&prompt.text)).collect()
}

/// Returns whether all prompts of a session that picked up a packet are about the packet's work. The user may agree, ask
/// something, or add a requirement to an agreement: "Yes, go on. And print n/a for an empty column."
pub fn are_about_packet(prompts: &[Prompt]) -> bool {
    let continues = |prompt: &Prompt| {
        prompt.is_about_packet
            || prompt::begins_with_agreement(&prompt.text)
            || prompt::continues_earlier_work(&prompt.text)
    };
    let asks = |prompt: &Prompt| prompt.prompt_kind() == PromptKind::Question;
    let gives_task = |prompt: &Prompt| prompt.prompt_kind() == PromptKind::Task && !continues(prompt);
    let prompts = prompts_about_work(prompts);
    prompts.first().is_none_or(|first| continues(first) || asks(first))
        && !prompts.iter().any(|prompt| gives_task(prompt))
}

/// Pasted output with fewer lines than this is not collapsed.
const MIN_LINES_OF_COLLAPSED_PASTE: usize = 8;

/// If the last paragraph of a message has at most this many lines and contains no output, it is the user's comment on
/// the pasted output.
const MAX_LAST_WORDS_LINES: usize = 3;

/// Returns a message in which pasted output is replaced by its first error and the number of its lines. At least a
/// third of these lines must look like output. The others may be prose, because programs also print prose. A message
/// with headings or code fences is a plan and is returned unchanged.
pub fn without_pasted_output(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let is_title = lines.first().is_some_and(|line| line.starts_with("# "));
    let is_plan = is_title || lines.iter().any(|line| line.starts_with("## ") || line.starts_with("```"));
    let Some(start) = lines.iter().position(|line| is_output_line(line)).filter(|_| !is_plan) else {
        return text.to_owned();
    };
    let last = lines.iter().rposition(|line| line.trim().is_empty()).map_or(0, |blank| blank + 1);
    let is_said = last > start
        && lines.len() - last <= MAX_LAST_WORDS_LINES
        && !lines[last..].iter().any(|line| is_output_line(line));
    let end = if is_said { last } else { lines.len() };
    let pasted = lines[start..end].iter().filter(|line| !line.trim().is_empty());
    let output = pasted.clone().filter(|line| is_output_line(line)).count();
    let pasted = pasted.count();
    if pasted < MIN_LINES_OF_COLLAPSED_PASTE || output * 3 < pasted {
        return text.to_owned();
    }
    let note = format!("[{pasted} lines of output]");
    let (first, last) = lines_kept_of_paste(&lines, start, end);
    let kept: Vec<&str> = first.into_iter().chain([note.as_str()]).chain(last).collect();
    [&lines[..start], &kept, &lines[end..]].concat().join("\n")
}

/// Returns the lines of pasted output that are kept before and after the note that replaces the other lines. If the
/// output contains an error, only the first error is kept. Otherwise, the first and the last line are kept if the
/// message consists only of output.
fn lines_kept_of_paste<'t>(
    lines: &[&'t str],
    start: usize,
    end: usize,
) -> (Option<&'t str>, Option<&'t str>) {
    let is_filled = |line: &&&str| !line.trim().is_empty();
    let mut pasted = lines[start..end].iter().filter(is_filled).copied();
    if let Some(error) = pasted.clone().find(|line| is_error_line(line) && !is_warning_line(line)) {
        return (Some(error), None);
    }
    match lines[..start].iter().chain(&lines[end..]).any(|line| !line.trim().is_empty()) {
        true => (None, None),
        false => (pasted.next(), pasted.next_back()),
    }
}

/// Returns the last few questions in the agent's last message.
pub fn unanswered_questions(said: &str) -> Vec<&str> {
    let all: Vec<&str> = split_into_sentences(said).filter(|sentence| sentence.ends_with('?')).collect();
    all.into_iter().rev().take(MAX_OPEN_QUESTIONS_LISTED).rev().collect()
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
