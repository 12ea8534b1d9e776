//! `thru init`: creates the marker and the store's folders, and records that the store was created on this machine.

use std::path::{Path, PathBuf};
use std::time::Duration;

use model::marker::{ProjectId, RootMarker, SharingMode};
use model::time;
use serde::Serialize;
use store::{CreatedStore, FoundRoot, Root, Store};

use crate::project::trust;
use crate::setup::install;
use crate::{Error, Result, World};

/// How long a command waits for a record that another process has locked.
pub(crate) const MAX_WAIT_FOR_RECORD_LOCK: Duration = Duration::from_secs(10);

#[derive(Clone, Debug, Default)]
pub struct InitOptions {
    pub name: Option<String>,
    pub sharing: RecordSharing,
    pub root_location: RootLocation,
    pub hook_installation: HookInstallation,
}

/// Whether to install hooks into the harnesses that are in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HookInstallation {
    Install,
    #[default]
    Skip,
}

/// Whether a team shares the records through git.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordSharing {
    #[default]
    No,
    Yes,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RootLocation {
    /// If the folder is inside an existing root, use that root and create no new one.
    #[default]
    UseExistingRoot,
    /// `--nested`: create a root here, even if a parent folder is a root.
    Nested,
}

#[derive(Clone, Debug, Serialize)]
pub struct InitReport {
    pub root: PathBuf,
    pub project_id: ProjectId,
    pub name: String,
    pub mode: SharingMode,
    /// The records that git tracks, so that everybody with access to the repository can read them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "in_git")]
    pub records_in_git: Vec<&'static str>,
    /// Whether the root was created. False if it already existed.
    pub created: bool,
    pub trusted: bool,
    /// The path at which the project was trusted before its folder was moved, or `None` if the current path is
    /// trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "set_aside")]
    pub damaged_marker_name: Option<String>,
    /// The changes to the settings of the harnesses in use.
    #[serde(rename = "wired")]
    pub install_reports: Vec<install::InstallReport>,
    /// The settings files that contain thru's hooks but that their harness ignores.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignored_files: Vec<install::IgnoredFile>,
    /// The harnesses whose settings were not changed, each with the reason.
    #[serde(rename = "not_wired")]
    pub not_installed: Vec<String>,
    /// The settings files that were not changed because git tracks them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tracked_settings: Vec<install::TrackedSettings>,
    /// Whether a harness in use already calls thru through settings in another scope.
    #[serde(skip)]
    pub installed_in_other_scope: bool,
    /// What thru searched for to find a harness. Empty if it found one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "looked_for")]
    pub signs_searched: Vec<String>,
}

pub fn init_project(world: &World, options: &InitOptions) -> Result<InitReport> {
    let root = choose_root(world, options.root_location)?;
    let created = create_store(world, &root, options, MAX_WAIT_FOR_RECORD_LOCK)?;
    let CreatedStore { marker, wrote_marker, damaged_marker_name, .. } = created;
    if options.sharing == RecordSharing::Yes && marker.mode == SharingMode::Private {
        return Err(Error::Refused {
            what: format!("{}: this root already exists and is private", root.path.display()),
            hint: "set \"mode\" to \"shared\" in root.json and adapt .agent/context/.gitignore".into(),
        });
    }
    if let Some(name) = options.name.as_ref().filter(|name| **name != marker.name) {
        return Err(Error::Refused {
            what: format!("this root already exists and is called `{}`, not `{name}`", marker.name),
            hint: "change \"name\" in .agent/context/root.json".into(),
        });
    }
    let trusted = world.require_trust_records()?.is_trusted(&marker.project_id, &root.path)?;
    let moved_from = if trusted { None } else { trust::former_root(world, &marker.project_id, &root.path) };
    let HookInstallationResult {
        install_reports: wired,
        not_installed,
        tracked_settings,
        installed_in_other_scope,
    } = match options.hook_installation {
        HookInstallation::Install => install_hooks_in_use(world, &root.checkout),
        HookInstallation::Skip => HookInstallationResult::default(),
    };
    let found = options.hook_installation == HookInstallation::Skip
        || !wired.is_empty()
        || !not_installed.is_empty()
        || !tracked_settings.is_empty();
    let signs_searched =
        if found { Vec::new() } else { install::signs_of_harness_use(world, &root.checkout) };
    Ok(InitReport {
        ignored_files: install::ignored_files(world, &root.checkout),
        root: root.path,
        project_id: marker.project_id,
        name: marker.name,
        records_in_git: if marker.mode == SharingMode::Shared {
            store::layout::shared_records()
        } else {
            Vec::new()
        },
        mode: marker.mode,
        created: wrote_marker,
        trusted,
        moved_from,
        damaged_marker_name,
        install_reports: wired,
        not_installed,
        tracked_settings,
        installed_in_other_scope,
        signs_searched,
    })
}

/// The result of installing hooks into the harnesses in use.
#[derive(Default)]
struct HookInstallationResult {
    install_reports: Vec<install::InstallReport>,
    not_installed: Vec<String>,
    tracked_settings: Vec<install::TrackedSettings>,
    installed_in_other_scope: bool,
}

/// Installs hooks into every harness in use. If one installation fails, the others are kept.
fn install_hooks_in_use(world: &World, root: &Path) -> HookInstallationResult {
    let mut done = HookInstallationResult::default();
    for harness in install::harnesses_in_use(world, root) {
        let scope = install::default_scope(harness);
        // If hooks are already installed in another scope, add nothing, because otherwise every event would be
        // reported twice.
        let wired_already = install::files_that_call_thru(world, harness, root);
        if let Some(install::CallingFile { path, .. }) =
            wired_already.first().filter(|_| !install::is_wired_in_scope(world, harness, root, scope))
        {
            done.not_installed.push(format!("{} is already wired, in {}", harness.title, path.display()));
            done.installed_in_other_scope = true;
            continue;
        }
        match install::run_in_worktrees(
            world,
            harness,
            root,
            scope,
            install::InstallTask::Install,
            crate::WriteMode::Write,
        ) {
            Ok(report) => done.install_reports.push(report),
            Err(error) => {
                let tracked = match error {
                    Error::Refused { .. } => {
                        install::local_settings_file_tracked_by_git(world, harness, root)
                    }
                    _ => None,
                };
                if let Some((path, _)) = tracked {
                    let (harness, title) = (harness.name, harness.title);
                    done.tracked_settings.push(install::TrackedSettings { harness, title, path });
                    continue;
                }
                let hint = match error.hint() {
                    Some(hint) if hint.contains("`thru install") => format!("; {hint}"),
                    Some(hint) => format!("; with `thru install {}`: {hint}", harness.name),
                    None => String::new(),
                };
                done.not_installed.push(format!("{} is not wired: {error}{hint}", harness.title));
            }
        }
    }
    done
}

/// Creates the store if it is missing. A new store is trusted only if the folder contained no records before.
pub(crate) fn create_store(
    world: &World,
    root: &Root,
    options: &InitOptions,
    wait: Duration,
) -> Result<CreatedStore> {
    let trust = world.require_trust_records()?;
    let marker = RootMarker {
        project_id: new_project_id(world)?,
        name: options.name.clone().unwrap_or_else(|| project_name_from_folder(root)),
        created_at: time::to_rfc3339(world.now),
        mode: if options.sharing == RecordSharing::Yes { SharingMode::Shared } else { SharingMode::Private },
        last_session: None,
    };
    let vouch = || trust.grant_trust(&marker.project_id, &root.path, world.now, wait).map(drop);
    let created = Store::create(&root.path, &marker, world.now, vouch)?;
    if !created.wrote_marker && created.had_no_records {
        // Another process was faster and created the root with another id, so revoke the trust in this process's id.
        trust.revoke_trust(&marker.project_id, &root.path, wait)?;
    }
    Ok(created)
}

/// Returns where to create the root. A folder with a damaged marker counts as a root, because that marker must be
/// replaced.
fn choose_root(world: &World, below: RootLocation) -> Result<Root> {
    if below == RootLocation::Nested {
        let here = world.explicit_root().map_or_else(|| world.require_cwd().map(Path::to_owned), Ok)?;
        let root = root_even_if_damaged(world.find_root_from(Some(&here), &[]).map_err(Error::from))?;
        world.refuse_unfit_root(&root)?;
        return Ok(root);
    }
    let root = root_even_if_damaged(world.find_root())?;
    world.refuse_unfit_root(&root)?;
    refuse_root_below_another(world, &root)?;
    Ok(root)
}

/// Returns an error if the folder in `--root` is inside another root, because nested roots must be requested with
/// `--nested`.
pub(crate) fn refuse_root_below_another(world: &World, root: &Root) -> Result<()> {
    let above: Vec<&Path> = root.path.parent().into_iter().collect();
    if world.explicit_root().is_some()
        && !root.path.join(store::layout::STORE_FOLDER).join(store::layout::MARKER_FILE).exists()
        && let Ok(FoundRoot::Marked { root: outer, .. }) = world.find_root_from(None, &above)
    {
        return Err(Error::Refused {
            what: format!("{}: this folder is inside the root {}", root.path.display(), outer.path.display()),
            hint: "use that root, or create another one inside it with `thru init --nested`".into(),
        });
    }
    Ok(())
}

fn root_even_if_damaged(found: Result<FoundRoot>) -> Result<Root> {
    match found {
        Ok(FoundRoot::Marked { root, .. } | FoundRoot::Unmarked(root)) => Ok(root),
        Err(Error::Store(store::Error::Damaged { path, .. })) => {
            let root = path.ancestors().nth(3).map(PathBuf::from).unwrap_or_default();
            Ok(Root { path: root.clone(), checkout: root })
        }
        Err(e) => Err(e),
    }
}

fn project_name_from_folder(root: &Root) -> String {
    root.path.file_name().map_or_else(|| "project".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Makes a project id from the time in `world` and random bytes.
fn new_project_id(world: &World) -> Result<ProjectId> {
    let millis = world.now.as_millisecond().unsigned_abs();
    let id = uuid::Builder::from_unix_timestamp_millis(millis, &store::random_bytes()?).into_uuid();
    ProjectId::new(&id.to_string()).ok_or_else(|| Error::Refused {
        what: "cannot create a project id".into(),
        hint: "check the clock, or THROUGHLINE_NOW".into(),
    })
}
