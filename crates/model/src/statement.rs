//! Condenses an agent's message to the parts that are useful later: findings, decisions and results. Praise, "all
//! tests pass" and announcements of the next call are dropped. The calls themselves show the work.

mod about;
mod choice;
mod items;
mod moment;
mod purpose;
mod talk;

use std::borrow::Cow;

pub use about::{
    best_sentences, gives_reason, names_cause, sentences_about, shares_a_word, without_answered_question,
    without_sentences_about_open_work,
};
pub use choice::option_named_by_answer;
pub use items::{shorten_items, without_commit_lines};
pub use moment::without_states_of_the_moment;
pub use purpose::{change_announced_before_looking, change_announced_in_message, ends_by_announcing_look};
pub use talk::retracts_statement;
use talk::{announces_step, is_announcement, is_bare_heading, is_informative, is_uninformative_talk};

/// A message between two calls is not informative if it has fewer characters than this.
const MIN_INFORMATIVE_CHARS: usize = 45;

/// Returns the text on one line, without markup, announcements and praise. Sentences, list items, table rows and
/// plain-text blocks are kept in order. Code and headings without content are dropped. An ellipsis marks each gap
/// where sentences were dropped.
pub fn condense_message(text: &str) -> String {
    condense_text(text, AnnouncedSteps::Drop, CondensedExtent::Whole)
}

/// Returns whether [`condense_message`] keeps any part of the text.
pub fn keeps_content_when_condensed(text: &str) -> bool {
    !condense_text(text, AnnouncedSteps::Drop, CondensedExtent::FirstSentence).is_empty()
}

/// Condenses a closing message. Announcements are kept, because no call follows them.
pub fn condense_closing_message(text: &str) -> String {
    condense_text(text, AnnouncedSteps::Keep, CondensedExtent::Whole)
}

/// Whether to keep sentences that announce a step. Between two calls, such sentences are dropped, because the next call
/// shows the step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum AnnouncedSteps {
    Keep,
    #[default]
    Drop,
}

/// How much of a message is condensed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CondensedExtent {
    Whole,
    /// Only the first line that contains text worth keeping.
    FirstSentence,
}

fn condense_text(text: &str, steps: AnnouncedSteps, extent: CondensedExtent) -> String {
    let mut out = CondensedText { steps, ..CondensedText::default() };
    let mut lines = text.lines().map(str::trim).peekable();
    while let Some(line) = lines.next() {
        if extent == CondensedExtent::FirstSentence && !out.kept_text.is_empty() {
            break;
        }
        if line.starts_with("```") || line.starts_with("~~~") {
            let block: Vec<&str> = lines
                .by_ref()
                .take_while(|line| !line.starts_with("```") && !line.starts_with("~~~"))
                .collect();
            match is_block_of_words(line.trim_start_matches(['`', '~']).trim(), &block) {
                true => block
                    .iter()
                    .filter(|line| !line.is_empty())
                    .for_each(|line| out.add_line(line, MessageLineKind::Item)),
                false => out.end_introduction(),
            }
        } else if is_separator_line(line) {
        } else if line.starts_with('|') {
            // The line above a table's separator line is the header, which is left out.
            if !lines.peek().is_some_and(|next| next.starts_with('|') && is_separator_line(next)) {
                let cells = line.split('|').map(str::trim).filter(|cell| !cell.is_empty());
                out.add_line(&cells.collect::<Vec<_>>().join(" — "), MessageLineKind::Item);
            }
        } else {
            let (piece, line) = split_line_mark(line);
            out.add_line(line, piece);
        }
    }
    out.finish()
}

/// The maximum number of lines in a plain-text block. A longer block is a drawing, a file or program output.
const MAX_PLAIN_BLOCK_LINES: usize = 10;

/// Returns whether a code block contains prose, such as a list, steps or an answer, rather than code or a drawing.
fn is_block_of_words(language: &str, block: &[&str]) -> bool {
    let words = || block.iter().filter(|line| !line.is_empty());
    matches!(language, "" | "text" | "txt" | "markdown" | "md" | "plain")
        && words().count() <= MAX_PLAIN_BLOCK_LINES
        && words().all(|line| is_prose_line(line))
}

/// Returns whether a line is prose rather than code, a drawing or output. Prose consists mostly of letters, has more
/// than two words, and does not begin or end in a way that is typical of code.
fn is_prose_line(line: &str) -> bool {
    let letters = line.chars().filter(|c| c.is_alphabetic() || *c == ' ').count();
    let all = line.chars().count();
    line.split_whitespace().count() > 2
        && letters * 100 >= all * 75
        && line.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '*' | '`'))
        && !line.ends_with([';', '{', '}', '>', '"'])
        && !line.contains(" = ")
        && !["//", "#", "$", "func ", "fn ", "def ", "type ", "import "]
            .iter()
            .any(|start| line.starts_with(start))
}

/// Returns whether a line is a horizontal rule or the separator below a table's header.
fn is_separator_line(line: &str) -> bool {
    line.chars().all(|c| matches!(c, '-' | '=' | '*' | '_' | ' ' | '|' | ':'))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum MessageLineKind {
    Heading,
    Item,
    Words,
}

/// The text kept so far.
#[derive(Default)]
struct CondensedText {
    kept_text: String,
    /// A heading that has not been added yet. It is added only if text below it is kept.
    pending_heading: String,
    steps: AnnouncedSteps,
    /// Whether sentences were dropped since the last kept text.
    has_dropped_since_kept: bool,
    /// The position where the last sentence or item begins, including its separator.
    last_piece_start: usize,
}

impl CondensedText {
    fn add_line(&mut self, line: &str, piece: MessageLineKind) {
        /// If the text before a bold line ends with a colon, the line counts as a heading only if it has at most this
        /// many words. A longer line counts as a sentence.
        const MAX_HEADING_WORDS: usize = 4;
        let line = line.replace("**", "");
        let is_kept = |sentence: &str| {
            !is_uninformative_talk(sentence) || self.steps == AnnouncedSteps::Keep && announces_step(sentence)
        };
        let sentences: Vec<(&str, bool)> =
            split_sentences(&line).into_iter().map(|sentence| (sentence, is_kept(sentence))).collect();
        let is_introduced = self.pending_heading.is_empty() && self.kept_text.ends_with(':');
        if piece == MessageLineKind::Heading
            && !(is_introduced && line.split_whitespace().count() > MAX_HEADING_WORDS)
        {
            let kept: Vec<&str> = sentences.iter().filter(|(_, kept)| *kept).map(|(text, _)| *text).collect();
            let kept = kept.join(" ");
            self.pending_heading = if is_bare_heading(&kept) { String::new() } else { kept };
            return;
        }
        // Only the first sentence of the line starts a list item.
        let mut is_item = piece == MessageLineKind::Item;
        for (sentence, is_kept) in sentences {
            if !is_kept {
                self.has_dropped_since_kept = true;
                continue;
            }
            if !self.pending_heading.is_empty() {
                let heading = std::mem::take(&mut self.pending_heading);
                let mark = if heading.ends_with([':', '.', '?', '!']) { "" } else { ":" };
                self.push_kept(&format!("{heading}{mark}"), false);
            }
            self.push_kept(sentence, is_item);
            is_item = false;
        }
    }

    fn push_kept(&mut self, kept: &str, item: bool) {
        let gap = std::mem::take(&mut self.has_dropped_since_kept);
        self.last_piece_start = self.kept_text.len();
        if !self.kept_text.is_empty() {
            self.kept_text.push_str(match self.kept_text.chars().last() {
                _ if gap => " … ",
                Some(':' | '.' | '!' | '?' | ';' | ',') => " ",
                _ if item => "; ",
                _ => ". ",
            });
        }
        self.kept_text.push_str(kept);
    }

    /// Removes the colon at the end of the kept text, because nothing after the colon was kept. If the last sentence is
    /// only an introduction, such as "You could use:", removes the whole sentence.
    fn end_introduction(&mut self) {
        if !self.kept_text.ends_with(':') {
            return;
        }
        if self.last_piece_start > 0 && is_mere_introduction(&self.kept_text[self.last_piece_start..]) {
            self.kept_text.truncate(self.last_piece_start);
            return;
        }
        self.kept_text.pop();
    }

    fn finish(mut self) -> String {
        self.end_introduction();
        self.kept_text
    }
}

/// Words at the end of a sentence that only introduce what follows the colon.
const INTRODUCING_WORDS: [&str; 15] = [
    "shows", "show", "is", "are", "reads", "says", "returns", "contains", "gives", "prints", "becomes",
    "like", "follows", "this", "these",
];

/// Returns whether the text before a code block is meaningless without the code: its last word introduces the code, or it
/// is short and contains no name, cause or step.
fn is_mere_introduction(words: &str) -> bool {
    const MAX_WORDS: usize = 9;
    let words = words.trim_start_matches([' ', '…', '.', ';']);
    let last = words.trim_end_matches(':').rsplit(' ').next().unwrap_or("");
    if INTRODUCING_WORDS.iter().any(|word| word.eq_ignore_ascii_case(last)) {
        return true;
    }
    words.split_whitespace().count() <= MAX_WORDS
        && !words.contains(['`', '/'])
        && !names_cause(words)
        && !announces_step(words)
}

/// Returns the question or offer at the end of a message, or an empty string if there is none.
pub fn question_at_end(text: &str) -> String {
    const LINES_SEARCHED_FOR_QUESTION: usize = 12;
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(LINES_SEARCHED_FOR_QUESTION)..];
    let asking = |sentence: &&str| {
        let small = sentence.to_lowercase();
        sentence.ends_with('?')
            || ["let me know ", "which approach"].iter().any(|start| small.starts_with(start))
    };
    let mut found = String::new();
    for line in last {
        let line = split_line_mark(line).1.replace("**", "");
        for sentence in split_sentences(&line).into_iter().filter(asking) {
            found.push_str(if found.is_empty() { "" } else { " " });
            found.push_str(sentence);
        }
    }
    found
}

/// Returns whether a question only asks whether the agent may do something, such as "Shall I commit it?". "Should I use
/// cents or floats?" asks about the work.
pub fn asks_permission(question: &str) -> bool {
    const PERMISSION_STARTS: &[&str] = &[
        "shall i ",
        "should i ",
        "shall we ",
        "should we ",
        "may i ",
        "can i ",
        "do you want ",
        "want me ",
        "would you like ",
        "is it ok ",
        "is that ok",
        "ok to ",
        "okay to ",
        "anything else",
        "what next",
        "next up",
        "let me know ",
        "or leave ",
    ];
    /// Alternatives to going on that say nothing about the work, as in "or is this good for now?".
    const EMPTY_ALTERNATIVES: &[&str] =
        &[" or is this ", " or is that ", " or is it ", " or is there ", " or leave ", " or not"];
    let asks = |sentence: &str| {
        let small = sentence.to_lowercase();
        let has_alternative =
            small.contains(" or ") && !EMPTY_ALTERNATIVES.iter().any(|words| small.contains(words));
        PERMISSION_STARTS.iter().any(|start| small.starts_with(start)) && !has_alternative
    };
    split_sentences(question).into_iter().all(asks)
}

/// Returns whether a question only asks whether the agent has understood the user, such as "Does this look complete
/// now?". The agent acts on the answer right away, so the answer rarely matters later.
pub fn asks_confirmation(question: &str) -> bool {
    const CONFIRMATION_STARTS: &[&str] = &[
        "does this ",
        "does that ",
        "do these ",
        "is this what ",
        "is that what ",
        "is this right",
        "is that right",
        "is this correct",
        "is that correct",
        "sound good",
        "sounds good",
        "look good",
        "looks good",
        "any files ",
        "anything missing",
        "anything i ",
        "did i understand ",
    ];
    let asks = |sentence: &str| {
        let small = sentence.to_lowercase();
        CONFIRMATION_STARTS.iter().any(|start| small.starts_with(start)) && !small.contains(" or ")
    };
    let sentences = split_sentences(question);
    !sentences.is_empty() && sentences.into_iter().all(asks)
}

/// Returns whether a message announces a next step, which means that the agent has not finished.
pub fn announces_next_step(text: &str) -> bool {
    const NEXT_STARTS: &[&str] =
        &["need to ", "i need to ", "now ", "i also need ", "next, ", "next i ", "then i'll "];
    let Some(line) = text.lines().rev().map(str::trim).find(|line| !line.is_empty()) else { return false };
    let last = split_sentences(line).pop().unwrap_or_default();
    let small = last.to_lowercase().replace('’', "'");
    let offers = ["let me know", "want me to", "would you like", "shall i", "tell me"];
    // "Printing is next." and "The import comes next." announce a step, but "You can choose what comes next."
    // does not.
    let ends_in_next = small.trim_end_matches('.').ends_with(" next") && !small.contains("what ");
    last.ends_with(':')
        || small.contains(" let me ")
        || (ends_in_next
            || is_announcement(&small)
            || NEXT_STARTS.iter().any(|start| small.starts_with(start)))
            && !last.ends_with('?')
            && !announces_stop(&small)
            && !offers.iter().any(|start| small.starts_with(start))
}

/// Returns whether a sentence in lower case says that the agent will not continue, such as "I'll stop here as you
/// asked". "I'll stop the server" is a step.
fn announces_stop(small: &str) -> bool {
    const SPEAKER_WORDS: [&str; 6] =
        ["i'll ", "i will ", "i'm going to ", "let me ", "so i'll ", "for now i'll "];
    const STOPS: [&str; 14] = [
        "stop here",
        "stop now",
        "stop there",
        "stop at ",
        "stop as ",
        "stop before ",
        "stop for ",
        "stop.",
        "pause here",
        "pause now",
        "leave it here",
        "leave it at ",
        "wait for you",
        "hold off ",
    ];
    let rest = SPEAKER_WORDS.iter().find_map(|words| small.strip_prefix(words));
    rest.is_some_and(|rest| STOPS.iter().any(|words| rest.starts_with(words)))
}

/// Returns the sentence at the end that announces the next step. If it is unclear on its own, the sentences before it
/// are included.
pub fn sentence_announcing_next_step(text: &str, max: usize) -> Cow<'_, str> {
    /// A shorter announcement, such as "Let me fix it:", is unclear on its own.
    const MIN_CLEAR_ANNOUNCEMENT_CHARS: usize = 40;
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let last = split_sentences(line).pop().unwrap_or_default();
    match last.chars().count() {
        ..MIN_CLEAR_ANNOUNCEMENT_CHARS => last_sentences(text, max),
        // The first words say what the agent does, so a long announcement is cut at its end.
        _ => first_sentences(last, max),
    }
}

/// Returns the announcement at the end of `text`, preceded by the sentence that gives its reason if both fit into `max`
/// characters.
pub fn reason_and_announcement(text: &str, max: usize) -> Cow<'_, str> {
    /// With less room than this, the reason is left out rather than cut.
    const MIN_REASON_CHARS: usize = 60;
    let text = text.trim();
    if text.chars().count() <= max || !announces_next_step(text) {
        return last_sentences(text, max);
    }
    let step = sentence_announcing_next_step(text, max);
    let Some(before) = text.strip_suffix(&*step) else { return step };
    let before = condense_message(before);
    let room = max.saturating_sub(step.chars().count() + 3);
    let reason = sentences_about(&before, room, "");
    match room >= MIN_REASON_CHARS && gives_reason(&reason) {
        true => Cow::Owned(format!("{reason} {step}")),
        false => step,
    }
}

/// Returns what a message says before it announces the next step, on one line. The result is empty if the text before
/// the announcement is not informative.
pub fn finding_before_announcement(text: &str) -> String {
    let text = text.trim();
    let last = split_sentences(text.lines().last().unwrap_or_default()).pop().unwrap_or_default();
    let before = text.strip_suffix(last).filter(|before| !finding_between_calls(before).is_empty());
    before.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the useful part of a message between two calls, or an empty string if the message only announces the next
/// call.
pub fn finding_between_calls(text: &str) -> String {
    let said = condense_message(text);
    let names = said.contains('`') || said.contains('/');
    let shortest = if names { MIN_INFORMATIVE_CHARS } else { MIN_INFORMATIVE_CHARS + 25 };
    if said.chars().count() < shortest || !is_informative(&said) { String::new() } else { said }
}

/// Returns the first sentences that fit into `max` characters. If none fits, returns the start of the first sentence.
pub fn first_sentences(text: &str, max: usize) -> Cow<'_, str> {
    if text.chars().count() <= max {
        return Cow::Borrowed(text);
    }
    let within: usize = text.char_indices().nth(max).map_or(text.len(), |(at, _)| at);
    let mut ends = text[..within].match_indices(['.', ';', '!', '?']).map(|(at, mark)| at + mark.len());
    let end = ends.rfind(|end| text[*end..].starts_with(' ') && !ends_in_number(&text[..*end]));
    match end.filter(|end| *end * 4 >= within) {
        Some(end) => Cow::Owned(format!("{} …", text[..end].trim_end_matches(';'))),
        None => {
            let kept = text[..within].trim_end();
            // Cut between two words, unless too little would be left.
            let word = kept.rfind(' ').filter(|at| *at * 2 >= kept.len() && !text[within..].starts_with(' '));
            let kept = kept[..word.unwrap_or(kept.len())].trim_end_matches([' ', ',', ':', ';']);
            Cow::Owned(format!("{}…", without_number(kept)))
        }
    }
}

/// Returns whether `text` ends with the number of an item that was cut off, as in `… because: 1.`.
fn ends_in_number(text: &str) -> bool {
    let Some(before) = text.strip_suffix('.') else { return false };
    let digits = before.bytes().rev().take_while(u8::is_ascii_digit).count();
    let rest = &before[..before.len() - digits];
    (1..=2).contains(&digits) && (rest.is_empty() || rest.ends_with([' ', ';', ':']))
}

fn without_number(text: &str) -> &str {
    match ends_in_number(text) {
        true => text
            .trim_end_matches(|c: char| c == '.' || c.is_ascii_digit())
            .trim_end_matches([' ', ':', ';', ',']),
        false => text,
    }
}

/// Returns the last sentences and list items that fit into `max` characters. If none fits, returns the end of the
/// last one.
pub fn last_sentences(text: &str, max: usize) -> Cow<'_, str> {
    let text = text.trim();
    let count = text.chars().count();
    if count <= max {
        return Cow::Borrowed(text);
    }
    let from = text.char_indices().nth(count - max.saturating_sub(2)).map_or(0, |(at, _)| at);
    let ends =
        text[from..].match_indices(['.', '!', '?', ';', '\n']).map(|(at, mark)| from + at + mark.len());
    let mut starts = ends.filter(|start| {
        (text[*start..].starts_with([' ', '\n']) || text[..*start].ends_with('\n'))
            && !ends_in_number(&text[..*start])
    });
    let start = starts.find(|start| !text[*start..].trim().is_empty());
    let word = || text[from..].find(' ').map(|at| from + at);
    let start = start.filter(|start| text.len() - start >= max / 3).or_else(word).unwrap_or(from);
    Cow::Owned(format!("… {}", text[start..].trim_start()))
}

/// Splits a line into its kind (heading, list item or plain text) and its text without markup. A line in bold counts
/// as a heading.
fn split_line_mark(line: &str) -> (MessageLineKind, &str) {
    let line = line.trim_start_matches('>').trim_start();
    if let Some(heading) = line.strip_prefix('#') {
        return (MessageLineKind::Heading, heading.trim_start_matches('#').trim());
    }
    let bold = line.trim_end_matches(':').strip_prefix("**").and_then(|rest| rest.strip_suffix("**"));
    if bold.is_some_and(|bold| !bold.contains("**")) {
        return (MessageLineKind::Heading, line);
    }
    for mark in ["- [x] ", "- [ ] ", "- ", "* ", "+ ", "• ", "✅ ", "✓ "] {
        if let Some(rest) = line.strip_prefix(mark) {
            return (MessageLineKind::Item, rest.trim());
        }
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = (1..=2).contains(&digits) && line[digits..].starts_with(". ");
    (if numbered { MessageLineKind::Item } else { MessageLineKind::Words }, line)
}

/// Splits a line into sentences. The number of a list item belongs to the sentence after it.
fn split_sentences(line: &str) -> Vec<&str> {
    let ends = line.match_indices(['.', '?', '!']).map(|(at, mark)| at + mark.len());
    let (mut found, mut start) = (Vec::new(), 0);
    for end in ends.filter(|end| line[*end..].starts_with(' ')).chain([line.len()]) {
        let whole = &line[start..end];
        let before = whole.trim_end_matches(|c: char| c == '.' || c.is_ascii_digit());
        let is_number = end < line.len() && ends_in_number(whole) && before.trim_end().ends_with([':', ';']);
        let end = if is_number { start + before.len() } else { end };
        let sentence = line[start..end].trim();
        if !sentence.is_empty() {
            found.push(sentence);
        }
        start = end;
    }
    found
}

#[cfg(test)]
#[path = "statement_tests.rs"]
mod tests;
