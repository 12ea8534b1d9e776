//! `thru pickup`: makes a prompt from a packet and checks every claim in the packet against the disk. Nothing is
//! changed unless the user asks for it.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::checkout_path;
use model::consent::quote_command;
use model::digest::FileTime;
use model::document::{Document, HeadingPattern};
use model::event::FileAction;
use model::id::Id;
use model::journal::JournalRecord;
use model::packet::drift::{self, Claim, CommitDistance, CurrentFileState, CurrentGitState, CurrentState};
use model::packet::pickup::{BranchOfWork, ClaimState, FileMentionStyle, PickupInput, render_pickup};
use model::packet::{DECISIONS_HEADING, Packet, PacketStatus};
use model::redact::RedactOptions;
use model::time;
use serde::Serialize;
use store::{ListedPacket, LogPosition, Store, layout};

use crate::features::packets::claimed::{self, ClaimedPacket};
use crate::features::packets::unmerged::UnmergedWork;
use crate::features::packets::{content, handoff, offer};
use crate::features::{ProjectContext, decisions, evidence, packets, plan, sessions};
use crate::process::alive;
use crate::project::{Project, git, hook_obstacle, person, settings};
use crate::session::facts::{self, ExaminedFiles, FilesListedByGit};
use crate::session::list::{self, SessionChoiceReason};
use crate::session::roster::{self, RosterEntry};
use crate::{Error, Result, World};

/// How many bytes at the end of a journal are searched for events that are newer than the packet.
const SINCE_PACKET_TAIL_BYTES: u64 = 128 * 1024;

#[derive(Clone, Copy, Debug, Default)]
pub struct PickupRequest<'a> {
    pub id: Option<&'a str>,
    /// The harness that the prompt is for, if it is not the current harness.
    pub harness: Option<&'a str>,
    pub session: Option<&'a str>,
    pub later_files: LaterFiles,
    pub claim: ClaimMode,
}

/// Whether the prompt also lists files that changed after the packet was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LaterFiles {
    Add,
    #[default]
    Leave,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClaimMode {
    Take,
    /// Claim the packet even if another running session has claimed it.
    TakeOver,
    #[default]
    Leave,
}

#[derive(Clone, Debug, Serialize)]
pub struct PickupReport {
    pub id: String,
    pub path: PathBuf,
    pub purpose: String,
    pub status: Option<PacketStatus>,
    /// Whether the user has trusted these records. If not, they came with the folder, and another person may have
    /// written them.
    pub trusted: bool,
    /// The claims that are no longer true.
    pub drift: Vec<Claim>,
    /// All claims that were checked.
    pub claims: Vec<Claim>,
    /// The files that any session wrote after the packet was written, if they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files_changed_since: Vec<String>,
    /// The decisions that were made after the packet was written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decisions_since: Vec<String>,
    /// The decisions in the packet that are no longer in force.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decisions_no_longer_in_force: Vec<String>,
    /// The current evidence for the tasks in progress, one sentence per task.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub claimed_by: String,
    /// Whether the session that claimed the packet has ended. If so, another session may claim it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub claim_is_over: bool,
    /// Who last committed the packet, or `None` if git does not track it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_committed_by: Option<String>,
    /// The worktree in which the packet's session worked, if it is not this checkout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
    /// Whether this packet is open and not claimed by a running session. Any session can then pick it up.
    #[serde(skip)]
    pub is_on_offer: bool,
    /// Another packet on offer, if the user named no packet and this one was chosen because its session crashed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub also_on_offer: Option<String>,
    pub prompt: String,
}

pub fn pick_up(world: &World, request: &PickupRequest) -> Result<PickupReport> {
    let mention = mention_style(world, request.harness)?;
    let project = Project::find_for_reading(world)?;
    let id = packets::choose_packet(world, &project, request.id)?;
    // List the packets on offer before this packet is claimed, because a claimed packet is no longer on offer.
    let on_offer = match request.id {
        Some(_) => Vec::new(),
        None => offer::packets_on_offer(&project.store, world.now)?,
    };
    let also_on_offer = match on_offer.as_slice() {
        [first, second, ..] if first.is_latest_crash && first.id == id.as_str() => Some(second.id.clone()),
        _ => None,
    };
    let shown = match request.claim {
        ClaimMode::Take | ClaimMode::TakeOver => claim_packet(world, &project, &id, request)?,
        ClaimMode::Leave => packets::open_packet(&project, &id)?,
    };
    let later = match request.later_files {
        LaterFiles::Add => files_written_since(&project, &shown.packet)?,
        LaterFiles::Leave => Vec::new(),
    };
    let recorded = shown
        .document
        .find_section(&[HeadingPattern::exact(2, DECISIONS_HEADING)])
        .map(|section| section.text());
    let settings = settings::settings_here(world).settings();
    let context = ProjectContext { world, root: &project.root, store: &project.store, settings: &settings };
    let (decided, overruled) =
        decisions::decisions_since_packet(&context, &shown.packet.created_at, &recorded.unwrap_or_default())?;
    let author = git::last_author_of_file(&project.root.path, &shown.path);
    let evidence = describe_current_evidence(&project);
    let claim = claim_state(world, &project, &shown.packet.claimed_by);
    let worktree = PacketWorktree::find(&context, &shown.packet);
    let there = worktree.as_ref().and_then(|worktree| worktree.folder.as_deref());
    let compared = there.unwrap_or(&project.root.checkout);
    let is_worktree_gone = worktree.is_some() && there.is_none();
    let unmerged = UnmergedWork::find(compared, &shown.packet, settings.redact_options());
    let claims =
        verify_claims(&context, &shown.packet, compared, is_worktree_gone, unmerged.as_ref(), &project);
    let go_there =
        there.map(|folder| quote_command(&["cd".to_owned(), folder.to_string_lossy().into_owned()]));
    let claimed_at = (world.time_for_reader)(&shown.packet.claimed_at);
    let prompt = render_pickup(&PickupInput {
        author: author.as_deref(),
        worktree: worktree.as_ref().map(|worktree| worktree.described.as_str()),
        command_to_enter_worktree: go_there.as_deref(),
        branch_of_work: unmerged.as_ref().and_then(|unmerged| {
            Some(BranchOfWork {
                name: &shown.packet.branch,
                branch_now: &unmerged.branch_now,
                command: unmerged.command.as_deref()?,
            })
        }),
        packet: &shown.packet,
        document: &shown.document,
        path: &shown.path.to_string_lossy(),
        claims: &claims,
        files_changed_since: &later,
        decisions_since: &decided,
        decisions_no_longer_in_force: &overruled,
        evidence: &evidence,
        claim,
        claimed_at: &claimed_at,
        mention_style: mention,
        now: world.now,
    });
    let is_open = matches!(shown.packet.status, Some(PacketStatus::Draft | PacketStatus::Active));
    let is_on_offer = is_open && (shown.packet.claimed_by.is_empty() || claim == ClaimState::Over);
    Ok(PickupReport {
        id: id.to_string(),
        path: shown.path,
        purpose: shown.packet.purpose,
        status: shown.packet.status,
        trusted: world.is_trusted(&project.marker, &project.root.path),
        drift: drift::drifted_claims(&claims).into_iter().cloned().collect(),
        claims,
        files_changed_since: later,
        decisions_since: decided,
        decisions_no_longer_in_force: overruled,
        evidence,
        claimed_by: shown.packet.claimed_by,
        claim_is_over: claim == ClaimState::Over,
        last_committed_by: author,
        worktree: worktree.map(|worktree| worktree.described),
        is_on_offer,
        also_on_offer,
        prompt,
    })
}

/// The worktree in which a packet's session worked, if it is not this checkout.
struct PacketWorktree {
    described: String,
    /// The path of the packet's worktree, if it exists and belongs to this repository.
    folder: Option<PathBuf>,
}

impl PacketWorktree {
    fn find(context: &ProjectContext, packet: &Packet) -> Option<PacketWorktree> {
        let session = Id::new(&packet.session_id).ok()?;
        let digest = context.store.current_digest(&session, |_| {}).ok()?;
        let described = sessions::describe_other_worktree(context, &digest)?;
        let home = sessions::other_worktree(context, &digest)?.canonicalize().ok();
        // A journal can name any folder, so ask git which folders are worktrees of this repository.
        let is_listed = |home: &PathBuf| {
            let listed = git::list_worktrees(&context.root.checkout);
            listed.iter().any(|tree| tree.canonicalize().is_ok_and(|tree| tree == *home))
        };
        Some(PacketWorktree { described, folder: home.filter(is_listed) })
    }
}

/// Describes the current evidence. A plan that cannot be read does not prevent the pickup, because other commands
/// report it.
fn describe_current_evidence(project: &Project) -> Vec<String> {
    let Ok(Some(loaded)) = plan::load_plan(&project.store) else { return Vec::new() };
    let judge = evidence::FreshnessJudge::new(&project.store, &project.root.checkout);
    let told = evidence::brief::evidence_sentences(&project.store, &judge, &loaded.plan);
    told.into_iter().map(|told| told.text).collect()
}

fn mention_style(world: &World, named: Option<&str>) -> Result<FileMentionStyle> {
    let Some(name) = named.or_else(|| world.calling_harness()) else { return Ok(FileMentionStyle::Plain) };
    harness::mention_style(name).ok_or_else(|| Error::Usage {
        what: format!("unknown harness `{name}`"),
        hint: format!("one of {}", harness::harness_names().collect::<Vec<_>>().join(", ")),
    })
}

/// Returns the packet that the calling session has claimed, or else the first packet on offer. If no packet is on
/// offer, returns the newest active packet, even though another session has claimed it.
pub(super) fn packet_to_pick_up(world: &World, project: &Project) -> Result<Id> {
    let id =
        |name: &str| Id::new(name).map_err(|bad| Error::Usage { what: bad.to_string(), hint: String::new() });
    let listing = project.store.list_packets()?;
    if let Ok((session, SessionChoiceReason::Harness)) = list::choose_session(world, &project.store, None) {
        let is_own = |packet: &ListedPacket| {
            packet.status == Some(PacketStatus::Active) && packet.claimed_by == session.as_str()
        };
        if let Some(own) = listing.iter().find(is_own) {
            return id(own.name);
        }
    }
    if let Some(first) = offer::packets_on_offer(&project.store, world.now)?.first() {
        return id(&first.id);
    }
    let newest = |status: PacketStatus| listing.iter().find(|packet| packet.status == Some(status));
    let found = newest(PacketStatus::Active).or_else(|| newest(PacketStatus::Draft)).ok_or_else(|| Error::Absent {
        what: "there is no packet to pick up in this project".into(),
        hint: "`thru handoff \"what remains to be done\"` creates one; `thru packet list` shows those that are \
               done".into(),
    })?;
    id(found.name)
}

/// Claims the packet for one session. After that, another session can claim it only with `--take-over` or when the
/// first session has ended.
fn claim_packet(
    world: &World,
    project: &Project,
    id: &Id,
    request: &PickupRequest,
) -> Result<packets::PacketShown> {
    let is_agent = request.session.is_none() && person::is_inside_harness(world);
    let owner = match list::choose_session(world, &project.store, request.session) {
        Ok((session, SessionChoiceReason::Named | SessionChoiceReason::Harness)) => Some(session),
        Err(error) if request.session.is_some() => return Err(error),
        _ if is_agent => list::session_of_calling_process(&project.store),
        _ => None,
    };
    if owner.is_some() || is_agent {
        refuse_claim_that_would_not_end(world, id)?;
    }
    // The harness that runs this command is the session's own process, unless the user named another session.
    let process = if is_agent { alive::calling_harness_stamp() } else { None };
    // A command at a terminal has no session, so record the user's name.
    let user = || {
        (world.read_variable)("USER").map_or("somebody".into(), |user| user.to_string_lossy().into_owned())
    };
    let by = owner.as_ref().map_or_else(user, Id::to_string);
    let shown = packets::change_packet(project, id, |document| {
        // A session that claims its own packet again changes nothing. For a user, the claim is not compared, because
        // two users can have the same name.
        let is_active = document.frontmatter_text("status") == Some(PacketStatus::Active.name());
        let again = is_active && owner.is_some() && document.frontmatter_text("claimed_by") == Some(&by);
        if again {
            return Ok(());
        }
        if request.claim == ClaimMode::Take {
            refuse_claimed(document, world, project, id)?;
        }
        write_claim(document, world, id, &by)
    })?;
    if let Some(session) = owner {
        let (packet, process) = (id.to_string(), process.unwrap_or_default());
        let claimed = ClaimedPacket { packet, by: session.to_string(), process };
        project.store.session_state(&session).write_state(&claimed)?;
    }
    Ok(shown)
}

/// Refuses a session's claim if hooks do nothing here. A claim ends with its session, and without hooks nothing records
/// this end.
fn refuse_claim_that_would_not_end(world: &World, id: &Id) -> Result<()> {
    match hook_obstacle::hook_obstacle_here(world) {
        None => Ok(()),
        Some(obstacle) => Err(Error::Refused {
            what: format!("packet {id} was not claimed: {}", obstacle.explain("No session can claim it")),
            hint: format!("`thru pickup {id}` shows the packet without claiming it"),
        }),
    }
}

fn refuse_claimed(document: &Document, world: &World, project: &Project, id: &Id) -> Result<()> {
    let Packet { claimed_by, claimed_at, .. } = Packet::read_frontmatter(document, id.as_str());
    if claimed_by.is_empty() || claim_state(world, project, &claimed_by) == ClaimState::Over {
        return Ok(());
    }
    Err(Error::Refused {
        what: format!("packet {id} was claimed by {claimed_by} at {}", (world.time_for_reader)(&claimed_at)),
        hint: format!(
            "`thru pickup {id}` shows it without claiming it; `thru pickup {id} --take-over` takes it over from \
             that session"
        ),
    })
}

fn claim_state(world: &World, project: &Project, claimed_by: &str) -> ClaimState {
    let is_over = |sessions: ClaimingSessions| sessions.is_claim_over(&project.store, claimed_by, world.now);
    match !claimed_by.is_empty() && ClaimingSessions::read(&project.store, u64::MAX).is_ok_and(is_over) {
        true => ClaimState::Over,
        false => ClaimState::Holds,
    }
}

fn write_claim(document: &mut Document, world: &World, id: &Id, by: &str) -> Result<()> {
    let packet = Packet::read_frontmatter(document, id.as_str());
    if let Some(status @ (PacketStatus::Done | PacketStatus::Blocked)) = packet.status {
        return Err(Error::Refused {
            what: format!("packet {id} is {}", status.name()),
            hint: format!("`thru packet activate {id}` opens it again"),
        });
    }
    packets::set_frontmatter(document, "status", PacketStatus::Active.name())?;
    packets::set_frontmatter(document, "claimed_by", by)?;
    packets::set_frontmatter(document, "claimed_at", time::to_rfc3339(world.now))?;
    packets::set_updated_time(document, world)
}

/// The sessions that may have claimed a packet.
#[derive(Default)]
pub(super) struct ClaimingSessions {
    sessions: Vec<RosterEntry>,
}

impl ClaimingSessions {
    /// Reads the sessions from the last `window` bytes of the session list.
    pub(super) fn read(store: &Store, window: u64) -> Result<ClaimingSessions> {
        Ok(ClaimingSessions { sessions: roster::read_roster(store, window)? })
    }

    /// Returns whether another session may claim a packet, because the session that claimed it has ended or its process
    /// is gone. If hooks never recorded the session, only the process that made the claim can be checked.
    pub(super) fn is_claim_over(&self, store: &Store, claimed_by: &str, now: Timestamp) -> bool {
        match self.sessions.iter().find(|entry| entry.session.as_str() == claimed_by) {
            Some(entry) => entry.end(store, now).is_some(),
            None => claimed::is_claiming_process_gone(store, claimed_by),
        }
    }

    pub(super) fn has_crashed(&self, store: &Store, session: &str, now: Timestamp) -> bool {
        let entry = self.sessions.iter().find(|entry| entry.session.as_str() == session);
        entry.is_some_and(|entry| entry.has_crashed(store, now))
    }
}

/// Checks the packet's claims in the folder `compared`: the packet's own worktree if it exists, or else this checkout.
/// `unmerged` is the packet's work that HEAD does not contain.
fn verify_claims(
    context: &ProjectContext,
    packet: &Packet,
    compared: &Path,
    is_worktree_gone: bool,
    unmerged: Option<&UnmergedWork>,
    project: &Project,
) -> Vec<Claim> {
    let checkout = &project.root.checkout;
    let base = checkout.to_string_lossy();
    let is_here = |folder: &Path, path: &str| folder.join(path).symlink_metadata().is_ok();
    let look = |path: &&str| {
        if checkout_path::path_within_checkout(&base, path).is_outside {
            return CurrentFileState::Outside;
        }
        // A file that the user confirmed in this checkout may be absent from the packet's worktree.
        let is_recorded = packet.files_seen.iter().any(|(seen, _)| seen == path);
        let folder = if is_recorded || is_here(compared, path) { compared } else { checkout };
        match is_here(folder, path) {
            true => CurrentFileState::Here { fingerprint: handoff::file_fingerprint(folder, path) },
            false => CurrentFileState::Gone,
        }
    };
    let git = (!packet.head.is_empty() || !packet.branch.is_empty())
        .then(|| compare_with_git(compared, packet, context.settings.redact_options()))
        .flatten()
        // The uncommitted files of this checkout say nothing about those of a worktree that is gone.
        .map(|git| CurrentGitState {
            uncommitted_files: git.uncommitted_files.filter(|_| !is_worktree_gone),
            ..git
        });
    let paths = packet.confirmed_and_suggested_files();
    let mut files: Vec<CurrentFileState> = paths.iter().map(look).collect();
    if let Some(unmerged) = unmerged {
        mark_files_of_unmerged_work(&mut files, &paths, unmerged, compared);
    }
    let edited = has_edited_since(project, packet);
    let now = CurrentState {
        project: project.marker.project_id(),
        git,
        files: &files,
        has_session_edited_since: edited,
        file_times: &times_of_files_to_compare(context, packet, compared),
        is_worktree_gone,
    };
    let mut claims = drift::verify_claims(packet, &now, context.world.now);
    if compared != checkout {
        // The paths are those of the worktree. Here, they would lead to other files or to none.
        claims.iter_mut().for_each(|claim| claim.can_open_file = false);
    }
    claims
}

/// Returns the times of the files that the packet's session named and of those that git lists as changed.
fn times_of_files_to_compare(context: &ProjectContext, packet: &Packet, folder: &Path) -> Vec<FileTime> {
    if packet.checks_seen.is_empty() {
        return Vec::new();
    }
    let session = Id::new(&packet.session_id).ok();
    let digest = session.and_then(|session| context.store.current_digest(&session, |_| {}).ok());
    let (digest, listed) = (digest.unwrap_or_default(), &mut FilesListedByGit::default());
    facts::times_of_files_to_compare(context, &digest, folder, ExaminedFiles::ListedByGit, listed)
}

/// Marks the files that are missing here and that the packet's commits contain.
fn mark_files_of_unmerged_work(
    files: &mut [CurrentFileState],
    paths: &[&str],
    unmerged: &UnmergedWork,
    checkout: &Path,
) {
    let all = || files.iter().zip(paths).filter(|(file, _)| **file == CurrentFileState::Gone);
    let gone: Vec<&str> = all().map(|(_, path)| *path).collect();
    let there = unmerged.files_there(checkout, &gone);
    for (file, path) in files.iter_mut().zip(paths) {
        if *file == CurrentFileState::Gone && there.iter().any(|found| found == path) {
            *file = CurrentFileState::OnOtherBranch { has_branch: unmerged.command.is_some() };
        }
    }
}

/// Returns whether the packet's own session has edited any files since the packet was written. Files that the packet
/// does not list count too. Only the end of a long journal is read, because that is where the newest events are.
fn has_edited_since(project: &Project, packet: &Packet) -> bool {
    let Ok(session) = Id::new(&packet.session_id) else { return false };
    let tail = project
        .store
        .dir()
        .read_recent_lines(&layout::journal_path(&session), SINCE_PACKET_TAIL_BYTES)
        .unwrap_or_default();
    let mut edited = false;
    tail.split(|byte| *byte == b'\n')
        .for_each(|line| each_file_written_since(line, &packet.created_at, |_, _| edited = true));
    edited
}

fn compare_with_git(checkout: &Path, packet: &Packet, redact: RedactOptions) -> Option<CurrentGitState> {
    let head = git::read_head(checkout)?;
    // Count commits only if HEAD has moved and both its old and its new commit are known.
    let is_moved = head.commit != packet.head && !head.commit.is_empty() && !packet.head.is_empty();
    let way = is_moved
        .then(|| git::count_diverging_commits(checkout, &head.commit, &packet.head))
        .flatten()
        .map(|(ahead, behind)| CommitDistance { ahead, behind });
    let fingerprint_of_changes = match packet.fingerprint_of_changes.is_empty() {
        true => None,
        false => content::fingerprint_of_changes(checkout, &head.commit, &packet.head),
    };
    Some(CurrentGitState {
        branch: git::redacted_branch(&head, redact),
        head: head.commit,
        uncommitted_files: git::list_uncommitted_files(checkout, redact),
        fingerprint_of_changes,
        distance_to_packet_commit: way,
    })
}

/// Returns the files that the tools of any session wrote after the packet was made, in the order of their first
/// write.
fn files_written_since(project: &Project, packet: &Packet) -> Result<Vec<String>> {
    let mut found: Vec<(String, String)> = Vec::new();
    for session in list::all_session_ids(&project.store)? {
        let journal = layout::journal_path(&session);
        project.store.dir().each_new_line(&journal, LogPosition::default(), u64::MAX, |line| {
            each_file_written_since(line, &packet.created_at, |at, path| {
                found.push((at.to_owned(), path.to_owned()));
            });
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

/// Calls `with` for every project file that, according to a journal line, was written after `since`.
fn each_file_written_since(line: &[u8], since: &str, mut with: impl FnMut(&str, &str)) {
    let Some(record) = JournalRecord::parse_line(line).filter(|record| *record.ts > *since) else { return };
    for file in record.files.iter().filter(|file| !file.guess && !file.outside) {
        if !matches!(file.action, FileAction::Read | FileAction::Mention) {
            with(&record.ts, &file.path);
        }
    }
}
