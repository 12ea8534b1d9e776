//! The project that a command works on: its root, its store, its marker.

pub mod benchmark;
pub(crate) mod consent;
pub mod doctor;
pub mod extract;
pub(crate) mod git;
pub mod person;
pub mod settings;
pub mod status;
pub mod trust;

use std::path::PathBuf;

use model::marker::Marker;
use store::{Found, Root, Store, layout};

use crate::setup::init;
use crate::{Error, Result, World};

#[derive(Debug)]
pub struct Project {
    pub root: Root,
    pub store: Store,
    pub marker: Marker,
}

impl Project {
    /// For commands that read: creates nothing, and also reads records without a marker.
    pub fn find(world: &World) -> Result<Project> {
        match world.find()? {
            Found::Marked { root, store, marker } => Ok(Project { root, store, marker }),
            Found::Unmarked(root) => match Store::at(&root.path)? {
                Some(store) => Ok(Project { store, marker: Marker::none(), root }),
                None => Err(Error::NoRoot { path: root.path }),
            },
        }
    }

    /// For commands that list: None where there is nothing to list.
    pub fn look(world: &World) -> Result<Option<Project>> {
        match Project::find(world) {
            Err(Error::NoRoot { .. }) => Ok(None),
            found => found.map(Some),
        }
    }

    /// For commands that write: creates the root if there is none.
    pub fn find_or_make(world: &World) -> Result<Project> {
        match world.find()? {
            Found::Marked { root, store, marker } => Ok(Project { root, store, marker }),
            Found::Unmarked(root) => {
                world.refuse_unfit(&root)?;
                init::refuse_below_another(world, &root)?;
                let marker = init::create(world, &root, &init::Options::default(), init::PATIENCE)?.marker;
                let store = Store::at(&root.path)?.ok_or(Error::NoRoot { path: root.path.clone() })?;
                Ok(Project { store: world.with_machine_records(store, &marker, &root.path), root, marker })
            }
        }
    }
}

/// What is here, searched once: every command looks before and after its work.
#[derive(Debug)]
pub struct Surroundings(Result<Found>);

impl Surroundings {
    pub fn of(world: &World) -> Surroundings {
        Surroundings(world.find())
    }

    pub fn is_root(&self) -> bool {
        matches!(self.0, Ok(Found::Marked { .. }))
    }

    /// Whether there is neither a root nor a record here.
    pub fn is_empty(&self) -> bool {
        matches!(&self.0, Ok(Found::Unmarked(root)) if matches!(Store::at(&root.path), Ok(None)))
    }

    /// Returns the records of a root without a marker, if there are any.
    pub fn unmarked(&self) -> Option<PathBuf> {
        let Ok(Found::Unmarked(root)) = &self.0 else { return None };
        Store::at(&root.path).ok()??;
        Some(root.path.join(layout::STORE))
    }

    /// Returns whether the store here is not trusted on this machine, so that its records are somebody else's text.
    pub fn is_untrusted(&self, world: &World) -> bool {
        match &self.0 {
            Ok(Found::Marked { root, marker, .. }) => !world.trusts(marker, &root.path),
            Ok(Found::Unmarked(root)) => matches!(Store::at(&root.path), Ok(Some(_))),
            Err(_) => false,
        }
    }
}
