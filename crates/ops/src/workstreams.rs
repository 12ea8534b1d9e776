//! Workstreams on disk: where their manifests lie, which is active, and what is told of it after a compaction.

use std::path::PathBuf;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use model::brief::{Note, Topic};
use model::config::Settings;
use model::digest::Digest;
use model::document::Document;
use model::event::{Event, Kind, TodoStatus};
use model::id::Id;
use model::manifest::{self, Manifest};
use model::redact::{self, redact};
use model::render::{code, path as shown_path, quoted};
use model::text::fingerprint;
use model::time;
use model::workstream::{self, Clues, LARGEST_STATE, State};
use store::{Dir, Durability, EntryKind, Root, Store, layout};

use crate::deadline::Deadline;

/// More workstreams than a hook looks through.
const MOST: usize = 64;
/// Larger than any manifest, or file of steps, that somebody wrote.
const LARGEST: usize = 256 * 1024;
/// Of a file to load, more than a brief can tell.
const INLINED: usize = 16 * 1024;

/// The layout of seed 003, seen from the root.
const PROJECTS: &str = "02-projects";
const PLANNING: &str = "01-planning";

/// A workstream that has a manifest. Paths are relative to the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workstream {
    pub id: String,
    pub manifest: String,
    pub folder: String,
}

/// Where to look, and under what settings.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    pub root: &'a Root,
    pub store: &'a Store,
    pub settings: &'a Settings,
}

/// A file that a manifest loads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// As the manifest has it.
    pub named: String,
    /// From the root; None where there is no such file.
    pub path: Option<String>,
    pub bytes: u64,
    pub changed: Option<Timestamp>,
}

impl Place<'_> {
    /// Every workstream, by id.
    pub fn all(&self) -> Vec<Workstream> {
        let mut all = Vec::new();
        for (home, below) in [(layout_home(), None), (PROJECTS.to_owned(), Some(PLANNING))] {
            for id in self.folders(&home).into_iter().filter(|id| manifest::is_workstream(id)) {
                all.extend(self.at(&id, &format!("{home}/{id}"), below));
            }
        }
        for glob in self.settings.resume_globs.split(',').map(str::trim).filter(|glob| !glob.is_empty()) {
            for path in self.expand(glob) {
                all.extend(
                    self.by_file(&path)
                        .filter(|found| !all.iter().any(|known| known.manifest == found.manifest)),
                );
            }
        }
        all.sort_by(|a, b| a.id.cmp(&b.id));
        all.truncate(MOST);
        all
    }

    pub fn find(&self, id: &str) -> Option<Workstream> {
        if !manifest::is_workstream(id) {
            return None;
        }
        self.at(id, &format!("{}/{id}", layout_home()), None)
            .or_else(|| self.at(id, &format!("{PROJECTS}/{id}"), Some(PLANNING)))
            .or_else(|| self.all().into_iter().find(|known| known.id == id))
    }

    /// The workstream whose manifest this is.
    pub fn by_file(&self, path: &str) -> Option<Workstream> {
        let document = Document::parse(self.read(path).ok()?);
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let folder = folder.strip_suffix(&format!("/{PLANNING}")).unwrap_or(folder);
        let named = document.text("project_id").unwrap_or_default().to_owned();
        let id = if manifest::is_workstream(&named) { named } else { folder.rsplit('/').next()?.to_owned() };
        Some(Workstream { id, manifest: path.to_owned(), folder: folder.to_owned() })
    }

    fn at(&self, id: &str, folder: &str, below: Option<&str>) -> Option<Workstream> {
        let manifest = match below {
            Some(below) => format!("{folder}/{below}/{}", manifest::NAME),
            None => format!("{folder}/{}", manifest::NAME),
        };
        let is_there = self.full(&manifest).symlink_metadata().is_ok_and(|meta| meta.is_file());
        is_there.then(|| Workstream { id: id.to_owned(), manifest, folder: folder.to_owned() })
    }

    /// `*` stands for one name.
    fn expand(&self, glob: &str) -> Vec<String> {
        let mut found = vec![String::new()];
        for part in glob.split('/').filter(|part| !part.is_empty() && *part != "." && *part != "..") {
            let join = |base: &str, name: &str| {
                if base.is_empty() { name.to_owned() } else { format!("{base}/{name}") }
            };
            found = found
                .iter()
                .flat_map(|base| match part {
                    "*" => self.folders(base).iter().map(|name| join(base, name)).collect::<Vec<_>>(),
                    name => vec![join(base, name)],
                })
                .take(MOST * 4)
                .collect();
        }
        found.retain(|path| self.full(path).is_file());
        found
    }

    pub fn folders(&self, folder: &str) -> Vec<String> {
        self.names(folder, EntryKind::Folder)
    }

    pub fn files(&self, folder: &str) -> Vec<String> {
        self.names(folder, EntryKind::File)
    }

    fn names(&self, folder: &str, kind: EntryKind) -> Vec<String> {
        let Ok(dir) = self.dir(folder) else { return Vec::new() };
        let entries = dir.entries().unwrap_or_default().into_iter();
        let mut names: Vec<String> =
            entries.filter(|entry| entry.kind == kind).map(|entry| entry.name).collect();
        names.sort();
        names
    }

    pub fn dir(&self, folder: &str) -> store::Result<Dir> {
        let base = Dir::open(&self.base(folder))?;
        if folder.is_empty() { Ok(base) } else { base.sub(folder) }
    }

    /// The store belongs to the root, everything else to the checkout the session is in.
    fn base(&self, path: &str) -> PathBuf {
        if path.starts_with(layout::STORE) { self.root.path.clone() } else { self.root.checkout.clone() }
    }

    pub fn full(&self, path: &str) -> PathBuf {
        self.base(path).join(path)
    }

    pub fn read(&self, path: &str) -> store::Result<Vec<u8>> {
        Dir::open(&self.base(path))?.read(path, LARGEST)
    }

    pub fn write(&self, path: &str, bytes: &[u8]) -> store::Result<()> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        self.dir(folder)?.write(name, bytes, Durability::Synced)
    }

    pub fn manifest(&self, workstream: &Workstream) -> store::Result<(Document, Manifest)> {
        let document = Document::parse(self.read(&workstream.manifest)?);
        let manifest = manifest::read(&document);
        Ok((document, manifest))
    }

    /// From the workstream's folder, the manifest's own, the root.
    pub fn loads(&self, workstream: &Workstream, manifest: &Manifest) -> Vec<Load> {
        let own = workstream.manifest.rsplit_once('/').map_or("", |(folder, _)| folder);
        let load = |named: &String| {
            let inside = !named.starts_with('/') && !named.split('/').any(|part| part == "..");
            let places = [workstream.folder.as_str(), own, ""];
            let found = places.iter().filter(|_| inside).find_map(|folder| {
                let path = format!("{folder}/{named}").trim_start_matches('/').to_owned();
                let meta = self.full(&path).symlink_metadata().ok().filter(std::fs::Metadata::is_file)?;
                Some((path, meta))
            });
            let (path, meta) = found.unzip();
            Load {
                named: named.clone(),
                path,
                bytes: meta.as_ref().map_or(0, std::fs::Metadata::len),
                changed: meta.and_then(|meta| Timestamp::try_from(meta.modified().ok()?).ok()),
            }
        };
        manifest.files_to_load.iter().map(load).collect()
    }

    /// The file of steps that a manifest loads.
    pub fn steps(&self, workstream: &Workstream, manifest: &Manifest) -> Option<String> {
        let loads = self.loads(workstream, manifest);
        loads.into_iter().filter(|load| manifest::is_steps(&load.named)).find_map(|load| load.path)
    }

    pub fn lock(&self, wait: Duration) -> store::Result<store::Lock> {
        self.store.lock(layout::WORKSTREAMS_LOCK, wait)
    }
}

fn layout_home() -> String {
    format!("{}/{}", layout::STORE, layout::WORKSTREAMS)
}

/// At a checkpoint: manifests follow their steps, and before a compaction the active workstream is written down.
pub fn keep_up(
    place: &Place,
    session: &Id,
    event: &Event,
    digest: &Digest,
    now: Timestamp,
    deadline: Deadline,
) -> store::Result<()> {
    let touched = digest.files.iter().any(|file| workstream::of_path(&file.path).is_some());
    let compacts = matches!(event.kind, Kind::BeforeCompact { .. });
    let has_any = || place.full(&layout_home()).is_dir() || place.full(PROJECTS).is_dir();
    if !touched && !(compacts && (has_any() || !place.settings.resume_globs.is_empty())) {
        return Ok(());
    }
    let root = place.store.marker()?.project_id;
    let cached = state_of(place.store, layout::PRECOMPACT_STATE).and_then(Result::ok);
    let cached = cached.filter(|state| state.root_id.as_deref().is_none_or(|id| id == root.as_str()));
    let cached = cached.and_then(|state| state.active_project_id);
    let mapped = mapped(place, session);
    let detected =
        workstream::detect(&Clues { mapped: mapped.as_deref(), digest, cached: cached.as_deref() });
    // A guess from another session's last answer must not tick anybody's boxes.
    let sure = detected.id.as_deref().filter(|_| detected.confidence != workstream::Confidence::Low);
    follow_steps(place, digest, sure, now, deadline)?;
    if compacts {
        let bytes = State::new(detected, session.as_str(), root.as_str(), now).bytes();
        place.store.dir().make(layout::PRECOMPACT)?.write(
            &format!("{session}.json"),
            &bytes,
            Durability::Relaxed,
        )?;
        place.store.dir().make("state")?.write(layout::PRECOMPACT_STATE, &bytes, Durability::Relaxed)?;
    }
    Ok(())
}

/// The workstream whose manifest names this session.
fn mapped(place: &Place, session: &Id) -> Option<String> {
    let names = |workstream: &Workstream| {
        place
            .manifest(workstream)
            .is_ok_and(|(_, manifest)| manifest.session_ids.iter().any(|id| id == session.as_str()))
    };
    place.all().into_iter().find(names).map(|workstream| workstream.id)
}

/// Steps that were ticked by hand or done by the harness's own list.
fn follow_steps(
    place: &Place,
    digest: &Digest,
    active: Option<&str>,
    now: Timestamp,
    deadline: Deadline,
) -> store::Result<()> {
    let edited = |file: &&model::digest::FileUse| file.edits > 0 && manifest::is_steps(&file.path);
    let mut ids: Vec<&str> =
        digest.files.iter().filter(edited).filter_map(|file| workstream::of_path(&file.path)).collect();
    let done: Vec<&str> = digest
        .todos
        .iter()
        .filter(|todo| todo.status == Some(TodoStatus::Completed))
        .map(|todo| todo.text.as_str())
        .collect();
    ids.extend(active.filter(|_| !done.is_empty()));
    ids.sort_unstable();
    ids.dedup();
    for id in ids {
        let Some(found) = place.find(id) else { continue };
        // A hook writes nothing outside of the store: elsewhere `thru resume update` does it.
        let home = format!("{}/", layout::STORE);
        let steps = place.manifest(&found).ok().and_then(|(_, manifest)| place.steps(&found, &manifest));
        if ![Some(found.manifest.as_str()), steps.as_deref()]
            .into_iter()
            .flatten()
            .all(|path| path.starts_with(&home))
        {
            continue;
        }
        let _lock = place.lock(deadline.wait())?;
        let by_list = if Some(id) == active { done.as_slice() } else { &[] };
        advance(place, &found, |steps| manifest::tick_done(steps, by_list.iter().copied()), now)?;
    }
    Ok(())
}

/// What became of a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advanced {
    pub steps: Option<String>,
    pub changed: bool,
}

/// Ticks with `tick`, then brings the manifest in step. Under the lock.
pub fn advance(
    place: &Place,
    workstream: &Workstream,
    tick: impl FnOnce(&mut Document) -> bool,
    now: Timestamp,
) -> store::Result<Advanced> {
    let (mut document, manifest) = place.manifest(workstream)?;
    let Some(path) = place.steps(workstream, &manifest) else {
        return Ok(Advanced { steps: None, changed: false });
    };
    let mut steps = Document::parse(place.read(&path)?);
    if tick(&mut steps) {
        place.write(&path, steps.bytes())?;
    }
    let changed = manifest::follow(&mut document, &steps, now);
    if changed {
        place.write(&workstream.manifest, document.bytes())?;
    }
    Ok(Advanced { steps: Some(path), changed })
}

/// A state file, if there is one, and what is wrong with it.
pub fn state_of(store: &Store, name: &str) -> Option<Result<State, String>> {
    match store.dir().read(&format!("state/{name}"), LARGEST_STATE * 4) {
        Ok(bytes) => Some(State::parse(&bytes)),
        Err(store::Error::Absent { .. }) => None,
        Err(error) => Some(Err(error.to_string())),
    }
}

/// The session's own state: the workstream it was at work on when it was compacted.
pub fn own_state(store: &Store, session: &str) -> Option<Result<State, String>> {
    Id::new(session).ok().and_then(|id| state_of(store, &format!("precompact/{id}.json")))
}

/// A session that goes on under another id keeps its state.
pub fn move_state(store: &Store, from: &Id, to: &Id) -> store::Result<()> {
    match store.dir().read(&format!("{}/{from}.json", layout::PRECOMPACT), LARGEST_STATE) {
        Ok(bytes) => match State::parse(&bytes) {
            Ok(state) => {
                let state = State { session_id: Some(to.to_string()), ..state };
                store.dir().make(layout::PRECOMPACT)?.write(
                    &format!("{to}.json"),
                    &state.bytes(),
                    Durability::Relaxed,
                )
            }
            Err(_) => Ok(()),
        },
        Err(store::Error::Absent { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// What a restored session is told of its workstream: the manifest, or why there is none.
pub fn notes(place: &Place, session: &str, now: Timestamp) -> Vec<Note> {
    let say = |text: String| vec![Note { topic: Topic::Manifest, text }];
    let state = match own_state(place.store, session) {
        Some(Ok(state)) => state,
        Some(Err(why)) => {
            return say(format!("the state from before the compaction is not used: {}", code(&why, 160)));
        }
        None => return other_sessions(place, session),
    };
    let Some(id) = &state.active_project_id else { return Vec::new() };
    let hours = place.settings.resume_max_age_hours;
    let limit = SignedDuration::from_hours(i64::try_from(hours).unwrap_or(i64::MAX / 7_200));
    let age = time::parse(&state.timestamp).map_or(SignedDuration::MAX, |at| now.duration_since(at));
    let root = place.store.marker().ok().map(|marker| marker.project_id.as_str().to_owned());
    let why = match () {
        () if state.root_id.is_some() && state.root_id != root => "it is of another root".to_owned(),
        () if age > limit => format!("it is from {}, more than {hours} hours ago", state.timestamp),
        () => return of_workstream(place, id, now),
    };
    say(format!("{id} was active before the compaction; that state is not used: {why}"))
}

/// The newest state is somebody else's: named, not used.
fn other_sessions(place: &Place, session: &str) -> Vec<Note> {
    let Some(Ok(state)) = state_of(place.store, layout::PRECOMPACT_STATE) else { return Vec::new() };
    let (Some(id), Some(other)) = (&state.active_project_id, &state.session_id) else { return Vec::new() };
    if other == session {
        return Vec::new();
    }
    let other = shown_path(other, 40);
    let text = format!(
        "the last state is of another session, {other} at {id}; it is not used (`thru resume show {id}`)"
    );
    vec![Note { topic: Topic::Manifest, text }]
}

fn of_workstream(place: &Place, id: &str, now: Timestamp) -> Vec<Note> {
    let note = |topic, text| Note { topic, text };
    let Some(found) = place.find(id) else {
        return vec![note(Topic::Manifest, format!("{id} was active, and has no manifest any more"))];
    };
    let Ok((_, manifest)) = place.manifest(&found) else {
        return vec![note(
            Topic::Manifest,
            format!("the manifest {} cannot be read", shown_path(&found.manifest, 200)),
        )];
    };
    let mut notes = vec![note(Topic::Manifest, headline(&found, &manifest))];
    let loads = place.loads(&found, &manifest);
    if !loads.is_empty() {
        let since = time::parse(&manifest.last_updated);
        let words =
            loads.iter().enumerate().map(|(i, load)| format!("{}. {}", i + 1, load_words(load, since, now)));
        let list = words.collect::<Vec<_>>().join("; ");
        notes.push(note(Topic::Manifest, format!("to load, in this order: {list}")));
    }
    if !manifest.questions.is_empty() {
        let questions = manifest.questions.iter().take(12).enumerate();
        let words = questions.map(|(i, question)| format!("{}. {}", i + 1, quoted(question, 200)));
        let list = words.collect::<Vec<_>>().join(" ");
        notes.push(note(Topic::Manifest, format!("questions that its files answer: {list}")));
    }
    if place.settings.resume_inline {
        notes.extend(loads.iter().filter_map(|load| inlined(place, load)));
    }
    notes
}

fn headline(found: &Workstream, manifest: &Manifest) -> String {
    let mut words = vec![format!("{} {}", found.id, quoted(&manifest.project_name, 100))];
    words.push(format!("phase {}", shown_path(&manifest.current_phase, 40)));
    words.extend(manifest.current_section.map(|section| format!("section {section}")));
    words.extend(manifest.current_task.map(|task| format!("task {task}")));
    if !manifest.progress.is_empty() {
        words.push(quoted(&manifest.progress, 60));
    }
    words.push(format!("next action {}", code(&manifest.next_action, 100)));
    if !manifest.continue_at.is_empty() {
        words.push(format!("continues at {}", code(&manifest.continue_at, 200)));
    }
    words
        .extend(manifest.blockers.iter().take(5).map(|blocker| format!("blocked: {}", quoted(blocker, 160))));
    words.push(format!("manifest {}", shown_path(&found.manifest, 200)));
    words.join("; ")
}

/// `plan.md (2.1 KB, changed 3 h ago)`.
fn load_words(load: &Load, since: Option<Timestamp>, now: Timestamp) -> String {
    let Some(path) = &load.path else { return format!("{} (not there)", shown_path(&load.named, 200)) };
    let changed = load.changed.filter(|at| since.is_none_or(|since| *at > since));
    let changed = changed.map_or(String::new(), |at| format!(", changed {}", time::ago(at, now)));
    format!("{} ({} bytes{changed})", shown_path(path, 200), load.bytes)
}

fn inlined(place: &Place, load: &Load) -> Option<Note> {
    let path = load.path.as_deref()?;
    let bytes = Dir::open(&place.base(path)).ok()?.read(path, LARGEST).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let text =
        redact(model::text::cut(&text, INLINED), redact::Options { emails: place.settings.redact_emails });
    Some(Note { topic: Topic::Loaded, text: format!("{path}\n{text}") })
}

/// What is still unread, as a reminder: once for each set of files, and only when the agent has begun to edit.
pub fn reminder(place: &Place, session: &Id) -> Option<Reminder> {
    let state = own_state(place.store, session.as_str())?.ok()?;
    let found = place.find(state.active_project_id.as_deref()?)?;
    let (_, manifest) = place.manifest(&found).ok()?;
    let digest = place.store.digest(session, |_| {}).ok()?;
    let mark = digest.last_compaction();
    let own = |path: &str| Some(path) == place.steps(&found, &manifest).as_deref() || path == found.manifest;
    if !digest.files.iter().any(|file| file.edited_at > mark && !own(&file.path)) {
        return None;
    }
    let loads = place.loads(&found, &manifest);
    let unread: Vec<&str> = loads
        .iter()
        .filter_map(|load| load.path.as_deref())
        .filter(|path| !is_read(&digest, path, mark))
        .collect();
    if unread.is_empty() {
        return None;
    }
    let set = format!("{:016x}\n", fingerprint(&unread));
    let told =
        place.store.dir().read(&format!("{}/{session}", layout::REMINDED), 64 * 1024).unwrap_or_default();
    if String::from_utf8_lossy(&told).lines().any(|line| line == set.trim_end()) {
        return None;
    }
    let names: Vec<String> = unread.iter().map(|path| shown_path(path, 200)).collect();
    let text = format!(
        "Throughline: files have been edited since the compaction, and of what the manifest of {} loads these have not been \
         read since: {}.\n",
        found.id,
        names.join(", ")
    );
    Some(Reminder { text, told: [told, set.into_bytes()].concat() })
}

/// What a prompt is to be reminded of. It counts as told once the answer holds it.
#[derive(Debug)]
pub struct Reminder {
    pub text: String,
    /// The sets that this session knows of then.
    told: Vec<u8>,
}

impl Reminder {
    pub fn was_told(&self, store: &Store, session: &Id) -> store::Result<()> {
        store.dir().make(layout::REMINDED)?.write(session.as_str(), &self.told, Durability::Relaxed)
    }
}

/// Whether the agent itself has had the file before it since.
pub fn is_read(digest: &Digest, path: &str, mark: u64) -> bool {
    digest.files.iter().any(|file| {
        file.path == path && file.last > mark && file.reads + file.edits + file.guesses > file.by_agents
    })
}
