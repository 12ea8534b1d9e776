//! Passwords at a fixed position in a command: `net use … x`, `setx NAME x`, `sqlplus user/x@host`,
//! `psexec.py d/u:x@host`.

use memchr::memmem;

use super::chance::profile_value;
use super::classes::{
    BASE64_URL, DOT, LETTER_OR_DIGIT, byte_or_newline, class_run_length, count_blanks, is_byte_in_class,
    starts_with_ignore_case,
};
use super::context::text_after_last_break;
use super::names::{self, NameStrength};
use super::{FoundSecret, PLACEHOLDER_START, flags, sentences};

const MAX_COMMAND_BYTES_SEARCHED: usize = 300;
const MAX_COMMAND_WORDS: usize = 12;

/// Finds a secret among the words after the command `text[start..end]`.
pub fn secret_after_command(text: &[u8], start: usize, end: usize) -> Option<FoundSecret> {
    match &text[start..end] {
        b"use" if ends_with_word(&text[..start], b"net") => secret_in_net_use(text, end),
        b"setx" => secret_in_setx(text, end),
        b"sqlplus" | b"expdp" | b"impdp" | b"sqlldr" | b"rman" | b"exp" | b"imp" => {
            secret_in_oracle_login(text, end)
        }
        b"py" if text[..start].ends_with(b".") => secret_in_impacket_target(text, end),
        b"obscure" if ends_with_word(&text[..start], b"rclone") => {
            flags::secret_as_whole_argument(text, end + 1)
        }
        b"init" if ends_with_word(&text[..start], b"shodan") => {
            flags::secret_as_whole_argument(text, end + 1)
        }
        b"passwd" if ends_with_word(&text[..start], b"openssl") => secret_in_openssl_passwd(text, end),
        b"user"
            if text[..start].ends_with(b"ftp> ")
                || text[..start].ends_with(b"; ")
                    && memmem::find(
                        text_after_last_break(&text[start.saturating_sub(MAX_COMMAND_BYTES_SEARCHED)..start]),
                        b"ftp",
                    )
                    .is_some() =>
        {
            flags::password_word_after_name(text, end)
        }
        b"PASS" if begins_client_message(&text[..start]) => secret_in_pass_line(text, end + 1),
        b"sp_addlogin" | b"sp_password" => secret_in_second_literal(text, end),
        b"rp" if text[..start].ends_with(b"/") => flags::secret_as_whole_argument(text, end + 1),
        b"pass"
            if memmem::find(
                text_after_last_break(&text[start.saturating_sub(MAX_COMMAND_BYTES_SEARCHED)..start]),
                b"rclone ",
            )
            .is_some() =>
        {
            flags::secret_as_whole_argument(text, end + 1)
        }
        b"wpa_passphrase" => flags::password_word_after_name(text, end),
        b"signtool" => secret_after_flag(text, end, b"/p"),
        b"login" if ends_with_word(&text[..start], b"vault") || ends_with_word(&text[..start], b"cargo") => {
            random_word_after(text, end, 0)
        }
        b"login" | b"auth" if ends_with_login_tool(&text[..start]) => token_argument(text, end),
        b"login" if ends_with_word(&text[..start], b"bw") => random_word_after(text, end, 1),
        b"LOGIN" if is_imap_tagged(&text[..start]) => random_word_after(text, end, 1),
        b"AUTH"
            if memmem::find(text_after_last_break(&text[start.saturating_sub(20)..start]), b"HELLO ")
                .is_some() =>
        {
            random_word_after(text, end, 1)
        }
        b"unseal" if ends_with_word(&text[..start], b"operator") => random_word_after(text, end, 0),
        b"unlock" if ends_with_word(&text[..start], b"bw") => random_word_after(text, end, 0),
        b"auth" if ends_with_word(&text[..start], b"snyk") => random_word_after(text, end, 0),
        b"authtoken" if ends_with_word(&text[..start], b"ngrok") || text[..start].ends_with(b"add-") => {
            random_word_after(text, end, 0)
        }
        b"AUTH" if text[end..].starts_with(b" PLAIN ") => random_word_after(text, end, 1),
        b"AUTH" if start == 0 || text[start - 1] == b'\n' || text[..start].ends_with(b"> ") => {
            random_word_after(text, end, 0).or_else(|| random_word_after(text, end, 1))
        }
        b"key" if is_router_or_snmp_line(&text[..start]) => random_word_after(text, end, 0),
        b"sha" | b"SHA" | b"aes" | b"AES" if is_router_or_snmp_line(&text[..start]) => {
            let bits = usize::from(byte_or_newline(text, end + 1).is_ascii_digit());
            random_word_after(text, end, bits)
        }
        b"community" if ends_with_word(&text[..start], b"snmp-server") => random_word_after(text, end, 0),
        b"key" if text[..start].ends_with(b"pre-shared-") => {
            let skip =
                usize::from(text[end..].starts_with(b" ascii-text ") || text[end..].starts_with(b" 0 "));
            random_word_after(text, end, skip)
        }
        b"using"
            if ends_like_user(&text[..start])
                && memmem::find(
                    text_after_last_break(&text[start.saturating_sub(MAX_COMMAND_BYTES_SEARCHED)..start]),
                    b"connect to ",
                )
                .is_some() =>
        {
            random_word_after(text, end, 0)
        }
        b"logon" if text[..start].ends_with(b".") => secret_in_teradata_logon(text, end),
        b"add" if ends_with_word(&text[..start], b"mc config host") => random_word_after(text, end, 3),
        b"push" if ends_with_word(&text[..start], b"nuget") => token_argument(text, end),
        b"SQLConnectInfo" => random_word_after(text, end, 2),
        b"DefaultPassword" => secret_after_flag(text, end, b"/d"),
        b"isql" => random_word_after(text, end, 2).or_else(|| random_word_after(text, end, 3)),
        b"runas" => random_word_after(text, end, 1),
        b"user_pw" | b"owner_pw" | b"input_pw" => flags::secret_as_whole_argument(text, end + 1),
        b"install" if ends_with_word(&text[..start], b"cloudflared service") => token_argument(text, end),
        b"join" if ends_with_word(&text[..start], b"zerotier-cli") => token_argument(text, end),
        b"psk" if text[..start].ends_with(b"wpa-") => flags::secret_as_whole_argument(text, end + 1),
        b"store" if ends_with_word(&text[..start], b"api-key") => random_word_after(text, end, 1),
        b"encrypt_string" => flags::quoted_or_random_secret(text, end + 1),
        b"rocommunity" | b"rwcommunity" => random_word_after(text, end, 0),
        b"identify" | b"IDENTIFY" => secret_in_irc_identify(text, start, end),
        b"set" if ends_with_word(&text[..start], b"mc alias") => random_word_after(text, end, 3),
        b"user" if start == 0 || text[start - 1] == b'\n' => random_word_after(text, end, 1),
        b"hashes" if text[..start].ends_with(b"-") => secret_in_hashes_flag(text, end + 1),
        _ => None,
    }
}

/// Returns whether [`secret_after_command`] has a rule for a command with this name.
#[inline]
pub fn may_take_secret(word: &[u8]) -> bool {
    matches!(
        word,
        b"use"
            | b"setx"
            | b"sqlplus"
            | b"expdp"
            | b"impdp"
            | b"sqlldr"
            | b"rman"
            | b"exp"
            | b"imp"
            | b"py"
            | b"obscure"
            | b"init"
            | b"passwd"
            | b"user"
            | b"PASS"
            | b"sp_addlogin"
            | b"sp_password"
            | b"rp"
            | b"hashes"
            | b"login"
            | b"LOGIN"
            | b"unseal"
            | b"unlock"
            | b"auth"
            | b"AUTH"
            | b"authtoken"
            | b"community"
            | b"key"
            | b"using"
            | b"pass"
            | b"signtool"
            | b"wpa_passphrase"
            | b"logon"
            | b"sha"
            | b"SHA"
            | b"aes"
            | b"AES"
            | b"encrypt_string"
            | b"store"
            | b"add"
            | b"push"
            | b"isql"
            | b"SQLConnectInfo"
            | b"DefaultPassword"
            | b"runas"
            | b"user_pw"
            | b"owner_pw"
            | b"input_pw"
            | b"install"
            | b"join"
            | b"psk"
            | b"rocommunity"
            | b"rwcommunity"
            | b"identify"
            | b"IDENTIFY"
            | b"set"
    )
}

/// Finds the word after `skip` other words, as in `vault login x` and `bw login name x`. The word must mix letters and
/// digits or consist of joined words, so that the words of a sentence do not match.
fn random_word_after(text: &[u8], at: usize, skip: usize) -> Option<FoundSecret> {
    let (start, end) = command_words(text, at).nth(skip)?;
    let content = text[start..end].trim_ascii_end();
    let looks = profile_value(content);
    let plausible = looks.has_letters_and_digits() && looks.len >= 8 && looks.class_changes >= 2
        || super::made_up::consists_of_joined_words(content);
    let ends = matches!(byte_or_newline(text, end), b'\n' | b'\r' | b' ' | b';' | b'&' | b'|');
    let setting =
        memchr::memchr(b'=', content).is_some_and(|at| content[at..].iter().any(|byte| *byte != b'='));
    (plausible && ends && !setting)
        .then(|| flags::secret_as_whole_argument(&text[..end], start))?
        .filter(|hit| !super::contains_bytes(&text[hit.start..hit.end], PLACEHOLDER_START))
}

/// Returns whether the text ends with the name of a tool that logs in with a token, as in `wandb login x`.
fn ends_with_login_tool(before: &[u8]) -> bool {
    const LOGIN_TOOLS: &str = "wandb huggingface-cli hf flyctl fly heroku sentry-cli doctl railway pulumi circleci codecov netlify vercel supabase \
        gh glab op turso modal replicate comet neptune dvc kaggle databricks astro prefect render koyeb npm infracost buf cachix expo eas \
        cloudsmith gcloud stripe twilio linode-cli civo akamai nx turbo trunk phrase crowdin transifex tx lokalise semgrep fossa \
        snyk checkly grafbase convex planetscale pscale neon neonctl xata render-cli okteto garden dagger earthly depot namespace blacksmith";
    let tool = before.trim_ascii_end();
    let tool = &tool[tool.len()
        - tool.iter().rev().take(24).take_while(|byte| is_byte_in_class(**byte, BASE64_URL)).count()..];
    before.ends_with(b" ") && LOGIN_TOOLS.split_ascii_whitespace().any(|known| known.as_bytes() == tool)
}

/// Finds an argument that is a token: 20 characters or more that look random.
fn token_argument(text: &[u8], at: usize) -> Option<FoundSecret> {
    command_words(text, at).find_map(|(start, end)| {
        let word = &text[start..end];
        let word = word.rsplit(|byte| *byte == b'=').next().unwrap_or(word);
        let looks = profile_value(word);
        let drawn = word.len() >= 20
            && word.iter().all(|byte| is_byte_in_class(*byte, BASE64_URL | DOT))
            && looks.looks_random()
            && !super::contains_bytes(word, b"REDACTED");
        drawn.then_some(FoundSecret { start: end - word.len(), end, kind: "token" })
    })
}

/// Returns whether `before` may end with the first part of a setting's name that [`secret_in_setting_command`]
/// supports.
#[inline]
pub fn may_be_setting_command(before: &[u8]) -> bool {
    before.ends_with(b"http") || before.ends_with(b"pypi")
}

/// Finds the value in `http-basic.host name x` and `pypi-token.host x`, which are settings in Composer and Poetry. `at`
/// points to the dash.
pub fn secret_in_setting_command(text: &[u8], at: usize) -> Option<FoundSecret> {
    let place = match &text[at..] {
        rest if rest.starts_with(b"-basic.") => 2,
        rest if rest.starts_with(b"-token.") => 1,
        _ => return None,
    };
    random_word_after(text, at, place)
}

/// Finds the password in the Redis command `ACL SETUSER name on >x ~* +@all`. `at` points to the `>`.
pub fn secret_in_redis_acl(text: &[u8], at: usize) -> Option<FoundSecret> {
    let line =
        text_after_last_break(&text[at.saturating_sub(MAX_COMMAND_BYTES_SEARCHED)..at]).to_ascii_lowercase();
    if !line.starts_with(b"user ") {
        memmem::find(&line, b"setuser ")?;
    }
    flags::secret_as_whole_argument(text, at + 1)
}

/// Returns whether `before` ends with a user name, as in `connect to shop user name `.
fn ends_like_user(before: &[u8]) -> bool {
    let line = text_after_last_break(&before[before.len().saturating_sub(60)..]).trim_ascii_end();
    let name = line.iter().rposition(|byte| *byte == b' ').unwrap_or(0);
    line[..name].ends_with(b" user")
}

/// Returns whether only a tag comes before the command, as in the IMAP command `a1 LOGIN name x`.
fn is_imap_tagged(before: &[u8]) -> bool {
    let line = text_after_last_break(&before[before.len().saturating_sub(16)..]);
    let line = line.strip_prefix(b"C: ").unwrap_or(line);
    let tag = line.trim_ascii();
    line.ends_with(b" ")
        && (2..=8).contains(&tag.len())
        && profile_value(tag).has_letters_and_digits()
        && !tag.contains(&b' ')
}

fn ends_with_word(before: &[u8], word: &[u8]) -> bool {
    before.strip_suffix(b" ").is_some_and(|before| before.ends_with(word))
}

/// Iterates over the words of a command up to the end of its line. Each item is the start and the end of a word.
fn command_words(text: &[u8], at: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
    let limit = text.len().min(at + MAX_COMMAND_BYTES_SEARCHED);
    let mut at = at;
    std::iter::from_fn(move || {
        at += count_blanks(&text[at..limit], 8);
        let start = at;
        let mut quote = None;
        while at < limit {
            match (text[at], quote) {
                (b'\n', _) => break,
                (mark, Some(open)) if mark == open => quote = None,
                (b'\'' | b'"', None) => quote = Some(text[at]),
                (b' ' | b'\t' | b';' | b'|' | b'&', None) => break,
                _ => {}
            }
            at += 1;
        }
        (at > start).then_some((start, at))
    })
    .take(MAX_COMMAND_WORDS)
}

/// Finds the password in `net use Z: \\host\share x /user:name`. The password is the word that is not a drive, a share
/// or an option.
fn secret_in_net_use(text: &[u8], at: usize) -> Option<FoundSecret> {
    let line = &text[at..text.len().min(at + MAX_COMMAND_BYTES_SEARCHED)];
    let line = &line[..memchr::memchr(b'\n', line).unwrap_or(line.len())];
    memmem::find(&line.to_ascii_lowercase(), b"/user:")?;
    let (start, end) = command_words(text, at).find(|(start, end)| {
        let word = &text[*start..*end];
        !(word.starts_with(b"\\\\")
            || word.starts_with(b"/")
            || word.ends_with(b":")
            || word == b"*"
            || word.starts_with(b"%"))
    })?;
    flags::secret_as_whole_argument(&text[..end], start)
}

/// Finds the value in `setx NAME x`.
fn secret_in_setx(text: &[u8], at: usize) -> Option<FoundSecret> {
    let mut words = command_words(text, at).skip_while(|(start, _)| text[*start] == b'/');
    let (start, end) = words.next()?;
    let verdict = names::judge_name(&text[start..end])?;
    let (start, _) = words.next()?;
    let sure = matches!(
        verdict.strength,
        NameStrength::Password | NameStrength::Secret | NameStrength::LikelyPassword
    );
    if sure { flags::secret_as_whole_argument(text, start) } else { None }
}

/// Finds the password in `sqlplus name/x@host` and `expdp name/x schemas=name`.
fn secret_in_oracle_login(text: &[u8], at: usize) -> Option<FoundSecret> {
    let (start, end) = command_words(text, at).find(|(start, _)| text[*start] != b'-')?;
    let word = &text[start..end];
    let slash = memchr::memchr(b'/', word)?;
    let name = &word[..slash];
    if name.is_empty() || !name.iter().all(|byte| is_byte_in_class(*byte, BASE64_URL)) {
        return None;
    }
    let length = memchr::memchr(b'@', &word[slash + 1..]).unwrap_or(word.len() - slash - 1);
    // In `exp src/lib/x`, a second slash follows, so the argument is a path and not a login.
    let password = &word[slash + 1..slash + 1 + length];
    let dotted = password.contains(&b'.') && !word[slash + 1 + length..].starts_with(b"@");
    if password.len() < 4 || password.contains(&b'/') || dotted {
        return None;
    }
    let from = start + slash + 1;
    flags::secret_as_whole_argument(&text[..from + length], from)
}

/// Finds the password in `psexec.py domain/name:x@host`, an Impacket command.
fn secret_in_impacket_target(text: &[u8], at: usize) -> Option<FoundSecret> {
    command_words(text, at).find_map(|(start, end)| {
        let outer = usize::from(matches!(text[start], b'\'' | b'"') && end - start > 2);
        let (start, end) = (start + outer, end - outer);
        let word = &text[start..end];
        let colon = memchr::memchr(b':', word)?;
        let account = &word[..colon];
        let slash = memchr::memchr(b'/', account);
        let named = |part: &[u8]| {
            !part.is_empty()
                && part.iter().all(|byte| is_byte_in_class(*byte, BASE64_URL | DOT) || *byte == b'$')
        };
        if !account.split(|byte| *byte == b'/').all(named) || account.starts_with(b"-") {
            return None;
        }
        let rest = &word[colon + 1..];
        let quoted = matches!(rest.first(), Some(b'\'' | b'"'));
        let host = memchr::memrchr(b'@', rest);
        let length = host.unwrap_or(rest.len());
        let password = &rest[..length];
        let looks = profile_value(password);
        // Without a host, the text may be `image/name:tag` or a range of lines.
        let told = host.is_some()
            || slash.is_some() && looks.has_letters_and_digits() && looks.letters() >= 4 && looks.len >= 8;
        // `name/image:tag@sha256:…` is a container image and not a login.
        let digest = host.is_some_and(|host| rest[host..].starts_with(b"@sha256:"));
        if !told || digest || length < 4 || looks.letters() == 0 || super::contains_bytes(password, b"//") {
            return None;
        }
        let from = start + colon + 1;
        let to = from + length - usize::from(quoted && password.len() > 2);
        flags::secret_as_whole_argument(&text[..to + usize::from(quoted)], from)
            .or(Some(FoundSecret { start: from + usize::from(quoted), end: to, kind: "password" })
                .filter(|_| host.is_some()))
            .filter(|_| !super::contains_bytes(password, b"[REDACTED:"))
    })
}

/// Finds the password in `impacket-psexec domain/name:x@host`. `at` is just after `impacket`.
pub fn secret_in_packaged_impacket(text: &[u8], at: usize) -> Option<FoundSecret> {
    secret_in_impacket_target(text, at + text[at..].iter().take(40).position(|byte| *byte == b' ')?)
}

/// Finds the word after `flag`, as in `signtool sign /f cert.pfx /p x`.
fn secret_after_flag(text: &[u8], at: usize, flag: &[u8]) -> Option<FoundSecret> {
    let mut words =
        command_words(text, at).skip_while(|(start, end)| !text[*start..*end].eq_ignore_ascii_case(flag));
    let (start, _) = words.nth(1)?;
    flags::secret_as_whole_argument(text, start)
}

/// Finds the password in `expect Password:; send "x\r"`. `at` points to the semicolon.
pub fn secret_in_expect_line(text: &[u8], at: usize) -> Option<FoundSecret> {
    let rest = &text[at..text.len().min(at + 40)];
    let quote = at + rest.iter().position(|byte| matches!(byte, b'"' | b'\''))?;
    let length = text[quote + 1..]
        .iter()
        .take(64)
        .position(|byte| matches!(byte, b'"' | b'\'' | b'\\' | b'\n' | b'$'))?;
    (length >= 4).then_some(FoundSecret { start: quote + 1, end: quote + 1 + length, kind: "password" })
}

/// Finds the password in `send "x\r"` after `expect "Password:"`. Both `send` and `expect` may be method calls. `at`
/// points to the quote after the prompt.
pub fn secret_in_expect_send(text: &[u8], at: usize) -> Option<FoundSecret> {
    let window = &text[at..text.len().min(at + MAX_COMMAND_BYTES_SEARCHED)];
    let gap = window.iter().skip(1).take(60).take_while(|byte| b" \t\r\n){};:".contains(byte)).count();
    let rest = &window[1.min(window.len()) + gap..];
    let verb = class_run_length(rest, LETTER_OR_DIGIT | DOT | super::classes::UNDERSCORE, 40);
    if !matches!(byte_or_newline(window, 0), b'"' | b'\'') || !super::contains_bytes(&rest[..verb], b"send") {
        return None;
    }
    let rest = &rest[verb + usize::from(byte_or_newline(rest, verb) == b'(')..];
    let rest = rest.trim_ascii_start();
    let rest = rest.strip_prefix(b"-- ").unwrap_or(rest);
    let (from, _) = super::values::opening_quote_at(text, at + window.len() - rest.len())?;
    let length =
        text[from..].iter().take(64).take_while(|byte| !matches!(byte, b'"' | b'\'' | b'\n' | b'\\')).count();
    let content = &text[from..from + length];
    let literal = !content.starts_with(b"$")
        && !content.contains(&b' ')
        && !super::contains_bytes(content, PLACEHOLDER_START);
    (length >= 4 && literal).then_some(FoundSecret { start: from, end: from + length, kind: "password" })
}

/// Finds the second hash in `-hashes lm:nt`. This hash alone is enough to log in.
fn secret_in_hashes_flag(text: &[u8], at: usize) -> Option<FoundSecret> {
    let start = at
        + text[at..].iter().take(34).take_while(|byte| is_byte_in_class(**byte, LETTER_OR_DIGIT)).count()
        + 1;
    let length = class_run_length(text.get(start..)?, super::classes::ANY_HEX, 64);
    (length == 32).then_some(FoundSecret { start, end: start + length, kind: "password-hash" })
}

/// Finds the password in `openssl passwd -6 x`.
fn secret_in_openssl_passwd(text: &[u8], at: usize) -> Option<FoundSecret> {
    let (start, end) = command_words(text, at).find(|(start, _)| text[*start] != b'-')?;
    let end = end - text[start..end].iter().rev().take_while(|byte| matches!(byte, b')' | b'"')).count();
    flags::secret_as_whole_argument(&text[..end.max(start)], start)
}

/// Finds the password in a line that consists only of `PASS x`. FTP and POP clients send such a line.
fn secret_in_pass_line(text: &[u8], at: usize) -> Option<FoundSecret> {
    let length =
        text[at.min(text.len())..].iter().take(64).take_while(|byte| byte.is_ascii_graphic()).count();
    let plausible = length >= 6 && matches!(byte_or_newline(text, at + length), b'\n' | b'\r');
    // A test runner prints lines such as `PASS src/a.test.ts`, which do not contain a password.
    let content = &text[at..at + length];
    let path = content.iter().any(|byte| matches!(byte, b'/' | b'.' | b':' | b'('));
    if plausible && (!path || super::made_up::consists_of_everyday_nouns(content)) {
        flags::secret_as_whole_argument(text, at)
    } else {
        None
    }
}

/// Returns whether the line configures a router or an SNMP agent. In such a line, a word such as `key` or `sha` comes
/// right before the secret.
fn is_router_or_snmp_line(before: &[u8]) -> bool {
    let line = text_after_last_break(&before[before.len().saturating_sub(120)..]).trim_ascii_start();
    [
        &b"snmp-server "[..],
        b"createUser ",
        b"crypto isakmp ",
        b"tacacs-server ",
        b"radius-server ",
        b"usmUser ",
    ]
    .iter()
    .any(|command| line.starts_with(command))
}

/// Returns whether a client's message begins right after `before`. On the same line, only a log marker may come
/// before the message, as in `C: PASS x` and `-> PASS x`.
fn begins_client_message(before: &[u8]) -> bool {
    let line = text_after_last_break(&before[before.len().saturating_sub(16)..]);
    matches!(line, b"" | b"C: " | b"c: " | b"-> " | b"> " | b">>> " | b"--> ")
}

/// Finds the password in the Teradata command `.logon host/name,x`.
fn secret_in_teradata_logon(text: &[u8], at: usize) -> Option<FoundSecret> {
    let (start, end) = command_words(text, at).next()?;
    let comma = start + memchr::memchr(b',', &text[start..end])?;
    flags::secret_as_whole_argument(&text[..end], comma + 1)
}

/// Finds the password in the IRC commands `NickServ identify x` and `/nickserv identify name x`. The password is the
/// last word.
fn secret_in_irc_identify(text: &[u8], start: usize, end: usize) -> Option<FoundSecret> {
    let line = text_after_last_break(&text[start.saturating_sub(60)..start]).to_ascii_lowercase();
    memmem::find(&line, b"nickserv")?;
    let (start, end) = command_words(text, end).take(3).last()?;
    flags::secret_as_whole_argument(&text[..end], start)
}

/// Finds the base64 password on the lines below `AUTH LOGIN`, with or without the server's prompts. `at` points to the
/// end of the `AUTH LOGIN` line.
pub fn secrets_in_mail_login(text: &[u8], at: usize) -> Option<FoundSecret> {
    const MAX_LOGIN_LINES: usize = 6;
    let mut at = at;
    // In the login dialogue, the client sends the user name first and then the password.
    let mut named = false;
    for _ in 0..MAX_LOGIN_LINES {
        at += text[at..].iter().take(2).take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let rest = text.get(at..)?;
        let asks = rest.starts_with(b"334 ") || rest.starts_with(b"S: ");
        let start = at + if rest.starts_with(b"C: ") { 3 } else { 0 };
        let length = class_run_length(&text[start..], super::classes::BASE64, 200);
        at += rest.iter().take(200).position(|byte| *byte == b'\n').unwrap_or(rest.len());
        let line = length >= 4 && matches!(byte_or_newline(text, start + length), b'\n' | b'\r');
        match (asks, line) {
            (true, _) => {}
            (false, true) if named => {
                return Some(FoundSecret { start, end: start + length, kind: "password" });
            }
            (false, true) => named = true,
            (false, false) => return None,
        }
    }
    None
}

/// Finds the password in `sp_addlogin 'name', 'x'`.
fn secret_in_second_literal(text: &[u8], at: usize) -> Option<FoundSecret> {
    let window = &text[at..text.len().min(at + MAX_COMMAND_BYTES_SEARCHED)];
    let window = &window[..memchr::memchr(b'\n', window).unwrap_or(window.len())];
    let comma = memchr::memchr(b',', window)?;
    let start = at + comma + 1 + count_blanks(&text[at + comma + 1..], 4);
    (byte_or_newline(text, start) == b'\'').then(|| flags::secret_as_whole_argument(text, start))?
}

/// Finds the value in `/p:x`, `/pass:x` and `/password:x`, which are flags in Windows programs. The flag's name is
/// `text[start..at]`.
pub fn secret_in_slash_flag(text: &[u8], start: usize, at: usize) -> Option<FoundSecret> {
    let name = &text[start..at];
    let short = name == b"p" && {
        let line = text_after_last_break(&text[start.saturating_sub(MAX_COMMAND_BYTES_SEARCHED)..start]);
        ["/u:", "/v:", "/user:"].iter().any(|flag| memmem::find(line, flag.as_bytes()).is_some())
    };
    let long = starts_with_ignore_case(name, "pass") && text[..start - 1].ends_with(b" ");
    // In `msbuild /v:m /p:Configuration=Release`, `/p:` sets a property and not a password.
    let setting =
        short && text[at + 1..].iter().take(40).take_while(|byte| **byte > b' ').any(|byte| *byte == b'=');
    if (short || long) && !setting { flags::secret_as_whole_argument(text, at + 1) } else { None }
}

/// Finds text typed at a prompt, as in `[sudo] password for name: x` and `Enter passphrase for key '…': x`. `at` points
/// to the colon before the typed text.
pub fn answer_to_password_prompt(text: &[u8], at: usize) -> Option<FoundSecret> {
    let start = at + 1 + count_blanks(&text[at + 1..], 2);
    let length = text[start..].iter().take(128).take_while(|byte| byte.is_ascii_graphic()).count();
    let phrase = sentences::passphrase_length(&text[start..]);
    let phrase = phrase.filter(|length| matches!(byte_or_newline(text, start + length), b'\n' | b'\r'));
    if phrase.is_none()
        && (length < 4 || !matches!(byte_or_newline(text, start + length), b'\n' | b'\r' | b'\\'))
    {
        return None;
    }
    let line = text_after_last_break(&text[at.saturating_sub(160)..at]);
    let told = ["assword for ", "assphrase for ", "assword of ", "asswort für ", "asswort for "]
        .iter()
        .any(|words| memmem::find(line, words.as_bytes()).is_some());
    match phrase.filter(|_| told) {
        Some(length) => Some(FoundSecret { start, end: start + length, kind: "password" }),
        None => told.then(|| flags::secret_as_whole_argument(text, start))?,
    }
}
