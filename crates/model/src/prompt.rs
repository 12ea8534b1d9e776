//! Decides whether a person typed a message, and what kind of message it is.

mod agreement;
mod continuing;
mod lifted;
mod limits;
mod paste;
mod pickup;
mod short_answer;
mod taken_back;
mod thru_command;
mod title;

use crate::text::split_into_sentences;
use limits::is_lasting_instruction;

pub use agreement::{adds_to_agreement, begins_with_agreement, continues_earlier_work, names_no_work};
pub use continuing::{checks_understanding, only_says_continue, only_starts_work, revises_request};
pub use lifted::{forbids_git_step, is_instruction_revoked_by};
pub use limits::outlives_task;
pub use paste::{is_output_line, words_above_paste, words_before_paste};
pub use pickup::words_after_pickup;
pub use short_answer::begins_with_short_answer;
pub use taken_back::{is_only_for_now, takes_back_rule};
pub use thru_command::{ThruCommand, is_command_for_agent, thru_command};
pub use title::{cut_before_instruction, shorten_request, title_if_long, title_of_message};

/// The beginnings of messages that a harness or a hook sends in the user's name.
const NOT_TYPED_BEGINNINGS: &[&str] = &[
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
    "Read the output file",
];

/// The beginning of the text that a harness appends to the user's message.
const HARNESS_ADDITION_START: &str = "If you need specific details from before exiting plan mode";

/// Slash commands that control the harness or `thru` and say nothing about the work.
const NON_WORK_SLASH_COMMANDS: &[&str] = &[
    "add-dir",
    "agents",
    "bashes",
    "bug",
    "clear",
    "color",
    "compact",
    "config",
    "context",
    "cost",
    "decide",
    "doctor",
    "effort",
    "exit",
    "export",
    "fast",
    "feedback",
    "handoff",
    "help",
    "hooks",
    "ide",
    "init",
    "install-github-app",
    "keybindings",
    "login",
    "logout",
    "loop",
    "mcp",
    "memory",
    "mobile",
    "model",
    "output-style",
    "packet",
    "permissions",
    "pickup",
    "plugin",
    "plugins",
    "privacy-settings",
    "quit",
    "recover",
    "release-notes",
    "reload-plugins",
    "rename",
    "resume",
    "rewind",
    "sandbox",
    "settings",
    "skills",
    "stats",
    "status",
    "statusline",
    "stickers",
    "swarm",
    "tasks",
    "terminal-setup",
    "theme",
    "thru-context",
    "thru-handoff",
    "thru-plan",
    "todos",
    "upgrade",
    "usage",
    "vim",
];

/// The minimum length of a substantial prompt. A shorter prompt is rarely clear on its own.
pub const MIN_SUBSTANTIAL_PROMPT_CHARS: usize = 40;

/// A prompt of at least this many bytes is considered a paste, such as a log, a plan or a file. Its sentences are not
/// the user's own.
const MIN_PASTE_BYTES: usize = 700;

/// The maximum length of an instruction sentence, in bytes.
const MAX_INSTRUCTION_BYTES: usize = 300;

/// The minimum length of an instruction sentence, in bytes. A lasting instruction may be shorter, such as "don't push".
const MIN_INSTRUCTION_BYTES: usize = 12;
const MIN_LASTING_INSTRUCTION_BYTES: usize = 10;

/// The beginnings of a prohibition.
const PROHIBITION_BEGINNINGS: [&str; 4] = ["never ", "don't ", "dont ", "do not "];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptKind {
    /// An approval of the agent's previous message, such as "yes", "go with A" or "do the rest".
    Approval,
    /// A request that is clear on its own.
    Task,
    Question,
    /// Any other short message, such as "push it" or "one space more".
    Remark,
}

/// Returns whether a person typed the text and the text is about the work.
pub fn is_typed_work_prompt(text: &str) -> bool {
    let text = text.trim();
    if text.is_empty()
        || NOT_TYPED_BEGINNINGS.iter().any(|start| text.starts_with(start))
        || is_json_object(text)
    {
        return false;
    }
    split_slash_command(text).is_none_or(|(name, _)| !NON_WORK_SLASH_COMMANDS.contains(&name))
        || words_after_pickup(text).is_some()
}

/// Splits a slash command into its name and its arguments. The name of the plugin that provides the command is left
/// out. Returns `None` for other text, such as a path.
pub fn split_slash_command(text: &str) -> Option<(&str, &str)> {
    let rest = text.trim().strip_prefix('/')?;
    let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    if name.is_empty() || name.contains('/') {
        return None;
    }
    Some((name.rsplit(':').next().unwrap_or(name), arguments.trim()))
}

/// Returns the part of a prompt that the person typed, without the command that picks up a packet.
pub fn prompt_without_pickup_command(text: &str) -> &str {
    let text = words_after_pickup(text).unwrap_or(text);
    text.find(HARNESS_ADDITION_START).map_or(text, |at| &text[..at]).trim()
}

/// Returns whether the text is nothing but JSON, like the notices in a harness's queue.
fn is_json_object(text: &str) -> bool {
    let object =
        text.starts_with('{') && text.ends_with('}') || text.starts_with("[{") && text.ends_with(']');
    object && text.contains("\":")
}

pub fn classify_prompt(text: &str) -> PromptKind {
    let text = text.trim();
    let words = first_words_in_lower_case(text, 14);
    let first = words.first().map_or("", String::as_str);
    let short = words.len() <= 10;
    if short && (is_approval(first, &words) || is_choice(text)) || only_says_continue(text) {
        return PromptKind::Approval;
    }
    if is_question(text, first) {
        return PromptKind::Question;
    }
    match text.chars().count() >= MIN_SUBSTANTIAL_PROMPT_CHARS {
        true => PromptKind::Task,
        false => PromptKind::Remark,
    }
}

fn is_approval(first: &str, words: &[String]) -> bool {
    const APPROVAL_WORDS: &[&str] = &[
        "yes", "y", "yep", "yeah", "yup", "ok", "okay", "sure", "proceed", "continue", "lgtm", "agreed",
        "approved", "correct", "exactly", "perfect", "right", "both", "all", "ja", "oui", "si", "sounds",
    ];
    const APPROVAL_PHRASES: &[&[&str]] = &[
        &["go", "ahead"],
        &["go", "on"],
        &["go", "with"],
        &["go", "for"],
        &["do", "it"],
        &["do", "that"],
        &["do", "the", "rest"],
        &["do", "both"],
        &["do", "all"],
        &["please", "do"],
        &["please", "continue"],
        &["please", "proceed"],
        &["let's", "do"],
        &["lets", "do"],
        &["let's", "go"],
        &["lets", "go"],
        &["keep", "going"],
        &["implement", "it"],
        &["fix", "it"],
        &["fix", "them"],
        &["fix", "both"],
        &["fix", "all"],
        &["start", "with"],
        &["i'd", "go", "with"],
    ];
    let begins =
        |phrase: &&[&str]| words.iter().map(String::as_str).take(phrase.len()).eq(phrase.iter().copied());
    // "Let's do a review" is a request.
    let is_request = words.len() > 3 && ["a", "an", "another", "some"].contains(&words[2].as_str());
    APPROVAL_WORDS.contains(&first) || APPROVAL_PHRASES.iter().any(begins) && !is_request
}

/// Returns whether a message reads like an answer: a yes or no with an explanation, a choice, or too few words to be
/// clear on their own.
pub fn is_reply(text: &str) -> bool {
    const MAX_REPLY_BYTES: usize = 240;
    const REPLY_PHRASES: &[&str] =
        &["i like", "i prefer", "i'd", "i think", "i agree", "option ", "the first", "the second"];
    let text = text.trim();
    if text.chars().count() > MAX_REPLY_BYTES || matches!(classify_prompt(text), PromptKind::Question) {
        return false;
    }
    let words = first_words_in_lower_case(text, 14);
    let first = words.first().map_or("", String::as_str);
    let small = text.to_lowercase().replace('’', "'");
    let numbered =
        first.chars().count() == 1 && text.chars().nth(1).is_some_and(|c| matches!(c, '.' | ')' | ':' | ','));
    classify_prompt(text) != PromptKind::Task
        || is_approval(first, &words)
        || numbered
        || first == "no"
        || REPLY_PHRASES.iter().any(|phrase| small.starts_with(phrase))
        || small.contains("option ")
}

/// Returns whether a message only chooses an option, such as `A`, `2`, `option 2`, `#3` or `1 and 3`.
fn is_choice(text: &str) -> bool {
    let words = first_words_in_lower_case(text, 6);
    let is_one = |word: &String| {
        matches!(
            word.as_str(),
            "option" | "and" | "number" | "the" | "one" | "first" | "second" | "third" | "last"
        ) || word.len() <= 2 && word.chars().all(char::is_alphanumeric)
    };
    !words.is_empty() && words.len() < 6 && words.iter().all(is_one)
}

fn is_question(text: &str, first: &str) -> bool {
    const QUESTION_WORDS: &[&str] = &[
        "why", "what", "how", "where", "when", "which", "who", "is", "are", "does", "do", "did", "was",
        "were", "isn't", "doesn't", "hmm", "question", "so",
    ];
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    // "can you fix this?" is a request for work.
    let asks_for_work = ["can", "could", "would", "please", "will"].contains(&first);
    // A question may lack its question mark or be followed by a paste.
    let wonders = ["why", "how", "where", "when", "who"].contains(&first);
    last.trim_end().ends_with('?') && !asks_for_work
        || wonders
        || QUESTION_WORDS.contains(&first) && text.contains('?')
}

/// Returns whether a message is unclear without the message before it, such as "and the tests?" or "how about the
/// reader?".
pub fn is_unclear_without_message_before(text: &str) -> bool {
    const MAX_DEPENDENT_PROMPT_WORDS: usize = 15;
    /// The maximum length, in words, of an unclear message that begins with a word such as "but" or "and". A longer
    /// message is clear without the one before it.
    const MAX_WORDS_AFTER_DEPENDENT_BEGINNING: usize = 30;
    const DEPENDENT_PROMPT_BEGINNINGS: &[&[&str]] =
        &[&["and"], &["also"], &["but"], &["hmm", "but"], &["how", "about"], &["what", "about"], &["same"]];
    const POINTING_WORDS: &[&str] = &["it", "this", "these", "those", "them"];
    let words = first_words_in_lower_case(text, MAX_WORDS_AFTER_DEPENDENT_BEGINNING + 1);
    let begins = |start: &&[&str]| begins_with_words(&words, start);
    // "This line" says what is meant, but "this" before a verb or at the end of a message does not.
    let points = words.iter().enumerate().any(|(i, word)| {
        let next = words.get(i + 1).map_or("", String::as_str);
        POINTING_WORDS.contains(&word.as_str())
            && (word == "it"
                || ["", "is", "are", "was", "to", "in", "for", "if", "as", "too"].contains(&next))
    });
    let is_paste = text.len() >= MIN_PASTE_BYTES;
    let begins_dependent =
        words.len() <= MAX_WORDS_AFTER_DEPENDENT_BEGINNING && DEPENDENT_PROMPT_BEGINNINGS.iter().any(begins);
    !is_paste
        && !text.starts_with('/')
        && (begins_dependent || words.len() <= MAX_DEPENDENT_PROMPT_WORDS && points || asks_again(text))
}

/// Returns whether a short message only asks the agent to do again what an earlier message asked for, as in "The gate has
/// not passed. Please look again."
pub fn asks_again(text: &str) -> bool {
    const MAX_WORDS: usize = 15;
    const VERBS: &[&str] = &["check", "do", "go", "look", "review", "try"];
    let words = first_words_in_lower_case(text, MAX_WORDS + 1);
    let words: Vec<&str> = words.iter().map(String::as_str).filter(|word| *word != "please").collect();
    match words.as_slice() {
        ["again"] => true,
        [.., verb, "again"] => words.len() <= MAX_WORDS && VERBS.contains(verb),
        _ => false,
    }
}

fn begins_with_words(words: &[String], start: &[&str]) -> bool {
    words.iter().map(String::as_str).take(start.len()).eq(start.iter().copied())
}

/// Returns whether a message only asks the agent to look at something, such as "have a look at docs/plan.md".
pub fn only_asks_to_look(text: &str) -> bool {
    const MAX_LOOK_REQUEST_WORDS: usize = 8;
    const LOOK_REQUEST_BEGINNINGS: &[&[&str]] = &[
        &["look", "at"],
        &["have", "a", "look", "at"],
        &["take", "a", "look", "at"],
        &["see"],
        &["read"],
        &["open"],
        &["check", "out"],
    ];
    let words = first_words_in_lower_case(text, MAX_LOOK_REQUEST_WORDS + 1);
    let skipped = usize::from(words.first().is_some_and(|first| first == "please"));
    words.len() <= MAX_LOOK_REQUEST_WORDS
        && LOOK_REQUEST_BEGINNINGS.iter().any(|start| begins_with_words(&words[skipped..], start))
}

/// Returns whether a message could state what a session is about. A question, an errand or an order to commit does not
/// state a goal.
pub fn may_state_session_goal(text: &str) -> bool {
    const ASKING_STARTS: &[&str] =
        &["can you tell ", "can you explain ", "could you explain ", "tell me ", "explain "];
    /// An order to commit or push that is longer than this usually states a goal as well.
    const MAX_GIT_ORDER_CHARS: usize = 80;
    const PASTED_LINES: usize = 3;
    let small = text.trim().to_lowercase();
    let is_git_order = ["commit", "push", "rebase"].iter().any(|word| small.contains(word))
        && small.chars().count() <= MAX_GIT_ORDER_CHARS;
    // A report with pasted output counts as a request even if it ends with a question.
    let is_report = text.lines().filter(|line| !line.trim().is_empty()).count() >= PASTED_LINES;
    let words = first_words_in_lower_case(text, 1);
    let first = words.first().map_or("", String::as_str);
    let is_reply = ["yes", "y", "yep", "yeah", "no", "why", "how", "what"].contains(&first);
    (classify_prompt(text) == PromptKind::Task || is_report)
        && !is_reply
        && !text.starts_with('/')
        && !is_git_order
        && !is_statement_of_fact(text)
        && !only_asks_to_look(text)
        && !ASKING_STARTS.iter().any(|start| small.starts_with(start))
}

fn begins_with_prohibition(text: &str) -> bool {
    let small = without_opening_words(text).to_lowercase().replace('’', "'");
    PROHIBITION_BEGINNINGS.iter().any(|word| small.starts_with(word))
}

/// Returns a sentence without opening words such as "and" or "please".
fn without_opening_words(sentence: &str) -> &str {
    const OPENING_WORDS: [&str; 6] = ["also", "and", "but", "oh", "please", "so"];
    let mut rest = sentence.trim_start();
    while let Some((word, after)) = rest.split_once(' ')
        && OPENING_WORDS.iter().any(|known| word.trim_end_matches(',').eq_ignore_ascii_case(known))
    {
        rest = after.trim_start();
    }
    rest
}

/// Returns whether a message only states a fact and requests nothing, such as "the strategy is a trailer on the
/// commit".
pub fn is_statement_of_fact(text: &str) -> bool {
    const MAX_STATEMENT_OF_FACT_CHARS: usize = 160;
    const FACT_STARTS: &[&str] = &[
        "the", "this", "that", "it", "it's", "there", "there's", "they", "these", "those", "here", "that's",
    ];
    const WISH_WORDS: &[&str] = &[
        "should", "must", "need", "needs", "please", "let's", "lets", "want", "fix", "add", "change", "make",
        "remove", "instead", "not", "don't", "can", "could", "would", "use", "still", "doesn't", "isn't",
        "missing", "wrong", "fails", "failing",
    ];
    let words = first_words_in_lower_case(text, 40);
    text.chars().count() <= MAX_STATEMENT_OF_FACT_CHARS
        && words.first().is_some_and(|first| FACT_STARTS.contains(&first.as_str()))
        && !words.iter().any(|word| WISH_WORDS.contains(&word.as_str()))
}

/// Returns whether a message, once answered, says nothing more about the work. Examples are a bare slash command and
/// "let's discuss".
pub fn is_uninformative_once_answered(text: &str) -> bool {
    let text = text.trim();
    let words = text.split_whitespace().count();
    let is_bare_command = text.starts_with('/') && words == 1;
    let is_talk = || {
        let small = text.to_lowercase().replace('’', "'");
        ["let's discuss", "lets discuss", "let's continue", "wait, let's", "wait let's"]
            .iter()
            .any(|start| small.starts_with(start))
            && words <= 6
    };
    is_bare_command || is_talk()
}

/// Returns the first `most` words in lower case, without surrounding punctuation.
fn first_words_in_lower_case(text: &str, most: usize) -> Vec<String> {
    let trimmed = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '\'').to_lowercase();
    text.split_whitespace()
        .map(|word| trimmed(word).replace('’', "'"))
        .filter(|word| !word.is_empty())
        .take(most)
        .collect()
}

/// Returns the sentences or clauses in which the user says how to do the work. A paste yields none, because its
/// sentences are not the user's own. If the message asks something, only its lasting instructions are returned, because
/// its other sentences may belong to the question.
pub fn instruction_sentences(text: &str) -> Vec<&str> {
    if text.len() >= MIN_PASTE_BYTES || is_pasted_report(text) {
        return Vec::new();
    }
    let wishes = |sentence| match is_instruction(sentence) {
        true => vec![sentence],
        false if sentence.ends_with('?') => Vec::new(),
        // "Halve the amount; never change tests/." is a task followed by an instruction.
        false => {
            split_clauses(sentence).into_iter().skip(1).filter(|clause| is_instruction(clause)).collect()
        }
    };
    match classify_prompt(text) {
        PromptKind::Question => {
            let own = split_into_sentences(text).filter(|part| classify_prompt(part) != PromptKind::Question);
            own.flat_map(wishes).flat_map(lasting_parts).collect()
        }
        _ => split_into_sentences(text).flat_map(wishes).collect(),
    }
}

/// Returns the sentences of a message that say something about the work. They may be requirements even if they do not
/// read like instructions: "Timestamps stay strings, no chrono." If the message is a question or an agreement, returns
/// only the instructions in it. If the message is a paste, returns nothing.
pub fn requirement_sentences(text: &str) -> Vec<&str> {
    if text.len() >= MIN_PASTE_BYTES || is_pasted_report(text) {
        return Vec::new();
    }
    let says_something = |sentence: &&str| {
        !sentence.ends_with('?') && !names_no_work(sentence) && !only_asks_to_look(sentence)
    };
    match classify_prompt(text) {
        PromptKind::Question | PromptKind::Approval => instruction_sentences(text),
        PromptKind::Task | PromptKind::Remark => split_into_sentences(text).filter(says_something).collect(),
    }
}

/// Splits a sentence at semicolons and before prohibitions.
fn split_clauses(sentence: &str) -> Vec<&str> {
    const CLAUSE_JOINTS: [&str; 9] =
        [", and ", ", but ", ", please ", ", ", " but ", " – ", " — ", " - ", ": "];
    // Only ASCII is lowercased, because lowercasing other characters may change their length.
    let small = sentence.to_ascii_lowercase();
    let begins = |at: usize| {
        let rest = small[at..].replace('’', "'");
        PROHIBITION_BEGINNINGS.iter().any(|word| rest.starts_with(word))
    };
    let joint = |at: usize| {
        CLAUSE_JOINTS.iter().find(|joint| small[at..].starts_with(**joint)).map(|joint| at + joint.len())
    };
    let (mut found, mut start) = (Vec::new(), 0);
    for (at, c) in small.char_indices() {
        let next = match c {
            ';' => Some(at + 1),
            ' ' | ',' | ':' => joint(at).filter(|next| begins(*next)),
            _ => None,
        };
        if let Some(next) = next.filter(|_| at >= start) {
            found.push(sentence[start..at].trim());
            start = next;
        }
    }
    found.push(sentence[start..].trim());
    found
}

fn is_instruction(sentence: &str) -> bool {
    /// Strings with which an instruction can begin.
    const INSTRUCTION_STARTS: &[&str] = &[
        "don't ",
        "dont ",
        "do not ",
        "never ",
        "always ",
        "make sure ",
        "please use ",
        "please keep ",
        "avoid ",
        "prefer ",
        "only ",
        "keep ",
        "use ",
        "no need to ",
        "stick to ",
        "remember ",
        "no, ",
        "let's not ",
        "we should ",
        "we must ",
        "i'd rather ",
        "i would prefer ",
        "i prefer ",
        "it should ",
        "it must ",
        "this should ",
        "this must ",
        "wait, ",
        "rather ",
        "instead ",
        "revert ",
        "undo ",
        "actually ",
    ];
    /// Words that show that a sentence is the user's own. Such a sentence is an instruction if it also contains one
    /// of `INSTRUCTION_WORDS`.
    const PERSON_WORDS: &[&str] =
        &["i ", "i'd", "we ", "we'd", "you ", "let's", "lets ", "please", "me ", "my "];
    /// Words that occur within an instruction.
    const INSTRUCTION_WORDS: &[&str] = &[
        " must ",
        " should ",
        " shouldn't ",
        " don't ",
        " do not ",
        " never ",
        " always ",
        " instead",
        " rather than ",
        " make sure ",
        " without ",
        " has to ",
        " only ",
        " prefer",
        " not ",
    ];
    /// Beginnings of questions, which are not instructions.
    const ASKING_STARTS: &[&str] = &[
        "can you",
        "could you",
        "would you",
        "can we",
        "is there",
        "how about",
        "i guess",
        "and i guess",
        "why ",
        "what ",
        "how ",
        "does ",
        "do we",
        "do you",
        "is it",
        "are ",
        "when ",
    ];
    let words = format!("{} ", sentence.to_lowercase().replace('’', "'"));
    let person = || {
        PERSON_WORDS.iter().any(|person| words.starts_with(person) || words.contains(&format!(" {person}")))
    };
    let starts = |list: &[&str]| list.iter().any(|start| words.starts_with(start));
    let is_long_enough = sentence.len() >= MIN_INSTRUCTION_BYTES
        || sentence.len() >= MIN_LASTING_INSTRUCTION_BYTES && is_lasting_instruction(sentence);
    is_long_enough
        && sentence.len() <= MAX_INSTRUCTION_BYTES
        && !sentence.ends_with('?')
        && !starts(ASKING_STARTS)
        && (starts(INSTRUCTION_STARTS)
            || begins_with_prohibition(sentence)
            || limits::states_limit(sentence)
            || words.contains(" must ")
            || INSTRUCTION_WORDS.iter().any(|word| words.contains(word)) && person())
        && !["i don't know", "i do not know", "i think this was", "not sure"]
            .iter()
            .any(|doubt| words.contains(doubt))
}

/// Returns the part of an instruction that remains valid after its task is done: all of it, or some of its clauses.
pub fn lasting_parts(wish: &str) -> Vec<&str> {
    match is_lasting_instruction(wish) {
        _ if limits::reports_wrong_result(wish) => Vec::new(),
        true => vec![wish],
        false => split_clauses(wish).into_iter().filter(|clause| is_lasting_instruction(clause)).collect(),
    }
}

/// Returns whether a refusal gives a reason or an alternative.
pub fn is_refusal_with_reason(text: &str) -> bool {
    const OBJECTION_WORDS: &[&str] = &[
        "not", "don't", "no", "first", "instead", "let's", "wait", "should", "must", "already", "avoid",
        "only",
    ];
    classify_prompt(text) != PromptKind::Question
        && first_words_in_lower_case(text, 30).iter().any(|word| OBJECTION_WORDS.contains(&word.as_str()))
}

/// Returns whether the user contradicts the agent's last message.
pub fn contradicts_agent(text: &str) -> bool {
    const CONTRADICTING_STARTS: &[&[&str]] = &[
        &["no"],
        &["nope"],
        &["wrong"],
        &["whoops"],
        &["that's", "not"],
        &["thats", "not"],
        &["that's", "wrong"],
        &["that", "is", "not"],
        &["that", "is", "wrong"],
        &["that", "doesn't"],
        &["are", "you", "sure"],
        &["i", "don't", "think"],
        &["i'm", "questioning"],
        &["it", "still"],
        &["still", "failing"],
        &["this", "is", "wrong"],
        &["undo"],
        &["revert"],
        &["but"],
        &["hmm", "but"],
        &["not", "quite"],
    ];
    // "No need to" and "no problem" express agreement.
    const AGREEING_STARTS: &[&[&str]] =
        &[&["no", "need"], &["no", "problem"], &["no", "worries"], &["no", "more"]];
    let words = first_words_in_lower_case(text, 4);
    let begins =
        |start: &&[&str]| words.iter().map(String::as_str).take(start.len()).eq(start.iter().copied());
    CONTRADICTING_STARTS.iter().any(begins) && !AGREEING_STARTS.iter().any(begins)
}

/// Returns whether the user abandons the work done so far.
pub fn abandons_work(text: &str) -> bool {
    const MAX_CHARS: usize = 240;
    let small = text.to_lowercase();
    text.chars().count() <= MAX_CHARS
        && [
            "abandon",
            "start over",
            "throw away",
            "throw that away",
            "scrap that",
            "scrap this",
            "discard the",
            "forget the",
            "forget about",
            "forget that",
        ]
        .iter()
        .any(|words| small.contains(words))
        && !["don't ", "not ", "never "].iter().any(|negation| small.contains(negation))
}

/// Returns whether the text is a pasted review or bug report. Such a report is about code and is not addressed to the
/// agent.
fn is_pasted_report(text: &str) -> bool {
    ["Severity", "severity:", "BugBot", "Bugbot", "Traceback", "### "].iter().any(|mark| text.contains(mark))
}

#[cfg(test)]
#[path = "prompt_tests.rs"]
mod tests;
