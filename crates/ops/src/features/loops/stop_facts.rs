//! The facts about a stop. They are read from the end of the transcript before the loop is locked.

use std::path::Path;
use std::time::{Duration, Instant};

use harness::Harness;
use model::event;
use model::loops::last_turn::{LastAgentMessage, LastTurn};
use model::session::PendingBrief;
use store::feed::FeedLimits;

use crate::hook::context::HookContext;
use crate::session::transcript_reader;

/// How long a stop hook waits for the harness to write the agent's last message.
const MAX_MESSAGE_WAIT: Duration = Duration::from_millis(150);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// How many bytes are read from the end of the transcript. If the turn is longer, only its cost remains unknown.
const TRANSCRIPT_TAIL_BYTES: u64 = 256 * 1024;

/// The facts about a stop that do not depend on the loop.
pub struct StopFacts {
    pub last_turn: LastTurn,
    /// The agent's last message, or why it is unknown.
    pub message: Result<Option<LastAgentMessage>, String>,
    pub compacting: bool,
}

impl StopFacts {
    pub fn read_from_stop(context: &HookContext, stop: &event::StopEvent) -> StopFacts {
        let until = Instant::now() + MAX_MESSAGE_WAIT.min(context.deadline.time_left());
        let (last_turn, message) = loop {
            let listened = read_last_turn(context.harness, context.event.transcript.as_deref());
            let message = last_message(stop, &listened);
            // If the last message was already answered, it may belong to the previous turn. The harness may not have
            // written the current message yet, so wait for it.
            let is_known =
                matches!(&message, Ok(Some(LastAgentMessage { id: Some(_), is_answered: false, .. })));
            let is_there = !matches!(listened, Err(store::Error::Absent { .. }));
            if is_known || !is_there || Instant::now() >= until {
                break (listened.unwrap_or_default(), message);
            }
            std::thread::sleep(POLL_INTERVAL);
        };
        let pending = context.project.store.session_state(context.session).read_state::<PendingBrief>();
        StopFacts { last_turn, message, compacting: matches!(pending, Ok(Some(PendingBrief::Announced))) }
    }
}

/// Returns the message from the payload with its id from the transcript. If the payload has no message, returns the
/// last message in the transcript.
fn last_message(
    stop: &event::StopEvent,
    listened: &store::Result<LastTurn>,
) -> Result<Option<LastAgentMessage>, String> {
    let told = stop.message_id.as_deref();
    match (&stop.message, listened) {
        (Some(text), listened) => {
            let unknown = || LastAgentMessage { id: None, text: text.to_string(), is_answered: false };
            let message = listened
                .as_ref()
                .ok()
                .and_then(|turn| turn.last_message_with_text(text))
                .unwrap_or_else(unknown);
            Ok(Some(LastAgentMessage { id: told.map(str::to_owned).or(message.id), ..message }))
        }
        (None, Ok(turn)) => {
            // If the message with this id is not in the transcript yet, the transcript's last message is an older one
            // and must not be used.
            let is_it = |message: &LastAgentMessage| told.is_none() || message.id.as_deref() == told;
            Ok(turn.last_message().filter(is_it))
        }
        (None, Err(error)) => Err(format!("cannot read the agent's last message: {error}")),
    }
}

fn read_last_turn(harness: &Harness, transcript: Option<&str>) -> store::Result<LastTurn> {
    let path = Path::new(transcript.unwrap_or_default());
    let mut turn = LastTurn::default();
    let limits = FeedLimits { max_tail_bytes: TRANSCRIPT_TAIL_BYTES, ..FeedLimits::default() };
    transcript_reader::read_backwards(harness, path, limits, |line| !turn.read_line_backwards(line))?;
    Ok(turn)
}
