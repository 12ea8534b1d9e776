//! Finds the name of a value. The name comes right before the separator, or further away as in
//! `name: DB_PASSWORD, value: x`.

use memchr::memmem;

use super::chance::profile_value;
use super::classes::{
    BASE64_URL, DOT, IDENTIFIER_BYTE, LETTER_OR_DIGIT, byte_or_newline, class_run_length,
    class_run_length_at_end, ends_with_ignore_case, is_byte_in_class,
};
use super::context;
use super::named::{MAX_BLANKS_AROUND_SEPARATOR, MAX_NAME_BYTES};

/// A name in the text, without its quotes.
pub struct NameSpan {
    pub start: usize,
    pub end: usize,
    pub is_quoted: bool,
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
        - before
            .iter()
            .rev()
            .take(MAX_BLANKS_AROUND_SEPARATOR)
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .count();
    // The name may be in an element, as in `<b>Password</b>: x`.
    if before[..end].ends_with(b">") {
        let tail = &before[end.saturating_sub(12)..end];
        let tag = memmem::rfind(tail, b"</").filter(|tag| {
            tail[tag + 2..tail.len() - 1].iter().all(|byte| is_byte_in_class(*byte, LETTER_OR_DIGIT))
                && tail.len() > tag + 3
        });
        end -= tag.map_or(0, |tag| tail.len() - tag);
    }
    // Lua marks constants and BASIC marks string variables, as in `local token <const> = "x"` and `password$ = "x"`.
    if text[at] == b'=' && (before[..end].ends_with(b" <const>") || before[..end].ends_with(b"$")) {
        end -= if before[end - 1] == b'$' { 1 } else { 8 };
    }
    // The colon after `"name"` may be on the next line.
    if text[at] == b':' && before[..end].ends_with(b"\"\n") {
        end -= 1;
    }
    // In C#, accessors come before the value, as in `public string Secret { get; set; } = "x"`.
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
    // A prompt may contain a default, as in `AWS Secret Access Key [None]: x`.
    if text[at] == b':' && before[..end].ends_with(b"]") {
        let note = &before[end.saturating_sub(40)..end];
        end -= memmem::rfind(note, b" [")
            .filter(|open| !note[*open..].contains(&b'\n'))
            .map_or(0, |open| note.len() - open);
    }
    // Makefiles contain assignments such as `NAME ?= value`.
    if text[at] == b'='
        && matches!(before[..end].last(), Some(b'?' | b'+' | b':'))
        && end > 1
        && before[end - 2] == b' '
    {
        end -= 1;
        end -= before[..end]
            .iter()
            .rev()
            .take(MAX_BLANKS_AROUND_SEPARATOR)
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .count();
    }
    // A shell array names its members in brackets, as in `([user]=ann [password]='x')`.
    let member =
        text[at] == b'=' && end == before.len() && matches!(byte_or_newline(text, at + 1), b'"' | b'\'');
    // A form may have nested fields, as in `user[name]=ann&user[password]=x`.
    let field = || {
        let value = &text[at + 1..];
        let value = &value
            [..value.iter().take(64).position(|byte| *byte <= b' ' || b"&\"'".contains(byte)).unwrap_or(0)];
        let value = if value.is_empty() { &text[at + 1..text.len().min(at + 65)] } else { value };
        end == before.len()
            && text[at] == b'='
            && profile_value(value).has_letters_and_digits()
            && value.len() >= 6
            || byte_or_newline(text, at + 1 + value.len()) == b'&' && value.len() >= 6
    };
    let bracket = end > 1
        && before[end - 1] == b']'
        && (matches!(before[end - 2], b'"' | b'\'' | b'[')
            || is_byte_in_class(before[end - 2], IDENTIFIER_BYTE) && (member || field()));
    end -= usize::from(bracket);
    let marks = before[..end].iter().rev().take(8).take_while(|byte| b"\"'`\\*?![".contains(byte)).count();
    let is_quoted = before[end - marks..end].iter().any(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    end -= marks;
    let length = class_run_length_at_end(&before[..end], BASE64_URL | DOT, MAX_NAME_BYTES);
    let mut start = floor + end - length;
    let end = floor + end;
    // The `n` in `\npassword` belongs to the escape.
    if start > floor && text[start - 1] == b'\\' && matches!(text.get(start), Some(b'n' | b'r' | b't')) {
        start += 1;
    }
    (start < end && text[start..end].iter().any(|byte| is_byte_in_class(*byte, LETTER_OR_DIGIT)))
        .then_some(NameSpan { start, end, is_quoted })
}

/// Returns the name of a value whose own label is only `value`, `default` or similar. In `name: DB_PASSWORD, value: x`
/// and `key="ApiKey" value="x"` the name comes one step earlier. In `variable "db_password" { default = "x" }` the name
/// may be a few lines above.
pub fn name_of_pair<'a>(text: &'a [u8], name: &NameSpan, floor: usize) -> Option<&'a [u8]> {
    if matches!(name.bytes(text), b"Default" | b"example" | b"default")
        && let Some(parent) = name_of_parent(text, name.start)
    {
        return Some(parent);
    }
    if name.bytes(text) == b"default" {
        let before = &text[name.start.saturating_sub(400)..name.start];
        // The name may be a flag, as in `add_argument("--password", default="x")`.
        let line = context::text_after_last_break(before);
        if let Some(flag) = memmem::find(line, b"\"--") {
            return Some(
                &line[flag + 3..flag + 3 + class_run_length(&line[flag + 3..], BASE64_URL, MAX_NAME_BYTES)],
            );
        }
        let block = &before[memmem::rfind(before, b"variable \"")? + 10..];
        let inside = memmem::find(block, b"\n}").is_none();
        return inside.then_some(&block[..class_run_length(block, BASE64_URL, MAX_NAME_BYTES)]);
    }
    // In the `<apikeys>` section of a NuGet configuration, `key` is the address and `value` is the API key.
    if name.bytes(text) == b"value"
        && super::contains_bytes(&text[name.start.saturating_sub(120)..name.start], b"<apikeys>")
    {
        return Some(b"apikey");
    }
    // The name may be in another attribute, as in `<meta name="api-token" content="x">`.
    if name.bytes(text) == b"content" {
        let line = context::text_after_last_break(&text[name.start.saturating_sub(120)..name.start]);
        let at = memmem::rfind(line, b"name=\"")? + 6;
        return Some(&line[at..at + class_run_length(&line[at..], BASE64_URL | DOT, MAX_NAME_BYTES)]);
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
    // The name may be that of a form field, as in `getElementById("password").value = "x"` and
    // `change(passwordInput, { target: { value: "x" } })`.
    if let Some(call) = before.strip_suffix(b"\")").or_else(|| before.strip_suffix(b"')")) {
        return Some(&call[call.len() - class_run_length_at_end(call, BASE64_URL, MAX_NAME_BYTES)..]);
    }
    if before.ends_with(b"target: {")
        && super::contains_bytes(
            context::text_after_last_break(&before[before.len().saturating_sub(80)..]),
            b"assword",
        )
    {
        return Some(b"password");
    }
    // The name may be that of the enclosing object, as in `"clientSecret": { "value": "x" }`.
    if let Some(object) = before.strip_suffix(b"{") {
        let object = object.trim_ascii_end();
        let object = object
            .strip_suffix(b":")
            .or_else(|| object.strip_suffix(b"="))
            .unwrap_or(object)
            .trim_ascii_end();
        let object = object.strip_suffix(b"\"").unwrap_or(object);
        return Some(&object[object.len() - class_run_length_at_end(object, BASE64_URL, MAX_NAME_BYTES)..]);
    }
    if before.ends_with(b"SecureString") {
        return Some(b"password"); // this is a parameter of AWS Systems Manager
    }
    // The `n` of an escaped line break is not part of the name.
    if before.ends_with(b"\\n") {
        before = before[..before.len() - 2].trim_ascii_end();
    }
    let before = before.strip_suffix(b"\"").or_else(|| before.strip_suffix(b"\\\"")).unwrap_or(before);
    let length = class_run_length_at_end(before, BASE64_URL | DOT, MAX_NAME_BYTES);
    let (rest, paired) = before.split_at(before.len() - length);
    let rest = &rest
        [..rest.len() - rest.iter().rev().take(8).take_while(|byte| b" \t\"'\\:=".contains(byte)).count()];
    let label = &rest[rest.len() - class_run_length_at_end(rest, IDENTIFIER_BYTE, 24)..];
    ["name", "key"].iter().any(|known| ends_with_ignore_case(label, known)).then_some(paired)
}

/// Returns the name of the object or section that contains the member at `start`. Examples are
/// `"password": {"type": "string", "example": "x"}`, and `DbPassword:` with `Default: x` on a line below it.
fn name_of_parent(text: &[u8], start: usize) -> Option<&[u8]> {
    const MAX_LINES_SEARCHED_FOR_PARENT: usize = 4;
    let before = &text[start.saturating_sub(200)..start];
    let line = context::text_after_last_break(before);
    let tail = |part: &'_ [u8]| part.len() - class_run_length_at_end(part, BASE64_URL, MAX_NAME_BYTES);
    if let Some(brace) = memchr::memrchr(b'{', line) {
        let object = line[..brace].trim_ascii_end().strip_suffix(b":")?.trim_ascii_end();
        let object = object.strip_suffix(b"\"").unwrap_or(object);
        let from = before.len() - line.len();
        return Some(&before[from + tail(object)..from + object.len()]).filter(|name| !name.is_empty());
    }
    let indent = line.iter().take_while(|byte| **byte == b' ').count();
    if indent == 0 || indent != line.len() {
        return None;
    }
    before[..before.len() - line.len()]
        .rsplit(|byte| *byte == b'\n')
        .skip(1)
        .take(MAX_LINES_SEARCHED_FOR_PARENT)
        .find_map(|row| {
            let outer = row.iter().take_while(|byte| **byte == b' ').count();
            let label = row.trim_ascii_end().strip_suffix(b":").filter(|_| outer < indent)?;
            Some(&label[tail(label)..]).filter(|name| !name.is_empty())
        })
}

/// Returns the name in the condition of `UPDATE t SET value = 'x' WHERE name = 'smtp_password'`. The column name
/// `value` ends at `end`.
fn name_in_condition(text: &[u8], end: usize) -> Option<&[u8]> {
    let rest = &text[end..text.len().min(end + 200)];
    let rest = rest.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let rest = rest.strip_prefix(b"'")?;
    let rest = &rest[memchr::memchr2(b'\'', b'\n', rest).filter(|close| rest[*close] == b'\'')? + 1..];
    let word = rest.trim_ascii_start();
    let condition = word.get(..6).filter(|word| word.eq_ignore_ascii_case(b"where ")).map(|_| &word[6..])?;
    let quote = memchr::memchr(b'\'', &condition[..condition.len().min(40)])?;
    let name = &condition[quote + 1..];
    Some(&name[..class_run_length(name, BASE64_URL | DOT, MAX_NAME_BYTES)]).filter(|name| !name.is_empty())
}

/// Returns the name given on a line above, as in `- key: auth_token`, `  type: secret`, `  value: x`.
fn label_above(before: &[u8]) -> Option<&[u8]> {
    const MAX_LINES_ABOVE_SEARCHED_FOR_LABEL: usize = 4;
    let before = &before[before.len().saturating_sub(240)..];
    let own = context::text_after_last_break(before);
    if !own.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'"' | b'\'')) {
        return None;
    }
    before[..before.len() - own.len()]
        .rsplit(|byte| *byte == b'\n')
        .take(MAX_LINES_ABOVE_SEARCHED_FOR_LABEL)
        .find_map(|line| {
            let line = line.trim_ascii();
            let line =
                line.strip_prefix(b"- ").or_else(|| line.strip_prefix(b"{")).unwrap_or(line).trim_ascii();
            let joint = line.iter().position(|byte| matches!(byte, b':' | b'='))?;
            let label = line[..joint].trim_ascii();
            let named =
                ["name", "key", "\"name\"", "\"key\"", "'name'", "variable", "\"variable\"", "\"id\"", "id"]
                    .iter()
                    .any(|known| label.eq_ignore_ascii_case(known.as_bytes()));
            let name = line[joint + 1..].trim_ascii_start();
            let name = name.strip_prefix(b"\"").or_else(|| name.strip_prefix(b"'")).unwrap_or(name);
            named
                .then(|| &name[..class_run_length(name, BASE64_URL | DOT, MAX_NAME_BYTES)])
                .filter(|name| !name.is_empty())
        })
}

/// Returns the name of a form field such as `<input name="password" type="text" value="x">`. The attributes may be in
/// any order.
fn name_of_form_field<'a>(text: &'a [u8], name: &NameSpan, floor: usize) -> Option<&'a [u8]> {
    const MAX_BYTES_BETWEEN_PAIR_PARTS: usize = 160;
    let before = &text[floor.max(name.start.saturating_sub(MAX_BYTES_BETWEEN_PAIR_PARTS))..name.start];
    let opened = memchr::memrchr2(b'<', b'\n', before).map_or(0, |at| at + 1);
    let rest = &text[name.end..text.len().min(name.end + MAX_BYTES_BETWEEN_PAIR_PARTS)];
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
    Some(&name[..class_run_length(name, BASE64_URL, MAX_NAME_BYTES)]).filter(|name| !name.is_empty())
}

/// Returns the name `text[start..end]` together with the word before it, such as `api key`.
pub fn name_with_word_before(text: &[u8], start: usize, end: usize, floor: usize) -> Option<&[u8]> {
    let before = text[floor..start].strip_suffix(b" ")?;
    let word = class_run_length_at_end(before, BASE64_URL, 24);
    (word > 0).then(|| &text[start - 1 - word..end])
}
