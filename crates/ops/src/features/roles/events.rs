//! Updates a role when an event occurs in its session. Only hooks run this code. For a session without a role, they
//! read just one small file.

use std::time::Duration;

use jiff::Timestamp;
use model::brief::{BriefOccasion, Candidate};
use model::config::Settings;
use model::event::{Event, EventKind, FileAction, StartSource};
use model::id::Id;
use model::render::in_backticks;
use model::reply::ReplyPart;
use model::role::event::{RoleEvent, role_event};
use model::role::lifecycle::{ContextFileValidity, ForceStep, LifecycleEvent, LifecycleStepActor};
use model::role::{self, ContextFile, FactsOutsideContextFile, RoleFacts};
use store::role::{LifecycleChange, MissingLifecycle, RoleBinding};

use crate::features::{BriefContext, FeatureAnswer, ProjectContext};
use crate::hook::context::HookContext;
use crate::hook::deadline::Deadline;
use crate::{Error, Result};

/// A new session gets at most this many candidates about its role: the name of the role and its goal.
const MAX_CANDIDATES_AT_STARTUP: usize = 2;

/// What changes the state of a role: a session's hook, or a user at a terminal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoleStateChanger<'a> {
    pub project: ProjectContext<'a>,
    /// The name of the harness, or `cli` for a command.
    pub actor: &'a str,
    /// The session, or `None` for a user at a terminal who is not in a session.
    pub session: Option<&'a Id>,
    /// The session's previous id, if it continues under a new id.
    pub previous_session: Option<&'a str>,
    pub deadline: Deadline,
}

pub fn decide<'c>(context: &'c HookContext<'_>) -> Result<FeatureAnswer<'c>> {
    let Some(happened) = role_event(context.event, context.pending_brief, &context.record.files) else {
        return Ok(FeatureAnswer::no_action("the event says nothing about a role"));
    };
    let is_new = is_new_session(context.event);
    let mover = RoleStateChanger {
        project: context.project,
        actor: context.harness.name,
        session: Some(context.session),
        previous_session: context.event.previous_session.as_deref(),
        deadline: context.deadline,
    };
    let Some((role, known)) = mover.session_role(is_new)? else {
        return Ok(FeatureAnswer::no_action("the session has no role"));
    };
    // A variable alone does not create a role, because its value may be outdated.
    if known == SessionRoleOrigin::Variable && !mover.has_records(&role)? {
        return Ok(FeatureAnswer::no_action(format!(
            "a variable names the role {role}, which has no context file"
        )));
    }
    let why = format!("the session has the role {role}");
    let what = format!("move the lifecycle of {role}: {happened:?}");
    Ok(FeatureAnswer::with_change(ReplyPart::silent(), why, what, move || {
        mover.register_role(&role, known)?;
        if let Some(warning) = mover.apply_event(&role, &happened)? {
            context.add_warning(warning);
        }
        Ok(ReplyPart::silent())
    }))
}

/// Returns whether the event starts a new session, to which no role can have been bound yet.
fn is_new_session(event: &Event) -> bool {
    let new =
        matches!(event.kind, EventKind::SessionStart { source: StartSource::Startup | StartSource::Clear });
    new && event.previous_session.is_none()
}

/// Lets a session that continues under a new id keep its role.
pub fn continue_under_new_id(context: &HookContext, previous: &Id) -> Result<()> {
    Ok(context.project.store.session_state(context.session).inherit_from_session::<RoleBinding>(previous)?)
}

pub fn brief_candidates(context: &BriefContext) -> Result<Vec<Candidate>> {
    let ProjectContext { world, root, settings, .. } = context.project;
    let mover = RoleStateChanger {
        project: context.project,
        actor: "",
        session: context.session,
        previous_session: None,
        deadline: Deadline::of_command(Duration::ZERO),
    };
    let is_new = context.occasion == BriefOccasion::Started;
    let Some((role, _)) = mover.session_role(is_new)? else { return Ok(Vec::new()) };
    let found = match super::find_context_file(root, settings, &role) {
        Ok(found) => found,
        Err(error) => {
            let text =
                format!("{role}; its context file cannot be read: {}", in_backticks(&error.to_string(), 300));
            return Ok(vec![Candidate::new(&role::ROLE_BRIEF_SECTION, format!("role:{role}:name"), text)]);
        }
    };
    let would_be = || super::expected_context_file_path(root, settings, &role).unwrap_or_default();
    let path = found.as_ref().map_or_else(would_be, |file| file.display_path.clone());
    let file = found.map(|file| ContextFile::read(file.bytes));
    let report = file.as_ref().map(|file| file.check(&lifecycle_facts(settings, world.now)));
    let mut candidates = role::role_candidates(&RoleFacts {
        role: &role,
        path: &path,
        file: file.as_ref(),
        report: report.as_ref(),
        redact_options: settings.redact_options(),
    });
    if is_new {
        candidates.truncate(MAX_CANDIDATES_AT_STARTUP);
    }
    Ok(candidates)
}

fn lifecycle_facts(settings: &Settings, now: Timestamp) -> FactsOutsideContextFile<'static> {
    FactsOutsideContextFile {
        now,
        stale_hours: settings.roles_stale_hours,
        newest_commit: None,
        missing_key_files: &[],
    }
}

impl RoleStateChanger<'_> {
    /// Changes the state of the role. Returns a warning for the user if something is wrong with the role's context
    /// file or state.
    fn apply_event(&self, role: &Id, happened: &RoleEvent) -> Result<Option<String>> {
        let happened = match happened {
            RoleEvent::Started => return Ok(None),
            RoleEvent::Continued => LifecycleEvent::Start,
            RoleEvent::NotCompacted => LifecycleEvent::NotCompacted,
            RoleEvent::Compacting => return self.record_compaction(role),
            RoleEvent::ContextFilesTouched(files) => {
                let own = files.iter().filter(|file| role::role_of_file(&file.path).as_ref() == Some(role));
                // Use the last action, because one command can read the file and then write it.
                match own.map(|file| file.action).next_back() {
                    Some(FileAction::Read) => LifecycleEvent::FileRead,
                    Some(FileAction::Edit | FileAction::Create) => LifecycleEvent::FileEdited,
                    Some(FileAction::Delete | FileAction::Mention) | None => return Ok(None),
                }
            }
        };
        self.step_lifecycle(role, happened)
    }

    /// Records a compaction. Before that, checks the context file in the same way as `thru context validate`, but
    /// without starting a process.
    pub(crate) fn record_compaction(&self, role: &Id) -> Result<Option<String>> {
        let ProjectContext { world, root, settings, .. } = self.project;
        let Some(file) = super::find_context_file(root, settings, role)? else {
            return Ok(Some(format!(
                "the role {role} has no context file; `thru context new {role}` creates one"
            )));
        };
        let report = ContextFile::read(file.bytes).check(&lifecycle_facts(settings, world.now));
        let validity =
            if report.is_valid() { ContextFileValidity::Valid } else { ContextFileValidity::Invalid };
        let warning = self.step_lifecycle(role, LifecycleEvent::Compaction(validity))?;
        if validity == ContextFileValidity::Valid {
            return Ok(warning);
        }
        let errors: Vec<String> = report.errors().iter().map(ToString::to_string).collect();
        Ok(Some(format!("{} is not valid: {}", file.display_path, errors.join("; "))))
    }

    fn step_lifecycle(&self, role: &Id, happened: LifecycleEvent) -> Result<Option<String>> {
        let ProjectContext { world, store, .. } = self.project;
        let session = self.session.map(Id::as_str);
        let actor = LifecycleStepActor {
            actor: self.actor,
            session,
            previous_session: self.previous_session,
            now: world.now,
        };
        let hear = |lifecycle: &mut role::lifecycle::Lifecycle| {
            lifecycle.apply_event(happened, ForceStep::No, &actor)
        };
        let changed = store.change_lifecycle(
            role,
            MissingLifecycle::Create(world.now),
            self.deadline.lock_wait(),
            hear,
        )?;
        Ok(match changed {
            LifecycleChange::None | LifecycleChange::Changed { .. } => None,
            LifecycleChange::Refused(refused) => Some(refused.to_string()),
            LifecycleChange::FileNameClash { other_role } => {
                Some(format!("the role {other_role} already uses the state file of {role}"))
            }
        })
    }

    /// Returns whether the role has a context file or a lifecycle.
    fn has_records(&self, role: &Id) -> Result<bool> {
        let ProjectContext { root, settings, store, .. } = self.project;
        Ok(super::find_context_file(root, settings, role)?.is_some() || store.read_lifecycle(role)?.is_some())
    }

    /// Binds the session to the role if the role comes only from a variable, so that the session keeps the role.
    fn register_role(&self, role: &Id, known: SessionRoleOrigin) -> Result<()> {
        let ProjectContext { world, store, .. } = self.project;
        if let (SessionRoleOrigin::Variable, Some(session)) = (known, self.session) {
            let create = MissingLifecycle::Create(world.now);
            let changed = store.change_lifecycle(role, create, self.deadline.lock_wait(), |_| Ok(0))?;
            super::refuse_similar_name(role, &changed)?;
            store.session_state(session).write_state(&RoleBinding { role: Some(role.clone()) })?;
        }
        Ok(())
    }

    /// Returns the role bound to the session, or else the role that a variable names.
    fn session_role(&self, is_new: bool) -> Result<Option<(Id, SessionRoleOrigin)>> {
        let variable = super::role_from_variable(self.project.world);
        if is_new && variable.is_none() {
            return Ok(None);
        }
        let store = self.project.store;
        if let Some(role) = self.session.map_or(Ok(None), |session| store.role_of_session(session))? {
            return Ok(Some((role, SessionRoleOrigin::Registered)));
        }
        match variable {
            Some((name, value)) => match Id::new(&value) {
                Ok(role) => Ok(Some((role, SessionRoleOrigin::Variable))),
                Err(bad) => Err(Error::Usage { what: format!("${name}: {bad}"), hint: String::new() }),
            },
            None => Ok(None),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SessionRoleOrigin {
    Registered,
    Variable,
}
