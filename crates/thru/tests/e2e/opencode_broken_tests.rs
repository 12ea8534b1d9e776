//! OpenCode with a `thru` that is broken in different ways. In each case, the turn continues, the plugin throws
//! nothing, and no more time is lost than the timeouts allow. The tests share one server and run one after the other.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::model::ScriptedModel;
use crate::opencode::{OpenCode, OpenCodeServer, PATCHING_MODEL, PLUGIN_PATH, ServerSession, wait_until};
use crate::opencode_tests::bash_step;
use crate::scratch::ScratchProject;
use crate::script::{ModelScript, call_step, text_step};

/// The time that is lost if `thru` never answers: two seconds at the first event, and half a second at each of the ten
/// other events of a turn. After the first timeout, the plugin postpones reports of tool calls.
const HANGING_COST: Duration = Duration::from_millis(2_000 + 10 * 500);

/// The time that is lost if the answer is wrong or missing. The plugin does not wait for a better answer. If it did, a
/// turn would take 20 seconds longer.
const IMMEDIATE_COST: Duration = Duration::from_secs(2);

/// The events that [`run_whole_turn`] reports.
const REPORTED_EVENTS: &[&str] = &[
    "session.created",
    "chat.message",
    "tool.execute.after",
    "session.idle",
    "experimental.session.compacting",
    "experimental.text.complete",
    "session.compacted",
    "experimental.chat.messages.transform",
];

/// How many times a turn is tried before it counts as slow. A busy machine slows down a single turn, but a plugin that
/// waits slows down every turn.
const MAX_TRIES: usize = 3;

#[test]
fn thru_is_missing() {
    assert_turn_continues("missing", None, IMMEDIATE_COST);
}

#[test]
fn thru_hangs() {
    assert_turn_continues("hanging", Some("exec sleep 10"), HANGING_COST);
}

/// A turn also continues if a child of `thru` keeps the pipes open after `thru` has been killed.
#[test]
fn thru_hangs_with_a_child() {
    assert_turn_continues("hanging-child", Some("sleep 10; exit"), HANGING_COST);
}

#[test]
fn thru_crashes() {
    assert_turn_continues("crashing", Some("kill -SEGV $$"), IMMEDIATE_COST);
}

#[test]
fn thru_fails() {
    assert_turn_continues("failing", Some("echo '{\"context\":\"NEVER-SHOWN\"}'; exit 1"), IMMEDIATE_COST);
}

#[test]
fn thru_prints_garbage() {
    let script = "printf '{\"context\": 7, \"feed\": [1]} \\000\\377 NEVER-SHOWN'";
    assert_turn_continues("garbage", Some(script), IMMEDIATE_COST);
}

#[test]
fn thru_prints_other_types() {
    let script = "echo '{\"context\": 7, \"feed\": {\"a\": 1}, \"guidance\": []}'";
    assert_turn_continues("types", Some(script), IMMEDIATE_COST);
}

#[test]
fn thru_prints_a_megabyte() {
    let script = "printf '{\"context\":\"NEVER-SHOWN'; head -c 1000000 /dev/zero | tr '\\000' x; echo '\"}'";
    assert_turn_continues("megabyte", Some(script), IMMEDIATE_COST);
}

/// If `thru` times out, only its answer is lost. The tool call is reported after the pause, the stop is reported
/// again, and the missed brief comes with the next prompt.
#[test]
fn a_timeout_loses_no_prompt_no_call_no_stop_and_no_brief() {
    let Some(turn) = ServerTurn::wait_for_turn() else { return };
    let project = turn.create_project(
        "slow",
        Some(
            "[ -e \"$0.hang\" ] && exec sleep 10\ncat >>\"$0.in\"\n\
         case $3 in experimental.chat.messages.transform) echo '{\"context\":\"THE-BRIEF\"}' ;; esac",
        ),
    );
    let session = turn.server.create_session(&project.folder);
    turn.model.add_answers(ModelScript {
        main: vec![
            text_step("First."),
            bash_step("echo IN-THE-PAUSE"),
            text_step("Second."),
            text_step("Third."),
            text_step("Fourth."),
        ],
        compact: vec![text_step("## Objective\nSUMMARY")],
        ..ModelScript::default()
    });
    session.send_and_wait("ONE");
    session.summarize();
    let hang = project.path_with_suffix("hang");
    wait_until("the compaction is told", || project.count_calls("session.compacted") == 1);
    std::fs::write(&hang, "").expect("a file");
    session.send_and_wait("TWO");
    assert!(!turn.model.has_received("THE-BRIEF"));
    wait_until("a stop that hangs", || project.count_calls("session.idle") == 2);
    assert_eq!(project.count_calls("tool.execute.after"), 0, "in the pause");
    std::fs::remove_file(&hang).expect("it was there");
    wait_until("the stop, once more", || project.count_calls("session.idle") == 3);
    let heard = std::fs::read_to_string(project.path_with_suffix("in")).expect("what it was told");
    assert_eq!(heard.matches("echo IN-THE-PAUSE").count(), 1, "the call, after the pause: {heard}");
    session.send_and_wait("THREE");
    session.send_and_wait("FOUR");
    turn.model.assert_script_used_up();
    assert_eq!((project.count_calls("chat.message"), project.count_calls("tool.execute.after")), (4, 1));
    assert_eq!(
        project.count_calls("experimental.chat.messages.transform"),
        2,
        "asked for again, and not once it was given"
    );
    assert_eq!(
        turn.count_in_last_requests(2, "THE-BRIEF"),
        [1, 1],
        "with the next prompt, and in the request behind it"
    );
}

/// If the request for the brief failed, other context that comes with the prompt is not mistaken for the brief.
#[test]
fn other_context_is_not_taken_for_the_brief() {
    let Some(turn) = ServerTurn::wait_for_turn() else { return };
    let project = turn.create_project(
        "reminding",
        Some(
            "cat >/dev/null\ncase $3 in\n\
         experimental.chat.messages.transform) [ -e \"$0.fail\" ] && exit 1; echo '{\"context\":\"THE-BRIEF\"}' ;;\n\
         chat.message) echo '{\"context\":\"A-REMINDER\"}' ;;\nesac",
        ),
    );
    let session = turn.server.create_session(&project.folder);
    turn.model.add_answers(ModelScript {
        main: vec![text_step("First."), text_step("Second."), text_step("Third.")],
        compact: vec![text_step("## Objective\nSUMMARY")],
        ..ModelScript::default()
    });
    session.send_and_wait("ONE");
    session.summarize();
    std::fs::write(project.path_with_suffix("fail"), "").expect("a file");
    session.send_and_wait("TWO");
    assert_eq!(
        (turn.count_in_last_requests(1, "A-REMINDER"), turn.count_in_last_requests(1, "THE-BRIEF")),
        (vec![1], vec![0])
    );
    std::fs::remove_file(project.path_with_suffix("fail")).expect("it was there");
    session.send_and_wait("THREE");
    turn.model.assert_script_used_up();
    assert_eq!(turn.count_in_last_requests(1, "THE-BRIEF"), [1]);
}

/// The plugin tells `thru` which files a patch names, but never sends their text. This is also true if the patch fails.
#[test]
fn no_text_of_a_file_is_told() {
    let Some(turn) = ServerTurn::wait_for_turn() else { return };
    let project = turn.create_project("patched", Some("cat >>\"$0.in\""));
    let patch = |name: &str| {
        format!("*** Begin Patch\n*** Update File: {name}\n@@\n-OLD-TEXT\n+NEW-TEXT\n*** End Patch")
    };
    std::fs::write(project.folder.join("there.txt"), "OLD-TEXT\n").expect("a file");
    let session = turn.server.create_session(&project.folder);
    turn.model.add_answers(ModelScript::main([
        call_step("apply_patch", json!({ "patchText": patch("there.txt") })),
        call_step("apply_patch", json!({ "patchText": patch("absent.txt") })),
        text_step("Patched."),
    ]));
    session.send_to_model("PATCH-IT", PATCHING_MODEL);
    turn.model.assert_script_used_up();
    let heard = std::fs::read_to_string(project.path_with_suffix("in")).expect("what it was told");
    for needle in ["there.txt", "*** Update File: absent.txt"] {
        assert!(heard.contains(needle), "{needle:?} in {heard}");
    }
    assert!(!heard.contains("OLD-TEXT") && !heard.contains("NEW-TEXT"), "{heard}");
}

/// A long answer arrives in pieces, which may end in the middle of a character. It is still read correctly.
#[test]
fn an_answer_is_read_whole_wherever_its_pieces_end() {
    let Some(turn) = ServerTurn::wait_for_turn() else { return };
    let project = turn.create_project(
        "pieces",
        Some(
            "[ \"$3\" = session.idle ] && ! [ -e \"$0.fed\" ] || exec cat >/dev/null\n\
         if grep -q '\"patient\":false'; then echo '{\"wait\":true}'; exit; fi\n\
         touch \"$0.fed\"\nprintf '{\"feed\":\"GO-ON-\\342\\234'; sleep 2; printf '\\223-BY-ALL-MEANS\"}'",
        ),
    );
    turn.model.add_answers(ModelScript::main([text_step("First."), text_step("Second.")]));
    let session = turn.server.create_session(&project.folder);
    session.send_and_wait("BEGIN");
    wait_until("the prompt of the loop", || turn.model.has_received("GO-ON-"));
    assert!(turn.model.has_received("GO-ON-✓-BY-ALL-MEANS"));
    wait_until("the end of the turn", || session.is_idle());
    turn.model.assert_script_used_up();
}

/// Proves that the checks in this file notice an error that a plugin throws. One error is thrown in an event handler,
/// which OpenCode does not await, and the other in a tool call.
#[test]
fn what_a_plugin_throws_is_seen() {
    let Some(turn) = ServerTurn::wait_for_turn() else { return };
    let project = turn.create_project("throwing", Some("cat >/dev/null"));
    let plugin = "export const Throwing = async () => ({\n\
         event: async ({ event }) => { if (event.type === 'session.idle') throw new Error('THROWN-IN-AN-EVENT') },\n\
         'tool.execute.after': async () => { throw new Error('THROWN-IN-A-CALL') },\n})\n";
    std::fs::write(project.folder.join(".opencode/plugins/throwing.js"), plugin).expect("a file");
    let session = turn.server.create_session(&project.folder);
    turn.model.add_answers(ModelScript::main([bash_step("echo working"), text_step("First.")]));
    session.send_and_wait("DO-IT");
    turn.model.assert_script_used_up();
    assert!(turn.model.has_received("THROWN-IN-A-CALL"), "the call is reported as failed");
    wait_until("its stack", || turn.server.stderr().contains("THROWN-IN-AN-EVENT"));
    assert!(!turn.thrown_errors().is_empty());
}

fn assert_turn_continues(how: &str, script: Option<&str>, lost: Duration) {
    let Some(turn) = ServerTurn::wait_for_turn() else { return };
    let usual = *turn.usual.get_or_init(|| {
        let silent = turn.create_project("usual", Some("cat >/dev/null"));
        run_whole_turn(&turn.model, &turn.server.create_session(&silent.folder), "usual")
    });
    let broken = turn.create_project(how, script);
    let before = turn.thrown_errors().len();
    let mut tries =
        (0..MAX_TRIES).map(|_| run_whole_turn(&turn.model, &turn.server.create_session(&broken.folder), how));
    let in_time = tries.any(|took| took < usual * 2 + lost);
    assert!(!turn.model.has_received("NEVER-SHOWN"), "{how}");
    assert_eq!(turn.thrown_errors()[before..], [] as [String; 0], "{how}");
    for event in REPORTED_EVENTS.iter().filter(|_| script.is_some()) {
        let waits = *event == "tool.execute.after" && lost == HANGING_COST;
        assert!(waits || broken.count_calls(event) > 0, "{how}: {event} was told");
    }
    assert!(in_time, "{how}: three turns took longer than {lost:?} and twice the usual {usual:?}");
}

/// Runs a prompt with a call, a compaction and another prompt. Returns how long this takes.
fn run_whole_turn(model: &ScriptedModel, session: &ServerSession, how: &str) -> Duration {
    // The first request in a folder loads the plugins, so this request is sent before the timer starts.
    session.is_idle();
    let started = Instant::now();
    model.add_answers(ModelScript {
        main: vec![bash_step("echo working"), text_step("First."), text_step("Second.")],
        compact: vec![text_step("## Objective\nSUMMARY")],
        ..ModelScript::default()
    });
    for prompt in ["DO-IT", "DO-MORE"] {
        let answer = session.send_and_wait(prompt);
        assert_eq!(answer["info"]["error"], Value::Null, "{how}: {answer}");
        if prompt == "DO-IT" {
            session.summarize();
        }
    }
    model.assert_script_used_up();
    let took = started.elapsed();
    assert!(model.has_received("working"), "{how}: the call did not fail");
    took
}

/// The server that these tests share.
struct SharedServer {
    // Declared first, so that the server stops before its files are removed.
    server: OpenCodeServer,
    model: ScriptedModel,
    scratch: ScratchProject,
    /// How long a turn takes if `thru` immediately returns an empty reply.
    usual: OnceLock<Duration>,
}

static SHARED: Mutex<Weak<SharedServer>> = Mutex::new(Weak::new());
static TURNS: Mutex<()> = Mutex::new(());

/// The right to use the server. Only one test has it at a time, because the whole server waits while `thru` hangs.
struct ServerTurn {
    shared: Arc<SharedServer>,
    _turn: MutexGuard<'static, ()>,
}

impl std::ops::Deref for ServerTurn {
    type Target = SharedServer;

    fn deref(&self) -> &SharedServer {
        &self.shared
    }
}

impl ServerTurn {
    /// Waits until this test may use the shared server. Returns `None` if OpenCode is not installed.
    fn wait_for_turn() -> Option<ServerTurn> {
        let opencode = OpenCode::find_installed()?;
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        let server = shared.upgrade().unwrap_or_else(|| {
            let scratch = ScratchProject::new();
            OpenCode::init_project(&scratch);
            let model = ScriptedModel::start(ModelScript::default());
            let server = opencode.start_server(&scratch, &model, &scratch.project);
            let server = Arc::new(SharedServer { server, model, scratch, usual: OnceLock::new() });
            *shared = Arc::downgrade(&server);
            server
        });
        drop(shared);
        let turn = TURNS.lock().unwrap_or_else(PoisonError::into_inner);
        server.model.clear_script_and_requests();
        Some(ServerTurn { shared: server, _turn: turn })
    }

    /// Returns the errors that plugins have thrown so far: the stack traces on stderr, and the errors in OpenCode's
    /// log.
    fn thrown_errors(&self) -> Vec<String> {
        let stderr = self.server.stderr();
        let is_stack = |line: &&str| line.trim_start().starts_with("at ") || line.contains("Error:");
        let stacks = stderr.lines().filter(is_stack).map(str::to_owned);
        stacks.chain(OpenCode::logged_errors(&self.scratch)).collect()
    }

    /// Counts how often the text occurs in each of the last requests.
    fn count_in_last_requests(&self, requests: usize, needle: &str) -> Vec<usize> {
        let asked = self.model.received_requests();
        asked[asked.len() - requests..].iter().map(|asked| asked.count_occurrences(needle)).collect()
    }

    /// Creates a folder with a plugin that calls this script. Without a script, the plugin calls a program that does
    /// not exist.
    fn create_project(&self, name: &str, script: Option<&str>) -> PluginProject {
        let program = self.scratch.bin_folder().join(format!("thru-{name}"));
        if let Some(script) = script {
            let text = format!("#!/bin/sh\necho \"$3\" >>\"$0.log\"\n{script}\n");
            std::fs::write(&program, text).expect("a file");
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
        }
        let folder = self.scratch.tmp_folder().join(name);
        let plugin = folder.join(PLUGIN_PATH);
        std::fs::create_dir_all(plugin.parent().expect("a folder")).expect("a folder");
        std::fs::write(plugin, plugin_calling(&self.scratch.project.join(PLUGIN_PATH), &program))
            .expect("a file");
        PluginProject { folder: folder.canonicalize().expect("just made"), program }
    }
}

struct PluginProject {
    folder: PathBuf,
    program: PathBuf,
}

impl PluginProject {
    /// Counts how often the script was called for this event.
    fn count_calls(&self, event: &str) -> usize {
        let text = std::fs::read_to_string(self.path_with_suffix("log")).unwrap_or_default();
        text.lines().filter(|line| *line == event).count()
    }

    /// Returns the path of the script with this suffix appended.
    fn path_with_suffix(&self, ending: &str) -> PathBuf {
        PathBuf::from(format!("{}.{ending}", self.program.display()))
    }
}

/// Returns the text of the installed plugin, changed to call another program.
fn plugin_calling(plugin: &Path, program: &Path) -> String {
    let text = std::fs::read_to_string(plugin).expect("it was installed");
    let (before, rest) = text.split_once("{\"thru\":\"").expect("what it was installed with");
    let (_, after) = rest.split_once('"').expect("a path");
    format!("{before}{{\"thru\":\"{}\"{after}", program.display())
}
