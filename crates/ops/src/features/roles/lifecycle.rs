//! `thru lifecycle`: shows the state of each role, and changes it when a person or an agent asks for it.

use model::id::Id;
use model::role::lifecycle::{Actor, Happened, Insist, Lifecycle, State, Step, Validity};
use model::role::{Finding, Kind};
use serde::Serialize;
use store::role::{Changed, Missing};
use store::{Found, Store};

use crate::features::ProjectContext;
use crate::features::roles::events::RoleMover;
use crate::features::roles::{Identity, Roles, Source, id, identify, look, look_or_make, refuse_clash};
use crate::hook::deadline::Deadline;
use crate::project::settings;
use crate::session::list;
use crate::setup::init::PATIENCE;
use crate::{Error, Result, World};

/// The actor that is recorded for steps from the command line.
const CLI: &str = "cli";

#[derive(Clone, Debug, Serialize)]
pub struct Begun {
    pub role: String,
    pub state: State,
    /// False if the lifecycle already existed.
    pub created: bool,
}

pub fn init(world: &World, name: &str) -> Result<Begun> {
    let role = id(name)?;
    let (_, store) = look_or_make(world)?;
    match store.change_lifecycle(&role, Missing::Replace(world.now), PATIENCE, |_| Ok(0))? {
        Changed::To { lifecycle, created } => {
            Ok(Begun { role: lifecycle.role, state: lifecycle.state, created })
        }
        changed => Err(not_changed(&role, &changed)),
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct Saved {
    pub role: String,
    pub source: Source,
    /// `None` if there is no file. Then `missing` says where the file would be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    pub valid: bool,
    pub findings: Vec<Finding>,
    pub state: State,
    pub since: String,
}

/// Checks the file and moves the role to `saved`, or back to `active`. The file itself is not changed.
pub fn save(world: &World, named: Option<&str>, insist: Insist) -> Result<Saved> {
    let (roles, store) = look_or_make(world)?;
    let Identity { role, source } = identify(world, Some(&store), named)?;
    let file = roles.find(&role)?;
    let (valid, findings) = match &file {
        Some(file) => {
            let report = roles.check(world, &file.bytes);
            (report.is_valid(), report.findings)
        }
        None => (
            false,
            vec![Finding { kind: Kind::Missing, line: None, text: "there is no context file".to_owned() }],
        ),
    };
    let happened = Happened::Save(if valid { Validity::Valid } else { Validity::Invalid });
    // A role with neither a file nor a lifecycle is probably a mistyped name, so no lifecycle is created for it.
    let missing = if file.is_some() { Missing::Create(world.now) } else { Missing::Leave };
    let lifecycle = go(world, &store, &role, missing, happened, insist)?;
    Ok(Saved {
        missing: if file.is_none() { Some(roles.would_be(&role)?) } else { None },
        file: file.map(|file| file.shown),
        role: lifecycle.role,
        source,
        valid,
        findings,
        state: lifecycle.state,
        since: lifecycle.since,
    })
}

#[derive(Clone, Debug, Serialize)]
pub struct Moved {
    pub role: String,
    pub source: Source,
    pub state: State,
    pub since: String,
}

/// Moves a role back to `active`. This works from any state, whichever session had the role, because that session
/// may be dead.
pub fn recover(world: &World, named: Option<&str>) -> Result<Moved> {
    let roles = look(world)?;
    let Identity { role, source } = identify(world, roles.store.as_ref(), named)?;
    let store = roles.store.ok_or_else(|| no_lifecycle(&role))?;
    let go = |missing| go(world, &store, &role, missing, Happened::Recover, Insist::Yes);
    let lifecycle = match go(Missing::Leave) {
        // A damaged state is replaced, because there is no other way to recover.
        Err(Error::Store(store::Error::Damaged { .. })) => go(Missing::Replace(world.now))?,
        gone => gone?,
    };
    Ok(Moved { role: lifecycle.role, source, state: lifecycle.state, since: lifecycle.since })
}

pub(crate) fn go(
    world: &World,
    store: &Store,
    role: &Id,
    missing: Missing,
    happened: Happened,
    insist: Insist,
) -> Result<Lifecycle> {
    // Do not record a session that would only be a guess. The user at the terminal took the step.
    let session = list::around(world);
    let actor = Actor { by: CLI, session: session.as_ref().map(Id::as_str), previous: None, now: world.now };
    match store
        .change_lifecycle(role, missing, PATIENCE, |lifecycle| lifecycle.hear(happened, insist, &actor))?
    {
        Changed::To { lifecycle, .. } => Ok(lifecycle),
        changed => Err(not_changed(role, &changed)),
    }
}

fn not_changed(role: &Id, changed: &Changed) -> Error {
    match changed {
        Changed::Refused(refused) => Error::Refused {
            what: refused.to_string(),
            hint: format!(
                "`thru lifecycle recover {role}` makes it active again; --force takes the step anyway, and records that"
            ),
        },
        Changed::Clash { .. } => match refuse_clash(role, changed) {
            Err(error) => error,
            Ok(()) => no_lifecycle(role),
        },
        Changed::None | Changed::To { .. } => no_lifecycle(role),
    }
}

fn no_lifecycle(role: &Id) -> Error {
    Error::Absent {
        what: format!("the role `{role}` has no lifecycle in this project"),
        hint: format!("`thru lifecycle init {role}` begins one; `thru role list` shows the roles"),
    }
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    pub role: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub since: String,
    /// The session that is compacting or recovering.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub session: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// When the file was written, according to the date in the file.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub updated: String,
    /// `None` if there is no file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid: Option<bool>,
    pub history: Vec<Step>,
    /// The number of older steps that are no longer recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forgotten: Option<u64>,
    /// Why the state of the role cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
    /// The command that helps if the state cannot be read; `None` if no command can help.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Returns the state of one role, or of every role that has a file or a lifecycle.
pub fn status(world: &World, named: Option<&str>) -> Result<Vec<Row>> {
    let roles = look(world)?;
    if let Some(named) = named {
        let role = id(named)?;
        let row = row(world, &roles, &role)?;
        return match (&row.state, &row.file) {
            (None, None) => Err(no_lifecycle(&role)),
            _ => Ok(vec![row]),
        };
    }
    let mut names: Vec<Id> = roles.files()?.into_iter().map(|file| file.role).collect();
    let mut unreadable = Vec::new();
    if let Some(store) = &roles.store {
        names.extend(store.bindings()?.into_iter().map(|(_, role)| role));
        for (machine, lifecycle) in store.lifecycles()? {
            match lifecycle {
                Ok(lifecycle) => names.extend(Id::new(&lifecycle.role)),
                Err(error) => unreadable.push((machine, error)),
            }
        }
    }
    names.sort();
    names.dedup();
    // A role that cannot be read must not hide the others.
    let mut rows = Vec::new();
    for role in &names {
        let machine = model::role::lifecycle::machine(role);
        rows.push(match unreadable.iter().position(|(id, _)| id.as_str() == machine) {
            Some(place) => unreadable_row(role.as_str(), &unreadable.remove(place).1, Some(role)),
            None => row(world, &roles, role)?,
        });
    }
    // Only the name of the state file is known here, and it can differ from the name of the role.
    rows.extend(unreadable.iter().map(|(machine, why)| unreadable_row(machine.as_str(), why, None)));
    Ok(rows)
}

fn unreadable_row(shown: &str, why: &store::Error, role: Option<&Id>) -> Row {
    let hint = role
        .filter(|_| matches!(why, store::Error::Damaged { .. }))
        .map(|role| format!("`thru lifecycle recover {role}` starts a new one and keeps the damaged file"));
    Row { role: shown.to_owned(), unreadable: Some(why.to_string()), hint, ..Row::default() }
}

fn row(world: &World, roles: &Roles, role: &Id) -> Result<Row> {
    let lifecycle = match &roles.store {
        Some(store) => store.lifecycle(role)?.filter(|lifecycle| lifecycle.role == role.as_str()),
        None => None,
    };
    let file = roles.find(role)?;
    let report = file.as_ref().map(|file| roles.check(world, &file.bytes));
    let updated =
        file.as_ref().map(|file| model::role::ContextFile::read(file.bytes.clone()).essentials().updated);
    let (state, since, session, history, forgotten) = match lifecycle {
        Some(l) => (Some(l.state), l.since, l.session, l.history, Some(l.forgotten).filter(|n| *n > 0)),
        None => (None, String::new(), String::new(), Vec::new(), None),
    };
    Ok(Row {
        role: role.to_string(),
        state,
        since,
        session,
        file: file.map(|file| file.shown),
        updated: updated.unwrap_or_default(),
        valid: report.map(|report| report.is_valid()),
        history,
        forgotten,
        unreadable: None,
        hint: None,
    })
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct PreCompact {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// The reasons why the role could not be saved.
    pub warnings: Vec<String>,
}

/// Does by hand what the hook does before a compaction. A hook cannot stop a compaction, so all problems are
/// warnings.
pub fn pre_compact(world: &World, named: Option<&str>) -> PreCompact {
    let mut done = PreCompact::default();
    if let Err(error) = try_pre_compact(world, named, &mut done) {
        done.warnings.push(error.to_string());
    }
    done
}

fn try_pre_compact(world: &World, named: Option<&str>, done: &mut PreCompact) -> Result<()> {
    let Found::Marked { root, store, .. } = world.find()? else {
        return Err(Error::NoRoot { path: world.need_cwd()?.to_owned() });
    };
    let settings = settings::here(world).settings();
    let Identity { role, source } = identify(world, Some(&store), named)?;
    (done.role, done.source) = (Some(role.to_string()), Some(source));
    let begun = store.change_lifecycle(&role, Missing::Create(world.now), PATIENCE, |_| Ok(0))?;
    refuse_clash(&role, &begun)?;
    let session = list::around(world);
    let mover = RoleMover {
        project: ProjectContext { world, root: &root, store: &store, settings: &settings },
        by: CLI,
        session: session.as_ref(),
        previous: None,
        deadline: Deadline::within(PATIENCE),
    };
    done.warnings.extend(mover.compaction(&role)?);
    done.state = store.lifecycle(&role)?.map(|lifecycle| lifecycle.state);
    Ok(())
}
