//! Secrets stated in words, such as `the password is x` and `set it to x`, and secrets that follow a name without a
//! separator in files and commands.

use super::FoundSecret;
use super::chance::profile_value;
use super::classes::{UPPER, byte_or_newline, count_blanks, is_byte_in_class};
use super::directives::{
    is_in_lisp_form, secret_in_router_config, secret_in_set_password, value_after_type_digit,
};
use super::made_up::{self, PasswordCertainty};
use super::name_spans::name_with_word_before;
use super::named::{MAX_BLANKS_AROUND_SEPARATOR, hit_if_secret};
use super::names::{self, NameStrength, NameVerdict};
use super::sentences::{self, NameLanguage, RequiredCertainty};
use super::values::{self, LiteralValue, ValueContext};
use super::{languages, passwords};

/// Finds the value for a name that is followed by a blank, as in `password is hunter2`, `machine … password hunter2`,
/// `PASSWORD 'x'` and `configure set secret_access_key x`. The name is `text[start..end]`.
pub fn secret_stated_after_name(text: &[u8], start: usize, end: usize) -> Option<FoundSecret> {
    let name = &text[start..end];
    if announces_pair(name) {
        return super::pairs::password_in_pair_after(text, end);
    }
    // The name may consist of two words, as in `the secret word is x`.
    if matches!(name, b"word" | b"phrase" | b"code") {
        let before = &text[..start];
        let secret = [&b"secret "[..], b"pass ", b"access "].iter().any(|word| before.ends_with(word));
        return secret.then(|| sentences::secret_in_sentence(text, end, NameLanguage::English))?;
    }
    secret_right_after_name(text, start, end).or_else(|| {
        let told = matches!(name, b"pw" | b"PW") || is_password_name(name);
        let pin = matches!(name, b"pin" | b"PIN");
        let hit = if told || pin {
            sentences::secret_in_sentence(text, end, language_of_name(&text[..start], name))
        } else {
            None
        };
        hit.filter(|hit| told || made_up::made_up_certainty(&text[hit.start..hit.end]).is_some()).or_else(
            || {
                let quoted = matches!(byte_or_newline(text, end + 1), b'"' | b'\'' | b'`');
                let told = || {
                    sentences::secret_ending_clause(text, end).or_else(|| {
                        quoted.then(|| {
                            sentences::secret_value_at(text, end + 1, RequiredCertainty::SingleWord)
                        })?
                    })
                };
                matches!(name, b"pw" | b"PW").then(told)?
            },
        )
    })
}

/// Returns whether a server directive sets a header, as in `proxy_set_header X-Api-Key x;`.
fn is_header_directive(before: &[u8]) -> bool {
    let line = super::context::text_after_last_break(&before[before.len().saturating_sub(60)..]);
    super::contains_bytes(line, b"_header ")
}

/// Returns whether a name announces a user name and a password, as in `creds for the box: ann/x`.
fn announces_pair(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"creds") || name.eq_ignore_ascii_case(b"credentials")
}

/// Returns the language of the name. Italian sentences use the English word, as in `la password è x`.
fn language_of_name(before: &[u8], name: &[u8]) -> NameLanguage {
    if languages::judge_foreign_name(name).is_some() {
        return NameLanguage::Other;
    }
    let italian = [&b" la "[..], b"della ", b"una ", b"mia ", b"nuova ", b"tua ", b"alla ", b"vecchia "]
        .iter()
        .any(|word| before.ends_with(word));
    if italian || before.eq_ignore_ascii_case(b"la ") || before.ends_with(b"La ") {
        NameLanguage::Other
    } else {
        NameLanguage::English
    }
}

fn secret_right_after_name(text: &[u8], start: usize, end: usize) -> Option<FoundSecret> {
    let name = &text[start..end];
    let end = end + usize::from(byte_or_newline(text, end) == b'`');
    let verdict = match name {
        b"login" => NameVerdict { strength: NameStrength::Secret, kind: "token" },
        // The name may contain dashes, as in `proxy_set_header X-Api-Key "x"`.
        _ if text[..start].ends_with(b"-")
            && (byte_or_newline(text, end + 1) == b'"' || is_header_directive(&text[..start])) =>
        {
            names::judge_name(
                &text[end
                    - super::classes::class_run_length_at_end(&text[..end], super::classes::BASE64_URL, 40)
                    ..end],
            )?
        }
        _ => names::judge_name(name)?,
    };
    // In `pass it to the class`, `pass` is a verb and not a name.
    if verdict.strength == NameStrength::LikelyPassword && name != b"pw" {
        // The name may announce a user name and a password, as in `user/pass is admin/x`.
        if text[..start].ends_with(b"user/") && text[end..].starts_with(b" is ") {
            return super::pairs::password_in_joined_pair(text, end + 4);
        }
        // A user name may come before the password, as in `user ann and pass x`.
        if is_user_named_before(&text[start.saturating_sub(80)..start]) {
            return sentences::secret_value_at(text, end + 1, RequiredCertainty::SeveralWords);
        }
        // The name may start a line of a settings file, as in `Pass "x"` in mbsync's configuration.
        let line = super::context::text_after_last_break(&text[start.saturating_sub(40)..start]);
        if line.trim_ascii().is_empty()
            && let Some(value) =
                values::literal_value_at(text, end + count_blanks(&text[end..], MAX_BLANKS_AROUND_SEPARATOR))
            && matches!(byte_or_newline(text, value.end + usize::from(value.is_quoted)), b'\n' | b'\r')
            && name != b"PASS"
        {
            let content = &text[value.start..value.end];
            return secret_if_password_like(
                text,
                value,
                super::grades::grade_word(content).is_some() || profile_value(content).looks_random(),
            );
        }
        // The name may be a variable, as in `input_pw x`.
        if name.ends_with(b"_pw")
            && profile_value(&text[end + 1..text.len().min(end + 9)]).has_letters_and_digits()
        {
            return super::flags::secret_as_whole_argument(text, end + 1);
        }
        if text[end..].starts_with(b" for ") {
            let words = |hit: &FoundSecret| made_up::consists_of_joined_words(&text[hit.start..hit.end]);
            return sentences::secret_in_sentence(text, end, NameLanguage::English).filter(words);
        }
        return text[end..]
            .starts_with(b" is ")
            .then(|| sentences::secret_value_at(text, end + 4, RequiredCertainty::SeveralWords))?;
    }
    if text[..start].ends_with(b"public ") {
        return None;
    }
    let doubtful = ValueContext { is_doubtful_form: true, ..ValueContext::default() };
    if let Some(after) = verb_length(&text[end..]) {
        // The value may be on the next line.
        let line = end + after;
        if matches!(byte_or_newline(text, line), b'\n' | b':') && after > 1 {
            let line = line + usize::from(text[line] == b':');
            return super::placed::secret_on_next_line(text, start, end, line);
        }
        let verdict = if name == b"key" {
            names::judge_name(name_with_word_before(text, start, end, 0).unwrap_or(name))?
        } else {
            verdict
        };
        let at = end + after + 1;
        // In the Dutch sentence `Het wachtwoord is verlopen`, the word after the verb is a participle and not a
        // value.
        let word = &text[at..at + sentences::length_of_value_in_sentence(&text[at..])];
        if languages::judge_foreign_name(name).is_some() && made_up::is_participle_about_password(word) {
            return None;
        }
        return secret_after_is(text, at, verdict, ValueContext::default());
    }
    // In `enter your password to continue` no value follows, so an ordinary word is not accepted.
    if text[end..].starts_with(b" to ")
        && verdict.strength == NameStrength::Password
        && !sentences::says_password_changed(&text[..start])
    {
        return sentences::secret_value_at(text, end + 4, RequiredCertainty::SeveralWords);
    }
    if text[end..].starts_with(b" | ")
        && let Some(hit) = super::placed::secret_in_columns(text, start, end)
    {
        return Some(hit);
    }
    if text[end..].starts_with(b" to ") || text[end..].starts_with(b" | ") {
        return secret_after_is(text, end + 3, verdict, doubtful);
    }
    if verdict.strength == NameStrength::Password
        && let Some(hit) = secret_in_set_password(text, start, end).or_else(|| secrets_in_change(text, end))
    {
        return Some(hit);
    }
    if let Some(hit) = secret_in_router_config(text, start, end) {
        return Some(hit);
    }
    let value =
        values::literal_value_at(text, end + count_blanks(&text[end..], MAX_BLANKS_AROUND_SEPARATOR))?;
    // The value may follow the name in a command, as in `ENV NAME x` in a Dockerfile, `setenv NAME x` in a shell and
    // `tool config set NAME x`.
    if matches!(verdict.strength, NameStrength::Secret | NameStrength::Password)
        && (sets_variable(&text[..start])
            || !value.is_quoted
                && profile_value(&text[value.start..value.end]).has_letters_and_digits()
                && is_setting_command(&text[..start]))
    {
        return hit_if_secret(
            text,
            value,
            verdict,
            ValueContext { is_env_style: true, without_blanks: true, ..ValueContext::default() },
        );
    }
    if verdict.strength == NameStrength::Password {
        let context = &text[start.saturating_sub(200)..start];
        let in_netrc = super::contains_bytes(context, b"login ")
            && super::contains_bytes(context, b"machine ")
            && !passwords::is_prose_word(&text[value.start..value.end]);
        let in_sql = value.is_quoted
            && (name.iter().all(|byte| is_byte_in_class(*byte, UPPER))
                || super::contains_bytes(context, b"OPTIONS"));
        let joint = ValueContext { is_env_style: true, without_blanks: true, ..ValueContext::default() };
        let looks = profile_value(&text[value.start..value.end]);
        let made_up = looks.digits + looks.symbols > 0 && looks.letters() > 0;
        let in_server = matches!(name, b"requirepass" | b"bindpw" | b"rootpw")
            && (made_up
                || value.is_quoted
                || (made_up::made_up_certainty(&text[value.start..value.end]).is_some()
                    || super::lexicon::count_everyday_nouns(&text[value.start..value.end]) > 0)
                    && matches!(byte_or_newline(text, value.end), b'\n' | b'\r'));
        let in_code = value.is_quoted && made_up && context.ends_with(b"#define ");
        let words = made_up::made_up_certainty(&text[value.start..value.end]);
        let in_command = (made_up || value.is_quoted || words.is_some())
            && [&b"nmcli "[..], b"wpa_cli "].iter().any(|command| super::contains_bytes(context, command));
        // `d-i passwd/root-password password x` is a line in a preseed file of the Debian installer.
        let in_command = in_command
            || super::contains_bytes(super::context::text_after_last_break(context), b"mysqladmin ")
            || super::contains_bytes(super::context::text_after_last_break(context), b"d-i passwd/");
        if in_netrc || in_sql || in_server || in_code || in_command {
            return hit_if_secret(text, value, verdict, joint);
        }
        if let Some(encoded) = value_after_type_digit(text, value) {
            return hit_if_secret(text, encoded, verdict, joint);
        }
        // The name may start a line, as in `~/.msmtprc` and in tables.
        let line = context.trim_ascii_end();
        let starts = line.is_empty() || context[line.len()..].contains(&b'\n');
        let ends = byte_or_newline(text, value.end + usize::from(value.is_quoted)) == b'\n';
        // Inside a block or a Lisp form, `password "x"` sets the password, so the value is a literal.
        let in_block = value.is_quoted && (context.ends_with(b"{ ") || context.ends_with(b":"))
            || is_in_lisp_form(text, value, context);
        // A user name may come before the password, as in `username admin and password Orchid190`.
        let beside_user =
            made_up && context.ends_with(b" and ") && super::contains_bytes(context, b"username ");
        let joint =
            ValueContext { is_doubtful_form: !value.is_quoted && !beside_user, ..ValueContext::default() };
        let told = starts && ends
            || in_block
            || beside_user
            || context.ends_with(b"with ")
            || context.ends_with(b"using ");
        if told && let Some(hit) = hit_if_secret(text, value, verdict, joint) {
            return Some(hit);
        }
        if starts && ends && made_up::is_noun_not_used_as_modifier(&text[value.start..value.end]) {
            return secret_if_password_like(text, value, true);
        }
        // One of these words may come before the name, as in `log in with password copperkettle and …` and
        // `its password "Copper.kettle"`.
        let beside = [
            "with ",
            "using ",
            "hardcoded ",
            "hard-coded ",
            "leaked ",
            "and ",
            "use ",
            "new ",
            "its ",
            "default ",
            "initial ",
            "temporary ",
            "current ",
            "old ",
            "/ ",
        ]
        .iter()
        .any(|word| super::classes::ends_with_ignore_case(context, word));
        let enough = match words? {
            PasswordCertainty::EverydayNouns => true,
            PasswordCertainty::SeveralWords => {
                beside || value.is_quoted || made_up::ends_clause(text, value.end)
            }
            PasswordCertainty::LongWord => beside || value.is_quoted,
            PasswordCertainty::SingleWord => {
                let capital = is_byte_in_class(text[value.start], UPPER) && !is_byte_in_class(name[0], UPPER);
                // Prose such as `username and password properties` contains no value.
                let beside = beside && !context.ends_with(b"and ") || is_user_named_before(context);
                value.is_quoted || (beside || capital) && made_up::ends_clause(text, value.end)
            }
        };
        return secret_if_password_like(text, value, enough);
    }
    // In SQL, the name is in capitals, as in `CREATE SECRET s (TYPE s3, SECRET 'x')` and `ATTACH 'x.db' AS x KEY 'x'`.
    let in_sql =
        value.is_quoted && text[value.start - 1] == b'\'' && matches!(name, b"SECRET" | b"KEY" | b"TOKEN");
    let line = || super::context::text_after_last_break(&text[start.saturating_sub(200)..start]);
    if in_sql
        && ["CREATE ", "ATTACH ", "ALTER ", "create ", "SET "]
            .iter()
            .any(|verb| super::contains_bytes(line(), verb.as_bytes()))
    {
        return super::flags::secret_as_whole_argument(text, value.start - 1);
    }
    let at_prompt = name == b"AUTH" && text[..start].ends_with(b"> ");
    // Since Redis 6, a user name may come before the password, as in `AUTH name x`.
    if at_prompt && let Some(hit) = super::flags::password_word_after_name(text, end) {
        return Some(hit);
    }
    let least = match name {
        b"login" => 24,
        _ if at_prompt => 8,
        _ if value.is_quoted && verdict.strength == NameStrength::Secret => 12,
        _ => 20,
    };
    let content = &text[value.start..value.end];
    // Neither of these is a value: in `#define initSecret initSecret_avx512` another name follows, and in
    // `vault write …/login role_id=x` a setting follows.
    let setting = name == b"login" && content.contains(&b'=');
    if content.len() < least || setting || super::contains_bytes(content, name) {
        return None;
    }
    hit_if_secret(text, value, verdict, doubtful)
}

/// Returns the length of a blank and a verb at the start of `text`, such as ` is` or ` lautet`.
fn verb_length(text: &[u8]) -> Option<usize> {
    const STATING_VERBS: [&str; 8] = ["is", "ist", "lautet", "es", "est", "é", "è", "vaut"];
    let rest = text.strip_prefix(b" ")?;
    if !matches!(byte_or_newline(rest, 0), b'i' | b'l' | b'e' | b'v' | 0xc3) {
        return None;
    }
    let length = rest.iter().take(8).position(|byte| matches!(byte, b' ' | b'\n' | b':'))?;
    let ends = rest[length] != b':' || byte_or_newline(rest, length + 1) == b'\n';
    (ends && STATING_VERBS.iter().any(|verb| verb.as_bytes() == &rest[..length])).then_some(length + 1)
}

/// Returns whether the text ends with a command that sets a variable. The name of the variable follows.
fn sets_variable(before: &[u8]) -> bool {
    [
        "ENV ",
        "setenv ",
        "SetEnv ",
        "set -x ",
        "set -gx ",
        "set -xg ",
        "set -Ux ",
        "set -lx ",
        "fastcgi_param ",
    ]
    .iter()
    .any(|command| before.ends_with(command.as_bytes()))
}

/// Returns whether the line contains a command that stores a setting, such as `npm config set NAME x` or
/// `pulumi config set --secret NAME x`.
fn is_setting_command(before: &[u8]) -> bool {
    let line = super::context::text_after_last_break(&before[before.len().saturating_sub(120)..]);
    [
        &b"config set "[..],
        b"configure set ",
        b"config create ",
        b"secrets set ",
        b"env:set ",
        b"config:set ",
        b"secret set ",
        b"variables set ",
    ]
    .iter()
    .any(|command| super::contains_bytes(line, command))
}

/// Finds the value in `dotnet user-secrets set "Db:Password" "x"`. `end` points to the quote after the name.
pub fn secret_in_quoted_setting(text: &[u8], start: usize, end: usize) -> Option<FoundSecret> {
    let mark = byte_or_newline(text, end);
    if byte_or_newline(text, end + 1) != b' ' || byte_or_newline(text, end + 2) != mark {
        return None;
    }
    let value = values::literal_value_at(text, end + 2).filter(|value| value.is_quoted)?;
    let line = super::context::text_after_last_break(&text[start.saturating_sub(120)..start]);
    let verdict = names::judge_name(&text[start..end])?;
    let sets =
        [&b" set "[..], b"setx ", b"setenv "].iter().any(|command| super::contains_bytes(line, command));
    sets.then(|| {
        hit_if_secret(
            text,
            value,
            verdict,
            ValueContext { is_env_style: true, without_blanks: true, ..ValueContext::default() },
        )
    })?
}

/// Returns whether the text ends with a user name, as in `user ann, ` and `username ann and `.
fn is_user_named_before(before: &[u8]) -> bool {
    let parted = [", ", " and ", " / ", " e ", " y ", " und ", " en ", " et "]
        .iter()
        .find_map(|joint| before.strip_suffix(joint.as_bytes()));
    let Some(before) = parted else { return false };
    let length = before.iter().rev().take(40).take_while(|byte| !byte.is_ascii_whitespace()).count();
    let before = &before[..before.len() - length];
    [
        "user ",
        "username ",
        "login ",
        "utente ",
        "usuario ",
        "usuário ",
        "gebruiker ",
        "utilisateur ",
        "benutzer ",
        "benutzername ",
        "as ",
    ]
    .iter()
    .any(|word| length > 1 && super::classes::ends_with_ignore_case(before, word))
}

/// Finds both values in `changed the password from x to y`, because the old password may still open a backup.
fn secrets_in_change(text: &[u8], end: usize) -> Option<FoundSecret> {
    let made_up = |value: &LiteralValue| {
        let content = &text[value.start..value.end];
        made_up::made_up_certainty(content).is_some() || profile_value(content).has_letters_and_digits()
    };
    // In `password was changed from x`, a verb comes between the name and `from`.
    let window = &text[end..text.len().min(end + 40)];
    let from = memchr::memmem::find(window, b" from ")?;
    let verb = window[..from].rsplit(|byte| *byte == b' ').next().unwrap_or_default();
    if from > 0 && !matches!(verb, b"changed" | b"reset" | b"rotated" | b"updated" | b"switched" | b"moved") {
        return None;
    }
    // The old password may be missing, as in `from the default to x` and `from the old one to x`.
    if text[end + from + 6..].starts_with(b"the ") {
        let rest = &text[end + from + 6..text.len().min(end + from + 60)];
        let rest = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
        let to = end + from + 6 + memchr::memmem::find(rest, b" to ")? + 4;
        return sentences::secret_value_at(text, to, RequiredCertainty::SeveralWords);
    }
    let old = values::literal_value_at(text, end + from + 6)?;
    let behind = old.end + usize::from(old.is_quoted);
    let new = behind + text[behind..].strip_prefix(b" to ").map(|_| 4)?;
    let new = values::literal_value_at(text, new).filter(made_up);
    match (made_up(&old), new) {
        (true, new) => secret_if_password_like(
            text,
            LiteralValue { end: new.map_or(old.end, |new| new.end), ..old },
            true,
        ),
        (false, Some(new)) => secret_if_password_like(text, new, true),
        (false, None) => None,
    }
}

/// Finds the value in `the password? It's x` and `the password, which is x`. `end` is where the name ends.
pub fn secret_in_next_clause(text: &[u8], start: usize, end: usize) -> Option<FoundSecret> {
    // The value may follow the question mark directly, as in `the pw? x`.
    if text[end..].starts_with(b"? ")
        && (text[start..end].eq_ignore_ascii_case(b"pw") || is_password_name(&text[start..end]))
    {
        let hit = sentences::secret_value_at(text, end + 2, RequiredCertainty::SeveralWords);
        if hit.is_some() {
            return hit;
        }
    }
    if !is_password_name(&text[start..end]) {
        return None;
    }
    let next = &text[end + 1..];
    let line = next.iter().take(4).position(|byte| *byte == b'\n');
    match (text[end], line) {
        (b'\'', _) => sentences::secret_ending_clause(text, end + 3)
            .or_else(|| sentences::secret_value_at(text, end + 3, RequiredCertainty::SeveralWords)),
        (b'?', Some(line)) => sentences::secret_answering_question(text, end + 1 + line),
        (b'.', _) if !next.get(1..3)?.eq_ignore_ascii_case(b"it") => None,
        (b',', _) => sentences::secret_in_sentence(text, end + 1, NameLanguage::English)
            .or_else(|| sentences::secret_after_comma(text, end + 1)),
        _ => sentences::secret_in_sentence(text, end + 1, NameLanguage::English),
    }
}

/// Finds a value before the name `text[start..end]` at the end of a clause, as in
/// `type x when it asks for the password`.
pub fn secret_typed_before_name(text: &[u8], start: usize, end: usize, floor: usize) -> Option<FoundSecret> {
    if !is_password_name(&text[start..end]) {
        return None;
    }
    let line = super::context::text_after_last_break(&text[floor.max(start.saturating_sub(80))..start]);
    let (verb, length) = [&b"type "[..], b"enter ", b"Type ", b"Enter "]
        .iter()
        .find_map(|verb| Some((memchr::memmem::rfind(line, verb)?, verb.len())))?;
    let from = start - line.len() + verb + length;
    let hit = sentences::secret_value_at(text, from, RequiredCertainty::SeveralWords)?;
    let asked = [&b" when "[..], b" if ", b" once ", b" at ", b" for ", b" as "]
        .iter()
        .any(|word| text[hit.end..].starts_with(word));
    (asked && hit.end < start).then_some(hit)
}

/// Finds the value in `use x as the password`, as [`sentences::secret_used_as_password`] does.
pub fn secret_used_before_name(text: &[u8], start: usize, end: usize, floor: usize) -> Option<FoundSecret> {
    // A word such as `as`, `the`, `como` or `my` comes before the name. Such words end in one of these letters.
    let joined = matches!(text[..start], [.., b's' | b'e' | b'o' | b'a' | b'y' | b'r' | b't', b' ']);
    let tail = text[start..end].last_chunk::<2>()?.map(|byte| byte | 32);
    if !joined || !matches!(&tail, b"rd" | b"se" | b"rt" | b"wd") {
        return None;
    }
    match is_password_name(&text[start..end]) {
        true => sentences::secret_used_as_password(text, start, floor),
        false => languages::secret_before_name(text, start, end, floor),
    }
}

/// Finds the value in `use "x" as the password`. The `as` is `text[start..end]`.
pub fn quoted_secret_named_after(text: &[u8], start: usize, end: usize, floor: usize) -> Option<FoundSecret> {
    let told = [&b" the "[..], b" a ", b" my ", b" your ", b" our ", b" "].iter().any(|article| {
        text[end..].strip_prefix(*article).is_some_and(|rest| {
            let length = rest.iter().take(24).take_while(|byte| byte.is_ascii_alphanumeric()).count();
            let last = rest[length..].strip_prefix(b" ").unwrap_or_default();
            is_password_name(&rest[..length])
                || is_password_name(
                    &last[..last.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count()],
                )
        })
    });
    let before = text[floor..start].strip_suffix(b" ").filter(|_| told)?;
    let Some(mark) = before.last().copied().filter(|mark| matches!(mark, b'"' | b'\'' | b'`')) else {
        return unquoted_secret_used_as(text, floor + before.len(), floor, end);
    };
    let before = &before[..before.len() - 1];
    let window = &before[before.len().saturating_sub(80)..];
    let length = window.len() - memchr::memrchr(mark, window)? - 1;
    let value = LiteralValue {
        start: floor + before.len() - length,
        end: floor + before.len(),
        is_quoted: true,
        is_in_call: false,
    };
    let content = &text[value.start..value.end];
    let plausible = made_up::made_up_certainty(content).is_some()
        || passwords::is_passphrase(content)
        || profile_value(content).has_letters_and_digits() && length >= 6;
    secret_if_password_like(text, value, plausible)
}

/// Finds the unquoted value in `use x as the password`. The value ends at `at`, and `as` ends at `end`.
fn unquoted_secret_used_as(text: &[u8], at: usize, floor: usize, end: usize) -> Option<FoundSecret> {
    let length = text[floor..at].iter().rev().take(64).take_while(|byte| !byte.is_ascii_whitespace()).count();
    let used = ["use ", "set ", "with ", "using ", "type ", "enter "]
        .iter()
        .any(|verb| text[..at - length].ends_with(verb.as_bytes()));
    // A phrase such as `as the password manager` does not refer to a password.
    let line = &text[end..text.len().min(end + 40)];
    let last = memchr::memmem::find(line, b"assword").map_or(0, |found| end + found + 7);
    let alone = last > 0 && made_up::ends_clause(text, last);
    (used && alone)
        .then(|| sentences::secret_value_at(&text[..at], at - length, RequiredCertainty::SeveralWords))?
}

pub fn is_password_name(word: &[u8]) -> bool {
    names::judge_name(word).is_some_and(|verdict| verdict.strength == NameStrength::Password)
}

pub fn secret_if_password_like(text: &[u8], value: LiteralValue, enough: bool) -> Option<FoundSecret> {
    let placeholder = super::contains_bytes(&text[value.start..value.end], b"REDACTED");
    let content = &text[value.start..value.end];
    let setting = memchr::memchr(b'=', content).is_some_and(|at| {
        at > 0 && content[..at].iter().all(|byte| is_byte_in_class(*byte, super::classes::LOWER))
    });
    let code = !value.is_quoted
        && (setting
            || matches!(byte_or_newline(text, value.end), b'(' | b'[' | b'{' | b'=' | b'/' | b':' | b'<'));
    (enough && !placeholder && !code).then_some(FoundSecret {
        start: value.start,
        end: value.end,
        kind: "password",
    })
}

/// Finds the value in `name is value`. In prose almost any word can follow, so an ordinary word is not accepted.
fn secret_after_is(text: &[u8], at: usize, verdict: NameVerdict, joint: ValueContext) -> Option<FoundSecret> {
    let mut value = values::literal_value_at(text, sentences::position_after_adverb(text, at))?;
    // A question mark or exclamation mark at the end may belong to the sentence, as in
    // `what if the password is wrong?`.
    if !value.is_quoted && !text[value.start..value.end].iter().any(u8::is_ascii_digit) {
        let marks =
            text[value.start..value.end].iter().rev().take_while(|byte| matches!(byte, b'?' | b'!')).count();
        value.end -= marks;
    }
    if value.end == value.start {
        return None;
    }
    let content = &text[value.start..value.end];
    if matches!(verdict.strength, NameStrength::Password | NameStrength::LikelyPassword)
        && let Some(sure) = made_up::made_up_certainty(content)
    {
        let enough =
            sure > PasswordCertainty::SingleWord || value.is_quoted || made_up::ends_clause(text, value.end);
        return secret_if_password_like(text, value, enough);
    }
    if verdict.strength == NameStrength::Password && value.is_quoted && passwords::is_passphrase(content) {
        return secret_if_password_like(text, value, true);
    }
    if verdict.strength == NameStrength::LikelyPassword {
        return None;
    }
    if verdict.strength == NameStrength::Secret && made_up::consists_of_everyday_nouns(content) {
        return secret_if_password_like(
            text,
            value,
            made_up::ends_clause(text, value.end + usize::from(value.is_quoted)),
        );
    }
    let looks = profile_value(content);
    let separated = content.iter().any(|byte| matches!(byte, b'-' | b'/' | b'_'));
    let name_like = separated && looks.class_changes < 2;
    let plausible =
        looks.symbols > 0 || (looks.has_letters_and_digits() && !name_like) || looks.looks_random();
    // A hexadecimal key is accepted, but a word is not.
    let hex = content.len() >= 32 && content.iter().all(u8::is_ascii_hexdigit);
    let key = verdict.strength == NameStrength::Secret && hex;
    let is_doubtful_form =
        joint.is_doubtful_form || verdict.strength != NameStrength::Password && !value.is_quoted && !key;
    let joint = ValueContext { is_doubtful_form, ..joint };
    if plausible || joint.is_doubtful_form { hit_if_secret(text, value, verdict, joint) } else { None }
}

/// Returns whether a word ends like a name that [`secret_stated_after_name`] supports. Most words do not.
#[inline]
pub fn ends_like_secret_name(word: &[u8]) -> bool {
    if matches!(word, b"pw" | b"PW" | b"pin" | b"PIN" | [.., b'_', b'p', b'w'] | [.., b'_', b'P', b'W']) {
        return true;
    }
    let Some(tail) = word.last_chunk::<3>() else { return false };
    matches!(
        &tail.map(|byte| byte | 32),
        b"key"
            | b"ken"
            | b"ret"
            | b"ord"
            | b"swd"
            | b"pwd"
            | b"ase"
            | b"ial"
            | b"als"
            | b"uth"
            | b"gin"
            | b"ass"
            | b"dpw"
            | b"tpw"
            | b"psk"
            | b"ort"
            | b"ode"
            | b"pat"
            | b"eds"
    )
}
