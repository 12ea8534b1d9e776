//! Composes the first prompt for the next agent. It is short, because the packet's other sections accompany it.

use super::PacketFacts;
use crate::brief;
use crate::digest::{CallStep, Failure, FileUse, StepAction};
use crate::failure;
use crate::loops::promise;
use crate::packet::choose::{self, goal_text};
use crate::packet::words;
use crate::prompt::PromptKind;
use crate::render::{in_backticks, in_quotation_marks, inline_for_model};
use crate::run;
use crate::statement;

/// The maximum length of the goal in the prompt, in characters.
const MAX_GOAL_CHARS: usize = 320;

const MAX_FIRST_FILES: usize = 4;

/// The maximum number of listed files that a failure names but that the session has not used.
const MAX_UNOPENED_FILES: usize = 2;

/// The maximum number of recent calls listed to show where to continue.
const MAX_LAST_STEPS: usize = 3;

impl PacketFacts<'_> {
    /// Composes the prompt from the goal, the first step, the files to open and the exit criteria.
    pub(super) fn next_prompt(&self) -> String {
        let mut parts = vec![format!("Goal: {}", self.goal_line())];
        let step = self.first_step();
        let files = self.first_files(step.as_deref().unwrap_or_default());
        parts.extend(step.map(|step| format!("Begin with: {step}.")));
        if !files.is_empty() {
            parts.push(format!("Open first: {}.", files.join(", ")));
        }
        parts.extend(self.exit_criteria());
        parts.join("\n\n")
    }

    fn goal_line(&self) -> String {
        let (purpose, loop_prompt) = (self.material.purpose, self.material.loop_prompt);
        if !loop_prompt.is_empty() && !words::says_what_to_do(purpose) {
            return in_quotation_marks(loop_prompt, MAX_GOAL_CHARS);
        }
        // The purpose of a swept session only repeats the beginning of the request.
        let repeats_request = purpose.starts_with("go on: ") && self.is_in_goal(purpose);
        match goal_text(&self.goal) {
            Some(goal) if repeats_request || !words::says_what_to_do(purpose) => match self.goal.accepted {
                // An answer is clear only together with its question.
                Some(accepted) if !accepted.asks.is_empty() && goal.len() < MAX_GOAL_CHARS => {
                    format!(
                        "{}, in answer to {}",
                        in_quotation_marks(goal, MAX_GOAL_CHARS),
                        in_quotation_marks(&accepted.asks, MAX_GOAL_CHARS)
                    )
                }
                _ => in_quotation_marks(goal, MAX_GOAL_CHARS),
            },
            _ => inline_for_model(purpose, 400),
        }
    }

    /// Returns the first step: an unfinished call, an open failure, the work in progress, or a question for the user.
    fn first_step(&self) -> Option<String> {
        let digest = self.material.digest;
        if digest.records == 0 {
            return None;
        }
        let broken_off = digest
            .unfinished_calls()
            .next()
            .map(|call| format!("{}, which was started and did not finish", in_backticks(call, 200)));
        let failing = self.failing.first().map(|failure| describe_failure(failure));
        if digest.has_finished() && broken_off.is_none() && failing.is_none() {
            if self.is_new_work() {
                return None;
            }
            return Some(match self.open_questions().is_empty() {
                false => "the user's answers to the Open Questions".to_owned(),
                true => "the user's next request, which the agent was waiting for".to_owned(),
            });
        }
        // If a call began directly after the announcement, the call is the announced step.
        let is_announced = broken_off.is_some() && digest.steps_since_last_message().is_empty();
        let under_way = match digest.has_finished() || is_announced {
            true => None,
            false => self.work_under_way(),
        };
        // A failure after which nothing was edited is the next thing to examine.
        let is_newest =
            self.failing.first().is_some_and(|failure| digest.file_edited_after(failure.record).is_none());
        let steps = match is_newest {
            true => [broken_off, failing, under_way.filter(|_| self.announced_work().is_some())],
            false => [broken_off, under_way, failing],
        };
        let steps: Vec<String> = steps.into_iter().flatten().collect();
        if steps.is_empty() && !digest.has_finished() && digest.has_work_since_newest_prompt() {
            return Some("the user's newest message, which the agent was working on".to_owned());
        }
        (!steps.is_empty()).then(|| steps.join("; then "))
    }

    /// Whether the purpose names work that was not requested in this session. If so, the session's activity is
    /// irrelevant.
    fn is_new_work(&self) -> bool {
        let purpose = self.material.purpose;
        let asked = [self.goal.newest, self.goal.task];
        words::says_what_to_do(purpose)
            && !asked.into_iter().flatten().any(|prompt| words::is_about(purpose, &prompt.text))
    }

    /// Describes the work in progress: the announced step and its progress, or an edit that has not been checked yet.
    fn work_under_way(&self) -> Option<String> {
        let digest = self.material.digest;
        let asked = self.goal.newest.map_or(0, |newest| newest.record);
        let since = brief::describe_last_steps(digest, MAX_LAST_STEPS);
        if self.is_work_checked() {
            let commands = self.validator_commands();
            let step = match commands.iter().find(|command| self.last_run_of(command).is_none()) {
                Some(command) => {
                    let command = in_backticks(command, 120);
                    format!("{command}, which has not been run; the other checks passed after the last edit")
                }
                None => {
                    "comparing the result with the goal: the checks passed after the last edit".to_owned()
                }
            };
            return (!self.is_new_work()).then_some(step);
        }
        let since_then = match since.is_empty() {
            true => String::new(),
            false => format!(" (since then {})", since.join(", ")),
        };
        let check = self.runs.iter().find(|run| run.is_before_last_edit() && self.failing.is_empty());
        if let Some(words) = self.announced_work() {
            let then = check.map(|run| format!("; then {}", in_backticks(&run.command, 120)));
            let then = format!("{}{}", self.next_todo().unwrap_or_default(), then.unwrap_or_default());
            return Some(match self.progress_of_announcement() {
                AnnouncementProgress::Open => format!("what the agent said it would do: {words}{since_then}"),
                AnnouncementProgress::Begun => {
                    format!("the rest of what the agent said it would do: {words}{since_then}{then}")
                }
                AnnouncementProgress::Looked => {
                    let todo = self.next_todo().unwrap_or_default();
                    format!("what follows from {words}{since_then}{todo}")
                }
                AnnouncementProgress::Done => {
                    format!("what comes after {words}, which is done{since_then}{then}")
                }
            });
        }
        match self.goal.newest {
            Some(_) if !digest.has_work_since_newest_prompt() && digest.said_last < asked => {
                return Some("the user's newest message, which has not been acted on yet".to_owned());
            }
            // The newest prompt is only a remark, so the goal is the task to which it belongs.
            Some(newest) if goal_text(&self.goal) != Some(newest.text.as_str()) => {
                return Some(format!(
                    "what was under way: {}{since_then}",
                    in_quotation_marks(&newest.text, 160)
                ));
            }
            _ => {}
        }
        let edited = digest.file_edited_after(asked.max(digest.said_last));
        match (edited, check) {
            (Some(edited), Some(check)) => {
                let check = in_backticks(&check.command, 120);
                Some(format!("{check}: {} was edited after its last run", in_backticks(edited, 120)))
            }
            // An open failure would be more informative.
            _ if self.failing.is_empty() && digest.steps_since_last_message().iter().any(is_work_step) => {
                Some(format!("where the agent left off: {}", since.join(", ")))
            }
            _ => None,
        }
    }

    /// Returns the entry of the agent's todo list that is in progress, or else the next open one.
    fn next_todo(&self) -> Option<String> {
        let digest = self.material.digest;
        let mut open = digest.open_todos().filter(|todo| !digest.has_run_since_todos(&todo.text));
        let first = open.next().filter(|_| digest.are_todos_current())?;
        Some(format!("; next on its todo list: {}", in_quotation_marks(&first.text, 120)))
    }

    /// Returns how much of the announced work is done, judging by the files and commands that the announcement names.
    fn progress_of_announcement(&self) -> AnnouncementProgress {
        let digest = self.material.digest;
        let since = digest.steps_since_last_message();
        let has = |did: StepAction| since.iter().any(|step| step.did == did && !step.failed);
        let words = statement::announcing_sentence(&digest.said, 200);
        let edits = digest.edits_of_named_files(&words, digest.said_last);
        let named = |step: &CallStep| {
            let name = step.what.rsplit('/').next().unwrap_or(&step.what);
            words.contains(name)
                || step.did == StepAction::Ran
                    && words.split('`').skip(1).step_by(2).any(|name| step.what.contains(name))
        };
        let worked = |step: &&CallStep| is_work_step(step) && !step.failed;
        if statement::announces_look(&digest.said) && (has(StepAction::Read) || has(StepAction::Ran)) {
            return AnnouncementProgress::Looked;
        }
        match (edits, since.iter().filter(worked).any(named)) {
            (Some(edits), _) if !edits.left.is_empty() => AnnouncementProgress::Begun,
            (Some(_), _) | (None, true) => AnnouncementProgress::Done,
            // An announcement of several changes, or of a step that is still on the list, is not done after one edit.
            (None, false)
                if has(StepAction::Edited) && !announces_several(&words) && self.next_todo().is_none() =>
            {
                AnnouncementProgress::Done
            }
            (None, false) if has(StepAction::Edited) => AnnouncementProgress::Begun,
            (None, false) => AnnouncementProgress::Open,
        }
    }

    /// Returns the work that the agent announced last, unless it has been checked since. An announced look at
    /// something no longer counts once a file was edited or a call has passed or failed.
    fn announced_work(&self) -> Option<String> {
        let digest = self.material.digest;
        let asked = self.goal.newest.map_or(0, |newest| newest.record);
        let is_look = statement::announces_look(&digest.said);
        let since = digest.steps_since_last_message();
        let edited = since.iter().position(|step| step.did == StepAction::Edited);
        // A change counts as finished once it has been checked.
        let is_checked = edited.is_some_and(|at| {
            since[at..].iter().any(|step| step.passed || step.failed && step.did == StepAction::Ran)
        });
        let is_over = is_checked
            || is_look && (edited.is_some() || since.iter().any(|step| step.passed || step.failed));
        let announces = digest.said_last > asked && statement::announces_next_step(&digest.said) && !is_over;
        announces.then(|| in_quotation_marks(&statement::announcing_sentence(&digest.said, 200), 204))
    }

    /// Returns whether files were edited for the current request, tests passed after the last edit, and no failure is
    /// open.
    fn is_work_checked(&self) -> bool {
        let asked = self.goal.newest.map_or(0, |newest| newest.record);
        let is_edited = self.material.digest.file_edited_after(asked).is_some();
        let commands = self.validator_commands();
        let mut runs = commands.iter().filter_map(|command| self.last_run_of(command));
        let are_fresh = runs.all(|run| !run.is_before_last_edit());
        is_edited && are_fresh && self.failing.is_empty() && choose::has_passed_since_edits(&self.runs)
    }

    /// Returns the files to open first: those that the user chose, those of the step to begin with, those that a
    /// failure names, those used for the newest prompt, or else those with uncommitted edits. Other files are listed
    /// elsewhere in the packet.
    fn first_files(&self, step: &str) -> Vec<String> {
        let digest = self.material.digest;
        let base = |path: &'_ str| path.rsplit('/').next().unwrap_or(path).to_owned();
        let is_only = |name: &str| digest.files.iter().filter(|file| base(&file.path) == name).count() == 1;
        // The part in parentheses lists what was done since the announcement.
        let planned = step.split(" (since then ").next().unwrap_or(step);
        let in_step = |file: &FileUse| {
            let name = base(&file.path);
            planned.contains(&file.path) || is_only(&name) && planned.contains(&name)
        };
        let named =
            |file: &FileUse| self.failing.iter().any(|failure| failure.error.contains(&base(&file.path)));
        let asked = self.goal.newest.map_or(0, |newest| newest.record);
        let git = digest.git_state();
        // A file that a later commit left out is not part of the work.
        let committed = git.commit.map_or(0, |used| used.record);
        let is_uncommitted = |file: &FileUse| {
            file.edited_at > committed && git.uncommitted.iter().any(|other| other.path == file.path)
        };
        let all = self.suggested.iter().copied().filter(|file| !file.outside && !self.is_file_gone(file));
        let all: Vec<&FileUse> =
            all.filter(|file| digest.records > 0 && file.edits + file.reads > 0).collect();
        let is_first = |file: &&FileUse| in_step(file) || named(file) || file.last > asked;
        let mut first: Vec<&FileUse> = all.iter().copied().filter(is_first).collect();
        if first.is_empty() {
            first.extend(all.iter().copied().filter(|file| is_uncommitted(file)));
        }
        first.sort_by_key(|file| {
            std::cmp::Reverse((
                in_step(file),
                named(file),
                file.edited_at > asked,
                is_uncommitted(file),
                file.last,
            ))
        });
        let mut paths: Vec<&str> = self.material.confirmed.iter().map(String::as_str).collect();
        // A compiler error may name files that the session has not opened.
        let is_used = |path: &str| digest.files.iter().any(|file| file.path == path);
        let unopened = self.failing.iter().flat_map(|failure| failure::paths_in_error(&failure.error));
        let unopened = unopened.filter(|path| !is_used(path)).take(MAX_UNOPENED_FILES);
        for path in unopened.chain(first.iter().map(|file| file.path.as_str())) {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        let most = MAX_FIRST_FILES.max(self.material.confirmed.len());
        paths.into_iter().take(most).map(|path| in_backticks(path, 120)).collect()
    }

    /// Returns the exit criteria: the checks that the user demands, the observed checks if files were edited for the
    /// current request, and the promise.
    fn exit_criteria(&self) -> Option<String> {
        let digest = self.material.digest;
        let task = self.goal.task.filter(|_| !self.goal.is_answered);
        let asked = task.or(self.goal.newest).map_or(0, |prompt| prompt.record);
        // A question for which the agent edited files counts as a request.
        let is_question = self.goal.newest.is_some_and(|newest| {
            newest.prompt_kind() == PromptKind::Question && digest.file_edited_after(newest.record).is_none()
        }) && !words::says_what_to_do(self.material.purpose);
        let demanded = choose::checks_demanded_by_user(&self.goal);
        let is_demanded = |command: &String| {
            self.material.validators.contains(command)
                || demanded.iter().any(|known| choose::is_same_command(known, command))
        };
        let fits = !is_question && digest.file_edited_after(asked).is_some();
        let commands = self.validator_commands();
        // A call of a script file usually prepares something. Tests and linters are called by the name of their tool.
        let is_check = |command: &&String| is_demanded(command) || !run::is_script_call(command);
        let commands = commands.iter().filter(|command| fits || is_demanded(command)).filter(is_check);
        let commands: Vec<String> = commands.take(3).map(|command| in_backticks(command, 120)).collect();
        let promise = self
            .material
            .promise
            .map(|promise| format!("the last message contains {}", promise::with_promise_tags(promise)));
        let all: Vec<String> = (!commands.is_empty())
            .then(|| {
                format!("{} {}", commands.join(", "), if commands.len() == 1 { "passes" } else { "pass" })
            })
            .into_iter()
            .chain(promise)
            .collect();
        // A passing question does not replace the task during which it was asked.
        let is_whole_goal = self.goal.task.is_none() && !words::is_given(self.material.purpose);
        match (all.is_empty(), is_question && is_whole_goal) {
            (false, _) => Some(format!("Done when: the goal is met, and {}.", all.join(", and "))),
            (true, true) => Some("Done when: the question is answered.".to_owned()),
            (true, false) => None,
        }
    }
}

/// How much of the announced work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnnouncementProgress {
    Open,
    Begun,
    /// The announced step was to look at something, and the agent has done so.
    Looked,
    Done,
}

/// Whether an announcement is about more than one change.
fn announces_several(words: &str) -> bool {
    const SEVERAL_WORDS: [&str; 12] = [
        "all",
        "both",
        "each",
        "every",
        "remaining",
        "rest",
        "other",
        "others",
        "these",
        "those",
        "two",
        "three",
    ];
    let small = words.to_lowercase();
    small.split(|c: char| !c.is_alphanumeric()).any(|word| SEVERAL_WORDS.contains(&word))
}

fn is_work_step(step: &CallStep) -> bool {
    matches!(step.did, StepAction::Edited | StepAction::Ran)
}

/// Names the failing command. The context section contains its error.
fn describe_failure(failure: &Failure) -> String {
    format!("the failing command {} (see Failing)", in_backticks(&failure.command_as_typed(), 120))
}
