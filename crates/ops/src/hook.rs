//! The hot path, whole: one harness event from stdin to disk. It never fails, never blocks, never spawns; a loop that the
//! user started is the one exception, at a stop of its own session.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub use harness::is_whole;
use harness::{Harness, Undecodable};
use model::config::Settings;
use model::decide::{Effect, Facts, Past, Verdict, decide};
use model::event::{Event, Kind, Source};
use model::id::Id;
use model::journal;
use model::marker::Marker;
use model::receipt::{Outcome, Receipt};
use model::redact::Redacted;
use model::reply::Reply;
use model::session::Pending;
use model::time;
use store::{Found, Root, Store, Wish, layout};

use crate::checkpoint::{self, Checkpoint};
use crate::deadline::Deadline;
use crate::role::events::Ear;
use crate::sweep::{self, Offer};
use crate::workstreams::{self, Place, Reminder};
use crate::{Result, World, alive, gate, init, loops, past, settings};

/// What the harness called us with.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    pub harness: &'a str,
    pub event: &'a str,
    pub payload: &'a [u8],
    pub started: Instant,
}

/// Handles one event; returns what to print. Anything wrong: nothing to print, and a receipt where one can be left.
pub fn run(world: &World, call: &Call) -> Vec<u8> {
    // Set in whatever we start ourselves, so that it cannot come back to us.
    if world.is_on("THROUGHLINE_DISABLE") || world.is_on("THROUGHLINE_HOOK") {
        return Vec::new();
    }
    let Some(harness) = harness::by_name(call.harness) else { return Vec::new() };
    let payload = call.payload.strip_prefix(b"\xef\xbb\xbf").unwrap_or(call.payload);
    let decoded = (harness.decode)(payload, call.event).map(Event::on_its_own_if_forked);
    let Some((root, store, marker)) = find_root(world, harness, call, decoded.as_ref().ok()) else {
        return Vec::new();
    };
    // The process ends with its event: the kernel closes the folder, and that is a call less.
    let store = ManuallyDrop::new(store);
    // Where trust cannot be looked up there is nothing to say either way.
    let Some(Ok(trusted)) = world.trust().map(|trust| trust.holds(&marker.project_id, &root.path)) else {
        return Vec::new();
    };
    let settings = settings::for_hook(world, trusted.then_some(&*store));
    if !settings.hooks_enabled {
        return Vec::new();
    }
    let kind = decoded.as_ref().ok().map(|event| &event.kind);
    let scene = Scene {
        world,
        call,
        harness,
        root: &root,
        store: &store,
        settings: &settings,
        deadline: Deadline::of_event(kind, &settings, call.started),
        warning: RefCell::default(),
    };
    match decoded {
        Ok(event) => scene.handle(&event, &marker, trusted),
        Err(why) if trusted => scene.refuse(&why),
        Err(_) => Vec::new(),
    }
}

struct Scene<'a> {
    world: &'a World<'a>,
    call: &'a Call<'a>,
    harness: &'static Harness,
    root: &'a Root,
    store: &'a Store,
    settings: &'a Settings,
    deadline: Deadline,
    /// For the receipt, although nothing failed.
    warning: RefCell<Option<String>>,
}

impl Scene<'_> {
    fn handle(&self, event: &Event, marker: &Marker, trusted: bool) -> Vec<u8> {
        let (root, checkout) = (self.root.path.to_string_lossy(), self.root.checkout.to_string_lossy());
        let session = Id::new(&event.session);
        if let Ok(session) = &session
            && trusted
            && self.needs_transcript(session, event)
        {
            // What it cannot tell now, the next stop will find.
            let _ = self.checkpoint(session, event);
        }
        let known = session.as_ref().ok().filter(|_| trusted);
        let mut pending = known.and_then(|session| self.pending(session, event));
        // Two hooks of one event take turns where something is told once.
        let turn = known.filter(|_| tells_once(event, pending)).map(|session| {
            let turn = self.store.lock_session(session, self.deadline.wait());
            pending = self.pending(session, event);
            turn
        });
        let again = turn.is_some() && known.is_some_and(|session| self.has_heard(session, event));
        let mut past = if trusted { past::gather(self.world, &self.place(), event, pending) } else { None };
        if let (Some(past), Ok(session)) = (&mut past, &session) {
            past.notes.extend(self.ear(session).notes(event));
        }
        let offer = match &mut past {
            Some(past) => self.offer(event, past),
            None => None,
        };
        let reminder = session.as_ref().ok().filter(|_| trusted).and_then(|id| self.reminder(id, event));
        let process = matches!(event.kind, Kind::SessionStart { .. }).then(alive::harness).flatten();
        let awaited =
            if trusted { gate::awaited(self.store, self.root, self.settings, event) } else { Ok(None) };
        let (awaited, unknown) = match awaited {
            Ok(awaited) => (awaited, None),
            Err(error) => (None, Some(error.to_string())),
        };
        let facts = Facts {
            harness: self.harness.name,
            root: &root,
            checkout: &checkout,
            trusted,
            mode: marker.mode,
            context_cap: self.harness.context_cap,
            past: past.as_ref().map(|past| Past {
                digest: &past.digest,
                problems: &past.problems,
                gone: &past.gone,
                notes: &past.notes,
            }),
            pending,
            again,
            process: process.as_deref(),
            awaited: awaited.as_ref(),
            reminder: reminder.as_ref().map(|reminder| reminder.text.as_str()),
        };
        let Verdict { mut effects, mut reply } = decide(&facts, event, self.settings, self.world.now);
        // What we captured is redacted already. Records that people write (packets, manifests, roles) are not.
        if let Reply::Context(text) = &mut reply {
            *text = Redacted::whole(text, self.settings.redact()).to_string();
        }
        if event.torn {
            // Who sends half a payload is in no state to take an answer: what is due stays due.
            effects.retain(|effect| !matches!(effect, Effect::SetPending(None)));
            reply = Reply::Silent;
        }
        if !trusted {
            return (self.harness.encode)(&reply, &event.kind);
        }
        let failure = match session {
            Ok(session) => {
                let torn = event
                    .torn
                    .then(|| "the payload breaks off; what stood before the tear was kept".to_owned());
                let failure = self.apply_all(effects, &session, event).or(torn).or(unknown);
                drop(turn);
                let (answer, trouble) = loops::stop::heed(&self.loops(&session), event, reply);
                reply = answer;
                let noted = self.note_told(&reply, &session, offer.as_ref(), reminder.as_ref());
                failure.or(trouble).or_else(|| noted.err().map(|error| error.to_string()))
            }
            Err(bad) => Some(format!("the session id {}", bad.why())),
        };
        // A tool call that went well has its journal line for a receipt: one write, not two.
        if failure.is_some() || self.warning.borrow().is_some() || !matches!(event.kind, Kind::ToolDone(_)) {
            self.leave_receipt(event.kind.name(), &event.session, failure);
        }
        (self.harness.encode)(&reply, &event.kind)
    }

    /// Whether only the transcript knows what there is to speak of.
    fn needs_transcript(&self, session: &Id, event: &Event) -> bool {
        match event.kind {
            _ if event.agent.is_some() => false,
            // A compaction that no hook told of shows there, and this is the first chance to speak of it.
            Kind::Prompt { .. } => !self.harness.tells_all,
            // A fork has an id that no hook has seen; others began before the hooks were there.
            Kind::SessionStart { source: Source::Compact | Source::Resume | Source::Fork } => {
                let previous = event.previous.as_deref().and_then(|id| Id::new(id).ok());
                event.transcript.is_some()
                    && [Some(session), previous.as_ref()].into_iter().flatten().all(|id| self.is_unseen(id))
            }
            _ => false,
        }
    }

    fn is_unseen(&self, session: &Id) -> bool {
        matches!(self.store.dir().look(&layout::journal(session)), Ok(None))
    }

    fn loops<'s>(&'s self, session: &'s Id) -> loops::stop::Scene<'s> {
        let Scene { world, harness, root, store, settings, deadline, .. } = *self;
        loops::stop::Scene { world, harness, root, store, settings, deadline, session }
    }

    fn refuse(&self, why: &Undecodable) -> Vec<u8> {
        // By our name, as every other receipt of this event.
        let wired = self.harness.events.iter().find(|wired| wired.event == self.call.event);
        self.leave_receipt(wired.map_or(self.call.event, |wired| wired.neutral), "", Some(why.to_string()));
        Vec::new()
    }

    fn place(&self) -> Place<'_> {
        Place { root: self.root, store: self.store, settings: self.settings }
    }

    /// At a prompt: which files of the manifest are still unread though work goes on.
    fn reminder(&self, session: &Id, event: &Event) -> Option<Reminder> {
        let asked = matches!(event.kind, Kind::Prompt { .. }) && event.agent.is_none();
        (asked && self.settings.gate_reminders)
            .then(|| workstreams::reminder(&self.place(), session))
            .flatten()
    }

    /// At the start of a new session: what one that broke off has left.
    fn offer(&self, event: &Event, past: &mut past::Gathered) -> Option<Offer> {
        let new = matches!(event.kind, Kind::SessionStart { source: Source::Startup });
        let offer = new.then(|| sweep::offer(self.world, self.store, self.root, &event.session)).flatten()?;
        past.notes.push(offer.note.clone());
        Some(offer)
    }

    /// What is told once counts as told when the answer holds it: a brief has a limit, and a reminder may have to wait for it.
    fn note_told(
        &self,
        reply: &Reply,
        session: &Id,
        offer: Option<&Offer>,
        reminder: Option<&Reminder>,
    ) -> Result<()> {
        let Reply::Context(text) = reply else { return Ok(()) };
        if let Some(offer) = offer.filter(|offer| offer.is_in(text)) {
            offer.was_told(self.store)?;
        }
        if let Some(reminder) = reminder.filter(|reminder| text.contains(&reminder.text)) {
            reminder.was_told(self.store, session)?;
        }
        Ok(())
    }

    /// Looked at only where it can matter.
    fn pending(&self, session: &Id, event: &Event) -> Option<Pending> {
        match event.kind {
            // What a sub-agent does says nothing about its session's compaction.
            Kind::ToolDone(_) if event.agent.is_some() => None,
            Kind::Prompt { .. }
            | Kind::Summary { .. }
            | Kind::AfterCompact { .. }
            | Kind::SessionEnd { .. }
            | Kind::ToolDone(_) => self.store.pending(session).ok().flatten(),
            _ => None,
        }
    }

    /// Every effect is tried, whatever became of the others; the first failure is the one told.
    fn apply_all(&self, effects: Vec<Effect>, session: &Id, event: &Event) -> Option<String> {
        let failures = effects.into_iter().filter_map(|effect| self.apply(effect, session, event).err());
        failures.map(|error| error.to_string()).reduce(|first, _| first)
    }

    fn apply(&self, effect: Effect, session: &Id, event: &Event) -> Result<()> {
        let limit = self.settings.log_limit_bytes;
        match effect {
            Effect::Journal(line) => self.store.append_journal(session, &line, limit)?,
            Effect::Register(line) => self.store.append_session(&line, limit)?,
            Effect::RememberSession => self.store.remember_session(session, self.deadline.wait())?,
            Effect::Checkpoint => self.checkpoint(session, event)?,
            Effect::SetPending(pending) => self.set_pending(session, event, pending)?,
            Effect::KeepMessage { file, text } => {
                gate::keep_message(self.store, self.root, self.settings, &file, &text)?;
            }
            Effect::Role(what) => {
                *self.warning.borrow_mut() = self.ear(session).hear(event, &what)?;
            }
        }
        Ok(())
    }

    fn ear<'a>(&'a self, session: &'a Id) -> Ear<'a> {
        Ear {
            world: self.world,
            store: self.store,
            root: self.root,
            settings: self.settings,
            by: self.harness.name,
            session: Some(session),
            deadline: self.deadline,
        }
    }

    fn checkpoint(&self, session: &Id, event: &Event) -> store::Result<()> {
        checkpoint::run(&Checkpoint {
            store: self.store,
            harness: self.harness,
            scene: self.scene(&self.root.checkout.to_string_lossy()),
            session,
            event,
            root: self.root,
            settings: self.settings,
            limit: self.settings.log_limit_bytes,
            deadline: self.deadline,
        })
    }

    fn scene<'s>(&'s self, checkout: &'s str) -> journal::Scene<'s> {
        journal::Scene {
            harness: self.harness.name,
            checkout,
            redact: self.settings.redact(),
            now: self.world.now,
        }
    }

    /// Whether another hook was told of this event.
    fn has_heard(&self, session: &Id, event: &Event) -> bool {
        let checkout = self.root.checkout.to_string_lossy();
        let record = journal::record(event, &self.scene(&checkout));
        // A compaction that was announced since is another one.
        matches!(self.store.pending(session), Ok(None))
            && self.store.digest(session, |_| {}).is_ok_and(|digest| digest.has_heard(&record))
    }

    /// Where a session goes on under another id, the brief was due to the old one.
    fn set_pending(&self, session: &Id, event: &Event, pending: Option<Pending>) -> store::Result<()> {
        if let Some(Ok(previous)) = event.previous.as_deref().map(Id::new) {
            self.store.set_pending(&previous, None)?;
            workstreams::move_state(self.store, &previous, session)?;
        }
        self.store.set_pending(session, pending)
    }

    fn leave_receipt(&self, event: &str, session: &str, error: Option<String>) {
        // An error can quote what it stumbled over, and that came from the harness.
        let options = self.settings.redact();
        let clean = |text: &str, most| Redacted::head(text, most, options).to_string();
        let receipt = Receipt {
            ts: time::rfc3339(self.world.now),
            harness: self.harness.name.to_owned(),
            event: clean(event, 64),
            session: clean(session, 128),
            ms: (self.call.started.elapsed().as_micros() as f64) / 1000.0,
            outcome: if error.is_some() { Outcome::Failed } else { Outcome::Ok },
            error: error.map(|error| clean(&error, 500)),
            warning: self.warning.borrow().as_ref().map(|warning| clean(warning, 500)),
        };
        // The last resort itself: there is nobody left to tell.
        let _ = self.store.append_receipt(&receipt.line(), self.settings.log_limit_bytes);
    }
}

/// Whether the answer to this event holds what must not be told a second time.
fn tells_once(event: &Event, pending: Option<Pending>) -> bool {
    match event.kind {
        // Whoever resumes asks for it, as often as that is.
        Kind::SessionStart { source: Source::Startup | Source::Compact } => event.agent.is_none(),
        Kind::Prompt { .. } => pending.is_some(),
        _ => false,
    }
}

/// The harness's project folder first: it stays where the session began, while `cwd` follows `cd`.
fn find_root(
    world: &World,
    harness: &Harness,
    call: &Call,
    event: Option<&Event>,
) -> Option<(Root, Store, Marker)> {
    let explicit = world.path("THROUGHLINE_ROOT");
    let project = world.path(harness.project_dir);
    let cwd = event.and_then(|e| e.cwd.as_deref()).map(PathBuf::from).filter(|path| path.is_absolute());
    let mut starts: Vec<&Path> = project.as_deref().into_iter().collect();
    starts.extend(cwd.as_deref().filter(|cwd| Some(*cwd) != project.as_deref()));
    match store::find(&Wish { explicit: explicit.as_deref(), starts: &starts }) {
        Ok(Found::Marked { root, store, marker }) => {
            let checkout = cwd.as_deref().and_then(|cwd| checkout_of(&root, cwd)).unwrap_or(root.checkout);
            Some((Root { path: root.path, checkout }, store, marker))
        }
        Ok(Found::Unmarked(root)) => auto_init(world, root, call, event?),
        Err(_) => None,
    }
}

/// A session can move into a worktree of the project it began in: the event comes from where it stands now.
fn checkout_of(root: &Root, cwd: &Path) -> Option<PathBuf> {
    if cwd == root.checkout {
        return None;
    }
    match store::find(&Wish { explicit: None, starts: &[cwd] }) {
        Ok(Found::Marked { root: other, .. }) if other.path == root.path => Some(other.checkout),
        _ => None,
    }
}

/// Off unless the user asked for it; nobody wants a folder in every repository.
fn auto_init(world: &World, root: Root, call: &Call, event: &Event) -> Option<(Root, Store, Marker)> {
    let startup = matches!(event.kind, Kind::SessionStart { source: Source::Startup });
    let settings = settings::for_hook(world, None);
    if !startup || !settings.hooks_enabled || !settings.hooks_auto_init || is_too_high(world, &root.path) {
        return None;
    }
    init::refuse_below_another(world, &root).ok()?;
    let wait = Deadline::of_event(Some(&event.kind), &settings, call.started).wait();
    let created = init::create(world, &root, &init::Options::default(), wait).ok()?;
    let store = Store::at(&root.path).ok()??;
    Some((root, store, created.marker))
}

/// A root in the home folder, or above it, would take in everything below.
fn is_too_high(world: &World, path: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let path = real(path);
    path.parent().is_none() || world.path("HOME").is_some_and(|home| real(&home).starts_with(path))
}
