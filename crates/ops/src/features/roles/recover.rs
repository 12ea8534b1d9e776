//! `thru recover`: prints the steps to recover a role, taken from the role's file alone. If nothing has changed, two
//! runs print exactly the same bytes.

use std::path::Path;

use harness::HARNESSES;
use model::checkout_path;
use model::config::Settings;
use model::id::Id;
use model::role::lifecycle::{ForceStep, LifecycleEvent, LifecycleState};
use model::role::{ContextFile, ContextFileContent};
use serde::Serialize;
use store::Store;
use store::role::MissingLifecycle;

use crate::features::roles::{
    IdentifiedRole, ProjectRoles, RoleSource, find_roles, identify_role, lifecycle, write_binding,
};
use crate::project::git;
use crate::session::{list, roster};
use crate::{Error, Result, World};

/// The document that is listed if `roles.architecture_doc` does not exist.
const DEFAULT_ARCHITECTURE_DOC: &str = "ARCHITECTURE.md";

#[derive(Debug, Serialize)]
pub struct RecoverReport {
    pub role: String,
    pub source: RoleSource,
    /// The role's context file. If it is `None`, `missing_path` is the path of the file to create.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Who last committed the file, or `None` if git does not track it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_committed_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "missing")]
    pub missing_path: Option<String>,
    /// If this role has no context file, the role with the most similar name that does have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similar_role: Option<String>,
    pub valid: bool,
    /// The errors that `thru context validate` finds in the file.
    pub errors: Vec<String>,
    /// The skill file that describes the role, or `None` if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill: Option<DocumentToRead>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub architecture: Option<DocumentToRead>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<ContextFileContent>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The state of the role, or `None` if the role has no lifecycle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<LifecycleState>,
    /// Whether the session that runs the command has the role. `None` if no session runs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calling_session: Option<CallingSession>,
    /// The session whose recovery this command ended, if the command ran outside that session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_recovery_of: Option<String>,
    /// Why the lifecycle's state could not be changed, if an attempt to change it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unchanged_reason: Option<String>,
    /// Why the session that runs the command could not be given the role, if the attempt failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role_not_given_reason: Option<String>,
    /// The first error, if the role could not be given or its lifecycle could not be read or written. The other fields are complete even then.
    #[serde(skip)]
    pub lifecycle_error: Option<Error>,
}

/// The session that runs `thru recover`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CallingSession {
    pub session: String,
    pub standing: RoleStanding,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RoleStanding {
    HasRole,
    /// The session keeps this other role.
    HasOtherRole(String),
    /// This session, which has not ended, has the role.
    HeldBySession(String),
    /// No hook has recorded the session in this project, so its end would not be recorded either, and it would have the
    /// role for ever.
    NotRecorded,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DocumentToRead {
    pub path: String,
    #[serde(rename = "found")]
    pub exists: bool,
}

pub fn recover_report(world: &World, named: Option<&str>) -> Result<RecoverReport> {
    let roles = find_roles(world)?;
    let IdentifiedRole { role, source } = identify_role(world, roles.store.as_ref(), named)?;
    let checkout = &roles.root.checkout;
    let mut report = RecoverReport {
        skill: first_existing_document(checkout, &skill_names(&role)),
        architecture: architecture_document(&roles),
        role: role.to_string(),
        source,
        file: None,
        last_committed_by: None,
        missing_path: None,
        similar_role: None,
        valid: false,
        errors: Vec::new(),
        context: None,
        text: String::new(),
        state: None,
        calling_session: None,
        ended_recovery_of: None,
        unchanged_reason: None,
        role_not_given_reason: None,
        lifecycle_error: None,
    };
    let Some(file) = roles.find_context_file(&role)? else {
        report.missing_path = Some(roles.expected_context_file_path(&role)?);
        report.similar_role = roles.nearest_role_name(&role)?;
        return Ok(report);
    };
    let check = roles.check_context_file(world, &file.bytes);
    report.valid = check.is_valid();
    report.errors = check.errors().iter().map(ToString::to_string).collect();
    report.text = String::from_utf8_lossy(&file.bytes).into_owned();
    report.context = Some(ContextFile::read(file.bytes).parsed_content());
    report.last_committed_by = git::last_author_of_file(checkout, &checkout.join(&file.display_path));
    report.file = Some(file.display_path);
    if let Some(store) = &roles.store {
        let recovering = other_session_recovering(world, store, &role);
        match give_role_to_calling_session(world, store, &role) {
            Ok(calling) => report.calling_session = calling,
            Err(error) => {
                report.role_not_given_reason = Some(error.to_string());
                report.lifecycle_error = Some(error);
            }
        }
        match lifecycle::step_lifecycle(
            world,
            store,
            &role,
            MissingLifecycle::Leave,
            LifecycleEvent::Recover,
            ForceStep::No,
        ) {
            Ok(lifecycle) => {
                report.state = Some(lifecycle.state);
                report.ended_recovery_of = recovering;
            }
            Err(Error::Absent { .. }) => {}
            Err(Error::Refused { what, .. }) => report.unchanged_reason = Some(what),
            Err(error) => {
                report.unchanged_reason = Some(error.to_string());
                // If the session could not be given the role, keep that earlier error.
                report.lifecycle_error.get_or_insert(error);
            }
        }
    }
    Ok(report)
}

/// Gives the role to the session that runs this command, so that its briefs contain what it has just recovered. The
/// session does not get the role if it already has another role, or if another session is working with this role.
fn give_role_to_calling_session(world: &World, store: &Store, role: &Id) -> Result<Option<CallingSession>> {
    let Some(own) = list::session_of_current_harness(world) else { return Ok(None) };
    let holder = lifecycle::open_sessions(world, store, role)?.unwrap_or_default();
    let roster = roster::read_roster(store, u64::MAX)?;
    let is_recorded = |session: &str| roster.iter().any(|entry| entry.session.as_str() == session);
    let holder = holder.into_iter().find(|holder| holder != own.as_str() && is_recorded(holder));
    let standing = match (store.role_of_session(&own)?, holder) {
        (Some(known), _) if known == *role => RoleStanding::HasRole,
        (Some(other), _) => RoleStanding::HasOtherRole(other.to_string()),
        (None, _) if !is_recorded(own.as_str()) => RoleStanding::NotRecorded,
        (None, Some(holder)) => RoleStanding::HeldBySession(holder),
        (None, None) => {
            write_binding(world, store, role, &own)?;
            RoleStanding::HasRole
        }
    };
    Ok(Some(CallingSession { session: own.to_string(), standing }))
}

/// Returns the session in which the role is compacting or recovering, unless this command runs inside that session.
fn other_session_recovering(world: &World, store: &Store, role: &Id) -> Option<String> {
    let lifecycle = store.read_lifecycle(role).ok().flatten()?;
    let is_on_its_way = matches!(lifecycle.state, LifecycleState::Compacting | LifecycleState::Recovering);
    let own = list::session_of_current_harness(world);
    let is_own = own.is_some_and(|own| own.as_str() == lifecycle.session);
    (is_on_its_way && !is_own && !lifecycle.session.is_empty()).then_some(lifecycle.session)
}

fn skill_names(role: &Id) -> Vec<String> {
    let known = HARNESSES.iter().flat_map(|harness| harness.agent_description_files);
    known.chain(&["agents/{role}.md"]).map(|path| path.replace("{role}", role.as_str())).collect()
}

/// Returns the architecture document. A document that is named in the settings is listed even if it does not exist,
/// because the user expects to see it.
fn architecture_document(roles: &ProjectRoles) -> Option<DocumentToRead> {
    let named = roles.settings.roles_architecture_doc.to_string();
    let is_expected = named != Settings::DEFAULT.roles_architecture_doc;
    let found =
        first_existing_document(&roles.root.checkout, &[named.clone(), DEFAULT_ARCHITECTURE_DOC.to_owned()]);
    found.or_else(|| is_expected.then_some(DocumentToRead { path: named, exists: false }))
}

/// Returns the first path that names an existing file inside the checkout.
fn first_existing_document(checkout: &Path, paths: &[String]) -> Option<DocumentToRead> {
    let inside =
        |path: &&String| !checkout_path::path_within_checkout(&checkout.to_string_lossy(), path).is_outside;
    let there =
        |path: &&String| checkout.join(path.as_str()).symlink_metadata().is_ok_and(|meta| !meta.is_dir());
    paths.iter().filter(inside).find(there).map(|path| DocumentToRead { path: path.clone(), exists: true })
}
