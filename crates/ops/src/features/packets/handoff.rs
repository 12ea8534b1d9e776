//! `thru handoff`: writes a packet from what was captured, without a model and without questions.

use std::path::{Path, PathBuf};

use harness::Harness;
use model::digest::Digest;
use model::document::{Document, Head};
use model::id::Id;
use model::loops::promise;
use model::packet::drift::GONE;
use model::packet::{self, Git, Material, words};
use model::redact::{self, Redacted};
use model::text::fingerprint;
use serde::Serialize;
use store::{Dir, layout};

use crate::Error;
use crate::Result;
use crate::World;
use crate::features::packets as packet_files;
use crate::features::{ProjectContext, crashed, decisions, loops, roles};
use crate::input_redactor::InputRedactor;
use crate::project::{Project, git, settings};
use crate::session::database::{self, Rows};
use crate::session::list::{self, Chosen};
use crate::session::{past, roster, transcript};

/// Files larger than this are named, but not read.
const LOOKED_INTO: usize = 1024 * 1024;

#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'a> {
    pub purpose: &'a str,
    pub session: Option<&'a str>,
    pub transcript: Option<&'a Path>,
    pub confirmed: &'a [String],
    pub validators: &'a [String],
    pub promise: Option<&'a str>,
    pub max_iterations: i64,
    pub hashes: FileHashes,
}

/// Whether fingerprints of the files are stored, so that a pickup can detect changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileHashes {
    #[default]
    Take,
    /// They are not stored, because a hook has no time to read the files.
    Leave,
}

#[derive(Clone, Debug, Serialize)]
pub struct HandoffReport {
    pub id: String,
    pub path: PathBuf,
    /// Empty if no session has been captured here.
    pub session: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen: Option<Chosen>,
    /// The session that asked for the packet, if it has done nothing itself: the packet is about the last session that
    /// did work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<String>,
    pub edited: usize,
    pub failing: usize,
    pub open_todos: usize,
    pub suggested: Vec<String>,
    pub next_prompt: String,
    /// Whether a secret in the input was redacted.
    pub covered: bool,
}

pub fn run(world: &World, request: &Request) -> Result<HandoffReport> {
    let purpose = request.purpose.trim();
    if purpose.is_empty() {
        return Err(Error::Usage {
            what: "a handoff needs a purpose".into(),
            hint: "say in a few words what remains to be finished: thru handoff \"finish the parser\"".into(),
        });
    }
    check(request)?;
    let project = Project::find_or_make(world)?;
    let confirmed = packet_files::inside(&project, request.confirmed)?;
    let given = InputRedactor::to(world);
    let source = match request.transcript {
        Some(path) => from_transcript(world, &project, path, given.options)?,
        None => from_session(world, &project, request.session)?,
    };
    let (purpose, promise) = (given.clean(purpose), request.promise.map(|promise| given.clean(promise)));
    let validators: Vec<String> =
        request.validators.iter().map(|line| given.clean(line).into_owned()).collect();
    let request =
        Request { purpose: &purpose, promise: promise.as_deref(), validators: &validators, ..*request };
    let request = Request { confirmed: &confirmed, ..request };
    let (source, instead_of) = match (request.transcript, request.session) {
        (None, None) => at_work(&project, source)?,
        _ => (source, None),
    };
    let report = write(world, &project, &source, &request, git_now(&project).as_ref())?;
    if let Ok(id) = Id::new(&report.id) {
        packet_files::index_confirmed(world, &project, &id, &confirmed);
    }
    if request.transcript.is_none() {
        // If recording this fails, the only harm is that a sweep writes an extra packet.
        let _ = crashed::handed_off(world, &project.store, &source.digest.session, &report.id);
    }
    Ok(HandoffReport { covered: given.was_covered(), instead_of, ..report })
}

/// Refuses options that would make `thru loop start` refuse the packet later.
fn check(request: &Request) -> Result<()> {
    let usage = |what: String, hint: &str| Err(Error::Usage { what, hint: hint.into() });
    if let Some((promise, flaw)) = request.promise.and_then(|text| Some((text, promise::flaw(text)?))) {
        let what = format!("`{promise}` cannot be promised: {flaw}");
        return usage(what, "a few words, e.g. ALL TESTS PASS");
    }
    if request.validators.iter().any(|command| command.trim().is_empty()) {
        return usage(
            "a validator is empty".into(),
            "give a command that must pass: --validator \"make test\"",
        );
    }
    Ok(())
}

/// The session that a packet is made from.
pub(crate) struct Source {
    pub digest: Digest,
    pub harness: Option<&'static Harness>,
    pub chosen: Option<Chosen>,
    pub transcript: Option<String>,
    /// Whether the session was in another folder, so that its paths say nothing about the files here.
    pub elsewhere: bool,
}

fn from_transcript(world: &World, project: &Project, path: &Path, redact: redact::Options) -> Result<Source> {
    let read = transcript::read(&transcript::Source {
        path,
        checkout: &project.root.checkout,
        redact,
        now: world.now,
    })?;
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    Ok(Source {
        digest: read.digest,
        harness: Some(read.harness),
        chosen: None,
        transcript: Some(path.to_string_lossy().into_owned()),
        elsewhere: read.elsewhere,
    })
}

/// Reads the session from the store. If the project has no sessions, the packet says so.
fn from_session(world: &World, project: &Project, named: Option<&str>) -> Result<Source> {
    match list::choose(world, &project.store, named) {
        Ok((session, chosen)) => of_session(project, &session, Some(chosen)),
        // No hook reported this session, because it began before hooks were installed.
        Err(error @ Error::Absent { .. }) if named.is_some() => {
            let session = named.and_then(|named| Id::new(named).ok());
            let rows = session.as_ref().map(|session| database::find(world, session)).transpose()?.flatten();
            match (session, rows) {
                (Some(session), Some(rows)) => {
                    let source = from_rows(world, project, &session, &rows);
                    Ok(Source { chosen: Some(Chosen::Named), ..source })
                }
                _ => Err(error),
            }
        }
        Err(Error::Absent { .. }) if named.is_none() => Ok(Source {
            digest: Digest::default(),
            harness: None,
            chosen: None,
            transcript: None,
            elsewhere: false,
        }),
        Err(error) => Err(error),
    }
}

/// Replaces a session that was opened only for the handoff by the last one that did work, and returns the id of the
/// former.
fn at_work(project: &Project, source: Source) -> Result<(Source, Option<String>)> {
    if !is_fresh(&source.digest) {
        return Ok((source, None));
    }
    let own = source.digest.session.clone();
    let entries = roster::read(&project.store, roster::TAIL)?;
    let other = roster::last_at_work(&entries, &project.store, |entry| entry.session.as_str() != own);
    match other.and_then(|digest| Id::new(&digest.session).ok()) {
        Some(session) => Ok((of_session(project, &session, Some(Chosen::Guess))?, Some(own))),
        None => Ok((source, None)),
    }
}

/// Returns whether nothing was asked, said or done in a session. If hooks have not seen it from its start, it may have
/// done more than they know.
fn is_fresh(digest: &Digest) -> bool {
    let Digest { prompts, said, called, from_start, .. } = digest;
    *from_start && *called == 0 && said.is_empty() && words::real(prompts).is_empty()
}

/// Reads the session from its harness's database.
pub(crate) fn from_rows(world: &World, project: &Project, session: &Id, rows: &Rows) -> Source {
    let checkout = &project.root.checkout;
    let redact = settings::here(world).settings().redact();
    let source = transcript::Source { path: checkout, checkout, redact, now: world.now };
    let transcript::Read { mut digest, harness, elsewhere, .. } =
        transcript::read_rows(rows, session, &source);
    past::bring_back(&mut digest, checkout);
    Source { digest, harness: Some(harness), chosen: None, transcript: None, elsewhere }
}

pub(crate) fn of_session(project: &Project, session: &Id, chosen: Option<Chosen>) -> Result<Source> {
    // A session that cannot be read is an error, not an empty session.
    let mut digest = past::whole(&project.store, session, past::GENERATIONS)?;
    past::bring_back(&mut digest, &project.root.checkout);
    decisions::without_recorded(&project.store, &mut digest)?;
    let harness = harness::by_name(&digest.harness);
    let transcript = list::transcript(&project.store, session);
    Ok(Source { digest, harness, chosen, transcript, elsewhere: false })
}

pub(crate) fn write(
    world: &World,
    project: &Project,
    source: &Source,
    request: &Request,
    git: Option<&Git>,
) -> Result<HandoffReport> {
    let digest = &source.digest;
    let checkout = &project.root.checkout;
    let gone = if source.elsewhere { Vec::new() } else { past::gone_files(digest, checkout, usize::MAX) };
    let confirmed = request.confirmed;
    let ignored = match (git, source.elsewhere) {
        // Without git no file is ignored. A hook does not run git.
        (Some(Git { dirty: Some(_), .. }), false) => {
            let paths: Vec<&str> =
                digest.files.iter().filter(|file| !file.outside).map(|file| file.path.as_str()).collect();
            git::ignored(checkout, &paths)
        }
        _ => Vec::new(),
    };
    // If the decisions cannot be read, only this section of the packet is missing.
    let settings = settings::here(world).settings();
    let context = ProjectContext { world, root: &project.root, store: &project.store, settings: &settings };
    let decisions = decisions::in_words(&context).unwrap_or_default();
    let rules = rules(world, project);
    // Without its loop the packet still has what the user said.
    let running = loops::session::running(&project.store, &digest.session).unwrap_or_default();
    let running = running.filter(|_| !source.elsewhere);
    let loop_prompt = running
        .map(|state| Redacted::whole(&state.prompt, settings::here(world).settings().redact()).to_string());
    let mut material = Material {
        id: "",
        purpose: request.purpose,
        digest,
        source: source.harness.map_or("unknown", |harness| harness.name),
        harness: source.harness.map_or("an unknown harness", |harness| harness.title),
        transcript: source.transcript.as_deref(),
        project_id: project.marker.project_id.as_str(),
        git: git.filter(|_| !source.elsewhere),
        elsewhere: source.elsewhere,
        now: world.now,
        confirmed,
        decisions: &decisions,
        rules: &rules,
        gone: &gone,
        ignored: &ignored,
        files_seen: &[],
        validators: request.validators,
        promise: request.promise,
        max_iterations: request.max_iterations,
        loop_prompt: loop_prompt.as_deref().unwrap_or_default(),
    };
    // A first draft shows which files the packet names. Only then is their content read.
    let first = packet::compose(&material);
    let named = confirmed.iter().chain(&first.suggested).map(String::as_str);
    let files_seen = match (source.elsewhere, request.hashes) {
        (false, FileHashes::Take) => seen(checkout, named),
        _ => Vec::new(),
    };
    material.files_seen = &files_seen;
    let mut draft = first;
    let id = project.store.create_packet(|n| {
        let id = packet::id(world.now, request.purpose, n);
        draft = packet::compose(&Material { id: &id, ..material });
        let bytes = draft.bytes.clone();
        (id, bytes)
    })?;
    Ok(HandoffReport {
        path: project.store.dir().path().join(format!("{}/{id}.md", layout::PACKETS)),
        id,
        session: digest.session.clone(),
        chosen: source.chosen,
        instead_of: None,
        edited: digest.files.iter().filter(|file| file.edits > 0).count(),
        failing: draft.failing,
        open_todos: digest.open_todos().count(),
        suggested: draft.suggested,
        next_prompt: draft.next_prompt,
        covered: false,
    })
}

/// Returns fingerprints of the files. A missing file is marked as gone. A file that is too large, or not a regular
/// file, is left out.
pub(crate) fn seen<'a>(checkout: &Path, files: impl Iterator<Item = &'a str>) -> Vec<(String, String)> {
    let look = |path: &str| match checkout.join(path).symlink_metadata() {
        Err(_) => Some(GONE.to_owned()),
        Ok(_) => mark(checkout, path),
    };
    let inside = files.filter(|path| !model::place::within(&checkout.to_string_lossy(), path).outside);
    inside.filter_map(|path| Some((path.to_owned(), look(path)?))).collect()
}

/// Returns a fingerprint of a file's content.
pub(crate) fn mark(checkout: &Path, path: &str) -> Option<String> {
    // Links are not followed, because a packet says nothing about files outside the checkout.
    let bytes = Dir::open(checkout).ok()?.read(path, LOOKED_INTO).ok()?;
    Some(format!("{:x}-{:016x}", bytes.len(), fingerprint([&bytes])))
}

/// Returns the commit and the branch from git's files, and the number of changed files from the git command.
pub(crate) fn git_now(project: &Project) -> Option<Git> {
    let checkout = &project.root.checkout;
    let head = git::head(checkout)?;
    Some(Git { branch: git::safe_branch(&head), head: head.commit, dirty: git::dirty(checkout) })
}

/// Returns the rules in the context file of the session's role.
fn rules(world: &World, project: &Project) -> Vec<String> {
    let file = roles::identify(world, Some(&project.store), None)
        .and_then(|identity| roles::look(world)?.find(&identity.role));
    let Ok(Some(file)) = file else { return Vec::new() };
    let document = Document::parse(file.bytes);
    let Some(section) = document.section(&[Head::prefix(2, "Key Rules")]) else { return Vec::new() };
    let lines = section.text();
    let lines = lines.lines().map(|line| line.trim().trim_start_matches(['-', '*', ' ']));
    lines.filter(|line| !line.is_empty()).map(|line| format!("{line} (role {})", file.role)).collect()
}
