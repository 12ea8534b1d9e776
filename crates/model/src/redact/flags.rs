//! Secrets on a command line: `--password x`, `curl -u user:x`, `mysql -px`, `sshpass -p x`, `echo x | docker login`.

use memchr::memmem;

use super::Hit;
use super::chance::profile;
use super::classes::{ALNUM, DASH, DIGIT, LETTER, LOWER, UNDERSCORE, blanks, byte, is, run};
use super::made_up::Sure;
use super::names::{self, Says};
use super::values::{self, Joint};

/// How many bytes before a flag its command may be.
const REACH: usize = 300;
/// At most this many words of a command are skipped before its last one.
const MOST_WORDS: usize = 8;

/// Finds the value of the flag whose (first) dash is at `at`.
pub fn value(text: &[u8], at: usize, floor: usize) -> Option<Hit> {
    if at > floor && !matches!(text[at - 1], b' ' | b'\t' | b'\n' | b'"' | b'\'' | b'[' | b'`' | b'n') {
        return None;
    }
    // In `["-p"]` the quote after the flag closes the one before it.
    let long_flag = byte(text, at + 1) == b'-';
    if at > floor && matches!(text[at - 1], b'"' | b'\'') {
        let end = if long_flag { at + run(&text[at..], ALNUM | DASH | UNDERSCORE, 50) } else { at + 2 };
        if byte(text, end) == text[at - 1] && byte(text, end + 1) != b',' {
            return None;
        }
    }
    if long_flag {
        return long(text, at + 2);
    }
    // In `mysql -ppassword1 name` the password is attached to the flag, even if it is an ordinary word.
    if byte(text, at + 1) == b'p'
        && !matches!(byte(text, at + 2), b' ' | b'\t' | b'\n' | b'=' | b',')
        && runs_mysql(text, at)
        && !is_port(&text[at + 2..])
    {
        return argument(text, at + 2);
    }
    let length = run(&text[at + 1..], LETTER, 16);
    // Java, Go and OpenSSL write long flags with one dash: `-storepass x`, `-password x`.
    let name = &text[at + 1..at + 1 + length];
    if matches!(name, b"pw" | b"upw" | b"opw") {
        return argument(text, behind_flag(text, at + 1 + length)?);
    }
    if length >= 3 && is_sure(name) {
        return long(text, at + 1);
    }
    // OpenSSL marks the password: `openssl rsa -passin pass:x`.
    if length >= 4
        && let Some(after) = behind_flag(text, at + 1 + length)
        && text[at + 1..].starts_with(b"pass")
        && text[after..].starts_with(b"pass:")
    {
        return argument(text, after + 5);
    }
    short(text, at + 1).or_else(|| positional(text, at + 1)).or_else(|| drawn(text, at + 1))
}

/// Finds a random value after a short flag that usually takes a token or a password, as in `tool -t x`. This applies to
/// any command.
fn drawn(text: &[u8], at: usize) -> Option<Hit> {
    if !matches!(byte(text, at), b't' | b'k' | b'p' | b'P' | b'w' | b'T' | b'K') || byte(text, at + 1) != b' '
    {
        return None;
    }
    let value = values::value(text, behind_flag(text, at + 1)?)?;
    let content = &text[value.start..value.end];
    let looks = profile(content);
    let base64 = content.iter().all(|byte| is(*byte, super::classes::BASE64 | super::classes::BASE64_URL));
    let strong = (20..=200).contains(&looks.len)
        && base64
        && looks.digits > 1
        && looks.upper > 1
        && looks.lower > 1
        && looks.changes * 4 >= looks.len
        && !content.contains(&b'/');
    strong.then_some(Hit { start: value.start, end: value.end, kind: "token" })
}

fn is_sure(name: &[u8]) -> bool {
    names::judge(name).is_some_and(|verdict| matches!(verdict.says, Says::Password | Says::Secret))
}

fn long(text: &[u8], at: usize) -> Option<Hit> {
    let length = run(&text[at..], ALNUM | DASH | UNDERSCORE, 48);
    let name = &text[at..at + length];
    let after = behind_flag(text, at + length)?;
    if matches!(name, b"user" | b"proxy-user" | b"src-creds" | b"dest-creds" | b"creds") {
        return before(text, at, &["curl", "etcdctl", "skopeo", "podman", "buildah"])
            .then(|| user_and_password(text, after))?;
    }
    let plain = name == b"encrypt" && before(text, at, &["qpdf"])
        || name == b"plaintext" && before(text, at, &["rootpw"]);
    if plain {
        return argument(text, after);
    }
    // Examples are `gh secret set NAME --body x` and `aws ssm put-parameter --type SecureString --value x`.
    if matches!(name, b"body" | b"value") {
        return before(text, at, &["secret set", "SecureString"]).then(|| argument(text, after))?;
    }
    if name == b"key" && before(text, at, &["gem push", "nuget push"]) {
        return argument(text, after);
    }
    let verdict = names::judge(name)?;
    if byte(text, after) == b'-' {
        return None;
    }
    let value = values::value(text, after)?;
    let content = &text[value.start..value.end];
    // A list of flags has no values: `add_argument("--password", help="…")`, `["--user", "--password", "--port"]`.
    let listed = matches!(byte(text, at + length), b'"' | b'\'');
    if content[0] == b'-' || listed && !value.quoted {
        return None;
    }
    // In prose an ordinary word follows the flag (`the --password flag`); in a command another flag follows the value.
    let prose = !value.quoted
        && content.iter().all(|byte| is(*byte, LETTER))
        && !text[value.end..].starts_with(b" -")
        && !is_typed(text, at, value);
    if prose && profile(content).changes < 3 || verdict.says == Says::Authorization {
        return None;
    }
    let joint = Joint { tight: true, listed: true, ..Joint::default() };
    let typed = verdict.says == Says::Pass && !value.quoted && is_typed(text, at, value);
    let verdict = if typed { names::Verdict { says: Says::Password, ..verdict } } else { verdict };
    super::named::hit(text, value, verdict, joint)
}

/// Returns whether the word `value` belongs to a command, and not to a sentence about the flag at `at`.
fn is_typed(text: &[u8], at: usize, value: values::Value) -> bool {
    const PROSE: &str = "flag flags option options argument arguments parameter parameters switch value values is are was or and to \
        for as in on with from if when that which instead has can must should may will string text field file stdin prompt";
    let content = &text[value.start..value.end];
    if content.len() < 5
        || PROSE.split_ascii_whitespace().any(|word| content.eq_ignore_ascii_case(word.as_bytes()))
    {
        return false;
    }
    let line = super::context::last_line(&text[at.saturating_sub(REACH)..at])
        .strip_suffix(b"--")
        .unwrap_or_default();
    // A command has other flags before this one, or a script with a path. A sentence has neither.
    let command = [&b" -"[..], b"./", b"$ "].iter().any(|mark| memmem::find(line, mark).is_some())
        && !line.contains(&b'`');
    let ends = matches!(byte(text, value.end), b'\n' | b'\r' | b';' | b'|' | b'&' | b'"' | b'\'')
        || text[value.end..].starts_with(b" -");
    let humps = profile(content).changes > 0;
    let nouns = super::made_up::is_nouns(content);
    // An example is `python manage.py createuser --password word`.
    let program = [".py ", ".sh ", ".js ", "npm ", "npx ", "sudo ", "kubectl ", "docker ", "java "]
        .iter()
        .any(|name| memmem::find(line, name.as_bytes()).is_some())
        && super::made_up::look(content).is_some();
    // The line contains only a command such as `tool --password word`.
    let short = line.trim_ascii().split(|byte| *byte == b' ').count() == 1 && ends;
    nouns && !line.is_empty()
        || (command || program) && ends
        || short && !line.trim_ascii().is_empty()
        || humps && (ends || is(byte(text, value.end + 1), LOWER))
}

/// Returns whether `mysql`, `mysqldump`, `mariadb` or similar is the program of the command before `at`. In
/// `find /var/lib/mysql -print` it is not.
fn runs_mysql(text: &[u8], at: usize) -> bool {
    if !before(text, at, &["mysql", "mariadb"]) {
        return false;
    }
    const OTHER_P_FLAGS: [&[u8]; 7] = [b"print", b"perm", b"parallel", b"port", b"path", b"prune", b"pull"];
    let line = &text[at.saturating_sub(REACH)..at];
    let named = line.rsplit(|byte| byte.is_ascii_whitespace() || b"\"'`(|;&".contains(byte)).any(|word| {
        let program = word.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let client = program.starts_with(b"mysql") || program.starts_with(b"mariadb");
        client && (program.len() == word.len() || super::contains(word, b"bin/"))
    });
    named && !OTHER_P_FLAGS.iter().any(|flag| text[at + 1..].starts_with(flag))
}

fn short(text: &[u8], at: usize) -> Option<Hit> {
    let letter = byte(text, at);
    let attached = !matches!(byte(text, at + 1), b' ' | b'\t' | b'"' | b'\'' | b'\n' | b'=' | b',');
    match letter {
        b'u' if !attached && before(text, at, &["curl", "http ", "xh "]) => {
            user_and_password(text, behind_flag(text, at + 1)?)
        }
        b'u' if attached && before(text, at, &["curl"]) => user_and_password(text, at + 1),
        b'k' if !attached && before(text, at, &["openssl", "nuget push", "set-key-partition-list"]) => {
            argument(text, behind_flag(text, at + 1)?)
        }
        b'a' if !attached && before(text, at, &["http ", "https ", "xh "]) => {
            let after = behind_flag(text, at + 1)?;
            user_and_password(text, after).or_else(|| literal(text, after))
        }
        b'U' if !attached
            && before(text, at, &["smbclient", "rpcclient", "winexe", "net ", "smbget", "wmic "]) =>
        {
            divided(text, behind_flag(text, at + 1)?, b'%')
        }
        b'h' if byte(text, at + 1) == b'p' && before(text, at, &["rar "]) => argument(text, at + 2),
        b'p' if !matches!(byte(text, at + 1), b' ' | b'\n')
            && before(text, at, &["7z ", "7za ", "7zz ", "rar "]) =>
        {
            argument(text, at + 1)
        }
        b'p' if !attached
            && before(
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
            let after = behind_flag(text, at + 1)?;
            if is_port(&text[after..]) { None } else { argument(text, after) }
        }
        // Any tool may log in like this: `any login -u name -p x`.
        b'p' if !attached && before(text, at, &[" login "]) && before(text, at, &[" -u "]) => {
            argument(text, behind_flag(text, at + 1)?)
        }
        // `docker login -p x` has a password, but `cargo test login -p crate` does not.
        b'p' if !attached
            && before(text, at, &[" login "])
            && before(
                text,
                at,
                &[
                    "docker", "podman", "buildah", "skopeo", "nerdctl", "crane", "helm", "oras", "az ",
                    "oc ", "cf ", "npm", "bx ",
                ],
            ) =>
        {
            argument(text, behind_flag(text, at + 1)?)
        }
        b'p' if attached && before(text, at, &["sshpass"]) => argument(text, at + 1),
        b'b' if before(text, at, &["secret set"]) => {
            argument(text, if attached { at + 1 } else { behind_flag(text, at + 1)? })
        }
        // The well-known community in `-c public` is not a secret.
        b'c' if !attached && before(text, at, &["snmp"]) => {
            let after = behind_flag(text, at + 1)?;
            let value = values::value(text, after)?;
            profile(&text[value.start..value.end]).is_mixed().then(|| argument(text, after))?
        }
        b'A' | b'X' if !attached && before(text, at, &["snmp"]) => argument(text, behind_flag(text, at + 1)?),
        b'N' if !attached && before(text, at, &["ssh-keygen"]) => argument(text, behind_flag(text, at + 1)?),
        b'a' if !attached && before(text, at, &["redis-cli", "valkey-cli", "keydb-cli"]) => {
            argument(text, behind_flag(text, at + 1)?)
        }
        b'u' if !attached && before(text, at, &["lftp"]) => {
            let after = behind_flag(text, at + 1)?;
            let comma = text[after..].iter().take(64).position(|byte| *byte == b',' || *byte <= b' ')?;
            (text[after + comma] == b',').then(|| argument(text, after + comma + 1))?
        }
        b't' if !attached && before(text, at, &["codecov", "doctl auth", "vercel ", "ngrok "]) => {
            argument(text, behind_flag(text, at + 1)?)
        }
        b'P' if attached && before(text, at, &["sqlcmd", "isql ", "tsql ", "bcp "]) => argument(text, at + 1),
        b's' if !attached && before(text, at, &["ldappasswd"]) => argument(text, behind_flag(text, at + 1)?),
        b'w' if !attached && before(text, at, &["ldap", "security add-"]) => {
            argument(text, behind_flag(text, at + 1)?)
        }
        b'P' if !attached
            && before(
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
            argument(text, behind_flag(text, at + 1)?)
        }
        _ => None,
    }
}

/// Whether `-p` of a container or a client takes a port, such as `27017` or `3306:3306/tcp`.
fn is_port(text: &[u8]) -> bool {
    let length = text.iter().take(24).take_while(|byte| is(**byte, DIGIT) || **byte == b':').count();
    let mapped = text[..length].contains(&b':') || length < 6;
    length > 0 && length < 12 && mapped && (byte(text, length) <= b' ' || byte(text, length) == b'/')
}

/// Finds the last word of `htpasswd -b file user x` and `htpasswd -nb user x`, which the flag makes the password.
fn positional(text: &[u8], at: usize) -> Option<Hit> {
    let length = run(&text[at..], LETTER, 8);
    let cluster = &text[at..at + length];
    if !cluster.contains(&b'b') || !before(text, at, &["htpasswd ", "mosquitto_passwd "]) {
        return None;
    }
    let mut names = if cluster.contains(&b'n') { 1 } else { 2 };
    let mut after = behind_flag(text, at + length)?;
    for _ in 0..MOST_WORDS {
        match byte(text, after) {
            b'-' => {}
            _ if names == 0 => return argument(text, after),
            _ => names -= 1,
        }
        let word = text[after..].iter().take(200).position(|byte| byte.is_ascii_whitespace())?;
        after = behind_flag(text, after + word)?;
    }
    None
}

/// Finds the word after the name in `net user NAME x` and `rabbitmqctl add_user NAME x`. `at` is after the verb.
pub fn second(text: &[u8], at: usize) -> Option<Hit> {
    let name = behind_flag(text, at)?;
    let length = text[name..].iter().take(64).position(|byte| byte.is_ascii_whitespace())?;
    if matches!(byte(text, name), b'-' | b'/') || text[name + length] == b'\n' {
        return None;
    }
    let after = behind_flag(text, name + length)?;
    let value = values::value(text, after)?;
    let looks = profile(&text[value.start..value.end]);
    let content = &text[value.start..value.end];
    // In prose the word after the name is followed by another word.
    let ends =
        matches!(byte(text, value.end), b'\n' | b'\r' | b'"' | b'\'') || text[value.end..].starts_with(b" /");
    let words = super::made_up::look(content).is_some_and(|sure| sure >= Sure::Words || ends);
    if (looks.is_mixed() || words) && byte(text, after) != b'/' { argument(text, after) } else { None }
}

/// Like [`second`], but an ordinary word counts as a password too, as in `user NAME x` of an FTP client.
pub fn second_word(text: &[u8], at: usize) -> Option<Hit> {
    let name = behind_flag(text, at)?;
    let length = text[name..].iter().take(64).position(|byte| byte.is_ascii_whitespace())?;
    if text[name + length] == b'\n' {
        return None;
    }
    argument(text, behind_flag(text, name + length)?)
}

/// Finds the value in `echo x | docker login --password-stdin` and other commands that read a secret from stdin. `at`
/// is after `echo`.
pub fn piped(text: &[u8], at: usize) -> Option<Hit> {
    const READERS: [&str; 17] = [
        "secret create",
        "create secret",
        "smbpasswd",
        "pdbedit",
        "auth login",
        "kinit ",
        "| passwd ",
        "--password-stdin",
        "--with-token",
        "secret put",
        "secret set",
        "secrets create",
        "secrets versions add",
        "sudo -S",
        "passwd --stdin",
        "--passphrase-fd",
        "cryptsetup",
    ];
    let mut after = behind_flag(text, at)?;
    if text[after..].starts_with(b"-n ") || text[after..].starts_with(b"-e ") {
        after = behind_flag(text, after + 2)?;
    }
    // `printf '%s' x` prints the word after the format.
    if [&b"'%s' "[..], b"\"%s\" ", b"%s ", b"'%s\\n' ", b"\"%s\\n\" "]
        .iter()
        .any(|format| text[after..].starts_with(format))
    {
        after = behind_flag(text, after + memchr::memchr(b' ', &text[after..])?)?;
    }
    if is_command_of(&text[..at]) {
        return argument(text, after);
    }
    let value = values::value(text, after)?;
    let rest = &text[value.end..text.len().min(value.end + REACH)];
    let rest = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
    if is_stored(rest) {
        return super::grades::grade(&text[value.start..value.end])
            .is_some()
            .then(|| argument(text, after))?;
    }
    let pipe = memchr::memchr(b'|', &rest[..rest.len().min(4 + usize::from(value.quoted))])?;
    let reads = |reader: &&str| memmem::find(&rest[pipe..], reader.as_bytes()).is_some();
    if memmem::find(&rest[pipe..], b"chpasswd").is_some() {
        return user_and_password(text, after);
    }
    // The line says what the base64 contains, or its content is a pair.
    if memmem::find(&rest[pipe..], b"base64 -").is_some() {
        let pair = values::is_encoded_pair(&text[value.start..value.end]);
        return pair.then_some(Hit { start: value.start, end: value.end, kind: "password" });
    }
    READERS.iter().any(reads).then(|| argument(text, after))?
}

/// Whether the text goes to a file for a secret, as in `echo x > ~/.vault_pass`.
fn is_stored(rest: &[u8]) -> bool {
    let Some(arrow) = rest.iter().take(6).position(|byte| *byte == b'>') else { return false };
    let file = rest[arrow..].strip_prefix(b">>").unwrap_or(&rest[arrow + 1..]).trim_ascii_start();
    let file = &file[..file.iter().take(100).position(|byte| *byte <= b' ').unwrap_or(file.len())];
    ["pass", "secret", "token", "pwd", "credential", ".pw"]
        .iter()
        .any(|name| super::contains(&file.to_ascii_lowercase(), name.as_bytes()))
}

/// Whether a command prints the password, as in `--password-command "echo`, `BORG_PASSCOMMAND='echo` and `-y <(echo`.
fn is_command_of(before: &[u8]) -> bool {
    let before = before.strip_suffix(b"echo").or_else(|| before.strip_suffix(b"printf")).unwrap_or(before);
    // Mail clients run a command that prints the password: `passwordeval "echo x"`, `password_cmd echo x`.
    let line = super::context::last_line(&before[before.len().saturating_sub(60)..]).trim_ascii();
    let line = line.strip_suffix(b"\"").unwrap_or(line).trim_ascii();
    if ["passwordeval", "PassCmd", "passcmd", "password_cmd", "passwordcmd", "source_cred_cmd"]
        .iter()
        .any(|name| line.ends_with(name.as_bytes()))
    {
        return true;
    }
    if let Some(before) = before.strip_suffix(b"<(") {
        return [
            &b" -y "[..],
            b"preshared-key ",
            b"--key-file ",
            b"--pass-file ",
            b"password-file ",
            b"password-file=",
            b"private-key ",
            b"data-file=",
            b"data-file ",
            b"secret-file=",
            b"pass-file ",
            b"pass-file=",
            b"token-file=",
        ]
        .iter()
        .any(|flag| before.ends_with(flag));
    }
    let Some((b'"' | b'\'', name)) = before.split_last() else { return false };
    let name = &name[..name.len().saturating_sub(1)];
    let name = &name[name.len()
        - name.iter().rev().take(40).take_while(|byte| is(**byte, ALNUM | DASH | UNDERSCORE)).count()..];
    let lower = name.to_ascii_lowercase();
    super::contains(&lower, b"pass") && (lower.ends_with(b"command") || lower.ends_with(b"cmd"))
}

/// Finds the value in `kinit ann <<< x`, where a command reads a secret from a here-string. `at` is the first bracket.
pub fn here_string(text: &[u8], at: usize) -> Option<Hit> {
    const READERS: [&str; 14] = [
        "--with-token",
        "secret create",
        "kinit",
        "chpasswd",
        "passwd ",
        "cryptsetup",
        "secret put",
        "secret set",
        "secret-tool",
        "secrets create",
        "-stdin",
        "sudo -S",
        "env add ",
        "secret:set",
    ];
    let after = at + 3 + blanks(&text[at + 3..], 2);
    if before(text, at, &["chpasswd"]) {
        return user_and_password(text, after);
    }
    before(text, at, &READERS).then(|| argument(text, after))?
}

/// Finds a quoted text that does not look like words, or an unquoted one that looks random.
pub fn literal(text: &[u8], at: usize) -> Option<Hit> {
    let value = values::value(text, at)?;
    let looks = profile(&text[value.start..value.end]);
    let words = super::made_up::look(&text[value.start..value.end]).is_some();
    let mixed = looks.digits + looks.symbols > 0 || looks.changes >= 2 || words;
    let plausible = if value.quoted { mixed } else { looks.is_random() };
    if plausible { argument(text, at) } else { None }
}

/// Finds the value in `ConvertTo-SecureString "x"` and `ConvertTo-SecureString -String "x"`. `at` is after the name.
pub fn secure_string(text: &[u8], at: usize) -> Option<Hit> {
    let option = text[at..].strip_prefix(b" -String").map_or(0, |_| 8);
    literal(text, at + option + 1)
}

/// Finds the password in `IDENTIFIED BY 'x'` of SQL. `start..end` is the `BY`.
pub fn identified(text: &[u8], start: usize, end: usize) -> Option<Hit> {
    let context = &text[start.saturating_sub(100)..start];
    // In prose, things are often identified by 'name'.
    let told = memmem::find(&context[context.len().saturating_sub(50)..], b"IDENTIFIED ").is_some()
        || (context.ends_with(b"identified ") && memmem::find(context, b" user ").is_some());
    let quoted = matches!(byte(text, end + 1), b'\'' | b'"');
    // Some databases accept a password without quotes: `create user scott identified by tiger;`.
    let line = super::context::last_line(context).to_ascii_lowercase();
    let bare = ["create user ", "alter user ", "grant ", "connect to ", "create role ", "alter role "]
        .iter()
        .any(|verb| memmem::find(&line, verb.as_bytes()).is_some());
    if (told || bare && ends_identified(context)) && (quoted || bare) {
        argument(text, end + 1)
    } else {
        None
    }
}

fn ends_identified(before: &[u8]) -> bool {
    super::classes::ends_with_ignore_case(before, "identified ")
}

/// Returns the position after the blank (or the JSON comma and quotes of an argument list) between a flag and its
/// value.
fn behind_flag(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    if matches!(byte(rest, 0), b'"' | b'\'') && byte(rest, 1) == b',' {
        return Some(at + 2 + blanks(&rest[2..], 8));
    }
    let gap = blanks(rest, 8);
    // In YAML each argument may be an item of a list.
    let line = super::context::last_line(&text[at.saturating_sub(60)..at]).trim_ascii_start();
    let next = rest.iter().take(40).position(|byte| *byte == b'-').unwrap_or(0);
    if line.starts_with(b"- ")
        && next > 0
        && rest[..next].trim_ascii().is_empty()
        && rest[0] == b'\n'
        && byte(rest, next + 1) == b' '
    {
        return Some(at + next + 2);
    }
    // A backslash continues the line.
    if gap > 0 && rest[gap..].starts_with(b"\\\n") {
        return Some(at + gap + 2 + blanks(&rest[gap + 2..], 16));
    }
    (gap > 0 || matches!(byte(rest, 0), b'"' | b'\'')).then_some(at + gap)
}

/// Does the same as [`argument`], for scanners in other modules.
pub fn given(text: &[u8], at: usize) -> Option<Hit> {
    argument(text, at)
}

/// Returns the whole argument, unless it is a variable or another flag.
fn argument(text: &[u8], at: usize) -> Option<Hit> {
    let value = values::value(text, at)?;
    let joint = Joint { loud: true, tight: true, listed: true, doubtful: false };
    let secret = text[value.start] != b'-' && values::is_secret(text, value, Says::Password, joint);
    secret.then_some(Hit { start: value.start, end: value.end, kind: "password" })
}

/// Returns the password of `user:password`. If both sides are numbers, they are a user and a group.
fn user_and_password(text: &[u8], at: usize) -> Option<Hit> {
    divided(text, at, b':')
}

/// Does the same as [`user_and_password`] with another separator between the two.
fn divided(text: &[u8], at: usize, mark: u8) -> Option<Hit> {
    // A value such as `mail/token:x` contains the name of a secret.
    let value = values::value(text, at).or_else(|| {
        let length = text[at..]
            .iter()
            .take(256)
            .take_while(|byte| byte.is_ascii_graphic() && !b"\"'`".contains(byte))
            .count();
        (length > 0).then_some(values::Value { start: at, end: at + length, quoted: false, wrapped: false })
    })?;
    let content = &text[value.start..value.end];
    let colon = memchr::memchr(mark, content)?;
    if colon + 1 == content.len() {
        // `curl -u key:` sends the key as the user.
        let token = profile(&content[..colon]).is_random();
        return token.then_some(Hit { start: value.start, end: value.start + colon, kind: "password" });
    }
    argument(&text[..value.end], value.start + colon + 1)
        .map(|hit| Hit { end: value.end, ..hit })
        .filter(|_| value.quoted || !content[..colon].is_empty())
}

/// Returns whether one of `commands` comes before `at`, in the same command.
fn before(text: &[u8], at: usize, commands: &[&str]) -> bool {
    let window = &text[at.saturating_sub(REACH)..at];
    let ends = |index: &usize| match window[*index] {
        b'\n' => !window[..*index].ends_with(b"\\"), // a backslash continues the line
        b'n' => window[..*index].ends_with(b"\\"),
        byte => matches!(byte, b';' | b'|' | b'&'),
    };
    let start = (0..window.len()).rev().find(ends).map_or(0, |end| end + 1);
    commands.iter().any(|command| memmem::find(&window[start..], command.as_bytes()).is_some())
}
