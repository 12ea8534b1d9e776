//! When a session starts, offers it the packets that nobody has claimed.

use jiff::Timestamp;
use model::brief::Candidate;
use model::id::Id;
use model::packet::{Packet, PacketStatus};
use model::render::in_quotation_marks;
use store::{Store, layout};

use crate::Result;
use crate::features::packets;
use crate::features::packets::pickup::ClaimingSessions;
use crate::session::roster;

/// How many packets are examined, newest first.
const MAX_PACKETS_EXAMINED: usize = 8;
const MAX_PACKETS_OFFERED: usize = 3;

/// How many packets are examined, and how many of them are offered.
#[derive(Clone, Copy, Debug)]
pub(super) struct OfferLimits {
    pub examined: usize,
    pub offered: usize,
}

impl OfferLimits {
    /// The limits for a brief, which must be made quickly and has little room.
    const BRIEF: OfferLimits = OfferLimits { examined: MAX_PACKETS_EXAMINED, offered: MAX_PACKETS_OFFERED };
    pub const ALL: OfferLimits = OfferLimits { examined: usize::MAX, offered: usize::MAX };
}

/// With this many packets or more, only the beginning of the index is read, because a session start has no time to
/// list the folder.
const MAX_PACKETS_LISTED: usize = 500;
/// How many bytes are read from the beginning of the index.
const INDEX_HEAD_BYTES: usize = 8 * 1024;

/// Returns one line for each open packet that nobody has claimed.
pub(super) fn offer_candidates(store: &Store, now: Timestamp) -> Result<Vec<Candidate>> {
    let candidate = |OfferedPacket { id, purpose }: OfferedPacket| {
        let text = format!("on offer: {}; `thru pickup {id}` shows it", in_quotation_marks(&purpose, 120));
        Candidate::new(&packets::SECTION, format!("{CANDIDATE_ID_PREFIX}{id}"), text)
    };
    Ok(unclaimed_packets(store, now, OfferLimits::BRIEF)?.into_iter().map(candidate).collect())
}

/// A packet that any session can pick up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OfferedPacket {
    pub id: String,
    pub purpose: String,
}

/// Returns the newest open packets that no session is working on.
pub(super) fn unclaimed_packets(
    store: &Store,
    now: Timestamp,
    limits: OfferLimits,
) -> Result<Vec<OfferedPacket>> {
    let mut offers = Vec::new();
    let mut claimants = None;
    let mut is_free = |claimed_by: &str| {
        claimed_by.is_empty() || {
            // Read the list of sessions only if a packet is claimed, because a session start has little time.
            let claimants = claimants.get_or_insert_with(|| {
                ClaimingSessions::read(store, roster::ROSTER_TAIL_BYTES).unwrap_or_default()
            });
            claimants.is_claim_over(store, claimed_by, now)
        }
    };
    for name in newest_packet_names(store)?.into_iter().take(limits.examined) {
        let Some(document) = Id::new(&name).ok().and_then(|id| store.read_packet(&id).ok()) else { continue };
        let packet = Packet::read_frontmatter(&document, &name);
        if !matches!(packet.status, Some(PacketStatus::Draft | PacketStatus::Active))
            || !is_free(&packet.claimed_by)
        {
            continue;
        }
        offers.push(OfferedPacket { id: name, purpose: packet.purpose });
        if offers.len() == limits.offered {
            break;
        }
    }
    Ok(offers)
}

pub(crate) const CANDIDATE_ID_PREFIX: &str = "offer:";

fn newest_packet_names(store: &Store) -> Result<Vec<String>> {
    let folder = match store.dir().open_subfolder(layout::PACKETS) {
        Err(store::Error::Absent { .. }) => return Ok(Vec::new()),
        folder => folder?,
    };
    let mut names = folder.names_up_to(MAX_PACKETS_LISTED)?;
    if names.len() == MAX_PACKETS_LISTED {
        return Ok(store.newest_packets_in_index(INDEX_HEAD_BYTES));
    }
    names.sort_unstable_by(|a, b| b.cmp(a));
    Ok(names.iter().filter_map(|name| name.strip_suffix(".md").map(str::to_owned)).collect())
}
