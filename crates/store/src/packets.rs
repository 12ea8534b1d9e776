//! Packets on disk: made once, edited under a lock, listed by an index that can be deleted at any time.

use std::borrow::Cow;
use std::time::Duration;

use model::document::Document;
use model::id::Id;
use model::packet::{Packet, Status};
use rustix::fs::{self, AtFlags, FileType};

use crate::{Dir, Durability, Error, Lock, Result, Store, layout};

/// Larger than any packet a person reads.
const LARGEST: usize = 4 * 1024 * 1024;

/// Below this many an index saves nothing.
const WORTH_AN_INDEX: usize = 1_000;

/// How many of the newest are looked at one by one when nothing came or went: those are the ones people edit in place.
/// To look at a hundred thousand would take longer than anybody waits for a list.
const WATCHED: usize = 1_000;

/// The first line of the index. Another one means that it is made anew.
const HEAD: &str = "thru packets 1";

/// File systems tell time in steps: an index is believed only when it is this much younger than the folder's last change.
const STEP_NS: i64 = 1_000_000_000;

/// One packet, as far as a list shows it. Most of a long list is never looked at, so its words stay where they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed<'a> {
    /// The file's name without its ending: what names the packet.
    pub name: Cow<'a, str>,
    pub status: Option<Status>,
    pub updated_at: Cow<'a, str>,
    pub created_at: Cow<'a, str>,
    pub claimed_by: Cow<'a, str>,
    pub purpose: Cow<'a, str>,
    stamp: Stamp,
}

/// What tells that a file is still the one that was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Stamp {
    changed_ns: i64,
    size: u64,
}

impl Store {
    /// Writes a new packet. `render` is asked for the n-th name and its bytes until a name is free.
    pub fn create_packet(&self, mut render: impl FnMut(usize) -> (String, Vec<u8>)) -> Result<String> {
        let folder = self.dir().make(layout::PACKETS)?;
        let mut n = 1;
        loop {
            let (name, bytes) = render(n);
            if folder.create(&format!("{name}.md"), &bytes)? {
                return Ok(name);
            }
            n += 1;
        }
    }

    pub fn packet(&self, id: &Id) -> Result<Document> {
        Ok(Document::parse(self.dir().read(&layout::packet(id), LARGEST)?))
    }

    /// Held while a packet is changed.
    pub fn lock_packets(&self, wait: Duration) -> Result<Lock> {
        self.lock_made(layout::PACKETS_LOCK, wait)
    }

    /// Replaces a packet. The caller holds the lock.
    pub fn write_packet(&self, id: &Id, document: &Document) -> Result<()> {
        let folder = self.dir().sub(layout::PACKETS)?;
        folder.write(&format!("{id}.md"), document.bytes(), Durability::Synced)
    }

    /// The names of all packets, in the order of their names, which is that of their making.
    pub fn packet_names(&self) -> Result<Vec<String>> {
        let folder = match self.dir().sub(layout::PACKETS) {
            Err(Error::Absent { .. }) => return Ok(Vec::new()),
            folder => folder?,
        };
        let entries = folder.entries()?.into_iter().map(|entry| entry.name);
        Ok(entries.filter_map(|name| name_of(&name).map(str::to_owned)).collect())
    }

    /// Shows every packet to `look`. With many of them an index spares opening each. What it says of one of the newest
    /// counts only as long as that file has not been touched; of the others, as long as nothing in the folder came, went
    /// or was replaced. Whoever needs one packet reads the packet.
    pub fn packets<T>(&self, look: impl FnOnce(Vec<Listed<'_>>) -> T) -> Result<T> {
        let folder = match self.dir().sub(layout::PACKETS) {
            Err(Error::Absent { .. }) => return Ok(look(Vec::new())),
            folder => folder?,
        };
        let changed = stamp(self.dir(), layout::PACKETS).map_or(0, |stamp| stamp.changed_ns);
        let index = self.read_index();
        let is_current = index.as_ref().is_some_and(|index| index.is_current(changed));
        let text = index.map(|index| index.text).unwrap_or_default();
        let known: Vec<&str> = text.lines().skip(1).collect();
        let (listed, fresh) = if is_current {
            // Sorted by name, which begins with the time of making.
            let (old, new) = known.split_at(known.len().saturating_sub(WATCHED));
            let (mut listed, _) = side_by_side(old, |line| Some((Listed::parse(line)?, Read::Index)));
            let (watched, fresh) = side_by_side(new, |line| checked(&folder, line));
            listed.extend(watched);
            (listed, fresh)
        } else {
            let names: Vec<String> = folder.entries()?.into_iter().map(|entry| entry.name).collect();
            let names: Vec<&str> = names.iter().filter_map(|name| name_of(name)).collect();
            side_by_side(&names, |name| looked_up(&folder, name, &known))
        };
        if listed.len() >= WORTH_AN_INDEX && (fresh > 0 || !is_current) {
            self.write_index(changed, &listed);
        }
        Ok(look(listed))
    }

    fn read_index(&self) -> Option<Index> {
        let bytes = self.dir().read(layout::PACKETS_INDEX, 512 * 1024 * 1024).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        let (of_folder, count) = text.lines().next()?.strip_prefix(HEAD)?.trim().split_once(' ')?;
        let (of_folder, count) = (of_folder.parse().ok()?, count.parse::<usize>().ok()?);
        // One that was cut short would hide packets.
        if !text.ends_with('\n') || text.lines().count() != count + 1 {
            return None;
        }
        Some(Index { written: stamp(self.dir(), layout::PACKETS_INDEX)?.changed_ns, of_folder, text })
    }

    /// A cache: whether it can be written is nobody's concern.
    fn write_index(&self, changed: i64, listed: &[Listed<'_>]) {
        let mut text = format!("{HEAD} {changed} {}\n", listed.len());
        for packet in listed {
            packet.print(&mut text);
        }
        if let Ok(folder) = self.dir().make("indexes") {
            let name = layout::PACKETS_INDEX.rsplit('/').next().unwrap_or_default();
            let _ = folder.write(name, text.as_bytes(), Durability::Cache);
        }
    }
}

/// A line of the index, if it still speaks the truth; else the packet itself.
fn checked<'a>(folder: &Dir, line: &'a str) -> Option<(Listed<'a>, Read)> {
    let listed = Listed::parse(line)?;
    let stamp = stamp(folder, &format!("{}.md", listed.name))?;
    if stamp == listed.stamp { Some((listed, Read::Index)) } else { read_listed(folder, &listed.name, stamp) }
}

fn looked_up<'a>(folder: &Dir, name: &str, known: &[&'a str]) -> Option<(Listed<'a>, Read)> {
    let stamp = stamp(folder, &format!("{name}.md"))?;
    // Sorted by name, as it was written.
    let place = known.binary_search_by(|line| line.split('\t').next().unwrap_or_default().cmp(name)).ok();
    match place.and_then(|place| Listed::parse(known[place])).filter(|listed| listed.stamp == stamp) {
        Some(listed) => Some((listed, Read::Index)),
        None => read_listed(folder, name, stamp),
    }
}

fn read_listed<'a>(folder: &Dir, name: &str, stamp: Stamp) -> Option<(Listed<'a>, Read)> {
    let bytes = folder.read(&format!("{name}.md"), LARGEST).ok()?;
    let packet = Packet::read(&Document::parse(bytes), name);
    let listed = Listed {
        name: name.to_owned().into(),
        status: packet.status,
        updated_at: packet.updated_at.into(),
        created_at: packet.created_at.into(),
        claimed_by: packet.claimed_by.into(),
        purpose: packet.purpose.into(),
        stamp,
    };
    Some((listed, Read::File))
}

fn stamp(folder: &Dir, name: &str) -> Option<Stamp> {
    let stat = fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    (kind != FileType::Symlink).then(|| Stamp {
        changed_ns: stat.st_mtime as i64 * 1_000_000_000 + stat.st_mtime_nsec as i64,
        size: u64::try_from(stat.st_size).unwrap_or(0),
    })
}

/// Where an entry of a list came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Read {
    Index,
    File,
}

struct Index {
    /// When it was written, and the folder's last change as it was then.
    written: i64,
    of_folder: i64,
    text: String,
}

impl Index {
    fn is_current(&self, changed: i64) -> bool {
        self.of_folder == changed && self.written - changed > STEP_NS
    }
}

impl<'a> Listed<'a> {
    fn parse(line: &'a str) -> Option<Listed<'a>> {
        let mut fields = line.split('\t');
        let mut next = || fields.next();
        let name = next()?.into();
        let stamp = Stamp { changed_ns: next()?.parse().ok()?, size: next()?.parse().ok()? };
        let status = Status::parse(next()?);
        let [updated_at, created_at, claimed_by, purpose] =
            [next()?, next()?, next()?, next()?].map(Cow::Borrowed);
        Some(Listed { name, status, updated_at, created_at, claimed_by, purpose, stamp })
    }

    fn print(&self, text: &mut String) {
        let status = self.status.map_or("", Status::name);
        let Stamp { changed_ns, size } = self.stamp;
        text.push_str(&format!("{}\t{changed_ns}\t{size}\t{status}", self.name));
        for field in [&self.updated_at, &self.created_at, &self.claimed_by, &self.purpose] {
            text.push('\t');
            text.extend(field.chars().map(|c| if c.is_control() { ' ' } else { c }));
        }
        text.push('\n');
    }
}

/// The name of a packet, if a file is one.
fn name_of(file: &str) -> Option<&str> {
    file.strip_suffix(".md").filter(|name| Id::new(name).is_ok())
}

/// The work of a long list, shared by the cores; the order stays. Also says how many had to be read.
fn side_by_side<'a, T: Sync>(
    items: &[T],
    work: impl Fn(&T) -> Option<(Listed<'a>, Read)> + Sync,
) -> (Vec<Listed<'a>>, usize) {
    let do_part = |part: &[T]| {
        let (mut listed, mut read) = (Vec::with_capacity(part.len()), 0);
        for (one, from) in part.iter().filter_map(&work) {
            listed.push(one);
            read += usize::from(from == Read::File);
        }
        (listed, read)
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let parts = if items.len() < WORTH_AN_INDEX { 1 } else { cores.min(8) };
    if parts == 1 {
        return do_part(items);
    }
    std::thread::scope(|scope| {
        let size = items.len().div_ceil(parts).max(1);
        let running: Vec<_> = items.chunks(size).map(|part| scope.spawn(|| do_part(part))).collect();
        let (mut all, mut read) = (Vec::with_capacity(items.len()), 0);
        for part in running {
            let (listed, more) = part.join().unwrap_or_default();
            all.extend(listed);
            read += more;
        }
        (all, read)
    })
}

#[cfg(test)]
#[path = "packets_tests.rs"]
mod tests;
