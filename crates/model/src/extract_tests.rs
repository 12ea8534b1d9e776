use super::*;

const FORBIDDEN_FOLDERS: &[&str] = &[".git", ".agent"];

const RULES: FileNameRules = FileNameRules {
    forbidden_folders: FORBIDDEN_FOLDERS,
    guarded_folders: &[".github"],
    guarded_files: &["agents.md", ".envrc"],
};

fn name_of_only_block(message: &str) -> Option<String> {
    let blocks = code_blocks(message);
    assert_eq!(blocks.len(), 1, "{message}");
    blocks[0].name.clone()
}

/// Blocks whose names are given in every common form, each with its expected name.
const NAMING_CASES: &[(&str, &str)] = &[
    // The name is in the fence.
    ("```rust src/a.rs\nx\n```", "src/a.rs"),
    ("```rust:src/a.rs\nx\n```", "src/a.rs"),
    ("```src/a.rs\nx\n```", "src/a.rs"),
    ("```a.rs\nx\n```", "a.rs"),
    ("```Makefile\nx\n```", "Makefile"),
    ("```ts title=\"src/a.ts\"\nx\n```", "src/a.ts"),
    ("```ts title='src/a.ts'\nx\n```", "src/a.ts"),
    ("```ts title=src/a.ts\nx\n```", "src/a.ts"),
    ("```js filename=\"a.js\"\nx\n```", "a.js"),
    ("```js file=a.js showLineNumbers\nx\n```", "a.js"),
    ("```js {filename: \"a.js\"}\nx\n```", "a.js"),
    ("```js {file=a.js}\nx\n```", "a.js"),
    ("```{.python file=a.py}\nx\n```", "a.py"),
    ("```js path=lib/a.js\nx\n```", "lib/a.js"),
    ("```js // a.js\nx\n```", "a.js"),
    ("```python # a.py\nx\n```", "a.py"),
    ("```python (a.py)\nx\n```", "a.py"),
    ("```python [a.py]\nx\n```", "a.py"),
    ("```json package.json\n{}\n```", "package.json"),
    ("```text title=\"my notes.txt\"\nx\n```", "my notes.txt"),
    ("~~~rust src/a.rs\nx\n~~~", "src/a.rs"),
    ("````md docs/a.md\n```\nx\n```\n````", "docs/a.md"),
    ("```tsx file:src/App.tsx\nx\n```", "src/App.tsx"),
    ("```yaml .github/workflows/ci.yml\nx\n```", ".github/workflows/ci.yml"),
    // The name is in the first line of the block.
    ("```rust\n// src/a.rs\nx\n```", "src/a.rs"),
    ("```rust\n// File: src/a.rs\nx\n```", "src/a.rs"),
    ("```rust\n// filename: src/a.rs\nx\n```", "src/a.rs"),
    ("```rust\n//! src/a.rs\nx\n```", "src/a.rs"),
    ("```python\n# a.py\nx\n```", "a.py"),
    ("```python\n# file: pkg/a.py\nx\n```", "pkg/a.py"),
    ("```python\n# === a.py ===\nx\n```", "a.py"),
    ("```python\n\"\"\"a.py\"\"\"\nx\n```", "a.py"),
    ("```html\n<!-- index.html -->\nx\n```", "index.html"),
    ("```css\n/* styles/a.css */\nx\n```", "styles/a.css"),
    ("```sql\n-- migrations/001.sql\nx\n```", "migrations/001.sql"),
    ("```ini\n; setup.ini\nx\n```", "setup.ini"),
    ("```lisp\n;; init.el\nx\n```", "init.el"),
    ("```tex\n% paper.tex\nx\n```", "paper.tex"),
    ("```ocaml\n(* a.ml *)\nx\n```", "a.ml"),
    ("```c\n// a.c\nx\n```", "a.c"),
    // The name is in the line before the block.
    ("**src/a.rs**\n```rust\nx\n```", "src/a.rs"),
    ("**src/a.rs:**\n```rust\nx\n```", "src/a.rs"),
    ("**`src/a.rs`**:\n\n```rust\nx\n```", "src/a.rs"),
    ("`src/a.rs`:\n```rust\nx\n```", "src/a.rs"),
    ("`src/a.rs`\n```rust\nx\n```", "src/a.rs"),
    ("### src/a.rs\n```rust\nx\n```", "src/a.rs"),
    ("### `src/a.rs`\n\n```rust\nx\n```", "src/a.rs"),
    ("#### 2. `src/a.rs` (new)\n```rust\nx\n```", "src/a.rs"),
    ("File: src/a.rs\n```rust\nx\n```", "src/a.rs"),
    ("**File:** `src/a.rs`\n```rust\nx\n```", "src/a.rs"),
    ("**File: src/a.rs**\n```rust\nx\n```", "src/a.rs"),
    ("src/a.rs:\n```rust\nx\n```", "src/a.rs"),
    ("src/a.rs\n```rust\nx\n```", "src/a.rs"),
    ("1. src/a.rs\n```rust\nx\n```", "src/a.rs"),
    ("1. **src/a.rs**\n   ```rust\n   x\n   ```", "src/a.rs"),
    ("- `src/a.rs`:\n  ```rust\n  x\n  ```", "src/a.rs"),
    ("Create src/a.rs:\n```rust\nx\n```", "src/a.rs"),
    ("Now change `src/a.rs` so that it reads:\n```rust\nx\n```", "src/a.rs"),
    ("Move it from `src/old.rs` to `src/a.rs`:\n```rust\nx\n```", "src/a.rs"),
    ("Here is the **src/a.rs** file:\n```rust\nx\n```", "src/a.rs"),
    ("<file path=\"src/a.rs\">\n```rust\nx\n```", "src/a.rs"),
    ("src/a.rs (new file):\n```rust\nx\n```", "src/a.rs"),
    ("Dockerfile:\n```\nx\n```", "Dockerfile"),
    ("`.envrc`\n```sh\nx\n```", ".envrc"),
    ("> `src/a.rs`:\n> ```rust\n> x\n> ```", "src/a.rs"),
];

#[test]
fn names_in_every_style() {
    assert!(NAMING_CASES.len() >= 60);
    for (message, expected) in NAMING_CASES {
        assert_eq!(name_of_only_block(message).as_deref(), Some(*expected), "{message}");
    }
}

#[test]
fn what_is_no_name() {
    for message in [
        "```\nx\n```",
        "```rust\nx\n```",
        "Run this:\n```sh\ncargo test\n```",
        "It prints, e.g.:\n```\nx\n```",
        "See https://example.com/a.html:\n```\nx\n```",
        "```rust\n// This reads the file.\nx\n```",
        "```python\n#!/usr/bin/env python3\nx\n```",
        "```rust\n#[derive(Debug)]\nx\n```",
        "```sh\n# Install the tools first\nx\n```",
        "Version 1.2 is out:\n```\nx\n```",
        "```python\n# Source: https://docs.python.org/3/library/urllib.html\nx\n```",
        "```python\n# Title: Quarterly report\nx\n```",
        "```yaml\n# name: ci\nx\n```",
        "```markdown\n# package.json\nx\n```",
        "Check `src/a.rs` with:\n\n```bash\ncargo test\n```",
        "**src/a.rs**\n```console\n$ cargo test\n```",
        "The output for `lib.py` was:\n```\nTraceback\n```",
        "```python title=\"Quarterly report\"\nx\n```",
    ] {
        assert_eq!(name_of_only_block(message), None, "{message}");
    }
}

#[test]
fn the_fence_is_more_reliable_than_a_comment_and_that_than_the_line_before() {
    for (message, expected, is_mentioned) in [
        ("```python src/a.py\n# Source: https://example.com/b.html\nx\n```", "src/a.py", false),
        ("```python src/a.py\n# b.py\nx\n```", "src/a.py", false),
        ("`src/c.py`:\n```python\n# b.py\nx\n```", "b.py", false),
        ("`src/c.py`:\n```python\nx\n```", "src/c.py", false),
        ("**File:** `src/c.py` (new)\n```python\nx\n```", "src/c.py", false),
        ("Now change `src/c.py` so that it reads:\n```python\nx\n```", "src/c.py", true),
        ("The tests of `src/c.tsx` fail here:\n```typescript\nx\n```", "src/c.tsx", true),
    ] {
        let [block] = &code_blocks(message)[..] else { panic!("one block: {message}") };
        assert_eq!(
            (block.name.as_deref(), block.is_only_mentioned),
            (Some(expected), is_mentioned),
            "{message}"
        );
    }
}

#[test]
fn files_that_change_what_runs_are_guarded() {
    for (path, expected) in [
        ("AGENTS.md", true),
        ("docs/Agents.md", true),
        (".envrc", true),
        (".GitHub/workflows/ci.yml", true),
        ("sub/.github/x.md", true),
        ("src/a.rs", false),
        ("github/ci.yml", false),
    ] {
        let [block] = &assign_paths_to_blocks(&format!("```text {path}\nx\n```"), &RULES)[..] else {
            panic!("one block")
        };
        assert_eq!((block.path.as_str(), block.is_guarded), (path, expected), "{path}");
    }
}

#[test]
fn blocks_keep_their_text() {
    let message = "a\n\n1. b\n   ```rust\n   fn a() {\n       b();\n   }\n   ```\n~~~\n```\nnot a fence\n~~~\n```py\nopen to the end";
    let blocks = code_blocks(message);
    let texts: Vec<(usize, &str, bool)> =
        blocks.iter().map(|block| (block.line, block.text.as_str(), block.is_closed)).collect();
    assert_eq!(
        texts,
        [
            (4, "fn a() {\n    b();\n}\n", true),
            (9, "```\nnot a fence\n", true),
            (13, "open to the end\n", false),
        ]
    );
    assert!(code_blocks("a ```b``` c\n``` `inline` ```\n").is_empty());
}

#[test]
fn unsafe_names_are_not_used_and_that_is_told() {
    for (bad, why) in [
        ("../a.rs", "out of the folder"),
        ("src/../../a.rs", "out of the folder"),
        ("..\\..\\a.rs", "out of the folder"),
        ("src/.. /a.rs", "out of the folder"),
        ("/etc/passwd.txt", "an absolute path"),
        ("~/.bashrc.sh", "an absolute path"),
        ("C:\\Windows\\a.rs", "an absolute path"),
        ("\\\\server\\a.rs", "an absolute path"),
        (".git/hooks/pre-commit.sh", "nothing is written"),
        (".GIT/config.txt", "nothing is written"),
        (".git./config.txt", "nothing is written"),
        ("src/.agent/context/config.toml", "nothing is written"),
        ("a\u{202e}sr.txt", "invisible"),
        ("src/", "names a folder"),
        (".", "names a folder"),
    ] {
        let refused = safe_path(bad, FORBIDDEN_FOLDERS).unwrap_err();
        assert!(refused.contains(why), "{bad}: {refused}");
    }
    for (good, path) in
        [("./src/a.rs", "src/a.rs"), ("a//b.rs", "a/b.rs"), ("src\\a.rs", "src/a.rs"), ("...rs", "...rs")]
    {
        assert_eq!(safe_path(good, FORBIDDEN_FOLDERS).as_deref(), Ok(path), "{good}");
    }
    let [block] = &assign_paths_to_blocks("```sh ../../evil.sh\nx\n```", &RULES)[..] else {
        panic!("one block")
    };
    assert_eq!(block.path, "block-1.sh");
    assert!(block.note.contains("leads out of the folder"), "{}", block.note);
}

#[test]
fn every_block_has_a_path_of_its_own() {
    let message = "```rust a.rs\n1\n```\n```rust a.rs\n2\n```\n```rust A.RS\n3\n```\n```\n4\n```\n```python\n5\n```\n```Makefile\n6\n```\n```Makefile\n7\n```";
    let named = assign_paths_to_blocks(message, &RULES);
    let paths: Vec<&str> = named.iter().map(|block| block.path.as_str()).collect();
    assert_eq!(paths, ["a.rs", "a.2.rs", "A.3.RS", "block-4.txt", "block-5.py", "Makefile", "Makefile.2"]);
    assert!(named[1].note.contains("an earlier block is already called a.rs"), "{}", named[1].note);
}
