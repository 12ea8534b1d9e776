//! Small things about text that more than one module needs.

/// The longest prefix of at most `max` bytes that ends between two characters.
pub fn cut(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    &text[..text.floor_char_boundary(max)]
}

/// Lines outside of fences, and within them what ends with a mark and a space: `a.rs` is one word.
pub fn sentences(text: &str) -> impl Iterator<Item = &str> {
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

/// A long text by its first line, headings, list items and commands, as many as fit into `max` characters; lines that
/// are left out are marked. A text that fits is left as it is.
pub fn outline(text: &str, max: usize) -> String {
    let text = text.trim();
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.trim().is_empty()).collect();
    // One paragraph has no outline.
    if lines.len() < 4 {
        return text.chars().take(max.saturating_sub(1)).collect::<String>().trim_end().to_owned() + "…";
    }
    let weight = |line: &str| {
        let indented = line.starts_with([' ', '\t']);
        let bare = line.trim_start();
        let item =
            bare.starts_with(['-', '*', '+']) || bare.bytes().next().is_some_and(|b| b.is_ascii_digit());
        match bare.starts_with('#') {
            true => 1,
            false if item && !indented => 2,
            false if !indented && !item => 3,
            false => 4,
        }
    };
    let mut order: Vec<(usize, usize)> =
        lines.iter().enumerate().map(|(i, line)| (if i == 0 { 0 } else { weight(line) }, i)).collect();
    order.sort_unstable();
    let (mut kept, mut room) = (Vec::new(), max);
    for (_, i) in order {
        let line: String = match lines[i].chars().count() > LINE {
            true => lines[i].chars().take(LINE - 1).chain(['…']).collect(),
            false => lines[i].to_owned(),
        };
        let cost = line.chars().count() + 3;
        if cost <= room {
            room -= cost;
            kept.push((i, line));
        }
    }
    kept.sort_unstable();
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

/// Longest line of an outline.
const LINE: usize = 160;

/// `1 line`, `2 lines`.
pub fn count(n: usize, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}

/// Tells texts apart where they need not be kept: FNV-1a, the same in every build, because it is written to disk.
pub fn fingerprint<T: AsRef<[u8]>>(parts: impl IntoIterator<Item = T>) -> u64 {
    let mut state: u64 = 0xcbf2_9ce4_8422_2325;
    for part in parts {
        for byte in part.as_ref().iter().chain(&[0xff]) {
            state = (state ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    state
}

/// The allowed word nearest to what was written, if it is near enough to be meant.
pub fn did_you_mean<'a>(written: &str, allowed: impl Iterator<Item = &'a str>) -> Option<&'a str> {
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
            assert_eq!(cut(text, max), expected);
        }
    }

    #[test]
    fn suggests_only_what_is_near() {
        let keys = ["hooks.enabled", "redact.emails"];
        assert_eq!(did_you_mean("hooks.enable", keys.into_iter()), Some("hooks.enabled"));
        assert_eq!(did_you_mean("zzz", keys.into_iter()), None);
    }
}
