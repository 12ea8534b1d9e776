//! The output of a call: the lines that prove effects, with their ids and links. Each line proves only one effect.

use std::cell::RefCell;

/// The maximum number of output lines that are searched.
const MAX_OUTPUT_LINES_SEARCHED: usize = 2_000;

/// Phrases that occur in the output of failed commands.
const FAILURE_PHRASES: &[&str] = &[
    "fatal:",
    "error:",
    "Error:",
    "ERROR",
    "[rejected]",
    "[remote rejected]",
    "denied",
    "HTTP 4",
    "HTTP 5",
    "GraphQL:",
    "Could not",
    "could not",
    "command not found",
    "No such file",
    "aborted",
    "Aborting",
    "failed to ",
    "Failed to ",
    "unauthorized",
    "Unauthorized",
];

pub(super) struct CommandOutput<'a> {
    text: &'a str,
    lines: Vec<&'a str>,
    used_lines: RefCell<Vec<bool>>,
    /// Whether the whole call succeeded.
    pub call_succeeded: bool,
}

/// The ids and link of a created object, taken from plain text or JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CreatedIds {
    pub id: String,
    pub number: String,
    pub link: String,
    pub failed: bool,
}

impl<'a> CommandOutput<'a> {
    pub fn new(text: &'a str, ok: bool) -> CommandOutput<'a> {
        let lines: Vec<&str> = text.lines().take(MAX_OUTPUT_LINES_SEARCHED).collect();
        let used = RefCell::new(vec![false; lines.len()]);
        CommandOutput { text, lines, used_lines: used, call_succeeded: ok }
    }

    pub fn lines(&self) -> impl Iterator<Item = &'a str> {
        self.lines.iter().copied()
    }

    pub fn contains_text(&self, text: &str) -> bool {
        self.text.contains(text)
    }

    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }

    pub fn reports_failure(&self) -> bool {
        FAILURE_PHRASES.iter().any(|word| self.text.contains(word))
    }

    /// Passes each unused line to `read` until it returns a result. Marks that line as used and returns the result.
    pub fn take_first_line<T>(&self, read: impl Fn(&'a str) -> Option<T>) -> Option<T> {
        let mut used = self.used_lines.borrow_mut();
        for (place, line) in self.lines.iter().enumerate() {
            if !used[place]
                && let Some(found) = read(line)
            {
                used[place] = true;
                return Some(found);
            }
        }
        None
    }

    /// Returns the ids in the next response from a service, which is a JSON object or the output of `jq`.
    pub fn take_created_ids(&self, is_link: impl Fn(&str) -> bool) -> Option<CreatedIds> {
        let start = {
            let used = self.used_lines.borrow();
            (0..self.lines.len()).find(|place| !used[*place] && !self.lines[*place].trim().is_empty())?
        };
        let line = self.lines[start].trim();
        if line.starts_with(['{', '[']) {
            return Some(self.take_json_object(start));
        }
        self.take_first_line(|line| ids_in_plain_line(line.trim(), &is_link))
    }

    fn take_json_object(&self, start: usize) -> CreatedIds {
        let from = self.offset_of_line(start);
        let (made, length) = ids_in_json(&self.text[from..]);
        let end = from + length;
        let mut used = self.used_lines.borrow_mut();
        for place in start..self.lines.len() {
            if self.offset_of_line(place) >= end {
                break;
            }
            used[place] = true;
        }
        made
    }

    fn offset_of_line(&self, place: usize) -> usize {
        self.lines[place].as_ptr() as usize - self.text.as_ptr() as usize
    }
}

/// Parses a line that consists of an id or a link, with or without a label, such as `2752893362`, `https://…` or
/// `reply: 2752893362`.
fn ids_in_plain_line(line: &str, is_link: &impl Fn(&str) -> bool) -> Option<CreatedIds> {
    let mut made = CreatedIds::default();
    for word in
        line.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | '|' | '(' | ')' | '<' | '>'))
    {
        let word = word.trim_end_matches(['.', ':', ';']).trim_start_matches('#');
        if is_link(word) {
            made.link = word.to_owned();
            made.id = id_of_link(word).to_owned();
        } else if made.id.is_empty() && looks_like_id(word) {
            made.id = word.to_owned();
        }
    }
    (!made.id.is_empty() || !made.link.is_empty()).then_some(made)
}

/// Returns whether a word looks like a service's id: a number, `PRRC_kwDO…`, a UUID or `ENT-197`.
fn looks_like_id(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let plain = word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'='));
    let upper = word.bytes().take_while(u8::is_ascii_uppercase).count();
    plain
        && (digits == word.len() && digits >= 1
            || word.len() >= 12 && digits >= 2 && upper >= 1 && word.contains('_')
            || word.len() == 36 && word.bytes().filter(|b| *b == b'-').count() == 4
            || upper >= 2
                && word[upper..]
                    .strip_prefix('-')
                    .is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit())))
}

/// Returns the id at the end of a link such as `…/pull/136#discussion_r2752893362`, `…#issuecomment-12` or
/// `…/issues/7`.
pub(super) fn id_of_link(link: &str) -> &str {
    let end = link.rsplit(['/', '#', '=']).next().unwrap_or("");
    let digits = end.len() - end.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let known =
        ["", "discussion_r", "issuecomment-", "pullrequestreview-", "note_", "event-", "r", "comment-"];
    if digits > 0 && known.contains(&&end[..end.len() - digits]) { &end[end.len() - digits..] } else { end }
}

/// Returns the first link in `text` that satisfies `wanted`.
pub(super) fn find_link(text: &str, wanted: impl Fn(&str) -> bool) -> Option<&str> {
    let mut rest = text;
    while let Some(start) = rest.find("http") {
        let link = &rest[start..];
        let end = link
            .find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | ')' | '`' | ']' | ','))
            .unwrap_or(link.len());
        let link = link[..end].trim_end_matches(['.', ';', ':']);
        if (link.starts_with("https://") || link.starts_with("http://")) && wanted(link) {
            return Some(link);
        }
        rest = &rest[start + 4..];
    }
    None
}

/// Returns the ids and the link from the outermost JSON object that contains an id or a link, and the length of the
/// JSON text, which may be truncated. The text is scanned without building JSON values.
pub(super) fn ids_in_json(text: &str) -> (CreatedIds, usize) {
    let bytes = text.as_bytes();
    let (mut made, mut ranks) = (CreatedIds::default(), [usize::MAX; 3]);
    let (mut at, mut depth) = (0, 0_usize);
    let mut key: Option<&str> = None;
    let mut message = false;
    while at < bytes.len() {
        match bytes[at] {
            b'{' | b'[' => {
                depth += 1;
                key = None;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    at += 1;
                    break;
                }
            }
            b'"' => {
                let end = json_string_end(bytes, at + 1);
                let inner = text.get(at + 1..end).unwrap_or("");
                at = end + 1;
                let after = bytes[at.min(bytes.len())..].iter().position(|b| !b.is_ascii_whitespace());
                if after.is_some_and(|skip| bytes[at + skip] == b':') {
                    key = Some(inner);
                    continue;
                }
                if let Some(key) = key.take() {
                    keep_better_field(&mut made, &mut ranks, key, inner, depth);
                    message |= depth == 1 && key == "message";
                }
                continue;
            }
            b'0'..=b'9' | b'-' => {
                let end = at
                    + bytes[at..]
                        .iter()
                        .position(|b| !matches!(b, b'0'..=b'9' | b'-' | b'.' | b'e' | b'E' | b'+'))
                        .unwrap_or(bytes.len() - at);
                if let Some(key) = key.take() {
                    keep_better_field(&mut made, &mut ranks, key, &text[at..end], depth);
                }
                at = end;
                continue;
            }
            b',' => key = None,
            _ => {}
        }
        at += 1;
    }
    let names_errors = text[..at.min(text.len())].contains("\"errors\":[{")
        || text[..at.min(text.len())].contains("\"documentation_url\":");
    made.failed |= names_errors && ranks[0] != 1 && (message || made.link.is_empty());
    (made, at.min(text.len()))
}

/// Records a field if it is better than the one recorded so far. Fields of outer objects are better than those of
/// inner objects. Within an object, `id` is better than other ids, and a page link is better than `url`.
fn keep_better_field(made: &mut CreatedIds, ranks: &mut [usize; 3], key: &str, value: &str, depth: usize) {
    let (slot, order) = match key {
        "id" | "ts" | "sha" | "message_id" | "messageId" => (0, usize::from(key != "id")),
        "number" | "iid" | "identifier" | "key" => (1, 0),
        "html_url" | "web_url" | "permalink" => (2, 0),
        "url" => (2, 1),
        _ => return,
    };
    let rank = depth * 4 + order;
    if rank >= ranks[slot] || value.is_empty() || value.len() > 300 {
        return;
    }
    ranks[slot] = rank;
    let field = [&mut made.id, &mut made.number, &mut made.link];
    let [id, number, link] = field;
    *match slot {
        0 => id,
        1 => number,
        _ => link,
    } = value.replace("\\/", "/");
}

fn json_string_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && bytes[at] != b'"' {
        at += 1 + usize::from(bytes[at] == b'\\');
    }
    at.min(bytes.len())
}

/// Returns whether a word is a commit id: 7 to 40 hexadecimal digits.
pub(super) fn is_commit_id(word: &str) -> bool {
    (7..=40).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'a'..=b'f'))
}
