//! Roles: finds the context files of roles, and determines which role is meant and which session has which role.

pub mod context;
pub mod events;
pub mod import;
pub mod lifecycle;
pub mod recover;
mod report;

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::config::Settings;
use model::event::{EventName, EventSet};
use model::id::Id;
use model::place;
use model::role::lifecycle::{Lifecycle, State};
use model::role::{self, ContextFile, Facts, RoleReport};
use model::text::did_you_mean;
use model::time;
use serde::Serialize;
use store::role::{Changed, Missing, RoleBinding};
use store::{Dir, EntryKind, Found, Root, Store, layout};

use crate::features::Feature;
use crate::project::{Project, git, settings};
use crate::session::list::{self, Chosen};

use crate::setup::init;
use crate::{Error, Result, World};

pub const ROW: Feature = Feature {
    name: "roles",
    wants: EventSet::of(&[
        EventName::SessionStart,
        EventName::Prompt,
        EventName::ToolDone,
        EventName::BeforeCompact,
    ]),
    decide: events::decide,
    candidates: events::candidates,
    sections: &[role::SECTION.name],
    continue_as: events::continue_as,
    checks: report::checks,
    status: report::status,
    ..Feature::NONE
};

/// The largest context file that is read. It is larger than what an agent can read at once.
const LARGEST: usize = 1024 * 1024;

/// The folder that the original design of roles uses.
const OF_THE_SEED: &str = "session/agents";

/// The variables that name a role, ours first. Their values can be outdated, because a terminal stays open longer than
/// a value is valid.
pub const VARIABLES: [&str; 2] = ["THROUGHLINE_ROLE", "HIVEMIND_ROLE"];

/// A folder that can contain context files.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ContextFolder {
    base: PathBuf,
    folder: String,
}

/// A context file on disk.
#[derive(Clone, Debug)]
pub struct File {
    pub role: Id,
    pub path: PathBuf,
    /// The path that a user in the checkout would type.
    pub shown: String,
    pub bytes: Vec<u8>,
}

/// The folders that can contain the roles of a project.
#[derive(Debug)]
pub struct Roles {
    pub root: Root,
    /// `None` if the root has no marker. Context files are read even then.
    pub store: Option<Store>,
    pub settings: Settings,
}

/// A role, and how it was determined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub role: Id,
    pub source: Source,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "from", content = "name")]
pub enum Source {
    Named,
    /// The role of the current session.
    Session(String),
    /// A variable names the role. This is weak, because the value may be outdated.
    Variable(&'static str),
    /// The role of the newest session here.
    Guess(String),
}

impl Source {
    /// Returns a warning if the role may be wrong.
    pub fn doubt(&self) -> Option<String> {
        match self {
            Source::Named | Source::Session(_) => None,
            Source::Variable(name) => Some(format!(
                "the role comes from ${name}, which may be outdated; `thru role bind` sets it explicitly"
            )),
            Source::Guess(session) => {
                Some(format!("the role is a guess: the newest session, {session}, has it"))
            }
        }
    }
}

/// Finds the roles for a command that only reads.
pub fn look(world: &World) -> Result<Roles> {
    let settings = settings::here(world).settings();
    Ok(match world.find()? {
        Found::Marked { root, store, .. } => Roles { root, store: Some(store), settings },
        Found::Unmarked(root) => Roles { root, store: None, settings },
    })
}

/// Finds the roles for a command that writes; creates the root if there is none.
pub fn look_or_make(world: &World) -> Result<(Roles, Store)> {
    let Project { root, store, .. } = Project::find_or_make(world)?;
    Ok((Roles { root, store: None, settings: settings::here(world).settings() }, store))
}

impl Roles {
    /// Returns the folders that are searched, the preferred folder first.
    fn places(&self) -> Result<Vec<ContextFolder>> {
        places(&self.root, &self.settings)
    }

    pub fn find(&self, role: &Id) -> Result<Option<File>> {
        find(&self.root, &self.settings, role)
    }

    /// Returns the name of every role that has a file, without duplicates.
    pub fn names(&self) -> Result<Vec<Id>> {
        let mut roles: Vec<Id> = Vec::new();
        for ContextFolder { base, folder } in self.places()? {
            let dir = match Dir::open(&base).and_then(|dir| dir.sub(&folder)) {
                Err(store::Error::Absent { .. }) => continue,
                dir => dir?,
            };
            let files = dir.entries()?.into_iter().filter(|entry| entry.kind == EntryKind::File);
            roles.extend(files.filter_map(|entry| role::of_file(&entry.name)));
        }
        roles.sort();
        roles.dedup();
        Ok(roles)
    }

    /// Returns the files of all roles.
    pub fn files(&self) -> Result<Vec<File>> {
        let mut found = Vec::new();
        for role in self.names()? {
            found.extend(self.find(&role)?);
        }
        Ok(found)
    }

    /// Returns the folder and the name for a new file of this role, and its path for messages.
    pub fn new_file(&self, role: &Id) -> Result<(Dir, String, String)> {
        let Some(ContextFolder { base, folder }) = self.places()?.into_iter().next() else {
            return Err(Error::NoRoot { path: self.root.path.clone() });
        };
        let shown = shown(&self.root, &base.join(&folder).join(role::file_name(role)));
        Ok((Dir::open(&base)?.make(&folder)?, role::file_name(role), shown))
    }

    /// Returns the path for an imported file of this role, and the content of the file if it already exists.
    pub fn imported_to(&self, role: &Id) -> Result<(String, Option<Vec<u8>>)> {
        let Some(ContextFolder { base, folder }) = self.places()?.into_iter().next() else {
            return Err(Error::NoRoot { path: self.root.path.clone() });
        };
        let rel = format!("{folder}/{}", role::file_name(role));
        let shown = shown(&self.root, &base.join(&rel));
        match Dir::open(&base).and_then(|dir| dir.read(&rel, LARGEST)) {
            Err(store::Error::Absent { .. }) => Ok((shown, None)),
            read => Ok((shown, Some(read?))),
        }
    }

    pub fn would_be(&self, role: &Id) -> Result<String> {
        would_be(&self.root, &self.settings, role)
    }

    /// Checks a context file completely, including the checks that need the disk and git.
    pub fn check(&self, world: &World, bytes: &[u8]) -> RoleReport {
        let file = ContextFile::read(bytes);
        let checkout = self.root.checkout.to_string_lossy();
        let is_gone = |path: &String| {
            let place = place::within(&checkout, path);
            !place.outside && self.root.checkout.join(place.path.as_ref()).symlink_metadata().is_err()
        };
        let gone: Vec<String> = file.key_files().into_iter().map(|file| file.path).filter(is_gone).collect();
        let newest_commit = self.newest_commit();
        let stale_hours = self.settings.roles_stale_hours;
        file.check(&Facts { now: world.now, stale_hours, newest_commit, gone: &gone })
    }
}

impl Roles {
    /// Returns the time of the newest commit; `None` without a repository.
    fn newest_commit(&self) -> Option<Timestamp> {
        let checkout = &self.root.checkout;
        checkout.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok())?;
        let line = git::run(checkout, &["log", "-1", "--format=%cI"], Vec::new()).ok()??;
        time::parse(&String::from_utf8_lossy(&line))
    }
}

fn places(root: &Root, settings: &Settings) -> Result<Vec<ContextFolder>> {
    let wanted = &settings.roles_dir;
    let chosen = place::within("/", wanted);
    if chosen.path == "." || wanted.starts_with('/') || wanted.split('/').any(|part| part == "..") {
        return Err(Error::Refused {
            what: format!("roles.dir is `{wanted}`, which is not a folder below the project"),
            hint: "`thru config` shows where that is set; write it like `docs/agents`".into(),
        });
    }
    let of_the_store = format!("{}/agents", layout::STORE);
    let mut places = Vec::new();
    for folder in [chosen.path.as_ref(), &of_the_store, OF_THE_SEED] {
        // The store is the same for all worktrees of a root. Every other folder can differ in each worktree.
        let bases = match folder.starts_with(layout::STORE) {
            true => vec![&root.path],
            false => vec![&root.checkout, &root.path],
        };
        for base in bases {
            let place = ContextFolder { base: base.clone(), folder: folder.to_owned() };
            if !places.contains(&place) {
                places.push(place);
            }
        }
    }
    Ok(places)
}

fn find(root: &Root, settings: &Settings, role: &Id) -> Result<Option<File>> {
    for ContextFolder { base, folder } in places(root, settings)? {
        let rel = format!("{folder}/{}", role::file_name(role));
        match Dir::open(&base).and_then(|dir| dir.read(&rel, LARGEST)) {
            Err(store::Error::Absent { .. }) => {}
            read => {
                let (bytes, path) = (read?, base.join(rel));
                return Ok(Some(File { role: role.clone(), shown: shown(root, &path), path, bytes }));
            }
        }
    }
    Ok(None)
}

/// Returns the first path where a role's file is looked for.
fn would_be(root: &Root, settings: &Settings, role: &Id) -> Result<String> {
    let place = places(root, settings)?.into_iter().next();
    let path = place.map(|place| place.base.join(place.folder).join(role::file_name(role)));
    Ok(path.map(|path| shown(root, &path)).unwrap_or_default())
}

fn shown(root: &Root, path: &Path) -> String {
    place::within(&root.checkout.to_string_lossy(), &path.to_string_lossy()).path.into_owned()
}

pub fn id(name: &str) -> Result<Id> {
    Id::new(name).map_err(|bad| Error::Usage {
        what: bad.to_string(),
        hint: "a role has a name such as `tester` or `oosh-expert`".into(),
    })
}

/// Determines the role. It is the role that is named, or else the role of the session, or of a variable, or of the
/// newest session. The last of these is a guess.
pub fn identify(world: &World, store: Option<&Store>, named: Option<&str>) -> Result<Identity> {
    if let Some(named) = named {
        return Ok(Identity { role: id(named)?, source: Source::Named });
    }
    let session = store.and_then(|store| list::choose(world, store, None).ok());
    let of_session = match (&session, store) {
        (Some((session, chosen)), Some(store)) => {
            store.role_of(session)?.map(|role| (role, session, *chosen))
        }
        _ => None,
    };
    match of_session {
        Some((role, session, chosen)) if chosen != Chosen::Guess => {
            return Ok(Identity { role, source: Source::Session(session.to_string()) });
        }
        _ => {}
    }
    if let Some((name, value)) = variable(world) {
        return Ok(Identity { role: id(&value)?, source: Source::Variable(name) });
    }
    match of_session {
        Some((role, session, _)) => Ok(Identity { role, source: Source::Guess(session.to_string()) }),
        None => Err(Error::Usage {
            what: "no role is known here".into(),
            hint: "name one, or run `thru role bind ROLE` in the session; `thru role list` shows them".into(),
        }),
    }
}

fn variable(world: &World) -> Option<(&'static str, String)> {
    VARIABLES.into_iter().find_map(|name| {
        let value = (world.var)(name)?.to_string_lossy().into_owned();
        (!value.is_empty()).then_some((name, value))
    })
}

#[derive(Clone, Debug, Serialize)]
pub struct Bound {
    pub role: String,
    pub session: String,
    /// Whether no session was named. Then the newest session here is used.
    pub guess: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The path where the role's file would be, if there is no file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// A role that has a file and a similar name, if this role has no file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near: Option<String>,
}

/// `thru role bind`: gives a session a role.
pub fn bind(world: &World, name: &str, session: Option<&str>) -> Result<Bound> {
    let role = id(name)?;
    let (roles, store) = look_or_make(world)?;
    let (session, chosen) = open_session(world, &store, session)?;
    let changed = store.change_lifecycle(&role, Missing::Create(world.now), init::PATIENCE, |_| Ok(0))?;
    refuse_clash(&role, &changed)?;
    store.session(&session).put(&RoleBinding { role: Some(role.clone()) })?;
    let file = roles.find(&role)?;
    let (mut missing, mut near) = (None, None);
    if file.is_none() {
        missing = Some(roles.would_be(&role)?);
        near = did_you_mean(name, roles.names()?.iter().map(Id::as_str)).map(str::to_owned);
    }
    Ok(Bound {
        role: role.to_string(),
        session: session.to_string(),
        guess: chosen == Chosen::Guess,
        file: file.map(|file| file.shown),
        missing,
        near,
    })
}

/// Returns the session to bind. It must not have ended, because an ended session cannot use the role.
fn open_session(world: &World, store: &Store, named: Option<&str>) -> Result<(Id, Chosen)> {
    list::choose_open(world, store, named, |session| Error::Refused {
        what: format!("session {session} has ended, and no role is bound to a session that has ended"),
        hint: "run this inside the session, or start the harness with THROUGHLINE_ROLE set to the role"
            .into(),
    })
}

#[derive(Clone, Debug, Serialize)]
pub struct Unbound {
    pub session: String,
    pub guess: bool,
    /// The role that the session had until now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// A variable that will give the session a role again at its next event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variable: Option<&'static str>,
}

/// `thru role unbind ROLE`: removes the role from all sessions, or only from the session that is named.
pub fn unbind_role(world: &World, name: &str, session: Option<&str>) -> Result<Vec<Unbound>> {
    let role = id(name)?;
    let store = Project::find(world)?.store;
    let only = session.map(|session| list::choose(world, &store, Some(session))).transpose()?;
    let is_meant =
        |(session, of): &&(Id, Id)| *of == role && only.as_ref().is_none_or(|(only, _)| only == session);
    let bindings = store.bindings()?;
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
    bound.into_iter().map(|session| release(world, &store, session, Chosen::Named)).collect()
}

/// `thru role unbind`: removes the role from a session. The role itself, its file and its lifecycle are kept.
pub fn unbind(world: &World, session: Option<&str>) -> Result<Unbound> {
    let store = Project::find(world)?.store;
    let (session, chosen) = list::choose(world, &store, session)?;
    release(world, &store, &session, chosen)
}

fn release(world: &World, store: &Store, session: &Id, chosen: Chosen) -> Result<Unbound> {
    let role = store.role_of(session)?;
    store.session(session).remove::<RoleBinding>()?;
    Ok(Unbound {
        session: session.to_string(),
        guess: chosen == Chosen::Guess,
        role: role.map(|role| role.to_string()),
        variable: variable(world).map(|(name, _)| name),
    })
}

/// Refuses a role whose name differs from the name of another role only in `-`, `.` and `_`: both roles would have
/// the same state file.
pub(crate) fn refuse_clash(role: &Id, changed: &Changed) -> Result<()> {
    match changed {
        Changed::Clash { other } => Err(Error::Refused {
            what: format!("the role `{other}` already uses the state file of `{role}`"),
            hint: "names that differ only in `-`, `.` and `_` are the same to the lifecycle; rename one"
                .into(),
        }),
        _ => Ok(()),
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub role: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    pub sessions: Vec<String>,
}

/// `thru role list`: lists every role with a file, a lifecycle or a session.
pub fn list(world: &World) -> Result<Vec<Row>> {
    let roles = look(world)?;
    let files = roles.files()?;
    let (mut states, mut bindings): (Vec<Lifecycle>, _) = (Vec::new(), Vec::new());
    if let Some(store) = &roles.store {
        // States that cannot be read must not hide the others. `thru doctor` reports them.
        states = store.lifecycles()?.into_iter().filter_map(|(_, lifecycle)| lifecycle.ok()).collect();
        bindings = store.bindings()?;
    }
    let mut names: Vec<String> = files.iter().map(|file| file.role.to_string()).collect();
    names.extend(states.iter().map(|lifecycle| lifecycle.role.clone()));
    names.extend(bindings.iter().map(|(_, role)| role.to_string()));
    names.sort();
    names.dedup();
    let row = |role: String| Row {
        file: files.iter().find(|file| file.role.as_str() == role).map(|file| file.shown.clone()),
        state: states.iter().find(|lifecycle| lifecycle.role == role).map(|lifecycle| lifecycle.state),
        sessions: bindings
            .iter()
            .filter(|(_, of)| of.as_str() == role)
            .map(|(id, _)| id.to_string())
            .collect(),
        role,
    };
    Ok(names.into_iter().map(row).collect())
}
