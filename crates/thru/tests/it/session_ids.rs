//! A session's id becomes a file name, so it is checked first.

use std::time::Duration;

use serde_json::json;

use crate::env::TestEnv;

#[test]
fn a_bad_session_id_writes_no_file_and_is_on_the_receipt() {
    let long = "x".repeat(200);
    let bad = [
        "../../../evil",
        "..",
        ".",
        "a/b",
        "/etc/passwd",
        "a\\b",
        "a\u{0}b",
        "a\nb",
        "-x",
        "~0001",
        "a~0001",
        "NUL",
        "con.txt",
        "a b",
        ".hidden",
        "ünï",
        &long,
    ];
    let env = TestEnv::with_root();
    // This call creates the receipts file, so that the calls below only change it.
    env.fire_hook("Stop", &env.captured_payload("Stop.first")).assert_silent("a good one");
    for (at, id) in bad.into_iter().enumerate() {
        let before = env.file_tree();
        let event = ["PostToolUse", "SessionStart", "UserPromptSubmit"][at % 3];
        env.fire_hook(event, &json!({"session_id": id, "cwd": env.project_folder(), "source": "startup"}))
            .assert_silent(id);
        assert_eq!(
            before.changes_to(&env.file_tree()),
            ["~/project/.agent/context/indexes/receipts.jsonl"],
            "{id:?}"
        );
        let receipt = env.read_receipts().pop().unwrap();
        assert_eq!(receipt["outcome"], "failed", "{id:?}");
        let error = receipt["error"].as_str().unwrap();
        assert!(error.starts_with("the session id ") && !error.contains(['\n', '\u{0}']), "{error}");
    }
}

#[test]
fn an_empty_session_id_is_none() {
    let env = TestEnv::with_root();
    env.fire_hook("Stop", &json!({"session_id": "", "cwd": env.project_folder()})).assert_silent("empty");
    assert_eq!(env.read_receipts().pop().unwrap()["error"], "the payload has no session id");
    assert_eq!(env.count_journal_lines(), 0);
}

#[test]
fn good_session_ids_are_file_names() {
    let env = TestEnv::with_root();
    let longest = "x".repeat(128);
    for id in ["a", "_x", "9487a9f7-611a-47e9-8202-df72ea246773", "2026.11.15", &longest] {
        env.fire_hook("Stop", &json!({"session_id": id, "cwd": env.project_folder()})).assert_silent(id);
        assert_eq!(env.read_journal(id).len(), 1, "{id}");
    }
}

#[test]
fn following_waits_for_the_first_session_and_goes_on_with_the_next() {
    let env = TestEnv::with_root();
    let call = env.thru_call(&["journal", "--follow"]).through_program("timeout", &["4".as_ref()]);
    let following = std::thread::spawn(move || call.run());
    std::thread::sleep(Duration::from_millis(300));
    for session in ["s1", "s2"] {
        env.fire_event(session, "SessionStart", json!({"source": "startup"}));
        env.fire_event(session, "UserPromptSubmit", json!({"prompt": format!("asked in {session}")}));
        std::thread::sleep(Duration::from_millis(1_200));
    }
    let followed = following.join().unwrap();
    assert!(followed.stderr.contains("waiting for the first session"), "{followed}");
    assert!(["asked in s1", "asked in s2"].iter().all(|text| followed.stdout.contains(text)), "{followed}");
}
