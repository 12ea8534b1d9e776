//! Runs the real Claude Code, and checks on which occasions a session gets a brief.

use serde_json::json;

use crate::claude::{ClaudeCode, session_id_of_result};
use crate::model::{RequestKind, ScriptedModel};
use crate::scratch::ScratchProject;
use crate::script::{ModelScript, ScriptStep, call_step, text_step};

const BRIEF_TITLE: &str = "Throughline: the context of this session";

fn edit_step(scratch: &ScratchProject, file: &str) -> ScriptStep {
    call_step("Write", json!({ "file_path": scratch.project.join(file), "content": "x\n" }))
}

/// When Claude Code resumes a session, the conversation still contains the brief that followed the compaction, so the
/// session does not get the brief again.
#[test]
fn resumed_twice_after_a_compaction_the_brief_is_there_once() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    ClaudeCode::init_project(&scratch);
    let model = ScriptedModel::start(ModelScript {
        main: vec![
            edit_step(&scratch, "src/lexer.rs"),
            text_step("Done."),
            text_step("Once."),
            text_step("Twice."),
            text_step("Changed."),
        ],
        compact: vec![text_step("<analysis>none</analysis>\n<summary>WHAT-WAS-DONE</summary>")],
        ..ModelScript::default()
    });
    let mut talk = claude.start_conversation(&scratch, &model, &[]);
    let sid = session_id_of_result(&talk.send_and_wait("Make the lexer fast"));
    talk.send_and_wait("/compact");
    talk.end().assert_success();
    for prompt in ["Again", "And again"] {
        claude.run_prompt(&scratch, &model, prompt, &["--resume", &sid]).assert_success();
        let asked = model.received_requests();
        let last = asked.last().expect("a question");
        assert!(last.contains(prompt) && last.contains("WHAT-WAS-DONE"), "the conversation is replayed");
        assert_eq!(last.count_occurrences(BRIEF_TITLE), 1, "after {prompt:?}");
        assert_eq!(last.count_occurrences("was resumed"), 0, "nothing has changed since");
    }
    // In the meantime, somebody else changes one of the session's files.
    scratch.write_file("src/lexer.rs", "changed\n");
    claude.run_prompt(&scratch, &model, "What is new?", &["--resume", &sid]).assert_success();
    let asked = model.received_requests();
    let last = asked.last().expect("a question");
    assert!(last.contains("was resumed") && last.contains("changed: src/lexer.rs"), "that is told");
    assert_eq!(last.count_occurrences(BRIEF_TITLE), 1);
    model.assert_script_used_up();
    scratch.assert_healthy();
}

#[test]
fn two_sessions_side_by_side_hear_of_each_other() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    ClaudeCode::init_project(&scratch);
    let model = ScriptedModel::start(ModelScript {
        main: vec![
            edit_step(&scratch, "src/lexer.rs"),
            text_step("The lexer is fast."),
            edit_step(&scratch, "src/printer.rs"),
            text_step("The printer prints."),
            text_step("I see."),
        ],
        compact: vec![text_step("<analysis>none</analysis>\n<summary>WHAT-WAS-DONE</summary>")],
        ..ModelScript::default()
    });
    let mut one = claude.start_conversation(&scratch, &model, &[]);
    let first = session_id_of_result(&one.send_and_wait("Make the lexer fast"));
    let mut two = claude.start_conversation(&scratch, &model, &[]);
    let second = session_id_of_result(&two.send_and_wait("Write the printer"));
    let short = |id: &str| id.split('-').next().unwrap_or_default().to_owned();
    let asked = model.received_requests();
    let of_two = asked.iter().find(|asked| asked.contains("Write the printer")).expect("it asked");
    for needle in ["Also active", &short(&first), "branch main", "editing src/lexer.rs"] {
        assert!(of_two.contains(needle), "the second session is told {needle:?}");
    }
    assert!(!of_two.contains("the last session that did any work here was"), "the first one is not over");
    one.send_and_wait("/compact");
    one.send_and_wait("Do you remember?");
    let asked = model.received_requests();
    let compacted = asked.iter().rposition(|asked| asked.kind == RequestKind::Compact).expect("a compaction");
    let after = &asked[compacted + 1];
    for needle in ["Also active", &short(&second), "editing src/printer.rs"] {
        assert!(after.contains(needle), "the first session is told {needle:?}");
    }
    one.end().assert_success();
    two.end().assert_success();
    model.assert_script_used_up();
    let third = scratch.run_thru_successfully(&["brief", "--event", "startup"]);
    assert!(!third.contains("Also active"), "both have ended: {third}");
}

/// The brief adds what the summary omits and corrects the summary's mistakes about a commit, a push and a comment. It
/// does not repeat what the summary gets right.
#[test]
fn beside_a_summary_the_brief_adds_and_puts_right() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    ClaudeCode::init_project(&scratch);
    scratch.run_git(&["init", "--quiet", "--bare", "../origin.git"]);
    scratch.run_git(&["remote", "add", "origin", "../origin.git"]);
    // A substitute for `gh` that does only what this test needs.
    let gh = scratch.bin_folder().join("gh");
    let comment = "https://github.com/acme/lexer/pull/7#issuecomment-2459881";
    std::fs::write(&gh, format!("#!/bin/sh\necho {comment}\n")).expect("a file");
    std::fs::set_permissions(&gh, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a mode");
    let shell = |command: &str| call_step("Bash", json!({ "command": command, "description": "Go on" }));
    let commit =
        "git add -A . && git -c user.name=T -c user.email=t@example.invalid commit -m 'Make the lexer fast'";
    let words = "Make the lexer fast, and keep it free of regular expressions";
    let ended = "The lexer reads a whole file in one pass, without backtracking.";
    let summary = format!(
        "The user asked: \"{words}\". src/lexer.rs was written. {ended} All changes are still uncommitted."
    );
    let model = ScriptedModel::start(ModelScript {
        main: vec![
            edit_step(&scratch, "src/lexer.rs"),
            shell(commit),
            shell("git push origin main"),
            shell("gh pr comment 7 --body 'The lexer is fast now.'"),
            text_step(ended),
            text_step("I see."),
        ],
        compact: vec![text_step(&format!("<analysis>none</analysis>\n<summary>{summary}</summary>"))],
        ..ModelScript::default()
    });
    let mut talk = claude.start_conversation(&scratch, &model, &[]);
    talk.send_and_wait(words);
    talk.send_and_wait("/compact");
    talk.send_and_wait("Go on");
    talk.end().assert_success();
    model.assert_script_used_up();

    let asked = model.received_requests();
    let compacted = asked.iter().rposition(|asked| asked.kind == RequestKind::Compact).expect("a compaction");
    let brief = asked[compacted + 1].text_containing(BRIEF_TITLE).expect("a brief after the compaction");
    let brief = &brief[brief.find(BRIEF_TITLE).expect("it is there")..];
    let head =
        scratch.command_in_project("git").args(["rev-parse", "--short=7", "HEAD"]).output().expect("git");
    let head = String::from_utf8_lossy(&head.stdout).trim().to_owned();
    for needle in [head.as_str(), "push", "issuecomment-2459881", "the summary says"] {
        assert!(brief.contains(needle), "{needle:?} in\n{brief}");
    }
    assert!(!brief.contains("regular expressions"), "the summary holds it:\n{brief}");
    for line in brief.lines().map(|line| line.trim_start_matches("- ").trim()).filter(|line| line.len() > 12)
    {
        assert!(!summary.contains(line), "the summary holds {line:?}");
    }
}
