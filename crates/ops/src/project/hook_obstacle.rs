//! Finds out whether hooks do anything in a project. thru checks this before it prints what a session will be told,
//! because hooks that do not work tell a session nothing.

use std::path::{Path, PathBuf};

use harness::Harness;
use model::marker::{ProjectId, RootMarker};
use model::render::one_line;
use store::{FoundRoot, Root, Store};

use crate::World;
use crate::project::{person, settings, trust};
use crate::session::{list, roster};
use crate::setup::install::{self, IgnoredFile, TrackedSettings};

/// Why hooks record nothing in a project and tell the agent nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookObstacle {
    NotTrusted,
    /// The project was trusted at the path `from`, and its folder was moved.
    Moved {
        from: String,
    },
    SwitchedOff,
    /// The harness ignores the only settings file that contains thru's hooks.
    FileIgnored {
        path: PathBuf,
    },
    /// No settings file calls thru, and nothing shows that a plugin does.
    NotInstalled {
        command: String,
    },
}

impl HookObstacle {
    /// Says why hooks do nothing, and what does not happen until the user has changed that.
    pub fn explain(&self, consequence: &str) -> String {
        let reason = match self {
            HookObstacle::NotTrusted => "the records are not trusted on this machine".to_owned(),
            HookObstacle::Moved { from } => format!("this project was moved from {}", one_line(from, 300)),
            HookObstacle::SwitchedOff => "they are switched off".to_owned(),
            HookObstacle::FileIgnored { path } => {
                format!("the harness ignores {}", one_line(&path.to_string_lossy(), 300))
            }
            HookObstacle::NotInstalled { .. } => "no settings file calls thru".to_owned(),
        };
        format!("hooks do nothing here, because {reason}. {}", self.explain_consequence(consequence))
    }

    /// Says what does not happen until the user has made hooks work. `consequence` is the beginning of a sentence, such as
    /// `The loop does not run`.
    pub fn explain_consequence(&self, consequence: &str) -> String {
        let way_out = match self {
            HookObstacle::NotTrusted => "you look at the records and run `thru trust`".to_owned(),
            HookObstacle::Moved { .. } => "you run `thru trust --moved`".to_owned(),
            HookObstacle::SwitchedOff => {
                "they are switched on again (`thru config` shows where they are off)".to_owned()
            }
            HookObstacle::FileIgnored { .. } => {
                "you remove the comments and trailing commas from that file".to_owned()
            }
            HookObstacle::NotInstalled { command } => format!("you run `{command}`"),
        };
        format!("{consequence} until {way_out}.")
    }
}

/// Everything that decides whether hooks work in a checkout.
pub(crate) struct HookConditions {
    pub trusted: bool,
    pub moved_from: Option<String>,
    pub is_switched_off: bool,
    /// The harnesses that call thru in this checkout.
    pub wired: Vec<&'static Harness>,
    /// The settings files that contain thru's hooks but that their harness ignores.
    pub ignored_files: Vec<IgnoredFile>,
    /// The settings file into which hooks were not installed, because git tracks it.
    pub tracked_settings: Option<TrackedSettings>,
    pub sessions: usize,
    /// Whether `thru install` was ever run in this checkout.
    pub was_installed: bool,
}

impl HookConditions {
    pub fn examine(world: &World, root: &Root, store: &Store, marker: &RootMarker) -> HookConditions {
        let trusted = world.is_trusted(marker, &root.path);
        let moved_from = match trusted {
            true => None,
            false => trust::former_root(world, &marker.project_id, &root.path),
        };
        let ignored_files = install::ignored_files(world, &root.checkout);
        let is_wired = |harness: &&Harness| {
            let files = install::wired_files_in_force(world, harness, &root.checkout);
            files.iter().any(|file| ignored_files.iter().all(|ignored| ignored.path != file.path))
        };
        let wired: Vec<&Harness> = harness::HARNESSES.iter().filter(is_wired).collect();
        let tracked_settings = match wired.is_empty() && ignored_files.is_empty() {
            true => install::tracked_settings(world, &root.checkout),
            false => None,
        };
        let settings = settings::resolve_settings(world, trusted.then_some(store)).settings();
        HookConditions {
            trusted,
            moved_from,
            is_switched_off: !settings.hooks_enabled || world.is_variable_on("THROUGHLINE_DISABLE"),
            was_installed: wired.is_empty() && was_installed(world, &marker.project_id, &root.checkout),
            wired,
            ignored_files,
            tracked_settings,
            sessions: list::all_session_ids(store).map_or(0, |sessions| sessions.len()),
        }
    }

    pub fn obstacle(&self) -> Option<HookObstacle> {
        match (&self.moved_from, self.ignored_files.first()) {
            (Some(from), _) => return Some(HookObstacle::Moved { from: from.clone() }),
            _ if !self.trusted => return Some(HookObstacle::NotTrusted),
            _ if self.is_switched_off => return Some(HookObstacle::SwitchedOff),
            _ if !self.wired.is_empty() => return None,
            (None, Some(ignored)) => {
                return Some(HookObstacle::FileIgnored { path: ignored.path.clone() });
            }
            (None, None) => {}
        }
        // If hooks have run although no settings file calls thru, a plugin of the harness calls it.
        if self.sessions > 0 && !self.was_installed {
            return None;
        }
        let command = match &self.tracked_settings {
            Some(tracked) => format!("thru install {} --user", tracked.harness),
            None => "thru init".to_owned(),
        };
        Some(HookObstacle::NotInstalled { command })
    }
}

/// Returns why hooks do nothing in the project of the working directory, or `None` if they work or there is no root.
pub fn hook_obstacle_here(world: &World) -> Option<HookObstacle> {
    let Ok(FoundRoot::Marked { root, store, marker }) = world.find_root() else { return None };
    let obstacle = HookConditions::examine(world, &root, &store, &marker).obstacle()?;
    // If hooks have recorded the session that runs this command, a plugin of its harness calls thru.
    let is_recorded = || is_calling_session_recorded(world, &store);
    let is_plugin = matches!(obstacle, HookObstacle::NotInstalled { .. }) && is_recorded();
    (!is_plugin).then_some(obstacle)
}

fn is_calling_session_recorded(world: &World, store: &Store) -> bool {
    let Some(session) = list::session_of_current_harness(world) else {
        return person::is_inside_harness(world) && list::session_of_calling_process(store).is_some();
    };
    let entries = roster::read_roster(store, roster::ROSTER_TAIL_BYTES).unwrap_or_default();
    entries.iter().any(|entry| entry.session == session && entry.is_open())
}

/// Returns whether `thru install` was ever run in this checkout, or at a path that the project was moved from.
/// If not, hooks may still run, because a plugin of the harness may call thru.
fn was_installed(world: &World, id: &ProjectId, checkout: &Path) -> bool {
    let installed = world.installs().and_then(|installs| installs.list_checkouts().ok()).unwrap_or_default();
    let former = world.trust_records().and_then(|trust| trust.former_paths(id).ok()).unwrap_or_default();
    installed.iter().any(|known| known == checkout || former.iter().any(|old| known == Path::new(old)))
}
