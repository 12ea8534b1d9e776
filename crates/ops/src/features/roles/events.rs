//! What a harness's events do to the role of their session. Hooks run this code. If a session has no role, they
//! read only one small file.

use std::time::Duration;

use jiff::Timestamp;
use model::brief::{Candidate, Occasion};
use model::config::Settings;
use model::event::{Action, Event, Kind, Source};
use model::id::Id;
use model::render::code;
use model::reply::Part;
use model::role::event::{RoleEvent, role_event};
use model::role::lifecycle::{Actor, Happened, Insist, Validity};
use model::role::{self, ContextFile, Facts, RoleFacts};
use store::role::{Changed, Missing, RoleBinding};

use crate::features::{BriefContext, Decision, ProjectContext};
use crate::hook::context::HookContext;
use crate::hook::deadline::Deadline;
use crate::{Error, Result};

/// How many of a role's candidates a new session gets: the one with the name of its role, and the one with its
/// goal.
const TOLD_AT_STARTUP: usize = 2;

/// Who changes the state of a role: a session's hook, or a user at a terminal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoleMover<'a> {
    pub project: ProjectContext<'a>,
    /// The name of the harness, or of the command line.
    pub by: &'a str,
    /// `None` for a user at a terminal, outside every session.
    pub session: Option<&'a Id>,
    /// The id that the session had before it continued under another id.
    pub previous: Option<&'a str>,
    pub deadline: Deadline,
}

/// Decides what an event does to the role of its session.
pub fn decide<'c>(context: &'c HookContext<'_>) -> Result<Decision<'c>> {
    let Some(happened) = role_event(context.event, context.pending, &context.record.files) else {
        return Ok(Decision::nothing("the event says nothing about a role"));
    };
    let is_new = is_new(context.event);
    let mover = RoleMover {
        project: context.project,
        by: context.harness.name,
        session: Some(context.session),
        previous: context.event.previous.as_deref(),
        deadline: context.deadline,
    };
    let Some((role, known)) = mover.known(is_new)? else {
        return Ok(Decision::nothing("the session has no role"));
    };
    // A terminal stays open longer than the value of a variable is valid. So a variable alone does not create a
    // role.
    if known == Known::Variable && !mover.has_records(&role)? {
        return Ok(Decision::nothing(format!("a variable names the role {role}, which has no context file")));
    }
    let why = format!("the session has the role {role}");
    let what = format!("move the lifecycle of {role}: {happened:?}");
    Ok(Decision::change(Part::silent(), why, what, move || {
        mover.register(&role, known)?;
        if let Some(warning) = mover.apply(&role, &happened)? {
            context.warn(warning);
        }
        Ok(Part::silent())
    }))
}

/// Returns whether the event begins a new session. Such a session has no role yet, unless a variable names one.
fn is_new(event: &Event) -> bool {
    let new = matches!(event.kind, Kind::SessionStart { source: Source::Startup | Source::Clear });
    new && event.previous.is_none()
}

/// Lets a session that continues under another id keep its role.
pub fn continue_as(context: &HookContext, previous: &Id) -> Result<()> {
    Ok(context.project.store.session(context.session).inherit::<RoleBinding>(previous)?)
}

/// Returns what a brief says about the session's role.
pub fn candidates(context: &BriefContext) -> Result<Vec<Candidate>> {
    let ProjectContext { world, root, settings, .. } = context.project;
    let mover = RoleMover {
        project: context.project,
        by: "",
        session: context.session,
        previous: None,
        deadline: Deadline::within(Duration::ZERO),
    };
    let is_new = context.occasion == Occasion::Started;
    let Some((role, _)) = mover.known(is_new)? else { return Ok(Vec::new()) };
    let found = match super::find(root, settings, &role) {
        Ok(found) => found,
        Err(error) => {
            let text = format!("{role}; its context file cannot be read: {}", code(&error.to_string(), 300));
            return Ok(vec![Candidate::new(&role::SECTION, format!("role:{role}:name"), text)]);
        }
    };
    let would_be = || super::would_be(root, settings, &role).unwrap_or_default();
    let path = found.as_ref().map_or_else(would_be, |file| file.shown.clone());
    let file = found.map(|file| ContextFile::read(file.bytes));
    let report = file.as_ref().map(|file| file.check(&facts(settings, world.now)));
    let mut candidates = role::candidates(&RoleFacts {
        role: &role,
        path: &path,
        file: file.as_ref(),
        report: report.as_ref(),
        redact: settings.redact(),
    });
    if is_new {
        candidates.truncate(TOLD_AT_STARTUP);
    }
    Ok(candidates)
}

fn facts(settings: &Settings, now: Timestamp) -> Facts<'static> {
    Facts { now, stale_hours: settings.roles_stale_hours, newest_commit: None, gone: &[] }
}

impl RoleMover<'_> {
    /// Changes the state of the role. The returned text is a warning for the user: nothing failed.
    fn apply(&self, role: &Id, happened: &RoleEvent) -> Result<Option<String>> {
        let happened = match happened {
            RoleEvent::Started => return Ok(None),
            RoleEvent::Continued => Happened::Start,
            RoleEvent::NotCompacted => Happened::NeverCame,
            RoleEvent::Compacting => return self.compaction(role),
            RoleEvent::Touched(files) => {
                let own = files.iter().filter(|file| role::of_file(&file.path).as_ref() == Some(role));
                // The last action counts: a command can first read and then write.
                match own.map(|file| file.action).next_back() {
                    Some(Action::Read) => Happened::FileRead,
                    Some(Action::Edit | Action::Create) => Happened::FileEdited,
                    Some(Action::Delete | Action::Mention) | None => return Ok(None),
                }
            }
        };
        self.step(role, happened)
    }

    /// Records a compaction. Checks the context file as `thru context validate` does, but without the checks that
    /// start a process.
    pub(crate) fn compaction(&self, role: &Id) -> Result<Option<String>> {
        let ProjectContext { world, root, settings, .. } = self.project;
        let Some(file) = super::find(root, settings, role)? else {
            return Ok(Some(format!(
                "the role {role} has no context file; `thru context new {role}` makes one"
            )));
        };
        let report = ContextFile::read(file.bytes).check(&facts(settings, world.now));
        let validity = if report.is_valid() { Validity::Valid } else { Validity::Invalid };
        let warning = self.step(role, Happened::Compaction(validity))?;
        if validity == Validity::Valid {
            return Ok(warning);
        }
        let errors: Vec<String> = report.errors().iter().map(ToString::to_string).collect();
        Ok(Some(format!("{} is not valid: {}", file.shown, errors.join("; "))))
    }

    fn step(&self, role: &Id, happened: Happened) -> Result<Option<String>> {
        let ProjectContext { world, store, .. } = self.project;
        let session = self.session.map(Id::as_str);
        let actor = Actor { by: self.by, session, previous: self.previous, now: world.now };
        let hear = |lifecycle: &mut role::lifecycle::Lifecycle| lifecycle.hear(happened, Insist::No, &actor);
        let changed = store.change_lifecycle(role, Missing::Create(world.now), self.deadline.wait(), hear)?;
        Ok(match changed {
            Changed::None | Changed::To { .. } => None,
            Changed::Refused(refused) => Some(refused.to_string()),
            Changed::Clash { other } => {
                Some(format!("the role {other} already uses the state file of {role}"))
            }
        })
    }

    /// Returns whether the role has a context file or a lifecycle.
    fn has_records(&self, role: &Id) -> Result<bool> {
        let ProjectContext { root, settings, store, .. } = self.project;
        Ok(super::find(root, settings, role)?.is_some() || store.lifecycle(role)?.is_some())
    }

    /// Registers a role that only a variable names, so that the session keeps it.
    fn register(&self, role: &Id, known: Known) -> Result<()> {
        let ProjectContext { world, store, .. } = self.project;
        if let (Known::Variable, Some(session)) = (known, self.session) {
            let create = Missing::Create(world.now);
            let changed = store.change_lifecycle(role, create, self.deadline.wait(), |_| Ok(0))?;
            super::refuse_clash(role, &changed)?;
            store.session(session).put(&RoleBinding { role: Some(role.clone()) })?;
        }
        Ok(())
    }

    /// Returns the session's role: the registered role, or else the role that a variable names.
    fn known(&self, is_new: bool) -> Result<Option<(Id, Known)>> {
        let variable = super::variable(self.project.world);
        if is_new && variable.is_none() {
            return Ok(None);
        }
        let store = self.project.store;
        if let Some(role) = self.session.map_or(Ok(None), |session| store.role_of(session))? {
            return Ok(Some((role, Known::Registered)));
        }
        match variable {
            Some((name, value)) => match Id::new(&value) {
                Ok(role) => Ok(Some((role, Known::Variable))),
                Err(bad) => Err(Error::Usage { what: format!("${name}: {bad}"), hint: String::new() }),
            },
            None => Ok(None),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Registered,
    Variable,
}
