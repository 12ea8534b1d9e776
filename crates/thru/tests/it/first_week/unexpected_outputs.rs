//! Tests the command that `thru gate` suggests if a file is not one of the expected outputs.

use super::*;

/// Returns the `thru gate expect` command that the text names in backticks.
fn named_command(text: &str) -> Vec<String> {
    let (_, rest) = text.split_once("`thru gate expect ").unwrap_or_else(|| panic!("{text}"));
    let (words, _) = rest.split_once('`').unwrap();
    ["gate", "expect"].into_iter().chain(words.split(' ')).map(str::to_owned).collect()
}

/// Returns the text of all lists of expected outputs in a folder, at most one level below it.
fn all_lists(folder: &Path) -> String {
    let mut text = String::new();
    for name in names_in(folder) {
        let path = folder.join(&name);
        if path.is_dir() {
            text.push_str(&all_lists(&path));
        } else if name.starts_with("expected") && !name.contains("replaced") {
            text.push_str(&fs::read_to_string(path).unwrap());
        }
    }
    text
}

#[test]
fn the_command_that_asks_for_another_output_drops_none() {
    let orders = [["review", "notes"], ["notes", "review"]];
    for (folder, stages) in [None, Some("work")].into_iter().flat_map(|at| orders.map(|order| (at, order))) {
        let env = TestEnv::with_root();
        if let Some(folder) = folder {
            env.write_file(format!("project/{folder}/.keep"), "");
            env.run_thru(&["gate", "live", "--set", folder]).assert_ok();
        }
        for stage in stages {
            env.run_thru(&["gate", "expect", stage, "--critical", &format!("{stage}-a.md")]).assert_ok();
        }
        let at = folder.unwrap_or(".agent/context/outputs");
        env.write_file("project/notes.md", "Some notes.\n");
        for words in [["gate", "seal", "notes.md"], ["gate", "prompt", "notes.md"]] {
            let refused = env.run_thru(&words);
            let named = named_command(&refused.stderr);
            assert!(!["review", "notes"].contains(&named[2].as_str()), "{folder:?}: {refused}");
        }
        let named = named_command(&env.run_thru(&["gate", "seal", "notes.md"]).stderr);
        let words: Vec<&str> = named.iter().map(String::as_str).collect();
        env.run_thru(&words).assert_ok();
        let lists = all_lists(&env.project_folder().join(at));
        for file in ["review-a.md", "notes-a.md", "notes.md"] {
            assert!(lists.contains(&format!("\"{file}\"")), "{folder:?} {file}: {lists}");
        }
    }
}
