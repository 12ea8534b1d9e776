//! `docs/commands.md` is generated from the binary's help. `THRU_BLESS=1 cargo test -p thru --test it docs` rewrites
//! it.

use std::fs;
use std::path::Path;

use crate::env::TestEnv;

const PAGE_INTRO: &str = "\
# Commands

What `thru help` says, command by command. This page is generated from the binary and compared with it by a test;
`THRU_BLESS=1 cargo test -p thru --test it docs` rewrites it.

Data goes to stdout, messages to stderr. Every command takes `--json` and ends with one of the exit codes below.
";

/// Returns every top-level command, in the order of the help.
pub fn top_level_commands(env: &TestEnv) -> Vec<String> {
    commands_in_help(&env.run_thru(&["--help"]).assert_ok().stdout)
}

/// Returns the full name of every command that can be called, such as `packet show`.
pub fn all_commands(env: &TestEnv) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = top_level_commands(env);
    while let Some(path) = open.pop() {
        let words: Vec<&str> = ["help"].into_iter().chain(path.split(' ')).collect();
        let nested = commands_in_help(&env.run_thru(&words).assert_ok().stdout);
        match nested.is_empty() {
            true => found.push(path),
            false => open.extend(nested.iter().map(|name| format!("{path} {name}"))),
        }
    }
    found.sort();
    found
}

/// Returns the commands that a help page lists. Continuation lines, which are indented more deeply, are skipped.
fn commands_in_help(help: &str) -> Vec<String> {
    let rows =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let rows = rows.filter(|row| !row.starts_with("   "));
    let names = rows.map(|row| row.split_whitespace().next().unwrap().to_owned());
    names.filter(|name| name != "help").collect()
}

/// Returns the part of the help below `title:`, up to the next empty line.
fn help_section(help: &str, title: &str) -> String {
    let lines = help.lines().skip_while(|line| *line != format!("{title}:")).skip(1);
    lines.take_while(|line| !line.is_empty()).map(|line| format!("{line}\n")).collect()
}

fn commands_page(env: &TestEnv) -> String {
    let help = env.run_thru(&["--help"]).assert_ok().stdout;
    let overview = help.split("\nExit codes:").next().unwrap();
    let mut page = format!("{PAGE_INTRO}\n## thru\n\n```text\n{}\n```\n", overview.trim_end());
    for title in ["Exit codes", "Variables"] {
        page.push_str(&format!("\n## {title}\n\n```text\n{}```\n", help_section(&help, title)));
    }
    for command in top_level_commands(env) {
        let text = env.run_thru(&["help", &command]).assert_ok().stdout;
        page.push_str(&format!("\n## thru {command}\n\n```text\n{}\n```\n", text.trim_end()));
        for nested in commands_in_help(&text) {
            let text = env.run_thru(&["help", &command, &nested]).assert_ok().stdout;
            page.push_str(&format!("\n### thru {command} {nested}\n\n```text\n{}\n```\n", text.trim_end()));
        }
    }
    page
}

/// Returns the arguments and options that have no explanation.
fn unexplained_arguments(page: &str) -> Vec<&str> {
    let lines: Vec<&str> = page.lines().collect();
    let note = |line: &str| ["[possible", "[default"].iter().any(|start| line.trim().starts_with(start));
    let asks =
        |line: &str| line.starts_with("  ") && line.trim_start().starts_with(['<', '[', '-']) && !note(line);
    let is_bare = |pair: &[&str]| {
        let [line, next] = pair else { return false };
        let alone = line.trim_end().ends_with(['>', ']', '.']) && !line.trim().contains("  ");
        asks(line) && (line.ends_with("  ") || alone && next.trim().is_empty())
    };
    lines.windows(2).filter(|pair| is_bare(pair)).map(|pair| pair[0]).collect()
}

#[test]
fn the_docs_say_what_the_binary_says() {
    let env = TestEnv::new();
    let page = commands_page(&env);
    for code in ["0 ", "1 ", "2 ", "10", "11", "12", "13", "14", "15", "16", "70"] {
        assert!(page.contains(&format!(" {code} ")), "exit code {code} is not documented");
    }
    assert_eq!(unexplained_arguments(&page), [""; 0], "what somebody has to give is not explained");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/commands.md");
    if std::env::var_os("THRU_BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &page).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    let differ = written.lines().zip(page.lines()).find(|(written, said)| written != said);
    assert!(written == page, "docs/commands.md is not what the binary says: {differ:?}; bless it");
}

#[test]
fn both_ways_to_ask_for_help_give_the_same() {
    let env = TestEnv::new();
    for command in top_level_commands(&env) {
        let asked = env.run_thru(&["help", &command]).assert_ok();
        assert_eq!(asked.stdout, env.run_thru(&[&command, "--help"]).assert_ok().stdout, "{command}");
        assert!(asked.stdout.contains(&format!("Usage: thru {command}")), "{asked}");
        assert!(asked.stderr.is_empty());
    }
}

#[test]
fn help_fits_a_terminal() {
    let env = TestEnv::new();
    for command in top_level_commands(&env) {
        let help = env.run_thru(&["help", &command]).assert_ok().stdout;
        let longest = help.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(longest <= 120, "{command}: {longest} columns");
    }
}
