use super::*;
use crate::{HARNESSES, harness_by_name};

fn test_definition(swarm: &SwarmId, swarm_role: SwarmRole) -> AgentDefinition<'_> {
    AgentDefinition { swarm, swarm_role, model: None, prompt: None, appended_prompt: None, program: "thru" }
}

#[test]
fn every_agent_has_a_file_in_every_harness_with_agents() {
    let mega = SwarmId::new("mega").unwrap();
    for harness in HARNESSES.iter().filter(|harness| harness.agents.is_some()) {
        for part in SwarmRole::ALL {
            let text = agent_file_text(harness, &test_definition(&mega, part)).unwrap();
            assert!(text.starts_with("---\n") && text.contains("\n---\n\nYou are "), "{text}");
            assert!(!text.contains("{{"), "{}: a variable is left: {text}", part.name());
            assert!(text.contains("`mega`"), "{text}");
            assert_eq!(file_author(&text), FileAuthor::WrittenByUs(mega.clone()), "{text}");
        }
    }
}

/// This test checks only the list of tools. The end-to-end tests show that each harness enforces its list.
#[test]
fn a_read_only_agent_has_no_tool_that_writes() {
    let swarm = SwarmId::default_swarm();
    let rows: &[(&str, &[&str], &[&str])] = &[
        ("claude-code", &["tools: Read, Grep, Glob"], &["Write", "Edit", "Bash", "NotebookEdit", "Agent"]),
        ("droid", &["tools: [\"Read\""], &["Create", "Edit", "ApplyPatch", "Execute", "Task"]),
        ("opencode", &["edit: deny", "bash: deny"], &["allow"]),
    ];
    for (name, holds, lacks) in rows {
        for part in SwarmRole::ALL {
            let text =
                agent_file_text(harness_by_name(name).unwrap(), &test_definition(&swarm, part)).unwrap();
            let head = text.split("\n---\n").next().unwrap();
            let is_limited = holds.iter().all(|word| head.contains(word));
            assert_eq!(is_limited, part.is_read_only(), "{name} {}: {head}", part.name());
            let tools = head.lines().find(|line| line.starts_with("tools:")).unwrap_or_default();
            assert!(lacks.iter().all(|word| !tools.contains(word)), "{name} {}: {head}", part.name());
        }
    }
}

/// Each prompt must mention every field that the specification requires in requests and answers.
#[test]
fn formats_have_every_field() {
    let rows: &[(SwarmRole, &[&str])] = &[
        (SwarmRole::Sme, &["CRITICAL:", "APPROACH:", "API:", "GOTCHAS:", "DEPS:"]),
        (SwarmRole::Critic, &["VERDICT:", "CONFIDENCE:", "ISSUES:", "SUMMARY:", "NEEDS_REVISION"]),
        (SwarmRole::Reviewer, &["VERDICT:", "RISK:", "ISSUES:", "CHECK"]),
        (SwarmRole::Coder, &["TASK", "FILE", "INPUT", "OUTPUT", "CONSTRAINT"]),
        (SwarmRole::TestEngineer, &["VERDICT:", "TESTS:", "FAILURES:", "PASS", "FAIL"]),
        (
            SwarmRole::Architect,
            &["DOMAIN:", "PLAN:", "CHECK:", "CONSTRAINT:", "VERDICT, RISK, ISSUES", "second time"],
        ),
    ];
    for (part, fields) in rows {
        for field in *fields {
            assert!(default_prompt(*part).contains(field), "{}: {field}", part.name());
        }
    }
}

/// An agent may merely repeat the example from its prompt. This must not count as an approval.
#[test]
fn a_prompt_itself_is_no_approval() {
    for part in SwarmRole::ALL.into_iter().filter(|part| part.evidence_type_judged().is_some()) {
        let reading = model::verdict::read_verdict(default_prompt(part));
        let is_good = matches!(reading, model::verdict::ReadVerdict::Clear(ruling) if ruling.is_good());
        assert!(!is_good, "{}: {reading:?}", part.name());
    }
}

#[test]
fn a_change_is_noticed_wherever_it_is() {
    let swarm = SwarmId::default_swarm();
    let text =
        agent_file_text(harness_by_name("claude-code").unwrap(), &test_definition(&swarm, SwarmRole::Coder))
            .unwrap();
    let changed = FileAuthor::Changed(swarm);
    assert_eq!(file_author(&text.replacen("coder", "Coder", 1)), changed);
    assert_eq!(file_author(&format!("{text}And be nice.\n")), changed);
    assert_eq!(file_author(&text.replace("digest ", "digest 0")), changed);
    assert_eq!(file_author(text.trim_end()), changed);
    assert_eq!(file_author("---\nname: coder\n---\nmine\n"), FileAuthor::WrittenByOthers);
    assert_eq!(file_author(""), FileAuthor::WrittenByOthers);
}

#[test]
fn a_prompt_is_replaced_appended_and_given_a_model() {
    let swarm = SwarmId::new("mega").unwrap();
    let definition = AgentDefinition {
        model: Some("opus"),
        prompt: Some("Mine, of {{SWARM_ID}}.\n"),
        appended_prompt: Some("\nAsk {{AGENT_PREFIX}}sme.\n"),
        ..test_definition(&swarm, SwarmRole::Coder)
    };
    assert_eq!(full_agent_prompt(&definition), "Mine, of mega.\n\nAsk mega_sme.");
    let text = agent_file_text(harness_by_name("claude-code").unwrap(), &definition).unwrap();
    assert!(text.contains("name: mega_coder\n") && text.contains("model: \"opus\"\n"), "{text}");
}
