//! Loops at a session start: a new session claims the waiting loop, a session that continues under a new id keeps
//! its loop, and the agent is told about the loop.

use model::brief::{Candidate, Section};
use model::event::Source;
use model::id::Id;
use model::loops::log::{Entry, Event};
use model::loops::pointer::Pointer;
use model::loops::{Loop, Status, promise_words};
use model::redact::{self, Redacted};
use model::render::quoted;
use model::reply::{Part, Reply};
use model::score::Signal;
use model::text::outline;
use model::time;
use store::Store;

use super::front;
use super::stop::{end_overridden, overridden_loop, save, standing};
use crate::features::{BriefContext, Decision, ProjectContext};
use crate::hook::context::HookContext;
use crate::project::consent;
use crate::{Mode, Result};

const SECTION: Section = Section { order: 0, longer: 12, name: "loop", title: "Loop", signal: Signal::Loop };
pub const SECTIONS: &[&str] = &[SECTION.name];

/// How many characters of the prompt are shown to a session that gets a loop it has never seen.
const SHOWN: usize = 600;

/// How much of the prompt a brief quotes, the shortest form first.
const GOAL_LENGTHS: [usize; 4] = [160, 400, 1_000, 4_000];

/// Gives a starting session the loop that is waiting for one, and tells the agent at once, with or without a brief.
pub fn begin<'c>(context: &'c HookContext<'_>, source: Source) -> Result<Decision<'c>> {
    let Some(pointer) = standing(context)? else { return Ok(Decision::nothing("there are no loops")) };
    if let Some(id) = overridden_loop(context)?
        && context.mode == Mode::Write
    {
        end_overridden(context, &id)?;
    }
    // A compaction does not start a session, so it does not claim a waiting loop.
    let waits = pointer.next.as_deref().filter(|_| source != Source::Compact);
    let Some(next) = waits else { return Ok(Decision::nothing("no loop waits for a session to start")) };
    let why = format!("loop {next} waits for the next session");
    let what = format!("make this session the owner of loops/{next}.md");
    Ok(Decision::change(Part::silent(), why, what, move || {
        let is_free = |pointer: &Pointer| pointer.of(context.session.as_str()).is_none();
        let claimed =
            take(context, Event::Claimed, |pointer| pointer.next.clone().filter(|_| is_free(pointer)))?;
        let redact = context.project.settings.redact();
        Ok(claimed.map_or_else(Part::silent, |state| Part::of(Reply::Context(claimed_words(&state, redact)))))
    }))
}

fn claimed_words(state: &Loop, redact: redact::Options) -> String {
    format!(
        "Throughline: the user started loop {} for the next session, which is this one: iteration {}. {} Whenever you stop, you get its prompt: {}\n",
        state.id,
        state.progress(),
        promise_words(state),
        quoted(&Redacted::whole(&state.prompt, redact), SHOWN)
    )
}

/// Lets a session that continues under another id keep its loop.
pub fn continue_as(context: &HookContext, previous: &Id) -> Result<()> {
    let pointer = standing(context)?;
    if pointer.is_some_and(|pointer| pointer.of(previous.as_str()).is_some()) {
        take(context, Event::Moved, |pointer| pointer.of(previous.as_str()).map(str::to_owned))?;
    }
    Ok(())
}

/// Returns what a brief says about the loop of a session.
pub fn candidates(context: &BriefContext) -> Result<Vec<Candidate>> {
    let Some(session) = context.session else { return Ok(Vec::new()) };
    let Some(state) = running(context.project.store, session.as_str())? else { return Ok(Vec::new()) };
    let about = format!(
        "{} runs in this session, started by the user: iteration {}. {}",
        state.id,
        state.progress(),
        promise_words(&state)
    );
    // The prompt comes back at every stop, so it is what the session works on, and no message of the user repeats it.
    let prompt = Redacted::whole(&state.prompt, context.project.settings.redact());
    let form = |most: usize| {
        format!("{about} Its prompt is the goal: {}", quoted(&outline(&prompt, most), most + 2))
    };
    let mut candidate = Candidate::new(&SECTION, format!("loop:{}", state.id), "");
    candidate.forms = GOAL_LENGTHS.map(form).to_vec();
    candidate.forms.dedup();
    Ok(vec![candidate])
}

/// Returns the loop that runs in a session, if this user started it here.
pub fn running(store: &Store, session: &str) -> Result<Option<Loop>> {
    let pointer = front(store)?;
    let Some(Ok(id)) = pointer.of(session).map(Id::new) else { return Ok(None) };
    let state = store.read_loop(&id)?.state;
    let runs = state.status == Status::Active && consent::is_started_here(store, &state);
    Ok(runs.then_some(state))
}

/// Makes this session the owner of the loop that `which` finds, if that loop is still available.
fn take(
    context: &HookContext,
    event: Event,
    which: impl Fn(&Pointer) -> Option<String>,
) -> store::Result<Option<Loop>> {
    let ProjectContext { world, store, settings, .. } = context.project;
    let session = context.session;
    let _lock = store.lock_loops(context.deadline.wait())?;
    let mut pointer = front(store)?;
    let Some(Ok(id)) = which(&pointer).map(|id| Id::new(&id)) else { return Ok(None) };
    let record = store.read_loop(&id)?;
    let mut next = record.state.clone();
    if next.status != Status::Active {
        pointer.clear(id.as_str());
        store.write_foreground(&pointer)?;
        return Ok(None);
    }
    let may_have = match event {
        // A session that continues under another id keeps its loop. Any other session gets the loop only if the
        // loop is waiting for the next session.
        Event::Claimed => next.session.is_none() && consent::may_be_claimed(store, &next),
        _ => consent::is_started_here(store, &next),
    };
    if !may_have {
        return Ok(None);
    }
    next.session = Some(session.to_string());
    // These counts refer to the digest of another session.
    if let Some(last) = &mut next.last_stop {
        last.mark = None;
    }
    next.touch(world.now);
    save(store, &id, &record, &next)?;
    pointer.set(id.as_str(), session.as_str());
    store.write_foreground(&pointer)?;
    let entry = Entry {
        session: Some(session.to_string()),
        ..Entry::new(&time::rfc3339(world.now), event, next.iteration)
    };
    store.append_loop_log(&id, &entry, settings.log_limit_bytes())?;
    Ok(Some(next))
}
