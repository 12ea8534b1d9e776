//! What hooks, briefs and `thru status` report about the live run.

use std::path::{Path, PathBuf};

use model::brief::{BriefSection, Candidate};
use model::checkout_path;
use model::config::Settings;
use model::event::{Event, EventKind};
use model::gate::{self, ExpectedOutput, ExpectedOutputs, JudgedOutput, OutputTier, OutputVerdict};
use model::journal::JournalRecord;
use model::render::in_backticks;
use model::reply::{Reply, ReplyPart};
use model::score::ScoreSignal;
use model::time;
use serde::Serialize;
use store::{OutputReadDepth, Root, RunFolder, Store};

use super::{ChangeSincePass, earlier, judge_file, live, worker};
use crate::Result;
use crate::features::{BriefContext, FeatureAnswer, ProjectContext};
use crate::hook::context::HookContext;
use crate::world::OUTPUT_VARIABLE;

const MAX_OUTPUTS_NAMED: usize = 12;
const MAX_OUTPUTS_EXAMINED: usize = 32;

/// How many inputs are read for one brief. `thru gate check` reads all of them.
const MAX_INPUTS_READ: usize = 16;

/// The length to which a sub-agent's last message is cut.
const MAX_SUBAGENT_LAST_MESSAGE_BYTES: usize = 256 * 1024;

/// The state of a run for `thru status`.
#[derive(Clone, Debug, Serialize)]
pub struct LiveRunState {
    pub run: PathBuf,
    pub stage: String,
    pub outputs: usize,
    #[serde(rename = "open")]
    pub invalid_outputs: Vec<OpenOutput>,
    /// The time at which the stage passed, and the inputs that have changed since then. `None` if the stage has
    /// not passed or no inputs have changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_since_pass: Option<ChangeSincePass>,
    /// When the newest of the outputs was requested, or empty if this is unknown.
    #[serde(skip)]
    pub requested_at: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct OpenOutput {
    pub file: String,
    pub tier: OutputTier,
    pub verdict: OutputVerdict,
}

pub fn live_run_state(store: &Store, root: &Root, settings: &Settings) -> Result<Option<LiveRunState>> {
    let Some((run, expected)) = find_live_run(store, root, settings)? else { return Ok(None) };
    Ok(Some(state_of_run(&run, &expected, root)?))
}

pub(super) fn state_of_run(run: &RunFolder, expected: &ExpectedOutputs, root: &Root) -> Result<LiveRunState> {
    let invalid = invalid_outputs(run, expected, root, usize::MAX)?;
    let (open, changed): (Vec<_>, Vec<_>) =
        invalid.into_iter().partition(|(_, judged)| expected.keeps_stage_open(judged));
    let open = open.into_iter().map(|(i, judged)| {
        let output = &expected.outputs[i];
        OpenOutput { file: output.file.clone(), tier: output.tier, verdict: judged.verdict }
    });
    let changed: Vec<&ExpectedOutput> = changed.iter().map(|(i, _)| &expected.outputs[*i]).collect();
    let requested_at = expected.outputs.iter().filter_map(|output| output.not_before).max();
    Ok(LiveRunState {
        requested_at: requested_at.map_or(String::new(), time::to_rfc3339),
        changed_since_pass: ChangeSincePass::find(root, expected, &changed)?,
        run: run.path().to_owned(),
        invalid_outputs: open.collect(),
        stage: expected.stage.clone(),
        outputs: expected.outputs.len(),
    })
}

const OUTPUTS_BRIEF_SECTION: BriefSection = BriefSection {
    section_position: 4,
    rank_step_per_form: 1,
    name: "outputs",
    title: "Sub-agent outputs that are still open",
    signal: ScoreSignal::Outputs,
};
pub const BRIEF_SECTION_NAMES: &[&str] = &[OUTPUTS_BRIEF_SECTION.name];

/// Returns a candidate for each output that the live run is still waiting for, or a single candidate that explains
/// why the outputs are unknown.
pub(crate) fn brief_candidates(context: &BriefContext) -> Result<Vec<Candidate>> {
    let ProjectContext { world, root, store, settings, .. } = context.project;
    // When a session starts, the brief describes the last session, whose run may still be open.
    let sessions = || [context.session, context.described_session].into_iter().flatten();
    let is_worked_on = |run: Option<&RunFolder>| {
        sessions().any(|session| worker::does_session_work_on_run(store, root, session, run))
    };
    let found = find_live_run(store, root, settings).and_then(|found| match found {
        Some((run, _)) if !is_worked_on(Some(&run)) => Ok(None),
        Some((run, expected)) => {
            let mut invalid = invalid_outputs(&run, &expected, root, MAX_OUTPUTS_EXAMINED)?;
            invalid.retain(|(_, judged)| expected.keeps_stage_open(judged));
            Ok(Some((run, expected, invalid)))
        }
        None => Ok(None),
    });
    let (run, expected, invalid) = match found {
        Ok(Some(found)) => found,
        Ok(None) => return Ok(Vec::new()),
        Err(_) if !is_worked_on(None) => return Ok(Vec::new()),
        Err(error) => {
            let why = in_backticks(&error.to_string(), 600);
            let text = format!("the open outputs are unknown: {why}; `thru gate check` says what to do");
            return Ok(vec![Candidate::new(&OUTPUTS_BRIEF_SECTION, "output:error", text)]);
        }
    };
    // A sub-agent that this run launched writes only its own output. If its brief listed the open outputs, it might
    // launch itself again.
    let own = world.absolute_path_variable(OUTPUT_VARIABLE);
    if own.is_some_and(|own| own.starts_with(run.path())) {
        return Ok(Vec::new());
    }
    let folder = path_for_agent(run.path(), root);
    let mut candidates: Vec<Candidate> = invalid
        .iter()
        .take(MAX_OUTPUTS_NAMED)
        .map(|(i, judged)| {
            let output = &expected.outputs[*i];
            let message =
                store.saved_message_path(&run, &output.file).map(|path| path_for_agent(&path, root));
            let path = format!("{folder}/{}", output.file);
            let text = gate::describe_open_output(output, judged, &path, message.as_deref());
            Candidate::new(&OUTPUTS_BRIEF_SECTION, format!("output:{path}"), text)
        })
        .collect();
    if !candidates.is_empty() {
        let unseen = expected.outputs.len().saturating_sub(MAX_OUTPUTS_EXAMINED);
        let more = match (invalid.len() - candidates.len(), unseen) {
            (0, 0) => String::new(),
            (n, 0) => format!("{n} more; "),
            (n, unseen) => format!("{n} more, and {unseen} not examined; "),
        };
        let steps: Vec<_> = invalid
            .iter()
            .map(|(i, judged)| gate::next_launch_step(&expected.outputs[*i], judged.verdict))
            .collect();
        let advice = gate::advice_for_agent(&steps);
        let text = format!("{more}`thru gate check` shows the verdicts; {advice}");
        candidates.push(Candidate::new(&OUTPUTS_BRIEF_SECTION, format!("output:{folder}"), text));
    }
    for state in earlier::open_earlier_stages(store, root, settings) {
        let open = earlier::describe_open_stage(&state);
        let check = in_backticks(&format!("thru gate check --stage {}", state.stage), 160);
        let text = format!("earlier stage, {open}; {check} shows the verdicts");
        let id = format!("output:stage:{}", state.stage);
        candidates.push(Candidate::new(&OUTPUTS_BRIEF_SECTION, id, text));
    }
    Ok(candidates)
}

/// An output of the live run that a sub-agent must write.
struct AwaitedOutput {
    run: RunFolder,
    stage: String,
    file: String,
    /// The absolute path, which is shown to the sub-agent.
    path: String,
    journal_path: String,
    /// The verdict on the output at the time of this event.
    verdict: OutputVerdict,
}

fn awaited_output(project: &ProjectContext, event: &Event) -> Result<Option<AwaitedOutput>> {
    let ProjectContext { root, store, settings, .. } = *project;
    let agent = match (&event.kind, &event.subagent) {
        (EventKind::SubagentStart | EventKind::SubagentStop { .. }, Some(agent))
            if !agent.agent_type.is_empty() =>
        {
            agent
        }
        _ => return Ok(None),
    };
    let Some((run, expected)) = find_live_run(store, root, settings)? else { return Ok(None) };
    let Some(i) = gate::output_of_agent(&expected, &agent.agent_type) else { return Ok(None) };
    let output = &expected.outputs[i];
    let verdict = judge_file(&run, output, root)?.verdict;
    Ok(Some(AwaitedOutput {
        path: run.path().join(&output.file).to_string_lossy().into_owned(),
        journal_path: format!("{}/{}", path_for_agent(run.path(), root), output.file),
        file: output.file.clone(),
        stage: expected.stage.clone(),
        verdict,
        run,
    }))
}

/// Adds the path and the verdict of a sub-agent's output to the journal line when the sub-agent stops.
pub(crate) fn annotate_subagent_stop(
    project: &ProjectContext,
    event: &Event,
    record: &mut JournalRecord,
) -> Result<()> {
    if let EventKind::SubagentStop { .. } = event.kind
        && let Some(AwaitedOutput { journal_path, verdict, .. }) = awaited_output(project, event)?
    {
        (record.output, record.verdict) = (journal_path.into(), verdict.name().into());
    }
    Ok(())
}

/// Tells a starting sub-agent which output to write. If a sub-agent stops without a valid output, its last message is
/// saved next to the output, never as the output itself.
pub(crate) fn decide<'c>(context: &'c HookContext<'_>) -> Result<FeatureAnswer<'c>> {
    let Some(awaited) = awaited_output(&context.project, context.event)? else {
        return Ok(FeatureAnswer::no_action("no output is expected from this sub-agent"));
    };
    let AwaitedOutput { run, stage, file, path, journal_path, verdict } = awaited;
    let why = format!("the run expects {journal_path} from this sub-agent; the file is {}", verdict.name());
    let message = match &context.event.kind {
        EventKind::SubagentStop { message, .. } => message.as_deref(),
        _ => {
            let text = match verdict {
                OutputVerdict::Valid => gate::text_for_subagent_with_valid_output(&stage, &path),
                _ => gate::text_for_subagent_with_awaited_output(&stage, &path),
            };
            return Ok(FeatureAnswer::answer(ReplyPart::from_reply(Reply::ContextForAgent(text)), why));
        }
    };
    let message = message
        .map(|message| context.record_policy().redact_and_cut(message, MAX_SUBAGENT_LAST_MESSAGE_BYTES));
    let kept = gate::last_message_to_save(verdict, message.as_deref());
    let what = match &kept {
        Some(_) => format!("save the last message beside {journal_path}"),
        None => "record that the session works on this run".to_owned(),
    };
    Ok(FeatureAnswer::with_change(ReplyPart::silent(), why, what, move || {
        let ProjectContext { root, store, .. } = context.project;
        worker::record_session_works_on_run(store, root, context.session, &run)?;
        if let Some(text) = kept {
            store.save_last_message(&run, &file, &text)?;
        }
        Ok(ReplyPart::silent())
    }))
}

fn find_live_run(
    store: &Store,
    root: &Root,
    settings: &Settings,
) -> Result<Option<(RunFolder, ExpectedOutputs)>> {
    let Some(live) = live::find_live_run_in(store, root, settings)? else { return Ok(None) };
    match live.run.read_expected() {
        Err(store::Error::Absent { .. }) => Ok(None),
        expected => Ok(Some((live.run, expected?))),
    }
}

/// The inputs of an output, and the checkout that they belong to.
type InputsOfOutput<'a> = (&'a [String], &'a str);

/// Returns the invalid outputs among the first `most` outputs. This is a quick check that reads no large files and
/// reads each input only once.
fn invalid_outputs(
    run: &RunFolder,
    expected: &ExpectedOutputs,
    root: &Root,
    most: usize,
) -> Result<Vec<(usize, JudgedOutput)>> {
    let mut invalid = Vec::new();
    let (mut read, mut known) = (0, None::<(InputsOfOutput, String)>);
    for (i, output) in expected.outputs.iter().enumerate().take(most) {
        let seen = run.examine_output(&output.file, OutputReadDepth::EndOnly)?;
        let own: InputsOfOutput = (&output.inputs, &output.inputs_checkout);
        let inputs = match &known {
            Some((inputs, digest)) if *inputs == own => digest.clone(),
            _ if output.inputs_digest.is_empty() || read + output.inputs.len() > MAX_INPUTS_READ => {
                output.inputs_digest.clone()
            }
            _ => {
                read += output.inputs.len();
                let digest = store::inputs_digest(&store::input_folder(root, output), &output.inputs)?;
                known.insert((own, digest)).1.clone()
            }
        };
        let judged = gate::judge_output(output, &seen, &inputs);
        if judged.verdict != OutputVerdict::Valid {
            invalid.push((i, judged));
        }
    }
    Ok(invalid)
}

/// Returns the path with which an agent in the checkout can open the file.
fn path_for_agent(path: &Path, root: &Root) -> String {
    checkout_path::path_within_checkout(&root.checkout.to_string_lossy(), &path.to_string_lossy())
        .path
        .into_owned()
}
