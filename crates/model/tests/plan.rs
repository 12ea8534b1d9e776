//! Properties of any plan. Parsing its rendered `plan.md` gives the same plan, and its ledger can be replayed even if
//! the ledger is cut off at any byte.

#![allow(clippy::unwrap_used)]

use model::plan::{
    CompletionEvidence, LedgerComparison, LedgerLine, NewTask, Phase, PhaseStatus, Plan, Task,
    TaskFieldChanges, TaskSize, TaskStatus, add_phase, add_task, apply_changes, block_task,
    changes_between_plans, complete_task, find_plan_problems, fold_ledger, read_json_or_markdown,
    read_markdown, render_plan, set_task, sha256_hex, standing_of_plan, start_task, unblock_task,
};
use proptest::prelude::*;

fn random_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z ]{0,20}",
        "\\PC{0,12}",
        "[\\x00-\\x7f]{0,12}",
        Just("1.2: [SMALL] (depends: 1.1) ← CURRENT".to_owned()),
        Just("- [x] a\n## Phase 9: b [DONE]\n<!-- thru: {\"id\":\"x\"} -->".to_owned()),
    ]
}

fn random_task(id: String, phase: u32) -> impl Strategy<Value = Task> {
    let status = prop::sample::select(TaskStatus::ALL.to_vec());
    let size = prop::sample::select(vec![
        None,
        Some(TaskSize::Small),
        Some(TaskSize::Medium),
        Some(TaskSize::Large),
    ]);
    let depends = prop::collection::vec("[1-3]\\.[1-4]", 0..3);
    let rest = prop_oneof![Just(None), random_text().prop_map(Some)];
    (
        status,
        size,
        random_text(),
        depends,
        prop::option::of(random_text()),
        prop::collection::vec(random_text(), 0..3),
        prop::option::of(random_text()),
        rest,
    )
        .prop_map(
            move |(status, size, description, depends, acceptance, files_touched, blocked_reason, rest)| {
                let mut task = Task {
                    id: id.clone(),
                    phase,
                    status,
                    size,
                    description,
                    depends,
                    acceptance,
                    files_touched,
                    blocked_reason,
                    ..Task::default()
                };
                if let Some(rest) = rest {
                    task.rest.insert("owner".to_owned(), rest.into());
                }
                task
            },
        )
}

fn random_plan() -> impl Strategy<Value = Plan> {
    let phase = |id: u32| {
        let tasks: Vec<_> = (1..=3).map(|n| random_task(format!("{id}.{n}"), id)).collect();
        let status = prop::sample::select(PhaseStatus::ALL.to_vec());
        (random_text(), status, tasks, 0_usize..4).prop_map(move |(name, status, mut tasks, keep)| {
            tasks.truncate(keep);
            Phase { id, name, status, tasks, ..Phase::default() }
        })
    };
    (random_text(), random_text(), prop::option::of(0_u32..4), (1..=2).map(phase).collect::<Vec<_>>())
        .prop_map(|(title, swarm, current_phase, phases)| Plan {
            title,
            swarm,
            current_phase,
            phases,
            ..Plan::new("")
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn the_view_reads_back(plan in random_plan()) {
        let view = render_plan(&plan);
        let back = read_markdown(view.as_bytes()).plan;
        prop_assert_eq!(&back, &plan, "{}", view);
        prop_assert_eq!(render_plan(&back), view);
        prop_assert_eq!(Plan::parse(&plan.to_bytes()).unwrap().to_bytes(), plan.to_bytes());
    }

    #[test]
    fn a_difference_is_all_of_it(before in random_plan(), after in random_plan()) {
        prop_assert_eq!(apply_changes(before.clone(), &changes_between_plans(&before, &after)), after);
    }

    #[test]
    fn anything_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..400), words in "([-#*] |\\[[ xX~!]\\] |[0-9]\\.|[0-9]|\\n|  |[a-z]{1,4}|\\(depends: |\\)|`{3}|Phase 1:|\\[SMALL\\]){0,60}") {
        let _ = read_json_or_markdown(&bytes);
        let read = read_json_or_markdown(words.as_bytes()).unwrap().plan;
        let view = render_plan(&read);
        prop_assert_eq!(read_markdown(view.as_bytes()).plan, read);
    }
}

#[derive(Clone, Debug)]
enum PlanMove {
    Start(usize),
    Done(usize),
    Block(usize),
    Unblock(usize),
    AddTask(u32, Vec<usize>),
    AddPhase,
    Depend(usize, usize),
    /// An edit made to the file by hand.
    Edit(usize),
}

fn random_moves() -> impl Strategy<Value = Vec<(PlanMove, WriteCut)>> {
    let step = prop_oneof![
        4 => (0_usize..8).prop_map(PlanMove::Start),
        4 => (0_usize..8).prop_map(PlanMove::Done),
        1 => (0_usize..8).prop_map(PlanMove::Block),
        1 => (0_usize..8).prop_map(PlanMove::Unblock),
        3 => (1_u32..4, prop::collection::vec(0_usize..8, 0..3)).prop_map(|(phase, on)| PlanMove::AddTask(phase, on)),
        1 => Just(PlanMove::AddPhase),
        1 => (0_usize..8, 0_usize..8).prop_map(|(task, on)| PlanMove::Depend(task, on)),
        1 => (0_usize..8).prop_map(PlanMove::Edit),
    ];
    let cut = prop_oneof![6 => Just(WriteCut::Whole), 1 => Just(WriteCut::BeforeFile), 1 => (0_usize..200).prop_map(WriteCut::InLine)];
    prop::collection::vec((step, cut), 0..24)
}

/// Where a writer is killed.
#[derive(Clone, Copy, Debug)]
enum WriteCut {
    Whole,
    /// The writer is killed after it has written the ledger line and before it writes the file.
    BeforeFile,
    /// The writer is killed while it writes the ledger line, which is left incomplete.
    InLine(usize),
}

/// The ledger and the plan file. Each change is written to them in the order that the store uses.
#[derive(Default)]
struct PlanDisk {
    file: Option<Vec<u8>>,
    ledger: Vec<u8>,
}

impl PlanDisk {
    fn lines(&self) -> Vec<LedgerLine> {
        self.ledger.split(|b| *b == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
    }

    /// Returns the plan that a reader finds. If the plan file was edited by hand, also returns the ledger line that
    /// records this edit.
    fn read(&self) -> (Option<Plan>, Option<LedgerLine>) {
        let lines = self.lines();
        let seq = lines.len() as u64 + 1;
        match &self.file {
            Some(bytes)
                if lines.is_empty()
                    || LedgerComparison::compare_with_file(&sha256_hex(bytes), lines.iter())
                        == LedgerComparison::FileEdited =>
            {
                let plan = Plan::parse(bytes).unwrap();
                let hash_before = lines.last().map(|line| line.hash_after.clone()).unwrap_or_default();
                let line = LedgerLine {
                    hash_before,
                    edited_file_hash: sha256_hex(bytes),
                    ..LedgerLine::of_change(seq, None, &plan)
                };
                (Some(plan), Some(line))
            }
            _ => (fold_ledger(lines).plan, None),
        }
    }

    fn write(&mut self, lines: &[LedgerLine], plan: &Plan, cut: WriteCut) {
        let mut bytes = Vec::new();
        if self.ledger.last().is_some_and(|last| *last != b'\n') {
            bytes.push(b'\n');
        }
        for line in lines {
            bytes.extend(line.to_bytes());
            bytes.push(b'\n');
        }
        match cut {
            WriteCut::InLine(at) => self.ledger.extend(&bytes[..at.min(bytes.len().saturating_sub(2))]),
            WriteCut::BeforeFile => self.ledger.extend(bytes),
            WriteCut::Whole => {
                self.ledger.extend(bytes);
                self.file = Some(plan.to_bytes());
            }
        }
    }
}

fn apply_move(plan: &Plan, step: &PlanMove) -> Option<Plan> {
    let id = |n: usize| plan.tasks().nth(n).map(|task| task.id.clone());
    let next = match step {
        PlanMove::Start(n) => start_task(plan, &id(*n)?, "s", "t"),
        PlanMove::Done(n) => complete_task(plan, &id(*n)?, "s", "t", &CompletionEvidence::Proven),
        PlanMove::Block(n) => block_task(plan, &id(*n)?, "why"),
        PlanMove::Unblock(n) => unblock_task(plan, &id(*n)?),
        PlanMove::AddTask(phase, on) => {
            let depends = on.iter().filter_map(|n| id(*n)).collect();
            let new = NewTask {
                phase: Some(*phase),
                description: "x".into(),
                dependency_ids: depends,
                ..NewTask::default()
            };
            add_task(plan, &new).map(|(plan, _)| plan)
        }
        PlanMove::AddPhase => add_phase(plan, "p", None).map(|(plan, _)| plan),
        PlanMove::Depend(n, on) => {
            let change =
                TaskFieldChanges { dependency_ids: Some(vec![id(*on)?]), ..TaskFieldChanges::default() };
            set_task(plan, &id(*n)?, &change)
        }
        PlanMove::Edit(_) => return None,
    };
    next.ok()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    /// For any sequence of changes, and wherever the writer of each change is killed, a reader finds either the last
    /// acknowledged state or the state being written. The ledger replays to this state, and the next writer continues
    /// from it.
    #[test]
    fn a_history_killed_anywhere_folds_to_its_plan(history in random_moves()) {
        let mut disk = PlanDisk::default();
        disk.write(&[LedgerLine::of_change(1, None, &add_phase(&Plan::new("t"), "first", None).unwrap().0)], &add_phase(&Plan::new("t"), "first", None).unwrap().0, WriteCut::Whole);
        for (step, cut) in history {
            let (known, adopted) = disk.read();
            let known = known.unwrap();
            if let PlanMove::Edit(n) = step {
                let mut edited = known.clone();
                edited.title = format!("edited {n}");
                edited.rest.insert("by".into(), "hand".into());
                disk.file = Some(serde_json::to_vec(&edited).unwrap());
                let (found, _) = disk.read();
                prop_assert_eq!(found.unwrap(), edited);
                continue;
            }
            let Some(next) = apply_move(&known, &step).filter(|next| *next != known) else { continue };
            prop_assert_eq!(find_plan_problems(&next), vec![]);
            let seq = disk.lines().len() as u64 + 1 + u64::from(adopted.is_some());
            let lines: Vec<LedgerLine> = adopted.into_iter().chain([LedgerLine::of_change(seq, Some(&known), &next)]).collect();
            disk.write(&lines, &next, cut);
            let (found, _) = disk.read();
            let found = found.unwrap();
            match cut {
                WriteCut::InLine(_) => prop_assert!(found == known, "the torn line is not believed"),
                WriteCut::Whole | WriteCut::BeforeFile => prop_assert!(found == next, "what stands in the ledger is there"),
            }
            let whole = fold_ledger(disk.lines());
            prop_assert_eq!(whole.discontinuous_seqs, Vec::<u64>::new());
            if !matches!(cut, WriteCut::InLine(_)) {
                prop_assert_eq!(whole.plan.unwrap().to_bytes(), next.to_bytes());
                prop_assert_eq!(whole.last_line.unwrap().hash_after, next.content_hash());
            }
            prop_assert!(standing_of_plan(&found).progress.done <= standing_of_plan(&found).progress.total);
        }
    }
}
