//! Stages that passed: the record of the pass, and what has changed since.

use jiff::Timestamp;
use model::gate::{ExpectedOutput, ExpectedOutputs, describe_change_since_pass};
use model::time;
use serde::Serialize;
use store::{Root, RunFolder};

use crate::{Result, World};

/// A stage whose inputs have changed since it passed.
#[derive(Clone, Debug, Serialize)]
pub struct ChangeSincePass {
    pub passed_at: String,
    /// The inputs that changed. Empty if it is unknown which of them did.
    pub inputs: Vec<String>,
}

impl ChangeSincePass {
    /// `changed` contains the outputs that are stale because their inputs have changed.
    pub(super) fn find(
        root: &Root,
        expected: &ExpectedOutputs,
        changed: &[&ExpectedOutput],
    ) -> Result<Option<ChangeSincePass>> {
        let Some(passed_at) = expected.passed_at.filter(|_| !changed.is_empty()) else { return Ok(None) };
        let mut inputs: Vec<String> = Vec::new();
        for output in changed {
            for input in output.inputs_changed_since_pass(&digests_of_inputs(root, output)?) {
                if !inputs.contains(&input) {
                    inputs.push(input);
                }
            }
        }
        Ok(Some(ChangeSincePass { passed_at: time::to_rfc3339(passed_at), inputs }))
    }

    /// Returns a sentence that describes the change. Every report uses this same sentence.
    pub fn describe(&self, world: &World) -> String {
        describe_change_since_pass(&(world.time_for_reader)(&self.passed_at), &self.inputs)
    }
}

/// Records that the gate of a run passed, unless that is already recorded.
pub(super) fn record_pass(
    root: &Root,
    run: &RunFolder,
    expected: &mut ExpectedOutputs,
    now: Timestamp,
) -> Result<()> {
    let digests = expected.outputs.iter().map(|output| digests_of_inputs(root, output));
    let digests = digests.collect::<Result<_>>()?;
    match expected.record_pass(now, digests) {
        true => Ok(run.write_expected(expected)?),
        false => Ok(()),
    }
}

fn digests_of_inputs(root: &Root, output: &ExpectedOutput) -> Result<Vec<String>> {
    match output.inputs.is_empty() {
        true => Ok(Vec::new()),
        false => Ok(store::digests_of_inputs(&store::input_folder(root, output), &output.inputs)?),
    }
}
