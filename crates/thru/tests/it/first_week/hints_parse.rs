//! Tests the commands that `thru` suggests in its messages. Each command must exist, with its subcommand, operands and
//! options. The tests of each feature check whether the command also works in the state in which it is suggested.

use super::*;

/// Texts in backticks that are not commands to type.
const NO_COMMANDS: [&str; 3] = ["thru task …", "thru hook …", "thru {command}"];

fn source_files(folder: &Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            source_files(&path, files);
        } else if name.ends_with(".rs") && !name.ends_with("_tests.rs") {
            files.push(path);
        }
    }
}

/// Joins the lines of comments and of strings.
fn joined_lines(text: &str) -> String {
    let mut joined = String::new();
    for line in text.lines() {
        let line = line.trim_start();
        let comment = ["//! ", "/// ", "// "].iter().find_map(|mark| line.strip_prefix(mark));
        let line = comment.unwrap_or(line);
        match line.strip_suffix('\\') {
            Some(part) => joined.push_str(part),
            None => joined.push_str(&format!("{line} ")),
        }
    }
    joined
}

/// Returns the words of a command before the first redirection, pipe or `--`. Placeholders are replaced by values
/// that the options accept.
fn words_to_type(command: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in command.split_whitespace() {
        if ["<", ">", "--", "|"].contains(&word) {
            break;
        }
        let before = words.last().map_or("", String::as_str);
        let value = match before {
            "install" | "uninstall" | "--harness" if !word.starts_with('-') => "claude-code",
            "--max-iterations" | "--keep" | "--phase" => "1",
            _ if word.contains(['{', '}', '…']) => "x",
            _ => word,
        };
        words.push(value.trim_matches(['\\', '"', '\'']).to_owned());
    }
    words
}

#[test]
fn every_command_in_a_message_exists() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for name in ["thru", "ops", "model", "store", "harness"] {
        source_files(&crates.join(name).join("src"), &mut files);
    }
    let mut commands = std::collections::BTreeSet::new();
    for file in &files {
        let text = joined_lines(&fs::read_to_string(file).unwrap());
        // A single backtick in a string makes code look quoted.
        let is_code = |part: &str| ["\";", "\")"].iter().any(|end| part.contains(end));
        let quoted = text.split('`').filter(|part| part.starts_with("thru ") && !is_code(part));
        commands.extend(quoted.map(str::to_owned));
    }
    assert!(commands.len() > 150, "{}", commands.len());
    let env = TestEnv::new();
    let mut wrong = Vec::new();
    for command in commands.iter().filter(|command| !NO_COMMANDS.contains(&command.as_str())) {
        // `list|show` names several subcommands.
        let Some(words) =
            Some(words_to_type(command)).filter(|words| !words.iter().any(|word| word.contains('|')))
        else {
            continue;
        };
        let typed: Vec<&str> = words.iter().skip(1).map(String::as_str).chain(["--help"]).collect();
        let output = env.run_thru(&typed);
        // An option that is only mentioned, such as `thru brief --session`, has no value.
        if output.code != 0 && !output.stderr.contains("a value is required for") {
            wrong.push(format!("{command}: {}", output.stderr.lines().next().unwrap_or_default()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
