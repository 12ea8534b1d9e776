//! Gates: whether the files that sub-agents had to write exist, are complete and are fresh, and whether the stage
//! passes.
//!
//! These are pure functions. Reading files and starting commands happens elsewhere.

mod ending;
mod expected;
mod live;
mod words;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::id::Id;
use crate::time;

pub use ending::{Ending, Reading};
pub use expected::{Expected, Output, Problem, SCHEMA_VERSION};
pub use live::{live_dir, live_of_yaml, render_live};
pub use words::{
    Omission, advice, awaited, instruction, message_to_keep, omissions, open_line, prompt, remedy, there,
};

/// The last line of a complete output.
pub const SENTINEL: &str = "<!-- AGENT_COMPLETE -->";

/// The list of outputs of a run.
pub const EXPECTED: &str = "expected.json";

/// The file that says which advisory outputs are missing.
pub const OMISSIONS: &str = "omissions.md";

/// The ending of the file that keeps a sub-agent's last message, next to its output.
pub const LAST_MESSAGE: &str = ".last-message.md";

/// The ending of the file with the prompt of a launched command.
pub const LAUNCH_PROMPT: &str = ".prompt.md";

/// The ending of the file with the output of a launched command.
pub const LAUNCH_LOG: &str = ".launch.log";

/// The ending of the file that identifies the process of a launched command.
pub const LAUNCH_PROCESS: &str = ".process";

/// The largest output that is read, in bytes.
pub const LARGEST: u64 = 5 * 1024 * 1024;

/// The most launches of an output: the first one, and one retry.
pub const MOST_ATTEMPTS: u32 = 2;

/// What happens if an output is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// The stage fails.
    Critical,
    /// The stage continues and says what is missing.
    Advisory,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Valid,
    Missing,
    Empty,
    /// The last line is not the sentinel.
    Incomplete,
    /// The output is complete, but from an earlier run or from other inputs.
    Stale,
    /// The output must not be opened: it is a link, outside the run, or too large.
    Unsafe,
}

/// A verdict and its reason, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    pub verdict: Verdict,
    pub why: String,
}

/// The result of the stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Gate {
    Pass,
    SoftContinue,
    HardFail,
}

/// What was found where an output should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoundOutput {
    Nothing,
    /// Something that must not be opened, with the reason.
    Odd(String),
    File {
        modified: Timestamp,
        ending: Ending,
    },
}

/// What a run does about an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Reuse,
    Launch,
    /// The output was launched as often as allowed.
    GiveUp,
    /// No command makes the output.
    Leave,
}

/// Judges one output; `inputs` is the current digest of its inputs.
pub fn judge(output: &Output, seen: &FoundOutput, inputs: &str) -> Judged {
    let judged = |verdict, why: String| Judged { verdict, why };
    if let Err(bad) = Id::new(&output.file) {
        return judged(Verdict::Unsafe, format!("its name leads outside the run, or {}", bad.why()));
    }
    if is_of_run(&output.file) {
        return judged(Verdict::Unsafe, "it is reserved for the run itself".to_owned());
    }
    let (modified, ending) = match seen {
        FoundOutput::Nothing => return judged(Verdict::Missing, "there is no such file".to_owned()),
        FoundOutput::Odd(why) => return judged(Verdict::Unsafe, why.clone()),
        FoundOutput::File { modified, ending } => (modified, ending),
    };
    match ending {
        Ending::Empty => return judged(Verdict::Empty, "it is empty".to_owned()),
        Ending::Bare => return judged(Verdict::Empty, "it contains only the last line".to_owned()),
        Ending::Open => {
            return judged(Verdict::Incomplete, format!("its last line is not `{SENTINEL}`"));
        }
        Ending::Fenced { line } => {
            let why = format!("its last line is inside the code fence that line {line} opens");
            return judged(Verdict::Incomplete, why);
        }
        Ending::Sealed => {}
    }
    if let Some(not_before) = output.not_before.filter(|not_before| modified < not_before) {
        let (then, wanted) = (time::rfc3339(*modified), time::rfc3339(not_before));
        return judged(
            Verdict::Stale,
            format!("it was written at {then}, and must not be older than {wanted}"),
        );
    }
    if !output.inputs_digest.is_empty() && output.inputs_digest != inputs {
        return judged(Verdict::Stale, "its inputs have changed since it was requested".to_owned());
    }
    judged(Verdict::Valid, String::new())
}

pub fn step(output: &Output, verdict: Verdict) -> Step {
    match verdict {
        Verdict::Valid => Step::Reuse,
        // A name that is invalid or reserved cannot be written either.
        Verdict::Unsafe if Id::new(&output.file).is_err() || is_of_run(&output.file) => Step::Leave,
        _ if output.launch.is_empty() => Step::Leave,
        // An output that was valid and is not valid any more may be launched as often as a new one.
        _ if output.attempts >= MOST_ATTEMPTS && !output.was_valid => Step::GiveUp,
        _ => Step::Launch,
    }
}

pub fn gate(verdicts: impl IntoIterator<Item = (Tier, Verdict)>) -> Gate {
    verdicts.into_iter().fold(Gate::Pass, |gate, (tier, verdict)| match (gate, tier, verdict) {
        (gate, _, Verdict::Valid) => gate,
        (_, Tier::Critical, _) | (Gate::HardFail, _, _) => Gate::HardFail,
        _ => Gate::SoftContinue,
    })
}

/// Returns the tier of a file that was listed without one.
pub fn tier_of(file: &str) -> Tier {
    match file.strip_prefix("retro-") {
        Some(rest) if !rest.starts_with("cdm") => Tier::Advisory,
        _ => Tier::Critical,
    }
}

/// Returns whether the run reserves this file name, so that no output can have it.
pub fn is_of_run(file: &str) -> bool {
    let beside = [LAST_MESSAGE, LAUNCH_PROMPT, LAUNCH_LOG, LAUNCH_PROCESS];
    is_list(file) || file.starts_with("omissions.") || beside.iter().any(|end| file.ends_with(end))
}

/// Whether a file is a list of outputs: `expected.json`, or `expected.<stage>.json` if stages share a folder.
pub fn is_list(file: &str) -> bool {
    file.starts_with("expected.") && file.ends_with(".json")
}

/// Returns the agent role in `{skill}-{agent-role}.md`. The skill is the stage if the name starts with the stage,
/// otherwise the first word of the name.
pub fn role_of<'a>(file: &'a str, stage: &str) -> &'a str {
    let stem = stem_of(file);
    let of_stage = stem.strip_prefix(stage).and_then(|rest| rest.strip_prefix('-'));
    of_stage.or_else(|| stem.split_once('-').map(|(_, role)| role)).unwrap_or(stem)
}

fn stem_of(file: &str) -> &str {
    file.strip_suffix(".md").unwrap_or(file)
}

/// Returns the one output that a sub-agent of this type must write; `None` if there are several candidates. The type
/// is the role, or the whole name of the file without its ending. A skill's name may contain hyphens, so if no output
/// has this role or name, a role that ends with the type matches.
pub fn output_of(expected: &Expected, agent: &str) -> Option<usize> {
    // `plugin:agent` is how Claude Code names an agent that came with a plugin.
    let agent = agent.rsplit(':').next().unwrap_or(agent);
    if agent.is_empty() {
        return None;
    }
    let having = |is_so: &dyn Fn(&str, &str) -> bool| -> Vec<usize> {
        let files = expected.outputs.iter().map(|output| output.file.as_str()).enumerate();
        files.filter(|(_, file)| is_so(file, role_of(file, &expected.stage))).map(|(i, _)| i).collect()
    };
    let mut found = having(&|file, role| role == agent || stem_of(file) == agent);
    if found.is_empty() {
        found = having(&|_, role| role.strip_suffix(agent).is_some_and(|rest| rest.ends_with('-')));
    }
    if let [only] = found[..] { Some(only) } else { None }
}

impl Tier {
    pub fn parse(word: &str) -> Option<Tier> {
        match word {
            "critical" => Some(Tier::Critical),
            "advisory" => Some(Tier::Advisory),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Tier::Critical => "critical",
            Tier::Advisory => "advisory",
        }
    }
}

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Valid => "valid",
            Verdict::Missing => "missing",
            Verdict::Empty => "empty",
            Verdict::Incomplete => "incomplete",
            Verdict::Stale => "stale",
            Verdict::Unsafe => "unsafe",
        }
    }
}

impl Gate {
    pub fn name(self) -> &'static str {
        match self {
            Gate::Pass => "PASS",
            Gate::SoftContinue => "SOFT_CONTINUE",
            Gate::HardFail => "HARD_FAIL",
        }
    }
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
