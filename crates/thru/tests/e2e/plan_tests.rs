use serde_json::{Value, json};

use crate::claude::{ClaudeCode, session};
use crate::model::{Kind, Model};
use crate::scratch::Scratch;
use crate::script::{Script, Step, call, say};

const PLAN: &str = "# Parser plan\n\n## Steps\n1. Write the lexer\n2. Write the grammar\n3. Write the docs\n\nNothing else changes.\n";

/// A plan that the user approved in plan mode is imported with the agent's own list, the list moves its tasks, and after a
/// compaction the agent is told the current task and what is blocked.
#[test]
fn an_approved_plan_is_imported_followed_and_told() {
    let Some(claude) = ClaudeCode::find() else { return };
    let scratch = Scratch::new();
    ClaudeCode::init(&scratch);
    let model = Model::start(Script {
        main: vec![call("ExitPlanMode", json!({ "plan": PLAN })), say("The plan is approved.")],
        compact: vec![say("<analysis>none</analysis>\n<summary>WHAT-WAS-DONE</summary>")],
        ..Script::default()
    });
    let arguments = ["--permission-mode", "plan", "--permission-prompt-tool", "stdio"];
    let mut talk = claude.converse(&scratch, &model, &arguments);
    let sid = session(&talk.say_and_allow("Plan the parser"));
    let list = List::of(&model);

    model.then(Script { main: list.make(&["Write the lexer", "Write the grammar"]), ..Script::default() });
    talk.say("Keep a list");
    let report = scratch.thru_json(&["plan", "import", "--from-session", "--session", &sid]);
    assert_eq!((&report["title"], &report["tasks"]), (&json!("Parser plan"), &json!(3)), "{report}");
    scratch.thru_ok(&["task", "block", "1.3", "no style yet"]);

    model.then(Script { main: list.move_on(&["Write the lexer", "Write the grammar"]), ..Script::default() });
    talk.say("Go on");
    assert_eq!(status(&scratch, 0), "completed", "the list moved its task");
    assert_eq!(status(&scratch, 1), "in_progress");

    model.then(Script { main: vec![say("I know where we are.")], ..Script::default() });
    talk.say("/compact");
    talk.say("Where are we?");
    talk.end().assert_success();
    model.assert_played();
    let asked = model.asked();
    let compacted = asked.iter().position(|asked| asked.kind == Kind::Compact).expect("a compaction");
    for needle in ["in progress: 1.2 “Write the grammar”", "blocked: 1.3 “Write the docs”: no style yet"]
    {
        assert!(asked[compacted + 1].holds(needle), "{needle:?} reaches the model after a compaction");
    }
    scratch.thru_ok(&["plan", "check"]);
}

fn status(scratch: &Scratch, task: usize) -> String {
    let plan = scratch.thru_json(&["plan", "show"]);
    plan["phases"][0]["tasks"][task]["status"].as_str().expect("a status").to_owned()
}

/// The tool for lists that this version of the harness gives its model.
enum List {
    Todos,
    Tasks,
}

impl List {
    fn of(model: &Model) -> List {
        let asked = model.asked();
        let tools = asked.last().map(|asked| asked.body["tools"].clone()).unwrap_or_default();
        let has =
            |name: &str| tools.as_array().is_some_and(|tools| tools.iter().any(|tool| tool["name"] == name));
        assert!(has("TodoWrite") || has("TaskCreate"), "a tool for lists: {tools}");
        if has("TodoWrite") { List::Todos } else { List::Tasks }
    }

    fn make(&self, texts: &[&str]) -> Vec<Step> {
        let mut steps: Vec<Step> = match self {
            List::Todos => vec![todos(texts, &["pending", "pending"])],
            List::Tasks => texts
                .iter()
                .map(|text| {
                    call("TaskCreate", json!({ "subject": text, "description": text, "activeForm": text }))
                })
                .collect(),
        };
        steps.push(say("Listed."));
        steps
    }

    fn move_on(&self, texts: &[&str]) -> Vec<Step> {
        let mut steps = match self {
            List::Todos => vec![todos(texts, &["completed", "in_progress"])],
            List::Tasks => vec![
                call("TaskUpdate", json!({ "taskId": "1", "status": "completed" })),
                call("TaskUpdate", json!({ "taskId": "2", "status": "in_progress" })),
            ],
        };
        steps.push(say("The lexer is done."));
        steps
    }
}

fn todos(texts: &[&str], statuses: &[&str]) -> Step {
    let todos: Vec<Value> = texts
        .iter()
        .zip(statuses)
        .map(|(text, status)| json!({ "content": text, "status": status, "activeForm": text }))
        .collect();
    call("TodoWrite", json!({ "todos": todos }))
}
