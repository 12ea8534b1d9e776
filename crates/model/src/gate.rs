//! Gates decide whether the outputs of sub-agents exist, are complete and are fresh, and whether the stage passes.
//!
//! The functions in this module have no side effects. Other modules read files and start commands.

mod ending;
mod expected;
mod live;
mod words;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::id::Id;
use crate::time;

pub use ending::{OutputEnding, OutputScanner};
pub use expected::{ExpectedOutput, ExpectedOutputs, ExpectedOutputsProblem, ROOT_CHECKOUT, SCHEMA_VERSION};
pub use live::{live_dir_of_yaml, parse_earlier_dirs, parse_live_dir, render_live_json};
pub use words::{
    OmittedOutput, RemedyCommands, advice_for_agent, describe_change_since_pass, describe_open_output,
    describe_open_stage, last_message_to_save, launch_prompt, remedy_for_output, render_omissions,
    subagent_instruction, text_for_subagent_with_awaited_output, text_for_subagent_with_valid_output,
};

/// The last line of a complete output.
pub const COMPLETION_LINE: &str = "<!-- AGENT_COMPLETE -->";

/// The file that lists the outputs of a run.
pub const EXPECTED_FILE: &str = "expected.json";

/// The file that lists missing advisory outputs.
pub const OMITTED_OUTPUTS_FILE: &str = "omissions.md";

/// The suffix of the file with a sub-agent's last message. It is added to the name of the sub-agent's output.
pub const LAST_MESSAGE_SUFFIX: &str = ".last-message.md";

/// The suffix of the file with the prompt of a launched command.
pub const LAUNCH_PROMPT_SUFFIX: &str = ".prompt.md";

/// The suffix of the file with the output of a launched command.
pub const LAUNCH_LOG_SUFFIX: &str = ".launch.log";

/// The suffix of the file that identifies the process of a launched command.
pub const LAUNCH_PROCESS_SUFFIX: &str = ".process";

pub const MAX_OUTPUT_BYTES: u64 = 5 * 1024 * 1024;

/// How many times the command for an output may be launched: once, plus one retry.
pub const MAX_LAUNCHES_PER_OUTPUT: u32 = 2;

/// What happens to the stage if an output is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputTier {
    /// The stage fails.
    Critical,
    /// The stage continues and reports the missing output.
    Advisory,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputVerdict {
    Valid,
    Missing,
    Empty,
    /// The output does not end with the line that marks it as complete.
    Incomplete,
    /// The output is complete but comes from an earlier run or from other inputs.
    Stale,
    /// The output must not be opened, because it is a link, is outside the run, or is too large.
    Unsafe,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedOutput {
    pub verdict: OutputVerdict,
    pub why: String,
    /// Whether the output is complete, but is stale because its inputs have changed.
    pub have_inputs_changed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum GateResult {
    Pass,
    SoftContinue,
    HardFail,
}

/// What was found at the path of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoundOutput {
    Missing,
    /// A file that must not be opened. The string describes why.
    Unopenable(String),
    File {
        modified: Timestamp,
        ending: OutputEnding,
    },
}

/// What a run does next for an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextLaunchStep {
    Reuse,
    Launch,
    /// The command that writes the output has already been launched as often as allowed.
    GiveUp,
    /// The output has no command, so there is nothing to launch.
    NoCommand,
}

/// Judges one output. `inputs` is the current digest of its inputs.
pub fn judge_output(output: &ExpectedOutput, seen: &FoundOutput, inputs: &str) -> JudgedOutput {
    let judged = |verdict, why: String| JudgedOutput { verdict, why, have_inputs_changed: false };
    if let Err(bad) = Id::new(&output.file) {
        return judged(OutputVerdict::Unsafe, format!("its name cannot be used: it {}", bad.reason()));
    }
    if is_reserved_output_name(&output.file) {
        return judged(OutputVerdict::Unsafe, "its name is reserved for the run itself".to_owned());
    }
    let (modified, ending) = match seen {
        FoundOutput::Missing => return judged(OutputVerdict::Missing, "there is no such file".to_owned()),
        FoundOutput::Unopenable(why) => return judged(OutputVerdict::Unsafe, why.clone()),
        FoundOutput::File { modified, ending } => (modified, ending),
    };
    match ending {
        OutputEnding::Empty => return judged(OutputVerdict::Empty, "it is empty".to_owned()),
        OutputEnding::OnlySentinel => {
            return judged(OutputVerdict::Empty, "it contains only the completion line".to_owned());
        }
        OutputEnding::NoSentinel => {
            return judged(OutputVerdict::Incomplete, format!("its last line is not `{COMPLETION_LINE}`"));
        }
        OutputEnding::SentinelInFence { line } => {
            let why = format!("its last line is inside the code fence that line {line} opens");
            return judged(OutputVerdict::Incomplete, why);
        }
        OutputEnding::Sealed => {}
    }
    if let Some(not_before) = output.not_before.filter(|not_before| modified < not_before) {
        let (then, wanted) = (time::to_rfc3339(*modified), time::to_rfc3339(not_before));
        return judged(
            OutputVerdict::Stale,
            format!("it was written at {then}, but must not have been written before {wanted}"),
        );
    }
    if !output.inputs_digest.is_empty() && output.inputs_digest != inputs {
        let why = "its inputs have changed since it was requested".to_owned();
        return JudgedOutput { have_inputs_changed: true, ..judged(OutputVerdict::Stale, why) };
    }
    judged(OutputVerdict::Valid, String::new())
}

pub fn next_launch_step(output: &ExpectedOutput, verdict: OutputVerdict) -> NextLaunchStep {
    match verdict {
        OutputVerdict::Valid => NextLaunchStep::Reuse,
        // An output with an invalid or reserved name cannot be written.
        OutputVerdict::Unsafe if Id::new(&output.file).is_err() || is_reserved_output_name(&output.file) => {
            NextLaunchStep::NoCommand
        }
        _ if output.launch.is_empty() => NextLaunchStep::NoCommand,
        // For an output that was valid before, launches are counted from zero again.
        _ if output.attempts >= MAX_LAUNCHES_PER_OUTPUT && !output.was_valid => NextLaunchStep::GiveUp,
        _ => NextLaunchStep::Launch,
    }
}

pub fn gate_result(verdicts: impl IntoIterator<Item = (OutputTier, OutputVerdict)>) -> GateResult {
    verdicts.into_iter().fold(GateResult::Pass, |gate, (tier, verdict)| match (gate, tier, verdict) {
        (gate, _, OutputVerdict::Valid) => gate,
        (_, OutputTier::Critical, _) | (GateResult::HardFail, _, _) => GateResult::HardFail,
        _ => GateResult::SoftContinue,
    })
}

/// Returns the tier of an output that is listed without one.
pub fn default_output_tier(file: &str) -> OutputTier {
    match file.strip_prefix("retro-") {
        Some(rest) if !rest.starts_with("cdm") => OutputTier::Advisory,
        _ => OutputTier::Critical,
    }
}

/// Returns whether the run itself uses this file name. No output can have such a name.
pub fn is_reserved_output_name(file: &str) -> bool {
    let beside = [LAST_MESSAGE_SUFFIX, LAUNCH_PROMPT_SUFFIX, LAUNCH_LOG_SUFFIX, LAUNCH_PROCESS_SUFFIX];
    is_expected_outputs_file(file)
        || file.starts_with("omissions.")
        || beside.iter().any(|end| file.ends_with(end))
}

/// Returns whether a file is a list of outputs. Such a file is called `expected.json`, or `expected.<stage>.json` if
/// several stages share a folder.
pub fn is_expected_outputs_file(file: &str) -> bool {
    file.starts_with("expected.") && file.ends_with(".json")
}

/// Returns the agent role in `{skill}-{agent-role}.md`. The skill is the stage if the name starts with it, and
/// otherwise the first word of the name.
pub fn agent_role_in_output_file_name<'a>(file: &'a str, stage: &str) -> &'a str {
    let stem = output_file_stem(file);
    let of_stage = stem.strip_prefix(stage).and_then(|rest| rest.strip_prefix('-'));
    of_stage.or_else(|| stem.split_once('-').map(|(_, role)| role)).unwrap_or(stem)
}

fn output_file_stem(file: &str) -> &str {
    file.strip_suffix(".md").unwrap_or(file)
}

/// Returns the output that a sub-agent of this type must write, or `None` if there is no candidate or more than one.
/// The type must equal the role or the whole file name without its extension. If there is no such output, a role that
/// ends with the type is accepted, because a skill's name may contain hyphens.
pub fn output_of_agent(expected: &ExpectedOutputs, agent: &str) -> Option<usize> {
    // In Claude Code, the type of an agent from a plugin has the form `plugin:agent`.
    let agent = agent.rsplit(':').next().unwrap_or(agent);
    if agent.is_empty() {
        return None;
    }
    let having = |is_so: &dyn Fn(&str, &str) -> bool| -> Vec<usize> {
        let files = expected.outputs.iter().map(|output| output.file.as_str()).enumerate();
        files
            .filter(|(_, file)| is_so(file, agent_role_in_output_file_name(file, &expected.stage)))
            .map(|(i, _)| i)
            .collect()
    };
    let mut found = having(&|file, role| role == agent || output_file_stem(file) == agent);
    if found.is_empty() {
        found = having(&|_, role| role.strip_suffix(agent).is_some_and(|rest| rest.ends_with('-')));
    }
    if let [only] = found[..] { Some(only) } else { None }
}

impl OutputTier {
    pub fn parse(word: &str) -> Option<OutputTier> {
        match word {
            "critical" => Some(OutputTier::Critical),
            "advisory" => Some(OutputTier::Advisory),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            OutputTier::Critical => "critical",
            OutputTier::Advisory => "advisory",
        }
    }
}

impl OutputVerdict {
    pub fn name(self) -> &'static str {
        match self {
            OutputVerdict::Valid => "valid",
            OutputVerdict::Missing => "missing",
            OutputVerdict::Empty => "empty",
            OutputVerdict::Incomplete => "incomplete",
            OutputVerdict::Stale => "stale",
            OutputVerdict::Unsafe => "unsafe",
        }
    }
}

impl GateResult {
    pub fn name(self) -> &'static str {
        match self {
            GateResult::Pass => "PASS",
            GateResult::SoftContinue => "SOFT_CONTINUE",
            GateResult::HardFail => "HARD_FAIL",
        }
    }
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
