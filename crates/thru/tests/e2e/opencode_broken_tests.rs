//! OpenCode with a broken `thru`. There is one test for each way in which `thru` can be broken: the turn continues,
//! the plugin throws nothing, and no more time is lost than the timeouts allow. The tests share one server and run
//! one after the other.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::model::Model;
use crate::opencode::{OpenCode, PATCHING, PLUGIN, Server, Session, until};
use crate::opencode_tests::bash;
use crate::scratch::Scratch;
use crate::script::{Script, call, say};

/// How much time is lost if `thru` never answers: two seconds for the first event, and half a second for each of
/// the ten other events of a turn. During that time the plugin reports no tool calls.
const HANGING: Duration = Duration::from_millis(2_000 + 10 * 500);

/// How much time is lost if the answer is wrong or missing. The plugin does not wait for a better answer; if it
/// did, a turn would take 20 seconds longer.
const AT_ONCE: Duration = Duration::from_secs(2);

/// The events that [`whole_turn`] reports.
const EVENTS: &[&str] = &[
    "session.created",
    "chat.message",
    "tool.execute.after",
    "session.idle",
    "experimental.session.compacting",
    "experimental.text.complete",
    "session.compacted",
    "experimental.chat.messages.transform",
];

/// How many times a slow turn is tried. A busy machine makes one turn slow, but a plugin that waits makes every
/// turn slow.
const TRIES: usize = 3;

#[test]
fn thru_is_missing() {
    goes_on("missing", None, AT_ONCE);
}

#[test]
fn thru_hangs() {
    goes_on("hanging", Some("exec sleep 10"), HANGING);
}

/// The child of `thru` keeps its pipes open after `thru` has been killed.
#[test]
fn thru_hangs_with_a_child() {
    goes_on("hanging-child", Some("sleep 10; exit"), HANGING);
}

#[test]
fn thru_crashes() {
    goes_on("crashing", Some("kill -SEGV $$"), AT_ONCE);
}

#[test]
fn thru_fails() {
    goes_on("failing", Some("echo '{\"context\":\"NEVER-SHOWN\"}'; exit 1"), AT_ONCE);
}

#[test]
fn thru_prints_garbage() {
    let script = "printf '{\"context\": 7, \"feed\": [1]} \\000\\377 NEVER-SHOWN'";
    goes_on("garbage", Some(script), AT_ONCE);
}

#[test]
fn thru_prints_other_types() {
    let script = "echo '{\"context\": 7, \"feed\": {\"a\": 1}, \"guidance\": []}'";
    goes_on("types", Some(script), AT_ONCE);
}

#[test]
fn thru_prints_a_megabyte() {
    let script = "printf '{\"context\":\"NEVER-SHOWN'; head -c 1000000 /dev/zero | tr '\\000' x; echo '\"}'";
    goes_on("megabyte", Some(script), AT_ONCE);
}

/// Only a late answer is lost. A tool call is reported when the pause is over, a stop is reported again, and the
/// brief that was missed comes with the next prompt.
#[test]
fn a_timeout_loses_no_prompt_no_call_no_stop_and_no_brief() {
    let Some(turn) = Turn::take() else { return };
    let project = turn.project(
        "slow",
        Some(
            "[ -e \"$0.hang\" ] && exec sleep 10\ncat >>\"$0.in\"\n\
         case $3 in experimental.chat.messages.transform) echo '{\"context\":\"THE-BRIEF\"}' ;; esac",
        ),
    );
    let session = turn.server.session(&project.folder);
    turn.model.then(Script {
        main: vec![say("First."), bash("echo IN-THE-PAUSE"), say("Second."), say("Third."), say("Fourth.")],
        compact: vec![say("## Objective\nSUMMARY")],
        ..Script::default()
    });
    session.say("ONE");
    session.summarize();
    let hang = project.beside("hang");
    until("the compaction is told", || project.told("session.compacted") == 1);
    std::fs::write(&hang, "").expect("a file");
    session.say("TWO");
    assert!(!turn.model.sent_to_model("THE-BRIEF"));
    until("a stop that hangs", || project.told("session.idle") == 2);
    assert_eq!(project.told("tool.execute.after"), 0, "in the pause");
    std::fs::remove_file(&hang).expect("it was there");
    until("the stop, once more", || project.told("session.idle") == 3);
    let heard = std::fs::read_to_string(project.beside("in")).expect("what it was told");
    assert_eq!(heard.matches("echo IN-THE-PAUSE").count(), 1, "the call, after the pause: {heard}");
    session.say("THREE");
    session.say("FOUR");
    turn.model.assert_played();
    assert_eq!((project.told("chat.message"), project.told("tool.execute.after")), (4, 1));
    assert_eq!(
        project.told("experimental.chat.messages.transform"),
        2,
        "asked for again, and not once it was given"
    );
    assert_eq!(turn.told_last(2, "THE-BRIEF"), [1, 1], "with the next prompt, and in the request behind it");
}

/// If the request for the brief failed, and the hook of the prompt returned something else, that is not taken for
/// the brief.
#[test]
fn other_context_is_not_taken_for_the_brief() {
    let Some(turn) = Turn::take() else { return };
    let project = turn.project(
        "reminding",
        Some(
            "cat >/dev/null\ncase $3 in\n\
         experimental.chat.messages.transform) [ -e \"$0.fail\" ] && exit 1; echo '{\"context\":\"THE-BRIEF\"}' ;;\n\
         chat.message) echo '{\"context\":\"A-REMINDER\"}' ;;\nesac",
        ),
    );
    let session = turn.server.session(&project.folder);
    turn.model.then(Script {
        main: vec![say("First."), say("Second."), say("Third.")],
        compact: vec![say("## Objective\nSUMMARY")],
        ..Script::default()
    });
    session.say("ONE");
    session.summarize();
    std::fs::write(project.beside("fail"), "").expect("a file");
    session.say("TWO");
    assert_eq!((turn.told_last(1, "A-REMINDER"), turn.told_last(1, "THE-BRIEF")), (vec![1], vec![0]));
    std::fs::remove_file(project.beside("fail")).expect("it was there");
    session.say("THREE");
    turn.model.assert_played();
    assert_eq!(turn.told_last(1, "THE-BRIEF"), [1]);
}

/// Only the names of files in a patch are passed on, even if the patch fails.
#[test]
fn no_text_of_a_file_is_told() {
    let Some(turn) = Turn::take() else { return };
    let project = turn.project("patched", Some("cat >>\"$0.in\""));
    let patch = |name: &str| {
        format!("*** Begin Patch\n*** Update File: {name}\n@@\n-OLD-TEXT\n+NEW-TEXT\n*** End Patch")
    };
    std::fs::write(project.folder.join("there.txt"), "OLD-TEXT\n").expect("a file");
    let session = turn.server.session(&project.folder);
    turn.model.then(Script::main([
        call("apply_patch", json!({ "patchText": patch("there.txt") })),
        call("apply_patch", json!({ "patchText": patch("absent.txt") })),
        say("Patched."),
    ]));
    session.say_to("PATCH-IT", PATCHING);
    turn.model.assert_played();
    let heard = std::fs::read_to_string(project.beside("in")).expect("what it was told");
    for needle in ["there.txt", "*** Update File: absent.txt"] {
        assert!(heard.contains(needle), "{needle:?} in {heard}");
    }
    assert!(!heard.contains("OLD-TEXT") && !heard.contains("NEW-TEXT"), "{heard}");
}

/// A long answer arrives in pieces. A piece may end in the middle of a character.
#[test]
fn an_answer_is_read_whole_wherever_its_pieces_end() {
    let Some(turn) = Turn::take() else { return };
    let project = turn.project(
        "pieces",
        Some(
            "[ \"$3\" = session.idle ] && ! [ -e \"$0.fed\" ] || exec cat >/dev/null\n\
         if grep -q '\"patient\":false'; then echo '{\"wait\":true}'; exit; fi\n\
         touch \"$0.fed\"\nprintf '{\"feed\":\"GO-ON-\\342\\234'; sleep 2; printf '\\223-BY-ALL-MEANS\"}'",
        ),
    );
    turn.model.then(Script::main([say("First."), say("Second.")]));
    let session = turn.server.session(&project.folder);
    session.say("BEGIN");
    until("what is fed", || turn.model.sent_to_model("GO-ON-"));
    assert!(turn.model.sent_to_model("GO-ON-✓-BY-ALL-MEANS"));
    until("the end of the turn", || session.is_idle());
    turn.model.assert_played();
}

/// Proves that the checks below would notice a plugin that throws: in an event, whose result nobody waits for, and
/// in a call.
#[test]
fn what_a_plugin_throws_is_seen() {
    let Some(turn) = Turn::take() else { return };
    let project = turn.project("throwing", Some("cat >/dev/null"));
    let plugin = "export const Throwing = async () => ({\n\
         event: async ({ event }) => { if (event.type === 'session.idle') throw new Error('THROWN-IN-AN-EVENT') },\n\
         'tool.execute.after': async () => { throw new Error('THROWN-IN-A-CALL') },\n})\n";
    std::fs::write(project.folder.join(".opencode/plugins/throwing.js"), plugin).expect("a file");
    let session = turn.server.session(&project.folder);
    turn.model.then(Script::main([bash("echo working"), say("First.")]));
    session.say("DO-IT");
    turn.model.assert_played();
    assert!(turn.model.sent_to_model("THROWN-IN-A-CALL"), "the call is reported as failed");
    until("its stack", || turn.server.stderr().contains("THROWN-IN-AN-EVENT"));
    assert!(!turn.thrown().is_empty());
}

fn goes_on(how: &str, script: Option<&str>, lost: Duration) {
    let Some(turn) = Turn::take() else { return };
    let usual = *turn.usual.get_or_init(|| {
        let silent = turn.project("usual", Some("cat >/dev/null"));
        whole_turn(&turn.model, &turn.server.session(&silent.folder), "usual")
    });
    let broken = turn.project(how, script);
    let before = turn.thrown().len();
    let mut tries = (0..TRIES).map(|_| whole_turn(&turn.model, &turn.server.session(&broken.folder), how));
    let in_time = tries.any(|took| took < usual * 2 + lost);
    assert!(!turn.model.sent_to_model("NEVER-SHOWN"), "{how}");
    assert_eq!(turn.thrown()[before..], [] as [String; 0], "{how}");
    for event in EVENTS.iter().filter(|_| script.is_some()) {
        let waits = *event == "tool.execute.after" && lost == HANGING;
        assert!(waits || broken.told(event) > 0, "{how}: {event} was told");
    }
    assert!(in_time, "{how}: three turns took longer than {lost:?} and twice the usual {usual:?}");
}

/// Runs a prompt, a call, a compaction and another prompt.
fn whole_turn(model: &Model, session: &Session, how: &str) -> Duration {
    // The first request in a folder loads its plugins, so it is not timed.
    session.is_idle();
    let started = Instant::now();
    model.then(Script {
        main: vec![bash("echo working"), say("First."), say("Second.")],
        compact: vec![say("## Objective\nSUMMARY")],
        ..Script::default()
    });
    for prompt in ["DO-IT", "DO-MORE"] {
        let answer = session.say(prompt);
        assert_eq!(answer["info"]["error"], Value::Null, "{how}: {answer}");
        if prompt == "DO-IT" {
            session.summarize();
        }
    }
    model.assert_played();
    let took = started.elapsed();
    assert!(model.sent_to_model("working"), "{how}: the call did not fail");
    took
}

/// The server of these tests. The tests that are running or waiting share it.
struct Shared {
    // Declared first, so that the server ends before the files that it uses are removed.
    server: Server,
    model: Model,
    scratch: Scratch,
    /// How long a turn takes if `thru` immediately returns an empty reply.
    usual: OnceLock<Duration>,
}

static SHARED: Mutex<Weak<Shared>> = Mutex::new(Weak::new());
static TURNS: Mutex<()> = Mutex::new(());

/// The right to use the server. Only one test has it at a time, because the whole server waits while `thru` hangs.
struct Turn {
    shared: Arc<Shared>,
    _turn: MutexGuard<'static, ()>,
}

impl std::ops::Deref for Turn {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.shared
    }
}

impl Turn {
    /// Waits for the server. Returns `None` if OpenCode is not installed.
    fn take() -> Option<Turn> {
        let opencode = OpenCode::find()?;
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        let server = shared.upgrade().unwrap_or_else(|| {
            let scratch = Scratch::new();
            OpenCode::init_as_released(&scratch);
            let model = Model::start(Script::default());
            let server = opencode.serve(&scratch, &model, &scratch.project);
            let server = Arc::new(Shared { server, model, scratch, usual: OnceLock::new() });
            *shared = Arc::downgrade(&server);
            server
        });
        drop(shared);
        let turn = TURNS.lock().unwrap_or_else(PoisonError::into_inner);
        server.model.forget();
        Some(Turn { shared: server, _turn: turn })
    }

    /// Returns what plugins have thrown so far: the stacks on stderr, and the errors in OpenCode's log.
    fn thrown(&self) -> Vec<String> {
        let stderr = self.server.stderr();
        let is_stack = |line: &&str| line.trim_start().starts_with("at ") || line.contains("Error:");
        let stacks = stderr.lines().filter(is_stack).map(str::to_owned);
        stacks.chain(OpenCode::logged_errors(&self.scratch)).collect()
    }

    /// Counts how often the text occurs in each of the last requests.
    fn told_last(&self, requests: usize, needle: &str) -> Vec<usize> {
        let asked = self.model.asked();
        asked[asked.len() - requests..].iter().map(|asked| asked.count(needle)).collect()
    }

    /// Creates a folder with a plugin that calls this script, or a program that does not exist.
    fn project(&self, name: &str, script: Option<&str>) -> Project {
        let program = self.scratch.bin().join(format!("thru-{name}"));
        if let Some(script) = script {
            let text = format!("#!/bin/sh\necho \"$3\" >>\"$0.log\"\n{script}\n");
            std::fs::write(&program, text).expect("a file");
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
        }
        let folder = self.scratch.tmp().join(name);
        let plugin = folder.join(PLUGIN);
        std::fs::create_dir_all(plugin.parent().expect("a folder")).expect("a folder");
        std::fs::write(plugin, calling(&self.scratch.project.join(PLUGIN), &program)).expect("a file");
        Project { folder: folder.canonicalize().expect("just made"), program }
    }
}

struct Project {
    folder: PathBuf,
    program: PathBuf,
}

impl Project {
    /// Counts how often the script was called for this event.
    fn told(&self, event: &str) -> usize {
        let text = std::fs::read_to_string(self.beside("log")).unwrap_or_default();
        text.lines().filter(|line| *line == event).count()
    }

    /// Returns a file next to the script: the script's path with this suffix.
    fn beside(&self, ending: &str) -> PathBuf {
        PathBuf::from(format!("{}.{ending}", self.program.display()))
    }
}

/// Returns the installed plugin, changed to call another program.
fn calling(plugin: &Path, program: &Path) -> String {
    let text = std::fs::read_to_string(plugin).expect("it was installed");
    let (before, rest) = text.split_once("{\"thru\":\"").expect("what it was installed with");
    let (_, after) = rest.split_once('"').expect("a path");
    format!("{before}{{\"thru\":\"{}\"{after}", program.display())
}
