//! Packets on disk. A packet is created once, and edited under a lock. The submodule [`listing`] lists packets.

mod listing;

use std::time::Duration;

use model::document::Document;
use model::id::Id;

use crate::{Durability, Error, Lock, Result, Store, layout};

pub use listing::{ListedPacket, PacketListing};

/// The size limit of a packet. Nobody would read a larger one.
const MAX_PACKET_BYTES: usize = 4 * 1024 * 1024;

impl Store {
    /// Writes a new packet. `render(n)` returns the `n`-th name to try and the packet's bytes. It is called until a
    /// name is free.
    pub fn create_packet(&self, mut render: impl FnMut(usize) -> (String, Vec<u8>)) -> Result<String> {
        let folder = self.dir().create_subfolder(layout::PACKETS_FOLDER)?;
        let mut n = 1;
        loop {
            let (name, bytes) = render(n);
            if folder.create_private_file(&format!("{name}.md"), &bytes)? {
                return Ok(name);
            }
            n += 1;
        }
    }

    pub fn read_packet(&self, id: &Id) -> Result<Document> {
        Ok(Document::parse(self.dir().read_file(&layout::packet_path(id), MAX_PACKET_BYTES)?))
    }

    /// Takes the lock that is held while a packet is changed.
    pub fn lock_packets(&self, wait: Duration) -> Result<Lock> {
        self.lock_by_path(layout::PACKETS_LOCK, wait)
    }

    /// Replaces a packet. The caller must hold the lock.
    pub fn replace_packet(&self, id: &Id, document: &Document) -> Result<()> {
        let folder = self.dir().open_subfolder(layout::PACKETS_FOLDER)?;
        folder.write(&format!("{id}.md"), document.bytes(), Durability::Synced)
    }

    /// Returns the names of all packets in alphabetical order. Names begin with a time, so this is also the order of
    /// creation.
    pub fn packet_names(&self) -> Result<Vec<String>> {
        let folder = match self.dir().open_subfolder(layout::PACKETS_FOLDER) {
            Err(Error::Absent { .. }) => return Ok(Vec::new()),
            folder => folder?,
        };
        let entries = folder.entries()?.into_iter().map(|entry| entry.name);
        Ok(entries.filter_map(|name| packet_name_of_file(&name).map(str::to_owned)).collect())
    }
}

/// Returns the name of the packet in a file, or `None` if the file is not a packet.
fn packet_name_of_file(file: &str) -> Option<&str> {
    file.strip_suffix(".md").filter(|name| Id::new(name).is_ok())
}
