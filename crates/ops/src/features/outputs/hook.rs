//! What hooks, briefs and `thru status` need to know of the live run.

use std::path::{Path, PathBuf};

use model::brief::{Note, Topic};
use model::config::Settings;
use model::event::{Event, Kind};
use model::gate::{self, Expected, Judged, Tier, Verdict};
use model::render::code;
use model::{decide, place};
use serde::Serialize;
use store::{Care, Root, Run, Store};

use super::{judge, live};
use crate::Result;

/// Most outputs that a brief names, and that it looks at.
const NAMED: usize = 12;
const LOOKED_AT: usize = 32;

/// Most inputs that are read again for one brief: whether they have changed is otherwise left to `thru gate check`.
const INPUTS: usize = 16;

/// The live run in `thru status`.
#[derive(Clone, Debug, Serialize)]
pub struct Open {
    pub run: PathBuf,
    pub stage: String,
    pub outputs: usize,
    /// Those that are not valid.
    pub open: Vec<OpenOutput>,
}

#[derive(Clone, Debug, Serialize)]
pub struct OpenOutput {
    pub file: String,
    pub tier: Tier,
    pub verdict: Verdict,
}

pub fn open(store: &Store, root: &Root, settings: &Settings) -> Result<Option<Open>> {
    let Some((run, expected)) = find(store, root, settings)? else { return Ok(None) };
    let open = invalid(&run, &expected, root, usize::MAX)?.into_iter().map(|(i, judged)| {
        let output = &expected.outputs[i];
        OpenOutput { file: output.file.clone(), tier: output.tier, verdict: judged.verdict }
    });
    Ok(Some(Open {
        run: run.path().to_owned(),
        open: open.collect(),
        stage: expected.stage,
        outputs: expected.outputs.len(),
    }))
}

/// For a brief: what the live run still waits for, or why that cannot be told.
pub(crate) fn notes(store: &Store, root: &Root, settings: &Settings) -> Vec<Note> {
    let note = |text| Note { topic: Topic::Outputs, text };
    let found = find(store, root, settings).and_then(|found| match found {
        Some((run, expected)) => {
            let invalid = invalid(&run, &expected, root, LOOKED_AT)?;
            Ok(Some((run, expected, invalid)))
        }
        None => Ok(None),
    });
    let (run, expected, invalid) = match found {
        Ok(Some(found)) => found,
        Ok(None) => return Vec::new(),
        Err(error) => {
            let why = code(&error.to_string(), 600);
            return vec![note(format!(
                "which ones cannot be told: {why}; `thru gate check` shows the way out"
            ))];
        }
    };
    let folder = shown(run.path(), root);
    let mut notes: Vec<Note> = invalid
        .iter()
        .take(NAMED)
        .map(|(i, judged)| {
            let output = &expected.outputs[*i];
            let message = store.message(&run, &output.file).map(|path| shown(&path, root));
            note(gate::open_line(output, judged, &format!("{folder}/{}", output.file), message.as_deref()))
        })
        .collect();
    if !notes.is_empty() {
        let unseen = expected.outputs.len().saturating_sub(LOOKED_AT);
        let more = match (invalid.len() - notes.len(), unseen) {
            (0, 0) => String::new(),
            (n, 0) => format!("{n} more; "),
            (n, unseen) => format!("{n} more, and {unseen} not looked at; "),
        };
        let steps: Vec<_> =
            invalid.iter().map(|(i, judged)| gate::step(&expected.outputs[*i], judged.verdict)).collect();
        let advice = gate::advice(&steps);
        notes.push(note(format!("{more}`thru gate check` shows the verdicts, {advice}")));
    }
    notes
}

/// The output that the sub-agent of this event has to leave, if there is one.
pub(crate) fn awaited(
    store: &Store,
    root: &Root,
    settings: &Settings,
    event: &Event,
) -> Result<Option<decide::Awaited>> {
    let agent = match (&event.kind, &event.agent) {
        (Kind::SubagentStart | Kind::SubagentStop { .. }, Some(agent)) if !agent.kind.is_empty() => agent,
        _ => return Ok(None),
    };
    let Some((run, expected)) = find(store, root, settings)? else { return Ok(None) };
    let Some(i) = gate::output_of(&expected, &agent.kind) else { return Ok(None) };
    let output = &expected.outputs[i];
    let verdict = judge(&run, output, &root.checkout)?.verdict;
    Ok(Some(decide::Awaited {
        path: run.path().join(&output.file).to_string_lossy().into_owned(),
        shown: format!("{}/{}", shown(run.path(), root), output.file),
        file: output.file.clone(),
        stage: expected.stage.clone(),
        verdict,
    }))
}

/// Saves the last words of a sub-agent that left no file; never as the output itself.
pub(crate) fn keep_message(
    store: &Store,
    root: &Root,
    settings: &Settings,
    file: &str,
    text: &str,
) -> store::Result<()> {
    let Ok(Some(live)) = live::find(store, root, settings) else { return Ok(()) };
    store.keep_message(&live.run, file, text)
}

fn find(store: &Store, root: &Root, settings: &Settings) -> Result<Option<(Run, Expected)>> {
    let Some(live) = live::find(store, root, settings)? else { return Ok(None) };
    match live.run.expected() {
        Err(store::Error::Absent { .. }) => Ok(None),
        expected => Ok(Some((live.run, expected?))),
    }
}

/// At a glance, of the first `most` outputs: nothing large is read, and the same inputs are read once.
fn invalid(run: &Run, expected: &Expected, root: &Root, most: usize) -> Result<Vec<(usize, Judged)>> {
    let mut invalid = Vec::new();
    let (mut read, mut known) = (0, None::<(&[String], String)>);
    for (i, output) in expected.outputs.iter().enumerate().take(most) {
        let seen = run.look(&output.file, Care::Glance)?;
        let inputs = match &known {
            Some((inputs, digest)) if *inputs == output.inputs => digest.clone(),
            _ if output.inputs_digest.is_empty() || read + output.inputs.len() > INPUTS => {
                output.inputs_digest.clone()
            }
            _ => {
                read += output.inputs.len();
                let digest = store::inputs_digest(&root.checkout, &output.inputs)?;
                known.insert((&output.inputs, digest)).1.clone()
            }
        };
        let judged = gate::judge(output, &seen, &inputs);
        if judged.verdict != Verdict::Valid {
            invalid.push((i, judged));
        }
    }
    Ok(invalid)
}

/// As whoever works in the checkout can reach it.
fn shown(path: &Path, root: &Root) -> String {
    place::within(&root.checkout.to_string_lossy(), &path.to_string_lossy()).path.into_owned()
}
