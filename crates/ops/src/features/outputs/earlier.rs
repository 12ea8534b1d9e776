//! Earlier stages that are no longer live although some of their outputs are still open. `thru gate expect` begins a
//! new stage. Without these functions, the stage before it would disappear from every report.

use model::config::Settings;
use model::gate::{self, ExpectedOutputs};
use store::{Root, RunFolder, Store, layout};

use super::hook::{LiveRunState, state_of_run};
use super::live::find_live_run_in;
use super::{GateContext, OmittedOutput};
use crate::Result;

/// How many earlier runs are remembered.
const MAX_EARLIER_RUNS: usize = 8;

/// Returns the stages before the live one that still have open outputs, newest first. A stage that cannot be read is
/// left out, because these stages are only mentioned in addition to the live one.
pub fn open_earlier_stages(store: &Store, root: &Root, settings: &Settings) -> Vec<LiveRunState> {
    let Ok(Some(live)) = find_live_run_in(store, root, settings) else { return Vec::new() };
    let current = live.run.read_expected().map(|expected| expected.stage).unwrap_or_default();
    // An orchestrator keeps the lists of all its stages in one folder.
    let mut stages: Vec<LiveRunState> = live
        .run
        .read_all_lists()
        .into_iter()
        .filter(|list| list.stage != current)
        .take(MAX_EARLIER_RUNS)
        .filter_map(|list| {
            state_of_stage_if_open(&live.run, &list, &layout::stage_omissions_file(&list.stage), root)
        })
        .collect();
    for dir in store.read_earlier_live_runs() {
        let known = |stage: &str| stage == current || stages.iter().any(|known| known.stage == stage);
        stages.extend(open_state_of_dir(root, &dir).filter(|state| !known(&state.stage)));
    }
    stages
}

/// Makes a run live, and remembers the runs before it that still have open outputs. A new run of a stage replaces the
/// old one.
pub(super) fn make_run_live(
    place: &GateContext,
    run: &str,
    stage: Option<&str>,
    now: jiff::Timestamp,
) -> Result<()> {
    let before = place.store.read_live_run().ok().flatten();
    let mut earlier: Vec<String> = Vec::new();
    for dir in before.into_iter().chain(place.store.read_earlier_live_runs()) {
        let is_open =
            || open_state_of_dir(&place.root, &dir).is_some_and(|state| Some(&*state.stage) != stage);
        if dir != run && !earlier.contains(&dir) && earlier.len() < MAX_EARLIER_RUNS && is_open() {
            earlier.push(dir);
        }
    }
    Ok(place.store.write_live_run(Some((run, &earlier)), now)?)
}

/// Clears the live run. The newest run before it that still has open outputs becomes live again, so that no other stage
/// is abandoned together with the cleared one.
pub(super) fn clear_live_run(place: &GateContext, now: jiff::Timestamp) -> Result<()> {
    let mut open = place.store.read_earlier_live_runs();
    open.retain(|dir| open_state_of_dir(&place.root, dir).is_some());
    let live_again = open.split_first().map(|(newest, before)| (newest.as_str(), before));
    Ok(place.store.write_live_run(live_again, now)?)
}

fn open_state_of_dir(root: &Root, dir: &str) -> Option<LiveRunState> {
    let run = [&root.path, &root.checkout].iter().find_map(|base| RunFolder::open(base, dir).ok())?;
    state_of_stage_if_open(&run, &run.read_expected().ok()?, layout::OMITTED_OUTPUTS_FILE, root)
}

/// Returns the state of a stage, or `None` if nothing in it is open. An advisory output is no longer open once `thru
/// gate run` has recorded that the stage continues without it.
fn state_of_stage_if_open(
    run: &RunFolder,
    list: &ExpectedOutputs,
    omissions: &str,
    root: &Root,
) -> Option<LiveRunState> {
    let mut state = state_of_run(run, list, root).ok()?;
    if run.has_file(omissions) {
        state.invalid_outputs.retain(|output| !OmittedOutput::may_omit(output.tier, output.verdict));
    }
    (!state.invalid_outputs.is_empty()).then_some(state)
}

/// Describes the open outputs of a stage: `1 of 2 open (stage review): incomplete review-style.md`.
pub(super) fn describe_open_stage(state: &LiveRunState) -> String {
    let open = state.invalid_outputs.iter().map(|output| (output.verdict, output.file.as_str()));
    gate::describe_open_stage(&state.stage, state.outputs, open)
}
