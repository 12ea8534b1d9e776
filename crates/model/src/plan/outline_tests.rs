use super::*;
use crate::plan::{TaskSize, read_json_or_markdown, render_plan};

/// Prints phases as `# id name` and tasks as `id status size text <- depends`.
pub fn describe_plan(markdown: &str) -> String {
    let read = read_json_or_markdown(markdown.as_bytes()).unwrap();
    let mut out = String::new();
    for phase in &read.plan.phases {
        out.push_str(&format!("# {} {}\n", phase.id, phase.name));
        for task in &phase.tasks {
            let size = task.size.map_or(String::new(), |size| format!(" {}", size.name()));
            let depends = if task.depends.is_empty() {
                String::new()
            } else {
                format!(" <- {}", task.depends.join(","))
            };
            out.push_str(&format!(
                "{} {}{size} {}{depends}\n",
                task.id,
                task.status.name(),
                task.description
            ));
        }
    }
    out
}

#[test]
fn a_plan_written_by_opencode_swarm_is_read() {
    let text = "<!-- PLAN_HASH: abc -->\n# Redis\nSwarm: mega\nPhase: 2 [IN PROGRESS] | Updated: 2026-02-11\n\n---\n\
                ## Phase 1: Foundation [COMPLETE]\n- [x] 1.1: Add `ioredis` [SMALL]\n- [x] 1.2: Client [MEDIUM] (depends: 1.1)\n\n---\n\
                ## Phase 2: Stores [IN PROGRESS]\n- [ ] 2.1: Migrate (depends: 1.1, 1.2) [LARGE] ← CURRENT\n\
                - [BLOCKED] 2.2: Deploy - Reason: no host\n- [ ] 2.3: Tests (12 tests)\n";
    assert_eq!(
        describe_plan(text),
        "# 1 Foundation\n1.1 completed small Add `ioredis`\n1.2 completed medium Client <- 1.1\n\
         # 2 Stores\n2.1 in_progress large Migrate <- 1.1,1.2\n2.2 blocked Deploy\n2.3 pending Tests (12 tests)\n"
    );
    let plan = read_outline(text.as_bytes()).plan;
    assert_eq!((plan.title.as_str(), plan.swarm.as_str(), plan.current_phase), ("Redis", "mega", Some(2)));
    assert_eq!(plan.task("2.2").unwrap().blocked_reason.as_deref(), Some("no host"));
}

#[test]
fn plans_written_by_people_are_read() {
    let rows = [
        // Headings have no numbers, and items have no ids.
        (
            "# P\n## Backend\n- [ ] a\n- [x] b\n## UI\n* [ ] c\n",
            "# 1 Backend\n1.1 pending a\n1.2 completed b\n# 2 UI\n2.1 pending c\n",
        ),
        // Nested checkboxes are separate tasks, and other items are notes.
        (
            "## Phase 1\n- [ ] parent\n  - [x] child\n    - [ ] grandchild\n  - a note\n- [ ] next\n",
            "# 1 \n1.1 pending parent\n1.1.1 completed child\n1.1.1.1 pending grandchild\n1.2 pending next\n",
        ),
        // Numbers start at 1 again in each phase, and dependencies refer to the numbers of the same phase.
        (
            "## Phase 1: A\n- [ ] 1. one\n- [ ] 2. two (depends on 1)\n## Phase 2: B\n- [ ] 1. uno\n- [ ] 2. dos (depends: 1)\n",
            "# 1 A\n1.1 pending one\n1.2 pending two <- 1.1\n# 2 B\n2.1 pending uno\n2.2 pending dos <- 2.1\n",
        ),
        // Ids may be bold, or have the form of ticket ids or of spec-kit's ids.
        (
            "## Tasks\n- [ ] **1.1** Build\n- [ ] **1.2: Ship** it\n- [ ] T003 [P] Test\n- [ ] `AUTH-4`: Log in\n- [ ] 3 tests pass\n",
            "# 1 Tasks\n1.1 pending Build\n1.2 pending **Ship** it\nT003 pending [P] Test\nAUTH-4 pending Log in\n1.3 pending 3 tests pass\n",
        ),
        // Every notation for the state of a task is recognised.
        (
            "## X\n- [~] a\n- [X] b\n- [!] c\n- [-] d\n- [ ] ~~e~~\n- [ ] f ✅\n- [ ] g [DONE]\n- [link](x) is none\n",
            "# 1 X\n1.1 in_progress a\n1.2 completed b\n1.3 blocked c\n1.4 in_progress d\n1.5 closed e\n1.6 completed f\n1.7 completed g\n",
        ),
        // Headings may be tasks.
        (
            "# Plan\n## Wave 1 — Base\n### Task 1.1 — Checkout\n- **File(s):** `a.rs`, `b.rs`\n- **Verify:** it builds\n### Task 1.2\n- **Depends on:** 1.1\n",
            "# 1 Base\n1.1 pending Checkout\n1.2 pending  <- 1.1\n",
        ),
        // Numbered headings, numbered lists and plain lists may be tasks.
        ("# P\n## 1. Add it\ntext\n## 2. Test it\n", "# 1 Tasks\n1.1 pending Add it\n1.2 pending Test it\n"),
        (
            "# P\n## Context\n1. old\n## Steps\n1. do\n2. then\n   - how\n",
            "# 1 Steps\n1.1 pending do\n1.2 pending then\n",
        ),
        ("# P\n- do\n- then\n", "# 1 Tasks\n1.1 pending do\n1.2 pending then\n"),
        ("## Round 1: a\n- x\n## Round 2: b\n1. y\n", "# 1 a\n1.1 pending x\n# 2 b\n2.1 pending y\n"),
        // A phase may have two lists, and numbered chapters may be outside the phases.
        ("## Phase 1: a\n1. x\n### More\n1. y\n", "# 1 a\n1.1 pending x\n1.2 pending y\n"),
        ("## 1. Goals\n### 1.1 Why\n## Phase 1: a\n- x\n", "# 1 a\n1.1 pending x\n"),
        // A chapter about a phase may come before the phase itself, and the number of a chapter (`1.1 Why`) is not a
        // task id.
        (
            "## 4. Design\n### Phase 1 (prototype)\ntext\n### 1.1 Why\n## Work\n### Phase 1: Build\n- [ ] a\n",
            "# 1 Build\n1.1 pending a\n",
        ),
        // Bold lines may be the headings of tasks.
        (
            "## Phase 5: Loop\n#### Steps\n**5.1 — Causes**\n```\nx\n```\n**5.2 — Prompt** — a short call\n- how\n**Goal:** none\n",
            "# 5 Loop\n5.1 pending Causes\n5.2 pending Prompt — a short call\n",
        ),
        // In some phases the tasks are headings, and in others they are list items.
        (
            "## Phase 1: A\n### Task 1.1 — x\n- note\n## Phase 2: B\n- y\n- z\n",
            "# 1 A\n1.1 pending x\n# 2 B\n2.1 pending y\n2.2 pending z\n",
        ),
        // The phases contain no list, so the lists of other chapters are the tasks.
        (
            "## 1. Goals\ntext\n## 2. Features\n### Feature 1\n1. upload\n2. check\n## 3. Delivery\n### Phase 1 — All\ntext\n",
            "# 2 Feature 1\n2.1 pending upload\n2.2 pending check\n# 1 All\n",
        ),
        // A sentence that starts with ids is not a task.
        (
            "## Phase 1\n- [ ] `T013`, `T014` are closed\n- [ ] `T018`-`T025` too\n- [ ] `T040`: ship\n",
            "# 1 \n1.1 pending `T013`, `T014` are closed\n1.2 pending `T018`-`T025` too\nT040 pending ship\n",
        ),
        // A checkbox in a code block is code.
        ("## A\n```\n- [ ] no\n```\n- [ ] yes\n", "# 1 A\n1.1 pending yes\n"),
        // Wrapped lines, CRLF and tabs are accepted.
        (
            "## A\r\n- [ ] one\r\n  and more\r\n\t- [ ] sub\r\n",
            "# 1 A\n1.1 pending one and more\n1.1.1 pending sub\n",
        ),
        // Duplicate task ids and duplicate phase numbers are replaced.
        (
            "## Phase 1\n- [ ] 1.1: a\n- [ ] 1.1: b\n## Phase 1\n- [ ] c\n",
            "# 1 \n1.1 pending a\n1.1-2 pending b\n# 2 \n2.1 pending c\n",
        ),
        // A generated id is never one that occurs later in the file.
        ("## A\n- [ ] first\n- [ ] 1.1: second\n", "# 1 A\n1.2 pending first\n1.1 pending second\n"),
        ("", ""),
        ("just words\n", ""),
    ];
    for (markdown, expected) in rows {
        assert_eq!(describe_plan(markdown), expected, "{markdown}");
    }
}

#[test]
fn items_that_are_no_tasks_are_not_left_out_in_silence() {
    let text = "# Roadmap\n## Shipped\n- [x] done\n## Next\n- examples\n- docs\n";
    let warnings = read_outline(text.as_bytes()).warnings;
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(
        (warnings[0].line, warnings[0].text.as_str()),
        (5, "2 list items are not tasks and were left out, the first of them here")
    );
}

#[test]
fn what_stands_below_a_task_belongs_to_it() {
    let text = "## Phase 1: A\nGoal: speed\n- [ ] 1.1: Build\n  - Acceptance: tests pass\n  - **Files:** `a.rs`, src/b.rs\n  - Size: L\n\
                \x20 - Depends on: 1.2, nothing else\n  - a note\n\n  prose\n- [ ] 1.2: Other\n";
    let plan = read_outline(text.as_bytes()).plan;
    let task = plan.task("1.1").unwrap();
    assert_eq!(task.acceptance.as_deref(), Some("tests pass"));
    assert_eq!(task.files_touched, ["a.rs", "src/b.rs"]);
    assert_eq!((task.size, task.depends.as_slice()), (Some(TaskSize::Large), ["1.2".to_owned()].as_slice()));
    assert_eq!(task.rest["notes"], serde_json::json!(["a note", "prose"]));
    assert_eq!(plan.phases[0].rest["notes"], serde_json::json!(["Goal: speed"]));
}

#[test]
fn a_text_that_looks_like_a_mark_reads_back() {
    let mut plan = Plan::new("# [x] (depends: 1)\nsecond line");
    plan.swarm = "  ".to_owned();
    let texts = [
        "1.1: 2.2: twice",
        "ends with [SMALL]",
        "ends with (depends: 7)",
        "two\nlines",
        " spaces  inside ",
        "",
        "✅",
        "<!-- thru: {} -->",
        "-->",
        "a ← CURRENT",
        "~~struck~~",
        "- [ ] inner",
        "```",
        "Acceptance: none",
    ];
    let mut phase = Phase { id: 7, name: "Phase 3: [DONE]\n## x".to_owned(), ..Phase::default() };
    for (i, text) in texts.iter().enumerate() {
        phase.tasks.push(Task {
            id: format!("7.{i}"),
            phase: 7,
            description: (*text).to_owned(),
            acceptance: Some((*text).to_owned()),
            blocked_reason: Some((*text).to_owned()),
            files_touched: vec![(*text).to_owned()],
            depends: vec!["7.1".to_owned(), "a b".to_owned()],
            ..Task::default()
        });
    }
    plan.phases.push(phase);
    let view = render_plan(&plan);
    let back = read_outline(view.as_bytes());
    assert_eq!(back.plan, plan, "{view}");
    assert_eq!(render_plan(&back.plan), view);
}
