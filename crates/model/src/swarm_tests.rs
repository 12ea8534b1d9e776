use super::*;

#[test]
fn an_agent_is_known_by_the_end_of_its_name() {
    let rows: &[(&str, Option<Part>)] = &[
        ("reviewer", Some(Part::Reviewer)),
        ("mega_reviewer", Some(Part::Reviewer)),
        ("Mega_Reviewer", Some(Part::Reviewer)),
        ("two_words_coder", Some(Part::Coder)),
        ("test_engineer", Some(Part::TestEngineer)),
        ("mega_test_engineer", Some(Part::TestEngineer)),
        ("test-engineer", Some(Part::TestEngineer)),
        ("plugin:sme", Some(Part::Sme)),
        ("prereviewer", None),
        ("reviewers", None),
        ("engineer", None),
        ("general-purpose", None),
        ("", None),
    ];
    for (name, part) in rows {
        assert_eq!(Part::of(name), *part, "{name:?}");
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
        assert_eq!(swarm_of(name).map(|swarm| swarm.to_string()).as_deref(), swarm, "{name}");
    }
}

#[test]
fn a_description_names_its_agent_first() {
    assert_eq!(Part::of_description("mega_critic: the plan"), Some(Part::Critic));
    assert_eq!(Part::of_description("@reviewer, again"), Some(Part::Reviewer));
    assert_eq!(Part::of_description("test_engineer"), Some(Part::TestEngineer));
    assert_eq!(Part::of_description("Ask the reviewer"), None);
    assert_eq!(Part::of_description(""), None);
}

#[test]
fn names_have_a_prefix_except_in_the_default_swarm() {
    assert_eq!(SwarmId::default_swarm().agent(Part::Coder), "coder");
    let mega = SwarmId::new("mega").unwrap();
    assert_eq!(mega.agent(Part::TestEngineer), "mega_test_engineer");
    assert_eq!(mega.expand("{{SWARM_ID}}: call {{AGENT_PREFIX}}sme"), "mega: call mega_sme");
    assert_eq!(SwarmId::default_swarm().expand("{{AGENT_PREFIX}}sme"), "sme");
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
        assert_eq!(foreign(&imported, &swarms(ours)).is_some(), *is_foreign, "{plan} {ours:?}");
    }
    let made_here = Plan { swarm: String::new(), ..Plan::new("p") };
    assert_eq!(foreign(&made_here, &swarms(&["mega"])), None);
}

#[test]
fn a_model_is_found_for_an_agent_and_a_harness() {
    let setting = "coder=opus, opencode:coder = local/big ,reviewer=haiku,broken,=x,sme=";
    let rows = [
        ("claude-code", Part::Coder, Some("opus")),
        ("opencode", Part::Coder, Some("local/big")),
        ("opencode", Part::Reviewer, Some("haiku")),
        ("claude-code", Part::Sme, None),
        ("claude-code", Part::Critic, None),
    ];
    for (harness, part, model) in rows {
        assert_eq!(model_of(setting, harness, part), model, "{harness} {part:?}");
    }
    assert_eq!(unknown_models(setting, &["opencode"]), ["broken", "=x", "sme="]);
    assert_eq!(unknown_models("vim:coder=x", &["opencode"]), ["vim:coder=x"]);
    assert_eq!(model_of("coder=a\u{1}b", "droid", Part::Coder), None, "a line of its own head");
}

#[test]
fn a_ruling_becomes_evidence() {
    let rows = [
        (Part::Reviewer, Ruling::Approved, Verdict::Approved),
        (Part::Reviewer, Ruling::Pass, Verdict::Approved),
        (Part::Reviewer, Ruling::NeedsRevision, Verdict::Rejected),
        (Part::Critic, Ruling::NeedsRevision, Verdict::Warn),
        (Part::Critic, Ruling::Rejected, Verdict::Rejected),
        (Part::TestEngineer, Ruling::Pass, Verdict::Pass),
        (Part::TestEngineer, Ruling::Rejected, Verdict::Fail),
        (Part::TestEngineer, Ruling::Fail, Verdict::Fail),
    ];
    for (part, ruling, verdict) in rows {
        assert_eq!(part.verdict(ruling), verdict, "{part:?} {ruling:?}");
    }
}
