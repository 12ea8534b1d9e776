//! Messages about outputs. They are written for sub-agents, for the agent after a compaction, and for people.

use super::{
    COMPLETION_LINE, ExpectedOutput, ExpectedOutputs, JudgedOutput, MAX_LAUNCHES_PER_OUTPUT, NextLaunchStep,
    OutputTier, OutputVerdict, next_launch_step,
};
use crate::consent::quote_command;
use crate::render::{format_path_or_code as shown_path, in_backticks, one_line};

/// Returns the instruction that tells a sub-agent where to write its result and how to mark it as complete.
pub fn subagent_instruction(path: &str) -> String {
    format!(
        "Write your complete result to this file: {path}\n\
         Only the file is read; what you say in your last message is not.\n\
         When everything is written, make this the last line of the file, alone on its line and outside any code block:\n{COMPLETION_LINE}\n\
         A file that does not end with that line counts as unfinished, and the work is given to somebody else.\n"
    )
}

/// Returns the text that a launched command reads from standard input.
pub fn launch_prompt(output: &ExpectedOutput, path: &str) -> String {
    match output.prompt.trim() {
        "" => subagent_instruction(path),
        prompt => format!("{prompt}\n\n{}", subagent_instruction(path)),
    }
}

/// Returns a sub-agent's last message if it should be saved. It is saved if the sub-agent wrote no file or an empty
/// one.
pub fn last_message_to_save(verdict: OutputVerdict, message: Option<&str>) -> Option<String> {
    let left_nothing = matches!(verdict, OutputVerdict::Missing | OutputVerdict::Empty);
    let text = message?.trim();
    (left_nothing && !text.is_empty()).then(|| format!("{text}\n"))
}

/// Returns the text for a sub-agent that is starting. The text says which output the sub-agent must write.
pub fn text_for_subagent_with_awaited_output(stage: &str, path: &str) -> String {
    let stage =
        if stage.is_empty() { String::new() } else { format!(" of stage {}", in_backticks(stage, 128)) };
    format!(
        "Throughline: the run{stage} expects one output from this sub-agent, as a file:\n{}\n\
         The orchestrator reads that file and not the last message. The file counts as complete when its last line is \
         exactly `{COMPLETION_LINE}`, alone on the line and outside any code block.\n",
        shown_path(path, 4096)
    )
}

/// Returns the text for a starting sub-agent whose output is already valid.
pub fn text_for_subagent_with_valid_output(stage: &str, path: &str) -> String {
    let stage =
        if stage.is_empty() { String::new() } else { format!(" of stage {}", in_backticks(stage, 128)) };
    format!(
        "Throughline: the output that the run{stage} expects from this sub-agent already exists and is complete:\n{}\n\
         It need not be written again. If it is changed, its last line must still be exactly `{COMPLETION_LINE}`.\n",
        shown_path(path, 4096)
    )
}

/// Returns the text in a brief about an output that is not valid yet. `path` is a path that the agent can open.
pub fn describe_open_output(
    output: &ExpectedOutput,
    judged: &JudgedOutput,
    path: &str,
    message: Option<&str>,
) -> String {
    let JudgedOutput { verdict, why, .. } = judged;
    // The reason is not escaped, because an agent would copy an escaped sentinel together with its backslash.
    let why =
        if *verdict == OutputVerdict::Missing { String::new() } else { format!(" ({})", one_line(why, 160)) };
    let launched = match output.attempts {
        0 => String::new(),
        n => format!(", launched {n} of {MAX_LAUNCHES_PER_OUTPUT} times"),
    };
    let message = message.map_or(String::new(), |message| {
        format!("; its last message is kept in {}", shown_path(message, 400))
    });
    format!("{}, {}: {}{why}{launched}{message}", shown_path(path, 400), output.tier.name(), verdict.name())
}

/// How many open outputs of a stage are named.
const MAX_OUTPUTS_NAMED: usize = 4;

/// Describes the open outputs of a stage: `1 of 2 open (stage review): incomplete review-style.md`.
pub fn describe_open_stage<'o>(
    stage: &str,
    outputs: usize,
    open: impl Iterator<Item = (OutputVerdict, &'o str)>,
) -> String {
    let open: Vec<String> =
        open.map(|(verdict, file)| format!("{} {}", verdict.name(), shown_path(file, 128))).collect();
    let more = if open.len() > MAX_OUTPUTS_NAMED { ", …" } else { "" };
    let named = open[..open.len().min(MAX_OUTPUTS_NAMED)].join(", ");
    format!("{} of {outputs} open (stage {}): {named}{more}", open.len(), shown_path(stage, 128))
}

/// Returns advice for an agent about the outputs that are not valid yet.
pub fn advice_for_agent(open: &[NextLaunchStep]) -> &'static str {
    let any = |step| open.contains(&step);
    if any(NextLaunchStep::Launch) {
        "`thru gate run` launches what is missing"
    } else if any(NextLaunchStep::GiveUp) {
        "`thru gate run --again` launches them again"
    } else {
        "`thru gate prompt FILE` prints the instruction for the author of an output, and `thru gate seal FILE` adds the last line to an output that lacks only this line"
    }
}

/// The stage and the file to pass to the commands that repair an output. The commands must work no matter which
/// run is live.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemedyCommands {
    /// The stage, or `None` if `thru gate run` chooses this run even when `--stage` is not given.
    pub stage: Option<String>,
    /// The output's name or, if its run is not live, its path.
    pub file: String,
}

impl RemedyCommands {
    /// Returns the command that launches the commands of the run, in backticks.
    pub fn run(&self, options: &[&str]) -> String {
        let stage = self.stage.iter().flat_map(|stage| ["--stage", stage]);
        in_command_marks(["thru", "gate", "run"].into_iter().chain(stage).chain(options.iter().copied()))
    }

    fn on_file(&self, subcommand: &str) -> String {
        in_command_marks(["thru", "gate", subcommand, &self.file].into_iter())
    }
}

fn in_command_marks<'w>(words: impl Iterator<Item = &'w str>) -> String {
    format!("`{}`", quote_command(&words.map(str::to_owned).collect::<Vec<_>>()))
}

/// Returns what a person can do about an output that is not valid.
pub fn remedy_for_output(
    output: &ExpectedOutput,
    judged: &JudgedOutput,
    log: Option<&str>,
    commands: &RemedyCommands,
) -> String {
    let verdict = judged.verdict;
    let see = log.map_or(String::new(), |log| format!("see {log}; "));
    let again = if verdict == OutputVerdict::Stale { " again" } else { "" };
    match (next_launch_step(output, verdict), verdict) {
        (NextLaunchStep::Reuse, _) => String::new(),
        (NextLaunchStep::Launch, _) => format!("{} launches it{again}", commands.run(&[])),
        (_, OutputVerdict::Unsafe) => {
            "put a regular file of at most 5 MB there, under a name that is allowed".to_owned()
        }
        (NextLaunchStep::GiveUp, _) => format!(
            "{see}it was launched {} times; {} launches it again",
            output.attempts,
            commands.run(&["--again"])
        ),
        (_, OutputVerdict::Incomplete) => format!(
            "finish it; if nothing is missing from it, {} adds the last line",
            commands.on_file("seal")
        ),
        _ => format!("have it written{again}: {} prints the instruction", commands.on_file("prompt")),
    }
}

/// Says what happened to a stage that passed before its inputs changed. `passed_at` is the time as the reader sees it.
/// `inputs` is empty if it is unknown which of them changed.
pub fn describe_change_since_pass(passed_at: &str, inputs: &[String]) -> String {
    let named: Vec<String> =
        inputs.iter().take(MAX_OUTPUTS_NAMED).map(|input| shown_path(input, 128)).collect();
    let more = if inputs.len() > MAX_OUTPUTS_NAMED { ", …" } else { "" };
    let which = if named.is_empty() { String::new() } else { format!(": {}{more}", named.join(", ")) };
    format!("passed at {passed_at}; inputs changed since{which}; the outputs are stale")
}

/// An advisory output that is missing or not valid. The stage continues without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OmittedOutput {
    pub file: String,
    pub judged: JudgedOutput,
    /// The file with the sub-agent's last message, if there is one.
    pub message: Option<String>,
}

/// Returns the content of `omissions.md` for the agent that combines the results.
pub fn render_omissions(expected: &ExpectedOutputs, omitted: &[OmittedOutput]) -> String {
    let mut text = format!(
        "# Omissions\n\nStage {}, attempt {}. `thru gate run` rewrites this file each time.\n\n",
        in_backticks(&expected.stage, 128),
        expected.attempt
    );
    if omitted.is_empty() {
        text.push_str("Nothing is omitted: every advisory output exists.\n");
        return text;
    }
    text.push_str(
        "These advisory outputs are not part of the result. Say so where the result would have used them.\n\n",
    );
    for OmittedOutput { file, judged, message } in omitted {
        let message = message.as_deref().map_or(String::new(), |message| {
            format!(" Its last message, which is not a result, is in {}.", in_backticks(message, 300))
        });
        let (verdict, why) = (judged.verdict.name(), one_line(&judged.why, 300));
        text.push_str(&format!("- {}: {verdict}, {why}.{message}\n", in_backticks(file, 200)));
    }
    text
}

impl OmittedOutput {
    pub fn may_omit(tier: OutputTier, verdict: OutputVerdict) -> bool {
        tier == OutputTier::Advisory && verdict != OutputVerdict::Valid
    }
}
