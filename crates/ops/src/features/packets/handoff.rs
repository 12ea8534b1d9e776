//! `thru handoff`: writes a packet from the captured session, without a model and without asking questions.

use std::path::{Path, PathBuf};

use harness::Harness;
use model::digest::Digest;
use model::document::{Document, HeadingPattern};
use model::id::Id;
use model::loops::describe_end_of_loop;
use model::loops::promise;
use model::packet::drift::FINGERPRINT_OF_MISSING_FILE;
use model::packet::{self, GitFacts, PacketMaterial, words};
use model::redact::{RedactOptions, Redacted};
use model::text::fnv_fingerprint;
use serde::Serialize;
use store::{Dir, layout};

use crate::Error;
use crate::Result;
use crate::World;
use crate::features::packets as packet_files;
use crate::features::packets::claimed::Ending;
use crate::features::packets::{claimed, content, offer};
use crate::features::sessions::continued;
use crate::features::{ProjectContext, crashed, decisions, loops, roles, sessions, workstreams};
use crate::input_redactor::InputRedactor;
use crate::project::{Project, git, settings};
use crate::session::database::{self, SessionRows};
use crate::session::facts::{self, ExaminedFiles};
use crate::session::list::{self, SessionChoiceReason};
use crate::session::{last, last_turn, roster, transcript};

/// Larger files are listed in the packet, but without a fingerprint.
const MAX_HASHED_FILE_BYTES: usize = 1024 * 1024;

/// The limits on the files that a hook reads for their fingerprints: the total size in bytes, and the number of files.
/// Reading this much takes about a millisecond.
const MAX_BYTES_HASHED_BY_HOOK: usize = 512 * 1024;
const MAX_FILES_HASHED_BY_HOOK: usize = 24;

#[derive(Clone, Copy, Debug, Default)]
pub struct HandoffRequest<'a> {
    pub purpose: &'a str,
    /// Whether the purpose is the session's own request. Otherwise, a person gave the purpose.
    pub is_purpose_from_session: bool,
    pub session: Option<&'a str>,
    pub transcript: Option<&'a Path>,
    pub confirmed: &'a [String],
    pub validators: &'a [String],
    pub promise: Option<&'a str>,
    pub max_iterations: i64,
    pub hashes: FilesToFingerprint,
}

/// Which files get a fingerprint. A pickup uses the fingerprints to detect changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FilesToFingerprint {
    #[default]
    Take,
    /// Only for as many files as a hook has time to read.
    TakeSmall,
}

#[derive(Clone, Debug, Serialize)]
pub struct HandoffReport {
    pub id: String,
    pub path: PathBuf,
    /// The id of the session. Empty if no session in this project has been captured.
    pub session: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen: Option<SessionChoiceReason>,
    /// The session that asked for the packet, if it has done no work itself. The packet is then about the last
    /// session that did any work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<String>,
    pub edited: usize,
    pub failing: usize,
    /// The number of commands that failed and ran again after a change, with a result that nobody saw.
    pub unseen: usize,
    pub open_todos: usize,
    pub suggested: Vec<String>,
    pub next_prompt: String,
    /// The packets that this packet continues. They are now marked as done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub continues: Vec<String>,
    /// Whether `thru pickup` takes this packet if no id is given.
    #[serde(skip)]
    pub is_picked_up_without_id: bool,
    /// Whether a secret in the input was redacted.
    #[serde(rename = "redacted")]
    pub is_secret_redacted: bool,
}

pub fn write_handoff(world: &World, request: &HandoffRequest) -> Result<HandoffReport> {
    let purpose = request.purpose.trim();
    if purpose.is_empty() {
        return Err(Error::Usage {
            what: "a handoff needs a purpose".into(),
            hint: "say in a few words what remains to be finished: thru handoff \"finish the parser\"".into(),
        });
    }
    check_loop_options(request)?;
    let project = Project::find_or_create(world)?;
    let confirmed = packet_files::require_existing_files(&project, request.confirmed)?;
    let given = InputRedactor::with_settings_of(world);
    let source = match request.transcript {
        Some(path) => source_from_transcript(world, &project, path, given.options)?,
        None => source_from_session(world, &project, request.session)?,
    };
    let (purpose, promise) =
        (given.redact_text(purpose), request.promise.map(|promise| given.redact_text(promise)));
    let validators: Vec<String> =
        request.validators.iter().map(|line| given.redact_text(line).into_owned()).collect();
    let request = HandoffRequest {
        purpose: &purpose,
        promise: promise.as_deref(),
        validators: &validators,
        ..*request
    };
    let request = HandoffRequest { confirmed: &confirmed, ..request };
    let (source, instead_of) = match (request.transcript, request.session) {
        (None, None) => replace_fresh_session(world, &project, source)?,
        _ => (source, None),
    };
    let redact = settings::settings_here(world).settings().redact_options();
    let git = source.checkout.as_deref().and_then(|checkout| read_git_state(checkout, redact));
    let report = write_packet(world, &project, &source, &request, git.as_ref())?;
    let sessions = sessions_handing_off(world, &request, &source);
    // The new packet is already written. If the old packets cannot be closed, the worst result is that they stay on
    // offer.
    let continues = claimed::close_continued_packets(world, &project, &sessions, &report.id, Ending::Handoff)
        .unwrap_or_default();
    if let Ok(id) = Id::new(&report.id) {
        packet_files::add_confirmed_to_file_index(world, &project, &id, &confirmed);
    }
    if request.transcript.is_none() {
        // If the packet cannot be recorded, the worst result is that a sweep writes an extra packet.
        let _ = crashed::record_handoff_packet(world, &project.store, &source.digest.session, &report.id);
    }
    let is_picked_up_without_id = offer::is_picked_up_without_id(&project.store, world.now, &report.id);
    let is_secret_redacted = given.has_redacted();
    Ok(HandoffReport { is_secret_redacted, instead_of, continues, is_picked_up_without_id, ..report })
}

/// Returns the sessions whose work the packet hands over: the session that it describes, and the session that asked for
/// the packet. If the latter explicitly asked for the work of another session, only that other session is returned, and
/// the asking session keeps the packet that it has claimed.
fn sessions_handing_off(world: &World, request: &HandoffRequest, source: &PacketSource) -> Vec<Id> {
    let described = Id::new(&source.digest.session).ok().filter(|_| request.transcript.is_none());
    let is_own = request.transcript.is_none() && request.session.is_none();
    let calling = list::session_of_current_harness(world).filter(|_| is_own);
    let calling = calling.filter(|calling| Some(calling) != described.as_ref());
    described.into_iter().chain(calling).collect()
}

/// Returns an error if `thru loop start` would refuse a packet with these options.
fn check_loop_options(request: &HandoffRequest) -> Result<()> {
    let usage = |what: String, hint: &str| Err(Error::Usage { what, hint: hint.into() });
    if let Some((promise, flaw)) =
        request.promise.and_then(|text| Some((text, promise::why_invalid_promise(text)?)))
    {
        let what = format!("`{promise}` cannot be a promise: {flaw}");
        return usage(what, "use a few words, e.g. ALL TESTS PASS");
    }
    if request.validators.iter().any(|command| command.trim().is_empty()) {
        return usage(
            "a validator is empty".into(),
            "give a command that must pass: --validator \"make test\"",
        );
    }
    Ok(())
}

/// The session that a packet describes.
pub(crate) struct PacketSource {
    pub digest: Digest,
    pub harness: Option<&'static Harness>,
    pub session_choice: Option<SessionChoiceReason>,
    pub transcript: Option<String>,
    /// Whether the session worked in another folder. If so, its paths mean nothing in this checkout.
    pub is_of_other_folder: bool,
    /// The checkout in which the session worked: this one or another worktree of the repository. `None` if that
    /// worktree no longer exists, or if the session worked in an unrelated folder.
    pub checkout: Option<PathBuf>,
}

fn source_from_transcript(
    world: &World,
    project: &Project,
    path: &Path,
    redact: RedactOptions,
) -> Result<PacketSource> {
    let read = transcript::read_transcript(&transcript::TranscriptToRead {
        path,
        checkout: &project.root.checkout,
        redact,
        now: world.now,
    })?;
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    Ok(PacketSource {
        digest: read.digest,
        harness: Some(read.harness),
        session_choice: None,
        transcript: Some(path.to_string_lossy().into_owned()),
        is_of_other_folder: read.is_of_other_project,
        checkout: (!read.is_of_other_project).then(|| project.root.checkout.clone()),
    })
}

/// Reads the session from the store. If the project has no sessions, the packet says so.
fn source_from_session(world: &World, project: &Project, named: Option<&str>) -> Result<PacketSource> {
    match list::choose_session(world, &project.store, named) {
        Ok((session, chosen)) => {
            packet_source_of_session(world, project, &session, Some(chosen), ExaminedFiles::ListedByGit)
        }
        // No hook has reported this session, perhaps because it began before hooks were installed.
        Err(error @ Error::Absent { .. }) if named.is_some() => {
            let session = named.and_then(|named| Id::new(named).ok());
            let rows = session
                .as_ref()
                .map(|session| database::find_session_in_databases(world, session))
                .transpose()?
                .flatten();
            match (session, rows) {
                (Some(session), Some(rows)) => {
                    let source = source_from_database_rows(world, project, &session, &rows);
                    Ok(PacketSource { session_choice: Some(SessionChoiceReason::Named), ..source })
                }
                _ => Err(error),
            }
        }
        Err(Error::Absent { .. }) if named.is_none() => Ok(PacketSource {
            digest: Digest::default(),
            harness: None,
            session_choice: None,
            transcript: None,
            is_of_other_folder: false,
            checkout: Some(project.root.checkout.clone()),
        }),
        Err(error) => Err(error),
    }
}

/// If the session was opened only for the handoff, replaces it with the last session that did any work. A guessed session
/// that made no calls is replaced too. Also returns the id of the replaced session.
fn replace_fresh_session(
    world: &World,
    project: &Project,
    source: PacketSource,
) -> Result<(PacketSource, Option<String>)> {
    let is_fresh = is_fresh_session(&source.digest);
    let is_idle_guess = source.session_choice == Some(SessionChoiceReason::Guess)
        && source.digest.did_hooks_see_start
        && source.digest.call_count == 0;
    if !is_fresh && !is_idle_guess {
        return Ok((source, None));
    }
    let own = source.digest.session.clone();
    let entries = roster::read_roster(&project.store, roster::ROSTER_TAIL_BYTES)?;
    let settings = settings::settings_here(world).settings();
    let context = ProjectContext { world, root: &project.root, store: &project.store, settings: &settings };
    let other = roster::last_session_with_work(&context, &entries, |entry| entry.session.as_str() != own);
    let other = other.filter(|digest| is_fresh || roster::did_session_do_work(digest));
    match other.and_then(|digest| Id::new(&digest.session).ok()) {
        Some(session) => {
            let chosen = Some(SessionChoiceReason::Guess);
            let source =
                packet_source_of_session(world, project, &session, chosen, ExaminedFiles::ListedByGit)?;
            Ok((source, Some(own)))
        }
        None => Ok((source, None)),
    }
}

/// Returns whether a session has no prompts about work, no messages and no calls. Returns false if hooks have not
/// seen the session from its start, because it may have done unreported work.
fn is_fresh_session(digest: &Digest) -> bool {
    let Digest { prompts, last_message: said, call_count: called, did_hooks_see_start: from_start, .. } =
        digest;
    *from_start && *called == 0 && said.is_empty() && words::prompts_about_work(prompts).is_empty()
}

pub(crate) fn source_from_database_rows(
    world: &World,
    project: &Project,
    session: &Id,
    rows: &SessionRows,
) -> PacketSource {
    let checkout = &project.root.checkout;
    let redact = settings::settings_here(world).settings().redact_options();
    let source = transcript::TranscriptToRead { path: checkout, checkout, redact, now: world.now };
    let transcript::ReadTranscript { mut digest, harness, is_of_other_project: elsewhere, .. } =
        transcript::read_database_rows(rows, session, &source);
    facts::unmark_existing_files_as_deleted(&mut digest, checkout);
    let checkout = (!elsewhere).then(|| checkout.clone());
    PacketSource {
        digest,
        harness: Some(harness),
        session_choice: None,
        transcript: None,
        is_of_other_folder: elsewhere,
        checkout,
    }
}

pub(crate) fn packet_source_of_session(
    world: &World,
    project: &Project,
    session: &Id,
    chosen: Option<SessionChoiceReason>,
    examined: ExaminedFiles,
) -> Result<PacketSource> {
    // If the session cannot be read, return the error instead of describing an empty session.
    let mut digest =
        facts::digest_with_predecessors(&project.store, session, facts::MAX_PREDECESSOR_SESSIONS_READ)?;
    let settings = settings::settings_here(world).settings();
    let context = ProjectContext { world, root: &project.root, store: &project.store, settings: &settings };
    let entries = roster::read_roster(&project.store, roster::ROSTER_TAIL_BYTES)?;
    let entry = entries.iter().find(|entry| entry.session == *session);
    let redact = settings.redact_options();
    last_turn::add_end_of_last_turn(world, &project.store, entry, &mut digest, redact);
    facts::unmark_existing_files_as_deleted(&mut digest, &project.root.checkout);
    facts::add_current_state_from_disk(&context, &mut digest, examined);
    decisions::remove_recorded_answers(&project.store, &mut digest)?;
    last::add_facts_of_earlier_sessions(&context, &entries, &mut digest, examined);
    let harness = harness::harness_by_name(&digest.harness);
    let transcript = list::transcript_path(&project.store, session);
    let checkout = checkout_of_session(world, project, &digest);
    Ok(PacketSource {
        digest,
        harness,
        session_choice: chosen,
        transcript,
        is_of_other_folder: false,
        checkout,
    })
}

/// Returns the checkout in which a session worked, or `None` if that checkout no longer exists. A journal can name
/// any folder, so another checkout counts only if it belongs to the same repository.
fn checkout_of_session(world: &World, project: &Project, digest: &Digest) -> Option<PathBuf> {
    let settings = settings::settings_here(world).settings();
    let context = ProjectContext { world, root: &project.root, store: &project.store, settings: &settings };
    let here = &project.root.checkout;
    match sessions::other_worktree(&context, digest) {
        None => Some(here.clone()),
        Some(there) => git::is_same_repository(here, &there).then_some(there),
    }
}

pub(crate) fn write_packet(
    world: &World,
    project: &Project,
    source: &PacketSource,
    request: &HandoffRequest,
    git: Option<&GitFacts>,
) -> Result<HandoffReport> {
    let digest = &source.digest;
    let here = &project.root.checkout;
    let checkout = source.checkout.as_deref();
    let gone = if source.is_of_other_folder {
        Vec::new()
    } else {
        facts::important_files_now_missing(digest, here, usize::MAX)
    };
    let confirmed = request.confirmed;
    let ignored = match (git, checkout) {
        // Ask git which files it ignores. This is skipped outside a repository and in hooks, which do not run git.
        (Some(GitFacts { uncommitted_files: Some(_), .. }), Some(checkout)) => {
            let paths: Vec<&str> = digest
                .files
                .iter()
                .filter(|file| !file.is_outside_checkout)
                .map(|file| file.path.as_str())
                .collect();
            git::ignored_paths(checkout, &paths)
        }
        _ => Vec::new(),
    };
    // If the decisions cannot be read, the packet has no section about decisions.
    let settings = settings::settings_here(world).settings();
    let context = ProjectContext { world, root: &project.root, store: &project.store, settings: &settings };
    let decisions = decisions::decisions_for_packet(&context).unwrap_or_default();
    let redact = |text: String| Redacted::redact_whole(&text, settings.redact_options()).to_string();
    let rules: Vec<String> = role_rules(world, project).into_iter().map(redact).collect();
    // If the loop cannot be read, the packet still contains the user's messages.
    let running =
        loops::session::running_loop_of_session(&project.store, &digest.session).unwrap_or_default();
    let running = running.filter(|_| !source.is_of_other_folder);
    let is_session_over = running.is_some()
        && roster::read_roster(&project.store, roster::ROSTER_TAIL_BYTES)
            .is_ok_and(|entries| roster::is_over(&entries, &project.store, &digest.session, world.now));
    let left_behind = running.as_ref().filter(|_| is_session_over);
    let loop_left_behind = left_behind.map(|state| state.id.clone());
    // The validators, the promise and the limit of the loop still apply to the unfinished work, so the packet repeats
    // them. Nothing runs because of this: a loop uses the validators of a packet only if the user asks for it.
    let mut validators = request.validators.to_vec();
    let validators_of_loop = left_behind.map_or(&[][..], |state| &state.validators);
    for validator in validators_of_loop.iter().map(|command| redact(command.clone())) {
        if !validators.contains(&validator) {
            validators.push(validator);
        }
    }
    let promise =
        left_behind.and_then(|state| state.completion_promise()).map(|text| redact(text.to_owned()));
    let max_iterations = match (request.max_iterations, left_behind) {
        (0, Some(state)) => i64::try_from(state.max_iterations).unwrap_or_default(),
        (most, _) => most,
    };
    let loop_prompt = running.map(|state| redact(state.prompt));
    let ended_loop = match (&loop_prompt, Id::new(&digest.session)) {
        (None, Ok(session)) if !source.is_of_other_folder => {
            loops::session::last_loop_of_session(&project.store, &session)
        }
        _ => None,
    };
    let end_of_loop = ended_loop.as_ref().map(|state| redact(describe_end_of_loop(state, world.now)));
    let ended_loop_prompt = ended_loop.map(|state| redact(state.prompt));
    // If the claimed packet cannot be read, the new packet still contains what the session did.
    let continued = match source.is_of_other_folder {
        true => None,
        false => claimed::continued_packet(&project.store, &digest.session, settings.redact_options()),
    };
    let continued_session =
        Id::new(&digest.session).ok().filter(|_| !source.is_of_other_folder).and_then(|session| {
            continued::continued_session(&project.store, &session, settings.redact_options())
        });
    let place = workstreams::WorkstreamFinder::workstream_finder_of_project(&context);
    let workstream = match source.is_of_other_folder {
        true => None,
        false => workstreams::describe_workstream_for_packet(&place, &digest.session, world.now).map(redact),
    };
    let mut material = PacketMaterial {
        id: "",
        purpose: request.purpose,
        is_purpose_from_session: request.is_purpose_from_session,
        digest,
        source: source.harness.map_or("unknown", |harness| harness.name),
        harness: source.harness.map_or("an unknown harness", |harness| harness.title),
        transcript: source.transcript.as_deref(),
        project_id: project.marker.project_id.as_str(),
        git: git.filter(|_| checkout.is_some()),
        is_of_other_project: checkout.is_none(),
        now: world.now,
        confirmed,
        decisions: &decisions,
        role_rules: &rules,
        missing_files: &gone,
        ignored: &ignored,
        files_seen: &[],
        validators: &validators,
        promise: request.promise.or(promise.as_deref()),
        max_iterations,
        loop_prompt: loop_prompt.as_deref().unwrap_or_default(),
        loop_left_behind: loop_left_behind.as_deref(),
        ended_loop_prompt: ended_loop_prompt.as_deref().unwrap_or_default(),
        end_of_loop: end_of_loop.as_deref().unwrap_or_default(),
        workstream: workstream.as_deref().unwrap_or_default(),
        continued: continued.as_ref(),
        continued_session: continued_session.as_ref(),
    };
    // Compose a first draft to learn which files the packet mentions, and read only those files.
    let first = packet::compose_packet(&material);
    let files_seen = match checkout {
        Some(checkout) => {
            // The session may have worked in another worktree. A file that the user confirmed in this checkout may be
            // absent there, but it must not be marked as gone.
            let is_there =
                |path: &&String| checkout == here || checkout.join(path).symlink_metadata().is_ok();
            let chosen = confirmed.iter().filter(is_there);
            let files = chosen.chain(&first.suggested).map(String::as_str);
            match request.hashes {
                FilesToFingerprint::Take => file_fingerprints(checkout, files),
                FilesToFingerprint::TakeSmall => {
                    file_fingerprints(checkout, files_hook_has_time_to_read(checkout, files))
                }
            }
        }
        None => Vec::new(),
    };
    material.files_seen = &files_seen;
    let mut draft = first;
    let id = project.store.create_packet(|n| {
        let id = packet::packet_id(world.now, request.purpose, n);
        draft = packet::compose_packet(&PacketMaterial { id: &id, ..material });
        let bytes = draft.bytes.clone();
        (id, bytes)
    })?;
    Ok(HandoffReport {
        path: project.store.dir().path().join(format!("{}/{id}.md", layout::PACKETS_FOLDER)),
        id,
        session: digest.session.clone(),
        chosen: source.session_choice,
        instead_of: None,
        edited: digest.files.iter().filter(|file| file.is_edited()).count(),
        failing: draft.failing,
        unseen: draft.unseen,
        open_todos: digest.open_todos().count(),
        suggested: draft.suggested,
        next_prompt: draft.next_prompt,
        continues: Vec::new(),
        is_picked_up_without_id: false,
        is_secret_redacted: false,
    })
}

/// Returns the files that a hook has time to read: the first ones, as long as they are small.
fn files_hook_has_time_to_read<'a>(
    checkout: &Path,
    files: impl Iterator<Item = &'a str>,
) -> impl Iterator<Item = &'a str> {
    let mut room = MAX_BYTES_HASHED_BY_HOOK as u64;
    files.take(MAX_FILES_HASHED_BY_HOOK).filter(move |path| {
        let length = checkout.join(path).symlink_metadata().map_or(0, |meta| meta.len());
        let fits = length <= room;
        room -= if fits { length } else { 0 };
        fits
    })
}

/// Returns fingerprints of the files. A missing file is marked as gone. A file that is too large or is not a regular
/// file is left out.
pub(crate) fn file_fingerprints<'a>(
    checkout: &Path,
    files: impl Iterator<Item = &'a str>,
) -> Vec<(String, String)> {
    let inside = files.filter(|path| {
        !model::checkout_path::path_within_checkout(&checkout.to_string_lossy(), path).is_outside
    });
    inside
        .filter_map(|path| Some((path.to_owned(), fingerprint_or_mark_of_missing_file(checkout, path)?)))
        .collect()
}

/// Returns the fingerprint of a file, the mark of a missing file, or `None` if the file cannot be read.
pub(super) fn fingerprint_or_mark_of_missing_file(checkout: &Path, path: &str) -> Option<String> {
    match checkout.join(path).symlink_metadata() {
        Err(_) => Some(FINGERPRINT_OF_MISSING_FILE.to_owned()),
        Ok(_) => file_fingerprint(checkout, path),
    }
}

pub(crate) fn file_fingerprint(checkout: &Path, path: &str) -> Option<String> {
    // Links are not followed, because a packet must not describe files outside the checkout.
    let bytes = Dir::open(checkout).ok()?.read_file(path, MAX_HASHED_FILE_BYTES).ok()?;
    Some(format!("{:x}-{:016x}", bytes.len(), fnv_fingerprint([&bytes])))
}

/// Reads the commit and the branch from git's files, and runs git to list the changed files.
pub(crate) fn read_git_state(checkout: &Path, redact: RedactOptions) -> Option<GitFacts> {
    let head = git::read_head(checkout)?;
    Some(GitFacts {
        branch: git::redacted_branch(&head, redact),
        fingerprint_of_changes: content::fingerprint_of_changes(checkout, &head.commit, &head.commit),
        head: head.commit,
        uncommitted_files: git::list_uncommitted_files(checkout, redact),
    })
}

/// Returns the rules in the context file of the session's role.
fn role_rules(world: &World, project: &Project) -> Vec<String> {
    let file = roles::identify_role(world, Some(&project.store), None)
        .and_then(|identity| roles::find_roles(world)?.find_context_file(&identity.role));
    let Ok(Some(file)) = file else { return Vec::new() };
    let document = Document::parse(file.bytes);
    let Some(section) = document.find_section(&[HeadingPattern::prefix(2, "Key Rules")]) else {
        return Vec::new();
    };
    let lines = section.text();
    let lines = lines.lines().map(|line| line.trim().trim_start_matches(['-', '*', ' ']));
    lines.filter(|line| !line.is_empty()).map(|line| format!("{line} (role {})", file.role)).collect()
}
