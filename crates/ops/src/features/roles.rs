//! Roles: finds the context files of roles, determines which role a command is about, and records the role of each
//! session.

pub mod context;
pub mod events;
pub mod import;
pub mod lifecycle;
pub mod recover;
mod report;

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::checkout_path;
use model::config::Settings;
use model::event::{EventName, EventSet};
use model::id::Id;
use model::role::lifecycle::{Lifecycle, LifecycleState};
use model::role::{self, ContextFile, ContextFileCheckReport, FactsOutsideContextFile};
use model::text::nearest_allowed_word;
use model::time;
use serde::Serialize;
use store::role::{LifecycleChange, MissingLifecycle, RoleBinding};
use store::{Dir, FolderEntryKind, FoundRoot, Root, Store, layout};

use crate::features::Feature;
use crate::project::{Project, git, settings};
use crate::session::list::{self, SessionChoiceReason};
use crate::session::roster;

use crate::setup::init;
use crate::{Error, Result, World};

pub const FEATURE_ROW: Feature = Feature {
    name: "roles",
    wanted_events: EventSet::from_names(&[
        EventName::SessionStart,
        EventName::Prompt,
        EventName::ToolDone,
        EventName::BeforeCompact,
    ]),
    decide: events::decide,
    brief_candidates: events::brief_candidates,
    brief_sections: &[role::ROLE_BRIEF_SECTION.name],
    continue_under_new_id: events::continue_under_new_id,
    doctor_checks: report::doctor_checks,
    status: report::status_lines,
    ..Feature::EMPTY_FEATURE
};

/// The size limit of a context file. An agent could not read a larger file in one go.
const MAX_CONTEXT_FILE_BYTES: usize = 1024 * 1024;

/// The folder for context files in projects that use Hivemind's roles.
const HIVEMIND_AGENTS_FOLDER: &str = "session/agents";

/// The environment variables that name a role. thru's own variable comes first. A value may be outdated, because a
/// terminal can stay open for days.
pub const ROLE_VARIABLES: [&str; 2] = ["THROUGHLINE_ROLE", "HIVEMIND_ROLE"];

#[derive(Clone, Debug, PartialEq, Eq)]
struct ContextFolder {
    base_folder: PathBuf,
    folder: String,
}

#[derive(Clone, Debug)]
pub struct FoundContextFile {
    pub role: Id,
    pub path: PathBuf,
    /// The path that a user in the checkout would type.
    pub display_path: String,
    pub bytes: Vec<u8>,
}

/// Where to look for the roles of a project.
#[derive(Debug)]
pub struct ProjectRoles {
    pub root: Root,
    /// The store, or `None` if the root has no marker. Context files are found even without a marker.
    pub store: Option<Store>,
    pub settings: Settings,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentifiedRole {
    pub role: Id,
    pub source: RoleSource,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "from", content = "name")]
pub enum RoleSource {
    #[serde(rename = "named")]
    NamedByUser,
    /// The role is bound to the current session, which has this id.
    #[serde(rename = "session")]
    CurrentSession(String),
    /// This environment variable names the role. Its value may be outdated.
    #[serde(rename = "variable")]
    EnvironmentVariable(&'static str),
    /// The role is bound to the project's newest session, which has this id.
    #[serde(rename = "guess")]
    NewestSession(String),
}

impl RoleSource {
    /// Returns a warning if the role may be the wrong one.
    pub fn uncertainty_warning(&self) -> Option<String> {
        match self {
            RoleSource::NamedByUser | RoleSource::CurrentSession(_) => None,
            RoleSource::EnvironmentVariable(name) => Some(format!(
                "the role comes from ${name}, which may be outdated; `thru role bind` sets it explicitly"
            )),
            RoleSource::NewestSession(session) => {
                Some(format!("the role is a guess: the last active session, {session}, has it"))
            }
        }
    }
}

/// Finds the roles for a command that only reads.
pub fn find_roles(world: &World) -> Result<ProjectRoles> {
    let settings = settings::settings_here(world).settings();
    Ok(match world.find_root()? {
        FoundRoot::Marked { root, store, .. } => ProjectRoles { root, store: Some(store), settings },
        FoundRoot::Unmarked(root) => ProjectRoles { root, store: None, settings },
    })
}

/// Finds the roles for a command that writes, and creates the root if there is none.
pub fn find_or_create_roles(world: &World) -> Result<(ProjectRoles, Store)> {
    let Project { root, store, .. } = Project::find_or_create(world)?;
    Ok((ProjectRoles { root, store: None, settings: settings::settings_here(world).settings() }, store))
}

impl ProjectRoles {
    /// Returns the folders to search, in order of preference.
    fn context_folders(&self) -> Result<Vec<ContextFolder>> {
        context_folders(&self.root, &self.settings)
    }

    pub fn find_context_file(&self, role: &Id) -> Result<Option<FoundContextFile>> {
        find_context_file(&self.root, &self.settings, role)
    }

    /// Among the roles that have a context file, returns the name that is most similar to `role`.
    pub fn nearest_role_name(&self, role: &Id) -> Result<Option<String>> {
        let names = self.role_names()?;
        Ok(nearest_allowed_word(role.as_str(), names.iter().map(Id::as_str)).map(str::to_owned))
    }

    /// Returns the names of all roles that have a context file, without duplicates.
    pub fn role_names(&self) -> Result<Vec<Id>> {
        let mut roles: Vec<Id> = Vec::new();
        for ContextFolder { base_folder, folder } in self.context_folders()? {
            let dir = match Dir::open(&base_folder).and_then(|dir| dir.open_subfolder(&folder)) {
                Err(store::Error::Absent { .. }) => continue,
                dir => dir?,
            };
            let files = dir.entries()?.into_iter().filter(|entry| entry.kind == FolderEntryKind::File);
            roles.extend(files.filter_map(|entry| role::role_of_file(&entry.name)));
        }
        roles.sort();
        roles.dedup();
        Ok(roles)
    }

    pub fn context_files(&self) -> Result<Vec<FoundContextFile>> {
        let mut found = Vec::new();
        for role in self.role_names()? {
            found.extend(self.find_context_file(&role)?);
        }
        Ok(found)
    }

    /// Opens the folder for a new context file, and creates it if necessary. Returns the folder, the file's name, and
    /// the file's path as messages show it.
    pub fn new_context_file_location(&self, role: &Id) -> Result<(Dir, String, String)> {
        let Some(ContextFolder { base_folder, folder }) = self.context_folders()?.into_iter().next() else {
            return Err(Error::NoRoot { path: self.root.path.clone() });
        };
        let shown =
            path_for_display(&self.root, &base_folder.join(&folder).join(role::context_file_name(role)));
        Ok((Dir::open(&base_folder)?.create_subfolder(&folder)?, role::context_file_name(role), shown))
    }

    /// Returns the path to which an import writes the role's file, and the file's content if it already exists.
    pub fn read_import_target_of_role(&self, role: &Id) -> Result<(String, Option<Vec<u8>>)> {
        let Some(ContextFolder { base_folder, folder }) = self.context_folders()?.into_iter().next() else {
            return Err(Error::NoRoot { path: self.root.path.clone() });
        };
        let rel = format!("{folder}/{}", role::context_file_name(role));
        let shown = path_for_display(&self.root, &base_folder.join(&rel));
        match Dir::open(&base_folder).and_then(|dir| dir.read_file(&rel, MAX_CONTEXT_FILE_BYTES)) {
            Err(store::Error::Absent { .. }) => Ok((shown, None)),
            read => Ok((shown, Some(read?))),
        }
    }

    pub fn expected_context_file_path(&self, role: &Id) -> Result<String> {
        expected_context_file_path(&self.root, &self.settings, role)
    }

    /// Checks a context file, including the checks that need the disk and git.
    pub fn check_context_file(&self, world: &World, bytes: &[u8]) -> ContextFileCheckReport {
        let file = ContextFile::read(bytes);
        let checkout = self.root.checkout.to_string_lossy();
        let is_gone = |path: &String| {
            let place = checkout_path::path_within_checkout(&checkout, path);
            !place.is_outside && self.root.checkout.join(place.path.as_ref()).symlink_metadata().is_err()
        };
        let gone: Vec<String> = file.key_files().into_iter().map(|file| file.path).filter(is_gone).collect();
        let newest_commit = self.newest_commit_time();
        let stale_hours = self.settings.roles_stale_hours;
        file.check(&FactsOutsideContextFile {
            now: world.now,
            stale_hours,
            newest_commit,
            missing_key_files: &gone,
        })
    }
}

impl ProjectRoles {
    /// Returns the time of the newest commit, or `None` if there is no repository.
    fn newest_commit_time(&self) -> Option<Timestamp> {
        let checkout = &self.root.checkout;
        checkout.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok())?;
        let line = git::run_git(checkout, &["log", "-1", "--format=%cI"], Vec::new()).ok()??;
        time::parse_time(&String::from_utf8_lossy(&line))
    }
}

fn context_folders(root: &Root, settings: &Settings) -> Result<Vec<ContextFolder>> {
    let wanted = &settings.roles_dir;
    let chosen = checkout_path::path_within_checkout("/", wanted);
    if chosen.path == "." || wanted.starts_with('/') || wanted.split('/').any(|part| part == "..") {
        return Err(Error::Refused {
            what: format!("roles.dir is `{wanted}`, which is not a folder below the project"),
            hint: "`thru config` shows where that is set; write it like `docs/agents`".into(),
        });
    }
    let of_the_store = format!("{}/agents", layout::STORE_FOLDER);
    let mut places = Vec::new();
    for folder in [chosen.path.as_ref(), &of_the_store, HIVEMIND_AGENTS_FOLDER] {
        // All worktrees of a root share the store. Every other folder may differ between worktrees.
        let bases = match folder.starts_with(layout::STORE_FOLDER) {
            true => vec![&root.path],
            false => vec![&root.checkout, &root.path],
        };
        for base in bases {
            let place = ContextFolder { base_folder: base.clone(), folder: folder.to_owned() };
            if !places.contains(&place) {
                places.push(place);
            }
        }
    }
    Ok(places)
}

fn find_context_file(root: &Root, settings: &Settings, role: &Id) -> Result<Option<FoundContextFile>> {
    for ContextFolder { base_folder, folder } in context_folders(root, settings)? {
        let rel = format!("{folder}/{}", role::context_file_name(role));
        match Dir::open(&base_folder).and_then(|dir| dir.read_file(&rel, MAX_CONTEXT_FILE_BYTES)) {
            Err(store::Error::Absent { .. }) => {}
            read => {
                let (bytes, path) = (read?, base_folder.join(rel));
                return Ok(Some(FoundContextFile {
                    role: role.clone(),
                    display_path: path_for_display(root, &path),
                    path,
                    bytes,
                }));
            }
        }
    }
    Ok(None)
}

/// Returns the path at which a role's file is looked for first.
fn expected_context_file_path(root: &Root, settings: &Settings, role: &Id) -> Result<String> {
    let place = context_folders(root, settings)?.into_iter().next();
    let path = place.map(|place| place.base_folder.join(place.folder).join(role::context_file_name(role)));
    Ok(path.map(|path| path_for_display(root, &path)).unwrap_or_default())
}

fn path_for_display(root: &Root, path: &Path) -> String {
    checkout_path::path_within_checkout(&root.checkout.to_string_lossy(), &path.to_string_lossy())
        .path
        .into_owned()
}

pub fn parse_role_name(name: &str) -> Result<Id> {
    Id::new(name).map_err(|bad| Error::Usage {
        what: bad.to_string(),
        hint: "use a name such as `tester` or `oosh-expert`".into(),
    })
}

/// Determines the role from the first of these that exists: the named role, the session's role, the role in an
/// environment variable, or the newest session's role. The last of these is only a guess.
pub fn identify_role(world: &World, store: Option<&Store>, named: Option<&str>) -> Result<IdentifiedRole> {
    if let Some(named) = named {
        return Ok(IdentifiedRole { role: parse_role_name(named)?, source: RoleSource::NamedByUser });
    }
    let session = store.and_then(|store| list::choose_session(world, store, None).ok());
    let of_session = match (&session, store) {
        (Some((session, chosen)), Some(store)) => {
            store.role_of_session(session)?.map(|role| (role, session, *chosen))
        }
        _ => None,
    };
    match of_session {
        Some((role, session, chosen)) if chosen != SessionChoiceReason::Guess => {
            return Ok(IdentifiedRole { role, source: RoleSource::CurrentSession(session.to_string()) });
        }
        _ => {}
    }
    if let Some((name, value)) = role_from_variable(world) {
        return Ok(IdentifiedRole {
            role: parse_role_name(&value)?,
            source: RoleSource::EnvironmentVariable(name),
        });
    }
    match of_session {
        Some((role, session, _)) => {
            Ok(IdentifiedRole { role, source: RoleSource::NewestSession(session.to_string()) })
        }
        None => Err(Error::Usage {
            what: "cannot tell which role is meant".into(),
            hint: "name one, or run `thru role bind ROLE` in the session; `thru role list` shows the roles"
                .into(),
        }),
    }
}

fn role_from_variable(world: &World) -> Option<(&'static str, String)> {
    ROLE_VARIABLES.into_iter().find_map(|name| {
        let value = (world.read_variable)(name)?.to_string_lossy().into_owned();
        (!value.is_empty()).then_some((name, value))
    })
}

#[derive(Clone, Debug, Serialize)]
pub struct BoundRole {
    pub role: String,
    pub session: String,
    /// True if no session was named and the project's newest session was used instead.
    #[serde(rename = "guess")]
    pub is_guessed_session: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// If the role's file does not exist, the path where it belongs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "missing")]
    pub missing_path: Option<String>,
    /// If this role has no context file, the role with the most similar name that does have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similar_role: Option<String>,
}

pub fn bind_role(world: &World, name: &str, session: Option<&str>) -> Result<BoundRole> {
    let role = parse_role_name(name)?;
    let (roles, store) = find_or_create_roles(world)?;
    let (session, chosen) = choose_open_session(world, &store, &role, session)?;
    write_binding(world, &store, &role, &session)?;
    let file = roles.find_context_file(&role)?;
    let (mut missing_path, mut similar_role) = (None, None);
    if file.is_none() {
        missing_path = Some(roles.expected_context_file_path(&role)?);
        similar_role = roles.nearest_role_name(&role)?;
    }
    Ok(BoundRole {
        role: role.to_string(),
        session: session.to_string(),
        is_guessed_session: chosen == SessionChoiceReason::Guess,
        file: file.map(|file| file.display_path),
        missing_path,
        similar_role,
    })
}

/// Gives a session the role, and begins the role's lifecycle if it has none.
fn write_binding(world: &World, store: &Store, role: &Id, session: &Id) -> Result<()> {
    let changed = store.change_lifecycle(
        role,
        MissingLifecycle::Create(world.now),
        init::MAX_WAIT_FOR_RECORD_LOCK,
        |_| Ok(0),
    )?;
    refuse_similar_name(role, &changed)?;
    Ok(store.session_state(session).write_state(&RoleBinding { role: Some(role.clone()) })?)
}

/// Returns the session to bind. Returns an error if no session is running or the named session has ended, because only
/// a running session can use a role.
fn choose_open_session(
    world: &World,
    store: &Store,
    role: &Id,
    named: Option<&str>,
) -> Result<(Id, SessionChoiceReason)> {
    list::choose_open_session(world, store, named, |why| Error::Refused {
        what: format!("{why}; a role is bound only to a session that is running"),
        hint: format!("run this inside the session, or start the harness with THROUGHLINE_ROLE={role}"),
    })
}

#[derive(Clone, Debug, Serialize)]
pub struct UnboundRole {
    pub session: String,
    #[serde(rename = "guess")]
    pub is_guessed_session: bool,
    /// The role that the session had until now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The environment variable that will give the session its role again at the next event, if such a variable is
    /// set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variable: Option<&'static str>,
}

/// Removes the role from all sessions, or only from the named session (`thru role unbind ROLE`).
pub fn unbind_role(world: &World, name: &str, session: Option<&str>) -> Result<Vec<UnboundRole>> {
    let role = parse_role_name(name)?;
    let store = Project::find_for_reading(world)?.store;
    let only = session.map(|session| list::choose_session(world, &store, Some(session))).transpose()?;
    let is_meant =
        |(session, of): &&(Id, Id)| *of == role && only.as_ref().is_none_or(|(only, _)| only == session);
    let bindings = store.role_bindings()?;
    let bound: Vec<&Id> = bindings.iter().filter(is_meant).map(|(session, _)| session).collect();
    if bound.is_empty() {
        let what = match only {
            Some((session, _)) => format!("session {session} is not bound to the role `{name}`"),
            None => format!("no session is bound to the role `{name}`"),
        };
        return Err(Error::Absent {
            what,
            hint: "`thru role list` shows the roles and their sessions".into(),
        });
    }
    bound
        .into_iter()
        .map(|session| remove_role_of_session(world, &store, session, SessionChoiceReason::Named))
        .collect()
}

/// Removes a session's role (`thru role unbind`). The role's file and lifecycle are kept.
pub fn unbind_session(world: &World, session: Option<&str>) -> Result<UnboundRole> {
    let store = Project::find_for_reading(world)?.store;
    let (session, chosen) = list::choose_session(world, &store, session)?;
    remove_role_of_session(world, &store, &session, chosen)
}

fn remove_role_of_session(
    world: &World,
    store: &Store,
    session: &Id,
    chosen: SessionChoiceReason,
) -> Result<UnboundRole> {
    let role = store.role_of_session(session)?;
    store.session_state(session).remove_state::<RoleBinding>()?;
    Ok(UnboundRole {
        session: session.to_string(),
        is_guessed_session: chosen == SessionChoiceReason::Guess,
        role: role.map(|role| role.to_string()),
        variable: role_from_variable(world).map(|(name, _)| name),
    })
}

/// Returns an error if another role's name differs from this one only in `-`, `.` and `_`. Both roles would have the
/// same state file.
pub(crate) fn refuse_similar_name(role: &Id, changed: &LifecycleChange) -> Result<()> {
    match changed {
        LifecycleChange::FileNameClash { other_role } => Err(Error::Refused {
            what: format!("the role `{other_role}` already uses the state file of `{role}`"),
            hint: "the lifecycle treats names that differ only in `-`, `.` and `_` as the same; rename one"
                .into(),
        }),
        _ => Ok(()),
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct RoleListRow {
    pub role: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<LifecycleState>,
    pub sessions: Vec<String>,
    /// The sessions in `sessions` that have ended or crashed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ended_sessions: Vec<String>,
}

pub fn list_roles(world: &World) -> Result<Vec<RoleListRow>> {
    let roles = find_roles(world)?;
    let files = roles.context_files()?;
    let (mut states, mut bindings): (Vec<Lifecycle>, _) = (Vec::new(), Vec::new());
    let mut roster = Vec::new();
    if let Some(store) = &roles.store {
        roster = roster::read_roster(store, u64::MAX)?;
        // Skip states that cannot be read, because `thru doctor` reports them.
        states = store.list_lifecycles()?.into_iter().filter_map(|(_, lifecycle)| lifecycle.ok()).collect();
        bindings = store.role_bindings()?;
    }
    let mut names: Vec<String> = files.iter().map(|file| file.role.to_string()).collect();
    names.extend(states.iter().map(|lifecycle| lifecycle.role.clone()));
    names.extend(bindings.iter().map(|(_, role)| role.to_string()));
    names.sort();
    names.dedup();
    let row = |role: String| {
        let of_role = bindings.iter().filter(|(_, of)| of.as_str() == role);
        let sessions: Vec<String> = of_role.map(|(id, _)| id.to_string()).collect();
        let is_over = |session: &&String| {
            roles.store.as_ref().is_some_and(|store| roster::is_over(&roster, store, session, world.now))
        };
        let ended = sessions.iter().filter(is_over);
        RoleListRow {
            file: files.iter().find(|file| file.role.as_str() == role).map(|file| file.display_path.clone()),
            state: states.iter().find(|lifecycle| lifecycle.role == role).map(|lifecycle| lifecycle.state),
            ended_sessions: ended.cloned().collect(),
            sessions,
            role,
        }
    };
    Ok(names.into_iter().map(row).collect())
}
