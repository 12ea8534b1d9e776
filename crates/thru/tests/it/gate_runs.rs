//! `thru gate run` with commands that succeed, fail, hang, write nothing, write an incomplete output, or succeed only
//! the second time.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::env::TestEnv;

const COMPLETE_MARK: &str = "<!-- AGENT_COMPLETE -->";

/// A command that writes a complete output at once.
const OUTPUT_COMMAND: &str =
    "echo ok; printf 'report\\n<!-- AGENT_COMPLETE -->\\n' > \"$THROUGHLINE_OUTPUT\"";

/// A run of a stage, in the folder `run` of the project.
struct TestStage {
    env: TestEnv,
}

impl TestStage {
    /// Creates a run. Each output has a file, a tier and a shell line. Each launch adds a line to the file `launches`.
    fn new(outputs: &[(&str, &str, &str)]) -> TestStage {
        let stage = TestStage { env: TestEnv::with_root() };
        let output = |(file, tier, line): &(&str, &str, &str)| {
            let line = format!("echo {file} >> launches; {line}");
            json!({ "file": file, "tier": tier, "prompt": format!("Make {file}."), "launch": ["sh", "-c", line] })
        };
        let outputs: Vec<Value> = outputs.iter().map(output).collect();
        let expected = json!({ "schema_version": 1, "stage": "review", "attempt": 1, "outputs": outputs });
        stage.env.make_allowed_live_run("run", &expected);
        stage
    }

    fn run_gate(&self, words: &[&str]) -> crate::call::ThruOutput {
        self.env.thru_call(&[&["gate", "run"], words].concat()).run()
    }

    fn output_path(&self, file: &str) -> PathBuf {
        self.env.project_folder().join("run").join(file)
    }

    fn read_output(&self, file: &str) -> String {
        fs::read_to_string(self.output_path(file)).unwrap_or_default()
    }

    /// Returns the output file of each launch, in the order of the launches.
    fn launched_files(&self) -> Vec<String> {
        let text = fs::read_to_string(self.env.project_folder().join("launches")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn count_launches(&self, file: &str) -> usize {
        self.launched_files().iter().filter(|launched| *launched == file).count()
    }

    fn recorded_attempts(&self) -> Vec<u64> {
        let expected: Value = serde_json::from_str(&self.read_output("expected.json")).unwrap();
        expected["outputs"].as_array().unwrap().iter().map(|o| o["attempts"].as_u64().unwrap_or(0)).collect()
    }
}

/// The list of outputs cannot change while a run is in progress.
#[test]
fn nothing_is_expected_anew_in_a_run_at_work() {
    let wait = "while ! [ -e go ]; do sleep 0.02; done";
    let stage = TestStage::new(&[("review-a.md", "critical", &format!("{wait}; {OUTPUT_COMMAND}"))]);
    let running = stage.env.thru_call(&["gate", "run"]);
    let running = std::thread::spawn(|| running.run());
    while stage.count_launches("review-a.md") == 0 {
        std::thread::sleep(Duration::from_millis(10));
    }
    let before = stage.read_output("expected.json");
    for words in [&["gate", "expect", "review", "review-b.md"][..], &["gate", "run"]] {
        let busy = stage.env.run_thru(words).assert_exit_code(14);
        assert!(busy.stderr.contains("`thru gate run` (process "), "{busy}");
    }
    assert_eq!(stage.read_output("expected.json"), before);
    stage.env.write_file("project/go", "");
    running.join().unwrap().assert_exit_code(0);
    stage.env.run_thru(&["gate", "expect", "review", "review-b.md"]).assert_ok();
}

#[test]
fn exactly_the_invalid_ones_are_launched_at_most_twice() {
    let stage = TestStage::new(&[
        ("review-there.md", "critical", OUTPUT_COMMAND),
        ("review-good.md", "critical", OUTPUT_COMMAND),
        ("review-second.md", "critical", &format!("test -e second && {{ {OUTPUT_COMMAND}; }}; touch second")),
        ("review-fails.md", "advisory", "echo oh no >&2; exit 3"),
        ("review-hangs.md", "advisory", "echo before; sleep 600"),
        ("review-silent.md", "advisory", "true"),
        ("review-half.md", "advisory", "echo half > \"$THROUGHLINE_OUTPUT\""),
        ("review-nowhere.md", "advisory", "exec /no/such/program"),
    ]);
    stage.env.write_file("project/run/review-there.md", format!("of before\n{COMPLETE_MARK}\n"));
    let output = stage.run_gate(&["--jobs", "8", "--timeout", "1"]).assert_exit_code(3);
    assert!(output.stdout.ends_with("PERSISTENCE_GATE=SOFT_CONTINUE\n"), "{output}");
    assert_eq!(stage.recorded_attempts(), [0, 1, 2, 2, 2, 2, 2, 2]);
    let times = ["there", "good", "second", "fails", "hangs", "silent", "half", "nowhere"]
        .map(|name| stage.count_launches(&format!("review-{name}.md")));
    assert_eq!(times, [0, 1, 2, 2, 2, 2, 2, 2]);
    assert_eq!(stage.read_output("review-there.md"), format!("of before\n{COMPLETE_MARK}\n"));

    for (file, said) in [
        ("review-fails.md", "oh no\n=== exit 3 after"),
        ("review-hangs.md", "before\n=== timed out after"),
        ("review-good.md", "ok\n=== exit 0 after"),
    ] {
        let log = stage.read_output(&format!("{file}.launch.log"));
        assert!(log.starts_with("=== 2026-11-15T19:22:0") && log.contains(said), "{file}: {log}");
    }
    let aside = |name: &String| name.starts_with("review-half.md.set-aside-");
    let kept = crate::env::names_in(&stage.env.project_folder().join("run"));
    assert_eq!(kept.iter().filter(|name| aside(name)).count(), 1, "the first half is kept: {kept:?}");
    let omissions = stage.read_output("omissions.md");
    assert!(
        omissions.contains("`review-half.md`: incomplete") && !omissions.contains("review-good"),
        "{omissions}"
    );
    // Without a terminal, there is one line for each event, and no escape sequences.
    for line in
        ["reused    review-there.md", "launched  review-second.md (launch 2)", "valid     review-second.md ("]
    {
        assert!(output.stderr.contains(line), "{line}: {output}");
    }
    assert!(!output.stderr.contains(['\r', '\u{1b}']), "{output}");

    let again = stage.run_gate(&["--timeout", "1"]).assert_exit_code(3);
    assert_eq!(stage.recorded_attempts(), [0, 1, 2, 2, 2, 2, 2, 2], "{again}");
    assert_eq!(stage.launched_files().len(), times.iter().sum::<usize>(), "nothing more without --again");
    stage.env.write_file("project/run/review-silent.md", format!("by hand\n{COMPLETE_MARK}\n"));
    fs::remove_file(stage.output_path("review-half.md")).unwrap();
    stage.run_gate(&["--again", "--timeout", "1"]).assert_exit_code(3);
    assert_eq!(stage.count_launches("review-silent.md"), 2, "it is valid now");
    assert_eq!(stage.count_launches("review-half.md"), 4);
    let expected: Value = serde_json::from_str(&stage.read_output("expected.json")).unwrap();
    assert_eq!((&expected["attempt"], &expected["outputs"][5]["attempts"]), (&json!(2), &json!(2)));
}

#[test]
fn a_hard_fail_lists_what_to_do_and_launches_nothing_until_it_is_told_to() {
    let stage = TestStage::new(&[
        ("review-bad.md", "critical", "exit 1"),
        ("review-soft.md", "advisory", "exit 1"),
        ("review-good.md", "critical", OUTPUT_COMMAND),
    ]);
    let output = stage.run_gate(&[]).assert_exit_code(4);
    assert!(output.stdout.ends_with("PERSISTENCE_GATE=HARD_FAIL\n"), "{output}");
    let hint = format!(
        "hint: see {}; it was launched 2 times; `thru gate run --again`",
        stage.output_path("review-bad.md.launch.log").display()
    );
    assert!(
        output.stdout.contains(&hint) && output.stdout.contains("missing     critical  review-bad.md"),
        "{output}"
    );
    let launches = stage.launched_files();
    assert_eq!(launches.len(), 5);
    stage.run_gate(&[]).assert_exit_code(4);
    assert_eq!(stage.launched_files(), launches);
    stage.env.write_file("project/run/review-bad.md", format!("by hand\n{COMPLETE_MARK}\n"));
    stage.env.write_file("project/run/review-soft.md", format!("by hand\n{COMPLETE_MARK}\n"));
    assert!(stage.read_output("omissions.md").contains("review-soft.md"));
    let json = stage.run_gate(&["--json"]).assert_ok().json();
    assert_eq!(json["gate"], "PASS");
    assert_eq!(stage.launched_files(), launches);
    assert!(
        stage.read_output("omissions.md").contains("Nothing is omitted"),
        "a note of before does not stay"
    );
}

#[test]
fn a_command_gets_its_prompt_and_what_it_says_is_redacted() {
    let token = format!("ghp_{}", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8");
    let key = format!("-----BEGIN {0}-----\\nMIIBVwIBADANBg\\n-----END {0}-----", "RSA PRIVATE KEY");
    let line = format!(
        "cat > got; echo {token}; printf -- '{key}\\n' | while read l; do echo \"$l\"; sleep 0.05; done; pwd; {OUTPUT_COMMAND}"
    );
    let stage = TestStage::new(&[("review-a.md", "critical", &line)]);
    stage.run_gate(&[]).assert_ok();
    let got = fs::read_to_string(stage.env.project_folder().join("got")).unwrap();
    let path = stage.output_path("review-a.md");
    assert!(got.starts_with(&format!(
        "Make review-a.md.\n\nWrite your complete result to this file: {}",
        path.display()
    )));
    let log = stage.read_output("review-a.md.launch.log");
    assert!(!log.contains(&token) && !log.contains("MIIBVwIBADANBg") && log.contains("[REDACTED:"), "{log}");
    assert!(
        log.contains(&format!("{}\n", stage.env.project_folder().display())),
        "it runs in the project: {log}"
    );
}

#[test]
fn side_by_side_up_to_the_number_of_jobs() {
    // Each command waits until one command per job has started. If the commands ran one by one, none would finish.
    let meet = |n: usize| {
        format!(
            "i=0; while [ $(wc -l < launches) -lt {n} ] && [ $i -lt 400 ]; do sleep 0.05; i=$((i+1)); done; [ $i -lt 400 ] && {{ {OUTPUT_COMMAND}; }}"
        )
    };
    let line = meet(3);
    let files = ["review-a.md", "review-b.md", "review-c.md"];
    let outputs: Vec<_> = files.iter().map(|file| (*file, "critical", line.as_str())).collect();
    let stage = TestStage::new(&outputs);
    stage.run_gate(&["--jobs", "3"]).assert_ok();
    assert_eq!(stage.recorded_attempts(), [1, 1, 1]);

    let alone = format!("mkdir busy || exit 1; sleep 0.1; rmdir busy; {OUTPUT_COMMAND}");
    let outputs: Vec<_> = files.iter().map(|file| (*file, "critical", alone.as_str())).collect();
    let stage = TestStage::new(&outputs);
    stage.run_gate(&["--jobs", "1"]).assert_ok();
    assert_eq!(stage.recorded_attempts(), [1, 1, 1], "never two at once");
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < until, "{what} never came");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The run is killed when one output is finished and others are not. The next run reuses the finished output, and keeps
/// the count of earlier launches. A command that outlived the first run is not started twice.
#[test]
fn killed_in_the_middle_and_again() {
    use rustix::process::{Pid, Signal, kill_process_group};
    use std::os::unix::process::CommandExt;
    // The command prints nothing, because writing to the closed pipe would kill it.
    let slow = format!(
        "while ! test -e go; do sleep 0.05; done; {}",
        OUTPUT_COMMAND.trim_start_matches("echo ok; ")
    );
    let stage = TestStage::new(&[
        ("review-done.md", "critical", OUTPUT_COMMAND),
        ("review-slow.md", "critical", &slow),
        ("review-later.md", "critical", OUTPUT_COMMAND),
    ]);
    let start = || {
        let mut command = Command::new(crate::env::thru_binary());
        command
            .args(["gate", "run", "--jobs", "2", "--timeout", "60"])
            .env_clear()
            .current_dir(stage.env.project_folder())
            .process_group(0);
        command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", stage.env.home_folder());
        command
            .stdout(std::process::Stdio::null())
            .stderr(fs::File::create(stage.env.base_folder().join("said")).unwrap())
            .spawn()
            .unwrap()
    };
    let mut first = start();
    wait_until("the first output", || {
        stage.count_launches("review-later.md") == 1
            && stage.read_output("review-later.md").contains(COMPLETE_MARK)
    });
    // This also kills the process that watched the command.
    kill_process_group(Pid::from_child(&first), Signal::KILL).unwrap();
    first.wait().unwrap();
    assert_eq!(stage.recorded_attempts(), [1, 1, 1], "counted before they were launched");

    let mut second = start();
    let said = || fs::read_to_string(stage.env.base_folder().join("said")).unwrap();
    wait_until("the wait", || said().contains("waiting   review-slow.md"));
    let busy = stage.run_gate(&[]).assert_exit_code(14);
    assert!(busy.stderr.contains("is working on this run"), "{busy}");
    stage.env.write_file("project/go", "");
    assert!(second.wait().unwrap().success(), "{}", said());
    assert_eq!(stage.recorded_attempts(), [1, 1, 1]);
    assert_eq!(stage.launched_files().len(), 3, "nothing ran twice: {}", said());
    assert!(said().contains("reused    review-done.md"), "{}", said());
}

/// No matter when a run is killed, the command for an output is launched at most twice, and in the end every output
/// that can be produced exists.
#[test]
fn killed_at_any_moment() {
    for ms in [1, 5, 10, 20, 40, 80] {
        let stage = TestStage::new(&[
            ("review-a.md", "critical", OUTPUT_COMMAND),
            ("review-b.md", "critical", OUTPUT_COMMAND),
            ("review-c.md", "advisory", "exit 1"),
        ]);
        let mut command = Command::new(crate::env::thru_binary());
        command.args(["gate", "run", "--jobs", "1"]).env_clear().current_dir(stage.env.project_folder());
        command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", stage.env.home_folder());
        let mut child =
            command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(ms));
        child.kill().unwrap();
        child.wait().unwrap();
        let output = stage.run_gate(&["--jobs", "1"]);
        let launched = ["review-a.md", "review-b.md", "review-c.md"].map(|file| stage.count_launches(file));
        assert!(
            launched.iter().all(|n| *n <= 2) && stage.recorded_attempts().iter().all(|n| *n <= 2),
            "{launched:?} {output}"
        );
        assert!(output.code == 3, "killed after {ms} ms: {launched:?} {output}");
    }
}

/// Only the number of failed launches is limited. A valid output may be produced again whenever its inputs change.
#[test]
fn a_valid_result_starts_the_count_anew() {
    let env = TestEnv::with_root();
    env.write_file("project/plan.md", "v0\n");
    let launch = format!("cat plan.md >> launches; {OUTPUT_COMMAND}");
    let words = ["gate", "expect", "review", "--critical", "review-a.md", "--input", "plan.md", "--"];
    env.thru_call(&[&words[..], &["sh", "-c", &launch]].concat()).run().assert_ok();
    for n in 1..=4 {
        env.write_file("project/plan.md", format!("v{n}\n"));
        env.run_thru(&["gate", "run"]).assert_exit_code(0);
    }
    let launches = fs::read_to_string(env.project_folder().join("launches")).unwrap();
    assert_eq!(launches, "v1\nv2\nv3\nv4\n");

    // If a command changes its own input, its output never becomes valid, so the count of its launches is not reset.
    let stage =
        TestStage::new(&[("review-a.md", "critical", &format!("echo x >> plan.md; {OUTPUT_COMMAND}"))]);
    let mut expected: Value = serde_json::from_str(&stage.read_output("expected.json")).unwrap();
    expected["outputs"][0]["inputs"] = json!(["plan.md"]);
    stage.env.write_file("project/plan.md", "x\n");
    stage.env.write_file("project/run/expected.json", expected.to_string());
    stage.run_gate(&[]).assert_exit_code(4);
    stage.run_gate(&[]).assert_exit_code(4);
    assert_eq!(stage.count_launches("review-a.md"), 2);
}

#[test]
fn nothing_is_launched_without_its_inputs() {
    let env = TestEnv::with_root();
    env.write_file("project/plan.md", "v1\n");
    let words =
        ["gate", "expect", "review", "review-a.md", "--input", "plan.md", "--", "sh", "-c", OUTPUT_COMMAND];
    env.run_thru(&words).assert_ok();
    fs::remove_file(env.project_folder().join("plan.md")).unwrap();
    let check = env.run_thru(&["gate", "check"]).assert_exit_code(4);
    assert!(check.stdout.contains("hint: restore its input plan.md"), "{check}");
    let output = env.run_thru(&["gate", "run"]).assert_exit_code(10);
    assert!(output.stderr.contains("plan.md: this input of review-a.md does not exist"), "{output}");
    let run = env.store_folder().join("outputs/review-20261115T192200Z");
    assert_eq!(crate::env::names_in(&run), ["expected.json"], "nothing was begun");
    env.write_file("project/plan.md", "v1\n");
    env.run_thru(&["gate", "run"]).assert_exit_code(0);
}

/// A launched command that outlived both its run and the process that watched it.
struct OrphanProcess {
    stage: TestStage,
    process: rustix::process::Pid,
}

impl OrphanProcess {
    fn new() -> OrphanProcess {
        use std::os::unix::process::CommandExt;
        let line = format!(
            "test -e second && {{ {OUTPUT_COMMAND}; exit 0; }}; touch second; echo $$ > pid; exec sleep 600"
        );
        let stage = TestStage::new(&[("review-a.md", "critical", &line)]);
        let mut command = Command::new(crate::env::thru_binary());
        command.args(["gate", "run"]).env_clear().current_dir(stage.env.project_folder()).process_group(0);
        command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", stage.env.home_folder());
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let mut child = command.spawn().unwrap();
        wait_until("the launch", || {
            launched_pid(&stage).is_some() && !stage.read_output("review-a.md.process").is_empty()
        });
        rustix::process::kill_process_group(
            rustix::process::Pid::from_child(&child),
            rustix::process::Signal::KILL,
        )
        .unwrap();
        child.wait().unwrap();
        let process = launched_pid(&stage).unwrap();
        OrphanProcess { stage, process }
    }
}

fn launched_pid(stage: &TestStage) -> Option<rustix::process::Pid> {
    let text = fs::read_to_string(stage.env.project_folder().join("pid")).ok()?;
    rustix::process::Pid::from_raw(text.trim().parse().ok()?)
}

/// Returns whether the process has ended. A zombie counts as ended.
fn has_process_ended(process: rustix::process::Pid) -> bool {
    let stat = || fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero()));
    rustix::process::test_kill_process(process).is_err() || stat().is_ok_and(|stat| stat.contains(" Z "))
}

#[test]
fn a_launch_that_outlived_its_run_is_named_and_ended_when_its_time_is_over() {
    let OrphanProcess { stage, process } = OrphanProcess::new();
    let check = stage.env.run_thru(&["gate", "check"]).assert_exit_code(4);
    let hint = format!(
        "process {} is still working on it; `thru gate run` waits for the process, and ends it when its time is up",
        process.as_raw_nonzero()
    );
    assert!(check.stdout.contains(&hint), "{check}");
    let output = stage.run_gate(&["--timeout", "1"]).assert_exit_code(0);
    let named = format!("waiting   review-a.md: process {} of an earlier run", process.as_raw_nonzero());
    assert!(output.stderr.contains(&named) && output.stderr.contains("its time was up"), "{output}");
    assert!(has_process_ended(process));
    assert_eq!((stage.recorded_attempts(), stage.count_launches("review-a.md")), (vec![2], 2));
    assert!(!stage.output_path("review-a.md.process").exists());
}

#[test]
fn again_ends_what_an_earlier_run_has_left() {
    let OrphanProcess { stage, process } = OrphanProcess::new();
    let output = stage.run_gate(&["--again"]).assert_exit_code(0);
    assert!(output.stderr.contains("ended to make way for a new launch"), "{output}");
    assert!(has_process_ended(process));
    assert_eq!((stage.recorded_attempts(), stage.count_launches("review-a.md")), (vec![1], 2));
}

/// However `gate run` ends, no launched process keeps running without supervision.
#[test]
fn whoever_ends_a_run_ends_what_it_launched() {
    use rustix::process::{Pid, Signal, kill_process};
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::KILL] {
        // A command that ignores signals.
        let line = "trap '' TERM INT HUP; echo $$ > pid; while :; do sleep 0.05; done";
        let stage = TestStage::new(&[("review-b.md", "critical", line)]);
        let mut command = Command::new(crate::env::thru_binary());
        command.args(["gate", "run"]).env_clear().current_dir(stage.env.project_folder());
        command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", stage.env.home_folder());
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let mut child = command.spawn().unwrap();
        wait_until("the launch", || launched_pid(&stage).is_some());
        std::thread::sleep(Duration::from_millis(200));
        kill_process(Pid::from_child(&child), signal).unwrap();
        // `nohup` and some shells start this test with ignored signals, which child processes inherit. In that case,
        // only SIGKILL ends the run.
        if test_ignored_signal(signal) {
            child.kill().unwrap();
        }
        child.wait().unwrap();
        let launched = launched_pid(&stage).unwrap();
        wait_until("its end", || has_process_ended(launched));
        assert_eq!(stage.recorded_attempts(), [1]);
    }
}

fn test_ignored_signal(signal: rustix::process::Signal) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored =
        status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    ignored.is_some_and(|signals| signals & (1 << (signal.as_raw() - 1)) != 0)
}

/// Ctrl-C in a terminal also ends the launched commands. Finished outputs are kept.
#[test]
fn an_interrupt_ends_what_was_launched() {
    use rustix::process::{Pid, Signal, kill_process_group, test_kill_process};
    use std::os::unix::process::CommandExt;
    if test_ignored_signal(Signal::INT) {
        println!("skipped: whoever started this ignores interrupts, and so does everything below");
        return;
    }
    let line = "echo $$ > pid; exec sleep 600";
    let stage =
        TestStage::new(&[("review-a.md", "critical", OUTPUT_COMMAND), ("review-b.md", "critical", line)]);
    let mut command = Command::new(crate::env::thru_binary());
    command
        .args(["gate", "run", "--jobs", "1"])
        .env_clear()
        .current_dir(stage.env.project_folder())
        .process_group(0);
    command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", stage.env.home_folder());
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut child = command.spawn().unwrap();
    let pid = || {
        fs::read_to_string(stage.env.project_folder().join("pid"))
            .ok()?
            .trim()
            .parse()
            .ok()
            .and_then(Pid::from_raw)
    };
    wait_until("the second launch", || pid().is_some());
    // The command may already be running before its launch is recorded, so wait.
    std::thread::sleep(Duration::from_millis(300));
    kill_process_group(Pid::from_child(&child), Signal::INT).unwrap();
    assert!(!child.wait().unwrap().success());
    let launched = pid().unwrap();
    // After the interruption, the launched process no longer exists or is a zombie.
    let stat = || fs::read_to_string(format!("/proc/{}/stat", launched.as_raw_nonzero()));
    wait_until("its end", || {
        test_kill_process(launched).is_err() || stat().is_ok_and(|stat| stat.contains(" Z "))
    });
    assert_eq!(stage.recorded_attempts(), [1, 1]);
}

/// Untrusted records may contain any command, so nothing is launched from them.
#[test]
fn an_untrusted_root_launches_nothing() {
    let stage = TestStage::new(&[("review-a.md", "critical", OUTPUT_COMMAND)]);
    stage.env.run_thru(&["trust", "--revoke"]).assert_ok();
    let output = stage.run_gate(&[]).assert_exit_code(15);
    assert!(output.stderr.contains("not trusted") && stage.launched_files().is_empty(), "{output}");
    stage.env.run_thru(&["gate", "check"]).assert_exit_code(4);
}

/// An output that is a link is renamed, and nothing is written through the link.
#[test]
fn a_link_is_moved_out_of_the_way() {
    let stage = TestStage::new(&[("review-a.md", "critical", OUTPUT_COMMAND)]);
    let target = stage.env.write_file("project/precious.md", "mine\n");
    std::os::unix::fs::symlink(&target, stage.output_path("review-a.md")).unwrap();
    stage.run_gate(&[]).assert_ok();
    assert_eq!(fs::read_to_string(target).unwrap(), "mine\n");
    assert!(stage.read_output("review-a.md").contains("report"));
}

/// A file that exists but that the command leaves unchanged does not count as the command's output.
#[test]
fn what_was_stale_does_not_become_fresh_by_itself() {
    let env = TestEnv::with_root();
    env.write_file("project/plan.md", "v1\n");
    let launch = ["sh", "-c", "true"];
    let words =
        ["gate", "expect", "review", "review-a.md", "--input", "plan.md", "--prompt", "Be {role}.", "--"];
    env.thru_call(&[&words[..], &launch[..]].concat()).run().assert_ok();
    let run = env.store_folder().join("outputs/review-20261115T192200Z");
    fs::write(run.join("review-a.md"), format!("of v1\n{COMPLETE_MARK}\n")).unwrap();
    env.run_thru(&["gate", "check"]).assert_exit_code(0);
    env.write_file("project/plan.md", "v2\n");
    let output = env.run_thru(&["gate", "run"]).assert_exit_code(4);
    assert!(output.stdout.contains("missing     critical  review-a.md"), "{output}");
    let kept = crate::env::names_in(&run);
    assert!(kept.iter().any(|name| name.starts_with("review-a.md.set-aside-")), "{kept:?}");
    assert!(fs::read_to_string(run.join("review-a.md.prompt.md")).unwrap().starts_with("Be a.\n"));
}

/// On a terminal, a status line shows what is running and for how long. The status line disappears at the end.
#[test]
fn progress_is_shown_on_a_terminal() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let stage = TestStage::new(&[("review-a.md", "critical", &format!("sleep 0.7; {OUTPUT_COMMAND}"))]);
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let slave = fs::File::options().write(true).open(name.to_str().unwrap()).unwrap();
    let mut command = Command::new(crate::env::thru_binary());
    command.args(["gate", "run"]).env_clear().current_dir(stage.env.project_folder()).env("TERM", "xterm");
    command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", stage.env.home_folder());
    let mut child = command.stdout(std::process::Stdio::piped()).stderr(slave).spawn().unwrap();
    drop(command);
    let mut seen = Vec::new();
    // When a terminal is closed, reading returns an error instead of an end of file, so ignore the error.
    let _ = std::io::Read::read_to_end(&mut fs::File::from(master), &mut seen);
    assert!(child.wait().unwrap().success());
    let seen = String::from_utf8_lossy(&seen);
    assert!(seen.contains("launched  review-a.md (launch 1)"), "{seen:?}");
    assert!(seen.contains("1 running: review-a.md 0 s"), "{seen:?}");
    let last = seen.rsplit("\r\u{1b}[2K").next().unwrap();
    assert!(!last.contains("running"), "nothing stays: {seen:?}");
    let mut said = String::new();
    std::io::Read::read_to_string(&mut child.stdout.take().unwrap(), &mut said).unwrap();
    assert!(said.ends_with("PERSISTENCE_GATE=PASS\n") && !said.contains('\u{1b}'), "{said:?}");
}
