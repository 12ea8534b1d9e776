//! Composes the first prompt for the next agent. It is short, because the packet's other sections accompany it.

use super::PacketFacts;
use super::repeat::may_first_parts_have_taken_effect;

use crate::brief::{self, BriefFact};
use crate::digest::{CallStep, Digest, Failure, RecordedEffect, ToolCallAction};
use crate::effect::{DescriptionDetail, describe_effect};
use crate::event::TodoStatus;
use crate::loops::promise;
use crate::packet::choose::{self, CheckRunForPacket, goal_text};
use crate::packet::words;
use crate::prompt::PromptKind;
use crate::render::{in_backticks, in_quotation_marks, inline_for_model, quote_part};
use crate::run;
use crate::statement;
use crate::unfinished_call::UnfinishedCall;

/// The maximum length of the goal in the prompt, in characters.
const MAX_GOAL_CHARS: usize = 320;

/// The maximum length of a quote from the agent's last message.
pub(super) const MAX_AGENT_QUOTE_CHARS: usize = 240;

/// The maximum number of first steps that the prompt names.
const MAX_FIRST_STEPS_NAMED: usize = 2;

/// The beginning of the list of calls that followed an announcement.
pub(super) const CALLS_SINCE_ANNOUNCEMENT_INTRO: &str = " (since then ";

/// The first step if nothing has been said or done since the newest message.
pub(in crate::packet) const UNTOUCHED_MESSAGE_STEP: &str =
    "the user's newest message: it has not been acted on yet";

/// If no work is left, a sentence of the prompt begins with this text.
pub(in crate::packet) const NOTHING_OPEN_INTRO: &str = "Nothing is open: ";

/// The end of a step that consists of running a check again.
pub const REASON_TO_RUN_CHECK: &str = ", which last ran before that change";

/// The maximum number of recent calls listed to show where to continue.
const MAX_LAST_STEPS: usize = 3;

impl PacketFacts<'_> {
    /// Composes the prompt from the goal, the first step, the files to open and the exit criteria.
    pub(super) fn next_prompt(&self) -> String {
        let mut parts = vec![format!("Goal: {}", self.goal_line())];
        let step = self.first_step();
        let unknown_outcomes = self.calls_of_unknown_outcome();
        let files = match &step {
            // The files of finished work need not be opened.
            Some(FirstStep::NothingOpen(_)) => self.files_confirmed_by_user(),
            Some(FirstStep::Begin(step)) => self.first_files(step, false),
            Some(FirstStep::Check(step)) => self.first_files(step, true),
            None => self.first_files(&unknown_outcomes.join(" "), false),
        };
        parts.extend(unknown_outcomes);
        let is_over = matches!(step, Some(FirstStep::NothingOpen(_)));
        parts.extend(step.map(|step| match step {
            FirstStep::Begin(step) | FirstStep::Check(step) => {
                // A quotation that is a whole sentence already has its full stop.
                let is_sentence = [".”", "!”", "?”"].iter().any(|end| step.ends_with(end));
                let stop = if is_sentence { "" } else { "." };
                format!("Begin with: {step}{stop}")
            }
            FirstStep::NothingOpen(act) => format!("{NOTHING_OPEN_INTRO}{act}."),
        }));
        if !files.is_empty() {
            parts.push(format!("Open first: {}.", files.join(", ")));
        }
        // If nothing is open, only a loop's promise is left to fulfil.
        if !is_over || self.material.promise.is_some() {
            parts.extend(self.exit_criteria());
        }
        parts.join("\n\n")
    }

    fn goal_line(&self) -> String {
        let (purpose, loop_prompt) = (self.material.purpose, self.material.loop_prompt);
        if !loop_prompt.is_empty() && !words::says_what_to_do(purpose) {
            return in_quotation_marks(loop_prompt, MAX_GOAL_CHARS);
        }
        // If `thru sweep` wrote the packet, the purpose only repeats the beginning of the request.
        let repeats_request = self.material.is_purpose_from_session && self.is_in_goal(purpose);
        let goal = goal_text(&self.goal).map(words::without_pasted_output);
        match goal.as_deref() {
            Some(goal) if repeats_request || !words::says_what_to_do(purpose) => {
                match self.goal.accepted_proposal {
                    // An answer is clear only together with its question.
                    Some(accepted)
                        if !accepted.closing_question.is_empty()
                            && goal.len() < MAX_GOAL_CHARS
                            && self.goal.newest_prompt.is_some_and(|newest| newest.text.contains(goal)) =>
                    {
                        format!(
                            "{}, in answer to {}",
                            in_quotation_marks(goal, MAX_GOAL_CHARS),
                            in_quotation_marks(&accepted.closing_question, MAX_GOAL_CHARS)
                        )
                    }
                    _ => in_quotation_marks(goal, MAX_GOAL_CHARS),
                }
            }
            _ => inline_for_model(purpose, 400),
        }
    }

    /// Returns the first step. Returns `None` if the session does not show what to do first. If the user stated a
    /// purpose, that purpose is open work, regardless of what the session has finished.
    pub(super) fn first_step(&self) -> Option<FirstStep> {
        let is_purpose_open = self.is_purpose_given();
        self.first_step_of_session()
            .filter(|step| !is_purpose_open || !matches!(step, FirstStep::NothingOpen(_)))
    }

    /// Returns the first step that follows from the session. The result may be that nothing is left to do.
    fn first_step_of_session(&self) -> Option<FirstStep> {
        let digest = self.material.digest;
        if digest.record_count == 0 {
            return None;
        }
        let failing = self.failing.first().map(|failure| describe_failure(digest, failure));
        if self.calls_to_check().next().is_some() {
            // What the agent was going to do next depends on how these calls ended. One of these calls may even be that
            // next step. If a failed command was being run again, the failure is described with that call.
            let failing = failing.filter(|_| self.failing_command_run_again().is_none());
            return failing.map(FirstStep::Begin);
        }
        let call = digest.unfinished_calls().next();
        let unfinished = call.and_then(|call| match UnfinishedCall::parse(call) {
            UnfinishedCall::Look(what)
                if self.goal.newest_prompt.is_some() && self.effect_of_newest_message().is_none() =>
            {
                Some(format!("{}; it was {what}", self.message_being_worked_on("")))
            }
            _ => None,
        });
        if digest.has_finished() && unfinished.is_none() && failing.is_none() {
            return match (self.does_purpose_name_new_work(), self.open_questions().is_empty(), self.todo_step()) {
                (true, ..) => None,
                (_, false, _) => {
                    Some(FirstStep::Begin("the user's answer to what is under Open Questions".to_owned()))
                }
                (_, true, Some(todo)) => Some(FirstStep::Begin(todo)),
                // A person who states a purpose expects that something is left to do, so there is a first step.
                (_, true, None) if self.is_purpose_given() => Some(FirstStep::Begin(
                    "what the goal still requires; the agent's last message, under Context, says where the work stands"
                        .to_owned(),
                )),
                (_, true, None) => Some(FirstStep::NothingOpen("wait for the next request")),
            };
        }
        let task = self.goal.task_prompt.filter(|_| !self.goal.is_answered).or(self.goal.newest_prompt);
        let started = task.map_or(0, |prompt| prompt.record);
        let failed_at = self.failing.first().map_or(0, |failure| failure.record);
        let carried_out = self.effect_of_newest_message();
        // The announcement is not the next step if it was about the effect that followed it, or about the read-only
        // call that was running when the session ended.
        let is_announced = unfinished.is_some()
            || carried_out.is_some_and(|carried_out| carried_out.record > digest.last_message_record);
        let announced = match digest.has_finished() || is_announced {
            true => None,
            false => self.announced_step(),
        };
        // If the agent announced a change after the failure and files were changed, it was fixing the failure.
        let is_being_solved = !digest.is_check_current(failed_at)
            && digest.last_message_record > failed_at
            && !statement::ends_by_announcing_look(&digest.last_message);
        let (failing, old_failing) = if failed_at > started { (failing, None) } else { (None, failing) };
        let is_idle = digest.has_finished();
        let is_over = old_failing.is_none() && self.is_work_over();
        let at_work = match (is_idle, carried_out) {
            (true, _) => None,
            (false, Some(_)) => self.work_left_over(),
            (false, None) => self.work_under_way(),
        };
        let options = StepOptions {
            unfinished,
            untouched: self.untouched_message(),
            failing,
            announced,
            is_being_solved,
            todo: self.todo_step().or_else(|| self.rest_of_request()),
            check: self.check_to_run(),
            old_failing,
            is_over,
            at_work,
        };
        let Some(carried_out) = carried_out else { return options.choose() };
        let done = describe_effect(&carried_out.effect, DescriptionDetail::Short);
        let with_note =
            |step: String| format!("{step}; the user's newest message has been carried out ({done})");
        Some(match options.choose() {
            Some(FirstStep::Begin(step)) => FirstStep::Begin(with_note(step)),
            Some(FirstStep::Check(step)) => FirstStep::Check(with_note(step)),
            Some(FirstStep::NothingOpen(_)) | None => {
                FirstStep::NothingOpen("report that the newest message has been carried out")
            }
        })
    }

    /// Returns the last of the effects that the newest message asks for, if the message asks for nothing else and all
    /// of these effects occurred after it.
    fn effect_of_newest_message(&self) -> Option<&RecordedEffect> {
        self.material.digest.effect_of_newest_message()
    }

    /// Describes what is left to do after the request in the newest message has been carried out.
    fn work_left_over(&self) -> Option<String> {
        let is_open_task = self.goal.task_prompt.is_some() && !self.goal.is_answered;
        let is_at_risk = |fact: &BriefFact| fact.id == "risk:uncommitted" && !self.is_refuted_by_git(fact);
        match is_open_task {
            true => Some("the rest of the task".to_owned()),
            false => self
                .brief_facts
                .iter()
                .any(is_at_risk)
                .then(|| "the uncommitted work (see At risk)".to_owned()),
        }
    }

    fn is_purpose_given(&self) -> bool {
        let purpose = self.material.purpose;
        self.is_purpose_given_by_person(purpose) && words::says_what_to_do(purpose)
    }

    /// Returns whether the purpose names work that was not requested in this session. If so, the session's activity is
    /// irrelevant.
    fn does_purpose_name_new_work(&self) -> bool {
        let purpose = self.material.purpose;
        let asked = [self.goal.newest_prompt, self.goal.task_prompt];
        !self.material.is_purpose_from_session
            && words::says_what_to_do(purpose)
            && !asked
                .into_iter()
                .flatten()
                .any(|prompt| words::is_purpose_about_request(purpose, &prompt.text))
    }

    /// Returns the newest message if nothing has been said or done since.
    fn untouched_message(&self) -> Option<String> {
        let digest = self.material.digest;
        let asked = self.goal.newest_prompt?.record;
        (digest.is_newest_prompt_untouched() && digest.last_message_record < asked)
            .then(|| UNTOUCHED_MESSAGE_STEP.to_owned())
    }

    /// Returns the announced step unless it is done. If the step has begun, the check that follows it is included.
    fn announced_step(&self) -> Option<String> {
        let words = self.announced_work()?;
        let since_then = self.calls_since_last_message();
        match self.progress_of_announcement() {
            AnnouncementProgress::Open if self.material.digest.is_last_announced_change_unrecorded() => {
                // The call that followed the announcement may have been lost. The check is needed whether or not
                // that call was made.
                let check = self.stale_check().filter(|_| self.failing.is_empty());
                let check =
                    check.map_or(String::new(), |command| format!("; then {}", in_backticks(&command, 120)));
                Some(format!("what the agent said it would do, unless it is done: {words}{check}"))
            }
            AnnouncementProgress::Open => {
                Some(format!("what the agent said it would do: {words}{since_then}"))
            }
            AnnouncementProgress::Begun => {
                let todo = self.next_todo().unwrap_or_default();
                let check = self.stale_check().filter(|_| self.failing.is_empty());
                let check = check.map(|command| format!("; then {}", in_backticks(&command, 120)));
                let check = check.unwrap_or_default();
                Some(format!("the rest of what the agent said it would do: {words}{since_then}{todo}{check}"))
            }
            // So far, the agent has only looked at files. An earlier sentence may name the change it was preparing.
            AnnouncementProgress::Looked => {
                statement::change_announced_before_looking(&self.material.digest.last_message)
                    .map(|_| format!("what the agent said it would do: {words}{since_then}"))
            }
            AnnouncementProgress::Done => None,
        }
    }

    fn calls_since_last_message(&self) -> String {
        let since = brief::describe_last_steps(self.material.digest, MAX_LAST_STEPS);
        match since.is_empty() {
            true => String::new(),
            false => format!("{CALLS_SINCE_ANNOUNCEMENT_INTRO}{})", since.join(", ")),
        }
    }

    /// Returns the first validator whose last run was before the last edit of a file that is not documentation, unless a
    /// wider check has passed since.
    fn stale_check(&self) -> Option<String> {
        let is_fresh = |command: &str| {
            let wider = self.check_runs.iter().filter(|run| choose::covers_command(&run.command, command));
            wider.into_iter().any(|run| run.has_passed() && !run.is_before_last_code_edit())
        };
        let is_stale = |command: &String| {
            self.last_run_of(command).is_some_and(CheckRunForPacket::is_before_last_code_edit)
                && !is_fresh(command)
        };
        self.validator_commands().into_iter().find(is_stale)
    }

    /// Returns the check to run now: one that was not run at all although the others passed, or one whose last run
    /// was before an edit.
    fn check_to_run(&self) -> Option<String> {
        let digest = self.material.digest;
        if self.is_work_checked() {
            let commands = self.validator_commands();
            let not_run = commands.into_iter().find(|command| self.last_result_of(command).is_none());
            let mut earlier = digest.failures_of_earlier_sessions.iter();
            let (command, state) = match (not_run, earlier.find(|failure| failure.folder.is_empty())) {
                (Some(command), _) => (command, "which has not been run"),
                (None, Some(failure)) => (
                    failure.command_to_repeat(),
                    "which failed in an earlier session and has not been run since",
                ),
                (None, None) => return None,
            };
            let command = in_backticks(&command, 120);
            return (!self.does_purpose_name_new_work())
                .then(|| format!("{command}, {state}; the other checks passed after the last edit"));
        }
        let asked = self.goal.newest_prompt.map_or(0, |newest| newest.record);
        let edited = digest.last_code_file_edited_after(asked.max(digest.last_message_record))?;
        // The project's tests do not cover a shell script.
        if edited.ends_with(".sh") && self.failing.is_empty() && !self.has_run_since_edit(edited) {
            let script = in_backticks(edited, 120);
            return Some(format!("running {script}, which was edited and has not been run since"));
        }
        let check = self.stale_check().filter(|_| self.failing.is_empty())?;
        let check = in_backticks(&check, 120);
        let edited = in_backticks(edited, 120);
        // The agent may have been in the middle of a change, and a check would then come too early.
        Some(format!("the change in {edited}, which may not be complete; then {check}{REASON_TO_RUN_CHECK}"))
    }

    /// Returns whether a command has named a script since the script was last edited.
    fn has_run_since_edit(&self, script: &str) -> bool {
        let steps = self.material.digest.steps_since_last_message();
        let edited = steps
            .iter()
            .rposition(|step| step.action == ToolCallAction::Edited && step.path_or_command == script)
            .unwrap_or(0);
        let name = script.rsplit('/').next().unwrap_or(script);
        steps[edited..]
            .iter()
            .any(|step| step.action == ToolCallAction::Ran && step.path_or_command.contains(name))
    }

    /// Describes the work in progress if no step of it is known.
    fn work_under_way(&self) -> Option<String> {
        let digest = self.material.digest;
        if self.is_work_checked() {
            let step = "comparing the result with the goal: the checks passed after the last edit";
            return (!self.does_purpose_name_new_work()).then(|| step.to_owned());
        }
        let since_then = self.calls_since_last_message();
        // The newest prompt is only a remark, so the goal is the task to which it belongs.
        let remark =
            self.goal.newest_prompt.filter(|newest| goal_text(&self.goal) != Some(newest.text.as_str()));
        if let Some(remark) = remark {
            return Some(format!(
                "what was under way: {}{since_then}",
                in_quotation_marks(&remark.text, 160)
            ));
        }
        // If a failure is open, the last steps are not described, because the failure is more informative.
        let has_worked = digest.steps_since_last_message().iter().any(is_work_step);
        if self.announced_work().is_none() && self.failing.is_empty() && has_worked {
            let since = brief::describe_last_steps(digest, MAX_LAST_STEPS);
            return Some(format!("where the agent was: {}", since.join(", ")));
        }
        let words = match self.announced_work() {
            Some(words) => format!(": {words}{since_then}"),
            None => self.words_about_newest_message(),
        };
        digest.has_work_since_newest_prompt().then(|| self.message_being_worked_on(&words))
    }

    fn message_being_worked_on(&self, words: &str) -> String {
        format!("the user's newest message, which the agent was working on{words}")
    }

    /// Returns what the agent has said about the newest message, as the end of a sentence. Empty if it has said nothing.
    fn words_about_newest_message(&self) -> String {
        let digest = self.material.digest;
        let newest = self.goal.newest_prompt.filter(|newest| digest.last_message_record > newest.record);
        newest.map_or(String::new(), |newest| {
            let said = statement::sentences_about(&digest.last_message, MAX_AGENT_QUOTE_CHARS, &newest.text);
            format!("; it had said {}", quote_part(&said, &digest.last_message, MAX_AGENT_QUOTE_CHARS + 2))
        })
    }

    /// Returns whether the work for the current request seems to be done: the checks passed after the last edit, and
    /// every file that the request names was edited. For a long request, only the checks that it demands can show this.
    fn is_work_over(&self) -> bool {
        let digest = self.material.digest;
        let demanded = choose::checks_demanded_by_user(&self.goal);
        let has_passed = |command: &String| {
            self.last_run_of(command).is_some_and(|run| run.has_passed() && !run.is_before_last_edit())
        };
        let is_shown = match demanded.is_empty() {
            true => goal_text(&self.goal).is_some_and(|goal| goal.chars().count() <= MAX_GOAL_CHARS),
            false => demanded.iter().all(has_passed),
        };
        is_shown
            && self.is_work_checked()
            && digest.does_work_for_newest_prompt_look_complete()
            && self.files_not_yet_edited_for_request().is_empty()
    }

    /// Returns the names of the files that the current request mentions and that have not been edited for it yet.
    pub(super) fn files_not_yet_edited_for_request(&self) -> Vec<String> {
        let digest = self.material.digest;
        let task = self.goal.task_prompt.filter(|_| !self.goal.is_answered).or(self.goal.newest_prompt);
        let edits = task.and_then(|task| digest.edits_of_named_files(&task.text, task.record));
        let left = edits.map_or_else(Vec::new, |edits| edits.not_edited);
        left.into_iter().filter(|name| !digest.was_file_read_for_finished_prompt(name)).collect()
    }

    /// Returns the first open entry of the agent's todo list as a step.
    fn todo_step(&self) -> Option<String> {
        let todo = self.open_todo()?;
        let note = brief::note_on_old_todos(self.material.digest);
        Some(format!("the first open entry of the agent's list: {}{note}", in_quotation_marks(todo, 160)))
    }

    /// Returns a step that consists of editing the files that the request names and that have not been edited yet. This
    /// step comes before a check, because the work is half done.
    fn rest_of_request(&self) -> Option<String> {
        const MAX_FILES_LEFT: usize = 6;
        let left = self.files_not_yet_edited_for_request();
        let names: Vec<String> = left.iter().map(|name| in_backticks(name, 80)).collect();
        (1..=MAX_FILES_LEFT)
            .contains(&left.len())
            .then(|| format!("the rest of the request: {} not edited yet", names.join(", ")))
    }

    /// Returns the entry of the agent's todo list that is in progress, or else the next open one.
    fn open_todo(&self) -> Option<&str> {
        let digest = self.material.digest;
        let open = || digest.open_todos().filter(|todo| !digest.is_todo_done(todo));
        let first = open().find(|todo| todo.status == Some(TodoStatus::InProgress));
        let first = first.or_else(|| open().next()).filter(|_| digest.are_todos_current())?;
        Some(&first.text)
    }

    fn next_todo(&self) -> Option<String> {
        Some(format!("; on its list: {}", in_quotation_marks(self.open_todo()?, 120)))
    }

    /// Returns how much of the announced work is done, judging by the files and commands that the announcement names.
    fn progress_of_announcement(&self) -> AnnouncementProgress {
        let digest = self.material.digest;
        let since = digest.steps_since_last_message();
        let has = |did: ToolCallAction| since.iter().any(|step| step.action == did && !step.failed);
        let words = statement::sentence_announcing_next_step(&digest.last_message, 200);
        let edits = digest.edits_of_named_files(&words, digest.last_message_record);
        let named = |step: &CallStep| {
            let name = step.path_or_command.rsplit('/').next().unwrap_or(&step.path_or_command);
            words.contains(name)
                || step.action == ToolCallAction::Ran
                    && words.split('`').skip(1).step_by(2).any(|name| step.path_or_command.contains(name))
        };
        let worked = |step: &&CallStep| is_work_step(step) && !step.failed;
        // After "Now let me see whether all is well:", the check that passed was itself the announced step.
        if digest.ended_with_passed_check() {
            return AnnouncementProgress::Done;
        }
        if statement::ends_by_announcing_look(&digest.last_message)
            && (has(ToolCallAction::Read) || has(ToolCallAction::Ran))
        {
            return AnnouncementProgress::Looked;
        }
        match (edits, since.iter().filter(worked).any(named)) {
            (Some(edits), _) if !edits.not_edited.is_empty() => AnnouncementProgress::Begun,
            (Some(_), _) | (None, true) => AnnouncementProgress::Done,
            // One edit does not complete the announced work if several changes were announced or the todo list still
            // has an open entry.
            (None, false)
                if has(ToolCallAction::Edited)
                    && !announces_several(&words)
                    && self.next_todo().is_none() =>
            {
                AnnouncementProgress::Done
            }
            (None, false) if has(ToolCallAction::Edited) => AnnouncementProgress::Begun,
            (None, false) => AnnouncementProgress::Open,
        }
    }

    /// Returns the work that the agent announced last, unless it has been checked since. If the agent only announced
    /// that it would look at something, the announcement is over once a file has been edited or a check has passed or
    /// failed.
    fn announced_work(&self) -> Option<String> {
        let digest = self.material.digest;
        let asked = self.goal.newest_prompt.map_or(0, |newest| newest.record);
        let is_look = statement::ends_by_announcing_look(&digest.last_message);
        let since = digest.steps_since_last_message();
        let edited = since.iter().position(|step| step.action == ToolCallAction::Edited);
        // A change counts as finished once it has been checked.
        let is_checked = edited.is_some_and(|at| {
            since[at..].iter().any(|step| step.passed || step.failed && step.action == ToolCallAction::Ran)
        });
        let is_over = is_checked
            || is_look && (edited.is_some() || since.iter().any(|step| step.passed || step.failed));
        let announces = digest.last_message_record > asked
            && statement::announces_next_step(&digest.last_message)
            && !is_over;
        announces.then(|| {
            let step = statement::sentence_announcing_next_step(&digest.last_message, 200);
            quote_part(&step, &digest.last_message, 204)
        })
    }

    /// Returns whether files were edited for the current request, tests passed after the last edit, and no failure is
    /// open.
    fn is_work_checked(&self) -> bool {
        let asked = self.goal.newest_prompt.map_or(0, |newest| newest.record);
        let is_edited = self.material.digest.last_file_edited_after(asked).is_some();
        let commands = self.validator_commands();
        let mut runs = commands.iter().filter_map(|command| self.last_run_of(command));
        let are_fresh = runs.all(|run| !run.is_before_last_edit());
        is_edited
            && are_fresh
            && self.failing.is_empty()
            && choose::has_full_test_run_passed_since_edits(&self.check_runs)
    }

    /// Returns the exit criteria: the checks that the user demands, the observed checks if files were edited for the
    /// current request, and the promise.
    fn exit_criteria(&self) -> Option<String> {
        let digest = self.material.digest;
        let task = self.goal.task_prompt.filter(|_| !self.goal.is_answered);
        let asked = task.or(self.goal.newest_prompt).map_or(0, |prompt| prompt.record);
        // A question for which the agent edited files counts as a request.
        let is_question = self.goal.newest_prompt.is_some_and(|newest| {
            newest.prompt_kind() == PromptKind::Question
                && digest.last_file_edited_after(newest.record).is_none()
        }) && !words::says_what_to_do(self.material.purpose);
        let demanded = choose::checks_demanded_by_user(&self.goal);
        let is_demanded = |command: &String| {
            self.material.validators.contains(command)
                || demanded.iter().any(|known| choose::is_same_command(known, command))
        };
        let fits = !is_question && digest.last_file_edited_after(asked).is_some();
        let commands = self.validator_commands();
        // Script files are left out, because they usually prepare something, whereas tests and linters are called by
        // the name of their tool. Partial test runs are left out, because they do not show that the goal is met.
        let is_partial =
            |command: &str| self.last_run_of(command).is_some_and(CheckRunForPacket::is_partial_test_run);
        let is_check =
            |command: &&String| is_demanded(command) || !run::is_script_call(command) && !is_partial(command);
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
        // A question that the user asks during a task does not replace the task.
        let is_whole_goal =
            self.goal.task_prompt.is_none() && !self.is_purpose_given_by_person(self.material.purpose);
        match (all.is_empty(), is_question && is_whole_goal) {
            (false, _) => Some(format!("Done when: the goal is met, and {}.", all.join(", and "))),
            (true, true) => Some("Done when: the question is answered.".to_owned()),
            (true, false) => None,
        }
    }
}

/// What the next agent should do first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FirstStep {
    Begin(String),
    /// Run this check. No file needs to be opened for it.
    Check(String),
    /// No work is open. The text says what to do instead, such as `report to the user`.
    NothingOpen(&'static str),
}

/// The possible first steps, each described in words.
#[derive(Clone, Debug, Default)]
struct StepOptions {
    /// The message that the agent was working on, and the read-only call that was running when the session ended.
    /// `None` if no read-only call was running.
    unfinished: Option<String>,
    /// The newest message, if nothing has been said or done since.
    untouched: Option<String>,
    /// A failure that occurred after the current task began and has not been fixed.
    failing: Option<String>,
    /// The announced step, if it has not been done since.
    announced: Option<String>,
    /// Whether the announced step is a change that is meant to fix the failure.
    is_being_solved: bool,
    todo: Option<String>,
    check: Option<String>,
    /// An open failure from before the current task.
    old_failing: Option<String>,
    is_over: bool,
    /// The work in progress, if no step of it is known.
    at_work: Option<String>,
}

impl StepOptions {
    /// Chooses the first step. At most one other step follows it.
    fn choose(self) -> Option<FirstStep> {
        if self.unfinished.is_none() && self.untouched.is_some() {
            return self.untouched.map(FirstStep::Begin);
        }
        let solving = match self.is_being_solved {
            true => [self.announced, self.failing],
            false => [self.failing, self.announced],
        };
        let known: Vec<String> = self.unfinished.into_iter().chain(solving.into_iter().flatten()).collect();
        if !known.is_empty() {
            let most = known.len().min(MAX_FIRST_STEPS_NAMED);
            return Some(FirstStep::Begin(known[..most].join("; then ")));
        }
        let later = self.todo.map(FirstStep::Begin).or(self.check.map(FirstStep::Check));
        let later = later.or(self.old_failing.map(FirstStep::Begin));
        let over = self.is_over.then_some(FirstStep::NothingOpen("report to the user"));
        later.or(over).or(self.at_work.map(FirstStep::Begin))
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

/// Returns whether an announcement is about more than one change.
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
    matches!(step.action, ToolCallAction::Edited | ToolCallAction::Ran)
}

/// Describes a failure by its command. The context section contains the error.
fn describe_failure(digest: &Digest, failure: &Failure) -> String {
    if digest.unseen_run_after(failure).is_some_and(|run| run.is_after_changes) {
        let command = in_backticks(&failure.command_to_repeat(), 120);
        return format!("run {command}, whose last result was not visible (see Failing)");
    }
    let command = failure.command_as_typed();
    let caution = match may_first_parts_have_taken_effect(&command) {
        true => "; its first parts may have taken effect, so do not repeat it as a whole",
        false => "",
    };
    format!("the failing command {} (see Failing){caution}", in_backticks(&command, 120))
}

#[cfg(test)]
#[path = "next_tests.rs"]
mod tests;
