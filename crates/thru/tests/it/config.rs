//! `thru config`: shows every setting with its value and source, and reports each value that was not accepted.

use insta::assert_snapshot;
use serde_json::Value;

use crate::env::TestEnv;

fn value_and_source(config: &Value, key: &str) -> (Value, String) {
    let entries = config["settings"].as_array().unwrap();
    let entry = entries.iter().find(|entry| entry["key"] == key).unwrap();
    (entry["value"].clone(), entry["source"].as_str().unwrap().to_owned())
}

#[test]
fn config_shows_every_default() {
    let env = TestEnv::with_root();
    assert_snapshot!(env.run_thru(&["config"]).to_string(), @"
    exit: 0
    ---- stdout
    hooks.enabled                                 true                           default  false turns every hook off
    hooks.auto_init                               false                          default  true creates a root at the start of a session, if there is none
    hooks.compaction_guidance                     true                           default  true tells the summariser what to keep verbatim, if the harness allows it
    hooks.deadline_ms                             200                            default  time limit for a hook, in ms (a quarter of that for tool calls and compactions); at most half of it is spent waiting for any one lock
    hooks.log_limit_kib                           8192                           default  the size in KiB at which a log is rotated
    loops.no_progress_turns                       3                              default  a loop ends after this many turns in a row without progress; 0 turns this off
    loops.validator_timeout                       300                            default  total seconds that a loop's validators may take; run `thru install` again after changing this
    resume.reminders                              true                           default  remind the agent of unread manifest files while work continues
    resume.inline                                 true                           default  include the text of the files to load, if there is room
    resume.max_age_hours                          72                             default  ignore the state saved before a compaction if it is older than this many hours
    resume.globs                                                                 default  additional manifest paths, separated by commas, e.g. work/*/resume-context.md
    summaries.enabled                             false                          default  true shows the model a summary of a large tool output; `thru swarm retrieve` prints the original
    summaries.threshold_bytes                     16384                          default  an output is summarised if it exceeds this size by more than a quarter
    benchmark.max_rejection_percent               30                             default  `swarm benchmark` fails if more than this percentage of reviews rejected the work
    benchmark.min_test_pass_percent               80                             default  `swarm benchmark` fails if the last test passed in less than this percentage of tested tasks
    benchmark.max_tool_error_percent              20                             default  `swarm benchmark` fails if more than this percentage of tool calls failed
    benchmark.max_hard_limit_hits                 1                              default  `swarm benchmark` fails if more than this many loops ended at a limit
    swarm.domains                                 false                          default  true lets `swarm domains` name the fields of expertise that a text touches on
    redact.emails                                 false                          default  true also redacts e-mail addresses
    output.color                                  auto                           default  colour on the terminal
    roles.dir                                     .agent/context/agents          default  the folder with the roles' context files, relative to the project
    roles.stale_hours                             24                             default  warn about a context file that was last updated more than this many hours ago
    roles.architecture_doc                        docs/architecture.md           default  the document that a recovering role should read
    gates.jobs                                    4                              default  how many outputs `thru gate run` produces at once
    gates.timeout_s                               1800                           default  seconds after which a launched command is killed
    gates.live_state_file                                                        default  a YAML file in the project whose `live.dir` names the live run
    swarm.id                                      default                        default  this project's swarm; its agents' names begin with <id>_ unless it is the default swarm
    swarm.models                                                                 default  the agents' models, e.g. coder=opus, HARNESS:coder=openai/gpt-5; run `thru swarm install` again after changing this
    roots.allow                                                                  default  folders that may be roots, even your home folder and folders that are shared or owned by others; allowed only in your own settings
    brief.scoring.enabled                         false                          default  rank the facts of a brief by score instead of using the fixed order; see docs/scoring.md
    brief.scoring.max_candidates                  100                            default  with scoring: at most this many facts are considered
    brief.scoring.max_tokens                      4000                           default  with scoring: the maximum length of a brief, in estimated tokens
    brief.scoring.decision_decay.mode             exponential                    default  how a decision's weight decays with age: exponential or linear
    brief.scoring.decision_decay.half_life_hours  24                             default  hours after which a decision counts half as much
    brief.scoring.token_ratios.prose              0.25                           default  tokens per character of prose
    brief.scoring.token_ratios.code               0.4                            default  tokens per character of code
    brief.scoring.token_ratios.markdown           0.3                            default  tokens per character of markdown
    brief.scoring.token_ratios.json               0.35                           default  tokens per character of JSON
    brief.scoring.weights.phase                   1                              default  weight of the current phase of the plan
    brief.scoring.weights.current_task            2                              default  weight of the current task
    brief.scoring.weights.blocked_task            1.5                            default  weight of a blocked task
    brief.scoring.weights.recent_failure          2.5                            default  weight of an open failure, failed evidence or a review that rejected the work
    brief.scoring.weights.recent_success          0.5                            default  weight of checks and evidence that passed
    brief.scoring.weights.decision_recency        1.5                            default  weight of a decision, by its age
    brief.scoring.weights.evidence_presence       1                              default  weight of evidence, and of tasks that have evidence
    brief.scoring.weights.dependency_proximity    1                              default  weight of a task that the current one depends on
    brief.scoring.weights.loop                    1                              default  weight of the session's loop
    brief.scoring.weights.role                    1                              default  weight of a role's essentials
    brief.scoring.weights.manifest                1                              default  weight of a workstream's manifest
    brief.scoring.weights.packet                  1                              default  weight of packets
    brief.scoring.weights.outputs                 1                              default  weight of outputs that a gate waits for
    brief.scoring.weights.activity                1                              default  weight of other sessions' activity
    brief.scoring.weights.risk                    1                              default  weight of work that could be lost
    brief.scoring.weights.effects                 1                              default  weight of what was done to the outside world
    brief.scoring.weights.state                   1                              default  weight of the session's state
    brief.scoring.weights.statements              1                              default  weight of what was found and done
    brief.scoring.weights.prompts                 1                              default  weight of what the user asked for and said
    brief.scoring.weights.files                   1                              default  weight of files
    brief.scoring.weights.commands                1                              default  weight of checks, traps and other commands
    brief.scoring.weights.problems                1                              default  weight of problems with hooks
    brief.budget_warnings                         true                           default  tell the agent when its context window is 70 percent full, and again at 90 percent
    brief.model_limits                                                           default  context windows of models in tokens, such as \"my-*\" = 200000; they override the built-in sizes
    swarm.awareness_max_chars                     300                            default  the maximum length of the text about other agents' recent work, in a brief or for a sub-agent
    profiles.max_chars                            2000                           default  the maximum number of characters that a sub-agent is given when it starts; 0 gives it nothing
    profiles.architect                            all                            default  what an architect is given when it starts
    profiles.coder                                task, files, failures          default  what a coder is given when it starts
    profiles.reviewer                             requirements, diff, decisions  default  what a reviewer is given when it starts
    profiles.critic                               plan                           default  what a critic is given when it starts
    profiles.test_engineer                        task, tests, failures          default  what a test engineer is given when it starts
    profiles.explorer                             goal, plan, decisions          default  what an explorer is given when it starts
    profiles.sme                                  goal, plan, decisions          default  what a subject-matter expert is given when it starts
    profiles.general                              goal, task, decisions          default  what any other sub-agent is given when it starts
    ");
}

#[test]
fn each_layer_lies_over_the_one_before() {
    let env = TestEnv::with_root();
    let user = env.user_config_path();
    let project = env.store_folder().join("config.toml");
    let deadline = |env: &TestEnv| value_and_source(&env.run_thru_json(&["config"]), "hooks.deadline_ms");
    assert_eq!(deadline(&env), (200.into(), "default".into()));
    env.write_file(&user, "[hooks]\ndeadline_ms = 300\nlog_limit_kib = 100\n");
    assert_eq!(deadline(&env), (300.into(), user.to_str().unwrap().into()));
    env.write_file(&project, "hooks.deadline_ms = 400\n");
    assert_eq!(deadline(&env), (400.into(), project.to_str().unwrap().into()));
    let config = env
        .thru_call(&["config", "--json"])
        .with_variable("THROUGHLINE_HOOKS_DEADLINE_MS", "500")
        .run()
        .assert_ok()
        .json();
    assert_eq!(
        value_and_source(&config, "hooks.deadline_ms"),
        (500.into(), "$THROUGHLINE_HOOKS_DEADLINE_MS".into())
    );
    assert_eq!(
        value_and_source(&config, "hooks.log_limit_kib"),
        (100.into(), user.to_str().unwrap().into()),
        "merged deep"
    );
    assert_eq!(config["findings"], serde_json::json!([]));
}

#[test]
fn what_is_not_taken_is_named_with_file_and_line() {
    let env = TestEnv::with_root();
    let text = "[hooks]\nenabled = \"maybe\"\ndeadline_ms = 1\nlog_limit_kib = 99999999999\nauto_initt = true\n\n\
                [output]\ncolor = \"pink\"\n\n[nonsense]\nx = 1\n";
    env.write_file("project/.agent/context/config.toml", text);
    let output =
        env.thru_call(&["config"]).with_variable("THROUGHLINE_REDACT_EMAILS", "perhaps").run().assert_ok();
    assert_snapshot!(env.mask_variable_parts(&output.stderr), @"
    warning: $PROJECT/.agent/context/config.toml:2: hooks.enabled must be true or false; this value is ignored
    warning: $PROJECT/.agent/context/config.toml:3: hooks.deadline_ms is 1, which is outside the range 20 to 5000; using 20
    warning: $PROJECT/.agent/context/config.toml:4: hooks.log_limit_kib is 99999999999, which is outside the range 64 to 1048576; using 1048576
    warning: $PROJECT/.agent/context/config.toml:5: unknown setting `hooks.auto_initt` is ignored
      hint: did you mean `hooks.auto_init`?
    warning: $PROJECT/.agent/context/config.toml:8: output.color must be one of auto, always, never; this value is ignored
    warning: $PROJECT/.agent/context/config.toml:10: unknown setting `nonsense` is ignored
      hint: `thru config` lists every setting
    warning: $THROUGHLINE_REDACT_EMAILS: redact.emails must be true or false; this value is ignored
    ");
    let config = env.run_thru_json(&["config"]);
    assert_eq!(value_and_source(&config, "hooks.deadline_ms").0, 20, "clamped");
    assert_eq!(value_and_source(&config, "hooks.log_limit_kib").0, 1_048_576, "clamped");
    assert_eq!(value_and_source(&config, "output.color"), ("auto".into(), "default".into()), "refused");
    let lines: Vec<_> = config["findings"].as_array().unwrap().iter().map(|f| f["line"].as_u64()).collect();
    assert_eq!(lines, [Some(2), Some(3), Some(4), Some(5), Some(8), Some(10)]);
}

#[test]
fn a_file_that_is_no_toml_is_an_error() {
    let env = TestEnv::with_root();
    env.write_file(env.user_config_path(), "[hooks]\nenabled = true\nlog_limit_kib = = 7\n");
    let output = env.run_thru(&["config"]).assert_exit_code(1);
    assert_snapshot!(env.mask_variable_parts(&output.stderr), @"
    error: $HOME/.config/throughline/config.toml:3: not valid TOML: extra `=`, expected nothing
      hint: fix that line; until then the whole file is ignored
    ");
    let doctor = env.run_thru(&["doctor"]).assert_exit_code(1);
    assert!(doctor.stdout.contains("config.toml:3"), "{doctor}");
    env.run_thru(&["status"]).assert_ok();
}

#[test]
fn a_flag_may_be_written_the_way_shells_do() {
    let env = TestEnv::with_root();
    let cases = [
        ("1", true),
        ("true", true),
        ("YES", true),
        ("on", true),
        ("0", false),
        ("false", false),
        ("off", false),
    ];
    for (text, on) in cases {
        let config = env
            .thru_call(&["config", "--json"])
            .with_variable("THROUGHLINE_HOOKS_AUTO_INIT", text)
            .run()
            .assert_ok()
            .json();
        let source = "$THROUGHLINE_HOOKS_AUTO_INIT".to_owned();
        assert_eq!(value_and_source(&config, "hooks.auto_init"), (on.into(), source), "{text}: {config}");
    }
}

#[test]
fn an_old_name_is_still_read_and_the_new_one_is_named() {
    let env = TestEnv::with_root();
    env.write_file("project/.agent/context/config.toml", "[hooks]\ngate_reminders = false\n");
    let output = env.run_thru(&["config"]).assert_ok();
    assert!(
        output.stdout.lines().any(|line| line.starts_with("resume.reminders ") && line.contains(" false ")),
        "{output}"
    );
    assert_snapshot!(env.mask_variable_parts(&output.stderr), @"
    note: $PROJECT/.agent/context/config.toml:2: `hooks.gate_reminders` is now called `resume.reminders`
      hint: the old name still works; rename it when you edit this file
    ");
    let call = env.thru_call(&["config"]).with_variable("THROUGHLINE_HOOKS_GATE_REMINDERS", "1");
    let output = call.with_variable("THROUGHLINE_RESUME_REMINDERS", "0").run().assert_ok();
    assert!(output.stderr.contains(
        "warning: `$THROUGHLINE_HOOKS_GATE_REMINDERS` is ignored, because it is now called `$THROUGHLINE_RESUME_REMINDERS`, which is also set"
    ), "{output}");
    env.run_thru(&["install", "claude-code", "--local"]).assert_ok();
    env.run_thru(&["doctor"]).assert_ok();
}

#[test]
fn an_empty_variable_sets_nothing() {
    let env = TestEnv::with_root();
    let config = env
        .thru_call(&["config", "--json"])
        .with_variable("THROUGHLINE_HOOKS_ENABLED", "")
        .run()
        .assert_ok()
        .json();
    assert_eq!(value_and_source(&config, "hooks.enabled"), (true.into(), "default".into()));
    assert_eq!(config["findings"], serde_json::json!([]), "and is nothing to warn of");
}

#[test]
fn a_byte_order_mark_and_crlf_do_no_harm() {
    let env = TestEnv::with_root();
    env.write_file(env.user_config_path(), "\u{feff}[hooks]\r\ndeadline_ms = 77\r\nbogus = 1\r\n");
    let config = env.run_thru_json(&["config"]);
    assert_eq!(value_and_source(&config, "hooks.deadline_ms").0, 77);
    assert_eq!(config["findings"][0]["line"], 3);
}
