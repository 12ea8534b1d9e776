//! Secrets that a command reads from standard input: `echo x | docker login --password-stdin`, `kinit ann <<< x`.

use memchr::memmem;

use super::FoundSecret;
use super::classes::{DASH, LETTER_OR_DIGIT, UNDERSCORE, count_blanks, is_byte_in_class};
use super::flags::{
    MAX_BYTES_FROM_COMMAND_TO_FLAG, is_one_of_commands_before, password_after_user, secret_as_whole_argument,
    value_position_after_flag,
};
use super::values;

/// Finds the value in `echo x | docker login --password-stdin` and similar commands that read a secret from standard
/// input. `at` is just after `echo`.
pub fn secret_piped_to_command(text: &[u8], at: usize) -> Option<FoundSecret> {
    const SECRET_READERS: [&str; 17] = [
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
    let mut after = value_position_after_flag(text, at)?;
    if text[after..].starts_with(b"-n ") || text[after..].starts_with(b"-e ") {
        after = value_position_after_flag(text, after + 2)?;
    }
    // `printf '%s' x` prints the word after the format string.
    if [&b"'%s' "[..], b"\"%s\" ", b"%s ", b"'%s\\n' ", b"\"%s\\n\" "]
        .iter()
        .any(|format| text[after..].starts_with(format))
    {
        after = value_position_after_flag(text, after + memchr::memchr(b' ', &text[after..])?)?;
    }
    if is_password_command(&text[..at]) {
        return secret_as_whole_argument(text, after);
    }
    let value = values::literal_value_at(text, after)?;
    let rest = &text[value.end..text.len().min(value.end + MAX_BYTES_FROM_COMMAND_TO_FLAG)];
    let rest = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
    if is_written_to_secret_file(rest) {
        return super::grades::grade_word(&text[value.start..value.end])
            .is_some()
            .then(|| secret_as_whole_argument(text, after))?;
    }
    let pipe = memchr::memchr(b'|', &rest[..rest.len().min(4 + usize::from(value.is_quoted))])?;
    let reads = |reader: &&str| memmem::find(&rest[pipe..], reader.as_bytes()).is_some();
    if memmem::find(&rest[pipe..], b"chpasswd").is_some() {
        return password_after_user(text, after);
    }
    // A value piped to `base64` is redacted only if it is the base64 form of `user:password`.
    if memmem::find(&rest[pipe..], b"base64 -").is_some() {
        let pair = values::is_base64_of_user_and_password(&text[value.start..value.end]);
        return pair.then_some(FoundSecret { start: value.start, end: value.end, kind: "password" });
    }
    SECRET_READERS.iter().any(reads).then(|| secret_as_whole_argument(text, after))?
}

/// Returns whether the output is written to a file whose name suggests a secret, as in `echo x > ~/.vault_pass`.
fn is_written_to_secret_file(rest: &[u8]) -> bool {
    let Some(arrow) = rest.iter().take(6).position(|byte| *byte == b'>') else { return false };
    let file = rest[arrow..].strip_prefix(b">>").unwrap_or(&rest[arrow + 1..]).trim_ascii_start();
    let file = &file[..file.iter().take(100).position(|byte| *byte <= b' ').unwrap_or(file.len())];
    ["pass", "secret", "token", "pwd", "credential", ".pw"]
        .iter()
        .any(|name| super::contains_bytes(&file.to_ascii_lowercase(), name.as_bytes()))
}

/// Returns whether `echo` or `printf` at the end of `before` prints a password for another program, as in
/// `--password-command "echo`, `BORG_PASSCOMMAND='echo` and `-y <(echo`.
fn is_password_command(before: &[u8]) -> bool {
    let before = before.strip_suffix(b"echo").or_else(|| before.strip_suffix(b"printf")).unwrap_or(before);
    // Mail clients run a command that prints the password, as in `passwordeval "echo x"` and `password_cmd echo x`.
    let line = super::context::text_after_last_break(&before[before.len().saturating_sub(60)..]).trim_ascii();
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
            b"-passwd ",
        ]
        .iter()
        .any(|flag| before.ends_with(flag));
    }
    let Some((b'"' | b'\'', name)) = before.split_last() else { return false };
    let name = &name[..name.len().saturating_sub(1)];
    let name = &name[name.len()
        - name
            .iter()
            .rev()
            .take(40)
            .take_while(|byte| is_byte_in_class(**byte, LETTER_OR_DIGIT | DASH | UNDERSCORE))
            .count()..];
    let lower = name.to_ascii_lowercase();
    super::contains_bytes(&lower, b"pass") && (lower.ends_with(b"command") || lower.ends_with(b"cmd"))
}

/// Finds the value in `kinit ann <<< x`, where a command reads a secret from a here-string. `at` points to the first
/// `<`.
pub fn secret_in_here_string(text: &[u8], at: usize) -> Option<FoundSecret> {
    const SECRET_READERS: [&str; 16] = [
        "--with-token",
        "secret create",
        "p4 login",
        "pass insert",
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
    let after = at + 3 + count_blanks(&text[at + 3..], 2);
    if is_one_of_commands_before(text, at, &["chpasswd"]) {
        return password_after_user(text, after);
    }
    is_one_of_commands_before(text, at, &SECRET_READERS).then(|| secret_as_whole_argument(text, after))?
}
