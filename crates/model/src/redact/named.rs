//! Finds secrets that are assigned to a name, as in `name = value`. Such assignments occur in environment variables,
//! code, headers, query strings, XML, YAML, TOML, INI and JSON (also in JSON inside JSON). The separator is found
//! first. Then the name is read backwards and the value forwards.

use memchr::memmem;

use super::chance::profile_value;
use super::classes::{
    BASE64_URL, DIGIT, DOT, IDENTIFIER_BYTE, LETTER_OR_DIGIT, LOWER, UPPER, byte_or_newline,
    class_run_length, class_run_length_at_end, count_blanks, ends_with_ignore_case, is_byte_in_class,
};
use super::name_spans::{NameSpan, name_before, name_of_pair, name_with_word_before};
use super::names::{self, NameStrength, NameVerdict};
use super::sentences::{self, NameLanguage};
use super::values::{self, LiteralValue, ValueContext};
use super::{FoundSecret, commands, context, headers, keys, made_up, pairs, shape, tables};

/// How many bytes of a name are read. A longer name is judged by its last bytes.
pub const MAX_NAME_BYTES: usize = 64;
/// The maximum number of blanks around a separator. Aligned tables can contain many.
pub const MAX_BLANKS_AROUND_SEPARATOR: usize = 40;

/// Finds the secret assigned by the `=` or `:` at `at`.
pub fn secret_assigned_at(text: &[u8], at: usize, floor: usize) -> Option<FoundSecret> {
    let mut after = at + 1;
    let mut joint = ValueContext::default();
    match (text[at], byte_or_newline(text, after)) {
        // In LDIF, the value in `userPassword:: x` is base64.
        (b':', b':')
            if byte_or_newline(text, after + 1) == b' ' && text[floor..at].ends_with(b"Password") =>
        {
            return encoded_secret(text, after + 2);
        }
        (b':', b':') => return secret_in_workflow_output(text, at, floor),
        (b'=', b'~') if byte_or_newline(text, after + 1) == b' ' => return None,
        (b'=', _) if text[floor..at].ends_with(b"!") => return None,
        (b':', b'/') if byte_or_newline(text, after + 1) == b'/' => return None,
        (b':', b'=') | (b'=', b'>') => after += 1,
        (b':', b'-') if is_variable_expansion(&text[floor..at]) => after += 1,
        (b'=', b'=') => {
            joint.is_doubtful_form = true;
            after += class_run_length(&text[after..], super::classes::EQUALS, 2);
        }
        _ => {}
    }
    if text[at] == b':'
        && let Some(hit) = tables::secret_in_pgpass(text, at, floor)
    {
        return Some(hit);
    }
    let Some(mut name) = name_before(text, at, floor) else {
        return context::secret_in_announced_line(text, at);
    };
    // In Visual Basic, the type comes after the name, as in `ApiKey As String = "x"`.
    if name.bytes(text) == b"String" && text[floor..name.start].ends_with(b" As ") {
        name = name_before(text, name.start - 4, floor)?;
    }
    if name.bytes(text) == b"string" {
        name = name_before(text, name.start, floor)?; // as in `var name string = "value"`
    } else if name.bytes(text) == b"is" {
        name = name_before(text, name.start, floor)?; // as in `your token is: value`
        joint.is_doubtful_form = true;
    }
    // The name in `Enter PEM pass phrase: x` consists of two words.
    if name.bytes(text) == b"phrase" && ends_with_ignore_case(&text[floor..name.start], "pass ") {
        name.start -= 5;
    }
    let numbered =
        text[at] == b':' && name.end - name.start == 1 && is_byte_in_class(text[name.start], DIGIT);
    if numbered && text[floor..name.start].ends_with(b" ") {
        name = name_before(text, name.start, floor)?; // as in `Unseal Key 1: value`
    }
    if text[at] == b':' && name.bytes(text) == b"Private-Lines" {
        return keys::putty_key_lines(text, after);
    }
    if text[at] == b':' && text[floor..name.start].ends_with(b"//") {
        return None; // this is the user name in a URL (see `urls`)
    }
    let paired = name_of_pair(text, &name, floor);
    let Some(verdict) = names::judge_name(paired.unwrap_or(name.bytes(text))) else {
        return context::secret_told_by_context(text, name.start, name.end, at);
    };
    // A bare `key` can be a password, as in `PRAGMA key = 'x'` and `SSID: home / key: x`.
    let verdict = match verdict.strength {
        NameStrength::PossiblySecret if is_passphrase_key(text, &name) => {
            NameVerdict { strength: NameStrength::Password, kind: "password" }
        }
        _ => verdict,
    };
    if text[at] == b':' && is_resource_declaration(&text[floor..name.start]) {
        return None; // as in `arn:aws:secretsmanager:eu-west-1:1234:secret:name` and `!MD5:!PSK:!aNULL`
    }
    let expanded = text[at] == b':' && is_variable_expansion(&text[floor..at]);
    joint.without_blanks = name.end == at
        && !matches!(byte_or_newline(text, after), b' ' | b'\t')
        && (text[at] == b'=' || expanded);
    after += closing_marks_length(&text[after..]);
    after += count_blanks(&text[after..], MAX_BLANKS_AROUND_SEPARATOR);
    after += tags_length(&text[after..]);
    // In `export NAME=\`, the backslash continues the line, so the value is on the next line.
    let quoted = usize::from(byte_or_newline(text, after) == b'"');
    if text[after + quoted..].starts_with(b"\\\n") {
        after += quoted + 2 + count_blanks(&text[after + quoted + 2..], MAX_BLANKS_AROUND_SEPARATOR);
    }
    // Python joins adjacent literals in brackets, as in `secret = ("x" "y")`.
    if byte_or_newline(text, after) == b'('
        && matches!(byte_or_newline(text, after + 1), b'"' | b'\'')
        && text[at] == b'='
    {
        after += 1;
    }
    if let Some(hit) = hashed_password(text, after, verdict) {
        return Some(hit);
    }
    // In YAML, a type may come before the value, as in `key: !!str x`.
    if text[after..].starts_with(b"!!str ") || text[after..].starts_with(b"!!binary ") {
        after += class_run_length(&text[after + 2..], LOWER, 8) + 3;
    }
    if verdict.strength == NameStrength::Authorization {
        return headers::credential_in_header(text, after);
    }
    // A test runner prints lines such as `--- PASS: TestGenerate (0.00s)`.
    let noted = || {
        let before = &text[name.start.saturating_sub(80)..name.start];
        [&b"USER:"[..], b"USER="].iter().any(|user| super::contains_bytes(before, user))
    };
    if text[at] == b':' && name.bytes(text) == b"PASS" && !noted() {
        return None;
    }
    // The value may be on the next line, but not after a doubtful name. After a bare `=`, the next line is usually
    // another assignment, so the value must look random. The word `pass` is a name only at the start of its line,
    // unlike in `the tests pass:`.
    let doubtful = verdict.strength == NameStrength::PossiblySecret && verdict.kind == "token";
    let named = !doubtful
        && (verdict.strength != NameStrength::LikelyPassword
            || context::text_after_last_break(&text[floor..name.start]).trim_ascii().is_empty());
    if verdict.strength == NameStrength::Password
        && let Some(hit) = passphrase_on_next_line(text, after)
    {
        return Some(hit);
    }
    if let Some(value) = context::value_on_next_line(text, after).filter(|value| {
        named && (value.is_quoted || text[at] == b':' || is_random_value_on_next_line(text, *value))
    }) {
        // If the value is the first line of a private key, the whole key is the secret.
        if let Some(key) = keys::private_key_without_frame(text, value.start) {
            return Some(key);
        }
        let content = &text[value.start..value.end];
        let verdict = judge_with_word_before(text, &name, floor, verdict).unwrap_or(verdict);
        let words = verdict.strength == NameStrength::Password
            && (made_up::consists_of_joined_words(content) || made_up::is_noun_not_used_as_modifier(content));
        return hit_if_secret(
            text,
            value,
            verdict,
            ValueContext { is_doubtful_form: !value.is_quoted && !words, without_blanks: words, ..joint },
        );
    }
    let opened = text[floor..name.start].last().copied().unwrap_or(b'\n');
    if text[at] == b':' && opened == b'/' && name.end == at && after == at + 1 {
        return commands::secret_in_slash_flag(text, name.start, at);
    }
    if text[floor..name.start].ends_with(b"user/") || text[floor..name.start].ends_with(b"username/") {
        return pairs::password_in_joined_pair(text, after);
    }
    // In `f("token:") || "x"` the quote after the colon closes the string that contains the name.
    if matches!(opened, b'"' | b'\'' | b'`') && !name.is_quoted && byte_or_newline(text, after) == opened {
        return if verdict.strength == NameStrength::Password {
            commands::secret_in_expect_send(text, after)
        } else {
            None
        };
    }
    // The value may consist of several words, as in `passphrase: copper lantern violet meadow`.
    if verdict.strength == NameStrength::Password
        && let Some(length) = sentences::passphrase_length(&text[after..])
    {
        return Some(FoundSecret { start: after, end: after + length, kind: verdict.kind });
    }
    // The colon may belong to a prompt, as in `expect "*?assword:*"`.
    if verdict.strength == NameStrength::Password
        && text[at] == b':'
        && super::contains_bytes(
            context::text_after_last_break(&text[name.start.saturating_sub(60)..name.start]),
            b"expect",
        )
        && text[at + 1..].starts_with(b"; send ")
    {
        return commands::secret_in_expect_line(text, at + 1);
    }
    if verdict.strength == NameStrength::Password
        && text[at] == b':'
        && super::contains_bytes(
            context::text_after_last_break(&text[name.start.saturating_sub(60)..name.start]),
            b"expect",
        )
        && let Some(quote) = text[at + 1..].iter().take(8).position(|byte| matches!(byte, b'"' | b'\''))
    {
        return commands::secret_in_expect_send(text, at + 1 + quote);
    }
    after = value_after_type(text, at, after)?;
    let verdict = match paired {
        Some(_) => verdict,
        None => judge_with_word_before(text, &name, floor, verdict)?,
    };
    let marked = match byte_or_newline(text, after) {
        b'{' if joint.without_blanks => value_in_braces(text, after),
        b'_' | b'~' if text[at] == b':' => value_in_emphasis(text, after),
        _ => None,
    };
    let mut value = marked.or_else(|| values::literal_value_at(text, after))?;
    // In `v-model="password" :type="…"` another attribute follows, not a value.
    if name.is_quoted
        && !value.is_quoted
        && text[..value.end].ends_with(b"=")
        && matches!(byte_or_newline(text, value.end), b'"' | b'\'')
    {
        return None;
    }
    if !value.is_quoted
        && (text[value.start..value.end] == *name.bytes(text)
            || joint.without_blanks
                && text[..name.start].ends_with(b"[")
                && super::flags::is_metavariable(text, name.start, value))
    {
        return None;
    }
    joint.is_env_style = is_variable_style(name.bytes(text));
    joint.is_in_list = text[at] == b'='
        && (matches!(opened, b'?' | b'&' | b';')
            || name.bytes(text).starts_with(b"--")
            || joint.without_blanks && byte_or_newline(text, value.end) == b'&'
            || joint.without_blanks
                && matches!(opened, b'"' | b'\'')
                && byte_or_newline(text, value.end) == opened);
    // A `#` ends a query string. But if an `&` follows the value, the `#` belongs to the value.
    if matches!(opened, b'?' | b'&') && byte_or_newline(text, value.end) != b'&' {
        value.end -= text[value.start..value.end]
            .iter()
            .position(|byte| *byte == b'#')
            .map_or(0, |hash| value.end - value.start - hash);
    } else if verdict.strength == NameStrength::Password && !value.is_quoted {
        value.end = values::end_past_ampersand(text, value.end);
    }
    // In `unzip backup_password=x.zip` the extension belongs to the file name.
    if verdict.strength == NameStrength::Password && joint.without_blanks && !value.is_quoted {
        value.end = values::end_before_extension(text, value);
    }
    // Go prints a map as `map[password:x user:name]`.
    if text[at] == b':' && name.end == at && after == at + 1 && matches!(opened, b' ' | b'[') {
        let near = &text[name.start.saturating_sub(200)..name.start];
        let printed = memmem::rfind(near, b"map[").is_some_and(|map| !near[map..].contains(&b']'));
        (joint.without_blanks, joint.is_in_list) = (printed, printed);
    }
    // A dotted path such as `spring.datasource.password = x` is the key of a settings file.
    let path = name.bytes(text).iter().filter(|byte| **byte == b'.').count() >= 2;
    if path && text[at] == b'=' && starts_line(&text[..name.start]) && ends_line(text, value.end) {
        joint.without_blanks = true;
    }
    if joint.is_env_style && joint.without_blanks && !value.is_quoted && starts_line(&text[..name.start]) {
        value.end = values::end_of_env_line(text, value.start, value.end);
    }
    hit_if_secret(text, value, verdict, joint)
        .or_else(|| secret_in_default(text, value, verdict))
        .or_else(|| {
            // The value may be part of a sentence, as in `password: it's now x`.
            let prose = verdict.strength == NameStrength::Password
                && text[at] == b':'
                && byte_or_newline(text, at + 1) == b' '
                && !value.is_quoted;
            prose.then(|| sentences::secret_in_sentence(text, at + 1, NameLanguage::English))?
        })
        .or_else(|| key_beside_user(text, &name, value))
        .or_else(|| (verdict.kind == "credential").then(|| pairs::password_in_pair_after(text, at + 1))?)
        .or_else(|| {
            let cookie = verdict.strength == NameStrength::PossiblySecret && verdict.kind == "token";
            cookie.then(|| context::secret_told_by_context(text, name.start, name.end, at))?
        })
        .filter(|_| !is_condition_or_prompt(text, &name, at))
}

/// Finds a passphrase that is alone on the next line, which may be in a YAML block. `at` is just after the separator.
fn passphrase_on_next_line(text: &[u8], at: usize) -> Option<FoundSecret> {
    let block = text[at..].iter().take(3).take_while(|byte| b"|>-".contains(byte)).count();
    let mut at = at + block;
    let step = keys::line_break_length_at_start(&text[at..]);
    if step == 0 {
        return None;
    }
    at += step;
    at += keys::line_break_length_at_start(&text[at..]);
    at += count_blanks(&text[at..], MAX_BLANKS_AROUND_SEPARATOR);
    let length = sentences::passphrase_length(&text[at..])?;
    ends_line(text, at + length).then_some(FoundSecret { start: at, end: at + length, kind: "password" })
}

/// Returns the value in `Password: _x_` and `Password: ~~x~~`, where Markdown marks surround it.
fn value_in_emphasis(text: &[u8], at: usize) -> Option<LiteralValue> {
    let marks = text[at..].iter().take(2).take_while(|byte| **byte == text[at]).count();
    let start = at + marks;
    let length = text[start..].iter().take(64).take_while(|byte| byte.is_ascii_graphic()).count();
    let content = text[start..start + length].strip_suffix(&text[at..start])?;
    let end = start + content.len();
    (content.len() >= 6 && is_byte_in_class(content[0], LETTER_OR_DIGIT)).then_some(LiteralValue {
        start,
        end,
        is_quoted: true,
        is_in_call: false,
    })
}

/// Returns the value in braces in `Pwd={x};`. Connection strings put passwords with special characters in braces.
fn value_in_braces(text: &[u8], at: usize) -> Option<LiteralValue> {
    let rest = text[at..].strip_prefix(b"{")?;
    let length = rest.iter().take(80).position(|byte| *byte == b'}' || *byte <= b' ')?;
    let content = &rest[..length];
    let looks = profile_value(content);
    let drawn = rest[length] == b'}'
        && matches!(byte_or_newline(rest, length + 1), b';' | b'"' | b'\'' | b'\n' | b'\r')
        && length >= 6
        && (looks.symbols > 0 || looks.has_letters_and_digits())
        && !content.iter().any(|byte| b"{$\"'".contains(byte))
        && !content.ends_with(b"!r")
        && !content.ends_with(b"!s")
        && !(content.contains(&b':') && looks.digits < 3);
    drawn.then_some(LiteralValue { start: at + 1, end: at + 1 + length, is_quoted: true, is_in_call: false })
}

/// Returns whether no value follows the separator at `at`. This is the case after a condition, as in
/// `if key == "password": continue`, after a prompt, as in `set /p PASSWORD=Enter it:`, and in
/// `NAME=db-password:latest`, where the version of a stored secret follows.
fn is_condition_or_prompt(text: &[u8], name: &NameSpan, at: usize) -> bool {
    let line =
        context::text_after_last_break(&text[name.start.saturating_sub(120)..name.start]).trim_ascii_start();
    let begins = |words: &[&str]| words.iter().any(|word| line.starts_with(word.as_bytes()));
    match text[at] {
        b':' if name.is_quoted
            && begins(&["if ", "elif ", "while ", "case ", "for ", "else if ", "} else if "]) =>
        {
            !line.contains(&b'{') && !line.contains(&b'[')
        }
        // A line such as `name:password:UID:GID:home` describes the format of a file.
        b':' if line.ends_with(b":") && name.end == at => {
            let rest = &text[at + 1..text.len().min(at + 80)];
            let format = &rest[..rest.iter().position(|byte| *byte <= b' ').unwrap_or(rest.len())];
            format.iter().filter(|byte| **byte == b':').count() >= 2
                && format.iter().all(|byte| is_byte_in_class(*byte, LOWER | UPPER) || *byte == b':')
        }
        b':' if line.ends_with(b"=") && name.end == at => {
            let version = &text[at + 1..at + 1 + class_run_length(&text[at + 1..], LETTER_OR_DIGIT, 8)];
            version == b"latest"
                || version.iter().all(|byte| is_byte_in_class(*byte, DIGIT)) && version.len() < 4
        }
        b'=' => super::contains_bytes(line, b"set /p ") || super::contains_bytes(line, b"SET /P "),
        _ => false,
    }
}

/// Returns whether a bare `key` names the passphrase of a database or a network.
fn is_passphrase_key(text: &[u8], name: &NameSpan) -> bool {
    if !name.bytes(text).eq_ignore_ascii_case(b"key") {
        return false;
    }
    let line = context::text_after_last_break(&text[name.start.saturating_sub(100)..name.start]);
    [&b"PRAGMA "[..], b"ssid", b"SSID", b"network ", b"wifi ", b"WiFi "]
        .iter()
        .any(|word| super::contains_bytes(line, word))
}

/// Returns whether the value on the line below `api_key=` looks random and is not itself an assignment.
fn is_random_value_on_next_line(text: &[u8], value: LiteralValue) -> bool {
    let content = &text[value.start..value.end];
    content.len() >= 20
        && !content[..content.len() - 2].contains(&b'=')
        && profile_value(content).looks_random()
}

/// Finds the key in `{"username":"…","key":"…"}`. Next to a user name, 32 hexadecimal digits are a key and not a hash.
fn key_beside_user(text: &[u8], name: &NameSpan, value: LiteralValue) -> Option<FoundSecret> {
    let content = &text[value.start..value.end];
    let key = name.bytes(text) == b"key" && content.len() == 32 && content.iter().all(u8::is_ascii_hexdigit);
    let near = &text[name.start.saturating_sub(80)..name.start];
    let told = [&b"\"username\":"[..], b"crypt", b"cipher", b"secret"]
        .iter()
        .any(|word| super::contains_bytes(near, word));
    (key && told).then_some(FoundSecret { start: value.start, end: value.end, kind: "api-key" })
}

/// Finds the default value in `process.env.SECRET || "x"`. `value` is the expression before the operator.
fn secret_in_default(text: &[u8], value: LiteralValue, verdict: NameVerdict) -> Option<FoundSecret> {
    if value.is_quoted && !value.is_in_call
        || !matches!(verdict.strength, NameStrength::Password | NameStrength::Secret)
    {
        return None;
    }
    let rest = &text[value.end..text.len().min(value.end + 48)];
    let rest = &rest[..rest.iter().position(|byte| b"\n,;{}".contains(byte)).unwrap_or(rest.len())];
    let mark = [&b" || "[..], b" ?? ", b" or "]
        .iter()
        .find_map(|mark| Some(memmem::find(rest, mark)? + mark.len()))?;
    values::opening_quote_at(text, value.end + mark)?;
    let joint = ValueContext {
        is_doubtful_form: verdict.strength != NameStrength::Password,
        ..ValueContext::default()
    };
    hit_if_secret(text, values::literal_value_at(text, value.end + mark)?, verdict, joint)
}

/// Finds the default value in `process.env.SECRET || "x"` and `ENV["SECRET"] ||= "x"` when only the name before the
/// operator shows that the value is a secret. `at` points to the operator's first byte.
pub fn secret_in_default_only(text: &[u8], at: usize, floor: usize) -> Option<FoundSecret> {
    let after = at + 2 + usize::from(byte_or_newline(text, at + 2) == b'=');
    let after = after + count_blanks(&text[after.min(text.len())..], 4);
    values::opening_quote_at(text, after)?;
    // The name may be an argument, as in `getenv("SECRET") ?: "x"`.
    let called = text[floor..at].trim_ascii_end().strip_suffix(b")").map_or(at, |call| floor + call.len());
    let name = name_before(text, called, floor)?;
    let verdict = names::judge_name(name.bytes(text))?;
    let last = name.bytes(text).rsplit(|byte| *byte == b'.').next().unwrap_or_default();
    // The default of an ordinary variable is often text for display. But the default of an environment variable is a
    // real value.
    let is_doubtful_form = verdict.strength != NameStrength::Password || !is_variable_style(last);
    let secret = matches!(verdict.strength, NameStrength::Password | NameStrength::Secret);
    secret.then(|| {
        hit_if_secret(
            text,
            values::literal_value_at(text, after)?,
            verdict,
            ValueContext { is_doubtful_form, ..ValueContext::default() },
        )
    })?
}

/// Finds the value in `NAME -> value`, a form that is common in notes. `at` points to the `>`.
pub fn secret_after_arrow(text: &[u8], at: usize, floor: usize) -> Option<FoundSecret> {
    let gap = count_blanks(&text[at + 1..], MAX_BLANKS_AROUND_SEPARATOR);
    let name = name_before(text, at - 1, floor)?;
    if gap == 0 || name.end + 1 == at {
        return None; // as in `pointer->member`
    }
    secret_pointed_at(text, &name, at + 1 + gap)
}

/// Finds the value in `NAME→ value`. `at` points to the first byte of the arrow.
pub fn secret_after_wide_arrow(text: &[u8], at: usize, floor: usize) -> Option<FoundSecret> {
    let name = name_before(text, at, floor)?;
    secret_pointed_at(text, &name, at + 3 + count_blanks(&text[at + 3..], MAX_BLANKS_AROUND_SEPARATOR))
}

fn secret_pointed_at(text: &[u8], name: &NameSpan, at: usize) -> Option<FoundSecret> {
    let verdict = names::judge_name(name.bytes(text))?;
    let value = values::literal_value_at(text, at)?;
    let told = verdict.strength == NameStrength::Password
        && made_up::made_up_certainty(&text[value.start..value.end]).is_some();
    let is_doubtful_form = !(told && made_up::ends_clause(text, value.end + usize::from(value.is_quoted)));
    hit_if_secret(
        text,
        value,
        verdict,
        ValueContext {
            is_doubtful_form,
            without_blanks: !is_doubtful_form,
            is_in_list: !is_doubtful_form,
            ..ValueContext::default()
        },
    )
}

/// Finds the value in the C++ initialiser `name{"x"}`. The name is `text[start..end]`.
pub fn secret_in_initialiser(text: &[u8], start: usize, end: usize) -> Option<FoundSecret> {
    let verdict = names::judge_name(&text[start..end])?;
    let value =
        values::literal_value_at(text, end + 1).filter(|value| text[value.end..].starts_with(b"\"}"))?;
    hit_if_secret(text, value, verdict, ValueContext::default())
}

/// Finds the value in the GitHub workflow command `::set-output name=token::x`. `at` points to the first colon after
/// the name.
fn secret_in_workflow_output(text: &[u8], at: usize, floor: usize) -> Option<FoundSecret> {
    let name = name_before(text, at, floor)?;
    text[..name.start].ends_with(b" name=").then_some(())?;
    let verdict = names::judge_name(name.bytes(text))?;
    let joint = ValueContext { is_env_style: true, without_blanks: true, ..ValueContext::default() };
    hit_if_secret(text, values::literal_value_at(text, at + 2)?, verdict, joint)
}

/// Finds the value in the R assignment `name <- "x"`. `at` points to the dash.
pub fn secret_after_left_arrow(text: &[u8], at: usize, floor: usize) -> Option<FoundSecret> {
    let name = name_before(text, at - 1, floor)?;
    let verdict = names::judge_name(name.bytes(text))?;
    let after = at + 1 + count_blanks(&text[at + 1..], MAX_BLANKS_AROUND_SEPARATOR);
    values::opening_quote_at(text, after)?;
    hit_if_secret(text, values::literal_value_at(text, after)?, verdict, ValueContext::default())
}

fn is_resource_declaration(before: &[u8]) -> bool {
    let length = before
        .iter()
        .rev()
        .take(120)
        .take_while(|byte| is_byte_in_class(**byte, BASE64_URL) || **byte == b':')
        .count();
    before.ends_with(b":!")
        || before.ends_with(b":") && super::contains_bytes(&before[before.len() - length..], b"arn:")
}

/// Returns whether the text ends with the start of an expansion such as `${DB_PASSWORD` or `${db.password`. A default
/// value follows it.
fn is_variable_expansion(before: &[u8]) -> bool {
    before[..before.len() - class_run_length_at_end(before, BASE64_URL | DOT, MAX_NAME_BYTES)]
        .ends_with(b"${")
}

fn ends_line(text: &[u8], at: usize) -> bool {
    matches!(byte_or_newline(text, at), b'\n' | b'\r')
}

/// Returns whether the name is the first word of its line. An `export` before the name is ignored.
fn starts_line(before: &[u8]) -> bool {
    let before = before.strip_suffix(b"export ").unwrap_or(before);
    before.is_empty() || before.ends_with(b"\n")
}

/// Returns the value as a hit if it is a secret. If a provider's rule matches the whole value, the hit gets the kind of
/// that rule.
pub fn hit_if_secret(
    text: &[u8],
    value: LiteralValue,
    verdict: NameVerdict,
    joint: ValueContext,
) -> Option<FoundSecret> {
    let shaped = shape::token_starting_at(text, value.start, value.start).filter(|hit| hit.end == value.end);
    let uuid = || verdict.kind == names::SECRET_ID_KIND && values::is_uuid(&text[value.start..value.end]);
    let secret = || values::is_secret_value(text, value, verdict.strength, joint) || uuid();
    shaped.or_else(|| {
        secret().then_some(FoundSecret { start: value.start, end: value.end, kind: verdict.kind })
    })
}

/// Judges a bare `key` or `token` together with the word before it, as in `API key: …` and `unexpected token: …`.
fn judge_with_word_before(
    text: &[u8],
    name: &NameSpan,
    floor: usize,
    verdict: NameVerdict,
) -> Option<NameVerdict> {
    let bare = name.bytes(text).iter().all(|byte| is_byte_in_class(*byte, LOWER | UPPER));
    if name.is_quoted || !bare || verdict.strength == NameStrength::Password {
        return Some(verdict);
    }
    name_with_word_before(text, name.start, name.end, floor).map_or(Some(verdict), names::judge_name)
}

/// Returns the length of the marks that end bold text after the separator, as in `**Password:** x`.
fn closing_marks_length(text: &[u8]) -> usize {
    if text.starts_with(b"** ") || text.starts_with(b"__ ") { 2 } else { 0 }
}

/// Returns the length of the tags and blanks before the value, as in `Password: <b>x</b>` and `<b>Password:</b> x`.
fn tags_length(text: &[u8]) -> usize {
    const MAX_TAGS: usize = 3;
    const TAG_NAMES: &str = "b strong code i em kbd tt pre span u mark samp font";
    let mut at = 0;
    for _ in 0..MAX_TAGS {
        let Some(rest) = text[at..].strip_prefix(b"<") else { break };
        let rest = rest.strip_prefix(b"/").unwrap_or(rest);
        let name = &rest[..class_run_length(rest, LOWER, 8)];
        let known = TAG_NAMES.split(' ').any(|known| known.as_bytes() == name);
        let Some(close) = rest.iter().take(80).position(|byte| matches!(byte, b'>' | b'\n')) else { break };
        if !known || rest[close] != b'>' {
            break;
        }
        at = text.len() - rest.len() + close + 1;
        at += count_blanks(&text[at..], 2);
    }
    at
}

fn encoded_secret(text: &[u8], at: usize) -> Option<FoundSecret> {
    let length = class_run_length(&text[at..], super::classes::BASE64, 400);
    let whole = length >= 8 && length.is_multiple_of(4) && ends_line(text, at + length);
    whole.then_some(FoundSecret { start: at, end: at + length, kind: "password" })
}

/// Finds the hash in an LDAP entry such as `userPassword: {SSHA}x`.
fn hashed_password(text: &[u8], at: usize, verdict: NameVerdict) -> Option<FoundSecret> {
    let rest = text[at..].strip_prefix(b"{")?;
    let scheme = class_run_length(rest, UPPER | DIGIT | super::classes::DASH, 16);
    let length = class_run_length(
        rest.get(scheme + 1..)?,
        super::classes::BASE64 | DOT | super::classes::UNDERSCORE,
        200,
    );
    let told =
        scheme > 2 && rest[scheme] == b'}' && length >= 20 && verdict.strength == NameStrength::Password;
    told.then_some(FoundSecret { start: at, end: at + scheme + 2 + length, kind: "password-hash" })
}

/// Returns the position of the value in `name: Type = value`. After a type, only a quoted value can be a literal
/// secret.
fn value_after_type(text: &[u8], at: usize, after: usize) -> Option<usize> {
    if text[at] != b':'
        || !is_byte_in_class(byte_or_newline(text, after), LETTER_OR_DIGIT)
            && !matches!(byte_or_newline(text, after), b'&' | b'*' | b'[')
    {
        return Some(after);
    }
    let window = &text[after..text.len().min(after + 40)];
    let length = window
        .iter()
        .take_while(|byte| is_byte_in_class(**byte, IDENTIFIER_BYTE) || b" &'<>[]?*|.:".contains(byte))
        .count();
    let behind = after + length + 1;
    let value = behind + count_blanks(text.get(behind..).unwrap_or_default(), 4);
    if byte_or_newline(text, after + length) != b'=' || byte_or_newline(text, behind) != b' ' {
        return Some(after);
    }
    values::literal_value_at(text, value).filter(|literal| literal.is_quoted).map(|_| value)
}

/// Returns whether a name is written like an environment variable.
pub fn is_variable_style(name: &[u8]) -> bool {
    name.len() >= 3
        && name.iter().any(|byte| is_byte_in_class(*byte, UPPER))
        && !name.iter().any(|byte| is_byte_in_class(*byte, LOWER))
}
