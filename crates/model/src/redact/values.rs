//! Decides whether the value next to a name is a literal secret rather than code, a type, a placeholder or a sentence.
//! The module `literals` finds where the value starts and ends.

use super::chance::{ValueProfile, profile_value};
use super::classes::{
    BASE64, DIGIT, IDENTIFIER_BYTE, LETTER, LOWER, UPPER, byte_or_newline, class_run_length,
    is_byte_in_class, starts_with_ignore_case,
};
use super::made_up::PasswordCertainty;
use super::names::{self, NameStrength, WordList, word_list};
use super::{made_up, passwords};

pub use super::literals::{
    LiteralValue, MAX_QUOTED_BYTES, continuation_of_split_token, end_before_extension, end_of_env_line,
    end_past_ampersand, literal_value_at, opening_quote_at,
};

/// How a name and a value are joined.
#[derive(Debug, Clone, Copy, Default)]
pub struct ValueContext {
    /// Whether the name is written in capitals like an environment variable.
    pub is_env_style: bool,
    /// Whether the form is `name=value` without blanks, or a command-line flag.
    pub without_blanks: bool,
    /// Whether the assignment is one of several in a URL or a connection string, separated by `?`, `&` or `;`.
    pub is_in_list: bool,
    /// Whether the form is usually not an assignment, as in `==`, `"name", "value"` and `name is value`. In that case
    /// only a random value is accepted.
    pub is_doubtful_form: bool,
}

/// Returns whether a value must be redacted, given the strength of its name.
pub fn is_secret_value(text: &[u8], value: LiteralValue, says: NameStrength, joint: ValueContext) -> bool {
    let content = &text[value.start..value.end];
    let looks = profile_value(content);
    if is_placeholder_value(content, &looks) || is_reference(text, value, &looks, joint) {
        return false;
    }
    // In `OPENAI_API_KEY=sk-...` only the start of the value is shown, and the value in `PASSWORD :'name'` is a psql
    // variable. Neither is a secret.
    if !value.is_quoted && text[value.end..].starts_with(b"...")
        || value.is_quoted && text[..value.start - 1].ends_with(b" :")
    {
        return false;
    }
    if value.is_in_call || joint.is_doubtful_form {
        // A password that a person seems to have invented is accepted even in forms such as `password ==
        // "Copper.kettle"` and `password = String::from("Copper.kettle")`.
        let told = says == NameStrength::Password
            && value.is_quoted
            && (!value.is_in_call || does_call_take_secret_itself(text, value));
        return told && made_up::made_up_certainty(content) > Some(PasswordCertainty::SingleWord)
            || looks.looks_random()
                && !is_constant_name(content)
                && !is_name_of_secret(content)
                && (says != NameStrength::PossiblySecret || is_random_and_no_hash(content, &looks));
    }
    match says {
        NameStrength::Password => passwords::is_literal_password(text, value, &looks, joint),
        NameStrength::Secret => is_secret_literal(content, value, &looks, joint),
        NameStrength::LikelyPassword => {
            let literal =
                is_secret_literal(content, value, &looks, ValueContext { without_blanks: true, ..joint });
            let literal = literal || looks.looks_random() && !is_name_of_secret(content);
            let mixed =
                looks.digits > 0 && value.is_quoted && looks.class_changes >= 2 && !content.contains(&b' ');
            let words = match joint.is_env_style && joint.without_blanks {
                true => {
                    made_up::made_up_certainty(content).is_some()
                        || looks.len >= 9 && looks.letters() == looks.len && looks.lower > 0
                }
                false => {
                    let end = value.end + usize::from(value.is_quoted);
                    let line = matches!(byte_or_newline(text, end), b'\n' | b'\r' | b'"' | b'\'');
                    let sure = made_up::made_up_certainty(content);
                    sure >= Some(PasswordCertainty::SeveralWords)
                        || value.is_quoted && sure == Some(PasswordCertainty::LongWord)
                        || sure.is_some()
                            && (line && !value.is_quoted || is_preceded_by_user_name(text, value.start))
                }
            };
            literal && (looks.digits > 0 || joint.without_blanks && looks.looks_random()) || mixed || words
        }
        NameStrength::PossiblySecret => {
            is_random_and_no_hash(content, &looks)
                || (joint.without_blanks && joint.is_in_list
                    || joint.is_env_style && (joint.without_blanks || value.is_quoted))
                    && is_hex_key(content)
                || joint.is_env_style && joint.without_blanks && is_long_with_many_digits(content, &looks)
        }
        NameStrength::Signature => joint.without_blanks && looks.len >= 20 && looks.looks_random(),
        NameStrength::Authorization => looks.len >= 6,
    }
}

/// Returns whether a user name comes shortly before `pass`, as in `user=ann pass=x` and `"user": "ann", "pass": "x"`.
/// In that case, `pass` means a password.
pub fn is_preceded_by_user_name(text: &[u8], start: usize) -> bool {
    let before = &text[start.saturating_sub(80)..start];
    ["user", "USER", "User", "login", "Login"]
        .iter()
        .any(|word| memchr::memmem::find(before, word.as_bytes()).is_some())
}

/// Returns whether the call around a value takes the secret itself, as in `String::from("x")` and `Some("x")`. Other
/// calls prompt for the secret, as in `getpass("…")`, or look it up.
fn does_call_take_secret_itself(text: &[u8], value: LiteralValue) -> bool {
    let before = &text[value.start.saturating_sub(48)..value.start - 1];
    let before = &before[..before.len() - before.iter().rev().take_while(|byte| **byte == b'\\').count()];
    [
        "String::from(",
        "String::new(",
        "Some(",
        "Secret::new(",
        "Secret::from(",
        "SecureString(",
        "[]byte(",
        "ToString(",
        "MD5(",
        "md5(",
        "SHA1(",
        "sha1(",
        "SHA2(",
        "PASSWORD(",
        "password(",
        "OLD_PASSWORD(",
        "crypt(",
        "ENCRYPT(",
        "encrypt(",
        "hashpw(",
        "digest(",
        "Buffer.from(",
        "base64_decode(",
        "b64decode(",
        "SecretStr(",
        "StringValue(",
        "Secret(",
        "secret(",
        "plaintext(",
        "encodeURIComponent(",
        "quote_plus(",
        "quote(",
        "toCharArray(",
        "new String(",
    ]
    .iter()
    .any(|call| before.ends_with(call.as_bytes()))
}

static PLACEHOLDER_VALUES: WordList = word_list(
    "\
    all any apikey ask basic bcrypt bearer bool boolean bytes changeit changeme char default digest disabled \
    empty enabled encrypted example expired fake-key fake-token fake_token false fixme float generated hash \
    hashed hidden incorrect inherit int integer invalid jwt key keychain keyring masked missing n/a nil no none \
    ntlm null number oauth oauth2 object off on optional pass passwd password plaintext prompt pwd redacted \
    required secret sensitive stdin str string tbd test-key test-token test_token text todo token true undefined \
    unknown varchar void yes",
);

/// Returns whether a value is a placeholder such as `null`, `<your-key>`, `${TOKEN}`, `xxxx`, `changeme` or
/// `[REDACTED:token]`.
fn is_placeholder_value(content: &[u8], looks: &ValueProfile) -> bool {
    if looks.letters() + looks.digits == 0 || looks.is_filler() {
        return true;
    }
    if super::contains_bytes(content, b"[REDACTED:")
        || content.starts_with(b"<")
        || is_validation_rule_list(content)
        || is_version(content)
        || content.ends_with(b"...")
        || (content.starts_with(b"@") && content.ends_with(b"@") && !looks.looks_random()) // Maven and Ant replace `@name@`
        || (content.starts_with(b"[") && content.ends_with(b"]") && looks.digits == 0)
    // The last condition finds placeholders such as `[FILTERED]`.
    {
        return true;
    }
    if PLACEHOLDER_VALUES.contains_word(content)
        || is_call_expression(content)
        || content.starts_with(b"arn:aws")
    {
        return true;
    }
    const PLACEHOLDER_PARTS: [&str; 15] = [
        "your",
        "changeme",
        "change-me",
        "change_me",
        "placeholder",
        "from-vault",
        "see-",
        "in-vault",
        "redacted",
        "dummy",
        "insert",
        "replace",
        "xxxx",
        "****",
        "fixme",
    ];
    // Comparing the first letters is cheap, so it comes first.
    let says = |at: usize| {
        b"ycpfirsdx*".contains(&(content[at] | 32))
            && PLACEHOLDER_PARTS.iter().any(|part| starts_with_ignore_case(&content[at..], part))
    };
    looks.len <= 64 && !looks.looks_random() && (0..content.len()).any(says)
}

/// Returns whether a value is a version such as `^14.18.8` or `~1.2`.
fn is_version(content: &[u8]) -> bool {
    let number = content.iter().position(|byte| is_byte_in_class(*byte, DIGIT)).unwrap_or(content.len());
    let (mark, number) = content.split_at(number);
    matches!(mark, b"" | b"^" | b"~" | b"v" | b">=" | b"~>" | b"==" | b"=") && {
        let mut parts = number.split(|byte| *byte == b'.');
        let plain = |part: &[u8]| !part.is_empty() && part.len() <= 4 && part.iter().all(u8::is_ascii_digit);
        number.contains(&b'.') && parts.all(plain)
    }
}

/// Returns whether a value is a call without a string literal, such as `uuid4()` or `randomBytes(32)`.
fn is_call_expression(content: &[u8]) -> bool {
    let Some(call) = content.strip_suffix(b")") else { return false };
    let name = class_run_length(call, IDENTIFIER_BYTE | super::classes::DOT, call.len());
    name > 2
        && is_byte_in_class(content[0], LETTER)
        && byte_or_newline(call, name) == b'('
        && call[name + 1..].iter().all(|byte| is_byte_in_class(*byte, DIGIT) || matches!(byte, b',' | b' '))
}

/// Returns whether a value is a list of rules for checking a form, such as `required|string|min:8`.
fn is_validation_rule_list(content: &[u8]) -> bool {
    let rule = |part: &[u8]| {
        let name = class_run_length(part, LOWER | super::classes::UNDERSCORE, part.len());
        name > 1 && (name == part.len() || part[name] == b':')
    };
    let limit = [&b"min:"[..], b"max:", b"size:"].iter().any(|rule| content.starts_with(rule));
    limit && content.len() < 8 || content.contains(&b'|') && content.split(|byte| *byte == b'|').all(rule)
}

/// Returns whether a value is a variable, a template, an expression, a path or a URL, all of which only refer to a
/// secret.
fn is_reference(text: &[u8], value: LiteralValue, looks: &ValueProfile, joint: ValueContext) -> bool {
    let content = &text[value.start..value.end];
    let rest = |skip: usize| content.get(skip..).unwrap_or_default();
    let named = |name: &[u8]| {
        !name.is_empty()
            && name
                .iter()
                .all(|byte| is_byte_in_class(*byte, IDENTIFIER_BYTE) || matches!(byte, b'.' | b':' | b'-'))
    };
    let template = ["${", "$(", "{{", "#{", "<%", "%(", "%{", "$[", "{%", "%env("];
    if template.iter().any(|mark| super::contains_bytes(content, mark.as_bytes()))
        || super::contains_bytes(content, b"%s") && !looks.looks_random() && looks.symbols < 4
    {
        return true;
    }
    match content[0] {
        b'$' => {
            let dollars = content.iter().take_while(|byte| **byte == b'$').count();
            let name = rest(dollars);
            if named(name) && !name[0].is_ascii_digit() || name.len() == 1 {
                return true;
            }
        }
        b'%' if content.len() <= 3 || (content.ends_with(b"%") && named(&content[1..content.len() - 1])) => {
            return true;
        }
        b'{' if content.ends_with(b"}") && !(looks.len >= 32 && looks.looks_random()) => return true,
        b':' | b'@' | b'?' | b'&' | b'*' | b'!'
            if named(rest(1)) && !looks.looks_random() && !value.is_quoted =>
        {
            return true;
        }
        b'/' | b'.' | b'~' if !looks.looks_random() && looks.symbols < 3 => return true,
        _ => {}
    }
    if content[0] == b'#' && content.len() <= 9 && content[1..].iter().all(u8::is_ascii_hexdigit) {
        return true; // this is a colour
    }
    // A string such as `"\u30c8\u30fc…"` is text in another script and not a secret, because escapes in a secret
    // stand for ASCII characters.
    if memchr::memchr(b'\\', content).is_some()
        && content.windows(4).any(|four| four.starts_with(b"\\u") && &four[2..] != b"00")
    {
        return true;
    }
    if is_host_and_path(content)
        || (value.is_quoted && text[value.start - 1] == b'`' && content.contains(&b' '))
    {
        return true;
    }
    // A value such as `vault:secret/data/db#password` is the location of a secret and not the secret itself.
    if ["vault:", "ssm:", "secretsmanager:", "env:", "file:", "sops:", "op:", "keyring:", "keychain:"]
        .iter()
        .any(|kind| starts_with_ignore_case(content, kind))
        && !looks.looks_random()
    {
        return true;
    }
    if super::contains_bytes(content, b"://")
        || (byte_or_newline(content, 1) == b':' && byte_or_newline(content, 2) == b'\\')
    {
        return true;
    }
    if ["sha1", "sha256", "sha384", "sha512", "md5"].iter().any(|name| {
        starts_with_ignore_case(content, name) && matches!(byte_or_newline(content, name.len()), b':' | b'-')
    }) {
        return true;
    }
    // This reference is not a secret itself. Azure replaces it with a secret from a key vault.
    if content.starts_with(b"@Microsoft.KeyVault") {
        return true;
    }
    !value.is_quoted && is_expression(text, value, looks, joint)
}

/// Returns whether a value is a host and a path without a scheme, such as `api.example.com/v1`.
fn is_host_and_path(content: &[u8]) -> bool {
    let host = content
        .iter()
        .take_while(|byte| is_byte_in_class(**byte, LOWER | DIGIT) || matches!(byte, b'.' | b'-'))
        .count();
    byte_or_newline(content, host) == b'/' && content[..host].contains(&b'.') && host >= 6
}

/// Returns whether a bare value is code, such as a call, an index, a generic type or a dotted path.
fn is_expression(text: &[u8], value: LiteralValue, looks: &ValueProfile, joint: ValueContext) -> bool {
    let content = &text[value.start..value.end];
    // TypeScript's `!` asserts that a value is set, as in `process.env.API_KEY!`.
    let content =
        content.strip_suffix(b"!").filter(|rest| rest.starts_with(b"process.env.")).unwrap_or(content);
    // In `<p>Password: word</p>` the bracket starts a closing tag, unlike in `Vec<u8>`.
    let element = [&b"</"[..], b"<br"].iter().any(|tag| text[value.end..].starts_with(tag));
    if matches!(byte_or_newline(text, value.end), b'(' | b'[' | b'{' | b'<') && !element
        || looks.longest_run < 32 && super::contains_bytes(content, b"::")
    {
        return true;
    }
    let dotted = content.contains(&b'.')
        && content.iter().all(|byte| is_byte_in_class(*byte, IDENTIFIER_BYTE) || *byte == b'.')
        && is_byte_in_class(content[0], LETTER);
    // In `private_key: ed25519.Ed25519PrivateKey` the value is a type whose name looks like that of a secret.
    if dotted {
        // In code, `Summer.breeze` accesses a member. In a shell, it is an ordinary word, as in
        // `DB_PASSWORD=Summer.breeze` and `--password Summer.breeze`.
        let ends = matches!(
            byte_or_newline(text, value.end),
            b'\n' | b'\r' | b' ' | b'\\' | b')' | b']' | b'}' | b'"' | b'\''
        );
        let shell = joint.without_blanks && (joint.is_env_style || joint.is_in_list);
        let literal = made_up::consists_of_everyday_nouns(content)
            || (shell || ends) && made_up::consists_of_joined_words(content)
            || shell && ends && !is_member_path(content);
        return !literal && !looks.looks_random() || is_name_of_secret(content);
    }
    // In `password= user=`, the next name follows instead of a value. In Vim, `a:password` is a variable. Neither is
    // a secret.
    let name = |part: &[u8]| part.iter().all(|byte| is_byte_in_class(*byte, IDENTIFIER_BYTE));
    let names_next = content
        .strip_suffix(b"=")
        .is_some_and(|next| name(next) && looks.digits == 0 && looks.class_changes < 4)
        && matches!(text[..value.start].last(), Some(b' ' | b'\t'));
    let scoped = byte_or_newline(content, 1) == b':'
        && is_byte_in_class(content[0], LOWER)
        && name(&content[2..])
        && !looks.looks_random();
    if names_next || scoped || super::contains_bytes(content, b"?.") {
        return true;
    }
    // Expressions in minified code, such as `e.auth??!1` and `a.token=a.key=void 0`, are not secrets.
    let name = |part: &[u8]| {
        part.iter().all(|byte| is_byte_in_class(*byte, IDENTIFIER_BYTE) || matches!(byte, b'.' | b'$'))
            && !part.is_empty()
    };
    let chain =
        content.contains(&b'=') && content.contains(&b'.') && content.split(|byte| *byte == b'=').all(name);
    chain && !looks.looks_random() || super::contains_bytes(content, b"??")
}

/// Returns whether a value is a path of members, such as `config.db.pw` or `process.env.PW`. Such a path starts with
/// the name of a common object, or one of its parts is short, contains characters other than letters, or contains a
/// capital.
fn is_member_path(content: &[u8]) -> bool {
    const OBJECT_NAMES: &str = "config cfg conf settings self this process os env args opts options params props req request ctx context \
        state app data user form event values secrets vault creds local var module each input output window document";
    let parts = || content.split(|byte| *byte == b'.');
    let first = parts().next().unwrap_or_default();
    OBJECT_NAMES.split_ascii_whitespace().any(|root| first.eq_ignore_ascii_case(root.as_bytes()))
        || parts()
            .any(|part| part.len() < 3 || !part.iter().all(|byte| is_byte_in_class(*byte, LOWER | UPPER)))
        || parts().skip(1).any(|part| part.iter().skip(1).any(|byte| is_byte_in_class(*byte, UPPER)))
}

/// Returns whether a value is itself the name of a secret, as in `FieldOf("V2ApiKey")`.
fn is_name_of_secret(content: &[u8]) -> bool {
    // A random value such as `7uUf6RzixQ6adZPwd` may end with a word by chance, so it is not taken for a name.
    let looks = profile_value(content);
    let random = looks.digits > 2 && looks.class_changes * 3 >= looks.len;
    !random
        && content.iter().all(|byte| is_byte_in_class(*byte, IDENTIFIER_BYTE) || *byte == b'.')
        && names::judge_name(content).is_some()
}

/// Returns whether a value is an API key, a token or a secret, and not a word or a name.
fn is_secret_literal(content: &[u8], value: LiteralValue, looks: &ValueProfile, joint: ValueContext) -> bool {
    if content.contains(&b' ') {
        let phrase = || super::sentences::passphrase_length(content) == Some(content.len());
        return value.is_quoted && (passwords::is_phrase_with_digit_inside_word(content) || phrase());
    }
    if content.iter().any(|byte| *byte < b' ') || is_constant_name(content) || looks.letters() == 0 {
        return false;
    }
    // In `client_secret: copper-kettle-moon` the value can only be a secret, but in `--secret=copper-kettle` it is the
    // name of a stored secret.
    let is_name = joint.without_blanks && joint.is_in_list && looks.digits + looks.upper == 0;
    let nouns = || !is_name && made_up::consists_of_everyday_nouns(content);
    if looks.looks_random() || is_uuid(content) || is_long_word(content, value, looks, joint) || nouns() {
        return true;
    }
    let literal = value.is_quoted || joint.is_env_style || joint.without_blanks || joint.is_in_list;
    let separated = content.iter().any(|byte| matches!(byte, b'_' | b'-' | b'.' | b'/' | b':' | b'@'));
    let mixed = looks.has_letters_and_digits();
    // In an environment setting, digits and letters of both cases are enough, as in `SECRET_TOKEN=imlwwAOq_pPpzrg2`.
    // In other forms the value must also contain characters that names do not contain.
    let drawn = (joint.is_env_style && joint.without_blanks || looks.symbols > 0 && looks.symbols <= 4)
        && mixed
        && looks.len >= 12
        && looks.upper > 1
        && looks.lower > 1
        && looks.class_changes >= if looks.symbols > 0 || joint.is_env_style { 2 } else { 3 }
        && !is_name_of_secret(content);
    drawn
        || literal
            && ((mixed
                && looks.len >= 6
                && !separated
                && !is_type_or_algorithm_name(content)
                && !is_numbered_variable(content))
                || is_base64_of_user_and_password(content)
                || (looks.symbols > 0 && mixed && looks.len >= 8))
}

/// Returns whether a value consists only of letters and is longer than a word, as in `JWT_SECRET=mysupersecretjwtkey`.
/// In code it may be a name, so it is accepted only in an environment setting, or if it is quoted and has no capitals.
fn is_long_word(content: &[u8], value: LiteralValue, looks: &ValueProfile, joint: ValueContext) -> bool {
    let set = joint.is_env_style && joint.without_blanks && looks.len >= 14;
    let quoted = value.is_quoted && looks.len >= 18 && looks.lower == looks.len;
    looks.letters() == looks.len && looks.lower > 0 && (set || quoted) && content.len() <= 64
}

/// Returns whether a value is a hexadecimal key, as in `SIDEKIQ_PRO_KEY=9f8e…`.
fn is_hex_key(content: &[u8]) -> bool {
    matches!(content.len(), 32 | 40 | 48 | 64) && content.iter().all(u8::is_ascii_hexdigit)
}

/// Returns whether a value is long and has many digits among its letters, but is not a hash.
fn is_long_with_many_digits(content: &[u8], looks: &ValueProfile) -> bool {
    looks.len >= 40
        && looks.digits >= 8
        && looks.letters() >= 12
        && looks.class_changes * 5 >= looks.len
        && looks.symbols == 0
        && !content.iter().any(|byte| matches!(byte, b'/' | b':'))
        && !content.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-')
}

pub fn is_uuid(content: &[u8]) -> bool {
    content.len() == 36
        && content.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Returns whether a value is random and neither a hash nor an id.
fn is_random_and_no_hash(content: &[u8], looks: &ValueProfile) -> bool {
    // The last part may be a hash, as in the cache key `Linux-cargo-9c4682cd…`.
    let last = content.rsplit(|byte| *byte == b'-').next().unwrap_or_default();
    let hash_like = content.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-')
        || last.len() >= 32 && last.iter().all(u8::is_ascii_hexdigit);
    looks.len >= 16
        && looks.digits >= 2
        && looks.letters() > 0
        && !hash_like
        && looks.class_changes * 4 >= looks.len
        && !content.contains(&b' ')
        && looks.upper > 0
        && looks.lower > 0
        && looks.longest_run >= 12
}

/// Returns whether a value is the name of a constant, such as `MAX_RETRIES` or `RESET_PASSWORD`.
pub fn is_constant_name(content: &[u8]) -> bool {
    content.iter().all(|byte| is_byte_in_class(*byte, UPPER | DIGIT) || matches!(byte, b'_' | b'-' | b'.'))
        && content.contains(&b'_')
        && profile_value(content).class_changes * 6 < content.len()
}

/// Returns whether a value is the name of a type or an algorithm, such as `u8`, `i64`, `utf8`, `oauth2` or `String?`.
pub fn is_type_or_algorithm_name(content: &[u8]) -> bool {
    const TYPE_NAMES: &str = "u8 u16 u32 u64 u128 i8 i16 i32 i64 f32 f64 int8 int16 int32 int64 uint8 utf8 utf-8 base64 sha1 sha256 \
        sha512 md5 hs256 rs256 es256 oauth2 http2 x509 ed25519 aes256 pbkdf2 argon2 argon2id scram-sha-256 string? str? \
        string! *string &str &string vec<u8> secretstr optional nvarchar";
    TYPE_NAMES.split_ascii_whitespace().any(|known| content.eq_ignore_ascii_case(known.as_bytes()))
}

/// Returns whether a value is a numbered variable, such as `arg1`, `pass2` or `param12`.
pub fn is_numbered_variable(content: &[u8]) -> bool {
    let digits = content.iter().rev().take_while(|byte| is_byte_in_class(**byte, DIGIT)).count();
    let word = &content[..content.len() - digits];
    let known = [
        "arg", "param", "value", "val", "token", "secret", "pass", "pw", "pwd", "password", "key", "user",
        "test", "input", "field", "auth", "v", "p", "s",
    ];
    digits > 0 && digits <= 2 && known.iter().any(|name| word.eq_ignore_ascii_case(name.as_bytes()))
}

/// Returns whether a value is base64 of `user:password`, as in the `auth` field of a Docker configuration.
pub fn is_base64_of_user_and_password(content: &[u8]) -> bool {
    if content.len() < 8
        || !content.len().is_multiple_of(4)
        || class_run_length(content, BASE64, MAX_QUOTED_BYTES) != content.len()
    {
        return false;
    }
    let mut bits = 0u32;
    let mut pair = false;
    for (index, byte) in content.iter().take_while(|byte| **byte != b'=').enumerate() {
        bits = bits << 6 | u32::from(base64_value(*byte));
        if index % 4 != 0 {
            let decoded = (bits >> (6 - 2 * (index as u32 % 4)) & 0xff) as u8;
            if !(b' '..=b'~').contains(&decoded) {
                return false;
            }
            pair |= decoded == b':';
        }
    }
    pair
}

fn base64_value(byte: u8) -> u8 {
    match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    }
}
