//! `thru redact`: the command for the filter through which all captured text passes before it is written.

use crate::call::Output;
use crate::env::TestEnv;
use crate::secrets::secrets;

fn redact(words: &[&str], input: &[u8]) -> Output {
    TestEnv::new().call(&[&["redact"], words].concat()).stdin(input).run().ok()
}

#[test]
fn secrets_go_and_the_rest_stays() {
    for (text, secret) in secrets() {
        let output = redact(&[], text.as_bytes()).stdout;
        assert!(!output.contains(&secret) && output.contains("[REDACTED:"), "{output}");
        let (before, after) = text.split_once(&secret).unwrap();
        assert!(output.starts_with(before) && output.ends_with(after), "{output}");
    }
}

#[test]
fn what_holds_no_secret_comes_out_byte_for_byte() {
    let bytes: Vec<u8> = (0..=255).collect();
    let cases: [&[u8]; 6] =
        [b"", b"\n", b"plain text without a line end", b"\r\n\r\n", &bytes, b"commit 3e7a11b\xff\xfe\x00\n"];
    for input in cases {
        assert_eq!(redact(&[], input).bytes, input);
    }
}

#[test]
fn bytes_that_are_no_text_survive_around_a_secret() {
    let (text, secret) = secrets().remove(0);
    let input = [b"\xff\xfe ", text.as_bytes(), b" \x00\xc3\n"].concat();
    let output = redact(&[], &input).bytes;
    let expected = String::from_utf8(redact(&[], text.as_bytes()).bytes).unwrap();
    assert!(!expected.contains(&secret));
    assert_eq!(output, [b"\xff\xfe ", expected.as_bytes(), b" \x00\xc3\n"].concat());
}

#[test]
fn twice_is_the_same_as_once() {
    let all: String = secrets().iter().map(|(text, _)| format!("{text}\n")).collect();
    let once = redact(&[], all.as_bytes()).bytes;
    assert_eq!(once.iter().filter(|byte| **byte == b'\n').count(), secrets().len());
    assert_eq!(redact(&[], &once).bytes, once);
}

#[test]
fn mail_addresses_only_when_asked_for() {
    let input = b"from jane.doe@example.com\n";
    assert_eq!(redact(&[], input).bytes, input);
    assert_eq!(redact(&["--emails"], input).stdout, "from [REDACTED:email]\n");
    let env = TestEnv::new();
    let by_variable = env.call(&["redact"]).var("THROUGHLINE_REDACT_EMAILS", "true").stdin(*input).run().ok();
    assert_eq!(by_variable.stdout, "from [REDACTED:email]\n");
}

#[test]
fn a_projects_settings_count_where_one_stands() {
    let env = TestEnv::rooted();
    env.write("project/.agent/context/config.toml", "[redact]\nemails = true\n");
    let output = env.call(&["redact"]).stdin(*b"jane.doe@example.com").run().ok();
    assert_eq!(
        output.stdout, "[REDACTED:email]",
        "the same rules that run before anything captured is written"
    );
}

#[test]
fn as_json_it_tells_whether_something_changed() {
    let (text, secret) = secrets().remove(0);
    let changed = redact(&["--json"], text.as_bytes()).json();
    assert_eq!(changed["changed"], true);
    assert!(!changed["text"].as_str().unwrap().contains(&secret));
    assert_eq!(redact(&["--json"], b"hi").json(), serde_json::json!({"text": "hi", "changed": false}));
    assert_eq!(redact(&["--json"], b"").json(), serde_json::json!({"text": "", "changed": false}));
}

#[test]
fn megabytes_pass_through() {
    let line = "2026-11-15 19:22:00 INFO token bucket refilled; key = value; password reset mail sent\n";
    let input = line.repeat(8 * 1024 * 1024 / line.len());
    assert_eq!(redact(&[], input.as_bytes()).bytes.len(), input.len());
}
