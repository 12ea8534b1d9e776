//! Hooks read only the end of a decision log. The end must be enough to judge the decisions in it.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use model::decision::{Decision, DecisionState, fold_decisions};
use model::time;
use proptest::prelude::*;

/// What one line of a log does. The numbers select from a few decisions, so several lines are often about the same
/// decision.
#[derive(Clone, Debug)]
enum LogStep {
    Make(u8),
    Supersede(u8, u8),
    Withdraw(u8),
    Answer { question: u8, answer: u8 },
}

fn random_step() -> impl Strategy<Value = LogStep> {
    prop_oneof![
        (0..5_u8).prop_map(LogStep::Make),
        (0..5_u8, 0..5_u8).prop_map(|(old, new)| LogStep::Supersede(old, new)),
        (0..5_u8).prop_map(LogStep::Withdraw),
        (0..2_u8, 0..3_u8).prop_map(|(question, answer)| LogStep::Answer { question, answer }),
    ]
}

/// Returns a log in the order in which it was written. Several lines can have the same time.
fn make_log(steps: &[(LogStep, bool)]) -> Vec<Decision> {
    let (mut second, mut lines) = (0, Vec::<Decision>::new());
    for (place, (step, is_later)) in steps.iter().enumerate() {
        second += u32::from(*is_later);
        let made = |id: String| Decision {
            v: 1,
            text: format!("text of {id}"),
            id,
            ts: format!("2026-11-15T19:{:02}:{:02}Z", second / 60, second % 60),
            ..Decision::default()
        };
        let is_there = |id: &str| lines.iter().any(|line| line.id == id);
        let line = match step {
            LogStep::Make(id) => made(format!("d{id}")),
            LogStep::Supersede(old, new) if is_there(&format!("d{old}")) => {
                Decision { supersedes: format!("d{old}"), ..made(format!("d{new}")) }
            }
            LogStep::Withdraw(id) if is_there(&format!("d{id}")) => {
                Decision { supersedes: format!("d{id}"), text: String::new(), ..made(format!("w{place}")) }
            }
            LogStep::Answer { question, answer } => {
                Decision { question: format!("q{question}"), ..made(format!("a{question}{answer}")) }
            }
            LogStep::Supersede(..) | LogStep::Withdraw(_) => continue,
        };
        lines.push(line);
    }
    lines
}

fn decision_states(lines: &[Decision]) -> BTreeMap<String, DecisionState> {
    let now = time::parse_time("2026-11-17T12:00:00Z").unwrap();
    fold_decisions(lines.to_vec(), now).into_iter().map(|one| (one.decision.id, one.state)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn the_end_of_a_log_says_what_the_whole_log_says(steps in prop::collection::vec((random_step(), any::<bool>()), 0..24)) {
        let lines = make_log(&steps);
        let whole = decision_states(&lines);
        for start in 0..=lines.len() {
            for (id, state) in decision_states(&lines[start..]) {
                prop_assert_eq!(Some(&state), whole.get(&id), "{} from line {} of {:#?}", id, start, lines);
            }
        }
    }
}
