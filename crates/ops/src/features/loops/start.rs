//! `thru loop start`: creates a loop from words, a file or a packet.

use std::path::Path;

use harness::{HARNESSES, Harness};
use jiff::Timestamp;
use model::document::{Head, unwrap_verbatim};
use model::id::Id;
use model::loops::log::Event;
use model::loops::{Loop, Outcome, Promise, Record, Status, promise};
use model::packet::{self, NONE};
use model::redact::{self, Redacted};
use model::text::cut;
use model::time;
use store::Store;

use super::{Changed, Owner, Wanted, deadline, find_owner, need_trust, note, point, shown, usage};
use crate::features::packets;
use crate::project::{Project, consent};
use crate::session::list::Chosen;
use crate::session::roster::{self, Entry};
use crate::setup::init::PATIENCE;
use crate::setup::install;
use crate::{Error, Result, World};

/// The largest prompt that is read.
const LARGEST: usize = 1024 * 1024;

const DEFAULT_ITERATIONS: u64 = 30;

#[derive(Clone, Debug)]
pub struct Options<'a> {
    pub prompt: Source<'a>,
    pub max_iterations: Option<u64>,
    pub promises: Vec<String>,
    pub blocked: Vec<String>,
    pub validators: Vec<String>,
    pub packet_validators: PacketValidators,
    /// The time limit in seconds.
    pub seconds: Option<i64>,
    pub owner: Wanted<'a>,
}

#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    Words(&'a str),
    /// `-` means stdin.
    File(&'a Path),
    Packet(&'a str),
}

/// Whether a packet's validators become validators of the loop. They are text from a packet, so they never run
/// unless the user asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketValidators {
    Take,
    Show,
}

/// What a loop takes from a packet.
#[derive(Default)]
struct LoopSource {
    prompt: String,
    packet: Option<String>,
    promise: Option<String>,
    max_iterations: Option<u64>,
    validators: Vec<String>,
}

pub fn run(world: &World, options: &Options) -> Result<Changed> {
    let project = Project::find_or_make(world)?;
    need_trust(world, &project)?;
    let store = &project.store;
    let owner = find_owner(world, store, options.owner)?;
    let given = match options.prompt {
        Source::Words(words) => LoopSource { prompt: words.to_owned(), ..LoopSource::default() },
        Source::File(path) => LoopSource { prompt: read(path)?, ..LoopSource::default() },
        Source::Packet(named) => from_packet(&project, named)?,
    };
    if given.prompt.trim().is_empty() {
        return Err(usage("the prompt is empty".into(), "say what the agent should do again and again"));
    }
    let mut notes = Vec::new();
    let mut validators = options.validators.clone();
    match options.packet_validators {
        PacketValidators::Take => validators.extend(given.validators.iter().cloned()),
        PacketValidators::Show => notes.extend(given.validators.iter().map(|command| {
            format!("the packet's validator `{command}` is not run; --with-validators adds it")
        })),
    }
    if validators.iter().any(|command| command.trim().is_empty()) {
        return Err(usage("a validator is empty".into(), "give a command: --validator 'cargo test --quiet'"));
    }
    let promises = promises(options, given.promise)?;
    let ends_well = promises.iter().any(|promise| promise.outcome == Outcome::Done);
    if !validators.is_empty() && !ends_well {
        return Err(usage(
            "validators are run when the agent gives its promise, and there is none".into(),
            "add --promise 'ALL TESTS PASS', or whatever is true when the work is done",
        ));
    }
    let now = time::rfc3339(world.now);
    let state = Loop {
        id: String::new(),
        created_at: now.clone(),
        updated_at: now,
        status: Status::Active,
        iteration: 1,
        max_iterations: options.max_iterations.or(given.max_iterations).unwrap_or(DEFAULT_ITERATIONS),
        promises,
        source_packet_id: given.packet,
        imported_from: None,
        session: match &owner {
            Owner::Session(session, _) => Some(session.to_string()),
            Owner::Next => None,
        },
        ended: None,
        ended_detail: None,
        validators,
        deadline: options.seconds.map(|seconds| deadline(world.now, seconds)).transpose()?,
        last_message_digest: None,
        last_stop: None,
        prompt: given.prompt,
    };
    let _lock = store.lock_loops(PATIENCE)?;
    let state = create(world, store, state)?;
    // Wherever the loop came from, the user who runs this command consents to it now.
    consent::allow_loop(store, None, &state, owner.claim(), world.now)?;
    let (pointer, moved) = point(store, &state, &owner)?;
    note(world, store, &state, Event::Started)?;
    notes.extend(moved);
    notes.extend(advice(world, &project, &state, &owner));
    let chosen = match owner {
        Owner::Session(_, chosen) => Some(chosen),
        Owner::Next => None,
    };
    if chosen == Some(Chosen::Guess) {
        notes.push(
            "the session is a guess: this harness does not tell commands which session they run in".into(),
        );
    }
    Ok(Changed { shown: shown(store, &state, &pointer), changed: true, chosen, notes })
}

/// Writes a new loop under the first free name.
pub(super) fn create(world: &World, store: &Store, mut state: Loop) -> Result<Loop> {
    let name = name(world.now, &state.prompt);
    for n in 1..10_000 {
        state.id = if n == 1 { name.clone() } else { format!("{name}-{n}") };
        let id =
            Id::new(&state.id).map_err(|bad| usage(bad.to_string(), "begin the prompt with a plain word"))?;
        let record = Record::new(state.clone())
            .map_err(|error| usage(error.to_string(), "say it without control characters"))?;
        if store.create_loop(&id, &record)? {
            return Ok(state);
        }
    }
    Err(Error::Refused {
        what: format!("there is no free name like {name}"),
        hint: "try again in a second".into(),
    })
}

/// Returns a name that consists of the time and the first words of the prompt:
/// `20261115T192200Z-fix-the-failing-tests`.
fn name(now: Timestamp, prompt: &str) -> String {
    // Redact the words, because a file's name is seen in more places than its content.
    let prompt = Redacted::head(prompt.trim_start(), 400, redact::Options::default());
    let first = prompt.lines().next().unwrap_or_default();
    let words = match first.len() > 40 {
        true => cut(first, 40).rsplit_once(' ').map_or(cut(first, 40), |(words, _)| words),
        false => first,
    };
    let slug = packet::readable(words).unwrap_or_else(|| "loop".to_owned());
    format!("{}-{slug}", time::compact(now))
}

fn promises(options: &Options, given: Option<String>) -> Result<Vec<Promise>> {
    let done = match options.promises.is_empty() {
        true => given.into_iter().collect(),
        false => options.promises.clone(),
    };
    let of = |texts: Vec<String>, outcome| texts.into_iter().map(move |text| Promise { text, outcome });
    let all: Vec<Promise> =
        of(done, Outcome::Done).chain(of(options.blocked.clone(), Outcome::Blocked)).collect();
    for (n, promise) in all.iter().enumerate() {
        if let Some(flaw) = promise::flaw(&promise.text) {
            return Err(usage(
                format!("`{}` cannot be promised: {flaw}", promise.text),
                "a few words, e.g. ALL TESTS PASS",
            ));
        }
        let same = |other: &&Promise| promise::collapsed(&other.text) == promise::collapsed(&promise.text);
        if all[..n].iter().any(|other| same(&other)) {
            return Err(usage(
                format!("`{}` is promised twice", promise.text),
                "each promise has one meaning",
            ));
        }
    }
    Ok(all)
}

/// Returns what the user should know before the loop runs.
fn advice(world: &World, project: &Project, state: &Loop, owner: &Owner) -> Vec<String> {
    let mut notes = Vec::new();
    let limit = match (state.max_iterations, &state.deadline) {
        (0, None) => None,
        (0, Some(_)) => Some("its time is up".to_owned()),
        (most, None) => Some(format!("{most} iterations are over")),
        (most, Some(_)) => Some(format!("{most} iterations are over or its time is up")),
    };
    if !state.promises.iter().any(|promise| promise.outcome == Outcome::Done) {
        notes.push(match limit {
            Some(limit) => format!(
                "it has no promise, so it goes on until {limit}; --promise TEXT ends it when the work is done"
            ),
            None => "only a lack of progress or `thru loop cancel` ends this loop".into(),
        });
    }
    if let Owner::Session(session, _) = owner
        && roster::read(&project.store, u64::MAX).is_ok_and(|all| has_ended(&all, session))
    {
        notes.push(format!("session {session} has ended; the loop goes on if the session is resumed"));
    }
    for harness in held_by(world, project, owner) {
        let Some(cap) = &harness.block_cap else { continue };
        if (world.var)(cap.variable).is_none_or(|value| value != "0") {
            notes.push(format!(
                "{} goes on at most {} times in a row without a tool call; start it with {}=0 to lift that",
                harness.title, cap.times, cap.variable
            ));
        }
    }
    notes
}

fn has_ended(entries: &[Entry], session: &Id) -> bool {
    entries.iter().any(|entry| entry.session == *session && entry.ended)
}

/// Returns the harness of the session that the loop holds. If the session has not begun, returns the harnesses
/// whose hooks are installed here.
fn held_by(world: &World, project: &Project, owner: &Owner) -> Vec<&'static Harness> {
    let around = world.harness().and_then(harness::by_name);
    let of_session = match owner {
        Owner::Session(session, _) => {
            let entries = roster::read(&project.store, u64::MAX).unwrap_or_default();
            entries
                .into_iter()
                .find(|entry| entry.session == *session)
                .and_then(|entry| harness::by_name(&entry.harness))
        }
        Owner::Next => None,
    };
    match (of_session.or(around), owner) {
        (Some(one), _) => vec![one],
        (None, Owner::Session(..)) => Vec::new(),
        (None, Owner::Next) => {
            let is_wired =
                |harness: &&Harness| !install::wired(world, harness, &project.root.checkout).is_empty();
            HARNESSES.iter().filter(is_wired).collect()
        }
    }
}

fn read(path: &Path) -> Result<String> {
    let shown = path.display().to_string();
    let read = match path == Path::new("-") {
        true => store::read_stream(&mut std::io::stdin(), Path::new("stdin"), LARGEST),
        false => store::read_given(path, LARGEST),
    };
    let bytes = match read {
        Err(store::Error::Absent { .. }) => {
            return Err(Error::Absent {
                what: format!("{shown}: there is no such file"),
                hint: "name a text file, or - for stdin".into(),
            });
        }
        Err(store::Error::Damaged { .. }) => {
            return Err(usage(
                format!("{shown} is over {LARGEST} bytes"),
                "shorten it, or put the details into a file that the prompt names",
            ));
        }
        read => read?,
    };
    String::from_utf8(bytes).map_err(|_| usage(format!("{shown} is not UTF-8 text"), "name a text file"))
}

/// Reads a loop's prompt and options from a packet.
fn from_packet(project: &Project, named: &str) -> Result<LoopSource> {
    let packets::Shown { id, document, packet, .. } =
        packets::open(project, &packets::find(project, named)?)?;
    let prompt = document.section(&[Head::prefix(2, "Next Prompt")]).map(|section| {
        let bytes = unwrap_verbatim(section.body()).unwrap_or_else(|| section.content());
        String::from_utf8_lossy(bytes).into_owned()
    });
    let prompt = prompt.filter(|prompt| !prompt.trim().is_empty() && prompt.trim() != NONE);
    Ok(LoopSource {
        prompt: prompt.ok_or_else(|| Error::Refused {
            what: format!("packet {id} has no Next Prompt"),
            hint: "write one below `## Next Prompt (Draft)`, or give a prompt here".into(),
        })?,
        promise: packet.loop_promise.filter(|text| !text.trim().is_empty()),
        max_iterations: u64::try_from(packet.loop_max_iterations).ok().filter(|n| *n > 0),
        validators: packet.validators,
        packet: Some(id.to_string()),
    })
}
