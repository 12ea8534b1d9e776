//! Briefs and packets report the commands that fail. A failure is reported until its command passes. Answers,
//! compactions, handoffs and other failures do not hide it.

use serde_json::json;

use crate::env::TestEnv;

struct FailingSession {
    env: TestEnv,
    calls: std::cell::Cell<u32>,
}

impl FailingSession {
    fn start() -> FailingSession {
        let session = FailingSession { env: TestEnv::with_root(), calls: std::cell::Cell::new(0) };
        // A failed run of a file that no longer exists is not reported.
        for file in ["deploy.sh", "manage.py", "web.yaml"] {
            session.env.write_file(format!("project/{file}"), "text\n");
        }
        session.env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
        session.ask("Deploy to db1 and migrate");
        session
    }

    fn ask(&self, prompt: &str) {
        self.env.fire_event("s1", "UserPromptSubmit", json!({"prompt": prompt}));
    }

    fn answer(&self, words: &str) {
        self.env.fire_event("s1", "Stop", json!({"last_assistant_message": words}));
    }

    fn next_id(&self) -> String {
        self.calls.set(self.calls.get() + 1);
        format!("t{}", self.calls.get())
    }

    fn fail(&self, command: &str, exit: i64, printed: &str) {
        let call = json!({"tool_name": "Bash", "tool_use_id": self.next_id(), "tool_input": {"command": command},
            "error": format!("Exit code {exit}\n{printed}")});
        self.env.fire_event("s1", "PostToolUseFailure", call);
    }

    fn pass(&self, command: &str, printed: &str) {
        let call = json!({"tool_name": "Bash", "tool_use_id": self.next_id(), "tool_input": {"command": command},
            "tool_response": {"stdout": printed, "stderr": "", "interrupted": false}});
        self.env.fire_event("s1", "PostToolUse", call);
    }

    /// Compacts the session and returns the brief that follows.
    fn compact(&self) -> String {
        self.env.fire_event("s1", "PreCompact", json!({"trigger": "manual"}));
        let summary = json!({"agent_id": "a", "agent_type": "",
            "last_assistant_message": "<summary>Ran some commands.</summary>"});
        self.env.fire_event("s1", "SubagentStop", summary);
        self.env.fire_event("s1", "SessionStart", json!({"source": "compact"})).stdout
    }

    fn brief(&self) -> String {
        self.env.run_thru(&["brief"]).assert_ok().stdout
    }

    fn failing_in_status(&self) -> Option<String> {
        let status = self.env.run_thru(&["status"]).assert_ok().stdout;
        status.lines().find_map(|line| line.strip_prefix("failing")).map(|line| line.trim().to_owned())
    }
}

#[test]
fn a_failure_stays_open_until_the_command_passes() {
    for (command, probe) in [
        ("./deploy.sh", "cat deploy.sh"),
        ("python3 manage.py migrate", "python3 manage.py showmigrations"),
        ("kubectl apply -f web.yaml", "kubectl get pods"),
    ] {
        let session = FailingSession::start();
        session.fail(command, 7, "error: cannot reach host db1");
        session.answer("It fails.");
        session.ask("Find out why it fails and fix it");
        session.answer("I will look at it.");
        let told = format!("`{command}` (exit 7): `error: cannot reach host db1`");
        let brief = session.compact();
        assert!(brief.contains(&told), "{brief}");
        session.pass(probe, "web 3/3");
        session.fail("python3 -c 'import db'", 1, "ImportError: no db");
        session.ask("go on");
        session.answer("Done.");
        let brief = session.compact();
        assert!(brief.contains(&told) && !brief.contains("import db"), "{brief}");
        assert_eq!(session.failing_in_status(), Some(format!("`{command}`")));
        session.env.run_thru(&["handoff", "deployment"]).assert_ok();
        let picked = session.env.run_thru(&["pickup", "deployment"]).assert_ok().stdout.clone();
        assert!(picked.contains(command) && picked.contains("Failing"), "{picked}");
        session.pass(command, "done");
        assert_eq!(session.failing_in_status(), None);
        assert!(!session.brief().contains("Failing"), "{}", session.brief());
    }
}

#[test]
fn every_failing_command_is_kept() {
    let session = FailingSession::start();
    session.fail("./deploy.sh", 7, "error: cannot reach host db1");
    session.fail("./migrate.sh", 3, "error: column x missing");
    session.answer("Both fail.");
    let brief = session.brief();
    assert!(brief.contains("`./deploy.sh` (exit 7)") && brief.contains("`./migrate.sh` (exit 3)"), "{brief}");
    assert_eq!(session.failing_in_status().as_deref(), Some("`./migrate.sh` (and 1 more)"));
    // A mistyped command does not hide other failures.
    session.fail("make test", 2, "make: *** No rule to make target 'test'.  Stop.");
    assert_eq!(session.failing_in_status().as_deref(), Some("`./migrate.sh` (and 1 more)"));
    // `bash migrate.sh` counts as the same command as `./migrate.sh`.
    session.pass("bash migrate.sh", "ok");
    assert_eq!(session.failing_in_status().as_deref(), Some("`./deploy.sh`"));
}

#[test]
fn a_list_that_failed_did_not_pass() {
    let tests = "....\n----------------------------------------------------------------------\nRan 4 tests in 0.001s\n\nOK";
    let deploy = format!("{tests}\nerror: cannot reach host db1");
    for list in ["python3 -m unittest; ./deploy.sh", "python3 -m unittest\n./deploy.sh\n"] {
        let session = FailingSession::start();
        session.fail(list, 7, &deploy);
        session.answer("The host is down.");
        let brief = session.compact();
        assert!(brief.contains("- `./deploy.sh` (exit 7)"), "{brief}");
        let brief = session.brief();
        assert!(brief.contains("- `python3 -m unittest` → passed"), "{brief}");
        assert_eq!(session.failing_in_status().as_deref(), Some("`./deploy.sh`"));
        session.pass("python3 -m unittest", tests);
        assert_eq!(session.failing_in_status().as_deref(), Some("`./deploy.sh`"));
        session.pass("./deploy.sh", "done");
        assert_eq!(session.failing_in_status(), None);
    }
    // The tests print nothing, so nothing is known about their result.
    let session = FailingSession::start();
    session.fail("python3 -m unittest -q >/dev/null 2>&1; ./deploy.sh", 7, "error: cannot reach host db1");
    session.answer("The host is down.");
    let brief = session.brief();
    assert!(brief.contains("- `./deploy.sh` (exit 7)") && !brief.contains("passed"), "{brief}");
    // The tests pass, and only the probe after them fails.
    for probe in ["python3 -c 'raise ValueError(1)'", "python3 - <<'E'\nraise ValueError(1)\nE\n"] {
        let session = FailingSession::start();
        session.fail(&format!("python3 -m unittest\n{probe}"), 1, &format!("{tests}\nValueError: 1"));
        session.ask("go on");
        session.answer("Well.");
        let brief = session.brief();
        assert!(brief.contains("- `python3 -m unittest` → passed") && !brief.contains("Failing"), "{brief}");
    }
}

#[test]
fn what_thru_answers_is_no_failure() {
    let session = FailingSession::start();
    session.fail("thru gate check", 4, "incomplete  review-security.md");
    session.answer("A file is missing.");
    assert_eq!(session.failing_in_status(), None);
    assert!(!session.brief().contains("Failing"), "{}", session.brief());
}
