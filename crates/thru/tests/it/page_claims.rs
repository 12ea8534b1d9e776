//! What the README and the pages in `docs/` say about themselves and about the program: their links lead somewhere, what
//! they name exists, and words that only scripts use are explained where they occur.

use std::fs;
use std::path::{Path, PathBuf};

use harness::HARNESSES;
use harness::commands::{command_files, own_commands, plugin_commands};

use crate::env::TestEnv;

/// The README fits on two screens of a large window.
const MAX_README_LINES: usize = 165;

fn workspace_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn read_page(rel: &str) -> String {
    fs::read_to_string(workspace_root().join(rel)).unwrap_or_else(|e| panic!("{rel}: {e}"))
}

/// Returns the README and all pages in `docs/`, relative to the workspace.
fn all_pages() -> Vec<String> {
    let names = crate::env::names_in(&workspace_root().join("docs"));
    let pages = names.iter().filter(|name| name.ends_with(".md")).map(|name| format!("docs/{name}"));
    let pages: Vec<String> = pages.chain(["README.md".to_owned()]).collect();
    assert!(pages.len() > 15, "{pages:?}");
    pages
}

/// Returns the text of a page without its blocks of code, in which nothing is a link or a heading.
fn without_code_blocks(text: &str) -> String {
    let mut is_code = false;
    let lines = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    lines.map(|line| format!("{line}\n")).collect()
}

/// Returns the targets of the links of a page.
fn links_of(text: &str) -> Vec<String> {
    let text = without_code_blocks(text);
    let parts = text.split("](").skip(1);
    parts.filter_map(|part| Some(part.split_once(')')?.0.to_owned())).collect()
}

/// Returns the anchor that GitHub gives to a heading.
fn anchor_of(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn anchors_of(text: &str) -> Vec<String> {
    let text = without_code_blocks(text);
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| anchor_of(line.trim_start_matches('#'))).collect()
}

/// Returns the texts in backticks, without the blocks of code. A text that a line break divides is joined.
fn code_spans(text: &str) -> Vec<String> {
    let text = without_code_blocks(text);
    let spans = text.split('`').skip(1).step_by(2);
    spans.map(|span| span.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn the_readme_is_short_and_has_its_parts_in_order() {
    let readme = read_page("README.md");
    let lines = readme.lines().count();
    assert!(lines <= MAX_README_LINES, "the README has {lines} lines");
    let parts = [
        "**Keeps coding agents' work alive across compactions, crashes, handoffs and changes of harness.**",
        "](docs/compaction.svg)",
        "\n## Install\n",
        "./install.sh ~/code/my-project",
        "\n## Then work as usual\n",
        "$ thru journal\n",
        "\n## Which feature to use\n\n| you want to | use | more |\n",
        "\n## What it costs\n\n| event | time, × `/bin/true` | ms | memory | tokens told to the agent |\n",
        "\n## Compared with what people use now\n",
        "\n## Platforms\n",
        "\n## Remove it\n",
    ];
    let mut rest = readme.as_str();
    for part in parts {
        let at = rest.find(part).unwrap_or_else(|| panic!("{part:?} is missing, or in another place"));
        rest = &rest[at + part.len()..];
    }
    // Each block is run by a test: `install_script`, CI, and `readme`. A new block needs a test of its own.
    let fences: Vec<&str> = readme.lines().filter(|line| line.starts_with("```")).collect();
    assert_eq!(fences, ["```sh", "```", "```sh", "```", "```console", "```", "```text", "```"]);
}

#[test]
fn every_link_of_the_pages_leads_somewhere() {
    let root = workspace_root();
    let mut dead = Vec::new();
    for page in all_pages() {
        let text = read_page(&page);
        let folder = root.join(&page).parent().unwrap().to_owned();
        for link in links_of(&text).iter().filter(|link| !link.contains("://")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { root.join(&page) } else { folder.join(file) };
            let is_alive = target.exists()
                && (anchor.is_empty()
                    || anchors_of(&fs::read_to_string(&target).unwrap()).iter().any(|known| known == anchor));
            if !is_alive {
                dead.push(format!("{page}: {link}"));
            }
        }
    }
    assert!(dead.is_empty(), "{dead:#?}");
}

#[test]
fn every_page_is_linked_from_the_readme_or_from_a_page_that_is() {
    let mut reached = vec!["README.md".to_owned()];
    let mut next = 0;
    while let Some(page) = reached.get(next).cloned() {
        next += 1;
        let folder = Path::new(&page).parent().unwrap().to_owned();
        for link in links_of(&read_page(&page)) {
            let file = link.split('#').next().unwrap_or_default();
            let target = folder.join(file).to_string_lossy().into_owned();
            let is_page = target == "README.md" || target.starts_with("docs/") && target.ends_with(".md");
            if is_page && !reached.contains(&target) {
                reached.push(target);
            }
        }
    }
    for page in all_pages() {
        assert!(reached.contains(&page), "no way leads from the README to {page}");
    }
    for page in ["docs/faq.md", "docs/glossary.md"] {
        assert!(links_of(&read_page("README.md")).iter().any(|link| link == page), "{page}");
    }
    let faq = read_page("docs/faq.md");
    let questions = faq.lines().filter(|line| line.starts_with("**") && line.contains("?**")).count();
    assert!(questions >= 10, "{questions} questions");
}

#[test]
fn every_slash_command_of_the_readme_is_one() {
    let ours = HARNESSES.iter().flat_map(|harness| {
        let files = command_files(harness, "thru").into_iter().map(|file| file.name);
        files.chain(plugin_commands(harness, "thru").into_iter().map(|command| command.name))
    });
    let ours: Vec<String> = ours.collect();
    let spans = code_spans(&read_page("README.md"));
    let named: Vec<&str> = spans.iter().filter_map(|span| span.strip_prefix('/')).collect();
    let named: Vec<&str> = named.into_iter().filter(|name| !name.contains('/')).collect();
    assert!(named.len() >= 6, "{named:?}");
    for name in named {
        let is_theirs = || HARNESSES.iter().any(|harness| own_commands(harness).names.contains(&name));
        assert!(ours.iter().any(|known| known == name) || is_theirs(), "/{name}");
    }
}

#[test]
fn every_option_of_the_pages_exists() {
    let env = TestEnv::new();
    let has_option = |help: &str, option: &str| {
        help.match_indices(option).any(|(at, _)| {
            !help[at + option.len()..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-')
        })
    };
    let every_help = read_page("docs/commands.md");
    let mut unknown = Vec::new();
    let mut checked = 0;
    for page in all_pages().iter().filter(|page| *page != "docs/commands.md") {
        for span in code_spans(&read_page(page)) {
            // The words behind `--` are those of another program.
            let words: Vec<&str> = span.split(' ').take_while(|word| *word != "--").collect();
            let options = words.iter().filter(|word| word.starts_with("--"));
            let options: Vec<&str> =
                options.map(|word| word.split(['=', '|', ',']).next().unwrap()).collect();
            if options.is_empty() {
                continue;
            }
            let help = match words[0] {
                "thru" => {
                    let path = words[1..].iter().take_while(|word| !word.starts_with('-')).copied();
                    // Arguments follow the command, so the longest beginning that is a command counts.
                    let mut path: Vec<&str> = path.collect();
                    loop {
                        let said = env.run_thru(&[&path[..], &["--help"]].concat());
                        if said.code == 0 {
                            break said.stdout;
                        }
                        path.pop().unwrap_or_else(|| panic!("{page}: {span}"));
                    }
                }
                first if first.starts_with("--") => every_help.clone(),
                // Another program.
                _ => continue,
            };
            for option in options {
                checked += 1;
                if !has_option(&help, option) && !OPTIONS_OF_OTHERS.contains(&option) {
                    unknown.push(format!("{page}: `{span}`: {option}"));
                }
            }
        }
    }
    assert!(checked > 40, "{checked}");
    assert!(unknown.is_empty(), "{unknown:#?}");
}

/// Options of Claude Code that the pages name without the program.
const OPTIONS_OF_OTHERS: &[&str] = &["--resume"];

#[test]
fn the_platforms_of_the_pages_are_those_that_are_built() {
    let code = read_page("xtask/src/platforms.rs");
    let targets: Vec<&str> = code
        .split('"')
        .filter(|text| text.contains("-unknown-linux-musl") || text.ends_with("-apple-darwin"))
        .collect();
    let mut targets: Vec<&str> = targets.into_iter().filter(|text| !text.contains(' ')).collect();
    targets.sort_unstable();
    let named = [
        ("aarch64-apple-darwin", "macOS (arm64, x86_64)", "| macOS arm64, x86_64 |"),
        ("aarch64-unknown-linux-musl", "Linux arm64", "| Linux arm64 |"),
        ("x86_64-apple-darwin", "macOS (arm64, x86_64)", "| macOS arm64, x86_64 |"),
        ("x86_64-unknown-linux-musl", "Linux x86_64", "| Linux x86_64 |"),
    ];
    assert_eq!(targets, named.map(|(target, ..)| target));
    let (readme, page) = (read_page("README.md"), read_page("docs/platforms.md"));
    let (_, section) = readme.split_once("\n## Platforms\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    for (target, in_readme, in_table) in named {
        assert!(section.contains(in_readme), "{target}: {section}");
        assert!(page.contains(in_table), "{target}: {page}");
    }
    assert_eq!(
        page.lines().filter(|line| line.starts_with("| Linux") || line.starts_with("| macOS")).count(),
        3
    );
}

#[test]
fn the_comparison_names_the_version_of_each_program() {
    let readme = read_page("README.md");
    let (_, section) = readme.split_once("\n## Compared with what people use now\n").unwrap();
    let rows = section.split("\n## ").next().unwrap().lines().filter(|line| line.starts_with("| ")).skip(1);
    let rows: Vec<&str> = rows.collect();
    for name in ["`CLAUDE.md` and `--resume`", "claude-mem", "beads", "Entire", "deja-vu"] {
        let row = rows.iter().find(|row| row.contains(name)).unwrap_or_else(|| panic!("{name}"));
        let first = row.split('|').nth(1).unwrap();
        let has_version = first
            .split([' ', ')'])
            .any(|word| word.contains('.') && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'));
        assert!(has_version, "{row}");
    }
}

/// Sentences that native readers stumbled over in a trial.
#[test]
fn phrases_that_readers_stumbled_over_do_not_return() {
    let phrases = [
        "To be rid of it",
        "Nobody is believed",
        "that word is kept on your machine",
        "twice is the same as once",
        "begun, explained",
        "it stood still at",
        "(changed: changed since)",
        "seen to",
        "is no workstream",
        "of no marked root",
        "no whole records",
        "What in it bears on the next step?",
        "would be changed /",
        "4 receipts",
        "Nothing fits into 151 characters",
    ];
    // docs/commands.md contains the help of every command.
    for page in all_pages() {
        let text = read_page(&page);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        for phrase in phrases {
            assert!(!text.contains(&phrase.to_lowercase()), "{page}: {phrase}");
        }
    }
}

/// Words that only scripts and files use, with the page and the sentence that explains them.
const EXPLAINED_WORDS: &[(&str, &str, &str)] = &[
    (
        "PERSISTENCE_GATE",
        "docs/gates.md",
        "The last line is for scripts. It says `PASS`, `SOFT_CONTINUE` (only advisory outputs are missing) or `HARD_FAIL`.",
    ),
    (
        "PERSISTENCE_GATE",
        "docs/commands.md",
        "Prints PERSISTENCE_GATE=PASS, SOFT_CONTINUE or HARD_FAIL. The exit code is 0, 3 or 4.",
    ),
    (
        "**Pane**",
        "docs/roles.md",
        "names the terminal pane (or window) in which the agent runs, so that people can find it.",
    ),
    (
        "next_action",
        "docs/manifests.md",
        "If `next_action` in the manifest names a skill or command that continues the work",
    ),
    // How a sub-agent is matched to its file.
    (
        "matched to their files",
        "docs/gates.md",
        "are matched to their files by their type: a sub-agent of type `review-security` or `security` writes \
         `review-security.md`, if only one file fits.",
    ),
];

#[test]
fn words_for_scripts_are_explained_where_they_occur() {
    for page in all_pages() {
        let text = read_page(&page).split_whitespace().collect::<Vec<_>>().join(" ");
        for (word, ..) in EXPLAINED_WORDS.iter().filter(|(word, ..)| text.contains(word)) {
            let explained = EXPLAINED_WORDS.iter().find(|(known, of, _)| (known, *of) == (word, &*page));
            let (.., sentence) = explained.unwrap_or_else(|| panic!("{page} does not explain {word}"));
            assert!(text.contains(sentence), "{page}: {word}");
        }
    }
    for (word, page, _) in EXPLAINED_WORDS {
        assert!(read_page(page).contains(word), "{page} no longer contains {word}");
    }
}
