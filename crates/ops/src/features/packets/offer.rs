//! Offers packets that nobody has claimed, at the start of a session.

use jiff::Timestamp;
use model::brief::Candidate;
use model::id::Id;
use model::packet::{Packet, Status};
use model::render::quoted;
use store::{Store, layout};

use crate::Result;
use crate::features::packets;
use crate::features::packets::pickup::Claimants;
use crate::session::roster;

/// How many packets are examined, newest first.
const LOOKED_AT: usize = 8;
/// How many packets are offered.
const OFFERED: usize = 3;

/// If there are at least this many packets, only the top of the index is read, because a session start has no time
/// to list the folder.
const LISTED: usize = 500;
/// How many bytes of the top of the index are read.
const INDEX_TOP: usize = 8 * 1024;

/// Returns one line for each open packet that nobody has claimed.
pub(super) fn candidates(store: &Store, now: Timestamp) -> Result<Vec<Candidate>> {
    let candidate = |Offer { id, purpose }: Offer| {
        let text = format!("on offer: {}; `thru pickup {id}` shows it", quoted(&purpose, 120));
        Candidate::new(&packets::SECTION, format!("{ID}{id}"), text)
    };
    Ok(open(store, now)?.into_iter().map(candidate).collect())
}

/// A packet that anybody can pick up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Offer {
    pub id: String,
    pub purpose: String,
}

/// Returns the newest packets that are open and that no session works on.
pub(super) fn open(store: &Store, now: Timestamp) -> Result<Vec<Offer>> {
    let mut offers = Vec::new();
    let mut claimants = None;
    let mut is_free = |claimed_by: &str| {
        claimed_by.is_empty() || {
            // The list of sessions is read only if a packet is claimed, because a session start has little time.
            let claimants =
                claimants.get_or_insert_with(|| Claimants::read(store, roster::TAIL).unwrap_or_default());
            claimants.is_over(store, claimed_by, now)
        }
    };
    for name in newest(store)?.into_iter().take(LOOKED_AT) {
        let Some(document) = Id::new(&name).ok().and_then(|id| store.packet(&id).ok()) else { continue };
        let packet = Packet::read(&document, &name);
        if !matches!(packet.status, Some(Status::Draft | Status::Active)) || !is_free(&packet.claimed_by) {
            continue;
        }
        offers.push(Offer { id: name, purpose: packet.purpose });
        if offers.len() == OFFERED {
            break;
        }
    }
    Ok(offers)
}

pub(crate) const ID: &str = "offer:";

/// Returns the names of the newest packets, newest first.
fn newest(store: &Store) -> Result<Vec<String>> {
    let folder = match store.dir().sub(layout::PACKETS) {
        Err(store::Error::Absent { .. }) => return Ok(Vec::new()),
        folder => folder?,
    };
    let mut names = folder.names_up_to(LISTED)?;
    if names.len() == LISTED {
        return Ok(store.packets_at_the_top(INDEX_TOP));
    }
    names.sort_unstable_by(|a, b| b.cmp(a));
    Ok(names.iter().filter_map(|name| name.strip_suffix(".md").map(str::to_owned)).collect())
}
