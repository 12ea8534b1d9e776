//! Where the name of a value is: before the separator, or further away, as in `name: DB_PASSWORD, value: x`.

use memchr::memmem;

use super::chance::profile_value;
use super::classes::{
    ALNUM, BASE64_URL, DOT, WORD, byte_is, byte_or_newline, ends_with_ignore_case, run_length,
    run_length_at_end,
};
use super::context;
use super::named::{MAX_BLANKS, MAX_NAME_BYTES};

/// A name in the text, without its quotes.
pub struct NameSpan {
    pub start: usize,
    pub end: usize,
    pub quoted: bool,
}

impl NameSpan {
    pub fn bytes<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        &text[self.start..self.end]
    }
}

/// Returns the name that ends before `at`, from `name `, `"name"`, `\"name\"`, `["name"]`, `name?` or `**name**`.
pub fn name_before(text: &[u8], at: usize, floor: usize) -> Option<NameSpan> {
    let before = &text[floor..at];
    let mut end = before.len()
        - before.iter().rev().take(MAX_BLANKS).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    // The name may be in an element: `<b>Password</b>: x`.
    if before[..end].ends_with(b">") {
        let tail = &before[end.saturating_sub(12)..end];
        let tag = memmem::rfind(tail, b"</").filter(|tag| {
            tail[tag + 2..tail.len() - 1].iter().all(|byte| byte_is(*byte, ALNUM)) && tail.len() > tag + 3
        });
        end -= tag.map_or(0, |tag| tail.len() - tag);
    }
    // The colon after `"name"` may be on the next line.
    if text[at] == b':' && before[..end].ends_with(b"\"\n") {
        end -= 1;
    }
    // In C# the accessors come before the value: `public string Secret { get; set; } = "x"`.
    if text[at] == b'=' && before[..end].ends_with(b"}") {
        let tail = &before[end.saturating_sub(40)..end];
        end -= memmem::rfind(tail, b" { get;").map_or(0, |brace| tail.len() - brace);
    }
    // A prompt may contain a remark, as in `Token (will be hidden): x`.
    if text[at] == b':' && before[..end].ends_with(b")") {
        let note = &before[end.saturating_sub(40)..end];
        let open = memmem::rfind(note, b" (").filter(|open| !note[open + 2..].contains(&b'\n'))?;
        end -= note.len() - open;
    }
    // A prompt may contain its default, as in `AWS Secret Access Key [None]: x`.
    if text[at] == b':' && before[..end].ends_with(b"]") {
        let note = &before[end.saturating_sub(40)..end];
        end -= memmem::rfind(note, b" [")
            .filter(|open| !note[*open..].contains(&b'\n'))
            .map_or(0, |open| note.len() - open);
    }
    // Make writes `NAME ?= value`.
    if text[at] == b'='
        && matches!(before[..end].last(), Some(b'?' | b'+' | b':'))
        && end > 1
        && before[end - 2] == b' '
    {
        end -= 1;
        end -= before[..end]
            .iter()
            .rev()
            .take(MAX_BLANKS)
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .count();
    }
    // A shell sets members of an array: `([user]=ann [password]='x')`.
    let member =
        text[at] == b'=' && end == before.len() && matches!(byte_or_newline(text, at + 1), b'"' | b'\'');
    // A form has fields of fields: `user[name]=ann&user[password]=x`.
    let field = || {
        let value = &text[at + 1..];
        let value = &value
            [..value.iter().take(64).position(|byte| *byte <= b' ' || b"&\"'".contains(byte)).unwrap_or(0)];
        let value = if value.is_empty() { &text[at + 1..text.len().min(at + 65)] } else { value };
        end == before.len() && text[at] == b'=' && profile_value(value).is_mixed() && value.len() >= 6
            || byte_or_newline(text, at + 1 + value.len()) == b'&' && value.len() >= 6
    };
    let bracket = end > 1
        && before[end - 1] == b']'
        && (matches!(before[end - 2], b'"' | b'\'' | b'[')
            || byte_is(before[end - 2], WORD) && (member || field()));
    end -= usize::from(bracket);
    let marks = before[..end].iter().rev().take(8).take_while(|byte| b"\"'`\\*?![".contains(byte)).count();
    let quoted = before[end - marks..end].iter().any(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    end -= marks;
    let length = run_length_at_end(&before[..end], BASE64_URL | DOT, MAX_NAME_BYTES);
    let mut start = floor + end - length;
    let end = floor + end;
    // In `\npassword` the `n` belongs to the escape.
    if start > floor && text[start - 1] == b'\\' && matches!(text.get(start), Some(b'n' | b'r' | b't')) {
        start += 1;
    }
    (start < end && text[start..end].iter().any(|byte| byte_is(*byte, ALNUM))).then_some(NameSpan {
        start,
        end,
        quoted,
    })
}

/// Returns the name of a value whose own name is `value` or `default`. In `name: DB_PASSWORD, value: x` and
/// `key="ApiKey" value="x"` the name is one step further back; in `variable "db_password" { default = "x" }` it is a
/// few lines back.
pub fn name_of_pair<'a>(text: &'a [u8], name: &NameSpan, floor: usize) -> Option<&'a [u8]> {
    if name.bytes(text) == b"default" {
        let before = &text[name.start.saturating_sub(400)..name.start];
        // The name may be a flag, as in `add_argument("--password", default="x")`.
        let line = context::text_after_last_break(before);
        if let Some(flag) = memmem::find(line, b"\"--") {
            return Some(
                &line[flag + 3..flag + 3 + run_length(&line[flag + 3..], BASE64_URL, MAX_NAME_BYTES)],
            );
        }
        let block = &before[memmem::rfind(before, b"variable \"")? + 10..];
        let inside = memmem::find(block, b"\n}").is_none();
        return inside.then_some(&block[..run_length(block, BASE64_URL, MAX_NAME_BYTES)]);
    }
    // In `<apikeys>` of NuGet the key is the address.
    if name.bytes(text) == b"value"
        && super::contains_bytes(&text[name.start.saturating_sub(120)..name.start], b"<apikeys>")
    {
        return Some(b"apikey");
    }
    // The name of a tag's value may be another attribute: `<meta name="api-token" content="x">`.
    if name.bytes(text) == b"content" {
        let line = context::text_after_last_break(&text[name.start.saturating_sub(120)..name.start]);
        let at = memmem::rfind(line, b"name=\"")? + 6;
        return Some(&line[at..at + run_length(&line[at..], BASE64_URL | DOT, MAX_NAME_BYTES)]);
    }
    if !ends_with_ignore_case(name.bytes(text), "value") {
        return None;
    }
    if let Some(row) = name_in_condition(text, name.end) {
        return Some(row);
    }
    let name = &NameSpan { start: name.start + usize::from(text[name.start] == b'.'), ..*name };
    let before = &text[floor..name.start];
    if let Some(field) = name_of_form_field(text, name, floor) {
        return Some(field);
    }
    if let Some(label) = label_above(before) {
        return Some(label);
    }
    let before = before.strip_suffix(b".").unwrap_or(before);
    let gap = before.iter().rev().take(40).take_while(|byte| b" \t\r\n\"'\\,;-".contains(byte)).count();
    let mut before = &before[..before.len() - gap];
    before = before.strip_suffix(b" android:").unwrap_or(before);
    // The name may be that of a field: `getElementById("password").value = "x"`,
    // `change(passwordInput, { target: { value: "x" } })`.
    if let Some(call) = before.strip_suffix(b"\")").or_else(|| before.strip_suffix(b"')")) {
        return Some(&call[call.len() - run_length_at_end(call, BASE64_URL, MAX_NAME_BYTES)..]);
    }
    if before.ends_with(b"target: {")
        && super::contains_bytes(
            context::text_after_last_break(&before[before.len().saturating_sub(80)..]),
            b"assword",
        )
    {
        return Some(b"password");
    }
    // The name may be that of the object: `"clientSecret": { "value": "x" }`.
    if let Some(object) = before.strip_suffix(b"{") {
        let object = object.trim_ascii_end();
        let object = object
            .strip_suffix(b":")
            .or_else(|| object.strip_suffix(b"="))
            .unwrap_or(object)
            .trim_ascii_end();
        let object = object.strip_suffix(b"\"").unwrap_or(object);
        return Some(&object[object.len() - run_length_at_end(object, BASE64_URL, MAX_NAME_BYTES)..]);
    }
    if before.ends_with(b"SecureString") {
        return Some(b"password"); // this is a parameter of AWS Systems Manager
    }
    // The `n` of an escaped line break is not part of the name.
    if before.ends_with(b"\\n") {
        before = before[..before.len() - 2].trim_ascii_end();
    }
    let before = before.strip_suffix(b"\"").or_else(|| before.strip_suffix(b"\\\"")).unwrap_or(before);
    let length = run_length_at_end(before, BASE64_URL | DOT, MAX_NAME_BYTES);
    let (rest, paired) = before.split_at(before.len() - length);
    let rest = &rest
        [..rest.len() - rest.iter().rev().take(8).take_while(|byte| b" \t\"'\\:=".contains(byte)).count()];
    let label = &rest[rest.len() - run_length_at_end(rest, WORD, 24)..];
    ["name", "key"].iter().any(|known| ends_with_ignore_case(label, known)).then_some(paired)
}

/// Returns the name in the condition of `UPDATE t SET value = 'x' WHERE name = 'smtp_password'`. The column ends at `end`.
fn name_in_condition(text: &[u8], end: usize) -> Option<&[u8]> {
    let rest = &text[end..text.len().min(end + 200)];
    let rest = rest.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let rest = rest.strip_prefix(b"'")?;
    let rest = &rest[memchr::memchr2(b'\'', b'\n', rest).filter(|close| rest[*close] == b'\'')? + 1..];
    let word = rest.trim_ascii_start();
    let condition = word.get(..6).filter(|word| word.eq_ignore_ascii_case(b"where ")).map(|_| &word[6..])?;
    let quote = memchr::memchr(b'\'', &condition[..condition.len().min(40)])?;
    let name = &condition[quote + 1..];
    Some(&name[..run_length(name, BASE64_URL | DOT, MAX_NAME_BYTES)]).filter(|name| !name.is_empty())
}

/// Returns the name from a line above, as in `- key: auth_token`, `  type: secret`, `  value: x`.
fn label_above(before: &[u8]) -> Option<&[u8]> {
    const MOST_LINES: usize = 4;
    let before = &before[before.len().saturating_sub(240)..];
    let own = context::text_after_last_break(before);
    if !own.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'"' | b'\'')) {
        return None;
    }
    before[..before.len() - own.len()].rsplit(|byte| *byte == b'\n').take(MOST_LINES).find_map(|line| {
        let line = line.trim_ascii();
        let line = line.strip_prefix(b"- ").or_else(|| line.strip_prefix(b"{")).unwrap_or(line).trim_ascii();
        let joint = line.iter().position(|byte| matches!(byte, b':' | b'='))?;
        let label = line[..joint].trim_ascii();
        let named =
            ["name", "key", "\"name\"", "\"key\"", "'name'", "variable", "\"variable\"", "\"id\"", "id"]
                .iter()
                .any(|known| label.eq_ignore_ascii_case(known.as_bytes()));
        let name = line[joint + 1..].trim_ascii_start();
        let name = name.strip_prefix(b"\"").or_else(|| name.strip_prefix(b"'")).unwrap_or(name);
        named
            .then(|| &name[..run_length(name, BASE64_URL | DOT, MAX_NAME_BYTES)])
            .filter(|name| !name.is_empty())
    })
}

/// Returns the name of a field, as in `<input name="password" type="text" value="x">`, with its attributes in any
/// order.
fn name_of_form_field<'a>(text: &'a [u8], name: &NameSpan, floor: usize) -> Option<&'a [u8]> {
    const MAX_PAIR_DISTANCE: usize = 160;
    let before = &text[floor.max(name.start.saturating_sub(MAX_PAIR_DISTANCE))..name.start];
    let opened = memchr::memrchr2(b'<', b'\n', before).map_or(0, |at| at + 1);
    let rest = &text[name.end..text.len().min(name.end + MAX_PAIR_DISTANCE)];
    let rest = &rest[..rest.iter().position(|byte| matches!(byte, b'>' | b'\n')).unwrap_or(rest.len())];
    let (before, attributes) = (&before[opened..], [&before[opened..], rest]);
    let holds = |part: &[u8]| attributes.iter().any(|half| memmem::find(half, part).is_some());
    if before.contains(&b'>') || !matches!(byte_or_newline(rest, 1), b'"' | b'\'') {
        return None;
    }
    if holds(b"type=\"password\"") || holds(b"type='password'") {
        return Some(b"password");
    }
    let field = || attributes.iter().find_map(|half| Some(&half[memmem::find(half, b" name=\"")? + 7..]));
    let name = before.starts_with(b"input ").then(field)??;
    Some(&name[..run_length(name, BASE64_URL, MAX_NAME_BYTES)]).filter(|name| !name.is_empty())
}

/// Returns the name `text[start..end]` together with the previous word: `api key`.
pub fn name_with_word_before(text: &[u8], start: usize, end: usize, floor: usize) -> Option<&[u8]> {
    let before = text[floor..start].strip_suffix(b" ")?;
    let word = run_length_at_end(before, BASE64_URL, 24);
    (word > 0).then(|| &text[start - 1 - word..end])
}
