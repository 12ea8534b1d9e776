//! Shortens a message that contains a list. Each item is cut at the end of a clause, so that no item is dropped. If the
//! items would lose their point that way, only the first ones are kept, and the others are counted.

/// With less room per item than this, the items would say too little.
const MIN_ITEM_CHARS: usize = 36;

/// An item is cut at the end of a clause only if the clause has at least this many characters.
const MIN_CLAUSE_CHARS: usize = 14;

/// If the first clauses of an item have at least this many characters, they usually contain the point.
const MIN_CHARS_OF_LONG_BEGINNING: usize = 56;

/// If the last item is longer than this limit, it probably contains the text after the list. The limit is twice
/// the length of the longest other item, plus this number of characters.
const MAX_LAST_ITEM_EXCESS_CHARS: usize = 80;

/// The marks that end a clause.
const CLAUSE_ENDS: [&str; 8] = [". ", "; ", ": ", " — ", " – ", " - ", ", ", " ("];

/// Shortens a message with a numbered list to `max` characters by shortening each item to its first clauses. Returns
/// `None` if the message has no such list, if it already fits, or if there is too little room.
pub fn shorten_items(text: &str, max: usize) -> Option<String> {
    if text.chars().count() <= max {
        return None;
    }
    let starts = item_starts(text);
    let first = *starts.first()?;
    let items: Vec<&str> = starts
        .iter()
        .enumerate()
        .map(|(i, start)| text[*start..starts.get(i + 1).copied().unwrap_or(text.len())].trim())
        .collect();
    let length = |item: &&str| item.chars().count();
    let (last, others) = items.split_last().filter(|(_, others)| !others.is_empty())?;
    // If the last item is much longer than the others, it probably contains the conclusion after the list. The
    // conclusion is more important than the items, so do not shorten the message here.
    if length(last) > others.iter().map(length).max()? * 2 + MAX_LAST_ITEM_EXCESS_CHARS {
        return None;
    }
    let intro = introduction_within(text[..first].trim().trim_start_matches(['…', ' ']), max)?;
    let room = max.checked_sub(intro.chars().count() + 1)?;
    let cuts: Vec<Vec<usize>> = items.iter().map(|item| telling_cuts(item)).collect();
    let kept = whole_clauses_of_all(&items, &cuts, room).or_else(|| first_items(&items, &cuts, room))?;
    Some(format!("{intro} {}", kept.join(" ")).trim_start().to_owned())
}

/// Returns the introduction of a list, or only its last sentence if it is long. `None` if it would have to be cut.
fn introduction_within(intro: &str, max: usize) -> Option<String> {
    let length = |text: &str| text.chars().count();
    if length(intro) <= max / 3 {
        return Some(intro.to_owned());
    }
    let last = last_sentence(intro);
    if length(last) <= max * 2 / 3 {
        return Some(format!("… {last}"));
    }
    // An introduction that is cut within a clause says nothing.
    let end = telling_cuts(last).into_iter().rfind(|end| length(&last[..*end]) < max / 3)?;
    Some(cut_item(last, end))
}

/// Shortens every item to whole clauses. First, each item is cut to its shortest beginning that still says something.
/// Then each item in turn gets its next clause, as long as there is room. Returns `None` if not even the shortest
/// beginnings fit.
fn whole_clauses_of_all(items: &[&str], cuts: &[Vec<usize>], room: usize) -> Option<Vec<String>> {
    let cost = |item: &str, end: usize| cut_item(item, end).chars().count() + 1;
    let mut chosen = vec![0; items.len()];
    let shortest: usize = items.iter().zip(cuts).map(|(item, cuts)| cost(item, cuts[0])).sum();
    let mut left = room.checked_sub(shortest)?;
    let mut has_grown = true;
    while std::mem::take(&mut has_grown) {
        for (i, item) in items.iter().enumerate() {
            let Some(next) = cuts[i].get(chosen[i] + 1) else { continue };
            let more = cost(item, *next).saturating_sub(cost(item, cuts[i][chosen[i]]));
            if more <= left {
                left -= more;
                chosen[i] += 1;
                has_grown = true;
            }
        }
    }
    Some(items.iter().enumerate().map(|(i, item)| cut_item(item, cuts[i][chosen[i]])).collect())
}

/// Returns as many of the first items as fit into `room`, followed by the number of the remaining items. The last of
/// them may be shortened to fit.
fn first_items(items: &[&str], cuts: &[Vec<usize>], room: usize) -> Option<Vec<String>> {
    let mut room = room.checked_sub(" (+30 more)".len())?;
    let mut kept: Vec<String> = Vec::new();
    for (item, cuts) in items.iter().zip(cuts) {
        let longest =
            cuts.iter().rev().map(|end| cut_item(item, *end)).find(|told| told.chars().count() <= room);
        let Some(told) = longest.filter(|_| room >= MIN_ITEM_CHARS) else { break };
        room = room.saturating_sub(told.chars().count() + 1);
        kept.push(told);
    }
    let left = items.len() - kept.len();
    if kept.is_empty() || left == 0 {
        return None;
    }
    kept.push(format!("(+{left} more)"));
    Some(kept)
}

/// Returns the beginning of an item up to `end`, with an ellipsis if something is left out.
fn cut_item(item: &str, end: usize) -> String {
    match end == item.len() {
        true => item.to_owned(),
        false => format!("{}…", item[..end].trim_end_matches([' ', ',', ';', ':', '(', '—', '–'])),
    }
}

/// Returns the positions where an item can be cut without losing its point, in ascending order. The last position is
/// the end of the item.
fn telling_cuts(item: &str) -> Vec<usize> {
    let marks = CLAUSE_ENDS.iter().flat_map(|mark| item.match_indices(mark));
    let mut ends: Vec<usize> = marks
        .map(|(at, _)| at)
        .filter(|at| item[..*at].chars().count() >= MIN_CLAUSE_CHARS)
        .filter(|at| is_closed(&item[..*at]) && keeps_its_point(&item[..*at], item))
        .filter(|at| ends_with_full_clause(&item[..*at], &item[*at..]))
        .filter(|at| !tells_only_old_state(&item[..*at]))
        .chain([item.len()])
        .collect();
    ends.sort_unstable();
    ends.dedup();
    ends
}

/// Returns whether the last clause can end a text. "Changed from" is only the beginning of one, and "If nothing is there"
/// needs the clause after it.
fn ends_with_full_clause(words: &str, rest: &str) -> bool {
    const MIN_CLAUSE_WORDS: usize = 3;
    const DEPENDENT_STARTS: [&str; 6] = ["because ", "if ", "since ", "when ", "where ", "while "];
    let ends = CLAUSE_ENDS.iter().filter_map(|mark| Some(words.rfind(mark)? + mark.len()));
    let start = ends.max().unwrap_or(0);
    let is_first = words[..start].trim_end_matches(['.', ' ']).bytes().all(|byte| byte.is_ascii_digit());
    let clause = words[start..].to_lowercase();
    !DEPENDENT_STARTS.iter().any(|word| clause.starts_with(word))
        && (is_first
            || !rest.starts_with([':', ' '])
            || clause.split_whitespace().count() >= MIN_CLAUSE_WORDS)
}

/// Returns whether the words say what something was before a change, but not what it is now: `Changed from: "old"`.
fn tells_only_old_state(words: &str) -> bool {
    const OLD_STATE_WORDS: [&str; 4] = ["changed from", "renamed from", "moved from", "switched from"];
    let small = words.to_lowercase();
    let old = OLD_STATE_WORDS.iter().filter_map(|start| Some(small.rfind(start)? + start.len())).max();
    old.is_some_and(|end| ![" to ", " to:", "→", "->"].iter().any(|to| small[end..].contains(to)))
}

/// Returns whether no quotation, code or parenthesis is left open.
pub(super) fn is_closed(text: &str) -> bool {
    let count = |mark: char| text.matches(mark).count();
    count('`') % 2 == 0 && count('"') % 2 == 0 && count('(') <= count(')') && count('“') <= count('”')
}

/// Returns whether the beginning of an item still says something: it ends with a clause, is long, contains the item's
/// title, or begins with a name in backticks, as in "`a.rs:10` - Empty input".
fn keeps_its_point(words: &str, item: &str) -> bool {
    /// A title has at least this many words, or contains code. "Reader #2785477259 —" is only a label.
    const MIN_TITLE_WORDS: usize = 3;
    let rest = &item[words.len()..];
    let is_clause = [". ", "; ", ", ", " ("].iter().any(|mark| rest.starts_with(mark));
    let begins_with_name =
        words.trim_start_matches(|c: char| c.is_ascii_digit() || ". ".contains(c)).starts_with('`');
    let ends = [": ", " — ", " – ", " - "].iter().filter_map(|mark| item.find(mark));
    let title = ends.min().filter(|end| *end <= words.len()).map_or("", |end| &item[..end]);
    let is_word = |word: &&str| word.len() > 3 && word.chars().all(char::is_alphabetic);
    is_clause
        || begins_with_name
        || title.contains('`')
        || title.split(' ').filter(is_word).count() >= MIN_TITLE_WORDS
        || words.chars().count() >= MIN_CHARS_OF_LONG_BEGINNING
}

/// Returns the positions where the items of a numbered list begin. If the list begins with 2, the text before it is
/// the first item.
fn item_starts(text: &str) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut from = 0;
    for number in 1..=30 {
        match number_position(text, number, from) {
            Some(at) => {
                starts.push(at);
                from = at + 1;
            }
            None if number == 1 => {}
            None => break,
        }
        if number == 2 && starts.len() == 1 && number_position(text, 1, 0).is_none() {
            starts.insert(0, 0);
        }
    }
    starts
}

/// Returns the position of `N. ` at the start of the text or after the end of a sentence or item.
fn number_position(text: &str, number: usize, from: usize) -> Option<usize> {
    let mark = format!("{number}. ");
    let mut found = text[from..].match_indices(&mark).map(|(at, _)| from + at);
    found.find(|at| {
        *at == 0
            || text[..*at].ends_with(' ')
                && text[..*at].trim_end().ends_with(['.', ':', ';', '!', '?', ')', '…', '`', '"'])
    })
}

/// Returns the last sentence of the text before a list, because this sentence introduces the list.
fn last_sentence(text: &str) -> &str {
    text.rfind(". ").map_or(text, |at| &text[at + 2..])
}

/// Returns a message without the list items that begin with the id of a commit that is listed elsewhere.
pub fn without_commit_lines(text: &str, is_listed: impl Fn(&str) -> bool) -> String {
    let position = |item: &str| commit_position(item, &is_listed);
    let is_commit = |item: &str| position(item).is_some();
    if !text.split("; ").any(is_commit) {
        return text.to_owned();
    }
    let mut kept: Vec<&str> = Vec::new();
    for item in text.split("; ") {
        // Remove the sentence about the commit, including its introduction. Keep the sentences before and after it.
        match position(item) {
            None => kept.push(item),
            Some(at) => {
                let (before, after) = item.split_at(at);
                let before = before.rfind(". ").map_or("", |end| &before[..=end]);
                let after = after.find(". ").map_or("", |end| after[end + 2..].trim());
                kept.extend([before, after].into_iter().filter(|part| !part.is_empty()));
            }
        }
    }
    kept.join("; ").replace(".; ", ". ")
}

/// Returns the position of a commit's id at the start of an item, or after an introduction in the item.
fn commit_position(item: &str, is_listed: impl Fn(&str) -> bool) -> Option<usize> {
    let is_id = |word: &str| {
        (7..=40).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit()) && is_listed(word)
    };
    let mut starts = [0].into_iter().chain(item.match_indices(": ").map(|(at, mark)| at + mark.len()));
    let first_word = |at: usize| item[at..].split_whitespace().next().unwrap_or_default().trim_matches('`');
    starts.find(|at| is_id(first_word(*at)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_keeps_its_beginning() {
        let list = "Four comments came in. My view: 1. `a.rs:10` - Empty input, the reader returns nothing at all. \
                    2. `b.rs:20` - Check for an empty list; it is dropped. 3. `c.rs:30` - Say what the first part is. \
                    4. `d.rs:40` - Log the failure.";
        let told = shorten_items(list, 180).unwrap_or_default();
        assert!(
            told.chars().count() <= 180 && told.contains("My view: 1. `a.rs:10` - Empty input…"),
            "{told}"
        );
        assert!(["2. `b.rs", "3. `c.rs", "4. `d.rs"].iter().all(|item| told.contains(item)), "{told}");
        assert_eq!(shorten_items(list, 40), None);
        assert_eq!(shorten_items(list, 1_000), None);
        assert_eq!(
            shorten_items("It takes 2. That is long enough to be cut somewhere in the middle.", 30),
            None
        );
    }

    #[test]
    fn an_item_is_not_cut_before_its_point() {
        let list = "The cause is known: 1. Files deleted by `rm -rf` → NOT detected by `find_changed` (it only sees \
                    edits); 2. Files created by `cp -r` → NOT detected by `find_changed`; 3. `find_new` might find the \
                    new folder, but nothing finds the deletions.";
        assert_eq!(
            shorten_items(list, 160).unwrap_or_default(),
            "The cause is known: 1. Files deleted by `rm -rf` → NOT detected by `find_changed` (it only sees edits); \
             (+2 more)"
        );
        // A path is not the point of an item either.
        let review = "Four comments: 1. Reader #2785477238 and bot #2785478280 — Both flag the same bug: `discard` in \
                      `fix.go` is no longer idempotent. 2. Reader #2785477259 — Stale comment on `remove`. Valid. \
                      3. Reader #2785477268 — The level is not set. Valid.";
        let told = shorten_items(review, 160).unwrap_or_default();
        assert!(told.contains("Both flag the same bug: `discard` in `fix.go`"), "{told}");
        assert!(told.ends_with("(+2 more)"), "{told}");
    }

    #[test]
    fn items_end_with_a_clause() {
        for (text, max, expected) in [
            (
                "The changes: 1. Redesigned `LaneInfo` - Now stores an array of the states of all lanes. 2. Updated \
                 `compute_lanes()` - Now collects all sessions. 3. Simplified `render_lanes()` - Now just iterates.",
                140,
                "The changes: 1. Redesigned `LaneInfo`… 2. Updated `compute_lanes()` - Now collects all sessions. \
                 3. Simplified `render_lanes()`…",
            ),
            (
                "The changes: 1. Removed the skip logic: removed `skip()` and all of its callers in the handlers. \
                 2. Updated the warning message: Changed from: one line of text to two lines of text.",
                120,
                "The changes: 1. Removed the skip logic… 2. Updated the warning message…",
            ),
            // Quoting only the old state would not help, so it is left out if the new state does not fit.
            (
                "The changes: 1. Removed the skip logic: removed `skip()` and all of its callers in the handlers. \
                 2. Updated the warning message: Changed from: \"Nothing is kept\". To: \"Both are kept for the rewind\".",
                120,
                "The changes: 1. Removed the skip logic… 2. Updated the warning message…",
            ),
            // Code and quotations are not cut, either.
            (
                "Two findings: 1. Modified by commands like `echo \"x, y\" >> a.txt` or by an editor. 2. Changed in the \
                 message: \"If you continue here, both are kept\" is gone.",
                110,
                "Two findings: 1. Modified by commands like `echo \"x, y\" >> a.txt` or by an editor. (+1 more)",
            ),
            // The introduction says more than the items.
            (
                "I think I found it. There is a gap: files that are modified by `Bash` are not detected if: 1. They are \
                 tracked already, and not new. 2. They are modified by a command that redirects its output.",
                130,
                "… There is a gap: files that are modified by `Bash` are not detected if: 1. They are tracked already, and \
                 not new. (+1 more)",
            ),
        ] {
            assert_eq!(shorten_items(text, max).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn items_that_name_commits_are_dropped() {
        let text = "All comments are answered: the reader; the writer. Commits: d1b15fb answer comments; 25fbbfd log more. \
                    Ready to merge. Next?";
        let told = without_commit_lines(text, |id| ["d1b15fb", "25fbbfd"].contains(&id));
        assert_eq!(told, "All comments are answered: the reader; the writer. Ready to merge. Next?");
        assert_eq!(without_commit_lines(text, |_| false), text);
    }
}
