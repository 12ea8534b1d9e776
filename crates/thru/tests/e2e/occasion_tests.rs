//! When a session gets a brief, with the real Claude Code: once after a compaction, and when other sessions are
//! running.

use serde_json::json;

use crate::claude::{ClaudeCode, session};
use crate::model::{Kind, Model};
use crate::scratch::Scratch;
use crate::script::{Script, Step, call, say};

const BRIEF: &str = "Throughline: the context of this session";

fn edit(scratch: &Scratch, file: &str) -> Step {
    call("Write", json!({ "file_path": scratch.project.join(file), "content": "x\n" }))
}

/// When Claude Code resumes a session, it keeps the brief that followed a compaction. So a session gets the brief
/// once, however often it is resumed.
#[test]
fn resumed_twice_after_a_compaction_the_brief_is_there_once() {
    let Some(claude) = ClaudeCode::find() else { return };
    let scratch = Scratch::new();
    ClaudeCode::init(&scratch);
    let model = Model::start(Script {
        main: vec![
            edit(&scratch, "src/lexer.rs"),
            say("Done."),
            say("Once."),
            say("Twice."),
            say("Changed."),
        ],
        compact: vec![say("<analysis>none</analysis>\n<summary>WHAT-WAS-DONE</summary>")],
        ..Script::default()
    });
    let mut talk = claude.converse(&scratch, &model, &[]);
    let sid = session(&talk.say("Make the lexer fast"));
    talk.say("/compact");
    talk.end().assert_success();
    for prompt in ["Again", "And again"] {
        claude.ask(&scratch, &model, prompt, &["--resume", &sid]).assert_success();
        let asked = model.asked();
        let last = asked.last().expect("a question");
        assert!(last.holds(prompt) && last.holds("WHAT-WAS-DONE"), "the conversation is replayed");
        assert_eq!(last.count(BRIEF), 1, "after {prompt:?}");
        assert_eq!(last.count("was resumed"), 0, "nothing has changed since");
    }
    // Meanwhile, somebody else changes a file of the session.
    scratch.write("src/lexer.rs", "changed\n");
    claude.ask(&scratch, &model, "What is new?", &["--resume", &sid]).assert_success();
    let asked = model.asked();
    let last = asked.last().expect("a question");
    assert!(last.holds("was resumed") && last.holds("changed: src/lexer.rs"), "that is told");
    assert_eq!(last.count(BRIEF), 1);
    model.assert_played();
    scratch.assert_healthy();
}

#[test]
fn two_sessions_side_by_side_hear_of_each_other() {
    let Some(claude) = ClaudeCode::find() else { return };
    let scratch = Scratch::new();
    ClaudeCode::init(&scratch);
    let model = Model::start(Script {
        main: vec![
            edit(&scratch, "src/lexer.rs"),
            say("The lexer is fast."),
            edit(&scratch, "src/printer.rs"),
            say("The printer prints."),
            say("I see."),
        ],
        compact: vec![say("<analysis>none</analysis>\n<summary>WHAT-WAS-DONE</summary>")],
        ..Script::default()
    });
    let mut one = claude.converse(&scratch, &model, &[]);
    let first = session(&one.say("Make the lexer fast"));
    let mut two = claude.converse(&scratch, &model, &[]);
    let second = session(&two.say("Write the printer"));
    let short = |id: &str| id.split('-').next().unwrap_or_default().to_owned();
    let asked = model.asked();
    let of_two = asked.iter().find(|asked| asked.holds("Write the printer")).expect("it asked");
    for needle in ["Also at work", &short(&first), "branch main", "editing src/lexer.rs"] {
        assert!(of_two.holds(needle), "the second session is told {needle:?}");
    }
    assert!(!of_two.holds("the last session that did work here was"), "the first one is not over");
    one.say("/compact");
    one.say("Do you remember?");
    let asked = model.asked();
    let compacted = asked.iter().rposition(|asked| asked.kind == Kind::Compact).expect("a compaction");
    let after = &asked[compacted + 1];
    for needle in ["Also at work", &short(&second), "editing src/printer.rs"] {
        assert!(after.holds(needle), "the first session is told {needle:?}");
    }
    one.end().assert_success();
    two.end().assert_success();
    model.assert_played();
    let third = scratch.thru_ok(&["brief", "--event", "startup"]);
    assert!(!third.contains("Also at work"), "both have ended: {third}");
}

/// The brief adds what a summary omits, and corrects what it gets wrong: a commit, a push and a comment. It does
/// not repeat the rest.
#[test]
fn beside_a_summary_the_brief_adds_and_puts_right() {
    let Some(claude) = ClaudeCode::find() else { return };
    let scratch = Scratch::new();
    ClaudeCode::init(&scratch);
    scratch.git(&["init", "--quiet", "--bare", "../origin.git"]);
    scratch.git(&["remote", "add", "origin", "../origin.git"]);
    // A substitute for the forge's own program. It does only what this test needs.
    let gh = scratch.bin().join("gh");
    let comment = "https://github.com/acme/lexer/pull/7#issuecomment-2459881";
    std::fs::write(&gh, format!("#!/bin/sh\necho {comment}\n")).expect("a file");
    std::fs::set_permissions(&gh, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a mode");
    let shell = |command: &str| call("Bash", json!({ "command": command, "description": "Go on" }));
    let commit =
        "git add -A . && git -c user.name=T -c user.email=t@example.invalid commit -m 'Make the lexer fast'";
    let words = "Make the lexer fast, and keep it free of regular expressions";
    let ended = "The lexer reads a whole file in one pass, without backtracking.";
    let summary = format!(
        "The user asked: \"{words}\". src/lexer.rs was written. {ended} All changes are still uncommitted."
    );
    let model = Model::start(Script {
        main: vec![
            edit(&scratch, "src/lexer.rs"),
            shell(commit),
            shell("git push origin main"),
            shell("gh pr comment 7 --body 'The lexer is fast now.'"),
            say(ended),
            say("I see."),
        ],
        compact: vec![say(&format!("<analysis>none</analysis>\n<summary>{summary}</summary>"))],
        ..Script::default()
    });
    let mut talk = claude.converse(&scratch, &model, &[]);
    talk.say(words);
    talk.say("/compact");
    talk.say("Go on");
    talk.end().assert_success();
    model.assert_played();

    let asked = model.asked();
    let compacted = asked.iter().rposition(|asked| asked.kind == Kind::Compact).expect("a compaction");
    let brief = asked[compacted + 1].text_with(BRIEF).expect("a brief after the compaction");
    let brief = &brief[brief.find(BRIEF).expect("it is there")..];
    let head = scratch.command("git").args(["rev-parse", "--short=7", "HEAD"]).output().expect("git");
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
