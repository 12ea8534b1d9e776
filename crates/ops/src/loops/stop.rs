//! A loop at a stop: what the engine needs is gathered, what it says is done. Anything wrong lets the agent stop.

use harness::Harness;
use model::config::Settings;
use model::event::{self, Event as HarnessEvent, Kind};
use model::id::Id;
use model::loops::engine::{
    Allowed, Checked, Foreground, Message, Rules, Stop, Verdict, Who, calls_since, decide, digest_of,
    overridden,
};
use model::loops::heard::LastMessage;
use model::loops::log::{Entry, Event};
use model::loops::pointer::Pointer;
use model::loops::{Ended, Loop, Mark, Record};
use model::reply::Reply;
use model::time;
use store::{Lock, Root, Store};

use super::seen::Seen;
use super::validators::first_failure;
use super::{front, session};
use crate::World;
use crate::deadline::Deadline;

/// How many changed files are named in the log.
const FILES: usize = 20;

/// Where a hook runs.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    pub world: &'a World<'a>,
    pub harness: &'static Harness,
    pub root: &'a Root,
    pub store: &'a Store,
    pub settings: &'a Settings,
    pub deadline: Deadline,
    pub session: &'a Id,
}

/// What to answer, and what went wrong.
pub type Answer = (Reply, Option<String>);

const SILENT: Answer = (Reply::Silent, None);

/// What loops make of an event of the main agent, over what was to be answered anyway.
pub fn heed(scene: &Scene, event: &HarnessEvent, reply: Reply) -> Answer {
    // A sub-agent is never held, and half a payload is no ground to hold anybody.
    if event.agent.is_some() || event.torn {
        return (reply, None);
    }
    let told = match &event.kind {
        Kind::Stop(stop) => {
            return match at_stop(scene, event, stop) {
                (Reply::Silent, trouble) => (reply, trouble),
                answer => answer,
            };
        }
        Kind::SessionStart { source } => session::begin(scene, event, *source),
        Kind::Prompt { .. } | Kind::SessionEnd { .. } => notice(scene).map(|()| None),
        Kind::ToolDone(_)
        | Kind::BeforeCompact { .. }
        | Kind::Summary { .. }
        | Kind::AfterCompact { .. }
        | Kind::SubagentStart
        | Kind::SubagentStop { .. }
        | Kind::Other { .. } => Ok(None),
    };
    match (told, reply) {
        (Ok(None), reply) => (reply, None),
        (Ok(Some(told)), Reply::Context(brief)) => (Reply::Context(format!("{told}{brief}")), None),
        (Ok(Some(told)), _) => (Reply::Context(told), None),
        (Err(error), reply) => (reply, Some(error.to_string())),
    }
}

/// With no loop in the foreground this opens one file and no more.
fn at_stop(scene: &Scene, event: &HarnessEvent, stop: &event::Stop) -> Answer {
    let pointer = match standing(scene) {
        Ok(pointer) => pointer.unwrap_or_default(),
        Err(error) => return (Reply::Silent, Some(error.to_string())),
    };
    let Some(Ok(id)) = pointer.of(scene.session.as_str()).map(Id::new) else { return SILENT };
    Held { scene, event, stop, id, seen: Seen::gather(scene, event, stop) }.answer()
}

/// A session that stops and has a loop.
struct Held<'a> {
    scene: &'a Scene<'a>,
    event: &'a HarnessEvent<'a>,
    stop: &'a event::Stop<'a>,
    id: Id,
    seen: Seen,
}

impl Held<'_> {
    fn answer(&self) -> Answer {
        match self.decide(Checked::NotYet, self.scene.deadline) {
            Next::Said(answer) => answer,
            Next::Validate(validators) => self.validate(&validators),
        }
    }

    /// The validators run while nobody holds the loop: they may take minutes, and it can be cancelled meanwhile.
    fn validate(&self, validators: &[String]) -> Answer {
        let _running = match self.scene.store.lock_validators(&self.id) {
            Ok(running) => running,
            // The same stop again while they run: the one that runs them answers.
            Err(store::Error::Busy { .. }) => return SILENT,
            Err(error) => return self.let_go(&error.to_string()),
        };
        let failure = first_failure(self.scene, validators);
        let checked = failure.as_ref().map_or(Checked::Passed, Checked::Failed);
        match self.decide(checked, self.scene.deadline.anew()) {
            Next::Said(answer) => answer,
            Next::Validate(_) => SILENT,
        }
    }

    /// One read-modify-write of the loop, or a good reason why not.
    fn decide(&self, checked: Checked, deadline: Deadline) -> Next {
        let Scene { store, settings, .. } = *self.scene;
        let held = store.lock_loops(deadline.wait()).and_then(|lock| Ok((lock, store.read_loop(&self.id)?)));
        if matches!(held, Err(store::Error::Absent { .. })) {
            // Somebody removed the loop: there is nothing to hold anybody by.
            let forgotten = store.lock_loops(deadline.wait()).and_then(|_lock| clear(store, &self.id));
            return Next::Said((Reply::Silent, forgotten.err().map(|error| error.to_string())));
        }
        let trouble = held.as_ref().err().map(ToString::to_string).unwrap_or_default();
        let record = held.as_ref().ok().map(|(_, record): &(Lock, Record)| record);
        let foreground =
            record.map_or(Foreground::Trouble(&trouble), |record| Foreground::Loop(&record.state));
        let stop = self.as_seen(record.map(|record| &record.state), checked);
        let rules = Rules { no_progress_turns: settings.no_progress_turns, redact: settings.redact() };
        match (decide(foreground, &stop, &rules), record) {
            (Verdict::Validate, Some(record)) => Next::Validate(record.state.validators.clone()),
            (verdict, Some(record)) => Next::Said(match self.apply(verdict, record, &stop) {
                Ok(answer) => answer,
                // What could not be counted must not go on.
                Err(error) => self.let_go(&error.to_string()),
            }),
            (_, None) => Next::Said(self.let_go(&trouble)),
        }
    }

    fn let_go(&self, why: &str) -> Answer {
        (Reply::Silent, Some(format!("loop {} was let go: {why}", self.id)))
    }

    fn apply(&self, verdict: Verdict, record: &Record, stop: &Stop) -> store::Result<Answer> {
        let Scene { store, .. } = *self.scene;
        let state = &record.state;
        // A promise that was kept counts, whatever the harness did in between.
        let goes_on = matches!(verdict, Verdict::Feed { .. } | Verdict::FeedAgain { .. });
        if goes_on && self.stop.first == Some(true) && self.scene.is_overridden(state) {
            return end_by_cap(self.scene, &self.id, record).map(|()| SILENT);
        }
        Ok(match verdict {
            // Whoever ended it was killed before it could say so here.
            Verdict::Allow(Allowed::NotActive) => clear(store, &self.id).map(|()| SILENT)?,
            Verdict::Allow(_) | Verdict::Validate => SILENT,
            Verdict::FeedAgain { text } => (Reply::Block(text), None),
            Verdict::Feed { next, text } => {
                save(store, &self.id, record, &next)?;
                let why = next.last_stop.as_ref().map_or(String::new(), |last| last.why.clone());
                let logged = self.log(Event::Fed, state, stop, None, why);
                (Reply::Block(text), logged.err().map(|error| error.to_string()))
            }
            Verdict::End { next, why } => {
                save(store, &self.id, record, &next)?;
                let cleared = clear(store, &self.id);
                let detail = next.ended_detail.clone().unwrap_or_default();
                let logged = self.log(Event::Ended, state, stop, Some(why), detail);
                (Reply::Silent, cleared.and(logged).err().map(|error| error.to_string()))
            }
        })
    }

    fn as_seen<'s>(&'s self, state: Option<&Loop>, checked: Checked<'s>) -> Stop<'s> {
        let Seen { heard, message, digest, compacting } = &self.seen;
        let message = match message {
            Ok(message) => Ok(message.as_ref().map(|LastMessage { id, text, answered }| Message {
                id: id.as_deref(),
                text,
                answered: *answered,
            })),
            Err(why) => Err(why.clone()),
        };
        Stop {
            session: self.scene.session.as_str(),
            who: if self.event.agent.is_some() { Who::SubAgent } else { Who::Main },
            now: self.scene.world.now,
            message,
            prompt: self.stop.prompt.as_deref(),
            feedback: heard.feedback.as_deref(),
            first: self.stop.first,
            compacting: *compacting,
            agents: self.stop.agents,
            mark: digest.as_ref().map(|digest| Mark { calls: digest.called, records: digest.records }),
            changed: state.and_then(|state| self.changed(state)).map_or(0, |files| files.len()),
            checked,
        }
    }

    /// The files changed since the last stop; none where that is not known.
    fn changed(&self, state: &Loop) -> Option<Vec<&str>> {
        let since = state.last_stop.as_ref()?.mark?.records;
        let digest = self.seen.digest.as_ref()?;
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
            session: Some(self.scene.session.to_string()),
            reason,
            detail,
            message: stop.message.as_ref().ok().and_then(|m| m.as_ref()).map(|m| digest_of(m.text)),
            calls: state.last_stop.as_ref().and_then(|last| calls_since(last, stop)),
            changed: files.as_ref().map(Vec::len),
            files: files.unwrap_or_default().into_iter().take(FILES).map(str::to_owned).collect(),
            tokens: self.seen.heard.tokens(),
            ..Entry::new(&time::rfc3339(self.scene.world.now), event, state.iteration)
        };
        self.scene.store.append_loop_log(&self.id, &entry, self.scene.settings.log_limit_bytes())
    }
}

enum Next {
    Said(Answer),
    Validate(Vec<String>),
}

impl Scene<'_> {
    /// Whether the harness ended a turn that was to go on.
    fn is_overridden(&self, state: &Loop) -> bool {
        self.cap().is_some_and(|cap| overridden(state, cap))
    }

    fn cap(&self) -> Option<u64> {
        let cap = self.harness.block_cap?;
        let set = (self.world.var)(cap.variable).and_then(|value| value.to_str()?.trim().parse().ok());
        Some(set.unwrap_or(cap.times))
    }
}

/// Which loops are in the foreground. It is an index, which may be deleted or torn: where there are loops, it is made again from them.
pub(super) fn standing(scene: &Scene) -> store::Result<Option<Pointer>> {
    let Scene { store, .. } = *scene;
    match store.foreground() {
        Err(store::Error::Damaged { .. }) => {}
        Ok(None) if !store.loop_ids()?.is_empty() => {}
        known => return known,
    }
    let _lock = store.lock_loops(scene.deadline.wait())?;
    let pointer = front(store)?;
    store.write_foreground(&pointer)?;
    Ok(Some(pointer))
}

/// At an event that is no stop: a turn that was to go on and did not is noticed here.
pub fn notice(scene: &Scene) -> store::Result<()> {
    if scene.harness.block_cap.is_none() {
        return Ok(());
    }
    let Some(pointer) = scene.store.foreground()? else { return Ok(()) };
    let Some(Ok(id)) = pointer.of(scene.session.as_str()).map(Id::new) else { return Ok(()) };
    let record = match scene.store.read_loop(&id) {
        Err(store::Error::Absent { .. }) => return Ok(()),
        record => record?,
    };
    if !scene.is_overridden(&record.state) {
        return Ok(());
    }
    let _lock = scene.store.lock_loops(scene.deadline.wait())?;
    let record = scene.store.read_loop(&id)?;
    if scene.is_overridden(&record.state) { end_by_cap(scene, &id, &record) } else { Ok(()) }
}

fn end_by_cap(scene: &Scene, id: &Id, record: &Record) -> store::Result<()> {
    let cap = scene.cap().unwrap_or_default();
    let variable = scene.harness.block_cap.map_or("", |cap| cap.variable);
    let title = scene.harness.title;
    let detail = format!(
        "{title} ended the turn: it goes on at most {cap} times in a row without a tool call ({variable}=0 lifts that)"
    );
    let mut next = record.state.clone();
    next.end(Ended::HarnessCap, Some(detail.clone()));
    next.touch(scene.world.now);
    save(scene.store, id, record, &next)?;
    clear(scene.store, id)?;
    let entry = Entry {
        session: Some(scene.session.to_string()),
        reason: Some(Ended::HarnessCap),
        detail,
        ..Entry::new(&time::rfc3339(scene.world.now), Event::Ended, next.iteration)
    };
    scene.store.append_loop_log(id, &entry, scene.settings.log_limit_bytes())
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
