//! Tests `thru trust`, which records the user's choice outside every project.

use std::fs;

use insta::assert_snapshot;

use crate::env::{TestEnv, event_of_fixture, fixture_names};

/// Creates a project with a root that is not trusted.
fn untrusted_env() -> TestEnv {
    let env = TestEnv::with_root();
    env.run_thru(&["trust", "--revoke"]).assert_ok();
    env
}

#[test]
fn the_messages_of_trust() {
    let env = untrusted_env();
    let mut said = String::new();
    for words in
        [&["trust"][..], &["trust"], &["trust", "--list"], &["trust", "--revoke"], &["trust", "--revoke"]]
    {
        said.push_str(&format!("$ thru {}\n{}\n", words.join(" "), env.run_thru(words)));
    }
    said.push_str(&format!("$ thru trust --list\n{}\n", env.run_thru(&["trust", "--list"])));
    assert_snapshot!(env.mask_variable_parts(&said), @"
    $ thru trust
    exit: 0
    ---- stdout
    Trusted $PROJECT; hooks work here from now on
    $ thru trust
    exit: 0
    ---- stdout
    $PROJECT is already trusted
    $ thru trust --list
    exit: 0
    ---- stdout
    $PROJECT  <uuid>  2026-11-15 19:22 UTC
    $ thru trust --revoke
    exit: 0
    ---- stdout
    No longer trusted: $PROJECT; hooks record nothing there and tell the agent nothing
    $ thru trust --revoke
    exit: 0
    ---- stdout
    $PROJECT was not trusted
    $ thru trust --list
    exit: 0
    ---- stderr
    No root is trusted on this machine.
    ");
}

#[test]
fn the_json_of_trust() {
    let env = untrusted_env();
    assert_snapshot!(env.mask_variable_parts(&env.run_thru(&["trust", "--json"]).assert_ok().stdout), @r#"
    {
      "root": "$PROJECT",
      "project_id": "<uuid>",
      "trusted": true,
      "changed": true,
      "record": "$HOME/.local/state/throughline/trust/<uuid>.json"
    }
    "#);
    assert_snapshot!(env.mask_variable_parts(&env.run_thru(&["trust", "--list", "--json"]).assert_ok().stdout), @r#"
    [
      {
        "path": "$PROJECT",
        "project_id": "<uuid>",
        "trusted_at": "2026-11-15T19:22:00Z"
      }
    ]
    "#);
}

#[test]
fn trust_is_not_granted_from_inside_a_harness() {
    let env = untrusted_env();
    let before = env.file_tree();
    for variable in ["CLAUDECODE", "CLAUDE_CODE_SESSION_ID"] {
        let output = env.thru_call(&["trust"]).with_variable(variable, "1").run().assert_exit_code(15);
        assert!(output.stderr.contains("claude-code") && output.stderr.contains("terminal"), "{output}");
    }
    before.assert_unchanged(&env.file_tree(), "refused");
}

#[test]
fn init_inside_a_harness_trusts_only_what_it_makes() {
    let env = TestEnv::new();
    let report = env.thru_call(&["init", "--json"]).with_variable("CLAUDECODE", "1").run().assert_ok().json();
    assert_eq!(report["trusted"], true, "a new store holds nobody's text");
    env.run_thru(&["trust", "--revoke"]).assert_ok();
    let report = env.thru_call(&["init", "--json"]).with_variable("CLAUDECODE", "1").run().assert_ok().json();
    assert_eq!(report["trusted"], false);
}

#[test]
fn trust_can_be_revoked_from_inside_a_harness() {
    let env = TestEnv::with_root();
    env.thru_call(&["trust", "--revoke"]).with_variable("CLAUDECODE", "1").run().assert_ok();
    assert_eq!(env.run_thru_json(&["status"])["trusted"], false);
}

#[test]
fn the_list_names_every_root_of_this_machine() {
    let env = TestEnv::with_root();
    let other = env.base_folder().join("other");
    fs::create_dir(&other).unwrap();
    env.thru_call(&["init"]).in_folder(&other).run().assert_ok();
    let list = env.run_thru_json(&["trust", "--list"]);
    let paths: Vec<_> = list.as_array().unwrap().iter().map(|row| row["path"].as_str().unwrap()).collect();
    assert_eq!(paths, [other.to_str().unwrap(), env.project_folder().to_str().unwrap()]);
}

#[test]
fn the_record_is_where_the_state_folder_is_and_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let env = TestEnv::new();
    let state = env.base_folder().join("state");
    env.thru_call(&["init"]).with_variable("XDG_STATE_HOME", &state).run().assert_ok();
    assert!(!env.home_folder().join(".local").exists());
    let folder = state.join("throughline/trust");
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(
        env.run_thru_json(&["status"])["trusted"],
        false,
        "the other state folder knows nothing of it"
    );
}

#[test]
fn another_project_in_the_same_place_is_not_trusted() {
    let env = TestEnv::with_root();
    let mut marker = env.read_marker();
    marker["project_id"] = "0199f0a2-1111-7abc-8def-0123456789ab".into();
    env.write_file("project/.agent/context/root.json", marker.to_string());
    assert_eq!(env.run_thru_json(&["status"])["trusted"], false);
}

#[test]
fn without_a_home_nothing_is_created() {
    let env = TestEnv::new();
    let before = env.file_tree();
    let output = env.thru_call(&["init"]).without_variable("HOME").run().assert_exit_code(15);
    assert!(output.stderr.contains("HOME"), "{output}");
    env.thru_call(&["init"]).with_variable("HOME", "relative/home").run().assert_exit_code(15);
    env.thru_call(&["trust", "--list"]).without_variable("HOME").run().assert_exit_code(15);
    before.assert_unchanged(&env.file_tree(), "no home");
}

#[test]
fn without_a_home_hooks_write_nothing() {
    let env = TestEnv::with_root();
    let before = env.file_tree();
    let payload = env.captured_payload("UserPromptSubmit").to_string();
    env.hook_call("UserPromptSubmit", payload).without_variable("HOME").run().assert_silent("no home");
    for name in ["SessionStart.startup", "SessionStart.resume", "SessionStart.compact"] {
        let payload = env.captured_payload(name).to_string();
        let output = env.hook_call("SessionStart", payload).without_variable("HOME").run();
        output.assert_told_only_where_session_starts(
            name,
            "neither HOME nor XDG_STATE_HOME is set",
            "no home",
        );
    }
    before.assert_unchanged(&env.file_tree(), "no home");
}

#[test]
fn a_project_id_that_is_a_path_is_damage_and_leads_nowhere() {
    let bad_ids =
        ["../../x", "/etc/passwd", "", "0199F0A2-1111-7ABC-8DEF-0123456789AB", "0199f0a2", "a\u{0}b"];
    for id in bad_ids {
        let env = TestEnv::with_root();
        let mut marker = env.read_marker();
        marker["project_id"] = id.into();
        env.write_file("project/.agent/context/root.json", marker.to_string());
        let before = env.file_tree();
        env.run_thru(&["status"]).assert_exit_code(12);
        env.run_thru(&["trust"]).assert_exit_code(12);
        for name in ["SessionStart.startup", "UserPromptSubmit", "PostToolUse.Edit"] {
            env.fire_hook(event_of_fixture(name), &env.captured_payload(name))
                .assert_told_only_where_session_starts(name, "no usable project_id", id);
        }
        before.assert_unchanged(&env.file_tree(), id);
    }
}

#[test]
fn a_trust_record_that_cannot_be_read_turns_hooks_off_and_the_user_is_told() {
    let broken: [(&str, &[u8]); 5] = [
        ("torn", b"{\"schema_version\": 1, \"roots\": ["),
        ("empty", b""),
        ("of another shape", b"[]"),
        ("not text", b"\xff\xfe\x00"),
        ("newer", b"{\"schema_version\": 99, \"roots\": []}"),
    ];
    for (how, bytes) in broken {
        let env = TestEnv::with_root();
        fs::write(env.trust_record_path(), bytes).unwrap();
        let before = env.file_tree();
        let told =
            if how == "newer" { "this thru is older than" } else { "cannot tell whether the records in" };
        for name in fixture_names() {
            env.fire_hook(event_of_fixture(&name), &env.captured_payload(&name))
                .assert_told_only_where_session_starts(&name, told, how);
        }
        env.assert_state_receipts_only(&before, how);
        let doctor = env.run_thru(&["doctor"]).assert_exit_code(1);
        assert!(doctor.stdout.contains(env.trust_record_path().to_str().unwrap()), "{how}: {doctor}");
        // A command that would add to the record must not overwrite a record that it cannot read.
        let code = env.run_thru(&["trust"]).code;
        assert!([12, 13].contains(&code), "{how}: {code}");
        assert_eq!(fs::read(env.trust_record_path()).unwrap(), bytes, "{how}");
    }
}

#[test]
fn a_folder_or_a_pipe_in_place_of_the_trust_record_silences_hooks_too() {
    for how in ["folder", "pipe"] {
        let env = TestEnv::with_root();
        let record = env.trust_record_path();
        fs::remove_file(&record).unwrap();
        match how {
            "folder" => fs::create_dir(&record).unwrap(),
            _ => crate::obstacles::make_pipe(&record),
        }
        let before = env.file_tree();
        env.fire_hook("UserPromptSubmit", &env.captured_payload("UserPromptSubmit")).assert_silent(how);
        env.assert_state_receipts_only(&before, how);
        assert_ne!(env.run_thru(&["status"]).code, 0, "{how}");
    }
}
