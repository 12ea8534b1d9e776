//! The list of packets, most recently changed first. If there are many packets, an index makes it unnecessary to open
//! each of them. The index can be deleted at any time.

use std::borrow::Cow;
use std::collections::HashMap;

use model::document::Document;
use model::packet::{Packet, PacketStatus};
use rustix::fs::{self, AtFlags, FileType};

use super::{MAX_PACKET_BYTES, packet_name_of_file};
use crate::{Dir, Durability, Error, Result, Store, layout};

/// How many packets there must be for an index to be worthwhile.
const MIN_PACKETS_FOR_INDEX: usize = 1_000;

/// How many packets at the top of the list are always checked individually, because people may edit them in place.
/// Checking a hundred thousand packets would take too long.
const MAX_PACKETS_CHECKED: usize = 1_000;

/// The size limit of an index, which is enough for several hundred thousand packets. A larger index is rebuilt.
const MAX_INDEX_BYTES: usize = 128 * 1024 * 1024;

/// The first line of the index. If the file begins differently, the index is rebuilt.
const INDEX_FIRST_LINE: &str = "thru packets 3";

/// An index is used only if it is at least this many nanoseconds newer than the folder's last change, because file
/// times are coarse.
const MIN_INDEX_AGE_NANOS: i64 = 1_000_000_000;

/// All packets in the format of the index: a first line, and then a line for each packet. Most of a long list is
/// never shown, so lines are parsed only when they are needed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PacketListing {
    text: String,
}

/// The fields of a packet that are shown in a list of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedPacket<'a> {
    /// The file's name without its suffix. It identifies the packet.
    pub name: &'a str,
    pub status: Option<PacketStatus>,
    pub updated_at: &'a str,
    pub created_at: &'a str,
    pub claimed_by: &'a str,
    /// The packet that continues this one, or empty if there is none.
    pub continued_by: &'a str,
    pub purpose: &'a str,
    /// A stamp that changes whenever the file changes.
    file_stamp: &'a str,
}

impl Store {
    /// Lists all packets. The index is used only if the packets at its top are unchanged and no file in the folder
    /// was added, removed or replaced. A caller that needs a single packet should read that packet instead.
    pub fn list_packets(&self) -> Result<PacketListing> {
        let folder = match self.dir().open_subfolder(layout::PACKETS_FOLDER) {
            Err(Error::Absent { .. }) => return Ok(PacketListing::default()),
            folder => folder?,
        };
        let changed = change_time_and_size(self.dir(), layout::PACKETS_FOLDER).map_or(0, |(at, _)| at);
        let known = match self.read_index() {
            Some(index) if index.is_current(changed) && index.listing.is_unchanged(&folder) => {
                return Ok(index.listing);
            }
            index => index.map(|index| index.listing).unwrap_or_default(),
        };
        let lines: HashMap<&str, &str> =
            known.lines().filter_map(|line| Some((line.split('\t').next()?, line))).collect();
        let names: Vec<String> = folder.entries()?.into_iter().map(|entry| entry.name).collect();
        let names: Vec<&str> = names.iter().filter_map(|name| packet_name_of_file(name)).collect();
        let listing = PacketListing::from_lines(
            changed,
            &map_in_parallel(&names, |name| index_line(&folder, name, &lines)),
        );
        if names.len() >= MIN_PACKETS_FOR_INDEX {
            self.write_index(&listing);
        }
        Ok(listing)
    }

    /// Returns the names at the top of the index, most recently changed first. This is fast, but the index may be
    /// outdated. If there is no index, returns no names.
    pub fn newest_packets_in_index(&self, bytes: usize) -> Vec<String> {
        let Ok(top) = self.dir().read_start(layout::PACKETS_INDEX, bytes) else { return Vec::new() };
        let text = String::from_utf8_lossy(&top);
        let Some((whole, _)) = text.rsplit_once('\n').filter(|_| text.starts_with(INDEX_FIRST_LINE)) else {
            return Vec::new();
        };
        whole.lines().skip(1).filter_map(ListedPacket::parse).map(|packet| packet.name.to_owned()).collect()
    }

    fn read_index(&self) -> Option<PacketIndex> {
        let bytes = self.dir().read_file(layout::PACKETS_INDEX, MAX_INDEX_BYTES).ok()?;
        let listing = PacketListing { text: String::from_utf8(bytes).ok()? };
        let (folder_changed_at, count) =
            listing.text.lines().next()?.strip_prefix(INDEX_FIRST_LINE)?.trim().split_once(' ')?;
        let (folder_changed_at, count) = (folder_changed_at.parse().ok()?, count.parse::<usize>().ok()?);
        // Do not use an incomplete index, because it would hide packets.
        let is_whole = listing.text.ends_with('\n') && listing.len() == count;
        let (written_at, _) = change_time_and_size(self.dir(), layout::PACKETS_INDEX)?;
        is_whole.then_some(PacketIndex { written_at, folder_changed_at, listing })
    }

    /// Writes the index. A failure is ignored, because the index is only a cache.
    fn write_index(&self, listing: &PacketListing) {
        if let Ok(folder) = self.dir().create_subfolder("indexes") {
            let name = layout::PACKETS_INDEX.rsplit('/').next().unwrap_or_default();
            let _ = folder.write(name, listing.text.as_bytes(), Durability::Rebuildable);
        }
    }
}

struct PacketIndex {
    written_at: i64,
    /// The folder's change time when the index was written.
    folder_changed_at: i64,
    listing: PacketListing,
}

impl PacketIndex {
    fn is_current(&self, changed: i64) -> bool {
        self.folder_changed_at == changed && self.written_at - changed > MIN_INDEX_AGE_NANOS
    }
}

impl PacketListing {
    fn from_lines(changed: i64, lines: &[Cow<'_, str>]) -> PacketListing {
        let mut sorted: Vec<(ListedPacket, &str)> =
            lines.iter().filter_map(|line| Some((ListedPacket::parse(line)?, line.as_ref()))).collect();
        sorted.sort_unstable_by(|(a, _), (b, _)| (b.updated_at, b.name).cmp(&(a.updated_at, a.name)));
        let mut text = format!("{INDEX_FIRST_LINE} {changed} {}\n", sorted.len());
        for (_, line) in sorted {
            text.push_str(line);
            text.push('\n');
        }
        PacketListing { text }
    }

    fn lines(&self) -> impl Iterator<Item = &str> {
        self.text.lines().skip(1)
    }

    /// Returns the packets, most recently changed first.
    pub fn iter(&self) -> impl Iterator<Item = ListedPacket<'_>> {
        self.lines().filter_map(ListedPacket::parse)
    }

    pub fn len(&self) -> usize {
        memchr::memchr_iter(b'\n', self.text.as_bytes()).count().saturating_sub(1)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn is_unchanged(&self, folder: &Dir) -> bool {
        let is_same = |packet: ListedPacket| {
            file_stamp(folder, packet.name).is_some_and(|stamp| stamp == packet.file_stamp)
        };
        self.iter().take(MAX_PACKETS_CHECKED).all(is_same)
    }
}

impl<'a> ListedPacket<'a> {
    fn parse(line: &'a str) -> Option<ListedPacket<'a>> {
        let mut fields = line.split('\t');
        let mut next = || fields.next();
        let [name, stamp, status] = [next()?, next()?, next()?];
        let [updated_at, created_at, claimed_by] = [next()?, next()?, next()?];
        let [continued_by, purpose] = [next()?, next()?];
        let status = PacketStatus::parse(status);
        Some(ListedPacket {
            name,
            status,
            updated_at,
            created_at,
            claimed_by,
            continued_by,
            purpose,
            file_stamp: stamp,
        })
    }
}

/// Returns a packet's line from the index if its file is unchanged. Otherwise, makes a new line from the packet.
fn index_line<'a>(folder: &Dir, name: &str, known: &HashMap<&str, &'a str>) -> Option<Cow<'a, str>> {
    let stamp = file_stamp(folder, name)?;
    if let Some(line) = known.get(name)
        && ListedPacket::parse(line).is_some_and(|packet| packet.file_stamp == stamp)
    {
        return Some(Cow::Borrowed(line));
    }
    let (stamp, packet) = match folder.read_file(&format!("{name}.md"), MAX_PACKET_BYTES) {
        Ok(bytes) => (stamp, Packet::read_frontmatter(&Document::parse(bytes), name)),
        Err(Error::Absent { .. }) => return None,
        // The file exists, so list it even if it cannot be read.
        Err(error) => ("-".into(), Packet { purpose: error.to_string(), ..Packet::default() }),
    };
    let status = packet.status.map_or("", PacketStatus::name);
    let mut line = format!("{name}\t{stamp}\t{status}");
    let Packet { updated_at, created_at, claimed_by, continued_by, purpose, .. } = &packet;
    for field in [updated_at, created_at, claimed_by, continued_by, purpose] {
        line.push('\t');
        line.extend(field.chars().map(|c| if c.is_control() { ' ' } else { c }));
    }
    Some(Cow::Owned(line))
}

fn file_stamp(folder: &Dir, name: &str) -> Option<String> {
    change_time_and_size(folder, &format!("{name}.md")).map(|(changed, size)| format!("{changed}:{size}"))
}

/// Returns a file's change time in nanoseconds, and the file's size.
fn change_time_and_size(folder: &Dir, name: &str) -> Option<(i64, i64)> {
    let stat = fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    let changed = stat.st_mtime as i64 * 1_000_000_000 + stat.st_mtime_nsec as i64;
    (kind != FileType::Symlink).then_some((changed, stat.st_size))
}

/// Divides the work on a long list among the processor's cores.
fn map_in_parallel<'a>(
    names: &[&str],
    work: impl Fn(&str) -> Option<Cow<'a, str>> + Sync,
) -> Vec<Cow<'a, str>> {
    let do_part = |part: &[&str]| part.iter().filter_map(|name| work(name)).collect::<Vec<_>>();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let parts = if names.len() < MIN_PACKETS_FOR_INDEX { 1 } else { cores.min(8) };
    if parts == 1 {
        return do_part(names);
    }
    std::thread::scope(|scope| {
        let size = names.len().div_ceil(parts).max(1);
        let running: Vec<_> = names.chunks(size).map(|part| scope.spawn(|| do_part(part))).collect();
        running.into_iter().flat_map(|part| part.join().unwrap_or_default()).collect()
    })
}

#[cfg(test)]
#[path = "listing_tests.rs"]
mod tests;
