//! `thru pickup`: makes a prompt from a packet and checks every claim in it against the disk. Nothing is changed
//! unless the user asks for it.

use std::path::PathBuf;

use jiff::Timestamp;
use model::brief::{Candidate, Occasion};
use model::document::{Document, Head};
use model::event::Action;
use model::id::Id;
use model::journal::Record;
use model::packet::drift::{self, Claim, FileNow, GitNow, Now, Way};
use model::packet::pickup::{ClaimState, Mention, Pickup, render};
use model::packet::{DECISIONS, Packet, Status};
use model::place;
use model::render::quoted;
use model::time;
use serde::Serialize;
use store::{LogPosition, SessionState, Store, layout};

use crate::features::packets::handoff;
use crate::features::{BriefContext, ProjectContext, crashed, decisions, evidence, packets, plan};
use crate::hook::context::HookContext;
use crate::project::{Project, git, settings};
use crate::session::list::{self, Chosen};
use crate::session::roster::{self, Entry};
use crate::{Error, Result, World};

/// How many bytes of the end of a journal are searched for events after a packet was written.
const JOURNAL_END: u64 = 128 * 1024;

#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'a> {
    pub id: Option<&'a str>,
    /// The harness that the prompt is for. The default is the current harness.
    pub harness: Option<&'a str>,
    pub session: Option<&'a str>,
    pub later: Later,
    pub claim: Claiming,
}

/// Whether files that were changed after the packet was written are added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Later {
    Add,
    #[default]
    Leave,
}

/// Whether this session claims the packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Claiming {
    Take,
    /// The session claims the packet, even if the session that had claimed it is still running.
    TakeOver,
    #[default]
    Leave,
}

#[derive(Clone, Debug, Serialize)]
pub struct PickupReport {
    pub id: String,
    pub path: PathBuf,
    pub purpose: String,
    pub status: Option<Status>,
    /// False if the records came with the folder and the user has not trusted them. They may be somebody else's text.
    pub trusted: bool,
    /// Claims that are no longer true.
    pub drift: Vec<Claim>,
    /// Every claim that was checked.
    pub claims: Vec<Claim>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub later: Vec<String>,
    /// Decisions that were made since the packet was written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decided: Vec<String>,
    /// Decisions in the packet that are no longer in force.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overruled: Vec<String>,
    /// The current state of the evidence of the tasks in progress.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub claimed_by: String,
    /// Whether the session that claimed it has ended, so that another session can claim it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub claim_is_over: bool,
    /// Who last committed the packet; `None` if git does not know the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_committed_by: Option<String>,
    pub prompt: String,
}

pub fn run(world: &World, request: &Request) -> Result<PickupReport> {
    let mention = mention(world, request.harness)?;
    let project = Project::find(world)?;
    let id = match request.id {
        Some(word) => packets::find(&project, word)?,
        None => newest(&project)?,
    };
    let shown = match request.claim {
        Claiming::Take | Claiming::TakeOver => claim(world, &project, &id, request)?,
        Claiming::Leave => packets::open(&project, &id)?,
    };
    let claims = verify(world, &project, &shown.packet);
    let later = match request.later {
        Later::Add => touched_since(&project, &shown.packet)?,
        Later::Leave => Vec::new(),
    };
    let recorded = shown.document.section(&[Head::exact(2, DECISIONS)]).map(|section| section.text());
    let settings = settings::here(world).settings();
    let context = ProjectContext { world, root: &project.root, store: &project.store, settings: &settings };
    let (decided, overruled) =
        decisions::since(&context, &shown.packet.created_at, &recorded.unwrap_or_default())?;
    let author = git::last_author(&project.root.path, &shown.path);
    let evidence = evidence_now(&project);
    let claim = claim_state(world, &project, &shown.packet.claimed_by);
    let prompt = render(&Pickup {
        author: author.as_deref(),
        packet: &shown.packet,
        document: &shown.document,
        path: &shown.path.to_string_lossy(),
        claims: &claims,
        later: &later,
        decided: &decided,
        overruled: &overruled,
        evidence: &evidence,
        claim,
        mention,
        now: world.now,
    });
    Ok(PickupReport {
        id: id.to_string(),
        path: shown.path,
        purpose: shown.packet.purpose,
        status: shown.packet.status,
        trusted: world.trusts(&project.marker, &project.root.path),
        drift: drift::drift(&claims).into_iter().cloned().collect(),
        claims,
        later,
        decided,
        overruled,
        evidence,
        claimed_by: shown.packet.claimed_by,
        claim_is_over: claim == ClaimState::Over,
        last_committed_by: author,
        prompt,
    })
}

/// Returns the state of the evidence now. If the plan cannot be read, the packet is picked up anyway. Other
/// commands report the damaged plan.
fn evidence_now(project: &Project) -> Vec<String> {
    let Ok(Some(loaded)) = plan::load(&project.store) else { return Vec::new() };
    let judge = evidence::Judge::new(&project.store, &project.root.checkout);
    let told = evidence::brief::told(&project.store, &judge, &loaded.plan);
    told.into_iter().map(|told| told.text).collect()
}

/// Returns how file names are written in a prompt for this harness.
fn mention(world: &World, named: Option<&str>) -> Result<Mention> {
    let Some(name) = named.or_else(|| world.harness()) else { return Ok(Mention::Plain) };
    harness::mention_for(name).ok_or_else(|| Error::Usage {
        what: format!("unknown harness `{name}`"),
        hint: format!("one of {}", harness::names().collect::<Vec<_>>().join(", ")),
    })
}

/// Returns the newest active packet, or else the newest draft.
pub(super) fn newest(project: &Project) -> Result<Id> {
    let listing = project.store.packets()?;
    let newest = |status: Status| listing.iter().find(|packet| packet.status == Some(status));
    let found = newest(Status::Active).or_else(|| newest(Status::Draft)).ok_or_else(|| Error::Absent {
        what: "there is no packet to pick up in this project".into(),
        hint: "`thru handoff \"what is to be finished\"` makes one; `thru packet list` shows those that are done".into(),
    })?;
    Id::new(found.name).map_err(|bad| Error::Usage { what: bad.to_string(), hint: String::new() })
}

/// Claims the packet. Only one session can have a packet. Another session must ask to take it over.
fn claim(world: &World, project: &Project, id: &Id, request: &Request) -> Result<packets::Shown> {
    let owner = match list::choose(world, &project.store, request.session) {
        Ok((session, Chosen::Named | Chosen::Harness)) => Some(session),
        Err(error) if request.session.is_some() => return Err(error),
        _ => None,
    };
    // A user at a terminal has no session. The user's name is better than a guess.
    let user = || (world.var)("USER").map_or("somebody".into(), |user| user.to_string_lossy().into_owned());
    let by = owner.as_ref().map_or_else(user, Id::to_string);
    let shown = packets::change(project, id, |document| {
        // A session that claims a packet again already has it. A user may not, because two users can have the same
        // name.
        let is_active = document.text("status") == Some(Status::Active.name());
        let again = is_active && owner.is_some() && document.text("claimed_by") == Some(&by);
        if again {
            return Ok(());
        }
        if request.claim == Claiming::Take {
            refuse_claimed(document, world, project, id)?;
        }
        take(document, world, id, &by)
    })?;
    if let Some(session) = owner {
        let claimed = Claimed { packet: id.to_string(), by: session.to_string() };
        project.store.session(&session).put(&claimed)?;
    }
    Ok(shown)
}

fn refuse_claimed(document: &Document, world: &World, project: &Project, id: &Id) -> Result<()> {
    let Packet { claimed_by, claimed_at, .. } = Packet::read(document, id.as_str());
    if claimed_by.is_empty() || claim_state(world, project, &claimed_by) == ClaimState::Over {
        return Ok(());
    }
    Err(Error::Refused {
        what: format!("packet {id} was claimed by {claimed_by} at {claimed_at}"),
        hint: format!(
            "`thru pickup {id}` shows it without a claim; `thru pickup {id} --take-over` takes it from that session"
        ),
    })
}

fn claim_state(world: &World, project: &Project, claimed_by: &str) -> ClaimState {
    let is_over = |sessions: Claimants| sessions.is_over(&project.store, claimed_by, world.now);
    match !claimed_by.is_empty() && Claimants::read(&project.store, u64::MAX).is_ok_and(is_over) {
        true => ClaimState::Over,
        false => ClaimState::Holds,
    }
}

fn take(document: &mut Document, world: &World, id: &Id, by: &str) -> Result<()> {
    let packet = Packet::read(document, id.as_str());
    if let Some(status @ (Status::Done | Status::Blocked)) = packet.status {
        return Err(Error::Refused {
            what: format!("packet {id} is {}", status.name()),
            hint: format!("`thru packet activate {id}` opens it again"),
        });
    }
    packets::set(document, "status", Status::Active.name())?;
    packets::set(document, "claimed_by", by)?;
    packets::set(document, "claimed_at", time::rfc3339(world.now))?;
    packets::touch(document, world)
}

/// The sessions that may have claimed a packet.
#[derive(Default)]
pub(super) struct Claimants {
    sessions: Vec<Entry>,
}

impl Claimants {
    /// Reads the sessions. `window` is the number of bytes that are read from the end of the list.
    pub(super) fn read(store: &Store, window: u64) -> Result<Claimants> {
        Ok(Claimants { sessions: roster::read(store, window)? })
    }

    /// Returns whether the session that claimed a packet has ended, or its process is gone. The packet is then free
    /// again.
    pub(super) fn is_over(&self, store: &Store, claimed_by: &str, now: Timestamp) -> bool {
        let claimant = self.sessions.iter().find(|entry| entry.session.as_str() == claimed_by);
        claimant.is_some_and(|entry| {
            entry.ended || entry.is_open() && crashed::is_dead(store, entry, now).unwrap_or(false)
        })
    }
}

fn verify(world: &World, project: &Project, packet: &Packet) -> Vec<Claim> {
    let checkout = &project.root.checkout;
    let base = checkout.to_string_lossy();
    let look = |path: &&str| {
        if place::within(&base, path).outside {
            return FileNow::Outside;
        }
        match checkout.join(path).symlink_metadata() {
            Ok(_) => FileNow::Here { fingerprint: handoff::mark(checkout, path) },
            Err(_) => FileNow::Gone,
        }
    };
    let git =
        (!packet.head.is_empty() || !packet.branch.is_empty()).then(|| git_now(project, packet)).flatten();
    let files: Vec<FileNow> = packet.files().iter().map(look).collect();
    let edited = has_edited_since(project, packet);
    let project = project.marker.known_id();
    drift::verify(packet, &Now { project, git, files: &files, edited }, world.now)
}

/// Returns whether the packet's own session continued and edited files, even files that the packet does not list. Only
/// the end of a long journal is read, because events after the packet are there.
fn has_edited_since(project: &Project, packet: &Packet) -> bool {
    let Ok(session) = Id::new(&packet.session_id) else { return false };
    let tail = project.store.dir().recent(&layout::journal(&session), JOURNAL_END).unwrap_or_default();
    let mut edited = false;
    tail.split(|byte| *byte == b'\n').for_each(|line| edits(line, &packet.created_at, |_, _| edited = true));
    edited
}

fn git_now(project: &Project, packet: &Packet) -> Option<GitNow> {
    let checkout = &project.root.checkout;
    let head = git::head(checkout)?;
    // If the commit is the same, or if there was no commit yet, there are no commits to count.
    let is_moved = head.commit != packet.head && !head.commit.is_empty() && !packet.head.is_empty();
    let way = is_moved
        .then(|| git::way(checkout, &head.commit, &packet.head))
        .flatten()
        .map(|(ahead, behind)| Way { ahead, behind });
    let dirty = packet.dirty.and_then(|_| git::dirty(checkout)).and_then(|n| i64::try_from(n).ok());
    Some(GitNow { branch: git::safe_branch(&head), head: head.commit, dirty, way })
}

/// Returns the files that tools wrote after the packet, in any session here. The file that was written last comes
/// last.
fn touched_since(project: &Project, packet: &Packet) -> Result<Vec<String>> {
    let mut found: Vec<(String, String)> = Vec::new();
    for session in list::all(&project.store)? {
        let journal = layout::journal(&session);
        project.store.dir().each_new_line(&journal, LogPosition::default(), u64::MAX, |line| {
            edits(line, &packet.created_at, |at, path| found.push((at.to_owned(), path.to_owned())));
        })?;
    }
    found.sort();
    let mut later: Vec<String> = Vec::new();
    for (_, path) in found {
        if !later.contains(&path) {
            later.push(path);
        }
    }
    Ok(later)
}

/// Calls `with` for every project file that a journal line reports as written after `since`.
fn edits(line: &[u8], since: &str, mut with: impl FnMut(&str, &str)) {
    let Some(record) = Record::read(line).filter(|record| *record.ts > *since) else { return };
    for file in record.files.iter().filter(|file| !file.guess && !file.outside) {
        if !matches!(file.action, Action::Read | Action::Mention) {
            with(&record.ts, &file.path);
        }
    }
}

/// Which packet a session has claimed, and under which session id. The id is recorded because some harnesses change
/// a session's id later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Claimed {
    packet: String,
    by: String,
}

impl SessionState for Claimed {
    const FOLDER: &'static str = layout::CLAIMS;
    const LARGEST: usize = 1024;

    fn parse(bytes: &[u8]) -> std::result::Result<Claimed, String> {
        let text = String::from_utf8_lossy(bytes);
        let mut lines = text.lines().map(|line| line.trim().to_owned());
        let packet = lines.next().filter(|packet| !packet.is_empty()).ok_or("it does not name a packet")?;
        Ok(Claimed { packet, by: lines.next().unwrap_or_default() })
    }

    fn bytes(&self) -> Vec<u8> {
        format!("{}\n{}\n", self.packet, self.by).into_bytes()
    }
}

/// Returns the id of the packet that a session has claimed.
pub(crate) fn claimed_by(store: &Store, session: &Id) -> Result<Option<String>> {
    Ok(store.session(session).get::<Claimed>()?.map(|claimed| claimed.packet))
}

/// Returns the packet that a session works on, for its brief.
pub(super) fn candidates(context: &BriefContext) -> Result<Vec<Candidate>> {
    let store = context.project.store;
    if context.occasion == Occasion::Started {
        return super::offer::candidates(store, context.project.world.now);
    }
    let Some(session) = context.session else { return Ok(Vec::new()) };
    let Some(claimed) = store.session(session).get::<Claimed>()? else { return Ok(Vec::new()) };
    let Ok(id) = Id::new(&claimed.packet) else { return Ok(Vec::new()) };
    let document = match store.packet(&id) {
        Err(store::Error::Absent { .. }) => return Ok(Vec::new()),
        document => document?,
    };
    let packet = Packet::read(&document, id.as_str());
    let by = if claimed.by.is_empty() { session.as_str() } else { &claimed.by };
    if packet.status != Some(Status::Active) || packet.claimed_by != by {
        return Ok(Vec::new());
    }
    let purpose = quoted(&packet.purpose, 200);
    let text = format!(
        "This session works on packet {id}: {purpose}; `thru pickup {id}` shows it and what has changed since"
    );
    Ok(vec![Candidate::new(&packets::SECTION, format!("packet:{id}"), text)])
}

/// Lets a session that continues under another id keep its packet.
pub(super) fn continue_as(context: &HookContext, previous: &Id) -> Result<()> {
    Ok(context.project.store.session(context.session).inherit::<Claimed>(previous)?)
}
