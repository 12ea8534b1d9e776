//! A loop at a session's start: claimed by a new session, moved along to the id a session goes on under, and told.

use model::brief::{Note, Topic};
use model::event::{Event as HarnessEvent, Source};
use model::id::Id;
use model::loops::log::{Entry, Event};
use model::loops::pointer::Pointer;
use model::loops::{Loop, Status, promise_words};
use model::redact::Redacted;
use model::render::inline;
use model::time;
use store::Store;

use super::front;
use super::stop::{Scene, notice, save, standing};

/// How much of the prompt is shown to a session that gets a loop it has never seen.
const SHOWN: usize = 600;

/// Takes over what waits for a session that starts. Returns what it must be told at once, whether there is a brief or
/// not.
pub fn begin(scene: &Scene, event: &HarnessEvent, source: Source) -> store::Result<Option<String>> {
    let Some(pointer) = standing(scene)? else { return Ok(None) };
    notice(scene)?;
    if let Some(previous) = event.previous.as_deref()
        && pointer.of(previous).is_some()
    {
        take(scene, Event::Moved, |pointer| pointer.of(previous).map(str::to_owned))?;
    }
    // A compaction starts nothing; and a session that is taken up again may have a loop of its own.
    if source == Source::Compact || pointer.next.is_none() {
        return Ok(None);
    }
    let is_free = |pointer: &Pointer| pointer.of(scene.session.as_str()).is_none();
    let claimed = take(scene, Event::Claimed, |pointer| pointer.next.clone().filter(|_| is_free(pointer)))?;
    Ok(claimed.map(|state| {
        format!(
            "Throughline: the user started loop {} for the next session, which is this one: iteration {}. {} Whenever \
             you stop, you are given its prompt: “{}”\n",
            state.id,
            state.progress(),
            promise_words(&state),
            inline(&Redacted::whole(&state.prompt, scene.settings.redact()), SHOWN)
        )
    }))
}

/// What a brief says about the loop of a session.
pub fn note(store: &Store, session: &str) -> Option<Note> {
    let pointer = front(store).ok()?;
    let id = Id::new(pointer.of(session)?).ok()?;
    let state = store.read_loop(&id).ok()?.state;
    (state.status == Status::Active).then(|| Note {
        topic: Topic::Loop,
        text: format!(
            "{} runs in this session, started by the user: iteration {}. {}",
            state.id,
            state.progress(),
            promise_words(&state)
        ),
    })
}

/// Makes this session the owner of the loop that `which` finds, if it is still there to be had.
fn take(
    scene: &Scene,
    event: Event,
    which: impl Fn(&Pointer) -> Option<String>,
) -> store::Result<Option<Loop>> {
    let Scene { store, session, settings, world, .. } = *scene;
    let _lock = store.lock_loops(scene.deadline.wait())?;
    let mut pointer = front(store)?;
    let Some(Ok(id)) = which(&pointer).map(|id| Id::new(&id)) else { return Ok(None) };
    let record = store.read_loop(&id)?;
    let mut next = record.state.clone();
    if next.status != Status::Active {
        pointer.clear(id.as_str());
        store.write_foreground(&pointer)?;
        return Ok(None);
    }
    next.session = Some(session.to_string());
    // Counted from the digest of another session, or of none.
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
    store.append_loop_log(&id, &entry, settings.log_limit_bytes)?;
    Ok(Some(next))
}
