//! Texts about outputs: for sub-agents, for the agent after a compaction, for people.

use super::{Expected, Judged, MOST_ATTEMPTS, Output, SENTINEL, Step, Tier, Verdict, step};
use crate::render::{code, one_line, path as shown_path};

/// Returns what a sub-agent's prompt must say: where the result goes, and how it is marked as complete.
pub fn instruction(path: &str) -> String {
    format!(
        "Write your complete result to this file: {path}\n\
         Only the file is read; what you say in your last message is not.\n\
         When everything is written, make this the last line of the file, alone on its line and outside any code block:\n{SENTINEL}\n\
         A file that does not end with that line counts as unfinished, and the work is given to somebody else.\n"
    )
}

/// Returns what a launched command gets on stdin.
pub fn prompt(output: &Output, path: &str) -> String {
    match output.prompt.trim() {
        "" => instruction(path),
        prompt => format!("{prompt}\n\n{}", instruction(path)),
    }
}

/// Returns a sub-agent's last message if it should be saved, because the sub-agent left no file or an empty one.
pub fn message_to_keep(verdict: Verdict, message: Option<&str>) -> Option<String> {
    let left_nothing = matches!(verdict, Verdict::Missing | Verdict::Empty);
    let text = message?.trim();
    (left_nothing && !text.is_empty()).then(|| format!("{text}\n"))
}

/// Returns what a sub-agent is told when it starts.
pub fn awaited(stage: &str, path: &str) -> String {
    let stage = if stage.is_empty() { String::new() } else { format!(" of stage {}", code(stage, 128)) };
    format!(
        "Throughline: the run{stage} expects one output from this sub-agent, as a file:\n{}\n\
         The orchestrator reads that file and not the last message. It counts as complete when its last line is \
         exactly `{SENTINEL}`, alone on the line and outside any code block.\n",
        shown_path(path, 4096)
    )
}

/// Returns what a sub-agent is told if its output is valid before it begins.
pub fn there(stage: &str, path: &str) -> String {
    let stage = if stage.is_empty() { String::new() } else { format!(" of stage {}", code(stage, 128)) };
    format!(
        "Throughline: the output that the run{stage} expects from this sub-agent is there already, complete:\n{}\n\
         It need not be written again. If it is changed, its last line has to stay exactly `{SENTINEL}`.\n",
        shown_path(path, 4096)
    )
}

/// Describes an open output for a brief. `path` is how the agent can reach it.
pub fn open_line(output: &Output, judged: &Judged, path: &str, message: Option<&str>) -> String {
    let Judged { verdict, why } = judged;
    // These words of ours stay unescaped, because an agent would copy an escaped sentinel with its backslash.
    let why = if *verdict == Verdict::Missing { String::new() } else { format!(" ({})", one_line(why, 160)) };
    let launched = match output.attempts {
        0 => String::new(),
        n => format!(", launched {n} of {MOST_ATTEMPTS} times"),
    };
    let message = message.map_or(String::new(), |message| {
        format!("; its last message is kept in {}", shown_path(message, 400))
    });
    format!("{}, {}: {}{why}{launched}{message}", shown_path(path, 400), output.tier.name(), verdict.name())
}

/// Says what an agent can do about the open outputs.
pub fn advice(open: &[Step]) -> &'static str {
    let any = |step| open.contains(&step);
    if any(Step::Launch) {
        "`thru gate run` launches what is missing"
    } else if any(Step::GiveUp) {
        "`thru gate run --again` launches them again"
    } else {
        "have each written (`thru gate prompt FILE` prints the instruction for its author); `thru gate seal FILE` adds the last line to one that is complete"
    }
}

/// Says what to do about an output that is not valid.
pub fn remedy(output: &Output, verdict: Verdict, log: Option<&str>) -> String {
    let file = &output.file;
    let see = log.map_or(String::new(), |log| format!("see {log}; "));
    match (step(output, verdict), verdict) {
        (Step::Reuse, _) => String::new(),
        (Step::Launch, _) => "`thru gate run` launches it".to_owned(),
        (_, Verdict::Unsafe) => {
            "put a regular file of at most 5 MB there, under a name of this run".to_owned()
        }
        (Step::GiveUp, _) => {
            format!(
                "{see}it was launched {} times; `thru gate run --again` launches it again",
                output.attempts
            )
        }
        (_, Verdict::Incomplete) => {
            format!("finish it; if nothing is missing from it, `thru gate seal {file}` adds the last line")
        }
        _ => format!("have it written (`thru gate prompt {file}`), or give it a \"launch\" in expected.json"),
    }
}

/// An advisory output that is missing from a stage that continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Omission {
    pub file: String,
    pub judged: Judged,
    /// The file with the sub-agent's last message, if there is one.
    pub message: Option<String>,
}

/// Returns `omissions.md`, for the agent that combines the results.
pub fn omissions(expected: &Expected, omitted: &[Omission]) -> String {
    let mut text = format!(
        "# Omissions\n\nStage {}, attempt {}. `thru gate run` rewrites this file each time.\n\n",
        code(&expected.stage, 128),
        expected.attempt
    );
    if omitted.is_empty() {
        text.push_str("Nothing is omitted: every advisory output is there.\n");
        return text;
    }
    text.push_str(
        "These advisory outputs are not part of the result. Say so where it would have used them.\n\n",
    );
    for Omission { file, judged, message } in omitted {
        let message = message.as_deref().map_or(String::new(), |message| {
            format!(" Its last message, which is not a result, is in {}.", code(message, 300))
        });
        let (verdict, why) = (judged.verdict.name(), one_line(&judged.why, 300));
        text.push_str(&format!("- {}: {verdict}, {why}.{message}\n", code(file, 200)));
    }
    text
}

impl Omission {
    pub fn is_omitted(tier: Tier, verdict: Verdict) -> bool {
        tier == Tier::Advisory && verdict != Verdict::Valid
    }
}
