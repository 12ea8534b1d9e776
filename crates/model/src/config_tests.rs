use super::*;

fn resolve_file(text: &str) -> ResolvedSettings {
    resolve_settings(&[file_layer("config.toml", text)])
}

fn file_layer<'a>(path: &'a str, text: &'a str) -> SettingsLayer<'a> {
    SettingsLayer::File(SettingsFile { path, text, owner: SettingsOwner::User })
}

fn variable_layer<'a>(name: &'a str, text: &'a str) -> SettingsLayer<'a> {
    SettingsLayer::Variable { name, text }
}

fn value_and_source(resolved: &ResolvedSettings, key: &str) -> (SettingValue, String) {
    let entry = resolved.entries.iter().find(|entry| entry.key == key).unwrap();
    (entry.value.clone(), entry.source.clone())
}

/// Returns the line, the message and the hint of every finding.
fn finding_lines(resolved: &ResolvedSettings) -> Vec<String> {
    let word = |f: &Finding| {
        let line = f.line.map_or(String::new(), |line| format!("{line}: "));
        let hint = f.hint.as_ref().map_or(String::new(), |hint| format!(" ({hint})"));
        format!("{line}{}{hint}", f.text)
    };
    resolved.findings.iter().map(word).collect()
}

#[test]
fn the_default_settings_are_those_of_the_table() {
    assert_eq!(resolve_settings(&[]).settings(), Settings::DEFAULT);
    for key in SETTING_ROWS {
        let written = match key.default_value() {
            SettingValue::Flag(on) => UncheckedSettingValue::Flag(on),
            SettingValue::Number(number) => UncheckedSettingValue::Number(number),
            SettingValue::Decimal(number) => UncheckedSettingValue::Decimal(number),
            // The default of a table is an empty table.
            SettingValue::Word(_) if matches!(key.accepted_values, AcceptedValues::TokensByModel { .. }) => {
                UncheckedSettingValue::Pairs(Vec::new())
            }
            SettingValue::Word(words) if matches!(key.accepted_values, AcceptedValues::Words { .. }) => {
                UncheckedSettingValue::List(words.split(", ").map(str::to_owned).collect())
            }
            SettingValue::Word(word) => UncheckedSettingValue::Word(word),
            SettingValue::List(texts) => UncheckedSettingValue::List(texts),
        };
        assert_eq!(
            key.check_value(&written),
            (Some(key.default_value()), None),
            "the default of {} fits",
            key.name
        );
    }
}

#[test]
fn every_row_sets_one_field() {
    for key in SETTING_ROWS {
        let other = match (&key.accepted_values, key.default_value()) {
            (_, SettingValue::Flag(on)) => SettingValue::Flag(!on),
            (AcceptedValues::Number { max, .. }, _) => SettingValue::Number(*max),
            (AcceptedValues::Decimal { max, .. }, _) => SettingValue::Decimal(*max),
            (AcceptedValues::Choice { allowed }, _) => SettingValue::Word(allowed[1].to_owned()),
            (_, SettingValue::List(_)) => SettingValue::List(vec!["other".to_owned()]),
            (_, _) => SettingValue::Word("other".to_owned()),
        };
        let mut settings = Settings::DEFAULT;
        (key.write_field)(&mut settings, &other);
        for row in SETTING_ROWS {
            let expected = if row.name == key.name { other.clone() } else { row.default_value() };
            assert_eq!((row.read_field)(&settings), expected, "{} after {} was set", row.name, key.name);
        }
    }
}

#[test]
fn later_layers_win_and_say_where_they_are() {
    let resolved = resolve_settings(&[
        file_layer("user.toml", "[hooks]\nenabled = false\ndeadline_ms = 100\n"),
        file_layer("project.toml", "hooks.enabled = true"),
        variable_layer("THROUGHLINE_OUTPUT_COLOR", "Never"),
    ]);
    assert_eq!(resolved.findings, []);
    let settings = resolved.settings();
    assert!(settings.hooks_enabled);
    assert_eq!((settings.hooks_deadline_ms, settings.output_color), (100, ColorSetting::Never));
    let source = |key| resolved.entries.iter().find(|e| e.key == key).map(|e| e.source.as_str());
    assert_eq!(source("hooks.enabled"), Some("project.toml"));
    assert_eq!(source("hooks.deadline_ms"), Some("user.toml"));
    assert_eq!(source("output.color"), Some("$THROUGHLINE_OUTPUT_COLOR"));
    assert_eq!(source("redact.emails"), Some("default"));
}

#[test]
fn texts_are_taken_as_they_are_written() {
    let resolved = resolve_settings(&[
        file_layer("user.toml", "[roles]\narchitecture_doc = \"Docs/House.md\"\n"),
        variable_layer("THROUGHLINE_ROLES_DIR", "Docs/Agents"),
    ]);
    assert_eq!(resolved.findings, []);
    let settings = resolved.settings();
    assert_eq!((&*settings.roles_dir, &*settings.roles_architecture_doc), ("Docs/Agents", "Docs/House.md"));
}

#[test]
fn what_is_not_taken_is_said() {
    let cases: &[(&str, &[&str])] = &[
        (
            "[hooks]\nlog_limit_kib = 1",
            &["2: hooks.log_limit_kib is 1, which is outside the range 64 to 1048576; using 64"],
        ),
        ("[hooks]\nenabled = \"no\"", &["2: hooks.enabled must be true or false; this value is ignored"]),
        (
            "\n[output]\ncolor = \"blue\"",
            &["3: output.color must be one of auto, always, never; this value is ignored"],
        ),
        (
            "[hooks]\nenable = true",
            &["2: unknown setting `hooks.enable` is ignored (did you mean `hooks.enabled`?)"],
        ),
        ("[roles]\ndir = \"\"", &["2: roles.dir must be a non-empty string; this value is ignored"]),
        ("roles.dir = 3", &["1: roles.dir must be a non-empty string; this value is ignored"]),
        ("qwerty = 1", &["1: unknown setting `qwerty` is ignored (`thru config` lists every setting)"]),
        (
            "hooks = 3",
            &["1: `hooks` is a group of settings, not a value (write [hooks] and put its settings below it)"],
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(finding_lines(&resolve_file(text)), *expected, "{text}");
    }
}

#[test]
fn a_file_that_does_not_parse_names_its_line_and_changes_nothing() {
    let resolved = resolve_file("[hooks]\nenabled = false\nx = = 1\n");
    assert_eq!(resolved.settings(), Settings::default());
    assert_eq!(resolved.findings.len(), 1);
    assert_eq!((resolved.findings[0].level, resolved.findings[0].line), (FindingLevel::Error, Some(3)));
}

#[test]
fn names_and_variables_are_spelled_alike_and_are_there_once() {
    let mut seen = Vec::new();
    for key in SETTING_ROWS {
        for (name, variable) in key.all_names().zip(key.environment_variable_names()) {
            assert!(name.contains('.'), "{name} is in a group");
            assert_eq!(variable, format!("THROUGHLINE_{}", name.replace('.', "_").to_ascii_uppercase()));
            assert!(!seen.contains(&name), "{name} is there twice");
            seen.push(name);
        }
    }
}

#[test]
fn an_old_name_is_read_with_a_note() {
    let resolved = resolve_file("[hooks]\ngate_reminders = false\n");
    assert_eq!(
        value_and_source(&resolved, "resume.reminders"),
        (SettingValue::Flag(false), "config.toml".to_owned())
    );
    assert_eq!(resolved.findings[0].level, FindingLevel::Note);
    assert_eq!(
        finding_lines(&resolved),
        ["2: `hooks.gate_reminders` is now called `resume.reminders` (the old name still works; \
          rename it when you edit this file)"]
    );
    let resolved = resolve_settings(&[variable_layer("THROUGHLINE_HOOKS_GATE_REMINDERS", "no")]);
    assert_eq!(value_and_source(&resolved, "resume.reminders").0, SettingValue::Flag(false));
    assert!(
        finding_lines(&resolved)[0]
            .starts_with("`$THROUGHLINE_HOOKS_GATE_REMINDERS` is now called `$THROUGHLINE_RESUME_REMINDERS`")
    );
}

#[test]
fn a_new_name_wins_over_the_old_one_in_the_same_place() {
    for text in [
        "[hooks]\ngate_reminders = true\n[resume]\nreminders = false\n",
        "resume.reminders = false\nhooks.gate_reminders = true\n",
    ] {
        let resolved = resolve_file(text);
        assert_eq!(value_and_source(&resolved, "resume.reminders").0, SettingValue::Flag(false), "{text}");
        assert_eq!(resolved.findings[0].level, FindingLevel::Warning);
        assert!(finding_lines(&resolved)[0].contains("`hooks.gate_reminders` is ignored"), "{text}");
    }
    let resolved = resolve_settings(&[
        variable_layer("THROUGHLINE_RESUME_REMINDERS", "0"),
        variable_layer("THROUGHLINE_HOOKS_GATE_REMINDERS", "1"),
    ]);
    assert_eq!(value_and_source(&resolved, "resume.reminders").0, SettingValue::Flag(false));
    assert_eq!(resolved.findings.len(), 1);
}

#[test]
fn a_later_layer_wins_under_its_old_name_too() {
    let resolved = resolve_settings(&[
        file_layer("user.toml", "[resume]\nreminders = true\n"),
        file_layer("project.toml", "[hooks]\ngate_reminders = false\n"),
    ]);
    assert_eq!(
        value_and_source(&resolved, "resume.reminders"),
        (SettingValue::Flag(false), "project.toml".to_owned())
    );
}

#[test]
fn roots_are_allowed_by_the_users_own_file_alone() {
    let text = "[roots]\nallow = [\"/srv/work\", \"/home/me\"]\n";
    let own = resolve_settings(&[file_layer("user.toml", text)]);
    assert_eq!(
        (own.findings.len(), own.settings().roots_allow),
        (0, vec!["/srv/work".to_owned(), "/home/me".to_owned()])
    );
    for layer in [
        SettingsLayer::File(SettingsFile { path: "project.toml", text, owner: SettingsOwner::Project }),
        variable_layer("THROUGHLINE_ROOTS_ALLOW", "/srv/work"),
        file_layer("user.toml", "roots.allow = [\"work\"]"),
        file_layer("user.toml", "roots.allow = \"/srv/work\""),
        file_layer("user.toml", "roots.allow = [1]"),
    ] {
        let resolved = resolve_settings(&[layer]);
        assert_eq!((resolved.findings.len(), resolved.settings().roots_allow.len()), (1, 0), "{layer:?}");
    }
}
