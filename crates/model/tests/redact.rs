//! Tests of redaction: which strings are removed, which are kept, and properties of all inputs.
//!
//! The labelled sets are in `fixtures/redact`: `tokens.txt` (providers' tokens), `named.txt` (secrets recognised by
//! their name) and `benign.txt` (strings that only look like secrets). The secrets in these files are templates, which
//! are expanded from a fixed seed, so neither people nor scanners find a secret in the repository.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use model::redact::{RedactOptions, redact_bytes, redact_text};
use proptest::prelude::{
    Just, ProptestConfig, Strategy, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest,
};

const TOKENS_TABLE: &str = include_str!("fixtures/redact/tokens.txt");
const NAMED_TABLE: &str = include_str!("fixtures/redact/named.txt");
const BENIGN_TABLE: &str = include_str!("fixtures/redact/benign.txt");

/// How often each template is expanded.
const ROUNDS_PER_TEMPLATE: u64 = 8;

#[test]
fn provider_tokens_go_wherever_they_stand() {
    let contexts = [
        ("I used ", " to log in."),
        ("My key is ", "."),
        ("It is \"", "\", I think"),
        ("(see ", ")"),
        ("run it with `", "` please"),
        ("VALUE=", ""),
        ("export VALUE=\"", "\""),
        ("{\"value\":\"", "\",\"x\":1}"),
        ("value: ", "\nother: 1"),
        ("https://example.com/cb?state=ok&v=", "&next=1"),
        ("curl -H 'X-Thing: ", "' https://example.com | jq ."),
        ("{\"a\":\"{\\\"value\\\":\\\"", "\\\",\\\"b\\\":2}\"}"),
        ("\"line one\\n", "\\nline two\""),
        ("\u{1b}[32m", "\u{1b}[0m done"),
        ("“", "”"),
        ("https://user:", "@example.com/x"),
    ];
    let mut missed = Vec::new();
    for (kind, template) in table_rows(TOKENS_TABLE) {
        for round in 0..ROUNDS_PER_TEMPLATE {
            let expanded = expand_template(template, round);
            let (kept, secret) = expanded.split_once('^').unwrap_or(("", &expanded));
            for (before, after) in contexts {
                let userinfo = before == "https://user:";
                if userinfo && (!kept.is_empty() || secret.contains(['/', ' ', ':', '@', '+', '$'])) {
                    continue;
                }
                let found = redact_text(&format!("{before}{kept}{secret}{after}"), RedactOptions::default())
                    .into_owned();
                let expected = format!("{before}{kept}[REDACTED:{kind}]{after}");
                let same_place = is_replaced(&found, &format!("{before}{kept}"), after);
                if found != expected && !(same_place && (userinfo || before.starts_with("My key"))) {
                    missed.push(format!("{kind}: {before}{kept}{secret}{after}\n    -> {found}"));
                }
            }
        }
    }
    assert!(missed.is_empty(), "{} missed\n{}", missed.len(), missed[..missed.len().min(40)].join("\n"));
}

#[test]
fn named_secrets_go_and_nothing_else() {
    let mut missed = Vec::new();
    for (number, line) in NAMED_TABLE.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
        for round in 0..ROUNDS_PER_TEMPLATE {
            let line = expand_template(line, number as u64 * 31 + round);
            let (before, rest) = line.split_once("<<").expect("a mark");
            let (secret, after) = rest.split_once(">>").expect("a closing mark");
            let found =
                redact_text(&format!("{before}{secret}{after}"), RedactOptions::default()).into_owned();
            if !is_replaced(&found, before, after) {
                missed.push(format!("{before}{secret}{after}\n    -> {found}"));
                break;
            }
        }
    }
    assert!(missed.is_empty(), "{} missed\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn benign_lines_stay() {
    let changed: Vec<String> = BENIGN_TABLE
        .lines()
        .filter_map(|line| match redact_text(line, RedactOptions::default()) {
            Cow::Borrowed(_) => None,
            Cow::Owned(found) => Some(format!("{line}\n    -> {found}")),
        })
        .collect();
    assert!(changed.is_empty(), "{} changed\n{}", changed.len(), changed.join("\n"));
    assert!(matches!(redact_text(BENIGN_TABLE, RedactOptions::default()), Cow::Borrowed(_)), "as one text");
    assert!(BENIGN_TABLE.lines().count() >= 500);
}

#[test]
fn the_sets_are_as_large_as_promised() {
    let mut kinds: Vec<_> = table_rows(TOKENS_TABLE).map(|(kind, _)| kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    assert!(kinds.len() >= 110, "{} kinds", kinds.len());
}

#[test]
fn private_keys_go_whole() {
    let body = expand_template("{b64:64}\n{b64:64}\n{b64:20}==", 7);
    for label in ["", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED "] {
        let key = format!("-----BEGIN {label}PRIVATE KEY-----\n{body}\n-----END {label}PRIVATE KEY-----");
        check_redaction(&format!("before\n{key}\nafter"), "before\n[REDACTED:private-key]\nafter");
        let escaped = key.replace('\n', "\\n");
        check_redaction(
            &format!("{{\"private_key\":\"{escaped}\\n\",\"x\":1}}"),
            "{\"private_key\":\"[REDACTED:private-key]\\n\",\"x\":1}",
        );
        let twice = key.replace('\n', "\\\\n");
        check_redaction(
            &format!("\"{{\\\"k\\\":\\\"{twice}\\\"}}\""),
            "\"{\\\"k\\\":\\\"[REDACTED:private-key]\\\"}\"",
        );
        let cut = format!("-----BEGIN {label}PRIVATE KEY-----\n{body}");
        check_redaction(
            &format!("{cut}\n\nThe end (really)."),
            "[REDACTED:private-key]\n\nThe end (really).",
        );
        check_redaction(&cut.replace('\n', "\\n"), "[REDACTED:private-key]");
        let quoted = key.replace('\n', "\n> ");
        check_redaction(&format!("> {quoted}\nend"), "> [REDACTED:private-key]\nend");
    }
    let block = format!(
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n{body}\n=abcd\n-----END PGP PRIVATE KEY BLOCK-----"
    );
    check_redaction(&format!("{block}\n"), "[REDACTED:private-key]\n");
    let with_header = format!(
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF\n\n{body}\n-----END RSA PRIVATE KEY-----"
    );
    check_redaction(&with_header, "[REDACTED:private-key]");
    check_redaction(
        &format!("Private-Lines: 3\n{body}\nPrivate-MAC: 00"),
        "Private-Lines: 3\n[REDACTED:private-key]\nPrivate-MAC: 00",
    );
}

/// Secrets that span several lines, or that are recognised only because of another line. Each secret is enclosed in
/// `<<` and `>>`, as in `named.txt`.
#[test]
fn secrets_over_several_lines_go() {
    let texts = [
        "db:\n  password: |\n    <<Wint3r_ZuGRkL>>\n  user: app\n",
        "secrets:\n  api_key: >-\n    <<{alnum:40}>>\n",
        "api_key:\n  <<{alnum:40}>>\n",
        "users:\n  - name: billing_api\n    passwd: <<JacketPanther>>\n",
        "smtp:\n  host: mail.example.com\n  port: 587\n  password: <<OtterTulipCobalt>>\n",
        "Password:\n<<OtterTulipCobalt>>\n",
        "\"content\": \"db:\\n  password: |\\n    <<Wint3r_ZuGRkL>>\\n  user: app\\n\"",
        "  token = <<EOT\n<<{alnum:40}>>\nEOT\n",
        "Exit code 1\npassword: <<Comet_Timber6>>\n",
        "Exit code 1\npassword: <<TrekkerVandal>>\n",
        "PASSWORD = (\n    \"<<CopperKettle>>\"\n)\n",
        "<name>db.password</name>\n<value><<Copper.kettle>></value>\n",
        "||Login||Passwort||\n|ann|<<copper.kettle.meadow>>|\n",
        "\"site\",\"login\",\"secret\"\n\"db.example.com\",\"ann\",\"<<copperkettle>>\"\n",
        "expect \"*?assword:*\"\nsend -- \"<<a7K{alnum:12}>>\\r\"\n",
        "child.expect('Password:')\nchild.sendline('<<a7K{alnum:12}>>')\n",
        "variable \"db_password\" {\n  type    = string\n  default = \"<<Mango_1qdEy0>>\"\n}\n",
        "\"Name\": \"/prod/db\",\n  \"Type\": \"SecureString\",\n  \"Value\": \"<<{alnum:20}>>\",\n",
        "<key>APIKey</key>\n<string><<{alnum:32}>></string>\n",
        "account gmail\nuser bob\npassword <<9b7cex41n5vlkmwv>>\n",
        "Key        Value\n---        -----\npassword   <<f7{alnum:18}>>\nusername   app\n",
        "signing {\n    storePassword \"<<blueberry1225>>\"\n    keyPassword \"<<starlight2852>>\"\n}\n",
        "Please use the following password to proceed:\n\n<<{hex:32}>>\n\nIt is also found at\n",
        "Access key ID,Secret access key\n<<AKIA{upper:16}>>,<<{b64:40}>>\n",
        "new BasicAWSCredentials(\"<<AKIA{upper:16}>>\", \"<<{b64:40}>>\")",
        "Cookie: _ga=GA1.1.1.1; __session=<<{alnum:40}>>; remember_token=<<{hex:40}>>",
        "{\"kty\":\"RSA\",\"n\":\"abc\",\"e\":\"AQAB\",\"d\":\"<<{b64u:342}>>\",\"p\":\"<<{b64u:171}>>\"}",
        "users:\n- name: admin\n  user:\n    client-key-data: <<LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVkt{alnum:300}>>\n",
    ];
    for text in texts {
        for round in 0..ROUNDS_PER_TEMPLATE {
            let text = expand_template(text, round).replace("<<EOT", "\0");
            let mut expected = String::new();
            for part in text.split("<<") {
                match part.split_once(">>") {
                    Some((_, after)) => expected.push_str(&format!("*{after}")),
                    None => expected.push_str(part),
                }
            }
            let secret = text.replace("<<", "").replace(">>", "").replace('\0', "<<EOT");
            let found = redact_text(&secret, RedactOptions::default()).into_owned();
            assert_eq!(without_kinds(&found), expected.replace('\0', "<<EOT"), "{secret}");
        }
    }
    let benign = [
        "password: |\n  Enter the password you chose\n  when you signed up.\n",
        "deploy ALL=(ALL) NOPASSWD:ALL\n",
        "deploy ALL=(ALL) NOPASSWD: ALL\n",
        "token: >\n  The access token returned by the login endpoint.\n",
        "token:\n  type: string\n  required: true\n",
        "secrets:\n  db_password:\n    file: ./db_password.txt\n",
        "properties:\n  password:\n    type: string\n",
        "secret:\n  secretName: tls-cert\n",
        "env:\n  - name: API_TOKEN_HEADER\n    value: X-Api-Token\n",
        "variable \"token_ttl\" {\n  default = \"3600\"\n}\n",
        "variable \"db_password\" {\n  sensitive = true\n}\nvariable \"zone\" {\n  default = \"eu-west-1a\"\n}\n",
        "Password for user app:\npsql (16.1)\nType \"help\" for help.\n",
        "Your access token is:\nnot set\n",
        "def set_password(self):\n    validate_password_strength()\n",
        "The password was changed on:\n2024-01-01T10:00:00Z\n",
        "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"{b64u:43}\",\"y\":\"{b64u:43}\"}",
        "{\"kty\":\"RSA\",\"n\":\"{b64u:342}\",\"e\":\"AQAB\",\"kid\":\"{hex:16}\"}",
        "<key>CFBundleIdentifier</key>\n<string>com.acme.app</string>\n",
    ];
    for text in benign {
        check_unchanged(&expand_template(text, 9));
    }
}

#[test]
fn public_keys_and_code_about_keys_stay() {
    let body = expand_template("{b64:64}\n{b64:64}\n{b64:20}==", 8);
    for label in ["PUBLIC KEY", "CERTIFICATE", "PGP PUBLIC KEY BLOCK", "CERTIFICATE REQUEST", "PGP SIGNATURE"]
    {
        check_unchanged(&format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n"));
    }
    check_unchanged(
        "if pem.starts_with(\"-----BEGIN PRIVATE KEY-----\") { pem.find(\"-----END PRIVATE KEY-----\") }",
    );
    check_unchanged("-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----");
    check_unchanged(&format!("public_key = \"ssh-rsa {} me@host\"", body.replace('\n', "")));
    check_unchanged(&format!("<img src=\"data:image/png;base64,{}\">", body.replace('\n', "").repeat(50)));
    check_unchanged(&format!("\"integrity\": \"sha512-{}\"", expand_template("{b64:86}==", 3)));
    check_unchanged(&expand_template("commit {hex:40}\ntree {hex:64}\nindex {hex:7}..{hex:7} 100644", 4));
    check_unchanged(&expand_template("id: {uuid}\nsha256:{hex:64}\nETag: \"{hex:32}\"", 5));
}

#[test]
fn emails_go_only_when_asked_for() {
    let text = "write to jane.doe+x@mail.example.com. Or git@github.com:org/repo";
    check_unchanged(text);
    let found = redact_text(text, RedactOptions { emails: true });
    assert_eq!(found, "write to [REDACTED:email]. Or [REDACTED:email]:org/repo");
}

#[test]
fn bytes_that_are_not_text_survive() {
    let text = b"\xff\xfe\0 DB_PASSWORD=hunter2 \x80\xc3\n\xf0\x28";
    let found = redact_bytes(text, RedactOptions::default());
    assert_eq!(&*found, b"\xff\xfe\0 DB_PASSWORD=[REDACTED:password] \x80\xc3\n\xf0\x28");
}

/// A scanner without bounds would read this input repeatedly. The time limit allows for a loaded machine and a debug
/// build.
#[test]
fn hostile_texts_take_linear_time() {
    let long = ["=", "\"", "password=", "eyJ", "-----BEGIN ", "://", "aGVsbG8gd29ybGQh"];
    let short = [
        ":",
        "password=\"",
        "password: ",
        "token='",
        "token=",
        "token=a=",
        "eyJ.",
        "eyJ-",
        "eyJaaaaaaaaaaaa.",
        "@",
        "a@",
        "://@",
        "://a:b",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n",
        "\\",
        "\\n",
        "\\\"",
        "[",
        "[REDACTED:",
        "[REDACTED:x]",
        "sk-",
        "ghp_",
        "y0_",
        "ya29.",
        "xoxb-",
        "sl.",
        "M.",
        "curl -u ",
        "-u ",
        "--password ",
        "-p",
        "mysql -p",
        "Bearer ",
        "Authorization: ",
        "value: ",
        "name: password value: ",
        "%",
        "%22",
        "<password>",
        "token: \\\"",
        "api key: ",
        "password is ",
        "token ",
        "1",
        "a",
        "A",
        "/",
        "+ASt",
        "Q~",
        "8Q~",
        "\x1b[",
        "IQoJb3JpZ2lu/",
        "(\"",
        "set_password(\"a1b2\")",
        "(\"token\", ",
        "cookie a=AAAAAAAAAAAAAAAA;",
        "curl -b a=AAAAAAAAAAAAAAAA;",
        "password:\n",
        "password: |\n",
        "a:\n\n",
        "\"d\":\"",
        "kty\"d\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"",
        "echo a | ",
        "htpasswd -b ",
        "htpasswd -nb - ",
        "token -> ",
        "secret = a || ",
        "variable \"",
        "variable \"key\" default = \"a1\" ",
        "KEY=a(\n",
        "AKIAAAAAAAAAAAAAAAAA ",
        "&code=",
        "a:b@tcp(",
        ":thin:a/",
        "arn:secret:",
    ];
    let texts = long
        .map(|fragment| (fragment, 1_000_000))
        .into_iter()
        .chain(short.map(|fragment| (fragment, 200_000)));
    for (fragment, length) in texts {
        let text = fragment.repeat(length / fragment.len());
        let started = Instant::now();
        let found = redact_text(&text, RedactOptions { emails: true });
        let spent = started.elapsed();
        assert!(spent < Duration::from_secs(30), "{fragment:?} took {spent:?}");
        assert_eq!(redact_text(&found, RedactOptions { emails: true }), found, "{fragment:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn idempotent_on_fragments(text in prop::collection::vec(random_fragment(), 1..14).prop_map(|parts| parts.concat()), emails: bool) {
        let once = redact_text(&text, RedactOptions { emails }).into_owned();
        let twice = redact_text(&once, RedactOptions { emails });
        prop_assert_eq!(&*twice, &*once);
    }

    #[test]
    fn idempotent_on_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let once = redact_bytes(&bytes, RedactOptions { emails: true }).into_owned();
        let twice = redact_bytes(&once, RedactOptions { emails: true });
        prop_assert_eq!(&*twice, &*once);
    }

    #[test]
    fn bytes_and_text_agree(text in "\\PC{0,80}(password|token|key)[=: \"']{1,3}\\PC{0,80}") {
        let found = redact_text(&text, RedactOptions::default());
        let bytes = redact_bytes(text.as_bytes(), RedactOptions::default());
        prop_assert_eq!(found.as_bytes(), &*bytes);
    }

    #[test]
    fn prose_is_borrowed(text in "([a-o]{1,12}[ ,.\n]){0,60}") {
        prop_assert!(matches!(redact_text(&text, RedactOptions::default()), Cow::Borrowed(_)));
    }
}

/// Generates fragments for every scanner. Joined at random, they form input that matches rules but that nobody would
/// write.
fn random_fragment() -> impl Strategy<Value = String> {
    let templates: Vec<String> =
        table_rows(TOKENS_TABLE).map(|(_, template)| template.replace('^', "")).collect();
    let named: Vec<String> = NAMED_TABLE
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.replace("<<", "").replace(">>", ""))
        .collect();
    let glue = [
        "=",
        ":",
        ": ",
        " = ",
        "\"",
        "'",
        "\\\"",
        "\\n",
        "\n",
        " ",
        "-",
        "--",
        ".",
        ",",
        "/",
        "@",
        "://",
        "&",
        "?",
        "[",
        "]",
        "(",
        ")",
        "<",
        ">",
        "%22",
        "\\u0022",
        "\x1b[1m",
        "_",
        "password",
        "PASSWORD",
        "token",
        "api_key",
        "key",
        "secret",
        "value",
        "name",
        "Authorization: ",
        "Bearer ",
        "Basic ",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "eyJ",
        "sk-",
        "ghp_",
        "[REDACTED:",
        "[REDACTED:token]",
        "[REDACTED:password]",
        "REDACTED",
        "curl -u ",
        "mysql -p",
        "--password ",
        "hunter2",
        " is ",
        "é",
        "“",
        "x",
        "xxxxxxxx",
        "a1B2c3D4e5F6g7H8",
        "0123456789abcdef",
        "AAAA",
        "${X}",
        "$X",
        "+ASt",
        "8Q~",
        ";base64,",
        "==",
        "Cookie: ",
        "code=",
        " -> ",
        "(\"",
        "\")",
        "\", \"",
        " to ",
        " | ",
        "|\n  ",
        " || ",
        "set",
        "default",
        "variable \"",
        "echo ",
        "--password-stdin",
        "htpasswd -nb ",
        "@tcp(",
        "kty",
        "\"d\":\"",
        "::add-mask::",
        " ||= ",
        " ?? ",
        "jwt.sign(",
        "new PDO(",
        "net user a ",
        "AUTH ",
        "root@localhost: ",
        "seed phrase: ",
    ];
    prop_oneof![
        2 => (prop::sample::select(templates), any::<u64>()).prop_map(|(template, seed)| expand_template(&template, seed)),
        2 => (prop::sample::select(named), any::<u64>()).prop_map(|(line, seed)| expand_template(&line, seed)),
        1 => (prop::sample::select(table_rows(TOKENS_TABLE).map(|(_, template)| template.to_owned()).collect::<Vec<_>>()), any::<u64>(), 1usize..40)
            .prop_map(|(template, seed, cut)| expand_template(&template, seed).chars().take(cut).collect()),
        6 => prop::sample::select(glue.to_vec()).prop_map(str::to_owned),
        1 => "[ -~]{0,12}",
        1 => Just("\u{1f600}".to_owned()),
    ]
}

fn check_redaction(text: &str, expected: &str) {
    assert_eq!(redact_text(text, RedactOptions::default()), expected, "{text}");
}

fn check_unchanged(text: &str) {
    check_redaction(text, text);
}

/// Replaces each placeholder with `*`.
fn without_kinds(found: &str) -> String {
    let mut parts = found.split("[REDACTED:");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + "*" + part.split_once(']').map_or(part, |(_, after)| after))
}

/// Returns whether `found` is one placeholder between `before` and `after`.
fn is_replaced(found: &str, before: &str, after: &str) -> bool {
    let middle = found.strip_prefix(before).and_then(|rest| rest.strip_suffix(after)).unwrap_or_default();
    let kind = middle.strip_prefix("[REDACTED:").and_then(|kind| kind.strip_suffix(']')).unwrap_or_default();
    !kind.is_empty() && !kind.contains(['[', ']', ' '])
}

fn table_rows(table: &str) -> impl Iterator<Item = (&str, &str)> {
    let rows = table.lines().filter(|line| !line.starts_with('#'));
    rows.filter_map(|line| line.split_once(' ')).map(|(kind, template)| (kind, template.trim()))
}

/// Replaces `{class:length}` with random bytes drawn from `seed`. An unknown class is left unchanged.
fn expand_template(template: &str, seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(template.len() as u64);
    let mut expanded = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        expanded.push_str(before);
        let field = after.split_once('}');
        match field.and_then(|(field, _)| fill_field(field, &mut state)) {
            Some(text) => expanded.push_str(&text),
            None => {
                expanded.push('{');
                rest = after;
                continue;
            }
        }
        rest = field.map_or("", |(_, rest)| rest);
    }
    expanded + rest
}

fn fill_field(field: &str, state: &mut u64) -> Option<String> {
    if field == "uuid" {
        return Some([8, 4, 4, 4, 12].map(|length| draw_random("0123456789abcdef", length, state)).join("-"));
    }
    let (class, length) = field.split_once(':')?;
    let alphabet = match class {
        "alnum" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        "b64" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        "b64u" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
        "upper" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        "lower" => "abcdefghijklmnopqrstuvwxyz0123456789",
        "hex" => "0123456789abcdef",
        "digit" => "0123456789",
        "nonzero" => "123456789",
        _ => return None,
    };
    Some(draw_random(alphabet, length.parse().ok()?, state))
}

/// Draws characters with xorshift, which returns the same numbers on every machine.
fn draw_random(alphabet: &str, length: usize, state: &mut u64) -> String {
    let mut next = || {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        alphabet.as_bytes()[(*state >> 33) as usize % alphabet.len()] as char
    };
    (0..length).map(|_| next()).collect()
}
