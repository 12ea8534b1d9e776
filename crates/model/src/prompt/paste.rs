//! Output that a user pasted into a message, and the user's own words beside it.

use super::MIN_SUBSTANTIAL_PROMPT_CHARS;

/// Returns the message, or its first line if many lines of pasted output follow. Returns `None` if all of it is
/// pasted output.
pub fn words_above_paste(text: &str) -> Option<&str> {
    const PASTED_LINES: usize = 6;
    const MIN_OUTPUT_LINES: usize = 4;
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines().next()?;
    let has_list = text.contains("\n#") || text.contains("\n- ");
    // Output may contain lines that look like headings or list items.
    let is_output = || {
        is_output_line(first) && lines().filter(|line| is_output_line(line)).count() * 2 >= lines().count()
    };
    let is_paste = match lines().count() {
        ..MIN_OUTPUT_LINES => false,
        count => count > PASTED_LINES && !has_list || is_output(),
    };
    match is_paste {
        false => Some(text),
        true => Some(first).filter(|first| first.ends_with([':', '.', '?', '!'])),
    }
}

/// Returns only the user's own words, if pasted output or the rows of a screen follow them. Other messages are returned
/// unchanged.
pub fn words_before_paste(text: &str) -> String {
    const MIN_PASTED_LINES: usize = 8;
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().unwrap_or_default().trim();
    let is_plan = text.lines().any(|line| line.starts_with("## "));
    let is_said = first.chars().count() >= MIN_SUBSTANTIAL_PROMPT_CHARS && first.ends_with(':');
    if is_said && !is_plan && lines.count() >= MIN_PASTED_LINES {
        return format!("{} …", first.trim_end_matches(':'));
    }
    match words_before_screen(text) {
        Some(words) => format!("{words} …"),
        None => text.to_owned(),
    }
}

/// Returns the words before rows that were copied from a screen. The rows may contain a request that was typed long ago,
/// which must not be taken for a new one. They are indented, or begin with a character that a screen prints, and the
/// first one may stand on the same line as the words.
fn words_before_screen(text: &str) -> Option<&str> {
    const MIN_ROWS: usize = 2;
    /// The minimum number of characters before the rows. A shorter text would not say what the message is about.
    const MIN_WORDS_CHARS: usize = 20;
    let mut lines = text.trim_start().lines();
    let first = lines.next()?.trim_end();
    let end = first.find(":  ").or_else(|| first.strip_suffix(':').map(str::len))?;
    let is_item = |line: &str| {
        let bare = line.trim_start();
        bare.starts_with(['-', '*', '+']) || bare.starts_with(|c: char| c.is_ascii_digit())
    };
    let is_row = |line: &str| line.starts_with(SCREEN_CHARACTERS) || line.starts_with("  ") && !is_item(line);
    let rows = lines.filter(|line| !line.trim().is_empty());
    let words = first[..end].trim_end();
    let (rows, other): (Vec<&str>, Vec<&str>) = rows.partition(|line| is_row(line));
    (rows.len() >= MIN_ROWS && other.is_empty() && words.chars().count() >= MIN_WORDS_CHARS).then_some(words)
}

/// The characters with which rows of a screen begin.
const SCREEN_CHARACTERS: [char; 14] = ['>', '$', '❯', '➜', '|', '│', '├', '└', '╭', '╰', '┌', '┐', '▸', '▾'];

/// Returns whether a line looks like the output of a program: it begins with characters such as `===` or `✓`, has a
/// time or a log level among its first words, or contains an absolute path.
pub fn is_output_line(line: &str) -> bool {
    const OUTPUT_LINE_BEGINNINGS: [&str; 16] =
        ["===", "---", "+++", "$ ", "> ", "[", "/", "|", "│", "└", "├", "✓", "✗", "✘", "at ", "error"];
    const LOG_LEVEL_WORDS: [&str; 6] = ["INFO", "WARN", "DEBUG", "ERROR", "FAIL", "PASS"];
    let bare = line.trim();
    let is_path = |word: &str| word.starts_with('/') && word.matches('/').count() >= 2;
    let is_time = |word: &str| word.len() >= 8 && word.bytes().filter(|byte| *byte == b':').count() >= 2;
    OUTPUT_LINE_BEGINNINGS.iter().any(|start| bare.starts_with(start))
        || bare
            .split_whitespace()
            .take(3)
            .any(|word| is_time(word) || LOG_LEVEL_WORDS.contains(&word.trim_end_matches(':')))
        || bare.split_whitespace().any(is_path)
}
