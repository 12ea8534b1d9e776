use super::*;

#[test]
fn the_profile_of_a_kind() {
    let cases = [
        ("coder", "coder"),
        ("mega_coder", "coder"),
        ("mega-Coder", "coder"),
        ("plugin:coder", "coder"),
        ("code-reviewer", "reviewer"),
        ("Test-Engineer", "test_engineer"),
        ("paid_test_engineer", "test_engineer"),
        ("encoder", "general"),
        ("general-purpose", "general"),
        ("Explore", "general"),
        ("", "general"),
        ("security_sme", "sme"),
    ];
    for (kind, expected) in cases {
        assert_eq!(profile_of_subagent(kind, &Settings::DEFAULT).name, expected, "{kind}");
    }
}

#[test]
fn every_default_is_made_of_known_words() {
    for kind in ["architect", "coder", "reviewer", "critic", "test_engineer", "explorer", "sme", "?"] {
        let settings = Settings::DEFAULT;
        let profile = profile_of_subagent(kind, &settings);
        assert!(!profile.classes.is_empty());
        assert!(profile.classes.iter().all(|word| PROFILE_CLASSES.contains(word)), "{profile:?}");
    }
}

#[test]
fn which_sections_a_profile_asks_for() {
    let cases = [
        ("general", "plan", true), // the profile includes tasks, which are part of the plan
        ("general", "decisions", true),
        ("general", "outputs", false),
        ("coder", "evidence", false),
        ("test_engineer", "evidence", true),
        ("critic", "decisions", false),
        ("critic", ACTIVITY_SECTION, true),
        ("architect", "outputs", true),
    ];
    for (kind, section, expected) in cases {
        assert_eq!(
            profile_of_subagent(kind, &Settings::DEFAULT).has_section(section),
            expected,
            "{kind} {section}"
        );
    }
}

#[test]
fn which_classes_a_profile_contains() {
    // The class in the profile, the class of the fact, whether the fact is a task, whether a task exists, and the
    // expected result.
    let cases = [
        ("all", "edited", false, false, true),
        ("all", "problem", false, false, false),
        ("task", "plan", true, true, true),
        ("task", "plan", false, true, false),
        ("task", "goal", false, true, false),
        ("task", "goal", false, false, true),
        ("plan", "plan", true, true, true),
        ("requirements", "words", false, true, true),
        ("diff", "read", false, false, false),
        ("diff", "at-risk", false, false, true),
        ("tests", "evidence", false, false, true),
        ("failures", "check", false, false, false),
        ("unknown", "goal", false, false, false),
    ];
    for (class, name, is_task, has_task, expected) in cases {
        assert_eq!(class_contains(class, name, is_task, has_task), expected, "{class} {name}");
    }
}
