//! `thru lifecycle`: shows the state of each role, and changes a role's state on request.

use model::id::Id;
use model::role::lifecycle::{
    ContextFileValidity, ForceStep, Lifecycle, LifecycleEvent, LifecycleState, LifecycleStep,
    LifecycleStepActor,
};
use model::role::{ContextFileFinding, ContextFileFindingKind};
use serde::Serialize;
use store::role::{LifecycleChange, MissingLifecycle};
use store::{FoundRoot, Store};

use crate::features::ProjectContext;
use crate::features::roles::events::RoleStateChanger;
use crate::features::roles::{
    IdentifiedRole, ProjectRoles, RoleSource, find_or_create_roles, find_roles, identify_role,
    parse_role_name, refuse_similar_name,
};
use crate::hook::deadline::Deadline;
use crate::project::settings;
use crate::session::{list, roster};
use crate::setup::init::MAX_WAIT_FOR_RECORD_LOCK;
use crate::{Error, Result, World};

/// The actor that is recorded for steps taken from the command line.
const COMMAND_LINE_ACTOR: &str = "cli";

#[derive(Clone, Debug, Serialize)]
pub struct BegunLifecycle {
    pub role: String,
    pub state: LifecycleState,
    /// Whether the lifecycle was created. False if it already existed.
    pub created: bool,
}

pub fn begin_lifecycle(world: &World, name: &str) -> Result<BegunLifecycle> {
    let role = parse_role_name(name)?;
    let (_, store) = find_or_create_roles(world)?;
    match store.change_lifecycle(
        &role,
        MissingLifecycle::Replace(world.now),
        MAX_WAIT_FOR_RECORD_LOCK,
        |_| Ok(0),
    )? {
        LifecycleChange::Changed { lifecycle, created } => {
            Ok(BegunLifecycle { role: lifecycle.role, state: lifecycle.state, created })
        }
        changed => Err(not_changed_error(&role, &changed)),
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct SaveReport {
    pub role: String,
    pub source: RoleSource,
    /// The role's context file. If it is `None`, `missing_path` is the path where the file belongs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "missing")]
    pub missing_path: Option<String>,
    pub valid: bool,
    pub findings: Vec<ContextFileFinding>,
    pub state: LifecycleState,
    pub since: String,
}

/// Checks the role's file and moves the role to `saved`, or back to `active`. The file itself is not changed.
pub fn save_role(world: &World, named: Option<&str>, force: ForceStep) -> Result<SaveReport> {
    let (roles, store) = find_or_create_roles(world)?;
    let IdentifiedRole { role, source } = identify_role(world, Some(&store), named)?;
    let file = roles.find_context_file(&role)?;
    let (valid, findings) = match &file {
        Some(file) => {
            let report = roles.check_context_file(world, &file.bytes);
            (report.is_valid(), report.findings)
        }
        None => (
            false,
            vec![ContextFileFinding {
                kind: ContextFileFindingKind::Missing,
                line: None,
                text: "there is no context file".to_owned(),
            }],
        ),
    };
    let happened =
        LifecycleEvent::Save(if valid { ContextFileValidity::Valid } else { ContextFileValidity::Invalid });
    // If a role has neither a file nor a lifecycle, its name is probably mistyped, so no lifecycle is created for it.
    let missing = if file.is_some() { MissingLifecycle::Create(world.now) } else { MissingLifecycle::Leave };
    let lifecycle = step_lifecycle(world, &store, &role, missing, happened, force)?;
    Ok(SaveReport {
        missing_path: if file.is_none() { Some(roles.expected_context_file_path(&role)?) } else { None },
        file: file.map(|file| file.display_path),
        role: lifecycle.role,
        source,
        valid,
        findings,
        state: lifecycle.state,
        since: lifecycle.since,
    })
}

#[derive(Clone, Debug, Serialize)]
pub struct RecoveredRole {
    pub role: String,
    pub source: RoleSource,
    pub state: LifecycleState,
    pub since: String,
}

/// Moves a role back to `active`. This works from any state and in any session, because the session that had the role
/// may have crashed.
pub fn recover_role(world: &World, named: Option<&str>) -> Result<RecoveredRole> {
    let roles = find_roles(world)?;
    let IdentifiedRole { role, source } = identify_role(world, roles.store.as_ref(), named)?;
    let store = roles.store.ok_or_else(|| no_lifecycle_error(&role))?;
    let go = |missing| step_lifecycle(world, &store, &role, missing, LifecycleEvent::Recover, ForceStep::Yes);
    let lifecycle = match go(MissingLifecycle::Leave) {
        // Replace a damaged state, because there is no other way to recover the role.
        Err(Error::Store(store::Error::Damaged { .. })) => go(MissingLifecycle::Replace(world.now))?,
        gone => gone?,
    };
    Ok(RecoveredRole { role: lifecycle.role, source, state: lifecycle.state, since: lifecycle.since })
}

pub(crate) fn step_lifecycle(
    world: &World,
    store: &Store,
    role: &Id,
    missing: MissingLifecycle,
    happened: LifecycleEvent,
    force: ForceStep,
) -> Result<Lifecycle> {
    // At a terminal, record no session, because it would only be a guess.
    let session = list::session_of_current_harness(world);
    let actor = LifecycleStepActor {
        actor: COMMAND_LINE_ACTOR,
        session: session.as_ref().map(Id::as_str),
        previous_session: None,
        now: world.now,
    };
    match store.change_lifecycle(role, missing, MAX_WAIT_FOR_RECORD_LOCK, |lifecycle| {
        lifecycle.apply_event(happened, force, &actor)
    })? {
        LifecycleChange::Changed { lifecycle, .. } => Ok(lifecycle),
        changed => Err(not_changed_error(role, &changed)),
    }
}

fn not_changed_error(role: &Id, changed: &LifecycleChange) -> Error {
    match changed {
        LifecycleChange::Refused(refused) => Error::Refused {
            what: refused.to_string(),
            hint: format!(
                "`thru lifecycle recover {role}` makes it active again; --force takes the step anyway, and the history records this"
            ),
        },
        LifecycleChange::FileNameClash { .. } => match refuse_similar_name(role, changed) {
            Err(error) => error,
            Ok(()) => no_lifecycle_error(role),
        },
        LifecycleChange::None | LifecycleChange::Changed { .. } => no_lifecycle_error(role),
    }
}

fn no_lifecycle_error(role: &Id) -> Error {
    Error::Absent {
        what: format!("the role `{role}` has no lifecycle in this project"),
        hint: format!("`thru lifecycle init {role}` begins one; `thru role list` shows the roles"),
    }
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct LifecycleRow {
    pub role: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<LifecycleState>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub since: String,
    /// The sessions with this role that have not ended, or `None` if no session has the role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_sessions: Option<Vec<String>>,
    /// The session that is compacting or recovering.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub session: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// When the file was last updated, according to the date in the file.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub updated: String,
    /// Whether the file is valid, or `None` if the role has no file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid: Option<bool>,
    pub history: Vec<LifecycleStep>,
    /// How many older steps have been dropped from the history.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped_steps: Option<u64>,
    /// Why the role's state cannot be read, or `None` if it can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
    /// A command that helps if the state cannot be read, or `None` if no command helps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Returns the state of the named role, or of every role that has a file or a lifecycle.
pub fn lifecycle_rows(world: &World, named: Option<&str>) -> Result<Vec<LifecycleRow>> {
    let roles = find_roles(world)?;
    if let Some(named) = named {
        let role = parse_role_name(named)?;
        let row = lifecycle_row(world, &roles, &role)?;
        return match (&row.state, &row.file) {
            (None, None) => Err(no_lifecycle_error(&role)),
            _ => Ok(vec![row]),
        };
    }
    let mut names: Vec<Id> = roles.context_files()?.into_iter().map(|file| file.role).collect();
    let mut unreadable = Vec::new();
    if let Some(store) = &roles.store {
        names.extend(store.role_bindings()?.into_iter().map(|(_, role)| role));
        for (machine, lifecycle) in store.list_lifecycles()? {
            match lifecycle {
                Ok(lifecycle) => names.extend(Id::new(&lifecycle.role)),
                Err(error) => unreadable.push((machine, error)),
            }
        }
    }
    names.sort();
    names.dedup();
    // A role whose state cannot be read gets a row too, so that the other roles are still listed.
    let mut rows = Vec::new();
    for role in &names {
        let machine = model::role::lifecycle::state_file_stem(role);
        rows.push(match unreadable.iter().position(|(id, _)| id.as_str() == machine) {
            Some(place) => unreadable_row(role.as_str(), &unreadable.remove(place).1, Some(role)),
            None => lifecycle_row(world, &roles, role)?,
        });
    }
    // If a lifecycle cannot be read, only the name of its file is known, which can differ from the role's name.
    rows.extend(unreadable.iter().map(|(machine, why)| unreadable_row(machine.as_str(), why, None)));
    Ok(rows)
}

fn unreadable_row(shown: &str, why: &store::Error, role: Option<&Id>) -> LifecycleRow {
    let hint = role
        .filter(|_| matches!(why, store::Error::Damaged { .. }))
        .map(|role| format!("`thru lifecycle recover {role}` starts a new one and keeps the damaged file"));
    LifecycleRow {
        role: shown.to_owned(),
        unreadable: Some(why.to_string()),
        hint,
        ..LifecycleRow::default()
    }
}

fn lifecycle_row(world: &World, roles: &ProjectRoles, role: &Id) -> Result<LifecycleRow> {
    let lifecycle = match &roles.store {
        Some(store) => store.read_lifecycle(role)?.filter(|lifecycle| lifecycle.role == role.as_str()),
        None => None,
    };
    let file = roles.find_context_file(role)?;
    let report = file.as_ref().map(|file| roles.check_context_file(world, &file.bytes));
    let updated =
        file.as_ref().map(|file| model::role::ContextFile::read(file.bytes.clone()).parsed_content().updated);
    let (state, since, session, history, dropped_steps) = match lifecycle {
        Some(l) => (Some(l.state), l.since, l.session, l.history, Some(l.dropped_steps).filter(|n| *n > 0)),
        None => (None, String::new(), String::new(), Vec::new(), None),
    };
    Ok(LifecycleRow {
        role: role.to_string(),
        open_sessions: roles
            .store
            .as_ref()
            .map(|store| open_sessions(world, store, role))
            .transpose()?
            .flatten(),
        state,
        since,
        session,
        file: file.map(|file| file.display_path),
        updated: updated.unwrap_or_default(),
        valid: report.map(|report| report.is_valid()),
        history,
        dropped_steps,
        unreadable: None,
        hint: None,
    })
}

/// Returns the sessions with this role that may be running, or `None` if no session has the role.
pub(super) fn open_sessions(world: &World, store: &Store, role: &Id) -> Result<Option<Vec<String>>> {
    let bindings = store.role_bindings()?;
    let sessions: Vec<&Id> = bindings.iter().filter(|(_, of)| of == role).map(|(id, _)| id).collect();
    if sessions.is_empty() {
        return Ok(None);
    }
    let roster = roster::read_roster(store, u64::MAX)?;
    let open =
        sessions.iter().filter(|session| !roster::is_over(&roster, store, session.as_str(), world.now));
    Ok(Some(open.map(ToString::to_string).collect()))
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct PreCompactReport {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<RoleSource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<LifecycleState>,
    /// Why the role could not be saved.
    pub warnings: Vec<String>,
}

/// Does the same as the hook that runs before a compaction. Nothing can stop a compaction, so all problems become
/// warnings.
pub fn run_pre_compact(world: &World, named: Option<&str>) -> PreCompactReport {
    let mut done = PreCompactReport::default();
    if let Err(error) = try_lifecycle_step_before_compaction(world, named, &mut done) {
        done.warnings.push(error.to_string());
    }
    done
}

fn try_lifecycle_step_before_compaction(
    world: &World,
    named: Option<&str>,
    done: &mut PreCompactReport,
) -> Result<()> {
    let FoundRoot::Marked { root, store, .. } = world.find_root()? else {
        return Err(Error::NoRoot { path: world.require_cwd()?.to_owned() });
    };
    let settings = settings::settings_here(world).settings();
    let IdentifiedRole { role, source } = identify_role(world, Some(&store), named)?;
    (done.role, done.source) = (Some(role.to_string()), Some(source));
    let begun = store.change_lifecycle(
        &role,
        MissingLifecycle::Create(world.now),
        MAX_WAIT_FOR_RECORD_LOCK,
        |_| Ok(0),
    )?;
    refuse_similar_name(&role, &begun)?;
    let session = list::session_of_current_harness(world);
    let mover = RoleStateChanger {
        project: ProjectContext { world, root: &root, store: &store, settings: &settings },
        actor: COMMAND_LINE_ACTOR,
        session: session.as_ref(),
        previous_session: None,
        deadline: Deadline::of_command(MAX_WAIT_FOR_RECORD_LOCK),
    };
    done.warnings.extend(mover.record_compaction(&role)?);
    done.state = store.read_lifecycle(&role)?.map(|lifecycle| lifecycle.state);
    Ok(())
}
