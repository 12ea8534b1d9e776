//! Secrets in a hook's input do not reach the disk. The tests assemble the secrets at run time, so that this file
//! contains none.

use serde_json::json;

use crate::env::{TestEnv, merge_fields};

/// Returns letters and digits that look random but are the same in every run.
pub fn random_text(seed: u64, len: usize) -> String {
    let alphabet = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789";
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(alphabet[(state % alphabet.len() as u64) as usize])
    };
    (0..len).map(|_| next()).collect()
}

/// Returns strings that contain a secret, each with the part that must not appear in any file.
pub fn texts_with_secrets() -> Vec<(String, String)> {
    let github = format!("{}_{}", "ghp", random_text(1, 36));
    let amazon = format!("{}{}", "AKIA", random_text(2, 16).to_ascii_uppercase());
    let password = random_text(3, 20);
    let bearer = random_text(4, 40);
    let in_url = random_text(5, 18);
    let key = format!("{}-{}", "sk-ant-api03", random_text(6, 93));
    vec![
        (format!("use {github} for this"), github),
        (format!("aws configure set aws_access_key_id {amazon}"), amazon),
        (format!("export DB_PASSWORD={password}"), password),
        (format!("curl -H 'Authorization: Bearer {bearer}' https://example.com"), bearer),
        (format!("git push https://user:{in_url}@example.com/x.git"), in_url),
        (format!("{{\"api_key\": \"{key}\"}}"), key),
    ]
}

#[test]
fn secrets_reach_no_file_whatever_field_they_come_in() {
    for (text, secret) in texts_with_secrets() {
        let env = TestEnv::with_root();
        let common = json!({"session_id": "s", "cwd": env.project_folder(), "tool_name": "Bash"});
        let fields = [
            ("UserPromptSubmit", json!({"prompt": text})),
            ("PostToolUse", json!({"tool_input": {"command": text}})),
            (
                "PostToolUse",
                json!({"tool_input": {"command": "x", "description": text}, "tool_response": text}),
            ),
            ("PostToolUseFailure", json!({"error": text, "tool_input": {"command": text}})),
            ("PostToolUse", json!({"tool_name": text, "tool_use_id": text})),
            ("PostToolUse", json!({"tool_name": "Read", "tool_input": {"file_path": text}})),
            ("SubagentStop", json!({"agent_id": text, "agent_type": text, "last_assistant_message": text})),
            ("SessionStart", json!({"source": text, "model": text})),
            ("SessionEnd", json!({"reason": text})),
            ("PreCompact", json!({"trigger": text, "custom_instructions": text})),
            ("Notification", json!({"message": text, "hook_event_name": text})),
        ];
        for (event, more) in fields {
            let payload = merge_fields(&common, more);
            env.fire_hook(event, &payload).assert_accepted_by_harness(event);
            assert_eq!(env.file_tree().files_containing(&secret), [""; 0], "{event}: {payload}");
        }
        assert_eq!(env.read_journal("s").len(), 11);
        assert!(
            !env.file_tree().files_containing("[REDACTED:").is_empty(),
            "the journal tells that there was one"
        );
    }
}

#[test]
fn secrets_in_what_is_no_payload_do_not_reach_the_receipt() {
    for (text, secret) in texts_with_secrets() {
        let env = TestEnv::with_root();
        for payload in [json!(text), json!([text]), json!({ &text: 1 }), json!({"session_id": {"x": text}})] {
            env.fire_hook("Stop", &payload).assert_silent("junk");
        }
        env.fire_hook("Stop", &json!({"session_id": text})).assert_silent("as a session id");
        assert_eq!(env.read_receipts().len(), 5);
        assert_eq!(env.file_tree().files_containing(&secret), [""; 0], "{:#?}", env.read_receipts());
    }
}

#[test]
fn a_secret_across_the_cut_is_not_halved_into_the_journal() {
    let (_, secret) = texts_with_secrets().remove(0);
    for limit in [64 * 1024, 68 * 1024] {
        for shift in [1, 10, 20, 35] {
            let env = TestEnv::with_root();
            let prompt =
                format!("{} {secret} {}", "word ".repeat((limit - shift) / 5), "more ".repeat(5_000));
            env.fire_hook(
                "UserPromptSubmit",
                &json!({"session_id": "s", "cwd": env.project_folder(), "prompt": prompt}),
            )
            .assert_silent("long");
            assert_eq!(env.file_tree().files_containing(&secret[..12]), [""; 0], "{limit} - {shift}");
        }
    }
}

#[test]
fn mail_addresses_stay_unless_the_user_wants_them_gone() {
    let env = TestEnv::with_root();
    let payload =
        json!({"session_id": "s", "cwd": env.project_folder(), "prompt": "ask jane.doe@example.com"});
    env.fire_hook("UserPromptSubmit", &payload).assert_silent("default");
    env.write_file(env.user_config_path(), "[redact]\nemails = true\n");
    env.fire_hook("UserPromptSubmit", &payload).assert_silent("redacted");
    let texts: Vec<_> =
        env.read_journal("s").iter().map(|line| line["text"].as_str().unwrap().to_owned()).collect();
    assert_eq!(texts, ["ask jane.doe@example.com", "ask [REDACTED:email]"]);
}

#[test]
fn mail_addresses_in_the_names_of_branches_and_uncommitted_files_are_redacted_too() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    env.write_file(env.user_config_path(), "[redact]\nemails = true\n");
    env.run_git(&["checkout", "-qb", "ask-jane.doe@example.com"]);
    env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Sort the letters of our customers"}));
    // After a commit in the session, its branch is also read from git's files.
    env.run_git(&["commit", "-q", "--allow-empty", "-m", "sort"]);
    let commit = env.run_git(&["rev-parse", "--short", "HEAD"]);
    let printed = format!("[ask-jane.doe@example.com {}] sort\n", commit.trim());
    let response = json!({"stdout": printed, "stderr": "", "interrupted": false, "exitCode": 0});
    let input = json!({"command": "git commit --allow-empty -m sort"});
    let call =
        json!({"tool_name": "Bash", "tool_use_id": "t1", "tool_input": input, "tool_response": response});
    env.fire_event("s1", "PostToolUse", call);
    let brief = env.run_thru(&["brief", "--session", "s1"]).assert_ok();
    assert!(!brief.stdout.contains("jane.doe"), "{brief}");
    env.write_file("project/letters/jane.doe@example.com.txt", "Dear Jane\n");
    let made = env.run_thru(&["handoff", "sort the letters", "--session", "s1"]).assert_ok();
    assert!(!made.to_string().contains("jane.doe"), "{made}");
    // Git's own files contain the name of the branch.
    let tree = env.file_tree();
    let leaks = tree.files_containing("jane.doe@").into_iter().filter(|file| !file.contains("/.git/"));
    assert_eq!(leaks.collect::<Vec<_>>(), [""; 0]);
    let shown = env.run_thru(&["packet", "show", "sort-the-letters"]).assert_ok();
    assert!(shown.stdout.contains("[REDACTED:email]"), "{shown}");
    env.write_file("project/letters/john.doe@example.com.txt", "Dear John\n");
    let picked = env.run_thru(&["pickup", "sort-the-letters"]).assert_ok();
    assert!(!picked.stdout.contains("doe@example") && picked.stdout.contains("uncommitted"), "{picked}");
}
