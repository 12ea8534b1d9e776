//! What a harness's events do to the role of their session. On the hook path: one small file unless there is a role.

use model::brief::{Note, Topic};
use model::config::Settings;
use model::decide::RoleEvent;
use model::event::{Action, Event, Kind, Source};
use model::id::Id;
use model::render::code;
use model::role::lifecycle::{Actor, Happened, Insist, Validity};
use model::role::{self, ContextFile, Facts, Told};
use store::role::{Changed, Missing};
use store::{Root, Store};

use crate::hook::deadline::Deadline;
use crate::{Error, Result, World};

/// Told of a role at the start of a new session: who it is, and what for.
const NOTES_AT_STARTUP: usize = 2;

/// Where an event is heard.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ear<'a> {
    pub world: &'a World<'a>,
    pub store: &'a Store,
    pub root: &'a Root,
    pub settings: &'a Settings,
    /// The harness, or the command line.
    pub by: &'a str,
    /// None at a terminal outside of every session.
    pub session: Option<&'a Id>,
    pub deadline: Deadline,
}

impl Ear<'_> {
    /// Moves the role; returns what should be known although nothing failed.
    pub fn hear(&self, event: &Event, what: &RoleEvent) -> Result<Option<String>> {
        let Some(role) = self.role(event)? else { return Ok(None) };
        let previous = event.previous.as_deref();
        let happened = match what {
            RoleEvent::Started => return Ok(None),
            RoleEvent::WentOn => Happened::Start,
            RoleEvent::NeverCame => Happened::NeverCame,
            RoleEvent::Compaction => return self.compaction(&role, previous),
            RoleEvent::Touched(files) => {
                let own = files.iter().filter(|file| role::of_file(&file.path).as_ref() == Some(&role));
                // What was done to it last counts: a command can read and then write.
                match own.map(|file| file.action).next_back() {
                    Some(Action::Read) => Happened::FileRead,
                    Some(Action::Edit | Action::Create) => Happened::FileEdited,
                    Some(Action::Delete | Action::Mention) | None => return Ok(None),
                }
            }
        };
        self.step(&role, happened, previous)
    }

    /// The same validator as `thru context validate`, without what takes a process to find out.
    pub(crate) fn compaction(&self, role: &Id, previous: Option<&str>) -> Result<Option<String>> {
        let Some(file) = super::find(self.root, self.settings, role)? else {
            return Ok(Some(format!(
                "the role {role} has no context file; `thru context new {role}` makes one"
            )));
        };
        let report = ContextFile::read(file.bytes).check(&self.facts());
        let validity = if report.is_valid() { Validity::Valid } else { Validity::Invalid };
        let told = self.step(role, Happened::Compaction(validity), previous)?;
        if validity == Validity::Valid {
            return Ok(told);
        }
        let errors: Vec<String> = report.errors().iter().map(ToString::to_string).collect();
        Ok(Some(format!("{} is not valid: {}", file.shown, errors.join("; "))))
    }

    fn step(&self, role: &Id, happened: Happened, previous: Option<&str>) -> Result<Option<String>> {
        let actor =
            Actor { by: self.by, session: self.session.map(Id::as_str), previous, now: self.world.now };
        let hear = |lifecycle: &mut role::lifecycle::Lifecycle| lifecycle.hear(happened, Insist::No, &actor);
        Ok(
            match self.store.change_lifecycle(
                role,
                Missing::Create(self.world.now),
                self.deadline.wait(),
                hear,
            )? {
                Changed::None | Changed::To { .. } => None,
                Changed::Refused(refused) => Some(refused.to_string()),
                Changed::Clash { other } => {
                    Some(format!("the role {other} has the state file that {role} would have"))
                }
            },
        )
    }

    /// What the brief tells of the session's role. That nobody could tell which it is stands on the receipt.
    pub fn notes(&self, event: &Event) -> Vec<Note> {
        let Ok(Some((role, _))) = self.known(event) else { return Vec::new() };
        let found = match super::find(self.root, self.settings, &role) {
            Ok(found) => found,
            Err(error) => {
                let text =
                    format!("{role}; its context file cannot be read: {}", code(&error.to_string(), 300));
                return vec![Note { topic: Topic::Role, text }];
            }
        };
        let would_be = || super::would_be(self.root, self.settings, &role).unwrap_or_default();
        let path = found.as_ref().map_or_else(would_be, |file| file.shown.clone());
        let file = found.map(|file| ContextFile::read(file.bytes));
        let report = file.as_ref().map(|file| file.check(&self.facts()));
        let redact = self.settings.redact();
        let mut notes = role::notes(&Told {
            role: &role,
            path: &path,
            file: file.as_ref(),
            report: report.as_ref(),
            redact,
        });
        if let Kind::SessionStart { source: Source::Startup } = event.kind {
            notes.truncate(NOTES_AT_STARTUP);
        }
        notes
    }

    fn facts(&self) -> Facts<'static> {
        let stale_hours = self.settings.roles_stale_hours;
        Facts { now: self.world.now, stale_hours, newest_commit: None, gone: &[] }
    }

    /// The role of this session. One that is only known from elsewhere is registered, so that it stays.
    fn role(&self, event: &Event) -> Result<Option<Id>> {
        let Some((role, known)) = self.known(event)? else { return Ok(None) };
        if let (Known::Elsewhere, Some(session)) = (known, self.session) {
            let create = Missing::Create(self.world.now);
            let changed = self.store.change_lifecycle(&role, create, self.deadline.wait(), |_| Ok(0))?;
            super::refuse_clash(&role, &changed)?;
            self.store.bind_role(session, &role)?;
        }
        Ok(Some(role))
    }

    /// Registered; else that of the session this one goes on from; else what the variable says.
    fn known(&self, event: &Event) -> Result<Option<(Id, Known)>> {
        let variable = super::variable(self.world);
        // A start is the moment when a session gets its role: where nothing names one, nothing is looked for.
        let new = matches!(event.kind, Kind::SessionStart { source: Source::Startup | Source::Clear });
        if new && variable.is_none() && event.previous.is_none() {
            return Ok(None);
        }
        let registered = self.session.map_or(Ok(None), |session| self.store.role_of(session))?;
        if let Some(role) = registered {
            return Ok(Some((role, Known::Registered)));
        }
        if let Some(Ok(previous)) = event.previous.as_deref().map(Id::new)
            && let Some(role) = self.store.role_of(&previous)?
        {
            return Ok(Some((role, Known::Elsewhere)));
        }
        match variable {
            Some((name, value)) => match Id::new(&value) {
                Ok(role) => Ok(Some((role, Known::Elsewhere))),
                Err(bad) => Err(Error::Usage { what: format!("${name}: {bad}"), hint: String::new() }),
            },
            None => Ok(None),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Registered,
    Elsewhere,
}
