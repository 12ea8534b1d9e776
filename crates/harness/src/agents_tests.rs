use super::*;
use crate::{HARNESSES, by_name};

fn definition(swarm: &SwarmId, part: Part) -> Definition<'_> {
    Definition { swarm, part, model: None, prompt: None, appended: None, program: "thru" }
}

#[test]
fn every_agent_has_a_file_in_every_harness_with_agents() {
    let mega = SwarmId::new("mega").unwrap();
    for harness in HARNESSES.iter().filter(|harness| harness.agents.is_some()) {
        for part in Part::ALL {
            let text = file(harness, &definition(&mega, part)).unwrap();
            assert!(text.starts_with("---\n") && text.contains("\n---\n\nYou are "), "{text}");
            assert!(!text.contains("{{"), "{}: a variable is left: {text}", part.name());
            assert!(text.contains("`mega`"), "{text}");
            assert_eq!(written(&text), Written::ByUs(mega.clone()), "{text}");
        }
    }
}

/// Checks the list of tools in each harness's own format. The end-to-end tests show that the harness enforces the list.
#[test]
fn a_read_only_agent_has_no_tool_that_writes() {
    let swarm = SwarmId::default_swarm();
    let rows: &[(&str, &[&str], &[&str])] = &[
        ("claude-code", &["tools: Read, Grep, Glob"], &["Write", "Edit", "Bash", "NotebookEdit", "Agent"]),
        ("droid", &["tools: [\"Read\""], &["Create", "Edit", "ApplyPatch", "Execute", "Task"]),
        ("opencode", &["edit: deny", "bash: deny"], &["allow"]),
    ];
    for (name, holds, lacks) in rows {
        for part in Part::ALL {
            let text = file(by_name(name).unwrap(), &definition(&swarm, part)).unwrap();
            let head = text.split("\n---\n").next().unwrap();
            let is_limited = holds.iter().all(|word| head.contains(word));
            assert_eq!(is_limited, part.is_read_only(), "{name} {}: {head}", part.name());
            let tools = head.lines().find(|line| line.starts_with("tools:")).unwrap_or_default();
            assert!(lacks.iter().all(|word| !tools.contains(word)), "{name} {}: {head}", part.name());
        }
    }
}

/// Each prompt must name every field that the specification requires in requests and answers.
#[test]
fn formats_have_every_field() {
    let rows: &[(Part, &[&str])] = &[
        (Part::Sme, &["CRITICAL:", "APPROACH:", "API:", "GOTCHAS:", "DEPS:"]),
        (Part::Critic, &["VERDICT:", "CONFIDENCE:", "ISSUES:", "SUMMARY:", "NEEDS_REVISION"]),
        (Part::Reviewer, &["VERDICT:", "RISK:", "ISSUES:", "CHECK"]),
        (Part::Coder, &["TASK", "FILE", "INPUT", "OUTPUT", "CONSTRAINT"]),
        (Part::TestEngineer, &["VERDICT:", "TESTS:", "FAILURES:", "PASS", "FAIL"]),
        (
            Part::Architect,
            &["DOMAIN:", "PLAN:", "CHECK:", "CONSTRAINT:", "VERDICT, RISK, ISSUES", "second time"],
        ),
    ];
    for (part, fields) in rows {
        for field in *fields {
            assert!(prompt(*part).contains(field), "{}: {field}", part.name());
        }
    }
}

/// An agent that only repeats the example in its prompt has not approved anything.
#[test]
fn a_prompt_itself_is_no_approval() {
    for part in Part::ALL.into_iter().filter(|part| part.judges().is_some()) {
        let reading = model::verdict::read(prompt(part));
        let is_good = matches!(reading, model::verdict::Reading::Clear(ruling) if ruling.is_good());
        assert!(!is_good, "{}: {reading:?}", part.name());
    }
}

#[test]
fn a_change_is_noticed_wherever_it_is() {
    let swarm = SwarmId::default_swarm();
    let text = file(by_name("claude-code").unwrap(), &definition(&swarm, Part::Coder)).unwrap();
    let changed = Written::Changed(swarm);
    assert_eq!(written(&text.replacen("coder", "Coder", 1)), changed);
    assert_eq!(written(&format!("{text}And be nice.\n")), changed);
    assert_eq!(written(&text.replace("digest ", "digest 0")), changed);
    assert_eq!(written(text.trim_end()), changed);
    assert_eq!(written("---\nname: coder\n---\nmine\n"), Written::BySomebody);
    assert_eq!(written(""), Written::BySomebody);
}

#[test]
fn a_prompt_is_replaced_appended_and_given_a_model() {
    let swarm = SwarmId::new("mega").unwrap();
    let definition = Definition {
        model: Some("opus"),
        prompt: Some("Mine, of {{SWARM_ID}}.\n"),
        appended: Some("\nAsk {{AGENT_PREFIX}}sme.\n"),
        ..definition(&swarm, Part::Coder)
    };
    assert_eq!(text(&definition), "Mine, of mega.\n\nAsk mega_sme.");
    let text = file(by_name("claude-code").unwrap(), &definition).unwrap();
    assert!(text.contains("name: mega_coder\n") && text.contains("model: \"opus\"\n"), "{text}");
}
