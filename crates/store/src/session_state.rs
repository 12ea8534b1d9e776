//! Reads and writes small files that contain a session's state.

use model::digest::{self, Digest};
use model::id::Id;
use model::session::PendingBrief;
use model::workstream;

use crate::{Durability, Error, FileInfo, Result, Store, feed, layout};

/// A kind of state file. Each session can have one file of each kind.
pub trait SessionState: Sized {
    const STATE_FOLDER: &'static str;
    const STATE_FILE_SUFFIX: &'static str = "";
    /// The size limit of the file. thru never writes a larger one.
    const MAX_STATE_FILE_BYTES: usize;
    const WRITE_DURABILITY: Durability = Durability::Relaxed;

    /// Parses a file. The error says what is wrong with it.
    fn parse(bytes: &[u8]) -> std::result::Result<Self, String>;

    fn to_bytes(&self) -> Vec<u8>;
}

#[derive(Clone, Copy, Debug)]
pub struct SessionStateHandle<'a> {
    store: &'a Store,
    id: &'a Id,
}

impl Store {
    pub fn session_state<'a>(&'a self, id: &'a Id) -> SessionStateHandle<'a> {
        SessionStateHandle { store: self, id }
    }

    /// Lists all sessions that have a file of kind `T`.
    pub fn sessions_with_state<T: SessionState>(&self) -> Result<Vec<Id>> {
        self.ids_in_file_names(T::STATE_FOLDER, T::STATE_FILE_SUFFIX)
    }
}

impl SessionStateHandle<'_> {
    /// Returns the session's `T`, or `None` if there is no file. Returns an error if the file cannot be read.
    pub fn read_state<T: SessionState>(&self) -> Result<Option<T>> {
        let path = state_file_path::<T>(self.id);
        let bytes = match self.store.dir().read_file(&path, T::MAX_STATE_FILE_BYTES) {
            Err(Error::Absent { .. }) => return Ok(None),
            bytes => bytes?,
        };
        let damaged = |why| Error::Damaged { path: self.store.dir().path().join(&path), line: None, why };
        T::parse(&bytes).map(Some).map_err(damaged)
    }

    /// Returns the size and the time of the file with the session's `T`, or `None` if there is no file.
    pub fn state_file_info<T: SessionState>(&self) -> Result<Option<FileInfo>> {
        self.store.dir().file_info(&state_file_path::<T>(self.id))
    }

    pub fn write_state<T: SessionState>(&self, state: &T) -> Result<()> {
        self.store.dir().write_at_path(&state_file_path::<T>(self.id), &state.to_bytes(), T::WRITE_DURABILITY)
    }

    pub fn remove_state<T: SessionState>(&self) -> Result<()> {
        self.store.dir().remove_file(&state_file_path::<T>(self.id))
    }

    /// Copies the `T` of `previous` to this session, unless this session already has one. Returns an error if either
    /// file cannot be read.
    pub fn inherit_from_session<T: SessionState>(&self, previous: &Id) -> Result<()> {
        if self.read_state::<T>()?.is_some() {
            return Ok(());
        }
        match self.store.session_state(previous).read_state::<T>()? {
            Some(state) => self.write_state(&state),
            None => Ok(()),
        }
    }
}

fn state_file_path<T: SessionState>(session: &Id) -> String {
    format!("{}/{session}{}", T::STATE_FOLDER, T::STATE_FILE_SUFFIX)
}

impl SessionState for PendingBrief {
    const STATE_FOLDER: &'static str = layout::PENDING_SESSIONS_FOLDER;
    const MAX_STATE_FILE_BYTES: usize = 64;

    fn parse(bytes: &[u8]) -> std::result::Result<PendingBrief, String> {
        // Unknown content also means that a brief is pending. `Announced` is the safer assumption, because the
        // compaction may not have happened.
        Ok(if bytes == b"due\n" { PendingBrief::Due } else { PendingBrief::Announced })
    }

    fn to_bytes(&self) -> Vec<u8> {
        match self {
            PendingBrief::Due => b"due\n".to_vec(),
            PendingBrief::Announced => b"announced\n".to_vec(),
        }
    }
}

/// How far the session's transcript has been read.
impl SessionState for feed::FeedCursor {
    const STATE_FOLDER: &'static str = layout::CURSORS_FOLDER;
    const STATE_FILE_SUFFIX: &'static str = ".json";
    const MAX_STATE_FILE_BYTES: usize = 64 * 1024;
    const WRITE_DURABILITY: Durability = Durability::Rebuildable;

    fn parse(bytes: &[u8]) -> std::result::Result<feed::FeedCursor, String> {
        serde_json::from_slice(bytes).map_err(|error| error.to_string())
    }

    fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// A digest can be rebuilt from the journal, so hooks do not wait until it is on disk.
impl SessionState for Digest {
    const STATE_FOLDER: &'static str = layout::DIGESTS_FOLDER;
    const STATE_FILE_SUFFIX: &'static str = ".json";
    /// Limits a hook's memory use. A hook may use eight megabytes in total.
    const MAX_STATE_FILE_BYTES: usize = 2 * 1024 * 1024;
    const WRITE_DURABILITY: Durability = Durability::Rebuildable;

    fn parse(bytes: &[u8]) -> std::result::Result<Digest, String> {
        // Check in one pass that all bytes are valid UTF-8, so that serde need not check each string. This saves a
        // twentieth of the work of a checkpoint.
        let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
        let digest: Digest = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match digest.schema_version == digest::SCHEMA_VERSION {
            true => Ok(digest),
            false => Err(format!("its version is {}", digest.schema_version)),
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        digest::to_json_bytes(self)
    }
}

/// The workstream that was active when the session was compacted.
impl SessionState for workstream::WorkstreamAtCompaction {
    const STATE_FOLDER: &'static str = layout::WORKSTREAM_AT_COMPACTION_FOLDER;
    const STATE_FILE_SUFFIX: &'static str = ".json";
    const MAX_STATE_FILE_BYTES: usize = workstream::MAX_WORKSTREAM_STATE_FILE_BYTES * 4;

    fn parse(bytes: &[u8]) -> std::result::Result<workstream::WorkstreamAtCompaction, String> {
        workstream::WorkstreamAtCompaction::parse(bytes)
    }

    fn to_bytes(&self) -> Vec<u8> {
        workstream::WorkstreamAtCompaction::to_bytes(self)
    }
}
