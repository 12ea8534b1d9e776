//! Loops at a stop: gathers the facts that the engine needs, and carries out the engine's verdict. If anything goes
//! wrong, the agent may stop.

use model::event;
use model::id::Id;
use model::loops::engine::{
    self, Allowed, Checked, Foreground, Message, Rules, Stop, Verdict, Who, calls_since, digest_of,
    overridden,
};
use model::loops::last_turn::LastMessage;
use model::loops::log::{Entry, Event, Tokens};
use model::loops::pointer::Pointer;
use model::loops::{Ended, Loop, Record, SessionPosition};
use model::reply::{Part, Reply};
use model::time;
use store::{Lock, Store};

use super::front;
use super::stop_facts::StopFacts;
use super::validators::first_failure;
use crate::features::{Decision, ProjectContext};
use crate::hook::context::HookContext;
use crate::hook::deadline::Deadline;
use crate::project::consent::is_started_here;
use crate::{Error, Mode, Result};

/// How many changed files are named in the log.
const FILES: usize = 20;

/// Decides about the session's loop at a stop. If no loop is in the foreground, only one file is opened.
pub fn decide<'c>(context: &'c HookContext<'_>, stop: &'c event::Stop<'c>) -> Result<Decision<'c>> {
    let pointer = standing(context)?.unwrap_or_default();
    let Some(Ok(id)) = pointer.of(context.session.as_str()).map(Id::new) else {
        return Ok(Decision::nothing("no loop is in the foreground of this session"));
    };
    Held { context, stop, id, facts: StopFacts::gather(context, stop) }.decide()
}

/// A stop of a session that has a loop.
struct Held<'c> {
    context: &'c HookContext<'c>,
    stop: &'c event::Stop<'c>,
    id: Id,
    facts: StopFacts,
}

/// The engine's verdict on a loop. The loop stays locked until the verdict is carried out.
struct Judged {
    record: Record,
    verdict: Verdict,
    _lock: Lock,
}

impl<'c> Held<'c> {
    fn decide(self) -> Result<Decision<'c>> {
        let Some(judged) = self.judge(Checked::NotYet, self.context.deadline)? else {
            return Ok(Decision::nothing(format!(
                "loop {} no longer exists, or was not started here",
                self.id
            )));
        };
        let Judged { verdict, record, .. } = &judged;
        let (part, why, what) = match verdict {
            Verdict::Allow(allowed) => {
                (Part::silent(), format!("loop {} allows it: {allowed:?}", self.id), String::new())
            }
            Verdict::Validate => {
                let validators = record.state.validators.clone();
                let why = format!("loop {}: the promise was given, its validators decide", self.id);
                if self.stop.is_hasty {
                    return Ok(Decision::answer(Part::of(Reply::AskAgain), why));
                }
                let what = format!("run {}", validators.join("; "));
                // The validators run without the loop's lock: they may take minutes, and the loop can be cancelled
                // during that time.
                drop(judged);
                return Ok(Decision::change(Part::silent(), why, what, move || self.validate(&validators)));
            }
            Verdict::FeedAgain { text } => (
                Part::of(Reply::Block(text.clone())),
                format!("loop {}: the same stop again", self.id),
                String::new(),
            ),
            Verdict::Feed { next, text } => {
                let why = format!("loop {} goes on: iteration {}", self.id, next.progress());
                (
                    Part::of(Reply::Block(text.clone())),
                    why,
                    format!("count the iteration in loops/{}.md", self.id),
                )
            }
            Verdict::End { why, .. } => (
                Part::silent(),
                format!("loop {} ends: {why:?}", self.id),
                format!("end loops/{}.md", self.id),
            ),
        };
        Ok(Decision::change(part, why, what, move || self.apply(judged, Checked::NotYet)))
    }

    fn validate(&self, validators: &[String]) -> Result<Part> {
        let _running = match self.context.project.store.lock_validators(&self.id) {
            Ok(running) => running,
            // The same stop was reported again while the validators run. The process that runs them answers.
            Err(store::Error::Busy { .. }) => return Ok(Part::silent()),
            Err(error) => return Err(self.let_go(&error)),
        };
        let failure = first_failure(self.context, validators);
        let checked = || failure.as_ref().map_or(Checked::Passed, Checked::Failed);
        match self.judge(checked(), self.context.deadline.anew())? {
            Some(judged) => self.apply(judged, checked()),
            None => Ok(Part::silent()),
        }
    }

    /// Locks the loop and asks the engine. Returns `None` if somebody removed the loop, or if this user did not allow
    /// its current form here. Such a loop holds no session, and nothing in it is run.
    fn judge(&self, checked: Checked, deadline: Deadline) -> Result<Option<Judged>> {
        let ProjectContext { store, settings, .. } = self.context.project;
        let lock = store.lock_loops(deadline.wait()).map_err(|error| self.let_go(&error))?;
        let record = match store.read_loop(&self.id) {
            Err(store::Error::Absent { .. }) => {
                if self.context.mode == Mode::Write {
                    clear(store, &self.id)?;
                }
                return Ok(None);
            }
            record => record.map_err(|error| self.let_go(&error))?,
        };
        if !is_started_here(store, &record.state) {
            return Ok(None);
        }
        let stop = self.as_seen(&record.state, checked);
        let rules = Rules { no_progress_turns: settings.no_progress_turns, redact: settings.redact() };
        let verdict = engine::decide(Foreground::Loop(&record.state), &stop, &rules);
        Ok(Some(Judged { record, verdict, _lock: lock }))
    }

    /// Returns the error that lets the agent stop: a loop whose iterations cannot be counted must not continue.
    fn let_go(&self, why: &dyn std::fmt::Display) -> Error {
        Error::Failed { what: format!("loop {} was let go: {why}", self.id) }
    }

    fn apply(&self, judged: Judged, checked: Checked) -> Result<Part> {
        let Judged { record, verdict, _lock } = judged;
        self.done(verdict, &record, checked).map_err(|error| self.let_go(&error))
    }

    fn done(&self, verdict: Verdict, record: &Record, checked: Checked) -> store::Result<Part> {
        let store = self.context.project.store;
        let state = &record.state;
        let stop = self.as_seen(state, checked);
        // If the agent kept the promise, that counts, even if the harness ended an earlier turn.
        let goes_on = matches!(verdict, Verdict::Feed { .. } | Verdict::FeedAgain { .. });
        if goes_on && self.stop.first == Some(true) && is_overridden(self.context, state) {
            return end_by_cap(self.context, &self.id, record).map(|()| Part::silent());
        }
        Ok(match verdict {
            // The process that ended the loop was killed before it could clear the pointer.
            Verdict::Allow(Allowed::NotActive) => clear(store, &self.id).map(|()| Part::silent())?,
            Verdict::Allow(_) | Verdict::Validate => Part::silent(),
            Verdict::FeedAgain { text } => Part::of(Reply::Block(text)),
            Verdict::Feed { next, text } => {
                save(store, &self.id, record, &next)?;
                let why = next.last_stop.as_ref().map_or(String::new(), |last| last.why.clone());
                self.note(self.log(Event::Fed, state, &stop, None, why));
                Part::of(Reply::Block(text))
            }
            Verdict::End { next, why } => {
                save(store, &self.id, record, &next)?;
                self.note(clear(store, &self.id));
                let detail = next.ended_detail.clone().unwrap_or_default();
                self.note(self.log(Event::Ended, state, &stop, Some(why), detail));
                Part::silent()
            }
        })
    }

    /// Reports that the log or the pointer could not be written. The answer stays the same, because the loop itself
    /// is saved.
    fn note(&self, result: store::Result<()>) {
        if let Err(error) = result {
            self.context.warn(error.to_string());
        }
    }

    fn as_seen<'s>(&'s self, state: &Loop, checked: Checked<'s>) -> Stop<'s> {
        let StopFacts { turn, message, compacting } = &self.facts;
        let message = match message {
            Ok(message) => Ok(message.as_ref().map(|LastMessage { id, text, answered }| Message {
                id: id.as_deref(),
                text,
                answered: *answered,
            })),
            Err(why) => Err(why.clone()),
        };
        Stop {
            session: self.context.session.as_str(),
            who: if self.context.event.agent.is_some() { Who::SubAgent } else { Who::Main },
            now: self.context.project.world.now,
            message,
            prompt: self.stop.prompt.as_deref(),
            feedback: turn.feedback.as_deref(),
            first: self.stop.first,
            compacting: *compacting,
            agents: self.stop.agents,
            mark: self
                .context
                .digest()
                .map(|digest| SessionPosition { calls: digest.called, records: digest.records }),
            changed: self.changed(state).map_or(0, |files| files.len()),
            checked,
        }
    }

    /// Returns the files that were changed since the last stop; `None` if that is unknown.
    fn changed(&self, state: &Loop) -> Option<Vec<&str>> {
        let since = state.last_stop.as_ref()?.mark?.records;
        let digest = self.context.digest()?;
        let files = digest.files.iter().filter(|file| file.edits > 0 && file.last > since);
        Some(files.map(|file| file.path.as_str()).collect())
    }

    fn log(
        &self,
        event: Event,
        state: &Loop,
        stop: &Stop,
        reason: Option<Ended>,
        detail: String,
    ) -> store::Result<()> {
        let files = self.changed(state);
        let entry = Entry {
            session: Some(self.context.session.to_string()),
            reason,
            detail,
            message: stop.message.as_ref().ok().and_then(|m| m.as_ref()).map(|m| digest_of(m.text)),
            calls: state.last_stop.as_ref().and_then(|last| calls_since(last, stop)),
            changed: files.as_ref().map(Vec::len),
            files: files.unwrap_or_default().into_iter().take(FILES).map(str::to_owned).collect(),
            tokens: self.facts.turn.tokens().or_else(|| Tokens::of(self.stop.usage.as_ref()?)),
            ..Entry::new(&time::rfc3339(self.context.project.world.now), event, state.iteration)
        };
        let ProjectContext { store, settings, .. } = self.context.project;
        store.append_loop_log(&self.id, &entry, settings.log_limit_bytes())
    }
}

/// Returns whether the harness ended a turn that should have continued.
fn is_overridden(context: &HookContext, state: &Loop) -> bool {
    cap(context).is_some_and(|cap| overridden(state, cap))
}

fn cap(context: &HookContext) -> Option<u64> {
    let cap = context.harness.block_cap?;
    let set = (context.project.world.var)(cap.variable).and_then(|value| value.to_str()?.trim().parse().ok());
    Some(set.unwrap_or(cap.times))
}

/// Returns the pointer to the loops in the foreground. The pointer is an index. If it is missing or damaged, it is
/// rebuilt from the loops.
pub(super) fn standing(context: &HookContext) -> store::Result<Option<Pointer>> {
    let store = context.project.store;
    match store.foreground() {
        Err(store::Error::Damaged { .. }) => {}
        Ok(None) if !store.loop_ids()?.is_empty() => {}
        known => return known,
    }
    let _lock = store.lock_loops(context.deadline.wait())?;
    let pointer = front(store)?;
    if context.mode == Mode::Write {
        store.write_foreground(&pointer)?;
    }
    Ok(Some(pointer))
}

/// Notices, at an event other than a stop, that the harness ended a turn that should have continued.
pub fn notice<'c>(context: &'c HookContext<'_>) -> Result<Decision<'c>> {
    match overridden_loop(context)? {
        None => Ok(Decision::nothing("no turn of a loop was ended by the harness")),
        Some(id) => {
            let why = format!("{} ended a turn that loop {id} had sent on", context.harness.title);
            Ok(Decision::change(Part::silent(), why, format!("end loops/{id}.md"), move || {
                end_overridden(context, &id)?;
                Ok(Part::silent())
            }))
        }
    }
}

pub(super) fn overridden_loop(context: &HookContext) -> store::Result<Option<Id>> {
    if context.harness.block_cap.is_none() {
        return Ok(None);
    }
    let store = context.project.store;
    let Some(pointer) = store.foreground()? else { return Ok(None) };
    let Some(Ok(id)) = pointer.of(context.session.as_str()).map(Id::new) else { return Ok(None) };
    match store.read_loop(&id) {
        Err(store::Error::Absent { .. }) => Ok(None),
        record => {
            let state = record?.state;
            Ok((is_overridden(context, &state) && is_started_here(store, &state)).then_some(id))
        }
    }
}

pub(super) fn end_overridden(context: &HookContext, id: &Id) -> store::Result<()> {
    let store = context.project.store;
    let _lock = store.lock_loops(context.deadline.wait())?;
    let record = store.read_loop(id)?;
    if is_overridden(context, &record.state) && is_started_here(store, &record.state) {
        end_by_cap(context, id, &record)
    } else {
        Ok(())
    }
}

fn end_by_cap(context: &HookContext, id: &Id, record: &Record) -> store::Result<()> {
    let ProjectContext { world, store, settings, .. } = context.project;
    let cap = cap(context).unwrap_or_default();
    let variable = context.harness.block_cap.map_or("", |cap| cap.variable);
    let title = context.harness.title;
    let detail = format!(
        "{title} ended the turn: it continues at most {cap} times in a row without a tool call ({variable}=0 removes that limit)"
    );
    let mut next = record.state.clone();
    next.end(Ended::HarnessCap, Some(detail.clone()));
    next.touch(world.now);
    save(store, id, record, &next)?;
    clear(store, id)?;
    let entry = Entry {
        session: Some(context.session.to_string()),
        reason: Some(Ended::HarnessCap),
        detail,
        ..Entry::new(&time::rfc3339(world.now), Event::Ended, next.iteration)
    };
    store.append_loop_log(id, &entry, settings.log_limit_bytes())
}

pub(super) fn save(store: &Store, id: &Id, record: &Record, next: &Loop) -> store::Result<()> {
    let edited = record.edited(next.clone()).map_err(|error| store::Error::Damaged {
        path: store.dir().path().join(format!("{}/{id}.md", store::layout::LOOPS)),
        line: None,
        why: error.to_string(),
    })?;
    store.write_loop(id, &edited)
}

fn clear(store: &Store, id: &Id) -> store::Result<()> {
    let mut pointer = front(store)?;
    pointer.clear(id.as_str());
    store.write_foreground(&pointer)
}
