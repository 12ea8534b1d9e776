//! Text functions shared by several modules.

use std::borrow::Cow;
use std::hash::{BuildHasherDefault, Hasher};

/// Returns the longest prefix of at most `max` bytes that does not split a character.
pub fn cut_to_bytes(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    &text[..text.floor_char_boundary(max)]
}

/// Like [`cut_to_bytes`], but an ellipsis shows that the text was cut.
pub fn shorten_to_bytes(text: &str, max: usize) -> Cow<'_, str> {
    match text.len() <= max {
        true => Cow::Borrowed(text),
        false => {
            Cow::Owned(format!("{}…", cut_to_bytes(text, max.saturating_sub('…'.len_utf8())).trim_end()))
        }
    }
}

/// Adds an ellipsis to a part of a text at each end where text is missing. If text is missing only inside the part, and no
/// ellipsis shows it, the ellipsis is added to the end. White space, punctuation and markup are not compared, and a count
/// such as `(+2 more)` also shows that something is missing. Every quotation of a part of a text must go through this
/// function.
pub fn mark_missing_text<'p>(part: &'p str, whole: &str) -> Cow<'p, str> {
    /// How many characters at either end are compared.
    const COMPARED_CHARS: usize = 16;
    let telling = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<Vec<char>>();
    let (shown, all) = (telling(part), telling(whole));
    if shown.is_empty() {
        return Cow::Borrowed(part);
    }
    let begins = |segment: Vec<char>| all.starts_with(&segment[..segment.len().min(COMPARED_CHARS)]);
    let ends = |segment: Vec<char>| all.ends_with(&segment[segment.len().saturating_sub(COMPARED_CHARS)..]);
    let mut segments = part.trim().split('…');
    let first = segments.next().unwrap_or_default();
    let last = segments.next_back().unwrap_or(first);
    let is_marked_at_end = last.is_empty() || last.ends_with("more)");
    // The whole text may itself be a part of a longer text.
    let lacks_start = !first.is_empty() && (whole.trim_start().starts_with('…') || !begins(telling(first)));
    let lacks_end = !is_marked_at_end && (whole.trim_end().ends_with('…') || !ends(telling(last)));
    let is_marked = lacks_start || lacks_end || is_marked_at_end || part.contains('…');
    let is_unmarked = shown != all && !is_marked;
    if !lacks_start && !lacks_end && !is_unmarked {
        return Cow::Borrowed(part);
    }
    let before = if lacks_start { "… " } else { "" };
    let after = if lacks_end || is_unmarked { " …" } else { "" };
    Cow::Owned(format!("{before}{part}{after}"))
}

/// Returns the command lines that the text quotes in backticks or in fenced blocks.
pub fn quoted_commands(text: &str) -> Vec<&str> {
    let (mut found, mut fenced) = (Vec::new(), false);
    for line in text.lines().map(str::trim) {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if fenced {
            found.push(line.trim_start_matches("$ "));
        } else {
            found.extend(line.split('`').skip(1).step_by(2));
        }
    }
    // Sentences and code fragments are not command lines.
    found.retain(|words| (3..=120).contains(&words.len()) && !words.starts_with('#') && !words.contains('('));
    // A single word with a slash or a dot is a file name, not a command line.
    found.retain(|words| words.trim().contains(' ') || !words.contains(['/', '.']));
    found
}

/// Splits like `str::split_once`, but is faster on short lines, because that method's setup takes longer than its
/// search. This function searches for a single byte, the first byte of `mark` that is not a space.
pub fn split_at_first<'t>(text: &'t str, mark: &str) -> Option<(&'t str, &'t str)> {
    let before = mark.bytes().position(|byte| byte != b' ').unwrap_or(0);
    let first = *mark.as_bytes().get(before)?;
    let mut starts = memchr::memchr_iter(first, text.as_bytes()).filter_map(|at| at.checked_sub(before));
    let at = starts.find(|at| text.as_bytes()[*at..].starts_with(mark.as_bytes()))?;
    Some((&text[..at], &text[at + mark.len()..]))
}

/// How many words of eight bytes [`find_byte`] searches before it calls `memchr`.
const WORDS_BEFORE_MEMCHR: usize = 10;

/// Returns the position of the first `byte`. The byte is usually near the start of a line, key or value, so a call to
/// `memchr` would cost more than the search.
#[inline]
pub fn find_byte(byte: u8, bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    let (words, _) = bytes.as_chunks::<8>();
    let searched = words.len().min(WORDS_BEFORE_MEMCHR);
    for (index, word) in words[..searched].iter().enumerate() {
        // A byte of `other` is zero where the word contains `byte`. The lowest bit of `zeros` marks the first such
        // position.
        let other = u64::from_le_bytes(*word) ^ (ONES * u64::from(byte));
        let zeros = other.wrapping_sub(ONES) & !other & (ONES << 7);
        if zeros != 0 {
            return Some(index * 8 + zeros.trailing_zeros() as usize / 8);
        }
    }
    memchr::memchr(byte, &bytes[searched * 8..]).map(|found| searched * 8 + found)
}

/// Splits the lines outside code fences into sentences. A sentence ends with a punctuation mark followed by a space,
/// so `a.rs` does not end one.
pub fn split_into_sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    let lines = text.lines().filter(move |line| {
        let mark = line.trim_start().starts_with("```");
        fenced ^= mark;
        !mark && !fenced
    });
    lines
        .flat_map(split_line_into_sentences)
        .map(|sentence| sentence.trim().trim_start_matches(['-', '*', '#', '>', ' ']).trim())
        .filter(|sentence| !sentence.is_empty())
}

fn split_line_into_sentences(line: &str) -> Vec<&str> {
    let ends = line.match_indices(['.', '?', '!']).map(|(at, mark)| at + mark.len());
    let (mut found, mut start) = (Vec::new(), 0);
    for end in ends.filter(|end| line[*end..].starts_with(' ')).chain([line.len()]) {
        found.push(&line[start..end]);
        start = end;
    }
    found
}

/// Cuts a sentence at the end of a clause. `most` is the maximum length in characters. Returns `None` if no
/// clause ends in the second half of that length.
pub fn cut_at_clause(sentence: &str, most: usize) -> Option<String> {
    const CLAUSE_ENDS: [&str; 6] = [", ", "; ", ": ", " – ", " — ", " - "];
    /// A clause that begins with one of these words changes the meaning of the clause before it.
    const RESTRICTING_WORDS: [&str; 6] = ["but ", "except ", "if ", "only ", "unless ", "until "];
    let within = sentence.char_indices().nth(most).map_or(sentence.len(), |(at, _)| at);
    let ends = CLAUSE_ENDS.iter().flat_map(|mark| {
        sentence[..within].match_indices(mark).map(|(end, mark)| (end, &sentence[end + mark.len()..]))
    });
    let is_complete = |rest: &str| !RESTRICTING_WORDS.iter().any(|word| rest.starts_with(word));
    let ends = ends.filter(|(_, rest)| is_complete(rest)).map(|(end, _)| end);
    let end = ends.max().filter(|end| *end * 2 >= within)?;
    Some(format!("{} …", &sentence[..end]))
}

/// Shortens long text to its first line, its headings, the text that directly follows them, its steps and its
/// commands. As many of these as fit into `max` characters are kept. Omissions are marked. Text that fits is returned
/// unchanged.
pub fn outline_text(text: &str, max: usize) -> String {
    let text = text.trim();
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.trim().is_empty()).collect();
    // Text with so few lines has no outline.
    if lines.len() < 4 {
        return text.chars().take(max.saturating_sub(1)).collect::<String>().trim_end().to_owned() + "…";
    }
    let mut order: Vec<(usize, usize)> =
        line_ranks(&lines).into_iter().enumerate().map(|(i, w)| (w, i)).collect();
    order.retain(|(weight, _)| *weight != FENCE_RANK);
    // If there is enough room, the first steps are kept whole, because they are more informative than headings.
    if max >= MIN_ROOM_FOR_WHOLE_STEPS {
        order.iter_mut().filter(|(weight, _)| (3..FENCE_RANK).contains(weight)).for_each(|entry| entry.0 = 3);
    }
    order.sort_unstable();
    let (mut kept, mut room) = (Vec::new(), max);
    for (weight, i) in order {
        // The first line may be the whole message, and the first paragraph is the introduction, so they may be
        // longer.
        let most = if weight == 0 { MAX_OUTLINE_LINE_CHARS.max(max / 2) } else { MAX_OUTLINE_LINE_CHARS };
        let line: String = match lines[i].chars().count() > most {
            true => lines[i].chars().take(most - 1).chain(['…']).collect(),
            false => lines[i].to_owned(),
        };
        let cost = line.chars().count() + 3;
        if cost <= room {
            room -= cost;
            kept.push((i, line));
        }
    }
    kept.sort_unstable();
    let all: Vec<usize> = kept.iter().map(|(i, _)| *i).collect();
    kept.retain(|(i, line)| *i == 0 || !is_bare_heading(line) || has_kept_text(*i, &lines, &all));
    let mut out = String::new();
    let mut next = 0;
    for (i, line) in kept {
        if i > next {
            out.push_str("… ");
        }
        out.push_str(&line);
        out.push('\n');
        next = i + 1;
    }
    if next < lines.len() {
        out.push('…');
    }
    out.truncate(out.trim_end().len());
    out
}

/// Returns whether a line is a heading that says nothing without the text below it. A heading that names a step is not
/// bare.
fn is_bare_heading(line: &str) -> bool {
    let names_step = line.contains('`') || line.bytes().any(|byte| byte.is_ascii_digit());
    line.trim_start().starts_with('#') && !names_step && line.len() <= MAX_BARE_HEADING_BYTES
}

/// Returns whether any line of the section below a heading is kept.
fn has_kept_text(heading: usize, lines: &[&str], kept: &[usize]) -> bool {
    let below = &lines[heading + 1..];
    let length = below.iter().position(|line| line.trim_start().starts_with('#')).unwrap_or(below.len());
    kept.iter().any(|line| (heading + 1..=heading + length).contains(line))
}

/// Ranks the lines. Lines with a lower rank are kept first. Code in fences ranks last, unless the heading above it asks
/// for checks.
fn line_ranks(lines: &[&str]) -> Vec<usize> {
    let (mut fenced, mut checking, mut after_heading, mut purpose) = (false, false, true, false);
    // The first `IDENTIFYING_CHARS` characters identify the text, so the lines that contain them are kept first.
    let mut first = 0;
    let mut weights = Vec::with_capacity(lines.len());
    for (i, line) in lines.iter().enumerate() {
        let bare = line.trim_start();
        let indented = line.starts_with([' ', '\t']);
        let heading = !fenced && bare.starts_with('#');
        let item = bare.starts_with("- ")
            || bare.starts_with("* ")
            || bare.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
        if !fenced && i > 0 && is_code_line(bare) {
            weights.push(FENCE_RANK);
            continue;
        }
        if bare.starts_with("```") || bare.chars().filter(|c| c.is_alphanumeric()).count() < 3 {
            fenced ^= bare.starts_with("```");
            weights.push(FENCE_RANK);
            continue;
        }
        if heading {
            let small = bare.to_lowercase();
            checking = ["verif", "test", "check", "valid"].iter().any(|word| small.contains(word));
        }
        weights.push(match () {
            () if i == 0 || first < IDENTIFYING_CHARS => 0,
            () if !heading && !item && !fenced && !purpose => {
                purpose = true;
                0
            }
            () if !heading && checking && (fenced && could_be_command(bare) || item && !indented) => 1,
            () if heading && (bare.contains('`') || bare.len() > 24) => 2,
            () if fenced => 8,
            () if !heading && after_heading && !item => 3,
            () if heading => 4,
            () if item && !indented => 5,
            () if !indented => 6,
            () => 7,
        });
        first += line.chars().count();
        after_heading = heading;
    }
    weights
}

/// Returns whether a line outside a block is code.
fn is_code_line(line: &str) -> bool {
    line.ends_with(['{', '}', ';'])
        || line.starts_with(['{', '}'])
        || line.contains(" := ")
        || line.contains(" += ")
}

/// Returns whether a line of a block could be typed as a command and is not code.
fn could_be_command(line: &str) -> bool {
    line.starts_with(|c: char| c.is_ascii_lowercase() || matches!(c, '.' | '$'))
        && !line.ends_with(['{', '}', ';', ')', ',', ':', '('])
        && !line.contains(" = ")
        && !line.contains(":= ")
}

/// An outline of at least this many characters contains whole steps.
const MIN_ROOM_FOR_WHOLE_STEPS: usize = 600;

/// The maximum length, in bytes, of a heading that says nothing on its own.
const MAX_BARE_HEADING_BYTES: usize = 24;

/// The number of characters that are enough to identify a message.
const IDENTIFYING_CHARS: usize = 60;

/// The rank of a line that only opens or closes a block.
const FENCE_RANK: usize = 9;

/// The maximum length of a line in an outline, in characters.
const MAX_OUTLINE_LINE_CHARS: usize = 160;

/// Formats a number with its noun, such as `1 line` or `2 lines`.
pub fn count_with_noun(n: usize, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}

/// Returns a hash that identifies text without storing it. The hash is FNV-1a, because it is written to disk and must
/// be the same in every build.
pub fn fnv_fingerprint<T: AsRef<[u8]>>(parts: impl IntoIterator<Item = T>) -> u64 {
    let mut state = FINGERPRINT_OF_EMPTY_TEXT;
    for part in parts {
        for byte in part.as_ref().iter().chain(&[0xff]) {
            state = fingerprint_step(state, *byte);
        }
    }
    state
}

const FINGERPRINT_OF_EMPTY_TEXT: u64 = 0xcbf2_9ce4_8422_2325;

fn fingerprint_step(state: u64, byte: u8) -> u64 {
    (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
}

/// The hasher for maps that are never iterated. It has no random seed, because obtaining one would need a system
/// call.
pub type FingerprintHasherBuilder = BuildHasherDefault<FingerprintHasher>;

/// Computes an [`fnv_fingerprint`] incrementally.
#[derive(Debug)]
pub struct FingerprintHasher(u64);

impl Default for FingerprintHasher {
    fn default() -> Self {
        FingerprintHasher(FINGERPRINT_OF_EMPTY_TEXT)
    }
}

impl Hasher for FingerprintHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = fingerprint_step(self.0, *byte);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Returns the allowed word that is most similar to the given word, or `None` if no word is similar enough.
pub fn nearest_allowed_word<'a>(written: &str, allowed: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    allowed
        .map(|word| (strsim::jaro_winkler(written, word), word))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_between_characters() {
        for (text, max, expected) in
            [("abc", 5, "abc"), ("abc", 2, "ab"), ("aé", 2, "a"), ("é", 1, ""), ("", 0, "")]
        {
            assert_eq!(cut_to_bytes(text, max), expected);
        }
    }

    #[test]
    fn a_clause_is_cut_only_where_its_meaning_stays() {
        for (sentence, most, expected) in [
            ("Never add a script, because nobody needs one", 30, Some("Never add a script …")),
            ("Never push to main, unless I say so explicitly", 30, None),
            ("Keep the old name, but only in the tests of the core", 30, None),
            ("Write it in C, then test it, unless it is slow", 24, Some("Write it in C …")),
        ] {
            assert_eq!(cut_at_clause(sentence, most).as_deref(), expected, "{sentence}");
        }
    }

    #[test]
    fn missing_text_is_marked_where_it_is_missing() {
        let whole = "Great! The **reader** is mended: `skip` counts lines. All tests pass. What next?";
        for (part, expected) in [
            (whole, whole),
            ("Great! The reader is mended: skip counts lines. All tests pass. What next?", ""),
            ("The reader is mended: `skip` counts lines.", "… The reader is mended: `skip` counts lines. …"),
            ("Great! The reader is mended", "Great! The reader is mended …"),
            ("Great! The reader is mended…", ""),
            ("All tests pass. What next?", "… All tests pass. What next?"),
            ("… All tests pass. What next?", ""),
            ("Great! The reader is mended. What next?", "Great! The reader is mended. What next? …"),
            ("Great! The reader is mended … What next?", ""),
            ("Great! The reader is mended (+2 more)", ""),
        ] {
            let expected = if expected.is_empty() { part } else { expected };
            assert_eq!(mark_missing_text(part, whole), expected, "{part}");
        }
        // If the whole text is itself a part of a longer text, its ellipses are kept.
        assert_eq!(
            mark_missing_text("The reader is mended.", "… The reader is mended. …"),
            "… The reader is mended. …"
        );
    }

    #[test]
    fn a_byte_is_found_at_every_position() {
        for at in 0..100 {
            let mut bytes = vec![0x23; 100];
            assert_eq!(find_byte(b'"', &bytes), None);
            bytes[at..].fill(b'"');
            assert_eq!(find_byte(b'"', &bytes), Some(at));
            assert_eq!(find_byte(b'"', &bytes[..at]), None);
        }
    }

    #[test]
    fn splits_as_the_method_of_str_does() {
        for text in ["a: b: c", "a:b", ":: ", "", ": ", "é: ü", "a :b : c"] {
            for mark in [": ", ":", " : ", "é", " b", " "] {
                assert_eq!(split_at_first(text, mark), text.split_once(mark), "{text:?} {mark:?}");
            }
        }
    }

    #[test]
    fn a_plan_is_told_by_its_steps_and_checks() {
        let plan = "Do this plan:\n# Plan: keep comments in the reader\n## Summary\nThe reader drops comments.\n## Files\n\
                    ### 1. `src/reader.rs`\n- keep them\n  - also within arrays\n```rust\nfn read() {}\n```\n## Verification\n```\n\
                    make check\n```";
        assert_eq!(outline_text(plan, 400), plan);
        assert_eq!(
            outline_text(plan, 138),
            "Do this plan:\n# Plan: keep comments in the reader\n## Summary\nThe reader drops comments.\n… ### 1. `src/reader.rs`\n\
             … make check\n…"
        );
        assert_eq!(outline_text("one two three", 8), "one two…");
    }

    #[test]
    fn suggests_only_what_is_near() {
        let keys = ["hooks.enabled", "redact.emails"];
        assert_eq!(nearest_allowed_word("hooks.enable", keys.into_iter()), Some("hooks.enabled"));
        assert_eq!(nearest_allowed_word("zzz", keys.into_iter()), None);
    }
}
