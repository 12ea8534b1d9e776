//! Secrets assigned to a name, `name = value` in all its forms: environment, JSON (also JSON inside JSON), YAML, TOML,
//! INI, code, headers, query strings, XML. The separator is found first; then the name is read backwards from it and
//! the value forwards.

use memchr::memmem;

use super::chance::profile;
use super::classes::{
    ALNUM, BASE64_URL, DIGIT, DOT, LOWER, UPPER, WORD, blanks, byte, ends_with_ignore_case, is, run, run_back,
};
use super::names::{self, Says, Verdict};
use super::sentences::{self, Language};
use super::values::{self, Joint, Value};
use super::{Hit, commands, context, headers, keys, made_up, pairs, shape, tables};

/// How many bytes of a name are read. A longer name is judged by its end.
pub const LONGEST_NAME: usize = 64;
/// How many blanks may be around a separator, as in aligned tables.
pub const WIDEST_GAP: usize = 40;

/// Finds the secret assigned at the `=` or `:` at `at`.
pub fn assigned(text: &[u8], at: usize, floor: usize) -> Option<Hit> {
    let mut after = at + 1;
    let mut joint = Joint::default();
    match (text[at], byte(text, after)) {
        // In LDIF, `userPassword:: x` is base64.
        (b':', b':') if byte(text, after + 1) == b' ' && text[floor..at].ends_with(b"Password") => {
            return encoded(text, after + 2);
        }
        (b':', b':') | (b'=', b'~') => return None,
        (b'=', _) if text[floor..at].ends_with(b"!") => return None,
        (b':', b'/') if byte(text, after + 1) == b'/' => return None,
        (b':', b'=') | (b'=', b'>') => after += 1,
        (b':', b'-') if is_expanded(&text[floor..at]) => after += 1,
        (b'=', b'=') => {
            joint.doubtful = true;
            after += run(&text[after..], super::classes::EQUALS, 2);
        }
        _ => {}
    }
    if text[at] == b':'
        && let Some(hit) = tables::pgpass(text, at, floor)
    {
        return Some(hit);
    }
    let Some(mut name) = name_before(text, at, floor) else {
        return context::announced(text, at);
    };
    // Visual Basic writes `ApiKey As String = "x"`.
    if name.bytes(text) == b"String" && text[floor..name.start].ends_with(b" As ") {
        name = name_before(text, name.start - 4, floor)?;
    }
    if name.bytes(text) == b"string" {
        name = name_before(text, name.start, floor)?; // as in `var name string = "value"`
    } else if name.bytes(text) == b"is" {
        name = name_before(text, name.start, floor)?; // as in `your token is: value`
        joint.doubtful = true;
    }
    // The name in `Enter PEM pass phrase: x` has two words.
    if name.bytes(text) == b"phrase" && ends_with_ignore_case(&text[floor..name.start], "pass ") {
        name.start -= 5;
    }
    let numbered = text[at] == b':' && name.end - name.start == 1 && is(text[name.start], DIGIT);
    if numbered && text[floor..name.start].ends_with(b" ") {
        name = name_before(text, name.start, floor)?; // as in `Unseal Key 1: value`
    }
    if text[at] == b':' && name.bytes(text) == b"Private-Lines" {
        return keys::putty_lines(text, after);
    }
    if text[at] == b':' && text[floor..name.start].ends_with(b"//") {
        return None; // this is the user of an address, see `urls`
    }
    let Some(verdict) = names::judge(pair_name(text, &name, floor).unwrap_or(name.bytes(text))) else {
        return context::told(text, name.start, name.end, at);
    };
    // A bare `key` can be a password, as in `PRAGMA key = 'x'` and `SSID: home / key: x`.
    let verdict = match verdict.says {
        Says::Perhaps if is_passphrase_key(text, &name) => Verdict { says: Says::Password, kind: "password" },
        _ => verdict,
    };
    if text[at] == b':' && is_resource(&text[floor..name.start]) {
        return None; // as in `arn:aws:secretsmanager:eu-west-1:1234:secret:name` and `!MD5:!PSK:!aNULL`
    }
    let expanded = text[at] == b':' && is_expanded(&text[floor..at]);
    joint.tight =
        name.end == at && !matches!(byte(text, after), b' ' | b'\t') && (text[at] == b'=' || expanded);
    after += closing_marks(&text[after..]);
    after += blanks(&text[after..], WIDEST_GAP);
    after += tags(&text[after..]);
    // A backslash continues the line, as in `export NAME=\`.
    let quoted = usize::from(byte(text, after) == b'"');
    if text[after + quoted..].starts_with(b"\\\n") {
        after += quoted + 2 + blanks(&text[after + quoted + 2..], WIDEST_GAP);
    }
    // Python joins literals in brackets: `secret = ("x" "y")`.
    if byte(text, after) == b'(' && matches!(byte(text, after + 1), b'"' | b'\'') && text[at] == b'=' {
        after += 1;
    }
    if let Some(hit) = hashed(text, after, verdict) {
        return Some(hit);
    }
    // YAML may give the type before the value, as in `key: !!str x`.
    if text[after..].starts_with(b"!!str ") || text[after..].starts_with(b"!!binary ") {
        after += run(&text[after + 2..], LOWER, 8) + 3;
    }
    if verdict.says == Says::Authorization {
        return headers::credential(text, after);
    }
    // A line such as `--- PASS: TestGenerate (0.00s)` reports a test.
    let noted = || {
        let before = &text[name.start.saturating_sub(80)..name.start];
        [&b"USER:"[..], b"USER="].iter().any(|user| super::contains(before, user))
    };
    if text[at] == b':' && name.bytes(text) == b"PASS" && !noted() {
        return None;
    }
    // After a bare `=` the next line is another assignment. The `pass` in `the tests pass:` is not a name; alone on its
    // line it is one.
    let named =
        verdict.says != Says::Pass || context::last_line(&text[floor..name.start]).trim_ascii().is_empty();
    if let Some(value) = context::below(text, after)
        .filter(|value| named && (value.quoted || text[at] == b':' || is_drawn(text, *value)))
    {
        // The first line of a private key is only a part of the key.
        if let Some(key) = keys::bare_key(text, value.start) {
            return Some(key);
        }
        let words = verdict.says == Says::Password && made_up::is_words(&text[value.start..value.end]);
        return hit(text, value, verdict, Joint { doubtful: !value.quoted && !words, tight: words, ..joint });
    }
    // In `f("token:") || "x"` the quote after the colon closes the one before the name.
    let opened = text[floor..name.start].last().copied().unwrap_or(b'\n');
    if text[at] == b':' && opened == b'/' && name.end == at && after == at + 1 {
        return commands::slash_flag(text, name.start, at);
    }
    if text[floor..name.start].ends_with(b"user/") || text[floor..name.start].ends_with(b"username/") {
        return pairs::joined(text, after);
    }
    if matches!(opened, b'"' | b'\'' | b'`') && !name.quoted && byte(text, after) == opened {
        return if verdict.says == Says::Password { commands::sent(text, after) } else { None };
    }
    // The value may be several words, as in `passphrase: copper lantern violet meadow`.
    if verdict.says == Says::Password
        && let Some(length) = sentences::phrase_length(&text[after..])
    {
        return Some(Hit { start: after, end: after + length, kind: verdict.kind });
    }
    // The colon may be part of a prompt, as in `expect "*?assword:*"`.
    if verdict.says == Says::Password
        && text[at] == b':'
        && super::contains(context::last_line(&text[name.start.saturating_sub(60)..name.start]), b"expect")
        && text[at + 1..].starts_with(b"; send ")
    {
        return commands::typed(text, at + 1);
    }
    if verdict.says == Says::Password
        && text[at] == b':'
        && super::contains(context::last_line(&text[name.start.saturating_sub(60)..name.start]), b"expect")
        && let Some(quote) = text[at + 1..].iter().take(8).position(|byte| matches!(byte, b'"' | b'\''))
    {
        return commands::sent(text, at + 1 + quote);
    }
    after = behind_type(text, at, after)?;
    let verdict = qualified(text, &name, floor, verdict)?;
    let mut value = values::value(text, after)?;
    // In `v-model="password" :type="…"` the next attribute follows, not a value.
    if name.quoted
        && !value.quoted
        && text[..value.end].ends_with(b"=")
        && matches!(byte(text, value.end), b'"' | b'\'')
    {
        return None;
    }
    if !value.quoted && text[value.start..value.end] == *name.bytes(text) {
        return None;
    }
    joint.loud = is_loud(name.bytes(text));
    joint.listed = text[at] == b'='
        && (matches!(opened, b'?' | b'&' | b';')
            || name.bytes(text).starts_with(b"--")
            || joint.tight && byte(text, value.end) == b'&'
            || joint.tight && matches!(opened, b'"' | b'\'') && byte(text, value.end) == opened);
    // A `#` ends a query; a further member after it shows that it was encoded.
    if matches!(opened, b'?' | b'&') && byte(text, value.end) != b'&' {
        value.end -= text[value.start..value.end]
            .iter()
            .position(|byte| *byte == b'#')
            .map_or(0, |hash| value.end - value.start - hash);
    } else if verdict.says == Says::Password && !value.quoted {
        value.end = values::beyond_ampersand(text, value.end);
    }
    // In `unzip backup_password=x.zip` the extension belongs to the file.
    if verdict.says == Says::Password && joint.tight && !value.quoted {
        value.end = values::before_extension(text, value);
    }
    // Go prints a map as `map[password:x user:name]`.
    if text[at] == b':' && name.end == at && after == at + 1 && matches!(opened, b' ' | b'[') {
        let near = &text[name.start.saturating_sub(200)..name.start];
        let printed = memmem::rfind(near, b"map[").is_some_and(|map| !near[map..].contains(&b']'));
        (joint.tight, joint.listed) = (printed, printed);
    }
    // A path of names such as `spring.datasource.password = x` is the key of a settings file.
    let path = name.bytes(text).iter().filter(|byte| **byte == b'.').count() >= 2;
    if path && text[at] == b'=' && starts_line(&text[..name.start]) && ends_line(text, value.end) {
        joint.tight = true;
    }
    if joint.loud && joint.tight && !value.quoted && starts_line(&text[..name.start]) {
        value.end = values::to_line_end(text, value.start, value.end);
    }
    hit(text, value, verdict, joint)
        .or_else(|| fallback(text, value, verdict))
        .or_else(|| {
            // The value may be stated in words, as in `password: it's now x`.
            let prose = verdict.says == Says::Password
                && text[at] == b':'
                && byte(text, at + 1) == b' '
                && !value.quoted;
            prose.then(|| sentences::told(text, at + 1, Language::English))?
        })
        .or_else(|| beside_user(text, &name, value))
        .or_else(|| (verdict.kind == "credential").then(|| pairs::behind(text, at + 1))?)
}

/// Whether a bare `key` is the passphrase of a database or a network.
fn is_passphrase_key(text: &[u8], name: &Name) -> bool {
    if !name.bytes(text).eq_ignore_ascii_case(b"key") {
        return false;
    }
    let line = context::last_line(&text[name.start.saturating_sub(100)..name.start]);
    [&b"PRAGMA "[..], b"ssid", b"SSID", b"network ", b"wifi ", b"WiFi "]
        .iter()
        .any(|word| super::contains(line, word))
}

/// Whether the value on the line after `api_key=` looks random and is not itself an assignment.
fn is_drawn(text: &[u8], value: Value) -> bool {
    let content = &text[value.start..value.end];
    content.len() >= 20 && !content[..content.len() - 2].contains(&b'=') && profile(content).is_random()
}

/// Finds the key in `{"username":"…","key":"…"}`. Next to a user, 32 hexadecimal digits are a key and not a hash.
fn beside_user(text: &[u8], name: &Name, value: Value) -> Option<Hit> {
    let content = &text[value.start..value.end];
    let key = name.bytes(text) == b"key" && content.len() == 32 && content.iter().all(u8::is_ascii_hexdigit);
    let near = &text[name.start.saturating_sub(80)..name.start];
    let told = [&b"\"username\":"[..], b"crypt", b"cipher", b"secret"]
        .iter()
        .any(|word| super::contains(near, word));
    (key && told).then_some(Hit { start: value.start, end: value.end, kind: "api-key" })
}

/// Finds the default value in `process.env.SECRET || "x"`, after a value that is an expression.
fn fallback(text: &[u8], value: Value, verdict: Verdict) -> Option<Hit> {
    if value.quoted && !value.wrapped || !matches!(verdict.says, Says::Password | Says::Secret) {
        return None;
    }
    let rest = &text[value.end..text.len().min(value.end + 48)];
    let rest = &rest[..rest.iter().position(|byte| b"\n,;{}".contains(byte)).unwrap_or(rest.len())];
    let mark = [&b" || "[..], b" ?? ", b" or "]
        .iter()
        .find_map(|mark| Some(memmem::find(rest, mark)? + mark.len()))?;
    values::quote_at(text, value.end + mark)?;
    let joint = Joint { doubtful: verdict.says != Says::Password, ..Joint::default() };
    hit(text, values::value(text, value.end + mark)?, verdict, joint)
}

/// Finds the default value in `process.env.SECRET || "x"` and `ENV["SECRET"] ||= "x"`, like [`fallback`], if only the
/// name before the operator is that of a secret. `at` is the operator's first byte.
pub fn otherwise(text: &[u8], at: usize, floor: usize) -> Option<Hit> {
    let after = at + 2 + usize::from(byte(text, at + 2) == b'=');
    let after = after + blanks(&text[after.min(text.len())..], 4);
    values::quote_at(text, after)?;
    // The name may be an argument, as in `getenv("SECRET") ?: "x"`.
    let called = text[floor..at].trim_ascii_end().strip_suffix(b")").map_or(at, |call| floor + call.len());
    let name = name_before(text, called, floor)?;
    let verdict = names::judge(name.bytes(text))?;
    let last = name.bytes(text).rsplit(|byte| *byte == b'.').next().unwrap_or_default();
    // Programs often print a text if nothing is set, but the default of an environment variable is a value.
    let doubtful = verdict.says != Says::Password || !is_loud(last);
    let secret = matches!(verdict.says, Says::Password | Says::Secret);
    secret.then(|| hit(text, values::value(text, after)?, verdict, Joint { doubtful, ..Joint::default() }))?
}

/// Finds the value in `NAME -> value`, as people write in notes. `at` is the head of the arrow.
pub fn arrow(text: &[u8], at: usize, floor: usize) -> Option<Hit> {
    let gap = blanks(&text[at + 1..], WIDEST_GAP);
    let name = name_before(text, at - 1, floor)?;
    if gap == 0 || name.end + 1 == at {
        return None; // as in `pointer->member`
    }
    pointed(text, &name, at + 1 + gap)
}

/// Finds the value in `NAME→ value`. `at` is the first byte of the arrow.
pub fn wide_arrow(text: &[u8], at: usize, floor: usize) -> Option<Hit> {
    let name = name_before(text, at, floor)?;
    pointed(text, &name, at + 3 + blanks(&text[at + 3..], WIDEST_GAP))
}

fn pointed(text: &[u8], name: &Name, at: usize) -> Option<Hit> {
    let verdict = names::judge(name.bytes(text))?;
    let value = values::value(text, at)?;
    let told = verdict.says == Says::Password && made_up::look(&text[value.start..value.end]).is_some();
    let doubtful = !(told && made_up::ends_clause(text, value.end + usize::from(value.quoted)));
    hit(text, value, verdict, Joint { doubtful, tight: !doubtful, listed: !doubtful, ..Joint::default() })
}

/// Finds the value in `name <- "x"`, an assignment in R. `at` is the dash.
pub fn arrow_left(text: &[u8], at: usize, floor: usize) -> Option<Hit> {
    let name = name_before(text, at - 1, floor)?;
    let verdict = names::judge(name.bytes(text))?;
    let after = at + 1 + blanks(&text[at + 1..], WIDEST_GAP);
    values::quote_at(text, after)?;
    hit(text, values::value(text, after)?, verdict, Joint::default())
}

fn is_resource(before: &[u8]) -> bool {
    let length =
        before.iter().rev().take(120).take_while(|byte| is(**byte, BASE64_URL) || **byte == b':').count();
    before.ends_with(b":!")
        || before.ends_with(b":") && super::contains(&before[before.len() - length..], b"arn:")
}

/// Whether the text before is `${DB_PASSWORD` or `${db.password`. What follows is the default if nothing is set.
fn is_expanded(before: &[u8]) -> bool {
    before[..before.len() - run_back(before, BASE64_URL | DOT, LONGEST_NAME)].ends_with(b"${")
}

fn ends_line(text: &[u8], at: usize) -> bool {
    matches!(byte(text, at), b'\n' | b'\r')
}

/// Whether only `export ` comes before the name on the line.
fn starts_line(before: &[u8]) -> bool {
    let before = before.strip_suffix(b"export ").unwrap_or(before);
    before.is_empty() || before.ends_with(b"\n")
}

/// Returns the value as a hit if it is secret. If it is a token of a known provider, the hit has the kind of
/// that provider's rule.
pub fn hit(text: &[u8], value: Value, verdict: Verdict, joint: Joint) -> Option<Hit> {
    let shaped = shape::find(text, value.start, value.start).filter(|hit| hit.end == value.end);
    let secret = || values::is_secret(text, value, verdict.says, joint);
    shaped.or_else(|| secret().then_some(Hit { start: value.start, end: value.end, kind: verdict.kind }))
}

struct Name {
    start: usize,
    end: usize,
    quoted: bool,
}

impl Name {
    fn bytes<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        &text[self.start..self.end]
    }
}

/// Returns the name that ends before `at`, from `name `, `"name"`, `\"name\"`, `["name"]`, `name?` or `**name**`.
fn name_before(text: &[u8], at: usize, floor: usize) -> Option<Name> {
    let before = &text[floor..at];
    let mut end = before.len()
        - before.iter().rev().take(WIDEST_GAP).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
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
            .take(WIDEST_GAP)
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .count();
    }
    // A shell sets members of an array: `([user]=ann [password]='x')`.
    let member = text[at] == b'=' && end == before.len() && matches!(byte(text, at + 1), b'"' | b'\'');
    let bracket = end > 1
        && before[end - 1] == b']'
        && (matches!(before[end - 2], b'"' | b'\'' | b'[') || member && is(before[end - 2], WORD));
    end -= usize::from(bracket);
    let marks = before[..end].iter().rev().take(8).take_while(|byte| b"\"'`\\*?![".contains(byte)).count();
    let quoted = before[end - marks..end].iter().any(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    end -= marks;
    let length = run_back(&before[..end], BASE64_URL | DOT, LONGEST_NAME);
    let mut start = floor + end - length;
    let end = floor + end;
    // In `\npassword` the `n` belongs to the escape.
    if start > floor && text[start - 1] == b'\\' && matches!(text.get(start), Some(b'n' | b'r' | b't')) {
        start += 1;
    }
    (start < end && text[start..end].iter().any(|byte| is(*byte, ALNUM))).then_some(Name {
        start,
        end,
        quoted,
    })
}

/// Returns the name of a value whose own name is `value` or `default`. In `name: DB_PASSWORD, value: x` and
/// `key="ApiKey" value="x"` the name is one step further back; in `variable "db_password" { default = "x" }` it is a
/// few lines back.
fn pair_name<'a>(text: &'a [u8], name: &Name, floor: usize) -> Option<&'a [u8]> {
    if name.bytes(text) == b"default" {
        let before = &text[name.start.saturating_sub(400)..name.start];
        // The name may be a flag, as in `add_argument("--password", default="x")`.
        let line = context::last_line(before);
        if let Some(flag) = memmem::find(line, b"\"--") {
            return Some(&line[flag + 3..flag + 3 + run(&line[flag + 3..], BASE64_URL, LONGEST_NAME)]);
        }
        let block = &before[memmem::rfind(before, b"variable \"")? + 10..];
        let inside = memmem::find(block, b"\n}").is_none();
        return inside.then_some(&block[..run(block, BASE64_URL, LONGEST_NAME)]);
    }
    // In `<apikeys>` of NuGet the key is the address.
    if name.bytes(text) == b"value"
        && super::contains(&text[name.start.saturating_sub(120)..name.start], b"<apikeys>")
    {
        return Some(b"apikey");
    }
    // The name of a tag's value may be another attribute: `<meta name="api-token" content="x">`.
    if name.bytes(text) == b"content" {
        let line = context::last_line(&text[name.start.saturating_sub(120)..name.start]);
        let at = memmem::rfind(line, b"name=\"")? + 6;
        return Some(&line[at..at + run(&line[at..], BASE64_URL | DOT, LONGEST_NAME)]);
    }
    if !ends_with_ignore_case(name.bytes(text), "value") {
        return None;
    }
    let name = &Name { start: name.start + usize::from(text[name.start] == b'.'), ..*name };
    let before = &text[floor..name.start];
    if let Some(field) = field_name(text, name, floor) {
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
        return Some(&call[call.len() - run_back(call, BASE64_URL, LONGEST_NAME)..]);
    }
    if before.ends_with(b"target: {")
        && super::contains(context::last_line(&before[before.len().saturating_sub(80)..]), b"assword")
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
        return Some(&object[object.len() - run_back(object, BASE64_URL, LONGEST_NAME)..]);
    }
    if before.ends_with(b"SecureString") {
        return Some(b"password"); // this is a parameter of AWS Systems Manager
    }
    // The `n` of an escaped line break is not part of the name.
    if before.ends_with(b"\\n") {
        before = before[..before.len() - 2].trim_ascii_end();
    }
    let before = before.strip_suffix(b"\"").or_else(|| before.strip_suffix(b"\\\"")).unwrap_or(before);
    let length = run_back(before, BASE64_URL | DOT, LONGEST_NAME);
    let (rest, paired) = before.split_at(before.len() - length);
    let rest = &rest
        [..rest.len() - rest.iter().rev().take(8).take_while(|byte| b" \t\"'\\:=".contains(byte)).count()];
    let label = &rest[rest.len() - run_back(rest, WORD, 24)..];
    ["name", "key"].iter().any(|known| ends_with_ignore_case(label, known)).then_some(paired)
}

/// Returns the name from a line above, as in `- key: auth_token`, `  type: secret`, `  value: x`.
fn label_above(before: &[u8]) -> Option<&[u8]> {
    const MOST_LINES: usize = 4;
    let before = &before[before.len().saturating_sub(240)..];
    let own = context::last_line(before);
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
        named.then(|| &name[..run(name, BASE64_URL | DOT, LONGEST_NAME)]).filter(|name| !name.is_empty())
    })
}

/// Returns the name of a field, as in `<input name="password" type="text" value="x">`, with its attributes in any
/// order.
fn field_name<'a>(text: &'a [u8], name: &Name, floor: usize) -> Option<&'a [u8]> {
    const REACH: usize = 160;
    let before = &text[floor.max(name.start.saturating_sub(REACH))..name.start];
    let opened = memchr::memrchr2(b'<', b'\n', before).map_or(0, |at| at + 1);
    let rest = &text[name.end..text.len().min(name.end + REACH)];
    let rest = &rest[..rest.iter().position(|byte| matches!(byte, b'>' | b'\n')).unwrap_or(rest.len())];
    let (before, attributes) = (&before[opened..], [&before[opened..], rest]);
    let holds = |part: &[u8]| attributes.iter().any(|half| memmem::find(half, part).is_some());
    if before.contains(&b'>') || !matches!(byte(rest, 1), b'"' | b'\'') {
        return None;
    }
    if holds(b"type=\"password\"") || holds(b"type='password'") {
        return Some(b"password");
    }
    let field = || attributes.iter().find_map(|half| Some(&half[memmem::find(half, b" name=\"")? + 7..]));
    let name = before.starts_with(b"input ").then(field)??;
    Some(&name[..run(name, BASE64_URL, LONGEST_NAME)]).filter(|name| !name.is_empty())
}

/// Judges a bare `key` or `token` together with the word before it: `API key: …`, `unexpected token: …`.
fn qualified(text: &[u8], name: &Name, floor: usize, verdict: Verdict) -> Option<Verdict> {
    let bare = name.bytes(text).iter().all(|byte| is(*byte, LOWER | UPPER));
    if name.quoted || !bare || verdict.says == Says::Password {
        return Some(verdict);
    }
    with_word_before(text, name.start, name.end, floor).map_or(Some(verdict), names::judge)
}

/// Returns the name `text[start..end]` together with the previous word: `api key`.
pub fn with_word_before(text: &[u8], start: usize, end: usize, floor: usize) -> Option<&[u8]> {
    let before = text[floor..start].strip_suffix(b" ")?;
    let word = run_back(before, BASE64_URL, 24);
    (word > 0).then(|| &text[start - 1 - word..end])
}

/// Returns the length of the marks that end bold text after the separator, as in `**Password:** x`.
fn closing_marks(text: &[u8]) -> usize {
    if text.starts_with(b"** ") || text.starts_with(b"__ ") { 2 } else { 0 }
}

/// Returns the length of the tags before the value and of the blanks after them, as in `Password: <b>x</b>` and
/// `<b>Password:</b> x`.
fn tags(text: &[u8]) -> usize {
    const MOST: usize = 3;
    const NAMES: &str = "b strong code i em kbd tt pre span u mark samp font";
    let mut at = 0;
    for _ in 0..MOST {
        let Some(rest) = text[at..].strip_prefix(b"<") else { break };
        let rest = rest.strip_prefix(b"/").unwrap_or(rest);
        let name = &rest[..run(rest, LOWER, 8)];
        let known = NAMES.split(' ').any(|known| known.as_bytes() == name);
        let Some(close) = rest.iter().take(80).position(|byte| matches!(byte, b'>' | b'\n')) else { break };
        if !known || rest[close] != b'>' {
            break;
        }
        at = text.len() - rest.len() + close + 1;
        at += blanks(&text[at..], 2);
    }
    at
}

fn encoded(text: &[u8], at: usize) -> Option<Hit> {
    let length = run(&text[at..], super::classes::BASE64, 400);
    let whole = length >= 8 && length.is_multiple_of(4) && ends_line(text, at + length);
    whole.then_some(Hit { start: at, end: at + length, kind: "password" })
}

/// Finds the hash in an entry of a directory, such as `userPassword: {SSHA}x`.
fn hashed(text: &[u8], at: usize, verdict: Verdict) -> Option<Hit> {
    let rest = text[at..].strip_prefix(b"{")?;
    let scheme = run(rest, UPPER | DIGIT | super::classes::DASH, 16);
    let length = run(rest.get(scheme + 1..)?, super::classes::BASE64 | DOT | super::classes::UNDERSCORE, 200);
    let told = scheme > 2 && rest[scheme] == b'}' && length >= 20 && verdict.says == Says::Password;
    told.then_some(Hit { start: at, end: at + scheme + 2 + length, kind: "password-hash" })
}

/// Returns the position of the value in `name: Type = value`. After a type, only a quoted value is a literal secret.
fn behind_type(text: &[u8], at: usize, after: usize) -> Option<usize> {
    if text[at] != b':' || !is(byte(text, after), ALNUM) && !matches!(byte(text, after), b'&' | b'*' | b'[') {
        return Some(after);
    }
    let window = &text[after..text.len().min(after + 40)];
    let length = window.iter().take_while(|byte| is(**byte, WORD) || b" &'<>[]?*|.:".contains(byte)).count();
    let behind = after + length + 1;
    let value = behind + blanks(text.get(behind..).unwrap_or_default(), 4);
    if byte(text, after + length) != b'=' || byte(text, behind) != b' ' {
        return Some(after);
    }
    values::value(text, value).filter(|literal| literal.quoted).map(|_| value)
}

/// Whether a name is written like an environment variable.
pub fn is_loud(name: &[u8]) -> bool {
    name.len() >= 3 && name.iter().any(|byte| is(*byte, UPPER)) && !name.iter().any(|byte| is(*byte, LOWER))
}
