//! Tests `thru redact`, which applies the filter that all captured text passes through before it is written.

use crate::call::ThruOutput;
use crate::env::TestEnv;
use crate::secrets::texts_with_secrets;

fn run_redact(words: &[&str], input: &[u8]) -> ThruOutput {
    TestEnv::new().thru_call(&[&["redact"], words].concat()).with_stdin(input).run().assert_ok()
}

#[test]
fn secrets_go_and_the_rest_stays() {
    for (text, secret) in texts_with_secrets() {
        let output = run_redact(&[], text.as_bytes()).stdout;
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
        assert_eq!(run_redact(&[], input).bytes, input);
    }
}

#[test]
fn bytes_that_are_no_text_survive_around_a_secret() {
    let (text, secret) = texts_with_secrets().remove(0);
    let input = [b"\xff\xfe ", text.as_bytes(), b" \x00\xc3\n"].concat();
    let output = run_redact(&[], &input).bytes;
    let expected = String::from_utf8(run_redact(&[], text.as_bytes()).bytes).unwrap();
    assert!(!expected.contains(&secret));
    assert_eq!(output, [b"\xff\xfe ", expected.as_bytes(), b" \x00\xc3\n"].concat());
}

#[test]
fn twice_is_the_same_as_once() {
    let all: String = texts_with_secrets().iter().map(|(text, _)| format!("{text}\n")).collect();
    let once = run_redact(&[], all.as_bytes()).bytes;
    assert_eq!(once.iter().filter(|byte| **byte == b'\n').count(), texts_with_secrets().len());
    assert_eq!(run_redact(&[], &once).bytes, once);
}

#[test]
fn mail_addresses_only_when_asked_for() {
    let input = b"from jane.doe@example.com\n";
    assert_eq!(run_redact(&[], input).bytes, input);
    assert_eq!(run_redact(&["--emails"], input).stdout, "from [REDACTED:email]\n");
    let env = TestEnv::new();
    let by_variable = env
        .thru_call(&["redact"])
        .with_variable("THROUGHLINE_REDACT_EMAILS", "true")
        .with_stdin(*input)
        .run()
        .assert_ok();
    assert_eq!(by_variable.stdout, "from [REDACTED:email]\n");
}

#[test]
fn a_projects_settings_count_where_one_stands() {
    let env = TestEnv::with_root();
    env.write_file("project/.agent/context/config.toml", "[redact]\nemails = true\n");
    let output = env.thru_call(&["redact"]).with_stdin(*b"jane.doe@example.com").run().assert_ok();
    assert_eq!(
        output.stdout, "[REDACTED:email]",
        "the same rules that run before anything captured is written"
    );
}

#[test]
fn as_json_it_tells_whether_something_changed() {
    let (text, secret) = texts_with_secrets().remove(0);
    let changed = run_redact(&["--json"], text.as_bytes()).json();
    assert_eq!(changed["changed"], true);
    assert!(!changed["text"].as_str().unwrap().contains(&secret));
    assert_eq!(run_redact(&["--json"], b"hi").json(), serde_json::json!({"text": "hi", "changed": false}));
    assert_eq!(run_redact(&["--json"], b"").json(), serde_json::json!({"text": "", "changed": false}));
}

#[test]
fn megabytes_pass_through() {
    let line = "2026-11-15 19:22:00 INFO token bucket refilled; key = value; password reset mail sent\n";
    let input = line.repeat(8 * 1024 * 1024 / line.len());
    assert_eq!(run_redact(&[], input.as_bytes()).bytes.len(), input.len());
}
