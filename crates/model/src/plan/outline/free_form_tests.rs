use super::tests::describe_plan;
use super::*;
use crate::plan::standing_of_plan;

fn check_rows(rows: &[(&str, &str)]) {
    for (markdown, expected) in rows {
        assert_eq!(describe_plan(markdown), *expected, "{markdown}");
    }
}

/// Returns all warnings with their line numbers.
fn warning_texts(markdown: &str) -> Vec<String> {
    let found = read_outline(markdown.as_bytes()).warnings;
    found.iter().map(|warning| format!("{}: {}", warning.line, warning.text)).collect()
}

#[test]
fn the_state_of_an_item_may_be_in_its_text() {
    check_rows(&[
        (
            "## X\n- [v] a\n- [✔] b\n- ✅ c\n- [ ] ✅ DONE: d\n- [ ] **Task 5: e** ✅ DONE (in May)\n- [ ] f — DONE\n- [ ] g (done)\n",
            "# 1 X\n1.1 completed a\n1.2 completed b\n1.3 completed c\n1.4 completed d\n1.5 completed **e** (in May)\n1.6 completed f\n1.7 completed g\n",
        ),
        // A task that is struck through is closed, unless it is marked as done.
        (
            "## X\n- [ ] ~~a~~ — see b\n- [x] ~~b~~\n- [ ] ~~c~~ ✅ DONE\n- [ ] ~~TASK-7: d~~\n",
            "# 1 X\n1.1 closed a — see b\n1.2 completed b\n1.3 completed c\nTASK-7 closed d\n",
        ),
        // A task that only mentions the word `blocked` is not blocked.
        (
            "## X\n- [ ] a — BLOCKED: no host\n- [ ] b (blocked on legal)\n- [ ] c; blocked until May\n- [ ] d (blocked by 1.1)\n- [ ] list blocked users\n- [ ] remove blocked by users\n",
            "# 1 X\n1.1 blocked a\n1.2 blocked b\n1.3 blocked c\n1.4 pending d <- 1.1\n1.5 pending list blocked users\n1.6 pending remove blocked by users\n",
        ),
        // `done` at the end of a sentence does not mark the task as done.
        (
            "## X\n- [ ] check that all is done\n- [ ] a - b done\n",
            "# 1 X\n1.1 pending check that all is done\n1.2 pending a - b done\n",
        ),
    ]);
    let plan =
        read_outline("## X\n- [ ] a — BLOCKED: no host\n- [ ] b (blocked on legal review)\n".as_bytes()).plan;
    let why: Vec<_> = plan.tasks().map(|task| task.blocked_reason.as_deref()).collect();
    assert_eq!(why, [Some("no host"), Some("legal review")]);
    assert_eq!(
        warning_texts("## X\n- [ ] a ✅ DONE\n- [x] b (blocked until May)\n- [x] c ✅\n"),
        [
            "2: the box is open, but the text says “done”; the task is read as completed",
            "3: the box is ticked, but the text says “blocked”; the task is read as completed",
        ]
    );
}

#[test]
fn below_a_finished_heading_items_without_boxes_are_done() {
    check_rows(&[
        (
            "## Phase 1: A - COMPLETE\n### Step 1.1: x\n### Step 1.2: y\n## Phase 2: B\n### Step 2.1: z\n",
            "# 1 A\n1.1 completed x\n1.2 completed y\n# 2 B\n2.1 pending z\n",
        ),
        (
            "## Phase 1 — A  [x]\n1. x\n## ✅ Phase 2: B\n1. y\n",
            "# 1 A\n1.1 completed x\n# 2 B\n2.1 completed y\n",
        ),
        ("## Phase 1: A\n**Status:** ✅ COMPLETE (May)\n1. x\n", "# 1 A\n1.1 completed x\n"),
        (
            "## EPIC-001 — x\n**Status:** ✅ FIXED\n## EPIC-002 — y\n",
            "# 1 Tasks\nEPIC-001 completed x\nEPIC-002 pending y\n",
        ),
        ("# P\n## Completed\n- x\n## Next\n- y\n", "# 1 Next\n1.1 pending y\n"),
        ("# P\n## Done (done)\n- x\n", "# 1 Done\n1.1 completed x\n"),
    ]);
    // The state of a checkbox overrides the state of the heading above it.
    let text = "## A ✅\n- [x] a\n- [ ] b\n- [ ] c\n";
    assert_eq!(describe_plan(text), "# 1 A\n1.1 completed a\n1.2 pending b\n1.3 pending c\n");
    assert_eq!(
        warning_texts(text),
        ["3: the heading says done, but this box is open: the box takes precedence"]
    );
}

#[test]
fn a_heading_with_boxes_is_a_group() {
    check_rows(&[
        (
            "## Phase 1: A\n### 1.1 Setup\n- [ ] x\n- [x] y\n### 1.2 Design\ntext\n",
            "# 1 A\n1.1.1 pending x\n1.1.2 completed y\n1.2 pending Design\n",
        ),
        (
            "## Phase 1: A\n### Task 1.1: Setup\n- [x] x\n- [x] y\n### Task 1.2: Build\n- [x] z\n- [ ] w\n",
            "# 1 A\n1.1 completed Setup\n1.1.1 completed x\n1.1.2 completed y\n1.2 pending Build\n1.2.1 completed z\n1.2.2 pending w\n",
        ),
    ]);
    let plan =
        read_outline("## Phase 1: A\n### Task 1.1: Setup\n- [ ] x\n### 1.2 More\n- [ ] y\n".as_bytes()).plan;
    let section = |id: &str| plan.task(id).unwrap().rest.get("section").cloned();
    assert_eq!(section("1.1.1"), Some("Task 1.1: Setup".into()));
    assert_eq!(section("1.2.1"), Some("1.2 More".into()));
}

#[test]
fn the_boxes_of_a_ticket_are_its_criteria() {
    let text = "## Sprint\n### [P0] TASK-001: Log in\n- **Status**: pending\n- **Acceptance criteria**:\n  - [x] it works\n  - [x] it is fast\n- **Notes**: none\n\
                ### [P1] TASK-002: Log out\n**Estimate**: 1-2 days\n- **Depends on**: TASK-001 (log in)\n\n**Acceptance Criteria**:\n\n- [x] a\n- [ ] b\n\
                ## Later\n### TASK-1.3: Tokens\n#### Acceptance criteria\n- [x] c\n";
    assert_eq!(
        describe_plan(text),
        "# 1 Sprint\nTASK-001 pending Log in\nTASK-002 pending large Log out <- TASK-001\n# 2 Later\nTASK-1.3 completed Tokens\n"
    );
    let plan = read_outline(text.as_bytes()).plan;
    let acceptance = |id: &str| plan.task(id).unwrap().acceptance.as_deref();
    assert_eq!(acceptance("TASK-001"), Some("it works; it is fast"));
    assert_eq!(acceptance("TASK-002"), Some("[x] a; b"));
    assert_eq!(acceptance("TASK-1.3"), Some("c"));
}

#[test]
fn the_lists_of_phases_count_next_to_boxes_elsewhere() {
    check_rows(&[
        (
            "## Phase 1: A\n**Goal:** speed\n\n**Tasks:**\n1. x\n2. y\n\n**Notes:**\n- n\n\n3. z\n\n**Deliverable:** it\n## Checklist\n- [ ] c\n",
            "# 1 A\n1.1 pending x\n1.2 pending y\n1.3 pending z\n# 2 Checklist\n2.1 pending c\n",
        ),
        (
            "## Phase 1: A\n- [ ] x\n## Phase 2: B\nTasks:\n- y\n- z\n",
            "# 1 A\n1.1 pending x\n# 2 B\n2.1 pending y\n2.2 pending z\n",
        ),
        // A numbered heading above a list of tasks is not a task. Its number becomes the first part of the tasks'
        // ids.
        (
            "## Phase 7: A\n#### 7.1 Mouse\n**Tasks:**\n1. x\n2. y\n",
            "# 7 A\n7.1.1 pending x\n7.1.2 pending y\n",
        ),
    ]);
    // Omitted items are counted even inside a phase.
    let left_out = warning_texts("## Phase 1: A\n- [ ] x\n## Phase 2: B\n- y\n- z\n");
    assert_eq!(left_out, ["4: phase 2 has no tasks; 2 list items are its notes"]);
}

#[test]
fn a_later_heading_about_a_phase_does_not_replace_it() {
    check_rows(&[
        (
            "## Phase 2: Build\ntext\n## Phase 2 Success:\ntext\n## Phase 3: C\n- x\n",
            "# 2 Build\n# 3 C\n3.1 pending x\n",
        ),
        (
            "## Phase 2: Build\n1. x\n## Criteria\n### Phase 2 Success:\n- [ ] y\n",
            "# 2 Build\n2.1 pending x\n# 1 Phase 2 Success\n1.1 pending y\n",
        ),
    ]);
    let text = "## Phase 1: A\n- [ ] x\n## Milestones\n### Milestone 1: MVP\n- in May\n";
    assert_eq!(describe_plan(text), "# 1 A\n1.1 pending x\n");
    assert_eq!(warning_texts(text)[0], "4: a phase has a second heading without tasks, which is left out");
}

#[test]
fn the_tasks_of_a_phase_wait_for_the_phases_before_it() {
    check_rows(&[
        (
            "### Phase 1 — A\n- x\n- y\n### Phase 2 — B\n- z\n\n**Dependencies**: Phase 1 (types).\n### Phase 3 — C\n- w\n\n**Dependencies**: Phase 1, Phase 2.\n### Phase 4 — D\n- v\n\n**Dependencies**: All previous phases.\n",
            "# 1 A\n1.1 pending x\n1.2 pending y\n# 2 B\n2.1 pending z <- 1.2\n# 3 C\n3.1 pending w <- 1.2,2.1\n# 4 D\n4.1 pending v <- 1.2,2.1,3.1\n",
        ),
        (
            "## Phase 1: A\n- [ ] x\n## Phase 2: B\n- [ ] y (depends: Phase 1)\n- [ ] z\n  - Depends on: 2.1, Phase 1\n",
            "# 1 A\n1.1 pending x\n# 2 B\n2.1 pending y <- 1.1\n2.2 pending z <- 2.1,1.1\n",
        ),
    ]);
    let unknown =
        warning_texts("## Phase 1: A\n**Depends on:** Phase 9\n- [ ] x\n- [ ] y (depends: phase 8)\n");
    assert_eq!(
        unknown,
        [
            "2: phase 9 has no tasks that anything could depend on",
            "0: 1.2 depends on phase 8, which has no tasks"
        ]
    );
}

#[test]
fn lists_beside_the_work_are_no_tasks() {
    check_rows(&[
        (
            "# fix_plan.md\nRules:\n1. short\n## Queue\n1. x\n   - Done when:\n     - it is\n2. y\n",
            "# 1 Queue\n1.1 pending x\n1.2 pending y\n",
        ),
        (
            "# P\n## Analysis (3 points)\n1. a\n## Roadmap\n### High\n1. x\n### Low\n2. y\n",
            "# 1 High\n1.1 pending x\n# 2 Low\n2.2 pending y\n",
        ),
        ("# P\n## Rollback Strategy\n- a\n## Todo\n- x\n## Out of scope\n- b\n", "# 1 Todo\n1.1 pending x\n"),
        // The only list in the file is used, whatever its heading.
        ("# P\n## Flow\n1. x\n", "# 1 Flow\n1.1 pending x\n"),
        // The criteria of a phase are kept as its notes.
        (
            "## Phase 1: A\n**Deliverables**:\n- x\n\n**Acceptance Criteria**:\n- it works\n- it is fast\n",
            "# 1 A\n1.1 pending x\n",
        ),
    ]);
    let text =
        "## Phase 1: A\n**Deliverables**:\n- x\n\n**Acceptance Criteria**:\n- it works\n- it is fast\n";
    let notes = read_outline(text.as_bytes()).plan.phases[0].rest["notes"].to_string();
    assert!(notes.contains("it works") && notes.contains("it is fast"), "{notes}");
}

#[test]
fn a_table_with_states_is_a_list_of_tasks() {
    check_rows(&[
        (
            "# P\n## Tasks\n| Status | Task | Spec | Notes |\n|---|:--|---|---|\n| [ ] | **Task 1.1**: a | s.md | |\n| [x] | **Task 1.2**: b | | |\n| [!] | **Task 1.3**: c | | BLOCKED: no host |\n## Legend\n- `[ ]` open\n",
            "# 1 Tasks\n1.1 pending a\n1.2 completed b\n1.3 blocked c\n",
        ),
        (
            "# P\n## Plan\n| # | Task | Depends on | State |\n|--|--|--|--|\n| 1 | a | - | ✅ Done |\n| 2 | b \\| c | 1 | In progress |\n| 3 | d | | |\n",
            "# 1 Plan\n1.1 completed a\n1.2 in_progress b | c <- 1.1\n1.3 pending d\n",
        ),
        // A log is not a list of tasks. In a file with checkboxes, a table of states is only a summary.
        ("## Log\n| Date | Task | Status |\n|--|--|--|\n| May | a | done |\n", ""),
        ("## Plan\n- [ ] a\n\n| Task | Status |\n|--|--|\n| b | done |\n", "# 1 Plan\n1.1 pending a\n"),
    ]);
    let text = "## Tasks\n| Done | Task | Notes |\n|--|--|--|\n| [!] | a | BLOCKED: no host |\n";
    let plan = read_outline(text.as_bytes()).plan;
    assert_eq!(plan.task("1.1").unwrap().blocked_reason.as_deref(), Some("no host"));
}

#[test]
fn milestones_and_tracks_are_phases() {
    check_rows(&[
        (
            "# P\n## 1. Goals\n- g\n## 8. M8 — Effects\ntext\n## 9. M9 — Recovery\ntext\n",
            "# 8 Effects\n# 9 Recovery\n",
        ),
        (
            "# P\n## Track Z-R1: Lock\n### What\n- x\n## Track Z-R2: Adopt\n- y\n## Rollback Strategy\n- n\n",
            "# 1 Track Z-R1: Lock\n1.1 pending x\n# 2 Track Z-R2: Adopt\n2.1 pending y\n",
        ),
        ("## M1 — A\n### 1.1 x ✅\n- [x] a\n### M3-M7\ntext\n", "# 1 A\n1.1.1 completed a\n"),
    ]);
}

#[test]
fn what_is_ready_follows_the_phases() {
    let text = "# P\n## Now\n- [ ] TASK-9: x\n- [ ] y\n## Phase 1: Later\n- [ ] z\n";
    let plan = read_outline(text.as_bytes()).plan;
    let at = standing_of_plan(&plan);
    let ready: Vec<&str> = at.ready.iter().map(|task| task.id.as_str()).collect();
    assert_eq!(ready, ["2.1", "TASK-9", "1.1"]);
    assert_eq!(at.current_task.map(|task| task.id.as_str()), Some("2.1"));
}
