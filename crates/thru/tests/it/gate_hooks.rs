//! What hooks and briefs say about the outputs of sub-agents.

use std::fs;

use serde_json::{Value, json};

use crate::env::TestEnv;

const COMPLETE_MARK: &str = "<!-- AGENT_COMPLETE -->";
const RUN_FOLDER: &str = ".agent/context/outputs/review-20261115T192200Z";

fn brief_after_compaction(env: &TestEnv) -> String {
    // Without this event, the next session start would count as a second report of the same compaction.
    env.fire_event("s1", "PreCompact", json!({"trigger": "auto"}));
    env.fire_event("s1", "SessionStart", json!({"source": "compact"})).context_for_model()
}

fn subagent_fields(kind: &str, id: &str) -> Value {
    json!({"agent_id": id, "agent_type": kind})
}

fn subagent_stop_fields(kind: &str, id: &str, said: &str) -> Value {
    json!({"agent_id": id, "agent_type": kind, "last_assistant_message": said})
}

fn env_expecting_outputs(words: &[&str]) -> TestEnv {
    let env = TestEnv::with_root();
    // With profiles off, hooks tell sub-agents only about their outputs.
    env.write_file(env.user_config_path(), "[profiles]\nmax_chars = 0\n");
    env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Review it"}));
    env.thru_call(&[&["gate", "expect", "review"], words].concat()).run().assert_ok();
    env
}

/// An agent may copy the required last line of an output from a brief, so the brief must quote that line exactly. A
/// brief must not give advice that cannot be followed.
#[test]
fn a_brief_spells_the_last_line_and_advises_what_can_be_done() {
    let env = env_expecting_outputs(&["review-a.md"]);
    env.write_file(format!("project/{RUN_FOLDER}/review-a.md"), "half\n");
    let text = brief_after_compaction(&env);
    assert!(text.contains(&format!("incomplete (its last line is not `{COMPLETE_MARK}`)")), "{text}");
    assert!(!text.contains("thru gate run"), "nothing can be launched: {text}");
    assert!(text.contains("`thru gate prompt FILE`") && text.contains("`thru gate seal FILE`"), "{text}");

    let env = env_expecting_outputs(&["review-a.md", "--", "true"]);
    let text = brief_after_compaction(&env);
    assert!(text.contains("`thru gate run` launches what is missing"), "{text}");
    env.run_thru(&["gate", "run"]).assert_exit_code(4);
    let text = brief_after_compaction(&env);
    assert!(text.contains("`thru gate run --again` launches"), "{text}");
}

/// A record that cannot be read is not ignored: the receipt and the brief report it.
#[test]
fn a_damaged_run_is_told_of() {
    type DamageFn = fn(&TestEnv);
    let rows: &[(DamageFn, &str)] = &[
        (
            |env| drop(env.write_file(format!("project/{RUN_FOLDER}/expected.json"), "{")),
            "expected.json:1: damaged",
        ),
        (|env| fs::remove_dir_all(env.project_folder().join(RUN_FOLDER)).unwrap(), "this run does not exist"),
        (
            |env| drop(env.write_file("project/.agent/context/state/live.json", "{")),
            "state/live.json: damaged",
        ),
    ];
    for (damage, said) in rows {
        let env = env_expecting_outputs(&["review-security.md"]);
        damage(&env);
        let text = brief_after_compaction(&env);
        assert!(text.contains(said) && text.contains("thru gate"), "{said}: {text}");
        for (event, payload) in [
            ("SubagentStart", subagent_fields("security", "a1")),
            ("SubagentStop", subagent_stop_fields("security", "a1", "All is well.")),
        ] {
            env.fire_event("s1", event, payload).assert_silent("nothing is known of an output");
            let receipt = env.read_receipts().pop().unwrap();
            assert_eq!(receipt["outcome"], "failed", "{event}: {receipt}");
            assert!(receipt["error"].as_str().unwrap().contains(said), "{event}: {receipt}");
        }
        assert!(
            brief_after_compaction(&env).contains("hook for subagent-stop failed"),
            "the next brief reports it"
        );
    }
}

#[test]
fn what_is_there_already_is_not_asked_for_again() {
    let env = env_expecting_outputs(&["review-security.md"]);
    let path =
        env.write_file(format!("project/{RUN_FOLDER}/review-security.md"), format!("x\n{COMPLETE_MARK}\n"));
    let text = env.fire_event("s1", "SubagentStart", subagent_fields("security", "a1")).context_for_model();
    assert!(
        text.contains(path.to_str().unwrap()) && text.contains("already exists and is complete"),
        "{text}"
    );
    let line = env.read_journal("s1").into_iter().rfind(|line| line["event"] == "subagent-start").unwrap();
    assert_eq!(line["verdict"], Value::Null, "judged when it stops");
    env.write_file(format!("project/{RUN_FOLDER}/review-security.md"), "x\n");
    let text = env.fire_event("s1", "SubagentStart", subagent_fields("security", "a1")).context_for_model();
    assert!(text.contains("expects one output from this sub-agent"), "{text}");
}

#[test]
fn the_last_messages_of_two_agents_are_both_kept() {
    let env = env_expecting_outputs(&["review-security.md"]);
    env.fire_event("s1", "SubagentStop", subagent_stop_fields("security", "a1", "The first."));
    env.fire_event("s1", "SubagentStop", subagent_stop_fields("security", "a2", "The second."));
    env.fire_event("s1", "SubagentStop", subagent_stop_fields("security", "a2", "The second."));
    let path = env.project_folder().join(RUN_FOLDER).join("review-security.md.last-message.md");
    let kept = fs::read_to_string(&path).unwrap();
    assert_eq!(kept, "The first.\n\n---\n\nThe second.\n", "each once");
    env.fire_event("s1", "SubagentStop", subagent_stop_fields("security", "a4", "The"));
    let kept = fs::read_to_string(&path).unwrap();
    assert_eq!(
        kept, "The first.\n\n---\n\nThe second.\n\n---\n\nThe\n",
        "a part of another is one of its own"
    );
    // Simulates a hook that was killed after it created the file and before it wrote to it.
    fs::write(&path, "").unwrap();
    env.fire_event("s1", "SubagentStop", subagent_stop_fields("security", "a1", "The first."));
    assert_eq!(fs::read_to_string(&path).unwrap(), "The first.\n");
    for n in 0..8 {
        let long = format!("{n}{}", "x".repeat(200 * 1024));
        env.fire_event("s1", "SubagentStop", subagent_stop_fields("security", "a3", &long));
    }
    let kept = fs::read_to_string(&path).unwrap();
    assert!(kept.len() < 1024 * 1024 && kept.starts_with("The first.\n"), "{}", kept.len());
}

#[test]
fn a_sub_agent_with_the_name_of_its_file_is_told_and_judged() {
    let env = env_expecting_outputs(&["review-security.md", "review-style.md"]);
    for kind in ["review-style", "plugin:review-style"] {
        let text = env.fire_event("s1", "SubagentStart", subagent_fields(kind, "a1")).context_for_model();
        assert!(text.contains("review-style.md") && !text.contains("review-security.md"), "{kind}: {text}");
        env.fire_event("s1", "SubagentStop", subagent_stop_fields(kind, "a1", "All is well."));
        let line = env.read_journal("s1").into_iter().rfind(|line| line["event"] == "subagent-stop").unwrap();
        assert_eq!(line["verdict"], "missing", "{kind}: {line}");
    }
    let kept = env.project_folder().join(RUN_FOLDER).join("review-style.md.last-message.md");
    assert_eq!(fs::read_to_string(kept).unwrap(), "All is well.\n");
}

/// The session of a launched sub-agent must write its own output, and must not manage the run.
#[test]
fn a_launched_sub_agent_is_not_told_to_launch_itself() {
    let env = env_expecting_outputs(&["review-a.md", "review-b.md", "--", "true"]);
    let start = |session: &str, output: &str| {
        let payload = env.event_payload(session, "SessionStart", json!({"source": "startup"}));
        let path = env.project_folder().join(output);
        let told = env
            .hook_call("SessionStart", payload.to_string())
            .with_variable("THROUGHLINE_OUTPUT", path)
            .run();
        told.assert_accepted_by_harness("SessionStart");
        told.stdout
    };
    let told = start("s2", &format!("{RUN_FOLDER}/review-a.md"));
    assert!(!told.contains("thru gate run") && !told.contains("review-b.md"), "{told}");
    // This session's output belongs to another run, so the session may be told to start the live run.
    let told = start("s3", "another-run/review-a.md");
    assert!(told.contains("thru gate run"), "{told}");
}

/// A session that `thru gate run` launches is not the user's work, so it does not count as the last session.
#[test]
fn a_launched_session_is_not_the_last_session() {
    let env = TestEnv::with_root();
    let fire = |session: &str, event: &str, more: Value, launched: bool| {
        let call = env.hook_call(event, env.event_payload(session, event, more).to_string());
        let call = if launched { call.with_variable("THROUGHLINE_OUTPUT", "/nowhere/out.md") } else { call };
        call.run().assert_ok();
    };
    for (session, prompt, launched) in
        [("mine", "Write the plan for the slugs", false), ("reviewer", "Review plan.md for style", true)]
    {
        fire(session, "SessionStart", json!({"source": "startup"}), launched);
        fire(session, "UserPromptSubmit", json!({"prompt": prompt}), launched);
        for n in 1..=9 {
            let call = json!({"tool_name": "Read", "tool_use_id": format!("{session}-{n}"),
                "tool_input": {"file_path": env.project_folder().join(format!("{n}.md"))}});
            fire(session, "PostToolUse", call, launched);
        }
        fire(session, "SessionEnd", json!({"reason": "other"}), launched);
    }
    let status = env.run_thru_json(&["status"]);
    assert_eq!(status["last_prompt"], "Write the plan for the slugs", "{status}");
    assert_eq!(status["last_session"]["session"], "mine", "{status}");
    for words in [&["brief"][..], &["brief", "--event", "startup"]] {
        let brief = env.run_thru(words).assert_ok().stdout;
        assert!(brief.contains("Write the plan") && !brief.contains("Review plan.md"), "{brief}");
    }
}

/// The role is found at the end of an output's name, `{skill}-{agent-role}.md`, and of an agent's type. The skill's
/// name can contain hyphens, and the type can have the prefix of a plugin.
#[test]
fn a_role_is_known_by_its_end() {
    let env = env_expecting_outputs(&["code-review-perf.md", "code-review-ux.md", "plan-ux.md"]);
    for kind in ["perf", "cwf:perf", "review-perf"] {
        let text = env.fire_event("s1", "SubagentStart", subagent_fields(kind, "a1")).context_for_model();
        assert!(text.contains("code-review-perf.md"), "{kind}: {text}");
    }
    assert!(
        env.fire_event("s1", "SubagentStart", subagent_fields("ux", "a1"))
            .context_for_model()
            .contains("plan-ux.md"),
        "its whole role"
    );
    for kind in ["erf", "", "review", "md"] {
        env.fire_event("s1", "SubagentStart", subagent_fields(kind, "a1")).assert_silent(kind);
    }
}
