use super::*;

const MANIFEST_TEXT: &str = "---\n# LOADING MANIFEST\nresume_schema_version: \"1.0\"\nlast_updated: \"2026-01-03T15:30:00\"\n\nproject_id: \"24-skills\"\nproject_name: \"Skills\"\ncurrent_phase: execution  # research | planning\nnext_action: execute-project\nfiles_to_load:\n  - 01-planning/overview.md\n  - 01-planning/steps.md  # the steps\ncurrent_section: 2\ncurrent_task: 15\nprogress: \"14/40 tasks complete\"\n---\n\n# Validation Gate\n\nBefore continuing:\n\n1. **Purpose** (from overview.md):\n   - [ ] What problem?\n   - [ ] What criterion?\n\n2. **Location** (from steps.md):\n   - [ ] What is next?\n";

fn test_time() -> Timestamp {
    "2026-11-15T19:22:00Z".parse().unwrap()
}

fn finding_texts(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(|f| format!("{:?} {}: {}", f.level, f.line.unwrap_or(0), f.text)).collect()
}

#[test]
fn the_seeds_manifest_is_read() {
    let document = Document::parse(MANIFEST_TEXT);
    assert_eq!(finding_texts(&check_manifest(&document)), [] as [&str; 0]);
    let manifest = read_manifest(&document);
    assert_eq!(manifest.files_to_load, ["01-planning/overview.md", "01-planning/steps.md"]);
    assert_eq!((manifest.current_section, manifest.current_task), (Some(2), Some(15)));
    assert_eq!(
        manifest.questions,
        [
            "Purpose (from overview.md): What problem? What criterion?",
            "Location (from steps.md): What is next?"
        ]
    );
}

#[test]
fn every_fault_of_a_manifest_is_reported() {
    let cases: &[(&str, &str, &str)] = &[
        (
            "resume_schema_version: \"1.0\"",
            "resume_version: 1",
            "Warning 3: resume_version is the old name of resume_schema_version",
        ),
        (
            "resume_schema_version: \"1.0\"",
            "resume_schema_version: \"2.0\"",
            "Error 3: resume_schema_version is `2.0`; this version of thru supports 1.0",
        ),
        ("\"24-skills\"", "\"skills\"", "Error 6: project_id `skills` is not NN-kebab-case"),
        ("execution  # research | planning", "sleeping", "Error 8: current_phase `sleeping` is unknown"),
        ("next_action: execute-project\n", "", "Error 0: next_action is missing"),
        (
            "  - 01-planning/overview.md\n  - 01-planning/steps.md  # the steps\n",
            "",
            "Error 10: files_to_load is missing",
        ),
        (
            "01-planning/overview.md",
            "../../../../../etc/passwd",
            "Error 10: `../../../../../etc/passwd` is outside the project and is not opened",
        ),
        ("01-planning/overview.md", "/etc/hosts", "Error 10: `/etc/hosts` is not a relative path"),
        (
            "current_task: 15",
            "current_task: 0",
            "Error 14: current_task must be a whole number of at least 1",
        ),
        ("current_section: 2\n", "", "Warning 0: current_section is missing"),
        ("2026-01-03T15:30:00", "yesterday", "Error 4: last_updated `yesterday` is not a valid time"),
        ("14/40 tasks complete", "half", "Error 15: progress `half` is not a count"),
        (
            "current_task: 15",
            "current_task: 15\ncontinue_at: 5",
            "Error 15: continue_at does not name a place in a file",
        ),
        ("current_task: 15", "current_task: 15\nblockers: 7", "Error 15: blockers is not a list of strings"),
        (
            "current_task: 15",
            "current_task: 15\nsession_ids: x",
            "Error 15: session_ids is not a list of strings",
        ),
        ("(from overview.md)", "(from memory)", "Warning 0: question 1 of the gate names no file"),
        ("# Validation Gate", "# Other", "Warning 0: there are no questions under `# Validation Gate`"),
    ];
    for (old, new, expected) in cases {
        let document = Document::parse(MANIFEST_TEXT.replace(old, new));
        assert_eq!(finding_texts(&check_manifest(&document)), [*expected], "{old} -> {new}");
    }
    assert_eq!(check_manifest(&Document::parse("# nothing")).len(), 1);
    assert!(
        finding_texts(&check_manifest(&Document::parse(format!("{MANIFEST_TEXT}{}", "x".repeat(5_000)))))[0]
            .contains("the limit for a manifest is 5120")
    );
}

#[test]
fn workstream_ids_are_checked() {
    for (id, expected) in [
        ("01-a", true),
        ("24-new-parser2", true),
        ("1-a", false),
        ("01-A", false),
        ("01-", false),
        ("01-a--b", false),
        ("../x", false),
    ] {
        assert_eq!(is_workstream_id(id), expected, "{id}");
    }
}

#[test]
fn a_ticked_step_moves_what_follows_from_it_and_nothing_else() {
    let mut steps = Document::parse("# One\n- [x] a\n- [x] b\n# Two\n- [ ] c\n- [ ] d\n");
    let mut manifest = Document::parse(MANIFEST_TEXT);
    assert!(update_from_steps(&mut manifest, &steps, test_time()));
    let text = String::from_utf8(manifest.bytes().to_vec()).unwrap();
    let expected = MANIFEST_TEXT
        .replace("current_task: 15", "current_task: 3")
        .replace("14/40", "2/4")
        .replace("2026-01-03T15:30:00", "2026-11-15T19:22:00Z");
    assert_eq!(text, expected);
    assert!(!update_from_steps(&mut manifest, &steps, test_time()), "twice is once");
    assert_eq!(tick_next_box(&mut steps).as_deref(), Some("c"));
    assert!(
        tick_named_boxes(&mut steps, [" D "].into_iter()) && !tick_named_boxes(&mut steps, ["d"].into_iter())
    );
    assert!(update_from_steps(&mut manifest, &steps, test_time()));
    let done = read_manifest(&manifest);
    assert_eq!((done.current_task, done.progress.as_str()), (Some(4), "4/4 tasks complete"));
    assert_eq!(tick_next_box(&mut steps), None);
}

#[test]
fn what_is_created_is_valid() {
    let files = ["overview.md".to_owned(), "steps.md".to_owned()];
    let new = NewManifestContent {
        project_id: "01-new",
        project_name: "A \"new\" thing: with marks # in it",
        phase: "planning",
        next_action: "plan",
        files_to_load: &files,
        session: Some("s1"),
        now: test_time(),
    };
    let document = Document::parse(create_manifest(&new));
    assert_eq!(finding_texts(&check_manifest(&document)), [] as [&str; 0]);
    let manifest = read_manifest(&document);
    assert_eq!(manifest.project_name, new.project_name);
    assert_eq!((manifest.session_ids, manifest.questions.len()), (vec!["s1".to_owned()], 2));
}

#[test]
fn legacy_files_of_every_shape() {
    let files = ["01-planning/plan.md".to_owned()];
    for legacy in [
        "---\nresume_version: \"1.0\"\nupdated: 2026-01-02\nphase: Planning\nlast_skill: plan-project\n---\nBody stays.\n",
        "---\r\nphase: execution\r\nproject: Old Name\r\n---\r\nBody stays.\r\n",
        "Body stays.\n",
        "---\nunknown: kept\nfiles_to_load:\n  - a.md\nupdated: \"2026-01-02T10:00:00\"\n---\nBody stays.\n",
    ] {
        let document = migrate_legacy(legacy.as_bytes(), "24-skills", &files, test_time());
        let errors: Vec<_> =
            check_manifest(&document).into_iter().filter(|f| f.level == FindingLevel::Error).collect();
        assert_eq!(finding_texts(&errors), [] as [&str; 0], "{legacy}");
        assert!(document.body().starts_with(b"Body stays."), "{legacy}");
        assert_eq!(document.frontmatter_text("unknown").is_some(), legacy.contains("unknown"));
    }
    let mapped = read_manifest(&migrate_legacy(
        b"---\nphase: Planning\nlast_skill: x\nupdated: 2026-01-02\n---\n",
        "01-a",
        &files,
        test_time(),
    ));
    assert_eq!((mapped.current_phase.as_str(), mapped.next_action.as_str()), ("planning", "x"));
    assert_eq!(mapped.last_updated, "2026-01-02T00:00:00Z");
    let mapped = read_manifest(&migrate_legacy(
        b"---\nlast_updated: \"2026-01-02 10:00\"\n---\n",
        "01-a",
        &files,
        test_time(),
    ));
    assert_eq!(mapped.last_updated, "2026-01-02T10:00:00Z");
    assert_eq!(unknown_phase_in_legacy_file(b"---\nphase: doing it\n---\n").as_deref(), Some("doing it"));
    assert_eq!(unknown_phase_in_legacy_file(b"---\nphase: Ready_for implementation\n---\n"), None);
}
