//! Decides what a loop does when the agent is about to stop: collects the facts that the engine needs, and carries
//! out the engine's verdict. After any error, the agent may stop.

use model::digest::{ChangedFiles, Digest};
use model::event;
use model::id::Id;
use model::journal::JournalRecord;
use model::loops::engine::{
    self, AgentMessage, ForegroundLoop, LoopRules, LoopStop, StopAllowedReason, StopVerdict, StoppedAgent,
    ValidatorResult, digest_of_agent_message, was_continuation_overridden,
};
use model::loops::last_turn::LastAgentMessage;
use model::loops::log::{LoopEvent, LoopLogEntry, TurnTokens};
use model::loops::pointer::ForegroundPointer;
use model::loops::{EndReason, Loop, LoopRecord, LoopStatus, SessionPosition};
use model::reply::{Reply, ReplyPart};
use model::time;
use store::{Lock, Store, layout};

use super::foreground_pointer;
use super::stop_facts::StopFacts;
use super::validators::run_until_first_failure;
use crate::features::{FeatureAnswer, ProjectContext, crashed, packets};
use crate::hook::context::HookContext;
use crate::hook::deadline::Deadline;
use crate::project::consent::is_started_here;
use crate::{Error, Result, WriteMode};

/// How many changed files the log lists.
const MAX_FILES_LOGGED: usize = 20;

/// How many bytes at the end of the journal are searched for the start of a loop.
const LOOP_START_TAIL_BYTES: u64 = 512 * 1024;

/// Decides whether the session may stop or must continue its loop. If no loop is in the foreground, this opens only one
/// file.
pub fn decide_at_stop<'c>(
    context: &'c HookContext<'_>,
    stop: &'c event::StopEvent<'c>,
) -> Result<FeatureAnswer<'c>> {
    let pointer = read_foreground_pointer(context)?.unwrap_or_default();
    let Some(Ok(id)) = pointer.loop_of_session(context.session.as_str()).map(Id::new) else {
        return Ok(FeatureAnswer::no_action("no loop is in the foreground of this session"));
    };
    LoopSessionStop { context, stop, id, facts: StopFacts::read_from_stop(context, stop) }.decide()
}

/// A stop in a session that has a loop.
struct LoopSessionStop<'c> {
    context: &'c HookContext<'c>,
    stop: &'c event::StopEvent<'c>,
    id: Id,
    facts: StopFacts,
}

/// The engine's verdict on a loop. The loop stays locked until the verdict has been carried out.
struct LockedVerdict {
    record: LoopRecord,
    verdict: StopVerdict,
    _lock: Lock,
}

impl<'c> LoopSessionStop<'c> {
    fn decide(self) -> Result<FeatureAnswer<'c>> {
        let Some(judged) = self.lock_and_judge_loop(ValidatorResult::NotRun, self.context.deadline)? else {
            return Ok(FeatureAnswer::no_action(format!(
                "loop {} no longer exists, or was not started here",
                self.id
            )));
        };
        let LockedVerdict { verdict, record, .. } = &judged;
        let (part, why, what) = match verdict {
            StopVerdict::AllowStop(allowed) => {
                (ReplyPart::silent(), format!("loop {} allows the stop: {allowed:?}", self.id), String::new())
            }
            StopVerdict::RunValidators => {
                let validators = record.loop_state.validators.clone();
                let why = format!("loop {}: the promise was given; its validators decide", self.id);
                if self.stop.cannot_wait {
                    return Ok(FeatureAnswer::answer(ReplyPart::from_reply(Reply::AskToCallAgain), why));
                }
                let what = format!("run {}", validators.join("; "));
                // Release the lock while the validators run. They may take minutes, and the user must be able to cancel
                // the loop in the meantime.
                drop(judged);
                return Ok(FeatureAnswer::with_change(ReplyPart::silent(), why, what, move || {
                    self.run_validators(&validators)
                }));
            }
            StopVerdict::RepeatLastReply { text } => (
                ReplyPart::from_reply(Reply::BlockStop(text.clone())),
                format!("loop {}: this stop was already reported", self.id),
                String::new(),
            ),
            StopVerdict::SendPrompt { next_state, text } => {
                let why = format!("loop {} goes on: iteration {}", self.id, next_state.iteration_progress());
                (
                    ReplyPart::from_reply(Reply::BlockStop(text.clone())),
                    why,
                    format!("count the iteration in loops/{}.md", self.id),
                )
            }
            StopVerdict::EndLoop { why, .. } => (
                ReplyPart::silent(),
                format!("loop {} ends: {why:?}", self.id),
                format!("end loops/{}.md", self.id),
            ),
        };
        Ok(FeatureAnswer::with_change(part, why, what, move || {
            self.apply_verdict(judged, ValidatorResult::NotRun)
        }))
    }

    fn run_validators(&self, validators: &[String]) -> Result<ReplyPart> {
        let _running = match self.context.project.store.lock_validators(&self.id) {
            Ok(running) => running,
            // The same stop was reported again while its validators were still running. The process that runs them will
            // answer.
            Err(store::Error::Busy { .. }) => return Ok(ReplyPart::silent()),
            Err(error) => return Err(self.error_that_lets_agent_stop(&error)),
        };
        let failure = run_until_first_failure(self.context, validators);
        let checked = || failure.as_ref().map_or(ValidatorResult::Passed, ValidatorResult::Failed);
        match self.lock_and_judge_loop(checked(), self.context.deadline.restarted())? {
            Some(judged) => self.apply_verdict(judged, checked()),
            None => Ok(ReplyPart::silent()),
        }
    }

    /// Locks the loop and gets the engine's verdict. Returns `None` if the loop was removed, or if the user did not
    /// allow its current form on this machine. Such a loop blocks no session, and none of its commands run.
    fn lock_and_judge_loop(
        &self,
        checked: ValidatorResult,
        deadline: Deadline,
    ) -> Result<Option<LockedVerdict>> {
        let ProjectContext { store, settings, .. } = self.context.project;
        let lock = store
            .lock_loops(deadline.lock_wait())
            .map_err(|error| self.error_that_lets_agent_stop(&error))?;
        let record = match store.read_loop(&self.id) {
            Err(store::Error::Absent { .. }) => {
                if self.context.mode == WriteMode::Write {
                    clear_foreground(store, &self.id)?;
                }
                return Ok(None);
            }
            record => record.map_err(|error| self.error_that_lets_agent_stop(&error))?,
        };
        if !is_started_here(store, &record.loop_state) {
            return Ok(None);
        }
        let stop = self.engine_input(&record.loop_state, checked);
        let rules = LoopRules {
            no_progress_turns: settings.no_progress_turns,
            redact_options: settings.redact_options(),
        };
        let verdict = engine::decide_stop(ForegroundLoop::Loop(&record.loop_state), &stop, &rules);
        Ok(Some(LockedVerdict { record, verdict, _lock: lock }))
    }

    /// Builds the error that the hook returns when it lets the agent stop. A loop whose iterations cannot be counted
    /// must not continue.
    fn error_that_lets_agent_stop(&self, why: &dyn std::fmt::Display) -> Error {
        Error::Failed { what: format!("loop {} lets the agent stop: {why}", self.id) }
    }

    fn apply_verdict(&self, judged: LockedVerdict, checked: ValidatorResult) -> Result<ReplyPart> {
        let LockedVerdict { record, verdict, _lock } = judged;
        self.write_verdict(verdict, &record, checked).map_err(|error| self.error_that_lets_agent_stop(&error))
    }

    fn write_verdict(
        &self,
        verdict: StopVerdict,
        record: &LoopRecord,
        checked: ValidatorResult,
    ) -> store::Result<ReplyPart> {
        let store = self.context.project.store;
        let state = &record.loop_state;
        let stop = self.engine_input(state, checked);
        // Pause the loop only if the verdict would continue it. If the agent has given its promise, the loop ends as
        // usual, even if the harness ended an earlier turn.
        let goes_on = matches!(verdict, StopVerdict::SendPrompt { .. } | StopVerdict::RepeatLastReply { .. });
        if goes_on && self.stop.is_first_since_prompt == Some(true) && is_loop_overridden(self.context, state)
        {
            return pause_at_continuation_limit(self.context, &self.id, record).map(|()| ReplyPart::silent());
        }
        Ok(match verdict {
            // The process that ended the loop was killed before it could clear the pointer, so clear it now.
            StopVerdict::AllowStop(StopAllowedReason::NotActive) => {
                clear_foreground(store, &self.id).map(|()| ReplyPart::silent())?
            }
            StopVerdict::AllowStop(_) | StopVerdict::RunValidators => ReplyPart::silent(),
            StopVerdict::RepeatLastReply { text } => ReplyPart::from_reply(Reply::BlockStop(text)),
            StopVerdict::SendPrompt { next_state, text } => {
                save_loop(store, &self.id, record, &next_state)?;
                let why =
                    next_state.last_stop.as_ref().map_or(String::new(), |last| last.continue_reason.clone());
                self.report_write_failure(self.append_to_log(LoopEvent::PromptSent, state, &stop, None, why));
                ReplyPart::from_reply(Reply::BlockStop(text))
            }
            StopVerdict::EndLoop { next_state, why } => {
                save_loop(store, &self.id, record, &next_state)?;
                self.report_write_failure(clear_foreground(store, &self.id));
                self.finish_packets(&next_state);
                let detail = next_state.ended_detail.clone().unwrap_or_default();
                self.report_write_failure(self.append_to_log(
                    LoopEvent::Ended,
                    state,
                    &stop,
                    Some(why),
                    detail,
                ));
                ReplyPart::silent()
            }
        })
    }

    /// Marks the packets of a finished loop as done: the packet from which the loop was made, and those of crashed
    /// sessions in which the loop ran before.
    fn finish_packets(&self, ended: &Loop) {
        let ProjectContext { world, store, .. } = self.context.project;
        let wait = self.context.deadline.lock_wait();
        let source = ended.finished_packet().and_then(|packet| Id::new(packet).ok());
        let source = source
            .map(|packet| packets::finish_packet_of_loop(store, &packet, self.id.as_str(), world.now, wait));
        let of_crashed = (ended.status == LoopStatus::Done)
            .then(|| crashed::finish_packets_of_loop(world, store, ended, wait));
        for error in source.into_iter().chain(of_crashed).filter_map(Result::err) {
            self.context.add_warning(error.to_string());
        }
    }

    /// Adds a warning if the log or the pointer could not be written. The hook's answer stays the same, because the
    /// loop has been saved.
    fn report_write_failure(&self, result: store::Result<()>) {
        if let Err(error) = result {
            self.context.add_warning(error.to_string());
        }
    }

    fn engine_input<'s>(&'s self, state: &Loop, validator_result: ValidatorResult<'s>) -> LoopStop<'s> {
        let StopFacts { last_turn, message, compacting } = &self.facts;
        let message = match message {
            Ok(message) => Ok(message.as_ref().map(|LastAgentMessage { id, text, is_answered }| {
                AgentMessage { id: id.as_deref(), text, is_answered: *is_answered }
            })),
            Err(why) => Err(why.clone()),
        };
        LoopStop {
            session: self.context.session.as_str(),
            stopped_agent: if self.context.event.subagent.is_some() {
                StoppedAgent::SubAgent
            } else {
                StoppedAgent::Main
            },
            now: self.context.project.world.now,
            message,
            prompt: self.stop.prompt.as_deref(),
            feedback_time: last_turn.feedback_time.as_deref(),
            is_first_since_prompt: self.stop.is_first_since_prompt,
            is_compacting: *compacting,
            running_subagents: self.stop.running_subagents,
            session_position: self
                .context
                .session_digest()
                .map(|digest| SessionPosition { calls: digest.call_count, records: digest.record_count }),
            changed_files: self.files_changed_since_last_stop(state).map_or(0, |changed| changed.paths.len()),
            validator_result,
        }
    }

    /// Returns the files that changed since the last stop, or `None` if that is unknown.
    fn files_changed_since_last_stop(&self, state: &Loop) -> Option<ChangedFiles<'_>> {
        self.files_changed_since(state.last_stop.as_ref()?.session_position?)
    }

    fn files_changed_since(&self, since: SessionPosition) -> Option<ChangedFiles<'_>> {
        Some(self.context.session_digest()?.files_changed_since(since.records))
    }

    /// Returns the session's position when the loop was started, computed from the end of the journal. Returns `None`
    /// if the journal has grown too long since then. Only a loop's first stop needs this position.
    fn position_at_start(&self, state: &Loop) -> Option<SessionPosition> {
        let digest = self.context.session_digest()?;
        let journal = layout::journal_path(self.context.session);
        let dir = self.context.project.store.dir();
        let text = dir.read_recent_lines(&journal, LOOP_START_TAIL_BYTES).ok()?;
        let mut since = Digest::new(self.context.session.as_str());
        let is_whole = dir.file_info(&journal).ok()??.bytes <= LOOP_START_TAIL_BYTES;
        let mut reaches_back = is_whole && dir.rotated_parts(&journal).ok()?.is_empty();
        for record in text.split(|byte| *byte == b'\n').filter_map(JournalRecord::parse_line) {
            match *record.ts < *state.created_at {
                true => reaches_back = true,
                false => _ = since.fold_record(&record),
            }
        }
        reaches_back.then(|| SessionPosition {
            calls: digest.call_count.saturating_sub(since.call_count),
            records: digest.record_count.saturating_sub(since.record_count),
        })
    }

    fn append_to_log(
        &self,
        event: LoopEvent,
        state: &Loop,
        stop: &LoopStop,
        reason: Option<EndReason>,
        detail: String,
    ) -> store::Result<()> {
        let since = match &state.last_stop {
            Some(last) => last.session_position,
            None => self.position_at_start(state),
        };
        let changed = since.and_then(|since| self.files_changed_since(since));
        let entry = LoopLogEntry {
            session: Some(self.context.session.to_string()),
            reason,
            detail,
            message: stop
                .message
                .as_ref()
                .ok()
                .and_then(|m| m.as_ref())
                .map(|m| digest_of_agent_message(m.text)),
            calls: since.and_then(|since| stop.session_position?.calls.checked_sub(since.calls)),
            changed: changed.as_ref().map(|changed| changed.paths.len()),
            may_be_more: changed.as_ref().is_some_and(|changed| changed.may_be_more),
            files: changed
                .map(|changed| changed.paths)
                .unwrap_or_default()
                .into_iter()
                .take(MAX_FILES_LOGGED)
                .map(str::to_owned)
                .collect(),
            tokens: self
                .facts
                .last_turn
                .turn_tokens()
                .or_else(|| TurnTokens::from_usage(self.stop.turn_usage.as_ref()?)),
            ..LoopLogEntry::new(&time::to_rfc3339(self.context.project.world.now), event, state.iteration)
        };
        let ProjectContext { store, settings, .. } = self.context.project;
        store.append_loop_log(&self.id, &entry, settings.log_limit_bytes())
    }
}

/// Returns whether the harness ended a turn that the loop wanted to continue.
fn is_loop_overridden(context: &HookContext, state: &Loop) -> bool {
    continuation_limit(context).is_some_and(|cap| was_continuation_overridden(state, cap))
}

fn continuation_limit(context: &HookContext) -> Option<u64> {
    let cap = context.harness.stop_block_limit?;
    let set = (context.project.world.read_variable)(cap.variable)
        .and_then(|value| value.to_str()?.trim().parse().ok());
    Some(set.unwrap_or(cap.max_blocks))
}

/// Returns the pointer to the foreground loops, or `None` if there are no loops. The pointer is only an index, so it
/// is rebuilt from the loops if it is missing or damaged.
pub(super) fn read_foreground_pointer(context: &HookContext) -> store::Result<Option<ForegroundPointer>> {
    let store = context.project.store;
    match store.read_foreground() {
        Err(store::Error::Damaged { .. }) => {}
        Ok(None) if !store.loop_ids()?.is_empty() => {}
        known => return known,
    }
    let _lock = store.lock_loops(context.deadline.lock_wait())?;
    let pointer = foreground_pointer(store)?;
    if context.mode == WriteMode::Write {
        store.write_foreground_pointer(&pointer)?;
    }
    Ok(Some(pointer))
}

/// Detects, at an event other than a stop, that the harness ended a turn that a loop wanted to continue.
pub fn decide_after_overridden_stop<'c>(context: &'c HookContext<'_>) -> Result<FeatureAnswer<'c>> {
    match loop_overridden_by_harness(context)? {
        None => Ok(FeatureAnswer::no_action("no turn of a loop was ended by the harness")),
        Some(id) => {
            let why = format!("{} ended a turn that loop {id} had continued", context.harness.title);
            Ok(FeatureAnswer::with_change(
                ReplyPart::silent(),
                why,
                format!("end loops/{id}.md"),
                move || {
                    end_loop_if_overridden_by_harness(context, &id)?;
                    Ok(ReplyPart::silent())
                },
            ))
        }
    }
}

pub(super) fn loop_overridden_by_harness(context: &HookContext) -> store::Result<Option<Id>> {
    if context.harness.stop_block_limit.is_none() {
        return Ok(None);
    }
    let store = context.project.store;
    let Some(pointer) = store.read_foreground()? else { return Ok(None) };
    let Some(Ok(id)) = pointer.loop_of_session(context.session.as_str()).map(Id::new) else {
        return Ok(None);
    };
    match store.read_loop(&id) {
        Err(store::Error::Absent { .. }) => Ok(None),
        record => {
            let state = record?.loop_state;
            Ok((is_loop_overridden(context, &state) && is_started_here(store, &state)).then_some(id))
        }
    }
}

pub(super) fn end_loop_if_overridden_by_harness(context: &HookContext, id: &Id) -> store::Result<()> {
    let store = context.project.store;
    let _lock = store.lock_loops(context.deadline.lock_wait())?;
    let record = store.read_loop(id)?;
    if is_loop_overridden(context, &record.loop_state) && is_started_here(store, &record.loop_state) {
        pause_at_continuation_limit(context, id, &record)
    } else {
        Ok(())
    }
}

fn pause_at_continuation_limit(context: &HookContext, id: &Id, record: &LoopRecord) -> store::Result<()> {
    let ProjectContext { world, store, settings, .. } = context.project;
    let cap = continuation_limit(context).unwrap_or_default();
    let variable = context.harness.stop_block_limit.map_or("", |cap| cap.variable);
    let title = context.harness.title;
    let detail = format!(
        "{title} ended the turn: it continues at most {cap} times in a row without a tool call ({variable}=0 removes that limit)"
    );
    let mut next = record.loop_state.clone();
    next.end_with_reason(EndReason::HarnessLimit, Some(detail.clone()));
    next.set_updated_time(world.now);
    save_loop(store, id, record, &next)?;
    clear_foreground(store, id)?;
    let entry = LoopLogEntry {
        session: Some(context.session.to_string()),
        reason: Some(EndReason::HarnessLimit),
        detail,
        ..LoopLogEntry::new(&time::to_rfc3339(world.now), LoopEvent::Ended, next.iteration)
    };
    store.append_loop_log(id, &entry, settings.log_limit_bytes())
}

pub(super) fn save_loop(store: &Store, id: &Id, record: &LoopRecord, next: &Loop) -> store::Result<()> {
    let edited = record.with_state(next.clone()).map_err(|error| store::Error::Damaged {
        path: store.dir().path().join(format!("{}/{id}.md", layout::LOOPS_FOLDER)),
        line: None,
        why: error.to_string(),
    })?;
    store.write_loop(id, &edited)
}

fn clear_foreground(store: &Store, id: &Id) -> store::Result<()> {
    let mut pointer = foreground_pointer(store)?;
    pointer.remove_loop(id.as_str());
    store.write_foreground_pointer(&pointer)
}
