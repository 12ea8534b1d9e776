//! OpenCode with a `thru` that is broken, one test for each way: the turn continues, nothing is thrown, and at most the
//! timeout is lost. One server serves them all, one after the other.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::model::Model;
use crate::opencode::{OpenCode, PLUGIN, Server, Session, until};
use crate::opencode_tests::bash;
use crate::scratch::Scratch;
use crate::script::{Script, say};

/// The cost of a `thru` that never answers: two seconds for the first event, and half a second for each of the nine
/// other events of a turn, while tool calls are not reported.
const HANGING: Duration = Duration::from_millis(2_000 + 9 * 500);

/// The cost of a wrong or missing answer: the plugin does not wait for it. If it waited, a turn would cost 20 seconds.
const AT_ONCE: Duration = Duration::from_secs(2);

/// A busy machine makes one turn slow. A plugin that waits makes every turn slow.
const TRIES: usize = 3;

#[test]
fn thru_is_missing() {
    goes_on("missing", None, AT_ONCE);
}

#[test]
fn thru_hangs() {
    goes_on("hanging", Some("exec sleep 10"), HANGING);
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

/// A late answer is lost, but nothing else: later events are reported, except tool calls, and the missed brief comes
/// with the next prompt.
#[test]
fn a_timeout_loses_no_prompt_no_stop_and_no_brief() {
    let Some(turn) = Turn::take() else { return };
    let project = turn.project(
        "slow",
        Some(
            "echo \"$3\" >>\"$0.log\"\n[ -e \"$0.hang\" ] && exec sleep 10\ncat >/dev/null\n\
         case $3 in experimental.chat.messages.transform) echo '{\"context\":\"THE-BRIEF\"}' ;; esac",
        ),
    );
    let session = turn.server.session(&project.folder);
    turn.model.then(Script {
        main: vec![say("First."), say("Second."), bash("echo work"), say("Third.")],
        compact: vec![say("## Objective\nSUMMARY")],
        ..Script::default()
    });
    session.say("ONE");
    session.summarize();
    let (log, hang) = (project.beside("log"), project.beside("hang"));
    let told = |event: &str| {
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        text.lines().filter(|line| *line == event).count()
    };
    until("the compaction is told", || told("session.compacted") == 1);
    std::fs::write(&hang, "").expect("a file");
    session.say("TWO");
    assert!(!turn.model.sent_to_model("THE-BRIEF"));
    until("a stop that hangs", || told("session.idle") == 2);
    std::fs::remove_file(&hang).expect("it was there");
    session.say("THREE");
    until("a stop that is answered", || told("session.idle") == 3);
    turn.model.assert_played();
    assert_eq!((told("chat.message"), told("tool.execute.after")), (3, 0), "in the pause");
    assert_eq!(told("experimental.chat.messages.transform"), 2, "asked for again, and not once it was given");
    let asked = turn.model.asked();
    let briefed: Vec<usize> = asked.iter().rev().take(2).map(|asked| asked.count("THE-BRIEF")).collect();
    assert_eq!(briefed, [1, 1], "with the next prompt, and in the request behind it");
}

/// A long answer arrives in pieces that may end within a character.
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

fn goes_on(how: &str, script: Option<&str>, lost: Duration) {
    let Some(turn) = Turn::take() else { return };
    let usual = *turn.usual.get_or_init(|| {
        let silent = turn.project("usual", Some("cat >/dev/null"));
        whole_turn(&turn.model, &turn.server.session(&silent.folder), "usual")
    });
    let broken = turn.project(how, script);
    let mut tries = (0..TRIES).map(|_| whole_turn(&turn.model, &turn.server.session(&broken.folder), how));
    let in_time = tries.any(|took| took < usual * 2 + lost);
    assert!(!turn.model.sent_to_model("NEVER-SHOWN"), "{how}");
    assert!(in_time, "{how}: three turns took longer than {lost:?} and twice the usual {usual:?}");
}

/// A prompt, a call, a compaction and another prompt.
fn whole_turn(model: &Model, session: &Session, how: &str) -> Duration {
    // The first request of a folder loads its plugins.
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
    started.elapsed()
}

/// The server of these tests, shared by those that run or wait.
struct Shared {
    // It ends before the files it uses are removed.
    server: Server,
    model: Model,
    scratch: Scratch,
    /// The time of a turn if `thru` answers nothing at once.
    usual: OnceLock<Duration>,
}

static SHARED: Mutex<Weak<Shared>> = Mutex::new(Weak::new());
static TURNS: Mutex<()> = Mutex::new(());

/// One test at a time: while `thru` hangs, the whole server waits for it.
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
    /// Returns `None` if OpenCode is not installed.
    fn take() -> Option<Turn> {
        let opencode = OpenCode::find()?;
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        let server = shared.upgrade().unwrap_or_else(|| {
            let scratch = Scratch::new();
            OpenCode::init(&scratch);
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

    /// A folder with a plugin that calls this script, or a missing program.
    fn project(&self, name: &str, script: Option<&str>) -> Project {
        let program = self.scratch.bin().join(format!("thru-{name}"));
        if let Some(script) = script {
            std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("a file");
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
    /// A file next to the script: its own name with this suffix.
    fn beside(&self, ending: &str) -> PathBuf {
        PathBuf::from(format!("{}.{ending}", self.program.display()))
    }
}

/// The installed plugin, with another program.
fn calling(plugin: &Path, program: &Path) -> String {
    let text = std::fs::read_to_string(plugin).expect("it was installed");
    let (before, rest) = text.split_once("{\"thru\":\"").expect("what it was installed with");
    let (_, after) = rest.split_once('"').expect("a path");
    format!("{before}{{\"thru\":\"{}\"{after}", program.display())
}
