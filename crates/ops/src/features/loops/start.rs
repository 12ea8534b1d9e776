//! `thru loop start`: creates a loop from a prompt on the command line, in a file or in a packet.

use std::path::Path;

use jiff::Timestamp;
use model::document::{HeadingPattern, unwrap_verbatim};
use model::id::Id;
use model::loops::log::LoopEvent;
use model::loops::{Loop, LoopRecord, LoopStatus, Promise, PromiseOutcome, promise};
use model::packet::{self, NONE_RECORDED};
use model::redact::{self, Redacted};
use model::text::cut_to_bytes;
use model::time;
use store::Store;

use super::notes::notes_before_run;
use super::{
    LoopChanged, LoopOwner, WantedLoopOwner, append_to_log, deadline_after, find_loop_owner, loop_shown,
    point_to_loop, require_trust, usage_error,
};
use crate::features::packets;
use crate::project::{Project, consent};
use crate::session::list::SessionChoiceReason;
use crate::setup::init::MAX_WAIT_FOR_RECORD_LOCK;
use crate::{Error, Result, World};

/// The largest prompt file that is read.
const MAX_LOOP_PROMPT_FILE_BYTES: usize = 1024 * 1024;

const DEFAULT_MAX_LOOP_ITERATIONS: u64 = 30;

#[derive(Clone, Debug)]
pub struct LoopStartOptions<'a> {
    pub prompt: PromptSource<'a>,
    pub max_iterations: Option<u64>,
    pub promises: Vec<String>,
    pub blocked_promises: Vec<String>,
    pub validators: Vec<String>,
    pub packet_validators: PacketValidators,
    /// The time limit in seconds.
    pub seconds: Option<i64>,
    pub owner: WantedLoopOwner<'a>,
}

#[derive(Clone, Copy, Debug)]
pub enum PromptSource<'a> {
    InlineText(&'a str),
    /// A file with the prompt. `-` means stdin.
    File(&'a Path),
    Packet(&'a str),
}

/// Whether a packet's validators become validators of the loop. The user must ask for this, because a packet may come
/// from somebody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketValidators {
    Use,
    OnlyShow,
}

/// The parts of a packet from which a loop is made.
#[derive(Default)]
struct LoopFromPacket {
    prompt: String,
    packet: Option<String>,
    promise: Option<String>,
    max_iterations: Option<u64>,
    validators: Vec<String>,
}

pub fn start_loop(world: &World, options: &LoopStartOptions) -> Result<LoopChanged> {
    let project = Project::find_or_create(world)?;
    require_trust(world, &project)?;
    let store = &project.store;
    let owner = find_loop_owner(world, store, options.owner)?;
    let given = match options.prompt {
        PromptSource::InlineText(words) => {
            LoopFromPacket { prompt: words.to_owned(), ..LoopFromPacket::default() }
        }
        PromptSource::File(path) => {
            LoopFromPacket { prompt: read_prompt_file(path)?, ..LoopFromPacket::default() }
        }
        PromptSource::Packet(named) => loop_from_packet(&project, named)?,
    };
    if given.prompt.trim().is_empty() {
        return Err(usage_error(
            "the prompt is empty".into(),
            "say what the agent should do in each iteration",
        ));
    }
    let mut notes = Vec::new();
    let mut validators = options.validators.clone();
    match options.packet_validators {
        PacketValidators::Use => validators.extend(given.validators.iter().cloned()),
        PacketValidators::OnlyShow => notes.extend(given.validators.iter().map(|command| {
            format!("the packet's validator `{command}` is not run; --with-validators adds it")
        })),
    }
    if validators.iter().any(|command| command.trim().is_empty()) {
        return Err(usage_error(
            "a validator is empty".into(),
            "give a command: --validator 'cargo test --quiet'",
        ));
    }
    let promises = parse_promises(options, given.promise)?;
    let ends_well = promises.iter().any(|promise| promise.outcome == PromiseOutcome::Done);
    if !validators.is_empty() && !ends_well {
        return Err(usage_error(
            "validators run when the agent promises that the work is done, and this loop has no such promise"
                .into(),
            "add --promise 'ALL TESTS PASS', or whatever is true when the work is done",
        ));
    }
    let now = time::to_rfc3339(world.now);
    let state = Loop {
        id: String::new(),
        created_at: now.clone(),
        updated_at: now,
        status: LoopStatus::Active,
        iteration: 1,
        max_iterations: options
            .max_iterations
            .or(given.max_iterations)
            .unwrap_or(DEFAULT_MAX_LOOP_ITERATIONS),
        promises,
        source_packet_id: given.packet,
        imported_from: None,
        session: match &owner {
            LoopOwner::Session(session, _) => Some(session.to_string()),
            LoopOwner::NextSession => None,
        },
        end_reason: None,
        ended_detail: None,
        validators,
        deadline: options.seconds.map(|seconds| deadline_after(world.now, seconds)).transpose()?,
        last_message_digest: None,
        last_stop: None,
        prompt: given.prompt,
    };
    let _lock = store.lock_loops(MAX_WAIT_FOR_RECORD_LOCK)?;
    let state = write_new_loop(world, store, state)?;
    // The user who runs this command consents to the loop, wherever its prompt comes from.
    consent::allow_loop(store, None, &state, owner.claim(), world.now)?;
    let (pointer, moved) = point_to_loop(store, &state, &owner)?;
    append_to_log(world, store, &state, LoopEvent::Started)?;
    notes.extend(moved);
    notes.extend(notes_before_run(world, &project, &state, &owner));
    let session_choice = match owner {
        LoopOwner::Session(_, session_choice) => Some(session_choice),
        LoopOwner::NextSession => None,
    };
    if session_choice == Some(SessionChoiceReason::Guess) {
        notes.push(
            "the session is a guess: this harness does not tell commands which session they run in".into(),
        );
    }
    Ok(LoopChanged {
        shown_loop: loop_shown(world, store, &state, &pointer),
        changed: true,
        session_choice,
        notes,
    })
}

pub(super) fn write_new_loop(world: &World, store: &Store, mut state: Loop) -> Result<Loop> {
    let name = loop_name(world.now, &state.prompt);
    for n in 1..10_000 {
        state.id = if n == 1 { name.clone() } else { format!("{name}-{n}") };
        let id = Id::new(&state.id)
            .map_err(|bad| usage_error(bad.to_string(), "begin the prompt with a plain word"))?;
        let record = LoopRecord::new(state.clone())
            .map_err(|error| usage_error(error.to_string(), "remove the control characters from it"))?;
        if store.create_loop(&id, &record)? {
            return Ok(state);
        }
    }
    Err(Error::Refused {
        what: format!("every name like {name} is taken"),
        hint: "try again in a second".into(),
    })
}

/// Returns a name made of the time and the first words of the prompt, such as
/// `20261115T192200Z-fix-the-failing-tests`.
fn loop_name(now: Timestamp, prompt: &str) -> String {
    // Redact the words, because a file name is visible in more places than the file's content.
    let prompt = Redacted::redact_head(prompt.trim_start(), 400, redact::RedactOptions::default());
    let first = prompt.lines().next().unwrap_or_default();
    let words = match first.len() > 40 {
        true => cut_to_bytes(first, 40).rsplit_once(' ').map_or(cut_to_bytes(first, 40), |(words, _)| words),
        false => first,
    };
    let slug = packet::readable_slug(words).unwrap_or_else(|| "loop".to_owned());
    format!("{}-{slug}", time::format_time_for_file_name(now))
}

fn parse_promises(options: &LoopStartOptions, given: Option<String>) -> Result<Vec<Promise>> {
    let done = match options.promises.is_empty() {
        true => given.into_iter().collect(),
        false => options.promises.clone(),
    };
    let of = |texts: Vec<String>, outcome| texts.into_iter().map(move |text| Promise { text, outcome });
    let all: Vec<Promise> = of(done, PromiseOutcome::Done)
        .chain(of(options.blocked_promises.clone(), PromiseOutcome::Blocked))
        .collect();
    for (n, promise) in all.iter().enumerate() {
        if let Some(flaw) = promise::why_invalid_promise(&promise.text) {
            return Err(usage_error(
                format!("`{}` cannot be a promise: {flaw}", promise.text),
                "use a few words, e.g. ALL TESTS PASS",
            ));
        }
        let same = |other: &&Promise| {
            promise::collapse_white_space(&other.text) == promise::collapse_white_space(&promise.text)
        };
        if all[..n].iter().any(|other| same(&other)) {
            return Err(usage_error(
                format!("the promise `{}` is given twice", promise.text),
                "give each promise only once",
            ));
        }
    }
    Ok(all)
}

fn read_prompt_file(path: &Path) -> Result<String> {
    let shown = path.display().to_string();
    let read = match path == Path::new("-") {
        true => store::read_stream(&mut std::io::stdin(), Path::new("stdin"), MAX_LOOP_PROMPT_FILE_BYTES),
        false => store::read_file_named_by_user(path, MAX_LOOP_PROMPT_FILE_BYTES),
    };
    let bytes = match read {
        Err(store::Error::Absent { .. }) => {
            return Err(Error::Absent {
                what: format!("{shown}: there is no such file"),
                hint: "name a text file, or - for stdin".into(),
            });
        }
        Err(store::Error::Damaged { .. }) => {
            return Err(usage_error(
                format!("{shown} is larger than {MAX_LOOP_PROMPT_FILE_BYTES} bytes"),
                "shorten it, or put the details in a file that the prompt names",
            ));
        }
        read => read?,
    };
    String::from_utf8(bytes)
        .map_err(|_| usage_error(format!("{shown} is not UTF-8 text"), "name a text file"))
}

fn loop_from_packet(project: &Project, named: &str) -> Result<LoopFromPacket> {
    let packets::PacketShown { id, document, packet, .. } =
        packets::open_packet(project, &packets::find_packet(project, named)?)?;
    let prompt = document.find_section(&[HeadingPattern::prefix(2, "Next Prompt")]).map(|section| {
        let bytes = unwrap_verbatim(section.body()).unwrap_or_else(|| section.content());
        String::from_utf8_lossy(bytes).into_owned()
    });
    let prompt = prompt.filter(|prompt| !prompt.trim().is_empty() && prompt.trim() != NONE_RECORDED);
    Ok(LoopFromPacket {
        prompt: prompt.ok_or_else(|| Error::Refused {
            what: format!("packet {id} has no Next Prompt"),
            hint: "write one below `## Next Prompt (Draft)`, or give a prompt on the command line".into(),
        })?,
        promise: packet.loop_promise.filter(|text| !text.trim().is_empty()),
        max_iterations: u64::try_from(packet.loop_max_iterations).ok().filter(|n| *n > 0),
        validators: packet.validators,
        packet: Some(id.to_string()),
    })
}
