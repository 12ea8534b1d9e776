use serde_json::json;

use crate::claude::{ClaudeCode, session_id_of_result};
use crate::model::{RequestKind, ScriptedModel};
use crate::scratch::ScratchProject;
use crate::script::{ModelScript, ScriptStep, call_step, text_step};

const PLAN_TEXT: &str = "# Parser plan\n\n## Steps\n1. Write the lexer\n2. Write the grammar\n3. Write the docs\n\nNothing else changes.\n";

/// The user approves a plan in plan mode. The plan is imported together with the agent's todo list, and changes in that
/// list change the states of the tasks. After a compaction, the brief contains the current task, the blocked tasks, the
/// last evidence, and the user's answer to a question.
#[test]
fn an_approved_plan_is_imported_followed_and_told() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    scratch.write_file("Makefile", "test:\n\t@echo '===== 5 passed in 0.10s ====='\n");
    scratch.run_git(&["add", "Makefile"]);
    ClaudeCode::init_project(&scratch);
    let model = ScriptedModel::start(ModelScript {
        main: vec![text_step("I will write it down.")],
        compact: vec![text_step("<analysis>none</analysis>\n<summary>WHAT-WAS-DONE</summary>")],
        ..ModelScript::default()
    });
    let mut talk = claude.start_conversation_in_plan_mode(&scratch, &model);
    let sid = session_id_of_result(&talk.send_and_wait("Plan the parser"));
    // The harness chooses the name of the plan's file, and the user approves its content.
    let write =
        call_step("Write", json!({ "file_path": plan_path_told_to_model(&model), "content": PLAN_TEXT }));
    let main = vec![write, call_step("ExitPlanMode", json!({})), text_step("The plan is approved.")];
    model.add_answers(ModelScript { main, ..ModelScript::default() });
    talk.send_and_give_permission("Show me the plan");

    model.add_answers(ModelScript {
        main: todo_list_steps(&["Write the lexer", "Write the grammar"]),
        ..ModelScript::default()
    });
    talk.send_and_wait("Keep a list");
    let report = scratch.run_thru_json(&["plan", "import", "--from-session", "--session", &sid]);
    assert_eq!((&report["title"], &report["tasks"]), (&json!("Parser plan"), &json!(3)), "{report}");
    scratch.run_thru_successfully(&["task", "block", "1.3", "no style yet"]);

    model.add_answers(ModelScript { main: todo_progress_steps(), ..ModelScript::default() });
    talk.send_and_wait("Go on");
    assert_eq!(task_status(&scratch, 0), "completed", "the list moved its task");
    assert_eq!(task_status(&scratch, 1), "in_progress");

    let test = call_step("Bash", json!({ "command": "make test", "description": "Run the tests" }));
    model.add_answers(ModelScript { main: vec![test, text_step("They pass.")], ..ModelScript::default() });
    talk.send_and_give_permission("Run the tests");
    let evidence = scratch.run_thru_json(&["evidence", "list"])["tasks"][0].clone();
    assert_eq!(
        (&evidence["task"], &evidence["proof"]),
        (&json!("1.2"), &json!("passed")),
        "a test run that a hook saw is evidence: {evidence}"
    );

    model.add_answers(ModelScript { main: question_steps(), ..ModelScript::default() });
    talk.send_and_answer_question("Ask me what you need to know", &json!({ "Which database?": "SQLite" }));
    let decisions = scratch.run_thru_json(&["decisions", "list"]);
    let decided = &decisions["decisions"][0];
    assert_eq!(
        (&decided["text"], &decided["by"], &decided["source"], &decided["task"]),
        (&json!("Which database? → SQLite"), &json!("user"), &json!("answer"), &json!("1.2")),
        "an answer is a decision at the call: {decisions}"
    );

    model
        .add_answers(ModelScript { main: vec![text_step("I know where we are.")], ..ModelScript::default() });
    talk.send_and_wait("/compact");
    talk.send_and_wait("Where are we?");
    talk.end().assert_success();
    model.assert_script_used_up();
    let asked = model.received_requests();
    let compacted = asked.iter().position(|asked| asked.kind == RequestKind::Compact).expect("a compaction");
    let after = &asked[compacted + 1];
    for needle in [
        "in progress: 1.2 “Write the grammar”",
        "blocked: 1.3 “Write the docs”: no style yet",
        "asked “Which database?”, the user chose “SQLite”",
        "1.2: passed, and no file has changed since: make test (5 passed)",
    ] {
        assert!(after.contains(needle), "{needle:?} reaches the model after a compaction");
    }
    assert_eq!(after.count_occurrences("Which database?"), 1, "the decision is told once");
    scratch.run_thru_successfully(&["plan", "check"]);
}

fn task_status(scratch: &ScratchProject, task: usize) -> String {
    let plan = scratch.run_thru_json(&["plan", "show"]);
    plan["phases"][0]["tasks"][task]["status"].as_str().expect("a status").to_owned()
}

/// Returns the path of the plan file, which the harness names in a request to the model.
fn plan_path_told_to_model(model: &ScriptedModel) -> String {
    let asked = model.received_requests();
    let told =
        asked.iter().find_map(|asked| asked.text_containing("/plans/")).expect("the plan's file is named");
    let words = told.split(|c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | ','));
    let path = words
        .map(|word| word.trim_end_matches('.'))
        .find(|word| word.contains("/plans/") && word.ends_with(".md"));
    path.expect("a path").to_owned()
}

fn todo_list_steps(texts: &[&str]) -> Vec<ScriptStep> {
    let make = |text: &&str| {
        call_step("TaskCreate", json!({ "subject": text, "description": text, "activeForm": text }))
    };
    texts.iter().map(make).chain([text_step("Listed.")]).collect()
}

fn todo_progress_steps() -> Vec<ScriptStep> {
    vec![
        call_step("TaskUpdate", json!({ "taskId": "1", "status": "completed" })),
        call_step("TaskUpdate", json!({ "taskId": "2", "status": "in_progress" })),
        text_step("The lexer is done."),
    ]
}

fn question_steps() -> Vec<ScriptStep> {
    let option = |label: &str| json!({ "label": label, "description": "A database" });
    let question = json!({ "questions": [{
        "question": "Which database?", "header": "Database", "multiSelect": false,
        "options": [option("SQLite"), option("Postgres")],
    }] });
    vec![call_step("AskUserQuestion", question), text_step("SQLite it is.")]
}
