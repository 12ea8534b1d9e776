//! The engine that handles stops. It takes a loop, a stop and the rules, and returns the answer and the loop's new
//! state. It has no side effects.

use jiff::Timestamp;

use super::{
    EndReason, LastStop, Loop, LoopStatus, PromiseOutcome, SessionPosition, ValidatorFailure,
    continuation_text, how_to_end_loop, promise,
};
use crate::redact::{self, redact_text};
use crate::render::{in_backticks, inline_for_model};
use crate::text::fnv_fingerprint;
use crate::time;

/// The foreground loop of a session whose agent has just stopped.
#[derive(Clone, Copy, Debug)]
pub enum ForegroundLoop<'a> {
    NoLoop,
    Loop(&'a Loop),
    /// The loop exists but cannot be used because it is damaged, locked or unreadable.
    Unusable(&'a str),
}

/// What is known about an agent that has just stopped. The form is the same for all harnesses.
#[derive(Clone, Debug)]
pub struct LoopStop<'a> {
    pub session: &'a str,
    pub stopped_agent: StoppedAgent,
    pub now: Timestamp,
    /// The main agent's last message, `None` if there is none, or the reason why it is unknown.
    pub message: Result<Option<AgentMessage<'a>>, String>,
    pub prompt: Option<&'a str>,
    /// The time of the newest stop-hook message in the transcript.
    pub feedback_time: Option<&'a str>,
    /// Whether this is the first stop since the user's last prompt, if the harness reports it.
    pub is_first_since_prompt: Option<bool>,
    /// Whether a compaction is announced but has not happened yet.
    pub is_compacting: bool,
    /// The number of sub-agents that are still running in the background.
    pub running_subagents: usize,
    /// The current position in the session.
    pub session_position: Option<SessionPosition>,
    /// How many files have changed since the last stop.
    pub changed_files: usize,
    pub validator_result: ValidatorResult<'a>,
}

impl<'a> LoopStop<'a> {
    fn agent_message(&self) -> Option<AgentMessage<'a>> {
        self.message.as_ref().ok().copied().flatten()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoppedAgent {
    Main,
    SubAgent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentMessage<'a> {
    /// The harness's id for the message, if known.
    pub id: Option<&'a str>,
    pub text: &'a str,
    /// Whether a stop hook has already answered the message. This happens if the same stop is reported again or another
    /// hook was faster.
    pub is_answered: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValidatorResult<'a> {
    NotRun,
    Passed,
    Failed(&'a ValidatorFailure),
}

#[derive(Clone, Copy, Debug)]
pub struct LoopRules {
    /// The number of turns without progress after which a loop ends. 0 means that it never ends for this reason.
    pub no_progress_turns: u64,
    pub redact_options: redact::RedactOptions,
}

/// The answer to a stop.
#[derive(Clone, Debug, PartialEq)]
pub enum StopVerdict {
    /// Let the agent stop. The loop does not change.
    AllowStop(StopAllowedReason),
    /// The agent gave the promise. Run the validators and call the engine again with their result.
    RunValidators,
    /// Let the agent stop, because the loop has ended.
    EndLoop { next_state: Box<Loop>, why: EndReason },
    /// Do not let the agent stop, and send it this text.
    SendPrompt { next_state: Box<Loop>, text: String },
    /// The same stop is reported again. Give the same answer and count nothing.
    RepeatLastReply { text: String },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopAllowedReason {
    NoLoop,
    /// The loop is paused, done or cancelled.
    NotActive,
    AnotherSession,
    SubAgent,
    Compaction,
    AgentsAtWork,
    UnusableLoop,
}

/// Two stops at most this many milliseconds apart can be the same stop.
const MAX_SAME_STOP_MS: i64 = 250;

pub fn decide_stop(foreground: ForegroundLoop, stop: &LoopStop, rules: &LoopRules) -> StopVerdict {
    let state = match foreground {
        ForegroundLoop::NoLoop => return StopVerdict::AllowStop(StopAllowedReason::NoLoop),
        ForegroundLoop::Unusable(_) => return StopVerdict::AllowStop(StopAllowedReason::UnusableLoop),
        ForegroundLoop::Loop(state) => state,
    };
    if let Some(allowed) = reason_to_allow_stop(state, stop) {
        return StopVerdict::AllowStop(allowed);
    }
    let message = match &stop.message {
        Ok(message) => *message,
        Err(why) => return end_verdict(state, stop, EndReason::Error, Some(why.clone())),
    };
    let last = state.last_stop.as_ref();
    if let Some(last) = last.filter(|last| is_same_stop(last, state, stop, message)) {
        return StopVerdict::RepeatLastReply {
            text: continuation_text(state, &last.continue_reason, last.failure.as_ref()),
        };
    }
    // A compaction stops the agent without a message. If the announced compaction did not happen, the end of the turn
    // must still be handled.
    if stop.is_compacting && message.is_none_or(|message| message.id.is_none()) {
        return StopVerdict::AllowStop(StopAllowedReason::Compaction);
    }
    let text = message.map_or("", |message| message.text);
    let given = promise::last_promise_given(text, &[&state.prompt, &how_to_end_loop(state)]);
    let kept = given.as_deref().and_then(|given| {
        state.promises.iter().find(|promise| promise::collapse_white_space(&promise.text) == given)
    });
    let why = match (kept.map(|promise| promise.outcome), stop.validator_result) {
        (Some(PromiseOutcome::Blocked), _) => {
            return end_verdict(
                state,
                stop,
                EndReason::Blocked,
                given.map(|given| format!("the agent said “{}”", quote_message(&given, rules))),
            );
        }
        (Some(PromiseOutcome::Done), ValidatorResult::NotRun) if !state.validators.is_empty() => {
            return StopVerdict::RunValidators;
        }
        (
            Some(PromiseOutcome::Done),
            ValidatorResult::Failed(ValidatorFailure { command, failure_kind, .. }),
        ) => {
            format!("gave the promise, but {} did not pass ({failure_kind})", in_backticks(command, 200))
        }
        (Some(PromiseOutcome::Done), _) => return end_verdict(state, stop, EndReason::Promise, None),
        (None, _) => match given {
            Some(other) => format!("gave a different promise, “{}”", quote_message(&other, rules)),
            None => "ended without the promise".to_owned(),
        },
    };
    let turn = TurnProgress::since_last_stop(state, stop);
    if let Some((ended, detail)) = reached_loop_limit(state, stop, rules, &turn) {
        return end_verdict(state, stop, ended, Some(detail));
    }
    continue_verdict(state, stop, &turn, why)
}

fn reason_to_allow_stop(state: &Loop, stop: &LoopStop) -> Option<StopAllowedReason> {
    if stop.stopped_agent == StoppedAgent::SubAgent {
        Some(StopAllowedReason::SubAgent)
    } else if state.status != LoopStatus::Active {
        Some(StopAllowedReason::NotActive)
    } else if stop.session.is_empty() || state.session.as_deref() != Some(stop.session) {
        Some(StopAllowedReason::AnotherSession)
    } else if stop.running_subagents > 0 {
        Some(StopAllowedReason::AgentsAtWork)
    } else {
        None
    }
}

/// Returns whether the last stop is reported again. If both messages have an id, equal ids mean the same stop.
/// Otherwise the text of both messages must be equal. In addition, either the message was already answered, or the
/// prompt and the feedback are unchanged and the two stops are almost simultaneous.
fn is_same_stop(last: &LastStop, state: &Loop, stop: &LoopStop, message: Option<AgentMessage>) -> bool {
    match (last.message.as_deref(), message.and_then(|message| message.id)) {
        (Some(last), Some(now)) => last == now,
        _ if state.last_message_digest != digest_of_message(message) => false,
        _ if message.is_some_and(|message| message.is_answered) => true,
        _ => {
            let apart = time::parse_time(&last.at).map(|at| stop.now.as_millisecond() - at.as_millisecond());
            last.prompt.as_deref() == stop.prompt
                && last.feedback_time.as_deref() == stop.feedback_time
                && apart.is_some_and(|apart| apart.abs() <= MAX_SAME_STOP_MS)
        }
    }
}

/// Quotes a message from the agent for the record.
fn quote_message(text: &str, rules: &LoopRules) -> String {
    inline_for_model(&redact_text(text, rules.redact_options), 100)
}

/// How much progress a turn made.
struct TurnProgress {
    idle_turns: u64,
    /// How many times in a row, before this turn, the agent was told to continue and made no tool call.
    continued_without_calls: u64,
}

impl TurnProgress {
    fn since_last_stop(state: &Loop, stop: &LoopStop) -> TurnProgress {
        let Some(last) = &state.last_stop else {
            return TurnProgress { idle_turns: 0, continued_without_calls: 0 };
        };
        let calls = calls_since_last_stop(last, stop);
        let repeated = state.last_message_digest.is_some()
            && state.last_message_digest == digest_of_message(stop.agent_message());
        let idle_turns = match calls {
            // If the number of tool calls is unknown, the turn does not count as a turn without progress.
            None => 0,
            Some(_) if stop.changed_files > 0 => 0,
            // The earlier turn that ended with the same message counts as a turn without progress too.
            Some(_) if repeated => last.idle_turns.max(1) + 1,
            Some(0) => last.idle_turns + 1,
            Some(_) => 0,
        };
        let sent_on = stop.is_first_since_prompt != Some(true) && calls == Some(0);
        TurnProgress {
            idle_turns,
            continued_without_calls: if sent_on { last.continued_without_calls } else { 0 },
        }
    }
}

/// Returns the number of tool calls since the last stop, or `None` if it is unknown.
pub fn calls_since_last_stop(last: &LastStop, stop: &LoopStop) -> Option<u64> {
    stop.session_position?.calls.checked_sub(last.session_position?.calls)
}

fn reached_loop_limit(
    state: &Loop,
    stop: &LoopStop,
    rules: &LoopRules,
    turn: &TurnProgress,
) -> Option<(EndReason, String)> {
    if state.has_used_up_iterations() {
        return Some((EndReason::IterationLimit, format!("{} iterations", state.max_iterations)));
    }
    let deadline = state.deadline.as_deref().and_then(time::parse_time);
    if let Some(deadline) = deadline.filter(|deadline| stop.now >= *deadline) {
        return Some((EndReason::TimeLimit, format!("it had until {}", time::to_rfc3339(deadline))));
    }
    (rules.no_progress_turns > 0 && turn.idle_turns >= rules.no_progress_turns).then(|| {
        (
            EndReason::NoProgress,
            format!("{} turns in a row changed no files and did nothing new", turn.idle_turns),
        )
    })
}

fn end_verdict(state: &Loop, stop: &LoopStop, why: EndReason, detail: Option<String>) -> StopVerdict {
    let mut next = state.clone();
    next.end_with_reason(why, detail);
    next.set_updated_time(stop.now);
    next.last_message_digest = digest_of_message(stop.agent_message()).or(next.last_message_digest);
    StopVerdict::EndLoop { next_state: Box::new(next), why }
}

fn continue_verdict(
    state: &Loop,
    stop: &LoopStop,
    turn: &TurnProgress,
    continue_reason: String,
) -> StopVerdict {
    let mut next = state.clone();
    let message = stop.agent_message();
    next.iteration += 1;
    next.set_updated_time(stop.now);
    next.last_message_digest = digest_of_message(message);
    let failure = match stop.validator_result {
        ValidatorResult::Failed(failure) => Some(failure.clone()),
        _ => None,
    };
    let text = continuation_text(&next, &continue_reason, failure.as_ref());
    next.last_stop = Some(LastStop {
        message: message.and_then(|message| message.id).map(str::to_owned),
        prompt: stop.prompt.map(str::to_owned),
        feedback_time: stop.feedback_time.map(str::to_owned),
        at: time::to_rfc3339_millis(stop.now),
        continue_reason,
        failure,
        idle_turns: turn.idle_turns,
        continued_without_calls: turn.continued_without_calls + 1,
        session_position: stop.session_position,
    });
    StopVerdict::SendPrompt { next_state: Box::new(next), text }
}

fn digest_of_message(message: Option<AgentMessage>) -> Option<String> {
    message.map(|message| digest_of_agent_message(message.text))
}

/// Returns a digest that distinguishes messages without storing them.
pub fn digest_of_agent_message(text: &str) -> String {
    format!("{:016x}", fnv_fingerprint([text]))
}

/// Returns whether the harness ended the turn although the hook told it to continue. Call this function at an event
/// other than a stop, or at the first stop after a prompt. `cap` is how many times in a row the harness lets a stop
/// hook continue the turn without a tool call.
pub fn was_continuation_overridden(state: &Loop, cap: u64) -> bool {
    let unaided = state.last_stop.as_ref().map_or(0, |last| last.continued_without_calls);
    state.status == LoopStatus::Active && cap > 0 && unaided > cap
}

#[cfg(test)]
#[path = "engine_tests.rs"]
mod tests;
