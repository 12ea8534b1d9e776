use super::*;

#[test]
fn an_agent_is_known_by_the_end_of_its_name() {
    let rows: &[(&str, Option<SwarmRole>)] = &[
        ("reviewer", Some(SwarmRole::Reviewer)),
        ("mega_reviewer", Some(SwarmRole::Reviewer)),
        ("Mega_Reviewer", Some(SwarmRole::Reviewer)),
        ("two_words_coder", Some(SwarmRole::Coder)),
        ("test_engineer", Some(SwarmRole::TestEngineer)),
        ("mega_test_engineer", Some(SwarmRole::TestEngineer)),
        ("test-engineer", Some(SwarmRole::TestEngineer)),
        ("plugin:sme", Some(SwarmRole::Sme)),
        ("prereviewer", None),
        ("reviewers", None),
        ("engineer", None),
        ("general-purpose", None),
        ("", None),
    ];
    for (name, part) in rows {
        assert_eq!(SwarmRole::from_agent_type(name), *part, "{name:?}");
    }
}

#[test]
fn an_agent_of_another_plugin_belongs_to_no_swarm() {
    for (name, swarm) in [
        ("reviewer", Some("default")),
        ("test-engineer", Some("default")),
        ("mega_reviewer", Some("mega")),
        ("Mega_Reviewer", Some("mega")),
        ("my-team_critic", Some("my-team")),
        ("code-reviewer", None),
        ("pr-review-toolkit:code-reviewer", None),
        ("plugin:reviewer", None),
        ("general-purpose", None),
    ] {
        assert_eq!(swarm_of_agent_name(name).map(|swarm| swarm.to_string()).as_deref(), swarm, "{name}");
    }
}

#[test]
fn a_description_names_its_agent_first() {
    assert_eq!(SwarmRole::from_description("mega_critic: the plan"), Some(SwarmRole::Critic));
    assert_eq!(SwarmRole::from_description("@reviewer, again"), Some(SwarmRole::Reviewer));
    assert_eq!(SwarmRole::from_description("test_engineer"), Some(SwarmRole::TestEngineer));
    assert_eq!(SwarmRole::from_description("Ask the reviewer"), None);
    assert_eq!(SwarmRole::from_description(""), None);
}

#[test]
fn names_have_a_prefix_except_in_the_default_swarm() {
    assert_eq!(SwarmId::default_swarm().agent_name(SwarmRole::Coder), "coder");
    let mega = SwarmId::new("mega").unwrap();
    assert_eq!(mega.agent_name(SwarmRole::TestEngineer), "mega_test_engineer");
    assert_eq!(mega.expand_variables("{{SWARM_ID}}: call {{AGENT_PREFIX}}sme"), "mega: call mega_sme");
    assert_eq!(SwarmId::default_swarm().expand_variables("{{AGENT_PREFIX}}sme"), "sme");
    for bad in ["", "../x", "Mega", "a b", "a/b", "ä", "-x", "x.y", &"x".repeat(41)] {
        assert!(SwarmId::new(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn a_plan_is_foreign_only_to_a_swarm() {
    let swarms = |names: &[&str]| names.iter().map(|name| SwarmId::new(name).unwrap()).collect::<Vec<_>>();
    let rows: &[(&str, &[&str], bool)] = &[
        ("mega", &["default"], true),
        ("mega", &["mega"], false),
        ("mega", &["default", "mega"], false),
        ("mega", &["other"], true),
        ("default", &["mega"], false),
        ("", &["mega"], true),
        ("", &["default", "mega"], false),
        ("", &[], false),
        ("mega", &[], false),
    ];
    for (plan, ours, is_foreign) in rows {
        let imported =
            Plan { swarm: (*plan).to_owned(), migration_status: "migrated".to_owned(), ..Plan::new("p") };
        assert_eq!(foreign_swarm(&imported, &swarms(ours)).is_some(), *is_foreign, "{plan} {ours:?}");
    }
    let made_here = Plan { swarm: String::new(), ..Plan::new("p") };
    assert_eq!(foreign_swarm(&made_here, &swarms(&["mega"])), None);
}

#[test]
fn a_model_is_found_for_an_agent_and_a_harness() {
    let setting = "coder=opus, opencode:coder = local/big ,reviewer=haiku,broken,=x,sme=";
    let rows = [
        ("claude-code", SwarmRole::Coder, Some("opus")),
        ("opencode", SwarmRole::Coder, Some("local/big")),
        ("opencode", SwarmRole::Reviewer, Some("haiku")),
        ("claude-code", SwarmRole::Sme, None),
        ("claude-code", SwarmRole::Critic, None),
    ];
    for (harness, part, model) in rows {
        assert_eq!(model_of_agent(setting, harness, part), model, "{harness} {part:?}");
    }
    assert_eq!(unknown_model_entries(setting, &["opencode"]), ["broken", "=x", "sme="]);
    assert_eq!(unknown_model_entries("vim:coder=x", &["opencode"]), ["vim:coder=x"]);
    assert_eq!(model_of_agent("coder=a\u{1}b", "droid", SwarmRole::Coder), None, "a line of its own head");
}

#[test]
fn a_ruling_becomes_evidence() {
    let rows = [
        (SwarmRole::Reviewer, Ruling::Approved, EvidenceVerdict::Approved),
        (SwarmRole::Reviewer, Ruling::Pass, EvidenceVerdict::Approved),
        (SwarmRole::Reviewer, Ruling::NeedsRevision, EvidenceVerdict::Rejected),
        (SwarmRole::Critic, Ruling::NeedsRevision, EvidenceVerdict::Warn),
        (SwarmRole::Critic, Ruling::Rejected, EvidenceVerdict::Rejected),
        (SwarmRole::TestEngineer, Ruling::Pass, EvidenceVerdict::Pass),
        (SwarmRole::TestEngineer, Ruling::Rejected, EvidenceVerdict::Fail),
        (SwarmRole::TestEngineer, Ruling::Fail, EvidenceVerdict::Fail),
    ];
    for (part, ruling, verdict) in rows {
        assert_eq!(part.to_evidence_verdict(ruling), verdict, "{part:?} {ruling:?}");
    }
}
