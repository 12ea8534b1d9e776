//! What a session is told of its workstream: after a compaction the manifest, and later what of it is still unread.

use jiff::{SignedDuration, Timestamp};
use model::brief::{Note, Topic};
use model::digest::Digest;
use model::id::Id;
use model::manifest::Manifest;
use model::redact::Redacted;
use model::render::{code, path as shown_path, quoted};
use model::text::fingerprint;
use model::time;
use store::{Durability, Result, Store, layout};

use super::state::{own_state, state_of};
use super::{Load, Place, Workstream};

/// Of a file to load, more than a brief can tell.
const INLINED: usize = 16 * 1024;

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
    let found = match place.find(id) {
        Ok(Some(found)) => found,
        Ok(None) => {
            return vec![note(Topic::Manifest, format!("{id} was active, and has no manifest any more"))];
        }
        Err(error) => {
            let why = code(&error.to_string(), 300);
            return vec![note(Topic::Manifest, format!("{id} was active; its manifest was not read: {why}"))];
        }
    };
    let Ok((_, manifest)) = place.manifest(&found) else {
        return vec![note(
            Topic::Manifest,
            format!("the manifest {} cannot be read", shown_path(&found.manifest, 200)),
        )];
    };
    let mut notes = vec![note(Topic::Manifest, headline(&found, &manifest))];
    let loads = match place.loads(&found, &manifest) {
        Ok(loads) => loads,
        Err(error) => {
            notes.push(note(Topic::Manifest, format!("of its files: {}", code(&error.to_string(), 300))));
            Vec::new()
        }
    };
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
    let Some(path) = &load.path else {
        return format!("{} ({})", shown_path(&load.named, 200), load.lies.words());
    };
    let changed = load.changed.filter(|at| since.is_none_or(|since| *at > since));
    let changed = changed.map_or(String::new(), |at| format!(", changed {}", time::ago(at, now)));
    format!("{} ({} bytes{changed})", shown_path(path, 200), load.bytes)
}

fn inlined(place: &Place, load: &Load) -> Option<Note> {
    let path = load.path.as_deref()?;
    let text = String::from_utf8(place.read(path).ok()?).ok()?;
    let text = Redacted::head(&text, INLINED, place.settings.redact());
    Some(Note { topic: Topic::Loaded, text: format!("{path}\n{}", &*text) })
}

/// What is still unread, as a reminder: once for each set of files, and only when the agent has begun to edit.
pub fn reminder(place: &Place, session: &Id) -> Option<Reminder> {
    let state = own_state(place.store, session.as_str())?.ok()?;
    let found = place.find(state.active_project_id.as_deref()?).ok()??;
    let (_, manifest) = place.manifest(&found).ok()?;
    let digest = place.store.digest(session, |_| {}).ok()?;
    let mark = digest.last_compaction();
    let steps = place.steps(&found, &manifest).ok()?;
    let own = |path: &str| Some(path) == steps.as_deref() || path == found.manifest;
    if !digest.files.iter().any(|file| file.edited_at > mark && !own(&file.path)) {
        return None;
    }
    let loads = place.loads(&found, &manifest).ok()?;
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
    pub fn was_told(&self, store: &Store, session: &Id) -> Result<()> {
        store.dir().make(layout::REMINDED)?.write(session.as_str(), &self.told, Durability::Relaxed)
    }
}

/// Whether the agent itself has had the file before it since.
fn is_read(digest: &Digest, path: &str, mark: u64) -> bool {
    digest.files.iter().any(|file| {
        file.path == path && file.last > mark && file.reads + file.edits + file.guesses > file.by_agents
    })
}
