//! A swarm in the real harnesses: a whole phase with its verdicts, and read-only agents that cannot write.
//!
//! Droid runs sub-agents only for users who are logged in, and these tests are offline. So with Droid, the main agent
//! does the work of the phase. It then reports to the hook that sub-agents have stopped, in the format that Droid's
//! program uses.

use serde_json::{Value, json};

use crate::claude::ClaudeCode;
use crate::droid::{Droid, ONE_SHOT_ARGUMENTS};
use crate::droid_tests::execute_step;
use crate::model::{RequestKind, ScriptedModel};
use crate::opencode::OpenCode;
use crate::opencode_tests::bash_step;
use crate::process::TestProcess;
use crate::scratch::ScratchProject;
use crate::script::{ModelScript, ScriptStep, call_step, text_step};

const PLAN_COMMANDS: &[&str] =
    &["thru plan init Greeting --phase Words", "thru task add 'Say hello' --phase 1"];

/// The answers of the agents, in the order in which the architect calls them.
const AGENT_ANSWERS: &[(&str, &str)] = &[
    ("explorer", "STRUCTURE: one file\nENTRY POINTS: none\nPATTERNS: none\nDOMAINS: words\nGAPS: none"),
    ("critic", "VERDICT: NEEDS_REVISION\nCONFIDENCE: HIGH\nISSUES:\n- [1.1] which words?\nSUMMARY: nearly"),
    ("critic", "## Verdict\n\n**APPROVED**\n\nCONFIDENCE: HIGH\nISSUES: none\nSUMMARY: good"),
    ("coder", "DONE: hello.txt\nFILES: hello.txt\nCHECKED: none\nOPEN: none"),
    ("reviewer", "**VERDICT:** REJECTED\n**RISK:** MEDIUM\n**ISSUES:**\n- hello.txt:1 it says goodbye"),
    ("coder", "DONE: hello.txt says hello\nFILES: hello.txt\nCHECKED: none\nOPEN: none"),
    ("reviewer", "VERDICT: APPROVED\nRISK: LOW\nISSUES: none"),
    (
        "test_engineer",
        "VERDICT: FAIL\nTESTS: 1 passed, 1 failed\nFAILURES:\n- ends with a newline: it does not",
    ),
    ("coder", "DONE: a newline\nFILES: hello.txt\nCHECKED: none\nOPEN: none"),
    ("test_engineer", "| Field | Value |\n|---|---|\n| Verdict | PASS |\n| Tests | 2 passed |"),
];

/// Returns the steps of the main agent in a whole phase. `delegate` calls an agent, and `shell` runs a command.
fn phase_steps(delegate: fn(&str, &str) -> ScriptStep, shell: fn(&str) -> ScriptStep) -> Vec<ScriptStep> {
    let mut steps = vec![shell("thru swarm agents architect"), shell("thru swarm plan || true")];
    for (number, (agent, _)) in AGENT_ANSWERS.iter().enumerate() {
        if number == 1 {
            steps.extend(PLAN_COMMANDS.iter().map(|line| shell(line)));
        }
        if number == 3 {
            steps.push(shell("thru task start 1.1"));
        }
        steps.push(delegate(agent, &format!("TASK: step {number} for the {agent}")));
    }
    steps.push(shell("thru task done 1.1"));
    steps.push(text_step("The phase is done."));
    steps
}

/// Checks the results of the phase. Also checks that each agent got its own prompt.
fn assert_phase(scratch: &ScratchProject, model: &ScriptedModel) {
    let asked = model.received_requests();
    for agent in ["explorer", "critic", "coder", "reviewer", "test_engineer"] {
        let is_told = |ask: &&crate::model::ReceivedRequest| {
            ask.kind == RequestKind::Subagent
                && ask.contains(&format!("You are `{agent}` of the swarm `default`"))
        };
        assert!(asked.iter().any(|ask| is_told(&ask)), "{agent} was given its prompt");
    }
    assert_recorded(scratch, model);
}

/// Asserts that the evidence contains every verdict in order, that `plan show` shows the state, and that the gate uses
/// the verdicts.
fn assert_recorded(scratch: &ScratchProject, model: &ScriptedModel) {
    model.assert_script_used_up();
    let bundle = std::fs::read(scratch.store_folder().join("evidence/1.1/bundle.json")).expect("a bundle");
    let bundle: Value = serde_json::from_slice(&bundle).expect("JSON");
    let of = |entry: &Value| {
        [&entry["agent"], &entry["type"], &entry["verdict"]]
            .map(|value| value.as_str().unwrap_or("?").to_owned())
    };
    let entries: Vec<[String; 3]> = bundle["entries"].as_array().expect("entries").iter().map(of).collect();
    let expected = [
        ["critic", "review", "warn"],
        ["critic", "review", "approved"],
        ["reviewer", "review", "rejected"],
        ["reviewer", "review", "approved"],
        ["test_engineer", "test", "fail"],
        ["test_engineer", "test", "pass"],
    ];
    assert_eq!(entries, expected.map(|row| row.map(str::to_owned)), "{bundle}");
    let plan = scratch.run_thru_json(&["plan", "show"]);
    assert_eq!(plan["phases"][0]["tasks"][0]["status"], "completed", "{plan}");
    assert_eq!(plan["phases"][0]["status"], "complete", "{plan}");
    let shown = scratch.run_thru_successfully(&["swarm", "plan", "--all"]);
    for line in
        ["critic  NEEDS_REVISION, APPROVED", "reviewer  REJECTED, APPROVED", "test_engineer  FAIL, PASS"]
    {
        assert!(shown.contains(line), "{line} in {shown}");
    }
    scratch.read_receipts().assert_never(&json!({ "outcome": "failed" }));
    assert_gate(scratch);
}

/// Asserts that one rejection in four reviews exceeds a strict limit, but not the default limit.
fn assert_gate(scratch: &ScratchProject) {
    let gate = || scratch.run_thru(&["swarm", "benchmark", "--ci-gate"]);
    let settings = scratch.store_folder().join("config.toml");
    assert!(!settings.exists(), "the defaults apply");
    let usual = gate();
    assert_eq!(usual.status.code(), Some(0), "{}", String::from_utf8_lossy(&usual.stdout));
    std::fs::write(&settings, "[benchmark]\nmax_rejection_percent = 20\n").expect("settings");
    let strict = gate();
    assert_eq!(strict.status.code(), Some(1), "{}", String::from_utf8_lossy(&strict.stdout));
}

fn claude_agent_step(name: &str, prompt: &str) -> ScriptStep {
    call_step(
        "Agent",
        json!({ "description": format!("{name}: step"), "prompt": prompt, "subagent_type": name, "run_in_background": false }),
    )
}

fn shell_step(line: &str) -> ScriptStep {
    call_step("Bash", json!({ "command": line, "description": "Run" }))
}

#[test]
fn a_phase_of_the_swarm_in_claude_code() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    ClaudeCode::init_project(&scratch);
    scratch.run_thru_successfully(&["swarm", "install", "--harness", "claude-code"]);
    let answers = AGENT_ANSWERS.iter().map(|(_, text)| text_step(text)).collect();
    let model = ScriptedModel::start(ModelScript {
        main: phase_steps(claude_agent_step, shell_step),
        subagent: answers,
        ..ModelScript::default()
    });
    let mut talk = claude.start_conversation(&scratch, &model, &[]);
    talk.send_and_wait("/swarm Build the GREETING-OF-ALL");
    talk.end().assert_success();
    assert!(
        model.has_received("GREETING-OF-ALL") && model.has_received("work for the swarm"),
        "the command is ours"
    );
    assert!(model.has_received("You are the architect of the swarm `default`"), "the workflow is read");
    assert_phase(&scratch, &model);
    scratch.assert_healthy();
}

/// The model of each read-only agent tries to write anyway, but cannot.
#[test]
fn a_read_only_agent_cannot_write_in_claude_code() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    ClaudeCode::init_project(&scratch);
    scratch.run_thru_successfully(&["swarm", "install", "--harness", "claude-code", "--swarm", "mega"]);
    let file = scratch.project.join("forbidden.txt");
    let (mut main, mut subagent) = (Vec::new(), Vec::new());
    for name in ["mega_explorer", "mega_sme", "mega_reviewer", "mega_critic"] {
        main.push(claude_agent_step(name, "TRY-TO-WRITE"));
        subagent.push(call_step("Write", json!({ "file_path": file, "content": "no\n" })));
        subagent.push(shell_step(&format!("echo no > {}", file.display())));
        subagent.push(text_step("VERDICT: REJECTED"));
    }
    main.push(claude_agent_step("mega_coder", "TRY-TO-WRITE"));
    let allowed = scratch.project.join("allowed.txt");
    subagent.extend([
        call_step("Write", json!({ "file_path": allowed, "content": "yes\n" })),
        text_step("DONE: it"),
    ]);
    main.push(text_step("Nobody could."));
    let model = ScriptedModel::start(ModelScript { main, subagent, ..ModelScript::default() });
    claude.run_prompt(&scratch, &model, "Let them try", &[]).assert_success();
    model.assert_script_used_up();
    assert!(!file.exists(), "a read-only agent wrote");
    assert!(allowed.exists(), "the coder writes");
    for tool in ["Write", "Bash"] {
        assert!(
            model.has_received(&format!("No such tool available: {tool}")),
            "{tool} is refused by Claude Code"
        );
    }
}

fn opencode_agent_step(name: &str, prompt: &str) -> ScriptStep {
    call_step(
        "task",
        json!({ "description": format!("{name}: step"), "prompt": prompt, "subagent_type": name }),
    )
}

#[test]
fn a_phase_of_the_swarm_in_opencode() {
    let Some(opencode) = OpenCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    OpenCode::install_plugin(&scratch);
    scratch.run_thru_successfully(&["swarm", "install", "--harness", "opencode"]);
    let answers = AGENT_ANSWERS.iter().map(|(_, text)| text_step(text)).collect();
    let model = ScriptedModel::start(ModelScript {
        main: phase_steps(opencode_agent_step, bash_step),
        subagent: answers,
        ..ModelScript::default()
    });
    opencode
        .run_prompt(&scratch, &model, &["--command", "swarm", "Build the GREETING-OF-ALL"])
        .assert_success();
    assert!(
        model.has_received("GREETING-OF-ALL") && model.has_received("work for the swarm"),
        "the command is ours"
    );
    assert!(model.has_received("You are the architect of the swarm `default`"), "the workflow is read");
    assert_phase(&scratch, &model);
}

#[test]
fn a_read_only_agent_cannot_write_in_opencode() {
    let Some(opencode) = OpenCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    OpenCode::install_plugin(&scratch);
    scratch.run_thru_successfully(&["swarm", "install", "--harness", "opencode", "--swarm", "mega"]);
    // OpenCode names a tool after the file or MCP server that adds it. This one is called `extra_touch`.
    let tool = "import { writeFileSync } from \"node:fs\"\n\
        export const touch = { description: \"Write a file\", args: {}, async execute() { writeFileSync(FILE, \"x\"); return \"EXTRA-TOUCHED\" } }\n";
    let extra = scratch.project.join("extra.txt");
    let tools = scratch.project.join(".opencode/tool");
    std::fs::create_dir_all(&tools).expect("a folder");
    std::fs::write(tools.join("extra.js"), tool.replace("FILE", &json!(extra).to_string())).expect("a tool");
    let file = scratch.project.join("forbidden.txt");
    let kept = scratch.project.join("kept.txt");
    std::fs::write(&kept, "kept\n").expect("a file");
    let (mut main, mut subagent) = (Vec::new(), Vec::new());
    for name in ["mega_explorer", "mega_sme", "mega_reviewer", "mega_critic"] {
        main.push(opencode_agent_step(name, "TRY-TO-WRITE"));
        subagent.push(call_step("write", json!({ "filePath": file, "content": "no\n" })));
        subagent.push(bash_step(&format!("echo no > {}", file.display())));
        // All read-only agents have the same permissions, so one agent tries all tools.
        if name == "mega_reviewer" {
            subagent.push(call_step(
                "edit",
                json!({ "filePath": kept, "oldString": "kept", "newString": "lost" }),
            ));
            subagent.push(call_step(
                "apply_patch",
                json!({ "patchText": "*** Begin Patch\n*** Delete File: kept.txt\n*** End Patch" }),
            ));
            subagent.push(opencode_agent_step("mega_coder", "WRITE-FOR-ME"));
            subagent.push(call_step("extra_touch", json!({})));
        }
        subagent.push(text_step("VERDICT: REJECTED"));
    }
    main.push(opencode_agent_step("mega_coder", "TRY-TO-WRITE"));
    let allowed = scratch.project.join("allowed.txt");
    subagent.extend([
        call_step("write", json!({ "filePath": allowed, "content": "yes\n" })),
        call_step("extra_touch", json!({})),
        text_step("DONE: it"),
    ]);
    main.push(text_step("Nobody could."));
    let model = ScriptedModel::start(ModelScript { main, subagent, ..ModelScript::default() });
    opencode.run_prompt(&scratch, &model, &["Let them try"]).assert_success();
    model.assert_script_used_up();
    assert!(!file.exists(), "a read-only agent wrote");
    assert_eq!(std::fs::read_to_string(&kept).expect("it is there"), "kept\n");
    assert!(allowed.exists() && extra.exists(), "the coder writes");
    for tool in ["write", "edit", "apply_patch", "bash", "task", "extra_touch"] {
        assert!(model.has_received(&format!("unavailable tool '{tool}'")), "{tool} is refused by OpenCode");
    }
}

/// Returns a step that runs instead of a sub-agent. It reports the sub-agent's stop to the hook, in Droid's format.
fn agent_end_step(name: &str, prompt: &str) -> ScriptStep {
    let number: usize = prompt.split(' ').find_map(|word| word.parse().ok()).expect("the number of the step");
    let payload = json!({
        "session_id": "$ID", "transcript_path": "", "cwd": "$PWD", "permission_mode": "auto-low",
        "hook_event_name": "SubagentStop", "task_name": format!("{name}: step"), "task_result": AGENT_ANSWERS[number].1,
        "stop_hook_active": false,
    });
    execute_step(&format!(
        "ID=$(basename .agent/context/sessions/*.jsonl .jsonl)\nthru hook droid SubagentStop <<END\n{}\nEND",
        payload.to_string().replace('\\', "\\\\")
    ))
}

#[test]
fn a_phase_of_the_swarm_in_droid_without_its_sub_agents() {
    let Some(droid) = Droid::find_installed() else { return };
    let scratch = ScratchProject::new();
    Droid::init_project(&scratch);
    scratch.run_thru_successfully(&["swarm", "install", "--harness", "droid"]);
    let model = ScriptedModel::start(ModelScript::main(phase_steps(agent_end_step, execute_step)));
    let mut command = droid.droid_command(&scratch, &model);
    command.args(ONE_SHOT_ARGUMENTS).args(["--add-tools", "Task"]).arg("/swarm Build the GREETING-OF-ALL");
    TestProcess::start(command).close_and_wait().assert_success();
    assert!(
        model.has_received("GREETING-OF-ALL") && model.has_received("work for the swarm"),
        "the command is ours"
    );
    assert!(model.has_received("You are the architect of the swarm `default`"), "the workflow is read");
    assert_recorded(&scratch, &model);
    let asked = model.received_requests();
    let first = asked.iter().find(|asked| asked.kind == RequestKind::Main).expect("a request");
    // Our commands have not printed the names of the agents yet, so the names come from Droid.
    assert!(first.contains("test_engineer"), "Droid offers our agents");
}

/// Instead of a sub-agent, the test runs a session with exactly the tools of the agent's definition.
#[test]
fn the_tools_of_a_read_only_agent_cannot_write_in_droid() {
    let Some(droid) = Droid::find_installed() else { return };
    let scratch = ScratchProject::new();
    Droid::init_project(&scratch);
    scratch.run_thru_successfully(&["swarm", "install", "--harness", "droid", "--swarm", "mega"]);
    let (file, allowed) = (scratch.project.join("forbidden.txt"), scratch.project.join("allowed.txt"));
    let create =
        |file: &std::path::Path| call_step("Create", json!({ "file_path": file, "content": "text\n" }));
    let run = |tools: &[&str], steps: Vec<ScriptStep>| {
        let model = ScriptedModel::start(ModelScript::main(steps));
        let mut command = droid.droid_command(&scratch, &model);
        command.args(ONE_SHOT_ARGUMENTS).args(tools).arg("Try to write");
        TestProcess::start(command).close_and_wait().assert_success();
        model.assert_script_used_up();
        model
    };
    for name in ["mega_explorer", "mega_sme", "mega_reviewer", "mega_critic"] {
        let path = scratch.project.join(format!(".factory/droids/{name}.md"));
        let text = std::fs::read_to_string(path).expect("it was installed");
        let tools = text.lines().find_map(|line| line.strip_prefix("tools: ")).expect("its tools");
        let tools: Vec<String> = serde_json::from_str(tools).expect("a list");
        let write = format!("echo no > {}", file.display());
        let model = run(
            &["--only-tools", &tools.join(",")],
            vec![create(&file), execute_step(&write), text_step("Nobody could.")],
        );
        for tool in ["Create", "Execute"] {
            let refusal = format!("Tool {tool} is not permitted in this exec session");
            assert!(model.has_received(&refusal), "{name}: {tool} is refused by Droid");
        }
    }
    assert!(!file.exists(), "a read-only agent wrote");
    let coder =
        std::fs::read_to_string(scratch.project.join(".factory/droids/mega_coder.md")).expect("it too");
    assert!(!coder.contains("\ntools:"), "the coder has every tool");
    run(&[], vec![create(&allowed), text_step("Written.")]);
    assert!(allowed.exists(), "without that list it is written");
}
