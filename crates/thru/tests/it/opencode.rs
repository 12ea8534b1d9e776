//! Tests OpenCode with our plugin's payloads, captured with version 1.18.33, and tests the installation of the plugin.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::call::ThruOutput;
use crate::env::{TestEnv, copy_binary, names_in};

const PLUGIN_PATH: &str = "project/.opencode/plugins/throughline.js";

/// Returns every event with its payload. If an event has several payloads, a word after `@` distinguishes them.
fn captured_payloads() -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/opencode/1.18.33");
    let names = names_in(&folder);
    assert!(names.len() >= 20, "the fixtures are gone: {names:?}");
    let read = |name: &String| serde_json::from_slice(&fs::read(folder.join(name)).unwrap()).unwrap();
    names.iter().map(|name| (name.trim_end_matches(".json").to_owned(), read(name))).collect()
}

fn event_of_payload(name: &str) -> &str {
    name.split('@').next().unwrap()
}

fn fire_event(env: &TestEnv, event: &str, payload: &Value) -> ThruOutput {
    let mut payload = payload.clone();
    payload["cwd"] = json!(env.project_folder());
    env.thru_call(&["hook", "opencode", event]).with_stdin(payload.to_string()).run()
}

#[test]
fn every_captured_payload_leaves_one_line() {
    let env = TestEnv::with_root();
    for (name, payload) in captured_payloads() {
        let session = payload["session_id"].as_str().unwrap().to_owned();
        let before = env.read_journal(&session).len();
        fire_event(&env, event_of_payload(&name), &payload);
        assert_eq!(env.read_journal(&session).len(), before + 1, "{name}");
        let line = env.read_journal(&session).pop().unwrap();
        assert_eq!(line["harness"], "opencode", "{name}");
        let expected = match event_of_payload(&name) {
            "session.created" | "experimental.chat.messages.transform" => "session-start",
            "chat.message" => "prompt",
            "tool.execute.after" => "tool-done",
            "experimental.session.compacting" => "before-compact",
            "experimental.text.complete" => "summary",
            "session.compacted" => "after-compact",
            "subagent.created" => "subagent-start",
            "subagent.idle" => "subagent-stop",
            "session.idle" => "stop",
            "session.deleted" | "dispose" => "session-end",
            _ => "other",
        };
        assert_eq!(line["event"], expected, "{name}");
        if let Some(failed) = name.strip_prefix("tool.execute.after@") {
            assert_eq!(line["ok"], !failed.ends_with("-failed"), "{name}: {line}");
        }
    }
}

#[test]
fn any_field_may_be_missing_or_of_another_type() {
    let env = TestEnv::with_root();
    for (name, payload) in captured_payloads() {
        for field in payload.as_object().unwrap().keys() {
            for value in [Value::Null, json!(7), json!([1])] {
                let mut changed = payload.clone();
                changed[field] = value;
                let output = fire_event(&env, event_of_payload(&name), &changed);
                assert!(output.stderr.is_empty(), "{name}: {field}: {output}");
            }
        }
    }
}

/// The plugin cannot make OpenCode wait for validators, so the reply tells the plugin to report the stop again.
#[test]
fn a_stop_that_cannot_wait_is_told_to_ask_again() {
    let env = TestEnv::with_root();
    let say = |event: &str, fields: Value| {
        let mut payload = json!({ "event": event, "session_id": "ses_1" });
        payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        fire_event(&env, event, &payload).stdout
    };
    let words =
        ["loop", "start", "--next", "Make it green", "--promise", "GREEN", "--validator", "touch ran"];
    env.run_thru(&words).assert_ok();
    let started = say("session.created", json!({ "source": "startup" }));
    assert!(started.contains("\"context\"") && started.contains("the user started loop"), "{started}");
    let fed = say("session.idle", json!({ "message": "Hm.", "message_id": "msg_1", "patient": false }));
    assert!(fed.contains("\"feed\"") && fed.contains("iteration 2"), "{fed}");
    let promise = json!({ "message": "<promise>GREEN</promise>", "message_id": "msg_2", "patient": false });
    assert_eq!(say("session.idle", promise.clone()), r#"{"wait":true}"#);
    assert!(!env.project_folder().join("ran").exists(), "nothing ran");
    let mut patient = promise;
    patient["patient"] = json!(true);
    assert_eq!(say("session.idle", patient), "");
    assert!(env.project_folder().join("ran").exists(), "it was waited for");
    let list: Value =
        serde_json::from_str(&env.run_thru(&["loop", "list", "--json"]).assert_ok().stdout).unwrap();
    assert_eq!(list["loops"][0]["status"], "done", "{list}");
    let shown = env.run_thru(&["journal", "--session", "ses_1", "--json"]).assert_ok().stdout;
    assert_eq!(
        shown.matches("\"event\":\"stop\"").count(),
        2,
        "a stop that is reported twice counts once: {shown}"
    );
}

#[test]
fn before_a_compaction_the_summariser_is_told_the_current_task_and_decisions() {
    let env = TestEnv::with_root();
    for words in [
        &["plan", "init", "Parser plan"][..],
        &["plan", "add", "The lexer"],
        &["task", "add", "Write the tokens"],
        &["task", "add", "Write the grammar"],
        &["task", "start", "1.1"],
        &["decide", "Write the lexer by hand", "--why", "generators hide the errors"],
    ] {
        env.run_thru(words).assert_ok();
    }
    let mut payload = json!({ "session_id": "ses_1", "trigger": "manual" });
    let told = fire_event(&env, "experimental.session.compacting", &payload).json();
    let told = told["guidance"].as_str().unwrap();
    for needle in [
        "Keep verbatim",
        "“The lexer”",
        "- in progress: 1.1",
        "Write the tokens",
        "- decided: Write the lexer by hand",
    ] {
        assert!(told.contains(needle), "{needle:?} in {told}");
    }
    assert!(!told.contains("Write the grammar"), "what is not begun can wait for the brief: {told}");
    let facts = told.lines().filter(|line| line.starts_with("- ")).count();
    assert_eq!(facts, 3, "{told}");
    payload["agent_id"] = json!("ses_2");
    fire_event(&env, "experimental.session.compacting", &payload)
        .assert_silent("a sub-agent has no part in the plan");
}

#[test]
fn the_plugin_is_written_and_taken_away_again() {
    for (words, rel, program) in [
        (&["opencode"][..], PLUGIN_PATH, None),
        (&["opencode", "--user"], "home/.config/opencode/plugins/throughline.js", None),
        (&["opencode", "--project"], PLUGIN_PATH, Some("thru")),
    ] {
        let env = TestEnv::with_repository();
        env.run_thru(&["context", "init"]).assert_ok();
        env.write_file("project/.opencode/opencode.jsonc", "{\n\t// mine\n\t\"model\": \"x/y\",\n}\r\n");
        env.write_file("home/.config/opencode/opencode.json", "{}");
        env.write_file("project/.opencode/plugins/mine.js", "export const Mine = async () => ({})\n");
        let before = env.file_tree();
        let dry = env.run_thru(&[&["install"], words, &["--dry-run"]].concat()).assert_ok().stdout;
        before.assert_unchanged(&env.file_tree(), "a dry run");
        assert!(dry.contains("would create") && dry.contains("+export const Throughline"), "{dry}");
        env.run_thru(&[&["install"], words].concat()).assert_ok();
        let installed = fs::read_to_string(env.base_folder().join(rel)).unwrap();
        let line = installed.lines().find_map(|line| line.strip_prefix("const INSTALLED = ")).unwrap();
        let settings: Value = serde_json::from_str(line).unwrap();
        match program {
            Some(program) => assert_eq!(settings["thru"], program),
            None => assert!(Path::new(settings["thru"].as_str().unwrap()).is_absolute(), "{settings}"),
        }
        let names: Vec<_> =
            settings["commands"].as_array().unwrap().iter().map(|c| c["name"].clone()).collect();
        assert!(names.contains(&json!("handoff")) && names.contains(&json!("loop")), "{names:?}");
        let once = env.file_tree();
        assert!(
            env.run_thru(&[&["install"], words].concat()).assert_ok().stdout.contains("nothing to change")
        );
        once.assert_unchanged(&env.file_tree(), "twice is once");
        env.run_thru(&[&["uninstall"], words].concat()).assert_ok();
        let mut changes = before.content_changes_to(&env.file_tree());
        changes.retain(|change| !change.contains("/.local"));
        assert_eq!(changes, [""; 0], "{words:?}");
    }
}

#[test]
fn one_persons_plugin_does_not_show_in_git_and_a_file_of_the_users_is_left_alone() {
    let env = TestEnv::with_repository();
    env.write_file("home/.config/opencode/opencode.json", "{}");
    env.run_thru(&["init"]).assert_ok();
    assert_eq!(env.run_git(&["status", "--porcelain"]), "");
    env.run_thru(&["uninstall", "opencode"]).assert_ok();
    let exclude = fs::read_to_string(env.project_folder().join(".git/info/exclude")).unwrap();
    assert!(!exclude.contains("throughline") && !exclude.contains(".opencode"), "{exclude}");
    assert!(!env.project_folder().join(".opencode").exists(), "it was not there before");

    env.write_file(PLUGIN_PATH, "// mine\nexport const Mine = async () => ({})\n");
    let left = env.run_thru(&["install", "opencode"]).assert_ok();
    assert!(left.stderr.contains("one of your own files has this name"), "{left}");
    env.run_thru(&["uninstall", "opencode"]).assert_ok();
    assert!(fs::read_to_string(env.base_folder().join(PLUGIN_PATH)).unwrap().starts_with("// mine"));
}

#[test]
fn the_projects_plugin_stays_when_one_persons_goes() {
    let env = TestEnv::with_repository();
    env.run_thru(&["install", "opencode", "--project"]).assert_ok();
    let kept = env.run_thru(&["uninstall", "opencode"]).assert_ok();
    assert!(
        env.base_folder().join(PLUGIN_PATH).exists() && kept.stderr.contains("in another scope"),
        "{kept}"
    );
    env.run_thru(&["uninstall", "opencode", "--project"]).assert_ok();
    assert!(!env.project_folder().join(".opencode").exists());
}

#[test]
fn the_doctor_compares_the_plugin_with_the_binary() {
    let env = TestEnv::with_repository();
    env.run_thru(&["context", "init"]).assert_ok();
    let elsewhere = env.base_folder().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let binary = elsewhere.join("thru");
    copy_binary(&binary);
    env.thru_call(&["install", "opencode"]).with_program(&binary).run().assert_ok();
    let text = fs::read_to_string(env.base_folder().join(PLUGIN_PATH)).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    fs::write(
        env.base_folder().join(PLUGIN_PATH),
        text.replace(&format!("\"version\":\"{version}\""), "\"version\":\"0.0.1\""),
    )
    .unwrap();
    fs::remove_file(binary).unwrap();
    let found = env.run_thru(&["doctor"]).stdout;
    assert!(found.contains("the plugin is version 0.0.1"), "{found}");
    assert!(
        found.contains("which does not exist") && found.contains("`thru install opencode` reinstalls it"),
        "{found}"
    );
    env.run_thru(&["install", "opencode"]).assert_ok();
    let found = env.run_thru(&["doctor"]).assert_ok().stdout;
    assert!(
        found.contains(&format!("(plugin {version})")) && found.contains("no hook has run yet"),
        "{found}"
    );
}

/// If the plugin is installed twice, only one copy is active, so the user need not do anything.
#[test]
fn two_copies_of_the_plugin_are_a_note() {
    let env = TestEnv::with_repository();
    env.run_thru(&["context", "init"]).assert_ok();
    env.run_thru(&["install", "opencode"]).assert_ok();
    env.run_thru(&["install", "opencode", "--user"]).assert_ok();
    let found = env.run_thru(&["doctor"]).assert_ok().stdout;
    assert!(found.contains("note: installed more than once: only one copy is active"), "{found}");
}

#[test]
fn show_tells_what_is_mapped_and_what_cannot_be_done() {
    let env = TestEnv::new();
    let shown = env.run_thru(&["harness", "show", "opencode"]).assert_ok().stdout;
    for needle in [
        "OpenCode (opencode)",
        ".opencode/plugins/throughline.js",
        "a database, read by commands only",
        "$OPENCODE_SESSION_ID",
        "/handoff",
        "experimental.session.compacting",
        "before-compact",
        "in plain `opencode run` a loop continues before the turn ends",
    ] {
        assert!(shown.contains(needle), "{needle:?} in {shown}");
    }
    let json: Value =
        serde_json::from_str(&env.run_thru(&["harness", "show", "droid", "--json"]).assert_ok().stdout)
            .unwrap();
    assert_eq!((&json["name"], &json["calls_from"]), (&json!("droid"), &json!(".factory/hooks.json")));
    env.run_thru(&["harness", "show", "emacs"]).assert_exit_code(2);
}

/// A session in the database. A script that prints the session replaces OpenCode's own program and `sqlite3`.
struct StoredSession {
    env: TestEnv,
}

const DATABASE_ROWS: &str = r#"{"type":"opencode","at":"2026-11-15T19:00:00.000Z","cwd":"CWD","caller":null,"message":"msg_1","role":"user","summary":null,"error":null,"part":{"type":"text","text":"EARLY-PROMPT"}}
{
{"type":"opencode","at":"2026-11-15T19:00:01.000Z","cwd":"CWD","caller":null,"message":"msg_2","role":"assistant","summary":null,"error":null,"part":{"type":"text","text":"EARLY-WORDS"}}
"#;

impl StoredSession {
    fn new() -> StoredSession {
        let env = TestEnv::with_root();
        env.write_file("rows", DATABASE_ROWS.replace("CWD", &env.project_folder().to_string_lossy()));
        env.write_file("home/.local/share/opencode/opencode.db", "");
        StoredSession { env }
    }

    fn write_program(&self, name: &str, script: &str) {
        use std::os::unix::fs::PermissionsExt;
        let path = self.env.base_folder().join("bin").join(name);
        self.env.write_file(&path, format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn run_brief(&self, variables: &[(&str, &str)]) -> ThruOutput {
        let path = format!("{}:/usr/bin:/bin", self.env.base_folder().join("bin").display());
        let mut call = self.env.thru_call(&["brief", "--session", "ses_early"]).with_variable("PATH", path);
        for (name, value) in variables {
            call = call.with_variable(name, value);
        }
        call.run()
    }
}

/// The user's settings could change the output of `sqlite3`, so an option makes `sqlite3` ignore them.
#[test]
fn a_stored_session_is_read_by_sqlite_as_it_comes_and_damaged_rows_are_counted() {
    let stored = StoredSession::new();
    let rows = stored.env.base_folder().join("rows");
    stored.write_program(
        "sqlite3",
        &format!("[ \"$1 $2\" = '-init /dev/null' ] && exec cat '{}'; echo '| a box |'", rows.display()),
    );
    let brief = stored.run_brief(&[]).assert_ok();
    assert!(brief.stdout.contains("EARLY-PROMPT") && brief.stdout.contains("EARLY-WORDS"), "{brief}");
    assert!(brief.stderr.contains("skipped lines of the transcript: 1 torn"), "{brief}");
    let words = ["handoff", "go on", "--session", "ses_early", "--json"];
    let path = format!("{}:/usr/bin:/bin", stored.env.base_folder().join("bin").display());
    let written = stored.env.thru_call(&words).with_variable("PATH", path).run().assert_ok().json();
    let packet = stored.env.run_thru(&["packet", "show", written["id"].as_str().unwrap()]).assert_ok().stdout;
    assert!(packet.contains("1 record of the session could not be read"), "{packet}");
}

/// The output of a query is read completely or not at all.
#[test]
fn a_stored_session_that_is_too_large_is_refused() {
    let stored = StoredSession::new();
    stored.write_program("sqlite3", "head -c 134217729 /dev/zero | tr '\\000' x");
    let refused = stored.run_brief(&[]).assert_exit_code(15);
    assert!(refused.stderr.contains("larger than 128 MB"), "{refused}");
}

#[test]
fn the_database_is_where_the_variable_says() {
    let stored = StoredSession::new();
    let rows = stored.env.base_folder().join("rows");
    stored.write_program(
        "sqlite3",
        &format!(
            "case $5 in */mine.db) exec cat '{}' ;; esac; echo \"no such file: $5\" >&2; exit 1",
            rows.display()
        ),
    );
    let elsewhere = stored.env.base_folder().join("elsewhere/mine.db");
    stored.env.write_file(&elsewhere, "");
    let named = stored.run_brief(&[("OPENCODE_DB", &elsewhere.to_string_lossy())]).assert_ok();
    assert!(named.stdout.contains("EARLY-PROMPT"), "{named}");
    stored.env.write_file("home/.local/share/opencode/mine.db", "");
    let beside = stored.run_brief(&[("OPENCODE_DB", "mine.db")]).assert_ok();
    assert!(beside.stdout.contains("EARLY-PROMPT"), "in the folder of the usual one: {beside}");
    stored.run_brief(&[("OPENCODE_DB", "nowhere.db")]).assert_exit_code(10);
}

/// A query starts the whole OpenCode program. Environment variables keep it from updating itself and installing
/// packages.
#[test]
fn its_own_program_is_asked_offline() {
    let stored = StoredSession::new();
    let seen = stored.env.base_folder().join("seen");
    stored.write_program("opencode", &format!("env >'{}'; printf '[]'", seen.display()));
    stored.run_brief(&[]).assert_exit_code(10);
    let seen = fs::read_to_string(seen).unwrap();
    for variable in [
        "OPENCODE_DISABLE_AUTOUPDATE=1",
        "OPENCODE_DISABLE_MODELS_FETCH=1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS=1",
        "npm_config_offline=true",
        "THROUGHLINE_HOOK=1",
    ] {
        assert!(seen.lines().any(|line| line == variable), "{variable} in {seen}");
    }
}

/// The session crashed in another worktree. Paths in the database and paths that hooks reported are relative to that
/// worktree.
#[test]
fn a_crash_in_another_worktree_names_each_file_once() {
    let stored = StoredSession { env: TestEnv::with_repository() };
    let env = &stored.env;
    env.write_file("home/.local/share/opencode/opencode.db", "");
    env.run_thru(&["init"]).assert_ok();
    let tree = env.base_folder().join("beside");
    env.run_git(&["worktree", "add", "--quiet", "--detach", tree.to_str().unwrap()]);
    let payload = |event: &str, fields: Value| {
        let mut payload = json!({ "event": event, "session_id": "ses_early", "cwd": tree });
        payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        env.thru_call(&["hook", "opencode", event])
            .with_stdin(payload.to_string())
            .in_folder(&tree)
            .run()
            .assert_ok();
    };
    let path = tree.join("a.txt");
    payload("session.created", json!({ "source": "startup" }));
    payload("chat.message", json!({ "prompt": "EARLY-PROMPT", "message_id": "msg_1" }));
    let input = json!({ "filePath": path });
    payload("tool.execute.after", json!({ "tool": "write", "call_id": "c1", "input": input, "result": {} }));
    let part = json!({ "type": "tool", "tool": "edit", "callID": "c2", "state": { "status": "completed", "input": input } });
    let row = json!({
        "type": "opencode", "at": "2026-11-15T19:30:00.000Z", "cwd": tree, "caller": null, "message": "msg_2",
        "role": "assistant", "summary": null, "error": null, "part": part,
    });
    // In a real row, the type comes first, so move it to the front.
    let row =
        format!("{{\"type\":\"opencode\",{}", &row.to_string().replace("\"type\":\"opencode\",", "")[1..]);
    env.write_file("rows", row + "\n");
    stored.write_program("sqlite3", &format!("exec cat '{}'", env.base_folder().join("rows").display()));
    let bin = format!("{}:/usr/bin:/bin", env.base_folder().join("bin").display());
    crate::packet_sweeps::mark_process_dead(env);
    let swept = env.thru_call(&["sweep", "--json"]).with_variable("PATH", bin).run().assert_ok().json();
    let packet = swept[0]["packet"].as_str().unwrap_or_else(|| panic!("{swept}"));
    let packet = env.run_thru(&["packet", "show", packet]).assert_ok().stdout;
    assert!(packet.contains("a.txt") && !packet.contains(path.to_str().unwrap()), "{packet}");
}

/// If a request for a brief gets no answer in time, the plugin repeats it at once. The second request is not treated as
/// a duplicate.
#[test]
fn a_brief_that_is_asked_for_again_is_given_again() {
    let env = TestEnv::with_root();
    let say = |event: &str, fields: Value| {
        let mut payload = json!({ "event": event, "session_id": "ses_1" });
        payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        fire_event(&env, event, &payload).stdout
    };
    say("session.created", json!({ "source": "startup", "report_id": "r1" }));
    say("chat.message", json!({ "prompt": "MAKE-IT-GREEN", "message_id": "msg_1" }));
    say("experimental.session.compacting", json!({ "trigger": "manual" }));
    say("session.compacted", json!({ "trigger": "manual" }));
    let brief = |report: &str| {
        say("experimental.chat.messages.transform", json!({ "source": "compact", "report_id": report }))
    };
    let first = brief("r2");
    assert!(first.contains("MAKE-IT-GREEN"), "{first}");
    assert_eq!(brief("r3"), first);
}

/// If the plugin did not request the brief, the brief comes with the prompt, and the reply marks it as a brief.
#[test]
fn a_brief_that_comes_with_a_prompt_is_marked() {
    let env = TestEnv::with_root();
    let say = |event: &str, fields: Value| {
        let mut payload = json!({ "event": event, "session_id": "ses_1" });
        payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        fire_event(&env, event, &payload).stdout
    };
    say("session.created", json!({ "source": "startup" }));
    say("chat.message", json!({ "prompt": "MAKE-IT-GREEN", "message_id": "msg_1" }));
    say("experimental.session.compacting", json!({ "trigger": "manual" }));
    say("session.compacted", json!({ "trigger": "manual" }));
    let told = say("chat.message", json!({ "prompt": "Go on", "message_id": "msg_2" }));
    assert!(told.contains("\"brief\":true") && told.contains("MAKE-IT-GREEN"), "{told}");
    let told = say("chat.message", json!({ "prompt": "Go on", "message_id": "msg_3" }));
    assert!(!told.contains("brief"), "{told}");
}

/// The report of a stop contains the token count of the last request, and the size of the window.
#[test]
fn a_window_that_fills_up_is_told_once() {
    let env = TestEnv::with_root();
    let say = |event: &str, fields: Value| {
        let mut payload = json!({ "event": event, "session_id": "ses_1" });
        payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        fire_event(&env, event, &payload).stdout
    };
    let prompt = |id: &str| say("chat.message", json!({ "prompt": "Go on", "message_id": id }));
    let stop = |id: &str, last: u64, more: Value| {
        let steps =
            json!([{ "input": 19_000 }, { "input": 1_000, "cache": { "read": last - 1_000, "write": 0 } }]);
        let mut fields = json!({ "message": "Done.", "message_id": id, "patient": true, "steps": steps });
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        say("session.idle", fields)
    };
    let small = || json!({ "model": "local-model", "window": 20_000 });
    say("session.created", json!({ "source": "startup" }));
    prompt("msg_1");
    stop("msg_2", 13_900, small());
    assert_eq!(prompt("msg_3"), "");
    stop("msg_4", 14_400, small());
    let told = prompt("msg_5");
    assert!(told.contains("the context window is 72 % full (14,400 of 20,000 tokens)"), "{told}");
    assert!(told.contains("`/handoff`"), "{told}");
    stop("msg_6", 15_000, small());
    assert_eq!(prompt("msg_7"), "");
    // After a compaction, the window is nearly empty.
    say("experimental.session.compacting", json!({ "trigger": "manual" }));
    say("session.compacted", json!({ "trigger": "manual" }));
    say("experimental.chat.messages.transform", json!({ "source": "compact" }));
    stop("msg_8", 14_000, small());
    assert!(prompt("msg_9").contains("70 % full"));
    // The window size in the settings takes precedence.
    env.write_file(env.store_folder().join("config.toml"), "[brief.model_limits]\n\"local-*\" = 15000\n");
    stop("msg_10", 14_000, small());
    let told = prompt("msg_11");
    assert!(told.contains("93 % full (14,000 of 15,000 tokens)"), "{told}");
}
