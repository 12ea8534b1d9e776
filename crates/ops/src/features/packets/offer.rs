//! The packets on offer: those that no running session has claimed. A session that starts is told about them.

use jiff::Timestamp;
use model::brief::Candidate;
use model::id::Id;
use model::packet::{Packet, PacketStatus};
use model::render::in_quotation_marks;
use store::{ListedPacket, Store, layout};

use crate::Result;
use crate::features::packets;
use crate::features::packets::pickup::ClaimingSessions;
use crate::session::roster;

/// How many packets a brief offers.
const MAX_PACKETS_OFFERED: usize = 3;

/// With this many packets or more, only the beginning of the index is read, because a session start has no time to
/// list the folder.
const MAX_PACKETS_LISTED: usize = 500;
/// How many bytes are read from the beginning of the index.
const INDEX_HEAD_BYTES: usize = 8 * 1024;

/// Returns one line for each of the first packets on offer.
pub(super) fn offer_candidates(store: &Store, now: Timestamp) -> Result<Vec<Candidate>> {
    let on_offer = packets_on_offer(store, now)?;
    let candidate = |(at, OfferedPacket { id, purpose }): (usize, &OfferedPacket)| {
        let newer = on_offer.newer_crash.as_ref().filter(|_| at == 0);
        let newer = newer.map_or(String::new(), |newer| format!("; {}", newer.describe_as_newer()));
        let text =
            format!("on offer: {}; `thru pickup {id}` shows it{newer}", in_quotation_marks(purpose, 120));
        Candidate::new(&packets::PACKETS_BRIEF_SECTION, format!("{CANDIDATE_ID_PREFIX}{id}"), text)
    };
    Ok(on_offer.packets.iter().take(MAX_PACKETS_OFFERED).enumerate().map(candidate).collect())
}

/// A packet that any session can pick up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OfferedPacket {
    pub id: String,
    pub purpose: String,
}

impl OfferedPacket {
    /// Says that this packet of a crashed session is newer than the packet on offer.
    pub fn describe_as_newer(&self) -> String {
        format!("the packet of a crashed session is newer: `thru pickup {}`", self.id)
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct PacketsOnOffer {
    /// The active packets before the drafts, each most recently changed first. The first packet is the one that
    /// `thru status` and a brief name first and that `thru pickup` without an id uses.
    pub packets: Vec<OfferedPacket>,
    /// A draft of a crashed session that is newer than the first packet, if that packet is active.
    pub newer_crash: Option<OfferedPacket>,
}

/// Returns the open packets that no running session has claimed.
pub(super) fn packets_on_offer(store: &Store, now: Timestamp) -> Result<PacketsOnOffer> {
    let mut claimants = None;
    let mut free = open_packets(store)?;
    free.retain(|packet| {
        packet.claimed_by.is_empty() || {
            // Read the list of sessions only if a packet is claimed, because a session start has little time.
            let claimants = claimants.get_or_insert_with(|| read_claimants(store));
            claimants.is_claim_over(store, &packet.claimed_by, now)
        }
    });
    let first_active = free.iter().position(|packet| packet.is_active);
    let newer = first_active.and_then(|at| free.get(..at)).unwrap_or_default();
    let newer_crash = match newer {
        [] => None,
        newer => {
            let claimants = claimants.unwrap_or_else(|| read_claimants(store));
            let has_crashed = |packet: &&OpenPacket| {
                let document = Id::new(&packet.offered.id).ok().and_then(|id| store.read_packet(&id).ok());
                document.is_some_and(|document| {
                    let session = Packet::read_frontmatter(&document, &packet.offered.id).session_id;
                    claimants.has_crashed(store, &session, now)
                })
            };
            newer.iter().take(MAX_PACKETS_OFFERED).find(has_crashed).map(|packet| packet.offered.clone())
        }
    };
    let (active, drafts): (Vec<_>, Vec<_>) = free.into_iter().partition(|packet| packet.is_active);
    let packets = active.into_iter().chain(drafts).map(|packet| packet.offered).collect();
    Ok(PacketsOnOffer { packets, newer_crash })
}

fn read_claimants(store: &Store) -> ClaimingSessions {
    ClaimingSessions::read(store, roster::ROSTER_TAIL_BYTES).unwrap_or_default()
}

struct OpenPacket {
    offered: OfferedPacket,
    is_active: bool,
    claimed_by: String,
}

impl OpenPacket {
    /// Returns `None` if the packet is neither active nor a draft.
    fn new(name: &str, status: Option<PacketStatus>, claimed_by: &str, purpose: &str) -> Option<OpenPacket> {
        matches!(status, Some(PacketStatus::Draft | PacketStatus::Active)).then(|| OpenPacket {
            offered: OfferedPacket { id: name.to_owned(), purpose: purpose.to_owned() },
            is_active: status == Some(PacketStatus::Active),
            claimed_by: claimed_by.to_owned(),
        })
    }
}

pub(crate) const CANDIDATE_ID_PREFIX: &str = "offer:";

/// Returns the active packets and the drafts, most recently changed first.
fn open_packets(store: &Store) -> Result<Vec<OpenPacket>> {
    let folder = match store.dir().open_subfolder(layout::PACKETS_FOLDER) {
        Err(store::Error::Absent { .. }) => return Ok(Vec::new()),
        folder => folder?,
    };
    if folder.names_up_to(MAX_PACKETS_LISTED)?.len() < MAX_PACKETS_LISTED {
        let listing = store.list_packets()?;
        let open = |packet: ListedPacket| {
            OpenPacket::new(packet.name, packet.status, packet.claimed_by, packet.purpose)
        };
        return Ok(listing.iter().filter_map(open).collect());
    }
    let names = store.newest_packets_in_index(INDEX_HEAD_BYTES);
    let open = names.iter().filter_map(|name| {
        let document = store.read_packet(&Id::new(name).ok()?).ok()?;
        let packet = Packet::read_frontmatter(&document, name);
        OpenPacket::new(name, packet.status, &packet.claimed_by, &packet.purpose)
    });
    Ok(open.collect())
}
