use super::*;
use crate::brief::budget::{CountedHeaders, FormChoice, size_of_candidate_form};
use crate::brief::{
    Brief, BriefMaterial, BriefOccasion, BriefSection, compose_brief, explain_brief, gather, print,
};
use crate::config::Settings;
use crate::digest::Digest;
use crate::event::{FileAction, TodoStatus};
use crate::journal::{JournalRecord, RecordedFile, RecordedTodo};
use crate::render::utf16_length;

const PLAN_SECTION: BriefSection = BriefSection {
    section_position: 2,
    rank_step_per_form: 1,
    name: "plan",
    title: "Plan",
    signal: ScoreSignal::Phase,
};
const NOTES_SECTION: BriefSection = BriefSection {
    section_position: 10,
    rank_step_per_form: 30,
    name: "decisions",
    title: "Decisions",
    signal: ScoreSignal::DecisionRecency,
};

fn test_scoring() -> ScoringSettings {
    Settings::DEFAULT.scoring_settings()
}

/// Generates a session from a seed.
fn made_up_session(seed: u64) -> Digest {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    let mut next = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut digest = Digest::new("generated");
    digest.last_at = "2026-11-15T19:22:00Z".into();
    let words = ["parse", "lexer", "cache", "index", "merge", "render", "store", "token", "graph", "queue"];
    let commands = ["cargo test", "cargo build", "npm run lint", "make check", "go test ./...", "pytest -q"];
    for n in 0..20 + next(60) {
        let word = words[next(10) as usize];
        let mut record = JournalRecord { id: format!("c{n}").into(), ..JournalRecord::default() };
        match next(10) {
            0 | 1 => {
                record.event = "prompt".into();
                record.text =
                    format!("Make the {word} {} and keep its {n} tests", words[next(10) as usize]).into();
            }
            2 => {
                record.event = "stop".into();
                record.text =
                    format!("The {word} in src/{word}.rs was read twice; I fixed {n} of it.").into();
            }
            3..=5 => {
                record.event = "tool-done".into();
                record.tool = "Bash".into();
                record.command = commands[next(6) as usize].into();
                record.ok = Some(next(3) > 0);
                record.error =
                    if record.ok == Some(false) { format!("error: {word} failed").into() } else { "".into() };
            }
            kind => {
                record.event = "tool-done".into();
                record.tool = if kind == 6 { "Edit".into() } else { "Read".into() };
                record.ok = Some(true);
                let action = if kind == 6 { FileAction::Edit } else { FileAction::Read };
                let path = format!("src/{word}/{}.rs", words[next(10) as usize]);
                record.files = vec![RecordedFile::new(path, action)];
                if next(6) == 0 {
                    let status = Some(TodoStatus::InProgress);
                    record.todos = Some(vec![RecordedTodo { id: String::new(), text: word.into(), status }]);
                }
            }
        }
        digest.fold_record(&record);
    }
    digest
}

/// Generates facts from features: a plan, a blocked task, and decisions of different ages.
fn made_up_facts(seed: u64) -> Vec<Candidate> {
    let mut all = vec![
        Candidate::new(&PLAN_SECTION, "plan", "phase 2 of 4").with_signal(ScoreSignal::Phase, 1.0),
        Candidate::new(&PLAN_SECTION, "task:1.2", "in progress: the lexer")
            .with_signal(ScoreSignal::CurrentTask, 1.0),
        Candidate::new(&PLAN_SECTION, "task:1.3", "blocked: the grammar")
            .with_signal(ScoreSignal::BlockedTask, 1.0),
    ];
    for n in 0..seed % 12 {
        let text = format!("decision {n} of {seed}");
        let mut decision = Candidate::new(&NOTES_SECTION, format!("decision:d-{n}"), text);
        decision.signals.age_hours = Some(n as f64 * 7.0);
        all.push(decision.with_signal(ScoreSignal::DecisionRecency, 1.0));
    }
    all
}

fn test_material<'a>(
    digest: &'a Digest,
    records: &'a [Candidate],
    scoring: Option<&'a ScoringSettings>,
) -> BriefMaterial<'a> {
    BriefMaterial {
        occasion: BriefOccasion::Compacted,
        digest,
        hook_problems: &[],
        missing_files: &[],
        feature_candidates: records,
        scoring,
    }
}

/// Composes a brief without [`RankedCandidates`], like the code that predates scoring.
fn brief_before_scoring(material: &BriefMaterial, cap: usize) -> Option<String> {
    let head = print::brief_head(material);
    let room = cap.saturating_sub(utf16_length(&head));
    let mut candidates = gather::gather_candidates(material);
    candidates.retain(|candidate| candidate.class != FactClass::Answered);
    let order =
        FixedOrder::fixed_order_for_brief_room(room, material.digest.files_likely_needed_again().len());
    let rank = |candidate: &Candidate| order.exact_rank(candidate, 0);
    candidates.sort_by(|a, b| rank(a).total_cmp(&rank(b)).then(a.class.cmp(&b.class)));
    let mut choice = chosen_before_scoring(&candidates, order, room);
    if !choice.has_all_candidates() {
        choice = chosen_before_scoring(&candidates, order, room.saturating_sub(84));
        let line = |choice: &FormChoice| {
            print::omitted_line(&candidates, choice).map_or(0, |line| utf16_length(&line))
        };
        let exact = line(&choice);
        let fuller = chosen_before_scoring(&candidates, order, room.saturating_sub(exact));
        if exact < 84 && line(&fuller) <= exact {
            choice = fuller;
        }
    }
    choice.has_any().then(|| print::print_brief(&head, &candidates, &choice))
}

fn chosen_before_scoring(candidates: &[Candidate], order: FixedOrder, room: usize) -> FormChoice {
    let mut queue: Vec<(f64, usize, usize)> = Vec::new();
    for (i, candidate) in candidates.iter().enumerate() {
        queue.extend((0..candidate.forms.len()).map(|form| (order.exact_rank(candidate, form), i, form)));
    }
    queue.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let mut left = room;
    let mut opened = CountedHeaders::default();
    let mut forms: Vec<Option<usize>> = vec![None; candidates.len()];
    for (_, i, form) in queue {
        let candidate = &candidates[i];
        let cost = match forms[i] {
            None if form > 0 => continue,
            None => size_of_candidate_form(candidate, 0) + opened.header_cost(candidate),
            Some(shorter) => size_of_candidate_form(candidate, form)
                .saturating_sub(size_of_candidate_form(candidate, shorter)),
        };
        if cost <= left {
            left -= cost;
            opened.count_headers(candidate);
            forms[i] = Some(form);
        }
    }
    FormChoice { forms, ..FormChoice::default() }
}

#[test]
fn without_scoring_the_brief_is_what_it_was() {
    for seed in 0..60 {
        let (digest, records) = (made_up_session(seed), made_up_facts(seed));
        let material = test_material(&digest, &records, None);
        for cap in [700, 1_200, 2_000, 9_500] {
            let found = compose_brief(&material, cap).map(|brief| brief.text);
            assert_eq!(found, brief_before_scoring(&material, cap), "seed {seed}, {cap} characters");
        }
    }
}

/// Skipped unless `cargo xtask recall DIR --fixed-order` runs it on the digests of real sessions.
#[test]
fn without_scoring_the_brief_of_a_real_session_is_what_it_was() {
    let Some(folder) = std::env::var_os("THRU_DIGESTS") else {
        eprintln!("skipped: THRU_DIGESTS names no folder of digests");
        return;
    };
    let mut compared = 0;
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let digest: Digest = serde_json::from_slice(&std::fs::read(entry.path()).unwrap()).unwrap();
        let records = made_up_facts(compared);
        let material = test_material(&digest, &records, None);
        for cap in [1_200, 2_000, 4_000, 9_500] {
            let found = compose_brief(&material, cap).map(|brief| brief.text);
            assert!(
                found == brief_before_scoring(&material, cap),
                "{:?}, {cap} characters",
                entry.file_name()
            );
        }
        compared += 1;
    }
    assert!(compared > 0, "the folder contains no digest");
}

#[test]
fn the_same_records_give_the_same_bytes_a_hundred_times() {
    let scoring = test_scoring();
    let (digest, records) = (made_up_session(7), made_up_facts(11));
    let first = compose_brief(&test_material(&digest, &records, Some(&scoring)), 2_000).unwrap();
    for n in 0..100 {
        // The material is rebuilt each time, so equal bytes show that the output does not depend on addresses or hash
        // seeds.
        let (digest, records) = (made_up_session(7), made_up_facts(11));
        let again = compose_brief(&test_material(&digest, &records, Some(&scoring)), 2_000).unwrap();
        assert_eq!(again, first, "run {n}");
    }
}

/// With equal weights, facts without signals of their own stay in the fixed order.
#[test]
fn a_session_without_records_is_ranked_as_in_the_fixed_order_but_for_failures() {
    let scoring = test_scoring();
    for seed in 0..50 {
        let digest = made_up_session(seed);
        let ids = |scoring| -> Vec<String> {
            let rows = explain_brief(&test_material(&digest, &[], scoring), 9_500).rows;
            rows.into_iter().filter(|row| row.class != "failing").map(|row| row.id).collect()
        };
        assert_eq!(ids(Some(&scoring)), ids(None), "seed {seed}");
    }
}

#[test]
fn scores_and_their_order_by_hand() {
    let scoring = test_scoring();
    let mut dependency = Candidate::new(&PLAN_SECTION, "task:1.1", "1.2 depends on: 1.1")
        .with_signal(ScoreSignal::DependencyProximity, 1.0);
    dependency.signals.depth = Some(1);
    let mut decision =
        Candidate::new(&NOTES_SECTION, "decision:d-1", "TOML").with_signal(ScoreSignal::DecisionRecency, 1.0);
    decision.signals.age_hours = Some(12.0);
    let records = [
        dependency,
        decision,
        Candidate::new(&PLAN_SECTION, "task:1.3", "blocked").with_signal(ScoreSignal::BlockedTask, 1.0),
        Candidate::new(&PLAN_SECTION, "task:1.2", "in progress").with_signal(ScoreSignal::CurrentTask, 1.0),
        Candidate::new(&PLAN_SECTION, "plan", "phase 1").with_signal(ScoreSignal::Phase, 1.0),
    ];
    let digest = Digest::new("s");
    let explained = explain_brief(&test_material(&digest, &records, Some(&scoring)), 9_500);
    let found: Vec<(&str, f64)> =
        explained.rows.iter().map(|row| (row.id.as_str(), row.score.unwrap())).collect();
    let expected = [
        ("task:1.2", 2.0),
        ("task:1.3", 1.5),
        ("decision:d-1", 1.060_660_171_779_821_3),
        ("plan", 1.0),
        ("task:1.1", 0.5),
    ];
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for ((id, score), (expected_id, expected)) in found.iter().zip(expected) {
        assert_eq!(*id, expected_id);
        assert!((score - expected).abs() < 1e-9, "{id}: {score}, not {expected}");
    }
    assert_eq!(explained.rows.iter().map(|row| row.position).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
}

#[test]
fn a_brief_keeps_to_its_tokens_and_names_what_it_left_out() {
    let digest = made_up_session(3);
    let records = made_up_facts(9);
    for max_tokens in [120, 200, 400, 1_000] {
        let scoring = ScoringSettings { max_tokens, ..test_scoring() };
        let material = test_material(&digest, &records, Some(&scoring));
        let explained = explain_brief(&material, 9_500);
        assert!(explained.tokens <= max_tokens, "{} tokens of {max_tokens}", explained.tokens);
        let is_whole = explained.rows.iter().all(|row| row.taken);
        let text = explained.text.unwrap();
        assert_eq!(text.contains("`thru brief --all`"), !is_whole, "{text}");
        let Some(out) = explained.rows.iter().find(|row| !row.taken) else { continue };
        assert!(out.why.starts_with("no room: it needs "), "{}", out.why);
        assert_eq!(
            compose_brief(&material, 9_500),
            Some(Brief { text, sent_candidate_ids: taken_ids(&explained.rows) })
        );
    }
}

#[test]
fn only_the_first_candidates_are_considered() {
    let (digest, records) = (made_up_session(3), made_up_facts(9));
    let scoring = ScoringSettings { max_candidates: 10, ..test_scoring() };
    let rows = explain_brief(&test_material(&digest, &records, Some(&scoring)), 9_500).rows;
    assert!(rows.len() > 10, "{}", rows.len());
    assert!(rows[..10].iter().all(|row| row.taken));
    for row in &rows[10..] {
        assert_eq!((row.taken, row.why.as_str()), (false, "not among the first 10 candidates"));
    }
}

#[test]
fn a_weight_moves_its_class() {
    let digest = made_up_session(5);
    let first_file = |weight: f64| {
        let mut scoring = test_scoring();
        scoring.weights.0[ScoreSignal::Files as usize] = weight;
        let rows = explain_brief(&test_material(&digest, &[], Some(&scoring)), 9_500).rows;
        rows.iter().position(|row| row.id.starts_with("file:")).unwrap()
    };
    assert_eq!(first_file(5.0), 0);
    assert!(first_file(1.0) > 0);
    assert!(first_file(0.0) > first_file(1.0));
}

fn taken_ids(rows: &[crate::brief::ExplainedCandidate]) -> Vec<String> {
    rows.iter().filter(|row| row.taken).map(|row| row.id.clone()).collect()
}
