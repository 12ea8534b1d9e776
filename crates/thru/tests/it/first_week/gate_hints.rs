//! Tests for the hints about the outputs of a stage. The suggested commands must work in the state in which they are
//! suggested, and valid outputs must stay valid.

use super::*;

const COMPLETE: &str = "Fine.\n<!-- AGENT_COMPLETE -->\n";

fn env_with_stage(outputs: &[&str]) -> TestEnv {
    let env = TestEnv::with_root();
    env.write_file("project/calc.py", "1\n");
    env.write_file("project/other.py", "1\n");
    let expect = ["gate", "expect", "review", "--input", "calc.py", "other.py"];
    env.run_thru(&[&expect[..], outputs].concat()).assert_ok();
    env
}

fn run_folder(env: &TestEnv) -> std::path::PathBuf {
    Path::new(env.run_thru_json(&["gate", "live"])["run"].as_str().unwrap()).to_owned()
}

fn verdict(env: &TestEnv, file: &str, words: &[&str]) -> Value {
    let check = env.run_thru(&[&["gate", "check", "--json"], words].concat()).json();
    let outputs = check["outputs"].as_array().unwrap();
    outputs.iter().find(|output| output["file"] == file).unwrap()["verdict"].clone()
}

/// Returns the words of each command in a hint.
fn commands_in_hint(hint: &str) -> Vec<Vec<String>> {
    let commands = hint.split('`').filter_map(|part| part.strip_prefix("thru "));
    commands.map(|command| command.split(' ').map(str::to_owned).collect()).collect()
}

fn hint_for(env: &TestEnv, file: &str, words: &[&str]) -> String {
    let check = env.run_thru(&[&["gate", "check", "--json"], words].concat()).json();
    let outputs = check["outputs"].as_array().unwrap();
    let output = outputs.iter().find(|output| output["file"] == file).unwrap();
    output["remedy"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn the_hint_for_a_missing_output_keeps_the_valid_ones() {
    let env = env_with_stage(&["--critical", "review-a.md", "--advisory", "review-b.md"]);
    fs::write(run_folder(&env).join("review-a.md"), COMPLETE).unwrap();
    let before = run_folder(&env);
    let hint = hint_for(&env, "review-b.md", &[]);
    let commands = commands_in_hint(&hint);
    assert_eq!(commands.len(), 1, "{hint}");
    for command in &commands {
        env.run_thru(&command.iter().map(String::as_str).collect::<Vec<_>>()).assert_ok();
    }
    assert_eq!(run_folder(&env), before);
    assert_eq!(verdict(&env, "review-a.md", &[]), "valid");
}

/// `thru gate expect` starts a new run, so that no file of an earlier run counts as a new output. It must warn that
/// valid outputs of the earlier run are no longer used.
#[test]
fn a_new_run_says_that_it_does_not_use_the_valid_outputs() {
    let env = env_with_stage(&["--critical", "review-a.md", "--advisory", "review-b.md"]);
    let expect = ["gate", "expect", "review", "--critical", "review-a.md"];
    let first = run_folder(&env);
    let renewed = env.run_thru(&expect).assert_ok();
    assert!(!renewed.stderr.contains("valid output"), "nothing was valid: {renewed}");
    env.run_thru(&["gate", "live", "--set", first.to_str().unwrap()]).assert_ok();
    fs::write(first.join("review-a.md"), COMPLETE).unwrap();
    let renewed = env.run_thru(&expect).assert_ok();
    assert!(renewed.stderr.contains("the previous run of this stage has 1 valid output"), "{renewed}");
    let back = commands_in_hint(&renewed.stderr).pop().unwrap();
    env.run_thru(&back.iter().map(String::as_str).collect::<Vec<_>>()).assert_ok();
    assert_eq!((run_folder(&env), verdict(&env, "review-a.md", &[])), (first, json!("valid")));
}

#[test]
fn the_hints_for_a_run_that_is_not_live_name_that_run() {
    for (text, command) in [(None, "prompt"), (Some("Fine.\n"), "seal")] {
        let env = env_with_stage(&["--critical", "review-a.md"]);
        let review = run_folder(&env);
        if let Some(text) = text {
            fs::write(review.join("review-a.md"), text).unwrap();
        }
        let begun = env.run_thru(&["gate", "expect", "audit", "--critical", "audit-a.md"]).assert_ok();
        for check in commands_in_hint(&begun.stderr).iter().chain(&commands_in_hint(&status(&env))) {
            let words: Vec<&str> = check.iter().map(String::as_str).collect();
            let code = env.thru_call(&words).run().code;
            assert!([0, 4].contains(&code), "{words:?}: {code}");
        }
        env.run_thru(&["gate", "expect", "audit", "--critical", "audit-a.md"]).assert_ok();
        let of_review = ["--stage", "review"];
        let hint = hint_for(&env, "review-a.md", &of_review);
        let named = commands_in_hint(&hint).into_iter().find(|words| words[1] == command);
        let words = named.unwrap_or_else(|| panic!("{command}: {hint}"));
        let done = env.run_thru(&words.iter().map(String::as_str).collect::<Vec<_>>()).assert_ok();
        match command {
            "prompt" => assert!(done.stdout.contains(review.join("review-a.md").to_str().unwrap()), "{done}"),
            _ => assert_eq!(verdict(&env, "review-a.md", &of_review), "valid"),
        }
    }
}

fn status(env: &TestEnv) -> String {
    let status = env.run_thru(&["status"]).assert_ok().stdout;
    status.lines().filter(|line| line.starts_with("outputs")).collect::<Vec<_>>().join("\n")
}

#[test]
fn check_and_status_tell_the_same_about_a_stage_whose_inputs_changed() {
    for tier in ["--critical", "--advisory"] {
        let env = env_with_stage(&[tier, "review-a.md"]);
        fs::write(run_folder(&env).join("review-a.md"), COMPLETE).unwrap();
        env.run_thru(&["gate", "check"]).assert_ok();
        env.write_file("project/calc.py", "2\n");
        let story = "tage review passed at 2026-11-15 19:22 UTC; inputs changed since: calc.py; the outputs are stale";
        assert!(status(&env).contains(story), "{}", status(&env));
        let check = env.run_thru(&["gate", "check"]);
        assert!(check.stdout.contains(story), "{check}");
        assert!(check.stderr.contains("because of these inputs"), "{check}");
        assert!(!check.stderr.contains("cannot continue") && !check.stderr.contains("continues without"));
        let (code, result) = if tier == "--critical" { (4, "HARD_FAIL") } else { (3, "SOFT_CONTINUE") };
        check.assert_exit_code(code);
        let json = env.run_thru(&["gate", "check", "--json"]).json();
        assert_eq!(
            (&json["gate"], &json["changed_since_pass"]["inputs"]),
            (&json!(result), &json!(["calc.py"]))
        );
        // A second reason has nothing to do with the inputs.
        fs::remove_file(run_folder(&env).join("review-a.md")).unwrap();
        let check = env.run_thru(&["gate", "check"]).assert_exit_code(code);
        assert!(!check.stdout.contains("passed at"), "{check}");
        assert!(status(&env).contains("1 of 1 open"), "{}", status(&env));
    }
}

/// `thru gate run` cannot launch anything for such an output. Instead, `thru gate prompt` requests the output again
/// for the new inputs.
#[test]
fn a_stale_output_without_a_command_can_be_written_again() {
    let env = env_with_stage(&["--critical", "review-a.md"]);
    let output = run_folder(&env).join("review-a.md");
    fs::write(&output, COMPLETE).unwrap();
    env.run_thru(&["gate", "check"]).assert_ok();
    env.write_file("project/calc.py", "2\n");
    let old = fs::metadata(&output).unwrap().modified().unwrap();
    let hint = hint_for(&env, "review-a.md", &[]);
    assert!(hint.starts_with("have it written again: `thru gate prompt review-a.md`"), "{hint}");
    let later = jiff::Timestamp::try_from(old).unwrap() + jiff::SignedDuration::from_secs(60);
    let at = |words: &[&str]| env.thru_call(words).with_variable("THROUGHLINE_NOW", later.to_string()).run();
    at(&["gate", "prompt", "review-a.md"]).assert_ok();
    assert_eq!(verdict(&env, "review-a.md", &[]), "stale", "it is the old file");
    assert!(status(&env).contains("1 of 1 open"), "it was asked for again: {}", status(&env));
    fs::write(&output, COMPLETE).unwrap();
    let written = later + jiff::SignedDuration::from_secs(1);
    fs::File::options().append(true).open(&output).unwrap().set_modified(written.into()).unwrap();
    assert_eq!(verdict(&env, "review-a.md", &[]), "valid");
}
