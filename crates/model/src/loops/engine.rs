//! The engine for stops: takes a loop, a stop and the rules, and returns the answer and the loop's new state. It has no
//! side effects.

use jiff::Timestamp;

use super::{
    Ended, Failure, LastStop, Loop, Outcome, SessionPosition, Status, feeding, promise, promise_words,
};
use crate::redact::{self, redact};
use crate::render::{code, inline};
use crate::text::fingerprint;
use crate::time;

/// The loop in the foreground of the session that stops.
#[derive(Clone, Copy, Debug)]
pub enum Foreground<'a> {
    Nothing,
    Loop(&'a Loop),
    /// There is a loop, but it cannot be used: it is damaged, locked or unreadable.
    Trouble(&'a str),
}

/// A stop in neutral form.
#[derive(Clone, Debug)]
pub struct Stop<'a> {
    pub session: &'a str,
    pub who: Who,
    pub now: Timestamp,
    /// The main agent's last words: `None` if it said nothing, `Err` with a reason if they cannot be known.
    pub message: Result<Option<Message<'a>>, String>,
    pub prompt: Option<&'a str>,
    /// When the newest stop-hook message was written into the transcript.
    pub feedback: Option<&'a str>,
    /// Whether this is the first stop since the user's last prompt, if the harness reports it.
    pub first: Option<bool>,
    /// Whether a compaction was announced and has not happened yet.
    pub compacting: bool,
    /// How many sub-agents continue in the background.
    pub agents: usize,
    /// How much the session has done by now.
    pub mark: Option<SessionPosition>,
    /// How many files were changed since the last stop.
    pub changed: usize,
    pub checked: Checked<'a>,
}

impl<'a> Stop<'a> {
    fn said(&self) -> Option<Message<'a>> {
        self.message.as_ref().ok().copied().flatten()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    Main,
    SubAgent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// The harness's id of the message, if known.
    pub id: Option<&'a str>,
    pub text: &'a str,
    /// Whether a stop hook has already answered the message: the same stop comes again, or another hook was faster.
    pub answered: bool,
}

/// The result of the validators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checked<'a> {
    NotYet,
    Passed,
    Failed(&'a Failure),
}

#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Turns without progress after which a loop ends; 0 means never.
    pub no_progress_turns: u64,
    pub redact: redact::Options,
}

/// What to do about a stop.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Let the agent stop. Nothing is counted and nothing changes.
    Allow(Allowed),
    /// The agent gave the promise: run the validators, and call again with their result.
    Validate,
    /// Let the agent stop, because the loop has ended.
    End { next: Box<Loop>, why: Ended },
    /// Do not let the agent stop, and send it this text.
    Feed { next: Box<Loop>, text: String },
    /// The same stop came again: give the same answer and count nothing.
    FeedAgain { text: String },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowed {
    NoLoop,
    /// The loop is paused, done or cancelled.
    NotActive,
    AnotherSession,
    SubAgent,
    Compaction,
    AgentsAtWork,
    Trouble,
}

/// If a second stop comes within this many milliseconds, it can be the same stop again.
const SAME_STOP_MS: i64 = 250;

pub fn decide(foreground: Foreground, stop: &Stop, rules: &Rules) -> Verdict {
    let state = match foreground {
        Foreground::Nothing => return Verdict::Allow(Allowed::NoLoop),
        Foreground::Trouble(_) => return Verdict::Allow(Allowed::Trouble),
        Foreground::Loop(state) => state,
    };
    if let Some(allowed) = is_none_of_ours(state, stop) {
        return Verdict::Allow(allowed);
    }
    let message = match &stop.message {
        Ok(message) => *message,
        Err(why) => return end(state, stop, Ended::Error, Some(why.clone())),
    };
    let last = state.last_stop.as_ref();
    if let Some(last) = last.filter(|last| is_same(last, state, stop, message)) {
        return Verdict::FeedAgain { text: feeding(state, &last.why, last.failure.as_ref()) };
    }
    // A compaction stops the agent without a message. If an announced compaction never came, the end of a turn must
    // still be seen.
    if stop.compacting && message.is_none_or(|message| message.id.is_none()) {
        return Verdict::Allow(Allowed::Compaction);
    }
    let text = message.map_or("", |message| message.text);
    let given = promise::given(text, &[&state.prompt, &promise_words(state)]);
    let kept = given
        .as_deref()
        .and_then(|given| state.promises.iter().find(|promise| promise::collapsed(&promise.text) == given));
    let why = match (kept.map(|promise| promise.outcome), stop.checked) {
        (Some(Outcome::Blocked), _) => {
            return end(
                state,
                stop,
                Ended::Blocked,
                given.map(|given| format!("the agent said “{}”", quoted(&given, rules))),
            );
        }
        (Some(Outcome::Done), Checked::NotYet) if !state.validators.is_empty() => return Verdict::Validate,
        (Some(Outcome::Done), Checked::Failed(Failure { command, how, .. })) => {
            format!("gave the promise, but {} did not pass ({how})", code(command, 200))
        }
        (Some(Outcome::Done), _) => return end(state, stop, Ended::Promise, None),
        (None, _) => match given {
            Some(other) => format!("gave another promise, “{}”", quoted(&other, rules)),
            None => "ended without the promise".to_owned(),
        },
    };
    let turn = Turn::of(state, stop);
    if let Some((ended, detail)) = reached_limit(state, stop, rules, &turn) {
        return end(state, stop, ended, Some(detail));
    }
    feed(state, stop, &turn, why)
}

fn is_none_of_ours(state: &Loop, stop: &Stop) -> Option<Allowed> {
    if stop.who == Who::SubAgent {
        Some(Allowed::SubAgent)
    } else if state.status != Status::Active {
        Some(Allowed::NotActive)
    } else if stop.session.is_empty() || state.session.as_deref() != Some(stop.session) {
        Some(Allowed::AnotherSession)
    } else if stop.agents > 0 {
        Some(Allowed::AgentsAtWork)
    } else {
        None
    }
}

/// Returns whether a stop is the last one again. If both messages have an id, equal ids mean the same stop. If either
/// id is unknown, the words must be the same, and either the message was already answered, or prompt and feedback are
/// unchanged and the two stops are almost simultaneous.
fn is_same(last: &LastStop, state: &Loop, stop: &Stop, message: Option<Message>) -> bool {
    match (last.message.as_deref(), message.and_then(|message| message.id)) {
        (Some(last), Some(now)) => last == now,
        _ if state.last_message_digest != digest(message) => false,
        _ if message.is_some_and(|message| message.answered) => true,
        _ => {
            let apart = time::parse(&last.at).map(|at| stop.now.as_millisecond() - at.as_millisecond());
            last.prompt.as_deref() == stop.prompt
                && last.feedback.as_deref() == stop.feedback
                && apart.is_some_and(|apart| apart.abs() <= SAME_STOP_MS)
        }
    }
}

/// Quotes what an agent said, for the record.
fn quoted(text: &str, rules: &Rules) -> String {
    inline(&redact(text, rules.redact), 100)
}

/// What a turn achieved besides its message.
struct Turn {
    idle: u64,
    /// How many times in a row, before this turn, the agent continued without calling a tool.
    unaided: u64,
}

impl Turn {
    fn of(state: &Loop, stop: &Stop) -> Turn {
        let Some(last) = &state.last_stop else { return Turn { idle: 0, unaided: 0 } };
        let calls = calls_since(last, stop);
        let repeated =
            state.last_message_digest.is_some() && state.last_message_digest == digest(stop.said());
        let idle = match calls {
            // If the progress is unknown, the turn does not count as one without progress.
            None => 0,
            Some(_) if stop.changed > 0 => 0,
            // The first turn that said the same words made no progress either.
            Some(_) if repeated => last.idle.max(1) + 1,
            Some(0) => last.idle + 1,
            Some(_) => 0,
        };
        let sent_on = stop.first != Some(true) && calls == Some(0);
        Turn { idle, unaided: if sent_on { last.unaided } else { 0 } }
    }
}

/// Returns the tool calls since the last stop; `None` if the count was lost.
pub fn calls_since(last: &LastStop, stop: &Stop) -> Option<u64> {
    stop.mark?.calls.checked_sub(last.mark?.calls)
}

fn reached_limit(state: &Loop, stop: &Stop, rules: &Rules, turn: &Turn) -> Option<(Ended, String)> {
    if state.max_iterations > 0 && state.iteration >= state.max_iterations {
        return Some((Ended::Limit, format!("{} iterations", state.max_iterations)));
    }
    let deadline = state.deadline.as_deref().and_then(time::parse);
    if let Some(deadline) = deadline.filter(|deadline| stop.now >= *deadline) {
        return Some((Ended::Time, format!("it had until {}", time::rfc3339(deadline))));
    }
    (rules.no_progress_turns > 0 && turn.idle >= rules.no_progress_turns).then(|| {
        (Ended::NoProgress, format!("{} turns in a row changed no file and did nothing new", turn.idle))
    })
}

fn end(state: &Loop, stop: &Stop, why: Ended, detail: Option<String>) -> Verdict {
    let mut next = state.clone();
    next.end(why, detail);
    next.touch(stop.now);
    next.last_message_digest = digest(stop.said()).or(next.last_message_digest);
    Verdict::End { next: Box::new(next), why }
}

fn feed(state: &Loop, stop: &Stop, turn: &Turn, why: String) -> Verdict {
    let mut next = state.clone();
    let message = stop.said();
    next.iteration += 1;
    next.touch(stop.now);
    next.last_message_digest = digest(message);
    let failure = match stop.checked {
        Checked::Failed(failure) => Some(failure.end()),
        _ => None,
    };
    let text = feeding(&next, &why, failure.as_ref());
    next.last_stop = Some(LastStop {
        message: message.and_then(|message| message.id).map(str::to_owned),
        prompt: stop.prompt.map(str::to_owned),
        feedback: stop.feedback.map(str::to_owned),
        at: time::precise(stop.now),
        why,
        failure,
        idle: turn.idle,
        unaided: turn.unaided + 1,
        mark: stop.mark,
    });
    Verdict::Feed { next: Box::new(next), text }
}

fn digest(message: Option<Message>) -> Option<String> {
    message.map(|message| digest_of(message.text))
}

/// Returns a digest that distinguishes texts without storing them.
pub fn digest_of(text: &str) -> String {
    format!("{:016x}", fingerprint([text]))
}

/// Returns whether the harness ended the turn although our last answer was to continue. Call it at an event other than
/// a stop, or at the first stop after the user spoke. `cap` is how often in a row the harness can be made to continue
/// without a tool call.
pub fn overridden(state: &Loop, cap: u64) -> bool {
    let unaided = state.last_stop.as_ref().map_or(0, |last| last.unaided);
    state.status == Status::Active && cap > 0 && unaided > cap
}

#[cfg(test)]
#[path = "engine_tests.rs"]
mod tests;
