//! The packets on offer: those that no running session has claimed. A session that starts is told about them.

use jiff::Timestamp;
use model::brief::Candidate;
use model::id::Id;
use model::packet::{Packet, PacketStatus};
use model::render::in_quotation_marks;
use store::{ListedPacket, Store, layout};

use crate::Result;
use crate::features::packets;
use crate::features::packets::claimed::ClaimsOfSessions;
use crate::features::packets::pickup::ClaimingSessions;
use crate::session::roster;

/// How many packets a brief offers.
const MAX_PACKETS_OFFERED: usize = 3;

/// With this many packets or more, only the beginning of the index is read, because a session start has no time to
/// list the folder.
const MAX_PACKETS_LISTED: usize = 500;
/// How many bytes are read from the beginning of the index.
const INDEX_HEAD_BYTES: usize = 8 * 1024;

/// Returns one line for each of the first packets on offer, except for those that `continued` claims.
pub(super) fn offer_candidates(
    store: &Store,
    now: Timestamp,
    continued: &ClaimsOfSessions,
) -> Result<Vec<Candidate>> {
    let candidate = |offered: &OfferedPacket| {
        let OfferedPacket { id, purpose, .. } = offered;
        let purpose = in_quotation_marks(purpose, 120);
        let text = format!(
            "on offer: {purpose}{}; {}",
            offered.note_on_crashed_origin(),
            how_to_continue_packet(id)
        );
        Candidate::new(
            &packets::PACKETS_BRIEF_SECTION,
            format!("{OFFERED_PACKET_CANDIDATE_ID_PREFIX}{id}"),
            text,
        )
    };
    let mut open = open_packets(store)?;
    open.retain(|packet| !continued.is_claimed(packet.status, &packet.claimed_by));
    Ok(offered_packets(store, now, open).iter().take(MAX_PACKETS_OFFERED).map(candidate).collect())
}

/// Tells an agent how to continue the work of a packet. The command claims the packet, because a packet that is not
/// claimed stays on offer even after its work is done.
pub(crate) fn how_to_continue_packet(id: &str) -> String {
    format!("`thru pickup {id} --claim` continues its work")
}

/// A packet that any session can pick up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OfferedPacket {
    pub id: String,
    pub purpose: String,
    pub updated_at: String,
    /// Whether this packet is a crashed session's draft that is newer than all active packets. Such a draft goes
    /// first.
    pub is_latest_crash: bool,
}

impl OfferedPacket {
    /// Returns `, from a crashed session` if that is why the packet goes first.
    pub fn note_on_crashed_origin(&self) -> &'static str {
        if self.is_latest_crash { ", from a crashed session" } else { "" }
    }
}

/// Returns the open packets that no running session has claimed. `thru status` and briefs show them in this order,
/// and `thru pickup` takes the first one if no id is given. The active packets come before the drafts. Within each
/// group, the most recently changed packet comes first. However, if the draft of a crashed session is newer than all
/// active packets, it comes before them, because it describes the latest work.
pub(super) fn packets_on_offer(store: &Store, now: Timestamp) -> Result<Vec<OfferedPacket>> {
    Ok(offered_packets(store, now, open_packets(store)?))
}

/// Returns whether `thru pickup` without an id will certainly take this packet. Returns false if another packet is
/// active, even if a session has claimed that packet. The session may end without finishing its packet, and then
/// `thru pickup` may take that packet instead.
pub(super) fn is_picked_up_without_id(store: &Store, now: Timestamp, id: &str) -> bool {
    let Ok(open) = open_packets(store) else { return false };
    let has_other_active = open.iter().any(|packet| packet.is_active() && packet.offered.id != id);
    let first = offered_packets(store, now, open).into_iter().next();
    !has_other_active && first.is_some_and(|first| first.id == id)
}

fn offered_packets(store: &Store, now: Timestamp, mut free: Vec<OpenPacket>) -> Vec<OfferedPacket> {
    let mut claimants = None;
    free.retain(|packet| {
        packet.claimed_by.is_empty() || {
            // Read the list of sessions only if a packet is claimed, because a session start has little time.
            let claimants = claimants.get_or_insert_with(|| read_claimants(store));
            claimants.is_claim_over(store, &packet.claimed_by, now)
        }
    });
    let first_active = free.iter().position(OpenPacket::is_active);
    let newer = first_active.and_then(|at| free.get(..at)).unwrap_or_default();
    let latest_crash = match newer {
        [] => None,
        newer => {
            let claimants = claimants.unwrap_or_else(|| read_claimants(store));
            let has_crashed = |packet: &OpenPacket| {
                let document = Id::new(&packet.offered.id).ok().and_then(|id| store.read_packet(&id).ok());
                document.is_some_and(|document| {
                    let session = Packet::read_frontmatter(&document, &packet.offered.id).session_id;
                    claimants.has_crashed(store, &session, now)
                })
            };
            newer.iter().take(MAX_PACKETS_OFFERED).position(has_crashed)
        }
    };
    let latest_crash = latest_crash.map(|at| free.remove(at));
    let latest_crash = latest_crash.map(|crash| OfferedPacket { is_latest_crash: true, ..crash.offered });
    let (active, drafts): (Vec<_>, Vec<_>) = free.into_iter().partition(OpenPacket::is_active);
    let others = active.into_iter().chain(drafts).map(|packet| packet.offered);
    latest_crash.into_iter().chain(others).collect()
}

fn read_claimants(store: &Store) -> ClaimingSessions {
    ClaimingSessions::read(store, roster::ROSTER_TAIL_BYTES).unwrap_or_default()
}

struct OpenPacket {
    offered: OfferedPacket,
    /// Active or draft.
    status: Option<PacketStatus>,
    claimed_by: String,
}

impl OpenPacket {
    /// Creates an open packet. Returns `None` if the packet is neither active nor a draft.
    fn new(
        name: &str,
        status: Option<PacketStatus>,
        claimed_by: &str,
        purpose: &str,
        updated_at: &str,
    ) -> Option<OpenPacket> {
        matches!(status, Some(PacketStatus::Draft | PacketStatus::Active)).then(|| OpenPacket {
            offered: OfferedPacket {
                id: name.to_owned(),
                purpose: purpose.to_owned(),
                updated_at: updated_at.to_owned(),
                is_latest_crash: false,
            },
            status,
            claimed_by: claimed_by.to_owned(),
        })
    }

    fn is_active(&self) -> bool {
        self.status == Some(PacketStatus::Active)
    }
}

pub(crate) const OFFERED_PACKET_CANDIDATE_ID_PREFIX: &str = "offer:";

/// Returns the active packets and the drafts, most recently changed first.
fn open_packets(store: &Store) -> Result<Vec<OpenPacket>> {
    let folder = match store.dir().open_subfolder(layout::PACKETS_FOLDER) {
        Err(store::Error::Absent { .. }) => return Ok(Vec::new()),
        folder => folder?,
    };
    if folder.list_names_up_to(MAX_PACKETS_LISTED)?.len() < MAX_PACKETS_LISTED {
        let listing = store.list_packets()?;
        let open = |packet: ListedPacket| {
            let ListedPacket { name, status, claimed_by, purpose, updated_at, .. } = packet;
            OpenPacket::new(name, status, claimed_by, purpose, updated_at)
        };
        return Ok(listing.iter().filter_map(open).collect());
    }
    let names = store.newest_packets_in_index(INDEX_HEAD_BYTES);
    let open = names.iter().filter_map(|name| {
        let document = store.read_packet(&Id::new(name).ok()?).ok()?;
        let packet = Packet::read_frontmatter(&document, name);
        OpenPacket::new(name, packet.status, &packet.claimed_by, &packet.purpose, &packet.updated_at)
    });
    Ok(open.collect())
}
