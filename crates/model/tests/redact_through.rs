//! Redaction of secrets that are hidden by escape sequences, invisible characters, encodings or cuts, or by prefixes
//! that tools add to each line of a private key.

use model::clean::clean_text;
use model::redact::{REDACTION_MARGIN_BYTES, RedactOptions, Redacted, redact_bytes, redact_text};

/// Returns random base64 that is the same in every run.
fn random_base64(seed: u64, length: usize) -> String {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..length).map(|_| char::from(alphabet[(next() % 62) as usize])).collect()
}

fn labelled_secrets() -> Vec<(&'static str, String)> {
    vec![
        ("use ", format!("{}_{}", "ghp", random_base64(1, 36))),
        ("AWS_ACCESS_KEY_ID=", format!("{}{}", "AKIA", random_base64(2, 16).to_ascii_uppercase())),
        ("password: ", format!("{}-{}!9", random_base64(3, 6), random_base64(4, 6))),
        ("Authorization: Bearer ", random_base64(5, 40)),
        ("key ", format!("{}-{}", "sk-ant-api03", random_base64(6, 90))),
        ("git clone https://user:", random_base64(7, 20)),
    ]
}

/// Returns the lines of a made-up key: `-----BEGIN …`, base64 and `-----END …`.
fn made_up_private_key(seed: u64) -> Vec<String> {
    let mut lines = vec!["-----BEGIN RSA PRIVATE KEY-----".to_owned()];
    lines.extend((0..24).map(|line| random_base64(seed * 100 + line, 64)));
    lines.push(format!("{}==", random_base64(seed * 100 + 99, 22)));
    lines.push("-----END RSA PRIVATE KEY-----".to_owned());
    lines
}

fn key_body(lines: &[String]) -> &[String] {
    &lines[1..lines.len() - 1]
}

#[test]
fn escapes_and_invisible_characters_put_nothing_together_again() {
    let hidden = [
        "\u{1b}[1m",
        "\u{1b}[01;31m\u{1b}[K",
        "\u{1b}[m\u{1b}[K",
        "\u{200b}",
        "\u{200d}",
        "\u{feff}",
        "\u{ad}",
        "\u{2060}",
        "\u{1b}(B",
        "\u{9b}0m",
        "\0",
        "\u{7}",
        "\u{e0041}",
        "\u{1b}]8;;http://x.y\u{7}",
        "\u{34f}",
    ];
    let mut cases = 0;
    for (before, secret) in labelled_secrets() {
        for hidden in hidden {
            for at in 1..secret.len() {
                let after = if before.starts_with("git") { "@example.com/x.git" } else { " and more" };
                let text = format!("{before}{}{hidden}{}{after}", &secret[..at], &secret[at..]);
                let redacted = redact_text(&text, RedactOptions::default());
                for shown in [clean_text(&redacted).into_owned(), redacted.replace(hidden, "")] {
                    assert!(!shown.contains(&secret), "{text:?} became {shown:?}");
                    assert!(shown.contains("[REDACTED:"), "{text:?} became {shown:?}");
                }
                assert_eq!(redact_text(&redacted, RedactOptions::default()), redacted, "{text:?}");
                cases += 1;
            }
        }
    }
    assert!(cases >= 2_000, "{cases}");
}

#[test]
fn a_cut_at_any_byte_halves_no_secret() {
    for (before, secret) in labelled_secrets() {
        let after = if before.starts_with("git") { "@example.com/x.git" } else { " and more" };
        let text = format!("{}{before}{secret}{after} {}", "word ".repeat(10), "more ".repeat(10));
        let start = text.find(&secret).unwrap();
        for cut in 0..=text.len() {
            let head = Redacted::redact_head(&text, cut, RedactOptions::default());
            let tail = Redacted::redact_tail(&text, cut, RedactOptions::default());
            for kept in [&*head, &*tail] {
                let parts = [&secret[..8], &secret[secret.len() - 8..]];
                assert!(!parts.iter().any(|part| kept.contains(part)), "cut at {cut} of {start}: {kept:?}");
            }
        }
    }
}

#[test]
fn a_cut_inside_a_long_text_halves_no_key() {
    let lines = made_up_private_key(3);
    let key = lines.join("\n");
    let filler = "a line of words\n".repeat(2 * REDACTION_MARGIN_BYTES / 16);
    let text = format!("{filler}{key}\n{filler}");
    let from = filler.len();
    for at in (from - 70..from + key.len() + 70).step_by(7) {
        let kept = [
            Redacted::redact_range(&text, 0..at, RedactOptions::default()),
            Redacted::redact_range(&text, at..text.len(), RedactOptions::default()),
            Redacted::redact_range(&text, at..(at + 64).min(text.len()), RedactOptions::default()),
        ];
        for kept in kept {
            let shown = key_body(&lines)
                .iter()
                .find(|line| kept.contains(&line[..20]) || kept.contains(&line[line.len() - 12..]));
            assert_eq!(shown, None, "at {at}");
        }
    }
}

#[test]
fn a_key_without_its_frame_and_behind_prefixes() {
    let lines = made_up_private_key(5);
    let prefixes: [fn(usize) -> String; 12] = [
        |_| String::new(),
        |n| format!("id_rsa:{n}:"),
        |n| format!("/home/user/some/longer/path/to/a/project/keys/deploy/server.key:{n}:"),
        |n| format!("{n}:"),
        |n| format!("{n:>6}\u{2192}"),
        |n| format!("{n:>6}\t"),
        |_| "+".to_owned(),
        |_| "-".to_owned(),
        |_| "> ".to_owned(),
        |_| "    ".to_owned(),
        |n| format!("keys/a.pem-{n}-"),
        |n| {
            format!("\u{1b}[35mkeys/a.pem\u{1b}[m\u{1b}[36m:\u{1b}[m\u{1b}[32m{n}\u{1b}[m\u{1b}[36m:\u{1b}[m")
        },
    ];
    for prefix in prefixes {
        for part in [&lines[..], &lines[1..], &lines[..lines.len() - 1], &lines[5..], &lines[..9]] {
            for separator in ["\n", "\\n", "\r\n"] {
                let shown: Vec<String> =
                    part.iter().enumerate().map(|(n, line)| format!("{}{line}", prefix(n + 1))).collect();
                let text = format!(
                    "the file says:{separator}{}{separator}that was it, no more",
                    shown.join(separator)
                );
                let redacted = redact_text(&text, RedactOptions::default());
                let left = key_body(&lines).iter().find(|line| redacted.contains(&line[..12]));
                assert_eq!(left, None, "{text}\n\nbecame\n\n{redacted}");
                assert!(redacted.contains("the file says") && redacted.contains("that was it"), "{redacted}");
                assert_eq!(redact_text(&redacted, RedactOptions::default()), redacted);
            }
        }
    }
}

#[test]
fn what_is_no_private_key_stays() {
    let certificate: Vec<String> = ["-----BEGIN CERTIFICATE-----".to_owned()]
        .into_iter()
        .chain((0..8).map(|n| random_base64(n + 900, 64)))
        .chain(["-----END CERTIFICATE-----".to_owned()])
        .collect();
    for text in [
        certificate.join("\n"),
        certificate[3..].join("\n"),
        "if line == '-----END RSA PRIVATE KEY-----': break".to_owned(),
        "a\nb\nlooks for `-----END PRIVATE KEY-----` below\n".to_owned(),
        "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAuC3PGuQ".to_owned(),
    ] {
        assert_eq!(redact_text(&text, RedactOptions::default()), text);
    }
}

#[test]
fn encoded_secrets_are_seen() {
    let token = format!("{}_{}", "ghp", random_base64(1, 36));
    let percent: String = token.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let entities: String = token.bytes().map(|byte| format!("&#{byte};")).collect();
    let hex_entities: String = token.bytes().map(|byte| format!("&#x{byte:x};")).collect();
    let unicode: String = token.bytes().map(|byte| format!("\\u{byte:04x}")).collect();
    let hex: String = token.bytes().map(|byte| format!("\\x{byte:02x}")).collect();
    for encoded in [
        &percent,
        &entities,
        &hex_entities,
        &unicode,
        &hex,
        &token.replace('_', "%5F"),
        &token.replace('_', "%255f"),
    ] {
        for (before, after) in [("", ""), ("token is ", " there"), ("{\"x\": \"", "\"}"), ("?a=", "&b=1")] {
            let redacted =
                redact_text(&format!("{before}{encoded}{after}"), RedactOptions::default()).into_owned();
            assert!(redacted.starts_with(before) && redacted.ends_with(after), "{redacted}");
            assert!(
                redacted.contains("[REDACTED:") && !redacted.contains(&encoded[encoded.len() - 12..]),
                "{redacted}"
            );
        }
    }
    for (text, expected) in [
        ("password%3DXk29fQhuT7", "password%3D[REDACTED:password]"),
        (
            "&quot;password&quot;: &quot;Xk29fQhuT7&quot;",
            "&quot;password&quot;: &quot;[REDACTED:password]&quot;",
        ),
        (
            "\\u0022password\\u0022:\\u0022Xk29fQhuT7\\u0022",
            "\\u0022password\\u0022:\\u0022[REDACTED:password]\\u0022",
        ),
    ] {
        assert_eq!(redact_text(text, RedactOptions::default()), expected);
    }
}

#[test]
fn utf_16_stays_utf_16() {
    let token = format!("{}_{}", "ghp", random_base64(1, 36));
    let text = format!("token: {token}\r\nnext line\r\n");
    let expected = "token: [REDACTED:github-token]\r\nnext line\r\n";
    let little = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let big = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
    assert_eq!(redact_bytes(&little(&text), RedactOptions::default()), little(expected));
    assert_eq!(redact_bytes(&big(&text), RedactOptions::default()), big(expected));
    let marked = [&[0xff, 0xfe][..], &little(&text)].concat();
    assert_eq!(
        redact_bytes(&marked, RedactOptions::default()),
        [&[0xff, 0xfe][..], &little(expected)].concat()
    );
}

#[test]
fn colours_around_what_is_left_stay() {
    let token = format!("{}_{}", "ghp", random_base64(1, 36));
    let coloured = format!("a \u{1b}[01;31m\u{1b}[K{}\u{1b}[m\u{1b}[K{} b", &token[..8], &token[8..]);
    assert_eq!(
        redact_text(&coloured, RedactOptions::default()),
        "a \u{1b}[01;31m\u{1b}[K[REDACTED:github-token]\u{1b}[m b"
    );
    let plain = "\u{1b}[32mok\u{1b}[0m 100%\u{200b} of it";
    assert_eq!(redact_text(plain, RedactOptions::default()), plain);
}
