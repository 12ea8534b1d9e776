//! Secrets on a command line: `--password x`, `curl -u user:x`, `mysql -px`, `sshpass -p x`, `echo x | docker login`.

use memchr::memmem;

use super::FoundSecret;
use super::chance::profile_value;
use super::classes::{
    DASH, DIGIT, LETTER, LETTER_OR_DIGIT, LOWER, UNDERSCORE, byte_or_newline, class_run_length, count_blanks,
    is_byte_in_class,
};
use super::made_up::PasswordCertainty;
use super::names::{self, NameStrength};
use super::values::{self, ValueContext};

/// How many bytes before a flag are searched for its command.
pub const MAX_BYTES_FROM_COMMAND_TO_FLAG: usize = 300;
/// How many words of an `htpasswd` command are examined.
const MAX_SKIPPED_WORDS: usize = 8;

/// Finds the value of the flag whose first dash is at `at`.
pub fn secret_of_flag(text: &[u8], at: usize, floor: usize) -> Option<FoundSecret> {
    if at > floor && !matches!(text[at - 1], b' ' | b'\t' | b'\n' | b'"' | b'\'' | b'[' | b'`' | b'n') {
        return None;
    }
    // Skip a quoted flag without a value, as in `["-p"]`.
    let long_flag = byte_or_newline(text, at + 1) == b'-';
    if at > floor && matches!(text[at - 1], b'"' | b'\'') {
        let end = if long_flag {
            at + class_run_length(&text[at..], LETTER_OR_DIGIT | DASH | UNDERSCORE, 50)
        } else {
            at + 2
        };
        if byte_or_newline(text, end) == text[at - 1] && byte_or_newline(text, end + 1) != b',' {
            return None;
        }
    }
    if long_flag {
        return secret_of_long_flag(text, at + 2);
    }
    // In `mysql -ppassword1 name` the password is attached to the flag and may be an ordinary word.
    if byte_or_newline(text, at + 1) == b'p'
        && !matches!(byte_or_newline(text, at + 2), b' ' | b'\t' | b'\n' | b'=' | b',')
        && runs_mysql(text, at)
        && !is_port_number(&text[at + 2..])
    {
        return secret_as_whole_argument(text, at + 2);
    }
    let length = class_run_length(&text[at + 1..], LETTER, 16);
    // Java tools, Go programs and OpenSSL take long flags with one dash, as in `-storepass x` and `-password x`.
    let name = &text[at + 1..at + 1 + length];
    if matches!(name, b"pw" | b"upw" | b"opw") {
        return secret_as_whole_argument(text, value_position_after_flag(text, at + 1 + length)?);
    }
    if length >= 3 && is_certain_name(name) {
        return secret_of_long_flag(text, at + 1);
    }
    // OpenSSL marks a literal password with a prefix, as in `openssl rsa -passin pass:x`.
    if length >= 4
        && let Some(after) = value_position_after_flag(text, at + 1 + length)
        && text[at + 1..].starts_with(b"pass")
        && text[after..].starts_with(b"pass:")
    {
        return secret_as_whole_argument(text, after + 5);
    }
    secret_of_short_flag(text, at + 1)
        .or_else(|| secret_in_htpasswd(text, at + 1))
        .or_else(|| random_value_of_short_flag(text, at + 1))
}

/// Finds a random value after a short flag that often takes a token or a password, as in `tool -t x`. The command does
/// not matter.
fn random_value_of_short_flag(text: &[u8], at: usize) -> Option<FoundSecret> {
    if !matches!(byte_or_newline(text, at), b't' | b'k' | b'p' | b'P' | b'w' | b'T' | b'K')
        || byte_or_newline(text, at + 1) != b' '
    {
        return None;
    }
    let value = values::literal_value_at(text, value_position_after_flag(text, at + 1)?)?;
    let content = &text[value.start..value.end];
    let looks = profile_value(content);
    let base64 = content
        .iter()
        .all(|byte| is_byte_in_class(*byte, super::classes::BASE64 | super::classes::BASE64_URL));
    let strong = (20..=200).contains(&looks.len)
        && base64
        && looks.digits > 1
        && looks.upper > 1
        && looks.lower > 1
        && looks.class_changes * 4 >= looks.len
        && !content.contains(&b'/');
    strong.then_some(FoundSecret { start: value.start, end: value.end, kind: "token" })
}

fn is_certain_name(name: &[u8]) -> bool {
    names::judge_name(name)
        .is_some_and(|verdict| matches!(verdict.strength, NameStrength::Password | NameStrength::Secret))
}

fn secret_of_long_flag(text: &[u8], at: usize) -> Option<FoundSecret> {
    let length = class_run_length(&text[at..], LETTER_OR_DIGIT | DASH | UNDERSCORE, 48);
    let name = &text[at..at + length];
    let after = value_position_after_flag(text, at + length)?;
    if matches!(name, b"user" | b"proxy-user" | b"src-creds" | b"dest-creds" | b"creds") {
        return is_one_of_commands_before(text, at, &["curl", "etcdctl", "skopeo", "podman", "buildah"])
            .then(|| password_after_user(text, after))?;
    }
    let plain = name == b"encrypt" && is_one_of_commands_before(text, at, &["qpdf"])
        || name == b"plaintext" && is_one_of_commands_before(text, at, &["rootpw"]);
    if plain {
        return secret_as_whole_argument(text, after);
    }
    // The secret follows `--body` or `--value` in commands such as `gh secret set NAME --body x` and
    // `aws ssm put-parameter --type SecureString --value x`.
    if matches!(name, b"body" | b"value") {
        return is_one_of_commands_before(
            text,
            at,
            &["secret set", "SecureString", "secret:create", "env:create", "secret create"],
        )
        .then(|| secret_as_whole_argument(text, after))?;
    }
    if name == b"key" && is_one_of_commands_before(text, at, &["gem push", "nuget push"]) {
        return secret_as_whole_argument(text, after);
    }
    let verdict = names::judge_name(name)?;
    if byte_or_newline(text, after) == b'-' {
        return None;
    }
    let value = values::literal_value_at(text, after)?;
    let content = &text[value.start..value.end];
    // A list of flags contains no values, as in `add_argument("--password", help="…")` and
    // `["--user", "--password", "--port"]`.
    let listed = matches!(byte_or_newline(text, at + length), b'"' | b'\'');
    if content[0] == b'-' || listed && !value.is_quoted {
        return None;
    }
    if !value.is_quoted && is_metavariable(text, at, value) {
        return None;
    }
    // In prose an ordinary word follows the flag, as in `the --password flag`. In a command, another flag may follow
    // the value.
    let prose = !value.is_quoted
        && content.iter().all(|byte| is_byte_in_class(*byte, LETTER))
        && !text[value.end..].starts_with(b" -")
        && !is_part_of_command(text, at, value);
    if prose && profile_value(content).class_changes < 3 || verdict.strength == NameStrength::Authorization {
        return None;
    }
    let joint = ValueContext { without_blanks: true, is_in_list: true, ..ValueContext::default() };
    let typed = verdict.strength == NameStrength::LikelyPassword
        && !value.is_quoted
        && is_part_of_command(text, at, value);
    let verdict =
        if typed { names::NameVerdict { strength: NameStrength::Password, ..verdict } } else { verdict };
    super::named::hit_if_secret(text, value, verdict, joint)
}

/// Returns whether `value` is a placeholder in capitals in a program's help text, as in `[--password=FILE]` and
/// `--token TOKEN  the token to use`.
pub fn is_metavariable(text: &[u8], at: usize, value: values::LiteralValue) -> bool {
    let content = &text[value.start..value.end];
    let capitals = content.len() <= 24
        && content
            .iter()
            .all(|byte| is_byte_in_class(*byte, super::classes::UPPER) || matches!(byte, b'_' | b'-'));
    if !capitals {
        return false;
    }
    let line = super::context::text_after_last_break(&text[at.saturating_sub(120)..at]);
    let begins = line.trim_ascii();
    memmem::find(line, b"sage:").is_some()
        || line.contains(&b'[')
        || matches!(byte_or_newline(text, value.end), b']' | b'>')
        || text[value.end..].starts_with(b"  ")
        || begins.is_empty()
        || begins == b"--"
        || begins.starts_with(b"-") && begins.len() < 12
}

/// Returns whether the word `value` belongs to a command rather than to a sentence about the flag at `at`.
fn is_part_of_command(text: &[u8], at: usize, value: values::LiteralValue) -> bool {
    const PROSE_WORDS: &str = "flag flags option options argument arguments parameter parameters switch value values is are was or and to \
        for as in on with from if when that which instead has can must should may will string text field file stdin prompt";
    let content = &text[value.start..value.end];
    if content.len() < 5
        || PROSE_WORDS.split_ascii_whitespace().any(|word| content.eq_ignore_ascii_case(word.as_bytes()))
    {
        return false;
    }
    let line =
        super::context::text_after_last_break(&text[at.saturating_sub(MAX_BYTES_FROM_COMMAND_TO_FLAG)..at])
            .strip_suffix(b"--")
            .unwrap_or_default();
    // A line is a command if it contains another flag before this one, a path to a script, or a shell prompt.
    let command = [&b" -"[..], b"./", b"$ "].iter().any(|mark| memmem::find(line, mark).is_some())
        && !line.contains(&b'`');
    let ends = matches!(byte_or_newline(text, value.end), b'\n' | b'\r' | b';' | b'|' | b'&' | b'"' | b'\'')
        || text[value.end..].starts_with(b" -");
    let humps = profile_value(content).class_changes > 0;
    let nouns = super::made_up::consists_of_everyday_nouns(content);
    // A known program may come first, as in `python manage.py createuser --password word`.
    let program = [".py ", ".sh ", ".js ", "npm ", "npx ", "sudo ", "kubectl ", "docker ", "java "]
        .iter()
        .any(|name| memmem::find(line, name.as_bytes()).is_some())
        && super::made_up::made_up_certainty(content).is_some();
    // A single word before the flag, as in `tool --password word`, is a command.
    let short = line.trim_ascii().split(|byte| *byte == b' ').count() == 1 && ends;
    nouns && !line.is_empty()
        || (command || program) && ends
        || short && !line.trim_ascii().is_empty()
        || humps && (ends || is_byte_in_class(byte_or_newline(text, value.end + 1), LOWER))
}

/// Returns whether the command before `at` runs `mysql`, `mysqldump`, `mariadb` or a similar program. A mere path does
/// not count, as in `find /var/lib/mysql -print`.
fn runs_mysql(text: &[u8], at: usize) -> bool {
    if !is_one_of_commands_before(text, at, &["mysql", "mariadb"]) {
        return false;
    }
    const OTHER_P_FLAGS: [&[u8]; 7] = [b"print", b"perm", b"parallel", b"port", b"path", b"prune", b"pull"];
    let line = &text[at.saturating_sub(MAX_BYTES_FROM_COMMAND_TO_FLAG)..at];
    let named = line.rsplit(|byte| byte.is_ascii_whitespace() || b"\"'`(|;&".contains(byte)).any(|word| {
        let program = word.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let client = program.starts_with(b"mysql") || program.starts_with(b"mariadb");
        client && (program.len() == word.len() || super::contains_bytes(word, b"bin/"))
    });
    named && !OTHER_P_FLAGS.iter().any(|flag| text[at + 1..].starts_with(flag))
}

fn secret_of_short_flag(text: &[u8], at: usize) -> Option<FoundSecret> {
    let letter = byte_or_newline(text, at);
    let attached =
        !matches!(byte_or_newline(text, at + 1), b' ' | b'\t' | b'"' | b'\'' | b'\n' | b'=' | b',');
    match letter {
        b'u' if !attached && is_one_of_commands_before(text, at, &["curl", "http ", "xh "]) => {
            password_after_user(text, value_position_after_flag(text, at + 1)?)
        }
        b'u' if attached && is_one_of_commands_before(text, at, &["curl"]) => {
            password_after_user(text, at + 1)
        }
        b'k' if !attached
            && is_one_of_commands_before(text, at, &["openssl", "nuget push", "set-key-partition-list"]) =>
        {
            secret_as_whole_argument(text, value_position_after_flag(text, at + 1)?)
        }
        b'a' if !attached && is_one_of_commands_before(text, at, &["http ", "https ", "xh "]) => {
            let after = value_position_after_flag(text, at + 1)?;
            password_after_user(text, after).or_else(|| quoted_or_random_secret(text, after))
        }
        b'U' if !attached
            && is_one_of_commands_before(
                text,
                at,
                &["smbclient", "rpcclient", "winexe", "net ", "smbget", "wmic "],
            ) =>
        {
            password_after_separator(text, value_position_after_flag(text, at + 1)?, b'%')
        }
        b'h' if byte_or_newline(text, at + 1) == b'p' && is_one_of_commands_before(text, at, &["rar "]) => {
            secret_as_whole_argument(text, at + 2)
        }
        b'p' if !matches!(byte_or_newline(text, at + 1), b' ' | b'\n')
            && is_one_of_commands_before(text, at, &["7z ", "7za ", "7zz ", "rar "]) =>
        {
            secret_as_whole_argument(text, at + 1)
        }
        b'p' if !attached
            && is_one_of_commands_before(
                text,
                at,
                &[
                    "sshpass",
                    "useradd",
                    "usermod",
                    "mongo",
                    "twine",
                    "snowsql",
                    "cqlsh",
                    "mycli",
                    "pgcli",
                    "crackmapexec",
                    "netexec",
                    "nxc ",
                    "winrm",
                    "smbmap",
                    "psexec",
                    "hydra",
                    "rdesktop",
                    "kadmin",
                    "xfreerdp",
                    "beeline",
                    "sqlline",
                    "security unlock-keychain",
                    "certutil",
                    "altool",
                    "ncftp",
                    "poetry publish",
                    "mutool",
                    "cypher-shell",
                    "sftp",
                    "kcadm",
                    "impala-shell",
                    "presto",
                    "trino",
                ],
            ) =>
        {
            let after = value_position_after_flag(text, at + 1)?;
            if is_port_number(&text[after..]) { None } else { secret_as_whole_argument(text, after) }
        }
        // Many tools log in with these flags, as in `tool login -u name -p x`.
        b'p' if !attached
            && is_one_of_commands_before(text, at, &[" login "])
            && is_one_of_commands_before(text, at, &[" -u "]) =>
        {
            secret_as_whole_argument(text, value_position_after_flag(text, at + 1)?)
        }
        // The value of `docker login -p x` is a password, but that of `cargo test login -p crate` is not.
        b'p' if !attached
            && is_one_of_commands_before(text, at, &[" login "])
            && is_one_of_commands_before(
                text,
                at,
                &[
                    "docker", "podman", "buildah", "skopeo", "nerdctl", "crane", "helm", "oras", "az ",
                    "oc ", "cf ", "npm", "bx ",
                ],
            ) =>
        {
            secret_as_whole_argument(text, value_position_after_flag(text, at + 1)?)
        }
        b'p' if attached && is_one_of_commands_before(text, at, &["sshpass"]) => {
            secret_as_whole_argument(text, at + 1)
        }
        b'b' if is_one_of_commands_before(text, at, &["secret set"]) => secret_as_whole_argument(
            text,
            if attached { at + 1 } else { value_position_after_flag(text, at + 1)? },
        ),
        // The default SNMP community in `-c public` is not a secret.
        b'c' if !attached && is_one_of_commands_before(text, at, &["snmp"]) => {
            let after = value_position_after_flag(text, at + 1)?;
            let value = values::literal_value_at(text, after)?;
            profile_value(&text[value.start..value.end])
                .has_letters_and_digits()
                .then(|| secret_as_whole_argument(text, after))?
        }
        b'A' | b'X' if !attached && is_one_of_commands_before(text, at, &["snmp"]) => {
            secret_as_whole_argument(text, value_position_after_flag(text, at + 1)?)
        }
        b'N' if !attached && is_one_of_commands_before(text, at, &["ssh-keygen"]) => {
            secret_as_whole_argument(text, value_position_after_flag(text, at + 1)?)
        }
        b'a' if !attached
            && is_one_of_commands_before(text, at, &["redis-cli", "valkey-cli", "keydb-cli"]) =>
        {
            secret_as_whole_argument(text, value_position_after_flag(text, at + 1)?)
        }
        b'u' if !attached && is_one_of_commands_before(text, at, &["lftp"]) => {
            let after = value_position_after_flag(text, at + 1)?;
            let comma = text[after..].iter().take(64).position(|byte| *byte == b',' || *byte <= b' ')?;
            (text[after + comma] == b',').then(|| secret_as_whole_argument(text, after + comma + 1))?
        }
        b't' if !attached
            && is_one_of_commands_before(
                text,
                at,
                &["codecov", "doctl auth", "vercel ", "ngrok ", "influx "],
            ) =>
        {
            secret_as_whole_argument(text, value_position_after_flag(text, at + 1)?)
        }
        b'P' if attached && is_one_of_commands_before(text, at, &["sqlcmd", "isql ", "tsql ", "bcp "]) => {
            secret_as_whole_argument(text, at + 1)
        }
        b's' if !attached && is_one_of_commands_before(text, at, &["ldappasswd"]) => {
            secret_as_whole_argument(text, value_position_after_flag(text, at + 1)?)
        }
        b'w' if !attached && is_one_of_commands_before(text, at, &["ldap", "security add-"]) => {
            secret_as_whole_argument(text, value_position_after_flag(text, at + 1)?)
        }
        b'P' if !attached
            && is_one_of_commands_before(
                text,
                at,
                &[
                    "sqlcmd",
                    "isql ",
                    "tsql ",
                    "zip ",
                    "bcp ",
                    "mosquitto",
                    "ipmitool",
                    "ssh-keygen",
                    "security import",
                ],
            ) =>
        {
            secret_as_whole_argument(text, value_position_after_flag(text, at + 1)?)
        }
        // Many tools accept a user and a password, as in `kadmin -u name -w x`.
        b'p' | b'P' | b'w' if !attached && follows_user_flag(text, at) => {
            let after = value_position_after_flag(text, at + 1)?;
            let value = values::literal_value_at(text, after)?;
            let content = &text[value.start..value.end];
            let drawn = super::grades::grade_word(content) == Some(super::grades::PasswordGrade::Obvious)
                || content.len() >= 12 && profile_value(content).looks_random();
            (drawn && !is_port_number(content)).then(|| secret_as_whole_argument(text, after))?
        }
        _ => None,
    }
}

/// Returns whether the flag at `at` comes right after a user flag and a user name, as in `-u ann ` and `--user ann `.
fn follows_user_flag(text: &[u8], at: usize) -> bool {
    let line = super::context::text_after_last_break(&text[at.saturating_sub(80)..at]);
    let mut words = line.strip_suffix(b"-").unwrap_or_default().trim_ascii().rsplit(|byte| *byte == b' ');
    let (name, flag) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    !name.starts_with(b"-")
        && !name.is_empty()
        && matches!(flag, b"-u" | b"-U" | b"-l" | b"-D" | b"--user" | b"--username" | b"--login")
}

/// Returns whether the value of `-p` is a port, such as `27017` or `3306:3306/tcp`.
fn is_port_number(text: &[u8]) -> bool {
    let length =
        text.iter().take(24).take_while(|byte| is_byte_in_class(**byte, DIGIT) || **byte == b':').count();
    let mapped = text[..length].contains(&b':') || length < 6;
    length > 0
        && length < 12
        && mapped
        && (byte_or_newline(text, length) <= b' ' || byte_or_newline(text, length) == b'/')
}

/// Finds the password in `htpasswd -b file user x` and `htpasswd -nb user x`. The password is the last word of the
/// command.
fn secret_in_htpasswd(text: &[u8], at: usize) -> Option<FoundSecret> {
    let length = class_run_length(&text[at..], LETTER, 8);
    let cluster = &text[at..at + length];
    if !cluster.contains(&b'b') || !is_one_of_commands_before(text, at, &["htpasswd ", "mosquitto_passwd "]) {
        return None;
    }
    let mut names = if cluster.contains(&b'n') { 1 } else { 2 };
    let mut after = value_position_after_flag(text, at + length)?;
    for _ in 0..MAX_SKIPPED_WORDS {
        match byte_or_newline(text, after) {
            b'-' => {}
            _ if names == 0 => return secret_as_whole_argument(text, after),
            _ => names -= 1,
        }
        let word = text[after..].iter().take(200).position(|byte| byte.is_ascii_whitespace())?;
        after = value_position_after_flag(text, after + word)?;
    }
    None
}

/// Finds the word after the name in `net user NAME x` and `rabbitmqctl add_user NAME x`. `at` is just after the verb.
pub fn password_after_name(text: &[u8], at: usize) -> Option<FoundSecret> {
    let name = value_position_after_flag(text, at)?;
    let length = text[name..].iter().take(64).position(|byte| byte.is_ascii_whitespace())?;
    if matches!(byte_or_newline(text, name), b'-' | b'/') || text[name + length] == b'\n' {
        return None;
    }
    let after = value_position_after_flag(text, name + length)?;
    let value = values::literal_value_at(text, after)?;
    let looks = profile_value(&text[value.start..value.end]);
    let content = &text[value.start..value.end];
    // A password that is a single word must be the last argument. In prose, another word would follow it.
    let ends = matches!(byte_or_newline(text, value.end), b'\n' | b'\r' | b'"' | b'\'')
        || text[value.end..].starts_with(b" /");
    let words = super::made_up::made_up_certainty(content)
        .is_some_and(|sure| sure >= PasswordCertainty::SeveralWords || ends);
    if (looks.has_letters_and_digits() || words) && byte_or_newline(text, after) != b'/' {
        secret_as_whole_argument(text, after)
    } else {
        None
    }
}

/// Like [`password_after_name`], but also accepts an ordinary word, as in the FTP command `user NAME x`.
pub fn password_word_after_name(text: &[u8], at: usize) -> Option<FoundSecret> {
    let name = value_position_after_flag(text, at)?;
    let length = text[name..].iter().take(64).position(|byte| byte.is_ascii_whitespace())?;
    if text[name + length] == b'\n' {
        return None;
    }
    secret_as_whole_argument(text, value_position_after_flag(text, name + length)?)
}

/// Finds a quoted string that does not look like an ordinary word, or an unquoted string that looks random.
pub fn quoted_or_random_secret(text: &[u8], at: usize) -> Option<FoundSecret> {
    let value = values::literal_value_at(text, at)?;
    let looks = profile_value(&text[value.start..value.end]);
    let words = super::made_up::made_up_certainty(&text[value.start..value.end]).is_some();
    let mixed = looks.digits + looks.symbols > 0 || looks.class_changes >= 2 || words;
    let plausible = if value.is_quoted { mixed } else { looks.looks_random() };
    if plausible { secret_as_whole_argument(text, at) } else { None }
}

/// Finds the value in `ConvertTo-SecureString "x"` and `ConvertTo-SecureString -String "x"`. `at` is just after the
/// command's name.
pub fn secret_after_secure_string_command(text: &[u8], at: usize) -> Option<FoundSecret> {
    let option = text[at..].strip_prefix(b" -String").map_or(0, |_| 8);
    quoted_or_random_secret(text, at + option + 1)
}

/// Finds the password in the SQL clause `IDENTIFIED BY 'x'`. `start..end` is the `BY`.
pub fn secret_in_identified_by(text: &[u8], start: usize, end: usize) -> Option<FoundSecret> {
    let context = &text[start.saturating_sub(100)..start];
    // Prose often contains `identified by 'name'`, so lower case alone is not enough.
    let told = memmem::find(&context[context.len().saturating_sub(50)..], b"IDENTIFIED ").is_some()
        || (context.ends_with(b"identified ") && memmem::find(context, b" user ").is_some());
    let quoted = matches!(byte_or_newline(text, end + 1), b'\'' | b'"');
    // Some databases accept a password without quotes, as in `create user scott identified by tiger;`.
    let line = super::context::text_after_last_break(context).to_ascii_lowercase();
    let bare = ["create user ", "alter user ", "grant ", "connect to ", "create role ", "alter role "]
        .iter()
        .any(|verb| memmem::find(&line, verb.as_bytes()).is_some());
    if (told || bare && ends_with_word_identified(context)) && (quoted || bare) {
        secret_as_whole_argument(text, end + 1)
    } else {
        None
    }
}

fn ends_with_word_identified(before: &[u8]) -> bool {
    super::classes::ends_with_ignore_case(before, "identified ")
}

/// Returns the position of the value after a flag. The two are separated by blanks or, in a JSON list of arguments, by
/// a quote and a comma.
pub fn value_position_after_flag(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    if matches!(byte_or_newline(rest, 0), b'"' | b'\'') && byte_or_newline(rest, 1) == b',' {
        return Some(at + 2 + count_blanks(&rest[2..], 8));
    }
    let gap = count_blanks(rest, 8);
    // In YAML, each argument may be a list item of its own, so the value may be in the next item.
    let line = super::context::text_after_last_break(&text[at.saturating_sub(60)..at]).trim_ascii_start();
    let next = rest.iter().take(40).position(|byte| *byte == b'-').unwrap_or(0);
    if line.starts_with(b"- ")
        && next > 0
        && rest[..next].trim_ascii().is_empty()
        && rest[0] == b'\n'
        && byte_or_newline(rest, next + 1) == b' '
    {
        return Some(at + next + 2);
    }
    // A backslash continues the line.
    if gap > 0 && rest[gap..].starts_with(b"\\\n") {
        return Some(at + gap + 2 + count_blanks(&rest[gap + 2..], 16));
    }
    (gap > 0 || matches!(byte_or_newline(rest, 0), b'"' | b'\'')).then_some(at + gap)
}

/// Returns the whole argument as a secret, unless it is a variable or another flag.
pub fn secret_as_whole_argument(text: &[u8], at: usize) -> Option<FoundSecret> {
    let value = values::literal_value_at(text, at)?;
    let joint =
        ValueContext { is_env_style: true, without_blanks: true, is_in_list: true, is_doubtful_form: false };
    let secret =
        text[value.start] != b'-' && values::is_secret_value(text, value, NameStrength::Password, joint);
    secret.then_some(FoundSecret { start: value.start, end: value.end, kind: "password" })
}

/// Finds the password in `user:password`.
pub fn password_after_user(text: &[u8], at: usize) -> Option<FoundSecret> {
    password_after_separator(text, at, b':')
}

/// Like [`password_after_user`], but with the separator `mark`.
fn password_after_separator(text: &[u8], at: usize, mark: u8) -> Option<FoundSecret> {
    // `literal_value_at` returns `None` for a value such as `mail/token:x`, because it contains the name of a secret.
    let value = values::literal_value_at(text, at).or_else(|| {
        let length = text[at..]
            .iter()
            .take(256)
            .take_while(|byte| byte.is_ascii_graphic() && !b"\"'`".contains(byte))
            .count();
        (length > 0).then_some(values::LiteralValue {
            start: at,
            end: at + length,
            is_quoted: false,
            is_in_call: false,
        })
    })?;
    let content = &text[value.start..value.end];
    let colon = memchr::memchr(mark, content)?;
    if colon + 1 == content.len() {
        // `curl -u key:` sends a key as the user name, so a random user name is a secret.
        let token = profile_value(&content[..colon]).looks_random();
        return token.then_some(FoundSecret {
            start: value.start,
            end: value.start + colon,
            kind: "password",
        });
    }
    // `curl -u :token` has no user name, so a bare value must look random.
    let told = value.is_quoted || colon > 0 || profile_value(&content[1..]).looks_random();
    // A password may begin with a dash. The dash is skipped here, because `secret_as_whole_argument` rejects it.
    let dash = usize::from(byte_or_newline(content, colon + 1) == b'-' && content.len() > colon + 8);
    secret_as_whole_argument(&text[..value.end], value.start + colon + 1 + dash)
        .map(|hit| FoundSecret { start: hit.start - dash, end: value.end, ..hit })
        .filter(|_| told)
}

/// Returns whether one of `commands` comes before `at` in the same shell command.
pub fn is_one_of_commands_before(text: &[u8], at: usize, commands: &[&str]) -> bool {
    let window = &text[at.saturating_sub(MAX_BYTES_FROM_COMMAND_TO_FLAG)..at];
    let ends = |index: &usize| match window[*index] {
        b'\n' => !window[..*index].ends_with(b"\\"), // a backslash continues the line
        b'n' => window[..*index].ends_with(b"\\"),
        byte => matches!(byte, b';' | b'|' | b'&'),
    };
    let start = (0..window.len()).rev().find(ends).map_or(0, |end| end + 1);
    commands.iter().any(|command| memmem::find(&window[start..], command.as_bytes()).is_some())
}
