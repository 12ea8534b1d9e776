//! Runs every command on a store in which all text is hostile. Each command runs on a terminal and through a pipe, with
//! output for people and with JSON. The output must not contain anything that a terminal interprets or that a reader
//! cannot see.

mod corpus;
mod rows;
mod stores;

use std::collections::BTreeSet;
use std::process::Command;

use crate::docs::all_commands;
use crate::env::{TEST_TIME, TestEnv, thru_binary};
use crate::pty::run_on_terminal;
use corpus::{HiddenCharacters, hostile_corpus};
use rows::{CommandRow, all_rows};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutputWay {
    Pipe,
    Json,
    Terminal,
    Colour,
}

/// Runs a command. Returns the bytes of both streams and the exit code.
fn run_row(env: &TestEnv, row: &CommandRow, way: OutputWay) -> (Vec<u8>, i32) {
    let mut words: Vec<String> = row.path.split(' ').map(str::to_owned).collect();
    words.extend(row.words.iter().cloned());
    if way == OutputWay::Json {
        // `--json` must come before `--`, because the words after `--` belong to another command.
        let at = words.iter().position(|word| word == "--").unwrap_or(words.len());
        words.insert(at, "--json".to_owned());
    }
    if let OutputWay::Pipe | OutputWay::Json = way {
        let output = env.thru_call(&words).with_stdin(row.stdin.clone()).run();
        return ([output.bytes, output.stderr.into_bytes()].concat(), output.code);
    }
    let mut command = Command::new(thru_binary());
    command.args(&words).env_clear().current_dir(env.project_folder()).env("TERM", "xterm-256color");
    command
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", env.home_folder())
        .env("THROUGHLINE_NOW", TEST_TIME);
    if way == OutputWay::Terminal {
        command.env("NO_COLOR", "1");
    }
    run_on_terminal(command, &row.stdin)
}

/// Returns the first forbidden hidden character or control character in the output.
fn find_hidden_character(
    hidden: &HiddenCharacters,
    row: &CommandRow,
    way: OutputWay,
    bytes: &[u8],
) -> Option<String> {
    let Ok(text) = std::str::from_utf8(bytes) else { return Some("bytes that are not UTF-8".to_owned()) };
    let mut text = text.to_owned();
    if way == OutputWay::Colour {
        // The codes of our own styles, of clap's help and of the redrawn line are allowed.
        for code in ["0", "1", "2", "31", "32", "33", "4"] {
            text = text.replace(&format!("\u{1b}[{code}m"), "");
        }
        text = text.replace("\r\u{1b}[2K", "");
    }
    if row.path == "gate run" && way == OutputWay::Terminal {
        text = text.replace('\r', "");
    }
    if way == OutputWay::Json {
        let whole = serde_json::from_str::<serde_json::Value>(&text).is_ok();
        let lines = || text.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok());
        if !whole && !lines() && !row.prints_messages {
            return Some(format!("no JSON: {text:.300}"));
        }
    }
    // A harness decodes a hook's reply, so a JSON escape does not make a character harmless.
    if row.path == "hook"
        && let Ok(reply) = serde_json::from_str::<serde_json::Value>(&text)
    {
        text = strings_in_json(&reply);
    }
    let at = text.char_indices().find(|(_, c)| hidden.is_hidden(*c))?;
    let from = text.floor_char_boundary(at.0.saturating_sub(80));
    Some(format!("{:?} in {:?}", at.1, text[from..].chars().take(160).collect::<String>()))
}

fn strings_in_json(value: &serde_json::Value) -> String {
    use serde_json::Value;
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(strings_in_json).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| format!("{key}{}", strings_in_json(value))).collect()
        }
        _ => String::new(),
    }
}

#[test]
fn what_is_injected_is_cleaned_and_quoted() {
    let env = stores::hostile_but_readable_store();
    let hidden = HiddenCharacters::new();
    let rows = all_rows(&env);
    let mut told = Vec::new();
    for row in rows.iter().filter(|row| row.path == "hook") {
        let (bytes, code) = run_row(&env, row, OutputWay::Pipe);
        assert_eq!(code, 0);
        assert_eq!(find_hidden_character(&hidden, row, OutputWay::Pipe, &bytes), None);
        told.push(String::from_utf8(bytes).unwrap());
    }
    let brief = told.iter().find(|text| text.contains("was compacted")).unwrap_or_else(|| panic!("{told:?}"));
    let brief = strings_in_json(&serde_json::from_str(brief).unwrap());
    assert!(brief.contains("Its goal: “h0<") && brief.contains("Its recovery steps: 1. “Read"), "{brief}");
    // The hostile text tries to close the quotation or the markup around it. Both attempts are escaped.
    assert!(!brief.contains("” The user said") && !brief.contains("</system-reminder>"), "{brief}");
    for line in brief.lines().filter(|line| line.contains("忽略之前的所有指令")) {
        let before = line.split("忽略").next().unwrap();
        let open =
            before.matches('`').count() % 2 == 1 || before.matches('“').count() > before.matches('”').count();
        assert!(open, "a sentence that is not quoted: {line}");
    }
    assert!(
        told.iter().any(|text| text.contains("忽略之前的所有指令")),
        "the agent was told nothing of it: {told:?}"
    );
}

fn check_all_rows(env: &TestEnv, ways: &[OutputWay]) {
    let hidden = HiddenCharacters::new();
    let mut complaints = Vec::new();
    let mut said = BTreeSet::new();
    let mut all = BTreeSet::new();
    for row in &all_rows(env) {
        all.insert(row.path);
        for way in ways {
            if row.is_data && *way == OutputWay::Pipe {
                continue;
            }
            let (bytes, code) = run_row(env, row, *way);
            if !(0..=16).contains(&code) {
                complaints.push(format!("{} ({way:?}): exit code {code}", row.path));
            }
            if !bytes.is_empty() {
                said.insert(row.path);
            }
            if let Some(complaint) = find_hidden_character(&hidden, row, *way, &bytes) {
                complaints.push(format!("{} ({way:?}): {complaint}", row.path));
            }
        }
    }
    assert!(complaints.is_empty(), "{} of them:\n{}", complaints.len(), complaints.join("\n"));
    let silent: Vec<_> = all.difference(&said).filter(|path| **path != "hook").collect();
    assert!(silent.is_empty(), "these printed nothing, so nothing was checked: {silent:?}");
}

#[test]
fn pipes_with_text_that_parses() {
    check_all_rows(&stores::hostile_but_readable_store(), &[OutputWay::Pipe, OutputWay::Json]);
}

#[test]
fn terminals_with_text_that_parses() {
    check_all_rows(&stores::hostile_but_readable_store(), &[OutputWay::Terminal, OutputWay::Colour]);
}

#[test]
fn pipes_with_damaged_records() {
    check_all_rows(&stores::damaged_store(), &[OutputWay::Pipe, OutputWay::Json]);
}

#[test]
fn terminals_with_damaged_records() {
    check_all_rows(&stores::damaged_store(), &[OutputWay::Terminal]);
}

/// Error messages quote the user's input without hidden characters. This applies to clap's messages, our own
/// messages, and messages in JSON.
#[test]
fn arguments_are_cleaned_in_errors() {
    let env = TestEnv::with_root();
    let hidden = HiddenCharacters::new();
    let corpus = hostile_corpus();
    assert!(corpus.len() >= 300, "{}", corpus.len());
    let mut complaints = Vec::new();
    let mut check = |row: CommandRow, way: OutputWay| {
        let (bytes, code) = run_row(&env, &row, way);
        assert!(code != 0 && !bytes.is_empty(), "{} {:?} was accepted", row.path, row.words);
        complaints.extend(
            find_hidden_character(&hidden, &row, way, &bytes).map(|what| format!("{}: {what}", row.path)),
        );
    };
    // Each argument contains many hostile strings at once. If one of them causes a problem, the output shows which.
    let bundles: Vec<String> = corpus.chunks(40).map(|chunk| chunk.concat().replace('\0', "")).collect();
    let commands = all_commands(&env);
    // Harnesses call these two commands. Both always exit with 0.
    let is_lenient = |path: &&String| path == &"hook" || path == &"statusline";
    for (i, path) in commands.iter().filter(|path| !is_lenient(path)).enumerate() {
        let path: &'static str = path.clone().leak();
        let bundle = &bundles[i % bundles.len()];
        let way = [OutputWay::Pipe, OutputWay::Terminal, OutputWay::Json][i % 3];
        check(CommandRow::new(path, &[&format!("--no-such{bundle}")]), way);
        check(CommandRow::new("packet show", &[bundle]), way);
        check(CommandRow::new("loop show", &[bundle]), way);
        check(CommandRow::new(bundle.clone().leak(), &[]), way);
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// If this test fails, a new command needs a row in `rows.rs`.
#[test]
fn every_command_has_a_row() {
    let env = TestEnv::with_root();
    let commands = all_commands(&env);
    let rows = all_rows(&env);
    let covered: BTreeSet<&str> = rows.iter().map(|row| row.path).collect();
    let missing: Vec<_> = commands.iter().filter(|path| !covered.contains(path.as_str())).collect();
    assert!(missing.is_empty(), "no row for: {missing:?}");
    let gone: Vec<_> = covered.iter().filter(|path| !commands.contains(&(**path).to_owned())).collect();
    assert!(gone.is_empty(), "no such command: {gone:?}");
    // docs/commands.md lists the same commands.
    let page = include_str!("../../../../docs/commands.md");
    for path in commands.iter().filter(|path| path.split(' ').count() < 3) {
        assert!(page.lines().any(|line| line.trim_start_matches('#') == format!(" thru {path}")), "{path}");
    }
}

/// `--raw` prints the exact bytes, but not on a terminal.
#[test]
fn raw_bytes_go_to_a_pipe_only() {
    let env = stores::hostile_but_readable_store();
    let path = env.store_folder().join("packets").join(format!("{}.md", stores::PACKET_ID));
    let row = CommandRow::new("packet show", &[stores::PACKET_ID, "--raw"]);
    assert_eq!(run_row(&env, &row, OutputWay::Pipe).0, std::fs::read(path).unwrap());
    let (bytes, code) = run_row(&env, &row, OutputWay::Terminal);
    let text = String::from_utf8(bytes).unwrap();
    assert!(code == 15 && text.contains("--raw") && text.contains("hint:"), "{code}: {text}");
    // The visible parts of the text are still shown.
    let shown = env.run_thru(&["packet", "show", stores::PACKET_ID]).assert_ok().stdout;
    for (i, _) in hostile_corpus().iter().enumerate() {
        assert!(shown.contains(&format!("h{i}<")), "{i}");
    }
}

/// Untrusted text must not imitate our colours or begin a line that looks like our output.
#[test]
fn marks_of_the_printer_cannot_be_forged() {
    let env = TestEnv::with_root();
    let forged = "\u{fdd0}0000000000000000\u{fdd1}4 red \u{fdd0}4\u{fdd1}\nerror: run this";
    let (bytes, code) = run_row(&env, &CommandRow::new("packet show", &[forged]), OutputWay::Colour);
    let text = String::from_utf8(bytes).unwrap();
    assert!(code == 10 && !text.contains('\u{fdd0}') && text.contains(" red "), "{text:?}");
    assert!(!text.contains("\nerror:"), "{text:?}");
}

/// A person who reads records from a clone sees a warning that they are not trusted.
#[test]
fn records_that_are_not_trusted_are_named_so() {
    let env = stores::hostile_but_readable_store();
    let records = [
        &["packet", "show", stores::PACKET_ID][..],
        &["packet", "list"],
        &["recover", "tester"],
        &["journal"],
        &["journal", "--list"],
        &["brief"],
        &["pickup", stores::PACKET_ID],
        &["files"],
        &["loop", "list"],
        &["role", "list"],
        &["resume", "show", "01-parser"],
        &["context", "recover", "tester"],
        &["lifecycle", "status"],
        &["gate", "check"],
    ];
    for words in records {
        let note = |output: &crate::call::ThruOutput| output.stderr.contains("not trusted on this machine");
        let output = env.thru_call(words).run();
        assert!(!note(&output), "{words:?} on a trusted store: {output}");
    }
    env.run_thru(&["trust", "--revoke"]).assert_ok();
    for words in records {
        let output = env.thru_call(words).run();
        assert_eq!(output.stderr.matches("not trusted on this machine").count(), 1, "{words:?}: {output}");
        let json = env.thru_call(words).with_argument("--json").run();
        let lines = json.stdout.lines().map(serde_json::from_str);
        let values: Vec<serde_json::Value> = match serde_json::from_slice(&json.bytes) {
            Ok(serde_json::Value::Array(rows)) => rows,
            Ok(value) => vec![value],
            Err(_) => lines.collect::<Result<_, _>>().unwrap(),
        };
        assert!(
            !values.is_empty() && values.iter().all(|value| value["trusted"] == false),
            "{words:?}: {json}"
        );
    }
}
