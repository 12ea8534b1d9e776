//! Shortens a message that contains a list. Each item is cut after its beginning, so that no item is dropped. If the
//! items would lose their point that way, only the first ones are kept, and the others are counted.

/// With less room per item than this, the items would say too little.
const MIN_ITEM_CHARS: usize = 36;

/// An item is cut at the end of a clause only if the clause has at least this many characters.
const MIN_CLAUSE_CHARS: usize = 14;

/// An item that is cut within a clause must keep at least this many characters. A shorter part usually ends before the
/// verdict, as in "Files deleted by `rm` → NOT…".
const MIN_CHARS_WITHIN_CLAUSE: usize = 56;

/// If the last item exceeds twice the length of the longest other item by more than this many characters, it is
/// assumed to contain the text after the list.
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
    let intro = text[..first].trim().trim_start_matches(['…', ' ']);
    let intro = match intro.chars().count() <= max / 3 {
        true => intro.to_owned(),
        // An introduction that is cut within a clause says nothing.
        false => Some(clauses_within(last_sentence(intro), max / 3))
            .filter(|kept| ends_with_clause(kept, last_sentence(intro)))?,
    };
    let room = max.checked_sub(intro.chars().count() + 1)?;
    let most = chars_per_item(&items, room)?;
    let beginnings: Vec<String> = items.iter().map(|item| clauses_within(item, most)).collect();
    let telling = beginnings.iter().zip(&items).filter(|(kept, item)| keeps_its_point(kept, item)).count();
    let kept = if telling * 2 > items.len() { beginnings } else { first_items(&items, room)? };
    Some(format!("{intro} {}", kept.join(" ")).trim_start().to_owned())
}

/// Returns as many of the first items as fit into `room`, followed by the number of the remaining items. Only the last
/// item that fits is cut.
fn first_items(items: &[&str], room: usize) -> Option<Vec<String>> {
    let mut room = room.checked_sub(" (+30 more)".len())?;
    let mut kept: Vec<String> = Vec::new();
    for item in items {
        let told = clauses_within(item, room);
        if room < MIN_ITEM_CHARS || !keeps_its_point(&told, item) {
            break;
        }
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

/// Returns whether the kept part of an item stops at the end of a clause.
fn ends_with_clause(kept: &str, whole: &str) -> bool {
    let Some(words) = kept.strip_suffix('…').filter(|_| kept != whole) else { return true };
    CLAUSE_ENDS.iter().any(|mark| whole.get(words.len()..).unwrap_or_default().starts_with(mark))
}

/// Returns whether the beginning of an item still says something. This is the case if it stops at the end of a clause,
/// is long, contains the item's title, or begins with a name in backticks, as in "`a.rs:10` - Empty input".
fn keeps_its_point(kept: &str, item: &str) -> bool {
    /// A title has at least this many words. "Reader #2785477259 —" is only a label.
    const MIN_TITLE_WORDS: usize = 3;
    let Some(words) = kept.strip_suffix('…').filter(|_| kept != item) else { return true };
    let rest = item.get(words.len()..).unwrap_or_default();
    let is_clause = [". ", "; ", ", ", " ("].iter().any(|mark| rest.starts_with(mark));
    let begins_with_name =
        words.trim_start_matches(|c: char| c.is_ascii_digit() || ". ".contains(c)).starts_with('`');
    let ends = [": ", " — ", " – ", " - "].iter().filter_map(|mark| item.find(mark));
    let title = ends.min().filter(|end| *end <= words.len()).map_or("", |end| &item[..end]);
    let is_word = |word: &&str| word.len() > 3 && word.chars().all(char::is_alphabetic);
    is_clause
        || begins_with_name
        || title.split(' ').filter(is_word).count() >= MIN_TITLE_WORDS
        || words.chars().count() >= MIN_CHARS_WITHIN_CLAUSE
}

/// Returns the maximum number of characters per item with which all items fit into `room`.
fn chars_per_item(items: &[&str], room: usize) -> Option<usize> {
    let lengths: Vec<usize> = items.iter().map(|item| item.chars().count() + 1).collect();
    let needed = |most: usize| lengths.iter().map(|length| (*length).min(most + 1)).sum::<usize>();
    let longest = *lengths.iter().max()?;
    (MIN_ITEM_CHARS..=longest).rev().find(|most| needed(*most) <= room)
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

/// Returns the first clauses that fit into `most` characters, with an ellipsis if something is left out.
fn clauses_within(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let within = text.char_indices().nth(most.saturating_sub(1)).map_or(text.len(), |(at, _)| at);
    let kept = &text[..within];
    let ends = CLAUSE_ENDS.iter().filter_map(|mark| kept.rfind(mark));
    let clause = ends.filter(|end| kept[..*end].chars().count() >= MIN_CLAUSE_CHARS).max();
    let word = || kept.rfind(' ').filter(|at| kept[..*at].chars().count() >= MIN_CLAUSE_CHARS);
    // Do not cut at the end of a clause if most of the room would stay empty. The item would say too little.
    let clause = clause.filter(|end| *end * 2 >= within);
    let end = clause.or_else(word).unwrap_or(within);
    format!("{}…", kept[..end].trim_end_matches([' ', ',', ';', ':', '(', '—', '–']))
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
        assert_eq!(shorten_items(list, 60), None);
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
    fn items_that_name_commits_are_dropped() {
        let text = "All comments are answered: the reader; the writer. Commits: d1b15fb answer comments; 25fbbfd log more. \
                    Ready to merge. Next?";
        let told = without_commit_lines(text, |id| ["d1b15fb", "25fbbfd"].contains(&id));
        assert_eq!(told, "All comments are answered: the reader; the writer. Ready to merge. Next?");
        assert_eq!(without_commit_lines(text, |_| false), text);
    }
}
