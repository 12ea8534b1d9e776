//! Small files with the state of one session, and the functions that read and write them.

use model::digest::{self, Digest};
use model::id::Id;
use model::session::Pending;
use model::workstream;

use crate::{Durability, Error, Result, Store, feed, layout};

/// A kind of file of which each session can have one.
pub trait SessionState: Sized {
    /// The folder in which these files are.
    const FOLDER: &'static str;
    /// The suffix of the names of these files.
    const SUFFIX: &'static str = "";
    /// The size of the largest such file that thru writes.
    const LARGEST: usize;
    const DURABILITY: Durability = Durability::Relaxed;

    /// Parses a file. The error message says what is wrong with the file.
    fn parse(bytes: &[u8]) -> std::result::Result<Self, String>;

    fn bytes(&self) -> Vec<u8>;
}

/// A session of a store.
#[derive(Clone, Copy, Debug)]
pub struct Session<'a> {
    store: &'a Store,
    id: &'a Id,
}

impl Store {
    pub fn session<'a>(&'a self, id: &'a Id) -> Session<'a> {
        Session { store: self, id }
    }

    /// Lists every session that has a `T`.
    pub fn sessions_with<T: SessionState>(&self) -> Result<Vec<Id>> {
        self.ids_in(T::FOLDER, T::SUFFIX)
    }
}

impl Session<'_> {
    /// Returns the session's `T`; `None` if there is no file. A file that cannot be read is an error.
    pub fn get<T: SessionState>(&self) -> Result<Option<T>> {
        let path = path::<T>(self.id);
        let bytes = match self.store.dir().read(&path, T::LARGEST) {
            Err(Error::Absent { .. }) => return Ok(None),
            bytes => bytes?,
        };
        let damaged = |why| Error::Damaged { path: self.store.dir().path().join(&path), line: None, why };
        T::parse(&bytes).map(Some).map_err(damaged)
    }

    pub fn put<T: SessionState>(&self, state: &T) -> Result<()> {
        self.store.dir().put(&path::<T>(self.id), &state.bytes(), T::DURABILITY)
    }

    pub fn remove<T: SessionState>(&self) -> Result<()> {
        self.store.dir().remove(&path::<T>(self.id))
    }

    /// Copies the `T` of `previous` to this session, unless this session has a `T` of its own. If the `T` of
    /// `previous` cannot be read, nothing is copied.
    pub fn inherit<T: SessionState>(&self, previous: &Id) -> Result<()> {
        if self.get::<T>()?.is_some() {
            return Ok(());
        }
        match self.store.session(previous).get::<T>()? {
            Some(state) => self.put(&state),
            None => Ok(()),
        }
    }
}

fn path<T: SessionState>(session: &Id) -> String {
    format!("{}/{session}{}", T::FOLDER, T::SUFFIX)
}

impl SessionState for Pending {
    const FOLDER: &'static str = layout::PENDING;
    const LARGEST: usize = 64;

    fn parse(bytes: &[u8]) -> std::result::Result<Pending, String> {
        // Any other content means that a brief is pending. Assume the safer case: the session start may never come.
        Ok(if bytes == b"due\n" { Pending::Due } else { Pending::Announced })
    }

    fn bytes(&self) -> Vec<u8> {
        match self {
            Pending::Due => b"due\n".to_vec(),
            Pending::Announced => b"announced\n".to_vec(),
        }
    }
}

/// How far the session's transcript was read.
impl SessionState for feed::Cursor {
    const FOLDER: &'static str = layout::CURSORS;
    const SUFFIX: &'static str = ".json";
    const LARGEST: usize = 64 * 1024;
    const DURABILITY: Durability = Durability::Cache;

    fn parse(bytes: &[u8]) -> std::result::Result<feed::Cursor, String> {
        serde_json::from_slice(bytes).map_err(|error| error.to_string())
    }

    fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// A digest can be rebuilt from the journal, so no hook waits until it is on disk.
impl SessionState for Digest {
    const FOLDER: &'static str = layout::DIGESTS;
    const SUFFIX: &'static str = ".json";
    /// Limits the memory of a hook, which may use eight megabytes in total.
    const LARGEST: usize = 2 * 1024 * 1024;
    const DURABILITY: Durability = Durability::Cache;

    fn parse(bytes: &[u8]) -> std::result::Result<Digest, String> {
        let digest: Digest = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        match digest.schema_version == digest::SCHEMA_VERSION {
            true => Ok(digest),
            false => Err(format!("its version is {}", digest.schema_version)),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// Which workstream was active when the session was compacted.
impl SessionState for workstream::State {
    const FOLDER: &'static str = layout::PRECOMPACT;
    const SUFFIX: &'static str = ".json";
    const LARGEST: usize = workstream::LARGEST_STATE * 4;

    fn parse(bytes: &[u8]) -> std::result::Result<workstream::State, String> {
        workstream::State::parse(bytes)
    }

    fn bytes(&self) -> Vec<u8> {
        workstream::State::bytes(self)
    }
}
