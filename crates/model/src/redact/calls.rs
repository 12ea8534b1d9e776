//! Secrets passed to a call or contained in an element: `("NAME", "x")`, `setPassword("x")`,
//! `<password>x</password>`.

use super::chance::profile_value;
use super::classes::{
    BASE64_URL, DOT, IDENTIFIER_BYTE, LOWER, byte_or_newline, class_run_length_at_end, count_blanks,
    ends_with_ignore_case, is_byte_in_class, starts_with_ignore_case,
};
use super::named::{MAX_BLANKS_AROUND_SEPARATOR, MAX_NAME_BYTES, hit_if_secret, is_variable_style};
use super::names::{self, NameStrength, NameVerdict};
use super::values::{self, LiteralValue, ValueContext};
use super::{FoundSecret, headers, stated};

/// How many bytes of a call are searched for its arguments.
const MAX_CALL_BYTES: usize = 400;

/// Finds the value in `("NAME", "value")`, where the name and the value are two arguments. `at` points to the comma.
pub fn secret_in_named_argument(text: &[u8], at: usize, floor: usize) -> Option<FoundSecret> {
    let closing = at - 1;
    let window = &text[floor.max(closing.saturating_sub(MAX_NAME_BYTES))..closing];
    let opening = closing - window.len() + memchr::memrchr(text[closing], window)?;
    let name = trim_end(&text[opening + 1..closing], b'\\');
    let name = name.strip_prefix(b"#").unwrap_or(name); // as in `fill("#password", "x")`
    let before = trim_end(&text[floor..opening], b'\\');
    let before = before.strip_suffix(b" ").unwrap_or(before);
    let mut after = at + 1 + count_blanks(&text[at + 1..], MAX_BLANKS_AROUND_SEPARATOR);
    if before.ends_with(b"buildConfigField \"String\",") && text[after..].starts_with(b"\"\\") {
        after += 1; // Gradle puts escaped quotes around the value: `"\"x\""`
    } else if !(before.ends_with(b"(") || is_variable_style(name) && before.ends_with(b",")) {
        return None;
    }
    // Twilio's clients take an account id and then the account's token, so the argument after an id is a secret.
    let account = name.len() == 34 && name.starts_with(b"AC") && name[2..].iter().all(u8::is_ascii_hexdigit);
    if account {
        let value = values::literal_value_at(text, after)
            .filter(|value| value.is_quoted && value.end - value.start == 32)?;
        let token = text[value.start..value.end].iter().all(u8::is_ascii_hexdigit);
        return token.then_some(FoundSecret { start: value.start, end: value.end, kind: "token" });
    }
    if is_second_argument_password(before) {
        let value = values::literal_value_at(text, after).filter(|value| value.is_quoted)?;
        let verdict = NameVerdict { strength: NameStrength::LikelyPassword, kind: "password" };
        return hit_if_secret(
            text,
            value,
            verdict,
            ValueContext { without_blanks: true, ..ValueContext::default() },
        );
    }
    if !name.iter().all(|byte| is_byte_in_class(*byte, BASE64_URL | DOT)) {
        return None;
    }
    let verdict = names::judge_name(name)?;
    values::opening_quote_at(text, after)?;
    if verdict.strength == NameStrength::Authorization {
        return headers::credential_in_header(text, after);
    }
    let value = values::literal_value_at(text, after)?;
    // If the form is usually not an assignment, only a random value or several joined words count as a secret, because
    // a single word may be ordinary text.
    let joint = ValueContext {
        is_doubtful_form: !is_variable_style(name) || before.ends_with(b","),
        ..ValueContext::default()
    };
    hit_if_secret(text, value, verdict, joint)
}

/// Finds the value in `put_env(:app, :secret_key_base, "x")`, where a symbol names the value. `at` points to the comma
/// after the symbol.
pub fn secret_named_by_symbol(text: &[u8], at: usize, floor: usize) -> Option<FoundSecret> {
    let before = &text[floor..at];
    let (owner, name) =
        before.split_at(before.len() - class_run_length_at_end(before, IDENTIFIER_BYTE, MAX_NAME_BYTES));
    if name.is_empty() || !owner.ends_with(b":") || owner.ends_with(b"::") {
        return None;
    }
    let verdict = names::judge_name(name)
        .filter(|verdict| matches!(verdict.strength, NameStrength::Password | NameStrength::Secret))?;
    hit_if_secret(
        text,
        values::literal_value_at(text, at + 2)?,
        verdict,
        ValueContext { is_doubtful_form: true, ..ValueContext::default() },
    )
}

fn trim_end(text: &[u8], mark: u8) -> &[u8] {
    &text[..text.len() - text.iter().rev().take_while(|byte| **byte == mark).count()]
}

/// Quickly rules out most calls in a program. Returns true only if a quote follows the opening bracket. The call's
/// name must also end with `::new` or `::from`, or it must end like the name of a secret, as `setPassword` does.
#[inline]
pub fn may_take_secret(before: &[u8], next: u8) -> bool {
    matches!(next, b'"' | b'\'' | b'\\')
        && (stated::ends_like_secret_name(before)
            || before.ends_with(b"::new")
            || before.ends_with(b"::from"))
}

/// Finds the argument of a call whose name suggests a secret, as in `setPassword("x")` and `.api_key("x")`. `at` points
/// to the opening bracket.
pub fn secret_in_named_call(text: &[u8], at: usize, floor: usize) -> Option<FoundSecret> {
    values::opening_quote_at(text, at + 1)?;
    let before = &text[floor..at];
    // In a call such as `SecretString::new("x")`, the name of the type suggests a secret.
    let made = before.strip_suffix(b"::new").or_else(|| before.strip_suffix(b"::from"));
    let named = made.unwrap_or(before);
    let (owner, name) =
        named.split_at(named.len() - class_run_length_at_end(named, IDENTIFIER_BYTE, MAX_NAME_BYTES));
    let verdict = names::judge_name(name)?;
    let setter = ["set", "with", "bearer"].iter().any(|verb| starts_with_ignore_case(name, verb));
    // A call without an object, such as `apiKey("x")`, occurs in configuration languages. After a verb such as `get`,
    // the argument is only the name of a secret, as in `get_secret("prod/db")`.
    let bare = (owner.is_empty() || owner.ends_with(b"\n") || owner.ends_with(b" "))
        && !takes_no_secret(name)
        && profile_value(&text[at + 2..text.len().min(at + 18)]).looks_random();
    let builder = bare
        || owner.ends_with(b".")
            && is_byte_in_class(name[0], LOWER)
            && (!takes_no_secret(name) || is_password_check(name));
    let sure = setter || name == b"PASSWORD";
    let value = values::literal_value_at(text, at + 1)?;
    let slashes = text[value.end..].iter().take(8).take_while(|byte| **byte == b'\\').count();
    if !(sure || builder || made.is_some())
        || !matches!(verdict.strength, NameStrength::Password | NameStrength::Secret)
        || !matches!(byte_or_newline(text, value.end + slashes + 1), b')' | b'.')
    {
        return None;
    }
    // Tests often pass an ordinary word, as in `setPassword("python")`. Such a word is not redacted.
    let looks = profile_value(&text[value.start..value.end]);
    let words = super::made_up::made_up_certainty(&text[value.start..value.end]).is_some();
    let word = looks.digits + looks.symbols == 0 && looks.class_changes < 2 && !words;
    let made_up = words || looks.digits > 0 && looks.upper > 0 && looks.lower > 0;
    let is_doubtful_form = word || !(sure || made_up) || verdict.strength != NameStrength::Password;
    hit_if_secret(text, value, verdict, ValueContext { is_doubtful_form, ..ValueContext::default() })
}

/// The calls that take a password at a fixed position. Each entry starts with the position, counted from one, and
/// continues with the end of the call's name. The list is one string, so no pointers need relocation at start-up.
const PASSWORD_POSITIONS: &str = "\
    2WiFi.begin,2CRAMMD5Auth,1redis.auth,1jedis.auth,1hmac.new,1Fernet,1hashSync,1pbkdf2,1pbkdf2Sync,1scrypt,\
    1scryptSync,2createHmac,2createCipheriv,3PlainAuth,2simple_bind,2simple_bind_s,2bind_s,3ldap_bind,\
    3ftp_login,3ssh2_auth_password,3imap_open,2oci_connect,2PasswordAuthentication,2Credentials.basic,\
    2algoliasearch,3signInWithEmailAndPassword,1hash_password,1make_password,1password_hash,\
    1generate_password_hash,2check_password_hash,1bcrypt.hash,1bcrypt.hashSync,1bcrypt.hashpw,1bcrypt.compare,\
    1argon2.hash,2 login,2(login,3mysqli_connect,3mysql_connect,3pymysql.connect,2UsernamePasswordCredentials,\
    2changeUserPassword,2db.auth,3getConnection,2jwt.sign,2jwt.encode,2jwt.verify,2jwt.decode,3new mysqli,\
    3new PDO,3DBI->connect,2NetworkCredential,1cookieParser,2JWT::encode,2JWT.encode,1SignedString,2signWith,\
    1hmacShaKeyFor,1SymmetricSecurityKey,2createDecipheriv,2AES.encrypt,2AES.decrypt,1SecretKeySpec,1AES.new,\
    2hmac.New,2HMAC.hexdigest,2HMAC.digest,3hash_hmac,1AzureKeyCredential,2SharedKeyCredential,\
    3ClientSecretCredential,2twilio.Client,3MySQLdb.connect,3Sequelize,3create_user,3create_superuser,2Credentials,\
    2pgp_sym_encrypt,2pgp_sym_decrypt,2AES_ENCRYPT,2AES_DECRYPT,1 crypt,1check_password,4ssh.connect,2Credentials.new,2username_pw_set,3openssl_encrypt,1passwordEncoder.encode,1Encoder.encode,2StaticCredentials,2BasicAWSCredentials";

/// Finds a password that is always the same argument of a call, as in `new mysqli("host", "user", "x")`, or the text
/// typed into a password field, as in `get("#password").type("x")`. `at` points to the opening bracket.
pub fn secret_at_fixed_position(text: &[u8], at: usize, floor: usize) -> Option<FoundSecret> {
    let before = &text[floor..at];
    if byte_or_newline(text, at + 1) == b')' || !may_have_positional_secret(before) {
        return None;
    }
    let typed = [".type", ".send_keys", ".sendKeys", ".fill", ".val"]
        .iter()
        .any(|verb| before.ends_with(verb.as_bytes()));
    let start = if typed {
        let field = &before[before.len().saturating_sub(64)..];
        let field = &field[memchr::memrchr(b'\n', field).map_or(0, |end| end + 1)..];
        // The field's name shows that the typed text is a password. In `type(getByLabelText(/password/i), "x")`, the
        // first argument contains that name.
        let tells = |part: &[u8]| {
            let part = part.to_ascii_lowercase();
            ["password", "passwd", "pwd", "#pass", ".pass", "\"pass\"", "'pass'"]
                .iter()
                .any(|name| super::contains_bytes(&part, name.as_bytes()))
        };
        if tells(field) {
            at + 1
        } else {
            nth_argument(text, at + 1, 2).filter(|second| tells(&text[at..*second]))?
        }
    } else {
        let row = PASSWORD_POSITIONS.split(',').find(|row| before.ends_with(&row.as_bytes()[1..]))?;
        let place = usize::from(row.as_bytes()[0] - b'0');
        // If the call is a method, the object is not among the arguments, so the password comes one position earlier.
        let method =
            || if row.ends_with("AndPassword") { nth_argument(text, at + 1, place - 1) } else { None };
        nth_argument(text, at + 1, place).or_else(method)?
    };
    let value = values::literal_value_at(text, start).filter(|value| value.is_quoted)?;
    let content = &text[value.start..value.end];
    let looks = profile_value(content);
    // Tests often type an ordinary word into a password field. Such a word is not redacted.
    let words = super::made_up::made_up_certainty(content).is_some();
    if !words && !looks.has_letters_and_digits() || content.contains(&b' ') {
        return None;
    }
    hit_if_secret(
        text,
        value,
        NameVerdict { strength: NameStrength::Password, kind: "password" },
        ValueContext::default(),
    )
}

/// The last four bytes of every call name that [`secret_at_fixed_position`] supports. Comparing these bytes rules out
/// almost all other calls.
static CALL_ENDS: [[u8; 4]; TYPING_CALL_ENDS.len() + count_position_rows()] = build_call_ends();
/// The last four bytes of the names of functions that type text into a field.
const TYPING_CALL_ENDS: [[u8; 4]; 5] = [*b"type", *b"keys", *b"Keys", *b"fill", *b".val"];

const fn count_position_rows() -> usize {
    let rows = PASSWORD_POSITIONS.as_bytes();
    let (mut count, mut at) = (1, 0);
    while at < rows.len() {
        count += (rows[at] == b',') as usize;
        at += 1;
    }
    count
}

const fn build_call_ends() -> [[u8; 4]; TYPING_CALL_ENDS.len() + count_position_rows()] {
    let rows = PASSWORD_POSITIONS.as_bytes();
    let mut ends = [[0; 4]; TYPING_CALL_ENDS.len() + count_position_rows()];
    let (mut filled, mut at) = (0, 4);
    while at <= rows.len() {
        if at == rows.len() || rows[at] == b',' {
            ends[filled] = [rows[at - 4], rows[at - 3], rows[at - 2], rows[at - 1]];
            filled += 1;
        }
        at += 1;
    }
    while filled < ends.len() {
        ends[filled] = TYPING_CALL_ENDS[filled - count_position_rows()];
        filled += 1;
    }
    ends
}

#[inline]
fn may_have_positional_secret(before: &[u8]) -> bool {
    before.last_chunk().is_some_and(|end: &[u8; 4]| {
        let slot = bit_of_end(*end);
        CALL_ENDS_BITS[slot >> 6] >> (slot & 63) & 1 == 1 && CALL_ENDS.contains(end)
    })
}

/// One bit for the hash of each entry of [`CALL_ENDS`]. Testing the bits rules out almost all other calls.
static CALL_ENDS_BITS: [u64; 16] = build_call_ends_bits();

const fn bit_of_end(end: [u8; 4]) -> usize {
    (u32::from_le_bytes(end).wrapping_mul(0x9e37_79b1) >> 22) as usize
}

const fn build_call_ends_bits() -> [u64; 16] {
    let ends = build_call_ends();
    let mut seen = [0; 16];
    let mut at = 0;
    while at < ends.len() {
        let slot = bit_of_end(ends[at]);
        seen[slot >> 6] |= 1 << (slot & 63);
        at += 1;
    }
    seen
}

/// Returns the start of the `n`th argument, counted from one. Commas inside brackets and quotes do not count.
fn nth_argument(text: &[u8], from: usize, n: usize) -> Option<usize> {
    if n == 1 {
        return Some(from + count_blanks(&text[from..], MAX_BLANKS_AROUND_SEPARATOR));
    }
    let (mut depth, mut place, mut at) = (0usize, 1, from);
    let end = text.len().min(from + MAX_CALL_BYTES);
    while at < end {
        match text[at] {
            mark @ (b'\'' | b'"') if byte_or_newline(text, at + 1) == mark => at += 1,
            b'\'' | b'"' => at = values::literal_value_at(text, at)?.end,
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => place += 1,
            _ => {}
        }
        at += 1;
        if place == n {
            return Some(at + count_blanks(&text[at..], MAX_BLANKS_AROUND_SEPARATOR));
        }
    }
    None
}

/// Returns whether a call takes the password itself, as in `check_password("x")` and `verifyPassword("x")`.
fn is_password_check(name: &[u8]) -> bool {
    ["check", "verify", "hash"].iter().any(|verb| starts_with_ignore_case(name, verb))
        && ends_with_ignore_case(name, "password")
}

/// Returns whether the call's argument is a name or text to examine rather than a secret, as in
/// `get_secret("prod/db")`.
fn takes_no_secret(name: &[u8]) -> bool {
    [
        "get", "load", "find", "read", "parse", "is", "has", "from", "hash", "verify", "check", "delete",
        "remove",
    ]
    .iter()
    .any(|verb| starts_with_ignore_case(name, verb))
}

/// Returns whether the second argument is the password, as in `SetBasicAuth("user", …`, `auth=("user", …` and
/// `.login("user", …`. `text` ends with the opening bracket.
fn is_second_argument_password(text: &[u8]) -> bool {
    let Some(caller) = text.strip_suffix(b"(") else { return false };
    ["basicauth", "basic_auth", "auth=", "auth = ", ".login"]
        .iter()
        .any(|name| ends_with_ignore_case(caller, name))
}

/// Finds the value in `<password>value</password>`. `at` points to the `>` that closes the opening tag.
pub fn secret_in_element(text: &[u8], at: usize, floor: usize) -> Option<FoundSecret> {
    if let Some(hit) = private_number_in_xml(text, at, floor) {
        return Some(hit);
    }
    let verdict = names::judge_name(element_name(&text[floor..at])?)?;
    if let Some(hit) = secret_on_line_in_element(text, at + 1, verdict) {
        return Some(hit);
    }
    if let Some(rest) = text[at + 1..].strip_prefix(b"<![CDATA[") {
        let length = rest
            .iter()
            .take(512)
            .position(|byte| matches!(byte, b']' | b'\n'))
            .filter(|length| *length > 0)?;
        let start = text.len() - rest.len();
        return hit_if_secret(
            text,
            LiteralValue { start, end: start + length, is_quoted: true, is_in_call: false },
            verdict,
            ValueContext::default(),
        );
    }
    let length = text[at + 1..].iter().take(512).position(|byte| matches!(byte, b'<' | b'\n'))?;
    let value = LiteralValue { start: at + 1, end: at + 1 + length, is_quoted: true, is_in_call: false };
    if length == 0 || byte_or_newline(text, value.end + 1) != b'/' {
        return None;
    }
    // The elements in `<span>Password</span><span>Forgotten?</span>` are labels and do not contain passwords.
    let content = &text[value.start..value.end];
    if is_inline_tag(&text[floor..at])
        && super::made_up::made_up_certainty(content).is_none()
        && !profile_value(content).has_letters_and_digits()
    {
        return None;
    }
    hit_if_secret(text, value, verdict, ValueContext::default())
}

fn is_inline_tag(before: &[u8]) -> bool {
    [&b"<span"[..], b"<code", b"<b", b"<strong", b"<div"].iter().any(|tag| before.ends_with(tag))
}

/// Finds a value on a line of its own between `<password>` and `</password>`. `at` is just after the opening tag.
fn secret_on_line_in_element(text: &[u8], at: usize, verdict: NameVerdict) -> Option<FoundSecret> {
    let rest = text[at..].strip_prefix(b"\r").unwrap_or(&text[at..]).strip_prefix(b"\n")?;
    let start = text.len() - rest.len() + count_blanks(rest, MAX_BLANKS_AROUND_SEPARATOR);
    let length = text[start..].iter().take(512).position(|byte| *byte <= b' ')?;
    let behind = &text[start + length..];
    let gap =
        behind.iter().take(MAX_BLANKS_AROUND_SEPARATOR).take_while(|byte| byte.is_ascii_whitespace()).count();
    if length == 0 || !behind[gap..].starts_with(b"</") {
        return None;
    }
    let value = LiteralValue { start, end: start + length, is_quoted: true, is_in_call: false };
    hit_if_secret(text, value, verdict, ValueContext::default())
}

/// Returns the column header for the `<td` at the end of `before`, from a header row such as
/// `<th>User</th><th>Password</th>`.
fn table_column_head(before: &[u8]) -> Option<&[u8]> {
    const MAX_HTML_TABLE_BYTES: usize = 2048;
    let table = &before[before.len().saturating_sub(MAX_HTML_TABLE_BYTES)..];
    let row = memchr::memmem::rfind(table, b"<tr")?;
    let column = memchr::memmem::find_iter(&table[row..], b"<td").count();
    let head = &table[memchr::memmem::rfind(&table[..row], b"<table").unwrap_or(0)..row];
    let at = memchr::memmem::find_iter(head, b"<th>").nth(column.checked_sub(1)?)? + 4;
    let length = head[at..].iter().position(|byte| *byte == b'<')?;
    Some(&head[at..at + length])
}

/// Returns the content of the previous element if that element names the next one, as in `<key>name</key> <string`,
/// `<name>name</name> <value` and `<param-name>name</param-name> <param-value`.
fn content_of_element_before(rest: &[u8]) -> Option<&[u8]> {
    let rest = rest.strip_suffix(b"<")?;
    let before = rest[rest.len().saturating_sub(120)..].trim_ascii_end().strip_suffix(b">")?;
    let tag = class_run_length_at_end(before, BASE64_URL, 40);
    let (before, tag) = before.split_at(before.len() - tag);
    let content = before.strip_suffix(b"</")?;
    let named = ["key", "name"].iter().any(|known| ends_with_ignore_case(tag, known));
    named.then(|| {
        &content[content.len() - class_run_length_at_end(content, BASE64_URL | DOT, MAX_NAME_BYTES)..]
    })
}

/// Finds a private number in `<RSAKeyValue>`, such as `<D>…</D>` or `<P>…</P>`. `at` points to the end of the opening
/// tag.
fn private_number_in_xml(text: &[u8], at: usize, floor: usize) -> Option<FoundSecret> {
    let before = &text[floor..at];
    let private =
        [&b"<D"[..], b"<P", b"<Q", b"<DP", b"<DQ", b"<InverseQ"].iter().any(|tag| before.ends_with(tag));
    if !private {
        return None;
    }
    let length = super::classes::class_run_length(&text[at + 1..], super::classes::BASE64, 2048);
    let near = &text[at.saturating_sub(4096)..at];
    let secret = length >= 40
        && byte_or_newline(text, at + 1 + length) == b'<'
        && super::contains_bytes(near, b"RSAKeyValue");
    secret.then_some(FoundSecret { start: at + 1, end: at + 1 + length, kind: "private-key" })
}

/// Returns the name that describes an element's content. The name comes from `<name`, from `<property name="name"`,
/// from a label before the element, or from `<key>name</key> <string` in Apple's format.
fn element_name(before: &[u8]) -> Option<&[u8]> {
    let tail = |text: &[u8]| text.len() - class_run_length_at_end(text, BASE64_URL | DOT, MAX_NAME_BYTES);
    if let Some(before) = before.strip_suffix(b"\"") {
        let (rest, name) = before.split_at(tail(before));
        let told =
            [" name=\"", " key=\"", " id=\""].iter().any(|attribute| ends_with_ignore_case(rest, attribute));
        // In `<wsse:Password Type="…">`, the value is named by the tag and not by the attribute.
        return if told { Some(name) } else { tag_name(before) };
    }
    let (rest, name) = before.split_at(tail(before));
    if matches!(name, b"td" | b"dd" | b"span" | b"code" | b"b" | b"strong" | b"div") {
        let rest = rest.strip_suffix(b"<")?;
        // A cell may contain another element, as in `<td><code>x</code></td>`, so the cell's own tag is also removed.
        let rest = rest.strip_suffix(b"<td>").or_else(|| rest.strip_suffix(b"<dd>")).unwrap_or(rest);
        let cell = rest[rest.len().saturating_sub(80)..].trim_ascii_end();
        let cell = ["</td>", "</th>", "</dt>", "</label>", "</span>", "</b>", "</strong>", "</div>"]
            .iter()
            .find_map(|end| cell.strip_suffix(end.as_bytes()))?;
        let cell = cell.trim_ascii_end();
        let cell = cell.strip_suffix(b":").unwrap_or(cell);
        // A label may have two words, such as `API key`.
        let words = class_run_length_at_end(cell, BASE64_URL | DOT, MAX_NAME_BYTES);
        let label = &cell[..cell.len() - words];
        let words = match label.strip_suffix(b" ") {
            Some(label) if words > 0 => words + 1 + class_run_length_at_end(label, BASE64_URL, 16),
            _ => words,
        };
        return Some(&cell[cell.len() - words..])
            .filter(|name| names::judge_name(name).is_some())
            .or_else(|| table_column_head(before));
    }
    if (name == b"string" || ends_with_ignore_case(name, "value"))
        && let Some(paired) = content_of_element_before(rest)
    {
        return Some(paired);
    }
    // The parent may carry the name, as in `<AdministratorPassword><Value>x` and `<setting name="ApiSecret"><value>x`.
    if ends_with_ignore_case(name, "value")
        && let Some(parent) =
            rest.strip_suffix(b"<").and_then(|rest| rest.trim_ascii_end().strip_suffix(b">"))
        && let Some(named) = name_attribute_or_element(parent)
    {
        return Some(named);
    }
    matches!(rest.last(), Some(b'<' | b':')).then_some(name).filter(|name| !name.is_empty())
}

/// Returns the name of the element whose opening tag is at the end of `before`.
fn tag_name(before: &[u8]) -> Option<&[u8]> {
    const MAX_TAG_BYTES: usize = 200;
    let window = &before[before.len().saturating_sub(MAX_TAG_BYTES)..];
    let tag = &window[memchr::memrchr2(b'<', b'\n', window).filter(|at| window[*at] == b'<')? + 1..];
    let name = &tag[..tag.iter().position(|byte| *byte == b' ')?];
    name.iter().all(|byte| is_byte_in_class(*byte, BASE64_URL | DOT) || *byte == b':').then_some(name)
}

/// Returns the `name` attribute of the element whose opening tag is at the end of `before`, or the element's own name
/// if it has no such attribute.
fn name_attribute_or_element(before: &[u8]) -> Option<&[u8]> {
    let window = &before[before.len().saturating_sub(200)..];
    let tag = &window[memchr::memrchr2(b'<', b'\n', window).filter(|at| window[*at] == b'<')? + 1..];
    let name = match memchr::memmem::find(tag, b" name=\"") {
        Some(at) => &tag[at + 7..],
        None => tag,
    };
    Some(&name[..super::classes::class_run_length(name, BASE64_URL | DOT, MAX_NAME_BYTES)])
        .filter(|name| !name.is_empty())
}
