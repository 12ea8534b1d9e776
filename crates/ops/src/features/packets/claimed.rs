//! The packet that a session has claimed, and how it is described to the session and in the session's own packets.

use model::brief::{BriefOccasion, Candidate};
use model::document::{Document, HeadingPattern};
use model::id::Id;
use model::packet::{
    CONSTRAINTS_HEADING, CONTINUED_BY_FIELD, ContinuedPacket, INTENT_HEADING, Packet, PacketStatus,
    QuotedMessage, remaining_messages,
};
use model::redact::{RedactOptions, Redacted};
use model::render::{in_quotation_marks, inline_for_model};
use store::{SessionState, Store, layout};

use crate::features::packets::{self, offer};
use crate::features::{BriefContext, crashed};
use crate::hook::context::HookContext;
use crate::process::alive;
use crate::project::Project;
use crate::{Result, World};

/// How many of a claimed packet's goals are repeated in a brief or in another packet.
const MAX_GOALS_TOLD: usize = 2;
/// The maximum length of the purpose of a packet that a sweep writes.
pub(crate) const MAX_CRASH_PURPOSE_CHARS: usize = 120;
/// How many of a claimed packet's constraints are repeated.
const MAX_CONSTRAINTS_TOLD: usize = 8;

/// The packet that a session has claimed, and the session id in that claim. The id is recorded because some harnesses
/// change a session's id later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClaimedPacket {
    pub packet: String,
    pub by: String,
    /// The harness's process that ran the command, or empty if it is unknown. If hooks never recorded the session, only
    /// this process shows whether the session is still running.
    pub process: String,
}

impl SessionState for ClaimedPacket {
    const STATE_FOLDER: &'static str = layout::CLAIMED_PACKETS_FOLDER;
    const MAX_STATE_FILE_BYTES: usize = 1024;

    fn parse(bytes: &[u8]) -> std::result::Result<ClaimedPacket, String> {
        let text = String::from_utf8_lossy(bytes);
        let mut lines = text.lines().map(|line| line.trim().to_owned());
        let packet = lines.next().filter(|packet| !packet.is_empty()).ok_or("it does not name a packet")?;
        let mut next = || lines.next().unwrap_or_default();
        Ok(ClaimedPacket { packet, by: next(), process: next() })
    }

    fn to_bytes(&self) -> Vec<u8> {
        format!("{}\n{}\n{}\n", self.packet, self.by, self.process).into_bytes()
    }
}

pub(crate) fn packet_claimed_by(store: &Store, session: &Id) -> Result<Option<String>> {
    Ok(store.session_state(session).read_state::<ClaimedPacket>()?.map(|claimed| claimed.packet))
}

/// Returns whether the process that claimed a packet for a session is gone. Returns false if the process is unknown or
/// cannot be examined.
pub(super) fn is_claiming_process_gone(store: &Store, session: &str) -> bool {
    let claimed = Id::new(session)
        .ok()
        .and_then(|session| store.session_state(&session).read_state::<ClaimedPacket>().ok().flatten());
    claimed.and_then(|claimed| alive::is_alive(&claimed.process)) == Some(false)
}

/// Returns whether a session has claimed a packet that another session wrote.
pub(crate) fn has_claimed_packet_of_other_session(store: &Store, session: &Id) -> bool {
    let claimed = packet_claimed_by(store, session).ok().flatten().and_then(|packet| Id::new(&packet).ok());
    let document = claimed.as_ref().and_then(|id| store.read_packet(id).ok());
    document.is_some_and(|document| document.frontmatter_text("session_id") != Some(session.as_str()))
}

/// The packet that a session works on.
struct PacketInWork {
    id: Id,
    packet: Packet,
    document: Document,
}

/// Returns the packet that a session has claimed, if it is active and no other session has claimed it since.
fn packet_in_work(store: &Store, session: &Id) -> Result<Option<PacketInWork>> {
    let claimed = packet_claimed_last(store, session)?;
    Ok(claimed.filter(|claimed| {
        claimed.packet.status == Some(PacketStatus::Active)
            || is_continued_by_own_crash(store, claimed, session)
    }))
}

/// Returns whether a packet was marked as done only because its session seemed to have crashed. In this case, a sweep
/// has written another packet, which is still a draft. If the session is resumed, it still works on the packet.
fn is_continued_by_own_crash(store: &Store, claimed: &PacketInWork, session: &Id) -> bool {
    let next = Id::new(&claimed.packet.continued_by).ok();
    let document = next.as_ref().and_then(|id| store.read_packet(id).ok());
    claimed.document.frontmatter_text(packets::CONTINUED_AFTER) == Some(Ending::Crash.name())
        && document.is_some_and(|document| {
            let next = Packet::read_frontmatter(&document, "");
            next.status == Some(PacketStatus::Draft) && next.session_id == session.as_str()
        })
}

/// Returns the packet that a session has claimed, whatever its status, if no other session has claimed it since.
fn packet_claimed_last(store: &Store, session: &Id) -> Result<Option<PacketInWork>> {
    let Some(claimed) = store.session_state(session).read_state::<ClaimedPacket>()? else { return Ok(None) };
    let Ok(id) = Id::new(&claimed.packet) else { return Ok(None) };
    let document = match store.read_packet(&id) {
        Err(store::Error::Absent { .. }) => return Ok(None),
        document => document?,
    };
    let packet = Packet::read_frontmatter(&document, id.as_str());
    let by = if claimed.by.is_empty() { session.as_str() } else { &claimed.by };
    // A packet that is done belongs to nobody any more.
    let is_freed = packet.status == Some(PacketStatus::Done) && packet.claimed_by.is_empty();
    let is_held = packet.claimed_by == by || is_freed;
    Ok(is_held.then_some(PacketInWork { id, packet, document }))
}

/// Returns the goal and the constraints of the packet that this session works on. A packet that this session writes
/// must repeat them.
pub(crate) fn continued_packet(
    store: &Store,
    session: &str,
    redact: RedactOptions,
) -> Option<ContinuedPacket> {
    let session = Id::new(session).ok()?;
    goal_of_packet(packet_in_work(store, &session).ok()??, &session, redact)
}

/// Returns the goal of the packet that a session picked up, and whether the packet is done by now. Returns `None` if
/// the session handed its work over in another packet, because that other packet is on offer. A packet that a sweep
/// wrote for the session after a crash does not count, because the session itself did not finish the packet that it
/// picked up.
pub(crate) fn picked_up_packet(
    store: &Store,
    session: &Id,
    redact: RedactOptions,
) -> Option<(ContinuedPacket, bool)> {
    let claimed = packet_claimed_last(store, session).ok()??;
    let is_in_work = claimed.packet.status == Some(PacketStatus::Active)
        || is_continued_by_own_crash(store, &claimed, session);
    let is_done = claimed.packet.status == Some(PacketStatus::Done) && !is_in_work;
    let is_known = is_in_work || is_done && claimed.packet.continued_by.is_empty();
    Some((goal_of_packet(claimed, session, redact).filter(|_| is_known)?, is_done))
}

/// Returns a time in a session. All messages that the user sent up to that time are about finished work. The result is
/// the later of two times: when the packet that the session picked up was closed, and when a packet about the session
/// was written. A packet whose work is not finished is ignored.
pub(crate) fn closed_work_until(store: &Store, session: &Id) -> Option<String> {
    let claimed = packet_claimed_last(store, session).ok().flatten();
    let claimed = claimed.filter(|claimed| packets::is_finished_work(&claimed.packet, &claimed.document));
    let claimed = claimed.map(|claimed| claimed.packet.updated_at);
    // Times in one format and one time zone can be compared as text.
    claimed.into_iter().chain(crashed::closed_work_until(store, session)).max()
}

fn goal_of_packet(claimed: PacketInWork, session: &Id, redact: RedactOptions) -> Option<ContinuedPacket> {
    let PacketInWork { id, packet, document } = claimed;
    // If the session picked up its own packet, its own records already contain these facts.
    if packet.session_id == session.as_str() {
        return None;
    }
    // Redact the text, because people may have changed the packet.
    let redacted = |text: &str| Redacted::redact_whole(text, redact).to_string();
    let constraints = constraint_lines(&document).into_iter().take(MAX_CONSTRAINTS_TOLD);
    let constraints = constraints.map(|line| redacted(&line)).collect();
    let quotes = remaining_messages_of_packet(&document, &packet.purpose).into_iter();
    let quoted_messages = quotes.map(|quote| quote.map_words(redacted)).collect();
    Some(ContinuedPacket {
        id: id.to_string(),
        goal: redacted(&packet.purpose),
        quoted_messages,
        constraints,
        claimed_at: packet.claimed_at,
    })
}

/// The packet `new` continues the packets that the sessions have claimed. Marks the claimed packets as done and returns
/// their ids.
pub(crate) fn close_continued_packets(
    world: &World,
    project: &Project,
    sessions: &[Id],
    new: &str,
    ending: Ending,
) -> Result<Vec<String>> {
    let store = &project.store;
    let claims = ClaimsOfSessions::read(store, sessions)?;
    let listing = store.list_packets()?;
    let mut closed = Vec::new();
    for listed in listing
        .iter()
        .filter(|packet| packet.name != new && claims.is_claimed(packet.status, packet.claimed_by))
    {
        let Ok(id) = Id::new(listed.name) else { continue };
        packets::change_packet(project, &id, |document| {
            let Packet { status, claimed_by, .. } = Packet::read_frontmatter(document, id.as_str());
            if !claims.is_claimed(status, &claimed_by) {
                return Ok(());
            }
            packets::set_status(document, PacketStatus::Done)?;
            packets::set_frontmatter(document, CONTINUED_BY_FIELD, new)?;
            packets::set_frontmatter(document, packets::CONTINUED_AFTER, ending.name())?;
            closed.push(id.to_string());
            packets::set_updated_time(document, world)
        })?;
    }
    Ok(closed)
}

/// How a session ended its work on a packet. A crashed session can be resumed, and then still works on the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Handoff,
    Crash,
}

impl Ending {
    fn name(self) -> &'static str {
        match self {
            Ending::Handoff => "handoff",
            Ending::Crash => "crash",
        }
    }
}

/// The names under which some sessions have claimed packets.
pub(super) struct ClaimsOfSessions(Vec<String>);

impl ClaimsOfSessions {
    pub fn read(store: &Store, sessions: &[Id]) -> Result<ClaimsOfSessions> {
        let mut claimants: Vec<String> = sessions.iter().map(Id::to_string).collect();
        for session in sessions {
            // The claim may have been made under an earlier id of the session.
            claimants.extend(
                store.session_state(session).read_state::<ClaimedPacket>()?.map(|claimed| claimed.by),
            );
        }
        Ok(ClaimsOfSessions(claimants))
    }

    /// Returns whether one of the sessions works on the packet with this status and this claim.
    pub fn is_claimed(&self, status: Option<PacketStatus>, by: &str) -> bool {
        status == Some(PacketStatus::Active) && !by.is_empty() && self.0.iter().any(|known| known == by)
    }
}

pub(super) fn brief_candidates(context: &BriefContext) -> Result<Vec<Candidate>> {
    let store = context.project.store;
    if context.occasion == BriefOccasion::Started {
        // A preview announces the packet of a crashed session without writing it. That packet would continue the
        // packets that the crashed session has claimed, so those are not offered.
        let crashed = context.unwritten_packet.borrow().as_ref().map(|unwritten| unwritten.session.clone());
        let continued = ClaimsOfSessions::read(store, crashed.as_slice())?;
        return offer::offer_candidates(store, context.project.world.now, &continued);
    }
    let Some(session) = context.session else { return Ok(Vec::new()) };
    let Some(PacketInWork { id, packet, document }) = packet_in_work(store, session)? else {
        return Ok(Vec::new());
    };
    let purpose = in_quotation_marks(&packet.purpose, 200);
    let text = format!(
        "This session is working on packet {id}: {purpose}; `thru pickup {id}` shows it and what has changed since"
    );
    let mut told = vec![Candidate::new(&packets::PACKETS_BRIEF_SECTION, format!("packet:{id}"), text)];
    // If the session picked up its own packet, its own records already contain these facts.
    if packet.session_id != session.as_str() {
        told.extend(goal_candidates(&document, &id, &packet.purpose));
        told.extend(constraint_candidates(&document, &id));
    }
    Ok(told)
}

fn remaining_messages_of_packet(document: &Document, purpose: &str) -> Vec<QuotedMessage> {
    let section = document.find_section(&[HeadingPattern::exact(2, INTENT_HEADING)]);
    let text = section.map(|section| section.text()).unwrap_or_default();
    let mut messages = remaining_messages(&text, purpose);
    messages.truncate(MAX_GOALS_TOLD);
    messages
}

fn goal_candidates(document: &Document, id: &Id, purpose: &str) -> Vec<Candidate> {
    let candidate = |(n, message): (usize, QuotedMessage)| {
        let said = |title: &str, words: &str, most: usize| {
            format!("{}: {}", inline_for_model(title, 120), in_quotation_marks(words, most))
        };
        let form = |most: usize| {
            let asked = message.question.as_ref();
            let asked = asked.map(|(title, words)| format!("{}; ", said(title, words, most)));
            let (asked, answer) = (asked.unwrap_or_default(), said(&message.title, &message.text, most));
            format!("From the packet: {asked}{answer}")
        };
        let forms = [160, 400, 900].map(form).to_vec();
        let candidate = Candidate::new(&packets::PACKETS_BRIEF_SECTION, format!("packet:{id}:goal:{n}"), "");
        Candidate { forms, strings_stating_fact: vec![message.text.clone()], ..candidate }
    };
    remaining_messages_of_packet(document, purpose).into_iter().enumerate().map(candidate).collect()
}

fn constraint_lines(document: &Document) -> Vec<String> {
    let section = document.find_section(&[HeadingPattern::exact(2, CONSTRAINTS_HEADING)]);
    let text = section.map(|section| section.text()).unwrap_or_default();
    text.lines().filter_map(|line| line.strip_prefix("- ")).map(str::to_owned).collect()
}

/// Returns the packet's constraints. The user stated them in another session, and the session that claimed the packet
/// may lose them in a summary.
fn constraint_candidates(document: &Document, id: &Id) -> Vec<Candidate> {
    let constraints = constraint_lines(document);
    let candidate = |(n, line): (usize, &String)| {
        let (label, words) = match line.strip_prefix(model::packet::USER_QUOTE_PREFIX) {
            Some(words) => ("the user said", words),
            None => ("a constraint", line.as_str()),
        };
        let text = format!("From the packet: {label}: {}", inline_for_model(words, 300));
        let candidate =
            Candidate::new(&packets::PACKETS_BRIEF_SECTION, format!("packet:{id}:constraint:{n}"), text);
        Candidate { strings_stating_fact: vec![words.to_owned()], ..candidate }
    };
    constraints.iter().take(MAX_CONSTRAINTS_TOLD).enumerate().map(candidate).collect()
}

/// Lets a session that continues under a new id keep its packet.
pub(super) fn continue_packet_under_new_id(context: &HookContext, previous: &Id) -> Result<()> {
    Ok(context
        .project
        .store
        .session_state(context.session)
        .inherit_from_session::<ClaimedPacket>(previous)?)
}
