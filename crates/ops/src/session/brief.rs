//! Composes briefs. Hooks and `thru brief` share this code, so that both produce the same bytes.

use std::cell::RefCell;
use std::path::Path;

use harness::{HARNESSES, Harness};
use jiff::Timestamp;
use model::brief::{Brief, BriefMaterial, BriefOccasion, Candidate, ExplainedBrief};
use model::config::Settings;
use model::digest::Digest;
use model::finding::{Finding, FindingLevel};
use model::id::Id;
use model::redact::{self, Redacted};
use serde::Serialize;
use store::{FoundRoot, Lock};

use crate::features::{self, BriefContext, ProjectContext, decisions, loops, sessions};
use crate::project::settings;
use crate::session::facts::{self, ExaminedFiles, SessionFacts};
use crate::session::last::{self, LastAtWork};
use crate::session::roster::{Roster, RosterEntry};
use crate::session::transcript::{self, SkippedLines, TranscriptToRead};
use crate::session::{context_held, database, last_turn};
use crate::{Error, Result, World, WriteMode};

/// The size limit of a summary. No harness writes a larger one.
const MAX_SUMMARY_BYTES: usize = 1024 * 1024;

#[derive(Clone, Copy, Debug)]
pub struct BriefRequest<'a> {
    pub project: ProjectContext<'a>,
    pub occasion: BriefOccasion,
    /// The session that will read the brief, or `None` if that session has not started yet.
    pub session: Option<&'a Id>,
    /// The session's previous id, if it continues under a new id.
    pub previous_session_id: Option<&'a Id>,
    /// The maximum length of the brief, in UTF-16 units.
    pub max_length: usize,
    pub mode: WriteMode,
    pub examined: ExaminedFiles,
}

#[derive(Debug)]
pub struct ComposedBrief {
    /// The brief, or `None` if it would be empty.
    pub brief: Option<Brief>,
    pub occasion: BriefOccasion,
    /// The id of the session that the brief describes.
    pub described_session: String,
    /// The errors from features that failed.
    pub problems: Vec<String>,
    /// The ids of the facts from features, each with a fingerprint by which the fact is recognised later.
    pub fact_fingerprints: Vec<(String, u64)>,
    /// Locks that are held until the brief has been sent, so that two sessions cannot get the same offer.
    _held: Vec<Lock>,
}

/// Composes the brief for the requested occasion. Returns `None` if there is no session to describe.
pub fn compose_brief(request: &BriefRequest) -> Option<ComposedBrief> {
    let (gathered, records) = gather_facts_for_brief(request)?;
    let scoring = request.project.settings.enabled_scoring();
    let material = BriefMaterial {
        scoring: scoring.as_ref(),
        ..brief_material(request.occasion, &gathered, &records.candidates)
    };
    let brief = model::brief::compose_brief(&material, request.max_length);
    let told = brief.as_ref().map_or("", |brief| brief.text.as_str());
    let marks = records.candidates.iter().flat_map(|one| fingerprints_of_candidate(one, told)).collect();
    let FeatureCandidates { problems, held_locks: held, .. } = records;
    let about = gathered.digest.session;
    Some(ComposedBrief {
        brief,
        occasion: request.occasion,
        described_session: about,
        problems,
        fact_fingerprints: marks,
        _held: held,
    })
}

/// Returns the fingerprints by which a fact is recognised later. If `told` contains the fact's longest form, the fact
/// gets a second fingerprint.
fn fingerprints_of_candidate(candidate: &Candidate, told: &str) -> Vec<(String, u64)> {
    let stands_whole =
        candidate.forms.len() > 1 && candidate.forms.last().is_some_and(|form| told.contains(form));
    let whole = stands_whole.then(|| context_held::full_text_fingerprint(candidate)).flatten();
    let marks = std::iter::once(context_held::fact_fingerprint(candidate)).chain(whole);
    marks.map(|mark| (candidate.id.clone(), mark)).collect()
}

struct FeatureCandidates {
    candidates: Vec<Candidate>,
    problems: Vec<String>,
    held_locks: Vec<Lock>,
    unwritten_packet: Option<String>,
}

fn gather_facts_for_brief(request: &BriefRequest) -> Option<(SessionFacts, FeatureCandidates)> {
    let BriefRequest { project, occasion, session, previous_session_id: previous, mode, examined, .. } =
        *request;
    let roster = Roster::of_store(project.store);
    let mut elsewhere = None;
    let mut gathered = match occasion {
        // The brief for a new session describes the session that was active before it.
        BriefOccasion::Started => match last_other_session(project, &roster, session) {
            Some(other) => {
                elsewhere = other.elsewhere;
                let mut facts = facts::facts_of_digest(&project, other.digest, examined);
                add_facts_of_others(&project, &roster, session, (&mut facts.digest, examined));
                facts
            }
            None => facts::facts_with_hook_problems_only(project.store),
        },
        BriefOccasion::Compacted => {
            let mut facts = facts::gather_session_facts(&project, previous.or(session)?, examined).ok()?;
            // The agent was told these rules when the session started, and the compaction may have removed them.
            if let Ok(entries) = roster.entries() {
                last::add_project_rules(&project, entries, &mut facts.digest, &[]);
            }
            facts
        }
        BriefOccasion::Resumed | BriefOccasion::Asked => {
            let digest = digest_with_last_turn(&project, &roster, previous.or(session)?)?;
            facts::facts_of_digest(&project, digest, examined)
        }
        // The agent still has its own conversation, so the brief only says what others did.
        BriefOccasion::Replayed => {
            facts::gather_session_facts(&project, previous.or(session)?, examined).ok()?.keep_only_identity()
        }
    };
    let recorded = decisions::remove_recorded_answers(project.store, &mut gathered.digest);
    // In a dry run, the session's state has not been moved to its new id, so use the old id.
    let session = if mode == WriteMode::Write { session } else { previous.or(session) };
    let described = Id::new(&gathered.digest.session).ok();
    let described = described.as_ref();
    let context = BriefContext {
        project,
        occasion,
        session,
        described_session: described,
        mode,
        roster,
        held_locks: RefCell::default(),
        unwritten_packet: RefCell::default(),
    };
    let (mut candidates, mut problems) = features::collect_feature_candidates(&context);
    problems.extend(recorded.err().map(|error| error.to_string()));
    if matches!(occasion, BriefOccasion::Started | BriefOccasion::Asked) {
        let told = sessions::other_worktree_candidate(&project, &gathered.digest);
        let later =
            elsewhere.and_then(|digest| sessions::later_session_elsewhere_candidate(&project, &digest));
        candidates.extend(told.into_iter().chain(later));
    }
    if let (BriefOccasion::Replayed, Some(session)) = (occasion, session) {
        let left = context_held::remove_held_candidates(project.store, session, &mut candidates);
        problems.extend(left.err().map(|error| error.to_string()));
    }
    let BriefContext { held_locks: held, unwritten_packet, .. } = context;
    let (held, unwritten_packet) = (held.into_inner(), unwritten_packet.into_inner().map(|packet| packet.id));
    Some((gathered, FeatureCandidates { candidates, problems, held_locks: held, unwritten_packet }))
}

/// Returns the digest of a session, with what the agent was doing when the session ended.
fn digest_with_last_turn(project: &ProjectContext, roster: &Roster, session: &Id) -> Option<Digest> {
    let most = facts::MAX_PREDECESSOR_SESSIONS_READ;
    let mut digest = facts::digest_with_predecessors(project.store, session, most).ok()?;
    let entry = roster.entries().ok().and_then(|all| all.iter().find(|entry| entry.session == *session));
    let redact = project.settings.redact_options();
    last_turn::add_end_of_last_turn(project.world, project.store, entry, &mut digest, redact);
    Some(digest)
}

/// Returns the most recent session that did any work and is no longer running. Running sessions are listed separately.
fn last_other_session(project: ProjectContext, roster: &Roster, this: Option<&Id>) -> Option<LastAtWork> {
    let entries = roster.entries().ok()?;
    let running = last::ids_of_running_sessions(&project, entries, this);
    last::find_last_at_work(&project, entries, filter_for_other_ended_sessions(&running, this))
}

/// Adds what earlier sessions left in this checkout: uncommitted files and failed checks. Running sessions are listed
/// separately.
fn add_facts_of_others(
    project: &ProjectContext,
    roster: &Roster,
    this: Option<&Id>,
    (described, examined): (&mut Digest, ExaminedFiles),
) {
    let Ok(entries) = roster.entries() else { return };
    if sessions::other_worktree(project, described).is_some() {
        return last::add_project_rules(project, entries, described, &[]);
    }
    let running = last::ids_of_running_sessions(project, entries, this);
    let fits = filter_for_other_ended_sessions(&running, this);
    let mut others = last::digests_of_other_recent_sessions(project, entries, &described.session, fits);
    last::add_facts_left_by(project, entries, described, (&mut others, &running), examined);
}

/// Returns a filter that accepts all sessions except `this` one and those that are `running`.
fn filter_for_other_ended_sessions<'e>(
    running: &'e [&Id],
    this: Option<&'e Id>,
) -> impl Fn(&RosterEntry) -> bool + 'e {
    move |entry| Some(&entry.session) != this && !running.contains(&&entry.session)
}

fn brief_material<'a>(
    occasion: BriefOccasion,
    gathered: &'a SessionFacts,
    records: &'a [Candidate],
) -> BriefMaterial<'a> {
    let SessionFacts { digest, problems, missing_files: gone } = gathered;
    BriefMaterial {
        occasion,
        digest,
        hook_problems: problems,
        missing_files: gone,
        feature_candidates: records,
        scoring: None,
    }
}

#[derive(Clone, Debug)]
pub struct BriefOptions<'a> {
    /// The occasion. If it is `None`, the occasion is derived from the session's state.
    pub occasion: Option<BriefOccasion>,
    /// A transcript to compose the brief from. The brief describes the state of the session at the end of the
    /// transcript.
    pub transcript: Option<&'a Path>,
    /// The harness whose limits apply. If it is `None`, the session's own harness is used.
    pub harness: Option<&'a str>,
    pub session: Option<&'a str>,
    /// A file with the summary that the agent sees after the compaction.
    pub summary: Option<&'a Path>,
    pub room: BriefRoom,
    /// The ranking. If it is `None`, the settings determine the ranking.
    pub ranking: Option<RankingChoice>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankingChoice {
    Fixed,
    Scored,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BriefRoom {
    /// The length that the harness accepts on this occasion.
    Harness,
    Chars(usize),
    Tokens(usize),
    All,
}

#[derive(Clone, Debug, Serialize)]
pub struct BriefReport {
    pub session: String,
    #[serde(skip)]
    pub occasion: BriefOccasion,
    pub harness: &'static str,
    pub max_chars: Option<usize>,
    pub chars: usize,
    pub scoring: bool,
    /// A packet that the brief mentions but that does not exist yet. It is written when the next session starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unwritten_packet: Option<String>,
    /// The settings that could not be used.
    pub findings: Vec<Finding>,
    /// The transcript lines that could not be used, or `None` if there is no transcript.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<SkippedLines>,
    #[serde(flatten)]
    pub explained: ExplainedBrief,
}

pub fn show_brief(world: &World, options: &BriefOptions) -> Result<BriefReport> {
    let named = options.harness.map(harness_by_name).transpose()?;
    let resolved = settings::settings_here(world);
    let mut settings = resolved.settings();
    if let Some(ranking) = options.ranking {
        settings.brief_scoring_enabled = ranking == RankingChoice::Scored;
    }
    let redact = settings.redact_options();
    let (facts, skipped) = match options.transcript {
        Some(path) => {
            // The transcript may belong to another project. Its paths are then relative to the folder of its session.
            let here = match world.find_root() {
                Ok(FoundRoot::Marked { root, .. }) => root.checkout,
                _ => path.to_owned(),
            };
            let read = transcript::read_transcript(&TranscriptToRead {
                path,
                checkout: &here,
                redact,
                now: world.now,
            })?;
            let occasion = options.occasion.unwrap_or_else(|| default_occasion(options));
            (PrintedBriefFacts::from_digest(read.digest, occasion), Some(read.skipped))
        }
        None => match facts_from_store(world, options, &settings) {
            Err(error @ Error::Absent { .. }) => match transcript_from_database(world, options)? {
                Some((read, occasion)) => {
                    (PrintedBriefFacts::from_digest(read.digest, occasion), Some(read.skipped))
                }
                None => return Err(error),
            },
            facts => (facts?, None),
        },
    };
    let PrintedBriefFacts {
        mut gathered,
        feature_candidates: records,
        occasion,
        unwritten_packet,
        waiting_loop,
    } = facts;
    let occasion = match options.summary {
        Some(path) => {
            let summary = store::read_file_named_by_user(path, MAX_SUMMARY_BYTES)?;
            gathered.digest.simulate_compaction(&String::from_utf8_lossy(&summary));
            options.occasion.unwrap_or(BriefOccasion::Compacted)
        }
        None => occasion,
    };
    let harness =
        named.or_else(|| harness::harness_by_name(&gathered.digest.harness)).unwrap_or(&HARNESSES[0]);
    let mut scoring = settings.enabled_scoring();
    let cap = match (options.room, &mut scoring) {
        (BriefRoom::Harness, _) => model::decide::max_brief_length(occasion, harness.max_context_length),
        (BriefRoom::Chars(most), _) => most,
        (BriefRoom::Tokens(most), None) => model::tokens::chars_for_tokens(most),
        (BriefRoom::Tokens(most), Some(scoring)) => {
            scoring.max_tokens = most;
            usize::MAX
        }
        (BriefRoom::All, scoring) => {
            scoring
                .iter_mut()
                .for_each(|scoring| (scoring.max_tokens, scoring.max_candidates) = (usize::MAX, usize::MAX));
            usize::MAX
        }
    };
    let material =
        BriefMaterial { scoring: scoring.as_ref(), ..brief_material(occasion, &gathered, &records) };
    let mut explained = model::brief::explain_brief(&material, cap);
    // A hook sends this text before the brief, regardless of the brief's length.
    if let (Some(told), BriefRoom::Harness | BriefRoom::All) = (waiting_loop, options.room) {
        explained.text = Some(told + explained.text.as_deref().unwrap_or_default());
    }
    // Text that people wrote in records is not redacted on disk, so redact it here, as hooks do.
    explained.text = explained.text.map(|text| Redacted::redact_whole(&text, redact).to_string());
    let chars = explained.text.as_deref().map_or(0, model::render::utf16_length);
    let is_named = |packet: &String| explained.text.as_ref().is_some_and(|text| text.contains(packet));
    let findings = resolved.findings.into_iter().filter(|finding| finding.level == FindingLevel::Error);
    Ok(BriefReport {
        session: gathered.digest.session,
        occasion,
        harness: harness.name,
        max_chars: (cap != usize::MAX).then_some(cap),
        chars,
        scoring: scoring.is_some(),
        unwritten_packet: unwritten_packet.filter(is_named),
        findings: findings.collect(),
        skipped,
        explained,
    })
}

/// The facts for a brief that is printed by `thru brief`, not sent by a hook.
struct PrintedBriefFacts {
    gathered: SessionFacts,
    feature_candidates: Vec<Candidate>,
    occasion: BriefOccasion,
    unwritten_packet: Option<String>,
    /// What a session would be told about the waiting loop if it started now.
    waiting_loop: Option<String>,
}

impl PrintedBriefFacts {
    fn from_digest(digest: Digest, occasion: BriefOccasion) -> PrintedBriefFacts {
        PrintedBriefFacts::of_session(
            SessionFacts { digest, problems: Vec::new(), missing_files: Vec::new() },
            occasion,
        )
    }

    fn of_session(gathered: SessionFacts, occasion: BriefOccasion) -> PrintedBriefFacts {
        PrintedBriefFacts {
            gathered,
            feature_candidates: Vec::new(),
            occasion,
            unwritten_packet: None,
            waiting_loop: None,
        }
    }
}

/// Reads a session from its harness's database, if no hook has reported it.
fn transcript_from_database(
    world: &World,
    options: &BriefOptions,
) -> Result<Option<(transcript::ReadTranscript, BriefOccasion)>> {
    let Some(session) = options.session.and_then(|named| Id::new(named).ok()) else { return Ok(None) };
    let Some(rows) = database::find_session_in_databases(world, &session)? else { return Ok(None) };
    let Ok(FoundRoot::Marked { root, .. }) = world.find_root() else { return Ok(None) };
    let redact = settings::settings_here(world).settings().redact_options();
    let source = TranscriptToRead { path: &root.path, checkout: &root.checkout, redact, now: world.now };
    let read = transcript::read_database_rows(&rows, &session, &source);
    let occasion = options.occasion.unwrap_or_else(|| default_occasion(options));
    Ok(Some((read, occasion)))
}

/// Returns the occasion that is used if the user names none. It does not depend on what happened in the session, so
/// the same command always shows the same view. If the user gives a summary, the occasion is a compaction, because
/// only a compaction creates a summary.
fn default_occasion(options: &BriefOptions) -> BriefOccasion {
    if options.summary.is_some() { BriefOccasion::Compacted } else { BriefOccasion::Asked }
}

fn facts_from_store(world: &World, options: &BriefOptions, settings: &Settings) -> Result<PrintedBriefFacts> {
    let (root, store) = match world.find_root()? {
        FoundRoot::Marked { root, store, .. } => (root, store),
        FoundRoot::Unmarked(root) => return Err(Error::NoRoot { path: root.path }),
    };
    let project = ProjectContext { world, root: &root, store: &store, settings };
    // If the user asks for a session-start brief but names no session, show the brief that a new session would get.
    let session = match (options.occasion, options.session) {
        (Some(BriefOccasion::Started), None) => None,
        _ => Some(last::choose_session_at_work(&project, options.session)?.0),
    };
    let harness_of = |session: &Id| {
        let named = options.harness.and_then(harness::harness_by_name);
        named.or_else(|| harness::harness_by_name(&store.current_digest(session, |_| {}).ok()?.harness))
    };
    let occasion = match (&session, options.occasion) {
        (Some(session), Some(BriefOccasion::Resumed)) => {
            let harness = harness_of(session);
            model::decide::resume_occasion(harness.is_some_and(|row| row.capabilities.replays_conversation))
        }
        (_, Some(occasion)) => occasion,
        (_, None) => default_occasion(options),
    };
    let session = session.as_ref();
    let request = BriefRequest {
        project,
        occasion,
        session,
        previous_session_id: None,
        max_length: usize::MAX,
        mode: WriteMode::DryRun,
        // A preview must be identical to what a hook would send. Hooks do not run git, so a preview does not use it
        // either.
        examined: match occasion {
            BriefOccasion::Asked => ExaminedFiles::ListedByGit,
            _ => ExaminedFiles::OfSession,
        },
    };
    let Some((gathered, records)) = gather_facts_for_brief(&request) else {
        // There is no earlier session, or it cannot be read. In either case, the calls below return the error.
        let (session, _) = last::choose_session_at_work(&project, options.session)?;
        let gathered = facts::gather_session_facts(&project, &session, request.examined)?;
        return Ok(PrintedBriefFacts::of_session(gathered, occasion));
    };
    // A session claims a waiting loop only when it starts or is resumed, so only the briefs for these occasions mention
    // the loop.
    let waiting_loop = match occasion {
        BriefOccasion::Started | BriefOccasion::Resumed | BriefOccasion::Replayed => {
            loops::session::preview_claimed_loop(&project, session)?
        }
        BriefOccasion::Compacted | BriefOccasion::Asked => None,
    };
    let FeatureCandidates { candidates, unwritten_packet, .. } = records;
    Ok(PrintedBriefFacts {
        gathered,
        feature_candidates: candidates,
        occasion,
        unwritten_packet,
        waiting_loop,
    })
}

/// Makes a digest from a whole transcript, as hooks would have done.
pub fn digest_of_transcript(
    path: &Path,
    checkout: &Path,
    redact: redact::RedactOptions,
    now: Timestamp,
) -> Result<Digest> {
    let source = TranscriptToRead { path, checkout, redact, now };
    Ok(transcript::read_transcript(&source)?.digest)
}

fn harness_by_name(name: &str) -> Result<&'static Harness> {
    harness::harness_by_name(name).ok_or_else(|| Error::Usage {
        what: format!("there is no harness `{name}`"),
        hint: format!(
            "one of {}",
            HARNESSES.iter().map(|harness| harness.name).collect::<Vec<_>>().join(", ")
        ),
    })
}
