//! Measures what would be recalled if a session were cut at one point. Counts the wanted items in a brief, a packet and
//! a summary, and in a plain list of the same length.

use anyhow::Result;
use model::score::ScoringSettings;

use super::commands::is_command_named;
use super::cut::{CorpusHalf, RecallSession, SessionCut, SessionCutKind, collapse_white_space};
use super::labels::{self, Labels};
use super::texts::SessionUpToCut;
use super::wanted::WantedItems;
use super::{BRIEF_SIZES, effects, errors};

/// How many items were found, and how many items there are in total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FoundShare {
    pub found: usize,
    pub total: usize,
}

/// The questions asked about each brief, packet and summary, in the order of the report.
pub const QUESTION_NAMES: [&str; 13] = [
    FILES_AGAIN_QUESTION,
    COMMANDS_AGAIN_QUESTION,
    COMMAND_LETTERS_QUESTION,
    "newest prompt",
    "newest telling prompt",
    "prompts",
    "open failures",
    "failures told are open",
    "edited",
    "read",
    "outside effects, with id",
    "errors met again",
    "commands, all",
];
pub const FILES_AGAIN_QUESTION: &str = "files needed again";
/// The question about useful commands that are needed again. The module [`commands`](super::commands) decides which
/// commands are useful, and which runs count as the same command.
pub const COMMANDS_AGAIN_QUESTION: &str = "commands needed again";
/// The question about command lines that are needed again in the same form, such as `make test 2>&1 | tail -30`. The
/// wanted lines include look-ups and git commands, which briefs leave out on purpose, so the question has no target.
const COMMAND_LETTERS_QUESTION: &str = "the same, letter by letter";

pub fn question_index(name: &str) -> usize {
    QUESTION_NAMES.iter().position(|known| *known == name).expect("every question is in QUESTION_NAMES")
}

#[derive(Clone, Debug, Default)]
pub struct RecallAnswers {
    pub chars: usize,
    /// The shares, in the order of [`QUESTION_NAMES`].
    pub shares: [FoundShare; 13],
    pub missed: Vec<(usize, String)>,
    /// How many of the files named in the text were needed again.
    pub precision: FoundShare,
    /// The precision of a list of the most recently used files. The list is as long as the list of files named in the
    /// text.
    pub recent_files_share: FoundShare,
    /// For comparison: the precision of a list of the most frequently used files. The list is as long as the list of
    /// files named in the text.
    pub frequent_files_share: FoundShare,
    /// For comparison: how many of the needed files are in a plain list of recently used paths. The list may have as
    /// many characters as the text.
    pub path_list_share: FoundShare,
}

#[derive(Debug)]
pub struct MeasuredCut {
    pub session: String,
    pub half: CorpusHalf,
    /// The line of the transcript at which the session was cut, counted from 1.
    pub line: usize,
    pub kind: SessionCutKind,
    /// The results for briefs without a summary, in the order of [`BRIEF_SIZES`].
    pub brief_alone: Vec<RecallAnswers>,
    /// The results for the packet, which is measured only at compactions.
    pub packet: Option<RecallAnswers>,
    pub with_summary: Option<SummaryAndBriefResults>,
}

/// The results for the summary, for the brief that is sent in addition to it, and for both together.
#[derive(Debug)]
pub struct SummaryAndBriefResults {
    pub summary: RecallAnswers,
    pub brief: RecallAnswers,
    pub summary_or_brief: RecallAnswers,
    /// How many lines of the brief contain information that the summary does not contain.
    pub new_lines: FoundShare,
}

impl MeasuredCut {
    /// Measures the briefs of one ranking. A packet has its own order, so it is measured only with the fixed order.
    pub fn measure_cut(
        session: &RecallSession,
        cut: &SessionCut,
        past: &SessionUpToCut,
        labels: &Labels,
        scoring: Option<&ScoringSettings>,
    ) -> Result<MeasuredCut> {
        let wanted = WantedItems::after_cut(session, cut, labels);
        let ask = |text: &str, size: usize| measure_text(session, &wanted, text, size);
        let has_packet = cut.kind != SessionCutKind::Artificial && scoring.is_none();
        let packet = if has_packet { Some(past.pickup_text()?) } else { None };
        let largest = BRIEF_SIZES[BRIEF_SIZES.len() - 1];
        let with_summary = (!cut.summary.is_empty()).then(|| {
            let brief = past.brief_beside_summary(&cut.summary, largest, scoring);
            SummaryAndBriefResults {
                summary: ask(&cut.summary, cut.summary.len()),
                summary_or_brief: ask(&format!("{}\n{brief}", cut.summary), cut.summary.len() + brief.len()),
                new_lines: count_new_lines(&brief, &cut.summary),
                brief: ask(&brief, brief.len()),
            }
        });
        Ok(MeasuredCut {
            session: session.name.clone(),
            half: CorpusHalf::of_session(&session.name),
            line: cut.line + 1,
            kind: cut.kind,
            brief_alone: BRIEF_SIZES
                .iter()
                .map(|size| ask(&past.brief_alone(*size, scoring), *size))
                .collect(),
            packet: packet.map(|prompt| ask(&prompt, prompt.len())),
            with_summary,
        })
    }
}

fn measure_text(session: &RecallSession, wanted: &WantedItems, text: &str, size: usize) -> RecallAnswers {
    let flat = collapse_white_space(text);
    let mut answers = RecallAnswers { chars: model::render::utf16_length(text), ..RecallAnswers::default() };
    let mut ask = |name: &str, item: &str, found: bool| answers.count_item(question_index(name), item, found);
    let is_named = |path: &str| is_path_mentioned(session, &flat, path);
    let holds = |words: &str| flat.contains(words);
    for (name, paths) in [
        (FILES_AGAIN_QUESTION, &wanted.files_again),
        ("edited", &wanted.edited_files),
        ("read", &wanted.read_files),
    ] {
        paths.iter().for_each(|path| ask(name, path, is_named(path)));
    }
    for (name, texts) in [
        (COMMAND_LETTERS_QUESTION, &wanted.command_lines_again),
        ("prompts", &wanted.prompts),
        ("commands, all", &wanted.commands),
    ] {
        texts.iter().for_each(|words| ask(name, words, holds(words)));
    }
    for forms in wanted.commands_again.values() {
        let form = forms.first().map_or("", String::as_str);
        ask(COMMANDS_AGAIN_QUESTION, form, is_command_named(&flat, forms));
    }
    for (name, words) in
        [("newest prompt", &wanted.newest_prompt), ("newest telling prompt", &wanted.newest_task_prompt)]
    {
        words.iter().for_each(|words| ask(name, words, holds(words)));
    }
    if let Some(open) = &wanted.open_failures {
        let lines: Vec<String> =
            labels::lines_below_failures_heading(text).into_iter().map(collapse_white_space).collect();
        for command in open {
            ask("open failures", command, lines.iter().any(|line| line.contains(command.as_str())));
        }
        for line in &lines {
            let is_open = open.iter().any(|command| line.contains(command.as_str()));
            ask("failures told are open", line, is_open);
        }
    }
    for effect in &wanted.effects {
        let words = format!("{} {}", effect.kind, effect.ids.join(" or "));
        ask("outside effects, with id", &words, effects::is_effect_mentioned(effect, &flat));
    }
    for error in &wanted.errors_again {
        let words = error.keys().next().map_or("", String::as_str);
        ask("errors met again", words, errors::warns_of_error(error, text));
    }
    let needed = &wanted.files_again;
    let named = wanted.files_by_recency.iter().filter(|path| is_named(path)).count();
    let hits = |list: &mut dyn Iterator<Item = &String>| list.filter(|path| needed.contains(*path)).count();
    answers.precision =
        FoundShare { found: answers.shares[question_index(FILES_AGAIN_QUESTION)].found, total: named };
    answers.recent_files_share =
        FoundShare { found: hits(&mut wanted.files_by_recency.iter().rev().take(named)), total: named };
    answers.frequent_files_share =
        FoundShare { found: hits(&mut wanted.files_by_frequency.iter().rev().take(named)), total: named };
    let mut room = size;
    let mut fits = |path: &&String| {
        let length = session.path_in_session(path).chars().count() + 1;
        let fits = length <= room;
        room = if fits { room - length } else { 0 };
        fits
    };
    answers.path_list_share = FoundShare {
        found: hits(&mut wanted.files_by_recency.iter().rev().take_while(&mut fits)),
        total: needed.len(),
    };
    answers
}

impl RecallAnswers {
    fn count_item(&mut self, question: usize, item: &str, found: bool) {
        self.shares[question].total += 1;
        self.shares[question].found += usize::from(found);
        if !found {
            self.missed.push((question, item.to_owned()));
        }
    }
}

/// Returns whether the text contains the path as a separate word. The end of a path is enough if no other file of the
/// session ends with it.
fn is_path_mentioned(session: &RecallSession, text: &str, path: &str) -> bool {
    let starts = path.bytes().enumerate().filter(|(_, byte)| *byte == b'/').map(|(at, _)| at + 1);
    let endings = starts.map(|at| &path[at..]).chain([path]).filter(|ending| !ending.is_empty());
    endings.filter(|ending| contains_as_word(text, ending)).any(|ending| {
        let whole = format!("/{ending}");
        !session.files.iter().any(|other| other != path && (other == ending || other.ends_with(&whole)))
    })
}

fn contains_as_word(text: &str, name: &str) -> bool {
    let glued = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let mut after = text[at + name.len()..].chars();
        let (next, then) = (after.next(), after.next());
        // A full stop may end a sentence. If a letter follows, the full stop is part of a longer name.
        let goes_on =
            next.is_some_and(|c| glued(c) || c == '/') || next == Some('.') && then.is_some_and(glued);
        !goes_on && !before.is_some_and(|c| glued(c) || c == '.')
    })
}

/// If the summary contains at least this percentage of a line's words, the line is a repetition.
const MIN_REPEATED_PERCENT: usize = 80;

/// Counts the new lines. A line is new if the summary lacks one of its paths, numbers or ids, or most of its words.
fn count_new_lines(brief: &str, summary: &str) -> FoundShare {
    let known = summary.to_lowercase();
    let is_new = |line: &&str| {
        let lower = line.to_lowercase();
        let words: Vec<&str> = lower
            .split(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '.' | '_' | '-' | '#'))
            .map(|word| word.trim_matches(['.', '-', '/']))
            .filter(|word| word.len() > 2)
            .collect();
        let is_hard =
            |word: &str| word.contains('/') || word.contains('_') || word.chars().any(|c| c.is_ascii_digit());
        let held = |word: &str| known.contains(word.rsplit('/').next().unwrap_or(word));
        words.iter().any(|word| is_hard(word) && !held(word))
            || words.iter().filter(|word| held(word)).count() * 100 < words.len() * MIN_REPEATED_PERCENT
    };
    // Skip the first line, which introduces the brief, and the headings, which contain no facts.
    let lines = brief.lines().skip(1).filter(|line| line.starts_with("- "));
    let total = lines.clone().count();
    FoundShare { found: lines.filter(is_new).count(), total }
}

#[cfg(test)]
#[path = "measure_tests.rs"]
mod tests;
