//! The hot path: reads one event from a harness on stdin, records it on disk, and replies. A hook never fails, never
//! keeps the agent from stopping, and never starts a process. The only exception is a loop that the user started.
//! When the agent in the loop's session is about to stop, the loop may keep it working and run validators.

pub(crate) mod checkpoint;
pub(crate) mod context;
pub(crate) mod deadline;
pub mod explain;
mod locate;
pub mod lost;
pub mod receipt;
pub(crate) mod transcript_replay;

use std::cell::{OnceCell, RefCell};
use std::mem::ManuallyDrop;
use std::path::Path;
use std::time::Instant;

use harness::Harness;
pub use harness::is_complete_payload;
use model::brief::Brief;
use model::decide::{self, NotCapturedReason, StoreChange, StoreStateBeforeEvent};
use model::digest::Digest;
use model::event::{Event, EventKind, StartSource};
use model::id::Id;
use model::journal::{self, JournalRecord};
use model::marker::{ProjectId, RootMarker};
use model::redact::Redacted;
use model::reply::{Reply, ReplyPart, combine_replies};
use model::session::{PendingBrief, SessionOrigin};
use store::feed::FeedCursor;

use crate::features::{self, FEATURES, ProjectContext};
use crate::process::alive;
use crate::project::settings::{self, HookSettings};
use crate::session::brief::{self, BriefRequest};
use crate::session::facts::ExaminedFiles;
use crate::{Result, World, WriteMode};

use crate::session::{context_held, sent};
use checkpoint::CheckpointInput;
use context::HookContext;
use deadline::Deadline;
use explain::HookTrace;

/// The length to which branch names are cut, in bytes.
const MAX_BRANCH_BYTES: usize = 256;

#[derive(Clone, Copy, Debug)]
pub struct HookCall<'a> {
    pub harness: &'a str,
    pub event: &'a str,
    pub payload: &'a [u8],
    pub started_at: Instant,
}

/// Handles one event and returns the bytes to print. After an error nothing is printed, and a receipt is written if
/// possible.
pub fn run_hook(world: &World, call: &HookCall) -> Vec<u8> {
    handle_payload(world, call, WriteMode::Write, &mut HookTrace::disabled())
}

/// Decodes the payload, finds the root, checks whether the root is trusted, and then calls
/// [`TrustedHook::handle_event`].
fn handle_payload(world: &World, call: &HookCall, mode: WriteMode, trace: &mut HookTrace) -> Vec<u8> {
    // thru sets `THROUGHLINE_HOOK` for the validators and harness programs that it starts, so that their hooks do
    // nothing.
    for variable in ["THROUGHLINE_DISABLE", "THROUGHLINE_HOOK"] {
        if world.is_variable_on(variable) {
            return trace.silent_reply(|| format!("${variable} is set: hooks do nothing"));
        }
    }
    let Some(harness) = harness::harness_by_name(call.harness) else {
        let why = format!("unknown harness `{}`", call.harness);
        receipt::leave_receipt_without_root(world, call, mode, &why);
        return trace.silent_reply(|| why);
    };
    let payload = call.payload.strip_prefix(b"\xef\xbb\xbf").unwrap_or(call.payload);
    let decoded = (harness.decode)(payload, call.event).map(Event::detach_if_forked);
    trace.record_event(&decoded);
    let event = decoded.as_ref().ok();
    let (root, store, marker) = match locate::find_root(world, harness, call, event) {
        Ok(Some(found)) => found,
        Ok(None) => {
            return trace.silent_reply(|| locate::why_no_root(world, harness, event));
        }
        Err(error) => {
            let why = error.to_string();
            let reason = reason_of_error(&error, NotCapturedReason::MarkerUnusable { why: &why }, &why);
            let off = NotCaptured { world, harness, event, root: error.path() };
            return off.reply_unless_disabled(reason, trace, &format!("the root cannot be used: {why}"));
        }
    };
    trace.record_root(&root);
    // The process ends as soon as the event has been handled, and then the kernel closes its files. Not closing them
    // here saves system calls.
    let mut store = ManuallyDrop::new(store);
    let trust = world.trust_records().map(ManuallyDrop::new);
    let off = NotCaptured { world, harness, event, root: &root.path };
    let trusted = match trust.as_ref().map(|trust| trust.is_trusted(&marker.project_id, &root.path)) {
        Some(Ok(trusted)) => trusted,
        Some(Err(error)) => {
            let why = error.to_string();
            let silent = format!("cannot determine whether this root is trusted: {why}");
            // Another user could have forged an exposed state folder, so no receipt is written there.
            if !matches!(error, store::Error::Exposed { .. }) {
                receipt::leave_receipt_without_root(world, call, mode, &silent);
            }
            let reason = reason_of_error(&error, NotCapturedReason::TrustUnknown { why: &why }, &why);
            return off.reply_unless_disabled(reason, trace, &silent);
        }
        // Without these variables there is no state folder, so there is no place for a receipt either.
        None => {
            let why = "neither HOME nor XDG_STATE_HOME is set";
            let silent = format!("{why}, so thru cannot tell whether this root is trusted");
            return off.reply_unless_disabled(NotCapturedReason::TrustUnknown { why }, trace, &silent);
        }
    };
    // The consent records are not needed for a tool call, because handling it never runs a command or gives the agent a
    // prompt.
    let is_tool_call = matches!(decoded.as_ref().map(|event| &event.kind), Ok(EventKind::ToolDone(_)));
    if trusted && !is_tool_call {
        store.add_machine_records(world.state_folder().as_deref(), &marker.project_id, &root.path);
    }
    let HookSettings { settings, problem } = settings::settings_for_hook(world, trusted.then_some(&*store));
    trace.record_trust(trusted, &settings);
    if !settings.hooks_enabled {
        let silent = "hooks.enabled is false: hooks do nothing";
        // Send no notice. A user who has set the variable knows that nothing is captured, and in an untrusted root,
        // nobody expects anything to be captured.
        if !trusted || (world.read_variable)("THROUGHLINE_HOOKS_ENABLED").is_some() {
            return trace.silent_reply(|| silent.to_owned());
        }
        return off.reply(NotCapturedReason::Disabled, trace, silent);
    }
    if !trusted {
        let is_start = event.is_some_and(|event| matches!(event.kind, EventKind::SessionStart { .. }));
        let from = || trust.as_ref()?.former_path(&marker.project_id, &root.path).ok()?;
        let from = is_start.then(from).flatten();
        let why =
            from.as_deref().map_or(NotCapturedReason::Untrusted, |from| NotCapturedReason::Moved { from });
        let silent = "the root is not trusted on this machine; the user is told only when a session starts";
        return off.reply(why, trace, silent);
    }
    let deadline = Deadline::of_event(event.map(|event| &event.kind), &settings, call.started_at);
    store.set_deadline(deadline.end());
    let hook = TrustedHook {
        project: ProjectContext { world, root: &root, store: &store, settings: &settings },
        call,
        harness,
        deadline,
        project_id: &marker.project_id,
        mode,
        errors: RefCell::default(),
        // Most tool calls leave no receipt, so problems with the settings are reported only at other events.
        warnings: RefCell::new(problem.filter(|_| !is_tool_call).into_iter().collect()),
    };
    match &decoded {
        Ok(event) => hook.handle_event(event, &marker, trace),
        Err(why) => {
            hook.add_receipt_error(why);
            // The receipt contains thru's name for the event, as all receipts do.
            let wired = harness.events.iter().find(|wired| wired.harness_event == call.event);
            hook.leave_receipt(wired.map_or(call.event, |wired| wired.our_event.name()), "");
            trace.silent_reply(|| why.to_string())
        }
    }
}

/// An event that is not captured although the user may expect it to be.
struct NotCaptured<'a> {
    world: &'a World<'a>,
    harness: &'static Harness,
    /// `None` if the payload cannot be decoded.
    event: Option<&'a Event<'a>>,
    root: &'a Path,
}

impl NotCaptured<'_> {
    /// Returns the reply to the event. `silent` is the reason for `thru debug hook` if nothing is sent.
    fn reply(&self, reason: NotCapturedReason, trace: &mut HookTrace, silent: &str) -> Vec<u8> {
        let Some(event) = self.event else { return trace.silent_reply(|| silent.to_owned()) };
        let reply = decide::not_captured_notice(&event.kind, &self.root.to_string_lossy(), reason);
        trace.record_reply(self.harness, event, &reply, silent)
    }

    /// Like [`NotCaptured::reply`], for an event whose settings have not been read yet. A user who turned off hooks
    /// expects nothing to be captured.
    fn reply_unless_disabled(
        &self,
        reason: NotCapturedReason,
        trace: &mut HookTrace,
        silent: &str,
    ) -> Vec<u8> {
        let is_start = self.event.is_some_and(|event| matches!(event.kind, EventKind::SessionStart { .. }));
        if is_start && !settings::settings_for_hook(self.world, None).settings.hooks_enabled {
            return trace.silent_reply(|| silent.to_owned());
        }
        self.reply(reason, trace, silent)
    }
}

/// Returns the reason why nothing is captured after an error. A file of a newer version has its own reason, because its
/// remedy differs.
fn reason_of_error<'a>(
    error: &store::Error,
    usual: NotCapturedReason<'a>,
    why: &'a str,
) -> NotCapturedReason<'a> {
    match error {
        store::Error::Foreign { .. } => NotCapturedReason::StoreTooNew { why },
        _ => usual,
    }
}

struct TrustedHook<'a> {
    project: ProjectContext<'a>,
    call: &'a HookCall<'a>,
    harness: &'static Harness,
    deadline: Deadline,
    project_id: &'a ProjectId,
    mode: WriteMode,
    /// Errors for the receipt, the most important one first.
    errors: RefCell<Vec<String>>,
    /// Warnings for the receipt about problems that are not failures.
    warnings: RefCell<Vec<String>>,
}

impl TrustedHook<'_> {
    fn handle_event(&self, event: &Event, marker: &RootMarker, trace: &mut HookTrace) -> Vec<u8> {
        let session = match Id::new(&event.session) {
            Ok(session) => session,
            Err(bad) => {
                self.add_receipt_error(&format!("the session id {}", bad.reason()));
                self.leave_receipt(event.kind.name(), &event.session);
                return trace.silent_reply(|| format!("the session id {}", bad.reason()));
            }
        };
        let name = event.kind.event_name();
        let checkout = self.project.root.checkout.to_string_lossy();
        let policy = context::record_policy_of(&self.project, self.harness, &checkout);
        self.catch_up_from_transcript(&session, event);
        self.report_lost_records(event);

        // If the reply may contain text that must be sent only once, take a lock, so that two hooks for the same
        // event run one after the other.
        let mut pending_brief = self.pending_compaction(&session, event);
        let turn = must_not_send_reply_twice(event, pending_brief).then(|| {
            let turn = self.project.store.lock_session_digest(&session, self.deadline.lock_wait());
            pending_brief = self.pending_compaction(&session, event);
            turn
        });
        let mut record = journal::record_of_event(event, &policy);
        if matches!(event.kind, EventKind::SessionStart { .. } | EventKind::BeforeCompact { .. }) {
            let head = store::git::read_head(&self.project.root.checkout).unwrap_or_default();
            record.branch = policy.redact_and_cut(&head.branch, MAX_BRANCH_BYTES).into_owned().into();
            record.head = head.commit.into();
        }
        let repeated = turn.is_some() && self.is_already_recorded(&session, &record);
        for feature in FEATURES.iter().filter(|feature| feature.wants_event(name)) {
            self.ok_or_note_error(
                feature.call_catching_panics(|| (feature.annotate)(&self.project, event, &mut record)),
            );
        }
        let process =
            matches!(event.kind, EventKind::SessionStart { .. }).then(alive::calling_harness_stamp).flatten();
        let is_start = matches!(event.kind, EventKind::SessionStart { .. });
        let session_origin = SessionOrigin {
            process_stamp: process.as_deref(),
            by_gate_run: is_start && self.project.world.is_inside_gate_run_launch(),
        };
        let facts = StoreStateBeforeEvent { mode: marker.mode, pending_brief, session_origin };
        let context = HookContext {
            project: self.project,
            harness: self.harness,
            deadline: self.deadline,
            mode: self.mode,
            session: &session,
            event,
            pending_brief,
            record: &record,
            warnings: &self.warnings,
            digest: OnceCell::new(),
        };
        self.continue_session(&context);
        trace.record_capture_facts(&facts, repeated);

        // The brief describes what happened before this event, so compose it before the event is recorded.
        let composed = (!repeated).then(|| self.compose_due_brief(&context)).flatten();
        let brief = composed.as_ref().and_then(|composed| composed.brief.clone());
        trace.record_brief(brief.as_ref());
        let effects = decide::changes_to_record_event(&facts, event, &record, &policy);
        trace.record_store_changes(&effects);
        let is_written = self.apply_effects(effects, &context);
        drop(turn);

        let mut parts = self.call_features(&context, trace);
        parts.push(brief.map_or_else(
            ReplyPart::silent,
            |Brief { text, sent_candidate_ids: candidate_ids }| ReplyPart {
                reply: Reply::ContextForAgent(text),
                candidate_ids,
            },
        ));
        if decide::sends_guidance_to_summariser(event, self.project.settings) {
            // Give the facts only to a summariser whose guidance the model cannot read. Otherwise, the brief would
            // repeat facts that the model has already read.
            let (facts, problems) = match self.harness.capabilities.hides_guidance_from_model {
                true => features::collect_facts_for_summary(&self.project),
                false => Default::default(),
            };
            problems.iter().for_each(|problem| self.add_receipt_error(problem));
            parts.push(ReplyPart::from_reply(decide::summariser_guidance(&facts)));
        }
        if let Err(error) = &is_written {
            let (root, why) = (self.project.root.path.to_string_lossy(), error.to_string());
            parts.push(ReplyPart::from_reply(decide::not_captured_notice(
                &event.kind,
                &root,
                NotCapturedReason::Unwritable { why: &why },
            )));
        }
        // If the payload was truncated, send no reply, because part of the event is missing.
        let ReplyPart { mut reply, candidate_ids } =
            if event.is_payload_truncated { ReplyPart::silent() } else { combine_replies(parts) };
        // Captured text has already been redacted. Packets, manifests, roles and plans are written by people, so
        // their text is redacted here.
        if let Reply::ContextForAgent(text)
        | Reply::ContextAndUser { context: text, .. }
        | Reply::GuideSummariser(text) = &mut reply
        {
            *text = Redacted::redact_whole(text, self.project.settings.redact_options()).to_string();
        }
        let answer =
            trace.record_reply(self.harness, event, &reply, "no feature has anything to say at this event");
        self.notify_features_of_reply(&context, &candidate_ids);
        if let Some(composed) = composed {
            self.record_context_content(&context, &composed, &candidate_ids);
            self.keep_sent_brief(&context, &composed, &reply, &answer);
        }

        if event.is_payload_truncated {
            self.add_receipt_error("the payload is truncated; the part before the cut was kept");
        }
        // For a successful tool call, the journal line serves as the receipt, which saves a write.
        if self.needs_receipt() || !matches!(event.kind, EventKind::ToolDone(_)) {
            self.leave_receipt(name.name(), &event.session);
        }
        answer
    }

    /// Calls every feature that handles this event, and applies its decision. If a feature returns an error, only its
    /// own answer is lost.
    fn call_features(&self, context: &HookContext, trace: &mut HookTrace) -> Vec<ReplyPart> {
        let mut parts = Vec::new();
        let name = context.event.kind.event_name();
        for feature in FEATURES.iter().filter(|feature| feature.wants_event(name)) {
            let decided = feature.call_catching_panics(|| (feature.decide)(context));
            trace.record_feature_decision(feature.name, &decided);
            let part = decided.and_then(|decision| match (decision.change, self.mode) {
                (Some(change), WriteMode::Write) => feature.call_catching_panics(change.apply),
                _ => Ok(decision.reply_part),
            });
            parts.extend(self.ok_or_note_error(part));
        }
        parts
    }

    fn compose_due_brief(&self, context: &HookContext) -> Option<brief::ComposedBrief> {
        let replays = self.harness.capabilities.replays_conversation;
        let occasion = decide::brief_occasion(context.event, context.pending_brief, replays)?;
        let previous = context.event.previous_session.as_deref().and_then(|id| Id::new(id).ok());
        let request = BriefRequest {
            project: self.project,
            occasion,
            session: Some(context.session),
            previous_session_id: previous.as_ref(),
            max_length: decide::max_brief_length(occasion, self.harness.max_context_length),
            mode: self.mode,
            examined: ExaminedFiles::OfSession,
        };
        let composed = brief::compose_brief(&request)?;
        composed.problems.iter().for_each(|problem| self.add_receipt_error(problem));
        Some(composed)
    }

    /// If the session continues under a new id, lets every feature move its state to that id.
    fn continue_session(&self, context: &HookContext) {
        let previous = context.event.previous_session.as_deref().and_then(|id| Id::new(id).ok());
        let Some(previous) = previous.filter(|previous| previous != context.session) else { return };
        if self.mode == WriteMode::Write {
            for feature in FEATURES {
                self.ok_or_note_error(
                    feature.call_catching_panics(|| (feature.continue_under_new_id)(context, &previous)),
                );
            }
        }
    }

    /// Records what the agent's context contains now, so that a resume does not repeat it.
    fn record_context_content(
        &self,
        context: &HookContext,
        composed: &brief::ComposedBrief,
        told: &[String],
    ) {
        if self.mode == WriteMode::Write {
            let now =
                composed.fact_fingerprints.iter().filter(|(id, _)| told.contains(id)).map(|(_, mark)| *mark);
            self.ok_or_note_error(context_held::remember_sent_facts(
                context,
                composed.occasion,
                now.collect(),
            ));
        }
    }

    /// Keeps the text that the model gets, so that `thru brief --as-sent` can show it.
    fn keep_sent_brief(
        &self,
        context: &HookContext,
        composed: &brief::ComposedBrief,
        reply: &Reply,
        answer: &[u8],
    ) {
        let text = match reply {
            Reply::ContextForAgent(text) | Reply::ContextAndUser { context: text, .. }
                if !answer.is_empty() =>
            {
                text
            }
            _ => "",
        };
        if self.mode == WriteMode::Write {
            self.ok_or_note_error(sent::keep_sent_brief(context, composed, text));
        }
    }

    fn notify_features_of_reply(&self, context: &HookContext, told: &[String]) {
        if self.mode == WriteMode::Write && !told.is_empty() {
            for feature in FEATURES {
                self.ok_or_note_error(
                    feature.call_catching_panics(|| (feature.after_reply_sent)(context, told)),
                );
            }
        }
    }

    /// If the transcript is the only record of what has happened, reads it before the event is handled. Lines that
    /// the harness has not written yet are read at the next stop.
    fn catch_up_from_transcript(&self, session: &Id, event: &Event) {
        if self.mode == WriteMode::Write && self.needs_transcript(session, event) {
            let _ = self.run_checkpoint(session, event, &|_| Ok(None));
        }
    }

    /// Reports records that could not be written earlier. This is done before anything else, so that a brief can
    /// mention the loss.
    fn report_lost_records(&self, event: &Event) {
        if self.mode != WriteMode::Write || matches!(event.kind, EventKind::ToolDone(_)) {
            return;
        }
        let told = lost::LossReportContext {
            harness: self.harness.name,
            session: Id::new(&event.session).map_or("", |_| event.session.as_ref()),
            limit: self.project.settings.log_limit_bytes(),
            deadline: self.deadline,
            reserves_space: matches!(event.kind, EventKind::SessionStart { .. }),
        };
        lost::report_and_clear_lost_records(self.project.world, self.project.store, self.project_id, &told);
    }

    fn needs_transcript(&self, session: &Id, event: &Event) -> bool {
        match event.kind {
            _ if event.subagent.is_some() => false,
            // If no hook reported a compaction, only the transcript shows it. A prompt is the first event at which thru
            // can react to it.
            EventKind::Prompt { .. } => !self.harness.capabilities.reports_every_compaction(),
            // Perhaps no hook has read the transcript yet. A fork has a new id, and a resumed or compacted session
            // may have started before the hooks were installed.
            EventKind::SessionStart {
                source: StartSource::Compact | StartSource::Resume | StartSource::Fork,
            } => {
                let previous = event.previous_session.as_deref().and_then(|id| Id::new(id).ok());
                event.transcript.is_some()
                    && [Some(session), previous.as_ref()]
                        .into_iter()
                        .flatten()
                        .all(|id| self.has_no_transcript_cursor(id))
            }
            EventKind::SessionStart {
                source: StartSource::Startup | StartSource::Clear | StartSource::Unknown,
            }
            | EventKind::ToolDone(_)
            | EventKind::BeforeCompact { .. }
            | EventKind::Summary { .. }
            | EventKind::AfterCompact { .. }
            | EventKind::SubagentStart
            | EventKind::SubagentStop { .. }
            | EventKind::Stop(_)
            | EventKind::SessionEnd { .. }
            | EventKind::Other { .. } => false,
        }
    }

    fn has_no_transcript_cursor(&self, session: &Id) -> bool {
        matches!(self.project.store.session_state(session).read_state::<FeedCursor>(), Ok(None))
    }

    /// Returns whether a compaction of the session was announced or its brief is due. This state is read only at
    /// events that need it.
    fn pending_compaction(&self, session: &Id, event: &Event) -> Option<PendingBrief> {
        match event.kind {
            // A sub-agent's event does not show whether its session was compacted.
            EventKind::ToolDone(_) if event.subagent.is_some() => None,
            EventKind::Prompt { .. }
            | EventKind::Summary { .. }
            | EventKind::AfterCompact { .. }
            | EventKind::SessionEnd { .. }
            | EventKind::ToolDone(_) => self.project.store.session_state(session).read_state().ok().flatten(),
            EventKind::SessionStart { .. }
            | EventKind::BeforeCompact { .. }
            | EventKind::SubagentStart
            | EventKind::SubagentStop { .. }
            | EventKind::Stop(_)
            | EventKind::Other { .. } => None,
        }
    }

    /// Returns whether another hook process has already recorded this event, which happens if hooks are installed
    /// twice.
    fn is_already_recorded(&self, session: &Id, record: &JournalRecord) -> bool {
        let store = self.project.store;
        // If a compaction was announced after the recorded event, this event belongs to that compaction and is not a
        // duplicate.
        matches!(store.session_state(session).read_state::<PendingBrief>(), Ok(None))
            && store.current_digest(session, |_| {}).is_ok_and(|digest| digest.was_just_reported(record))
    }

    /// Applies every effect, even if one fails. Returns an error if the event could not be written to the journal.
    fn apply_effects(&self, effects: Vec<StoreChange>, context: &HookContext) -> Result<()> {
        let mut journalled = Ok(());
        if self.mode == WriteMode::Write {
            for effect in effects {
                let is_journal = matches!(effect, StoreChange::AppendJournal(_));
                let applied = self
                    .apply_store_change(effect, context)
                    .inspect_err(|error| self.add_receipt_error(error));
                if is_journal {
                    journalled = applied;
                }
            }
        }
        journalled
    }

    fn apply_store_change(&self, effect: StoreChange, context: &HookContext) -> Result<()> {
        let ProjectContext { store, settings, .. } = self.project;
        let limit = settings.log_limit_bytes();
        match effect {
            StoreChange::AppendJournal(line) => store.append_journal(context.session, &line, limit)?,
            StoreChange::RegisterSession(line) => store.register_session(&line, limit)?,
            StoreChange::RememberSession => {
                store.record_session_in_marker(context.session, self.deadline.lock_wait())?;
            }
            StoreChange::Checkpoint => {
                let follow = |digest: &Digest| {
                    let mut beside = None;
                    for feature in FEATURES {
                        let problem = feature
                            .call_catching_panics(|| (feature.update_at_checkpoint)(context, digest))?;
                        beside = beside.or(problem);
                    }
                    Ok(beside)
                };
                let digest = self.run_checkpoint(context.session, context.event, &follow)?;
                // Features that ask for the digest later need not read it again.
                let _ = context.digest.set(Some(digest));
            }
            StoreChange::SetPending(pending) => {
                if let Some(Ok(previous)) = context.event.previous_session.as_deref().map(Id::new) {
                    // The brief is no longer due under the session's old id.
                    store.session_state(&previous).remove_state::<PendingBrief>()?;
                }
                let session = store.session_state(context.session);
                match pending {
                    Some(pending) => session.write_state(&pending)?,
                    None => session.remove_state::<PendingBrief>()?,
                }
            }
        }
        Ok(())
    }

    fn run_checkpoint(
        &self,
        session: &Id,
        event: &Event,
        update_features: checkpoint::UpdateFeaturesFn,
    ) -> Result<ManuallyDrop<Digest>> {
        let checkout = self.project.root.checkout.to_string_lossy();
        let done = checkpoint::run_checkpoint(&CheckpointInput {
            store: self.project.store,
            harness: self.harness,
            policy: context::record_policy_of(&self.project, self.harness, &checkout),
            session,
            event,
            log_limit_bytes: self.project.settings.log_limit_bytes(),
            is_launched_by_gate_run: self.project.world.is_inside_gate_run_launch(),
            deadline: self.deadline,
            update_features,
        })?;
        done.problem.iter().for_each(|problem| self.add_receipt_error(problem));
        Ok(done.digest)
    }

    fn add_receipt_error(&self, why: &(impl ToString + ?Sized)) {
        self.errors.borrow_mut().push(why.to_string());
    }

    /// Returns the value of `result`. If it is an error, adds the error to the receipt and returns `None`.
    fn ok_or_note_error<T>(&self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.add_receipt_error(&error)).ok()
    }

    fn needs_receipt(&self) -> bool {
        !self.errors.borrow().is_empty() || !self.warnings.borrow().is_empty()
    }
}

/// Returns whether the reply to this event may contain text that must not be sent twice.
fn must_not_send_reply_twice(event: &Event, pending: Option<PendingBrief>) -> bool {
    match event.kind {
        // A resume may repeat its reply, because a user who resumes a session expects a brief every time.
        EventKind::SessionStart { source: StartSource::Startup | StartSource::Compact } => {
            event.subagent.is_none()
        }
        EventKind::Prompt { .. } => pending.is_some(),
        EventKind::SessionStart { .. }
        | EventKind::ToolDone(_)
        | EventKind::BeforeCompact { .. }
        | EventKind::Summary { .. }
        | EventKind::AfterCompact { .. }
        | EventKind::SubagentStart
        | EventKind::SubagentStop { .. }
        | EventKind::Stop(_)
        | EventKind::SessionEnd { .. }
        | EventKind::Other { .. } => false,
    }
}
