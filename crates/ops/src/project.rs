//! The project that a command works on: its root, its store and its marker.

pub mod benchmark;
pub(crate) mod consent;
pub mod doctor;
pub mod extract;
pub(crate) mod git;
pub mod hook_obstacle;
pub mod person;
pub mod settings;
pub mod status;
pub mod trust;

use std::path::PathBuf;

use model::marker::RootMarker;
use store::{FoundRoot, Root, Store, layout};

use crate::setup::init;
use crate::{Error, Result, World};

#[derive(Debug)]
pub struct Project {
    pub root: Root,
    pub store: Store,
    pub marker: RootMarker,
}

impl Project {
    /// Finds the project for a command that only reads. Nothing is created, and records without a marker are
    /// accepted.
    pub fn find_for_reading(world: &World) -> Result<Project> {
        match world.find_root()? {
            FoundRoot::Marked { root, store, marker } => Ok(Project { root, store, marker }),
            FoundRoot::Unmarked(root) => match Store::open_at_root(&root.path)? {
                Some(store) => Ok(Project { store, marker: RootMarker::placeholder(), root }),
                None => Err(Error::NoRoot { path: root.path }),
            },
        }
    }

    /// Like [`Project::find_for_reading`], but returns `None` if there is no root.
    pub fn find_if_present(world: &World) -> Result<Option<Project>> {
        match Project::find_for_reading(world) {
            Err(Error::NoRoot { .. }) => Ok(None),
            found => found.map(Some),
        }
    }

    /// Finds the project for a command that writes, and creates the root if there is none.
    pub fn find_or_create(world: &World) -> Result<Project> {
        match world.find_root()? {
            FoundRoot::Marked { root, store, marker } => Ok(Project { root, store, marker }),
            FoundRoot::Unmarked(root) => {
                world.refuse_unfit_root(&root)?;
                init::refuse_root_below_another(world, &root)?;
                let marker = init::create_store(
                    world,
                    &root,
                    &init::InitOptions::default(),
                    init::MAX_WAIT_FOR_RECORD_LOCK,
                )?
                .marker;
                let store =
                    Store::open_at_root(&root.path)?.ok_or(Error::NoRoot { path: root.path.clone() })?;
                Ok(Project { store: world.with_machine_records(store, &marker, &root.path), root, marker })
            }
        }
    }
}

/// The result of the search for a root. Every command needs it before and after its work, so the search is done only
/// once.
#[derive(Debug)]
pub struct RootSearch(Result<FoundRoot>);

impl RootSearch {
    pub fn search_root(world: &World) -> RootSearch {
        RootSearch(world.find_root())
    }

    pub fn is_root(&self) -> bool {
        matches!(self.0, Ok(FoundRoot::Marked { .. }))
    }

    /// Returns whether there is neither a root nor a store.
    pub fn is_empty(&self) -> bool {
        matches!(&self.0, Ok(FoundRoot::Unmarked(root)) if matches!(Store::open_at_root(&root.path), Ok(None)))
    }

    /// Returns what to do if there is no root.
    pub fn advice_without_root(&self) -> &'static str {
        match &self.0 {
            Ok(FoundRoot::Unmarked(root))
                if store::git::missing_git_folder_of_worktree(&root.checkout).is_some() =>
            {
                crate::error::REPAIR_WORKTREE_HINT
            }
            _ => "run `thru init` in your project's folder to create one",
        }
    }

    /// Returns the store's folder if the store exists but has no marker.
    pub fn unmarked_records_folder(&self) -> Option<PathBuf> {
        let Ok(FoundRoot::Unmarked(root)) = &self.0 else { return None };
        Store::open_at_root(&root.path).ok()??;
        Some(root.path.join(layout::STORE_FOLDER))
    }

    /// Returns why the store is not trusted, or `None` if it is trusted or does not exist.
    pub fn why_untrusted(&self, world: &World) -> Option<UntrustedReason> {
        match &self.0 {
            Ok(FoundRoot::Marked { root, marker, .. }) if world.is_trusted(marker, &root.path) => None,
            Ok(FoundRoot::Marked { root, marker, .. }) => {
                let from = trust::former_root(world, &marker.project_id, &root.path);
                Some(from.map_or(UntrustedReason::NotTrusted, |from| UntrustedReason::Moved { from }))
            }
            Ok(FoundRoot::Unmarked(root)) => {
                matches!(Store::open_at_root(&root.path), Ok(Some(_))).then_some(UntrustedReason::NotTrusted)
            }
            Err(_) => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UntrustedReason {
    /// The user has not trusted the store, so another person may have written its records.
    NotTrusted,
    /// The project was trusted at the path `from`, which no longer exists, so the folder was probably moved.
    Moved { from: String },
}
