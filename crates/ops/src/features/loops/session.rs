//! Handles loops when a session starts. A new session claims the waiting loop, and a session that continues under a
//! new id keeps its loop. In both cases, the agent is told about the loop.

use model::brief::{BriefOccasion, BriefSection, Candidate};
use model::digest::Digest;
use model::event::StartSource;
use model::id::Id;
use model::loops::log::{self, LoopEvent, LoopLogEntry};
use model::loops::pointer::ForegroundPointer;
use model::loops::{Loop, LoopStatus, describe_end_of_loop, how_to_end_loop};
use model::prompt;
use model::redact::{self, Redacted};
use model::render::in_quotation_marks;
use model::reply::{Reply, ReplyPart};
use model::score::ScoreSignal;
use model::text::outline_text;
use model::time;
use store::Store;

use super::stop::{
    end_loop_if_overridden_by_harness, loop_overridden_by_harness, read_foreground_pointer, save_loop,
};
use super::{foreground_pointer, short_session_id};
use crate::features::{BriefContext, FeatureAnswer, ProjectContext};
use crate::hook::context::HookContext;
use crate::project::consent;
use crate::session::roster::{self, SessionEnd};
use crate::{Result, WriteMode};

const LOOP_BRIEF_SECTION: BriefSection = BriefSection {
    section_position: 0,
    rank_step_per_form: 12,
    name: "loop",
    title: "Loop",
    signal: ScoreSignal::Loop,
};
pub const BRIEF_SECTION_NAMES: &[&str] = &[LOOP_BRIEF_SECTION.name];

/// How many characters of the prompt are shown to a session that takes over a loop.
const MAX_PROMPT_CHARS_SHOWN: usize = 600;

/// The lengths, in characters, to which a brief can cut the quoted prompt.
const PROMPT_QUOTE_LENGTHS: [usize; 4] = [160, 400, 1_000, 4_000];

/// How many of the newest loops are searched for the loop of a session.
const MAX_LOOPS_EXAMINED: usize = 4;

/// How much of a loop's log is read to find the last stop of a session.
const LOG_TAIL_BYTES: u64 = 64 * 1024;

/// If a loop is waiting for the next session, assigns the loop to the session that has just started. The agent is
/// told about the loop at once, even if the session gets no brief.
pub fn claim_waiting_loop<'c>(
    context: &'c HookContext<'_>,
    source: StartSource,
) -> Result<FeatureAnswer<'c>> {
    let Some(pointer) = read_foreground_pointer(context)? else {
        return Ok(FeatureAnswer::no_action("there are no loops"));
    };
    if let Some(id) = loop_overridden_by_harness(context)?
        && context.mode == WriteMode::Write
    {
        end_loop_if_overridden_by_harness(context, &id)?;
    }
    // A compaction does not start a new session, so it does not claim the waiting loop.
    let waits = pointer.loop_for_next_session.as_deref().filter(|_| source != StartSource::Compact);
    let Some(next) = waits else {
        return Ok(FeatureAnswer::no_action("no loop is waiting for a session to start"));
    };
    let why = format!("loop {next} waits for the next session");
    let what = format!("make this session the owner of loops/{next}.md");
    Ok(FeatureAnswer::with_change(ReplyPart::silent(), why, what, move || {
        let is_free =
            |pointer: &ForegroundPointer| pointer.loop_of_session(context.session.as_str()).is_none();
        let claimed = take_over_loop(context, LoopEvent::Claimed, |pointer| {
            pointer.loop_for_next_session.clone().filter(|_| is_free(pointer))
        })?;
        let redact = context.project.settings.redact_options();
        Ok(claimed.map_or_else(ReplyPart::silent, |state| {
            ReplyPart::from_reply(Reply::ContextForAgent(describe_claimed_loop(&state, redact)))
        }))
    }))
}

/// Returns what a session would be told about the waiting loop if the session started now. Writes nothing.
pub(crate) fn preview_claimed_loop(project: &ProjectContext, session: Option<&Id>) -> Result<Option<String>> {
    let ProjectContext { store, settings, .. } = *project;
    let pointer = foreground_pointer(store)?;
    if session.is_some_and(|session| pointer.loop_of_session(session.as_str()).is_some()) {
        return Ok(None);
    }
    let Some(Ok(id)) = pointer.loop_for_next_session.as_deref().map(Id::new) else { return Ok(None) };
    let state = store.read_loop(&id)?.loop_state;
    let is_free = state.status == LoopStatus::Active && state.session.is_none();
    let is_claimed = is_free && consent::may_next_session_claim_loop(store, &state);
    Ok(is_claimed.then(|| describe_claimed_loop(&state, settings.redact_options())))
}

fn describe_claimed_loop(state: &Loop, redact: redact::RedactOptions) -> String {
    format!(
        "Throughline: the user started loop {} for the next session, which is this one: iteration {}. {} Whenever you stop, you get its prompt: {}\n",
        state.id,
        state.iteration_progress(),
        how_to_end_loop(state),
        in_quotation_marks(&Redacted::redact_whole(&state.prompt, redact), MAX_PROMPT_CHARS_SHOWN)
    )
}

/// Lets a session that continues under a new id keep its loop.
pub fn continue_under_new_id(context: &HookContext, previous: &Id) -> Result<()> {
    let pointer = read_foreground_pointer(context)?;
    if pointer.is_some_and(|pointer| pointer.loop_of_session(previous.as_str()).is_some()) {
        take_over_loop(context, LoopEvent::SessionIdChanged, |pointer| {
            pointer.loop_of_session(previous.as_str()).map(str::to_owned)
        })?;
    }
    Ok(())
}

/// Returns the brief's candidate about a loop. If a loop runs in the session that gets the brief, the candidate is
/// about that loop. Otherwise, it is about the last loop of the session that the brief describes. If that loop is still
/// active but its session is over, the loop runs nowhere, and the candidate names the command that gives it to a session.
pub fn brief_candidates(context: &BriefContext) -> Result<Vec<Candidate>> {
    let store = context.project.store;
    let end_of = |session: &Id| -> Result<Option<SessionEnd>> {
        let entries = context.roster.entries()?;
        Ok(roster::how_session_ended(entries, store, session.as_str(), context.project.world.now))
    };
    let mut running = match context.session {
        Some(session) => running_loop_of_session(store, session.as_str())?,
        None => None,
    };
    // On all other occasions, a hook of the session is reporting an event, so the session is running.
    let is_reader_over = match (context.session, context.occasion) {
        (None, BriefOccasion::Asked) => true,
        (Some(session), BriefOccasion::Asked) => end_of(session)?.is_some(),
        _ => false,
    };
    if let Some(state) = running.take_if(|_| !is_reader_over) {
        let about = format!(
            "{} was started by the user and runs in this session: iteration {}. {} Its prompt is the goal:",
            state.id,
            state.iteration_progress(),
            how_to_end_loop(&state)
        );
        return Ok(vec![loop_candidate(context, &state, &about)]);
    }
    // An agent that still has its conversation does not need to be reminded of its loop.
    let described = context.described_session.filter(|_| context.occasion != BriefOccasion::Replayed);
    let Some(session) = described else { return Ok(Vec::new()) };
    if let Some(state) = active_loop_of_session(store, session)
        && let Some(end) = end_of(session)?
    {
        let how_to_go_on = match is_reader_over {
            true => format!(
                "`thru loop activate {} --next` gives it to the next session that starts here.",
                state.id
            ),
            false => format!(
                "If the user wants it to go on, `thru loop activate {}` gives it to this session.",
                state.id
            ),
        };
        let about = format!(
            "{} is not running: its session {} {}, at iteration {}. {how_to_go_on} Its prompt was the goal:",
            state.id,
            short_session_id(session.as_str()),
            end.describe(),
            state.iteration_progress()
        );
        return Ok(vec![loop_candidate(context, &state, &about)]);
    }
    let Some(state) = last_loop_of_session(store, session) else { return Ok(Vec::new()) };
    let about = format!(
        "At iteration {}, {} {}. Its prompt was the goal:",
        state.iteration_progress(),
        state.id,
        describe_end_of_loop(&state, context.project.world.now)
    );
    let mut candidate = loop_candidate(context, &state, &about);
    candidate.strings_stating_fact = vec![state.prompt];
    Ok(vec![candidate])
}

/// Returns a candidate that quotes the loop's prompt. The agent gets the prompt again at every stop, so the prompt is
/// the session's goal, but the user's messages do not contain it.
fn loop_candidate(context: &BriefContext, state: &Loop, about: &str) -> Candidate {
    let prompt = Redacted::redact_whole(&state.prompt, context.project.settings.redact_options());
    let form =
        |most: usize| format!("{about} {}", in_quotation_marks(&outline_text(&prompt, most), most + 2));
    let mut candidate = Candidate::new(&LOOP_BRIEF_SECTION, format!("loop:{}", state.id), "");
    candidate.forms = PROMPT_QUOTE_LENGTHS.map(form).to_vec();
    candidate.forms.dedup();
    candidate
}

/// Returns the loop that a session last worked on, unless it is running. Returns `None` if the user did not start the
/// loop on this machine, has asked for other work since, or has cancelled the loop.
pub(crate) fn last_loop_of_session(store: &Store, session: &Id) -> Option<Loop> {
    let state = newest_loop_of_session(store, session)?;
    if !consent::is_started_here(store, &state) {
        return None;
    }
    let digest = store.current_digest(session, |_| {}).ok()?;
    let mut later = digest.prompts.iter().rev().take_while(|prompt| prompt.at > state.updated_at);
    // "Thanks, commit it" is about the loop's work.
    let is_still_about_loop = later.all(|prompt| prompt::names_no_work(&prompt.text));
    let is_over = matches!(state.status, LoopStatus::Done | LoopStatus::Paused);
    (is_still_about_loop && is_over).then_some(state)
}

/// Returns the active loop of a session, if the user started it on this machine.
pub(crate) fn active_loop_of_session(store: &Store, session: &Id) -> Option<Loop> {
    let state = newest_loop_of_session(store, session)?;
    (state.status == LoopStatus::Active && consent::is_started_here(store, &state)).then_some(state)
}

/// Returns whether a loop continued the session's work at its last stop, even if the loop has been given to another
/// session since. `digest` describes the session.
pub(crate) fn has_continued_after_last_stop(store: &Store, session: &Id, digest: &Digest) -> bool {
    // The user does not want the work of a cancelled loop to go on.
    let mut loops = newest_loops(store).into_iter().filter(|state| state.status != LoopStatus::Cancelled);
    loops.any(|state| {
        let Ok(id) = Id::new(&state.id) else { return false };
        // Only the last stop matters, and a loop's log can be long.
        let entries = store.recent_loop_log_entries(&id, LOG_TAIL_BYTES).unwrap_or_default();
        let fed = log::last_continuation(&entries, session.as_str());
        fed.is_some_and(|fed| digest.was_last_stopped_by(fed))
    })
}

/// Returns the sessions that owned a loop before its present owner, each with the time from which it owned the loop,
/// according to the loop's log.
pub(crate) fn earlier_owners(store: &Store, state: &Loop) -> Vec<(Id, String)> {
    let Ok(id) = Id::new(&state.id) else { return Vec::new() };
    let mut owners: Vec<(Id, String)> = Vec::new();
    let tally = store.each_loop_log_entry(&id, |entry| {
        let owner = entry.session.filter(|owner| state.session.as_ref() != Some(owner));
        if let Some(Ok(owner)) = owner.map(|owner| Id::new(&owner))
            && !owners.iter().any(|(known, _)| *known == owner)
        {
            owners.push((owner, entry.ts));
        }
    });
    // If the log cannot be read, no earlier owner is known.
    if tally.is_ok() { owners } else { Vec::new() }
}

/// Returns whether the last work of a session was a loop that another session took over and finished.
pub(crate) fn has_other_session_finished_loop(store: &Store, digest: &Digest) -> bool {
    let finished = newest_loops(store).into_iter().filter(|state| state.status == LoopStatus::Done);
    finished.filter(|state| consent::is_started_here(store, state)).any(|state| {
        let mut owners = earlier_owners(store, &state).into_iter();
        owners.any(|(owner, since)| owner.as_str() == digest.session && worked_only_on_loop(digest, &since))
    })
}

/// Returns false if the user asked a session for other work after a loop began to run in it.
pub(crate) fn worked_only_on_loop(digest: &Digest, since: &str) -> bool {
    let mut later = digest.prompts.iter().filter(|prompt| prompt.at.as_str() > since);
    later.all(|prompt| prompt::names_no_work(&prompt.text))
}

fn newest_loop_of_session(store: &Store, session: &Id) -> Option<Loop> {
    newest_loops(store).into_iter().find(|state| state.session.as_deref() == Some(session.as_str()))
}

fn newest_loops(store: &Store) -> Vec<Loop> {
    let mut ids = store.loop_ids().unwrap_or_default();
    // An id begins with the time at which its loop was created, so this puts the newest loop first.
    ids.sort_by(|a, b| b.as_str().cmp(a.as_str()));
    let newest = ids.iter().take(MAX_LOOPS_EXAMINED);
    newest.filter_map(|id| Some(store.read_loop(id).ok()?.loop_state)).collect()
}

/// Returns whether one of the newest loops ran in a session, whatever became of the loop.
pub(crate) fn has_had_loop(store: &Store, session: &Id) -> bool {
    newest_loop_of_session(store, session).is_some()
}

/// Returns the loop that runs in a session, if the user started it on this machine.
pub fn running_loop_of_session(store: &Store, session: &str) -> Result<Option<Loop>> {
    let pointer = foreground_pointer(store)?;
    let Some(Ok(id)) = pointer.loop_of_session(session).map(Id::new) else { return Ok(None) };
    let state = store.read_loop(&id)?.loop_state;
    let runs = state.status == LoopStatus::Active && consent::is_started_here(store, &state);
    Ok(runs.then_some(state))
}

/// Makes this session the owner of the loop that `which` returns, if that loop is still available.
fn take_over_loop(
    context: &HookContext,
    event: LoopEvent,
    which: impl Fn(&ForegroundPointer) -> Option<String>,
) -> store::Result<Option<Loop>> {
    let ProjectContext { world, store, settings, .. } = context.project;
    let session = context.session;
    let _lock = store.lock_loops(context.deadline.lock_wait())?;
    let mut pointer = foreground_pointer(store)?;
    let Some(Ok(id)) = which(&pointer).map(|id| Id::new(&id)) else { return Ok(None) };
    let record = store.read_loop(&id)?;
    let mut next = record.loop_state.clone();
    if next.status != LoopStatus::Active {
        pointer.remove_loop(id.as_str());
        store.write_foreground_pointer(&pointer)?;
        return Ok(None);
    }
    let may_have = match event {
        // A session that continues under a new id keeps its loop. Any other session gets the loop only if the loop is
        // waiting for the next session.
        LoopEvent::Claimed => next.session.is_none() && consent::may_next_session_claim_loop(store, &next),
        _ => consent::is_started_here(store, &next),
    };
    if !may_have {
        return Ok(None);
    }
    next.session = Some(session.to_string());
    // The position counts the calls and records of the previous owner, so it means nothing in this session.
    if let Some(last) = &mut next.last_stop {
        last.session_position = None;
    }
    next.set_updated_time(world.now);
    save_loop(store, &id, &record, &next)?;
    pointer.set_foreground_loop_of_session(id.as_str(), session.as_str());
    store.write_foreground_pointer(&pointer)?;
    let entry = LoopLogEntry {
        session: Some(session.to_string()),
        ..LoopLogEntry::new(&time::to_rfc3339(world.now), event, next.iteration)
    };
    store.append_loop_log(&id, &entry, settings.log_limit_bytes())?;
    Ok(Some(next))
}
