//! Tests how the outputs of sub-agents are judged, and what agents and users learn about them.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::env::{TestEnv, names_in};

const COMPLETE_MARK: &str = "<!-- AGENT_COMPLETE -->";
const RUN_FOLDER: &str = ".agent/context/outputs/review-20261115T192200Z";

fn run_folder(env: &TestEnv) -> PathBuf {
    env.project_folder().join(RUN_FOLDER)
}

fn write_output(env: &TestEnv, file: &str, text: &str) -> PathBuf {
    env.write_file(format!("project/{RUN_FOLDER}/{file}"), text)
}

/// Returns each file with its verdict, in the order of `expected.json`.
fn gate_verdicts(env: &TestEnv) -> Vec<(String, String)> {
    let output = env.thru_call(&["gate", "check", "--json"]).run();
    let rows = output.json()["outputs"].as_array().unwrap().clone();
    let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
    rows.iter().map(|row| (text(row, "file"), text(row, "verdict"))).collect()
}

/// Tests the protocol's table of verdicts with real files.
#[test]
fn every_verdict_on_disk() {
    let env = TestEnv::with_root();
    env.write_file("project/plan.md", "v1\n");
    let rows: &[(&str, &str, &str)] = &[
        ("review-missing.md", "", "missing"),
        ("review-empty.md", "", "empty"),
        ("review-blank.md", " \n\n", "empty"),
        ("review-only.md", "\n{}\n", "empty"),
        ("review-last.md", "a\n{}\n", "valid"),
        ("review-middle.md", "a\n{}\nb\n", "incomplete"),
        ("review-none.md", "a\n", "incomplete"),
        ("review-fence.md", "```\n{}\n```\n", "incomplete"),
        ("review-open-fence.md", "```\n{}\n", "incomplete"),
        ("review-spaces.md", "a\n{}  \n\n", "valid"),
        ("review-crlf.md", "a\r\n{}\r\n", "valid"),
        ("review-two.md", "a\n{}\nb\n{}\n", "valid"),
        ("review-large.md", "", "unsafe"),
        ("review-link.md", "", "unsafe"),
        ("review-folder.md", "", "unsafe"),
    ];
    let mut words = vec!["gate", "expect", "review", "--input", "plan.md", "--critical"];
    words.extend(rows.iter().map(|(file, _, _)| *file));
    env.run_thru(&words).assert_ok();
    for (file, text, verdict) in rows {
        if !matches!(*verdict, "missing" | "unsafe") {
            write_output(&env, file, &text.replace("{}", COMPLETE_MARK));
        }
    }
    write_output(&env, "review-large.md", &format!("{}\n{COMPLETE_MARK}\n", "x".repeat(6 * 1024 * 1024)));
    symlink("review-last.md", run_folder(&env).join("review-link.md")).unwrap();
    fs::create_dir(run_folder(&env).join("review-folder.md")).unwrap();
    let wanted: Vec<_> = rows.iter().map(|(file, _, verdict)| ((*file).into(), (*verdict).into())).collect();
    assert_eq!(gate_verdicts(&env), wanted);

    env.write_file("project/plan.md", "v2\n");
    let stale = |all: &[(String, String)], word| all.iter().filter(|(_, verdict)| verdict == word).count();
    assert_eq!(
        (stale(&gate_verdicts(&env), "stale"), stale(&gate_verdicts(&env), "valid")),
        (4, 0),
        "other inputs"
    );
    env.write_file("project/plan.md", "v1\n");
    assert_eq!(gate_verdicts(&env), wanted, "the content counts, not the time");

    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
    fs::File::open(run_folder(&env).join("review-last.md")).unwrap().set_modified(old).unwrap();
    let verdict = gate_verdicts(&env).into_iter().find(|(file, _)| file == "review-last.md").unwrap().1;
    assert_eq!(verdict, "stale", "of before the run");
}

#[test]
fn a_name_that_leads_out_is_unsafe_and_never_opened() {
    let env = TestEnv::with_root();
    env.run_thru(&["gate", "expect", "review", "review-a.md"]).assert_ok();
    env.write_file("project/elsewhere.md", format!("x\n{COMPLETE_MARK}\n"));
    let expected = json!({ "stage": "review", "outputs": [
        { "file": "../../../../elsewhere.md" }, { "file": "/etc/hostname", "tier": "advisory" }, "review-a.md",
    ] });
    write_output(&env, "expected.json", &expected.to_string());
    write_output(&env, "review-a.md", &format!("x\n{COMPLETE_MARK}\n"));
    let words: Vec<String> = gate_verdicts(&env).into_iter().map(|(_, verdict)| verdict).collect();
    assert_eq!(words, ["unsafe", "unsafe", "valid"]);
    env.run_thru(&["gate", "run"]).assert_exit_code(4);
}

#[test]
fn the_line_and_the_exit_code_of_each_gate() {
    let env = TestEnv::with_root();
    env.run_thru(&["gate", "expect", "review", "--critical", "review-a.md", "--advisory", "review-b.md"])
        .assert_ok();
    let before = env.file_tree();
    assert_snapshot!(env.mask_variable_parts(&env.run_thru(&["gate", "check"]).to_string()), @r#"
    exit: 4
    ---- stdout
    Stage review, attempt 1, in $PROJECT/.agent/context/outputs/review-20261115T192200Z
      missing     critical  review-a.md  there is no such file
          hint: have it written: `thru gate prompt review-a.md` prints the instruction
      missing     advisory  review-b.md  there is no such file
          hint: have it written: `thru gate prompt review-b.md` prints the instruction
    PERSISTENCE_GATE=HARD_FAIL
    ---- stderr
    error: a critical output is not valid; the stage cannot continue
    "#);
    before.assert_unchanged(&env.file_tree(), "check");
    write_output(&env, "review-a.md", &format!("fine\n{COMPLETE_MARK}\n"));
    write_output(&env, "review-b.md", "half\n");
    let soft = env.run_thru(&["gate", "check"]).assert_exit_code(3);
    assert!(soft.stdout.ends_with("\nPERSISTENCE_GATE=SOFT_CONTINUE\n"), "{soft}");
    let sealed = env.run_thru(&["gate", "seal", "review-b.md"]).assert_ok();
    assert!(sealed.stdout.starts_with("Sealed "), "{sealed}");
    assert_eq!(
        fs::read_to_string(run_folder(&env).join("review-b.md")).unwrap(),
        format!("half\n\n{COMPLETE_MARK}\n")
    );
    let pass = env.run_thru(&["gate", "check"]).assert_exit_code(0);
    assert!(pass.stdout.ends_with("\nPERSISTENCE_GATE=PASS\n") && pass.stderr.is_empty(), "{pass}");
}

#[test]
fn what_is_missing_of_the_protocol_is_named_with_the_command_that_makes_it() {
    let env = TestEnv::with_root();
    for words in
        [&["gate", "check"][..], &["gate", "run"], &["gate", "prompt", "review-a.md"], &["gate", "live"]]
    {
        let output = env.run_thru(words).assert_exit_code(10);
        let named = [
            "no run is live: ",
            "state/live.json does not exist",
            "`thru gate expect STAGE",
            "`thru gate live --set DIR`",
        ];
        assert!(named.iter().all(|part| output.stderr.contains(part)), "{words:?}: {output}");
    }
    let output = env.run_thru(&["gate", "check", "--stage", "review"]).assert_exit_code(10);
    assert!(output.stderr.contains("`thru gate expect review --critical"), "{output}");

    env.write_file("project/stage/notes.md", "");
    env.run_thru(&["gate", "live", "--set", "stage"]).assert_ok();
    let output = env.run_thru(&["gate", "check"]).assert_exit_code(10);
    assert_snapshot!(env.mask_variable_parts(&output.to_string()), @r#"
    exit: 10
    ---- stderr
    error: $PROJECT/stage/expected.json: there is no such file, so nothing is expected here
    hint:  `thru gate expect STAGE --critical FILE…` creates it
    "#);
    env.write_file("project/stage/expected.json", "{\"outputs\": [\n  {\"file\": 7}\n");
    let output = env.run_thru(&["gate", "check"]).assert_exit_code(12);
    assert_snapshot!(env.mask_variable_parts(&output.to_string()), @r#"
    exit: 12
    ---- stderr
    error: $PROJECT/stage/expected.json:3: damaged: not JSON: EOF while parsing a list at line 3 column 0
    hint:  fix it, or let `thru gate expect STAGE --critical FILE…` create a new run
    "#);
    env.write_file(
        "project/stage/expected.json",
        "{\"outputs\": [{\"file\": \"a.md\", \"tier\": \"high\"}]}",
    );
    let output = env.run_thru(&["gate", "run"]).assert_exit_code(12);
    assert!(output.stderr.contains("outputs[0].tier must be `critical` or `advisory`"), "{output}");
    assert_eq!(env.thru_call(&["gate", "check", "--json"]).run().json()["error"]["kind"], "damaged");
    env.write_file("project/stage/expected.json", "{\"outputs\": []}");
    let output = env.run_thru(&["gate", "check"]).assert_exit_code(12);
    assert!(output.stderr.contains("outputs is empty, so nothing is expected"), "{output}");

    env.write_file("project/.agent/context/state/live.json", "{\"dir\": ");
    let output = env.run_thru(&["gate", "check"]).assert_exit_code(12);
    assert!(output.stderr.contains("state/live.json: damaged"), "{output}");
    env.write_file("project/.agent/context/state/live.json", "{\"dir\": \"nowhere\"}");
    let output = env.run_thru(&["gate", "check"]).assert_exit_code(10);
    assert!(output.stderr.contains("project/nowhere: this run does not exist"), "{output}");
    env.write_file("project/.agent/context/state/live.json", "{\"dir\": \"../elsewhere\"}");
    let output = env.run_thru(&["gate", "check"]).assert_exit_code(10);
    assert!(output.stderr.contains("is not a folder inside this project"), "{output}");
    env.run_thru(&["gate", "live", "--clear"]).assert_ok();
    env.run_thru(&["gate", "live"]).assert_exit_code(10);
}

#[test]
fn usage_is_checked_before_anything_is_made() {
    let env = TestEnv::with_root();
    let before = env.file_tree();
    for (words, said) in [
        (&["review"][..], "no settings file defines [stages.review]"),
        (&["re/view", "a.md"], "cannot be an id"),
        (&["review", "../a.md"], "cannot be an id"),
        (&["review", "--critical", "a.md", "--advisory", "a.md"], "`a.md` is named twice"),
        (&["review", "omissions.md"], "is reserved for the run itself"),
    ] {
        let output = env.thru_call(&[&["gate", "expect"], words].concat()).run().assert_exit_code(2);
        assert!(output.stderr.contains(said), "{words:?}: {output}");
    }
    let output = env
        .run_thru(&["gate", "expect", "review", "review-a.md", "--input", "nowhere.md"])
        .assert_exit_code(10);
    assert!(output.stderr.contains("nowhere.md: there is no such file"), "{output}");
    env.run_thru(&["gate", "expect", "review", "review-a.md", "--input", "../x"]).assert_exit_code(10);
    before.assert_unchanged(&env.file_tree(), "refused");
}

/// An orchestrator with its own folders states in a live-state file which run is current, and `thru gate` uses that
/// run.
#[test]
fn a_live_state_file_names_the_run() {
    let env = TestEnv::with_root();
    env.write_file("project/.agent/context/config.toml", "[gates]\nlive_state_file = \".cwf/state.yaml\"\n");
    let output = env.run_thru(&["gate", "check"]).assert_exit_code(10);
    assert!(output.stderr.contains(".cwf/state.yaml does not exist"), "{output}");
    env.write_file(
        "project/.cwf/state.yaml",
        "tools: x\nlive:\n  session_id: \"S1\"\n  dir: \".cwf/p/01-x\"\n",
    );
    env.write_file("project/.cwf/p/01-x/review-a.md", format!("x\n{COMPLETE_MARK}\n"));
    let made = env.run_thru_json(&["gate", "expect", "review", "review-a.md"]);
    assert!(made["run"].as_str().unwrap().ends_with("project/.cwf/p/01-x"), "{made}");
    assert_eq!(env.run_thru_json(&["gate", "live"])["from"], "live-state-file");
    assert_eq!(gate_verdicts(&env)[0].1, "valid", "the clock of the test stands in the past");
    let made = env.run_thru_json(&["gate", "expect", "review", "review-b.md"]);
    assert_eq!(made["set_aside"], "expected.json.replaced-20261115T192200Z");
    assert!(env.project_folder().join(".cwf/p/01-x/expected.json.replaced-20261115T192200Z").exists());
}

#[test]
fn what_cannot_be_expected_changes_nothing() {
    let env = TestEnv::with_root();
    env.run_thru(&["gate", "expect", "review", "review-a.md"]).assert_ok();
    let secret = env.write_file("project/secret.txt", "x\n");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).unwrap();
    let (live, runs) = (env.run_thru_json(&["gate", "live"]), names_in(&env.store_folder().join("outputs")));
    let words = ["gate", "expect", "review", "review-b.md", "--input", "secret.txt"];
    env.call_bound_by_modes(&words).run().assert_exit_code(11);
    assert_eq!(
        (env.run_thru_json(&["gate", "live"]), names_in(&env.store_folder().join("outputs"))),
        (live, runs)
    );
    assert_eq!(gate_verdicts(&env)[0].0, "review-a.md");
}

#[test]
fn a_stage_can_be_defined_once_for_all_runs() {
    let env = TestEnv::with_root();
    let config = "[stages.review]\ncritical = [\"review-a.md\"]\nprompt = \"You are {role}.\"\n\
                  launch = [\"sh\", \"-c\", \"(cat; echo '<!-- AGENT_COMPLETE -->') > $THROUGHLINE_OUTPUT\"]\n";
    env.write_file("project/.agent/context/config.toml", config);
    let shown = env.run_thru(&["config"]).assert_ok().stdout;
    assert!(shown.contains("stages.review  1 output  "), "{shown}");
    // A stage definition in the project launches nothing until the user agrees. After that, every run of the same
    // definition launches its commands.
    env.run_thru(&["gate", "run", "--stage", "review"]).assert_exit_code(15);
    let output =
        env.thru_call(&["gate", "run", "--stage", "review", "--adopt"]).run_on_terminal("y\n").assert_ok();
    assert!(output.stdout.ends_with("PERSISTENCE_GATE=PASS\r\n"), "{output}");
    env.run_thru(&["gate", "expect", "review"]).assert_ok();
    env.run_thru(&["gate", "run"]).assert_ok();
    let text = fs::read_to_string(run_folder(&env).join("review-a.md")).unwrap();
    assert!(text.starts_with("You are a.\n\nWrite your complete result to this file: "), "{text}");

    env.write_file("project/.agent/context/config.toml", "[stages.review]\ncritical = 7\n");
    let output = env.run_thru(&["gate", "expect", "review"]).assert_exit_code(15);
    assert!(output.stderr.contains("config.toml:2: stages.review.critical must be a list"), "{output}");
    env.run_thru(&["config"]).assert_exit_code(1);
}

#[test]
fn each_run_has_a_folder_of_its_own() {
    let env = TestEnv::with_root();
    let first = env.run_thru_json(&["gate", "expect", "review", "review-a.md"]);
    let second = env.run_thru_json(&["gate", "expect", "review", "review-a.md"]);
    assert_eq!(second["run"].as_str().unwrap(), format!("{}-2", first["run"].as_str().unwrap()));
    assert_eq!(env.run_thru_json(&["gate", "live"])["run"], second["run"]);
    env.run_thru(&["gate", "live", "--set", "review-20261115T192200Z"]).assert_ok();
    assert_eq!(env.run_thru_json(&["gate", "live"])["run"], first["run"]);
    env.run_thru(&["gate", "expect", "plan", "plan-a.md"]).assert_ok();
    let check =
        env.thru_call(&["gate", "check", "--stage", "review", "--json"]).run().assert_exit_code(4).json();
    assert_eq!(check["run"], second["run"], "the newest of the stage, not the live one");
}

#[test]
fn a_seal_is_put_where_it_counts() {
    let env = TestEnv::with_root();
    env.run_thru(&["gate", "expect", "review", "x.md", "link.md", "none.md"]).assert_ok();
    let path = run_folder(&env).join("x.md");
    for (text, sealed) in [
        ("a", format!("a\n\n{COMPLETE_MARK}\n")),
        ("a\n\n", format!("a\n\n{COMPLETE_MARK}\n")),
        ("a\r\nb\r\n", format!("a\r\nb\r\n\r\n{COMPLETE_MARK}\r\n")),
        (&format!("a\n{COMPLETE_MARK}"), format!("a\n{COMPLETE_MARK}")),
        (&format!("a\n{COMPLETE_MARK}\nb\n"), format!("a\n{COMPLETE_MARK}\nb\n\n{COMPLETE_MARK}\n")),
    ] {
        fs::write(&path, text).unwrap();
        let inode = fs::metadata(&path).unwrap().ino();
        env.run_thru(&["gate", "seal", "x.md"]).assert_ok();
        assert_eq!(fs::read_to_string(&path).unwrap(), sealed, "{text:?}");
        assert_eq!(fs::metadata(&path).unwrap().ino(), inode, "appended, not replaced");
        env.run_thru(&["gate", "seal", path.to_str().unwrap()]).assert_ok();
        assert_eq!(fs::read_to_string(&path).unwrap(), sealed, "twice is once");
    }
    fs::write(&path, "a\n```sh\nb\n").unwrap();
    let output = env.run_thru(&["gate", "seal", "x.md"]).assert_exit_code(15);
    assert!(output.stderr.contains("x.md:2: this line opens a code fence"), "{output}");
    fs::write(&path, "\n").unwrap();
    env.run_thru(&["gate", "seal", "x.md"]).assert_exit_code(15);
    symlink("x.md", run_folder(&env).join("link.md")).unwrap();
    env.run_thru(&["gate", "seal", "link.md"]).assert_exit_code(15);
    let output = env.run_thru(&["gate", "seal", "none.md"]).assert_exit_code(10);
    assert!(output.stderr.contains("there is no such file yet"), "{output}");
}

#[test]
fn only_what_a_run_expects_is_sealed() {
    let env = TestEnv::with_root();
    env.write_file("project/README.md", "hello\n");
    env.run_thru(&["gate", "seal", "README.md"]).assert_exit_code(15);
    env.run_thru(&["gate", "expect", "review", "review-a.md"]).assert_ok();
    for folder in [env.project_folder(), run_folder(&env), env.base_folder().to_owned()] {
        let path = folder.join("README.md");
        fs::write(&path, "hello\n").unwrap();
        let output = env.run_thru(&["gate", "seal", path.to_str().unwrap()]).assert_exit_code(15);
        assert!(output.stderr.contains("no run expects this file"), "{output}");
        assert_eq!(fs::read_to_string(path).unwrap(), "hello\n");
    }
}

/// A session start examines only a limited number of outputs, and reads only the end of a large output.
#[test]
fn a_brief_looks_at_a_run_briefly() {
    let env = TestEnv::with_root();
    let files: Vec<String> = (0..40).map(|n| format!("review-{n:02}.md")).collect();
    let words: Vec<&str> =
        ["gate", "expect", "review"].into_iter().chain(files.iter().map(String::as_str)).collect();
    env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
    env.run_thru(&words).assert_ok();
    let large = "x".repeat(3 * 1024 * 1024);
    write_output(&env, "review-00.md", &format!("{large}\n\n{COMPLETE_MARK}\n"));
    write_output(&env, "review-01.md", &large);
    let brief = env.fire_event("s1", "SessionStart", json!({"source": "compact"})).stdout;
    assert!(!brief.contains("review-00.md") && brief.contains("review-01.md"), "{brief}");
    assert!(brief.contains("19 more, and 8 not examined"), "{brief}");
    assert_eq!(env.run_thru_json(&["status"])["outputs"]["open"].as_array().map(Vec::len), Some(39));
}

#[test]
fn the_instruction_names_the_file() {
    let env = TestEnv::with_root();
    env.run_thru(&["gate", "expect", "review", "review-a.md"]).assert_ok();
    let output = env.run_thru(&["gate", "prompt", "review-a.md"]).assert_ok();
    assert_snapshot!(env.mask_variable_parts(&output.to_string()), @r#"
    exit: 0
    ---- stdout
    Write your complete result to this file: $PROJECT/.agent/context/outputs/review-20261115T192200Z/review-a.md
    Only the file is read; what you say in your last message is not.
    When everything is written, make this the last line of the file, alone on its line and outside any code block:
    <!-- AGENT_COMPLETE -->
    A file that does not end with that line counts as unfinished, and the work is given to somebody else.
    "#);
    let output = env.run_thru(&["gate", "prompt", "review-b.md"]).assert_exit_code(2);
    assert!(output.stderr.contains("does not expect this file"), "{output}");
}

#[test]
fn a_sub_agent_is_told_and_its_verdict_is_kept() {
    let env = TestEnv::with_root();
    let agent = |kind: &str| json!({"agent_id": "a1", "agent_type": kind});
    env.fire_event("s1", "SubagentStart", agent("security")).assert_silent("no run is live");
    env.run_thru(&["gate", "expect", "review", "review-security.md", "review-ux.md", "plan-ux.md"])
        .assert_ok();
    let told = env.fire_event("s1", "SubagentStart", agent("security")).json();
    let output = &told["hookSpecificOutput"];
    assert_eq!(output["hookEventName"], "SubagentStart");
    let path = run_folder(&env).join("review-security.md");
    let context = output["additionalContext"].as_str().unwrap();
    assert!(context.contains(path.to_str().unwrap()) && context.contains(COMPLETE_MARK), "{context}");
    for other in ["ux", "general-purpose", ""] {
        env.fire_event("s1", "SubagentStart", agent(other)).assert_silent(other);
    }

    let token = format!("ghp_{}", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8");
    let said = format!("All is well, by the way {token}");
    let stop = json!({"agent_id": "a1", "agent_type": "security", "last_assistant_message": said});
    env.fire_event("s1", "SubagentStop", stop.clone()).assert_silent("it never forces");
    let line = env.read_journal("s1").into_iter().rfind(|line| line["event"] == "subagent-stop").unwrap();
    assert_eq!(line["verdict"], "missing");
    assert_eq!(line["output"], format!("{RUN_FOLDER}/review-security.md"));
    let kept = fs::read_to_string(run_folder(&env).join("review-security.md.last-message.md")).unwrap();
    assert!(kept.starts_with("All is well") && !kept.contains(&token), "{kept}");
    assert!(!path.exists(), "never as the output itself");
    let check = env.run_thru(&["gate", "check"]).assert_exit_code(4);
    assert!(check.stdout.contains("review-security.md.last-message.md"), "{check}");

    write_output(&env, "review-security.md", &format!("x\n{COMPLETE_MARK}\n"));
    env.fire_event("s1", "SubagentStop", stop).assert_silent("valid");
    let line = env.read_journal("s1").into_iter().rfind(|line| line["event"] == "subagent-stop").unwrap();
    assert_eq!(line["verdict"], "valid");
}

/// A hook writes only to the store, even if the run's folder is outside the store.
#[test]
fn the_last_message_for_a_run_that_is_not_ours_is_kept_in_the_store() {
    let env = TestEnv::with_root();
    env.write_file(
        "project/.cwf/p/01-x/expected.json",
        json!({"outputs": ["review-security.md"]}).to_string(),
    );
    env.run_thru(&["gate", "live", "--set", ".cwf/p/01-x"]).assert_ok();
    let stop = json!({"agent_id": "a1", "agent_type": "security", "last_assistant_message": "All is well."});
    env.fire_event("s1", "SubagentStop", stop).assert_silent("it never forces");
    assert_eq!(names_in(&env.project_folder().join(".cwf/p/01-x")), ["expected.json"]);
    let kept = env.store_folder().join("outputs/01-x/review-security.md.last-message.md");
    assert_eq!(fs::read_to_string(&kept).unwrap(), "All is well.\n");
    let check = env.thru_call(&["gate", "check", "--json"]).run().assert_exit_code(4).json();
    assert_eq!(check["outputs"][0]["last_message"], kept.to_str().unwrap());
}

#[test]
fn the_brief_and_the_status_name_what_is_open() {
    let env = TestEnv::with_root();
    env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Review it"}));
    env.run_thru(&["gate", "expect", "review", "--critical", "review-a.md", "--advisory", "review-b.md"])
        .assert_ok();
    write_output(&env, "review-b.md", &format!("x\n{COMPLETE_MARK}\n"));
    env.fire_event("s1", "PreCompact", json!({"trigger": "auto"}));
    let brief = env.fire_event("s1", "SessionStart", json!({"source": "compact"})).context_for_model();
    let open =
        format!("Sub-agent outputs that are still open:\n- {RUN_FOLDER}/review-a.md, critical: missing\n");
    assert!(brief.contains(&open) && !brief.contains("review-b.md"), "{brief}");
    let status = env.run_thru(&["status"]).assert_ok().stdout;
    assert!(status.contains("1 of 2 open") && status.contains("missing review-a.md"), "{status}");
    assert_eq!(env.run_thru_json(&["status"])["outputs"]["open"][0]["verdict"], "missing");

    write_output(&env, "review-a.md", &format!("x\n{COMPLETE_MARK}\n"));
    let brief = env.fire_event("s1", "SessionStart", json!({"source": "compact"})).stdout;
    assert!(!brief.contains("still open"), "{brief}");
    assert!(env.run_thru(&["status"]).assert_ok().stdout.contains("all 2 valid"));
    env.run_thru(&["doctor"]).assert_ok();
    write_output(&env, "expected.json", "{");
    env.fire_event("s1", "SessionStart", json!({"source": "compact"}))
        .assert_accepted_by_harness("a damaged record keeps nobody from working");
    assert!(env.run_thru(&["status"]).assert_ok().stdout.contains("expected.json:1: damaged"));
    let doctor = env.run_thru(&["doctor"]).assert_exit_code(1);
    assert!(doctor.stdout.contains("expected.json:1"), "{doctor}");
}
