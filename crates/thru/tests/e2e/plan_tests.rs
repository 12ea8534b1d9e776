use serde_json::json;

use crate::claude::{ClaudeCode, session};
use crate::model::{Kind, Model};
use crate::scratch::Scratch;
use crate::script::{Script, Step, call, say};

const PLAN: &str = "# Parser plan\n\n## Steps\n1. Write the lexer\n2. Write the grammar\n3. Write the docs\n\nNothing else changes.\n";

/// The user approves a plan in plan mode. The plan is imported together with the agent's own list, and changes in
/// the list change the states of its tasks. After a compaction the agent is told the current task, the blocked
/// tasks, the last evidence, and the user's answer to a question.
#[test]
fn an_approved_plan_is_imported_followed_and_told() {
    let Some(claude) = ClaudeCode::find() else { return };
    let scratch = Scratch::new();
    scratch.write("Makefile", "test:\n\t@echo '===== 5 passed in 0.10s ====='\n");
    scratch.git(&["add", "Makefile"]);
    ClaudeCode::init(&scratch);
    let model = Model::start(Script {
        main: vec![say("I will write it down.")],
        compact: vec![say("<analysis>none</analysis>\n<summary>WHAT-WAS-DONE</summary>")],
        ..Script::default()
    });
    let mut talk = claude.converse_in_plan_mode(&scratch, &model);
    let sid = session(&talk.say("Plan the parser"));
    // The harness chooses the name of the plan's file, and the user approves its content.
    let write = call("Write", json!({ "file_path": plan_file(&model), "content": PLAN }));
    let main = vec![write, call("ExitPlanMode", json!({})), say("The plan is approved.")];
    model.then(Script { main, ..Script::default() });
    talk.say_and_allow("Show me the plan");

    model.then(Script { main: make_list(&["Write the lexer", "Write the grammar"]), ..Script::default() });
    talk.say("Keep a list");
    let report = scratch.thru_json(&["plan", "import", "--from-session", "--session", &sid]);
    assert_eq!((&report["title"], &report["tasks"]), (&json!("Parser plan"), &json!(3)), "{report}");
    scratch.thru_ok(&["task", "block", "1.3", "no style yet"]);

    model.then(Script { main: move_list_on(), ..Script::default() });
    talk.say("Go on");
    assert_eq!(status(&scratch, 0), "completed", "the list moved its task");
    assert_eq!(status(&scratch, 1), "in_progress");

    let test = call("Bash", json!({ "command": "make test", "description": "Run the tests" }));
    model.then(Script { main: vec![test, say("They pass.")], ..Script::default() });
    talk.say_and_allow("Run the tests");
    let evidence = scratch.thru_json(&["evidence", "list"])["tasks"][0].clone();
    assert_eq!(
        (&evidence["task"], &evidence["proof"]),
        (&json!("1.2"), &json!("passed")),
        "a test run that a hook saw is evidence: {evidence}"
    );

    model.then(Script { main: ask_the_user(), ..Script::default() });
    talk.say_and_answer("Ask me what you need to know", &json!({ "Which database?": "SQLite" }));
    let decisions = scratch.thru_json(&["decisions", "list"]);
    let decided = &decisions["decisions"][0];
    assert_eq!(
        (&decided["text"], &decided["by"], &decided["source"], &decided["task"]),
        (&json!("Which database? → SQLite"), &json!("user"), &json!("answer"), &json!("1.2")),
        "an answer is a decision at the call: {decisions}"
    );

    model.then(Script { main: vec![say("I know where we are.")], ..Script::default() });
    talk.say("/compact");
    talk.say("Where are we?");
    talk.end().assert_success();
    model.assert_played();
    let asked = model.asked();
    let compacted = asked.iter().position(|asked| asked.kind == Kind::Compact).expect("a compaction");
    let after = &asked[compacted + 1];
    for needle in [
        "in progress: 1.2 “Write the grammar”",
        "blocked: 1.3 “Write the docs”: no style yet",
        "asked “Which database?” the user chose “SQLite”",
        "1.2: passed, and no file has changed since: make test (5 passed)",
    ] {
        assert!(after.holds(needle), "{needle:?} reaches the model after a compaction");
    }
    assert_eq!(after.count("Which database?"), 1, "the decision is told once");
    scratch.thru_ok(&["plan", "check"]);
}

fn status(scratch: &Scratch, task: usize) -> String {
    let plan = scratch.thru_json(&["plan", "show"]);
    plan["phases"][0]["tasks"][task]["status"].as_str().expect("a status").to_owned()
}

/// Returns the path of the file into which the harness tells its model to write the plan.
fn plan_file(model: &Model) -> String {
    let asked = model.asked();
    let told = asked.iter().find_map(|asked| asked.text_with("/plans/")).expect("the plan's file is named");
    let words = told.split(|c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | ','));
    let path = words
        .map(|word| word.trim_end_matches('.'))
        .find(|word| word.contains("/plans/") && word.ends_with(".md"));
    path.expect("a path").to_owned()
}

fn make_list(texts: &[&str]) -> Vec<Step> {
    let make =
        |text: &&str| call("TaskCreate", json!({ "subject": text, "description": text, "activeForm": text }));
    texts.iter().map(make).chain([say("Listed.")]).collect()
}

fn move_list_on() -> Vec<Step> {
    vec![
        call("TaskUpdate", json!({ "taskId": "1", "status": "completed" })),
        call("TaskUpdate", json!({ "taskId": "2", "status": "in_progress" })),
        say("The lexer is done."),
    ]
}

fn ask_the_user() -> Vec<Step> {
    let option = |label: &str| json!({ "label": label, "description": "A database" });
    let question = json!({ "questions": [{
        "question": "Which database?", "header": "Database", "multiSelect": false,
        "options": [option("SQLite"), option("Postgres")],
    }] });
    vec![call("AskUserQuestion", question), say("SQLite it is.")]
}
