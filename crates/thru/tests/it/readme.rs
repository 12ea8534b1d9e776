//! The README's commands and outputs are real. The tests send the events of a session to the hooks, and compare the
//! README and its picture with the binary's output. `THRU_BLESS=1 cargo test -p thru --test it readme` rewrites both.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::docs::all_commands;
use crate::env::TestEnv;

const SESSION_ID: &str = "9487a9f7-611a-47e9-8202-df72ea246773";

/// The beginning of the block in the README that shows a brief.
const BRIEF_BLOCK_START: &str = "```text\nThroughline: ";

fn workspace_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Plays the session in the README. Returns the journal before the compaction and the brief after the compaction.
fn play_session(env: &TestEnv) -> (String, String) {
    let fire = |at: &str, event: &str, more: Value| {
        let call = env.hook_call(event, env.event_payload(SESSION_ID, event, more).to_string());
        let output = call.with_variable("THROUGHLINE_NOW", format!("2026-11-15T{at}Z")).run();
        output.assert_accepted_by_harness(event);
        output
    };
    let tool = |at: &str, id: &str, tool: &str, path: &str| {
        let input = json!({"file_path": env.project_folder().join(path)});
        fire(at, "PostToolUse", json!({"tool_name": tool, "tool_use_id": id, "tool_input": input}));
    };
    for path in ["src/parse.rs", "src/lex.rs", "tests/parse.rs"] {
        env.write_file(format!("project/{path}"), "\n");
    }
    fire("22:51:03", "SessionStart", json!({"source": "startup"}));
    fire("22:51:07", "UserPromptSubmit", json!({"prompt": "Make the parser accept trailing commas"}));
    tool("22:51:09", "t1", "Read", "src/lex.rs");
    tool("22:51:15", "t2", "Edit", "src/parse.rs");
    tool("22:51:22", "t3", "Edit", "tests/parse.rs");
    let test = json!({"tool_name": "Bash", "tool_use_id": "t4", "tool_input": {"command": "cargo test"},
        "error": "Exit code 101\nerror: test trailing_comma failed"});
    fire("22:51:31", "PostToolUseFailure", test);
    tool("22:51:40", "t5", "Edit", "src/parse.rs");
    let journal = env.run_thru(&["journal"]).assert_ok().stdout;
    fire("22:52:00", "PreCompact", json!({"trigger": "auto"}));
    (journal, fire("22:52:20", "SessionStart", json!({"source": "compact"})).context_for_model())
}

#[test]
fn the_readme_shows_what_the_binary_prints() {
    let env = TestEnv::with_root();
    let (journal, told) = play_session(&env);
    let path = workspace_root().join("README.md");
    let page = fs::read_to_string(&path).unwrap();
    let page_now = replace_block(&page, "```console\n$ thru journal", &format!("\n{journal}"));
    let page_now =
        replace_block(&page_now, "```text\nThroughline: ", told.strip_prefix("Throughline: ").unwrap());
    let picture = draw_picture(&journal, &told);
    let picture_path = workspace_root().join("docs/compaction.svg");
    if std::env::var_os("THRU_BLESS").is_some() {
        fs::write(&path, &page_now).unwrap();
        fs::write(&picture_path, &picture).unwrap();
    }
    assert!(page.contains(BRIEF_BLOCK_START), "the README shows what an agent is told");
    assert_eq!(fs::read_to_string(&path).unwrap(), page_now, "THRU_BLESS=1 writes it anew");
    assert_eq!(fs::read_to_string(&picture_path).unwrap_or_default(), picture, "THRU_BLESS=1 draws it anew");
    assert!(page_now.contains("(docs/compaction.svg)"), "the README shows the picture");
}

/// The README says that `thru brief --event compact` prints exactly the bytes that a hook would send.
#[test]
fn the_brief_is_what_the_hook_said() {
    let env = TestEnv::with_root();
    let (_, told) = play_session(&env);
    let brief = env
        .thru_call(&["brief", "--session", SESSION_ID, "--event", "compact"])
        .with_variable("THROUGHLINE_NOW", "2026-11-15T22:52:20Z")
        .run()
        .assert_ok();
    assert_eq!(brief.stdout, told);
}

#[test]
fn every_command_that_the_pages_name_is_one() {
    let env = TestEnv::new();
    let commands = all_commands(&env);
    let pages = fs::read_dir(workspace_root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> =
        pages.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    pages.push(workspace_root().join("README.md"));
    let mut unknown = Vec::new();
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        let named = text.match_indices("`thru ").chain(text.match_indices("\n$ thru "));
        for (at, mark) in named {
            let words: Vec<&str> =
                text[at + mark.len()..].split(['`', '\n']).next().unwrap().split(' ').collect();
            let is_word = |word: &&&str| {
                word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-') && !word.starts_with('-')
            };
            let path: Vec<&str> = words.iter().take_while(is_word).copied().collect();
            let is_known = |path: &str| {
                path.is_empty()
                    || commands.iter().any(|known| known == path || known.starts_with(&format!("{path} ")))
            };
            let known = path.first().is_none_or(|first| is_known(first) || *first == "help");
            // If a command has subcommands, as in `thru loop start`, the second word must be one of them.
            let has_more = path.first().is_some_and(|first| !commands.iter().any(|known| known == first));
            let nested = !has_more || path.len() < 2 || is_known(&path[..2].join(" ")) || path[0] == "help";
            if !known || !nested {
                unknown.push(format!(
                    "{}: thru {}",
                    page.file_name().unwrap().to_string_lossy(),
                    path.join(" ")
                ));
            }
        }
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
}

/// Returns the page with `text` as the content of the block that begins with `start`.
fn replace_block(page: &str, start: &str, text: &str) -> String {
    let from = page.find(start).unwrap_or_else(|| panic!("no block begins with {start}")) + start.len();
    let end = from + page[from..].find("```").expect("an end");
    let text = if text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") };
    format!("{}{text}{}", &page[..from], &page[end..])
}

const PICTURE_COLUMNS: usize = 104;
const LINE_HEIGHT: usize = 19;

/// Draws two terminals, with the journal before the compaction and the brief after it.
fn draw_picture(before: &str, told: &str) -> String {
    let mut rows: Vec<(&str, String)> = vec![("prompt", "$ thru journal".to_owned())];
    rows.extend(wrap_lines(before).into_iter().map(|line| {
        let class = if line.contains("  failed (") { "bad" } else { "text" };
        (class, line)
    }));
    rows.push(("text", String::new()));
    rows.push(("rule", "── the context window is full: the harness compacts it ──".to_owned()));
    rows.push(("text", String::new()));
    rows.push(("prompt", "what the agent is told by the hook".to_owned()));
    rows.extend(wrap_lines(told).into_iter().map(|line| {
        let is_title = line.ends_with(':') && !line.starts_with(['-', ' ']);
        (if is_title { "title" } else { "text" }, line)
    }));
    let height = rows.len() * LINE_HEIGHT + 60;
    let width = PICTURE_COLUMNS * 8 + 48;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
         <title>A session before and after a compaction</title>\n<style>\n\
         text {{ font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre; fill: #d0d7de; }}\n\
         .prompt {{ fill: #7ee787; }} .bad {{ fill: #ff7b72; }} .title {{ fill: #79c0ff; }} .rule {{ fill: #e3b341; }}\n\
         </style>\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#0d1117\"/>\n"
    );
    for (i, color) in ["#ff5f57", "#febc2e", "#28c840"].iter().enumerate() {
        svg.push_str(&format!("<circle cx=\"{}\" cy=\"20\" r=\"6\" fill=\"{color}\"/>\n", 24 + i * 20));
    }
    for (i, (class, line)) in rows.iter().enumerate() {
        let line = line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let y = 56 + i * LINE_HEIGHT;
        svg.push_str(&format!("<text class=\"{class}\" x=\"24\" y=\"{y}\">{line}</text>\n"));
    }
    svg.push_str("</svg>\n");
    svg
}

/// Breaks the text between words into lines of at most `PICTURE_COLUMNS` characters.
fn wrap_lines(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut rest = line.trim_end().to_owned();
        while rest.chars().count() > PICTURE_COLUMNS {
            let end = rest.char_indices().nth(PICTURE_COLUMNS).map_or(rest.len(), |(at, _)| at);
            let cut = rest[..end].rfind(' ').unwrap_or(end);
            lines.push(rest[..cut].to_owned());
            rest = format!("  {}", rest[cut..].trim_start());
        }
        lines.push(rest);
    }
    lines
}
