use super::*;

fn file(text: &str) -> Resolved {
    resolve(&[Layer::File { path: "config.toml", text }])
}

fn key(name: &str) -> &'static Key {
    KEYS.iter().find(|key| key.name == name).unwrap()
}

/// `line: message` of every finding, and its hint.
fn words(resolved: &Resolved) -> Vec<String> {
    let word = |f: &Finding| {
        let line = f.line.map_or(String::new(), |line| format!("{line}: "));
        let hint = f.hint.as_ref().map_or(String::new(), |hint| format!(" ({hint})"));
        format!("{line}{}{hint}", f.text)
    };
    resolved.findings.iter().map(word).collect()
}

#[test]
fn the_default_settings_are_those_of_the_table() {
    assert_eq!(resolve(&[]).settings(), Settings::default());
}

#[test]
fn later_layers_win_and_say_where_they_are() {
    let resolved = resolve(&[
        Layer::File { path: "user.toml", text: "[hooks]\nenabled = false\ndeadline_ms = 100\n" },
        Layer::File { path: "project.toml", text: "hooks.enabled = true" },
        Layer::Variable { key: key(OUTPUT_COLOR), text: "Never" },
    ]);
    assert_eq!(resolved.findings, []);
    let settings = resolved.settings();
    assert!(settings.hooks_enabled);
    assert_eq!((settings.hooks_deadline_ms, settings.output_color), (100, Color::Never));
    let source = |key| resolved.entries.iter().find(|e| e.key == key).map(|e| e.source.as_str());
    assert_eq!(source(HOOKS_ENABLED), Some("project.toml"));
    assert_eq!(source(HOOKS_DEADLINE_MS), Some("user.toml"));
    assert_eq!(source(OUTPUT_COLOR), Some("$THROUGHLINE_OUTPUT_COLOR"));
    assert_eq!(source(REDACT_EMAILS), Some("default"));
}

#[test]
fn texts_are_taken_as_they_are_written() {
    let resolved = resolve(&[
        Layer::File { path: "user.toml", text: "[roles]\narchitecture_doc = \"Docs/House.md\"\n" },
        Layer::Variable { key: key(ROLES_DIR), text: "Docs/Agents" },
    ]);
    assert_eq!(resolved.findings, []);
    let settings = resolved.settings();
    assert_eq!((&*settings.roles_dir, &*settings.roles_architecture_doc), ("Docs/Agents", "Docs/House.md"));
}

#[test]
fn what_is_not_taken_is_said() {
    let cases: &[(&str, &[&str])] = &[
        ("[hooks]\nlog_limit_kib = 1", &["2: hooks.log_limit_kib is 1, outside 64 to 1048576; 64 is used"]),
        ("[hooks]\nenabled = \"no\"", &["2: hooks.enabled must be true or false; this value is ignored"]),
        (
            "\n[output]\ncolor = \"blue\"",
            &["3: output.color must be one of auto, always, never; this value is ignored"],
        ),
        (
            "[hooks]\nenable = true",
            &["2: unknown setting `hooks.enable` is ignored (did you mean `hooks.enabled`?)"],
        ),
        ("[roles]\ndir = \"\"", &["2: roles.dir must be a text that is not empty; this value is ignored"]),
        ("roles.dir = 3", &["1: roles.dir must be a text that is not empty; this value is ignored"]),
        ("qwerty = 1", &["1: unknown setting `qwerty` is ignored (`thru config` lists every setting)"]),
        (
            "hooks = 3",
            &["1: `hooks` is a group of settings, not a value (write [hooks], and the settings below it)"],
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(words(&file(text)), *expected, "{text}");
    }
}

#[test]
fn a_file_that_does_not_parse_names_its_line_and_changes_nothing() {
    let resolved = file("[hooks]\nenabled = false\nx = = 1\n");
    assert_eq!(resolved.settings(), Settings::default());
    assert_eq!(resolved.findings.len(), 1);
    assert_eq!((resolved.findings[0].level, resolved.findings[0].line), (Level::Error, Some(3)));
}

#[test]
fn variables_are_named_after_their_keys() {
    for key in KEYS {
        let name = key.name.replace('.', "_").to_ascii_uppercase();
        assert_eq!(key.variable, format!("THROUGHLINE_{name}"));
    }
}

#[test]
fn roots_are_allowed_by_the_users_own_file_alone() {
    let text = "[roots]\nallow = [\"/srv/work\", \"/home/me\"]\n";
    let own = resolve(&[Layer::UserFile { path: "user.toml", text }]);
    assert_eq!(
        (own.findings.len(), own.settings().roots_allow),
        (0, vec!["/srv/work".into(), "/home/me".into()])
    );
    for layer in [
        Layer::File { path: "project.toml", text },
        Layer::Variable { key: key(ROOTS_ALLOW), text: "/srv/work" },
        Layer::UserFile { path: "user.toml", text: "roots.allow = [\"work\"]" },
        Layer::UserFile { path: "user.toml", text: "roots.allow = \"/srv/work\"" },
        Layer::UserFile { path: "user.toml", text: "roots.allow = [1]" },
    ] {
        let resolved = resolve(&[layer]);
        assert_eq!((resolved.findings.len(), resolved.settings().roots_allow.len()), (1, 0), "{layer:?}");
    }
}
