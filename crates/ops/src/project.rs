//! The project a command works on: its root, its store, its marker.

use model::marker::Marker;
use store::{Found, Root, Store};

use crate::{Error, Result, World, init};

#[derive(Debug)]
pub struct Project {
    pub root: Root,
    pub store: Store,
    pub marker: Marker,
}

impl Project {
    /// For commands that read: what is not there is not made.
    pub fn find(world: &World) -> Result<Project> {
        match world.find()? {
            Found::Marked { root, store, marker } => Ok(Project { root, store, marker }),
            Found::Unmarked(root) => Err(Error::NoRoot { path: root.path }),
        }
    }

    /// For commands that write: the root is made where there is none.
    pub fn find_or_make(world: &World) -> Result<Project> {
        match world.find()? {
            Found::Marked { root, store, marker } => Ok(Project { root, store, marker }),
            Found::Unmarked(root) => {
                let marker = init::create(world, &root, &init::Options::default(), init::PATIENCE)?.marker;
                let store = Store::at(&root.path)?.ok_or(Error::NoRoot { path: root.path.clone() })?;
                Ok(Project { root, store, marker })
            }
        }
    }
}
